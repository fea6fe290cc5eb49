/* SPDX-License-Identifier: MIT */
/* Precise sampling (PEBS) of events that libpfm4's names represent. */
#include "pmu/pmu_internal.h"

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

/* Compares configuration words without the user's filters, which no row has. */
unsigned pfmi_pmu_compute_alias_precision(const struct event *ev)
{
	struct event found = { .n_user_fields = 0 }, plain;
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *config;

	if (ev->user_keys & FILTER_KEYS) {
		plain = *ev;
		drop_filters(&plain);
		ev = &plain;
	}
	config = pfmi_pmu_get_config_words(ev, own);
	return pfmi_pmu_decode_config_words(ev->table, config, ALL_CONFIG_WORDS, &found)
	               ? found.row_precision
	               : PRECISE_IMPOSSIBLE;
}
