/* SPDX-License-Identifier: MIT */
/* Shared by the files that define kernels. */
#ifndef PERFMON_TRUTH_KERNELS_H
#define PERFMON_TRUTH_KERNELS_H

#include "truth/truth.h"

/* Members of truth_kernel.does: see kernels.def. */
#define WITHIN(quantity, least, most) .does[TRUTH_##quantity] = { (least), (most) }
#define IS(quantity, n)               WITHIN(quantity, n, n)

/* Lists of kernels: loops of assembly, and work of the operating system. */
const struct truth_kernel *truth_list_loops(size_t *n);
const struct truth_kernel *truth_list_system_work(size_t *n);
/* Kernels that move bytes between memory and caches, on all CPUs. */
const struct truth_kernel *truth_list_streams(size_t *n);
/* Seconds on a clock that only runs forward. */
double truth_read_clock(void);
/* The size of the last cache in bytes; 0 if the system does not tell. */
size_t truth_read_last_cache(void);

#endif
