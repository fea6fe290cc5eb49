/* SPDX-License-Identifier: MIT */
/* Features of Alpha processors, EV4 to EV79.
 *
 * There are five kinds of PMUs: EV4 (21064 family, two counters that cannot be read), EV5 (21164,
 * three counters), PCA56 (21164PC, like EV5 with other cache events), EV6 (21264, two counters) and
 * EV67 (21264A and later: two counters that share one mode, and ProfileMe, which follows single
 * instructions through the pipeline).
 *
 * pfm_dispatch_events() takes settings as a pfmlib_alpha_input_param_t. Its output holds the words
 * for the PALcode call wrperfmon. pfmlib_alpha_output_param_t holds the requests for the Tru64
 * device /dev/pfcntr (pfcntr.h) and the register values at the start of counting. Sessions on that
 * device take a pfm_alpha_session_t as backend options.
 *
 * Control registers in the generic output: number 8 selects events, 9 holds the rates (EV5, PCA56),
 * 10 the modes (EV5, PCA56, if requested), and 11 the counters to start, with their values if they
 * have any. reg_value is the argument of wrperfmon, reg_addr its function, and reg_alt_addr the
 * device request with the same effect. Data registers 0 to 2 are the counters; reg_addr is the
 * function that reads them. In pfp_unavail_pmcs, 0 to 2 also mean the counters.
 *
 * The processors have one set of privilege levels for all counters, so the default levels of a set
 * (pfp_dfl_plm) have no effect. On EV5 and PCA56, levels that an event names, or pfp_alpha_modes,
 * restrict the whole set. The other processors count at all levels and refuse them.
 *
 * Processor types are PFMLIB_ALPHA_*_PMU. Functions without an event index work without a selected
 * PMU and keep no state. Set a structure to zero before you fill it. */
#ifndef LIBPERFMON_ALPHA_H
#define LIBPERFMON_ALPHA_H

#include <perfmon/perfmon.h>
#include <perfmon/pfcntr.h>
#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PFM_ALPHA_MAX_COUNTERS 3
#define PFM_ALPHA_MAX_RANGES   5 /* one, and four more with PFM_ALPHA_FL_CALLER */
#define PFM_ALPHA_MAX_IOCTLS   24
#define PFM_ALPHA_MAX_CALLS    8

/* Control registers of the generic output. */
enum pfm_alpha_control_register {
	PFM_ALPHA_PMC_SELECT = 8,
	PFM_ALPHA_PMC_RATES,
	PFM_ALPHA_PMC_MODES,
	PFM_ALPHA_PMC_START
};

/* ---- settings -------------------------------------------------------------------------------- */

/* Processes that are counted: all, or this one and its children. */
enum pfm_alpha_scope { PFM_ALPHA_SCOPE_SYSTEM, PFM_ALPHA_SCOPE_PROCESS };

/* Processors that are counted: all with one sum, all separately, or the one that the process is
 * bound to. */
enum pfm_alpha_open_kind { PFM_ALPHA_OPEN_ALL, PFM_ALPHA_OPEN_EACH, PFM_ALPHA_OPEN_ONE };

/* Modes of the processor, with the names of the chip. On Digital UNIX, user code runs in executive
 * mode. The chip counts kernel, executive and supervisor mode together, executive and supervisor
 * mode without kernel mode, or none of the three. It counts user and PAL mode independently. */
enum pfm_alpha_mode {
	PFM_ALPHA_MODE_KERNEL = 1,
	PFM_ALPHA_MODE_EXEC = 2,
	PFM_ALPHA_MODE_SUPER = 4,
	PFM_ALPHA_MODE_USER = 8,
	PFM_ALPHA_MODE_PAL = 16,
	PFM_ALPHA_MODE_ALL = 31
};

/* pfp_alpha_flags */
enum pfm_alpha_flag {
	PFM_ALPHA_FL_CTXT =
		1, /* EV5, PCA56: use the word in pfp_alpha_ctxt (PF5_CTXT_* bits) unchanged */
	PFM_ALPHA_FL_KERNEL = 2, /* pfp_alpha_ranges are kernel addresses */
	PFM_ALPHA_FL_CALLER =
		4, /* count samples in ranges 1 to 4 for their callers; kernel addresses only */
	PFM_ALPHA_FL_STRIDE = 8, /* use pfp_alpha_stride; otherwise the stride is 4 */
	PFM_ALPHA_FL_KEEP = 16,  /* start the counters from their current values (EV5 and later) */
	PFM_ALPHA_FL_GETCNT = 32 /* EV6 and later: read interrupt counts, not events */
};

typedef struct {
	uint64_t start, end; /* end is the first address after the range */
} pfmlib_alpha_range_t;

typedef struct {
	uint64_t pfp_alpha_rates[PFM_ALPHA_MAX_COUNTERS];   /* events between interrupts; 0: the
	                                                       slowest rate */
	uint64_t pfp_alpha_periods[PFM_ALPHA_MAX_COUNTERS]; /* EV6 and later: number of events up to
	                                                       2^20 to use instead, or 0 */
	unsigned int pfp_alpha_flags;
	unsigned int pfp_alpha_scope; /* PFM_ALPHA_SCOPE_* */
	unsigned int pfp_alpha_open;  /* PFM_ALPHA_OPEN_* */
	unsigned int pfp_alpha_modes; /* PFM_ALPHA_MODE_*, EV5 and PCA56; 0: all modes */
	unsigned int pfp_alpha_items; /* PFM_COUNTERS, PFM_IPL, PFM_PROFILING; 0: PFM_COUNTERS */
	unsigned int pfp_alpha_statistic; /* EV67: PF67_PM_* if the event is a counting mode of
	                                     ProfileMe, or 0 */
	unsigned int pfp_alpha_n_ranges;
	unsigned int reserved1;
	uint64_t pfp_alpha_ctxt;
	uint64_t pfp_alpha_stride; /* instructions in a bucket, a power of two, or 0 for one bucket
	                            */
	pfmlib_alpha_range_t pfp_alpha_ranges[PFM_ALPHA_MAX_RANGES];
	uint64_t reserved[8];
} pfmlib_alpha_input_param_t;

/* ---- results --------------------------------------------------------------------------------- */

/* A call of wrperfmon: function in a0, argument in a1. */
typedef struct {
	unsigned int function;
	unsigned int reserved;
	uint64_t argument;
} pfmlib_alpha_call_t;

/* Phases in which device requests are issued. */
enum pfm_alpha_phase { PFM_ALPHA_SETUP, PFM_ALPHA_START, PFM_ALPHA_STOP, PFM_ALPHA_READ };

/* A device request. Requests that read have no words; their argument is the address of a pointer to
 * an array. */
typedef struct {
	const char *name; /* name in pfcntr.h */
	uint32_t request;
	unsigned int when; /* PFM_ALPHA_SETUP ... */
	unsigned int n_words;
	unsigned int reserved;
	uint64_t words[4];
} pfmlib_alpha_ioctl_t;

typedef struct {
	unsigned int open_flags; /* PCNTOPEN* flags to add to the flags of open(2) */
	unsigned int counters;   /* bit n is set if counter n is used */
	unsigned int privileged; /* 1: the rates require superuser privilege */
	unsigned int n_ioctls;
	unsigned int n_calls;
	unsigned int statistic;                 /* ProfileMe statistic, or 0 */
	uint64_t rates[PFM_ALPHA_MAX_COUNTERS]; /* effective events between interrupts; 0: unused */
	uint64_t iccsr;                         /* EV4: value in the chip */
	uint64_t pmctr;                         /* EV5, PCA56: value after the start */
	uint64_t cbox;     /* EV5: BC_CTL 24:19; PCA56: two 3-bit selects, counter 2's first */
	uint64_t pctr_ctl; /* EV6 and later: value that the start writes */
	uint64_t i_ctl;    /* EV6 and later: enable bits of both counters, 18 and 19 */
	pfmlib_alpha_ioctl_t
		ioctls[PFM_ALPHA_MAX_IOCTLS]; /* in order, from after open to before close */
	pfmlib_alpha_call_t
		calls[PFM_ALPHA_MAX_CALLS]; /* wrperfmon: selection, rates, modes, start, stop */
	uint64_t reserved[8];
} pfmlib_alpha_output_param_t;

/* ---- about events ---------------------------------------------------------------------------- */

/* Kinds of events. */
enum pfm_alpha_event_kind {
	PFM_ALPHA_EVENT,     /* does not depend on other events */
	PFM_ALPHA_AGGREGATE, /* EV67: its mode determines the event of the other counter */
	PFM_ALPHA_PAIR,      /* EV67: a mode by name; uses both counters */
	PFM_ALPHA_PROFILEME, /* EV67: a statistic of profiled instructions */
	PFM_ALPHA_RATIO,     /* EV67: a statistic divided by retired instructions */
	PFM_ALPHA_PM_MODE    /* EV67: counting mode of the window of a profiled instruction */
};

/* How a count can differ from the number of events that its name suggests. */
enum pfm_alpha_uncertainty {
	PFM_ALPHA_UNC_NAME = 1, /* the name is derived from a constant; no source contains it */
	PFM_ALPHA_UNC_HEADER_ONLY = 2,    /* the manual page of the system lacks it */
	PFM_ALPHA_UNC_PIN = 4,            /* an input pin; depends on the board */
	PFM_ALPHA_UNC_DISPUTED = 8,       /* sources disagree on what is counted */
	PFM_ALPHA_UNC_COST = 16,          /* the count is lost cycles, not occurrences */
	PFM_ALPHA_UNC_REPLAYED = 32,      /* replayed instructions count again */
	PFM_ALPHA_UNC_OVER = 64,          /* counts more than its name says */
	PFM_ALPHA_UNC_NOT_BUILT = 128,    /* the hardware counts something else */
	PFM_ALPHA_UNC_TWICE = 256,        /* each event counts twice */
	PFM_ALPHA_UNC_RETIRED = 512,      /* retired instructions, error up to +-4 */
	PFM_ALPHA_UNC_EARLY = 1024,       /* backup cache misses, counted 3 cycles early */
	PFM_ALPHA_UNC_LATE = 2048,        /* replay traps, window 1 cycle late */
	PFM_ALPHA_UNC_WINDOW = 4096,      /* a lower bound, at most the window minus 2 cycles */
	PFM_ALPHA_UNC_APPROXIMATE = 8192, /* the manual page calls the count approximate */
	PFM_ALPHA_UNC_CBR = 16384,   /* valid only for correctly predicted conditional branches */
	PFM_ALPHA_UNC_PROBES = 32768 /* includes long probes by other processors */
};

typedef struct {
	int kind;               /* PFM_ALPHA_EVENT ... */
	unsigned int statistic; /* PF67_PM_*, or 0 */
	int pm_mode;            /* counting mode that a statistic requires; -1: any or none */
	unsigned int weight_num, weight_den; /* events = count * weight_num / weight_den */
	int half_units;           /* 1: a cycle that issues one instruction counts a half */
	unsigned int counters;    /* bit n is set if counter n can count it */
	unsigned int uncertainty; /* PFM_ALPHA_UNC_* */
	int error_counts;         /* largest error of a count in both directions; 0: unknown */
	int shift_cycles;         /* cycles by which the window is earlier (negative) or later */
	int window_less;          /* the count is at most the window minus this; 0: no limit */
	int linux_raw;            /* number in the Linux driver, 0 for none */
	const char *constant;     /* first constant in the header, "" for none */
	const char *formula; /* ProfileMe: condition of an increment, or formula; "" for none */
	const char *note;    /* note, "" for none */
} pfm_alpha_event_info_t;

/**
 * Describes event @idx of @pmu, a PFMLIB_ALPHA_*_PMU (pfm_get_pmu_type() gives the selected one).
 * The strings are constant.
 *
 * Returns PFMLIB_ERR_NOTSUPP if @pmu is not an Alpha, PFMLIB_ERR_INVAL if @idx is out of range.
 * Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_info(int pmu, unsigned int idx, pfm_alpha_event_info_t *info);

/* Kind of an event, as 1 or 0. They return 0 for events that do not exist. */
int pfm_alpha_is_profileme(
	int pmu, unsigned int idx); /* a statistic, a ratio or a counting mode of ProfileMe */
int pfm_alpha_is_ratio(int pmu, unsigned int idx);
int pfm_alpha_is_pair(int pmu, unsigned int idx);

/**
 * Gives the select value of an event on @counter, and its select in the cache box (0 for none).
 *
 * Returns PFMLIB_ERR_INVAL if the counter cannot count the event. Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_select(int pmu, unsigned int idx, unsigned int counter,
                                     unsigned int *select, unsigned int *cbox);

/** Gives the constant of an event on @counter in the header, "" for none. Since 1.0. */
pfm_err_t pfm_alpha_get_event_constant(int pmu, unsigned int idx, unsigned int counter,
                                       const char **constant);

/**
 * Gives event number @n (from 0) of those that can be measured together with event @idx, each on
 * its own counter.
 *
 * Returns PFMLIB_ERR_NOTFOUND past the last. Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_partner(int pmu, unsigned int idx, unsigned int n,
                                      unsigned int *partner);

/* ---- words ----------------------------------------------------------------------------------- */

/** Number of counters, and width of one in bits. They return 0 if @pmu is not an Alpha or does not
 * have the counter. */
unsigned int pfm_alpha_num_counters(int pmu);
unsigned int pfm_alpha_counter_width(int pmu, unsigned int counter);

/** Interrupt rate number @n of a counter, slowest first; 0 past the last. EV6 and later have one
 * rate, and start values. */
uint64_t pfm_alpha_rate(int pmu, unsigned int counter, unsigned int n);

/**
 * Makes the rate bits of ICCSR (EV4), or the word for PCNT5FREQ (EV5, PCA56), from the rates of the
 * counters in @counters.
 *
 * Other counters get the slow rate. EV6 and later have no such word: the result is 0 if the rate is
 * 2^20. Returns PFMLIB_ERR_INVAL if a counter does not have the rate. Since 1.0.
 */
pfm_err_t pfm_alpha_rate_word(int pmu, const uint64_t *rates, unsigned int counters, uint64_t *word,
                              int *privileged);

/** Decodes a PCNT5FREQ word like the driver: the argument of wrperfmon 4, and whether the driver
 * requires privilege. */
void pfm_alpha_driver_rates(uint64_t word, uint64_t *a1, int *privileged);

/** CTL fields, at their positions in PMCTR, of the counters in @counters after a start with rates
 * @a1. */
uint64_t pfm_alpha_pmctr_ctl(uint64_t a1, unsigned int counters);

/**
 * Makes the counter word for the counters @select of processor @cpu (PMCTRS_ALL_CPUS for all) with
 * @values.
 *
 * Returns PFMLIB_ERR_NOTSUPP for EV4, PFMLIB_ERR_INVAL for a value that does not fit. Since 1.0.
 */
pfm_err_t pfm_alpha_counter_word(int pmu, unsigned int select, unsigned int cpu,
                                 const uint64_t *values, uint64_t *word);

/** Decodes a counter word. Any result pointer may be NULL. */
pfm_err_t pfm_alpha_split_counter_word(int pmu, uint64_t word, unsigned int *select,
                                       unsigned int *cpu, uint64_t *values);

/** Gives the value from which a counter of @width bits overflows after @period events, 1 to
 * 2^width. PFMLIB_ERR_INVAL for other periods. */
pfm_err_t pfm_alpha_start_value(unsigned int width, uint64_t period, uint64_t *value);

/**
 * Makes the word for PCNT5CTXTS that counts only in @modes; PFM_ALPHA_SCOPE_PROCESS adds the mark
 * of this process.
 *
 * Returns PFMLIB_ERR_NOTSUPP if the chip cannot count these modes without others. Since 1.0.
 */
pfm_err_t pfm_alpha_mode_word(unsigned int modes, unsigned int scope, uint64_t *word);

/** Decodes such a word: returns the modes, whether only marked processes are counted (@select), and
 * whether the request marks the caller (@marks). */
unsigned int pfm_alpha_word_modes(uint64_t word, int *select, int *marks);

/** Translates a device request into a wrperfmon call. PFMLIB_ERR_NOTSUPP for requests that do not
 * correspond to one call with one argument. */
pfm_err_t pfm_alpha_device_call(int pmu, uint32_t request, uint64_t word,
                                pfmlib_alpha_call_t *call);

/** Gives the select word of ProfileMe counting mode @mode, 0 to 3. */
pfm_err_t pfm_alpha_pm_mode_word(unsigned int mode, uint64_t *word);

/* A device request by name or number. */
typedef struct {
	const char *name;
	uint32_t request;
	unsigned int families; /* bit 0 EV4, 1 EV5 and PCA56, 2 EV6 and EV67 */
} pfm_alpha_request_t;

/** Gives request number @i (from 0), or the request called @name. PFMLIB_ERR_NOTFOUND past the
 * last, and for an unknown name. */
pfm_err_t pfm_alpha_request(unsigned int i, pfm_alpha_request_t *out);
pfm_err_t pfm_alpha_find_request(const char *name, pfm_alpha_request_t *out);

/** Gives the value of a mask in the system's header ("PF5_WRITE_KMASK" ...). PFMLIB_ERR_NOTFOUND
 * for an unknown name. */
pfm_err_t pfm_alpha_mask(const char *name, uint64_t *value);

/* ---- counts ---------------------------------------------------------------------------------- */

/** Number of events for @interrupts at @rate. */
static inline uint64_t pfm_alpha_events(uint64_t interrupts, uint64_t rate)
{
	return interrupts * rate;
}

/** Number of events for @interrupts of a counter of @width bits that now contains @raw. */
static inline uint64_t pfm_alpha_events_raw(uint64_t interrupts, unsigned int width, uint64_t raw)
{
	return (interrupts << width) + raw;
}

/** EV4: cycles that issued one instruction, from the counts of issues and of dual. */
static inline uint64_t pfm_alpha_single_issues(uint64_t issues, uint64_t dual)
{
	return (issues - dual) * 2;
}

/**
 * Gives the number of bytes of samples that read(2) returns for the range [@start, @end).
 *
 * Returns PFMLIB_ERR_INVAL if the range is empty, or the stride is neither 0 nor a power of two.
 * Since 1.0.
 */
pfm_err_t pfm_alpha_sample_bytes(uint64_t start, uint64_t end, uint64_t stride, unsigned int open,
                                 unsigned int n_cpus, uint64_t *bytes);

/** Bucket that covers @pc, in a range that begins at @start. */
uint64_t pfm_alpha_bucket(uint64_t start, uint64_t stride, uint64_t pc);

/** Entry of struct pfipls that counts an interrupt. */
unsigned int pfm_alpha_level_entry(int user, int idle, unsigned int ipl);

/* ---- interrupts ------------------------------------------------------------------------------ */

enum pfm_alpha_os { PFM_ALPHA_OS_UNIX, PFM_ALPHA_OS_VMS };

typedef struct {
	unsigned int counter;
	unsigned int ipl;    /* interrupt level at which it is delivered */
	const char *entry;   /* "entINT", or "" */
	unsigned int vector; /* offset of the vector: 0x650 */
} pfm_alpha_interrupt_t;

/**
 * Decodes the arguments of an interrupt handler. @regs holds a0, a1 and a2 of Digital UNIX, or R4
 * of OpenVMS.
 *
 * Returns PFMLIB_ERR_NOTFOUND if the interrupt does not belong to a counter, PFMLIB_ERR_INVAL if
 * @pmu does not have the counter. Since 1.0.
 */
pfm_err_t pfm_alpha_decode_interrupt(int pmu, int os, const uint64_t *regs,
                                     pfm_alpha_interrupt_t *out);

/* ---- ProfileMe ------------------------------------------------------------------------------- */

/** Name of statistic @n, 0 (none) to 43, in the header; NULL past the last. */
const char *pfm_alpha_statistic_name(unsigned int n);
/** Number of the statistic called @name, with or without the prefix PF67_PM_; -1 if it is unknown.
 */
int pfm_alpha_find_statistic(const char *name);
/** The statistic at its position in the argument of PCNTSETITEMS. No source documents the position.
 */
static inline uint64_t pfm_alpha_statistic_bits(unsigned int n)
{
	return (uint64_t)n << PFM_PM_STAT_SHIFT & PFM_PM_STAT_MASK;
}

/**
 * Computes a *_PER_RET statistic, as numerator and denominator, from the pair that the driver
 * returns.
 *
 * Returns PFMLIB_ERR_INVAL if the statistic is not a ratio, PFMLIB_ERR_NOTFOUND if no instruction
 * retired. Since 1.0.
 */
pfm_err_t pfm_alpha_ratio(unsigned int statistic, uint64_t count, uint64_t retired, uint64_t *num,
                          uint64_t *den);

/* Traps of a profiled instruction. */
enum pfm_alpha_trap {
	PFM_ALPHA_TRAP_REPLAY = 0,
	PFM_ALPHA_TRAP_DTB_DOUBLE3 = 2,
	PFM_ALPHA_TRAP_DTB_DOUBLE4 = 3,
	PFM_ALPHA_TRAP_FP_DISABLED = 4,
	PFM_ALPHA_TRAP_UNALIGNED = 5,
	PFM_ALPHA_TRAP_DTB_SINGLE = 6,
	PFM_ALPHA_TRAP_DSTREAM = 7,
	PFM_ALPHA_TRAP_OPCDEC = 8,
	PFM_ALPHA_TRAP_MACHINE_CHECK = 10,
	PFM_ALPHA_TRAP_ARITHMETIC = 12,
	PFM_ALPHA_TRAP_MT_FPCR = 14,
	PFM_ALPHA_TRAP_RESET = 15,
	PFM_ALPHA_TRAP_INVALID = -1,
	PFM_ALPHA_TRAP_NONE = -2
};

/* A sample of ProfileMe. */
typedef struct {
	uint64_t pc;        /* address of the profiled instruction; 0 if it is in EXC_ADDR */
	int pc_in_exc_addr; /* 1: the fetch was redirected and PMPC holds the handler's address */
	int pal;            /* 1: the instruction ran in PALmode */
	int trap;           /* PFM_ALPHA_TRAP_* */
	const char *trap_name; /* "" for none */
	unsigned int residue;  /* OVR: instructions fetched before the window opened; subtract it
	                          from a retired count */
	unsigned char icache_miss, icache_parity, load_store_order, trapped, mispredicted;
	unsigned char taken, valid, killed_early, stalled;
	unsigned char profileme; /* SL0 */
	unsigned int mode;       /* SL1 */
	uint64_t pctr0, pctr1;
	uint64_t statistics; /* statistics to increment: bit n for statistic n */
} pfm_alpha_sample_t;

/**
 * Decodes the three registers of a sample: @i_stat is the result of wrperfmon 8, @pmpc that of 9,
 * and @pctr_ctl that of 5.
 *
 * @i_stat and @pmpc are valid only after an interrupt of the window. Pass 0 for a value that is not
 * available.
 * Since 1.0.
 */
void pfm_alpha_decode_sample(uint64_t i_stat, uint64_t pmpc, uint64_t pctr_ctl,
                             pfm_alpha_sample_t *out);

/** Statistics that I_STAT, PMPC or PCTR_CTL implies: bit n is statistic n. */
uint64_t pfm_alpha_i_stat_statistics(uint64_t i_stat);
uint64_t pfm_alpha_pmpc_statistics(uint64_t pmpc);
uint64_t pfm_alpha_pctr_ctl_statistics(uint64_t pctr_ctl);

/* ---- Linux on Alpha (EV67 and later) --------------------------------------------------------- */

/**
 * Gives the driver's raw number for a perf_event_attr type and config, and the counter and mode
 * word of the event alone.
 *
 * Returns 0 or the negative errno of perf_event_open(2). The result pointers may be NULL.
 * Since 1.0.
 */
int pfm_alpha_linux_event(uint32_t type, uint64_t config, unsigned int *raw, unsigned int *counter,
                          uint64_t *mode);

/** Gives the counters and the mode word of two events in a group. -EINVAL if they cannot be counted
 * together. */
int pfm_alpha_linux_pair(const unsigned int raw[2], unsigned int counter[2], uint64_t *mode);

/** Gives the wrperfmon call with which the driver loads @counter so that it overflows after @period
 * events. */
pfm_err_t pfm_alpha_linux_write(unsigned int counter, uint64_t period, pfmlib_alpha_call_t *call);

/* ---- sessions on /dev/pfcntr ----------------------------------------------------------------- */

/**
 * An emulator of the counter device.
 *
 * Each operation replaces the system call of its name: its first argument is @arg, and it returns
 * the result of the system call, or -errno. Structures are those of <perfmon/pfcntr.h>, in the
 * memory of this process.
 */
typedef struct {
	size_t size;
	int pmu;         /* PFMLIB_ALPHA_*_PMU: the processor of the device */
	unsigned n_cpus; /* number of processors */
	uint64_t text_start,
		text_end; /* code to sample if the settings have no range; both 0: none */
	void *arg;
	int (*open)(void *arg, const char *path, int flags);
	long (*read)(void *arg, int fd, void *buf, size_t n);
	int (*ioctl)(void *arg, int fd, unsigned long request, void *argument);
	int (*close)(void *arg, int fd);
} pfm_alpha_device_t;

/** Backend options of pfm_open_session() for the backend "pfm_device". 0 in every member gives the
 * defaults. */
typedef struct {
	size_t size;
	const pfmlib_alpha_input_param_t
		*model;     /* settings; NULL: one sum over all processors, slowest rates */
	const char *device; /* path; NULL: /dev/pfcntr */
	const pfm_alpha_device_t
		*emulator; /* used instead of the system's device; must outlive the session */
	unsigned n_cpus;   /* processors; 0: one, or those of the emulator */
	int bind;          /* PFM_ALPHA_OPEN_ONE: the processor this process is bound to */
} pfm_alpha_session_t;

/** Number of entries of the results: processors with PFM_ALPHA_OPEN_EACH, otherwise 1. Negative for
 * sessions of another backend. */
int pfm_alpha_session_entries(const pfm_session_t *s);
/** Gives the count of event @i in entry @entry: events, not interrupts. */
int pfm_alpha_session_count(pfm_session_t *s, unsigned entry, unsigned i, uint64_t *value);
/** Gives the process cycles of an entry, as the device counts them. */
int pfm_alpha_session_cycles(pfm_session_t *s, unsigned entry, uint64_t *cycles);
/** Gives the interrupts at each level. PFMLIB_ERR_INVAL without PFM_IPL. */
int pfm_alpha_session_levels(pfm_session_t *s, unsigned entry, struct pfipls *out);
/** Gives the number of bytes of samples; 0 without PFM_PROFILING. */
int pfm_alpha_session_sample_bytes(pfm_session_t *s, uint64_t *bytes);
/** Reads the samples of all entries, one block of buckets after the other. Returns the number of
 * buckets, or a negative code. */
int pfm_alpha_session_samples(pfm_session_t *s, pfcntr_bucket_t *buckets, size_t n);
/** ProfileMe: gives the statistic and the retired instructions that the device returned.
 * PFMLIB_ERR_INVAL for sessions of another backend. */
int pfm_alpha_session_pair(pfm_session_t *s, unsigned entry, uint64_t *statistic,
                           uint64_t *retired);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
