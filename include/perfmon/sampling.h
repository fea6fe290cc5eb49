/* SPDX-License-Identifier: MIT */
/* Sampling: what a session hands out beside its counts. A session that was opened with a pfm_sampling_t writes a record each time
 * an event has counted another period; records are pulled one by one, oldest first, and what was lost on the way is told.
 * See perfmon_sampling(7).
 */
#ifndef PERFMON_SAMPLING_H
#define PERFMON_SAMPLING_H

#include <perfmon/perfmon.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** What a sample holds: pfm_sampling_t.fields and pfm_record_t.has. */
enum {
	PFM_SAMPLE_IP = 1,           /**< address of the instruction */
	PFM_SAMPLE_TID = 1 << 1,     /**< process and thread */
	PFM_SAMPLE_TIME = 1 << 2,    /**< nanoseconds of the session's clock */
	PFM_SAMPLE_ADDR = 1 << 3,    /**< data address */
	PFM_SAMPLE_READ = 1 << 4,    /**< the count itself */
	PFM_SAMPLE_CHAIN = 1 << 5,   /**< call chain */
	PFM_SAMPLE_ID = 1 << 6,      /**< id of the event */
	PFM_SAMPLE_CPU = 1 << 7,     /**< CPU it was taken on */
	PFM_SAMPLE_PERIOD = 1 << 8,  /**< what the sample stands for */
	PFM_SAMPLE_STREAM = 1 << 9,  /**< id of the event on this task */
	PFM_SAMPLE_RAW = 1 << 10,    /**< the tracepoint's own bytes */
	PFM_SAMPLE_BRANCH = 1 << 11, /**< the last branches taken */
	PFM_SAMPLE_REGS = 1 << 12,   /**< user registers */
	PFM_SAMPLE_STACK = 1 << 13,  /**< a copy of the user stack */
	PFM_SAMPLE_WEIGHT = 1 << 14, /**< what the access cost */
	PFM_SAMPLE_SOURCE = 1 << 15, /**< where the data came from */
	PFM_SAMPLE_IDENTIFIER = 1 << 16,
	PFM_SAMPLE_TRANSACTION = 1 << 17,
	PFM_SAMPLE_INTR_REGS = 1 << 18, /**< registers at the interrupt */
	PFM_SAMPLE_PHYS_ADDR = 1 << 19,
	PFM_SAMPLE_AUX = 1 << 20,
	PFM_SAMPLE_CGROUP = 1 << 21,
	PFM_SAMPLE_DATA_PAGE = 1 << 22, /**< size of the page the data is in */
	PFM_SAMPLE_CODE_PAGE = 1 << 23,
	PFM_SAMPLE_WEIGHTS = 1 << 24 /**< weight as three numbers; not together with PFM_SAMPLE_WEIGHT */
};

/* ---- what is asked ---------------------------------------------------------------------------------------------- */

/** Records beside samples: pfm_sampling_t.records. */
enum {
	PFM_SIDE_MAPS = 1,      /**< executable mappings, as they come */
	PFM_SIDE_DATA_MAPS = 2, /**< the others as well */
	PFM_SIDE_BUILD_ID = 4,  /**< mappings with build ids, where the kernel (5.12) can */
	PFM_SIDE_COMM = 8,      /**< names of tasks */
	PFM_SIDE_TASKS = 16,    /**< tasks that come and go */
	PFM_SIDE_SWITCHES = 32, /**< context switches */
	PFM_SIDE_NAMESPACES = 64,
	PFM_SIDE_KSYMBOLS = 128,
	PFM_SIDE_BPF = 256,
	PFM_SIDE_CGROUPS = 512,
	PFM_SIDE_TEXT_POKE = 1024,
	PFM_SIDE_USUAL = 29 /**< what names addresses and tasks: MAPS, BUILD_ID, COMM, TASKS */
};

/** pfm_sampling_t.flags */
enum {
	PFM_SAMPLING_LESS_PRECISE = 1, /**< an event may be less precise than asked for, if the PMU cannot do better */
	PFM_SAMPLING_USER_CHAIN = 2,   /**< call chains of user code only */
	PFM_SAMPLING_CLOCK = 4         /**< clock is given; else it is CLOCK_MONOTONIC */
};

/** How a session samples: pfm_session_options_t.sampling. Zero is the usual in every member. */
struct pfm_sampling {
	size_t size;
	uint32_t flags;                /**< PFM_SAMPLING_* */
	uint64_t period;               /**< a sample each time an event has counted so much, unless its text has another ("cycles:period=9") */
	uint64_t freq;                 /**< or so many samples a second, the kernel choosing periods; not both */
	uint64_t fields;               /**< PFM_SAMPLE_*; 0: IP, TID, TIME, CPU, PERIOD. TIME and IDENTIFIER are always there */
	uint32_t records;              /**< PFM_SIDE_* */
	int32_t clock;                 /**< clock id of times; see PFM_SAMPLING_CLOCK */
	uint32_t pages;                /**< of each buffer, a power of two; 0: 128. Fewer are taken where the limit is lower */
	uint32_t watermark;            /**< bytes in a buffer that wake a waiting reader; 0: a quarter of it */
	uint32_t wakeup_events;        /**< or samples, if not 0 */
	uint32_t max_stack;            /**< frames of a call chain; 0: the kernel's limit */
	uint64_t branch_filter;        /**< branch_sample_type of perf_event_open(2); 0: every branch in user code */
	uint64_t user_regs, intr_regs; /**< masks of registers */
	uint32_t user_stack;           /**< bytes, a multiple of 8 */
	uint32_t precise;              /**< 0..3 for events whose text does not say */
};

/* ---- what comes ------------------------------------------------------------------------------------------------- */

/** Types of records. A record of another type is handed on whole, undecoded. */
enum {
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
	PFM_RECORD_AUX_ID = 21
};

/** Bits of pfm_record_t.misc. The lowest three say where the processor was. */
enum {
	PFM_MISC_MODE = 7,
	PFM_MISC_KERNEL = 1,
	PFM_MISC_USER = 2,
	PFM_MISC_HYPERVISOR = 3,
	PFM_MISC_GUEST_KERNEL = 4,
	PFM_MISC_GUEST_USER = 5,
	PFM_MISC_DATA = 1 << 13,     /**< maps: not executable */
	PFM_MISC_EXEC = 1 << 13,     /**< names: the task has started a program */
	PFM_MISC_OUT = 1 << 13,      /**< switches: the task leaves its CPU */
	PFM_MISC_EXACT = 1 << 14,    /**< samples: ip is the very instruction */
	PFM_MISC_BUILD_ID = 1 << 14, /**< maps: with a build id */
	PFM_MISC_PREEMPTED = 1 << 14 /**< switches: it would have gone on */
};

/** What a sample holds only a part of: pfm_record_t.cut. */
enum {
	PFM_CUT_CHAIN = 1, /**< the call chain has all the frames it may have: those who called may be missing */
	PFM_CUT_STACK = 2  /**< the copy of the stack is full: what is further up may be missing */
};

/** In a call chain: what follows is in the kernel, in user space ... Not an address; nor is anything above it. */
#define PFM_CHAIN_HYPERVISOR ((uint64_t)-32)
#define PFM_CHAIN_KERNEL     ((uint64_t)-128)
#define PFM_CHAIN_USER       ((uint64_t)-512)
#define PFM_CHAIN_MARKER     ((uint64_t)-4095) /**< this and above: a marker */

/** The record belongs to no event of the session. */
#define PFM_NO_EVENT ((uint32_t)-1)

typedef struct pfm_branch {
	uint64_t from, to, flags;
} pfm_branch_t;

/** Registers: abi 0 none, 1 32-bit, 2 64-bit; the values in the order of the bits that were asked for. */
typedef struct pfm_regs {
	uint64_t abi;
	const uint64_t *values;
	uint32_t n;
} pfm_regs_t;

typedef struct pfm_sample {
	uint64_t ip, addr, period;
	const uint64_t *chain;
	const uint64_t *read; /**< read_format says what each word is */
	const void *raw;
	const pfm_branch_t *branches;
	uint32_t n_chain, n_read, raw_size, n_branches;
	uint64_t read_format;
	uint64_t branch_index; /**< the processor's own number of the newest branch, or all ones */
	pfm_regs_t regs, intr_regs;
	const void *stack; /**< stack_size bytes were copied, of which stack_used are valid */
	uint64_t stack_size, stack_used;
	uint64_t weight; /**< the first 32 bits alone with PFM_SAMPLE_WEIGHTS */
	uint16_t weight2, weight3;
	uint64_t source, transaction, phys_addr, cgroup, data_page, code_page;
	const void *aux;
	uint64_t aux_size;
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

/** One record. Pointers lead into the session's buffer and are valid until the next call. What @has does not name, and what
 * belongs to another type of record, is zero. */
typedef struct pfm_record {
	size_t size;
	uint32_t type;  /**< PFM_RECORD_* */
	uint32_t misc;  /**< PFM_MISC_* */
	uint32_t event; /**< number of the count it belongs to, or PFM_NO_EVENT */
	uint64_t has;   /**< PFM_SAMPLE_*: which of the fields are there */
	uint64_t time, id, stream;
	uint32_t pid, tid;
	uint32_t cpu;
	uint32_t raw_size; /**< bytes of the record as the kernel wrote it, at */
	const void *raw;
	uint32_t unread; /**< bytes at its end that this library does not know */
	uint32_t cut;    /**< PFM_CUT_* */
	__extension__ union {
		pfm_sample_t sample;
		pfm_map_t map;
		struct {
			const char *name;
		} comm;
		struct {
			uint32_t ppid, ptid;
		} task; /**< PFM_RECORD_FORK, PFM_RECORD_EXIT */
		struct {
			uint64_t lost; /**< records, or samples (PFM_RECORD_LOST_SAMPLES) */
		} lost;
		struct {
			const uint64_t *words;
			uint64_t format;
			uint32_t n;
		} read;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct {
			uint32_t other_pid, other_tid; /**< PFM_RECORD_SWITCH_CPU: who comes next, or was before */
		} change;
		struct {
			uint64_t n;
			const uint64_t *links; /**< n pairs of device and inode */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t length;
			uint16_t type, flags;
			const char *name;
		} ksymbol;
		struct {
			uint16_t type, flags;
			uint32_t id;
			const uint8_t *tag;
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			uint16_t old_length, new_length;
			const uint8_t *bytes; /**< old, then new */
		} poke;
		struct {
			uint64_t id;
		} aux_id;
	};
} pfm_record_t;

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/** What pfm_wait_session() says. */
enum { PFM_WAIT_TIMEOUT,
       PFM_WAIT_READY,
       PFM_WAIT_ENDED /**< every task that was sampled has ended: what is still there can be read, no more comes */ };

/** Waits until a buffer of @s has filled to its watermark, a task has ended, or @timeout milliseconds (-1: any time) have gone.
 * Returns PFM_WAIT_*, or a negative code. PFM_WAIT_READY: there are records, be it below the watermark. */
int pfm_wait_session(pfm_session_t *s, int timeout);
/** Takes the next record, the oldest of all buffers. Returns 1, 0 if there is none now, or a negative code. With several buffers, a
 * record is handed out one millisecond after its time, so that a buffer that is late can still be first; a stopped session
 * gives everything. @record is as PFM_INIT or the call before has left it: of a sample like the one in it, only what differs is
 * written. */
int pfm_next_record(pfm_session_t *s, pfm_record_t *record);
/** Takes up to @n records at once, in the same order; each costs about half of what it does alone. The size of the first of @records stands
 * for all; else they are as zeroed or as calls before have left them. What is in them is valid until the next call, and only then do
 * the buffers have that room again. Returns how many there are, 0 for none now, or a negative code; fewer than @n do not mean that they
 * were the last. */
int pfm_next_records(pfm_session_t *s, pfm_record_t *records, unsigned n);
/** Takes the bytes that one buffer holds, undecoded, as they lie in memory: whole records, save that the last may go on in the next
 * piece of the same buffer, which comes next. *@buffer is the number of the buffer. Valid until the next call. Returns 1, 0 when
 * every buffer has been looked at once (the next call begins anew), or a negative code. Not to be mixed with pfm_next_record(). */
int pfm_next_bytes(pfm_session_t *s, const void **bytes, size_t *len, unsigned *buffer);
/** Descriptors to poll(2) for POLLIN, one for each buffer, into @fds, at most @n. Returns how many there are. A POLLHUP says that a task
 * has ended; call pfm_wait_session(@s, 0) then, and ask for the descriptors anew. */
unsigned pfm_session_fds(const pfm_session_t *s, int *fds, unsigned n);
/** Sends signal @signo to the calling thread with each sample; 0: no longer. */
int pfm_session_signal(pfm_session_t *s, int signo);

/** What became of the samples of one event. */
typedef struct pfm_sample_count {
	size_t size;
	int32_t quality;    /**< pfm_quality_t: exact if every sample was handed out, partial if some are missing */
	int32_t cause;      /**< pfm_cause_t */
	uint32_t precise;   /**< as granted */
	uint64_t samples;   /**< handed out */
	uint64_t exact;     /**< of those, with the very address of the instruction */
	uint64_t weight;    /**< sum of their periods */
	uint64_t lost;      /**< dropped because a buffer was full; PFM_LOST_UNKNOWN before Linux 6.0 */
	uint64_t discarded; /**< dropped by the processor; of /dev/pfcntr: taken outside of the addresses that are profiled */
	uint64_t throttled; /**< times that the kernel stopped it for coming too often; counts are wrong then */
	uint64_t throttled_ns;
	uint64_t count;  /**< the event's count */
	uint64_t period; /**< one of these two is set */
	uint64_t freq;
} pfm_sample_count_t;

#define PFM_LOST_UNKNOWN ((uint64_t)-1)

/** Samples of count @i so far. Stop the session and take all records first for figures that fit together. */
int pfm_read_samples(pfm_session_t *s, unsigned i, pfm_sample_count_t *out);

typedef struct pfm_buffers {
	size_t size;
	uint32_t n;       /**< how many */
	uint32_t pages;   /**< of each, as granted */
	uint32_t wanted;  /**< as asked for */
	uint64_t lost;    /**< records that LOST records told of; more may be told by pfm_read_samples() */
	uint64_t bytes;   /**< read */
	uint32_t damaged; /**< buffers given up because what they held was no record; a recording: 1 if it breaks off before its end */
	uint32_t skipped; /**< records of a recording left out, of types that only a newer library knows */
} pfm_buffers_t;

/** The buffers of @s; or what a recording that is read told of itself so far, with @n 0. */
int pfm_read_buffers(const pfm_session_t *s, pfm_buffers_t *out);

/* ---- fields of tracepoints ------------------------------------------------------------------------------------------------ */

/** pfm_trace_field_t.flags */
enum {
	PFM_TRACE_SIGNED = 1,
	PFM_TRACE_ARRAY = 2,   /**< several of @type, or a string */
	PFM_TRACE_DYNAMIC = 4, /**< of a length that differs: what lies at @offset says where it is */
	PFM_TRACE_RELATIVE = 8 /**< ... counted from its own end */
};

/** A field in the own bytes of a tracepoint's samples (PFM_SAMPLE_RAW). Strings belong to the session. */
typedef struct pfm_trace_field {
	size_t size;
	const char *name, *type; /**< "fd", "unsigned int" */
	uint32_t offset, length; /**< in bytes */
	uint32_t flags;          /**< PFM_TRACE_* */
	uint32_t reserved;
} pfm_trace_field_t;

/** Field number @k of the tracepoint that count @i samples, by the kernel's description of it, or by the recording's. Returns
 * PFMLIB_ERR_NOTFOUND behind the last, PFMLIB_ERR_NOTSUPP if it is no tracepoint or is not described. */
int pfm_describe_trace_field(pfm_session_t *s, unsigned i, unsigned k, pfm_trace_field_t *out);
/** The same by name. */
int pfm_find_trace_field(pfm_session_t *s, unsigned i, const char *name, pfm_trace_field_t *out);
/** What a field holds in the sample @r: *@value, for a number of up to 8 bytes, with its sign, whatever byte order it was recorded in; 0
 * for others. *@bytes and *@length: as it lies there. Each may be NULL. PFMLIB_ERR_NOTFOUND if the sample does not have it. */
int pfm_read_trace_field(const pfm_session_t *s, const pfm_record_t *r, const pfm_trace_field_t *field, uint64_t *value, const void **bytes,
                         uint32_t *length);

/* ---- recordings ------------------------------------------------------------------------------------------------- */

typedef struct pfm_recording pfm_recording_t;

/** Begins a recording of @s in the file @path, which is overwritten: perf.data, as perf-record(1) writes it. @command: the command line to
 * note in it, its arguments separated by newlines, or NULL. What the tasks were called and had mapped before is noted at once:
 * start the session first, so that nothing is missed. @s must outlive the recording. */
int pfm_open_recording(pfm_recording_t **out, const char *path, pfm_session_t *s, const char *command, pfm_error_t *error);
/** Writes what follows compressed by zstd, with @level 1 (fast) to 22 (small). Before the first pfm_write_records().
 * PFMLIB_ERR_NOTSUPP if the machine has no libzstd: the recording goes on without. Readers other than ours need the recording's end as
 * well: of one whose writer was killed they unpack nothing. */
int pfm_compress_recording(pfm_recording_t *r, int level);
/** Moves what the buffers hold to the file. From then on the file is readable up to there, whatever happens. *@size (may be NULL) is the
 * size of the file. Do not take records of the session otherwise. */
int pfm_write_records(pfm_recording_t *r, uint64_t *size);
/** Writes the rest, and what is known of the machine. The recording is released, also on failure. NULL is allowed. */
int pfm_close_recording(pfm_recording_t *r);
/** Opens the recording @path, ours or perf-record(1)'s of whatever machine, compressed or not, as a session:
 * pfm_next_record() gives its records, sorted by time; its events are described like counts, and have no counts. */
int pfm_read_recording(pfm_session_t **out, const char *path, pfm_error_t *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
