/* SPDX-License-Identifier: MIT */
/* Decides whether register values can be those of a row.
 *
 * If a table declares the bits of its fields, a row is compared field by field: bits of groups are
 * split into unit masks, and remaining bits become modifiers. If only the encoder has the bits,
 * it encodes the row on the counter, and the bits of the event select mask are compared. */
#include <stdio.h>
#include <string.h>
#include "pmu/row_match.h"

/* Can named values of the group be combined to @bits? */
static bool can_combine_group_values(const struct table *t, const struct umask_group *g,
                                     uint64_t bits)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;
	uint64_t seen = 0;

	for (unsigned i = 0; i < g->n_values; i++) {
		if (w[i].value == bits)
			return true;
		if (g->flags & GROUP_COMBINABLE && !(w[i].value & ~bits))
			seen |= w[i].value;
	}
	return bits ? seen == bits : !(g->flags & (GROUP_REQUIRED | GROUP_HAS_DEFAULT));
}

static void set_group_value(struct event *ev, unsigned i, uint64_t bits)
{
	const struct umask_group *g = event_get_group(ev, i);

	ev->group_values[i] = bits;
	if (bits != (g->flags & GROUP_HAS_DEFAULT ? g->default_value : 0) ||
	    g->flags & GROUP_REQUIRED)
		ev->chosen_groups |= (uint16_t)(1u << i);
}

/* The bits that other groups of the event have in the field of group @i. Groups may overlap: a unit
 * mask for all values can have the bits of the next group too. */
static uint64_t get_bits_of_other_groups(const struct event *ev, unsigned i)
{
	const struct umask_group *own = event_get_group(ev, i);
	uint64_t bits = 0;

	for (unsigned k = 0; k < event_count_groups(ev); k++)
		if (k != i && event_get_group(ev, k)->field == own->field)
			bits |= event_get_group(ev, k)->mask;
	return bits;
}

static bool read_group_values(const struct decode_target *g, struct event *ev)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *group = event_get_group(ev, i);
		const struct field *f = table_fields(ev->table) + group->field;
		uint64_t bits;

		if (!f->n_ranges)
			continue;
		if (!(g->known_words >> f->ranges[0].config_word & 1)) {
			/* The group's bits are in an unknown word. */
			if (group->flags & GROUP_REQUIRED)
				return false;
			continue;
		}
		bits = pfmi_pmu_extract_field(f, g->config) & group->mask;
		if (!can_combine_group_values(ev->table, group, bits)) {
			bits &= ~get_bits_of_other_groups(ev, i);
			if (!can_combine_group_values(ev->table, group, bits))
				return false;
		}
		set_group_value(ev, i, bits);
	}
	return true;
}

static bool set_modifier(struct event *ev, unsigned field, uint64_t value)
{
	const struct field *f = table_fields(ev->table) + field;

	return f->is_modifier && value >= f->min && value <= f->max &&
	       pfmi_pmu_set_user_field(ev, field, value);
}

bool pfmi_pmu_are_known_words_equal(const struct decode_target *g,
                                    const uint64_t config[N_CONFIG_WORDS])
{
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		if (g->known_words >> i & 1 && config[i] != g->config[i])
			return false;
	return true;
}

/* Adds modifiers for bits that the event lacks. Returns the event's words, or NULL on failure. */
static const uint64_t *add_modifiers(const struct decode_target *g, struct event *ev,
                                     const uint64_t *config, uint64_t own[N_CONFIG_WORDS])
{
	const struct field *f = table_fields(g->table);

	for (unsigned i = 0;
	     i < g->table->n_fields && config && !pfmi_pmu_are_known_words_equal(g, config); i++) {
		uint64_t value;

		if (!f[i].n_ranges || !f[i].is_modifier ||
		    !(g->known_words >> f[i].ranges[0].config_word & 1))
			continue;
		value = pfmi_pmu_extract_field(&f[i], g->config);
		if (value == pfmi_pmu_extract_field(&f[i], config))
			continue;
		/* A config1 of 0 cannot be this row: without its extra register the row is another
		 * event. */
		if (field_is_extra_register(g->table, &f[i]) && !g->config[1])
			return NULL;
		config = set_modifier(ev, i, value) ? pfmi_pmu_get_config_words(ev, own) : NULL;
		/* Fields of extra registers share their bits, and an event has one of them. */
		if (config && field_is_extra_register(g->table, &f[i]) &&
		    (pfmi_pmu_extract_field(&f[i], config) != value ||
		     pfmi_pmu_check_event(ev, NULL))) {
			ev->n_user_fields--;
			config = pfmi_pmu_get_config_words(ev, own);
		}
	}
	return config;
}

static bool match_declared_fields(const struct decode_target *g, struct event *ev)
{
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *config =
		read_group_values(g, ev) ? pfmi_pmu_get_config_words(ev, own) : NULL;

	if (config && !pfmi_pmu_are_known_words_equal(g, config))
		config = add_modifiers(g, ev, config, own);
	/* Filters that the row's counters lack belong to another event. */
	return config && pfmi_pmu_are_known_words_equal(g, config) &&
	       !(ev->n_user_fields && pfmi_pmu_check_event(ev, NULL));
}

static bool match_register_pair(const struct decode_target *g, struct event *ev)
{
	struct decode_target whole = *g;

	return pfmi_pmu_get_encoder(g->table)->decode_register_pair(ev, g->reg_name, g->value,
	                                                            &whole.config[0]) &&
	       match_declared_fields(&whole, ev);
}

/* Converts control register @reg to the layout of the target's register, whose fields have equal
 * names and may have other bits. */
static uint64_t convert_to_target_layout(const struct decode_target *g, const pfm_reg_t *reg)
{
	char name[16];
	const struct register_field *own, *there;
	uint64_t value = 0;
	unsigned n;

	if (pfmi_base_skip_prefix_icase((struct slice){ "PMC", 3 }, g->reg_name) &&
	    g->reg_name[3] >= '0' && g->reg_name[3] <= '9')
		return reg->value;
	snprintf(name, sizeof(name), "PMC%u", (unsigned)reg->num);
	own = pfmi_pmu_get_register_layout(g->table, name, &n);
	for (unsigned i = 0; own && i < n; i++) {
		there = pfmi_pmu_find_register_field(g, own[i].name);
		if (there)
			value = register_field_insert(value, *there,
			                              register_field_extract(reg->value, own[i]));
	}
	return own ? value : reg->value;
}

/* Encodes @ev alone on the target's counter, in the layout of the target's register. */
static bool encode_event_register(const struct decode_target *g, const struct event *ev,
                                  uint64_t *value)
{
	struct event pinned = *ev;
	struct encode_request req = { .table = g->table,
		                      .events = &pinned,
		                      .n_events = 1,
		                      .plm = pfmi_pmu_get_encoder(g->table)->default_levels };
	struct placement where;
	struct register_values regs;

	pinned.counter_pin = (uint16_t)g->counter;
	if (pfmi_pmu_dispatch_set(&req, &where, &regs, NULL) || regs.n_pmcs == 0)
		return false;
	*value = convert_to_target_layout(g, &regs.pmcs[0]);
	return true;
}

static int find_field_by_name(const struct decode_target *g, const char *name)
{
	const struct field *f = table_fields(g->table);

	for (unsigned i = 0; i < g->table->n_fields; i++)
		if (!f[i].n_ranges && f[i].kind != FIELD_TEXT &&
		    *table_get_text(g->table, f[i].name) == *name &&
		    strcmp(table_get_text(g->table, f[i].name), name) == 0)
			return (int)i;
	return -1;
}

/* Reads modifiers and unit masks from fields of the register that have names of table fields. */
static bool read_layout_fields(const struct decode_target *g, struct event *ev)
{
	for (unsigned i = 0; i < g->n_layout; i++) {
		int field = find_field_by_name(g, g->layout[i].name);
		uint64_t value = register_field_extract(g->value, g->layout[i]);

		if (field < 0)
			continue;
		for (unsigned k = 0; k < event_count_groups(ev); k++) {
			const struct umask_group *group = event_get_group(ev, k);

			if (group->field != field)
				continue;
			if (!can_combine_group_values(g->table, group, value & group->mask))
				return false;
			set_group_value(ev, k, value & group->mask);
		}
		if (table_fields(g->table)[field].is_modifier &&
		    value != pfmi_pmu_get_field_value(ev, (unsigned)field, g->counter) &&
		    !set_modifier(ev, (unsigned)field, value))
			return false;
	}
	return true;
}

static bool match_encoded_register(const struct decode_target *g, struct event *ev)
{
	uint64_t value;

	if (!(table_get_row_counter_mask(g->table, table_get_row(g->table, ev->row_index)) >>
	              g->counter &
	      1) ||
	    !read_layout_fields(g, ev))
		return false;
	if (pfmi_pmu_check_event(ev, NULL))
		return false;
	return encode_event_register(g, ev, &value) && !((value ^ g->value) & g->event_select_mask);
}

/* Matches a fixed counter, which has one event; FIXED_CTR_CTRL may add any-thread. A row that
 * counts any thread needs that bit. */
static bool match_fixed_counter(const struct decode_target *g, struct event *ev)
{
	unsigned any = table_get_key_field_plus1(g->table, KEY_ANY);
	uint64_t own = any ? pfmi_pmu_get_field_value(ev, any - 1, g->counter) : 0;
	uint64_t value = g->value >> (4 * (g->counter - 32) + 2) & 1;

	return own == value || (value && any && set_modifier(ev, any - 1, value));
}

/* Values are ordered by field, so the first one is usually that of the code. */
bool pfmi_pmu_has_row_code(const struct table *t, uint32_t row, uint64_t code, unsigned counter)
{
	const struct row *r = table_get_row(t, row);
	uint32_t first = r->n_values ? table_values(t)[r->first_value] : VALUE_IS_WIDE;

	if (!(first & VALUE_IS_WIDE) && (first >> 24) + 1 == table_get_key_field_plus1(t, KEY_CODE))
		return (first & (VALUE_IS_WIDE - 1)) == code;
	return pfmi_table_get_row_value(t, row, KEY_CODE, counter) == code;
}

bool pfmi_pmu_is_code_match(const struct decode_target *g, uint32_t row)
{
	return g->code == DECODE_ANY_CODE ||
	       pfmi_pmu_has_row_code(g->table, row, g->code, g->counter);
}

bool pfmi_pmu_has_alternate_code(const struct table *t, uint32_t row, uint64_t codes, uint32_t *msr)
{
	const struct row *r = table_get_row(t, row);
	const unsigned alt = table_get_key_field_plus1(t, KEY_ALT) - 1u;

	for (unsigned i = 0; i < r->n_values; i++)
		if (table_get_row_value(t, r, i).field == alt &&
		    (uint32_t)table_get_row_value(t, r, i).value == codes) {
			*msr = (uint32_t)(table_get_row_value(t, r, i).value >> 32);
			return true;
		}
	return false;
}

uint32_t pfmi_pmu_get_decoded_extra_register(const struct decode_target *g, const struct event *ev)
{
	uint32_t msr;

	return g->alternate_code && pfmi_pmu_has_alternate_code(g->table, ev->row_index,
	                                                        g->alternate_code, &msr)
	               ? msr
	               : pfmi_pmu_get_extra_register(ev);
}

bool pfmi_pmu_match_row(const struct decode_target *g, uint32_t row, struct event *ev)
{
	const struct row *r = table_get_row(g->table, row);
	uint32_t msr;

	if (r->flags & ROW_METRIC || !pfmi_pmu_is_code_match(g, row) ||
	    (g->alternate_code &&
	     !pfmi_pmu_has_alternate_code(g->table, row, g->alternate_code, &msr)))
		return false;
	if (!g->event_select_mask && g->counter != DECODE_NO_COUNTER &&
	    !(table_get_row_counter_mask(g->table, r) >> g->counter & 1))
		return false;
	pfmi_pmu_init_event(ev, g->table, row);
	if (g->is_fixed_control)
		return match_fixed_counter(g, ev);
	if (g->is_register_pair)
		return match_register_pair(g, ev);
	return g->event_select_mask ? match_encoded_register(g, ev) : match_declared_fields(g, ev);
}
