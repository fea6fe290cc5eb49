/* SPDX-License-Identifier: MIT */
/* A model of the Tru64 counter device: what /dev/pfcntr answers, and what its counters would count,
 * without an Alpha.
 *
 * The model is a plain state machine. It makes no system call, has no clock, and changes
 * only when one of the functions below is called: processes appear, fork, bind and end; they open
 * the device, issue requests and read; processors do work, which moves counters and raises
 * interrupts. Every call returns 0 (or a count) or -errno, as the system call it represents would.
 *
 * Where the manual page and the system's header say nothing, the rule is a setting in struct
 * model_options; its comment names the default that alpha_device_set_defaults() takes. Everything
 * else is as documented and cannot be changed. */
#ifndef PERFMON_ALPHA_MODEL_H
#define PERFMON_ALPHA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALPHA_DEVICE_MAX_CPUS          64
#define ALPHA_DEVICE_MAX_COUNTERS      3
#define ALPHA_DEVICE_MAX_CALLER_RANGES 4 /* further ranges in caller mode */
#define ALPHA_DEVICE_UNBOUND           (-1)

enum alpha_device_family {
	ALPHA_DEVICE_EV4,
	ALPHA_DEVICE_EV5,
	ALPHA_DEVICE_PCA56,
	ALPHA_DEVICE_EV6,
	ALPHA_DEVICE_EV67
};

struct alpha_device_options {
	enum alpha_device_family family;
	unsigned n_cpus;      /* 1 .. ALPHA_DEVICE_MAX_CPUS; 4 */
	unsigned mhz;         /* cycles of alpha_device_run() per microsecond; 500 */
	uint64_t ktext_start; /* kernel text; 0xfffffc0000230000 */
	uint64_t ktext_end;   /* first address after it; 0xfffffc0000630000 */
	size_t max_buffer;    /* bytes of samples beyond which memory cannot be obtained; 64 MiB */
	bool ev4_pass3;       /* the 21064 can count single processes; true */

	/* Errors that are certain to come while no source names their number. */
	int unbound_errno; /* open ONE by a process that is not bound to a processor; EINVAL */
	int rate_errno;    /* rate 256 without privilege; EPERM */
	int stride_errno;  /* stride that is not a power of two; EINVAL */

	/* Requests without documentation. */
	int no_mode_errno;   /* open without ONE, EACH or ALL; EINVAL. 0: taken for ONE */
	int family_errno;    /* request of another family; EINVAL. 0: accepted without effect */
	int unknown_errno;   /* unknown request; EINVAL */
	int pointer_errno;   /* address the process does not have; EFAULT */
	int items_errno;     /* unknown item bits; 0: ignored */
	int running_errno;   /* items changed while counting; 0: allowed */
	int cpu_errno;       /* counter word for a processor that is not held; EINVAL */
	int start_cpu_errno; /* start request for fewer than all processors; 0: all are started */
	int range_errno;     /* first range that ends before it starts or is not aligned to an
	                        instruction; EFAULT */

	/* Rules that could be otherwise. */
	bool single_holder; /* one process at a time even if ONE leaves processors free; false */
	bool root_evicts;   /* the superuser takes the device from a process that holds it; false */
	bool enable_gates;  /* EV5 and later count only after PCNTRENABLE as well; false */
	bool idle_is_level0;    /* an idle interrupt is counted at level 0 too; false */
	bool read_clears;       /* read() empties the buckets; false */
	bool blocks_backwards;  /* EACH: the last processor's block comes first; false */
	bool end_inclusive;     /* the last address of a range belongs to it; false */
	bool round_down;        /* the rest of a range beyond whole buckets is dropped; false */
	bool check_first_range; /* kernel ranges must be in kernel text also outside caller mode;
	                           true */
	bool echo_word;    /* GETCNTRS gives back the select and processor bits it was called with;
	                      true */
	bool old_getcnt;   /* PCNTGETCNT is known by its number of 1997 too; true */
	bool live_cycles;  /* the cycle field is the time of the request, not of the last interrupt;
	                      false */
	bool user_is_exec; /* user code runs in the chip's executive mode, as on Digital UNIX; true
	                    */
};

/* The documented defaults for @family. */
void alpha_device_set_defaults(struct alpha_device_options *out, enum alpha_device_family family);
/* Family called "ev4", "ev5", "pca56", "ev6" or "ev67", in any of their spellings ("alpha_ev5"); -1
 * for others. */
int alpha_device_find_family(const char *name);

struct alpha_device;

/* NULL without memory or for options that make no sense. */
struct alpha_device *alpha_device_new(const struct alpha_device_options *options);
void alpha_device_free(struct alpha_device *m);
const struct alpha_device_options *alpha_device_get_options(const struct alpha_device *m);

/* ---- processes ------------------------------------------------------------------------------- */

/* Makes process @pid known, or changes one that is. @cpu: the processor it is bound to, or
 * ALPHA_DEVICE_UNBOUND. */
int alpha_device_set_process(struct alpha_device *m, int pid, unsigned uid, int cpu);
/* @child is a copy of @parent: user, binding and mark. */
int alpha_device_fork_process(struct alpha_device *m, int parent, int child);
/* Executes another program: the mark and the open device stay. */
int alpha_device_exec_process(struct alpha_device *m, int pid);
/* Ends @pid; what it opened is closed. */
int alpha_device_exit_process(struct alpha_device *m, int pid);
/* The PME bit of a process: 0 or 1, -ESRCH for one that is not known. */
int alpha_device_is_process_marked(const struct alpha_device *m, int pid);
/* Another tool takes, or forgets to give back, the counter interrupt of @cpu. */
int alpha_device_set_foreign(struct alpha_device *m, unsigned cpu, bool taken);
/* The next buffer for samples cannot be obtained. */
void alpha_device_fail_next_alloc(struct alpha_device *m);

/* ---- system calls ---------------------------------------------------------------------------- */

/* The caller's memory. Each returns 0, or -errno when the process does not have all of these
 * bytes. */
struct alpha_device_memory {
	int (*read)(void *arg, uint64_t from, void *to, size_t n);
	int (*write)(void *arg, uint64_t to, const void *from, size_t n);
	void *arg;
};

/* Memory of this very process: addresses are pointers. */
extern const struct alpha_device_memory alpha_device_own_memory;

/* Opens the device; returns a handle. @flags: the mode bits; others are ignored. */
int alpha_device_open_session(struct alpha_device *m, int pid, uint64_t flags);
int alpha_device_do_ioctl(struct alpha_device *m, int handle, int pid, uint32_t request,
                          uint64_t arg, const struct alpha_device_memory *mem);
/* Samples; always from the start. Bytes copied. */
long alpha_device_read_samples(struct alpha_device *m, int handle, uint64_t to, size_t n,
                               const struct alpha_device_memory *mem);
int alpha_device_close_session(struct alpha_device *m, int handle);

/* Bytes that @request writes to the caller's array just now; 0 if it writes none. */
size_t alpha_device_get_result_size(const struct alpha_device *m, int handle, uint32_t request);
/* True if the last error is certain to come but no source tells its number: an open that is not
 * bound, a rate without privilege. */
bool alpha_device_is_error_unconfirmed(const struct alpha_device *m);

/* ---- work ------------------------------------------------------------------------------------ */

/* One slice of a processor's work. */
struct alpha_device_work {
	int pid;                     /* process it runs for; -1: none */
	bool is_user;                /* user mode, else kernel */
	bool is_pal;                 /* PALmode */
	bool is_idle;                /* the idle thread */
	unsigned ipl;                /* interrupt level, 0 to 5 */
	uint64_t pc, return_address; /* where it is, and the return address */
	uint64_t cycles;             /* cycles that pass */
	uint64_t
		events[ALPHA_DEVICE_MAX_COUNTERS]; /* events that the select of each counter sees */
};

/* @cpu does @work: counters that run move, those that reach their rate interrupt. */
int alpha_device_do_work(struct alpha_device *m, unsigned cpu,
                         const struct alpha_device_work *work);
/* One interrupt of @counter on @cpu as it is, whatever its value. */
int alpha_device_raise_interrupt(struct alpha_device *m, unsigned cpu, unsigned counter,
                                 const struct alpha_device_work *work);
/* All processors work for @ns nanoseconds at options->mhz, for @pid in user mode on one of them and
 * idle on the others. How often an event happens is invented: a fixed share of the cycles for every
 * select, the same in every run. */
void alpha_device_run(struct alpha_device *m, uint64_t ns, int pid, unsigned cpu, uint64_t pc);

/* ---- looking inside -------------------------------------------------------------------------- */

/* Told of each wrperfmon call the driver makes for selection, rates, modes, start and stop; once
 * for all processors. */
typedef void (*alpha_device_pal_fn)(void *arg, unsigned function, uint64_t a1);
void alpha_device_trace_pal(struct alpha_device *m, alpha_device_pal_fn fn, void *arg);

struct alpha_device_view {
	int holder_pid; /* pid, or -1 */
	bool is_foreign;
	bool has_interrupts_on;                               /* counter interrupts are on */
	unsigned running_counters;                            /* counters that run */
	uint64_t chip_values[ALPHA_DEVICE_MAX_COUNTERS];      /* the chip's */
	uint64_t interrupt_counts[ALPHA_DEVICE_MAX_COUNTERS]; /* the driver's */
	uint64_t cycles;
	uint64_t n_discarded; /* interrupts that came while no process waited for them */
	uint64_t iccsr;       /* EV4: as written */
	uint64_t pmctr;       /* EV5, PCA56 */
	uint64_t cbox;        /* EV5: BC_CTL 24:19; PCA56: PM1_MUX, PM0_MUX */
	uint64_t pctr_ctl;    /* EV6, EV67: as written */
	uint64_t i_ctl;       /* EV6, EV67: the two enables */
};
int alpha_device_get_view(const struct alpha_device *m, unsigned cpu,
                          struct alpha_device_view *out);

#endif
