/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Compiled event tables. One layout serves the tables inside the library and those in image files:
 * host byte order, no pointers. pmuc.py writes it, pfmi_table_verify_image() proves a foreign one
 * safe once, and from then on it is trusted: the look-up functions below do no bounds checks of
 * their own.
 *
 * An image is a struct image, then arrays. One set of arrays serves the whole image:
 *
 *   tables          struct table[]         one head per PMU; its references are offsets in bytes
 *                                          from the head itself
 *   PMU names       uint32_t[]             hash table over the names of tables and families
 *   families        struct pmu_family[]    names that represent several tables: "skx" for
 *                                          skx_uncore_cha and its like
 *   family members  uint16_t[]             their tables
 *   hosts           struct host_slot[]     hash table over what identifies a machine
 *   name filters    uint64_t[]             which names the members of a family can have
 *   pool            char[]                 strings, NUL terminated; offset 0 is ""
 *
 * Each table refers to its own part of these arrays; equal parts are stored once:
 *
 *   keys            uint8_t[]              1 + number of the field with that key
 *   counters        struct counter_range[] ranges of counters
 *   fields          struct field[]         named fields and their bits
 *   matches         struct host_match[]    machines that the table is for
 *   features        struct feature[]       facts about the processor
 *   row numbers     uint32_t[]             its events in table order, then rows of aliases
 *   other names     struct stored_name[]   further names of rows, and names without a row
 *   name slots      uint32_t[]             hash table over its names: 16 bits of hash, 16 bits of
 *                                          1 + row, or of n_rows + name
 *   code index      uint16_t[]             hash table over (code, unit mask), for decoding
 *
 * Shared by all tables, each element once: sets of counters, named values, unit mask groups, rows,
 * values of rows (8 bits of field, 1 bit "wide", 23 bits of value or number of a wide value), wide
 * values, and the group numbers of rows.
 *
 * An example: skl::MEM_LOAD_RETIRED.L3_MISS is a struct row with the offsets of its name and its
 * description in the pool, counter set 0-3, and the values code=0xd1 and umask=0x20: two uint32_t
 * with the numbers of the fields "event" and "umask" of the table in bits 24-31.
 *
 * Offsets alone place the arrays. pmuc.py writes close together what one look-up reads: fields,
 * named values, groups, names, slots, row numbers, values and rows of a table, then the next one.
 *
 * All hash tables are probed linearly from (hash * 0x9e3779b1 mod 2^32) * slots / 2^32. */
/* clang-format on */
#ifndef PERFMON_TABLE_H
#define PERFMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/text.h"

#define IMAGE_MAGIC          0x62646d70u /* "pmdb" read in the writer's byte order */
#define IMAGE_VERSION        8u
#define TABLE_MAGIC          0x32746d70u
#define IMAGE_MAX_TABLES     4096u
#define PMU_NAME_IS_ALIAS    0x8000u
#define PMU_NAME_NUMBER_MASK 0x7fffu
#define TABLE_MAX_NAMES                                                                            \
	65534u /* rows and further names together: slots have 16 bits for their numbers */
#define TABLE_MAX_FIELDS 255u
#define POOL_PAD                                                                                   \
	8u /* zero bytes that end every string pool: look-up compares eight bytes at a time */

struct image_array_span {
	uint32_t offset, n_elements; /* offset in bytes from the start of the image; elements */
};

enum image_array {
	ARRAY_TABLES,
	ARRAY_PMU_NAMES,
	ARRAY_FAMILIES,
	ARRAY_FAMILY_MEMBERS,
	ARRAY_POOL,
	ARRAY_HOSTS,
	ARRAY_NAME_FILTERS,
	N_ARRAYS = 16
}; /* room for those to come: zeros */

/* The start of an image. */
struct image {
	uint32_t magic;
	uint32_t version;
	uint64_t size; /* bytes of the whole image */
	uint32_t n_tables;
	uint32_t checksum; /* two sums over the 64-bit words after this header, folded (check.c) */
	uint64_t build_time; /* seconds since 1970, 0 if unknown */
	uint8_t digest[32];  /* SHA-256 of the source files, for resuming an import */
	struct image_array_span arrays[N_ARRAYS];
};

struct host_slot {
	uint32_t key_hash, table_plus1; /* host_hash(); 1 + number, 0 for an empty slot */
};

struct pmu_family {
	uint32_t name;         /* pool */
	uint32_t first_member; /* the first one among parts */
	uint32_t n_members;
	uint32_t first_filter_word; /* the first word among filters */
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
	ENCODER_FORMAT,    /* fields laid into config words; any kernel-described PMU, Arm, POWER,
	                      s390, RISC-V, uncore */
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
	uint32_t size; /* bytes from this head to the end of all it refers to, multiple of 8 */
	uint64_t all_counters; /* every counter, fixed ones at bit 32 + n */
	uint32_t name;         /* pool: what users type */
	uint32_t desc;         /* pool */
	uint32_t source;       /* pool */
	uint32_t aliases;      /* pool: other names, separated by one blank */
	uint32_t vendor_unit;  /* pool: vendor's unit name of an uncore table, else "" */
	uint32_t device;       /* pool: kernel PMU name, e.g. "cpu", "uncore_cha", else "" */
	uint32_t family_name;  /* pool: name of the processor that this is a part of, else "" */
	uint32_t pool, n_pool;
	int32_t perf_type;   /* perf_event_attr.type if the ABI fixes it, else -1 */
	int32_t libpfm_type; /* PFMLIB_*_PMU, or -1 */
	uint32_t flags;      /* TABLE_* */
	uint16_t encoder;    /* enum encoder */
	uint16_t n_general;  /* counters 0 .. n_general-1 exist unless the counters array says
	                        otherwise */
	uint16_t n_counters, n_fields, n_matches, n_features;
	uint32_t n_rows, n_names, n_slots, n_code_index, n_groups;
	uint32_t keys, counters, fields, group_numbers, matches, features, row_numbers, names,
		slots, code_index;
	uint32_t counter_masks, named_values, groups, rows, values, wide_values, row_groups;
	uint32_t n_alias_rows; /* rows after the n_rows that are its events: only names of other
	                          programs lead to them */
	uint32_t family_plus1; /* 1 + number of the whole that has the table's own name, 0 if
	                          missing */
	uint32_t spare[5];     /* 0 */
};
_Static_assert(sizeof(struct table) == 192, "heads are three cache lines");

enum {
	TABLE_HAS_FOLDED_TWINS =
		64, /* some names fold to the same: one is found by its exact spelling alone */
	TABLE_VALUES_OVERRIDE =
		32, /* some field with declared bits has a preset other than 0, or some row has two
	             * values for one bit: the later one takes the place of what is there */
	TABLE_FALLBACK = 1,    /* architectural: when nothing better matches */
	TABLE_UNCORE = 2,      /* counts for a package, not a task */
	TABLE_COMPAT_VIEW = 4, /* another spelling of a processor that has its own table: not
	                          listed, not detected */
	TABLE_TEST_ONLY = 8,   /* invented, for tests of the machinery */
	TABLE_FROM_KERNEL = 16 /* built from what the running kernel shows; never in an image */
};

/* Counters first .. last; a fixed counter n is numbered 32 + n. */
struct counter_range {
	uint8_t first, last, width, is_fixed;
	uint32_t control_register, value_register; /* register address of the first one, 0 if none;
	                                              each next one adds step */
	uint32_t register_step;
};

enum field_kind { FIELD_NUMBER, FIELD_FLAG_SET, FIELD_ENUMERATION, FIELD_TEXT };

struct bitrange {
	uint8_t config_word, lsb, width, pad;
}; /* word: 0 config, 1 config1, 2 config2, 3 config3 */

struct field {
	uint32_t name;
	uint16_t key;        /* enum key, KEY_NONE if it is not queried by number */
	uint8_t kind;        /* enum field_kind */
	uint8_t width;       /* bits a value may have, 1..64; texts: 32 */
	uint8_t n_ranges;    /* 0: the encoder places it */
	uint8_t is_modifier; /* 1: users may set it on any event */
	uint16_t n_named_values;
	uint32_t first_named_value; /* first word */
	uint32_t reserved[2];   /* 64-bit members stay on multiples of 8, also where the compiler
	                           would align them to 4 */
	uint64_t min, max;      /* allowed values */
	uint64_t default_value; /* value of rows that do not say */
	struct bitrange ranges[4];
};

/* A word of a trait or choice, or a value of a group. Other spellings of one value are further
 * words with the same value. */
struct named_value {
	uint64_t value;
	uint32_t name;
	uint32_t desc;
};

enum group_flags {
	GROUP_COMBINABLE = 1,
	GROUP_HAS_DEFAULT = 2,
	GROUP_REQUIRED = 4,
	GROUP_DEFAULT_YIELDS = 16,   /* the default is not for an event whose group before this one
	                                has its own default */
	GROUP_EXPLICIT_IN_LIBPFM = 8 /* libpfm 3 and 4 differ in the default: a text in their
	                                spelling without "pmu::" must name it */
};

struct umask_group {
	uint32_t name;
	uint16_t flags;
	uint16_t field; /* index of the field the value is ORed into */
	uint32_t first_named_value;
	uint16_t n_named_values,
		n_values;       /* words with spellings; distinct values come first, in order */
	uint64_t default_value; /* with GROUP_HAS_DEFAULT */
	uint64_t mask;          /* every bit the group owns */
};

/* One alternative; members that do not matter are 0 or ~0 as noted. */
struct host_match {
	uint32_t arch, vendor;       /* pool, "" for any */
	uint32_t family;             /* ~0 for any */
	uint32_t model_lo, model_hi; /* 0 .. ~0 for any */
	uint32_t stepping_mask;      /* bit per stepping, 0 for any */
	uint64_t id_value,
		id_mask; /* MIDR, PVR, implver, cputype: (host id & mask) == value; mask 0: any */
	uint32_t id_prefix; /* pool: what the textual id starts with, "" for any */
	uint8_t core_type, has_core_type, version_lo,
		version_hi;    /* hybrid core type; architectural version, 0..255 any */
	uint32_t native_model; /* ~0 for any */
	uint32_t is_whole_id;  /* 1: the prefix is the whole id */
};

struct feature {
	uint32_t name, text;
	uint64_t value;
};

enum row_flags {
	ROW_HIDDEN = 1,
	ROW_DEPRECATED = 2,
	ROW_EXCLUSIVE = 4,
	ROW_PER_PKG = 8,
	ROW_EXPERIMENTAL = 16,
	ROW_ARCH = 32,
	ROW_SHADOWED = 64, /* another row's name folds to the same: this one is found by its exact
	                      spelling */
	ROW_METRIC = 128,
	ROW_SNAPSHOT = 256,
	ROW_FREE_RUNNING = 512
};

struct row {
	uint32_t name, desc;
	uint32_t first_value;        /* first value */
	uint16_t first_group;        /* first of its group numbers */
	uint16_t counter_mask_index; /* candidate counters: number among the sets */
	uint16_t flags;              /* enum row_flags */
	uint8_t n_values, n_groups;
};

/* A value that does not fit into 23 bits, or for one counter. */
struct wide_value {
	uint64_t value;
	uint32_t counter; /* or ANYWHERE */
	uint32_t reserved;
};
#define VALUE_IS_WIDE 0x800000u

/* An element of row_numbers: the row, and above it the sources that agree with it in this table:
 * PFM_EVENT_BY_* from its lowest. */
#define ROW_SOURCES_SHIFT 29
#define ROW_NUMBER_MASK   ((1u << ROW_SOURCES_SHIFT) - 1)

/* A value, unpacked. counter is ANYWHERE, or the one counter this value is for. Texts: value is a
 * pool offset. */
#define ANY_COUNTER 0xffffu
struct field_value {
	uint16_t field, counter;
	uint64_t value;
};

enum name_kind {
	NAME_EVENT,
	NAME_ALIAS,
	NAME_SYNONYM,
	NAME_UNSUPPORTED,
	NAME_NONE
}; /* no such name */
/* A name as it is found. For NAME_UNSUPPORTED row is a pool offset: the reason. */
struct name_entry {
	uint32_t text, row;
	enum name_kind kind;
};
/* As it is in the image: the two highest bits of target are the kind. */
struct stored_name {
	uint32_t text, target;
};
#define NAME_TARGET_MASK 0x3fffffffu

/* ---- reading --------------------------------------------------------------------------------- */

static inline const char *table_text(const struct table *t, uint32_t off)
{
	return (const char *)t + t->pool + off;
}

#define DEFINE_TABLE_ARRAY(TYPE, NAME)                                                             \
	static inline const TYPE *table_##NAME(const struct table *t)                              \
	{                                                                                          \
		return (const TYPE *)(const void *)((const char *)t + t->NAME);                    \
	}
DEFINE_TABLE_ARRAY(uint8_t, keys)
DEFINE_TABLE_ARRAY(struct counter_range, counters)
DEFINE_TABLE_ARRAY(struct field, fields)
DEFINE_TABLE_ARRAY(uint32_t, group_numbers)
DEFINE_TABLE_ARRAY(struct host_match, matches)
DEFINE_TABLE_ARRAY(struct feature, features)
DEFINE_TABLE_ARRAY(uint32_t, row_numbers)
DEFINE_TABLE_ARRAY(struct stored_name, names)
DEFINE_TABLE_ARRAY(uint32_t, slots)
DEFINE_TABLE_ARRAY(uint16_t, code_index)
DEFINE_TABLE_ARRAY(uint64_t, counter_masks)
DEFINE_TABLE_ARRAY(struct named_value, named_values)
DEFINE_TABLE_ARRAY(struct umask_group, groups)
DEFINE_TABLE_ARRAY(struct row, rows)
DEFINE_TABLE_ARRAY(uint32_t, values)
DEFINE_TABLE_ARRAY(struct wide_value, wide_values)
DEFINE_TABLE_ARRAY(uint32_t, row_groups)
#undef TABLE_ARRAY

static inline const struct row *table_row(const struct table *t, uint32_t row)
{
	return table_rows(t) + (table_row_numbers(t)[row] & ROW_NUMBER_MASK);
}

/* Which sources agree with a row; 0 where they were not compared. */
static inline unsigned table_row_sources(const struct table *t, uint32_t row)
{
	return table_row_numbers(t)[row] >> ROW_SOURCES_SHIFT;
}

/* True if @row is one that a name may represent. */
static inline bool table_has_row(const struct table *t, uint32_t row)
{
	return row < t->n_rows + t->n_alias_rows;
}

static inline const char *table_row_name(const struct table *t, uint32_t row)
{
	return table_text(t, table_row(t, row)->name);
}

/* Candidate counters of a row; fixed counter n is bit 32 + n. */
static inline uint64_t table_row_counter_mask(const struct table *t, const struct row *r)
{
	return table_counter_masks(t)[r->counter_mask_index];
}

static inline struct field_value table_unpack_value(const struct table *t, uint32_t packed)
{
	const struct wide_value *w = table_wide_values(t) + (packed & (VALUE_IS_WIDE - 1));

	if (packed & VALUE_IS_WIDE)
		return (struct field_value){ (uint16_t)(packed >> 24), (uint16_t)w->counter,
			                     w->value };
	return (struct field_value){ (uint16_t)(packed >> 24), ANY_COUNTER,
		                     packed & (VALUE_IS_WIDE - 1) };
}

/* Value number @i of @r. */
static inline struct field_value table_row_value_at(const struct table *t, const struct row *r,
                                                    unsigned i)
{
	return table_unpack_value(t, table_values(t)[r->first_value + i]);
}

/* The number of the first value of @r from @i on that is for @field; r->n_values if missing. */
static inline unsigned table_find_next_row_value(const struct table *t, const struct row *r,
                                                 unsigned field, unsigned i)
{
	const uint32_t *values = table_values(t) + r->first_value;

	while (i < r->n_values && values[i] >> 24 != field)
		i++;
	return i;
}

/* Group number @i of all that the table has; and of those that @r takes. */
static inline const struct umask_group *table_group_at(const struct table *t, uint32_t i)
{
	return table_groups(t) + table_group_numbers(t)[i];
}
static inline const struct umask_group *table_row_group_at(const struct table *t,
                                                           const struct row *r, unsigned i)
{
	return table_groups(t) + table_row_groups(t)[r->first_group + i];
}

/* 1 + the number of the field with @key, 0 if the table has none. */
static inline unsigned table_key_field_plus1(const struct table *t, enum field_key key)
{
	return table_keys(t)[key];
}

/* The field with @key, or NULL. */
static inline const struct field *table_key_field(const struct table *t, enum field_key key)
{
	unsigned at = table_key_field_plus1(t, key);

	return at ? table_fields(t) + (at - 1) : NULL;
}

static inline const struct table *table_image_table_at(const struct image *im, uint32_t i)
{
	return (const struct table *)(const void *)((const char *)im +
	                                            im->arrays[ARRAY_TABLES].offset) +
	       i;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The character in a folded name: lower case, '.' for ':', 0 for those that are ignored. */
static inline unsigned char table_fold_char(unsigned char c)
{
	if (c == ' ' || c == '\t' || c == '-' || c == '_')
		return 0;
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c == ':' ? '.' : c;
}

/* The number that a character adds to the hash of a name: another number for each that folds to
 * another one, 0 for those that are ignored. Those that end a piece of a text, NUL among them, have
 * the highest bit beside it. (table.c; pmuc.py has the same) */
#define NAME_SEPARATOR_BIT ((uint64_t)1 << 63)
extern const uint64_t pfmi_table_char_weights[256];

/* Hash of a name, one character at a time: start at NAME_HASH_SEED. Between separators it is a sum:
 * to add is what takes least time where each step waits for the one before it. Comparison separates
 * names whose pieces have the same characters in another order: one in a hundred has such a twin.
 */
#define NAME_HASH_SEED 0x811c9dc5u
static inline uint32_t table_hash_separator(uint32_t h)
{
	return (h << 7 | h >> 25) + '.';
}
static inline uint32_t table_hash_char(uint32_t h, unsigned char c)
{
	return c == '.' || c == ':' ? table_hash_separator(h)
	                            : h + (uint32_t)pfmi_table_char_weights[c];
}

/* Where probing for hash @h starts among @n slots. Names that differ in a digit have hashes side by
 * side: they are spread first. */
static inline uint32_t table_first_slot(uint32_t h, uint32_t n)
{
	return (uint32_t)((uint64_t)(h * 0x9e3779b1u) * n >> 32);
}

/* The bits that represent a name with hash @h in a word of a filter, slot_of(@h) among its words.
 */
static inline uint64_t table_name_filter_bits(uint32_t h)
{
	h *= 0x85ebca6bu;
	return (uint64_t)1 << (h >> 26) | (uint64_t)1 << (h >> 20 & 63) |
	       (uint64_t)1 << (h >> 14 & 63) | (uint64_t)1 << (h >> 8 & 63);
}

/* Hash of a code and a unit mask, for ways. Rows whose unit mask is chosen by words are under
 * WAY_ANY. Rows that have something in config1 are there twice, with it and without. */
#define CODE_INDEX_ANY_UMASK 0xffffffffu
static inline uint32_t table_hash_code(uint32_t code, uint32_t umask, uint64_t config1)
{
	return (code * 0x9e3779b1u ^ umask ^ (uint32_t)(config1 ^ config1 >> 32) * 0xc2b2ae35u) *
	       0x85ebca6bu;
}

/* Bits of an element of ways that are 1 + the number of a row. */
static inline unsigned table_code_index_bits(const struct table *t)
{
	return 32u - (unsigned)__builtin_clz(t->n_rows | 1);
}
/* The next element of ways from *@at on that may be one for hash @h, and *@at after it; 0 if there
 * are no more. */
static inline uint16_t table_next_code_index_entry(const struct table *t, uint32_t h, uint32_t *at)
{
	const uint16_t *ways = table_code_index(t);
	unsigned bits = table_code_index_bits(t);
	uint32_t i = *at;
	uint16_t way;

	do {
		way = ways[i];
		i = i + 1 < t->n_code_index ? i + 1 : 0;
	} while (way && (uint16_t)(way ^ h) >> bits);
	*at = i;
	return way;
}
/* The row that one represents. */
static inline uint32_t table_code_index_row(const struct table *t, uint16_t way)
{
	return (way & ((1u << table_code_index_bits(t)) - 1)) - 1;
}

/* Keys of the entries of hosts: architecture ("" for all of them), family and model, family,
 * implementer and part of a MIDR, upper half of a PVR, first two words of the textual id, kernel's
 * name of a unit that any processor may have. */
enum host_key_kind {
	HOST_ARCH,
	HOST_MODEL,
	HOST_FAMILY,
	HOST_MIDR_PART,
	HOST_PVR_UPPER,
	HOST_ID_PREFIX,
	HOST_DEVICE
};
static inline uint32_t table_hash_host_key(enum host_key_kind kind, uint32_t a)
{
	return (a * 0x9e3779b1u ^ (uint32_t)kind) * 0x85ebca6bu;
}

/* Every name a table has, by number: first those of rows (NAME_NONE where a row is shadowed by
 * another of the same name). */
static inline uint32_t table_count_names(const struct table *t)
{
	return t->n_rows + t->n_names;
}
static inline struct name_entry table_name_at(const struct table *t, uint32_t i)
{
	if (i < t->n_rows) {
		const struct row *r = table_row(t, i);

		return (struct name_entry){ r->name, i,
			                    r->flags & ROW_SHADOWED ? NAME_NONE : NAME_EVENT };
	}
	i -= t->n_rows;
	return (struct name_entry){ table_names(t)[i].text,
		                    table_names(t)[i].target & NAME_TARGET_MASK,
		                    (enum name_kind)(table_names(t)[i].target >> 30) };
}

/* Hash of @s. */
uint32_t pfmi_table_hash_name(struct slice s);
/* True if the folded form of @len bytes at @s is that of the terminated @name. */
bool pfmi_table_is_folded_equal(const char *name, const char *s, size_t len);
/* The rest of @name, a text of a pool, after @s; NULL if it does not start with @s. Ignores case.
 */
const char *pfmi_table_skip_prefix_icase(const char *name, struct slice s);
/* Eight characters at once tell most words from @s, whatever their case. */
struct prefix_key {
	uint64_t first_bytes, compared_bits;
};
static inline struct prefix_key table_make_prefix_key(struct slice s)
{
	return (struct prefix_key){ base_load_first_bytes(s),
		                    base_keep_first_bytes(0xdfdfdfdfdfdfdfdf,
		                                          s.len < 8 ? s.len : 8) };
}
/* The first of the @n words from number @word on that is @s, a piece of a foreign text, without
 * regard to case; NULL if no word is equal. Several searches have the same @key. */
static inline const struct named_value *table_find_named_value_by_key(const struct table *t,
                                                                      uint32_t word, unsigned n,
                                                                      struct slice s,
                                                                      struct prefix_key key)
{
	const struct named_value *w = table_named_values(t) + word, *end = w + n;
	const char *pool = table_text(t, 0);
	uint64_t here;

	for (; w < end; w++) {
		const char *rest;

		memcpy(&here, pool + w->name, 8);
		if ((here ^ key.first_bytes) & key.compared_bits)
			continue;
		rest = pfmi_table_skip_prefix_icase(pool + w->name, s);
		if (rest && !*rest)
			return w;
	}
	return NULL;
}
/* Handles one. */
const struct named_value *pfmi_table_find_named_value(const struct table *t, uint32_t word,
                                                      unsigned n, struct slice s);
/* Is @s the text at @off without regard to case? For lists of names, most of which begin with
 * another letter or differ after what many begin with. */
static inline bool table_is_text_icase(const struct table *t, struct slice s, uint32_t off)
{
	const char *word = table_text(t, off);

	if ((s.text[0] ^ word[0]) & ~0x20)
		return false;
	word = pfmi_table_skip_prefix_icase(word, s);
	return word && !*word;
}
/* The next slot from @i on that may be that of hash @h, or shows that the name is missing:
 * table_can_slot_match(). */
static inline uint32_t table_probe_slot(const struct table *t, uint32_t h, uint32_t i)
{
	const uint32_t *slots = table_slots(t);

	while (slots[i] > (h << 16 | 0xffff))
		i = i + 1 < t->n_slots ? i + 1 : 0;
	return i;
}
static inline bool table_can_slot_match(const struct table *t, uint32_t h, uint32_t i)
{
	return table_slots(t)[i] > h << 16;
}
/* Enters the name with hash @h, as number @number, into slots or calls: what is below it makes room
 * and goes on. */
void pfmi_table_insert_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number);
/* The name whose folded form has hash @h and equals the folded @len bytes at @s, from slot @i on;
 * kind NAME_NONE if missing. */
struct name_entry pfmi_table_find_name_from_slot(const struct table *t, uint32_t i, uint32_t h,
                                                 const char *s, size_t len);
/* Finds that name, the one spelled so (without regard to case) before others. Here, because most
 * searches end at the first slot. */
static inline struct name_entry table_find_name(const struct table *t, uint32_t h, const char *s,
                                                size_t len)
{
	uint32_t i = table_probe_slot(t, h, table_first_slot(h, t->n_slots));

	return table_can_slot_match(t, h, i) ? pfmi_table_find_name_from_slot(t, i, h, s, len)
	                                     : (struct name_entry){ .kind = NAME_NONE };
}

/* In which of the next eight bytes two texts differ: the others are 0. Texts have no NUL in them,
 * and a pool ends in POOL_PAD of them: as long as all are equal @name goes on, and nothing beyond
 * the pool is read. */
static inline uint64_t table_diff_bytes(const char *name, const char *s)
{
	uint64_t a, b;

	memcpy(&a, name, 8);
	memcpy(&b, s, 8);
	return a ^ b;
}
/* How many of them are equal. */
static inline unsigned table_count_equal_bytes(const char *name, const char *s)
{
	uint64_t differing = table_diff_bytes(name, s);

	if (!differing)
		return 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(differing) / 8;
#else
	return (unsigned)__builtin_clzll(differing) / 8;
#endif
}
/* One character that is folded into the other. */
static inline bool table_is_same_folded_char(char a, char b)
{
	uint64_t weight = pfmi_table_char_weights[(unsigned char)a];

	return weight && weight == pfmi_table_char_weights[(unsigned char)b];
}
/* True if the folded form of what is left of @name is that of @s up to @end, and one of them has
 * characters that the other leaves out. */
bool pfmi_table_is_folded_rest_equal(const char *name, const char *s, const char *end);
/* True if the folded form of @len bytes at @s is that of the terminated @name, a text of a pool.
 * Most bytes are the same in both; only where they differ folding is asked. */
static inline bool table_is_folded_equal(const char *name, const char *s, size_t len)
{
	size_t i = 0;

	while (i + 8 <= len) {
		unsigned n = table_count_equal_bytes(name + i, s + i);

		i += n;
		if (n == 8)
			continue;
		if (!table_is_same_folded_char(name[i], s[i]))
			return pfmi_table_is_folded_rest_equal(name + i, s + i, s + len);
		i++;
	}
	/* The rest, in the last eight. */
	if (len >= 8 &&
	    (i == len || !base_keep_last_bytes(table_diff_bytes(name + len - 8, s + len - 8),
	                                       (unsigned)(len - i))))
		i = len;
	for (; i < len; i++)
		if (name[i] != s[i] && !table_is_same_folded_char(name[i], s[i]))
			return pfmi_table_is_folded_rest_equal(name + i, s + i, s + len);
	return !name[i] || pfmi_table_is_folded_rest_equal(name + i, s + i, s + len);
}
/* The value of @field in @r for @counter; a value for every counter serves if the counter has no
 * own value. False if missing. */
bool pfmi_table_find_row_value(const struct table *t, const struct row *r, unsigned field,
                               unsigned counter, uint64_t *out);
/* The value row @row has for @key on @counter (ANYWHERE for the general one), or the field's
 * preset; 0 without such a field. */
uint64_t pfmi_table_row_value(const struct table *t, uint32_t row, enum field_key key,
                              unsigned counter);
/* The text of @field: "" when the row has none. */
const char *pfmi_table_row_text(const struct table *t, uint32_t row, enum field_key key);
/* True if the row itself gives a value for @key. */
bool pfmi_table_has_row_value(const struct table *t, uint32_t row, enum field_key key);

/* How much of a foreign table is looked at. Its head is enough to read its name and its hosts. */
enum verify_depth { VERIFY_HEAD, VERIFY_ALL };
/* 0 if @size bytes at @t are a table whose head (or everything: each offset, index, string and hash
 * slot) is in bounds and consistent. Else a negative PFMLIB code and *@why says what is wrong.
 * Reads nothing outside the bytes. */
int pfmi_table_verify(const void *t, size_t size, enum verify_depth depth, const char **why);
/* Verifies a whole image: header, every table, and with CHECK_ALL the checksum. */
int pfmi_table_verify_image(const void *image, size_t size, enum verify_depth depth,
                            const char **why);

/* The image inside the library (the build makes it, embed.S brings it in). */
extern const char pfmi_builtin_image[] __attribute__((visibility("hidden")));
static inline const struct image *table_builtin_image(void)
{
	return (const struct image *)(const void *)pfmi_builtin_image;
}
static inline unsigned table_count_builtins(void)
{
	return table_builtin_image()->n_tables;
}
static inline const struct table *table_builtin_at(unsigned i)
{
	return table_image_table_at(table_builtin_image(), i);
}
/* Is @t one of them? */
static inline bool table_is_builtin(const struct table *t)
{
	return (uintptr_t)t - (uintptr_t)pfmi_builtin_image < table_builtin_image()->size;
}
static inline const void *table_image_array(const struct image *im, enum image_array which)
{
	return (const char *)im + im->arrays[which].offset;
}
/* The parts of @w, as table numbers. */
static inline const uint16_t *table_family_members(const struct image *im,
                                                   const struct pmu_family *w)
{
	return (const uint16_t *)table_image_array(im, ARRAY_FAMILY_MEMBERS) + w->first_member;
}
/* May a part of @w have a name with hash @h, or one that only a separator after it tells apart; or
 * may a name of a part, or of a table called like @w, begin with what has that hash and go on
 * after a separator? Most unknown names are found out here. */
static inline bool table_can_family_have_name(const struct image *im, const struct pmu_family *w,
                                              uint32_t h)
{
	const uint64_t *words =
		(const uint64_t *)table_image_array(im, ARRAY_NAME_FILTERS) + w->first_filter_word;

	return !(table_name_filter_bits(h) & ~words[table_first_slot(h, w->n_filter_words)]);
}
/* The next table of @im whose name or other name may be what has hash @h: start with *cursor = 0;
 * -1 when there are no more, as a slot below says. Numbers from n_tables on are wholes. */
static inline int table_next_pmu_by_name(const struct image *im, uint32_t h, uint32_t *cursor)
{
	const uint32_t *calls = table_image_array(im, ARRAY_PMU_NAMES);
	uint32_t n = im->arrays[ARRAY_PMU_NAMES].n_elements,
		 i = *cursor ? *cursor - 1 : table_first_slot(h, n), slot;

	while ((slot = calls[i]) > h << 16) {
		i = i + 1 < n ? i + 1 : 0;
		if (slot >> 16 == (uint16_t)h) {
			*cursor = i + 1;
			return (int)(slot & PMU_NAME_NUMBER_MASK) - 1;
		}
	}
	return -1;
}

#endif
