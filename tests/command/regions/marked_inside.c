/* SPDX-License-Identifier: MIT */
/* A library with marks of likwid, or with PAPI_MARKS of PAPI. */
#include "marked.h"

#ifdef PAPI_MARKS
int PAPI_hl_region_begin(const char *name);
int PAPI_hl_region_end(const char *name);
#define BEGIN PAPI_hl_region_begin
#define END   PAPI_hl_region_end
#else
void likwid_markerInit(void);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
void likwid_markerClose(void);
#define BEGIN likwid_markerStartRegion
#define END   likwid_markerStopRegion
#endif

int visit_inside(void);

int visit_inside(void)
{
#ifndef PAPI_MARKS
	likwid_markerInit();
#endif
	for (unsigned i = 0; i < 3; i++) {
		if (BEGIN("inside"))
			return 1;
		cause_faults(4);
		if (END("inside"))
			return 1;
	}
#ifndef PAPI_MARKS
	likwid_markerClose();
#endif
	return 0;
}
