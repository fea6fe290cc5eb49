/* SPDX-License-Identifier: MIT */
/* Events that can or must be sampled precisely. The expected values are the column "Precise" of
 * Intel's lists: 1 for MEM_LOAD_RETIRED.L3_MISS, 2 for MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4, 0 for
 * CPU_CLK_UNHALTED.THREAD. */
#include "unit_tables.h"
#include "open_for.h"
#include "lookup/lookup.h"

static void expect_precision(const char *text, uint64_t precision)
{
	pfm_ctx_t *ctx = open_for("skx");
	struct event ev;
	unsigned unit;

	assert_int_equal(pfmi_lookup_event(ctx, text, &unit, &ev, NULL), PFMLIB_SUCCESS);
	assert_int_equal(event_get_precision(&ev), precision);
	assert_int_equal(event_get_precision(&ev) == PRECISE_REQUIRED, precision == 2);
	pfm_close_context(ctx);
}

static void rows_of_the_vendor(void **state)
{
	(void)state;
	expect_precision("skx::CPU_CLK_UNHALTED.THREAD", 0);
	expect_precision("skx::MEM_LOAD_RETIRED.L3_MISS", 1);
	expect_precision("skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", 2);
}

/* libpfm4's name is an alias; it has the precision of the vendor's row with its configuration. */
static void aliases_have_the_precision_of_their_row(void **state)
{
	(void)state;
	expect_precision("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=4", 2);
	expect_precision("skx::MEM_LOAD_RETIRED:L3_MISS", 1);
	expect_precision("skx::UNHALTED_CORE_CYCLES", 0);
}

UNIT(pmu_precision, cmocka_unit_test(rows_of_the_vendor),
     cmocka_unit_test(aliases_have_the_precision_of_their_row));
