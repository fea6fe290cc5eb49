/* SPDX-License-Identifier: MIT */
/* Groups of which only the leader samples (perf's :S). Each sample has the values of all members;
 * the difference from the previous sample becomes a sample of each member. */
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "base/bits.h"
#include "session/perf_event.h"
#include "sampling/sampling.h"
#include "base/grow.h"

#define GROUP_READ_FORMAT ((uint64_t)(PERF_FORMAT_GROUP | PERF_FORMAT_ID))

/* Words before the first member: the number of members, and times. */
static unsigned get_n_head_words(const struct record_layout *l)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	return 1 + base_count_bits(l->read_format & times);
}

/* Words of a member: its value, its id, and its losses. */
static unsigned get_n_member_words(const struct record_layout *l)
{
	return 2 + base_count_bits(l->read_format & PERF_FORMAT_LOST);
}

static bool is_leader_sampled(const struct record_layout *l, const pfm_record_t *r)
{
	const uint64_t *words = r->body.sample.read;

	if (!(r->has & PFM_SAMPLE_READ) ||
	    (l->read_format & GROUP_READ_FORMAT) != GROUP_READ_FORMAT)
		return false;
	return r->body.sample.n_read > get_n_head_words(l) && words[0] > 1 &&
	       words[0] <= (r->body.sample.n_read - get_n_head_words(l)) / get_n_member_words(l);
}

struct value_search {
	const struct group_value *list;
	uint64_t id;
	uint32_t tid;
};

static bool is_same_value(const void *arg, uint32_t i)
{
	const struct value_search *s = arg;

	return s->list[i].id == s->id && s->list[i].tid == s->tid;
}

/* The value of event @id (in task @tid) at the previous sample, 0 at first. NULL without memory. */
static struct group_value *get_last_value(struct group_values *g, uint64_t id, uint32_t tid)
{
	const struct value_search search = { g->last_values, id, tid };
	uint64_t key[2] = { id, tid }, hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&g->table, hash, is_same_value, &search);
	bool failed = false;

	if (at != HASH_NOT_FOUND)
		return &g->last_values[at];
	g->last_values = base_grow_list(g->last_values, g->n_last, &g->capacity,
	                                sizeof(*g->last_values), &failed);
	if (failed)
		return NULL;
	if (!pfmi_base_add_hash(&g->table, hash, g->n_last))
		return NULL;
	g->last_values[g->n_last] = (struct group_value){ .id = id, .tid = tid };
	return &g->last_values[g->n_last++];
}

/* Stores the count of member @words since the previous sample in *@more. False without memory. */
static bool update_value(struct group_values *g, const struct record_layout *l,
                         const pfm_record_t *r, const uint64_t *words, uint64_t *more)
{
	struct group_value *last = get_last_value(g, words[1], l->is_inherited ? r->tid : 0);

	if (!last)
		return false;
	*more = words[0] >= last->value ? words[0] - last->value : words[0];
	last->value = words[0];
	return true;
}

static void set_period(pfm_record_t *r, uint64_t period)
{
	r->body.sample.period = period;
	r->has |= PFM_SAMPLE_PERIOD;
}

bool pfmi_sampling_begin_group(struct sampling_state *sm, const struct record_layout *l,
                               pfm_record_t *r)
{
	struct group_values *g = &sm->group;
	const uint64_t *words = r->body.sample.read;
	uint64_t more;

	if (!is_leader_sampled(l, r))
		return true;
	if (!update_value(g, l, r, words + get_n_head_words(l), &more))
		return false;
	set_period(r, more);
	g->leader_sample = *r;
	g->n_left = (unsigned)words[0] - 1;
	return true;
}

int pfmi_sampling_next_member(struct sampling_state *sm, pfm_record_t *out)
{
	struct group_values *g = &sm->group;
	const struct record_layout *l = &sm->totals[g->leader_sample.event].layout;

	while (g->n_left) {
		const uint64_t *words = g->leader_sample.body.sample.read;
		uint64_t member = words[0] - g->n_left--, more;
		int i;

		words += get_n_head_words(l) + member * get_n_member_words(l);
		if (!update_value(g, l, &g->leader_sample, words, &more))
			return PFMLIB_ERR_NOMEM;
		i = pfmi_sampling_find_count(sm, words[1]);
		if (i < 0 || !more)
			continue;
		*out = g->leader_sample;
		out->event = (uint32_t)i;
		set_period(out, more);
		return 1;
	}
	return 0;
}

void pfmi_sampling_free_group_values(struct group_values *g)
{
	pfmi_base_free_hash(&g->table);
	free(g->last_values);
	g->last_values = NULL;
}
