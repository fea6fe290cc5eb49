/* SPDX-License-Identifier: MIT */
/* Compiled event tables. One layout serves the tables inside the library and those in image files: host byte order,
 * no pointers, every reference an offset in bytes from the start of the table or an index into one of its arrays.
 * pmuc.py writes it (as C or as a file), pfmi_table_check() proves a foreign one safe once, and from then on it is
 * trusted: the look-up functions below do no bounds checks of their own.
 *
 *   struct image            "pmdb", version, byte order, number of tables      (files only)
 *   struct table            head: offsets and counts of the arrays below
 *     counters  struct counter[]    ranges of counters
 *     fields    struct field[]      named fields, their bits
 *     words     struct word[]       words of traits, choices and groups
 *     groups    struct group[]      unit mask groups
 *     matches   struct match[]      which hosts this table is for
 *     features  struct feature[]    facts about the processor
 *     rows      struct row[]        events, in table order
 *     values    struct value[]      field values of rows
 *     takes     uint16_t[]          group numbers of rows
 *     names     struct name[]       every name a row can be found by
 *     slots     struct slot[]       hash table over names, power of two, linear probing
 *     pool      char[]              strings, NUL terminated; offset 0 is the empty string
 */
#ifndef PERFMON_TABLE_H
#define PERFMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAGIC      0x62646d70u /* "pmdb" read in the writer's byte order */
#define IMAGE_VERSION    1u
#define TABLE_MAGIC      0x31746d70u
#define IMAGE_MAX_TABLES 4096u
#define POOL_PAD         8u /* zero bytes that end every string pool: look-up compares eight bytes at a time */

/* File header; tables follow, each 8-byte aligned at offsets[i] from the start of the file. */
struct image {
	uint32_t magic;
	uint32_t version;
	uint64_t size; /* bytes of the whole file */
	uint32_t n_tables;
	uint32_t checksum;  /* two sums over the 64-bit words after this header, folded (table.c) */
	uint64_t built;     /* seconds since 1970, 0 if unknown */
	uint64_t offsets;   /* offset of uint64_t[n_tables] */
	uint8_t digest[32]; /* SHA-256 of the source files, for resuming an import */
};

enum key {
#define KEY(ID, NAME) KEY_##ID,
#include "keys.def"
#undef KEY
	N_KEYS
};
_Static_assert(N_KEYS <= 64, "tables and events index fields by key in 64 bytes");

enum encoder {
	ENCODER_NONE,
	ENCODER_FORMAT,    /* fields laid into config words; any kernel-described PMU, Arm, POWER, s390, RISC-V, uncore */
	ENCODER_X86,       /* PERFEVTSEL: Intel and AMD cores */
	ENCODER_MONTECITO, /* Itanium 2 9000 */
	ENCODER_EV4,       /* Alpha ICCSR */
	ENCODER_EV5,       /* Alpha PMCTR: EV5, EV56, PCA56 */
	ENCODER_EV6,       /* Alpha PCTR_CTL: EV6 */
	ENCODER_EV67,      /* Alpha PCTR_CTL: EV67 and later */
	ENCODER_PERF,      /* the kernel's own software, hardware and cache events */
	N_ENCODERS
};

struct table {
	uint32_t magic;
	uint32_t size;         /* bytes from this head to the end of the pool, multiple of 8 */
	uint32_t name;         /* pool: what users type */
	uint32_t desc;         /* pool */
	uint32_t source;       /* pool */
	uint32_t aka;          /* pool: other names, separated by one blank */
	uint32_t unit;         /* pool: vendor's unit name of an uncore table, else "" */
	uint32_t device;       /* pool: kernel PMU name, e.g. "cpu", "uncore_cha", else "" */
	uint16_t encoder;      /* enum encoder */
	uint16_t flags;        /* TABLE_* */
	int32_t perf_type;     /* perf_event_attr.type if the ABI fixes it, else -1 */
	int32_t libpfm_type;   /* PFMLIB_*_PMU, or -1 */
	uint32_t n_general;    /* counters 0 .. n_general-1 exist unless the counters array says otherwise */
	uint64_t all_counters; /* every counter, fixed ones at bit 32 + n */
	uint32_t n_counters, counters;
	uint32_t n_fields, fields;
	uint32_t n_words, words;
	uint32_t n_groups, groups;
	uint32_t n_matches, matches;
	uint32_t n_features, features;
	uint32_t n_rows, rows;
	uint32_t n_values, values;
	uint32_t n_takes, takes;
	uint32_t n_names, names;
	uint32_t n_slots, slots; /* n_slots is a power of two, at least twice n_names */
	uint32_t n_pool, pool;
	uint8_t field_of_key[64]; /* 1 + index of the field with that enum key, 0 if the table has none; N_KEYS <= 64 */
};

enum {
	TABLE_PRESETS = 32, /* some field with declared bits has a preset other than 0 */
	TABLE_FALLBACK = 1, /* architectural: when nothing better matches */
	TABLE_UNCORE = 2,   /* counts for a package, not a task */
	TABLE_VIEW = 4,     /* another spelling of a processor that has its own table: not listed, not detected */
	TABLE_TEST = 8,     /* invented, for tests of the machinery */
	TABLE_KERNEL = 16   /* built from what the running kernel shows; never in an image */
};

/* Counters first .. last; a fixed counter n is numbered 32 + n. */
struct counter {
	uint8_t first, last, width, fixed;
	uint32_t control, value; /* register address of the first one, 0 if none; each next one adds step */
	uint32_t step;
};

enum field_kind { FIELD_NUMBER,
	          FIELD_TRAIT,
	          FIELD_CHOICE,
	          FIELD_TEXT };

struct bitrange {
	uint8_t word, lsb, width, pad;
}; /* word: 0 config, 1 config1, 2 config2, 3 config3 */

struct field {
	uint32_t name;
	uint16_t key;     /* enum key, KEY_NONE if nobody asks by number */
	uint8_t kind;     /* enum field_kind */
	uint8_t width;    /* bits a value may have, 1..64; texts: 32 */
	uint8_t n_ranges; /* 0: the encoder knows where it goes */
	uint8_t modifier; /* 1: users may set it on any event */
	uint16_t n_words;
	uint32_t word;        /* first word */
	uint32_t reserved[2]; /* 64-bit members stay on multiples of 8, also where the compiler would align them to 4 */
	uint64_t min, max;    /* allowed values */
	uint64_t preset;      /* value of rows that do not say */
	struct bitrange range[4];
};

/* A word of a trait or choice, or a value of a group. Other spellings of one value are further words with the same value. */
struct word {
	uint64_t value;
	uint32_t name;
	uint32_t desc;
};

enum group_flags {
	GROUP_ANY = 1,
	GROUP_DEFAULT = 2,
	GROUP_REQUIRED = 4,
	GROUP_EXPLICIT = 8 /* libpfm 3 and 4 differ in the default: a text in their spelling without "pmu::" must name it */
};

struct group {
	uint32_t name;
	uint16_t flags;
	uint16_t field; /* index of the field the value is ORed into */
	uint32_t word;
	uint16_t n_words, n_values; /* words with spellings; distinct values come first, in order */
	uint64_t preset;            /* with GROUP_DEFAULT */
	uint64_t mask;              /* every bit the group owns */
};

/* One alternative; members that do not matter are 0 or ~0 as noted. */
struct match {
	uint32_t arch, vendor;                                    /* pool, "" for any */
	uint32_t family;                                          /* ~0 for any */
	uint32_t model_lo, model_hi;                              /* 0 .. ~0 for any */
	uint32_t stepping_mask;                                   /* bit per stepping, 0 for any */
	uint64_t value, mask;                                     /* MIDR, PVR, implver, cputype: (host id & mask) == value; mask 0 for any */
	uint32_t pattern;                                         /* pool: extended regular expression over the textual id, "" for none */
	uint8_t core_type, has_core_type, version_lo, version_hi; /* hybrid core type; architectural version, 0..255 any */
	uint32_t native_model;                                    /* ~0 for any */
	uint32_t reserved;
};

struct feature {
	uint32_t name, text;
	uint64_t value;
};

enum row_flags {
	ROW_HIDDEN = 1,
	ROW_DEPRECATED = 2,
	ROW_ALONE = 4,
	ROW_PER_PKG = 8,
	ROW_EXPERIMENTAL = 16,
	ROW_ARCH = 32,
	ROW_SHADOWED = 64,
	ROW_METRIC = 128,
	ROW_SNAPSHOT = 256,
	ROW_FREE_RUNNING = 512
};

struct row {
	uint32_t name, desc;
	uint64_t counters; /* candidates; fixed counter n is bit 32 + n */
	uint32_t value;    /* first value */
	uint32_t take;     /* first group number */
	uint16_t n_values;
	uint8_t n_takes;
	uint8_t reserved;
	uint32_t flags; /* enum row_flags */
};

/* counter is ANYWHERE, or the one counter this value is for. Texts: value is a pool offset. */
#define ANYWHERE 0xffffu
struct value {
	uint16_t field, counter;
	uint32_t reserved;
	uint64_t value;
};

enum name_kind { NAME_EVENT,
	         NAME_ALIAS,
	         NAME_SYNONYM,
	         NAME_UNSUPPORTED };
/* For NAME_UNSUPPORTED row is a pool offset: the reason. */
struct name {
	uint32_t text, row;
	uint32_t kind;
};
struct slot {
	uint32_t hash, name;
}; /* name: 1 + index, 0 for an empty slot */

/* ---- reading ------------------------------------------------------------------------------------------------- */

static inline const char *table_text(const struct table *t, uint32_t off)
{
	return (const char *)t + t->pool + off;
}

#define TABLE_ARRAY(TYPE, NAME)                                                 \
	static inline const TYPE *table_##NAME(const struct table *t)           \
	{                                                                       \
		return (const TYPE *)(const void *)((const char *)t + t->NAME); \
	}
TABLE_ARRAY(struct counter, counters)
TABLE_ARRAY(struct field, fields)
TABLE_ARRAY(struct word, words)
TABLE_ARRAY(struct group, groups)
TABLE_ARRAY(struct match, matches)
TABLE_ARRAY(struct feature, features)
TABLE_ARRAY(struct row, rows)
TABLE_ARRAY(struct value, values)
TABLE_ARRAY(uint16_t, takes)
TABLE_ARRAY(struct name, names)
TABLE_ARRAY(struct slot, slots)
#undef TABLE_ARRAY

static inline const struct row *table_row(const struct table *t, uint32_t row)
{
	return table_rows(t) + row;
}

static inline const char *table_row_name(const struct table *t, uint32_t row)
{
	return table_text(t, table_row(t, row)->name);
}

/* The field with @key, or NULL. */
static inline const struct field *table_field(const struct table *t, enum key key)
{
	unsigned at = t->field_of_key[key];

	return at ? table_fields(t) + (at - 1) : NULL;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* What a character is in a folded name: lower case, '.' for ':', 0 for those that are ignored (table.c). */
extern const unsigned char pfmi_fold[256];
static inline unsigned char name_fold(unsigned char c)
{
	return pfmi_fold[c];
}

/* Hash of a folded name, one character at a time: start at NAME_HASH_SEED. pmuc.py has the same function. */
#define NAME_HASH_SEED 0x811c9dc5u
static inline uint32_t name_hash(uint32_t h, unsigned char folded)
{
	return (h ^ folded) * 0x01000193u;
}

/* True if the folded form of @len bytes at @s is that of the terminated @name. */
bool pfmi_folds_to(const char *name, const char *s, size_t len);
/* Finds the name whose folded form has hash @h and equals the folded @len bytes at @s; NULL if there is none. Here, because most
 * probes end at an empty slot. */
static inline const struct name *pfmi_table_find(const struct table *t, uint32_t h, const char *s, size_t len)
{
	const struct slot *slots = table_slots(t);
	uint32_t mask = t->n_slots - 1;

	for (uint32_t i = h & mask; slots[i].name; i = (i + 1) & mask) {
		const struct name *n = table_names(t) + (slots[i].name - 1);

		if (slots[i].hash == h && pfmi_folds_to(table_text(t, n->text), s, len))
			return n;
	}
	return NULL;
}

/* The value row @row has for @key on @counter (ANYWHERE for the general one), or the field's preset; 0 without such a field. */
uint64_t pfmi_row_value(const struct table *t, uint32_t row, enum key key, unsigned counter);
/* The same for texts: "" when the row has none. */
const char *pfmi_row_text(const struct table *t, uint32_t row, enum key key);
/* True if the row itself gives a value for @key. */
bool pfmi_row_has(const struct table *t, uint32_t row, enum key key);

/* How much of a foreign table is looked at. Its head is enough to know what it is called and which hosts it is for. */
enum check_depth { CHECK_HEAD,
	           CHECK_ALL };
/* 0 if @size bytes at @t are a table whose head (or everything: each offset, index, string and hash slot) is in bounds and
 * consistent. Else a negative PFMLIB code and *@why says what is wrong. Reads nothing outside the bytes. */
int pfmi_table_check(const void *t, size_t size, enum check_depth depth, const char **why);
/* The same for a whole image file: header, every table; the checksum too with CHECK_ALL. */
int pfmi_image_check(const void *image, size_t size, enum check_depth depth, const char **why);

/* The tables inside the library. */
extern const unsigned pfmi_n_builtin;
const struct table *pfmi_builtin(unsigned i);
/* Hash table over their names and other names: slot.name is 1 + table number. */
extern const unsigned pfmi_n_builtin_slots;
extern const struct slot pfmi_builtin_slots[];

#endif
