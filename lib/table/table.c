/* SPDX-License-Identifier: MIT */
/* Look-up in compiled event tables. */
#include "table/table.h"

#include <string.h>

/* name_fold() of @C, and its bits mixed. */
#define FOLDED(C) ((C) == ' ' || (C) == '\t' || (C) == '-' || (C) == '_' ? 0u : (C) >= 'A' && (C) <= 'Z' ? (C) | 0x20u \
	                                                                : (C) == ':'                     ? '.'         \
	                                                                                                 : (C))
#define MIXED1(C)    (FOLDED(C) * 0x9e3779b1u)
#define MIXED2(C)    ((MIXED1(C) ^ MIXED1(C) >> 15) * 0x85ebca6bu)
#define WEIGHT(C)    (((MIXED2(C) ^ MIXED2(C) >> 13) & 0x7fffffffu) | (ENDS(C) ? NAME_ENDS : 0))
#define ENDS(C)      ((C) == 0 || (C) == ',' || (C) == '/' || (C) == ':' || (C) == '.')
#define WEIGHTS4(C)  WEIGHT(C), WEIGHT((C) + 1u), WEIGHT((C) + 2u), WEIGHT((C) + 3u)
#define WEIGHTS16(C) WEIGHTS4(C), WEIGHTS4((C) + 4u), WEIGHTS4((C) + 8u), WEIGHTS4((C) + 12u)
#define WEIGHTS64(C) WEIGHTS16(C), WEIGHTS16((C) + 16u), WEIGHTS16((C) + 32u), WEIGHTS16((C) + 48u)
const uint64_t pfmi_weights[256] = { WEIGHTS64(0u), WEIGHTS64(64u), WEIGHTS64(128u), WEIGHTS64(192u) };

const char *pfmi_name_behind(const char *name, struct slice s)
{
	for (; s.len >= 8 && equal_bytes(name, s.s) == 8; name += 8)
		s = (struct slice){ s.s + 8, s.len - 8 };
	if (s.len >= 4 && memcmp(name, s.s, 4) == 0) {
		name += 4;
		s = (struct slice){ s.s + 4, s.len - 4 };
	}
	return pfmi_behind(s, name);
}

const struct word *pfmi_table_word(const struct table *t, uint32_t word, unsigned n, struct slice s)
{
	return table_word(t, word, n, s, word_key(s));
}

uint32_t pfmi_name_hash(struct slice s)
{
	uint32_t h = NAME_HASH_SEED;

	for (uint32_t i = 0; i < s.len; i++)
		h = name_hash(h, (unsigned char)s.s[i]);
	return h;
}

bool pfmi_folds_apart(const char *name, const char *s, const char *end)
{
	for (;; name++, s++) {
		uint64_t a = 0, b = 0;

		while (*name && !(a = pfmi_weights[(unsigned char)*name]))
			name++;
		while (s < end && !(b = pfmi_weights[(unsigned char)*s]))
			s++;
		if (!*name || s == end)
			return !*name && s == end;
		if (a != b)
			return false;
	}
}

bool pfmi_folds_to(const char *name, const char *s, size_t len)
{
	return table_folds_to(name, s, len);
}

void pfmi_enter_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number)
{
	uint32_t slot = h << 16 | number, moved = 0; /* 1: what made room, which stays before its equals */

	for (uint32_t i = slot_of(h, n); slot; i = i + 1 < n ? i + 1 : 0)
		if (!slots[i] || slots[i] >> 16 < (slot >> 16) + moved) {
			uint32_t other = slots[i];

			slots[i] = slot;
			slot = other;
			moved = 1;
		}
}

/* @n, which folds to @s, or the row whose name is spelled like @s where @n is not. */
static struct name find_twin(const struct table *t, struct name n, struct slice s)
{
	if (pfmi_slice_is(s, table_text(t, n.text)))
		return n;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct row *r = table_row(t, i);

		if (r->flags & ROW_SHADOWED && pfmi_slice_is(s, table_text(t, r->name)))
			return (struct name){ r->name, i, NAME_EVENT };
	}
	return n;
}

struct name pfmi_table_find_from(const struct table *t, uint32_t i, uint32_t h, const char *s, size_t len)
{
	for (; table_may_be(t, h, i); i = table_probe(t, h, i + 1 < t->n_slots ? i + 1 : 0)) {
		struct name n = table_name(t, (table_slots(t)[i] & 0xffff) - 1);

		if (pfmi_folds_to(table_text(t, n.text), s, len))
			return t->flags & TABLE_TWINS ? find_twin(t, n, (struct slice){ s, (uint32_t)len }) : n;
	}
	return (struct name){ .kind = NAME_NONE };
}

bool pfmi_row_find(const struct table *t, const struct row *r, unsigned field, unsigned counter, uint64_t *out)
{
	const uint32_t *v = table_values(t) + r->value, *end = v + r->n_values;
	bool general = false;

	for (; v < end; v++) {
		struct value here;

		if (*v >> 24 != field)
			continue;
		here = value_unpack(t, *v);
		if (here.counter != counter && (here.counter != ANYWHERE || general))
			continue;
		*out = here.value;
		if (here.counter == counter)
			return true;
		general = true;
	}
	return general;
}

bool pfmi_row_has(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = table_key(t, key);
	uint64_t value;

	return at && pfmi_row_find(t, table_row(t, row), at - 1, ANYWHERE, &value);
}

uint64_t pfmi_row_value(const struct table *t, uint32_t row, enum key key, unsigned counter)
{
	unsigned at = table_key(t, key);
	uint64_t value;

	if (!at)
		return 0;
	return pfmi_row_find(t, table_row(t, row), at - 1, counter, &value) ? value : table_fields(t)[at - 1].preset;
}

const char *pfmi_row_text(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = table_key(t, key);
	uint64_t value = 0;

	return table_text(t, at && pfmi_row_find(t, table_row(t, row), at - 1, ANYWHERE, &value) ? (uint32_t)value : 0);
}
