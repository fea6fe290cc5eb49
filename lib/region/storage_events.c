/* SPDX-License-Identifier: MIT */
/* Events, groups and rounds in a file of sums (storage.h), written by the process and read back by
 * a reader that trusts none of it.
 *
 *     uint32 length of the list of events, uint32 number of events, uint32 number of rounds, uint32
 * 0 for each event: struct region_file_event for each round: uint32 number of groups; for each
 * group: uint32 n, uint32 whole machine, n x uint32 event the list of events, then for each event
 * its name, unit, reason and remedy, without ends
 */
#include <stdlib.h>
#include <string.h>
#include "region/region.h"
#include "region/storage.h"

/* ---- writing ----------------------------------------------------------------------------- */

/* Appends at @to + *@at, or only adds to *@at if @to is NULL. */
static void put_bytes(char *to, size_t *at, const void *bytes, size_t n)
{
	if (to)
		memcpy(to + *at, bytes, n);
	*at += n;
}

static void put_number(char *to, size_t *at, uint32_t n)
{
	put_bytes(to, at, &n, sizeof(n));
}

static void put_text(char *to, size_t *at, const char *text)
{
	put_bytes(to, at, text, strlen(text));
}

static void put_event(char *to, size_t *at, const struct region_event *e)
{
	const struct region_file_event f = {
		.scale = e->scale,
		.inside = e->cost_inside,
		.pair = e->cost_pair,
		.of_inside = e->inside,
		.of_pair = e->pair,
		.quality = (int32_t)e->quality,
		.cause = (int32_t)e->cause,
		.round = e->round,
		.flags = (e->countable ? REGION_EVENT_COUNTABLE : 0u) |
		         (e->soft ? REGION_EVENT_SOFT : 0u) |
		         (e->system ? REGION_EVENT_SYSTEM : 0u),
		.name = (uint32_t)strlen(e->name),
		.unit = (uint32_t)strlen(e->unit),
		.why = (uint32_t)strlen(e->why),
		.remedy = (uint32_t)strlen(e->remedy),
	};

	put_bytes(to, at, &f, sizeof(f));
}

/* The origin of the counts; 0: a PMU or the kernel. */
enum { PRETENDED_ORIGIN = 1, SIMULATED_ORIGIN };

size_t pfmi_storage_write_events(const struct layout *l, const char *list, void *to)
{
	size_t at = 0;

	put_number(to, &at, (uint32_t)strlen(list));
	put_number(to, &at, l->n_events);
	put_number(to, &at, l->n_rounds);
	put_number(to, &at, l->is_simulated ? SIMULATED_ORIGIN : l->is_pretended);
	for (unsigned i = 0; i < l->n_events; i++)
		put_event(to, &at, &l->events[i]);
	for (unsigned r = 0; r < l->n_rounds; r++) {
		put_number(to, &at, l->rounds[r].n);
		for (unsigned g = 0; g < l->rounds[r].n; g++) {
			const struct group *group = &l->rounds[r].groups[g];

			put_number(to, &at, group->n);
			put_number(to, &at, group->n_system != 0);
			put_bytes(to, &at, group->events, group->n * sizeof(uint32_t));
		}
	}
	put_text(to, &at, list);
	for (unsigned i = 0; i < l->n_events; i++) {
		put_text(to, &at, l->events[i].name);
		put_text(to, &at, l->events[i].unit);
		put_text(to, &at, l->events[i].why);
		put_text(to, &at, l->events[i].remedy);
	}
	return at;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* The bytes that have not been read. */
struct input {
	const char *at;
	size_t left;
};

static bool get_bytes(struct input *in, void *to, size_t n)
{
	if (in->left < n)
		return false;
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
	return true;
}

static bool get_number(struct input *in, uint32_t *n, uint32_t max)
{
	return get_bytes(in, n, sizeof(*n)) && *n <= max;
}

/* Returns a copy of the next @n bytes as a text; NULL if there are fewer, or without memory. */
static char *read_text(struct input *in, size_t n)
{
	char *text = in->left < n ? NULL : calloc(1, n + 1);

	if (text)
		get_bytes(in, text, n);
	return text;
}

bool pfmi_storage_is_cost(double value)
{
	return value >= 0 && value < 1e18;
}

bool pfmi_storage_is_uncertainty(const struct uncertainty *u)
{
	return pfmi_storage_is_cost(u->mean) && pfmi_storage_is_cost(u->visit) &&
	       pfmi_storage_is_cost(u->first);
}

static bool read_event(struct input *in, struct region_file_event *f, struct region_event *e)
{
	if (!get_bytes(in, f, sizeof(*f)) || !pfmi_storage_is_cost(f->scale) ||
	    !pfmi_storage_is_cost(f->inside) || !pfmi_storage_is_cost(f->pair) ||
	    !pfmi_storage_is_uncertainty(&f->of_inside) ||
	    !pfmi_storage_is_uncertainty(&f->of_pair) || f->quality < 0 || f->quality > INT8_MAX ||
	    f->cause < 0 || f->cause > INT8_MAX || f->round > MAX_FILE_GROUPS)
		return false;
	e->scale = f->scale;
	e->cost_inside = f->inside;
	e->cost_pair = f->pair;
	e->inside = f->of_inside;
	e->pair = f->of_pair;
	e->quality = (pfm_quality_t)f->quality;
	e->cause = (pfm_cause_t)f->cause;
	e->round = f->round;
	e->countable = f->flags & REGION_EVENT_COUNTABLE;
	e->soft = f->flags & REGION_EVENT_SOFT;
	e->system = f->flags & REGION_EVENT_SYSTEM;
	return true;
}

static bool read_group(struct input *in, const struct layout *l, struct group *g)
{
	uint32_t is_system, n;

	if (!get_number(in, &n, l->n_events) || !n || !get_number(in, &is_system, 1))
		return false;
	g->events = calloc(n, sizeof(*g->events));
	if (!g->events)
		return false;
	g->n = n;
	g->n_system = (int)is_system;
	for (unsigned i = 0; i < n; i++)
		if (!get_number(in, &g->events[i], l->n_events - 1))
			return false;
	return true;
}

static bool read_round(struct input *in, const struct layout *l, struct round *r)
{
	uint32_t n;

	if (!get_number(in, &n, MAX_FILE_GROUPS))
		return false;
	r->groups = calloc(n + 1, sizeof(*r->groups));
	if (!r->groups)
		return false;
	for (; r->n < n; r->n++)
		if (!read_group(in, l, &r->groups[r->n])) {
			free(r->groups[r->n].events);
			return false;
		}
	return true;
}

static bool read_rounds(struct input *in, struct layout *l, uint32_t n)
{
	l->rounds = calloc(n + 1, sizeof(*l->rounds));
	for (; l->rounds && l->n_rounds < n; l->n_rounds++)
		if (!read_round(in, l, &l->rounds[l->n_rounds])) {
			l->n_rounds++; /* to be freed as well */
			return false;
		}
	return l->rounds != NULL;
}

static bool read_texts(struct input *in, struct layout *l, const struct region_file_event *f)
{
	for (unsigned i = 0; i < l->n_events; i++) {
		struct region_event *e = &l->events[i];

		e->name = read_text(in, f[i].name);
		e->unit = read_text(in, f[i].unit);
		e->why = read_text(in, f[i].why);
		e->remedy = read_text(in, f[i].remedy);
		e->cpus = calloc(1, 1);
		if (!e->name || !e->unit || !e->why || !e->remedy || !e->cpus)
			return false;
	}
	return true;
}

char *pfmi_storage_read_events(struct layout *l, const void *bytes, size_t n)
{
	struct input in = { bytes, n };
	uint32_t length, events, rounds, origin;
	struct region_file_event *f = NULL;
	char *list = NULL;
	bool is_read;

	if (!get_number(&in, &length, INT32_MAX) || !get_number(&in, &events, MAX_FILE_EVENTS) ||
	    !get_number(&in, &rounds, MAX_FILE_GROUPS) ||
	    !get_number(&in, &origin, SIMULATED_ORIGIN))
		return NULL;
	f = calloc(events + 1, sizeof(*f));
	l->events = calloc(events + 1, sizeof(*l->events));
	is_read = f && l->events;
	for (unsigned i = 0; i < events && is_read; i++, l->n_events++)
		is_read = read_event(&in, &f[i], &l->events[i]);
	is_read = is_read && read_rounds(&in, l, rounds);
	list = is_read ? read_text(&in, length) : NULL;
	is_read = list && read_texts(&in, l, f);
	free(f);
	if (!is_read) {
		free(list);
		return NULL;
	}
	l->is_pretended = origin == PRETENDED_ORIGIN;
	l->is_simulated = origin == SIMULATED_ORIGIN;
	pfmi_layout_assign_places(l);
	return list;
}

/* ---- releasing --------------------------------------------------------------------------- */

void pfmi_region_unload(struct region_loaded *loaded)
{
	if (!loaded)
		return;
	for (uint32_t i = 0; loaded->names && i <= loaded->last_number; i++)
		free(loaded->names[i]);
	free(loaded->names);
	for (size_t i = 0; i < loaded->n_buffers; i++)
		free(loaded->buffers[i]);
	free(loaded->buffers);
	free(loaded->visits);
	pfmi_layout_free(&loaded->layout);
	free(loaded);
}
