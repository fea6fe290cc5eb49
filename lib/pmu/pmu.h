/* SPDX-License-Identifier: MIT */
/* The steps event -> plan -> placement -> registers, and the operations of an encoder:
 *
 *   pfmi_lookup_resolve_attrs()   attributes of a text become an event (lookup/resolve.c)
 *   pfmi_pmu_plan_set()           counter masks of the events of a set; impossible sets are refused
 *   pfmi_pmu_assign_counters()    one counter for each event
 *   pfmi_pmu_encode_registers()   registers; cannot fail
 *
 * No function allocates memory, reads a global variable or keeps a pointer after its return. */
#ifndef PERFMON_PMU_H
#define PERFMON_PMU_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/perfmon.h>
#include "base/private.h"
#include "base/text.h"
#include "table/table.h"

#define ROW_NONE                0xffffffffu /* an event that is given by fields, without a row */
#define EVENT_MAX_GROUPS        8
#define EVENT_MAX_USER_FIELDS   16
#define PFMI_LEVEL_MASK         0xfu /* levels that callers may name: PFM_PLM0..3 */
#define PFMI_BAD_LEVELS_MESSAGE "plm has bits that are not privilege levels"
#define PFMI_PLMH               0x10u /* the hypervisor level */

/* Exclusions of an event beside levels, for exclude_flags of struct event. */
enum { EVENT_EXCLUDE_IDLE = 1, EVENT_ONLY_HOST = 2, EVENT_ONLY_GUEST = 4 };

/* Precise sampling (PEBS) of an event: the values of field "precise". PRECISE_AS_ENCODED is that of
 * an alias row whose unit masks decide which of the vendor's rows has its registers. */
enum { PRECISE_IMPOSSIBLE, PRECISE_POSSIBLE, PRECISE_REQUIRED, PRECISE_AS_ENCODED };

/* A field that the user set, and its place in the text. */
struct user_field {
	uint16_t field;
	uint32_t start, end;
	uint64_t value;
};

/* A row with the attributes that the user gave. */
struct event {
	const struct table *table;
	const struct row *row; /* NULL for ROW_NONE */
	uint32_t row_index;
	uint8_t plm; /* levels that the text names; 0: none, the request's default applies */
	uint8_t has_no_levels; /* 1: the text excludes every level (":u=0") */
	uint8_t precise;
	uint8_t has_raw_umask; /* 1: a raw unit mask replaces the values of all groups */
	uint8_t n_user_fields;
	uint8_t exclude_flags;   /* EVENT_* */
	uint16_t chosen_groups;  /* bit i: the user chose a value of the row's group i */
	uint16_t counter_pin;    /* counter that the user chose, or ANY_COUNTER */
	bool has_counter_values; /* some value of the row with declared bits applies to one counter
	                            only */
	uint8_t row_precision;   /* PRECISE_*, as the row's table says */
	uint64_t row_keys;       /* bit for each key: the row has a value for it */
	uint64_t user_keys; /* bit for each key: the user set it, but may have cleared it again */
	uint64_t base_config[N_CONFIG_WORDS];    /* configuration words of defaults and row, without
	                               values for one    counter */
	uint64_t group_values[EVENT_MAX_GROUPS]; /* value of the row's group i: chosen or default */
	struct user_field user_fields[EVENT_MAX_USER_FIELDS];
};

/* The value of field @key: the user's, or the row's for @counter (ANY_COUNTER for the general one),
 * or the default; values of groups of this field are ORed in. */
uint64_t pfmi_pmu_get_key_value(const struct event *ev, enum field_key key, unsigned counter);
/* The value of the field with index @field in the table, computed likewise. */
uint64_t pfmi_pmu_get_field_value(const struct event *ev, unsigned field, unsigned counter);
/* True if the row has a value for field @key. */
static inline bool event_has_key(const struct event *ev, enum field_key key)
{
	return ev->row_keys >> key & 1;
}
/* Number of groups of unit masks that the row has. */
static inline unsigned event_count_groups(const struct event *ev)
{
	return ev->row ? ev->row->n_groups : 0;
}
/* The row's group @i. */
static inline const struct umask_group *event_get_group(const struct event *ev, unsigned i)
{
	return table_get_row_group(ev->table, ev->row, i);
}
/* True if the user set field @key. */
bool pfmi_pmu_has_user_key(const struct event *ev, enum field_key key);
/* The value that the user set for field number @field; NULL if none. */
const uint64_t *pfmi_pmu_find_user_value(const struct event *ev, unsigned field);
/* Adds @value of the user for @field, which the user has not set before. False if the event has too
 * many fields. */
bool pfmi_pmu_set_user_field(struct event *ev, unsigned field, uint64_t value);
/* True if the table gives the event's row @flag. */
/* Finds the feature @name of a table. */
bool pfmi_pmu_find_feature(const struct table *t, const char *name, uint64_t *value);
static inline bool event_has_flag(const struct event *ev, enum row_flags flag)
{
	return ev->row && ev->row->flags & flag;
}
/* The precision of the vendor's row with the registers of @ev, whose own is PRECISE_AS_ENCODED. */
unsigned pfmi_pmu_compute_alias_precision(const struct event *ev);
/* PRECISE_IMPOSSIBLE, PRECISE_POSSIBLE or PRECISE_REQUIRED. */
static inline unsigned event_get_precision(const struct event *ev)
{
	return ev->row_precision == PRECISE_AS_ENCODED ? pfmi_pmu_compute_alias_precision(ev)
	                                               : ev->row_precision;
}
/* The levels at which @ev counts, PFM_PLM0..3; @plm if its text names none. */
static inline unsigned event_get_levels(const struct event *ev, unsigned plm)
{
	if (ev->has_no_levels)
		return 0;
	return ev->plm ? ev->plm & 0xfu : plm;
}
/* The counters that can count the event: those of its row (all for ROW_NONE), or only the one that
 * the user chose. */
uint64_t pfmi_pmu_get_counter_mask(const struct event *ev);
/* Builds the configuration words from the fields that have declared bits. */
void pfmi_pmu_build_config_words(const struct event *ev, unsigned counter,
                                 uint64_t config[N_CONFIG_WORDS]);
/* Writes @value to the bits of @f in @config. Nearly all fields have one range of bits. */
void pfmi_pmu_insert_field_ranges(const struct field *f, uint64_t config[N_CONFIG_WORDS],
                                  uint64_t value);
static inline void field_insert_range(const struct field *f, uint64_t config[N_CONFIG_WORDS],
                                      uint64_t value)
{
	const struct bitrange *r = &f->ranges[0];
	uint64_t mask = ~(uint64_t)0 >> (64 - r->width) << r->lsb;

	config[r->config_word] = (config[r->config_word] & ~mask) | (value << r->lsb & mask);
}
static inline void field_insert(const struct field *f, uint64_t config[N_CONFIG_WORDS],
                                uint64_t value)
{
	if (f->n_ranges == 1)
		field_insert_range(f, config, value);
	else
		pfmi_pmu_insert_field_ranges(f, config, value);
}
/* Is @f, a field of @t, the value of an extra register? If a text sets it, even to 0, the register
 * is written. Several such fields share their bits. */
static inline bool field_is_extra_register(const struct table *t, const struct field *f)
{
	return t->encoder == ENCODER_X86 && f->n_ranges && f->ranges[0].config_word == 1;
}
/* Copies the configuration words of @a to @words, and back. */
static inline void attr_get_words(const perfmon_attr_t *a, uint64_t words[N_CONFIG_WORDS])
{
	const uint64_t own[N_CONFIG_WORDS] = { a->config, a->config1, a->config2, a->config3,
		                               a->config4 };

	memcpy(words, own, sizeof(own));
}
static inline void attr_set_words(perfmon_attr_t *a, const uint64_t words[N_CONFIG_WORDS])
{
	a->config = words[0];
	a->config1 = words[1];
	a->config2 = words[2];
	a->config3 = words[3];
	a->config4 = words[4];
}
/* Reads the value of @f from its bits in @config. */
uint64_t pfmi_pmu_extract_field(const struct field *f, const uint64_t config[N_CONFIG_WORDS]);

/* Makes @ev the event of row @row without attributes. */
PERFMON_PRIVATE void pfmi_pmu_init_event(struct event *ev, const struct table *t, uint32_t row);
/* Unit mask group @i of the row. */
const struct umask_group *pfmi_pmu_get_row_group(const struct table *t, uint32_t row, unsigned i);
/* Adds unit mask @mask, numbered as libpfm 3 does: its position among all values of the row's
 * groups. PFMLIB_ERR_UMASK if the row has no such mask. */
PERFMON_PRIVATE int pfmi_pmu_add_umask(struct event *ev, unsigned mask);
/* The number of unit masks of the row; and the value and group of the one with that number, NULL if
 * out of range. */
PERFMON_PRIVATE unsigned pfmi_pmu_count_row_umasks(const struct table *t, uint32_t row);
PERFMON_PRIVATE const struct named_value *pfmi_pmu_get_row_umask(const struct table *t,
                                                                 uint32_t row, unsigned mask,
                                                                 const struct umask_group **group);
/* A set of events that are to be counted together. */
struct encode_request {
	const struct table *table;
	const struct event *events;
	unsigned n_events;
	unsigned plm;   /* default levels; already checked to be nonzero */
	unsigned flags; /* PFMLIB_PFP_* */
	unsigned htoff;
	const pfmlib_regmask_t *unavailable_regs; /* or NULL */
	const void *model_in;
	void *model_out;
	bool is_described; /* the registers of one event are described: it may need others in its
	                      set */
	bool is_counted;   /* the set is counted, without samples */
	unsigned facts;    /* of the machine, bits of enum machine_fact; 0: unknown */
};

/* Encoders of this build, as bits (1 << enum encoder_id). */
#ifndef PERFMON_ENCODERS
#define PERFMON_ENCODERS ~0u
#endif
#define HAS_ENCODER(ID) (PERFMON_ENCODERS >> (ID)&1)

/* Without an operating system, stacks are small and events are encoded one by one. */
#define PLAN_MAX_EVENTS       (__STDC_HOSTED__ ? 64 : 1)
#define PLAN_MAX_REGS         (HAS_ENCODER(ENCODER_MONTECITO) ? 96 : 16)
#define PLAN_ENCODER_BYTES    (HAS_ENCODER(ENCODER_MONTECITO) ? 3072 : 256)
#define PLAN_MAX_ALTERNATIVES 8
#define PLAN_MAX_HOLDS        4

/* One of the events in @events (bit i) must be on counter @counter. */
struct counter_hold {
	uint64_t events;
	unsigned counter;
};

/* One setting that the hardware allows: the counters of each event, 0 for none, and the holds. The
 * solver uses the first alternative with a placement. The encoder that made it may store a counting
 * mode or the like in @tag. */
struct alternative {
	uint64_t counter_masks[PLAN_MAX_EVENTS];
	struct counter_hold holds[PLAN_MAX_HOLDS];
	unsigned n_holds;
	unsigned tag;
};

struct plan {
	const struct encode_request *request;
	unsigned n_alternatives;
	struct alternative alternatives[PLAN_MAX_ALTERNATIVES]; /* only the first n are written,
	                                                           with masks of n_events events */
	uint64_t counterless_events; /* bit i: event i needs no counter, and its masks are 0 */
	uint64_t pairs;     /* bit i: event i takes the even counter of its mask and the next one */
	uint64_t followers; /* bit i: event i takes the second counter of the event before it */
	const struct rule *pair_rule; /* the rule of pairs or followers */
	/* Events that move to another part of a shared register (bit i), and their words. */
	uint64_t moved_events;
	struct moved_event {
		uint64_t config[N_CONFIG_WORDS];
	} moved[PLAN_MAX_EVENTS];
	uint64_t needed; /* bit i: another event needs event i, so both are in the set */
	/* Data that the encoder passes from constrain_set to encode_set, in a struct of its own. */
	_Alignas(16) unsigned char encoder_data[PLAN_ENCODER_BYTES];
};
/* The counters that can count the only event of @plan. */
uint64_t pfmi_pmu_get_plan_counter_mask(const struct plan *plan);

struct placement {
	unsigned alternative;
	uint8_t counters[PLAN_MAX_EVENTS]; /* 0..63; 0xff: none */
};

/* Finds a placement if there is one, in polynomial time. Events with the fewest counters choose
 * first (ties in the caller's order) and take their lowest counter. PFMLIB_ERR_NOASSIGN without a
 * placement; why->clash is then a smallest set of events that do not fit together, or a
 * minimal one if finding the smallest takes too long. */
int pfmi_pmu_assign_counters(const struct plan *plan, struct placement *out, pfm_error_t *why);

struct register_values {
	unsigned n_pmcs, n_pmds;
	pfm_reg_t pmcs[PLAN_MAX_REGS]; /* only the first n are written */
	pfm_reg_t pmds[PLAN_MAX_REGS];
};

/* Name and bits of one field of a hardware register. */
struct register_field {
	const char name[14];
	uint8_t lsb, width;
};
static inline uint64_t register_field_mask(struct register_field b)
{
	return b.width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << b.width) - 1;
}
static inline uint64_t register_field_insert(uint64_t reg, struct register_field b, uint64_t value)
{
	return (reg & ~(register_field_mask(b) << b.lsb)) |
	       ((value & register_field_mask(b)) << b.lsb);
}
static inline uint64_t register_field_extract(uint64_t reg, struct register_field b)
{
	return reg >> b.lsb & register_field_mask(b);
}

/* Operations of an encoder. An operation is required unless its comment says what NULL means. */
struct encoder_ops {
	/* Checks unit masks, modifiers and levels of an event that was read from text, and
	 * completes it. Returns 0 or PFMLIB_ERR_*, with the reason in *@why. NULL: every event is
	 * valid. */
	int (*check_event)(struct event *ev, pfm_error_t *why);
	/* The largest value of modifier @f of the event. NULL: that of the field. */
	uint64_t (*get_modifier_limit)(const struct event *ev, const struct field *f);
	/* Fills *@out with the counters that each event of a set can use. Returns 0 or
	 * PFMLIB_ERR_*. */
	int (*constrain_set)(const struct encode_request *req, struct plan *out, pfm_error_t *why);
	/* Writes the registers of a set whose counters are assigned; cannot fail. */
	void (*encode_set)(const struct plan *plan, const struct placement *where,
	                   struct register_values *out);
	/* Writes the configuration words of perf_event_attr for one event; cannot fail. */
	void (*build_attr)(const struct event *ev, unsigned plm, perfmon_attr_t *out);
	/* The register that enables the counters of a set; false if no register is needed. NULL: no
	 * PMU of the encoder has one. */
	bool (*build_global_ctrl)(const struct encode_request *req, const struct placement *where,
	                          pfm_reg_t *out);
	/* The configuration words of an event: @own, filled, or the event's own. NULL: build_attr
	 * has them. */
	const uint64_t *(*get_config_words)(const struct event *ev, uint64_t own[N_CONFIG_WORDS]);
	/* Address of the further register that an event sets, 0 for none. NULL: no event sets
	 * one. */
	uint32_t (*get_extra_register)(const struct event *ev);
	/* Fields of the register called @name, their number in *@n; NULL if the register is
	 * unknown. NULL: registers have no fields of their own. */
	const struct register_field *(*find_layout)(const struct table *t, const char *name,
	                                            unsigned *n);
	/* Bits of a register that identify the event. NULL: the fields of the table have them. */
	uint64_t (*get_event_select_mask)(const struct table *t, const char *reg, unsigned i,
	                                  unsigned *counter);
	/* Turns @value of register @reg, one of a pair that selects an event, into the kernel's
	 * config word. A value is that of both, with the second register in its upper half, or that
	 * of the second alone. @ev is the event of a row, whose own word has the bits that the
	 * register lacks; it gets the levels of the register. False if the register selects another
	 * event. NULL: events are not in pairs of registers. */
	bool (*decode_register_pair)(struct event *ev, const char *reg, uint64_t value,
	                             uint64_t *word);
	/* The levels, PFM_PLM*, that @value of register @reg sets for all counters: 0 if it sets
	 * none, or all of them; -1 if no text names them. NULL: no PMU of the encoder has such a
	 * register. */
	int (*decode_shared_levels)(const struct table *t, const char *reg, uint64_t value);
	/* Names of the registers whose layout is known, separated by blanks, "NAME[0-7]" for
	 * several; NULL if there are configuration words only. */
	const char *registers;
	/* The error sentence for a set without a placement whose events have enough counters: no
	 * alternative fits them all. NULL if the PMU has one alternative only. */
	const char *alternatives;
	unsigned default_levels; /* PFM_PLM* counted when neither event nor caller names any */
	bool counts_all_levels;  /* the kernel's driver counts at all levels and refuses exclusions
	                          */
	bool has_pfcntr;         /* the Tru64 counter device can count its events */
};

/* The operations of the encoder of @t; those of an empty encoder if this library does not have it.
 * They read and write nothing but their arguments. (lib/pmu/encoders.c) */
const struct encoder_ops *pfmi_pmu_get_encoder(const struct table *t);

/* True if this library has the table's encoder. */
bool pfmi_pmu_has_encoder(const struct table *t);
/* The largest value that modifier @f of the event can have. */
uint64_t pfmi_pmu_get_modifier_limit(const struct event *ev, const struct field *f);
/* Checks an event whose attributes were read, and completes it. */
int pfmi_pmu_check_event(struct event *ev, pfm_error_t *why);
/* Finds the counters that can count each event. Refuses sets that the hardware cannot count. */
int pfmi_pmu_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
/* Writes the registers, and req->model_out if it is not NULL. */
void pfmi_pmu_encode_registers(const struct plan *plan, const struct placement *where,
                               struct register_values *out);
/* The four configuration words of an event, in the event or in @own. */
const uint64_t *pfmi_pmu_get_config_words(const struct event *ev, uint64_t own[N_CONFIG_WORDS]);
/* The address of the extra register that @ev needs, 0 for none. */
uint32_t pfmi_pmu_get_extra_register(const struct event *ev);
/* True if configuration words consist of the fields alone, and every code and unit mask is valid
 * without a row. */
bool pfmi_pmu_has_plain_config(const struct table *t);
/* The fields of register @name, *@n of them; NULL if the PMU has no such register. */
const struct register_field *pfmi_pmu_get_register_layout(const struct table *t, const char *name,
                                                          unsigned *n);
/* True if pfmi_pmu_get_event_select_mask() has the event select masks of @t. */
bool pfmi_pmu_has_event_select_mask(const struct table *t);
/* The event select mask in register @reg of the @i-th counter that it controls, whose number is
 * stored in *@counter. 0 when there are no more. The registers of a set of one event on that
 * counter begin with @reg. */
uint64_t pfmi_pmu_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter);
/* The name of @reg of a PMU with table @t, as pfmi_pmu_get_register_layout() expects it. It is a
 * constant. */
const char *pfmi_pmu_get_register_name(const struct table *t, const pfm_reg_t *reg);
/* The name of the register at the address @name, such as "0x1a6"; @name itself if no register has
 * that address. */
const char *pfmi_pmu_resolve_register_name(const struct table *t, const char *name);

/* Fills the perf attribute of @ev on a PMU of @type (-1: unknown); @plm: the levels if the event
 * names none. */
void pfmi_pmu_build_event_attr(const struct event *ev, int type, unsigned plm, perfmon_attr_t *out);
/* Fills the perf attribute for the levels @plm of a caller, 0 if it names none. If the text or the
 * caller names levels, the hypervisor is excluded. */
void pfmi_pmu_build_requested_attr(const struct event *ev, int type, unsigned plm,
                                   perfmon_attr_t *out);
/* Can a rule change the counters of @ev, which is encoded alone? False for nearly every event of a
 * core whose rules are about attributes, and for most events of others: the flag of the row saves
 * 290 of 2190 instructions of an event of Zen 4. */
static inline bool event_may_have_rule(const struct event *ev)
{
	const uint32_t *keys = ev->table->rule_keys;
	const uint64_t alone = !event_has_flag(ev, ROW_WITHOUT_RULE);

	return ev->table->n_rules &&
	       ((ev->user_keys | alone) & (keys[0] | (uint64_t)keys[1] << 32) || ev->precise ||
	        ev->row_precision == PRECISE_REQUIRED || !ev->row);
}
/* Applies the rules of the table: narrows counter masks, or refuses the set. */
int pfmi_pmu_apply_rules(const struct encode_request *req, struct plan *out, pfm_error_t *why);
/* The text of the rule whose pairs have companions with this value in their control register; ""
 * for none. */
const char *pfmi_pmu_get_companion_text(const struct table *t, uint64_t value);
/* Finds the next rule from number *@at on that can hold for the event, with modifiers and levels
 * that a text may add; moves *@at past it. NULL after the last. */
const struct rule *pfmi_pmu_find_event_rule(const struct event *ev, unsigned *at);
/* Does the rule hold for the event, with facts @facts of the machine? */
bool pfmi_pmu_holds_rule(const struct event *ev, const struct rule *r, unsigned facts);
/* The facts of the machine that the rule tests. */
unsigned pfmi_pmu_list_rule_facts(const struct table *t, const struct rule *r);
/* The facts of the machine on which limits of the table's events depend. */
unsigned pfmi_pmu_list_limit_facts(const struct table *t);
/* Whether an erratum of the event's table is about the event as it is, or only with modifiers or at
 * levels that a text may add. @plm: the levels if the event names none. */
enum erratum_fit { ERRATUM_UNRELATED, ERRATUM_CONDITIONAL, ERRATUM_APPLIES };
enum erratum_fit pfmi_pmu_fit_erratum(const struct event *ev, unsigned plm, bool htoff,
                                      const struct erratum *e);
/* True if the erratum is about all events, whatever their codes and modifiers are. */
bool pfmi_pmu_is_erratum_general(const struct table *t, const struct erratum *e);
/* Plans a set. Beside an event that must be counted alone, others may use fixed counters or none;
 * free-running events need no counter. An error of kind PFM_KIND_ALONE has the event that must be
 * counted alone. */
int pfmi_pmu_plan_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
/* @plm, or the default levels of @t if @plm is 0. */
unsigned pfmi_pmu_choose_levels(const struct table *t, unsigned plm);
/* pfmi_pmu_dispatch_set() with a plan in memory of its caller. */
int pfmi_pmu_dispatch_plan(const struct encode_request *req, struct plan *plan,
                           struct placement *where, struct register_values *out, pfm_error_t *why);
/* Plans a set, assigns its counters and encodes its registers. */
PERFMON_PRIVATE int pfmi_pmu_dispatch_set(const struct encode_request *req, struct placement *where,
                                          struct register_values *out, pfm_error_t *why);

/* ---- from registers back to rows ------------------------------------------------------------- */

/* The terms of a text in perf's syntax that are a code and perhaps a unit mask in hexadecimal
 * digits, as nearly all are. */
struct spec_codes {
	unsigned n_terms; /* 0: other terms */
	uint64_t code, umask;
};

#define DECODE_NO_COUNTER 64u
#define DECODE_ANY_CODE   (~(uint64_t)0)

/* A register value whose event is searched for. */
struct decode_target {
	const struct table *table;
	const char *reg_name;
	uint64_t value;                  /* of the register */
	uint64_t config[N_CONFIG_WORDS]; /* @value as configuration words */
	unsigned known_words;            /* bit i: word i is known */
	uint64_t code;                   /* the event's code in them, or DECODE_ANY_CODE */
	uint64_t alternate_code;    /* not 0: match only events that this code and unit mask (<< 16)
	                               select too, with another extra register */
	unsigned counter;           /* the register's own, or DECODE_NO_COUNTER */
	uint64_t event_select_mask; /* bits to compare with an encoded register; 0: fields are
	                               compared */
	uint8_t plm;                /* levels that the register counts */
	bool has_level_bits;        /* the register has bits for levels: without one of them it
	                               counts nothing */
	bool is_fixed_control;      /* the register is FIXED_CTR_CTRL of x86 */
	bool is_register_pair;      /* the register is one of a pair that selects an event */
	const struct register_field *layout;
	unsigned n_layout;
};

/* The number of the configuration word called "config", "CONFIG0", "config2" ..., or -1. */
int pfmi_pmu_get_config_index(const char *reg);
/* True if the register is not a configuration word and has an event select mask. */
bool pfmi_pmu_has_register_select_mask(const struct decode_target *g);
/* Fills the members of @g that follow from its table, register name and value. False if the PMU has
 * no such register. */
bool pfmi_pmu_init_decode_target(struct decode_target *g);
/* The bits called @name in the register's layout, or NULL. */
const struct register_field *pfmi_pmu_find_register_field(const struct decode_target *g,
                                                          const char *name);
/* Finds the @i-th event of the register, the best first. False past the last. If no event has the
 * target's code, events with an alternate code are searched. */
bool pfmi_pmu_find_decoded_event(struct decode_target *g, unsigned i, struct event *ev);
/* Sets the levels of @g to those that register @reg with @value sets for all counters, if it sets
 * any. False if no text names these levels. */
bool pfmi_pmu_decode_shared_levels(struct decode_target *g, const char *reg, uint64_t value);
/* Sets the levels of @ev to those of the register if they are not the default levels. */
void pfmi_pmu_set_decoded_levels(const struct decode_target *g, struct event *ev);
/* Sets the levels of @ev to those that its control register @reg excludes by the bits p, u and nsh,
 * as the kernel computes it from a perf attribute. */
void pfmi_pmu_set_excluded_levels(const struct table *t, const char *reg, uint64_t value,
                                  struct event *ev);
/* Sets the levels of @ev, whose configuration word is regs[@i], to those that registers of the
 * whole set have for its counter (POWER). Has no effect without such registers among the @n of the
 * set. */
void pfmi_power_set_levels_of_counter(const struct table *t, const pfm_reg_t *regs, unsigned n,
                                      unsigned i, struct event *ev);
/* The extra register of @ev, an event of target @g, with the code of the target; 0 for none. */
uint32_t pfmi_pmu_get_decoded_extra_register(const struct decode_target *g, const struct event *ev);
/* Finds the best event of @t with the configuration words @config, of which only those in @words
 * (bit i: word i) are compared. On success @ev becomes that event but keeps its levels, precision,
 * exclusions and counter. */
bool pfmi_pmu_decode_config_words(const struct table *t, const uint64_t config[N_CONFIG_WORDS],
                                  unsigned words, struct event *ev);
/* Finds a row without attributes that these codes select. False if no row matches, or if finding it
 * needs a full search. */
bool pfmi_pmu_find_row_by_codes(const struct table *t, const struct spec_codes *n, uint32_t *found);

/* Copies an event without its unused user_fields. */
static inline void event_copy(struct event *to, const struct event *from)
{
	memcpy(to, from,
	       offsetof(struct event, user_fields) +
	               from->n_user_fields * sizeof(from->user_fields[0]));
}

/* True if the fields of @t are in configuration words. */
static inline bool table_has_field_bits(const struct table *t)
{
	for (uint32_t i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].n_ranges)
			return true;
	return false;
}

#endif
