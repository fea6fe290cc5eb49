/* SPDX-License-Identifier: MIT */
/* The code that the kernel maps into each process, [vdso]. */
#ifndef PFM_VDSO_H
#define PFM_VDSO_H

#include <stddef.h>

/* Writes the path of a file with the running kernel's to @path. It exists as long as this process.
 * Returns -1 if it cannot be made. */
int make_vdso_file(char *path, size_t capacity);

#endif
