/* SPDX-License-Identifier: MIT */
/* Register values decoded to events, against a search through all rows. */
#include "unit_tables.h"
#include "pmu/pmu.h"

/* Returns a table with more than twice the rows that the decoder keeps at a time. */
static const struct table *get_long_table(void)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->encoder == ENCODER_FORMAT &&
		    table_get_builtin(i)->n_rows > 150 && table_get_builtin(i)->n_rows < 600)
			return table_get_builtin(i);
	fail();
	return NULL;
}

/* A value with more matching events than the decoder keeps at a time. Each event comes once, better
 * matches first, and all rows without further required attributes are among them. */
static void every_match_result(void **state)
{
	const struct table *t = get_long_table();
	struct decode_target g = { .table = t, .reg_name = "config2", .value = 0 };
	unsigned fits = 0, n = 0;
	unsigned char seen[600] = { 0 };
	struct event ev;

	(void)state;
	assert_true(pfmi_pmu_init_decode_target(&g));
	for (uint32_t row = 0; row < t->n_rows; row++) {
		uint64_t config[N_CONFIG_WORDS];

		config_of(t, row, config);
		fits += is_event(t, row) && config[2] == 0;
	}
	while (pfmi_pmu_find_decoded_event(&g, n, &ev)) {
		uint64_t config[N_CONFIG_WORDS];

		assert_true(is_event(t, ev.row_index));
		config_of(t, ev.row_index, config);
		assert_true(config[2] == 0);
		assert_int_equal(seen[ev.row_index]++, 0);
		n++;
	}
	assert_int_equal(n, fits);
	/* Each match by index, around the number of matches kept at a time. */
	for (unsigned i = 62; i < 67; i++)
		assert_true(pfmi_pmu_find_decoded_event(&g, i, &ev));
	assert_false(pfmi_pmu_find_decoded_event(&g, fits, &ev));
	assert_false(pfmi_pmu_find_decoded_event(&g, fits + 64, &ev));
}

/* Finds the user field that sets the extra register of the row's event, or -1. */
static int extra_field(const struct table *t, uint32_t row)
{
	static const enum field_key keys[] = { KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND, KEY_OFFCORE1 };

	for (unsigned i = 0; i < COUNT(keys); i++) {
		struct event ev;
		uint64_t own[N_CONFIG_WORDS], before;

		if (!table_get_key_field(t, keys[i]) ||
		    !table_get_key_field(t, keys[i])->is_modifier)
			continue;
		pfmi_pmu_init_event(&ev, t, row);
		before = pfmi_pmu_get_config_words(&ev, own)[1];
		assert_true(pfmi_pmu_set_user_field(&ev, table_get_key_field_plus1(t, keys[i]) - 1u,
		                                    before + 1));
		if (before && pfmi_pmu_get_config_words(&ev, own)[1] == before + 1)
			return (int)table_get_key_field_plus1(t, keys[i]) - 1;
	}
	return -1;
}

/* Lower is better among rows that need the same attributes. */
static uint64_t rank_row(const struct table *t, uint32_t row)
{
	const struct row *r = table_get_row(t, row);
	unsigned unlikely = (r->flags & ROW_HIDDEN ? 8 : 0) + (r->flags & ROW_DEPRECATED ? 4 : 0);

	return (uint64_t)(unlikely + (table_get_row_counter_mask(t, r) &&
	                              !(table_get_row_counter_mask(t, r) & 0xffffffff)))
	               << 32 |
	       row;
}

/* Finds the best row whose words are @want with @field set to @value, among all rows. */
static uint64_t find_best_row(const struct table *t, unsigned field, uint64_t value,
                              const uint64_t want[N_CONFIG_WORDS])
{
	uint64_t best = ~(uint64_t)0;

	for (uint32_t row = 0; row < t->n_rows; row++) {
		struct event ev;
		uint64_t own[N_CONFIG_WORDS];

		if (!is_event(t, row) || table_get_row(t, row)->n_groups)
			continue;
		pfmi_pmu_init_event(&ev, t, row);
		assert_true(pfmi_pmu_set_user_field(&ev, field, value));
		if (memcmp(pfmi_pmu_get_config_words(&ev, own), want, sizeof(own)) == 0 &&
		    rank_row(t, row) < best)
			best = rank_row(t, row);
	}
	return best;
}

/* For an extra register value that no row has, the index finds one of the rows that differ in this
 * value only, and it is the best one. */
static void other_extra_values(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = i % 7; row < t->n_rows && t->encoder == ENCODER_X86; row += 7) {
			struct event ev = { .counter_pin = ANY_COUNTER };
			uint64_t want[N_CONFIG_WORDS], own[N_CONFIG_WORDS], value;
			int field;

			config_of(t, row, want);
			field = is_event(t, row) && !table_get_row(t, row)->n_groups
			                ? extra_field(t, row)
			                : -1;
			if (field < 0)
				continue;
			value = pfmi_pmu_extract_field(&table_fields(t)[field], want) ^ 0x5a3;
			if (value < table_fields(t)[field].min ||
			    value > table_fields(t)[field].max)
				continue;
			field_insert(&table_fields(t)[field], want, value);
			assert_true(pfmi_pmu_decode_config_words(t, want, ALL_CONFIG_WORDS, &ev));
			assert_memory_equal(pfmi_pmu_get_config_words(&ev, own), want,
			                    sizeof(want));
			assert_true(ev.n_user_fields <= 1);
			if (ev.n_user_fields && !table_get_row(t, ev.row_index)->n_groups)
				assert_true(rank_row(t, ev.row_index) ==
				            find_best_row(t, (unsigned)field, value, want));
			n += ev.n_user_fields != 0;
		}
	}
	assert_true(n > 500);
}

static bool has_presets(const struct table *t, uint32_t row)
{
	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++)
		if (!(pfmi_pmu_get_row_group(t, row, i)->flags & GROUP_HAS_DEFAULT))
			return false;
	return table_get_row(t, row)->n_groups > 0;
}

/* A row with groups that all have presets needs no attribute, so no row that needs one is a better
 * match. */
static void rows_with_presets(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0;
		     row < t->n_rows && table_has_field_bits(t) && t->encoder != ENCODER_NETBURST;
		     row++) {
			struct event ev = { .counter_pin = ANY_COUNTER };
			uint64_t config[N_CONFIG_WORDS], own[N_CONFIG_WORDS];

			if (!is_event(t, row) || !has_presets(t, row))
				continue;
			config_of(t, row, config);
			if (!pfmi_pmu_decode_config_words(t, config, ALL_CONFIG_WORDS, &ev) ||
			    ev.n_user_fields || ev.chosen_groups ||
			    rank_row(t, ev.row_index) > rank_row(t, row))
				fail_msg("%s::%s is taken for another row",
				         table_get_text(t, t->name), table_get_row_name(t, row));
			if (!ev.has_counter_values)
				assert_memory_equal(pfmi_pmu_get_config_words(&ev, own), config,
				                    sizeof(config));
			n++;
		}
	}
	assert_true(n > 100);
}

UNIT(pmu_register_match, cmocka_unit_test(every_match_result), cmocka_unit_test(other_extra_values),
     cmocka_unit_test(rows_with_presets));
