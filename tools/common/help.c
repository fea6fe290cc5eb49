/* SPDX-License-Identifier: MIT */
/* Prints help: of one command, and the overview of all commands. */
#include "common/help.h"

#include <string.h>

/* Prints @text wrapped, also where standard output is not a terminal. */
static void print_help_text(FILE *out, size_t at, size_t indent, const char *text)
{
	size_t width = term_width(out);

	term_fill_line(out, width == 0 || width > 100 ? 80 : width, at, indent, text);
}

static void print_heading(FILE *out, const char *text)
{
	fprintf(out, "\n%s%s%s\n", term_colour_begin(out, BOLD), text, term_colour_end(out));
}

static void print_option(FILE *out, const struct command_option *o)
{
	char left[64];
	int n = 0;

	if (!o->help)
		return;
	if (o->id < LONG_ONLY)
		n = snprintf(left, sizeof(left), "-%c, ", o->id);
	else
		n = snprintf(left, sizeof(left), "    ");
	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name,
	              o->arg && o->arg[0] == '[' ? "[="
	              : o->arg                   ? " "
	                                         : "",
	              o->arg ? o->arg + (o->arg[0] == '[') : "");
	if (n > 26)
		fprintf(out, "  %s\n%29s", left, "");
	else
		fprintf(out, "  %-26s ", left);
	print_help_text(out, 29, 29, o->help);
}

static void print_options(FILE *out, const struct command_option *options)
{
	for (; options && options->id; options++)
		print_option(out, options);
}

/* Prints examples, which are pairs of lines: the purpose and the command. */
static void print_examples(FILE *out, const char *text)
{
	bool comment = true;
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		fprintf(out, "%s%s%.*s%s\n", comment ? "  " : "      ",
		        term_colour_begin(out, comment ? PLAIN : GREEN), (int)len, text,
		        term_colour_end(out));
		comment = !comment;
	}
}

void print_usage(FILE *out, const struct command *cmd)
{
	const char *line = cmd->usage;
	size_t len;

	for (; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		fprintf(out, "%s pfm %s%s%.*s\n", line == cmd->usage ? "usage:" : "      ",
		        cmd->name, len ? " " : "", (int)len, line);
	}
}

void print_help(FILE *out, const struct command *cmd)
{
	const char *text = cmd->about, *end;
	char paragraph[1024];

	print_usage(out, cmd);
	for (; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		snprintf(paragraph, sizeof(paragraph), "%.*s", (int)(end - text), text);
		putc('\n', out);
		print_help_text(out, 0, 0, paragraph);
	}
	print_heading(out, "Options");
	print_options(out, cmd->options);
	print_options(out, common_options);
	print_heading(out, "Examples");
	print_examples(out, cmd->examples);
}

void print_overview(FILE *out)
{
	size_t i;

	fputs("usage: pfm COMMAND [OPTION]... [OPERAND]...\n\n", out);
	print_help_text(out, 0, 0,
	                "Turns the name of a hardware event into the register values that make a "
	                "processor count it, for any processor, on any machine. Counts and samples "
	                "events of this machine.");
	print_heading(out, "Commands");
	for (i = 0; commands[i]; i++) {
		fprintf(out, "  %s%-12s%s ", term_colour_begin(out, BOLD), commands[i]->name,
		        term_colour_end(out));
		print_help_text(out, 15, 15, commands[i]->summary);
	}
	print_heading(out, "Options");
	print_options(out, common_options);
	print_option(out,
	             &(const struct command_option){ 'V', "version", NULL, "show the version" });
	print_heading(out, "Examples");
	print_examples(out, "Search the events of this machine\n"
	                    "pfm list cache\n"
	                    "Describe an event, and spell it as other tools do\n"
	                    "pfm show spr::MEM_LOAD_RETIRED.L3_MISS\n"
	                    "Print its register values and perf attributes\n"
	                    "pfm encode spr::MEM_LOAD_RETIRED.L3_MISS:u\n"
	                    "Place a set of events on counters\n"
	                    "pfm dispatch --pmu amdzen4 ls_dispatch.ld_dispatch ex_ret_instr\n"
	                    "Count a command\n"
	                    "pfm stat -e cycles,instructions,page-faults -- make\n"
	                    "Sample a command, and show where it spends its time\n"
	                    "pfm record -g -- make && pfm report\n");
	putc('\n', out);
	print_help_text(
		out, 0, 0,
		"For details see 'pfm help COMMAND'; for names of events see perfmon(7). Exit "
		"status: 0 success, 1 failure, 2 wrong usage.");
}
