/* SPDX-License-Identifier: MIT */
/* A context of what is built in alone, for all cases of a program: set-up and tear-down of its
 * group. CHOSEN_PMU, if the program defines it, is the processor that names belong to. */
#ifndef PERFMON_TESTS_BUILT_IN_H
#define PERFMON_TESTS_BUILT_IN_H

#include "open_for.h"

#ifndef CHOSEN_PMU
#define CHOSEN_PMU NULL
#endif

static pfm_ctx_t *ctx;

static int open_context(void **state)
{
	(void)state;
	ctx = open_for(CHOSEN_PMU);
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	pfm_close_context(ctx);
	return 0;
}

#endif
