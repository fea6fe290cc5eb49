/* SPDX-License-Identifier: MIT */
/* Contexts, PMUs and errors.
 *
 * A context is a set of PMUs (performance monitoring units): those built into the library, those
 * loaded from image files, and those that the running kernel exports. pfm_open_context() makes one;
 * it never changes afterwards, and any number of threads may use it at once. Functions that take a
 * const pfm_ctx_t * accept NULL for the default context, which is opened when first needed.
 *
 * Structs whose first member is `size`: the caller sets it to sizeof the struct (PFM_INIT() does),
 * or to 0 for the size that the struct has in version 1.0, as bindings without this macro do. The
 * library writes no member beyond that size and takes members that the caller does not have as 0,
 * so programs and libraries of different versions work together. All structs of an array have one
 * size. Options with an unknown flag, or with a member that only a later version has and that is
 * not 0, are refused (PFMLIB_ERR_INVAL). Structs without a size are frozen: their size never
 * changes. Enumerations are open: later versions add values, so a program handles values that it
 * does not know.
 *
 * Functions return PFMLIB_SUCCESS (0) or a negative PFMLIB_ERR_* code unless their comment says
 * otherwise. Results are unchanged on failure. Strings that a function returns belong to the
 * context, plan or session and live as long as it does.
 */
#ifndef LIBPERFMON_CONTEXT_H
#define LIBPERFMON_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Initialiser of a struct that starts with its size: pfm_encoding_t e = PFM_INIT(e); */
#ifdef __cplusplus
extern "C++" {
/** The value of PFM_INIT() in C++, which has no designated initialisers before C++20. */
template <typename T> inline T perfmon_init_of()
{
	T all_zero = T();

	all_zero.size = sizeof(T);
	return all_zero;
}
}
#define PFM_INIT(VAR) perfmon_init_of<decltype(VAR)>()
#else
#define PFM_INIT(VAR)                                                                              \
	{                                                                                          \
		.size = sizeof(VAR)                                                                \
	}
#endif

/** Version of this header. */
#define PFM_VERSION       "1.0.0"
#define PFM_VERSION_MAJOR 1
#define PFM_VERSION_MINOR 0
#define PFM_VERSION_PATCH 0

/** Returns the version of the library that runs, such as "1.0.0", and its numbers in @major, @minor
 * and @patch, each of which may be NULL. It differs from that of the header if another version was
 * installed after the program was compiled. The string is constant. Thread-safe. */
const char *pfm_version(unsigned *major, unsigned *minor, unsigned *patch);

/** A context: which PMUs exist. Opaque. */
typedef struct pfm_ctx pfm_ctx_t;

/* ---- errors ---------------------------------------------------------------------------------- */

/** The problem with a text, in more detail than the error code. pfm_error_kind_name() gives the
 * quoted words, which never change. */
typedef enum pfm_error_kind {
	PFM_KIND_NONE,
	PFM_KIND_UNKNOWN_EVENT,         /**< "unknown_event" */
	PFM_KIND_UNSUPPORTED_ALIAS,     /**< "unsupported_alias": no such generic event */
	PFM_KIND_UNKNOWN_QUALIFIER,     /**< "unknown_qualifier": unit mask, modifier or field */
	PFM_KIND_EMPTY_QUALIFIER,       /**< "empty_qualifier": nothing between separators */
	PFM_KIND_UNEXPECTED_VALUE,      /**< "unexpected_value": the qualifier takes no value */
	PFM_KIND_MISSING_VALUE,         /**< "missing_value" */
	PFM_KIND_BAD_VALUE,             /**< "bad_value": not a number, or out of range */
	PFM_KIND_QUALIFIER_NOT_ALLOWED, /**< "qualifier_not_allowed": not allowed for this event */
	PFM_KIND_MISSING_UMASK,         /**< "missing_umask": the event has no default unit mask */
	PFM_KIND_CONFLICT,              /**< "conflict": parts of the text contradict */
	PFM_KIND_UNKNOWN_PMU,           /**< "unknown_pmu" */
	PFM_KIND_AMBIGUOUS,             /**< "ambiguous": several PMUs have the event; name one */
	PFM_KIND_SYNTAX,                /**< "syntax" */
	PFM_KIND_NOT_ON_CPU,            /**< "not_on_cpu": CPUID reports the event as missing */
	PFM_KIND_NO_PLACEMENT,          /**< "no_placement": the set does not fit; see clash */
	PFM_KIND_TOO_MANY,              /**< "too_many" */
	PFM_KIND_UNEXPRESSIBLE,         /**< "unexpressible": the dialect cannot express it */
	PFM_KIND_SYSTEM,                /**< "system": a system call failed; see sys_errno */
	PFM_KIND_IMAGE,                 /**< "image": a corrupt, foreign or untrusted file */
	PFM_KIND_MODEL,                 /**< "model": a processor-specific setting; see detail */
	PFM_KIND_ALONE                  /**< "alone": the event must be counted alone; see clash */
} pfm_error_kind_t;

#define PFM_MAX_CLASH 64

/** Where and why a call failed. pfm_explain_error() turns it into a sentence. */
typedef struct pfm_error {
	size_t size;
	int code;                /**< PFMLIB_ERR_*, 0 for no error */
	pfm_error_kind_t kind;   /**< PFM_KIND_NONE where the code says everything */
	uint32_t start, end;     /**< bytes of the text with the error; start == end: a position */
	int event;               /**< index of the event of a set, or -1 */
	int sys_errno;           /**< errno of the failed system call, 0 for none */
	uint64_t clash_counters; /**< all counters that the events of clash can use */
	const char *detail;      /**< a phrase, or NULL; lives as long as the context */
	uint64_t number;         /**< the limit or value that detail mentions */
	uint32_t n_clash;        /**< number of events in clash; 0 for other errors */
	/** Indices, ascending, of a smallest set of events that do not fit together. */
	uint16_t clash[PFM_MAX_CLASH];
} pfm_error_t;

/** Phrase for result code @code: constant, never NULL, also for codes that do not exist. */
const char *pfm_result_text(int code);

/** Returns the stable word of @kind; "" for PFM_KIND_NONE and unknown values. Thread-safe. */
const char *pfm_error_kind_name(pfm_error_kind_t kind);

/** Writes one sentence about @error to @buf.
 * @text   the text that the failed call was given, or NULL
 * @buf    always terminated; truncated at @len bytes
 * Returns the length of the complete sentence. Thread-safe. */
size_t pfm_explain_error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                         char *buf, size_t len);

/** Finds names close to the token that @error points at in @text, best first.
 * @names  receives at most @n names (8 at most) of up to 95 bytes each, terminated
 * Returns the number of names. Searches whole tables: not for hot paths. Thread-safe. */
size_t pfm_suggest_names(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                         char (*names)[96], size_t n);

/* ---- contexts -------------------------------------------------------------------------------- */

/** Bits of pfm_ctx_options_t.flags. */
typedef enum pfm_ctx_flag {
	PFM_CTX_NO_HOST = 1,  /**< ignore this machine: every event must name its PMU */
	PFM_CTX_NO_IMAGES = 2 /**< do not search for image files */
} pfm_ctx_flag_t;

/** How much a message matters; smaller values matter more. */
typedef enum pfm_log_level {
	PFM_LOG_NONE = 0,    /**< no message */
	PFM_LOG_WARNING = 1, /**< something was ignored: an image file that cannot be used */
	PFM_LOG_INFO = 2,    /**< a choice that changes results: the table of another processor */
	PFM_LOG_DEBUG = 3    /**< each step: tables that were tried, answers of the kernel */
} pfm_log_level_t;

/** Receives a message of the library.
 * @data     pfm_ctx_options_t.log_data
 * @topic    "image", "machine", "lookup" or "session"; later versions may add topics
 * @message  one line without a newline, cut at 1,000 bytes; valid during the call
 * Threads that use the context call it at the same time, and some calls hold a lock of the library:
 * it must not call a function of this library. */
typedef void (*pfm_log_fn_t)(void *data, pfm_log_level_t level, const char *topic,
                             const char *message);

/** How to open a context. 0 in every member gives the defaults. */
typedef struct pfm_ctx_options {
	size_t size;
	unsigned flags; /**< PFM_CTX_* */
	/** PMU of names without a prefix; NULL: $PERFMON_PMU, else this machine's. */
	const char *pmu;
	/** Folder that holds sys/ and proc/; NULL: $PERFMON_SYSFS, else "/". */
	const char *sysfs_root;
	/** Colon-separated folders and .pmdb files; NULL: $PERFMON_EVENTS, then the user's and the
	 * installed data folder. */
	const char *images;
	/** Identify the processor by this string, as in mapfile.csv; NULL: $PERFMON_CPUID, else the
	 * processor's own. */
	const char *cpuid;
	/** Receives messages; NULL: the topics of $PERFMON_DEBUG go to standard error, other
	 * messages nowhere. */
	pfm_log_fn_t log;
	void *log_data; /**< first argument of log */
	/** Messages up to this level go to log; 0 means PFM_LOG_WARNING. Topics of $PERFMON_DEBUG
	 * go there at any level. */
	pfm_log_level_t log_level;
} pfm_ctx_options_t;

/** Opens a context.
 * @out      receives the context, NULL on failure; release it with pfm_close_context()
 * @options  NULL for the defaults
 * @error    filled on failure; may be NULL
 * Image files and the kernel's PMUs are read when a name first needs them.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL     @out is NULL, or a size is invalid
 *   PFMLIB_ERR_NOPMU     options->pmu names no PMU
 *   PFMLIB_ERR_NOMEM     out of memory
 *   PFMLIB_ERR_SYS       a system call failed; see error->sys_errno
 *   PFMLIB_ERR_IMAGE     an image file that was named cannot be used
 * Thread-safe. */
int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error);

/** Adds a reference to @ctx and returns it: for a part of a program that keeps a context which
 * another part opened. Each reference ends with a pfm_close_context() of its own. NULL, the default
 * context, is returned as it is. Thread-safe. */
pfm_ctx_t *pfm_ref_context(pfm_ctx_t *ctx);

/** Ends a reference to @ctx: that of pfm_open_context() or of a pfm_ref_context(). The last one
 * releases @ctx and every string that a function returned from it; open sessions count as
 * references. NULL is allowed. The caller may not use @ctx any more. Thread-safe. */
void pfm_close_context(pfm_ctx_t *ctx);

/* ---- PMUs ------------------------------------------------------------------------------------ */

/** Bits of perfmon_pmu_info_t.flags. */
typedef enum pfm_pmu_flag {
	PFM_PMU_HOST = 1,     /**< this machine has it */
	PFM_PMU_UNCORE = 2,   /**< counts for a package or device, not for a task */
	PFM_PMU_FALLBACK = 4, /**< serves a processor whose own list is missing */
	PFM_PMU_KERNEL = 8,   /**< the kernel exports it: it can be counted here */
	PFM_PMU_CORE = 16,    /**< part of a processor core */
	PFM_PMU_HIDDEN = 32,  /**< an alias of a listed PMU, or a test */
	PFM_PMU_NEAREST = 64  /**< a fallback that is the list of another member of the family,
	                         not its architectural events */
} pfm_pmu_flag_t;

/** Description of a PMU. */
typedef struct perfmon_pmu_info {
	size_t size;
	const char *name, *desc;
	const char *aliases;  /**< other names, separated by blanks; "" for none */
	const char *origin;   /**< "built in", "kernel", or the path of the image */
	const char *source;   /**< the document its table comes from, "" if not stated */
	const char *device;   /**< name of the kernel's PMU, "" if unknown */
	unsigned flags;       /**< PFM_PMU_* */
	int type;             /**< perf_event_attr.type on this machine, -1 if not exported */
	int libpfm_type;      /**< PFMLIB_*_PMU, or -1 */
	unsigned n_events;    /**< events are numbered 0 .. n_events - 1 */
	unsigned n_counters;  /**< general counters */
	unsigned n_fixed;     /**< fixed counters */
	unsigned width;       /**< bits of general counter 0 */
	unsigned n_instances; /**< boxes of an uncore PMU on this machine, else 1 or 0 */
	const char *cpus;     /**< CPU list it serves on this machine, "" for all or unknown */
} perfmon_pmu_info_t;

/** Returns the number of PMUs; they are numbered from 0 and keep their numbers. Loads images and
 * the kernel's PMUs. Negative if that fails: PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS, PFMLIB_ERR_IMAGE.
 * Thread-safe. */
int pfm_count_pmus(const pfm_ctx_t *ctx);

/** Returns the number of the PMU called @name (its name or an alias), or -1. Loads images and the
 * kernel's PMUs if @name is not built in; a failure is returned as by pfm_count_pmus(). */
int pfm_find_pmu(const pfm_ctx_t *ctx, const char *name);

/** Returns the core PMU that serves this machine because no table describes its processor
 * (PFM_PMU_FALLBACK): architectural events, or the nearest member's list; -1 if this machine needs
 * none. Thread-safe. */
int pfm_find_fallback_pmu(const pfm_ctx_t *ctx);

/** Describes PMU @pmu. PFMLIB_ERR_INVAL if @pmu is out of range. Thread-safe. */
int pfm_describe_pmu(const pfm_ctx_t *ctx, int pmu, perfmon_pmu_info_t *info);

/** Describes feature @i of @pmu: its *@name, and *@text (a text, or "") or *@value (a number).
 * PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_feature(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **name,
                         const char **text, uint64_t *value);

/** Describes image file @i that is on the search path but not used: its *@path and the reason in
 * *@why. Verifies every image completely. PFMLIB_ERR_NOTFOUND past the last. Thread-safe. */
int pfm_describe_rejected_image(const pfm_ctx_t *ctx, unsigned i, const char **path,
                                const char **why);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
