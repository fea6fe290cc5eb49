/* SPDX-License-Identifier: MIT */
/* Views of a profile: tables, call trees and JSON. */
#ifndef PFM_REPORT_VIEW_H
#define PFM_REPORT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include "profile.h"

/* Options of pfm report, and the recording. */
struct report_job {
	struct profile profile;
	struct profile_options options;
	bool json, folded, svg;
	uint64_t line_limit; /* of each event and slice; 0: all */
	const char *event;   /* name or pattern of the events that are shown; NULL: all */
};

/* Those of options.keys, or the default ones. (report_places.c) */
unsigned report_keys(const struct profile_options *o);
/* The names of keys with commas between, "task,object". Returns false for other text and sets
 * *@wrong to the word. */
bool read_report_keys(const char *text, unsigned *keys, const char **wrong);
/* The name of event number @event; valid until the next call. */
const char *event_name(const struct profile *p, unsigned event);
/* The name of a file without its folders. */
const char *base_name(const char *path);
const struct profile_sum *sum_of_place(const struct profile *p, const struct profile_place *at);
/* Standard error of a share of @n samples. */
double standard_error(double share, uint64_t n);
/* Start of slice number @slice, in seconds from the first sample. */
double slice_start(const struct profile *p, unsigned slice);
/* Prints the line of an event, or of an event in a slice, above its table. */
void put_group_title(const struct profile *p, unsigned event, unsigned slice);
/* "  12.34% +- 0.56" */
void put_share(double share, uint64_t n);
/* Prints the columns of the keys of @at, its function indented by @depth steps, and the end of the
 * line. */
void put_key_columns(const struct profile *p, const struct profile_place *at, unsigned keys,
                     unsigned depth);
/* Adds the members for the keys of @at. */
void put_key_members(struct json *j, const struct profile *p, const struct profile_place *at,
                     unsigned keys);
/* Adds the members @prefix "samples", "weight", "share" and "error". */
void put_share_members(struct json *j, const char *prefix, uint64_t samples, uint64_t weight,
                       const struct profile_sum *sum);

/* Print the places, as tables and as JSON. */
void put_places(const struct report_job *job);
void put_places_json(const struct report_job *job);
/* Print the call trees, as text and as JSON. DONE, or REFUSED without memory. (report_tree.c) */
int put_trees(const struct report_job *job);

#endif
