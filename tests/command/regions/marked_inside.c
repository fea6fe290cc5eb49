/* SPDX-License-Identifier: MIT */
/* A library with marks of likwid. */
#include "marked.h"

void likwid_markerInit(void);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
void likwid_markerClose(void);
int visit_inside(void);

int visit_inside(void)
{
	likwid_markerInit();
	for (unsigned i = 0; i < 3; i++) {
		if (likwid_markerStartRegion("inside"))
			return 1;
		cause_faults(4);
		if (likwid_markerStopRegion("inside"))
			return 1;
	}
	likwid_markerClose();
	return 0;
}
