/* SPDX-License-Identifier: MIT */
/* Functions, segments and build id of an ELF file, with the functions of its separate debug file if
 * it is stripped. Files are not trusted: entries that point outside the file are ignored, and
 * neither their number nor their sizes take more time or memory than files of those sizes
 * deserve. */
#ifndef PFM_FILE_SYMBOLS_H
#define PFM_FILE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profile/symbols/elf_file.h"
#include "profile/symbols/symbol_table.h"
#include "profile/trust.h"

enum {
	SYMBOL_TABLES = 2, /* all symbols, and those for the linker that loads the file */
	FILE_SEGMENTS = 16,
	BUILD_ID_SIZE = 20 /* bytes: the kernel tells no more */
};

/* Bytes of a file from @offset on that are loaded at @address, the file's own. */
struct segment {
	uint64_t offset, size, address;
};

/* All zeros is empty. */
struct file_symbols {
	char *names[SYMBOL_TABLES];
	struct symbol_table table;
	struct segment segments[FILE_SEGMENTS];
	unsigned n_segments;
	uint8_t id[BUILD_ID_SIZE];
	size_t n_id;         /* 0: the file has no build id */
	char *separate_path; /* of the debug file that has its symbols, or NULL */
};

/* Common to all files that are read. */
struct symbol_sources {
	const char *debug_folder;         /* of separate debug files */
	const char *store;                /* files by build id, which the user names, or NULL */
	const char *recording_store;      /* the folder beside the recording, or NULL */
	uint64_t table_bytes;             /* of symbols and names that were read so far */
	struct trust trust;               /* of these files */
	struct file_checksums *checksums; /* of separate debug files; NULL: each is read */
	struct profile_messages *messages;
};

/* Reads the file @e, whose head was read and which is called @path. e->out_of_memory tells that
 * functions are missing. */
void file_symbols_read(struct file_symbols *f, struct elf_file *e, const char *path,
                       struct symbol_sources *sources);
/* The file's own address of the byte at @offset. False if it is not loaded into memory. */
bool file_symbols_compute_address(const struct file_symbols *f, uint64_t offset, uint64_t *address);
/* Is the file with descriptor @fd and @size bytes, called @path, of the build with the @n bytes of
 * @id or, if @n is 0, with the checksum? */
bool file_symbols_is_build(int fd, uint64_t size, const char *path, const uint8_t *id, size_t n,
                           uint32_t checksum, const struct symbol_sources *sources);
void file_symbols_free(struct file_symbols *f);

#endif
