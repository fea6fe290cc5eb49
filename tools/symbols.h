/* SPDX-License-Identifier: MIT */
/* Names of functions, from the symbol tables of programs and libraries, and of the kernel. */
#ifndef PFM_SYMBOLS_H
#define PFM_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct symbols;

struct symbols *symbols_open(void);
void symbols_close(struct symbols *all);
/* The file at @path; read when first needed. NULL without memory. */
struct object *symbols_object(struct symbols *all, const char *path);
/* The function that the byte at @offset of the file belongs to, or NULL. */
const char *symbols_at(struct object *object, uint64_t offset);
/* The function of the running kernel at @address, or NULL. */
const char *symbols_kernel(struct symbols *all, uint64_t address);

#endif
