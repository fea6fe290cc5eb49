/* SPDX-License-Identifier: MIT */
/* Compiled tables: lookups find every name and nothing else, and a damaged table is refused or
 * harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>
#include "expect.h"
#include "format/format.h"

/* ---- a table made for this test -------------------------------------------------------------- */

/* The image that pmuc.py compiles from tests/pmu/testpmu.pmu. */
static struct {
	char *bytes;
	size_t size;
} image;

static int read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

	if (size <= 0)
		return -1;
	image.bytes = malloc((size_t)size);
	image.size = (size_t)size;
	rewind(f);
	size = fread(image.bytes, 1, image.size, f) == image.size ? 0 : -1;
	fclose(f);
	return (int)size;
}

/* Under an emulator the tests run on another byte order than the compiler of tables. */
#define BYTE_ORDER_NAME (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little")

static int compile_image(void **state)
{
	const char *pmuc = getenv("PERFMON_PMUC"), *tests = getenv("PERFMON_TESTS");
	char path[] = P_tmpdir "/perfmon-table-XXXXXX", command[1024];
	int fd;

	(void)state;
	if (!pmuc || !tests || (fd = mkstemp(path)) < 0)
		return 0;
	close(fd);
	snprintf(command, sizeof(command),
	         "python3 '%s' --byteorder %s --image '%s' '%s/pmu/testpmu.pmu'", pmuc,
	         BYTE_ORDER_NAME, path, tests);
	if (system(command) != 0 || read_file(path))
		image.bytes = NULL;
	unlink(path);
	return 0;
}

static int free_image(void **state)
{
	(void)state;
	free(image.bytes);
	return 0;
}

static const struct table *test_table(void)
{
	if (!image.bytes)
		skip();
	return table_get_image_table((const struct image *)(const void *)image.bytes, 0);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static struct name_entry find_name(const struct table *t, const char *text)
{
	return table_find_name(t, pfmi_table_hash_name(pfmi_base_make_slice(text)), text,
	                       strlen(text));
}

/* Writes another spelling of the same name: other case, added separators, ':' for '.'. */
static void change_spelling(const char *name, char *out, size_t len)
{
	size_t n = 0;

	for (; *name && n + 3 < len; name++) {
		char c = *name;

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 32);
		else if (c >= 'A' && c <= 'Z')
			c = (char)(c + 32);
		else if (c == '.')
			c = ':';
		out[n++] = c;
		if (n % 3 == 0) {
			out[n] = "_- "[n % 9 / 3];
			n++;
		}
	}
	out[n] = '\0';
}

static bool same_name(struct name_entry a, struct name_entry b)
{
	return a.text == b.text && a.row == b.row && a.kind == b.kind;
}

/* Hash of @name up to the first separator that follows a character. */
static uint32_t hash_of_beginning(struct slice name)
{
	uint32_t n = name.len ? 1 : 0;

	while (n < name.len && name.text[n] != ':' && name.text[n] != '.')
		n++;
	name.len = n;
	return pfmi_table_hash_name(name);
}

/* A family's filter accepts every name of its members, also with a separator at the end, and few
 * others. */
static void filters_let_the_names_of_members_pass(void **state)
{
	const struct image *im = table_get_builtin_image();
	const struct pmu_family *families = table_get_image_array(im, ARRAY_FAMILIES);
	unsigned names = 0, others = 0, passed = 0;

	(void)state;
	for (uint32_t w = 0; w < im->arrays[ARRAY_FAMILIES].n_elements; w++)
		for (uint32_t i = 0; i < families[w].n_members; i++) {
			const struct table *t = table_get_image_table(
				im, table_get_family_members(im, &families[w])[i]);

			for (uint32_t k = 0; k < table_count_names(t); k++, names++) {
				struct slice name = pfmi_base_make_slice(
					table_get_text(t, table_get_name(t, k).text));
				uint32_t h = pfmi_table_hash_name(name);

				assert_true(table_can_family_have_name(im, &families[w], h));
				assert_true(table_can_family_have_name(im, &families[w],
				                                       hash_of_beginning(name)));
				others++;
				passed += table_can_family_have_name(im, &families[w],
				                                     table_hash_char(h, '~'));
				name.len--;
				if (name.text[name.len] == ':' || name.text[name.len] == '.')
					assert_true(table_can_family_have_name(
						im, &families[w], pfmi_table_hash_name(name)));
			}
		}
	assert_true(names > 10000 && passed < others / 20);
}

/* The filter also accepts the first part of each name in a table that shares a family's name, and
 * few other first parts. */
static void filters_let_the_beginnings_of_names_pass(void **state)
{
	const struct image *im = table_get_builtin_image();
	const struct pmu_family *families = table_get_image_array(im, ARRAY_FAMILIES);
	unsigned tables = 0, others = 0, passed = 0;

	(void)state;
	for (uint32_t i = 0; i < im->n_tables; i++) {
		const struct table *t = table_get_image_table(im, i);
		const struct pmu_family *w =
			t->family_plus1 ? &families[t->family_plus1 - 1] : NULL;

		tables += w != NULL;
		for (uint32_t k = 0; w && k < table_count_names(t); k++, others++) {
			uint32_t h = hash_of_beginning(
				pfmi_base_make_slice(table_get_text(t, table_get_name(t, k).text)));

			assert_true(table_can_family_have_name(im, w, h));
			passed += table_can_family_have_name(im, w, table_hash_char(h, '~'));
		}
	}
	assert_true(tables > 20 && others > 10000 && passed < others / 20);
}

static void every_name_of_every_built_in_table_is_found(void **state)
{
	char other[512];
	unsigned names = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t k = 0; k < table_count_names(t); k++) {
			struct name_entry n = table_get_name(t, k);

			if (n.kind == NAME_NONE)
				continue;
			assert_true(same_name(find_name(t, table_get_text(t, n.text)), n));
			change_spelling(table_get_text(t, n.text), other, sizeof(other));
			assert_true(same_name(find_name(t, other), n));
			names++;
		}
		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct name_entry n = find_name(t, table_get_row_name(t, row));

			assert_int_not_equal(n.kind, NAME_NONE);
			if (!(table_get_row(t, row)->flags & ROW_SHADOWED))
				assert_int_equal(n.row, row);
		}
	}
	print_message("# %u names\n", names);
	assert_true(names > 1000);
}

/* Names entered one by one in any order: each is found, the first of equal hashes first, and no
 * lower hash is in the probe sequence. */
static void names_are_entered_in_their_order(void **state)
{
	enum { N = 60, SLOTS = 67 };
	uint32_t slots[SLOTS] = { 0 }, hashes[N], random = 1;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		random = random * 1664525 + 1013904223;
		hashes[i] = i % 4 == 3 ? hashes[i - 1] : random >> 8;
		pfmi_table_insert_name(slots, SLOTS, hashes[i], i + 1);
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = table_get_first_slot(hashes[i], SLOTS), first = 0;

		for (; slots[at] != (hashes[i] << 16 | (i + 1)); at = at + 1 < SLOTS ? at + 1 : 0) {
			assert_true(slots[at] >> 16 >= (uint16_t)hashes[i]);
			if (slots[at] >> 16 == (uint16_t)hashes[i] && !first)
				first = slots[at] & 0xffff;
		}
		assert_int_equal(first, i % 4 == 3 ? i : 0);
	}
}

static void misses_unknown_names(void **state)
{
	static const char *const absent[] = { "",         "x",         "Instr_Re", "Instr_Rets",
		                              "nstr_Ret", "Instr.Ret", "\xff",     "cycles!" };
	const struct table *t = table_get_builtin(0);

	(void)state;
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		EXPECT_ROW_NUMBER(absent[i], find_name(t, absent[i]).kind, NAME_NONE);
}

static void built_in_tables_are_consistent(void **state)
{
	const char *why;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		if (pfmi_table_verify(t, t->size, VERIFY_ALL, &why))
			fail_msg("%s: %s", table_get_text(t, t->name), why);
		assert_null(why);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(
				table_get_text(t, t->name),
				table_get_text(table_get_builtin(k), table_get_builtin(k)->name));
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t find_row(const struct table *t, const char *name)
{
	struct name_entry n = find_name(t, name);

	assert_int_not_equal(n.kind, NAME_NONE);
	return n.row;
}

static void values_of_rows(void **state)
{
	const struct table *t = test_table();

	(void)state;
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CYCLES"), KEY_CODE, ANY_COUNTER),
	                 0x3c);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "clk"), KEY_CODE, 3), 0x3c);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CYCLES"), KEY_MAX, ANY_COUNTER),
	                 1);
	assert_int_equal(
		pfmi_table_get_row_value(t, find_row(t, "bus.traffic"), KEY_MAX, ANY_COUNTER), 7);
	/* A value for one counter and no general value: other counters get the preset. */
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CHOOSY"), KEY_SEL, 0), 1);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CHOOSY"), KEY_SEL, 2), 0xc);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CHOOSY"), KEY_SEL, 1), 0);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CHOOSY_ANYWHERE"), KEY_SEL, 1),
	                 6);
	assert_int_equal(pfmi_table_get_row_value(t, find_row(t, "CHOOSY_ANYWHERE"), KEY_SEL, 2),
	                 5);
	assert_int_equal(
		pfmi_table_get_row_value(t, find_row(t, "CHOOSY_ANYWHERE"), KEY_SEL, ANY_COUNTER),
		5);
	assert_int_equal(
		pfmi_table_get_row_value(t, find_row(t, "CYCLES"), KEY_PRECISE, ANY_COUNTER), 0);
	assert_true(pfmi_table_has_row_value(t, find_row(t, "LAST_ONE"), KEY_CMASK));
	assert_false(pfmi_table_has_row_value(t, find_row(t, "CYCLES"), KEY_CMASK));
	assert_string_equal(pfmi_table_get_row_text(t, find_row(t, "L2_LINES_OUT"), KEY_ERRATA),
	                    "X1, X2");
	assert_string_equal(pfmi_table_get_row_text(t, find_row(t, "BUS:TRAFFIC"), KEY_NOTE),
	                    "Counts \"half\" beats.");
	assert_string_equal(pfmi_table_get_row_text(t, find_row(t, "CYCLES"), KEY_NOTE), "");
	assert_true(table_get_row_counter_mask(t, table_get_row(t, find_row(t, "CYCLES"))) ==
	            0x10000000full);
	assert_true(table_get_row_counter_mask(t, table_get_row(t, find_row(t, "CHOOSY"))) == 0x5);
	assert_int_equal(find_name(t, "WHOLE.THING").row, find_row(t, "CYCLES"));
	assert_int_equal(find_name(t, "NOT_HERE").kind, NAME_UNSUPPORTED);
	assert_string_equal(table_get_text(t, find_name(t, "NOT_HERE").row),
	                    "the invented processor has no such event");
}

static void fields_are_laid_into_their_bits_and_taken_out(void **state)
{
	const struct table *t = test_table();
	const struct field *code = table_get_key_field(t, KEY_CODE);
	uint64_t config[N_CONFIG_WORDS] = { 0 };
	struct event ev;

	(void)state;
	field_insert(code, config, 0xf61);
	assert_true(config[0] == 0xf00000061ull);
	assert_int_equal(pfmi_pmu_extract_field(code, config), 0xf61);
	field_insert(code, config, 0);
	assert_true(config[0] == 0);
	pfmi_pmu_init_event(&ev, t, find_row(t, "LAST_ONE"));
	pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
	assert_true(config[0] == (0x01ull | 0xffull << 24 | 1ull << 23 | 1ull << 18));
	assert_true(config[1] == 0xffff && config[2] == 0xfull << 60 && config[3] == 0);
	pfmi_pmu_init_event(&ev, t, find_row(t, "L2_LINES_IN"));
	pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
	assert_true(config[0] == 0x4c24); /* this core, states m and e */
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Calls every function on a table that passed verification. The results do not matter, only that no
 * call crashes. */
static void use_table(const struct table *t)
{
	static const char *const attributes[] = { ":0x3", ":c=1:e:i:u", ":core=all:state=ms",
		                                  ",core=this,cmask=2,usr", "" };
	char buf[PRINTED_TEXT_SIZE];
	struct event ev;
	unsigned n;

	for (uint32_t i = 0; i < table_count_names(t); i++)
		find_name(t, table_get_text(t, table_get_name(t, i).text));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		struct encode_request req = {
			.table = t, .events = &ev, .n_events = 1, .plm = PFM_PLM0 | PFM_PLM3
		};
		struct placement where;
		struct register_values regs;
		pfm_error_t why = PFM_INIT(why);
		perfmon_attr_t attr;
		struct spec spec;
		uint32_t found;

		for (unsigned key = 0; key < N_KEYS; key++) {
			const struct field *f = table_get_key_field(t, (enum field_key)key);

			pfmi_table_get_row_value(t, i, (enum field_key)key, i % 4);
			if (f && f->kind == FIELD_TEXT)
				assert_true(strlen(pfmi_table_get_row_text(
						    t, i, (enum field_key)key)) < t->n_pool);
		}
		for (unsigned m = 0; m < pfmi_pmu_count_row_umasks(t, i); m++)
			assert_true(strlen(table_get_text(
					    t, pfmi_pmu_get_row_umask(t, i, m, NULL)->name)) <
			            t->n_pool);
		if (!pfmi_pmu_has_encoder(t))
			continue;
		assert_int_equal(pfmi_spec_parse("x", &spec, NULL), PFMLIB_SUCCESS);
		spec.text = attributes[i % 5];
		spec.len = (uint32_t)strlen(spec.text);
		spec.attrs = pfmi_base_make_slice(spec.text);
		if (pfmi_lookup_resolve_attrs(t, i, &spec, &ev, &why))
			pfmi_pmu_init_event(&ev, t, i);
		pfmi_pmu_build_event_attr(&ev, 4, PFM_PLM3, &attr);
		pfmi_pmu_dispatch_set(&req, &where, &regs, &why);
		pfmi_format_print_event(&ev, NULL, (pfm_dialect_t)(i % 4),
		                        pfmi_base_make_slice("cpu"), buf, sizeof(buf), &why);
		if (i == 0)
			pfmi_pmu_decode_config_words(t, (uint64_t[N_CONFIG_WORDS]){ 0x3c }, 1, &ev);
		pfmi_pmu_find_row_by_codes(
			t, &(struct spec_codes){ .n_terms = 2, .code = i, .umask = 1 }, &found);
	}
	pfmi_pmu_get_register_layout(t, "PERFEVTSEL0", &n);
}

/* Distance between tested positions: 1, more under an emulator. */
static size_t get_stride(void)
{
	return getenv("PERFMON_QUICK") ? 7 : 1;
}

/* Flips one byte at a time: each, or every @step-th. */
static void flip_bytes(const char *original, size_t size, size_t step, unsigned *accepted,
                       unsigned *refused)
{
	static const unsigned char masks[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255 };
	char *copy = malloc(
		size); /* exactly the size, so that a sanitizer detects a read of one byte more */
	/* Verification reads all strings of the table. Where that is slow, three of nine masks are
	 * tried. */
	unsigned few = get_stride() > 1 && size > 65536 ? 4 : 1;
	const char *why;

	memcpy(copy, original, size);
	for (size_t at = 0; at < size; at += step)
		for (unsigned m = 0; m < sizeof(masks); m += few) {
			copy[at] = (char)(original[at] ^ masks[m]);
			if (pfmi_table_verify(copy, size, VERIFY_ALL, &why)) {
				assert_non_null(why);
				++*refused;
			} else {
				use_table((const struct table *)(const void *)copy);
				++*accepted;
			}
			copy[at] = original[at];
		}
	free(copy);
}

static void one_wrong_byte_is_refused_or_harmless(void **state)
{
	const struct table *t = test_table();
	unsigned accepted = 0, refused = 0;

	(void)state;
	use_table(t);
	flip_bytes((const char *)t, t->size, get_stride(), &accepted, &refused);
	print_message("# testpmu, %u bytes: %u refused, %u harmless\n", (unsigned)t->size, refused,
	              accepted);
	assert_true(refused > 0);
}

static void one_wrong_byte_in_a_built_in_table_is_refused_or_harmless(void **state)
{
	unsigned accepted = 0, refused = 0;

	(void)state;
	/* A sample of the hundreds of tables that are made alike. */
	for (unsigned i = 0; i < table_count_builtins(); i += 1 + i / 16 * 8) {
		const struct table *t = table_get_builtin(i);

		/* About equal work for each table: large tables have more rows to use, too. */
		flip_bytes((const char *)t, t->size,
		           t->size < 4096 ? 1 : t->size * get_stride() / 61 | 1, &accepted,
		           &refused);
	}
	print_message("# %u refused, %u harmless\n", refused, accepted);
	assert_true(refused > 0);
}

/* Replaces words of the head and counts by values that are likely to do harm. */
static void nasty_numbers_in_the_head(void **state)
{
	static const uint32_t nasty[] = {
		0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff
	};
	const struct table *t = test_table();
	const char *why;
	char *copy = malloc(t->size);

	(void)state;
	memcpy(copy, t, t->size);
	for (size_t at = 0; at < sizeof(*t); at += 4)
		for (unsigned i = 0; i < sizeof(nasty) / sizeof(nasty[0]); i++) {
			memcpy(copy + at, &nasty[i], 4);
			if (pfmi_table_verify(copy, t->size, VERIFY_ALL, &why) == PFMLIB_SUCCESS)
				use_table((const struct table *)(const void *)copy);
			memcpy(copy + at, (const char *)t + at, 4);
		}
	free(copy);
}

/* ---- each possible fault, once --------------------------------------------------------------- */

/* The table at @t is a writable copy. Arguments are indexes of its rows, groups and fields, of the
 * values of the first row and of the words of the first group. */
static struct field *field_at(struct table *t, unsigned i)
{
	return (struct field *)(void *)((char *)t + t->fields) + i;
}

static struct row *row_at(struct table *t, unsigned i)
{
	return (struct row *)(void *)((char *)t + t->rows) +
	       (table_row_numbers(t)[i] & ROW_NUMBER_MASK);
}
static struct stored_name *name_at(struct table *t, unsigned i)
{
	return (struct stored_name *)(void *)((char *)t + t->names) + i;
}
static uint32_t *slot_at(struct table *t, unsigned i)
{
	return (uint32_t *)(void *)((char *)t + t->slots) + i;
}
static uint32_t *value_at(struct table *t, unsigned i)
{
	return (uint32_t *)(void *)((char *)t + t->values) + row_at(t, 0)->first_value + i;
}
static struct umask_group *group_at(struct table *t, unsigned i)
{
	return (struct umask_group *)(void *)((char *)t + t->groups) + table_group_numbers(t)[i];
}
static struct named_value *word_at(struct table *t, unsigned i)
{
	return (struct named_value *)(void *)((char *)t + t->named_values) +
	       group_at(t, 0)->first_named_value + i;
}
static struct counter_range *counter_at(struct table *t, unsigned i)
{
	return (struct counter_range *)(void *)((char *)t + t->counters) + i;
}

static void no_magic(struct table *t)
{
	t->magic++;
}
static void too_long(struct table *t)
{
	t->size += 8;
}
static void no_encoder(struct table *t)
{
	t->encoder = N_ENCODERS;
}
static void no_end(struct table *t)
{
	((char *)t)[t->pool + t->n_pool - 1] = 'x';
}
static void small_index(struct table *t)
{
	t->n_slots = 1;
}
static void key_of_nothing(struct table *t)
{
	((uint8_t *)t)[t->keys + KEY_CODE] = (uint8_t)(t->n_fields + 1);
}
static void key_of_another(struct table *t)
{
	((uint8_t *)t)[t->keys + KEY_CODE] = ((uint8_t *)t)[t->keys + KEY_UMASK];
}
static void many_rows(struct table *t)
{
	t->n_rows = 0xff00;
}
static void odd_rows(struct table *t)
{
	t->rows += 2;
}
static void no_name(struct table *t)
{
	t->name = t->n_pool;
}
static void name_in_the_padding(struct table *t)
{
	t->name = t->n_pool - 2;
}
static void wide_field(struct table *t)
{
	field_at(t, 0)->width = 65;
}
static void field_beyond(struct table *t)
{
	field_at(t, 0)->ranges[0].lsb = 60;
}
/* One bit past the last. */
static void field_just_beyond(struct table *t)
{
	struct bitrange *r = &field_at(t, 0)->ranges[0];

	r->lsb = (uint8_t)(65 - r->width);
}
static void narrow_bits(struct table *t)
{
	field_at(t, 1)->ranges[0].width = 7;
}
static void many_takes(struct table *t)
{
	row_at(t, 2)->n_groups = 9;
}
static void row_without_values(struct table *t)
{
	row_at(t, 0)->first_value = t->size & ROW_MAX_FIRST_VALUE;
}
static void no_such_group(struct table *t)
{
	((uint32_t *)(void *)((char *)t + t->row_groups))[0] = t->size;
}
static void no_such_field(struct table *t)
{
	*value_at(t, 0) = (uint32_t)t->n_fields << 24;
}
static void no_such_counter(struct table *t)
{
	((struct wide_value *)(void *)((char *)t + t->wide_values))->counter = 64;
}
static void wide_value(struct table *t)
{
	*value_at(t, 0) = (*value_at(t, 0) & 0xff000000) | 1 << 12;
}
static void group_of_nothing(struct table *t)
{
	group_at(t, 0)->field = (uint16_t)t->n_fields;
}
static void group_of_many(struct table *t)
{
	group_at(t, 0)->n_named_values = UINT16_MAX;
}
static void word_of_nothing(struct table *t)
{
	word_at(t, 0)->name = t->n_pool;
}
static void counters_beyond(struct table *t)
{
	counter_at(t, 0)->last = 32;
}
static void counters_backwards(struct table *t)
{
	counter_at(t, 0)->first = 3;
}
static void name_of_nothing(struct table *t)
{
	name_at(t, 0)->target = t->n_rows;
}
static void code_index_past_last_row(struct table *t)
{
	((uint16_t *)(void *)((char *)t + t->code_index))[0] = (uint16_t)(t->n_rows + 1);
}
static void code_index_past_row_bits(struct table *t)
{
	((uint16_t *)(void *)((char *)t + t->code_index))[0] =
		(uint16_t)(1u << table_count_code_index_bits(t));
}
static void rows_again_and_again(struct table *t)
{
	t->n_code_index = t->size;
	t->code_index = sizeof(*t);
}
static void slot_of_nothing(struct table *t)
{
	*slot_at(t, 0) = table_count_names(t) + 1;
}
static void another_processors(struct table *t)
{
	t->encoder = ENCODER_EV5;
}

/* A field other than the one that lookups by this key find. */
static void number_as_text(struct table *t)
{
	for (unsigned i = 0; i < t->n_fields; i++)
		if (field_at(t, i)->kind == FIELD_NUMBER && field_at(t, i)->key == KEY_NONE)
			field_at(t, i)->key = KEY_DETAIL;
}

static void set_text(struct table *t, const char *text)
{
	memcpy((char *)t + t->pool + t->desc + 3, text, strlen(text));
}
static void set_escape(struct table *t)
{
	set_text(t, "\033");
}
static void set_newline(struct table *t)
{
	set_text(t, "\n");
}
static void set_delete(struct table *t)
{
	set_text(t, "\177");
}
static void escape_of_eight_bits(struct table *t)
{
	set_text(t, "\xc2\x9b");
}
static void full_index(struct table *t)
{
	for (uint32_t i = 0; i < t->n_slots; i++)
		*slot_at(t, i) = 1;
}

static void each_fault_has_its_reason(void **state)
{
	static const struct {
		void (*damage)(struct table *);
		const char *why;
	} faults[] = {
		{ no_magic, "not an event table" },
		{ too_long, "the table is longer than its file" },
		{ no_encoder, "the register layout is unknown to this version" },
		{ no_end, "the string pool is not terminated" },
		{ small_index, "the index has a wrong size" },
		{ full_index, "the index is full" },
		{ key_of_nothing, "a field number is out of range" },
		{ key_of_another, "a field does not have the type of its key" },
		{ many_rows, "rows out of bounds" },
		{ odd_rows, "rows out of bounds" },
		{ no_name, "a string is outside the pool" },
		{ name_in_the_padding, "a string is outside the pool" },
		{ wide_field, "a field is malformed" },
		{ field_beyond, "a field's bits are out of range" },
		{ field_just_beyond, "a field's bits are out of range" },
		{ narrow_bits, "a field is wider than its bits" },
		{ many_takes, "a row is malformed" },
		{ row_without_values, "a row's values are out of bounds" },
		{ no_such_group, "a row has a unit mask group that does not exist" },
		{ no_such_field, "a value belongs to no field" },
		{ no_such_counter, "a value belongs to no counter" },
		{ wide_value, "a value is wider than its field" },
		{ group_of_nothing, "a group is malformed" },
		{ group_of_many, "a group's named values are out of bounds" },
		{ word_of_nothing, "a string is outside the pool" },
		{ counters_beyond, "a counter is out of range" },
		{ counters_backwards, "a counter is out of range" },
		{ name_of_nothing, "a name leads to no row" },
		{ code_index_past_last_row, "the index of codes points at no row" },
		{ code_index_past_row_bits, "the index of codes points at no row" },
		{ rows_again_and_again, "index of codes out of bounds" },
		{ slot_of_nothing, "the index points at no name" },
		{ another_processors, "the register layout does not support this processor" },
		{ number_as_text, "a field does not have the type of its key" },
		{ set_escape, "a string has control characters" },
		{ set_newline, "a string has control characters" },
		{ set_delete, "a string has control characters" },
		{ escape_of_eight_bits, "a string has control characters" },
	};
	const struct table *t = test_table();
	struct table *copy = malloc(t->size);
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		memcpy(copy, t, t->size);
		faults[i].damage(copy);
		if (pfmi_table_verify(copy, t->size, VERIFY_ALL, &why) != PFMLIB_ERR_IMAGE)
			fail_msg("accepted, though %s", faults[i].why);
		assert_string_equal(why, faults[i].why);
	}
	free(copy);
}

static void a_table_cut_short_is_refused(void **state)
{
	const struct table *t = test_table();
	const char *why;

	(void)state;
	for (size_t size = 0; size < t->size; size += get_stride()) {
		char *copy = malloc(size ? size : 1);

		memcpy(copy, t, size);
		assert_int_equal(pfmi_table_verify(copy, size, VERIFY_ALL, &why), PFMLIB_ERR_IMAGE);
		assert_non_null(why);
		free(copy);
	}
}

static void refuses_image_with_any_wrong_byte_after_its_head(void **state)
{
	char *copy = malloc(image.size);
	const char *why;

	(void)state;
	test_table();
	memcpy(copy, image.bytes, image.size);
	assert_int_equal(pfmi_table_verify_image(copy, image.size, VERIFY_ALL, &why),
	                 PFMLIB_SUCCESS);
	for (size_t at = offsetof(struct image, arrays); at < image.size; at += get_stride())
		for (unsigned bit = 0; bit < 8; bit++) {
			copy[at] = (char)(image.bytes[at] ^ 1 << bit);
			assert_int_equal(
				pfmi_table_verify_image(copy, image.size, VERIFY_ALL, &why),
				PFMLIB_ERR_IMAGE);
			copy[at] = image.bytes[at];
		}
	free(copy);
}

static void the_head_of_an_image(void **state)
{
	struct {
		size_t at;
		const char *why;
	} lines[] = {
		{ offsetof(struct image, magic), "not an image of event tables" },
		{ offsetof(struct image, version),
		  "written by another version: import the lists again" },
		{ offsetof(struct image, size), "truncated or extended" },
		{ offsetof(struct image, arrays), "the directory of tables is out of bounds" },
	};
	char *copy = malloc(image.size);
	struct image *im = (struct image *)(void *)copy;
	const char *why;

	(void)state;
	test_table();
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		memcpy(copy, image.bytes, image.size);
		copy[lines[i].at] = (char)(copy[lines[i].at] ^ 1);
		assert_int_equal(pfmi_table_verify_image(copy, image.size, VERIFY_HEAD, &why),
		                 PFMLIB_ERR_IMAGE);
		assert_string_equal(why, lines[i].why);
	}
	memcpy(copy, image.bytes, image.size);
	im->magic = __builtin_bswap32(im->magic);
	assert_int_equal(pfmi_table_verify_image(copy, image.size, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	assert_non_null(strstr(why, "byte order"));
	assert_int_equal(pfmi_table_verify_image(copy, sizeof(struct image) - 1, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	free(copy);
}

static void refuses_missing_parts_of_a_table(void **state)
{
	const struct image *im = table_get_builtin_image();
	char *copy = malloc((size_t)im->size);
	uint32_t parts = im->arrays[ARRAY_FAMILIES].n_elements + 1;
	const char *why;

	(void)state;
	memcpy(copy, im, (size_t)im->size);
	memcpy(copy + im->arrays[ARRAY_TABLES].offset + offsetof(struct table, family_plus1),
	       &parts, sizeof(parts));
	assert_int_equal(pfmi_table_verify_image(copy, (size_t)im->size, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	assert_string_equal(why, "the members of a PMU family are out of bounds");
	free(copy);
}

static void wholes_out_of_bounds(void **state)
{
	const struct image *im = table_get_builtin_image();
	const struct {
		size_t at;
		uint32_t value;
	} lines[] = {
		{ offsetof(struct pmu_family, name), im->arrays[ARRAY_POOL].n_elements },
		{ offsetof(struct pmu_family, first_member),
		  im->arrays[ARRAY_FAMILY_MEMBERS].n_elements + 1 },
		{ offsetof(struct pmu_family, n_members),
		  im->arrays[ARRAY_FAMILY_MEMBERS].n_elements + 1 },
		{ offsetof(struct pmu_family, first_filter_word),
		  im->arrays[ARRAY_NAME_FILTERS].n_elements },
		{ offsetof(struct pmu_family, n_filter_words),
		  im->arrays[ARRAY_NAME_FILTERS].n_elements + 1 },
		{ offsetof(struct pmu_family, n_filter_words), 0xffffffffu },
		{ offsetof(struct pmu_family, n_filter_words), 0 },
	};
	char *copy = malloc((size_t)im->size);
	const char *why;

	(void)state;
	assert_true(im->arrays[ARRAY_FAMILIES].n_elements > 0);
	memcpy(copy, im, (size_t)im->size);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *member = copy + im->arrays[ARRAY_FAMILIES].offset + lines[i].at;
		uint32_t was;

		memcpy(&was, member, sizeof(was));
		memcpy(member, &lines[i].value, sizeof(was));
		assert_int_equal(pfmi_table_verify_image(copy, (size_t)im->size, VERIFY_HEAD, &why),
		                 PFMLIB_ERR_IMAGE);
		assert_string_equal(why, "the members of a PMU family are out of bounds");
		memcpy(member, &was, sizeof(was));
		assert_int_equal(pfmi_table_verify_image(copy, (size_t)im->size, VERIFY_HEAD, &why),
		                 PFMLIB_SUCCESS);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_tables_are_consistent),
		cmocka_unit_test(every_name_of_every_built_in_table_is_found),
		cmocka_unit_test(filters_let_the_names_of_members_pass),
		cmocka_unit_test(filters_let_the_beginnings_of_names_pass),
		cmocka_unit_test(names_are_entered_in_their_order),
		cmocka_unit_test(misses_unknown_names),
		cmocka_unit_test(values_of_rows),
		cmocka_unit_test(fields_are_laid_into_their_bits_and_taken_out),
		cmocka_unit_test(one_wrong_byte_is_refused_or_harmless),
		cmocka_unit_test(one_wrong_byte_in_a_built_in_table_is_refused_or_harmless),
		cmocka_unit_test(nasty_numbers_in_the_head),
		cmocka_unit_test(each_fault_has_its_reason),
		cmocka_unit_test(a_table_cut_short_is_refused),
		cmocka_unit_test(refuses_image_with_any_wrong_byte_after_its_head),
		cmocka_unit_test(the_head_of_an_image),
		cmocka_unit_test(wholes_out_of_bounds),
		cmocka_unit_test(refuses_missing_parts_of_a_table),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, compile_image, free_image);
}
