/* SPDX-License-Identifier: MIT */
/* Options of pfm stat. */
#ifndef PFM_STAT_OPTIONS_H
#define PFM_STAT_OPTIONS_H

#include "pfm.h"
#include "stat.h"

extern const struct command_option stat_options[];
/* Parses the options. Returns an exit status, or -1 to continue. */
int read_stat_options(struct command_args *args, struct stat_job *job);
/* Sets what the counts are summed over, from one of the options --per-... Returns an exit status,
 * or -1 to continue. */
int set_aggregation(struct command_args *args, struct stat_job *job, enum aggregation by);
/* Adds default events and refuses options that contradict each other. Returns an exit status. */
int check_stat_options(struct command_args *args, struct stat_job *job);
/* Refuses events that are invalid before any event is looked up. Returns an exit status. */
int check_stat_events(const struct stat_job *job);

#endif
