/* SPDX-License-Identifier: MIT */
/* Files and folders of the kernel while they are read, and the memory for what is kept of them. */
#ifndef PERFMON_MACHINE_INTERNAL_H
#define PERFMON_MACHINE_INTERNAL_H

#include <string.h>
#include "table/build.h"
#include "machine/machine.h"

#define DEVICES     "/sys/bus/event_source/devices"
#define MAX_FORMATS 200  /* fields are numbered in bytes */
#define TEXT_ROOM   4096 /* one page: what sysfs gives at most */

/* Memory that is given back as a whole. */
struct arena {
	struct block *blocks;
	bool failed;
};

/* @n bytes of zeros; NULL, and failed from then on, if there are none. */
void *pfmi_take(struct arena *a, size_t n);
/* A copy of @len letters at @s, with a terminator; "" if there is no memory. */
const char *pfmi_keep(struct arena *a, const char *s, size_t len);
void pfmi_release(struct arena *a);

struct reading {
	const struct sys *sys;
	struct arena *keep;      /* lives as long as the struct kernel */
	struct arena *scrap;     /* until the reading is over */
	struct folder *seen;     /* folders of PMUs, the last one first */
	const struct folder *at; /* that of the PMU that is being read; NULL: not known yet */
	char text[TEXT_ROOM];
};

/* False if @name is not in the folder of @pmu. Most PMUs have few of the files that there may be, and to list a folder takes no longer than
 * to ask for two files that are not there. One that cannot be listed may have all. */
bool pfmi_reading_may_have(struct reading *r, const char *pmu, const char *name);
/* Contents of DEVICES/@pmu/@folder@file in r->text; false if it cannot be read. */
bool pfmi_reading_file(struct reading *r, const char *pmu, const char *folder, const char *file);

/* Names in a folder, sorted. */
struct strings {
	const char **at;
	size_t n, room, max, longest;
	struct arena *arena;
};

/* Names in DEVICES/@pmu/@folder, at most @max, none longer than @longest. */
struct strings pfmi_reading_names(struct reading *r, const char *pmu, const char *folder, size_t max, size_t longest);

/* (lib/machine/kernel_table.c) Adds fields, events and capabilities of @pmu. */
void pfmi_reading_table(struct reading *r, struct builder *b, const char *pmu);

static inline bool is_word(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

#endif
