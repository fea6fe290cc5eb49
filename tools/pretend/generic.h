/* SPDX-License-Identifier: MIT */
/* The names of the kernel's generic events, as models use them. */
#ifndef PFM_PRETEND_GENERIC_H
#define PFM_PRETEND_GENERIC_H

#include <stdbool.h>
#include <stdint.h>

enum { GENERIC_NAME_MAX = 40 };
/* Writes the name of event @config of type PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE. False if it
 * has none. */
bool name_generic(uint32_t type, uint64_t config, char name[GENERIC_NAME_MAX]);
/* True for the name of an event of type PERF_TYPE_HARDWARE. */
bool is_hardware_generic(const char *name);

#endif
