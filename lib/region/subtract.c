/* SPDX-License-Identifier: MIT */
/* Costs of begin and end in a row, and how far they are known.
 *
 * N visits have counted N times the cost of an empty one. The measured cost of an empty visit is
 * wrong in two ways: the median differs from the mean of many visits by an unknown amount, the same
 * for each visit, and single visits differ from the mean by chance. The error of the sum is
 * therefore sqrt((N mean)^2 + N visit^2), with both parts as half-widths of 95 % intervals.
 *
 * A few visits cost more than that. The first one of a thread finds empty caches, and functions
 * that the dynamic linker must still look up; cost.c measures its cost. Interrupts, and processes
 * that take the CPU away, come too seldom to be measured in advance, but make visits longer than
 * the shortest one. They come at any time: as large a share of this excess falls on begin and end
 * as they have of a shortest visit. */
#include "region/region.h"

/* Newton's method. */
double pfmi_region_compute_root(double v)
{
	double x = v > 1 ? v : 1;

	while (v > 0) {
		double next = (x + v / x) / 2;

		if (!(next < x)) /* not a number where @v is infinite */
			return x;
		x = next;
	}
	return 0;
}

uint64_t pfmi_region_round(double v)
{
	return !(v > 0) ? 0 : v >= 18446744073709549568.0 ? UINT64_MAX : (uint64_t)(v + 0.5);
}

struct cost {
	double median;
	struct uncertainty u;
};

/* The cost of @n and @m times two costs. */
static struct overhead add_costs(struct cost a, uint64_t n, struct cost b, uint64_t m)
{
	const double x = (double)n, y = (double)m, each = x > 0 ? x : y > 0 ? y : 1;
	const double mean = x * x * a.u.mean * a.u.mean + y * y * b.u.mean * b.u.mean,
		     visit = x * a.u.visit * a.u.visit + y * b.u.visit * b.u.visit;

	return (struct overhead){
		.cost = pfmi_region_round(x * a.median + y * b.median),
		.error = pfmi_region_round(pfmi_region_compute_root(mean + visit)),
		.mean = pfmi_region_compute_root(mean) / each,
		.visit = pfmi_region_compute_root(visit / each),
	};
}

static struct cost get_inside(const struct layout *l, const struct region_event *e)
{
	return e ? (struct cost){ e->cost_inside, e->inside }
	         : (struct cost){ l->wall_inside, l->inside };
}

static struct cost get_pair(const struct layout *l, const struct region_event *e)
{
	return e ? (struct cost){ e->cost_pair, e->pair } : (struct cost){ l->wall_pair, l->pair };
}

struct overhead pfmi_region_compute_overhead(const struct layout *l, const struct region_event *e,
                                             uint64_t visits, uint64_t pairs)
{
	return add_costs(get_inside(l, e), visits, get_pair(l, e), pairs);
}

void pfmi_region_add_rare_costs(struct overhead *o, const struct layout *l,
                                const struct region_event *e, const struct counted_visits *v)
{
	const struct cost inside = get_inside(l, e), pair = get_pair(l, e);
	const double n = (double)v->visits, pairs = (double)v->pairs, min = (double)v->min,
		     cost = inside.median + (n > 0 ? pairs / n * pair.median : 0),
		     shortest = inside.median + inside.u.visit,
		     work = min > shortest ? min - shortest : 0,
		     beyond = (double)v->sum - pairs * pair.median - n * min,
		     rare = beyond > 0 && cost > 0 ? beyond * cost / (cost + work) : 0,
		     first = (double)v->threads * inside.u.first, usual = (double)o->error;

	o->error = pfmi_region_round(
		pfmi_region_compute_root(usual * usual + first * first + rare * rare));
}

struct overhead pfmi_region_compute_own_overhead(const struct layout *l,
                                                 const struct region_event *e, uint64_t visits,
                                                 uint64_t children)
{
	const struct cost inside = get_inside(l, e);
	struct cost pair = get_pair(l, e);

	pair.median = pair.median > inside.median ? pair.median - inside.median : 0;
	return add_costs(inside, visits, pair, children);
}

uint64_t pfmi_region_find_enough_visits(uint64_t value, uint64_t visits, const struct overhead *o)
{
	double half, rest;

	if (!visits || !o->error || value > o->error)
		return 0;
	half = (double)value / (double)visits / 2;
	rest = half * half - o->mean * o->mean;
	if (!(rest > 0))
		return UINT64_MAX;
	rest = o->visit * o->visit / rest;
	return rest < 1e12 ? (uint64_t)rest + 1 : UINT64_MAX;
}
