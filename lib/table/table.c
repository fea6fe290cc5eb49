/* SPDX-License-Identifier: MIT */
/* Look-up in compiled event tables. */
#include "table/table.h"

#include <string.h>

/* name_fold() of @C, and its bits mixed. */
#define FOLDED_CHAR(C)                                                                             \
	((C) == ' ' || (C) == '\t' || (C) == '-' || (C) == '_' ? 0u                                \
	 : (C) >= 'A' && (C) <= 'Z'                            ? (C) | 0x20u                       \
	 : (C) == ':'                                          ? '.'                               \
	                                                       : (C))
#define MIX_CHAR_ONCE(C)  (FOLDED_CHAR(C) * 0x9e3779b1u)
#define MIX_CHAR_TWICE(C) ((MIX_CHAR_ONCE(C) ^ MIX_CHAR_ONCE(C) >> 15) * 0x85ebca6bu)
#define CHAR_WEIGHT(C)                                                                             \
	(((MIX_CHAR_TWICE(C) ^ MIX_CHAR_TWICE(C) >> 13) & 0x7fffffffu) |                           \
	 (IS_SEPARATOR(C) ? NAME_SEPARATOR_BIT : 0))
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

const char *pfmi_table_skip_prefix_icase(const char *name, struct slice s)
{
	for (; s.len >= 8 && table_count_equal_bytes(name, s.text) == 8; name += 8)
		s = (struct slice){ s.text + 8, s.len - 8 };
	if (s.len >= 4 && memcmp(name, s.text, 4) == 0) {
		name += 4;
		s = (struct slice){ s.text + 4, s.len - 4 };
	}
	return pfmi_base_skip_prefix_icase(s, name);
}

const struct named_value *pfmi_table_find_named_value(const struct table *t, uint32_t word,
                                                      unsigned n, struct slice s)
{
	return table_find_named_value_by_key(t, word, n, s, table_make_prefix_key(s));
}

uint32_t pfmi_table_hash_name(struct slice s)
{
	uint32_t h = NAME_HASH_SEED;

	for (uint32_t i = 0; i < s.len; i++)
		h = table_hash_char(h, (unsigned char)s.text[i]);
	return h;
}

bool pfmi_table_is_folded_rest_equal(const char *name, const char *s, const char *end)
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
	return table_is_folded_equal(name, s, len);
}

void pfmi_table_insert_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number)
{
	uint32_t slot = h << 16 | number,
		 moved = 0; /* 1: what made room, which stays before its equals */

	for (uint32_t i = table_first_slot(h, n); slot; i = i + 1 < n ? i + 1 : 0)
		if (!slots[i] || slots[i] >> 16 < (slot >> 16) + moved) {
			uint32_t other = slots[i];

			slots[i] = slot;
			slot = other;
			moved = 1;
		}
}

/* @n, which folds to @s, or the row whose name is spelled like @s where @n is not. */
static struct name_entry find_exact_twin(const struct table *t, struct name_entry n, struct slice s)
{
	if (pfmi_base_is_slice_icase(s, table_text(t, n.text)))
		return n;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct row *r = table_row(t, i);

		if (r->flags & ROW_SHADOWED && pfmi_base_is_slice_icase(s, table_text(t, r->name)))
			return (struct name_entry){ r->name, i, NAME_EVENT };
	}
	return n;
}

struct name_entry pfmi_table_find_name_from_slot(const struct table *t, uint32_t i, uint32_t h,
                                                 const char *s, size_t len)
{
	for (; table_can_slot_match(t, h, i);
	     i = table_probe_slot(t, h, i + 1 < t->n_slots ? i + 1 : 0)) {
		struct name_entry n = table_name_at(t, (table_slots(t)[i] & 0xffff) - 1);

		if (pfmi_table_is_folded_equal(table_text(t, n.text), s, len))
			return t->flags & TABLE_HAS_FOLDED_TWINS
			               ? find_exact_twin(t, n, (struct slice){ s, (uint32_t)len })
			               : n;
	}
	return (struct name_entry){ .kind = NAME_NONE };
}

bool pfmi_table_find_row_value(const struct table *t, const struct row *r, unsigned field,
                               unsigned counter, uint64_t *out)
{
	const uint32_t *v = table_values(t) + r->first_value, *end = v + r->n_values;
	bool general = false;

	for (; v < end; v++) {
		struct field_value here;

		if (*v >> 24 != field)
			continue;
		here = table_unpack_value(t, *v);
		if (here.counter != counter && (here.counter != ANY_COUNTER || general))
			continue;
		*out = here.value;
		if (here.counter == counter)
			return true;
		general = true;
	}
	return general;
}

bool pfmi_table_has_row_value(const struct table *t, uint32_t row, enum field_key key)
{
	unsigned at = table_key_field_plus1(t, key);
	uint64_t value = 0;

	return at && pfmi_table_find_row_value(t, table_row(t, row), at - 1, ANY_COUNTER, &value);
}

uint64_t pfmi_table_row_value(const struct table *t, uint32_t row, enum field_key key,
                              unsigned counter)
{
	unsigned at = table_key_field_plus1(t, key);
	uint64_t value = 0;

	if (!at)
		return 0;
	return pfmi_table_find_row_value(t, table_row(t, row), at - 1, counter, &value)
	               ? value
	               : table_fields(t)[at - 1].default_value;
}

const char *pfmi_table_row_text(const struct table *t, uint32_t row, enum field_key key)
{
	unsigned at = table_key_field_plus1(t, key);
	uint64_t value = 0;

	return table_text(t, at && pfmi_table_find_row_value(t, table_row(t, row), at - 1,
	                                                     ANY_COUNTER, &value)
	                             ? (uint32_t)value
	                             : 0);
}
