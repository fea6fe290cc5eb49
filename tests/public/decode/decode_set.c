/* SPDX-License-Identifier: MIT */
/* Sets of registers back to events: what is dispatched is found again, alone and beside others. */
#include "dispatched_set.h"
#include "units.h"
#include "open_for.h"
#include <perfmon/perfmon.h>
#include <stdbool.h>

enum { MAX_ENTRIES = 128 };

struct decoded {
	struct dispatched_set set;
	pfm_decoded_event_t entries[MAX_ENTRIES];
	unsigned n;
};

static void decode(const pfm_ctx_t *ctx, int pmu, const pfm_reg_t *regs, unsigned n,
                   struct decoded *d)
{
	int rc;

	memset(d->entries, 0, sizeof(d->entries));
	for (unsigned i = 0; i < MAX_ENTRIES; i++)
		d->entries[i].size = sizeof(d->entries[i]);
	rc = pfm_decode_set(ctx, pmu, regs, n, d->entries, MAX_ENTRIES);
	assert_true(rc >= 0 && rc <= MAX_ENTRIES);
	d->n = (unsigned)rc;
}

static void dispatch(const pfm_ctx_t *ctx, const char *const *texts, unsigned n, struct decoded *d)
{
	assert_int_equal(dispatch_set(ctx, texts, n, NULL, &d->set, NULL), PFMLIB_SUCCESS);
	decode(ctx, d->set.pmu, d->set.pmcs, d->set.n_pmcs, d);
}

/* True if an entry on counter @counter is the event @text, or counts the same as it does. */
static bool is_among(const pfm_ctx_t *ctx, const struct decoded *d, const char *text, int counter)
{
	pfm_encoding_t want = PFM_INIT(want), got = PFM_INIT(got);

	assert_int_equal(pfm_encode_event(ctx, text, PFM_PLM3, &want, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < d->n; i++) {
		if (d->entries[i].counter != counter || !*d->entries[i].text ||
		    pfm_encode_event(ctx, d->entries[i].text, PFM_PLM3, &got, NULL))
			continue;
		if (got.attr.config == want.attr.config && got.attr.config1 == want.attr.config1)
			return true;
	}
	return false;
}

static void expect_back(const char *pmu, const char *const *texts, unsigned n)
{
	pfm_ctx_t *ctx = open_for(pmu);
	static struct decoded d;

	dispatch(ctx, texts, n, &d);
	for (unsigned i = 0; i < n; i++)
		if (!is_among(ctx, &d, texts[i], d.set.counter[i]))
			fail_msg("%s: %s is not found on counter %d", pmu, texts[i],
			         d.set.counter[i]);
	for (unsigned i = 0; i < d.n; i++) {
		assert_true(d.entries[i].reg < d.set.n_pmcs);
		assert_true(d.entries[i].candidate < d.entries[i].n_candidates);
	}
	pfm_close_context(ctx);
}

static void dispatched_sets_decode_to_their_events(void **state)
{
	static const char *const coreduo[] = { "LLC_Misses", "FP_Assist" };
	static const char *const skx[] = { "L2_RQSTS.MISS", "LONGEST_LAT_CACHE.MISS",
		                           "MACHINE_CLEARS.COUNT", "INST_RETIRED.ANY",
		                           "OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE" };
	static const char *const netburst[] = { "branch_retired:m32=MMNP" };
	static const char *const montecito[] = { "ALAT_CAPACITY_MISS_ALL", "CPU_OP_CYCLES_ALL" };
	static const char *const amd[] = { "ls_dispatch.ld_dispatch" };

	(void)state;
	expect_back("coreduo", coreduo, COUNT(coreduo));
	expect_back("skx", skx, COUNT(skx));
	expect_back("netburst", netburst, COUNT(netburst));
	expect_back("montecito", montecito, COUNT(montecito));
	expect_back("amd", amd, COUNT(amd));
}

static int pmu_of(const pfm_ctx_t *ctx, const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);

	assert_int_equal(pfm_encode_event(ctx, text, PFM_PLM3, &e, NULL), PFMLIB_SUCCESS);
	return e.pmu;
}

static pfm_reg_t reg_of(unsigned kind, unsigned num, uint64_t value)
{
	pfm_reg_t reg = { 0 };

	reg.kind = kind;
	reg.num = num;
	reg.value = value;
	return reg;
}

/* A register that no event has is one entry without a text. */
static void an_unknown_value_is_an_entry_without_a_text(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	const pfm_reg_t regs[] = { reg_of(PFM_REG_PMC, 0, 0x53412e),
		                   reg_of(PFM_REG_PMC, 1, 0x1005300c0) };
	static struct decoded d;

	(void)state;
	decode(ctx, pmu_of(ctx, "LLC_Misses"), regs, 2, &d);
	assert_int_equal(d.n, 2);
	assert_true(d.entries[0].reg == 0 && d.entries[0].counter == 0 &&
	            d.entries[0].n_candidates == 1);
	assert_string_equal(d.entries[0].text, "coreduo::LLC_MISSES");
	assert_int_equal(d.entries[0].enabled, -1); /* no GLOBAL_CTRL, so unknown */
	assert_true(d.entries[1].reg == 1 && d.entries[1].counter == 1 &&
	            d.entries[1].n_candidates == 0);
	assert_string_equal(d.entries[1].text, "");
	pfm_close_context(ctx);
}

static void levels_of_a_register_are_decoded(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	const pfm_reg_t reg = reg_of(PFM_REG_PMC, 0, 0x51412e);
	static struct decoded d;

	(void)state;
	decode(ctx, pmu_of(ctx, "LLC_Misses"), &reg, 1, &d);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.entries[0].text, "coreduo::LLC_MISSES:u");
	pfm_close_context(ctx);
}

/* GLOBAL_CTRL enables each counter; each fixed counter has bits of its own as well. */
static void the_global_register_enables_each_counter(void **state)
{
	static const char *const texts[] = { "L2_RQSTS.MISS", "INST_RETIRED.ANY" };
	pfm_ctx_t *ctx = open_for("skx");
	static struct decoded d;
	int global = -1;

	(void)state;
	dispatch(ctx, texts, 2, &d);
	for (unsigned i = 0; i < d.set.n_pmcs; i++)
		if (d.set.pmcs[i].kind == PFM_REG_GLOBAL_CTRL)
			global = (int)i;
	assert_true(global >= 0);
	assert_int_equal(d.set.counter[1], 32);
	for (unsigned i = 0; i < d.n; i++)
		assert_int_equal(d.entries[i].enabled, 1);
	d.set.pmcs[global].value &= ~((uint64_t)1 << 32);
	decode(ctx, d.set.pmu, d.set.pmcs, d.set.n_pmcs, &d);
	for (unsigned i = 0; i < d.n; i++)
		assert_int_equal(d.entries[i].enabled, d.entries[i].counter != 32);
	pfm_close_context(ctx);
}

/* Another register holds the response of an off-core event; without it all of them are
 * candidates. */
static void an_extra_register_tells_candidates_apart(void **state)
{
	static const char *const texts[] = { "OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE" };
	pfm_ctx_t *ctx = open_for("skx");
	static struct decoded d;

	(void)state;
	dispatch(ctx, texts, 1, &d);
	assert_true(d.n > 0 && d.entries[0].n_candidates < 4);
	assert_true(is_among(ctx, &d, texts[0], d.set.counter[0]));
	decode(ctx, d.set.pmu, d.set.pmcs, 1, &d); /* the counter's alone */
	assert_true(d.entries[0].n_candidates > 4);
	pfm_close_context(ctx);
}

/* Control register @control beside extra registers of which @msr has @value and its neighbours
 * have another value: the event @text, and no other. */
static void expect_by_extra(const char *pmu, uint64_t control, uint32_t msr, uint64_t value,
                            const char *text)
{
	pfm_ctx_t *ctx = open_for(pmu);
	pfm_reg_t regs[5] = { reg_of(PFM_REG_PMC, 0, control) };
	static struct decoded d;

	regs[0].addr = 0x186;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t addr = (msr & ~3u) + i;

		regs[1 + i] = reg_of(PFM_REG_EXTRA, addr, addr == msr ? value : 0x8000);
		regs[1 + i].addr = addr;
	}
	decode(ctx, pfm_find_pmu(ctx, pmu), regs, 5, &d);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.entries[0].text, text);
	pfm_close_context(ctx);
}

/* Intel's lists name the code of an event for each of its extra registers. */
static void code_chooses_extra_register(void **state)
{
	static const char skl[] = "skl::OFFCORE_RESPONSE:DEMAND_DATA_RD:ANY_RESPONSE";
	static const char nvl[] = "nvl_coyotecove::MEM_LOAD_L2_MISS_RETIRED:L3_MISS";

	(void)state;
	expect_by_extra("skl", 0x5301b7, 0x1a6, 0x10001, skl);
	expect_by_extra("skl", 0x5301bb, 0x1a7, 0x10001, skl);
	expect_by_extra("nvl_coyotecove", 0x5301d6, 0x3e0, 0xff03f000000001, nvl);
	expect_by_extra("nvl_coyotecove", 0x5302d6, 0x3e1, 0xff03f000000001, nvl);
	expect_by_extra("nvl_coyotecove", 0x5304d6, 0x3e2, 0xff03f000000001, nvl);
	expect_by_extra("nvl_coyotecove", 0x5308d6, 0x3e3, 0xff03f000000001, nvl);
}

static void decoding_refuses_wrong_registers(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_reg_t regs[] = { reg_of(PFM_REG_PMC, 0, 0x53412e), reg_of(PFM_REG_PMC, 1, 0x53412e) };
	pfm_decoded_event_t out[2] = { { .size = sizeof(out[0]) }, { .size = 77 } };
	int pmu = pmu_of(ctx, "LLC_Misses");

	(void)state;
	assert_int_equal(pfm_decode_set(ctx, -1, regs, 1, out, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, 1 << 20, regs, 1, out, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, pmu, NULL, 1, out, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, pmu, regs, 1, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, pmu, NULL, 0, NULL, 0), 0);
	assert_int_equal(pfm_decode_set(ctx, pmu, regs, 2, out, 1),
	                 2); /* the second one has no room */
	assert_string_equal(out[0].text, "coreduo::LLC_MISSES");
	assert_true(out[1].size == 77 && !*out[1].text);
	assert_int_equal(pfm_decode_set(ctx, pmu, regs, 2, NULL, 0), 2);
	out[0].size = 1;
	assert_int_equal(pfm_decode_set(ctx, pmu, regs, 1, out, 1), PFMLIB_ERR_INVAL);
	out[0].size = sizeof(out[0]);
	regs[0].num = 0x7fffffff;
	assert_int_equal(pfm_decode_set(ctx, pmu, regs, 1, out, 1), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

UNIT(decode_decode_set, cmocka_unit_test(dispatched_sets_decode_to_their_events),
     cmocka_unit_test(an_unknown_value_is_an_entry_without_a_text),
     cmocka_unit_test(levels_of_a_register_are_decoded),
     cmocka_unit_test(the_global_register_enables_each_counter),
     cmocka_unit_test(an_extra_register_tells_candidates_apart),
     cmocka_unit_test(code_chooses_extra_register),
     cmocka_unit_test(decoding_refuses_wrong_registers));
