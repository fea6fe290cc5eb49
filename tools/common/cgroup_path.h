/* SPDX-License-Identifier: MIT */
/* Control groups of this machine by their numbers. */
#ifndef PFM_CGROUP_PATH_H
#define PFM_CGROUP_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum { CGROUP_PATH_SIZE = 4096 };

/* Finds the path, below the mount, of the control group whose folder has the inode @id: that is the
 * number that samples have. False if there is none now. */
bool find_cgroup_path(uint64_t id, char path[CGROUP_PATH_SIZE]);

#endif
