/* SPDX-License-Identifier: MIT */
/* Finds the metrics of a recording: the argument of option -M in the command line in the file's
 * header. */
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"
#include "profile/recording_section.h"
#include "report/view.h"

/* The section of the command line: number of arguments, then length and text of each. */
struct argument_list {
	const uint8_t *bytes;
	uint64_t left;
};

static bool read_number(struct argument_list *l, uint32_t *number)
{
	if (l->left < sizeof(*number))
		return false;
	memcpy(number, l->bytes, sizeof(*number));
	l->bytes += sizeof(*number);
	l->left -= sizeof(*number);
	return true;
}

/* Returns the next argument, which ends at a zero byte or @len; NULL after the last one. */
static const char *read_argument(struct argument_list *l, uint32_t *len)
{
	const char *text = (const char *)l->bytes + sizeof(*len);

	if (!read_number(l, len) || *len > l->left)
		return NULL;
	l->bytes += *len;
	l->left -= *len;
	*len = (uint32_t)strnlen(text, *len);
	return text;
}

static bool is_argument(const char *text, uint32_t len, const char *wanted)
{
	return len == strlen(wanted) && memcmp(text, wanted, len) == 0;
}

/* Returns the argument of "-M" before the command; NULL if missing. */
static char *find_metrics_argument(struct argument_list l)
{
	uint32_t n, len;
	const char *text;
	bool is_next = false;

	if (!read_number(&l, &n))
		return NULL;
	while (n-- > 0 && (text = read_argument(&l, &len)) && !is_argument(text, len, "--")) {
		if (is_next)
			return strndup(text, len);
		is_next = is_argument(text, len, "-M");
	}
	return NULL;
}

char *read_recorded_metrics(const char *path)
{
	uint64_t size = 0;
	uint8_t *bytes = read_recording_section(path, PERFDATA_FEATURE_CMDLINE, &size);
	char *names = bytes ? find_metrics_argument((struct argument_list){ bytes, size }) : NULL;

	free(bytes);
	return names;
}
