/* SPDX-License-Identifier: MIT */
/* Small things that come with what the kernel writes in sysfs: CPU lists, numbers, names of instances. */
#ifndef PERFMON_KERNEL_H
#define PERFMON_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pmu/pmu.h"
#include "machine/sys.h"

#define CPUS_MAX (1u << 16) /* no list names a CPU with so great a number: kernels are built for 8,192 at most */

/* A set of CPUs. */
struct cpus {
	uint64_t *words;
	size_t n_words;
};

/* Takes the next range off a CPU list such as "0,2-3". False at the end or at what is no list; *@list tells which: it
 * points at the terminating NUL at a proper end. */
bool pfmi_cpus_next(const char **list, unsigned *first, unsigned *last);
/* Adds the CPUs of @list to the set: -EINVAL for what is no list, -ENOMEM; the set stays the caller's to free. */
int pfmi_cpus_add(struct cpus *set, const char *list);
/* The set @list stands for: -EINVAL for what is no list, -ENOMEM. Free with pfmi_cpus_free(), which may be done twice. */
int pfmi_cpus_read(const char *list, struct cpus *out);
/* CPUs 0 to @n less 1; at least one. 0 or -ENOMEM. */
int pfmi_cpus_first(unsigned n, struct cpus *out);
/* 0 or -ENOMEM. */
int pfmi_cpus_copy(const struct cpus *from, struct cpus *out);
void pfmi_cpus_free(struct cpus *set);
bool pfmi_cpus_has(const struct cpus *set, unsigned cpu);
/* The first CPU of the set from *@cpu on goes to *@cpu; false if there is none. */
bool pfmi_cpus_from(const struct cpus *set, unsigned *cpu);
size_t pfmi_cpus_count(const struct cpus *set);
/* The list in file @path, however long, in its shortest words and in memory the caller frees. -errno: unreadable, -EINVAL: no list, -EFBIG:
 * the kernel had more to say than fits a page and cut it. */
int pfmi_cpus_file(const struct sys *sys, const char *path, char **out);
#define PFMI_CPUS_ONLINE   "/sys/devices/system/cpu/online"
#define PFMI_CPUS_POSSIBLE "/sys/devices/system/cpu/possible"
/* The same as a set, empty if it cannot be read. */
int pfmi_cpus_load(const struct sys *sys, const char *path, struct cpus *out);
/* Length of a PMU's name without its instance number: "_" and digits, "_" and more than two hexadecimal digits, or digits. */
size_t pfmi_instance_base(const char *name);

#endif
