/* SPDX-License-Identifier: MIT */
/* Places of recordings that have the same name are one row. */
#include "diff/rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "common/pfm.h"
#include "diff/matches.h"

uint64_t get_run_weight(const struct diff *d, const struct diff_row *row, unsigned i)
{
	return d->run_weights[row->order * d->n_recordings + i];
}

/* The row of a key, which is added if it is new; NULL without memory. */
static struct diff_row *find_or_add_row(struct diff *d, const char *key)
{
	size_t before = d->keys.n, width = d->n_recordings * sizeof(*d->run_weights);
	uint32_t at = text_pool_add(&d->keys, key);
	bool failed = d->keys.failed;

	if (!failed && d->keys.n == before)
		return &d->rows[at];
	d->rows = base_grow_list(d->rows, d->n_rows, &d->rows_capacity, sizeof(*d->rows), &failed);
	d->run_weights =
		base_grow_list(d->run_weights, d->n_rows, &d->run_weights_capacity, width, &failed);
	if (failed)
		return NULL;
	memset(d->run_weights + d->n_rows * d->n_recordings, 0, width);
	d->rows[d->n_rows] = (struct diff_row){ .order = d->n_rows };
	return &d->rows[d->n_rows++];
}

static void add_to_row(struct diff *d, struct diff_row *row, unsigned run, uint64_t samples,
                       uint64_t weight)
{
	row->samples[d->recordings[run].side] += samples;
	row->weight[d->recordings[run].side] += weight;
	d->run_weights[row->order * d->n_recordings + run] += weight;
}

/* Builds to compare are often in two folders: objects are one by the names of their files. */
static const char *get_object_name(const struct diff *d, const char *path)
{
	const char *name = base_name(path);

	return d->renamed[NEW_SIDE] && strcmp(name, d->renamed[OLD_SIDE]) == 0
	               ? d->renamed[NEW_SIDE]
	               : name;
}

/* Do rows have names that the new side alone has? */
static bool has_other_names(const struct diff *d)
{
	return d->renamed[NEW_SIDE] || d->n_matches;
}

static struct diff_row *find_or_add_place_row(struct diff *d, unsigned run,
                                              const struct profile_place *at, uint32_t event)
{
	const struct profile *p = &d->recordings[run].profile;
	const char *object = get_object_name(d, p->texts.text[at->object]),
		   *function = p->texts.text[at->function];
	char **text = p->texts.text, *key = NULL;
	struct diff_row *row;
	bool is_written;
	size_t len;
	FILE *f = open_memstream(&key, &len);

	if (!f)
		return NULL;
	rename_function(d, run, &object, &function);
	is_written = fprintf(f, "%u\x1f%u\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s", event, at->cpu,
	                     text[at->cgroup], text[at->task], object, function, text[at->inlined],
	                     text[at->source]) > 0;
	is_written = fclose(f) == 0 && is_written && key;
	row = is_written ? find_or_add_row(d, key) : NULL;
	free(key);
	if (row && (!row->place || (has_other_names(d) && run == d->n_runs[OLD_SIDE]))) {
		row->event = event;
		row->place = at;
		row->profile = p;
	}
	return row;
}

static bool add_places(struct diff *d, unsigned run)
{
	const struct diff_recording *r = &d->recordings[run];
	const struct profile *p = &r->profile;

	for (size_t i = 0; i < p->n_places; i++) {
		uint32_t event = r->event_numbers[p->places[i].event];
		struct diff_row *row;

		if (!is_compared_event(d, d->events[event].name) ||
		    !is_event_of_all(d, &d->events[event]))
			continue;
		row = find_or_add_place_row(d, run, &p->places[i], event);
		if (!row)
			return false;
		add_to_row(d, row, run, p->places[i].samples, p->places[i].weight);
	}
	return true;
}

static bool is_divisor(const struct diff *d, const struct diff_event *e)
{
	return d->divisor == DIVIDE_BY_EVENT && strcmp(e->name, d->divisor_event) == 0;
}

/* A row for each whole event, which no share of itself can have. */
static bool add_totals(struct diff *d)
{
	for (uint32_t i = 0; d->divisor != DIVIDE_BY_TOTAL && i < d->n_events; i++) {
		const struct diff_event *e = &d->events[i];
		struct diff_row *row;
		char key[32];

		if (!is_compared_event(d, e->name) || !is_event_of_all(d, e) || is_divisor(d, e))
			continue;
		snprintf(key, sizeof(key), "total %u", i);
		row = find_or_add_row(d, key);
		if (!row)
			return false;
		row->event = i;
		for (unsigned run = 0; run < d->n_recordings; run++)
			add_to_row(d, row, run, e->runs[run].samples, e->runs[run].weight);
	}
	return true;
}

static void free_rows(struct diff *d)
{
	for (size_t i = 0; i < d->keys.n; i++)
		free(d->keys.text[i]);
	free(d->keys.text);
	pfmi_base_free_hash(&d->keys.table);
	free(d->rows);
	free(d->run_weights);
	d->keys = (struct text_pool){ .n = 0 };
	d->rows = NULL;
	d->run_weights = NULL;
	d->n_rows = d->rows_capacity = d->run_weights_capacity = 0;
}

static bool add_rows(struct diff *d)
{
	for (unsigned run = 0; run < d->n_recordings; run++)
		if (!add_places(d, run))
			return false;
	return add_totals(d);
}

/* ---- files under two names ------------------------------------------------------------------- */

bool is_row_of_one_side(const struct diff_row *row, unsigned side)
{
	return row->place && row->samples[side] && !row->samples[!side] && row->place->function;
}

const char *get_row_function(const struct diff_row *row)
{
	return row->profile->texts.text[row->place->function];
}

const char *get_row_object(const struct diff_row *row)
{
	return base_name(row->profile->texts.text[row->place->object]);
}

/* Adds the functions that only OLD has, each with its row: text N is of @rows[N]. False without
 * memory. */
static bool collect_old_functions(const struct diff *d, struct text_pool *functions,
                                  const struct diff_row **rows)
{
	for (size_t i = 0; i < d->n_rows; i++)
		if (is_row_of_one_side(&d->rows[i], OLD_SIDE))
			rows[text_pool_add(functions, get_row_function(&d->rows[i]))] = &d->rows[i];
	return !functions->failed;
}

/* Sets d->renamed if most samples of NEW are in functions that OLD has in a file of another name,
 * as those of app-1.0 and app-1.1 are. */
static void find_renamed_file(struct diff *d)
{
	const struct diff_row **rows = calloc(d->n_rows + 1, sizeof(*rows)), *heaviest = NULL;
	struct text_pool functions = { .n = 0 };
	const char *names[SIDES] = { NULL };
	uint64_t all = 0, renamed = 0;
	bool is_known = rows && collect_old_functions(d, &functions, rows);

	for (size_t i = 0; is_known && i < d->n_rows; i++) {
		const struct diff_row *row = &d->rows[i];
		uint32_t at;

		all += row->place ? row->samples[NEW_SIDE] : 0;
		if (!is_row_of_one_side(row, NEW_SIDE))
			continue;
		at = text_pool_find(&functions, get_row_function(row));
		if (at == HASH_NOT_FOUND)
			continue;
		renamed += row->samples[NEW_SIDE];
		if (heaviest && heaviest->samples[NEW_SIDE] >= row->samples[NEW_SIDE])
			continue;
		heaviest = row;
		names[OLD_SIDE] = get_row_object(rows[at]);
		names[NEW_SIDE] = get_row_object(row);
	}
	text_pool_free(&functions);
	free(rows);
	if (heaviest && 2 * renamed > all && strcmp(names[OLD_SIDE], names[NEW_SIDE]) != 0)
		memcpy(d->renamed, names, sizeof(names));
}

bool collect_rows_again(struct diff *d)
{
	free_rows(d);
	return add_rows(d);
}

bool collect_rows(struct diff *d)
{
	if (!add_rows(d))
		return false;
	find_renamed_file(d);
	return !d->renamed[NEW_SIDE] || collect_rows_again(d);
}

void free_diff(struct diff *d)
{
	free_rows(d);
	free(d->matches);
	free(d->offers);
	free_diff_recordings(d);
}
