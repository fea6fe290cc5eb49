/* SPDX-License-Identifier: MIT */
/* Any text given to libpfm.so.4, for its words and for each of the kernel's interfaces, on any PMU.
 * What is accepted has a fully qualified string that reads back to the same: with the corrected
 * answers, libpfm4's own do not hold this for every event. */
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "time_bound.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) || setenv("PERFMON_LIBPFM4_CORRECT", "1", 1) ||
	    pfm_initialize())
		abort();
	return 0;
}

/* Words of @text; @name gets its string. */
static int words(const char *text, int levels, uint64_t out[8], int *n, char **name)
{
	uint64_t *codes = out;

	*n = 8;
	*name = NULL;
	memset(out, 0, 8 * sizeof(out[0]));
	return pfm_get_event_encoding(text, levels, name, NULL, &codes, n);
}

static void check_words(const char *text, int levels)
{
	uint64_t first[8], again[8];
	char *name, *second;
	int n, m;

	if (words(text, levels, first, &n, &name))
		return;
	if (words(name, levels, again, &m, &second) || n != m ||
	    memcmp(first, again, sizeof(first)) || strcmp(name, second))
		abort();
	free(second);
	free(name);
	if (pfm_find_event(text) < 0)
		abort();
}

static int attr_of(const char *text, int levels, pfm_os_t os, struct perf_event_attr *attr,
                   char **name)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .fstr = name, .size = sizeof(arg) };

	*name = NULL;
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	return pfm_get_os_event_encoding(text, levels, os, &arg);
}

static void check_attr(const char *text, int levels, pfm_os_t os)
{
	struct perf_event_attr first, again;
	char *name, *second;

	if (attr_of(text, levels, os, &first, &name))
		return;
	if (attr_of(name, levels, os, &again, &second) || first.type != again.type ||
	    first.config != again.config || first.config1 != again.config1 ||
	    first.config2 != again.config2 || first.sample_period != again.sample_period ||
	    first.exclude_user != again.exclude_user ||
	    first.exclude_kernel != again.exclude_kernel || first.precise_ip != again.precise_ip)
		abort();
	free(second);
	free(name);
}

/* A number is an event, or is refused; its attributes are numbered from 0 without a gap. */
static void check_index(int idx)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };

	if (pfm_get_event_info(idx, PFM_OS_NONE, &info))
		return;
	for (int i = 0; i < info.nattrs; i++)
		if (pfm_get_event_attr_info(idx, i, PFM_OS_NONE, &attr) || attr.idx != i ||
		    !attr.name || !attr.desc)
			abort();
	if (!pfm_get_event_attr_info(idx, info.nattrs, PFM_OS_NONE, &attr))
		abort();
	if (pfm_get_event_next(idx) == idx)
		abort();
}

int try_input(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	int levels = (int)(byte(&b) & 31);
	char text[512];
	size_t n = b.left < sizeof(text) - 1 ? b.left : sizeof(text) - 1;

	memcpy(text, b.at, n);
	text[n] = '\0';
	check_words(text, levels);
	check_attr(text, levels, PFM_OS_PERF_EVENT);
	check_attr(text, levels, PFM_OS_PERF_EVENT_EXT);
	if (n >= 4) {
		int idx;

		memcpy(&idx, text, 4);
		check_index(idx);
	}
	return 0;
}
