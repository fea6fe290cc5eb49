/* SPDX-License-Identifier: MIT */
/* pfm diff: which functions changed between recordings of two sides, with significance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "common/profile_messages.h"
#include "diff/matches.h"
#include "diff/regions.h"
#include "diff/table.h"
#include "diff/visits.h"
#include "report/view.h"

/* Exit statuses as those of diff(1): a change beyond the limit, and an error. */

enum {
	OPT_JSON = LONG_ONLY,
	OPT_SVG,
	OPT_HTML,
	OPT_SORT,
	OPT_NORMALIZE,
	OPT_PER,
	OPT_MATCH,
	OPT_FAIL_ABOVE,
	OPT_CONFIDENCE,
	OPT_LIMIT,
	OPT_TASK,
	OPT_SYMBOL,
	OPT_DEBUG_FOLDER,
	OPT_SYMBOLS
};

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each place" },
	{ OPT_SVG, "svg", NULL,
	  "write a flame graph of NEW as SVG: red boxes grew significantly since OLD, blue ones "
	  "fell" },
	{ OPT_HTML, "html", "FILE",
	  "also write a page for browsers: a flame graph of NEW, coloured by changes, functions "
	  "and "
	  "call tree" },
	{ OPT_NORMALIZE, "normalize", "BY",
	  "compare shares of the event (share, the default), its counts (count), counts for each "
	  "second (time), counts for each count of another event (its name), or counts for each "
	  "unit of work (its number in both recordings, as 1000,1200)" },
	{ OPT_PER, "per", "UNIT",
	  "compare counts for each second, for each count of another event (its name), or for each "
	  "visit of a region ('NAME visit') that pfm record --regions has counted" },
	{ OPT_MATCH, "match", "OLD=NEW",
	  "compare function OLD of the old recordings with NEW of the new ones; may be repeated" },
	{ OPT_FAIL_ABOVE, "fail-above", "PERCENT",
	  "exit with status 1 if a place, or an event as a whole, grew significantly by more than "
	  "PERCENT of the event's old value" },
	{ OPT_CONFIDENCE, "confidence", "PERCENT",
	  "confidence of each interval, and of all significant changes together; default 95%" },
	{ OPT_SORT, "sort", "KEY,...",
	  "compare by these keys: task, object, symbol, line, cpu, cgroup; default object,symbol" },
	{ 'e', "event", "NAME", "only samples of this event; * and ? are wildcards" },
	{ OPT_TASK, "task", "NAME", "only samples of this task; * and ? are wildcards" },
	{ OPT_SYMBOL, "symbol", "NAME", "only samples in this function; * and ? are wildcards" },
	{ 'n', "lines", "N",
	  "show at most N places of each event, 0 for all; default 40, with --json all" },
	{ OPT_LIMIT, "limit", "N", "another name of --lines" },
	{ OPT_DEBUG_FOLDER, "debug-dir", "DIR",
	  "folder of separate debug files; default /usr/lib/debug" },
	{ OPT_SYMBOLS, "symbols", "DIR|URL",
	  "folder of programs and debug files by build id, or a server of them (debuginfod)" },
	{ 0, NULL, NULL, NULL }
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_side(struct json *j, const char *key, const struct diff_row *row, unsigned side)
{
	put_begin(j, key, '{');
	put_count(j, "samples", row->samples[side]);
	put_count(j, "weight", row->weight[side]);
	put_real(j, "value", row->value[side]);
	put_end(j, '}');
}

static void put_row_json(const struct diff_job *job, const struct diff_row *row)
{
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	if (row->place)
		put_key_members(&j, row->profile, row->place, job->diff.options.keys);
	else
		put_text(&j, "event", job->diff.events[row->event].name);
	put_bool(&j, "total", !row->place);
	put_side(&j, "old", row, OLD_SIDE);
	put_side(&j, "new", row, NEW_SIDE);
	put_begin(&j, "runs", '{');
	put_count(&j, "old", job->diff.n_runs[OLD_SIDE]);
	put_count(&j, "new", job->diff.n_runs[NEW_SIDE]);
	put_end(&j, '}');
	put_real(&j, "deviation", row->deviation);
	put_real(&j, "change", row->change);
	put_real(&j, "low", row->low);
	put_real(&j, "high", row->high);
	put_real(&j, "p", row->p);
	put_bool(&j, "significant", row->is_significant);
	put_end(&j, '}');
	put_line(&j);
}

static void put_rows_json(const struct diff_job *job)
{
	const struct diff *d = &job->diff;
	size_t n, shown;

	for (size_t i = 0; i < d->n_rows; i += n) {
		n = count_event_rows(job, i, &shown);
		for (size_t k = i; k < i + shown; k++)
			put_row_json(job, &d->rows[k]);
	}
	put_offers_json(d);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Reports rows that grew beyond the limit. Returns the exit status. */
static int report_regressions(const struct diff_job *job)
{
	size_t n = 0;

	for (size_t i = 0; job->fail_above >= 0 && i < job->diff.n_rows; i++)
		n += job->diff.rows[i].is_significant && job->diff.rows[i].surely > job->fail_above;
	if (!n)
		return EXIT_DONE;
	fprintf(stderr, "pfm diff: %zu place%s grew by more than %g%% of the old value\n", n,
	        n > 1 ? "s" : "", 100 * job->fail_above);
	return EXIT_REGRESSED;
}

static void report_renamed_file(const struct diff *d)
{
	char line[SIDES][NAME_LINE];

	if (d->renamed[NEW_SIDE])
		fprintf(stderr,
		        "pfm diff: %s and %s have the same functions: compared as one file\n",
		        profile_format_line(d->renamed[OLD_SIDE], line[OLD_SIDE]),
		        profile_format_line(d->renamed[NEW_SIDE], line[NEW_SIDE]));
}

static int print_diff(struct diff_job *job)
{
	if (job->svg) {
		job->diff.options.detail = STACKS;
		return put_diff_flame_graph(&job->diff, stdout) == EXIT_DONE ? EXIT_DONE
		                                                             : EXIT_TROUBLE;
	}
	if (compute_diff(&job->diff) != EXIT_DONE)
		return EXIT_TROUBLE;
	if (job->json)
		put_rows_json(job);
	else
		put_diff_table(job);
	report_renamed_file(&job->diff);
	if (job->html && write_diff_page(job) != EXIT_DONE)
		return EXIT_TROUBLE;
	return report_regressions(job);
}

/* Reads two positive numbers with a comma between. */
static bool read_numbers(const char *text, double numbers[SIDES])
{
	char *end;

	for (unsigned i = 0; i < SIDES; i++, text = end + 1) {
		numbers[i] = strtod(text, &end);
		if (end == text || !(numbers[i] > 0) || !isfinite(numbers[i]) ||
		    *end != (i + 1 < SIDES ? ',' : '\0'))
			return false;
	}
	return true;
}

static void set_divisor(struct diff *d, const char *value)
{
	static const char *const names[] = { [DIVIDE_BY_TOTAL] = "share",
		                             [DIVIDE_BY_NOTHING] = "count",
		                             [DIVIDE_BY_TIME] = "time" };

	d->divisor = read_numbers(value, d->numbers) ? DIVIDE_BY_NUMBERS : DIVIDE_BY_EVENT;
	d->divisor_event = value;
	if (is_visit_unit(value))
		d->divisor = DIVIDE_BY_VISITS;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(value, names[i]) == 0)
			d->divisor = (enum diff_divisor)i;
}

/* Applies option @id. False, and args->status, if it is invalid. */
static bool apply_option(struct command_args *args, struct diff_job *job, int id, const char *value)
{
	switch (id) {
	case OPT_JSON: job->json = true; return true;
	case OPT_SVG: job->svg = true; return true;
	case OPT_HTML: job->html = value; return true;
	case OPT_SORT: return option_keys(args, value, DIFF_KEYS, &job->diff.options.keys);
	case OPT_NORMALIZE: set_divisor(&job->diff, value); return true;
	case OPT_PER:
		set_divisor(&job->diff, strcmp(value, "second") == 0 ? "time" : value);
		return true;
	case OPT_FAIL_ABOVE:
		return option_percent(args, "--fail-above", value, 1e6, &job->fail_above);
	case OPT_CONFIDENCE:
		return option_percent(args, "--confidence", value, 99.9999, &job->diff.confidence);
	case 'e': job->diff.event = value; return true;
	case OPT_TASK: job->diff.options.task = value; return true;
	case OPT_SYMBOL: job->diff.options.symbol = value; return true;
	case OPT_DEBUG_FOLDER: job->diff.options.debug_folder = value; return true;
	case OPT_SYMBOLS: use_symbols(&job->diff.options, value); return true;
	case OPT_MATCH:
		if (add_match(&job->diff, value))
			return true;
		args->status = report_no_memory();
		return false;
	default:
		return option_number(args, id == 'n' ? "-n" : "--limit", value, 0, UINT32_MAX,
		                     &job->line_limit);
	}
}

/* Refuses options that do not go together. Returns an exit status. */
static int check_options(struct command_args *args, const struct diff_job *job)
{
	const struct option_rule rules[] = {
		{ job->svg && (job->json || job->fail_above >= 0 ||
		               job->diff.divisor != DIVIDE_BY_TOTAL),
		  "--svg compares shares of stacks: it cannot be combined with --json, "
		  "--fail-above or "
		  "--normalize." },
		{ job->svg && job->html, "--svg and --html cannot be combined." },
		{ job->svg && args->n > SIDES, "--svg compares two recordings." },
	};

	return check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0]));
}

/* Takes "OLD NEW", or "OLD... -- NEW...". Returns an exit status. */
static int take_recordings(struct command_args *args, struct diff *d)
{
	int n_old = args->n_before_dashes;

	if (!n_old && args->n == SIDES)
		n_old = 1;
	if (n_old < 1 || n_old >= args->n)
		return report_usage_error(
			args, "expected two recordings, or OLD... -- NEW..., got %d.", args->n);
	return add_diff_recordings(d, args->operands, (unsigned)args->n, (unsigned)n_old)
	               ? EXIT_DONE
	               : report_no_memory();
}

/* Functions that one side alone has are compared by their code if rows are functions. */
static bool compares_code(const struct diff_job *job)
{
	const unsigned keys = job->diff.options.keys;

	return !job->svg && keys & KEY_SYMBOL && !(keys & ~(unsigned)(KEY_OBJECT | KEY_SYMBOL));
}

static int run_diff(struct command_args *args)
{
	struct diff_job job = { .diff = { .confidence = 0.95,
		                          .options = { .keys = KEY_OBJECT | KEY_SYMBOL,
		                                       .merge_unnamed = true } },
		                .line_limit = UINT64_MAX,
		                .fail_above = -1 };
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		if (!apply_option(args, &job, id, value))
			return args->status;
	if (id < 0)
		return args->status;
	status = check_options(args, &job);
	if (status == EXIT_DONE)
		status = take_recordings(args, &job.diff);
	if (status != EXIT_DONE)
		return status;
	job.diff.options.code_ranges = compares_code(&job);
	if (job.line_limit == UINT64_MAX)
		job.line_limit = job.json ? 0 : 40;
	status = is_region_file(job.diff.recordings[0].path) ? diff_region_files(&job)
	                                                     : print_diff(&job);
	free_diff(&job.diff);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.usage = "[OPTION]... OLD NEW\n[OPTION]... OLD... -- NEW...",
	.summary = "show which functions changed significantly between two recordings",
	.about =
		"Compares two recordings, function by function. Each line has the change as a "
		"fraction of the event's old value with its 95 % interval, the old and the new "
		"value, their ratio, and the samples. The largest changes come first. A star and a "
		"colour mark changes that are significant: in 95 % of comparisons of equal "
		"programs no place at all is marked, however many places there are.\n"
		"Two recordings show chance in sampling alone. With several recordings of each "
		"program, the differences between runs are measured, and a star means that of all "
		"places with a star at most 5 % are expected to have it by chance.\n"
		"Results of pfm stat --regions --json are compared region by region, as means of a "
		"visit; with the results of several runs, the differences between runs are "
		"measured.\n"
		"The exit status is 0; 1 with --fail-above if a place grew; 2 after an error.",
	.examples = "Compare two versions of a program\n"
		    "pfm record -o old.data -- ./work && pfm record -o new.data -- ./work && pfm "
		    "diff old.data new.data\n"
		    "Compare five runs of each, taken in turns\n"
		    "pfm record -r 5 --alternate -- ./old :: ./new && pfm diff "
		    "perf.old.*.data -- perf.new.*.data\n"
		    "Fail a build if a function takes 5 % more of the time\n"
		    "pfm diff --fail-above 5% old.data new.data\n"
		    "See in a flame graph where the changes are\n"
		    "pfm diff --svg old.data new.data >diff.svg\n"
		    "Compare the counts themselves, not the shares\n"
		    "pfm diff --normalize count old.data new.data\n",
	.options = options,
	.run = run_diff
};
