/* SPDX-License-Identifier: MIT */
/* What a session is to a backend, and what a backend is to a session. A backend is one file that owns the conversation with
 * one kernel interface: it receives attributes and registers and knows nothing of event names. */
#ifndef PERFMON_BACKEND_H
#define PERFMON_BACKEND_H

#include <perfmon/perfmon.h>
#include "pmu.h"
#include "sys.h"

/* One count of a session: an event on a PMU. */
struct counting {
	struct event event;
	pfm_attr_t attr;
	int pmu;          /* in the context */
	unsigned request; /* which text */
	unsigned group;   /* group number; members of one group are neighbours, the leader first */
	bool weak;        /* ":W": the group may be broken up if it does not fit */
	const char *cpus; /* where it must be opened ("" anywhere) */
	double scale;
	const char *unit;
	char *name;             /* as the user wrote it */
	unsigned part, n_parts; /* the backend's own: its slice of kernel objects */
	int cause, sys_errno;   /* pfm_cause_t if it could not be opened */
	char why[192], remedy[192];
	const struct kernel_pmu *device;  /* the kernel's PMU that counts it; NULL for events of the kernel itself */
	bool levels_free;                 /* nobody named levels: what is forbidden may be left out */
	bool pinned;                      /* ":D" */
	bool is_level;                    /* the value is a level, not a count: never a difference, never extrapolated */
	bool alone;                       /* opened without its group */
	unsigned n_open;                  /* parts that are open */
	unsigned sibling;                 /* fanned out over core types: the same number for all of them, else 0 */
	unsigned instance;                /* 1 + the only instance of the device that is wanted, 0: all of them */
	bool one_core;                    /* the machine has core types that no count of this event covers */
	const struct kernel_pmu *lacking; /* such a core type, if the event was asked of all and this one does not have it; or NULL */
	uint64_t user_read;               /* config1 bits that ask for reading from user space */
	int told;                         /* cause that why and remedy speak of */
};

/* True if count @c is for instance @k of its device. */
static inline bool pfmi_wants_instance(const struct counting *c, unsigned k)
{
	return c->instance == 0 || c->instance == k + 1;
}

struct pfm_session {
	const struct pfm_ctx *ctx;
	const struct backend *backend;
	struct sys sys;
	pfm_session_options_t options;
	unsigned n;
	struct counting *counts;
	void *state; /* the backend's */
	int sys_errno;
	bool running;
	bool started; /* at least once */
	unsigned n_groups;
	pfm_count_t *last; /* room for n counts */
	char *cpus;        /* copy of the caller's list, then the numbers that counts->cpus point to */
	char online[256];  /* list of the CPUs at hand when the session was opened */
};

/* @raw as it would have been had the counter run all of @enabled. */
uint64_t pfmi_extrapolate(uint64_t raw, uint64_t enabled, uint64_t running);
/* From what a backend has read to what the user is told: quality and cause of counts[i], and the sentences in s->counts[i].
 * @counts are those of the whole session. (lib/judge.c) */
void pfmi_judge(struct pfm_session *s, unsigned i, pfm_count_t *counts);
/* Fills the sentences of count @c. */
void pfmi_tell(struct counting *c, int cause, const char *remedy, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

struct backend {
	char name[16];
	/* 0 if usable here and now, else a negative code with @why. Leaves nothing open. NULL: always usable. */
	int (*probe)(const struct sys *sys, pfm_error_t *why);
	/* Opens what s->counts ask for; counting stays stopped. An event that cannot be opened gets its cause and is skipped
	 * (with PFM_SESSION_STRICT the whole call fails). On failure nothing stays open. */
	int (*program)(struct pfm_session *s, pfm_error_t *why);
	int (*start)(struct pfm_session *s);
	int (*stop)(struct pfm_session *s);
	int (*reset)(struct pfm_session *s);
	/* Fills n counts in order: raw, enabled, running, value (each part extrapolated), quality as far as the numbers tell.
	 * session.c judges. */
	int (*read)(struct pfm_session *s, pfm_count_t *counts, unsigned n);
	/* One count without a system call if possible; NULL or PFMLIB_ERR_NOTSUPP: session.c uses read. */
	int (*read_fast)(struct pfm_session *s, unsigned i, pfm_count_t *count);
	/* Releases all; safe on a half-made session. */
	void (*close)(struct pfm_session *s);
};

extern const struct backend pfmi_backend_perf_event, pfmi_backend_pfm_device, pfmi_backend_record;

#endif
