/* SPDX-License-Identifier: MIT */
/* Shared by the files of rules: rules.c, tests and single events; rule_sets.c, sets; rule_moves.c,
 * events that move to another part of a register. */
#ifndef PERFMON_RULES_H
#define PERFMON_RULES_H

#include "pmu/pmu_internal.h"

struct rule_state {
	uint64_t words[N_RULE_WORDS];
};

/* The rules of a set that is planned. */
struct rule_use {
	const struct encode_request *request;
	struct plan *plan;
	pfm_error_t *why;
	uint64_t events[TABLE_MAX_RULES]; /* of each rule: the events for which it holds */
	/* Of each rule with an alternative: the events that use its part, and its value. */
	struct part_use {
		uint64_t events, value;
	} parts[TABLE_MAX_RULES];
};

/* ---- rule_sets.c ----------------------------------------------------------------------------- */

/* Reads the words of @ev that rules test. */
void pfmi_rules_read_state(const struct encode_request *req, const struct event *ev,
                           struct rule_state *s);
/* Reports that rule @r refuses @events. Returns @code. */
int pfmi_rules_refuse_events(struct rule_use *u, const struct rule *r, uint64_t events, int code,
                             pfm_error_kind_t kind);

/* Applies rule @r, which holds for @events, to their set. */
int pfmi_rules_limit_set(struct rule_use *u, const struct rule *r, uint64_t events);

/* ---- rule_moves.c ---------------------------------------------------------------------------- */

/* Gives each event whose rule has an alternative a part of a register: one that has its value, else
 * a free one. */
int pfmi_rules_move_events(struct rule_use *u);

#endif
