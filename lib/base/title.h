/* SPDX-License-Identifier: MIT */
/* Titles of PMUs: "Intel Granite Rapids (Xeon 6, P-cores), CHA: caching and home agents". */
#ifndef PFM_TITLE_H
#define PFM_TITLE_H

#include <stddef.h>

/* Bytes of the part of @title that names the processor: up to a comma or a colon outside of
 * parentheses. */
static inline size_t base_measure_processor_title(const char *title)
{
	int depth = 0;
	size_t n;

	for (n = 0; title[n] && (depth > 0 || (title[n] != ',' && title[n] != ':')); n++) {
		depth += title[n] == '(';
		depth -= title[n] == ')';
	}
	return n;
}

#endif
