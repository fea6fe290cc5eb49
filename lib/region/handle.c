/* SPDX-License-Identifier: MIT */
/* Visits with a handle: their counts are summed over the threads that ran them. */
#include <string.h>
#include "region/region.h"
#include "region/words.h"

/* A segment is the time from enter or resume to suspend or leave in one thread. */
struct pfm_region_visit {
	pfm_region_visit_t *next; /* next free visit */
	uint32_t region, epoch, generation;
	unsigned round;
	const struct thread *thread; /* thread that runs it; NULL: suspended */
	int tid;
	bool is_complete;        /* all segments were counted in one thread and one round */
	uint64_t wall, began;    /* nanoseconds of ended segments; time at which this one began */
	uint64_t entered, ended; /* times of the first begin and the last end */
	uint64_t words[]; /* sums of ended segments, then the reading at the start of this one */
};

static pfm_region_visit_t *free_visits;

static pfm_region_visit_t *make_visit(void)
{
	size_t words = 2 * pfmi_regions.layout.words * sizeof(uint64_t);
	pfm_region_visit_t *v;

	pfmi_regions_lock();
	v = free_visits;
	if (v)
		free_visits = v->next;
	else
		v = pfmi_arena_alloc(&pfmi_regions.arena, sizeof(*v) + words);
	pfmi_regions_unlock();
	if (v)
		memset(v, 0, sizeof(*v) + words);
	return v;
}

static void release_visit(pfm_region_visit_t *v)
{
	pfmi_regions_lock();
	v->next = free_visits;
	free_visits = v;
	pfmi_regions_unlock();
}

static uint64_t *get_segment_start(pfm_region_visit_t *v)
{
	return v->words + pfmi_regions.layout.words;
}

static void start_segment(pfm_region_visit_t *v, struct thread *t)
{
	v->thread = t;
	v->tid = t->tid;
	v->generation = t->generation;
	v->epoch = pfmi_regions.epoch;
	t->handles++;
	pfmi_thread_read_counters(t, get_segment_start(v));
	v->began = pfmi_region_get_wall_time();
	v->entered = v->entered ? v->entered : v->began;
}

/* Adds the segment to the sums. A segment that another thread ends has no counts. */
static void end_segment(pfm_region_visit_t *v, struct thread *t)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];
	uint64_t *start = get_segment_start(v);

	v->ended = pfmi_region_get_wall_time();
	v->wall += v->ended - v->began;
	pfmi_thread_read_counters(t, t->now);
	v->is_complete = v->is_complete && v->thread == t && v->tid == t->tid &&
	                 v->generation == t->generation && v->epoch == pfmi_regions.epoch;
	if (v->thread == t && t->handles)
		t->handles--;
	v->thread = NULL;
	for (unsigned i = 0; i < r->n; i++) {
		const struct group *g = &r->groups[i];
		unsigned w = g->word;

		v->is_complete = v->is_complete && start[w] == t->now[w];
		for (unsigned k = GROUP_ENABLED; k < GROUP_VALUES + g->n; k++)
			v->words[w + k] += t->now[w + k] - start[w + k];
	}
}

pfm_region_visit_t *pfm_enter_region(pfm_region_t *region)
{
	struct thread *t;
	struct node *node;
	pfm_region_visit_t *v = NULL;
	uint32_t id;

	if (!region || !pfmi_region_enter_call(&t))
		return NULL;
	id = pfmi_region_get_id(region);
	if (id && pfmi_thread_find_or_make_entry(t, id, 0, &node))
		v = make_visit();
	if (v) {
		v->region = id;
		v->is_complete = true;
		if (pfmi_regions.layout.n_rounds > 1 && t->depth == 0 && t->handles == 0)
			pfmi_thread_switch_round(
				t, (unsigned)(node->begun % pfmi_regions.layout.n_rounds));
		node->begun++;
		v->round = t->round;
		start_segment(v, t);
	} else {
		t->missed++;
		pfmi_storage_note(t);
	}
	pfmi_region_leave_call();
	return v;
}

void pfm_suspend_region(pfm_region_visit_t *v)
{
	struct thread *t;

	if (!v || !v->thread || !pfmi_region_enter_call(&t))
		return;
	end_segment(v, t);
	pfmi_region_leave_call();
}

/* All segments of a visit count the same round, so a thread without open visits switches to it. */
void pfm_resume_region(pfm_region_visit_t *v)
{
	struct thread *t;

	if (!v || v->thread || !pfmi_region_enter_call(&t))
		return;
	if (t->depth == 0 && t->handles == 0)
		pfmi_thread_switch_round(t, v->round);
	v->is_complete = v->is_complete && t->round == v->round;
	start_segment(v, t);
	pfmi_region_leave_call();
}

/* Makes the sums look like one reading of groups that were never closed. */
static void complete_sums(pfm_region_visit_t *v)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];

	for (unsigned i = 0; i < r->n; i++)
		v->words[r->groups[i].word] = r->groups[i].n;
	memset(get_segment_start(v), 0, pfmi_regions.layout.words * sizeof(uint64_t));
	for (unsigned i = 0; i < r->n; i++)
		get_segment_start(v)[r->groups[i].word] = r->groups[i].n;
}

static void add_thread_visit(pfm_region_visit_t *v, struct thread *t)
{
	struct node *node;
	struct entry *e = pfmi_thread_find_or_make_entry(t, v->region, 0, &node);
	const struct visit visit = { .start = get_segment_start(v),
		                     .now = v->words,
		                     .round = v->round,
		                     .is_complete = v->is_complete,
		                     .outermost = true,
		                     .wall = v->wall };

	if (!e) {
		t->missed++;
		pfmi_storage_note(t);
		return;
	}
	complete_sums(v);
	REGION_ADD(e->begun, 1);
	pfmi_entry_add_visit(e, &visit);
	if (pfmi_regions.keeps_slices)
		pfmi_slices_add_visit(t, v->region, &visit,
		                      &(struct slice_times){ v->entered, v->ended, true });
}

void pfm_leave_region(pfm_region_visit_t *v)
{
	struct thread *t;

	if (!v)
		return;
	if (!pfmi_region_enter_call(&t)) {
		release_visit(v);
		return;
	}
	if (v->thread)
		end_segment(v, t);
	if (v->epoch == pfmi_regions.epoch)
		add_thread_visit(v, t);
	release_visit(v);
	pfmi_region_leave_call();
}
