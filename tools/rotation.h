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
	bool is_shifted; /* by the name of the machine */
	double slot_seconds;
	unsigned n_slots; /* of a cycle, 0: as pfm_create_schedule() chooses */
	struct rotation_wish wishes[ROTATION_MAX_WISHES];
	unsigned n_wishes;
	pfm_schedule_t *schedule;
	pfm_schedule_info_t info;
	unsigned slot;   /* that is under way */
	unsigned n_past; /* slots that are over, of this reading or run */
};

/* Slots of one row: how its rate differs from one to the next. */
struct slot_rates {
	double raw, running; /* in the slot under way */
	double mean, squares;
	unsigned n;
};

struct stat_job;
struct stat_row;

/* Lays out the groups of @plan, whose @n texts are @texts. Prints errors and
 * returns an exit status. */
int make_schedule(struct rotation *r, const pfm_plan_t *plan, const char *const *texts, unsigned n);
struct command_args;
/* --rotate with slots of @value milliseconds, @usual_ms if that is NULL; --wish. An exit status, or
 * -1 to go on. */
int set_rotation(struct command_args *args, struct rotation *r, const char *value,
                 unsigned usual_ms);
int parse_rotation_wish(struct command_args *args, struct rotation *r, const char *value);
void free_rotation(struct rotation *r);
/* Nanoseconds until the slot under way ends, by the clock of the system: machines are in step. */
uint64_t find_slot_end(const struct rotation *r);
/* Lets the groups of the present slot count. Prints errors and returns an exit status. */
int select_slot(struct stat_job *job);
/* The slot under way is over; its counts are in the rows' slot_rates. */
void end_slot(struct stat_job *job);
void forget_slots(struct stat_job *job);
/* Standard error of a count that is the mean of slots, in percent; negative: unknown. */
double find_slot_error(const struct stat_job *job, const struct stat_row *row);
/* The schedule for people, or as members of an object. */
void print_schedule(const struct rotation *r, const char *const *texts);
struct json;
void put_schedule(struct json *j, const struct rotation *r, const char *const *texts);

#endif
