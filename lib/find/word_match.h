/* SPDX-License-Identifier: MIT */
#ifndef PERFMON_WORD_MATCH_H
#define PERFMON_WORD_MATCH_H

#include "base/text.h"

#define WORD_MAX_CONCEPTS 10u
#define WORD_TEXT_SIZE    256u
#define WORD_COST_MAX     19u   /* of a name that matches */
#define WORD_NO_MATCH     (~0u) /* a concept is missing */

/* A question in plain words, as the concepts that an answer has. */
struct word_query {
	/* Each concept: alternatives, separated by '|'. */
	struct slice concepts[WORD_MAX_CONCEPTS];
	unsigned n_concepts;
	unsigned optional_concepts; /* bit i: answers may lack concept i; never all of them */
	unsigned n_may_miss;        /* concepts that an answer may lack; 0 after parsing */
	bool desc_suffices;         /* a description may have all concepts; false after parsing */
	bool is_generic;            /* perf's name of the event that most processors have */
	bool is_known;              /* one of the concepts is in the table of synonyms */
	char text[WORD_TEXT_SIZE];  /* the folded question; concepts point to it: do not copy */
};

/* Splits @text into concepts: "LLC misses" has the concepts last-level cache and miss. */
void pfmi_find_parse_words(struct word_query *query, struct slice text);

/* Lets answers lack one concept more, at most one of three. False if that is too many. */
bool pfmi_find_relax_words(struct word_query *query);

/* The cost of the event called @name as an answer, at most WORD_COST_MAX, or WORD_NO_MATCH. Each
 * concept is in the name or, at a higher cost, in the description. */
unsigned pfmi_find_compute_word_cost(const struct word_query *query, const char *name,
                                     const char *desc);

#endif
