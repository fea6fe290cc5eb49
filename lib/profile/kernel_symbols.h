/* SPDX-License-Identifier: MIT */
/* Functions of the running kernel, from /proc/kallsyms. */
#ifndef PFM_KERNEL_SYMBOLS_H
#define PFM_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/symbol_table.h"

/* All zeros is empty; the list is read when it is first needed. */
struct kernel_symbols {
	struct symbol_table table;
	bool is_loaded;
	char expected[64]; /* a symbol of the kernel that was sampled; "": unknown */
	uint64_t expected_at;
};

/* In the kernel that was sampled @name was at @address: functions of one where it is not are not
 * named. */
void kernel_symbols_expect(struct kernel_symbols *k, const char *name, uint64_t address);
/* The function at @address, or NULL. */
const char *kernel_symbols_at(struct kernel_symbols *k, uint64_t address);
void kernel_symbols_free(struct kernel_symbols *k);

#endif
