/* SPDX-License-Identifier: MIT */
/* Metrics of regions in each run, from results of pfm stat --regions --json. */
#ifndef PFM_DIFF_REGION_ROWS_H
#define PFM_DIFF_REGION_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "diff/rows.h"

/* End of the name of the file beside a recording that has the visits of its regions. */
#define REGIONS_SUFFIX ".regions"

/* A metric of a region in one run. */
struct region_value {
	json_t *row; /* has the texts */
	const char *region, *parent, *metric;
	unsigned side, run;
	bool is_total;      /* of the run, not the mean of a visit */
	double sum, visits; /* of all processes of the run */
	double variance;    /* of a visit; negative: unknown */
	unsigned n_processes;
};

struct region_values {
	struct region_value *at;
	size_t n, room;
	unsigned runs[SIDES];
};

/* Adds the metrics of the results in @in, called @path in messages. @is_run: all processes are of
 * one run; else each process without a number of its run is a run. Returns an exit status. */
int read_region_values(struct region_values *v, FILE *in, const char *path, unsigned side,
                       bool is_run);
/* Orders values by region, parent and metric. */
int compare_region_places(const struct region_value *x, const struct region_value *y);
/* Sorts the values by place, side and run, and adds up the processes of each run. */
void join_region_values(struct region_values *v);
void free_region_values(struct region_values *v);

#endif
