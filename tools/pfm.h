/* SPDX-License-Identifier: MIT */
/* Shared by the files of the command: the table of commands, reading of options, answers and
 * refusals.
 *
 * Each command is one file, cmd_NAME.c, with one struct command; pfm.c finds it and runs it. A
 * command reads its options with next_option(), then works on the operands that are left. */
#ifndef PFM_PFM_H
#define PFM_PFM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/perfmon.h>
#include "json.h"
#include "term.h"

/* Exit statuses. */
enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };

/* ---- options (pfm.c) ------------------------------------------------------------------------- */

/* Options without a letter are numbered from here. */
enum { LONG_ONLY = 256 };

struct command_option {
	int id;           /* its letter, or a number from LONG_ONLY on; 0 ends the table */
	const char *name; /* without dashes */
	const char *arg;  /* what its value is called; NULL: takes none; "[X]": only as --name=X */
	const char *help; /* NULL: not shown */
};

struct command_args;

struct command {
	const char *name;
	const char *usage;    /* operands, one form a line */
	const char *summary;  /* one line, for the list of commands */
	const char *about;    /* a paragraph or two */
	const char *examples; /* what it is for, then the command, each on a line */
	const struct command_option *options;
	bool stops_at_operand; /* what follows the first operand is another program's */
	bool reads_recording;  /* its last operand is a recording, which perf takes after -i */
	int (*run)(struct command_args *args);
};

struct command_args {
	const struct command *cmd;
	int status;      /* exit status after next_option() returned -1 */
	int n;           /* operands, valid once next_option() is through */
	char **operands; /* NULL after the last */
	int argc;
	char **argv; /* the name of the command, and what follows it */
};

/* Id of the next option, its value (NULL if it takes none) in *@value; 0 when all are read; -1 to
 * leave with args->status, everything said: --help was shown, or an option was wrong. */
int next_option(struct command_args *args, const char **value);
/* @value of option @name as a number within bounds; reports and returns false for other text. */
bool option_number(struct command_args *args, const char *name, const char *value, uint64_t min,
                   uint64_t max, uint64_t *out);
/* Reports a @list that is not CPU numbers and ranges such as 0,2-3. Returns USAGE, or
 * DONE for a list or NULL. */
int check_cpu_list(const struct command_args *args, const char *list);
/* The reason why an output file cannot be opened, with the remedy where there is one. */
const char *describe_output_error(int err);
/* Reports that memory ran out. Returns REFUSED. */
int report_no_memory(void);
/* Says what is wrong with the command line and where to read more. Returns USAGE. */
int report_usage_error(const struct command_args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Runs @cmd with the @argc arguments @argv, of which the first is its name. Returns its exit
 * status. */
int run_pfm_command(const struct command *cmd, int argc, char **argv);
/* The name of the command that runs, for messages. */
const char *running_command(void);
/* Every command, NULL after the last. */
extern const struct command *const commands[];

/* ---- answers (report.c) ---------------------------------------------------------------------- */

/* Opens a context whose unprefixed names belong to processor @pmu (NULL: as usual). On failure says
 * why and returns NULL. */
pfm_ctx_t *open_context(const char *pmu);
/* True if PMU @pmu is the generic fallback for this machine's processor, of which no list is
 * loaded; reports that on standard error, once. */
bool is_generic_fallback(const pfm_ctx_t *ctx, int pmu);
/* Says on standard error why @text was refused: a sentence, a caret under the culprit, similar
 * names. Pass WANTED_EVENT where metrics are refused: events are suggested before metrics. */
enum wanted_name { WANTED_ANY, WANTED_EVENT };
void report_refusal(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                    enum wanted_name wanted);
/* report_refusal() as the member "error" of an object. */
void put_refusal_json(struct json *j, const pfm_ctx_t *ctx, const char *text,
                      const pfm_error_t *error, enum wanted_name wanted);
/* Finds vendors whose newer lists may have @text, as a set (newer_lists.c). @pmu: the processor
 * that the user chose, or NULL; @similar: the names that were suggested. Returns 0 if the error
 * is another one or no lists of the processor are published. */
unsigned find_newer_lists(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                          const char *pmu, char (*similar)[96], size_t n);
/* The shell commands that fetch and load the lists of publisher number @i of a set; NULL after the
 * last. */
const char *newer_list_commands(unsigned set, unsigned i);
/* Sets @error for something the command itself found wrong at bytes @start to @end. */
void report_culprit(pfm_error_t *error, int code, pfm_error_kind_t kind, size_t start, size_t end,
                    const char *detail);

/* "0-3,5,F0" for a set of counters, where fixed counter n is bit 32 + n. Returns @buf. */
#define COUNTERS_MAX 200
char *counters_text(uint64_t counters, char buf[COUNTERS_MAX]);
/* Adds those that @text names, "0-3,F1"; false for other text. */
bool read_counters(const char *text, uint64_t *out);
/* "3" or "F0" for a counter number; "-" for none. */
char *counter_text(int counter, char buf[16]);
void counters_json(struct json *j, const char *key, uint64_t counters);
/* "PMC0", "PMD4", "IBR2" ... */
/* Print the perf_event_attr, as "type=4 config=0x412e exclude_kernel" or as an object, which is
 * null where the kernel cannot express it. */
void print_attr(FILE *out, const pfm_attr_t *attr);
void put_attr(struct json *j, const char *key, const pfm_attr_t *attr);
/* A line with @reg: its name in @column columns, its value, and its address if that is not its
 * number. */
void print_reg(const pfm_reg_t *reg, int column);

/* ---- lines of standard input (report.c) ------------------------------------------------------ */

/* Reads lines of any length. Standard output is flushed whenever no whole line is waiting, so that
 * both a pipe full of lines and a program that waits for each answer are served well. */
struct lines {
	int fd;
	char *buf;
	size_t size, start, end;
	bool eof, failed;
};

/* The next line, without its newline and terminated, in *@line; false at the end or on failure
 * (lines->failed). */
bool event_lines_next(struct lines *lines, char **line, size_t *len);
void event_lines_free(struct lines *lines);
/* True for a line that asks for nothing: blanks, or a comment after '#'. */
bool is_blank_event_line(const char *line, size_t len);
/* Moves *@line to its first non-blank character, and ends it before a comment, which is a '#'
 * after a blank. Returns its length. */
size_t event_line_text(char **line, size_t len);

/* ---- the machine (machine.c) ----------------------------------------------------------------- */

/* A path of the machine that is looked at, which need not be this one ($PERFMON_SYSFS). Returns
 * @buf. */
char *make_machine_path(const char *path, char *buf, size_t size);
/* The number in a file of that machine, negative if missing. */
int read_machine_number(const char *path);

/* ---- tracepoints (tracepoints.c) ------------------------------------------------------------- */

enum { TRACEPOINT_MAX = 256 };

struct trace_field {
	char type[128], name[128];
	unsigned offset, size;
	bool is_signed;
};

/* Calls @each with the tracepoints that "SUBSYSTEM:PATTERN" at the beginning of @text matches;
 * *@rest is the text after the pattern. Returns how many match; 0 if @text has no pattern, or if
 * none matches, which is reported. */
unsigned match_tracepoints(const char *text, const char **rest,
                           bool (*each)(void *arg, const char *name), void *arg);
/* Calls @each with the fields of tracepoint "SUBSYSTEM:NAME" at the beginning of @text, if it is
 * one. */
void visit_trace_fields(const pfm_ctx_t *ctx, const char *text,
                        void (*each)(void *arg, const struct trace_field *field), void *arg);

#endif
