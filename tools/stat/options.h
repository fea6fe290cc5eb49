/* SPDX-License-Identifier: MIT */
/* Options of pfm stat. */
#ifndef PFM_STAT_OPTIONS_H
#define PFM_STAT_OPTIONS_H

#include "common/pfm.h"
#include "stat/stat.h"

extern const struct command_option stat_options[];
/* Parses the options. Returns an exit status, or -1 to continue. */
int read_stat_options(struct command_args *args, struct stat_job *job);
/* Sets what the counts are summed over, from one of the options --per-... Returns an exit status,
 * or -1 to continue. */
int set_aggregation(struct command_args *args, struct stat_job *job, enum aggregation by);
/* Adds the numbers in @list, the value of option @name. Returns an exit status, or -1 to continue.
 */
int read_task_ids(struct command_args *args, const char *name, const char *list, int **ids,
                  unsigned *n);
/* Sets the unit of --by. Returns an exit status, or -1 to continue. (regions.c) */
int set_region_unit(struct command_args *args, struct stat_job *job, const char *name);
/* Chooses the format of regions, and refuses one that does not go with the other options. Returns
 * an exit status. (regions.c) */
int check_region_format(struct command_args *args, struct stat_job *job);
/* Adds default events and refuses options that contradict each other. Returns an exit status. */
int check_stat_options(struct command_args *args, struct stat_job *job);

/* ---- modes (modes.c) ------------------------------------------------------------------------- */

enum stat_mode {
	STAT_COUNTS = 1,
	STAT_REGIONS = 2,
	STAT_COMMANDS = 4,       /* several commands */
	STAT_REGION_COMMANDS = 8 /* regions of several commands */
};

/* Notes that option @id was given. */
void note_given_option(struct stat_options *options, int id);
/* Refuses a single round, which shows no difference. Returns an exit status. */
int check_rounds(struct command_args *args, const struct stat_job *job);
/* Refuses options that @mode would ignore. Returns an exit status. */
int check_option_modes(struct command_args *args, const struct stat_job *job, enum stat_mode mode);

/* ---- checks (checks.c) ----------------------------------------------------------------------- */

/* Refuses options that contradict each other. Returns an exit status. */
int check_option_conflicts(struct command_args *args, const struct stat_job *job);
/* Reports tasks that do not exist, if none of them exists. Returns an exit status. */
int check_stat_tasks(const struct stat_job *job);
/* Finds a comma of @list with nothing before it, or the last one with nothing after it; NULL if
 * there is neither. */
const char *find_list_gap(const char *list);
/* Refuses events that are invalid before any event is looked up. Returns an exit status. */
int check_stat_events(const struct stat_job *job);

#endif
