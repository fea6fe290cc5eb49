/* SPDX-License-Identifier: MIT */
/* Events that the kernel refused to sample: opening again with less, and the cause. */
#include <errno.h>
#include "sampling/sampling_internal.h"

int pfmi_sampling_retry_open(struct pfm_session *s, struct session_count *c, struct perf_attr *a,
                             int pid, int cpu, int group, int err)
{
	if (err == -EINVAL && a->read_format & PERF_FORMAT_LOST) {
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		s->sampling->lacks_lost_counts |= err >= 0;
	}
	while (err < 0 && (err == -EOPNOTSUPP || err == -EINVAL) && a->precise_ip &&
	       s->sampling->config.flags & PFM_SAMPLING_LESS_PRECISE) {
		a->precise_ip--;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		if (err >= 0)
			c->config.attr.precise = a->precise_ip;
	}
	return err;
}

/* Returns true if kernel event @k of count @i can be opened after @change. */
static bool can_open_with_change(struct pfm_session *s, unsigned i, unsigned k,
                                 void (*change)(struct perf_attr *a))
{
	const struct perf_state *st = s->live.backend_state;
	const struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];
	struct perf_attr a;
	int fd;

	pfmi_perf_build_attr(s, i, k, true, &a);
	change(&a);
	fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd >= 0;
}

static void strip_precision(struct perf_attr *a)
{
	a->precise_ip = 0;
}

static void strip_branches(struct perf_attr *a)
{
	a->sample_type &= ~(uint64_t)PFM_SAMPLE_BRANCH;
	a->branch_sample_type = 0;
}

static void strip_inheritance(struct perf_attr *a)
{
	a->inherit = 0;
}

static void strip_payload(struct perf_attr *a)
{
	a->sample_type &= DEFAULT_FIELDS | PFM_SAMPLE_IDENTIFIER;
	a->branch_sample_type = a->sample_regs_user = a->sample_regs_intr = 0;
	a->sample_stack_user = 0;
	a->sample_max_stack = 0;
	a->precise_ip = 0;
}

static void strip_sampling(struct perf_attr *a)
{
	strip_payload(a);
	a->freq = 0;
	a->sample_period = 0;
}

void pfmi_sampling_diagnose_count(struct pfm_session *s, unsigned i, unsigned k, int err)
{
	struct session_count *c = &s->counts[i];

	if (c->config.attr.precise && can_open_with_change(s, i, k, strip_precision))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err,
		                        "lower the precision, or set PFM_SAMPLING_LESS_PRECISE",
		                        "the PMU cannot sample this event with precision %u",
		                        c->config.attr.precise);
	else if (s->sampling->config.fields & PFM_SAMPLE_BRANCH &&
	         can_open_with_change(s, i, k, strip_branches))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err,
		                        "sample without branches (PFM_SAMPLE_BRANCH)",
		                        "the PMU of this event records no branches");
	else if (pfmi_sampling_has_group_samples(s, c) && s->options.flags & PFM_SESSION_INHERIT &&
	         can_open_with_change(s, i, k, strip_inheritance))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err,
		                        "sample without child processes (pfm record -i), or use "
		                        "Linux 6.12 or later",
		                        "this kernel cannot sample a group of inherited events");
	else if (can_open_with_change(s, i, k, strip_payload))
		pfmi_session_fail_count(c,
		                        c->status.cause == PFM_CAUSE_PERMISSION
		                                ? PFM_CAUSE_PERMISSION
		                                : PFM_CAUSE_ATTRIBUTE,
		                        err, "request fewer fields of PFM_SAMPLE_*",
		                        "the kernel cannot record all requested sample fields");
	else if (can_open_with_change(s, i, k, strip_sampling))
		pfmi_session_fail_count(
			c, PFM_CAUSE_ATTRIBUTE, err,
			"sample a clock (task-clock, cpu-clock) and count this event beside it",
			"its PMU has no overflow interrupt: the event can be counted, not sampled");
}
