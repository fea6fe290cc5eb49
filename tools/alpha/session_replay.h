/* SPDX-License-Identifier: MIT */
/* The steps of a session that pfm alpha session replays. (session_steps.c) */
#ifndef PERFMON_ALPHA_SESSION_REPLAY_H
#define PERFMON_ALPHA_SESSION_REPLAY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "alpha/model.h"

#define MAX_WORDS     4
#define MAX_ARRAY     (ALPHA_DEVICE_MAX_CPUS * 72u)
#define MAX_PROCESSES 26

struct program_memory {
	uint64_t words[MAX_WORDS], pointer;
	unsigned char array[MAX_ARRAY];
	size_t capacity; /* bytes of the array that exist */
};

struct session_replay_state {
	struct alpha_device *m;
	struct program_memory memory;
	json_t *answer;
	json_t *pal;               /* all wrperfmon calls */
	json_t *regs;              /* registers after the last start */
	int handle[MAX_PROCESSES]; /* one for each process letter; -1: not open */
	unsigned n_cpus;
	bool show_out, touches_mark;
	const char *wrong; /* what is malformed, or NULL */
};

/* Executes @step and adds its results to it. */
void run_step(struct session_replay_state *r, json_t *step);
/* The number that member @key of @o is or contains as a text; @otherwise if it is omitted. */
uint64_t read_key_number(struct session_replay_state *r, const json_t *o, const char *key,
                         uint64_t otherwise);
json_t *make_hex_string(uint64_t value, int digits);

#endif
