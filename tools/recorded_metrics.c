/* SPDX-License-Identifier: MIT */
/* The metrics that a recording was made for: pfm record notes its option -M in the command line of
 * the file's header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report_view.h"

enum {
	FEATURE_COMMAND_LINE = 11, /* bit of the header's features */
	FEATURE_WORDS = 4,
	ARGUMENTS_MAX = 100000,
	ARGUMENT_SIZE_MAX = 1 << 20
};

#define MAGIC "PERFILE2" /* as the machines of either byte order write it */

struct file_section {
	uint64_t offset, size;
};

/* The head of a perf.data file. */
struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[FEATURE_WORDS];
};

/* The place of the section of feature @bit: the sections of all features follow the data. */
static long section_place(const struct file_header *h, unsigned bit)
{
	unsigned before = 0;

	for (unsigned i = 0; i < bit; i++)
		before += h->features[i / 64] >> i % 64 & 1;
	return (long)(h->data.offset + h->data.size + before * sizeof(struct file_section));
}

/* Reads the next argument of the command line; NULL at the end or on failure. To be freed. */
static char *read_argument(FILE *f)
{
	uint32_t size;
	char *text;

	if (fread(&size, sizeof(size), 1, f) != 1 || size > ARGUMENT_SIZE_MAX)
		return NULL;
	text = calloc(1, (size_t)size + 1);
	if (text && fread(text, 1, size, f) != size) {
		free(text);
		text = NULL;
	}
	return text;
}

/* The argument after "-M", which stands before the command; NULL without it. */
static char *find_metrics_argument(FILE *f)
{
	uint32_t n;
	bool is_next = false;

	if (fread(&n, sizeof(n), 1, f) != 1 || n > ARGUMENTS_MAX)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		char *text = read_argument(f);
		bool is_end = !text || strcmp(text, "--") == 0;

		if (text && is_next)
			return text;
		is_next = text && strcmp(text, "-M") == 0;
		free(text);
		if (is_end)
			return NULL;
	}
	return NULL;
}

char *read_recorded_metrics(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : NULL;
	struct file_header h;
	struct file_section at;
	char *names = NULL;

	if (f && fread(&h, sizeof(h), 1, f) == 1 && memcmp(h.magic, MAGIC, sizeof(h.magic)) == 0 &&
	    h.size == sizeof(h) && h.features[0] >> FEATURE_COMMAND_LINE & 1 &&
	    fseek(f, section_place(&h, FEATURE_COMMAND_LINE), SEEK_SET) == 0 &&
	    fread(&at, sizeof(at), 1, f) == 1 && fseek(f, (long)at.offset, SEEK_SET) == 0)
		names = find_metrics_argument(f);
	if (f)
		fclose(f);
	return names;
}
