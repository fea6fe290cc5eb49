/* SPDX-License-Identifier: MIT */
/* Environment variables. No other file of the library reads them. */
#include "machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *pfmi_machine_get_env(const char *name)
{
	const char *value = getenv(name);

	return value && *value && !getauxval(AT_SECURE) ? value : NULL;
}

/* The rest of @s after @start; NULL if @s does not begin with @start. Calls no function of the C
 * library: the first call of each in a process costs the dynamic linker's search. */
static const char *skip_prefix(const char *s, const char *start)
{
	while (*start && *s == *start) {
		s++;
		start++;
	}
	return *start ? NULL : s;
}

static void set_option_once(const char *variable, const char *name, const char **to)
{
	const char *value = *to ? NULL : skip_prefix(variable, name);

	if (value && *value)
		*to = value;
}

/* Names of the variables, in arrays without relocations: every program looks for them when it
 * starts. */
#define DEFINE_VARIABLE_NAME(VARIABLE, TEXT) static const char VARIABLE[] = TEXT
DEFINE_VARIABLE_NAME(prefix, "PERFMON_");
DEFINE_VARIABLE_NAME(pmu, "PMU=");
DEFINE_VARIABLE_NAME(events, "EVENTS=");
DEFINE_VARIABLE_NAME(cpuid, "CPUID=");
DEFINE_VARIABLE_NAME(sysfs, "SYSFS=");
DEFINE_VARIABLE_NAME(debug, "DEBUG=");
DEFINE_VARIABLE_NAME(force_pmu, "LIBPFM_FORCE_PMU=");
#undef DEFINE_VARIABLE_NAME

/* Reads all variables in one pass. A getenv() for each would take half of the time of opening a
 * context. */
void pfmi_machine_read_env_options(struct env_options *out)
{
	const char *topics = NULL;

	*out = (struct env_options){ 0 };
	for (char **e = environ; e && *e; e++) {
		const char *ours = **e == 'P' ? skip_prefix(*e, prefix) : NULL;

		if (ours) {
			set_option_once(ours, pmu, &out->pmu);
			set_option_once(ours, events, &out->events);
			set_option_once(ours, cpuid, &out->cpuid);
			set_option_once(ours, sysfs, &out->sysfs_root);
			set_option_once(ours, debug, &topics);
		} else if (**e == 'L') {
			set_option_once(*e, force_pmu, &out->force_pmu);
		}
	}
	out->log_topics = pfmi_machine_parse_log_topics(topics);
	if ((out->log_topics || out->pmu || out->events || out->cpuid || out->sysfs_root ||
	     out->force_pmu) &&
	    getauxval(AT_SECURE))
		*out = (struct env_options){ 0 };
}
