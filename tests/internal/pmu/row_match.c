/* SPDX-License-Identifier: MIT */
/* Rows against the words that they encode to. */
#include "unit_tables.h"
#include "pmu/row_match.h"

/* The words of a row match this row, or an earlier row with equal words. The caller's levels are
 * kept. */
static void words_of_a_row_match_the_row(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i += 3) {
		const struct table *t = table_get_builtin(i);

		if (!table_has_field_bits(t) || t->encoder == ENCODER_NETBURST)
			continue;
		for (uint32_t row = 0; row < t->n_rows; row += 1 + t->n_rows / 15) {
			struct event ev = { .plm = PFM_PLM3,
				            .precise = 2,
				            .counter_pin = 1,
				            .exclude_flags = EVENT_EXCLUDE_IDLE };
			uint64_t config[N_CONFIG_WORDS], back[N_CONFIG_WORDS];

			if (!is_event(t, row) || table_get_row(t, row)->n_groups)
				continue;
			config_of(t, row, config);
			assert_true(pfmi_pmu_decode_config_words(t, config, ALL_CONFIG_WORDS, &ev));
			assert_true(ev.plm == PFM_PLM3 && ev.precise == 2 && ev.counter_pin == 1 &&
			            ev.exclude_flags == EVENT_EXCLUDE_IDLE);
			pfmi_pmu_build_config_words(&ev, ANY_COUNTER, back);
			if (!ev.has_counter_values && ev.n_user_fields == 0 &&
			    !table_get_row(t, ev.row_index)->n_groups)
				config_of(t, ev.row_index, back);
			assert_memory_equal(config, back, sizeof(back));
			n++;
		}
	}
	assert_true(n > 300);
}

UNIT(pmu_row_match, cmocka_unit_test(words_of_a_row_match_the_row));
