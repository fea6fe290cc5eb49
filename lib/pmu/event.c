/* SPDX-License-Identifier: MIT */
/* Events with their attributes: field values and their places in configuration words. */
#include "pmu/pmu.h"

#include <string.h>
#include <perfmon/types.h>

void pfmi_pmu_insert_field_ranges(const struct field *f, uint64_t config[N_CONFIG_WORDS],
                                  uint64_t value)
{
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->ranges[i];
		uint64_t mask = ~(uint64_t)0 >> (64 - r->width) << r->lsb;

		config[r->config_word] =
			(config[r->config_word] & ~mask) | (value << r->lsb & mask);
		value = value >> (r->width - 1) >> 1;
	}
}

uint64_t pfmi_pmu_extract_field(const struct field *f, const uint64_t config[N_CONFIG_WORDS])
{
	uint64_t value = 0;
	unsigned at = 0;

	for (unsigned i = 0; i < f->n_ranges && at < 64; i++) {
		const struct bitrange *r = &f->ranges[i];
		uint64_t mask = r->width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << r->width) - 1;

		value |= (config[r->config_word] >> r->lsb & mask) << at;
		at += r->width;
	}
	return value;
}

static void insert_field_defaults(const struct table *t, uint64_t config[N_CONFIG_WORDS])
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (f[i].default_value && f[i].n_ranges && f[i].kind != FIELD_TEXT)
			field_insert(&f[i], config, f[i].default_value);
}

/* Inserts a value that may be for one counter, wide, or a replacement of an earlier one. */
static void insert_row_value(struct event *ev, const struct field *f, struct field_value v)
{
	if (v.counter == ANY_COUNTER)
		field_insert(f, ev->base_config, v.value);
	else
		ev->has_counter_values = true;
}

/* ORs @value into the bits of @f. */
static inline void or_field_value(const struct field *f, uint64_t config[N_CONFIG_WORDS],
                                  uint64_t value)
{
	for (unsigned i = 0; i < f->n_ranges && value; i++) {
		const struct bitrange *r = &f->ranges[i];

		config[r->config_word] |= (value & ~(uint64_t)0 >> (64 - r->width)) << r->lsb;
		value = value >> (r->width - 1) >> 1;
	}
}

/* Collects the keys of the row's values and their bits in the configuration words. Without
 * @replaces no two values set one bit, and no value is wider than its field (verify.c), so they can
 * be ORed. */
static void collect_row_values(struct event *ev, const struct row *r, bool replaces)
{
	const struct field *fields = table_fields(ev->table);
	const uint32_t *v = table_values(ev->table) + r->first_value, *end = v + r->n_values;
	uint64_t has = 0;

	for (; v < end; v++) {
		const struct field *f = fields + (*v >> 24);
		uint32_t value = *v & (VALUE_IS_WIDE - 1);

		has |= (uint64_t)1 << f->key;
		if (f->key == KEY_PRECISE)
			ev->row_precision = (uint8_t)value;
		if (!f->n_ranges)
			continue;
		if (*v & VALUE_IS_WIDE || replaces)
			insert_row_value(ev, f, table_unpack_value(ev->table, *v));
		else if (f->n_ranges == 1)
			ev->base_config[f->ranges[0].config_word] |= (uint64_t)value
			                                             << f->ranges[0].lsb;
		else
			or_field_value(f, ev->base_config, value);
	}
	ev->row_keys = has;
}

void pfmi_pmu_init_event(struct event *ev, const struct table *t, uint32_t row)
{
	const struct row *r = row == ROW_NONE ? NULL : table_get_row(t, row);

	ev->table = t;
	ev->row = r;
	ev->row_index = row;
	ev->plm = ev->has_no_levels = ev->precise = ev->has_raw_umask = ev->n_user_fields =
		ev->exclude_flags = 0;
	ev->chosen_groups = 0;
	ev->counter_pin = ANY_COUNTER;
	ev->has_counter_values = false;
	ev->row_precision = PRECISE_IMPOSSIBLE;
	ev->user_keys = 0;
	memset(ev->base_config, 0, sizeof(ev->base_config));
	if (t->flags & TABLE_VALUES_OVERRIDE)
		insert_field_defaults(t, ev->base_config);
	if (!r) {
		ev->row_keys = 0;
		return;
	}
	collect_row_values(ev, r, t->flags & TABLE_VALUES_OVERRIDE);
#pragma GCC unroll 1
	for (unsigned i = 0; i < r->n_groups; i++) {
		const struct umask_group *g = table_get_row_group(t, r, i);

		ev->group_values[i] = g->flags & GROUP_HAS_DEFAULT ? g->default_value : 0;
	}
}

const struct umask_group *pfmi_pmu_get_row_group(const struct table *t, uint32_t row, unsigned i)
{
	return table_get_row_group(t, table_get_row(t, row), i);
}

const uint64_t *pfmi_pmu_find_user_value(const struct event *ev, unsigned field)
{
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field)
			return &ev->user_fields[i].value;
	return NULL;
}

static uint64_t combine_group_values(const struct event *ev, unsigned field)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < ev->row->n_groups; i++)
		if (table_get_row_group(ev->table, ev->row, i)->field == field)
			bits |= ev->group_values[i];
	return bits;
}

/* The bits of @field that values of the row's groups set. */
static inline uint64_t get_group_bits(const struct event *ev, unsigned field)
{
	return ev->row && ev->row->n_groups ? combine_group_values(ev, field) : 0;
}

bool pfmi_pmu_has_user_key(const struct event *ev, enum field_key key)
{
	return ev->user_keys >> key & 1 &&
	       pfmi_pmu_find_user_value(ev, table_get_key_field_plus1(ev->table, key) - 1);
}

bool pfmi_pmu_set_user_field(struct event *ev, unsigned field, uint64_t value)
{
	if (ev->n_user_fields == EVENT_MAX_USER_FIELDS)
		return false;
	ev->user_fields[ev->n_user_fields++] =
		(struct user_field){ .field = (uint16_t)field, .value = value };
	ev->user_keys |= (uint64_t)1 << table_fields(ev->table)[field].key;
	return true;
}

/* The value of @field: the row's for @counter, or its general one, or the default. */
static uint64_t get_row_value(const struct event *ev, unsigned field, unsigned counter)
{
	uint64_t value;

	return ev->row && pfmi_table_find_row_value(ev->table, ev->row, field, counter, &value)
	               ? value
	               : table_fields(ev->table)[field].default_value;
}

uint64_t pfmi_pmu_get_field_value(const struct event *ev, unsigned field, unsigned counter)
{
	const uint64_t *user = ev->n_user_fields ? pfmi_pmu_find_user_value(ev, field) : NULL;

	return (user ? *user : get_row_value(ev, field, counter)) | get_group_bits(ev, field);
}

uint64_t pfmi_pmu_get_key_value(const struct event *ev, enum field_key key, unsigned counter)
{
	unsigned field = table_get_key_field_plus1(ev->table, key);

	if (!field)
		return 0;
	if (ev->n_user_fields || event_has_key(ev, key))
		return pfmi_pmu_get_field_value(ev, field - 1, counter);
	return table_fields(ev->table)[field - 1].default_value | get_group_bits(ev, field - 1);
}

uint64_t pfmi_pmu_get_counter_mask(const struct event *ev)
{
	uint64_t mask =
		ev->row ? table_get_row_counter_mask(ev->table, ev->row) : ev->table->all_counters;

	return ev->counter_pin == ANY_COUNTER ? mask : mask & (uint64_t)1 << ev->counter_pin;
}

uint64_t pfmi_pmu_get_plan_counter_mask(const struct plan *plan)
{
	const struct event *ev = plan->request->events;
	uint64_t mask = 0;

	/* Other encoders narrow the masks to their own choice of counters, so the row's counters
	 * are returned. */
	if (plan->counterless_events ||
	    (ev->table->encoder != ENCODER_X86 && ev->table->encoder != ENCODER_FORMAT &&
	     ev->table->encoder != ENCODER_PERF))
		return pfmi_pmu_get_counter_mask(ev);
	for (unsigned a = 0; a < plan->n_alternatives; a++)
		mask |= plan->alternatives[a].counter_masks[0];
	return mask;
}

/* Inserts the row's values for @counter alone. */
static void insert_counter_values(const struct event *ev, unsigned counter,
                                  uint64_t config[N_CONFIG_WORDS])
{
	const struct row *r = ev->row;

	for (unsigned i = 0; i < r->n_values; i++) {
		struct field_value v = table_get_row_value(ev->table, r, i);

		if (v.counter == counter)
			field_insert(table_fields(ev->table) + v.field, config, v.value);
	}
}

static void or_group_values(const struct event *ev, const struct row *r,
                            uint64_t config[N_CONFIG_WORDS])
{
	for (unsigned i = 0; i < r->n_groups; i++) {
		if (ev->group_values[i])
			or_field_value(table_fields(ev->table) +
			                       table_get_row_group(ev->table, r, i)->field,
			               config, ev->group_values[i]);
	}
}

/* Values are inserted in this order, later ones replacing earlier ones: defaults, the row, its
 * groups (which are ORed), the user's. */
void pfmi_pmu_build_config_words(const struct event *ev, unsigned counter,
                                 uint64_t config[N_CONFIG_WORDS])
{
	memcpy(config, ev->base_config, sizeof(ev->base_config));
	if (ev->row) {
		const struct row *r = ev->row;

		if (ev->has_counter_values && counter != ANY_COUNTER)
			insert_counter_values(ev, counter, config);
		if (r->n_groups)
			or_group_values(ev, r, config);
	}
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		field_insert(table_fields(ev->table) + ev->user_fields[i].field, config,
		             ev->user_fields[i].value |
		                     get_group_bits(ev, ev->user_fields[i].field));
}

void pfmi_pmu_build_plan_words(const struct plan *plan, unsigned i, unsigned counter,
                               uint64_t config[N_CONFIG_WORDS])
{
	if (plan->moved_events >> i & 1)
		memcpy(config, plan->moved[i].config, sizeof(plan->moved[i].config));
	else
		pfmi_pmu_build_config_words(&plan->request->events[i], counter, config);
}

unsigned pfmi_pmu_count_row_umasks(const struct table *t, uint32_t row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++)
		n += pfmi_pmu_get_row_group(t, row, i)->n_values;
	return n;
}

const struct named_value *pfmi_pmu_get_row_umask(const struct table *t, uint32_t row, unsigned mask,
                                                 const struct umask_group **group)
{
	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(t, row, i);

		if (mask < g->n_values) {
			if (group)
				*group = g;
			return table_named_values(t) + g->first_named_value + mask;
		}
		mask -= g->n_values;
	}
	return NULL;
}

int pfmi_pmu_add_umask(struct event *ev, unsigned mask)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);

		if (mask < g->n_values) {
			uint64_t bits =
				table_named_values(ev->table)[g->first_named_value + mask].value;

			ev->group_values[i] =
				ev->chosen_groups >> i & 1 ? ev->group_values[i] | bits : bits;
			ev->chosen_groups |= (uint16_t)(1u << i);
			return PFMLIB_SUCCESS;
		}
		mask -= g->n_values;
	}
	return PFMLIB_ERR_UMASK;
}

bool pfmi_pmu_find_feature(const struct table *t, const char *name, uint64_t *value)
{
	const struct feature *f = table_features(t);

	for (unsigned i = 0; i < t->n_features; i++)
		if (strcmp(table_get_text(t, f[i].name), name) == 0) {
			*value = f[i].value;
			return true;
		}
	return false;
}
