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
/* The function that the byte at @offset of the file belongs to, or NULL. Names of C++ are as their authors wrote them. */
const char *symbols_at(struct object *object, uint64_t offset);
struct spot;
/* Source line and inlined functions there (lines.h), or NULL. */
const struct spot *symbols_spot(struct object *object, uint64_t offset);
/* The C++ name behind a symbol, in memory of the caller's. NULL if there is none, or no C++ library to tell it: said once. */
char *symbols_plain(const char *symbol);
/* The function of the running kernel at @address, or NULL. */
const char *symbols_kernel(struct symbols *all, uint64_t address);

#endif
