/* SPDX-License-Identifier: MIT */
/* Events that the running kernel adds to libpfm4's perf PMU: subsystems of tracepoints, and events
 * of the cpu device. They are read at the first query and never freed, because callers keep their
 * names. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"

struct tracepoint {
	uint64_t id;
	char name[64];
};

struct tracepoint_system {
	struct tracepoint *points;
	uint32_t n_points;
	char name[64];
};

static struct {
	pthread_mutex_t lock; /* held while tracepoints are read */
	atomic_int is_read;
	struct tracepoint_system *systems;
	uint32_t n_systems;
	unsigned kernel_events; /* bit i: the cpu device has kernel_event_names[i] */
} tracepoints = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const kernel_event_names[] = { "slots", "topdown-retiring", "topdown-bad-spec",
	                                          "topdown-fe-bound", "topdown-be-bound" };

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_tracepoint_id(const char *folder, const char *system, const char *name,
                               uint64_t *out)
{
	char path[L4_PATH_SIZE + 192], text[32];
	bool ok;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s/%s/id", folder, system, name) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(text, sizeof(text), f) != NULL;
	fclose(f);
	*out = strtoull(ok ? text : "", NULL, 10);
	return ok;
}

/* Allocates memory for one more element of @size bytes. The capacity doubles. */
static void *extend_list(void *list, uint32_t n, size_t size)
{
	return n & (n - 1) ? list : realloc(list, (n ? 2u * n : 1u) * size);
}

static void read_tracepoint_system(const char *folder, struct tracepoint_system *s)
{
	char path[L4_PATH_SIZE + 80];
	const struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", folder, s->name);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		struct tracepoint p;
		void *list;

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(p.name) ||
		    !read_tracepoint_id(folder, s->name, d->d_name, &p.id))
			continue;
		list = extend_list(s->points, s->n_points, sizeof(p));
		if (!list)
			break;
		memcpy(p.name, d->d_name, strlen(d->d_name) + 1);
		s->points = list;
		s->points[s->n_points++] = p;
	}
	if (dir)
		closedir(dir);
}

static void read_tracepoint_systems(const char *folder)
{
	const struct dirent *d;
	DIR *dir = opendir(folder);

	while (dir && (d = readdir(dir))) {
		struct tracepoint_system s = { 0 };
		void *list;

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(s.name))
			continue;
		memcpy(s.name, d->d_name, strlen(d->d_name) + 1);
		read_tracepoint_system(folder, &s);
		list = s.n_points
		               ? extend_list(tracepoints.systems, tracepoints.n_systems, sizeof(s))
		               : NULL;
		if (!list) {
			free(s.points);
			continue;
		}
		tracepoints.systems = list;
		tracepoints.systems[tracepoints.n_systems++] = s;
	}
	if (dir)
		closedir(dir);
}

/* Finds debugfs in the list of mounts, as libpfm4 does. */
static bool find_tracing_folder(char path[L4_PATH_SIZE])
{
	char line[512], where[256], kind[32];
	bool found = false;
	FILE *f;

	l4_format_path(path, "/proc/mounts");
	f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %255s %31s", where, kind) == 2 &&
		        strcmp(kind, "debugfs") == 0;
	if (f)
		fclose(f);
	if (found)
		l4_format_path(path, "%s/tracing/events", where);
	return found;
}

static void read_kernel_events(void)
{
	char path[L4_PATH_SIZE];

	for (unsigned i = 0; i < sizeof(kernel_event_names) / sizeof(kernel_event_names[0]); i++) {
		l4_format_path(path, L4_EVENT_SOURCE_DIR "cpu/events/%s", kernel_event_names[i]);
		tracepoints.kernel_events |= (unsigned)(access(path, F_OK) == 0) << i;
	}
	if (find_tracing_folder(path))
		read_tracepoint_systems(path);
}

static void read_kernel_events_once(void)
{
	if (atomic_load_explicit(&tracepoints.is_read, memory_order_acquire))
		return;
	pthread_mutex_lock(&tracepoints.lock);
	if (!atomic_load(&tracepoints.is_read))
		read_kernel_events();
	atomic_store_explicit(&tracepoints.is_read, 1, memory_order_release);
	pthread_mutex_unlock(&tracepoints.lock);
}

void l4_lock_tracepoints(void)
{
	pthread_mutex_lock(&tracepoints.lock);
}

void l4_unlock_tracepoints(void)
{
	pthread_mutex_unlock(&tracepoints.lock);
}

/* ---- queries --------------------------------------------------------------------------------- */

bool l4_kernel_has_event(const char *name)
{
	read_kernel_events_once();
	for (unsigned i = 0; i < sizeof(kernel_event_names) / sizeof(kernel_event_names[0]); i++)
		if (strcmp(name, kernel_event_names[i]) == 0)
			return tracepoints.kernel_events >> i & 1;
	return true;
}

uint32_t l4_count_trace_systems(void)
{
	read_kernel_events_once();
	return tracepoints.n_systems;
}

const char *l4_get_trace_system_name(uint32_t n)
{
	return tracepoints.systems[n].name;
}

uint32_t l4_count_tracepoints(uint32_t system)
{
	return tracepoints.systems[system].n_points;
}

const char *l4_get_tracepoint_name(uint32_t system, uint32_t n, uint64_t *id)
{
	if (id)
		*id = tracepoints.systems[system].points[n].id;
	return tracepoints.systems[system].points[n].name;
}

int l4_find_trace_system(const char *name, size_t len)
{
	read_kernel_events_once();
	for (uint32_t i = 0; i < tracepoints.n_systems; i++)
		if (l4_is_same_name(tracepoints.systems[i].name, name, len))
			return (int)i;
	return -1;
}
