/* SPDX-License-Identifier: MIT */
/* The file of a kernel that does not run, with its symbols. */
#ifndef PFM_VMLINUX_H
#define PFM_VMLINUX_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/symbols/file_symbols.h"

/* All zeros is empty. */
struct vmlinux {
	struct file_symbols symbols;
	uint64_t slide; /* addresses in memory less those of the file */
};

/* A kernel that was recorded. */
struct recorded_kernel {
	char release[65], symbol[64]; /* "": unknown */
	uint64_t symbol_at;           /* address of the symbol in memory */
};

/* Finds the file of @kernel and reads it: boot/vmlinux-RELEASE or lib/modules/RELEASE/vmlinux in
 * the folder of debug files or in the root folder. False, and @v empty, without one that has the
 * symbol. */
bool vmlinux_read(struct vmlinux *v, const struct recorded_kernel *kernel,
                  struct symbol_sources *sources);
/* The function at @address in memory, or NULL. */
const char *vmlinux_find_symbol(const struct vmlinux *v, uint64_t address);
void vmlinux_free(struct vmlinux *v);

#endif
