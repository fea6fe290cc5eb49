/* SPDX-License-Identifier: MIT */
/* Marked with PAPI's high-level functions. */
#include "marked.h"

int PAPI_hl_region_begin(const char *name);
int PAPI_hl_region_end(const char *name);

int main(void)
{
	int wrong = 0;

	for (unsigned i = 0; i < 3; i++) {
		wrong |= PAPI_hl_region_begin("compute");
		fault(5);
		wrong |= PAPI_hl_region_begin("inside");
		fault(2);
		wrong |= PAPI_hl_region_end("inside");
		wrong |= PAPI_hl_region_end("compute");
	}
	return wrong != 0;
}
