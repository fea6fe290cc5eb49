/* SPDX-License-Identifier: MIT */
/* pfm stat: counts events of a command, a process, CPUs or the whole system. */
#include "series/series.h"
#include "simulate/simulate.h"
#include "stat/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int report_bad_option(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_name, what, strerror(err));
	return EXIT_REFUSED;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Appends to the heading, which is cut if it is too long. */
static void append_heading(struct stat_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void append_heading(struct stat_job *job, const char *format, ...)
{
	size_t at = strlen(job->report.target);
	va_list ap;

	va_start(ap, format);
	vsnprintf(job->report.target + at, TARGET_MAX - at, format, ap);
	va_end(ap);
}

static void append_task_ids(struct stat_job *job, const char *one, const char *several,
                            const int *ids, unsigned n)
{
	unsigned i;

	if (n)
		append_heading(job, "%s%s ", *job->report.target ? ", " : "",
		               n > 1 ? several : one);
	for (i = 0; i < n; i++)
		append_heading(job, "%s%d", i ? "," : "", ids[i]);
}

/* Ends a heading that was cut with a complete character. */
static void end_heading(char *text)
{
	size_t len = strlen(text);

	if (len + 1 < TARGET_MAX)
		return;
	while (len && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	if (len && (unsigned char)text[len - 1] >= 0xc0)
		text[len - 1] = 0;
}

static void describe_target(struct stat_job *job)
{
	size_t at;

	append_task_ids(job, "process", "processes", job->targets.pids, job->targets.n_pids);
	append_task_ids(job, "thread", "threads", job->targets.tids, job->targets.n_tids);
	if (job->targets.cgroups)
		append_heading(job, "control group%s %s%s",
		               strchr(job->targets.cgroups, ',') ? "s" : "", job->targets.cgroups,
		               job->options.cpus ? " on " : "");
	if (job->options.cpus)
		append_heading(job, "CPUs %s", job->options.cpus);
	else if (job->options.all_cpus && !job->targets.cgroups)
		append_heading(job, "all CPUs");
	if (*job->report.target && job->command)
		append_heading(job, " during ");
	at = strlen(job->report.target);
	if (job->command)
		quote_command(job->command, job->report.target + at, TARGET_MAX - at);
	end_heading(job->report.target);
}

static int print_dry_run(struct stat_job *job)
{
	int status = make_targets(job);
	unsigned i;

	if (status == EXIT_DONE)
		status = open_targets(job, 0);
	for (i = 0; i < job->targets.n && status == EXIT_DONE; i++)
		if (job->targets.list[i].session)
			report_plan(job->report.out, job->options.json, job->ctx,
			            job->targets.list[i].session);
	return status;
}

static int count_command(struct stat_job *job)
{
	int status;

	job->ctx = open_context(job->options.model);
	if (!job->ctx)
		return EXIT_REFUSED;
	status = plan_stat_metrics(job);
	if (status != EXIT_DONE)
		return status;
	if (job->options.dry_run)
		return print_dry_run(job);
	status = make_targets(job);
	return status == EXIT_DONE ? count_runs(job) : status;
}

static int open_output(struct stat_job *job)
{
	struct stat there;

	if (job->options.append && stat(job->options.output, &there) == 0 && there.st_size > 0)
		job->report.has_header = true;
	/* Counts go to standard error if a command uses standard output. */
	job->report.out =
		job->options.json || job->options.format || !job->command || job->options.dry_run
			? stdout
			: stderr;
	if (job->options.output)
		job->report.out = term_open(job->options.output, job->options.append);
	if (job->report.out)
		return EXIT_DONE;
	fprintf(stderr, "%s: %s: %s\n", program_name, job->options.output,
	        describe_output_error(errno));
	return EXIT_REFUSED;
}

static int prepare_job(struct command_args *args, struct stat_job *job)
{
	int status = check_stat_options(args, job);

	if (status == EXIT_DONE)
		status = open_output(job);
	if (status == EXIT_DONE)
		status = check_stat_events(job);
	if (status == EXIT_DONE)
		describe_target(job);
	return status;
}

/* Returns -1 and errno if something could not be written, now or @before. */
static int close_output(FILE *out, int before)
{
	bool failed = ferror(out) != 0;

	errno = 0;
	if (fclose(out) == 0 && !failed)
		return 0;
	if (before)
		errno = before;
	else if (!errno)
		errno = EIO;
	return -1;
}

static int run_stat(struct command_args *args)
{
	struct stat_job job = { .timing.repeat = 1 };
	int status;

	if (is_simulation(args->argv))
		return run_pfm_command(&cmd_simulate, args->argc, args->argv);
	status = read_stat_options(args, &job);
	if (status < 0 && args->n && has_several_commands(args->operands))
		status = (job.regions.format ? compare_regions : compare_commands)(args, &job);
	else if (status < 0 && job.regions.format)
		status = count_regions(args, &job);
	else if (status < 0)
		status = prepare_job(args, &job);
	else
		job.report.out = NULL;
	if (status == EXIT_DONE && job.report.out)
		status = count_command(&job);
	if (job.options.output && job.report.out &&
	    close_output(job.report.out, job.report.write_error) != 0) {
		report_bad_option(job.options.output, errno);
		status = status == EXIT_DONE ? EXIT_REFUSED : status;
	}
	/* Standard error itself is full, so that nothing can be reported. */
	if (!job.options.output && job.report.out == stderr && (fflush(stderr) || ferror(stderr)) &&
	    status == EXIT_DONE)
		status = EXIT_REFUSED;
	free_series(&job.report);
	free_targets(&job);
	pfm_close_context(job.ctx);
	while (job.request.n_filters)
		free(job.request.filters[--job.request.n_filters]);
	free(job.request.filters);
	event_list_free(&job.request.events);
	free_stat_metrics(&job);
	free(job.targets.pids);
	free(job.targets.tids);
	free(job.targets.cgroups);
	free(job.result.run_seconds);
	return status;
}

const struct command cmd_stat = {
	.name = "stat",
	.usage = "[-e EVENT,...] [OPTION]... -- COMMAND [ARG]...\n"
		 "[-e EVENT,...] [-r N] -- COMMAND [ARG]... :: COMMAND [ARG]... [:: ...]\n"
		 "[-e EVENT,...] [OPTION]... -p PID,... | -t TID,... | -a | -C CPUS | -G NAME [-- "
		 "COMMAND [ARG]...]",
	.summary = "count events of a command, a process, CPUs or the system",
	.about = "Prints each count with its quality: exact, scaled (it shared a counter and was "
		 "extrapolated), partial, not counted, not supported. Where a count is not exact, "
		 "the cause and the remedy follow. An event that was not counted is never printed "
		 "as a number.\n"
		 "A comma separates events. KEY=VALUE and the words edge, inv, os and usr belong "
		 "to the event before them; commas inside slashes and braces do not separate. With "
		 "-p, -t, -a, -C or -G a command only sets the duration.\n"
		 "Counts of a command go to standard error; all others, and JSON, go to standard "
		 "output. The exit status is the command's; without a command, or if the command's "
		 "is 0, it is 1 when nothing could be counted.",
	.examples = "The default events of a command\n"
		    "pfm stat -- make\n"
		    "A group, counted at the same times, and an event in user mode\n"
		    "pfm stat -e '{cycles,instructions}' -e page-faults:u -- ./work\n"
		    "Ten runs: mean and deviation\n"
		    "pfm stat -r 10 -e page-faults,context-switches -- ./work\n"
		    "The system, every second, until interrupted\n"
		    "pfm stat -a -I 1000 -e sched:sched_switch,page-faults\n"
		    "Each thread of a process, for ten seconds\n"
		    "pfm stat -e context-switches --per-thread --timeout 10000 -p 1\n"
		    "Columns for a spreadsheet, each run appended\n"
		    "pfm stat -x , -o counts.csv --append -e task-clock,duration_time -- ./work\n"
		    "Only switches to process 1\n"
		    "pfm stat -a --timeout 1000 -e sched:sched_switch --filter 'next_pid == 1'\n"
		    "What would be programmed on this machine?\n"
		    "pfm stat --dry-run -e cycles:u,page-faults\n",
	.options = stat_options,
	.stops_at_operand = true,
	.run = run_stat
};
