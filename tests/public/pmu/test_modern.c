/* SPDX-License-Identifier: MIT */
/* Recent processors from lists: every golden row through an image compiled from its list, and
 * constraints of sets of such events. The vendors' lists are not part of this project: without them
 * the lists of tests/lists are used, and sets come from the built-in tables. */
#include "dispatched_set.h"
#include "rows.h"
#include "shared.h"
#include <stdio.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

/* One context for each directory of lists, since several have the same processor. */
static const struct tree {
	const char *name;
	bool ours;
} trees[] = { { "intel-like", true },
	      { "linux-like", true },
	      { "intel", false },
	      { "linux-6.12", false },
	      { "linux-6.1", false } };
enum { INTEL = 2, LINUX = 3, TREES = 5 };
static pfm_ctx_t *of_tree[TREES], *builtin;
static char lists[512], images[64];

static pfm_ctx_t *context_of(const json_t *row)
{
	const char *src = row_text(row, "src");
	size_t len = strcspn(src, "/");

	for (unsigned i = 0; i < TREES; i++)
		if (strlen(trees[i].name) == len && strncmp(src, trees[i].name, len) == 0)
			return of_tree[i];
	return NULL;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Name of the table made from a row's list. */
static void table_name(const json_t *row, char *out, size_t size)
{
	static const struct {
		const char *cpu, *table;
	} named[] = {
		{ "DUO/core", "duo_oxen" },       { "DUO/atom", "duo_goats" },
		{ "ADL/core", "adl_goldencove" }, { "ADL/atom", "adl_gracemont" },
		{ "LNL/core", "lnl_lioncove" },   { "LNL/atom", "lnl_skymont" },
	};
	const char *cpu = row_text(row, "cpu"), *pmu = row_text(row, "pmu"),
		   *base = strrchr(cpu, '/');
	bool core = strcmp(pmu, "cpu") == 0 || strncmp(pmu, "armv8", 5) == 0 ||
	            strcmp(pmu, "cpum_cf") == 0;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(cpu, named[i].cpu) == 0) {
			snprintf(out, size, "%s", named[i].table);
			return;
		}
	snprintf(out, size, "%s%s%s", base ? base + 1 : cpu, core ? "" : "_",
	         core                      ? ""
	         : strncmp(pmu, "cpu_", 4) ? pmu
	                                   : pmu + 4);
	for (char *p = out; *p; p++)
		*p = *p == '-' ? '_' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
}

static void write_spec(const json_t *row, char *out, size_t size)
{
	json_t *mods = json_object_get(row, "mods"), *value;
	char table[96];
	const char *key;
	size_t used;

	table_name(row, table, sizeof(table));
	used = (size_t)snprintf(out, size, "%s::%s", table, row_text(row, "event"));
	json_object_foreach (mods, key, value) {
		if (strcmp(key, "plm") == 0)
			used += (size_t)snprintf(out + used, size - used, ":%s",
			                         json_string_value(value));
		else
			used += (size_t)snprintf(out + used, size - used, ":%s=%lld", key,
			                         (long long)json_integer_value(value));
	}
}

static uint64_t counter_set(const json_t *list)
{
	uint64_t set = 0;
	json_t *c;
	size_t i;

	json_array_foreach (list, i, c) {
		if (json_is_string(c))
			set |= (uint64_t)1 << (32 + strtoul(json_string_value(c) + 1, NULL, 10));
		else
			set |= (uint64_t)1 << json_integer_value(c);
	}
	return set;
}

static const pfm_reg_t *find_reg(const pfm_encoding_t *e, unsigned kind)
{
	for (unsigned i = 0; i < e->n_regs; i++)
		if (e->regs[i].kind == kind)
			return &e->regs[i];
	return NULL;
}

static void check_msr(const json_t *pair, uint64_t msr, uint64_t value)
{
	assert_int_equal(msr, strtoull(json_string_value(json_array_get(pair, 0)), NULL, 0));
	assert_int_equal(value, strtoull(json_string_value(json_array_get(pair, 1)), NULL, 0));
}

static void check_registers(const json_t *row, const pfm_encoding_t *e)
{
	const pfm_reg_t *extra = find_reg(e, PFM_REG_EXTRA);
	json_t *msr = json_object_get(row, "msr"), *alt;
	size_t i;

	/* One Linux list has fixed counter 6 as bit 38, so the event cannot use the general counter
	 * that its row expects; Intel's list of that core agrees. */
	if (e->counters >> 38 & 1 && json_object_get(row, "evtsel")) {
		assert_int_equal(e->regs[0].kind, PFM_REG_FIXED_CTRL);
		assert_int_equal(e->regs[0].value, 0x3000000);
	} else if (json_object_get(row, "evtsel")) {
		assert_int_equal(e->regs[0].kind, PFM_REG_PMC);
		assert_int_equal(e->regs[0].addr, 0x186 + e->regs[0].num);
		assert_int_equal(e->regs[0].value, row_hex(row, "evtsel"));
	}
	if (json_object_get(row, "fixed_ctrl")) {
		assert_int_equal(e->regs[0].kind, PFM_REG_FIXED_CTRL);
		assert_int_equal(e->regs[0].addr, 0x38d);
		assert_int_equal(e->regs[0].value, row_hex(row, "fixed_ctrl"));
	}
	if (msr) {
		assert_non_null(extra);
		check_msr(msr, extra->addr, extra->value);
	}
	json_array_foreach (json_object_get(row, "alt"), i, alt) {
		assert_true(i < e->n_alternatives);
		assert_int_equal(e->alternatives[i].config, row_hex(alt, "config"));
		assert_int_equal(e->alternatives[i].control, row_hex(alt, "evtsel"));
		if (json_object_get(alt, "msr"))
			check_msr(json_object_get(alt, "msr"), e->alternatives[i].msr,
			          e->alternatives[i].value);
	}
	assert_int_equal(e->n_alternatives, json_array_size(json_object_get(row, "alt")));
}

static void check_description(const pfm_ctx_t *from, const json_t *row, const pfm_encoding_t *e)
{
	static const char *const precise[] = { "no", "may", "must" };
	perfmon_event_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_event(from, e->pmu, e->event, &info), PFMLIB_SUCCESS);
	if (json_object_get(row, "precise"))
		assert_string_equal(precise[info.precise], row_text(row, "precise"));
	if (json_object_get(row, "counters") && json_object_get(row, "precise"))
		assert_int_equal(info.counters, counter_set(json_object_get(row, "counters")));
	if (json_object_get(row, "counters_htoff"))
		assert_int_equal(info.counters_htoff,
		                 counter_set(json_object_get(row, "counters_htoff")));
	assert_int_equal((info.flags & PFM_EVENT_DEPRECATED) != 0, row_int(row, "deprecated", 0));
	assert_int_equal((info.flags & PFM_EVENT_ALONE) != 0, row_int(row, "alone", 0));
}

static void test_vector(void **state)
{
	const json_t *row = *state;
	const char *plm = row_text(json_object_get(row, "mods"), "plm");
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	pfm_ctx_t *from = context_of(row);
	char spec[512];
	int rc;

	if (!from)
		skip();
	write_spec(row, spec, sizeof(spec));
	rc = pfm_encode_event(from, spec, 0, &e, &error);
	if (rc)
		print_message("%s: %d, %s\n", spec, rc, pfm_error_kind_name(error.kind));
	assert_int_equal(rc, PFMLIB_SUCCESS);
	assert_int_equal(e.attr.type_known, json_is_integer(json_object_get(row, "type")));
	if (e.attr.type_known)
		assert_int_equal(e.attr.type, row_int(row, "type", 0));
	assert_int_equal(e.attr.config, row_hex(row, "config"));
	assert_int_equal(e.attr.config1, row_hex(row, "config1"));
	assert_int_equal(e.attr.config2, row_hex(row, "config2"));
	assert_int_equal(e.attr.exclude_user, strcmp(plm, "k") == 0);
	assert_int_equal(e.attr.exclude_kernel, strcmp(plm, "u") == 0);
	check_registers(row, &e);
	check_description(from, row, &e);
}

static void add_vector(struct rows *rows, json_t *row)
{
	char spec[512];

	write_spec(row, spec, sizeof(spec));
	rows_add(rows, spec, test_vector, row);
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* The vendors' lists where available, otherwise the built-in tables. */
static pfm_ctx_t *lists_of(unsigned tree)
{
	return of_tree[tree] ? of_tree[tree] : builtin;
}

static int dispatch(struct dispatched_set *set, pfm_error_t *error, const char *a, const char *b,
                    const char *c)
{
	const char *texts[3] = { a, b, c };

	return dispatch_set(lists_of(INTEL), texts, c ? 3 : b ? 2 : 1, NULL, set, error);
}

static const pfm_reg_t *find_extra(const struct dispatched_set *set, uint64_t msr)
{
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (set->pmcs[i].kind == PFM_REG_EXTRA && set->pmcs[i].addr == msr)
			return &set->pmcs[i];
	return NULL;
}

#define OFFCORE "skl::OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE:offcore_rsp="

static void offcore_values_are_shared_or_moved(void **state)
{
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch(&set, &error, OFFCORE "0x10001", OFFCORE "0x10001", NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, 4); /* two counters, the shared register and GLOBAL_CTRL */
	assert_int_equal(set.pmcs[3].kind, PFM_REG_GLOBAL_CTRL);
	assert_int_equal(set.pmcs[3].value, 3);
	assert_int_equal(find_extra(&set, 0x1a6)->value, 0x10001);
	assert_int_equal(
		dispatch(&set, &error, OFFCORE "0x10001", OFFCORE "0x10002", OFFCORE "0x10001"),
		PFMLIB_SUCCESS);
	assert_int_equal(set.pmcs[0].value & 0xffff, 0x01b7);
	assert_int_equal(set.pmcs[1].value & 0xffff, 0x01bb);
	assert_int_equal(set.pmcs[2].value & 0xffff, 0x01b7);
	assert_int_equal(find_extra(&set, 0x1a6)->value, 0x10001);
	assert_int_equal(find_extra(&set, 0x1a7)->value, 0x10002);
	assert_int_equal(dispatch(&set, &error, OFFCORE "1", OFFCORE "2", OFFCORE "4"),
	                 PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&error, 7));
}

static void one_latency_and_one_front_end_value(void **state)
{
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch(&set, &error, "skl::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8:ldlat=9",
	                          "skl::FRONTEND_RETIRED.DSB_MISS", NULL),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.kind, PFM_KIND_ALONE);
	assert_int_equal(error.event, 0);
	assert_int_equal(dispatch(&set, &error, "skl::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8",
	                          "skl::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16", NULL),
	                 PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&error, 3));
	assert_int_equal(dispatch(&set, &error, "skl::FRONTEND_RETIRED.DSB_MISS",
	                          "skl::FRONTEND_RETIRED.L1I_MISS", NULL),
	                 PFMLIB_ERR_NOASSIGN);
}

static void extra_registers_do_not_mix_in_one_event(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(pfm_encode_event(lists_of(INTEL), "skl::FRONTEND_RETIRED.DSB_MISS:ldlat=3",
	                                  0, &e, &error),
	                 PFMLIB_ERR_ATTR_SET);
	assert_int_equal(error.kind, PFM_KIND_CONFLICT);
	assert_int_equal(error.start, strlen("skl::FRONTEND_RETIRED.DSB_MISS:"));
}

static void hyper_threading_off_frees_counters(void **state)
{
	const char *texts[8];
	pfm_dispatch_options_t options = { .size = sizeof(options), .htoff = 1 };
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		texts[i] = "skl::UOPS_ISSUED.STALL_CYCLES";
	assert_int_equal(dispatch_set(lists_of(INTEL), texts, 4, NULL, &set, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(dispatch_set(lists_of(INTEL), texts, 5, NULL, &set, &error),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(dispatch_set(lists_of(INTEL), texts, 8, &options, &set, &error),
	                 PFMLIB_SUCCESS);
}

static void encodes_registers_of_amd(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	assert_int_equal(pfm_encode_event(lists_of(LINUX),
	                                  "amdzen4::ex_tagged_ibs_ops.ibs_tagged_ops:u", 0, &e,
	                                  NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].addr, 0xc0010200);
	assert_int_equal(e.regs[0].value, 0x1005101cfull);
	assert_int_equal(e.attr.config, 0x1000001cfull);
}

static void power_code_fixes_the_counter(void **state)
{
	static const char *const texts[] = { "power9::PM_BRU_FIN", "power9::PM_BRU_FIN" };
	static const char *const codes[] = { "power9/event=0x4abcd/", "power9/event=0x0abcd/" };
	struct dispatched_set set = { 0 };
	pfm_encoding_t e = PFM_INIT(e);
	unsigned pmc;

	(void)state;
	assert_int_equal(pfm_encode_event(lists_of(LINUX), texts[0], 0, &e, NULL), PFMLIB_SUCCESS);
	pmc = (unsigned)(e.attr.config >> 16 & 0xf);
	assert_true(pmc >= 1 && pmc <= 6);
	assert_int_equal(dispatch_set(lists_of(LINUX), texts, 1, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], pmc);
	assert_int_equal(dispatch_set(lists_of(LINUX), texts, 2, NULL, &set, NULL),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(dispatch_set(lists_of(LINUX), codes, 2, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 4);
	assert_int_equal(set.counter[1], 1);
}

/* ---- built-in tables ------------------------------------------------------------------------- */

static void expect_encoding(const char *spec, uint64_t type, uint64_t config, uint64_t control)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_encode_event(builtin, spec, 0, &e, &error);

	if (rc)
		print_message("%s: %d, %s\n", spec, rc, pfm_error_kind_name(error.kind));
	assert_int_equal(rc, PFMLIB_SUCCESS);
	assert_int_equal(e.attr.type, type);
	assert_int_equal(e.attr.config, config);
	assert_int_equal(e.regs[0].value, control);
}

static int dispatch_builtin(struct dispatched_set *set, pfm_error_t *error, unsigned n,
                            const char *const *texts)
{
	return dispatch_set(builtin, texts, n, NULL, set, error);
}

/* A single event encodes to the same registers as a set of this event, unless a set must hold
 * another event with it. */
static void check_alone(const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	struct dispatched_set set = { 0 };
	pfm_error_t one = PFM_INIT(one), other = PFM_INIT(other);
	int rc = pfm_encode_event(builtin, text, PFM_PLM3, &e, &one);
	pfm_dispatch_options_t o = { .size = sizeof(o), .plm = PFM_PLM3 };

	if (dispatch_set(builtin, &text, 1, &o, &set, &other) == PFMLIB_ERR_EVTINCOMP &&
	    other.kind == PFM_KIND_CONFLICT)
		return;
	assert_int_equal(rc, other.code);
	if (rc) {
		assert_int_equal(one.kind, other.kind);
		return;
	}
	/* A set also has the register that enables its counters. */
	assert_int_equal(set.n_pmcs - (set.pmcs[set.n_pmcs - 1].kind == PFM_REG_GLOBAL_CTRL),
	                 e.n_regs);
	for (unsigned i = 0; i < e.n_regs; i++) {
		assert_int_equal(e.regs[i].num, set.pmcs[i].num);
		assert_int_equal(e.regs[i].kind, set.pmcs[i].kind);
		assert_int_equal(e.regs[i].addr, set.pmcs[i].addr);
		assert_int_equal(e.regs[i].alt_addr, set.pmcs[i].alt_addr);
		assert_int_equal(e.regs[i].value, set.pmcs[i].value);
	}
}

static void one_event_is_a_set_of_one(void **state)
{
	static const char *const attributes[] = {
		"", ":u:c=2", ":e", ":counter=1", ":k:ldlat=9", ":offcore_rsp=0x10003"
	};
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t info = PFM_INIT(info);
	char text[400];

	(void)state;
	for (int p = 0; pfm_describe_pmu(builtin, p, &pmu) == PFMLIB_SUCCESS; p++) {
		if (!(pmu.flags & PFM_PMU_CORE))
			continue;
		for (unsigned e = 0; pfm_describe_event(builtin, p, e, &info) == PFMLIB_SUCCESS;
		     e++) {
			snprintf(text, sizeof(text), "%s::%s%s", pmu.name, info.name,
			         attributes[e % 2 ? 0 : e / 2 % 6]);
			check_alone(text);
		}
	}
}

static void exclusive_events_are_counted_alone(void **state)
{
	const char *with_fixed[] = { "spr::INST_RETIRED.ANY", "spr::FRONTEND_RETIRED.DSB_MISS",
		                     "spr::CPU_CLK_UNHALTED.THREAD" };
	const char *with_general[] = { "spr::INST_RETIRED.ANY", "spr::FRONTEND_RETIRED.DSB_MISS",
		                       "spr::L2_RQSTS.MISS" };
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);
	char text[256];

	(void)state;
	assert_int_equal(dispatch_builtin(&set, &error, 3, with_fixed), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 32);
	assert_int_equal(set.counter[1], 0);
	assert_int_equal(set.counter[2], 33);
	assert_int_equal(dispatch_builtin(&set, &error, 3, with_general), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.kind, PFM_KIND_ALONE);
	assert_int_equal(error.event, 1);
	assert_true(has_clash(&error, 6));
	pfm_explain_error(builtin,
	                  "spr::INST_RETIRED.ANY,spr::FRONTEND_RETIRED.DSB_MISS,spr::L2_RQSTS.MISS",
	                  &error, text, sizeof(text));
	assert_string_equal(text, "\"spr::FRONTEND_RETIRED.DSB_MISS\" must be counted alone: "
	                          "\"spr::L2_RQSTS.MISS\" has no counter "
	                          "beside it");
}

static void free_running_counters_are_not_given_out(void **state)
{
	const char *texts[] = { "icx_uncore_imc_free_running::UNC_M_CLOCKTICKS_FREERUN",
		                "icx_uncore_imc_free_running::UNC_M_CLOCKTICKS_FREERUN" };
	struct dispatched_set set = { 0 };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch_builtin(&set, &error, 2, texts), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], -1);
	assert_int_equal(set.counter[1], -1);
	assert_int_equal(set.n_pmds, 0);
	assert_int_equal(set.pmcs[0].value, 0x10ff);
}

static void encodes_architectural_events(void **state)
{
	(void)state;
	expect_encoding("intel_arch::INST_RETIRED.ANY_P", 4, 0xc0, 0x5300c0);
	expect_encoding("ix86arch::LLC_MISSES:u:c=2:i", 4, 0x280412e, 0x2d1412e);
	expect_encoding("intel_arch::CPU_CLK_UNHALTED.REF_TSC:k", 4, 0x300, 0x100);
	expect_encoding("intel_arch::TOPDOWN.SLOTS", 4, 0x400, 0x3000);
	expect_encoding("amd::ex_ret_fused_instr", 4, 0x1000000d0ull, 0x1005300d0ull);
}

static void encodes_events_of_the_kernel(void **state)
{
	(void)state;
	expect_encoding("hardware::cycles", 0, 0, 0);
	expect_encoding("hardware::branches:u", 0, 4, 4);
	expect_encoding("hardware::ref-cycles", 0, 9, 9);
	expect_encoding("software::cs", 1, 3, 3);
	expect_encoding("software::task-clock", 1, 1, 1);
	expect_encoding("software::major-faults", 1, 6, 6);
	expect_encoding("hw_cache::L1-dcache-load-misses", 3, 0x10000, 0x10000);
	expect_encoding("hw_cache::dTLB-store-misses", 3, 0x10103, 0x10103);
	expect_encoding("hw_cache::node-prefetch-misses", 3, 0x10206, 0x10206);
	expect_encoding("hw_cache::PERF_COUNT_HW_CACHE_L1D:READ:MISS", 3, 0x10000, 0x10000);
}

static void fixed_counters_share_one_control_register(void **state)
{
	static const char *const texts[] = { "intel_arch::CPU_CLK_UNHALTED.REF_TSC:u",
		                             "intel_arch::TOPDOWN.SLOTS",
		                             "intel_arch::LLC_MISSES" };
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch_set(builtin, texts, 3, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 34);
	assert_int_equal(set.counter[1], 35);
	assert_int_equal(set.counter[2], 0);
	assert_int_equal(set.pmcs[0].addr, 0x38d);
	assert_int_equal(set.pmcs[0].value, 0x3200);
	assert_int_equal(set.pmcs[1].value, 0x3200);
	assert_int_equal(set.pmds[0].addr, 0x30b);
	assert_int_equal(set.pmds[0].alt_addr, 0x40000002);
	assert_int_equal(set.pmcs[2].addr, 0x186);
}

static void a_filter_needs_a_general_counter(void **state)
{
	static const char *const plain[] = { "intel_arch::INST_RETIRED.ANY",
		                             "intel_arch::INST_RETIRED.ANY" };
	static const char *const filtered[] = { "intel_arch::INST_RETIRED.ANY:c=1" };
	pfmlib_regmask_t taken = { { 0xff } };
	pfm_dispatch_options_t options = { .size = sizeof(options), .unavailable = &taken };
	struct dispatched_set set = { 0 };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch_set(builtin, plain, 1, &options, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 32);
	assert_int_equal(dispatch_set(builtin, plain, 2, &options, &set, NULL),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(dispatch_set(builtin, filtered, 1, &options, &set, NULL),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(pfm_encode_event(builtin, "intel_arch::TOPDOWN.SLOTS:c=1", 0, &e, &error),
	                 PFMLIB_ERR_ATTR_EVENT);
	assert_int_equal(error.kind, PFM_KIND_QUALIFIER_NOT_ALLOWED);
}

/* Values by hand from the Arm Architecture Reference Manual, PMEVTYPER<n>_EL0: evtCount in bits 15
 * to 0, NSH (also EL2) in 27, U (not EL0) in 30, P (not EL1) in 31, TH in 43 to 32, TC in 63 to 61.
 * PMEVTYPER0_EL0 is S3_3_C14_C12_0, PMCCFILTR_EL0 S3_3_C14_C15_7. */
static void arm_sets_have_the_control_registers_of_their_counters(void **state)
{
	static const char *const texts[] = {
		"neoverse_v2::INST_RETIRED:u",
		"neoverse_v2::CPU_CYCLES:k",
		"neoverse_v2::L1D_CACHE_REFILL",
		"neoverse_v2::BR_RETIRED:u:threshold=2:threshold_compare=1:threshold_count=1",
	};
	static const struct {
		const char *name;
		uint64_t addr, value;
	} rows[] = {
		{ "PMEVTYPER0", 0x1bec00, UINT64_C(1) << 31 | 0x08 },
		{ "PMCCFILTR", 0x1befe0, UINT64_C(1) << 30 },
		{ "PMEVTYPER1", 0x1bec20, UINT64_C(1) << 27 | 0x03 },
		{ "PMEVTYPER2", 0x1bec40,
		  UINT64_C(3) << 61 | UINT64_C(2) << 32 | UINT64_C(1) << 31 | 0x21 },
	};
	struct dispatched_set set = { 0 };
	unsigned n = 0;

	(void)state;
	assert_int_equal(dispatch_set(builtin, texts, 4, NULL, &set, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < set.n_pmcs; i++) {
		if (set.pmcs[i].kind != PFM_REG_PMC)
			continue;
		assert_true(n < 4);
		assert_string_equal(set.pmcs[i].name, rows[n].name);
		assert_int_equal(set.pmcs[i].addr, rows[n].addr);
		assert_int_equal(set.pmcs[i].value, rows[n].value);
		assert_int_equal(set.pmcs[i].event, n);
		n++;
	}
	assert_int_equal(n, 4);
	/* perf's words have one event each; registers beside them add none. */
	assert_int_equal(pfm_decode_set(builtin, set.pmu, set.pmcs, set.n_pmcs, NULL, 0), 4);
}

static void top_down_figures_follow_slots(void **state)
{
	static const char *const good[] = { "intel_arch::TOPDOWN.SLOTS",
		                            "intel_arch::topdown-retiring",
		                            "intel_arch::topdown-bad-spec" };
	static const char *const bad[] = { "intel_arch::topdown-retiring",
		                           "intel_arch::TOPDOWN.SLOTS" };
	struct dispatched_set set = { 0 };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	assert_int_equal(dispatch_set(builtin, good, 3, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 35);
	assert_int_equal(set.counter[1], -1);
	assert_int_equal(set.counter[2], -1);
	/* Figures are read from one MSR, IA32_PERF_METRICS, or by RDPMC with bit 29 of ECX set. */
	assert_int_equal(set.n_pmds, 2);
	assert_true(set.pmds[0].addr == 0x30c && set.pmds[0].event == 0);
	assert_true(set.pmds[1].addr == 0x329 && set.pmds[1].alt_addr == 1u << 29);
	assert_int_equal(set.pmds[1].event, 1);
	assert_string_equal(set.pmds[1].name, "PERF_METRICS");
	assert_int_equal(dispatch_set(builtin, bad, 2, NULL, &set, &error), PFMLIB_ERR_EVTINCOMP);
	assert_int_equal(error.event, 0);
	assert_int_equal(pfm_encode_event(builtin, "intel_arch::topdown-fe-bound", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.attr.config, 0x8200);
	assert_int_equal(pfm_encode_event(builtin, "intel_arch::topdown-fe-bound:e", 0, &e, &error),
	                 PFMLIB_ERR_ATTR_EVENT);
	/* A top-down event has no extra register, so its fields are refused too: two events with
	 * different values could never share a group. */
	assert_int_equal(pfm_encode_event(builtin,
	                                  "arl_lioncove::PERF_METRICS.MEMORY_BOUND:ldlat=2", 0, &e,
	                                  &error),
	                 PFMLIB_ERR_ATTR_EVENT);
}

static void arm_cycles_take_the_cycle_counter(void **state)
{
	static const char *const texts[] = { "armv8::INST_RETIRED", "armv8::CPU_CYCLES",
		                             "armv8::CPU_CYCLES" };
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch_set(builtin, texts, 3, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 0);
	assert_int_equal(set.counter[1], 31);
	assert_int_equal(set.counter[2], 1);
	assert_int_equal(set.pmcs[1].kind, PFM_REG_CONFIG);
	assert_int_equal(set.pmcs[1].value, 0x11);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Returns false if a directory exists and its image cannot be made. */
static bool make_image(unsigned tree, const char *pmuc)
{
	pfm_ctx_options_t options = { .size = sizeof(options), .flags = PFM_CTX_NO_HOST };
	char command[2048], path[256], from[600];

	snprintf(from, sizeof(from), "%s%s/%s", trees[tree].ours ? rows_folder() : lists,
	         trees[tree].ours ? "/lists" : "", trees[tree].name);
	if (access(from, R_OK) || access(pmuc, R_OK))
		return true;
	snprintf(path, sizeof(path), "%s/%s", images, trees[tree].name);
	snprintf(command, sizeof(command),
	         "python3 '%s' import --byteorder %s '%s' -o '%s/' >/dev/null 2>&1", pmuc,
	         __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little", from, path);
	options.images = path;
	return !system(command) && !pfm_open_context(&of_tree[tree], &options, NULL);
}

static bool make_images(void)
{
	const char *pmuc = getenv("PERFMON_PMUC");

	snprintf(images, sizeof(images), P_tmpdir "/perfmon-test-XXXXXX");
	if (!mkdtemp(images))
		return false;
	for (unsigned i = 0; i < TREES; i++)
		if (!make_image(i, pmuc ? pmuc : "compiler/pmuc.py"))
			return false;
	return true;
}

static void remove_images(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", images);
	if (images[0] && system(command))
		fprintf(stderr, "%s stays\n", images);
}

static void add_tests(struct rows *rows)
{
	rows_add(rows, "offcore values are shared or moved", offcore_values_are_shared_or_moved,
	         NULL);
	rows_add(rows, "one latency and one front-end value", one_latency_and_one_front_end_value,
	         NULL);
	rows_add(rows, "extra registers do not mix in one event",
	         extra_registers_do_not_mix_in_one_event, NULL);
	rows_add(rows, "hyper-threading off frees counters", hyper_threading_off_frees_counters,
	         NULL);
	rows_add(rows, "AMD registers", encodes_registers_of_amd, NULL);
	rows_add(rows, "a POWER code fixes the counter", power_code_fixes_the_counter, NULL);
	rows_add(rows, "architectural events", encodes_architectural_events, NULL);
	rows_add(rows, "kernel events", encodes_events_of_the_kernel, NULL);
	rows_add(rows, "fixed counters share one control register",
	         fixed_counters_share_one_control_register, NULL);
	rows_add(rows, "a filter needs a general counter", a_filter_needs_a_general_counter, NULL);
	rows_add(rows, "one event is a set of one", one_event_is_a_set_of_one, NULL);
	rows_add(rows, "what must be counted alone is", exclusive_events_are_counted_alone, NULL);
	rows_add(rows, "free-running counters are not given out",
	         free_running_counters_are_not_given_out, NULL);
	rows_add(rows, "sets of Arm have control registers",
	         arm_sets_have_the_control_registers_of_their_counters, NULL);
	rows_add(rows, "top-down figures follow slots", top_down_figures_follow_slots, NULL);
	rows_add(rows, "arm cycles take the cycle counter", arm_cycles_take_the_cycle_counter,
	         NULL);
}

static void no_vectors(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct rows rows = { 0 };
	char path[1024];
	int rc;

	if (pfm_open_context(&builtin, &options, NULL))
		return 1;
	shared_path(lists, sizeof(lists), "data");
	if (!make_images())
		return 1;
	snprintf(path, sizeof(path), "%s/vectors/lists.jsonl", rows_folder());
	if (!rows_read(path, add_vector, &rows))
		return 1;
	shared_path(path, sizeof(path), "vectors/modern_public.jsonl");
	if (!rows_read(path, add_vector, &rows))
		rows_add(&rows, "vendors' lists: not at hand", no_vectors, NULL);
	add_tests(&rows);
	rc = rows_run("modern", &rows);
	for (unsigned i = 0; i < TREES; i++)
		pfm_close_context(of_tree[i]);
	pfm_close_context(builtin);
	remove_images();
	return rc;
}
