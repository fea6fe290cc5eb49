/* SPDX-License-Identifier: MIT */
/* Events that must be counted alone on their PMU, and the counts that they exclude. */
#include <string.h>
#include "session/session_internal.h"
#include "context/context.h"

/* True if the kernel counts the event on a general counter: all generic events but cycles,
 * instructions, reference cycles, and codes that the kernel invents. */
static bool is_general_counter_event(const struct event *ev)
{
	uint64_t config[N_CONFIG_WORDS];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	if (ev->table->encoder == ENCODER_PERF)
		return ev->table->perf_type == 3 ||
		       (ev->table->perf_type == 0 && config[0] > 1 && config[0] != 9);
	return (config[0] & 0xff) != 0 && (config[0] & 0xffff) != 0x3c &&
	       (config[0] & 0xffff) != 0xc0;
}

/* True if the solver refuses @alone and @other, of one table, as PFM_KIND_ALONE. */
static bool has_solver_conflict(const struct event *alone, const struct event *other)
{
	const struct event both[2] = { *alone, *other };
	struct encode_request req = { .table = alone->table,
		                      .events = both,
		                      .n_events = 2,
		                      .plm = PFM_PLM0 | PFM_PLM3,
		                      .is_counted = true };
	pfm_error_t why = { .size = sizeof(why) };
	struct plan plan;

	return pfmi_pmu_plan_set(&req, &plan, &why) && why.kind == PFM_KIND_ALONE;
}

bool pfmi_session_has_exclusive_conflict(const struct event *alone, const struct event *other)
{
	if (!event_has_flag(alone, ROW_EXCLUSIVE))
		return false;
	return other->table == alone->table ? has_solver_conflict(alone, other)
	                                    : is_general_counter_event(other);
}

/* Events of the kernel itself are counted on the same core PMU as the other events. */
static bool is_on_same_pmu(const struct session_count *c, const struct session_count *other)
{
	return other->config.kernel_pmu ? other->config.kernel_pmu == c->config.kernel_pmu
	                                : other->config.event.table->encoder == ENCODER_PERF;
}

/* True if a count of another group conflicts with @c, which needs its PMU for itself. */
static bool has_conflicting_count(const struct pfm_session *s, const struct session_count *c)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		const struct session_count *other = &s->counts[i];

		if (other->config.group != c->config.group && is_on_same_pmu(c, other) &&
		    pfmi_session_has_exclusive_conflict(&c->config.event, &other->config.event))
			return true;
	}
	return false;
}

void pfmi_session_mark_exclusive_groups(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		if (!event_has_flag(&s->counts[i].config.event, ROW_EXCLUSIVE) ||
		    !has_conflicting_count(s, &s->counts[i]))
			continue;
		for (unsigned k = 0; k < s->n_counts; k++)
			s->counts[k].config.exclusive |=
				s->counts[k].config.group == s->counts[i].config.group;
	}
}
