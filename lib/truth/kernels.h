/* SPDX-License-Identifier: MIT */
/* Shared by the files that define kernels. */
#ifndef PERFMON_TRUTH_KERNELS_H
#define PERFMON_TRUTH_KERNELS_H

#include "truth/truth.h"

/* Members of truth_kernel.does: see kernels.def. */
#define WITHIN(quantity, least, most) .does[TRUTH_##quantity] = { (least), (most) }
#define IS(quantity, n)               WITHIN(quantity, n, n)

/* The two lists of kernels: loops of assembly, and work of the operating system. */
const struct truth_kernel *truth_list_loops(size_t *n);
const struct truth_kernel *truth_list_system_work(size_t *n);

#endif
