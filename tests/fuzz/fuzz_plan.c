/* SPDX-License-Identifier: MIT */
/* Sets of events that are planned: every group must be placed as the plan says. */
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>
#include "../support/dispatched_set.h"
#include "bytes.h"
#include "time_bound.h"

enum { MAX_EVENTS = 14 };

static pfm_ctx_t *context(void)
{
	static pfm_ctx_t *ctx;
	pfm_ctx_options_t o = PFM_INIT(o);

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (!ctx && pfm_open_context(&ctx, &o, NULL))
		abort();
	return ctx;
}

/* A processor with events, by number. */
static int take_pmu(struct bytes *b, perfmon_pmu_info_t *info)
{
	int n = pfm_count_pmus(context()), pmu = (int)(pair(b) % (unsigned)n);

	for (int i = 0; i < n; i++, pmu = (pmu + 1) % n)
		if (!pfm_describe_pmu(context(), pmu, info) && info->n_events)
			return pmu;
	abort();
}

static void check_group(const pfm_plan_t *plan, unsigned group, const pfm_plan_options_t *o)
{
	static struct dispatched_set set;
	pfmlib_regmask_t unavailable = { { o->taken } };
	pfm_dispatch_options_t options = PFM_INIT(options);
	pfm_planned_event_t e = PFM_INIT(e);
	const char *members[MAX_SET];
	int counters[MAX_SET];
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		if (e.group == group) {
			if (n == MAX_SET)
				abort();
			members[n] = e.text;
			counters[n++] = e.counter;
		}
	options.plm = o->plm;
	options.htoff = o->htoff;
	options.unavailable = o->taken ? &unavailable : NULL;
	if (n == 0 || dispatch_set(context(), members, n, &options, &set, NULL))
		abort();
	for (unsigned i = 0; i < n; i++)
		if (set.counter[i] != counters[i])
			abort();
}

int try_input(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	char texts[MAX_EVENTS][200];
	const char *pointers[MAX_EVENTS];
	perfmon_pmu_info_t p = PFM_INIT(p);
	perfmon_event_info_t e = PFM_INIT(e);
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_error_t why = PFM_INIT(why);
	pfm_plan_t *plan;
	unsigned n = 1 + byte(&b) % MAX_EVENTS, how = byte(&b);
	int pmu = take_pmu(&b, &p);

	for (unsigned i = 0; i < n; i++) {
		if (pfm_describe_event(context(), pmu, pair(&b) % p.n_events, &e))
			abort();
		snprintf(texts[i], sizeof(texts[i]), "%s::%s", p.name, e.name);
		pointers[i] = texts[i];
	}
	options.taken = how & 1 ? shifted(&b) : 0;
	options.htoff = how >> 1 & 1;
	options.effort = 1 + byte(&b);
	if (pfm_create_plan(&plan, context(), pointers, n, &options, &why)) {
		if (plan || why.code >= 0 || why.event >= (int)n)
			abort();
		return 0;
	}
	if (pfm_describe_plan(plan, &info) || info.bound > info.n_groups ||
	    (info.optimal && info.bound != info.n_groups) || !*info.certificate)
		abort();
	for (unsigned g = 0; g < info.n_groups; g++)
		check_group(plan, g, &options);
	pfm_close_plan(plan);
	return 0;
}
