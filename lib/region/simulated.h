/* SPDX-License-Identifier: MIT */
/* Regions of a program in the emulator of pfm stat --simulate. The emulator's plugin
 * (tools/simulate/plugin.c) has the counts: a system call that Linux does not have asks for them.
 */
#ifndef PERFMON_REGION_SIMULATED_H
#define PERFMON_REGION_SIMULATED_H

#include <stdint.h>

/* The number of the system call, and the counts that it writes to the address in its first
 * argument. */
enum { SIMULATED_MARK = 0x7066, SIMULATED_COUNTS = 5 };

#define SIMULATED_COUNT_NAMES                                                                      \
	{                                                                                          \
		"instructions", "loads", "stores", "branches", "syscalls"                          \
	}

#endif
