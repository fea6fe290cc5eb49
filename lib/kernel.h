/* SPDX-License-Identifier: MIT */
/* Small things that come with what the kernel writes in sysfs: CPU lists, numbers, names of instances. */
#ifndef PERFMON_KERNEL_H
#define PERFMON_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pmu.h"
#include "sys.h"

/* Takes the next range off a CPU list such as "0,2-3". False at the end or at what is no list; *@list tells which: it
 * points at the terminating NUL at a proper end. */
bool pfmi_cpus_next(const char **list, unsigned *first, unsigned *last);
/* Reads which CPUs are on line; @list stays as it is if that cannot be had. */
void pfmi_cpus_online(const struct sys *sys, char list[256]);
/* True if @cpu is in @list. */
bool pfmi_cpus_has(const char *list, unsigned cpu);
/* A number as C writes it, whatever the locale. False if @s is none. */
bool pfmi_decimal(const char *s, double *out);
/* Length of a PMU's name without its instance number: "_" and digits, "_" and more than two hexadecimal digits, or digits. */
size_t pfmi_instance_base(const char *name);
/* Refuses an event of the kernel's that has parameters ("domain=?") the user did not give: for the check of ENCODER_FORMAT. */
int pfmi_kernel_params(const struct event *ev, pfm_error_t *why);

#endif
