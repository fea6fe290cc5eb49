/* SPDX-License-Identifier: MIT */
#include "table/build.h"

#include <stdlib.h>
#include <string.h>

static void *grow(struct builder *b, struct pieces *p, size_t n, size_t size)
{
	if (p->room - p->n < n) {
		size_t room = p->room * 2 + n + 16;
		void *at = b->failed ? NULL : realloc(p->at, room * size);

		if (!at) {
			b->failed = true;
			return NULL;
		}
		p->at = at;
		p->room = room;
	}
	p->n += n;
	return (char *)p->at + (p->n - n) * size;
}

void pfmi_build_begin(struct builder *b)
{
	*b = (struct builder){ .head = { .magic = TABLE_MAGIC,
		                         .encoder = ENCODER_FORMAT,
		                         .flags = TABLE_KERNEL | TABLE_REPLACES,
		                         .perf_type = -1,
		                         .libpfm_type = -1 } };
	pfmi_build_text(b, "", 0);
}

/* No string has anything a terminal would obey (see check_pool() in table.c): files below a root may be anybody's. */
static void tame(char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < ' ' || c == 127)
			s[i] = ' ';
		else if (c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] >= 0x80 && (unsigned char)s[i + 1] <= 0x9f)
			s[i] = s[i + 1] = ' ';
	}
}

uint32_t pfmi_build_text(struct builder *b, const char *s, size_t len)
{
	size_t at = b->pool.n;
	char *p;

	if (len == 0 && at)
		return 0;
	p = grow(b, &b->pool, len + 1, 1);
	if (!p)
		return 0;
	memcpy(p, s, len);
	p[len] = '\0';
	tame(p, len);
	return (uint32_t)at;
}

static const struct field *field_at(const struct builder *b, unsigned i)
{
	return (const struct field *)b->fields.at + i;
}

const struct field *pfmi_build_get_field(const struct builder *b, unsigned field)
{
	return field_at(b, field);
}

/* Values have a byte for the number of their field; a processor with more is none. */
static unsigned add_field(struct builder *b, const struct field *f)
{
	struct field *to = b->fields.n < TABLE_MAX_FIELDS ? grow(b, &b->fields, 1, sizeof(*to)) : NULL;

	if (!to)
		return 0;
	*to = *f;
	/* Two fields with one key: the first is the one that C code means. */
	if (f->key != KEY_NONE && b->keys[f->key] == 0)
		b->keys[f->key] = (uint8_t)b->fields.n;
	return (unsigned)b->fields.n - 1;
}

unsigned pfmi_build_field(struct builder *b, const char *name, enum key key, const struct bitrange *ranges, unsigned n_ranges)
{
	struct field f = { .key = (uint16_t)key, .kind = FIELD_NUMBER, .n_ranges = (uint8_t)n_ranges, .modifier = 1 };
	unsigned width = 0;

	f.name = pfmi_build_text(b, name, strlen(name));
	for (unsigned i = 0; i < n_ranges; i++) {
		f.range[i] = ranges[i];
		width += ranges[i].width;
	}
	f.width = (uint8_t)(width > 64 ? 64 : width);
	f.max = f.width == 64 ? UINT64_MAX : ((uint64_t)1 << f.width) - 1;
	return add_field(b, &f);
}

/* In place, not pointed at: pointers would have to be relocated in every process. */
static const char key_names[][20] = {
#define KEY(ID, NAME) NAME,
#include "table/keys.def"
#undef KEY
};

unsigned pfmi_build_text_field(struct builder *b, enum key key)
{
	struct field f = { .key = (uint16_t)key, .kind = FIELD_TEXT, .width = 32, .max = UINT32_MAX };

	f.name = pfmi_build_text(b, key_names[key], strlen(key_names[key]));
	return add_field(b, &f);
}

static const char *text_at(const struct builder *b, uint32_t off)
{
	return (const char *)b->pool.at + off;
}

int pfmi_build_find_field(const struct builder *b, const char *name, size_t len)
{
	for (unsigned i = 0; i < b->fields.n; i++) {
		const char *have = text_at(b, field_at(b, i)->name);

		if (strlen(have) == len && memcmp(have, name, len) == 0)
			return (int)i;
	}
	return -1;
}

void pfmi_build_feature(struct builder *b, const char *name, const char *text, uint64_t value)
{
	struct feature f = { .value = value };
	struct feature *to;

	f.name = pfmi_build_text(b, name, strlen(name));
	f.text = text ? pfmi_build_text(b, text, strlen(text)) : 0;
	to = grow(b, &b->features, 1, sizeof(*to));
	if (to)
		*to = f;
}

void pfmi_build_row(struct builder *b, const char *name, const char *desc, uint32_t flags)
{
	struct row r = { .value = (uint32_t)b->values.n, .flags = (uint16_t)flags };
	struct row *to;

	r.name = pfmi_build_text(b, name, strlen(name));
	r.desc = pfmi_build_text(b, desc, strlen(desc));
	to = b->rows.n < TABLE_MAX_NAMES ? grow(b, &b->rows, 1, sizeof(*to)) : NULL;
	if (to)
		*to = r;
}

/* A value as it lies in the table. */
static uint32_t pack(struct builder *b, unsigned field, uint64_t value)
{
	struct wide *w;

	if (value < VALUE_WIDE)
		return (uint32_t)field << 24 | (uint32_t)value;
	w = b->wides.n < VALUE_WIDE ? grow(b, &b->wides, 1, sizeof(*w)) : NULL;
	if (!w)
		return (uint32_t)field << 24;
	*w = (struct wide){ .value = value, .counter = ANYWHERE };
	return (uint32_t)field << 24 | VALUE_WIDE | (uint32_t)(b->wides.n - 1);
}

void pfmi_build_value(struct builder *b, unsigned field, uint64_t value)
{
	struct row *r = b->rows.n ? (struct row *)b->rows.at + (b->rows.n - 1) : NULL;
	uint32_t *v = b->values.at, packed;

	if (!r || b->failed || r->n_values == UINT8_MAX)
		return;
	packed = pack(b, field, value);
	for (size_t i = r->value; i < b->values.n; i++)
		if (v[i] >> 24 == field) {
			v[i] = packed;
			return;
		}
	v = grow(b, &b->values, 1, sizeof(*v));
	if (!v)
		return;
	*v = packed;
	r->n_values++;
}

void pfmi_build_drop_row(struct builder *b)
{
	const struct row *r = b->rows.at;

	if (b->failed || !b->rows.n)
		return;
	b->rows.n--;
	b->values.n = r[b->rows.n].value;
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

/* Enters row @row under its name. Of names that fold to one the first is found, the others by their exact spelling. */
static void enter(struct table *t, struct row *rows, uint32_t *slots, uint32_t row)
{
	const char *text = table_text(t, rows[row].name);
	uint32_t h = pfmi_name_hash(pfmi_slice(text));

	if (pfmi_table_find(t, h, text, strlen(text)).kind != NAME_NONE) {
		rows[row].flags |= ROW_SHADOWED;
		t->flags |= TABLE_TWINS;
		return;
	}
	pfmi_enter_name(slots, t->n_slots, h, row + 1);
}

/* Offset of the next array of @n pieces of @size bytes; keeps everything on multiples of 8. */
static uint32_t place(size_t *at, size_t n, size_t size)
{
	size_t here = *at;

	*at += (n * size + 7) & ~(size_t)7;
	return (uint32_t)here;
}

static size_t lay_out(struct builder *b)
{
	struct table *t = &b->head;
	size_t at = sizeof(*t);

	t->n_fields = (uint16_t)b->fields.n;
	t->n_features = (uint16_t)b->features.n;
	t->n_rows = (uint32_t)b->rows.n;
	t->n_pool = (uint32_t)b->pool.n + POOL_PAD;
	t->n_slots = t->n_rows + t->n_rows / 2 + 2;
	t->counters = t->words = t->groups = t->group_numbers = t->matches = t->takes = t->names = t->ways = (uint32_t)at;
	t->sets = place(&at, 1, sizeof(uint64_t)); /* one set: no counter */
	t->keys = place(&at, 64, 1);
	t->fields = place(&at, b->fields.n, sizeof(struct field));
	t->features = place(&at, b->features.n, sizeof(struct feature));
	t->wides = place(&at, b->wides.n, sizeof(struct wide));
	t->row_numbers = place(&at, b->rows.n, sizeof(uint32_t));
	t->rows = place(&at, b->rows.n, sizeof(struct row));
	t->values = place(&at, b->values.n, sizeof(uint32_t));
	t->slots = place(&at, t->n_slots, sizeof(uint32_t));
	t->pool = place(&at, t->n_pool, 1);
	t->size = (uint32_t)at;
	return at;
}

static void copy(char *to, const struct pieces *p, size_t size)
{
	if (p->n)
		memcpy(to, p->at, p->n * size);
}

static void fill(const struct builder *b, char *out)
{
	const struct table *t = &b->head;

	*(struct table *)(void *)out = *t;
	memcpy(out + t->keys, b->keys, sizeof(b->keys));
	copy(out + t->fields, &b->fields, sizeof(struct field));
	copy(out + t->features, &b->features, sizeof(struct feature));
	copy(out + t->wides, &b->wides, sizeof(struct wide));
	copy(out + t->rows, &b->rows, sizeof(struct row));
	copy(out + t->values, &b->values, sizeof(uint32_t));
	copy(out + t->pool, &b->pool, 1);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		((uint32_t *)(void *)(out + t->row_numbers))[i] = i;
		enter((struct table *)(void *)out, (struct row *)(void *)(out + t->rows), (uint32_t *)(void *)(out + t->slots), i);
	}
}

struct table *pfmi_build_end(struct builder *b)
{
	size_t size = lay_out(b);
	char *out = b->failed || size > UINT32_MAX ? NULL : calloc(1, size);

	if (out)
		fill(b, out);
	free(b->fields.at);
	free(b->features.at);
	free(b->rows.at);
	free(b->values.at);
	free(b->wides.at);
	free(b->pool.at);
	*b = (struct builder){ 0 };
	return (struct table *)(void *)out;
}
