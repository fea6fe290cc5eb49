/* SPDX-License-Identifier: MIT */
/* Search for the event of register values: the best of the rows that match them. */
#include <string.h>
#include "pmu/row_match.h"
#include "pmu/x86.h"

#define RANKING_SIZE 64u

/* Can only fixed counters count the row? Of several events with equal fields, the one of a general
 * counter is meant. */
static bool has_only_fixed_counters(const struct table *t, const struct row *r)
{
	uint64_t counters = table_get_row_counter_mask(t, r);

	return counters && !(counters & 0xffffffff);
}

/* The rank of a matching event; less is better. It orders by added attributes, then rows that are
 * hidden, deprecated, named by their exact spelling only or need more registers, then table order,
 * then the counter. */
static uint64_t rank_event(const struct decode_target *g, const struct event *ev, unsigned nth)
{
	const struct row *r = table_get_row(g->table, ev->row_index);
	uint64_t own[N_CONFIG_WORDS], added = ev->n_user_fields, unlikely = 0;
	const uint64_t *config = g->event_select_mask || g->known_words == ALL_CONFIG_WORDS
	                                 ? NULL
	                                 : pfmi_pmu_get_config_words(ev, own);

	for (unsigned i = 0; i < r->n_groups; i++)
		added += ev->chosen_groups >> i & 1;
	for (unsigned i = 0; config && i < N_CONFIG_WORDS; i++)
		unlikely |= !(g->known_words >> i & 1) && config[i];
	unlikely +=
		g->counter == DECODE_NO_COUNTER && has_only_fixed_counters(g->table, r) ? 2u : 0;
	unlikely += (r->flags & ROW_DEPRECATED ? 4u : 0) + (r->flags & ROW_HIDDEN ? 8u : 0) +
	            (r->flags & ROW_SHADOWED ? 16u : 0);
	return added << 56 | unlikely << 48 | (uint64_t)ev->row_index << 8 | nth;
}

/* True for figures of PERF_METRICS where the register is that of fixed counters: they are read with
 * the slots counter, which counts SLOTS. */
static bool is_read_beside(const struct decode_target *g, const struct event *ev)
{
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *config = g->is_fixed_control ? pfmi_pmu_get_config_words(ev, own) : NULL;

	return config && x86_is_perf_metric(g->table, config[0]);
}

/* The best ranks above floor_rank, sorted. */
struct event_ranking {
	uint64_t floor_rank, ranks[RANKING_SIZE];
	unsigned n_ranks, max_ranks;
	bool has_floor;           /* floor_rank is valid */
	struct event *best_event; /* not NULL: the best event is stored here */
};

/* Adds the rank of @ev, the event of the @nth counter of the register, if it is among the best. */
static void add_to_ranking(const struct decode_target *g, struct event_ranking *b,
                           const struct event *ev, unsigned nth)
{
	uint64_t key = rank_event(g, ev, nth);
	unsigned at;

	/* An event on several counters is one result. */
	if ((b->has_floor && key >> 8 <= b->floor_rank >> 8) ||
	    (b->n_ranks == b->max_ranks && key >= b->ranks[b->n_ranks - 1]))
		return;
	for (unsigned i = 0; i < b->n_ranks; i++)
		if (b->ranks[i] >> 8 == key >> 8)
			return;
	if (b->best_event && b->best_event != ev)
		event_copy(b->best_event, ev);
	at = b->n_ranks < b->max_ranks ? b->n_ranks++ : b->n_ranks - 1;
	for (; at > 0 && b->ranks[at - 1] > key; at--)
		b->ranks[at] = b->ranks[at - 1];
	b->ranks[at] = key;
}

/* Does the code index have all rows that can match? Of rows that differ in extra registers only it
 * has one, so these must be known. */
static bool can_use_code_index(const struct decode_target *g)
{
	return g->table->n_code_index && !g->is_fixed_control && !g->event_select_mask &&
	       (g->known_words & 3) == 3 && g->code != DECODE_ANY_CODE;
}

/* A lower bound of the rank of @row, which is cheaper than the rank: a row with other words needs
 * at least one attribute. */
static uint64_t compute_rank_bound(const struct decode_target *g, uint32_t row)
{
	struct event ev;
	uint64_t added = 0;

	if (!table_get_row(g->table, row)->n_groups) {
		pfmi_pmu_init_event(&ev, g->table, row);
		added = !ev.has_counter_values &&
		        !pfmi_pmu_are_known_words_equal(g, ev.base_config);
	}
	return added << 56 | (uint64_t)row << 8;
}

/* Ranks the rows in the code index with the target's code, @umask and @config1. */
static void rank_indexed_rows(const struct decode_target *g, uint32_t umask, uint64_t config1,
                              struct event_ranking *b)
{
	const uint32_t h = table_hash_code((uint32_t)g->code, umask, config1);
	struct event ev;
	uint16_t entry;

	for (uint32_t i = table_get_first_slot(h, g->table->n_code_index);
	     (entry = table_next_code_index_entry(g->table, h, &i));) {
		struct event *to = b->best_event && !b->n_ranks ? b->best_event : &ev;
		uint32_t row = table_get_code_index_row(g->table, entry);

		/* Rows of one key are in table order, so a row without attributes and other
		 * registers ends the search. */
		if (b->n_ranks == b->max_ranks && b->ranks[b->n_ranks - 1] >> 48 == 0)
			return;
		if (pfmi_pmu_is_code_match(g, row) &&
		    (b->n_ranks < b->max_ranks ||
		     compute_rank_bound(g, row) < b->ranks[b->n_ranks - 1]) &&
		    pfmi_pmu_match_row(g, row, to))
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
		/* No row is better than one without attributes. */
		if (b->n_ranks == b->max_ranks && b->ranks[b->n_ranks - 1] >> 56 == 0)
			return;
		rank_indexed_rows(g, mask, 0, b);
		rank_indexed_rows(g, CODE_INDEX_ANY_UMASK, 0, b);
		return;
	}
	for (uint32_t row = 0; row < g->table->n_rows; row++)
		if (pfmi_pmu_match_row(g, row, &ev) && !is_read_beside(g, &ev))
			add_to_ranking(g, b, &ev, nth);
}

/* Makes @nth counter of the register the target's counter. False if there are no more. */
static bool select_target_counter(struct decode_target *g, unsigned nth)
{
	if (g->is_fixed_control) {
		/* A nibble with a level (os, usr) enables its counter. */
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
	if (table_has_field_bits(g->table) && !pfmi_pmu_has_register_select_mask(g))
		return nth == 0;
	g->event_select_mask =
		pfmi_pmu_get_event_select_mask(g->table, g->reg_name, nth, &g->counter);
	return g->event_select_mask != 0;
}

/* Sets the target's code from its configuration words. */
static void set_target_code(struct decode_target *g)
{
	const struct field *code = table_get_key_field(g->table, KEY_CODE);
	bool known = !g->is_fixed_control && !g->is_register_pair && code && code->n_ranges &&
	             g->known_words & 1;

	g->code = known ? pfmi_pmu_extract_field(code, g->config) : DECODE_ANY_CODE;
}

/* Replaces an alternate code and unit mask of the target by the primary ones of the same row. False
 * if no row has this alternate code. */
static bool use_primary_encoding(struct decode_target *g)
{
	const struct table *t = g->table;
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);
	uint32_t msr;

	if (g->code == DECODE_ANY_CODE || !table_get_key_field_plus1(t, KEY_ALT) || !umask)
		return false;
	g->alternate_code = g->code | pfmi_pmu_extract_field(umask, g->config) << 16;
	for (uint32_t row = 0; row < t->n_rows; row++)
		if (pfmi_pmu_has_alternate_code(t, row, g->alternate_code, &msr)) {
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
		for (nth = 0; select_target_counter(g, nth); nth++)
			rank_rows(g, nth, &b);
		if (b.n_ranks < b.max_ranks)
			return !b.n_ranks && !b.has_floor && !g->alternate_code &&
			       use_primary_encoding(g) && pfmi_pmu_find_decoded_event(g, i, ev);
		if (i < RANKING_SIZE)
			break;
		b.floor_rank = b.ranks[RANKING_SIZE - 1];
		b.has_floor = true;
	}
	return select_target_counter(g, (unsigned)(b.ranks[i] & 0xff)) &&
	       (b.best_event || pfmi_pmu_match_row(g, (uint32_t)(b.ranks[i] >> 8), ev));
}

/* Finds the best event of configuration words. */
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

static bool has_row_words(const struct table *t, uint32_t row,
                          const uint64_t config[N_CONFIG_WORDS])
{
	struct event ev;
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *words;

	pfmi_pmu_init_event(&ev, t, row);
	words = pfmi_pmu_get_config_words(&ev, own);
	return memcmp(words, config, sizeof(own)) == 0;
}

/* Has the row exactly these words, and can no other row be better? */
static bool is_best_row_of_words(const struct table *t, uint32_t row,
                                 const uint64_t config[N_CONFIG_WORDS])
{
	const struct row *r = table_get_row(t, row);

	if (r->flags & (ROW_SHADOWED | ROW_METRIC | ROW_DEPRECATED | ROW_HIDDEN) ||
	    has_only_fixed_counters(t, r))
		return false;
	return has_row_words(t, row, config);
}

/* Are the numbers in the range of the code and unit mask fields of @t? */
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
	uint64_t config[N_CONFIG_WORDS] = { 0 };
	uint16_t entry;

	if (!t->n_code_index || !pfmi_pmu_has_plain_config(t) || t->flags & TABLE_VALUES_OVERRIDE ||
	    !can_hold_codes(t, n))
		return false;
	field_insert(table_get_key_field(t, KEY_CODE), config, n->code);
	if (n->umask)
		field_insert(table_get_key_field(t, KEY_UMASK), config, n->umask);
	for (uint32_t i = table_get_first_slot(h, t->n_code_index);
	     (entry = table_next_code_index_entry(t, h, &i));) {
		uint32_t row = table_get_code_index_row(t, entry);

		if (!pfmi_pmu_has_row_code(t, row, n->code, DECODE_NO_COUNTER))
			continue;
		/* Splitting bits into unit masks needs the full search. */
		if (table_get_row(t, row)->n_groups)
			return false;
		if (is_best_row_of_words(t, row, config)) {
			*found = row;
			return true;
		}
	}
	return false;
}

/* Finds the row with the raw event number of a driver by encoding each row. */
static bool find_row_by_driver_number(const struct decode_target *g, struct event *ev)
{
	for (uint32_t row = 0; row < g->table->n_rows; row++) {
		uint64_t own[N_CONFIG_WORDS];
		const uint64_t *config;

		pfmi_pmu_init_event(ev, g->table, row);
		config = table_get_row(g->table, row)->flags & ROW_SHADOWED
		                 ? NULL
		                 : pfmi_pmu_get_config_words(ev, own);
		if (config && config[0] && pfmi_pmu_are_known_words_equal(g, config))
			return true;
	}
	return false;
}

bool pfmi_pmu_decode_config_words(const struct table *t, const uint64_t config[N_CONFIG_WORDS],
                                  unsigned words, struct event *ev)
{
	struct decode_target g = { .table = t,
		                   .reg_name = "config",
		                   .value = config[0],
		                   .known_words = words,
		                   .counter = DECODE_NO_COUNTER };
	struct event found;

	memcpy(g.config, config, sizeof(g.config));
	if (!(table_has_field_bits(t) ? find_event_by_words(&g, &found)
	                              : find_row_by_driver_number(&g, &found)))
		return false;
	found.plm = ev->plm;
	found.has_no_levels = ev->has_no_levels;
	found.precise = ev->precise;
	found.exclude_flags = ev->exclude_flags;
	found.counter_pin = ev->counter_pin;
	event_copy(ev, &found);
	return true;
}
