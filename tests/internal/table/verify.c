/* SPDX-License-Identifier: MIT */
/* The verifier of tables at its limits: the last valid value and the first invalid one. */
#include "units.h"
#include <perfmon/types.h>
#include "made_table.h"

static void expect_valid(const struct table *t, enum verify_depth depth)
{
	const char *why = "";

	if (pfmi_table_verify(t, t->size, depth, &why) || why)
		fail_msg("%s", why);
}

static void set_fault(const struct table *t, enum verify_depth depth, const char *part)
{
	const char *why = NULL;

	assert_int_equal(pfmi_table_verify(t, t->size, depth, &why), PFMLIB_ERR_IMAGE);
	if (!strstr(why, part))
		fail_msg("\"%s\", not \"%s\"", why, part);
}

#define MEMBER(NAME, N, SIZE, ALIGN)                                                               \
	{                                                                                          \
		offsetof(struct table, NAME), N, SIZE, ALIGN, #NAME                                \
	}

/* Each array may end where the table ends, and no element later. It may not start within the head
 * or at an unaligned offset. */
static void arrays_of_a_table(void **state)
{
	static const struct {
		size_t at, n, size, align;
		const char *name;
	} arrays[] = {
		MEMBER(keys, 64, 1, 1),
		MEMBER(fields, 3, sizeof(struct field), 8),
		MEMBER(features, 1, sizeof(struct feature), 8),
		MEMBER(row_numbers, 3, 4, 4),
		MEMBER(slots, 6, 4, 4),
		MEMBER(counters, 0, sizeof(struct counter_range), 4),
		MEMBER(names, 0, 8, 4),
		MEMBER(group_numbers, 0, 4, 4),
		MEMBER(matches, 0, sizeof(struct host_match), 8),
		MEMBER(code_index, 0, 2, 2),
		MEMBER(counter_masks, 0, 8, 8),
		MEMBER(named_values, 0, 16, 8),
		MEMBER(groups, 0, 8, 8),
		MEMBER(rows, 0, 4, 4),
		MEMBER(values, 0, 4, 4),
		MEMBER(wide_values, 0, 16, 8),
		MEMBER(row_groups, 0, 4, 4),
		MEMBER(errata, 0, 4, 4),
		MEMBER(erratum_rows, 0, 2, 2),
	};
	struct table *t = make_table();

	(void)state;
	assert_true(t->n_slots == 6 && t->n_fields == 3);
	for (size_t i = 0; i < COUNT(arrays); i++) {
		uint32_t *at = (uint32_t *)(void *)((char *)t + arrays[i].at), before = *at;
		uint32_t last = (uint32_t)((t->size - arrays[i].n * arrays[i].size) /
		                           arrays[i].align * arrays[i].align);

		if (arrays[i].at !=
		    offsetof(struct table, keys)) { /* the verifier reads keys, and the bytes at the
			                               end are not keys */
			*at = last;
			expect_valid(t, VERIFY_HEAD);
		}
		*at = last + (uint32_t)arrays[i].align;
		set_fault(t, VERIFY_HEAD, "out of bounds");
		*at = sizeof(*t) - (uint32_t)arrays[i].align;
		set_fault(t, VERIFY_HEAD, "out of bounds");
		if (arrays[i].align > 1) {
			*at = before + 1;
			set_fault(t, VERIFY_HEAD, "out of bounds");
		}
		*at = 0xfffffff8;
		set_fault(t, VERIFY_HEAD, "out of bounds");
		*at = before;
	}
	expect_valid(t, VERIFY_ALL);
	free(t);
}

/* A context compares these strings with the machine before it verifies the table. */
static void strings_of_matches(void **state)
{
	struct table *t = make_table(), *more = calloc(1, t->size + 2 * sizeof(struct host_match));
	struct host_match *m;

	(void)state;
	assert_non_null(more);
	memcpy(more, t, t->size);
	more->matches = t->size;
	more->n_matches = 2;
	more->size += (uint32_t)(2 * sizeof(*m));
	m = (struct host_match *)(void *)((char *)more + more->matches);
	expect_valid(more, VERIFY_HEAD);
	for (unsigned i = 0; i < 6; i++) {
		uint32_t *at = i % 3 == 0   ? &m[i / 3].arch
		               : i % 3 == 1 ? &m[i / 3].vendor
		                            : &m[i / 3].id_prefix;

		*at = (uint32_t)(more->n_pool - POOL_PAD);
		expect_valid(more, VERIFY_HEAD);
		*at += 1;
		set_fault(more, VERIFY_HEAD, "outside the pool");
		*at = 0;
	}
	expect_valid(more, VERIFY_ALL);
	free(more);
	free(t);
}

static void damaged_heads_are_refused(void **state)
{
	struct table *t = make_table();
	const char *why;
	struct table h = *t;

	(void)state;
	expect_valid(t, VERIFY_HEAD);
	assert_int_equal(pfmi_table_verify(t, sizeof(*t) - 1, VERIFY_HEAD, &why), PFMLIB_ERR_IMAGE);
	assert_int_equal(pfmi_table_verify(t, t->size - 1, VERIFY_HEAD, &why), PFMLIB_ERR_IMAGE);
	assert_int_equal(pfmi_table_verify((const char *)t + 4, t->size, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	t->size -= 4;
	set_fault(t, VERIFY_HEAD, "longer than its file");
	t->size = sizeof(*t) - 8;
	set_fault(t, VERIFY_HEAD, "too short");
	*t = h;
	t->encoder = N_ENCODERS;
	set_fault(t, VERIFY_HEAD, "register layout");
	t->encoder = N_ENCODERS - 1;
	expect_valid(t, VERIFY_HEAD);
	*t = h;
	t->n_slots = 2;
	expect_valid(t, VERIFY_HEAD);
	t->n_slots = 1;
	set_fault(t, VERIFY_HEAD, "index");
	*t = h;
	t->n_names = TABLE_MAX_NAMES - t->n_rows + 1;
	set_fault(t, VERIFY_HEAD, "more fields or names");
	*t = h;
	t->n_fields = TABLE_MAX_FIELDS + 1;
	set_fault(t, VERIFY_HEAD, "more fields or names");
	free(t);
}

/* A pool ends in eight zeros, and a string may start only at the first of them. */
static void strings_of_a_table(void **state)
{
	static const size_t members[] = {
		offsetof(struct table, name),        offsetof(struct table, desc),
		offsetof(struct table, source),      offsetof(struct table, aliases),
		offsetof(struct table, vendor_unit), offsetof(struct table, device),
		offsetof(struct table, family_name)
	};
	struct table *t = make_table();
	char *pool = (char *)t + t->pool;

	(void)state;
	for (size_t i = 0; i < COUNT(members); i++) {
		uint32_t *at = (uint32_t *)(void *)((char *)t + members[i]);

		*at = t->n_pool - POOL_PAD;
		expect_valid(t, VERIFY_HEAD);
		++*at;
		set_fault(t, VERIFY_HEAD, "outside the pool");
		*at = 0;
	}
	for (unsigned i = 1; i <= POOL_PAD; i++) {
		pool[t->n_pool - i] = 'x';
		set_fault(t, VERIFY_HEAD, "not terminated");
		pool[t->n_pool - i] = '\0';
	}
	pool[0] = 'x';
	set_fault(t, VERIFY_HEAD, "not terminated");
	pool[0] = '\0';
	t->n_pool = POOL_PAD - 1;
	set_fault(t, VERIFY_HEAD, "string pool");
	free(t);
}

static void set_field_bits(struct field *f, unsigned lsb, unsigned width)
{
	f->ranges[0].lsb = (uint8_t)lsb;
	f->ranges[0].width = (uint8_t)width;
}

static void fields_of_a_table(void **state)
{
	struct table *t = make_table();
	struct field *f = (struct field *)(void *)((char *)t + t->fields), code = f[0], wide = f[1];

	(void)state;
	set_field_bits(f, 56, 8);
	expect_valid(t, VERIFY_ALL);
	set_field_bits(f, 57, 8);
	set_fault(t, VERIFY_ALL, "out of range");
	set_field_bits(f, 0, 7);
	set_fault(t, VERIFY_ALL, "wider than its bits");
	set_field_bits(f, 0, 0);
	set_fault(t, VERIFY_ALL, "out of range");
	f[0] = code;
	f->ranges[0].config_word = 4;
	expect_valid(t, VERIFY_ALL);
	f->ranges[0].config_word = 5;
	set_fault(t, VERIFY_ALL, "out of range");
	f[0] = code;
	f->n_ranges = 4;
	f->ranges[1] = f->ranges[2] = f->ranges[3] = f->ranges[0];
	expect_valid(t, VERIFY_ALL);
	f->n_ranges = 5;
	set_fault(t, VERIFY_ALL, "malformed");
	f[0] = code;
	f->width = 0;
	set_fault(t, VERIFY_ALL, "malformed");
	f->width = 7; /* its rows have 0xff */
	set_fault(t, VERIFY_ALL, "wider than its field");
	f[0] = code;
	f->key = KEY_UMASK; /* the table declares it the code */
	set_fault(t, VERIFY_ALL, "its key");
	f->key = N_KEYS;
	set_fault(t, VERIFY_ALL, "malformed");
	f[0] = code;
	f[1].n_ranges = 0;
	f[1].width = 65;
	set_fault(t, VERIFY_ALL, "malformed");
	f[1] = wide;
	f[1].kind = FIELD_TEXT + 1;
	set_fault(t, VERIFY_ALL, "malformed");
	f[1] = wide;
	f[1].key = KEY_UNIT; /* a number where texts are expected, though lookups by key find
	                        another field */
	set_fault(t, VERIFY_ALL, "its key");
	free(t);
}

static void rows_of_a_table(void **state)
{
	struct table *t = make_table();
	struct row *r = (struct row *)(void *)((char *)t + t->rows), before = r[2];
	uint32_t *v = (uint32_t *)(void *)((char *)t + t->values) + r[2].first_value,
		 *numbers = (uint32_t *)(void *)((char *)t + t->row_numbers);
	struct wide_value *w = (struct wide_value *)(void *)((char *)t + t->wide_values);
	uint32_t packed = v[1], unit = v[2];

	(void)state;
	r[2].desc = (t->n_pool - POOL_PAD) & ROW_MAX_DESC;
	expect_valid(t, VERIFY_ALL);
	r[2].desc++;
	set_fault(t, VERIFY_ALL, "outside the pool");
	r[2] = before;
	r[2].n_groups = 9;
	set_fault(t, VERIFY_ALL, "malformed");
	r[2].n_groups = 8; /* groups that do not exist */
	set_fault(t, VERIFY_ALL, "group");
	r[2] = before;
	numbers[2] = (t->size - t->rows) / (uint32_t)sizeof(*r);
	set_fault(t, VERIFY_ALL, "out of bounds");
	numbers[2] = 1u << ROW_SOURCES_SHIFT | 2; /* one row of two sources */
	expect_valid(t, VERIFY_ALL);
	r[2].first_value = ((t->size - t->values) / 4 - 2) & ROW_MAX_FIRST_VALUE;
	set_fault(t, VERIFY_ALL, "values are out of bounds");
	r[2] = before;
	v[0] = 3u << 24; /* the table has three fields */
	set_fault(t, VERIFY_ALL, "belongs to no field");
	v[0] = 0x100;
	set_fault(t, VERIFY_ALL, "wider than its field");
	v[0] = 0xff;
	v[1] = 1u << 24 | VALUE_IS_WIDE |
	       (t->size - t->wide_values) / (uint32_t)sizeof(struct wide_value);
	set_fault(t, VERIFY_ALL, "out of bounds");
	v[1] = packed;
	w[2].counter = 63;
	expect_valid(t, VERIFY_ALL);
	w[2].counter = 64;
	set_fault(t, VERIFY_ALL, "no counter");
	w[2].counter = ANY_COUNTER;
	v[2] = (unit & ~(VALUE_IS_WIDE - 1)) | (t->n_pool - POOL_PAD);
	expect_valid(t, VERIFY_ALL);
	v[2]++;
	set_fault(t, VERIFY_ALL, "outside the pool");
	free(t);
}

/* Bits of rows in a table that adds values to those present. */
static void bits_of_a_row(void **state)
{
	static const struct bitrange low[] = { { .width = 8 } };
	static const struct bitrange two[] = { { .lsb = 8, .width = 4 },
		                               { .config_word = 3, .lsb = 63, .width = 1 } },
				     whole[] = { { .config_word = 2, .width = 64 } };
	struct table_builder b;
	struct table *t;
	struct field *f;
	struct wide_value *w;

	(void)state;
	pfmi_table_begin_build(&b);
	pfmi_table_add_field(&b, "low", KEY_CODE, low, 1);
	pfmi_table_add_field(&b, "two", KEY_NONE, two, 2);
	pfmi_table_add_field(&b, "again", KEY_NONE, whole, 1);
	pfmi_table_begin_row(&b, "e", "text", 0);
	pfmi_table_set_row_value(&b, 0, 0xff);
	pfmi_table_set_row_value(&b, 1, 0x1f);
	pfmi_table_set_row_value(&b, 2, UINT64_MAX);
	t = pfmi_table_finish_build(&b);
	assert_non_null(t);
	f = (struct field *)(void *)((char *)t + t->fields);
	w = (struct wide_value *)(void *)((char *)t + t->wide_values);
	f[2].ranges[0].config_word = 0;
	expect_valid(t, VERIFY_ALL); /* the later value replaces the earlier one */
	t->flags &= ~(uint32_t)TABLE_VALUES_OVERRIDE;
	set_fault(t, VERIFY_ALL, "two values for one bit");
	w[0].counter = 2; /* on that counter only */
	expect_valid(t, VERIFY_ALL);
	f[1].ranges[0].lsb = 7;
	set_fault(t, VERIFY_ALL, "two values for one bit");
	f[1].ranges[0].lsb = 8;
	f[1].ranges[1] = (struct bitrange){ .lsb = 7, .width = 1 };
	set_fault(t, VERIFY_ALL, "two values for one bit");
	f[1].ranges[1].config_word = 1;
	expect_valid(t, VERIFY_ALL);
	free(t);
}

static void indexes_of_a_table(void **state)
{
	struct table *t = make_table();
	uint32_t *slots = (uint32_t *)(void *)((char *)t + t->slots);
	unsigned empty = 0;

	(void)state;
	for (uint32_t i = 0; i < t->n_slots; i++)
		empty += slots[i] == 0;
	assert_int_equal(empty, 3);
	for (uint32_t i = 0; i < t->n_slots; i++) {
		uint32_t before = slots[i];

		slots[i] = 4; /* the table has three rows */
		set_fault(t, VERIFY_ALL, "points at no name");
		slots[i] = 0x10000; /* a hash without a row */
		set_fault(t, VERIFY_ALL, "points at no name");
		slots[i] = before;
	}
	for (uint32_t i = 0; i < t->n_slots; i++)
		if (slots[i] == 0) {
			slots[i] = 3;
			if (--empty)
				expect_valid(t, VERIFY_ALL);
		}
	set_fault(t, VERIFY_ALL, "full");
	free(t);
}

/* Control characters at every position of an eight-byte word, also two-byte characters that cross
 * words. */
static void control_characters_are_refused_anywhere(void **state)
{
	static const struct {
		const char *s;
		bool good;
	} rows[] = {
		{ "\001", false },     { "\037", false },     { " ", true },
		{ "~", true },         { "\177", false },     { "\x80", true },
		{ "\xc2\x80", false }, { "\xc2\x9f", false }, { "\xc2\xa0", true },
		{ "\xc2\x7e", true },  { "\xc3\x80", true },  { "\n", false },
	};
	char long_text[64];
	struct table_builder b;
	struct table *t;
	uint32_t at;

	(void)state;
	memset(long_text, 'x', sizeof(long_text));
	pfmi_table_begin_build(&b);
	at = pfmi_table_add_text(&b, long_text, sizeof(long_text));
	t = pfmi_table_finish_build(&b);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned k = 0; k <= sizeof(long_text) - strlen(rows[i].s); k++) {
			char *p = (char *)t + t->pool + at;

			memset(p, 'x', sizeof(long_text));
			memcpy(p + k, rows[i].s, strlen(rows[i].s));
			if (rows[i].good)
				expect_valid(t, VERIFY_ALL);
			else
				set_fault(t, VERIFY_ALL, "control characters");
			expect_valid(t, VERIFY_HEAD); /* VERIFY_HEAD does not look at texts */
		}
	free(t);
}

/* A table whose encoder is made for one processor must have that processor's counters. */
static void processors_that_encoders_know(void **state)
{
	static const struct {
		unsigned encoder;
		int type;
		uint64_t counters;
	} shapes[] = {
		{ ENCODER_MONTECITO, 4, 0xfff0 }, { ENCODER_EV4, 150, 3 }, { ENCODER_EV5, 151, 7 },
		{ ENCODER_EV5, 152, 7 },          { ENCODER_EV6, 153, 3 }, { ENCODER_EV67, 154, 3 },
	};
	struct table *t = make_table();
	uint64_t *set = (uint64_t *)(void *)((char *)t + t->counter_masks);

	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++) {
		t->encoder = (uint16_t)shapes[i].encoder;
		t->libpfm_type = shapes[i].type;
		t->all_counters = shapes[i].counters;
		expect_valid(t, VERIFY_ALL);
		*set = shapes[i].counters;
		expect_valid(t, VERIFY_ALL);
		*set = shapes[i].counters << 1;
		set_fault(t, VERIFY_ALL, "a counter that does not exist");
		*set = 0;
		t->all_counters <<= 1;
		set_fault(t, VERIFY_ALL, "does not support this processor");
		t->all_counters >>= 1;
		t->libpfm_type = shapes[i].encoder == ENCODER_EV5 ? 153 : shapes[i].type + 1;
		set_fault(t, VERIFY_ALL, "does not support this processor");
		t->libpfm_type = shapes[i].encoder == ENCODER_EV5 ? 150 : shapes[i].type - 1;
		set_fault(t, VERIFY_ALL, "does not support this processor");
	}
	free(t);
}

/* Flags that an encoder does not obey: it would use the counter of an event that has none. */
static void flags_that_encoders_do_not_obey(void **state)
{
	static const uint16_t own[N_ENCODERS] = {
		[ENCODER_FORMAT] = ROW_EXCLUSIVE | ROW_FREE_RUNNING, [ENCODER_X86] = ROW_EXCLUSIVE
	};
	static const uint16_t special[] = { ROW_EXCLUSIVE, ROW_FREE_RUNNING, 2048, 0x8000 };

	(void)state;
	for (unsigned e = ENCODER_FORMAT; e < N_ENCODERS; e++) {
		struct table *t = make_table();
		struct row *row = (struct row *)(void *)((char *)t + t->rows);

		if (e == ENCODER_MONTECITO || (e >= ENCODER_EV4 && e <= ENCODER_EV67)) {
			t->libpfm_type = e == ENCODER_MONTECITO ? 4
			                 : e == ENCODER_EV4     ? 150
			                 : e == ENCODER_EV5     ? 151
			                                        : 153 + (int)(e - ENCODER_EV6);
			t->all_counters = e == ENCODER_MONTECITO ? 0xfff0
			                  : e == ENCODER_EV5     ? 7
			                                         : 3;
		}
		t->encoder = (uint16_t)e;
		for (size_t i = 0; i < COUNT(special); i++) {
			row->flags = ROW_DEPRECATED;
			expect_valid(t, VERIFY_ALL);
			row->flags |= special[i];
			if (own[e] & special[i])
				expect_valid(t, VERIFY_ALL);
			else
				set_fault(t, VERIFY_ALL, "flag that its register layout");
		}
		free(t);
	}
}

/* A table with one erratum of two rows after its other arrays; the caller frees it. */
static struct table *make_erratum_table(struct erratum **e, uint16_t **rows)
{
	struct table *small = make_table(),
		     *t = calloc(1, small->size + sizeof(struct erratum) + 2 * sizeof(uint16_t));

	assert_non_null(t);
	memcpy(t, small, small->size);
	t->errata = small->size;
	t->erratum_rows = t->errata + (uint32_t)sizeof(struct erratum);
	t->size = t->erratum_rows + 2 * (uint32_t)sizeof(uint16_t);
	t->n_errata = 1;
	*e = (struct erratum *)(void *)((char *)t + t->errata);
	*rows = (uint16_t *)(void *)((char *)t + t->erratum_rows);
	(*e)->n_rows = 2;
	(*rows)[1] = 1;
	free(small);
	return t;
}

static void errata_of_a_table(void **state)
{
	struct erratum *e, before;
	uint16_t *rows;
	struct table *t = make_erratum_table(&e, &rows);

	(void)state;
	before = *e;
	expect_valid(t, VERIFY_ALL);
	rows[1] = (uint16_t)t->n_rows;
	set_fault(t, VERIFY_ALL, "row that does not exist");
	rows[1] = rows[0];
	set_fault(t, VERIFY_ALL, "row that does not exist");
	rows[1] = 1;
	e->n_rows = 3;
	set_fault(t, VERIFY_ALL, "rows of an erratum are out of bounds");
	*e = before;
	e->effect = t->n_pool;
	set_fault(t, VERIFY_ALL, "outside the pool");
	*e = before;
	e->n_tests = 1;
	e->first_test = t->size;
	set_fault(t, VERIFY_ALL, "tests of a rule are out of bounds");
	*e = before;
	e->n_matches = 1;
	e->first_match = UINT16_MAX;
	set_fault(t, VERIFY_ALL, "machines of an erratum are out of bounds");
	*e = before;
	e->count = PFM_ERRATUM_COUNT_NEAR + 1;
	set_fault(t, VERIFY_ALL, "erratum is malformed");
	*e = before;
	e->instead_plus1 = (uint16_t)(t->n_rows + 1);
	set_fault(t, VERIFY_ALL, "erratum is malformed");
	*e = before;
	t->n_errata = 2;
	set_fault(t, VERIFY_HEAD, "errata out of bounds");
	free(t);
}

/* Bits that this version does not know, of tables and of their parts. */
static void unknown_bits_are_refused(void **state)
{
	struct table *t = make_table();
	struct field *f = (struct field *)(void *)((char *)t + t->fields);

	(void)state;
	expect_valid(t, VERIFY_ALL);
	t->flags |= 128;
	set_fault(t, VERIFY_HEAD, "flags that are unknown");
	t->flags &= ~128u;
	f->is_modifier = 2;
	set_fault(t, VERIFY_ALL, "field is malformed");
	f->is_modifier = 1;
	expect_valid(t, VERIFY_ALL);
	free(t);
}

UNIT(table_verify, cmocka_unit_test(arrays_of_a_table), cmocka_unit_test(errata_of_a_table),
     cmocka_unit_test(strings_of_matches), cmocka_unit_test(damaged_heads_are_refused),
     cmocka_unit_test(strings_of_a_table), cmocka_unit_test(fields_of_a_table),
     cmocka_unit_test(rows_of_a_table), cmocka_unit_test(bits_of_a_row),
     cmocka_unit_test(indexes_of_a_table),
     cmocka_unit_test(control_characters_are_refused_anywhere),
     cmocka_unit_test(processors_that_encoders_know),
     cmocka_unit_test(flags_that_encoders_do_not_obey), cmocka_unit_test(unknown_bits_are_refused));
