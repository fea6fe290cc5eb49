/* SPDX-License-Identifier: MIT */
/* The recordings of both sides, and their events by name. */
#include "diff/rows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "common/profile_messages.h"
#include "report/view.h"

bool add_diff_recordings(struct diff *d, char **paths, unsigned n, unsigned n_old)
{
	d->recordings = calloc((size_t)n + 1, sizeof(*d->recordings));
	if (!d->recordings)
		return false;
	d->n_recordings = n;
	for (unsigned i = 0; i < n; i++) {
		d->recordings[i].path = paths[i];
		d->recordings[i].side = i < n_old ? OLD_SIDE : NEW_SIDE;
		d->n_runs[d->recordings[i].side]++;
	}
	return true;
}

uint32_t find_diff_event(const struct diff *d, const char *name)
{
	uint32_t i = 0;

	while (i < d->n_events && strcmp(d->events[i].name, name) != 0)
		i++;
	return i;
}

bool is_compared_event(const struct diff *d, const char *name)
{
	size_t len = d->event ? strlen(d->event) : 0;

	return !d->event || fnmatch(d->event, name, 0) == 0 ||
	       (strncmp(name, d->event, len) == 0 && name[len] == ':');
}

bool is_event_of_all(const struct diff *d, const struct diff_event *e)
{
	for (unsigned i = 0; i < d->n_recordings; i++)
		if (!e->runs[i].samples)
			return false;
	return true;
}

static void add_sum(struct profile_sum *to, const struct profile_sum *sum)
{
	to->samples += sum->samples;
	to->weight += sum->weight;
	to->squares += sum->squares;
}

/* Adds event @i of recording @run. False without memory. */
static bool add_event(struct diff *d, unsigned run, unsigned i)
{
	struct diff_recording *r = &d->recordings[run];
	const struct profile_sum *sum = &r->profile.sums[i];
	const char *name = get_event_name(&r->profile, i);
	struct diff_event *e;
	uint32_t number;

	if (!sum->samples)
		return true;
	number = find_diff_event(d, name);
	e = &d->events[number];
	if (number == d->n_events) {
		e->runs = calloc(d->n_recordings, sizeof(*e->runs));
		if (!e->runs)
			return false;
		snprintf(e->name, sizeof(e->name), "%s", name);
		d->n_events++;
	}
	r->event_numbers[i] = number;
	add_sum(&e->sum[r->side], sum);
	add_sum(&e->runs[run], sum);
	return true;
}

/* Adds up the events of all recordings by name. False without memory. */
static bool add_events(struct diff *d)
{
	size_t n = 0;

	for (unsigned run = 0; run < d->n_recordings; run++)
		n += d->recordings[run].profile.n_events;
	d->events = calloc(n + 1, sizeof(*d->events));
	for (unsigned run = 0; run < d->n_recordings; run++) {
		struct diff_recording *r = &d->recordings[run];

		r->event_numbers = calloc(r->profile.n_events + 1, sizeof(*r->event_numbers));
		if (!d->events || !r->event_numbers)
			return false;
		for (unsigned i = 0; i < r->profile.n_events; i++)
			if (!add_event(d, run, i))
				return false;
	}
	return true;
}

static void list_events(const struct diff *d, unsigned side)
{
	const char *comma = "";
	char line[NAME_LINE];

	for (uint32_t i = 0; i < d->n_events; i++) {
		if (!d->events[i].sum[side].samples)
			continue;
		fprintf(stderr, "%s%s", comma, profile_format_line(d->events[i].name, line));
		comma = ", ";
	}
	if (!*comma)
		fputs("no event", stderr);
}

/* Names the first recording of a side, and how many more it has. */
static void name_side(const struct diff *d, unsigned side)
{
	const struct diff_recording *r = d->recordings;

	while (r->side != side)
		r++;
	fputs(r->path, stderr);
	if (d->n_runs[side] > 1)
		fprintf(stderr, " and %u more", d->n_runs[side] - 1);
}

int refuse_events(const struct diff *d, const char *problem)
{
	fprintf(stderr, "pfm diff: %s: ", problem);
	name_side(d, OLD_SIDE);
	fprintf(stderr, " %s samples of ", d->n_runs[OLD_SIDE] > 1 ? "have" : "has");
	list_events(d, OLD_SIDE);
	fputs(", ", stderr);
	name_side(d, NEW_SIDE);
	fputs(" of ", stderr);
	list_events(d, NEW_SIDE);
	fputc('\n', stderr);
	return EXIT_REFUSED;
}

static int read_recordings(struct diff *d)
{
	for (unsigned i = 0; i < d->n_recordings; i++) {
		struct diff_recording *r = &d->recordings[i];

		if (read_recorded_profile(&r->profile, r->path, &d->options) != EXIT_DONE)
			return EXIT_REFUSED;
		report_profile_losses(&r->profile, r->path);
		if (r->profile.losses.damaged)
			fprintf(stderr, "pfm diff: %s is damaged or cut off: its end is missing\n",
			        r->path);
	}
	return EXIT_DONE;
}

/* Emulators differ in what a program executes: counts of one can be compared with its own alone. */
static int check_emulators(struct diff *d)
{
	const struct diff_recording *first = d->recordings;

	for (unsigned i = 1; i < d->n_recordings; i++) {
		const struct diff_recording *r = &d->recordings[i];

		if (strcmp(r->profile.losses.emulator, first->profile.losses.emulator) == 0)
			continue;
		fprintf(stderr,
		        "pfm diff: counts of different emulators, or of an emulator and samples, "
		        "cannot be compared: %s is by %s, %s by %s\n",
		        first->path,
		        *first->profile.losses.emulator ? first->profile.losses.emulator
		                                        : "sampling",
		        r->path,
		        *r->profile.losses.emulator ? r->profile.losses.emulator : "sampling");
		return EXIT_REFUSED;
	}
	d->is_exact = *first->profile.losses.emulator && d->n_recordings == SIDES;
	if (d->is_exact && !d->divisor_event)
		d->divisor = DIVIDE_BY_NOTHING;
	return EXIT_DONE;
}

int read_diff(struct diff *d)
{
	int status = read_recordings(d);

	if (status == EXIT_DONE)
		status = check_emulators(d);
	if (status != EXIT_DONE)
		return status;
	if (add_events(d))
		return EXIT_DONE;
	report_no_memory();
	return EXIT_REFUSED;
}

void free_diff_recordings(struct diff *d)
{
	for (unsigned i = 0; i < d->n_recordings; i++) {
		profile_free(&d->recordings[i].profile);
		free(d->recordings[i].event_numbers);
	}
	for (uint32_t i = 0; i < d->n_events; i++)
		free(d->events[i].runs);
	free(d->recordings);
	free(d->events);
}
