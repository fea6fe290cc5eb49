/* SPDX-License-Identifier: MIT */
/* The event of register values.
 *
 * Where a table declares the bits of its fields, a row is compared field by field: groups are split
 * into their unit masks, and what the row does not explain is put down to modifiers. Where only the
 * encoder defines the bits, it encodes each row on the counter in question, and the bits it calls
 * significant are compared. */
#include <stdio.h>
#include <string.h>
#include "pmu/pmu.h"

#define RANKING_SIZE     64u
#define ALL_CONFIG_WORDS 15u

/* ---- registers ------------------------------------------------------------------------------- */

int pfmi_pmu_get_config_index(const char *reg)
{
	if (!pfmi_base_skip_prefix_icase((struct slice){ "config", 6 }, reg))
		return -1;
	if (reg[6] == '\0')
		return 0;
	return reg[6] >= '0' && reg[6] <= '3' && reg[7] == '\0' ? reg[6] - '0' : -1;
}

/* The number a register's name ends in. */
static unsigned get_trailing_number(const char *reg)
{
	size_t n = strlen(reg), at = n;
	unsigned value = 0;

	while (at > 0 && reg[at - 1] >= '0' && reg[at - 1] <= '9')
		at--;
	if (at == n || n - at > 2)
		return DECODE_NO_COUNTER;
	for (; at < n; at++)
		value = value * 10 + (unsigned)(reg[at] - '0');
	return value;
}

/* Bits of word 0 that fields of the table are in. */
static uint64_t get_declared_bits(const struct table *t)
{
	uint64_t all[4] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].kind != FIELD_TEXT)
			field_insert(&table_fields(t)[i], all, ~(uint64_t)0);
	return all[0];
}

const struct register_field *pfmi_pmu_find_register_field(const struct decode_target *g,
                                                          const char *name)
{
	for (unsigned i = 0; i < g->n_layout; i++)
		if (strcmp(g->layout[i].name, name) == 0)
			return &g->layout[i];
	return NULL;
}

static uint64_t get_layout_value(const struct decode_target *g, const char *name)
{
	const struct register_field *b = pfmi_pmu_find_register_field(g, name);

	return b ? register_field_extract(g->value, *b) : 0;
}

/* Levels a register switches on; 0 if it says nothing about them. */
static uint8_t get_register_levels(const struct decode_target *g)
{
	uint64_t plm = get_layout_value(g, "plm") & 15;

	if (get_layout_value(g, "usr"))
		plm |= PFM_PLM3;
	if (get_layout_value(g, "os"))
		plm |= PFM_PLM0;
	return (uint8_t)plm;
}

/* Bits that the kernel controls on x86: in config they do not belong to the event. */
static uint64_t get_kernel_owned_bits(const struct decode_target *g, uint64_t mine)
{
	static const char names[][12] = { "usr", "os", "int", "en", "guest_only", "host_only" };
	uint64_t all = 0;

	for (unsigned i = 0; i < g->n_layout; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(g->layout[i].name, names[k]) == 0)
				all |= register_field_mask(g->layout[i]) << g->layout[i].lsb;
	return all & ~mine;
}

bool pfmi_pmu_has_own_control(const struct decode_target *g)
{
	return pfmi_pmu_get_config_index(g->reg_name) < 0 &&
	       pfmi_pmu_has_event_select_mask(g->table);
}

bool pfmi_pmu_init_decode_target(struct decode_target *g)
{
	int word = pfmi_pmu_get_config_index(g->reg_name);
	bool bits = table_has_field_bits(g->table);

	g->layout = pfmi_pmu_get_register_layout(
		g->table, word == 0 && bits ? "PERFEVTSEL" : g->reg_name, &g->n_layout);
	if (!g->layout)
		g->n_layout = 0;
	if (word >= 0 && !bits)
		return false;
	g->counter = word >= 0 ? DECODE_NO_COUNTER : get_trailing_number(g->reg_name);
	g->known_words = pfmi_pmu_has_own_control(g) ? 0 : 1u << (word > 0 ? word : 0);
	g->config[word > 0 ? word : 0] = g->value;
	if (word <= 0 && bits)
		g->config[0] &= ~get_kernel_owned_bits(g, get_declared_bits(g->table));
	if (word < 0)
		g->plm = get_register_levels(g);
	g->is_register_pair = word < 0 && pfmi_pmu_has_register_pairs(g->table);
	/* The second of a pair alone: any counter's. */
	if (g->is_register_pair && pfmi_pmu_find_register_field(g, "event"))
		g->counter = DECODE_NO_COUNTER;
	return word >= 0 || g->layout;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Can these bits of the group be said with its words? */
static bool has_group_words(const struct table *t, const struct umask_group *g, uint64_t bits)
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
	const struct umask_group *g = pfmi_pmu_get_row_group(ev->table, ev->row_index, i);

	ev->group_values[i] = bits;
	if (bits != (g->flags & GROUP_HAS_DEFAULT ? g->default_value : 0) ||
	    g->flags & GROUP_REQUIRED)
		ev->chosen_groups |= (uint16_t)(1u << i);
}

static bool read_group_values(const struct decode_target *g, struct event *ev)
{
	for (unsigned i = 0; i < table_get_row(ev->table, ev->row_index)->n_groups; i++) {
		const struct umask_group *group =
			pfmi_pmu_get_row_group(ev->table, ev->row_index, i);
		const struct field *f = table_fields(ev->table) + group->field;
		uint64_t bits;

		if (!f->n_ranges)
			continue;
		if (!(g->known_words >> f->ranges[0].config_word & 1)) {
			/* The remaining bits are in an unknown word. */
			if (group->flags & GROUP_REQUIRED)
				return false;
			continue;
		}
		bits = pfmi_pmu_extract_field(f, g->config) & group->mask;
		if (!has_group_words(ev->table, group, bits))
			return false;
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

static bool has_same_words(const struct decode_target *g, const uint64_t config[4])
{
	for (unsigned i = 0; i < 4; i++)
		if (g->known_words >> i & 1 && config[i] != g->config[i])
			return false;
	return true;
}

/* Explains the remaining bits by modifiers: returns the event's words, or NULL on failure. */
static const uint64_t *add_modifiers(const struct decode_target *g, struct event *ev,
                                     const uint64_t *config, uint64_t own[4])
{
	const struct field *f = table_fields(g->table);

	for (unsigned i = 0; i < g->table->n_fields && config && !has_same_words(g, config); i++) {
		uint64_t value;

		if (!f[i].n_ranges || !f[i].is_modifier ||
		    !(g->known_words >> f[i].ranges[0].config_word & 1))
			continue;
		value = pfmi_pmu_extract_field(&f[i], g->config);
		if (value == pfmi_pmu_extract_field(&f[i], config))
			continue;
		/* Without its extra register the row is another event, so a config1 of 0 does not
		 * mean the row. */
		if (field_is_extra_register(g->table, &f[i]) && !g->config[1])
			return NULL;
		config = set_modifier(ev, i, value) ? pfmi_pmu_get_config_words(ev, own) : NULL;
		/* Extra registers share their bits, and an event has one. */
		if (config && field_is_extra_register(g->table, &f[i]) &&
		    (pfmi_pmu_extract_field(&f[i], config) != value ||
		     pfmi_pmu_check_event(ev, NULL))) {
			ev->n_user_fields--;
			config = pfmi_pmu_get_config_words(ev, own);
		}
	}
	return config;
}

static bool match_fields(const struct decode_target *g, struct event *ev)
{
	uint64_t own[4];
	const uint64_t *config =
		read_group_values(g, ev) ? pfmi_pmu_get_config_words(ev, own) : NULL;

	if (config && !has_same_words(g, config))
		config = add_modifiers(g, ev, config, own);
	/* A filter that the row's counters do not have: it is another event's. */
	return config && has_same_words(g, config) &&
	       !(ev->n_user_fields && pfmi_pmu_check_event(ev, NULL));
}

static bool match_pair(const struct decode_target *g, struct event *ev)
{
	struct decode_target whole = *g;

	return pfmi_pmu_decode_register_pair(ev, g->reg_name, g->value, &whole.config[0]) &&
	       match_fields(&whole, ev);
}

/* Control register @reg as the register at hand has it: fields of the same names, perhaps at other
 * places. */
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

/* The register as the encoder would write it for @ev alone on the counter. */
static bool encode_event_register(const struct decode_target *g, const struct event *ev,
                                  uint64_t *value)
{
	struct event pinned = *ev;
	struct encode_request req = { .table = g->table,
		                      .events = &pinned,
		                      .n_events = 1,
		                      .plm = pfmi_pmu_get_default_levels(g->table) };
	struct placement where;
	struct register_values regs;

	pinned.counter_pin = (uint16_t)g->counter;
	if (pfmi_encode_dispatch(&req, &where, &regs, NULL) || regs.n_pmcs == 0)
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

/* Modifiers and groups whose field the register has under the same name. */
static bool read_layout_fields(const struct decode_target *g, struct event *ev)
{
	for (unsigned i = 0; i < g->n_layout; i++) {
		int field = find_field_by_name(g, g->layout[i].name);
		uint64_t value = register_field_extract(g->value, g->layout[i]);

		if (field < 0)
			continue;
		for (unsigned k = 0; k < table_get_row(g->table, ev->row_index)->n_groups; k++) {
			const struct umask_group *group =
				pfmi_pmu_get_row_group(g->table, ev->row_index, k);

			if (group->field != field)
				continue;
			if (!has_group_words(g->table, group, value & group->mask))
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

static bool match_encoded(const struct decode_target *g, struct event *ev)
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

/* A fixed counter's event is fixed; its nibble of FIXED_CTR_CTRL adds any thread. */
static bool match_fixed(const struct decode_target *g, struct event *ev)
{
	unsigned any = table_get_key_field_plus1(g->table, KEY_ANY);

	if (!(g->value >> 4 * (g->counter - 32) & 4))
		return true;
	return any && set_modifier(ev, any - 1, 1);
}

/* Has the row this code on @counter? What tells most rows apart, before anything slower. Values
 * come by field, and the code's is one of the first. */
static bool row_has_code(const struct table *t, uint32_t row, uint64_t code, unsigned counter)
{
	const struct row *r = table_get_row(t, row);
	uint32_t first = r->n_values ? table_values(t)[r->first_value] : VALUE_IS_WIDE;

	if (!(first & VALUE_IS_WIDE) && (first >> 24) + 1 == table_get_key_field_plus1(t, KEY_CODE))
		return (first & (VALUE_IS_WIDE - 1)) == code;
	return pfmi_table_get_row_value(t, row, KEY_CODE, counter) == code;
}

static bool is_code_match(const struct decode_target *g, uint32_t row)
{
	return g->code == DECODE_ANY_CODE || row_has_code(g->table, row, g->code, g->counter);
}

/* Can @row be programmed by the code and unit mask @way too, with another extra register? */
static bool has_alternate_code(const struct table *t, uint32_t row, uint64_t way)
{
	const struct row *r = table_get_row(t, row);
	const unsigned alt = table_get_key_field_plus1(t, KEY_ALT) - 1u;

	for (unsigned i = 0; i < r->n_values; i++)
		if (table_get_row_value(t, r, i).field == alt &&
		    (uint32_t)table_get_row_value(t, r, i).value == way)
			return true;
	return false;
}

/* Makes @ev the event of @row of the target; false if it cannot be that row. */
static bool match_row(const struct decode_target *g, uint32_t row, struct event *ev)
{
	const struct row *r = table_get_row(g->table, row);

	if (r->flags & (ROW_SHADOWED | ROW_METRIC) || !is_code_match(g, row) ||
	    (g->alternate_code && !has_alternate_code(g->table, row, g->alternate_code)))
		return false;
	if (!g->event_select_mask && g->counter != DECODE_NO_COUNTER &&
	    !(table_get_row_counter_mask(g->table, r) >> g->counter & 1))
		return false;
	pfmi_pmu_init_event(ev, g->table, row);
	if (g->is_fixed_control)
		return match_fixed(g, ev);
	if (g->is_register_pair)
		return match_pair(g, ev);
	return g->event_select_mask ? match_encoded(g, ev) : match_fields(g, ev);
}

/* ---- the best -------------------------------------------------------------------------------- */

/* Has the row counters, none of which is a general one? Fields that several events have mean the
 * one that a general counter can count. */
static bool has_only_fixed_counters(const struct table *t, const struct row *r)
{
	uint64_t counters = table_get_row_counter_mask(t, r);

	return counters && !(counters & 0xffffffff);
}

/* Less is better: attributes added, then rows that listings leave out or that need more registers,
 * then table order, then the counter. */
static uint64_t rank_event(const struct decode_target *g, const struct event *ev, unsigned nth)
{
	const struct row *r = table_get_row(g->table, ev->row_index);
	uint64_t own[4], added = ev->n_user_fields, unlikely = 0;
	const uint64_t *config = g->event_select_mask || g->known_words == ALL_CONFIG_WORDS
	                                 ? NULL
	                                 : pfmi_pmu_get_config_words(ev, own);

	for (unsigned i = 0; i < r->n_groups; i++)
		added += ev->chosen_groups >> i & 1;
	for (unsigned i = 0; config && i < 4; i++)
		unlikely |= !(g->known_words >> i & 1) && config[i];
	unlikely +=
		g->counter == DECODE_NO_COUNTER && has_only_fixed_counters(g->table, r) ? 2u : 0;
	unlikely += (r->flags & ROW_DEPRECATED ? 4u : 0) + (r->flags & ROW_HIDDEN ? 8u : 0);
	return added << 56 | unlikely << 48 | (uint64_t)ev->row_index << 8 | nth;
}

/* The best few ranks above @after, sorted. */
struct event_ranking {
	uint64_t floor_rank, ranks[RANKING_SIZE];
	unsigned n_ranks, max_ranks;
	bool has_floor;           /* @after counts */
	struct event *best_event; /* the event itself, if the best alone is wanted */
};

/* All of @from that means something. */
static void copy_event(struct event *to, const struct event *from)
{
	memcpy(to, from,
	       offsetof(struct event, user_fields) +
	               from->n_user_fields * sizeof(from->user_fields[0]));
}

/* Keeps the rank of @ev, which is @nth of its register, if it is among the best. */
static void add_to_ranking(const struct decode_target *g, struct event_ranking *b,
                           const struct event *ev, unsigned nth)
{
	uint64_t key = rank_event(g, ev, nth);
	unsigned at;

	/* An event that takes several counters is one answer. */
	if ((b->has_floor && key >> 8 <= b->floor_rank >> 8) ||
	    (b->n_ranks == b->max_ranks && key >= b->ranks[b->n_ranks - 1]))
		return;
	for (unsigned i = 0; i < b->n_ranks; i++)
		if (b->ranks[i] >> 8 == key >> 8)
			return;
	if (b->best_event && b->best_event != ev)
		copy_event(b->best_event, ev);
	at = b->n_ranks < b->max_ranks ? b->n_ranks++ : b->n_ranks - 1;
	for (; at > 0 && b->ranks[at - 1] > key; at--)
		b->ranks[at] = b->ranks[at - 1];
	b->ranks[at] = key;
}

/* Does the index over code and unit mask contain all rows that the target may be? Not where extra
 * registers may be anything: of rows that differ in these alone it has one. */
static bool can_use_code_index(const struct decode_target *g)
{
	return g->table->n_code_index && !g->is_fixed_control && !g->event_select_mask &&
	       (g->known_words & 3) == 3 && g->code != DECODE_ANY_CODE;
}

/* Less than the rank of @row can be, cheaper than to find out: a row whose own words are other ones
 * needs an attribute at least. */
static uint64_t get_least_rank(const struct decode_target *g, uint32_t row)
{
	struct event ev;
	uint64_t added = 0;

	if (!table_get_row(g->table, row)->n_groups) {
		pfmi_pmu_init_event(&ev, g->table, row);
		added = !ev.has_counter_values && !has_same_words(g, ev.base_config);
	}
	return added << 56 | (uint64_t)row << 8;
}

/* Rows that are in the index under the code, this unit mask and what the event has in config1. */
static void rank_indexed_rows(const struct decode_target *g, uint32_t umask, uint64_t config1,
                              struct event_ranking *b)
{
	const uint32_t h = table_hash_code((uint32_t)g->code, umask, config1);
	struct event ev;
	uint16_t way;

	for (uint32_t i = table_get_first_slot(h, g->table->n_code_index);
	     (way = table_next_code_index_entry(g->table, h, &i));) {
		struct event *to = b->best_event && !b->n_ranks ? b->best_event : &ev;
		uint32_t row = table_get_code_index_row(g->table, way);

		/* Rows under one key come in table order: a row that needs no other register ends
		 * the search. */
		if (b->n_ranks == b->max_ranks && b->ranks[b->n_ranks - 1] >> 48 == 0)
			return;
		if (is_code_match(g, row) &&
		    (b->n_ranks < b->max_ranks ||
		     get_least_rank(g, row) < b->ranks[b->n_ranks - 1]) &&
		    match_row(g, row, to))
			add_to_ranking(g, b, to, 0);
	}
}

static inline void rank_rows(const struct decode_target *g, unsigned nth, struct event_ranking *b)
{
	struct event ev;

	if (can_use_code_index(g)) {
		const struct field *umask = table_get_key_field(g->table, KEY_UMASK);
		uint32_t mask = umask ? (uint32_t)pfmi_pmu_extract_field(umask, g->config) : 0;

		if (g->config[1])
			rank_indexed_rows(g, mask, g->config[1], b);
		/* Nothing is nearer than a row that needs no attribute. */
		if (b->n_ranks == b->max_ranks && b->ranks[b->n_ranks - 1] >> 56 == 0)
			return;
		rank_indexed_rows(g, mask, 0, b);
		rank_indexed_rows(g, CODE_INDEX_ANY_UMASK, 0, b);
		return;
	}
	for (uint32_t row = 0; row < g->table->n_rows; row++)
		if (match_row(g, row, &ev))
			add_to_ranking(g, b, &ev, nth);
}

/* Points the target at the @nth counter of its register; false when there are no more. */
static bool select_counter(struct decode_target *g, unsigned nth)
{
	if (g->is_fixed_control) {
		/* The nibbles that count at some level: os, usr. */
		for (unsigned n = 0; n < 16; n++) {
			unsigned nibble = (unsigned)(g->value >> 4 * n) & 3;

			if (!nibble || nth--)
				continue;
			g->counter = 32 + n;
			g->plm = (uint8_t)((nibble & 1 ? PFM_PLM0 : 0) |
			                   (nibble & 2 ? PFM_PLM3 : 0));
			return true;
		}
		return false;
	}
	if (table_has_field_bits(g->table) && !pfmi_pmu_has_own_control(g))
		return nth == 0;
	g->event_select_mask =
		pfmi_pmu_get_event_select_mask(g->table, g->reg_name, nth, &g->counter);
	return g->event_select_mask != 0;
}

/* The target's code. */
static void set_target_code(struct decode_target *g)
{
	const struct field *code = table_get_key_field(g->table, KEY_CODE);
	bool known = !g->is_fixed_control && !g->is_register_pair && code && code->n_ranges &&
	             g->known_words & 1;

	g->code = known ? pfmi_pmu_extract_field(code, g->config) : DECODE_ANY_CODE;
}

/* Gives the target the code and unit mask that the rows have first of which it has others. False
 * without such rows. */
static bool use_primary_encoding(struct decode_target *g)
{
	const struct table *t = g->table;
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);

	if (g->code == DECODE_ANY_CODE || !table_get_key_field_plus1(t, KEY_ALT) || !umask)
		return false;
	g->alternate_code = g->code | pfmi_pmu_extract_field(umask, g->config) << 16;
	for (uint32_t row = 0; row < t->n_rows; row++)
		if (has_alternate_code(t, row, g->alternate_code)) {
			field_insert(code, g->config,
			             pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER));
			field_insert(umask, g->config,
			             pfmi_table_get_row_value(t, row, KEY_UMASK, ANY_COUNTER));
			return true;
		}
	return false;
}

/* The @i-th best event. */
bool pfmi_pmu_find_decoded_event(struct decode_target *g, unsigned i, struct event *ev)
{
	struct event_ranking b;
	unsigned nth;

	b.best_event = i ? NULL : ev;
	b.has_floor = false;
	set_target_code(g);

	for (;; i -= RANKING_SIZE) {
		b.max_ranks = i < RANKING_SIZE ? i + 1 : RANKING_SIZE;
		b.n_ranks = 0;
		for (nth = 0; select_counter(g, nth); nth++)
			rank_rows(g, nth, &b);
		if (b.n_ranks < b.max_ranks)
			return !b.n_ranks && !b.has_floor && !g->alternate_code &&
			       use_primary_encoding(g) && pfmi_pmu_find_decoded_event(g, i, ev);
		if (i < RANKING_SIZE)
			break;
		b.floor_rank = b.ranks[RANKING_SIZE - 1];
		b.has_floor = true;
	}
	return select_counter(g, (unsigned)(b.ranks[i] & 0xff)) &&
	       (b.best_event || match_row(g, (uint32_t)(b.ranks[i] >> 8), ev));
}

/* The best event of configuration words. */
static bool find_event_by_words(struct decode_target *g, struct event *ev)
{
	struct event_ranking b;

	b.max_ranks = 1;
	b.n_ranks = 0;
	b.has_floor = false;
	b.best_event = ev;
	set_target_code(g);
	rank_rows(g, 0, &b);
	return b.n_ranks != 0;
}

static bool is_row_of_words(const struct table *t, uint32_t row, const uint64_t config[4])
{
	struct event ev;
	uint64_t own[4];
	const uint64_t *words;

	pfmi_pmu_init_event(&ev, t, row);
	words = pfmi_pmu_get_config_words(&ev, own);
	return words && memcmp(words, config, sizeof(own)) == 0;
}

/* Is it a row that nothing can be better than, with just these words? */
static bool is_row_of_config(const struct table *t, uint32_t row, const uint64_t config[4])
{
	const struct row *r = table_get_row(t, row);

	if (r->flags & (ROW_SHADOWED | ROW_METRIC | ROW_DEPRECATED | ROW_HIDDEN) ||
	    has_only_fixed_counters(t, r))
		return false;
	return is_row_of_words(t, row, config);
}

/* Can the numbers be the two fields of an event of @t? */
static bool can_hold_codes(const struct table *t, const struct spec_codes *n)
{
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);

	return code && n->code >= code->min && n->code <= code->max &&
	       (umask ? n->umask >= umask->min && n->umask <= umask->max : n->n_terms < 2);
}

bool pfmi_pmu_find_row_by_codes(const struct table *t, const struct spec_codes *n, uint32_t *found)
{
	uint32_t h = table_hash_code((uint32_t)n->code, (uint32_t)n->umask, 0);
	uint64_t config[4] = { 0 };
	uint16_t way;

	if (!t->n_code_index || !pfmi_pmu_has_plain_config(t) || t->flags & TABLE_VALUES_OVERRIDE ||
	    !can_hold_codes(t, n))
		return false;
	field_insert(table_get_key_field(t, KEY_CODE), config, n->code);
	if (n->umask)
		field_insert(table_get_key_field(t, KEY_UMASK), config, n->umask);
	for (uint32_t i = table_get_first_slot(h, t->n_code_index);
	     (way = table_next_code_index_entry(t, h, &i));) {
		uint32_t row = table_get_code_index_row(t, way);

		if (!row_has_code(t, row, n->code, DECODE_NO_COUNTER))
			continue;
		/* Which bits its groups explain, the longer way finds out. */
		if (table_get_row(t, row)->n_groups)
			return false;
		if (is_row_of_config(t, row, config)) {
			*found = row;
			return true;
		}
	}
	return false;
}

/* The event of the raw number of a driver, which the encoder computes row by row. */
static bool find_driver_number(const struct decode_target *g, struct event *ev)
{
	for (uint32_t row = 0; row < g->table->n_rows; row++) {
		uint64_t own[4];
		const uint64_t *config;

		pfmi_pmu_init_event(ev, g->table, row);
		config = table_get_row(g->table, row)->flags & ROW_SHADOWED
		                 ? NULL
		                 : pfmi_pmu_get_config_words(ev, own);
		if (config && config[0] && has_same_words(g, config))
			return true;
	}
	return false;
}

bool pfmi_pmu_decode_config_words(const struct table *t, const uint64_t config[4], unsigned words,
                                  struct event *ev)
{
	struct decode_target g = { .table = t,
		                   .reg_name = "config",
		                   .value = config[0],
		                   .known_words = words,
		                   .counter = DECODE_NO_COUNTER };
	struct event found;

	memcpy(g.config, config, sizeof(g.config));
	if (!(table_has_field_bits(t) ? find_event_by_words(&g, &found)
	                              : find_driver_number(&g, &found)))
		return false;
	found.plm = ev->plm;
	found.has_no_levels = ev->has_no_levels;
	found.precise = ev->precise;
	found.exclude_flags = ev->exclude_flags;
	found.counter_pin = ev->counter_pin;
	copy_event(ev, &found);
	return true;
}
