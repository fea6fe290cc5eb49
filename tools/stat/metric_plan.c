/* SPDX-License-Identifier: MIT */
/* pfm stat: finds metrics by name, and plans groups of their events, so that the events of a group
 * are counted at the same times. */
#include "stat/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_METRICS = 1024, MAX_DEPTH = 16 };

/* ---- names to metrics ------------------------------------------------------------------------ */

bool add_stat_metric(struct stat_metrics *list, int pmu, unsigned event)
{
	struct stat_metric *more = realloc(list->at, (list->n + 1) * sizeof(*more));

	if (!more)
		return false;
	list->at = more;
	for (unsigned i = 0; i < list->n; i++)
		if (more[i].pmu == pmu && more[i].event == event)
			return true;
	more[list->n++] = (struct stat_metric){ .pmu = pmu, .event = event };
	return true;
}

/* True for metrics outside of the tree, whose groups are not levels of the tree. */
static bool is_info_metric(const char *name)
{
	return strncasecmp(name, "info_", 5) == 0 || strncasecmp(name, "tma_info_", 9) == 0 ||
	       strncasecmp(name, "bottleneck", 10) == 0 ||
	       strncasecmp(name, "tma_bottleneck", 14) == 0;
}

struct group_expansion {
	struct stat_job *job;
	bool tree, failed;
	unsigned members;
};

static bool add_member(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct group_expansion *g = arg;

	g->members++;
	if (g->job->result.metrics.n < MAX_METRICS && !(g->tree && is_info_metric(info->name)))
		g->failed = !add_stat_metric(&g->job->result.metrics, pmu, event);
	return !g->failed;
}

/* Adds the metrics of group @name. @tree: only levels of the tree. *@members: the number of its
 * metrics, including those added before. False without memory. */
static bool add_group(struct stat_job *job, const char *name, bool tree, unsigned *members)
{
	struct group_expansion g = { .job = job, .tree = tree };
	bool is_visited = visit_group_metrics(job->ctx, name, add_member, &g);

	*members = g.members;
	return is_visited && !g.failed;
}

/* Adds the metric or the group of metrics called @name. Returns an exit status. */
static int add_name(struct stat_job *job, const char *name)
{
	static struct metric_use m;
	pfm_error_t error = PFM_INIT(error);
	int rc = find_metric(job->ctx, NULL, name, &m, &error);
	unsigned members;

	if (!rc)
		return add_stat_metric(&job->result.metrics, m.pmu, m.event)
		               ? EXIT_DONE
		               : report_bad_option("metrics", ENOMEM);
	if (!add_group(job, name, false, &members))
		return report_bad_option("metrics", ENOMEM);
	if (members)
		return EXIT_DONE;
	report_stat_refusal(job, name, &error);
	if (error.kind == PFM_KIND_UNKNOWN_EVENT && !job->options.json)
		fputs("  'pfm list --metrics' lists the metrics\n", stderr);
	if (!job->request.keeps_refused)
		return EXIT_REFUSED;
	return add_refused_name(&job->request, name, &error, true)
	               ? EXIT_DONE
	               : report_bad_option("metrics", ENOMEM);
}

bool add_session_metrics(struct stat_result *result, const pfm_session_t *session)
{
	pfm_session_metric_t m = PFM_INIT(m);

	for (unsigned i = 0; i < pfm_count_metrics(session); i++)
		if (!pfm_compute_session_metric(session, i, NULL, 0, 0, &m) &&
		    !add_stat_metric(&result->metrics, m.pmu, m.event))
			return false;
	return true;
}

/* ---- what they need -------------------------------------------------------------------------- */

/* Lists the metrics as "PMU::NAME" for the plan, followed by @more empty places. */
static char **list_metric_texts(const struct stat_job *job, unsigned more)
{
	char **texts = calloc(job->result.metrics.n + more + 1, sizeof(*texts));
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_metric_info_t info = PFM_INIT(info);

	for (unsigned i = 0; texts && i < job->result.metrics.n; i++) {
		size_t size;

		if (pfm_describe_pmu(job->ctx, job->result.metrics.at[i].pmu, &pmu) ||
		    pfm_describe_metric(job->ctx, job->result.metrics.at[i].pmu,
		                        job->result.metrics.at[i].event, &info))
			continue;
		size = strlen(pmu.name) + strlen(info.name) + 3;
		texts[i] = malloc(size);
		if (texts[i])
			snprintf(texts[i], size, "%s::%s", pmu.name, info.name);
	}
	return texts;
}

/* Adds the groups of @plan as texts for a session. */
static bool add_plan(struct stat_request *request, const pfm_plan_t *plan)
{
	bool is_added = true;
	int len;

	for (unsigned g = 0; is_added && (len = pfm_print_plan_group(plan, g, NULL, 0)) >= 0; g++) {
		char *text = malloc((size_t)len + 1);

		if (text)
			pfm_print_plan_group(plan, g, text, (size_t)len + 1);
		is_added = text && event_list_add(&request->events, text);
		free(text);
	}
	return is_added;
}

/* Appends the events of -e to the @n @texts, except pfm's own: with --rotate they are in the plan.
 * Returns the number of texts. */
static unsigned move_events(struct stat_request *request, char **texts, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < request->events.n; i++)
		if (find_own_event(request->events.texts[i]))
			request->events.texts[kept++] = request->events.texts[i];
		else
			texts[n++] = request->events.texts[i];
	request->events.n = kept;
	return n;
}

/* The counters that a plan must not use, so that @n_free of each core PMU stay free. */
static uint64_t count_kept_counters(const pfm_ctx_t *ctx, unsigned n_free)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t e = PFM_INIT(e);
	uint64_t general = 0, kept = 0;
	int n = pfm_count_pmus(ctx);

	for (int i = 0; i < n && n_free; i++) {
		if (pfm_describe_pmu(ctx, i, &pmu) || !(pmu.flags & PFM_PMU_HOST) ||
		    !(pmu.flags & PFM_PMU_CORE))
			continue;
		for (unsigned k = 0; k < pmu.n_events; k++)
			if (!pfm_describe_event(ctx, i, k, &e))
				general |= e.counters & UINT32_MAX;
	}
	/* Takes the highest counters: events that only some counters can count need the lowest. */
	for (int c = 31; c >= 0 && n_free; c--)
		if (general >> c & 1) {
			kept |= (uint64_t)1 << c;
			n_free--;
		}
	return kept;
}

/* Undoes move_events(), for another plan. Returns the number of texts that are left. */
static unsigned restore_events(struct stat_request *request, char **texts, unsigned n_metrics,
                               unsigned n)
{
	for (unsigned i = n_metrics; i < n; i++)
		request->events.texts[request->events.n++] = texts[i];
	return n_metrics;
}

/* Notes the metric that was refused. Returns its number; -1 if it is none, or if refusals end the
 * command. */
static int note_refused_metric(struct stat_job *job, char *const *texts, const pfm_error_t *error)
{
	const bool is_metric = error->event >= 0 && (unsigned)error->event < job->result.metrics.n;

	return job->request.keeps_refused && is_metric &&
	                       add_refused_name(&job->request, texts[error->event], error, true)
	               ? error->event
	               : -1;
}

/* Plans the groups. *@culprit: number of the metric for which that was refused, or -1. */
static int plan_metrics(struct stat_job *job, int *culprit)
{
	unsigned n = job->result.metrics.n;
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_t *plan = NULL;
	char **texts = list_metric_texts(job, job->request.events.n);
	int rc = PFMLIB_ERR_NOMEM;
	int status = EXIT_DONE;

	*culprit = -1;
	options.taken = count_kept_counters(job->ctx, job->request.counters_free);
	options.flags = job->request.counters_free ? 0 : PFM_PLAN_RESERVED_IF_NEEDED;
	if (texts && job->rotation.is_on)
		n = move_events(&job->request, texts, n);
	if (texts)
		rc = pfm_create_plan(&plan, job->ctx, (const char *const *)texts, n, &options,
		                     &error);
	if (rc) {
		report_stat_refusal(job, texts && error.event >= 0 ? texts[error.event] : "",
		                    &error);
		status = EXIT_REFUSED;
		*culprit = texts ? note_refused_metric(job, texts, &error) : -1;
	} else if (job->rotation.is_on &&
	           make_schedule(&job->rotation, plan, (const char *const *)texts, n) !=
	                   EXIT_DONE) {
		status = EXIT_REFUSED;
	} else if (!add_plan(&job->request, plan)) {
		status = report_bad_option("metrics", ENOMEM);
	}
	pfm_close_plan(plan);
	if (*culprit >= 0)
		n = restore_events(&job->request, texts, job->result.metrics.n, n);
	for (unsigned i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
	return status;
}

/* Plans the groups of those metrics that this machine can count. */
static int plan_possible_metrics(struct stat_job *job)
{
	struct stat_metrics *metrics = &job->result.metrics;
	int culprit = -1, status;

	do {
		status = plan_metrics(job, &culprit);
		if (culprit < 0)
			return status;
		metrics->n--;
		memmove(metrics->at + culprit, metrics->at + culprit + 1,
		        (metrics->n - (unsigned)culprit) * sizeof(*metrics->at));
	} while (metrics->n);
	return job->rotation.is_on ? plan_metrics(job, &culprit) : EXIT_DONE;
}

/* Adds the parts of the requested metrics. False without memory. */
static bool add_child_metrics(struct stat_job *job)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_metric_info_t info = PFM_INIT(info);
	unsigned n = job->result.metrics.n;

	for (unsigned i = 0; i < n; i++) {
		struct stat_metric m = job->result.metrics.at[i];

		if (pfm_describe_pmu(job->ctx, m.pmu, &pmu))
			continue;
		for (unsigned e = 0; e < pmu.n_events && job->result.metrics.n < MAX_METRICS; e++)
			if (!pfm_describe_metric(job->ctx, m.pmu, e, &info) &&
			    !is_info_metric(info.name) &&
			    is_child_metric(job, &(struct stat_metric){ .pmu = m.pmu, .event = e },
			                    &m) &&
			    !add_stat_metric(&job->result.metrics, m.pmu, e))
				return false;
	}
	return true;
}

/* Removes metrics from @first on whose level in the vendor's list is below @level. Levels may
 * differ by more than one from the parent's. */
static void drop_deeper_levels(struct stat_job *job, unsigned level, unsigned first)
{
	pfm_metric_info_t info = PFM_INIT(info);
	unsigned n = first;

	for (unsigned i = first; i < job->result.metrics.n; i++)
		if (pfm_describe_metric(job->ctx, job->result.metrics.at[i].pmu,
		                        job->result.metrics.at[i].event, &info) ||
		    info.level <= level)
			job->result.metrics.at[n++] = job->result.metrics.at[i];
	job->result.metrics.n = n;
}

/* Adds levels 1 to @level of the tree of top-down analysis. Vendors' lists have groups for the
 * first levels or for all; for other levels, metrics have a parent. */
static int add_topdown(struct stat_job *job, unsigned level)
{
	static const char *const names[] = { "TmaL", "Topdown_L", "PipelineL" };
	unsigned before = job->result.metrics.n, earlier, members;
	char group[24];

	for (unsigned i = 1; i <= level && i <= MAX_DEPTH; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			snprintf(group, sizeof(group), "%s%u", names[k], i);
			if (!add_group(job, group, true, &members))
				return report_bad_option("metrics", ENOMEM);
		}
	do {
		earlier = job->result.metrics.n;
		if (!add_child_metrics(job))
			return report_bad_option("metrics", ENOMEM);
	} while (job->result.metrics.n > earlier);
	drop_deeper_levels(job, level, before);
	if (job->result.metrics.n > before)
		return EXIT_DONE;
	fprintf(stderr,
	        "%s: the processor of this machine has no top-down metrics; name those of another "
	        "PMU with -M PMU::TmaL1\n",
	        program_name);
	return EXIT_REFUSED;
}

int plan_stat_metrics(struct stat_job *job)
{
	int status = EXIT_DONE;

	for (unsigned i = 0; i < job->request.metric_names.n && status == EXIT_DONE; i++)
		status = add_name(job, job->request.metric_names.texts[i]);
	if (status == EXIT_DONE && job->request.topdown)
		status = add_topdown(job, job->request.topdown);
	if (status == EXIT_DONE && !order_metric_tree(job))
		status = report_bad_option("metrics", ENOMEM);
	if (status == EXIT_DONE && (job->result.metrics.n || job->rotation.is_on))
		status = plan_possible_metrics(job);
	if (status != EXIT_DONE || job->request.events.n)
		return status;
	if (job->request.n_refused) {
		fprintf(stderr, "%s: nothing can be counted\n", program_name);
		return EXIT_REFUSED;
	}
	fprintf(stderr,
	        "%s: these metrics need no events: name an event to count with -e as well\n",
	        program_name);
	return EXIT_REFUSED;
}

void free_stat_metrics(struct stat_job *job)
{
	free(job->result.metrics.at);
	free(job->result.ratios.at);
	event_list_free(&job->request.metric_names);
	while (job->request.n_refused)
		free(job->request.refused[--job->request.n_refused].text);
	free(job->request.refused);
	job->request.refused = NULL;
	free_rotation(&job->rotation);
}
