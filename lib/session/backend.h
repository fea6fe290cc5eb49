/* SPDX-License-Identifier: MIT */
/* Sessions and backends. A backend talks to one kernel interface: it receives attributes and
 * registers and no event names. */
#ifndef PERFMON_COUNT_H
#define PERFMON_COUNT_H

#include <perfmon/perfmon.h>
#include "pmu/pmu.h"
#include "machine/machine.h"

/* One event on one PMU: its configuration, its state in the backend, and its status for the user.
 * The members that are read often are between the two large ones, which are mostly unused. */
struct session_count {
	struct count_status {
		char reason[192], remedy[192]; /* "" unless reason_cause is set */
		char evidence[96];             /* facts that were read and support the cause */
		pfm_cause_t reason_cause;      /* the cause that reason and remedy explain */
		pfm_cause_t cause;             /* why the count could not be opened */
		int sys_errno;
	} status;
	/* State that the backend keeps. */
	struct count_kernel_state {
		unsigned first_event, n_events; /* range of the backend's kernel events */
		unsigned n_open;                /* kernel events that are open */
		unsigned group_first;           /* the first count of its group */
		/* nanoseconds that the tasks spent on CPUs outside the request, at the last
		 * reading */
		uint64_t time_elsewhere;
		/* in the first of several copies: the copy with the largest value at the last
		 * reading */
		unsigned largest_copy;
		bool has_conflict;      /* set while copies are compared: one of them differs */
		bool is_ungrouped;      /* opened without its group */
		bool is_read_together;  /* in a kernel group with other software events */
		bool is_rejected_early; /* the session gave it up before the backend saw it */
	} kernel_state;
	/* Decided before anything is opened. */
	struct count_config {
		/* the value is a level, not a count: never a difference, never extrapolated */
		bool is_level;
		double scale;
		/* the first count with the same kernel event, which is mostly this one */
		unsigned first_copy;
		perfmon_attr_t attr;
		int pmu;          /* number in the context */
		unsigned request; /* which text */
		/* 1 + the number of the event that a metric needs; 0: the user asked for it */
		unsigned planned_event;
		/* group number; the members of a group follow each other, the leader first */
		unsigned group;
		/* ":W": the group may be broken up if it does not fit */
		bool weak;
		bool exclusive;         /* needs its PMU for itself while it counts */
		bool is_leader_sampled; /* only the first member of its group samples */
		/* of samples: one of the two; both are 0 if the text has neither */
		uint64_t period, freq;
		/* the user named no levels, so levels that are forbidden may be left out */
		bool has_default_levels;
		/* the machine has core types that no count of this event covers */
		bool lacks_core_types;
		/* the same number in counts of one event on several core types; 0: a count without
		 * siblings */
		unsigned sibling_set;
		/* 1 + the requested instance of the device; 0: all instances */
		unsigned instance;
		/* the kernel's PMU that counts it; NULL for events of the kernel itself */
		const struct kernel_pmu *kernel_pmu;
		/* a core type that lacks the event although it was requested for all core types; or
		 * NULL */
		const struct kernel_pmu *missing_core;
		/* the CPUs on which it must be opened, as a text for messages; "": any */
		const char *cpus;
		int cpu; /* the only CPU to count on, or -1 */
		/* config1 bits that permit reading from user space */
		uint64_t get_user_read_bits;
		const char *unit;
		/* an erratum of this machine that makes the count wrong, or NULL */
		const struct erratum *erratum;
		char *name; /* as the user wrote it; the session owns it */
		struct event event;
	} config;
};

/* True if count @c is for instance @k of its device. */
static inline bool session_count_has_instance(const struct session_count *c, unsigned k)
{
	return c->config.instance == 0 || c->config.instance == k + 1;
}

/* True if the value of count @c is in a file: pfmi_session_file_backend alone counts it. */
static inline bool session_is_file_count(const struct session_count *c)
{
	return c->config.kernel_pmu && c->config.kernel_pmu->files;
}

struct device_sampling_ops;
struct file_events;
struct perfdata_reader;
struct recording_ops;
struct sampling_ops;
struct sampling_state;
struct group_turns;
struct session_metric;
struct name_block;

/* Counting on this machine; all zeros in a session that reads a recording. */
struct live_session {
	const struct backend *backend; /* NULL: this machine has no backend */
	/* the backend whose rules decide what can be counted; in a dry run another one opens */
	const struct backend *policy_backend;
	void *backend_state;                /* belongs to the backend */
	const struct backend *file_backend; /* NULL: no value of a count is in a file */
	struct file_events *file_events;    /* belongs to the file backend */
	bool running;
	bool started;              /* counting was started at least once */
	struct group_turns *turns; /* NULL: all groups count at the same time */
};

/* The CPUs of a session. */
struct session_cpus {
	/* copy of the caller's list, and the numbers that the counts' config.cpus point to */
	char *text;
	struct cpu_mask requested; /* CPUs that the caller named; empty: any */
	struct cpu_mask online;    /* on line when the session was opened; empty: unknown */
	bool is_online_assumed;    /* online was not read: opening will fail where it is wrong */
};

/* The last reading of all counts. */
struct session_reading {
	bool has_copies; /* a kernel event is counted more than once */
	/* at the last reading all counts were exact and had no remarks */
	bool is_all_exact;
	bool has_last_counts; /* last_counts is valid */
	/* an earlier reading of all n counts; valid for counts that were exact then */
	pfm_count_t *last_counts;
	/* during a reading: the caller's array; NULL if it differs from last_counts or was
	 * filled */
	pfm_count_t *caller_counts;
};

/* Detection of a machine that was moved to another processor while it ran. */
struct processor_check {
	uint64_t identified_at; /* time (get_time()) of the last comparison */
	unsigned n_reads;       /* readings since then without a system call */
	bool has_changed; /* this machine's processor is not the one that the events were chosen
	                     for */
};

struct pfm_session {
	const struct pfm_ctx *ctx;
	struct sys sys;
	pfm_session_options_t options;
	unsigned n_counts, n_groups;
	struct session_count *counts;
	struct name_block *name_blocks; /* memory of the counts' names */
	unsigned n_metrics;
	struct session_metric *metrics; /* in the order of the texts */
	int sys_errno;
	struct live_session live;
	struct session_cpus cpus;
	struct session_reading reading;
	struct processor_check processor;
	const struct sampling_ops *sampling_ops;
	const struct device_sampling_ops *device_sampling_ops;
	struct sampling_state *sampling; /* NULL: counts only */
	const struct recording_ops *recording_ops;
	struct perfdata_reader *recording; /* a recording that is read, else NULL */
};

/* Returns @raw extrapolated from the time that the counter ran to the time that it was @enabled. */
uint64_t pfmi_session_extrapolate_value(uint64_t raw, uint64_t enabled, uint64_t running);

struct backend {
	char name[16];
	/* The backend decides itself which events it counts, even events of other processors. */
	bool accepts_any_processor;
	/* Opening an event on a CPU that is off line fails, so the session need not read the CPUs
	 * first. */
	bool reports_offline_cpus;
	/* True if the kernel's files already prove that the backend is usable. NULL: they never
	 * do. */
	bool (*is_known_usable)(const struct pfm_ctx *ctx);
	/* Returns 0 if the backend is usable now, else a negative code and @why. Leaves nothing
	 * open. NULL: the backend is always usable. */
	int (*probe)(const struct sys *sys, pfm_error_t *why);
	/* Opens s->counts without starting them. An event that cannot be opened gets a cause and is
	 * skipped; with PFM_SESSION_STRICT the whole call fails and leaves nothing open. */
	int (*open_counts)(struct pfm_session *s, pfm_error_t *why);
	int (*start_counting)(struct pfm_session *s);
	int (*stop_counting)(struct pfm_session *s);
	int (*reset_counts)(struct pfm_session *s);
	/* Called before the first of groups that take turns is selected, if software events of
	 * several groups are read together: each group becomes a kernel group of its own. */
	int (*separate_groups)(struct pfm_session *s);
	/* Stops the groups of @was_on that are not in @is_on, then starts those that are new in
	 * @is_on; both are flags by group. NULL: groups cannot take turns. */
	int (*switch_groups)(struct pfm_session *s, const unsigned char *was_on,
	                     const unsigned char *is_on);
	/* Fills n counts: raw, enabled, running, value (each kernel event extrapolated) and a first
	 * quality. session.c completes the counts unless s->reading.is_all_exact stays set: then
	 * all are exact as before, only numbers have changed, and the counts may be complete in
	 * s->reading.caller_counts alone. */
	int (*read_counts)(struct pfm_session *s, pfm_count_t *counts, unsigned n);
	/* Reads one count without a system call. NULL, or PFMLIB_ERR_NOTSUPP: session.c uses
	 * read_counts(). */
	int (*read_user_count)(struct pfm_session *s, unsigned i, pfm_count_t *count);
	/* Releases everything, even of a session that was opened in part. */
	void (*close_counts)(struct pfm_session *s);
};

extern const struct backend pfmi_perf_backend, pfmi_device_backend;
/* Plans as pfmi_perf_backend does, and opens nothing. */
extern const struct backend pfmi_session_dry_run_backend;
/* Counts what is in files, beside pfmi_perf_backend. */
extern const struct backend pfmi_session_file_backend;

#endif
