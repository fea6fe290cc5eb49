/* SPDX-License-Identifier: MIT */
/* Marked with PAPI's high-level functions; HAVE_PAPI_H: built with its header and library. */
#include "marked.h"
#ifdef HAVE_PAPI_H
#include <papi.h>
#else
int PAPI_hl_region_begin(const char *name);
int PAPI_hl_region_end(const char *name);
#endif

int main(void)
{
	int wrong = 0;

	for (unsigned i = 0; i < 3; i++) {
		wrong |= PAPI_hl_region_begin("compute");
		cause_faults(5);
		wrong |= PAPI_hl_region_begin("inside");
		cause_faults(2);
		wrong |= PAPI_hl_region_end("inside");
		wrong |= PAPI_hl_region_end("compute");
	}
	return wrong != 0;
}
