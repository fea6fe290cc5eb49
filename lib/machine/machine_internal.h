/* SPDX-License-Identifier: MIT */
/* Files and folders of the kernel while they are read, and the memory for what is kept of them. */
#ifndef PERFMON_MACHINE_INTERNAL_H
#define PERFMON_MACHINE_INTERNAL_H

#include <string.h>
#include "table/build.h"
#include "machine/machine.h"

#define EVENT_SOURCE_DIR  "/sys/bus/event_source/devices"
#define MAX_FORMAT_FIELDS 200  /* fields are numbered in bytes */
#define SYSFS_TEXT_SIZE   4096 /* one page: what sysfs gives at most */

/* Memory that is given back as a whole. */
struct memory_arena {
	struct arena_block *blocks;
	bool failed;
};

/* @n bytes of zeros; NULL if memory runs out; all later calls then fail. */
void *pfmi_machine_arena_alloc(struct memory_arena *a, size_t n);
/* A copy of @len letters at @s, with a terminator; "" if memory runs out. */
const char *pfmi_machine_arena_copy_text(struct memory_arena *a, const char *s, size_t len);
void pfmi_machine_arena_free(struct memory_arena *a);

struct sysfs_reader {
	const struct sys *sys;
	struct memory_arena *kept_memory;    /* lives as long as the struct kernel */
	struct memory_arena *scratch_memory; /* until the reading is over */
	struct sysfs_folder *known_folders;  /* folders of PMUs, the last one first */
	const struct sysfs_folder
		*current_folder; /* that of the PMU that is being read; NULL: not known yet */
	char text[SYSFS_TEXT_SIZE];
};

/* False if @name is not in the folder of @pmu. Most PMUs have few of the files that there may be,
 * and to list a folder takes no longer than to ask for two files that are not there. One that
 * cannot be listed may have all. */
bool pfmi_machine_can_have_sysfs_file(struct sysfs_reader *r, const char *pmu, const char *name);
/* Contents of DEVICES/@pmu/@folder@file in r->text; false if it cannot be read. */
bool pfmi_machine_read_sysfs_file(struct sysfs_reader *r, const char *pmu, const char *folder,
                                  const char *file);

/* Names in a folder, sorted. */
struct string_list {
	const char **items;
	size_t n, capacity, max_items, max_length;
	struct memory_arena *arena;
};

/* For sys->list_folder(): adds a name to the list at @arg. */
int pfmi_machine_collect_name(void *arg, const char *name);
/* ---- PMUs whose values are files (lib/machine/hwmon_pmus.c) ---------------------------------- */

struct file_event_kind {
	char unit[8], scale[10]; /* the number in the file times scale is in unit */
	bool is_counter;         /* it adds up; others are levels */
};

/* A PMU while its events are added. */
struct file_pmu_builder {
	struct sysfs_reader *r;
	struct table_builder table;
	char name[64];
	unsigned config, scale, unit; /* fields of the table */
	const char **files;
	unsigned n_files;
};

/* Makes a word of a name: letters and digits in lower case, "_" for everything between them. */
void pfmi_machine_make_word(const char *name, char *out, size_t size);
/* False without memory. */
bool pfmi_machine_begin_file_pmu(struct file_pmu_builder *f, struct sysfs_reader *r,
                                 const char *name, size_t max_files);
/* Adds an event whose value the next file will have. */
void pfmi_machine_add_file_event(struct file_pmu_builder *f, const struct file_event_kind *kind,
                                 const char *name, const char *desc);
void pfmi_machine_add_event_file(struct file_pmu_builder *f, const char *file);
/* Fills @out, which becomes the next PMU of @k. False without files or memory. */
bool pfmi_machine_finish_file_pmu(struct file_pmu_builder *f, const struct kernel_info *k,
                                  struct kernel_pmu *out);

/* Folders of hardware monitoring devices; adds their PMUs to @pmus, which are those of @k and have
 * room for all of them. */
struct string_list pfmi_machine_list_hwmon(struct sysfs_reader *r);
void pfmi_machine_add_hwmon_pmus(struct sysfs_reader *r, const struct string_list *folders,
                                 struct kernel_info *k, struct kernel_pmu *pmus);

/* (lib/machine/drm_pmus.c) Adds a PMU for each driver of GPUs, at most MAX_DRM_DRIVERS. */
#define MAX_DRM_DRIVERS 8
void pfmi_machine_add_drm_pmus(struct sysfs_reader *r, struct kernel_info *k,
                               struct kernel_pmu *pmus);

/* Names in DEVICES/@pmu/@folder, at most @max, none longer than @longest. */
struct string_list pfmi_machine_list_sysfs_names(struct sysfs_reader *r, const char *pmu,
                                                 const char *folder, size_t max, size_t longest);

/* (lib/machine/kernel_table.c) Adds fields, events and capabilities of @pmu. */
void pfmi_machine_build_pmu_table(struct sysfs_reader *r, struct table_builder *b, const char *pmu);

/* Compares names that @a and @b point to, for qsort() and bsearch(). */
int pfmi_machine_compare_names(const void *a, const void *b);

/* The line after the one at @line; NULL after the last one. */
static inline const char *machine_find_next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

static inline bool machine_is_same_text(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

#endif
