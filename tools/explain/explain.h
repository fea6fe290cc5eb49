/* SPDX-License-Identifier: MIT */
/* pfm explain: what limits a program, by rules over measured metrics. */
#ifndef PFM_EXPLAIN_H
#define PFM_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <perfmon/perfmon.h>
#include "common/json.h"

/* ---- rules ----------------------------------------------------------------------------------- */

enum {
	EXPLAIN_CONDITIONS_MAX = 4,
	EXPLAIN_METRICS_MAX = 48,
	EXPLAIN_TEXT_MAX = 512,
	EXPLAIN_EVENT_MAX = 320
};

/* The metric is above or below a limit. */
struct explain_condition {
	const char *metric;
	bool is_above;
	double limit;
};

/* A node of lib/explain/README.md. */
struct explain_rule {
	const char *node, *parent; /* node NULL ends the table; parent "" for none */
	unsigned n;
	struct explain_condition when[EXPLAIN_CONDITIONS_MAX];
	const char *say, *look, *show;
	const char *sample; /* meanings whose samples show where: the first that is counted here */
};

/* The built-in rules, from lib/explain (rules.py writes them). */
extern const struct explain_rule explain_rules[];

/* ---- evidence -------------------------------------------------------------------------------- */

/* A metric that a rule needs. */
struct explain_value {
	const char *metric;
	bool is_known;
	double value, low, high;       /* with the interval at 95 % */
	char reason[EXPLAIN_TEXT_MAX]; /* why it is not known */
};

/* The speed of this machine's memory. */
struct memory_speed {
	bool is_known, is_measured; /* measured: now, by this command */
	double nanoseconds;         /* of a load that waits for the one before it */
	double bytes_a_second;      /* that all CPUs together read */
};

/* A function, with its line and its instruction that have most of its samples. */
struct explain_site {
	char function[256], object[256], source[256]; /* source "" if unknown */
	uint64_t address;                        /* of the instruction, in the file; 0: unknown */
	double share, line_share, address_share; /* of all samples */
};

enum { SITES_MAX = 3 };

struct explain_sites {
	struct explain_site list[SITES_MAX];
	unsigned n;
	uint64_t samples;
	char event[EXPLAIN_EVENT_MAX];
};

struct explain_evidence {
	struct explain_value values[EXPLAIN_METRICS_MAX];
	size_t n;
	double seconds;
	unsigned rounds; /* readings that the intervals are from */
	bool is_pretended;
	struct memory_speed memory;
	struct explain_sites work, waits; /* by time, and where it leaves the CPU */
	struct explain_sites events;      /* of the event that the last node names; may be empty */
};

/* The state of a node. */
enum node_state {
	NODE_HOLDS,  /* each condition holds over its whole interval */
	NODE_FAILS,  /* a condition is false over its whole interval */
	NODE_UNSURE, /* an interval has the limit inside */
	NODE_UNKNOWN /* a metric was not measured */
};

/* Collects the metrics of @rules, without values. */
void list_metrics(const struct explain_rule *rules, struct explain_evidence *e);
const struct explain_value *find_value(const struct explain_evidence *e, const char *metric);
enum node_state judge_node(const struct explain_rule *rule, const struct explain_evidence *e);
enum { EXPLAIN_NODES_MAX = 6 };

/* The nodes that limit the program, in *@out, in the order in which they are printed: time without
 * a CPU, then, unless the program itself waits, the node of the core with the greatest share, and
 * the first part of each that holds. Returns their number. */
unsigned find_nodes(const struct explain_rule *rules, const struct explain_evidence *e,
                    const struct explain_rule *out[EXPLAIN_NODES_MAX]);
/* True if a node that may hold needs @metric. */
bool needs_metric(const struct explain_rule *rules, const struct explain_evidence *e,
                  const char *metric);
/* The samples that show where @rule holds; NULL for none. */
const struct explain_sites *find_sites_of_node(const struct explain_rule *rule, bool is_last,
                                               const struct explain_evidence *e);
/* Writes @text with values in place of {METRIC}, and @target in place of {target}. Returns @buf. */
char *fill_text(const char *text, const struct explain_evidence *e, const char *target,
                char buf[EXPLAIN_TEXT_MAX]);

/* ---- measuring ------------------------------------------------------------------------------- */

/* The target: a program to start, or tasks that run. */
struct explain_target {
	char *const *command; /* NULL: pid or all */
	int pid;              /* 0: the whole system */
	double seconds;       /* of a process or the system */
	bool once;            /* the program runs once, and is not sampled by events */
};

/* A metric that no event counts: the share of the memory's bandwidth that is used. */
#define BANDWIDTH_METRIC  "bandwidth_share"
#define BANDWIDTH_IS_MOOT "it is computed where requests reach the memory itself"
/* Lines that level 3 did not hold, in a nanosecond on a CPU, and the CPUs that are used: they are
 * the bytes of BANDWIDTH_METRIC. */
#define LINES_METRIC "l3_misses/task_nanoseconds"
#define CPUS_METRIC  "software::cpus_used"

/* Makes an interrupt end measurements of processes and of the system. A program that is started
 * gets it, too, and ends. */
void catch_interrupts(void);
bool is_interrupted(void);
/* Sets the processes that a session counts: the child @child that waits to be started, or those of
 * @target if it is 0. */
void set_counted_target(pfm_session_options_t *options, const struct explain_target *target,
                        pid_t child);
/* Measures the metrics of @e. Returns an exit status; that of the program is in *@status. */
int measure_evidence(pfm_ctx_t *ctx, const struct explain_target *target,
                     struct explain_evidence *e, int *status);
/* Measures the speed of the memory, unless it is known, and what share of it is used. */
void measure_memory_use(struct explain_evidence *e);
/* Samples the event that @rule names, in a further run of the program or for as long again, unless
 * there was an interrupt. */
void sample_node(pfm_ctx_t *ctx, const struct explain_target *target,
                 const struct explain_rule *rule, struct explain_evidence *e);

/* ---- output (answer.c) ----------------------------------------------------------------------- */

void print_nodes(const struct explain_evidence *e, const char *target);
void put_nodes(struct json *json, const struct explain_evidence *e, const char *target);
void put_values(struct json *json, const struct explain_evidence *e);
void print_explanation(const struct explain_evidence *e, const char *target);
void put_explanation(const struct explain_evidence *e, const char *target);

/* ---- regions (regions.c) --------------------------------------------------------------------- */

/* True if a session of this machine accepts the metric of @v. A refusal becomes its reason; a
 * metric that pfm explain computes itself gets none. */
bool is_metric_accepted(pfm_ctx_t *ctx, struct explain_value *v);
/* Explains each region of a program. Returns an exit status; that of the program is in *@status. */
int explain_regions(pfm_ctx_t *ctx, const struct explain_target *target, const char *text,
                    bool json, struct explain_evidence *e, int *status);

#endif
