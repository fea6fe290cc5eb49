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
#include "region/region.h"
#include "region/words.h"

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
__attribute__((noinline, cold)) static bool decide(void)
{
	int saved = errno;
	bool is_first, counted = pfmi_regions_decide(&is_first);

	if (is_first)
		pfmi_regions_measure();
	errno = saved;
	return counted;
}

/* Starts a region call: false if it has nothing to do. In a signal handler that interrupts another
 * one nothing is counted. */
bool pfmi_region_enter_call(struct thread **t)
{
	struct here *here = &pfmi_region_here;
	int active = GET(perfmon_regions_active);

	if (!active)
		return false;
	if (here->busy) {
		if (here->thread)
			here->thread->missed++;
		return false;
	}
	if (active < 0 && !decide())
		return false;
	here->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*t = here->thread && here->thread->opened ? here->thread : pfmi_thread_here();
	if (*t)
		return true;
	pfmi_region_leave_call();
	return false;
}

void pfmi_region_leave_call(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pfmi_region_here.busy = 0;
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

static inline struct frame *frame_at(const struct thread *t, unsigned i)
{
	return (struct frame *)(t->frames + i * t->stride);
}

static inline uint64_t *sums_of(struct frame *f)
{
	return f->words + pfmi_regions.layout.words;
}

enum { FIRST_ROOM = 8 };

__attribute__((noinline, cold)) static bool grow_frames(struct thread *t)
{
	unsigned room = t->room ? 2 * t->room : FIRST_ROOM;
	char *bigger = pfmi_arena_alloc(&t->arena, room * t->stride);

	if (!bigger)
		return false;
	if (t->depth)
		memcpy(bigger, t->frames, t->depth * t->stride);
	t->frames = bigger;
	t->room = room;
	return true;
}

/* Drops the visits that a stop has cut. */
__attribute__((noinline, cold)) static void drop_frames(struct thread *t)
{
	for (; t->depth; t->depth--)
		frame_at(t, t->depth - 1)->node->depth--;
	t->run = GET(pfmi_regions.run);
}

/* The round of a region's n-th visit is n modulo the number of rounds: equal runs count equal
 * visits. */
static void rotate(struct thread *t, const struct node *node)
{
	if ((t->depth == 0 && t->handles == 0) || pfmi_regions.flags & PFM_REGIONS_ROTATE_INNER)
		pfmi_thread_switch(t, (unsigned)(node->begun % pfmi_regions.layout.n_rounds));
}

static void begin(struct thread *t, uint32_t region)
{
	uint32_t parent = t->depth ? frame_at(t, t->depth - 1)->entry->region : 0;
	struct node *node;
	struct entry *e = pfmi_thread_entry(t, region, parent, &node);
	struct frame *f;

	if (!e || (t->depth == t->room && !grow_frames(t))) {
		t->missed++;
		return;
	}
	if (pfmi_regions.layout.n_rounds > 1)
		rotate(t, node);
	f = frame_at(t, t->depth++);
	f->node = node;
	f->entry = e;
	f->generation = t->generation;
	f->wall_children = f->pairs = f->children = 0;
	node->begun++;
	node->depth++;
	REGION_ADD(e->open, 1);
	pfmi_thread_snapshot(t, f->words);
	f->wall = pfmi_wall_clock();
}

void(pfm_region_begin)(pfm_region_t *region)
{
	struct thread *t;
	uint32_t id;

	if (!region || !pfmi_region_enter_call(&t))
		return;
	if (t->run != GET(pfmi_regions.run))
		drop_frames(t);
	id = pfmi_region_id(region);
	if (id)
		begin(t, id);
	pfmi_region_leave_call();
}

/* Adds what a visit counted to the sums of the one that encloses it. @beyond is open still: its
 * part so far is added when it ends. */
static void add_to_parent(struct frame *parent, struct frame *f, const struct visit *v)
{
	uint64_t *sums = sums_of(parent);

	for (unsigned w = 0; w < pfmi_regions.layout.words; w++) {
		uint64_t d = v->now[w] - f->words[w] - (v->beyond ? v->now[w] - v->beyond[w] : 0);

		sums[w] = parent->children ? sums[w] + d : d;
	}
	parent->children++;
	parent->pairs += f->pairs + 1;
}

__attribute__((noinline, cold)) static void probe(struct thread *t, const struct frame *f,
                                                  uint64_t wall)
{
	for (unsigned w = 0; w < pfmi_regions.layout.words; w++)
		t->probe[w] = t->now[w] - f->words[w];
	*t->probe_wall = wall;
}

/* Takes frame @at, which ended at @wall with the reading t->now, off the stack. */
static void finish(struct thread *t, unsigned at, uint64_t wall)
{
	struct frame *f = frame_at(t, at), *beyond = at + 1 < t->depth ? frame_at(t, at + 1) : NULL;
	uint64_t took = wall - f->wall, after = beyond ? wall - beyond->wall : 0;
	struct visit v = { .start = f->words,
		           .now = t->now,
		           .inside = f->children ? sums_of(f) : NULL,
		           .beyond = beyond ? beyond->words : NULL,
		           .round = t->round,
		           .whole = f->generation == t->generation,
		           .outermost = --f->node->depth == 0,
		           .wall = took,
		           .wall_exclusive = took - f->wall_children - after,
		           .pairs = f->pairs,
		           .children = f->children };

	REGION_ADD(f->entry->open, (uint64_t)-1);
	if (f->generation != BEFORE_FORK)
		pfmi_entry_add(f->entry, &v);
	if (pfmi_regions.keeps_slices && f->generation != BEFORE_FORK)
		pfmi_slice_keep(t, f->entry->region, &v,
		                &(struct slice_times){ f->wall, wall, beyond != NULL });
	if (at && f->generation != BEFORE_FORK) {
		frame_at(t, at - 1)->wall_children += took - after;
		add_to_parent(frame_at(t, at - 1), f, &v);
	}
	if (t->probe)
		probe(t, f, took);
	if (beyond)
		memmove(f, beyond, (t->depth - at - 1) * t->stride);
	t->depth--;
}

static void end(struct thread *t, uint32_t region)
{
	uint64_t wall = pfmi_wall_clock();
	unsigned at = t->depth;

	pfmi_thread_snapshot(t, t->now);
	while (at-- > 0)
		if (frame_at(t, at)->entry->region == region) {
			finish(t, at, wall);
			return;
		}
	t->unmatched++;
}

void(pfm_region_end)(pfm_region_t *region)
{
	struct thread *t;

	if (!region || !pfmi_region_enter_call(&t))
		return;
	if (t->run != GET(pfmi_regions.run))
		drop_frames(t);
	end(t, pfmi_region_id(region));
	pfmi_region_leave_call();
}

void pfm_region_reset(pfm_region_t *region)
{
	struct thread *t;

	if (!region || !pfmi_region_enter_call(&t))
		return;
	for (struct entry *e = t->entries; e; e = e->next)
		if (e->region == pfmi_region_id(region)) {
			uint64_t *words = (uint64_t *)&e->times;
			size_t n = (sizeof(e->times) +
			            pfmi_regions.layout.n_events * sizeof(struct tally)) /
			           sizeof(*words);

			__atomic_store_n(&e->sequence, e->sequence + 1, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_RELEASE);
			while (n-- > 0)
				REGION_PUT(words[n], 0);
			__atomic_store_n(&e->sequence, e->sequence + 1, __ATOMIC_RELEASE);
		}
	pfmi_region_leave_call();
}
