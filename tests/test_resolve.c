/* SPDX-License-Identifier: MIT */
/* What stands behind an event's name: every rule of the three grammars once, with the place of the culprit where a rule is broken;
 * then the sentences and the suggestions that errors turn into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>

static pfm_ctx_t *open_for(const char *pmu)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx;

	options.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	options.pmu = pmu;
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	return ctx;
}

/* ---- what is right -------------------------------------------------------------------------------------------- */

struct right {
	const char *text;
	uint64_t value;
};

static void check_values(const char *pmu, const struct right *lines, size_t n)
{
	pfm_ctx_t *ctx = open_for(pmu);

	for (size_t i = 0; i < n; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);

		if (pfm_encode_event(ctx, lines[i].text, 0, &e, &error))
			fail_msg("%s: %s", lines[i].text, pfm_error_kind_name(error.kind));
		if (e.regs[0].value != lines[i].value)
			fail_msg("%s: 0x%llx instead of 0x%llx", lines[i].text, (unsigned long long)e.regs[0].value,
			         (unsigned long long)lines[i].value);
	}
	pfm_close_context(ctx);
}

static void commas(void **state)
{
	static const struct right lines[] = {
		{ "L2_Rqsts", 0x537f2e },
		{ "l2 rqsts,CORE=ALL,Prefetch=Only", 0x53df2e },
		{ "L2_Rqsts,prefetch=exclude,core=this", 0x534f2e },
		/* States: letters in any order, or joined by '+'. */
		{ "L2_Rqsts,cachestate=im", 0x53792e },
		{ "L2_Rqsts,cachestate=mi", 0x53792e },
		{ "L2_Rqsts,cachestate=e+s", 0x53762e },
		{ "L2_Rqsts,cachestate=MESI", 0x537f2e },
		{ "Instr_Ret,usr", 0x5100c0 },
		{ "Instr_Ret,os", 0x5200c0 },
		{ "Instr_Ret,os,usr", 0x5300c0 },
		{ "Instr_Ret,cmask=2,inv,edge", 0x2d700c0 },
		{ "Instr_Ret,edge,edge", 0x5700c0 },
		{ "Instr_Ret,cmask=0x10", 0x105300c0 },
		{ "Instr_Ret,cmask=010", 0x85300c0 },
		{ "Instr_Ret,cmask=0", 0x5300c0 },
		{ "Bus_Snoops,agent=any", 0x532f77 },
		{ "EST_Trans,trans=frequency", 0x53103a },
	};

	(void)state;
	check_values("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

static void colons(void **state)
{
	static const struct right lines[] = {
		{ "coreduo::L2_RQSTS:BOTH_CORES:PREFETCH", 0x53df2e },
		{ "coreduo::L2_RQSTS.M_STATE.I_STATE", 0x53792e },
		{ "coreduo::l2_rqsts:m_state:u", 0x51782e },
		/* Levels: the one that is not named is off, and one can be switched off alone. */
		{ "Instr_Ret:u", 0x5100c0 },
		{ "Instr_Ret:k", 0x5200c0 },
		{ "Instr_Ret:u:k", 0x5300c0 },
		{ "Instr_Ret:u=1:k=y", 0x5300c0 },
		{ "Instr_Ret:u:k=0", 0x5100c0 },
		{ "Instr_Ret:u=0", 0x5000c0 },
		{ "Instr_Ret:plm=0x8", 0x5100c0 },
		{ "Instr_Ret:uk", 0x5300c0 },
		{ "Instr_Ret:up", 0x5100c0 },
		{ "Instr_Ret:p", 0x5300c0 },
		{ "Instr_Ret:c=2:i:e", 0x2d700c0 },
		{ "Instr_Ret:c=2:i=t:e=1", 0x2d700c0 },
		{ "Instr_Ret:i=0:e=f", 0x5300c0 },
		{ "Instr_Ret:cmask=2:inv:edge", 0x2d700c0 },
		/* "i" and "e" are modifiers also where a state of a line has that letter. */
		{ "coreduo::L2_RQSTS:M_STATE:I_STATE:c=1:i", 0x1d3792e },
		{ "coreduo::L2_RQSTS:e", 0x577f2e },
		/* A raw mask stands for all groups. */
		{ "coreduo::L2_LINES_IN:0x40", 0x534024 },
		{ "coreduo::L2_RQSTS:0x41", 0x53412e },
		{ "coreduo::THERMAL_TRIP:TRIPS", 0x57c03b },
		{ "coreduo::THERMAL_TRIP:CYCLES", 0x53c03b },
		{ "L2_Rqsts:core=all:cachestate=mi", 0x53f92e },
		/* Twice the same is once. */
		{ "Instr_Ret:c=2:c=2", 0x25300c0 },
		{ "coreduo::L2_LINES_IN:SELF:SELF", 0x537024 },
		/* Without "pmu::" every group whose default libpfm 3 and 4 disagree on has to be named. */
		{ "L2_LINES_IN:SELF:ANY", 0x537024 },
		{ "L2_LINES_IN:u", 0x517024 },
	};

	(void)state;
	check_values("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

static void slashes(void **state)
{
	static const struct right lines[] = {
		{ "cpu/event=0x2e,umask=0x41/", 0x53412e },
		{ "cpu/event=0x2e,umask=0x41/u", 0x51412e },
		{ "coreduo/event=0x2e,umask=0x41/k", 0x52412e },
		{ "cpu/event=0xc0,cmask=2,inv,edge/", 0x2d700c0 },
		{ "cpu/event=0xc0,inv=0/", 0x5300c0 },
		{ "cpu/L2_Rqsts,cmask=1/", 0x1537f2e },
		{ "cpu/event=0xc0/ukp", 0x5300c0 },
		{ "r412e", 0x53412e },
		{ "r412e:u", 0x51412e },
		{ "coreduo::r28400c0", 0x2d700c0 },
	};

	(void)state;
	check_values("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

/* perf's letters for what else is left out. Behind a colon unit masks and libpfm's own words come first. */
static void guests_host_and_idle_time(void **state)
{
	static const struct {
		const char *text;
		unsigned idle, host, guest;
		uint64_t value;
	} lines[] = {
		{ "cpu/event=0xc0/G", 0, 1, 0, 0x5300c0 },
		{ "cpu/event=0xc0/H", 0, 0, 1, 0x5300c0 },
		{ "cpu/event=0xc0/I", 1, 0, 0, 0x5300c0 },
		{ "cpu/event=0xc0/GH", 0, 0, 0, 0x5300c0 },
		{ "cpu/event=0xc0/ukhpppHI", 1, 0, 1, 0x5300c0 },
		{ "cpu/event=0xc0/DSW", 0, 0, 0, 0x5300c0 },
		{ "Instr_Ret:G", 0, 1, 0, 0x5300c0 },
		{ "Instr_Ret:H", 0, 0, 1, 0x5300c0 },
		{ "Instr_Ret:uGI", 1, 1, 0, 0x5100c0 },
		{ "Instr_Ret:I", 0, 0, 0, 0xd300c0 },
		{ "Instr_Ret:i", 0, 0, 0, 0xd300c0 },
		{ "Instr_Ret:h", 0, 0, 0, 0x5000c0 },
		{ "L2_Rqsts,cachestate=i", 0, 0, 0, 0x53712e },
		{ "r00c0:I", 1, 0, 0, 0x5300c0 },
		{ "r00c0:HG", 0, 0, 0, 0x5300c0 },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e), back = PFM_INIT(back);
		pfm_error_t error = PFM_INIT(error);
		char buf[256];

		if (pfm_encode_event(ctx, lines[i].text, 0, &e, &error))
			fail_msg("%s: %s", lines[i].text, pfm_error_kind_name(error.kind));
		if (e.attr.exclude_idle != lines[i].idle || e.attr.exclude_host != lines[i].host ||
		    e.attr.exclude_guest != lines[i].guest ||
		    e.regs[0].value != lines[i].value)
			fail_msg("%s: idle %d, host %d, guest %d left out, 0x%llx", lines[i].text, e.attr.exclude_idle,
			         e.attr.exclude_host, e.attr.exclude_guest, (unsigned long long)e.regs[0].value);
		/* perf's dialect alone can say it, and what it says means the same. */
		assert_int_equal(pfm_print_event(ctx, lines[i].text, PFM_DIALECT_PERF, buf, sizeof(buf), NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_encode_event(ctx, buf, 0, &back, NULL), PFMLIB_SUCCESS);
		assert_memory_equal(&e.attr, &back.attr, sizeof(e.attr));
		for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR && lines[i].idle + lines[i].host + lines[i].guest; d++)
			if (d != PFM_DIALECT_PERF) {
				assert_int_equal(pfm_print_event(ctx, lines[i].text, (pfm_dialect_t)d, buf, sizeof(buf), &error),
				                 PFMLIB_ERR_NOTSUPP);
				assert_int_equal(error.kind, PFM_KIND_UNEXPRESSIBLE);
			}
	}
	pfm_close_context(ctx);
}

/* A state of a line that is called like a letter, on a processor that inverts nothing. */
static void unit_masks_come_before_letters(void **state)
{
	pfm_ctx_t *ctx = open_for("montecito");
	pfm_encoding_t mask = PFM_INIT(mask), e = PFM_INIT(e);

	(void)state;
	assert_int_equal(pfm_encode_event(ctx, "L3_INSERTS:MESI=I", 0, &mask, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(ctx, "L3_INSERTS:I", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_memory_equal(&e, &mask, sizeof(e));
	assert_int_equal(e.attr.exclude_idle, 0);
	pfm_close_context(ctx);
}

/* A caller whose struct ends earlier gets what it has room for, and nothing that lay on the stack. */
static void older_callers_get_clean_structs(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	size_t size = offsetof(pfm_encoding_t, attr);
	static const pfm_reg_t none;

	(void)state;
	for (int fill = 0; fill < 256; fill += 0x5a) {
		pfm_encoding_t e;

		memset(&e, fill, sizeof(e));
		e.size = size;
		assert_int_equal(pfm_encode_event(ctx, "Instr_Ret", 0, &e, NULL), PFMLIB_SUCCESS);
		assert_int_equal(e.n_regs, 1);
		for (unsigned i = e.n_regs; i < PFM_MAX_REGS; i++)
			assert_memory_equal(&e.regs[i], &none, sizeof(none));
		assert_int_equal(((const unsigned char *)&e)[size], fill);
	}
	pfm_close_context(ctx);
}

/* Fields that are an event's have its counters: a raw code is not placed where it cannot count. */
static void fields_alone_are_placed_as_the_event_is(void **state)
{
	static const struct {
		const char *text;
		uint64_t counters;
	} lines[] = {
		{ "cpu/event=0x11/", 2 },
		{ "r11", 2 },
		{ "cpu/event=0x11,cmask=1/u", 2 },
		{ "r14", 1 },
		{ "cpu/event=0xc0/", 3 },
		{ "cpu/event=0x99/", 3 },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);

		assert_int_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, NULL), PFMLIB_SUCCESS);
		assert_int_equal(e.counters, lines[i].counters);
	}
	pfm_close_context(ctx);
}

/* ---- what is wrong -------------------------------------------------------------------------------------------- */

struct wrong {
	const char *text;
	int code, kind;
	unsigned start, end;
};

static void check_errors(const char *pmu, const struct wrong *lines, size_t n)
{
	pfm_ctx_t *ctx = open_for(pmu);

	for (size_t i = 0; i < n; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		int rc = pfm_encode_event(ctx, lines[i].text, 0, &e, &error);

		if (rc != lines[i].code || error.kind != lines[i].kind || error.start != lines[i].start || error.end != lines[i].end)
			fail_msg("%s: %d %s [%u,%u)", lines[i].text, rc, pfm_error_kind_name(error.kind), error.start, error.end);
		assert_int_equal(error.code, rc);
		assert_int_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, NULL), rc);
	}
	pfm_close_context(ctx);
}

static void errors_point_at_the_culprit(void **state)
{
	static const struct wrong lines[] = {
		{ "Instr_Rett", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 10 },
		{ "coreduo::Instr_Rett:u", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 9, 21 },
		{ "", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 0 },
		{ "nopmu::Instr_Ret", PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0, 5 },
		{ "nopmu/event=1/", PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0, 5 },
		{ "dc-misses", PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, 0, 9 },
		{ "Instr_Ret,foo", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 13 },
		{ "cpu/event=1/ue", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 13, 14 },
		{ "cpu/event=1/b", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 12, 13 },
		{ "Instr_Ret:uIe", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 12, 13 },
		{ "Instr_Ret,c=1", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 11 },
		{ "Instr_Ret,u", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 11 },
		{ "Instr_Ret:usr", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 13 },
		{ "Instr_Ret, usr", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 14 },
		{ "Instr_Ret:t", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 11 },
		{ "cpu/evnt=1/", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 4, 8 },
		{ "cpu/event=1/z", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 12, 13 },
		{ "Instr_Ret,,usr", PFMLIB_ERR_ATTR_EMPTY, PFM_KIND_EMPTY_QUALIFIER, 10, 10 },
		{ "Instr_Ret,", PFMLIB_ERR_ATTR_EMPTY, PFM_KIND_EMPTY_QUALIFIER, 10, 10 },
		{ "Instr_Ret:", PFMLIB_ERR_ATTR_EMPTY, PFM_KIND_EMPTY_QUALIFIER, 10, 10 },
		{ "Instr_Ret,usr=1", PFMLIB_ERR_ATTR_UNEXPECTED, PFM_KIND_UNEXPECTED_VALUE, 14, 15 },
		{ "Instr_Ret,cmask", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, 10, 15 },
		{ "Instr_Ret,cmask=", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, 10, 15 },
		{ "L2_Ads,core", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, 7, 11 },
		{ "L2_Ads,core=both", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 12, 16 },
		{ "L2_Ads,core=SELF", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 12, 16 },
		{ "L2_Rqsts,cachestate=mx", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 20, 22 },
		{ "L2_Rqsts,cachestate=m+", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 20, 22 },
		{ "Instr_Ret,cmask=256", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 16, 19 },
		{ "Instr_Ret,cmask=-1", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 16, 18 },
		{ "Instr_Ret,cmask=08", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 16, 18 },
		{ "Instr_Ret:u=2", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 12, 13 },
		{ "Instr_Ret:counter=2", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 0, 0 },
		{ "cpu/event=0x100/", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 10, 15 },
		{ "cpu/event=1/pppp", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 15, 16 },
		{ "coreduo::L2_LINES_IN:0x141", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 21, 26 },
		{ "Instr_Ret,core=all", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, 10, 14 },
		{ "coreduo::INSTR_RET:SELF", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, 19, 23 },
		{ "coreduo::INSTR_RET:0x41", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, 19, 23 },
		{ "coreduo::SSE_PREFETCH", PFMLIB_ERR_UMASK, PFM_KIND_MISSING_UMASK, 21, 21 },
		{ "coreduo::L2_LINES_IN:SELF:BOTH_CORES", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 26, 36 },
		{ "coreduo::L2_LINES_IN:SELF:0x41", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 26, 30 },
		{ "coreduo::L2_LINES_IN:0x41:SELF", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 26, 30 },
		{ "Instr_Ret:c=1:c=2", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
		{ "coreduo::THERMAL_TRIP:TRIPS:e=0", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 28, 29 },
		{ "cpu/event=1", PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 3, 11 },
		{ "cpu//", PFMLIB_ERR_ATTR_EMPTY, PFM_KIND_EMPTY_QUALIFIER, 4, 4 },
		{ "L2_LINES_IN:SELF", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 16 },
		{ "r", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 1 },
		{ "r4g", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 3 },
		{ "r100000000", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 0, 10 },
	};

	(void)state;
	check_errors("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

static void what_fails_leaves_the_result_alone(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_encoding_t e, before;

	(void)state;
	memset(&e, 0x5a, sizeof(e));
	e.size = sizeof(e);
	before = e;
	assert_int_equal(pfm_encode_event(ctx, "Instr_Ret,core=all", 0, &e, NULL), PFMLIB_ERR_ATTR_EVENT);
	assert_memory_equal(&e, &before, sizeof(e));
	pfm_close_context(ctx);
}

/* ---- sentences ------------------------------------------------------------------------------------------------ */

struct sentence {
	const char *text, *sentence;
};

static void sentences_name_the_token_and_the_way_out(void **state)
{
	static const struct sentence lines[] = {
		{ "L2_ADS,core=both", "\"core=both\": \"both\" is not a value of core (this, all)" },
		{ "Instr_Rett", "\"Instr_Rett\" is not an event of coreduo; another processor's is written PROCESSOR::EVENT" },
		{ "montecito::Instr_Rett", "\"Instr_Rett\" is not an event of montecito" },
		{ "nopmu::x", "\"nopmu\" is no processor or unit that is known here" },
		{ "dc-misses", "\"dc-misses\": no event of this processor counts misses of the L1 data cache" },
		{ "L2_ADS,foo", "\"foo\" is not a qualifier of L2_ADS, which takes core, edge, inv, cmask, os, usr" },
		{ "coreduo::L2_ADS:foo", "\"foo\" is not a qualifier of L2_ADS, which takes SELF, BOTH_CORES, edge, inv, cmask, u, k" },
		{ "cpu/evnt=1/", "\"evnt\" is not a qualifier of coreduo, which takes event, umask, edge, pc, inv, cmask" },
		{ "cpu/event=1/z",
		  "\"z\" is not a modifier: u, k and h for levels, p, pp or ppp for precision and G, H and I for guests, the host and no "
		  "idle time can stand behind the last slash" },
		{ "cpu/event=1/ue", "\"e\": this library has no exclusive groups" },
		{ "Instr_Ret:ub", "\"b\": this library does not count with BPF" },
		{ "L2_ADS,,usr", "a qualifier is empty at position 8: leave the separator out, or name one of core, edge, inv, cmask, "
		                 "os, usr" },
		{ "L2_ADS,usr=1", "\"usr\" takes no value: it stands alone" },
		{ "L2_ADS,core", "\"core\" needs a value: this, all" },
		{ "L2_ADS,cmask=", "\"cmask\" needs a value: a number behind \"=\"" },
		{ "L2_ADS,cmask=256", "\"cmask=256\": \"256\" is out of range: at most 255" },
		{ "L2_ADS,cmask=x", "\"cmask=x\": \"x\" is not valid: a number is expected" },
		{ "L2_ADS,agent=any", "\"agent\" does not go with L2_ADS, which takes core, edge, inv, cmask, os, usr" },
		{ "SSE_PREFETCH", "SSE_PREFETCH needs one of NTA, T1, T2" },
		{ "SIMD_INT_INSTRUCTIONS", "SIMD_INT_INSTRUCTIONS needs at least one of MUL, SHIFT, PACK, UNPACK, LOGICAL, ARITHMETIC" },
		{ "coreduo::L2_ADS:SELF:BOTH_CORES", "\"BOTH_CORES\": only one value of this group can be chosen" },
		{ "cpu/event=1", "\"/event=1\": a second '/' must follow the terms" },
		/* What cannot be printed is not printed. */
		{ "Instr\001\nRet", "\"Instr??Ret\" is not an event of coreduo; another processor's is written PROCESSOR::EVENT" },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		char buf[512];

		assert_int_not_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, &error), PFMLIB_SUCCESS);
		assert_int_equal(pfm_explain_error(ctx, lines[i].text, &error, buf, sizeof(buf)), strlen(lines[i].sentence));
		assert_string_equal(buf, lines[i].sentence);
	}
	pfm_close_context(ctx);
}

static void sets_are_explained_by_number_or_by_name(void **state)
{
	static const char *const texts[] = { "Instr_Ret", "FP_Assist", "Mul", "Div" };
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_error_t error = PFM_INIT(error);
	pfm_set_t set = PFM_INIT(set);
	char buf[256];

	(void)state;
	assert_int_equal(pfm_dispatch_set(ctx, texts, 4, NULL, &set, &error), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.clash, 0x6);
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "events number 2 and 3 can only count on counter 1");
	pfm_explain_error(ctx, "Instr_Ret,FP_Assist,cmask=1,inv,Mul,Div", &error, buf, sizeof(buf));
	assert_string_equal(buf, "\"FP_Assist,cmask=1,inv\" and \"Mul\" can only count on counter 1");
	error.clash = 0xd;
	error.clash_counters = 0x300000003;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "events number 1, 3 and 4 can only count on counters 0 and 1 and fixed counters 0 and 1");
	error.clash = 0x1;
	error.clash_counters = 0;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "event number 1 has no counter left that can count it");
	pfm_close_context(ctx);
}

/* Where nothing is marked the sentence is about the whole text. */
static void an_error_without_a_place(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_error_t error = { .size = sizeof(error), .code = PFMLIB_ERR_NOTSUPP, .kind = PFM_KIND_NOT_ON_CPU, .event = -1 };
	char buf[256];

	(void)state;
	pfm_explain_error(ctx, "Instr_Ret", &error, buf, sizeof(buf));
	assert_string_equal(buf, "\"Instr_Ret\": this processor says that it does not have this architectural event");
	error.kind = PFM_KIND_SYSTEM;
	error.detail = "the counters cannot be opened";
	error.sys_errno = 13;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "the counters cannot be opened (Permission denied)");
	pfm_close_context(ctx);
}

/* Every kind has a word and a sentence, with and without a text, in a buffer of any size. */
static void every_kind_in_every_buffer(void **state)
{
	static const char *const texts[] = { NULL, "", "L2_Rqsts,core=x", "cpu/event=1/", "a::b", ":::", "\xff" };
	pfm_ctx_t *ctx = open_for("coreduo");
	char names[8][96];

	(void)state;
	assert_string_equal(pfm_error_kind_name(PFM_KIND_MODEL), "model");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_NONE), "");
	assert_string_equal(pfm_error_kind_name(-1), "");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_ALONE), "alone");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_ALONE + 1), "");
	for (int kind = -1; kind <= PFM_KIND_MODEL + 1; kind++)
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			for (unsigned start = 0; start < 20; start += 3) {
				pfm_error_t error = {
					.size = sizeof(error),
					.code = PFMLIB_ERR_ATTR,
					.kind = kind,
					.start = start,
					.end = start + 2,
					.event = -1,
					.clash = start * 3,
					.clash_counters = start,
				};
				char whole[512], buf[64];
				size_t len = pfm_explain_error(ctx, texts[t], &error, whole, sizeof(whole));

				assert_true(len > 0 && len == strlen(whole));
				for (size_t size = 0; size < sizeof(buf); size += 7) {
					memset(buf, 'x', sizeof(buf));
					assert_int_equal(pfm_explain_error(ctx, texts[t], &error, buf, size), len);
					assert_int_equal(buf[size], 'x');
					if (size) {
						assert_int_equal(strlen(buf), len < size ? len : size - 1);
						assert_memory_equal(buf, whole, strlen(buf));
					}
				}
				assert_true(pfm_suggest_names(ctx, texts[t], &error, names, 8) <= 8);
			}
	assert_int_equal(pfm_explain_error(ctx, NULL, NULL, NULL, 0), 0);
	pfm_close_context(ctx);
}

/* ---- suggestions ---------------------------------------------------------------------------------------------- */

struct suggestion {
	const char *text, *names[8];
};

static void suggestions_closest_first(void **state)
{
	static const struct suggestion lines[] = {
		{ "INSTR_RETT", { "Instr_Ret", "Br_Instr_Ret" } },
		{ "INSTR_RETT:u", { "Instr_Ret", "Br_Instr_Ret" } },
		{ "coreduo::Isntr_Ret", { "Instr_Ret", "Br_Instr_Ret" } }, /* two letters swapped */
		{ "Br_Cnd_Exe,usr", { "Br_Cnd_Exec", "Br_Ind_Exec" } },
		/* What one only has to go on typing. */
		{ "L2_Li", { "L2_LD", "L2_ST", "L2_Lines_In", "L2_Lines_Out" } },
		{ "ALAT_CAPACITY_MISS_ALL", { "montecito::ALAT_CAPACITY_MISS_ALL" } },
		{ "page-fault", { "software::page-faults" } },
		{ "coreduoo::x", { "coreduo" } },
		{ "coredou::x", { "coreduo" } },
		{ "L2_Lines_In,cor=all", { "core" } },
		{ "L2_Lines_In,prefecth=only", { "prefetch", "prefetch=only" } },
		{ "L2_Lines_In,both_cores", { "core=all" } },
		{ "L2_Lines_In,usrr", { "usr" } },
		{ "L2_Lines_In,all", { "core=all" } },
		{ "coreduo::L2_LINES_IN:BOTH_CORE", { "BOTH_CORES" } },
		{ "coreduo::L2_LINES_IN:all", { "BOTH_CORES" } },
		{ "L2_Lines_In,core=al", { "all" } },
		{ "L2_Lines_In,core=both", { "this", "all" } },
		{ "L2_Lines_In,core=", { "core=this", "core=all" } },
		{ "SSE_PREFETCH", { "NTA", "T1", "T2" } },
		{ "Instr_Ret,usr=1", { "usr" } },
		{ "L2_LINES_IN:SELF", { "coreduo::L2_LINES_IN:SELF" } },
		{ "cpu/evnt=1/", { "event" } },
		{ "cpu/event=1,umsk=2/", { "umask", "cmask" } },
		{ "xyzzy_plugh", { NULL } },
		/* Hidden rows are not named. */
		{ "SSE_PREFETCHH", { NULL } },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		char names[8][96];
		size_t n, k;

		assert_int_not_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, &error), PFMLIB_SUCCESS);
		n = pfm_suggest_names(ctx, lines[i].text, &error, names, 8);
		for (k = 0; k < n && k < 8 && lines[i].names[k]; k++)
			assert_string_equal(names[k], lines[i].names[k]);
		if (k < n && !strstr(names[k], "::")) /* those of other processors follow */
			fail_msg("%s: %s as well", lines[i].text, names[k]);
		if (k < 8 && lines[i].names[k])
			fail_msg("%s: %s is missing", lines[i].text, lines[i].names[k]);
		/* Fewer may be asked for: the same ones from the front. */
		if (n > 1) {
			char first[1][96];

			assert_int_equal(pfm_suggest_names(ctx, lines[i].text, &error, first, 1), 1);
			assert_string_equal(first[0], names[0]);
		}
	}
	pfm_close_context(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas),
		cmocka_unit_test(colons),
		cmocka_unit_test(slashes),
		cmocka_unit_test(guests_host_and_idle_time),
		cmocka_unit_test(unit_masks_come_before_letters),
		cmocka_unit_test(older_callers_get_clean_structs),
		cmocka_unit_test(fields_alone_are_placed_as_the_event_is),
		cmocka_unit_test(errors_point_at_the_culprit),
		cmocka_unit_test(what_fails_leaves_the_result_alone),
		cmocka_unit_test(sentences_name_the_token_and_the_way_out),
		cmocka_unit_test(sets_are_explained_by_number_or_by_name),
		cmocka_unit_test(an_error_without_a_place),
		cmocka_unit_test(every_kind_in_every_buffer),
		cmocka_unit_test(suggestions_closest_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
