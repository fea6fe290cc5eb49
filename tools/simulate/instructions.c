/* SPDX-License-Identifier: MIT */
/* Opcodes are those of the "Intel 64 and IA-32 Architectures Software Developer's Manual", volume
 * 2, appendix A, and of the "Arm Architecture Reference Manual for A-profile", section C4.1. */
#include "simulate/instructions.h"

#include <string.h>

/* ---- x86-64 ---------------------------------------------------------------------------------- */

/* An instruction without its prefixes. */
struct x86_code {
	const uint8_t *at;
	size_t n;
	bool repeats, is_locked;
};

static bool is_x86_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26,
		                            0x64, 0x65, 0xf0, 0xf2, 0xf3 };

	return (byte & 0xf0) == 0x40 || memchr(prefixes, byte, sizeof(prefixes));
}

static struct x86_code skip_prefixes(const uint8_t *code, size_t n)
{
	struct x86_code c = { .at = code, .n = n };

	for (; c.n > 1 && is_x86_prefix(*c.at); c.at++, c.n--) {
		c.repeats |= *c.at == 0xf2 || *c.at == 0xf3;
		c.is_locked |= *c.at == 0xf0;
	}
	return c;
}

static bool is_string_operation(uint8_t op)
{
	return (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
	       (op >= 0x6c && op <= 0x6f);
}

static bool is_within(uint8_t op, uint8_t first, uint8_t last)
{
	return op >= first && op <= last;
}

/* Operations of one byte that have no operand but registers and numbers. */
static bool is_plain_alone(uint8_t op)
{
	return (op < 0x40 && ((op & 7) == 4 || (op & 7) == 5)) || is_within(op, 0x90, 0x99) ||
	       op == 0xa8 || op == 0xa9 || is_within(op, 0xb0, 0xbf);
}

/* Operations of one byte whose operand, by the byte @mode after them, is a register. */
static bool is_plain_with_register(uint8_t op, uint8_t mode)
{
	const unsigned extension = mode >> 3 & 7;

	if (is_within(op, 0xf6, 0xf7))
		return extension < 6; /* the others divide */
	if (is_within(op, 0xfe, 0xff))
		return extension < 2;
	if (is_within(op, 0xc6, 0xc7))
		return extension == 0;
	return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
	       op == 0x80 || op == 0x81 || is_within(op, 0x83, 0x8b) || op == 0xc0 || op == 0xc1 ||
	       is_within(op, 0xd0, 0xd3);
}

/* Operations of two bytes on registers; of SSE those on whole numbers, which every x86-64 has. */
static bool is_plain_second(uint8_t op)
{
	return op == 0x28 || op == 0x29 || is_within(op, 0x40, 0x4f) || is_within(op, 0x54, 0x57) ||
	       is_within(op, 0x60, 0x70) || is_within(op, 0x74, 0x76) || op == 0x7e || op == 0x7f ||
	       is_within(op, 0x90, 0x9f) || op == 0xa3 || op == 0xa4 || op == 0xa5 || op == 0xab ||
	       op == 0xac || op == 0xad || op == 0xaf || op == 0xb3 || is_within(op, 0xb6, 0xb7) ||
	       is_within(op, 0xbb, 0xbf) || is_within(op, 0xd1, 0xd5) ||
	       is_within(op, 0xd8, 0xdf) || is_within(op, 0xe0, 0xe5) ||
	       is_within(op, 0xe8, 0xef) || is_within(op, 0xf1, 0xf6) || is_within(op, 0xf8, 0xfe);
}

static bool is_x86_plain(const struct x86_code *c)
{
	const uint8_t op = c->at[0], second = c->n > 1 ? c->at[1] : 0,
		      third = c->n > 2 ? c->at[2] : 0;

	if (c->is_locked)
		return false;
	if (op == 0x0f)
		return second == 0x1f || (second & 0xf8) == 0xc8 ||
		       (second == 0x1e && third == 0xfa) ||
		       (third >= 0xc0 && is_plain_second(second));
	return is_plain_alone(op) || (op == 0x8d && second < 0xc0) ||
	       (second >= 0xc0 && op != 0x8d && is_plain_with_register(op, second));
}

struct instruction_kind classify_x86(const uint8_t *code, size_t n)
{
	const struct x86_code c = skip_prefixes(code, n);
	const uint8_t op = c.at[0], second = c.n > 1 ? c.at[1] : 0;

	return (struct instruction_kind){
		.is_plain = is_x86_plain(&c),
		.is_branch = (op & 0xf0) == 0x70 || is_within(op, 0xe0, 0xe3) ||
		             (op == 0x0f && (second & 0xf0) == 0x80),
		.is_repeated = c.repeats && is_string_operation(op),
		.is_syscall = op == 0x0f && second == 0x05,
	};
}

/* The number of 32 bits at @at, in the order of the processor. */
static uint32_t read_word(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Compilers and C libraries load the number as late as they can: an instruction that is not known
 * here and changes it would leave a load without a use. */
void follow_x86(struct known_registers *r, const uint8_t *code, size_t n)
{
	const bool has_rex = n > 1 && (code[0] == 0x48);
	const uint8_t *at = code + has_rex;
	const size_t left = n - has_rex;

	if (left == 5 && at[0] == 0xb8)
		r->number = read_word(at + 1);
	else if (left == 6 && at[0] == 0xc7 && at[1] == 0xc0)
		r->number = read_word(at + 2);
	else if (left == 2 && (at[0] == 0x31 || at[0] == 0x33) && at[1] == 0xc0)
		r->number = 0;
	else if (left == 2 && at[0] == 0xb0 && r->number >= 0)
		r->number = (r->number & ~(int64_t)0xff) | at[1];
	else if ((left == 2 && (at[0] == 0x89 || at[0] == 0x8b) && (at[1] & 7) == 0) ||
	         (left == 1 && at[0] == 0x58))
		r->number = UNKNOWN_NUMBER;
	else if (left == 5 && at[0] == 0xbf)
		r->first = read_word(at + 1);
	else if (left == 2 && at[0] == 0x89 && (at[1] & 0xc7) == 0xc7)
		r->first = UNKNOWN_NUMBER;
}

/* ---- arm64 ----------------------------------------------------------------------------------- */

struct instruction_kind classify_arm64(const uint8_t *code)
{
	const uint32_t w = read_word(code);

	return (struct instruction_kind){
		/* Data processing with numbers, and with registers. */
		.is_plain = (w >> 26 & 7) == 4 || (w >> 25 & 7) == 5,
		.is_branch = (w & 0xff000000) == 0x54000000 || (w & 0x7c000000) == 0x34000000,
		.is_syscall = (w & 0xffe0001f) == 0xd4000001,
	};
}

/* Follows the instructions that load constants into x8, the number of a system call, and x0, its
 * first argument: movz x8,#number; movz x0,#first; movk x0,#first,lsl #16. Others make them
 * unknown. */
void follow_arm64(struct known_registers *r, const uint8_t *code)
{
	const uint32_t w = read_word(code);

	if ((w & 0x7fe0001f) == 0x52800008)
		r->number = w >> 5 & 0xffff;
	else if ((w & 0x1f) == 8)
		r->number = UNKNOWN_NUMBER;
	else if ((w & 0x7fe0001f) == 0x52800000)
		r->first = w >> 5 & 0xffff;
	else if ((w & 0x7fe0001f) == 0x72a00000 && r->first >= 0)
		r->first |= (int64_t)(w >> 5 & 0xffff) << 16;
	else if ((w & 0x1f) == 0)
		r->first = UNKNOWN_NUMBER;
}
