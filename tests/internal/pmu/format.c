/* SPDX-License-Identifier: MIT */
/* Events of which the registers hold configuration words only: counters named by the code, the
 * cycle counter, and parameters that the kernel requires. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "pmu/pmu_internal.h"
#include "table/build.h"

static bool get_feature(const struct table *t, const char *name, uint64_t *value)
{
	for (unsigned i = 0; i < t->n_features; i++)
		if (strcmp(table_get_text(t, table_features(t)[i].name), name) == 0) {
			*value = table_features(t)[i].value;
			return true;
		}
	return false;
}

/* POWER: four bits of the code name a counter, numbered from 1. */
static void counter_in_the_code(void **state)
{
	unsigned named = 0, free = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		uint64_t at = 0;

		if (t->encoder != ENCODER_FORMAT || !get_feature(t, "counter_at", &at))
			continue;
		assert_int_equal(table_counters(t)->first, 1);
		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct event ev;
			struct plan plan;
			const struct encode_request req = {
				.table = t, .events = &ev, .n_events = 1, .plm = PFM_PLM3
			};
			uint64_t config[N_CONFIG_WORDS], want;
			unsigned pmc;

			if (!is_event(t, row))
				continue;
			pfmi_pmu_init_event(&ev, t, row);
			pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
			pmc = (unsigned)(config[0] >> at) & 15;
			want = table_get_row_counter_mask(t, table_get_row(t, row));
			if (pmc)
				want &= (uint64_t)1 << pmc;
			assert_int_equal(pfmi_pmu_constrain_format_set(&req, &plan, NULL),
			                 PFMLIB_SUCCESS);
			assert_true(plan.alternatives[0].counter_masks[0] == want);
			named += pmc != 0;
			free += pmc == 0;
		}
	}
	assert_true(named > 100 && free > 0);
}

/* Arm: only cycle events can use the cycle counter. The first of two cycle events uses it. */
static void counter_of_cycles(void **state)
{
	const struct table *t = table_with(ENCODER_FORMAT, "armv8");
	uint64_t own = 0, code = 0;
	uint32_t cycles = ROW_NONE, other = ROW_NONE;
	struct event events[8];
	struct placement where;
	struct register_values regs;

	(void)state;
	assert_true(get_feature(t, "cycle_counter", &own) && get_feature(t, "cycle_event", &code));
	for (uint32_t row = 0; row < t->n_rows; row++)
		if (is_event(t, row) &&
		    pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER) == code)
			cycles = row;
		else if (is_event(t, row))
			other = row;
	assert_true(cycles != ROW_NONE && other != ROW_NONE);
	for (unsigned at = 0; at < 6; at++) {
		for (unsigned i = 0; i < 6; i++)
			pfmi_pmu_init_event(&events[i], t, i == at || i == 5 ? cycles : other);
		find_place(events, 6, PFM_PLM3, &where, &regs);
		for (unsigned i = 0; i < 6; i++) {
			assert_int_equal(where.counters[i] == own, i == at);
			assert_true(regs.pmds[i].num == where.counters[i] &&
			            regs.pmds[i].addr == where.counters[i]);
			assert_true(regs.pmcs[i].event == (int)i && regs.pmds[i].event == (int)i &&
			            regs.pmcs[i].kind == PFM_REG_CONFIG);
		}
	}
}

/* Without a cycle counter in the table no code gets a counter of its own, not even code 0. */
static void no_counter_of_cycles(void **state)
{
	unsigned zero = 0;
	uint64_t value;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		if (t->encoder != ENCODER_FORMAT || get_feature(t, "cycle_counter", &value) ||
		    get_feature(t, "counter_at", &value))
			continue;
		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct event ev;
			struct plan plan;
			const struct encode_request req = {
				.table = t, .events = &ev, .n_events = 1, .plm = PFM_PLM3
			};
			uint64_t want = table_get_row_counter_mask(t, table_get_row(t, row));

			if (!is_event(t, row) || want >> 32)
				continue;
			pfmi_pmu_init_event(&ev, t, row);
			assert_int_equal(pfmi_pmu_constrain_format_set(&req, &plan, NULL),
			                 PFMLIB_SUCCESS);
			assert_int_equal(plan.n_alternatives, 1);
			assert_true(plan.alternatives[0].counter_masks[0] == want);
			zero += (want & 1) &&
			        pfmi_pmu_get_key_value(&ev, KEY_CODE, ANY_COUNTER) == 0;
		}
	}
	assert_true(zero > 0);
}

/* An unavailable counter is not a candidate; settings of a processor model are refused. */
static void unavailable_counters_are_refused(void **state)
{
	const struct table *t = table_with(ENCODER_FORMAT, "armv8");
	struct event ev;
	struct plan plan;
	pfmlib_regmask_t busy = { 0 };
	struct encode_request req = {
		.table = t, .events = &ev, .n_events = 1, .unavailable_regs = &busy
	};

	(void)state;
	pfmi_pmu_init_event(&ev, t, 0);
	busy.bits[0] = 5;
	assert_int_equal(pfmi_pmu_constrain_format_set(&req, &plan, NULL), PFMLIB_SUCCESS);
	assert_true(plan.alternatives[plan.n_alternatives - 1].counter_masks[0] ==
	            (table_get_row_counter_mask(t, table_get_row(t, 0)) & ~(uint64_t)5));
	req.model_in = &busy;
	assert_int_equal(pfmi_pmu_constrain_format_set(&req, &plan, NULL), PFMLIB_ERR_NOTSUPP);
}

/* A table as the kernel describes a PMU: two configuration words, and an event with required
 * parameters. */
static struct table *make_table_with_parameters(void)
{
	const struct bitrange code = { .config_word = 0, .lsb = 0, .width = 16 },
			      domain = { .config_word = 1, .lsb = 0, .width = 8 },
			      core = { .config_word = 2, .lsb = 32, .width = 32 };
	struct table_builder b;
	unsigned params, event;

	pfmi_table_begin_build(&b);
	b.head.encoder = ENCODER_FORMAT;
	b.head.perf_type = b.head.libpfm_type = -1;
	event = pfmi_table_add_field(&b, "event", KEY_CODE, &code, 1);
	pfmi_table_add_field(&b, "domain", KEY_NONE, &domain, 1);
	pfmi_table_add_field(&b, "core", KEY_NONE, &core, 1);
	params = pfmi_table_add_text_field(&b, KEY_PARAMS);
	pfmi_table_begin_row(&b, "plain", "", 0);
	pfmi_table_set_row_value(&b, event, 0x1234);
	pfmi_table_begin_row(&b, "asks", "", 0);
	pfmi_table_set_row_value(&b, event, 7);
	pfmi_table_set_row_value(&b, params, pfmi_table_add_text(&b, "domain core", 11));
	return pfmi_table_finish_build(&b);
}

static void an_event_without_its_parameters_is_refused(void **state)
{
	struct table *t = make_table_with_parameters();
	struct placement where;
	struct event events[2], *ev = &events[1];
	struct register_values regs;
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	assert_non_null(t);
	pfmi_pmu_init_event(&events[0], t, 0);
	assert_int_equal(pfmi_pmu_check_format_event(&events[0], NULL), PFMLIB_SUCCESS);
	pfmi_pmu_init_event(ev, t, ROW_NONE);
	assert_int_equal(pfmi_pmu_check_format_event(ev, NULL), PFMLIB_SUCCESS);
	pfmi_pmu_init_event(ev, t, 1);
	assert_int_equal(pfmi_pmu_check_format_event(ev, &why), PFMLIB_ERR_ATTR_MISSING);
	assert_int_equal(why.kind, PFM_KIND_MISSING_VALUE);
	ev->user_fields[ev->n_user_fields].field = 1;
	ev->user_fields[ev->n_user_fields++].value = 3;
	assert_int_equal(pfmi_pmu_check_format_event(ev, NULL), PFMLIB_ERR_ATTR_MISSING);
	ev->user_fields[0].field = 2;
	assert_int_equal(pfmi_pmu_check_format_event(ev, NULL), PFMLIB_ERR_ATTR_MISSING);
	ev->user_fields[ev->n_user_fields].field = 1;
	ev->user_fields[ev->n_user_fields++].value = 9;
	assert_int_equal(pfmi_pmu_check_format_event(ev, NULL), PFMLIB_SUCCESS);
	/* The first word of each event comes first, then all further words other than 0. The table
	 * has no counters, so no data registers follow. */
	find_place(events, 2, PFM_PLM3, &where, &regs);
	assert_int_equal(regs.n_pmds, 0);
	assert_int_equal(regs.n_pmcs, 4);
	assert_true(regs.pmcs[0].value == 0x1234 && regs.pmcs[0].event == 0 &&
	            regs.pmcs[0].num == 0);
	assert_true(regs.pmcs[1].value == 7 && regs.pmcs[1].event == 1 && regs.pmcs[1].num == 0);
	assert_true(regs.pmcs[2].value == 9 && regs.pmcs[2].event == 1 && regs.pmcs[2].num == 1);
	assert_true(regs.pmcs[3].value == (uint64_t)3 << 32 && regs.pmcs[3].event == 1 &&
	            regs.pmcs[3].num == 2);
	free(t);
}

UNIT(pmu_format, cmocka_unit_test(counter_in_the_code), cmocka_unit_test(counter_of_cycles),
     cmocka_unit_test(no_counter_of_cycles), cmocka_unit_test(unavailable_counters_are_refused),
     cmocka_unit_test(an_event_without_its_parameters_is_refused));
