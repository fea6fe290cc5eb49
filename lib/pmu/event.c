/* SPDX-License-Identifier: MIT */
/* What an event is once its attributes are known: field values and how they fall into configuration words. */
#include "pmu.h"

#include <string.h>
#include <perfmon/pfmlib.h>

void pfmi_field_put(const struct field *f, uint64_t config[4], uint64_t value)
{
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->range[i];
		uint64_t mask = r->width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << r->width) - 1;

		config[r->word] = (config[r->word] & ~(mask << r->lsb)) | ((value & mask) << r->lsb);
		value = r->width == 64 ? 0 : value >> r->width;
	}
}

uint64_t pfmi_field_get(const struct field *f, const uint64_t config[4])
{
	uint64_t value = 0;
	unsigned at = 0;

	for (unsigned i = 0; i < f->n_ranges && at < 64; i++) {
		const struct bitrange *r = &f->range[i];
		uint64_t mask = r->width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << r->width) - 1;

		value |= (config[r->word] >> r->lsb & mask) << at;
		at += r->width;
	}
	return value;
}

/* The same where nearly all fields are: in one run of bits. */
static inline void put(const struct field *f, uint64_t config[4], uint64_t value)
{
	const struct bitrange *r = &f->range[0];
	uint64_t mask;

	if (f->n_ranges != 1 || r->width == 64) {
		pfmi_field_put(f, config, value);
		return;
	}
	mask = (((uint64_t)1 << r->width) - 1) << r->lsb;
	config[r->word] = (config[r->word] & ~mask) | (value << r->lsb & mask);
}

RARELY static void add_presets(const struct table *t, uint64_t config[4])
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (f[i].preset && f[i].n_ranges && f[i].kind != FIELD_TEXT)
			pfmi_field_put(&f[i], config, f[i].preset);
}

/* One walk over the row's values: where each key's value is, and the configuration words they make. */
static void index_values(struct event *ev, const struct row *r)
{
	const struct field *fields = table_fields(ev->table);

	for (unsigned i = 0; i < r->n_values; i++) {
		struct value v = row_value(ev->table, r, i);
		const struct field *f = fields + v.field;
		bool bound = v.counter != ANYWHERE;

		/* Fields without a key share entry 0, which nobody reads. */
		if (bound || i >= VALUE_SCAN - 1)
			ev->at[f->key] = VALUE_SCAN;
		else if (!ev->at[f->key])
			ev->at[f->key] = (uint8_t)(i + 1);
		if (!f->n_ranges)
			continue;
		if (bound)
			ev->by_counter = true;
		else
			put(f, ev->base, v.value);
	}
}

void pfmi_event_init(struct event *ev, const struct table *t, uint32_t row)
{
	const struct row *r = row == ROW_NONE ? NULL : table_row(t, row);

	ev->table = t;
	ev->row = row;
	ev->plm = ev->plm_none = ev->precise = ev->raw_mask = ev->n_set = ev->left_out = 0;
	ev->given = 0;
	ev->counter_pin = ANYWHERE;
	ev->by_counter = false;
	memset(ev->at, 0, sizeof(ev->at));
	memset(ev->base, 0, sizeof(ev->base));
	if (t->flags & TABLE_PRESETS)
		add_presets(t, ev->base);
	if (!r)
		return;
	index_values(ev, r);
	for (unsigned i = 0; i < r->n_takes; i++) {
		const struct group *g = pfmi_row_group(t, row, i);

		ev->group[i] = g->flags & GROUP_DEFAULT ? g->preset : 0;
	}
}

const struct group *pfmi_row_group(const struct table *t, uint32_t row, unsigned i)
{
	return row_group(t, table_row(t, row), i);
}

/* The value the user set for field number @field; NULL if none. */
static const uint64_t *set_by_user(const struct event *ev, unsigned field)
{
	for (unsigned i = 0; i < ev->n_set; i++)
		if (ev->set[i].field == field)
			return &ev->set[i].value;
	return NULL;
}

static uint64_t group_bits(const struct event *ev, unsigned field)
{
	uint64_t bits = 0;

	if (ev->row == ROW_NONE)
		return 0;
	for (unsigned i = 0; i < table_row(ev->table, ev->row)->n_takes; i++)
		if (pfmi_row_group(ev->table, ev->row, i)->field == field)
			bits |= ev->group[i];
	return bits;
}

bool pfmi_event_was_set(const struct event *ev, enum key key)
{
	unsigned at = table_key(ev->table, key);

	return at && set_by_user(ev, at - 1);
}

uint64_t pfmi_event_value(const struct event *ev, unsigned field, unsigned counter)
{
	const struct table *t = ev->table;
	const uint64_t *user = ev->n_set ? set_by_user(ev, field) : NULL;
	const struct row *r;
	bool found = false;
	uint64_t value = 0;

	if (user)
		return *user | group_bits(ev, field);
	if (ev->row == ROW_NONE)
		return table_fields(t)[field].preset;
	r = table_row(t, ev->row);
	for (unsigned i = 0; i < r->n_values; i++) {
		struct value v = row_value(t, r, i);

		if (v.field == field && (v.counter == counter || (v.counter == ANYWHERE && !found))) {
			found = true;
			value = v.value;
		}
	}
	return (found ? value : table_fields(t)[field].preset) | group_bits(ev, field);
}

uint64_t pfmi_event_field(const struct event *ev, enum key key, unsigned counter)
{
	unsigned field = table_key(ev->table, key), at = ev->at[key];
	const struct row *r;

	if (!field)
		return 0;
	if (ev->n_set || at == VALUE_SCAN || ev->row == ROW_NONE)
		return pfmi_event_value(ev, field - 1, counter);
	r = table_row(ev->table, ev->row);
	return (at ? row_value(ev->table, r, at - 1).value : table_fields(ev->table)[field - 1].preset) |
	       (r->n_takes ? group_bits(ev, field - 1) : 0);
}

uint64_t pfmi_event_counters(const struct event *ev)
{
	uint64_t mask = ev->row == ROW_NONE ? ev->table->all_counters : row_counters(ev->table, table_row(ev->table, ev->row));

	return ev->counter_pin == ANYWHERE ? mask : mask & (uint64_t)1 << ev->counter_pin;
}

/* Values the row has for @counter alone. */
RARELY static void add_bound(const struct event *ev, unsigned counter, uint64_t config[4])
{
	const struct row *r = table_row(ev->table, ev->row);

	for (unsigned i = 0; i < r->n_values; i++) {
		struct value v = row_value(ev->table, r, i);

		if (v.counter == counter)
			pfmi_field_put(table_fields(ev->table) + v.field, config, v.value);
	}
}

static void add_groups(const struct event *ev, const struct row *r, uint64_t config[4])
{
	for (unsigned i = 0; i < r->n_takes; i++) {
		const struct field *f = table_fields(ev->table) + pfmi_row_group(ev->table, ev->row, i)->field;

		if (ev->group[i])
			pfmi_field_put(f, config, pfmi_field_get(f, config) | ev->group[i]);
	}
}

/* Presets first, then the row, then its groups, then the user: later ones replace earlier ones, groups are added. */
void pfmi_event_config(const struct event *ev, unsigned counter, uint64_t config[4])
{
	memcpy(config, ev->base, sizeof(ev->base));
	if (ev->row != ROW_NONE) {
		const struct row *r = table_row(ev->table, ev->row);

		if (ev->by_counter && counter != ANYWHERE)
			add_bound(ev, counter, config);
		if (r->n_takes)
			add_groups(ev, r, config);
	}
	for (unsigned i = 0; i < ev->n_set; i++)
		pfmi_field_put(table_fields(ev->table) + ev->set[i].field, config,
		               ev->set[i].value | group_bits(ev, ev->set[i].field));
}

RARELY unsigned pfmi_row_n_masks(const struct table *t, uint32_t row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < table_row(t, row)->n_takes; i++)
		n += pfmi_row_group(t, row, i)->n_values;
	return n;
}

const struct word *pfmi_row_mask(const struct table *t, uint32_t row, unsigned mask, const struct group **group)
{
	for (unsigned i = 0; i < table_row(t, row)->n_takes; i++) {
		const struct group *g = pfmi_row_group(t, row, i);

		if (mask < g->n_values) {
			if (group)
				*group = g;
			return table_words(t) + g->word + mask;
		}
		mask -= g->n_values;
	}
	return NULL;
}

int pfmi_event_add_mask(struct event *ev, unsigned mask)
{
	for (unsigned i = 0; i < table_row(ev->table, ev->row)->n_takes; i++) {
		const struct group *g = pfmi_row_group(ev->table, ev->row, i);

		if (mask < g->n_values) {
			uint64_t bits = table_words(ev->table)[g->word + mask].value;

			ev->group[i] = ev->given >> i & 1 ? ev->group[i] | bits : bits;
			ev->given |= (uint16_t)(1u << i);
			return PFMLIB_SUCCESS;
		}
		mask -= g->n_values;
	}
	return PFMLIB_ERR_UMASK;
}
