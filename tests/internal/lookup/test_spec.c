/* SPDX-License-Identifier: MIT */
/* The first step of the encode path: the places of PMU, name and attributes in a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "expect.h"
#include "lookup/lookup.h"
#include "table/table.h"

static void assert_slice(struct slice s, const char *expected)
{
	assert_int_equal(s.len, strlen(expected));
	assert_memory_equal(s.text, expected, s.len);
}

static uint32_t hash_of(const char *s, size_t n)
{
	uint32_t h = NAME_HASH_SEED;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = table_fold_char((unsigned char)s[i]);

		h = c ? table_hash_char(h, c) : h;
	}
	return h;
}

/* ---- forms ----------------------------------------------------------------------------------- */

struct form {
	const char *text;
	enum spec_form form;
	const char *pmu, *name, *modifiers;
};

static void processor_name_and_modifiers(void **state)
{
	static const struct form forms[] = {
		{ "Instr_Ret", SPEC_NAME, "", "Instr_Ret", "" },
		{ "Instr_Ret,usr,cmask=2", SPEC_NAME, "", "Instr_Ret", "" },
		{ "coreduo::INSTR_RET:u", SPEC_NAME, "coreduo", "INSTR_RET:u", "" },
		{ "a::b::c", SPEC_NAME, "a", "b::c", "" },
		{ "::x", SPEC_NAME, "", "::x", "" },
		{ "", SPEC_NAME, "", "", "" },
		{ ",", SPEC_NAME, "", "", "" },
		{ "cpu/event=0x2e,umask=0x41/u", SPEC_PERF, "cpu", "event=0x2e,umask=0x41", "u" },
		{ "cpu_core/L1D.REPLACEMENT/", SPEC_PERF, "cpu_core", "L1D.REPLACEMENT", "" },
		{ "cpu/event=1/:ukp", SPEC_PERF, "cpu", "event=1", "ukp" },
		{ "a/b/c/d", SPEC_PERF, "a", "b/c", "d" },
		{ "//", SPEC_PERF, "", "", "" },
		/* After "::" a slash is an ordinary character. */
		{ "cpu::a/b", SPEC_NAME, "cpu", "a/b", "" },
		/* The length of a breakpoint is not a term. */
		{ "mem:0x1000/4:rw", SPEC_NAME, "", "mem:0x1000/4:rw", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct spec spec;

		EXPECT_ROW_NUMBER(forms[i].text, pfmi_spec_parse(forms[i].text, &spec, NULL),
		                  PFMLIB_SUCCESS);
		EXPECT_ROW_NUMBER(forms[i].text, spec.form, forms[i].form);
		EXPECT_ROW_NUMBER(forms[i].text, spec.len, strlen(forms[i].text));
		assert_slice(spec.pmu_name, forms[i].pmu);
		assert_slice(spec.name, forms[i].name);
		assert_slice(spec.modifiers, forms[i].modifiers);
	}
}

static void one_slash_is_a_syntax_error_and_is_pointed_at(void **state)
{
	pfm_error_t why = PFM_INIT(why);
	struct spec spec;

	(void)state;
	assert_int_equal(pfmi_spec_parse("cpu/event=1", &spec, &why), PFMLIB_ERR_SYNTAX);
	assert_int_equal(why.kind, PFM_KIND_SYNTAX);
	assert_int_equal(why.start, 3);
	assert_int_equal(why.end, 11);
	assert_int_equal(pfmi_spec_parse("/", &spec, NULL), PFMLIB_ERR_SYNTAX);
}

static void a_text_has_4096_bytes_at_most(void **state)
{
	pfm_error_t why = PFM_INIT(why);
	struct spec spec;
	char *text = malloc(SPEC_MAX_LENGTH + 2);

	(void)state;
	memset(text, 'a', SPEC_MAX_LENGTH + 1);
	text[SPEC_MAX_LENGTH + 1] = '\0';
	assert_int_equal(pfmi_spec_parse(text, &spec, &why), PFMLIB_ERR_SYNTAX);
	assert_int_equal(why.kind, PFM_KIND_SYNTAX);
	text[SPEC_MAX_LENGTH] = '\0';
	assert_int_equal(pfmi_spec_parse(text, &spec, &why), PFMLIB_SUCCESS);
	assert_int_equal(spec.name.len, SPEC_MAX_LENGTH);
	free(text);
}

/* ---- prefixes -------------------------------------------------------------------------------- */

static void a_name_may_end_at_every_separator(void **state)
{
	static const char text[] = "skx::MEM_LOAD.L3:u.k,usr:x";
	static const uint32_t lens[] = { 8, 11, 13, 15 };
	struct spec spec;

	(void)state;
	assert_int_equal(pfmi_spec_parse(text, &spec, NULL), PFMLIB_SUCCESS);
	assert_int_equal(spec.n_prefixes, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(spec.prefixes[i].len, lens[i]);
		assert_int_equal(spec.prefixes[i].hash, hash_of(text + 5, lens[i]));
	}
}

static void the_whole_name_is_the_last_prefix_however_many_there_are(void **state)
{
	char text[64] = "a";
	struct spec spec;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		strcat(text, ":b");
	assert_int_equal(pfmi_spec_parse(text, &spec, NULL), PFMLIB_SUCCESS);
	assert_true(spec.n_prefixes <= SPEC_MAX_PREFIXES);
	assert_int_equal(spec.prefixes[spec.n_prefixes - 1].len, strlen(text));
	assert_int_equal(spec.prefixes[spec.n_prefixes - 1].hash, hash_of(text, strlen(text)));
	assert_int_equal(spec.prefixes[0].len, 1);
}

static void no_name_ends_with_the_value_of_a_letter(void **state)
{
	static const struct {
		const char *text;
		unsigned n_prefixes;
		uint32_t last;
	} texts[] = {
		{ "skx::A.B:c=2", 2, 3 }, { "skx::A:c=2,usr", 1, 1 },
		{ "A.c=", 1, 1 },         { "skx::A.B:cmask=2", 3, 11 },
		{ "skx::A:c", 2, 3 },     { "skx::c=2", 1, 3 },
		{ "A:=2", 2, 4 },         { "A:", 2, 2 },
		{ "A:c=2:B", 3, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct spec spec;

		assert_int_equal(pfmi_spec_parse(texts[i].text, &spec, NULL), PFMLIB_SUCCESS);
		assert_int_equal(spec.n_prefixes, texts[i].n_prefixes);
		assert_int_equal(spec.prefixes[spec.n_prefixes - 1].len, texts[i].last);
	}
}

static void folding_ignores_case_blanks_and_joins(void **state)
{
	static const char *const same[] = { "L2_Rqsts", "l2rqsts", "L2 RQSTS", "l2-rqsts",
		                            "\tL2__rqsts" };
	struct spec spec;
	uint32_t h = hash_of("l2rqsts", 7);

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(pfmi_spec_parse(same[i], &spec, NULL), PFMLIB_SUCCESS);
		assert_int_equal(spec.prefixes[0].hash, h);
	}
	assert_int_equal(hash_of("a:b", 3), hash_of("A.B", 3));
	assert_int_not_equal(hash_of("a:b", 3), hash_of("ab", 2));
}

/* ---- attributes ------------------------------------------------------------------------------ */

struct attr {
	char at;
	const char *name;
	bool has_value;
	const char *value;
};

static void check_attrs(const char *rest, const struct attr *expected, unsigned n)
{
	struct slice s = pfmi_base_make_slice(rest);
	struct spec_attr a;

	for (unsigned i = 0; i < n; i++) {
		assert_true(pfmi_spec_next_attr(&s, &a));
		assert_int_equal(a.separator, expected[i].at);
		assert_slice(a.name, expected[i].name);
		assert_int_equal(a.has_value, expected[i].has_value);
		assert_slice(a.value, expected[i].value);
	}
	assert_false(pfmi_spec_next_attr(&s, &a));
}

static void attributes_one_after_the_other(void **state)
{
	static const struct attr libpmc[] = { { ',', "core", true, "all" },
		                              { ',', "cmask", true, "2" },
		                              { ',', "usr", false, "" } };
	static const struct attr libpfm[] = { { ':', "SELF", false, "" },
		                              { '.', "c", true, "1" },
		                              { ':', "i", false, "" } };
	static const struct attr empty[] = { { ',', "", false, "" },
		                             { ',', "usr", false, "" },
		                             { ',', "", false, "" } };
	static const struct attr odd[] = { { ':', "", true, "5" },
		                           { ':', "a", true, "b=c" },
		                           { ':', "d", true, "" } };
	static const struct attr terms[] = { { '/', "event", true, "0x2e" },
		                             { ',', "name", true, "a.b:c" },
		                             { ',', "inv", false, "" } };

	(void)state;
	check_attrs(",core=all,cmask=2,usr", libpmc, 3);
	check_attrs(":SELF.c=1:i", libpfm, 3);
	check_attrs(",,usr,", empty, 3);
	check_attrs(":=5:a=b=c:d=", odd, 3);
	/* Between slashes only a comma separates. */
	check_attrs("/event=0x2e,name=a.b:c,inv", terms, 3);
	check_attrs("", NULL, 0);
}

static void terms_of_numbers_alone(void **state)
{
	static const struct {
		const char *text;
		unsigned n;
		uint64_t code, umask;
	} forms[] = {
		{ "cpu/event=0x2e,umask=0x4f/", 2, 0x2e, 0x4f },
		{ "cpu/event=0x2e,umask=0x4F/:", 2, 0x2e, 0x4f },
		{ "cpu/event=0x1D3/", 1, 0x1d3, 0 },
		{ "cpu/event=0x0,umask=0x123456789abcdef/", 2, 0, 0x123456789abcdef },
	};
	static const char *const others[] = {
		"cpu//",
		"cpu/x/",
		"cpu/event=0x/",
		"cpu/event=46,umask=0x4f/",
		"cpu/event=0x2e,umask=79/",
		"cpu/event=0x2e,umask=0x/",
		"cpu/event=0x2e,/",
		"cpu/event=0x2e,umask=0x4f,/",
		"cpu/event=0x2e,umask=0x4f,inv/",
		"cpu/event=0x2e,umask=0x4fg/",
		"cpu/event=0x2e,inv=0x0001/",
		"cpu/event=0x2e:umask=0x4f/",
		"cpu/umask=0x4f,event=0x2e/",
		"cpu/umask=0x4f/",
		"cpu/Event=0x2e/",
		"cpu/event=0X2e/",
		"cpu/event=0x0123456789abcdef/",
		"cpu/event=0x2e/umask=0x4f/",
		"cpu/event=0x2e,umask=0x4f/u",
		"cpu/event=0x2e,umask=0x4f/:u",
	};
	struct spec_codes numbers;
	struct spec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		EXPECT_ROW_NUMBER(forms[i].text, pfmi_spec_parse(forms[i].text, &spec, NULL),
		                  PFMLIB_SUCCESS);
		pfmi_spec_read_codes(&spec, &numbers);
		EXPECT_ROW_NUMBER(forms[i].text, numbers.n_terms, forms[i].n);
		EXPECT_ROW_NUMBER(forms[i].text, numbers.code, forms[i].code);
		EXPECT_ROW_NUMBER(forms[i].text, numbers.umask, forms[i].umask);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(pfmi_spec_parse(others[i], &spec, NULL), PFMLIB_SUCCESS);
		pfmi_spec_read_codes(&spec, &numbers);
		if (numbers.n_terms)
			fail_msg("%s has something else", others[i]);
	}
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void numbers_as_c_has_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },
		{ "10", 10 },
		{ "0x1F", 31 },
		{ "0Xff", 255 },
		{ "010", 8 },
		{ "00", 0 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
		{ "01777777777777777777777", UINT64_MAX },
	};
	static const char *const bad[] = {
		"",
		"x",
		"0x",
		"1 ",
		" 1",
		"-1",
		"+1",
		"08",
		"1.5",
		"0xg",
		"18446744073709551616",
		"0x10000000000000000",
		"02000000000000000000000",
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		EXPECT_ROW_TRUE(good[i].text,
		                pfmi_base_parse_number(pfmi_base_make_slice(good[i].text), &v));
		EXPECT_ROW_NUMBER(good[i].text, v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_ROW_TRUE(bad[i], !pfmi_base_parse_number(pfmi_base_make_slice(bad[i]), &v));
}

static void words_compare_without_case(void **state)
{
	(void)state;
	assert_true(pfmi_base_is_slice_icase(pfmi_base_make_slice("CMask"), "cmask"));
	assert_false(pfmi_base_is_slice_icase(pfmi_base_make_slice("cmas"), "cmask"));
	assert_false(pfmi_base_is_slice_icase(pfmi_base_make_slice("cmaskk"), "cmask"));
	assert_true(pfmi_base_is_slice_icase((struct slice){ "abcdef", 3 }, "ABC"));
	assert_true(pfmi_base_is_slice_icase(pfmi_base_make_slice(""), ""));
}

/* ---- anything -------------------------------------------------------------------------------- */

/* Every slice is in the text, and the attributes together are the rest of it, for all bytes. */
static void any_bytes_are_cut_inside_the_text(void **state)
{
	static const char bytes[] = "::..,,//==aAuk0x1 _-\t\x7f\xff{}";
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t len = round % 24;
		char *text = malloc(len + 1); /* on the heap, so that a sanitizer sees the end */
		struct spec spec;
		struct spec_attr a;
		struct slice rest;

		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		}
		text[len] = '\0';
		if (pfmi_spec_parse(text, &spec, NULL) == PFMLIB_SUCCESS) {
			assert_true(spec.name.text >= text &&
			            spec.name.text + spec.name.len <= text + len);
			assert_true(spec.pmu_name.text >= text &&
			            spec.pmu_name.text + spec.pmu_name.len <= text + len);
			for (unsigned i = 0; i < spec.n_prefixes; i++)
				assert_true(spec.prefixes[i].len <= spec.name.len &&
				            (i == 0 ||
				             spec.prefixes[i].len > spec.prefixes[i - 1].len));
			rest = spec.form == SPEC_PERF ? spec.attrs
			                              : (struct slice){ text + len, 0 };
			while (pfmi_spec_next_attr(&rest, &a))
				assert_true(a.name.text + a.name.len <= text + len &&
				            a.value.text + a.value.len <= text + len);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processor_name_and_modifiers),
		cmocka_unit_test(one_slash_is_a_syntax_error_and_is_pointed_at),
		cmocka_unit_test(a_text_has_4096_bytes_at_most),
		cmocka_unit_test(a_name_may_end_at_every_separator),
		cmocka_unit_test(no_name_ends_with_the_value_of_a_letter),
		cmocka_unit_test(the_whole_name_is_the_last_prefix_however_many_there_are),
		cmocka_unit_test(folding_ignores_case_blanks_and_joins),
		cmocka_unit_test(attributes_one_after_the_other),
		cmocka_unit_test(terms_of_numbers_alone),
		cmocka_unit_test(numbers_as_c_has_them),
		cmocka_unit_test(words_compare_without_case),
		cmocka_unit_test(any_bytes_are_cut_inside_the_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
