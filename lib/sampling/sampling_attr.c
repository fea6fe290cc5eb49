/* SPDX-License-Identifier: MIT */
/* Requested samples: the options of a session, and the rate and attributes of each event. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "sampling/sampling_internal.h"
#include "base/sizes.h"

#define DEFAULT_BUFFER_PAGES    128u
#define DEFAULT_CLOCK_PERIOD_NS 1000000u /* nanoseconds */
#define DEFAULT_FREQUENCY       1000u

static const char *check_options(const pfm_sampling_t *q)
{
	if (q->period && q->freq)
		return "sampling.period and sampling.freq are both set";
	if (q->period >> 63 || q->freq >> 63)
		return "sampling.period or sampling.freq is negative";
	if (q->fields >> 25)
		return "expected PFM_SAMPLE_* in sampling.fields, got other bits";
	if (q->fields & PFM_SAMPLE_WEIGHT && q->fields & PFM_SAMPLE_WEIGHTS)
		return "expected WEIGHT or WEIGHTS in sampling.fields, got both";
	if (q->records >> 11)
		return "expected PFM_SIDEBAND_* in sampling.records, got other bits";
	if (q->pages & (q->pages - 1) || q->pages > 1u << 20)
		return "expected a power of two up to 1048576 in sampling.pages";
	if (q->precise > 3)
		return "sampling.precise is above 3";
	if (q->user_stack % 8 || q->user_stack > 65528)
		return "expected a multiple of 8 up to 65528 in sampling.user_stack";
	if (q->fields & PFM_SAMPLE_STACK && !q->user_stack)
		return "sampling.user_stack is 0";
	if ((q->fields & PFM_SAMPLE_REGS && !q->user_regs) ||
	    (q->fields & PFM_SAMPLE_INTR_REGS && !q->intr_regs))
		return "expected registers in sampling.user_regs or sampling.intr_regs";
	return NULL;
}

/* The counter device supplies addresses, and processors if they are opened separately; it writes no
 * other records. */
static const char *check_device_options(const pfm_sampling_t *q)
{
	if (q->fields & ~(uint64_t)(PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD | PFM_SAMPLE_CPU))
		return "samples of this device have IP, PERIOD and CPU; expected no others in "
		       "sampling.fields";
	if (q->records)
		return "this device writes no records beside samples: sampling.records must be 0";
	return NULL;
}

int pfmi_sampling_read_options(struct session_builder *o)
{
	const pfm_sampling_t *given = pfmi_session_get_built(o)->options.sampling;
	struct sampling_state *sm;
	const char *what;

	sm = pfmi_session_get_built(o)->sampling = calloc(1, sizeof(*sm));
	if (!sm)
		return pfmi_session_report_no_memory(o);
	if (base_copy_options_in(&sm->config, sizeof(sm->config), given))
		what = base_has_struct_size(given)
		               ? "sampling.size: a member that only a later version has is set"
		               : "sampling.size is invalid";
	else if (base_find_unknown_flag(sm->config.flags, PFM_SAMPLING_KERNEL_CHAIN))
		what = "sampling.flags has unknown flags";
	else
		what = check_options(&sm->config);
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, what);
	what = pfmi_session_get_built(o)->live.policy_backend == &pfmi_device_backend
	               ? check_device_options(&sm->config)
	               : NULL;
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE, NULL, 0,
		                                 what);
	if (pfmi_session_get_built(o)->live.policy_backend == &pfmi_device_backend)
		return PFMLIB_SUCCESS;
	if (!sm->config.fields)
		sm->config.fields = DEFAULT_FIELDS;
	sm->config.fields |= PFM_SAMPLE_TIME | PFM_SAMPLE_IDENTIFIER;
	if (!(sm->config.flags & PFM_SAMPLING_CLOCK))
		sm->config.clock = CLOCK_MONOTONIC;
	if (!sm->config.pages)
		sm->config.pages = DEFAULT_BUFFER_PAGES;
	if (!sm->config.branch_filter)
		sm->config.branch_filter = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	sm->last_buffer = -1;
	return PFMLIB_SUCCESS;
}

/* True if count @c is in a group in which another member samples. */
static bool is_sampled_by_leader(const struct pfm_session *s, const struct session_count *c)
{
	return c->config.is_leader_sampled && c > s->counts &&
	       c[-1].config.group == c->config.group;
}

bool pfmi_sampling_has_group_samples(const struct pfm_session *s, const struct session_count *c)
{
	return c->config.is_leader_sampled && !is_sampled_by_leader(s, c) &&
	       c + 1 < s->counts + s->n_counts && c[1].config.group == c->config.group;
}

/* Chooses the default rate: every event of kinds that are rare, clocks each millisecond, others a
 * thousand times a second. */
static void choose_rate(const struct sampling_state *sm, struct session_count *c)
{
	uint32_t type = c->config.attr.type;
	uint64_t config = c->config.attr.config;

	if (c->config.period || c->config.freq)
		return;
	c->config.period = sm->config.period;
	c->config.freq = sm->config.freq;
	if (c->config.period || c->config.freq)
		return;
	if (type == PERF_TYPE_SOFTWARE && config <= PERF_COUNT_SW_TASK_CLOCK)
		c->config.period = DEFAULT_CLOCK_PERIOD_NS;
	else if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
	         type == PERF_TYPE_BREAKPOINT)
		c->config.period = 1;
	else
		c->config.freq = DEFAULT_FREQUENCY;
}

void pfmi_sampling_choose_rates(struct pfm_session *s)
{
	uint64_t max = 0;

	if (pfmi_machine_read_number(&s->sys, "/proc/sys/kernel/perf_event_max_sample_rate", &max))
		max = 0;
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		if (is_sampled_by_leader(s, c))
			c->config.period = c->config.freq = 0;
		else
			choose_rate(s->sampling, c);
		if (!c->config.attr.precise)
			c->config.attr.precise = (uint8_t)s->sampling->config.precise;
		if (!c->config.attr.precise &&
		    event_get_precision(&c->config.event) == PRECISE_REQUIRED)
			c->config.attr.precise = 1;
		if (max && c->config.freq > max && !c->status.cause)
			pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
			                        "request a lower frequency, or raise "
			                        "kernel.perf_event_max_sample_rate",
			                        "the kernel takes at most %llu samples a second",
			                        (unsigned long long)max);
	}
}

uint64_t pfmi_sampling_get_sample_fields(const struct pfm_session *s, const struct session_count *c)
{
	uint64_t fields = s->sampling->config.fields;

	if (pfmi_sampling_has_group_samples(s, c))
		return fields | PFM_SAMPLE_READ | PFM_SAMPLE_TID;
	return c->config.freq ? fields : fields & ~(uint64_t)PFM_SAMPLE_PERIOD;
}

uint64_t pfmi_sampling_get_read_format(const struct pfm_session *s, const struct session_count *c)
{
	uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	if (!s->sampling->lacks_lost_counts)
		format |= PERF_FORMAT_LOST;
	return pfmi_sampling_has_group_samples(s, c) ? format | PERF_FORMAT_GROUP | PERF_FORMAT_ID
	                                             : format;
}

static void set_payload_attr(const pfm_sampling_t *q, struct perf_attr *a)
{
	if (q->fields & PFM_SAMPLE_CHAIN) {
		a->sample_max_stack = (uint16_t)q->max_stack;
		a->exclude_callchain_kernel =
			(q->flags & PFM_SAMPLING_USER_CHAIN) || a->exclude_kernel;
		a->exclude_callchain_user = (q->flags & PFM_SAMPLING_KERNEL_CHAIN) != 0;
	}
	if (q->fields & PFM_SAMPLE_BRANCH)
		a->branch_sample_type = q->branch_filter;
	if (q->fields & PFM_SAMPLE_REGS)
		a->sample_regs_user = q->user_regs;
	if (q->fields & PFM_SAMPLE_INTR_REGS)
		a->sample_regs_intr = q->intr_regs;
	if (q->fields & PFM_SAMPLE_STACK)
		a->sample_stack_user = q->user_stack;
}

/* A buffer that is full before it reaches the watermark wakes no reader, so the watermark is at
 * most half the size of the buffer, which may be smaller than requested. */
uint32_t pfmi_sampling_get_watermark(const struct sampling_state *sm, uint64_t size)
{
	uint64_t mark = sm->config.watermark ? sm->config.watermark : size / 4;

	return (uint32_t)(mark < size / 2 ? mark : size / 2);
}

void pfmi_sampling_set_common_attr(const pfm_sampling_t *q, struct perf_attr *a)
{
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = q->clock;
	a->watermark = !q->wakeup_events;
	if (a->watermark)
		a->wakeup_watermark = 1; /* the owner of the buffer sets it */
	else
		a->wakeup_events = q->wakeup_events;
}

void pfmi_sampling_fill_event_attr(const struct pfm_session *s, const struct session_count *c,
                                   struct perf_attr *a)
{
	const struct sampling_state *sm = s->sampling;

	a->sample_type = pfmi_sampling_get_sample_fields(s, c);
	a->freq = c->config.freq != 0;
	if (a->freq)
		a->sample_freq = c->config.freq;
	else
		a->sample_period = c->config.period;
	a->precise_ip = c->config.attr.precise & 3u;
	a->read_format = pfmi_sampling_get_read_format(s, c);
	set_payload_attr(&sm->config, a);
	pfmi_sampling_set_common_attr(&sm->config, a);
}
