/* SPDX-License-Identifier: MIT */
/* Finds a function's caller from its stack frame, by the call frame information of ELF files. */
#ifndef PFM_FRAME_RULES_H
#define PFM_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_REGISTERS = 33 };

/* Registers of a frame by their numbers in DWARF. */
struct frame_registers {
	uint64_t values[FRAME_REGISTERS];
	uint64_t known_mask; /* bit N: register N has a value */
	unsigned stack_pointer;
	uint64_t pc;
};

/* A copy of the stack: @size bytes from address @start on. */
struct frame_memory {
	const uint8_t *bytes;
	uint64_t start, size;
};

enum frame_result {
	FRAME_CALLER,    /* the registers are now those of the caller */
	FRAME_OUTERMOST, /* the function has no caller */
	FRAME_NO_RULE,   /* the file does not describe the function */
	FRAME_LOST       /* the registers or the memory lack what the rule needs */
};

struct frame_rules;
struct symbol_sources;

/* The rules of the file at @path, which a debug file of @sources may hold. NULL if they
 * cannot be read. */
struct frame_rules *frame_rules_open(const char *path, const struct symbol_sources *sources);
void frame_rules_close(struct frame_rules *rules);

/**
 * Go from the frame at @address, an address of the file, to its caller.
 *
 * @registers  those of the frame; those of the caller after FRAME_CALLER
 * @is_signal  set if the frame is that of a signal handler's return: the caller's address is then
 *             that of the next instruction, not that after a call
 *
 * The rule of an address is read once, then cached: reading takes microseconds.
 */
enum frame_result frame_rules_apply(struct frame_rules *rules, uint64_t address,
                                    struct frame_registers *registers,
                                    const struct frame_memory *memory, bool *is_signal);

/* Reads the 8 bytes at @address of a copy of the stack. False if they are not in it. */
bool frame_read_word(const struct frame_memory *m, uint64_t address, uint64_t *word);

#endif
