/* SPDX-License-Identifier: MIT */
/* Alpha: sets of events. Every pair and triple of every family is checked against brute force,
 * which applies the rules of the manuals without the solver. Also settings, refusals, and
 * queries about events. */
#include <perfmon/alpha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "dispatched_set.h"
#include "alpha_tables.h"

/* Dispatches rows of one table. */
static int dispatch_rows(int pmu, const unsigned *rows, unsigned n,
                         const pfmlib_alpha_input_param_t *in, pfmlib_alpha_output_param_t *out,
                         struct placement *where, struct register_values *regs, pfm_error_t *why)
{
	struct event events[4];
	struct encode_request req = { .table = table_of(pmu),
		                      .events = events,
		                      .n_events = n,
		                      .plm = PFM_PLM0 | PFM_PLM3,
		                      .model_in = in,
		                      .model_out = out };

	for (unsigned i = 0; i < n; i++)
		pfmi_pmu_init_event(&events[i], req.table, rows[i]);
	return pfmi_pmu_dispatch_set(&req, where, regs, why);
}

/* ---- brute force ----------------------------------------------------------------------------- */

/* EV67, from pfm(7): any single statistic, or one of three pairs; events of ProfileMe only alone.
 */
static bool ev67_fits(const struct table *t, const unsigned *rows, unsigned n)
{
	static const char *const pairs[][2] = { { "cycles0", "replay" },
		                                { "retinst", "cycles1" },
		                                { "retinst", "bcachemisses" },
		                                { "anycycles", "replay" },
		                                { "retinst", "anycycles" } };
	const char *a, *b;

	if (n == 1)
		return true;
	if (n > 2)
		return false;
	a = table_get_row_name(t, rows[0]);
	b = table_get_row_name(t, rows[1]);
	for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if ((strcmp(a, pairs[i][0]) == 0 && strcmp(b, pairs[i][1]) == 0) ||
		    (strcmp(b, pairs[i][0]) == 0 && strcmp(a, pairs[i][1]) == 0))
			return true;
	return false;
}

/* Other families: each event on a different counter that can count it. */
static bool distinct_fit(const struct table *t, const unsigned *rows, unsigned n)
{
	for (unsigned code = 0; code < 27; code++) {
		unsigned c[3] = { code % 3, code / 3 % 3, code / 9 }, used = 0;
		bool good = true;

		for (unsigned i = 0; i < n; i++) {
			good &= (table_get_row_counter_mask(t, table_get_row(t, rows[i])) >> c[i] &
			         1) &&
			        !(used >> c[i] & 1);
			used |= 1u << c[i];
		}
		if (good)
			return true;
	}
	return false;
}

static bool can_place(const struct table *t, const unsigned *rows, unsigned n)
{
	return t->libpfm_type == PFMLIB_ALPHA_EV67_PMU ? ev67_fits(t, rows, n)
	                                               : distinct_fit(t, rows, n);
}

static void check_set(int pmu, const unsigned *rows, unsigned n, unsigned counts[2])
{
	const struct table *t = table_of(pmu);
	pfm_error_t why = { .size = sizeof why };
	struct placement where;
	struct register_values regs;
	int rc = dispatch_rows(pmu, rows, n, NULL, NULL, &where, &regs, &why);
	unsigned used = 0;

	if (rc == 0 ? !can_place(t, rows, n) : can_place(t, rows, n))
		fail_msg("%s: %s %s %s gives %d", table_get_text(t, t->name),
		         table_get_row_name(t, rows[0]), table_get_row_name(t, rows[1]),
		         n > 2 ? table_get_row_name(t, rows[2]) : "", rc);
	counts[rc == 0]++;
	if (rc) {
		assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
		assert_true(get_clash(&why) != 0 && get_clash(&why) < (uint64_t)1 << n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		assert_true(table_get_row_counter_mask(t, table_get_row(t, rows[i])) >>
		                    where.counters[i] &
		            1);
		assert_false(used >> where.counters[i] & 1);
		used |= 1u << where.counters[i];
	}
}

static void solver_agrees_with_brute_force(int pmu, unsigned pairs_that_fit)
{
	unsigned n = table_of(pmu)->n_rows, counts[2] = { 0 }, triples[2] = { 0 };

	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a; b < n; b++)
			check_set(pmu, (const unsigned[]){ a, b }, 2, counts);
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a; b < n; b++)
			for (unsigned c = b; c < n; c++)
				check_set(pmu, (const unsigned[]){ c, a, b }, 3, triples);
	assert_int_equal(counts[1], pairs_that_fit);
	print_message("# %s: %u of %u pairs, %u of %u triples fit\n",
	              table_get_text(table_of(pmu), table_of(pmu)->name), counts[1],
	              counts[0] + counts[1], triples[1], triples[0] + triples[1]);
}

/* 9 events on counter 0 with 8 on counter 1. */
static void brute_force_ev4(void **state)
{
	(void)state;
	solver_agrees_with_brute_force(PFMLIB_ALPHA_EV4_PMU, 72);
}

/* Number of sets. Only counter 0: issues. 0 or 2: cycles. Only 1: 21 events. 1 or 2: scachewrites.
 * Only 2: 20 events. Pairs from two of these classes all fit, and so do cycles and scachewrites
 * with themselves: 1 + 21 + 1 + 20, 1 + 21 + 1 + 20, 21 + 21 * 20, 1 + 20. */
static void brute_force_ev5(void **state)
{
	(void)state;
	solver_agrees_with_brute_force(PFMLIB_ALPHA_EV5_PMU, 548);
}
/* Like EV5, but 22 events only on counter 1, 21 only on counter 2 and none on either: 1 + 22 + 21,
 * 1 + 22 + 21, 22 * 21. */
static void brute_force_pca56(void **state)
{
	(void)state;
	solver_agrees_with_brute_force(PFMLIB_ALPHA_PCA56_PMU, 550);
}

/* cycles with itself, with retinst and with the 7 events of counter 1; retinst with those 7. */
static void brute_force_ev6(void **state)
{
	(void)state;
	solver_agrees_with_brute_force(PFMLIB_ALPHA_EV6_PMU, 16);
}
static void brute_force_ev67(void **state)
{
	(void)state;
	solver_agrees_with_brute_force(PFMLIB_ALPHA_EV67_PMU, 5);
}

/* ---- choice of counters ---------------------------------------------------------------------- */

static void ev5_cycles_moves_to_counter_2_when_0_is_taken(void **state)
{
	unsigned rows[] = { row_of(PFMLIB_ALPHA_EV5_PMU, "cycles"),
		            row_of(PFMLIB_ALPHA_EV5_PMU, "issues") };
	struct placement where;
	struct register_values regs;

	(void)state;
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV5_PMU, rows, 2, NULL, NULL, &where, &regs, NULL), 0);
	assert_int_equal(where.counters[0], 2); /* cycles can use counter 2 */
	assert_int_equal(where.counters[1], 0); /* issues can use counter 0 only */
	assert_int_equal(regs.pmcs[0].value, 0x8000000c);
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV5_PMU, rows, 1, NULL, NULL, &where, &regs, NULL), 0);
	assert_int_equal(where.counters[0], 0); /* the lowest free counter */
}

static void ev67_cycles_take_the_counter_that_the_other_statistic_leaves(void **state)
{
	static const struct {
		const char *other;
		unsigned counter;
		uint64_t word;
	} cases[] = { { "retinst", 1, 0x0 }, { "replay", 0, 0xc } };
	struct placement where;
	struct register_values regs;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		unsigned rows[] = { row_of(PFMLIB_ALPHA_EV67_PMU, "anycycles"),
			            row_of(PFMLIB_ALPHA_EV67_PMU, cases[i].other) };

		assert_int_equal(dispatch_rows(PFMLIB_ALPHA_EV67_PMU, rows, 2, NULL, NULL, &where,
		                               &regs, NULL),
		                 0);
		assert_int_equal(where.counters[0], cases[i].counter);
		assert_int_equal(regs.pmcs[0].value, cases[i].word);
	}
}

/* One request selects the events, a second one enables counting. */
static void ev4_selects_events_then_enables_counting(void **state)
{
	unsigned rows[] = { row_of(PFMLIB_ALPHA_EV4_PMU, "cycles"),
		            row_of(PFMLIB_ALPHA_EV4_PMU, "dcache") };
	struct placement where;
	struct register_values regs;

	(void)state;
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV4_PMU, rows, 2, NULL, NULL, &where, &regs, NULL), 0);
	assert_int_equal(regs.n_pmcs, 2);
	assert_int_equal(regs.pmcs[0].num, PFM_ALPHA_PMC_SELECT);
	assert_int_equal(regs.pmcs[0].alt_addr, PCNTSETMUX);
	assert_int_equal(regs.pmcs[1].num, PFM_ALPHA_PMC_START);
	assert_int_equal(regs.pmcs[1].alt_addr, PCNTRENABLE);
	assert_int_equal(regs.pmcs[1].addr, 1); /* wrperfmon: enable */
}

static void counters_others_hold_are_left_alone(void **state)
{
	struct event ev;
	pfmlib_regmask_t taken = { { 1 } };
	struct encode_request req = { .table = table_of(PFMLIB_ALPHA_EV5_PMU),
		                      .events = &ev,
		                      .n_events = 1,
		                      .plm = 9,
		                      .unavailable_regs = &taken };
	struct placement where;
	struct register_values regs;

	(void)state;
	pfmi_pmu_init_event(&ev, req.table, row_of(PFMLIB_ALPHA_EV5_PMU, "cycles"));
	assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &regs, NULL), 0);
	assert_int_equal(where.counters[0], 2);
	taken.bits[0] = 5;
	assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &regs, NULL), PFMLIB_ERR_NOASSIGN);
	req.table = table_of(PFMLIB_ALPHA_EV67_PMU); /* an event that uses both counters */
	taken.bits[0] = 2;
	pfmi_pmu_init_event(&ev, req.table, row_of(PFMLIB_ALPHA_EV67_PMU, "abort"));
	assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &regs, NULL), PFMLIB_ERR_NOASSIGN);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int encode(const char *text, struct dispatched_set *set, pfmlib_alpha_output_param_t *out,
                  pfm_error_t *why)
{
	pfm_ctx_options_t options = { .size = sizeof options,
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_dispatch_options_t so = { .size = sizeof so, .model_out = out };
	pfm_ctx_t *ctx;
	int rc;

	assert_int_equal(pfm_open_context(&ctx, &options, NULL), 0);
	rc = dispatch_set(ctx, &text, 1, &so, set, why);
	pfm_close_context(ctx);
	return rc;
}

static void events_are_found_by_every_name_they_have(void **state)
{
	static const struct {
		const char *text;
		uint64_t word;
	} names[] = {
		{ "ev5::PF5_MUX1_REPLAY_TRAP", 0x30 },
		{ "alpha_ev5::Replay", 0x30 },
		{ "ev67::PF67_CYCLES_AND_REPLAY_TRAPS", 0xc },
		{ "ev67::retinst+bcachemisses", 0x8 },
		{ "ev67::mboxreplay", 0xc },
		{ "ev67::PF67_PM_DELAY", 0x14 },
		{ "ev4::PF_PALMODE", 0xb00 },
		{ "ev67::instructions", 0x0 },
		{ "ev6::retbranchmispr", 0x2 },
	};
	pfmlib_alpha_output_param_t out;
	struct dispatched_set set;

	(void)state;
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		int rc = encode(names[i].text, &set, &out, NULL);

		if (rc || set.pmcs[0].value != names[i].word)
			fail_msg("%s: %d, %#llx", names[i].text, rc,
			         (unsigned long long)set.pmcs[0].value);
	}
}

static void a_period_is_a_rate_or_a_start_value(void **state)
{
	pfmlib_alpha_output_param_t out;
	struct dispatched_set set;

	(void)state;
	assert_int_equal(encode("ev5::cycles:period=256", &set, &out, NULL), 0);
	assert_int_equal(set.pmcs[1].value, 0x3a0);
	assert_int_equal(set.pmds[0].value, 0); /* a rate of the counter, so the start value is 0 */
	assert_int_equal(out.privileged, 1);
	assert_int_equal(out.rates[0], 256);
	assert_int_equal(encode("ev5::cycles:period=16384", &set, &out, NULL),
	                 0); /* only counter 2 has this rate */
	assert_int_equal(set.counter[0], 2);
	assert_int_equal(encode("ev5::cycles:period=1000", &set, &out, NULL), PFMLIB_ERR_ATTR_VAL);
	assert_int_equal(encode("ev6::cycles:period=100000", &set, &out, NULL), 0);
	assert_int_equal(set.pmcs[1].value, UINT64_C(0x0000e79600000001));
	assert_int_equal(set.pmcs[1].addr, 7);
	assert_int_equal(set.pmcs[1].alt_addr, PCNT6ENABWRITE);
	assert_int_equal(set.pmds[0].value, (1 << 20) - 100000);
	assert_int_equal(encode("ev4::cycles:period=4096", &set, &out, NULL), 0);
	assert_int_equal(set.pmcs[0].value, 0xa08);
	assert_int_equal(set.pmds[0].value, 0);
	assert_int_equal(encode("ev4::dcache:period=65536", &set, &out, NULL), PFMLIB_ERR_ATTR_VAL);
	assert_int_equal(encode("ev6::cycles:period=1048577", &set, &out, NULL),
	                 PFMLIB_ERR_ATTR_VAL);
}

/* Levels of the text and of the settings must agree. Settings with a raw word allow neither. */
static void text_and_settings_agree_on_levels(void **state)
{
	static const struct {
		const char *text;
		unsigned modes, flags;
		int rc;
		uint64_t word; /* of the mode register; 0: not written */
	} rows[] = {
		{ "ev5::loads", 0, 0, 0, 0 },
		{ "ev5::loads:u", PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER, 0, 0, 0x40000300 },
		{ "ev5::loads", PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER, 0, 0, 0x40000300 },
		{ "ev5::loads:u",
		  PFM_ALPHA_MODE_KERNEL | PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER, 0,
		  PFMLIB_ERR_FEATCOMB, 0 },
		{ "ev5::loads:u", 0, PFM_ALPHA_FL_CTXT, PFMLIB_ERR_FEATCOMB, 0 },
		{ "ev5::loads", PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER, PFM_ALPHA_FL_CTXT,
		  PFMLIB_ERR_FEATCOMB, 0 },
		{ "ev5::loads", 0, PFM_ALPHA_FL_CTXT, 0, 0x40000200 },
		{ "ev6::cycles", PFM_ALPHA_MODE_EXEC, 0, PFMLIB_ERR_NOTSUPP, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pfmlib_alpha_input_param_t in = { .pfp_alpha_modes = rows[i].modes,
			                          .pfp_alpha_flags = rows[i].flags,
			                          .pfp_alpha_ctxt = 0x40000200 };
		struct dispatched_set set = { 0 };
		const pfm_reg_t *modes = &set.pmcs[2];
		pfm_dispatch_options_t so = { .size = sizeof so, .model_in = &in };
		pfm_ctx_options_t options = { .size = sizeof options,
			                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
		pfm_ctx_t *ctx;
		int rc;

		assert_int_equal(pfm_open_context(&ctx, &options, NULL), 0);
		rc = dispatch_set(ctx, &rows[i].text, 1, &so, &set, NULL);
		pfm_close_context(ctx);
		if (rc != rows[i].rc ||
		    (!rc && rows[i].word &&
		     (modes->num != PFM_ALPHA_PMC_MODES || modes->value != rows[i].word)))
			fail_msg("%u: %d, %#llx", i, rc, (unsigned long long)modes->value);
	}
}

/* Counters of the 21164 keep their values or start at 0. */
static void counts_are_kept_or_cleared(void **state)
{
	(void)state;
	for (unsigned keep = 0; keep < 2; keep++) {
		pfmlib_alpha_input_param_t in = { .pfp_alpha_flags = keep ? PFM_ALPHA_FL_KEEP : 0 };
		pfmlib_alpha_output_param_t out;
		struct placement where;
		struct register_values regs;
		unsigned row = 0, starts = 0;

		memset(&out, 0, sizeof out);
		assert_int_equal(dispatch_rows(PFMLIB_ALPHA_EV5_PMU, &row, 1, &in, &out, &where,
		                               &regs, NULL),
		                 0);
		assert_int_equal(regs.pmcs[regs.n_pmcs - 1].num, PFM_ALPHA_PMC_START);
		assert_int_equal(regs.pmcs[regs.n_pmcs - 1].alt_addr,
		                 keep ? PCNT5ENABLE : PCNT5RESTART);
		for (unsigned i = 0; i < out.n_ioctls; i++) {
			starts += strcmp(out.ioctls[i].name,
			                 keep ? "PCNT5ENABLE" : "PCNT5RESTART") == 0;
			assert_int_not_equal(
				strcmp(out.ioctls[i].name, keep ? "PCNT5RESTART" : "PCNT5ENABLE"),
				0);
		}
		assert_int_equal(starts, 1);
	}
}

static void levels_reach_the_21164_and_are_refused_elsewhere(void **state)
{
	pfmlib_alpha_output_param_t out;
	struct dispatched_set set;

	(void)state;
	assert_int_equal(encode("ev5::loads:u", &set, &out, NULL), 0);
	assert_int_equal(set.pmcs[2].num, PFM_ALPHA_PMC_MODES);
	assert_int_equal(set.pmcs[2].value, 0x40000300); /* user code runs in executive mode */
	assert_int_equal(set.pmcs[2].addr, 3);
	assert_int_equal(encode("ev5::loads:plm=8:counter=1", &set, &out, NULL), 0);
	assert_int_equal(
		encode("ev5::loads:k", &set, &out, NULL),
		PFMLIB_ERR_NOTSUPP); /* kernel mode cannot be counted without the other two */
	assert_int_equal(encode("ev5::loads:plm=7", &set, &out, NULL), 0);
	assert_int_equal(set.pmcs[2].value, 0x40000200);
	assert_int_equal(encode("ev5::loads:u:k", &set, &out, NULL), 0);
	assert_int_equal(set.n_pmcs, 3); /* all levels: no mode register */
	assert_int_equal(encode("ev6::cycles:u", &set, &out, NULL), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(encode("ev4::cycles:u", &set, &out, NULL), PFMLIB_ERR_NOTSUPP);
}

/* ---- settings -------------------------------------------------------------------------------- */

static const char *ioctl_at(const pfmlib_alpha_output_param_t *out, unsigned i)
{
	return i < out->n_ioctls ? out->ioctls[i].name : "";
}

static void profiling_requests_come_in_the_order_the_driver_wants(void **state)
{
	static const char *const order[] = { "PCNT5MUX",      "PCNT5FREQ",    "PCNTSETITEMS",
		                             "PCNTSETKRANGE", "PCNTCALLER",   "PCNTSETKADDR",
		                             "PCNTLOGALL",    "PCNTCLEARCNT", "PCNT5RESTART",
		                             "PCNT5DISABLE",  "PCNT5GETCNT",  "PCNTGETIPLHIS" };
	pfmlib_alpha_input_param_t in = {
		.pfp_alpha_items = 7,
		.pfp_alpha_n_ranges = 2,
		.pfp_alpha_stride = 8,
		.pfp_alpha_flags = PFM_ALPHA_FL_KERNEL | PFM_ALPHA_FL_CALLER | PFM_ALPHA_FL_STRIDE,
		.pfp_alpha_ranges = { { 0x1000, 0x2000 }, { 0x1800, 0x1900 } }
	};
	unsigned row = row_of(PFMLIB_ALPHA_EV5_PMU, "loads");
	pfmlib_alpha_output_param_t out;
	struct placement where;
	struct register_values regs;

	(void)state;
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV5_PMU, &row, 1, &in, &out, &where, &regs, NULL), 0);
	assert_int_equal(out.n_ioctls, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_string_equal(ioctl_at(&out, i), order[i]);
	assert_int_equal(out.ioctls[3].n_words, 4);
	assert_int_equal(out.ioctls[3].words[2], 8);
	assert_int_equal(out.ioctls[5].n_words, 2);
	assert_int_equal(out.ioctls[5].words[1], 0x1900);
	in.pfp_alpha_items = PFM_PROFILING; /* nothing to clear or to read except samples */
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV5_PMU, &row, 1, &in, &out, &where, &regs, NULL), 0);
	for (unsigned i = 0; i < out.n_ioctls; i++) {
		assert_string_not_equal(ioctl_at(&out, i), "PCNTCLEARCNT");
		assert_string_not_equal(ioctl_at(&out, i), "PCNT5GETCNT");
	}
}

static void a_statistic_travels_beside_the_items(void **state)
{
	unsigned row = row_of(PFMLIB_ALPHA_EV67_PMU, "delay_per_ret");
	pfmlib_alpha_output_param_t out;
	struct placement where;
	struct register_values regs;

	(void)state;
	assert_int_equal(
		dispatch_rows(PFMLIB_ALPHA_EV67_PMU, &row, 1, NULL, &out, &where, &regs, NULL), 0);
	assert_int_equal(out.statistic, PF67_PM_DELAY_PER_RET);
	assert_string_equal(ioctl_at(&out, 1), "PCNTSETITEMS");
	assert_int_equal(out.ioctls[1].words[0], 0x901);
	assert_int_equal(out.ioctls[0].words[0], 0x14);
	assert_int_equal(regs.n_pmds, 2);
}

static void settings_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		int pmu;
		const char *event;
		int rc;
		pfmlib_alpha_input_param_t in;
	} bad[] = {
		{ PFMLIB_ALPHA_EV4_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_rates = { 256 } } },
		{ PFMLIB_ALPHA_EV4_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_rates = { 0, 0, 256 } } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_rates = { 0, 0, 65536 } } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_periods = { 256 } } },
		{ PFMLIB_ALPHA_EV6_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_periods = { 1048577 } } },
		{ PFMLIB_ALPHA_EV6_PMU,
		  "cycles",
		  PFMLIB_ERR_NOTSUPP,
		  { .pfp_alpha_modes = PFM_ALPHA_MODE_USER } },
		{ PFMLIB_ALPHA_EV6_PMU,
		  "cycles",
		  PFMLIB_ERR_NOTSUPP,
		  { .pfp_alpha_flags = PFM_ALPHA_FL_CTXT } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_NOTSUPP,
		  { .pfp_alpha_modes = PFM_ALPHA_MODE_KERNEL } },
		{ PFMLIB_ALPHA_EV5_PMU, "cycles", PFMLIB_ERR_INVAL, { .pfp_alpha_scope = 2 } },
		{ PFMLIB_ALPHA_EV5_PMU, "cycles", PFMLIB_ERR_INVAL, { .pfp_alpha_open = 3 } },
		{ PFMLIB_ALPHA_EV5_PMU, "cycles", PFMLIB_ERR_INVAL, { .pfp_alpha_items = 8 } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_n_ranges = 1, .pfp_alpha_ranges = { { 4, 8 } } } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_items = 4,
		    .pfp_alpha_n_ranges = 1,
		    .pfp_alpha_ranges = { { 8, 8 } } } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_items = 4,
		    .pfp_alpha_n_ranges = 2,
		    .pfp_alpha_ranges = { { 4, 8 } } } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_flags = PFM_ALPHA_FL_STRIDE, .pfp_alpha_stride = 3 } },
		{ PFMLIB_ALPHA_EV5_PMU,
		  "cycles",
		  PFMLIB_ERR_FEATCOMB,
		  { .pfp_alpha_items = 4, .pfp_alpha_flags = PFM_ALPHA_FL_CALLER } },
		{ PFMLIB_ALPHA_EV5_PMU, "cycles", PFMLIB_ERR_INVAL, { .pfp_alpha_statistic = 1 } },
		{ PFMLIB_ALPHA_EV67_PMU,
		  "pm_mode0",
		  PFMLIB_ERR_INVAL,
		  { .pfp_alpha_statistic = 44 } },
		{ PFMLIB_ALPHA_EV4_PMU,
		  "cycles",
		  PFMLIB_ERR_NOTSUPP,
		  { .pfp_alpha_flags = PFM_ALPHA_FL_KEEP } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		unsigned row = row_of(bad[i].pmu, bad[i].event);
		pfm_error_t why = { .size = sizeof why };
		struct placement where;
		struct register_values regs;
		int rc = dispatch_rows(bad[i].pmu, &row, 1, &bad[i].in, NULL, &where, &regs, &why);

		if (rc != bad[i].rc || !why.detail)
			fail_msg("case %u: %d, %s", i, rc, why.detail ? why.detail : "no detail");
	}
}

/* ---- questions ------------------------------------------------------------------------------- */

static void events_can_be_queried(void **state)
{
	int ev67 = PFMLIB_ALPHA_EV67_PMU;
	pfm_alpha_event_info_t info;
	unsigned partner, retinst = row_of(ev67, "retinst");

	(void)state;
	assert_int_equal(pfm_alpha_get_event_info(PFMLIB_ALPHA_EV6_PMU,
	                                          row_of(PFMLIB_ALPHA_EV6_PMU, "retdtb1miss"),
	                                          &info),
	                 0);
	assert_true(info.weight_num == 1 && info.weight_den == 2 &&
	            (info.uncertainty & PFM_ALPHA_UNC_TWICE));
	assert_int_equal(pfm_alpha_get_event_info(PFMLIB_ALPHA_EV4_PMU,
	                                          row_of(PFMLIB_ALPHA_EV4_PMU, "issues"), &info),
	                 0);
	assert_true(info.half_units == 1 && info.counters == 1);
	assert_string_equal(info.constant, "PF_ISSUES");
	assert_int_equal(pfm_alpha_get_event_info(PFMLIB_ALPHA_EV4_PMU,
	                                          row_of(PFMLIB_ALPHA_EV4_PMU, "extpin1"), &info),
	                 0);
	assert_true(info.uncertainty & PFM_ALPHA_UNC_PIN);
	assert_int_equal(pfm_alpha_get_event_info(ev67, row_of(ev67, "inflt_bcache_miss"), &info),
	                 0);
	assert_true(info.kind == PFM_ALPHA_PROFILEME && info.shift_cycles == -3 &&
	            info.pm_mode == 2 && info.counters == 3);
	assert_int_equal(pfm_alpha_get_event_info(ev67, row_of(ev67, "inflt_replays"), &info), 0);
	assert_true(info.shift_cycles == 1 && info.pm_mode == 3);
	assert_int_equal(pfm_alpha_get_event_info(ev67, row_of(ev67, "inflt_retires"), &info), 0);
	assert_int_equal(info.error_counts, 4);
	assert_int_equal(pfm_alpha_get_event_info(ev67, row_of(ev67, "delay"), &info), 0);
	assert_int_equal(info.window_less, 2);
	assert_int_equal(pfm_alpha_get_event_info(ev67, row_of(ev67, "trap_per_ret"), &info), 0);
	assert_true(info.kind == PFM_ALPHA_RATIO && info.statistic == PF67_PM_TRAP_PER_RET &&
	            info.pm_mode == -1);
	assert_string_equal(info.formula, "100 * trap / retired");
	assert_true(pfm_alpha_is_ratio(ev67, row_of(ev67, "trap_per_ret")) &&
	            pfm_alpha_is_pair(ev67, row_of(ev67, "cycles0+replay")));
	assert_false(pfm_alpha_is_profileme(ev67, retinst));
	assert_int_equal(pfm_alpha_get_event_partner(ev67, retinst, 0, &partner), 0);
	assert_int_equal(partner, row_of(ev67, "cycles1"));
	assert_int_equal(pfm_alpha_get_event_partner(ev67, retinst, 1, &partner), 0);
	assert_int_equal(partner, row_of(ev67, "bcachemisses"));
	assert_int_equal(pfm_alpha_get_event_partner(ev67, retinst, 3, &partner),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_get_event_info(PFMLIB_MONTECITO_PMU, 0, &info),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_get_event_info(ev67, 100000, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_info(PFMLIB_ALPHA_EV67_PMU + 1, 0, &info),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_get_event_info(ev67, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_partner(ev67, retinst, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_partner(0, retinst, 0, &partner), PFMLIB_ERR_NOTSUPP);
	assert_false(pfm_alpha_is_profileme(0, 0) || pfm_alpha_is_ratio(ev67, 100000) ||
	             pfm_alpha_is_pair(ev67, 100000));
}

static void selects_belong_to_counters(void **state)
{
	int ev5 = PFMLIB_ALPHA_EV5_PMU;
	unsigned cycles = row_of(ev5, "cycles"), issues = row_of(ev5, "issues"), select = 99,
		 cbox = 99;
	const char *constant;

	(void)state;
	assert_int_equal(pfm_alpha_get_event_select(ev5, cycles, 0, &select, &cbox), 0);
	assert_true(select == 0 && cbox == 0);
	assert_int_equal(pfm_alpha_get_event_select(ev5, cycles, 2, &select, NULL), 0);
	assert_int_equal(select, 0xc);
	assert_int_equal(pfm_alpha_get_event_select(ev5, cycles, 2, NULL, &cbox), 0);
	assert_int_equal(pfm_alpha_get_event_select(ev5, cycles, 1, &select, &cbox),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_select(ev5, cycles, 64, &select, &cbox),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_select(0, cycles, 0, &select, &cbox),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_get_event_constant(ev5, issues, 0, &constant), 0);
	assert_true(strlen(constant) > 3);
	assert_int_equal(pfm_alpha_get_event_constant(ev5, issues, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_constant(ev5, issues, 1, &constant), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_get_event_constant(ev5, 100000, 0, &constant), PFMLIB_ERR_INVAL);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void words_that_cannot_be_made_are_refused(void **state)
{
	enum { EV4 = PFMLIB_ALPHA_EV4_PMU, EV5 = PFMLIB_ALPHA_EV5_PMU, EV6 = PFMLIB_ALPHA_EV6_PMU };
	const uint64_t rates[3] = { 0, 7 }, large[3] = { 0x10000 };
	uint64_t word = 77;
	unsigned select = 77;

	(void)state;
	assert_int_equal(pfm_alpha_rate_word(0, rates, 1, &word, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_rate_word(EV5, NULL, 1, &word, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_rate_word(EV5, rates, 1, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_rate_word(EV5, rates, 2, &word, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_counter_word(EV5, 1, 0, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_counter_word(0, 1, 0, NULL, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_counter_word(EV5, 1, PMCTRS_ALL_CPUS + 1, NULL, &word),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_counter_word(EV6, 4, 0, NULL, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_counter_word(EV4, 1, 0, NULL, &word), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_counter_word(EV5, 1, 0, large, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_split_counter_word(EV4, 0, &select, NULL, NULL),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_start_value(16, 1, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(0, 1, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(64, 1, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(16, 0, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(16, 65537, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(32, 0, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_USER, 2, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_USER, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(0, 0, &word), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_EXEC, 0, &word), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_pm_mode_word(4, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_pm_mode_word(0, NULL), PFMLIB_ERR_INVAL);
	assert_true(word == 77 && select == 77);
	/* NULL results are allowed. */
	pfm_alpha_driver_rates(0, NULL, NULL);
	assert_int_equal(
		pfm_alpha_split_counter_word(EV5, PF5_CTRS(5, 3, 1, 2, 3), NULL, NULL, NULL), 0);
	assert_int_equal(
		pfm_alpha_split_counter_word(EV6, PF6_CTRS(2, 9, 1, 2), &select, NULL, NULL), 0);
	assert_int_equal(select, 2);
	assert_int_equal(pfm_alpha_counter_width(EV5, 3) | pfm_alpha_counter_width(0, 0), 0);
	assert_int_equal(pfm_alpha_rate(EV5, 3, 0) | pfm_alpha_rate(EV5, 0, 2) |
	                         pfm_alpha_rate(EV6, 0, 1),
	                 0);
}

static void requests_and_masks_are_found_by_name(void **state)
{
	pfm_alpha_request_t request;
	pfmlib_alpha_call_t call;
	uint64_t mask;
	unsigned n = 0;

	(void)state;
	while (pfm_alpha_request(n, &request) == PFMLIB_SUCCESS) {
		pfm_alpha_request_t found;

		assert_int_equal(pfm_alpha_find_request(request.name, &found), 0);
		assert_true(found.request == request.request &&
		            found.families == request.families && request.families);
		n++;
	}
	assert_int_equal(n, 38);
	assert_int_equal(pfm_alpha_request(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_request(n, &request), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_find_request("PCNT7MUX", &request), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_find_request(NULL, &request), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mask("PF6_MUX_KMASK", &mask), 0);
	assert_int_equal(mask, PF6_MUX_KMASK);
	assert_int_equal(pfm_alpha_mask("PF7_MUX_KMASK", &mask), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_mask(NULL, &mask), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mask("PF6_MUX_KMASK", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_device_call(PFMLIB_ALPHA_EV5_PMU, PCNT6MUX, 0, &call),
	                 PFMLIB_ERR_NOTSUPP); /* a request of another family */
	assert_int_equal(pfm_alpha_device_call(PFMLIB_ALPHA_EV5_PMU, PCNTGETIPLHIS, 0, &call),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_device_call(PFMLIB_ALPHA_EV5_PMU, PCNT5MUX, 0, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_device_call(0, PCNT5MUX, 0, &call), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_linux_write(2, 100, &call), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_linux_write(0, 100, NULL), PFMLIB_ERR_INVAL);
}

/* ---- arguments of handlers ------------------------------------------------------------------- */

static void decodes_each_kind_of_interrupt(void **state)
{
	const uint64_t counter[3] = { 4, 0x650, 1 }, clock[3] = { 1, 0x600, 0 },
		       machine_check[3] = { 4, 0x660, 0 }, third[3] = { 4, 0x650, 2 };
	pfm_alpha_interrupt_t out;

	(void)state;
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX, counter, &out),
		0);
	assert_true(out.counter == 1 && out.ipl == 6 && out.vector == 0x650);
	assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_VMS,
	                                            &counter[2], &out),
	                 0);
	assert_true(out.counter == 1 && out.ipl == 29);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX, clock, &out),
		PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX,
	                                            machine_check, &out),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX, third, &out),
		PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, PFM_ALPHA_OS_UNIX, third, &out),
		0);
	assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, 2, counter, &out),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_decode_interrupt(0, PFM_ALPHA_OS_UNIX, counter, &out),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX, NULL, &out),
		PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV6_PMU, PFM_ALPHA_OS_UNIX, counter, NULL),
		PFMLIB_ERR_INVAL);
}

/* I_STAT: the trap's type is in 37:34, LSO 38, TRP 39, MIS 40. */
static void traps_of_a_sample(void **state)
{
	static const struct {
		uint64_t i_stat;
		int trap;
		const char *name;
		uint64_t statistics;
	} rows[] = {
		{ UINT64_C(1) << 39 | UINT64_C(1) << 40, PFM_ALPHA_TRAP_NONE, "mispredict",
		  UINT64_C(1) << PF67_PM_MISPREDICT },
		{ UINT64_C(1) << 39, PFM_ALPHA_TRAP_REPLAY, "replay",
		  UINT64_C(1) << PF67_PM_REPLAY_TRAP },
		{ UINT64_C(3) << 38, PFM_ALPHA_TRAP_REPLAY, "replay",
		  UINT64_C(1) << PF67_PM_REPLAY_TRAP | UINT64_C(1) << PF67_PM_LDST_ORDER_TRAP },
		{ UINT64_C(1) << 39 | UINT64_C(12) << 34, PFM_ALPHA_TRAP_ARITHMETIC, "arithmetic",
		  UINT64_C(1) << PF67_PM_ARITH_TRAP },
		{ UINT64_C(1) << 39 | UINT64_C(9) << 34, PFM_ALPHA_TRAP_INVALID, "", 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pfm_alpha_sample_t s;

		pfm_alpha_decode_sample(rows[i].i_stat, 0, 0, &s);
		assert_int_equal(s.trap, rows[i].trap);
		assert_string_equal(s.trap_name, rows[i].name);
		assert_true(s.trapped);
		assert_int_equal(s.statistics, rows[i].statistics | UINT64_C(1) << PF67_PM_TRAP |
		                                       UINT64_C(1) << PF67_PM_ABORT);
	}
}

static void statistics_and_ratios_have_names(void **state)
{
	uint64_t num, den;

	(void)state;
	assert_int_equal(pfm_alpha_find_statistic("retired"), PF67_PM_RETIRE);
	assert_int_equal(pfm_alpha_find_statistic("pf67_pm_Trap"), PF67_PM_TRAP);
	assert_int_equal(pfm_alpha_find_statistic("trap_"), -1);
	assert_int_equal(pfm_alpha_find_statistic(NULL), -1);
	assert_null(pfm_alpha_statistic_name(PF67_PM_VALID + 1));
	assert_int_equal(pfm_alpha_ratio(PF67_PM_TRAP, 1, 2, &num, &den), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_ratio(1000, 1, 2, &num, &den), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_ratio(PF67_PM_TRAP_PER_RET, 1, 2, NULL, &den), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_ratio(PF67_PM_TRAP_PER_RET, 1, 2, &num, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_ratio(PF67_PM_TRAP_PER_RET, 1, 0, &num, &den),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_ratio(PF67_PM_CYCLES_PER_RET, 3, 2, &num, &den), 0);
	assert_true(num == 3 && den == 2);
}

static void every_statistic_has_its_event(void **state)
{
	int ev67 = PFMLIB_ALPHA_EV67_PMU;
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < table_of(ev67)->n_rows; i++) {
		pfm_alpha_event_info_t info;
		const char *name;

		assert_int_equal(pfm_alpha_get_event_info(ev67, i, &info), 0);
		if (!info.statistic)
			continue;
		name = pfm_alpha_statistic_name(info.statistic);
		assert_string_equal(info.constant, name);
		assert_int_equal(pfm_alpha_find_statistic(table_get_row_name(table_of(ev67), i)),
		                 info.statistic);
		assert_int_equal(info.kind,
		                 strstr(name, "_PER_RET") ? PFM_ALPHA_RATIO : PFM_ALPHA_PROFILEME);
		assert_true(*info.formula && info.counters == 3);
		seen++;
	}
	assert_int_equal(seen, PF67_PM_VALID);
}

static void the_last_bucket_of_an_odd_range_counts_too(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x1044, 4, PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 0);
	assert_int_equal(bytes, 20);
	assert_int_equal(pfm_alpha_bucket(0x1000, 4, 0x1040), 4);
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x1000, 4, PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x2000, 3, PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x2000, 4, 3, 1, &bytes), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x2000, 4, PFM_ALPHA_OPEN_ALL, 1, NULL),
	                 PFMLIB_ERR_INVAL);
	/* One bucket for the whole range: stride 0, or a stride longer than any range. */
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x2000, 0, PFM_ALPHA_OPEN_EACH, 3, &bytes),
	                 0);
	assert_int_equal(bytes, 12);
	assert_int_equal(pfm_alpha_sample_bytes(0x1000, 0x2000, UINT64_C(1) << 63,
	                                        PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 0);
	assert_int_equal(bytes, 4);
	assert_int_equal(pfm_alpha_bucket(0x1000, 0, 0x1040) |
	                         pfm_alpha_bucket(0x1000, UINT64_C(1) << 63, 0x1040),
	                 0);
	assert_int_equal(pfm_alpha_level_entry(0, 1, 3), 3); /* an interrupt in the idle process */
}

static void linux_gets_its_own_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t config;
		int expressible;
	} cases[] = {
		{ "ev67::cycles0", 1, 1 },      { "ev67::retinst", 2, 1 },
		{ "ev67::bcachemisses", 3, 1 }, { "ev67::replay", 4, 1 },
		{ "ev67::abort", 0, 0 },        { "ev6::retinst", 0, 0 },
		{ "ev5::cycles", 0, 0 },
	};
	pfm_ctx_options_t options = { .size = sizeof options,
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_ctx_t *ctx;

	(void)state;
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), 0);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		pfm_encoding_t e = PFM_INIT(e);

		assert_int_equal(pfm_encode_event(ctx, cases[i].text, 0, &e, NULL), 0);
		assert_int_equal(e.attr.expressible, cases[i].expressible);
		assert_false(e.attr.exclude_user || e.attr.exclude_kernel || e.attr.exclude_hv);
		if (cases[i].expressible)
			assert_true(e.attr.type_known && e.attr.type == 4 &&
			            e.attr.config == cases[i].config);
	}
	pfm_close_context(ctx);
}

/* The kernel driver and the hardware allow the same pairs. */
static void linux_pairs_are_hardware_pairs(void **state)
{
	static const char *const names[] = { "", "anycycles", "retinst", "bcachemisses", "replay" };

	(void)state;
	for (unsigned a = 1; a <= 4; a++)
		for (unsigned b = 1; b <= 4; b++) {
			unsigned raw[2] = { a, b },
				 rows[2] = { row_of(PFMLIB_ALPHA_EV67_PMU, names[a]),
				             row_of(PFMLIB_ALPHA_EV67_PMU, names[b]) };
			unsigned counter[2];
			struct placement where;
			struct register_values regs;
			uint64_t mode;
			int kernel = pfm_alpha_linux_pair(raw, counter, &mode);
			int ours = dispatch_rows(PFMLIB_ALPHA_EV67_PMU, rows, 2, NULL, NULL, &where,
			                         &regs, NULL);

			assert_int_equal(kernel == 0, ours == 0);
			if (kernel)
				continue;
			assert_int_equal(mode, regs.pmcs[0].value);
			assert_true(counter[0] == where.counters[0] &&
			            counter[1] == where.counters[1]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brute_force_ev4),
		cmocka_unit_test(brute_force_ev5),
		cmocka_unit_test(brute_force_pca56),
		cmocka_unit_test(brute_force_ev6),
		cmocka_unit_test(brute_force_ev67),
		cmocka_unit_test(ev5_cycles_moves_to_counter_2_when_0_is_taken),
		cmocka_unit_test(ev67_cycles_take_the_counter_that_the_other_statistic_leaves),
		cmocka_unit_test(ev4_selects_events_then_enables_counting),
		cmocka_unit_test(counters_others_hold_are_left_alone),
		cmocka_unit_test(events_are_found_by_every_name_they_have),
		cmocka_unit_test(a_period_is_a_rate_or_a_start_value),
		cmocka_unit_test(text_and_settings_agree_on_levels),
		cmocka_unit_test(counts_are_kept_or_cleared),
		cmocka_unit_test(levels_reach_the_21164_and_are_refused_elsewhere),
		cmocka_unit_test(profiling_requests_come_in_the_order_the_driver_wants),
		cmocka_unit_test(a_statistic_travels_beside_the_items),
		cmocka_unit_test(settings_that_make_no_sense_are_refused),
		cmocka_unit_test(events_can_be_queried),
		cmocka_unit_test(selects_belong_to_counters),
		cmocka_unit_test(words_that_cannot_be_made_are_refused),
		cmocka_unit_test(requests_and_masks_are_found_by_name),
		cmocka_unit_test(decodes_each_kind_of_interrupt),
		cmocka_unit_test(traps_of_a_sample),
		cmocka_unit_test(statistics_and_ratios_have_names),
		cmocka_unit_test(every_statistic_has_its_event),
		cmocka_unit_test(the_last_bucket_of_an_odd_range_counts_too),
		cmocka_unit_test(linux_gets_its_own_numbers),
		cmocka_unit_test(linux_pairs_are_hardware_pairs),
	};

	return cmocka_run_group_tests_name("alpha sets", tests, NULL, NULL);
}
