/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: counts the regions of a command.
 *
 * The library counts in the process with the regions. Environment variables select the events, and
 * the results are written to a temporary folder. */
#include "common/pfm.h"
#include "html/page.h"
#include "stat/options.h"
#include "stat/region_results.h"
#include "stat/region_units.h"
#include "stat/stat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USUAL_EVENTS "task-clock,page-faults,context-switches,cycles,instructions"

enum { PATH_SIZE = 4096 };

/* ---- what is counted --------------------------------------------------------------------- */

static char *append_events(char *list, const struct event_list *more)
{
	for (unsigned i = 0; i < more->n && list; i++) {
		char *longer = NULL;

		if (asprintf(&longer, "%s%s%s", list, *list ? "," : "", more->texts[i]) < 0)
			longer = NULL;
		free(list);
		list = longer;
	}
	return list;
}

/* Refuses events that the library would refuse inside the command, whose output may hide the
 * message. */
static int check_events_alone(struct stat_job *job)
{
	pfm_session_options_t options = PFM_INIT(options);
	const struct event_list *lists[] = { &job->request.events, &job->request.metric_names };

	options.flags = PFM_SESSION_DRY_RUN;
	for (unsigned l = 0; l < 2; l++)
		for (unsigned i = 0; i < lists[l]->n; i++) {
			const char *text = lists[l]->texts[i];
			pfm_error_t error = PFM_INIT(error);
			pfm_session_t *s;

			if (pfm_open_session(&s, job->ctx, &options, &text, 1, &error)) {
				report_refusal(job->ctx, text, &error, WANTED_ANY);
				return EXIT_REFUSED;
			}
			pfm_close_session(s);
		}
	return EXIT_DONE;
}

/* The folder that -o names with a slash at its end; NULL for a file. */
static const char *get_output_folder(const struct stat_job *job)
{
	const char *output = job->options.output;

	return output && *output && output[strlen(output) - 1] == '/' ? output : NULL;
}

/* Formats without threads and single visits. */
static bool is_sum_format(const char *format)
{
	return strcmp(format, "table") == 0 || strcmp(format, "json") == 0 ||
	       strcmp(format, "csv") == 0;
}

static int check_options(struct command_args *args, const struct stat_job *job)
{
	if (!args->n && !job->targets.n_pids)
		return report_usage_error(args, "--regions needs a command after --, or -p.");
	if (args->n && job->targets.n_pids)
		return report_usage_error(args, "-p shows regions of running processes: it cannot "
		                                "be combined with a command.");
	if (job->timing.interval && strcmp(job->regions.format, "table") != 0 &&
	    strcmp(job->regions.format, "json") != 0)
		return report_usage_error(args, "With -I, regions are a table or JSON.");
	if (job->timing.repeat > 1 && strcmp(job->regions.format, "table") != 0 &&
	    strcmp(job->regions.format, "json") != 0)
		return report_usage_error(args, "With -r, regions are a table or JSON.");
	if (job->timing.repeat > 1 && job->targets.n_pids)
		return report_usage_error(args, "-r needs a command after --; -p prints once.");
	if (job->timing.interval && job->targets.n_pids)
		return report_usage_error(args, "-I needs a command after --; -p prints once.");
	if (job->regions.visits &&
	    (job->timing.repeat > 1 || job->timing.interval || job->targets.n_pids))
		return report_usage_error(args, "--visits repeats a command: it cannot be combined "
		                                "with -r, -I or -p.");
	if (job->regions.visits &&
	    (job->options.by == BY_THREAD || !is_sum_format(job->regions.format)))
		return report_usage_error(args, "--visits adds up all threads: expected the format "
		                                "table, json or csv, without --per-thread.");
	if (job->options.separator && strcmp(job->options.separator, ",") != 0)
		return report_usage_error(args, "With --regions, -x needs a comma: -x ,");
	if (job->options.html && (strcmp(job->regions.format, "json") != 0 ||
	                          job->timing.interval || job->timing.repeat > 1))
		return report_usage_error(args, "With --regions, --html writes the page instead of "
		                                "a table: it cannot be combined with a format, -I "
		                                "or -r.");
	if (job->options.append && !job->options.output)
		return report_usage_error(args, "--append needs --output.");
	if (get_output_folder(job) && !is_one_file_each(job->regions.format))
		return report_usage_error(args, "-o %s: only likwid and papi write a folder.",
		                          job->options.output);
	return EXIT_DONE;
}

/* ---- the command ------------------------------------------------------------------------- */

/* Raises the limit of descriptors, because each thread has one for each event. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static _Noreturn void execute_command(char *const *command, const char *events,
                                      const struct stat_job *job,
                                      const struct region_folder *folder)
{
	char options[128], output[PATH_SIZE + 2];

	snprintf(options, sizeof(options), "keep-file,%s%s%s%s",
	         job->regions.has_gomp ? "gomp," : "",
	         job->regions.no_subtract ? "no-subtract," : "",
	         job->regions.has_system ? "system," : "",
	         job->options.by == BY_THREAD ? "per-thread," : "");
	snprintf(output, sizeof(output), "%s/", folder->results);
	inherit_region_folder(folder);
	setenv("PERFMON_REGIONS", events, 1);
	setenv("PERFMON_REGIONS_OPTIONS", options, 1);
	setenv("PERFMON_REGIONS_OUTPUT", output, 1);
	setenv("PERFMON_REGIONS_FORMAT", job->regions.format, 1);
	raise_file_limit();
	execvp(command[0], command);
	fprintf(stderr, "%s: cannot run '%s': %s\n", program_name, command[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

/* Prints the results of the running processes so far. */
static void print_snapshot(const struct stat_job *job, const struct region_folder *folder,
                           const struct region_command *run)
{
	struct region_collection results = { .format = job->regions.format,
		                             .is_snapshot = true,
		                             .command = run };
	FILE *out = strcmp(job->regions.format, "table") == 0 ? stderr : stdout;

	collect_region_results(&results, folder->results);
	fwrite(results.text, 1, results.size, out);
	fflush(out);
	free(results.text);
}

/* Waits for the command, and prints the results at each interval if there is one. SIGCHLD is
 * blocked. */
static void wait_for_command(const struct stat_job *job, const struct region_folder *folder,
                             struct region_command *run, const sigset_t *child)
{
	const uint64_t ns = job->timing.interval;
	const struct timespec interval = { .tv_sec = (time_t)(ns / 1000000000u),
		                           .tv_nsec = (long)(ns % 1000000000u) };

	for (;;) {
		pid_t ended = waitpid(run->pid, &run->status, ns ? WNOHANG : 0);

		if (ended == run->pid || (ended < 0 && errno != EINTR))
			return;
		if (ns && sigtimedwait(child, NULL, &interval) < 0 && errno == EAGAIN)
			print_snapshot(job, folder, run);
	}
}

static volatile sig_atomic_t command_pid;

/* Passes a request to end to the command, whose results are still needed. */
static void forward_signal(int number)
{
	if (command_pid > 0)
		kill((pid_t)command_pid, number);
}

static const int passed_signals[] = { SIGTERM, SIGHUP }, ignored_signals[] = { SIGINT, SIGQUIT };

enum { SIGNALS = 2 };

/* Runs the command and waits for it. Ignores interrupts, which go to the command as well, because
 * its results are still needed. */
static int run_command(char *const *command, const char *events, const struct stat_job *job,
                       const struct region_folder *folder, struct region_command *run)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN },
			 forward = { .sa_handler = forward_signal, .sa_flags = SA_RESTART },
			 ignored[SIGNALS], passed[SIGNALS];
	sigset_t child, before;

	fflush(NULL);
	for (unsigned i = 0; i < SIGNALS; i++) {
		sigaction(ignored_signals[i], &ignore, &ignored[i]);
		sigaction(passed_signals[i], &forward, &passed[i]);
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	run->pid = fork();
	if (run->pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		for (unsigned i = 0; i < SIGNALS; i++) {
			sigaction(ignored_signals[i], &ignored[i], NULL);
			sigaction(passed_signals[i], &passed[i], NULL);
		}
		execute_command(command, events, job, folder);
	}
	command_pid = run->pid;
	if (run->pid > 0)
		wait_for_command(job, folder, run, &child);
	sigprocmask(SIG_SETMASK, &before, NULL);
	command_pid = 0;
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaction(ignored_signals[i], &ignored[i], NULL);
	return run->pid < 0 ? report_bad_option("no process", errno) : EXIT_DONE;
}

/* ---- results ----------------------------------------------------------------------------- */

static int write_region_page(const struct stat_job *job, char *const *command,
                             const struct region_collection *from)
{
	char title[REGION_PATH_SIZE];

	snprintf(title, sizeof(title), "Regions of %s",
	         command ? base_name(command[0]) : "processes");
	if (write_lines_page(title, "regions", from->text, job->options.html) != EXIT_DONE)
		return EXIT_REFUSED;
	return from->n_lost ? EXIT_REFUSED : EXIT_DONE;
}

int write_region_results(const struct stat_job *job, char *const *command,
                         struct region_collection *from, const char *on)
{
	FILE *out = strcmp(job->regions.format, "table") == 0 && command && !job->options.output
	                    ? stderr
	                    : stdout;
	bool has_failed;

	if (job->options.html && from->n_written)
		return write_region_page(job, command, from);
	if (job->regions.by &&
	    write_region_units(from, job->regions.by, strcmp(job->regions.format, "json") == 0))
		return EXIT_REFUSED;
	if (job->options.output && !from->folder)
		out = term_open(job->options.output, job->options.append);
	if (!out)
		return report_bad_option(job->options.output, errno);
	if (*on && out == stderr)
		fprintf(out, "Regions are read from perfmon, %s.\n", on);
	has_failed = fwrite(from->text, 1, from->size, out) != from->size;
	has_failed |= fflush(out) != 0 || ferror(out);
	if (job->options.output && !from->folder)
		has_failed |= fclose(out) != 0;
	if (has_failed)
		return report_bad_option(job->options.output ? job->options.output : "results",
		                         errno);
	if (!from->n_written && !from->n_lost)
		report_no_region(command ? command[0] : "the process", on);
	return from->n_written && !from->n_lost ? EXIT_DONE : EXIT_REFUSED;
}

int run_region_command(const struct stat_job *job, char *const *command, const char *events,
                       struct region_collection *results)
{
	struct region_command run = { 0 };
	struct region_folder folder;
	int rc = make_region_folder(&folder, job->regions.keeps_folder);

	if (rc)
		return report_bad_option(folder.path, rc);
	rc = run_command(command, events, job, &folder, &run);
	if (rc == EXIT_DONE) {
		results->command = &run;
		collect_region_results(results, folder.results);
		results->command = NULL;
		rc = child_get_status(command[0], run.status);
	}
	remove_region_folder(&folder);
	return rc;
}

/* Writes the results after the folder is removed: a reader of a pipe may have gone. */
static int run_and_report(const struct command_args *args, struct stat_job *job, const char *events,
                          const char *on, unsigned run)
{
	struct region_collection results = { .format = get_collected_format(job),
		                             .folder = get_output_folder(job),
		                             .run = run };
	int rc = run_region_command(job, args->operands, events, &results), reported = EXIT_DONE;

	if (results.text)
		reported = write_region_results(job, args->operands, &results, on);
	free(results.text);
	return rc == EXIT_DONE ? reported : rc;
}

/* Runs the command once, or as often as requested, until a run fails. */
static int run_repeatedly(const struct command_args *args, struct stat_job *job, const char *events)
{
	const unsigned n = job->timing.repeat > 1 ? job->timing.repeat : 1;
	int status = EXIT_DONE;
	char on[128];

	if (get_output_folder(job) && mkdir(job->options.output, 0777) != 0)
		return report_bad_option(job->options.output, errno);
	load_region_adapters(job, on, sizeof(on));
	if (job->regions.visits)
		return count_region_visits(job, args->operands, events, on);
	for (unsigned i = 0; status == EXIT_DONE && i < n; i++) {
		status = run_and_report(args, job, events, on, n > 1 ? i + 1 : 0);
		job->options.append = job->options.output != NULL;
	}
	return status;
}

const char *get_collected_format(const struct stat_job *job)
{
	return job->regions.by ? "json" : job->regions.format;
}

int set_region_unit(struct command_args *args, struct stat_job *job, const char *name)
{
	enum region_unit by;

	if (!find_region_unit(name, &by))
		return report_usage_error(args, "--by: expected rank, process or thread, got '%s'.",
		                          name);
	job->regions.by = by;
	return -1;
}

int show_running_regions(struct stat_job *job)
{
	struct region_collection results = { .format = get_collected_format(job) };
	int rc;

	collect_running_regions(&results, job->targets.pids, job->targets.n_pids);
	if (results.n_lost && !results.n_written)
		rc = EXIT_REFUSED;
	else
		rc = write_region_results(job, NULL, &results, "");
	free(results.text);
	return rc;
}

/* --json and -x choose a format unless --regions=FORMAT does. */
static int choose_format(struct command_args *args, struct stat_job *job)
{
	const char *format = job->options.json || job->options.html ? "json" : "csv";

	if (!job->options.json && !job->options.separator && !job->options.html)
		return EXIT_DONE;
	if ((job->options.json && job->options.separator) ||
	    (strcmp(job->regions.format, "table") != 0 && strcmp(job->regions.format, format) != 0))
		return report_usage_error(args,
		                          "expected one format: --regions=FORMAT, --json or -x.");
	job->regions.format = format;
	return EXIT_DONE;
}

int check_region_format(struct command_args *args, struct stat_job *job)
{
	int rc = choose_format(args, job);

	if (rc != EXIT_DONE)
		return rc;
	if (!is_region_format(job->regions.format))
		return report_usage_error(args,
		                          "--regions: expected table, json, csv, likwid, papi, "
		                          "chrome or firefox, got '%s'.",
		                          job->regions.format);
	if (job->regions.by && strcmp(job->regions.format, "table") != 0 &&
	    strcmp(job->regions.format, "json") != 0)
		return report_usage_error(args, "With --by, regions are a table or JSON.");
	if (job->regions.by && (job->timing.repeat > 1 || job->timing.interval ||
	                        job->regions.visits || job->options.html))
		return report_usage_error(args, "--by shows one run: it cannot be combined with "
		                                "-r, -I, --visits or --html.");
	return EXIT_DONE;
}

int prepare_region_events(struct stat_job *job, char **events)
{
	*events = NULL;
	if (!job->request.events.n && !job->request.metric_names.n &&
	    !event_list_add(&job->request.events, USUAL_EVENTS))
		return report_bad_option("events", ENOMEM);
	job->ctx = open_context(job->options.model);
	if (!job->ctx || check_events_alone(job) != EXIT_DONE)
		return EXIT_REFUSED;
	*events = append_events(append_events(strdup(""), &job->request.events),
	                        &job->request.metric_names);
	return *events ? EXIT_DONE : report_bad_option("events", ENOMEM);
}

int count_regions(struct command_args *args, struct stat_job *job)
{
	char *events;
	int status;

	status = check_option_modes(args, job, STAT_REGIONS);
	if (status == EXIT_DONE)
		status = check_region_format(args, job);
	if (status == EXIT_DONE)
		status = check_options(args, job);
	if (status != EXIT_DONE)
		return status;
	if (job->targets.n_pids)
		return show_running_regions(job);
	status = prepare_region_events(job, &events);
	if (status == EXIT_DONE)
		status = run_repeatedly(args, job, events);
	free(events);
	return status;
}
