/* SPDX-License-Identifier: MIT */
/* What the files of a plan share: plan.c turns texts into events and answers for the result, part.c plans the events of one PMU. */
#ifndef PERFMON_PLAN_H
#define PERFMON_PLAN_H

#include "metric/metric.h"
#include "metric/group_packing.h"

#define MAX_EVENTS PACK_MAX_ITEMS
#define TEXT_ROOM  352

/* An event of a plan. */
struct planned {
	struct event event;
	char text[TEXT_ROOM];
	unsigned request, unit;
	uint16_t family; /* 1 + the metric it came with first, 0 for none */
	uint16_t item;   /* among those of its PMU */
	unsigned group;
	int counter;
	bool added, leads, in_proof;
};

struct pfm_plan_result {
	const struct pfm_ctx *ctx;
	pfm_plan_options_t options;
	unsigned n, room, families;
	struct planned *events;
	unsigned n_groups, n_rounds, bound;
	bool optimal;
	char *certificate;
};

/* Room for one more event; NULL without memory. */
struct planned *pfmi_plan_event(struct pfm_plan_result *plan);
/* Plans the events of unit @u: their groups come behind those that are there. @several: the certificate says whose they are.
 * (lib/metric/pmu_plan.c) */
int pfmi_plan_part(struct pfm_plan_result *plan, const struct pmu_info *u, bool several, pfm_error_t *error);

#endif
