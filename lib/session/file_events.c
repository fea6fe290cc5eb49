/* SPDX-License-Identifier: MIT */
/* Events whose values are files, such as sensors. For the perf_event backend they are perf events
 * of a system that reads the file instead: opening gives the number of an entry here, reading gives
 * the number in the file with the time since the event was enabled. All other calls go to the
 * session's own system. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"

/* numbers no file has, and a dry run does not give either */
#define FIRST_FILE_EVENT 2000000

/* An event that is open. */
struct file_event {
	const char *path;                          /* NULL: closed */
	int leader;                                /* entry of its leader; its own if it leads */
	uint64_t read_format, enabled_since, time; /* enabled_since 0: disabled */
};

struct file_event_system {
	struct sys real_sys;
	const struct kernel_info *kernel;
	struct file_event *events;
	unsigned n_events, capacity;
};

static struct file_event_system *get_system(const struct sys *sys)
{
	return sys->arg;
}

static struct file_event *find_event(const struct sys *sys, int fd)
{
	struct file_event_system *f = get_system(sys);
	unsigned i = (unsigned)fd - FIRST_FILE_EVENT;

	return fd >= FIRST_FILE_EVENT && i < f->n_events && f->events[i].path ? &f->events[i]
	                                                                      : NULL;
}

/* ---- calls that are passed on ---------------------------------------------------------------- */

static int forward_open(const struct sys *sys, const char *path, int flags)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->open(real, path, flags);
}

static int forward_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return find_event(sys, fd) ? -ENODEV : real->mmap(real, fd, len, writable, out);
}

static int forward_munmap(const struct sys *sys, void *at, size_t len)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->munmap(real, at, len);
}

static uint64_t forward_get_time(const struct sys *sys)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->get_time(real);
}

static int forward_poll(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->poll(real, fds, n, timeout);
}

static int forward_list_folder(const struct sys *sys, const char *path,
                               int (*each)(void *arg, const char *name), void *arg)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->list_folder(real, path, each, arg);
}

static int forward_get_process_time(const struct sys *sys, int pid, uint64_t *ns)
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->get_process_time(real, pid, ns);
}

static bool forward_read_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                               uint32_t regs[4])
{
	const struct sys *real = &get_system(sys)->real_sys;

	return real->read_cpuid(real, leaf, subleaf, regs);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The file of the event that @attr asks for; NULL if it is not one of a file. */
static const char *find_path(const struct file_event_system *f, const struct perf_event_attr *attr)
{
	for (unsigned i = 0; i < f->kernel->n_pmus; i++) {
		const struct kernel_pmu *pmu = &f->kernel->pmus[i];

		if (pmu->files && (uint32_t)pmu->instance_types[0] == attr->type)
			return attr->config < pmu->n_files ? pmu->files[attr->config] : NULL;
	}
	return NULL;
}

static int read_value(const struct sys *sys, const char *path, uint64_t *value)
{
	return pfmi_machine_read_number(&get_system(sys)->real_sys, path, value);
}

static int open_file_event(const struct sys *sys, const struct perf_event_attr *attr, int group,
                           const char *path)
{
	struct file_event_system *f = get_system(sys);
	uint64_t value;
	int rc = read_value(sys, path, &value);

	if (attr->sample_period)
		return -EOPNOTSUPP;
	if (rc == -ENOENT || rc == -EACCES || rc == -ENOMEM)
		return rc;
	if (group >= 0 && !find_event(sys, group))
		return -EINVAL;
	if (f->n_events == f->capacity) {
		unsigned room = f->capacity * 2 + 8;
		struct file_event *more = realloc(f->events, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->events = more;
		f->capacity = room;
	}
	f->events[f->n_events] = (struct file_event){
		.path = path,
		.leader = group < 0 ? (int)f->n_events : group - FIRST_FILE_EVENT,
		.read_format = attr->read_format,
		.enabled_since = attr->disabled ? 0 : forward_get_time(sys) + 1,
	};
	return FIRST_FILE_EVENT + (int)f->n_events++;
}

static int open_event(const struct sys *sys, struct perf_event_attr *attr, int pid, int cpu,
                      int group, unsigned long flags)
{
	const struct file_event_system *f = get_system(sys);
	const char *path = find_path(f, attr);

	if (path)
		return open_file_event(sys, attr, group, path);
	if (attr->type >= FILE_PMU_TYPE && attr->type - FILE_PMU_TYPE < f->kernel->n_pmus)
		return -ENOENT;
	return find_event(sys, group)
	               ? -EINVAL
	               : f->real_sys.perf_event_open(&f->real_sys, attr, pid, cpu, group, flags);
}

static uint64_t get_enabled_time(const struct sys *sys, const struct file_event *e)
{
	/* A clock of slow ticks may stand still: an event that is enabled has counted. */
	return e->time + (e->enabled_since ? forward_get_time(sys) + 2 - e->enabled_since : 0);
}

/* Reads a leader with its members: their number, the two times, the values. */
static long read_group(const struct sys *sys, const struct file_event *lead, uint64_t *out,
                       size_t n)
{
	const struct file_event_system *f = get_system(sys);
	size_t at = 3;

	if (n < 4 * sizeof(*out))
		return -ENOSPC;
	out[0] = 0;
	out[1] = out[2] = get_enabled_time(sys, lead);
	for (unsigned i = 0; i < f->n_events; i++) {
		const struct file_event *e = &f->events[i];

		if (!e->path || &f->events[e->leader] != lead)
			continue;
		if ((at + 1) * sizeof(*out) > n)
			return -ENOSPC;
		if (read_value(sys, e->path, &out[at++]))
			return 0;
		out[0]++;
	}
	return (long)(at * sizeof(*out));
}

/* Reads nothing, as from an event without a counter, if the file cannot be read, or holds a
 * negative number. */
static long read_event(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct sys *real = &get_system(sys)->real_sys;
	const struct file_event *e = find_event(sys, fd);
	uint64_t *out = buf;

	if (!e)
		return real->read(real, fd, buf, n);
	if (e->read_format & PERF_FORMAT_GROUP)
		return read_group(sys, e, out, n);
	if (n < 3 * sizeof(*out))
		return -ENOSPC;
	out[1] = out[2] = get_enabled_time(sys, &get_system(sys)->events[e->leader]);
	return read_value(sys, e->path, &out[0]) ? 0 : (long)(3 * sizeof(*out));
}

static int control_event(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	const struct sys *real = &get_system(sys)->real_sys;
	struct file_event *e = find_event(sys, fd);

	if (!e)
		return real->ioctl(real, fd, request, arg);
	if (request == PERF_EVENT_IOC_DISABLE) {
		e->time = get_enabled_time(sys, e);
		e->enabled_since = 0;
	} else if (request == PERF_EVENT_IOC_ENABLE && !e->enabled_since) {
		e->enabled_since = forward_get_time(sys) + 1;
	}
	return 0;
}

static int close_event(const struct sys *sys, int fd)
{
	const struct sys *real = &get_system(sys)->real_sys;
	struct file_event *e = find_event(sys, fd);

	if (!e)
		return real->close(real, fd);
	e->path = NULL;
	return 0;
}

/* ---- the session ----------------------------------------------------------------------------- */

static bool has_file_events(const struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++)
		if (s->counts[i].config.kernel_pmu && s->counts[i].config.kernel_pmu->files)
			return true;
	return false;
}

int pfmi_session_open_file_events(struct pfm_session *s)
{
	struct file_event_system *f;

	if (!has_file_events(s))
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->real_sys = s->sys;
	f->kernel = s->ctx->kernel;
	s->file_events = f;
	s->sys.open = forward_open;
	s->sys.read = read_event;
	s->sys.ioctl = control_event;
	s->sys.close = close_event;
	s->sys.mmap = forward_mmap;
	s->sys.munmap = forward_munmap;
	s->sys.get_time = forward_get_time;
	s->sys.poll = forward_poll;
	s->sys.perf_event_open = open_event;
	s->sys.list_folder = forward_list_folder;
	s->sys.get_process_time = f->real_sys.get_process_time ? forward_get_process_time : NULL;
	s->sys.read_cpuid = f->real_sys.read_cpuid ? forward_read_cpuid : NULL;
	s->sys.arg = f;
	return 0;
}

void pfmi_session_close_file_events(struct pfm_session *s)
{
	struct file_event_system *f = s->file_events;

	if (!f)
		return;
	s->sys = f->real_sys;
	s->file_events = NULL;
	free(f->events);
	free(f);
}
