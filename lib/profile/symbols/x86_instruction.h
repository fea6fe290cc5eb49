/* SPDX-License-Identifier: MIT */
/* Lengths and operations of the instructions of x86-64. */
#ifndef PFM_X86_INSTRUCTION_H
#define PFM_X86_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

/* The length of the instruction at @code, of which @n bytes may be read; 0 if it is not whole.
 * *@operation: a number for the operation. Registers, displacements, constants and targets of jumps
 * do not change it; whether an operand is in memory does. */
size_t x86_instruction_read(const uint8_t *code, size_t n, uint32_t *operation);

#endif
