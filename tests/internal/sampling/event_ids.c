/* SPDX-License-Identifier: MIT */
/* Event ids are found by linear search and in the hash table; unknown ids are not found. */
#include "units.h"
#include "session/perf_event.h"
#include "sampling/sampling.h"

static void every_id_is_found(void **state)
{
	struct event_id ids[] = { { 3, 0 }, { 7, 2 }, { 1024, 1 }, { UINT64_MAX, 3 } };
	struct sampling_state sm = { .event_ids = ids, .n_event_ids = COUNT(ids) };

	(void)state;
	for (unsigned form = 0; form < 2; form++) {
		for (uint32_t i = 0; i < COUNT(ids); i++)
			assert_int_equal(pfmi_sampling_find_count(&sm, ids[i].id),
			                 ids[i].count_index);
		assert_int_equal(pfmi_sampling_find_count(&sm, 0), -1);
		assert_int_equal(pfmi_sampling_find_count(&sm, 1023), -1);
		for (uint32_t i = 0; i < COUNT(ids) && form == 0; i++)
			assert_true(pfmi_base_add_hash(&sm.id_table,
			                               pfmi_base_hash_number(ids[i].id), i));
	}
	pfmi_base_free_hash(&sm.id_table);
}

UNIT(sampling_event_ids, cmocka_unit_test(every_id_is_found));
