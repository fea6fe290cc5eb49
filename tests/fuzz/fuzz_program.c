/* SPDX-License-Identifier: MIT */
/* Any bytes as a program that a recording names: its symbols, linkage stubs, notes and links to
 * debug files, and the lines and inlined functions at some of its addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "profile/symbols/lines.h"
#include "profile/symbols/symbols.h"
#include "time_bound.h"

enum { ADDRESSES = 16, STEP = 256, TEXT = 0x1000 };

int try_input(const uint8_t *data, size_t size)
{
	struct symbols *all = symbols_open("/nonexistent", NULL);
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct object *object;
	char path[64];

	if (!all || fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	object = symbols_get_object(all, path, NULL, 0);
	if (!object)
		abort();
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		const char *name = symbols_find_name(object, TEXT + STEP * i);
		const struct source_spot *spot = symbols_find_source_spot(object, TEXT + STEP * i);

		if ((name && !*name) || (spot && (!spot->inlined || !spot->source)))
			abort();
	}
	symbols_close(all);
	close(fd);
	return 0;
}
