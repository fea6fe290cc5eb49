/* SPDX-License-Identifier: MIT */
/* Look-up in compiled event tables. */
#include "table/table.h"

#include <string.h>

READ_OFTEN const unsigned char pfmi_fold[256] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x00, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0x00, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x00, 0x2e, 0x2f,
	0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x2e, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f,
	0x40, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
	0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x5b, 0x5c, 0x5d, 0x5e, 0x00,
	0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
	0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
	0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
	0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,
	0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
	0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
	0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
	0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf,
	0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef,
	0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff
};

/* How many of the next eight bytes are equal. Texts have no NUL in them, and a pool ends in POOL_PAD of them: as long as all are
 * equal @name goes on, and nothing beyond the pool is read. */
static unsigned equal_bytes(const char *name, const char *s)
{
	uint64_t a, b;

	memcpy(&a, name, 8);
	memcpy(&b, s, 8);
	if (a == b)
		return 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(a ^ b) / 8;
#else
	return (unsigned)__builtin_clzll(a ^ b) / 8;
#endif
}

OFTEN RARELY const char *pfmi_name_behind(const char *name, struct slice s)
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
	const struct word *w = table_words(t) + word, *end = w + n;
	const char *pool = table_text(t, 0);
	uint64_t first = 0, bits = 0xdfdfdfdfdfdfdfdf, here;

	/* Eight characters at once tell most of them apart, whatever their case. */
	if (s.len >= 8) {
		memcpy(&first, s.s, 8);
	} else {
		memcpy(&first, s.s, s.len);
		memset((char *)&bits + s.len, 0, 8 - s.len);
	}
	for (; w < end; w++) {
		const char *rest;

		memcpy(&here, pool + w->name, 8);
		if ((here ^ first) & bits)
			continue;
		rest = pfmi_name_behind(pool + w->name, s);
		if (rest && !*rest)
			return w;
	}
	return NULL;
}

uint32_t pfmi_name_hash(struct slice s)
{
	uint32_t h = NAME_HASH_SEED;

	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = name_fold((unsigned char)s.s[i]);

		h = c ? name_hash(h, c) : h;
	}
	return h;
}

/* The same where one of them may have characters that the other leaves out. */
RARELY static bool folds_apart(const char *name, const char *s, const char *end)
{
	for (;; name++, s++) {
		unsigned char a = 0, b = 0;

		while (*name && !(a = name_fold((unsigned char)*name)))
			name++;
		while (s < end && !(b = name_fold((unsigned char)*s)))
			s++;
		if (!*name || s == end)
			return !*name && s == end;
		if (a != b)
			return false;
	}
}

/* One character that stands for the other. */
static inline bool folds_alike(char a, char b)
{
	unsigned char folded = name_fold((unsigned char)a);

	return folded && folded == name_fold((unsigned char)b);
}

/* Most bytes are the same in both; only where they differ folding is asked. */
bool pfmi_folds_to(const char *name, const char *s, size_t len)
{
	size_t i = 0;

	while (i + 8 <= len) {
		unsigned n = equal_bytes(name + i, s + i);

		i += n;
		if (n == 8)
			continue;
		if (!folds_alike(name[i], s[i]))
			return folds_apart(name + i, s + i, s + len);
		i++;
	}
	/* The last ones with those before them. */
	if (len >= 8 && memcmp(name + len - 8, s + len - 8, 8) == 0)
		i = len;
	for (; i < len; i++)
		if (name[i] != s[i] && !folds_alike(name[i], s[i]))
			return folds_apart(name + i, s + i, s + len);
	return !name[i] || folds_apart(name + i, s + i, s + len);
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
RARELY static struct name find_twin(const struct table *t, struct name n, struct slice s)
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

OFTEN struct name pfmi_table_find_from(const struct table *t, uint32_t i, uint32_t h, const char *s, size_t len)
{
	for (; table_may_be(t, h, i); i = table_probe(t, h, i + 1 < t->n_slots ? i + 1 : 0)) {
		struct name n = table_name(t, (table_slots(t)[i] & 0xffff) - 1);

		if (pfmi_folds_to(table_text(t, n.text), s, len))
			return t->flags & TABLE_TWINS ? find_twin(t, n, (struct slice){ s, (uint32_t)len }) : n;
	}
	return (struct name){ .kind = NAME_NONE };
}

/* The value of @field in @row for @counter; a value for every counter serves if there is none for that one. False if there is none. */
static bool find_value(const struct table *t, uint32_t row, unsigned field, unsigned counter, uint64_t *out)
{
	const struct row *r = table_row(t, row);
	bool general = false;

	for (unsigned i = 0; (i = row_next_value(t, r, field, i)) < r->n_values; i++) {
		struct value v = row_value(t, r, i);

		if (v.counter != counter && (v.counter != ANYWHERE || general))
			continue;
		*out = v.value;
		if (v.counter == counter)
			return true;
		general = true;
	}
	return general;
}

bool pfmi_row_has(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = table_key(t, key);
	uint64_t value;

	return at && find_value(t, row, at - 1, ANYWHERE, &value);
}

uint64_t pfmi_row_value(const struct table *t, uint32_t row, enum key key, unsigned counter)
{
	unsigned at = table_key(t, key);
	uint64_t value;

	if (!at)
		return 0;
	return find_value(t, row, at - 1, counter, &value) ? value : table_fields(t)[at - 1].preset;
}

const char *pfmi_row_text(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = table_key(t, key);
	uint64_t value = 0;

	return table_text(t, at && find_value(t, row, at - 1, ANYWHERE, &value) ? (uint32_t)value : 0);
}
