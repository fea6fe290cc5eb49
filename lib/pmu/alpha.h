/* SPDX-License-Identifier: MIT */
/* Events of Alpha PMUs, and the results of their constraints. */
#ifndef PERFMON_PMU_ALPHA_H
#define PERFMON_PMU_ALPHA_H

#include <perfmon/alpha.h>
#include "pmu/pmu_internal.h"

/* Values of field "kind" in the EV67 table. */
enum alpha_event_kind {
	KIND_EVENT,
	KIND_AGGREGATE,
	KIND_PAIR,
	KIND_PROFILEME,
	KIND_RATIO,
	KIND_MODE
};
/* Value of field "pctr_mode" for statistics that every counting mode supports. */
enum { PM_MODE_ANY = 4 };

/* Data that pfmi_alpha_constrain_set() passes to encode_set(). */
struct alpha_plan_extra {
	pfmlib_alpha_input_param_t input; /* zeroed if the caller gave none */
	int has_mode_word;                /* a mode word is written to the chip */
	uint64_t mode_word;               /* the mode word in the device's form */
};
_Static_assert(sizeof(struct alpha_plan_extra) <= sizeof(((struct plan *)0)->encoder_data),
               "extra must match the plan");

static inline const struct alpha_plan_extra *alpha_get_plan_extra(const struct plan *plan)
{
	return (const struct alpha_plan_extra *)(const void *)plan->encoder_data;
}

static inline enum alpha_event_kind alpha_get_event_kind(const struct event *ev)
{
	return (enum alpha_event_kind)pfmi_pmu_get_key_value(ev, KEY_KIND, ANY_COUNTER);
}

/* Does the event use the whole PMU: both counters, or the profiled instruction? */
static inline bool alpha_is_exclusive_event(const struct event *ev)
{
	return ev->table->encoder == ENCODER_EV67 && alpha_get_event_kind(ev) >= KIND_PAIR;
}

static inline bool alpha_is_profileme_event(const struct event *ev)
{
	return ev->table->encoder == ENCODER_EV67 && alpha_get_event_kind(ev) >= KIND_PROFILEME;
}

#endif
