/* SPDX-License-Identifier: MIT */
/* Options of pfm diff, and its table. */
#ifndef PFM_DIFF_TABLE_H
#define PFM_DIFF_TABLE_H

#include "diff/rows.h"

/* Statuses of pfm diff after a growth and after an error. */
enum { EXIT_REGRESSED = 1, EXIT_TROUBLE = 2 };

struct diff_job {
	struct diff diff;
	bool json, svg;
	const char *html;    /* path of the page, or NULL */
	uint64_t line_limit; /* rows of each event; 0: all */
	double fail_above;   /* fraction of the old value; negative: not given */
};

/* The number of rows of the event of row @i, which is its first; *@n_shown: how many are shown. */
size_t count_event_rows(const struct diff_job *job, size_t i, size_t *n_shown);
/* Writes the page of --html. Returns an exit status. (page.c) */
int write_diff_page(const struct diff_job *job);
void put_diff_table(const struct diff_job *job);

#endif
