/* SPDX-License-Identifier: MIT */
/* Where the symbols of a stripped file may be. */
#ifndef PFM_DEBUG_FILES_H
#define PFM_DEBUG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file whose symbols are elsewhere. */
struct debug_search {
	const char *path, *folder; /* of the file; of separate debug files */
	const uint8_t *id;         /* its build id, of @n_id bytes */
	size_t n_id;
	const char *link;            /* name in its section .gnu_debuglink, or NULL */
	const char *store;           /* folder of files by build id, or NULL */
	const char *recording_store; /* the folder beside the recording, or NULL */
};

/* Writes the path of candidate number @i to @path. False after the last. They are, in this order:
 *   0  FOLDER/.build-id/ab/cdef.debug     by build id
 *   1  DIR/LINK                           beside the file
 *   2  DIR/.debug/LINK
 *   3  FOLDER/DIR/LINK
 *   4  HOME/.debug/.build-id/ab/cdef/debug  the cache of perf
 *   5  STORE/.build-id/ab/cdef/debug  the folder that the user names
 *   6  FILE.files/.build-id/ab/cdef/debug  beside the recording
 * A candidate that cannot exist is an empty path. */
bool make_debug_file_path(const struct debug_search *s, unsigned i, char *path, size_t size);
/* The path of a file of @kind, "elf" or "debug", in a folder of files by build id, which is laid
 * out as the cache of perf; empty if it cannot be there. */
void make_stored_file_path(const char *folder, const uint8_t *id, size_t n_id, const char *kind,
                           char *path, size_t size);
/* The path at which the cache of perf keeps the file with this build id; empty if it cannot. */
void make_cached_file_path(const uint8_t *id, size_t n_id, char *path, size_t size);

#endif
