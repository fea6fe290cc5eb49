/* SPDX-License-Identifier: MIT */
#include "profile/symbols/code_shape.h"
#include <elf.h>
#include <string.h>
#include "units.h"

static struct code_shape read_shape(unsigned machine, const void *code, size_t n)
{
	struct code_shape s;

	assert_true(code_shape_read(&s, machine, code, n));
	return s;
}

static double compare(unsigned machine, const void *a, size_t n, const void *b, size_t m)
{
	struct code_shape x = read_shape(machine, a, n), y = read_shape(machine, b, m);
	double alike = code_shape_compare(&x, &y);

	assert_true(code_shape_compare(&y, &x) >= alike && code_shape_compare(&y, &x) <= alike);
	code_shape_free(&x);
	code_shape_free(&y);
	return alike;
}

/* push, mov, call, pop, ret: calls to two places, and another operation in the middle. */
static void shapes_of_x86(void **state)
{
	static const char here[] = "\x55\x48\x89\xe5\xe8\1\2\3\4\x5d\xc3",
			  there[] = "\x55\x48\x89\xe5\xe8\5\6\7\x08\x5d\xc3",
			  other[] = "\x55\x48\x89\xe5\x83\xc0\1\x5d\xc3";

	(void)state;
	assert_float_equal(compare(EM_X86_64, here, 11, there, 11), 1, 0);
	/* Four of six pairs are left: two have the operation. */
	assert_float_equal(compare(EM_X86_64, here, 11, other, 9), 4.0 / 6, 1e-9);
	/* Cut in the middle of the call. */
	assert_float_equal(compare(EM_X86_64, here, 6, here, 6), 1, 0);
}

static void shapes_of_arm64(void **state)
{
	/* bl, add x0, x1, #4, ret; bl elsewhere, add x2, x3, #8, ret; bl, sub, ret */
	static const uint32_t a[] = { 0x94000010, 0x91001020, 0xd65f03c0 },
			      b[] = { 0x94000444, 0x91002062, 0xd65f03c0 },
			      c[] = { 0x94000010, 0xd1001020, 0xd65f03c0 };

	(void)state;
	if (*(const uint8_t *)&a[0] != 0x10)
		skip(); /* code is little-endian */
	assert_float_equal(compare(EM_AARCH64, a, 12, b, 12), 1, 0);
	assert_float_equal(compare(EM_AARCH64, a, 12, c, 12), 0.5, 1e-9);
	assert_float_equal(compare(EM_AARCH64, a, 11, b, 11), 1, 0);
}

static void other_machines_have_no_shape(void **state)
{
	static const uint8_t code[4];
	struct code_shape s;

	(void)state;
	assert_false(code_shape_knows_machine(EM_PPC64));
	assert_false(code_shape_read(&s, EM_PPC64, code, sizeof(code)));
	assert_false(code_shape_read_file(&s, "/proc/self/exe", 16, 16));
	assert_false(code_shape_read_file(&s, "/proc/self/exe", 16, UINT64_MAX));
	assert_false(code_shape_read_file(&s, "/dev/null", 0, 16));
}

UNIT(profile_code_shape, cmocka_unit_test(shapes_of_x86), cmocka_unit_test(shapes_of_arm64),
     cmocka_unit_test(other_machines_have_no_shape));
