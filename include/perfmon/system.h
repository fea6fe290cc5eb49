/* SPDX-License-Identifier: MIT */
/** The machine: what it can count and what prevents counting. */
#ifndef PERFMON_SYSTEM_H
#define PERFMON_SYSTEM_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/** How a finding bears on counting. */
enum pfm_finding_state {
	PFM_FINDING_GOOD, /**< nothing is in the way */
	PFM_FINDING_NOTE, /**< some counting is restricted, or worth knowing */
	PFM_FINDING_BAD   /**< something cannot be counted */
};

/** The part of the check that a finding belongs to. */
enum pfm_finding_topic {
	PFM_FINDING_MACHINE,     /**< processor, PMUs, kernel */
	PFM_FINDING_PERMISSIONS, /**< who may count what */
	PFM_FINDING_OBSTACLES,   /**< holders of counters, limits, missing file systems */
	PFM_FINDING_WORKLOAD     /**< events counted over a known workload */
};

/** The result of pfm_check_system(). */
typedef struct pfm_system_check pfm_system_check_t;

/** One thing that was checked. Texts are never NULL; they are empty where there is nothing to say.
 */
typedef struct pfm_finding {
	size_t size;
	enum pfm_finding_topic topic;
	enum pfm_finding_state state;
	const char *check;       /**< its name, such as "NMI watchdog" or "cycles:u" */
	const char *observed;    /**< the state of the machine */
	const char *consequence; /**< what cannot be counted because of it */
	const char *remedy;      /**< a command or setting that helps */
	const char *available;   /**< what can be counted nevertheless */
	const char *expected;    /**< of an event of the workload: the count that is right */
	int has_count;           /**< 1: an event of the workload; the following three are set */
	int quality;             /**< PFM_QUALITY_ of its count */
	int cause;               /**< PFM_CAUSE_ of its count */
	uint64_t count;          /**< its value, 0 if it was not counted */
} pfm_finding_t;

/** Do not count a workload: only read files and try to open events. */
#define PFM_CHECK_NO_WORKLOAD 1u

/**
 * Check what this machine can count, who may count it, and what prevents counting.
 *
 * @out    the findings, for pfm_describe_finding(); free with pfm_free_system_check()
 * @ctx    whose tables and machine are checked; must stay open during the call
 * @flags  PFM_CHECK_NO_WORKLOAD, or 0
 *
 * What can be tried is tried: events are opened, and basic events count a known workload of about
 * 20 ms. A machine that is a recorded folder (PERFMON_SYSFS) is read only; nothing is tried there.
 *
 * Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL (@out or @ctx is NULL, unknown flag) or
 * PFMLIB_ERR_NOMEM. Thread-safe.
 */
int pfm_check_system(pfm_system_check_t **out, const pfm_ctx_t *ctx, unsigned flags);

/**
 * Describe finding @i, in the order in which the machine was checked.
 *
 * Set @finding->size before. Texts live as long as @check.
 * Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL, or PFMLIB_ERR_NOTFOUND past the last.
 */
int pfm_describe_finding(const pfm_system_check_t *check, unsigned i, pfm_finding_t *finding);

/** Free the findings; NULL is allowed. */
void pfm_free_system_check(pfm_system_check_t *check);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
