/* SPDX-License-Identifier: MIT */
/* pfm stat: refuses options that contradict each other, tasks that do not exist and invalid
 * lists of events. */
#include "stat/options.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int check_option_conflicts(struct command_args *args, const struct stat_job *job)
{
	const bool tasks = job->targets.n_pids || job->targets.n_tids,
		   cpus = job->options.all_cpus || job->options.cpus;
	const struct option_rule rules[] = {
		{ !job->command && !tasks && !cpus && !job->options.dry_run,
		  "expected what to count: -- COMMAND, -p PID, -t TID, -a, -C CPUS or -G NAME." },
		{ job->timing.repeat > 1 && !job->command, "--repeat needs a command." },
		{ job->timing.repeat > 1 && job->timing.interval,
		  "--repeat and --interval cannot be combined." },
		{ job->options.table && job->timing.repeat < 2, "--table needs --repeat." },
		{ job->timing.intervals && !job->timing.interval,
		  "--interval-count needs --interval." },
		{ job->options.by >= BY_CPU && job->options.by <= BY_NODE && !cpus,
		  "The --per-... options need -a or -C." },
		{ job->options.by == BY_THREAD && !tasks, "--per-thread needs -p or -t." },
		{ tasks && job->targets.cgroups,
		  "-p and -t (tasks) cannot be combined with -G (control groups)." },
		{ tasks && cpus, "-p and -t (tasks) cannot be combined with -a and -C (CPUs)." },
		{ job->options.json && job->options.separator,
		  "--json and -x cannot be combined." },
		{ job->options.format && (job->options.json || job->options.separator),
		  "--format cannot be combined with --json or -x." },
		{ job->options.format && job->timing.repeats,
		  "--format and --repeat cannot be combined: a counter is not the mean of runs." },
		{ job->options.html && !job->timing.interval &&
		          ((!job->request.metric_names.n && !job->request.topdown) ||
		           has_row_labels(job)),
		  "--html needs -I, --regions, -M or --topdown; without -I it cannot be combined "
		  "with the --per-... options." },
		{ job->timing.start_off && !job->control.on, "--delay -1 needs --control." },
		{ job->control.on && job->timing.repeats,
		  "--control and --repeat cannot be combined." },
		{ job->rotation.is_on &&
		          (job->timing.repeats || job->request.n_filters || job->options.model),
		  "--rotate cannot be combined with --repeat, --filter or --device-model." },
		{ job->rotation.n_wishes && !job->rotation.is_on, "--wish requires --rotate." },
		{ job->options.append && !job->options.output, "--append needs --output." },
		{ job->report.has_header && !job->options.separator, "--no-header needs -x." },
	};

	return check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0]));
}

static bool is_task(int id)
{
	return kill(id, 0) == 0 || errno != ESRCH;
}

int check_stat_tasks(const struct stat_job *job)
{
	unsigned n = job->targets.n_pids + job->targets.n_tids;

	for (unsigned i = 0; i < n; i++)
		if (is_task(i < job->targets.n_pids ? job->targets.pids[i]
		                                    : job->targets.tids[i - job->targets.n_pids]))
			return EXIT_DONE;
	if (n == 0 || job->options.json || job->options.dry_run)
		return EXIT_DONE;
	fprintf(stderr, "pfm stat: %s %d does not exist\n",
	        job->targets.n_pids ? "process" : "thread",
	        job->targets.n_pids ? job->targets.pids[0] : job->targets.tids[0]);
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
	size_t at =
		job->request.gap ? (size_t)(find_list_gap(job->request.gap) - job->request.gap) : 0;
	pfm_error_t error;

	for (unsigned i = 0; i < job->request.events.n && !job->request.gap; i++) {
		if (refuse_grouped_own_event(job, job->request.events.texts[i]))
			return EXIT_REFUSED;
		if (job->rotation.is_on && job->request.events.texts[i][0] == '{') {
			fprintf(stderr,
			        "%s: --rotate plans the groups: name the events of %s without "
			        "braces\n",
			        program_name, job->request.events.texts[i]);
			return EXIT_REFUSED;
		}
	}
	if (!job->request.gap)
		return EXIT_DONE;
	report_culprit(&error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, at, at + 1,
	               "expected an event before and after this comma");
	report_stat_refusal(job, job->request.gap, &error);
	return EXIT_REFUSED;
}
