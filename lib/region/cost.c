/* SPDX-License-Identifier: MIT */
/* Cost of begin and end themselves: empty visits, measured once for each round in the first
 * thread.
 *
 * Two costs are measured. "Inside" is what an empty visit counts: it is in every visit's own count.
 * "Pair" is what one begin and end add to the visit around them. Medians: an interrupt in one of
 * the visits changes nothing.
 *
 * A program's visits cost more than those of a loop without work, because its work displaces the
 * code and the data of begin and end from the caches. So visits after work are measured as well;
 * their difference is the uncertainty of the costs. The first visit of a thread finds nothing in
 * the caches, neither begin and end nor the program's own code between them: a few visits after
 * much work, with cold memory read inside, tell how much more it may cost. That work displaces
 * lines, but few translations of addresses, which cost about as much again: it counts twice. */
#include <stdlib.h>
#include "region/region.h"

enum {
	VISITS = 101,
	OUTSIDE = 2, /* visits on each side of the middle 95 % */
	ROOT = 10,   /* of VISITS */
	BATCH = 8,
	WORK = 512 << 10, /* bytes that displace others from the smaller caches */
	MUCH_WORK = 4 << 20,
	FIRST_VISITS = 9,
	COLD_READS = 24, /* of code between the marks, of addresses, of the region, of the stack */
	PAGE = 4096,
	LINE = 64
};

enum kind {
	EMPTY,      /* a visit with none inside */
	BATCHES,    /* a visit with BATCH empty ones inside */
	WORN_EMPTY, /* after work */
	WORN_PAIR,  /* a visit with one empty visit inside, after work */
	FIRST,      /* FIRST_VISITS visits after much work */
	KINDS
};

struct samples {
	unsigned words;
	uint64_t *values[KINDS]; /* VISITS values of each word; the wall time is the last word */
	uint64_t *now, wall;     /* of one visit */
	char *work;              /* MUCH_WORK bytes */
};

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* VISITS values without the few that differ most. */
struct range {
	double low, median, high, mean;
};

static struct range compute_range(uint64_t *values)
{
	const unsigned middle = VISITS / 2, last = VISITS - 1 - OUTSIDE;
	struct range r;

	qsort(values, VISITS, sizeof(*values), compare_times);
	r = (struct range){ (double)values[OUTSIDE], (double)values[middle], (double)values[last],
		            0 };
	for (unsigned i = OUTSIDE; i <= last; i++)
		r.mean += (double)values[i] - r.median;
	r.mean = r.median + r.mean / (last + 1 - OUTSIDE);
	return r;
}

/* A limit that first visits exceed in one of 20 cases, from FIRST_VISITS samples without the
 * largest, which an interrupt may have made. 3.19 is the factor of deviations in tables of
 * tolerance limits for 8 samples of a normal distribution: 95 % of all values, with 95 %
 * confidence. */
static double compute_first_limit(uint64_t *values)
{
	const double factor = 3.19;
	const unsigned n = FIRST_VISITS - 1;
	double mean = 0, squares = 0;

	qsort(values, FIRST_VISITS, sizeof(*values), compare_times);
	for (unsigned i = 0; i < n; i++)
		mean += (double)values[i] / n;
	for (unsigned i = 0; i < n; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	return mean + factor * pfmi_region_compute_root(squares / (n - 1));
}

static double get_larger(double a, double b)
{
	return a > b ? a : b;
}

/* The uncertainty of @median, a cost, if visits after work cost @worn. */
static struct uncertainty compute_uncertainty(double median, const struct range *usual,
                                              const struct range *worn)
{
	const double visit =
		get_larger(median - usual->low, get_larger(usual->high, worn->high) - median);

	return (struct uncertainty){ .visit = visit,
		                     .mean = get_larger(usual->mean - median, 0) +
		                             get_larger(worn->mean - median, 0) + visit / ROOT };
}

/* Displaces code and data of begin and end from the caches. */
static void displace_lines(char *bytes, unsigned n)
{
	for (unsigned i = 0; i < n; i += LINE)
		((volatile char *)bytes)[i]++;
}

static void keep_visit(struct samples *s, enum kind kind, unsigned i)
{
	for (unsigned w = 0; w < s->words; w++)
		s->values[kind][w * VISITS + i] = s->now[w];
	s->values[kind][s->words * VISITS + i] = s->wall;
}

/* Measures empty visits. Nothing stands between begin and end, as in a program: an instruction more
 * would be subtracted from each of its visits. */
static void measure_empty(struct thread *t, const struct region_marks *marks, struct samples *s,
                          enum kind kind)
{
	pfm_region_t empty = { "", EMPTY_REGION, 0 };

	for (unsigned i = 0; i < VISITS; i++) {
		if (kind == WORN_EMPTY)
			displace_lines(s->work, WORK);
		t->probe = s->now;
		t->probe_wall = &s->wall;
		marks->begin(&empty);
		marks->end(&empty);
		t->probe = NULL;
		keep_visit(s, kind, i);
	}
}

/* Reads as many lines of @bytes, each in a page of its own, one after the other as code is read. */
static void read_cold(const char *bytes)
{
	static volatile const char nothing;
	const char mask = nothing;
	unsigned at = PAGE;

	for (unsigned i = 0; i < COLD_READS; i++)
		at += PAGE + (unsigned)(((volatile const char *)bytes)[at] & mask);
}

/* Measures visits as the first one of a thread. */
static void measure_first(struct thread *t, const struct region_marks *marks, struct samples *s)
{
	pfm_region_t empty = { "", EMPTY_REGION, 0 };

	for (unsigned i = 0; i < FIRST_VISITS; i++) {
		displace_lines(s->work, MUCH_WORK);
		t->probe = s->now;
		t->probe_wall = &s->wall;
		marks->begin(&empty);
		read_cold(s->work);
		marks->end(&empty);
		t->probe = NULL;
		keep_visit(s, FIRST, i);
	}
}

/* Measures visits with @n empty ones inside. */
static void measure_nested(struct thread *t, const struct region_marks *marks, struct samples *s,
                           enum kind kind, unsigned n)
{
	pfm_region_t empty = { "", EMPTY_REGION, 0 }, outer = { "", OUTER_REGION, 0 };

	for (unsigned i = 0; i < VISITS; i++) {
		if (kind == WORN_PAIR)
			displace_lines(s->work, WORK);
		marks->begin(&outer);
		for (unsigned k = 0; k < n; k++) {
			marks->begin(&empty);
			marks->end(&empty);
		}
		t->probe = s->now;
		t->probe_wall = &s->wall;
		marks->end(&outer);
		t->probe = NULL;
		keep_visit(s, kind, i);
	}
}

/* Computes what an empty visit counts, and what one begin and end add to the visit around them. */
static void evaluate_word(const struct samples *s, unsigned w, double *inside, double *pair,
                          struct uncertainty *of_inside, struct uncertainty *of_pair)
{
	struct range r[KINDS], one;
	double batch;

	for (unsigned k = 0; k < FIRST; k++)
		r[k] = compute_range(s->values[k] + w * VISITS);
	*inside = r[EMPTY].median;
	*of_inside = compute_uncertainty(*inside, &r[EMPTY], &r[WORN_EMPTY]);
	of_inside->first =
		2 * get_larger(compute_first_limit(s->values[FIRST] + w * VISITS) - *inside, 0);
	batch = r[BATCHES].median;
	*pair = batch > *inside ? (batch - *inside) / BATCH : 0;
	one = (struct range){ *pair - (batch - r[BATCHES].low) / BATCH, *pair,
		              *pair + (r[BATCHES].high - batch) / BATCH,
		              *pair + (r[BATCHES].mean - batch) / BATCH };
	*of_pair = compute_uncertainty(*pair, &one,
	                               &(struct range){ .high = r[WORN_PAIR].high - *inside,
	                                                .mean = r[WORN_PAIR].mean - *inside });
}

static void evaluate_samples(const struct samples *s, unsigned round)
{
	struct layout *l = &pfmi_regions.layout;
	const struct round *r = &l->rounds[round];

	for (unsigned g = 0; g < r->n; g++)
		for (unsigned i = 0; i < r->groups[g].n; i++) {
			struct region_event *e = &l->events[r->groups[g].events[i]];

			evaluate_word(s, r->groups[g].word + GROUP_VALUES + i, &e->cost_inside,
			              &e->cost_pair, &e->inside, &e->pair);
		}
	if (round)
		return;
	if (r->n && !r->groups[0].n_system) {
		uint64_t *task = s->values[EMPTY] + (r->groups[0].word + GROUP_ENABLED) * VISITS;

		l->task_inside = compute_range(task).median;
	}
	evaluate_word(s, s->words, &l->wall_inside, &l->wall_pair, &l->inside, &l->pair);
}

static void measure_round(struct thread *t, const struct region_marks *marks, struct samples *s,
                          unsigned round)
{
	pfmi_thread_switch_round(t, round);
	t->handles++; /* an open handle keeps the thread in the round */
	measure_empty(t, marks, s, EMPTY);
	measure_nested(t, marks, s, BATCHES, BATCH);
	measure_empty(t, marks, s, WORN_EMPTY);
	measure_nested(t, marks, s, WORN_PAIR, 1);
	measure_first(t, marks, s);
	t->handles--;
	evaluate_samples(s, round);
}

void pfmi_region_measure_cost(struct thread *t, const struct region_marks *marks)
{
	const struct layout *l = &pfmi_regions.layout;
	struct samples s = { .words = l->words };
	size_t n = (size_t)(l->words + 1) * VISITS;
	uint64_t *memory = calloc(KINDS * n + l->words + 1, sizeof(*memory));

	s.work = calloc(1, MUCH_WORK);
	s.now = memory;
	for (unsigned k = 0; k < KINDS && memory; k++)
		s.values[k] = memory + l->words + 1 + k * n;
	if (memory && s.work) {
		for (unsigned r = 0; r < l->n_rounds; r++)
			measure_round(t, marks, &s, r);
		pfmi_thread_switch_round(t, 0);
	}
	free(s.work);
	free(memory);
	pfmi_storage_put_costs();
}
