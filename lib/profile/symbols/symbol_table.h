/* SPDX-License-Identifier: MIT */
/* Functions by their addresses. */
#ifndef PFM_SYMBOL_TABLE_H
#define PFM_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t start, size;
	uint64_t section_rest; /* bytes to the end of its section: what has no size, as functions in
	                          assembler often, ends there at the latest */
	uint32_t rank;         /* of several that begin together, the one of the highest rank */
	uint8_t binding;       /* STB_* of ELF */
	bool is_linkage_stub; /* the stub through which a program calls the function of that name */
	const char *name;
	char *demangled; /* the readable name, after the first request for it: C++ as it was
	                    written, and no name without end */
};

/* All zeros is empty. */
struct symbol_table {
	struct symbol *list;
	size_t n, capacity;
};

/* Adds @s. False without memory. */
bool symbol_table_add(struct symbol_table *t, const struct symbol *s);
/* Sorts the table for symbol_table_find(). Of several symbols that begin together that of the
 * highest rank is kept, then the largest, which covers the most, then the one whose name
 * programmers know best. */
void symbol_table_sort(struct symbol_table *t);
/* The symbol that @address belongs to, or NULL. */
struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address);
/* Removes all symbols. */
void symbol_table_clear(struct symbol_table *t);
/* Removes all symbols and releases the memory. */
void symbol_table_free(struct symbol_table *t);

#endif
