/* SPDX-License-Identifier: MIT */
/* Core Solo and Core Duo as in pmc.core(3): every golden specifier, the spellings of libpfm 3,
 * libpfm4 and perf for the same registers, and sets against brute force. */
#include "dispatched_set.h"
#include "expect.h"
#include "rows.h"
#include <perfmon/perfmon.h>

static pfm_ctx_t *ctx;

/* ---- vectors --------------------------------------------------------------------------------- */

static void test_vector(void **state)
{
	const json_t *row = *state;
	const char *spec = row_text(row, "spec");
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	perfmon_event_info_t info = PFM_INIT(info);
	int rc = pfm_encode_event(ctx, spec, 0, &e, &error);

	if (!json_is_true(json_object_get(row, "ok"))) {
		assert_true(rc < 0);
		assert_string_equal(pfm_error_kind_name(error.kind), row_text(row, "error"));
		assert_true(error.start <= error.end && error.end <= strlen(spec));
		return;
	}
	assert_int_equal(rc, PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(ctx, e.pmu, e.event, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, row_text(row, "event"));
	assert_int_equal(e.n_regs, 1);
	assert_int_equal(e.regs[0].addr, row_int(row, "counters", 0) == 2 ? 0x187 : 0x186);
	assert_int_equal(e.regs[0].value, row_hex(row, "evsel_en_int"));
	assert_int_equal(e.regs[0].value & ~0x100000ull, row_hex(row, "evsel_en"));
	assert_int_equal(e.regs[0].value & ~0x500000ull, row_hex(row, "evsel"));
	assert_int_equal(e.counters, row_int(row, "counters", 0));
	assert_int_equal(e.attr.type, 4);
	assert_int_equal(e.attr.config, row_hex(row, "perf_config"));
	assert_int_equal(e.attr.exclude_user, row_int(row, "exclude_user", 0));
	assert_int_equal(e.attr.exclude_kernel, row_int(row, "exclude_kernel", 0));
	assert_int_equal(e.attr.config1 | e.attr.config2 | e.attr.config3, 0);
}

static void add_vector(struct rows *rows, json_t *row)
{
	char name[160];

	snprintf(name, sizeof(name), "libpmc '%s'", row_text(row, "spec"));
	rows_add(rows, name, test_vector, row);
}

static uint64_t select_of(const char *spec)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_encode_event(ctx, spec, 0, &e, &error);

	if (rc)
		print_message("%s: %d, %s at %u..%u\n", spec, rc, pfm_error_kind_name(error.kind),
		              error.start, error.end);
	assert_int_equal(rc, PFMLIB_SUCCESS);
	return e.regs[0].value;
}

static void test_names(void **state)
{
	const json_t *row = *state;
	char spec[128];

	assert_int_equal(select_of(row_text(row, "libpmc")), row_hex(row, "evsel"));
	assert_int_equal(select_of(row_text(row, "libpfm3")), row_hex(row, "evsel"));
	snprintf(spec, sizeof(spec), "coreduo::%s", row_text(row, "libpfm4"));
	assert_int_equal(select_of(spec), row_hex(row, "evsel"));
	snprintf(spec, sizeof(spec), "core::%s", row_text(row, "libpmc"));
	assert_int_equal(select_of(spec), row_hex(row, "evsel"));
}

static void add_names(struct rows *rows, json_t *row)
{
	char name[160];

	snprintf(name, sizeof(name), "'%s' is libpfm's '%s' and '%s'", row_text(row, "libpmc"),
	         row_text(row, "libpfm3"), row_text(row, "libpfm4"));
	rows_add(rows, name, test_names, row);
}

/* ---- the same register in several grammars --------------------------------------------------- */

static const struct {
	const char *libpmc, *libpfm, *perf;
	uint64_t value;
} same[] = {
	{ "Instr_Ret,usr", "coreduo::INSTR_RET:u", "cpu/event=0xc0/u", 0x005100c0 },
	{ "L2_Lines_In,core=all,prefetch=only", "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH",
	  "cpu/event=0x24,umask=0xd0/", 0x0053d024 },
	{ "L2_Rqsts,cachestate=mi,cmask=1,inv", "coreduo::L2_RQSTS:M_STATE:I_STATE:c=1:i",
	  "cpu/event=0x2e,umask=0x79,cmask=1,inv/", 0x01d3792e },
	{ "Thermal_Trip,edge", "coreduo::THERMAL_TRIP:TRIPS", "cpu/event=0x3b,umask=0xc0,edge/",
	  0x0057c03b },
	{ "DCache_Cache_ST,os,cmask=2,edge", "coreduo::DCACHE_CACHE_ST:k:c=2:e",
	  "cpu/event=0x41,umask=0xf,cmask=2,edge/k", 0x02560f41 },
	{ "Bus_Req_Outstanding,agent=any", "coreduo::BUS_REQ_OUTSTANDING:0x60",
	  "cpu/event=0x60,umask=0x60/", 0x00536060 },
	{ "L2_Lines_In,prefetch=exclude", "coreduo::L2_LINES_IN:0x40", "cpu/event=0x24,umask=0x40/",
	  0x00534024 },
	{ "Bus_Snoops,agent=any", "coreduo::BUS_SNOOPS:0x2f", "cpu/event=0x77,umask=0x2f/",
	  0x00532f77 },
	{ "Bus_Trans_Any,agent=any", "coreduo::BUS_TRANS_ANY:ALL_AGENTS",
	  "cpu/event=0x70,umask=0xe0/", 0x0053e070 },
	{ "EST_Trans,trans=frequency", "coreduo::EST_TRANS:FREQ", "cpu/event=0x3a,umask=0x10/",
	  0x0053103a },
	{ "L2_Lines_In,core=all,prefetch=only", "L2_LINES_IN:BOTH_CORES:PREFETCH",
	  "cpu/event=0x24,umask=0xd0/", 0x0053d024 },
	{ "Uops_Ret,cmask=1,edge", "coreduo::UOPS_RET.e.c=1.u.k", "cpu/event=0xc2,edge,cmask=1/",
	  0x015700c2 },
	{ "SSE_PrefT2_Ret,os", "coreduo::SSE_PREFETCH:k:T2", "cpu/event=7,umask=2/k", 0x00520207 },
	{ "SIMD_Int_Pmul_Exec", "coreduo::SIMD_INT_INSTRUCTIONS:MUL", "cpu/event=0xb3,umask=1/",
	  0x005301b3 },
	{ "Uops_Ret,usr", "coreduo::UOPS_RET:k=0:u=1", "cpu/event=0xc2/u", 0x005100c2 },
};

static void same_register_in_every_grammar(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		EXPECT_ROW_NUMBER(same[i].libpmc, select_of(same[i].libpmc), same[i].value);
		EXPECT_ROW_NUMBER(same[i].libpfm, select_of(same[i].libpfm), same[i].value);
		EXPECT_ROW_NUMBER(same[i].perf, select_of(same[i].perf), same[i].value);
	}
}

static const struct {
	const char *spec;
	const char *kind;
} refused[] = {
	{ "coreduo::L2_LINES_IN:SELF:BOTH_CORES", "conflict" },
	{ "coreduo::INSTR_RET:c=256", "bad_value" },
	{ "coreduo::INSTR_RET:c=", "missing_value" },
	{ "coreduo::INSTR_RET:c", "missing_value" },
	{ "coreduo::INSTR_RET:u=x", "bad_value" },
	{ "coreduo::INSTR_RET:", "empty_qualifier" },
	{ "coreduo::INSTR_RET:t", "unknown_qualifier" },
	{ "coreduo::INSTR_RET:c=1:c=2", "conflict" },
	{ "coreduo::INSTR_RET:e:e=0", "conflict" },
	{ "coreduo::THERMAL_TRIP:TRIPS:e=0", "conflict" },
	{ "coreduo::L2_LINES_IN:SELF:0x40", "conflict" },
	{ "coreduo::L2_LINES_IN:0x40:SELF", "conflict" },
	{ "coreduo::L2_LINES_IN:0x140", "bad_value" },
	{ "coreduo::SSE_PREFETCH", "missing_umask" },
	{ "coreduo::FUSED_UOPS:u", "missing_umask" },
	{ "coreduo::NOPE", "unknown_event" },
	{ "coredup::INSTR_RET", "unknown_pmu" },
	{ "L2_LINES_IN:SELF", "unknown_event" },
	{ "cpu/event=0x100/", "bad_value" },
	{ "cpu/event=0xc0,any/", "unknown_qualifier" },
};

static void refused_with_its_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		int rc = pfm_encode_event(ctx, refused[i].spec, 0, &e, &error);

		if (rc >= 0 || strcmp(pfm_error_kind_name(error.kind), refused[i].kind) != 0)
			print_message("%s: %d %s, expected %s\n", refused[i].spec, rc,
			              pfm_error_kind_name(error.kind), refused[i].kind);
		assert_true(rc < 0);
		assert_string_equal(pfm_error_kind_name(error.kind), refused[i].kind);
	}
}

static void default_levels_are_the_callers(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	assert_int_equal(pfm_encode_event(ctx, "Uops_Ret", PFM_PLM3, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].value, 0x005100c2);
	assert_int_equal(e.attr.exclude_kernel, 1);
	assert_int_equal(pfm_encode_event(ctx, "Uops_Ret,os", PFM_PLM3, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].value, 0x005200c2);
	assert_int_equal(pfm_encode_event(ctx, "coreduo::UOPS_RET:u=0", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].value, 0x005000c2);
}

/* ---- capabilities and events of the manual page ---------------------------------------------- */

static const char *feature_text(const char *name, uint64_t *value)
{
	const char *n, *text;

	for (unsigned i = 0; pfm_describe_feature(ctx, pfm_find_pmu(ctx, "coreduo"), i, &n, &text,
	                                          value) == PFMLIB_SUCCESS;
	     i++)
		if (strcmp(n, name) == 0)
			return text;
	return NULL;
}

static void capabilities_as_the_page_lists_them(void **state)
{
	static const struct {
		const char *name;
		uint64_t yes;
	} caps[] = {
		{ "PMC_CAP_CASCADE", 0 }, { "PMC_CAP_EDGE", 1 },    { "PMC_CAP_INTERRUPT", 1 },
		{ "PMC_CAP_INVERT", 1 },  { "PMC_CAP_READ", 1 },    { "PMC_CAP_PRECISE", 0 },
		{ "PMC_CAP_SYSTEM", 1 },  { "PMC_CAP_TAGGING", 0 }, { "PMC_CAP_THRESHOLD", 1 },
		{ "PMC_CAP_USER", 1 },    { "PMC_CAP_WRITE", 1 },
	};
	perfmon_pmu_info_t info = PFM_INIT(info);
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		EXPECT_ROW_TRUE(caps[i].name, feature_text(caps[i].name, &value) != NULL);
		EXPECT_ROW_NUMBER(caps[i].name, value, caps[i].yes);
	}
	assert_non_null(feature_text("width", &value));
	assert_int_equal(value, 40);
	assert_int_equal(pfm_describe_pmu(ctx, pfm_find_pmu(ctx, "core"), &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, "coreduo");
	assert_int_equal(info.width, 40);
	assert_int_equal(info.n_counters, 2);
	assert_int_equal(info.n_fixed, 0);
}

static void every_event_has_a_description_of_its_own(void **state)
{
	int pmu = pfm_find_pmu(ctx, "coreduo");
	perfmon_pmu_info_t info = PFM_INIT(info);
	unsigned listed = 0, arch = 0;

	(void)state;
	assert_int_equal(pfm_describe_pmu(ctx, pmu, &info), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < info.n_events; i++) {
		perfmon_event_info_t a = PFM_INIT(a), b = PFM_INIT(b);

		assert_int_equal(pfm_describe_event(ctx, pmu, i, &a), PFMLIB_SUCCESS);
		if (a.flags & PFM_EVENT_HIDDEN)
			continue;
		listed++;
		arch += (a.flags & PFM_EVENT_ARCH) != 0;
		assert_true(strlen(a.desc) > 10);
		for (unsigned k = 0; k < i; k++) {
			assert_int_equal(pfm_describe_event(ctx, pmu, k, &b), PFMLIB_SUCCESS);
			assert_string_not_equal(a.desc, b.desc);
		}
	}
	assert_int_equal(listed, 132);
	assert_int_equal(arch, 7);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void two_events_of_one_counter_clash(void **state)
{
	static const char *const texts[] = { "Uops_Ret", "FP_Assist", "Mul" };
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch_set(ctx, texts + 1, 2, NULL, &set, &error), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&error, 3));
	assert_int_equal(error.clash_counters, 2);
	assert_int_equal(dispatch_set(ctx, texts, 2, NULL, &set, &error), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 0);
	assert_int_equal(set.counter[1], 1);
	assert_int_equal(set.pmcs[1].addr, 0x187);
	assert_int_equal(set.pmds[1].addr, 0xc2);
	assert_int_equal(set.pmds[1].alt_addr, 1);
}

static uint32_t seed = 0x2468ace1;

static unsigned get_random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed >> 8) % n;
}

/* Returns true if every event of @events (bit i) can have its own counter. */
static int can_place(const uint64_t *mask, unsigned n, uint64_t events, uint64_t used)
{
	unsigned i = 0;

	while (i < n && !(events >> i & 1))
		i++;
	if (i == n)
		return 1;
	for (unsigned c = 0; c < 64; c++)
		if (mask[i] >> c & 1 && !(used >> c & 1) &&
		    can_place(mask, n, events & ~((uint64_t)1 << i), used | (uint64_t)1 << c))
			return 1;
	return 0;
}

static unsigned count_bits(uint64_t x)
{
	unsigned n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

static unsigned smallest_clash(const uint64_t *mask, unsigned n)
{
	unsigned best = 99;

	for (uint64_t s = 1; s < (uint64_t)1 << n; s++)
		if (count_bits(s) < best && !can_place(mask, n, s, 0))
			best = count_bits(s);
	return best;
}

static void check_set(const char *const *texts, const uint64_t *mask, unsigned n,
                      const pfm_dispatch_options_t *options)
{
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);
	int rc = dispatch_set(ctx, texts, n, options, &set, &error);
	uint64_t used = 0;

	if (!can_place(mask, n, ((uint64_t)1 << n) - 1, 0)) {
		assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
		assert_false(can_place(mask, n, get_clash(&error), 0));
		assert_int_equal(count_bits(get_clash(&error)), smallest_clash(mask, n));
		return;
	}
	assert_int_equal(rc, PFMLIB_SUCCESS);
	for (unsigned i = 0; i < n; i++) {
		assert_true(mask[i] >> set.counter[i] & 1);
		assert_false(used >> set.counter[i] & 1);
		used |= (uint64_t)1 << set.counter[i];
	}
}

static void random_sets(const char *prefix, unsigned most, unsigned rounds)
{
	int pmu = pfm_find_pmu(ctx, prefix);
	perfmon_pmu_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_pmu(ctx, pmu, &info), PFMLIB_SUCCESS);
	for (unsigned r = 0; r < rounds; r++) {
		char text[16][96];
		const char *texts[16];
		uint64_t mask[16];
		pfmlib_regmask_t taken = { 0 };
		pfm_dispatch_options_t options = { .size = sizeof(options), .unavailable = &taken };
		unsigned n = 1 + get_random_below(most);

		for (unsigned k = get_random_below(3); k > 0; k--)
			taken.bits[0] |= (uint64_t)1 << get_random_below(most);
		for (unsigned i = 0; i < n; i++) {
			perfmon_event_info_t e = PFM_INIT(e);
			int filtered;

			do
				assert_int_equal(pfm_describe_event(ctx, pmu,
				                                    get_random_below(info.n_events),
				                                    &e),
				                 PFMLIB_SUCCESS);
			while (e.flags & PFM_EVENT_HIDDEN ||
			       strncmp(e.name, "PERF_METRICS", 12) == 0);
			/* Constrained events are rare in the table, so draw them more often. */
			if (strcmp(prefix, "coreduo") == 0 && get_random_below(2))
				e.counters = get_random_below(2) ? 1 : 2;
			filtered = e.counters >> 32 && e.counters & 0xffffffff &&
			           get_random_below(3) == 0;
			snprintf(text[i], sizeof(text[i]), "%s::%s%s", prefix,
			         strcmp(prefix, "coreduo") ? e.name
			         : e.counters == 1         ? "Cycles_Div_Busy"
			         : e.counters == 2         ? "Div"
			                                   : e.name,
			         filtered ? ":c=1" : "");
			mask[i] =
				(filtered ? e.counters & 0xffffffff : e.counters) & ~taken.bits[0];
			texts[i] = text[i];
		}
		check_set(texts, mask, n, &options);
	}
}

static void solver_agrees_with_brute_force_on_coreduo(void **state)
{
	(void)state;
	random_sets("coreduo", 4, 3000);
}

static void solver_agrees_with_brute_force_on_intel_arch(void **state)
{
	(void)state;
	random_sets("intel_arch", 9, 1500);
}

/* ---- main ------------------------------------------------------------------------------------ */

static void add_tests(struct rows *rows)
{
	rows_add(rows, "same register in every grammar", same_register_in_every_grammar, NULL);
	rows_add(rows, "refused with its kind", refused_with_its_kind, NULL);
	rows_add(rows, "default levels are the caller's", default_levels_are_the_callers, NULL);
	rows_add(rows, "capabilities as the page lists them", capabilities_as_the_page_lists_them,
	         NULL);
	rows_add(rows, "every event has a description of its own",
	         every_event_has_a_description_of_its_own, NULL);
	rows_add(rows, "two events of one counter clash", two_events_of_one_counter_clash, NULL);
	rows_add(rows, "solver agrees with brute force on coreduo",
	         solver_agrees_with_brute_force_on_coreduo, NULL);
	rows_add(rows, "solver agrees with brute force on intel_arch",
	         solver_agrees_with_brute_force_on_intel_arch, NULL);
}

int main(void)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES,
		                      .pmu = "coreduo" };
	struct rows rows = { 0 };
	char path[512];

	if (pfm_open_context(&ctx, &options, NULL))
		return 1;
	snprintf(path, sizeof(path), "%s/vectors/core.jsonl", rows_folder());
	if (!rows_read(path, add_vector, &rows))
		return 1;
	snprintf(path, sizeof(path), "%s/vectors/core_names.jsonl", rows_folder());
	if (!rows_read(path, add_names, &rows))
		return 1;
	add_tests(&rows);
	return rows_run("core", &rows);
}
