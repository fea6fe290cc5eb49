/* SPDX-License-Identifier: MIT */
/* Sampling with perf_event_open(2): buffers, and the buffer of each event. All events
 * of a CPU share one buffer; so do all events of a task that is sampled on any CPU. The buffer
 * belongs to an event that counts nothing and brings the records beside samples, so that lost
 * samples are counted separately. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "sampling/sampling_internal.h"

static void free_state(struct pfm_session *s)
{
	if (s->sampling && s->sampling->free_trace_formats)
		s->sampling->free_trace_formats(s->sampling);
	free(s->sampling);
	s->sampling = NULL;
}

void pfmi_sampling_fill_side_attr(const struct pfm_session *s, struct perf_attr *a)
{
	const pfm_sampling_t *q = &s->sampling->config;
	const struct perf_state *state = s->live.backend_state;

	*a = (struct perf_attr){ .size = PERF_ATTR_SIGNAL_SIZE,
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
	pfmi_sampling_set_common_attr(q, a);
	if (a->watermark)
		a->wakeup_watermark = pfmi_sampling_get_watermark(
			s->sampling, (uint64_t)s->sampling->buffer_pages * state->page_size);
}

static int open_side_event_fd(struct pfm_session *s, struct side_event *p)
{
	struct perf_attr a = { .size = 0 };
	int fd;

	pfmi_sampling_fill_side_attr(s, &a);
	a.inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	a.enable_on_exec = p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	fd = pfmi_perf_open_event(&s->sys, &a, p->pid, p->cpu, -1);
	if (fd == -EINVAL && a.build_id) {
		a.build_id = 0;
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
	const struct perf_state *state = s->live.backend_state;
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
		.has_trailers = true,
		.has_build_ids = (sm->config.records & PFM_SIDEBAND_BUILD_ID) != 0
	};
	for (unsigned i = 0; i < s->n_counts; i++) {
		sm->totals[i].layout = sm->common_layout;
		sm->totals[i].layout.fields = pfmi_sampling_get_sample_fields(s, &s->counts[i]);
		sm->totals[i].layout.read_format = pfmi_sampling_get_read_format(s, &s->counts[i]);
		sm->totals[i].layout.is_inherited = (s->options.flags & PFM_SESSION_INHERIT) != 0;
		pfmi_sampling_complete_layout(&sm->totals[i].layout);
	}
}

/* Number of descriptors: of the events and of the owners of buffers. */
static uint64_t count_needed_files(const struct pfm_session *s)
{
	const struct perf_state *state = s->live.backend_state;

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
	const struct perf_state *st = s->live.backend_state;
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
	const struct perf_state *st = s->live.backend_state;
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
	.read_options = pfmi_sampling_read_options,
	.free_state = free_state,
	.choose_rates = pfmi_sampling_choose_rates,
	.fill_attr = pfmi_sampling_fill_event_attr,
	.retry_open = pfmi_sampling_retry_open,
	.diagnose_count = pfmi_sampling_diagnose_count,
	.open_buffers = open_buffers,
	.close_buffers = pfmi_sampling_close_buffers,
	.control_side_events = control_side_events,
};
