/* SPDX-License-Identifier: MIT */
/* Options of a command, and what each program does before and after it. */
#include "common/help.h"
#include "common/profile_messages.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_COLOUR = LONG_ONLY + 1000, OPT_COMPLETE_OPTIONS };

const struct command_option common_options[] = {
	{ 'h', "help", NULL, "show this help" },
	{ OPT_COLOUR, "color", "WHEN", "colours: auto (on a terminal), always or never" },
	{ OPT_COMPLETE_OPTIONS, "complete-options", NULL, NULL },
	{ 0, NULL, NULL, NULL }
};

/* ---- reading options ------------------------------------------------------------------------- */

enum { CPU_MAX = 65535 }; /* the largest CPU number of -C */
enum {
	NAMES_MAX = 60,
	OPERAND = 1
}; /* OPERAND: result of getopt_long() for an operand among options */

static const struct command_option *get_option_at(const struct command *cmd, unsigned i)
{
	const struct command_option *o = cmd->options;

	for (; o && o->id; o++)
		if (i-- == 0)
			return o;
	return i < sizeof(common_options) / sizeof(common_options[0]) - 1 ? &common_options[i]
	                                                                  : NULL;
}

static int set_exit_status(struct command_args *args, int status)
{
	args->status = status;
	return -1;
}

int report_usage_error(const struct command_args *args, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "pfm %s: ", args->cmd->name);
	if (args->places)
		fprintf(stderr, "%s: ", args->places[args->at]);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (args->places)
		return EXIT_USAGE;
	print_usage(stderr, args->cmd);
	fprintf(stderr, "For help, run 'pfm %s --help'.\n", args->cmd->name);
	return EXIT_USAGE;
}

/* Reports option --@name, of @len bytes, that the command does not have. */
static int report_unknown_option(struct command_args *args, const char *name, size_t len)
{
	const char *names[NAMES_MAX + 1];
	char wrong[64];
	unsigned i, n = 0;
	const struct command_option *o;
	int similar;

	for (i = 0; (o = get_option_at(args->cmd, i)) && n < NAMES_MAX; i++)
		if (o->help)
			names[n++] = o->name;
	names[n] = NULL;
	snprintf(wrong, sizeof(wrong), "%.*s", (int)len, name);
	similar = find_closest_word(wrong, names);
	if (similar >= 0)
		report_usage_error(args, "unknown option --%s. Did you mean --%s?", wrong,
		                   names[similar]);
	else
		report_usage_error(args, "unknown option --%s.", wrong);
	return set_exit_status(args, EXIT_USAGE);
}

/* Handles the options that every command has. Returns true if the option was one of them. */
static bool handle_common_option(struct command_args *args, int id, const char *value)
{
	const struct command_option *o;
	unsigned i;

	switch (id) {
	case 'h':
		print_help(stdout, args->cmd);
		set_exit_status(args, EXIT_DONE);
		return true;
	case OPT_COMPLETE_OPTIONS:
		for (i = 0; (o = get_option_at(args->cmd, i)); i++)
			if (o->help)
				printf("--%s\n", o->name);
		set_exit_status(args, EXIT_DONE);
		return true;
	case OPT_COLOUR:
		args->status = EXIT_DONE;
		if (!term_set_colour(value))
			args->status = report_usage_error(
				args, "--color: expected auto, always or never, got '%s'.", value);
		return true;
	default: return false;
	}
}

/* The options of a command in the format of getopt_long(). */
struct getopt_table {
	struct option longs[NAMES_MAX + 1];
	char shorts[2 + 2 * NAMES_MAX + 1];
};

/* Fills @t with the options of @cmd. "-" makes getopt_long() return operands in place, ":" turns
 * off its messages. */
static void make_getopt_table(const struct command *cmd, struct getopt_table *t)
{
	const struct command_option *o;
	char *letter = t->shorts;
	unsigned n = 0;

	*letter++ = '-';
	*letter++ = ':';
	for (; n < NAMES_MAX && (o = get_option_at(cmd, n)); n++) {
		bool optional = o->arg && o->arg[0] == '[';
		int kind = optional ? optional_argument : o->arg ? required_argument : no_argument;

		t->longs[n] = (struct option){ o->name, kind, NULL, o->id };
		if (o->id >= LONG_ONLY)
			continue;
		*letter++ = (char)o->id;
		if (kind == required_argument)
			*letter++ = ':';
	}
	t->longs[n] = (struct option){ NULL, 0, NULL, 0 };
	*letter = '\0';
}

static const struct command_option *find_option(const struct command *cmd, int id)
{
	const struct command_option *o;

	for (unsigned i = 0; (o = get_option_at(cmd, i)); i++)
		if (o->id == id)
			return o;
	return NULL;
}

/* Reports the option in argument @word, which getopt_long() refused. */
static int refuse_option(struct command_args *args, int refusal, const char *word)
{
	const struct command_option *o = find_option(args->cmd, optopt);

	if (refusal == ':' && word[1] == '-')
		report_usage_error(args, "--%s: expected a value: %s", o->name, o->arg);
	else if (refusal == ':')
		report_usage_error(args, "-%c: expected a value: %s", optopt, o->arg);
	else if (o)
		report_usage_error(args, "--%s takes no value.", o->name);
	else if (optopt == 'i' && args->cmd->reads_recording)
		report_usage_error(args, "unknown option -i: pass the file as an operand, without "
		                         "-i.");
	else if (optopt == 0)
		return report_unknown_option(args, word + 2, strcspn(word + 2, "="));
	else
		report_usage_error(args, "unknown option -%c.", isprint(optopt) ? optopt : '?');
	return set_exit_status(args, EXIT_USAGE);
}

/* Returns the argument with the long option that getopt_long() has just parsed. */
static const char *get_long_option_word(const struct command_args *args)
{
	bool has_own_value = optarg && optarg == args->argv[optind - 1];

	return args->argv[optind - 1 - has_own_value];
}

/* True if the option is an abbreviation, which a later option could make ambiguous. */
static bool is_abbreviated(const struct command_args *args, const char *name)
{
	return strcspn(get_long_option_word(args) + 2, "=") != strlen(name);
}

/* Treats all remaining arguments as operands. */
static void take_operands(struct command_args *args)
{
	while (optind < args->argc)
		args->operands[args->n++] = args->argv[optind++];
}

/* Returns the id of the next option; 0 after the last; -1 if one is refused. */
static int parse_option(struct command_args *args, const char **value)
{
	struct getopt_table table;
	int id, at;

	make_getopt_table(args->cmd, &table);
	for (;;) {
		at = -1;
		id = getopt_long(args->argc, args->argv, table.shorts, table.longs, &at);
		if (id == -1) {
			if (strcmp(args->argv[optind - 1], "--") == 0)
				args->n_before_dashes = args->n;
			take_operands(args);
			return 0;
		}
		if (id == '?' || id == ':')
			return refuse_option(args, id, args->argv[optind - 1]);
		if (at >= 0 && is_abbreviated(args, table.longs[at].name)) {
			const char *word = get_long_option_word(args) + 2;

			return report_unknown_option(args, word, strcspn(word, "="));
		}
		*value = optarg;
		if (id != OPERAND) {
			/* "-n=3" is taken as "-n 3". */
			if (at < 0 && optarg && *optarg == '=' && optarg != args->argv[optind - 1])
				*value = optarg + 1;
			return id;
		}
		args->operands[args->n++] = optarg;
		if (args->cmd->stops_at_operand)
			take_operands(args);
	}
}

int next_option(struct command_args *args, const char **value)
{
	int id;

	do {
		id = parse_option(args, value);
		args->at = id > 0 ? optind - 1 : 0;
		if (id <= 0)
			break;
		if (!handle_common_option(args, id, *value))
			return id;
	} while (id == OPT_COLOUR && args->status == EXIT_DONE);
	if (id != 0)
		return -1;
	args->operands[args->n] = NULL;
	return 0;
}

bool option_number(struct command_args *args, const char *name, const char *value, uint64_t min,
                   uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 0);
	if (isdigit((unsigned char)value[0]) && !*end && !errno && *out >= min && *out <= max)
		return true;
	args->status =
		report_usage_error(args, "%s: expected a number from %llu to %llu, got '%s'.", name,
	                           (unsigned long long)min, (unsigned long long)max, value);
	return false;
}

bool option_percent(struct command_args *args, const char *name, const char *value, double most,
                    double *out)
{
	char *end;
	double percent = strtod(value, &end);

	if (end != value && strcmp(end + (*end == '%'), "") == 0 && percent >= 0 &&
	    percent <= most) {
		*out = percent / 100;
		return true;
	}
	args->status = report_usage_error(args, "%s: expected a percentage from 0 to %g, got '%s'.",
	                                  name, most, value);
	return false;
}

int check_option_rules(const struct command_args *args, const struct option_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].is_broken)
			return report_usage_error(args, "%s", rules[i].message);
	return EXIT_DONE;
}

/* True if @text is a list of CPU numbers and ranges such as 0,2-3. */
static bool is_cpu_list(const char *text)
{
	char *end;

	for (;; text = end + 1) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (!isdigit((unsigned char)*text))
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (!isdigit((unsigned char)*text))
				return false;
		}
		if (first > last || last > CPU_MAX || (*end && *end != ','))
			return false;
		if (!*end)
			return true;
	}
}

int check_cpu_list(const struct command_args *args, const char *list)
{
	if (!list || is_cpu_list(list))
		return EXIT_DONE;
	return report_usage_error(
		args, "-C: expected CPU numbers up to %u such as 0,2-3, got '%s'.", CPU_MAX, list);
}

const char *describe_output_error(int err)
{
	switch (err) {
	case ENOENT: return "its folder does not exist; create it first";
	case EISDIR: return "expected a file, got a folder";
	case ESPIPE: return "expected a file, got a pipe";
	default: return strerror(err);
	}
}

/* ---- running ----------------------------------------------------------------------------------
 */

static const char *running_name = "report";

const char *get_running_command(void)
{
	return running_name;
}

int run_pfm_command(const struct command *cmd, int argc, char **argv)
{
	struct command_args args = { .cmd = cmd, .argc = argc, .argv = argv };
	int i;

	running_name = cmd->name;
	optind = 0; /* restart getopt_long(): a command may run another one */
	args.operands = calloc((size_t)argc + 1, sizeof(args.operands[0]));
	if (!args.operands)
		return report_no_memory();
	i = args.cmd->run(&args);
	free(args.operands);
	return i;
}

/* Opens /dev/null for closed standard descriptors. Without this, the first opened file would get
 * such a descriptor and be read or written by mistake. */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* Flushes standard output. Reports failures other than a reader that closed the pipe. */
static int finish_output(int status)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) != 0 || failed) {
		if (errno != EPIPE)
			fprintf(stderr, "pfm: cannot write the output: %s\n",
			        errno ? strerror(errno) : "write error");
		return status == EXIT_DONE ? EXIT_REFUSED : status;
	}
	return status;
}

int run_pfm(int (*run)(int argc, char **argv), int argc, char **argv)
{
	int status;

	occupy_standard_files();
	term_guard();
	status = finish_output(run(argc, argv));
	term_end();
	return status;
}
