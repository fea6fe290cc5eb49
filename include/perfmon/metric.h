/* SPDX-License-Identifier: MIT */
/* Metrics: formulas over counts, such as instructions per cycle. A metric is an event of its PMU's
 * table with the flag PFM_EVENT_METRIC. */
#ifndef LIBPERFMON_METRIC_H
#define LIBPERFMON_METRIC_H

#include <perfmon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Description of a metric. */
typedef struct pfm_metric_info {
	size_t size;
	int pmu;
	unsigned event;
	const char *name, *desc;
	const char *unit;        /**< "percent", "GHz" ...; "" for none */
	const char *groups;      /**< names of its groups, separated by ';' */
	const char *parent;      /**< metric that this one is a part of, "" for none */
	unsigned level;          /**< level in that tree, from 1; 0 outside any tree */
	unsigned n_inputs;       /**< events and constants that the value and the threshold need */
	unsigned n_value_inputs; /**< inputs 0 .. n_value_inputs - 1 are enough for the value */
	int has_threshold;       /**< 1: the table has a threshold for it */
} pfm_metric_info_t;

/** Description of an input of a metric. */
typedef struct pfm_metric_input {
	size_t size;
	int is_constant; /**< 1: a constant of the machine or run ("#smt_on"), not an event */
	int has_preset;  /**< 1: optional; its value is preset unless the caller has a better one */
	double preset;
	char text[352];  /**< the event, as pfm_encode_event() takes it; or the constant */
	char alias[352]; /**< the vendor's spelling, "" if it is the same */
} pfm_metric_input_t;

/** The value of one input. */
typedef struct pfm_metric_operand {
	double value;
	double error; /**< standard error, 0 if the value is exact */
	int known;    /**< 0: was not counted */
	int reserved; /**< 0 */
} pfm_metric_operand_t;

/** How the error of a metric follows from the measurement. */
typedef enum pfm_error_model {
	/** One measurement. The operands' own errors are propagated, taken as independent. */
	PFM_ERROR_PROPAGATED,
	/** Repeated measurements. The value is that of the mean counts; its error follows from how
	 * the counts of a repetition vary together. */
	PFM_ERROR_FROM_REPETITIONS,
	/** One measurement of events that shared counters, read at intervals of equal length. The
	 * value is that of the operands; its error is that of extrapolation, from how neighbouring
	 * intervals differ. */
	PFM_ERROR_FROM_INTERVALS
} pfm_error_model_t;

/** The measurement that a metric is computed from. */
typedef struct pfm_metric_data {
	size_t size;
	pfm_error_model_t model;
	unsigned n_inputs; /**< pfm_metric_info_t.n_inputs, or n_value_inputs for the value alone */
	/** The n_inputs operands. Ignored for PFM_ERROR_FROM_REPETITIONS. */
	const pfm_metric_operand_t *operands;
	/** n_samples x n_inputs counts: those of the first repetition or interval first; NaN for a
	 * count that is missing. Ignored for PFM_ERROR_PROPAGATED. */
	const double *samples;
	unsigned n_samples; /**< repetitions or intervals */
	/** PFM_ERROR_FROM_INTERVALS: share of the time, 0 to 1, in which all events counted as one
	 * group. 0: not together, which gives an upper bound of the error; 1: nothing was
	 * extrapolated. Ignored for the other models. */
	double observed;
} pfm_metric_data_t;

/** Whether a metric has a value. */
typedef enum pfm_metric_state {
	PFM_METRIC_DEFINED,     /**< "defined" */
	PFM_METRIC_DIVISION,    /**< "division by zero" */
	PFM_METRIC_NOT_COUNTED, /**< "not counted": an input has no value */
	PFM_METRIC_OVERFLOW     /**< "out of range": of a double */
} pfm_metric_state_t;

/** The value of a metric. */
typedef struct pfm_metric_value {
	size_t size;
	double value;             /**< 0 unless state is PFM_METRIC_DEFINED */
	double error;             /**< standard error; negative: unknown */
	double low, high;         /**< 95 % confidence interval */
	pfm_metric_state_t state; /**< PFM_METRIC_DEFINED: there is a value */
	int missing;              /**< index of an input that was not counted, or -1 */
	int over_threshold;       /**< 1: above its threshold; 0: not; -1: no threshold */
} pfm_metric_value_t;

/** Whether the value of a metric can be true. pfm_plausibility_name() gives the quoted words. */
typedef enum pfm_plausibility {
	PFM_PLAUSIBLE,     /**< "plausible": within its limits, or these are unknown */
	PFM_OUTSIDE_RANGE, /**< "outside its range": a share outside 0 and the whole, or negative */
	PFM_WRONG_SUM,     /**< "parts do not sum to the whole" */
	PFM_ABOVE_PEAK     /**< "above the peak": more than memory can move */
} pfm_plausibility_t;

/** The result of a check of a value, or of the sum of values. */
typedef struct pfm_metric_check {
	size_t size;
	pfm_plausibility_t result;
	double low, high;   /**< limits of the value or sum; -DBL_MAX, DBL_MAX: unknown */
	const char *reason; /**< the likely reason and what to do; "" if plausible */
} pfm_metric_check_t;

/** Describes metric @event of @pmu. PFMLIB_ERR_NOTFOUND if the event is not a metric,
 * PFMLIB_ERR_INVAL if a number is out of range. Thread-safe. */
int pfm_describe_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, pfm_metric_info_t *info);

/** Describes input @i of a metric. PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_metric_input(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                              pfm_metric_input_t *info);

/** Writes the formula of a metric (@threshold 0) or of its threshold (1) to @buf, always
 * terminated, truncated at @len bytes. Returns the length of the complete formula, or a negative
 * code. Thread-safe. */
int pfm_print_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold, char *buf,
                     size_t len);

/** Writes partner @i of a metric to @buf: an event whose samples show where the value comes from,
 * as pfm_encode_event() takes it. An event with a precise form has the modifier ":pp". A metric of
 * a tree without a partner has those of the metric that it is a part of.
 * @buf  always terminated, truncated at @len bytes
 * Returns the length of the complete text, or
 *   PFMLIB_ERR_NOTFOUND  @i is past the last partner, or the event is not a metric
 *   PFMLIB_ERR_INVAL     a number is out of range, or @buf is NULL although @len is not 0
 * Thread-safe. */
int pfm_print_metric_partner(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, char *buf,
                             size_t len);

/** Reads an input of a metric that is a constant of this machine or of a measurement:
 * "#num_cpus", "#num_cpus_online", "#smt_on", "#threads_per_core", "#duration_ms". An unknown
 * constant with a preset has that value.
 * @input    from pfm_describe_metric_input()
 * @seconds  length of the measurement, 0 if it is unknown
 * @value    receives the value, 0 if it is unknown
 * PFMLIB_ERR_NOTFOUND if the constant is unknown or the input is an event; PFMLIB_ERR_INVAL for
 * NULL, an invalid size, or negative seconds. Thread-safe. */
int pfm_read_metric_constant(const pfm_ctx_t *ctx, const pfm_metric_input_t *input, double seconds,
                             double *value);

/** Computes metric @event of @pmu from @data. The call succeeds for a metric without a value (see
 * out->state).
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_NOTFOUND  the event is not a metric
 *   PFMLIB_ERR_INVAL     @data or @out is NULL or has no size, the model is unknown, an array that
 *                        the model needs is NULL, there are no samples although the model is
 *                        PFM_ERROR_FROM_REPETITIONS, n_inputs is too small, or observed is not in
 *                        0 .. 1
 * Thread-safe. */
int pfm_compute_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_data_t *data,
                       pfm_metric_value_t *out);

/** Checks a value of metric @event of @pmu against the limits that its unit and name imply. A share
 * ("ratio", "percent") is within 0 and the whole; an amount is not negative; a bandwidth of memory
 * is at most @memory_peak. The value is refused if its 95 % interval excludes the limits.
 * @extrapolated  1: its counts were scaled or are partial, which the reason then says
 * @memory_peak   from pfm_memory_bandwidth(); 0: unknown
 * A value that is not defined is plausible. PFMLIB_ERR_INVAL for NULL or an invalid size;
 * otherwise errors as for pfm_describe_metric(). Thread-safe. */
int pfm_check_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_value_t *value,
                     int extrapolated, double memory_peak, pfm_metric_check_t *out);

/** Checks that @n values of metrics sum to @whole (1 or 100), within their intervals taken
 * together; within a tenth if an error is unknown. If one is not defined, the sum is plausible.
 * PFMLIB_ERR_INVAL for NULL, no values, an invalid size or @whole that is not positive.
 * Thread-safe. */
int pfm_check_metric_sum(const pfm_metric_value_t *parts, unsigned n, double whole,
                         int extrapolated, pfm_metric_check_t *out);

/** Lists the metrics whose values sum to a whole with that of metric @event of @pmu: the first
 * level of top-down analysis, with the slots of the core's other thread where the processor counts
 * these.
 * @events  receives the events, @event among them, at most @n of them
 * @whole   receives the whole: 1 or 100; may be NULL
 * Returns how many there are, or
 *   PFMLIB_ERR_NOTFOUND  the metric is not a part of such a sum, or the event is not a metric
 *   PFMLIB_ERR_INVAL     a number is out of range, or @events is NULL although @n is not 0
 * Thread-safe. */
int pfm_list_metric_sum(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned *events, unsigned n,
                        double *whole);

/** Returns how many millions of bytes a second the memory of this machine can move: for each
 * channel, width times transfer rate, by the firmware's DMI table or udev's copy of it. An upper
 * bound where the kernel (EDAC) does not tell the channels, because devices that share a channel
 * take turns. 0 if unknown. Thread-safe. */
double pfm_memory_bandwidth(const pfm_ctx_t *ctx);

/** Returns the stable words of @result, quoted above; "" for unknown values. Thread-safe. */
const char *pfm_plausibility_name(pfm_plausibility_t result);

/** Returns the stable words of @state, quoted above; "" for unknown values. Thread-safe. */
const char *pfm_metric_state_name(pfm_metric_state_t state);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
