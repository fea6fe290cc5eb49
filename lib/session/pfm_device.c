/* SPDX-License-Identifier: MIT */
/* The conversation with the Tru64 UNIX counter device, /dev/pfcntr.
 *
 * All counts of a session are one set on one processor's counters: the device has no groups and shares nothing. Which requests it
 * takes, and in which order, the encoder has worked out; here they are issued, and what comes back is turned into events.
 * The device counts interrupts. Where the chip's counters can be read, what they hold on top of them is added. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "session/pfm_device.h"
#include "sampling/sampling.h"
#include "base/sizes.h"

static uint64_t now(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const struct sys *pfmi_device_system(const struct pfm_session *s)
{
	const struct device *d = s->state;

	return d->model.m ? &d->own : &s->sys;
}

int pfmi_device_failed(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EPERM || err == -EACCES ? PFMLIB_ERR_PERM : err == -EBUSY ? PFMLIB_ERR_BUSY
	                                                                         : PFMLIB_ERR_SYS;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

int pfmi_device_request(struct pfm_session *s, uint32_t number, void *arg)
{
	const struct device *d = s->state;
	const struct sys *sys = pfmi_device_system(s);
	int err;

	do
		err = sys->ioctl(sys, d->fd, number, arg);
	while (err == -EINTR);
	return err;
}

/* Results come through a pointer in memory, whose address is the argument. */
static int request_array(struct pfm_session *s, uint32_t number, void *array)
{
	uint64_t pointer = (uint64_t)(uintptr_t)array;

	return pfmi_device_request(s, number, &pointer);
}

/* The requests that belong to @when, in order. */
static int issue(struct pfm_session *s, unsigned when)
{
	struct device *d = s->state;

	for (unsigned i = 0; i < d->out.n_ioctls; i++) {
		pfmlib_alpha_ioctl_t *io = &d->out.ioctls[i];
		int err = io->when == when ? pfmi_device_request(s, io->request, io->n_words ? io->words : NULL) : 0;

		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- what to count ----------------------------------------------------------------------------------------------- */

static void give_up(struct counting *c, int cause, int err, const char *why, const char *remedy)
{
	if (!c->told.cause)
		pfmi_give_up(c, cause, err, remedy, "%s", why);
}

static void give_up_all(struct pfm_session *s, int cause, int err, const char *why, const char *remedy)
{
	for (unsigned i = 0; i < s->n; i++)
		give_up(&s->counts[i], cause, err, why, remedy);
}

/* A processor this device was made for. */
static bool is_alpha(const struct counting *c)
{
	return pfmi_has_pfcntr(c->asked.event.table);
}

/* The caller's settings, or what the session's flags mean here. */
static void choose_settings(const struct pfm_session *s, struct device *d)
{
	bool whole = s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	if (d->options.model) {
		d->in = *d->options.model;
		return;
	}
	d->in.pfp_alpha_scope = whole ? PFM_ALPHA_SCOPE_SYSTEM : PFM_ALPHA_SCOPE_PROCESS;
	d->in.pfp_alpha_open = s->options.flags & PFM_SESSION_PER_CPU ? PFM_ALPHA_OPEN_EACH : PFM_ALPHA_OPEN_ALL;
}

/* Whom the device cannot tell from others. */
static void refuse_scope(struct pfm_session *s, const struct device *d)
{
	bool each = s->options.flags & PFM_SESSION_PER_CPU && d->in.pfp_alpha_open == PFM_ALPHA_OPEN_EACH;

	if (s->options.cgroup)
		give_up_all(s, PFM_CAUSE_ATTRIBUTE, EINVAL, "the device knows no control groups", "count the whole system, or a process");
	else if (s->options.cpus && !each)
		give_up_all(s, PFM_CAUSE_ATTRIBUTE, EINVAL, "the device has one sum over all processors, or a count of each",
		            "ask for a count of each processor, or name none");
}

/* Events as placed so far: each text once, however many processors its counts are split over. */
struct set {
	struct event events[PFM_ALPHA_MAX_COUNTERS];
	unsigned request[PFM_ALPHA_MAX_COUNTERS];
	unsigned n;
	struct placement where;
};

static int place_set(const struct pfm_session *s, struct device *d, struct set *set, pfm_error_t *why)
{
	struct request req = { .table = set->events[0].table,
		               .events = set->events,
		               .n = set->n,
		               .plm = PFM_PLM0 | PFM_PLM3,
		               .model_in = &d->in,
		               .model_out = &d->out };
	struct regs regs;

	(void)s;
	return pfmi_dispatch(&req, &set->where, &regs, why);
}

static int find_request(const struct set *set, unsigned number)
{
	for (unsigned i = 0; i < set->n; i++)
		if (set->request[i] == number)
			return (int)i;
	return -1;
}

/* Takes events in the caller's order as long as they fit together. */
static void choose_events(struct pfm_session *s, struct device *d, struct set *set)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct counting *c = &s->counts[i];
		pfm_error_t why = { .size = sizeof why };

		if (c->told.cause || find_request(set, c->asked.request) >= 0)
			continue;
		if (!is_alpha(c) || (set->n && c->asked.event.table != set->events[0].table)) {
			give_up(c, PFM_CAUSE_NO_PMU, ENODEV, "the device counts events of one Alpha processor",
			        "name events of the same one");
			continue;
		}
		if (c->asked.event.left_out) {
			give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "the device cannot leave out idle time, the host or guests",
			        "leave the letters G, H and I away");
			continue;
		}
		if (s->options.filters && s->options.filters[c->asked.request]) {
			give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "a filter is for tracepoints, and the device has none", "leave the filter away");
			continue;
		}
		if (s->sampling && set->n) {
			give_up(c, PFM_CAUSE_GROUP, ENOSPC, "the profile does not say which counter interrupted: one event is sampled at a time",
			        "sample it in a session of its own");
			continue;
		}
		if (set->n == PFM_ALPHA_MAX_COUNTERS) {
			give_up(c, PFM_CAUSE_GROUP, ENOSPC, "all counters are taken", "count fewer events at a time");
			continue;
		}
		set->events[set->n] = c->asked.event;
		set->request[set->n++] = c->asked.request;
		if (place_set(s, d, set, &why)) {
			set->n--;
			if (why.kind == PFM_KIND_NO_PLACEMENT)
				give_up(c, PFM_CAUSE_GROUP, ENOSPC, "it does not fit beside the events before it",
				        "count fewer events at a time");
			else
				give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, why.detail ? why.detail : "a setting does not suit it", "");
		}
	}
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int no_memory(pfm_error_t *why)
{
	return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ NULL, 0 }, NULL);
}

static int start_model(struct pfm_session *s, struct device *d, pfm_error_t *why)
{
	struct model_options o;
	int family = pfmi_model_family(d->options.device_model), err = -ENOMEM;

	if (family < 0)
		return pfmi_refuse(why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, NULL, (struct slice){ NULL, 0 },
		                   "device_model is one of ev4, ev5, pca56, ev6, ev67");
	pfmi_model_defaults(&o, (enum model_family)family);
	o.n_cpus = d->options.n_cpus ? d->options.n_cpus : o.n_cpus;
	d->model.m = pfmi_model_new(&o);
	if (d->model.m)
		err = pfmi_model_process(d->model.m, MODEL_PID, (unsigned)d->options.uid, d->options.bind);
	if (err == -ENOMEM && o.n_cpus <= MODEL_MAX_CPUS)
		return no_memory(why);
	if (err)
		return pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, NULL, (struct slice){ NULL, 0 },
		                   "n_cpus or bind is out of range for the model");
	d->n_cpus = o.n_cpus;
	d->model.pid = MODEL_PID;
	d->model.cpu = (unsigned)d->options.bind;
	d->model.clock = now;
	d->model.text = MODEL_TEXT;
	d->model.text_end = MODEL_TEXT + MODEL_TEXT_SIZE;
	pfmi_model_sys(&d->own, &d->model);
	for (unsigned i = 0; i < s->n; i++)
		if (is_alpha(&s->counts[i]) && s->counts[i].asked.event.table->libpfm_type != PFMLIB_ALPHA_EV4_PMU + family)
			give_up(&s->counts[i], PFM_CAUSE_NO_PMU, ENODEV, "the model is of another processor", "name an event of that one");
	return PFMLIB_SUCCESS;
}

static unsigned count_processors(const struct device *d)
{
	long n = d->options.n_cpus ? (long)d->options.n_cpus : sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n > MAX_ENTRIES ? MAX_ENTRIES
	                                   : (unsigned)n;
}

/* An open by the superuser takes the interrupt back from a tool that did not return it: the second try then succeeds. */
static int open_device(struct pfm_session *s)
{
	struct device *d = s->state;
	const struct sys *sys = pfmi_device_system(s);
	const char *path = d->options.device ? d->options.device : PFCNTR_DEVICE;
	int fd = sys->open(sys, path, O_RDONLY | (int)d->out.open_flags);

	return fd == -EBUSY ? sys->open(sys, path, O_RDONLY | (int)d->out.open_flags) : fd;
}

/* What stood in the way of opening, for every count. */
static void explain_open(struct pfm_session *s, int err)
{
	const struct device *d = s->state;

	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		give_up_all(s, PFM_CAUSE_NO_KERNEL, -err, "this system has no counter device (/dev/pfcntr)",
		            "on Tru64 UNIX configure it: sysconfig -c pfm; elsewhere use a model of it");
		break;
	case -ENOTDIR:
	case -ELOOP:
		give_up_all(s, PFM_CAUSE_NO_KERNEL, -err,
		            "this system takes the mode of the open for flags of its own: /dev/pfcntr is not Tru64's",
		            "run the program below pfm device, or use a model");
		break;
	case -EBUSY:
		give_up_all(s, PFM_CAUSE_BUSY, -err, "another process has the counter device, or did not give the counter interrupt back",
		            "wait for it; if nobody uses the counters, run this once as superuser");
		break;
	case -EPERM:
	case -EACCES:
		give_up_all(s, PFM_CAUSE_PERMISSION, -err, "the counter device may not be opened", "ask for read permission on it");
		break;
	default:
		if (d->out.open_flags == PCNTOPENONE)
			give_up_all(s, PFM_CAUSE_NO_CPU, -err, "this process is not bound to one processor",
			            "bind it (bind_to_cpu) before counting");
		else
			give_up_all(s, PFM_CAUSE_OTHER, -err, "the counter device cannot be opened", "");
	}
}

static void explain_setup(struct pfm_session *s, int err)
{
	const struct device *d = s->state;

	if (d->out.privileged && (err == -EPERM || err == -EACCES || err == -EINVAL))
		give_up_all(s, PFM_CAUSE_PERMISSION, -err, "an interrupt every 256 events needs superuser privilege", "take the slow rate");
	else if (err == -ENOMEM)
		give_up_all(s, PFM_CAUSE_MEMORY, -err, "the device has no memory for so many samples",
		            "take a smaller range or a longer stride");
	else
		give_up_all(s, PFM_CAUSE_ATTRIBUTE, -err, "the device refuses a setting", "");
}

static void close_device(struct pfm_session *s)
{
	struct device *d = s->state;
	const struct sys *sys = pfmi_device_system(s);

	if (d->fd >= 0)
		(void)sys->close(sys, d->fd);
	d->fd = -1;
}

/* True if count @i, which has got its counter, cannot be sampled. */
static bool cannot_sample(struct pfm_session *s, unsigned i)
{
	const char *why = s->sampling ? pfmi_device_sampling_refuses(s, i) : NULL;

	if (why)
		give_up(&s->counts[i], PFM_CAUSE_ATTRIBUTE, EINVAL, why, "see pfm_device(3), section Samples");
	return why != NULL;
}

static void find_places(struct pfm_session *s, const struct set *set)
{
	struct device *d = s->state;

	for (unsigned i = 0; i < s->n; i++) {
		struct counting *c = &s->counts[i];
		int at = c->told.cause ? -1 : find_request(set, c->asked.request);

		d->places[i] = (struct device_place){ -1, -1 };
		if (at < 0) {
			give_up(c, PFM_CAUSE_GROUP, ENOSPC, "it does not fit beside the events before it", "count fewer events at a time");
			continue;
		}
		if (c->asked.cpu >= 0) {
			d->places[i].entry = c->asked.cpu;
			if (d->places[i].entry >= (int)d->n_entries) {
				give_up(c, PFM_CAUSE_NO_CPU, ENODEV, "the device has no such processor", "");
				continue;
			}
		}
		d->places[i].counter = set->where.counter[at];
		if (cannot_sample(s, i)) {
			d->places[i].counter = -1;
			continue;
		}
		c->opened.n_parts = c->opened.n_open = 1;
	}
}

static int make_room(struct pfm_session *s, pfm_error_t *why)
{
	struct device *d = s->state;

	if (!d->n_cpus)
		d->n_cpus = count_processors(d);
	d->n_entries = d->in.pfp_alpha_open == PFM_ALPHA_OPEN_EACH ? d->n_cpus : 1;
	d->entries = calloc(d->n_entries, sizeof *d->entries);
	d->places = calloc(s->n, sizeof *d->places);
	return d->entries && d->places ? PFMLIB_SUCCESS : no_memory(why);
}

static void copy_options(const struct pfm_session *s, struct device *d)
{
	(void)pfmi_take(&d->options, sizeof d->options, s->options.backend_options); /* one without its size is none */
}

/* The device can mark this process and its children, and nobody else. */
static bool foreign_process(const struct pfm_session *s, const struct device *d)
{
	return !d->model.m && s->options.pid > 0 && s->options.pid != getpid() && d->in.pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS;
}

static int pfm_start(struct pfm_session *s);

static int open_and_set(struct pfm_session *s, struct set *set)
{
	struct device *d = s->state;
	int err;

	if (foreign_process(s, d)) {
		give_up_all(s, PFM_CAUSE_NO_PROCESS, ESRCH, "the device counts this process and its children, or the whole system",
		            "count the whole system, or start the program from the process that counts");
		return PFMLIB_SUCCESS;
	}
	if (s->sampling)
		pfmi_device_sampling_settle(d);
	(void)place_set(s, d, set, NULL); /* the last event tried may have been one too many */
	d->fd = open_device(s);
	if (d->fd < 0) {
		explain_open(s, d->fd);
		return PFMLIB_SUCCESS;
	}
	err = issue(s, PFM_ALPHA_SETUP);
	if (err < 0) {
		close_device(s);
		explain_setup(s, err);
		return PFMLIB_SUCCESS;
	}
	find_places(s, set);
	err = s->sampling ? pfmi_device_sampling_open(s) : PFMLIB_SUCCESS;
	if (err)
		return err;
	/* There is no way to begin with a program: begin now. */
	return s->options.flags & PFM_SESSION_ENABLE_ON_EXEC ? pfm_start(s) : PFMLIB_SUCCESS;
}

static int pfm_program(struct pfm_session *s, pfm_error_t *why)
{
	struct device *d = calloc(1, sizeof *d);
	struct set set = { .n = 0 };
	int rc = PFMLIB_SUCCESS;

	if (!d)
		return no_memory(why);
	s->state = d;
	d->fd = -1;
	copy_options(s, d);
	choose_settings(s, d);
	refuse_scope(s, d);
	if (d->options.device_model)
		rc = start_model(s, d, why);
	if (rc == PFMLIB_SUCCESS && s->sampling && pfmi_device_sampling_begin(s))
		rc = no_memory(why);
	if (rc == PFMLIB_SUCCESS)
		rc = make_room(s, why);
	if (rc)
		return rc;
	choose_events(s, d, &set);
	if (!set.n)
		return PFMLIB_SUCCESS;
	d->pmu = set.events[0].table->libpfm_type;
	rc = open_and_set(s, &set);
	if (rc)
		rc = rc == PFMLIB_ERR_NOMEM ? no_memory(why) : pfmi_refuse_errno(why, rc, s->sys_errno, "the device cannot be set up");
	return rc;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* The first start is the one that was worked out. Later ones must not zero what the counters hold, nor load them anew. */
static int start_again(struct pfm_session *s)
{
	const struct device *d = s->state;
	uint64_t word;

	switch (d->pmu) {
	case PFMLIB_ALPHA_EV4_PMU:
		return pfmi_device_request(s, PCNTRENABLE, NULL);
	case PFMLIB_ALPHA_EV5_PMU:
	case PFMLIB_ALPHA_PCA56_PMU:
		word = PF5_CTRS(d->out.counters, PMCTRS_ALL_CPUS, 0, 0, 0);
		return pfmi_device_request(s, PCNT5ENABLE, &word);
	default:
		word = PF6_CTRS(d->out.counters, PMCTRS_ALL_CPUS, 0, 0);
		return pfmi_device_request(s, PCNT6ENABLE, &word);
	}
}

static void set_base(struct device *d)
{
	for (unsigned e = 0; e < d->n_entries; e++)
		memcpy(d->entries[e].base, d->entries[e].events, sizeof d->entries[e].base);
}

static int pfm_start(struct pfm_session *s)
{
	struct device *d = s->state;
	int err;

	if (!d || d->fd < 0 || d->since)
		return PFMLIB_SUCCESS;
	if (!d->armed && (d->in.pfp_alpha_flags & PFM_ALPHA_FL_KEEP)) { /* what the counters hold now is not ours */
		err = pfmi_device_read(s);
		if (err < 0)
			return pfmi_device_failed(s, err);
		set_base(d);
	}
	err = d->armed ? start_again(s) : issue(s, PFM_ALPHA_START);
	if (err < 0)
		return pfmi_device_failed(s, err);
	d->armed = true;
	d->since = now(NULL);
	return PFMLIB_SUCCESS;
}

static int pfm_stop(struct pfm_session *s)
{
	struct device *d = s->state;
	int err;

	if (!d || d->fd < 0 || !d->since)
		return PFMLIB_SUCCESS;
	err = issue(s, PFM_ALPHA_STOP);
	if (err < 0)
		return pfmi_device_failed(s, err);
	d->enabled += now(NULL) - d->since;
	d->since = 0;
	return PFMLIB_SUCCESS;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int pfmi_device_counts(struct pfm_session *s, uint32_t number, uint64_t counts[][PFM_ALPHA_MAX_COUNTERS])
{
	struct device *d = s->state;
	unsigned n = pfm_alpha_num_counters(d->pmu), first = d->pmu == PFMLIB_ALPHA_EV4_PMU ? 0 : 1;
	uint64_t words[MAX_ENTRIES * (PFM_ALPHA_MAX_COUNTERS + 1)] = { 0 };
	int err = request_array(s, number, words);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++) {
		const uint64_t *entry = words + e * (n + 1);

		for (unsigned c = 0; c < n; c++)
			counts[e][c] = entry[c + first];
		d->entries[e].cycles = entry[first ? 0 : n];
	}
	return err;
}

/* True if every counter in use interrupts when it is full: then the device's sum of interrupts and values is right. */
static bool full_rates(const struct device *d)
{
	for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu); c++)
		if ((d->out.counters >> c & 1) && d->out.rates[c] != pfm_alpha_rate(d->pmu, c, 0))
			return false;
	return true;
}

/* What the chip's counters hold beyond the last interrupt, one processor after the other. */
static int add_values(struct pfm_session *s)
{
	struct device *d = s->state;
	bool one = d->in.pfp_alpha_open == PFM_ALPHA_OPEN_ONE;

	for (unsigned cpu = 0; cpu < (one ? 1 : d->n_cpus); cpu++) {
		uint64_t values[PFM_ALPHA_MAX_COUNTERS] = { 0 };
		uint64_t word = PF5_CTRS(d->out.counters, one ? (unsigned)d->options.bind : cpu, 0, 0, 0);
		int err = pfmi_device_request(s, PCNT5GETCNTRS, &word);

		if (err < 0)
			return err;
		(void)pfm_alpha_split_counter_word(d->pmu, word, NULL, NULL, values);
		for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
			if (d->out.rates[c])
				d->entries[d->n_entries > 1 ? cpu : 0].events[c] += values[c] % d->out.rates[c];
	}
	return 0;
}

static int read_interrupts(struct pfm_session *s, uint32_t number)
{
	struct device *d = s->state;
	uint64_t counts[MAX_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu); c++)
			d->entries[e].events[c] = pfm_alpha_events(counts[e][c], d->out.rates[c]);
	return err;
}

/* Interrupts and values in one: less the start values, which are no events. */
static int read_events(struct pfm_session *s, uint32_t number)
{
	struct device *d = s->state;
	uint64_t counts[MAX_ENTRIES][PFM_ALPHA_MAX_COUNTERS], cpus = d->in.pfp_alpha_open == PFM_ALPHA_OPEN_ALL ? d->n_cpus : 1;
	int err = pfmi_device_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu); c++) {
			uint64_t start = 0, period = d->out.rates[c];

			if (d->armed && period && number == PCNT6READCNTRS)
				(void)pfm_alpha_start_value(pfm_alpha_counter_width(d->pmu, c), period, &start);
			d->entries[e].events[c] = counts[e][c] < start * cpus ? 0 : counts[e][c] - start * cpus;
		}
	return err;
}

/* As the statistic of ProfileMe comes back: two numbers where the counters' are. */
static int read_pair(struct pfm_session *s)
{
	struct device *d = s->state;
	uint64_t counts[MAX_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_counts(s, PCNT6GETCNT, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		memcpy(d->entries[e].events, counts[e], 2 * sizeof counts[e][0]);
	return err;
}

int pfmi_device_read(struct pfm_session *s)
{
	struct device *d = s->state;
	int err;

	if (d->in.pfp_alpha_items && !(d->in.pfp_alpha_items & PFM_COUNTERS))
		return 0;
	switch (d->pmu) {
	case PFMLIB_ALPHA_EV4_PMU:
		return read_interrupts(s, PCNTGETCNT);
	case PFMLIB_ALPHA_EV5_PMU:
	case PFMLIB_ALPHA_PCA56_PMU:
		err = read_interrupts(s, PCNT5GETCNT);
		if (err < 0)
			return err;
		return full_rates(d) ? read_events(s, PCNT5READCNTRS) : add_values(s);
	default:
		if (d->out.statistic)
			return read_pair(s);
		return d->in.pfp_alpha_flags & PFM_ALPHA_FL_GETCNT ? read_interrupts(s, PCNT6GETCNT) : read_events(s, PCNT6READCNTRS);
	}
}

static uint64_t since_reset(const struct device *d, const struct device_place *p)
{
	uint64_t sum = 0;

	for (unsigned e = 0; e < d->n_entries; e++)
		if (p->entry < 0 || p->entry == (int)e)
			sum += d->entries[e].events[p->counter] - d->entries[e].base[p->counter];
	return sum;
}

static int pfm_read(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	struct device *d = s->state;
	uint64_t time;
	int err;

	s->clear = false;
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof counts[i], .quality = PFM_QUALITY_EXACT };
	if (!d || d->fd < 0 || !d->armed) /* before the first start the chip's counters hold what others left there */
		return PFMLIB_SUCCESS;
	err = pfmi_device_read(s);
	if (err < 0)
		return pfmi_device_failed(s, err);
	time = d->enabled + (d->since ? now(NULL) - d->since : 0);
	for (unsigned i = 0; i < n; i++) {
		const struct device_place *p = &d->places[i];

		if (p->counter < 0)
			continue;
		counts[i].raw = counts[i].value = since_reset(d, p);
		/* Counts of EV4 are interrupts: before the first one nothing is known, not even that nothing happened. */
		if (counts[i].raw != 0 || d->pmu != PFMLIB_ALPHA_EV4_PMU)
			counts[i].enabled = counts[i].running = time;
	}
	return PFMLIB_SUCCESS;
}

/* Zero is where we say it is: the device's counts go on. */
static int pfm_reset(struct pfm_session *s)
{
	struct device *d = s->state;
	int err;

	if (!d || d->fd < 0 || !d->armed)
		return PFMLIB_SUCCESS;
	err = pfmi_device_read(s);
	if (err < 0)
		return pfmi_device_failed(s, err);
	set_base(d);
	d->enabled = 0;
	d->since = d->since ? now(NULL) : 0;
	return PFMLIB_SUCCESS;
}

static void pfm_close(struct pfm_session *s)
{
	struct device *d = s->state;

	if (!d)
		return;
	pfmi_device_sampling_close(s);
	close_device(s);
	pfmi_model_free(d->model.m);
	free(d->entries);
	free(d->places);
	free(d);
	s->state = NULL;
}

/* A model needs nothing of the system, and whether one is wanted is not known here: who asks for this backend by name (and
 * wants to hear why not) gets it, and every count says what is missing. */
static int pfm_probe(const struct sys *sys, pfm_error_t *why)
{
	int fd;

	if (why)
		return PFMLIB_SUCCESS;
	fd = sys->open(sys, PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL);
	if (fd >= 0)
		(void)sys->close(sys, fd);
	return fd >= 0 || fd == -EBUSY ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

const struct backend pfmi_backend_pfm_device = {
	.name = "pfm_device",
	.any_processor = true,
	.probe = pfm_probe,
	.program = pfm_program,
	.start = pfm_start,
	.stop = pfm_stop,
	.reset = pfm_reset,
	.read = pfm_read,
	.next_sample = pfmi_device_next_sample,
	.wait = pfmi_device_wait,
	.outside = pfmi_device_outside,
	.close = pfm_close,
};

/* ---- what only this device has ----------------------------------------------------------------------------------- */

/* The device behind a session that is open, or NULL. */
static struct device *device_of(const pfm_session_t *s)
{
	struct device *d = s && s->backend == &pfmi_backend_pfm_device ? s->state : NULL;

	return d && d->fd >= 0 ? d : NULL;
}

int pfm_alpha_session_entries(const pfm_session_t *s)
{
	const struct device *d = device_of(s);

	return d ? (int)d->n_entries : PFMLIB_ERR_INVAL;
}

static int refresh(pfm_session_t *s, unsigned entry, struct device **d)
{
	int err;

	*d = device_of(s);
	if (!*d || entry >= (*d)->n_entries)
		return PFMLIB_ERR_INVAL;
	err = (*d)->armed ? pfmi_device_read(s) : 0;
	return err < 0 ? pfmi_device_failed(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_count(pfm_session_t *s, unsigned entry, unsigned i, uint64_t *value)
{
	struct device *d;
	int rc = refresh(s, entry, &d);

	if (rc || !value || i >= s->n || d->places[i].counter < 0)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*value = since_reset(d, &(struct device_place){ d->places[i].counter, (int)entry });
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_cycles(pfm_session_t *s, unsigned entry, uint64_t *cycles)
{
	struct device *d;
	int rc = refresh(s, entry, &d);

	if (rc || !cycles)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*cycles = d->entries[entry].cycles;
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_levels(pfm_session_t *s, unsigned entry, struct pfipls *out)
{
	struct device *d = device_of(s);
	struct pfipls levels[MAX_ENTRIES];
	int err;

	if (!d || !out || entry >= d->n_entries || !(d->in.pfp_alpha_items & PFM_IPL))
		return PFMLIB_ERR_INVAL;
	err = request_array(s, PCNTGETIPLHIS, levels);
	if (err < 0)
		return pfmi_device_failed(s, err);
	*out = levels[entry];
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_sample_bytes(pfm_session_t *s, uint64_t *bytes)
{
	int err;

	if (!device_of(s) || !bytes)
		return PFMLIB_ERR_INVAL;
	err = pfmi_device_request(s, PCNTGETRSIZE, bytes);
	return err < 0 ? pfmi_device_failed(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_samples(pfm_session_t *s, pfcntr_bucket_t *buckets, size_t n)
{
	const struct device *d = device_of(s);
	const struct sys *sys;
	long got;

	if (!d || !buckets || n > INT32_MAX / sizeof *buckets)
		return PFMLIB_ERR_INVAL;
	sys = pfmi_device_system(s);
	got = sys->read(sys, d->fd, buckets, n * sizeof *buckets);
	return got < 0 ? pfmi_device_failed(s, (int)got) : (int)((size_t)got / sizeof *buckets);
}

int pfm_alpha_session_pair(pfm_session_t *s, unsigned entry, uint64_t *statistic, uint64_t *retired)
{
	struct device *d;
	int rc = refresh(s, entry, &d);

	if (rc || !statistic || !retired || !d->out.statistic)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*statistic = d->entries[entry].events[0] - d->entries[entry].base[0];
	*retired = d->entries[entry].events[1] - d->entries[entry].base[1];
	return PFMLIB_SUCCESS;
}
