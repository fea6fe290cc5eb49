/* SPDX-License-Identifier: MIT */
/* Sampling through Linux's perf_event_open(2): attributes, buffers, and which event writes into which buffer. All events of a CPU, or of a
 * task where tasks are sampled wherever they run, share one buffer. It belongs to an event that counts nothing and brings the
 * records beside samples, so that losses of samples are counted for themselves. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include "session/session.h"
#include "sampling/sampling.h"
#include "base/sizes.h"

#define USUAL_FIELDS (PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD)
#define USUAL_PAGES  128u
#define CLOCK_PERIOD 1000000u /* nanoseconds */
#define USUAL_FREQ   1000u

/* ---- what is asked ------------------------------------------------------------------------------------------------------ */

static const char *wrong(const pfm_sampling_t *q)
{
	if (q->period && q->freq)
		return "sampling.period and sampling.freq are both set";
	if (q->period >> 63 || q->freq >> 63)
		return "sampling.period or sampling.freq is negative";
	if (q->fields >> 25)
		return "sampling.fields has a bit that is none of PFM_SAMPLE_*";
	if (q->fields & PFM_SAMPLE_WEIGHT && q->fields & PFM_SAMPLE_WEIGHTS)
		return "sampling.fields asks for WEIGHT and for WEIGHTS";
	if (q->records >> 11)
		return "sampling.records has a bit that is none of PFM_SIDE_*";
	if (q->pages & (q->pages - 1) || q->pages > 1u << 20)
		return "sampling.pages is no power of two up to 1048576";
	if (q->precise > 3)
		return "sampling.precise is above 3";
	if (q->user_stack % 8 || q->user_stack > 65528)
		return "sampling.user_stack is no multiple of 8 up to 65528";
	if (q->fields & PFM_SAMPLE_STACK && !q->user_stack)
		return "sampling.user_stack is 0";
	if ((q->fields & PFM_SAMPLE_REGS && !q->user_regs) || (q->fields & PFM_SAMPLE_INTR_REGS && !q->intr_regs))
		return "no registers are named in sampling.user_regs or sampling.intr_regs";
	return NULL;
}

/* The counter device knows addresses, and processors where each is opened for itself; it writes no other records. */
static const char *beyond_the_device(const pfm_sampling_t *q)
{
	if (q->fields & ~(uint64_t)(PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD | PFM_SAMPLE_CPU))
		return "samples of this device hold IP, PERIOD and CPU: sampling.fields asks for more";
	if (q->records)
		return "this device writes no records beside samples: sampling.records must be 0";
	return NULL;
}

int pfmi_sampling_ask(struct session_builder *o)
{
	const pfm_sampling_t *given = o->session->options.sampling;
	struct sampling *sm;
	const char *what;

	sm = o->session->sampling = calloc(1, sizeof(*sm));
	if (!sm)
		return pfmi_session_report_no_memory(o);
	if (!pfmi_take(&sm->asked, sizeof(sm->asked), given))
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "sampling.size is not set");
	what = wrong(&sm->asked);
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, what);
	what = o->session->policy_backend == &pfmi_device_backend ? beyond_the_device(&sm->asked) : NULL;
	if (what)
		return pfmi_session_report_error(o, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE, NULL, 0, what);
	if (o->session->policy_backend == &pfmi_device_backend)
		return PFMLIB_SUCCESS;
	if (!sm->asked.fields)
		sm->asked.fields = USUAL_FIELDS;
	sm->asked.fields |= PFM_SAMPLE_TIME | PFM_SAMPLE_IDENTIFIER;
	if (!(sm->asked.flags & PFM_SAMPLING_CLOCK))
		sm->asked.clock = CLOCK_MONOTONIC;
	if (!sm->asked.pages)
		sm->asked.pages = USUAL_PAGES;
	if (!sm->asked.branch_filter)
		sm->asked.branch_filter = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	sm->last = -1;
	return PFMLIB_SUCCESS;
}

void pfmi_sampling_free(struct pfm_session *s)
{
	if (s->sampling)
		pfmi_data_free_fields(s->sampling);
	free(s->sampling);
	s->sampling = NULL;
}

/* Events that happen once at a time are taken one by one, clocks each millisecond, the rest a thousand times a second. */
static void choose_rate(const struct sampling *sm, struct session_count *c)
{
	uint32_t type = c->config.attr.type;
	uint64_t config = c->config.attr.config;

	if (c->config.period || c->config.freq)
		return;
	c->config.period = sm->asked.period;
	c->config.freq = sm->asked.freq;
	if (c->config.period || c->config.freq)
		return;
	if (type == PERF_TYPE_SOFTWARE && config <= PERF_COUNT_SW_TASK_CLOCK)
		c->config.period = CLOCK_PERIOD;
	else if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		c->config.period = 1;
	else
		c->config.freq = USUAL_FREQ;
}

void pfmi_sampling_prepare(struct pfm_session *s)
{
	uint64_t max = 0;

	if (pfmi_sys_number(&s->sys, "/proc/sys/kernel/perf_event_max_sample_rate", &max))
		max = 0;
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		choose_rate(s->sampling, c);
		if (!c->config.attr.precise)
			c->config.attr.precise = (uint8_t)s->sampling->asked.precise;
		if (max && c->config.freq > max && !c->status.cause)
			pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
			                        "ask for a lower frequency, or raise kernel.perf_event_max_sample_rate",
			                        "the kernel takes at most %llu samples a second", (unsigned long long)max);
	}
}

/* The kernel ignores the period of its own events if every sample is to tell it. Where it is fixed we know it. */
static uint64_t fields_of(const struct sampling *sm, const struct session_count *c)
{
	return c->config.freq ? sm->asked.fields : sm->asked.fields & ~(uint64_t)PFM_SAMPLE_PERIOD;
}

static void add_payload(const pfm_sampling_t *q, struct perf_event_attr *a)
{
	if (q->fields & PFM_SAMPLE_CHAIN) {
		a->sample_max_stack = (uint16_t)q->max_stack;
		a->exclude_callchain_kernel = (q->flags & PFM_SAMPLING_USER_CHAIN) || a->exclude_kernel;
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

/* A buffer that is full before it is filled so far wakes nobody: never above its half, be it smaller than was asked for. */
uint32_t pfmi_sampling_mark(const struct sampling *sm, uint64_t size)
{
	uint64_t mark = sm->asked.watermark ? sm->asked.watermark : size / 4;

	return (uint32_t)(mark < size / 2 ? mark : size / 2);
}

static void add_common(const pfm_sampling_t *q, struct perf_event_attr *a)
{
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = q->clock;
	a->watermark = !q->wakeup_events;
	if (a->watermark)
		a->wakeup_watermark = 1; /* the owner of the buffer says it */
	else
		a->wakeup_events = q->wakeup_events;
}

void pfmi_sampling_attr(const struct pfm_session *s, const struct session_count *c, struct perf_event_attr *a)
{
	const struct sampling *sm = s->sampling;

	a->sample_type = fields_of(sm, c);
	a->freq = c->config.freq != 0;
	if (a->freq)
		a->sample_freq = c->config.freq;
	else
		a->sample_period = c->config.period;
	a->precise_ip = c->config.attr.precise & 3u;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (!sm->no_losses)
		a->read_format |= PERF_FORMAT_LOST;
	add_payload(&sm->asked, a);
	add_common(&sm->asked, a);
}

int pfmi_sampling_settle(struct pfm_session *s, struct session_count *c, union perf_attr_buffer *a, int pid, int cpu, int group, int err)
{
	if (err == -EINVAL && a->attr.read_format & PERF_FORMAT_LOST) {
		a->attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		s->sampling->no_losses |= err >= 0;
	}
	while (err < 0 && (err == -EOPNOTSUPP || err == -EINVAL) && a->attr.precise_ip &&
	       s->sampling->asked.flags & PFM_SAMPLING_LESS_PRECISE) {
		a->attr.precise_ip--;
		err = pfmi_perf_open_event(&s->sys, a, pid, cpu, group);
		if (err >= 0)
			c->config.attr.precise = a->attr.precise_ip;
	}
	return err;
}

/* Asks for part @k of count @i again, changed by @change. True if it can be opened then. */
static bool opens_if(struct pfm_session *s, unsigned i, unsigned k, void (*change)(struct perf_event_attr *a))
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

static void without_precision(struct perf_event_attr *a)
{
	a->precise_ip = 0;
}

static void without_branches(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)PFM_SAMPLE_BRANCH;
	a->branch_sample_type = 0;
}

static void without_payload(struct perf_event_attr *a)
{
	a->sample_type &= USUAL_FIELDS | PFM_SAMPLE_IDENTIFIER;
	a->branch_sample_type = a->sample_regs_user = a->sample_regs_intr = 0;
	a->sample_stack_user = 0;
	a->sample_max_stack = 0;
	a->precise_ip = 0;
}

static void without_samples(struct perf_event_attr *a)
{
	without_payload(a);
	a->freq = 0;
	a->sample_period = 0;
}

void pfmi_sampling_diagnose(struct pfm_session *s, unsigned i, unsigned k, int err)
{
	struct session_count *c = &s->counts[i];

	if (c->config.attr.precise && opens_if(s, i, k, without_precision))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err, "ask for less, or allow less with PFM_SAMPLING_LESS_PRECISE",
		                        "the PMU cannot sample this event with precision %u", c->config.attr.precise);
	else if (s->sampling->asked.fields & PFM_SAMPLE_BRANCH && opens_if(s, i, k, without_branches))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err, "leave PFM_SAMPLE_BRANCH away", "the PMU of this event records no branches");
	else if (opens_if(s, i, k, without_payload))
		pfmi_session_fail_count(c, c->status.cause == PFM_CAUSE_PERMISSION ? PFM_CAUSE_PERMISSION : PFM_CAUSE_ATTRIBUTE, err,
		                        "ask for fewer fields of PFM_SAMPLE_*", "the kernel does not give all that samples shall hold");
	else if (opens_if(s, i, k, without_samples))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err, "sample a clock (task-clock, cpu-clock) and count this event beside it",
		                        "its PMU has no overflow interrupt: the event can be counted, not sampled");
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */

void pfmi_sampling_side_attr(const struct pfm_session *s, struct perf_event_attr *a)
{
	const pfm_sampling_t *q = &s->sampling->asked;
	const struct perf_state *state = s->backend_state;

	*a = (struct perf_event_attr){ .size = sizeof(*a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY };
	a->disabled = a->exclude_kernel = a->exclude_hv = 1;
	a->sample_type = q->fields & TRAILER;
	a->mmap = a->mmap2 = (q->records & (PFM_SIDE_MAPS | PFM_SIDE_DATA_MAPS)) != 0;
	a->mmap_data = (q->records & PFM_SIDE_DATA_MAPS) != 0;
	a->build_id = a->mmap && (q->records & PFM_SIDE_BUILD_ID);
	a->comm = a->comm_exec = (q->records & PFM_SIDE_COMM) != 0;
	a->task = (q->records & PFM_SIDE_TASKS) != 0;
	a->context_switch = (q->records & PFM_SIDE_SWITCHES) != 0;
	a->namespaces = (q->records & PFM_SIDE_NAMESPACES) != 0;
	a->ksymbol = (q->records & PFM_SIDE_KSYMBOLS) != 0;
	a->bpf_event = (q->records & PFM_SIDE_BPF) != 0;
	a->cgroup = (q->records & PFM_SIDE_CGROUPS) != 0;
	a->text_poke = (q->records & PFM_SIDE_TEXT_POKE) != 0;
	add_common(q, a);
	if (a->watermark)
		a->wakeup_watermark = pfmi_sampling_mark(s->sampling, (uint64_t)s->sampling->pages * state->page_size);
}

static int open_side(struct pfm_session *s, struct place *p)
{
	union perf_attr_buffer a = { .words = { 0 } };
	int fd;

	pfmi_sampling_side_attr(s, &a.attr);
	a.attr.inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	a.attr.enable_on_exec = p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	if (fd == -EINVAL && a.attr.build_id) {
		a.attr.build_id = 0;
		fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	}
	return fd;
}

/* The place of part @p; a new one is added at the end. */
static struct place *place_of(struct sampling *sm, const struct kernel_event *p)
{
	for (unsigned i = 0; i < sm->n_places; i++)
		if (sm->places[i].pid == p->pid && sm->places[i].cpu == p->cpu)
			return &sm->places[i];
	sm->places[sm->n_places] = (struct place){ .fd = -1, .pid = p->pid, .cpu = p->cpu };
	return &sm->places[sm->n_places++];
}

/* The buffer that the place writes into: one for each CPU, or each task. */
static struct stream *stream_of(struct sampling *sm, const struct place *p)
{
	for (unsigned i = 0; i < sm->n_streams; i++)
		if (p->cpu >= 0 ? sm->streams[i].cpu == p->cpu : sm->streams[i].cpu < 0 && sm->streams[i].pid == p->pid)
			return &sm->streams[i];
	sm->streams[sm->n_streams] = (struct stream){ .cpu = p->cpu, .pid = p->pid, .place = (int)(p - sm->places) };
	return &sm->streams[sm->n_streams++];
}

static int map(struct pfm_session *s, struct stream *st, int fd, unsigned pages)
{
	const struct perf_state *state = s->backend_state;
	size_t len = ((size_t)pages + 1) * state->page_size;
	int rc = s->sys.mmap(&s->sys, fd, len, 1, &st->base);

	if (rc)
		return rc;
	st->len = len;
	if (pfmi_ring_open(&st->ring, st->base, len))
		return 0;
	s->sys.munmap(&s->sys, st->base, len);
	st->base = NULL;
	return -EINVAL;
}

static void unmap(struct pfm_session *s, struct stream *st)
{
	if (st->base)
		s->sys.munmap(&s->sys, st->base, st->len);
	st->base = NULL;
	pfmi_ring_close(&st->ring);
}

/* Opens a place and what it writes into. 0, -errno, or 1 if the task or the CPU has gone. */
static int open_place(struct pfm_session *s, struct place *p)
{
	struct sampling *sm = s->sampling;
	struct stream *st;
	int rc;

	p->fd = open_side(s, p);
	if (p->fd == -ESRCH || p->fd == -ENODEV) {
		p->fd = -1;
		p->ended = true;
		return 1;
	}
	if (p->fd < 0)
		return p->fd;
	rc = s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_ID, &p->id);
	if (rc)
		return rc;
	st = stream_of(sm, p);
	p->stream = (unsigned)(st - sm->streams);
	if (st->base)
		return s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_SET_OUTPUT, (void *)(intptr_t)sm->places[st->place].fd);
	return map(s, st, p->fd, sm->pages);
}

static void close_places(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;

	for (unsigned i = 0; i < sm->n_streams; i++)
		unmap(s, &sm->streams[i]);
	for (unsigned i = 0; i < sm->n_places; i++) {
		if (sm->places[i].fd >= 0)
			s->sys.close(&s->sys, sm->places[i].fd);
		sm->places[i].fd = -1;
		sm->places[i].ended = false;
	}
	sm->n_streams = 0;
}

static int open_places(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;

	for (unsigned i = 0; i < sm->n_places; i++) {
		int rc = open_place(s, &sm->places[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The allowance is for all buffers of a user together: all are made half as large until they fit. */
static int open_shrinking(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;
	int rc;

	for (sm->pages = sm->asked.pages;; sm->pages /= 2) {
		rc = open_places(s);
		if (rc != -EPERM || sm->pages == 1)
			return rc;
		close_places(s);
	}
}

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Leads the event of part @p into its buffer and notes its id. */
static int join(struct pfm_session *s, const struct kernel_event *p)
{
	struct sampling *sm = s->sampling;
	const struct place *at = place_of(sm, p);
	uint64_t id = 0;
	int rc;

	if (at->fd < 0)
		return 0; /* gone since */
	rc = s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_SET_OUTPUT,
	                  (void *)(intptr_t)sm->places[sm->streams[at->stream].place].fd);
	if (!rc)
		rc = s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_ID, &id);
	if (!rc)
		sm->known[sm->n_known++] = (struct known){ id, p->count_index };
	return rc;
}

static void lay_out(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;
	uint64_t frames = sm->asked.max_stack;

	if (!frames && pfmi_sys_number(&s->sys, "/proc/sys/kernel/perf_event_max_stack", &frames))
		frames = USUAL_FRAMES;
	sm->common = (struct layout){ .fields = sm->asked.fields,
		                      .branch_type = sm->asked.branch_filter,
		                      .regs = sm->asked.user_regs,
		                      .intr_regs = sm->asked.intr_regs,
		                      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		                                     (sm->no_losses ? 0u : PERF_FORMAT_LOST),
		                      .max_stack = (uint32_t)frames,
		                      .trailers = true };
	for (unsigned i = 0; i < s->n_counts; i++) {
		sm->tallies[i].layout = sm->common;
		sm->tallies[i].layout.fields = fields_of(sm, &s->counts[i]);
		pfmi_layout_settle(&sm->tallies[i].layout);
	}
}

/* Of events and of those that own buffers. */
static uint64_t files_needed(const struct pfm_session *s)
{
	const struct perf_state *state = s->backend_state;

	return (uint64_t)state->n_events + s->sampling->n_places;
}

static int refuse(const struct pfm_session *s, pfm_error_t *why, int err)
{
	uint64_t number = 0;
	const char *detail = "the buffers for samples cannot be set up";
	int code = PFMLIB_ERR_SYS;

	switch (-err) {
	case ENOMEM: code = PFMLIB_ERR_NOMEM; break;
	case EPERM:
		code = PFMLIB_ERR_PERM;
		detail = "no buffer for samples can be mapped: kernel.perf_event_mlock_kb and the limit of locked memory (ulimit -l) are "
			 "used up; raise one of them, or run as root; number: the former, in KiB for each CPU";
		pfmi_sys_number(&s->sys, "/proc/sys/kernel/perf_event_mlock_kb", &number);
		break;
	case EACCES:
		code = PFMLIB_ERR_PERM;
		detail = "this user may not have the records that were asked for beside samples";
		break;
	case EMFILE:
		detail = "too many open files for the buffers: raise the limit (ulimit -n), or sample fewer CPUs, threads or events; number: "
			 "files that the session needs";
		number = files_needed(s);
		break;
	default: break;
	}
	pfmi_refuse_errno(why, code, -err, detail);
	if (why)
		why->number = number;
	return code;
}

static int make_room(struct pfm_session *s)
{
	const struct perf_state *st = s->backend_state;
	struct sampling *sm = s->sampling;
	size_t n = st->n_events + 1;

	sm->places = calloc(n, sizeof(*sm->places));
	sm->streams = calloc(n, sizeof(*sm->streams));
	sm->heap = calloc(n, sizeof(*sm->heap));
	sm->polled = calloc(n, sizeof(*sm->polled));
	sm->known = calloc(n, sizeof(*sm->known));
	sm->tallies = calloc(s->n_counts, sizeof(*sm->tallies));
	return sm->places && sm->streams && sm->heap && sm->polled && sm->known && sm->tallies ? 0 : -ENOMEM;
}

int pfmi_sampling_open(struct pfm_session *s, struct pfm_error *why)
{
	const struct perf_state *st = s->backend_state;
	struct sampling *sm = s->sampling;
	int rc = make_room(s);

	for (unsigned i = 0; i < st->n_events && !rc; i++)
		if (st->events[i].fd >= 0)
			place_of(sm, &st->events[i]);
	if (!rc)
		rc = open_shrinking(s);
	for (unsigned i = 0; i < st->n_events && !rc; i++)
		if (st->events[i].fd >= 0)
			rc = join(s, &st->events[i]);
	if (rc)
		return refuse(s, why, rc);
	lay_out(s);
	if (sm->n_known)
		qsort(sm->known, sm->n_known, sizeof(*sm->known), by_id);
	return PFMLIB_SUCCESS;
}

void pfmi_sampling_close(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;

	if (sm->places && sm->streams)
		close_places(s);
	free(sm->places);
	free(sm->streams);
	free(sm->heap);
	free(sm->polled);
	free(sm->known);
	free(sm->tallies);
	sm->places = NULL;
	sm->streams = NULL;
	sm->heap = NULL;
	sm->polled = NULL;
	sm->known = NULL;
	sm->tallies = NULL;
}

int pfmi_sampling_command(struct pfm_session *s, unsigned long request)
{
	struct sampling *sm = s->sampling;
	bool waits = s->options.flags & PFM_SESSION_ENABLE_ON_EXEC;

	for (unsigned i = 0; i < sm->n_places; i++) {
		const struct place *p = &sm->places[i];
		int rc = 0;

		if (p->fd >= 0 && !(waits && request == PERF_EVENT_IOC_ENABLE && p->pid >= 0))
			rc = s->sys.ioctl(&s->sys, p->fd, request, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}
