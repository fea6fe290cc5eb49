/* SPDX-License-Identifier: MIT */
/* Publishers of event lists: names the commands that fetch a newer list which may have an unknown
 * name. A name similar to a known one is treated as a typo. */
#include "common/pfm.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"

static const struct publisher {
	const char *source;   /* beginning of the source text of tables made from such a list */
	const char *relative; /* the generic table for processors without a list */
	const char *commands;
} publishers[] = {
	{ "intel/perfmon", "intel_arch",
	  "git clone --depth 1 https://github.com/intel/perfmon && pfm import perfmon" },
	{ "ARM-software/data", "armv8",
	  "git clone --depth 1 https://github.com/ARM-software/data && pfm import data" },
	{ "Linux tools/perf/pmu-events", "amd",
	  "git clone --depth 1 --filter=blob:none --sparse https://github.com/torvalds/linux && "
	  "git -C linux sparse-checkout set tools/perf/pmu-events && pfm import linux" },
};

enum { N_PUBLISHERS = sizeof(publishers) / sizeof(publishers[0]) };
enum { MAX_SLIPS = 2 }; /* largest number of letters in which a misspelt name differs */

/* Returns the publisher of lists of @pmu as a bit set; empty if unknown. */
static unsigned get_publishers_of_pmu(const pfm_ctx_t *ctx, int pmu)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	if (pmu < 0 || pfm_describe_pmu(ctx, pmu, &info) != PFMLIB_SUCCESS)
		return 0;
	for (unsigned i = 0; i < N_PUBLISHERS; i++)
		if (strncmp(info.source, publishers[i].source, strlen(publishers[i].source)) == 0 ||
		    strcmp(info.name, publishers[i].relative) == 0)
			return 1u << i;
	return 0;
}

static unsigned get_publishers_of_pmu_name(const pfm_ctx_t *ctx, const char *name, size_t len)
{
	char buf[96];

	if (len == 0 || len >= sizeof(buf))
		return 0;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return get_publishers_of_pmu(ctx, pfm_find_pmu(ctx, buf));
}

static unsigned get_publishers_of_host(const pfm_ctx_t *ctx)
{
	unsigned set = 0;
	int n = pfm_count_pmus(ctx);

	for (int i = 0; i < n; i++) {
		perfmon_pmu_info_t info = PFM_INIT(info);

		if (pfm_describe_pmu(ctx, i, &info) == PFMLIB_SUCCESS &&
		    info.flags & PFM_PMU_HOST && info.flags & PFM_PMU_CORE)
			set |= get_publishers_of_pmu(ctx, i);
	}
	return set;
}

/* Finds the publishers for the processor in @text, for @pmu, or for this machine's processor. */
static unsigned find_publishers_of_event(const pfm_ctx_t *ctx, const char *text, const char *pmu)
{
	const char *colons = strstr(text, "::");

	if (colons)
		return get_publishers_of_pmu_name(ctx, text, (size_t)(colons - text));
	return pmu && *pmu ? get_publishers_of_pmu_name(ctx, pmu, strlen(pmu))
	                   : get_publishers_of_host(ctx);
}

/* Returns all publishers unless a known name is similar or @text begins with a folder's name. */
static unsigned choose_publishers_of_unknown_pmu(const char *text, const pfm_error_t *error,
                                                 size_t n)
{
	if (n || (error->end < strlen(text) && text[error->end] == '/'))
		return 0;
	return (1u << N_PUBLISHERS) - 1;
}

/* True if @text belongs to a processor that has no list yet. */
static bool is_generic_pmu(const pfm_ctx_t *ctx, const char *text, const char *pmu)
{
	const char *colons = strstr(text, "::");
	char name[96];

	for (unsigned i = 0; i < N_PUBLISHERS; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)(colons ? colons - text : 0), text);
		if (strcmp(colons ? name : pmu ? pmu : "", publishers[i].relative) == 0)
			return true;
	}
	if (colons || (pmu && *pmu))
		return false;
	for (int i = 0; i < pfm_count_pmus(ctx); i++) {
		perfmon_pmu_info_t info = PFM_INIT(info);

		if (!pfm_describe_pmu(ctx, i, &info) && info.flags & PFM_PMU_HOST &&
		    info.flags & PFM_PMU_FALLBACK)
			return true;
	}
	return false;
}

/* True if the token is the first @len characters of @name but for at most MAX_SLIPS letters. */
static bool is_misspelt(const char *text, const pfm_error_t *error, const char *name, size_t len)
{
	unsigned char typed[EDIT_DISTANCE_MAX], known[EDIT_DISTANCE_MAX];
	size_t n = error->end - error->start;

	if (n > sizeof(typed) || len > sizeof(known))
		return false;
	for (size_t i = 0; i < n; i++)
		typed[i] = (unsigned char)tolower((unsigned char)text[error->start + i]);
	for (size_t i = 0; i < len; i++)
		known[i] = (unsigned char)tolower((unsigned char)name[i]);
	return base_compute_edit_distance(typed, (unsigned)n, known, (unsigned)len, MAX_SLIPS) <=
	       MAX_SLIPS;
}

/* True if the token is a misspelling of @name or of its part before the dot. */
static bool is_typo_of(const char *text, const pfm_error_t *error, const char *name)
{
	return is_misspelt(text, error, name, strlen(name)) ||
	       is_misspelt(text, error, name, strcspn(name, "."));
}

unsigned find_newer_lists(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                          const char *pmu, char (*similar)[96], size_t n)
{
	if (!text || error->detail || error->end <= error->start)
		return 0;
	/* No list has the kernel's tracepoints. */
	if (n && strchr(similar[0], ':') && !strstr(similar[0], "::"))
		return 0;
	if (error->kind == PFM_KIND_UNKNOWN_PMU)
		return choose_publishers_of_unknown_pmu(text, error, n);
	/* A name similar to a known one is a typo, unless its processor has no list. */
	if (n && (pfm_find_pmu(ctx, similar[0]) >= 0 || !is_generic_pmu(ctx, text, pmu) ||
	          is_typo_of(text, error, similar[0])))
		return 0;
	return error->kind == PFM_KIND_UNKNOWN_EVENT ? find_publishers_of_event(ctx, text, pmu) : 0;
}

const char *newer_list_commands(unsigned set, unsigned i)
{
	for (unsigned k = 0; k < N_PUBLISHERS; k++)
		if (set >> k & 1 && i-- == 0)
			return publishers[k].commands;
	return NULL;
}
