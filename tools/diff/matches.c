/* SPDX-License-Identifier: MIT */
#include "diff/matches.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "common/pfm.h"

bool add_match(struct diff *d, const char *text)
{
	bool failed = false;

	d->matches = base_grow_list(d->matches, d->n_matches, &d->matches_capacity,
	                            sizeof(*d->matches), &failed);
	if (failed)
		return false;
	d->matches[d->n_matches++] = (struct diff_match){ .text = text };
	return true;
}

/* The row of the function called by the @len bytes of @name that side @side has. NULL if missing.
 */
static const struct diff_row *find_function(const struct diff *d, unsigned side, const char *name,
                                            size_t len)
{
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *row = &d->rows[i];
		const char *function = row->place ? get_row_function(row) : "";

		if (row->place && row->samples[side] && strlen(function) == len &&
		    memcmp(function, name, len) == 0)
			return row;
	}
	return NULL;
}

/* Names of C++ may have '=' in them. */
static bool find_match(const struct diff *d, struct diff_match *m)
{
	for (const char *at = strchr(m->text, '='); at; at = strchr(at + 1, '=')) {
		const struct diff_row *from =
			find_function(d, OLD_SIDE, m->text, (size_t)(at - m->text));
		const struct diff_row *to = find_function(d, NEW_SIDE, at + 1, strlen(at + 1));

		if (!from || !to)
			continue;
		m->old_function = get_row_function(from);
		m->function = get_row_function(to);
		m->object = get_row_object(to);
		return true;
	}
	return false;
}

int apply_matches(struct diff *d)
{
	for (size_t i = 0; i < d->n_matches; i++) {
		char line[NAME_LINE];

		if (find_match(d, &d->matches[i]))
			continue;
		fprintf(stderr,
		        "pfm diff: --match: expected OLD=NEW, a function of the old recordings and "
		        "one of the new ones, got '%s'\n",
		        profile_format_line(d->matches[i].text, line));
		return EXIT_REFUSED;
	}
	return !d->n_matches || collect_rows_again(d) ? EXIT_DONE : report_no_memory();
}

void rename_function(const struct diff *d, unsigned run, const char **object, const char **function)
{
	for (size_t i = 0; d->recordings[run].side == OLD_SIDE && i < d->n_matches; i++) {
		const struct diff_match *m = &d->matches[i];

		if (!m->function || strcmp(*function, m->old_function) != 0)
			continue;
		*function = m->function;
		*object = *object && **object ? m->object : *object;
		return;
	}
}
