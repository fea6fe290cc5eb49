/* SPDX-License-Identifier: MIT */
/* Reads results of regions. Each line is a process, or a region of the process before it. */
#include "diff/region_rows.h"
#include "common/pfm.h"
#include "diff/table.h"

#include <stdlib.h>
#include <string.h>

static bool add_value(struct region_values *v, const struct region_value *value)
{
	if (v->n == v->room) {
		size_t room = v->room ? 2 * v->room : 64;
		struct region_value *more = realloc(v->at, room * sizeof(*more));

		if (!more)
			return false;
		v->at = more;
		v->room = room;
	}
	v->at[v->n] = *value;
	json_incref(value->row);
	v->n++;
	return true;
}

static double get_variance(const json_t *of)
{
	const json_t *variance = json_object_get(of, "variance");

	return json_is_number(variance) ? json_number_value(variance) : -1;
}

/* Adds the metric called @metric, whose sum and variance are in @of, over @visits. */
static bool add_count(struct region_values *v, struct region_value *value, const char *metric,
                      const json_t *of, const json_t *visits)
{
	const json_t *sum = json_object_get(of, "inclusive");

	if (!json_is_number(sum) || !(json_number_value(visits) > 0))
		return true;
	value->metric = metric;
	value->visits = json_number_value(visits);
	value->sum = json_number_value(sum);
	value->variance = get_variance(of);
	return add_value(v, value);
}

/* Adds a metric that is computed from counts, as the mean over the visits of the row. */
static bool add_computed(struct region_values *v, struct region_value *value, const json_t *of,
                         double visits)
{
	const char *metric = json_string_value(json_object_get(of, "metric"));
	const json_t *number = json_object_get(of, "value");

	if (!metric || !json_is_number(number) || !(visits > 0))
		return true;
	value->metric = metric;
	value->visits = visits;
	value->sum = visits * json_number_value(number);
	value->variance = -1;
	return add_value(v, value);
}

static bool add_visits(struct region_values *v, struct region_value *value, double visits)
{
	value->metric = "visits";
	value->is_total = true;
	value->visits = 1;
	value->sum = visits;
	value->variance = -1;
	return add_value(v, value);
}

/* ---- what a row must have ---------------------------------------------------------------- */

static bool is_count_or_null(const json_t *number)
{
	return !number || json_is_null(number) ||
	       (json_is_number(number) && json_number_value(number) >= 0);
}

static bool are_sums(const json_t *of)
{
	return json_is_object(of) && is_count_or_null(json_object_get(of, "inclusive")) &&
	       is_count_or_null(json_object_get(of, "visits")) &&
	       is_count_or_null(json_object_get(of, "variance"));
}

/* Describes what is wrong with a row, as a value of another kind would be left out in silence. NULL
 * if the row is right. */
static const char *find_row_problem(const json_t *row)
{
	enum { MAX_RUN = 1000000 };
	const json_t *region = json_object_get(row, "region"), *run = json_object_get(row, "run"),
		     *of;
	size_t i;

	if (run && !(json_is_integer(run) && json_integer_value(run) > 0 &&
	             json_integer_value(run) <= MAX_RUN))
		return "expected a number of a run from 1 to 1000000";
	if (!region)
		return json_is_object(row) ? NULL : "expected an object";
	if (!json_is_string(region))
		return "expected the name of a region";
	if (!is_count_or_null(json_object_get(row, "visits")) ||
	    !is_count_or_null(json_object_get(row, "outermost")) ||
	    !are_sums(json_object_get(row, "wall_ns")))
		return "expected visits and wall_ns that are not negative";
	json_array_foreach (json_object_get(row, "counts"), i, of)
		if (!are_sums(of) || !json_is_string(json_object_get(of, "event")))
			return "expected counts with an event, none of them negative";
	return NULL;
}

/* Adds a row of a region. False without memory. */
static bool add_row(struct region_values *v, json_t *row, unsigned side, unsigned run)
{
	const char *region = json_string_value(json_object_get(row, "region")),
		   *parent = json_string_value(json_object_get(row, "parent")),
		   *thread = json_string_value(json_object_get(row, "thread"));
	const json_t *all = json_object_get(row, "visits"), *visits;
	struct region_value value = { .row = row,
		                      .region = region,
		                      .parent = parent ? parent : "",
		                      .side = side,
		                      .run = run,
		                      .n_processes = 1 };
	const json_t *list, *of;
	size_t i;

	if (!region || !thread || strcmp(thread, "all") != 0)
		return true;
	visits = json_object_get(row, "outermost");
	visits = visits ? visits : all;
	if (!add_count(v, &value, "wall_ns", json_object_get(row, "wall_ns"), visits))
		return false;
	list = json_object_get(row, "counts");
	json_array_foreach (list, i, of) {
		const char *event = json_string_value(json_object_get(of, "event"));

		if (event && !add_count(v, &value, event, of, json_object_get(of, "visits")))
			return false;
	}
	list = json_object_get(row, "metrics");
	json_array_foreach (list, i, of)
		if (!add_computed(v, &value, of, json_number_value(visits)))
			return false;
	return add_visits(v, &value, json_number_value(all));
}

/* The number of the run after a line of a process: its own number after those of earlier files, or
 * the next one. */
static unsigned get_run(const json_t *row, unsigned first, unsigned last)
{
	const json_t *run = json_object_get(row, "run");

	return json_is_integer(run) ? first + (unsigned)json_integer_value(run) : last + 1;
}

int read_region_values(struct region_values *v, FILE *in, const char *path, unsigned side,
                       bool is_run)
{
	const unsigned first = v->runs[side];
	unsigned run = first + is_run;
	size_t size = 0, number = 0;
	char *line = NULL;
	int status = EXIT_DONE;
	bool has_process = false; /* until then each row is of a process of its own */
	json_error_t error;
	ssize_t n;

	while (status == EXIT_DONE && (n = getline(&line, &size, in)) > 0) {
		json_t *row = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, &error);

		const char *problem = row ? find_row_problem(row) : "expected JSON";

		number++;
		if (problem) {
			fprintf(stderr,
			        "pfm diff: %s: line %zu is not of pfm stat --regions --json: %s\n",
			        path, number, problem);
			json_decref(row);
			status = EXIT_TROUBLE;
			break;
		}
		has_process = has_process || json_object_get(row, "program");
		if (!is_run && (!has_process || json_object_get(row, "program")))
			run = get_run(row, first, run);
		v->runs[side] = run > v->runs[side] ? run : v->runs[side];
		if (!add_row(v, row, side, run))
			status = report_no_memory();
		json_decref(row);
	}
	free(line);
	return status;
}

/* ---- runs -------------------------------------------------------------------------------- */

int compare_region_places(const struct region_value *x, const struct region_value *y)
{
	int order = strcmp(x->region, y->region);

	order = order ? order : strcmp(x->parent, y->parent);
	return order ? order : strcmp(x->metric, y->metric);
}

static int compare_values(const void *a, const void *b)
{
	const struct region_value *x = a, *y = b;
	int order = compare_region_places(x, y);

	if (order || x->side != y->side)
		return order ? order : x->side < y->side ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static bool are_of_one_run(const struct region_value *x, const struct region_value *y)
{
	return x->side == y->side && x->run == y->run && compare_region_places(x, y) == 0;
}

void join_region_values(struct region_values *v)
{
	size_t n = 0;

	if (v->n)
		qsort(v->at, v->n, sizeof(*v->at), compare_values);
	for (size_t i = 0; i < v->n; i++) {
		struct region_value *to = n ? &v->at[n - 1] : NULL;
		const struct region_value *from = &v->at[i];

		if (!to || !are_of_one_run(to, from)) {
			v->at[n++] = *from;
			continue;
		}
		to->sum += from->sum;
		to->visits += from->is_total ? 0 : from->visits;
		to->variance = -1; /* processes may have different means */
		to->n_processes++;
		json_decref(from->row);
	}
	v->n = n;
}

void free_region_values(struct region_values *v)
{
	for (size_t i = 0; i < v->n; i++)
		json_decref(v->at[i].row);
	free(v->at);
	*v = (struct region_values){ 0 };
}
