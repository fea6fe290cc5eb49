/* SPDX-License-Identifier: MIT */
/* The file of a command as a fact: why the kernel takes counters away from it. */
#ifndef PFM_COMMON_COMMAND_RIGHTS_H
#define PFM_COMMON_COMMAND_RIGHTS_H

#include <stddef.h>

/* Writes the fact by which the file of the command has rights that its caller lacks, after "; "; ""
 * if it has none. */
void read_command_rights(char *const *command, char *facts, size_t size);

#endif
