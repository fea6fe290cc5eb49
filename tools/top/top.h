/* SPDX-License-Identifier: MIT */
/* pfm top: a profile that grows, as a table or as the callers of one function (view.c). */
#ifndef PFM_TOP_H
#define PFM_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profile/profile.h"
#include "common/event_list.h"
#include "common/pfm.h"
#include "stat/stat.h"

/* The part of a profile that is shown. */
struct top_view {
	unsigned event;      /* whose samples */
	bool is_by_children; /* sorted by the share with callees */
	bool has_children;   /* callees have shares: call chains are recorded */
	size_t chosen;       /* row of the cursor */
	bool is_zoomed;      /* the callers of one function, instead of the table */
	uint32_t zoomed;     /* its place */
	bool has_cursor;
	size_t columns; /* of the lines; 0: names are not cut */
};

/* Lines of text, without their ends. */
struct text_lines {
	char **line;
	size_t n, capacity;
	bool failed;
};

void text_lines_free(struct text_lines *lines);
/* Adds at most @limit rows of the table, or of the callers, to @lines, and how many are left out.
 * Returns the place of the chosen row, UINT32_MAX without rows. Without memory
 * @lines->failed. */
uint32_t put_top_rows(const struct profile *p, unsigned keys, struct top_view *view, size_t limit,
                      struct text_lines *lines);

/* ---- the command (top.c) --------------------------------------------------------------------- */

enum { TOP_KEYS = KEY_TASK | KEY_OBJECT | KEY_SYMBOL };

struct top_job {
	struct event_list events;
	pfm_sampling_t sampling;
	pfm_ctx_t *ctx;
	pfm_session_t *session; /* until the profile has it */
	struct profile profile;
	struct profile_options options;
	struct profile_reader *reader;
	struct top_view view;
	struct child child;
	char **command;
	const char *cpus;
	double delay;
	uint64_t pid, line_limit, iterations, n_tables;
	uint64_t samples_before, table_time; /* at the last table */
	double rate;                         /* samples a second between the last two tables */
	unsigned keys;
	uint32_t chosen_place;
	bool all_cpus, one_thread, no_inherit, zero, is_screen, is_paused, has_help, has_ended,
		is_over;
	int wait_status;
};

/* Begins anew with the keys of @job. */
void forget_top_samples(struct top_job *job);

/* ---- tables (tables.c) ----------------------------------------------------------------------- */

/* Choose the next set of keys, or the next event with samples. */
void choose_next_keys(struct top_job *job);
void choose_next_event(struct top_job *job);
void draw_top_screen(struct top_job *job);
/* Shows the table that is due, unless paused. */
void finish_top_table(struct top_job *job);

#endif
