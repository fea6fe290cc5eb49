/* SPDX-License-Identifier: MIT */
/* Sessions: counting events of tasks or CPUs. */
#ifndef LIBPERFMON_SESSION_H
#define LIBPERFMON_SESSION_H

#include <perfmon/event.h>
#include <perfmon/metric.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A session. Opaque. Only one thread at a time may use it, unless a function is thread-safe. */
typedef struct pfm_session pfm_session_t;
/** How a session samples: see sampling.h. */
typedef struct pfm_sampling pfm_sampling_t;

/* ---- counts ---------------------------------------------------------------------------------- */

/** How far a count can be trusted. pfm_quality_name() gives the quoted words. */
typedef enum pfm_quality {
	PFM_QUALITY_EXACT,       /**< "exact": counted all the time it was enabled */
	PFM_QUALITY_SCALED,      /**< "scaled": shared a counter; extrapolated from time running */
	PFM_QUALITY_PARTIAL,     /**< "partial": some CPUs or tasks were not counted */
	PFM_QUALITY_NOT_COUNTED, /**< "not counted": no value this time */
	PFM_QUALITY_NOT_SUPPORTED, /**< "not supported": no value: cannot be counted here */
	PFM_QUALITY_PRETENDED,     /**< "pretended": a value that pfm pretend made up */
	PFM_QUALITY_SIMULATED      /**< "simulated": an emulator counted it, not a PMU */
} pfm_quality_t;

/** Why a count is not exact. pfm_cause_name() gives a short phrase for each. */
typedef enum pfm_cause {
	PFM_CAUSE_NONE,
	PFM_CAUSE_NO_PMU,      /**< the machine or its hypervisor has no PMU for it */
	PFM_CAUSE_PERMISSION,  /**< perf_event_paranoid, or a process of another user */
	PFM_CAUSE_BUSY,        /**< the counter is in use */
	PFM_CAUSE_GROUP,       /**< the group does not fit the counters */
	PFM_CAUSE_MULTIPLEXED, /**< more events than counters */
	PFM_CAUSE_FILES,       /**< out of file descriptors */
	PFM_CAUSE_ATTRIBUTE,   /**< the kernel refused a setting */
	PFM_CAUSE_NO_PROCESS,  /**< the process does not exist */
	PFM_CAUSE_NO_CPU,      /**< the CPU is offline or does not exist */
	PFM_CAUSE_MEMORY,      /**< out of memory */
	PFM_CAUSE_NO_TIME,     /**< enabled for less than a clock tick, or never */
	PFM_CAUSE_NO_KERNEL,   /**< the kernel has no perf_event_open(2), or no such device */
	PFM_CAUSE_OTHER,
	PFM_CAUSE_LOST,      /**< samples: a buffer was full */
	PFM_CAUSE_THROTTLED, /**< samples: the kernel throttled the event */
	PFM_CAUSE_OTHER_CPU, /**< the processor changed: the virtual machine was moved */
	PFM_CAUSE_ERRATUM    /**< the processor counts this event wrong */
} pfm_cause_t;

/** A count. */
typedef struct pfm_count {
	size_t size;
	uint64_t value;        /**< extrapolated if scaled; 0 without a value */
	uint64_t raw;          /**< as read from the counter */
	uint64_t enabled;      /**< nanoseconds enabled, summed over CPUs */
	uint64_t running;      /**< nanoseconds on a counter, summed over CPUs */
	pfm_quality_t quality; /**< how far value can be trusted */
	pfm_cause_t cause;     /**< why it is not exact */
	int sys_errno;         /**< errno of the failed system call, 0 for none */
	double scale;          /**< value times scale is in pfm_count_info_t.unit */
} pfm_count_t;

/** Description of a count. */
typedef struct pfm_count_info {
	size_t size;
	unsigned request;         /**< index of its text among those of pfm_open_session() */
	const char *name;         /**< the event, as the caller wrote it */
	const char *pmu;          /**< PMU that counts it */
	const char *unit;         /**< "" for plain counts */
	unsigned group;           /**< number of its scheduling group */
	unsigned n_kernel_events; /**< number of perf events in the sum (CPUs, boxes) */
	const char *why;          /**< sentence about the cause, "" if the count is exact */
	const char *remedy;       /**< what to do about it, "" if unknown */
	const char *cpus;         /**< CPUs it is counted on, "" for those where the task runs */
	int is_level; /**< 1: a level (temperature, occupancy), which cannot be subtracted */
	perfmon_attr_t attr;
	const char *evidence; /**< facts that were read and support the cause, "" for none */
} pfm_count_info_t;

/** Returns the stable words of @quality, quoted above; "" for unknown values. Thread-safe. */
const char *pfm_quality_name(pfm_quality_t quality);
/** Returns the quality that a count with @quality and @cause would have if a PMU had counted it:
 * for pretended and simulated counts exact, scaled or partial, for others @quality. A count has a
 * value if the result is at most PFM_QUALITY_PARTIAL. Thread-safe. */
pfm_quality_t pfm_counter_quality(pfm_quality_t quality, pfm_cause_t cause);
/** Returns the stable words of @cause; "" for PFM_CAUSE_NONE and unknown values. Thread-safe. */
const char *pfm_cause_name(pfm_cause_t cause);

/** Subtracts two readings of one count: @out is what was counted in between.
 * @is_level  pfm_count_info_t.is_level: then @out is the later reading
 * @out       may be one of the readings
 * The quality of @out follows from the times between the readings, not from what happened before.
 * If the count was reset in between, @out is the later reading. PFMLIB_ERR_INVAL for NULL or a size
 * that is not set. Thread-safe. */
int pfm_subtract_counts(const pfm_count_t *earlier, const pfm_count_t *later, int is_level,
                        pfm_count_t *out);

/* ---- sessions -------------------------------------------------------------------------------- */

/** Bits of pfm_session_options_t.flags. */
typedef enum pfm_session_flag {
	PFM_SESSION_INHERIT = 1,        /**< count child processes and threads too */
	PFM_SESSION_ENABLE_ON_EXEC = 2, /**< start when the process executes a program */
	PFM_SESSION_SYSTEM_WIDE = 4,    /**< count every process on the CPUs */
	PFM_SESSION_DRY_RUN = 8,        /**< resolve and describe the events, open nothing */
	PFM_SESSION_STRICT = 16,        /**< fail unless every event can be opened */
	PFM_SESSION_USER_READ = 32,     /**< make counters readable without a system call */
	PFM_SESSION_PER_CPU = 64,       /**< with SYSTEM_WIDE: one count per CPU, not the sum */
	PFM_SESSION_ONE_THREAD = 128    /**< pid is one thread, even the first of a process */
} pfm_session_flag_t;

/** How to open a session. 0 in every member gives the defaults. */
typedef struct pfm_session_options {
	size_t size;
	unsigned flags;                 /**< PFM_SESSION_* */
	int pid;                        /**< 0: the calling thread; > 0: that process or thread */
	const char *cpus;               /**< CPU list such as "0,2-3"; NULL for all */
	unsigned plm;                   /**< levels of events that name none; 0: all permitted */
	const char *backend;            /**< "perf_event", "pfm_device"; NULL: the machine's own */
	void *backend_options;          /**< e.g. pfm_alpha_session_t for "pfm_device" */
	const pfm_sampling_t *sampling; /**< how to sample; NULL: count only. Not kept */
	const char *cgroup;             /**< with SYSTEM_WIDE: this control group only; or NULL */
	/** Per text a filter on the fields of its tracepoint, in the kernel's syntax, or NULL. The
	 * array itself may be NULL. */
	const char *const *filters;
} pfm_session_options_t;

/** Opens counters for @n events; counting is stopped.
 * @out      receives the session, NULL on failure; release it with pfm_close_session()
 * @ctx      the context; the session keeps it alive
 * @options  NULL for the defaults
 * @texts    events, groups in braces ("{cycles,instructions}:W"), metrics or metric groups
 * @error    filled on failure; may be NULL
 * Events of metrics are planned (pfm_create_plan()) and follow the other events. An event that
 * must be counted alone (PFM_EVENT_ALONE) may not share a group with others on general counters
 * (PFM_KIND_ALONE), unless the group is weak (W), which is then split; outside groups it takes
 * turns with the other events. An event that cannot be opened stays in the session with quality
 * "not supported" or "not counted" and its cause, unless PFM_SESSION_STRICT.
 *
 * Returns PFMLIB_SUCCESS, the codes of pfm_encode_event() and pfm_create_plan(), or
 *   PFMLIB_ERR_INVAL    an option is wrong, or @texts is NULL or empty
 *   PFMLIB_ERR_NOTSUPP  the backend does not exist, or PFM_SESSION_STRICT and an event is refused
 *   PFMLIB_ERR_SYS      a system call failed; see error->sys_errno
 *   PFMLIB_ERR_NOMEM    out of memory
 * Thread-safe. */
int pfm_open_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                     const pfm_session_options_t *options, const char *const *texts, unsigned n,
                     pfm_error_t *error);
/** Starts counting. A negative code on failure; pfm_session_errno() gives the errno. */
int pfm_start_session(pfm_session_t *s);
/** Stops counting; errors as for pfm_start_session(). */
int pfm_stop_session(pfm_session_t *s);
/** Sets all counts to 0; errors as for pfm_start_session(). */
int pfm_reset_session(pfm_session_t *s);
/** Lets groups take turns: of groups g (pfm_count_info_t.group) with the same number @turns[g],
 * those with @on[g] count and the others do not; groups with turn 0 count always. Call it before
 * the first start, then at every change with the same @turns; at any time one group of each turn
 * should be on. All CPUs change at once. The time of a group is that of all groups of its turn on
 * the same CPU, so its counts are scaled. Both arrays have @n members; groups from @n on count
 * always. PFMLIB_ERR_NOTSUPP: the backend cannot do that; else errors as for pfm_start_session().
 */
int pfm_select_groups(pfm_session_t *s, const unsigned *turns, const unsigned char *on, unsigned n);
/** Returns the number of counts: one per event and PMU (and per CPU with PFM_SESSION_PER_CPU). */
unsigned pfm_session_size(const pfm_session_t *s);
/** Reads all counts. Looks once a second whether the processor is still the one that the session
 * was opened on: counts of a virtual machine that was moved to another one are partial.
 * @counts  room for @n counts, each with its size set; counts beyond the session's stay unchanged
 * The call succeeds for a count without a value; its quality shows that. PFMLIB_ERR_INVAL for NULL
 * or an invalid size; PFMLIB_ERR_SYS if reading fails. */
int pfm_read_session(pfm_session_t *s, pfm_count_t *counts, unsigned n);
/** Reads count @i: without a system call if the session counts the calling thread and has
 * PFM_SESSION_USER_READ, and if the kernel permits it; otherwise like pfm_read_session(). */
int pfm_read_count(pfm_session_t *s, unsigned i, pfm_count_t *count);
/** Describes count @i. PFMLIB_ERR_INVAL if it is out of range. */
int pfm_describe_count(const pfm_session_t *s, unsigned i, pfm_count_info_t *info);
/** Returns errno of the last failed call on @s, 0 for none. */
int pfm_session_errno(const pfm_session_t *s);
/** Stops counting and releases everything. NULL is allowed. */
void pfm_close_session(pfm_session_t *s);

/* ---- metrics of a session -------------------------------------------------------------------- */

/** The value of a metric of a session. */
typedef struct pfm_session_metric {
	size_t size;
	int pmu; /**< with event: the metric in the session's context, for pfm_describe_metric() */
	unsigned event;
	unsigned request;         /**< index of the text that names the metric or its group */
	pfm_metric_state_t state; /**< PFM_METRIC_DEFINED: there is a value */
	double value;             /**< 0 unless state is PFM_METRIC_DEFINED */
	double error;             /**< standard error; negative: unknown (one inexact reading) */
	double low, high;         /**< 95 % confidence interval */
	pfm_quality_t quality;    /**< the worst quality of the counts it needs */
	int missing;              /**< index of a count that has no value, or -1 */
	int across_groups;        /**< 1: its counts are from several groups, so from other times */
	int over_threshold;       /**< 1: above its threshold; 0: not; -1: no threshold */
	pfm_plausibility_t plausibility; /**< by pfm_check_metric() and pfm_check_metric_sum() */
	const char *reason; /**< why it is probably wrong, and what to do; "" if plausible */
} pfm_session_metric_t;

/** Returns the number of metrics that the texts of @s name. */
unsigned pfm_count_metrics(const pfm_session_t *s);

/** Computes metric @i of @s from @rounds readings.
 * @counts   @rounds times all counts of the session, as pfm_read_session() gives them or as
 *           differences (pfm_subtract_counts()); ignored if @rounds is 0
 * @rounds   0: only identify the metric
 * @seconds  duration of a round, for metrics that are rates; 0: unknown
 * The value is that of the mean counts; with several rounds its error follows from how they vary
 * (PFM_ERROR_FROM_REPETITIONS). The call succeeds for a metric without a value (see out->state).
 * The value is checked against its limits, and the sum of its parts if the session has all of them.
 * PFMLIB_ERR_INVAL for NULL, an invalid size or @i out of range. Thread-safe. */
int pfm_compute_session_metric(const pfm_session_t *s, unsigned i, const pfm_count_t *counts,
                               unsigned rounds, double seconds, pfm_session_metric_t *out);

/** A part of a count: that of one run, or of an interval. Frozen: its size never changes. */
typedef struct pfm_count_part {
	double raw;              /**< as read from the counter */
	double enabled, running; /**< times of any unit; both 0: raw is the whole count */
} pfm_count_part_t;

/** A count of an input of a metric. Frozen: its size never changes. */
typedef struct pfm_input_count {
	unsigned input;        /**< number of the input, for pfm_describe_metric_input() */
	unsigned group;        /**< counts with the same number were taken at the same time */
	double value;          /**< the count; of several runs their mean */
	double error;          /**< its standard error, 0 if it is exact */
	double observed;       /**< share of the time in which it was taken, 0 to 1 */
	pfm_quality_t quality; /**< how far value can be trusted; PFM_QUALITY_NOT_COUNTED: none */
	int reserved;          /**< 0 */
	/** the parts of the count, for errors from repetitions and intervals; NULL: unknown */
	const pfm_count_part_t *parts;
	uint64_t more[2]; /**< 0 */
} pfm_input_count_t;

/** Counts from which a metric is computed. */
typedef struct pfm_metric_counts {
	size_t size;
	/** PFM_ERROR_PROPAGATED: the error follows from those of the counts; the others need parts.
	 */
	pfm_error_model_t model;
	unsigned n_counts;
	const pfm_input_count_t *counts; /**< in any order; those of one input are added */
	unsigned n_parts;                /**< parts of each count */
	unsigned runs_per_part;          /**< runs that a part is the sum of; 0: one */
	double seconds;                  /**< duration, for metrics that are rates; 0: unknown */
} pfm_metric_counts_t;

/** Computes metric @event of @pmu from counts of its inputs, which the caller has summed as it
 * likes: over runs, CPUs or tasks. Constants of the machine are read. The result is that of
 * pfm_compute_session_metric(), with request 0; missing is the index of a count without a value
 * that the metric needs. One measurement of exact counts has error 0; a partial count, or too few
 * parts, make the error unknown. Sums of metrics are not checked.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_NOTFOUND  the event is not a metric
 *   PFMLIB_ERR_INVAL     a pointer is NULL, a size is not set, the number of an input is out of
 *                        range, the model is unknown or seconds is negative
 *   PFMLIB_ERR_NOMEM     out of memory
 * Thread-safe. */
int pfm_compute_counted_metric(const pfm_ctx_t *ctx, int pmu, unsigned event,
                               const pfm_metric_counts_t *data, pfm_session_metric_t *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
