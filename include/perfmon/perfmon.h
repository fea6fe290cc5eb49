/* SPDX-License-Identifier: MIT */
/* Contexts, events, encodings and sessions: the interface of this library for several processors at once.
 *
 * A context is a set of processors (PMUs): those built in, those loaded from image files, those the running kernel shows.
 * It never changes after pfm_open_context() and may be used from any number of threads at once. No call below
 * allocates memory per event: results go into structs of the caller. Every struct whose first member is `size` must have
 * it set by the caller to sizeof the struct (PFM_INIT() does that); a library that knows more members than the caller
 * leaves those alone and takes them for 0, one that knows fewer leaves the rest untouched. A size is good if the member `size`
 * itself fits. The structs of an array are all of one size. An error struct without its size is not written to.
 *
 * All functions return PFMLIB_SUCCESS (0) or a negative PFMLIB_ERR_* of pfmlib.h unless they say otherwise.
 */
#ifndef PERFMON_PERFMON_H
#define PERFMON_PERFMON_H

#include <stddef.h>
#include <stdint.h>
#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Initialiser for a struct that starts with its size: pfm_encoding_t e = PFM_INIT(e); */
#ifdef __cplusplus
extern "C++" {
/** What PFM_INIT() is in C++, where designated initialisers are no part of the language before C++20. */
template <typename T>
inline T perfmon_init_of()
{
	T all_zero = T();

	all_zero.size = sizeof(T);
	return all_zero;
}
}
#define PFM_INIT(VAR) perfmon_init_of<decltype(VAR)>()
#else
#define PFM_INIT(VAR)               \
	{                           \
		.size = sizeof(VAR) \
	}
#endif

typedef struct pfm_ctx pfm_ctx_t;
typedef struct pfm_session pfm_session_t;
typedef struct pfm_sampling pfm_sampling_t; /* sampling.h */

/* ---- errors --------------------------------------------------------------------------------------------------- */

/** What was wrong with a text; more exact than the error code. The words of pfm_error_kind_name() are stable. */
typedef enum pfm_error_kind {
	PFM_KIND_NONE,
	PFM_KIND_UNKNOWN_EVENT,         /**< "unknown_event" */
	PFM_KIND_UNSUPPORTED_ALIAS,     /**< "unsupported_alias" */
	PFM_KIND_UNKNOWN_QUALIFIER,     /**< "unknown_qualifier": attribute, unit mask or field nobody knows */
	PFM_KIND_EMPTY_QUALIFIER,       /**< "empty_qualifier": nothing between two separators, or after the last */
	PFM_KIND_UNEXPECTED_VALUE,      /**< "unexpected_value": a word that takes no value was given one */
	PFM_KIND_MISSING_VALUE,         /**< "missing_value" */
	PFM_KIND_BAD_VALUE,             /**< "bad_value": not a number, out of range, or not one of the words */
	PFM_KIND_QUALIFIER_NOT_ALLOWED, /**< "qualifier_not_allowed": known, but not for this event */
	PFM_KIND_MISSING_UMASK,         /**< "missing_umask": the event needs a unit mask and has no default */
	PFM_KIND_CONFLICT,              /**< "conflict": two parts of the text contradict each other */
	PFM_KIND_UNKNOWN_PMU,           /**< "unknown_pmu" */
	PFM_KIND_AMBIGUOUS,             /**< "ambiguous": several processors have it; name one */
	PFM_KIND_SYNTAX,                /**< "syntax" */
	PFM_KIND_NOT_ON_CPU,            /**< "not_on_cpu": the processor says that this architectural event is missing */
	PFM_KIND_NO_PLACEMENT,          /**< "no_placement": the set does not fit the counters; see clash */
	PFM_KIND_TOO_MANY,              /**< "too_many" */
	PFM_KIND_UNEXPRESSIBLE,         /**< "unexpressible": the dialect has no way to say it */
	PFM_KIND_SYSTEM,                /**< "system": a system call failed; see sys_errno */
	PFM_KIND_IMAGE,                 /**< "image": a damaged, foreign or untrusted file */
	PFM_KIND_MODEL,                 /**< "model": a processor-specific setting is wrong; see detail */
	PFM_KIND_ALONE                  /**< "alone": event must be counted alone and is not; see clash */
} pfm_error_kind_t;

/** Where and why a call failed. Plain data, cheap to fill; pfm_explain_error() makes a sentence of it,
 * pfm_suggest_names() looks for what may have been meant. */
typedef struct pfm_error {
	size_t size;
	int code;                /**< PFMLIB_ERR_*, 0 for none */
	int kind;                /**< pfm_error_kind_t */
	uint32_t start, end;     /**< byte range of the culprit in the text; start == end marks a place */
	int event;               /**< which event of a set, or -1 */
	int sys_errno;           /**< errno of the failed system call, 0 for none */
	uint64_t clash;          /**< events (bit i) of a smallest subset that cannot be counted together */
	uint64_t clash_counters; /**< all counters that subset could use, fixed counter n at bit 32 + n */
	const char *detail;      /**< a constant phrase, or NULL; lives as long as the context */
	uint64_t number;         /**< a limit or value that detail speaks of */
} pfm_error_t;

/** The stable word for @kind, "" for none or unknown. */
const char *pfm_error_kind_name(int kind);
/** Writes one sentence about @error, which a call on @text returned, to @buf (always terminated; cut at @len).
 * @text may be NULL. Returns the length the whole sentence has. */
size_t pfm_explain_error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error, char *buf, size_t len);
/** Names close to the token that @error points at in @text (edit distance), best first, into @names, at most @n (up to 8),
 * each at most 95 bytes and terminated. Returns how many. Slow on purpose: not for hot paths. */
size_t pfm_suggest_names(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error, char (*names)[96], size_t n);

/* ---- contexts ------------------------------------------------------------------------------------------------- */

enum {
	PFM_CTX_NO_HOST = 1,  /**< do not look at this machine at all: every processor must be named */
	PFM_CTX_NO_IMAGES = 2 /**< do not search for image files */
};

typedef struct pfm_ctx_options {
	size_t size;
	unsigned flags;         /**< PFM_CTX_* */
	const char *pmu;        /**< processor that names without a prefix belong to; NULL: $PERFMON_PMU, else this machine's */
	const char *sysfs_root; /**< root that holds sys/ and proc/; NULL: $PERFMON_SYSFS, else "/" */
	const char *images;     /**< colon-separated folders and .pmdb files; NULL: $PERFMON_EVENTS, then the user's and the
	                              installed data folder */
	const char *cpuid;      /**< describe the host as this id (mapfile.csv syntax) instead of asking; NULL: $PERFMON_CPUID */
} pfm_ctx_options_t;

/** Opens a context. @options may be NULL for the usual. On failure *@out is NULL and @error (may be NULL) says why.
 * Images and the kernel's description are read when a name first needs them. Free with pfm_close_context(). */
int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error);
/** Releases @ctx and every string it handed out. Sessions keep their context alive on their own. NULL is allowed. */
void pfm_close_context(pfm_ctx_t *ctx);

/* ---- processors ----------------------------------------------------------------------------------------------- */

enum {
	PFM_PMU_HOST = 1,     /**< this machine has it */
	PFM_PMU_UNCORE = 2,   /**< counts for a package, not for a task */
	PFM_PMU_FALLBACK = 4, /**< architectural events only: the processor itself is unknown */
	PFM_PMU_KERNEL = 8,   /**< the kernel shows it: can be counted here */
	PFM_PMU_CORE = 16,    /**< a processor core's */
	PFM_PMU_HIDDEN = 32   /**< another spelling of a listed one, or a test */
};

typedef struct pfm_pmu_info {
	size_t size;
	const char *name, *desc;
	const char *aka;    /**< other names, blank-separated; "" for none */
	const char *origin; /**< "built in", "kernel", or the image's path */
	const char *source; /**< where its facts come from; "" if not said */
	const char *device; /**< kernel PMU name, "" if unknown */
	unsigned flags;     /**< PFM_PMU_* */
	int type;           /**< perf_event_attr.type on this machine, -1 if the kernel does not show it */
	int libpfm_type;    /**< PFMLIB_*_PMU or -1 */
	unsigned n_events;  /**< indices 0 .. n_events - 1 */
	unsigned n_counters, n_fixed;
	unsigned width;       /**< bits of general counter 0 */
	unsigned n_instances; /**< units of an uncore PMU on this machine, else 1 or 0 */
	const char *cpus;     /**< CPU list it serves on this machine, "" for all or unknown */
} pfm_pmu_info_t;

/** Number of PMUs; they are numbered from 0 and keep their numbers. Loads images and the kernel's description; negative if that cannot be
 * done (PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS, PFMLIB_ERR_IMAGE), as from every call that needs them. */
int pfm_count_pmus(const pfm_ctx_t *ctx);
/** PMU called @name (any of its names), or -1. What is not built in is looked for as by pfm_count_pmus(), and fails so. */
int pfm_find_pmu(const pfm_ctx_t *ctx, const char *name);
/** The PMU that stands in for this machine's processor, which no table is for: architectural events only (PFM_PMU_FALLBACK). -1 if
 * there is none, or no need of one. */
int pfm_find_stand_in(const pfm_ctx_t *ctx);
/** Describes PMU @pmu. PFMLIB_ERR_INVAL for a number out of range. */
int pfm_describe_pmu(const pfm_ctx_t *ctx, int pmu, pfm_pmu_info_t *info);
/** Feature @i of @pmu (capabilities, versions ...): *@name, *@text ("" if a number) and *@value. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_feature(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **name, const char **text, uint64_t *value);
/** Image @i that was found on the search path and is not used: its *@path and *@why. PFMLIB_ERR_NOTFOUND past the last. Every image
 * is checked in full for the answer. */
int pfm_describe_refusal(const pfm_ctx_t *ctx, unsigned i, const char **path, const char **why);

/* ---- events --------------------------------------------------------------------------------------------------- */

enum {
	PFM_EVENT_HIDDEN = 1,
	PFM_EVENT_DEPRECATED = 2,
	PFM_EVENT_ALONE = 4, /**< must be counted alone: beside it the PMU's fixed counters can be used, its general ones cannot */
	PFM_EVENT_PER_PKG = 8,
	PFM_EVENT_EXPERIMENTAL = 16,
	PFM_EVENT_ARCH = 32,
	PFM_EVENT_METRIC = 128,
	/* Sources that have the event and agree with this row of it. None is set where they were not compared: the PMU's source stands alone. */
	PFM_EVENT_BY_VENDOR = 0x1000,  /**< the vendor's own list */
	PFM_EVENT_BY_LINUX = 0x2000,   /**< Linux's list; for Intel's processors a copy of the vendor's */
	PFM_EVENT_BY_LIBPFM4 = 0x4000, /**< libpfm4's tables */
};

typedef struct pfm_event_info {
	size_t size;
	int pmu;
	unsigned event;
	const char *name, *desc;
	const char *detail;      /**< longer description, "" for none */
	const char *errata;      /**< "" for none */
	const char *note;        /**< remark, "" for none */
	const char *replaced;    /**< event to use instead, "" for none */
	const char *unit;        /**< unit of the scaled count, "" for none */
	double scale;            /**< multiply counts by this; 1 for most */
	uint64_t code;           /**< event select */
	uint64_t counters;       /**< candidates; fixed counter n is bit 32 + n */
	uint64_t counters_htoff; /**< the same with hyper-threading off; 0 if not told apart */
	unsigned flags;          /**< PFM_EVENT_* */
	unsigned n_umasks;       /**< unit masks and qualifier values it takes */
	unsigned n_fields;       /**< field values the row gives */
	int precise;             /**< 0 no, 1 may be, 2 must be */
	uint64_t period;         /**< suggested sampling period, 0 if none */
	const char *topic;       /**< what its list groups it by, "" for none */
} pfm_event_info_t;

typedef struct pfm_umask_info {
	size_t size;
	const char *group; /**< qualifier it belongs to: "core", "cachestate" ... */
	const char *name, *desc;
	const char *spellings;  /**< first other spelling, "" for none */
	uint64_t value;         /**< bits it sets in its field */
	int is_default, is_any; /**< set when the user names none; combinable with others of its group */
} pfm_umask_info_t;

/** Describes event @event (0 .. n_events - 1) of @pmu. Constant time; strings belong to the context. */
int pfm_describe_event(const pfm_ctx_t *ctx, int pmu, unsigned event, pfm_event_info_t *info);
/** Describes unit mask @i (0 .. n_umasks - 1) of an event. */
int pfm_describe_umask(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, pfm_umask_info_t *info);
/** Field value @i (0 .. n_fields - 1) of an event: *@name, *@text ("" if a number), *@value (0 if a text), *@counter (-1: every one). */
int pfm_describe_field(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                       const char **name, const char **text, uint64_t *value, int *counter);
/** A number that any event of a PMU takes: cmask, edge ... */
typedef struct pfm_modifier_info {
	size_t size;
	const char *name;
	uint64_t min, max; /**< values that are taken; max 1: the name alone means 1 */
	uint64_t preset;   /**< what the event has when the text does not say */
} pfm_modifier_info_t;

/** Modifier @i of an event. PFMLIB_ERR_NOTFOUND past the last. An event may still refuse one: on a fixed counter there is no cmask. */
int pfm_describe_modifier(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, pfm_modifier_info_t *info);
/** Spelling @i of unit mask @umask of an event, the usual one first. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_spelling(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned umask, unsigned i, const char **name);
/** Word @i that values of field @field of @pmu are told in, and its *@value: of a trait ("accepts") a bit, of a choice ("ear") the
 * number. PFMLIB_ERR_NOTFOUND past the last, and for fields without words. */
int pfm_describe_word(const pfm_ctx_t *ctx, int pmu, const char *field, unsigned i, const char **word, uint64_t *value);
/** Word @i for a privilege level, the PFM_PLM* it means in *@plm (0: the hypervisor's level, which has none), and whether that is
 * counted when nobody names levels. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_level(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **word, unsigned *plm, int *is_default);
/** Finds the event that @text names, in any dialect, and where it is: *@pmu, *@event. Attributes are not looked at. */
int pfm_find_event_by_text(const pfm_ctx_t *ctx, const char *text, int *pmu, unsigned *event, pfm_error_t *error);

/** Takes the next event off a list as a user writes it: the *@len bytes at *@event, blanks around it left out. *@list goes on behind
 * its comma, and becomes NULL with the last one. Commas between slashes ("cpu/event=1,umask=2/") and in braces separate nothing: a
 * group ("{cycles,instructions}:W") is one piece; what stands in its braces is a list again. A qualifier behind a comma ("edge",
 * "inv", "os", "usr", "cmask=2") belongs to the event before it. Nothing is looked up: a piece may be empty or nonsense, and a brace
 * that is never closed goes on to the end. Returns 1, or 0 if *@list is NULL (or an argument is). */
int pfm_split_events(const char **list, const char **event, size_t *len);

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

typedef struct pfm_metric_info {
	size_t size;
	int pmu;
	unsigned event;
	const char *name, *desc;
	const char *unit;        /**< "percent", "GHz" ...; "" for none */
	const char *groups;      /**< separated by ';' */
	const char *parent;      /**< metric that this one is a part of, "" for none */
	unsigned level;          /**< in that tree, from 1; 0 if it is in none */
	unsigned n_inputs;       /**< events and constants that value and threshold need */
	unsigned n_value_inputs; /**< how many of them, from the first, the value alone needs */
	int has_threshold;
} pfm_metric_info_t;

/** What a metric needs to be given. */
typedef struct pfm_metric_input {
	size_t size;
	int is_constant; /**< a fact of the machine or the measurement ("#smt_on"), not an event */
	int has_preset;  /**< nobody needs to give it: preset is what its list says */
	double preset;
	char text[352];  /**< the event, as pfm_encode_event() takes it; or the constant */
	char alias[352]; /**< the list's own spelling, "" if it has no other */
} pfm_metric_input_t;

/** The value of one input. */
typedef struct pfm_metric_count {
	double value;
	double error; /**< standard error, 0 for none */
	int known;    /**< 0: was not counted */
	int reserved;
} pfm_metric_count_t;

enum {
	PFM_METRIC_DEFINED,
	PFM_METRIC_DIVISION,    /**< "division by zero" */
	PFM_METRIC_NOT_COUNTED, /**< "not counted": an input has no value */
	PFM_METRIC_OVERFLOW     /**< "out of range": of a double */
};

typedef struct pfm_metric_value {
	size_t size;
	double value;       /**< valid if state is PFM_METRIC_DEFINED, else 0 */
	double error;       /**< standard error; negative: nobody knows */
	double low, high;   /**< 95 % interval */
	int state;          /**< PFM_METRIC_* */
	int missing;        /**< the input that was not counted, or -1 */
	int over_threshold; /**< 1: worth a closer look; 0: not; -1: no threshold, or undefined */
} pfm_metric_value_t;

/** Describes metric @event of @pmu: an event with PFM_EVENT_METRIC. PFMLIB_ERR_NOTFOUND if it is no metric. */
int pfm_describe_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, pfm_metric_info_t *info);
/** Describes input @i of a metric. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_metric_input(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, pfm_metric_input_t *info);
/** Writes the formula of a metric (@threshold 0) or of its threshold (1) to @buf, always terminated, cut at @len.
 * Returns the length the whole formula has, or a negative code. */
int pfm_print_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold, char *buf, size_t len);
/** Computes a metric from @n counts in the order of its inputs. A value that is not defined is told in out->state, and is no
 * failure of the call. out->error is propagated from the errors of the counts, taken as independent. */
int pfm_evaluate_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_count_t *counts, unsigned n,
                        pfm_metric_value_t *out);
/** The same from @rounds repetitions: @samples has @n counts of the first, then of the second ...; NaN for what was not
 * counted. The value is that of the mean counts, its error comes from how they vary together. */
int pfm_estimate_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const double *samples, unsigned rounds, unsigned n,
                        pfm_metric_value_t *out);
/** The same for one measurement whose counts shared their counters, and that was read on its way: @counts is the whole, @parts has
 * @n counts of each of @n_parts parts of equal length, in their order, extrapolated as the whole is; NaN for what was not counted.
 * The value is that of @counts. Its error is that of extrapolating, from how neighbouring parts differ. @observed: the share of the
 * time in which the counts were taken, if always all together (one group); 0 if they were not, which gives an upper bound; 1: nothing
 * was extrapolated. An error of -1 with the largest interval there is says that the parts do not tell. */
int pfm_judge_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_count_t *counts, unsigned n, const double *parts,
                     unsigned n_parts, double observed, pfm_metric_value_t *out);
/** The stable word for a PFM_METRIC_* state. */
const char *pfm_metric_state_name(int state);

/* ---- encodings ------------------------------------------------------------------------------------------------ */

/** What a register is. */
enum { PFM_REG_PMC,
       PFM_REG_PMD,
       PFM_REG_FIXED_CTRL,
       PFM_REG_EXTRA,
       PFM_REG_IBR,
       PFM_REG_DBR,
       PFM_REG_CONFIG };

typedef struct pfm_reg {
	uint32_t num;      /**< register number */
	uint32_t kind;     /**< PFM_REG_* */
	uint64_t addr;     /**< address (MSR number on x86), or the number again */
	uint64_t alt_addr; /**< other address: RDPMC index on x86 */
	uint64_t value;
} pfm_reg_t;

/** What perf_event_open(2) wants. */
typedef struct pfm_attr {
	uint32_t type; /**< valid if type_known; else depends on the machine */
	uint8_t type_known, exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise;     /**< 0..3 */
	uint8_t expressible; /**< 0: the kernel has no way to count it */
	uint8_t pinned, exclude_idle, exclude_host, exclude_guest;
	uint8_t reserved[2];
	uint64_t config, config1, config2, config3;
} pfm_attr_t;

#define PFM_MAX_REGS         4
#define PFM_MAX_ALTERNATIVES 4

typedef struct pfm_encoding {
	size_t size;
	int pmu;
	unsigned event;
	unsigned plm; /**< PFM_PLM* levels that are counted */
	unsigned n_regs;
	pfm_reg_t regs[PFM_MAX_REGS]; /**< as on the lowest counter that can count it */
	uint64_t counters;            /**< counters that can count it as written; fixed counter n is bit 32 + n */
	pfm_attr_t attr;
	unsigned n_alternatives; /**< other (code, extra register) pairs that count the same */
	struct {
		uint64_t config, control, msr, value;
	} alternatives[PFM_MAX_ALTERNATIVES];
} pfm_encoding_t;

/** Encodes one event on its own.
 * @ctx    the context, or NULL for the default one
 * @text   an event in any dialect; see perfmon(7)
 * @plm    levels to count when the text names none: any of PFM_PLM0..3, 0 for PFM_PLM0 | PFM_PLM3
 * @out    filled on success, else unchanged
 * @error  filled on failure; may be NULL
 * The attribute is for a machine that has the PMU: whether this one does is PFM_PMU_HOST of pfm_describe_pmu(). Elsewhere its numbers
 * mean some other event, and pfm_fill_perf_event_attr() refuses them.
 * Never allocates; safe from any thread. */
int pfm_encode_event(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_error_t *error);
/** The same for event number @event of @pmu without any attribute: the fast way through a whole table. */
int pfm_encode_event_at(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned plm, pfm_encoding_t *out, pfm_error_t *error);

/** Ways to write an event down. */
typedef enum pfm_dialect { PFM_DIALECT_LIBPFM,
	                   PFM_DIALECT_LIBPMC,
	                   PFM_DIALECT_PERF,
	                   PFM_DIALECT_VENDOR } pfm_dialect_t;
/** Writes the event that @text names in @dialect to @buf, attributes in canonical order. What is written, read again,
 * gives the same registers. PFMLIB_ERR_NOTSUPP (kind unexpressible) where the dialect cannot say it, PFMLIB_ERR_FULL if @buf
 * is too small (nothing is written then). */
int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error);
/** pfm_encode_event(), then pfm_print_event(), with @text read once: for who wants an event's registers and its full name. If the event
 * can be encoded, @out is filled, whether it can be written in @dialect or not. */
int pfm_encode_and_print(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_dialect_t dialect, char *buf,
                         size_t len, pfm_error_t *error);

#define PFM_MAX_SET      64
#define PFM_MAX_SET_REGS 96

typedef struct pfm_set_options {
	size_t size;
	unsigned plm;                        /**< levels for events that name none; 0 for PFM_PLM0 | PFM_PLM3 (Montecito: PFM_PLM3) */
	unsigned flags;                      /**< PFMLIB_PFP_* */
	const pfmlib_regmask_t *unavailable; /**< control registers others hold, or NULL */
	int htoff;                           /**< 1: hyper-threading is off, more counters may count an event */
	void *model_in;                      /**< processor-specific, as for pfm_dispatch_events(), or NULL */
	void *model_out;
} pfm_set_options_t;

typedef struct pfm_set {
	size_t size;
	int pmu;
	unsigned n_events;
	int counter[PFM_MAX_SET]; /**< counter of each event; fixed counter n is 32 + n; -1: takes none */
	unsigned n_pmcs, n_pmds;
	pfm_reg_t pmcs[PFM_MAX_SET_REGS]; /**< control registers, each event's first in the order of events */
	pfm_reg_t pmds[PFM_MAX_SET_REGS];
} pfm_set_t;

/** Places the @n events @texts (all of one PMU) on counters and computes every register. Exact: if a placement exists it is
 * found; the events with the fewest counters are placed first, each on its lowest. PFMLIB_ERR_NOASSIGN: error->clash
 * names a smallest clashing subset; with PFM_KIND_ALONE, error->event must be counted alone (PFM_EVENT_ALONE) and the others of the
 * clash have no fixed counter to go to. Free-running events take no counter. Only counts and the entries they cover are written
 * to @out. */
int pfm_dispatch_set(const pfm_ctx_t *ctx, const char *const *texts, unsigned n, const pfm_set_options_t *options,
                     pfm_set_t *out, pfm_error_t *error);

/** Field @i behind register value @value of register @reg ("PERFEVTSEL0", "PMC4", "config", "PCTR_CTL" ...) of @pmu: its name in
 * *@name, the field's value in *@field, its meaning in *@text (a word, an event name, or ""). Returns PFMLIB_ERR_NOTFOUND past
 * the last field, PFMLIB_ERR_INVAL for a register the PMU does not have. */
int pfm_decode_field(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     const char **name, uint64_t *field, const char **text);
/** Writes to @name, which has room for @len bytes, the @i-th register of @pmu that pfm_decode_field() takes. PFMLIB_ERR_NOTFOUND past
 * the last, PFMLIB_ERR_FULL if it does not fit (16 bytes are enough). */
int pfm_describe_register(const pfm_ctx_t *ctx, int pmu, unsigned i, char *name, size_t len);
/** Writes to @buf, in the vendor's dialect, the @i-th event of @pmu whose registers have @value in @reg; privilege and enable
 * bits are left out of the comparison, attributes are added for what the event alone does not explain. A Pentium 4's CCCR has its ESCR
 * in the upper half of @value.
 * PFMLIB_ERR_NOTFOUND past the last. */
int pfm_decode_event(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i, char *buf, size_t len);

/* ---- plans ------------------------------------------------------------------------------------------------------ */

typedef struct pfm_plan_result pfm_plan_t;

enum {
	PFM_PLAN_BARE = 1 /**< the processor as it is built: what this machine's kernel holds is not taken away */
};

typedef struct pfm_plan_options {
	size_t size;
	unsigned flags;       /**< PFM_PLAN_* */
	unsigned plm;         /**< levels for events that name none, 0 for the usual */
	uint64_t taken;       /**< counters that others hold; fixed counter n is bit 32 + n */
	int htoff;            /**< 1: hyper-threading is off, more counters may count an event */
	unsigned long effort; /**< steps of the search for fewer groups, 0 for the usual */
} pfm_plan_options_t;

typedef struct pfm_plan_info {
	size_t size;
	unsigned n_events;       /**< planned events, those of metrics and added ones included */
	unsigned n_groups;       /**< of all PMUs together; groups of different PMUs count side by side */
	unsigned n_rounds;       /**< times the counters are loaded: the most groups that one PMU has */
	unsigned bound;          /**< no plan has fewer groups */
	int optimal;             /**< 1: n_groups is the bound */
	const char *certificate; /**< a sentence that proves the bound, one for each PMU */
} pfm_plan_info_t;

typedef struct pfm_planned {
	size_t size;
	unsigned request; /**< the text that asked for it first */
	int pmu;
	const char *text; /**< the event, as pfm_encode_event() takes it */
	unsigned group;
	int counter;  /**< fixed counter n is 32 + n; -1: takes none */
	int added;    /**< 1: nobody asked for it, the group needs it (the slots event before top-down figures) */
	int in_proof; /**< 1: it is one of the events that the certificate speaks of */
} pfm_planned_t;

/** Covers the events of @texts, and those of metrics and groups of metrics among them, with the least number of groups that can
 * each be counted together. Groups belong to one PMU each. The events of one metric are in one group where that costs no
 * group. An event that must be counted alone has at most events on fixed counters in its group. Equal input gives an equal plan.
 * Free with pfm_free_plan(). */
int pfm_plan(pfm_plan_t **out, const pfm_ctx_t *ctx, const char *const *texts, unsigned n, const pfm_plan_options_t *options,
             pfm_error_t *error);
int pfm_describe_plan(const pfm_plan_t *plan, pfm_plan_info_t *info);
/** Event @i of a plan; the events of a group follow each other, in an order in which they can be counted. PFMLIB_ERR_NOTFOUND
 * past the last. Strings live as long as the plan. */
int pfm_describe_planned(const pfm_plan_t *plan, unsigned i, pfm_planned_t *event);
void pfm_free_plan(pfm_plan_t *plan);

/* ---- sessions ------------------------------------------------------------------------------------------------- */

/** How far a count can be trusted. */
typedef enum pfm_quality {
	PFM_QUALITY_EXACT,        /**< counted all the time it was enabled */
	PFM_QUALITY_SCALED,       /**< shared a counter: value extrapolated from time running */
	PFM_QUALITY_PARTIAL,      /**< some CPUs or tasks were not counted */
	PFM_QUALITY_NOT_COUNTED,  /**< missed this time (process gone, counter busy, no time ...): there is no value */
	PFM_QUALITY_NOT_SUPPORTED /**< ruled out as asked, by processor, kernel or permission: there is no value */
} pfm_quality_t;

/** Why a count is not exact. */
typedef enum pfm_cause {
	PFM_CAUSE_NONE,
	PFM_CAUSE_NO_PMU,      /**< this machine (or its hypervisor) exports no PMU for it */
	PFM_CAUSE_PERMISSION,  /**< perf_event_paranoid, or another user's process */
	PFM_CAUSE_BUSY,        /**< somebody else holds the counter */
	PFM_CAUSE_GROUP,       /**< the group does not fit the counters */
	PFM_CAUSE_MULTIPLEXED, /**< more events than counters */
	PFM_CAUSE_FILES,       /**< no more file descriptors */
	PFM_CAUSE_ATTRIBUTE,   /**< the kernel refused a setting */
	PFM_CAUSE_NO_PROCESS,  /**< the process is gone */
	PFM_CAUSE_NO_CPU,      /**< the CPU is off line or does not exist */
	PFM_CAUSE_MEMORY,
	PFM_CAUSE_NO_TIME,   /**< never enabled, or ended before the first clock tick */
	PFM_CAUSE_NO_KERNEL, /**< the kernel has no perf_event_open or no such device */
	PFM_CAUSE_OTHER,
	PFM_CAUSE_LOST,     /**< samples: a buffer was full */
	PFM_CAUSE_THROTTLED /**< samples: the kernel held the event back for coming too often */
} pfm_cause_t;

typedef struct pfm_count {
	size_t size;
	uint64_t value;   /**< extrapolated if quality is scaled; 0 and meaningless if not counted or not supported */
	uint64_t raw;     /**< as read */
	uint64_t enabled; /**< nanoseconds enabled, summed over CPUs */
	uint64_t running; /**< nanoseconds on a counter */
	int quality;      /**< pfm_quality_t */
	int cause;        /**< pfm_cause_t */
	int sys_errno;
	double scale; /**< multiply value by this to get units */
} pfm_count_t;

typedef struct pfm_count_info {
	size_t size;
	unsigned request;   /**< which of the texts given to pfm_open_session() */
	const char *name;   /**< event, as the user wrote it */
	const char *pmu;    /**< PMU it counts on */
	const char *unit;   /**< "" for plain counts */
	unsigned group;     /**< group number */
	unsigned n_parts;   /**< kernel events behind it (CPUs, instances) */
	const char *why;    /**< sentence about cause, "" if none */
	const char *remedy; /**< what would help, "" if nothing known */
	pfm_attr_t attr;
	const char *cpus; /**< CPUs it is counted on, "" for wherever the task runs */
	int is_level;     /**< the value is a level (a temperature, an occupancy), not a count: it has no differences */
} pfm_count_info_t;

enum {
	PFM_SESSION_INHERIT = 1,        /**< count child processes and threads as well */
	PFM_SESSION_ENABLE_ON_EXEC = 2, /**< start when the process executes a program */
	PFM_SESSION_SYSTEM_WIDE = 4,    /**< every process on the CPUs */
	PFM_SESSION_DRY_RUN = 8,        /**< open nothing: plan only */
	PFM_SESSION_STRICT = 16,        /**< fail unless every event can be opened */
	PFM_SESSION_USER_READ = 32,     /**< ask for counters readable from user space */
	PFM_SESSION_PER_CPU = 64,       /**< with system-wide: one count per CPU, not one sum */
	PFM_SESSION_ONE_TASK = 128      /**< pid is one thread, also where it is a process's first */
};

typedef struct pfm_session_options {
	size_t size;
	unsigned flags;                 /**< PFM_SESSION_* */
	int pid;                        /**< 0: the calling thread; > 0: that process or thread */
	const char *cpus;               /**< CPU list such as "0,2-3", or NULL for all */
	unsigned plm;                   /**< levels for events that name none, 0 for all that are permitted */
	const char *backend;            /**< "perf_event", "pfm_device", or NULL for the machine's own */
	void *backend_options;          /**< e.g. pfm_alpha_session_t for "pfm_device" */
	const pfm_sampling_t *sampling; /**< take samples as well; NULL: count only. Read while the session is opened */
	const char *cgroup;             /**< folder of a control group: with system-wide, its tasks alone; NULL: all */
	/** For each text a filter on the fields of its tracepoint, as the kernel's own trace filters are written, or NULL; NULL: none. */
	const char *const *filters;
} pfm_session_options_t;

/** Opens counters for @n events. A text may be a group in braces ("{cycles,instructions}:W"), or name a metric or a group of metrics:
 * what those need is planned (pfm_plan()) and counted behind the other texts' events, what they share once. An event that must be
 * counted alone (PFM_EVENT_ALONE) is refused in a group with others of general counters, kind PFM_KIND_ALONE; a weak group (W) is
 * taken apart instead. Outside a group the kernel is told to count nothing beside it that the session itself would have counted there
 * (attr.exclusive): they take turns. Every event that cannot be opened stays
 * in the session with quality "not supported" or "not counted" and its cause, unless PFM_SESSION_STRICT. Counting is stopped.
 * On failure *@out is NULL, nothing stays open and @error says why. */
int pfm_open_session(pfm_session_t **out, const pfm_ctx_t *ctx, const pfm_session_options_t *options,
                     const char *const *texts, unsigned n, pfm_error_t *error);
/** Begin counting, stop counting, set counts to zero. Return 0 or a negative PFMLIB code; sys_errno via pfm_session_errno(). */
int pfm_start_session(pfm_session_t *s);
int pfm_stop_session(pfm_session_t *s);
int pfm_reset_session(pfm_session_t *s);
/** Number of counts: one per event and PMU (and per CPU with PFM_SESSION_PER_CPU). */
unsigned pfm_count_session(const pfm_session_t *s);
/** Reads all counts; @counts has room for @n, each with the same size set. */
int pfm_read_session(pfm_session_t *s, pfm_count_t *counts, unsigned n);
/** Reads count @i without entering the kernel where that is possible, else like pfm_read_session(). Own thread only. */
int pfm_read_count(pfm_session_t *s, unsigned i, pfm_count_t *count);
/** What was counted between two readings of one count; pfm_count_info_t says if it @is_level. Judged by the times between them: what
 * ran all the while is exact, however it fared before. Of a level it is the later reading; so it is if the count was reset in
 * between. @out may be one of the readings. PFMLIB_ERR_INVAL for NULL or a size that is not set. */
int pfm_count_between(const pfm_count_t *earlier, const pfm_count_t *later, int is_level, pfm_count_t *out);
/** A metric of a session, and its value. */
typedef struct pfm_session_metric {
	size_t size;
	int pmu; /**< it is metric @event of this PMU in the session's context: pfm_describe_metric() */
	unsigned event;
	unsigned request;   /**< the text that names it, or a group that it is in */
	int state;          /**< PFM_METRIC_* */
	double value;       /**< valid if state is PFM_METRIC_DEFINED, else 0 */
	double error;       /**< standard error; negative: one reading of counts that are not exact does not tell */
	double low, high;   /**< 95 % interval */
	int quality;        /**< pfm_quality_t: the worst of the counts it needs */
	int missing;        /**< the number of a count that has no value, if that is why it has none; else -1 */
	int across_groups;  /**< 1: its counts are of several groups; where quality is not exact, of different times */
	int over_threshold; /**< 1: worth a closer look; 0: not; -1: no threshold, or undefined */
} pfm_session_metric_t;

/** Number of metrics that the texts of a session name. */
unsigned pfm_count_metrics(const pfm_session_t *s);
/** Computes metric @i of a session from @rounds readings of all its counts, one behind the other, each as pfm_read_session() gives
 * them or as what was counted between two of those (pfm_count_between()). The value is that of the mean counts; with several
 * rounds its error is how they vary together. @seconds is the time a round took, for metrics that are rates; 0: not known. With no
 * rounds it says which metric it is. A value that is not defined is told in out->state and is no failure. Safe to call from
 * several threads at once. */
int pfm_compute_metric(const pfm_session_t *s, unsigned i, const pfm_count_t *counts, unsigned rounds, double seconds,
                       pfm_session_metric_t *out);
/** Describes count @i. Strings live as long as the session. */
int pfm_describe_count(const pfm_session_t *s, unsigned i, pfm_count_info_t *info);
/** errno of the last failed call on @s. */
int pfm_session_errno(const pfm_session_t *s);
/** Stops and releases everything. NULL is allowed. */
void pfm_close_session(pfm_session_t *s);
/** Stable words: "exact" "scaled" "partial" "not counted" "not supported"; "no PMU" "permission" ... */
const char *pfm_quality_name(int quality);
const char *pfm_cause_name(int cause);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
