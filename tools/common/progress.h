/* SPDX-License-Identifier: MIT */
/* Shows on standard error, if it is a terminal, how far a recording is read. */
#ifndef PFM_PROGRESS_H
#define PFM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/sampling.h>

/* Zero it before progress_begin(). */
struct progress {
	const char *path;
	uint64_t size;        /* bytes of the file, 0 if unknown */
	uint64_t began, next; /* nanoseconds: time of the beginning and of the next output */
	uint64_t n_records;
	bool is_wanted, is_shown;
};

/* Starts the progress of reading @path, which must stay valid. Shows nothing in the first two
 * seconds. */
void progress_begin(struct progress *p, const char *path);
/* Counts a record of @s and updates the line. */
void progress_step(struct progress *p, const pfm_session_t *s);
/* Erases the line. */
void progress_end(struct progress *p);

#endif
