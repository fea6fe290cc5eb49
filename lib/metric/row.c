/* SPDX-License-Identifier: MIT */
/* Look-up of the metric in a row of a table. */
#include "metric/metric.h"

int pfmi_metric_find_by_row(const struct pfm_ctx *ctx, int pmu, unsigned event, struct metric *out)
{
	ctx = context_get_or_default(ctx);
	if (pmu < 0 || (unsigned)pmu >= context_count_pmus(ctx) ||
	    !context_is_pmu_usable(ctx, (unsigned)pmu) ||
	    event >= context_get_pmu_table(ctx, (unsigned)pmu)->n_rows)
		return PFMLIB_ERR_INVAL;
	out->table = context_get_pmu_table(ctx, (unsigned)pmu);
	out->row = event;
	out->code = pfmi_table_get_row_text(out->table, event, KEY_METRIC);
	out->threshold_code = pfmi_table_get_row_text(out->table, event, KEY_METRIC_THRESHOLD);
	return table_get_row(out->table, event)->flags & ROW_METRIC && *out->code
	               ? PFMLIB_SUCCESS
	               : PFMLIB_ERR_NOTFOUND;
}
