/* SPDX-License-Identifier: MIT */
/* Errata through the public functions, of processors and steppings that this machine is not. The
 * facts are those of the vendors' documents named in lib/events/errata. */
#include "units.h"
#include <stdbool.h>
#include <perfmon/perfmon.h>

static pfm_ctx_t *open_on(const char *cpuid)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_IMAGES, .cpuid = cpuid };
	pfm_ctx_t *ctx;

	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	return ctx;
}

/* Finds the erratum with this id of the event of @text. */
static bool find_erratum(const pfm_ctx_t *ctx, const char *text, const char *id, pfm_erratum_t *e)
{
	for (unsigned i = 0; !pfm_describe_text_erratum(ctx, text, 0, i, e); i++)
		if (strstr(e->ids, id))
			return true;
	return false;
}

static void an_erratum_is_about_modifiers_and_levels(void **state)
{
	pfm_ctx_t *ctx = open_on("GenuineIntel-6-3C-3");
	pfm_erratum_t e = PFM_INIT(e);

	(void)state;
	assert_true(find_erratum(ctx, "hsw::UOPS_EXECUTED.CORE", "HSD30", &e));
	assert_int_equal(e.count, PFM_ERRATUM_COUNT_LOW);
	assert_int_equal(e.flags, PFM_ERRATUM_HERE);
	assert_true(find_erratum(ctx, "hsw::LD_BLOCKS.NO_SR:i=1:c=1:u", "HSD73", &e));
	assert_int_equal(e.flags, PFM_ERRATUM_HERE);
	assert_true(find_erratum(ctx, "hsw::LD_BLOCKS.NO_SR", "HSD73", &e));
	assert_true(e.flags & PFM_ERRATUM_CONDITIONAL);
	/* the id of another product, and a number for the event */
	assert_true(find_erratum(ctx, "hsw::r01b1", "HSM31", &e));
	assert_false(find_erratum(ctx, "hsw::r00c4", "HSM31", &e));
	pfm_close_context(ctx);
}

/* Sandy Bridge model 42 needs new microcode on stepping 7; model 45 has another table. */
static void another_stepping_is_not_affected(void **state)
{
	static const struct {
		const char *cpuid, *text;
		bool is_here;
	} cases[] = {
		{ "GenuineIntel-6-2A-7", "snb::INST_RETIRED.PREC_DIST", true },
		{ "GenuineIntel-6-2A-6", "snb::INST_RETIRED.PREC_DIST", false },
		{ "GenuineIntel-6-2D-7", "snb::INST_RETIRED.PREC_DIST", false },
		{ "GenuineIntel-6-2D-7", "jkt::INST_RETIRED.PREC_DIST", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		pfm_ctx_t *ctx = open_on(cases[i].cpuid);
		pfm_erratum_t e = PFM_INIT(e);

		assert_true(find_erratum(ctx, cases[i].text, "PEBS-microcode", &e));
		assert_int_equal((e.flags & PFM_ERRATUM_HERE) != 0, cases[i].is_here);
		pfm_close_context(ctx);
	}
}

static void errata_of_a_processor(void **state)
{
	pfm_ctx_t *ctx = open_on("AuthenticAMD-26-2-1");
	perfmon_event_info_t event = PFM_INIT(event);
	pfm_erratum_t e = PFM_INIT(e);
	int pmu = pfm_find_pmu(ctx, "amdzen5");
	unsigned i = 0, k;

	(void)state;
	while (!pfm_describe_erratum(ctx, pmu, i, &e) && strcmp(e.ids, "1569") != 0)
		i++;
	assert_string_equal(e.ids, "1569");
	assert_int_equal(e.n_events, 1);
	assert_int_equal(pfm_describe_erratum_event(ctx, pmu, i, 0, &k), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(ctx, pmu, k, &event), PFMLIB_SUCCESS);
	assert_string_equal(event.name, "ls_tlb_flush.all");
	assert_int_equal(pfm_describe_event_erratum(ctx, pmu, k, 0, &e), PFMLIB_SUCCESS);
	assert_string_equal(e.ids, "1569");
	assert_int_equal(pfm_describe_event_erratum(ctx, pmu, k, 1, &e), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_erratum_event(ctx, pmu, i, 1, &k), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_erratum_event(ctx, pmu, 999, 0, &k), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_erratum(ctx, pmu, 999, &e), PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
}

static void errata_refuse_wrong_arguments(void **state)
{
	pfm_ctx_t *ctx = open_on("AuthenticAMD-26-2-1");
	pfm_erratum_t e = PFM_INIT(e), short_one = { .size = sizeof(size_t) - 1 };

	(void)state;
	assert_int_equal(pfm_describe_erratum(ctx, -1, 0, &e), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_erratum(ctx, 0, 0, &short_one), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_erratum_event(ctx, 0, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_event_erratum(ctx, -1, 0, 0, &e), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_text_erratum(ctx, NULL, 0, 0, &e), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_text_erratum(ctx, "amdzen5::nope", 0, 0, &e),
	                 PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
}

UNIT(format_errata, cmocka_unit_test(an_erratum_is_about_modifiers_and_levels),
     cmocka_unit_test(another_stepping_is_not_affected), cmocka_unit_test(errata_of_a_processor),
     cmocka_unit_test(errata_refuse_wrong_arguments));
