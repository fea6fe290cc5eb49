/* SPDX-License-Identifier: MIT */
/* Sessions and backends. A backend talks to one kernel interface: it receives attributes and
 * registers and no event names. */
#ifndef PERFMON_COUNT_H
#define PERFMON_COUNT_H

#include <perfmon/perfmon.h>
#include "pmu/pmu.h"
#include "machine/machine.h"

/* A count: one event on one PMU, with its configuration, its state in the backend, and its
 * status for the user. The two large ends are mostly unused; the members read often are between
 * them. */
struct session_count {
	struct count_status {
		char reason[192], remedy[192]; /* nothing, unless @about is set */
		pfm_cause_t reason_cause;      /* cause that reason and remedy explain */
		pfm_cause_t cause;             /* why it could not be opened */
		int sys_errno;
	} status;
	/* State that the backend keeps. */
	struct count_kernel_state {
		unsigned first_event, n_events; /* its slice of kernel objects */
		unsigned n_open;                /* kernel events that are open */
		unsigned group_first;           /* the first count of its group */
		/* time its tasks spent on other CPUs than those asked for, as last read */
		uint64_t time_elsewhere;
		/* of the first of several copies: the copy with the largest value, as last read */
		unsigned largest_copy;
		bool has_conflict;      /* while copies are compared: one of them differs */
		bool is_ungrouped;      /* opened without its group */
		bool is_read_together;  /* in a kernel group with other software events */
		bool is_rejected_early; /* given up before the backend saw it */
	} kernel_state;
	/* Settled before anything is opened. */
	struct count_config {
		/* the value is a level, not a count: never a difference, never extrapolated */
		bool is_level;
		double scale;
		/* the first count of the session with the same kernel event: this one, mostly */
		unsigned first_copy;
		pfm_attr_t attr;
		int pmu;          /* in the context */
		unsigned request; /* which text */
		/* 1 + the number of the event that a metric needs, 0: a text asked for it */
		unsigned planned_event;
		/* group number; members of one group are neighbours, the leader first */
		unsigned group;
		/* ":W": the group may be broken up if it does not fit */
		bool weak;
		bool exclusive;         /* alone on the PMU while it counts */
		bool is_leader_sampled; /* of its group the first member alone samples */
		/* of samples, one of the two; both 0 where the text says nothing */
		uint64_t period, freq;
		/* no levels were named: what is forbidden may be left out */
		bool has_default_levels;
		/* the machine has core types that no count of this event covers */
		bool lacks_core_types;
		/* fanned out over core types: the same number for all of them, else 0 */
		unsigned sibling_set;
		/* 1 + the only instance of the device that is wanted, 0: all of them */
		unsigned instance;
		/* the kernel's PMU that counts it; NULL for events of the kernel itself */
		const struct kernel_pmu *kernel_pmu;
		/* a core type that does not have the event, if it was asked of all; or NULL */
		const struct kernel_pmu *missing_core;
		/* where it must be opened, for people; "" anywhere */
		const char *cpus;
		int cpu; /* the only CPU it is for, or -1 */
		/* config1 bits that ask for reading from user space */
		uint64_t get_user_read_bits;
		const char *unit;
		char *name; /* as the user wrote it; the session's */
		struct event event;
	} config;
};

/* True if count @c is for instance @k of its device. */
static inline bool session_count_has_instance(const struct session_count *c, unsigned k)
{
	return c->config.instance == 0 || c->config.instance == k + 1;
}

struct device_sampling_ops;
struct file_event_system;
struct perfdata_reader;
struct recording_ops;
struct sampling_ops;
struct sampling_state;
struct group_turns;
struct session_metric;
struct name_block;

struct pfm_session {
	const struct pfm_ctx *ctx;
	const struct backend *backend; /* NULL: this machine has none */
	/* the one that decides what can be counted: in a dry run not the one that opens */
	const struct backend *policy_backend;
	struct sys sys;
	pfm_session_options_t options;
	unsigned n_counts;
	struct session_count *counts;
	struct name_block *name_blocks; /* those of the counts */
	unsigned n_metrics;
	struct session_metric *metrics; /* in the order of the texts */
	void *backend_state;            /* the backend's */
	const struct sampling_ops *sampling_ops;
	const struct device_sampling_ops *device_sampling_ops;
	struct sampling_state *sampling; /* NULL: counts only */
	const struct recording_ops *recording_ops;
	struct file_event_system *file_events; /* NULL: none of its events is a file */
	struct perfdata_reader *recording;     /* a recording that is read, else NULL */
	int sys_errno;
	bool running;
	bool started;    /* at least once */
	bool has_copies; /* a kernel event is counted more than once */
	/* by the last reading all counts are exact, and there was nothing to say of any of them */
	bool is_all_exact;
	bool has_last_counts; /* s->last */
	unsigned n_groups;
	struct group_turns *turns; /* NULL: all groups count */
	/* room for n counts; of those that are clear still: an earlier reading */
	pfm_count_t *last_counts;
	/* while all are read: the caller's array, NULL if it is not like s->last or has been
	 * filled */
	pfm_count_t *caller_counts;
	/* copy of the caller's list, then the numbers that counts->asked.cpus point to */
	char *cpu_text;
	struct cpu_mask requested_cpus; /* CPUs the caller names; empty: no matter which */
	/* those at hand when the session was opened; empty: that cannot be read */
	struct cpu_mask online_cpus;
	uint64_t identified_at; /* when the processor was last compared; get_time() */
	unsigned n_user_reads;  /* since then, without a system call */
	bool has_cpu_changed;   /* the processor is not the one that the events are for */
	bool is_online_assumed; /* they were not requested: what is opened will show it */
};

/* @raw as it would have been had the counter run all of @enabled. */
uint64_t pfmi_session_extrapolate_value(uint64_t raw, uint64_t enabled, uint64_t running);

struct backend {
	char name[16];
	/* The backend itself decides which events it counts, also those of other processors. */
	bool accepts_any_processor;
	/* Opening an event on a CPU that is not on line fails: the session need not ask before. */
	bool reports_offline_cpus;
	/* True if what the kernel shows is proof enough that it is usable, and nothing needs to be
	 * tried. NULL: it never is. */
	bool (*is_known_usable)(const struct pfm_ctx *ctx);
	/* 0 if usable here and now, else a negative code with @why. Leaves nothing open. NULL:
	 * always usable. */
	int (*probe)(const struct sys *sys, pfm_error_t *why);
	/* Opens what s->counts ask for; counting stays stopped. An event that cannot be opened gets
	 * its cause and is skipped (with PFM_SESSION_STRICT the whole call fails). On failure
	 * nothing stays open. */
	int (*open_counts)(struct pfm_session *s, pfm_error_t *why);
	int (*start_counting)(struct pfm_session *s);
	int (*stop_counting)(struct pfm_session *s);
	int (*reset_counts)(struct pfm_session *s);
	/* Called before the first of groups that take turns is selected, if software events of
	 * several groups are read together: each group becomes a kernel group of its own. */
	int (*separate_groups)(struct pfm_session *s);
	/* Stops groups that count no longer, then starts those that count now: those of @is_on, by
	 * group; before, those of @was_on. NULL: groups cannot take turns. */
	int (*switch_groups)(struct pfm_session *s, const unsigned char *was_on,
	                     const unsigned char *is_on);
	/* Fills n counts in order: raw, enabled, running, value (each kernel event extrapolated),
	 * quality as far as the numbers tell. session.c completes it, unless s->clear stays set:
	 * then all are as clear as before, and only numbers have changed. They may go to s->into
	 * alone, with all that belongs to a count. */
	int (*read_counts)(struct pfm_session *s, pfm_count_t *counts, unsigned n);
	/* Reads one count without a system call. NULL, or PFMLIB_ERR_NOTSUPP: session.c uses
	 * read_counts(). */
	int (*read_user_count)(struct pfm_session *s, unsigned i, pfm_count_t *count);
	/* Releases all; safe on a half-made session. */
	void (*close_counts)(struct pfm_session *s);
};

extern const struct backend pfmi_perf_backend, pfmi_device_backend;
/* The plan of pfmi_perf_backend with nothing opened. */
extern const struct backend pfmi_session_dry_run_backend;

#endif
