/* SPDX-License-Identifier: MIT */
/* Identification of x86 processors by CPUID. */
#include "units.h"
#include "small_machine.h"

#define INTEL 0x756e6547, 0x6c65746e, 0x49656e69 /* EBX, ECX, EDX of leaf 0 */
#define AMD   0x68747541, 0x444d4163, 0x69746e65

static void cpuid_of_a_core_duo(void **state)
{
	struct machine m = { .n_leaves = 3,
		             .leaves = { { 0, { 10, INTEL } },
		                         { 1, { 0x6e8, 0, 0, 0 } },
		                         { 0xa, { 0x07280201, 0, 0, 0 } } } };
	struct sys sys = sys_of(&m);
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_true(h.is_known);
	assert_int_equal(m.asked, 2);
	assert_string_equal(h.arch, "x86");
	assert_string_equal(h.id_text, "GenuineIntel-6-E-8");
	assert_int_equal(h.family, 6);
	assert_int_equal(h.model, 14);
	assert_false(h.has_hypervisor);
	assert_int_equal(h.pmu_version, 0);
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.pmu_version, 1);
	assert_int_equal(h.n_general, 2);
	assert_int_equal(h.width_general, 40);
	assert_int_equal(h.n_fixed, 0);
	assert_int_equal(h.missing_arch_events, 0xffffff80);
	/* A bit of each register that there is. */
	m.leaves[2].regs[0] = 0x20280201;
	m.leaves[2].regs[1] = 0x80000001;
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.missing_arch_events, 0x80000001);
	m.leaves[2].regs[0] = 0x1f280201;
	m.leaves[2].regs[1] = 1;
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.missing_arch_events, 0x80000001);
}

/* CPUID leaves are read on known x86 processors alone. */
static void details_are_of_known_x86_processors(void **state)
{
	static const struct host hosts[] = { { .is_known = true, .arch = "x86" },
		                             { .is_known = true, .arch = "ia64" },
		                             { .arch = "x86" } };
	struct machine m = { .n_leaves = 3,
		             .leaves = { { 0, { 10, INTEL } },
		                         { 1, { 0x6e8, 0, 0, 0 } },
		                         { 0xa, { 0x07280201, 0, 0, 0 } } } };
	struct sys sys = sys_of(&m);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct host h = hosts[i];

		snprintf(h.vendor, sizeof(h.vendor), "GenuineIntel");
		pfmi_machine_read_host_details(&sys, &h);
		assert_int_equal(h.pmu_version, i == 0);
	}
}

static void cpuid_with_extended_numbers(void **state)
{
	struct machine skx = { .n_leaves = 2,
		               .leaves = { { 0, { 22, INTEL } },
		                           { 1, { 0x50654, 0, 0x80000000, 0 } } } };
	struct machine zen4 = { .n_leaves = 2,
		                .leaves = { { 0, { 16, AMD } }, { 1, { 0xa60f12, 0, 0, 0 } } } };
	struct machine nova = { .n_leaves = 2,
		                .leaves = { { 0, { 40, INTEL } }, { 1, { 0x300f10, 0, 0, 0 } } } };
	struct host h;

	(void)state;
	describe(&skx, &h);
	assert_string_equal(h.id_text, "GenuineIntel-6-55-4");
	assert_true(h.has_hypervisor);
	describe(&zen4, &h);
	assert_string_equal(h.id_text, "AuthenticAMD-25-61-2");
	describe(&nova, &h);
	assert_string_equal(h.id_text, "GenuineIntel-18-1-0");
}

/* Files of a machine with three types of cores. */
#define HYBRID_FILES                                                                               \
	.paths = { "/sys/bus/event_source/devices/cpu_core/cpus",                                  \
		   "/sys/bus/event_source/devices/cpu_atom/cpus",                                  \
		   "/sys/bus/event_source/devices/cpu_lowpower/cpus" },                            \
	.texts = { "0-5\n", "6-13\n", "14-15\n" }

static void core_types_of_a_hybrid(void **state)
{
	struct machine m = {
		.n_leaves = 3,
		.leaves = { { 0, { 32, INTEL } },
		            { 1, { 0xc0652, 0, 0, 0 } },
		            { 0x1a, { 0x40000003, 0, 0, 0 } } },
		HYBRID_FILES,
	};
	struct sys sys = sys_of(&m);
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_int_equal(m.asked, 2);
	assert_int_equal(h.n_core_types, 3);
	assert_string_equal(h.core_types[0].device, "cpu_core");
	assert_int_equal(h.core_types[0].core_type, 0x40);
	assert_int_equal(h.core_types[1].core_type, 0x20);
	assert_int_equal(h.core_types[1].native_model, 3);
	assert_int_equal(h.core_types[2].native_model, 2);
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.core_types[0].native_model, 3);
}

#define NOT_KNOWN 0xffffffffu

/* The names that a core reports apply to cores of its own type, unless the type's name is known
 * already. */
static void a_core_speaks_for_its_own_type(void **state)
{
	static const struct {
		uint32_t says, core,
			atom; /* each of two cores that are asked, and what is known then */
	} rows[][2] = {
		{ { 0x40000003, 3, NOT_KNOWN }, { 0x20000004, 3, 4 } },
		{ { 0x20000002, NOT_KNOWN, 2 }, { 0x40000005, 5, 2 } },
		{ { 0x40000003, 3, NOT_KNOWN }, { 0x40000006, 3, NOT_KNOWN } },
		{ { 0x30000001, NOT_KNOWN, NOT_KNOWN }, { 0x00000000, NOT_KNOWN, NOT_KNOWN } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = {
			.n_leaves = 3,
			.leaves = { { 0, { 32, INTEL } },
			            { 1, { 0x90672, 0, 0, 0 } },
			            { 0x1a, { 0 } } },
			HYBRID_FILES,
		};
		struct sys sys = sys_of(&m);
		struct host h;

		describe(&m, &h);
		for (unsigned k = 0; k < 2; k++) {
			m.leaves[2].regs[0] = rows[i][k].says;
			pfmi_machine_read_host_details(&sys, &h);
			assert_int_equal(h.n_core_types, 3);
			assert_int_equal(h.core_types[0].native_model, rows[i][k].core);
			assert_int_equal(h.core_types[1].native_model, rows[i][k].atom);
			assert_int_equal(h.core_types[2].native_model, rows[i][k].atom);
		}
	}
}

UNIT(machine_host_x86, cmocka_unit_test(cpuid_of_a_core_duo),
     cmocka_unit_test(details_are_of_known_x86_processors),
     cmocka_unit_test(cpuid_with_extended_numbers), cmocka_unit_test(core_types_of_a_hybrid),
     cmocka_unit_test(a_core_speaks_for_its_own_type));
