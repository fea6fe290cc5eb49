/* SPDX-License-Identifier: MIT */
/* Regions: counts of a part of a program, in every thread that runs it.
 *
 *     for (int i = 0; i < n; i++) {
 *             pfm_region_t *solve = PFM_REGION("solve");
 *
 *             pfm_begin_region(solve);
 *             work();
 *             pfm_end_region(solve);
 *     }
 *
 * Run the program with PERFMON_REGIONS=page-faults,instructions in its environment, run it under
 * `pfm stat --regions`, or call pfm_start_regions() in it. Otherwise begin and end each cost one
 * well-predicted branch.
 *
 * Counters belong to threads. The library opens them when a thread enters its first region; a
 * thread that enters no region costs nothing. Call sites that use the same name share one region.
 */
#ifndef LIBPERFMON_REGION_H
#define LIBPERFMON_REGION_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A region. Its name must stay valid until its first begin; the library keeps a copy. */
typedef struct pfm_region {
	const char *name;
	uint32_t id; /**< set by the library; 0 until the first begin */
	uint32_t reserved;
} pfm_region_t;

/** The region NAME of this call site: a pointer to a static object. It does not search for the
 * name. */
#define PFM_REGION(NAME)                                                                           \
	(__extension__({                                                                           \
		static pfm_region_t pfm_region_here_ = { NAME, 0, 0 };                             \
		&pfm_region_here_;                                                                 \
	}))

/* Without a PLT the dynamic linker finds the functions when it loads the program. At their first
 * call, it would be counted in the first visit. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define PERFMON_BOUND_EARLY_ __attribute__((noplt))
#endif
#endif
#ifndef PERFMON_BOUND_EARLY_
#define PERFMON_BOUND_EARLY_
#endif

/** Nonzero while regions are counted, or until the first begin has read the environment. Read-only
 * for programs. */
extern int perfmon_regions_active;

/** Begin and end a visit of @region in the calling thread. Visits may nest to any depth, recurse,
 * and overlap: pfm_end_region() ends the innermost open visit of its region. An end without a begin
 * has no effect and is reported as unmatched. Neither call changes errno. Both are
 * async-signal-safe once pfm_start_regions() has returned or a region has been entered. */
PERFMON_BOUND_EARLY_ void pfm_begin_region(pfm_region_t *region);
PERFMON_BOUND_EARLY_ void pfm_end_region(pfm_region_t *region);

#ifndef PFM_REGION_NO_MACROS
#define PERFMON_REGIONS_ACTIVE_                                                                    \
	__builtin_expect(__atomic_load_n(&perfmon_regions_active, __ATOMIC_RELAXED), 0)
#define pfm_begin_region(R) (PERFMON_REGIONS_ACTIVE_ ? (pfm_begin_region)(R) : (void)0)
#define pfm_end_region(R)   (PERFMON_REGIONS_ACTIVE_ ? (pfm_end_region)(R) : (void)0)
#endif

/** Returns the region called @name, for names that the program creates at run time. The same name
 * gives the same pointer, which is valid until the process ends. NULL if memory is exhausted. */
pfm_region_t *pfm_find_region(const char *name);

/** A visit with a handle: for coroutines and tasks that move between threads, and for visits that
 * overlap in any order. */
typedef struct pfm_region_visit pfm_region_visit_t;

/** Begins a visit. Returns NULL, which the calls below accept, if regions are not counted. */
pfm_region_visit_t *pfm_enter_region(pfm_region_t *region);
/** pfm_suspend_region() stops counting the visit in the calling thread, and pfm_resume_region()
 * continues it in the calling thread. The results report a visit that moves to another thread
 * without these two calls as not counted. */
void pfm_suspend_region(pfm_region_visit_t *visit);
void pfm_resume_region(pfm_region_visit_t *visit);
/** Ends the visit and releases the handle. Its exclusive counts equal its inclusive counts, because
 * it is not nested in other visits of the thread. */
void pfm_leave_region(pfm_region_visit_t *visit);

/** Sets the counts of @region in the calling thread to zero. Open visits continue. */
void pfm_reset_region(pfm_region_t *region);

/* ---- what is counted ------------------------------------------------------------------------- */

/** Bits of the flags of pfm_regions_options_t. */
typedef enum pfm_regions_flag {
	PFM_REGIONS_NO_SUBTRACT = 1, /**< do not subtract the cost of begin and end */
	PFM_REGIONS_ROTATE_INNER =
		2, /**< change groups at every begin, not only at the outermost of a thread */
	PFM_REGIONS_SYSTEM =
		4, /**< count events that cannot be counted for a task for the whole machine */
	PFM_REGIONS_PER_THREAD = 8, /**< write a row for each thread, not only the sums */
	/** members that are set take precedence over the environment, which sets the others; flags
	 * are those of the program alone */
	PFM_REGIONS_PROGRAM_FIRST = 16
} pfm_regions_flag_t;

/** Options of regions. The variables PERFMON_REGIONS, PERFMON_REGIONS_OUTPUT and
 * PERFMON_REGIONS_FORMAT of the environment take precedence over the members, and
 * PERFMON_REGIONS_OPTIONS adds flags, unless flags has PFM_REGIONS_PROGRAM_FIRST. */
typedef struct pfm_regions_options {
	size_t size;
	unsigned flags;     /**< PFM_REGIONS_* */
	const char *events; /**< comma-separated events, groups in braces and metrics; NULL: only
	                       times */
	const char *output; /**< destination of the results when the process ends: a file (%p is the
	                       process ID), a folder if it ends with '/', or "-" for standard error;
	                       NULL: none */
	const char *format; /**< "table", "json", "csv", "likwid", "papi", "chrome" or "firefox";
	                       NULL: "table". The last two show each visit; visits are kept only if
	                       the first start has one of them */
} pfm_regions_options_t;

/** Starts counting.
 * @options  NULL for the defaults
 * @error    filled on failure; may be NULL
 * The events of the first start stay the same until the process ends: a later call with other
 * events returns PFMLIB_ERR_INVAL, and a later call without events continues after
 * pfm_stop_regions(). The call succeeds if some events cannot be counted;
 * pfm_describe_region_event() gives the reason. */
int pfm_start_regions(const pfm_regions_options_t *options, pfm_error_t *error);
/** Stops counting. Discards open visits and keeps the results. */
void pfm_stop_regions(void);

/* ---- results --------------------------------------------------------------------------------- */

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
	/** visits that are not inside another visit of the region */
	uint64_t outermost;
	uint64_t unfinished;      /**< visits that are open, or during which the thread ended */
	uint64_t wall, exclusive; /**< nanoseconds, of outermost visits; exclusive: without enclosed
	                             regions */
	uint64_t wall_min, wall_max;
	double wall_variance; /**< of a visit; negative for fewer than two visits */
	uint64_t task;        /**< nanoseconds on a CPU; 0: unknown */
	uint64_t task_visits; /**< number of visits in task */
	uint64_t threads;     /**< number of threads */
	/** errors of wall and exclusive: half-widths of the 95 % intervals that the uncertainty of
	 * the subtracted cost gives */
	uint64_t wall_error, exclusive_error;
	/** 0 if the interval of wall does not contain 0; otherwise the region is too short to
	 * measure: the number of visits after which the error is half the time of a visit,
	 * UINT64_MAX if no number is enough */
	uint64_t enough_visits;
} pfm_region_info_t;

/** The count of one event in one row. */
typedef struct pfm_region_event_count {
	size_t size;
	uint64_t inclusive, exclusive;
	uint64_t visits; /**< outermost visits that were counted completely; inclusive, min, max and
	                    variance are of these */
	uint64_t exclusive_visits; /**< number of visits in exclusive */
	uint64_t min, max;         /**< of a visit */
	double variance;           /**< of a visit; negative for fewer than two visits */
	uint64_t overhead; /**< cost of begin and end in the inclusive count; subtracted by default
	                    */
	pfm_quality_t quality; /**< exact, partial (counted in some visits), not counted or not
	                          supported */
	pfm_cause_t cause;
	double scale; /**< counts times scale are in the unit of the event */
	/** errors of inclusive and exclusive: half-widths of the 95 % intervals that the
	 * uncertainty of the subtracted cost gives */
	uint64_t error, exclusive_error;
	uint64_t enough_visits; /**< as in pfm_region_info_t */
} pfm_region_count_t;

/** An event that regions count. */
typedef struct pfm_region_event {
	size_t size;
	const char *name, *unit;
	const char *why, *remedy; /**< why it cannot be counted, "" if it can */
	pfm_quality_t quality;    /**< quality after opening */
	pfm_cause_t cause;
	int whole_machine; /**< 1: counted for the whole machine while the region runs */
	unsigned
		/** number of its round; the n-th visit counts round n modulo n_rounds */
		round;
	unsigned n_rounds;  /**< number of rounds */
	double cost_inside; /**< what an empty visit counts */
	double cost_pair;   /**< what one begin and end add to an enclosing region */
	/** half-widths of the 95 % intervals of these costs of one visit */
	double inside_error, pair_error;
} pfm_region_event_t;

/** Gives the cost of an empty visit in nanoseconds: the time that it measures inside, and the time
 * that one begin and end add to an enclosing region. 0 before the first start. Each pointer may be
 * NULL. */
void pfm_region_cost(double *inside, double *pair);
/** Number of events, number of metrics, and description of event @i. PFMLIB_ERR_NOTFOUND past the
 * last. */
unsigned pfm_count_region_events(void);
unsigned pfm_count_region_metrics(void);
int pfm_describe_region_event(unsigned i, pfm_region_event_t *event);

/** Returns the results so far, including those of running threads; release them with
 * pfm_close_region_results(). NULL before the first start and if memory is exhausted. */
pfm_region_results_t *pfm_read_regions(void);
/** Describes row @i. Rows are in the order in which regions were first entered: for each region,
 * all threads together, then each thread. PFMLIB_ERR_NOTFOUND past the last. Strings live until the
 * process ends. */
int pfm_describe_region(const pfm_region_results_t *results, unsigned i, pfm_region_info_t *info);
/** Gives the count of event @event in row @i. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_region_count(const pfm_region_results_t *results, unsigned i, unsigned event,
                     pfm_region_count_t *count);
/** Gives metric @metric in row @i and its name in *@name. pfm_compute_metric() computes the value
 * from the mean counts of a visit. */
int pfm_region_metric(const pfm_region_results_t *results, unsigned i, unsigned metric,
                      const char **name, pfm_session_metric_t *out);
/** The process that results are of. */
typedef struct pfm_region_process {
	size_t size;
	int process; /**< process ID */
	int rank;    /**< of a parallel program, -1 if the environment has none */
	const char *program;
	/** 1: the process has ended by exit(3) or a return from main(); 0: it runs, or has ended in
	 * another way */
	int has_ended;
	int is_incomplete;    /**< 1: the file was too small for all regions */
	uint64_t start_time;  /**< field 22 of /proc/PID/stat */
	uint64_t unfinished;  /**< open visits */
	unsigned n_regions;   /**< number of rows */
	uint64_t n_processes; /**< number of processes whose results are added up */
} pfm_region_process_t;

/** Reads results from the file of sums open as @fd (perfmon_regions(5)), also while its process
 * adds to it. Release *@results with pfm_close_region_results(). PFMLIB_ERR_INVAL if the file is
 * damaged or not such a file. */
int pfm_load_regions(int fd, pfm_region_results_t **results, pfm_error_t *error);
/** Adds the visits in @from to those in @to, region by region, in rows of all threads together;
 * rows of single threads and visits for "chrome" and "firefox" leave @to. Both are from
 * pfm_load_regions(), and count the same events: otherwise PFMLIB_ERR_INVAL, with @to unchanged.
 * After PFMLIB_ERR_NOMEM a part has been added. */
int pfm_add_region_results(pfm_region_results_t *to, const pfm_region_results_t *from);
/** Gives the region of row @i another name, in all rows. For results of pfm_load_regions(): names
 * of places in programs become those of functions. Names must differ; strings of the region that
 * pfm_describe_region() has returned become invalid. PFMLIB_ERR_NOTFOUND past the last row,
 * PFMLIB_ERR_INVAL for other results, PFMLIB_ERR_NOMEM. */
int pfm_rename_region(pfm_region_results_t *results, unsigned i, const char *name);
/** Describes the process of @results. */
int pfm_describe_region_process(const pfm_region_results_t *results, pfm_region_process_t *process);
/** Writes the results to file descriptor @fd in a format of pfm_regions_options_t. PFMLIB_ERR_INVAL
 * for an unknown format, and for "chrome" and "firefox" if visits were not kept. */
int pfm_write_regions(const pfm_region_results_t *results, int fd, const char *format);
void pfm_close_region_results(pfm_region_results_t *results);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
