/* SPDX-License-Identifier: MIT */
/* Vendors' lists and recorded machines, which are other people's and not part of the project:
 * PERFMON_SHARED names their folder, by default it is the one called shared beside the checkout. */
#ifndef PERFMON_TESTS_SHARED_H
#define PERFMON_TESTS_SHARED_H

#include <stdio.h>
#include <stdlib.h>

/* Path of @name in that folder, in @path of @len bytes. Returns @path; what it names may not be
 * there. */
static inline const char *shared_path(char *path, size_t len, const char *name)
{
	const char *given = getenv("PERFMON_SHARED"), *source = getenv("PERFMON_SOURCE");

	if (given && *given)
		snprintf(path, len, "%s/%s", given, name);
	else
		snprintf(path, len, "%s/../shared/%s", source ? source : ".", name);
	return path;
}

#endif
