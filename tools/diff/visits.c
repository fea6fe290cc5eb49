/* SPDX-License-Identifier: MIT */
#include "diff/visits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "diff/region_rows.h"

#define UNIT       " visit"
#define ANY_REGION "region" /* the only region, unless one has this name */

enum { PATH_SIZE = 4096 };

static size_t get_region_length(const char *unit)
{
	size_t len = strlen(unit), end = strlen(UNIT);

	return len > end && strcmp(unit + len - end, UNIT) == 0 ? len - end : 0;
}

bool is_visit_unit(const char *unit)
{
	return get_region_length(unit) > 0;
}

static bool is_region(const char *name, const char *unit)
{
	size_t len = get_region_length(unit);

	return strlen(name) == len && memcmp(name, unit, len) == 0;
}

/* True if the value before @i has the region, too. */
static bool is_repeated(const struct region_values *v, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(v->at[k].region, v->at[i].region) == 0)
			return true;
	return false;
}

static bool has_one_region(const struct region_values *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (strcmp(v->at[i].region, v->at[0].region) != 0)
			return false;
	return v->n > 0;
}

/* Adds up the visits of the region in all processes, also inside of other regions. */
static double add_visits_of(const struct region_values *v, const char *unit)
{
	const bool takes_any = is_region(ANY_REGION, unit) && has_one_region(v);
	double sum = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->at[i].is_total && (takes_any || is_region(v->at[i].region, unit)))
			sum += v->at[i].sum;
	return sum;
}

static int refuse_region(const struct diff_recording *r, const struct region_values *v,
                         const char *unit)
{
	const char *comma = "";

	fprintf(stderr, "pfm diff: --per: expected a region of %s before '" UNIT "', got '%s'; ",
	        r->path, unit);
	fputs(v->n ? "it has visited " : "it has visited no region", stderr);
	for (size_t i = 0; i < v->n; i++) {
		char line[NAME_LINE];

		if (is_repeated(v, i))
			continue;
		fprintf(stderr, "%s%s", comma, profile_format_line(v->at[i].region, line));
		comma = ", ";
	}
	fputc('\n', stderr);
	return EXIT_REFUSED;
}

/* Reads the visits of one recording. */
static int read_run_visits(struct diff_recording *r, const char *unit)
{
	struct region_values values = { .n = 0 };
	char path[PATH_SIZE];
	int status;
	FILE *in;

	snprintf(path, sizeof(path), "%s" REGIONS_SUFFIX, r->path);
	in = fopen(path, "re");
	if (!in) {
		fprintf(stderr,
		        "pfm diff: --per: %s: %s; record visits with 'pfm record --regions'\n",
		        path, strerror(errno));
		return EXIT_REFUSED;
	}
	status = read_region_values(&values, in, path, r->side, true);
	fclose(in);
	r->visits = status == EXIT_DONE ? add_visits_of(&values, unit) : 0;
	if (status == EXIT_DONE && !(r->visits > 0))
		status = refuse_region(r, &values, unit);
	free_region_values(&values);
	return status == EXIT_DONE ? EXIT_DONE : EXIT_REFUSED;
}

int read_visits(struct diff *d)
{
	int status = EXIT_DONE;

	for (unsigned i = 0; i < d->n_recordings && status == EXIT_DONE; i++)
		status = read_run_visits(&d->recordings[i], d->divisor_event);
	return status;
}
