/* SPDX-License-Identifier: MIT */
/* The conversation with the Tru64 UNIX counter device, /dev/pfcntr.
 *
 * All counts of a session are one set on one processor's counters: the device has no groups and
 * shares nothing. Which requests it takes, and in which order, the encoder has worked out; here
 * they are issued, and what comes back is turned into events. The device counts interrupts.
 * Where the chip's counters can be read, what they hold on top of them is added. */
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

const struct sys *pfmi_device_get_sys(const struct pfm_session *s)
{
	const struct device_state *d = s->backend_state;

	return d->is_emulated ? &d->emulator_sys : &s->sys;
}

int pfmi_device_record_errno(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EPERM || err == -EACCES ? PFMLIB_ERR_PERM
	       : err == -EBUSY                 ? PFMLIB_ERR_BUSY
	                                       : PFMLIB_ERR_SYS;
}

/* ---- requests ------------------------------------------------------------------------------ */

int pfmi_device_send_request(struct pfm_session *s, uint32_t number, void *arg)
{
	const struct device_state *d = s->backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);
	int err;

	do
		err = sys->ioctl(sys, d->fd, number, arg);
	while (err == -EINTR);
	return err;
}

/* Results come through a pointer in memory, whose address is the argument. */
static int send_array_request(struct pfm_session *s, uint32_t number, void *array)
{
	uint64_t pointer = (uint64_t)(uintptr_t)array;

	return pfmi_device_send_request(s, number, &pointer);
}

/* The requests that belong to @when, in order. */
static int send_requests_of_phase(struct pfm_session *s, unsigned when)
{
	struct device_state *d = s->backend_state;

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

/* ---- what to count ------------------------------------------------------------------------- */

static void fail_device_count(struct session_count *c, pfm_cause_t cause, int err, const char *why,
                              const char *remedy)
{
	if (!c->status.cause)
		pfmi_session_fail_count(c, cause, err, remedy, "%s", why);
}

static void fail_all_counts(struct pfm_session *s, pfm_cause_t cause, int err, const char *why,
                            const char *remedy)
{
	for (unsigned i = 0; i < s->n_counts; i++)
		fail_device_count(&s->counts[i], cause, err, why, remedy);
}

/* A processor this device was made for. */
static bool is_alpha_count(const struct session_count *c)
{
	return pfmi_pmu_has_pfcntr(c->config.event.table);
}

/* The caller's settings, or what the session's flags mean here. */
static void choose_device_settings(const struct pfm_session *s, struct device_state *d)
{
	bool whole = s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	if (d->options.model) {
		d->encoder_input = *d->options.model;
		return;
	}
	d->encoder_input.pfp_alpha_scope = whole ? PFM_ALPHA_SCOPE_SYSTEM : PFM_ALPHA_SCOPE_PROCESS;
	d->encoder_input.pfp_alpha_open =
		s->options.flags & PFM_SESSION_PER_CPU ? PFM_ALPHA_OPEN_EACH : PFM_ALPHA_OPEN_ALL;
}

/* Targets that the device cannot tell apart. */
static void check_device_scope(struct pfm_session *s, const struct device_state *d)
{
	bool each = s->options.flags & PFM_SESSION_PER_CPU &&
	            d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_EACH;

	if (s->options.cgroup)
		fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                "the device cannot count control groups",
		                "count the whole system, or a process");
	else if (s->options.cpus && !each)
		fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                "the device counts all processors, together or each",
		                "count every processor, or omit the processor");
}

/* Events as placed so far: each text once, however many processors its counts are split over. */
struct device_event_set {
	struct event events[PFM_ALPHA_MAX_COUNTERS];
	unsigned requests[PFM_ALPHA_MAX_COUNTERS];
	unsigned n_events;
	struct placement placement;
};

static int solve_event_set(const struct pfm_session *s, struct device_state *d,
                           struct device_event_set *set, pfm_error_t *why)
{
	struct encode_request req = { .table = set->events[0].table,
		                      .events = set->events,
		                      .n_events = set->n_events,
		                      .plm = PFM_PLM0 | PFM_PLM3,
		                      .model_in = &d->encoder_input,
		                      .model_out = &d->encoder_output };
	struct register_values regs;

	(void)s;
	return pfmi_encode_dispatch(&req, &set->placement, &regs, why);
}

static int find_request_index(const struct device_event_set *set, unsigned number)
{
	for (unsigned i = 0; i < set->n_events; i++)
		if (set->requests[i] == number)
			return (int)i;
	return -1;
}

/* Adds events in the order of the caller as long as they fit together. */
static void choose_events(struct pfm_session *s, struct device_state *d,
                          struct device_event_set *set)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];
		pfm_error_t why = { .size = sizeof why };

		if (c->status.cause || find_request_index(set, c->config.request) >= 0)
			continue;
		if (!is_alpha_count(c) ||
		    (set->n_events && c->config.event.table != set->events[0].table)) {
			fail_device_count(c, PFM_CAUSE_NO_PMU, ENODEV,
			                  "the device counts events of one Alpha processor",
			                  "name events of the same one");
			continue;
		}
		if (c->config.event.exclude_flags) {
			fail_device_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
			                  "the device cannot exclude idle time, the host or guests",
			                  "omit the letters G, H and I");
			continue;
		}
		if (s->options.filters && s->options.filters[c->config.request]) {
			fail_device_count(
				c, PFM_CAUSE_ATTRIBUTE, EINVAL,
				"filters are for tracepoints: the device has no tracepoints",
				"omit the filter");
			continue;
		}
		if (s->sampling && set->n_events) {
			fail_device_count(c, PFM_CAUSE_GROUP, ENOSPC,
			                  "the profile does not record which counter interrupted: "
			                  "one event is sampled at a time",
			                  "sample it in a session of its own");
			continue;
		}
		if (set->n_events == PFM_ALPHA_MAX_COUNTERS) {
			fail_device_count(c, PFM_CAUSE_GROUP, ENOSPC, "all counters are taken",
			                  "count fewer events at a time");
			continue;
		}
		set->events[set->n_events] = c->config.event;
		set->requests[set->n_events++] = c->config.request;
		if (solve_event_set(s, d, set, &why)) {
			set->n_events--;
			if (why.kind == PFM_KIND_NO_PLACEMENT)
				fail_device_count(c, PFM_CAUSE_GROUP, ENOSPC,
				                  "it does not fit beside the events before it",
				                  "count fewer events at a time");
			else
				fail_device_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
				                  why.detail ? why.detail
				                             : "a setting does not apply to it",
				                  "");
		}
	}
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

/* Sends the session's system calls to the caller's device. */
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
		if (is_alpha_count(&s->counts[i]) &&
		    s->counts[i].config.event.table->libpfm_type != e->pmu)
			fail_device_count(&s->counts[i], PFM_CAUSE_NO_PMU, ENODEV,
			                  "the emulated device is that of another processor",
			                  "name an event of that processor");
	return PFMLIB_SUCCESS;
}

static unsigned count_processors(const struct device_state *d)
{
	long n = d->options.n_cpus ? (long)d->options.n_cpus : sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n > MAX_DEVICE_ENTRIES ? MAX_DEVICE_ENTRIES : (unsigned)n;
}

/* An open by the superuser takes the interrupt back from a tool that did not return it: the second
 * try then succeeds. */
static int open_device(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);
	const char *path = d->options.device ? d->options.device : PFCNTR_DEVICE;
	int fd = sys->open(sys, path, O_RDONLY | (int)d->encoder_output.open_flags);

	return fd == -EBUSY ? sys->open(sys, path, O_RDONLY | (int)d->encoder_output.open_flags)
	                    : fd;
}

/* Records why the device could not be opened, for every count. */
static void explain_open_error(struct pfm_session *s, int err)
{
	const struct device_state *d = s->backend_state;

	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		fail_all_counts(s, PFM_CAUSE_NO_KERNEL, -err,
		                "this system has no counter device (/dev/pfcntr)",
		                "on Tru64 UNIX configure it: sysconfig -c pfm; elsewhere run the "
		                "program under pfm alpha device");
		break;
	case -ENOTDIR:
	case -ELOOP:
		fail_all_counts(s, PFM_CAUSE_NO_KERNEL, -err,
		                "this system interprets the mode of open(2) as its own flags: "
		                "/dev/pfcntr is not the device of Tru64",
		                "run the program under pfm alpha device");
		break;
	case -EBUSY:
		fail_all_counts(
			s, PFM_CAUSE_BUSY, -err,
			"another process has the counter device, or did not give the counter "
			"interrupt back",
			"wait for it; if no program uses the counters, run this once as superuser");
		break;
	case -EPERM:
	case -EACCES:
		fail_all_counts(s, PFM_CAUSE_PERMISSION, -err,
		                "the counter device may not be opened",
		                "request read permission for it");
		break;
	default:
		if (d->encoder_output.open_flags == PCNTOPENONE)
			fail_all_counts(s, PFM_CAUSE_NO_CPU, -err,
			                "this process is not bound to one processor",
			                "bind it (bind_to_cpu) before counting");
		else
			fail_all_counts(s, PFM_CAUSE_OTHER, -err,
			                "the counter device cannot be opened", "");
	}
}

static void explain_setup_error(struct pfm_session *s, int err)
{
	const struct device_state *d = s->backend_state;

	if (d->encoder_output.privileged && (err == -EPERM || err == -EACCES || err == -EINVAL))
		fail_all_counts(s, PFM_CAUSE_PERMISSION, -err,
		                "an interrupt every 256 events needs superuser privilege",
		                "use the slow rate");
	else if (err == -ENOMEM)
		fail_all_counts(s, PFM_CAUSE_MEMORY, -err,
		                "the device has no memory for so many samples",
		                "use a smaller range or a longer stride");
	else
		fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, -err, "the device refuses a setting", "");
}

static void close_device(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
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
		fail_device_count(&s->counts[i], PFM_CAUSE_ATTRIBUTE, EINVAL, why,
		                  "see pfm_device(3), section Samples");
	return why != NULL;
}

static void locate_counts(struct pfm_session *s, const struct device_event_set *set)
{
	struct device_state *d = s->backend_state;

	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];
		int at = c->status.cause ? -1 : find_request_index(set, c->config.request);

		d->locations[i] = (struct device_location){ -1, -1 };
		if (at < 0) {
			fail_device_count(c, PFM_CAUSE_GROUP, ENOSPC,
			                  "it does not fit beside the events before it",
			                  "count fewer events at a time");
			continue;
		}
		if (c->config.cpu >= 0) {
			d->locations[i].entry = c->config.cpu;
			if (d->locations[i].entry >= (int)d->n_entries) {
				fail_device_count(c, PFM_CAUSE_NO_CPU, ENODEV,
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
	struct device_state *d = s->backend_state;

	if (!d->n_cpus)
		d->n_cpus = count_processors(d);
	d->n_entries = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_EACH ? d->n_cpus : 1;
	d->entries = calloc(d->n_entries, sizeof *d->entries);
	d->locations = calloc(s->n_counts, sizeof *d->locations);
	return d->entries && d->locations ? PFMLIB_SUCCESS : pfmi_base_set_no_memory_error(why);
}

static void copy_device_options(const struct pfm_session *s, struct device_state *d)
{
	/* ignored if its size is not set */
	(void)base_copy_struct_in(&d->options, sizeof d->options, s->options.backend_options);
}

/* The device can mark this process and its children, and no other process. */
static bool is_foreign_process(const struct pfm_session *s, const struct device_state *d)
{
	return !d->is_emulated && s->options.pid > 0 && s->options.pid != getpid() &&
	       d->encoder_input.pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS;
}

static int start_device_counting(struct pfm_session *s);

static int open_and_set_up_device(struct pfm_session *s, struct device_event_set *set)
{
	struct device_state *d = s->backend_state;
	int err;

	if (is_foreign_process(s, d)) {
		fail_all_counts(
			s, PFM_CAUSE_NO_PROCESS, ESRCH,
			"the device counts this process and its children, or the whole system",
			"count the whole system, or start the program from the process that "
			"counts");
		return PFMLIB_SUCCESS;
	}
	if (s->sampling)
		s->device_sampling_ops->set_event(d);
	/* the last event tried may have been one too many */
	(void)solve_event_set(s, d, set, NULL);
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
	locate_counts(s, set);
	err = s->sampling ? s->device_sampling_ops->open(s) : PFMLIB_SUCCESS;
	if (err)
		return err;
	/* There is no way to begin with a program: begin now. */
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
	s->backend_state = d;
	d->fd = -1;
	copy_device_options(s, d);
	choose_device_settings(s, d);
	check_device_scope(s, d);
	if (d->options.emulator)
		rc = use_emulator(s, d, why);
	if (rc == PFMLIB_SUCCESS && s->sampling && s->device_sampling_ops->prepare(s))
		rc = pfmi_base_set_no_memory_error(why);
	if (rc == PFMLIB_SUCCESS)
		rc = alloc_entries(s, why);
	if (rc)
		return rc;
	choose_events(s, d, &set);
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

/* The first start is the one that was worked out. Later ones must not zero what the counters hold,
 * nor load them anew. */
static int restart_device(struct pfm_session *s)
{
	const struct device_state *d = s->backend_state;
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
	struct device_state *d = s->backend_state;
	int err;

	if (!d || d->fd < 0 || d->started_at)
		return PFMLIB_SUCCESS;
	/* what the counters hold now is not ours */
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
	struct device_state *d = s->backend_state;
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

int pfmi_device_fetch_counts(struct pfm_session *s, uint32_t number,
                             uint64_t counts[][PFM_ALPHA_MAX_COUNTERS])
{
	struct device_state *d = s->backend_state;
	unsigned n = pfm_alpha_num_counters(d->pmu_type),
		 first = d->pmu_type == PFMLIB_ALPHA_EV4_PMU ? 0 : 1;
	uint64_t words[MAX_DEVICE_ENTRIES * (PFM_ALPHA_MAX_COUNTERS + 1)] = { 0 };
	int err = send_array_request(s, number, words);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++) {
		const uint64_t *entry = words + e * (n + 1);

		for (unsigned c = 0; c < n; c++)
			counts[e][c] = entry[c + first];
		d->entries[e].cycles = entry[first ? 0 : n];
	}
	return err;
}

/* True if every counter in use interrupts when it is full: then the device's sum of interrupts and
 * values is right. */
static bool has_full_rates(const struct device_state *d)
{
	for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++)
		if ((d->encoder_output.counters >> c & 1) &&
		    d->encoder_output.rates[c] != pfm_alpha_rate(d->pmu_type, c, 0))
			return false;
	return true;
}

/* Reads what the counters of the chip hold beyond the last interrupt, one processor after the
 * other. */
static int add_counter_values(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
	bool one = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_ONE;

	for (unsigned cpu = 0; cpu < (one ? 1 : d->n_cpus); cpu++) {
		uint64_t values[PFM_ALPHA_MAX_COUNTERS] = { 0 };
		uint64_t word = PF5_CTRS(d->encoder_output.counters,
		                         one ? (unsigned)d->options.bind : cpu, 0, 0, 0);
		int err = pfmi_device_send_request(s, PCNT5GETCNTRS, &word);

		if (err < 0)
			return err;
		(void)pfm_alpha_split_counter_word(d->pmu_type, word, NULL, NULL, values);
		for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
			if (d->encoder_output.rates[c])
				d->entries[d->n_entries > 1 ? cpu : 0].events[c] +=
					values[c] % d->encoder_output.rates[c];
	}
	return 0;
}

static int read_interrupts(struct pfm_session *s, uint32_t number)
{
	struct device_state *d = s->backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_fetch_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++)
			d->entries[e].events[c] =
				pfm_alpha_events(counts[e][c], d->encoder_output.rates[c]);
	return err;
}

/* Interrupts and values in one: less the start values, which are no events. */
static int read_counter_values(struct pfm_session *s, uint32_t number)
{
	struct device_state *d = s->backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS],
		cpus = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_ALL ? d->n_cpus : 1;
	int err = pfmi_device_fetch_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++) {
			uint64_t start = 0, period = d->encoder_output.rates[c];

			if (d->has_started && period && number == PCNT6READCNTRS)
				(void)pfm_alpha_start_value(pfm_alpha_counter_width(d->pmu_type, c),
				                            period, &start);
			d->entries[e].events[c] =
				counts[e][c] < start * cpus ? 0 : counts[e][c] - start * cpus;
		}
	return err;
}

/* Stores the two numbers of a ProfileMe statistic in place of the counters. */
static int read_statistic_pair(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_fetch_counts(s, PCNT6GETCNT, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		memcpy(d->entries[e].events, counts[e], 2 * sizeof counts[e][0]);
	return err;
}

int pfmi_device_read_entries(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
	int err;

	if (d->encoder_input.pfp_alpha_items && !(d->encoder_input.pfp_alpha_items & PFM_COUNTERS))
		return 0;
	switch (d->pmu_type) {
	case PFMLIB_ALPHA_EV4_PMU: return read_interrupts(s, PCNTGETCNT);
	case PFMLIB_ALPHA_EV5_PMU:
	case PFMLIB_ALPHA_PCA56_PMU:
		err = read_interrupts(s, PCNT5GETCNT);
		if (err < 0)
			return err;
		return has_full_rates(d) ? read_counter_values(s, PCNT5READCNTRS)
		                         : add_counter_values(s);
	default:
		if (d->encoder_output.statistic)
			return read_statistic_pair(s);
		return d->encoder_input.pfp_alpha_flags & PFM_ALPHA_FL_GETCNT
		               ? read_interrupts(s, PCNT6GETCNT)
		               : read_counter_values(s, PCNT6READCNTRS);
	}
}

static uint64_t count_since_reset(const struct device_state *d, const struct device_location *p)
{
	uint64_t sum = 0;

	for (unsigned e = 0; e < d->n_entries; e++)
		if (p->entry < 0 || p->entry == (int)e)
			sum += d->entries[e].events[p->counter] -
			       d->entries[e].reset_events[p->counter];
	return sum;
}

static int read_device_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	struct device_state *d = s->backend_state;
	uint64_t time;
	int err;

	s->is_all_exact = false;
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof counts[i], .quality = PFM_QUALITY_EXACT };
	/* before the first start the chip's counters hold what others left there */
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
		counts[i].raw = counts[i].value = count_since_reset(d, p);
		/* Counts of EV4 are interrupts: before the first one nothing is known, not even
		 * that nothing happened. */
		if (counts[i].raw != 0 || d->pmu_type != PFMLIB_ALPHA_EV4_PMU)
			counts[i].enabled = counts[i].running = time;
	}
	return PFMLIB_SUCCESS;
}

/* Zero is where we say it is: the device's counts go on. */
static int reset_device_counts(struct pfm_session *s)
{
	struct device_state *d = s->backend_state;
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
	struct device_state *d = s->backend_state;

	if (!d)
		return;
	if (s->sampling)
		s->device_sampling_ops->close(s);
	close_device(s);
	free(d->entries);
	free(d->locations);
	free(d);
	s->backend_state = NULL;
}

/* A model needs nothing of the system, and whether one is wanted is not known here: a request for
 * this backend by name, whose user needs the reason, gets it, and every count says what is missing.
 */
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

/* ---- what only this device has ------------------------------------------------------------- */

/* The device of a session that is open, or NULL. */
static struct device_state *get_open_device(const pfm_session_t *s)
{
	struct device_state *d = s && s->backend == &pfmi_device_backend ? s->backend_state : NULL;

	return d && d->fd >= 0 ? d : NULL;
}

int pfm_alpha_session_entries(const pfm_session_t *s)
{
	const struct device_state *d = get_open_device(s);

	return d ? (int)d->n_entries : PFMLIB_ERR_INVAL;
}

static int refresh_device_entry(pfm_session_t *s, unsigned entry, struct device_state **d)
{
	int err;

	*d = get_open_device(s);
	if (!*d || entry >= (*d)->n_entries)
		return PFMLIB_ERR_INVAL;
	err = (*d)->has_started ? pfmi_device_read_entries(s) : 0;
	return err < 0 ? pfmi_device_record_errno(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_count(pfm_session_t *s, unsigned entry, unsigned i, uint64_t *value)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !value || i >= s->n_counts || d->locations[i].counter < 0)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*value = count_since_reset(
		d, &(struct device_location){ d->locations[i].counter, (int)entry });
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_cycles(pfm_session_t *s, unsigned entry, uint64_t *cycles)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !cycles)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*cycles = d->entries[entry].cycles;
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_levels(pfm_session_t *s, unsigned entry, struct pfipls *out)
{
	struct device_state *d = get_open_device(s);
	struct pfipls levels[MAX_DEVICE_ENTRIES];
	int err;

	if (!d || !out || entry >= d->n_entries || !(d->encoder_input.pfp_alpha_items & PFM_IPL))
		return PFMLIB_ERR_INVAL;
	err = send_array_request(s, PCNTGETIPLHIS, levels);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	*out = levels[entry];
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_sample_bytes(pfm_session_t *s, uint64_t *bytes)
{
	int err;

	if (!get_open_device(s) || !bytes)
		return PFMLIB_ERR_INVAL;
	err = pfmi_device_send_request(s, PCNTGETRSIZE, bytes);
	return err < 0 ? pfmi_device_record_errno(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_samples(pfm_session_t *s, pfcntr_bucket_t *buckets, size_t n)
{
	const struct device_state *d = get_open_device(s);
	const struct sys *sys;
	long got;

	if (!d || !buckets || n > INT32_MAX / sizeof *buckets)
		return PFMLIB_ERR_INVAL;
	sys = pfmi_device_get_sys(s);
	got = sys->read(sys, d->fd, buckets, n * sizeof *buckets);
	return got < 0 ? pfmi_device_record_errno(s, (int)got)
	               : (int)((size_t)got / sizeof *buckets);
}

int pfm_alpha_session_pair(pfm_session_t *s, unsigned entry, uint64_t *statistic, uint64_t *retired)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !statistic || !retired || !d->encoder_output.statistic)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*statistic = d->entries[entry].events[0] - d->entries[entry].reset_events[0];
	*retired = d->entries[entry].events[1] - d->entries[entry].reset_events[1];
	return PFMLIB_SUCCESS;
}
