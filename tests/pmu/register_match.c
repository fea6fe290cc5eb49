/* SPDX-License-Identifier: MIT */
/* From register values back to events, against a search through all rows. */
#include "unit_tables.h"
#include "pmu/pmu.h"

static void words(void **state)
{
	static const struct {
		const char *name;
		int word;
	} names[] = {
		{ "config", 0 },    { "CONFIG", 0 },      { "config0", 0 },  { "Config1", 1 },
		{ "config2", 2 },   { "config3", 3 },     { "config4", -1 }, { "config/", -1 },
		{ "config00", -1 }, { "config1x", -1 },   { "confi", -1 },   { "", -1 },
		{ "xconfig", -1 },  { "PERFEVTSEL", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(pfmi_pmu_get_config_index(names[i].name), names[i].word);
}

/* Which register it is, and on which counter. */
static void targets(void **state)
{
	static const struct {
		const char *reg;
		bool found;
		unsigned counter;
	} regs[] = {
		{ "PERFEVTSEL0", true, 0 }, { "PERFEVTSEL12", false, 12 },
		{ "PMC1", true, 1 },        { "config", true, 64 },
		{ "config1", true, 64 },    { "PERFEVTSEL", true, 64 },
		{ "NOTHING", false, 64 },   { "FIXED_CTR_CTRL", false, 64 },
	};
	const struct table *t = table_with(ENCODER_X86, "coreduo");

	(void)state;
	for (size_t i = 0; i < COUNT(regs); i++) {
		struct decode_target g = { .table = t, .reg_name = regs[i].reg, .value = 0x4300c0 };

		if (pfmi_pmu_init_decode_target(&g) != regs[i].found)
			fail_msg("%s", regs[i].reg);
		assert_int_equal(g.counter, regs[i].counter);
	}
}

/* The kernel's words of an event as they are without attributes. */
static void config_of(const struct table *t, uint32_t row, uint64_t config[4])
{
	struct event ev;
	pfm_attr_t a;

	pfmi_pmu_init_event(&ev, t, row);
	assert_int_equal(pfmi_pmu_build_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &a, NULL),
	                 PFMLIB_SUCCESS);
	config[0] = a.config;
	config[1] = a.config1;
	config[2] = a.config2;
	config[3] = a.config3;
}

/* A table whose rows are more than twice what is kept at a time. */
static const struct table *long_table(void)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->encoder == ENCODER_FORMAT &&
		    table_get_builtin(i)->n_rows > 150 && table_get_builtin(i)->n_rows < 600)
			return table_get_builtin(i);
	fail();
	return NULL;
}

/* All events that a value may be, one after the other: more than are kept at a time. Each comes
 * once, the better ones first, and all rows that need nothing else are among them. */
static void every_answer(void **state)
{
	const struct table *t = long_table();
	struct decode_target g = { .table = t, .reg_name = "config2", .value = 0 };
	unsigned fits = 0, n = 0;
	unsigned char seen[600] = { 0 };
	struct event ev;

	(void)state;
	assert_true(pfmi_pmu_init_decode_target(&g));
	for (uint32_t row = 0; row < t->n_rows; row++) {
		uint64_t config[4];

		config_of(t, row, config);
		fits += is_event(t, row) && config[2] == 0;
	}
	while (pfmi_pmu_find_decoded_event(&g, n, &ev)) {
		uint64_t config[4];

		assert_true(is_event(t, ev.row_index));
		config_of(t, ev.row_index, config);
		assert_true(config[2] == 0);
		assert_int_equal(seen[ev.row_index]++, 0);
		n++;
	}
	assert_int_equal(n, fits);
	/* Any of them by itself, at and beside the ends of what is kept at a time. */
	for (unsigned i = 62; i < 67; i++)
		assert_true(pfmi_pmu_find_decoded_event(&g, i, &ev));
	assert_false(pfmi_pmu_find_decoded_event(&g, fits, &ev));
	assert_false(pfmi_pmu_find_decoded_event(&g, fits + 64, &ev));
}

/* What a row says of itself leads back to the row, or to an earlier one with the same words; what
 * the caller had of levels stays. */
static void own_words(void **state)
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
			uint64_t config[4], back[4];

			if (!is_event(t, row) || table_get_row(t, row)->n_groups)
				continue;
			config_of(t, row, config);
			assert_true(pfmi_pmu_decode_config_words(t, config, 15, &ev));
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

/* The field by which users say what goes in the extra register of the row's event, or -1. */
static int extra_field(const struct table *t, uint32_t row)
{
	static const enum field_key keys[] = { KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND, KEY_OFFCORE1 };

	for (unsigned i = 0; i < COUNT(keys); i++) {
		struct event ev;
		uint64_t own[4], before;

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

/* Less is better among rows that need the same attributes. */
static uint64_t order_of(const struct table *t, uint32_t row)
{
	const struct row *r = table_get_row(t, row);
	unsigned unlikely = (r->flags & ROW_HIDDEN ? 8 : 0) + (r->flags & ROW_DEPRECATED ? 4 : 0);

	return (uint64_t)(unlikely + (table_get_row_counter_mask(t, r) &&
	                              !(table_get_row_counter_mask(t, r) & 0xffffffff)))
	               << 32 |
	       row;
}

/* The best row that has the words @want when @field is set to @value, by a look at all of them. */
static uint64_t best_with(const struct table *t, unsigned field, uint64_t value,
                          const uint64_t want[4])
{
	uint64_t best = ~(uint64_t)0;

	for (uint32_t row = 0; row < t->n_rows; row++) {
		struct event ev;
		uint64_t own[4];

		if (!is_event(t, row) || table_get_row(t, row)->n_groups)
			continue;
		pfmi_pmu_init_event(&ev, t, row);
		assert_true(pfmi_pmu_set_user_field(&ev, field, value));
		if (memcmp(pfmi_pmu_get_config_words(&ev, own), want, sizeof(own)) == 0 &&
		    order_of(t, row) < best)
			best = order_of(t, row);
	}
	return best;
}

/* An extra register with a value that no row has: of the rows that differ in this alone the index
 * has one, and it is the right one. */
static void other_extra_values(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = i % 7; row < t->n_rows && t->encoder == ENCODER_X86; row += 7) {
			struct event ev = { .counter_pin = ANY_COUNTER };
			uint64_t want[4], own[4], value;
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
			assert_true(pfmi_pmu_decode_config_words(t, want, 15, &ev));
			assert_memory_equal(pfmi_pmu_get_config_words(&ev, own), want,
			                    sizeof(want));
			assert_true(ev.n_user_fields <= 1);
			if (ev.n_user_fields && !table_get_row(t, ev.row_index)->n_groups)
				assert_true(order_of(t, ev.row_index) ==
				            best_with(t, (unsigned)field, value, want));
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

/* A row that takes groups, with their presets, needs nothing: no row that needs an attribute is
 * better. */
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
			uint64_t config[4], own[4];

			if (!is_event(t, row) || !has_presets(t, row))
				continue;
			config_of(t, row, config);
			if (!pfmi_pmu_decode_config_words(t, config, 15, &ev) || ev.n_user_fields ||
			    ev.chosen_groups || order_of(t, ev.row_index) > order_of(t, row))
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

UNIT(pmu_register_match, cmocka_unit_test(words), cmocka_unit_test(targets),
     cmocka_unit_test(every_answer), cmocka_unit_test(own_words),
     cmocka_unit_test(other_extra_values), cmocka_unit_test(rows_with_presets));
