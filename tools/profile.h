/* SPDX-License-Identifier: MIT */
/* pfm report: a recording, added up. */
#ifndef PFM_PROFILE_H
#define PFM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/sampling.h>
#include "base/hash.h"

/* Texts by number: each is there once. */
struct text_pool {
	char **text;
	size_t n, capacity;
	struct hash_table table;
	bool failed; /* some text has not got a number, for want of memory */
};

/* The number of the text, the first text's number if memory runs out. */
uint32_t text_number(struct text_pool *t, const char *text);

/* Where samples were: all with the same event, task, object and function (and source line), or
 * (folded) with the same stack. */
struct profile_place {
	uint32_t event, task, object, function;
	uint32_t inlined, source; /* lines.h; 0: nothing is known */
	uint64_t samples, weight;
};

struct profile {
	pfm_session_t *session;
	struct text_pool texts;
	struct profile_place *places,
		*stacks; /* stacks: function is the number of "task;outer;inner" */
	size_t n_places, n_stacks;
	uint64_t n_lost, lost_samples; /* records, as buffers told it; samples, as events did, which
	                                  may be among them */
	uint64_t throttled, n_without_event; /* homeless: samples that are of no event here */
	uint64_t *weights, *samples;         /* of each event */
	unsigned n_events;
	bool failed;  /* no memory */
	bool damaged; /* the recording breaks off before its end */
};

/* Kinds of rows: places, places by source line, or stacks. */
enum profile_detail { FUNCTIONS, SOURCE, STACKS };

/* Reads the recording @path. DONE or REFUSED, everything said. */
int profile_read(struct profile *p, const char *path, enum profile_detail detail);
void profile_free(struct profile *p);
/* @name in a line of its own, as far as that has room: ends of lines in it are shown as "\x0a".
 * Returns @buf. */
#define NAME_LINE 4096
char *profile_line(const char *name, char buf[NAME_LINE]);
/* A flame graph of the stacks, one file that any browser shows. DONE, or REFUSED without memory.
 * (flame.c) */
int put_flame_graph(const struct profile *p, FILE *out, const char *title);

#endif
