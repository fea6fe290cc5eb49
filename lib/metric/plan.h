/* SPDX-License-Identifier: MIT */
/* Shared by the files of plans: plan.c turns texts into events and describes the result, pmu_plan.c
 * puts the events of one PMU into groups. */
#ifndef PERFMON_PLAN_H
#define PERFMON_PLAN_H

#include "metric/metric.h"
#include "metric/group_packing.h"

#define MAX_PLANNED_EVENTS PACK_MAX_ITEMS
#define PLANNED_TEXT_SIZE  352

/* An event of a plan. */
struct planned_event {
	struct event event;
	char text[PLANNED_TEXT_SIZE];
	unsigned request_index, pmu;
	unsigned serial;        /* number in the order in which events were added */
	unsigned brace_number;  /* 1 + the request with its group in braces, 0 for none */
	uint16_t metric_number; /* 1 + the metric it came with first, 0 for none */
	uint16_t item_index;    /* the event's item among those of its PMU */
	unsigned group;
	int counter;
	bool is_added, is_leader, is_in_proof;
	bool is_follower;                 /* counted right after the other event of its item */
	char replaced[PLANNED_TEXT_SIZE]; /* the event that this one replaces, "" for none */
	const char *errata;               /* why */
};

/* A text and an event that it needs; several texts can need one event. */
struct event_use {
	unsigned request, serial;
};

struct pfm_plan {
	const struct pfm_ctx *ctx;
	pfm_plan_options_t options;
	unsigned n_events, n_metrics;
	size_t events_capacity;
	struct planned_event *events;
	unsigned n_uses, n_requests;
	size_t uses_capacity;
	struct event_use *uses;
	unsigned n_groups, n_rounds, bound;
	bool is_optimal;
	char *certificate;
};

/* Room for one more event; NULL without memory. */
struct planned_event *pfmi_plan_add_event(struct pfm_plan *plan);
/* Adds event @text of text @request; @family: the metric that needs it, 0 for none. */
int pfmi_plan_add_event_text(struct pfm_plan *p, const char *text, unsigned request,
                             unsigned family, pfm_error_t *error);
/* Adds the events of a group in braces. (plan_braces.c) */
int pfmi_plan_add_braced_group(struct pfm_plan *p, const char *text, unsigned request,
                               pfm_error_t *error);
/* Puts the events of PMU @u into groups, which are numbered after those of other PMUs. @several:
 * the certificate names the PMU. (lib/metric/pmu_plan.c) */
int pfmi_plan_group_pmu_events(struct pfm_plan *plan, const struct pmu_info *u, bool several,
                               pfm_error_t *error);

#endif
