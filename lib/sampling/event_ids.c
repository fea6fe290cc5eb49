/* SPDX-License-Identifier: MIT */
/* Event ids of the kernel: in a sorted list for a session that samples, in a hash table for a
 * recording. */
#include <string.h>
#include "session/perf_event.h"
#include "sampling/sampling.h"

struct id_search {
	const struct event_id *list;
	uint64_t id;
};

static bool has_event_id(const void *arg, uint32_t i)
{
	const struct id_search *s = arg;

	return s->list[i].id == s->id;
}

/* The index of @id in event_ids, or HASH_NOT_FOUND. */
static uint32_t find_listed_id(const struct sampling_state *sm, uint64_t id)
{
	const struct id_search search = { sm->event_ids, id };
	uint32_t low = 0, high = sm->n_event_ids;

	if (sm->id_table.n_used)
		return pfmi_base_find_hash(&sm->id_table, pfmi_base_hash_number(id), has_event_id,
		                           &search);
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (sm->event_ids[mid].id == id)
			return mid;
		if (sm->event_ids[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return HASH_NOT_FOUND;
}

int pfmi_sampling_find_count(struct sampling_state *sm, uint64_t id)
{
	uint32_t at = sm->last_id_index;

	/* Consecutive records mostly belong to one event. */
	if (at >= sm->n_event_ids || sm->event_ids[at].id != id)
		at = find_listed_id(sm, id);
	if (at == HASH_NOT_FOUND)
		return -1;
	sm->last_id_index = at;
	return (int)sm->event_ids[at].count_index;
}

bool pfmi_sampling_is_of_other_session(struct sampling_state *sm, const void *bytes, size_t size)
{
	struct record_header head;

	memcpy(&head, bytes, sizeof(head));
	return head.type == PFM_RECORD_SAMPLE && sm->n_event_ids &&
	       sampling_has_event_id(&sm->common_layout) &&
	       pfmi_sampling_find_count(
		       sm, pfmi_sampling_get_record_id(&sm->common_layout, bytes, size)) < 0;
}
