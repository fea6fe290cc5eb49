/* SPDX-License-Identifier: MIT */
/* Metrics by name and by group, against a walk over all rows. */
#include "units.h"
#include <ctype.h>
#include <strings.h>
#include "open_for.h"
#include "metric/metric.h"

/* Is @word one of @list, which semicolons separate? */
static bool word_in(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; *s; s += strcspn(s, ";"), s += *s == ';')
		if (strcspn(s, ";") == n && strncasecmp(s, word, n) == 0)
			return true;
	return false;
}

/* How many metrics of @t are in @group. */
static unsigned members(const struct table *t, const char *group)
{
	unsigned n = 0;

	for (uint32_t row = 0; row < t->n_rows; row++)
		n += table_get_row(t, row)->flags & ROW_METRIC &&
		     word_in(pfmi_table_get_row_text(t, row, KEY_METRIC_GROUP), group);
	return n;
}

static void groups_of(const pfm_ctx_t *ctx, const struct table *t, uint32_t row)
{
	const char *groups = pfmi_table_get_row_text(t, row, KEY_METRIC_GROUP);
	char group[128], text[256];
	struct metric_list found = { 0 };

	if (!*groups || strcspn(groups, ";") >= sizeof(group))
		return;
	snprintf(group, sizeof(group), "%.*s", (int)strcspn(groups, ";"), groups);
	if (strcspn(group, ":,./ ") != strlen(group) || strstr(group, "_group"))
		return;
	for (char *p = group; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name), group);
	assert_int_equal(pfmi_metric_find_group(ctx, text, &found), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < found.n_metrics; i++) {
		const struct table *of = context_get_pmu_table(ctx, found.refs[i].pmu);

		assert_true(word_in(
			pfmi_table_get_row_text(of, found.refs[i].row, KEY_METRIC_GROUP), group));
	}
	assert_true(found.n_metrics >= members(t, group));
	free(found.refs);
}

static void groups_are_found_by_name(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0, n = 0;
		     table_get_key_field_plus1(t, KEY_METRIC) && row < t->n_rows && n < 3; row++)
			if (table_get_row(t, row)->flags & ROW_METRIC) {
				groups_of(ctx, t, row);
				n++;
			}
	}
	pfm_close_context(ctx);
}

static void metrics_are_found_by_name(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	struct metric_list list = { 0 };

	(void)state;
	assert_int_equal(pfmi_metric_add_by_name(ctx, "hardware::ipc", &list), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_metric_add_by_name(ctx, "HARDWARE::GHZ", &list), PFMLIB_SUCCESS);
	assert_int_equal(list.n_metrics, 2);
	assert_true(table_get_row(context_get_pmu_table(ctx, list.refs[1].pmu), list.refs[1].row)
	                    ->flags &
	            ROW_METRIC);
	assert_int_equal(strcasecmp(table_get_row_name(context_get_pmu_table(ctx, list.refs[1].pmu),
	                                               list.refs[1].row),
	                            "ghz"),
	                 0);
	/* Events, groups and unknown names are not metrics; the list stays unchanged. */
	assert_int_equal(pfmi_metric_add_by_name(ctx, "hardware::cycles", &list),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_add_by_name(ctx, "software::ratios", &list),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_add_by_name(ctx, "hardware::nothing", &list),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_add_by_name(ctx, "", &list), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_find_group(ctx, "hardware::ipc", &list), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_find_group(ctx, "software::ratio", &list),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_find_group(ctx, "software::ratioss", &list),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfmi_metric_find_group(ctx, "", &list), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(list.n_metrics, 2);
	assert_int_equal(pfmi_metric_find_group(ctx, "software::ratios", &list), PFMLIB_SUCCESS);
	assert_int_equal(list.n_metrics, 6);
	free(list.refs);
	pfm_close_context(ctx);
}

/* The list grows: many times the same. */
static void the_list_of_metrics_grows(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	struct metric_list list = { 0 };

	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		assert_int_equal(pfmi_metric_find_group(ctx, "software::ratios", &list),
		                 PFMLIB_SUCCESS);
		assert_int_equal(list.n_metrics, 4 * i);
		assert_true(list.refs[4 * i - 4].row == list.refs[0].row &&
		            list.refs[4 * i - 1].row == list.refs[3].row);
	}
	free(list.refs);
	pfm_close_context(ctx);
}

static void names_of_linux_begin_with_tma(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned vendors_row, row;
	int vendors_pmu, pmu;

	(void)state;
	assert_int_equal(
		pfm_find_event_by_text(ctx, "skl::Memory_Bound", &vendors_pmu, &vendors_row, NULL),
		PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_event_by_text(ctx, "skl::tma_memory_bound", &pmu, &row, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pmu, vendors_pmu);
	assert_int_equal(row, vendors_row);
	/* An event is no metric. */
	assert_int_equal(pfm_find_event_by_text(ctx, "skl::tma_INST_RETIRED.ANY", &pmu, &row, NULL),
	                 PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
}

UNIT(metric_names, cmocka_unit_test(groups_are_found_by_name),
     cmocka_unit_test(metrics_are_found_by_name), cmocka_unit_test(the_list_of_metrics_grows),
     cmocka_unit_test(names_of_linux_begin_with_tma));
