/* SPDX-License-Identifier: MIT */
/* How long tasks waited: from a sample of context-switches, which is taken where a task leaves its
 * CPU, to the record of the switch that brings it back. */
#ifndef PERFMON_PROFILE_WAITS_H
#define PERFMON_PROFILE_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/sampling.h>

/* The tracepoint of whoever ends a wait. */
#define WAKING_EVENT "sched:sched_waking"

struct profile_messages;
struct waits;

/* Reads the switches of the recording @path, which must be a file. NULL after a message
 * to @messages: it cannot be read, or was taken without them. (recorded_waits.c) */
struct waits *waits_read(const char *path, struct profile_messages *messages);
/* NULL without memory. */
struct waits *waits_create(void);
/* Adds a record, if it is a switch or the end of a task. False without memory. */
bool waits_add_record(struct waits *w, const pfm_record_t *record);
bool waits_has_switches(const struct waits *w);
void waits_free(struct waits *w);
/* Nanoseconds for which task @tid waited that left its CPU at @time. A wait that had not ended is
 * as long as the recording; that of a task that ended is 0. */
uint64_t waits_find(struct waits *w, uint32_t tid, uint64_t time);
/* Nanoseconds for which tasks called @name were on a CPU, by the records of switches. 0 if the
 * recording begins in the middle of things. */
uint64_t waits_get_running(const struct waits *w, const char *name);
/* The number of waits that had not ended. */
uint64_t waits_count_unended(const struct waits *w);
/* Is event @i of the session the one whose samples begin waits? */
bool waits_is_event(const pfm_session_t *session, unsigned i);
/* Returns a sentence that names the records which the waits of the session come from. */
const char *waits_describe_sources(const pfm_session_t *session);

#endif
