/* SPDX-License-Identifier: MIT */
/* Start and stop of counting, at the request of the program. */
#include "region/region.h"

int pfm_start_regions(const pfm_regions_options_t *options, pfm_error_t *error)
{
	bool is_first;
	int rc = pfmi_regions_start(options, &is_first, error);

	if (is_first)
		pfmi_regions_measure_cost();
	return rc;
}

void pfm_stop_regions(void)
{
	__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&pfmi_regions.run, 1, __ATOMIC_RELAXED);
}
