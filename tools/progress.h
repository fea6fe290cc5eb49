/* SPDX-License-Identifier: MIT */
/* Shows on standard error, if it is a terminal, how far a recording is read. */
#ifndef PFM_PROGRESS_H
#define PFM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/sampling.h>

/* All zeros before progress_begin(). */
struct progress {
	const char *path;
	uint64_t size;        /* bytes of the file, 0 if unknown */
	uint64_t began, next; /* nanoseconds: the beginning, and when to show something again */
	uint64_t n_records;
	bool is_wanted, is_shown;
};

/* Begins to read the recording @path, which must stay valid. Nothing is shown in the first two
 * seconds, and nothing unless standard error is a terminal. */
void progress_begin(struct progress *p, const char *path);
/* One more record of @s was read. */
void progress_step(struct progress *p, const pfm_session_t *s);
/* Takes back the line. */
void progress_end(struct progress *p);

#endif
