/* SPDX-License-Identifier: MIT */
/* Two recordings, place by place. */
#ifndef PFM_DIFF_ROWS_H
#define PFM_DIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "profile/profile.h"

enum { OLD_SIDE, NEW_SIDE, SIDES };

/* By what values are divided before they are compared. */
enum diff_divisor {
	DIVIDE_BY_TOTAL, /* shares of the event's own weight */
	DIVIDE_BY_NOTHING,
	DIVIDE_BY_TIME,
	DIVIDE_BY_EVENT,
	DIVIDE_BY_NUMBERS
};

struct diff_event {
	char name[256];
	struct profile_sum sum[SIDES];
};

struct diff_row {
	uint32_t event;                    /* number of its struct diff_event */
	const struct profile_place *place; /* of either recording; NULL: the whole event */
	const struct profile *profile;     /* whose place it is */
	size_t order;                      /* in which it was found */
	uint64_t samples[SIDES], weight[SIDES];
	double value[SIDES];      /* divided, as parts of the event's old value */
	double change, low, high; /* new - old value, and the interval that holds it */
	double surely;            /* a bound of the change that holds in all rows together */
	double p;                 /* adjusted for the number of rows */
	bool is_significant;
};

struct diff {
	struct profile profiles[SIDES];
	const char *paths[SIDES];
	struct profile_options options;
	enum diff_divisor divisor;
	const char *divisor_event; /* of DIVIDE_BY_EVENT */
	double numbers[SIDES];     /* of DIVIDE_BY_NUMBERS */
	const char *event;         /* name or pattern of the events that are compared; NULL: all */
	double confidence;
	struct diff_event *events;
	uint32_t n_events;
	uint32_t *event_numbers[SIDES]; /* of the events of each recording in @events */
	struct diff_row *rows;
	size_t n_rows, rows_capacity;
	struct text_pool keys; /* row N is the place with key N */
};

/* Fewer samples in both recordings together are not tested: the more tests, the weaker each. */
enum { TESTED_SAMPLES = 10 };

/* Is the event compared, as far as d->event says? */
bool is_compared_event(const struct diff *d, const char *name);
/* Reports @problem on standard error, with the events of both recordings. EXIT_REFUSED. */
int refuse_events(const struct diff *d, const char *problem);
/* Reads both recordings and finds their events. EXIT_DONE, or EXIT_REFUSED with everything said. */
int read_diff(struct diff *d);
/* read_diff() with detail STACKS in the options, and writes a differential flame graph of one
 * event. (flame.c) */
int put_diff_flame_graph(struct diff *d, FILE *out);
/* Reads both recordings and compares them. EXIT_DONE, or EXIT_REFUSED with everything said. */
int compute_diff(struct diff *d);
/* True if most samples of NEW, and of OLD, are in functions that the other recording has in a file
 * of another name, as those of app-1.0 and app-1.1 are. *@old_name, *@new_name: the names of two
 * files. */
bool has_renamed_files(const struct diff *d, const char **old_name, const char **new_name);
void free_diff(struct diff *d);

#endif
