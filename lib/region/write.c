/* SPDX-License-Identifier: MIT */
/* Writes results in one of the formats. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "region/region.h"

enum format_number { TABLE, JSON, CSV, LIKWID, PAPI, CHROME, FIREFOX };

static const struct region_format formats[] = {
	[TABLE] = { "table", ".txt", NO_SLICES },
	[JSON] = { "json", ".json", NO_SLICES },
	[CSV] = { "csv", ".csv", NO_SLICES },
	[LIKWID] = { "likwid", ".likwid", NO_SLICES },
	[PAPI] = { "papi", ".papi.json", USES_SLICES },
	[CHROME] = { "chrome", ".trace.json", NEEDS_SLICES },
	[FIREFOX] = { "firefox", ".firefox.json", NEEDS_SLICES },
};

/* A switch, because the dynamic linker would relocate each address of a function in the table. */
static bool write_format(const struct region_format *format, FILE *out,
                         const pfm_region_results_t *results)
{
	switch ((enum format_number)(format - formats)) {
	case TABLE: return pfmi_region_write_table(out, results);
	case JSON: return pfmi_region_write_json(out, results);
	case CSV: return pfmi_region_write_csv(out, results);
	case LIKWID: return pfmi_region_write_likwid(out, results);
	case PAPI: return pfmi_region_write_papi(out, results);
	case CHROME: return pfmi_region_write_chrome(out, results);
	case FIREFOX: return pfmi_region_write_firefox(out, results);
	}
	return false;
}

const struct region_format *pfmi_region_find_format(const char *name)
{
	for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
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
	const struct region_format *writer = pfmi_region_find_format(format ? format : "table");
	char *text = NULL;
	bool is_written;
	size_t n;
	FILE *out;
	int rc;

	if (!results || !writer ||
	    (writer->slices == NEEDS_SLICES && !results->loaded && !pfmi_regions.keeps_slices))
		return PFMLIB_ERR_INVAL;
	out = open_memstream(&text, &n);
	is_written = out && write_format(writer, out, results);
	if (out && fclose(out))
		is_written = false;
	rc = is_written ? write_all(fd, text, n) : PFMLIB_ERR_NOMEM;
	free(text);
	return rc;
}
