/* SPDX-License-Identifier: MIT */
#ifndef PERFMON_PROFILE_REGULAR_FILE_H
#define PERFMON_PROFILE_REGULAR_FILE_H

struct stat;

/* Opens the file at @path for reading and sets @st to its status. Recordings may name anything: -1
 * for other than regular files, which are neither waited for nor rewound. */
int open_regular_file(const char *path, struct stat *st);

#endif
