/* SPDX-License-Identifier: MIT */
/* Comparison of results of regions. */
#ifndef PFM_DIFF_REGIONS_H
#define PFM_DIFF_REGIONS_H

#include <stdbool.h>
#include "diff/table.h"

/* True if @path holds JSON, as pfm stat --regions writes it, and not a recording. */
bool is_region_file(const char *path);
/* Compares the files of @job. Returns an exit status. */
int diff_region_files(const struct diff_job *job);

#endif
