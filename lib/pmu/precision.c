/* SPDX-License-Identifier: MIT */
/* Precise sampling (PEBS) of events: possible or required, by field "precise" of their tables. */
#include "pmu/pmu_internal.h"

/* Values of field "precise" other than 0 (impossible) and 1 (possible). */
enum {
	PRECISE_MUST = 2,
	PRECISE_AS_ENCODED = 3 /* an alias row: that of the vendor's row with equal registers */
};

/* Removes the user's filters from the event. */
static void drop_filters(struct event *ev)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (!(FILTER_KEYS >> table_fields(ev->table)[ev->user_fields[i].field].key & 1))
			ev->user_fields[n++] = ev->user_fields[i];
	ev->n_user_fields = (uint8_t)n;
	ev->user_keys &= ~FILTER_KEYS;
}

/* The precision of the vendor's row that has the configuration words of @ev, an event of an alias
 * row. Filters are ignored. */
static uint64_t get_alias_precision(const struct event *ev)
{
	struct event found = { .n_user_fields = 0 }, plain;
	uint64_t own[4];
	const uint64_t *config;

	if (ev->user_keys & FILTER_KEYS) {
		plain = *ev;
		drop_filters(&plain);
		ev = &plain;
	}
	config = pfmi_pmu_get_config_words(ev, own);

	if (!config || !pfmi_pmu_decode_config_words(ev->table, config, 15, &found) ||
	    !event_has_key(&found, KEY_PRECISE))
		return 0;
	return pfmi_pmu_get_key_value(&found, KEY_PRECISE, ANY_COUNTER);
}

uint64_t pfmi_pmu_get_precision(const struct event *ev)
{
	uint64_t value = event_has_key(ev, KEY_PRECISE)
	                         ? pfmi_pmu_get_key_value(ev, KEY_PRECISE, ANY_COUNTER)
	                         : 0;

	return value == PRECISE_AS_ENCODED ? get_alias_precision(ev) : value;
}

bool pfmi_pmu_requires_precision(const struct event *ev)
{
	return pfmi_pmu_get_precision(ev) == PRECISE_MUST;
}
