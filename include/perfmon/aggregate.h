/* SPDX-License-Identifier: MIT */
/** Aggregation for reports: counts of CPUs, tasks and runs, the places of CPUs, the metrics of a
 * group. */
#ifndef LIBPERFMON_AGGREGATE_H
#define LIBPERFMON_AGGREGATE_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** The sum of counts of one event, over CPUs, tasks or kinds of cores. Initialise it with PFM_INIT.
 */
typedef struct pfm_count_sum {
	size_t size;
	unsigned n;     /**< number of added counts */
	unsigned worst; /**< index, from 0, of the count that determines the quality */
	uint64_t reserved[4];
	pfm_count_t count; /**< the sum; its quality and cause are those of the worst count */
} pfm_count_sum_t;

/**
 * Adds @count to @sum.
 *
 * A task or CPU that had no time to run adds nothing, and the sum stays exact. If some counts have
 * a value and others have none, the sum has quality PFM_QUALITY_PARTIAL. Levels
 * (pfm_count_info_t.is_level) are added, too.
 *
 * Returns PFMLIB_SUCCESS, or PFMLIB_ERR_INVAL if a pointer is NULL, the size of @count is invalid,
 * or @sum is smaller than in version 1.0.
 */
int pfm_add_count(pfm_count_sum_t *sum, const pfm_count_t *count);

/** Counts of one event in repeated runs. Initialise it with PFM_INIT. */
typedef struct pfm_tally {
	size_t size;
	unsigned runs;    /**< number of added runs */
	unsigned counted; /**< number of runs with a value */
	double mean;      /**< of the values */
	double squares;   /**< sum of squared differences from the mean; the standard error of the
	                     mean is sqrt(squares / (counted - 1) / counted) */
	double enabled;   /**< mean nanoseconds enabled, of the runs with a value */
	double running;   /**< mean nanoseconds on a counter, of the runs with a value */
	uint64_t reserved[4];
	/** The count with the worst quality; partial if it has no value and other runs have one. */
	pfm_count_t count;
} pfm_tally_t;

/**
 * Adds the count of another run.
 *
 * Returns 1 if @count determines the quality of the tally, 0 if not, or PFMLIB_ERR_INVAL if a
 * pointer is NULL, the size of @count is invalid, or @tally is smaller than in version 1.0.
 */
int pfm_add_run(pfm_tally_t *tally, const pfm_count_t *count);

/** Location of a CPU. A number is -1 if the kernel does not export it. */
typedef struct pfm_cpu_info {
	size_t size;
	int core; /**< within its die */
	int die;  /**< within its socket */
	int socket;
	int node; /**< NUMA node */
} pfm_cpu_info_t;

/**
 * Describes the location of CPU @cpu in the machine of @ctx; NULL for the default context.
 *
 * Returns PFMLIB_SUCCESS, or PFMLIB_ERR_INVAL if @info is NULL or its size is invalid.
 */
int pfm_describe_cpu(const pfm_ctx_t *ctx, unsigned cpu, pfm_cpu_info_t *info);

/** A metric, as pfm_describe_metric() takes it. */
typedef struct pfm_metric_ref {
	int pmu;
	unsigned event;
} pfm_metric_ref_t;

/**
 * Lists the metrics of a group.
 *
 * @text  "GROUP" of this machine's processors or "PMU::GROUP"; "NAME_group" holds the metrics that
 * metric NAME consists of; "TopdownL1" is another name of "TmaL1"
 * @out   receives the first @n metrics; may be NULL if @n is 0
 *
 * Returns the number of metrics in the group, PFMLIB_ERR_NOTFOUND if the group is unknown,
 * PFMLIB_ERR_INVAL or PFMLIB_ERR_NOMEM.
 */
int pfm_list_metric_group(const pfm_ctx_t *ctx, const char *text, pfm_metric_ref_t *out,
                          unsigned n);

/**
 * Calls @each with "SUBSYSTEM:NAME" for every tracepoint of the running kernel that matches, in
 * sorted order.
 *
 * @pattern  a shell pattern such as "sched:*", or NULL for every tracepoint
 * @each     returns 0 to continue; any other value ends the call, which returns it
 *
 * Returns 0, the value of @each, or
 *   PFMLIB_ERR_INVAL     @each is NULL
 *   PFMLIB_ERR_NOTFOUND  tracefs is not mounted
 *   PFMLIB_ERR_PERM      the user may not read tracefs
 *   PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS
 */
int pfm_visit_tracepoints(const pfm_ctx_t *ctx, const char *pattern,
                          int (*each)(void *arg, const char *name), void *arg);

/**
 * Reads the kernel's description of a tracepoint and its fields.
 *
 * @text  "SUBSYSTEM:NAME"; text after a second colon is ignored
 * @buf   receives the description, truncated to @size bytes and terminated
 *
 * Returns the length of the description, or the codes above; PFMLIB_ERR_NOTFOUND also if the
 * tracepoint does not exist.
 */
int pfm_read_tracepoint_format(const pfm_ctx_t *ctx, const char *text, char *buf, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
