/* SPDX-License-Identifier: MIT */
/* Shared by the files of the command: the table of commands, parsing of options, results and error
 * messages.
 *
 * Each command is one file, cmd_NAME.c, with one struct command; pfm.c finds and runs it. A command
 * parses its options with next_option(), then handles the remaining operands. */
#ifndef PFM_PFM_H
#define PFM_PFM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/perfmon.h>
#include "common/json.h"
#include "common/term.h"

/* Exit statuses. */
enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };

/* ---- options (pfm.c) ------------------------------------------------------------------------- */

/* Ids of options without a letter begin here. */
enum { LONG_ONLY = 256 };

struct command_option {
	int id;           /* its letter, or a number from LONG_ONLY on; 0 ends the table */
	const char *name; /* without dashes */
	const char *arg;  /* name of its value; NULL: no value; "[X]": optional, only as --name=X */
	const char *help; /* NULL: not shown */
};

struct command_args;

struct command {
	const char *name;
	const char *usage;    /* operands, one form a line */
	const char *summary;  /* one line, for the list of commands */
	const char *about;    /* a paragraph or two */
	const char *examples; /* pairs of lines: the purpose, then the command */
	const struct command_option *options;
	bool stops_at_operand; /* arguments after the first operand belong to another program */
	bool reads_recording;  /* the last operand is a recording; perf expects it after -i */
	bool is_program; /* run() executes another program, which has the options and the help */
	int (*run)(struct command_args *args);
};

struct command_args {
	const struct command *cmd;
	int status;          /* exit status after next_option() returned -1 */
	int n;               /* operands, valid after next_option() returned 0 */
	int n_before_dashes; /* operands before "--"; 0 without it; valid as n is */
	char **operands;     /* NULL after the last */
	int argc;
	char **argv; /* the name of the command and its arguments */
	/* Arguments from a file: where each was read, for messages; NULL for a command line. The
	 * present one is number @at; number 0 is the place of all. */
	const char *const *places;
	int at;
};

/* Returns the id of the next option, with its value or NULL in *@value; 0 after the last option; -1
 * to exit with args->status after --help or a reported error. */
int next_option(struct command_args *args, const char **value);
/* Parses @value of option @name as a number from @min to @max. Reports other text and returns
 * false. */
bool option_number(struct command_args *args, const char *name, const char *value, uint64_t min,
                   uint64_t max, uint64_t *out);
/* Parses "5%", "5" or "0.5%" as a fraction of at most @most percent. Reports other text and returns
 * false. */
bool option_percent(struct command_args *args, const char *name, const char *value, double most,
                    double *out);
/* A mistake in the options as a whole. */
struct option_rule {
	bool is_broken;
	const char *message;
};

/* Reports the first of the @n rules that is broken. Returns EXIT_USAGE, or EXIT_DONE if all hold.
 */
int check_option_rules(const struct command_args *args, const struct option_rule *rules, size_t n);
/* Reports a @list that is not CPU numbers and ranges such as 0,2-3. Returns EXIT_USAGE, or
 * EXIT_DONE for a list or NULL. */
int check_cpu_list(const struct command_args *args, const char *list);
/* Returns why an output file cannot be opened, with a remedy if there is one. */
const char *describe_output_error(int err);
/* Reports that memory ran out. Returns EXIT_REFUSED. */
int report_no_memory(void);
/* Reports an error in the command line and names the help. Returns EXIT_USAGE. */
int report_usage_error(const struct command_args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Runs @cmd with the @argc arguments @argv, of which the first is its name. Returns its exit
 * status. */
int run_pfm_command(const struct command *cmd, int argc, char **argv);
/* Runs a program: @run between the set-up of standard files and terminal and their end. Returns the
 * exit status. */
int run_pfm(int (*run)(int argc, char **argv), int argc, char **argv);
/* The name of the command that runs, for messages. */
const char *get_running_command(void);
/* All commands, NULL after the last. */
extern const struct command *const commands[];

/* ---- answers (report.c) ---------------------------------------------------------------------- */

/* Opens a context whose unprefixed names belong to processor @pmu (NULL: the default PMUs). Reports
 * a failure and returns NULL. */
pfm_ctx_t *open_context(const char *pmu);
/* Opens such a context, which reads this machine's PMUs when a call first needs them. */
pfm_ctx_t *open_unloaded_context(const char *pmu);
/* Reports on standard error, once, that PMU @pmu is the generic fallback for this machine's
 * processor, of which no list is loaded. False if it is not. */
bool report_generic_fallback(const pfm_ctx_t *ctx, int pmu);
/* Reports why @text was refused: a sentence, a caret under the culprit, similar names. WANTED_EVENT
 * suggests events before metrics. */
enum wanted_name { WANTED_ANY, WANTED_EVENT };
void report_refusal(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                    enum wanted_name wanted);
/* Writes the report of report_refusal() as the member "error" of an object. */
void put_refusal_json(struct json *j, const pfm_ctx_t *ctx, const char *text,
                      const pfm_error_t *error, enum wanted_name wanted);
/* Reports why the operand @text was refused: as report_refusal() does, or with @json as an object
 * of its own with the members "input", unless @text is NULL, and "error". */
void refuse_input(struct json *json, const pfm_ctx_t *ctx, const char *text,
                  const pfm_error_t *error, enum wanted_name wanted);
/* Returns the set of publishers whose newer lists may have @text (newer_lists.c). @pmu: the
 * processor that the user chose, or NULL; @similar: the suggested names. Returns 0 for other errors
 * and for processors without published lists. */
unsigned find_newer_lists(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                          const char *pmu, char (*similar)[96], size_t n);
/* The shell commands that fetch and load the lists of publisher number @i of a set; NULL after the
 * last. */
const char *newer_list_commands(unsigned set, unsigned i);
/* Sets @error to an error that the command found at bytes @start to @end. */
void report_culprit(pfm_error_t *error, int code, pfm_error_kind_t kind, size_t start, size_t end,
                    const char *detail);

/* Formats a set of counters, where fixed counter n is bit 32 + n, as "0-3,5,F0". Returns @buf. */
#define COUNTERS_MAX 200
char *format_counters(uint64_t counters, char buf[COUNTERS_MAX]);
/* Adds the counters in @text, such as "0-3,F1". False for other text. */
bool read_counters(const char *text, uint64_t *out);
/* Formats a counter number as "3" or "F0", no counter as "-". Returns @buf. */
char *format_counter(int counter, char buf[16]);
void put_counter_numbers(struct json *j, const char *key, uint64_t counters);
/* Print the perf_event_attr, as "type=4 config=0x412e exclude_kernel" or as an object, which is
 * null where the kernel cannot express it. */
void print_attr(FILE *out, const perfmon_attr_t *attr);
void put_attr(struct json *j, const char *key, const perfmon_attr_t *attr);
/* Prints a line with the name of @reg in @column columns, its value, and its address if that
 * differs from its number. */
void print_reg(const pfm_reg_t *reg, int column);

/* ---- rules (rules.c) ------------------------------------------------------------------------- */

enum { RULE_TEXT_MAX = 1024 };
/* Writes the counters that a rule leaves, its text and its source. Returns @buf. */
char *format_rule(const pfm_rule_info_t *rule, char buf[RULE_TEXT_MAX]);
/* Prints the rules that users of the event @text should read though it encodes, each behind @before
 * on a line of its own. */
void print_remarks(FILE *out, const pfm_ctx_t *ctx, const char *text, const char *before);
/* Put a list "rules": those of a PMU, or those of the event @text, all or only the remarks, or the
 * names of those of an event. An empty list is left out. */
void put_pmu_rules(struct json *j, const pfm_ctx_t *ctx, int pmu);
void put_text_rules(struct json *j, const pfm_ctx_t *ctx, const char *text, bool only_remarks);
void put_rule_names(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event);

/* ---- files of the machine (machine.c) -------------------------------------------------------- */

/* The name of a file without its folders. */
const char *base_name(const char *path);
/* The process of thread @tid; 0 if the thread is gone. */
int read_thread_process(int tid);

/* Writes the path of a file of this machine, or of the recorded machine in $PERFMON_SYSFS. Returns
 * @buf. */
char *make_machine_path(const char *path, char *buf, size_t size);

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
