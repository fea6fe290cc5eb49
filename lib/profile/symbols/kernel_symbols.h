/* SPDX-License-Identifier: MIT */
/* Functions of the kernel: of the running one from /proc/kallsyms, of others from their file. */
#ifndef PFM_KERNEL_SYMBOLS_H
#define PFM_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/symbols/symbol_table.h"
#include "profile/symbols/vmlinux.h"

/* All zeros is empty; the list is read when it is first needed. */
struct kernel_symbols {
	struct symbol_table table;
	bool is_loaded, has_file;
	struct recorded_kernel recorded;
	struct vmlinux file;            /* of a kernel that does not run */
	struct symbol_sources *sources; /* NULL: files are not read */
	struct profile_messages *messages;
};

/* The release of the kernel that was sampled, whose file is searched in @sources. */
void kernel_symbols_set_release(struct kernel_symbols *k, const char *release,
                                struct symbol_sources *sources);
/* Sets that the kernel that was sampled had @name at @address. Symbols of a kernel that has it
 * elsewhere are not used. */
void kernel_symbols_expect_symbol(struct kernel_symbols *k, const char *name, uint64_t address);
/* The function at @address, or NULL. */
const char *kernel_symbols_find(struct kernel_symbols *k, uint64_t address);
void kernel_symbols_free(struct kernel_symbols *k);

#endif
