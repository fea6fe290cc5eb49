/* SPDX-License-Identifier: MIT */
/* pfm record --continuous: round after round, each a recording of its own in a folder whose size
 * and age are limited. */
#ifndef PFM_RECORD_ROUNDS_H
#define PFM_RECORD_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include "event_list.h"

struct record_rounds {
	const char *folder;                /* of --continuous; NULL: one recording */
	uint64_t round_seconds, every;     /* seconds: of a round, from one to the next */
	uint64_t keep_bytes, keep_seconds; /* of all files; of each. 0: no limit */
	uint64_t n_rounds;                 /* 0: until a signal */
	const char *push_url; /* files go there and are removed then; NULL: they stay */
	bool takes_turns;     /* one event in each round */
};

/* True in the process that takes a round, which does not print where its file is. */
extern bool is_record_round;

struct command_args;
/* Takes recordings until a signal ends it. @args are those of pfm record; an exit status. */
int record_continuously(const struct command_args *args, const struct record_rounds *r,
                        const struct event_list *events);

#endif
