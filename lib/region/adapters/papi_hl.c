/* SPDX-License-Identifier: MIT */
/* PAPI's high-level functions. Preloaded, they answer before those of libpapi, whose other
 * functions stay as they are. A program may run without PERFMON_REGIONS: then PAPI_EVENTS says what
 * is counted, and the results go where PAPI's would. */
#include <stdio.h>
#include <sys/stat.h>
#include "adapter.h"

enum { PAPI_OK = 0, PAPI_EINVAL = -1, PAPI_ENOMEM = -2 };

EXPORT int PAPI_hl_region_begin(const char *name);
EXPORT int PAPI_hl_read(const char *name);
EXPORT int PAPI_hl_region_end(const char *name);
EXPORT int PAPI_hl_stop(void);

static bool is_variable_set(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value;
}

/* Starts regions as PAPI's variables say, where ours say nothing. */
__attribute__((constructor)) static void start(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	const char *folder = secure_getenv("PAPI_OUTPUT_DIRECTORY");
	char path[4096];

	if (is_variable_set("PERFMON_REGIONS") || !is_variable_set("PAPI_EVENTS"))
		return;
	snprintf(path, sizeof(path), "%s/papi_hl_output", folder && *folder ? folder : ".");
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/papi_hl_output/rank_%%p.json",
	         folder && *folder ? folder : ".");
	options.events = secure_getenv("PAPI_EVENTS");
	options.output = path;
	options.format = "papi";
	pfm_start_regions(&options, NULL);
}

EXPORT int PAPI_hl_region_begin(const char *name)
{
	pfm_region_t *region = name ? pfm_find_region(name) : NULL;

	if (!region)
		return name ? PAPI_ENOMEM : PAPI_EINVAL;
	pfm_begin_region(region);
	return PAPI_OK;
}

/* A reading inside a region has no place in sums over visits: it is accepted and not recorded. */
EXPORT int PAPI_hl_read(const char *name)
{
	return name ? PAPI_OK : PAPI_EINVAL;
}

EXPORT int PAPI_hl_region_end(const char *name)
{
	pfm_region_t *region = name ? pfm_find_region(name) : NULL;

	if (!region)
		return name ? PAPI_ENOMEM : PAPI_EINVAL;
	pfm_end_region(region);
	return PAPI_OK;
}

EXPORT int PAPI_hl_stop(void)
{
	pfm_stop_regions();
	return PAPI_OK;
}
