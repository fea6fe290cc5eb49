/* SPDX-License-Identifier: MIT */
/* Events that the running kernel adds to libpfm4's perf PMU: a subsystem's tracepoints, and those of the core's device. They are read
 * when somebody first asks, once, and stay: their names are handed out. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"

struct point {
	uint64_t id;
	char name[64];
};

struct subsystem {
	struct point *points;
	uint32_t n;
	char name[64];
};

static struct {
	pthread_mutex_t lock; /* of who reads them */
	atomic_int known;
	struct subsystem *systems;
	uint32_t n;
	unsigned kernel_events; /* which of the core's events are there */
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const kernel_names[] = { "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound" };

/* ---- reading -------------------------------------------------------------------------------------------------- */

static bool read_id(const char *folder, const char *system, const char *name, uint64_t *out)
{
	char path[L4_PATH + 192], text[32];
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

/* Room for one more of @size bytes; a list grows by doubling. */
static void *grow(void *list, uint32_t n, size_t size)
{
	return n & (n - 1) ? list : realloc(list, (n ? 2u * n : 1u) * size);
}

static void read_system(const char *folder, struct subsystem *s)
{
	char path[L4_PATH + 80];
	const struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", folder, s->name);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		struct point p;
		void *list;

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(p.name) || !read_id(folder, s->name, d->d_name, &p.id))
			continue;
		list = grow(s->points, s->n, sizeof(p));
		if (!list)
			break;
		memcpy(p.name, d->d_name, strlen(d->d_name) + 1);
		s->points = list;
		s->points[s->n++] = p;
	}
	if (dir)
		closedir(dir);
}

static void read_systems(const char *folder)
{
	const struct dirent *d;
	DIR *dir = opendir(folder);

	while (dir && (d = readdir(dir))) {
		struct subsystem s = { 0 };
		void *list;

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(s.name))
			continue;
		memcpy(s.name, d->d_name, strlen(d->d_name) + 1);
		read_system(folder, &s);
		list = s.n ? grow(trace.systems, trace.n, sizeof(s)) : NULL;
		if (!list) {
			free(s.points);
			continue;
		}
		trace.systems = list;
		trace.systems[trace.n++] = s;
	}
	if (dir)
		closedir(dir);
}

/* Where the kernel's debug files are, as libpfm4 looks for them: in the list of mounts. */
static bool find_folder(char path[L4_PATH])
{
	char line[512], where[256], kind[32];
	bool found = false;
	FILE *f;

	l4_path(path, "/proc/mounts");
	f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %255s %31s", where, kind) == 2 && strcmp(kind, "debugfs") == 0;
	if (f)
		fclose(f);
	if (found)
		l4_path(path, "%s/tracing/events", where);
	return found;
}

static void read_all(void)
{
	char path[L4_PATH];

	for (unsigned i = 0; i < sizeof(kernel_names) / sizeof(kernel_names[0]); i++) {
		l4_path(path, L4_DEVICES "cpu/events/%s", kernel_names[i]);
		trace.kernel_events |= (unsigned)(access(path, F_OK) == 0) << i;
	}
	if (find_folder(path))
		read_systems(path);
}

static void read_once(void)
{
	if (atomic_load_explicit(&trace.known, memory_order_acquire))
		return;
	pthread_mutex_lock(&trace.lock);
	if (!atomic_load(&trace.known))
		read_all();
	atomic_store_explicit(&trace.known, 1, memory_order_release);
	pthread_mutex_unlock(&trace.lock);
}

void l4_trace_hold(bool hold)
{
	if (hold)
		pthread_mutex_lock(&trace.lock);
	else
		pthread_mutex_unlock(&trace.lock);
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

bool l4_kernel_has_event(const char *name)
{
	read_once();
	for (unsigned i = 0; i < sizeof(kernel_names) / sizeof(kernel_names[0]); i++)
		if (strcmp(name, kernel_names[i]) == 0)
			return trace.kernel_events >> i & 1;
	return true;
}

uint32_t l4_trace_systems(void)
{
	read_once();
	return trace.n;
}

const char *l4_trace_system(uint32_t n)
{
	return trace.systems[n].name;
}

uint32_t l4_trace_points(uint32_t system)
{
	return trace.systems[system].n;
}

const char *l4_trace_point(uint32_t system, uint32_t n, uint64_t *id)
{
	if (id)
		*id = trace.systems[system].points[n].id;
	return trace.systems[system].points[n].name;
}

int l4_trace_find(const char *name, size_t len)
{
	read_once();
	for (uint32_t i = 0; i < trace.n; i++)
		if (l4_same(trace.systems[i].name, name, len))
			return (int)i;
	return -1;
}
