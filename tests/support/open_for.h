/* SPDX-License-Identifier: MIT */
/* A context of what is built in alone; names belong to @pmu, if that is not NULL. */
#ifndef PERFMON_TESTS_OPEN_FOR_H
#define PERFMON_TESTS_OPEN_FOR_H

#include <perfmon/perfmon.h>

static inline pfm_ctx_t *open_for(const char *pmu)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES,
		                      .pmu = pmu };
	pfm_ctx_t *opened;

	assert_int_equal(pfm_open_context(&opened, &options, NULL), PFMLIB_SUCCESS);
	return opened;
}

#endif
