/* SPDX-License-Identifier: MIT */
/* Declarations that only the files of the perf_event backend share. */
#ifndef PERFMON_SESSION_PERF_EVENT_INTERNAL_H
#define PERFMON_SESSION_PERF_EVENT_INTERNAL_H

#include "session/perf_event.h"
#include "session/session_internal.h"

#define LOST_COUNTER_TIME                                                                          \
	UINT64_MAX /* represents the times of a pinned event without a counter                     \
	            */
/* words before the values of a group: members, enabled, running */
#define GROUP_HEADER_WORDS 3

/* Records in s->counts[i] why its kernel event @k could not be opened with error @err. @group:
 * the descriptor it was to join, or -1. */
void pfmi_perf_diagnose_event(struct pfm_session *s, unsigned i, unsigned k, int group, int err);
/* Records that count @i cannot join its group because it is counted at other places. */
void pfmi_perf_reject_group_member(struct pfm_session *s, unsigned i);
/* Lists the tasks that a session for @pid counts: all threads of a process (one thread if @alone),
 * or the caller's own thread (0). Returns 0 or -ENOMEM. */
int pfmi_perf_list_tasks(const struct sys *sys, int pid, bool alone, struct task_list *out);
void pfmi_perf_free_tasks(struct task_list *t);
/* True if @all contains each task of @some; sorts @all. */
bool pfmi_perf_is_task_subset(const struct task_list *some, struct task_list *all);
/* Lays out the kernel events of all counts, not yet open. Returns 0 or -ENOMEM.
 * (lib/session/perf_targets.c) */
int pfmi_perf_plan_events(struct pfm_session *s);
/* Assigns readings to the open events. Returns 0 or -ENOMEM. (lib/session/perf_read.c) */
int pfmi_perf_assign_readings(struct pfm_session *s);
int pfmi_perf_start_counting(struct pfm_session *s);
int pfmi_perf_stop_counting(struct pfm_session *s);
int pfmi_perf_reset_counts(struct pfm_session *s);
int pfmi_perf_switch_groups(struct pfm_session *s, const unsigned char *was_on,
                            const unsigned char *is_on);
/* True if a task that started while a group was opened has inherited only some of its members: the
 * group can never be read. */
bool pfmi_perf_has_unreadable_group(struct pfm_session *s);
int pfmi_perf_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n);
int pfmi_perf_read_user_count(struct pfm_session *s, unsigned i, pfm_count_t *count);
/* Detection of programs with more rights (lib/session/perf_permissions.c): call these after the
 * start, before the stop and after a reset. */
void pfmi_perf_start_process_clock(struct pfm_session *s);
void pfmi_perf_stop_process_clock(struct pfm_session *s);
void pfmi_perf_reset_process_clock(struct pfm_session *s);
/* Reads the processor time of the process. False if it is unknown, or the session does not follow
 * the whole process. */
bool pfmi_perf_get_process_time(const struct pfm_session *s, uint64_t *ns);
/* The processor time of the process while it was counted, up to now; 0 if it is unknown. */
uint64_t pfmi_perf_read_process_time(const struct pfm_session *s);
/* Compares the processor time @taken with the time that @counts, all of the session's, were
 * enabled, in children too. Reports and returns false if most of it is missing. */
bool pfmi_perf_check_process_time(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts);
/* Detection of CPUs that come and go (lib/session/perf_hotplug.c): call these after everything is
 * open; after the start, before the stop and after a reset; before a reading is used. */
void pfmi_perf_init_hotplug(struct pfm_session *s);
void pfmi_perf_start_hotplug_clock(struct pfm_session *s);
void pfmi_perf_stop_hotplug_clock(struct pfm_session *s);
/* @before: a time before the zeros were read */
void pfmi_perf_reset_hotplug_clock(struct pfm_session *s, uint64_t before);
/* Call these before the first event is enabled and after the last one is disabled. */
void pfmi_perf_start_longest_clock(struct pfm_session *s);
void pfmi_perf_stop_longest_clock(struct pfm_session *s);
/* Call this after the events have been read. */
void pfmi_perf_compute_max_enabled_time(struct pfm_session *s);
void pfmi_perf_check_hotplug(struct pfm_session *s);
/* True if count @c has lost events of a CPU that is on line, at the last reading. */
bool pfmi_perf_has_missed_cpu(struct pfm_session *s, const struct session_count *c);
/* Value, enabled and running from the page, without a system call. False if the page cannot
 * tell. */
bool pfmi_perf_read_user_page(const void *page, uint64_t out[3]);
/* pfmi_perf_open_event() with PERF_FLAG_* @flags beside close-on-exec. */
int pfmi_perf_open_with_flags(const struct sys *sys, struct perf_attr *a, int pid, int cpu,
                              int group, unsigned long flags);
/* Closes a kernel event and unmaps its page. Its group must not refer to it any more. */
void pfmi_perf_close_event(struct pfm_session *s, struct kernel_event *p);
/* Opens counts [@first, @end), one group. A count that cannot be opened gets its cause. */
void pfmi_perf_open_group(struct pfm_session *s, unsigned first, unsigned end);
/* Opens the software events from count @first on that can be read together. Returns their end, or
 * @first: they are opened as groups of their own. */
unsigned pfmi_perf_open_software_events(struct pfm_session *s, unsigned first);
/* The end of the group that begins with count @first. */
unsigned pfmi_perf_find_group_end(const struct pfm_session *s, unsigned first);

/* Number of counts in one reading of the kernel event. */
static inline unsigned perf_get_counts_per_reading(const struct kernel_event *p)
{
	return p->reads_group ? 1u + p->n_members : 1;
}

/* Computes counts that were exact at the last reading and still are: only numbers have changed.
 * Checks what the members of a group share once. False if anything else may have changed; @out is
 * then undefined. */
bool pfmi_perf_compute_exact_counts(const struct pfm_session *s, pfm_count_t *out);
/* Computes every count from its kernel events. (perf_counts.c) */
void pfmi_perf_compute_all_counts(struct pfm_session *s, pfm_count_t *counts);

/* Stores -@err in s->sys_errno and returns the code of PFMLIB_ERR_* for it. (perf_read.c)
 */
int pfmi_perf_record_errno(struct pfm_session *s, int err);
/* Reads all events into the readings. Returns 0 or -errno. (perf_read.c) */
int pfmi_perf_read_all_events(struct pfm_session *s);

#endif
