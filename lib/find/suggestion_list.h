/* SPDX-License-Identifier: MIT */
/* The best suggestions so far, and how similar a name is to a token. */
#ifndef PERFMON_FORMAT_SUGGESTION_LIST_H
#define PERFMON_FORMAT_SUGGESTION_LIST_H

#include "base/text.h"

#define SUGGESTION_SIZE 96u
#define MAX_SUGGESTIONS 8u

/* Costs of a suggestion; the lowest comes first. An edit distance is below 16. */
enum {
	COST_MATCH = 0,          /* of a PMU's own names: plus enum name_match */
	COST_WORDS = 4,          /* plus that of the words, at most WORD_COST_MAX */
	COST_DISTANCE = 24,      /* plus the distance */
	COST_COMPLETION = 32,    /* names that begin with the token */
	COST_SUBSTRING = 72,     /* names that contain it */
	COST_ELSEWHERE = 96,     /* another PMU's name, plus the distance */
	COST_PARTIAL_NAME = 103, /* another PMU's name that is a part of the text */
};

/* The best names so far, best first; names of equal cost keep their order. */
struct suggestion_list {
	char (*names)[SUGGESTION_SIZE];
	unsigned cost[MAX_SUGGESTIONS];
	uint64_t subject_id[MAX_SUGGESTIONS]; /* identity, each suggested once; 0: none */
	unsigned n_names, max_names;
};

/* A name without case, blanks, dashes and underscores. */
struct folded_name {
	unsigned char chars[SUGGESTION_SIZE];
	unsigned length;
};

/* Adds "@before@name". */
void pfmi_find_add_suggestion(struct suggestion_list *l, unsigned cost, uint64_t id,
                              const char *before, const char *name);
/* The text in the form in which names are compared (table/table.h). */
struct folded_name pfmi_find_fold_text(struct slice s);
/* The cost of @name for @token, or ~0u if they are too different. Completions come after every
 * misspelling. */
unsigned pfmi_find_compute_name_cost(const struct folded_name *token, const char *name,
                                     bool complete);
/* Adds @name if it is similar to @token. */
void pfmi_find_suggest_name(struct suggestion_list *l, const struct folded_name *token, uint64_t id,
                            const char *name, bool complete);

#endif
