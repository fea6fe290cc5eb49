/* SPDX-License-Identifier: MIT */
/* pfm stat: lists of events, what became of each count, and how it is shown. */
#ifndef PFM_STAT_H
#define PFM_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/perfmon.h>

/* ---- lists of events (stat_list.c) ---------------------------------------------------------------------------------------- */

/* Texts for pfm_open_session(), each an event or a group in braces. */
struct event_list {
	char **texts;
	unsigned n;
};

/* Adds the events of @list, which a comma separates unless it stands inside slashes or braces, or before a qualifier of the event
 * before it (KEY=VALUE, or one of the words edge, inv, os, usr). False without memory. */
bool event_list_add(struct event_list *events, const char *list);
void event_list_free(struct event_list *events);

/* ---- counts (stat_report.c) ------------------------------------------------------------------------------------------------ */

/* A count over all runs, or in one interval. */
struct tally {
	pfm_count_t count;    /* the last one that has a value, else the last; its quality the worst of those with a value */
	unsigned runs;        /* how often it was tried */
	unsigned counted;     /* how often there was a value */
	double mean, squares; /* of the values; squares of differences from the mean */
};

void tally_add(struct tally *t, const pfm_count_t *count);
/* True if there is a value to show. */
bool has_value(const pfm_count_t *count);
/* What was counted between two readings of one session. */
pfm_count_t count_between(const pfm_count_t *before, const pfm_count_t *now);

struct report {
	FILE *out;
	bool json;
	const pfm_ctx_t *ctx;
	const pfm_session_t *session;
	const struct tally *tallies;
	unsigned n;          /* counts */
	double elapsed;      /* seconds, of one run */
	double user, system; /* CPU seconds of the command, negative without one */
	double time;         /* end of the interval, negative if these are whole runs */
	unsigned repeat;
	const char *target; /* what was counted, for the heading */
	bool per_cpu;       /* each count is one CPU's */
};

/* 0, or the error number of writing. */
int report_counts(const struct report *r);
/* What would be programmed, instead of counts. */
void report_plan(FILE *out, bool json, const pfm_ctx_t *ctx, const pfm_session_t *session);

#endif
