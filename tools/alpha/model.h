/* SPDX-License-Identifier: MIT */
/* A model of the Tru64 counter device: the results of system calls on /dev/pfcntr, and the counts
 * of its counters, without an Alpha.
 *
 * The model is a plain state machine. It makes no system call, has no clock, and changes
 * only when one of the functions below is called: processes appear, fork, bind and end; they open
 * the device, issue requests and read; processors do work, which moves counters and raises
 * interrupts. Every call returns 0 (or a count) or -errno, as the system call it represents would.
 *
 * Rules that neither the manual page nor the system's header documents are settings in struct
 * alpha_device_options, whose comments name the defaults of alpha_device_set_defaults(). Everything
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
	size_t max_buffer;    /* most bytes of samples that can be allocated; 64 MiB */
	bool ev4_pass3;       /* the 21064 can count single processes; true */

	/* Errors that are documented without their errno. */
	int unbound_errno; /* open ONE by a process that is not bound to a processor; EINVAL */
	int rate_errno;    /* rate 256 without privilege; EPERM */
	int stride_errno;  /* stride that is not a power of two; EINVAL */

	/* Requests without documentation. */
	int no_mode_errno;   /* open without ONE, EACH or ALL; EINVAL. 0: means ONE */
	int family_errno;    /* request of another family; EINVAL. 0: accepted without effect */
	int unknown_errno;   /* unknown request; EINVAL */
	int pointer_errno;   /* address the process does not have; EFAULT */
	int items_errno;     /* unknown item bits; 0: ignored */
	int running_errno;   /* items changed while counting; 0: allowed */
	int cpu_errno;       /* counter word for a processor that is not held; EINVAL */
	int start_cpu_errno; /* start request for fewer than all processors; 0: all are started */
	int range_errno;     /* first range that ends before it starts or is not aligned to an
	                        instruction; EFAULT */

	/* Undocumented rules. */
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
	bool echo_word;   /* GETCNTRS returns the select and processor bits of its argument; true */
	bool old_getcnt;  /* PCNTGETCNT also has its request number of 1997; true */
	bool live_cycles; /* the cycle field is the time of the request, not of the last interrupt;
	                     false */
	bool user_is_exec; /* user code runs in executive mode, as on Digital UNIX; true */
};

/* The documented defaults for @family. */
void alpha_device_set_defaults(struct alpha_device_options *out, enum alpha_device_family family);
/* The family called "ev4", "ev5", "pca56", "ev6" or "ev67", with or without "alpha_"; -1 for other
 * names. */
int alpha_device_find_family(const char *name);

struct alpha_device;

/* Makes a device. NULL without memory or for invalid options. */
struct alpha_device *alpha_device_new(const struct alpha_device_options *options);
void alpha_device_free(struct alpha_device *m);
const struct alpha_device_options *alpha_device_get_options(const struct alpha_device *m);

/* ---- processes ------------------------------------------------------------------------------- */

/* Adds or changes process @pid. @cpu: the processor that it is bound to or ALPHA_DEVICE_UNBOUND. */
int alpha_device_set_process(struct alpha_device *m, int pid, unsigned uid, int cpu);
/* Adds @child with the user, binding and mark of @parent. */
int alpha_device_fork_process(struct alpha_device *m, int parent, int child);
/* Executes another program in @pid, which keeps its open device and its mark of an owner. */
int alpha_device_exec_process(struct alpha_device *m, int pid);
/* Ends @pid and closes its sessions. */
int alpha_device_exit_process(struct alpha_device *m, int pid);
/* The PME bit of a process: 0 or 1; -ESRCH for an unknown process. */
int alpha_device_is_process_marked(const struct alpha_device *m, int pid);
/* Another tool takes the counter interrupt of @cpu (@taken), or releases it. */
int alpha_device_set_foreign(struct alpha_device *m, unsigned cpu, bool taken);
/* Makes the next allocation of a buffer for samples fail. */
void alpha_device_fail_next_alloc(struct alpha_device *m);

/* ---- system calls ---------------------------------------------------------------------------- */

/* Access to the caller's memory. The functions return 0, or -errno if the process lacks any of the
 * bytes. */
struct alpha_device_memory {
	int (*read)(void *arg, uint64_t from, void *to, size_t n);
	int (*write)(void *arg, uint64_t to, const void *from, size_t n);
	void *arg;
};

/* The memory of this process: addresses are pointers. */
extern const struct alpha_device_memory alpha_device_own_memory;

/* Opens the device; returns a handle. @flags: the mode bits; others are ignored. */
int alpha_device_open_session(struct alpha_device *m, int pid, uint64_t flags);
int alpha_device_do_ioctl(struct alpha_device *m, int handle, int pid, uint32_t request,
                          uint64_t arg, const struct alpha_device_memory *mem);
/* Copies samples from the first one on. Returns the number of bytes. */
long alpha_device_read_samples(struct alpha_device *m, int handle, uint64_t to, size_t n,
                               const struct alpha_device_memory *mem);
int alpha_device_close_session(struct alpha_device *m, int handle);

/* Bytes that @request would write to the caller's array now; 0 if it writes no array. */
size_t alpha_device_get_result_size(const struct alpha_device *m, int handle, uint32_t request);
/* True if the errno of the last error is undocumented: an open by an unbound process, a rate
 * without privilege. */
bool alpha_device_is_error_unconfirmed(const struct alpha_device *m);

/* ---- work ------------------------------------------------------------------------------------ */

/* One slice of a processor's work. */
struct alpha_device_work {
	int pid;                     /* process it runs for; -1: none */
	bool is_user;                /* user mode; otherwise kernel mode */
	bool is_pal;                 /* PALmode */
	bool is_idle;                /* the idle thread */
	unsigned ipl;                /* interrupt level, 0 to 5 */
	uint64_t pc, return_address; /* program counter, and return address */
	uint64_t cycles;             /* cycles that pass */
	uint64_t
		events[ALPHA_DEVICE_MAX_COUNTERS]; /* events that the select of each counter sees */
};

/* Adds @work to the running counters of @cpu. Counters that reach their rate raise interrupts. */
int alpha_device_do_work(struct alpha_device *m, unsigned cpu,
                         const struct alpha_device_work *work);
/* Raises an interrupt of @counter on @cpu, whatever its value is. */
int alpha_device_raise_interrupt(struct alpha_device *m, unsigned cpu, unsigned counter,
                                 const struct alpha_device_work *work);
/* All processors work for @ns nanoseconds at options->mhz: @cpu for @pid in user mode, the others
 * are idle. The rate of each event is invented: a share of the cycles that is fixed for each
 * select. */
void alpha_device_run(struct alpha_device *m, uint64_t ns, int pid, unsigned cpu, uint64_t pc);

/* ---- inspection ------------------------------------------------------------------------------ */

/* Called for each wrperfmon call of the driver for selection, rates, modes, start and stop; once
 * for all processors. */
typedef void (*alpha_device_pal_fn)(void *arg, unsigned function, uint64_t a1);
void alpha_device_trace_pal(struct alpha_device *m, alpha_device_pal_fn fn, void *arg);

struct alpha_device_view {
	int holder_pid; /* process whose session holds the processor, or -1 */
	bool is_foreign;
	bool has_interrupts_on;                               /* counter interrupts are enabled */
	unsigned running_counters;                            /* bit for each counter that counts */
	uint64_t chip_values[ALPHA_DEVICE_MAX_COUNTERS];      /* counters of the chip */
	uint64_t interrupt_counts[ALPHA_DEVICE_MAX_COUNTERS]; /* interrupts that the driver has
	                                                         counted */
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
