/* SPDX-License-Identifier: MIT */
/* Plans of one PMU's events, as short texts. */
#ifndef PERFMON_TESTS_EVENT_PLANS_H
#define PERFMON_TESTS_EVENT_PLANS_H

#include "units.h"
#include "open_for.h"
#include "metric/plan.h"
#include "lookup/lookup.h"

/* A plan with @n events of the texts; they are of unit @unit, the last one that was looked up. */
static inline struct pfm_plan *plan_of(const pfm_ctx_t *ctx, const char *const *texts, unsigned n,
                                       unsigned *unit)
{
	struct pfm_plan *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	*unit = 0;
	plan->ctx = ctx;
	plan->is_optimal = true;
	for (unsigned i = 0; i < n; i++) {
		struct planned_event *e = pfmi_plan_add_event(plan);

		assert_non_null(e);
		*e = (struct planned_event){ .request_index = i, .counter = -1 };
		snprintf(e->text, sizeof(e->text), "%s", texts[i]);
		assert_int_equal(pfmi_lookup_event(ctx, texts[i], &e->pmu, &e->event, NULL),
		                 PFMLIB_SUCCESS);
		*unit = e->pmu;
	}
	return plan;
}

static inline void done(struct pfm_plan *plan)
{
	free(plan->events);
	free(plan->certificate);
	free(plan);
}

static inline int part(struct pfm_plan *plan, unsigned unit, bool several, pfm_error_t *why)
{
	struct pmu_info u = pfmi_context_get_pmu(plan->ctx, unit);

	return pfmi_plan_group_pmu_events(plan, &u, several, why);
}

/* Each event as "group:counter", where "-" means no counter and F a fixed one; "+" if it was
 * added, "!" if others follow it, "*" if the proof names it. */
static inline void write_plan(const struct pfm_plan *plan, char *buf, size_t len)
{
	size_t at = 0;

	for (unsigned i = 0; i < plan->n_events && at < len; i++) {
		const struct planned_event *e = &plan->events[i];
		char counter[8] = "-";

		if (e->counter >= 0)
			snprintf(counter, sizeof(counter), "%s%d", e->counter < 32 ? "" : "F",
			         e->counter % 32);
		at += (size_t)snprintf(buf + at, len - at, "%s%u:%s%s%s%s", i ? " " : "", e->group,
		                       counter, e->is_added ? "+" : "", e->is_leader ? "!" : "",
		                       e->is_in_proof ? "*" : "");
	}
}

enum { MOST = 6 };

struct wanted {
	const char *texts[MOST];
	uint64_t taken;
	unsigned groups;
	const char *plan, *proof;
};

static inline void plan_is(const struct wanted *w)
{
	pfm_ctx_t *ctx = open_for(NULL);
	struct pfm_plan *plan;
	unsigned n = 0, unit;
	char text[256];

	while (n < MOST && w->texts[n])
		n++;
	plan = plan_of(ctx, w->texts, n, &unit);
	plan->options.taken = w->taken;
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	write_plan(plan, text, sizeof(text));
	if (strcmp(text, w->plan) != 0 || strcmp(plan->certificate, w->proof) != 0 ||
	    plan->n_groups != w->groups || plan->bound != w->groups)
		fail_msg("%s: %s: %u, %s", w->texts[0], text, plan->n_groups, plan->certificate);
	done(plan);
	pfm_close_context(ctx);
}

#define ONE "one group holds every event"

#endif
