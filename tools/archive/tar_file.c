/* SPDX-License-Identifier: MIT */
/* A file is a head of 512 bytes, whose numbers are octal digits, and its contents, filled up to a
 * multiple of 512. Two empty heads end the archive. Files belong to the user who unpacks them. */
#include "archive/tar_file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 512 };

struct tar_head {
	char name[100], mode[8], user[8], group[8], size[12], time[12], checksum[8], type;
	char link[100], magic[6], version[2], rest[247];
};

static bool put_head(FILE *out, const char *name, uint64_t size)
{
	struct tar_head h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
	const unsigned char *bytes = (const unsigned char *)&h;
	unsigned sum = 0;

	_Static_assert(sizeof(h) == BLOCK, "a head is a block");
	if (strlen(name) >= sizeof(h.name) || size >= (uint64_t)1 << 33) {
		errno = EFBIG;
		return false;
	}
	snprintf(h.name, sizeof(h.name), "%s", name);
	snprintf(h.mode, sizeof(h.mode), "%07o", 0600u);
	snprintf(h.user, sizeof(h.user), "%07o", 0u);
	snprintf(h.group, sizeof(h.group), "%07o", 0u);
	snprintf(h.size, sizeof(h.size), "%011llo", (unsigned long long)size);
	snprintf(h.time, sizeof(h.time), "%011llo", (unsigned long long)time(NULL));
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (unsigned i = 0; i < BLOCK; i++)
		sum += bytes[i];
	snprintf(h.checksum, sizeof(h.checksum), "%06o", sum & 0777777);
	return fwrite(&h, sizeof(h), 1, out) == 1;
}

static bool put_padding(FILE *out, uint64_t size)
{
	static const char zeros[BLOCK];
	size_t n = (size_t)(-size % BLOCK);

	return fwrite(zeros, 1, n, out) == n;
}

bool tar_add_text(FILE *out, const char *name, const char *text, size_t size)
{
	return put_head(out, name, size) && fwrite(text, 1, size, out) == size &&
	       put_padding(out, size);
}

bool tar_add_file(FILE *out, const char *name, int fd)
{
	char bytes[1 << 16];
	struct stat st;
	uint64_t left;
	off_t at = 0;

	if (fstat(fd, &st) != 0 || !put_head(out, name, (uint64_t)st.st_size))
		return false;
	for (left = (uint64_t)st.st_size; left;) {
		size_t wanted = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		ssize_t got = pread(fd, bytes, wanted, at);

		if (got <= 0) {
			errno = got < 0 ? errno : EIO; /* the file became shorter */
			return false;
		}
		if (fwrite(bytes, 1, (size_t)got, out) != (size_t)got)
			return false;
		at += got;
		left -= (uint64_t)got;
	}
	return put_padding(out, (uint64_t)st.st_size);
}

bool tar_end(FILE *out)
{
	static const char zeros[2 * BLOCK];

	return fwrite(zeros, sizeof(zeros), 1, out) == 1;
}
