/* SPDX-License-Identifier: MIT */
/* The perf_event backend, for sampling: its kernel events, and how they are opened. */
#ifndef PERFMON_SESSION_PERF_EVENT_H
#define PERFMON_SESSION_PERF_EVENT_H

#include <linux/perf_event.h>
#include "session/session.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4) /* Linux 6.0 */
#endif

/* A kernel event: one count on one CPU, for one task, on one instance of its PMU. */
struct kernel_event {
	/* Members that every reading uses come first. */
	int fd;     /* -1: not open */
	int leader; /* kernel event it joined, -1: it leads or is alone */
	/* places of the readings: its value; enabled and, after it, running */
	uint32_t value_index, times_index;
	/* of a task on one CPU: tells how long it was there; else -1 */
	int time_reference;
	bool reads_group;        /* reading it gives the whole group */
	bool reads_member_ids;   /* reading it gives each member with its id (its samples hold that)
	                          */
	bool reads_lost_samples; /* reading it gives its losses after its times */
	uint16_t n_members;      /* of a leader: how many joined it */
	/* next member of its group; of a leader: last member, -1 for none */
	int next_member, last_member;
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
	/* errno: whether there are more could not be seen; 0: these are all */
	int list_errno;
};

/* How long something has lasted since the last reset, by a clock that is read where it is used: up
 * to the last stop, and since when again. */
struct stopwatch {
	bool is_running;
	uint64_t started_at, elapsed;
};

/* Starts the watch; no effect if it runs already. */
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

/* Detection of CPUs that are switched off and on. */
struct hotplug_state {
	bool has_cpu_events;  /* some kernel event counts whatever runs on its CPU */
	bool counts_all_cpus; /* every CPU is wanted, whichever these are */
	/* one has come that is not counted; ... or one is back whose events are gone */
	bool has_new_cpu, has_missed_cpu;
	enum {
		NEW_CPUS_UNKNOWN,
		NEW_CPUS_POSSIBLE,
		NEW_CPUS_IMPOSSIBLE
	} new_cpus;                     /* than were on line when the session was opened */
	struct stopwatch clock;         /* from the last start to the first stop */
	struct stopwatch longest_clock; /* from the first start to the last stop */
	/* all kernel events of CPUs were enabled for so long at least ... */
	uint64_t min_enabled_time;
	uint64_t max_enabled_time; /* ... and so long at most; 0: not known */
};

struct perf_state {
	unsigned n_events, events_capacity;
	struct kernel_event *events;
	struct task_list tasks;
	unsigned n_cpus, n_time_references; /* CPUs that were asked for; that times tasks */
	struct time_reference *time_references;
	unsigned n_unserved_times;
	struct unserved_time *unserved_times;
	uint64_t opened_at; /* by the clock of the system */
	int cgroup_fd;      /* descriptor of the control group's folder, -1: none */
	size_t page_size;
	bool has_offline_cpu; /* some CPU is not on line, the kernel says */
	/* a thread has ended, or become another, while they were opened */
	bool has_ended_task;
	/* the kernel does not read groups of inherited events at once */
	bool reads_singly;
	uint64_t *readings; /* as the kernel gives them */
	/* word for word what they were at the last reset; times that were lost stay what they
	 * were */
	uint64_t *reset_readings;
	double *scales;         /* of each count */
	unsigned n_read_events; /* kernel events that are read: a group by its leader alone ... */
	uint32_t *read_events;  /* ... and their numbers */
	/* all counts are as nearly all are: take_again() can look at them */
	bool is_uniform;
	/* at the last reading: by process_clock, and by the counts */
	uint64_t last_taken, last_seen;
	struct stopwatch process_clock; /* by the processor time that it takes */
	struct hotplug_state hotplug;
};

/* perf_event_attr with room for words that the header of the build system lacks. */
union perf_attr_buffer {
	struct perf_event_attr attr;
	uint64_t words[32];
};

/* Builds the attributes of kernel event @k of count @i. @leader: it leads its group or is alone. */
void pfmi_perf_build_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader,
                          union perf_attr_buffer *out);
/* True if the kernel raises the event itself, so that it is never seen at user level: leaving the
 * kernel out would give zeros that look like counts. */
bool pfmi_perf_is_kernel_only_event(const pfm_attr_t *attr);
/* True for the kernel's clocks: they count the time at every level, whatever is left out. Their
 * samples do not. */
bool pfmi_perf_is_clock_event(const pfm_attr_t *attr);
/* The call, repeated when a signal interrupts it. */
int pfmi_perf_open_event(const struct sys *sys, union perf_attr_buffer *a, int pid, int cpu,
                         int group);

#endif
