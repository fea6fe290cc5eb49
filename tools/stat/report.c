/* SPDX-License-Identifier: MIT */
/* Prints counts: value, quality, cause and remedy. An event that was not counted is never shown as
 * a number. */
#include "check_events/known.h"
#include "common/metric.h"
#include "show/show.h"
#include "stat/stat.h"
#include "base/text_output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 40, REMARK_MAX = 256 };

/* ---- text ------------------------------------------------------------------------------------ */

static void format_number(double value, char buf[NUMBER_MAX])
{
	const double most = 0x1p63 / 100;
	char whole[GROUPED_MAX];

	if (value >= 1 && value < most) {
		uint64_t hundredths = (uint64_t)(value * 100 + 0.5);

		snprintf(buf, NUMBER_MAX, "%s.%02u", group_digits(hundredths / 100, whole),
		         (unsigned)(hundredths % 100));
	} else {
		snprintf(buf, NUMBER_MAX, "%.6g", value);
	}
}

/* Returns the value, or the rounded mean of several runs. */
static uint64_t get_row_value(const pfm_tally_t *t)
{
	return t->counted < 2              ? t->count.value
	       : t->mean < 0x1p64 - 0x1p11 ? (uint64_t)(t->mean + 0.5)
	                                   : UINT64_MAX;
}

/* Returns the nanoseconds that it was enabled, or running. */
static uint64_t get_row_enabled_time(const pfm_tally_t *t)
{
	return t->counted ? (uint64_t)(t->enabled + 0.5) : t->count.enabled;
}

static uint64_t get_row_running_time(const pfm_tally_t *t)
{
	return t->counted ? (uint64_t)(t->running + 0.5) : t->count.running;
}

/* Returns the percentage of the enabled time in which it was running. */
static double get_row_running_share(const pfm_tally_t *t)
{
	return get_row_enabled_time(t)
	               ? 100.0 * (double)get_row_running_time(t) / (double)get_row_enabled_time(t)
	               : 0;
}

static void format_tally_value(const pfm_tally_t *t, char buf[NUMBER_MAX])
{
	if (!t->counted)
		snprintf(buf, NUMBER_MAX, "<%s>", pfm_quality_name(t->count.quality));
	else if (t->count.scale != 1)
		format_number(t->mean * t->count.scale, buf);
	else
		group_digits(get_row_value(t), buf);
}

size_t measure_widest_label(const struct stat_result *result)
{
	size_t widest = 0;

	for (unsigned i = 0; i < result->n_rows; i++)
		if (strlen(result->rows[i].label) > widest)
			widest = strlen(result->rows[i].label);
	return widest;
}

void print_label(const struct stat_job *job, const char *label, size_t widest)
{
	const char *before = job->options.by != BY_CPU || job->targets.tell_cgroups ? ""
	                     : *label                                               ? "CPU "
	                                                                            : "    ";

	fprintf(job->report.out, "  %s%-*s", before, (int)widest, label);
}

/* Returns the width of the column of units; 0 if no row has a unit. */
static size_t measure_widest_unit(const struct stat_result *result)
{
	size_t widest = 0;

	for (unsigned i = 0; i < result->n_rows; i++)
		if (strlen(result->rows[i].info.unit) > widest)
			widest = strlen(result->rows[i].info.unit);
	return widest;
}

/* Returns half of the 95 % interval of a count that was estimated from slots, in percent; negative:
 * unknown. */
static double compute_row_interval(const struct stat_job *job, const struct stat_row *row)
{
	return job->rotation.is_on ? compute_slot_interval(&row->slot_rates, job->command != NULL)
	                           : -1;
}

/* Formats the remark after a count. @interval: of compute_row_interval(). */
static void format_remark(const pfm_tally_t *t, unsigned repeat, double interval,
                          char buf[REMARK_MAX])
{
	int n = 0;

	buf[0] = 0;
	if (t->counted && t->count.quality != PFM_QUALITY_EXACT)
		n += snprintf(buf, REMARK_MAX, "  %s", pfm_quality_name(t->count.quality));
	if (t->counted && is_scaled(&t->count) && get_row_enabled_time(t))
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, ": counted %.1f%% of the time",
		              get_row_running_share(t));
	if (t->counted && t->count.cause == PFM_CAUSE_ERRATUM)
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, "  erratum");
	if (repeat > 1 && t->counted > 1)
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, "  +- %.2f%%",
		              compute_relative_deviation(t));
	else if (interval >= 0 && t->counted && is_scaled(&t->count))
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, "  +- %.2f%%", interval);
	if (t->counted && t->counted < t->runs)
		snprintf(buf + n, REMARK_MAX - (size_t)n, "  in %u of %u runs", t->counted,
		         t->runs);
}

/* Prints a ratio, such as "0.98 insn per cycle", "110.27 K/s", "3.1 % branch_miss_share". */
static void print_ratio(FILE *out, const struct ratio *r, pfm_quality_t quality)
{
	static const char prefixes[] = " KMGT";
	double value = r->value;
	unsigned i = 0;

	if (strcmp(r->unit, "/s") == 0) {
		for (; value >= 1000 && prefixes[i + 1]; i++)
			value /= 1000;
		fprintf(out, "  # %.3f %.*s/s", value, i > 0, prefixes + i);
	} else {
		fprintf(out, "  # %.*f %s", strcmp(r->unit, "%") == 0 ? 2 : 3, value, r->unit);
	}
	if (!*r->unit || strcmp(r->unit, "%") == 0)
		fprintf(out, "%s%s", *r->unit ? " " : "", r->name);
	/* The line shows the quality of its count already. */
	if (r->quality > quality && quality != PFM_QUALITY_PRETENDED)
		fprintf(out, " (%s)", pfm_quality_name(r->quality));
}

static void print_row(const struct stat_job *job, const struct stat_row *row, double elapsed,
                      double time, size_t units, size_t labels)
{
	const pfm_tally_t *t = &row->tally;
	const pfm_count_info_t *info = &row->info;
	char value[NUMBER_MAX], remark[REMARK_MAX];
	struct ratio ratio;
	enum style style = !t->counted                             ? RED
	                   : t->count.quality == PFM_QUALITY_EXACT ? PLAIN
	                                                           : YELLOW;

	format_tally_value(t, value);
	format_remark(t, job->timing.repeat, compute_row_interval(job, row), remark);
	if (time >= 0)
		fprintf(job->report.out, "%12.6f", time);
	if (labels)
		print_label(job, row->label, labels);
	fprintf(job->report.out, "%s %19s%s ", term_colour_begin(job->report.out, style), value,
	        term_colour_end(job->report.out));
	if (units)
		fprintf(job->report.out, "%-*s ", (int)units, t->counted ? info->unit : "");
	fputs(info->name, job->report.out);
	if (*info->pmu && !strstr(info->name, info->pmu))
		fprintf(job->report.out, "  %s[%s]%s", term_colour_begin(job->report.out, DIM),
		        info->pmu, term_colour_end(job->report.out));
	fputs(remark, job->report.out);
	if (compute_row_ratio(job, row, elapsed, &ratio))
		print_ratio(job->report.out, &ratio, t->count.quality);
	fputc('\n', job->report.out);
}

bool is_from_generic_fallback(const pfm_ctx_t *ctx, const char *text)
{
	unsigned event;
	int pmu;

	return pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) == PFMLIB_SUCCESS &&
	       report_generic_fallback(ctx, pmu);
}

/* True if an earlier row has the same event, whose notes were printed already. */
static bool is_named_before(const struct stat_result *result, unsigned i, const char *name)
{
	for (unsigned k = 0; k < i; k++)
		if (strcmp(result->rows[k].info.name, name) == 0)
			return true;
	return false;
}

/* Prints the uncertainty and the rules of events, each event once. */
static void print_notes(const struct stat_job *job)
{
	char note[NOTE_MAX], known[KNOWN_TEXT_MAX];
	unsigned i;

	for (i = 0; i < job->result.n_rows; i++) {
		const char *name = job->result.rows[i].info.name;

		if (job->result.rows[i].own || is_named_before(&job->result, i, name))
			continue;
		if (*describe_uncertainty(job->ctx, name, note)) {
			fprintf(job->report.out, "\n  %s:\n    ", name);
			term_wrap(job->report.out, 4, 4, note);
		}
		print_remarks(job->report.out, job->ctx, name, "  rule: ");
		if (find_known_bias(job->ctx, name, known))
			fprintf(job->report.out, "  %s was checked: %s\n", name, known);
	}
}

static bool has_same_sentences(const pfm_count_info_t *a, const pfm_count_info_t *b)
{
	return strcmp(a->why, b->why) == 0 && strcmp(a->remedy, b->remedy) == 0;
}

/* True if an earlier row has the same cause and remedy, which were printed already. */
static bool is_reason_repeated(const struct stat_result *result, unsigned i,
                               const pfm_count_info_t *info)
{
	for (unsigned k = 0; k < i; k++)
		if (has_same_sentences(&result->rows[k].info, info))
			return true;
	return false;
}

/* Prints the names of events from row @i on with the same cause and remedy, each name once. */
static void print_names(const struct stat_job *job, unsigned i, const pfm_count_info_t *info)
{
	const char *between = "  ";

	for (unsigned k = i; k < job->result.n_rows; k++) {
		const pfm_count_info_t *other = &job->result.rows[k].info;

		if (!has_same_sentences(other, info) ||
		    (k > i && is_named_before(&job->result, k, other->name)))
			continue;
		fprintf(job->report.out, "%s%s", between, other->name);
		between = ", ";
	}
}

/* Prints why counts are not exact: each reason once with its events. */
static void print_reasons(const struct stat_job *job)
{
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		const pfm_count_info_t *info = &job->result.rows[i].info;

		if (!*info->why || is_reason_repeated(&job->result, i, info))
			continue;
		fputc('\n', job->report.out);
		print_names(job, i, info);
		fputs(":\n    ", job->report.out);
		term_wrap(job->report.out, 4, 4, info->why);
		if (*info->remedy) {
			fputs("    ", job->report.out);
			term_wrap(job->report.out, 4, 4, info->remedy);
		}
	}
}

void report_why(const struct stat_job *job)
{
	if (!job->options.json && !job->options.separator && !job->options.format)
		print_reasons(job);
}

/* Prints each run's time and its difference from the mean for --table. */
static void print_runs(const struct stat_job *job, double mean)
{
	double most = 0;
	unsigned i;

	fprintf(job->report.out, "\n  %sSeconds of each run, and the difference from the mean%s\n",
	        term_colour_begin(job->report.out, BOLD), term_colour_end(job->report.out));
	for (i = 0; i < job->timing.repeat; i++)
		if (fabs(job->result.run_seconds[i] - mean) > most)
			most = fabs(job->result.run_seconds[i] - mean);
	for (i = 0; i < job->timing.repeat; i++) {
		double distance = job->result.run_seconds[i] - mean;
		int marks = most > 0 ? (int)(fabs(distance) / most * 20 + 0.5) : 0;

		fprintf(job->report.out, "%20.6f  %+.6f %.*s\n", job->result.run_seconds[i],
		        distance, marks, "####################");
	}
}

static void print_counts(const struct stat_job *job, double elapsed, double time)
{
	const char *all = job->timing.outlived_counting ? ", of all of the command" : "";
	size_t units = measure_widest_unit(&job->result),
	       labels = measure_widest_label(&job->result);
	unsigned i;

	for (i = 0; i < job->result.n_rows; i++)
		if (!job->result.rows[i].own)
			is_from_generic_fallback(job->ctx, job->result.rows[i].info.name);
	if (time < 0)
		fprintf(job->report.out, "\n  %s%s%s\n\n", term_colour_begin(job->report.out, BOLD),
		        job->report.target, term_colour_end(job->report.out));
	for (i = 0; i < job->result.n_rows; i++)
		print_row(job, &job->result.rows[i], elapsed, time, units, labels);
	report_metrics(job, elapsed, time);
	if (time >= 0)
		return;
	report_children(job, elapsed);
	print_reasons(job);
	print_notes(job);
	if (job->options.table && job->result.runs)
		print_runs(job, elapsed);
	fprintf(job->report.out, "\n%20.6f seconds elapsed%s\n", elapsed,
	        job->timing.repeat > 1 ? ", mean of the runs" : "");
	if (job->command && job->result.runs && !job->targets.n_pids && !job->targets.n_tids)
		fprintf(job->report.out, "%20.6f seconds user%s\n%20.6f seconds system%s\n",
		        job->result.user / job->timing.repeat, all,
		        job->result.system / job->timing.repeat, all);
	fputc('\n', job->report.out);
}

/* ---- columns --------------------------------------------------------------------------------- */

void put_field(const struct stat_job *job, const char *text, const char *behind)
{
	base_put_csv(job->report.out, text, job->options.separator);
	fputs(behind, job->report.out);
}

void put_time_field(const struct stat_job *job, double time)
{
	char text[NUMBER_MAX];

	if (time < 0)
		return;
	snprintf(text, sizeof(text), "%.9f", time);
	put_field(job, text, job->options.separator);
}

static const char *const label_names[] = {
	[BY_NOTHING] = "cgroup", [BY_CPU] = "cpu",   [BY_CORE] = "core",     [BY_DIE] = "die",
	[BY_SOCKET] = "socket",  [BY_NODE] = "node", [BY_THREAD] = "thread",
};

void put_column_names(const struct stat_job *job)
{
	static const char *const names[] = { "running_ns", "running_percent", "ratio",
		                             "ratio_unit", "quality",         "cause" };

	if (job->timing.interval)
		put_field(job, "time", job->options.separator);
	if (job->targets.tell_cgroups && job->options.by != BY_NOTHING)
		fputs("cgroup_", job->report.out);
	if (has_row_labels(job))
		put_field(job, label_names[job->options.by], job->options.separator);
	put_field(job, "value", job->options.separator);
	put_field(job, "unit", job->options.separator);
	put_field(job, "event", job->options.separator);
	if (job->timing.repeats)
		put_field(job, "deviation", job->options.separator);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_field(job, names[i], job->options.separator);
	put_field(job, "error", "\n");
}

/* Prints a row of -x. The first fields are those of 'perf stat -x': value, unit, event, with -r the
 * deviation, running nanoseconds, percent of the time, two for metrics. Quality, cause and a
 * metric's standard error follow. */
static void print_columns_row(const struct stat_job *job, const struct stat_row *row,
                              double elapsed, double time)
{
	const pfm_tally_t *t = &row->tally;
	const char *sep = job->options.separator;
	char value[NUMBER_MAX], ratio[NUMBER_MAX] = "", error[NUMBER_MAX] = "", running[NUMBER_MAX],
				share[NUMBER_MAX];
	struct ratio beside = { "", "", 0, PFM_QUALITY_EXACT };

	if (compute_row_ratio(job, row, elapsed, &beside))
		snprintf(ratio, sizeof(ratio), "%.9g", beside.value);
	put_time_field(job, time);
	if (has_row_labels(job))
		put_field(job, row->label, sep);
	if (!t->counted)
		snprintf(value, sizeof(value), "<%s>", pfm_quality_name(t->count.quality));
	else if (t->count.scale != 1)
		snprintf(value, sizeof(value), "%.15g", t->mean * t->count.scale);
	else
		snprintf(value, sizeof(value), "%" PRIu64, get_row_value(t));
	put_field(job, value, sep);
	put_field(job, t->counted ? row->info.unit : "", sep);
	put_field(job, row->info.name, sep);
	/* A single run has no deviation. */
	if (t->counted > 1)
		snprintf(error, sizeof(error), "%.2f%%", compute_relative_deviation(t));
	if (job->timing.repeats)
		put_field(job, error, sep);
	snprintf(running, sizeof(running), "%" PRIu64, get_row_running_time(t));
	snprintf(share, sizeof(share), "%.2f", get_row_running_share(t));
	put_field(job, running, sep);
	put_field(job, share, sep);
	put_field(job, ratio, sep);
	put_field(job, *beside.unit ? beside.unit : beside.name, sep);
	put_field(job, pfm_quality_name(t->count.quality), sep);
	put_field(job, t->count.cause == PFM_CAUSE_NONE ? "" : pfm_cause_name(t->count.cause), sep);
	put_field(job, beside.quality == PFM_QUALITY_EXACT ? "" : "unknown", "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void put_event_notes(struct json *j, const pfm_ctx_t *ctx, const char *text)
{
	char note[NOTE_MAX];

	put_text_if(j, "note", describe_uncertainty(ctx, text, note));
	put_text_rules(j, ctx, text, true);
	if (is_from_generic_fallback(ctx, text))
		put_bool(j, "fallback", true);
}

static void put_reason(struct json *j, const pfm_count_info_t *info, pfm_quality_t quality,
                       pfm_cause_t cause)
{
	put_text(j, "quality", pfm_quality_name(quality));
	if (cause != PFM_CAUSE_NONE)
		put_text(j, "cause", pfm_cause_name(cause));
	if (quality == PFM_QUALITY_EXACT && cause == PFM_CAUSE_NONE)
		return;
	put_text_if(j, "why", info->why);
	put_text_if(j, "remedy", info->remedy);
	put_text_if(j, "evidence", info->evidence);
}

static void put_row_ratio(struct json *j, const struct stat_job *job, const struct stat_row *row,
                          double elapsed)
{
	struct ratio ratio;

	if (!compute_row_ratio(job, row, elapsed, &ratio))
		return;
	put_text(j, "ratio", ratio.name);
	put_number(j, "ratio_value", ratio.value);
	put_text_if(j, "ratio_unit", ratio.unit);
	put_text(j, "ratio_quality", pfm_quality_name(ratio.quality));
}

/* Adds the deviation over runs, or the interval from slots. */
static void put_deviation(struct json *j, const struct stat_job *job, const struct stat_row *row)
{
	const pfm_tally_t *t = &row->tally;
	const char *name = job->timing.repeats ? "deviation" : "interval";
	double deviation = -1;

	if (job->timing.repeats) {
		put_int(j, "runs", t->runs);
		put_int(j, "counted", t->counted);
		if (t->counted > 1)
			deviation = compute_relative_deviation(t);
	} else if (job->rotation.is_on && is_scaled(&t->count)) {
		put_int(j, "slots", row->slot_rates.n);
		deviation = compute_row_interval(job, row);
	} else {
		return;
	}
	if (deviation >= 0)
		put_real(j, name, deviation);
	else
		put_null(j, name);
}

static void put_count_line(const struct stat_job *job, const struct stat_row *row, double elapsed,
                           double time)
{
	const pfm_tally_t *t = &row->tally;
	const pfm_count_info_t *info = &row->info;
	struct json j = { .out = job->report.out };

	put_begin(&j, NULL, '{');
	if (time >= 0)
		put_real(&j, "time", time);
	put_text(&j, "event", info->name);
	put_text(&j, "pmu", info->pmu);
	if (job->targets.tell_cgroups && row->part)
		put_text(&j, "cgroup", row->part->label);
	if (job->options.by != BY_NOTHING)
		put_text(&j, label_names[job->options.by],
		         row->label + (job->options.by == BY_THREAD ? 0 : row->place));
	if (t->counted)
		put_count(&j, "value", get_row_value(t));
	else
		put_null(&j, "value");
	if (t->counted && (*info->unit || t->count.scale != 1)) {
		put_real(&j, "amount", t->mean * t->count.scale);
		put_text(&j, "unit", info->unit);
	}
	put_reason(&j, info, t->count.quality, t->count.cause);
	if (!row->own)
		put_event_notes(&j, job->ctx, info->name);
	put_count(&j, "enabled", get_row_enabled_time(t));
	put_count(&j, "running", get_row_running_time(t));
	put_int(&j, "group", info->group);
	put_row_ratio(&j, job, row, elapsed);
	put_deviation(&j, job, row);
	put_real(&j, "elapsed", elapsed);
	put_end(&j, '}');
	put_line(&j);
}

int report_counts(const struct stat_job *job, double elapsed, double time)
{
	unsigned i;

	if (!job->options.json && !job->options.separator)
		print_counts(job, elapsed, time);
	for (i = 0; i < job->result.n_rows; i++)
		if (job->options.json)
			put_count_line(job, &job->result.rows[i], elapsed, time);
		else if (job->options.separator)
			print_columns_row(job, &job->result.rows[i], elapsed, time);
	if (job->options.json || job->options.separator)
		report_metrics(job, elapsed, time);
	if (job->options.json && time < 0)
		report_children(job, elapsed);
	return fflush(job->report.out) ? errno : 0;
}
