/* SPDX-License-Identifier: MIT */
/* Functions that one side alone has, compared by their code: those that are alike may be one that
 * was renamed or moved. They are offered, and stay two rows unless --match joins them.
 *
 * Of 1,000 functions of Python 3.11 with more than 32 operations, each beside 32 others by chance,
 * nine had one that is at least 70 % alike; of 1,000 with fewer, ten had one that is 90 % alike. */
#include "diff/matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "common/pfm.h"
#include "profile/symbols/code_shape.h"

enum {
	CANDIDATES_MAX = 32, /* of each side and event, the heaviest */
	OPERATIONS_MIN = 8,  /* of a function; fewer say nothing */
	OPERATIONS_MANY = 32
};

/* Code that is at least so much alike is offered; that of functions with few operations must be
 * nearly equal. */
#define ALIKE      0.7
#define ALIKE_FEW  0.9
#define OTHERS_GAP 0.05 /* by which the best of several is better than the second */

struct candidate {
	const struct diff_row *row;
	struct code_shape shape;
	bool is_taken;
};

struct candidates {
	struct candidate list[CANDIDATES_MAX];
	unsigned n;
};

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_in_file(const struct diff_row *row)
{
	const char *object = row->profile->texts.text[row->place->object];

	return object[0] == '/' && object[1] != '/'; /* memory is //anon */
}

/* Replaces the lightest candidate, or is one more. */
static void add_candidate(struct candidates *c, const struct diff_row *row, unsigned side)
{
	unsigned lightest = 0;

	if (c->n < CANDIDATES_MAX) {
		c->list[c->n++] = (struct candidate){ .row = row };
		return;
	}
	for (unsigned i = 1; i < c->n; i++)
		if (c->list[i].row->weight[side] < c->list[lightest].row->weight[side])
			lightest = i;
	if (row->weight[side] > c->list[lightest].row->weight[side])
		c->list[lightest] = (struct candidate){ .row = row };
}

static void collect_candidates(const struct diff *d, uint32_t event, unsigned side,
                               struct candidates *c)
{
	c->n = 0;
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *row = &d->rows[i];

		if (row->event == event && is_row_of_one_side(row, side) &&
		    row->samples[side] >= TESTED_SAMPLES && is_in_file(row))
			add_candidate(c, row, side);
	}
}

/* Reads the code of the candidates. Those without are counted and removed. */
static void read_shapes(struct diff *d, struct candidates *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct candidate *at = &c->list[i];
		const struct profile_place *place = at->row->place;

		if (code_shape_read_file(&at->shape, at->row->profile->texts.text[place->code],
		                         place->start, place->end))
			c->list[n++] = *at;
		else
			d->n_without_code++;
	}
	c->n = n;
}

static void free_shapes(struct candidates *c)
{
	for (unsigned i = 0; i < c->n; i++)
		code_shape_free(&c->list[i].shape);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static double get_limit(const struct code_shape *a, const struct code_shape *b)
{
	const size_t operations = (a->n < b->n ? a->n : b->n) - 1; /* pairs have the edges */

	return operations < OPERATIONS_MIN    ? INFINITY
	       : operations < OPERATIONS_MANY ? ALIKE_FEW
	                                      : ALIKE;
}

/* Finds the candidate of @others whose code is most like that of @c. *@best, *@second: similarities
 * of the first and of the next one. NULL if the first is not alike enough. */
static struct candidate *find_most_alike(const struct candidate *c, struct candidates *others,
                                         double *best, double *second)
{
	struct candidate *found = NULL;

	*best = *second = 0;
	for (unsigned i = 0; i < others->n; i++) {
		double alike = code_shape_compare(&c->shape, &others->list[i].shape);

		if (alike <= *best) {
			*second = fmax(*second, alike);
			continue;
		}
		*second = *best;
		*best = alike;
		found = &others->list[i];
	}
	return found && *best >= get_limit(&c->shape, &found->shape) ? found : NULL;
}

static bool add_offer(struct diff *d, const struct diff_row *from, const struct diff_row *to,
                      double alike)
{
	bool failed = false;

	d->offers = base_grow_list(d->offers, d->n_offers, &d->offers_capacity, sizeof(*d->offers),
	                           &failed);
	if (failed)
		return false;
	d->offers[d->n_offers++] = (struct diff_offer){ .rows = { from, to }, .similarity = alike };
	return true;
}

/* Offers each function of OLD with the one of NEW that is most like it, if the same holds the other
 * way round and no other one is about as much alike. */
static bool add_offers(struct diff *d, struct candidates *from, struct candidates *to)
{
	for (unsigned i = 0; i < from->n; i++) {
		double alike, second, back, back_second;
		struct candidate *found = find_most_alike(&from->list[i], to, &alike, &second);

		if (!found || second > alike - OTHERS_GAP ||
		    find_most_alike(found, from, &back, &back_second) != &from->list[i] ||
		    back_second > back - OTHERS_GAP)
			continue;
		if (!add_offer(d, from->list[i].row, found->row, alike))
			return false;
	}
	return true;
}

bool find_offers(struct diff *d)
{
	struct candidates *c = calloc(SIDES, sizeof(*c));
	bool is_done = c;

	for (uint32_t event = 0; is_done && event < d->n_events; event++) {
		for (unsigned side = 0; side < SIDES; side++)
			collect_candidates(d, event, side, &c[side]);
		if (!c[OLD_SIDE].n || !c[NEW_SIDE].n)
			continue;
		for (unsigned side = 0; side < SIDES; side++)
			read_shapes(d, &c[side]);
		is_done = add_offers(d, &c[OLD_SIDE], &c[NEW_SIDE]);
		for (unsigned side = 0; side < SIDES; side++)
			free_shapes(&c[side]);
	}
	free(c);
	return is_done;
}

/* ---- text ------------------------------------------------------------------------------------ */

void format_offer(const struct diff_offer *o, char text[OFFER_LINE])
{
	char line[SIDES][NAME_LINE];

	for (unsigned i = 0; i < SIDES; i++)
		profile_format_line(get_row_function(o->rows[i]), line[i]);
	snprintf(text, OFFER_LINE,
	         "%s of %s (%.2f%%) and %s of %s (%.2f%%) have code that is %.0f%% alike",
	         line[OLD_SIDE], get_row_object(o->rows[OLD_SIDE]),
	         100 * o->rows[OLD_SIDE]->value[OLD_SIDE], line[NEW_SIDE],
	         get_row_object(o->rows[NEW_SIDE]), 100 * o->rows[NEW_SIDE]->value[NEW_SIDE],
	         100 * o->similarity);
}

void put_offers(const struct diff *d, uint32_t event)
{
	char text[OFFER_LINE], note[OFFER_LINE + 200];

	for (size_t i = 0; i < d->n_offers; i++) {
		const struct diff_offer *o = &d->offers[i];

		if (o->rows[OLD_SIDE]->event != event)
			continue;
		format_offer(o, text);
		snprintf(note, sizeof(note),
		         "Perhaps renamed or moved: %s; --match OLD=NEW compares them as one.",
		         text);
		term_wrap(stdout, 0, 2, note);
	}
}

static void put_offered_side(struct json *j, const struct diff_offer *o, unsigned side)
{
	const struct diff_row *row = o->rows[side];

	put_begin(j, side == OLD_SIDE ? "old" : "new", '{');
	put_text(j, "object", row->profile->texts.text[row->place->object]);
	put_text(j, "function", get_row_function(row));
	put_count(j, "samples", row->samples[side]);
	put_real(j, "value", row->value[side]);
	put_end(j, '}');
}

void put_offers_json(const struct diff *d)
{
	for (size_t i = 0; i < d->n_offers; i++) {
		const struct diff_offer *o = &d->offers[i];
		struct json j = { .out = stdout };

		put_begin(&j, NULL, '{');
		put_text(&j, "event", d->events[o->rows[OLD_SIDE]->event].name);
		put_bool(&j, "offered", true);
		put_real(&j, "alike", o->similarity);
		for (unsigned side = 0; side < SIDES; side++)
			put_offered_side(&j, o, side);
		put_end(&j, '}');
		put_line(&j);
	}
}
