/* SPDX-License-Identifier: MIT */
/* What the files of this room share. */
#ifndef PERFMON_COUNT_INSIDE_H
#define PERFMON_COUNT_INSIDE_H

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "session/backend.h"
#include "context/context.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4) /* Linux 6.0 */
#endif

#define MAX_GROUP_MEMBERS  64         /* members of one group */
#define MEMBER_FILTER_BITS 512        /* of a set of members; those of one group need not be in it once each */
#define MAX_CORE_PMUS      4          /* core PMUs of one machine */
#define MAX_SESSION_COUNTS (1u << 18) /* counts of a session, and the kernel's counters behind them: 8,192 CPUs with 32 events */

/* Memory of zeros, or NULL. calloc(3) of glibc before 2.41 looks for small pieces where that takes long. */
static inline void *session_alloc_zeroed(size_t size)
{
	void *p = malloc(size);

	if (!p)
		return NULL;
	__asm__ volatile("" ::"r"(p)
	                 : "memory"); /* or the compiler makes calloc() of it */
	return memset(p, 0, size);
}

/* ---- from texts to counts -------------------------------------------------------------------------------------------- */

/* One event of a text, on one PMU. */
struct member_event {
	struct event *event; /* where one count comes of it: that count's */
	unsigned pmu;
	int core_pmu;      /* which of the kernel's core PMUs, -1: none in particular */
	unsigned instance; /* 1 + the instance of the PMU, 0: all */
};

/* One member of a group (or the only event of a text). */
struct group_member {
	char *name;        /* as the user wrote it; the session's */
	struct slice text; /* where that stands in the text */
	bool pinned, exclusive;
	unsigned precise; /* 1 + what the text asks for */
	uint64_t period, freq;
	unsigned n_events;
	bool lacks_core_types;                 /* some type of core does not have it */
	const struct kernel_pmu *missing_core; /* a type that was asked and does not have it, or NULL */
	struct member_event *events;           /* room for every type of core of the machine */
};

/* A session while it is opened. */
struct session_builder {
	struct pfm_session *session;
	unsigned counts_capacity;
	unsigned request, n_sibling_sets;
	const struct kernel_pmu *core_pmus[MAX_CORE_PMUS]; /* the kernel's core PMUs */
	unsigned n_core_pmus;
	struct pmu_info cached_pmu; /* the last that was asked for, and its number: the next is mostly the same */
	unsigned cached_pmu_number;
	uint64_t member_filter[MEMBER_FILTER_BITS / 64]; /* members of the group: a bit that is not set is nobody's */
	char *name_buffer;                               /* room for the name of any member of a text */
	bool is_group_weak, is_group_pinned;
	const char *text; /* the whole text, for positions in errors */
	pfm_error_t *error;
};

/* Fills o->why: @len bytes at @at are the culprit in o->text. Returns @code. */
int pfmi_session_report_error(const struct session_builder *o, int code, pfm_error_kind_t kind, const char *at, size_t len, const char *detail);
int pfmi_session_report_no_memory(const struct session_builder *o);
/* All that is known of unit @unit, until it is asked for another. */
const struct pmu_info *pfmi_session_get_pmu(struct session_builder *o, unsigned unit);
/* Room for @n more counts. False without memory. (lib/session/counts.c) */
bool pfmi_session_reserve_counts(struct session_builder *o, unsigned n);
/* Fields that nobody set are not there. */
void pfmi_session_copy_event(const struct event *from, struct event *to);
#define NAME_SUFFIX_SIZE 8 /* behind a name, for the levels that permission takes away */
/* Room for a name of @room bytes, empty, for as long as the session; NULL without memory. (lib/session/counts.c) */
char *pfmi_session_alloc_name(struct pfm_session *s, size_t room);
void pfmi_session_free_names(struct pfm_session *s);
/* Takes what concerns samples (period=, freq=, precise=, pinned, excl) out of @text. True if there was something; *@bad points to a
 * term whose value is wrong, else NULL. (lib/session/sampling_terms.c) */
bool pfmi_session_extract_terms(char *text, struct group_member *m, const char **bad);
/* Finds the kernel's core PMUs. */
void pfmi_session_find_core_pmus(struct session_builder *o);
/* True if @f is one of the kernel's own events, which every core PMU may count. */
bool pfmi_session_is_generic_event(const struct session_builder *o, const struct member_event *f);
/* True if @alone must be counted alone and @other, on the same PMU, would need a counter beside it. */
bool pfmi_session_has_exclusive_conflict(const struct event *alone, const struct event *other);
/* Events that must be counted alone take turns with those that they keep out. (lib/session/counts.c) */
void pfmi_session_mark_exclusive_groups(struct pfm_session *s);
/* Adds the counts of one text. (lib/session/event_list.c) */
int pfmi_session_add_text(struct session_builder *o, const char *text);
/* Adds the counts of @n members of one group. (lib/session/counts.c) */
int pfmi_session_add_members(struct session_builder *o, const struct group_member *m, unsigned n);
/* Adds the metrics that @text names to those of the session. PFMLIB_ERR_NOTFOUND if it names none, PFMLIB_ERR_NOMEM.
 * (lib/session/metrics.c) */
int pfmi_session_add_metrics(struct session_builder *o, const char *text);
/* Plans what those metrics need and adds the groups' counts; @texts are all of the session's. */
int pfmi_session_plan_metrics(struct session_builder *o, const char *const *texts);
void pfmi_session_free_metrics(struct pfm_session *s);
/* Some CPU is not on line that was assumed to be: -EAGAIN if the session knows better now, 0 if that was not it, or -ENOMEM. */
int pfmi_session_refresh_online_cpus(struct pfm_session *s);
/* Keeps the caller's CPU list; where every CPU is counted for itself, repeats the counts for each. */
int pfmi_session_apply_cpu_list(struct session_builder *o);

/* ---- what the user is told ------------------------------------------------------------------------------------------- */

/* From what a backend has read to what the user is told: quality and cause of counts[i], and the sentences in s->counts[i].
 * @counts are those of the whole session. (lib/session/count_quality.c) */
void pfmi_session_assess_quality(struct pfm_session *s, unsigned i, pfm_count_t *counts);
/* The same of every count of the session. */
void pfmi_session_assess_all_qualities(struct pfm_session *s, pfm_count_t *counts);
/* Fills the sentences of count @c, unless they already say why it could not be opened. */
void pfmi_session_set_reason(struct session_count *c, pfm_cause_t cause, const char *remedy, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Count @c cannot be opened (or not everywhere): @cause, errno @err and the sentences about it. The last to speak is heard. */
void pfmi_session_fail_count(struct session_count *c, pfm_cause_t cause, int err, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#define LOST_COUNTER_TIME  UINT64_MAX /* in place of a part's times: a pinned event was without its counter */
#define GROUP_HEADER_WORDS 3          /* words before the values of a group: number of members, enabled, running */

/* ---- the perf_event backend ------------------------------------------------------------------------------------------ */

/* One kernel event: a count on one CPU, for one task, on one instance of its PMU. */
struct kernel_event {
	/* What every reading looks at comes first. */
	int fd;                            /* -1: not open */
	int leader;                        /* part it joined, -1: it leads or is alone */
	uint32_t value_index, times_index; /* places of the readings: its value; enabled and, behind it, running */
	int time_reference;                /* of a task on one CPU: tells how long it was there; else -1 */
	bool reads_group;                  /* reading it gives the whole group */
	bool reads_lost_samples;           /* reading it gives its losses behind its times */
	uint16_t n_members;                /* of a leader: how many joined it */
	int next_member, last_member;      /* next member of its group; of a leader: last member, -1 for none */
	int pid, cpu;
	unsigned instance, count_index;
	uint64_t lost_samples; /* samples that did not fit the buffer, as last read */
	void *user_page;       /* for reading from user space, or NULL */
	bool is_orphaned;      /* its CPU was switched off and has come back without it */
};

/* An event that never waits for a counter: the time it ran is the time @pid spent on @cpu. */
struct time_reference {
	bool is_needed;
	int fd; /* -1: not open, because of errno @err */
	int pid, cpu, open_error;
	uint64_t reset_times[2]; /* enabled, running at the last reset */
	uint64_t time_on_cpu;    /* by the last reading: time on the CPU, ... */
	uint64_t time_elsewhere; /* ... and on others */
};

/* A task's time on a CPU that was asked for and does not have the count's PMU. */
struct unserved_time {
	unsigned count_index, time_reference;
};

/* Tasks to count. */
struct task_list {
	unsigned n_pids, capacity;
	int *pids;
	bool has_all_threads; /* all the threads of a process */
	int list_errno;       /* errno: whether there are more could not be seen; 0: these are all */
};

/* How long something has lasted since the last reset, by a clock that is read where it is used: up to the last stop, and since when
 * again. */
struct stopwatch {
	bool is_running;
	uint64_t started_at, elapsed;
};

/* Nothing new where it runs already. */
static inline void session_start_stopwatch(struct stopwatch *w, uint64_t now)
{
	w->started_at = w->is_running ? w->started_at : now;
	w->is_running = true;
}

static inline uint64_t session_read_stopwatch(const struct stopwatch *w, uint64_t now)
{
	return w->elapsed + (w->is_running && now > w->started_at ? now - w->started_at : 0);
}

static inline void session_stop_stopwatch(struct stopwatch *w, uint64_t now)
{
	w->elapsed = session_read_stopwatch(w, now);
	w->is_running = false;
}

static inline void session_reset_stopwatch(struct stopwatch *w, uint64_t now)
{
	w->elapsed = 0;
	w->started_at = now;
}

/* What shows that CPUs come and go. */
struct hotplug_state {
	bool has_cpu_events;              /* some part counts whatever runs on its CPU */
	bool counts_all_cpus;             /* every CPU is wanted, whichever these are */
	bool has_new_cpu, has_missed_cpu; /* one has come that is not counted; ... or one is back whose events are gone */
	enum { NEW_CPUS_UNKNOWN,
	       NEW_CPUS_POSSIBLE,
	       NEW_CPUS_IMPOSSIBLE } new_cpus; /* than were on line when the session was opened */
	struct stopwatch clock;
	uint64_t min_enabled_time; /* for so long all parts must have been enabled */
};

struct perf_state {
	unsigned n_events, events_capacity;
	struct kernel_event *events;
	struct task_list tasks;
	unsigned n_cpus, n_time_references; /* CPUs that were asked for; that times tasks */
	struct time_reference *time_references;
	unsigned n_unserved_times;
	struct unserved_time *unserved_times;
	int cgroup_fd; /* descriptor of the control group's folder, -1: none */
	size_t page_size;
	bool has_offline_cpu;           /* some CPU is not on line, the kernel says */
	bool has_ended_task;            /* a thread has ended, or become another, while they were opened */
	bool reads_singly;              /* the kernel does not read groups of inherited events at once */
	uint64_t *readings;             /* as the kernel gives them */
	uint64_t *reset_readings;       /* word for word what they were at the last reset; times that were lost stay what they were */
	double *scales;                 /* of each count */
	unsigned n_read_events;         /* parts that are read: a group by its leader alone ... */
	uint32_t *read_events;          /* ... and their numbers */
	bool is_uniform;                /* all counts are as nearly all are: take_again() can look at them */
	struct stopwatch process_clock; /* by the processor time that it takes */
	struct hotplug_state hotplug;
};

/* perf_event_attr with room for words that the header of the system we are built on does not know. */
union perf_attr_buffer {
	struct perf_event_attr attr;
	uint64_t words[32];
};

/* What is asked for part @k of count @i. @leader: it leads its group (or is alone). */
void pfmi_perf_build_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union perf_attr_buffer *out);
/* @from as the members of the kernel's own struct that say what to count; everything else in @attr, which has @room bytes, stays.
 * PFMLIB_ERR_FULL if that is too little. (lib/session/perf_attr.c) */
int pfmi_perf_fill_attr(const pfm_attr_t *from, struct perf_event_attr *attr, size_t room);
/* True if the kernel raises the event itself, so that it is never seen at user level: leaving the kernel out would give zeros that
 * look like counts. */
bool pfmi_perf_is_kernel_only_event(const pfm_attr_t *attr);
/* True for the kernel's clocks: they count the time at every level, whatever is left out. Their samples do not. */
bool pfmi_perf_is_clock_event(const pfm_attr_t *attr);
/* The call, repeated when a signal interrupts it. */
int pfmi_perf_open_event(const struct sys *sys, union perf_attr_buffer *a, int pid, int cpu, int group);
/* Says in s->counts[i] why its part @k could not be opened with error @err; @group: descriptor it was to join, or -1. */
void pfmi_perf_diagnose_event(struct pfm_session *s, unsigned i, unsigned k, int group, int err);
/* Says that count @i cannot be in a group with its leader: they are counted at different places. */
void pfmi_perf_reject_group_member(struct pfm_session *s, unsigned i);
/* The tasks of a session for @pid: all threads of a process (unless it is wanted @alone), one thread, or the caller's own (0). 0 or
 * -ENOMEM. */
int pfmi_perf_list_tasks(const struct sys *sys, int pid, bool alone, struct task_list *out);
void pfmi_perf_free_tasks(struct task_list *t);
/* True if @all has each of @some; sorts @all. */
bool pfmi_perf_is_task_subset(const struct task_list *some, struct task_list *all);
/* Lays out the parts of all counts, closed. 0 or -ENOMEM. (lib/session/perf_targets.c) */
int pfmi_perf_plan_events(struct pfm_session *s);
/* Gives the readings of what is open their places. 0 or -ENOMEM. (lib/session/perf_read.c) */
int pfmi_perf_assign_readings(struct pfm_session *s);
int pfmi_perf_start_counting(struct pfm_session *s);
int pfmi_perf_stop_counting(struct pfm_session *s);
int pfmi_perf_reset_counts(struct pfm_session *s);
/* True if a task born while a group was opened has inherited some of its members only: the group can never be read. */
bool pfmi_perf_has_unreadable_group(struct pfm_session *s);
int pfmi_perf_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n);
int pfmi_perf_read_user_count(struct pfm_session *s, unsigned i, pfm_count_t *count);
/* Programs with more rights (lib/session/perf_permissions.c): behind the start, before the stop and behind a reset. */
void pfmi_perf_start_process_clock(struct pfm_session *s);
void pfmi_perf_stop_process_clock(struct pfm_session *s);
void pfmi_perf_reset_process_clock(struct pfm_session *s);
/* The processor time that the process took while it was counted, up to now; 0 where that is not known. */
uint64_t pfmi_perf_read_process_time(const struct pfm_session *s);
/* Compares @taken with the time that @counts, all of the session's, have seen, children's too. False if most of it is missing, which is
 * told. */
bool pfmi_perf_check_process_time(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts);
/* CPUs that come and go (lib/session/perf_hotplug.c): once all is open; behind the start, before the stop and behind a reset; before a
 * reading is looked at. */
void pfmi_perf_init_hotplug(struct pfm_session *s);
void pfmi_perf_start_hotplug_clock(struct pfm_session *s);
void pfmi_perf_stop_hotplug_clock(struct pfm_session *s);
void pfmi_perf_reset_hotplug_clock(struct pfm_session *s);
void pfmi_perf_check_hotplug(struct pfm_session *s);
/* True if there is a CPU on line of which count @c has lost something, by the last reading. */
bool pfmi_perf_has_missed_cpu(struct pfm_session *s, const struct session_count *c);
/* Value, enabled and running from the page, without a system call. False if the page cannot tell. */
bool pfmi_perf_read_user_page(const void *page, uint64_t out[3]);

#endif
