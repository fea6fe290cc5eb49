/* SPDX-License-Identifier: MIT */
/* The file is not trusted: offsets and sizes lead nowhere but into it. */
#include "profile/regular_file.h"
#include "profile/recording_section.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/pread.h"
#include "perfdata/perfdata.h"
#include "profile/symbols/symbols.h"

#define MAX_SECTION  ((uint64_t)16 << 20)
#define FLAGS_OFFSET 40 /* in a struct perf_attr */
#define INHERIT      1  /* bit of the flags */

/* Where section @feature is. False if the file has none. */
static bool find_section(int fd, unsigned feature, struct perfdata_section *section)
{
	struct perfdata_header h;
	unsigned index = 0;

	if (!base_pread(fd, &h, sizeof(h), 0) || h.magic != PERFDATA_MAGIC || h.size != sizeof(h) ||
	    !(h.features[feature / 64] >> feature % 64 & 1))
		return false;
	for (unsigned i = 0; i < feature; i++)
		index += h.features[i / 64] >> i % 64 & 1;
	return base_pread(fd, section, sizeof(*section),
	                  h.data.offset + h.data.size + index * sizeof(*section)) &&
	       section->size <= MAX_SECTION;
}

uint8_t *read_recording_section(const char *path, unsigned feature, uint64_t *size)
{
	struct perfdata_section section = { 0, 0 };
	struct stat st;
	int fd = open_regular_file(path, &st);
	uint8_t *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (find_section(fd, feature, &section) && section.size < SIZE_MAX)
		bytes = malloc((size_t)section.size + 1);
	if (bytes && base_pread(fd, bytes, (size_t)section.size, section.offset)) {
		bytes[section.size] = '\0';
		*size = section.size;
	} else {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	return bytes;
}

char *read_recording_text(const char *path, unsigned feature)
{
	uint64_t size = 0;
	uint8_t *bytes = read_recording_section(path, feature, &size);
	uint32_t length = 0;
	char *text = NULL;

	if (bytes && size > sizeof(length)) {
		memcpy(&length, bytes, sizeof(length));
		if (length <= size - sizeof(length))
			text = strndup((const char *)bytes + sizeof(length), length);
	}
	free(bytes);
	return text;
}

void read_inherited_events(const char *path, bool *is_inherited, unsigned n)
{
	struct perfdata_header h;
	struct stat st;
	int fd = open_regular_file(path, &st);
	uint64_t flags;

	if (fd < 0)
		return;
	if (base_pread(fd, &h, sizeof(h), 0) && h.magic == PERFDATA_MAGIC && h.size == sizeof(h) &&
	    h.attr_size > FLAGS_OFFSET + sizeof(flags))
		for (unsigned i = 0; i < n && i < h.attrs.size / h.attr_size; i++)
			if (base_pread(fd, &flags, sizeof(flags),
			               h.attrs.offset + i * h.attr_size + FLAGS_OFFSET))
				is_inherited[i] = flags >> INHERIT & 1;
	close(fd);
}
