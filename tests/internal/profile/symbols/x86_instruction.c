/* SPDX-License-Identifier: MIT */
/* Lengths are those of objdump of binutils 2.40. */
#include "profile/symbols/x86_instruction.h"
#include <string.h>
#include "units.h"

struct known_instruction {
	const char *text;
	size_t length;
	uint8_t bytes[16]; /* zeros at the end may be left out */
};

static const struct known_instruction known[] = {
	{ "push %rbp", 1, { 0x55 } },
	{ "mov %rsp,%rbp", 3, { 0x48, 0x89, 0xe5 } },
	{ "sub $16,%rsp", 4, { 0x48, 0x83, 0xec, 0x10 } },
	{ "mov 0(%rip),%rax", 7, { 0x48, 0x8b, 0x05 } },
	{ "mov 8(%rax),%eax", 3, { 0x8b, 0x40, 0x08 } },
	{ "mov 256(%rax),%eax", 6, { 0x8b, 0x80, 0, 1 } },
	{ "mov 8(%rsp),%eax", 4, { 0x8b, 0x44, 0x24, 0x08 } },
	{ "mov 0(,%rax,4),%eax", 7, { 0x8b, 0x04, 0x85 } },
	{ "mov %fs:40,%rax", 9, { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28 } },
	{ "call", 5, { 0xe8, 1, 2, 3, 4 } },
	{ "data16 rex.W call", 8, { 0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4 } },
	{ "je, near", 6, { 0x0f, 0x84, 1, 2, 3, 4 } },
	{ "je, short", 2, { 0x74, 5 } },
	{ "ret", 1, { 0xc3 } },
	{ "endbr64", 4, { 0xf3, 0x0f, 0x1e, 0xfa } },
	{ "nopw 0(%rax,%rax,1)", 6, { 0x66, 0x0f, 0x1f, 0x44 } },
	{ "movabs $1,%rax", 10, { 0x48, 0xb8, 1 } },
	{ "mov $1,%eax", 5, { 0xb8, 1 } },
	{ "mov $1,%ax", 4, { 0x66, 0xb8, 1 } },
	{ "movl $1,8(%rsp)", 8, { 0xc7, 0x44, 0x24, 0x08, 1 } },
	{ "test $1,%cl", 3, { 0xf6, 0xc1, 1 } },
	{ "neg %ecx", 2, { 0xf7, 0xd9 } },
	{ "test $1,%cx", 5, { 0x66, 0xf7, 0xc1, 1 } },
	{ "imul $1,%eax,%eax", 6, { 0x69, 0xc0, 1 } },
	{ "imul $3,%eax,%eax", 3, { 0x6b, 0xc0, 3 } },
	{ "bt $5,%eax", 4, { 0x0f, 0xba, 0xe0, 5 } },
	{ "movzbl %al,%eax", 3, { 0x0f, 0xb6, 0xc0 } },
	{ "lock cmpxchg %rcx,(%rdx)", 5, { 0xf0, 0x48, 0x0f, 0xb1, 0x0a } },
	{ "palignr $8,%xmm1,%xmm0", 6, { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8 } },
	{ "pshufb %xmm1,%xmm0", 5, { 0x66, 0x0f, 0x38, 0x00, 0xc1 } },
	{ "vzeroupper", 3, { 0xc5, 0xf8, 0x77 } },
	{ "vpaddd %ymm1,%ymm0,%ymm0", 4, { 0xc5, 0xfd, 0xfe, 0xc1 } },
	{ "vbroadcastss 0(%rip),%ymm0", 9, { 0xc4, 0xe2, 0x7d, 0x18, 0x05 } },
	{ "vextractf128 $1,%ymm0,%xmm1", 6, { 0xc4, 0xe3, 0x7d, 0x19, 0xc1, 1 } },
	{ "vmovaps (%rax),%zmm0", 6, { 0x62, 0xf1, 0x7c, 0x48, 0x28, 0x00 } },
	{ "vmovaps 64(%rax),%zmm0", 7, { 0x62, 0xf1, 0x7c, 0x48, 0x28, 0x40, 0x01 } },
	{ "movabs 1,%eax", 9, { 0xa1, 1 } },
	{ "addr32 mov 1,%eax", 6, { 0x67, 0xa1, 1 } },
	{ "enter $16,$1", 4, { 0xc8, 0x10, 0, 1 } },
	{ "int $128", 2, { 0xcd, 0x80 } },
};

static void lengths_of_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint32_t operation;
		size_t length =
			x86_instruction_read(known[i].bytes, sizeof(known[i].bytes), &operation);

		if (length != known[i].length)
			fail_msg("%s: expected %zu bytes, got %zu", known[i].text, known[i].length,
			         length);
		for (size_t n = 0; n < length; n++)
			assert_int_equal(x86_instruction_read(known[i].bytes, n, &operation), 0);
	}
}

static uint32_t read_operation(const char *bytes, size_t n)
{
	uint32_t operation = 0;

	assert_int_equal(x86_instruction_read((const uint8_t *)bytes, n, &operation), n);
	return operation;
}

/* The address of code and the registers that it uses do not change its operation. */
static void operations_of_instructions(void **state)
{
	(void)state;
	assert_int_equal(read_operation("\xe8\1\2\3\4", 5), read_operation("\xe8\5\6\7\x08", 5));
	assert_int_equal(read_operation("\x89\xc3", 2), read_operation("\x89\xd1", 2));
	assert_int_equal(read_operation("\x8b\x40\x08", 3), read_operation("\x8b\x41\x10", 3));
	assert_true(read_operation("\x89\xc3", 2) != read_operation("\x89\x03", 2));
	assert_true(read_operation("\x83\xc0\1", 3) != read_operation("\x83\xe8\1", 3));
	assert_true(read_operation("\x0f\x58\xc1", 3) != read_operation("\xf2\x0f\x58\xc1", 4));
	assert_true(read_operation("\x74\1", 2) != read_operation("\x75\1", 2));
}

UNIT(profile_x86_instruction, cmocka_unit_test(lengths_of_instructions),
     cmocka_unit_test(operations_of_instructions));
