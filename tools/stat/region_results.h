/* SPDX-License-Identifier: MIT */
/* Results of pfm stat --regions. */
#ifndef PFM_STAT_REGION_RESULTS_H
#define PFM_STAT_REGION_RESULTS_H

#include "stat/region_places.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { REGION_PATH_SIZE = 4096 };

struct region_folder {
	char path[REGION_PATH_SIZE / 2], results[REGION_PATH_SIZE];
	bool is_kept;
	bool is_shared; /* with processes of other users */
	int lock;
};

struct region_command {
	pid_t pid;
	int status; /* of waitpid(2) */
};

/* Results of all processes as one text. */
struct region_collection {
	const char *format;
	const char *folder; /* ends with a slash: files of processes go there; NULL: to the text */
	bool is_snapshot;   /* of running processes: their ends are not reported */
	const struct region_command *command;
	struct region_places places;    /* of these processes; while they are collected */
	struct pfm_region_results *sum; /* with @is_summed, of all processes; NULL: none */
	bool is_summed;                 /* results are added up instead of written */
	unsigned run;                   /* number of the run, for JSON; 0: the only one */
	char *text;                     /* to be freed */
	size_t size;
	unsigned n_written, n_lost; /* processes in the text; processes that miss something */
};

struct stat_job;
struct command_args;

/* Writes the sum of the results as the text. False without memory. */
bool write_region_sum(struct region_collection *to);
/* Writes the text of @from where the options say. Returns an exit status. (regions.c) */
int write_region_results(const struct stat_job *job, char *const *command,
                         struct region_collection *from, const char *on);
/* The format in which results of processes are collected: JSON for --by. (regions.c) */
const char *get_collected_format(const struct stat_job *job);
/* Prints the regions of running processes. Returns an exit status. (regions.c) */
int show_running_regions(struct stat_job *job);
/* Runs @command until each region has as many visits as requested, and writes the sums. Returns an
 * exit status. (region_visits.c) */
int count_region_visits(const struct stat_job *job, char *const *command, const char *events,
                        const char *on);

/* Chooses the events, opens the context and refuses bad events. *@events: the list of events, to be
 * freed. Returns an exit status. (regions.c) */
int prepare_region_events(struct stat_job *job, char **events);
/* Runs @command, collects the results of its processes and removes their folder. Returns the exit
 * status of the command, or why it was not run. (regions.c) */
int run_region_command(const struct stat_job *job, char *const *command, const char *events,
                       struct region_collection *results);
/* Sets the variables that load adapters, and lists their interfaces in @on. */
void load_region_adapters(const struct stat_job *job, char *on, size_t size);
/* Reports that @command entered no region, which interfaces @on were counted, and which marks the
 * program contains. */
void report_no_region(const char *command, const char *on);
/* True if the format called @name has one file for each process. */
bool is_one_file_each(const char *name);
/* True if the library writes @name. */
bool is_region_format(const char *name);
/* Collects the results of running processes, which another pfm counts. Reports those that have
 * none. */
void collect_running_regions(struct region_collection *to, const int *pids, unsigned n);
/* Collects the results in the folder @path. Reports processes that ended without exit(3). */
void collect_region_results(struct region_collection *to, const char *path);
/* Creates the folder of results. @is_kept: no pfm removes it. Returns 0 or an errno. */
int make_region_folder(struct region_folder *folder, bool is_kept);
/* Lets the program that this process executes create files there, whatever its user. */
void inherit_region_folder(const struct region_folder *folder);
/* Removes the folder, or reports the name of one that is kept. */
void remove_region_folder(struct region_folder *folder);

#endif
