/* SPDX-License-Identifier: MIT */
/* Questions about Alpha's events: each kind of answer on an event that the manuals describe so, and
 * every refusal. */
#include "expect.h"
#include "unit_tables.h"
#include <perfmon/alpha.h>
#include "alpha_tables.h"

enum {
	EV4 = PFMLIB_ALPHA_EV4_PMU,
	EV5 = PFMLIB_ALPHA_EV5_PMU,
	EV6 = PFMLIB_ALPHA_EV6_PMU,
	EV67 = PFMLIB_ALPHA_EV67_PMU
};

static pfm_alpha_event_info_t info_of(int pmu, const char *name)
{
	pfm_alpha_event_info_t info;

	memset(&info, 0xff, sizeof info);
	assert_int_equal(pfm_alpha_get_event_info(pmu, row_of(pmu, name), &info), PFMLIB_SUCCESS);
	return info;
}

/* Most events count on their own, once for each occurrence. */
static void most_events_count_each_occurrence_once(void **state)
{
	pfm_alpha_event_info_t i = info_of(EV4, "cycles");

	(void)state;
	assert_true(i.kind == PFM_ALPHA_EVENT && i.statistic == 0 && i.pm_mode == -1 &&
	            i.weight_num == 1 && i.weight_den == 1);
	assert_true(i.half_units == 0 && i.counters == 1 && i.uncertainty == 0 &&
	            i.error_counts == 0 && i.shift_cycles == 0);
	assert_true(i.window_less == 0 && i.linux_raw == 0);
	assert_string_equal(i.constant, "PF_CYCLES");
	assert_string_equal(i.formula, "");
	i = info_of(EV5, "cycles"); /* on either of two counters */
	assert_int_equal(i.counters, 5);
}

/* Halves and doubles. */
static void some_events_count_halves_or_doubles(void **state)
{
	pfm_alpha_event_info_t half = info_of(EV4, "issues"), twice = info_of(EV6, "retdtb1miss");

	(void)state;
	assert_true(half.half_units == 1 && half.weight_num == 1 && half.weight_den == 1);
	assert_true(twice.half_units == 0 && twice.weight_num == 1 && twice.weight_den == 2);
	assert_int_equal(twice.uncertainty, PFM_ALPHA_UNC_TWICE);
}

static void uncertain_counts_have_their_reason(void **state)
{
	static const struct {
		int pmu;
		const char *name;
		unsigned want;
		int error, shift, less;
	} rows[] = {
		{ EV4, "pipedry", PFM_ALPHA_UNC_COST, 0, 0, 0 },
		{ EV4, "loadi", PFM_ALPHA_UNC_REPLAYED, 0, 0, 0 },
		{ EV4, "dcache", PFM_ALPHA_UNC_OVER, 0, 0, 0 },
		{ EV4, "extpin0", PFM_ALPHA_UNC_NAME | PFM_ALPHA_UNC_PIN, 0, 0, 0 },
		{ EV5, "longstalls", PFM_ALPHA_UNC_NAME | PFM_ALPHA_UNC_DISPUTED, 0, 0, 0 },
		{ EV6, "retbranchmispr", PFM_ALPHA_UNC_NAME | PFM_ALPHA_UNC_NOT_BUILT, 0, 0, 0 },
		{ EV67, "bcachemisses", PFM_ALPHA_UNC_PROBES, 0, 0, 0 },
		{ EV67, "pm_mode0", PFM_ALPHA_UNC_RETIRED, 4, 0, 0 },
		{ EV67, "pm_mode1", PFM_ALPHA_UNC_WINDOW, 0, 0, 2 },
		{ EV67, "pm_mode2", PFM_ALPHA_UNC_RETIRED | PFM_ALPHA_UNC_EARLY, 4, -3, 0 },
		{ EV67, "pm_mode3", PFM_ALPHA_UNC_LATE, 0, 1, 0 },
		{ EV67, "cbr_taken", PFM_ALPHA_UNC_CBR, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_alpha_event_info_t got = info_of(rows[i].pmu, rows[i].name);

		EXPECT_ROW_NUMBER(rows[i].name, got.uncertainty, rows[i].want);
		EXPECT_ROW_TRUE(rows[i].name, got.error_counts == rows[i].error &&
		                                      got.shift_cycles == rows[i].shift &&
		                                      got.window_less == rows[i].less);
	}
}

/* The kinds of EV67, and what of them needs a counting mode or takes both counters. */
static void event_kinds_of_ev67(void **state)
{
	static const struct {
		const char *name;
		int kind, mode;
		unsigned statistic, counters, raw;
	} rows[] = {
		{ "cycles0", PFM_ALPHA_AGGREGATE, -1, 0, 1, 1 },
		{ "replay", PFM_ALPHA_AGGREGATE, -1, 0, 2, 4 },
		{ "anycycles", PFM_ALPHA_AGGREGATE, -1, 0, 3, 1 },
		{ "cycles0+replay", PFM_ALPHA_PAIR, -1, 0, 3, 0 },
		{ "pm_mode0", PFM_ALPHA_PM_MODE, 0, 0, 3, 0 },
		{ "pm_mode3", PFM_ALPHA_PM_MODE, 3, 0, 3, 0 },
		{ "abort", PFM_ALPHA_PROFILEME, -1, 1, 3, 0 },
		{ "abort_per_ret", PFM_ALPHA_RATIO, -1, 2, 3, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_alpha_event_info_t got = info_of(EV67, rows[i].name);
		unsigned row = row_of(EV67, rows[i].name);

		EXPECT_ROW_NUMBER(rows[i].name, got.kind, rows[i].kind);
		EXPECT_ROW_NUMBER(rows[i].name, got.pm_mode, rows[i].mode);
		EXPECT_ROW_TRUE(rows[i].name, got.statistic == rows[i].statistic &&
		                                      got.linux_raw == (int)rows[i].raw &&
		                                      got.counters == rows[i].counters);
		EXPECT_ROW_NUMBER(rows[i].name, pfm_alpha_is_pair(EV67, row),
		                  rows[i].kind == PFM_ALPHA_PAIR);
		EXPECT_ROW_NUMBER(rows[i].name, pfm_alpha_is_ratio(EV67, row),
		                  rows[i].kind == PFM_ALPHA_RATIO);
		EXPECT_ROW_NUMBER(rows[i].name, pfm_alpha_is_profileme(EV67, row),
		                  rows[i].kind >= PFM_ALPHA_PROFILEME);
	}
	assert_string_equal(info_of(EV67, "abort_per_ret").formula, "100 * abort / retired");
	assert_non_null(strstr(info_of(EV67, "cycles0").note, "replay"));
	/* Of other tables no event is of these kinds. */
	assert_int_equal(pfm_alpha_is_pair(EV6, 0) | pfm_alpha_is_ratio(EV6, 0) |
	                         pfm_alpha_is_profileme(EV6, 0),
	                 0);
	assert_int_equal(info_of(EV6, "retbranchmispr").pm_mode, -1);
}

static void each_event_has_its_select_bits(void **state)
{
	unsigned select = 77, cbox = 77, row = row_of(EV5, "scachevictims");
	const char *constant = NULL;

	(void)state;
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 1, &select, &cbox), PFMLIB_SUCCESS);
	assert_true(select == 0xf && cbox == 3);
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 1, NULL, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 0, &select, &cbox), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 2, &select, &cbox), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 64, &select, &cbox),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_select(EV5, row, 65, &select, &cbox),
	                 PFMLIB_ERR_INVAL);
	row = row_of(EV67, "anycycles"); /* another select and another constant on each counter */
	for (unsigned counter = 0; counter < 2; counter++) {
		assert_int_equal(pfm_alpha_get_event_select(EV67, row, counter, &select, &cbox),
		                 PFMLIB_SUCCESS);
		assert_true(select == !counter && cbox == 0);
		assert_int_equal(pfm_alpha_get_event_constant(EV67, row, counter, &constant),
		                 PFMLIB_SUCCESS);
		assert_string_equal(constant, counter ? "PF67_RET_INST_AND_CYCLES"
		                                      : "PF67_CYCLES_AND_UNDEFINED");
	}
	assert_string_equal(info_of(EV67, "anycycles").constant, "PF67_CYCLES_AND_UNDEFINED");
	assert_int_equal(pfm_alpha_get_event_constant(EV67, row, 2, &constant), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_constant(EV67, row, 0, NULL), PFMLIB_ERR_INVAL);
}

/* Partners are what a dispatch of both takes, from the first on, and partners of each other. */
static void events_that_count_together(void **state)
{
	static const int pmus[] = { EV4, EV5, EV67 };

	(void)state;
	for (size_t p = 0; p < COUNT(pmus); p++) {
		const struct table *t = table_of(pmus[p]);
		unsigned row = row_of(pmus[p], pmus[p] == EV67 ? "cycles0" : "cycles"), n = 0, with;

		for (uint32_t i = 0; i < t->n_rows; i++) {
			struct event events[2];
			struct encode_request req = { .table = t,
				                      .events = events,
				                      .n_events = 2,
				                      .plm = PFM_PLM0 | PFM_PLM3 };
			struct placement where;
			struct register_values regs;

			pfmi_pmu_init_event(&events[0], t, i);
			pfmi_pmu_init_event(&events[1], t, row);
			if (pfmi_pmu_dispatch_set(&req, &where, &regs, NULL) != PFMLIB_SUCCESS)
				continue;
			assert_int_equal(pfm_alpha_get_event_partner(pmus[p], row, n++, &with),
			                 PFMLIB_SUCCESS);
			assert_int_equal(with, i);
		}
		assert_true(n > 0);
		assert_int_equal(pfm_alpha_get_event_partner(pmus[p], row, n, &with),
		                 PFMLIB_ERR_NOTFOUND);
	}
}

/* The last event of each table is there, the next one is not; nothing is known of other types. */
static void unknown_pmus_and_events(void **state)
{
	static const int none[] = { EV4 - 1, EV67 + 1, 0, -1, 4 };
	pfm_alpha_event_info_t info;
	const char *constant;
	unsigned n;

	(void)state;
	for (int pmu = EV4; pmu <= EV67; pmu++) {
		unsigned end = table_of(pmu)->n_rows;

		assert_int_equal(pfm_alpha_get_event_info(pmu, end - 1, &info), PFMLIB_SUCCESS);
		assert_int_equal(pfm_alpha_get_event_info(pmu, end - 1, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_get_event_info(pmu, end, &info), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_get_event_select(pmu, end, 0, &n, &n), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_get_event_constant(pmu, end, 0, &constant),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_get_event_partner(pmu, end, 0, &n), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_get_event_partner(pmu, 0, 0, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_is_pair(pmu, end) | pfm_alpha_is_profileme(pmu, end) |
		                         pfm_alpha_is_ratio(pmu, end),
		                 0);
	}
	for (size_t i = 0; i < COUNT(none); i++) {
		assert_int_equal(pfm_alpha_get_event_info(none[i], 0, &info), PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfm_alpha_get_event_select(none[i], 0, 0, &n, &n),
		                 PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfm_alpha_get_event_constant(none[i], 0, 0, &constant),
		                 PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfm_alpha_get_event_partner(none[i], 0, 0, &n),
		                 PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfm_alpha_is_pair(none[i], 0), 0);
	}
}

UNIT(encode_alpha_query, cmocka_unit_test(most_events_count_each_occurrence_once),
     cmocka_unit_test(some_events_count_halves_or_doubles),
     cmocka_unit_test(uncertain_counts_have_their_reason), cmocka_unit_test(event_kinds_of_ev67),
     cmocka_unit_test(each_event_has_its_select_bits), cmocka_unit_test(events_that_count_together),
     cmocka_unit_test(unknown_pmus_and_events));
