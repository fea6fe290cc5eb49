/* SPDX-License-Identifier: MIT */
/* State of the process and of the calling thread, and the lock. */
#include "region/region.h"

int perfmon_regions_active = -1;
struct regions pfmi_regions = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread struct caller pfmi_region_caller
	__attribute__((tls_model("initial-exec"))) = { .state = UNPREPARED };

void pfmi_regions_lock(void)
{
	pfmi_region_caller.busy++;
	if (pfmi_region_caller.state != IN_CALL)
		pfmi_region_caller.state = UNPREPARED;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pthread_mutex_lock(&pfmi_regions.lock);
}

void pfmi_regions_unlock(void)
{
	pthread_mutex_unlock(&pfmi_regions.lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pfmi_region_caller.busy--;
}
