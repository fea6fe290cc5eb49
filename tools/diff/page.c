/* SPDX-License-Identifier: MIT */
/* The page of a comparison: all recordings, and the functions that changed significantly. */
#include <stdlib.h>
#include <string.h>
#include "common/json.h"
#include "common/pfm.h"
#include "diff/matches.h"
#include "diff/table.h"
#include "html/page.h"

static void put_change(struct json *j, const struct diff_row *row)
{
	put_begin(j, NULL, '{');
	put_text(j, "function", row->profile->texts.text[row->place->function]);
	put_real(j, "change", row->change);
	put_real(j, "low", row->low);
	put_real(j, "high", row->high);
	put_bool(j, "significant", row->is_significant);
	put_end(j, '}');
}

static void put_notes(struct json *j, const struct diff *d)
{
	char text[256], line[OFFER_LINE];

	put_begin(j, "notes", '[');
	if (has_several_runs(d))
		snprintf(text, sizeof(text),
		         "Of all functions with a star, at most %g %% are expected to have it by "
		         "chance; differences between runs are measured.",
		         100 * (1 - d->confidence));
	else
		snprintf(text, sizeof(text),
		         "One recording of each side: stars hold for chance in sampling; how much "
		         "two runs of one program differ is not known.");
	put_text(j, NULL, text);
	for (size_t i = 0; i < d->n_offers; i++) {
		format_offer(&d->offers[i], line);
		put_text(j, NULL, line);
	}
	put_end(j, ']');
}

/* Adds the changes and what they rest on to the data of the page. */
static void put_changes(void *arg, FILE *out)
{
	const struct diff *d = arg;
	struct json j = { .out = out, .needs_comma = true };

	put_begin(&j, "changes", '[');
	for (size_t i = 0; i < d->n_rows; i++)
		if (d->rows[i].place)
			put_change(&j, &d->rows[i]);
	put_end(&j, ']');
	put_notes(&j, d);
}

int write_diff_page(const struct diff_job *job)
{
	const struct diff *d = &job->diff;
	struct page_recording *list = calloc(d->n_recordings, sizeof(*list));
	const char *old_name = base_name(d->recordings[0].path);
	const char *new_name = base_name(d->recordings[d->n_runs[OLD_SIDE]].path);
	struct page page = { .recordings = list,
		             .n_recordings = d->n_recordings,
		             .event = d->event,
		             .put_more = put_changes,
		             .arg = (void *)(uintptr_t)d };
	char *title = NULL;
	int status = EXIT_REFUSED;

	for (unsigned i = 0; list && i < d->n_recordings; i++)
		list[i] = (struct page_recording){ .path = d->recordings[i].path,
			                           .is_new = d->recordings[i].side == NEW_SIDE };
	if (list && asprintf(&title, "%s after %s", new_name, old_name) >= 0) {
		page.title = title;
		status = write_recording_page(&page, job->html);
	} else {
		report_no_memory();
	}
	free(title);
	free(list);
	return status;
}
