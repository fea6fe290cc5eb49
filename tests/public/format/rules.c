/* SPDX-License-Identifier: MIT */
/* Rules of PMUs and events through the public interface. */
#include <perfmon/perfmon.h>
#include "unit_tables.h"
#include "open_for.h"

static void every_rule_has_a_sentence_and_a_source(void **state)
{
	pfm_ctx_t *ctx = open_for("power9");
	pfm_rule_info_t rule = PFM_INIT(rule);
	unsigned n = 0;

	(void)state;
	for (int pmu = 0; pmu < pfm_count_pmus(ctx); pmu++)
		for (unsigned i = 0; pfm_describe_rule(ctx, pmu, i, &rule) == PFMLIB_SUCCESS; i++) {
			assert_true(*rule.name && *rule.effect && *rule.text && *rule.source);
			n++;
		}
	assert_true(n > 100);
	pfm_close_context(ctx);
}

/* A rule holds for the event as its text has it; it can hold for others. */
static void rules_of_a_text(void **state)
{
	pfm_ctx_t *ctx = open_for("neoverse_v2");
	pfm_rule_info_t rule = PFM_INIT(rule);
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	assert_int_equal(pfm_describe_rule_by_text(ctx, "CPU_CYCLES:threshold=5", 0, &rule, &why),
	                 PFMLIB_SUCCESS);
	assert_string_equal(rule.name, "threshold");
	assert_string_equal(rule.effect, "on");
	assert_int_equal(rule.counters, 0x7fffffff);
	assert_true(rule.holds);
	assert_int_equal(pfm_describe_rule_by_text(ctx, "CPU_CYCLES", 0, &rule, &why),
	                 PFMLIB_SUCCESS);
	assert_false(rule.holds);
	assert_int_equal(pfm_describe_rule_by_text(ctx, "CPU_CYCLES", 1, &rule, &why),
	                 PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
}

static void numbers_out_of_range_are_refused(void **state)
{
	pfm_ctx_t *ctx = open_for("power9");
	int pmu = pfm_find_pmu(ctx, "power9");
	pfm_rule_info_t rule = PFM_INIT(rule), small = { .size = sizeof(size_t) - 1 };
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	assert_int_equal(pfm_describe_rule(ctx, -1, 0, &rule), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rule(ctx, pmu, 0, &small), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rule(ctx, pmu, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rule(ctx, pmu, 1000, &rule), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_event_rule(ctx, pmu, ~0u, 0, &rule), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_event_rule(ctx, pmu, 0, 1000, &rule), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_rule_by_text(ctx, NULL, 0, &rule, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rule_by_text(ctx, "nothing", 0, &rule, &why),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(why.code, PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
}

UNIT(format_rules, cmocka_unit_test(every_rule_has_a_sentence_and_a_source),
     cmocka_unit_test(rules_of_a_text), cmocka_unit_test(numbers_out_of_range_are_refused));
