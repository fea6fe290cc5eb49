/* SPDX-License-Identifier: MIT */
/* Comparison of results of regions. */
#ifndef PFM_DIFF_REGIONS_H
#define PFM_DIFF_REGIONS_H

#include <stdbool.h>
#include <stdio.h>
#include "diff/table.h"

/* Results of pfm stat --regions --json. */
struct region_text {
	FILE *in;
	const char *path; /* in messages */
	unsigned side;
	bool is_run; /* all processes are of one run */
};

struct region_comparison {
	double confidence;
	double limit; /* a growth by more than this fraction is a failure; negative: none */
	bool json;
	FILE *out;
	const char *command; /* in messages */
};

/* True if @path holds JSON, as pfm stat --regions writes it, and not a recording. */
bool is_region_file(const char *path);
/* Compares @n texts of two sides and prints the changes. EXIT_REGRESSED if a value grew beyond the
 * limit. */
int compare_region_texts(const struct region_comparison *how, const struct region_text *texts,
                         unsigned n);
/* Compares the files of @job. Returns an exit status. */
int diff_region_files(const struct diff_job *job);

#endif
