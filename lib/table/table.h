/* SPDX-License-Identifier: MIT */
/* Reading compiled event tables. pfmi_table_verify_image() proves a foreign image safe once; the
 * functions below trust it and check no bounds. image.h describes the format. */
#ifndef PERFMON_TABLE_H
#define PERFMON_TABLE_H

#include <stddef.h>
#include <string.h>
#include "base/private.h"
#include "base/text.h"
#include "table/image.h"

/* ---- reading --------------------------------------------------------------------------------- */

static inline const char *table_get_text(const struct table *t, uint32_t off)
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
DEFINE_TABLE_ARRAY(struct rule, rules)
DEFINE_TABLE_ARRAY(struct rule_test, rule_tests)
DEFINE_TABLE_ARRAY(struct erratum, errata)
DEFINE_TABLE_ARRAY(uint16_t, erratum_rows)
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
#undef DEFINE_TABLE_ARRAY

static inline const struct row *table_get_row(const struct table *t, uint32_t row)
{
	return table_rows(t) + (table_row_numbers(t)[row] & ROW_NUMBER_MASK);
}

/* The sources that agree with a row, as PFM_EVENT_BY_VENDOR and so on; 0 if none was compared. */
static inline unsigned table_get_row_sources(const struct table *t, uint32_t row)
{
	return table_row_numbers(t)[row] >> ROW_SOURCES_SHIFT;
}

/* Is @row the number of an event or of an alias row? */
static inline bool table_has_row(const struct table *t, uint32_t row)
{
	return row < t->n_rows + t->n_alias_rows;
}

static inline const char *table_get_row_name(const struct table *t, uint32_t row)
{
	return table_get_text(t, table_get_row(t, row)->name);
}

/* Candidate counters of a row; fixed counter n is bit 32 + n. */
static inline uint64_t table_get_row_counter_mask(const struct table *t, const struct row *r)
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
static inline struct field_value table_get_row_value(const struct table *t, const struct row *r,
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

/* Unit mask group @i of the table; of row @r. */
static inline const struct umask_group *table_get_group(const struct table *t, uint32_t i)
{
	return table_groups(t) + table_group_numbers(t)[i];
}
static inline const struct umask_group *table_get_row_group(const struct table *t,
                                                            const struct row *r, unsigned i)
{
	return table_groups(t) + table_row_groups(t)[r->first_group + i];
}

/* 1 + the number of the field with @key, 0 if the table has none. */
static inline unsigned table_get_key_field_plus1(const struct table *t, enum field_key key)
{
	return table_keys(t)[key];
}

/* The field with @key, or NULL. */
static inline const struct field *table_get_key_field(const struct table *t, enum field_key key)
{
	unsigned at = table_get_key_field_plus1(t, key);

	return at ? table_fields(t) + (at - 1) : NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names are compared in folded form: lower case, '.' for ':', without blanks, tabs, '-' and '_'. */

/* Folds one character. Returns 0 for those that are left out. */
static inline unsigned char table_fold_char(unsigned char c)
{
	if (c == ' ' || c == '\t' || c == '-' || c == '_')
		return 0;
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c == ':' ? '.' : c;
}

/* The weight of a character in the hash of a name: equal for characters that fold to the same, 0
 * for those that are left out. Separators (',', '/', ':', '.' and NUL) have the highest bit, and 0
 * in the 32 bits that a hash has. compiler/language/tables.py computes equal values. */
#define NAME_SEPARATOR_BIT ((uint64_t)1 << 63)
extern const uint64_t pfmi_table_char_weights[256];

/* The hash of a name is the sum of its characters' weights, rotated by 7 bits at each separator. It
 * starts at NAME_HASH_SEED. Two names with the same letters in another order share a hash: one name
 * in a hundred. */
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
PERFMON_PRIVATE uint32_t pfmi_table_hash_name(struct slice s);

/* The slot at which probing for hash @h starts, of @n. The factor spreads names that differ in one
 * digit, whose hashes are neighbours. */
static inline uint32_t table_get_first_slot(uint32_t h, uint32_t n)
{
	return (uint32_t)((uint64_t)(h * 0x9e3779b1u) * n >> 32);
}

/* Enters a name with hash @h as number @number into @slots, a hash table of @n slots in the order
 * of their hashes: entries with lower hashes move on. */
void pfmi_table_insert_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number);

/* The first slot from @i on whose hash is at most @h, of which slots store 16 bits. */
static inline uint32_t table_probe_slot(const struct table *t, uint32_t h, uint32_t i)
{
	const uint32_t *slots = table_slots(t);

	while (slots[i] > (h << 16 | 0xffff))
		i = i + 1 < t->n_slots ? i + 1 : 0;
	return i;
}
/* Does slot @i have the hash @h? Otherwise the table has no name of that hash. */
static inline bool table_can_slot_match(const struct table *t, uint32_t h, uint32_t i)
{
	return table_slots(t)[i] > h << 16;
}

/* Is the folded form of the @len bytes at @s that of @name, a string of a pool? */
bool pfmi_table_is_folded_equal(const char *name, const char *s, size_t len);
/* Finds the name whose folded form has hash @h and equals that of the @len bytes at @s, from slot
 * @i on. The kind of the result is NAME_NONE if it is missing. */
PERFMON_PRIVATE struct name_entry pfmi_table_find_name_from_slot(const struct table *t, uint32_t i,
                                                                 uint32_t h, const char *s,
                                                                 size_t len);
/* Finds the name in the whole table. Among names that fold to the same, the one that is spelled
 * like @s but for case is found. */
static inline struct name_entry table_find_name(const struct table *t, uint32_t h, const char *s,
                                                size_t len)
{
	uint32_t i = table_probe_slot(t, h, table_get_first_slot(h, t->n_slots));

	return table_can_slot_match(t, h, i) ? pfmi_table_find_name_from_slot(t, i, h, s, len)
	                                     : (struct name_entry){ .kind = NAME_NONE };
}

/* The names of a table by number: those of its rows, then its other names. A row that another row
 * shadows has kind NAME_NONE. */
static inline uint32_t table_count_names(const struct table *t)
{
	return t->n_rows + t->n_names;
}
static inline struct name_entry table_get_name(const struct table *t, uint32_t i)
{
	if (i < t->n_rows) {
		const struct row *r = table_get_row(t, i);

		return (struct name_entry){ r->name, i,
			                    r->flags & ROW_SHADOWED ? NAME_NONE : NAME_EVENT };
	}
	i -= t->n_rows;
	return (struct name_entry){ table_names(t)[i].text,
		                    table_names(t)[i].target & NAME_TARGET_MASK,
		                    (enum name_kind)(table_names(t)[i].target >> 30) };
}

/* The rest of @name, a string of a pool, after @s; NULL if it does not start with @s. Ignores
 * case. */
const char *pfmi_table_skip_prefix_icase(const char *name, struct slice s);
/* Is @s the string at @offset of the pool, without regard to case? The first letter alone rules out
 * most strings. */
static inline bool table_is_text_icase(const struct table *t, struct slice s, uint32_t offset)
{
	const char *rest = table_get_text(t, offset);

	if ((s.text[0] ^ rest[0]) & ~0x20)
		return false;
	rest = pfmi_table_skip_prefix_icase(rest, s);
	return rest && !*rest;
}
/* Finds the named value that is called @s, without regard to case, among @n from number @first on.
 * Returns NULL if it is missing. */
const struct named_value *pfmi_table_find_named_value(const struct table *t, uint32_t first,
                                                      unsigned n, struct slice s);

/* ---- rows by their registers ----------------------------------------------------------------- */

/* The hash of a code and a unit mask in the code index. A row that has bits in config1 has two
 * entries: with and without them. A row whose unit mask is chosen by name is entered under
 * CODE_INDEX_ANY_UMASK. */
#define CODE_INDEX_ANY_UMASK 0xffffffffu
static inline uint32_t table_hash_code(uint32_t code, uint32_t umask, uint64_t config1)
{
	return (code * 0x9e3779b1u ^ umask ^ (uint32_t)(config1 ^ config1 >> 32) * 0xc2b2ae35u) *
	       0x85ebca6bu;
}

/* An entry of the code index has 1 + the number of a row in its lower bits, so many, and bits of
 * the hash above them. */
static inline unsigned table_count_code_index_bits(const struct table *t)
{
	return 32u - (unsigned)__builtin_clz(t->n_rows | 1);
}
/* The next entry from *@at on whose bits of the hash equal those of @h; moves *@at past it. Returns
 * 0 if there are no more. */
static inline uint16_t table_next_code_index_entry(const struct table *t, uint32_t h, uint32_t *at)
{
	const uint16_t *entries = table_code_index(t);
	unsigned bits = table_count_code_index_bits(t);
	uint32_t i = *at;
	uint16_t entry;

	do {
		entry = entries[i];
		i = i + 1 < t->n_code_index ? i + 1 : 0;
	} while (entry && (uint16_t)(entry ^ h) >> bits);
	*at = i;
	return entry;
}
/* The row of an entry. */
static inline uint32_t table_get_code_index_row(const struct table *t, uint16_t entry)
{
	return (entry & ((1u << table_count_code_index_bits(t)) - 1)) - 1;
}

/* ---- values of rows -------------------------------------------------------------------------- */

/* Finds the value of field number @field in @r for @counter, else the one for every counter. False
 * if the row has neither. */
bool pfmi_table_find_row_value(const struct table *t, const struct row *r, unsigned field,
                               unsigned counter, uint64_t *out);
/* The value of row @row for @key on @counter (ANY_COUNTER: for every counter), or the field's
 * default; 0 if the table has no such field. */
PERFMON_PRIVATE uint64_t pfmi_table_get_row_value(const struct table *t, uint32_t row,
                                                  enum field_key key, unsigned counter);
/* Alternative encoding number @i of the row: code | unit mask << 16 | extra register << 32; 0 after
 * the last. */
uint64_t pfmi_table_get_row_alternative(const struct table *t, uint32_t row, unsigned i);
/* The text of row @row for @key, "" without one. */
const char *pfmi_table_get_row_text(const struct table *t, uint32_t row, enum field_key key);
/* Has the row itself a value for @key? */
bool pfmi_table_has_row_value(const struct table *t, uint32_t row, enum field_key key);

/* ---- errata ---------------------------------------------------------------------------------- */

/* Is event @row one of the erratum? */
static inline bool table_has_erratum_row(const struct table *t, const struct erratum *e,
                                         uint32_t row)
{
	const uint16_t *rows = table_erratum_rows(t) + e->first_row;
	unsigned low = 0, high = e->n_rows;

	while (low < high) {
		unsigned at = (low + high) / 2;

		if (rows[at] < row)
			low = at + 1;
		else
			high = at;
	}
	return e->is_for_all || (low < e->n_rows && rows[low] == row);
}

/* ---- verifying ------------------------------------------------------------------------------- */

/* VERIFY_HEAD checks the names of a table and the hosts it is for; VERIFY_ALL checks everything. */
enum verify_depth { VERIFY_HEAD, VERIFY_ALL };
/**
 * Verify that the @size bytes at @t are a table: each offset, index, string and hash slot is in
 * bounds and consistent. Reads nothing outside of the bytes.
 *
 * Returns 0, or a negative PFMLIB code and the reason in *@why.
 */
int pfmi_table_verify(const void *t, size_t size, enum verify_depth depth, const char **why);
/* Verifies all tables of an image whose directory is valid. Returns the first fault, or NULL. */
const char *pfmi_table_find_image_table_fault(const struct image *im, enum verify_depth depth);
/* Verifies an image: its header, every table, and with VERIFY_ALL its checksum. */
int pfmi_table_verify_image(const void *image, size_t size, enum verify_depth depth,
                            const char **why);

/* ---- images ---------------------------------------------------------------------------------- */

static inline const void *table_get_image_array(const struct image *im, enum image_array which)
{
	return (const char *)im + im->arrays[which].offset;
}
static inline const struct table *table_get_image_table(const struct image *im, uint32_t i)
{
	return (const struct table *)table_get_image_array(im, ARRAY_TABLES) + i;
}

/* The image in the library, made by pmuc.py at build time. */
extern const char pfmi_builtin_image[] __attribute__((visibility("hidden")));
static inline const struct image *table_get_builtin_image(void)
{
	return (const struct image *)(const void *)pfmi_builtin_image;
}
/* The image for libpfm.so.3, which cannot refer to hidden data of libperfmon.so.1. */
PERFMON_PRIVATE const struct image *pfmi_table_get_builtin_tables(void);
static inline unsigned table_count_builtins(void)
{
	return table_get_builtin_image()->n_tables;
}
static inline const struct table *table_get_builtin(unsigned i)
{
	return table_get_image_table(table_get_builtin_image(), i);
}
static inline bool table_is_builtin(const struct table *t)
{
	return (uintptr_t)t - (uintptr_t)pfmi_builtin_image < table_get_builtin_image()->size;
}

/* The numbers of the tables that are members of family @f. */
static inline const uint16_t *table_get_family_members(const struct image *im,
                                                       const struct pmu_family *f)
{
	return (const uint16_t *)table_get_image_array(im, ARRAY_FAMILY_MEMBERS) + f->first_member;
}
/* The bits of a name with hash @h in its word of a family's name filter. */
static inline uint64_t table_make_name_filter_bits(uint32_t h)
{
	h *= 0x85ebca6bu;
	return (uint64_t)1 << (h >> 26) | (uint64_t)1 << (h >> 20 & 63) |
	       (uint64_t)1 << (h >> 14 & 63) | (uint64_t)1 << (h >> 8 & 63);
}
/* Can a member of @f have a name with hash @h, or a longer name whose part before a separator has
 * that hash? False for most names that no member has. */
static inline bool table_can_family_have_name(const struct image *im, const struct pmu_family *f,
                                              uint32_t h)
{
	const uint64_t *words = (const uint64_t *)table_get_image_array(im, ARRAY_NAME_FILTERS) +
	                        f->first_filter_word;

	return !(table_make_name_filter_bits(h) &
	         ~words[table_get_first_slot(h, f->n_filter_words)]);
}
/* The number of the next table of @im that can have the name or alias with hash @h; numbers from
 * n_tables on are families. Start with *@cursor = 0. Returns -1 after the last. */
static inline int table_next_pmu_by_name(const struct image *im, uint32_t h, uint32_t *cursor)
{
	const uint32_t *slots = table_get_image_array(im, ARRAY_PMU_NAMES);
	uint32_t n = im->arrays[ARRAY_PMU_NAMES].n_elements,
		 i = *cursor ? *cursor - 1 : table_get_first_slot(h, n), slot;

	while ((slot = slots[i]) > h << 16) {
		i = i + 1 < n ? i + 1 : 0;
		if (slot >> 16 == (uint16_t)h) {
			*cursor = i + 1;
			return (int)(slot & PMU_NAME_NUMBER_MASK) - 1;
		}
	}
	return -1;
}

/* The key of an entry of the hosts array. */
enum host_key_kind {
	HOST_ARCH,      /* architecture, "" for all */
	HOST_MODEL,     /* family and model */
	HOST_FAMILY,    /* family */
	HOST_MIDR_PART, /* implementer and part of a MIDR */
	HOST_PVR_UPPER, /* upper half of a PVR */
	HOST_ID_PREFIX, /* first two words of the textual id */
	HOST_DEVICE     /* the kernel's name of a PMU that any processor can have */
};
static inline uint32_t table_hash_host_key(enum host_key_kind kind, uint32_t a)
{
	return (a * 0x9e3779b1u ^ (uint32_t)kind) * 0x85ebca6bu;
}

#endif
