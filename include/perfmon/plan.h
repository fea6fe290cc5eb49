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
	PFM_PLAN_ALL_COUNTERS = 1, /**< use counters that the kernel reserves as well */
	/** use them only if the events have no other counter: the kernel may free one of them */
	PFM_PLAN_RESERVED_IF_NEEDED = 2
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
	unsigned request;     /**< index of the first text that asked for it */
	int pmu;              /**< PMU that counts it */
	const char *text;     /**< the event, as pfm_encode_event() takes it */
	unsigned group;       /**< its group, from 0 */
	int counter;          /**< fixed counter n is 32 + n; -1: needs no counter */
	int added;            /**< 1: needed by its group only (slots before top-down events) */
	int in_proof;         /**< 1: the certificate refers to it */
	const char *replaced; /**< event that was asked for and counts wrong here; "" for none */
	const char *errata;   /**< the errata of that event, "" for none */
} pfm_planned_event_t;

/** Plans the events of @texts, and those of the metrics and metric groups among them, in as few
 * groups as possible; each group can be counted together.
 * @out      receives the plan, NULL on failure; release it with pfm_close_plan()
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

/** Describes @plan. PFMLIB_ERR_INVAL for NULL or an invalid size. Thread-safe. */
int pfm_describe_plan(const pfm_plan_t *plan, pfm_plan_info_t *info);

/** Describes event @i of @plan. Events of a group follow each other, in an order in which they can
 * be opened. PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_planned_event(const pfm_plan_t *plan, unsigned i, pfm_planned_event_t *event);

/** Writes group @group of @plan, from 0, to @buf, as pfm_open_session() takes it: an event alone,
 * or several in braces that count one by one if the kernel cannot keep them together ("{A,B}:W").
 * @buf  always terminated, truncated at @len bytes
 * Returns the length of the complete text, PFMLIB_ERR_NOTFOUND past the last group, or
 * PFMLIB_ERR_INVAL if @plan is NULL, or @buf is NULL although @len is not 0. Thread-safe. */
int pfm_print_plan_group(const pfm_plan_t *plan, unsigned group, char *buf, size_t len);

/** Releases @plan and its strings. NULL is allowed. */
void pfm_close_plan(pfm_plan_t *plan);

/** The groups of a plan laid over slots of time. Opaque. */
typedef struct pfm_schedule pfm_schedule_t;

/** The needs of a text of the plan. 0 in a member sets no limit. */
typedef struct pfm_wish {
	double readings_per_minute; /**< slots a minute in which it is counted, at least */
	double longest_gap;         /**< seconds in which it is not counted, at most */
} pfm_wish_t;

/** How to lay out slots. 0 in every member gives the defaults. */
typedef struct pfm_schedule_options {
	size_t size;
	double slot_seconds; /**< length of a slot, 0 for 1 second */
	/** slots of a cycle; 0: one minute of them if there are wishes, else the rounds of the
	 * plan */
	unsigned n_slots;
	/** name of the machine: its hash shifts the cycle, so that a fleet counts everything at any
	 * time. NULL: all machines are in step. */
	const char *host;
	unsigned long effort; /**< steps of the search for an arrangement, 0 for the default */
} pfm_schedule_options_t;

/** Description of a schedule. */
typedef struct pfm_schedule_info {
	size_t size;
	unsigned n_slots;    /**< slots of a cycle */
	double slot_seconds; /**< length of a slot */
	unsigned n_requests; /**< texts of the plan */
	unsigned n_groups;   /**< groups of the plan */
	unsigned shift;      /**< slots that the host's name shifts the cycle */
} pfm_schedule_info_t;

/** The share of a text of the plan. */
typedef struct pfm_scheduled_request {
	size_t size;
	unsigned n_readings; /**< slots of a cycle in which its rarest group is counted */
	double longest_gap;  /**< seconds in which one of its groups is not counted, at most */
	/** Expected standard error of the mean of a cycle, as a share of the standard deviation
	 * between slots; 0 if it is counted all the time. */
	double standard_error;
} pfm_scheduled_request_t;

/** Lays the groups of @plan over the slots of a cycle, which repeats. Each PMU counts one of its
 * groups in each slot; a PMU with one group counts it all the time. The slots of a group are spread
 * evenly. Slots that no wish needs go to the groups that have fewest.
 * @out       receives the schedule, NULL on failure; release it with pfm_close_schedule()
 * @wishes    of the texts of the plan, in their order; texts from @n_wishes on have no wish
 * @options   NULL for the defaults
 * @error     filled on failure; may be NULL. If the wishes cannot be met, error->detail says why,
 *            error->number is the number of slots that they need, and error->event is the text
 * whose wish needs most of them. Equal input gives an equal schedule. @plan can be released before
 * the schedule.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL     an argument is wrong
 *   PFMLIB_ERR_NOASSIGN  no schedule meets the wishes
 *   PFMLIB_ERR_FULL      none was found with this effort, and there may be one
 *   PFMLIB_ERR_NOMEM     out of memory
 * Thread-safe. */
int pfm_create_schedule(pfm_schedule_t **out, const pfm_plan_t *plan, const pfm_wish_t *wishes,
                        unsigned n_wishes, const pfm_schedule_options_t *options,
                        pfm_error_t *error);

/** Describes @schedule. PFMLIB_ERR_INVAL for NULL or an invalid size. Thread-safe. */
int pfm_describe_schedule(const pfm_schedule_t *schedule, pfm_schedule_info_t *info);

/** Describes what text @i of the plan gets. PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_scheduled_request(const pfm_schedule_t *schedule, unsigned i,
                                   pfm_scheduled_request_t *request);

/** The slot of the cycle at @time, in seconds since 1970, with the shift of the host: machines with
 * the same plan, wishes and time count the same. Thread-safe. */
unsigned pfm_find_slot(const pfm_schedule_t *schedule, double time);

/** 1 if group @group of the plan is counted in slot @slot, 0 if not, -1 if a number is out of
 * range. Thread-safe. */
int pfm_is_group_in_slot(const pfm_schedule_t *schedule, unsigned slot, unsigned group);

/** The groups with which group @group takes turns, as a number: equal for those that share a PMU. 0
 * if it is counted all the time. Thread-safe. */
unsigned pfm_get_group_turn(const pfm_schedule_t *schedule, unsigned group);

/** Releases @schedule. NULL is allowed. */
void pfm_close_schedule(pfm_schedule_t *schedule);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
