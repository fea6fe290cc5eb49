/* SPDX-License-Identifier: MIT */
/* Places of two recordings that have the same name are one row. Samples are taken by chance: a
 * change is significant if its probability by chance is below 5 % over all rows together. */
#include "diff/rows.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "diff/stats.h"
#include "common/pfm.h"
#include "report/view.h"
#include "common/profile_messages.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t find_event(const struct diff *d, const char *name)
{
	uint32_t i = 0;

	while (i < d->n_events && strcmp(d->events[i].name, name) != 0)
		i++;
	return i;
}

bool is_compared_event(const struct diff *d, const char *name)
{
	size_t len = d->event ? strlen(d->event) : 0;

	return !d->event || fnmatch(d->event, name, 0) == 0 ||
	       (strncmp(name, d->event, len) == 0 && name[len] == ':');
}

static void add_event(struct diff *d, unsigned side, unsigned i)
{
	const struct profile_sum *sum = &d->profiles[side].sums[i];
	const char *name = get_event_name(&d->profiles[side], i);
	uint32_t number;

	if (!sum->samples)
		return;
	number = find_event(d, name);
	if (number == d->n_events)
		snprintf(d->events[d->n_events++].name, sizeof(d->events->name), "%s", name);
	d->event_numbers[side][i] = number;
	d->events[number].sum[side].samples += sum->samples;
	d->events[number].sum[side].weight += sum->weight;
	d->events[number].sum[side].squares += sum->squares;
}

/* Adds up the events of both recordings by name. */
static bool add_events(struct diff *d)
{
	size_t n = (size_t)d->profiles[OLD_SIDE].n_events + d->profiles[NEW_SIDE].n_events;

	d->events = calloc(n + 1, sizeof(*d->events));
	for (unsigned side = 0; side < SIDES; side++) {
		d->event_numbers[side] = calloc(n + 1, sizeof(*d->event_numbers[side]));
		if (!d->events || !d->event_numbers[side])
			return false;
		for (unsigned i = 0; i < d->profiles[side].n_events; i++)
			add_event(d, side, i);
	}
	return true;
}

/* The row of a key, which is added if it is new; NULL without memory. */
static struct diff_row *find_or_add_row(struct diff *d, const char *key)
{
	size_t before = d->keys.n;
	uint32_t at = text_pool_add(&d->keys, key);
	bool failed = d->keys.failed;

	if (!failed && d->keys.n == before)
		return &d->rows[at];
	d->rows = base_grow_list(d->rows, d->n_rows, &d->rows_capacity, sizeof(*d->rows), &failed);
	if (failed)
		return NULL;
	d->rows[d->n_rows] = (struct diff_row){ .order = d->n_rows };
	return &d->rows[d->n_rows++];
}

static struct diff_row *find_or_add_place_row(struct diff *d, unsigned side,
                                              const struct profile_place *at, uint32_t event)
{
	const struct profile *p = &d->profiles[side];
	char **text = p->texts.text, *key = NULL;
	struct diff_row *row;
	bool is_written;
	size_t len;
	/* Builds to compare are often in two folders: objects are one by the names of their
	 * files. */
	FILE *f = open_memstream(&key, &len);

	if (!f)
		return NULL;
	is_written = fprintf(f, "%u\x1f%u\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s", event, at->cpu,
	                     text[at->cgroup], text[at->task], base_name(text[at->object]),
	                     text[at->function], text[at->inlined], text[at->source]) > 0;
	is_written = fclose(f) == 0 && is_written && key;
	row = is_written ? find_or_add_row(d, key) : NULL;
	free(key);
	if (row && !row->place) {
		row->event = event;
		row->place = at;
		row->profile = p;
	}
	return row;
}

static bool add_places(struct diff *d, unsigned side)
{
	const struct profile *p = &d->profiles[side];

	for (size_t i = 0; i < p->n_places; i++) {
		uint32_t event = d->event_numbers[side][p->places[i].event];
		struct diff_row *row;

		if (!is_compared_event(d, d->events[event].name) ||
		    !d->events[event].sum[!side].samples)
			continue;
		row = find_or_add_place_row(d, side, &p->places[i], event);
		if (!row)
			return false;
		row->samples[side] += p->places[i].samples;
		row->weight[side] += p->places[i].weight;
	}
	return true;
}

/* A row for each whole event, which no share of itself can have. */
static bool add_totals(struct diff *d)
{
	for (uint32_t i = 0; d->divisor != DIVIDE_BY_TOTAL && i < d->n_events; i++) {
		const struct profile_sum *sum = d->events[i].sum;
		struct diff_row *row;
		char key[32];

		if (!is_compared_event(d, d->events[i].name) || !sum[OLD_SIDE].samples ||
		    !sum[NEW_SIDE].samples ||
		    (d->divisor == DIVIDE_BY_EVENT &&
		     strcmp(d->events[i].name, d->divisor_event) == 0))
			continue;
		snprintf(key, sizeof(key), "total %u", i);
		row = find_or_add_row(d, key);
		if (!row)
			return false;
		row->event = i;
		for (unsigned side = 0; side < SIDES; side++) {
			row->samples[side] = sum[side].samples;
			row->weight[side] = sum[side].weight;
		}
	}
	return true;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* The divisor of weights of @event, and its relative variance. */
static double compute_divisor(const struct diff *d, uint32_t event, unsigned side, double *variance)
{
	const struct profile *p = &d->profiles[side];
	const struct profile_sum *sum = &d->events[event].sum[side];

	*variance = 0;
	switch (d->divisor) {
	case DIVIDE_BY_TOTAL: return (double)sum->weight;
	case DIVIDE_BY_NUMBERS: return d->numbers[side];
	case DIVIDE_BY_TIME: return (double)time_span_length(&p->sampled) / 1e9;
	case DIVIDE_BY_EVENT:
		sum = &d->events[find_event(d, d->divisor_event)].sum[side];
		*variance = sum->squares / ((double)sum->weight * (double)sum->weight);
		return (double)sum->weight;
	default: return 1;
	}
}

static void fill_side(const struct diff *d, const struct diff_row *row, unsigned side,
                      struct diff_side *out)
{
	const struct profile_sum *sum = &d->events[row->event].sum[side];
	double weight = (double)sum->weight;

	out->total = weight * weight / sum->squares;
	out->samples = out->total * (double)row->weight[side] / weight;
	out->exposure =
		out->total / weight * compute_divisor(d, row->event, side, &out->divisor_variance);
}

/* Is the share of something that is divided by itself? */
static bool is_share(const struct diff *d, uint32_t event)
{
	return d->divisor == DIVIDE_BY_TOTAL ||
	       (d->divisor == DIVIDE_BY_EVENT &&
	        strcmp(d->events[event].name, d->divisor_event) == 0);
}

static bool is_tested(const struct diff_row *row)
{
	return row->samples[OLD_SIDE] + row->samples[NEW_SIDE] >= TESTED_SAMPLES;
}

/* Values, and the change with its intervals; @n_tested rows are tested. */
static void compare_sides(struct diff *d, struct diff_row *row, size_t n_tested)
{
	bool share = is_share(d, row->event);
	struct diff_side side[SIDES];
	double unit, variance, deviation, wide, unused;

	for (unsigned i = 0; i < SIDES; i++) {
		fill_side(d, row, i, &side[i]);
		if (share)
			side[i].divisor_variance = 0;
	}
	unit = (double)d->events[row->event].sum[OLD_SIDE].weight /
	       compute_divisor(d, row->event, OLD_SIDE, &unused);
	for (unsigned i = 0; i < SIDES; i++)
		row->value[i] = side[i].samples / side[i].exposure / unit;
	variance =
		compute_variance(&side[OLD_SIDE], share) + compute_variance(&side[NEW_SIDE], share);
	deviation = sqrt(variance) / unit;
	row->change = row->value[NEW_SIDE] - row->value[OLD_SIDE];
	row->low = row->change - normal_quantile(d->confidence) * deviation;
	row->high = row->change + normal_quantile(d->confidence) * deviation;
	wide = normal_quantile(1 - (1 - d->confidence) / (double)(n_tested ? n_tested : 1));
	row->surely = row->change - wide * deviation;
	row->p = is_tested(row)
	                 ? compute_difference_probability(&side[OLD_SIDE], &side[NEW_SIDE], share)
	                 : 1;
}

/* Adjusts the probabilities of the rows that are tested. */
static bool adjust_rows(struct diff *d)
{
	double *p = calloc(d->n_rows + 1, sizeof(*p));
	size_t n = 0;

	if (!p)
		return false;
	for (size_t i = 0; i < d->n_rows; i++)
		if (is_tested(&d->rows[i]))
			p[n++] = d->rows[i].p;
	if (!adjust_probabilities(p, n)) {
		free(p);
		return false;
	}
	n = 0;
	for (size_t i = 0; i < d->n_rows; i++) {
		if (is_tested(&d->rows[i]))
			d->rows[i].p = p[n++];
		d->rows[i].is_significant = d->rows[i].p < 1 - d->confidence;
	}
	free(p);
	return true;
}

/* By event, the whole first, then by the size of the change. */
static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double m = fabs(x->change), n = fabs(y->change);

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (!x->place != !y->place)
		return x->place ? 1 : -1;
	if (m < n || m > n)
		return m < n ? 1 : -1;
	if (x->weight[NEW_SIDE] != y->weight[NEW_SIDE])
		return x->weight[NEW_SIDE] < y->weight[NEW_SIDE] ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool compare_all(struct diff *d)
{
	size_t n_tested = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		n_tested += is_tested(&d->rows[i]);
	for (size_t i = 0; i < d->n_rows; i++)
		compare_sides(d, &d->rows[i], n_tested);
	if (!adjust_rows(d))
		return false;
	if (d->n_rows)
		qsort(d->rows, d->n_rows, sizeof(*d->rows), compare_rows);
	return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void list_events(const struct diff *d, unsigned side)
{
	const char *comma = "";
	char line[NAME_LINE];

	for (uint32_t i = 0; i < d->n_events; i++) {
		if (!d->events[i].sum[side].samples)
			continue;
		fprintf(stderr, "%s%s", comma, profile_format_line(d->events[i].name, line));
		comma = ", ";
	}
	if (!*comma)
		fputs("no event", stderr);
}

/* Names the events with samples of both recordings. Returns EXIT_REFUSED. */
int refuse_events(const struct diff *d, const char *problem)
{
	fprintf(stderr, "pfm diff: %s: %s has samples of ", problem, d->paths[OLD_SIDE]);
	list_events(d, OLD_SIDE);
	fprintf(stderr, ", %s of ", d->paths[NEW_SIDE]);
	list_events(d, NEW_SIDE);
	fputc('\n', stderr);
	return EXIT_REFUSED;
}

/* Can values be divided as is wanted? */
static int check_divisor(const struct diff *d)
{
	const struct diff_event *e = NULL;
	char problem[300];

	for (unsigned i = 0; d->divisor == DIVIDE_BY_TIME && i < SIDES; i++)
		if (!time_span_length(&d->profiles[i].sampled)) {
			fprintf(stderr,
			        "pfm diff: --normalize time needs samples at two times, got fewer "
			        "in %s\n",
			        d->paths[i]);
			return EXIT_REFUSED;
		}
	if (d->divisor != DIVIDE_BY_EVENT)
		return EXIT_DONE;
	e = &d->events[find_event(d, d->divisor_event)];
	if (e->sum[OLD_SIDE].samples && e->sum[NEW_SIDE].samples)
		return EXIT_DONE;
	snprintf(problem, sizeof(problem),
	         "--normalize: expected share, count, time or an event of both recordings, got "
	         "'%s'",
	         d->divisor_event);
	return refuse_events(d, problem);
}

static int read_sides(struct diff *d)
{
	for (unsigned i = 0; i < SIDES; i++) {
		if (read_recorded_profile(&d->profiles[i], d->paths[i], &d->options) != EXIT_DONE)
			return EXIT_REFUSED;
		report_profile_losses(&d->profiles[i], d->paths[i]);
		if (d->profiles[i].losses.damaged)
			fprintf(stderr, "pfm diff: %s is damaged or cut off: its end is missing\n",
			        d->paths[i]);
	}
	return EXIT_DONE;
}

int read_diff(struct diff *d)
{
	int status = read_sides(d);

	if (status != EXIT_DONE)
		return status;
	if (add_events(d))
		return EXIT_DONE;
	report_no_memory();
	return EXIT_REFUSED;
}

int compute_diff(struct diff *d)
{
	int status = read_diff(d);

	if (status != EXIT_DONE)
		return status;
	status = check_divisor(d);
	if (status != EXIT_DONE)
		return status;
	if (!add_places(d, OLD_SIDE) || !add_places(d, NEW_SIDE) || !add_totals(d))
		return report_no_memory();
	if (!d->n_rows)
		return refuse_events(d, "the recordings have no event in common");
	return compare_all(d) ? EXIT_DONE : report_no_memory();
}

/* True if the row is of a function that only recording @side has. */
static bool is_on_one_side(const struct diff_row *row, unsigned side)
{
	return row->place && row->samples[side] && !row->samples[!side] && row->place->function;
}

static const char *get_function(const struct diff_row *row)
{
	return row->profile->texts.text[row->place->function];
}

/* Adds the functions that only OLD has, each with its row: text N is of @rows[N]. False without
 * memory. */
static bool collect_old_functions(const struct diff *d, struct text_pool *functions,
                                  const struct diff_row **rows)
{
	for (size_t i = 0; i < d->n_rows; i++)
		if (is_on_one_side(&d->rows[i], OLD_SIDE))
			rows[text_pool_add(functions, get_function(&d->rows[i]))] = &d->rows[i];
	return !functions->failed;
}

bool has_renamed_files(const struct diff *d, const char **old_name, const char **new_name)
{
	const struct diff_row **rows = calloc(d->n_rows + 1, sizeof(*rows)), *heaviest = NULL;
	struct text_pool functions = { .n = 0 };
	uint64_t all = 0, renamed = 0;
	bool is_known = rows && collect_old_functions(d, &functions, rows);

	for (size_t i = 0; is_known && i < d->n_rows; i++) {
		const struct diff_row *row = &d->rows[i];
		uint32_t at;

		all += row->place ? row->samples[NEW_SIDE] : 0;
		if (!is_on_one_side(row, NEW_SIDE))
			continue;
		at = text_pool_find(&functions, get_function(row));
		if (at == HASH_NOT_FOUND)
			continue;
		renamed += row->samples[NEW_SIDE];
		if (heaviest && heaviest->samples[NEW_SIDE] >= row->samples[NEW_SIDE])
			continue;
		heaviest = row;
		*old_name = base_name(rows[at]->profile->texts.text[rows[at]->place->object]);
		*new_name = base_name(row->profile->texts.text[row->place->object]);
	}
	text_pool_free(&functions);
	free(rows);
	return heaviest && 2 * renamed > all && strcmp(*old_name, *new_name) != 0;
}

void free_diff(struct diff *d)
{
	for (unsigned i = 0; i < SIDES; i++)
		profile_free(&d->profiles[i]);
	for (size_t i = 0; i < d->keys.n; i++)
		free(d->keys.text[i]);
	free(d->keys.text);
	pfmi_base_free_hash(&d->keys.table);
	for (unsigned i = 0; i < SIDES; i++)
		free(d->event_numbers[i]);
	free(d->events);
	free(d->rows);
}
