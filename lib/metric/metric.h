/* SPDX-License-Identifier: MIT */
/* Metrics inside the library: their rows in a table, and the stack machine that computes them.
 *
 * A metric is a row with the code of its value, the code of its threshold, and the inputs of both.
 * Code is postfix, one instruction after the other; operands are digits in base 64, from '0' on:
 *
 *   eNN       push input NN                    iN  jNN    push the integer N, NN
 *   v         push the metric's own value      kN*11      push the double with these bits
 *   sNN       store the top in slot NN         lNN        push slot NN
 *   + - * / %   < > [ ] = !   & | ^ m M d      two operands: [ is <=, ] is >=, m M are min and max,
 *                                              d is a quotient that is 0 where the divisor is 0
 *   ~         sign                             ?          C A B: A if C, else B
 *
 * compiler/language/formulas.py writes it. Images may come from anywhere, so each instruction is
 * checked when it runs. */
#ifndef PERFMON_METRIC_H
#define PERFMON_METRIC_H

#include <float.h>
#include <perfmon/perfmon.h>
#include "context/context.h"

#define METRIC_MAX_STACK  64
#define METRIC_MAX_SLOTS  256
#define METRIC_MAX_INPUTS 256

/* The texts of one metric. */
struct metric {
	const struct table *table;
	uint32_t row;
	const char *code, *threshold_code;
};

/* An input: its name in perfmon's grammar, the spelling of the vendor's list, and the preset (""
 * without one). */
struct metric_input {
	struct slice name, alias, preset;
};

/* A number with its derivative, or the reason (PFM_METRIC_*) why it is undefined. */
struct metric_number {
	double value, derivative;
	pfm_metric_state_t state;
};

/* Metrics of a context. */
struct metric_ref {
	unsigned pmu;
	uint32_t row;
};

struct metric_list {
	unsigned n_metrics;
	size_t capacity;
	struct metric_ref *refs; /* the caller frees it */
};

/* Adds the metric called @text to @out, or the metrics of the group called @text.
 * PFMLIB_ERR_NOTFOUND if both are missing. (lib/metric/names.c) */
int pfmi_metric_add_by_name(const struct pfm_ctx *ctx, const char *text, struct metric_list *out);
int pfmi_metric_find_group(const struct pfm_ctx *ctx, const char *text, struct metric_list *out);

/* Metric @event of @pmu. PFMLIB_ERR_INVAL for an unknown row, PFMLIB_ERR_NOTFOUND for a row that is
 * not a metric. */
int pfmi_metric_find_by_row(const struct pfm_ctx *ctx, int pmu, unsigned event, struct metric *out);
/* True unless @x is infinite or NaN. */
static inline bool metric_is_finite(double x)
{
	return x <= DBL_MAX && x >= -DBL_MAX;
}

/* The square root of @x, without libm. 0 for negative numbers and NaN. */
double pfmi_metric_compute_sqrt(double x);
/* The number of a metric's inputs; input @i, false past the last. */
unsigned pfmi_metric_count_inputs(const struct metric *m);
bool pfmi_metric_get_input(const struct metric *m, unsigned i, struct metric_input *out);
/* Writes event name @name of @m to @buf; events of the metric's own table get prefix "TABLE::". */
void pfmi_metric_format_full_name(const struct metric *m, struct slice name, char *buf, size_t len);
/* Runs @code on @n inputs; derivatives are taken along input @along (n for none). @own: the
 * metric's own value, which 'v' pushes. PFMLIB_ERR_INVAL for malformed code. */
int pfmi_metric_run_code(const char *code, const pfm_metric_operand_t *inputs, unsigned n,
                         unsigned along, const struct metric_number *own,
                         struct metric_number *out);
/* Writes @m's formula, or that of its threshold, as pfm_print_metric() does. */
int pfmi_metric_print_formula(const struct metric *m, int threshold, char *buf, size_t len);
/* True for metrics of memory bandwidth, which the peak of the memory limits. */
bool pfmi_metric_is_memory_bandwidth(const pfm_metric_info_t *info);
/* Length of the instruction at @code, 0 at the end or for an invalid instruction. */
unsigned pfmi_metric_get_instruction_length(const char *code);
/* The operand of the instruction at @code: a number of base-64 digits. */
uint64_t pfmi_metric_get_operand(const char *code);

#endif
