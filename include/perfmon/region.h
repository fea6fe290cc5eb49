/* SPDX-License-Identifier: MIT */
/* Regions: counts of a part of a program, in every thread that runs it.
 *
 *     for (int i = 0; i < n; i++) {
 *             pfm_region_t *solve = PFM_REGION("solve");
 *
 *             pfm_region_begin(solve);
 *             work();
 *             pfm_region_end(solve);
 *     }
 *
 * Run the program with PERFMON_REGIONS=page-faults,instructions in its environment, or under `pfm
 * stat --regions`, or let it call pfm_regions_start(). Otherwise begin and end cost one branch that
 * is always taken the same way.
 *
 * Counters belong to threads. They are opened when a thread enters its first region; a thread that
 * enters none costs nothing. Call sites that use the same name share one region.
 */
#ifndef PERFMON_REGION_H
#define PERFMON_REGION_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A region. Its name must stay valid until its first begin; the library keeps a copy. */
typedef struct pfm_region {
	const char *name;
	uint32_t id; /**< the library's; 0 until the first begin */
	uint32_t reserved;
} pfm_region_t;

/** The region NAME of this call site: a pointer to a static object, so that no name is searched for
 * in a loop. */
#define PFM_REGION(NAME)                                                                           \
	(__extension__({                                                                           \
		static pfm_region_t pfm_region_here_ = { NAME, 0, 0 };                             \
		&pfm_region_here_;                                                                 \
	}))

/** Nonzero while regions are counted, or until the first begin has read the environment. Read-only
 * for programs. */
extern int perfmon_regions_active;

/** Begin and end a visit of @region in the calling thread. Visits nest to any depth, may recurse,
 * and may overlap: end closes the innermost open visit of its region. An end without a begin has no
 * effect and is reported as unmatched. Neither call changes errno. Both are async-signal-safe once
 * pfm_regions_start() has returned or a region has been entered. */
void pfm_region_begin(pfm_region_t *region);
void pfm_region_end(pfm_region_t *region);

#ifndef PFM_REGION_NO_MACROS
#define PERFMON_REGIONS_ACTIVE_                                                                    \
	__builtin_expect(__atomic_load_n(&perfmon_regions_active, __ATOMIC_RELAXED), 0)
#define pfm_region_begin(R) (PERFMON_REGIONS_ACTIVE_ ? (pfm_region_begin)(R) : (void)0)
#define pfm_region_end(R)   (PERFMON_REGIONS_ACTIVE_ ? (pfm_region_end)(R) : (void)0)
#endif

/** The region called @name, for names that are made at run time. The same name gives the same
 * pointer, valid until the process ends. NULL without memory. */
pfm_region_t *pfm_region_by_name(const char *name);

/** A visit that is held by a handle: for coroutines and tasks that move between threads, and for
 * visits that overlap freely. */
typedef struct pfm_region_visit pfm_region_visit_t;

/** Begins a visit; NULL while regions are not counted, which the calls below accept. */
pfm_region_visit_t *pfm_region_enter(pfm_region_t *region);
/** Stops counting the visit in the thread that leaves it alone, and goes on in the calling thread.
 * A visit that changes its thread without these two is reported as not counted. */
void pfm_region_suspend(pfm_region_visit_t *visit);
void pfm_region_resume(pfm_region_visit_t *visit);
/** Ends the visit and releases the handle. Its counts are exclusive as well as inclusive: a handle
 * has no place on a thread's stack of regions. */
void pfm_region_leave(pfm_region_visit_t *visit);

/** Sets the calling thread's counts of @region to zero. Open visits go on. */
void pfm_region_reset(pfm_region_t *region);

/* ---- what is counted --------------------------------------------------------------------- */

enum {
	PFM_REGIONS_NO_SUBTRACT = 1, /**< report counts with the cost of begin and end in them */
	PFM_REGIONS_ROTATE_INNER =
		2, /**< change groups at every begin, not only at a thread's outermost */
	PFM_REGIONS_SYSTEM = 4, /**< count events that no task can have for the whole machine while
	                  the region runs */
	PFM_REGIONS_PER_THREAD = 8 /**< write a row for each thread, not only the sums */
};

typedef struct pfm_regions_options {
	size_t size;
	unsigned flags;     /**< PFM_REGIONS_* */
	const char *events; /**< events, groups in braces and metrics, comma-separated; NULL:
	                       $PERFMON_REGIONS, else times only */
	const char *output; /**< where the results go when the process ends: a file, in which %p is
	                     * the process id, or a folder if it ends with '/'; NULL:
	                     * $PERFMON_REGIONS_OUTPUT, else nowhere: the program asks for its
	                     * results */
	const char *format; /**< "table", "json", "csv", "likwid", "papi", "chrome" or "firefox";
	                       NULL: $PERFMON_REGIONS_FORMAT, else "table". The last two draw each
	                       visit, which is kept only if the first start has one of them */
} pfm_regions_options_t;

/** Starts counting. @options may be NULL. The events of the first start hold until the process
 * ends; a later call with other events is refused with PFMLIB_ERR_INVAL, with none it goes on after
 * pfm_regions_stop(). Events that cannot be counted do not make it fail:
 * pfm_describe_region_event() says why they have no counts. On failure @error (may be NULL) says
 * why. */
int pfm_regions_start(const pfm_regions_options_t *options, pfm_error_t *error);
/** Stops counting: begin and end cost one branch again. Results stay. */
void pfm_regions_stop(void);

/* ---- results ----------------------------------------------------------------------------- */

typedef struct pfm_region_results pfm_region_results_t;

/** A row of results: one region under one parent, of one thread or of all threads together. */
typedef struct pfm_region_info {
	size_t size;
	const char *region;
	const char *parent; /**< enclosing region, "" for none */
	int thread;         /**< 0: all threads together */
	/** 1: the cost of the visits exceeds a tenth of a count or of the wall time */
	int costly;
	uint64_t visits; /**< ended visits */
	/** Those that were not inside another visit of the same region */
	uint64_t outermost;
	uint64_t unfinished;      /**< visits that are open, or whose thread ended in them */
	uint64_t wall, exclusive; /**< nanoseconds, of outermost visits; without enclosed regions */
	uint64_t wall_min, wall_max;
	double wall_variance; /**< of a visit; negative with fewer than two */
	uint64_t task;        /**< nanoseconds the threads ran on a CPU, 0 if that is unknown */
	uint64_t task_visits; /**< visits that the task time rests on */
	uint64_t threads;     /**< threads summed up */
} pfm_region_info_t;

/** The count of one event in one row. */
typedef struct {
	size_t size;
	uint64_t inclusive, exclusive;
	uint64_t visits; /**< outermost visits in which it was counted from begin to end: inclusive,
min, max, variance rest on them */
	uint64_t exclusive_visits; /**< visits that exclusive rests on */
	uint64_t min, max;         /**< of a visit */
	double variance;           /**< of a visit; negative with fewer than two */
	uint64_t overhead; /**< cost of begin and end that was measured in the inclusive count;
      subtracted unless asked not to be */
	pfm_quality_t
		quality; /**< exact, partial (counted in some visits), not counted, not supported */
	pfm_cause_t cause;
	double scale; /**< multiply counts by this to get units */
} pfm_region_count_t;

/** An event that regions count. */
typedef struct pfm_region_event {
	size_t size;
	const char *name, *unit;
	const char *why, *remedy; /**< why it cannot be counted, "" if it can */
	pfm_quality_t quality;    /**< as far as opening it tells */
	pfm_cause_t cause;
	int whole_machine; /**< 1: the count is of the whole machine while the region ran */
	unsigned
		/** Group that takes turns by visit; events of round 0 only do not rotate */
		round;
	unsigned n_rounds;  /**< rounds there are */
	double cost_inside; /**< what an empty visit counts */
	double cost_pair;   /**< what one begin and end add to an enclosing region */
} pfm_region_event_t;

/** Cost of an empty visit in nanoseconds: measured inside it, and added to an enclosing region.
 * Zero before the start. */
void pfm_regions_cost(double *inside, double *pair);
/** Number of events and of metrics, and event @i. PFMLIB_ERR_NOTFOUND past the last. */
unsigned pfm_count_region_events(void);
unsigned pfm_count_region_metrics(void);
int pfm_describe_region_event(unsigned i, pfm_region_event_t *event);

/** Takes all results until now, of running threads as well. NULL without memory or before the
 * start. Free with pfm_free_region_results(). */
pfm_region_results_t *pfm_read_regions(void);
/** Row @i, in the order in which regions were first entered: for each, all threads together, then
 * each thread. PFMLIB_ERR_NOTFOUND past the last. Strings live until the process ends. */
int pfm_describe_region(const pfm_region_results_t *results, unsigned i, pfm_region_info_t *info);
/** Count of event @event in row @i. */
int pfm_region_count(const pfm_region_results_t *results, unsigned i, unsigned event,
                     pfm_region_count_t *count);
/** Metric @metric in row @i, computed by pfm_compute_metric() from the mean counts of a visit;
 * *@name is what it is called. */
int pfm_region_metric(const pfm_region_results_t *results, unsigned i, unsigned metric,
                      const char **name, pfm_session_metric_t *out);
/** Writes the results to descriptor @fd in a format of pfm_regions_options_t. PFMLIB_ERR_INVAL for
 * another one, and for "chrome" and "firefox" if visits were not kept. */
int pfm_write_regions(const pfm_region_results_t *results, int fd, const char *format);
void pfm_free_region_results(pfm_region_results_t *results);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
