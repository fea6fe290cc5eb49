/* SPDX-License-Identifier: MIT */
/* The environment: the one place that reads it. */
#include "machine/machine.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *pfmi_machine_get_env(const char *name)
{
	const char *value = getenv(name);

	return value && *value && !getauxval(AT_SECURE) ? value : NULL;
}

/* What follows @start in @s; NULL if @s does not start so. No call into the C library: the first one of a process is dear. */
static const char *behind(const char *s, const char *start)
{
	while (*start && *s == *start) {
		s++;
		start++;
	}
	return *start ? NULL : s;
}

static void take(const char *variable, const char *name, const char **to)
{
	const char *value = *to ? NULL : behind(variable, name);

	if (value && *value)
		*to = value;
}

/* Every program's start looks for them. */
#define NAME(VARIABLE, TEXT) static const char VARIABLE[] = TEXT
NAME(prefix, "PERFMON_");
NAME(pmu, "PMU=");
NAME(events, "EVENTS=");
NAME(cpuid, "CPUID=");
NAME(sysfs, "SYSFS=");
NAME(force_pmu, "LIBPFM_FORCE_PMU=");
#undef NAME

/* Like getenv(), but once for all: it would be half of what a program that only initialises waits for. */
void pfmi_machine_read_env_options(struct env_options *out)
{
	*out = (struct env_options){ 0 };
	for (char **e = environ; e && *e; e++) {
		const char *ours = **e == 'P' ? behind(*e, prefix) : NULL;

		if (ours) {
			take(ours, pmu, &out->pmu);
			take(ours, events, &out->events);
			take(ours, cpuid, &out->cpuid);
			take(ours, sysfs, &out->sysfs_root);
		} else if (**e == 'L') {
			take(*e, force_pmu, &out->force_pmu);
		}
	}
	if ((out->pmu || out->events || out->cpuid || out->sysfs_root || out->force_pmu) && getauxval(AT_SECURE))
		*out = (struct env_options){ 0 };
}
