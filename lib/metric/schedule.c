/* SPDX-License-Identifier: MIT */
/* Schedules: the groups of each PMU of a plan take turns over the slots of a cycle. */
#include <stdlib.h>
#include <string.h>
#include "base/sizes.h"
#include "metric/plan.h"
#include "metric/slot_packing.h"

enum { MAX_SLOTS = 10000, DEFAULT_EFFORT = 200000, MINUTE = 60 };

struct scheduled_group {
	unsigned pmu;    /* of the plan's context */
	unsigned turn;   /* 0: always counted; otherwise 1 + the number of its PMU among those whose
	                    groups take turns */
	unsigned number; /* index among the groups of its PMU */
	unsigned n_slots, distance;
	struct slot_demand demand;
	unsigned request; /* the text whose wish needs the most slots */
};

struct pfm_schedule {
	unsigned n_slots, shift, n_groups, n_requests, n_turns;
	double slot_seconds;
	unsigned *slots; /* n_turns cycles: the number of each slot's group */
	struct scheduled_group *groups;
	struct pfm_scheduled_request *requests;
};

/* ---- what each group needs ------------------------------------------------------------------- */

/* Rounds down to whole slots, at most @most. 0.3 seconds are 3 slots of 0.1, although doubles round
 * both. */
static unsigned count_whole_slots(double slots, unsigned most)
{
	return slots + 1e-6 < most ? (unsigned)(slots + 1e-6) : most;
}

static unsigned count_begun_slots(double slots, unsigned most)
{
	unsigned n = count_whole_slots(slots, most);

	return n < most && slots - n > 1e-6 ? n + 1 : n;
}

static void add_wish_to_demand(const struct pfm_schedule *s, struct scheduled_group *g,
                               unsigned request, const pfm_wish_t *wish)
{
	struct slot_demand *d = &g->demand;
	unsigned before = pfmi_plan_count_needed_slots(d, s->n_slots);
	unsigned n = count_begun_slots(
		wish->readings_per_minute * s->n_slots * s->slot_seconds / MINUTE, MAX_SLOTS + 1);
	unsigned distance = count_whole_slots(wish->longest_gap / s->slot_seconds, MAX_SLOTS) + 1;

	if (n > d->min_slots)
		d->min_slots = n;
	if (wish->longest_gap > 0 && distance < s->n_slots &&
	    (!d->max_distance || distance < d->max_distance))
		d->max_distance = distance;
	if (pfmi_plan_count_needed_slots(d, s->n_slots) > before)
		g->request = request;
}

/* The group of the event with number @serial. */
static unsigned find_group_of(const struct pfm_plan *plan, unsigned serial)
{
	for (unsigned i = 0; i < plan->n_events; i++)
		if (!plan->events[i].is_added && plan->events[i].serial == serial)
			return plan->events[i].group;
	return 0;
}

static void gather_demands(struct pfm_schedule *s, const struct pfm_plan *plan,
                           const pfm_wish_t *wishes, unsigned n_wishes)
{
	for (unsigned g = 0; g < s->n_groups; g++)
		s->groups[g].demand.min_slots = 1;
	for (unsigned i = 0; i < plan->n_uses; i++)
		if (plan->uses[i].request < n_wishes)
			add_wish_to_demand(s, &s->groups[find_group_of(plan, plan->uses[i].serial)],
			                   plan->uses[i].request, &wishes[plan->uses[i].request]);
}

/* Numbers the PMUs that have several groups. Returns the most groups that one PMU has. */
static unsigned number_turns(struct pfm_schedule *s, const struct pfm_plan *plan)
{
	unsigned most = 0;

	for (unsigned i = 0; i < plan->n_events; i++)
		s->groups[plan->events[i].group].pmu = plan->events[i].pmu;
	for (unsigned g = 0; g < s->n_groups; g++) {
		struct scheduled_group *group = &s->groups[g];
		unsigned n = 0;

		for (unsigned k = 0; k < s->n_groups; k++) {
			group->number += k < g && s->groups[k].pmu == group->pmu;
			n += s->groups[k].pmu == group->pmu;
			if (k < g && s->groups[k].pmu == group->pmu)
				group->turn = s->groups[k].turn;
		}
		if (n > 1 && !group->number)
			group->turn = ++s->n_turns;
		most = n > most ? n : most;
	}
	return most;
}

/* ---- the slots ------------------------------------------------------------------------------- */

/* Lists the groups of turn @turn. Returns their number. */
static unsigned list_turn_groups(const struct pfm_schedule *s, unsigned turn, unsigned *list)
{
	unsigned n = 0;

	for (unsigned g = 0; g < s->n_groups; g++)
		if (s->groups[g].turn == turn)
			list[n++] = g;
	return n;
}

static const char *describe_shortage(enum slot_result result)
{
	switch (result) {
	case SLOTS_IMPOSSIBLE:
		return "no order of the groups keeps all gaps (all were tried): allow longer "
		       "gaps, or make slots shorter";
	case SLOTS_NOT_FOUND:
		return "no order of the groups was found that keeps all gaps: allow longer gaps, "
		       "make slots shorter, or allow more effort";
	default:
		return "the wishes need more slots than a cycle has: ask for fewer readings or "
		       "longer gaps, or make slots shorter";
	}
}

/* Reports the text whose wish needs the most slots; error->number is the slots that all wishes
 * need. */
static int report_unmet_wishes(const struct pfm_schedule *s, enum slot_result result,
                               const unsigned *list, unsigned n, pfm_error_t *error)
{
	unsigned needed = 0, most = 0, request = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct scheduled_group *g = &s->groups[list[i]];
		unsigned here = pfmi_plan_count_needed_slots(&g->demand, s->n_slots);

		needed += here;
		if (here > most)
			request = g->request;
		if (here > most)
			most = here;
	}
	pfmi_base_set_plain_error(error,
	                          result == SLOTS_NOT_FOUND ? PFMLIB_ERR_FULL : PFMLIB_ERR_NOASSIGN,
	                          PFM_KIND_NONE, describe_shortage(result));
	error->event = (int)request;
	error->number = needed;
	return error->code;
}

static int arrange_turn(struct pfm_schedule *s, unsigned turn, unsigned long effort,
                        pfm_error_t *error)
{
	unsigned *list = calloc(s->n_groups, sizeof(*list)),
		 *slots = s->slots + (size_t)(turn - 1) * s->n_slots;
	struct slot_demand *demands = calloc(s->n_groups, sizeof(*demands));
	enum slot_result result = SLOTS_NO_MEMORY;
	int rc = PFMLIB_SUCCESS;

	if (list && demands) {
		unsigned n = list_turn_groups(s, turn, list);

		for (unsigned i = 0; i < n; i++)
			demands[i] = s->groups[list[i]].demand;
		result = pfmi_plan_arrange_slots(demands, n, s->n_slots, effort, slots);
		for (unsigned t = 0; result == SLOTS_ARRANGED && t < s->n_slots; t++)
			s->groups[list[slots[t]]].n_slots++;
		for (unsigned i = 0; result == SLOTS_ARRANGED && i < n; i++)
			s->groups[list[i]].distance =
				pfmi_plan_compute_slot_distance(slots, s->n_slots, i);
		if (result != SLOTS_ARRANGED && result != SLOTS_NO_MEMORY)
			rc = report_unmet_wishes(s, result, list, n, error);
	}
	if (result == SLOTS_NO_MEMORY)
		rc = pfmi_base_set_no_memory_error(error);
	free(list);
	free(demands);
	return rc;
}

/* ---- what each text gets --------------------------------------------------------------------- */

static void describe_request_group(const struct pfm_schedule *s, const struct scheduled_group *g,
                                   struct pfm_scheduled_request *out)
{
	unsigned n = g->turn ? g->n_slots : s->n_slots;
	double share = (double)n / s->n_slots, error = pfmi_metric_compute_sqrt((1 - share) / n),
	       gap = g->turn ? (g->distance - 1) * s->slot_seconds : 0;

	if (n < out->n_readings)
		out->n_readings = n;
	if (gap > out->longest_gap)
		out->longest_gap = gap;
	if (error > out->standard_error)
		out->standard_error = error;
}

static void set_request_readings(struct pfm_schedule *s, const struct pfm_plan *plan)
{
	for (unsigned i = 0; i < s->n_requests; i++)
		s->requests[i].n_readings = s->n_slots;
	for (unsigned i = 0; i < plan->n_uses; i++)
		describe_request_group(s, &s->groups[find_group_of(plan, plan->uses[i].serial)],
		                       &s->requests[plan->uses[i].request]);
}

/* ---- the interface --------------------------------------------------------------------------- */

/* FNV-1a with a final mix: equal on every machine. */
static unsigned hash_host(const char *name)
{
	uint32_t hash = 0x811c9dc5;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x01000193;
	/* Without it, names that differ in the last character would have neighbouring slots. */
	hash = (hash ^ hash >> 16) * 0x45d9f3b;
	return hash ^ hash >> 16;
}

static const char *check_schedule_options(const pfm_schedule_options_t *o, const pfm_wish_t *wishes,
                                          unsigned n)
{
	if (!(o->slot_seconds >= 0) || o->slot_seconds > 86400)
		return "expected slots of at most a day";
	if (o->n_slots > MAX_SLOTS)
		return "expected at most 10000 slots in a cycle";
	for (unsigned i = 0; i < n; i++)
		if (!(wishes[i].readings_per_minute >= 0) || !(wishes[i].longest_gap >= 0))
			return "expected wishes of at least 0";
	return NULL;
}

static bool has_wishes(const pfm_wish_t *wishes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (wishes[i].readings_per_minute > 0 || wishes[i].longest_gap > 0)
			return true;
	return false;
}

static unsigned choose_cycle_slots(const struct pfm_schedule *s, unsigned rounds, bool has_wish)
{
	unsigned minute = count_begun_slots(MINUTE / s->slot_seconds, MAX_SLOTS);

	if (!has_wish || minute < rounds)
		return rounds ? rounds : 1;
	return minute;
}

static int fill_schedule(struct pfm_schedule *s, const struct pfm_plan *plan,
                         const pfm_wish_t *wishes, unsigned n_wishes,
                         const pfm_schedule_options_t *o, pfm_error_t *error)
{
	unsigned rounds;
	int rc = PFMLIB_SUCCESS;

	s->n_groups = plan->n_groups;
	s->n_requests = plan->n_requests;
	s->slot_seconds = o->slot_seconds > 0 ? o->slot_seconds : 1;
	s->groups = calloc(s->n_groups + 1, sizeof(*s->groups));
	s->requests = calloc(s->n_requests + 1, sizeof(*s->requests));
	rounds = s->groups ? number_turns(s, plan) : 0;
	s->n_slots = o->n_slots ? o->n_slots
	                        : choose_cycle_slots(s, rounds, has_wishes(wishes, n_wishes));
	s->slots = calloc((size_t)s->n_turns * s->n_slots + 1, sizeof(*s->slots));
	if (!s->groups || !s->requests || !s->slots)
		return pfmi_base_set_no_memory_error(error);
	gather_demands(s, plan, wishes, n_wishes);
	for (unsigned turn = 1; turn <= s->n_turns && !rc; turn++)
		rc = arrange_turn(s, turn, o->effort ? o->effort : DEFAULT_EFFORT, error);
	s->shift = o->host ? hash_host(o->host) % s->n_slots : 0;
	if (!rc)
		set_request_readings(s, plan);
	return rc;
}

static int make_schedule(pfm_schedule_t **out, const struct pfm_plan *plan,
                         const pfm_wish_t *wishes, unsigned n_wishes,
                         const pfm_schedule_options_t *o, pfm_error_t *why)
{
	struct pfm_schedule *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return pfmi_base_set_no_memory_error(why);
	rc = fill_schedule(s, plan, wishes, n_wishes, o, why);
	if (rc)
		pfm_close_schedule(s);
	else
		*out = s;
	return rc;
}

int pfm_create_schedule(pfm_schedule_t **out, const pfm_plan_t *plan, const pfm_wish_t *wishes,
                        unsigned n_wishes, const pfm_schedule_options_t *options,
                        pfm_error_t *error)
{
	pfm_error_t mine = PFM_INIT(mine),
		    *why = error ? base_choose_error_struct(error, &mine) : &mine;
	pfm_schedule_options_t o = { .size = sizeof(o) };
	const char *bad = NULL;
	int rc;

	if (out)
		*out = NULL;
	if (!out || !plan || (n_wishes && !wishes))
		bad = "out, plan or wishes is NULL";
	else
		bad = base_copy_options_in(&o, sizeof(o), options);
	if (!bad)
		bad = check_schedule_options(&o, wishes, n_wishes);
	rc = bad ? pfmi_base_refuse_argument(why, bad)
	         : make_schedule(out, plan, wishes, n_wishes, &o, why);
	return base_return_error(error, why, rc);
}

int pfm_describe_schedule(const pfm_schedule_t *s, pfm_schedule_info_t *info)
{
	pfm_schedule_info_t full;

	if (!s || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	full = (pfm_schedule_info_t){ .n_slots = s->n_slots,
		                      .slot_seconds = s->slot_seconds,
		                      .n_requests = s->n_requests,
		                      .n_groups = s->n_groups,
		                      .shift = s->shift };
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_describe_scheduled_request(const pfm_schedule_t *s, unsigned i,
                                   pfm_scheduled_request_t *request)
{
	if (!s || !base_has_struct_size(request))
		return PFMLIB_ERR_INVAL;
	if (i >= s->n_requests)
		return PFMLIB_ERR_NOTFOUND;
	base_copy_struct_out(request, &s->requests[i], sizeof(s->requests[i]));
	return PFMLIB_SUCCESS;
}

unsigned pfm_find_slot(const pfm_schedule_t *s, double time)
{
	const double most = 9e15; /* doubles hold whole numbers below this exactly */
	double slots = s ? time / s->slot_seconds + 1e-6 : 0;
	int64_t whole;

	if (!s || !(slots > -most && slots < most))
		return 0;
	whole = (int64_t)slots - (slots < 0);
	whole = (whole % s->n_slots + s->n_slots + s->shift) % s->n_slots;
	return (unsigned)whole;
}

int pfm_is_group_in_slot(const pfm_schedule_t *s, unsigned slot, unsigned group)
{
	const struct scheduled_group *g;

	if (!s || slot >= s->n_slots || group >= s->n_groups)
		return -1;
	g = &s->groups[group];
	return !g->turn || s->slots[(size_t)(g->turn - 1) * s->n_slots + slot] == g->number;
}

unsigned pfm_get_group_turn(const pfm_schedule_t *s, unsigned group)
{
	return s && group < s->n_groups ? s->groups[group].turn : 0;
}

void pfm_close_schedule(pfm_schedule_t *s)
{
	if (!s)
		return;
	free(s->slots);
	free(s->groups);
	free(s->requests);
	free(s);
}
