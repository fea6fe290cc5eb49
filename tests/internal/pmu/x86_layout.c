/* SPDX-License-Identifier: MIT */
/* The registers of Intel and AMD, bit by bit as in their manuals. */
#include "unit_tables.h"
#include "pmu/pmu_internal.h"

/* @drawn: see expect_fields(). */
static void expect_layout(const char *table, const char *reg, const char *drawn)
{
	const struct table *t = table_with(ENCODER_X86, table);
	unsigned n = 0;
	const struct register_field *b = pfmi_x86_find_layout(t, reg, &n);

	if (!b)
		fail_msg("%s has no %s", table, reg);
	expect_fields(b, n, drawn);
}

/* Volume 3B, "Performance monitoring": figures of IA32_PERFEVTSELx and its extensions; AMD's volume
 * 2, PERF_CTL. */
static void event_select_layouts(void **state)
{
	(void)state;
	expect_layout("skl", "PERFEVTSEL0",
	              "event:0-7 umask:8-15 usr:16 os:17 edge:18 pc:19 int:20 any:21 en:22 inv:23 "
	              "cmask:24-31 in_tx:32 in_tx_cp:33 eq:36 "
	              "umask2:40-47");
	expect_layout(
		"coreduo", "PERFEVTSEL1",
		"event:0-7 umask:8-15 usr:16 os:17 edge:18 pc:19 int:20 en:22 inv:23 cmask:24-31");
	expect_layout("amdzen4", "PERF_CTL3",
	              "event:0-7 umask:8-15 usr:16 os:17 edge:18 int:20 en:22 inv:23 cmask:24-31 "
	              "event_high:32-35 guest_only:40 host_only:41");
}

static void control_register_layouts(void **state)
{
	(void)state;
	expect_layout("skl", "IA32_FIXED_CTR_CTRL",
	              "os0:0 usr0:1 any0:2 pmi0:3 os1:4 usr1:5 any1:6 pmi1:7 os2:8 usr2:9 any2:10 "
	              "pmi2:11 os3:12 usr3:13 any3:14 pmi3:15 "
	              "os4:16 usr4:17 any4:18 pmi4:19 os5:20 usr5:21 any5:22 pmi5:23 os6:24 "
	              "usr6:25 any6:26 pmi6:27");
	expect_layout("skl", "GLOBAL_CTRL", "general:0-31 fixed:32-47 metrics:48");
	expect_layout("skl", "IA32_PERF_GLOBAL_CTRL", "general:0-31 fixed:32-47 metrics:48");
	expect_layout("skl", "PEBS_LD_LAT", "latency:0-15");
	expect_layout("skl", "PEBS_FRONTEND", "event:0-7 latency:8-19 bubbles:20-22");
}

/* A register with an instance for each counter takes a number, up to the number of counters. */
static void register_names_and_their_limits(void **state)
{
	static const struct {
		const char *table, *reg;
		bool known;
	} names[] = {
		{ "skl", "PERFEVTSEL", true },
		{ "skl", "perfevtsel3", true },
		{ "skl", "PERFEVTSEL03", true },
		{ "skl", "PERFEVTSEL8", false },
		{ "skl", "PERFEVTSEL10", false },
		{ "skl", "PERFEVTSEL32", false },
		{ "skl", "PERFEVTSEL33", false },
		{ "skl", "PERFEVTSEL100", false },
		{ "skl", "IA32_PERFEVTSEL0", true },
		{ "skl", "IA32_", false },
		{ "skl", "IA32", false },
		{ "skl", "PMC0", true },
		{ "skl", "PMC9", false },
		{ "skl", "FIXED_CTR_CTRL0", false },
		{ "skl", "GLOBAL_CTRL1", false },
		{ "skl", "", false },
		{ "skl", "7", false },
		{ "coreduo", "PERFEVTSEL1", true },
		{ "coreduo", "PERFEVTSEL2", false },
		{ "coreduo", "FIXED_CTR_CTRL", false },
		{ "coreduo", "PEBS_FRONTEND", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		unsigned n;

		if ((pfmi_x86_find_layout(table_with(ENCODER_X86, names[i].table), names[i].reg,
		                          &n) != NULL) != names[i].known)
			fail_msg("%s %s", names[i].table, names[i].reg);
	}
}

UNIT(pmu_x86_layout, cmocka_unit_test(event_select_layouts),
     cmocka_unit_test(control_register_layouts), cmocka_unit_test(register_names_and_their_limits));
