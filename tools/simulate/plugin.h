/* SPDX-License-Identifier: MIT */
/* Shared by the files of the plugin. */
#ifndef PFM_SIMULATE_PLUGIN_H
#define PFM_SIMULATE_PLUGIN_H

#include <stdbool.h>
#include "simulate/shared.h"

/* Makes programs that this process executes run in the emulator as well, with the plugin and its
 * arguments @argv. False if the kernel refuses a seccomp filter. (executions.c) */
bool follow_executions(struct simulated_memory *memory, int argc, char **argv);

/* Before an execution: QEMU handles all signals itself, and a program may have blocked them. */
void prepare_execution(void);

#endif
