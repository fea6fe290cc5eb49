/* SPDX-License-Identifier: MIT */
/* Look-up in compiled event tables, and the proof that a table from a file may be trusted. */
#include "table.h"

#include <string.h>
#include <perfmon/pfmlib.h>

const unsigned char pfmi_fold[256] = {
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

/* Most bytes are the same in both; only where they differ folding is asked. */
bool pfmi_folds_to(const char *name, const char *s, size_t len)
{
	const char *end = s + len;

	for (;;) {
		unsigned char a = 0, b = 0;

		for (unsigned n = 8; n == 8 && end - s >= 8;) {
			n = equal_bytes(name, s);
			name += n;
			s += n;
		}
		if (end - s >= 4 && memcmp(name, s, 4) == 0) {
			name += 4;
			s += 4;
		}
		while (s < end && *name == *s && *s) {
			name++;
			s++;
		}
		while (*name && !(a = name_fold((unsigned char)*name)))
			name++;
		while (s < end && !(b = name_fold((unsigned char)*s)))
			s++;
		if (!*name || s == end)
			return !*name && s == end;
		if (a != b)
			return false;
		name++;
		s++;
	}
}

/* The value of @field in @row for @counter; a value for every counter serves if there is none for that one. */
static const struct value *find_value(const struct table *t, uint32_t row, unsigned field, unsigned counter)
{
	const struct row *r = table_row(t, row);
	const struct value *v = table_values(t) + r->value, *general = NULL;

	for (unsigned i = 0; i < r->n_values; i++, v++) {
		if (v->field != field)
			continue;
		if (v->counter == counter)
			return v;
		if (v->counter == ANYWHERE && !general)
			general = v;
	}
	return general;
}

bool pfmi_row_has(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = t->field_of_key[key];

	return at && find_value(t, row, at - 1, ANYWHERE);
}

uint64_t pfmi_row_value(const struct table *t, uint32_t row, enum key key, unsigned counter)
{
	unsigned at = t->field_of_key[key];
	const struct value *v;

	if (!at)
		return 0;
	v = find_value(t, row, at - 1, counter);
	return v ? v->value : table_fields(t)[at - 1].preset;
}

const char *pfmi_row_text(const struct table *t, uint32_t row, enum key key)
{
	unsigned at = t->field_of_key[key];
	const struct value *v = at ? find_value(t, row, at - 1, ANYWHERE) : NULL;

	return table_text(t, v ? (uint32_t)v->value : 0);
}

/* ---- checking ------------------------------------------------------------------------------------------------- */

/* Bounds of a table that is not trusted yet, and the first thing found wrong. */
struct check {
	const struct table *t;
	const char *why;
};

static bool bad(struct check *c, const char *why)
{
	if (!c->why)
		c->why = why;
	return false;
}

static bool array(struct check *c, uint32_t at, uint32_t n, size_t size, size_t align, const char *why)
{
	if (at % align || at < sizeof(struct table) || at > c->t->size || n > (c->t->size - at) / size)
		return bad(c, why);
	return true;
}

/* A string starts before the zeros that end the pool: it ends there as well, and eight bytes of it can be read at a time. */
static bool text(struct check *c, uint64_t off)
{
	return off <= c->t->n_pool - POOL_PAD || bad(c, "a string lies outside the pool");
}

static bool span(struct check *c, uint32_t first, uint32_t n, uint32_t total, const char *why)
{
	return (first <= total && n <= total - first) || bad(c, why);
}

static bool check_head(struct check *c, size_t size)
{
	const struct table *t = c->t;

	if (t->magic != TABLE_MAGIC)
		return bad(c, "not an event table");
	if (t->size < sizeof(*t) || t->size > size || t->size % 8)
		return bad(c, "the table is longer than its file");
	if (t->encoder == ENCODER_NONE || t->encoder >= N_ENCODERS)
		return bad(c, "the register layout is unknown to this version");
	if (t->n_pool < POOL_PAD || !array(c, t->pool, t->n_pool, 1, 1, "the string pool lies outside the table"))
		return bad(c, "the string pool lies outside the table");
	for (uint32_t i = 1; i <= POOL_PAD; i++)
		if (table_text(t, t->n_pool - i)[0] != '\0' || table_text(t, 0)[0] != '\0')
			return bad(c, "the string pool is not terminated");
	if (t->n_slots == 0 || (t->n_slots & (t->n_slots - 1)) || t->n_slots / 2 < t->n_names)
		return bad(c, "the index has a wrong size");
	for (unsigned i = 0; i < sizeof(t->field_of_key); i++)
		if (t->field_of_key[i] > t->n_fields)
			return bad(c, "a field number is out of range");
	return array(c, t->counters, t->n_counters, sizeof(struct counter), 4, "counters out of bounds") &&
	       array(c, t->fields, t->n_fields, sizeof(struct field), 8, "fields out of bounds") &&
	       array(c, t->words, t->n_words, sizeof(struct word), 8, "words out of bounds") &&
	       array(c, t->groups, t->n_groups, sizeof(struct group), 8, "groups out of bounds") &&
	       array(c, t->matches, t->n_matches, sizeof(struct match), 8, "matches out of bounds") &&
	       array(c, t->features, t->n_features, sizeof(struct feature), 8, "features out of bounds") &&
	       array(c, t->rows, t->n_rows, sizeof(struct row), 8, "rows out of bounds") &&
	       array(c, t->values, t->n_values, sizeof(struct value), 8, "values out of bounds") &&
	       array(c, t->takes, t->n_takes, sizeof(uint16_t), 2, "group numbers out of bounds") &&
	       array(c, t->names, t->n_names, sizeof(struct name), 4, "names out of bounds") &&
	       array(c, t->slots, t->n_slots, sizeof(struct slot), 4, "index out of bounds") &&
	       text(c, t->name) && text(c, t->desc) && text(c, t->source) && text(c, t->aka) && text(c, t->unit) &&
	       text(c, t->device);
}

/* Keys whose values C code reads as texts. */
static bool is_text_key(unsigned key)
{
	static const uint8_t keys[] = {
		KEY_ERRATA, KEY_NOTE, KEY_REPLACED, KEY_SOURCE, KEY_CONST, KEY_SCALE, KEY_UNIT, KEY_FORMULA, KEY_TOPIC, KEY_DETAIL,
		KEY_METRIC, KEY_PARAMS
	};

	return memchr(keys, (int)key, sizeof(keys)) != NULL;
}

/* What C code finds by a key is the field of that key, and a text where it expects one. */
static bool check_keys(struct check *c)
{
	const struct field *f = table_fields(c->t);

	for (unsigned key = 1; key < sizeof(c->t->field_of_key); key++) {
		unsigned at = c->t->field_of_key[key];

		if (!at)
			continue;
		if (f[at - 1].key != key || (f[at - 1].kind == FIELD_TEXT) != is_text_key(key))
			return bad(c, "a field is not what its key stands for");
	}
	return true;
}

/* Encoders of one processor family know its counters: tables for them have those and no others. */
static bool check_shape(struct check *c)
{
	static const struct {
		uint8_t encoder, first_type, last_type;
		uint16_t counters;
	} shapes[] = {
		{ ENCODER_MONTECITO, 4, 4, 0xfff0 },
		{ ENCODER_EV4, 150, 150, 0x3 },
		{ ENCODER_EV5, 151, 152, 0x7 },
		{ ENCODER_EV6, 153, 153, 0x3 },
		{ ENCODER_EV67, 154, 154, 0x3 },
	};
	const struct table *t = c->t;

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].encoder != t->encoder)
			continue;
		if (t->libpfm_type < shapes[i].first_type || t->libpfm_type > shapes[i].last_type ||
		    t->all_counters != shapes[i].counters)
			return bad(c, "the processor is not one this register layout is for");
		for (uint32_t row = 0; row < t->n_rows; row++)
			if (table_row(t, row)->counters & ~t->all_counters)
				return bad(c, "a row counts on a counter that does not exist");
	}
	return true;
}

static bool check_field(struct check *c, const struct field *f)
{
	unsigned bits = 0;

	if (!text(c, f->name) || f->kind > FIELD_TEXT || f->width < 1 || f->width > 64 || f->n_ranges > 4 ||
	    f->key >= N_KEYS || !span(c, f->word, f->n_words, c->t->n_words, "a field's words are out of bounds"))
		return bad(c, "a field is malformed");
	/* A row's values are read by the key of their field, also where another field is the one found by it. */
	if (f->key != KEY_NONE && (f->kind == FIELD_TEXT) != is_text_key(f->key))
		return bad(c, "a field is not what its key stands for");
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->range[i];

		if (r->word > 3 || r->width < 1 || r->width > 64 || r->lsb + r->width > 64)
			return bad(c, "a field's bits are out of range");
		bits += r->width;
	}
	return !f->n_ranges || f->kind == FIELD_TEXT || bits >= f->width || bad(c, "a field is wider than its bits");
}

static bool check_group(struct check *c, const struct group *g)
{
	if (!text(c, g->name) || g->field >= c->t->n_fields || g->n_values > g->n_words ||
	    !span(c, g->word, g->n_words, c->t->n_words, "a group's words are out of bounds"))
		return bad(c, "a group is malformed");
	return true;
}

static bool check_row(struct check *c, const struct row *r)
{
	const struct table *t = c->t;

	if (!text(c, r->name) || !text(c, r->desc) || r->n_takes > 8 ||
	    !span(c, r->value, r->n_values, t->n_values, "a row's values are out of bounds") ||
	    !span(c, r->take, r->n_takes, t->n_takes, "a row's groups are out of bounds"))
		return bad(c, "a row is malformed");
	for (unsigned i = 0; i < r->n_takes; i++)
		if (table_takes(t)[r->take + i] >= t->n_groups)
			return bad(c, "a row takes a group that does not exist");
	return true;
}

static bool check_value(struct check *c, const struct value *v)
{
	const struct field *f;

	if (v->field >= c->t->n_fields)
		return bad(c, "a value belongs to no field");
	if (v->counter != ANYWHERE && v->counter > 63)
		return bad(c, "a value belongs to no counter");
	f = table_fields(c->t) + v->field;
	if (f->kind == FIELD_TEXT)
		return text(c, v->value);
	return f->width == 64 || v->value >> f->width == 0 || bad(c, "a value is wider than its field");
}

static bool check_name(struct check *c, const struct name *n)
{
	if (!text(c, n->text) || n->kind > NAME_UNSUPPORTED)
		return bad(c, "a name is malformed");
	if (n->kind == NAME_UNSUPPORTED)
		return text(c, n->row);
	return n->row < c->t->n_rows || bad(c, "a name stands for no row");
}

/* Every slot points at a name whose hash it has; with an empty slot somewhere every probe ends. */
static bool check_slots(struct check *c)
{
	const struct slot *s = table_slots(c->t);
	uint32_t used = 0;

	for (uint32_t i = 0; i < c->t->n_slots; i++) {
		if (s[i].name > c->t->n_names)
			return bad(c, "the index points at no name");
		used += s[i].name != 0;
	}
	return used < c->t->n_slots || bad(c, "the index is full");
}

/* Regular expressions go to the C library, which takes memory without end for counted repetitions of repetitions: here only
 * single characters and classes are counted, in two digits, and no expression is long. */
static bool is_tame(const char *pattern)
{
	unsigned counted = 0;

	for (const char *p = pattern; *p; p++)
		if (*p == '{' && (++counted > 8 || p == pattern || strchr(")*+?}", p[-1]) || strcspn(p + 1, "}") > 5))
			return false;
	return strlen(pattern) <= 256;
}

/* What a context reads before it needs a table: its names and the hosts it is for. */
static bool check_matches(struct check *c)
{
	const struct match *m = table_matches(c->t);

	for (uint32_t i = 0; i < c->t->n_matches; i++)
		if (!text(c, m[i].arch) || !text(c, m[i].vendor) || !text(c, m[i].pattern))
			return false;
		else if (!is_tame(table_text(c->t, m[i].pattern)))
			return bad(c, "a pattern could take for ever");
	return true;
}

#define EACH(BYTE) ((BYTE)*0x0101010101010101ull)

static bool has_zero(uint64_t x)
{
	return (x - EACH(1)) & ~x & EACH(0x80u);
}

/* Nothing in the pool that a terminal would obey: ASCII's control characters and, in UTF-8, U+0080 to U+009F. Eight at a time. */
static bool check_pool(struct check *c)
{
	const unsigned char *s = (const unsigned char *)table_text(c->t, 0), *end = s + c->t->n_pool;

	while (end - s > 8) {
		uint64_t x, ends;

		memcpy(&x, s, 8);
		ends = ~(((x & EACH(0x7fu)) + EACH(0x7fu)) | x | EACH(0x7fu)); /* 0x80 where a string ends */
		x |= ends;
		if (((x - EACH(0x20u)) & ~x & EACH(0x80u)) || has_zero(x ^ EACH(0x7fu)) || has_zero(x ^ EACH(0xc2u)))
			for (unsigned i = 0; i < 8; i++)
				if ((s[i] && s[i] < ' ') || s[i] == 127 || (s[i] == 0xc2 && s[i + 1] >= 0x80 && s[i + 1] <= 0x9f))
					return bad(c, "a string has control characters");
		s += 8;
	}
	return true; /* the rest is the zeros that end it */
}

static bool check_rest(struct check *c)
{
	const struct table *t = c->t;
	uint32_t i;

	for (i = 0; i < t->n_counters; i++)
		if (table_counters(t)[i].last > 31 || table_counters(t)[i].first > table_counters(t)[i].last)
			return bad(c, "a counter is out of range");
	for (i = 0; i < t->n_words; i++)
		if (!text(c, table_words(t)[i].name) || !text(c, table_words(t)[i].desc))
			return false;
	for (i = 0; i < t->n_features; i++)
		if (!text(c, table_features(t)[i].name) || !text(c, table_features(t)[i].text))
			return false;
	for (i = 0; i < t->n_fields; i++)
		if (!check_field(c, table_fields(t) + i))
			return false;
	for (i = 0; i < t->n_groups; i++)
		if (!check_group(c, table_groups(t) + i))
			return false;
	for (i = 0; i < t->n_rows; i++)
		if (!check_row(c, table_rows(t) + i))
			return false;
	for (i = 0; i < t->n_values; i++)
		if (!check_value(c, table_values(t) + i))
			return false;
	for (i = 0; i < t->n_names; i++)
		if (!check_name(c, table_names(t) + i))
			return false;
	return check_keys(c) && check_shape(c) && check_slots(c) && check_pool(c);
}

int pfmi_table_check(const void *t, size_t size, enum check_depth depth, const char **why)
{
	struct check c = { .t = t };

	if ((uintptr_t)t % 8 || size < sizeof(struct table))
		c.why = "too short for an event table";
	else if (check_head(&c, size) && check_matches(&c) && depth == CHECK_ALL)
		check_rest(&c);
	*why = c.why;
	return c.why ? PFMLIB_ERR_IMAGE : PFMLIB_SUCCESS;
}

/* Two running sums over 64-bit words, folded: every flipped bit and every swapped word shows, at the speed of memory. */
static uint32_t checksum(const uint64_t *p, size_t n)
{
	uint64_t first = 0, second = 0;

	for (size_t i = 0; i < n; i++) {
		first += p[i];
		second += first;
	}
	first ^= second << 1 | second >> 63;
	return (uint32_t)(first ^ first >> 32);
}

static const char *image_head_fault(const struct image *im, size_t size)
{
	if (size < sizeof(*im))
		return "too short for an image of event tables";
	if (im->magic == __builtin_bswap32(IMAGE_MAGIC))
		return "written on a machine of the other byte order: import the lists again here";
	if (im->magic != IMAGE_MAGIC)
		return "not an image of event tables";
	if (im->version != IMAGE_VERSION)
		return "written by another version: import the lists again";
	if (im->size != size || size % 8)
		return "truncated or extended";
	if (im->n_tables == 0 || im->n_tables > IMAGE_MAX_TABLES || im->offsets % 8 || im->offsets < sizeof(*im) ||
	    im->offsets > size || im->n_tables > (size - im->offsets) / sizeof(uint64_t))
		return "the directory of tables is out of bounds";
	return NULL;
}

int pfmi_image_check(const void *image, size_t size, enum check_depth depth, const char **why)
{
	const struct image *im = image;
	const uint64_t *offsets;

	*why = (uintptr_t)image % 8 ? "misaligned" : image_head_fault(im, size);
	if (!*why && depth == CHECK_ALL && im->checksum != checksum((const uint64_t *)(const void *)(im + 1), (size - sizeof(*im)) / 8))
		*why = "damaged: the checksum does not match";
	if (*why)
		return PFMLIB_ERR_IMAGE;
	offsets = (const uint64_t *)(const void *)((const char *)image + im->offsets);
	for (uint32_t i = 0; i < im->n_tables; i++) {
		if (offsets[i] % 8 || offsets[i] > size) {
			*why = "a table lies outside the file";
			return PFMLIB_ERR_IMAGE;
		}
		if (pfmi_table_check((const char *)image + offsets[i], size - (size_t)offsets[i], depth, why))
			return PFMLIB_ERR_IMAGE;
	}
	return PFMLIB_SUCCESS;
}
