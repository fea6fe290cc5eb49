/* SPDX-License-Identifier: MIT */
/* One PMU of sysfs as a table, file by file: which bits a format names, what the terms of an event
 * come to, which files belong to another one. What cannot be understood is left out, and nothing of
 * it stays. */
#include "units.h"
#include "fake_sys.h"
#include "machine/machine_internal.h"
#include "pmu/pmu.h"

static struct fake fake;
static struct table *table;

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(table);
	table = NULL;
	fake_end(&fake);
	return 0;
}

static void put(const char *file, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), EVENT_SOURCE_DIR "/p/%s", file);
	fake_file(&fake, path, text);
}

static void look(void)
{
	struct memory_arena scrap = { 0 };
	struct sysfs_reader *r = calloc(1, sizeof(*r));
	struct table_builder b;
	const char *why;

	assert_non_null(r);
	r->sys = &fake.sys;
	r->scratch_memory = &scrap;
	pfmi_table_begin_build(&b);
	pfmi_machine_build_pmu_table(r, &b, "p");
	free(table);
	table = pfmi_table_finish_build(&b);
	pfmi_machine_arena_free(&scrap);
	free(r);
	assert_non_null(table);
	assert_int_equal(pfmi_table_verify(table, table->size, VERIFY_ALL, &why), PFMLIB_SUCCESS);
	assert_int_equal(fake.n_open, 0);
}

static const struct field *field(const char *name)
{
	for (unsigned i = 0; i < table->n_fields; i++)
		if (strcmp(table_get_text(table, table_fields(table)[i].name), name) == 0)
			return &table_fields(table)[i];
	return NULL;
}

static int row(const char *name)
{
	for (uint32_t i = 0; i < table->n_rows; i++)
		if (strcmp(table_get_row_name(table, i), name) == 0)
			return (int)i;
	return -1;
}

/* Word @word of event @name, which is there. */
static uint64_t config(const char *name, unsigned word)
{
	struct event ev;
	uint64_t words[N_CONFIG_WORDS];

	assert_true(row(name) >= 0);
	pfmi_pmu_init_event(&ev, table, (uint32_t)row(name));
	pfmi_pmu_build_config_words(&ev, ANY_COUNTER, words);
	return words[word];
}

static const char *text(const char *name, enum field_key key)
{
	assert_true(row(name) >= 0);
	return pfmi_table_get_row_text(table, (uint32_t)row(name), key);
}

static const struct feature *feature(const char *name)
{
	for (unsigned i = 0; i < table->n_features; i++)
		if (strcmp(table_get_text(table, table_features(table)[i].name), name) == 0)
			return &table_features(table)[i];
	return NULL;
}

/* Every place a format can name, as the bits that all ones go to. */
static void formats_name_the_bits_of_a_field(void **state)
{
	static const struct {
		const char *format;
		unsigned width, word;
		uint64_t bits; /* 0: no format */
	} rows[] = {
		{ "config:0-7", 8, 0, 0xff },
		{ "config:63", 1, 0, (uint64_t)1 << 63 },
		{ "config:0-63", 64, 0, UINT64_MAX },
		{ "config1:0", 1, 1, 1 },
		{ "config2:4-5", 2, 2, 0x30 },
		{ "config3:8-11", 4, 3, 0xf00 },
		{ "config4:0-63", 64, 4, UINT64_MAX },
		{ "config:0-7,32-35", 12, 0, 0xf000000ff },
		{ "config:0-7,8-15", 16, 0, 0xffff },
		{ "config:0,2,4,6", 4, 0, 0x55 },
		{ "config:0-1,4-5,8-9,60-63", 10, 0, 0xf000000000000333 },
		{ "config:0,2,4,6,8", 0, 0, 0 },
		{ "config:0-64", 0, 0, 0 },
		{ "config:64", 0, 0, 0 },
		{ "config0:0", 0, 0, 0 },
		{ "config5:0", 0, 0, 0 },
		{ "config11:0", 0, 0, 0 },
		{ "config", 0, 0, 0 },
		{ "config:", 0, 0, 0 },
		{ "config 0", 0, 0, 0 },
		{ "config:1-", 0, 0, 0 },
		{ "config:0,", 0, 0, 0 },
		{ "confi:0", 0, 0, 0 },
		{ "xconfig:0", 0, 0, 0 },
		{ "config:0 ", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t words[N_CONFIG_WORDS] = { 0 };
		const struct field *f;

		put("format/x", rows[i].format);
		look();
		f = field("x");
		if (!f != !rows[i].bits)
			fail_msg("%s is %s format", rows[i].format, f ? "a" : "no");
		if (!f)
			continue;
		assert_int_equal(f->width, rows[i].width);
		field_insert(f, words, f->max);
		for (unsigned k = 0; k < 4; k++)
			assert_true(words[k] == (k == rows[i].word ? rows[i].bits : 0));
	}
}

/* Adjacent bits are one range. A list is a set of bits, as in perf (pmu_format_value() of
 * tools/perf/util/pmu.c): the lowest bit of a value is in the lowest bit of the set. */
static void ranges_in_their_order(void **state)
{
	uint64_t words[N_CONFIG_WORDS] = { 0 };

	(void)state;
	put("format/x", "config:8-11,0-3");
	put("format/y", "config:0-3,4-7,16,17");
	put("format/z", "config1:8-15,0-7");
	look();
	field_insert(field("x"), words, 0x12);
	assert_true(words[0] == 0x102);
	assert_int_equal(field("x")->n_ranges, 2);
	assert_int_equal(field("y")->n_ranges, 2);
	assert_int_equal(field("y")->ranges[1].lsb, 16);
	assert_int_equal(field("y")->ranges[1].width, 2);
	field_insert(field("z"), words, 0x1234);
	assert_true(words[1] == 0x1234);
}

/* Whole words can be given for every PMU; one that has them itself has its own. */
static void whole_words_are_fields_of_every_pmu(void **state)
{
	static const char names[][8] = { "config", "config1", "config2", "config3", "config4" };

	(void)state;
	look();
	assert_int_equal(table->n_fields, 4 + 4);
	for (unsigned i = 0; i < 5; i++) {
		const struct field *f = field(names[i]);

		assert_non_null(f);
		assert_int_equal(f->width, 64);
		assert_int_equal(f->n_ranges, 1);
		assert_int_equal(f->ranges[0].config_word, i);
	}
	assert_int_equal(field("config")->key, KEY_CONFIG);
	assert_int_equal(field("config1")->key, KEY_NONE);
	put("format/config1", "config1:0-31");
	look();
	assert_int_equal(table->n_fields, 4 + 4);
	assert_int_equal(field("config1")->width, 32);
}

/* The fields that C code uses have a key. */
static void fields_that_are_known(void **state)
{
	static const struct {
		const char *file;
		enum field_key key;
	} known[] = {
		{ "event", KEY_CODE },
		{ "umask", KEY_UMASK },
		{ "cmask", KEY_CMASK },
		{ "inv", KEY_INV },
		{ "edge", KEY_EDGE },
		{ "any", KEY_ANY },
		{ "pc", KEY_PC },
		{ "in_tx", KEY_IN_TX },
		{ "in_tx_cp", KEY_IN_TX_CP },
		{ "eq", KEY_EQ },
		{ "ldlat", KEY_LDLAT },
		{ "frontend", KEY_FRONTEND },
		{ "offcore_rsp", KEY_OFFCORE },
		{ "snoop_rsp", KEY_OFFCORE1 },
		{ "events", KEY_NONE },
		{ "code", KEY_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		char path[64], where[32];

		snprintf(path, sizeof(path), "format/%s", known[i].file);
		snprintf(where, sizeof(where), "config:%zu", i);
		put(path, where);
	}
	look();
	for (size_t i = 0; i < COUNT(known); i++)
		assert_int_equal(field(known[i].file)->key, known[i].key);
}

static void too_many_formats(void **state)
{
	char path[64];

	(void)state;
	for (unsigned i = 0; i < MAX_FORMAT_FIELDS + 1; i++) {
		snprintf(path, sizeof(path), "format/f%03u", i);
		put(path, "config:0-7");
	}
	look();
	assert_non_null(field("f199"));
	assert_null(field("f200"));
	assert_non_null(field("config3"));
	/* Names of 63 letters, not of 64. */
	end(NULL);
	begin(NULL);
	put("format/a23456789012345678901234567890123456789012345678901234567890123", "config:0");
	put("format/b234567890123456789012345678901234567890123456789012345678901234", "config:1");
	look();
	assert_int_equal(table->n_fields, 1 + 4 + 4);
}

static void usual_formats(void)
{
	put("format/event", "config:0-7");
	put("format/umask", "config:8-15");
	put("format/inv", "config:23");
	put("format/chip", "config1:0-15");
	put("format/vcpu", "config1:16-31");
	put("format/wide", "config2:0-63");
}

static void terms_of_an_event_set_its_words(void **state)
{
	static const struct {
		const char *name, *terms;
		uint64_t config[3];
	} good[] = {
		{ "plain", "event=0x3c", { 0x3c } },
		/* perf has no octal numbers: its lexer reads 010 as ten. */
		{ "bases", "event=60,umask=010", { 60 | 10 << 8 } },
		{ "same", "event=0x3c,config=0x3c", { 0x3c } },
		{ "bare", "event=1,inv", { 1 | 1 << 23 } },
		{ "bare-first", "inv,event=2", { 2 | 1 << 23 } },
		{ "zero", "event=0,umask=0", { 0 } },
		{ "most",
		  "event=0xff,chip=0xffff,wide=0xffffffffffffffff",
		  { 0xff, 0xffff, UINT64_MAX } },
		{ "words", "config=0x100,config1=7", { 0x100, 7 } },
		{ "given", "event=4,chip=?", { 4 } },
	};
	static const struct {
		const char *name, *terms;
	} bad[] = {
		{ "b-empty", "" },
		{ "b-unknown", "event=1,what=2" },
		{ "b-prefix", "even=1" },
		{ "b-longer", "events=1" },
		{ "b-wide", "event=0x100" },
		{ "b-chip", "chip=0x10000" },
		{ "b-value", "event=" },
		{ "b-text", "event=1x" },
		{ "b-two", "event=1,inv=2" },
		{ "b-comma", "event=1," },
		{ "b-first", ",event=1" },
		{ "b-mark", "event=?1" },
		{ "b-blank", "event=1, umask=2" },
		{ "b-late", "event=1,umask=2,chip=?,what" },
		{ "b-twice", "event=1,event=2" },
		{ "b-overlap", "event=1,config=0x102" },
		{ "b-octal", "event=0400" },
	};
	char path[64];

	(void)state;
	usual_formats();
	for (size_t i = 0; i < COUNT(good); i++) {
		snprintf(path, sizeof(path), "events/%s", good[i].name);
		put(path, good[i].terms);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		snprintf(path, sizeof(path), "events/%s", bad[i].name);
		put(path, bad[i].terms);
	}
	look();
	for (size_t i = 0; i < COUNT(bad); i++)
		if (row(bad[i].name) >= 0)
			fail_msg("%s: %s is taken", bad[i].name, bad[i].terms);
	assert_int_equal(table->n_rows, COUNT(good));
	for (size_t i = 0; i < COUNT(good); i++)
		for (unsigned k = 0; k < 3; k++)
			if (config(good[i].name, k) != good[i].config[k])
				fail_msg("%s: word %u is 0x%llx", good[i].name, k,
				         (unsigned long long)config(good[i].name, k));
}

/* Parameters that the user must supply are kept by name. An event is omitted if their names do not
 * fit. */
static void parameters_that_the_user_supplies_are_kept_by_name(void **state)
{
	char many[4000] = "", path[80];

	(void)state;
	usual_formats();
	put("events/none", "event=1");
	put("events/one", "event=1,chip=?");
	put("events/two", "vcpu=?,event=1,chip=?");
	for (unsigned i = 0; i < 6; i++) { /* 50 letters each: five and their blanks fit */
		char name[64];

		snprintf(name, sizeof(name), "n%u234567890123456789012345678901234567890123456789",
		         i);
		snprintf(path, sizeof(path), "format/%s", name);
		put(path, "config1:32");
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%s%s=?", i ? "," : "",
		         name);
		snprintf(path, sizeof(path), "events/many%u", i + 1);
		put(path, many);
	}
	look();
	assert_string_equal(text("none", KEY_PARAMS), "");
	assert_string_equal(text("one", KEY_PARAMS), "chip");
	assert_string_equal(text("two", KEY_PARAMS), "vcpu chip");
	assert_int_equal(strlen(text("many5", KEY_PARAMS)), 5 * 50 + 4);
	assert_int_equal(row("many6"), -1);
}

/* Companion files (.scale, .unit, .per-pkg, .snapshot) belong to their event, and are never events
 * themselves. A name that only resembles one is an ordinary event. */
static void companion_files_are_no_events(void **state)
{
	(void)state;
	usual_formats();
	put("events/energy", "event=2");
	put("events/energy.scale", "2.5e-1");
	put("events/energy.unit", "Joules");
	put("events/energy.per-pkg", "1");
	put("events/energy.snapshot", "1");
	put("events/off", "event=3");
	put("events/off.scale", "1,5");
	put("events/off.unit", "MiB");
	put("events/off.per-pkg", "0");
	put("events/off.snapshot", "10");
	put("events/plain", "event=4");
	put("events/lonely.unit", "event=5");
	put("events/.unit", "event=6");
	put("events/x.units", "event=7");
	put("events/broken", "event=999");
	put("events/broken.scale", "3");
	look();
	assert_int_equal(table->n_rows, 5);
	assert_string_equal(text("energy", KEY_SCALE), "2.5e-1");
	assert_string_equal(text("energy", KEY_UNIT), "Joules");
	assert_int_equal(table_get_row(table, (uint32_t)row("energy"))->flags &
	                         (ROW_PER_PKG | ROW_SNAPSHOT),
	                 ROW_PER_PKG | ROW_SNAPSHOT);
	assert_string_equal(text("off", KEY_SCALE), "");
	assert_string_equal(text("off", KEY_UNIT), "");
	assert_int_equal(table_get_row(table, (uint32_t)row("off"))->flags &
	                         (ROW_PER_PKG | ROW_SNAPSHOT),
	                 0);
	assert_string_equal(text("plain", KEY_SCALE), "");
	assert_string_equal(text("plain", KEY_UNIT), "");
	assert_true(config(".unit", 0) == 6 && config("x.units", 0) == 7);
	assert_int_equal(row("lonely.unit"), -1);
}

/* An invalid scale is ignored together with the unit. */
static void a_senseless_scale_is_ignored_with_its_unit(void **state)
{
	static const char *const scales[] = { "0",   "-1",   "1e400", "1e-400", "nan",
		                              "inf", "0x10", "",      "1 2" };

	(void)state;
	usual_formats();
	put("events/bare", "event=1");
	put("events/bare.unit", "Joules");
	put("events/small", "event=1");
	put("events/small.unit", "Joules");
	put("events/small.scale", "2.3283064365386962890625e-10");
	for (unsigned i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "events/s%u", i);
		put(path, "event=2");
		snprintf(path, sizeof(path), "events/s%u.scale", i);
		put(path, scales[i]);
		snprintf(path, sizeof(path), "events/s%u.unit", i);
		put(path, "Joules");
	}
	look();
	assert_string_equal(text("bare", KEY_UNIT), "Joules");
	assert_string_equal(text("small", KEY_UNIT), "Joules");
	assert_string_equal(text("small", KEY_SCALE), "2.3283064365386962890625e-10");
	for (unsigned i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		char name[8];

		snprintf(name, sizeof(name), "s%u", i);
		assert_string_equal(text(name, KEY_SCALE), "");
		assert_string_equal(text(name, KEY_UNIT), "");
	}
}

/* One flag does not bring the other. */
static void one_flag_each(void **state)
{
	(void)state;
	usual_formats();
	put("events/a", "event=1");
	put("events/a.per-pkg", "1");
	put("events/b", "event=1");
	put("events/b.snapshot", "1");
	look();
	assert_int_equal(table_get_row(table, (uint32_t)row("a"))->flags &
	                         (ROW_PER_PKG | ROW_SNAPSHOT),
	                 ROW_PER_PKG);
	assert_int_equal(table_get_row(table, (uint32_t)row("b"))->flags &
	                         (ROW_PER_PKG | ROW_SNAPSHOT),
	                 ROW_SNAPSHOT);
}

static void capabilities_become_features(void **state)
{
	(void)state;
	put("caps/branches", "32");
	put("caps/max_precise", "0x3");
	put("caps/pmu_name", "skylake");
	put("caps/empty", "");
	look();
	assert_true(feature("branches")->value == 32);
	assert_string_equal(table_get_text(table, feature("branches")->text), "");
	assert_true(feature("max_precise")->value == 3);
	assert_string_equal(table_get_text(table, feature("pmu_name")->text), "skylake");
	assert_true(feature("pmu_name")->value == 0);
	assert_non_null(feature("empty"));
	assert_null(feature("identifier"));
	put("identifier", "42");
	look();
	assert_string_equal(table_get_text(table, feature("identifier")->text),
	                    "42"); /* a text, also where it is a number */
	assert_true(feature("identifier")->value == 0);
}

UNIT(machine_kernel_table,
     cmocka_unit_test_setup_teardown(formats_name_the_bits_of_a_field, begin, end),
     cmocka_unit_test_setup_teardown(ranges_in_their_order, begin, end),
     cmocka_unit_test_setup_teardown(whole_words_are_fields_of_every_pmu, begin, end),
     cmocka_unit_test_setup_teardown(fields_that_are_known, begin, end),
     cmocka_unit_test_setup_teardown(too_many_formats, begin, end),
     cmocka_unit_test_setup_teardown(terms_of_an_event_set_its_words, begin, end),
     cmocka_unit_test_setup_teardown(parameters_that_the_user_supplies_are_kept_by_name, begin,
                                     end),
     cmocka_unit_test_setup_teardown(companion_files_are_no_events, begin, end),
     cmocka_unit_test_setup_teardown(a_senseless_scale_is_ignored_with_its_unit, begin, end),
     cmocka_unit_test_setup_teardown(one_flag_each, begin, end),
     cmocka_unit_test_setup_teardown(capabilities_become_features, begin, end));
