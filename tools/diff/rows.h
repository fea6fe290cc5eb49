/* SPDX-License-Identifier: MIT */
/* Recordings of two sides, place by place. */
#ifndef PFM_DIFF_ROWS_H
#define PFM_DIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "profile/profile.h"

enum { OLD_SIDE, NEW_SIDE, SIDES };

/* The divisor of values before they are compared. */
enum diff_divisor {
	DIVIDE_BY_TOTAL, /* shares of the event's own weight */
	DIVIDE_BY_NOTHING,
	DIVIDE_BY_TIME,
	DIVIDE_BY_EVENT,
	DIVIDE_BY_NUMBERS,
	DIVIDE_BY_VISITS
};

/* A recording: one run of the program of its side. */
struct diff_recording {
	struct profile profile;
	const char *path;
	unsigned side;
	double visits;           /* of DIVIDE_BY_VISITS */
	uint32_t *event_numbers; /* of its events in diff.events */
};

struct diff_event {
	char name[256];
	struct profile_sum sum[SIDES];
	struct profile_sum *runs; /* of each recording */
};

struct diff_row {
	uint32_t event;                    /* number of its struct diff_event */
	const struct profile_place *place; /* of either recording; NULL: the whole event */
	const struct profile *profile;     /* whose place it is */
	size_t order;                      /* in which it was found */
	uint64_t samples[SIDES], weight[SIDES];
	double value[SIDES];      /* divided, as parts of the event's old value; means of runs */
	double deviation;         /* standard deviation of the value of a run: measured, or, with
	                             one run on each side, by chance in sampling */
	double change, low, high; /* new - old value, and the interval that holds it */
	double surely;            /* a bound of the change that holds in all rows together */
	double p;                 /* adjusted for the number of rows */
	bool is_significant;
};

/* A function that has another name on the new side, as --match says. */
struct diff_match {
	const char *text;                             /* OLD=NEW */
	const char *old_function, *function, *object; /* NULL: not found yet */
};

/* Functions that one side alone has, with code that is alike. */
struct diff_offer {
	const struct diff_row *rows[SIDES];
	double similarity; /* 1: equal */
};

struct diff {
	struct diff_recording *recordings; /* those of the old side first */
	unsigned n_recordings, n_runs[SIDES];
	struct profile_options options;
	enum diff_divisor divisor;
	const char *divisor_event; /* of DIVIDE_BY_EVENT, or the unit of DIVIDE_BY_VISITS */
	double numbers[SIDES];     /* of DIVIDE_BY_NUMBERS */
	const char *event;         /* name or pattern of the events that are compared; NULL: all */
	double confidence;
	bool is_exact; /* an emulator counted each instruction of both sides, in one run of each */
	struct diff_event *events;
	uint32_t n_events;
	const char *renamed[SIDES]; /* names of a file that both sides have under two names, or
	                               NULL: its places are compared as those of one file */
	struct diff_row *rows;
	size_t n_rows, rows_capacity;
	uint64_t *run_weights; /* of row R in recording I: run_weights[R->order * n_recordings + I]
	                        */
	size_t run_weights_capacity;
	struct text_pool keys; /* row N is the place with key N */
	struct diff_match *matches;
	size_t n_matches, matches_capacity;
	struct diff_offer *offers;
	size_t n_offers, offers_capacity;
	size_t n_without_code; /* functions of one side that could not be compared by their code */
};

/* Fewer samples in both recordings together are not tested: the more tests, the weaker each. */
enum { TESTED_SAMPLES = 10 };

/* recordings.c */

/* Allocates the recordings of @paths, of which the first @n_old are of the old side. False without
 * memory. */
bool add_diff_recordings(struct diff *d, char **paths, unsigned n, unsigned n_old);
/* Is the event compared, as far as d->event says? */
bool is_compared_event(const struct diff *d, const char *name);
/* Has every recording samples of the event? */
bool is_event_of_all(const struct diff *d, const struct diff_event *e);
/* The event called @name; d->n_events if it is missing. */
uint32_t find_diff_event(const struct diff *d, const char *name);
/* Reports @problem on standard error, with the events of both sides. EXIT_REFUSED. */
int refuse_events(const struct diff *d, const char *problem);
/* Reads all recordings and finds their events. Sets d->is_exact, for which counts are compared
 * unless another divisor is wanted. EXIT_DONE, or EXIT_REFUSED after a message. */
int read_diff(struct diff *d);
void free_diff_recordings(struct diff *d);

/* rows.c */

/* Adds up the places of all recordings by their names, as rows. False without memory. */
bool collect_rows(struct diff *d);
/* Adds them up again, by the names that d->renamed and d->matches give them. */
bool collect_rows_again(struct diff *d);
/* True if the row is of a function that only side @side has. */
bool is_row_of_one_side(const struct diff_row *row, unsigned side);
/* The function of a row that has a place, and its object's name without folders. */
const char *get_row_function(const struct diff_row *row);
const char *get_row_object(const struct diff_row *row);
/* The weight of the row in recording @i. */
uint64_t get_run_weight(const struct diff *d, const struct diff_row *row, unsigned i);
void free_diff(struct diff *d);

/* compare.c */

/* Reads all recordings and compares them. EXIT_DONE, or EXIT_REFUSED after a message. */
int compute_diff(struct diff *d);
/* Are differences between runs measured? */
bool has_several_runs(const struct diff *d);
/* About how many runs of each side would mark a change as large as that of @row in 95 of 100
 * comparisons; 0: no number would. */
double estimate_needed_runs(const struct diff_row *row);

/* read_diff() with detail STACKS in the options, and writes a differential flame graph of one
 * event. (flame.c) */
int put_diff_flame_graph(struct diff *d, FILE *out);

#endif
