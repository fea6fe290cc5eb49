/* SPDX-License-Identifier: MIT */
/* Distributes events among groups, and groups among rounds.
 *
 * Events are grouped so that few readings read all of them:
 *
 *   1. Hardware events that the user or the plan of a metric put in one group stay together.
 *   2. Each such unit joins the first group of its PMU with which the kernel accepts it, or begins
 *      a group in a new round. The kernel has constraints that tables lack.
 *   3. Software events and tracepoints, which need no counter, join the first group of every round.
 *   4. Each event of the whole machine is a group of its own in every round.
 *
 * If the user limits the number of events in a group, software events are distributed, too. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "context/context.h"
#include "region/region.h"

#define MAX_GROUP_EVENTS 64u /* of one group that the kernel opens */

/* ---- groups ------------------------------------------------------------------------------ */

static struct group *add_group(struct round *r)
{
	struct group *more = realloc(r->groups, (r->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	r->groups = more;
	more[r->n] = (struct group){ 0 };
	return &more[r->n++];
}

static bool add_event(struct group *g, unsigned event)
{
	unsigned *more = realloc(g->events, (g->n + 1) * sizeof(*more));

	if (!more)
		return false;
	g->events = more;
	more[g->n++] = event;
	return true;
}

static struct round *add_round(struct layout *l)
{
	struct round *more = realloc(l->rounds, (l->n_rounds + 1) * sizeof(*more));

	if (!more)
		return NULL;
	l->rounds = more;
	more[l->n_rounds] = (struct round){ 0 };
	return &more[l->n_rounds++];
}

/* True if the kernel opens the group for this thread. */
static bool can_open_group(const struct layout *l, const struct group *g)
{
	int fds[MAX_GROUP_EVENTS];

	if (g->n > MAX_GROUP_EVENTS || pfmi_region_open_group(l->events, g, true, fds))
		return false;
	for (unsigned i = g->n; i-- > 0;)
		close(fds[i]);
	return true;
}

/* Adds the events of @unit to @g if the kernel accepts them together; else leaves @g as it was. */
static bool try_join_group(const struct layout *l, struct group *g, const unsigned *unit,
                           unsigned n)
{
	unsigned before = g->n;

	if (l->max_group_size && g->n + n > l->max_group_size)
		return false;

	for (unsigned i = 0; i < n; i++)
		if (!add_event(g, unit[i]))
			return false;
	if (can_open_group(l, g))
		return true;
	g->n = before;
	return false;
}

/* The type of the first PMU of cores; PERF_TYPE_RAW if the kernel shows none. */
static uint32_t get_core_type(const struct layout *l)
{
	const struct kernel_info *k = l->ctx ? l->ctx->kernel : NULL;

	for (unsigned i = 0; k && i < k->n_pmus; i++)
		if (k->pmus[i].is_core && k->pmus[i].n_instances)
			return (uint32_t)k->pmus[i].instance_types[0];
	return PERF_TYPE_RAW;
}

/* The type of the PMU that counts the event: the kernel's own events name it, or mean the cores'.
 */
static uint32_t get_pmu_type(const struct layout *l, const perfmon_attr_t *a)
{
	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE)
		return a->config >> 32 ? (uint32_t)(a->config >> 32) : get_core_type(l);
	return a->type == PERF_TYPE_RAW ? get_core_type(l) : a->type;
}

static bool is_of_group_pmu(const struct layout *l, const struct group *g, unsigned event)
{
	const perfmon_attr_t *a = &l->events[g->events[0]].attr, *b = &l->events[event].attr;

	return get_pmu_type(l, a) == get_pmu_type(l, b) ||
	       (pfmi_region_is_software(a) && pfmi_region_is_software(b));
}

/* Rule 2: uses the first round in which the unit fits. Groups of other PMUs count at the same
 * time. */
static bool place_in_round(struct layout *l, const unsigned *unit, unsigned n)
{
	struct group *g;
	bool ok;

	for (unsigned r = 0; r < l->n_rounds; r++) {
		bool met = false;

		for (unsigned i = 0; i < l->rounds[r].n; i++) {
			if (!is_of_group_pmu(l, &l->rounds[r].groups[i], unit[0]))
				continue;
			met = true;
			if (try_join_group(l, &l->rounds[r].groups[i], unit, n))
				return true;
		}
		if (met)
			continue;
		g = add_group(&l->rounds[r]);
		if (g && try_join_group(l, g, unit, n))
			return true;
		if (g)
			free(l->rounds[r].groups[--l->rounds[r].n].events);
	}
	if (!add_round(l))
		return false;
	g = add_group(&l->rounds[l->n_rounds - 1]);
	ok = g && try_join_group(l, g, unit, n);
	if (!ok) {
		if (g)
			free(g->events);
		free(l->rounds[--l->n_rounds].groups);
	}
	return ok;
}

static void mark_uncountable(struct region_event *e, pfm_cause_t cause, const char *why)
{
	char *text = strdup(why);

	e->countable = false;
	e->quality = PFM_QUALITY_NOT_COUNTED;
	e->cause = cause;
	if (text) {
		free(e->why);
		e->why = text;
	}
}

/* Rule 1: keeps hardware events of one group of the session together. */
static void place_session_group(struct layout *l, unsigned first)
{
	unsigned unit[MAX_GROUP_EVENTS], n = 0;

	for (unsigned i = first; i < l->n_events && n < MAX_GROUP_EVENTS; i++)
		if (l->events[i].countable && !l->events[i].soft && !l->events[i].system &&
		    l->events[i].session_group == l->events[first].session_group)
			unit[n++] = i;
	if (place_in_round(l, unit, n))
		return;
	for (unsigned i = 0; i < n; i++)
		if (n == 1 || !place_in_round(l, &unit[i], 1))
			mark_uncountable(&l->events[unit[i]], PFM_CAUSE_GROUP,
			                 "the kernel refuses the event for a thread");
}

static bool is_placed(const struct layout *l, unsigned event)
{
	for (unsigned r = 0; r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			for (unsigned i = 0; i < l->rounds[r].groups[g].n; i++)
				if (l->rounds[r].groups[g].events[i] == event)
					return true;
	return false;
}

/* Rule 3: adds a software event to a group. */
static bool place_software_event(struct layout *l, unsigned event)
{
	for (unsigned r = 0; r < l->n_rounds; r++) {
		struct round *round = &l->rounds[r];
		struct group *g = round->n ? &round->groups[0] : add_group(round);

		if (!g)
			return false;
		if (try_join_group(l, g, &event, 1))
			continue;
		g = add_group(round);
		if (!g)
			return false;
		if (!try_join_group(l, g, &event, 1)) {
			free(round->groups[--round->n].events);
			mark_uncountable(&l->events[event], PFM_CAUSE_OTHER,
			                 "the kernel refuses the event for a thread");
			return true;
		}
	}
	return true;
}

/* Rule 4: makes a group of an event of the whole machine. */
static bool place_system_event(struct layout *l, unsigned event)
{
	struct region_event *e = &l->events[event];

	if (!pfmi_region_open_on_cpus(e)) {
		mark_uncountable(e, PFM_CAUSE_PERMISSION,
		                 "the kernel refuses the event for the whole machine");
		return true;
	}
	for (unsigned r = 0; r < l->n_rounds; r++) {
		struct group *g = add_group(&l->rounds[r]);

		if (!g || !add_event(g, event))
			return false;
		g->n_system = e->n_cpu_fds;
		g->system_fds = e->cpu_fds;
	}
	return true;
}

/* Assigns the events of a group their places in a snapshot, in the sums of an entry, and among a
 * thread's descriptors. */
static void number_group(struct layout *l, unsigned r, struct group *g)
{
	g->word = l->rounds[r].words;
	l->rounds[r].words += GROUP_VALUES + g->n;
	g->sums = l->sums;
	l->sums += (unsigned)(sizeof(struct group_sums) + g->n * sizeof(struct span)) /
	           (unsigned)sizeof(uint64_t);
	g->first_fd = l->n_fds;
	l->n_fds += g->n;
	for (unsigned k = 0; k < g->n; k++)
		if (!l->events[g->events[k]].soft)
			l->events[g->events[k]].round = r;
}

void pfmi_layout_assign_places(struct layout *l)
{
	l->words = l->sums = l->n_fds = 0;
	for (unsigned r = 0; r < l->n_rounds; r++) {
		l->rounds[r].words = 0;
		l->rounds[r].sums = l->sums;
		l->sums += sizeof(struct visit_sums) / sizeof(uint64_t);
		for (unsigned i = 0; i < l->rounds[r].n; i++)
			number_group(l, r, &l->rounds[r].groups[i]);
		if (l->words < l->rounds[r].words)
			l->words = l->rounds[r].words;
	}
}

static int make_groups(struct layout *l)
{
	bool is_added = true;

	for (unsigned i = 0; i < l->n_events; i++)
		if (l->events[i].countable && !l->events[i].soft && !l->events[i].system &&
		    !is_placed(l, i))
			place_session_group(l, i);
	if (!l->n_rounds)
		is_added = add_round(l) != NULL;
	for (unsigned i = 0; i < l->n_events && is_added; i++)
		if (l->events[i].countable && l->events[i].soft && !l->events[i].system)
			is_added = place_software_event(l, i);
	for (unsigned i = 0; i < l->n_events && is_added; i++)
		if (l->events[i].countable && l->events[i].system)
			is_added = place_system_event(l, i);
	if (is_added)
		pfmi_layout_assign_places(l);
	return is_added ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}

int pfmi_layout_plan(struct layout *l, const char *events, bool system, pfm_error_t *error)
{
	int rc;

	if (pfmi_region_is_simulated()) {
		rc = pfmi_layout_plan_simulated(l, events ? events : "", error);
		if (!rc)
			pfmi_layout_assign_places(l);
		return rc;
	}
	rc = pfmi_layout_open_events(l, events, system, error);
	for (unsigned i = 0; i < l->n_events && l->max_group_size; i++)
		l->events[i].soft = false;
	return rc ? rc : make_groups(l);
}

void pfmi_layout_free(struct layout *l)
{
	for (unsigned r = 0; r < l->n_rounds; r++) {
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			free(l->rounds[r].groups[g].events);
		free(l->rounds[r].groups);
	}
	free(l->rounds);
	pfmi_layout_close_events(l);
	*l = (struct layout){ 0 };
}
