/* SPDX-License-Identifier: MIT */
/* A plugin with regions: its program closes it (marked_dlopen.c), its static objects with it. */
#include <perfmon/region.h>
#include "marked.h"

#pragma GCC visibility push(default)

/* 2 faults in "plugin". */
void visit_region(void)
{
	pfm_begin_region(PFM_REGION("plugin"));
	cause_faults(2);
	pfm_end_region(PFM_REGION("plugin"));
}

/* Never ends its visit. */
void stay_in_region(void)
{
	pfm_begin_region(PFM_REGION("left open"));
	cause_faults(1);
}
