/* SPDX-License-Identifier: MIT */
/* The operations of a function's code, as pairs of neighbours, without registers, addresses and
 * constants. Most pairs stay when the function gets another name, moves, or changes a little. */
#ifndef PFM_CODE_SHAPE_H
#define PFM_CODE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_shape {
	uint64_t *pairs; /* operations that follow each other, sorted; to be freed */
	size_t n;        /* one more than instructions; 0: not read */
};

/* True if code of this machine (EM_*) can be read. */
bool code_shape_knows_machine(unsigned machine);
/* Reads @n bytes of code. False without memory, or for another machine. */
bool code_shape_read(struct code_shape *s, unsigned machine, const uint8_t *code, size_t n);
/* Reads the code from @start to @end, addresses of the ELF file at @path. False if it cannot be
 * read, or is larger than 256 KiB. */
bool code_shape_read_file(struct code_shape *s, const char *path, uint64_t start, uint64_t end);
/* The share of the pairs that @a and @b have in common: 1 for equal code. */
double code_shape_compare(const struct code_shape *a, const struct code_shape *b);
void code_shape_free(struct code_shape *s);

#endif
