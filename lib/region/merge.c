/* SPDX-License-Identifier: MIT */
/* Results of several processes of a command as one. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include "region/region.h"

/* ---- names ------------------------------------------------------------------------------- */

struct named {
	const char *name;
	uint32_t number;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* The names of @l, sorted; to be freed. NULL without memory. */
static struct named *sort_names(const struct region_loaded *l, size_t *n)
{
	struct named *list = calloc((size_t)l->last_number + 1, sizeof(*list));

	*n = 0;
	for (uint32_t i = LAST_OWN_REGION + 1; list && i <= l->last_number; i++)
		list[(*n)++] = (struct named){ l->names[i], i };
	if (list)
		qsort(list, *n, sizeof(*list), compare_names);
	return list;
}

/* The numbers in @to of the names of @from, which are added where they are missing; to be freed.
 * NULL without memory. */
static uint32_t *map_names(struct region_loaded *to, const struct region_loaded *from)
{
	uint32_t *numbers = calloc((size_t)from->last_number + 1, sizeof(*numbers));
	size_t n;
	struct named *list = numbers ? sort_names(to, &n) : NULL;
	bool is_mapped = list;

	for (uint32_t i = LAST_OWN_REGION + 1; is_mapped && i <= from->last_number; i++) {
		const struct named key = { from->names[i], 0 },
				   *met = bsearch(&key, list, n, sizeof(*list), compare_names);

		is_mapped = met || pfmi_loaded_add_name(to, key.name, strlen(key.name));
		numbers[i] = met ? met->number : to->last_number;
	}
	free(list);
	if (is_mapped)
		return numbers;
	free(numbers);
	return NULL;
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool have_same_events(const struct layout *a, const struct layout *b)
{
	if (a->n_events != b->n_events || a->n_rounds != b->n_rounds)
		return false;
	for (unsigned i = 0; i < a->n_events; i++)
		if (strcmp(a->events[i].name, b->events[i].name) != 0)
			return false;
	return true;
}

static void drop_threads(pfm_region_results_t *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++)
		if (r->rows[i].tid)
			free(r->rows[i].tallies);
		else
			r->rows[n++] = r->rows[i];
	r->n = n;
	r->loaded->n_visits = 0;
}

static void add_larger(struct uncertainty *to, const struct uncertainty *from)
{
	to->mean = from->mean > to->mean ? from->mean : to->mean;
	to->visit = from->visit > to->visit ? from->visit : to->visit;
	to->first = from->first > to->first ? from->first : to->first;
}

/* The error of a sum is that of the process whose costs are known worst. */
static void add_uncertainty(struct layout *to, const struct layout *from)
{
	add_larger(&to->inside, &from->inside);
	add_larger(&to->pair, &from->pair);
	for (unsigned i = 0; i < to->n_events; i++) {
		add_larger(&to->events[i].inside, &from->events[i].inside);
		add_larger(&to->events[i].pair, &from->events[i].pair);
	}
}

/* Adds a cost, which may be negative, to a value that is not. */
static uint64_t shift(uint64_t value, double by)
{
	const uint64_t size = pfmi_region_round(by < 0 ? -by : by);

	if (by >= 0)
		return value + size;
	return value > size ? value - size : 0;
}

/* Each process has measured its costs, and results have one: converts sums so that the costs of
 * @to give what those of @from would. */
static void convert_tally(struct tally *t, const struct region_event *to,
                          const struct region_event *from)
{
	const double inside = to->cost_inside - from->cost_inside,
		     pair = to->cost_pair - from->cost_pair;

	t->inclusive = shift(t->inclusive, (double)t->visits * inside + (double)t->pairs * pair);
	t->exclusive = shift(t->exclusive, (double)t->exclusive_visits * inside +
	                                           (double)t->children * (pair - inside));
	t->min = shift(t->min, inside);
	t->max = shift(t->max, inside);
	t->mean += inside;
}

static void convert_times(struct times *t, const struct layout *to, const struct layout *from)
{
	const double inside = to->wall_inside - from->wall_inside,
		     pair = to->wall_pair - from->wall_pair,
		     task = to->task_inside - from->task_inside;

	t->wall = shift(t->wall, (double)t->outermost * inside + (double)t->pairs * pair);
	t->exclusive = shift(t->exclusive,
	                     (double)t->visits * inside + (double)t->children * (pair - inside));
	t->min = shift(t->min, inside);
	t->max = shift(t->max, inside);
	t->mean += inside;
	t->task = shift(t->task, (double)t->task_visits * task + (double)t->pairs * pair);
}

static void add_row(struct result_row *to, const struct result_row *from, const struct layout *l,
                    const struct layout *theirs)
{
	struct times times = from->times;

	convert_times(&times, l, theirs);
	pfmi_region_add_times(&to->times, &times);
	for (unsigned i = 0; i < l->n_events; i++) {
		struct tally t = from->tallies[i];

		convert_tally(&t, &l->events[i], &theirs->events[i]);
		pfmi_region_add_tally(&to->tallies[i], &t);
	}
	to->threads += from->threads;
	to->open += from->open;
	to->is_torn |= from->is_torn;
}

static bool add_rows(pfm_region_results_t *to, const pfm_region_results_t *from,
                     const uint32_t *numbers)
{
	const unsigned n = to->n;
	unsigned size = n;

	for (unsigned i = 0; i < from->n; i++) {
		const struct result_row *row = &from->rows[i];
		const struct result_row key = { .region = numbers[row->region],
			                        .parent = row->parent ? numbers[row->parent] : 0 };
		struct result_row *sum;

		if (row->tid)
			continue;
		sum = n ? bsearch(&key, to->rows, n, sizeof(key), pfmi_results_compare_rows) : NULL;
		if (!sum) {
			sum = pfmi_results_add_row(to, &size);
			if (!sum)
				return false;
			sum->region = key.region;
			sum->parent = key.parent;
		}
		add_row(sum, row, to->layout, from->layout);
	}
	if (to->n)
		qsort(to->rows, to->n, sizeof(*to->rows), pfmi_results_compare_rows);
	return true;
}

int pfm_add_region_results(pfm_region_results_t *to, const pfm_region_results_t *from)
{
	uint32_t *numbers;
	bool is_added;

	if (!to || !from || to == from || !to->loaded || !from->loaded ||
	    !have_same_events(to->layout, from->layout))
		return PFMLIB_ERR_INVAL;
	drop_threads(to);
	numbers = map_names(to->loaded, from->loaded);
	if (!numbers)
		return PFMLIB_ERR_NOMEM;
	add_uncertainty(&to->loaded->layout, from->layout);
	is_added = add_rows(to, from, numbers);
	free(numbers);
	to->missed += from->missed;
	to->unmatched += from->unmatched;
	to->process.more += 1 + from->process.more;
	to->process.has_ended &= from->process.has_ended;
	to->process.is_incomplete |= from->process.is_incomplete;
	if (to->process.rank != from->process.rank)
		to->process.rank = -1;
	return is_added ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}
