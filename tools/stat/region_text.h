/* SPDX-License-Identifier: MIT */
/* Texts of results of regions. */
#ifndef PFM_STAT_REGION_TEXT_H
#define PFM_STAT_REGION_TEXT_H

#include <stdio.h>

#include <perfmon/region.h>
#include "stat/region_results.h"

/* Text of several processes in the making. */
struct region_join {
	FILE *out;
	bool has_head, has_tail;
	unsigned run;  /* number for the first line of each process, in JSON; 0: none */
	bool is_begun; /* the lines at the beginning are written */
	char *tail;    /* the line that ends the text if no other part follows */
	size_t tail_room;
};

struct region_join begin_region_join(struct region_collection *to);
void end_region_join(struct region_collection *to, struct region_join *join);
/* Writes @r in @format into memory, to be read from the beginning; NULL on failure. */
FILE *write_region_text(const pfm_region_results_t *r, const char *format);
/* Adds the text of a process. Formats of one process for each file need a folder for several. */
bool add_region_text(struct region_collection *to, struct region_join *join, int rank, FILE *text);

#endif
