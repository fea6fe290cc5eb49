/* SPDX-License-Identifier: MIT */
/* Writes results in one of the formats. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "region/region.h"

static const struct region_format *const formats[] = { &pfmi_region_table,  &pfmi_region_json,
	                                               &pfmi_region_csv,    &pfmi_region_likwid,
	                                               &pfmi_region_papi,   &pfmi_region_chrome,
	                                               &pfmi_region_firefox };

const struct region_format *pfmi_region_format(const char *name)
{
	for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t put = write(fd, bytes, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return PFMLIB_ERR_SYS;
		bytes += put;
		n -= (size_t)put;
	}
	return PFMLIB_SUCCESS;
}

int pfm_write_regions(const pfm_region_results_t *results, int fd, const char *format)
{
	const struct region_format *writer =
		pfmi_region_format(format ? format : pfmi_region_table.name);
	struct text text = { 0 };
	int rc;

	if (!results || !writer || (writer->draws_slices && !pfmi_regions.keeps_slices))
		return PFMLIB_ERR_INVAL;
	writer->write(&text, results);
	rc = text.failed ? PFMLIB_ERR_NOMEM : write_all(fd, text.bytes, text.n);
	pfmi_region_text_free(&text);
	return rc;
}
