/* SPDX-License-Identifier: MIT */
/* Names of a table: their hashes, comparison with strings of a pool, and the search for one.
 * Strings are compared eight bytes at a time. Reading past the end of a string is safe: POOL_PAD
 * zero bytes end each pool, and a text has no NUL in it, so the comparison ends before. Encoding an
 * event takes 1,700 instructions with it and 1,950 byte by byte. The last part of each function
 * compares byte by byte; tests/internal/table/names.c has the plain forms. */
#include "table/table.h"

/* ---- hashing --------------------------------------------------------------------------------- */

/* table_fold_char() of @C, and its bits mixed. */
#define FOLDED_CHAR(C)                                                                             \
	((C) == ' ' || (C) == '\t' || (C) == '-' || (C) == '_' ? 0u                                \
	 : (C) >= 'A' && (C) <= 'Z'                            ? (C) | 0x20u                       \
	 : (C) == ':'                                          ? '.'                               \
	                                                       : (C))
#define MIX_CHAR_ONCE(C)  (FOLDED_CHAR(C) * 0x9e3779b1u)
#define MIX_CHAR_TWICE(C) ((MIX_CHAR_ONCE(C) ^ MIX_CHAR_ONCE(C) >> 15) * 0x85ebca6bu)
#define CHAR_WEIGHT(C)                                                                             \
	(IS_SEPARATOR(C) ? NAME_SEPARATOR_BIT | (uint64_t)FOLDED_CHAR(C) << 32                     \
	                 : (MIX_CHAR_TWICE(C) ^ MIX_CHAR_TWICE(C) >> 13) & 0x7fffffffu)
#define IS_SEPARATOR(C) ((C) == 0 || (C) == ',' || (C) == '/' || (C) == ':' || (C) == '.')
#define CHAR_WEIGHTS_4(C)                                                                          \
	CHAR_WEIGHT(C), CHAR_WEIGHT((C) + 1u), CHAR_WEIGHT((C) + 2u), CHAR_WEIGHT((C) + 3u)
#define CHAR_WEIGHTS_16(C)                                                                         \
	CHAR_WEIGHTS_4(C), CHAR_WEIGHTS_4((C) + 4u), CHAR_WEIGHTS_4((C) + 8u),                     \
		CHAR_WEIGHTS_4((C) + 12u)
#define CHAR_WEIGHTS_64(C)                                                                         \
	CHAR_WEIGHTS_16(C), CHAR_WEIGHTS_16((C) + 16u), CHAR_WEIGHTS_16((C) + 32u),                \
		CHAR_WEIGHTS_16((C) + 48u)
const uint64_t pfmi_table_char_weights[256] = { CHAR_WEIGHTS_64(0u), CHAR_WEIGHTS_64(64u),
	                                        CHAR_WEIGHTS_64(128u), CHAR_WEIGHTS_64(192u) };

uint32_t pfmi_table_hash_name(struct slice s)
{
	uint32_t h = NAME_HASH_SEED;

	for (uint32_t i = 0; i < s.len; i++)
		h = table_hash_char(h, (unsigned char)s.text[i]);
	return h;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Keeps the first @n of eight bytes in memory, 0 to 8, and clears the others. */
static inline uint64_t keep_first_bytes(uint64_t bytes, unsigned n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return n < 8 ? bytes & (((uint64_t)1 << 8 * n) - 1) : bytes;
#else
	return n < 8 ? bytes & ~(~(uint64_t)0 >> 8 * n) : bytes;
#endif
}

/* Are the last @n of eight bytes in memory, 1 to 8, all 0? */
static inline bool are_last_bytes_zero(uint64_t bytes, unsigned n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return !(bytes >> 8 * (8 - n));
#else
	return !(bytes << 8 * (8 - n));
#endif
}

/* The first eight bytes of @s as they are in memory, filled with 0. */
static inline uint64_t load_first_bytes(struct slice s)
{
	uint64_t bytes = 0;

	memcpy(&bytes, s.text, s.len < 8 ? s.len : 8);
	return bytes;
}

/* The bits in which the next eight bytes differ. */
static inline uint64_t diff_bytes(const char *name, const char *s)
{
	uint64_t a, b;

	memcpy(&a, name, 8);
	memcpy(&b, s, 8);
	return a ^ b;
}

/* The number of equal bytes among the next eight before the first that differs. */
static inline unsigned count_equal_bytes(const char *name, const char *s)
{
	uint64_t bits = diff_bytes(name, s);

	if (!bits)
		return 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(bits) / 8;
#else
	return (unsigned)__builtin_clzll(bits) / 8;
#endif
}

/* Do both characters fold to the same character, and is it not one that folding drops? */
static inline bool is_same_folded_char(char a, char b)
{
	uint64_t weight = pfmi_table_char_weights[(unsigned char)a];

	return weight && weight == pfmi_table_char_weights[(unsigned char)b];
}

/* Do @name and the text from @s to @end fold to the same? Folds each character. */
static bool is_rest_folded_equal(const char *name, const char *s, const char *end)
{
	for (;; name++, s++) {
		uint64_t a = 0, b = 0;

		while (*name && !(a = pfmi_table_char_weights[(unsigned char)*name]))
			name++;
		while (s < end && !(b = pfmi_table_char_weights[(unsigned char)*s]))
			s++;
		if (!*name || s == end)
			return !*name && s == end;
		if (a != b)
			return false;
	}
}

bool pfmi_table_is_folded_equal(const char *name, const char *s, size_t len)
{
	size_t i = 0;

	while (i + 8 <= len) {
		unsigned n = count_equal_bytes(name + i, s + i);

		i += n;
		if (n == 8)
			continue;
		if (!is_same_folded_char(name[i], s[i]))
			return is_rest_folded_equal(name + i, s + i, s + len);
		i++;
	}
	/* The last eight bytes include those that were compared before. */
	if (len >= 8 && (i == len || are_last_bytes_zero(diff_bytes(name + len - 8, s + len - 8),
	                                                 (unsigned)(len - i))))
		i = len;
	for (; i < len; i++)
		if (name[i] != s[i] && !is_same_folded_char(name[i], s[i]))
			return is_rest_folded_equal(name + i, s + i, s + len);
	return !name[i] || is_rest_folded_equal(name + i, s + i, s + len);
}

const char *pfmi_table_skip_prefix_icase(const char *name, struct slice s)
{
	for (; s.len >= 8 && !diff_bytes(name, s.text); name += 8)
		s = (struct slice){ s.text + 8, s.len - 8 };
	if (s.len >= 4 && memcmp(name, s.text, 4) == 0) {
		name += 4;
		s = (struct slice){ s.text + 4, s.len - 4 };
	}
	return pfmi_base_skip_prefix_icase(s, name);
}

/* ---- finding --------------------------------------------------------------------------------- */

void pfmi_table_insert_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number)
{
	uint32_t slot = h << 16 | number, moved = 0; /* 1 once @slot is a displaced entry: it stays
	                                                before entries of equal hash */

	for (uint32_t i = table_get_first_slot(h, n); slot; i = i + 1 < n ? i + 1 : 0)
		if (!slots[i] || slots[i] >> 16 < (slot >> 16) + moved) {
			uint32_t other = slots[i];

			slots[i] = slot;
			slot = other;
			moved = 1;
		}
}

/* Finds the row that is spelled like @s, because names of two rows may differ only in blanks and
 * dashes. Returns @n if its spelling is that of @s or no row has it. */
static struct name_entry find_exact_twin(const struct table *t, struct name_entry n, struct slice s)
{
	if (pfmi_base_is_slice_icase(s, table_get_text(t, n.text)))
		return n;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct row *r = table_get_row(t, i);

		if (r->flags & ROW_SHADOWED &&
		    pfmi_base_is_slice_icase(s, table_get_text(t, r->name)))
			return (struct name_entry){ r->name, i, NAME_EVENT };
	}
	return n;
}

struct name_entry pfmi_table_find_name_from_slot(const struct table *t, uint32_t i, uint32_t h,
                                                 const char *s, size_t len)
{
	for (; table_can_slot_match(t, h, i);
	     i = table_probe_slot(t, h, i + 1 < t->n_slots ? i + 1 : 0)) {
		struct name_entry n = table_get_name(t, (table_slots(t)[i] & 0xffff) - 1);

		if (pfmi_table_is_folded_equal(table_get_text(t, n.text), s, len))
			return t->flags & TABLE_HAS_FOLDED_TWINS
			               ? find_exact_twin(t, n, (struct slice){ s, (uint32_t)len })
			               : n;
	}
	return (struct name_entry){ .kind = NAME_NONE };
}

const struct named_value *pfmi_table_find_named_value(const struct table *t, uint32_t first,
                                                      unsigned n, struct slice s)
{
	const struct named_value *value = table_named_values(t) + first, *end = value + n;
	const char *pool = table_get_text(t, 0);
	/* The first eight bytes without the bit of small letters rule out most words. */
	uint64_t bytes = load_first_bytes(s), here,
		 compared = keep_first_bytes(0xdfdfdfdfdfdfdfdf, s.len < 8 ? s.len : 8);

	for (; value < end; value++) {
		const char *rest;

		memcpy(&here, pool + value->name, 8);
		if ((here ^ bytes) & compared)
			continue;
		rest = pfmi_table_skip_prefix_icase(pool + value->name, s);
		if (rest && !*rest)
			return value;
	}
	return NULL;
}
