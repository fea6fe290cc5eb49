/* SPDX-License-Identifier: MIT */
/* pfm stat: refuses options that contradict each other, tasks that do not exist and invalid
 * lists of events. */
#include "stat_options.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int check_option_conflicts(struct command_args *args, const struct stat_job *job)
{
	bool tasks = job->n_pids || job->n_tids, cpus = job->all_cpus || job->cpus;

	if (!job->command && !tasks && !cpus && !job->dry_run)
		return report_usage_error(
			args,
			"expected what to count: -- COMMAND, -p PID, -t TID, -a, -C CPUS or -G "
			"NAME.");
	if (job->repeat > 1 && !job->command)
		return report_usage_error(args, "--repeat needs a command.");
	if (job->repeat > 1 && job->interval)
		return report_usage_error(args, "--repeat and --interval cannot be combined.");
	if (job->table && job->repeat < 2)
		return report_usage_error(args, "--table needs --repeat.");
	if (job->intervals && !job->interval)
		return report_usage_error(args, "--interval-count needs --interval.");
	if (job->by >= BY_CPU && job->by <= BY_NODE && !cpus)
		return report_usage_error(args, "The --per-... options need -a or -C.");
	if (job->by == BY_THREAD && !tasks)
		return report_usage_error(args, "--per-thread needs -p or -t.");
	if (tasks && job->cgroups)
		return report_usage_error(
			args, "-p and -t (tasks) cannot be combined with -G (control groups).");
	if (tasks && cpus)
		return report_usage_error(
			args, "-p and -t (tasks) cannot be combined with -a and -C (CPUs).");
	if (job->json && job->separator)
		return report_usage_error(args, "--json and -x cannot be combined.");
	if (job->format && (job->json || job->separator))
		return report_usage_error(args, "--format cannot be combined with --json or -x.");
	if (job->format && job->repeats)
		return report_usage_error(args, "--format and --repeat cannot be combined: a "
		                                "counter is not the mean of runs.");
	if (job->html &&
	    ((!job->metric_names.n && !job->topdown) || job->interval || has_row_labels(job)))
		return report_usage_error(args, "--html needs -M or --topdown, and cannot be "
		                                "combined with -I or the --per-... options.");
	if (job->start_off && !job->control.on)
		return report_usage_error(args, "--delay -1 needs --control.");
	if (job->control.on && job->repeats)
		return report_usage_error(args, "--control and --repeat cannot be combined.");
	if (job->rotation.is_on && (job->repeats || job->n_filters || job->model))
		return report_usage_error(
			args,
			"--rotate cannot be combined with --repeat, --filter or --device-model.");
	if (job->rotation.n_wishes && !job->rotation.is_on)
		return report_usage_error(args, "--wish requires --rotate.");
	if (job->append && !job->output)
		return report_usage_error(args, "--append needs --output.");
	if (job->has_header && !job->separator)
		return report_usage_error(args, "--no-header needs -x.");
	return EXIT_DONE;
}

static bool is_task(int id)
{
	return kill(id, 0) == 0 || errno != ESRCH;
}

int check_stat_tasks(const struct stat_job *job)
{
	unsigned n = job->n_pids + job->n_tids;

	for (unsigned i = 0; i < n; i++)
		if (is_task(i < job->n_pids ? job->pids[i] : job->tids[i - job->n_pids]))
			return EXIT_DONE;
	if (n == 0 || job->json || job->dry_run)
		return EXIT_DONE;
	fprintf(stderr, "pfm stat: %s %d does not exist\n", job->n_pids ? "process" : "thread",
	        job->n_pids ? job->pids[0] : job->tids[0]);
	return EXIT_REFUSED;
}

const char *find_list_gap(const char *list)
{
	const char *at = strchr(list, ',') == list ? list : strstr(list, ",,"),
		   *last = list + strlen(list) - 1;

	if (strchr(list, '/') || (!at && *last != ','))
		return NULL; /* commas between slashes separate terms */
	return !at ? last : at + (at != list);
}

/* Reports, and returns true, if an event of pfm's own is in a group, or has a suffix, which only
 * kernel events have. */
static bool refuse_grouped_own_event(const struct stat_job *job, const char *text)
{
	pfm_error_t error;
	char word[32];
	size_t len;

	for (const char *at = text; *at; at += len + (at[len] != 0)) {
		len = strcspn(at, "{},:/ ");
		if (at[len] == 0 && at == text)
			return false;
		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 0), at);
		if (!find_own_event(word) || (at > text && !strchr("{, ", at[-1])))
			continue;
		report_culprit(
			&error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, (size_t)(at - text),
			(size_t)(at - text) + len,
			"pfm measures this time itself: write it outside of groups and without "
			"qualifiers");
		report_stat_refusal(job, text, &error);
		return true;
	}
	return false;
}

int check_stat_events(const struct stat_job *job)
{
	size_t at = job->gap ? (size_t)(find_list_gap(job->gap) - job->gap) : 0;
	pfm_error_t error;

	for (unsigned i = 0; i < job->events.n && !job->gap; i++) {
		if (refuse_grouped_own_event(job, job->events.texts[i]))
			return EXIT_REFUSED;
		if (job->rotation.is_on && job->events.texts[i][0] == '{') {
			fprintf(stderr,
			        "%s: --rotate plans the groups: name the events of %s without "
			        "braces\n",
			        program_name, job->events.texts[i]);
			return EXIT_REFUSED;
		}
	}
	if (!job->gap)
		return EXIT_DONE;
	report_culprit(&error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, at, at + 1,
	               "expected an event before and after this comma");
	report_stat_refusal(job, job->gap, &error);
	return EXIT_REFUSED;
}
