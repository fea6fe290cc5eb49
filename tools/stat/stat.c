/* SPDX-License-Identifier: MIT */
/* pfm stat: counts events of a command, a process, CPUs or the whole system. */
#include "series/series.h"
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
	size_t at = strlen(job->target);
	va_list ap;

	va_start(ap, format);
	vsnprintf(job->target + at, TARGET_MAX - at, format, ap);
	va_end(ap);
}

static void append_task_ids(struct stat_job *job, const char *one, const char *several,
                            const int *ids, unsigned n)
{
	unsigned i;

	if (n)
		append_heading(job, "%s%s ", *job->target ? ", " : "", n > 1 ? several : one);
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

	append_task_ids(job, "process", "processes", job->pids, job->n_pids);
	append_task_ids(job, "thread", "threads", job->tids, job->n_tids);
	if (job->cgroups)
		append_heading(job, "control group%s %s%s", strchr(job->cgroups, ',') ? "s" : "",
		               job->cgroups, job->cpus ? " on " : "");
	if (job->cpus)
		append_heading(job, "CPUs %s", job->cpus);
	else if (job->all_cpus && !job->cgroups)
		append_heading(job, "all CPUs");
	if (*job->target && job->command)
		append_heading(job, " during ");
	at = strlen(job->target);
	if (job->command)
		quote_command(job->command, job->target + at, TARGET_MAX - at);
	end_heading(job->target);
}

static int print_dry_run(struct stat_job *job)
{
	int status = make_targets(job);
	unsigned i;

	if (status == EXIT_DONE)
		status = open_targets(job, 0);
	for (i = 0; i < job->n_parts && status == EXIT_DONE; i++)
		if (job->parts[i].session)
			report_plan(job->out, job->json, job->ctx, job->parts[i].session);
	return status;
}

static int count_command(struct stat_job *job)
{
	int status;

	job->ctx = open_context(job->model);
	if (!job->ctx)
		return EXIT_REFUSED;
	status = plan_stat_metrics(job);
	if (status != EXIT_DONE)
		return status;
	if (job->dry_run)
		return print_dry_run(job);
	status = make_targets(job);
	return status == EXIT_DONE ? count_runs(job) : status;
}

static int open_output(struct stat_job *job)
{
	struct stat there;

	if (job->append && stat(job->output, &there) == 0 && there.st_size > 0)
		job->has_header = true;
	/* Counts go to standard error if a command uses standard output. */
	job->out = job->json || job->format || !job->command || job->dry_run ? stdout : stderr;
	if (job->output)
		job->out = term_open(job->output, job->append);
	if (job->out)
		return EXIT_DONE;
	fprintf(stderr, "%s: %s: %s\n", program_name, job->output, describe_output_error(errno));
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
	struct stat_job job = { .repeat = 1 };
	int status = read_stat_options(args, &job);

	if (status < 0 && args->n && has_several_commands(args->operands))
		status = compare_commands(args, &job);
	else if (status < 0 && job.region_format)
		status = count_regions(args, &job);
	else if (status < 0)
		status = prepare_job(args, &job);
	else
		job.out = NULL;
	if (status == EXIT_DONE && job.out)
		status = count_command(&job);
	if (job.output && job.out && close_output(job.out, job.write_error) != 0) {
		report_bad_option(job.output, errno);
		status = status == EXIT_DONE ? EXIT_REFUSED : status;
	}
	/* Standard error itself is full, so that nothing can be reported. */
	if (!job.output && job.out == stderr && (fflush(stderr) || ferror(stderr)) &&
	    status == EXIT_DONE)
		status = EXIT_REFUSED;
	free_series(&job);
	free_targets(&job);
	pfm_close_context(job.ctx);
	while (job.n_filters)
		free(job.filters[--job.n_filters]);
	free(job.filters);
	event_list_free(&job.events);
	free_stat_metrics(&job);
	free(job.pids);
	free(job.tids);
	free(job.cgroups);
	free(job.run_seconds);
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
