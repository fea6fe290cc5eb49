/* SPDX-License-Identifier: MIT */
/** Checks of what a machine can count. */
#ifndef LIBPERFMON_SYSTEM_H
#define LIBPERFMON_SYSTEM_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Effect of a finding on counting. */
typedef enum pfm_finding_state {
	PFM_FINDING_GOOD, /**< nothing prevents counting */
	PFM_FINDING_NOTE, /**< some counting is restricted, or a remark */
	PFM_FINDING_BAD   /**< something cannot be counted */
} pfm_finding_state_t;

/** The part of the check that a finding belongs to. */
typedef enum pfm_finding_topic {
	PFM_FINDING_MACHINE,     /**< processor, PMUs, kernel */
	PFM_FINDING_PERMISSIONS, /**< permissions to count */
	PFM_FINDING_OBSTACLES,   /**< users of counters, limits, missing file systems */
	PFM_FINDING_WORKLOAD     /**< counts of a known workload */
} pfm_finding_topic_t;

/** The result of pfm_check_system(). */
typedef struct pfm_system_check pfm_system_check_t;

/** Result of one check. Strings are never NULL, but may be empty. */
typedef struct pfm_finding {
	size_t size;
	pfm_finding_topic_t topic;
	pfm_finding_state_t state;
	const char *check;       /**< name of the check, such as "NMI watchdog" or "cycles:u" */
	const char *observed;    /**< state of the machine */
	const char *consequence; /**< what cannot be counted because of it */
	const char *remedy;      /**< a command or setting that helps */
	const char *available;   /**< what can be counted nevertheless */
	const char *expected;    /**< the correct count, for an event of the workload */
	int has_count;           /**< 1: an event of the workload; the next three members are set */
	pfm_quality_t quality;   /**< quality of its count */
	pfm_cause_t cause;       /**< why its count is not exact */
	uint64_t count;          /**< its value, 0 if it was not counted */
} pfm_finding_t;

/** Bits of the flags of pfm_check_system(). */
typedef enum pfm_check_flag {
	PFM_CHECK_NO_WORKLOAD = 1 /**< only read files and try to open events */
} pfm_check_flag_t;

/**
 * Checks what this machine can count, who may count it, and what prevents counting.
 *
 * @out    receives the findings; release them with pfm_close_system_check()
 * @ctx    the context to check; NULL for the default context
 * @flags  PFM_CHECK_NO_WORKLOAD, or 0
 *
 * The function opens events, and counts basic events over a known workload of about 20 ms each. If
 * PERFMON_SYSFS names a recorded machine, it only reads files.
 *
 * Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL (@out is NULL, unknown flag) or
 * PFMLIB_ERR_NOMEM. Thread-safe.
 */
int pfm_check_system(pfm_system_check_t **out, const pfm_ctx_t *ctx, unsigned flags);

/**
 * Describes finding @i, in the order of the checks.
 *
 * Set @finding->size before the call. The strings live as long as @check.
 * Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL, or PFMLIB_ERR_NOTFOUND past the last.
 */
int pfm_describe_finding(const pfm_system_check_t *check, unsigned i, pfm_finding_t *finding);

/** Releases the findings. NULL is allowed. */
void pfm_close_system_check(pfm_system_check_t *check);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
