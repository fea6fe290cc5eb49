/* SPDX-License-Identifier: MIT */
/* --rotate of pfm stat and pfm serve, --schedule of pfm plan: groups of events take turns as a
 * schedule says, on all CPUs at once. */
#ifndef PFM_ROTATION_H
#define PFM_ROTATION_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/perfmon.h>

enum { ROTATION_MAX_WISHES = 64 };

/* "NAME=READINGS[/GAP]", or without the name for all. */
struct rotation_wish {
	const char *text; /* of the option */
	char *name;       /* NULL: all */
	pfm_wish_t wish;
};

struct rotation {
	bool is_on;
	bool skips_unknown; /* a wish for what is not counted is ignored, after a message */
	bool is_shifted;    /* shift the cycle by a hash of the machine's name */
	double slot_seconds;
	unsigned n_slots; /* slots of a cycle; 0: chosen by pfm_create_schedule() */
	struct rotation_wish wishes[ROTATION_MAX_WISHES];
	unsigned n_wishes;
	pfm_schedule_t *schedule;
	pfm_schedule_info_t info;
	unsigned slot;      /* current slot */
	unsigned n_past;    /* completed slots of this reading or run */
	uint64_t switch_ns; /* time in which groups were switched */
};

struct stat_job;

/* Makes the schedule of the groups of @plan, whose @n texts are @texts. Prints errors and returns
 * an exit status. */
int make_schedule(struct rotation *r, const pfm_plan_t *plan, const char *const *texts, unsigned n);
struct command_args;
/* --rotate with slots of @value milliseconds, @usual_ms if that is NULL; --wish. An exit status, or
 * -1 to go on. */
int set_rotation(struct command_args *args, struct rotation *r, const char *value,
                 unsigned usual_ms);
int parse_rotation_wish(struct command_args *args, struct rotation *r, const char *value);
void free_rotation(struct rotation *r);
/* Returns the nanoseconds until the current slot ends by the system clock, which keeps machines in
 * step. */
uint64_t compute_slot_end(const struct rotation *r);
/* Enables the groups of the current slot. Prints errors and returns an exit status. */
int select_slot(struct stat_job *job);
/* Ends the current slot and adds its counts to the rows' slot_rates. */
void end_slot(struct stat_job *job);
void forget_slots(struct stat_job *job);
/* Print the schedule as text, or write it as members of an object. */
void print_schedule(const struct rotation *r, const char *const *texts);
struct json;
void put_schedule(struct json *j, const struct rotation *r, const char *const *texts);

#endif
