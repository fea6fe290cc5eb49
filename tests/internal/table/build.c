/* SPDX-License-Identifier: MIT */
/* Tables built in memory: the table has each added element unchanged and passes the verifier of
 * images. */
#include "units.h"
#include "table/build.h"

static const struct bitrange LOW8 = { .lsb = 0, .width = 8 },
			     HIGH64 = { .config_word = 1, .width = 64 };

static uint32_t add_text(struct table_builder *b, const char *s)
{
	return pfmi_table_add_text(b, s, strlen(s));
}

static const char *text_in(const struct table_builder *b, uint32_t at)
{
	return (const char *)b->pool.items + at;
}

/* Finishes the table, which must pass the verifier. */
static struct table *finish_table(struct table_builder *b)
{
	struct table *t = pfmi_table_finish_build(b);
	const char *why = NULL;

	assert_non_null(t);
	if (pfmi_table_verify(t, t->size, VERIFY_ALL, &why))
		fail_msg("%s", why);
	assert_true(b->pool.items == NULL && b->rows.n == 0 && !b->failed);
	return t;
}

static struct name_entry find_name(const struct table *t, const char *s)
{
	uint32_t h = NAME_HASH_SEED;

	for (const char *c = s; *c; c++)
		if (table_fold_char((unsigned char)*c))
			h = table_hash_char(h, table_fold_char((unsigned char)*c));
	return table_find_name(t, h, s, strlen(s));
}

static void an_empty_table(void **state)
{
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	t = finish_table(&b);
	assert_true(t->encoder == ENCODER_FORMAT &&
	            t->flags == (TABLE_FROM_KERNEL | TABLE_VALUES_OVERRIDE) && t->perf_type == -1 &&
	            t->libpfm_type == -1);
	assert_true(t->n_rows == 0 && t->n_fields == 0 && t->n_features == 0 &&
	            table_get_text(t, 0)[0] == '\0');
	assert_int_equal(find_name(t, "cycles").kind, NAME_NONE);
	free(t);
}

/* Control characters become blanks. All other characters stay, also UTF-8. */
static void control_characters_become_blanks(void **state)
{
	static const char *const rows[][2] = {
		{ "a\033[1mb", "a [1mb" },
		{ "\001\037 \177\176", "    ~" },
		{ "a\xc2\x80z", "a  z" },
		{ "a\xc2\x9fz", "a  z" },
		{ "a\xc2\x9f", "a  " },
		{ "a\xc2\xa0z", "a\xc2\xa0z" },
		{ "a\xc3\x80z", "a\xc3\x80z" },
		{ "\xc2\x7f", "\xc2 " },
		{ "\xc2", "\xc2" },
		{ "\xc2\xc2\x85", "\xc2  " },
	};
	struct table_builder b;

	(void)state;
	pfmi_table_begin_build(&b);
	for (size_t i = 0; i < COUNT(rows); i++)
		EXPECT_ROW_TEXT(rows[i][0], text_in(&b, add_text(&b, rows[i][0])), rows[i][1]);
	assert_string_equal(text_in(&b, pfmi_table_add_text(&b, "cut\xc2\x80", 4)),
	                    "cut\xc2"); /* the bytes after the end are not read */
	assert_int_equal(pfmi_table_add_text(&b, "x", 0), 0);
	free(finish_table(&b));
}

static void builder_adds_fields(void **state)
{
	static const struct bitrange split[] = { { .lsb = 0, .width = 8 },
		                                 { .lsb = 32, .width = 4 },
		                                 { .config_word = 2, .lsb = 1, .width = 1 } };
	struct table_builder b;
	struct table *t;
	const struct field *f;

	(void)state;
	pfmi_table_begin_build(&b);
	assert_int_equal(pfmi_table_add_field(&b, "code", KEY_CODE, split, 3), 0);
	assert_int_equal(pfmi_table_add_field(&b, "config1", KEY_NONE, &HIGH64, 1), 1);
	assert_int_equal(pfmi_table_add_field(&b, "again", KEY_CODE, &LOW8, 1), 2);
	assert_int_equal(pfmi_table_add_text_field(&b, KEY_UNIT), 3);
	assert_int_equal(pfmi_table_find_built_field(&b, "config1", 7), 1);
	assert_int_equal(pfmi_table_find_built_field(&b, "config1x", 7), 1);
	assert_int_equal(pfmi_table_find_built_field(&b, "config1", 6), -1);
	assert_int_equal(pfmi_table_find_built_field(&b, "codex", 5), -1);
	assert_int_equal(pfmi_table_find_built_field(&b, "unit", 4), 3);
	assert_int_equal(pfmi_table_get_built_field(&b, 2)->width, 8);
	t = finish_table(&b);
	assert_int_equal(t->n_fields, 4);
	f = table_get_key_field(t, KEY_CODE); /* lookups by key find the first of two fields */
	assert_ptr_equal(f, table_fields(t));
	assert_true(f->width == 13 && f->max == 0x1fff && f->n_ranges == 3 &&
	            f->kind == FIELD_NUMBER && f->is_modifier == 1);
	assert_memory_equal(f->ranges, split, sizeof(split));
	assert_string_equal(table_get_text(t, f->name), "code");
	assert_true(f[1].width == 64 && f[1].max == UINT64_MAX);
	assert_true(f[2].key == KEY_CODE && f[2].max == 0xff);
	assert_true(f[3].kind == FIELD_TEXT && f[3].width == 32 && f[3].max == UINT32_MAX &&
	            f[3].is_modifier == 0 && f[3].n_ranges == 0);
	assert_ptr_equal(table_get_key_field(t, KEY_UNIT), f + 3);
	assert_null(table_get_key_field(t, KEY_UMASK));
	assert_int_equal(table_keys(t)[KEY_NONE], 0);
	free(t);
}

/* Adjacent bits merge into one range of at most 64 bits. */
static void adjacent_bits_merge_up_to_64(void **state)
{
	static const struct bitrange ranges[][2] = {
		{ { .width = 63 }, { .config_word = 1, .width = 1 } },
		{ { .width = 63 }, { .config_word = 1, .width = 2 } },
		{ { .width = 60 }, { .config_word = 1, .width = 3 } }
	};
	static const unsigned widths[] = { 64, 64, 63 };
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	for (unsigned i = 0; i < 3; i++)
		pfmi_table_add_field(&b, "f", KEY_NONE, ranges[i], 2);
	t = finish_table(&b);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(table_fields(t)[i].width, widths[i]);
		assert_true(table_fields(t)[i].max == UINT64_MAX >> (64 - widths[i]));
	}
	free(t);
}

static void accepts_255_fields(void **state)
{
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	for (unsigned i = 0; i < TABLE_MAX_FIELDS; i++)
		assert_int_equal(
			pfmi_table_add_field(
				&b, "f", i == TABLE_MAX_FIELDS - 1 ? KEY_CODE : KEY_NONE, &LOW8, 1),
			i);
	pfmi_table_add_field(&b, "more", KEY_UMASK, &LOW8, 1);
	assert_int_equal(pfmi_table_find_built_field(&b, "more", 4), -1);
	t = finish_table(&b);
	assert_int_equal(t->n_fields, TABLE_MAX_FIELDS);
	assert_true(table_get_key_field(t, KEY_UMASK) == NULL &&
	            table_get_key_field(t, KEY_CODE) == table_fields(t) + TABLE_MAX_FIELDS - 1);
	free(t);
}

static void builder_adds_features(void **state)
{
	struct table_builder b;
	struct table *t;
	const struct feature *f;

	(void)state;
	pfmi_table_begin_build(&b);
	pfmi_table_add_feature(&b, "caps", "branches", 5);
	pfmi_table_add_feature(&b, "depth", NULL, UINT64_MAX);
	t = finish_table(&b);
	f = table_features(t);
	assert_int_equal(t->n_features, 2);
	assert_string_equal(table_get_text(t, f[0].name), "caps");
	assert_string_equal(table_get_text(t, f[0].text), "branches");
	assert_string_equal(table_get_text(t, f[1].name), "depth");
	assert_true(f[0].value == 5 && f[1].text == 0 && f[1].value == UINT64_MAX);
	free(t);
}

/* Values that fit into the row itself and values that do not. */
static void row_values_of_any_size(void **state)
{
	static const uint64_t v[] = {
		0, 1, VALUE_IS_WIDE - 1, VALUE_IS_WIDE, VALUE_IS_WIDE + 1, UINT64_MAX
	};
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	pfmi_table_set_row_value(&b, 0, 7); /* no row yet */
	pfmi_table_add_field(&b, "config", KEY_CONFIG, &(struct bitrange){ .width = 64 }, 1);
	pfmi_table_add_field(&b, "config1", KEY_NONE, &HIGH64, 1);
	for (size_t i = 0; i < COUNT(v); i++) {
		char name[8] = { 'e', (char)('0' + i) };

		pfmi_table_begin_row(&b, name, "Some event.", i == 2 ? ROW_PER_PKG : 0);
		pfmi_table_set_row_value(&b, 1, 77);
		pfmi_table_set_row_value(&b, 0, v[i]);
		pfmi_table_set_row_value(&b, 1, v[i]); /* replaces the earlier value */
	}
	t = finish_table(&b);
	assert_int_equal(t->n_rows, COUNT(v));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct row *r = table_get_row(t, i);

		assert_true(r->n_values == 2 && r->flags == (i == 2 ? ROW_PER_PKG : 0));
		assert_string_equal(table_get_text(t, r->desc), "Some event.");
		assert_int_equal(table_get_row_counter_mask(t, r), 0);
		for (unsigned k = 0; k < 2; k++) {
			struct field_value got = table_get_row_value(t, r, k);

			assert_true(got.field == !k && got.value == v[i] &&
			            got.counter == ANY_COUNTER);
		}
	}
	free(t);
}

/* A dropped row leaves no data in the table, whether it is the first row or between others. */
static void rows_that_are_taken_back(void **state)
{
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	pfmi_table_drop_row(&b); /* no row to drop */
	pfmi_table_add_field(&b, "code", KEY_CODE, &LOW8, 1);
	pfmi_table_add_field(&b, "umask", KEY_UMASK, &LOW8, 1);
	for (unsigned i = 0; i < 3; i++) {
		pfmi_table_begin_row(&b, "gone", "", 0);
		pfmi_table_set_row_value(&b, 0, 99);
		pfmi_table_set_row_value(&b, 1, 98);
		pfmi_table_drop_row(&b);
		pfmi_table_begin_row(&b, i == 0 ? "a" : i == 1 ? "b" : "c", "", 0);
		pfmi_table_set_row_value(&b, 0, i);
	}
	pfmi_table_drop_row(&b);
	t = finish_table(&b);
	assert_int_equal(t->n_rows, 2);
	assert_int_equal(find_name(t, "gone").kind, NAME_NONE);
	assert_int_equal(find_name(t, "c").kind, NAME_NONE);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(table_get_row(t, i)->n_values == 1 &&
		            table_get_row_value(t, table_get_row(t, i), 0).value == i);
	free(t);
}

/* Of names that fold to the same text, the first is found in every other spelling, the others only
 * in their own. */
static void names_of_rows(void **state)
{
	static const char *const names[] = { "cache-misses", "cachemisses", "CACHE_MISSES",
		                             "other.one", "cycles" };
	struct table_builder b;
	struct table *t;

	(void)state;
	pfmi_table_begin_build(&b);
	for (size_t i = 0; i < COUNT(names); i++)
		pfmi_table_begin_row(&b, names[i], "", 0);
	t = finish_table(&b);
	assert_true(t->flags & TABLE_HAS_FOLDED_TWINS);
	for (uint32_t i = 0; i < COUNT(names); i++) {
		EXPECT_ROW_TEXT(names[i], table_get_row_name(t, i), names[i]);
		EXPECT_ROW_NUMBER(names[i], !!(table_get_row(t, i)->flags & ROW_SHADOWED),
		                  i == 1 || i == 2);
	}
	assert_true(find_name(t, "Cache__Misses").kind == NAME_EVENT &&
	            find_name(t, "Cache__Misses").row == 0);
	assert_true(find_name(t, "Cache_Misses").row == 2 &&
	            find_name(t, "CacheMisses").row == 1); /* its own spelling in another case */
	assert_int_equal(find_name(t, "cycles").row, 4);
	assert_int_equal(find_name(t, "cycle").kind, NAME_NONE);
	free(t);
}

/* Many elements of each kind, so that each array grows several times. */
static void arrays_of_a_table_grow(void **state)
{
	enum { ROWS = 3000 };
	struct table_builder b;
	struct table *t;
	uint64_t seed = 7;

	(void)state;
	pfmi_table_begin_build(&b);
	for (unsigned i = 0; i < 8; i++)
		pfmi_table_add_field(&b, "f", KEY_NONE, &HIGH64, 1);
	for (unsigned i = 0; i < ROWS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%u", i);
		pfmi_table_begin_row(&b, name, name, 0);
		for (unsigned k = 0; k < i % 9 && k < 8; k++)
			pfmi_table_set_row_value(&b, k, unit_random(&seed));
		pfmi_table_add_feature(&b, name, name, i);
	}
	t = finish_table(&b);
	assert_true(t->n_rows == ROWS && t->n_features == ROWS &&
	            !(t->flags & TABLE_HAS_FOLDED_TWINS));
	seed = 7;
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct row *r = table_get_row(t, i);

		assert_true(find_name(t, table_get_row_name(t, i)).row == i &&
		            table_features(t)[i].value == i);
		assert_int_equal(r->n_values, i % 9);
		for (unsigned k = 0; k < r->n_values; k++)
			assert_true(table_get_row_value(t, r, k).value == unit_random(&seed));
	}
	free(t);
}

/* After a failed allocation finishing fails, whatever calls follow. */
static void builder_without_memory(void **state)
{
	struct table_builder b;

	(void)state;
	pfmi_table_begin_build(&b);
	pfmi_table_begin_row(&b, "a", "", 0);
	b.failed = true;
	for (unsigned i = 0; i < 100; i++) {
		pfmi_table_begin_row(&b, "b", "", 0);
		pfmi_table_set_row_value(&b, 0, i);
		pfmi_table_add_field(&b, "f", KEY_NONE, &LOW8, 1);
		pfmi_table_add_feature(&b, "f", "t", 0);
		pfmi_table_drop_row(&b);
	}
	assert_null(pfmi_table_finish_build(&b));
	assert_false(b.failed);
	pfmi_table_begin_build(&b);
	free(finish_table(&b));
}

UNIT(table_build, cmocka_unit_test(an_empty_table),
     cmocka_unit_test(control_characters_become_blanks), cmocka_unit_test(builder_adds_fields),
     cmocka_unit_test(adjacent_bits_merge_up_to_64), cmocka_unit_test(accepts_255_fields),
     cmocka_unit_test(builder_adds_features), cmocka_unit_test(row_values_of_any_size),
     cmocka_unit_test(rows_that_are_taken_back), cmocka_unit_test(names_of_rows),
     cmocka_unit_test(arrays_of_a_table_grow), cmocka_unit_test(builder_without_memory));
