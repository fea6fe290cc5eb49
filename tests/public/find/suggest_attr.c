/* SPDX-License-Identifier: MIT */
/* Suggestions for an unknown attribute or value, the closest first. */
#include "units.h"
#include "open_for.h"

static void attributes_closest_first(void **state)
{
	static const struct {
		const char *text, *names[8];
	} lines[] = {
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
		{ "SSE_PRE_MISS,prefmiss=T3_MISS", { "T1_MISS", "T2_MISS", "NTA_MISS" } },
		{ "SSE_PRE_MISS,prefmiss=TT_MIS", { "T1_MISS", "T2_MISS" } },
		{ "SSE_PRE_MISS,prefmiss=",
		  { "prefmiss=NTA_MISS", "prefmiss=T1_MISS", "prefmiss=T2_MISS",
		    "prefmiss=STORES_MISS" } },
		{ "SSE_PREFETCH", { "NTA", "T1", "T2" } },
		{ "Instr_Ret,usr=1", { "usr" } },
		{ "cpu/evnt=1/", { "event" } },
		{ "cpu/event=1,umsk=2/", { "umask", "cmask" } },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		char names[8][96];
		size_t n, k;

		assert_int_not_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, &error),
		                     PFMLIB_SUCCESS);
		n = pfm_suggest_names(ctx, lines[i].text, &error, names, 8);
		for (k = 0; k < n && lines[i].names[k]; k++)
			assert_string_equal(names[k], lines[i].names[k]);
		if (k < n)
			fail_msg("%s: %s as well", lines[i].text, names[k]);
		if (k < 8 && lines[i].names[k])
			fail_msg("%s: %s is missing", lines[i].text, lines[i].names[k]);
	}
	pfm_close_context(ctx);
}

UNIT(find_suggest_attr, cmocka_unit_test(attributes_closest_first));
