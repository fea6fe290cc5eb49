/* SPDX-License-Identifier: MIT */
/* pfm stat -- A :: B [:: C]: compares commands. Each round runs every command once, and every other
 * round in the reverse order, so that slow changes (clocks, caches, other programs) affect all of
 * them alike. For each event the ratio of a command to the first one is the geometric mean of the
 * rounds' ratios. Its 95 % interval is Student's, of their logarithms. If the interval includes 1,
 * no difference is shown. */
#include "common/pfm.h"
#include "common/student_t.h"
#include "stat/options.h"
#include "stat/stat.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_COMMANDS = 16, USUAL_ROUNDS = 10 };

static const char separator[] = "::";

struct comparison {
	unsigned n_commands, n_rounds, n_events;
	char **commands[MAX_COMMANDS];
	char **names;   /* names of the events, then of the elapsed time */
	double *values; /* [command][round][event]; NaN: not counted */
	const char **why;
};

static double *get_value_at(const struct comparison *c, unsigned command, unsigned round,
                            unsigned event)
{
	return &c->values[((size_t)command * c->n_rounds + round) * (c->n_events + 1) + event];
}

bool has_several_commands(char *const *operands)
{
	for (; *operands; operands++)
		if (strcmp(*operands, separator) == 0)
			return true;
	return false;
}

unsigned split_operands(char **operands, char ***into, unsigned most)
{
	unsigned n = 1;

	into[0] = operands;
	for (; *operands; operands++) {
		if (strcmp(*operands, separator) != 0)
			continue;
		*operands = NULL;
		if (n == most)
			return 0;
		into[n++] = operands + 1;
	}
	for (unsigned i = 0; i < n; i++)
		if (!*into[i])
			return 0;
	return n;
}

/* ---- running ---- */

static int open_for(const struct stat_job *job, pid_t pid, pfm_session_t **session)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);

	options.pid = pid;
	options.flags =
		PFM_SESSION_ENABLE_ON_EXEC | (job->options.no_inherit ? 0u : PFM_SESSION_INHERIT);
	error.event = -1;
	if (pfm_open_session(session, job->ctx, &options,
	                     (const char *const *)job->request.events.texts, job->request.events.n,
	                     &error) == PFMLIB_SUCCESS)
		return EXIT_DONE;
	report_stat_refusal(job,
	                    error.event >= 0 && (unsigned)error.event < job->request.events.n
	                            ? job->request.events.texts[error.event]
	                            : NULL,
	                    &error);
	return EXIT_REFUSED;
}

static bool make_tables(struct comparison *c, pfm_session_t *s)
{
	size_t n;

	c->n_events = pfm_session_size(s);
	n = (size_t)c->n_commands * c->n_rounds * (c->n_events + 1);
	c->values = calloc(n, sizeof(*c->values));
	c->names = calloc(c->n_events + 1, sizeof(*c->names));
	c->why = calloc(c->n_events + 1, sizeof(*c->why));
	for (unsigned i = 0; i < c->n_events && c->names; i++) {
		pfm_count_info_t info = PFM_INIT(info);

		pfm_describe_count(s, i, &info);
		c->names[i] = strdup(info.name);
	}
	if (c->names)
		c->names[c->n_events] = strdup("duration_time");
	return c->values && c->names && c->why;
}

/* Stores the counts of one run. Only exact and scaled counts have a value. */
static int take_counts(struct comparison *c, pfm_session_t *s, unsigned command, unsigned round,
                       double elapsed)
{
	pfm_count_t *counts = calloc(c->n_events + 1, sizeof(*counts));
	int rc = counts ? EXIT_DONE : report_no_memory();

	for (unsigned i = 0; i < c->n_events && counts; i++)
		counts[i].size = sizeof(*counts);
	if (rc == EXIT_DONE && pfm_read_session(s, counts, c->n_events) != PFMLIB_SUCCESS)
		rc = report_bad_option("counts", pfm_session_errno(s));
	for (unsigned i = 0; i < c->n_events && rc == EXIT_DONE; i++) {
		bool has = pfm_counter_quality(counts[i].quality, counts[i].cause) <=
		           PFM_QUALITY_SCALED;

		*get_value_at(c, command, round, i) = has ? (double)counts[i].value : (double)NAN;
		if (!has)
			c->why[i] = pfm_cause_name(counts[i].cause);
	}
	*get_value_at(c, command, round, c->n_events) = elapsed * 1e9;
	free(counts);
	return rc;
}

/* Runs one command. Returns its exit status, which ends the comparison unless it is 0. */
static int run_command(struct stat_job *job, struct comparison *c, unsigned command, unsigned round)
{
	struct child child = { .pid = 0 };
	pfm_session_t *s = NULL;
	uint64_t began;
	int status = 0, rc;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	rc = child_prepare(c->commands[command], &mask, &child);
	if (rc == EXIT_DONE)
		rc = open_for(job, child.pid, &s);
	if (rc == EXIT_DONE && !c->values && !make_tables(c, s))
		rc = report_no_memory();
	if (rc == EXIT_DONE && pfm_start_session(s) != PFMLIB_SUCCESS)
		rc = report_bad_option("counting", pfm_session_errno(s));
	began = now_ns();
	if (rc == EXIT_DONE)
		rc = child_start(c->commands[command], &child);
	while (rc == EXIT_DONE && waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == EXIT_DONE) {
		child.pid = 0;
		pfm_stop_session(s);
		rc = take_counts(c, s, command, round, (double)(now_ns() - began) / NS);
	}
	pfm_close_session(s);
	base_discard_child(&child);
	return rc == EXIT_DONE ? child_get_status(c->commands[command][0], status) : rc;
}

static int run_rounds(struct stat_job *job, struct comparison *c)
{
	for (unsigned round = 0; round < c->n_rounds; round++)
		for (unsigned i = 0; i < c->n_commands; i++) {
			unsigned command = round % 2 ? c->n_commands - 1 - i : i;
			int rc = run_command(job, c, command, round);

			if (rc != EXIT_DONE)
				return rc;
		}
	return EXIT_DONE;
}

/* ---- evaluating ---- */

struct command_ratio {
	bool known; /* every round has both values, and all are nonzero */
	double value, low, high;
};

static struct command_ratio compute_ratio(const struct comparison *c, unsigned command,
                                          unsigned event)
{
	double sum = 0, squares = 0, mean, width, n = c->n_rounds;

	for (unsigned round = 0; round < c->n_rounds; round++) {
		double a = *get_value_at(c, 0, round, event),
		       b = *get_value_at(c, command, round, event);

		if (!(a > 0) || !(b > 0))
			return (struct command_ratio){ 0 };
		sum += log(b / a);
	}
	mean = sum / n;
	for (unsigned round = 0; round < c->n_rounds; round++) {
		double d = log(*get_value_at(c, command, round, event) /
		               *get_value_at(c, 0, round, event)) -
		           mean;

		squares += d * d;
	}
	width = get_student_t(c->n_rounds - 1) * sqrt(squares / (n - 1) / n);
	return (struct command_ratio){ true, exp(mean), exp(mean - width), exp(mean + width) };
}

static bool is_shown(const struct command_ratio *r)
{
	return r->known && (r->low > 1 || r->high < 1);
}

static double compute_mean(const struct comparison *c, unsigned command, unsigned event)
{
	double sum = 0;

	for (unsigned round = 0; round < c->n_rounds; round++)
		sum += *get_value_at(c, command, round, event);
	return sum / c->n_rounds;
}

static void put_row(FILE *out, const struct comparison *c, unsigned event)
{
	char number[GROUPED_MAX];

	fprintf(out, "%s\n", c->names[event]);
	for (unsigned k = 0; k < c->n_commands; k++) {
		struct command_ratio r = compute_ratio(c, k, event);
		double mean = compute_mean(c, k, event);

		if (isnan(mean)) {
			fprintf(out, "  %c  %20s  %s\n", 'A' + (int)k, "not counted",
			        c->why[event] ? c->why[event] : "");
			continue;
		}
		fprintf(out, "  %c  %20s", 'A' + (int)k,
		        group_digits((uint64_t)(mean + 0.5), number));
		if (k && r.known)
			fprintf(out, "  %.4f of A, 95 %% interval %.4f to %.4f%s", r.value, r.low,
			        r.high, is_shown(&r) ? "" : ": no significant difference");
		else if (k)
			fputs("  no ratio: a count is zero", out);
		fputc('\n', out);
	}
}

static void put_json_row(FILE *out, const struct comparison *c, unsigned event)
{
	struct json j = { .out = out };

	for (unsigned k = 1; k < c->n_commands; k++) {
		struct command_ratio r = compute_ratio(c, k, event);
		double a = compute_mean(c, 0, event), b = compute_mean(c, k, event);

		put_begin(&j, NULL, '{');
		put_text(&j, "event", c->names[event]);
		put_text(&j, "command", c->commands[k][0]);
		put_int(&j, "number", (int64_t)k + 1);
		put_text(&j, "base", c->commands[0][0]);
		put_int(&j, "rounds", c->n_rounds);
		if (isnan(a) || isnan(b)) {
			put_null(&j, "base_mean");
			put_null(&j, "mean");
		} else {
			put_real(&j, "base_mean", a);
			put_real(&j, "mean", b);
		}
		if (r.known) {
			put_real(&j, "ratio", r.value);
			put_real(&j, "low", r.low);
			put_real(&j, "high", r.high);
		} else {
			put_null(&j, "ratio");
		}
		put_bool(&j, "difference", is_shown(&r));
		put_end(&j, '}');
		put_line(&j);
	}
}

static int put_comparison(const struct stat_options *options, const struct comparison *c)
{
	FILE *out = options->json ? stdout : stderr;
	char command[256];

	if (options->output)
		out = term_open(options->output, options->append);
	if (!out)
		return report_bad_option(options->output, errno);
	if (!options->json) {
		fprintf(out, "%u interleaved rounds\n", c->n_rounds);
		for (unsigned k = 0; k < c->n_commands; k++)
			fprintf(out, "  %c  %s\n", 'A' + (int)k,
			        quote_command(c->commands[k], command, sizeof(command)));
		fputc('\n', out);
	}
	for (unsigned i = 0; i <= c->n_events; i++)
		(options->json ? put_json_row : put_row)(out, c, i);
	if (options->output && fclose(out) != 0)
		return report_bad_option(options->output, errno);
	return EXIT_DONE;
}

/* EXIT_REFUSED if a value of a command grew beyond the limit of --fail-above. */
static int report_growth(const struct stat_regions *options, const struct comparison *c)
{
	unsigned n = 0;

	for (unsigned k = 1; k < c->n_commands; k++)
		for (unsigned i = 0; i <= c->n_events; i++) {
			struct command_ratio r = compute_ratio(c, k, i);

			n += r.known && r.low > 1 + options->limit;
		}
	if (!options->has_limit || !n)
		return EXIT_DONE;
	fprintf(stderr, "%s: %u value%s grew by more than %g%%\n", program_name, n,
	        n > 1 ? "s" : "", 100 * options->limit);
	return EXIT_REFUSED;
}

static void release(struct comparison *c)
{
	for (unsigned i = 0; c->names && i <= c->n_events; i++)
		free(c->names[i]);
	free(c->names);
	free(c->values);
	free(c->why);
}

int compare_commands(struct command_args *args, struct stat_job *job)
{
	struct comparison c = { .n_rounds = job->timing.repeat > 1 ? job->timing.repeat
		                                                   : USUAL_ROUNDS };
	int rc;

	c.n_commands = split_operands(args->operands, c.commands, MAX_COMMANDS);
	if (!c.n_commands)
		return report_usage_error(
			args, "expected a command on each side of ::, and at most %d commands.",
			MAX_COMMANDS);
	rc = check_option_modes(args, job, STAT_COMMANDS);
	if (rc == EXIT_DONE)
		rc = check_rounds(args, job);
	if (rc != EXIT_DONE)
		return rc;
	if (!job->request.events.n &&
	    !event_list_add(&job->request.events,
	                    "task-clock,page-faults,context-switches,cycles,instructions"))
		return report_bad_option("events", ENOMEM);
	job->ctx = open_context(job->options.model);
	if (!job->ctx)
		return EXIT_REFUSED;
	rc = run_rounds(job, &c);
	if (rc == EXIT_DONE)
		rc = put_comparison(&job->options, &c);
	if (rc == EXIT_DONE)
		rc = report_growth(&job->regions, &c);
	release(&c);
	return rc;
}
