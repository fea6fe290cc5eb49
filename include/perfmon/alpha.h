/* SPDX-License-Identifier: MIT */
/* Alpha processors, EV4 to EV79: what only they have.
 *
 * Five kinds of counter unit: EV4 (21064 family, two counters that cannot be read), EV5 (21164,
 * three counters), PCA56 (21164PC, the same with other cache events), EV6 (21264, two counters) and
 * EV67 (21264A and everything later: two counters that share one mode, and ProfileMe, which follows
 * single instructions through the pipeline).
 *
 * Settings go to pfm_dispatch_events() as pfmlib_alpha_input_param_t. Its output holds the words
 * for the PALcode call wrperfmon, pfmlib_alpha_output_param_t the requests for the Tru64 device
 * /dev/pfcntr (pfcntr.h) and the registers as they are when counting has just begun. Sessions on
 * that device take a pfm_alpha_session_t as their backend options.
 *
 * Control registers in the generic output: number 8 is the word that selects events, 9 the rates
 * (EV5, PCA56), 10 the modes (EV5, PCA56, when they are asked for), 11 the counters to start, with
 * their values where they have any. reg_value is the argument of wrperfmon, reg_addr its function,
 * reg_alt_addr the device request that has the same effect. Data registers 0 to 2 are the counters;
 * reg_addr is the function that reads them. In pfp_unavail_pmcs, 0 to 2 stand for the counters as
 * well.
 *
 * The processors cannot tell privilege levels apart for one counter and not for another, so the
 * default levels of a set (pfp_dfl_plm) have no effect here. Levels that an event names, or
 * pfp_alpha_modes, restrict the whole set on EV5 and PCA56, and are refused on the others, which
 * count everything.
 *
 * Processor types are PFMLIB_ALPHA_*_PMU. Functions without an event index need no selected PMU and
 * keep no state. Zero a structure before filling it. */
#ifndef PERFMON_ALPHA_H
#define PERFMON_ALPHA_H

#include <perfmon/perfmon.h>
#include <perfmon/pfcntr.h>
#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define PFM_ALPHA_MAX_COUNTERS 3
#define PFM_ALPHA_MAX_RANGES   5 /* one, and four more in caller mode */
#define PFM_ALPHA_MAX_IOCTLS   24
#define PFM_ALPHA_MAX_CALLS    8

/* Control registers of the generic output. */
enum { PFM_ALPHA_PMC_SELECT = 8, PFM_ALPHA_PMC_RATES, PFM_ALPHA_PMC_MODES, PFM_ALPHA_PMC_START };

/* ---- settings -------------------------------------------------------------------------------- */

/* Whose events are counted. */
enum { PFM_ALPHA_SCOPE_SYSTEM, PFM_ALPHA_SCOPE_PROCESS };

/* Which processors' counters are opened. */
enum { PFM_ALPHA_OPEN_ALL, PFM_ALPHA_OPEN_EACH, PFM_ALPHA_OPEN_ONE };

/* Modes of the processor, as the chip calls them. On Digital UNIX user code runs in executive mode.
 * The chip can count all of kernel, executive and supervisor together or none of them, executive
 * and supervisor alone, and user and PAL at will. */
enum {
	PFM_ALPHA_MODE_KERNEL = 1,
	PFM_ALPHA_MODE_EXEC = 2,
	PFM_ALPHA_MODE_SUPER = 4,
	PFM_ALPHA_MODE_USER = 8,
	PFM_ALPHA_MODE_PAL = 16,
	PFM_ALPHA_MODE_ALL = 31
};

/* pfp_alpha_flags */
enum {
	PFM_ALPHA_FL_CTXT =
		1, /* EV5, PCA56: take the word in pfp_alpha_ctxt, with PF5_CTXT_* bits, as it is */
	PFM_ALPHA_FL_KERNEL = 2, /* pfp_alpha_ranges are kernel addresses */
	PFM_ALPHA_FL_CALLER =
		4, /* charge samples in ranges 1 to 4 to their callers; kernel addresses only */
	PFM_ALPHA_FL_STRIDE = 8, /* take pfp_alpha_stride; else the device keeps 4 */
	PFM_ALPHA_FL_KEEP = 16,  /* start the counters from the values they have (EV5 and later) */
	PFM_ALPHA_FL_GETCNT = 32 /* EV6 and later: read interrupt counts, not events */
};

typedef struct {
	uint64_t start, end; /* end: first address behind it */
} pfmlib_alpha_range_t;

typedef struct {
	uint64_t pfp_alpha_rates[PFM_ALPHA_MAX_COUNTERS];   /* events between interrupts; 0: the
	                                                       slowest the counter has */
	uint64_t pfp_alpha_periods[PFM_ALPHA_MAX_COUNTERS]; /* EV6 and later: any number to 2^20
	                                                       events instead; 0: none */
	unsigned int pfp_alpha_flags;
	unsigned int pfp_alpha_scope; /* PFM_ALPHA_SCOPE_* */
	unsigned int pfp_alpha_open;  /* PFM_ALPHA_OPEN_* */
	unsigned int pfp_alpha_modes; /* PFM_ALPHA_MODE_*, EV5 and PCA56; 0: not restricted */
	unsigned int pfp_alpha_items; /* PFM_COUNTERS, PFM_IPL, PFM_PROFILING; 0: PFM_COUNTERS */
	unsigned int pfp_alpha_statistic; /* PF67_PM_*, EV67, when the event is a counting mode of
	                                     ProfileMe; else 0 */
	unsigned int pfp_alpha_n_ranges;
	unsigned int reserved1;
	uint64_t pfp_alpha_ctxt;
	uint64_t pfp_alpha_stride; /* instructions in a bucket, a power of two, or 0 for one bucket
	                            */
	pfmlib_alpha_range_t pfp_alpha_ranges[PFM_ALPHA_MAX_RANGES];
	uint64_t reserved[8];
} pfmlib_alpha_input_param_t;

/* ---- results --------------------------------------------------------------------------------- */

/* A call of wrperfmon: a0 and a1. */
typedef struct {
	unsigned int function;
	unsigned int reserved;
	uint64_t argument;
} pfmlib_alpha_call_t;

/* When a device request belongs. */
enum { PFM_ALPHA_SETUP, PFM_ALPHA_START, PFM_ALPHA_STOP, PFM_ALPHA_READ };

/* A device request. Readings have no words: they take the address of a pointer to an array. */
typedef struct {
	const char *name; /* as pfcntr.h has it */
	uint32_t request;
	unsigned int when; /* PFM_ALPHA_SETUP ... */
	unsigned int n_words;
	unsigned int reserved;
	uint64_t words[4];
} pfmlib_alpha_ioctl_t;

typedef struct {
	unsigned int open_flags; /* PCNTOPEN*, to be ORed into those of open(2) */
	unsigned int counters;   /* bit n: counter n is used */
	unsigned int privileged; /* 1: the rates need superuser privilege */
	unsigned int n_ioctls;
	unsigned int n_calls;
	unsigned int statistic;                 /* ProfileMe, 0 for none */
	uint64_t rates[PFM_ALPHA_MAX_COUNTERS]; /* events between interrupts in effect; 0 where not
	                                           used */
	uint64_t iccsr;                         /* EV4: as the chip gets it */
	uint64_t pmctr;                         /* EV5, PCA56: just after start */
	uint64_t cbox;     /* EV5: BC_CTL 24:19; PCA56: the two 3-bit selects, counter 2's high */
	uint64_t pctr_ctl; /* EV6 and later: as written at start */
	uint64_t i_ctl;    /* EV6 and later: the enables of both counters, bits 18 and 19 */
	pfmlib_alpha_ioctl_t
		ioctls[PFM_ALPHA_MAX_IOCTLS]; /* in order, from after open to before close */
	pfmlib_alpha_call_t
		calls[PFM_ALPHA_MAX_CALLS]; /* wrperfmon: selection, rates, modes, start, stop */
	uint64_t reserved[8];
} pfmlib_alpha_output_param_t;

/* ---- about events ---------------------------------------------------------------------------- */

/* Kinds of events. */
enum {
	PFM_ALPHA_EVENT,     /* counts on its own */
	PFM_ALPHA_AGGREGATE, /* EV67: counts in a mode that fixes what the other counter counts */
	PFM_ALPHA_PAIR,      /* EV67: such a mode by name; takes both counters */
	PFM_ALPHA_PROFILEME, /* EV67: a statistic of profiled instructions */
	PFM_ALPHA_RATIO,     /* EV67: such a statistic over retired instructions */
	PFM_ALPHA_PM_MODE    /* EV67: counting mode of the window of a profiled instruction */
};

/* How a count can differ from the number of events it is named after. */
enum {
	PFM_ALPHA_UNC_NAME = 1, /* the event's name is made from a constant; no source prints it */
	PFM_ALPHA_UNC_HEADER_ONLY = 2,    /* in the system's header, not in its manual page */
	PFM_ALPHA_UNC_PIN = 4,            /* an input pin: depends on the board */
	PFM_ALPHA_UNC_DISPUTED = 8,       /* sources disagree on what is counted */
	PFM_ALPHA_UNC_COST = 16,          /* cycles lost, not occurrences */
	PFM_ALPHA_UNC_REPLAYED = 32,      /* replayed instructions count again */
	PFM_ALPHA_UNC_OVER = 64,          /* more than its name says */
	PFM_ALPHA_UNC_NOT_BUILT = 128,    /* the hardware counts something else */
	PFM_ALPHA_UNC_TWICE = 256,        /* two counts for each event */
	PFM_ALPHA_UNC_RETIRED = 512,      /* retired instructions, off by up to 4 either way */
	PFM_ALPHA_UNC_EARLY = 1024,       /* backup cache misses, seen 3 cycles early */
	PFM_ALPHA_UNC_LATE = 2048,        /* replay traps, window moved 1 cycle later */
	PFM_ALPHA_UNC_WINDOW = 4096,      /* a lower bound, at most the window less 2 cycles */
	PFM_ALPHA_UNC_APPROXIMATE = 8192, /* the manual page calls it approximate */
	PFM_ALPHA_UNC_CBR =
		16384, /* means something for conditional branches only, if predicted rightly */
	PFM_ALPHA_UNC_PROBES = 32768 /* probes by other processors that take long count too */
};

typedef struct {
	int kind;               /* PFM_ALPHA_EVENT ... */
	unsigned int statistic; /* PF67_PM_*, or 0 */
	int pm_mode;            /* counting mode a statistic needs, -1 for any or none */
	unsigned int weight_num, weight_den; /* events = count * weight_num / weight_den */
	int half_units; /* 1: single-issue cycles add half a count (EV4 issues and nonissues) */
	unsigned int counters;    /* bit n: counter n can count it */
	unsigned int uncertainty; /* PFM_ALPHA_UNC_* */
	int error_counts; /* a count can be off by so many either way, 0 if nothing is known */
	int shift_cycles; /* the window counted is earlier (negative) or later by so many cycles */
	int window_less;  /* the count is at most the window less so many cycles, 0 if unbounded */
	int linux_raw;    /* number of the Linux driver, 0 if it has none */
	const char *constant; /* header constant, the first if there are several; "" for none */
	const char *formula;  /* ProfileMe: what increments it, or how the ratio is computed; "" for
	                         none */
	const char *note;     /* a remark, "" for none */
} pfm_alpha_event_info_t;

/**
 * All of the above about event @idx of @pmu, a PFMLIB_ALPHA_*_PMU (pfm_get_pmu_type() gives the
 * selected one). Texts are constant.
 *
 * Returns PFMLIB_ERR_NOTSUPP for a type that is no Alpha, PFMLIB_ERR_INVAL for an index beyond its
 * table.  Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_info(int pmu, unsigned int idx, pfm_alpha_event_info_t *info);

/* Single facts, for those who want one. 0 for events that do not exist. */
int pfm_alpha_is_profileme(
	int pmu, unsigned int idx); /* a statistic, a ratio or a counting mode of ProfileMe */
int pfm_alpha_is_ratio(int pmu, unsigned int idx);
int pfm_alpha_is_pair(int pmu, unsigned int idx);

/**
 * Select value (and select in the cache box, 0 if it has none) of an event on @counter.
 *
 * Returns PFMLIB_ERR_INVAL if that counter cannot count it.  Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_select(int pmu, unsigned int idx, unsigned int counter,
                                     unsigned int *select, unsigned int *cbox);

/** Header constant of an event on @counter, "" if it has none.  Since 1.0. */
pfm_err_t pfm_alpha_get_event_constant(int pmu, unsigned int idx, unsigned int counter,
                                       const char **constant);

/**
 * Event number @n (from 0) that can be measured beside event @idx, each on a counter of its own.
 *
 * Returns PFMLIB_ERR_NOTFOUND past the last.  Since 1.0.
 */
pfm_err_t pfm_alpha_get_event_partner(int pmu, unsigned int idx, unsigned int n,
                                      unsigned int *partner);

/* ---- words ----------------------------------------------------------------------------------- */

/** Number of counters, and bits of one; 0 for a type that is no Alpha or a counter it does not
 * have. */
unsigned int pfm_alpha_num_counters(int pmu);
unsigned int pfm_alpha_counter_width(int pmu, unsigned int counter);

/** Interrupt rate number @n of a counter, slowest first; 0 past the last. EV6 and later have one
 * and start values. */
uint64_t pfm_alpha_rate(int pmu, unsigned int counter, unsigned int n);

/**
 * Rates of the counters in @counters to the bits of ICCSR (EV4) or to the word for PCNT5FREQ (EV5,
 * PCA56).
 *
 * Counters that are not in @counters get the slow rate. EV6 and later have no such word: 0, if the
 * rate is 2^20. Returns PFMLIB_ERR_INVAL for a rate the counter does not have.  Since 1.0.
 */
pfm_err_t pfm_alpha_rate_word(int pmu, const uint64_t *rates, unsigned int counters, uint64_t *word,
                              int *privileged);

/** The driver's reading of a PCNT5FREQ word: the argument of wrperfmon 4, and whether it asks for
 * privilege. */
void pfm_alpha_driver_rates(uint64_t word, uint64_t *a1, int *privileged);

/** CTL fields, in place in PMCTR, of the counters in @counters once they are started with rates
 * @a1. */
uint64_t pfm_alpha_pmctr_ctl(uint64_t a1, unsigned int counters);

/**
 * Counter word: @select counters of processor @cpu (PMCTRS_ALL_CPUS for all) with @values.
 *
 * Returns PFMLIB_ERR_NOTSUPP for EV4, PFMLIB_ERR_INVAL for a value that does not fit.  Since 1.0.
 */
pfm_err_t pfm_alpha_counter_word(int pmu, unsigned int select, unsigned int cpu,
                                 const uint64_t *values, uint64_t *word);

/** The other way. Any result pointer may be NULL. */
pfm_err_t pfm_alpha_split_counter_word(int pmu, uint64_t word, unsigned int *select,
                                       unsigned int *cpu, uint64_t *values);

/** Value from which a counter of @width bits overflows after @period events, 1 to 2^width;
 * PFMLIB_ERR_INVAL for others. */
pfm_err_t pfm_alpha_start_value(unsigned int width, uint64_t period, uint64_t *value);

/**
 * Word for PCNT5CTXTS that counts in @modes and no others; @scope adds the mark of this process.
 *
 * Returns PFMLIB_ERR_NOTSUPP for modes the chip cannot tell apart.  Since 1.0.
 */
pfm_err_t pfm_alpha_mode_word(unsigned int modes, unsigned int scope, uint64_t *word);

/** The other way: the modes counted, whether only marked processes are, and whether the caller is
 * marked. */
unsigned int pfm_alpha_word_modes(uint64_t word, int *select, int *marks);

/** Argument of wrperfmon for what a device word asks. PFMLIB_ERR_NOTSUPP for requests without one
 * argument of their own. */
pfm_err_t pfm_alpha_device_call(int pmu, uint32_t request, uint64_t word,
                                pfmlib_alpha_call_t *call);

/** ICCSR, PMCTR or PCTR_CTL mode word of ProfileMe counting mode @mode, 0 to 3. */
pfm_err_t pfm_alpha_pm_mode_word(unsigned int mode, uint64_t *word);

/* A device request by name or number. */
typedef struct {
	const char *name;
	uint32_t request;
	unsigned int families; /* bit 0 EV4, 1 EV5 and PCA56, 2 EV6 and EV67 */
} pfm_alpha_request_t;

/** Request number @i (from 0), or the one called @name. Returns PFMLIB_ERR_NOTFOUND past the last,
 * or for no such name. */
pfm_err_t pfm_alpha_request(unsigned int i, pfm_alpha_request_t *out);
pfm_err_t pfm_alpha_find_request(const char *name, pfm_alpha_request_t *out);

/** Masks that the system's header names ("PF5_WRITE_KMASK" ...). PFMLIB_ERR_NOTFOUND for others. */
pfm_err_t pfm_alpha_mask(const char *name, uint64_t *value);

/* ---- counts ---------------------------------------------------------------------------------- */

/** Events behind @interrupts at @rate. */
static inline uint64_t pfm_alpha_events(uint64_t interrupts, uint64_t rate)
{
	return interrupts * rate;
}

/** Events behind @interrupts of a full counter of @width bits that now has @raw in it. */
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
 * Bytes of samples that read(2) delivers for the range [@start, @end).
 *
 * Returns PFMLIB_ERR_INVAL for an empty range or a stride that is not 0 or a power of two.
 * Since 1.0.
 */
pfm_err_t pfm_alpha_sample_bytes(uint64_t start, uint64_t end, uint64_t stride, unsigned int open,
                                 unsigned int n_cpus, uint64_t *bytes);

/** Bucket that collects @pc, in a range that begins at @start. */
uint64_t pfm_alpha_bucket(uint64_t start, uint64_t stride, uint64_t pc);

/** Entry of struct pfipls that an interrupt is counted in. */
unsigned int pfm_alpha_level_entry(int user, int idle, unsigned int ipl);

/* ---- interrupts ------------------------------------------------------------------------------ */

enum { PFM_ALPHA_OS_UNIX, PFM_ALPHA_OS_VMS };

typedef struct {
	unsigned int counter;
	unsigned int ipl;    /* at which it is delivered */
	const char *entry;   /* "entINT", or "" */
	unsigned int vector; /* offset of the vector: 0x650 */
} pfm_alpha_interrupt_t;

/**
 * Decodes the arguments of an interrupt handler. Digital UNIX: @regs are a0, a1, a2; OpenVMS: R4
 * alone.
 *
 * Returns PFMLIB_ERR_NOTFOUND for another interrupt than a counter's, PFMLIB_ERR_INVAL for a
 * counter @pmu does not have.  Since 1.0.
 */
pfm_err_t pfm_alpha_decode_interrupt(int pmu, int os, const uint64_t *regs,
                                     pfm_alpha_interrupt_t *out);

/* ---- ProfileMe ------------------------------------------------------------------------------- */

/** Header name of statistic @n, 0 (off) to 43; NULL past the last. */
const char *pfm_alpha_statistic_name(unsigned int n);
/** Number of the statistic of that name, with or without its PF67_PM_ prefix; -1 for none. */
int pfm_alpha_find_statistic(const char *name);
/** The statistic in place beside the items of PCNTSETITEMS. How a program passes it in is not
 * documented. */
static inline uint64_t pfm_alpha_statistic_bits(unsigned int n)
{
	return (uint64_t)n << PFM_PM_STAT_SHIFT & PFM_PM_STAT_MASK;
}

/**
 * A *_PER_RET statistic from the pair that the driver returns: numerator and denominator.
 *
 * Returns PFMLIB_ERR_INVAL for a statistic other than a ratio, PFMLIB_ERR_NOTFOUND when nothing
 * retired.  Since 1.0.
 */
pfm_err_t pfm_alpha_ratio(unsigned int statistic, uint64_t count, uint64_t retired, uint64_t *num,
                          uint64_t *den);

/* How a profiled instruction was trapped. */
enum {
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
	uint64_t pc;        /* of the profiled instruction; 0 if it is in EXC_ADDR */
	int pc_in_exc_addr; /* 1: the fetch was redirected and PMPC holds the handler's address */
	int pal;            /* in PALmode */
	int trap;           /* PFM_ALPHA_TRAP_* */
	const char *trap_name; /* "" for none */
	unsigned int residue;  /* OVR: instructions fetched before the window opened; take off a
	                          retired count */
	unsigned char icache_miss, icache_parity, load_store_order, trapped, mispredicted;
	unsigned char taken, valid, killed_early, stalled;
	unsigned char profileme; /* SL0 */
	unsigned int mode;       /* SL1 */
	uint64_t pctr0, pctr1;
	uint64_t statistics; /* bit n: statistic n is to be incremented */
} pfm_alpha_sample_t;

/**
 * Decodes the three registers of a sample. @i_stat is what wrperfmon 8 returned, @pmpc what 9
 * returned, @pctr_ctl what 5 returned.
 *
 * The first two mean something after an interrupt of the window only; pass 0 for those not at hand.
 * Since 1.0.
 */
void pfm_alpha_decode_sample(uint64_t i_stat, uint64_t pmpc, uint64_t pctr_ctl,
                             pfm_alpha_sample_t *out);

/** Statistics that I_STAT, PMPC or PCTR_CTL alone says to increment: bit n is statistic n. */
uint64_t pfm_alpha_i_stat_statistics(uint64_t i_stat);
uint64_t pfm_alpha_pmpc_statistics(uint64_t pmpc);
uint64_t pfm_alpha_pctr_ctl_statistics(uint64_t pctr_ctl);

/* ---- Linux on Alpha (EV67 and later) --------------------------------------------------------- */

/**
 * The driver's raw number for a perf_event_attr type and config, and where it counts alone: counter
 * and mode word.
 *
 * Returns 0 or the negative errno of perf_event_open(2). The result pointers may be NULL.
 * Since 1.0.
 */
int pfm_alpha_linux_event(uint32_t type, uint64_t config, unsigned int *raw, unsigned int *counter,
                          uint64_t *mode);

/** Converts two events of a group: -EINVAL when they do not fit together. */
int pfm_alpha_linux_pair(const unsigned int raw[2], unsigned int counter[2], uint64_t *mode);

/** The wrperfmon call with which the driver loads @counter so that it overflows after @period
 * events. */
pfm_err_t pfm_alpha_linux_write(unsigned int counter, uint64_t period, pfmlib_alpha_call_t *call);

/* ---- sessions on /dev/pfcntr ----------------------------------------------------------------- */

/**
 * A counter device that is not the system's: an emulator's.
 *
 * The operations stand for the system calls of their names: each returns what the call returns, or
 * -errno, and gets @arg first. Structures are those of <perfmon/pfcntr.h>, in this process's
 * memory.
 */
typedef struct {
	size_t size;
	int pmu;         /* PFMLIB_ALPHA_*_PMU: the processor whose device it is */
	unsigned n_cpus; /* processors it has */
	uint64_t text_start,
		text_end; /* code to sample when the settings name no range; both 0: none */
	void *arg;
	int (*open)(void *arg, const char *path, int flags);
	long (*read)(void *arg, int fd, void *buf, size_t n);
	int (*ioctl)(void *arg, int fd, unsigned long request, void *argument);
	int (*close)(void *arg, int fd);
} pfm_alpha_device_t;

/** Backend options of pfm_open_session() for the backend "pfm_device". All may be left 0. */
typedef struct {
	size_t size;
	const pfmlib_alpha_input_param_t
		*model;     /* settings; NULL: one sum over all processors, slowest rates */
	const char *device; /* path; NULL: /dev/pfcntr */
	const pfm_alpha_device_t
		*emulator; /* used instead of the system's; lives as long as the session */
	unsigned n_cpus;   /* processors; 0: one, or those of the emulator */
	int bind;          /* PFM_ALPHA_OPEN_ONE: the processor this process is bound to */
} pfm_alpha_session_t;

/** Number of entries that results come in: processors under PFM_ALPHA_OPEN_EACH, else 1. Negative
 * for other sessions. */
int pfm_alpha_session_entries(const pfm_session_t *s);
/** Count of event @i in entry @entry: events, not interrupts. */
int pfm_alpha_session_count(pfm_session_t *s, unsigned entry, unsigned i, uint64_t *value);
/** Process cycles of an entry, as the device gives them. */
int pfm_alpha_session_cycles(pfm_session_t *s, unsigned entry, uint64_t *cycles);
/** Interrupts by level. PFMLIB_ERR_INVAL without PFM_IPL. */
int pfm_alpha_session_levels(pfm_session_t *s, unsigned entry, struct pfipls *out);
/** Bytes of samples to be had; 0 without PFM_PROFILING. */
int pfm_alpha_session_sample_bytes(pfm_session_t *s, uint64_t *bytes);
/** Samples of all entries, one block of buckets after the other. Returns the number of buckets, or
 * a negative code. */
int pfm_alpha_session_samples(pfm_session_t *s, pfcntr_bucket_t *buckets, size_t n);
/** ProfileMe: the statistic and the retired count that the device returned. PFMLIB_ERR_INVAL for
 * other sessions. */
int pfm_alpha_session_pair(pfm_session_t *s, unsigned entry, uint64_t *statistic,
                           uint64_t *retired);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
