/* SPDX-License-Identifier: MIT */
/* Descriptions of PMUs, events and unit masks: each answer against its table, for all built-in
 * tables, and each wrong argument. */
#include "units.h"
#include "open_for.h"
#include "context/context.h"

/* Where the value of @key for every counter is; NULL if the row does not say. */
static const char *text_of(const struct table *t, uint32_t row, enum field_key key)
{
	return pfmi_table_has_row_value(t, row, key)
	               ? table_get_text(
				 t, (uint32_t)pfmi_table_get_row_value(t, row, key, ANY_COUNTER))
	               : "";
}

static void check_event(const pfm_ctx_t *ctx, unsigned pmu, const struct table *t, uint32_t row)
{
	const struct row *r = table_get_row(t, row);
	perfmon_event_info_t info = { .size = sizeof(info) };

	assert_int_equal(pfm_describe_event(ctx, (int)pmu, row, &info), PFMLIB_SUCCESS);
	assert_true(info.pmu == (int)pmu && info.event == row &&
	            info.counters == table_get_row_counter_mask(t, r) &&
	            info.n_fields == r->n_values);
	assert_true(info.name == table_get_text(t, r->name) &&
	            info.desc == table_get_text(t, r->desc));
	assert_string_equal(info.errata, text_of(t, row, KEY_ERRATA));
	assert_string_equal(info.note, text_of(t, row, KEY_NOTE));
	assert_string_equal(info.replaced, text_of(t, row, KEY_REPLACED));
	assert_string_equal(info.unit, text_of(t, row, KEY_UNIT));
	assert_string_equal(info.detail, text_of(t, row, KEY_DETAIL));
	assert_true(info.period ==
	            (pfmi_table_has_row_value(t, row, KEY_PERIOD)
	                     ? pfmi_table_get_row_value(t, row, KEY_PERIOD, ANY_COUNTER)
	                     : 0));
	assert_true(info.code == (pfmi_table_has_row_value(t, row, KEY_CODE)
	                                  ? pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER)
	                                  : 0));
	assert_true(info.counters_htoff ==
	            (pfmi_table_has_row_value(t, row, KEY_HTOFF)
	                     ? pfmi_table_get_row_value(t, row, KEY_HTOFF, ANY_COUNTER)
	                     : 0));
	assert_int_equal(!!(info.flags & PFM_EVENT_HIDDEN), !!(r->flags & ROW_HIDDEN));
	assert_int_equal(!!(info.flags & PFM_EVENT_DEPRECATED), !!(r->flags & ROW_DEPRECATED));
	assert_int_equal(!!(info.flags & PFM_EVENT_METRIC), !!(r->flags & ROW_METRIC));
	assert_int_equal(info.flags / PFM_EVENT_BY_VENDOR & 7, table_get_row_sources(t, row));
	assert_true(info.scale > 0);
}

/* Masks and fields of an event are as many as it says. */
static void check_parts(const pfm_ctx_t *ctx, unsigned pmu, const struct table *t, uint32_t row)
{
	perfmon_event_info_t info = { .size = sizeof(info) };

	pfm_describe_event(ctx, (int)pmu, row, &info);
	for (unsigned i = 0; i <= info.n_umasks; i++) {
		pfm_umask_info_t mask = { .size = sizeof(mask) };
		const struct umask_group *g;
		const struct named_value *w = pfmi_pmu_get_row_umask(t, row, i, &g);
		int rc = pfm_describe_umask(ctx, (int)pmu, row, i, &mask);

		assert_int_equal(rc, i < info.n_umasks ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND);
		if (rc)
			continue;
		assert_true(mask.name == table_get_text(t, w->name) && mask.value == w->value &&
		            mask.group == table_get_text(t, g->name));
		assert_int_equal(mask.is_combinable, !!(g->flags & GROUP_COMBINABLE));
		if (!(g->flags & GROUP_HAS_DEFAULT))
			assert_false(mask.is_default);
		else if (!(g->flags & GROUP_COMBINABLE))
			assert_int_equal(mask.is_default, w->value == g->default_value);
	}
	for (unsigned i = 0; i <= info.n_fields; i++) {
		const char *name, *text;
		uint64_t value;
		int counter, rc = pfm_describe_field(ctx, (int)pmu, row, i, &name, &text, &value,
		                                     &counter);
		struct field_value v;

		assert_int_equal(rc, i < info.n_fields ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND);
		if (rc)
			continue;
		v = table_get_row_value(t, table_get_row(t, row), i);
		assert_true(value == (table_fields(t)[v.field].kind == FIELD_TEXT ? 0 : v.value));
		assert_int_equal(counter, v.counter == ANY_COUNTER ? -1 : v.counter);
		assert_true(name == table_get_text(t, table_fields(t)[v.field].name));
		if (table_fields(t)[v.field].kind == FIELD_TEXT)
			assert_true(text == table_get_text(t, (uint32_t)v.value));
	}
}

static void every_event_describes_itself(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (unsigned pmu = 0; pmu < table_count_builtins(); pmu++) {
		const struct table *t = table_get_builtin(pmu);
		perfmon_event_info_t info = { .size = sizeof(info) };
		pfm_umask_info_t mask = { .size = sizeof(mask) };
		uint32_t end = t->n_rows + t->n_alias_rows;

		for (uint32_t row = 0; row < end; row += 1 + pmu % 7) {
			check_event(ctx, pmu, t, row);
			check_parts(ctx, pmu, t, row);
		}
		assert_int_equal(pfm_describe_event(ctx, (int)pmu, end, &info), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_umask(ctx, (int)pmu, end, 0, &mask),
		                 PFMLIB_ERR_INVAL);
	}
	pfm_close_context(ctx);
}

/* A unit is what its table says; its name leads to it, or to another one of that name. */
static void every_pmu_is_what_its_table_says(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	assert_int_equal(pfm_count_pmus(ctx), table_count_builtins());
	for (unsigned pmu = 0; pmu < table_count_builtins(); pmu++) {
		const struct table *t = table_get_builtin(pmu);
		perfmon_pmu_info_t info = { .size = sizeof(info) };
		const char *name, *text;
		uint64_t value;
		int found;

		assert_int_equal(pfm_describe_pmu(ctx, (int)pmu, &info), PFMLIB_SUCCESS);
		assert_true(info.name == table_get_text(t, t->name) &&
		            info.desc == table_get_text(t, t->desc) &&
		            info.aliases == table_get_text(t, t->aliases));
		assert_true(info.n_events == t->n_rows && info.libpfm_type == t->libpfm_type &&
		            info.type == t->perf_type);
		assert_int_equal(info.n_counters, __builtin_popcount((uint32_t)t->all_counters));
		assert_int_equal(info.n_fixed,
		                 __builtin_popcount((uint32_t)(t->all_counters >> 32)));
		assert_int_equal(info.width, t->n_counters ? table_counters(t)->width : 64);
		assert_true(info.n_instances == 0 && *info.cpus == '\0');
		for (unsigned i = 0; i < t->n_features; i++) {
			assert_int_equal(
				pfm_describe_feature(ctx, (int)pmu, i, &name, &text, &value),
				PFMLIB_SUCCESS);
			assert_true(name == table_get_text(t, table_features(t)[i].name) &&
			            text == table_get_text(t, table_features(t)[i].text));
			assert_true(value == table_features(t)[i].value);
		}
		assert_int_equal(
			pfm_describe_feature(ctx, (int)pmu, t->n_features, &name, &text, &value),
			PFMLIB_ERR_NOTFOUND);
		found = pfm_find_pmu(ctx, info.name);
		assert_true(found >= 0 &&
		            strcmp(table_get_text(table_get_builtin((unsigned)found),
		                                  table_get_builtin((unsigned)found)->name),
		                   info.name) == 0);
	}
	assert_int_equal(pfm_find_pmu(ctx, "no such unit"), -1);
	assert_int_equal(pfm_find_pmu(ctx, NULL), -1);
	pfm_close_context(ctx);
}

/* Callers whose struct has fewer members get those, and nothing after them is written. */
static void smaller_structs_get_the_members_they_have(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	perfmon_event_info_t full = { .size = sizeof(full) }, part;

	(void)state;
	assert_int_equal(pfm_describe_event(ctx, 0, 0, &full), PFMLIB_SUCCESS);
	memset(&part, 0xee, sizeof(part));
	part.size = offsetof(perfmon_event_info_t, desc);
	assert_int_equal(pfm_describe_event(ctx, 0, 0, &part), PFMLIB_SUCCESS);
	assert_true(part.name == full.name && part.size == offsetof(perfmon_event_info_t, desc));
	for (size_t i = offsetof(perfmon_event_info_t, desc); i < sizeof(part); i++)
		assert_int_equal(((unsigned char *)&part)[i], 0xee);
	part.size = sizeof(part.size) - 1;
	assert_int_equal(pfm_describe_event(ctx, 0, 0, &part), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

/* A look-up of a built-in table does not read this machine. */
static void found_without_loading(void **state)
{
	const struct table *first = table_get_builtin(0);
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	assert_int_equal(pfm_find_pmu(ctx, table_get_text(first, first->name)), 0);
	assert_false(context_is_loaded(ctx, LOADED_ALL));
	assert_int_equal(pfm_find_pmu(ctx, "no such unit"), -1);
	assert_true(context_is_loaded(ctx, LOADED_ALL));
	pfm_close_context(ctx);
}

static void questions_that_make_no_sense(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const int none[] = { -1, (int)table_count_builtins(), INT32_MAX, INT32_MIN };
	perfmon_event_info_t event = { .size = sizeof(event) };
	pfm_umask_info_t mask = { .size = sizeof(mask) };
	perfmon_pmu_info_t pmu = { .size = sizeof(pmu) };
	const char *name, *text;
	uint64_t value;
	unsigned row;
	int n;

	(void)state;
	for (size_t i = 0; i < COUNT(none); i++) {
		assert_int_equal(pfm_describe_pmu(ctx, none[i], &pmu), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_event(ctx, none[i], 0, &event), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_umask(ctx, none[i], 0, 0, &mask), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_field(ctx, none[i], 0, 0, &name, &text, &value, &n),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_feature(ctx, none[i], 0, &name, &text, &value),
		                 PFMLIB_ERR_INVAL);
	}
	assert_int_equal(pfm_describe_event(ctx, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_pmu(ctx, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_umask(ctx, 0, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(ctx, 0, 0, 0, NULL, &text, &value, &n),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(ctx, 0, 0, 0, &name, NULL, &value, &n),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(ctx, 0, 0, 0, &name, &text, NULL, &n),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(ctx, 0, 0, 0, &name, &text, &value, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_feature(ctx, 0, 0, &name, &text, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(ctx, NULL, &n, &row, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(ctx, "x", NULL, &row, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(ctx, "x", &n, NULL, NULL), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

UNIT(format_describe, cmocka_unit_test(every_event_describes_itself),
     cmocka_unit_test(every_pmu_is_what_its_table_says), cmocka_unit_test(found_without_loading),
     cmocka_unit_test(smaller_structs_get_the_members_they_have),
     cmocka_unit_test(questions_that_make_no_sense));
