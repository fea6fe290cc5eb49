/* SPDX-License-Identifier: MIT */
/* The places of a program with most samples: functions, lines and instructions. */
#ifndef PFM_EXPLAIN_SITES_H
#define PFM_EXPLAIN_SITES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <perfmon/perfmon.h>
#include <perfmon/recording.h>
#include "explain/explain.h"

enum sampler_kind {
	SAMPLES_OF_WORK, /* the instruction of each sample */
	SAMPLES_OF_WAITS /* the innermost caller outside of the kernel and the C library */
};

/* Samples of one event. They are written to a file, which is read at the end: to find names takes
 * time that belongs to the program. */
struct sampler {
	enum sampler_kind kind;
	char event[EXPLAIN_EVENT_MAX];
	char path[sizeof("/tmp/pfm-explain-XXXXXX")];
	pfm_session_t *session; /* NULL: it does not sample */
	pfm_recording_t *recording;
};

/* Begins to sample @event of @target, whose program is the child @child that waits to be started.
 * Without samples (the event has none here) the sampler stays empty. */
void begin_sampler(struct sampler *s, const pfm_ctx_t *ctx, const struct explain_target *target,
                   pid_t child, const char *event, enum sampler_kind kind);
/* Writes the samples taken up to now; often enough, none are lost. */
void drain_sampler(struct sampler *s);
/* Ends sampling; finds in @out, unless it is NULL, the functions with the most. */
void end_sampler(struct sampler *s, struct explain_sites *out);

#endif
