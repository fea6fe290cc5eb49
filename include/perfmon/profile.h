/* SPDX-License-Identifier: MIT */
/* Profiles: the samples of a recording or of a session, added up by stack and by function, and the
 * names of addresses. These functions are in a library of their own, libperfmon-profile (pkg-config
 * perfmon-profile), because they read files of programs and load libdw where it is installed.
 *
 *     pfm_profile_t *profile;
 *     pfm_function_t f = PFM_INIT(f);
 *
 *     if (pfm_open_profile(&profile, "perf.data", NULL, NULL) == PFMLIB_SUCCESS)
 *             for (unsigned i = 0; pfm_describe_function(profile, 0, i, &f) == PFMLIB_SUCCESS; i++)
 *                     printf("%6.2f%% %s\n", 100 * f.self_share, f.function);
 *     pfm_close_profile(profile);
 *
 * A profile, and the names found by a pfm_symbols_t, may be used by one thread at a time; threads
 * with profiles of their own do not affect each other. The library writes nothing to standard
 * output or standard error: pfm_get_profile_message() gives what a user should know.
 *
 * C++ symbols with many references are demangled in a child process, which is waited for.
 * Debug files are fetched from servers only if DEBUGINFOD_URLS is set.
 *
 * The manual is pfm_open_profile(3).
 */
#ifndef LIBPERFMON_PROFILE_H
#define LIBPERFMON_PROFILE_H

#include <perfmon/sampling.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- profiles -------------------------------------------------------------------------------- */

/** A profile. Opaque. Strings that its functions return live as long as it does, unless their
 * description says otherwise. */
typedef struct pfm_profile pfm_profile_t;

/** Bits of pfm_profile_options_t.flags. */
typedef enum pfm_profile_flag {
	/** only the function of each sampled instruction: call chains are neither read nor unwound
	 */
	PFM_PROFILE_INNERMOST = 1,
	PFM_PROFILE_NO_LINES = 2 /**< no inlined functions and no source lines; takes less time */
} pfm_profile_flag_t;

/** Labels that keep stacks apart: bits of pfm_profile_options_t.labels. Names of tasks and events
 * always do. */
typedef enum pfm_profile_label {
	PFM_LABEL_THREAD = 1, /**< process and thread number */
	PFM_LABEL_CPU = 2,
	PFM_LABEL_CGROUP = 4 /**< path of the control group; needs samples with PFM_SAMPLE_CGROUP */
} pfm_profile_label_t;

/** How samples are added up. 0 in every member gives the defaults: every sample. The strings are
 * copied. */
typedef struct pfm_profile_options {
	size_t size;
	uint32_t flags;  /**< PFM_PROFILE_* */
	uint32_t labels; /**< PFM_LABEL_* */
	const char *
		event; /**< pattern of fnmatch(3) of events, with or without modifiers; NULL: all */
	const char *task;   /**< pattern of names of tasks; NULL: all */
	const char *symbol; /**< pattern of the function of the sampled instruction; NULL: all */
	double from, to;    /**< seconds from the first sample; to 0: until the end */
	const char *debug_folder; /**< separate debug files; NULL: /usr/lib/debug */
} pfm_profile_options_t;

/** Reads the recording @path, made by this library or perf-record(1).
 * @out      receives the profile, NULL on failure; release it with pfm_close_profile()
 * @options  NULL for the defaults
 * @error    filled on failure; may be NULL
 * The call succeeds if the recording breaks off or lost samples; see pfm_profile_info_t.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL    an argument is invalid, or the file is not a perf.data file, or corrupt
 *   PFMLIB_ERR_NOTSUPP  compressed, and libzstd is missing
 *   PFMLIB_ERR_NOMEM    out of memory
 *   PFMLIB_ERR_SYS      the file cannot be read; see error->sys_errno */
int pfm_open_profile(pfm_profile_t **out, const char *path, const pfm_profile_options_t *options,
                     pfm_error_t *error);

/** Creates an empty profile of tasks that run, which pfm_add_profile_record() fills.
 * @session  samples the tasks, with PFM_SIDEBAND_USUAL; it must outlive the last call of
 *           pfm_add_profile_record()
 * Mappings and names that are older than the session come from /proc. Otherwise like
 * pfm_open_profile(); PFMLIB_ERR_INVAL if @session is NULL. */
int pfm_create_profile(pfm_profile_t **out, pfm_session_t *session,
                       const pfm_profile_options_t *options, pfm_error_t *error);

/** Adds @record, which pfm_next_record() returned, to a profile of pfm_create_profile(). Records of
 * every type are wanted, in the order in which the session returns them.
 * PFMLIB_ERR_INVAL for another profile, PFMLIB_ERR_NOMEM. */
int pfm_add_profile_record(pfm_profile_t *profile, const pfm_record_t *record);

/** Removes all samples from a profile of pfm_create_profile() and keeps what is known of its tasks:
 * for views of the last seconds. PFMLIB_ERR_INVAL for another profile. */
int pfm_clear_profile(pfm_profile_t *profile);

/** Releases the profile. NULL is allowed. */
void pfm_close_profile(pfm_profile_t *profile);

/** The samples of a profile, and those that are missing. */
typedef struct pfm_profile_info {
	size_t size;
	unsigned n_events;
	unsigned n_stacks;              /**< pfm_describe_stack() */
	int is_complete;                /**< 1: nothing was lost; the next five members are 0 */
	int is_damaged;                 /**< 1: the recording breaks off before its end */
	uint64_t lost_records;          /**< dropped because a buffer was full */
	uint64_t lost_samples;          /**< dropped by events; they may be among lost_records */
	uint64_t throttled;             /**< times that the kernel throttled sampling */
	uint64_t samples_without_event; /**< left out, because their event is unknown */
	int has_stacks;                 /**< 1: samples have call chains */
	uint64_t first_time, last_time; /**< nanoseconds, of samples; 0: they have no times */
} pfm_profile_info_t;

/** Describes @profile. PFMLIB_ERR_INVAL, or PFMLIB_ERR_NOMEM. */
int pfm_describe_profile(pfm_profile_t *profile, pfm_profile_info_t *info);

/** An event of a profile. */
typedef struct pfm_profile_event {
	size_t size;
	const char *name;
	const char *unit;     /**< of weights: "nanoseconds" or "count" */
	uint64_t samples;     /**< number of samples that were added up */
	uint64_t weight;      /**< sum of their periods: events, or nanoseconds */
	unsigned n_functions; /**< pfm_describe_function() */
	unsigned reserved;    /**< 0 */
} pfm_profile_event_t;

/** Describes event @event, from 0. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_NOMEM. */
int pfm_describe_profile_event(pfm_profile_t *profile, unsigned event, pfm_profile_event_t *info);

/** Returns message @i about the profile, such as names that are missing and how to get them, a
 * sentence without its full stop. NULL past the last. */
const char *pfm_get_profile_message(const pfm_profile_t *profile, unsigned i);

/* ---- functions ------------------------------------------------------------------------------- */

/** Bits of flags of functions, stacks and frames. */
typedef enum pfm_frame_flag {
	PFM_FRAME_INLINED = 1, /**< compiled into the frame after it */
	PFM_FRAME_KERNEL = 2,  /**< code of the kernel */
	PFM_FRAME_CUT_OFF = 4, /**< not a function: callers that are missing from the call chain */
	PFM_FRAME_UNNAMED = 8  /**< function is the address in its file, in hexadecimal */
} pfm_frame_flag_t;

/** A function and the samples of one event in it. "children": in the function or in what it called,
 * each sample once, also where the function calls itself. */
typedef struct pfm_function {
	size_t size;
	const char *function; /**< C++ and Rust names demangled */
	const char *object;   /**< path of the file, or "[kernel]", "[JIT]", "[unknown]" ... */
	const char *build_id; /**< of the file, hexadecimal; "" if unknown */
	uint32_t flags;       /**< PFM_FRAME_* */
	uint32_t reserved;    /**< 0 */
	uint64_t self_samples, self_weight;
	uint64_t children_samples, children_weight;
	double self_share, children_share; /**< of the weight of the event, 0 to 1 */
	double self_error, children_error; /**< standard errors of the shares */
} pfm_function_t;

/** Describes function @i of event @event. Functions are sorted by their own weight, heaviest first.
 * PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_NOMEM. */
int pfm_describe_function(pfm_profile_t *profile, unsigned event, unsigned i,
                          pfm_function_t *function);

/* ---- stacks ---------------------------------------------------------------------------------- */

/** A stack and the samples of one event with that stack and these labels. */
typedef struct pfm_stack {
	size_t size;
	unsigned event;
	unsigned n_frames;  /**< pfm_describe_frame() */
	const char *task;   /**< name of the thread */
	uint32_t pid, tid;  /**< 0 without PFM_LABEL_THREAD */
	int32_t cpu;        /**< -1 without PFM_LABEL_CPU, or unknown */
	uint32_t flags;     /**< PFM_FRAME_CUT_OFF: callers are missing */
	const char *cgroup; /**< "" without PFM_LABEL_CGROUP */
	uint64_t samples, weight;
} pfm_stack_t;

/** Describes stack @i, in no particular order. PFMLIB_ERR_NOTFOUND past the last,
 * PFMLIB_ERR_NOMEM. */
int pfm_describe_stack(pfm_profile_t *profile, unsigned i, pfm_stack_t *stack);

/** A frame of a stack. */
typedef struct pfm_frame {
	size_t size;
	const char *function;
	const char *object;
	const char *build_id; /**< "" if unknown */
	const char *source;   /**< "file:line" of the instruction; "" if unknown, and where another
	                           function is inlined */
	uint32_t flags;       /**< PFM_FRAME_* */
	uint32_t reserved;    /**< 0 */
} pfm_frame_t;

/** Describes frame @i of stack @stack, the innermost first. PFMLIB_ERR_NOTFOUND past the last,
 * PFMLIB_ERR_NOMEM. */
int pfm_describe_frame(pfm_profile_t *profile, unsigned stack, unsigned i, pfm_frame_t *frame);

/* ---- text and picture ------------------------------------------------------------------------ */

/** Writes the stacks of event @event as folded stacks: "task;outer;inner WEIGHT", a line for each,
 * heaviest first, then a comment about losses, as pfm export -f folded does.
 * @text    receives the text, which is valid until the next call with @profile
 * @length  receives its length in bytes; may be NULL
 * PFMLIB_ERR_NOTFOUND if @event is out of range, PFMLIB_ERR_NOMEM. */
int pfm_fold_profile(pfm_profile_t *profile, unsigned event, const char **text, size_t *length);

/** Draws the flame graph of event @event: an SVG image with a script that zooms into a box.
 * @title  text above the graph; NULL: the name of the event
 * Otherwise like pfm_fold_profile(). */
int pfm_draw_flame_graph(pfm_profile_t *profile, unsigned event, const char *title,
                         const char **svg, size_t *length);

/* ---- symbols --------------------------------------------------------------------------------- */

/** Symbols of files, processes and the kernel, read as they are needed. Opaque. Strings live as
 * long as it does. */
typedef struct pfm_symbols pfm_symbols_t;

/** Opens an empty set of symbols; release it with pfm_close_symbols().
 * @debug_folder  separate debug files; NULL: /usr/lib/debug
 * PFMLIB_ERR_INVAL if @out is NULL, PFMLIB_ERR_NOMEM. */
int pfm_open_symbols(pfm_symbols_t **out, const char *debug_folder);

/** Releases the symbols. NULL is allowed. */
void pfm_close_symbols(pfm_symbols_t *symbols);

/** The function at an address. */
typedef struct pfm_symbol {
	size_t size;
	const char *function; /**< C++ and Rust names demangled */
	const char *object;   /**< path of the file, "[kernel]" or "[JIT]" */
	const char
		*inlined;   /**< functions inlined at the address, the outermost first, separated by
	                         ';'; "" for none */
	const char *source; /**< "file:line"; "" if unknown */
	const char *build_id; /**< hexadecimal; "" if unknown */
	uint64_t start, end;  /**< of the function, in addresses of the file; 0 if unknown */
	uint64_t address;     /**< of the instruction, in addresses of the file; 0 if unknown */
} pfm_symbol_t;

/** Finds the function at @address of process @pid, which must run: in the file that is mapped
 * there, the vdso, or code that the process compiled. Return addresses are after the call:
 * subtract 1. PFMLIB_ERR_NOTFOUND if nothing is mapped there or it has no name (then out->object is
 * the file, else ""), PFMLIB_ERR_INVAL, PFMLIB_ERR_NOMEM. */
int pfm_find_symbol(pfm_symbols_t *symbols, int pid, uint64_t address, pfm_symbol_t *out);

/** Finds the function at @offset bytes in the file @path: for mappings, address - start + offset of
 * the mapping. Otherwise like pfm_find_symbol(). */
int pfm_find_file_symbol(pfm_symbols_t *symbols, const char *path, uint64_t offset,
                         pfm_symbol_t *out);

/** Finds the function of the running kernel at @address. PFMLIB_ERR_NOTFOUND also if
 * /proc/kallsyms hides addresses (kernel.kptr_restrict). */
int pfm_find_kernel_symbol(pfm_symbols_t *symbols, uint64_t address, pfm_symbol_t *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
