/* SPDX-License-Identifier: MIT */
/* The proof that an image from a file may be trusted: whatever a table refers to lies inside the image and is what it should be. */
#include <string.h>
#include <perfmon/pfmlib.h>
#include "table/table.h"

/* Bounds of a table that is not trusted yet, and the first thing found wrong. */
struct check {
	const struct table *t;
	uint64_t work; /* how much may still be looked at: tables share rows, but nobody waits for all to share all */
	const char *why;
};

static bool bad(struct check *c, const char *why)
{
	if (!c->why)
		c->why = why;
	return false;
}

/* @n elements at @at lie behind the head and before the end. */
static bool array(struct check *c, uint32_t at, uint64_t n, size_t size, size_t align, const char *why)
{
	if (at % align || at < sizeof(struct table) || at > c->t->size || n > (c->t->size - at) / size)
		return bad(c, why);
	return true;
}

/* So does an array that other tables use as well. */
static bool begins(struct check *c, uint32_t at, size_t align, const char *why)
{
	return array(c, at, 0, 1, align, why);
}

/* Element number @i of an array that other tables use as well is there. */
static bool element(struct check *c, uint32_t at, uint64_t i, size_t size, const char *why)
{
	return i < (c->t->size - at) / size || bad(c, why);
}

/* A string starts before the zeros that end the pool: it ends there as well, and eight bytes of it can be read at a time. */
static bool text(struct check *c, uint64_t off)
{
	return off <= c->t->n_pool - POOL_PAD || bad(c, "a string lies outside the pool");
}

static bool work(struct check *c, uint64_t n)
{
	if (n > c->work)
		return bad(c, "its tables have more in common than lists of events ever have");
	c->work -= n;
	return true;
}

static bool check_pool_ends(struct check *c)
{
	const struct table *t = c->t;

	if (t->n_pool < POOL_PAD || !array(c, t->pool, t->n_pool, 1, 1, "the string pool lies outside the table"))
		return bad(c, "the string pool lies outside the table");
	for (uint32_t i = 1; i <= POOL_PAD; i++)
		if (table_text(t, t->n_pool - i)[0] != '\0' || table_text(t, 0)[0] != '\0')
			return bad(c, "the string pool is not terminated");
	return true;
}

/* The slices that are the table's own, and where the arrays begin that it shares. */
static bool check_arrays(struct check *c)
{
	const struct table *t = c->t;

	return array(c, t->keys, 64, 1, 1, "keys out of bounds") &&
	       array(c, t->counters, t->n_counters, sizeof(struct counter), 4, "counters out of bounds") &&
	       array(c, t->fields, t->n_fields, sizeof(struct field), 8, "fields out of bounds") &&
	       array(c, t->group_numbers, t->n_groups, sizeof(uint32_t), 4, "groups out of bounds") &&
	       array(c, t->matches, t->n_matches, sizeof(struct match), 8, "matches out of bounds") &&
	       array(c, t->features, t->n_features, sizeof(struct feature), 8, "features out of bounds") &&
	       array(c, t->row_numbers, (uint64_t)t->n_rows + t->n_lent, sizeof(uint32_t), 4, "rows out of bounds") &&
	       array(c, t->names, t->n_names, sizeof(struct other_name), 4, "names out of bounds") &&
	       array(c, t->slots, t->n_slots, sizeof(uint32_t), 4, "index out of bounds") &&
	       array(c, t->ways, t->n_ways, sizeof(uint16_t), 2, "index of codes out of bounds") &&
	       begins(c, t->sets, 8, "sets of counters out of bounds") && begins(c, t->words, 8, "words out of bounds") &&
	       begins(c, t->groups, 8, "groups out of bounds") && begins(c, t->rows, 4, "rows out of bounds") &&
	       begins(c, t->values, 4, "values out of bounds") && begins(c, t->wides, 8, "values out of bounds") &&
	       begins(c, t->takes, 4, "group numbers out of bounds");
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
	if (t->n_fields > TABLE_MAX_FIELDS || t->n_rows > TABLE_MAX_NAMES || t->n_lent > TABLE_MAX_NAMES ||
	    t->n_names > TABLE_MAX_NAMES - t->n_rows)
		return bad(c, "the table has more fields or names than fit");
	if (t->n_slots < 2)
		return bad(c, "the index has a wrong size");
	if (!check_pool_ends(c) || !check_arrays(c) ||
	    !work(c, (uint64_t)t->n_rows + t->n_lent + t->n_slots + t->n_ways + t->n_names + t->n_matches))
		return false;
	for (unsigned i = 0; i < 64; i++)
		if (table_keys(t)[i] > t->n_fields)
			return bad(c, "a field number is out of range");
	return text(c, t->name) && text(c, t->desc) && text(c, t->source) && text(c, t->aka) && text(c, t->unit) &&
	       text(c, t->device) && text(c, t->whole);
}

/* What C code finds by a key is the field of that key, and a text where it expects one. */
static bool check_keys(struct check *c)
{
	const struct field *f = table_fields(c->t);

	for (unsigned key = 1; key < 64; key++) {
		unsigned at = table_keys(c->t)[key];

		if (!at)
			continue;
		if (f[at - 1].key != key || (f[at - 1].kind == FIELD_TEXT) != key_is_text(key))
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
		for (uint32_t row = 0; table_has_row(t, row); row++)
			if (row_counters(t, table_row(t, row)) & ~t->all_counters)
				return bad(c, "a row counts on a counter that does not exist");
	}
	return true;
}

/* @n words from number @first on. */
static bool check_words(struct check *c, uint32_t first, uint32_t n, const char *why)
{
	const struct table *t = c->t;

	if (!work(c, n) || (n && !element(c, t->words, (uint64_t)first + n - 1, sizeof(struct word), why)))
		return bad(c, why);
	for (uint32_t i = 0; i < n; i++)
		if (!text(c, table_words(t)[first + i].name) || !text(c, table_words(t)[first + i].desc))
			return false;
	return true;
}

static bool check_field(struct check *c, const struct field *f)
{
	unsigned bits = 0;

	if (!text(c, f->name) || f->kind > FIELD_TEXT || f->width < 1 || f->width > 64 || f->n_ranges > 4 ||
	    f->key >= N_KEYS || !check_words(c, f->word, f->n_words, "a field's words are out of bounds"))
		return bad(c, "a field is malformed");
	/* A row's values are read by the key of their field, also where another field is the one found by it. */
	if (f->key != KEY_NONE && (f->kind == FIELD_TEXT) != key_is_text(f->key))
		return bad(c, "a field is not what its key stands for");
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->range[i];

		if (r->word > 3 || r->width < 1 || r->width > 64 || r->lsb + r->width > 64)
			return bad(c, "a field's bits are out of range");
		bits += r->width;
	}
	return !f->n_ranges || f->kind == FIELD_TEXT || bits >= f->width || bad(c, "a field is wider than its bits");
}

/* Group number @number of the image, as this table's. */
static bool check_group(struct check *c, uint32_t number)
{
	const struct group *g = table_groups(c->t) + number;

	if (!element(c, c->t->groups, number, sizeof(*g), "a row takes a group that does not exist"))
		return false;
	if (!text(c, g->name) || g->field >= c->t->n_fields || g->n_values > g->n_words ||
	    !check_words(c, g->word, g->n_words, "a group's words are out of bounds"))
		return bad(c, "a group is malformed");
	return true;
}

static bool check_value(struct check *c, uint32_t packed)
{
	const struct table *t = c->t;
	const struct field *f = table_fields(t) + (packed >> 24);
	struct value v;

	if (packed >> 24 >= t->n_fields)
		return bad(c, "a value belongs to no field");
	if (packed & VALUE_WIDE && !element(c, t->wides, packed & (VALUE_WIDE - 1), sizeof(struct wide), "a value is out of bounds"))
		return false;
	v = value_unpack(t, packed);
	if (v.counter != ANYWHERE && v.counter > 63)
		return bad(c, "a value belongs to no counter");
	if (f->kind == FIELD_TEXT)
		return text(c, v.value);
	return f->width == 64 || v.value >> f->width == 0 || bad(c, "a value is wider than its field");
}

/* Where values are added to what is there, no two of a row may have a bit in common. */
static bool check_bits(struct check *c, const struct row *r)
{
	uint64_t taken[4] = { 0 };

	for (unsigned i = 0; i < r->n_values && !(c->t->flags & TABLE_REPLACES); i++) {
		struct value v = row_value(c->t, r, i);
		const struct field *f = table_fields(c->t) + v.field;

		for (unsigned k = 0; v.counter == ANYWHERE && k < f->n_ranges; k++) {
			uint64_t bits = ~(uint64_t)0 >> (64 - f->range[k].width) << f->range[k].lsb;

			if (taken[f->range[k].word] & bits)
				return bad(c, "a row has two values for one bit");
			taken[f->range[k].word] |= bits;
		}
	}
	return true;
}

static bool check_row(struct check *c, uint32_t number)
{
	const struct table *t = c->t;
	const struct row *r = table_rows(t) + number;

	if (!element(c, t->rows, number, sizeof(*r), "a row is out of bounds"))
		return false;
	if (!text(c, r->name) || !text(c, r->desc) || r->n_takes > 8 || !work(c, 1u + r->n_values) ||
	    !element(c, t->sets, r->set, sizeof(uint64_t), "a row's counters are out of bounds") ||
	    (r->n_values && !element(c, t->values, (uint64_t)r->value + r->n_values - 1, sizeof(uint32_t),
	                             "a row's values are out of bounds")) ||
	    (r->n_takes && !element(c, t->takes, (uint64_t)r->take + r->n_takes - 1, sizeof(uint32_t), "a row's groups are out of bounds")))
		return bad(c, "a row is malformed");
	for (unsigned i = 0; i < r->n_values; i++)
		if (!check_value(c, table_values(t)[r->value + i]))
			return false;
	for (unsigned i = 0; i < r->n_takes; i++)
		if (!check_group(c, table_takes(t)[r->take + i]))
			return false;
	return check_bits(c, r);
}

static bool check_name(struct check *c, const struct other_name *n)
{
	if (!text(c, n->text))
		return false;
	if (n->target >> 30 == NAME_UNSUPPORTED)
		return text(c, n->target & NAME_TARGET);
	return table_has_row(c->t, n->target & NAME_TARGET) || bad(c, "a name stands for no row");
}

/* Every slot points at a name; with an empty slot somewhere every probe ends. */
static bool check_slots(struct check *c)
{
	const struct table *t = c->t;
	uint32_t used = 0, used_ways = 0;

	for (uint32_t i = 0; i < t->n_slots; i++) {
		if ((table_slots(t)[i] & 0xffff) > table_count_names(t) || (table_slots(t)[i] && !(table_slots(t)[i] & 0xffff)))
			return bad(c, "the index points at no name");
		used += table_slots(t)[i] != 0;
	}
	for (uint32_t i = 0; i < t->n_ways; i++) {
		if (table_ways(t)[i] && way_row(t, table_ways(t)[i]) >= t->n_rows)
			return bad(c, "the index of codes points at no row");
		used_ways += table_ways(t)[i] != 0;
	}
	return (used < t->n_slots && (!t->n_ways || used_ways < t->n_ways)) || bad(c, "the index is full");
}

/* What a context reads before it needs a table: its names and the hosts it is for. */
static bool check_matches(struct check *c)
{
	const struct match *m = table_matches(c->t);

	for (uint32_t i = 0; i < c->t->n_matches; i++)
		if (!text(c, m[i].arch) || !text(c, m[i].vendor) || !text(c, m[i].prefix))
			return false;
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
	for (i = 0; i < t->n_features; i++)
		if (!text(c, table_features(t)[i].name) || !text(c, table_features(t)[i].text))
			return false;
	for (i = 0; i < t->n_fields; i++)
		if (!check_field(c, table_fields(t) + i))
			return false;
	for (i = 0; i < t->n_groups; i++)
		if (!check_group(c, table_group_numbers(t)[i]))
			return false;
	for (i = 0; table_has_row(t, i); i++)
		if (!check_row(c, table_row_numbers(t)[i] & ROW_NUMBER))
			return false;
	for (i = 0; i < t->n_names; i++)
		if (!check_name(c, table_names(t) + i))
			return false;
	return check_keys(c) && check_shape(c) && check_slots(c);
}

/* Honest tables look at each byte of their image a few times at most. */
static uint64_t patience(size_t size)
{
	return (uint64_t)size * 16 + 4096;
}

static void check_table(struct check *c, size_t size, enum check_depth depth)
{
	if (check_head(c, size) && check_matches(c) && depth == CHECK_ALL)
		check_rest(c);
}

int pfmi_table_check(const void *t, size_t size, enum check_depth depth, const char **why)
{
	struct check c = { .t = t, .work = patience(size) };

	if ((uintptr_t)t % 8 || size < sizeof(struct table)) {
		c.why = "too short for an event table";
	} else {
		check_table(&c, size, depth);
		if (!c.why && depth == CHECK_ALL)
			check_pool(&c);
	}
	*why = c.why;
	return c.why ? PFMLIB_ERR_IMAGE : PFMLIB_SUCCESS;
}

/* ---- images --------------------------------------------------------------------------------------------------- */

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

static bool span_fits(const struct image *im, enum image_array which, size_t element_size, size_t align)
{
	const struct span *s = &im->arrays[which];

	return s->at % align == 0 && s->at >= sizeof(*im) && s->at <= im->size && s->n <= (im->size - s->at) / element_size;
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
	if (im->size != size || size % 8 || size > UINT32_MAX)
		return "truncated or extended";
	if (im->n_tables == 0 || im->n_tables > IMAGE_MAX_TABLES || im->n_tables != im->arrays[ARRAY_TABLES].n ||
	    !span_fits(im, ARRAY_TABLES, sizeof(struct table), 8) || !span_fits(im, ARRAY_CALLS, sizeof(uint32_t), 4) ||
	    !span_fits(im, ARRAY_WHOLES, sizeof(struct whole), 4) || !span_fits(im, ARRAY_PARTS, sizeof(uint16_t), 2) ||
	    !span_fits(im, ARRAY_POOL, 1, 1) || !span_fits(im, ARRAY_HOSTS, sizeof(struct host_slot), 4) ||
	    !span_fits(im, ARRAY_FILTERS, sizeof(uint64_t), 8))
		return "the directory of tables is out of bounds";
	return NULL;
}

/* @n elements from @first on are some of those there are. */
static bool lies_in(const struct image *im, enum image_array which, uint32_t first, uint32_t n)
{
	return first <= im->arrays[which].n && n <= im->arrays[which].n - first;
}

/* What processors stand for: their parts, and the filter over their parts' names, which is never empty. */
static const char *wholes_fault(const struct image *im)
{
	const struct whole *w = image_array(im, ARRAY_WHOLES);
	const uint16_t *parts = image_array(im, ARRAY_PARTS);

	for (uint32_t i = 0; i < im->arrays[ARRAY_WHOLES].n; i++)
		if (im->arrays[ARRAY_POOL].n < POOL_PAD || w[i].name > im->arrays[ARRAY_POOL].n - POOL_PAD ||
		    !lies_in(im, ARRAY_PARTS, w[i].part, w[i].n_parts) || !lies_in(im, ARRAY_FILTERS, w[i].filter, w[i].n_filter) ||
		    !w[i].n_filter)
			return "the parts of a processor are out of bounds";
	for (uint32_t i = 0; i < im->arrays[ARRAY_PARTS].n; i++)
		if (parts[i] >= im->n_tables)
			return "a part of a processor does not exist";
	for (uint32_t i = 0; i < im->n_tables; i++)
		if (image_table(im, i)->parts > im->arrays[ARRAY_WHOLES].n)
			return "the parts of a processor are out of bounds";
	return NULL;
}

/* Names of tables lead to tables, and probing for one ends. */
static const char *calls_fault(const struct image *im)
{
	const uint32_t *calls = image_array(im, ARRAY_CALLS);
	uint32_t n = im->arrays[ARRAY_CALLS].n, used = 0, n_wholes = im->arrays[ARRAY_WHOLES].n;

	for (uint32_t i = 0; i < n; i++) {
		if ((calls[i] & CALL_NUMBER) > im->n_tables + n_wholes || (calls[i] && !(calls[i] & CALL_NUMBER)))
			return "a name leads to no table";
		used += calls[i] != 0;
	}
	return n && used < n ? NULL : "the index of names is full";
}

static const char *hosts_fault(const struct image *im)
{
	const struct host_slot *hosts = image_array(im, ARRAY_HOSTS);
	uint32_t n = im->arrays[ARRAY_HOSTS].n, used = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (hosts[i].table > im->n_tables)
			return "a host leads to no table";
		used += hosts[i].table != 0;
	}
	return n && used < n ? NULL : "the index of hosts is full";
}

/* All tables have the image's pool, so that it needs to be looked at only once. */
static const char *tables_fault(const struct image *im, enum check_depth depth)
{
	struct check c = { .work = patience((size_t)im->size) };

	for (uint32_t i = 0; i < im->n_tables; i++) {
		uint32_t at = im->arrays[ARRAY_TABLES].at + i * (uint32_t)sizeof(struct table);

		c.t = image_table(im, i);
		check_table(&c, (size_t)im->size - at, depth);
		if (!c.why && (at + (uint64_t)c.t->pool != im->arrays[ARRAY_POOL].at || c.t->n_pool != im->arrays[ARRAY_POOL].n))
			bad(&c, "a table has strings of its own");
		if (c.why)
			return c.why;
	}
	if (depth == CHECK_ALL)
		check_pool(&c);
	return c.why;
}

int pfmi_image_check(const void *image, size_t size, enum check_depth depth, const char **why)
{
	const struct image *im = image;

	*why = (uintptr_t)image % 8 ? "misaligned" : image_head_fault(im, size);
	if (!*why && depth == CHECK_ALL &&
	    im->checksum != checksum((const uint64_t *)(const void *)im->arrays, (size - offsetof(struct image, arrays)) / 8))
		*why = "damaged: the checksum does not match";
	if (!*why)
		*why = tables_fault(im, depth);
	if (!*why)
		*why = calls_fault(im);
	if (!*why)
		*why = wholes_fault(im);
	if (!*why)
		*why = hosts_fault(im);
	return *why ? PFMLIB_ERR_IMAGE : PFMLIB_SUCCESS;
}
