/* SPDX-License-Identifier: MIT */
/* Declarations that only the files of this module share. */
#ifndef PERFMON_SESSION_INTERNAL_H
#define PERFMON_SESSION_INTERNAL_H

#include <stdlib.h>
#include <string.h>
#include "session/session.h"
#include "context/context.h"

#define MAX_GROUP_MEMBERS 64 /* members of one group */
#define MAX_CORE_PMUS     4  /* core PMUs of one machine */

/* ---- from texts to counts ------------------------------------------------------------------ */

/* An event of a text on one PMU. */
struct member_event {
	struct event *event; /* its own, or that of the only count of it */
	unsigned pmu;
	int core_pmu;      /* index of the kernel's core PMU; -1: no core PMU */
	unsigned instance; /* 1 + the instance of the PMU; 0: all instances */
};

/* A member of a group, or the only event of a text. */
struct group_member {
	char *name;        /* as the user wrote it; the session owns it */
	struct slice text; /* its place in the text */
	bool pinned, exclusive;
	unsigned precise; /* 1 + the precise level in the text; 0: none was given */
	uint64_t period, freq;
	unsigned n_events;
	bool lacks_core_types; /* some core type lacks the event */
	/* a core type that was requested and lacks the event, or NULL */
	const struct kernel_pmu *missing_core;
	struct member_event *events; /* one for every core type of the machine at most */
};

/* A session that is being opened. */
struct session_builder {
	struct pfm_session *session;
	unsigned counts_capacity;
	unsigned request, n_sibling_sets;
	const struct kernel_pmu *core_pmus[MAX_CORE_PMUS]; /* the kernel's core PMUs */
	unsigned n_core_pmus;
	/* the PMU of the last request, which is mostly that of the next one, too, and its number */
	struct pmu_info cached_pmu;
	unsigned cached_pmu_number;
	/* memory for the name of any member */
	char *name_buffer;
	bool is_group_weak, is_group_pinned, is_group_leader_sampled;
	const char *text; /* the whole text, for positions in errors */
	pfm_error_t *error;
};

/* Describes PMU @pmu; valid until the next call with another PMU. */
const struct pmu_info *pfmi_session_get_pmu(struct session_builder *o, unsigned pmu);
/* Reserves memory for @n more counts. Returns false without memory. */
bool pfmi_session_reserve_counts(struct session_builder *o, unsigned n);
/* Appends a count with undefined members; NULL without memory. */
struct session_count *pfmi_session_append_count(struct session_builder *o);
/* Copies @from up to the last field that is set. */
void pfmi_session_copy_event(const struct event *from, struct event *to);
#define NAME_SUFFIX_SIZE 8 /* after a name, for the levels that permission removes */
void pfmi_session_free_names(struct pfm_session *s);
/* A copy of @name that lives as long as the session; NULL without memory. */
char *pfmi_session_copy_name(struct pfm_session *s, const char *name);
/* Moves the terms of sampling (period=, freq=, precise=, pinned, excl) from @text to @m. Returns
 * true if there were any. *@bad points to a term with an invalid value, or is NULL. */
bool pfmi_session_extract_terms(char *text, struct group_member *m, const char **bad);
/* Finds the kernel's core PMUs. */
void pfmi_session_find_core_pmus(struct session_builder *o);
/* True if @f is an event of the kernel itself, which every core PMU may count. */
bool pfmi_session_is_generic_event(const struct session_builder *o, const struct member_event *f);
/* True if @alone must be counted alone and @other, on the same PMU, would need a counter beside
 * it. */
bool pfmi_session_has_exclusive_conflict(const struct event *alone, const struct event *other);
/* Refuses count @c if Linux ignores a restriction of it: levels, host or guests, idle time.
 * (lib/session/restrictions.c) */
void pfmi_session_check_restrictions(const struct pfm_session *s, struct session_count *c);
/* Makes events that must be counted alone take turns with those that they exclude.
 * (lib/session/counts.c) */
void pfmi_session_mark_exclusive_groups(struct pfm_session *s);
/* Adds the counts of one text. (lib/session/event_list.c) */
int pfmi_session_add_text(struct session_builder *o, const char *text);
/* Adds the counts of the @n members of a group. (lib/session/counts.c) */
int pfmi_session_add_members(struct session_builder *o, const struct group_member *m, unsigned n);
/* Adds the metrics that @text names. Returns PFMLIB_ERR_NOTFOUND if it names no metric,
 * PFMLIB_ERR_NOMEM without memory. (lib/session/metrics.c) */
int pfmi_session_add_metrics(struct session_builder *o, const char *text);
/* Plans the events of these metrics and adds the counts of the groups. @texts are all texts of the
 * session. */
int pfmi_session_plan_metrics(struct session_builder *o, const char *const *texts);
void pfmi_session_free_metrics(struct pfm_session *s);
/* Reads the CPUs on line again after the kernel refused a CPU. Returns -EAGAIN if they have
 * changed, 0 if not, or -ENOMEM. */
int pfmi_session_refresh_online_cpus(struct pfm_session *s);
/* Stores the caller's CPU list; repeats the counts for each CPU if CPUs are counted separately. */
int pfmi_session_apply_cpu_list(struct session_builder *o);
/* True if group @group counts now. (lib/session/group_turns.c) */
bool pfmi_session_is_group_on(const struct pfm_session *s, unsigned group);
/* Adds the nanoseconds of a switch, in which no group counted, to the time of each turn. */
void pfmi_session_add_turn_gap(const struct pfm_session *s, uint64_t ns);
/* Clears these times, for a reset. */
void pfmi_session_forget_turn_gaps(const struct pfm_session *s);
/* Adds up the enabled times of the groups of each turn, from counts as they were read. */
void pfmi_session_sum_turn_times(const struct pfm_session *s, const pfm_count_t *counts);
/* The time of all groups of the turn of counts[i], after pfmi_session_sum_turn_times(). For a count
 * that has no turn, its enabled time. */
uint64_t pfmi_session_get_turn_time(const struct pfm_session *s, const pfm_count_t *counts,
                                    unsigned i);
/* Extrapolates groups that take turns to the time of all groups of their turn. */
void pfmi_session_apply_turns(const struct pfm_session *s, pfm_count_t *counts);
void pfmi_session_free_turns(struct pfm_session *s);
/* ---- the caller's status ----------------------------------------------------------------- */

/* Sets quality, cause and reason of counts[i] from the times that a backend has read. @counts
 * holds all counts of the session. */
void pfmi_session_assess_quality(struct pfm_session *s, unsigned i, pfm_count_t *counts);
/* Calls pfmi_session_assess_quality() for every count of the session. */
void pfmi_session_assess_all_qualities(struct pfm_session *s, pfm_count_t *counts);
/* Makes the @n counts that have a value pretended if the machine is a pretended one. */
void pfmi_session_mark_pretended(struct pfm_session *s, pfm_count_t *counts, unsigned n);
/* Finds counts whose kernel event occurs in the session before. */
void pfmi_session_mark_copies(struct pfm_session *s);
/* Compares the counts of one kernel event; those that differ by more than their times allow are not
 * exact. Returns true if they agree. */
bool pfmi_session_compare_copies(struct pfm_session *s, pfm_count_t *counts);
#define USER_READS_PER_CHECK 1024u /* a reading of a counter is faster than one of the clock */
/* Notices, once a second, that the machine has another processor than when the session was opened.
 * (lib/session/processor_change.c) */
void pfmi_session_check_processor(struct pfm_session *s);
/* Fills the sentences of count @c, unless they already say why it could not be opened. */
void pfmi_session_set_reason(struct session_count *c, pfm_cause_t cause, const char *remedy,
                             const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* True if the kernel's NMI watchdog holds a counter. On x86 it is a perf event; POWER's uses timers
 * (arch/powerpc/kernel/watchdog.c), and since Linux 6.5 others may watch each other
 * (kernel/watchdog_buddy.c). */
bool pfmi_session_has_watchdog(const struct pfm_session *s);
/* Replaces the facts that support the cause of @c, which has just been set. */
void pfmi_session_set_evidence(struct session_count *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
