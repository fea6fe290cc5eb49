/* SPDX-License-Identifier: MIT */
/* pfm diff: which functions changed between two recordings, with significance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/columns.h"
#include "diff/rows.h"
#include "common/pfm.h"
#include "report/view.h"

/* Exit statuses as those of diff(1): a change beyond the limit, and an error. */
enum { EXIT_REGRESSED = 1, EXIT_TROUBLE = 2 };

enum {
	OPT_JSON = LONG_ONLY,
	OPT_SVG,
	OPT_SORT,
	OPT_NORMALIZE,
	OPT_FAIL_ABOVE,
	OPT_CONFIDENCE,
	OPT_LIMIT,
	OPT_TASK,
	OPT_SYMBOL,
	OPT_DEBUG_FOLDER
};

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each place" },
	{ OPT_SVG, "svg", NULL,
	  "write a flame graph of NEW as SVG: red boxes grew significantly since OLD, blue ones "
	  "fell" },
	{ OPT_NORMALIZE, "normalize", "BY",
	  "compare shares of the event (share, the default), its counts (count), counts for each "
	  "second (time), counts for each count of another event (its name), or counts for each "
	  "unit of work (its number in both recordings, as 1000,1200)" },
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
	{ 0, NULL, NULL, NULL }
};

enum { NAMES_MIN = 24 }; /* columns of a terminal for names, before other columns are left out */

struct diff_job {
	struct diff diff;
	bool json, svg;
	uint64_t line_limit; /* rows of each event; 0: all */
	double fail_above;   /* fraction of the old value; negative: not given */
};

/* ---- text ------------------------------------------------------------------------------------ */

static enum style choose_row_style(const struct diff_row *row)
{
	if (!row->is_significant)
		return PLAIN;
	return row->change > 0 ? RED : GREEN;
}

/* Columns before the names, with their blanks. */
enum diff_column { CHANGE, OLD_VALUE, NEW_VALUE, RATIO, OLD_SAMPLES, NEW_SAMPLES, N_COLUMNS };

static const struct {
	const char *title;
	struct table_column column;
} columns[N_COLUMNS] = {
	[CHANGE] = { "change", { 18, 0 } },       [OLD_VALUE] = { "old", { 9, 3 } },
	[NEW_VALUE] = { "new", { 9, 3 } },        [RATIO] = { "ratio", { 10, 2 } },
	[OLD_SAMPLES] = { "samples", { 10, 1 } }, [NEW_SAMPLES] = { "then", { 10, 1 } },
};

/* How the rows of an event are laid out. */
struct row_layout {
	bool shows[N_COLUMNS];
	struct key_layout keys;
};

static size_t count_event_rows(const struct diff_job *job, size_t i, size_t *n_shown)
{
	const struct diff *d = &job->diff;
	size_t n = 1;

	while (i + n < d->n_rows && d->rows[i + n].event == d->rows[i].event)
		n++;
	*n_shown = job->line_limit && job->line_limit < n ? (size_t)job->line_limit : n;
	return n;
}

/* Lays out @n rows from number @i on: some columns may not fit into a terminal. */
static struct row_layout lay_out_rows(const struct diff_job *job, size_t i, size_t n)
{
	struct row_layout l = { .keys = plain_key_layout };
	struct table_column widths[N_COLUMNS];
	size_t terminal = term_width(stdout), used = 0;
	unsigned shown = ~0u;

	for (unsigned k = 0; k < N_COLUMNS; k++)
		widths[k] = columns[k].column;
	if (terminal)
		shown = choose_columns(widths, N_COLUMNS,
		                       terminal > NAMES_MIN ? terminal - NAMES_MIN : 0);
	for (unsigned k = 0; k < N_COLUMNS; k++) {
		l.shows[k] = shown >> k & 1;
		used += l.shows[k] ? widths[k].width : 0;
	}
	if (!terminal)
		return l;
	l.keys = (struct key_layout){ 0 };
	for (size_t k = i; k < i + n; k++)
		if (job->diff.rows[k].place)
			measure_keys(&l.keys, job->diff.rows[k].profile, job->diff.rows[k].place,
			             job->diff.options.keys, 0);
	fit_keys(&l.keys, job->diff.options.keys, terminal > used ? terminal - used : 0);
	return l;
}

static void put_event_title(const struct diff_job *job, uint32_t event, const struct row_layout *l)
{
	const struct diff_event *e = &job->diff.events[event];
	char old_samples[GROUPED_MAX], new_samples[GROUPED_MAX], title[NAME_LINE], text[256];
	size_t n = 0, significant = 0;

	for (size_t i = 0; i < job->diff.n_rows; i++) {
		const struct diff_row *row = &job->diff.rows[i];

		n += row->event == event && row->place;
		significant += row->event == event && row->place && row->is_significant;
	}
	profile_format_line(e->name, title);
	printf("%s%s%s: ", term_colour_begin(stdout, BOLD), title, term_colour_end(stdout));
	snprintf(text, sizeof(text), "%s samples, then %s; %zu of %zu places changed significantly",
	         group_digits(e->sum[OLD_SIDE].samples, old_samples),
	         group_digits(e->sum[NEW_SIDE].samples, new_samples), significant, n);
	term_wrap(stdout, count_columns(title, strlen(title)) + 2, 2, text);
	for (unsigned i = 0; i < N_COLUMNS; i++)
		if (l->shows[i])
			printf("%*s", (int)columns[i].column.width, columns[i].title);
	putchar('\n');
}

static void put_value(const struct diff_row *row, enum diff_column column)
{
	switch (column) {
	case CHANGE:
		printf("%c %+7.2f%% +-%5.2f", row->is_significant ? '*' : ' ', 100 * row->change,
		       100 * (row->high - row->change));
		break;
	case OLD_VALUE: printf(" %7.2f%%", 100 * row->value[OLD_SIDE]); break;
	case NEW_VALUE: printf(" %7.2f%%", 100 * row->value[NEW_SIDE]); break;
	case RATIO:
		if (row->samples[OLD_SIDE])
			printf(" %+8.1f%%",
			       100 * (row->value[NEW_SIDE] / row->value[OLD_SIDE] - 1));
		else
			printf(" %9s", "new");
		break;
	case OLD_SAMPLES: printf(" %9llu", (unsigned long long)row->samples[OLD_SIDE]); break;
	default: printf(" %9llu", (unsigned long long)row->samples[NEW_SIDE]); break;
	}
}

static void put_row(const struct diff_job *job, const struct diff_row *row,
                    const struct row_layout *l)
{
	fputs(term_colour_begin(stdout, choose_row_style(row)), stdout);
	for (unsigned i = 0; i < N_COLUMNS; i++)
		if (l->shows[i])
			put_value(row, (enum diff_column)i);
	fputs(term_colour_end(stdout), stdout);
	if (row->place)
		put_key_columns(stdout, row->profile, row->place, job->diff.options.keys, &l->keys,
		                0);
	else
		puts("  [total]");
}

static void put_rows(const struct diff_job *job)
{
	const struct diff *d = &job->diff;
	size_t n, shown;

	for (size_t i = 0; i < d->n_rows; i += n) {
		struct row_layout layout;

		n = count_event_rows(job, i, &shown);
		layout = lay_out_rows(job, i, shown);
		put_event_title(job, d->rows[i].event, &layout);
		for (size_t k = i; k < i + shown; k++)
			put_row(job, &d->rows[k], &layout);
		if (n > shown)
			printf("%zu more place%s changed less; -n 0 shows all\n", n - shown,
			       n - shown > 1 ? "s" : "");
		putchar('\n');
	}
}

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

static void report_renamed_files(const struct diff *d)
{
	const char *old_name, *new_name;
	char line[2][NAME_LINE];

	if (has_renamed_files(d, &old_name, &new_name))
		fprintf(stderr,
		        "pfm diff: the same functions are in %s and in %s; --sort symbol compares "
		        "them\n",
		        profile_format_line(old_name, line[0]),
		        profile_format_line(new_name, line[1]));
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
		put_rows(job);
	report_renamed_files(&job->diff);
	return report_regressions(job);
}

/* Reads "5%", "5" or "0.5%" as a fraction. */
static bool read_percent(struct command_args *args, const char *name, const char *value,
                         double most, double *out)
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
	case OPT_SORT: return option_keys(args, value, DIFF_KEYS, &job->diff.options.keys);
	case OPT_NORMALIZE: set_divisor(&job->diff, value); return true;
	case OPT_FAIL_ABOVE:
		return read_percent(args, "--fail-above", value, 1e6, &job->fail_above);
	case OPT_CONFIDENCE:
		return read_percent(args, "--confidence", value, 99.9999, &job->diff.confidence);
	case 'e': job->diff.event = value; return true;
	case OPT_TASK: job->diff.options.task = value; return true;
	case OPT_SYMBOL: job->diff.options.symbol = value; return true;
	case OPT_DEBUG_FOLDER: job->diff.options.debug_folder = value; return true;
	default:
		return option_number(args, id == 'n' ? "-n" : "--limit", value, 0, UINT32_MAX,
		                     &job->line_limit);
	}
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
	if (job.svg && (job.json || job.fail_above >= 0 || job.diff.divisor != DIVIDE_BY_TOTAL))
		return report_usage_error(args, "--svg compares shares of stacks: it cannot be "
		                                "combined with --json, --fail-above or "
		                                "--normalize.");
	if (args->n != SIDES)
		return report_usage_error(args, "expected two recordings, got %d.", args->n);
	if (job.line_limit == UINT64_MAX)
		job.line_limit = job.json ? 0 : 40;
	for (unsigned i = 0; i < SIDES; i++)
		job.diff.paths[i] = args->operands[i];
	status = print_diff(&job);
	free_diff(&job.diff);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.usage = "[OPTION]... OLD NEW",
	.summary = "show which functions changed significantly between two recordings",
	.about =
		"Compares two recordings, function by function. Each line has the change as a "
		"fraction of the event's old value with its 95 % interval, the old and the new "
		"value, their ratio, and the samples. The largest changes come first. A star and a "
		"colour mark changes that are significant: in 95 % of comparisons of equal "
		"programs no place at all is marked, however many places there are.\n"
		"The exit status is 0; 1 with --fail-above if a place grew; 2 after an error.",
	.examples = "Compare two versions of a program\n"
		    "pfm record -o old.data -- ./work && pfm record -o new.data -- ./work && pfm "
		    "diff old.data new.data\n"
		    "Fail a build if a function takes 5 % more of the time\n"
		    "pfm diff --fail-above 5% old.data new.data\n"
		    "See in a flame graph where the changes are\n"
		    "pfm diff --svg old.data new.data >diff.svg\n"
		    "Compare the counts themselves, not the shares\n"
		    "pfm diff --normalize count old.data new.data\n",
	.options = options,
	.run = run_diff
};
