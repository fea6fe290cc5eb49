/* SPDX-License-Identifier: MIT */
/* pfm top: tables on the screen, or below each other. */
#include "report/view.h"
#include "common/screen.h"
#include "top/top.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLAIN_ROWS = 20, /* where the output is not a screen */
	HEAD_LINES = 3,
	FOOT_LINES = 3
};

static const struct {
	unsigned keys;
	const char *name;
} key_sets[] = { { TOP_KEYS, "task, object, function" },
	         { KEY_OBJECT | KEY_SYMBOL, "object, function" },
	         { KEY_SYMBOL, "function" },
	         { KEY_OBJECT, "object" },
	         { KEY_TASK, "task" } };

enum { N_KEY_SETS = sizeof(key_sets) / sizeof(key_sets[0]) };

void choose_next_keys(struct top_job *job)
{
	size_t i = 0;

	while (i < N_KEY_SETS && key_sets[i].keys != job->keys)
		i++;
	job->keys = key_sets[(i + 1) % N_KEY_SETS].keys;
	forget_top_samples(job);
}

void choose_next_event(struct top_job *job)
{
	for (unsigned i = 1; i <= job->profile.n_events; i++) {
		unsigned event = (job->view.event + i) % job->profile.n_events;

		if (job->profile.samples[event]) {
			job->view.event = event;
			job->view.is_zoomed = false;
			return;
		}
	}
}

static void format_title(const struct top_job *job, char *text, size_t size)
{
	const struct profile *p = &job->profile;
	uint64_t n_lost = count_lost_records(&p->losses);
	char number[GROUPED_MAX], lost[64] = "", name[NAME_LINE];

	if (n_lost)
		snprintf(lost, sizeof(lost), ", %llu lost", (unsigned long long)n_lost);
	snprintf(text, size, "%s: %s samples, %.0f a second%s%s%s",
	         profile_format_line(get_event_name(p, job->view.event), name),
	         group_digits(p->samples[job->view.event], number), job->rate, lost,
	         job->is_paused ? ", paused" : "", job->has_ended ? ", ended" : "");
}

static const char *get_column_titles(const struct top_view *view)
{
	if (view->is_zoomed)
		return "         callers, the function first";
	if (!view->has_children)
		return view->has_cursor ? "             self" : "           self";
	if (view->is_by_children)
		return view->has_cursor ? "        *children             self"
		                        : "      *children             self";
	return view->has_cursor ? "         children            *self"
	                        : "       children            *self";
}

static const char *const help[] = {
	"q         quit, or go back",
	"up, down  choose a function; Enter shows its callers (with -g), Escape goes back",
	"s         sort by the share of the function itself, or with its callees (with -g)",
	"k         add up by other keys: task, object, function; begins anew",
	"e         show the next event",
	"p         pause: the table stays, samples are taken",
	"z         begin anew",
	"h         this help",
};

enum { N_HELP = sizeof(help) / sizeof(help[0]) };

static void add_up_samples(struct top_job *job)
{
	if (job->options.tree)
		profile_add_up_tree(&job->profile, job->options.tree);
}

void draw_top_screen(struct top_job *job)
{
	struct text_lines rows = { .line = NULL };
	char title[NAME_LINE];
	size_t columns, lines, size;

	screen_size(&columns, &lines);
	job->view.columns = columns > 1 ? columns - 1 : 1;
	size = lines > HEAD_LINES + FOOT_LINES ? lines - HEAD_LINES - FOOT_LINES : 1;
	if (job->line_limit && job->line_limit < size)
		size = (size_t)job->line_limit;
	format_title(job, title, sizeof(title));
	add_up_samples(job);
	job->chosen_place = put_top_rows(&job->profile, job->keys, &job->view, size, &rows);
	screen_begin();
	screen_put_line(title, true);
	screen_put_line("", false);
	screen_put_line(get_column_titles(&job->view), false);
	for (size_t i = 0; i < (job->has_help ? N_HELP : rows.n); i++)
		screen_put_line(job->has_help ? help[i] : rows.line[i], false);
	screen_put_line("", false);
	screen_put_line("q quit  h help  s sort  k keys  e event  p pause  z zero  Enter callers",
	                true);
	screen_end();
	text_lines_free(&rows);
}

static void print_tables(struct top_job *job)
{
	add_up_samples(job);
	for (unsigned i = 0; i < job->profile.n_events; i++) {
		struct text_lines rows = { .line = NULL };
		char title[NAME_LINE];

		job->view.event = i;
		if (!job->profile.samples[i] && job->profile.n_events > 1)
			continue;
		format_title(job, title, sizeof(title));
		put_top_rows(&job->profile, job->keys, &job->view,
		             job->line_limit ? (size_t)job->line_limit : PLAIN_ROWS, &rows);
		printf("%s\n%s\n", title, get_column_titles(&job->view));
		for (size_t k = 0; k < rows.n; k++)
			printf("%s\n", rows.line[k]);
		putchar('\n');
		text_lines_free(&rows);
	}
	fflush(stdout);
	job->is_over |= ferror(stdout) != 0;
}

static void show_table(struct top_job *job)
{
	if (job->is_screen)
		draw_top_screen(job);
	else
		print_tables(job);
}

void finish_top_table(struct top_job *job)
{
	uint64_t now = now_ns(), n = count_profile_samples(&job->profile);

	job->rate = now > job->table_time ? (double)(n - job->samples_before) * 1e9 /
	                                            (double)(now - job->table_time)
	                                  : 0;
	job->table_time = now;
	job->samples_before = n;
	if (!job->is_paused)
		show_table(job);
	job->n_tables++;
	job->is_over |= job->iterations && job->n_tables >= job->iterations;
	if (job->zero && !job->is_paused && !job->is_over)
		forget_top_samples(job);
}
