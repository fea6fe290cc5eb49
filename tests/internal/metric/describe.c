/* SPDX-License-Identifier: MIT */
/* Metrics as tables have them, and their code as formulas: each instruction by itself, every
 * buffer, what built-in tables say. */
#include "units.h"
#include "open_for.h"
#include "metric/metric.h"
#include "table/build.h"

/* A metric of one input, "Input" or what else @input says ("name|alias|preset"), in a table of its
 * own. */
static struct table *make(const char *input)
{
	struct table_builder b;
	unsigned field;

	pfmi_table_begin_build(&b);
	field = pfmi_table_add_text_field(&b, KEY_METRIC_INPUTS);
	pfmi_table_begin_row(&b, "other", "", 0);
	pfmi_table_begin_row(&b, "Ratio", "", ROW_METRIC);
	if (input)
		pfmi_table_set_row_value(&b, field, pfmi_table_add_text(&b, input, strlen(input)));
	return pfmi_table_finish_build(&b);
}

/* Checks that @code (of the threshold, if @threshold) is printed as the formula @want. */
static void prints(const struct table *t, const char *code, int threshold, const char *want)
{
	const struct metric m = {
		.table = t, .row = 1, .code = threshold ? "i1" : code, .threshold_code = code
	};
	char buf[512];

	memset(buf, 'x', sizeof(buf));
	assert_int_equal(pfmi_metric_print_formula(&m, threshold, buf, sizeof(buf)), strlen(want));
	assert_string_equal(buf, want);
}

static void each_instruction_prints_as_its_operator(void **state)
{
	static const char *const rows[][2] = {
		{ "e00", "Input" },
		{ "i1", "1" },
		{ "j10", "64" },
		{ "e00i2+", "(Input + 2)" },
		{ "e00i2-", "(Input - 2)" },
		{ "e00i2*", "(Input * 2)" },
		{ "e00i2/", "(Input / 2)" },
		{ "e00i2%", "(Input % 2)" },
		{ "e00i2<", "(Input < 2)" },
		{ "e00i2>", "(Input > 2)" },
		{ "e00i2[", "(Input <= 2)" },
		{ "e00i2]", "(Input >= 2)" },
		{ "e00i2=", "(Input == 2)" },
		{ "e00i2!", "(Input != 2)" },
		{ "e00i2&", "(Input & 2)" },
		{ "e00i2|", "(Input | 2)" },
		{ "e00i2^", "(Input ^ 2)" },
		{ "e00i2m", "min(Input, 2)" },
		{ "e00i2M", "max(Input, 2)" },
		{ "e00i2d", "d_ratio(Input, 2)" },
		{ "e00~", "-Input" },
		{ "i1i2i3?", "(2 if 1 else 3)" },
		{ "i1i2+e00~i3*i4i5-?", "((-Input * 3) if (1 + 2) else (4 - 5))" },
		{ "i1i2+i3i4+*", "((1 + 2) * (3 + 4))" },
		{ "i1i2+s00i3*l00-", "(((1 + 2) * 3) - (1 + 2))" },
		{ "i7s00i8s01+l00l01m*", "((7 + 8) * min(7, 8))" },
	};
	struct table *t = make("Input||");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		prints(t, rows[i][0], 0, rows[i][1]);
	prints(t, "vi3<", 1, "(Ratio < 3)");
	free(t);
}

/* Names that the grammar could not read are quoted. */
static void names_that_the_grammar_cannot_read_are_quoted(void **state)
{
	static const char *const rows[][2] = {
		{ "A_b.c:d=1#", "A_b.c:d=1#" },
		{ "#SLOTS", "#SLOTS" },
		{ "9lives", "'9lives'" },
		{ "a9", "a9" },
		{ "a-b", "'a-b'" },
		{ "a/b/", "'a/b/'" },
		{ "a,b", "'a,b'" },
		{ "a@", "'a@'" },
		{ "a[", "'a['" },
		{ "a`", "'a`'" },
		{ "a{", "'a{'" },
		{ "zZaA09", "zZaA09" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct table *t = make(rows[i][0]);

		prints(t, "e00", 0, rows[i][1]);
		free(t);
	}
}

/* Doubles as lists write them. */
static void numbers_print_as_lists_write_them(void **state)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 0.5, "0.5" },
		{ -0.25, "-0.25" },
		{ 0.1, "0.1" },
		{ 64.125, "64.125" },
		{ 1e-9, "0.000000001" },
		{ 0.07, "0.07" },
		{ 0.29, "0.29" },
		{ 1e15, "1000000000000000" },
		{ 9.99e17, "999000000000000000" },
		{ 1e18, "100000000000000000e1" },
		{ 2e20, "200000000000000000e3" },
		{ 1.0 / 3, "0.333333333333333" },
		{ 12.000001, "12.000001" },
		{ -3, "-3" },
	};
	struct table *t = make(NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char code[13] = "k";
		uint64_t bits;

		memcpy(&bits, &rows[i].v, sizeof(bits));
		for (unsigned k = 0; k < 11; k++)
			code[1 + k] = (char)('0' + (bits >> (60 - 6 * k) & 63));
		prints(t, code, 0, rows[i].text);
	}
	free(t);
}

/* A code that is not a number is in no list. */
static void a_code_that_is_no_number_is_refused(void **state)
{
	static const char *const codes[] = { "kookkikookki", "k7o`00000000", "k?o`00000000",
		                             "k7oh00000000" };
	const struct metric_number own = { .value = 2 };
	struct table *t = make("Input||");
	struct metric_number value;
	char buf[64];

	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		const struct metric m = {
			.table = t, .row = 1, .code = codes[i], .threshold_code = ""
		};

		assert_int_equal(pfmi_metric_print_formula(&m, 0, buf, sizeof(buf)),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfmi_metric_run_code(codes[i], NULL, 0, 0, &own, &value),
		                 PFMLIB_ERR_INVAL);
	}
	free(t);
}

/* As much as fits, always terminated; and how much there would be. */
static void as_much_as_fits_is_printed(void **state)
{
	struct table *t = make("Input||");
	const struct metric m = { .table = t, .row = 1, .code = "e00i2+", .threshold_code = "" };
	const char want[] = "(Input + 2)";
	char buf[32];

	(void)state;
	for (size_t len = 0; len <= sizeof(want) + 1; len++) {
		size_t n = len < sizeof(want) ? len : sizeof(want);

		memset(buf, 'x', sizeof(buf));
		assert_int_equal(pfmi_metric_print_formula(&m, 0, buf, len), sizeof(want) - 1);
		if (len)
			assert_true(memcmp(buf, want, n - 1) == 0 && buf[n - 1] == '\0');
		assert_int_equal(buf[n], 'x');
	}
	assert_int_equal(pfmi_metric_print_formula(&m, 0, NULL, 0), sizeof(want) - 1);
	assert_int_equal(pfmi_metric_print_formula(&m, 1, buf, sizeof(buf)), PFMLIB_ERR_NOTFOUND);
	free(t);
}

static void code_that_is_none(void **state)
{
	static const char *const codes[] = { "+", "e00e00", "e01", "x", "i1l00+", "i1i2" };
	struct table *t = make("Input||");
	char buf[32];

	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		const struct metric m = {
			.table = t, .row = 1, .code = codes[i], .threshold_code = codes[i]
		};

		assert_int_equal(pfmi_metric_print_formula(&m, 0, buf, sizeof(buf)),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfmi_metric_print_formula(&m, 1, buf, sizeof(buf)),
		                 PFMLIB_ERR_INVAL);
	}
	free(t);
}

static void pieces_of_inputs(void **state)
{
	static const struct {
		const char *item, *name, *alias, *preset;
	} rows[] = {
		{ "a", "a", "", "" },           { "a|b", "a", "b", "" },
		{ "a|b|1.5", "a", "b", "1.5" }, { "a||2", "a", "", "2" },
		{ "a|b|1|2", "a", "b", "1|2" }, { "a::b:u|c", "a::b:u", "c", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct table *t = make(rows[i].item);
		const struct metric m = { .table = t, .row = 1, .code = "", .threshold_code = "" },
				    other = { .table = t, .row = 0 };
		struct metric_input in;

		assert_int_equal(pfmi_metric_count_inputs(&m), 1);
		assert_true(pfmi_metric_get_input(&m, 0, &in));
		assert_true(pfmi_base_is_slice_icase(in.name, rows[i].name) &&
		            pfmi_base_is_slice_icase(in.alias, rows[i].alias) &&
		            pfmi_base_is_slice_icase(in.preset, rows[i].preset));
		assert_false(pfmi_metric_get_input(&m, 1, &in));
		assert_int_equal(pfmi_metric_count_inputs(&other), 0);
		assert_false(pfmi_metric_get_input(&other, 0, &in));
		free(t);
	}
}

/* The description of a metric equals the row of its built-in table. */
static void check_metric(const pfm_ctx_t *ctx, unsigned unit, uint32_t row,
                         const pfm_metric_info_t *info)
{
	const struct table *t = context_get_pmu_table(ctx, unit);
	unsigned n = 0, key = table_get_key_field_plus1(t, KEY_METRIC_INPUTS), reads = 0;
	const char *code = pfmi_table_get_row_text(t, row, KEY_METRIC);
	struct metric m;

	assert_int_equal(pfmi_metric_find_by_row(ctx, (int)unit, row, &m), PFMLIB_SUCCESS);
	assert_true(m.table == t && m.row == row && m.code == code);
	for (unsigned i = 0; key && i < table_get_row(t, row)->n_values; i++)
		n += table_get_row_value(t, table_get_row(t, row), i).field == key - 1;
	for (unsigned step; (step = pfmi_metric_get_instruction_length(code)); code += step)
		if (*code == 'e' && pfmi_metric_get_operand(code) + 1 > reads)
			reads = (unsigned)pfmi_metric_get_operand(code) + 1;
	assert_true(info->pmu == (int)unit && info->event == row && info->n_inputs == n &&
	            info->n_value_inputs == reads);
	assert_string_equal(info->name, table_get_row_name(t, row));
	assert_string_equal(info->unit, pfmi_table_get_row_text(t, row, KEY_UNIT));
	assert_string_equal(info->groups, pfmi_table_get_row_text(t, row, KEY_METRIC_GROUP));
	assert_int_equal(info->has_threshold,
	                 *pfmi_table_get_row_text(t, row, KEY_METRIC_THRESHOLD) != '\0');
}

/* An input is a whole text: of another table, of a unit of the kernel, a constant, or with its own
 * table's name before it. */
static void check_inputs(const pfm_ctx_t *ctx, const pfm_metric_info_t *info)
{
	const char *own = table_get_text(context_get_pmu_table(ctx, (unsigned)info->pmu),
	                                 context_get_pmu_table(ctx, (unsigned)info->pmu)->name);

	for (unsigned i = 0; i <= info->n_inputs; i++) {
		pfm_metric_input_t in = { .size = sizeof(in) };
		int rc = pfm_describe_metric_input(ctx, info->pmu, info->event, i, &in);

		assert_int_equal(rc, i < info->n_inputs ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND);
		if (rc)
			continue;
		assert_int_equal(in.is_constant, in.text[0] == '#');
		assert_true(in.is_constant || strchr(in.text, '/') || strstr(in.text, "::"));
		if (!in.is_constant && !strchr(in.text, '/') &&
		    strncmp(in.text, own, strlen(own)) == 0)
			assert_null(strstr(strstr(in.text, "::") + 2, "::"));
	}
}

static void built_in_metrics(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned n = 0, plain = 0;

	(void)state;
	for (unsigned u = 0; u < context_count_pmus(ctx); u++) {
		uint32_t end =
			context_is_pmu_usable(ctx, u) ? context_get_pmu_table(ctx, u)->n_rows : 0;

		for (uint32_t row = 0; row <= end && end; row++) {
			pfm_metric_info_t info = { .size = sizeof(info) };
			int rc = pfm_describe_metric(ctx, (int)u, row, &info);

			if (row == end ||
			    !(table_get_row(context_get_pmu_table(ctx, u), row)->flags &
			      ROW_METRIC)) {
				assert_int_equal(rc, row == end ? PFMLIB_ERR_INVAL
				                                : PFMLIB_ERR_NOTFOUND);
				plain++;
				continue;
			}
			assert_int_equal(rc, PFMLIB_SUCCESS);
			check_metric(ctx, u, row, &info);
			check_inputs(ctx, &info);
			n++;
		}
	}
	assert_true(n > 100 && plain > 100);
	pfm_close_context(ctx);
}

static void questions_that_make_no_sense(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	pfm_metric_info_t info = { .size = 1 };
	pfm_metric_input_t in = { .size = 1 };
	char buf[8];

	(void)state;
	assert_int_equal(pfm_describe_metric(ctx, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric(ctx, 0, 0, &info),
	                 PFMLIB_ERR_INVAL); /* of no valid size */
	assert_int_equal(pfm_describe_metric_input(ctx, 0, 0, 0, &in), PFMLIB_ERR_INVAL);
	info.size = sizeof(info);
	in.size = sizeof(in);
	assert_int_equal(pfm_describe_metric(ctx, -1, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric(ctx, (int)context_count_pmus(ctx), 0, &info),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric_input(ctx, -1, 0, 0, &in), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_metric(ctx, -1, 0, 0, buf, sizeof(buf)), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_metric(ctx, 0, 0, 0, NULL, 8), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

UNIT(metric_describe, cmocka_unit_test(each_instruction_prints_as_its_operator),
     cmocka_unit_test(names_that_the_grammar_cannot_read_are_quoted),
     cmocka_unit_test(numbers_print_as_lists_write_them),
     cmocka_unit_test(a_code_that_is_no_number_is_refused),
     cmocka_unit_test(as_much_as_fits_is_printed), cmocka_unit_test(code_that_is_none),
     cmocka_unit_test(pieces_of_inputs), cmocka_unit_test(built_in_metrics),
     cmocka_unit_test(questions_that_make_no_sense));
