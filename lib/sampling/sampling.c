/* SPDX-License-Identifier: MIT */
/* Sampling with perf_event_open(2): attributes, buffers, and the buffer of each event. All events
 * of a CPU share one buffer; so do all events of a task that is sampled on any CPU. The buffer
 * belongs to an event that counts nothing and brings the records beside samples, so that lost
 * samples are counted separately. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include "session/perf_event.h"
#include "sampling/sampling.h"
#include "base/sizes.h"

#define DEFAULT_FIELDS                                                                             \
	(PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD)
#define DEFAULT_BUFFER_PAGES    128u
#define DEFAULT_CLOCK_PERIOD_NS 1000000u /* nanoseconds */
#define DEFAULT_FREQUENCY       1000u

/* ---- what is asked ------------------------------------------------------------------------- */

static const char *find_option_error(const pfm_sampling_t *q)
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
static const char *find_option_without_device(const pfm_sampling_t *q)
{
	if (q->fields & ~(uint64_t)(PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD | PFM_SAMPLE_CPU))
		return "samples of this device have IP, PERIOD and CPU; expected no others in "
		       "sampling.fields";
	if (q->records)
		return "this device writes no records beside samples: sampling.records must be 0";
	return NULL;
}

static int read_options(struct session_builder *o)
{
	const pfm_sampling_t *given = pfmi_session_get_built(o)->options.sampling;
	struct sampling_state *sm;
	const char *what;

	sm = pfmi_session_get_built(o)->sampling = calloc(1, sizeof(*sm));
	if (!sm)
		return pfmi_session_report_no_memory(o);
	if (!base_copy_struct_in(&sm->config, sizeof(sm->config), given))
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0,
		                                 "sampling.size is not set");
	what = find_option_error(&sm->config);
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, what);
	what = pfmi_session_get_built(o)->policy_backend == &pfmi_device_backend
	               ? find_option_without_device(&sm->config)
	               : NULL;
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE, NULL, 0,
		                                 what);
	if (pfmi_session_get_built(o)->policy_backend == &pfmi_device_backend)
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

static void free_state(struct pfm_session *s)
{
	if (s->sampling && s->sampling->free_trace_formats)
		s->sampling->free_trace_formats(s->sampling);
	free(s->sampling);
	s->sampling = NULL;
}

/* True if count @c is in a group in which another member samples. */
static bool is_sampled_by_leader(const struct pfm_session *s, const struct session_count *c)
{
	return c->config.is_leader_sampled && c > s->counts &&
	       c[-1].config.group == c->config.group;
}

/* True if the samples of count @c hold the values of all members of its group. */
static bool has_group_samples(const struct pfm_session *s, const struct session_count *c)
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

static void choose_rates(struct pfm_session *s)
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
		if (!c->config.attr.precise && pfmi_pmu_requires_precision(&c->config.event))
			c->config.attr.precise = 1;
		if (max && c->config.freq > max && !c->status.cause)
			pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
			                        "request a lower frequency, or raise "
			                        "kernel.perf_event_max_sample_rate",
			                        "the kernel takes at most %llu samples a second",
			                        (unsigned long long)max);
	}
}

/* If every sample is to have its period, the kernel ignores the period of its own events. So a
 * fixed period is not requested. */
static uint64_t get_sample_fields(const struct pfm_session *s, const struct session_count *c)
{
	uint64_t fields = s->sampling->config.fields;

	if (has_group_samples(s, c))
		return fields | PFM_SAMPLE_READ | PFM_SAMPLE_TID;
	return c->config.freq ? fields : fields & ~(uint64_t)PFM_SAMPLE_PERIOD;
}

static uint64_t get_read_format(const struct pfm_session *s, const struct session_count *c)
{
	uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	if (!s->sampling->lacks_lost_counts)
		format |= PERF_FORMAT_LOST;
	return has_group_samples(s, c) ? format | PERF_FORMAT_GROUP | PERF_FORMAT_ID : format;
}

static void set_payload_attr(const pfm_sampling_t *q, struct perf_event_attr *a)
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

static void set_common_attr(const pfm_sampling_t *q, struct perf_event_attr *a)
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

static void fill_attr(const struct pfm_session *s, const struct session_count *c,
                      struct perf_event_attr *a)
{
	const struct sampling_state *sm = s->sampling;

	a->sample_type = get_sample_fields(s, c);
	a->freq = c->config.freq != 0;
	if (a->freq)
		a->sample_freq = c->config.freq;
	else
		a->sample_period = c->config.period;
	a->precise_ip = c->config.attr.precise & 3u;
	a->read_format = get_read_format(s, c);
	set_payload_attr(&sm->config, a);
	set_common_attr(&sm->config, a);
}

static int retry_open(struct pfm_session *s, struct session_count *c, union perf_attr_buffer *a,
                      int pid, int cpu, int group, int err)
{
	if (err == -EINVAL && a->attr.read_format & PERF_FORMAT_LOST) {
		a->attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		s->sampling->lacks_lost_counts |= err >= 0;
	}
	while (err < 0 && (err == -EOPNOTSUPP || err == -EINVAL) && a->attr.precise_ip &&
	       s->sampling->config.flags & PFM_SAMPLING_LESS_PRECISE) {
		a->attr.precise_ip--;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		if (err >= 0)
			c->config.attr.precise = a->attr.precise_ip;
	}
	return err;
}

/* Returns true if kernel event @k of count @i can be opened after @change. */
static bool can_open_with_change(struct pfm_session *s, unsigned i, unsigned k,
                                 void (*change)(struct perf_event_attr *a))
{
	const struct perf_state *st = s->backend_state;
	const struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];
	union perf_attr_buffer a;
	int fd;

	pfmi_perf_build_attr(s, i, k, true, &a);
	change(&a.attr);
	fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd >= 0;
}

static void strip_precision(struct perf_event_attr *a)
{
	a->precise_ip = 0;
}

static void strip_branches(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)PFM_SAMPLE_BRANCH;
	a->branch_sample_type = 0;
}

static void strip_inheritance(struct perf_event_attr *a)
{
	a->inherit = 0;
}

static void strip_payload(struct perf_event_attr *a)
{
	a->sample_type &= DEFAULT_FIELDS | PFM_SAMPLE_IDENTIFIER;
	a->branch_sample_type = a->sample_regs_user = a->sample_regs_intr = 0;
	a->sample_stack_user = 0;
	a->sample_max_stack = 0;
	a->precise_ip = 0;
}

static void strip_sampling(struct perf_event_attr *a)
{
	strip_payload(a);
	a->freq = 0;
	a->sample_period = 0;
}

static void diagnose_count(struct pfm_session *s, unsigned i, unsigned k, int err)
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
	else if (has_group_samples(s, c) && s->options.flags & PFM_SESSION_INHERIT &&
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

/* ---- buffers ------------------------------------------------------------------------------- */

void pfmi_sampling_fill_side_attr(const struct pfm_session *s, struct perf_event_attr *a)
{
	const pfm_sampling_t *q = &s->sampling->config;
	const struct perf_state *state = s->backend_state;

	*a = (struct perf_event_attr){ .size = sizeof(*a),
		                       .type = PERF_TYPE_SOFTWARE,
		                       .config = PERF_COUNT_SW_DUMMY };
	a->disabled = a->exclude_kernel = a->exclude_hv = 1;
	a->sample_type = q->fields & SAMPLE_TRAILER_FIELDS;
	a->mmap = a->mmap2 = (q->records & (PFM_SIDEBAND_MAPS | PFM_SIDEBAND_DATA_MAPS)) != 0;
	a->mmap_data = (q->records & PFM_SIDEBAND_DATA_MAPS) != 0;
	a->build_id = a->mmap && (q->records & PFM_SIDEBAND_BUILD_ID);
	a->comm = a->comm_exec = (q->records & PFM_SIDEBAND_COMM) != 0;
	a->task = (q->records & PFM_SIDEBAND_TASKS) != 0;
	a->context_switch = (q->records & PFM_SIDEBAND_SWITCHES) != 0;
	a->namespaces = (q->records & PFM_SIDEBAND_NAMESPACES) != 0;
	a->ksymbol = (q->records & PFM_SIDEBAND_KSYMBOLS) != 0;
	a->bpf_event = (q->records & PFM_SIDEBAND_BPF) != 0;
	a->cgroup = (q->records & PFM_SIDEBAND_CGROUPS) != 0;
	a->text_poke = (q->records & PFM_SIDEBAND_TEXT_POKE) != 0;
	set_common_attr(q, a);
	if (a->watermark)
		a->wakeup_watermark = pfmi_sampling_get_watermark(
			s->sampling, (uint64_t)s->sampling->buffer_pages * state->page_size);
}

static int open_side_event_fd(struct pfm_session *s, struct side_event *p)
{
	union perf_attr_buffer a = { .words = { 0 } };
	int fd;

	pfmi_sampling_fill_side_attr(s, &a.attr);
	a.attr.inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	a.attr.enable_on_exec = p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	if (fd == -EINVAL && a.attr.build_id) {
		a.attr.build_id = 0;
		fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	}
	return fd;
}

/* The side event for the CPU or task of @p, which is added if it is new. */
static struct side_event *get_side_event(struct sampling_state *sm, const struct kernel_event *p)
{
	for (unsigned i = 0; i < sm->n_side_events; i++)
		if (sm->side_events[i].pid == p->pid && sm->side_events[i].cpu == p->cpu)
			return &sm->side_events[i];
	sm->side_events[sm->n_side_events] =
		(struct side_event){ .fd = -1, .pid = p->pid, .cpu = p->cpu };
	return &sm->side_events[sm->n_side_events++];
}

/* The buffer of the side event: one for each CPU, or each task. */
static struct sample_buffer *get_sample_buffer(struct sampling_state *sm,
                                               const struct side_event *p)
{
	for (unsigned i = 0; i < sm->n_buffers; i++)
		if (p->cpu >= 0 ? sm->buffers[i].cpu == p->cpu
		                : sm->buffers[i].cpu < 0 && sm->buffers[i].pid == p->pid)
			return &sm->buffers[i];
	sm->buffers[sm->n_buffers] = (struct sample_buffer){
		.cpu = p->cpu, .pid = p->pid, .polled_event = (int)(p - sm->side_events)
	};
	return &sm->buffers[sm->n_buffers++];
}

static int map_buffer(struct pfm_session *s, struct sample_buffer *st, int fd, unsigned pages)
{
	const struct perf_state *state = s->backend_state;
	size_t len = ((size_t)pages + 1) * state->page_size;
	int rc = s->sys.mmap(&s->sys, fd, len, 1, &st->mapping);

	if (rc)
		return rc;
	st->mapping_size = len;
	if (pfmi_sampling_init_ring(&st->ring, st->mapping, len))
		return 0;
	s->sys.munmap(&s->sys, st->mapping, len);
	st->mapping = NULL;
	return -EINVAL;
}

static void unmap_buffer(struct pfm_session *s, struct sample_buffer *st)
{
	if (st->mapping)
		s->sys.munmap(&s->sys, st->mapping, st->mapping_size);
	st->mapping = NULL;
	pfmi_sampling_free_ring(&st->ring);
}

/* Opens the side event and its buffer. Returns 0, -errno, or 1 if the task has ended or the CPU is
 * off line. */
static int open_side_event(struct pfm_session *s, struct side_event *p)
{
	struct sampling_state *sm = s->sampling;
	struct sample_buffer *st;
	int rc;

	p->fd = open_side_event_fd(s, p);
	if (p->fd == -ESRCH || p->fd == -ENODEV) {
		p->fd = -1;
		p->has_ended = true;
		return 1;
	}
	if (p->fd < 0)
		return p->fd;
	rc = s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_ID, &p->id);
	if (rc)
		return rc;
	st = get_sample_buffer(sm, p);
	p->buffer_index = (unsigned)(st - sm->buffers);
	if (st->mapping)
		return s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_SET_OUTPUT,
		                    (void *)(intptr_t)sm->side_events[st->polled_event].fd);
	return map_buffer(s, st, p->fd, sm->buffer_pages);
}

static void close_side_events(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;

	for (unsigned i = 0; i < sm->n_buffers; i++)
		unmap_buffer(s, &sm->buffers[i]);
	for (unsigned i = 0; i < sm->n_side_events; i++) {
		if (sm->side_events[i].fd >= 0)
			s->sys.close(&s->sys, sm->side_events[i].fd);
		sm->side_events[i].fd = -1;
		sm->side_events[i].has_ended = false;
	}
	sm->n_buffers = 0;
}

static int open_side_events(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;

	for (unsigned i = 0; i < sm->n_side_events; i++) {
		int rc = open_side_event(s, &sm->side_events[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A user has one allowance for all buffers, so all of them are halved until they fit. */
static int open_shrinking_buffers(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;
	int rc;

	for (sm->buffer_pages = sm->config.pages;; sm->buffer_pages /= 2) {
		rc = open_side_events(s);
		if (rc != -EPERM || sm->buffer_pages == 1)
			return rc;
		close_side_events(s);
	}
}

static int compare_event_ids(const void *a, const void *b)
{
	const struct event_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Redirects the kernel event @p into its buffer and stores its id. */
static int redirect_event(struct pfm_session *s, const struct kernel_event *p)
{
	struct sampling_state *sm = s->sampling;
	const struct side_event *at = get_side_event(sm, p);
	uint64_t id = 0;
	int rc;

	if (at->fd < 0)
		return 0; /* gone since */
	rc = s->sys.ioctl(
		&s->sys, p->fd, PERF_EVENT_IOC_SET_OUTPUT,
		(void *)(intptr_t)sm->side_events[sm->buffers[at->buffer_index].polled_event].fd);
	if (!rc)
		rc = s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_ID, &id);
	if (!rc)
		sm->event_ids[sm->n_event_ids++] = (struct event_id){ id, p->count_index };
	return rc;
}

static void set_record_layouts(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;
	uint64_t frames = sm->config.max_stack;

	if (!frames &&
	    pfmi_machine_read_number(&s->sys, "/proc/sys/kernel/perf_event_max_stack", &frames))
		frames = DEFAULT_MAX_FRAMES;
	sm->common_layout = (struct record_layout){
		.fields = sm->config.fields,
		.branch_type = sm->config.branch_filter,
		.user_regs = sm->config.user_regs,
		.intr_regs = sm->config.intr_regs,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		               (sm->lacks_lost_counts ? 0u : PERF_FORMAT_LOST),
		.max_frames = (uint32_t)frames,
		.has_trailers = true
	};
	for (unsigned i = 0; i < s->n_counts; i++) {
		sm->totals[i].layout = sm->common_layout;
		sm->totals[i].layout.fields = get_sample_fields(s, &s->counts[i]);
		sm->totals[i].layout.read_format = get_read_format(s, &s->counts[i]);
		sm->totals[i].layout.is_inherited = (s->options.flags & PFM_SESSION_INHERIT) != 0;
		pfmi_sampling_complete_layout(&sm->totals[i].layout);
	}
}

/* Number of descriptors: of the events and of the owners of buffers. */
static uint64_t count_needed_files(const struct pfm_session *s)
{
	const struct perf_state *state = s->backend_state;

	return (uint64_t)state->n_events + s->sampling->n_side_events;
}

static int report_buffer_error(const struct pfm_session *s, pfm_error_t *why, int err)
{
	uint64_t number = 0;
	const char *detail = "the buffers for samples cannot be set up";
	int code = PFMLIB_ERR_SYS;

	switch (-err) {
	case ENOMEM: code = PFMLIB_ERR_NOMEM; break;
	case EPERM:
		code = PFMLIB_ERR_PERM;
		detail = "no buffer for samples can be mapped: kernel.perf_event_mlock_kb (number: "
			 "in KiB per CPU) and the limit of locked memory (ulimit -l) are used up; "
			 "raise one of them, or run as root";
		pfmi_machine_read_number(&s->sys, "/proc/sys/kernel/perf_event_mlock_kb", &number);
		break;
	case EACCES:
		code = PFMLIB_ERR_PERM;
		detail = "this user lacks the permission for the requested side records";
		break;
	case EMFILE:
		detail = "too many open files for the buffers: raise the limit (ulimit -n), or "
			 "sample fewer CPUs, threads or events; number: files that the session "
			 "needs";
		number = count_needed_files(s);
		break;
	default: break;
	}
	pfmi_base_set_errno_error(why, code, -err, detail);
	if (why)
		why->number = number;
	return code;
}

static int alloc_sampling_arrays(struct pfm_session *s)
{
	const struct perf_state *st = s->backend_state;
	struct sampling_state *sm = s->sampling;
	size_t n = st->n_events + 1;

	sm->side_events = calloc(n, sizeof(*sm->side_events));
	sm->buffers = calloc(n, sizeof(*sm->buffers));
	sm->buffer_heap = calloc(n, sizeof(*sm->buffer_heap));
	sm->poll_fds = calloc(n, sizeof(*sm->poll_fds));
	sm->event_ids = calloc(n, sizeof(*sm->event_ids));
	sm->totals = calloc(s->n_counts, sizeof(*sm->totals));
	return sm->side_events && sm->buffers && sm->buffer_heap && sm->poll_fds && sm->event_ids &&
	                       sm->totals
	               ? 0
	               : -ENOMEM;
}

static int open_buffers(struct pfm_session *s, struct pfm_error *why)
{
	const struct perf_state *st = s->backend_state;
	struct sampling_state *sm = s->sampling;
	int rc = alloc_sampling_arrays(s);

	for (unsigned i = 0; i < st->n_events && !rc; i++)
		if (st->events[i].fd >= 0)
			get_side_event(sm, &st->events[i]);
	if (!rc)
		rc = open_shrinking_buffers(s);
	for (unsigned i = 0; i < st->n_events && !rc; i++)
		if (st->events[i].fd >= 0)
			rc = redirect_event(s, &st->events[i]);
	if (rc)
		return report_buffer_error(s, why, rc);
	set_record_layouts(s);
	if (sm->n_event_ids)
		qsort(sm->event_ids, sm->n_event_ids, sizeof(*sm->event_ids), compare_event_ids);
	return PFMLIB_SUCCESS;
}

void pfmi_sampling_close_buffers(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;

	if (sm->side_events && sm->buffers)
		close_side_events(s);
	free(sm->side_events);
	free(sm->buffers);
	free(sm->buffer_heap);
	free(sm->poll_fds);
	free(sm->event_ids);
	free(sm->totals);
	sm->side_events = NULL;
	sm->buffers = NULL;
	sm->buffer_heap = NULL;
	sm->poll_fds = NULL;
	sm->event_ids = NULL;
	sm->totals = NULL;
}

static int control_side_events(struct pfm_session *s, unsigned long request)
{
	struct sampling_state *sm = s->sampling;
	bool waits = s->options.flags & PFM_SESSION_ENABLE_ON_EXEC;

	for (unsigned i = 0; i < sm->n_side_events; i++) {
		const struct side_event *p = &sm->side_events[i];
		int rc = 0;

		if (p->fd >= 0 && !(waits && request == PERF_EVENT_IOC_ENABLE && p->pid >= 0))
			rc = s->sys.ioctl(&s->sys, p->fd, request, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

const struct sampling_ops pfmi_sampling_ops = {
	.read_options = read_options,
	.free_state = free_state,
	.choose_rates = choose_rates,
	.fill_attr = fill_attr,
	.retry_open = retry_open,
	.diagnose_count = diagnose_count,
	.open_buffers = open_buffers,
	.close_buffers = pfmi_sampling_close_buffers,
	.control_side_events = control_side_events,
};
