/* SPDX-License-Identifier: MIT */
/* The token, the event and the attribute that an error is about. */
#include "units.h"
#include "open_for.h"
#include "format/error_location.h"

static void expect_slice(struct slice s, const char *text)
{
	assert_int_equal(s.len, strlen(text));
	assert_memory_equal(s.text, text, s.len);
}

static void errors_point_at_their_token(void **state)
{
	static const struct {
		const char *text, *token, *attr, *value, *group;
		bool has_event;
	} lines[] = {
		{ "L2_Lines_In,cor=all", "cor", "cor", "all", NULL, true },
		{ "L2_Lines_In,core=al", "al", "core", "al", "core", true },
		{ "L2_Lines_In,usr,core=al", "core", "core", "al", "core", true },
		{ "L2_Lines_Inn,core=all", "L2_Lines_Inn", NULL, NULL, NULL, false },
		{ "L2_Lines_In,core=all", "L2_Lines_In", NULL, NULL, NULL, true },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *text = lines[i].text, *token = strstr(text, lines[i].token);
		pfm_error_t error = PFM_INIT(error);
		struct error_location p;
		const struct umask_group *g;

		error.start = (uint32_t)(token - text);
		error.end = error.start + (uint32_t)strlen(lines[i].token);
		pfmi_format_locate_error(ctx, text, &error, &p);
		expect_slice(p.token, lines[i].token);
		assert_true(p.is_parsed && !format_is_perf_form(&p));
		assert_int_equal(p.has_event, lines[i].has_event);
		assert_int_equal(p.has_attr, lines[i].attr != NULL);
		if (!lines[i].attr)
			continue;
		expect_slice(p.attr.name, lines[i].attr);
		expect_slice(p.attr.value, lines[i].value);
		g = pfmi_format_find_named_group(&p);
		assert_int_equal(g != NULL, lines[i].group != NULL);
		if (g)
			assert_string_equal(table_get_text(p.table, g->name), lines[i].group);
	}
	pfm_close_context(ctx);
}

/* Positions outside the text mark nothing; a text that does not parse has no event. */
static void positions_outside_of_the_text_mark_nothing(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_error_t error = PFM_INIT(error);
	struct error_location p;

	(void)state;
	error.start = 5;
	error.end = 500;
	pfmi_format_locate_error(ctx, "L2_Lines_In", &error, &p);
	assert_true(p.token.len == 0 && p.has_event);
	pfmi_format_locate_error(ctx, NULL, &error, &p);
	assert_true(p.token.len == 0 && !p.is_parsed && !p.has_event && p.row == ROW_NONE);
	pfmi_format_locate_error(ctx, "", &error, &p);
	assert_false(p.has_event);
	pfm_close_context(ctx);
}

UNIT(format_error_location, cmocka_unit_test(errors_point_at_their_token),
     cmocka_unit_test(positions_outside_of_the_text_mark_nothing));
