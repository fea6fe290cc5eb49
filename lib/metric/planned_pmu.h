/* SPDX-License-Identifier: MIT */
/* A PMU of a plan while its events are put into groups. */
#ifndef PERFMON_PLANNED_PMU_H
#define PERFMON_PLANNED_PMU_H

#include "metric/plan.h"

#define MAX_ALTERNATIVE_REGISTERS 4

/* The value that an event needs in an extra register, and the registers that can hold it. */
struct extra_register_use {
	uint64_t value;
	uint32_t msr[MAX_ALTERNATIVE_REGISTERS];
	unsigned n_msrs; /* 0: it needs none */
};

/* A PMU of a plan while its events are put into groups. */
struct planned_pmu {
	struct pfm_plan *plan;
	const struct table *table;
	pfmlib_regmask_t reserved_counters;
	struct encode_request request;
	unsigned n_items;
	uint64_t counter_mask[MAX_PLANNED_EVENTS];
	bool is_plain[MAX_PLANNED_EVENTS], is_exclusive[MAX_PLANNED_EVENTS];
	uint16_t affinity[MAX_PLANNED_EVENTS], group[MAX_PLANNED_EVENTS];
	unsigned first_event[MAX_PLANNED_EVENTS]; /* the first event of each item */
	bool has_followers[MAX_PLANNED_EVENTS];   /* other events are counted with the first one */
	unsigned leader_item; /* 1 + the item of the leader and the events that follow it */
	struct extra_register_use extra_register[MAX_PLANNED_EVENTS];
	uint16_t clashing_items[MAX_PLANNED_EVENTS]; /* items that need different values in one
	                                                extra register */
	unsigned n_clashing, n_clash_groups; /* n_clash_groups: the groups that these need */
	struct event trial_events[PLAN_MAX_EVENTS];
	unsigned trial_event_index[PLAN_MAX_EVENTS]; /* index of the planned event that each is a
	                                                copy of */
	struct plan encoder_plan;
};

/* ---- items (plan_items.c) -------------------------------------------------------------------- */

/* Makes items of all events of the PMU. An error names the event that no free counter can count. */
int pfmi_plan_make_items(struct planned_pmu *p, pfm_error_t *error);
/* Computes how many groups the items need whose values share an extra register: one for each value,
 * or half as many for a choice of two registers, and so on. The encoder confirms that more do not
 * fit. */
void pfmi_plan_compute_register_bound(struct planned_pmu *p);
/* Can a group hold these items? (callback of pfmi_plan_pack_groups()) */
bool pfmi_plan_can_share_group(void *arg, const uint16_t *items, unsigned n_items);
/* Makes the events of items the trial events and returns their number. Events with a leader follow
 * it directly, before all others. */
unsigned pfmi_plan_add_trial_items(struct planned_pmu *p, const uint16_t *items, unsigned n_items);
/* Can the @n trial events be counted together? The encoder decides. */
bool pfmi_plan_constrain_trial_events(struct planned_pmu *p, unsigned n);
bool pfmi_plan_is_on_planned_pmu(const struct planned_pmu *p, const struct planned_event *e);
/* Reports that no free counter can count the event. */
int pfmi_plan_refuse_event(const struct planned_event *e, pfm_error_t *error);

#endif
