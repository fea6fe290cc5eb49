/* SPDX-License-Identifier: MIT */
/* Shared by the files of this module: reading of the kernel's files and folders. */
#ifndef PERFMON_MACHINE_INTERNAL_H
#define PERFMON_MACHINE_INTERNAL_H

#include <string.h>
#include "table/build.h"
#include "machine/machine.h"

#define EVENT_SOURCE_DIR  "/sys/bus/event_source/devices"
#define MAX_FORMAT_FIELDS 200         /* field numbers have 8 bits */
#define SYSFS_TEXT_SIZE   4096        /* one page: the longest file of sysfs */
#define ANY_NUMBER        0xffffffffu /* in struct host and struct host_match */

/* Memory that is freed as a whole. */
struct memory_arena {
	struct arena_block *blocks;
	bool failed;
};

/* Allocates @n bytes of zeros. NULL without memory; all later calls then fail. */
void *pfmi_machine_arena_alloc(struct memory_arena *a, size_t n);
/* Copies @len characters at @s, with a terminator. "" without memory. */
const char *pfmi_machine_arena_copy_text(struct memory_arena *a, const char *s, size_t len);
void pfmi_machine_arena_free(struct memory_arena *a);

struct sysfs_reader {
	const struct sys *sys;
	struct memory_arena *kept_memory;    /* freed with the struct kernel_info */
	struct memory_arena *scratch_memory; /* freed when everything is read */
	struct sysfs_folder *known_folders;  /* folders of PMUs, the last read one first */
	const struct sysfs_folder
		*current_folder; /* of the PMU that is being read; NULL: not read yet */
	char text[SYSFS_TEXT_SIZE];
};

/* False if @name is not in the folder of @pmu. Most PMUs lack most files, and listing a folder
 * takes no longer than opening two missing files. True if the folder cannot be listed. */
bool pfmi_machine_can_have_sysfs_file(struct sysfs_reader *r, const char *pmu, const char *name);
/* Reads EVENT_SOURCE_DIR/@pmu/@folder@file into r->text. False if it cannot be read. */
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
	bool is_counter;         /* the value only grows; otherwise it is a level */
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

/* Copies the letters and digits of a name in lower case, with "_" for other characters between
 * them. */
void pfmi_machine_make_word(const char *name, char *out, size_t size);
/* Begins the PMU @name with at most @max_files files. False without memory. */
bool pfmi_machine_begin_file_pmu(struct file_pmu_builder *f, struct sysfs_reader *r,
                                 const char *name, size_t max_files);
/* Adds an event whose value is in the file that is added next. */
void pfmi_machine_add_file_event(struct file_pmu_builder *f, const struct file_event_kind *kind,
                                 const char *name, const char *desc);
void pfmi_machine_add_event_file(struct file_pmu_builder *f, const char *file);
/* Fills @out, which becomes the next PMU of @k. False without files or memory. */
bool pfmi_machine_finish_file_pmu(struct file_pmu_builder *f, const struct kernel_info *k,
                                  struct kernel_pmu *out);

/* Lists the folders of hardware monitoring devices. */
struct string_list pfmi_machine_list_hwmon(struct sysfs_reader *r);

/* Adds the PMUs of these devices to @pmus, the PMUs of @k, an array that is large enough. */
void pfmi_machine_add_hwmon_pmus(struct sysfs_reader *r, const struct string_list *folders,
                                 struct kernel_info *k, struct kernel_pmu *pmus);

/* Adds a PMU for each driver of GPUs, at most MAX_DRM_DRIVERS. */
#define MAX_DRM_DRIVERS 8
void pfmi_machine_add_drm_pmus(struct sysfs_reader *r, struct kernel_info *k,
                               struct kernel_pmu *pmus);

/* Lists the names in EVENT_SOURCE_DIR/@pmu/@folder: at most @max, none longer than @longest. */
struct string_list pfmi_machine_list_sysfs_names(struct sysfs_reader *r, const char *pmu,
                                                 const char *folder, size_t max, size_t longest);

/* Adds fields, events and capabilities of @pmu. */
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

/* Replaces strcmp() for short words: calls no function of the C library (see env.c). */
static inline bool machine_is_same_word(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* ---- identification of the processor (host_id.c, host_x86.c, host_files.c) ------------------- */

/* Parses the digits at *@s and advances it. @base 0: as the prefix says. False without a digit. */
bool pfmi_machine_scan_number(const char **s, unsigned base, uint64_t *out);
/* Copies as many of @len characters at @from as fit, with a terminator. */
void pfmi_machine_copy_truncated(char *to, size_t size, const char *from, size_t len);
void pfmi_machine_set_host_arch(struct host *h, const char *arch);
bool pfmi_machine_is_x86_vendor(const char *v);
/* Architecture of the tables of an Arm core. Part numbers of Arm's cores with Armv8 and later
 * begin with 0xd (the manuals' "Main ID Register"), Qualcomm's 32-bit cores are Scorpion and Krait,
 * and all cores of Digital, Marvell and Intel are 32-bit ones: StrongARM, PJ4 and XScale. */
const char *pfmi_machine_get_arm_arch(uint64_t midr);
/* Writes "GenuineIntel-6-55-4" to h->id_text. It does so without snprintf(), whose first call would
 * cost more than the rest of a program's first encode. */
void pfmi_machine_format_x86_id(struct host *h);
/* Reads CPUID leaves 0 and 1. */
bool pfmi_machine_read_cpuid_identity(const struct sys *sys, struct host *h);
/* Finds the core types of a hybrid processor: it has one kernel PMU for each of them. */
void pfmi_machine_find_core_types(const struct sys *sys, struct host *h);
/* Identifies processors without CPUID, and those of a recorded machine. */
void pfmi_machine_read_identity_files(const struct sys *sys, struct host *h);

#endif
