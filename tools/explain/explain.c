/* SPDX-License-Identifier: MIT */
/* pfm explain: options and output. */
#include "explain/explain.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OPT_JSON = LONG_ONLY, OPT_TIMEOUT, DEFAULT_SECONDS = 5, TARGET_TEXT_MAX = 512 };

static const struct command_option options[] = { { 'p', "pid", "PID", "a running process" },
	                                         { 'a', "all", NULL, "the whole system" },
	                                         { OPT_TIMEOUT, "timeout", "SECONDS",
	                                           "with -p and -a: how long; 5 by default" },
	                                         { OPT_JSON, "json", NULL, "one JSON object" },
	                                         { 0, NULL, NULL, NULL } };

struct explain_job {
	struct explain_target target;
	char text[TARGET_TEXT_MAX]; /* "-- ./work 3", "-p 17", "-a" */
	bool json;
};

static bool parse_options(struct command_args *args, struct explain_job *j)
{
	const char *value;
	uint64_t number;
	bool all = false;
	int id;

	j->target.seconds = DEFAULT_SECONDS;
	while ((id = next_option(args, &value)) > 0) {
		if (id == 'a')
			all = true;
		else if (id == OPT_JSON)
			j->json = true;
		else if (!option_number(args, id == 'p' ? "-p" : "--timeout", value, 1, 1 << 30,
		                        &number))
			return false;
		else if (id == 'p')
			j->target.pid = (int)number;
		else
			j->target.seconds = (double)number;
	}
	if (id < 0)
		return false;
	j->target.command = args->n ? args->operands : NULL;
	if ((args->n > 0) + all + (j->target.pid > 0) != 1) {
		args->status = report_usage_error(args, "expected a program, -p or -a.");
		return false;
	}
	return true;
}

static void describe_target(struct explain_job *j)
{
	char command[TARGET_TEXT_MAX - 4];

	if (j->target.command)
		snprintf(j->text, sizeof(j->text), "-- %s",
		         quote_command(j->target.command, command, sizeof(command)));
	else if (j->target.pid)
		snprintf(j->text, sizeof(j->text), "-p %d", j->target.pid);
	else
		snprintf(j->text, sizeof(j->text), "-a");
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_line(const char *label, const char *text)
{
	printf("    %-9s ", label);
	term_wrap(stdout, 14, 14, text);
}

static void print_conditions(const struct explain_rule *rule, const struct explain_evidence *e)
{
	char text[EXPLAIN_TEXT_MAX];

	for (unsigned i = 0; i < rule->n; i++) {
		const struct explain_value *v = find_value(e, rule->when[i].metric);

		snprintf(text, sizeof(text), "%s is %.3g to %.3g, %s %g", v->metric, v->low,
		         v->high, rule->when[i].is_above ? "above" : "below", rule->when[i].limit);
		print_line(i ? "" : "because", text);
	}
}

static void print_node(const struct explain_rule *rule, const struct explain_evidence *e,
                       const char *target)
{
	char text[EXPLAIN_TEXT_MAX];

	printf("%s%s%s\n    ", term_colour_begin(stdout, BOLD), rule->node,
	       term_colour_end(stdout));
	term_wrap(stdout, 4, 4, fill_text(rule->say, e, target, text));
	print_conditions(rule, e);
	print_line("look at", rule->look);
	print_line("shown by", fill_text(rule->show, e, target, text));
}

/* Prints the names of nodes without a parent in @state, and the reasons of unknown ones, each
 * once. */
static void print_undecided(const struct explain_evidence *e)
{
	const char *reason = "";

	for (const struct explain_rule *r = explain_rules; r->node; r++)
		if (!*r->parent && judge_node(r, e) == NODE_UNSURE)
			printf("%s: not decided, the interval is on both sides of the limit; let "
			       "the "
			       "program run longer.\n",
			       r->node);
	for (size_t i = 0; i < e->n; i++)
		if (!e->values[i].is_known) {
			const char *why = e->values[i].reason;

			printf("not measured: %s%s", e->values[i].metric,
			       strcmp(why, reason) == 0 ? ", for the same reason\n" : "\n    ");
			if (strcmp(why, reason) != 0)
				term_wrap(stdout, 4, 4, why);
			reason = why;
		}
}

static void print_explanation(const struct explain_job *j, const struct explain_evidence *e)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	const unsigned n = find_nodes(explain_rules, e, nodes);

	printf("%.2f seconds, %u readings%s\n\n", e->seconds, e->rounds,
	       e->is_pretended ? "; the counts are pretended" : "");
	for (unsigned i = 0; i < n; i++)
		print_node(nodes[i], e, j->text);
	if (n == 0)
		puts("No rule holds: the measured part shows no single limit.");
	putchar('\n');
	print_undecided(e);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_node(struct json *json, const struct explain_rule *rule,
                     const struct explain_evidence *e, const char *target)
{
	char text[EXPLAIN_TEXT_MAX];

	put_begin(json, NULL, '{');
	put_text(json, "node", rule->node);
	put_text_if(json, "parent", rule->parent);
	put_text(json, "claim", fill_text(rule->say, e, target, text));
	put_text(json, "look", rule->look);
	put_text(json, "command", fill_text(rule->show, e, target, text));
	put_end(json, '}');
}

static void put_values(struct json *json, const struct explain_evidence *e)
{
	put_begin(json, "evidence", '[');
	for (size_t i = 0; i < e->n; i++) {
		const struct explain_value *v = &e->values[i];

		put_begin(json, NULL, '{');
		put_text(json, "metric", v->metric);
		if (v->is_known) {
			put_real(json, "value", v->value);
			put_real(json, "low", v->low);
			put_real(json, "high", v->high);
		}
		put_text_if(json, "reason", v->reason);
		put_end(json, '}');
	}
	put_end(json, ']');
}

static void put_explanation(const struct explain_job *j, const struct explain_evidence *e)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	const unsigned n = find_nodes(explain_rules, e, nodes);
	struct json json = { .out = stdout };

	put_begin(&json, NULL, '{');
	put_text(&json, "target", j->text);
	put_real(&json, "seconds", e->seconds);
	put_count(&json, "readings", e->rounds);
	if (e->is_pretended)
		put_bool(&json, "pretended", true);
	put_begin(&json, "nodes", '[');
	for (unsigned i = 0; i < n; i++)
		put_node(&json, nodes[i], e, j->text);
	put_end(&json, ']');
	put_values(&json, e);
	put_end(&json, '}');
	put_line(&json);
}

static int run_explain(struct command_args *args)
{
	struct explain_job j = { .text = "" };
	struct explain_evidence *e;
	int status = EXIT_REFUSED, ended = 0;
	pfm_ctx_t *ctx;

	if (!parse_options(args, &j))
		return args->status;
	describe_target(&j);
	ctx = open_context(NULL);
	e = calloc(1, sizeof(*e));
	if (ctx && e) {
		list_metrics(explain_rules, e);
		status = measure_evidence(ctx, &j.target, e, &ended);
		if (status == EXIT_DONE && j.json)
			put_explanation(&j, e);
		else if (status == EXIT_DONE)
			print_explanation(&j, e);
	}
	free(e);
	pfm_close_context(ctx);
	return status == EXIT_DONE && j.target.command
	               ? child_get_status(j.target.command[0], ended)
	               : status;
}

const struct command cmd_explain = {
	.name = "explain",
	.usage = "[--json] COMMAND [ARGUMENT...]\n[--json] -p PID | -a [--timeout SECONDS]",
	.summary = "tell what limits a program, with the evidence",
	.about =
		"Counts a program and tells what limits it: waiting, the front end, bad "
		"speculation, "
		"memory by level, or the core. Each claim has the values with their intervals, and "
		"a command that shows it. What was not measured is not claimed; without a PMU that "
		"is all but waiting.",
	.examples = "What limits this program?\n"
		    "pfm explain -- ./work\n"
		    "A service, for 30 seconds\n"
		    "pfm explain --timeout 30 -p 1234\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_explain
};
