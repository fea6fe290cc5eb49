/* SPDX-License-Identifier: MIT */
/* The command pfm on a kernel whose events count what a file says, so that its answers are the same
 * each time. PFM_SCRIPT names a folder: "machine" in it is a recorded machine, "counts" has lines
 * of type, config (hexadecimal), value, time enabled, time running (nanoseconds) and an errno that
 * opening ends with, 0 for none, -N: none the first N times, then EBUSY, on CPU N alone if there
 * are N + 1 thousands on top. Each CPU counts one more than the one before it, and the second
 * opening of an event a tenth more than the first, the third two tenths. Events that are in no line
 * are not supported. A file "counts" that replaces the first is read from then on. "online", if it
 * is there, lists the CPUs on line. "mounts" is what is mounted; control groups are folders in that
 * folder. With PFM_HERE set, that machine is the one that runs it: "doctor" tries what it can.
 * PFM_SCRIPT_FILES limits open files. "clock" sets the system's clock. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "context/context.h"
#include "fake_sys.h"

enum { MOST_LINES = 256, MOST_CPUS = 2048, THOUSAND = 1000 };

int __real_pfm_open_context(pfm_ctx_t **, const pfm_ctx_options_t *, pfm_error_t *);
int __wrap_pfm_open_context(pfm_ctx_t **, const pfm_ctx_options_t *, pfm_error_t *);
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
FILE *__real_setmntent(const char *path, const char *mode);
FILE *__wrap_setmntent(const char *path, const char *mode);

static struct script_line {
	uint64_t config, value, enabled, running;
	unsigned type;
	int error;
} lines[MOST_LINES];
static unsigned n_lines;
static struct fake fake;
static struct sys real, scripted;
static const char *folder;
static struct stat script; /* the file "counts" that was read last */
/* How often the event of a line was opened on a CPU (number 0: on all), among the first n_known of
 * the kernel's events; and of each of these, how often before it. */
static unsigned n_opened[MOST_LINES][MOST_CPUS + 1], n_known, *n_before, n_before_room;

static const struct script_line *find_line(const struct perf_attr *attr)
{
	for (unsigned i = 0; i < n_lines; i++)
		if (lines[i].type == attr->type && lines[i].config == attr->config)
			return &lines[i];
	return NULL;
}

static unsigned find_cpu(int cpu)
{
	return cpu < 0 ? 0 : 1 + (unsigned)cpu % MOST_CPUS;
}

static void note_openings(const struct fake *f)
{
	if (n_before_room < f->n_events) {
		n_before_room = 2 * f->n_events;
		n_before = realloc(n_before, n_before_room * sizeof(*n_before));
		if (!n_before)
			abort();
	}
	for (; n_known < f->n_events; n_known++) {
		const struct script_line *l = find_line(&f->events[n_known].a.attr);

		n_before[n_known] = l ? n_opened[l - lines][find_cpu(f->events[n_known].cpu)]++ : 0;
	}
}

static int decide_call(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	const struct script_line *l = find_line(attr);
	int before = 0;

	(void)pid;
	(void)group;
	if (l && l->error >= THOUSAND)
		return cpu == l->error / THOUSAND - 1 ? -(l->error % THOUSAND) : 0;
	note_openings(f);
	if (l)
		before = (int)n_opened[l - lines][find_cpu(cpu)];
	return !l ? -ENOENT : l->error >= 0 ? -l->error : before < -l->error ? 0 : -EBUSY;
}

static void read_lines(void)
{
	char path[1024], text[256];
	struct script_line *l = lines;
	struct stat now;
	FILE *in;

	snprintf(path, sizeof(path), "%s/counts", folder);
	if (stat(path, &now) != 0)
		abort();
	if (now.st_ino == script.st_ino && now.st_mtim.tv_sec == script.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == script.st_mtim.tv_nsec)
		return;
	script = now;
	n_known = 0;
	memset(n_opened, 0, sizeof(n_opened));
	in = fopen(path, "r");
	if (!in)
		abort();
	while (l < lines + MOST_LINES && fgets(text, sizeof(text), in))
		if (sscanf(text, "%u %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d", &l->type,
		           &l->config, &l->value, &l->enabled, &l->running, &l->error) == 6)
			l++;
	n_lines = (unsigned)(l - lines);
	fclose(in);
}

static void advance_clock(struct fake *f, struct fake_event *e)
{
	const struct script_line *l;
	unsigned before;

	read_lines();
	l = find_line(&e->a.attr);
	if (!l)
		return;

	note_openings(f);
	before = n_before[e - f->events];
	e->value = l->value + l->value * before / 10 + (e->cpu > 0 ? (uint64_t)e->cpu : 0);
	e->is_open = l->enabled;
	e->running = l->running;
}

/* Processes are this machine's. */
static bool is_process(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && isdigit((unsigned char)path[6]);
}

static int list(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name),
                void *arg)
{
	return is_process(path) ? real.list_folder(&real, path, each, arg)
	                        : scripted.list_folder(sys, path, each, arg);
}

static int open_file(const struct sys *sys, const char *path, int flags)
{
	char *text, online[1024];
	size_t len;

	if (is_process(path) && !pfmi_machine_read_file(&real, path, &text, &len)) {
		fake_file(&fake, path, text);
		free(text);
	}
	if (strncmp(path, folder, strlen(folder)) == 0)
		fake_file(&fake, path, "");
	if (strcmp(path, "/sys/devices/system/cpu/online") == 0) {
		snprintf(online, sizeof(online), "%s/online", folder);
		if (!pfmi_machine_read_file(&real, online, &text, &len)) {
			fake_file(&fake, path, text);
			free(text);
		}
	}
	return scripted.open(sys, path, flags);
}

static void read_script(void)
{
	const char *limit = getenv("PFM_SCRIPT_FILES");
	char path[1024];

	snprintf(path, sizeof(path), "%s/machine", folder);
	fake_begin(&fake);
	if (!fake_machine(&fake, path))
		abort();
	read_lines();
	pfmi_machine_init_real_sys(&real, "");
	scripted = fake.sys;
	fake.sys.list_folder = list;
	fake.sys.open = open_file;
	fake.decide = decide_call;
	fake.tick = advance_clock;
	if (limit)
		fake.limit = (int)strtol(limit, NULL, 10);
}

/* The linker makes the tools call this (--wrap). */
int __wrap_pfm_open_context(pfm_ctx_t **ctx, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	int rc = __real_pfm_open_context(ctx, options, error);

	folder = getenv("PFM_SCRIPT");
	if (rc || !folder)
		return rc;
	if (!fake.events)
		read_script();
	(*ctx)->sys = fake.sys;
	if (getenv("PFM_HERE"))
		unsetenv("PERFMON_SYSFS");
	return rc;
}

/* The system's clock is set back or forward by the seconds in the file "clock". */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = __real_clock_gettime(clock, t);
	char *text, path[1024];
	size_t len;

	if (clock != CLOCK_REALTIME || !folder)
		return rc;
	snprintf(path, sizeof(path), "%s/clock", folder);
	if (pfmi_machine_read_file(&real, path, &text, &len))
		return rc;
	t->tv_sec += strtol(text, NULL, 10);
	free(text);
	return rc;
}

FILE *__wrap_setmntent(const char *path, const char *mode)
{
	char scripted_path[1024];

	if (!folder)
		return __real_setmntent(path, mode);
	snprintf(scripted_path, sizeof(scripted_path), "%s/mounts", folder);
	return __real_setmntent(scripted_path, mode);
}
