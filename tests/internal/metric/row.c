/* SPDX-License-Identifier: MIT */
/* Rows of built-in tables as metrics: each row is one, or refused. */
#include "units.h"
#include "open_for.h"
#include "metric/metric.h"

static void rows_with_a_formula_are_metrics(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned metrics = 0, others = 0;

	(void)state;
	for (unsigned pmu = 0; pmu < context_count_pmus(ctx); pmu++) {
		const struct table *t = context_get_pmu_table(ctx, pmu);

		if (!context_is_pmu_usable(ctx, pmu))
			continue;
		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct metric m;
			int rc = pfmi_metric_find_by_row(ctx, (int)pmu, row, &m);

			assert_int_equal(rc, table_get_row(t, row)->flags & ROW_METRIC
			                             ? PFMLIB_SUCCESS
			                             : PFMLIB_ERR_NOTFOUND);
			metrics += !rc;
			others += rc != 0;
			if (rc)
				continue;
			assert_true(m.table == t && m.row == row);
			assert_non_null(m.threshold_code);
			assert_true(pfmi_metric_get_instruction_length(m.code) > 0);
		}
		assert_int_equal(
			pfmi_metric_find_by_row(ctx, (int)pmu, t->n_rows, &(struct metric){ 0 }),
			PFMLIB_ERR_INVAL);
	}
	assert_true(metrics > 0 && others > 0);
	pfm_close_context(ctx);
}

static void a_pmu_that_is_not_there_has_no_metrics(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	struct metric m;

	(void)state;
	assert_int_equal(pfmi_metric_find_by_row(ctx, -1, 0, &m), PFMLIB_ERR_INVAL);
	assert_int_equal(pfmi_metric_find_by_row(ctx, (int)context_count_pmus(ctx), 0, &m),
	                 PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

UNIT(metric_row, cmocka_unit_test(rows_with_a_formula_are_metrics),
     cmocka_unit_test(a_pmu_that_is_not_there_has_no_metrics));
