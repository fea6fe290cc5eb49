/* SPDX-License-Identifier: MIT */
/* pfm record --regions: visits of the regions of the command, beside its samples. */
#ifndef PFM_RECORD_VISITS_H
#define PFM_RECORD_VISITS_H

#include <stdbool.h>
#include <sys/types.h>
#include "stat/region_results.h"

/* All zeros: not requested. */
struct region_visits {
	bool is_wanted;
	struct region_folder folder;
	char interfaces[128]; /* names of those whose marks are regions, too */
	pid_t pid;            /* of the command */
};

/* Sets the environment in which the command counts its visits. Returns an exit status. */
int begin_visits(struct region_visits *v);
/* Removes these variables once the command, process @pid, has inherited them. */
void clear_visit_variables(struct region_visits *v, pid_t pid);
/* Writes the visits of @command beside the recording at @path. Returns an exit status. */
int write_visits(struct region_visits *v, const char *path, const char *command, int wait_status);
/* Removes the folder of a command that was not recorded. */
void discard_visits(struct region_visits *v);
/* Removes the visits of an earlier recording at @path. */
void remove_earlier_visits(const char *path);

#endif
