/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: counts the regions of a command.
 *
 * The library counts in the process with the regions. Environment variables select the events, and
 * the results are written to a temporary folder. Adapters are small libraries that turn marks of
 * other interfaces into regions; the runtimes of those interfaces load them through environment
 * variables. */
#include "common/pfm.h"
#include "stat/options.h"
#include "stat/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USUAL_EVENTS "task-clock,page-faults,context-switches,cycles,instructions"

enum { PATH_SIZE = 4096 };

/* ---- adapters ---------------------------------------------------------------------------- */

static const struct adapter {
	const char *interface, *variable, *library;
	const char *mark; /* a text in programs that need the adapter preloaded; NULL: their runtime
	                     loads it */
	const char *older; /* variable of older runtimes, or NULL; newer ones refuse two values */
} adapters[] = {
	{ "ITT", "INTEL_LIBITTNOTIFY64", "libperfmon-itt.so", NULL, NULL },
	{ "NVTX", "NVTX_INJECTION64_PATH", "libperfmon-nvtx.so", NULL, NULL },
	{ "Kokkos", "KOKKOS_TOOLS_LIBS", "libperfmon-kokkos.so", NULL, "KOKKOS_PROFILE_LIBRARY" },
	{ "OpenMP", "OMP_TOOL_LIBRARIES", "libperfmon-ompt.so", NULL, NULL },
	{ "likwid", "LD_PRELOAD", "libperfmon-likwid.so", "likwid_marker", NULL },
	{ "PAPI", "LD_PRELOAD", "libperfmon-papi-hl.so", "PAPI_hl_", NULL },
};

enum { ADAPTERS = sizeof(adapters) / sizeof(adapters[0]) };

/* Finds the path of @command as execvp(3) does. False if it does not exist. */
static bool find_program(const char *command, char *path, size_t size)
{
	const char *at = getenv("PATH");

	if (strchr(command, '/') || !at)
		return (size_t)snprintf(path, size, "%s", command) < size &&
		       access(path, X_OK) == 0;
	for (size_t len; *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if ((size_t)snprintf(path, size, "%.*s/%s", (int)len, at, command) < size &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* True if the program's file contains @mark, such as the name of an imported function. */
static bool file_contains(const char *path, const char *mark)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(mark), kept = 0, n;
	char buf[65536];
	bool found = false;

	while (f && !found && (n = fread(buf + kept, 1, sizeof(buf) - kept, f)) > 0) {
		n += kept;
		found = memmem(buf, n, mark, len) != NULL;
		kept = n < len ? n : len;
		memmove(buf, buf + n - kept, kept);
	}
	if (f)
		fclose(f);
	return found;
}

static bool is_wanted(const struct adapter *a, const char *command)
{
	char path[PATH_SIZE];

	if (!a->mark)
		return !getenv(a->variable) && !(a->older && getenv(a->older));
	return find_program(command, path, sizeof(path)) && file_contains(path, a->mark);
}

/* Adds @path to a variable whose value is a list. */
static void add_to_variable(const char *name, const char *path)
{
	const char *before = getenv(name);
	char *list = NULL;

	if (before && *before && asprintf(&list, "%s:%s", path, before) < 0)
		list = NULL;
	setenv(name, list ? list : path, 1);
	free(list);
}

/* Sets the variables of installed adapters and lists these adapters in @on. */
static void switch_on_adapters(const char *command, char *on, size_t size)
{
	const char *folder = getenv("PERFMON_ADAPTERS");
	char path[PATH_SIZE];
	size_t at = 0;

	*on = 0;
	for (unsigned i = 0; i < ADAPTERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder && *folder ? folder : PERFMON_ADAPTERS,
		         adapters[i].library);
		if (access(path, R_OK) != 0 || !is_wanted(&adapters[i], command))
			continue;
		if (adapters[i].mark)
			add_to_variable(adapters[i].variable, path);
		else
			setenv(adapters[i].variable, path, 1);
		if (adapters[i].older)
			setenv(adapters[i].older, path, 1);
		if (at < size)
			at += (size_t)snprintf(on + at, size - at, "%s%s", at ? ", " : "",
			                       adapters[i].interface);
	}
}

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

/* Formats of the library. */
static const struct {
	const char *name;
	bool is_framed; /* the first and the last line enclose a list; each process writes a part of
	                 * it */
} formats[] = { { "table", false }, { "json", false },  { "csv", false },   { "likwid", false },
	        { "papi", false },  { "chrome", true }, { "firefox", true } };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static bool is_framed(const char *format)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (strcmp(format, formats[i].name) == 0)
			return formats[i].is_framed;
	return false;
}

static int check_options(struct command_args *args, const struct stat_job *job)
{
	if (!args->n)
		return report_usage_error(args, "--regions needs a command after --.");
	if (job->options.separator && strcmp(job->options.separator, ",") != 0)
		return report_usage_error(args, "With --regions, -x needs a comma: -x ,");
	if (job->options.append && !job->options.output)
		return report_usage_error(args, "--append needs --output.");
	for (unsigned i = 0; i < FORMATS; i++)
		if (strcmp(job->regions.format, formats[i].name) == 0)
			return EXIT_DONE;
	return report_usage_error(args,
	                          "--regions: expected table, json, csv, likwid, papi, chrome or "
	                          "firefox, got '%s'.",
	                          job->regions.format);
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
                                      const struct stat_job *job, const char *folder)
{
	char options[128], output[PATH_SIZE + 2];

	snprintf(options, sizeof(options), "%s%s%s", job->regions.no_subtract ? "no-subtract," : "",
	         job->regions.has_system ? "system," : "",
	         job->options.by == BY_THREAD ? "per-thread," : "");
	snprintf(output, sizeof(output), "%s/", folder);
	setenv("PERFMON_REGIONS", events, 1);
	setenv("PERFMON_REGIONS_OPTIONS", options, 1);
	setenv("PERFMON_REGIONS_OUTPUT", output, 1);
	setenv("PERFMON_REGIONS_FORMAT", job->regions.format, 1);
	raise_file_limit();
	execvp(command[0], command);
	fprintf(stderr, "%s: cannot run '%s': %s\n", program_name, command[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

/* Runs the command and stores its wait status in *@status. Ignores interrupts, which go to the
 * command, because its results are still needed. */
static int run_command(char *const *command, const char *events, const struct stat_job *job,
                       const char *folder, int *status)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	pid_t pid;

	fflush(NULL);
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		execute_command(command, events, job, folder);
	}
	while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return pid < 0 ? report_bad_option("no process", errno) : EXIT_DONE;
}

/* ---- results ----------------------------------------------------------------------------- */

static FILE *open_result(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (!in && fd >= 0)
		close(fd);
	return in;
}

static bool copy_file(int folder, const char *name, FILE *out)
{
	FILE *in = open_result(folder, name);
	char buf[65536];
	size_t n;

	while (in && (n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	if (in)
		fclose(in);
	return in != NULL;
}

/* Files to join: the first line of the first file, all lists, the last line of the last file. */
struct join {
	bool has_head;
	char *tail;
	size_t tail_room;
};

/* Copies a file's part of the list. Writes each line after reading the next one, because the last
 * line is not part of the list. */
static bool join_file(int folder, const char *name, FILE *out, struct join *join)
{
	FILE *in = open_result(folder, name);
	char *line = NULL;
	size_t size = 0, n = 0;

	if (!in)
		return false;
	for (; getline(&line, &size, in) > 0; n++) {
		char *before = join->tail;
		size_t before_room = join->tail_room;

		if (n == 1 && join->has_head)
			fputc(',', out);
		else if (n)
			fputs(before, out);
		join->tail = line;
		join->tail_room = size;
		line = before;
		size = before_room;
	}
	join->has_head = join->has_head || n > 0;
	free(line);
	fclose(in);
	return n > 0;
}

static bool is_started(const char *name)
{
	size_t len = strlen(name), end = strlen(".started");

	return len > end && strcmp(name + len - end, ".started") == 0;
}

/* @name: the mark that the process left. */
static void report_missing_results(const char *name, unsigned *missing)
{
	++*missing;
	fprintf(stderr,
	        "%s: process %ld entered regions and was killed, executed another program, or "
	        "could not write all results\n",
	        program_name, strtol(name + strlen("regions."), NULL, 10));
}

static int is_result(const struct dirent *e)
{
	return strncmp(e->d_name, "regions.", 8) == 0;
}

static int compare_numbers(const struct dirent **a, const struct dirent **b)
{
	long x = strtol((*a)->d_name + 8, NULL, 10), y = strtol((*b)->d_name + 8, NULL, 10);

	return (x > y) - (x < y);
}

/* Writes the results of all processes. Returns the number of processes with results, and in
 * *@missing that of processes whose results are missing. */
static unsigned collect_results(const char *path, const char *format, FILE *out, unsigned *missing)
{
	struct join join = { 0 };
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **names = NULL;
	int n = scandir(path, &names, is_result, compare_numbers);
	unsigned written = 0;

	for (int i = 0; i < n; i++) {
		if (is_started(names[i]->d_name))
			report_missing_results(names[i]->d_name, missing);
		else if (is_framed(format))
			written += join_file(folder, names[i]->d_name, out, &join);
		else
			written += copy_file(folder, names[i]->d_name, out);
		unlinkat(folder, names[i]->d_name, 0);
		free(names[i]);
	}
	free(names);
	if (join.tail)
		fputs(join.tail, out);
	free(join.tail);
	if (folder >= 0)
		close(folder);
	rmdir(path);
	return written;
}

static int report_regions(struct stat_job *job, char *const *command, const char *folder,
                          const char *on)
{
	FILE *out =
		strcmp(job->regions.format, "table") == 0 && !job->options.output ? stderr : stdout;
	unsigned n, missing = 0;
	bool has_failed;

	if (job->options.output)
		out = term_open(job->options.output, job->options.append);
	if (!out)
		return report_bad_option(job->options.output, errno);
	if (*on && out == stderr)
		fprintf(out, "Regions are read from perfmon, %s.\n", on);
	n = collect_results(folder, job->regions.format, out, &missing);
	has_failed = fflush(out) != 0 || ferror(out);
	if (job->options.output)
		has_failed |= fclose(out) != 0;
	if (has_failed)
		return report_bad_option(job->options.output ? job->options.output : "results",
		                         errno);
	if (!n && !missing)
		fprintf(stderr, "%s: %s entered no region\n", program_name, command[0]);
	return n && !missing ? EXIT_DONE : EXIT_REFUSED;
}

static int run_in_folder(struct command_args *args, struct stat_job *job, const char *events)
{
	const char *tmp = getenv("TMPDIR");
	char folder[PATH_SIZE], on[128];
	int status = 0, rc;

	snprintf(folder, sizeof(folder), "%s/pfm-regions-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return report_bad_option(folder, errno);
	switch_on_adapters(args->operands[0], on, sizeof(on));
	rc = run_command(args->operands, events, job, folder, &status);
	if (rc == EXIT_DONE) {
		int reported = report_regions(job, args->operands, folder, on);

		rc = child_get_status(args->operands[0], status);
		if (rc == EXIT_DONE)
			rc = reported;
	}
	rmdir(folder);
	return rc;
}

/* --json and -x choose a format unless --regions=FORMAT does. */
static int choose_format(struct command_args *args, struct stat_job *job)
{
	const char *format = job->options.json ? "json" : "csv";

	if (!job->options.json && !job->options.separator)
		return EXIT_DONE;
	if ((job->options.json && job->options.separator) ||
	    (strcmp(job->regions.format, "table") != 0 && strcmp(job->regions.format, format) != 0))
		return report_usage_error(args,
		                          "expected one format: --regions=FORMAT, --json or -x.");
	job->regions.format = format;
	return EXIT_DONE;
}

int count_regions(struct command_args *args, struct stat_job *job)
{
	char *events;
	int status;

	status = check_option_modes(args, job, STAT_REGIONS);
	if (status == EXIT_DONE)
		status = choose_format(args, job);
	if (status == EXIT_DONE)
		status = check_options(args, job);
	if (status != EXIT_DONE)
		return status;
	if (!job->request.events.n && !job->request.metric_names.n &&
	    !event_list_add(&job->request.events, USUAL_EVENTS))
		return report_bad_option("events", ENOMEM);
	job->ctx = open_context(job->options.model);
	if (!job->ctx)
		return EXIT_REFUSED;
	status = check_events_alone(job);
	events = append_events(append_events(strdup(""), &job->request.events),
	                       &job->request.metric_names);
	if (!events)
		return report_bad_option("events", ENOMEM);
	if (status == EXIT_DONE)
		status = run_in_folder(args, job, events);
	free(events);
	return status;
}
