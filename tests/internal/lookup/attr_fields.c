/* SPDX-License-Identifier: MIT */
/* Modifiers and other fields. */
#include "units.h"
#include "attr_texts.h"
#include "lookup/attr_internal.h"

/* libpfm4 splits one filter into several attributes: the largest value of each is accepted, the
 * next one is refused with its place. */
static void pieces_of_a_filter_at_their_ends(void **state)
{
	static const struct {
		const char *text;
		uint64_t config1;
	} good[] = {
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:tf=0", 0x7c0000 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:tf=1", 0x7c0001 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:cf=15", 0x7c001e },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:cf=3:tf=1", 0x7c0007 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:e:tf=1:t=3:cf=3", 0x7c0007 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:e:tf=1:cf=3:tf=1:cf=3", 0x7c0007 },
		{ "snbep_unc_pcu::UNC_P_FREQ_BAND0_CYCLES:ff=255", 0xff },
	};
	static const struct wrong bad[] = {
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:tf=2", PFMLIB_ERR_ATTR_VAL,
		  PFM_KIND_BAD_VALUE, 46, 47 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:cf=16", PFMLIB_ERR_ATTR_VAL,
		  PFM_KIND_BAD_VALUE, 46, 48 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:e:tf=1:tf=0", PFMLIB_ERR_ATTR_SET,
		  PFM_KIND_CONFLICT, 50, 52 },
		{ "snbep_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:e:cf=1:cf=2", PFMLIB_ERR_ATTR_SET,
		  PFM_KIND_CONFLICT, 50, 52 },
		{ "snbep_unc_pcu::UNC_P_FREQ_BAND0_CYCLES:ff=256", PFMLIB_ERR_ATTR_VAL,
		  PFM_KIND_BAD_VALUE, 42, 45 },
	};
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);

		EXPECT_ROW_NUMBER(good[i].text, pfm_encode_event(ctx, good[i].text, 0, &e, NULL),
		                  PFMLIB_SUCCESS);
		EXPECT_ROW_NUMBER(good[i].text, e.attr.config1, good[i].config1);
	}
	pfm_close_context(ctx);
	check_errors(NULL, bad, sizeof(bad) / sizeof(bad[0]));
}

/* Modifiers of a PMU are levels after a colon, libpfm's short names, the table's own modifiers, and
 * short names of boxes that have the field. */
static void words_that_are_modifiers(void **state)
{
	static const struct {
		const char *pmu, *words[12], *others[12];
	} rows[] = {
		{ "skl",
		  { "u", "k", "h", "c", "I", "e", "t", "intx", "intxcp", "edge", "CMASK", "ldlat" },
		  { "usr", "os", "", "x", "umask", "event", "nf", "uk", "c=1", "precise", "occ_e",
		    "ed" } },
		{ "jkt_uncore_cbox",
		  { "u", "edge", "nf", "filter_nid" },
		  { "occ_e", "thresh2", "lmem" } },
		{ "montecito", { "k", "thres" }, { "nf", "edge", "mesi", "es" } },
	};
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int pmu = pfm_find_pmu(ctx, rows[i].pmu);

		if (pmu < 0)
			fail_msg("%s", rows[i].pmu);
		for (unsigned k = 0; k < 12; k++) {
			const struct table *t = context_get_pmu_table(ctx, (unsigned)pmu);

			if (rows[i].words[k] &&
			    !pfmi_lookup_is_modifier(t, pfmi_base_make_slice(rows[i].words[k])))
				fail_msg("%s has no %s", rows[i].pmu, rows[i].words[k]);
			if (rows[i].others[k] &&
			    pfmi_lookup_is_modifier(t, pfmi_base_make_slice(rows[i].others[k])))
				fail_msg("%s has %s", rows[i].pmu, rows[i].others[k]);
		}
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
		{ "cpu/event=0x11/", 2 },          { "r11", 2 },
		{ "cpu/event=0x11,cmask=1/u", 2 }, { "r14", 1 },
		{ "cpu/event=0xc0/", 3 },          { "cpu/event=0x99/", 3 },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);

		EXPECT_ROW_NUMBER(lines[i].text, pfm_encode_event(ctx, lines[i].text, 0, &e, NULL),
		                  PFMLIB_SUCCESS);
		EXPECT_ROW_NUMBER(lines[i].text, e.counters, lines[i].counters);
	}
	pfm_close_context(ctx);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* A field that is given as a whole replaces the defaults of the event's masks; a mask that is
 * named beside it is added. */
static void a_field_given_as_a_whole(void **state)
{
	static const struct {
		const char *text;
		uint64_t config, extra;
	} rows[] = {
		{ "coreduo/L2_RQSTS,umask=0x41/", 0x412e, 0 },
		{ "coreduo/L2_RQSTS,umask=0x0/", 0x002e, 0 },
		{ "coreduo/L2_RQSTS/", 0x7f2e, 0 },
		{ "amd64_fam10h_barcelona/DISPATCHED_FPU,umask=0x1/", 0x0100, 0 },
		{ "skl/OFFCORE_RESPONSE_0,offcore_rsp=0x1/", 0x1b7, 0x1 },
		{ "skl::OFFCORE_RESPONSE_0:offcore_rsp=0x10001", 0x1b7, 0x10001 },
		{ "skl::OFFCORE_RESPONSE_0:m0=DMND_RFO:offcore_rsp=0x1", 0x1b7, 0x10003 },
		{ "skl/OFFCORE_RESPONSE_0,edge/", 0x401b7, 0x18007 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);

		assert_int_equal(pfm_encode_event(NULL, rows[i].text, 0, &e, NULL), PFMLIB_SUCCESS);
		if (e.attr.config != rows[i].config || e.attr.config1 != rows[i].extra)
			fail_msg("%s: %#llx %#llx", rows[i].text, (unsigned long long)e.attr.config,
			         (unsigned long long)e.attr.config1);
	}
}

UNIT(lookup_attr_fields, cmocka_unit_test(pieces_of_a_filter_at_their_ends),
     cmocka_unit_test(words_that_are_modifiers),
     cmocka_unit_test(fields_alone_are_placed_as_the_event_is),
     cmocka_unit_test(a_field_given_as_a_whole));
