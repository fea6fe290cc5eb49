/* SPDX-License-Identifier: MIT */
/* Files that name code are believed only if they belong to users who control that code anyway. Who
 * asks does not matter: root's report would else print names that any user has made up. */
#ifndef PERFMON_PROFILE_TRUST_H
#define PERFMON_PROFILE_TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct profile_messages;
struct stat;

struct trust {
	uid_t recorder;           /* the owner of the recording, who was allowed to make it */
	struct timespec recorded; /* when the recording was written; 0: its processes run */
};

/* Of processes that run now, which this user samples. */
struct trust trust_running(void);
/* Of the recording at @path; "-", standard input, is this user's. */
struct trust trust_recording(const char *path);
/* May files of @owner name the code that process @pid compiled? Those of root and of the user of
 * the process may; once it has ended, or another one has its number, those of the recorder. */
bool trust_owner_of_process(const struct trust *t, uint32_t pid, uid_t owner);
/* May the file at @path, with status @st, name the code of a program? Where every user can write to
 * its folder, as to /tmp, it must belong to root or to the recorder. In other folders only who
 * controlled the program when it ran can have changed it. */
bool trust_file(const struct trust *t, const char *path, const struct stat *st);
/* open_regular_file() of such a file: -1 with a message if it is not believed. */
int trust_open(const struct trust *t, const char *path, struct stat *st,
               const struct profile_messages *messages);

#endif
