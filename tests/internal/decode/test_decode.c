/* SPDX-License-Identifier: MIT */
/* Decoding of register values: events, the likeliest first, and fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <inttypes.h>
#include "format/format.h"
#include "open_for.h"

struct decoding {
	const char *pmu, *reg;
	uint64_t value;
	const char *events[4];
};

static void registers_in_order_of_likelihood(void **state)
{
	static const struct decoding lines[] = {
		{ "coreduo",
		  "PERFEVTSEL0",
		  0x53412e,
		  { "LLC_Misses", "L2_Rqsts:prefetch=exclude:cachestate=i" } },
		{ "coreduo",
		  "config",
		  0x412e,
		  { "LLC_Misses", "L2_Rqsts:prefetch=exclude:cachestate=i" } },
		{ "coreduo",
		  "config",
		  0x53412e,
		  { "LLC_Misses", "L2_Rqsts:prefetch=exclude:cachestate=i" } },
		{ "coreduo",
		  "IA32_PERFEVTSEL1",
		  0x51d024,
		  { "L2_Lines_In:core=all:prefetch=only:u" } },
		{ "coreduo", "PERFEVTSEL1", 0x1c300c0, { "Instr_Ret:cmask=1:inv" } },
		/* It cannot be on counter 0. */
		{ "coreduo", "PERFEVTSEL1", 0x530011, { "FP_Assist" } },
		{ "coreduo", "PERFEVTSEL0", 0x530011, { NULL } },
		/* No event has a reserved bit. */
		{ "coreduo", "PERFEVTSEL0", 0x1005300c0, { NULL } },
		/* The code of the second of two extra registers. */
		{ "bdw_de", "config", 0x1bb, { "OFFCORE_RESPONSE" } },
		{ "bdw_de", "PERFEVTSEL0", 0x5101bb, { "OFFCORE_RESPONSE:u" } },
		{ "bdw_de", "PERFEVTSEL0", 0x5102bb, { NULL } },
		{ "amd", "PERF_CTL2", 0x430129, { "ls_dispatch.ld_dispatch" } },
		{ "armv8", "config", 0x11, { "CPU_CYCLES" } },
		{ "software", "config", 2, { "page-faults" } },
		{ "intel_arch",
		  "FIXED_CTR_CTRL",
		  0x32,
		  { "UNHALTED_CORE_CYCLES", "INSTRUCTION_RETIRED:u" } },
		{ "montecito", "PMC4", 0x2035808, { "ALAT_CAPACITY_MISS_ALL" } },
		{ "montecito", "PMC5", 0x2135809, { "ALAT_CAPACITY_MISS_ALL:thres=1:k:u" } },
		{ "montecito", "PMC38", 0xdb6, { NULL } },
		/* Pentium 4: its ESCR in the upper half. */
		{ "netburst", "CCCR12", 0x0c00020f0003b000, { "branch_retired:m32=MMNP" } },
		{ "netburst",
		  "PMC12",
		  0x0c0002050133b000 | 1 << 18,
		  { "branch_retired:m32=MMNP:edge:thr=3:u" } },
		{ "netburst", "CCCR8", 0x0c00020f0003b000, { NULL } },
		{ "netburst", "CCCR12", 0x0c00020f00039000, { NULL } },
		{ "netburst", "CCCR12", 0x0c00020f0003b001, { NULL } },
		{ "netburst", "CCCR12", 0x8c00020f0003b000, { NULL } },
		{ "netburst", "CCCR12", 0x3b000, { NULL } },
		{ "netburst",
		  "ESCR1",
		  0xc00020a,
		  { "BSQ_active_entries:m12=REQ_TYPE0:k", "branch_retired:m32=MMNP:k" } },
		{ "ev4", "ICCSR", 0x200000b00, { "palmode", "dual" } },
		{ "ev5", "PMCTR", 0x8000000c, { "cycles", "issues", "nonissue" } },
		{ "ev67", "PCTR_CTL", 0xc, { "replay", "cycles0+replay" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_ctx_t *ctx = open_for(lines[i].pmu);
		int pmu = pfm_find_pmu(ctx, lines[i].pmu);
		char buf[PRINTED_TEXT_SIZE];

		for (unsigned k = 0; k < 4; k++) {
			int rc = pfm_decode_event(ctx, pmu, lines[i].reg, lines[i].value, k, buf,
			                          sizeof(buf));

			if (!lines[i].events[k]) {
				if (rc != PFMLIB_ERR_NOTFOUND)
					fail_msg("%s=0x%" PRIx64 ": %s as well", lines[i].reg,
					         lines[i].value, buf);
				break;
			}
			assert_int_equal(rc, PFMLIB_SUCCESS);
			assert_string_equal(buf, lines[i].events[k]);
		}
		pfm_close_context(ctx);
	}
}

static unsigned count_events(const char *name, const char *reg, uint64_t value, const char *part,
                             unsigned *with_part)
{
	pfm_ctx_t *ctx = open_for(name);
	char buf[PRINTED_TEXT_SIZE];
	unsigned n = 0;
	int rc;

	*with_part = 0;
	for (; (rc = pfm_decode_event(ctx, pfm_find_pmu(ctx, name), reg, value, n, buf,
	                              sizeof(buf))) == PFMLIB_SUCCESS;
	     n++)
		*with_part += strstr(buf, part) != NULL;
	assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
	pfm_close_context(ctx);
	return n;
}

/* One of these events needs unit masks that are in another word. It cannot be printed from this
 * word alone, and the other events are still found. */
static void names_events_after_an_unprintable_one(void **state)
{
	unsigned n;

	(void)state;
	assert_true(count_events("bdw", "config", 0x1b7, "OFFCORE_RESPONSE_0", &n) > 100);
	assert_int_equal(n, 0);
	assert_true(count_events("bdw", "PERFEVTSEL0", 0x5301bb, "OFFCORE_RESPONSE.", &n) > 100);
	assert_true(n > 100);
}

/* Only the first of the two extra registers measures average outstanding requests. */
static void events_that_have_one_extra_register(void **state)
{
	unsigned n;

	(void)state;
	assert_true(count_events("slm", "config", 0x1b7, "OUTSTANDING", &n) > 50);
	assert_int_equal(n, 3);
	assert_true(count_events("slm", "config", 0x2b7, "OUTSTANDING", &n) > 50);
	assert_int_equal(n, 0);
}

static uint64_t field_of(const pfm_ctx_t *ctx, const char *pmu, const char *reg, uint64_t value,
                         const char *wanted, char word[32])
{
	const char *name, *text;
	uint64_t field;

	for (unsigned i = 0; pfm_decode_field(ctx, pfm_find_pmu(ctx, pmu), reg, value, i, &name,
	                                      &field, &text) == PFMLIB_SUCCESS;
	     i++)
		if (strcmp(name, wanted) == 0) {
			snprintf(word, 32, "%s", text);
			return field;
		}
	fail_msg("%s has no field %s", reg, wanted);
	return 0;
}

/* Each event of libpfm 3's Core Duo, with each unit mask, is among the events of its register. */
static void events_of_libpfm3(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo3");
	int pmu = pfm_find_pmu(ctx, "coreduo3");
	perfmon_event_info_t info = PFM_INIT(info);
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; pfm_describe_event(ctx, pmu, i, &info) == PFMLIB_SUCCESS; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		char reg[16], text[256] = "";
		bool found = false;

		/* A text cannot name a shadowed row. */
		if (table_get_row(context_get_pmu_table(ctx, (unsigned)pmu), i)->flags &
		            ROW_SHADOWED ||
		    pfm_encode_event_at(ctx, pmu, i, 0, &e, NULL) != PFMLIB_SUCCESS)
			continue;
		snprintf(reg, sizeof(reg), "PMC%u", (unsigned)e.regs[0].num);
		for (unsigned k = 0; !found && !pfm_decode_event(ctx, pmu, reg, e.regs[0].value, k,
		                                                 text, sizeof(text));
		     k++) {
			pfm_encoding_t back = PFM_INIT(back);

			assert_int_equal(pfm_encode_event(ctx, text, 0, &back, NULL),
			                 PFMLIB_SUCCESS);
			assert_int_equal(back.regs[0].value, e.regs[0].value);
			found = strncmp(text, info.name, strlen(info.name)) == 0;
		}
		if (!found)
			fail_msg("%s: %s=0x%" PRIx64 " is not decoded", info.name, reg,
			         e.regs[0].value);
		n++;
	}
	assert_true(n >= 12);
	pfm_close_context(ctx);
}

static void fields_of_registers(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	const char *name, *text;
	uint64_t field;
	char word[32];

	(void)state;
	assert_int_equal(field_of(ctx, "coreduo", "PERFEVTSEL0", 0x53d024, "event", word), 0x24);
	assert_int_equal(field_of(ctx, "coreduo", "PERFEVTSEL0", 0x53d024, "umask", word), 0xd0);
	assert_int_equal(field_of(ctx, "coreduo", "perfevtsel1", 0x53d024, "usr", word), 1);
	assert_int_equal(field_of(ctx, "coreduo", "config", 0x180792e, "cmask", word), 1);
	assert_int_equal(field_of(ctx, "coreduo", "CONFIG0", 0x180792e, "inv", word), 1);
	assert_int_equal(field_of(ctx, "amd", "config", 0x100000029, "code", word), 0x129);
	assert_int_equal(field_of(ctx, "montecito", "PMC4", 0x2035808, "plm", word), 8);
	assert_int_equal(field_of(ctx, "ev5", "PMCTR", 0x8000000c, "sel2", word), 0xc);
	assert_int_equal(pfm_decode_field(ctx, pfm_find_pmu(ctx, "coreduo"), "PERFEVTSEL2", 0, 0,
	                                  &name, &field, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(ctx, pfm_find_pmu(ctx, "montecito"), "config", 0, 0,
	                                  &name, &field, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(ctx, -1, "PMC0", 0, 0, &name, &field, &text),
	                 PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

/* Each register with the bits of one of its fields, as the manuals have them. */
static void every_kind_of_register(void **state)
{
	static const struct {
		const char *pmu, *reg;
		uint64_t value;
		const char *field;
		uint64_t expected;
	} rows[] = {
		{ "montecito", "PMC15", 0x700000, "thres", 7 },
		{ "montecito", "PMC32", UINT64_C(1) << 51, "m", 1 },
		{ "montecito", "PMC34", 0x123, "mask", 0x123 },
		{ "montecito", "PMC33", 0x456, "match", 0x456 },
		{ "montecito", "PMC35", 0x456, "match", 0x456 },
		{ "montecito", "PMC36", 8, "ch3_ig_opcm", 1 },
		{ "montecito", "pmc37", 0x2000, "ct", 1 },
		{ "montecito", "PMC38", 0x2000, "fine", 1 },
		{ "montecito", "PMC39", 0xc000, "brt", 3 },
		{ "montecito", "PMC40", 0x180, "mode", 3 },
		{ "montecito", "PMC41", UINT64_C(1) << 48, "ena_dbrp3", 1 },
		{ "montecito", "PMC42", 0x7f800, "delay", 0xff },
		{ "montecito", "PMD4", UINT64_C(1) << 46, "count", UINT64_C(1) << 46 },
		{ "montecito", "PMD15", UINT64_MAX, "sxt47", 0x1ffff },
		{ "montecito", "PMD32", 77, "daddr", 77 },
		{ "montecito", "PMD33", 0xc000, "status", 3 },
		{ "montecito", "PMD34", 0x20, "iaddr", 1 },
		{ "montecito", "PMD35", 0x1000, "overflow", 1 },
		{ "montecito", "PMD36", 0x18, "valid", 1 },
		{ "montecito", "PMD38", 0x20, "full", 1 },
		{ "montecito", "PMD39", UINT64_C(1) << 60, "ext63", 1 },
		{ "montecito", "PMD48", 2, "mispredict", 1 },
		{ "montecito", "PMD63", 0xc, "slot", 3 },
		{ "montecito", "IBR0", 5, "addr", 5 },
		{ "montecito", "IBR7", UINT64_C(1) << 63, "rx", 1 },
		{ "montecito", "DBR6", 5, "addr", 5 },
		{ "montecito", "DBR1", UINT64_C(0xf) << 56, "plm", 0xf },
		{ "intel_arch", "PERFEVTSEL0", UINT64_C(1) << 33, "in_tx_cp", 1 },
		{ "intel_arch", "IA32_FIXED_CTR_CTRL", 0x800, "pmi2", 1 },
		{ "intel_arch", "GLOBAL_CTRL", UINT64_C(1) << 48, "metrics", 1 },
		{ "intel_arch", "IA32_PERF_GLOBAL_CTRL", UINT64_C(3) << 32, "fixed", 3 },
		{ "intel_arch", "PEBS_LD_LAT", 0x10003, "latency", 3 },
		{ "intel_arch", "PEBS_FRONTEND", 0x300000, "bubbles", 3 },
		{ "amd", "PERF_CTL0", UINT64_C(1) << 40, "guest_only", 1 },
		{ "neoverse_v2", "PMEVTYPER30", UINT64_C(5) << 61, "tc", 5 },
		{ "neoverse_v2", "PMCCFILTR", UINT64_C(1) << 31, "p", 1 },
		{ "power10", "MMCR1", UINT64_C(1) << 45, "radix_scope", 1 },
		{ "power10", "MMCR3", UINT64_C(0x7fff) << 49, "src1", 0x7fff },
		{ "power9", "mmcr1", UINT64_C(3) << 36, "combine2", 3 },
		{ "power8", "MMCR1", UINT64_C(1) << 34, "combine2", 1 },
		{ "power8", "MMCR2", UINT64_C(1) << 12, "fch6", 1 },
	};
	static const struct {
		const char *pmu, *reg;
	} none[] = {
		{ "montecito", "PMC" },
		{ "montecito", "PMC3" },
		{ "montecito", "PMC16" },
		{ "montecito", "PMC43" },
		{ "montecito", "PMD16" },
		{ "montecito", "PMD37" },
		{ "montecito", "PMD40" },
		{ "montecito", "PMD64" },
		{ "montecito", "IBR8" },
		{ "montecito", "DBR8" },
		{ "montecito", "XYZ4" },
		{ "montecito", "PMC004" },
		{ "montecito", "PM4" },
		{ "montecito", "PMC4x" },
		{ "montecito", "" },
		{ "intel_arch", "MISC_CTRL" },
		{ "coreduo", "GLOBAL_CTRL" },
		{ "intel_arch", "IA32_" },
		{ "coreduo", "config5" },
		{ "coreduo", "config00" },
		{ "intel_arch", "PEBS_FRONTEND1" },
		{ "netburst", "CCCR" },
		{ "netburst", "CCCR18" },
		{ "netburst", "PMC1x" },
		{ "netburst", "ESCR2" },
		{ "neoverse_v2", "PMEVTYPER31" },
		{ "power9", "MMCR3" },
		{ "power7", "MMCR1" },
		{ "neoverse_v2", "PMCCFILTR0" },
		{ "m1_firestorm", "PMEVTYPER0" },
	};
	pfm_ctx_t *ctx = open_for("montecito");
	const char *name, *text;
	uint64_t field;
	char word[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		field = field_of(ctx, rows[i].pmu, rows[i].reg, rows[i].value, rows[i].field, word);
		if (field != rows[i].expected)
			fail_msg("%s=0x%" PRIx64 ": %s is 0x%" PRIx64, rows[i].reg, rows[i].value,
			         rows[i].field, field);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (pfm_decode_field(ctx, pfm_find_pmu(ctx, none[i].pmu), none[i].reg, 0, 0, &name,
		                     &field, &text) != PFMLIB_ERR_INVAL)
			fail_msg("%s has a register \"%s\"", none[i].pmu, none[i].reg);
	pfm_close_context(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_in_order_of_likelihood),
		cmocka_unit_test(names_events_after_an_unprintable_one),
		cmocka_unit_test(events_that_have_one_extra_register),
		cmocka_unit_test(events_of_libpfm3),
		cmocka_unit_test(fields_of_registers),
		cmocka_unit_test(every_kind_of_register),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
