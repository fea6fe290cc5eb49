/* SPDX-License-Identifier: MIT */
/* Architectural events of x86 that CPUID leaf 0AH reports as missing. The codes are those of
 * Intel's manual, volume 3, table 20-1. */
#include "units.h"
#include "machine/machine.h"

static const struct kernel_pmu core = { .name = "cpu", .is_core = true };

static const uint64_t codes[] = { 0x3c, 0xc0, 0x13c, 0x4f2e, 0x412e, 0xc4, 0xc5 };

static void each_bit_is_one_event(void **state)
{
	struct host h = { .is_known = true, .arch = "x86", .pmu_version = 4 };

	(void)state;
	for (unsigned bit = 0; bit < COUNT(codes); bit++) {
		h.missing_arch_events = 1u << bit;
		for (unsigned i = 0; i < COUNT(codes); i++)
			assert_int_equal(pfmi_machine_is_event_missing(&h, &core, codes[i]),
			                 i == bit);
		/* Another unit mask is another event; a counter mask is not. */
		assert_false(pfmi_machine_is_event_missing(&h, &core, codes[bit] | 0x8000));
		assert_true(pfmi_machine_is_event_missing(&h, &core, codes[bit] | 1u << 24));
	}
}

static void nothing_is_missing_without_a_report(void **state)
{
	struct host h = {
		.is_known = true, .arch = "x86", .pmu_version = 4, .missing_arch_events = ~0u
	};
	struct kernel_pmu box = core;

	(void)state;
	assert_true(pfmi_machine_is_event_missing(&h, &core, 0xc4));
	box.is_core = false;
	assert_false(pfmi_machine_is_event_missing(&h, &box, 0xc4));
	assert_false(pfmi_machine_is_event_missing(&h, NULL, 0xc4));
	/* A hybrid processor's leaf is about one type of its cores. */
	h.n_core_types = 2;
	assert_false(pfmi_machine_is_event_missing(&h, &core, 0xc4));
	h.n_core_types = 0;
	h.pmu_version = 0;
	assert_false(pfmi_machine_is_event_missing(&h, &core, 0xc4));
	strcpy(h.arch, "riscv");
	h.pmu_version = 4;
	assert_false(pfmi_machine_is_event_missing(&h, &core, 0xc4));
}

UNIT(machine_missing_events, cmocka_unit_test(each_bit_is_one_event),
     cmocka_unit_test(nothing_is_missing_without_a_report));
