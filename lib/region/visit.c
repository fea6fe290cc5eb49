/* SPDX-License-Identifier: MIT */
/* Begin and end of a visit.
 *
 * Begin reads the counters and then the clock as its last steps, end reads the clock and then the
 * counters as its first, so that little of their own work is in the visit, and no system call in
 * its wall time. A visit's counts are the differences of two readings. Each enclosing visit sums
 * the readings' differences of the visits directly inside it, which its exclusive counts leave out.
 *
 * Visits may overlap: B begins inside A and ends after it. Until A ends B is inside A; from then on
 * B is inside what encloses A.
 */
#include <errno.h>
#include <string.h>
#include "region/reading.h"
#include "region/region.h"
#include "region/sums.h"

#define GET(X)    __atomic_load_n(&(X), __ATOMIC_RELAXED)
#define PUT(X, V) __atomic_store_n(&(X), (V), __ATOMIC_RELAXED)

/* ---- calls ------------------------------------------------------------------------------- */

void pfmi_regions_measure(void)
{
	struct thread *t = pfmi_thread_here();

	if (t)
		pfmi_region_measure_cost(
			t, &(struct region_marks){ pfm_region_begin, pfm_region_end });
}

/* Reads the environment at the first begin. True if regions are counted. */
REGION_COLD_PART bool decide(void)
{
	int saved = errno;
	bool is_first, counted = pfmi_regions_decide(&is_first);

	if (is_first)
		pfmi_regions_measure();
	errno = saved;
	return counted;
}

static inline struct frame *frame_at(const struct thread *t, unsigned i)
{
	return (struct frame *)(t->frames + i * t->stride);
}

static inline struct frame *frame_below(const struct thread *t, const struct frame *f)
{
	return (struct frame *)((uintptr_t)f - t->stride);
}

/* Drops the visits that a stop has cut. */
REGION_COLD_PART void drop_frames(struct thread *t)
{
	for (; t->depth; t->depth--)
		frame_at(t, t->depth - 1)->entry->node->depth--;
	t->run = GET(pfmi_regions.run);
}

/* Starts a region call that may have something to do first: the start, the thread's counters, what
 * a stop has left. In a signal handler that interrupts another call nothing is counted. */
REGION_COLD_PART struct thread *look_first(int *active)
{
	struct here *here = &pfmi_region_here;
	struct thread *t;

	if (!*active)
		return NULL;
	if (here->busy || here->state == IN_CALL) {
		if (here->thread)
			here->thread->missed++;
		return NULL;
	}
	if (*active < 0 && !decide())
		return NULL;
	*active = GET(perfmon_regions_active); /* before the stops are looked at */
	here->state = IN_CALL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t = here->thread && here->thread->opened ? here->thread : pfmi_thread_here();
	if (t && t->run != GET(pfmi_regions.run))
		drop_frames(t);
	if (!t)
		here->state = LOOK_FIRST;
	return t;
}

/* Starts a region call: NULL if it has nothing to do. *@active is for leave_call(). */
REGION_INLINE struct thread *enter_call(int *active)
{
	struct here *here = &pfmi_region_here;

	*active = GET(perfmon_regions_active);
	if (REGION_RARE(here->state != *active))
		return look_first(active);
	here->state = IN_CALL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return here->thread;
}

REGION_INLINE void leave_call(int active)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pfmi_region_here.state = active;
}

bool pfmi_region_enter_call(struct thread **t)
{
	int active;

	*t = enter_call(&active);
	return *t != NULL;
}

void pfmi_region_leave_call(void)
{
	leave_call(LOOK_FIRST);
}

uint32_t pfmi_region_id(pfm_region_t *region)
{
	uint32_t id = GET(region->id);

	if (!id) {
		id = pfmi_region_number(region->name);
		PUT(region->id, id);
	}
	return id;
}

/* ---- the stack of open visits ------------------------------------------------------------ */

static inline uint64_t *sums_of(struct frame *f)
{
	return f->words + pfmi_regions.layout.words;
}

enum { FIRST_ROOM = 8 };

/* Makes room for more frames; one that holds nothing stands below the first. */
static bool grow_frames(struct thread *t)
{
	unsigned room = t->room ? 2 * t->room : FIRST_ROOM;
	char *bigger = pfmi_arena_alloc(&t->arena, (room + 1) * t->stride);

	if (!bigger)
		return false;
	bigger += t->stride;
	if (t->depth)
		memcpy(bigger, t->frames, t->depth * t->stride);
	t->frames = bigger;
	t->room = room;
	for (unsigned i = t->depth; i < room; i++)
		frame_at(t, i)->region = NO_REGION;
	return true;
}

/* The round of a region's n-th visit is n modulo the number of rounds: equal runs count equal
 * visits. */
static void rotate(struct thread *t, const struct node *node)
{
	if ((t->depth == 0 && t->handles == 0) || pfmi_regions.flags & PFM_REGIONS_ROTATE_INNER)
		pfmi_thread_switch(t, (unsigned)(node->begun % pfmi_regions.layout.n_rounds));
}

/* The frame for a visit of @region, searched for; NULL without memory. What rotates is searched for
 * at each begin. */
REGION_COLD_PART struct frame *find_frame(struct thread *t, pfm_region_t *region)
{
	const struct entry *around = t->depth ? frame_at(t, t->depth - 1)->entry : NULL;
	uint32_t id = pfmi_region_id(region);
	struct node *node;
	struct entry *e = id ? pfmi_thread_entry(t, id, around ? around->region : 0, &node) : NULL;
	struct frame *f;

	if (!e || (t->depth == t->room && !grow_frames(t))) {
		t->missed++;
		return NULL;
	}
	f = frame_at(t, t->depth);
	f->entry = e;
	f->around = around;
	f->region = pfmi_regions.layout.n_rounds > 1 ? NO_REGION : id;
	if (pfmi_regions.layout.n_rounds > 1)
		rotate(t, node);
	node->begun++;
	return f;
}

REGION_COLD_PART uint64_t ask_kernel_at_begin(const struct thread *t, uint64_t *words)
{
	pfmi_thread_snapshot(t, words);
	return pfmi_thread_clock(t);
}

REGION_COLD_PART uint64_t ask_kernel_at_end(const struct thread *t)
{
	uint64_t wall = pfmi_thread_clock(t);

	pfmi_thread_snapshot(t, t->now);
	return wall;
}

/* A loop enters the region of the visit before: a frame that fits is not searched for, which is
 * half of a begin. */
void(pfm_region_begin)(pfm_region_t *region)
{
	int active;
	struct thread *t = region ? enter_call(&active) : NULL;
	const struct round *r;
	struct frame *f;

	if (!t)
		return;
	f = frame_at(t, t->depth);
	if (REGION_RARE(t->depth >= t->room || f->region != GET(region->id) ||
	                f->around != frame_below(t, f)->entry))
		f = find_frame(t, region);
	if (f) {
		f->generation = t->generation;
		f->wall_children = f->pairs = f->children = 0;
		REGION_ADD(f->entry->begun, 1);
		f->entry->node->depth++;
		t->depth++;
		r = &pfmi_regions.layout.rounds[t->round];
		if (!t->user_reads || !read_user_groups(t, r, f->words, &f->wall))
			f->wall = ask_kernel_at_begin(t, f->words);
	}
	leave_call(active);
}

/* Adds what a visit counted to the sums of the one that encloses it. @beyond is open still: its
 * part so far is added when it ends. */
REGION_INLINE void add_to_parent(struct frame *parent, struct frame *f, const struct visit *v)
{
	uint64_t *sums = sums_of(parent);

	for (unsigned w = 0; w < pfmi_regions.layout.words; w++) {
		uint64_t d = v->now[w] - f->words[w] - (v->beyond ? v->now[w] - v->beyond[w] : 0);

		sums[w] = parent->children ? sums[w] + d : d;
	}
	parent->children++;
	parent->pairs += f->pairs + 1;
}

REGION_COLD_PART void probe(struct thread *t, const struct frame *f, uint64_t wall)
{
	for (unsigned w = 0; w < pfmi_regions.layout.words; w++)
		t->probe[w] = t->now[w] - f->words[w];
	*t->probe_wall = wall;
}

/* Ends the visit of frame @at at @wall with the reading t->now; @beyond is the frame above, or
 * NULL. */
REGION_INLINE void finish(struct thread *t, unsigned at, uint64_t wall, const struct frame *beyond)
{
	struct frame *f = frame_at(t, at);
	uint64_t took = wall - f->wall, after = beyond ? wall - beyond->wall : 0;
	struct visit v = { .start = f->words,
		           .now = t->now,
		           .inside = f->children ? sums_of(f) : NULL,
		           .beyond = beyond ? beyond->words : NULL,
		           .round = t->round,
		           .whole = f->generation == t->generation,
		           .outermost = --f->entry->node->depth == 0,
		           .wall = took,
		           .wall_inside = f->wall_children + after,
		           .pairs = f->pairs,
		           .children = f->children };

	add_visit(f->entry, &v);
	if (REGION_RARE(pfmi_regions.keeps_slices))
		pfmi_slice_keep(t, f->entry->region, &v,
		                &(struct slice_times){ f->wall, wall, beyond != NULL });
	if (at) {
		frame_at(t, at - 1)->wall_children += took - after;
		add_to_parent(frame_at(t, at - 1), f, &v);
	}
	if (REGION_RARE(t->probe))
		probe(t, f, took);
}

/* Ends the visit of frame @at that is not at the top, or that the parent process began. */
REGION_COLD_PART void finish_within(struct thread *t, unsigned at, uint64_t wall)
{
	struct frame *f = frame_at(t, at), *beyond = at + 1 < t->depth ? frame_at(t, at + 1) : NULL;

	if (f->generation == BEFORE_FORK) {
		f->entry->node->depth--;
		REGION_ADD(f->entry->begun, (uint64_t)-1);
	} else {
		finish(t, at, wall, beyond);
	}
	if (beyond)
		memmove(f, beyond, (t->depth - at - 1) * t->stride);
	t->depth--;
}

/* Ends the innermost visit of @region, wherever it stands. */
REGION_COLD_PART void search_and_finish(struct thread *t, pfm_region_t *region, uint64_t wall)
{
	uint32_t id = pfmi_region_id(region);

	for (unsigned at = t->depth; at-- > 0;)
		if (frame_at(t, at)->entry->region == id) {
			finish_within(t, at, wall);
			return;
		}
	t->unmatched++;
}

void(pfm_region_end)(pfm_region_t *region)
{
	int active;
	struct thread *t = region ? enter_call(&active) : NULL;
	const struct frame *top;
	uint64_t wall;

	if (!t)
		return;
	if (!t->user_reads ||
	    !read_user_groups(t, &pfmi_regions.layout.rounds[t->round], t->now, &wall))
		wall = ask_kernel_at_end(t);
	top = frame_below(t, frame_at(t, t->depth));
	if (REGION_RARE(!t->depth || top->entry->region != GET(region->id) ||
	                top->generation == BEFORE_FORK)) {
		search_and_finish(t, region, wall);
	} else {
		finish(t, t->depth - 1, wall, NULL);
		t->depth--;
	}
	leave_call(active);
}

void pfm_region_reset(pfm_region_t *region)
{
	struct thread *t;

	if (!region || !pfmi_region_enter_call(&t))
		return;
	for (struct entry *e = t->entries; e; e = e->next)
		if (e->region == pfmi_region_id(region))
			pfmi_entry_clear(e);
	pfmi_region_leave_call();
}
