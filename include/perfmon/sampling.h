/* SPDX-License-Identifier: MIT */
/* Sampling: a session opened with a pfm_sampling_t writes a record whenever an event has counted
 * another period. Functions return the records, oldest first, and report losses. The manual is
 * perfmon_sampling(7). */
#ifndef LIBPERFMON_SAMPLING_H
#define LIBPERFMON_SAMPLING_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Contents of a sample: bits of pfm_sampling_t.fields and pfm_record_t.has. */
typedef enum pfm_sample_field {
	PFM_SAMPLE_IP = 1,           /**< address of the instruction */
	PFM_SAMPLE_TID = 1 << 1,     /**< process and thread */
	PFM_SAMPLE_TIME = 1 << 2,    /**< nanoseconds of the session's clock */
	PFM_SAMPLE_ADDR = 1 << 3,    /**< data address */
	PFM_SAMPLE_READ = 1 << 4,    /**< the count itself */
	PFM_SAMPLE_CHAIN = 1 << 5,   /**< call chain */
	PFM_SAMPLE_ID = 1 << 6,      /**< id of the event */
	PFM_SAMPLE_CPU = 1 << 7,     /**< CPU it was taken on */
	PFM_SAMPLE_PERIOD = 1 << 8,  /**< number of events that the sample represents */
	PFM_SAMPLE_STREAM = 1 << 9,  /**< id of the event on this task */
	PFM_SAMPLE_RAW = 1 << 10,    /**< data of the tracepoint */
	PFM_SAMPLE_BRANCH = 1 << 11, /**< the last branches taken */
	PFM_SAMPLE_REGS = 1 << 12,   /**< user registers */
	PFM_SAMPLE_STACK = 1 << 13,  /**< a copy of the user stack */
	PFM_SAMPLE_WEIGHT = 1 << 14, /**< cost of the access, usually cycles */
	PFM_SAMPLE_SOURCE = 1 << 15, /**< where the data came from */
	PFM_SAMPLE_IDENTIFIER = 1 << 16,
	PFM_SAMPLE_TRANSACTION = 1 << 17,
	PFM_SAMPLE_INTR_REGS = 1 << 18, /**< registers at the interrupt */
	PFM_SAMPLE_PHYS_ADDR = 1 << 19,
	PFM_SAMPLE_AUX = 1 << 20,
	PFM_SAMPLE_CGROUP = 1 << 21,
	PFM_SAMPLE_DATA_PAGE = 1 << 22, /**< size of the page that holds the data */
	PFM_SAMPLE_CODE_PAGE = 1 << 23, /**< size of the page that holds the instruction */
	PFM_SAMPLE_WEIGHTS = 1 << 24    /**< weight as three numbers; excludes PFM_SAMPLE_WEIGHT */
} pfm_sample_field_t;

/* ---- options --------------------------------------------------------------------------------- */

/** Side-band records, which come beside samples: bits of pfm_sampling_t.records. */
typedef enum pfm_sideband {
	PFM_SIDEBAND_MAPS = 1,      /**< executable mappings */
	PFM_SIDEBAND_DATA_MAPS = 2, /**< other mappings */
	PFM_SIDEBAND_BUILD_ID = 4,  /**< mappings with build ids (Linux 5.12) */
	PFM_SIDEBAND_COMM = 8,      /**< names of tasks */
	PFM_SIDEBAND_TASKS = 16,    /**< tasks that start and end */
	PFM_SIDEBAND_SWITCHES = 32, /**< context switches */
	PFM_SIDEBAND_NAMESPACES = 64,
	PFM_SIDEBAND_KSYMBOLS = 128,
	PFM_SIDEBAND_BPF = 256,
	PFM_SIDEBAND_CGROUPS = 512,
	PFM_SIDEBAND_TEXT_POKE = 1024,
	PFM_SIDEBAND_USUAL = 29 /**< what symbols need: MAPS, BUILD_ID, COMM, TASKS */
} pfm_sideband_t;

/** Bits of pfm_sampling_t.flags. */
typedef enum pfm_sampling_flag {
	PFM_SAMPLING_LESS_PRECISE = 1, /**< lower the precision if the PMU cannot do better */
	PFM_SAMPLING_USER_CHAIN = 2,   /**< call chains of user code only */
	PFM_SAMPLING_CLOCK = 4,        /**< clock is set; otherwise it is CLOCK_MONOTONIC */
	PFM_SAMPLING_KERNEL_CHAIN = 8  /**< call chains of kernel code only */
} pfm_sampling_flag_t;

/** How a session samples: pfm_session_options_t.sampling. 0 in every member gives the defaults. */
struct pfm_sampling {
	size_t size;
	uint32_t flags;                /**< PFM_SAMPLING_* */
	uint64_t period;               /**< events per sample, unless the text sets it */
	uint64_t freq;                 /**< or samples per second, 0 for none; not both */
	uint64_t fields;               /**< PFM_SAMPLE_*; TIME, IDENTIFIER are implied; 0: IP, TID,
	                             TIME, CPU, PERIOD */
	uint32_t records;              /**< PFM_SIDEBAND_* */
	int32_t clock;                 /**< clock id of times; see PFM_SAMPLING_CLOCK */
	uint32_t pages;                /**< pages of each buffer, a power of two, within limits;
	                             0: 128 */
	uint32_t watermark;            /**< bytes that wake the reader; 0: a quarter of a buffer */
	uint32_t wakeup_events;        /**< samples that wake the reader, 0: use watermark */
	uint32_t max_stack;            /**< frames of a call chain; 0: the kernel's limit */
	uint64_t branch_filter;        /**< branch_sample_type; 0: all user branches */
	uint64_t user_regs, intr_regs; /**< masks of registers, as in perf_event_open(2) */
	uint32_t user_stack;           /**< bytes of stack to copy, a multiple of 8 */
	uint32_t precise;              /**< 0 to 3: precise_ip of events that do not set it */
};

/* ---- records --------------------------------------------------------------------------------- */

/** Types of records. A record of another type is passed on undecoded. */
typedef enum pfm_record_type {
	PFM_RECORD_MAP = 1,
	PFM_RECORD_LOST = 2,
	PFM_RECORD_COMM = 3,
	PFM_RECORD_EXIT = 4,
	PFM_RECORD_THROTTLE = 5,
	PFM_RECORD_UNTHROTTLE = 6,
	PFM_RECORD_FORK = 7,
	PFM_RECORD_READ = 8,
	PFM_RECORD_SAMPLE = 9,
	PFM_RECORD_MAP2 = 10,
	PFM_RECORD_AUX = 11,
	PFM_RECORD_ITRACE_START = 12,
	PFM_RECORD_LOST_SAMPLES = 13,
	PFM_RECORD_SWITCH = 14,
	PFM_RECORD_SWITCH_CPU = 15,
	PFM_RECORD_NAMESPACES = 16,
	PFM_RECORD_KSYMBOL = 17,
	PFM_RECORD_BPF = 18,
	PFM_RECORD_CGROUP = 19,
	PFM_RECORD_TEXT_POKE = 20,
	PFM_RECORD_AUX_ID = 21,
	PFM_RECORD_DEFERRED_CHAIN = 22 /**< user frames of earlier samples (Linux 6.19) */
} pfm_record_type_t;

/** Bits of pfm_record_t.misc. The lowest three are the mode of the processor. */
typedef enum pfm_record_misc {
	PFM_MISC_MODE = 7,
	PFM_MISC_KERNEL = 1,
	PFM_MISC_USER = 2,
	PFM_MISC_HYPERVISOR = 3,
	PFM_MISC_GUEST_KERNEL = 4,
	PFM_MISC_GUEST_USER = 5,
	PFM_MISC_DATA = 1 << 13,     /**< mappings: not executable */
	PFM_MISC_EXEC = 1 << 13,     /**< names: the task executed a program */
	PFM_MISC_OUT = 1 << 13,      /**< switches: the task leaves the CPU */
	PFM_MISC_EXACT = 1 << 14,    /**< samples: ip is the instruction that caused the event */
	PFM_MISC_BUILD_ID = 1 << 14, /**< mappings: has a build id */
	PFM_MISC_PREEMPTED = 1 << 14 /**< switches: the task was still runnable */
} pfm_record_misc_t;

/** Incomplete parts of a sample: bits of pfm_record_t.truncated. */
typedef enum pfm_truncated {
	PFM_TRUNCATED_CHAIN = 1, /**< the call chain has max_stack frames: callers may be missing */
	PFM_TRUNCATED_STACK = 2  /**< the copy of the stack is full: callers may be missing */
} pfm_truncated_t;

/* Markers in call chains: they are not addresses, but give the mode of the frames that follow. */
static const uint64_t PFM_CHAIN_HYPERVISOR = (uint64_t)-32;
static const uint64_t PFM_CHAIN_KERNEL = (uint64_t)-128;
static const uint64_t PFM_CHAIN_USER = (uint64_t)-512;
/** The next word is a cookie: the user frames are in the PFM_RECORD_DEFERRED_CHAIN with that cookie
 * and the thread of the sample. */
static const uint64_t PFM_CHAIN_DEFERRED = (uint64_t)-640;
/** The lowest marker: higher values are not addresses. */
static const uint64_t PFM_CHAIN_MARKER = (uint64_t)-4095;

/** pfm_record_t.event of a record that belongs to no event of the session. */
static const uint32_t PFM_NO_EVENT = (uint32_t)-1;

/** A branch: flags as in struct perf_branch_entry. */
typedef struct pfm_branch {
	uint64_t from, to, flags;
} pfm_branch_t;

/** Registers, in the order of the bits of the requested mask. Frozen: its size never changes. */
typedef struct pfm_regs {
	uint64_t abi; /**< 0: none, 1: 32-bit, 2: 64-bit */
	const uint64_t *values;
	uint32_t n;
} pfm_regs_t;

/** A sample. */
typedef struct pfm_sample {
	uint64_t ip, addr, period;
	const uint64_t *chain; /**< innermost frame first, with PFM_CHAIN_* markers */
	const uint64_t *read;  /**< words in the format read_format of perf_event_open(2) */
	const void *raw;
	const pfm_branch_t *branches; /**< newest first */
	uint32_t n_chain, n_read, raw_size, n_branches;
	uint64_t read_format;
	uint64_t branch_index; /**< the processor's index of the newest branch, or all ones */
	pfm_regs_t regs, intr_regs;
	const void *stack; /**< stack_size bytes, of which stack_used are valid */
	uint64_t stack_size, stack_used;
	uint64_t weight; /**< with PFM_SAMPLE_WEIGHTS the first 32 bits only */
	uint16_t weight2, weight3;
	uint64_t source, transaction, phys_addr, cgroup, data_page, code_page;
	const void *aux;
	uint64_t aux_size;
	uint64_t regs_mask, intr_regs_mask; /**< masks of the registers in regs, intr_regs */
	uint64_t branch_type;               /**< branch_sample_type of branches */
} pfm_sample_t;

/** A mapping (PFM_RECORD_MAP, PFM_RECORD_MAP2). */
typedef struct pfm_map {
	uint64_t start, length, offset;
	const char *name;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	const uint8_t *build_id;
	uint32_t build_id_size;
} pfm_map_t;

/** The name of a task (PFM_RECORD_COMM). */
typedef struct pfm_comm {
	const char *name;
} pfm_comm_t;

/** The parent of a task (PFM_RECORD_FORK, PFM_RECORD_EXIT). */
typedef struct pfm_parent {
	uint32_t ppid, ptid;
} pfm_parent_t;

/** Lost records (PFM_RECORD_LOST) or samples (PFM_RECORD_LOST_SAMPLES). */
typedef struct pfm_lost {
	uint64_t lost;
} pfm_lost_t;

/** Counts of a task that ended (PFM_RECORD_READ). */
typedef struct pfm_read_values {
	const uint64_t *words; /**< as format, a read_format of the kernel, describes them */
	uint64_t format;
	uint32_t n;
} pfm_read_values_t;

/** Data in the AUX area (PFM_RECORD_AUX). */
typedef struct pfm_aux {
	uint64_t offset, size, flags;
} pfm_aux_t;

/** The other task of a context switch (PFM_RECORD_SWITCH_CPU): the next or the previous one. */
typedef struct pfm_switch {
	uint32_t other_pid, other_tid;
} pfm_switch_t;

/** Namespaces of a task (PFM_RECORD_NAMESPACES). */
typedef struct pfm_namespaces {
	uint64_t n;
	const uint64_t *links; /**< n pairs of device and inode */
} pfm_namespaces_t;

/** A kernel symbol that was added or removed (PFM_RECORD_KSYMBOL). */
typedef struct pfm_ksymbol {
	uint64_t addr;
	uint32_t length;
	uint16_t type, flags;
	const char *name;
} pfm_ksymbol_t;

/** A BPF program that was loaded or unloaded (PFM_RECORD_BPF). */
typedef struct pfm_bpf {
	uint16_t type, flags;
	uint32_t id;
	const uint8_t *tag; /**< 8 bytes */
} pfm_bpf_t;

/** A control group (PFM_RECORD_CGROUP). */
typedef struct pfm_cgroup {
	uint64_t id;
	const char *path;
} pfm_cgroup_t;

/** A change of the kernel's code (PFM_RECORD_TEXT_POKE). */
typedef struct pfm_text_poke {
	uint64_t addr;
	uint16_t old_length, new_length;
	const uint8_t *bytes; /**< the old bytes, then the new ones */
} pfm_text_poke_t;

/** The hardware's id of an AUX event (PFM_RECORD_AUX_ID). */
typedef struct pfm_aux_id {
	uint64_t id;
} pfm_aux_id_t;

/** User frames of earlier samples of the thread (PFM_RECORD_DEFERRED_CHAIN). */
typedef struct pfm_deferred_chain {
	uint64_t cookie; /**< the word after PFM_CHAIN_DEFERRED in the chains of the samples */
	uint64_t n;
	const uint64_t *chain; /**< innermost frame first, with PFM_CHAIN_* markers */
} pfm_deferred_chain_t;

/** The part of a record that depends on its type. */
typedef union pfm_record_body {
	pfm_sample_t sample;
	pfm_map_t map;
	pfm_comm_t comm;
	pfm_parent_t task;
	pfm_lost_t lost;
	pfm_read_values_t read;
	pfm_aux_t aux;
	pfm_switch_t change;
	pfm_namespaces_t namespaces;
	pfm_ksymbol_t ksymbol;
	pfm_bpf_t bpf;
	pfm_cgroup_t cgroup;
	pfm_text_poke_t poke;
	pfm_aux_id_t aux_id;
	pfm_deferred_chain_t deferred;
} pfm_record_body_t;

/** A record. Its pointers point into the session's buffer and are valid until the next call that
 * takes records. Fields that @has does not contain, and members of other types of records, are 0.
 */
typedef struct pfm_record {
	size_t size;
	uint32_t type;  /**< PFM_RECORD_*, or a type that this library does not know */
	uint32_t misc;  /**< PFM_MISC_* */
	uint32_t event; /**< index of the count it belongs to, or PFM_NO_EVENT */
	uint64_t has;   /**< PFM_SAMPLE_*: fields that are present */
	uint64_t time, id, stream;
	uint32_t pid, tid;
	uint32_t cpu;
	uint32_t raw_size;  /**< bytes of the record as the kernel wrote it, at raw */
	const void *raw;    /**< the record as the kernel wrote it */
	uint32_t unparsed;  /**< bytes at its end that this library does not know */
	uint32_t truncated; /**< PFM_TRUNCATED_* */
	pfm_record_body_t body;
} pfm_record_t;

/* ---- reading --------------------------------------------------------------------------------- */

/** Results of pfm_wait_session(). */
typedef enum pfm_wait {
	PFM_WAIT_TIMEOUT, /**< no records within the timeout */
	PFM_WAIT_READY,   /**< there are records */
	PFM_WAIT_ENDED    /**< all sampled tasks have ended and all records were read */
} pfm_wait_t;

/** Waits until a buffer of @s reaches its watermark, a task ends, or @timeout milliseconds (-1: no
 * limit) have passed. Returns PFM_WAIT_*, or a negative code: PFMLIB_ERR_INVAL if @s does not
 * sample, PFMLIB_ERR_SYS if a system call fails. */
int pfm_wait_session(pfm_session_t *s, int timeout);

/** Takes the next record, the oldest of all buffers.
 * @record  as PFM_INIT or the previous call left it; only members that differ are written
 * With several buffers, a record is given one millisecond after its time, so that late records of
 * other buffers can come first; a stopped session gives everything.
 * Returns 1, 0 if no record is ready, or a negative code. */
int pfm_next_record(pfm_session_t *s, pfm_record_t *record);

/** Takes up to @n records, in the order of pfm_next_record(); about twice as fast per record.
 * @records  zeroed, or as previous calls left them; the size of the first one is taken for all
 * The records are valid until the next call; only then do the buffers reuse their space.
 * Returns the number of records, 0 for none now, or a negative code. If it is less than @n, more
 * records may follow. */
int pfm_next_records(pfm_session_t *s, pfm_record_t *records, unsigned n);

/** Takes the contents of one buffer, undecoded: whole records, except that the last one may
 * continue in the next piece of the same buffer, which then comes next.
 * @bytes, @len  the piece, valid until the next call
 * @buffer       the index of its buffer
 * Not to be mixed with pfm_next_record(). Returns 1, 0 when every buffer was visited once (the next
 * call starts again), or a negative code. */
int pfm_next_bytes(pfm_session_t *s, const void **bytes, size_t *len, unsigned *buffer);

/** Writes at most @n file descriptors, one per buffer, to @fds; poll(2) them for POLLIN. After
 * POLLHUP a task has ended: call pfm_wait_session(@s, 0), then this function again. Returns how
 * many there are. */
unsigned pfm_session_fds(const pfm_session_t *s, int *fds, unsigned n);

/** Sends signal @signo to the calling thread with each sample; 0 turns that off. */
int pfm_signal_session(pfm_session_t *s, int signo);

/* ---- statistics ------------------------------------------------------------------------------ */

/** pfm_sample_statistics_t.lost where the kernel does not count lost samples (before Linux 6.0). */
static const uint64_t PFM_LOST_UNKNOWN = (uint64_t)-1;

/** Samples of one event, with losses. */
typedef struct pfm_sample_statistics {
	size_t size;
	pfm_quality_t quality; /**< exact: every sample was given; partial: some are missing */
	pfm_cause_t cause;     /**< why samples are missing */
	uint32_t precise;      /**< precise_ip as granted */
	uint64_t samples;      /**< samples that were given */
	uint64_t exact;        /**< of those, with the exact address of the instruction */
	uint64_t weight;       /**< sum of their periods */
	uint64_t lost;         /**< dropped because a buffer was full, or PFM_LOST_UNKNOWN */
	uint64_t discarded;    /**< dropped by the processor, or outside the address ranges */
	uint64_t throttled;    /**< times that the kernel throttled it; counts are wrong then */
	uint64_t throttled_ns; /**< nanoseconds in which it was throttled */
	uint64_t count;        /**< the event's count */
	uint64_t period;       /**< sampling period, or 0 */
	uint64_t freq;         /**< sampling frequency in Hz, or 0 */
} pfm_sample_statistics_t;

/** Reports how many samples count @i has given and lost so far. The figures are consistent when the
 * session is stopped and all records are taken. PFMLIB_ERR_INVAL if @s does not sample or @i is out
 * of range. */
int pfm_sampling_statistics(pfm_session_t *s, unsigned i, pfm_sample_statistics_t *out);

/** The buffers of a session. */
typedef struct pfm_buffer_info {
	size_t size;
	uint32_t n;       /**< number of buffers; 0 for a recording */
	uint32_t pages;   /**< pages of each, as granted */
	uint32_t wanted;  /**< pages of each, as requested */
	uint64_t lost;    /**< records lost according to LOST records */
	uint64_t bytes;   /**< bytes read */
	uint32_t damaged; /**< buffers with corrupt records; 1: a truncated recording */
	uint32_t skipped; /**< records of unknown types left out of a recording */
} pfm_buffer_info_t;

/** Reports on the buffers of @s, or on the recording that @s reads. PFMLIB_ERR_INVAL if @s does not
 * sample. */
int pfm_buffer_statistics(const pfm_session_t *s, pfm_buffer_info_t *out);

/* ---- tracepoint fields ----------------------------------------------------------------------- */

/** Bits of pfm_trace_field_t.flags. */
typedef enum pfm_trace_flag {
	PFM_TRACE_SIGNED = 1,
	PFM_TRACE_ARRAY = 2,   /**< an array of type, or a string */
	PFM_TRACE_DYNAMIC = 4, /**< of variable length: offset leads to its position and length */
	PFM_TRACE_RELATIVE = 8 /**< dynamic, its position counted from the end of the field */
} pfm_trace_flag_t;

/** A field in a tracepoint's data (PFM_SAMPLE_RAW). */
typedef struct pfm_trace_field {
	size_t size;
	const char *name, *type; /**< "fd", "unsigned int" */
	uint32_t offset, length; /**< in bytes */
	uint32_t flags;          /**< PFM_TRACE_* */
	uint32_t reserved;
} pfm_trace_field_t;

/** Describes field @k of the tracepoint that count @i samples, from the kernel's description or the
 * recording's. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_NOTSUPP if the count is not a
 * tracepoint or has no description. */
int pfm_describe_trace_field(pfm_session_t *s, unsigned i, unsigned k, pfm_trace_field_t *out);

/** Describes the field called @name; otherwise like pfm_describe_trace_field(). */
int pfm_find_trace_field(pfm_session_t *s, unsigned i, const char *name, pfm_trace_field_t *out);

/** Reads @field of the sample @r.
 * @value   receives a number of up to 8 bytes, sign-extended and in this machine's byte order; 0
 *          for other fields
 * @bytes, @length  receive its place in the sample
 * Each of the three may be NULL. PFMLIB_ERR_NOTFOUND if the sample does not have the field. */
int pfm_read_trace_field(const pfm_session_t *s, const pfm_record_t *r,
                         const pfm_trace_field_t *field, uint64_t *value, const void **bytes,
                         uint32_t *length);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
