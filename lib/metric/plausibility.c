/* SPDX-License-Identifier: MIT */
/* Plausibility of metric values: a share is between 0 and the whole, the parts of a whole sum to
 * it, memory is not faster than its devices. A value is implausible only if it exceeds a limit by
 * more than a hundredth of the whole and its interval excludes the limit. */
#include <float.h>
#include <string.h>
#include "base/sizes.h"
#include "base/text.h"
#include "metric/metric.h"

/* Shares of the whole: the error of rounding and of counts that are read one after another, and the
 * margin of a sum whose error is unknown. */
#define SLACK          0.01
#define UNKNOWN_MARGIN 0.1

static const char result_names[][32] = { "plausible", "outside its range",
	                                 "parts do not sum to the whole", "above the peak" };

const char *pfm_plausibility_name(pfm_plausibility_t result)
{
	return result >= 0 && (size_t)result < sizeof(result_names) / sizeof(result_names[0])
	               ? result_names[result]
	               : "";
}

double pfm_memory_bandwidth(const pfm_ctx_t *ctx)
{
	return pfmi_machine_read_memory_peak(&context_get_or_default(ctx)->sys);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* True for informational metrics, whose percentages may be of something smaller than the whole. */
static bool is_info_metric(const char *name)
{
	return pfmi_base_skip_prefix_icase(pfmi_base_make_slice("info_"), name) != NULL;
}

bool pfmi_metric_is_memory_bandwidth(const pfm_metric_info_t *info)
{
	return strncmp(info->unit, "MB/s", 4) == 0 &&
	       (strncmp(info->name, "membw_", 6) == 0 ||
	        strncmp(info->name, "memory_bandwidth_", 17) == 0);
}

/* The whole of which the value is a share; 0 if it is not a share. */
static double get_total_of_share(const pfm_metric_info_t *info)
{
	if (is_info_metric(info->name))
		return 0;
	if (strcmp(info->unit, "ratio") == 0)
		return 1;
	return strcmp(info->unit, "%") == 0 || strncmp(info->unit, "percent", 7) == 0 ? 100 : 0;
}

/* True for units of quantities that cannot be negative. */
static bool is_nonnegative_unit(const char *unit)
{
	static const char units[][16] = {
		"MPKI", "GHz", "MB/s",    "MB/sec",         "W",
		"J",    "ns",  "GFLOP/s", "insn per cycle", "cycles per insn"
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i]) == 0)
			return true;
	return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *choose_reason(pfm_plausibility_t result, int extrapolated)
{
	if (result == PFM_PLAUSIBLE)
		return "";
	if (extrapolated)
		return "its events were not counted all the time: count fewer events at once, or "
		       "repeat the measurement";
	if (result == PFM_ABOVE_PEAK)
		return "events are counted twice, or the firmware's list of memory devices is "
		       "wrong: count one memory controller alone";
	return "an event does not count what the formula needs: look for errata of the processor; "
	       "a guest's hypervisor may emulate the event";
}

/* True if the value is more than @slack beyond the limit, and all of its interval is. */
static bool is_above_limit(const pfm_metric_value_t *v, double limit, double slack)
{
	return v->value > limit + slack && (v->error < 0 || v->low > limit);
}

static bool is_below_limit(const pfm_metric_value_t *v, double limit, double slack)
{
	return v->value < limit - slack && (v->error < 0 || v->high < limit);
}

/* Sets the result and the limits of a value that is defined. */
static void check_limits(const pfm_metric_info_t *info, const pfm_metric_value_t *v,
                         double memory_peak, pfm_metric_check_t *out)
{
	double whole = get_total_of_share(info);
	bool bandwidth = pfmi_metric_is_memory_bandwidth(info) && memory_peak > 0;

	if (whole <= 0 && !bandwidth && !is_nonnegative_unit(info->unit))
		return;
	out->low = 0;
	if (whole > 0)
		out->high = whole;
	else if (bandwidth)
		out->high = memory_peak;
	if (is_below_limit(v, 0, whole * SLACK) ||
	    (whole > 0 && is_above_limit(v, out->high, whole * SLACK)))
		out->result = PFM_OUTSIDE_RANGE;
	else if (bandwidth && is_above_limit(v, memory_peak, memory_peak * SLACK))
		out->result = PFM_ABOVE_PEAK;
}

int pfm_check_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_value_t *value,
                     int extrapolated, double memory_peak, pfm_metric_check_t *out)
{
	pfm_metric_check_t full = { .low = -DBL_MAX, .high = DBL_MAX };
	pfm_metric_value_t v = PFM_INIT(v);
	pfm_metric_info_t info = PFM_INIT(info);
	int rc;

	if (!value || !base_copy_struct_in(&v, sizeof(v), value) || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	rc = pfm_describe_metric(ctx, pmu, event, &info);
	if (rc)
		return rc;
	if (v.state == PFM_METRIC_DEFINED)
		check_limits(&info, &v, memory_peak, &full);
	full.reason = choose_reason(full.result, extrapolated);
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_check_metric_sum(const pfm_metric_value_t *parts, unsigned n, double whole,
                         int extrapolated, pfm_metric_check_t *out)
{
	pfm_metric_check_t full = { .low = -DBL_MAX, .high = DBL_MAX };
	double sum = 0, margin = SLACK * whole;
	bool defined = true, known = true;

	if (!parts || !n || !base_has_struct_size(parts) || !base_has_struct_size(out) ||
	    !(whole > 0))
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < n; i++) {
		pfm_metric_value_t v = PFM_INIT(v);

		base_copy_struct_in(&v, sizeof(v), base_get_struct_at(parts, i));
		defined &= v.state == PFM_METRIC_DEFINED;
		known &= v.error >= 0;
		sum += v.value;
		margin += v.error > 0 ? (v.high - v.low) / 2 : 0;
	}
	if (!known)
		margin = UNKNOWN_MARGIN * whole;
	if (defined) {
		full.low = whole - margin;
		full.high = whole + margin;
		if (sum < full.low || sum > full.high)
			full.result = PFM_WRONG_SUM;
	}
	full.reason = choose_reason(full.result, extrapolated);
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* ---- parts of a whole ------------------------------------------------------------------------ */

#define MAX_SUM_PARTS 5

/* The first level of top-down analysis, by the names of vendors' lists and of the contract. The
 * last part, the share of the core's other thread, exists on some processors only. */
static const char sum_names[][MAX_SUM_PARTS][24] = {
	{ "Frontend_Bound", "Bad_Speculation", "Backend_Bound", "Retiring",
	  "smt_contention_share" },
	{ "topdown_frontend", "topdown_bad_speculation", "topdown_backend", "topdown_retired",
	  "smt_contention" },
};

/* Row of metric @name; ROW_NONE if the table does not have it. */
static uint32_t find_metric_row(const struct table *t, const char *name)
{
	struct slice s = pfmi_base_make_slice(name);
	struct name_entry found = table_find_name(t, pfmi_table_hash_name(s), s.text, s.len);

	return found.kind < NAME_UNSUPPORTED && table_get_row(t, found.row)->flags & ROW_METRIC
	               ? found.row
	               : ROW_NONE;
}

/* Lists the rows called @names. Returns 0 if one other than the last is missing, or if @row is not
 * among them. */
static int list_sum_parts(const struct table *t, uint32_t row, const char names[][24],
                          uint32_t parts[MAX_SUM_PARTS])
{
	bool is_part = false;
	int n = 0;

	for (unsigned i = 0; i < MAX_SUM_PARTS; i++) {
		uint32_t part = find_metric_row(t, names[i]);

		if (part == ROW_NONE && i < MAX_SUM_PARTS - 1)
			return 0;
		is_part |= part == row;
		if (part != ROW_NONE)
			parts[n++] = part;
	}
	return is_part ? n : 0;
}

int pfm_list_metric_sum(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned *events, unsigned n,
                        double *whole)
{
	pfm_metric_info_t info = PFM_INIT(info);
	uint32_t parts[MAX_SUM_PARTS];
	struct metric m;
	int rc = events || !n ? pfmi_metric_find_by_row(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL,
	    found = 0;

	if (!rc)
		rc = pfm_describe_metric(ctx, pmu, event, &info);
	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(sum_names) / sizeof(sum_names[0]) && !found; i++)
		found = list_sum_parts(m.table, m.row, sum_names[i], parts);
	if (!found || get_total_of_share(&info) == 0)
		return PFMLIB_ERR_NOTFOUND;
	for (unsigned i = 0; i < (unsigned)found && i < n; i++)
		events[i] = parts[i];
	if (whole)
		*whole = get_total_of_share(&info);
	return found;
}
