/* SPDX-License-Identifier: MIT */
/* pfm check-events: compares what events count with what the kernels of lib/truth do. */
#ifndef PFM_CHECK_EVENTS_H
#define PFM_CHECK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <perfmon/perfmon.h>
#include "common/json.h"
#include "truth/truth.h"

enum judgement {
	NOT_JUDGED,
	JUDGED_RIGHT,
	JUDGED_BIASED,
	JUDGED_NOISY,
	JUDGED_ZERO,
	JUDGED_UNRELATED,
	N_JUDGEMENTS
};

/* The expected number of a kernel in a turn, and the number that the event counted. */
struct observation {
	const struct truth_kernel *kernel;
	struct truth_bounds expected;
	double mean, error; /* the error is half of the interval at 95 % */
};

enum { OBSERVATIONS_MAX = 128, EVENT_TEXT_MAX = 320, REASON_MAX = 256, MEANING_MAX = 64 };

/* The results of an event. */
struct judged {
	enum judgement judgement;
	bool is_exact; /* of a right one: a kernel has an exact number */
	/* For biased events: the least and the greatest of counted / right - 1. For right ones: how
	 * far from right the count may be, in high. */
	double low, high;
};

/* A check of one event. */
struct event_check {
	char text[EVENT_TEXT_MAX]; /* "PMU::EVENT", or what the user wrote */
	char meaning[MEANING_MAX]; /* "" for none */
	const char *pmu;           /* the PMU, and its name in the kernel, "" for none */
	const char *device;
	const char *cpus;      /* CPUs that have the PMU, "" for all */
	bool is_whole_machine; /* it counts for a package, and is compared with streams */
	bool has_quantity;
	enum truth_quantity quantity;
	double factor; /* each count is this many of the quantity */
	struct judged result;
	bool is_contended;       /* not checked, because other users hold the counters */
	char reason[REASON_MAX]; /* of events that are not checked or not right */
	unsigned n;
	struct observation seen[OBSERVATIONS_MAX];
};

/* ---- judge.c --------------------------------------------------------------------------------- */

/* Judges the observations of @c. */
void judge_event(struct event_check *c);
/* Number of the observation that contradicts the event most, or -1. */
int find_worst_observation(const struct event_check *c);
const char *name_judgement(enum judgement j);
/* "right to 0.1 %", "biased by +3 to +4 %". Returns @buf. */
char *describe_judgement(const struct judged *e, char buf[96]);
/* The mean of @n values, and half of its interval at 95 % in *@error. */
double estimate_mean(const double *values, unsigned n, double *error);

/* ---- measure.c ------------------------------------------------------------------------------- */

/* The memory of the kernels, made when it is first needed. */
struct kernel_memory {
	void *at[N_TRUTH_MEMORIES];
	size_t size[N_TRUTH_MEMORIES];
	const char *why[N_TRUTH_MEMORIES];
};

/* Pairs of measurements of each kernel: with more of them the judgement is more exact. */
enum { QUICK_PAIRS = 3, USUAL_PAIRS = 5 };

struct checker {
	pfm_ctx_t *ctx;
	unsigned n_pairs;
	bool is_pretended; /* no PMU counts: each operation is a page fault */
	bool is_quick;     /* kernels of one page of memory alone */
	struct kernel_memory memory;
};

/* Counts event @c over its kernels and judges it. */
void check_event(struct checker *k, struct event_check *c);
void free_kernel_memory(struct kernel_memory *m);
/* True if this machine pretends to have its PMUs. */
bool is_pretended_machine(void);

/* ---- selection.c ----------------------------------------------------------------------------- */

/* The events to check. */
struct check_list {
	struct event_check *checks;
	size_t n, capacity;
	double seconds; /* that the checks took */
};

/* The tags of an event's meaning, or NULL. */
const char *find_meaning_tags(const pfm_ctx_t *ctx, int pmu, unsigned event);
/* Reads tags, "64*dram_bytes;l3_misses", into @c: the first whole one that kernels know, or the
 * reason why none is. */
void read_meaning(struct event_check *c, const char *tags);
/* Adds the event @text. A refusal is reported. */
bool add_named_check(pfm_ctx_t *ctx, const char *text, struct check_list *list);
/* Adds the events with a meaning: those of this machine's PMUs, or of PMU @pmu. @all: also those
 * whose meaning no kernel has. */
bool add_tagged_checks(pfm_ctx_t *ctx, const char *pmu, bool all, struct check_list *list);

/* ---- quick.c --------------------------------------------------------------------------------- */

/* Adds the events of this machine with a meaning to @list, the most common meanings first, and
 * checks them by quick kernels, one at a time and never pinned, until @seconds are over. Where
 * other users hold the counters of a PMU, its other events are left alone. False without memory. */
bool check_quickly(pfm_ctx_t *ctx, double seconds, struct check_list *list);

/* ---- report.c -------------------------------------------------------------------------------- */

/* Facts about this machine. Nothing in them names a user or a host. */
struct machine_facts {
	char processor[160]; /* "vendor_id=GenuineIntel, cpu family=6, model=143, stepping=8" */
	char microcode[32], system[96], hypervisor[64];
	int smt; /* 1: on, 0: off, -1: unknown */
};

void read_machine_facts(struct machine_facts *m);
/* Writes the report as one object. @emulator: the program that emulates the machine, or NULL. */
void put_check_report(struct json *j, const struct machine_facts *m, const char *emulator,
                      bool is_pretended, const struct check_list *list);

#endif
