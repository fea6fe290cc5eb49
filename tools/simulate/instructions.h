/* SPDX-License-Identifier: MIT */
/* The kinds of instructions that the plugin counts differently. */
#ifndef PFM_SIMULATE_INSTRUCTIONS_H
#define PFM_SIMULATE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction_kind {
	bool is_plain;    /* the next instruction follows in any case: no memory, no fault */
	bool is_branch;   /* a conditional branch */
	bool is_repeated; /* QEMU executes each repetition as an instruction */
	bool is_syscall;
};

/* The kind of the instruction with the @n bytes at @code. */
struct instruction_kind classify_x86(const uint8_t *code, size_t n);
struct instruction_kind classify_arm64(const uint8_t *code);

enum { UNKNOWN_NUMBER = -1 };

/* The numbers that a sequence of instructions without a jump leaves in two registers: that of the
 * number of a system call, and that of its first argument. */
struct known_registers {
	int64_t number, first; /* UNKNOWN_NUMBER */
};

/* Updates the known numbers by the instruction at @code. */
void follow_x86(struct known_registers *r, const uint8_t *code, size_t n);
void follow_arm64(struct known_registers *r, const uint8_t *code);

#endif
