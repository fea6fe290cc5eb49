/* SPDX-License-Identifier: MIT */
/* The supervisor of pfm pretend answers system calls about events for the programs of a pretended
 * machine. Each pretended event is a software event of the kernel, which the program gets as a
 * descriptor from FIRST_EVENT_FD on: groups, inheritance, maps and samples are the kernel's own,
 * and reading translates values. The files:
 *
 *   clients.c   threads that call, their descriptors and memory
 *   events.c    the events
 *   shares.c    which events have a counter, and for which share of the time
 *   opening.c   perf_event_open(2)
 *   reading.c  read(2)
 *   rings.c, redirect.c  mmap(2) of events whose samples are translated
 *   supervisor.c  the other calls, and the loop */
#ifndef PFM_PRETEND_SUPERVISOR_H
#define PFM_PRETEND_SUPERVISOR_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "machine/perf_abi.h"
#include "pretend/machine.h"
#include "pretend/model.h"
#include "simulate/shared.h"

/* ---- clients.c ------------------------------------------------------------------------------- */

/* A thread that called. */
struct client {
	int tid, pidfd;
	unsigned next_fd; /* where to look for a free descriptor */
};

enum { N_CLIENTS = 4096 };

/* A call that waits for its answer. */
struct call {
	int listener;
	const struct seccomp_notif *notif;
	struct client *clients;
};

/* The thread that made the call. */
static inline uint32_t call_thread(const struct call *call)
{
	return call->notif->pid;
}

/* A copy of descriptor @fd of thread @tid, or -errno; the caller closes it. */
int copy_client_fd(struct client *clients, int tid, int fd);
/* Reads or writes memory of thread @tid. False if it is not there. */
bool read_client_memory(int tid, uint64_t at, void *to, size_t n);
bool write_client_memory(int tid, uint64_t at, const void *from, size_t n);
/* Gives descriptor @fd to the caller as its number @at, and answers the call with that. */
void answer_with_fd(const struct call *call, int fd, int at, bool close_on_exec);
/* As answer_with_fd(), at a free number from @least on that event descriptors have; returns it, or
 * -1. */
int answer_with_free_fd(const struct call *call, int fd, int least, bool close_on_exec);
/* Gives descriptor @fd to the caller as its lowest free number, which is returned, or -errno. */
int give_low_fd(const struct call *call, int fd);
/* Answers the call with @value, or with -errno. */
void answer(const struct call *call, int64_t value);
/* Lets the kernel execute the call. */
void pass_call(const struct call *call);

/* ---- events.c -------------------------------------------------------------------------------- */

enum { EVENT_TEXTS = 2, EVENT_TEXT_MAX = 128 };

/* Names of an event as pfm_dispatch_set() takes them. The kernel counts cycles and instructions on
 * fixed counters or on others, for which vendors have names of their own. */
struct event_name {
	unsigned n; /* 0: the event takes no counter */
	char texts[EVENT_TEXTS][EVENT_TEXT_MAX];
};

/* An event of a client. */
struct pretended_event {
	uint64_t id;      /* the kernel's */
	uint64_t leader;  /* id of its group's leader */
	uint64_t context; /* events of equal contexts share counters */
	int owner;        /* the thread that opened it */
	int pid, fd;      /* a descriptor of it: that of its first owner */
	uint64_t read_format;
	const struct pretend_pmu *pmu; /* NULL: one of the kernel's own events */
	struct model_rate rate;
	enum model_fault fault;
	struct event_name name;
	struct event_name next_name; /* of an event that takes the counter after its own */
	bool is_enabled, is_pinned, is_exclusive, is_by_frequency;
	bool reads_in_samples; /* its samples hold the values of its group */
	bool is_mapped;        /* its buffer is the kernel's own */
	bool has_sample_id;    /* its other records repeat fields of samples */
	uint64_t sample_type;
	uint64_t throttled_after; /* samples, by a fault */
	double limit;             /* of the share: below 1 by a fault of the model */
	uint64_t end;             /* of counting by a fault, in nanoseconds of running */
	double share;             /* of the enabled time on a counter */
	double value;             /* counted until the last settlement */
	uint64_t running;         /* and the time on a counter */
	double last_ticks;        /* of the event's base then */
	double last_moment;       /* and the moment */
	uint64_t last_running;    /* of the kernel's event */
};

/* Events by id. */
struct event_list {
	struct pretended_event **at;
	size_t n, capacity;
};

enum { TAKEN_MOST = 8 };
struct supervisor {
	const struct pretend_machine *machine;
	const struct model *model;
	/* Events that another user counts on cores all the time. */
	struct event_name taken[TAKEN_MOST];
	unsigned n_taken;
	double simulated_rate; /* instructions that the model counts in a nanosecond */
	/* Phases are those of the machine: the program goes on while an event is disabled. */
	double began, moment; /* nanoseconds; at the beginning, and of the call from there on */
	struct client clients[N_CLIENTS];
	/* Those whose first owner has closed them may be open in a process that inherited them. */
	struct event_list events, closed;
	struct pretended_ring **rings; /* rings.c */
	size_t n_rings, rings_capacity;
};

/* The event with the kernel's number @id, or NULL. */
struct pretended_event *find_event(const struct supervisor *s, uint64_t id);
/* The event that descriptor @fd of this process is. NULL for other files, and, with *@is_event set,
 * for events that are not in the list any more. */
struct pretended_event *identify_event(const struct supervisor *s, int fd, bool *is_event);
/* Adds a copy of @e. NULL without memory. */
struct pretended_event *add_event(struct supervisor *s, const struct pretended_event *e);
/* A copy of the descriptor of @e, or -errno if its owner has closed it. */
int copy_event_fd(struct supervisor *s, const struct pretended_event *e);
/* Moves the events of @context that their owners have closed to s->closed: they need no counter. */
void set_aside_closed_events(struct supervisor *s, uint64_t context);

/* ---- shares.c -------------------------------------------------------------------------------- */

enum { TOGETHER_MOST = 64 };
/* Writes the names of @e that need counters, two at most. Returns their number. */
unsigned list_names(const struct pretended_event *e, const struct event_name **names);
/* True if events with these @n @names can be counted together, each by one of its texts. */
bool fit_together(const struct pretend_machine *m, const struct event_name *const *names,
                  unsigned n);
/* Accounts what the events of @context counted until now with their shares. (reading.c) */
void settle_context(struct supervisor *s, uint64_t context);
/* Finds the events of other users in the model. */
void find_taken_events(struct supervisor *s);
/* Computes the shares of the events of @context: what the kernel's rotation gives each in the long
 * run. */
void share_counters(struct supervisor *s, uint64_t context);
/* The nanoseconds since the machine began, which decide on the phase. */
double read_moment(const struct supervisor *s);
/* Begins the account of @e with its value now. */
void begin_ticks(const struct supervisor *s, struct pretended_event *e);
/* Accounts what @e counted until now, when the kernel's event has @raw and @running. */
void settle_event(const struct supervisor *s, struct pretended_event *e, uint64_t raw,
                  uint64_t running);

/* ---- naming.c -------------------------------------------------------------------------------- */

/* Finds the names of the event of @pmu that the words of @a select. */
void name_raw_event(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                    const struct perf_attr *a, struct event_name *name);

/* Names an event that takes a counter as most of the core's events do: in place of one that is in
 * no table. */
void name_plain_event(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                      struct event_name *name);

/* ---- opening.c, reading.c -------------------------------------------------------------------- */

void open_event(struct supervisor *s, const struct call *call);
/* Finds how the instructions of the emulator become time of the model's clock. */
void find_simulated_rate(struct supervisor *s);
void read_event(struct supervisor *s, const struct call *call);
/* The period of the kernel's event for the @period of @e. */
uint64_t translate_period(const struct model_rate *rate, uint64_t period);

/* The value of @e when the kernel's event has @raw, and its time on a counter at @running. */
uint64_t peek_value(const struct supervisor *s, const struct pretended_event *e, uint64_t raw);
uint64_t peek_running(const struct pretended_event *e, uint64_t running);

/* ---- rings.c --------------------------------------------------------------------------------- */

/* True if samples of @e must be translated. */
bool needs_ring(const struct pretended_event *e);
/* Answers mmap(2) of @e, of which @fd is a copy. */
void map_event(struct supervisor *s, const struct call *call, int fd, struct pretended_event *e);
/* False if samples of @e must be translated, and the buffer of @owner is the kernel's own. */
bool can_join_buffer(const struct pretended_event *e, const struct pretended_event *owner);
/* Copies new records to the clients. */
void pump_rings(struct supervisor *s);

/* ---- supervisor.c ---------------------------------------------------------------------------- */

/* Answers calls from @listener until no process has the filter any more. */
void supervise(const struct pretend_machine *m, const struct model *model, int listener);

#endif
