/* SPDX-License-Identifier: MIT */
/* pfm record --continuous: repeated recordings in a folder whose size and age are limited. */
#ifndef PFM_RECORD_ROUNDS_H
#define PFM_RECORD_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include "common/event_list.h"
#include "series/openmetrics.h"

struct record_rounds {
	const char *folder;            /* of --continuous; NULL: one recording */
	uint64_t round_seconds, every; /* seconds: length of a round, distance of rounds */
	uint64_t keep_bytes,
		keep_seconds; /* limits: bytes of all files, age of each; 0: no limit */
	uint64_t n_rounds;    /* 0: until a signal */
	const char *push_url; /* receiver of files, which are then removed; NULL: keep files */
	bool has_names;       /* files are sent with the names of functions */
	bool takes_turns;     /* one event in each round */
	const struct label *labels; /* of all files that are sent; NULL: none */
};

enum { ROUND_NAME_SIZE = 64 };

/* True in the process of a round, which does not print the path of its file. */
extern bool is_record_round;
/* True if the file gets another name at its end: no copies of programs are stored beside it. */
extern bool is_renamed_round;
/* True after the first round: it does not repeat what does not change. */
extern bool is_later_round;

extern const struct command cmd_record;

struct command_args;
/* Takes recordings until a signal to stop. @args: those of pfm record. Returns an exit status. */
int record_continuously(const struct command_args *args, const struct record_rounds *r,
                        const struct event_list *events);

/* ---- parts that pfm agent has as well -------------------------------------------------------- */

/* Makes and locks the folder, and removes the files of rounds that were cut off. Returns a
 * descriptor to close, or -1 after a message. */
int open_rounds_folder(const char *folder);
/* Writes the name of a round that begins now. */
void name_round(char name[ROUND_NAME_SIZE]);
/* Sends the files of the folder. */
void push_rounds(const struct record_rounds *r);
/* Removes files above the limits. */
void keep_round_limits(const struct record_rounds *r);

#endif
