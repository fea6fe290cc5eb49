/* SPDX-License-Identifier: MIT */
/* Identities of processors as text. */
#include "units.h"
#include "machine/machine.h"

static void texts_of_every_form(void **state)
{
	static const struct {
		const char *id, *arch;
		uint64_t value;
		uint32_t family, model, stepping;
	} good[] = {
		{ "GenuineIntel-6-55-4", "x86", 0, 6, 0x55, 4 },
		{ "GenuineIntel-6-E", "x86", 0, 6, 14, 0xffffffff },
		{ "AuthenticAMD-25-61", "x86", 0, 25, 0x61, 0xffffffff },
		{ "GenuineIntel-18-1-0", "x86", 0, 18, 1, 0 },
		{ "0x00000000413fd0c1", "arm64", 0x413fd0c1, 0, 0, 0xffffffff },
		{ "0x00000000412fc0f1", "arm", 0x412fc0f1, 0, 0, 0xffffffff },
		{ "0x00000000511f06f0", "arm", 0x511f06f0, 0, 0, 0xffffffff },
		{ "0x00000000510f0010", "arm64", 0x510f0010, 0, 0, 0xffffffff },
		{ "0x004e1202", "powerpc", 0x4e1202, 0, 0, 0xffffffff },
		{ "004e1202", "powerpc", 0x4e1202, 0, 0, 0xffffffff },
		{ "IBM,8561,703,T01,3.6,002f", "s390", 0, 0, 0, 0xffffffff },
		{ "0x489-0x8000000000000007-0x4210427", "riscv", 0x8000000000000007ull, 0, 0,
		  0xffffffff },
		{ "alpha-7", "alpha", 7, 0, 0, 0xffffffff },
		{ "sparc,ultra3+", "sparc", 0, 0, 0, 0xffffffff },
		{ "mips,74Kc", "mips", 0, 0, 0, 0xffffffff },
		{ "loongarch64,3A5000", "loongarch64", 0, 0, 0, 0xffffffff },
		{ "ia64-32-0", "ia64", 0, 32, 0, 0xffffffff },
	};
	static const char *const bad[] = { "",
		                           "-",
		                           "GenuineIntel",
		                           "GenuineIntel-6",
		                           "GenuineIntel-6-",
		                           "GenuineIntel-6-5Z",
		                           "Nobody-6-55-4",
		                           "GenuineIntel-6-55-4-1",
		                           "GenuineIntel--6-55",
		                           "0x",
		                           "0x123",
		                           "xyz",
		                           "0x1-0x2",
		                           "0x1-0x2-0x3-0x4",
		                           "alpha-1-2",
		                           "alpha-",
		                           "GenuineIntel- 6-55" };
	char lengthy[200];
	struct host h;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(pfmi_machine_parse_host_id(good[i].id, &h));
		assert_true(h.is_known);
		assert_string_equal(h.id_text, good[i].id);
		assert_string_equal(h.arch, good[i].arch);
		assert_int_equal(h.id_register, good[i].value);
		assert_int_equal(h.family, good[i].family);
		assert_int_equal(h.model, good[i].model);
		assert_int_equal(h.stepping, good[i].stepping);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(pfmi_machine_parse_host_id(bad[i], &h));
		assert_false(h.is_known);
	}
	memset(lengthy, '1', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(pfmi_machine_parse_host_id(lengthy, &h));
}

UNIT(machine_host_id, cmocka_unit_test(texts_of_every_form));
