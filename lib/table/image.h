/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Compiled event tables. One layout serves the tables inside the library and those in image files:
 * host byte order, no pointers. pmuc.py writes an image; pfmi_table_verify_image() proves a foreign
 * one safe.
 *
 * An image is a struct image, then arrays. One set of arrays serves the whole image:
 *
 *   tables          struct table[]         one head per PMU; its references are offsets in bytes
 *                                          from the head itself
 *   PMU names       uint32_t[]             hash table over the names of tables and families
 *   families        struct pmu_family[]    names of several tables: "skx" is the family of
 *                                          skx_uncore_cha and others
 *   family members  uint16_t[]             their tables
 *   hosts           struct host_slot[]     hash table over identities of machines
 *   name filters    uint64_t[]             names that members of a family can have
 *   pool            char[]                 strings, NUL terminated; offset 0 is ""
 *                                          alone
 *
 * Each table refers to its own part of these arrays; equal parts are stored once:
 *
 *   keys            uint8_t[]              1 + number of the field with that key
 *   counters        struct counter_range[] ranges of counters
 *   fields          struct field[]         named fields and their bits
 *   matches         struct host_match[]    machines that the table is for, then those of its errata
 *   features        struct feature[]       facts about the processor
 *   rules           struct rule[]          what limits single events and sets of events
 *   errata          struct erratum[]       what some machines count wrong
 *   row numbers     uint32_t[]             its events in table order, then rows of aliases
 *   other names     struct stored_name[]   further names of rows, and names without a row
 *   name slots      uint32_t[]             hash table over its names: 16 bits of hash, 16 bits of
 *                                          1 + row, or of n_rows + name
 *   code index      uint16_t[]             hash table over (code, unit mask), for decoding
 *
 * Shared by all tables, each element once: sets of counters, named values, unit mask groups, tests
 * of rules, rows of errata, rows, values of rows (8 bits of field, 1 bit "wide", 23 bits of value
 * or number of a wide value), wide values, and the group numbers of rows.
 *
 * An example: skl::MEM_LOAD_RETIRED.L3_MISS is a struct row with the offsets of its name and its
 * description in the pool, counter set 0-3, and the values code=0xd1 and umask=0x20: two uint32_t
 * with the numbers of the fields "event" and "umask" of the table in bits 24-31.
 *
 * The arrays may have any order. pmuc.py puts the parts that one look-up reads next to each other:
 * fields, named values, groups, names, slots, row numbers, values and rows of a table, then those
 * of the next table.
 *
 * All hash tables are probed linearly from (hash * 0x9e3779b1 mod 2^32) * slots / 2^32. */
/* clang-format on */
#ifndef PERFMON_TABLE_IMAGE_H
#define PERFMON_TABLE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#define IMAGE_MAGIC          0x62646d70u /* "pmdb" read in the writer's byte order */
#define IMAGE_VERSION        14u
#define TABLE_MAGIC          0x32746d70u
#define IMAGE_MAX_TABLES     4096u
#define PMU_NAME_IS_ALIAS    0x8000u
#define PMU_NAME_NUMBER_MASK 0x7fffu
#define TABLE_MAX_NAMES      65534u /* rows and other names: name slots have 16 bits for a number */
#define TABLE_MAX_FIELDS     255u
#ifndef TABLE_MAX_RULES /* scripts/freestanding.py: as many as its tables have */
#define TABLE_MAX_RULES 255u
#endif
#define POOL_PAD 8u /* zero bytes that end every string pool, for names.c */

struct image_array_span {
	uint32_t offset; /* bytes from the start of the image */
	uint32_t n_elements;
};

enum image_array {
	ARRAY_TABLES,
	ARRAY_PMU_NAMES,
	ARRAY_FAMILIES,
	ARRAY_FAMILY_MEMBERS,
	ARRAY_POOL,
	ARRAY_HOSTS,
	ARRAY_NAME_FILTERS,
	N_ARRAYS = 16 /* unused entries are 0 */
};

/* The start of an image. */
struct image {
	uint32_t magic;
	uint32_t version;
	uint64_t size; /* bytes of the whole image */
	uint32_t n_tables;
	uint32_t checksum; /* two sums over the 64-bit words after this header, folded: verify.c */
	uint64_t build_time; /* seconds since 1970, 0 if unknown */
	uint8_t digest[32];  /* SHA-256 of the source files, for resuming an import */
	struct image_array_span arrays[N_ARRAYS];
};

struct host_slot {
	uint32_t key_hash;    /* table_hash_host_key() */
	uint32_t table_plus1; /* 1 + number of the table, 0 for an empty slot */
};

struct pmu_family {
	uint32_t name;         /* pool */
	uint32_t first_member; /* in the family members */
	uint32_t n_members;
	uint32_t first_filter_word; /* in the name filters */
	uint32_t n_filter_words;
};

enum field_key {
#define KEY(ID, NAME) KEY_##ID,
#include "table/keys.def"
#undef KEY
	N_KEYS
};
_Static_assert(N_KEYS <= 64, "tables and events index fields by key in 64 bytes");

static inline bool table_is_text_key(unsigned key)
{
	const uint64_t texts = 0
#define KEY(ID, NAME)
#define TEXT(ID, NAME) | (uint64_t)1 << KEY_##ID
#include "table/keys.def"
#undef KEY
		;

	return texts >> key & 1;
}

enum encoder_id {
	ENCODER_NONE,
	ENCODER_FORMAT,    /* fields in perf's config words: Arm, POWER, s390, RISC-V, uncore, and
	                      every PMU that the kernel describes */
	ENCODER_X86,       /* PERFEVTSEL: Intel and AMD cores */
	ENCODER_MONTECITO, /* Itanium 2 9000 */
	ENCODER_EV4,       /* Alpha ICCSR */
	ENCODER_EV5,       /* Alpha PMCTR: EV5, EV56, PCA56 */
	ENCODER_EV6,       /* Alpha PCTR_CTL: EV6 */
	ENCODER_EV67,      /* Alpha PCTR_CTL: EV67 and later */
	ENCODER_PERF,      /* the kernel's own software, hardware and cache events */
	ENCODER_NETBURST,  /* Pentium 4: pairs of ESCR and CCCR */
	ENCODER_MIPS,      /* PerfCtl registers */
	N_ENCODERS
};

struct table {
	uint32_t magic;
	uint32_t size;         /* bytes from this head to the end of the arrays it refers to */
	uint64_t all_counters; /* every counter, fixed ones at bit 32 + n */
	uint32_t name;         /* pool: what users type */
	uint32_t desc;         /* pool */
	uint32_t source;       /* pool */
	uint32_t aliases;      /* pool: other names, separated by one blank */
	uint32_t vendor_unit;  /* pool: vendor's unit name of an uncore table, else "" */
	uint32_t device;       /* pool: kernel PMU name, e.g. "cpu", "uncore_cha", else "" */
	uint32_t family_name;  /* pool: name of the family that the table is a member of, else "" */
	uint32_t pool, n_pool;
	int32_t perf_type;   /* perf_event_attr.type if the ABI fixes it, else -1 */
	int32_t libpfm_type; /* PFMLIB_*_PMU, or -1 */
	uint32_t flags;      /* TABLE_* */
	uint16_t encoder;    /* enum encoder_id */
	uint16_t n_general;  /* counters 0 .. n_general-1, where the counters array is empty */
	uint16_t n_counters, n_fields, n_matches, n_features;
	uint32_t n_rows, n_names, n_slots, n_code_index, n_groups;
	uint32_t keys, counters, fields, group_numbers, matches, features, row_numbers, names,
		slots, code_index;
	uint32_t counter_masks, named_values, groups, rows, values, wide_values, row_groups;
	uint32_t
		n_alias_rows; /* rows after the n_rows events: only names of libpfm4 lead to them */
	uint32_t family_plus1; /* 1 + number of the family that has the table's own name, or 0 */
	/* Keys of fields, as two halves of a mask: a text that sets none of them changes no rule of
	 * its event. Bit 0: rules of rows as they are. */
	uint32_t rule_keys[2];
	uint16_t n_rules; /* at most 255 */
	uint16_t n_errata;
	uint32_t rules, rule_tests;
	uint32_t errata, erratum_rows;
};
_Static_assert(sizeof(struct table) == 200, "no padding");

enum {
	TABLE_FALLBACK = 1,     /* architectural events, for processors without a table */
	TABLE_UNCORE = 2,       /* counts for a package, not for a task */
	TABLE_COMPAT_VIEW = 4,  /* libpfm 3's names of a processor that has another table too:
	                           neither  listed nor detected */
	TABLE_TEST_ONLY = 8,    /* an invented PMU */
	TABLE_FROM_KERNEL = 16, /* built from the running kernel's sysfs; never in an image */
	/* A field with declared bits has a default other than 0, or a row has two values for one
	 * bit: a later value replaces an earlier one. */
	TABLE_VALUES_OVERRIDE = 32,
	/* Some names fold to the same: one of them is found by its exact spelling only. */
	TABLE_HAS_FOLDED_TWINS = 64,
	TABLE_FLAGS = 127 /* all of them */
};

/* Counters first .. last; a fixed counter n is numbered 32 + n. */
struct counter_range {
	uint8_t first, last, width, is_fixed;
	/* Addresses of the first counter's registers, 0 without one; each next counter adds
	 * register_step. */
	uint32_t control_register, value_register;
	uint32_t register_step;
};

enum field_kind { FIELD_NUMBER, FIELD_FLAG_SET, FIELD_ENUMERATION, FIELD_TEXT };

/* Words of a perf_event_attr that select an event: config, config1 ... config4. */
#define N_CONFIG_WORDS   5u
#define ALL_CONFIG_WORDS ((1u << N_CONFIG_WORDS) - 1) /* bit i: word i */

struct bitrange {
	uint8_t config_word; /* 0 config, 1 config1 ... */
	uint8_t lsb, width, pad;
};

struct field {
	uint32_t name;
	uint16_t key;        /* enum field_key, KEY_NONE for a field of this table alone */
	uint8_t kind;        /* enum field_kind */
	uint8_t width;       /* bits of a value, 1..64; 32 for texts */
	uint8_t n_ranges;    /* 0: the encoder places the value */
	uint8_t is_modifier; /* 1: users may set it on any event */
	uint16_t n_named_values;
	uint32_t first_named_value;
	uint32_t reserved[2];   /* keeps 64-bit members on multiples of 8 on every architecture */
	uint64_t min, max;      /* allowed values */
	uint64_t default_value; /* of rows without a value */
	struct bitrange ranges[4];
};

/* A named value of a field or of a unit mask group. Other spellings of a value are further elements
 * with the same value. */
struct named_value {
	uint64_t value;
	uint32_t name;
	uint32_t desc;
};

enum group_flags {
	GROUP_COMBINABLE = 1,
	GROUP_HAS_DEFAULT = 2,
	GROUP_REQUIRED = 4,
	/* libpfm 3 and libpfm4 have different defaults: an event in their spelling without "pmu::"
	 * must name the unit mask. */
	GROUP_EXPLICIT_IN_LIBPFM = 8,
	/* The default is not used if the group before this one used its own. */
	GROUP_DEFAULT_YIELDS = 16,
	GROUP_FLAGS = 31 /* all of them */
};

struct umask_group {
	uint32_t name;
	uint16_t flags;
	uint16_t field; /* number of the field that the value is ORed into */
	uint32_t first_named_value;
	uint16_t n_named_values; /* other spellings included */
	uint16_t n_values;       /* distinct values, which come first */
	uint64_t default_value;  /* with GROUP_HAS_DEFAULT */
	uint64_t mask;           /* every bit the group owns */
};

/* A machine that the table is for: all members match. Members that match any machine have the value
 * that is noted. */
struct host_match {
	uint32_t arch, vendor;       /* pool, "" for any */
	uint32_t family;             /* ~0 for any */
	uint32_t model_lo, model_hi; /* 0 .. ~0 for any */
	uint32_t stepping_mask;      /* bit per stepping, 0 for any */
	/* (id & id_mask) == id_value, for a MIDR, PVR, implver or cputype; id_mask 0 for any */
	uint64_t id_value, id_mask;
	uint32_t id_prefix;               /* pool: start of the textual id, "" for any */
	uint8_t core_type, has_core_type; /* of a hybrid processor */
	uint8_t version_lo, version_hi;   /* architectural version, 0..255 for any */
	uint32_t native_model;            /* ~0 for any */
	uint32_t flags;                   /* enum match_flags */
};

enum match_flags {
	MATCH_WHOLE_ID = 1, /* id_prefix is the whole id */
	/* The processor has no list of its own; the table is that of the nearest member of its
	   family. */
	MATCH_NEAREST = 2,
	MATCH_FLAGS = 3 /* all of them */
};

struct feature {
	uint32_t name, text;
	uint64_t value;
};

/* A word that rules test: a configuration word, or a state of the event or the machine. */
enum rule_word {
	RULE_CONFIG = 0,    /* to 4: configuration words */
	RULE_PRECISION = 5, /* precise sampling, 0 to 3 */
	RULE_LEVELS = 6,    /* PFM_PLM0 .. PFM_PLM3 */
	RULE_HT_OFF = 7,    /* 1: hyper-threading is off */
	RULE_SAMPLED = 8,   /* 1: sampled, with a precision that the text has; 0: otherwise */
	RULE_COUNTED = 9,   /* 1: the set is counted, without samples */
	RULE_MACHINE = 10,  /* bits of enum machine_fact */
	N_RULE_WORDS
};

/* Facts of the machine at hand. */
enum machine_fact {
	FACT_SMT,         /* cores run more than one thread */
	FACT_GUEST,       /* the kernel runs in a virtual machine */
	FACT_WATCHDOG,    /* the NMI watchdog holds a counter */
	FACT_TSX,         /* transactions are on (RTM) */
	FACT_TSX_RESERVE, /* transactions have counter 3 for themselves */
	N_MACHINE_FACTS
};

/* Holds if low <= (word & mask) <= high. */
struct rule_test {
	uint64_t mask, low, high;
	uint32_t word;       /* enum rule_word */
	uint32_t joins_next; /* 1: this test or the next one must hold */
};

enum rule_effect {
	RULE_CLASS,    /* none; other rules need events of it */
	RULE_COUNTERS, /* counters other than those in value cannot count the event */
	RULE_REFUSE,   /* no counter can count the event */
	RULE_PAIR,     /* the event takes an even counter and the next one, whose control register
	                  gets value */
	RULE_FOLLOW,   /* the event takes the odd counter after that of the event before it */
	RULE_SHARE, /* all events of the rule in a set must have equal bits in its parts, of those
	               with equal bits in its first number parts */
	RULE_LIMIT, /* at most number events of the rule can be in a set, of those with equal
	               parts */
	RULE_NEEDS, /* a set with the event must have one of rule number number */
	RULE_NOTE,  /* none; text warns users */
	RULE_PLACE, /* the event takes a counter in value, whatever its row says */
	RULE_MOVE,  /* as RULE_SHARE, with one part; an event with other bits becomes one of rule
	               number  number */
	N_RULE_EFFECTS
};

/* Where in a set the event is that another one needs. */
enum need_place { NEED_ANYWHERE, NEED_FIRST, NEED_BEFORE, N_NEED_PLACES };

/* Effects of a rule on the events that pass all its tests. */
struct rule {
	uint32_t name, text, source; /* pool: text is a sentence for users */
	uint32_t first_test;         /* in the tests of rules; the parts follow */
	uint32_t number;
	uint8_t effect; /* enum rule_effect */
	uint8_t n_tests;
	uint8_t n_parts;    /* masks of words that RULE_SHARE and RULE_LIMIT compare */
	uint8_t need_place; /* enum need_place, RULE_NEEDS */
	uint64_t value;
};
_Static_assert(sizeof(struct rule) == 32 && sizeof(struct rule_test) == 32, "no padding");

/* An erratum: an event that some machines count wrong, or a facility beside their counters that has
 * an erratum. */
struct erratum {
	uint32_t ids; /* pool: all its names, separated by blanks */
	uint32_t effect, workaround, kernel, machines, source; /* pool: sentences, or "" */
	uint32_t first_test;                                   /* in the tests of rules */
	uint32_t first_row; /* in the rows of errata, in ascending order */
	uint16_t n_rows;
	uint16_t instead_plus1;     /* 1 + number of an event that counts the same, or 0 */
	uint16_t first_match;       /* in the matches of the table, after its own */
	uint8_t n_tests, n_matches; /* without a match: all machines of the table */
	uint8_t count;              /* pfm_erratum_count_t */
	uint8_t is_for_all;         /* 1: all events of the table, and no rows */
	uint16_t reserved;
};
_Static_assert(sizeof(struct erratum) == 44, "no padding");

enum row_flags {
	ROW_HIDDEN = 1,
	ROW_DEPRECATED = 2,
	ROW_EXCLUSIVE = 4,
	ROW_PER_PKG = 8,
	ROW_EXPERIMENTAL = 16,
	ROW_ARCH = 32,
	ROW_SHADOWED = 64, /* another row's name folds to the same: this row is found by its exact
	                      spelling */
	ROW_METRIC = 128,
	ROW_SNAPSHOT = 256,
	ROW_FREE_RUNNING = 512,
	ROW_WITHOUT_RULE = 1024 /* no rule of single events holds for the row as it is */
};

struct row {
	uint32_t name:24, n_values:8;
	uint32_t desc:28, n_groups:4;
	uint32_t first_value:24; /* in the values */
	uint32_t counter_mask_index:8;
	uint16_t first_group; /* in the group numbers of rows */
	uint16_t flags;       /* enum row_flags */
};
_Static_assert(sizeof(struct row) == 16, "compilers place bit-fields side by side");
#define ROW_MAX_NAME        0xffffffu
#define ROW_MAX_DESC        0xfffffffu
#define ROW_MAX_FIRST_VALUE 0xffffffu

/* A value that has more than 23 bits, or that is for one counter. */
struct wide_value {
	uint64_t value;
	uint32_t counter; /* or ANY_COUNTER */
	uint32_t reserved;
};
#define VALUE_IS_WIDE 0x800000u

/* An element of row_numbers is the number of a row, and above ROW_SOURCES_SHIFT the sources that
 * agree with it in this table: PFM_EVENT_BY_VENDOR and the flags after it. */
#define ROW_SOURCES_SHIFT 29
#define ROW_NUMBER_MASK   ((1u << ROW_SOURCES_SHIFT) - 1)

/* An unpacked value. The value of a text field is an offset in the pool. */
#define ANY_COUNTER 0xffffu
struct field_value {
	uint16_t field;
	uint16_t counter; /* the only counter that the value is for, or ANY_COUNTER */
	uint64_t value;
};

enum name_kind {
	NAME_EVENT,
	NAME_ALIAS,
	NAME_SYNONYM,
	NAME_UNSUPPORTED,
	NAME_NONE /* not found */
};
/* A name that was found. */
struct name_entry {
	uint32_t text; /* pool */
	uint32_t row;  /* NAME_UNSUPPORTED: the reason, in the pool */
	enum name_kind kind;
};
/* A name in the image. */
struct stored_name {
	uint32_t text;   /* pool */
	uint32_t target; /* row or reason; the two highest bits are the kind */
};
#define NAME_TARGET_MASK 0x3fffffffu

#endif
