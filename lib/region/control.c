/* SPDX-License-Identifier: MIT */
/* Start and stop of counting, at the request of the program. */
#include "base/sizes.h"
#include "region/region.h"

int pfm_start_regions(const pfm_regions_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	bool is_first;
	int rc = pfmi_regions_start(options, &is_first, why);

	if (is_first)
		pfmi_regions_measure_cost();
	return base_return_error(error, why, rc);
}

void pfm_stop_regions(void)
{
	__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&pfmi_regions.run, 1, __ATOMIC_RELAXED);
}
