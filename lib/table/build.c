/* SPDX-License-Identifier: MIT */
#include "table/build.h"

#include <stdlib.h>
#include <string.h>

static void *extend_array(struct table_builder *b, struct growing_array *p, size_t n, size_t size)
{
	if (p->capacity - p->n < n) {
		size_t max_size = p->capacity * 2 + n + 16;
		void *at = b->failed ? NULL : realloc(p->items, max_size * size);

		if (!at) {
			b->failed = true;
			return NULL;
		}
		p->items = at;
		p->capacity = max_size;
	}
	p->n += n;
	return (char *)p->items + (p->n - n) * size;
}

void pfmi_table_begin_build(struct table_builder *b)
{
	*b = (struct table_builder){ .head = { .magic = TABLE_MAGIC,
		                               .encoder = ENCODER_FORMAT,
		                               .flags = TABLE_FROM_KERNEL | TABLE_VALUES_OVERRIDE,
		                               .perf_type = -1,
		                               .libpfm_type = -1 } };
	pfmi_table_add_text(b, "", 0);
}

/* Replaces control characters by blanks, because terminals obey them and any user may have written
 * the files below a root. Images with such characters are refused (verify.c). */
static void replace_control_chars(char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < ' ' || c == 127)
			s[i] = ' ';
		else if (c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] >= 0x80 &&
		         (unsigned char)s[i + 1] <= 0x9f)
			s[i] = s[i + 1] = ' ';
	}
}

uint32_t pfmi_table_add_text(struct table_builder *b, const char *s, size_t len)
{
	size_t at = b->pool.n;
	char *p;

	if (len == 0 && at)
		return 0;
	p = extend_array(b, &b->pool, len + 1, 1);
	if (!p)
		return 0;
	memcpy(p, s, len);
	p[len] = '\0';
	replace_control_chars(p, len);
	return (uint32_t)at;
}

static const struct field *get_built_field(const struct table_builder *b, unsigned i)
{
	return (const struct field *)b->fields.items + i;
}

const struct field *pfmi_table_get_built_field(const struct table_builder *b, unsigned field)
{
	return get_built_field(b, field);
}

/* Values have a byte for the number of their field; a processor with more fields is refused. */
static unsigned append_field(struct table_builder *b, const struct field *f)
{
	struct field *to =
		b->fields.n < TABLE_MAX_FIELDS ? extend_array(b, &b->fields, 1, sizeof(*to)) : NULL;

	if (!to)
		return 0;
	*to = *f;
	/* If two fields have one key, C code uses the first. */
	if (f->key != KEY_NONE && b->keys[f->key] == 0)
		b->keys[f->key] = (uint8_t)b->fields.n;
	return (unsigned)b->fields.n - 1;
}

unsigned pfmi_table_add_field(struct table_builder *b, const char *name, enum field_key key,
                              const struct bitrange *ranges, unsigned n_ranges)
{
	struct field f = { .key = (uint16_t)key,
		           .kind = FIELD_NUMBER,
		           .n_ranges = (uint8_t)n_ranges,
		           .is_modifier = 1 };
	unsigned width = 0;

	f.name = pfmi_table_add_text(b, name, strlen(name));
	for (unsigned i = 0; i < n_ranges; i++) {
		f.ranges[i] = ranges[i];
		width += ranges[i].width;
	}
	f.width = (uint8_t)(width > 64 ? 64 : width);
	f.max = f.width == 64 ? UINT64_MAX : ((uint64_t)1 << f.width) - 1;
	return append_field(b, &f);
}

/* The names are stored in the array: pointers to them would need relocations. */
static const char key_names[][20] = {
#define KEY(ID, NAME) NAME,
#include "table/keys.def"
#undef KEY
};

unsigned pfmi_table_add_text_field(struct table_builder *b, enum field_key key)
{
	struct field f = {
		.key = (uint16_t)key, .kind = FIELD_TEXT, .width = 32, .max = UINT32_MAX
	};

	f.name = pfmi_table_add_text(b, key_names[key], strlen(key_names[key]));
	return append_field(b, &f);
}

static const char *get_built_text(const struct table_builder *b, uint32_t off)
{
	return (const char *)b->pool.items + off;
}

int pfmi_table_find_built_field(const struct table_builder *b, const char *name, size_t len)
{
	for (unsigned i = 0; i < b->fields.n; i++) {
		const char *have = get_built_text(b, get_built_field(b, i)->name);

		if (strlen(have) == len && memcmp(have, name, len) == 0)
			return (int)i;
	}
	return -1;
}

void pfmi_table_add_feature(struct table_builder *b, const char *name, const char *text,
                            uint64_t value)
{
	struct feature f = { .value = value };
	struct feature *to;

	f.name = pfmi_table_add_text(b, name, strlen(name));
	f.text = text ? pfmi_table_add_text(b, text, strlen(text)) : 0;
	to = extend_array(b, &b->features, 1, sizeof(*to));
	if (to)
		*to = f;
}

void pfmi_table_begin_row(struct table_builder *b, const char *name, const char *desc,
                          uint32_t flags)
{
	uint32_t name_at = pfmi_table_add_text(b, name, strlen(name)),
		 desc_at = pfmi_table_add_text(b, desc, strlen(desc));
	struct row r = { .name = name_at & ROW_MAX_NAME,
		         .desc = desc_at & ROW_MAX_DESC,
		         .first_value = b->values.n & ROW_MAX_FIRST_VALUE,
		         .flags = (uint16_t)flags };
	struct row *to;

	if (name_at > ROW_MAX_NAME || desc_at > ROW_MAX_DESC || b->values.n > ROW_MAX_FIRST_VALUE)
		b->failed = true;
	to = b->rows.n < TABLE_MAX_NAMES ? extend_array(b, &b->rows, 1, sizeof(*to)) : NULL;
	if (to)
		*to = r;
}

/* Packs a value in the form in which a table stores it. */
static uint32_t pack_value(struct table_builder *b, unsigned field, uint64_t value)
{
	struct wide_value *w;

	if (value < VALUE_IS_WIDE)
		return (uint32_t)field << 24 | (uint32_t)value;
	w = b->wide_values.n < VALUE_IS_WIDE ? extend_array(b, &b->wide_values, 1, sizeof(*w))
	                                     : NULL;
	if (!w)
		return (uint32_t)field << 24;
	*w = (struct wide_value){ .value = value, .counter = ANY_COUNTER };
	return (uint32_t)field << 24 | VALUE_IS_WIDE | (uint32_t)(b->wide_values.n - 1);
}

void pfmi_table_set_row_value(struct table_builder *b, unsigned field, uint64_t value)
{
	struct row *r = b->rows.n ? (struct row *)b->rows.items + (b->rows.n - 1) : NULL;
	uint32_t *v = b->values.items, packed;

	if (!r || b->failed || r->n_values == UINT8_MAX)
		return;
	packed = pack_value(b, field, value);
	for (size_t i = r->first_value; i < b->values.n; i++)
		if (v[i] >> 24 == field) {
			v[i] = packed;
			return;
		}
	v = extend_array(b, &b->values, 1, sizeof(*v));
	if (!v)
		return;
	*v = packed;
	r->n_values++;
}

void pfmi_table_drop_row(struct table_builder *b)
{
	const struct row *r = b->rows.items;

	if (b->failed || !b->rows.n)
		return;
	b->rows.n--;
	b->values.n = r[b->rows.n].first_value;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Enters row @row under its name. If several names fold to one, the first row is found under it and
 * the others by their exact spelling. */
static void insert_row_name(struct table *t, struct row *rows, uint32_t *slots, uint32_t row)
{
	const char *text = table_get_text(t, rows[row].name);
	uint32_t h = pfmi_table_hash_name(pfmi_base_make_slice(text));

	if (table_find_name(t, h, text, strlen(text)).kind != NAME_NONE) {
		rows[row].flags |= ROW_SHADOWED;
		t->flags |= TABLE_HAS_FOLDED_TWINS;
		return;
	}
	pfmi_table_insert_name(slots, t->n_slots, h, row + 1);
}

/* Offset of the next array of @n pieces of @size bytes; arrays begin at multiples of 8. */
static uint32_t reserve_array(size_t *at, size_t n, size_t size)
{
	size_t here = *at;

	*at += (n * size + 7) & ~(size_t)7;
	return (uint32_t)here;
}

static size_t compute_layout(struct table_builder *b)
{
	struct table *t = &b->head;
	size_t at = sizeof(*t);

	t->n_fields = (uint16_t)b->fields.n;
	t->n_features = (uint16_t)b->features.n;
	t->n_rows = (uint32_t)b->rows.n;
	t->n_pool = (uint32_t)b->pool.n + POOL_PAD;
	t->n_slots = t->n_rows + t->n_rows / 2 + 2;
	t->counters = t->named_values = t->groups = t->group_numbers = t->matches = t->row_groups =
		t->names = t->code_index = t->rules = t->rule_tests = t->errata = t->erratum_rows =
			(uint32_t)at;
	t->counter_masks = reserve_array(&at, 1, sizeof(uint64_t)); /* one mask: no counter */
	t->keys = reserve_array(&at, 64, 1);
	t->fields = reserve_array(&at, b->fields.n, sizeof(struct field));
	t->features = reserve_array(&at, b->features.n, sizeof(struct feature));
	t->wide_values = reserve_array(&at, b->wide_values.n, sizeof(struct wide_value));
	t->row_numbers = reserve_array(&at, b->rows.n, sizeof(uint32_t));
	t->rows = reserve_array(&at, b->rows.n, sizeof(struct row));
	t->values = reserve_array(&at, b->values.n, sizeof(uint32_t));
	t->slots = reserve_array(&at, t->n_slots, sizeof(uint32_t));
	t->pool = reserve_array(&at, t->n_pool, 1);
	t->size = (uint32_t)at;
	return at;
}

static void copy_array(char *to, const struct growing_array *p, size_t size)
{
	if (p->n)
		memcpy(to, p->items, p->n * size);
}

static void write_table(const struct table_builder *b, char *out)
{
	const struct table *t = &b->head;

	*(struct table *)(void *)out = *t;
	memcpy(out + t->keys, b->keys, sizeof(b->keys));
	copy_array(out + t->fields, &b->fields, sizeof(struct field));
	copy_array(out + t->features, &b->features, sizeof(struct feature));
	copy_array(out + t->wide_values, &b->wide_values, sizeof(struct wide_value));
	copy_array(out + t->rows, &b->rows, sizeof(struct row));
	copy_array(out + t->values, &b->values, sizeof(uint32_t));
	copy_array(out + t->pool, &b->pool, 1);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		((uint32_t *)(void *)(out + t->row_numbers))[i] = i;
		insert_row_name((struct table *)(void *)out, (struct row *)(void *)(out + t->rows),
		                (uint32_t *)(void *)(out + t->slots), i);
	}
}

struct table *pfmi_table_finish_build(struct table_builder *b)
{
	size_t size = compute_layout(b);
	char *out = b->failed || size > UINT32_MAX ? NULL : calloc(1, size);

	if (out)
		write_table(b, out);
	free(b->fields.items);
	free(b->features.items);
	free(b->rows.items);
	free(b->values.items);
	free(b->wide_values.items);
	free(b->pool.items);
	*b = (struct table_builder){ 0 };
	return (struct table *)(void *)out;
}
