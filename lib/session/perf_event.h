/* SPDX-License-Identifier: MIT */
/* The perf_event backend, for sampling: its kernel events, and how they are opened. */
#ifndef PERFMON_SESSION_PERF_EVENT_H
#define PERFMON_SESSION_PERF_EVENT_H

#include "session/session.h"

/* A kernel event: one count on one CPU, for one task, on one instance of its PMU. */
struct kernel_event {
	/* Members that every reading uses come first. */
	int fd;     /* -1: not open */
	int leader; /* kernel event it joined, -1: it leads or is alone */
	/* indices of its readings: the value; enabled and, after it, running */
	uint32_t value_index, times_index;
	/* of an event of a task on one CPU: the time reference for that CPU; else -1 */
	int time_reference;
	bool reads_group;        /* reading it returns the whole group */
	bool reads_member_ids;   /* reading it, and its samples, return each member with its id */
	bool reads_lost_samples; /* reading it returns its lost samples after its times */
	uint16_t n_members;      /* of a leader: number of members */
	/* next member of its group (of a leader: last member); -1: none */
	int next_member, last_member;
	int pid, cpu;
	unsigned instance, count_index;
	uint64_t lost_samples; /* samples lost because the buffer was full, at the last reading */
	void *user_page;       /* page for reading from user space, or NULL */
	bool is_orphaned;      /* its CPU was switched off and has come back without the event */
};

/* An event that never waits for a counter: its running time is the time that @pid spent on @cpu. */
struct time_reference {
	bool is_needed;
	int fd; /* -1: not open, because of errno @err */
	int pid, cpu, open_error;
	uint64_t reset_times[2]; /* enabled and running at the last reset */
	uint64_t time_on_cpu;    /* at the last reading: nanoseconds on the CPU ... */
	uint64_t time_elsewhere; /* ... and on other CPUs */
};

/* The time that a task spent on a requested CPU that the count's PMU does not serve. */
struct unserved_time {
	unsigned count_index, time_reference;
};

/* Tasks to count. */
struct task_list {
	unsigned n_pids;
	size_t capacity;
	int *pids;
	bool has_all_threads; /* all the threads of a process */
	/* errno of listing more tasks; 0: the list is complete */
	int list_errno;
};

/* Time since the last reset, by a clock that the caller reads: the time up to the last stop, and
 * when the watch was started again. */
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

/* State that detects CPUs which are switched off and on. */
struct hotplug_state {
	bool has_cpu_events;  /* some kernel event counts everything that its CPU runs */
	bool has_many_tasks;  /* events count tasks that a task starts: on several CPUs at once */
	bool counts_all_cpus; /* the session counts on all CPUs, whichever exist */
	/* a new CPU is not counted; a CPU has come back without its events */
	bool has_new_cpu, has_missed_cpu;
	enum {
		NEW_CPUS_UNKNOWN,
		NEW_CPUS_POSSIBLE,
		NEW_CPUS_IMPOSSIBLE
	} new_cpus; /* can CPUs appear that were off line when the session was opened? */
	struct stopwatch clock;         /* runs from the last start to the first stop */
	struct stopwatch longest_clock; /* runs from the first start to the last stop */
	/* nanoseconds that all kernel events of CPUs were enabled, at least ... */
	uint64_t min_enabled_time;
	uint64_t max_enabled_time; /* ... and at most; 0: unknown */
	uint64_t max_task_time;    /* all tasks of an event, on all CPUs, at most; 0: unknown */
	unsigned n_possible_cpus;  /* 0: not read yet */
};

struct perf_state {
	unsigned n_events, events_capacity;
	struct kernel_event *events;
	struct task_list tasks;
	/* of the requested CPUs; of the references that time tasks */
	unsigned n_cpus, n_time_references;
	struct time_reference *time_references;
	unsigned n_unserved_times;
	struct unserved_time *unserved_times;
	uint64_t opened_at; /* by the clock of the system */
	int cgroup_fd;      /* descriptor of the control group's folder; -1: none */
	size_t page_size;
	bool has_offline_cpu; /* the kernel has refused a CPU that is off line */
	/* while opening, a thread ended or took another number */
	bool has_ended_task;
	/* the kernel cannot read groups of inherited events at once */
	bool reads_singly;
	uint64_t *readings; /* values as the kernel returns them */
	/* readings at the last reset, except that lost times are kept as they were */
	uint64_t *reset_readings;
	double *scales;         /* factor of each count */
	unsigned n_read_events; /* kernel events that are read (of a group its leader alone): their
	                           number ... */
	uint32_t *read_events;  /* ... and their indices */
	/* all counts have the common form that the fast way of reading expects */
	bool is_uniform;
	/* after the last reading: processor time by process_clock, and by the counts */
	uint64_t last_taken, last_seen;
	bool has_program;               /* the program at the first start is known */
	uint64_t program;               /* hash of its auxiliary vector */
	struct stopwatch process_clock; /* measures the processor time of the process */
	struct hotplug_state hotplug;
};

/* Copies the members of @from that tell what to count to @attr, which has @size bytes; the others
 * stay. Returns PFMLIB_ERR_FULL if @size is too small. (lib/session/perf_attr.c) */
int pfmi_perf_fill_attr(const perfmon_attr_t *from, struct perf_attr *attr, size_t size);
/* Builds the attributes of kernel event @k of count @i. @leader: it leads its group or is alone. */
void pfmi_perf_build_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader,
                          struct perf_attr *a);
/* True if the kernel raises the event itself, never in user code: excluding the kernel would give
 * zeros that look like counts. */
bool pfmi_perf_is_kernel_only_event(const perfmon_attr_t *attr);
/* True for the kernel's clocks: they count the time at every privilege level, even at excluded
 * ones. Their samples do not. */
bool pfmi_perf_is_clock_event(const perfmon_attr_t *attr);
/* Calls perf_event_open(2), again when a signal interrupts it. */
int pfmi_perf_open_event(const struct sys *sys, struct perf_attr *a, int pid, int cpu, int group);

#endif
