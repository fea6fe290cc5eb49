/* SPDX-License-Identifier: MIT */
/* Machines made of files: a folder with the files of /sys and /proc that a test writes. */
#ifndef PERFMON_TESTS_MACHINE_FILES_H
#define PERFMON_TESTS_MACHINE_FILES_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <perfmon/perfmon.h>
#include "units.h"

/* A context for processor @cpuid whose /sys and /proc are below @root. */
static inline pfm_ctx_t *open_machine(const char *cpuid, const char *root)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_IMAGES,
		                      .cpuid = cpuid,
		                      .sysfs_root = root };
	pfm_ctx_t *ctx;

	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	return ctx;
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

/* Writes file @path below @root, and makes the folders on the way. */
static inline void put(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

#define DEVICES "sys/bus/event_source/devices/"

#endif
