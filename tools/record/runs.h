/* SPDX-License-Identifier: MIT */
/* pfm record -r: several recordings of one command, or of two in turns. */
#ifndef PFM_RECORD_RUNS_H
#define PFM_RECORD_RUNS_H

#include <stdbool.h>
#include <stdint.h>

struct record_runs {
	uint64_t n;     /* of -r; 0: one recording */
	bool alternate; /* the commands "OLD :: NEW" run in turns */
};

struct command_args;
/* Records @r->n times, each in a file of its own whose name begins as that of @output. @args: those
 * of pfm record. Returns an exit status. */
int record_runs(struct command_args *args, const struct record_runs *r, const char *output);

#endif
