/* SPDX-License-Identifier: MIT */
/* Checksums of debug files. Many programs can name one large file, which is read once. */
#ifndef PFM_FILE_CHECKSUMS_H
#define PFM_FILE_CHECKSUMS_H

#include <stdint.h>
#include "base/hash.h"

/* Checksums by device and inode. All zeros is an empty list. */
struct file_checksums {
	struct hash_table table;
	struct known_checksum *files;
	uint32_t n_files;
	size_t capacity;
};

/* The checksum of the file at @fd that .gnu_debuglink has: CRC-32 of all bytes. A file that did not
 * change since an earlier call is not read again. @known may be NULL. */
uint32_t file_checksums_compute(struct file_checksums *known, int fd);
void file_checksums_free(struct file_checksums *known);

#endif
