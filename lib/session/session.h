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

#define MAX_GROUP   64         /* members of one group */
#define SEEN_BITS   512        /* of a set of members; those of one group need not be in it once each */
#define MAX_CORES   4          /* core PMUs of one machine */
#define SESSION_MAX (1u << 18) /* counts of a session, and the kernel's counters behind them: 8,192 CPUs with 32 events */

/* Memory of zeros, or NULL. calloc(3) of glibc before 2.41 looks for small pieces where that takes long. */
static inline void *pfmi_zeros(size_t size)
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
struct found {
	struct event *event; /* where one count comes of it: that count's */
	unsigned unit;
	int core;          /* which of the kernel's core PMUs, -1: none in particular */
	unsigned instance; /* 1 + the instance of the PMU, 0: all */
};

/* One member of a group (or the only event of a text). */
struct member {
	char *name;      /* as the user wrote it; the session's */
	struct slice at; /* where that stands in the text */
	bool pinned, exclusive;
	unsigned precise; /* 1 + what the text asks for */
	uint64_t period, freq;
	unsigned n;
	bool missing;                     /* some type of core does not have it */
	const struct kernel_pmu *lacking; /* a type that was asked and does not have it, or NULL */
	struct found *found;              /* room for every type of core of the machine */
};

/* A session while it is opened. */
struct opening {
	struct pfm_session *s;
	unsigned room;
	unsigned request, siblings;
	const struct kernel_pmu *cores[MAX_CORES]; /* the kernel's core PMUs */
	unsigned n_cores;
	struct unit unit; /* the last that was asked for, and its number: the next is mostly the same */
	unsigned unit_number;
	uint64_t seen[SEEN_BITS / 64]; /* members of the group: a bit that is not set is nobody's */
	char *scratch;                 /* room for the name of any member of a text */
	bool weak, pinned;
	const char *text; /* the whole text, for positions in errors */
	pfm_error_t *why;
};

/* Fills o->why: @len bytes at @at are the culprit in o->text. Returns @code. */
int pfmi_opening_refuse(const struct opening *o, int code, int kind, const char *at, size_t len, const char *detail);
int pfmi_opening_no_memory(const struct opening *o);
/* All that is known of unit @unit, until it is asked for another. */
const struct unit *pfmi_opening_unit(struct opening *o, unsigned unit);
/* Room for @n more counts. False without memory. (lib/session/counts.c) */
bool pfmi_make_room(struct opening *o, unsigned n);
/* Fields that nobody set are not there. */
void pfmi_copy_event(const struct event *from, struct event *to);
#define NAME_ROOM 8 /* behind a name, for the levels that permission takes away */
/* Room for a name of @room bytes, empty, for as long as the session; NULL without memory. (lib/session/counts.c) */
char *pfmi_name_room(struct pfm_session *s, size_t room);
void pfmi_free_names(struct pfm_session *s);
/* Takes what concerns samples (period=, freq=, precise=, pinned, excl) out of @text. True if there was something; *@bad points to a
 * term whose value is wrong, else NULL. (lib/session/sampling_terms.c) */
bool pfmi_take_terms(char *text, struct member *m, const char **bad);
/* Finds the kernel's core PMUs. */
void pfmi_find_cores(struct opening *o);
/* True if @f is one of the kernel's own events, which every core PMU may count. */
bool pfmi_is_generic(const struct opening *o, const struct found *f);
/* True if @alone must be counted alone and @other, on the same PMU, would need a counter beside it. */
bool pfmi_keeps_out(const struct event *alone, const struct event *other);
/* Events that must be counted alone take turns with those that they keep out. (lib/session/counts.c) */
void pfmi_take_turns(struct pfm_session *s);
/* Adds the counts of one text. (lib/session/event_list.c) */
int pfmi_add_text(struct opening *o, const char *text);
/* Adds the counts of @n members of one group. (lib/session/counts.c) */
int pfmi_add_members(struct opening *o, const struct member *m, unsigned n);
/* Adds the metrics that @text names to those of the session. PFMLIB_ERR_NOTFOUND if it names none, PFMLIB_ERR_NOMEM.
 * (lib/session/metrics.c) */
int pfmi_find_metrics(struct opening *o, const char *text);
/* Plans what those metrics need and adds the groups' counts; @texts are all of the session's. */
int pfmi_plan_metrics(struct opening *o, const char *const *texts);
void pfmi_free_metrics(struct pfm_session *s);
/* Some CPU is not on line that was assumed to be: -EAGAIN if the session knows better now, 0 if that was not it, or -ENOMEM. */
int pfmi_ask_online(struct pfm_session *s);
/* Keeps the caller's CPU list; where every CPU is counted for itself, repeats the counts for each. */
int pfmi_keep_cpus(struct opening *o);

/* ---- what the user is told ------------------------------------------------------------------------------------------- */

/* From what a backend has read to what the user is told: quality and cause of counts[i], and the sentences in s->counts[i].
 * @counts are those of the whole session. (lib/session/count_quality.c) */
void pfmi_judge(struct pfm_session *s, unsigned i, pfm_count_t *counts);
/* The same of every count of the session. */
void pfmi_judge_all(struct pfm_session *s, pfm_count_t *counts);
/* Fills the sentences of count @c, unless they already say why it could not be opened. */
void pfmi_tell(struct counting *c, int cause, const char *remedy, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Count @c cannot be opened (or not everywhere): @cause, errno @err and the sentences about it. The last to speak is heard. */
void pfmi_give_up(struct counting *c, int cause, int err, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#define PERF_LOST  UINT64_MAX /* in place of a part's times: a pinned event was without its counter */
#define GROUP_HEAD 3          /* words before the values of a group: number of members, enabled, running */

/* ---- the perf_event backend ------------------------------------------------------------------------------------------ */

/* One kernel event: a count on one CPU, for one task, on one instance of its PMU. */
struct part {
	/* What every reading looks at comes first. */
	int fd;                /* -1: not open */
	int lead;              /* part it joined, -1: it leads or is alone */
	uint32_t value, times; /* places of the readings: its value; enabled and, behind it, running */
	int witness;           /* of a task on one CPU: tells how long it was there; else -1 */
	bool whole;            /* reading it gives the whole group */
	bool tells;            /* reading it gives its losses behind its times */
	uint16_t members;      /* of a leader: how many joined it */
	int next, last;        /* next member of its group; of a leader: last member, -1 for none */
	int pid, cpu;
	unsigned instance, count;
	uint64_t losses; /* samples that did not fit the buffer, as last read */
	void *page;      /* for reading from user space, or NULL */
	bool dead;       /* its CPU was switched off and has come back without it */
};

/* An event that never waits for a counter: the time it ran is the time @pid spent on @cpu. */
struct witness {
	bool wanted;
	int fd; /* -1: not open, because of errno @err */
	int pid, cpu, err;
	uint64_t base[2]; /* enabled, running at the last reset */
	uint64_t here;    /* by the last reading: time on the CPU, ... */
	uint64_t away;    /* ... and on others */
};

/* A task's time on a CPU that was asked for and does not have the count's PMU. */
struct elsewhere {
	unsigned count, witness;
};

/* Tasks to count. */
struct tasks {
	unsigned n, room;
	int *pids;
	bool whole; /* all the threads of a process */
	int unseen; /* errno: whether there are more could not be seen; 0: these are all */
};

/* How long something has lasted since the last reset, by a clock that is read where it is used: up to the last stop, and since when
 * again. */
struct stopwatch {
	bool runs;
	uint64_t since, lasted;
};

/* Nothing new where it runs already. */
static inline void stopwatch_start(struct stopwatch *w, uint64_t now)
{
	w->since = w->runs ? w->since : now;
	w->runs = true;
}

static inline uint64_t stopwatch_read(const struct stopwatch *w, uint64_t now)
{
	return w->lasted + (w->runs && now > w->since ? now - w->since : 0);
}

static inline void stopwatch_stop(struct stopwatch *w, uint64_t now)
{
	w->lasted = stopwatch_read(w, now);
	w->runs = false;
}

static inline void stopwatch_reset(struct stopwatch *w, uint64_t now)
{
	w->lasted = 0;
	w->since = now;
}

/* What shows that CPUs come and go. */
struct watch {
	bool timed;          /* some part counts whatever runs on its CPU */
	bool open_ended;     /* every CPU is wanted, whichever these are */
	bool joined, missed; /* one has come that is not counted; ... or one is back whose events are gone */
	enum { OTHERS_UNKNOWN,
	       OTHERS_MAY_COME,
	       NO_OTHERS } others; /* than were on line when the session was opened */
	struct stopwatch clock;
	uint64_t due; /* for so long all parts must have been enabled */
};

struct perf_state {
	unsigned n_parts, room;
	struct part *parts;
	struct tasks tasks;
	unsigned n_cpus, n_witnesses; /* CPUs that were asked for; that times tasks */
	struct witness *witnesses;
	unsigned n_elsewhere;
	struct elsewhere *elsewhere;
	int cgroup; /* descriptor of the control group's folder, -1: none */
	size_t page_size;
	bool absent;              /* some CPU is not on line, the kernel says */
	bool gone;                /* a thread has ended, or become another, while they were opened */
	bool one_by_one;          /* the kernel does not read groups of inherited events at once */
	uint64_t *readings;       /* as the kernel gives them */
	uint64_t *zeros;          /* word for word what they were at the last reset; times that were lost stay what they were */
	double *scales;           /* of each count */
	unsigned n_read;          /* parts that are read: a group by its leader alone ... */
	uint32_t *read;           /* ... and their numbers */
	bool even;                /* all counts are as nearly all are: take_again() can look at them */
	struct stopwatch process; /* by the processor time that it takes */
	struct watch watch;
};

/* perf_event_attr with room for words that the header of the system we are built on does not know. */
union attr {
	struct perf_event_attr attr;
	uint64_t words[32];
};

/* What is asked for part @k of count @i. @leader: it leads its group (or is alone). */
void pfmi_perf_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union attr *out);
/* @from as the members of the kernel's own struct that say what to count; everything else in @attr, which has @room bytes, stays.
 * PFMLIB_ERR_FULL if that is too little. (lib/session/perf_attr.c) */
int pfmi_perf_fill(const pfm_attr_t *from, struct perf_event_attr *attr, size_t room);
/* True if the kernel raises the event itself, so that it is never seen at user level: leaving the kernel out would give zeros that
 * look like counts. */
bool pfmi_only_in_kernel(const pfm_attr_t *attr);
/* True for the kernel's clocks: they count the time at every level, whatever is left out. Their samples do not. */
bool pfmi_is_clock(const pfm_attr_t *attr);
/* The call, repeated when a signal interrupts it. */
int pfmi_perf_open(const struct sys *sys, union attr *a, int pid, int cpu, int group);
/* Says in s->counts[i] why its part @k could not be opened with error @err; @group: descriptor it was to join, or -1. */
void pfmi_perf_diagnose(struct pfm_session *s, unsigned i, unsigned k, int group, int err);
/* Says that count @i cannot be in a group with its leader: they are counted at different places. */
void pfmi_perf_foreign(struct pfm_session *s, unsigned i);
/* The tasks of a session for @pid: all threads of a process (unless it is wanted @alone), one thread, or the caller's own (0). 0 or
 * -ENOMEM. */
int pfmi_perf_tasks(const struct sys *sys, int pid, bool alone, struct tasks *out);
void pfmi_perf_tasks_free(struct tasks *t);
/* True if @all has each of @some; sorts @all. */
bool pfmi_perf_tasks_within(const struct tasks *some, struct tasks *all);
/* Lays out the parts of all counts, closed. 0 or -ENOMEM. (lib/session/perf_targets.c) */
int pfmi_perf_plan(struct pfm_session *s);
/* Gives the readings of what is open their places. 0 or -ENOMEM. (lib/session/perf_read.c) */
int pfmi_perf_place(struct pfm_session *s);
int pfmi_perf_start(struct pfm_session *s);
int pfmi_perf_stop(struct pfm_session *s);
int pfmi_perf_reset(struct pfm_session *s);
/* True if a task born while a group was opened has inherited some of its members only: the group can never be read. */
bool pfmi_perf_groups_differ(struct pfm_session *s);
int pfmi_perf_read(struct pfm_session *s, pfm_count_t *counts, unsigned n);
int pfmi_perf_read_fast(struct pfm_session *s, unsigned i, pfm_count_t *count);
/* Programs with more rights (lib/session/perf_permissions.c): behind the start, before the stop and behind a reset. */
void pfmi_perf_rights_started(struct pfm_session *s);
void pfmi_perf_rights_stopping(struct pfm_session *s);
void pfmi_perf_rights_reset(struct pfm_session *s);
/* The processor time that the process took while it was counted, up to now; 0 where that is not known. */
uint64_t pfmi_perf_rights_taken(const struct pfm_session *s);
/* Compares @taken with the time that @counts, all of the session's, have seen, children's too. False if most of it is missing, which is
 * told. */
bool pfmi_perf_rights_seen(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts);
/* CPUs that come and go (lib/session/perf_hotplug.c): once all is open; behind the start, before the stop and behind a reset; before a
 * reading is looked at. */
void pfmi_perf_cpus_begin(struct pfm_session *s);
void pfmi_perf_cpus_started(struct pfm_session *s);
void pfmi_perf_cpus_stopping(struct pfm_session *s);
void pfmi_perf_cpus_reset(struct pfm_session *s);
void pfmi_perf_cpus_look(struct pfm_session *s);
/* True if there is a CPU on line of which count @c has lost something, by the last reading. */
bool pfmi_perf_cpus_missed(struct pfm_session *s, const struct counting *c);
/* Value, enabled and running from the page, without a system call. False if the page cannot tell. */
bool pfmi_perf_page_read(const void *page, uint64_t out[3]);

#endif
