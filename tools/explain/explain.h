/* SPDX-License-Identifier: MIT */
/* pfm explain: what limits a program, by rules over measured metrics. */
#ifndef PFM_EXPLAIN_H
#define PFM_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <perfmon/perfmon.h>

/* ---- rules ----------------------------------------------------------------------------------- */

enum { EXPLAIN_CONDITIONS_MAX = 4, EXPLAIN_METRICS_MAX = 32, EXPLAIN_TEXT_MAX = 512 };

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

struct explain_evidence {
	struct explain_value values[EXPLAIN_METRICS_MAX];
	size_t n;
	double seconds;
	unsigned rounds; /* readings that the intervals are from */
	bool is_pretended;
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
enum { EXPLAIN_NODES_MAX = 4 };

/* The nodes that limit the program, in *@out, in the order in which they are printed: time without
 * a CPU, then, unless the program itself waits, the node of the core with the greatest share, and
 * the first part of it that holds. Returns their number. */
unsigned find_nodes(const struct explain_rule *rules, const struct explain_evidence *e,
                    const struct explain_rule *out[EXPLAIN_NODES_MAX]);
/* Writes @text with values in place of {METRIC}, and @target in place of {target}. Returns @buf. */
char *fill_text(const char *text, const struct explain_evidence *e, const char *target,
                char buf[EXPLAIN_TEXT_MAX]);

/* ---- measuring ------------------------------------------------------------------------------- */

/* The target: a program to start, or tasks that run. */
struct explain_target {
	char *const *command; /* NULL: pid or all */
	int pid;              /* 0: the whole system */
	double seconds;       /* of a process or the system */
};

/* Measures the metrics of @e. Returns an exit status; that of the program is in *@status. */
int measure_evidence(pfm_ctx_t *ctx, const struct explain_target *target,
                     struct explain_evidence *e, int *status);

#endif
