/* SPDX-License-Identifier: MIT */
/* Values of fields and their bits, against a slow implementation that goes bit by bit and key by
 * key. */
#include "unit_tables.h"
#include <perfmon/types.h>

/* Finds the word and the position in it of bit @i of a field's value; false past the last bit. */
static bool find_bit(const struct field *f, unsigned i, unsigned *word, unsigned *at)
{
	for (unsigned r = 0; r < f->n_ranges; r++) {
		if (i < f->ranges[r].width) {
			*word = f->ranges[r].config_word;
			*at = f->ranges[r].lsb + i;
			return true;
		}
		i -= f->ranges[r].width;
	}
	return false;
}

static void put_slowly(const struct field *f, uint64_t config[N_CONFIG_WORDS], uint64_t value)
{
	unsigned word, at;

	for (unsigned i = 0; find_bit(f, i, &word, &at); i++) {
		uint64_t bit = i < 64 ? value >> i & 1 : 0;

		config[word] = (config[word] & ~((uint64_t)1 << at)) | bit << at;
	}
}

static uint64_t get_slowly(const struct field *f, const uint64_t config[N_CONFIG_WORDS])
{
	uint64_t value = 0;
	unsigned word, at;

	for (unsigned i = 0; i < 64 && find_bit(f, i, &word, &at); i++)
		value |= (config[word] >> at & 1) << i;
	return value;
}

static struct field random_field(uint64_t *seed)
{
	static const uint8_t widths[] = { 1, 2, 8, 16, 31, 32, 63, 64 };
	struct field f = { .n_ranges = (uint8_t)(unit_random(seed) % 5) };

	/* The ranges never overlap, since each is in a different config word. */
	for (unsigned r = 0; r < f.n_ranges; r++) {
		uint8_t width = widths[unit_random(seed) % COUNT(widths)];

		f.ranges[r] =
			(struct bitrange){ .config_word = (uint8_t)r,
			                   .width = width,
			                   .lsb = (uint8_t)(unit_random(seed) % (65u - width)) };
	}
	return f;
}

static void bits_of_fields(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct field f = random_field(&seed);
		uint64_t ours[N_CONFIG_WORDS], parts[N_CONFIG_WORDS], slow[N_CONFIG_WORDS],
			value = unit_random(&seed) >> unit_random(&seed) % 64;

		for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
			ours[i] = parts[i] = slow[i] = unit_random(&seed);
		assert_true(pfmi_pmu_extract_field(&f, ours) == get_slowly(&f, slow));
		field_insert(&f, ours, value);
		pfmi_pmu_insert_field_ranges(&f, parts, value);
		put_slowly(&f, slow, value);
		assert_memory_equal(ours, slow, sizeof(slow));
		assert_memory_equal(parts, slow, sizeof(slow));
		assert_true(pfmi_pmu_extract_field(&f, ours) == get_slowly(&f, slow));
	}
}

/* Bits that the presets of unit mask groups add to field @field of row @row. */
static uint64_t preset_groups(const struct table *t, uint32_t row, unsigned field)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(t, row, i);

		if (g->field == field && g->flags & GROUP_HAS_DEFAULT)
			bits |= g->default_value;
	}
	return bits;
}

static bool has_value(const struct table *t, uint32_t row, unsigned field)
{
	const struct row *r = table_get_row(t, row);

	for (unsigned i = 0; i < r->n_values; i++)
		if (table_get_row_value(t, r, i).field == field)
			return true;
	return false;
}

static void expect_row(const struct table *t, uint32_t row, unsigned counter)
{
	const struct field *f = table_fields(t);
	uint64_t ours[N_CONFIG_WORDS], slow[N_CONFIG_WORDS] = { 0 };
	struct event ev;

	pfmi_pmu_init_event(&ev, t, row);
	for (unsigned i = 0; i < t->n_fields; i++) {
		uint64_t want;

		if (f[i].kind == FIELD_TEXT || table_get_key_field_plus1(t, f[i].key) != i + 1 ||
		    f[i].key == KEY_ALT) /* that is a list */
			continue;
		want = pfmi_table_get_row_value(t, row, f[i].key, counter) |
		       preset_groups(t, row, i);
		if (pfmi_pmu_get_field_value(&ev, i, counter) != want)
			fail_msg("%s %s %s", table_get_text(t, t->name), table_get_row_name(t, row),
			         table_get_text(t, f[i].name));
		assert_true(pfmi_pmu_get_key_value(&ev, f[i].key, counter) == want);
		assert_int_equal(event_has_key(&ev, f[i].key), has_value(t, row, i));
		assert_false(pfmi_pmu_has_user_key(&ev, f[i].key));
	}
	/* Fields may share bits: the 0 of an unused field must not clear bits of a used one. */
	for (unsigned i = 0; i < t->n_fields; i++)
		if (f[i].kind != FIELD_TEXT && f[i].n_ranges &&
		    pfmi_pmu_get_field_value(&ev, i, counter))
			put_slowly(&f[i], slow, pfmi_pmu_get_field_value(&ev, i, counter));
	pfmi_pmu_build_config_words(&ev, counter, ours);
	assert_memory_equal(ours, slow, sizeof(slow));
	assert_true(pfmi_pmu_get_counter_mask(&ev) ==
	            table_get_row_counter_mask(t, table_get_row(t, row)));
}

/* Rows of every built-in table, a sample of the long tables. Some values depend on the counter, so
 * each counter is tried. */
static void rows_become_events(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		uint32_t step = 1 + t->n_rows / 40;

		for (uint32_t row = i % step; row < t->n_rows; row += step) {
			expect_row(t, row, ANY_COUNTER);
			for (unsigned counter = 0; counter < 4; counter++)
				expect_row(t, row, counter);
		}
	}
}

/* An event without a row has the defaults of all fields and can use any counter. */
static void event_without_a_row_has_presets(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		uint64_t ours[N_CONFIG_WORDS], slow[N_CONFIG_WORDS] = { 0 };
		struct event ev;

		memset(&ev, 0xa5, sizeof(ev));
		pfmi_pmu_init_event(&ev, t, ROW_NONE);
		for (unsigned f = 0; f < t->n_fields; f++) {
			assert_true(table_fields(t)[f].kind == FIELD_TEXT ||
			            pfmi_pmu_get_field_value(&ev, f, ANY_COUNTER) ==
			                    table_fields(t)[f].default_value);
			if (table_fields(t)[f].kind != FIELD_TEXT &&
			    table_fields(t)[f].default_value)
				put_slowly(&table_fields(t)[f], slow,
				           table_fields(t)[f].default_value);
		}
		pfmi_pmu_build_config_words(&ev, ANY_COUNTER, ours);
		assert_memory_equal(ours, slow, sizeof(slow));
		assert_true(pfmi_pmu_get_counter_mask(&ev) == t->all_counters);
		assert_true(ev.plm == 0 && ev.has_no_levels == 0 && ev.precise == 0 &&
		            ev.n_user_fields == 0 && ev.exclude_flags == 0 &&
		            ev.chosen_groups == 0);
		ev.counter_pin = 2;
		assert_true(pfmi_pmu_get_counter_mask(&ev) == (t->all_counters & 4));
	}
}

/* A field that the user sets replaces the row's value, and unit masks add to it. */
static void user_fields_replace_row_values(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i += 5) {
		const struct table *t = table_get_builtin(i);

		for (unsigned f = 0; f < t->n_fields; f++) {
			const struct field *field = &table_fields(t)[f];
			uint64_t before[N_CONFIG_WORDS], after[N_CONFIG_WORDS], want = field->max;
			struct event ev;

			if (!t->n_rows || field->kind != FIELD_NUMBER || field->key == 0)
				continue;
			pfmi_pmu_init_event(&ev, t, t->n_rows - 1);
			pfmi_pmu_build_config_words(&ev, ANY_COUNTER, before);
			assert_false(pfmi_pmu_has_user_key(&ev, field->key));
			assert_true(pfmi_pmu_set_user_field(&ev, f, field->max));
			want |= preset_groups(t, ev.row_index, f);
			assert_true(pfmi_pmu_get_field_value(&ev, f, 0) == want &&
			            pfmi_pmu_get_key_value(&ev, field->key, 0) == want);
			assert_true(pfmi_pmu_has_user_key(&ev, field->key));
			put_slowly(field, before, want);
			pfmi_pmu_build_config_words(&ev, ANY_COUNTER, after);
			assert_memory_equal(before, after, sizeof(after));
		}
	}
}

/* Unit masks by number: group after group, each with its own bits. The first mask of a group
 * replaces the group's default. */
static void masks_set_the_bits_of_their_groups(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0; row < t->n_rows; row += 1 + t->n_rows / 20) {
			unsigned n = 0;

			for (unsigned g = 0; g < table_get_row(t, row)->n_groups; g++) {
				const struct umask_group *group = pfmi_pmu_get_row_group(t, row, g),
							 *found = NULL;
				const struct named_value *words =
					table_named_values(t) + group->first_named_value;
				uint64_t first = words[0].value,
					 last = words[group->n_values - 1].value;
				struct event ev;

				assert_ptr_equal(pfmi_pmu_get_row_umask(t, row, n, &found), words);
				assert_ptr_equal(found, group);
				assert_ptr_equal(pfmi_pmu_get_row_umask(
							 t, row, n + group->n_values - 1u, NULL),
				                 words + group->n_values - 1);
				pfmi_pmu_init_event(&ev, t, row);
				assert_int_equal(pfmi_pmu_add_umask(&ev, n), PFMLIB_SUCCESS);
				assert_true(ev.group_values[g] == first &&
				            ev.chosen_groups == 1u << g);
				assert_int_equal(pfmi_pmu_add_umask(&ev, n + group->n_values - 1u),
				                 PFMLIB_SUCCESS);
				assert_true(ev.group_values[g] == (first | last) &&
				            ev.chosen_groups == 1u << g);
				n += group->n_values;
				assert_int_equal(pfmi_pmu_add_umask(&ev, UINT32_MAX),
				                 PFMLIB_ERR_UMASK);
				seen++;
			}
			assert_int_equal(pfmi_pmu_count_row_umasks(t, row), n);
			assert_null(pfmi_pmu_get_row_umask(t, row, n, NULL));
		}
	}
	assert_true(seen > 100);
}

UNIT(pmu_event, cmocka_unit_test(bits_of_fields), cmocka_unit_test(rows_become_events),
     cmocka_unit_test(event_without_a_row_has_presets),
     cmocka_unit_test(user_fields_replace_row_values),
     cmocka_unit_test(masks_set_the_bits_of_their_groups));
