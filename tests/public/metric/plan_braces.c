/* SPDX-License-Identifier: MIT */
/* Groups in braces stay together in a plan. */
#include <perfmon/perfmon.h>
#include "unit_tables.h"
#include "open_for.h"

#define A "UOPS_ISSUED.ANY"
#define B "LD_BLOCKS.NO_SR"
#define C "L2_RQSTS.MISS"
#define D "DTLB_LOAD_MISSES.STLB_HIT"
#define E "ITLB_MISSES.STLB_HIT"

/* Plans @texts on @pmu and checks the number of groups, and their texts: "A B|C". */
static void check_plan(const char *pmu, const char *const *texts, unsigned n, const char *want)
{
	pfm_ctx_t *ctx = open_for(pmu);
	pfm_error_t why = PFM_INIT(why);
	pfm_planned_event_t e = PFM_INIT(e);
	pfm_plan_t *plan = NULL;
	char got[512] = "";
	unsigned group = 0;

	if (pfm_create_plan(&plan, ctx, texts, n, NULL, &why))
		fail_msg("%s: %s", texts[0], pfm_result_text(why.code));
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++) {
		size_t len = strlen(got);

		snprintf(got + len, sizeof(got) - len, "%s%s",
		         !i                 ? ""
		         : e.group != group ? "|"
		                            : " ",
		         e.text);
		group = e.group;
	}
	assert_string_equal(got, want);
	pfm_close_plan(plan);
	pfm_close_context(ctx);
}

/* Eight events fit into two groups of four counters, three groups of three, three and two events
 * do not. A further event joins the group with a free counter. */
static void groups_are_not_divided(void **state)
{
	static const char *const texts[] = { "{" A "," B "," C "}", "{" D "," E "," A ":k}",
		                             "{" B ":k," C ":k}" },
				 *const more[] = { "{" A "," B "," C "}", D, "{" E "," A ":k}" };

	(void)state;
	check_plan("skl", texts, 3, A " " B " " C "|" D " " E " " A ":k|" B ":k " C ":k");
	check_plan("skl", more, 3, A " " B " " C " " D "|" E " " A ":k");
}

/* Modifiers after the brace are those of all events; W, D and S change no plan. */
static void modifiers_of_a_group(void **state)
{
	static const char *const texts[] = { "{" A "," B "}:uW" }, *const plain[] = { " {" A "}D" };

	(void)state;
	check_plan("skl", texts, 1, A ":u " B ":u");
	check_plan("skl", plain, 1, A);
}

/* Figures of PERF_METRICS follow the SLOTS of their own group. */
static void leaders_inside_of_groups(void **state)
{
	static const char *const texts[] = { "{TOPDOWN.SLOTS,PERF_METRICS.RETIRING}",
		                             "{INST_RETIRED.ANY_P,TOPDOWN.SLOTS}" };

	(void)state;
	check_plan("icl", texts, 2,
	           "TOPDOWN.SLOTS PERF_METRICS.RETIRING|INST_RETIRED.ANY_P TOPDOWN.SLOTS");
}

static void groups_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *pmu, *text;
		int code;
		unsigned start, end;
	} wrong[] = {
		{ "skl", "{" A "," B "," C "," D "," E "}", PFMLIB_ERR_NOASSIGN, 0, 0 },
		{ "icl", "{PERF_METRICS.RETIRING,TOPDOWN.SLOTS}", PFMLIB_ERR_NOASSIGN, 0, 0 },
		{ "skl", "{" A ",NO_EVENT}", PFMLIB_ERR_NOTFOUND, 17, 25 },
		{ "skl", "{" A ",}", PFMLIB_ERR_SYNTAX, 17, 17 },
		{ "skl", "{" A, PFMLIB_ERR_SYNTAX, 0, 1 },
		{ "skl", "{" A "}:x", PFMLIB_ERR_ATTR, 18, 19 },
		{ "skl", "{" A ",icl::TOPDOWN.SLOTS}", PFMLIB_ERR_EVTINCOMP, 0, 36 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		pfm_ctx_t *ctx = open_for(wrong[i].pmu);
		pfm_error_t why = PFM_INIT(why);
		pfm_plan_t *plan = NULL;

		assert_int_equal(pfm_create_plan(&plan, ctx, &wrong[i].text, 1, NULL, &why),
		                 wrong[i].code);
		assert_null(plan);
		assert_int_equal(why.event, 0);
		assert_int_equal(why.start, wrong[i].start);
		assert_int_equal(why.end, wrong[i].end);
		pfm_close_context(ctx);
	}
}

UNIT(metric_plan_braces, cmocka_unit_test(groups_are_not_divided),
     cmocka_unit_test(modifiers_of_a_group), cmocka_unit_test(leaders_inside_of_groups),
     cmocka_unit_test(groups_that_do_not_fit_are_refused));
