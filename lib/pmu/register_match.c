/* SPDX-License-Identifier: MIT */
/* The event behind register values.
 *
 * Where a table declares the bits of its fields, a row is compared field by field: groups are told apart into their words, and
 * what the row does not explain is put down to modifiers. Where only the encoder knows the bits, it encodes each row on
 * the counter in question, and the bits it calls significant are compared. */
#include <stdio.h>
#include <string.h>
#include "pmu/pmu.h"

#define BLOCK      64u
#define EVERY_WORD 15u

/* ---- registers ------------------------------------------------------------------------------------------------ */

int pfmi_config_word(const char *reg)
{
	if (!pfmi_behind((struct slice){ "config", 6 }, reg))
		return -1;
	if (reg[6] == '\0')
		return 0;
	return reg[6] >= '0' && reg[6] <= '3' && reg[7] == '\0' ? reg[6] - '0' : -1;
}

/* The number a register's name ends in. */
static unsigned trailing_number(const char *reg)
{
	size_t n = strlen(reg), at = n;
	unsigned value = 0;

	while (at > 0 && reg[at - 1] >= '0' && reg[at - 1] <= '9')
		at--;
	if (at == n || n - at > 2)
		return TARGET_NO_COUNTER;
	for (; at < n; at++)
		value = value * 10 + (unsigned)(reg[at] - '0');
	return value;
}

/* Bits of word 0 that fields of the table lie in. */
static uint64_t declared(const struct table *t)
{
	uint64_t all[4] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].kind != FIELD_TEXT)
			pfmi_field_put(&table_fields(t)[i], all, ~(uint64_t)0);
	return all[0];
}

const struct bits *pfmi_target_bits(const struct target *g, const char *name)
{
	for (unsigned i = 0; i < g->n_layout; i++)
		if (strcmp(g->layout[i].name, name) == 0)
			return &g->layout[i];
	return NULL;
}

static uint64_t layout_value(const struct target *g, const char *name)
{
	const struct bits *b = pfmi_target_bits(g, name);

	return b ? bits_get(g->value, *b) : 0;
}

/* Levels a register switches on; 0 if it says nothing about them. */
static uint8_t levels(const struct target *g)
{
	uint64_t plm = layout_value(g, "plm") & 15;

	if (layout_value(g, "usr"))
		plm |= PFM_PLM3;
	if (layout_value(g, "os"))
		plm |= PFM_PLM0;
	return (uint8_t)plm;
}

/* What the kernel keeps to itself on x86: at their places in config these bits say nothing about the event. */
static uint64_t owned(const struct target *g, uint64_t mine)
{
	static const char names[][12] = { "usr", "os", "int", "en", "guest_only", "host_only" };
	uint64_t all = 0;

	for (unsigned i = 0; i < g->n_layout; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(g->layout[i].name, names[k]) == 0)
				all |= bits_mask(g->layout[i]) << g->layout[i].lsb;
	return all & ~mine;
}

bool pfmi_has_own_control(const struct target *g)
{
	return pfmi_config_word(g->reg) < 0 && pfmi_has_significant(g->t);
}

bool pfmi_target_find(struct target *g)
{
	int word = pfmi_config_word(g->reg);
	bool bits = table_has_bits(g->t);

	g->layout = pfmi_encoder_layout(g->t, word == 0 && bits ? "PERFEVTSEL" : g->reg, &g->n_layout);
	if (!g->layout)
		g->n_layout = 0;
	if (word >= 0 && !bits)
		return false;
	g->counter = word >= 0 ? TARGET_NO_COUNTER : trailing_number(g->reg);
	g->words = pfmi_has_own_control(g) ? 0 : 1u << (word > 0 ? word : 0);
	g->config[word > 0 ? word : 0] = g->value;
	if (word <= 0 && bits)
		g->config[0] &= ~owned(g, declared(g->t));
	if (word < 0)
		g->plm = levels(g);
	g->pair = word < 0 && pfmi_has_pairs(g->t);
	/* The second of a pair alone: any counter's. */
	if (g->pair && pfmi_target_bits(g, "event"))
		g->counter = TARGET_NO_COUNTER;
	return word >= 0 || g->layout;
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

/* Can these bits of the group be said with its words? */
static bool has_words(const struct table *t, const struct group *g, uint64_t bits)
{
	const struct word *w = table_words(t) + g->word;
	uint64_t seen = 0;

	for (unsigned i = 0; i < g->n_values; i++) {
		if (w[i].value == bits)
			return true;
		if (g->flags & GROUP_ANY && !(w[i].value & ~bits))
			seen |= w[i].value;
	}
	return bits ? seen == bits : !(g->flags & (GROUP_REQUIRED | GROUP_DEFAULT));
}

static void choose(struct event *ev, unsigned i, uint64_t bits)
{
	const struct group *g = pfmi_row_group(ev->table, ev->row, i);

	ev->group[i] = bits;
	if (bits != (g->flags & GROUP_DEFAULT ? g->preset : 0) || g->flags & GROUP_REQUIRED)
		ev->given |= (uint16_t)(1u << i);
}

static bool read_groups(const struct target *g, struct event *ev)
{
	for (unsigned i = 0; i < table_row(ev->table, ev->row)->n_takes; i++) {
		const struct group *group = pfmi_row_group(ev->table, ev->row, i);
		const struct field *f = table_fields(ev->table) + group->field;
		uint64_t bits;

		if (!f->n_ranges)
			continue;
		if (!(g->words >> f->range[0].word & 1)) {
			/* What has to be said lies in a word that nobody knows. */
			if (group->flags & GROUP_REQUIRED)
				return false;
			continue;
		}
		bits = pfmi_field_get(f, g->config) & group->mask;
		if (!has_words(ev->table, group, bits))
			return false;
		choose(ev, i, bits);
	}
	return true;
}

static bool set_modifier(struct event *ev, unsigned field, uint64_t value)
{
	const struct field *f = table_fields(ev->table) + field;

	return f->modifier && value >= f->min && value <= f->max && pfmi_event_set(ev, field, value);
}

static bool same_words(const struct target *g, const uint64_t config[4])
{
	for (unsigned i = 0; i < 4; i++)
		if (g->words >> i & 1 && config[i] != g->config[i])
			return false;
	return true;
}

/* What the row does not explain is put down to modifiers: the event's words after that, NULL if that cannot be. */
static const uint64_t *add_modifiers(const struct target *g, struct event *ev, const uint64_t *config, uint64_t own[4])
{
	const struct field *f = table_fields(g->t);

	for (unsigned i = 0; i < g->t->n_fields && config && !same_words(g, config); i++) {
		uint64_t value;

		if (!f[i].n_ranges || !f[i].modifier || !(g->words >> f[i].range[0].word & 1))
			continue;
		value = pfmi_field_get(&f[i], g->config);
		if (value == pfmi_field_get(&f[i], config))
			continue;
		/* Nobody said that the row's extra register is to be 0: without it the event is another one. */
		if (pfmi_is_extra(g->t, &f[i]) && !g->config[1])
			return NULL;
		config = set_modifier(ev, i, value) ? pfmi_event_words(ev, own) : NULL;
		/* Extra registers share their bits, and an event has one. */
		if (config && pfmi_is_extra(g->t, &f[i]) && (pfmi_field_get(&f[i], config) != value || pfmi_encoder_check(ev, NULL))) {
			ev->n_set--;
			config = pfmi_event_words(ev, own);
		}
	}
	return config;
}

static bool match_fields(const struct target *g, struct event *ev)
{
	uint64_t own[4];
	const uint64_t *config = read_groups(g, ev) ? pfmi_event_words(ev, own) : NULL;

	if (config && !same_words(g, config))
		config = add_modifiers(g, ev, config, own);
	/* A filter that the row's counters do not have: it is another event's. */
	return config && same_words(g, config) && !(ev->n_set && pfmi_encoder_check(ev, NULL));
}

static bool match_pair(const struct target *g, struct event *ev)
{
	struct target whole = *g;

	return pfmi_encoder_completes(ev, g->reg, g->value, &whole.config[0]) && match_fields(&whole, ev);
}

/* Control register @reg as the register at hand has it: fields of the same names, perhaps at other places. */
static uint64_t as_at_hand(const struct target *g, const pfm_reg_t *reg)
{
	char name[16];
	const struct bits *own, *there;
	uint64_t value = 0;
	unsigned n;

	if (pfmi_behind((struct slice){ "PMC", 3 }, g->reg) && g->reg[3] >= '0' && g->reg[3] <= '9')
		return reg->value;
	snprintf(name, sizeof(name), "PMC%u", (unsigned)reg->num);
	own = pfmi_encoder_layout(g->t, name, &n);
	for (unsigned i = 0; own && i < n; i++) {
		there = pfmi_target_bits(g, own[i].name);
		if (there)
			value = bits_put(value, *there, bits_get(reg->value, own[i]));
	}
	return own ? value : reg->value;
}

/* The register as the encoder would write it for @ev alone on the counter. */
static bool encoded(const struct target *g, const struct event *ev, uint64_t *value)
{
	struct event pinned = *ev;
	struct request req = { .table = g->t, .events = &pinned, .n = 1, .plm = pfmi_usual_levels(g->t) };
	struct placement where;
	struct regs regs;

	pinned.counter_pin = (uint16_t)g->counter;
	if (pfmi_dispatch(&req, &where, &regs, NULL) || regs.n_pmcs == 0)
		return false;
	*value = as_at_hand(g, &regs.pmcs[0]);
	return true;
}

static int namesake(const struct target *g, const char *name)
{
	const struct field *f = table_fields(g->t);

	for (unsigned i = 0; i < g->t->n_fields; i++)
		if (!f[i].n_ranges && f[i].kind != FIELD_TEXT && *table_text(g->t, f[i].name) == *name &&
		    strcmp(table_text(g->t, f[i].name), name) == 0)
			return (int)i;
	return -1;
}

/* Modifiers and groups whose field the register has under the same name. */
static bool read_layout(const struct target *g, struct event *ev)
{
	for (unsigned i = 0; i < g->n_layout; i++) {
		int field = namesake(g, g->layout[i].name);
		uint64_t value = bits_get(g->value, g->layout[i]);

		if (field < 0)
			continue;
		for (unsigned k = 0; k < table_row(g->t, ev->row)->n_takes; k++) {
			const struct group *group = pfmi_row_group(g->t, ev->row, k);

			if (group->field != field)
				continue;
			if (!has_words(g->t, group, value & group->mask))
				return false;
			choose(ev, k, value & group->mask);
		}
		if (table_fields(g->t)[field].modifier && value != pfmi_event_value(ev, (unsigned)field, g->counter) &&
		    !set_modifier(ev, (unsigned)field, value))
			return false;
	}
	return true;
}

static bool match_encoded(const struct target *g, struct event *ev)
{
	uint64_t value;

	if (!(row_counters(g->t, table_row(g->t, ev->row)) >> g->counter & 1) || !read_layout(g, ev))
		return false;
	if (pfmi_encoder_check(ev, NULL))
		return false;
	return encoded(g, ev, &value) && !((value ^ g->value) & g->significant);
}

/* What a fixed counter counts is settled; its nibble of FIXED_CTR_CTRL adds any thread. */
static bool match_fixed(const struct target *g, struct event *ev)
{
	unsigned any = table_key(g->t, KEY_ANY);

	if (!(g->value >> 4 * (g->counter - 32) & 4))
		return true;
	return any && set_modifier(ev, any - 1, 1);
}

/* Has the row this code on @counter? What tells most rows apart, before anything slower. Values come by field, and the code's is one
 * of the first. */
static bool row_has_code(const struct table *t, uint32_t row, uint64_t code, unsigned counter)
{
	const struct row *r = table_row(t, row);
	uint32_t first = r->n_values ? table_values(t)[r->value] : VALUE_WIDE;

	if (!(first & VALUE_WIDE) && (first >> 24) + 1 == table_key(t, KEY_CODE))
		return (first & (VALUE_WIDE - 1)) == code;
	return pfmi_row_value(t, row, KEY_CODE, counter) == code;
}

static bool has_code(const struct target *g, uint32_t row)
{
	return g->code == ANY_CODE || row_has_code(g->t, row, g->code, g->counter);
}

/* Can @row be programmed by the code and unit mask @way too, with another extra register? */
static bool has_other_way(const struct table *t, uint32_t row, uint64_t way)
{
	const struct row *r = table_row(t, row);
	const unsigned alt = table_key(t, KEY_ALT) - 1u;

	for (unsigned i = 0; i < r->n_values; i++)
		if (row_value(t, r, i).field == alt && (uint32_t)row_value(t, r, i).value == way)
			return true;
	return false;
}

/* Makes @ev the event of @row behind the target; false if it cannot be that row. */
static bool match_row(const struct target *g, uint32_t row, struct event *ev)
{
	const struct row *r = table_row(g->t, row);

	if (r->flags & (ROW_SHADOWED | ROW_METRIC) || !has_code(g, row) || (g->way && !has_other_way(g->t, row, g->way)))
		return false;
	if (!g->significant && g->counter != TARGET_NO_COUNTER && !(row_counters(g->t, r) >> g->counter & 1))
		return false;
	pfmi_event_init(ev, g->t, row);
	if (g->fixed)
		return match_fixed(g, ev);
	if (g->pair)
		return match_pair(g, ev);
	return g->significant ? match_encoded(g, ev) : match_fields(g, ev);
}

/* ---- the best ------------------------------------------------------------------------------------------------- */

/* Has the row counters, none of which is a general one? Fields that several events have mean the one that a general counter can count. */
static bool only_fixed(const struct table *t, const struct row *r)
{
	uint64_t counters = row_counters(t, r);

	return counters && !(counters & 0xffffffff);
}

/* Less is better: attributes added, then rows that listings leave out or that want more registers, then table order, then the counter. */
static uint64_t rank(const struct target *g, const struct event *ev, unsigned nth)
{
	const struct row *r = table_row(g->t, ev->row);
	uint64_t own[4], added = ev->n_set, unlikely = 0;
	const uint64_t *config = g->significant || g->words == EVERY_WORD ? NULL : pfmi_event_words(ev, own);

	for (unsigned i = 0; i < r->n_takes; i++)
		added += ev->given >> i & 1;
	for (unsigned i = 0; config && i < 4; i++)
		unlikely |= !(g->words >> i & 1) && config[i];
	unlikely += g->counter == TARGET_NO_COUNTER && only_fixed(g->t, r) ? 2u : 0;
	unlikely += (r->flags & ROW_DEPRECATED ? 4u : 0) + (r->flags & ROW_HIDDEN ? 8u : 0);
	return added << 56 | unlikely << 48 | (uint64_t)ev->row << 8 | nth;
}

/* The best few ranks above @after, sorted. */
struct best {
	uint64_t after, key[BLOCK];
	unsigned n, max;
	bool any;            /* @after counts */
	struct event *found; /* the event itself, if the best alone is wanted */
};

/* All of @from that means something. */
static void copy_event(struct event *to, const struct event *from)
{
	memcpy(to, from, offsetof(struct event, set) + from->n_set * sizeof(from->set[0]));
}

/* Keeps the rank of @ev, which is @nth of its register, if it is among the best. */
static void keep(const struct target *g, struct best *b, const struct event *ev, unsigned nth)
{
	uint64_t key = rank(g, ev, nth);
	unsigned at;

	/* An event that takes several counters is one answer. */
	if ((b->any && key >> 8 <= b->after >> 8) || (b->n == b->max && key >= b->key[b->n - 1]))
		return;
	for (unsigned i = 0; i < b->n; i++)
		if (b->key[i] >> 8 == key >> 8)
			return;
	if (b->found && b->found != ev)
		copy_event(b->found, ev);
	at = b->n < b->max ? b->n++ : b->n - 1;
	for (; at > 0 && b->key[at - 1] > key; at--)
		b->key[at] = b->key[at - 1];
	b->key[at] = key;
}

/* Does the index over code and unit mask know all rows that the target may be? Not where extra registers may be anything: of rows that
 * differ in these alone it has one. */
static bool has_ways(const struct target *g)
{
	return g->t->n_ways && !g->fixed && !g->significant && (g->words & 3) == 3 && g->code != ANY_CODE;
}

/* Less than the rank of @row can be, cheaper than to find out: a row whose own words are other ones needs an attribute at least. */
static uint64_t least_rank(const struct target *g, uint32_t row)
{
	struct event ev;
	uint64_t added = 0;

	if (!table_row(g->t, row)->n_takes) {
		pfmi_event_init(&ev, g->t, row);
		added = !ev.by_counter && !same_words(g, ev.base);
	}
	return added << 56 | (uint64_t)row << 8;
}

/* Rows that are in the index under the code, this unit mask and what the event has in config1. */
static void follow(const struct target *g, uint32_t umask, uint64_t config1, struct best *b)
{
	const uint32_t h = way_hash((uint32_t)g->code, umask, config1);
	struct event ev;
	uint16_t way;

	for (uint32_t i = slot_of(h, g->t->n_ways); (way = table_way(g->t, h, &i));) {
		struct event *to = b->found && !b->n ? b->found : &ev;
		uint32_t row = way_row(g->t, way);

		/* Rows under one key come in table order: behind those that want nothing else none is better. */
		if (b->n == b->max && b->key[b->n - 1] >> 48 == 0)
			return;
		if (has_code(g, row) && (b->n < b->max || least_rank(g, row) < b->key[b->n - 1]) && match_row(g, row, to))
			keep(g, b, to, 0);
	}
}

static inline void scan(const struct target *g, unsigned nth, struct best *b)
{
	struct event ev;

	if (has_ways(g)) {
		const struct field *umask = table_field(g->t, KEY_UMASK);
		uint32_t mask = umask ? (uint32_t)pfmi_field_get(umask, g->config) : 0;

		if (g->config[1])
			follow(g, mask, g->config[1], b);
		/* Nothing is nearer than a row that needs no attribute. */
		if (b->n == b->max && b->key[b->n - 1] >> 56 == 0)
			return;
		follow(g, mask, 0, b);
		follow(g, WAY_ANY, 0, b);
		return;
	}
	for (uint32_t row = 0; row < g->t->n_rows; row++)
		if (match_row(g, row, &ev))
			keep(g, b, &ev, nth);
}

/* Points the target at the @nth counter of its register; false when there are no more. */
static bool aim(struct target *g, unsigned nth)
{
	if (g->fixed) {
		/* The nibbles that count at some level: os, usr. */
		for (unsigned n = 0; n < 16; n++) {
			unsigned nibble = (unsigned)(g->value >> 4 * n) & 3;

			if (!nibble || nth--)
				continue;
			g->counter = 32 + n;
			g->plm = (uint8_t)((nibble & 1 ? PFM_PLM0 : 0) | (nibble & 2 ? PFM_PLM3 : 0));
			return true;
		}
		return false;
	}
	if (table_has_bits(g->t) && !pfmi_has_own_control(g))
		return nth == 0;
	g->significant = pfmi_encoder_significant(g->t, g->reg, nth, &g->counter);
	return g->significant != 0;
}

/* What the target says of the code. */
static void set_code(struct target *g)
{
	const struct field *code = table_field(g->t, KEY_CODE);
	bool known = !g->fixed && !g->pair && code && code->n_ranges && g->words & 1;

	g->code = known ? pfmi_field_get(code, g->config) : ANY_CODE;
}

/* Gives the target the code and unit mask that the rows have first of which it has others. False if there are no such rows. */
static bool turn_to_first_way(struct target *g)
{
	const struct table *t = g->t;
	const struct field *code = table_field(t, KEY_CODE), *umask = table_field(t, KEY_UMASK);

	if (g->code == ANY_CODE || !table_key(t, KEY_ALT) || !umask)
		return false;
	g->way = g->code | pfmi_field_get(umask, g->config) << 16;
	for (uint32_t row = 0; row < t->n_rows; row++)
		if (has_other_way(t, row, g->way)) {
			pfmi_field_put(code, g->config, pfmi_row_value(t, row, KEY_CODE, ANYWHERE));
			pfmi_field_put(umask, g->config, pfmi_row_value(t, row, KEY_UMASK, ANYWHERE));
			return true;
		}
	return false;
}

/* The @i-th best event. */
bool pfmi_target_event(struct target *g, unsigned i, struct event *ev)
{
	struct best b;
	unsigned nth;

	b.found = i ? NULL : ev;
	b.any = false;
	set_code(g);

	for (;; i -= BLOCK) {
		b.max = i < BLOCK ? i + 1 : BLOCK;
		b.n = 0;
		for (nth = 0; aim(g, nth); nth++)
			scan(g, nth, &b);
		if (b.n < b.max)
			return !b.n && !b.any && !g->way && turn_to_first_way(g) && pfmi_target_event(g, i, ev);
		if (i < BLOCK)
			break;
		b.after = b.key[BLOCK - 1];
		b.any = true;
	}
	return aim(g, (unsigned)(b.key[i] & 0xff)) && (b.found || match_row(g, (uint32_t)(b.key[i] >> 8), ev));
}

/* The best event behind configuration words. */
static bool find_by_words(struct target *g, struct event *ev)
{
	struct best b;

	b.max = 1;
	b.n = 0;
	b.any = false;
	b.found = ev;
	set_code(g);
	scan(g, 0, &b);
	return b.n != 0;
}

static bool makes_words(const struct table *t, uint32_t row, const uint64_t config[4])
{
	struct event ev;
	uint64_t own[4];
	const uint64_t *words;

	pfmi_event_init(&ev, t, row);
	words = pfmi_event_words(&ev, own);
	return words && memcmp(words, config, sizeof(own)) == 0;
}

/* Is it a row that nothing can be better than, with just these words? */
static bool is_it(const struct table *t, uint32_t row, const uint64_t config[4])
{
	const struct row *r = table_row(t, row);

	if (r->flags & (ROW_SHADOWED | ROW_METRIC | ROW_DEPRECATED | ROW_HIDDEN) || only_fixed(t, r))
		return false;
	return makes_words(t, row, config);
}

/* Can the numbers be the two fields of an event of @t? */
static bool may_have(const struct table *t, const struct spec_numbers *n)
{
	const struct field *code = table_field(t, KEY_CODE), *umask = table_field(t, KEY_UMASK);

	return code && n->code >= code->min && n->code <= code->max &&
	       (umask ? n->umask >= umask->min && n->umask <= umask->max : n->n < 2);
}

bool pfmi_row_from_numbers(const struct table *t, const struct spec_numbers *n, uint32_t *found)
{
	uint32_t h = way_hash((uint32_t)n->code, (uint32_t)n->umask, 0);
	uint64_t config[4] = { 0 };
	uint16_t way;

	if (!t->n_ways || !pfmi_words_are_fields(t) || t->flags & TABLE_REPLACES || !may_have(t, n))
		return false;
	pfmi_field_put(table_field(t, KEY_CODE), config, n->code);
	if (n->umask)
		pfmi_field_put(table_field(t, KEY_UMASK), config, n->umask);
	for (uint32_t i = slot_of(h, t->n_ways); (way = table_way(t, h, &i));) {
		uint32_t row = way_row(t, way);

		if (!row_has_code(t, row, n->code, TARGET_NO_COUNTER))
			continue;
		/* Which bits its groups explain, the longer way finds out. */
		if (table_row(t, row)->n_takes)
			return false;
		if (is_it(t, row, config)) {
			*found = row;
			return true;
		}
	}
	return false;
}

/* The event behind the raw number of a driver, which the encoder knows row by row. */
static bool find_number(const struct target *g, struct event *ev)
{
	for (uint32_t row = 0; row < g->t->n_rows; row++) {
		uint64_t own[4];
		const uint64_t *config;

		pfmi_event_init(ev, g->t, row);
		config = table_row(g->t, row)->flags & ROW_SHADOWED ? NULL : pfmi_event_words(ev, own);
		if (config && config[0] && same_words(g, config))
			return true;
	}
	return false;
}

bool pfmi_event_from_config(const struct table *t, const uint64_t config[4], unsigned words, struct event *ev)
{
	struct target g = { .t = t, .reg = "config", .value = config[0], .words = words, .counter = TARGET_NO_COUNTER };
	struct event found;

	memcpy(g.config, config, sizeof(g.config));
	if (!(table_has_bits(t) ? find_by_words(&g, &found) : find_number(&g, &found)))
		return false;
	found.plm = ev->plm;
	found.plm_none = ev->plm_none;
	found.precise = ev->precise;
	found.left_out = ev->left_out;
	found.counter_pin = ev->counter_pin;
	copy_event(ev, &found);
	return true;
}
