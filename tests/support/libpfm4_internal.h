/* SPDX-License-Identifier: MIT */
/* Inside libpfm.so.4: a machine in a folder of its own, and queries that are made by hand. */
#ifndef PERFMON_TESTS_UNITS_LIBPFM4_H
#define PERFMON_TESTS_UNITS_LIBPFM4_H

#include "units.h"
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"

/* The folder that replaces /. libpfm4's state keeps the first folder, so the program has one.
 * (libpfm4_state.c) */
const char *l4_folder(void);
/* A file of that folder with @text in it; folders on the way are made. NULL: the file goes. */
void l4_file(const char *path, const char *text);
/* Begins anew on the machine that @cpuid is, with these variables set and no other of those the
 * library listens to: pairs of name and value, then NULL. */
void l4_begin(const char *cpuid, const char *const *variables);

/* Ends a case: as it was before. */
static inline void l4_end_case(void)
{
	l4_begin("GenuineIntel-6-55-4", NULL);
}

/* The number of the PMU; fails if it is missing. */
static inline uint32_t l4_number_of(const char *name)
{
	int n = l4_find_pmu_by_name(name, strlen(name));

	assert_true(n >= 0);
	return (uint32_t)n;
}

/* An event of a PMU of the image. */
static inline struct l4_event l4_event_of(const char *pmu, const char *name)
{
	struct l4_event ev;

	if (!l4_find_event(l4_number_of(pmu), name, strlen(name), &ev))
		fail_msg("%s has no %s", pmu, name);
	return ev;
}

#endif
