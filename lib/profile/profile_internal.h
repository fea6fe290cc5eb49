/* SPDX-License-Identifier: MIT */
/* Shared by the sources that add up samples:
 *
 *   places.c         places of samples, and nodes of call trees
 *   address_names.c  objects, functions and source lines of addresses
 *   stack_text.c     stacks as texts
 *   samples.c        samples, added to places, stacks and trees
 *   call_tree.c      sums of call trees
 *   profile.c        recordings and sessions, read sample by sample
 *
 * A file calls those above it. */
#ifndef PFM_PROFILE_INTERNAL_H
#define PFM_PROFILE_INTERNAL_H

#include "profile/profile.h"
#include "profile/sample_visitor.h"

enum { FRAMES_MAX = 1024 };

#define CUT_OFF "[cut off]" /* callers that a chain lacks */

/* The frames of a sample, the innermost first. */
struct frames {
	uint64_t address[FRAMES_MAX];
	uint32_t mode[FRAMES_MAX]; /* PFM_MISC_MODE */
	unsigned n_frames;
};

/* Names of code: the members of a place that depend on the address. */
struct code_names {
	uint32_t object, function, inlined, source, build_id;
	uint64_t shown;      /* the address: of the file, where there is one */
	uint64_t address;    /* with file_addresses, if @end is not 0 */
	uint64_t start, end; /* with file_addresses or code_ranges */
	uint32_t code;       /* with code_ranges */
};

/* An address whose names are known: the offset in a file, in whatever processes it is mapped, or
 * the address in one process as long as its mappings do not change. Compilers that run a thousand
 * times share the names of their files. */
struct named_address {
	const struct object *file; /* NULL: of one process, or of the kernel */
	uint64_t address;
	uint32_t mode, generation; /* generation 0: free, or of a file */
	struct code_names names;
};

/* A stack whose node, or text, is known, as long as the mappings of its process do not change. Two
 * stacks with one hash, which a file cannot choose, are taken for one: with a million stacks that
 * is as probable as 1e-7. With 400,000 samples of 300 stacks a call tree takes a sixth of the
 * time. */
struct known_stack {
	uint64_t hash;
	uint32_t generation, index; /* generation 0: free */
};

enum { INLINED_MAX = 256, KNOWN_PLACES_MAX = 4 }; /* as many as inline_index.h finds */

/* Places of one frame: its function, then what is inlined there, the outermost first. */
struct frame_places {
	uint32_t list[1 + INLINED_MAX];
	unsigned n;
};

/* Names and a sample's key whose places are known: most addresses are new, few of their functions
 * are. With 500,000 samples of a compiler a report takes a sixth of the time more without. */
struct known_frame {
	uint64_t key; /* the hash of the members of the place that the sample has; 0: free */
	uint64_t address;
	uint32_t object, function, inlined, source, build_id;
	uint32_t n_places, places[KNOWN_PLACES_MAX];
};

/* The number of a text, by its address in memory. With 500,000 samples of which most have an
 * address of their own, a report takes a tenth of the time more without. */
struct known_text {
	const char *text;
	uint32_t number;
};

enum {
	NAMED_ADDRESSES_LOG2 = 14,
	KNOWN_FRAMES_LOG2 = 12,
	KNOWN_TEXTS_LOG2 = 12,
	KNOWN_STACKS = 1 << 16
};

/* State while the recording is read. */
struct profile_reader {
	struct profile *target_profile;
	struct sample_visitor visit;
	struct hash_table place_table, stack_table, node_table;
	size_t places_capacity, stacks_capacity, nodes_capacity;
	struct profile_options options;
	unsigned keys;
	bool *is_wanted; /* of each event; NULL: all are */
	struct frames frames;
	struct named_address named[1 << NAMED_ADDRESSES_LOG2];
	struct known_frame known_frames[1 << KNOWN_FRAMES_LOG2];
	struct known_text known_texts[1 << KNOWN_TEXTS_LOG2];
	struct known_stack known_stacks[KNOWN_STACKS];
	uint32_t sample_generation;      /* of the process of the sample that is read */
	uint64_t key_parts[4], key_hash; /* of the last sample; hash 0: there was none */
	char *stack;                     /* a text that is made */
	size_t stack_capacity;
	struct budget stack_size;
};

/* The index of the place with the key of @key, which is added without samples if it is new;
 * HASH_NOT_FOUND without memory. */
uint32_t places_find(struct profile_place **places, size_t *n, size_t *capacity,
                     struct hash_table *t, const struct profile_place *key);
void places_add_sample(struct profile_place *place, uint64_t weight);
/* The child of @parent at @place, which is added if it is new. NULL without memory. Valid until the
 * next call. */
struct profile_node *places_find_or_add_node(struct profile_reader *r, uint32_t parent,
                                             uint32_t place);

/* text_pool_add() of a text that stays where it is, such as the name of a symbol. */
uint32_t names_get_text_number(struct profile_reader *r, const char *text);
/* Finds object and function of @address, and what is inlined there. */
void names_find_at_address(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                           struct profile_place *at);

/* The number of "task;outer;...;inner"; of "task;[cut off];..." where the chain may not reach the
 * outermost function. */
uint32_t number_stack_text(struct profile_reader *r, const pfm_record_t *record, uint32_t task);

/* Adds a sample to the profile, if it is wanted. */
void samples_read(struct profile_reader *r, const struct visited_sample *sample);

#endif
