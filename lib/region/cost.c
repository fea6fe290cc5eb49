/* SPDX-License-Identifier: MIT */
/* Cost of begin and end themselves: empty visits, measured once for each round in the first
 * thread.
 *
 * Two costs are measured. "Inside" is what an empty visit counts: it is in every visit's own count.
 * "Pair" is what one begin and end add to the visit around them. Medians: an interrupt in one of
 * the visits changes nothing. */
#include <stdlib.h>
#include "region/region.h"

enum { VISITS = 101, BATCH = 8 };

struct samples {
	unsigned words;
	uint64_t *inside, *pair; /* VISITS values of each word; the wall time is the last word */
};

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double compute_median(uint64_t *values)
{
	qsort(values, VISITS, sizeof(*values), compare_times);
	const unsigned middle = VISITS / 2;

	return (double)values[middle];
}

static void measure_inside(struct thread *t, const struct region_marks *marks, pfm_region_t *empty,
                           struct samples *s, uint64_t *words)
{
	uint64_t wall = 0;

	t->probe = words;
	t->probe_wall = &wall;
	for (unsigned i = 0; i < VISITS; i++) {
		marks->begin(empty);
		marks->end(empty);
		for (unsigned w = 0; w < s->words; w++)
			s->inside[w * VISITS + i] = words[w];
		s->inside[s->words * VISITS + i] = wall;
	}
	t->probe = NULL;
}

/* Measures a visit with BATCH empty ones inside, minus a visit with none. */
static void measure_nested_visits(struct thread *t, const struct region_marks *marks,
                                  pfm_region_t *empty, pfm_region_t *outer, struct samples *s,
                                  uint64_t *words)
{
	uint64_t wall = 0;

	for (unsigned i = 0; i < VISITS; i++) {
		marks->begin(outer);
		for (unsigned k = 0; k < BATCH; k++) {
			marks->begin(empty);
			marks->end(empty);
		}
		t->probe = words;
		t->probe_wall = &wall;
		marks->end(outer);
		t->probe = NULL;
		for (unsigned w = 0; w < s->words; w++)
			s->pair[w * VISITS + i] = words[w];
		s->pair[s->words * VISITS + i] = wall;
	}
}

static double divide_by_batch(double batch, double inside)
{
	return batch > inside ? (batch - inside) / BATCH : 0;
}

static void evaluate_samples(struct samples *s, unsigned round)
{
	struct layout *l = &pfmi_regions.layout;
	const struct round *r = &l->rounds[round];
	double inside;

	for (unsigned g = 0; g < r->n; g++)
		for (unsigned i = 0; i < r->groups[g].n; i++) {
			struct region_event *e = &l->events[r->groups[g].events[i]];
			unsigned w = r->groups[g].word + GROUP_VALUES + i;

			e->cost_inside = compute_median(s->inside + w * VISITS);
			e->cost_pair = divide_by_batch(compute_median(s->pair + w * VISITS),
			                               e->cost_inside);
		}
	inside = compute_median(s->inside + s->words * VISITS);
	if (round == 0) {
		l->task_inside =
			r->n && !r->groups[0].n_system
				? compute_median(s->inside +
		                                 (r->groups[0].word + GROUP_ENABLED) * VISITS)
				: 0;
		l->wall_inside = inside;
		l->wall_pair = divide_by_batch(compute_median(s->pair + s->words * VISITS), inside);
	}
}

void pfmi_region_measure_cost(struct thread *t, const struct region_marks *marks)
{
	struct layout *l = &pfmi_regions.layout;
	struct samples s = { .words = l->words };
	size_t n = (size_t)(l->words + 1) * VISITS;
	uint64_t *memory = calloc(2 * n + l->words + 1, sizeof(*memory));
	pfm_region_t empty = { "", EMPTY_REGION, 0 }, outer = { "", OUTER_REGION, 0 };

	if (memory) {
		s.inside = memory;
		s.pair = memory + n;
		for (unsigned r = 0; r < l->n_rounds; r++) {
			pfmi_thread_switch_round(t, r);
			t->handles++; /* an open handle keeps the thread in the round */
			measure_inside(t, marks, &empty, &s, memory + 2 * n);
			measure_nested_visits(t, marks, &empty, &outer, &s, memory + 2 * n);
			t->handles--;
			evaluate_samples(&s, r);
		}
		pfmi_thread_switch_round(t, 0);
	}
	free(memory);
	pfmi_storage_put_costs();
}
