/* SPDX-License-Identifier: MIT */
/* Events printed in the words of each grammar, and the buffers they are printed into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <inttypes.h>
#include "format/printer.h"
#include "lookup/lookup.h"
#include "open_for.h"

/* NULL where a dialect has no words for it. */
struct line {
	const char *pmu, *text, *printed[4];
};

static void check_lines(const struct line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pfm_ctx_t *ctx = open_for(lines[i].pmu);

		for (pfm_dialect_t d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
			char buf[PRINTED_TEXT_SIZE];
			int rc = pfm_print_event(ctx, lines[i].text, d, buf, sizeof(buf), NULL);

			assert_int_equal(rc,
			                 lines[i].printed[d] ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP);
			if (!rc)
				assert_string_equal(buf, lines[i].printed[d]);
		}
		pfm_close_context(ctx);
	}
}

static void core_duo_in_the_words_of_each_grammar(void **state)
{
	static const struct line lines[] = {
		{ "skx",
		  "INST_RETIRED.ANY,usr",
		  { "skx::INST_RETIRED:ANY:u", "INST_RETIRED.ANY,usr", "cpu/INST_RETIRED.ANY/u",
		    "INST_RETIRED.ANY:u" } },
		{ "coreduo",
		  "Instr_Ret,usr",
		  { "coreduo::INSTR_RET:u", "Instr_Ret,usr", "cpu/event=0xc0/u", "Instr_Ret:u" } },
		/* An event on a fixed counter: its name, then its settings. */
		{ "skx",
		  "INST_RETIRED.ANY:ldlat=3:any:k",
		  { "skx::INST_RETIRED:ANY:k:t:ldlat=3", "INST_RETIRED.ANY,any,ldlat=3,os",
		    "cpu/INST_RETIRED.ANY,ldlat=3,any=1/k", "INST_RETIRED.ANY:any:ldlat=3:k" } },
		{ "skx",
		  "CPU_CLK_UNHALTED.THREAD:any",
		  { "skx::CPU_CLK_UNHALTED:THREAD:t", "CPU_CLK_UNHALTED.THREAD,any",
		    "cpu/CPU_CLK_UNHALTED.THREAD,any=1/", "CPU_CLK_UNHALTED.THREAD:any" } },
		/* Default values are omitted; an extra register that was set is printed, also
		 * with 0. */
		{ "skl",
		  "INST_RETIRED.ANY_P:edge=0:cmask=0",
		  { "skl::INST_RETIRED:ANY_P", "INST_RETIRED.ANY_P", "cpu/event=0xc0/",
		    "INST_RETIRED.ANY_P" } },
		{ "skl",
		  "INST_RETIRED.ANY_P:ldlat=0",
		  { "skl::INST_RETIRED:ANY_P:ldlat=0", "INST_RETIRED.ANY_P,ldlat=0",
		    "cpu/event=0xc0,ldlat=0/", "INST_RETIRED.ANY_P:ldlat=0" } },
		{ "skl",
		  "INST_RETIRED.ANY_P:offcore_rsp=0:edge=0",
		  { "skl::INST_RETIRED:ANY_P:offcore_rsp=0x0", "INST_RETIRED.ANY_P,offcore_rsp=0x0",
		    "cpu/event=0xc0,offcore_rsp=0/", "INST_RETIRED.ANY_P:offcore_rsp=0x0" } },
		/* A field as a whole has no defaults of its masks in it, in whichever way it is
		   given. */
		{ "skl",
		  "OFFCORE_RESPONSE_0:offcore_rsp=0x1:u",
		  { "skl::OFFCORE_RESPONSE_0:u:offcore_rsp=0x1",
		    "OFFCORE_RESPONSE_0,offcore_rsp=0x1,usr",
		    "cpu/event=0xb7,umask=0x1,offcore_rsp=0x1/u",
		    "OFFCORE_RESPONSE_0:offcore_rsp=0x1:u" } },
		{ "skl",
		  "skl::OFFCORE_RESPONSE_0:0x7",
		  { "skl::OFFCORE_RESPONSE_0:offcore_rsp=0x7", "OFFCORE_RESPONSE_0,offcore_rsp=0x7",
		    "cpu/event=0xb7,umask=0x1,offcore_rsp=0x7/",
		    "OFFCORE_RESPONSE_0:offcore_rsp=0x7" } },
		{ "skl",
		  "FRONTEND_RETIRED.L1I_MISS:frontend=0",
		  { "skl::FRONTEND_RETIRED:L1I_MISS:frontend=0x0",
		    "FRONTEND_RETIRED.L1I_MISS,frontend=0x0",
		    "cpu/event=0xc6,umask=0x1,frontend=0/",
		    "FRONTEND_RETIRED.L1I_MISS:frontend=0x0" } },
		{ "coreduo",
		  "L2_Lines_In,core=all,prefetch=only",
		  { "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH",
		    "L2_Lines_In,core=all,prefetch=only", "cpu/event=0x24,umask=0xd0/",
		    "L2_Lines_In:core=all:prefetch=only" } },
		{ "coreduo",
		  "coreduo::L2_RQSTS:M_STATE:I_STATE:c=1:i",
		  { "coreduo::L2_RQSTS:M_STATE:I_STATE:i:c=1", "L2_Rqsts,cachestate=mi,cmask=1,inv",
		    "cpu/event=0x2e,umask=0x79,cmask=1,inv/",
		    "L2_Rqsts:cachestate=mi:cmask=1:inv" } },
		{ "coreduo",
		  "Thermal_Trip,edge",
		  { "coreduo::THERMAL_TRIP:TRIPS", "Thermal_Trip,edge",
		    "cpu/event=0x3b,umask=0xc0,edge/", "Thermal_Trip:edge" } },
		{ "coreduo",
		  "coreduo::THERMAL_TRIP:TRIPS:e",
		  { "coreduo::THERMAL_TRIP:TRIPS", "Thermal_Trip,edge",
		    "cpu/event=0x3b,umask=0xc0,edge/", "Thermal_Trip:edge" } },
		/* A mask in another grammar's words, and a name in others' letters. */
		{ "coreduo",
		  "coreduo::L2_LINES_IN,core=all",
		  { "coreduo::L2_LINES_IN:BOTH_CORES", "L2_Lines_In,core=all",
		    "cpu/event=0x24,umask=0xf0/", "L2_Lines_In:core=all" } },
		{ "coreduo",
		  "coreduo::L2_lines_in:both_cores",
		  { "coreduo::L2_LINES_IN:BOTH_CORES", "L2_Lines_In,core=all",
		    "cpu/event=0x24,umask=0xf0/", "L2_Lines_In:core=all" } },
		{ "coreduo",
		  "DCache_Cache_ST,os,cmask=2,edge",
		  { "coreduo::DCACHE_CACHE_ST:k:e:c=2", "DCache_Cache_ST,cmask=2,edge,os",
		    "cpu/event=0x41,umask=0xf,cmask=2,edge/k", "DCache_Cache_ST:cmask=2:edge:k" } },
		/* Where libpfm has no default it is given one of its masks. */
		{ "coreduo",
		  "Thermal_Trip",
		  { "coreduo::THERMAL_TRIP:CYCLES", "Thermal_Trip", "cpu/event=0x3b,umask=0xc0/",
		    "Thermal_Trip" } },
		{ "coreduo",
		  "MMX_FP_Trans",
		  { "coreduo::MMX_FP_TRANS:TO_FP", "MMX_FP_Trans", "cpu/event=0xcc/",
		    "MMX_FP_Trans" } },
		{ "coreduo",
		  "L2_Lines_In,prefetch=exclude",
		  { "coreduo::L2_LINES_IN:0x40", "L2_Lines_In,prefetch=exclude",
		    "cpu/event=0x24,umask=0x40/", "L2_Lines_In:prefetch=exclude" } },
		{ "coreduo",
		  "Bus_Snoops,agent=any",
		  { "coreduo::BUS_SNOOPS:ALL_AGENTS", "Bus_Snoops,agent=any",
		    "cpu/event=0x77,umask=0x2f/", "Bus_Snoops:agent=any" } },
		{ "coreduo",
		  "EST_Trans,trans=frequency",
		  { "coreduo::EST_TRANS:FREQ", "EST_Trans,trans=frequency",
		    "cpu/event=0x3a,umask=0x10/", "EST_Trans:trans=frequency" } },
		/* Fields alone are the event that has them. */
		{ "coreduo",
		  "r412e",
		  { "coreduo::LLC_MISSES", "LLC_Misses", "cpu/event=0x2e,umask=0x41/",
		    "LLC_Misses" } },
		{ "coreduo",
		  "cpu/event=0x24,umask=0xd0/u",
		  { "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH:u",
		    "L2_Lines_In,core=all,prefetch=only,usr", "cpu/event=0x24,umask=0xd0/u",
		    "L2_Lines_In:core=all:prefetch=only:u" } },
		{ "coreduo",
		  "cpu/event=0x99,umask=0x3/",
		  { NULL, NULL, "cpu/event=0x99,umask=0x3/", NULL } },
		/* A raw mask that no words make up stays one. */
		{ "coreduo",
		  "coreduo::L2_LINES_IN:0x41",
		  { "coreduo::L2_LINES_IN:0x41", NULL, "cpu/event=0x24,umask=0x41/",
		    "L2_Lines_In:0x41" } },
		/* Values equal to presets are omitted. */
		{ "coreduo",
		  "coreduo::L2_RQSTS:SELF:ANY:c=0",
		  { "coreduo::L2_RQSTS", "L2_Rqsts", "cpu/event=0x2e,umask=0x7f/", "L2_Rqsts" } },
		{ "coreduo",
		  "Instr_Ret:u=0",
		  { "coreduo::INSTR_RET:u=0", NULL, NULL, "Instr_Ret:u=0" } },
		{ "coreduo",
		  "Instr_Ret:counter=1",
		  { "coreduo::INSTR_RET:counter=1", NULL, NULL, "Instr_Ret:counter=1" } },
	};

	(void)state;
	check_lines(lines, sizeof(lines) / sizeof(lines[0]));
}

static void events_of_all_encoders_print_in_each_dialect(void **state)
{
	static const struct line lines[] = {
		{ "amd",
		  "ls_dispatch.ld_dispatch:cmask=3:u",
		  { "amd::LS_DISPATCH:LD_DISPATCH:u:c=3", "ls_dispatch.ld_dispatch,cmask=3,usr",
		    "cpu/event=0x29,umask=0x1,cmask=3/u", "ls_dispatch.ld_dispatch:cmask=3:u" } },
		{ "intel_arch",
		  "INST_RETIRED.ANY:pp",
		  { "intel_arch::INSTRUCTION_RETIRED:precise=2", NULL, "cpu/event=0xc0/pp",
		    "INSTRUCTION_RETIRED:precise=2" } },
		{ "armv8",
		  "L1D_CACHE:threshold=5",
		  { "armv8::L1D_CACHE:threshold=5", "L1D_CACHE,threshold=5",
		    "armv8_pmuv3/event=0x4,threshold=5/", "L1D_CACHE:threshold=5" } },
		/* A mask of one letter could be taken for a modifier, and a modifier for the
		 * mask. */
		{ "p6",
		  "L2_IFETCH:m0=I:k",
		  { "p6::L2_IFETCH:m0=I:k", "L2_IFETCH,m0=I,os", "cpu/event=0x28,umask=0x1/k",
		    "L2_IFETCH:m0=I:k" } },
		{ "p6",
		  "L2_IFETCH:m0=E:edge:inv",
		  { "p6::L2_IFETCH:m0=E:e=1:i=1", "L2_IFETCH,m0=E,inv,edge",
		    "cpu/event=0x28,umask=0x4,inv,edge/", "L2_IFETCH:m0=E:inv:edge" } },
		{ "p6",
		  "L2_IFETCH:M:S",
		  { "p6::L2_IFETCH:S:M", "L2_IFETCH,m0=SM", "cpu/event=0x28,umask=0xa/",
		    "L2_IFETCH:m0=SM" } },
		/* Some grammars can clear a value that the row sets. */
		{ "adl_goldencove",
		  "IDQ.MS_SWITCHES:edge=0:cmask=3",
		  { "adl_goldencove::IDQ:MS_SWITCHES:e=0:c=3", NULL,
		    "cpu_core/event=0x79,umask=0x20,cmask=3/", "IDQ.MS_SWITCHES:cmask=3:edge=0" } },
		/* The mask of a name's event is another one: no event of the list. */
		{ "skl",
		  "cpu/INST_RETIRED.ANY_P,umask=3/",
		  { NULL, NULL, "cpu/event=0xc0,umask=0x3/", NULL } },
		{ "skl",
		  "cpu/INST_RETIRED.ANY_P,umask=3,edge,cmask=1/u",
		  { NULL, NULL, "cpu/event=0xc0,umask=0x3,cmask=1,edge/u", NULL } },
		{ "skl", "skl/edge/", { NULL, NULL, "cpu/event=0x0,edge/", NULL } },
		/* An event of libpfm4's beside others of longer names. */
		{ "amdzen1",
		  "RETIRED_MMX_FP_INSTRUCTIONS:m0=SSE_INSTR",
		  { "amdzen1::RETIRED_MMX_FP_INSTRUCTIONS:m0=SSE_INSTR",
		    "RETIRED_MMX_FP_INSTRUCTIONS,m0=SSE_INSTR", "cpu/event=0xcb,umask=0x4/",
		    "RETIRED_MMX_FP_INSTRUCTIONS:m0=SSE_INSTR" } },
		{ "software",
		  "faults:u",
		  { "software::PAGE-FAULTS:u", "page-faults,usr", "page-faults:u",
		    "page-faults:u" } },
		{ "hardware",
		  "cycles:uk",
		  { "hardware::CPU-CYCLES:k:u", "cpu-cycles,os,usr", "cpu-cycles:uk",
		    "cpu-cycles:k:u" } },
		{ "hardware",
		  "cycles:p",
		  { "hardware::CPU-CYCLES:precise=1", NULL, "cpu-cycles:p",
		    "cpu-cycles:precise=1" } },
		{ "hardware",
		  "cycles:h",
		  { "hardware::CPU-CYCLES:h", NULL, "cpu-cycles:h", "cpu-cycles:h" } },
		{ "montecito",
		  "ALAT_CAPACITY_MISS_ALL",
		  { "montecito::ALAT_CAPACITY_MISS_ALL", "ALAT_CAPACITY_MISS_ALL", NULL,
		    "ALAT_CAPACITY_MISS_ALL" } },
		{ "montecito",
		  "ALAT_CAPACITY_MISS_ALL:plm=0x6",
		  { "montecito::ALAT_CAPACITY_MISS_ALL:plm=0x6", NULL, NULL,
		    "ALAT_CAPACITY_MISS_ALL:plm=0x6" } },
		{ "ev67", "replay", { "ev67::REPLAY", "replay", "r4", "replay" } },
		{ "ev5", "cycles", { "ev5::CYCLES", "cycles", NULL, "cycles" } },
	};

	(void)state;
	check_lines(lines, sizeof(lines) / sizeof(lines[0]));
}

/* Are they the same words, extra registers included? Of @a and @b, which are texts of skl's. */
static bool same_words(const pfm_ctx_t *ctx, const char *a, const char *b)
{
	struct event x, y;
	unsigned unit;

	assert_int_equal(pfmi_lookup_event(ctx, a, &unit, &x, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_lookup_event(ctx, b, &unit, &y, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_format_has_equal_config(&x, &y),
	                 pfmi_format_has_equal_config(&y, &x));
	return pfmi_format_has_equal_config(&x, &y);
}

static void words_that_are_compared(void **state)
{
	pfm_ctx_t *ctx = open_for("skl");

	(void)state;
	assert_true(same_words(ctx, "r3c", "CPU_CLK_UNHALTED.THREAD_P"));
	assert_true(same_words(ctx, "r3c",
	                       "CPU_CLK_UNHALTED.THREAD_P:u")); /* of levels words say nothing */
	assert_false(same_words(ctx, "r3c", "r13c"));
	assert_false(same_words(ctx, "r3c", "r3c:edge"));
	assert_false(same_words(ctx, "cpu/event=0xcd,umask=1,ldlat=3/",
	                        "cpu/event=0xcd,umask=1,ldlat=4/"));
	assert_false(same_words(ctx, "cpu/event=0xcd,umask=1,ldlat=3/",
	                        "cpu/event=0xcd,umask=1,offcore_rsp=3/"));
	assert_false(
		same_words(ctx, "montecito::CPU_OP_CYCLES_ALL", "r3c")); /* one of them has none */
	assert_true(
		same_words(ctx, "montecito::CPU_OP_CYCLES_ALL", "montecito::CPU_OP_CYCLES_ALL"));
	pfm_close_context(ctx);
}

static void a_short_buffer_is_left_alone(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_error_t error = PFM_INIT(error);
	char buf[13] = "untouched";

	(void)state;
	assert_int_equal(pfm_print_event(ctx, "Instr_Ret,usr", PFM_DIALECT_VENDOR, buf, 11, &error),
	                 PFMLIB_ERR_FULL);
	assert_string_equal(buf, "untouched");
	assert_int_equal(pfm_print_event(ctx, "Instr_Ret,usr", PFM_DIALECT_VENDOR, buf, 12, &error),
	                 PFMLIB_SUCCESS);
	assert_string_equal(buf, "Instr_Ret:u");
	memcpy(buf, "untouched", 10);
	assert_int_equal(pfm_print_event(ctx, "Mul", PFM_DIALECT_LIBPFM, buf, 12, &error),
	                 PFMLIB_ERR_FULL);
	assert_string_equal(buf, "untouched");
	assert_int_equal(pfm_print_event(ctx, "coreduo::Mul", PFM_DIALECT_LIBPFM, buf, 13, &error),
	                 PFMLIB_SUCCESS);
	assert_string_equal(buf, "coreduo::MUL");
	assert_int_equal(pfm_print_event(ctx, "Instr_Rets", PFM_DIALECT_VENDOR, buf, 12, &error),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_print_event(ctx, NULL, PFM_DIALECT_VENDOR, buf, 12, &error),
	                 PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

/* A wrong call and an event that the dialect cannot express are refused, and nothing is written. */
static void refusals_write_nothing(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	pfm_error_t error = PFM_INIT(error);
	char buf[32] = "untouched";

	(void)state;
	assert_int_equal(pfm_print_event(ctx, "Muls", PFM_DIALECT_LIBPFM, buf, sizeof(buf), &error),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(error.kind, PFM_KIND_UNKNOWN_EVENT);
	assert_int_equal(pfm_print_event(ctx, NULL, PFM_DIALECT_LIBPFM, buf, sizeof(buf), NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_event(ctx, "Mul", PFM_DIALECT_LIBPFM, NULL, sizeof(buf), NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_event(ctx, "Mul", (pfm_dialect_t)4, buf, sizeof(buf), NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_event(ctx, "Mul", (pfm_dialect_t)-1, buf, sizeof(buf), NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_print_event(ctx, "Mul:u=0", PFM_DIALECT_LIBPMC, buf, sizeof(buf), &error),
		PFMLIB_ERR_NOTSUPP);
	assert_int_equal(error.kind, PFM_KIND_UNEXPRESSIBLE);
	assert_int_equal(error.end, strlen("Mul:u=0"));
	assert_string_equal(buf, "untouched");
	pfm_close_context(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_duo_in_the_words_of_each_grammar),
		cmocka_unit_test(events_of_all_encoders_print_in_each_dialect),
		cmocka_unit_test(words_that_are_compared),
		cmocka_unit_test(a_short_buffer_is_left_alone),
		cmocka_unit_test(refusals_write_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
