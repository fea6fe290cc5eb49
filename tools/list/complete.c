/* SPDX-License-Identifier: MIT */
/* pfm list --complete: words for the completion of shells. */
#include "list/list.h"

#include <string.h>
#include <strings.h>

static void complete_umasks(const struct lister *l, const char *prefix, size_t base)
{
	char event[FOLDED_MAX];
	pfm_umask_info_t mask = PFM_INIT(mask);
	char word[FOLDED_MAX];
	unsigned index, i;
	int pmu;

	snprintf(event, sizeof(event), "%.*s", (int)base, prefix);
	if (pfm_find_event_by_text(l->ctx, event, &pmu, &index, NULL) != PFMLIB_SUCCESS)
		return;
	for (i = 0; pfm_describe_umask(l->ctx, pmu, index, i, &mask) == PFMLIB_SUCCESS; i++) {
		if (prefix[base] == ',')
			snprintf(word, sizeof(word), "%s=%s", mask.group, mask.name);
		else
			snprintf(word, sizeof(word), "%s", *mask.alias ? mask.alias : mask.name);
		if (strncasecmp(word, prefix + base + 1, strlen(prefix + base + 1)) == 0)
			printf("%.*s%s\n", (int)base + 1, prefix, word);
	}
}

static void complete_events(const struct lister *l, int pmu, const char *before, const char *prefix)
{
	perfmon_event_info_t e = PFM_INIT(e);
	size_t len = strlen(prefix);
	unsigned i;

	for (i = 0; pfm_describe_event(l->ctx, pmu, i, &e) == PFMLIB_SUCCESS; i++)
		if (!(e.flags & PFM_EVENT_HIDDEN) && strncasecmp(e.name, prefix, len) == 0)
			printf("%s%s\n", before, e.name);
}

int complete_list_text(const struct lister *l, const char *prefix)
{
	const char *colons = strstr(prefix, "::"), *last = strrchr(prefix, ':');
	perfmon_pmu_info_t info = PFM_INIT(info);
	char before[FOLDED_MAX];
	int i, pmu, n = pfm_count_pmus(l->ctx);

	if (!last || (strrchr(prefix, ',') && strrchr(prefix, ',') > last))
		last = strrchr(prefix, ',');
	if (colons) {
		snprintf(before, sizeof(before), "%.*s", (int)(colons - prefix), prefix);
		pmu = pfm_find_pmu(l->ctx, before);
		snprintf(before, sizeof(before), "%.*s", (int)(colons + 2 - prefix), prefix);
		if (pmu >= 0)
			complete_events(l, pmu, before, colons + 2);
	}
	if (last && last > prefix && last[-1] != ':')
		complete_umasks(l, prefix, (size_t)(last - prefix));
	for (i = 0; i < n && !colons; i++) {
		if (pfm_describe_pmu(l->ctx, i, &info) != PFMLIB_SUCCESS ||
		    (info.flags & PFM_PMU_HIDDEN) || has_only_metrics(l, i, &info))
			continue;
		if (strncasecmp(info.name, prefix, strlen(prefix)) == 0)
			printf("%s::\n", info.name);
		if (l->pmu >= 0 ? i == l->pmu : (info.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL)) != 0)
			complete_events(l, i, "", prefix);
	}
	return EXIT_DONE;
}
