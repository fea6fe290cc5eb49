/* SPDX-License-Identifier: MIT */
/* The command: finds the subcommand. */
#include "common/help.h"

#include <stdlib.h>
#include <string.h>

extern const struct command cmd_list, cmd_show, cmd_encode, cmd_dispatch, cmd_decode, cmd_stat,
	cmd_record, cmd_report, cmd_annotate, cmd_diff, cmd_export, cmd_serve, cmd_doctor,
	cmd_import, cmd_alpha, cmd_metric, cmd_plan, cmd_top, cmd_mem, cmd_header, cmd_pretend,
	cmd_archive, cmd_agent, cmd_regions, cmd_check_events, cmd_explain;

const struct command *const commands[] = {
	&cmd_list,         &cmd_show,    &cmd_encode, &cmd_dispatch, &cmd_decode, &cmd_stat,
	&cmd_regions,      &cmd_record,  &cmd_agent,  &cmd_report,   &cmd_top,    &cmd_annotate,
	&cmd_mem,          &cmd_diff,    &cmd_export, &cmd_archive,  &cmd_serve,  &cmd_doctor,
	&cmd_import,       &cmd_alpha,   &cmd_metric, &cmd_plan,     &cmd_header, &cmd_pretend,
	&cmd_check_events, &cmd_explain, NULL
};

enum { NAMES_MAX = 48 };

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int report_unknown_command(const char *name)
{
	const char *names[NAMES_MAX + 1];
	int i, similar;

	for (i = 0; i < NAMES_MAX && commands[i]; i++)
		names[i] = commands[i]->name;
	names[i] = NULL;
	similar = find_closest_word(name, names);
	fprintf(stderr, "pfm: unknown command '%s'.", name);
	if (similar >= 0)
		fprintf(stderr, " Did you mean '%s'?", names[similar]);
	fputs("\n'pfm --help' lists the commands.\n", stderr);
	if (strstr(name, "::"))
		fprintf(stderr, "To print the registers of an event, write: pfm encode %s\n", name);
	return EXIT_USAGE;
}

/* Handles the option at argv[*at] before the command. Returns an exit status, or -1 to continue. */
static int handle_general_option(int argc, char **argv, int *at)
{
	const char *text = argv[*at];

	if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
		print_overview(stdout);
		return EXIT_DONE;
	}
	if (strcmp(text, "--version") == 0 || strcmp(text, "-V") == 0) {
		puts("pfm " PERFMON_VERSION);
		return EXIT_DONE;
	}
	if (strcmp(text, "--color") == 0 && *at + 1 < argc)
		text = argv[++*at];
	else if (strncmp(text, "--color=", 8) == 0)
		text += 8;
	else {
		fprintf(stderr,
		        "pfm: expected a command, --help, --version or --color, got '%s'.\n"
		        "'pfm --help' lists the commands.\n",
		        text);
		return EXIT_USAGE;
	}
	if (term_set_colour(text))
		return -1;
	fprintf(stderr, "pfm: --color: expected auto, always or never, got '%s'.\n", text);
	return EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
	const struct command *cmd;
	const char *name = NULL;

	for (int at = 0; at < argc; at++) {
		int status = -1;

		if (argv[at][0] == '-') {
			status = handle_general_option(argc, argv, &at);
		} else if (name) {
			fputs("pfm: expected one command after help.\n", stderr);
			return EXIT_USAGE;
		} else {
			name = argv[at];
		}
		if (status >= 0)
			return status;
	}
	if (!name || strcmp(name, "help") == 0) {
		print_overview(stdout);
		return EXIT_DONE;
	}
	cmd = find_command(name);
	if (!cmd)
		return report_unknown_command(name);
	if (cmd->is_program)
		return run_pfm_command(cmd, 2, (char *[]){ argv[0], (char[]){ "--help" }, NULL });
	print_help(stdout, cmd);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const struct command *cmd;
	int at, status;

	for (at = 1; at < argc && argv[at][0] == '-'; at++) {
		status = handle_general_option(argc, argv, &at);
		if (status >= 0)
			return status;
	}
	if (at == argc) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[at], "help") == 0)
		return run_help(argc - at - 1, argv + at + 1);
	cmd = find_command(argv[at]);
	if (!cmd)
		return report_unknown_command(argv[at]);
	return run_pfm_command(cmd, argc - at, argv + at);
}

int main(int argc, char **argv)
{
	return run_pfm(run, argc, argv);
}
