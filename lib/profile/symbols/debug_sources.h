/* SPDX-License-Identifier: MIT */
/* Symbols that are neither in a file nor in a debug file beside it: compressed into the file, or on
 * a server. */
#ifndef PFM_DEBUG_SOURCES_H
#define PFM_DEBUG_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct profile_messages;

/* Unpacks the contents of a section .gnu_debugdata, an ELF file that xz has packed. Returns the
 * descriptor of a file in memory, or -1: damaged, too large, or liblzma.so.5 is missing, which is
 * reported once. */
int unpack_debug_data(const void *packed, size_t size, struct profile_messages *messages);

/* Fetches the debug file of build id @id from the servers in DEBUGINFOD_URLS; without them
 * it asks no server. Returns its path, which the caller frees, or NULL. That libdebuginfod.so.1 is
 * missing is reported once. */
char *fetch_debug_file(const uint8_t *id, size_t n, struct profile_messages *messages);
/* Fetches the program or library itself. */
char *fetch_program_file(const uint8_t *id, size_t n, struct profile_messages *messages);

#endif
