/* SPDX-License-Identifier: MIT */
/* PAPI's high-level functions. Preloaded, they answer before those of libpapi, whose other
 * functions stay as they are. A program may run without PERFMON_REGIONS: then PAPI_EVENTS says what
 * is counted, and the results go where PAPI's would. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
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

/* ---- events ------------------------------------------------------------------------------ */

/* PAPI's presets that Linux counts under a name of its own on all processors; names of libpfm4 that
 * differ from Linux's by more than their form. */
static const char *const names[][2] = {
	{ "PAPI_TOT_INS", "instructions" },    { "PAPI_TOT_CYC", "cycles" },
	{ "PAPI_REF_CYC", "ref-cycles" },      { "PAPI_BR_INS", "branches" },
	{ "PAPI_BR_MSP", "branch-misses" },    { "page-faults-min", "minor-faults" },
	{ "page-faults-maj", "major-faults" },
};

enum { EVENTS_SIZE = 4096 };

static const char *find_linux_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i][0], name) == 0)
			return names[i][1];
	return name;
}

/* Writes the name @event of @len bytes as Linux has it: without "=delta" and "perf::", and
 * PERF_COUNT_SW_PAGE_FAULTS as page-faults. */
static void translate_event(const char *event, size_t len, char *to, size_t size)
{
	static const char *const prefixes[] = { "perf::", "PERF_COUNT_SW_", "PERF_COUNT_HW_" };
	const char *end = memchr(event, '=', len);
	const char *name;
	bool is_of_perf = false;
	size_t n;

	len = end ? (size_t)(end - event) : len;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t prefix = strlen(prefixes[i]);

		if (len > prefix && strncasecmp(event, prefixes[i], prefix) == 0) {
			event += prefix;
			len -= prefix;
			is_of_perf = true;
		}
	}
	n = len < size - 1 ? len : size - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = is_of_perf && event[i] == '_' ? '-'
		        : is_of_perf                  ? (char)tolower((unsigned char)event[i])
		                                      : event[i];
	to[n] = '\0';
	name = find_linux_name(to);
	if (name != to)
		snprintf(to, size, "%s", name);
}

/* Translates a list of events. Leaves out those that do not fit. */
static void translate_events(const char *list, char *to, size_t size)
{
	size_t at = 0;

	*to = '\0';
	for (size_t len; *list; list += len + (list[len] == ',')) {
		char name[256];

		len = strcspn(list, ",");
		translate_event(list, len, name, sizeof(name));
		if (at < size)
			at += (size_t)snprintf(to + at, size - at, "%s%s", at ? "," : "", name);
	}
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Starts regions as PAPI's variables say, where ours say nothing. */
__attribute__((constructor)) static void start(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	const char *folder = secure_getenv("PAPI_OUTPUT_DIRECTORY");
	pfm_error_t error = PFM_INIT(error);
	char path[4096], events[EVENTS_SIZE];

	if (is_variable_set("PERFMON_REGIONS") || !is_variable_set("PAPI_EVENTS"))
		return;
	snprintf(path, sizeof(path), "%s/papi_hl_output", folder && *folder ? folder : ".");
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/papi_hl_output/rank_%%p.json",
	         folder && *folder ? folder : ".");
	translate_events(secure_getenv("PAPI_EVENTS"), events, sizeof(events));
	options.events = events;
	options.output = path;
	options.format = "papi";
	if (pfm_start_regions(&options, &error))
		fprintf(stderr, "perfmon: PAPI_EVENTS: cannot count %s\n", events);
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
