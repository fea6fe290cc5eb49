/* SPDX-License-Identifier: MIT */
/* Views of a profile: tables, call trees and JSON. */
#ifndef PFM_REPORT_VIEW_H
#define PFM_REPORT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "common/pfm.h"
#include "profile/profile.h"

struct metric_column; /* metrics.c */

/* The columns of keys in rows below each other. (keys.c) */
struct key_layout {
	size_t cgroup, task, object; /* widths; where names are cut, 0 leaves a column out */
	size_t name, depth;          /* the widest function, and the deepest */
	size_t step, indent_max;     /* columns of an indentation for each depth, and at most */
	bool is_cut;                 /* rows take the columns of a terminal */
};

extern const struct key_layout plain_key_layout;

/* Widens the columns of @l, which begin empty, for the keys of @at. */
void measure_keys(struct key_layout *l, const struct profile *p, const struct profile_place *at,
                  unsigned keys, unsigned depth);
/* Fits measured columns into @columns of a terminal: names of tasks, objects and control groups
 * become narrower, then are left out; what is left is for functions. */
void fit_keys(struct key_layout *l, unsigned keys, size_t columns);
/* Prints the columns of the keys of @at, its function indented by @depth steps, and the end of the
 * line. */
void put_key_columns(FILE *out, const struct profile *p, const struct profile_place *at,
                     unsigned keys, const struct key_layout *l, unsigned depth);

/* Options of pfm report, and the recording. */
struct report_job {
	struct profile profile;
	struct profile_options options;
	bool json, folded, svg;
	const char *html; /* path of the page, or NULL */
	bool shows_waits; /* --off-cpu */
	bool shows_locks, shows_wakers;
	bool is_plain;                 /* --stdio */
	bool is_browsed;               /* on the terminal, by keys */
	uint64_t line_limit;           /* of each event and slice; 0: all */
	const char *event;             /* name or pattern of the events that are shown; NULL: all */
	const char *metric_names;      /* with options.metrics: those to show; NULL: all */
	struct metric_column *columns; /* one for each metric */
	unsigned n_columns;
	unsigned n_shown_columns; /* the first ones: as many as fit into the terminal */
	int metric_width;         /* of their cells; 0: as wide as their titles */
	size_t terminal_columns;  /* 0: output goes elsewhere, and is not cut */
	bool has_two_shares;      /* with callees, and without */
	pfm_ctx_t *ctx;           /* of the metrics */
};

/* Prints where tasks ran and waited. Returns an exit status. (waits.c) */
int put_waits(const struct report_job *job);
/* The cause for which a function of the kernel waits; NULL if it can be several. */
const char *find_wait_cause(const char *function, size_t len);
/* Prints the waits of --locks or --wakers, and who ended them. Returns an exit status. (waiting.c)
 */
int put_waiting(const struct report_job *job, const char *path);

enum { SHARE_COLUMNS = 15 }; /* of put_share() */

/* Columns of the shares before the other columns. (places.c) */
size_t measure_share_columns(const struct report_job *job);
/* Columns of the terminal beside @used ones. */
size_t measure_room_after(const struct report_job *job, size_t used);

/* Those of options.keys, or the default ones. (places.c) */
unsigned report_keys(const struct profile_options *o);
/* The keys that pfm diff and pfm report know. */
enum {
	DIFF_KEYS = KEY_TASK | KEY_OBJECT | KEY_SYMBOL | KEY_LINE | KEY_CPU | KEY_CGROUP,
	REPORT_KEYS = DIFF_KEYS | KEY_ADDRESS
};

/* Parses the value of --sort, names of keys separated by commas, into *@keys. Reports a key that is
 * not one of @allowed and returns false. (keys.c) */
bool option_keys(struct command_args *args, const char *value, unsigned allowed, unsigned *keys);
/* The name of event number @event; valid until the next call. */
const char *get_event_name(const struct profile *p, unsigned event);
const struct profile_sum *get_place_sum(const struct profile *p, const struct profile_place *at);
/* The number of samples of all events. */
uint64_t count_profile_samples(const struct profile *p);
/* Start of slice number @slice, in seconds from the first sample. */
double compute_slice_start(const struct profile *p, unsigned slice);
/* Prints the line of an event, or of an event in a slice, above its table. */
void put_group_title(const struct profile *p, unsigned event, unsigned slice);
/* "  12.34% +- 0.56" */
void put_share(FILE *out, double share, const struct profile_sum *sum);
/* Adds the members for the keys of @at. */
void put_key_members(struct json *j, const struct profile *p, const struct profile_place *at,
                     unsigned keys);
/* Adds the members @prefix "samples", "weight", "share" and "error". */
void put_share_members(struct json *j, const char *prefix, uint64_t samples, uint64_t weight,
                       const struct profile_sum *sum);

/* Finds the metrics that are shown: those of metric_names, those that the recording was made for,
 * or every one whose events were recorded. EXIT_DONE, or EXIT_REFUSED after a message.
 * (metrics.c) */
int choose_metric_columns(struct report_job *job, const char *path);
void free_metric_columns(struct report_job *job);
/* Fits the columns of metrics into the terminal, beside shares and names of functions: cells become
 * narrower, then the last ones are left out, then the second share. */
void fit_metric_columns(struct report_job *job);
/* Columns that the metrics take. */
size_t measure_metric_cells(const struct report_job *job);
/* Names the metrics that are left out. */
void put_hidden_metrics(const struct report_job *job);
/* Print a title, or a value with its standard error, for each metric. @block: the counts of the
 * place. */
void put_metric_titles(const struct report_job *job);
void put_metric_cells(const struct report_job *job, uint32_t block);
/* Adds the member "metrics" if metrics are shown. */
void put_metric_members(struct json *j, const struct report_job *job, uint32_t block);
/* The metrics that pfm record -M recorded for, with commas between; NULL if the file does not name
 * any. To be freed. (recorded_metrics.c) */
char *read_recorded_metrics(const char *path);

/* Print the places, as tables and as JSON. */
void put_places(const struct report_job *job);
void put_places_json(const struct report_job *job);
/* Print the call trees, as text and as JSON. EXIT_DONE, or EXIT_REFUSED without memory. (tree.c) */
int put_trees(const struct report_job *job);

#endif
