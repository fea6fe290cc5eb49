/* SPDX-License-Identifier: MIT */
/* Reads prefixes, opcode, ModRM byte, displacement and constant, as the opcode maps of Intel's
 * Software Developer's Manual lay them out (volume 2, chapter 2 and appendix A). An opcode that no
 * map has is an instruction without operands. */
#include "profile/symbols/x86_instruction.h"

#include <stdbool.h>

enum opcode_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* Bytes that follow the opcode. */
enum operand {
	MODRM = 1,
	BYTE = 2,        /* a constant of 1 byte */
	WORD = 4,        /* of 2 bytes */
	FULL = 8,        /* of 4 bytes, or 2 after prefix 66 */
	WIDE = 16,       /* of 4 bytes, or 8 with REX.W, or 2 after prefix 66 */
	OFFSET = 32,     /* an address of 8 bytes, or 4 after prefix 67 */
	JUMP = 64,       /* a distance of 4 bytes */
	TEST_BYTE = 128, /* a constant of 1 byte, in forms 0 and 1 of the ModRM byte alone */
	TEST_FULL = 256, /* of 4 bytes, likewise */
	EXTENDED = 512   /* the ModRM byte selects the operation */
};

struct instruction {
	const uint8_t *code;
	size_t n, at;
	enum opcode_map map;
	uint8_t opcode, modrm;
	bool is_wide, has_66, has_67;
};

static unsigned get_short_operands(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4    ? MODRM
		       : (opcode & 7) == 4 ? BYTE
		       : (opcode & 7) == 5 ? FULL
		                           : 0;
	if (opcode >= 0x70 && opcode < 0x80)
		return BYTE;
	if (opcode >= 0xb0 && opcode < 0xc0)
		return opcode < 0xb8 ? BYTE : WIDE;
	if (opcode >= 0xd8 && opcode < 0xe0)
		return MODRM | EXTENDED;
	switch (opcode) {
	case 0x63: return MODRM;
	case 0x68: return FULL;
	case 0x69: return MODRM | FULL;
	case 0x6a: return BYTE;
	case 0x6b: return MODRM | BYTE;
	case 0x80:
	case 0x82:
	case 0x83: return MODRM | BYTE | EXTENDED;
	case 0x81: return MODRM | FULL | EXTENDED;
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3: return OFFSET;
	case 0xa8: return BYTE;
	case 0xa9: return FULL;
	case 0xc0:
	case 0xc1: return MODRM | BYTE | EXTENDED;
	case 0xc2:
	case 0xca: return WORD;
	case 0xc6: return MODRM | BYTE;
	case 0xc7: return MODRM | FULL;
	case 0xc8: return WORD | BYTE;
	case 0xcd: return BYTE;
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3: return MODRM | EXTENDED;
	case 0xe8:
	case 0xe9: return JUMP;
	case 0xeb: return BYTE;
	case 0xf6: return MODRM | TEST_BYTE | EXTENDED;
	case 0xf7: return MODRM | TEST_FULL | EXTENDED;
	case 0xfe:
	case 0xff: return MODRM | EXTENDED;
	default: break;
	}
	if (opcode >= 0x84 && opcode < 0x90)
		return MODRM;
	return opcode >= 0xe0 && opcode < 0xe8 ? BYTE : 0;
}

static unsigned get_long_operands(uint8_t opcode)
{
	if (opcode >= 0x80 && opcode < 0x90)
		return JUMP;
	if ((opcode >= 0x70 && opcode < 0x74) || opcode == 0xba)
		return MODRM | BYTE | EXTENDED;
	if ((opcode >= 0x30 && opcode < 0x38) || (opcode >= 0xc8 && opcode < 0xd0) ||
	    (opcode >= 0x04 && opcode < 0x0d && opcode != 0x0a))
		return 0;
	switch (opcode) {
	case 0x0e:
	case 0x77:
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa8:
	case 0xa9:
	case 0xaa: return 0;
	case 0x0f:
	case 0xa4:
	case 0xac:
	case 0xc2:
	case 0xc4:
	case 0xc5:
	case 0xc6: return MODRM | BYTE;
	case 0x00:
	case 0x01:
	case 0x18:
	case 0xae:
	case 0xc7: return MODRM | EXTENDED;
	default: return MODRM;
	}
}

static unsigned get_operands(enum opcode_map map, uint8_t opcode)
{
	switch (map) {
	case MAP_ONE: return get_short_operands(opcode);
	case MAP_0F: return get_long_operands(opcode);
	case MAP_0F3A: return MODRM | BYTE;
	default: return MODRM;
	}
}

/* The next byte; 0 after the last, with i->at beyond it. */
static uint8_t take_byte(struct instruction *i)
{
	if (i->at < i->n)
		return i->code[i->at++];
	i->at = i->n + 1;
	return 0;
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3: return true;
	default: return false;
	}
}

/* Reads the first byte that is no prefix. *@prefix: 66, f2 or f3, which can select the operation.
 */
static uint8_t take_prefixes(struct instruction *i, uint8_t *prefix)
{
	uint8_t byte = take_byte(i);

	for (; is_prefix(byte); byte = take_byte(i)) {
		i->has_66 |= byte == 0x66;
		i->has_67 |= byte == 0x67;
		*prefix = byte == 0x66 || byte >= 0xf2 ? byte : *prefix;
	}
	if ((byte & 0xf0) != 0x40) /* REX */
		return byte;
	i->is_wide = byte & 8;
	return take_byte(i);
}

/* Reads the rest of a prefix of vector instructions, VEX or EVEX, and the opcode. */
static void take_vector_opcode(struct instruction *i, uint8_t first)
{
	uint8_t next = take_byte(i);

	i->map = first == 0xc5 ? MAP_0F : (enum opcode_map)(next & 3);
	for (unsigned k = first == 0xc5 ? 0 : first == 0xc4 ? 1 : 2; k; k--)
		take_byte(i);
	i->opcode = take_byte(i);
}

static void take_opcode(struct instruction *i, uint8_t byte)
{
	i->map = MAP_ONE;
	if (byte == 0x0f) {
		i->map = MAP_0F;
		byte = take_byte(i);
		if (byte == 0x38 || byte == 0x3a) {
			i->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			byte = take_byte(i);
		}
	}
	i->opcode = byte;
}

/* Reads the ModRM byte and the address that it describes. */
static void take_address(struct instruction *i)
{
	unsigned mode, base;

	i->modrm = take_byte(i);
	mode = i->modrm >> 6;
	base = i->modrm & 7;
	if (mode == 3)
		return;
	if (base == 4)
		base = take_byte(i) & 7; /* SIB */
	/* Mode 0 has a displacement with base 5 alone. */
	i->at += mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
}

static size_t measure_constant(const struct instruction *i, unsigned operands)
{
	const size_t full = i->has_66 ? 2 : 4;
	const bool is_test = (i->modrm >> 3 & 7) < 2;
	size_t n = 0;

	n += operands & BYTE ? 1 : 0;
	n += operands & WORD ? 2 : 0;
	n += operands & FULL ? full : 0;
	n += operands & WIDE ? (i->is_wide ? 8 : full) : 0;
	n += operands & OFFSET ? (i->has_67 ? 4 : 8) : 0;
	n += operands & JUMP ? 4 : 0;
	n += operands & TEST_BYTE && is_test ? 1 : 0;
	n += operands & TEST_FULL && is_test ? full : 0;
	return n;
}

size_t x86_instruction_read(const uint8_t *code, size_t n, uint32_t *operation)
{
	struct instruction i = { .code = code, .n = n };
	uint8_t prefix = 0, byte = take_prefixes(&i, &prefix);
	bool is_vector = byte == 0xc4 || byte == 0xc5 || byte == 0x62;
	unsigned operands;

	if (is_vector)
		take_vector_opcode(&i, byte);
	else
		take_opcode(&i, byte);
	operands = get_operands(i.map, i.opcode);
	if (operands & MODRM)
		take_address(&i);
	i.at += measure_constant(&i, operands);
	*operation = (uint32_t)i.opcode | (uint32_t)i.map << 8 | (uint32_t)is_vector << 10 |
	             (uint32_t)(operands & MODRM && i.modrm >> 6 != 3) << 11 |
	             (uint32_t)i.is_wide << 12 |
	             (operands & EXTENDED ? (uint32_t)(i.modrm >> 3 & 7) << 13 : 0) |
	             (uint32_t)prefix << 16;
	return i.at <= n ? i.at : 0;
}
