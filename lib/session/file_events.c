/* SPDX-License-Identifier: MIT */
/* Events whose values are in files: sensors, and the usage of a GPU by its clients. The perf_event
 * backend sees a system in which they are perf events: opening one returns the number of an entry,
 * reading it returns the number in the file and the time since it was enabled. All other calls go
 * to the session's own system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "base/grow.h"

/* descriptors that neither a file nor a dry run has */
#define FIRST_FILE_EVENT 2000000

/* The usage of a GPU by one client, at the last reading. */
struct client_usage {
	uint64_t id, value;
	bool is_seen; /* was seen in the current reading */
};

/* An event that is open. */
struct file_event {
	const char *path;       /* path of the file, or key of a GPU's clients; NULL: closed */
	const char *drm_driver; /* NULL: the event is a file */
	bool is_level;
	struct client_usage *clients; /* all clients that were seen */
	unsigned n_clients;
	size_t clients_capacity;
	uint64_t usage; /* sum over a GPU's clients, including those that have ended */
	/* what was counted while the event was enabled, up to last_value, the number read last */
	uint64_t count, last_value;
	bool has_last_value;
	int leader;                                /* entry of the leader of its group */
	uint64_t read_format, enabled_since, time; /* enabled_since 0: disabled */
};

struct file_event_system {
	struct sys real_sys;
	const struct kernel_info *kernel;
	struct file_event *events;
	unsigned n_events;
	size_t capacity;
};

static struct file_event_system *get_file_event_system(const struct sys *sys)
{
	return sys->arg;
}

static struct file_event *find_file_event(const struct sys *sys, int fd)
{
	struct file_event_system *f = get_file_event_system(sys);
	unsigned i = (unsigned)fd - FIRST_FILE_EVENT;

	return fd >= FIRST_FILE_EVENT && i < f->n_events && f->events[i].path ? &f->events[i]
	                                                                      : NULL;
}

/* ---- calls that are passed on ---------------------------------------------------------------- */

static int forward_open(const struct sys *sys, const char *path, int flags)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->open(real, path, flags);
}

static int forward_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return find_file_event(sys, fd) ? -ENODEV : real->mmap(real, fd, len, writable, out);
}

static int forward_munmap(const struct sys *sys, void *at, size_t len)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->munmap(real, at, len);
}

static uint64_t forward_get_time(const struct sys *sys)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->get_time(real);
}

static int forward_poll(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->poll(real, fds, n, timeout);
}

static int forward_list_folder(const struct sys *sys, const char *path,
                               int (*each)(void *arg, const char *name), void *arg)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->list_folder(real, path, each, arg);
}

static int forward_get_process_time(const struct sys *sys, int pid, uint64_t *ns)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->get_process_time(real, pid, ns);
}

static bool forward_read_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                               uint32_t regs[4])
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;

	return real->read_cpuid(real, leaf, subleaf, regs);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The PMU of the event in @attr; NULL if the event is not in a file. */
static const struct kernel_pmu *find_file_pmu(const struct file_event_system *f,
                                              const struct perf_attr *attr)
{
	for (unsigned i = 0; i < f->kernel->n_pmus; i++)
		if (f->kernel->pmus[i].files &&
		    (uint32_t)f->kernel->pmus[i].instance_types[0] == attr->type)
			return &f->kernel->pmus[i];
	return NULL;
}

/* ---- usage of GPUs --------------------------------------------------------------------------- */

struct usage_reading {
	struct file_event *event;
	uint64_t level;
	bool is_out_of_memory;
};

/* Finds the client with @id, or adds it with no usage. NULL without memory. */
static struct client_usage *find_client(struct file_event *e, uint64_t id)
{
	bool failed = false;

	for (unsigned i = 0; i < e->n_clients; i++)
		if (e->clients[i].id == id)
			return &e->clients[i];
	e->clients = base_grow_list(e->clients, e->n_clients, &e->clients_capacity,
	                            sizeof(*e->clients), &failed);
	if (failed)
		return NULL;
	e->clients[e->n_clients] = (struct client_usage){ .id = id };
	return &e->clients[e->n_clients++];
}

static int add_client_usage(void *arg, const struct drm_client *client)
{
	struct usage_reading *u = arg;
	struct file_event *e = u->event;
	struct client_usage *known;
	uint64_t value;

	if (strlen(e->drm_driver) != client->driver.len ||
	    memcmp(e->drm_driver, client->driver.text, client->driver.len) != 0 ||
	    !pfmi_machine_read_drm_value(client->text, e->path, &value))
		return 0;
	known = find_client(e, client->id);
	u->is_out_of_memory = !known;
	if (!known || known->is_seen)
		return !known;
	known->is_seen = true;
	u->level += value;
	e->usage += value > known->value ? value - known->value : 0;
	known->value = value;
	return 0;
}

/* Sums the usage of all clients. The usage of clients that have ended stays in the sum. */
static int read_usage(const struct sys *sys, struct file_event *e, uint64_t *value)
{
	struct usage_reading u = { .event = e };

	for (unsigned i = 0; i < e->n_clients; i++)
		e->clients[i].is_seen = false;
	pfmi_machine_visit_drm_clients(&get_file_event_system(sys)->real_sys, UINT32_MAX,
	                               add_client_usage, &u);
	*value = e->is_level ? u.level : e->usage;
	return u.is_out_of_memory ? -ENOMEM : 0;
}

static int read_file_value(const struct sys *sys, struct file_event *e, uint64_t *value)
{
	return e->drm_driver ? read_usage(sys, e, value)
	                     : pfmi_machine_read_number(&get_file_event_system(sys)->real_sys,
	                                                e->path, value);
}

/* Reads the value of @e: the level itself, or what was counted while the leader was enabled. A
 * number that has become smaller started again at 0. */
static int update_event(const struct sys *sys, struct file_event *e, uint64_t *value)
{
	bool is_enabled = get_file_event_system(sys)->events[e->leader].enabled_since != 0;
	int rc = read_file_value(sys, e, value);

	if (rc || e->is_level) {
		e->has_last_value &= !rc;
		return rc;
	}
	if (is_enabled && e->has_last_value)
		e->count += *value >= e->last_value ? *value - e->last_value : *value;
	e->last_value = *value;
	e->has_last_value = true;
	*value = e->count;
	return 0;
}

/* Updates a leader and its members. */
static void update_group(const struct sys *sys, const struct file_event *lead)
{
	struct file_event_system *f = get_file_event_system(sys);
	uint64_t value;

	for (unsigned i = 0; i < f->n_events; i++)
		if (f->events[i].path && &f->events[f->events[i].leader] == lead &&
		    !f->events[i].is_level)
			update_event(sys, &f->events[i], &value);
}

/* ---- calls for events ------------------------------------------------------------------------ */

/* True if the event with @config of @pmu is a level. */
static bool is_level_event(const struct kernel_pmu *pmu, uint64_t config)
{
	for (uint32_t row = 0; row < pmu->table->n_rows; row++)
		if (pfmi_table_get_row_value(pmu->table, row, KEY_CONFIG, ANY_COUNTER) == config)
			return table_get_row(pmu->table, row)->flags & ROW_SNAPSHOT;
	return true;
}

/* Reserves memory for one more event. Returns 0 or -ENOMEM. */
static int reserve_event(struct file_event_system *f)
{
	bool failed = false;

	f->events =
		base_grow_list(f->events, f->n_events, &f->capacity, sizeof(*f->events), &failed);
	return failed ? -ENOMEM : 0;
}

static int open_file_event(const struct sys *sys, const struct perf_attr *attr, int group,
                           const struct kernel_pmu *pmu)
{
	struct file_event_system *f = get_file_event_system(sys);
	struct file_event *e;
	uint64_t value = 0;
	int rc;

	if (attr->config >= pmu->n_files)
		return -ENOENT;
	if (attr->sample_period)
		return -EOPNOTSUPP;
	if (group >= 0 && !find_file_event(sys, group))
		return -EINVAL;
	if (reserve_event(f))
		return -ENOMEM;
	e = &f->events[f->n_events];
	*e = (struct file_event){
		.path = pmu->files[attr->config],
		.drm_driver = pmu->drm_driver,
		.is_level = is_level_event(pmu, attr->config),
		.leader = group < 0 ? (int)f->n_events : group - FIRST_FILE_EVENT,
		.read_format = attr->read_format,
		.enabled_since = attr->disabled ? 0 : forward_get_time(sys) + 1,
	};
	rc = read_file_value(sys, e, &value);
	e->last_value = value;
	e->has_last_value = !rc;
	if (rc == -ENOENT || rc == -EACCES || rc == -ENOMEM) {
		free(e->clients);
		return rc;
	}
	return FIRST_FILE_EVENT + (int)f->n_events++;
}

static int open_event(const struct sys *sys, struct perf_attr *attr, int pid, int cpu, int group,
                      unsigned long flags)
{
	const struct file_event_system *f = get_file_event_system(sys);
	const struct kernel_pmu *pmu = find_file_pmu(f, attr);

	if (pmu)
		return open_file_event(sys, attr, group, pmu);
	return find_file_event(sys, group)
	               ? -EINVAL
	               : f->real_sys.perf_event_open(&f->real_sys, attr, pid, cpu, group, flags);
}

static uint64_t get_enabled_time(const struct sys *sys, const struct file_event *e)
{
	/* With a slow clock no time may have passed; an enabled event must show some. */
	return e->time + (e->enabled_since ? forward_get_time(sys) + 2 - e->enabled_since : 0);
}

/* Reads a group: the number of its members, the two times, the values. */
static long read_group(const struct sys *sys, const struct file_event *lead, uint64_t *out,
                       size_t n)
{
	const struct file_event_system *f = get_file_event_system(sys);
	size_t at = 3;

	if (n < 4 * sizeof(*out))
		return -ENOSPC;
	out[0] = 0;
	out[1] = out[2] = get_enabled_time(sys, lead);
	for (unsigned i = 0; i < f->n_events; i++) {
		struct file_event *e = &f->events[i];

		if (!e->path || &f->events[e->leader] != lead)
			continue;
		if ((at + 1) * sizeof(*out) > n)
			return -ENOSPC;
		if (update_event(sys, e, &out[at++]))
			return 0;
		out[0]++;
	}
	return (long)(at * sizeof(*out));
}

/* A file that cannot be read, or has a negative number, reads as an event without a counter. */
static long read_event(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;
	struct file_event *e = find_file_event(sys, fd);
	uint64_t *out = buf;

	if (!e)
		return real->read(real, fd, buf, n);
	if (e->read_format & PERF_FORMAT_GROUP)
		return read_group(sys, e, out, n);
	if (n < 3 * sizeof(*out))
		return -ENOSPC;
	out[1] = out[2] = get_enabled_time(sys, &get_file_event_system(sys)->events[e->leader]);
	return update_event(sys, e, &out[0]) ? 0 : (long)(3 * sizeof(*out));
}

static int handle_event_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;
	struct file_event *e = find_file_event(sys, fd);

	if (!e)
		return real->ioctl(real, fd, request, arg);
	if (request != PERF_EVENT_IOC_DISABLE && request != PERF_EVENT_IOC_ENABLE)
		return 0;
	update_group(sys, e);
	if (request == PERF_EVENT_IOC_DISABLE) {
		e->time = e->enabled_since ? get_enabled_time(sys, e) : e->time;
		e->enabled_since = 0;
	} else if (!e->enabled_since) {
		e->enabled_since = forward_get_time(sys) + 1;
	}
	return 0;
}

static int close_event(const struct sys *sys, int fd)
{
	const struct sys *real = &get_file_event_system(sys)->real_sys;
	struct file_event *e = find_file_event(sys, fd);

	if (!e)
		return real->close(real, fd);
	free(e->clients);
	e->path = NULL;
	e->clients = NULL;
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
	s->sys.ioctl = handle_event_ioctl;
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
	for (unsigned i = 0; i < f->n_events; i++)
		free(f->events[i].clients);
	free(f->events);
	free(f);
}
