/* SPDX-License-Identifier: MIT */
/* Each run is a child process with the options of pfm record, as a round of --continuous is. Two
 * commands run in turns, so that what changes on the machine meets both alike. */
#include "record/runs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/pfm.h"
#include "record/rounds.h"
#include "stat/stat.h"

enum { SIDES = 2 };

/* The commands to record. */
struct run_plan {
	struct command_args *args;
	const struct record_runs *runs;
	const char *output;
	char **commands[SIDES]; /* each ends with NULL */
	unsigned n_commands;
	int n_options; /* arguments before the first command */
};

static const char *const side_names[SIDES] = { "old", "new" };

static bool is_word_of(const char *word, const char *letter, const char *name, bool *takes_next)
{
	size_t len = strlen(name);

	*takes_next = strcmp(word, letter) == 0 || strcmp(word, name) == 0;
	return *takes_next || (strncmp(word, letter, 2) == 0 && word[2] && word[1] != '-') ||
	       (strncmp(word, name, len) == 0 && word[len] == '=');
}

/* True if @word is an option that only the parent of the runs takes. */
static bool is_own_option(const char *word, bool *takes_next)
{
	*takes_next = false;
	return strcmp(word, "--alternate") == 0 || is_word_of(word, "-r", "--repeat", takes_next) ||
	       is_word_of(word, "-o", "--output", takes_next);
}

/* Separates the commands at "::". Returns an exit status. */
static int split_commands(struct run_plan *plan)
{
	struct command_args *args = plan->args;

	plan->commands[plan->n_commands++] = args->operands;
	for (int i = 0; plan->runs->alternate && i < args->n; i++) {
		if (strcmp(args->operands[i], "::") != 0)
			continue;
		if (plan->n_commands == SIDES || i == 0 || i + 1 == args->n)
			return report_usage_error(args, "expected two commands, OLD :: NEW.");
		args->operands[i] = NULL;
		plan->commands[plan->n_commands++] = args->operands + i + 1;
		break;
	}
	if (plan->runs->alternate && plan->n_commands < SIDES)
		return report_usage_error(args, "--alternate: expected two commands, OLD :: NEW.");
	while (plan->n_options < args->argc && args->argv[plan->n_options] != plan->commands[0][0])
		plan->n_options++;
	return EXIT_DONE;
}

/* "perf.old.1.data" for "perf.data": the number stands before the first dot of the file's name.
 * @run: "*" for all runs. The caller frees it; NULL without memory. */
static char *name_run(const struct run_plan *plan, unsigned side, const char *run)
{
	const char *name = base_name(plan->output), *dot = strchr(name + (*name == '.'), '.');
	int stem = (int)(dot ? dot - plan->output : (long)strlen(plan->output));
	bool has_side = plan->n_commands > 1;
	char *path;

	return asprintf(&path, "%.*s.%s%s%s%s", stem, plan->output,
	                has_side ? side_names[side] : "", has_side ? "." : "", run,
	                dot ? dot : "") < 0
	               ? NULL
	               : path;
}

static size_t count_words(char **command)
{
	size_t n = 0;

	while (command[n])
		n++;
	return n;
}

/* Runs pfm record in the child with the same options; writes to @path. */
static int record_once(const struct run_plan *plan, unsigned side, char *path)
{
	static char output_option[] = "-o", end_of_options[] = "--";
	char **command = plan->commands[side];
	size_t n_words = count_words(command), n = 0;
	char **argv = calloc((size_t)plan->n_options + n_words + 8, sizeof(*argv));
	bool takes_next;

	if (!argv)
		return report_no_memory();
	for (int i = 0; i < plan->n_options; i++) {
		char *word = plan->args->argv[i];

		if (strcmp(word, end_of_options) == 0)
			continue;
		if (i && is_own_option(word, &takes_next))
			i += takes_next;
		else
			argv[n++] = word;
	}
	argv[n++] = output_option;
	argv[n++] = path;
	argv[n++] = end_of_options;
	memcpy(argv + n, command, n_words * sizeof(*argv));
	is_record_round = true;
	return run_pfm_command(plan->args->cmd, (int)(n + n_words), argv);
}

/* Records one run. Returns an exit status. */
static int take_run(const struct run_plan *plan, unsigned side, unsigned run)
{
	char number[16], *path;
	int status = 0;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", run + 1);
	path = name_run(plan, side, number);
	if (!path)
		return report_no_memory();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		_exit(record_once(plan, side, path));
	}
	free(path);
	if (pid < 0)
		return report_no_memory();
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status != EXIT_DONE)
		fprintf(stderr,
		        "pfm record: run %u of %s ended with status %d: the runs after it were not "
		        "started\n",
		        run + 1, plan->commands[side][0], status);
	return status;
}

/* Names the files, and the command that reads them. */
static void report_runs(const struct run_plan *plan)
{
	char *old_files = name_run(plan, 0, "*"), *new_files = name_run(plan, 1, "*");

	if (old_files && new_files && plan->n_commands > 1)
		fprintf(stderr, "pfm record: 'pfm diff %s -- %s' compares them\n", old_files,
		        new_files);
	else if (old_files)
		fprintf(stderr, "pfm record: recordings are in %s\n", old_files);
	free(old_files);
	free(new_files);
}

int record_runs(struct command_args *args, const struct record_runs *r, const char *output)
{
	struct run_plan plan = { .args = args, .runs = r, .output = output ? output : "perf.data" };
	int status = split_commands(&plan);

	if (status != EXIT_DONE)
		return status;
	/* The terminal sends these to the child as well, which ends its recording. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (unsigned run = 0; run < r->n && status == EXIT_DONE; run++)
		for (unsigned side = 0; side < plan.n_commands && status == EXIT_DONE; side++)
			status = take_run(&plan, side, run);
	if (status == EXIT_DONE)
		report_runs(&plan);
	return status;
}
