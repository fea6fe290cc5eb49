/* SPDX-License-Identifier: MIT */
/* Suggestions for an unknown name, the closest first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>
#define CHOSEN_PMU "coreduo"
#include "built_in.h"

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
		/* The text is the start of a name. */
		{ "L2_Li", { "L2_LD", "L2_ST", "L2_Lines_In", "L2_Lines_Out" } },
		{ "EST", { "EST_Trans" } },
		{ "ES", { NULL } },
		{ "ALAT_CAPACITY_MISS_ALL", { "montecito::ALAT_CAPACITY_MISS_ALL" } },
		/* One letter is less than half of the text. */
		{ "MEM_LOAD_RETIRED.L3_MIS", { "adl_goldencove::MEM_LOAD_RETIRED.L3_MISS" } },
		/* Children of the name, then names that contain its words. */
		{ "spr::MEM_LOAD_RETIRED",
		  { "MEM_LOAD_RETIRED.L1_HIT", "MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_RETIRED.L3_HIT",
		    "MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_RETIRED.L2_MISS",
		    "MEM_LOAD_RETIRED.L3_MISS", "MEM_LOAD_RETIRED.FB_HIT",
		    "MEM_LOAD_RETIRED.LOCAL_PMM" } },
		/* Names with the same words in another order follow. */
		{ "hsx::RETIRED.L3_MISS",
		  { "MEM_LOAD_UOPS_RETIRED.L3_MISS", "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM",
		    "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM",
		    "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM",
		    "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_FWD",
		    "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_MISS", "MEM_LOAD_UOPS_RETIRED.L3_HIT",
		    "Info_Memory_L3MPKI" } },
		/* The part before the dot is misspelt, or the part after it. */
		{ "spr::MEM_LOAD_RETIERD",
		  { "MEM_LOAD_RETIRED.L1_HIT", "MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_RETIRED.L3_HIT",
		    "MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_RETIRED.L2_MISS",
		    "MEM_LOAD_RETIRED.L3_MISS", "MEM_LOAD_RETIRED.FB_HIT",
		    "MEM_LOAD_RETIRED.LOCAL_PMM" } },
		{ "gnr::inst_retired.prec_dst",
		  { "INST_RETIRED.PREC_DIST", "BR_INST_RETIRED", "MEM_INST_RETIRED",
		    "MISC_RETIRED" } },
		/* A processor leads to its PMUs. */
		{ "zen 4::X",
		  { "amdzen4", "amdzen4_amd_l3", "amdzen4_amd_df", "amdzen4_amd_umc" } },
		/* A name after it leads to their events. */
		{ "zen4::tlb shootdown", { "amdzen4::ls_tlb_flush.all" } },
		{ "zen 4::ls_dispatch.ld_dispach", { "amdzen4::ls_dispatch.ld_dispatch" } },
		{ "page-fault", { "software::page-faults" } },
		{ "coreduoo::x", { "coreduo" } },
		{ "coredou::x", { "coreduo" } },
		{ "L2_LINES_IN:SELF", { "coreduo::L2_LINES_IN:SELF" } },
		{ "xyzzy_plugh", { NULL } },
		/* Hidden rows are not named, but others with the words of the text are. */
		{ "SSE_PREFETCHH",
		  { "SSE_PrefNta_Ret", "SSE_PrefT1_Ret", "SSE_PrefT2_Ret", "SSE_PrefNta_Miss",
		    "SSE_PrefT1_Miss", "SSE_PrefT2_Miss" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		char names[8][96];
		size_t n, k;

		assert_int_not_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, &error),
		                     PFMLIB_SUCCESS);
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

			assert_int_equal(pfm_suggest_names(ctx, lines[i].text, &error, first, 1),
			                 1);
			assert_string_equal(first[0], names[0]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suggestions_closest_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_context, close_context);
}
