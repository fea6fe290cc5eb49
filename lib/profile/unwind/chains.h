/* SPDX-License-Identifier: MIT */
/* Call chains that the kernel did not walk: user stacks that were copied into samples, stacks of
 * the processor's branch records, and chains that come in a record of their own. */
#ifndef PFM_CHAINS_H
#define PFM_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <perfmon/sampling.h>
#include "base/hash.h"
#include "profile/budget.h"

struct object;
struct profile_messages;

/* The file that is mapped at an address; object NULL: memory without a file. */
struct mapped_code {
	struct object *object;
	uint64_t offset;
};

/* Finds what process @pid has at @address. False if nothing is mapped there. */
typedef bool (*find_code_fn)(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code);

struct waiting_sample;
struct waiting_thread;

/* All zeros is empty. */
struct chains {
	struct profile_messages *messages;
	uint64_t *words; /* of the last chain that was made */
	size_t n_words, capacity;
	struct waiting_sample *first_waiting, *last_waiting,
		*handed_out; /* records in their order */
	uint64_t waiting_bytes;
	struct budget waiting; /* of waiting_bytes */
	struct waiting_thread *threads;
	size_t n_threads, threads_capacity;
	struct hash_table thread_table;
	bool has_ended; /* no more frames will come */
	bool failed;    /* no memory */
};

/* Samples whose user frames come in a later record are held until it is there, and so are the
 * records after them, so that their order stays. Samples whose frames never come have
 * PFM_TRUNCATED_CHAIN. A caller takes records that were held first, then reads one and takes it at
 * once unless it is held. */

/* Takes the oldest record that was held, if it is complete. It is valid until the next call. */
bool chains_take_record(struct chains *c, pfm_record_t *record);
/* Holds @record, or reads the frames that it brings. False if the caller has it at once. */
bool chains_hold_record(struct chains *c, const pfm_record_t *record);
/* No more records come: those that are held are complete. */
void chains_end(struct chains *c);

/**
 * Give @record, a sample, the chain that its user registers and its copy of the stack, or its
 * branch records, describe.
 *
 * Sets PFM_TRUNCATED_CHAIN if the outermost function was not reached. The chain is valid until the
 * next call. False without memory.
 */
bool chains_complete(struct chains *c, pfm_record_t *record, find_code_fn find_code, void *arg);

/* Goes through the frames of a sample, the innermost first: those of its call chain, or of its
 * instruction. */
struct frame_walk {
	const pfm_record_t *record;
	uint64_t address; /* as in the chain */
	uint32_t mode;    /* PFM_MISC_MODE */
	bool is_caller;   /* the address is a return address: the call is before it. The first
	                     frame, and frames after a marker (of an entry into the kernel, of a
	                     signal), were interrupted: theirs is that of an instruction */

	/* used by walk_frames() alone, zeros at first */
	uint32_t at; /* in the chain */
	bool is_begun;
};

/* Goes to the next frame. False after the last. */
bool walk_frames(struct frame_walk *w);

void chains_free(struct chains *c);

#endif
