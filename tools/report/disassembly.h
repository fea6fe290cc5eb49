/* SPDX-License-Identifier: MIT */
/* Disassembles a function with objdump. */
#ifndef PFM_DISASSEMBLY_H
#define PFM_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of objdump: an instruction, or a line of source text before it. */
struct code_line {
	bool is_instruction;
	uint64_t address; /* 0 for a line of source text */
	unsigned number;  /* of a line of source text, in its file */
	char *text;
};

struct disassembly {
	struct code_line *lines;
	size_t n, capacity;
};

struct source_text;

/* Disassembles the bytes from @start to @end of the file at @path, with the lines of @source, if it
 * is not NULL. @draws_jumps: before instructions are arrows from jumps to their targets, unless
 * there are too many at once. 0; ENOENT if objdump is missing, or another errno. */
int disassemble_function(struct disassembly *d, const char *path, uint64_t start, uint64_t end,
                         bool draws_jumps, struct source_text *source);
void free_disassembly(struct disassembly *d);

#endif
