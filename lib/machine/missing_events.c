/* SPDX-License-Identifier: MIT */
/* Events that a processor reports as missing: their counters stay 0, and the kernel opens them all
 * the same if they are named by number.
 *
 * Arm: PMCEID0 and PMCEID1 have a bit for each common event (Arm Architecture Reference Manual,
 * D13.4.17). Linux exposes the common events that have their bit as files of the PMU
 * (armv8pmu_event_attr_is_visible() of drivers/perf/arm_pmuv3.c). It names all of 0 to 0x30 since
 * 4.4, but not CHAIN.
 * x86: CPUID leaf 0AH, EBX (Intel's manual, volume 3, 20.2.1.2). */
#include "machine/machine_internal.h"

enum { LAST_NAMED_EVENT = 0x30, CPU_CYCLES = 0x11, CHAIN = 0x1e };

static bool has_kernel_event(const struct kernel_pmu *p, uint64_t code)
{
	for (uint32_t i = 0; i < p->table->n_rows; i++)
		if (pfmi_table_has_row_value(p->table, i, KEY_CODE) &&
		    pfmi_table_get_row_value(p->table, i, KEY_CODE, ANY_COUNTER) == code)
			return true;
	return false;
}

/* Every processor has the event of cycles: a PMU without it shows no events at all. */
static bool is_missing_on_arm(const struct kernel_pmu *p, uint64_t config)
{
	const uint64_t code = config & 0xffff;

	return strncmp(p->name, "armv", 4) == 0 && code <= LAST_NAMED_EVENT && code != CHAIN &&
	       has_kernel_event(p, CPU_CYCLES) && !has_kernel_event(p, code);
}

/* On a hybrid processor the leaf describes the core that executed it only. */
static bool is_missing_on_x86(const struct host *h, uint64_t config)
{
	/* code and unit mask of the bits of EBX */
	static const uint16_t events[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5 };

	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if ((config & 0xffff) == events[i])
			return h->pmu_version && !h->n_core_types &&
			       h->missing_arch_events >> i & 1;
	return false;
}

bool pfmi_machine_is_event_missing(const struct host *h, const struct kernel_pmu *p,
                                   uint64_t config)
{
	if (!h->is_known || !p || !p->is_core)
		return false;
	if (strcmp(h->arch, "arm64") == 0)
		return is_missing_on_arm(p, config);
	return strcmp(h->arch, "x86") == 0 && is_missing_on_x86(h, config);
}
