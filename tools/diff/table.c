/* SPDX-License-Identifier: MIT */
/* The table of a comparison, and what its stars mean. */
#include "diff/table.h"

#include <math.h>
#include <string.h>
#include "common/columns.h"
#include "common/pfm.h"
#include "diff/matches.h"
#include "report/view.h"

enum { NAMES_MIN = 24 }; /* columns of a terminal for names, before other columns are left out */

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

size_t count_event_rows(const struct diff_job *job, size_t i, size_t *n_shown)
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

enum { RUNS_TEXT = 40 };

/* " of 5 recordings", or "" if each side has one. */
static const char *format_runs(const struct diff *d, unsigned side, char text[RUNS_TEXT])
{
	text[0] = '\0';
	if (has_several_runs(d))
		snprintf(text, RUNS_TEXT, " of %u recording%s", d->n_runs[side],
		         d->n_runs[side] > 1 ? "s" : "");
	return text;
}

static void put_event_title(const struct diff_job *job, uint32_t event, const struct row_layout *l)
{
	const struct diff_event *e = &job->diff.events[event];
	char old_samples[GROUPED_MAX], new_samples[GROUPED_MAX], title[NAME_LINE], text[256],
		runs[SIDES][RUNS_TEXT];
	uint64_t old_n = e->sum[OLD_SIDE].samples, new_n = e->sum[NEW_SIDE].samples;
	size_t n = 0, significant = 0;

	for (size_t i = 0; i < job->diff.n_rows; i++) {
		const struct diff_row *row = &job->diff.rows[i];

		n += row->event == event && row->place;
		significant += row->event == event && row->place && row->is_significant;
	}
	profile_format_line(e->name, title);
	if (job->diff.is_exact) {
		old_n = e->sum[OLD_SIDE].weight;
		new_n = e->sum[NEW_SIDE].weight;
	}
	printf("%s%s%s: ", term_colour_begin(stdout, BOLD), title, term_colour_end(stdout));
	snprintf(text, sizeof(text), "%s %s%s, then %s%s; %zu of %zu places changed significantly",
	         group_digits(old_n, old_samples), job->diff.is_exact ? "counted" : "samples",
	         format_runs(&job->diff, OLD_SIDE, runs[OLD_SIDE]),
	         group_digits(new_n, new_samples),
	         format_runs(&job->diff, NEW_SIDE, runs[NEW_SIDE]), significant, n);
	term_wrap(stdout, count_columns(title, strlen(title)) + 2, 2, text);
	for (unsigned i = 0; i < N_COLUMNS; i++)
		if (l->shows[i])
			printf("%*s", (int)columns[i].column.width, columns[i].title);
	putchar('\n');
}

/* An emulator's counts are whole numbers. */
static void put_exact_value(const struct diff_row *row, enum diff_column column)
{
	const uint64_t *weight = row->weight;

	if (column == CHANGE)
		printf("%c %+16lld", row->is_significant ? '*' : ' ',
		       (long long)(weight[NEW_SIDE] - weight[OLD_SIDE]));
	else
		printf(" %9llu", (unsigned long long)weight[column == NEW_SAMPLES]);
}

static void put_value(const struct diff_row *row, enum diff_column column, bool is_exact)
{
	if (is_exact && (column == CHANGE || column == OLD_SAMPLES || column == NEW_SAMPLES)) {
		put_exact_value(row, column);
		return;
	}
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
			put_value(row, (enum diff_column)i, job->diff.is_exact);
	fputs(term_colour_end(stdout), stdout);
	if (row->place)
		put_key_columns(stdout, row->profile, row->place, job->diff.options.keys, &l->keys,
		                0);
	else
		puts("  [total]");
}

static void put_note(const char *text)
{
	term_wrap(stdout, 0, 2, text);
}

#define SMALLEST_CHANGE 0.01 /* of the event that is worth more recordings */

/* The place whose change is the largest of those that are not significant; NULL: none. */
static const struct diff_row *find_largest_unmarked(const struct diff *d)
{
	const struct diff_row *found = NULL;

	for (size_t i = 0; i < d->n_rows; i++)
		if (d->rows[i].place && !d->rows[i].is_significant &&
		    fabs(d->rows[i].change) >= SMALLEST_CHANGE &&
		    (!found || fabs(d->rows[i].change) > fabs(found->change)))
			found = &d->rows[i];
	return found;
}

/* Says how many runs would show a change that is not marked. */
static void put_needed_runs(const struct diff *d)
{
	const struct diff_row *row = find_largest_unmarked(d);
	double n = row ? estimate_needed_runs(row) : 0;
	char name[NAME_LINE], text[NAME_LINE + 200];

	if (n <= fmax(d->n_runs[OLD_SIDE], d->n_runs[NEW_SIDE]) || n > 1000)
		return;
	profile_format_line(row->profile->texts.text[row->place->function], name);
	snprintf(
		text, sizeof(text),
		"To mark a change as large as that of %s (%+.2f%%), %s%.0f recordings of each side "
		"are needed.",
		*name ? name : "the largest place", 100 * row->change,
		has_several_runs(d) ? "about " : "at least ", n);
	put_note(text);
}

/* Says what the stars mean, and what these recordings cannot show. */
static void put_notes(const struct diff_job *job)
{
	const struct diff *d = &job->diff;
	char text[256];

	if (d->n_without_code) {
		snprintf(text, sizeof(text),
		         "%zu function%s or file%s of one side alone could not be compared by %s "
		         "code: the file is not here, or not of x86-64 or arm64.",
		         d->n_without_code, d->n_without_code > 1 ? "s" : "",
		         d->n_without_code > 1 ? "s" : "", d->n_without_code > 1 ? "their" : "its");
		put_note(text);
	}
	if (d->is_exact) {
		put_note("An emulator counted each instruction: every difference is one of the "
		         "programs, and stars mark all of them.");
		return;
	}
	if (has_several_runs(d)) {
		snprintf(text, sizeof(text),
		         "Intervals hold for the differences between the runs of a side. Of all "
		         "places with a star, at most %g%% are expected to have it by chance.",
		         100 * (1 - d->confidence));
		put_note(text);
	} else {
		put_note("One recording of each side: intervals and stars hold for chance in "
		         "sampling; how much two runs of one program differ is not known. Record "
		         "several: pfm record -r 5 --alternate -- OLD :: NEW");
	}
	put_needed_runs(d);
}

void put_diff_table(const struct diff_job *job)
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
		put_offers(d, d->rows[i].event);
		putchar('\n');
	}
	put_notes(job);
}
