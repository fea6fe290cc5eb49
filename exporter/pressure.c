/* SPDX-License-Identifier: MIT */
/* pfm serve --pressure: how long tasks of the machine and of each control group waited for
 * processors, memory and input or output (Linux' pressure stall information), and how long a quota
 * of processor time held a group back. The kernel sums both; files that a kernel or a group lacks
 * have no series. */
#include "common/pfm.h"
#include "serve.h"

#include <mntent.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, N_RESOURCES = 3, N_KINDS = 2, MACHINE_SAMPLES = N_RESOURCES * N_KINDS };

static const char *const resources[N_RESOURCES] = { "cpu", "memory", "io" };
static const char *const kinds[N_KINDS] = { "some", "full" };

struct known_number {
	bool is_known;
	double value;
};

/* The sums of the machine or of a group. */
struct stalls {
	const struct stat_target *target; /* NULL: the machine */
	struct known_number seconds[N_RESOURCES][N_KINDS];
	struct known_number periods, throttled_periods, throttled_seconds;
};

/* Mount points of control groups: of version 2, and of the hierarchy of the controller cpu. */
struct group_mounts {
	char unified[PATH_SIZE], cpu[PATH_SIZE];
};

static void find_mounts(struct group_mounts *m)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *e;

	*m->unified = *m->cpu = '\0';
	while (mounts && (e = getmntent(mounts)))
		if (!*m->unified && strcmp(e->mnt_type, "cgroup2") == 0)
			snprintf(m->unified, sizeof(m->unified), "%s", e->mnt_dir);
		else if (!*m->cpu && strcmp(e->mnt_type, "cgroup") == 0 && hasmntopt(e, "cpu"))
			snprintf(m->cpu, sizeof(m->cpu), "%s", e->mnt_dir);
	if (mounts)
		endmntent(mounts);
	if (!*m->cpu)
		snprintf(m->cpu, sizeof(m->cpu), "%s", m->unified);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", in microseconds. */
static void read_pressure(const char *path, struct known_number seconds[N_KINDS])
{
	FILE *f = fopen(path, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, " total=");

		for (unsigned k = 0; total && k < N_KINDS; k++)
			if (strncmp(line, kinds[k], strlen(kinds[k])) == 0)
				seconds[k] = (struct known_number){ true,
					                            strtod(total + 7, NULL) / 1e6 };
	}
	if (f)
		fclose(f);
}

/* Reads the lines of cpu.stat about the quota: in microseconds in version 2 of control groups, in
 * nanoseconds in version 1. */
static void read_throttling(const char *path, struct stalls *s)
{
	FILE *f = fopen(path, "re");
	char line[256], name[64];
	double value;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %lf", name, &value) != 2)
			continue;
		if (strcmp(name, "nr_periods") == 0)
			s->periods = (struct known_number){ true, value };
		else if (strcmp(name, "nr_throttled") == 0)
			s->throttled_periods = (struct known_number){ true, value };
		else if (strcmp(name, "throttled_usec") == 0)
			s->throttled_seconds = (struct known_number){ true, value / 1e6 };
		else if (strcmp(name, "throttled_time") == 0)
			s->throttled_seconds = (struct known_number){ true, value / 1e9 };
	}
	if (f)
		fclose(f);
}

static void read_machine(struct stalls *s)
{
	char name[64], path[PATH_SIZE];

	for (unsigned r = 0; r < N_RESOURCES; r++) {
		snprintf(name, sizeof(name), "/proc/pressure/%s", resources[r]);
		read_pressure(make_machine_path(name, path, sizeof(path)), s->seconds[r]);
	}
}

static void read_group(const struct group_mounts *m, struct stalls *s)
{
	char path[2 * PATH_SIZE];

	for (unsigned r = 0; *m->unified && r < N_RESOURCES; r++) {
		snprintf(path, sizeof(path), "%s/%s/%s.pressure", m->unified, s->target->label,
		         resources[r]);
		read_pressure(path, s->seconds[r]);
	}
	snprintf(path, sizeof(path), "%s/%s/cpu.stat", m->cpu, s->target->label);
	if (*m->cpu)
		read_throttling(path, s);
}

/* Reads the sums of the machine and of all groups. Returns their number; 0 without memory. */
static unsigned read_all(const struct serve *s, struct stalls **out)
{
	const struct stat_targets *targets = &s->job.targets;
	struct group_mounts *m = calloc(1, sizeof(*m));
	struct stalls *all = calloc((size_t)targets->n + 1, sizeof(*all));
	unsigned n = 1;

	*out = all;
	if (!m || !all) {
		free(m);
		return 0;
	}
	read_machine(&all[0]);
	find_mounts(m);
	for (const struct stat_target *p = targets->list; p < targets->list + targets->n; p++) {
		if (!p->cgroup || !p->label || p->is_hidden)
			continue;
		all[n].target = p;
		read_group(m, &all[n++]);
	}
	free(m);
	return n;
}

/* ---- families -------------------------------------------------------------------------------- */

/* The labels of the group, and up to two others before them. */
static const struct label *list_labels(struct label labels[MAX_TARGET_LABELS + 3],
                                       const struct stat_target *p, unsigned n)
{
	for (unsigned i = 0; p && i < p->n_labels; i++)
		labels[n++] = (struct label){ p->labels[i].name, p->labels[i].value };
	if (p && !p->labels)
		labels[n++] = (struct label){ "cgroup", p->label };
	labels[n] = (struct label){ NULL, NULL };
	return labels;
}

static void put_stalls(struct exposition *x, const struct stalls *s)
{
	struct label labels[MAX_TARGET_LABELS + 3];

	for (unsigned r = 0; r < N_RESOURCES; r++)
		for (unsigned k = 0; k < N_KINDS; k++) {
			labels[0] = (struct label){ "resource", resources[r] };
			labels[1] = (struct label){ "kind", kinds[k] };
			if (s->seconds[r][k].is_known)
				put_real_sample(x, list_labels(labels, s->target, 2),
				                s->seconds[r][k].value);
		}
}

/* A family of the quotas, of the member at @offset. */
static void put_throttling(struct exposition *x, const struct stalls *all, unsigned n,
                           size_t offset)
{
	struct label labels[MAX_TARGET_LABELS + 3];

	for (unsigned i = 0; i < n; i++) {
		const struct known_number *number = (const void *)((const char *)&all[i] + offset);

		if (number->is_known)
			put_real_sample(x, list_labels(labels, all[i].target, 0), number->value);
	}
}

void put_pressure(struct exposition *x, const struct serve *s)
{
	struct stalls *all = NULL;
	unsigned n = s->has_pressure ? read_all(s, &all) : 0;

	if (s->has_pressure && !n)
		x->failed = true;
	if (!n) {
		free(all);
		return;
	}
	begin_family(x, "perfmon_pressure_seconds", FAMILY_COUNTER, "seconds",
	             "Time in which some, or all, tasks that could run waited for the resource.");
	for (unsigned i = 0; i < n; i++)
		put_stalls(x, &all[i]);
	begin_family(x, "perfmon_cpu_quota_periods", FAMILY_COUNTER, "",
	             "Periods of the quota of processor time in which the group could run.");
	put_throttling(x, all, n, offsetof(struct stalls, periods));
	begin_family(x, "perfmon_cpu_throttled_periods", FAMILY_COUNTER, "",
	             "Periods in which the quota held the group back.");
	put_throttling(x, all, n, offsetof(struct stalls, throttled_periods));
	begin_family(x, "perfmon_cpu_throttled_seconds", FAMILY_COUNTER, "seconds",
	             "Time for which the quota held the group back, summed over its CPUs.");
	put_throttling(x, all, n, offsetof(struct stalls, throttled_seconds));
	free(all);
}
