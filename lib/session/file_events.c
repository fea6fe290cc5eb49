/* SPDX-License-Identifier: MIT */
/* Counts whose values are in files: sensors, and the usage of a GPU by its clients. They need no
 * counter, so the session reads them beside the counts of its backend. The time of such a count is
 * the time since its start. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/perf_event.h"
#include "session/session_internal.h"
#include "base/grow.h"

/* The usage of a GPU by one client, at the last reading. */
struct client_usage {
	uint64_t id, value;
	bool is_seen; /* was seen in the current reading */
};

/* A count that is open. */
struct file_event {
	unsigned count_index;
	const char *path;       /* path of the file, or key of a GPU's clients */
	const char *drm_driver; /* NULL: the event is a file */
	bool is_level;
	struct client_usage *clients; /* all clients that were seen */
	unsigned n_clients;
	size_t clients_capacity;
	uint64_t usage; /* sum over a GPU's clients, including those that have ended */
	/* what was counted while the event was enabled, up to last_value, the number read last */
	uint64_t count, last_value;
	bool has_last_value;
	struct stopwatch clock; /* runs while the event is enabled */
};

struct file_events {
	unsigned n;
	struct file_event events[]; /* as many as the session has counts; n are open */
};

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
	pfmi_machine_visit_drm_clients(sys, UINT32_MAX, add_client_usage, &u);
	*value = e->is_level ? u.level : e->usage;
	return u.is_out_of_memory ? -ENOMEM : 0;
}

static int read_file_value(const struct sys *sys, struct file_event *e, uint64_t *value)
{
	return e->drm_driver ? read_usage(sys, e, value)
	                     : pfmi_machine_read_number(sys, e->path, value);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Reads the value of @e: the level itself, or what was counted while it was enabled. A number that
 * has become smaller started again at 0. Returns 0 or -errno. */
static int update_event(const struct sys *sys, struct file_event *e, uint64_t *value)
{
	int rc = read_file_value(sys, e, value);

	if (rc || e->is_level) {
		e->has_last_value &= !rc;
		return rc;
	}
	if (e->clock.is_running && e->has_last_value)
		e->count += *value >= e->last_value ? *value - e->last_value : *value;
	e->last_value = *value;
	e->has_last_value = true;
	*value = e->count;
	return 0;
}

static void enable_event(const struct pfm_session *s, struct file_event *e)
{
	uint64_t value;

	update_event(&s->sys, e, &value);
	session_start_stopwatch(&e->clock, s->sys.get_time(&s->sys));
}

/* Nanoseconds since the last reset: at least 1 for an event that is enabled, even if the clock has
 * not advanced. */
static uint64_t get_enabled_time(const struct pfm_session *s, const struct file_event *e)
{
	uint64_t time = session_read_stopwatch(&e->clock, s->sys.get_time(&s->sys));

	return time ? time : e->clock.is_running;
}

static void disable_event(const struct pfm_session *s, struct file_event *e)
{
	uint64_t value;

	if (!e->clock.is_running)
		return;
	update_event(&s->sys, e, &value);
	e->clock = (struct stopwatch){ .elapsed = get_enabled_time(s, e) };
}

static bool is_event_on(const struct pfm_session *s, const struct file_event *e)
{
	return pfmi_session_is_group_on(s, s->counts[e->count_index].config.group);
}

static int start_file_events(struct pfm_session *s)
{
	struct file_events *f = s->live.file_events;

	for (unsigned i = 0; i < f->n; i++)
		if (is_event_on(s, &f->events[i]))
			enable_event(s, &f->events[i]);
	return PFMLIB_SUCCESS;
}

static int stop_file_events(struct pfm_session *s)
{
	struct file_events *f = s->live.file_events;

	for (unsigned i = 0; i < f->n; i++)
		disable_event(s, &f->events[i]);
	return PFMLIB_SUCCESS;
}

static int reset_file_events(struct pfm_session *s)
{
	struct file_events *f = s->live.file_events;
	uint64_t value;

	for (unsigned i = 0; i < f->n; i++) {
		update_event(&s->sys, &f->events[i], &value);
		f->events[i].count = 0;
		session_reset_stopwatch(&f->events[i].clock, s->sys.get_time(&s->sys));
	}
	return PFMLIB_SUCCESS;
}

static int switch_file_groups(struct pfm_session *s, const unsigned char *was_on,
                              const unsigned char *is_on)
{
	struct file_events *f = s->live.file_events;

	for (unsigned i = 0; i < f->n; i++) {
		unsigned group = s->counts[f->events[i].count_index].config.group;

		if (was_on[group] && !is_on[group])
			disable_event(s, &f->events[i]);
		else if (is_on[group] && !was_on[group])
			enable_event(s, &f->events[i]);
	}
	return PFMLIB_SUCCESS;
}

/* A file that cannot be read, or has a negative number, reads as an event without a counter. */
static int read_file_events(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	struct file_events *f = s->live.file_events;

	(void)n;
	for (unsigned i = 0; i < f->n; i++) {
		struct file_event *e = &f->events[i];
		pfm_count_t *out = &counts[e->count_index];
		uint64_t value;

		*out = (pfm_count_t){ .size = sizeof(*out),
			              .quality = PFM_QUALITY_PARTIAL,
			              .cause = PFM_CAUSE_BUSY };
		if (update_event(&s->sys, e, &value))
			continue;
		out->quality = PFM_QUALITY_EXACT;
		out->cause = PFM_CAUSE_NONE;
		out->value = out->raw = value;
		out->enabled = out->running = get_enabled_time(s, e);
	}
	s->reading.is_all_exact = false;
	return PFMLIB_SUCCESS;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* True if the event with @config of @pmu is a level. */
static bool is_level_event(const struct kernel_pmu *pmu, uint64_t config)
{
	for (uint32_t row = 0; row < pmu->table->n_rows; row++)
		if (pfmi_table_get_row_value(pmu->table, row, KEY_CONFIG, ANY_COUNTER) == config)
			return table_get_row(pmu->table, row)->flags & ROW_SNAPSHOT;
	return true;
}

/* True if the session counts on the CPU that stands for the machine, or names no CPUs. */
static bool is_cpu_requested(const struct pfm_session *s, const struct kernel_pmu *pmu)
{
	struct cpu_mask serves;
	unsigned cpu = 0;
	bool is = s->cpus.requested.n_words == 0;

	if (is || pfmi_machine_parse_cpu_list(pmu->cpu_list, &serves))
		return is;
	is = pfmi_machine_next_cpu(&serves, &cpu) && pfmi_machine_has_cpu(&s->cpus.requested, cpu);
	pfmi_machine_free_cpus(&serves);
	return is;
}

static void explain_unreadable_file(struct session_count *c, const char *path, int err)
{
	bool is_forbidden = err == -EACCES || err == -EPERM;

	pfmi_session_fail_count(c, is_forbidden ? PFM_CAUSE_PERMISSION : PFM_CAUSE_OTHER, -err,
	                        is_forbidden ? "run as a user who may read it"
	                                     : "look at the file with cat(1)",
	                        is_forbidden ? "%s may not be read" : "%s cannot be read", path);
}

/* Returns false, and stores the cause, if count @c cannot be counted whatever its file holds. */
static bool check_file_count(const struct pfm_session *s, struct session_count *c)
{
	const struct kernel_pmu *pmu = c->config.kernel_pmu;
	uint64_t config = c->config.attr.config;

	if (s->sampling) {
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EOPNOTSUPP, "count it (pfm stat)",
		                        "%s is read from a file: it has no samples", pmu->name);
		return false;
	}
	if (config >= pmu->n_files) {
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, ENOENT, "pfm list shows the events",
		                        "%s has no event with config=0x%llx", pmu->name,
		                        (unsigned long long)config);
		return false;
	}
	if (!is_cpu_requested(s, pmu)) {
		pfmi_session_fail_count(c, PFM_CAUSE_NO_CPU, ENODEV, "omit the list of CPUs",
		                        "%s counts only on CPU %s: request it", pmu->name,
		                        pmu->cpu_list);
		return false;
	}
	return true;
}

/* Opens count @c as @e. Returns false, and stores the cause, if its file cannot be read. */
static bool open_file_event(const struct pfm_session *s, struct session_count *c,
                            struct file_event *e)
{
	const struct kernel_pmu *pmu = c->config.kernel_pmu;
	uint64_t value = 0, config = c->config.attr.config;
	int rc;

	*e = (struct file_event){ .count_index = (unsigned)(c - s->counts),
		                  .path = pmu->files[config],
		                  .drm_driver = pmu->drm_driver,
		                  .is_level = is_level_event(pmu, config) };
	rc = update_event(&s->sys, e, &value);
	if (rc != -ENOENT && rc != -EACCES && rc != -ENOMEM)
		return true;
	explain_unreadable_file(c, e->path, rc);
	free(e->clients);
	return false;
}

/* A dry run opens nothing. */
static int open_file_events(struct pfm_session *s, pfm_error_t *why)
{
	const bool is_dry = s->options.flags & PFM_SESSION_DRY_RUN;
	struct file_events *f = calloc(1, sizeof(*f) + s->n_counts * sizeof(f->events[0]));

	if (!f)
		return pfmi_base_set_no_memory_error(why);
	s->live.file_events = f;
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		if (session_is_file_count(c) && !c->status.cause && check_file_count(s, c) &&
		    !is_dry)
			f->n += open_file_event(s, c, &f->events[f->n]);
	}
	return PFMLIB_SUCCESS;
}

static void close_file_events(struct pfm_session *s)
{
	struct file_events *f = s->live.file_events;

	for (unsigned i = 0; f && i < f->n; i++)
		free(f->events[i].clients);
	free(f);
	s->live.file_events = NULL;
}

const struct backend pfmi_session_file_backend = {
	.name = "files",
	.open_counts = open_file_events,
	.start_counting = start_file_events,
	.stop_counting = stop_file_events,
	.reset_counts = reset_file_events,
	.switch_groups = switch_file_groups,
	.read_counts = read_file_events,
	.close_counts = close_file_events,
};
