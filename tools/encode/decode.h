/* SPDX-License-Identifier: MIT */
/* Shared by the files of pfm decode: operands in decode.c, events of several configuration
 * words in decode_words.c. */
#ifndef PFM_DECODE_H
#define PFM_DECODE_H

#include "common/pfm.h"

enum { EVENT_MAX = 2048, EVENTS_SHOWN = 64, N_WORDS = 5 };

/* The events that a register selects, or several words of perf_event_attr. */
struct found_events {
	char event[EVENTS_SHOWN][EVENT_MAX];
	unsigned n;
	bool more;
};

struct decoder {
	pfm_ctx_t *ctx;
	int pmu;
	unsigned n_events;
	const char *pmu_name;
	bool json;
	struct json out;
	struct found_events found;
};

/* A REG=VALUE operand. */
struct setting {
	char reg[64];
	uint64_t value;
};

/* Words of one perf_event_attr: bit i of given, and value[i]. */
struct config_words {
	unsigned given;
	uint64_t value[N_WORDS];
};

/* Bits of the value that are in no field. */
uint64_t compute_bits_without_field(const struct decoder *d, const struct setting *s);
/* Adds an event unless it is there. */
void add_found_event(struct found_events *f, const char *event);

/* Adds the events of words that were given together, which belong to one event. */
void list_joint_events(struct decoder *d, const struct config_words *given);

#endif
