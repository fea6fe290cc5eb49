/* SPDX-License-Identifier: MIT */
#ifndef PFM_PREAD_H
#define PFM_PREAD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads @n bytes at @offset of a file, in as many pieces as it takes. False if they are not all
 * there. */
static inline bool base_pread(int fd, void *to, size_t n, uint64_t offset)
{
	uint8_t *p = to;

	while (n) {
		ssize_t got = offset > INT64_MAX ? 0 : pread(fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

#endif
