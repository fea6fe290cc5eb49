/* SPDX-License-Identifier: MIT */
/* The one way from records to samples: of a recording, of a session whose tasks run, or of records
 * that a caller hands over. */
#ifndef PERFMON_PROFILE_SAMPLE_VISITOR_H
#define PERFMON_PROFILE_SAMPLE_VISITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/sampling.h>
#include "profile/symbols/symbols.h"
#include "profile/tasks/tasks.h"
#include "profile/tree/losses.h"
#include "profile/tree/time_span.h"
#include "profile/unwind/chains.h"

/* Where records come from. */
enum visitor_source { SOURCE_RECORDING, SOURCE_LIVE, SOURCE_CALLER };

/* A sample of an event of the session. Valid until the next one. */
struct visited_sample {
	pfm_record_t *record;
	uint32_t event;
	uint64_t weight;     /* the period, at least 1 */
	uint32_t task;       /* the number of its thread's name */
	uint32_t generation; /* of the mappings of its process */
};

struct profile_messages;
struct waits;

struct sample_visitor {
	pfm_session_t *session;
	unsigned n_events;
	struct recorded_tasks tasks; /* without texts: they are not wanted */
	struct time_span recorded;   /* of records of any kind; made-up ones have no time */
	bool failed;                 /* no memory */
	/* Called with each record that is not a sample, before it is read; NULL: not wanted. */
	void (*see_record)(void *arg, const pfm_record_t *record);
	void *see_arg;
	struct waits *waits; /* samples of context switches weigh the waits after them; NULL: they
	                        count switches */

	/* of sample_visitor.c alone */
	struct profile_messages *messages;
	enum visitor_source source;
	struct profile_losses *losses;
	const pfm_record_t *given; /* by the caller; NULL: it was read */
	struct chains chains;
	int read_result; /* of the last record */
	bool has_ended;
	pfm_record_t record;
};

/* The symbols of what the recording @path saw, when it was written. @debug_folder: of separate
 * debug files; NULL: /usr/lib/debug. @store: of files by build id, or NULL. NULL without memory. */
struct symbols *open_recorded_symbols(const char *path, const char *debug_folder, const char *store,
                                      struct profile_messages *messages);
/* Opens the recording @path, or that of standard input ("-"). PFMLIB_SUCCESS, or an error code
 * after a message. */
int open_visited_recording(pfm_session_t **session, const char *path,
                           const struct profile_messages *messages, pfm_error_t *error);

/* Sets losses->pretended if the recording @path describes a pretended machine, and losses->emulator
 * if an emulator made it; of a pipe that is unknown. */
void read_recorded_pretence(const char *path, struct profile_losses *losses);
/* Begins to visit the samples of @session, which stays the caller's. Losses are added to @losses,
 * messages go to @messages. */
void begin_sample_visit(struct sample_visitor *v, pfm_session_t *session,
                        enum visitor_source source, struct profile_losses *losses,
                        struct profile_messages *messages);
/* Gives samples their tasks, with names in @texts and files in @symbols, which the visitor closes.
 * The text "" has number 0. False without memory. */
bool visit_tasks(struct sample_visitor *v, struct text_pool *texts, struct symbols *symbols);
void end_sample_visit(struct sample_visitor *v);

/* Adds the record of a caller, which stays valid until visit_next_sample() returns 0. */
void give_record_to_visitor(struct sample_visitor *v, const pfm_record_t *record);
/* Goes to the next sample. Reads tasks, losses and times of the records before it. Returns 1, 0 if
 * there is none yet (at the end of a recording: no more), or an error code. Samples of unknown
 * events are counted as lost. */
int visit_next_sample(struct sample_visitor *v, struct visited_sample *sample);
/* Gives the sample the whole chain of its callers (chains_complete()). */
void complete_visited_chain(struct sample_visitor *v, const struct visited_sample *sample);

#endif
