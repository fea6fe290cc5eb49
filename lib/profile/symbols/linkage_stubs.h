/* SPDX-License-Identifier: MIT */
/* Stubs of the procedure linkage table (PLT), through which a program calls functions of libraries.
 * They have no symbols of their own. */
#ifndef PFM_LINKAGE_STUBS_H
#define PFM_LINKAGE_STUBS_H

#include "profile/symbols/elf_file.h"
#include "profile/symbols/symbol_table.h"

/* Adds a symbol for each stub of @e, whose sections are loaded, with the name of the function that
 * the stub jumps to. @names: the texts of the table of dynamic symbols, which the added symbols
 * point into; NULL without a table. Only for x86-64 and AArch64. */
void linkage_stubs_add(struct elf_file *e, const char *names, struct symbol_table *t);

#endif
