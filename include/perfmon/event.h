/* SPDX-License-Identifier: MIT */
/* Events: their description, their encoding in registers, and their decoding from registers. */
#ifndef LIBPERFMON_EVENT_H
#define LIBPERFMON_EVENT_H

#include <perfmon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- description ----------------------------------------------------------------------------- */

/** Bits of perfmon_event_info_t.flags. */
typedef enum pfm_event_flag {
	PFM_EVENT_HIDDEN = 1,        /**< left out of listings */
	PFM_EVENT_DEPRECATED = 2,    /**< perfmon_event_info_t.replaced names its successor */
	PFM_EVENT_ALONE = 4,         /**< excludes other events from the general counters */
	PFM_EVENT_PER_PKG = 8,       /**< counts for a whole package */
	PFM_EVENT_EXPERIMENTAL = 16, /**< the vendor has not validated it */
	PFM_EVENT_ARCH = 32,         /**< architectural: the same on all processors */
	PFM_EVENT_METRIC = 128,      /**< a metric: see metric.h */
	/* Sources whose row agrees with this one. None is set for PMUs that were not compared. */
	PFM_EVENT_BY_VENDOR = 0x1000, /**< the vendor's list */
	PFM_EVENT_BY_LINUX = 0x2000,  /**< Linux's list; for Intel a copy of the vendor's */
	PFM_EVENT_BY_LIBPFM4 = 0x4000 /**< libpfm4's table */
} pfm_event_flag_t;

/** Description of an event. */
typedef struct perfmon_event_info {
	size_t size;
	int pmu;
	unsigned event;
	const char *name, *desc;
	const char *detail;      /**< longer description, "" for none */
	const char *errata;      /**< "" for none */
	const char *note;        /**< "" for none */
	const char *replaced;    /**< event to use instead, "" for none */
	const char *unit;        /**< unit of the scaled count, "" for none */
	double scale;            /**< count times scale is in unit; 1 for most events */
	uint64_t code;           /**< event select */
	uint64_t counters;       /**< counter mask; fixed counter n is bit 32 + n */
	uint64_t counters_htoff; /**< counter mask without hyper-threading; 0: the same */
	unsigned flags;          /**< PFM_EVENT_* */
	unsigned n_umasks;       /**< number of unit masks */
	unsigned n_fields;       /**< number of field values that its row sets */
	int precise;             /**< 0: cannot be sampled precisely, 1: can, 2: must */
	uint64_t period;         /**< suggested sampling period, 0 for none */
	const char *topic;       /**< topic in the vendor's list, "" for none */
} perfmon_event_info_t;

/** Description of a unit mask. */
typedef struct pfm_umask_info {
	size_t size;
	const char *group; /**< its qualifier: "core", "cachestate" ... */
	const char *name, *desc;
	const char *alias; /**< first other name, "" for none */
	uint64_t value;    /**< bits it sets in its field */
	int is_default;    /**< 1: set when the text names no unit mask of the group */
	int is_combinable; /**< 1: can be combined with others of its group */
} pfm_umask_info_t;

/** A modifier: a number that the events of a PMU take (cmask, edge ...). */
typedef struct pfm_modifier_info {
	size_t size;
	const char *name;
	uint64_t min, max; /**< accepted values; max 1: the name alone means 1 */
	uint64_t preset;   /**< value when the text does not set it */
} pfm_modifier_info_t;

/** A rule of a PMU: a limit of its events or of sets of them, or a remark for users. */
typedef struct pfm_rule_info {
	size_t size;
	const char *name; /**< unique in the PMU */
	/** "on": other counters than those in counters cannot count the event; "place": the event
	 * takes one of counters; "refuse": no counter can; "pair": it takes an even counter and the
	 * next one; "follow": it takes the counter after that of the event before it; "share":
	 * events of a set have equal values of some fields; "move": an event with other values
	 * becomes another one; "limit": a set has a limited number of such events; "needs": a set
	 * must hold another event; "note": a remark */
	const char *effect;
	const char *text;   /**< what the rule says */
	const char *source; /**< the manual or driver that it is from */
	uint64_t counters;  /**< of effects "on" and "place"; fixed counter n is bit 32 + n */
	int depends;        /**< 1: on facts of the machine, such as whether SMT is on */
	int holds; /**< 1: for the event as it is; for a PMU: on this machine. What is true of
	                other machines is unknown, and taken to be true */
	char evidence[96]; /**< the file that shows the fact; "" if the rule does not hold here */
} pfm_rule_info_t;

/** Describes event @event (0 .. n_events - 1) of @pmu in constant time. PFMLIB_ERR_INVAL if a
 * number is out of range. Thread-safe, as are all functions of this header. */
int pfm_describe_event(const pfm_ctx_t *ctx, int pmu, unsigned event, perfmon_event_info_t *info);

/** Returns 0 if the processor at hand reports that it does not implement event @event of @pmu, its
 * PMU: it can be encoded, but not counted. 1 if it does, if it does not tell, and for events of
 * other machines; an error code if a number is out of range. */
int pfm_is_event_implemented(const pfm_ctx_t *ctx, int pmu, unsigned event);

/** Describes unit mask @i (0 .. n_umasks - 1) of an event. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_umask(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                       pfm_umask_info_t *info);

/** Gives name @i of unit mask @umask of an event, the usual name first, in *@name.
 * PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_umask_name(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned umask,
                            unsigned i, const char **name);

/** Describes field value @i (0 .. n_fields - 1) of an event: the field's *@name, and *@text (or "")
 * or *@value (or 0); *@counter is the only counter it applies to, or -1 for every counter. */
int pfm_describe_field(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, const char **name,
                       const char **text, uint64_t *value, int *counter);

/** Describes modifier @i of an event. PFMLIB_ERR_NOTFOUND past the last. The event may still refuse
 * a modifier on some counters (no cmask on fixed counters). */
int pfm_describe_modifier(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                          pfm_modifier_info_t *info);

/** Describes rule @i of @pmu. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_rule(const pfm_ctx_t *ctx, int pmu, unsigned i, pfm_rule_info_t *rule);

/** Describes the @i-th rule that can hold for an event, with modifiers, levels and sets that a text
 * may add. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_event_rule(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                            pfm_rule_info_t *rule);

/** Describes the @i-th rule that can hold for the event that @text names. rule->holds is that of
 * the text with its unit masks and modifiers, on this machine. PFMLIB_ERR_NOTFOUND past the last;
 * other errors as for pfm_encode_event(). */
int pfm_describe_rule_by_text(const pfm_ctx_t *ctx, const char *text, unsigned i,
                              pfm_rule_info_t *rule, pfm_error_t *error);

/** Gives name @i of the values of @field of @pmu in *@name, and the number (or, for a field of
 * flags, the bit) in *@value. PFMLIB_ERR_NOTFOUND past the last, and for fields of numbers. */
int pfm_describe_value_name(const pfm_ctx_t *ctx, int pmu, const char *field, unsigned i,
                            const char **name, uint64_t *value);

/** Describes privilege level @i of @pmu: the *@name that texts use, its PFM_PLM* bit in *@plm (0
 * for the hypervisor's level), and whether it is counted by default. PFMLIB_ERR_NOTFOUND past the
 * last. */
int pfm_describe_privilege_level(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **name,
                                 unsigned *plm, int *is_default);

/** The effect of an erratum on the count of its events. Open: later versions may add values. */
typedef enum pfm_erratum_count {
	PFM_ERRATUM_COUNT_RIGHT, /**< nothing: samples or another facility are wrong */
	PFM_ERRATUM_COUNT_HIGH,  /**< it can be too high */
	PFM_ERRATUM_COUNT_LOW,   /**< it can be too low */
	PFM_ERRATUM_COUNT_WRONG, /**< it can be wrong in either direction */
	PFM_ERRATUM_COUNT_ZERO,  /**< nothing is counted */
	PFM_ERRATUM_COUNT_NEAR   /**< it is off by a few at most */
} pfm_erratum_count_t;

/** Bits of pfm_erratum_t.flags. */
typedef enum pfm_erratum_flag {
	PFM_ERRATUM_HERE = 1,        /**< the PMU is of this machine, which has the erratum */
	PFM_ERRATUM_EVERY_EVENT = 2, /**< it is about all events of the PMU */
	PFM_ERRATUM_CONDITIONAL = 4  /**< it is about the event with other modifiers or levels */
} pfm_erratum_flag_t;

/** An erratum of a processor. Its strings are never NULL. */
typedef struct pfm_erratum {
	size_t size;
	const char *ids;           /**< its names in the vendor's documents: "BDD053 BDM055" */
	const char *effect;        /**< what is wrong */
	const char *workaround;    /**< what helps, "" for nothing */
	const char *kernel;        /**< what Linux does about it, "" for nothing */
	const char *machines;      /**< steppings or firmware that have it, "" for all */
	const char *instead;       /**< event that counts the same and is right, "" for none */
	const char *source;        /**< where it is described */
	pfm_erratum_count_t count; /**< what becomes of the count */
	unsigned flags;            /**< PFM_ERRATUM_* */
	unsigned n_events;         /**< events that it names */
} pfm_erratum_t;

/** Describes erratum @i of @pmu, from 0. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_INVAL if
 * @pmu is out of range or out->size is not set. */
int pfm_describe_erratum(const pfm_ctx_t *ctx, int pmu, unsigned i, pfm_erratum_t *out);

/** Gives the number of event @k, from 0, of erratum @i of @pmu in *@event. PFMLIB_ERR_NOTFOUND past
 * the last. */
int pfm_describe_erratum_event(const pfm_ctx_t *ctx, int pmu, unsigned i, unsigned k,
                               unsigned *event);

/** Describes the @i-th erratum, from 0, that is about event @event of @pmu, with its default unit
 * masks. PFMLIB_ERR_NOTFOUND past the last. */
int pfm_describe_event_erratum(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                               pfm_erratum_t *out);

/** Describes the @i-th erratum, from 0, that is about the event of @text, with its unit masks,
 * modifiers and levels; @plm and the errors are those of pfm_encode_event(). PFMLIB_ERR_NOTFOUND
 * past the last. */
int pfm_describe_text_erratum(const pfm_ctx_t *ctx, const char *text, unsigned plm, unsigned i,
                              pfm_erratum_t *out);

/** Finds the event that @text names, in any dialect: *@pmu and *@event. Unit masks and modifiers
 * are not checked. Errors as for pfm_encode_event(). */
int pfm_find_event_by_text(const pfm_ctx_t *ctx, const char *text, int *pmu, unsigned *event,
                           pfm_error_t *error);

/** Splits the first event off a comma-separated list, as users write it.
 * @list   the rest of the list, moved past the event and its comma; NULL after the last
 * @event  the event, surrounding blanks removed; not terminated
 * @len    its length
 * Commas between slashes ("cpu/event=1,umask=2/") and in braces do not split: a group such as
 * "{cycles,instructions}:W" is one event, and the text inside its braces is a list again. A
 * qualifier after a comma ("edge", "os", "cmask=2") belongs to the event before it. Names are not
 * checked; an unclosed brace extends to the end.
 * Returns 1, or 0 if *@list or an argument is NULL. */
int pfm_split_events(const char **list, const char **event, size_t *len);

/* ---- encoding -------------------------------------------------------------------------------- */

/** Kinds of registers. */
typedef enum pfm_reg_kind {
	PFM_REG_PMC,        /**< control register of one counter */
	PFM_REG_PMD,        /**< data register: the counter itself */
	PFM_REG_FIXED_CTRL, /**< control register that all fixed counters share */
	PFM_REG_EXTRA,      /**< further control register that an event needs */
	PFM_REG_IBR,        /**< instruction breakpoint register */
	PFM_REG_DBR,        /**< data breakpoint register */
	PFM_REG_CONFIG,     /**< word of perf_event_attr: num 0 for config, 1 for config1 ... */
	PFM_REG_GLOBAL_CTRL /**< enable bits: n for counter n, 32 + n for fixed ones */
} pfm_reg_kind_t;

/** A register and its value. Frozen: its size never changes. */
typedef struct pfm_reg {
	uint32_t num;        /**< number; for PFM_REG_FIXED_CTRL that of the event's counter */
	pfm_reg_kind_t kind; /**< the other members depend on it */
	uint64_t addr;       /**< address (on x86 the MSR), or the number again */
	uint64_t alt_addr;   /**< another address (on x86 the RDPMC index), or addr again */
	uint64_t value;
	const char *name; /**< as pfm_decode_field() takes it: "PERFEVTSEL0" ...; never released */
	int32_t event;    /**< index of the first event of its set that needs it; -1: of no event */
	uint32_t reserved;
	uint64_t reserved1, reserved2;
} pfm_reg_t;

/** The members of perf_event_attr that select an event. Frozen: its size never changes. */
typedef struct perfmon_attr {
	uint32_t type;      /**< valid if type_known */
	uint8_t type_known; /**< 0: type depends on the machine */
	uint8_t exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise;     /**< precise_ip, 0 to 3 */
	uint8_t expressible; /**< 0: the kernel cannot count this event */
	uint8_t pinned, exclude_idle, exclude_host, exclude_guest;
	uint8_t reserved[2];
	uint64_t config, config1, config2, config3, config4;
	uint64_t reserved1[3];
} perfmon_attr_t;

#define PFM_MAX_REGS         8
#define PFM_MAX_ALTERNATIVES 4

/** Another code and extra register that count the same event. Frozen: its size never changes. */
typedef struct pfm_alternative {
	uint64_t config;  /**< perf_event_attr.config */
	uint64_t control; /**< value of the counter's control register */
	uint64_t msr;     /**< address of the extra register */
	uint64_t value;   /**< value of the extra register */
	uint64_t reserved;
} pfm_alternative_t;

/** An event as register values and as perf attribute. */
typedef struct pfm_encoding {
	size_t size;
	int pmu;
	unsigned event;
	unsigned plm;                 /**< PFM_PLM*: levels that are counted */
	unsigned n_regs;              /**< control registers: regs[0] .. regs[n_regs - 1] */
	pfm_reg_t regs[PFM_MAX_REGS]; /**< for the lowest counter that can count the event */
	uint64_t counters;            /**< counter mask; fixed counter n is bit 32 + n */
	unsigned n_alternatives;
	pfm_alternative_t alternatives[PFM_MAX_ALTERNATIVES];
	perfmon_attr_t attr;
} pfm_encoding_t;

/** Encodes the event that @text names.
 * @ctx    the context, or NULL for the default one
 * @text   an event in any dialect; see perfmon(7)
 * @plm    levels to count if the text names none: any of PFM_PLM0 .. PFM_PLM3, 0 for the defaults
 *         of the PMU
 * @out    filled on success, unchanged on failure; owned by the caller
 * @error  filled on failure; may be NULL
 * The attribute is for a machine that has the PMU (PFM_PMU_HOST of pfm_describe_pmu()): elsewhere
 * its numbers select another event, and pfm_fill_perf_event_attr() refuses them. Does not allocate.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL     @text or @out is NULL, out->size is invalid, or @plm is out of range
 *   PFMLIB_ERR_SYNTAX    the text cannot be parsed
 *   PFMLIB_ERR_NOTFOUND  no PMU has the event
 *   PFMLIB_ERR_UMASK     a unit mask is unknown or missing
 *   PFMLIB_ERR_ATTR, PFMLIB_ERR_ATTR_VAL, PFMLIB_ERR_ATTR_MISSING, PFMLIB_ERR_ATTR_SET
 *                        a modifier or field is unknown, or its value is wrong, missing, or set
 *                        twice
 *   PFMLIB_ERR_NOTSUPP   the PMU cannot count the event so
 *   PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS, PFMLIB_ERR_IMAGE
 *                        images or the kernel's PMUs cannot be read
 * Thread-safe. */
int pfm_encode_event(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out,
                     pfm_error_t *error);

/** Encodes event number @event of @pmu without any modifier, with its default unit masks: the fast
 * way through a whole table. Otherwise like pfm_encode_event(). */
int pfm_encode_event_at(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned plm,
                        pfm_encoding_t *out, pfm_error_t *error);

/** Notations of events. */
typedef enum pfm_dialect {
	PFM_DIALECT_LIBPFM, /**< pmu::EVENT:UMASK:modifier=value */
	PFM_DIALECT_LIBPMC, /**< Event,qualifier=value (FreeBSD) */
	PFM_DIALECT_PERF,   /**< pmu/event=0xc0,umask=1/ or rNNN */
	PFM_DIALECT_VENDOR  /**< the vendor's names */
} pfm_dialect_t;

/** Writes the event that @text names to @buf in @dialect, modifiers in canonical order. Encoding
 * the result gives the same registers.
 *
 * Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
 *   PFMLIB_ERR_NOTSUPP  the dialect cannot express the event (PFM_KIND_UNEXPRESSIBLE)
 *   PFMLIB_ERR_FULL     @buf is too small; nothing was written
 * Thread-safe. */
int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf,
                    size_t len, pfm_error_t *error);

/* ---- sets ------------------------------------------------------------------------------------ */

/** How to dispatch a set. 0 in every member gives the defaults. */
typedef struct pfm_dispatch_options {
	size_t size;
	unsigned plm;                        /**< levels of events that name none; 0: default */
	unsigned flags;                      /**< PFMLIB_PFP_* */
	const pfmlib_regmask_t *unavailable; /**< control registers not to use, or NULL */
	int htoff;                           /**< 1: hyper-threading is off */
	void *model_in;                      /**< processor-specific settings, or NULL */
	void *model_out;                     /**< receives processor-specific results, or NULL */
} pfm_dispatch_options_t;

/** Placement and registers of a set, in memory of the library: size is what this library fills. */
typedef struct pfm_set {
	size_t size;
	int pmu;
	unsigned n_events, n_pmcs, n_pmds;
	const int *counter; /**< per event; fixed counter n is 32 + n; -1: needs no counter */
	/** Control registers: one per event in the order of events, then extra registers, then
	 * GLOBAL_CTRL where the PMU has it. */
	const pfm_reg_t *pmcs;
	/** Data registers, to read the counts from: one per event with a counter, then PERF_METRICS
	 * (MSR 0x329), once, if events are figures in it. */
	const pfm_reg_t *pmds;
} pfm_set_t;

/** Computes the register values that count @n events of one PMU together.
 * @out      receives the set, NULL on failure; release it with pfm_close_set()
 * @texts    the events, as pfm_encode_event() takes them
 * @options  NULL for the defaults
 * @error    filled on failure; may be NULL
 * Finds a placement if there is one: events with the fewest counters first, each on its lowest
 * counter, so equal input gives equal output. Free-running events need no counter. Nothing is
 * programmed.
 *
 * Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
 *   PFMLIB_ERR_TOOMANY    more than 64 events
 *   PFMLIB_ERR_EVTINCOMP  the events belong to several PMUs
 *   PFMLIB_ERR_NOASSIGN   error->clash is a smallest set of events that do not fit together; with
 *                         PFM_KIND_ALONE, error->event must be counted alone and the others of
 *                         the clash cannot use fixed counters
 *   PFMLIB_ERR_NOMEM      out of memory
 * Thread-safe. */
int pfm_dispatch_set(const pfm_set_t **out, const pfm_ctx_t *ctx, const char *const *texts,
                     unsigned n, const pfm_dispatch_options_t *options, pfm_error_t *error);

/** Releases @set. NULL is allowed. */
void pfm_close_set(const pfm_set_t *set);

/* ---- decoding -------------------------------------------------------------------------------- */

/** Describes field @i of @reg ("PERFEVTSEL0", "PMC4", "config", "PCTR_CTL" ...) of @pmu, which
 * holds @value: the field's *@name, its value in *@field, and its meaning in *@text (a word, an
 * event, or ""). PFMLIB_ERR_NOTFOUND past the last field, PFMLIB_ERR_INVAL if the PMU has no such
 * register. */
int pfm_decode_field(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     const char **name, uint64_t *field, const char **text);

/** Writes to @name, which has room for @len bytes (16 are enough), register @i of @pmu that
 * pfm_decode_field() takes. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_FULL if it does not
 * fit. */
int pfm_describe_register(const pfm_ctx_t *ctx, int pmu, unsigned i, char *name, size_t len);

/** Writes to @buf, in the vendor's dialect, the @i-th event of @pmu that @value in register @reg
 * can mean, the most likely first. Privilege levels and enable bits are not compared;
 * modifiers are added for bits that the event does not explain. The ESCR of a Pentium 4's CCCR is
 * in the upper half of @value. PFMLIB_ERR_NOTFOUND past the last. pfm_decode_set() compares extra
 * registers too. */
int pfm_decode_event(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     char *buf, size_t len);

/** An event that a set of registers means. */
typedef struct pfm_decoded_event {
	size_t size;
	unsigned reg;          /**< index of its control register in @regs */
	int counter;           /**< fixed counter n is 32 + n; -1: unknown */
	int enabled;           /**< bit of GLOBAL_CTRL: 1 or 0; -1 if @regs lacks that register */
	unsigned n_candidates; /**< more than 1: the registers cannot tell these events apart */
	unsigned candidate;    /**< which of them this is, from 0, the most likely first */
	char text[256];        /**< the event, as pfm_encode_event() takes it; "" if unknown */
} pfm_decoded_event_t;

/** Finds the events that the @n registers @regs of @pmu count: pfm_set_t.pmcs, or registers read
 * from hardware.
 * @regs    kind, num and value are used; addr for PFM_REG_EXTRA, event for PFM_REG_CONFIG; not name
 * @out     receives one entry per event and candidate, at most @n_out; entries of one event follow
 *          each other. A register that matches no event has one entry with an empty text
 * Extra registers (OFFCORE_RSP_0 ...) are compared where @regs has them; without them, all events
 * that differ only there are candidates, 32 of them at most.
 *
 * Returns the number of entries, which may exceed @n_out, or
 *   PFMLIB_ERR_INVAL    @regs or @out is NULL, a size is invalid, or @pmu or the number of a
 *                       control register is out of range
 *   PFMLIB_ERR_NOTSUPP  registers of this PMU cannot be decoded */
int pfm_decode_set(const pfm_ctx_t *ctx, int pmu, const pfm_reg_t *regs, unsigned n,
                   pfm_decoded_event_t *out, unsigned n_out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
