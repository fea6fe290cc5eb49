/* SPDX-License-Identifier: MIT */
/* Whether an event can or must be sampled precisely (PEBS), by its table's field "precise". */
#include "pmu/pmu.h"

#define PRECISE_MUST 2 /* a value of field "precise": 0 no, 1 may, 2 must */

/* The precision of the vendor's row that has the same configuration words as @ev, an alias. */
static uint64_t get_alias_precision(const struct event *ev)
{
	struct event found = { .n_user_fields = 0 };
	uint64_t own[4];
	const uint64_t *config = pfmi_pmu_get_config_words(ev, own);

	if (!config || !pfmi_decode_config_words(ev->table, config, 15, &found) ||
	    !event_has_key(&found, KEY_PRECISE))
		return 0;
	return pfmi_pmu_event_key_value(&found, KEY_PRECISE, ANY_COUNTER);
}

uint64_t pfmi_pmu_get_precision(const struct event *ev)
{
	if (event_has_key(ev, KEY_PRECISE))
		return pfmi_pmu_event_key_value(ev, KEY_PRECISE, ANY_COUNTER);
	return event_has_flag(ev, ROW_HIDDEN) && table_key_field_plus1(ev->table, KEY_PRECISE)
	               ? get_alias_precision(ev)
	               : 0;
}

bool pfmi_pmu_requires_precision(const struct event *ev)
{
	return pfmi_pmu_get_precision(ev) == PRECISE_MUST;
}
