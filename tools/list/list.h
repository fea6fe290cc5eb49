/* SPDX-License-Identifier: MIT */
/* pfm list, in pieces: which PMUs and events are listed (select.c), which events
 * match (match.c), how they are shown (print.c), words
 * for the shell's completion (complete.c), events that no table has (forms.c), what is
 * missing (missing.c), and the command (list.c). */
#ifndef PFM_LIST_H
#define PFM_LIST_H

#include "common/metric.h"
#include "find/word_match.h"

#include <regex.h>

enum { FOLDED_MAX = 256, NAME_COLUMN = 34, TEXT_SIZE_MAX = 1024 };

struct lister {
	pfm_ctx_t *ctx;
	const char *pattern;  /* folded; NULL: everything */
	const char *question; /* the pattern as the user wrote it, or NULL */
	bool has_named_event; /* the pattern is the name of an event */
	int named_pmu;
	unsigned named_event;
	char alias[FOLDED_MAX];          /* that name as the pattern spells it */
	struct word_query words;         /* words of the question, if is_ranked */
	bool is_ranked;                  /* sort by rank: best matches first */
	regex_t expression;              /* replaces pattern if is_expression */
	int pmu;                         /* index of the requested PMU, or -1 */
	bool is_expression, other_hosts; /* other_hosts: also list other machines' processors */
	bool json, all_pmus, pmus_only, descriptions, metrics, no_pager;
	uint64_t counters;     /* events must have one of these; 0: any */
	const char *unit_name; /* only events of this unit; NULL: all */
	struct json out;
	size_t width;              /* columns of the terminal; 0 without a terminal */
	bool is_narrow;            /* too narrow for two columns side by side */
	size_t column;             /* column of descriptions */
	struct found_event *found; /* matching events of a PMU */
	size_t found_capacity;     /* allocated elements of found */
	size_t n_pmus, n_events, n_tracepoints, n_forms;
	char folded[FOLDED_MAX];
};

/* An event that matched. */
struct found_event {
	const char *name, *desc, *replaced;
	const char *unit;  /* unit of a metric */
	const char *topic; /* topic by which events are grouped */
	const char *alias; /* the alias that matched the pattern, or NULL */
	int pmu;
	unsigned event, flags, rank;
};

/* Ranks of answers to -d: the name, a part of the name, words that mean the same (plus their cost),
 * a part of the description. */
enum { RANK_NAME, RANK_PART, RANK_WORDS, RANK_TEXT = RANK_WORDS + WORD_COST_MAX, RANK_NONE };

/* Writes @text in lower case without blanks, "-" and "_" to @out; ":" becomes ".". */
void fold_case(const char *text, char *out, size_t size);
/* True if the pattern is in @text. */
bool contains_text(const struct lister *l, const char *text);
/* True if the pattern is a name of @e: "branches" is branch-instructions. */
bool is_named_event(const struct lister *l, const perfmon_event_info_t *e);
/* True if the pattern is all of @name. */
bool is_whole_name(const struct lister *l, const char *name);
/* Returns the rank of @e as an answer to -d; a smaller one is better. */
unsigned compute_rank(const struct lister *l, const perfmon_event_info_t *e);
bool matches_pattern(const struct lister *l, const perfmon_event_info_t *e);
/* For qsort(): by rank, then by topic. */
int compare_found(const void *a, const void *b);

/* Prints the line that comes before the events of @pmu. */
void print_list_heading(const struct lister *l, const perfmon_pmu_info_t *pmu);
/* Prints @n events of one PMU, a line each. */
void print_found(const struct lister *l, const struct found_event *found, size_t n);
/* Prints the @n events in l->found as JSON, a line each. */
void put_found_events(struct lister *l, const perfmon_pmu_info_t *info, size_t n);
/* Prints a PMU as one line, or as a JSON object. */
void print_listed_pmu(struct lister *l, const perfmon_pmu_info_t *p);

/* ---- what is listed (select.c) --------------------------------------------------------------- */

/* True if the user asked for something in particular. */
bool is_search(const struct lister *l);
/* Lists PMUs and events as requested. Returns an exit status. */
int list_all(struct lister *l);
/* True if @pmu has metrics and no events. */
bool has_only_metrics(const struct lister *l, int pmu, const perfmon_pmu_info_t *info);
/* Lists tracepoints that match the pattern, or all of them if they are requested by name; other
 * lists do not contain them because there are too many. (forms.c) */
void list_tracepoints(struct lister *l);
/* Shows how events of the kernel's PMUs without a list are written, if the request is for
 * everything, for the PMU, or matches it. */
void list_forms(struct lister *l);
/* Prints the completions of @prefix, one a line: processors, events, unit masks. Returns an exit
 * status. */
int complete_list_text(const struct lister *l, const char *prefix);

/* ---- what is missing (missing.c) ------------------------------------------------------------- */

/* Writes @name with the requested PMU. Returns where the name begins. */
size_t write_event_text(const struct lister *l, const char *name, char text[2 * FOLDED_MAX]);
/* Prints names that are similar to the pattern after @title; of this machine only, if @here. */
void print_similar_names(const struct lister *l, const char *title, bool here);
/* Reports the images that cannot be used, because their events are missing from the list. */
void report_rejected_images(const struct lister *l);
/* Reports that nothing matches @pattern (NULL: everything). Returns EXIT_REFUSED. */
int report_nothing_found(const struct lister *l, const char *pattern);
/* Reports that the name before "::" in @pattern is not a PMU. Returns EXIT_REFUSED. */
int report_unknown_pmu(const struct lister *l, const char *pattern);

/* Compares the most common events with known counts and reports them, unless the machine is a
 * folder of files. (known_counts.c) */
void report_known_counts(pfm_ctx_t *ctx, bool json);

#endif
