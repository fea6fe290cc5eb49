/* SPDX-License-Identifier: MIT */
/* Counting with the Tru64 UNIX counter device, /dev/pfcntr. All counts of a session are one set on
 * the counters of one processor: the device has no groups and does not share counters. The encoder
 * has planned the requests and their order; this file sends them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "session/pfm_device.h"
#include "base/sizes.h"

static uint64_t get_monotonic_time(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sends the requests of phase @when, in order. */
static int send_requests_of_phase(struct pfm_session *s, unsigned when)
{
	struct device_state *d = s->live.backend_state;

	for (unsigned i = 0; i < d->encoder_output.n_ioctls; i++) {
		pfmlib_alpha_ioctl_t *io = &d->encoder_output.ioctls[i];
		int err = io->when == when ? pfmi_device_send_request(
						     s, io->request, io->n_words ? io->words : NULL)
		                           : 0;

		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int open_emulated(const struct sys *sys, const char *path, int flags)
{
	const pfm_alpha_device_t *e = sys->arg;

	return e->open(e->arg, path, flags);
}

static long read_emulated(const struct sys *sys, int fd, void *buf, size_t n)
{
	const pfm_alpha_device_t *e = sys->arg;

	return e->read(e->arg, fd, buf, n);
}

static int ioctl_emulated(const struct sys *sys, int fd, unsigned long request, void *argument)
{
	const pfm_alpha_device_t *e = sys->arg;

	return e->ioctl(e->arg, fd, request, argument);
}

static int close_emulated(const struct sys *sys, int fd)
{
	const pfm_alpha_device_t *e = sys->arg;

	return e->close(e->arg, fd);
}

/* Sends the session's system calls to the emulated device of the caller. */
static int use_emulator(struct pfm_session *s, struct device_state *d, pfm_error_t *why)
{
	const pfm_alpha_device_t *e = &d->emulator;

	if (!base_copy_struct_in(&d->emulator, sizeof d->emulator, d->options.emulator) ||
	    !e->open || !e->read || !e->ioctl || !e->close || e->n_cpus == 0 ||
	    e->n_cpus > MAX_DEVICE_ENTRIES)
		return pfmi_base_set_plain_error(
			why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
			"the emulator lacks its size, an operation or its number of processors");
	d->is_emulated = true;
	d->n_cpus = e->n_cpus;
	d->emulator_sys = (struct sys){ .open = open_emulated,
		                        .read = read_emulated,
		                        .ioctl = ioctl_emulated,
		                        .close = close_emulated,
		                        .arg = &d->emulator };
	for (unsigned i = 0; i < s->n_counts; i++)
		if (pfmi_pmu_get_encoder(s->counts[i].config.event.table)->has_pfcntr &&
		    s->counts[i].config.event.table->libpfm_type != e->pmu)
			pfmi_device_fail_count(&s->counts[i], PFM_CAUSE_NO_PMU, ENODEV,
			                       "the emulated device is that of another processor",
			                       "name an event of that processor");
	return PFMLIB_SUCCESS;
}

static unsigned count_processors(const struct device_state *d)
{
	long n = d->options.n_cpus ? (long)d->options.n_cpus : sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n > MAX_DEVICE_ENTRIES ? MAX_DEVICE_ENTRIES : (unsigned)n;
}

/* When the superuser opens the device, it takes the interrupt back from a tool that did not return
 * it, and the second attempt succeeds. */
static int open_device(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);
	const char *path = d->options.device ? d->options.device : PFCNTR_DEVICE;
	int fd = sys->open(sys, path, O_RDONLY | (int)d->encoder_output.open_flags);

	return fd == -EBUSY ? sys->open(sys, path, O_RDONLY | (int)d->encoder_output.open_flags)
	                    : fd;
}

/* Stores for every count why the device could not be opened. */
static void explain_open_error(struct pfm_session *s, int err)
{
	const struct device_state *d = s->live.backend_state;

	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		pfmi_device_fail_all_counts(
			s, PFM_CAUSE_NO_KERNEL, -err,
			"this system has no counter device (/dev/pfcntr)",
			"on Tru64 UNIX configure it: sysconfig -c pfm; elsewhere run the program "
			"under pfm alpha device");
		break;
	case -ENOTDIR:
	case -ELOOP:
		pfmi_device_fail_all_counts(
			s, PFM_CAUSE_NO_KERNEL, -err,
			"this system interprets the mode of open(2) as its own flags: /dev/pfcntr "
			"is not the device of Tru64",
			"run the program under pfm alpha device");
		break;
	case -EBUSY:
		pfmi_device_fail_all_counts(
			s, PFM_CAUSE_BUSY, -err,
			"another process has the counter device, or did not give the counter "
			"interrupt back",
			"wait for it; if no program uses the counters, run this once as superuser");
		break;
	case -EPERM:
	case -EACCES:
		pfmi_device_fail_all_counts(s, PFM_CAUSE_PERMISSION, -err,
		                            "the counter device may not be opened",
		                            "request read permission for it");
		break;
	default:
		if (d->encoder_output.open_flags == PCNTOPENONE)
			pfmi_device_fail_all_counts(s, PFM_CAUSE_NO_CPU, -err,
			                            "this process is not bound to one processor",
			                            "bind it (bind_to_cpu) before counting");
		else
			pfmi_device_fail_all_counts(s, PFM_CAUSE_OTHER, -err,
			                            "the counter device cannot be opened", "");
	}
}

static void explain_setup_error(struct pfm_session *s, int err)
{
	const struct device_state *d = s->live.backend_state;

	if (d->encoder_output.privileged && (err == -EPERM || err == -EACCES || err == -EINVAL))
		pfmi_device_fail_all_counts(
			s, PFM_CAUSE_PERMISSION, -err,
			"an interrupt every 256 events needs superuser privilege",
			"use the slow rate");
	else if (err == -ENOMEM)
		pfmi_device_fail_all_counts(s, PFM_CAUSE_MEMORY, -err,
		                            "the device has no memory for so many samples",
		                            "use a smaller range or a longer stride");
	else
		pfmi_device_fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, -err,
		                            "the device refuses a setting", "");
}

static void close_device(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);

	if (d->fd >= 0)
		(void)sys->close(sys, d->fd);
	d->fd = -1;
}

/* True if count @i, which has its counter, cannot be sampled. */
static bool is_unsampleable_count(struct pfm_session *s, unsigned i)
{
	const char *why = s->sampling ? s->device_sampling_ops->explain_refusal(s, i) : NULL;

	if (why)
		pfmi_device_fail_count(&s->counts[i], PFM_CAUSE_ATTRIBUTE, EINVAL, why,
		                       "see pfm_device(3), section Samples");
	return why != NULL;
}

static void set_device_positions(struct pfm_session *s, const struct device_event_set *set)
{
	struct device_state *d = s->live.backend_state;

	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];
		int at = c->status.cause ? -1
		                         : pfmi_device_find_request_index(set, c->config.request);

		d->locations[i] = (struct device_location){ -1, -1 };
		if (at < 0) {
			pfmi_device_fail_count(c, PFM_CAUSE_GROUP, ENOSPC,
			                       "it does not fit beside the events before it",
			                       "count fewer events at a time");
			continue;
		}
		if (c->config.cpu >= 0) {
			d->locations[i].entry = c->config.cpu;
			if (d->locations[i].entry >= (int)d->n_entries) {
				pfmi_device_fail_count(c, PFM_CAUSE_NO_CPU, ENODEV,
				                       "the device lacks that processor", "");
				continue;
			}
		}
		d->locations[i].counter = set->placement.counters[at];
		if (is_unsampleable_count(s, i)) {
			d->locations[i].counter = -1;
			continue;
		}
		c->kernel_state.n_events = c->kernel_state.n_open = 1;
	}
}

static int alloc_entries(struct pfm_session *s, pfm_error_t *why)
{
	struct device_state *d = s->live.backend_state;

	if (!d->n_cpus)
		d->n_cpus = count_processors(d);
	d->n_entries = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_EACH ? d->n_cpus : 1;
	d->entries = calloc(d->n_entries, sizeof *d->entries);
	d->locations = calloc(s->n_counts, sizeof *d->locations);
	return d->entries && d->locations ? PFMLIB_SUCCESS : pfmi_base_set_no_memory_error(why);
}

static void copy_device_options(const struct pfm_session *s, struct device_state *d)
{
	/* options with an invalid size are ignored */
	(void)base_copy_struct_in(&d->options, sizeof d->options, s->options.backend_options);
}

/* True for processes that the device cannot count: it counts the caller and its children. */
static bool is_foreign_process(const struct pfm_session *s, const struct device_state *d)
{
	return !d->is_emulated && s->options.pid > 0 && s->options.pid != getpid() &&
	       d->encoder_input.pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS;
}

static int start_device_counting(struct pfm_session *s);

static int open_and_set_up_device(struct pfm_session *s, struct device_event_set *set)
{
	struct device_state *d = s->live.backend_state;
	int err;

	if (is_foreign_process(s, d)) {
		pfmi_device_fail_all_counts(
			s, PFM_CAUSE_NO_PROCESS, ESRCH,
			"the device counts this process and its children, or the whole system",
			"count the whole system, or start the program from the process that "
			"counts");
		return PFMLIB_SUCCESS;
	}
	if (s->sampling)
		s->device_sampling_ops->set_event(d);
	/* undoes the attempt with an event that did not fit */
	(void)pfmi_device_solve_event_set(d, set, NULL);
	d->fd = open_device(s);
	if (d->fd < 0) {
		explain_open_error(s, d->fd);
		return PFMLIB_SUCCESS;
	}
	err = send_requests_of_phase(s, PFM_ALPHA_SETUP);
	if (err < 0) {
		close_device(s);
		explain_setup_error(s, err);
		return PFMLIB_SUCCESS;
	}
	set_device_positions(s, set);
	err = s->sampling ? s->device_sampling_ops->open(s) : PFMLIB_SUCCESS;
	if (err)
		return err;
	/* The device cannot start with a program, so it starts now. */
	return s->options.flags & PFM_SESSION_ENABLE_ON_EXEC ? start_device_counting(s)
	                                                     : PFMLIB_SUCCESS;
}

static int open_device_counts(struct pfm_session *s, pfm_error_t *why)
{
	struct device_state *d = calloc(1, sizeof *d);
	struct device_event_set set = { .n_events = 0 };
	int rc = PFMLIB_SUCCESS;

	if (!d)
		return pfmi_base_set_no_memory_error(why);
	s->live.backend_state = d;
	d->fd = -1;
	copy_device_options(s, d);
	pfmi_device_choose_settings(s, d);
	pfmi_device_check_scope(s, d);
	if (d->options.emulator)
		rc = use_emulator(s, d, why);
	if (rc == PFMLIB_SUCCESS && s->sampling && s->device_sampling_ops->prepare(s))
		rc = pfmi_base_set_no_memory_error(why);
	if (rc == PFMLIB_SUCCESS)
		rc = alloc_entries(s, why);
	if (rc)
		return rc;
	pfmi_device_choose_events(s, d, &set);
	if (!set.n_events)
		return PFMLIB_SUCCESS;
	d->pmu_type = set.events[0].table->libpfm_type;
	rc = open_and_set_up_device(s, &set);
	if (rc)
		rc = rc == PFMLIB_ERR_NOMEM
		             ? pfmi_base_set_no_memory_error(why)
		             : pfmi_base_set_errno_error(why, rc, s->sys_errno,
		                                         "the device cannot be set up");
	return rc;
}

/* ---- counting ------------------------------------------------------------------------------ */

/* The first start follows the plan. Later starts neither clear nor load the counters. */
static int restart_device(struct pfm_session *s)
{
	const struct device_state *d = s->live.backend_state;
	uint64_t word;

	switch (d->pmu_type) {
	case PFMLIB_ALPHA_EV4_PMU: return pfmi_device_send_request(s, PCNTRENABLE, NULL);
	case PFMLIB_ALPHA_EV5_PMU:
	case PFMLIB_ALPHA_PCA56_PMU:
		word = PF5_CTRS(d->encoder_output.counters, PMCTRS_ALL_CPUS, 0, 0, 0);
		return pfmi_device_send_request(s, PCNT5ENABLE, &word);
	default:
		word = PF6_CTRS(d->encoder_output.counters, PMCTRS_ALL_CPUS, 0, 0);
		return pfmi_device_send_request(s, PCNT6ENABLE, &word);
	}
}

static void set_reset_events(struct device_state *d)
{
	for (unsigned e = 0; e < d->n_entries; e++)
		memcpy(d->entries[e].reset_events, d->entries[e].events,
		       sizeof d->entries[e].reset_events);
}

static int start_device_counting(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	int err;

	if (!d || d->fd < 0 || d->started_at)
		return PFMLIB_SUCCESS;
	/* the counters hold the counts of another program */
	if (!d->has_started && (d->encoder_input.pfp_alpha_flags & PFM_ALPHA_FL_KEEP)) {
		err = pfmi_device_read_entries(s);
		if (err < 0)
			return pfmi_device_record_errno(s, err);
		set_reset_events(d);
	}
	err = d->has_started ? restart_device(s) : send_requests_of_phase(s, PFM_ALPHA_START);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	d->has_started = true;
	d->started_at = get_monotonic_time(NULL);
	return PFMLIB_SUCCESS;
}

static int stop_device_counting(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	int err;

	if (!d || d->fd < 0 || !d->started_at)
		return PFMLIB_SUCCESS;
	err = send_requests_of_phase(s, PFM_ALPHA_STOP);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	d->elapsed += get_monotonic_time(NULL) - d->started_at;
	d->started_at = 0;
	return PFMLIB_SUCCESS;
}

/* ---- reading ------------------------------------------------------------------------------- */

static int read_device_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	struct device_state *d = s->live.backend_state;
	uint64_t time;
	int err;

	s->reading.is_all_exact = false;
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof counts[i], .quality = PFM_QUALITY_EXACT };
	/* before the first start the counters hold what other programs left in them */
	if (!d || d->fd < 0 || !d->has_started)
		return PFMLIB_SUCCESS;
	err = pfmi_device_read_entries(s);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	time = d->elapsed + (d->started_at ? get_monotonic_time(NULL) - d->started_at : 0);
	for (unsigned i = 0; i < n; i++) {
		const struct device_location *p = &d->locations[i];

		if (p->counter < 0)
			continue;
		counts[i].raw = counts[i].value = pfmi_device_count_since_reset(d, p);
		/* EV4 counts by interrupts: before the first one it is unknown even whether the
		 * event happened at all. */
		if (counts[i].raw != 0 || d->pmu_type != PFMLIB_ALPHA_EV4_PMU)
			counts[i].enabled = counts[i].running = time;
	}
	return PFMLIB_SUCCESS;
}

/* Stores the counts, from which later ones are differences: the device itself goes on counting. */
static int reset_device_counts(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	int err;

	if (!d || d->fd < 0 || !d->has_started)
		return PFMLIB_SUCCESS;
	err = pfmi_device_read_entries(s);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	set_reset_events(d);
	d->elapsed = 0;
	d->started_at = d->started_at ? get_monotonic_time(NULL) : 0;
	return PFMLIB_SUCCESS;
}

static void close_device_counts(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;

	if (!d)
		return;
	if (s->sampling)
		s->device_sampling_ops->close(s);
	close_device(s);
	free(d->entries);
	free(d->locations);
	free(d);
	s->live.backend_state = NULL;
}

/* A model needs nothing of the system, and whether one is wanted is not known here: a request for
 * this backend by name, whose user needs the reason, gets it, and every count says what is
 * missing. */
static int probe_device(const struct sys *sys, pfm_error_t *why)
{
	int fd;

	if (why)
		return PFMLIB_SUCCESS;
	fd = sys->open(sys, PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL);
	if (fd >= 0)
		(void)sys->close(sys, fd);
	return fd >= 0 || fd == -EBUSY ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

const struct backend pfmi_device_backend = {
	.name = "pfm_device",
	.accepts_any_processor = true,
	.probe = probe_device,
	.open_counts = open_device_counts,
	.start_counting = start_device_counting,
	.stop_counting = stop_device_counting,
	.reset_counts = reset_device_counts,
	.read_counts = read_device_counts,
	.close_counts = close_device_counts,
};
