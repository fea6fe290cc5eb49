/* SPDX-License-Identifier: MIT */
/* Writes archives in the format of tar (POSIX.1-1988, ustar). */
#ifndef PFM_ARCHIVE_TAR_FILE_H
#define PFM_ARCHIVE_TAR_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Adds the contents of the file with descriptor @fd as @name, which has at most 99 bytes. False,
 * with errno, if it cannot be read or written. */
bool tar_add_file(FILE *out, const char *name, int fd);
/* Adds the first @size bytes of @text as a file. */
bool tar_add_text(FILE *out, const char *name, const char *text, size_t size);
/* Ends the archive. */
bool tar_end(FILE *out);

#endif
