/* SPDX-License-Identifier: MIT */
/* pfm list: which PMUs and events are listed: those of this machine, then those of others, then
 * metrics. */
#include "list/list.h"

#include <stdlib.h>
#include <string.h>
#include "base/title.h"

/* ---- events of a PMU ------------------------------------------------------------------------ */

/* Finds the requested events of PMU @pmu, sorted. Returns their number. */
static size_t list_requested_events(struct lister *l, int pmu, const perfmon_pmu_info_t *info)
{
	perfmon_event_info_t e = PFM_INIT(e);
	bool has_topics = false;
	size_t n = 0;

	for (unsigned i = 0; i < info->n_events; i++) {
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !matches_pattern(l, &e))
			continue;
		has_topics |= *e.topic != 0;
		l->found[n++] = (struct found_event){
			.name = e.name,
			.desc = e.desc,
			.replaced = e.replaced,
			.unit = e.unit,
			.topic = l->is_ranked ? "" : e.topic,
			.alias = is_named_event(l, &e) && !is_whole_name(l, e.name) ? l->alias
			                                                            : NULL,
			.pmu = pmu,
			.event = i,
			.flags = e.flags,
			.rank = l->is_ranked ? compute_rank(l, &e) : 0,
		};
	}
	if (has_topics || l->is_ranked)
		qsort(l->found, n, sizeof(*l->found), compare_found);
	return n;
}

static bool reserve_found_events(struct lister *l, size_t n)
{
	struct found_event *more =
		n > l->found_capacity ? realloc(l->found, n * sizeof(*more)) : l->found;

	if (n <= l->found_capacity)
		return true;
	if (!more)
		return false;
	l->found = more;
	l->found_capacity = n;
	return true;
}

static int list_events(struct lister *l, int pmu, const perfmon_pmu_info_t *info)
{
	size_t n;

	if (!reserve_found_events(l, info->n_events))
		return report_no_memory();
	n = list_requested_events(l, pmu, info);
	if (l->json)
		put_found_events(l, info, n);
	else if (n)
		print_list_heading(l, info);
	if (!l->json)
		print_found(l, l->found, n);
	l->n_events += n;
	return EXIT_DONE;
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool has_table(const struct lister *l, const char *name)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int i;

	for (i = 0; pfm_describe_pmu(l->ctx, i, &info) == PFMLIB_SUCCESS; i++)
		if (info.n_events && strcmp(info.name, name) == 0)
			return true;
	return false;
}

/* True for a table of ratios, which is beside that of a processor. */
bool has_only_metrics(const struct lister *l, int pmu, const perfmon_pmu_info_t *info)
{
	perfmon_event_info_t e = PFM_INIT(e);

	for (unsigned i = 0; i < info->n_events; i++)
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !(e.flags & PFM_EVENT_METRIC))
			return false;
	return info->n_events > 0;
}

static bool is_shown_pmu(const struct lister *l, int pmu, perfmon_pmu_info_t *info)
{
	if (pfm_describe_pmu(l->ctx, pmu, info) != PFMLIB_SUCCESS)
		return false;
	/* A kernel PMU without events of its own is not listed if its processor has a table. */
	if (info->n_events == 0 && has_table(l, info->name))
		return false;
	if (l->pmu >= 0)
		return pmu == l->pmu;
	return l->all_pmus ||
	       (!(info->flags & PFM_PMU_HIDDEN) && (l->metrics || !has_only_metrics(l, pmu, info)));
}

static bool is_on_host(const perfmon_pmu_info_t *info)
{
	return info->flags & (PFM_PMU_HOST | PFM_PMU_KERNEL);
}

/* True if the PMU's events are listed: those of other machines would hide those that can be counted
 * here. */
static bool selects_events(const struct lister *l, const perfmon_pmu_info_t *info)
{
	bool here = is_on_host(info);

	if (l->pmus_only)
		return false;
	if (l->unit_name &&
	    (!(info->flags & PFM_PMU_UNCORE) ||
	     !(strcasestr(info->name, l->unit_name) || strcasestr(info->desc, l->unit_name))))
		return false;
	return l->pmu >= 0 || l->all_pmus || (l->other_hosts ? !here : here);
}

bool is_search(const struct lister *l)
{
	return l->pattern || l->counters || l->unit_name;
}

static bool selects_pmu(const struct lister *l, const perfmon_pmu_info_t *info)
{
	return !l->pattern || contains_text(l, info->name) || contains_text(l, info->aliases) ||
	       contains_text(l, info->desc);
}

static int list_matching_events(struct lister *l, int n, int first_pass)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int status = EXIT_DONE;

	/* Ranked answers: the first pass lists PMUs of this machine, the second one all others. */
	for (int pass = first_pass; pass < 2; pass++)
		for (int i = 0; i < n && status == EXIT_DONE; i++)
			if (is_shown_pmu(l, i, &info) && selects_events(l, &info) &&
			    (!l->is_ranked || is_on_host(&info) == !pass))
				status = list_events(l, i, &info);
	return status;
}

static int list_selected(struct lister *l, int n)
{
	int first_pass = l->is_ranked ? 0 : 1;
	int status = list_matching_events(l, n, first_pass);

	/* If no event matches all words of the question, list events that match most of them. */
	while (l->is_ranked && strchr(l->question, ' ') && !l->n_events && status == EXIT_DONE &&
	       pfmi_find_relax_words(&l->words))
		status = list_matching_events(l, n, first_pass);
	return status;
}

/* ---- other machines and metrics -------------------------------------------------------------- */

/* Lists matches of other machines if this machine has none. */
static int list_other_hosts(struct lister *l, int n)
{
	int status;

	if (!is_search(l) || l->pmu >= 0 || l->all_pmus || l->n_events)
		return EXIT_DONE;
	l->other_hosts = true;
	status = list_selected(l, n);
	if (l->n_events && l->question && !l->metrics && !l->is_expression)
		print_similar_names(l, "pfm: note: similar events of this machine: ", true);
	if (l->n_events)
		fprintf(stderr,
		        "pfm: note: no %s of this machine match; these belong to other "
		        "processors.\n",
		        l->metrics ? "metrics" : "events");
	return status;
}

/* Lists metrics of that name if there are no events. */
static int list_metrics(struct lister *l, int n)
{
	int status;

	if (!l->pattern || l->all_pmus || l->metrics || l->n_events)
		return EXIT_DONE;
	l->metrics = true;
	l->other_hosts = false;
	status = list_selected(l, n);
	if (status == EXIT_DONE)
		status = list_other_hosts(l, n);
	l->metrics = false;
	if (l->n_events) {
		fputs("pfm: note: no event matches; these are metrics.\n", stderr);
		if (l->question && !l->is_expression && !l->has_named_event)
			print_similar_names(l, "pfm: note: similar names: ", false);
	}
	return status;
}

/* Prints PMU @info, after the heading of its section if it is the first one. */
static void list_pmu_of_section(struct lister *l, const perfmon_pmu_info_t *info)
{
	if (!l->json && !l->n_pmus)
		printf("%sPMUs%s\n", term_colour_begin(stdout, BOLD), term_colour_end(stdout));
	print_listed_pmu(l, info);
	l->n_pmus++;
}

/* Lists the PMUs of this machine, and all others if requested. */
static void list_pmus(struct lister *l, int n)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	unsigned others = 0;

	for (int here = 1; here >= 0; here--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || !selects_pmu(l, &info) ||
			    is_on_host(&info) != here)
				continue;
			if (!here && !l->pmus_only && !l->all_pmus) {
				others++;
				continue;
			}
			list_pmu_of_section(l, &info);
		}
	if (others && !l->json)
		printf("  and %u of other machines: 'pfm list --pmus' lists them, 'pfm list --pmu "
		       "NAME' lists the events of one\n",
		       others);
}

/* True if the pattern names the processor of PMU @info: the beginning of its name, an alias, or
 * words of the processor's title. */
static bool is_named_processor(const struct lister *l, const perfmon_pmu_info_t *info)
{
	char folded[FOLDED_MAX], processor[FOLDED_MAX];

	fold_case(info->name, folded, sizeof(folded));
	if (strncmp(folded, l->pattern, strlen(l->pattern)) == 0 || contains_text(l, info->aliases))
		return true;
	snprintf(processor, sizeof(processor), "%.*s",
	         (int)base_measure_processor_title(info->desc), info->desc);
	return contains_text(l, processor);
}

/* True for the PMUs of Linux, such as "software", which belong to no processor. */
static bool is_pmu_of_linux(const perfmon_pmu_info_t *info)
{
	return is_on_host(info) && !(info->flags & (PFM_PMU_CORE | PFM_PMU_UNCORE));
}

/* Lists the processors that the pattern names, such as "sapphire" or "zen 6". */
static void list_named_processors(struct lister *l, int n)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	if (!l->pattern || l->pmu >= 0 || l->all_pmus || l->metrics || l->counters ||
	    l->unit_name || l->n_events || l->is_expression || strlen(l->pattern) < 3)
		return;
	for (int core = 1; core >= 0; core--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || is_pmu_of_linux(&info) ||
			    (info.flags & PFM_PMU_UNCORE ? core : !core) ||
			    !is_named_processor(l, &info))
				continue;
			list_pmu_of_section(l, &info);
		}
	if (l->n_pmus)
		fprintf(stderr,
		        "pfm: note: '%s' names processors; 'pfm list --pmu NAME' lists the events "
		        "of one.\n",
		        l->question);
}

static bool has_core_pmu(const struct lister *l, int n)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	for (int i = 0; i < n; i++)
		if (!pfm_describe_pmu(l->ctx, i, &info) && info.flags & PFM_PMU_KERNEL &&
		    info.flags & PFM_PMU_CORE)
			return true;
	return false;
}

/* Warns that the list has the events of this machine's processor, although the kernel cannot count
 * them. */
static void warn_without_pmu(const struct lister *l, int n)
{
	if (l->json || l->pmus_only || l->pmu >= 0 || is_search(l) || has_core_pmu(l, n))
		return;
	printf("This machine has no hardware PMU: of these events only software events and "
	       "tracepoints can be\n"
	       "counted here. 'pfm doctor' gives the cause.\n\n");
}

int list_all(struct lister *l)
{
	int n = pfm_count_pmus(l->ctx), status;

	warn_without_pmu(l, n);
	if (l->pmus_only || (!is_search(l) && l->pmu < 0 && !l->metrics))
		list_pmus(l, n);
	status = list_selected(l, n);
	if (status == EXIT_DONE && !l->pmus_only) {
		list_tracepoints(l);
		list_forms(l);
	}
	if (status != EXIT_DONE || l->pmus_only)
		return status;
	list_named_processors(l, n);
	if (l->n_pmus && is_search(l))
		return status;
	status = list_other_hosts(l, n);
	return status == EXIT_DONE ? list_metrics(l, n) : status;
}
