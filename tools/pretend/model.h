/* SPDX-License-Identifier: MIT */
/* Models: what the events of a pretended machine count, as text. docs/man1/pfm-pretend.1 describes
 * the language. */
#ifndef PFM_PRETEND_MODEL_H
#define PFM_PRETEND_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count as a sum: of nanoseconds of the task's clock, of page faults and of context switches,
 * each times a factor, and a number. */
enum model_base { BASE_CLOCK, BASE_FAULTS, BASE_SWITCHES, BASE_CONSTANT, N_BASES };
struct model_rate {
	double by[N_BASES];
};

enum model_fault {
	FAULT_NONE,
	FAULT_BUSY,
	FAULT_WRAP,
	FAULT_ZERO,
	FAULT_SHARE,
	FAULT_SILENT,
	FAULT_TAKEN,    /* another user counts the event all the time */
	FAULT_GONE,     /* the CPU goes off line after a time */
	FAULT_THROTTLE, /* the kernel throttles the event after so many samples */
	FAULT_MOVED     /* the virtual machine moves to a host without a PMU after a time */
};

enum { MODEL_PATTERN_MAX = 128, MODEL_PHASES = 16 };

/* A line "event PATTERN EXPRESSION". */
struct model_event {
	char pattern[MODEL_PATTERN_MAX];
	struct model_rate rate;
};

/* A line "let NAME = EXPRESSION". */
struct model_name {
	char name[64];
	struct model_rate rate;
};

/* A line "generic NAME EVENT | EVENT...": a generic event of the kernel. */
struct model_generic {
	char name[64];
	char events[256]; /* separated by "|": the first that the processor has */
};

/* A line "fault KIND PATTERN [NUMBER]". */
struct model_trouble {
	enum model_fault fault;
	char pattern[MODEL_PATTERN_MAX];
	double number;
};

/* Part of a cycle in which counts by the clock have another speed. */
struct model_phase {
	double length, speed; /* nanoseconds; factor */
};

struct model {
	char name[64];
	double user_share; /* of events that count at user level alone */
	size_t n_events, n_names, n_generics, n_troubles, n_phases;
	size_t events_capacity, names_capacity, generics_capacity, troubles_capacity;
	struct model_event *events;
	struct model_name *names;
	struct model_generic *generics;
	struct model_trouble *troubles;
	struct model_phase phases[MODEL_PHASES];
};

/* Reads the model @text, called @name in messages. False after a report of a line that is wrong. */
bool read_model(struct model *m, const char *name, const char *text);
void free_model(struct model *m);
/* The count of event @event ("INST_RETIRED.ANY") of PMU @pmu: that of the first line whose pattern
 * matches it or "PMU::EVENT". */
struct model_rate get_model_rate(const struct model *m, const char *pmu, const char *event);
/* The fault of the event, with its number; FAULT_NONE for most. Those of other users are theirs. */
enum model_fault get_model_fault(const struct model *m, const char *pmu, const char *event,
                                 double *number);
/* The base that a rate depends on beside its number. */
enum model_base get_rate_base(const struct model_rate *r);
/* The count from @before to @after ticks of the base; counts by the clock have the @speed of their
 * phases. A number is counted with the first tick. */
double compute_model_count(const struct model_rate *r, double before, double after, double speed);
/* The mean speed of the phases from one moment to a later one, in nanoseconds. */
double get_mean_speed(const struct model *m, double from, double to);

#endif
