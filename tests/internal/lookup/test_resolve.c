/* SPDX-License-Identifier: MIT */
/* Attributes after an event's name: every rule of the three grammars once, with the place of the
 * faulty token where a rule is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "lookup/lookup.h"
#include "open_for.h"
#include "attr_texts.h"

/* ---- what is right --------------------------------------------------------------------------- */

static void events_of_libpmc_syntax(void **state)
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

static void events_of_libpfm_syntax(void **state)
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
		/* A raw mask replaces the masks of all groups. */
		{ "coreduo::L2_LINES_IN:0x40", 0x534024 },
		{ "coreduo::L2_RQSTS:0x41", 0x53412e },
		{ "coreduo::THERMAL_TRIP:TRIPS", 0x57c03b },
		{ "coreduo::THERMAL_TRIP:CYCLES", 0x53c03b },
		{ "L2_Rqsts:core=all:cachestate=mi", 0x53f92e },
		/* A repeated attribute counts once. */
		{ "Instr_Ret:c=2:c=2", 0x25300c0 },
		{ "coreduo::L2_LINES_IN:SELF:SELF", 0x537024 },
		/* Without "pmu::" every group whose default libpfm 3 and 4 disagree on has to be
		   named. */
		{ "L2_LINES_IN:SELF:ANY", 0x537024 },
		{ "L2_LINES_IN:u", 0x517024 },
	};

	(void)state;
	check_values("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

static void events_of_perf_syntax(void **state)
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

/* A caller with an older, shorter struct gets the members it has, and no uninitialised bytes. */
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

static void errors_point_at_the_faulty_token(void **state)
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
		{ "Instr_Ret,usr=1", PFMLIB_ERR_ATTR_UNEXPECTED, PFM_KIND_UNEXPECTED_VALUE, 14,
		  15 },
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
		{ "montecito::L3_READS_ALL_ALL:0x1f", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 0,
		  0 },
		{ "montecito::ALAT_CAPACITY_MISS_ALL:thres=2", PFMLIB_ERR_ATTR_VAL,
		  PFM_KIND_BAD_VALUE, 34, 39 },
		{ "montecito::ALAT_CAPACITY_MISS_ALL:u:thres=7:k", PFMLIB_ERR_ATTR_VAL,
		  PFM_KIND_BAD_VALUE, 36, 41 },
		{ "montecito::CPU_OP_CYCLES_ALL:thres=1", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
		  29, 34 },
		{ "cpu/event=0x100/", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 10, 15 },
		{ "cpu/event=1/pppp", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 15, 16 },
		{ "coreduo::L2_LINES_IN:0x141", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 21, 26 },
		{ "Instr_Ret,core=all", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, 10,
		  14 },
		{ "coreduo::INSTR_RET:SELF", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
		  19, 23 },
		{ "coreduo::INSTR_RET:0x41", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
		  19, 23 },
		{ "coreduo::SSE_PREFETCH", PFMLIB_ERR_UMASK, PFM_KIND_MISSING_UMASK, 21, 21 },
		{ "coreduo::L2_LINES_IN:SELF:BOTH_CORES", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
		  26, 36 },
		{ "coreduo::L2_LINES_IN:SELF:0x41", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 26,
		  30 },
		{ "coreduo::L2_LINES_IN:0x41:SELF", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 26,
		  30 },
		{ "Instr_Ret:c=1:c=2", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
		{ "coreduo::THERMAL_TRIP:TRIPS:e=0", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 28,
		  29 },
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

static void failures_leave_the_result_unchanged(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_encoding_t e, before;

	(void)state;
	memset(&e, 0x5a, sizeof(e));
	e.size = sizeof(e);
	before = e;
	assert_int_equal(pfm_encode_event(ctx, "Instr_Ret,core=all", 0, &e, NULL),
	                 PFMLIB_ERR_ATTR_EVENT);
	assert_memory_equal(&e, &before, sizeof(e));
	pfm_close_context(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_libpmc_syntax),
		cmocka_unit_test(events_of_libpfm_syntax),
		cmocka_unit_test(events_of_perf_syntax),
		cmocka_unit_test(older_callers_get_clean_structs),
		cmocka_unit_test(errors_point_at_the_faulty_token),
		cmocka_unit_test(failures_leave_the_result_unchanged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
