/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions, from what compilers note for debuggers. */
#ifndef PFM_LINES_H
#define PFM_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct lines;
struct symbol_sources;

/* Facts about one instruction; never NULL. */
struct source_spot {
	const char *inlined; /* functions that were compiled into the one of the symbol table, the
	                  outermost first: "a;b" */
	char *source;        /* "file:line" */
};

/* True if the command was built with libdw. Otherwise no file has lines. */
bool lines_are_supported(void);
/* NULL if nothing is known of the file at @path, whose debugging information may be in
 * a file of @sources. */
struct lines *lines_open(const char *path, const struct symbol_sources *sources);
void lines_close(struct lines *l);
/* Facts about the instruction at @address of the file, in its symbols' addresses; found once, then
 * cached. NULL if unknown. */
const struct source_spot *lines_find_spot(struct lines *l, uint64_t address);

#endif
