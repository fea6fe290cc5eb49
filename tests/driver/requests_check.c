/* SPDX-License-Identifier: MIT */
/* Requests of the golden vectors: whether each member is what it has to be. */
#include "requests.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Optional members may be null; a number may be a string, of the width of what it is put into. */
struct request_member {
	const char *key;
	enum { TEXT, SCOPE, NUMBER, NUMBERS, EVENTS, FEATURE, LIMITS } kind;
	unsigned bits, max_value; /* of a number; of a list's entries, 0 for any number of them */
};

static const struct request_member request_members[] = {
	{ "pmu", TEXT, 0, 0 },
	{ "op", TEXT, 0, 0 },
	{ "s", TEXT, 0, 0 },
	{ "scope", SCOPE, 0, 0 },
	{ "code", NUMBER, 31, 0 },
	{ "len", NUMBER, 64, 0 },
	{ "mask", NUMBER, 32, 0 },
	{ "cnt", NUMBER, 32, 0 },
	{ "count", NUMBER, 32, 0 },
	{ "idx", NUMBER, 32, 0 },
	{ "plm", NUMBER, 32, 0 },
	{ "th", NUMBER, 32, 0 },
	{ "fl", NUMBER, 32, 0 },
	{ "cm", NUMBER, 64, 0 },
	{ "sys", NUMBER, 64, 0 },
	{ "in", NUMBER, 64, 0 },
	{ "out", NUMBER, 64, 0 },
	{ "noinp", NUMBER, 64, 0 },
	{ "nooutp", NUMBER, 64, 0 },
	{ "modes", NUMBER, 32, 0 },
	{ "items", NUMBER, 32, 0 },
	{ "stat", NUMBER, 32, 0 },
	{ "um", NUMBERS, 32, PFMLIB_MAX_MASKS_PER_EVENT },
	{ "un", NUMBERS, 32, 0 },
	{ "freq", NUMBERS, 64, PFM_ALPHA_MAX_COUNTERS },
	{ "period", NUMBERS, 64, PFM_ALPHA_MAX_COUNTERS },
	{ "ev", EVENTS, 0, 0 },
	{ "op1", FEATURE, 0, 0 },
	{ "op2", FEATURE, 0, 0 },
	{ "iear", FEATURE, 0, 0 },
	{ "dear", FEATURE, 0, 0 },
	{ "etb", FEATURE, 0, 0 },
	{ "ipear", FEATURE, 0, 0 },
	{ "ir", FEATURE, 0, 0 },
	{ "dr", FEATURE, 0, 0 },
	{ NULL, TEXT, 0, 0 },
};

static const struct request_member feature_members[] = {
	{ "used", NUMBER, 8, 0 },  { "m", NUMBER, 8, 0 },      { "i", NUMBER, 8, 0 },
	{ "f", NUMBER, 8, 0 },     { "b", NUMBER, 8, 0 },      { "match", NUMBER, 64, 0 },
	{ "mask", NUMBER, 64, 0 }, { "mode", NUMBER, 32, 0 },  { "plm", NUMBER, 32, 0 },
	{ "um", NUMBER, 64, 0 },   { "fl", NUMBER, 32, 0 },    { "ds", NUMBER, 8, 0 },
	{ "tm", NUMBER, 8, 0 },    { "ptm", NUMBER, 8, 0 },    { "ppm", NUMBER, 8, 0 },
	{ "brt", NUMBER, 8, 0 },   { "delay", NUMBER, 16, 0 }, { "lim", LIMITS, 64, 4 },
	{ NULL, TEXT, 0, 0 },
};

static bool is_number(const json_t *v, unsigned bits)
{
	const char *text = json_string_value(v);
	uint64_t n = request_value(v);
	char *end;

	if (text) {
		errno = 0;
		n = strtoull(text, &end, 0);
		if (!isdigit((unsigned char)*text) || *end || errno)
			return false;
	} else if (!json_is_boolean(v) && !(json_is_integer(v) && json_integer_value(v) >= 0)) {
		return false;
	}
	return bits == 64 || n >> bits == 0;
}

static bool is_list(const json_t *v, const struct request_member *m)
{
	const json_t *entry, *limit;
	size_t i, k;

	if (!json_is_array(v) || (m->max_value && json_array_size(v) > m->max_value))
		return false;
	json_array_foreach (v, i, entry) {
		if (m->kind == NUMBERS && !json_is_null(entry) && !is_number(entry, m->bits))
			return false;
		if (m->kind == LIMITS && !json_is_array(entry))
			return false;
		if (m->kind == LIMITS)
			json_array_foreach (entry, k, limit)
				if (!is_number(limit, k < 2 ? 64 : 32))
					return false;
	}
	return true;
}

static const struct request_member *find_malformed(const json_t *object,
                                                   const struct request_member *m);

/* The first of an event's members that is not what it has to be. */
static const struct request_member *find_malformed_event(const json_t *events)
{
	const struct request_member *wrong = NULL;
	const json_t *event;
	size_t i;

	json_array_foreach (events, i, event)
		if (!wrong && json_is_object(event))
			wrong = find_malformed(event, request_members);
	return wrong;
}

static const struct request_member *is_malformed_member(const json_t *v,
                                                        const struct request_member *m)
{
	const struct request_member *inside = NULL;
	const char *text = json_string_value(v);
	bool fits = false;

	switch (m->kind) {
	case TEXT: fits = text; break;
	case SCOPE:
		fits = text && (strcmp(text, "system") == 0 || strcmp(text, "process") == 0);
		break;
	case NUMBER: fits = is_number(v, m->bits); break;
	case NUMBERS:
	case LIMITS: fits = is_list(v, m); break;
	case EVENTS:
		fits = json_is_array(v);
		inside = find_malformed_event(v);
		break;
	case FEATURE:
		fits = json_is_object(v);
		inside = find_malformed(v, feature_members);
		break;
	}
	return fits ? inside : m;
}

static const struct request_member *find_malformed(const json_t *object,
                                                   const struct request_member *m)
{
	const struct request_member *wrong = NULL;

	for (; m->key && !wrong; m++) {
		const json_t *v = json_object_get(object, m->key);

		if (v && !json_is_null(v))
			wrong = is_malformed_member(v, m);
	}
	return wrong;
}

bool request_find_malformed(const json_t *request, char *text, size_t size)
{
	const struct request_member *m = find_malformed(request, request_members);
	char most[32] = "";

	if (!m)
		return false;
	if (m->max_value)
		snprintf(most, sizeof(most), "up to %u ", m->max_value);
	switch (m->kind) {
	case TEXT: snprintf(text, size, "expected a text in \"%s\"", m->key); break;
	case SCOPE:
		snprintf(text, size, "\"%s\" is neither \"system\" nor \"process\"", m->key);
		break;
	case NUMBER:
		snprintf(text, size, "expected a number of %u bits in \"%s\"", m->bits, m->key);
		break;
	case NUMBERS:
		snprintf(text, size, "expected a list of %snumbers of %u bits in \"%s\"", most,
		         m->bits, m->key);
		break;
	case EVENTS: snprintf(text, size, "expected a list of events in \"%s\"", m->key); break;
	case FEATURE: snprintf(text, size, "expected an object in \"%s\"", m->key); break;
	case LIMITS:
		snprintf(text, size, "expected a list of %slists of numbers in \"%s\"", most,
		         m->key);
		break;
	}
	return true;
}
