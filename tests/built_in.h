/* SPDX-License-Identifier: MIT */
/* A context of what is built in alone, for all cases of a program: set-up and tear-down of its group. CHOSEN_PMU, if the program defines
 * it, is the processor that names belong to. */
#ifndef PERFMON_TESTS_BUILT_IN_H
#define PERFMON_TESTS_BUILT_IN_H

#include <perfmon/perfmon.h>

#ifndef CHOSEN_PMU
#define CHOSEN_PMU NULL
#endif

static pfm_ctx_t *ctx;

static int open_context(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES, .pmu = CHOSEN_PMU };

	(void)state;
	return pfm_open_context(&ctx, &o, NULL);
}

static int close_context(void **state)
{
	(void)state;
	pfm_close_context(ctx);
	return 0;
}

#endif
