/* SPDX-License-Identifier: MIT */
/* Plans: how many groups of events it takes to count everything, and which events go together. */
#ifndef LIBPERFMON_PLAN_H
#define LIBPERFMON_PLAN_H

#include <perfmon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A plan. Opaque. */
typedef struct pfm_plan pfm_plan_t;

/** Bits of pfm_plan_options_t.flags. */
typedef enum pfm_plan_flag {
	PFM_PLAN_ALL_COUNTERS = 1 /**< use counters that the kernel reserves as well */
} pfm_plan_flag_t;

/** How to plan. 0 in every member gives the defaults. */
typedef struct pfm_plan_options {
	size_t size;
	unsigned flags;       /**< PFM_PLAN_* */
	unsigned plm;         /**< levels of events that name none, 0 for the PMU's defaults */
	uint64_t taken;       /**< counters not to use; fixed counter n is bit 32 + n */
	int htoff;            /**< 1: hyper-threading is off, so events can use more counters */
	unsigned long effort; /**< steps of the search for fewer groups, 0 for the default */
} pfm_plan_options_t;

/** Description of a plan. */
typedef struct pfm_plan_info {
	size_t size;
	unsigned n_events;       /**< planned events, including those of metrics and added ones */
	unsigned n_groups;       /**< groups of all PMUs, which count side by side */
	unsigned n_rounds;       /**< times the counters are reloaded: the most groups of one PMU */
	unsigned bound;          /**< lower bound of n_groups: no plan has fewer */
	int optimal;             /**< 1: n_groups equals the bound */
	const char *certificate; /**< the proof of the bound: one sentence per PMU */
} pfm_plan_info_t;

/** One event of a plan. */
typedef struct pfm_planned_event {
	size_t size;
	unsigned request; /**< index of the first text that asked for it */
	int pmu;          /**< PMU that counts it */
	const char *text; /**< the event, as pfm_encode_event() takes it */
	unsigned group;   /**< its group, from 0 */
	int counter;      /**< fixed counter n is 32 + n; -1: needs no counter */
	int added;        /**< 1: needed by its group only (slots before top-down events) */
	int in_proof;     /**< 1: the certificate refers to it */
} pfm_planned_event_t;

/** Plans the events of @texts, and those of the metrics and metric groups among them, in as few
 * groups as possible; each group can be counted together.
 * @out      receives the plan, NULL on failure; release it with pfm_free_plan()
 * @options  NULL for the defaults
 * @error    filled on failure; may be NULL
 * A group belongs to one PMU. The events of a metric share a group where that costs no extra group.
 * An event that must be counted alone shares its group with events on fixed counters only. Equal
 * input gives an equal plan.
 *
 * Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
 *   PFMLIB_ERR_NOASSIGN  an event has no counter left
 *   PFMLIB_ERR_TOOMANY   too many events
 *   PFMLIB_ERR_NOMEM     out of memory
 * Thread-safe. */
int pfm_create_plan(pfm_plan_t **out, const pfm_ctx_t *ctx, const char *const *texts, unsigned n,
                    const pfm_plan_options_t *options, pfm_error_t *error);

/** Describes @plan. PFMLIB_ERR_INVAL for NULL or a size that is not set. Thread-safe. */
int pfm_describe_plan(const pfm_plan_t *plan, pfm_plan_info_t *info);

/** Describes event @i of @plan. Events of a group follow each other, in an order in which they can
 * be opened. PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_planned_event(const pfm_plan_t *plan, unsigned i, pfm_planned_event_t *event);

/** Releases @plan and its strings. NULL is allowed. */
void pfm_free_plan(pfm_plan_t *plan);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
