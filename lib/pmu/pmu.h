/* SPDX-License-Identifier: MIT */
/* The steps event -> plan -> placement -> registers, and the operations of an encoder.
 *
 *   resolve.c  pfmi_lookup_resolve_attrs()    attributes of a text become an event (unit masks,
 * fields, levels) encoder    ->constrain       candidate counters of each event of a set; whatever
 * can be refused is refused here assign.c   pfmi_pmu_assign_counters()     one counter per event
 *   encoder    ->encode          registers; cannot fail
 *
 * Nothing here allocates, reads a global or keeps a pointer longer than the call. */
#ifndef PERFMON_PMU_H
#define PERFMON_PMU_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/perfmon.h>
#include "base/text.h"
#include "table/table.h"

#define ROW_NONE                0xffffffffu /* an event spelled out in fields, without a row of its own */
#define EVENT_MAX_GROUPS        8
#define EVENT_MAX_USER_FIELDS   16
#define PFMI_LEVEL_MASK         0xfu /* what callers may ask for: PFM_PLM0..3 */
#define PFMI_BAD_LEVELS_MESSAGE "plm has bits that are not privilege levels"
#define PFMI_PLMH               0x10u /* hypervisor level, beside those */

/* Further exclusions of an event, for struct event. */
enum { EVENT_EXCLUDE_IDLE = 1, EVENT_ONLY_HOST = 2, EVENT_ONLY_GUEST = 4 };

/* A row with everything the user said about it. */
struct event {
	const struct table *table;
	const struct row *row; /* what the table says of the row; NULL for ROW_NONE */
	uint32_t row_index;
	uint8_t plm; /* levels the text named; 0: none named, the request's default counts */
	uint8_t has_no_levels; /* 1: the text switched every level off (":u=0") */
	uint8_t precise;
	uint8_t has_raw_umask; /* 1: a raw unit mask represents all groups */
	uint8_t n_user_fields;
	uint8_t exclude_flags;   /* EVENT_* */
	uint16_t chosen_groups;  /* bit i: the user chose a value of the row's group i */
	uint16_t counter_pin;    /* counter the user asked for, or ANYWHERE */
	bool has_counter_values; /* some value of the row with declared bits is for one counter
	                            alone */
	uint64_t row_keys;       /* bit per key: the row itself gives it a value */
	uint64_t user_keys; /* bit per key: the user gave it one, which may have been taken back */
	uint64_t base_config[4]; /* configuration words of presets and row, counter-bound values
	                            left out */
	uint64_t group_values[EVENT_MAX_GROUPS]; /* value of the row's group i: chosen or preset */
	struct {
		uint16_t field, reserved;
		uint32_t start, end;
		uint64_t value;
	} user_fields[EVENT_MAX_USER_FIELDS]; /* fields the user set, and where in the text */
};

/* The value of field @key: what the user set, else the row's value on @counter (ANYWHERE for the
 * general one), else the preset; group values that go to this field are ORed in. */
uint64_t pfmi_pmu_get_key_value(const struct event *ev, enum field_key key, unsigned counter);
/* Finds it by the field's index in the table. */
uint64_t pfmi_pmu_get_field_value(const struct event *ev, unsigned field, unsigned counter);
/* True if the row itself gives field @key a value. */
static inline bool event_has_key(const struct event *ev, enum field_key key)
{
	return ev->row_keys >> key & 1;
}
/* True if the user set field @key. */
bool pfmi_pmu_has_user_key(const struct event *ev, enum field_key key);
/* The value that the user set for field number @field; NULL if none. */
const uint64_t *pfmi_pmu_find_user_value(const struct event *ev, unsigned field);
/* Notes that the user set @field, which is not set yet; false if the event has too many fields. */
bool pfmi_pmu_set_user_field(struct event *ev, unsigned field, uint64_t value);
/* True if the table gives the event's row @flag. */
static inline bool event_has_flag(const struct event *ev, enum row_flags flag)
{
	return ev->row && ev->row->flags & flag;
}
/* Can the event be sampled precisely (PEBS)? 0 no, 1 may, 2 must. */
uint64_t pfmi_pmu_get_precision(const struct event *ev);
/* Is the event valid only with precise sampling (PEBS)? Its table says "precise=must". */
bool pfmi_pmu_requires_precision(const struct event *ev);
/* The levels @ev counts at, PFM_PLM0..3; @plm where its text names none. */
static inline unsigned event_get_levels(const struct event *ev, unsigned plm)
{
	if (ev->has_no_levels)
		return 0;
	return ev->plm ? ev->plm & 0xfu : plm;
}
/* Candidate counters: the row's (every one for ROW_NONE), narrowed to the one the user asked
 * for. */
uint64_t pfmi_pmu_get_counter_mask(const struct event *ev);
/* Lays every field that has declared bits into the four configuration words. */
void pfmi_pmu_build_config_words(const struct event *ev, unsigned counter, uint64_t config[4]);
/* @value laid into the bits of @f in @config. Nearly all fields are in one run of bits. */
void pfmi_pmu_insert_field_ranges(const struct field *f, uint64_t config[4], uint64_t value);
static inline void field_insert_range(const struct field *f, uint64_t config[4], uint64_t value)
{
	const struct bitrange *r = &f->ranges[0];
	uint64_t mask = ~(uint64_t)0 >> (64 - r->width) << r->lsb;

	config[r->config_word] = (config[r->config_word] & ~mask) | (value << r->lsb & mask);
}
static inline void field_insert(const struct field *f, uint64_t config[4], uint64_t value)
{
	if (f->n_ranges == 1)
		field_insert_range(f, config, value);
	else
		pfmi_pmu_insert_field_ranges(f, config, value);
}
/* Is @f, a field of @t, the word of an extra register? Naming it requests a write to that register,
 * with 0 as well; several are in the same bits. */
static inline bool field_is_extra_register(const struct table *t, const struct field *f)
{
	return t->encoder == ENCODER_X86 && f->n_ranges && f->ranges[0].config_word == 1;
}
/* The value of those bits. */
uint64_t pfmi_pmu_extract_field(const struct field *f, const uint64_t config[4]);

/* An event with nothing but its row: presets in place. */
void pfmi_pmu_init_event(struct event *ev, const struct table *t, uint32_t row);
/* Group number @i of those the row takes. */
const struct umask_group *pfmi_pmu_get_row_group(const struct table *t, uint32_t row, unsigned i);
/* Adds unit mask number @mask (position among all values of the row's groups) as libpfm 3 counts
 * them. PFMLIB_ERR_UMASK if the row has no such mask. */
int pfmi_pmu_add_umask(struct event *ev, unsigned mask);
/* Number of unit masks in that count; and the group and value word of one of them (NULL if out of
 * range). */
unsigned pfmi_pmu_count_row_umasks(const struct table *t, uint32_t row);
const struct named_value *pfmi_pmu_get_row_umask(const struct table *t, uint32_t row, unsigned mask,
                                                 const struct umask_group **group);
/* A set to be measured together. For libpfm 3 callers the events come from indices, else from
 * texts. */
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
};

#define PLAN_MAX_EVENTS       64
#define PLAN_MAX_ALTERNATIVES 8
#define PLAN_MAX_HOLDS        4

/* Counter @counter must be taken by one of the events in @events (bit i). */
struct counter_hold {
	uint64_t events;
	unsigned counter;
};

/* One way the hardware allows: candidates of every event, plus holds. The solver takes the first
 * alternative that fits; encoders put the preferred one first. @tag is theirs (a counting mode,
 * say). mask 0: the event takes no counter. */
struct alternative {
	uint64_t counter_masks[PLAN_MAX_EVENTS];
	struct counter_hold holds[PLAN_MAX_HOLDS];
	unsigned n_holds;
	unsigned tag;
};

struct plan {
	const struct encode_request *request;
	unsigned n_alternatives;
	struct alternative alternatives[PLAN_MAX_ALTERNATIVES]; /* only [0, n) and mask[0, n events)
	                                                           are written */
	uint64_t counterless_events; /* bit i: event i takes no counter at all (its mask is 0 on
	                                purpose) */
	/* Results of constrain for encode; each encoder lays its own struct over them. */
	_Alignas(16) unsigned char encoder_data[3072];
};
/* Counters that can count the only event of @plan, of those that its encoder leaves it. */
uint64_t pfmi_pmu_get_plan_counter_mask(const struct plan *plan);

struct placement {
	unsigned alternative;
	uint8_t counters[PLAN_MAX_EVENTS]; /* 0..63; 0xff: none */
};

/* Finds the placement. Fewest candidates first (ties in the caller's order), lowest counter first,
 * exact. PFMLIB_ERR_NOASSIGN with why->clash naming a smallest clashing subset. Polynomial. */
int pfmi_pmu_assign_counters(const struct plan *plan, struct placement *out, pfm_error_t *why);

struct register_values {
	unsigned n_pmcs, n_pmds;
	pfm_reg_t pmcs[PFM_MAX_SET_REGS]; /* only the first n are written */
	pfm_reg_t pmds[PFM_MAX_SET_REGS];
};

/* Name, bits and meaning of one field of a hardware register: for the printer and the decoder. */
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

/* Operations of a table's encoder, which lib/pmu/encoders.c chooses. All are
 * pure: everything they read or write is in their arguments. Each encoder has them in a struct
 * encoder_ops. */

/* True if this library has the encoder; only then the rest may be asked. */
bool pfmi_pmu_has_encoder(const struct table *t);
/* Checks an event after its attributes were read, completes it. */
int pfmi_pmu_check_event(struct event *ev, pfm_error_t *why);
/* Candidate counters of every event; refuses mixes the hardware cannot count. */
int pfmi_pmu_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
/* Writes the registers, and req->model_out if there is one. */
void pfmi_pmu_encode_registers(const struct plan *plan, const struct placement *where,
                               struct register_values *out);
/* Results of attr, constrain and encode for one event alone, from one look at its values: the words
 * of its attribute, the counters that can count it, and its control registers on the lowest of
 * them. Returns the number of registers; 0, with @out unchanged, if the event needs a plan. */
unsigned pfmi_pmu_encode_single(const struct event *ev, unsigned levels, pfm_encoding_t *out);
/* The words of perf_event_attr of one event. */
int pfmi_pmu_encode_attr(const struct event *ev, unsigned plm, pfm_attr_t *out, pfm_error_t *why);
/* The four configuration words alone, extra registers included; the event's own, or laid into @own.
 * NULL if the kernel cannot be asked. */
const uint64_t *pfmi_pmu_get_config_words(const struct event *ev, uint64_t own[4]);
/* The extra register beside its counter's that @ev needs, 0 for none. */
uint32_t pfmi_pmu_get_extra_register(const struct event *ev);
/* True if an event's words are its fields where the table declares them, and no code or unit mask
 * without a row is refused. */
bool pfmi_pmu_has_plain_config(const struct table *t);
/* The bit layout of register @name; NULL if the PMU has none of that name. *@n fields. */
const struct register_field *pfmi_pmu_get_register_layout(const struct table *t, const char *name,
                                                          unsigned *n);
/* True if the encoder says which bits of a register choose what is counted. */
bool pfmi_pmu_has_event_select_mask(const struct table *t);
/* For such tables, and registers that are no words of the kernel's: which bits of register @reg
 * choose what its counter number @i counts (0, 1 ...: one register may choose for several). That
 * counter goes to *@counter. 0 when there are no more. A set of one event on that counter has this
 * register first. */
uint64_t pfmi_pmu_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter);
/* True if an event is chosen in two registers: the second in the upper half of the first, or
 * alone. */
bool pfmi_pmu_has_register_pairs(const struct table *t);
/* For such tables: what register @reg has becomes the word of the kernel's for @ev, a row alone,
 * which tells what the register does not, and the levels in it @ev's. False if it chooses another
 * event. */
bool pfmi_pmu_decode_register_pair(struct event *ev, const char *reg, uint64_t value,
                                   uint64_t *word);
/* The registers that pfmi_pmu_get_register_layout() may describe, blank-separated, "NAME[0-7]" for
 * several; "" if the words of perf_event_attr are all. */
const char *pfmi_pmu_list_registers(const struct table *t);
/* The name of @reg of a PMU with table @t, as pfmi_pmu_get_register_layout() takes it: a
 * constant. */
const char *pfmi_pmu_get_register_name(const struct table *t, const pfm_reg_t *reg);
/* The name of the register whose address @name is, such as "0x1a6"; @name itself if no register
 * has that address. */
const char *pfmi_pmu_resolve_register_name(const struct table *t, const char *name);
/* Makes @out the register that enables the counters of a set; false if the PMU has none. */
bool pfmi_pmu_build_global_ctrl(const struct encode_request *req, const struct placement *where,
                                pfm_reg_t *out);
/* Why a set may have no placement although each event has its counter: what the alternatives of a
 * plan represent. NULL if there is never more than one. */
const char *pfmi_pmu_describe_alternatives(const struct table *t);
/* Levels counted where neither the event nor the caller names any. */
unsigned pfmi_pmu_get_default_levels(const struct table *t);
/* Linux's driver has no levels: it counts all of them and refuses exclusions. */
bool pfmi_pmu_counts_all_levels(const struct table *t);
/* The counter device of Tru64 UNIX (pfcntr) can count it. */
bool pfmi_pmu_has_pfcntr(const struct table *t);

/* Fills the attributes of perf_event_open for @ev on a PMU of @type (-1: unknown); @plm: levels if
 * the event names none. (lib/encode/encode.c) */
int pfmi_pmu_build_event_attr(const struct event *ev, int type, unsigned plm, pfm_attr_t *out,
                              pfm_error_t *why);
/* Fills the attributes for a caller's levels: @plm 0 if the caller names none. Only levels that the
 * text or the caller names are counted; the hypervisor is not added. */
int pfmi_pmu_build_requested_attr(const struct event *ev, int type, unsigned plm, pfm_attr_t *out,
                                  pfm_error_t *why);
/* Plans a set by its encoder and its table: beside an event that must be counted alone, others may
 * use fixed counters or none; a free-running event takes no counter. PFM_KIND_ALONE names the event
 * that prevents the set. */
int pfmi_pmu_plan_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
/* @plm, or where it is 0 the levels that @t counts by default. */
unsigned pfmi_pmu_choose_levels(const struct table *t, unsigned plm);
/* Fills the members of @out that are no configuration words. */
void pfmi_pmu_set_attr(const struct event *ev, int type, unsigned levels, pfm_attr_t *out);
/* Excludes the hypervisor where the caller named levels and the text did not. */
void pfmi_pmu_exclude_hv_for_explicit_plm(const struct event *ev, unsigned plm, pfm_attr_t *out);
/* pfmi_pmu_dispatch_set() that leaves the plan to its caller. */
int pfmi_pmu_dispatch_plan(const struct encode_request *req, struct plan *plan,
                           struct placement *where, struct register_values *out, pfm_error_t *why);
/* constrain, assign, encode in a row: the middle of pfm_dispatch_events(). */
int pfmi_pmu_dispatch_set(const struct encode_request *req, struct placement *where,
                          struct register_values *out, pfm_error_t *why);

/* ---- from registers back to rows ------------------------------------------------------------- */

/* Terms of SPEC_PERF that are a code and perhaps a unit mask, in hexadecimal digits, and nothing
 * else: how nearly all are spelled. */
struct spec_codes {
	unsigned n_terms; /* 0: other terms */
	uint64_t code, umask;
};

#define DECODE_NO_COUNTER 64u
#define DECODE_ANY_CODE   (~(uint64_t)0)

/* Target of a search for an event. */
struct decode_target {
	const struct table *table;
	const char *reg_name;
	uint64_t value;          /* of the register */
	uint64_t config[4];      /* the same as configuration words */
	unsigned known_words;    /* words that are known: bit i for word i */
	uint64_t code;           /* the event's code in them, or ANY_CODE */
	uint64_t alternate_code; /* not 0: events alone that this code and unit mask (<< 16) choose
	                            as well, by another extra register */
	unsigned counter;        /* the register's own, or DECODE_NO_COUNTER */
	uint64_t event_select_mask; /* bits to compare when the encoder is asked, 0 when the fields
	                               are */
	uint8_t plm;                /* levels the register switches on */
	bool is_fixed_control;      /* x86 FIXED_CTR_CTRL: counters of one event each */
	bool is_register_pair; /* the register is one of two that choose an event, with the other in
	                          its upper half or alone */
	const struct register_field *layout;
	unsigned n_layout;
};

/* "config", "CONFIG0", "config2": the number of the word, or -1. */
int pfmi_pmu_get_config_index(const char *reg);
/* The register is not one of the kernel's words, and the encoder defines which of its bits choose
 * the event. */
bool pfmi_pmu_has_own_control(const struct decode_target *g);
/* Sets @g up for register @g->reg, its table and value given. False if the processor has none of
 * that name. */
bool pfmi_pmu_init_decode_target(struct decode_target *g);
/* The bits called @name in the register's layout, or NULL. */
const struct register_field *pfmi_pmu_find_register_field(const struct decode_target *g,
                                                          const char *name);
/* The @i-th event that fits, the best first; false past the last. If no event has the code first,
 * those that have it beside another. */
bool pfmi_pmu_find_decoded_event(struct decode_target *g, unsigned i, struct event *ev);
/* Sets the levels of the register in @ev if they are not the default ones. A register that counts
 * at no level says nothing about the event. */
void pfmi_pmu_set_decoded_levels(const struct decode_target *g, struct event *ev);
/* The extra register that @ev, an event found for target @g, has with the code of the target; 0 for
 * none. */
uint32_t pfmi_pmu_get_decoded_extra_register(const struct decode_target *g, const struct event *ev);
/* The best event of @t of the configuration words @config: words that are not in @words (bit i:
 * word i) may be anything. The levels stay as they are in @ev; on success everything else is
 * replaced. */
bool pfmi_pmu_decode_config_words(const struct table *t, const uint64_t config[4], unsigned words,
                                  struct event *ev);
/* The row that these numbers alone represent, without an event of fields first: true where it is
 * one just as it is, and found at once. False leaves it open. */
bool pfmi_pmu_find_row_by_codes(const struct table *t, const struct spec_codes *n, uint32_t *found);

/* Copies @from up to its last field that is set. */
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
