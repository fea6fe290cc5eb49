/* SPDX-License-Identifier: MIT */
/* pfm list: similar names, and why nothing was found. */
#include "list/list.h"

#include <string.h>

enum { SIMILAR_NAMES = 5 };

size_t write_event_text(const struct lister *l, const char *name, char text[2 * FOLDED_MAX])
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	bool is_bare =
		l->pmu >= 0 && !strstr(name, "::") && !pfm_describe_pmu(l->ctx, l->pmu, &info);
	const char *colons;

	snprintf(text, 2 * (size_t)FOLDED_MAX, "%s%s%s", is_bare ? info.name : "",
	         is_bare ? "::" : "", name);
	colons = strstr(text, "::");
	return colons ? (size_t)(colons + 2 - text) : 0;
}

/* True if @pattern begins with the name of an event. */
static bool is_event(const struct lister *l, const char *pattern, perfmon_event_info_t *e)
{
	char text[2 * FOLDED_MAX];
	unsigned event;
	int pmu;

	write_event_text(l, pattern, text);
	return !pfm_find_event_by_text(l->ctx, text, &pmu, &event, NULL) &&
	       !pfm_describe_event(l->ctx, pmu, event, e);
}

void print_similar_names(const struct lister *l, const char *title, bool here)
{
	perfmon_event_info_t e = PFM_INIT(e);
	pfm_encoding_t encoding = PFM_INIT(encoding);
	pfm_error_t error = PFM_INIT(error);
	char names[SIMILAR_NAMES][96], text[2 * FOLDED_MAX];
	size_t start = write_event_text(l, l->question, text), n, shown = 0;

	/* The error of a known event with an unknown unit mask, such as "INST_RETIRED.PREC_DST",
	 * has similar unit masks. */
	pfm_encode_event(l->ctx, text, 0, &encoding, &error);
	if (error.kind != PFM_KIND_UNKNOWN_QUALIFIER)
		report_culprit(&error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, start,
		               strlen(text), NULL);
	n = pfm_suggest_names(l->ctx, text, &error, names, SIMILAR_NAMES);
	for (size_t i = 0; i < n; i++) {
		if (here && (strstr(names[i], "::") || pfm_find_pmu(l->ctx, names[i]) >= 0))
			continue;
		if (l->metrics && !(is_event(l, names[i], &e) && e.flags & PFM_EVENT_METRIC))
			continue;
		fprintf(stderr, "%s%s", shown++ ? ", " : title, names[i]);
	}
	if (shown)
		fputc('\n', stderr);
}

void report_rejected_images(const struct lister *l)
{
	const char *path, *why;
	unsigned i;

	for (i = 0; pfm_describe_rejected_image(l->ctx, i, &path, &why) == PFMLIB_SUCCESS; i++)
		fprintf(stderr, "pfm: %s is not used: %s\n", path, why);
}

int report_nothing_found(const struct lister *l, const char *pattern)
{
	perfmon_event_info_t e = PFM_INIT(e);
	bool is_known;

	if (!pattern) {
		fputs(is_search(l) ? "pfm: no event has that unit or counter.\n"
		                   : "pfm: the processor has no metrics.\n",
		      stderr);
		return EXIT_REFUSED;
	}
	if (l->pmus_only) {
		fprintf(stderr, "pfm: no PMU matches '%s'; 'pfm list --pmus' lists them.\n",
		        pattern);
		return EXIT_REFUSED;
	}
	is_known = is_event(l, pattern, &e) && is_whole_name(l, e.name);
	if (is_known && !l->all_pmus && !l->metrics &&
	    e.flags & (PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED)) {
		fprintf(stderr, "pfm: '%s' is hidden or deprecated; --all shows it.\n", pattern);
		return EXIT_REFUSED;
	}
	fprintf(stderr, "pfm: no %s matches '%s'.\n", l->metrics ? "metric" : "event", pattern);
	if (!is_known)
		print_similar_names(l, "  similar: ", false);
	return EXIT_REFUSED;
}

int report_unknown_pmu(const struct lister *l, const char *pattern)
{
	pfm_error_t error;

	report_culprit(&error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0,
	               (size_t)(strstr(pattern, "::") - pattern), NULL);
	report_refusal(l->ctx, pattern, &error, WANTED_ANY);
	return EXIT_REFUSED;
}
