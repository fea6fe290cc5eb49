/* SPDX-License-Identifier: MIT */
/* pfm stat --regions --by UNIT: how even the work of ranks, processes or threads is. The value of a
 * unit is the sum of its visits; the values of all units have a minimum, a mean and a maximum. */
#include "stat/region_units.h"
#include "base/text_output.h"
#include "common/pfm.h"
#include "stat/region_results.h"
#include "stat/stat.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {
	[BY_NO_UNIT] = "", [BY_RANK] = "rank", [BY_PROCESS] = "process", [BY_THREAD_ID] = "thread"
};

enum { UNITS = sizeof(unit_names) / sizeof(unit_names[0]), NAME_COLUMNS = 19 };

/* A metric of a region in one unit. */
struct unit_value {
	json_t *row; /* has the texts */
	const char *region, *parent, *metric;
	size_t order; /* of its first line */
	long unit;
	double value; /* negative: not counted */
	bool is_partial;
};

struct unit_values {
	struct unit_value *at;
	size_t n, room;
	enum region_unit by;
	long process, rank; /* of the last line of a process; rank: -1 if it has none */
	unsigned n_without_rank, n_pooled;
};

bool find_region_unit(const char *name, enum region_unit *by)
{
	for (unsigned i = BY_NO_UNIT + 1; i < UNITS; i++)
		if (strcmp(unit_names[i], name) == 0) {
			*by = (enum region_unit)i;
			return true;
		}
	return false;
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool add_value(struct unit_values *v, const struct unit_value *value)
{
	if (v->n == v->room) {
		size_t room = v->room ? 2 * v->room : 64;
		struct unit_value *more = realloc(v->at, room * sizeof(*more));

		if (!more)
			return false;
		v->at = more;
		v->room = room;
	}
	v->at[v->n] = *value;
	v->at[v->n].order = v->n;
	json_incref(value->row);
	v->n++;
	return true;
}

static double get_sum(const json_t *of)
{
	const json_t *sum = json_object_get(of, "inclusive");

	return json_is_number(sum) ? json_number_value(sum) : -1;
}

static bool is_partial(const json_t *count)
{
	const char *quality = json_string_value(json_object_get(count, "quality"));

	return quality && strcmp(quality, "partial") == 0;
}

/* The unit of @row; false if it has none, or is a sum over units. */
static bool read_unit(struct unit_values *v, const json_t *row, long *unit)
{
	const json_t *thread = json_object_get(row, "thread");
	const char *sum = json_string_value(thread);

	if (v->by == BY_THREAD_ID) {
		v->n_pooled += sum && strcmp(sum, "ended") == 0;
		*unit = (long)json_integer_value(thread);
		return json_is_integer(thread);
	}
	*unit = v->by == BY_RANK ? v->rank : v->process;
	return sum && strcmp(sum, "all") == 0 && *unit >= 0;
}

static bool add_row(struct unit_values *v, json_t *row)
{
	const char *region = json_string_value(json_object_get(row, "region")),
		   *parent = json_string_value(json_object_get(row, "parent"));
	const json_t *counts = json_object_get(row, "counts"), *count;
	struct unit_value value = { .row = row, .region = region, .parent = parent ? parent : "" };
	size_t i;

	if (!region || !read_unit(v, row, &value.unit))
		return true;
	value.metric = "visits";
	value.value = json_number_value(json_object_get(row, "visits"));
	if (!add_value(v, &value))
		return false;
	value.metric = "wall_ns";
	value.value = get_sum(json_object_get(row, "wall_ns"));
	if (!add_value(v, &value))
		return false;
	json_array_foreach (counts, i, count) {
		value.metric = json_string_value(json_object_get(count, "event"));
		value.value = get_sum(count);
		value.is_partial = is_partial(count);
		if (value.metric && !add_value(v, &value))
			return false;
	}
	return true;
}

static void set_process(struct unit_values *v, const json_t *line)
{
	const json_t *rank = json_object_get(line, "rank");

	v->process = (long)json_integer_value(json_object_get(line, "process"));
	v->rank = json_is_integer(rank) ? (long)json_integer_value(rank) : -1;
	v->n_without_rank += v->rank < 0;
}

/* Reads the lines of pfm stat --regions --json. */
static bool read_lines(struct unit_values *v, char *text)
{
	bool is_read = true;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line && is_read;
	     line = strtok_r(NULL, "\n", &rest)) {
		json_error_t error;
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, &error);

		if (row && json_object_get(row, "program"))
			set_process(v, row);
		else
			is_read = row && add_row(v, row);
		json_decref(row);
	}
	return is_read;
}

/* ---- units ------------------------------------------------------------------------------- */

static int compare_places(const struct unit_value *x, const struct unit_value *y)
{
	int order = strcmp(x->region, y->region);

	order = order ? order : strcmp(x->parent, y->parent);
	return order ? order : strcmp(x->metric, y->metric);
}

static int compare_values(const void *a, const void *b)
{
	const struct unit_value *x = a, *y = b;
	int order = compare_places(x, y);

	if (order)
		return order;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The values of one metric of a region. */
struct spread {
	const struct unit_value *of;
	size_t order;
	unsigned n, n_missing; /* units with the value, and without */
	double min, max, sum;
	long min_unit, max_unit;
	bool is_partial;
};

static void add_to_spread(struct spread *s, const struct unit_value *v)
{
	s->order = v->order < s->order ? v->order : s->order;
	s->is_partial |= v->is_partial;
	if (v->value < 0) {
		s->n_missing++;
		return;
	}
	if (!s->n || v->value < s->min) {
		s->min = v->value;
		s->min_unit = v->unit;
	}
	if (!s->n || v->value > s->max) {
		s->max = v->value;
		s->max_unit = v->unit;
	}
	s->sum += v->value;
	s->n++;
}

/* Adds up the processes of a rank, which may be several. A part that was not counted leaves the sum
 * without a value. */
static void join_units(struct unit_values *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		struct unit_value *to = n ? &v->at[n - 1] : NULL;
		const struct unit_value *from = &v->at[i];

		if (!to || to->unit != from->unit || compare_places(to, from) != 0) {
			v->at[n++] = *from;
			continue;
		}
		to->value = to->value < 0 || from->value < 0 ? -1 : to->value + from->value;
		to->is_partial |= from->is_partial;
		json_decref(from->row);
	}
	v->n = n;
}

static int compare_spreads(const void *a, const void *b)
{
	const struct spread *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* The spreads of all metrics, in the order of the lines; to be freed. NULL without memory. */
static struct spread *find_spreads(struct unit_values *v, size_t *n)
{
	struct spread *list = calloc(v->n + 1, sizeof(*list));

	*n = 0;
	if (!list)
		return NULL;
	if (v->n)
		qsort(v->at, v->n, sizeof(*v->at), compare_values);
	join_units(v);
	for (size_t i = 0; i < v->n; i++) {
		if (!*n || compare_places(list[*n - 1].of, &v->at[i]) != 0)
			list[(*n)++] = (struct spread){ .of = &v->at[i], .order = SIZE_MAX };
		add_to_spread(&list[*n - 1], &v->at[i]);
	}
	if (*n)
		qsort(list, *n, sizeof(*list), compare_spreads);
	return list;
}

/* By how much the maximum exceeds the mean, as a fraction. */
static double get_imbalance(const struct spread *s)
{
	return s->sum > 0 ? s->max * s->n / s->sum - 1 : 0;
}

/* ---- printing ---------------------------------------------------------------------------- */

static const char *format_mean(double mean, char text[GROUPED_MAX])
{
	if (mean >= 1000)
		return group_digits((uint64_t)(mean + 0.5), text);
	snprintf(text, GROUPED_MAX, "%.1f", mean);
	return text;
}

static void print_spread(FILE *out, const struct spread *s, enum region_unit by)
{
	char min[GROUPED_MAX], mean[GROUPED_MAX], max[GROUPED_MAX];
	const size_t length = strlen(s->of->metric);

	base_put_line(out, s->of->metric);
	if (length > NAME_COLUMNS)
		fprintf(out, "\n%*s", NAME_COLUMNS, "");
	else
		fprintf(out, "%*s", (int)(NAME_COLUMNS - length), "");
	if (!s->n) {
		fputs("   not counted\n", out);
		return;
	}
	fprintf(out, " %13s %13s %13s %7.1f %%  %ld\n", group_digits((uint64_t)s->min, min),
	        format_mean(s->sum / s->n, mean), group_digits((uint64_t)s->max, max),
	        100 * get_imbalance(s), s->max_unit);
	if (s->n_missing)
		fprintf(out, "%*s not counted in %u more %s%s\n", NAME_COLUMNS, "", s->n_missing,
		        unit_names[by],
		        s->n_missing == 1  ? ""
		        : by == BY_PROCESS ? "es"
		                           : "s");
	if (s->is_partial)
		fprintf(out, "%*s counted in some visits\n", NAME_COLUMNS, "");
}

static void print_heading(FILE *out, const struct spread *s, enum region_unit by)
{
	const unsigned n = s->n + s->n_missing;

	fputc('\n', out);
	base_put_line(out, s->of->region);
	if (*s->of->parent) {
		fputs(" (in ", out);
		base_put_line(out, s->of->parent);
		fputc(')', out);
	}
	fprintf(out, ": %u %s%s\n", n, unit_names[by], n == 1 ? "" : by == BY_PROCESS ? "es" : "s");
}

static void print_table(FILE *out, const struct spread *list, size_t n, enum region_unit by)
{
	fprintf(out, "%-*s %13s %13s %13s %9s  %s\n", NAME_COLUMNS, "", "min", "mean", "max",
	        "imbalance", unit_names[by]);
	for (size_t i = 0; i < n; i++) {
		const struct spread *s = &list[i], *before = i ? s - 1 : NULL;

		if (!before || strcmp(before->of->region, s->of->region) != 0 ||
		    strcmp(before->of->parent, s->of->parent) != 0)
			print_heading(out, s, by);
		print_spread(out, s, by);
	}
}

static void print_json(FILE *out, const struct spread *list, size_t n, enum region_unit by)
{
	struct json j = { .out = out };

	for (size_t i = 0; i < n; i++) {
		const struct spread *s = &list[i];

		put_begin(&j, NULL, '{');
		put_text(&j, "region", s->of->region);
		if (*s->of->parent)
			put_text(&j, "parent", s->of->parent);
		else
			put_null(&j, "parent");
		put_text(&j, "metric", s->of->metric);
		put_text(&j, "by", unit_names[by]);
		put_count(&j, "units", s->n);
		put_count(&j, "not_counted", s->n_missing);
		if (s->n) {
			put_number(&j, "min", s->min);
			put_number(&j, "mean", s->sum / s->n);
			put_number(&j, "max", s->max);
			put_number(&j, "imbalance", get_imbalance(s));
			put_int(&j, "min_unit", s->min_unit);
			put_int(&j, "max_unit", s->max_unit);
			put_bool(&j, "partial", s->is_partial);
		}
		put_end(&j, '}');
		put_line(&j);
	}
}

/* Reports units that cannot be shown. */
static void report_missing(const struct unit_values *v)
{
	if (v->by == BY_RANK && v->n_without_rank)
		fprintf(stderr,
		        "%s: %u process%s no rank: OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK and "
		        "SLURM_PROCID are not in the environment\n",
		        program_name, v->n_without_rank,
		        v->n_without_rank == 1 ? " has" : "es have");
	if (v->n_pooled)
		fprintf(stderr,
		        "%s: threads that ended after 1024 others are one row of a region, and are "
		        "left out\n",
		        program_name);
}

int write_region_units(struct region_collection *results, enum region_unit by, bool is_json)
{
	struct unit_values v = { .by = by, .rank = -1 };
	struct spread *list = NULL;
	char *text = NULL;
	size_t n = 0, size = 0;
	FILE *out = open_memstream(&text, &size);
	bool is_written = out && read_lines(&v, results->text);

	list = is_written ? find_spreads(&v, &n) : NULL;
	if (list)
		(is_json ? print_json : print_table)(out, list, n, by);
	is_written = list != NULL;
	if (out && fclose(out) != 0)
		is_written = false;
	report_missing(&v);
	for (size_t i = 0; i < v.n; i++)
		json_decref(v.at[i].row);
	free(v.at);
	free(list);
	free(results->text);
	results->text = text;
	results->size = size;
	if (is_written && !n)
		results->n_lost += results->n_written; /* nothing is shown of them */
	return is_written ? EXIT_DONE : report_no_memory();
}
