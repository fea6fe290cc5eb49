/* SPDX-License-Identifier: MIT */
/* Begin and end of a visit.
 *
 * Begin reads the counters and then the clock as its last steps, end reads the clock and then the
 * counters as its first, so that little of their own work is in the visit, and no system call in
 * its wall time. A visit's counts are the differences of two readings. Each enclosing visit sums
 * the readings' differences of the visits directly inside it, which its exclusive counts leave out.
 *
 * Visits may overlap: B begins inside A and ends after it. Until A ends B is inside A; from then on
 * B is inside what encloses A. */
#include <errno.h>
#include <string.h>
#include "region/reading.h"
#include "region/region.h"
#include "region/sums.h"

#define LOAD_RELAXED(X)     __atomic_load_n(&(X), __ATOMIC_RELAXED)
#define STORE_RELAXED(X, V) __atomic_store_n(&(X), (V), __ATOMIC_RELAXED)

/* ---- calls ------------------------------------------------------------------------------- */

void pfmi_regions_measure_cost(void)
{
	struct thread *t = pfmi_thread_get_current();

	if (t)
		pfmi_region_measure_cost(
			t, &(struct region_marks){ pfm_begin_region, pfm_end_region });
}

/* Starts counting at the first begin on request of the environment. True if regions are counted. */
REGION_COLD_PART bool start_from_environment(void)
{
	int saved = errno;
	bool is_first, counted = pfmi_regions_start_from_environment(&is_first);

	if (is_first)
		pfmi_regions_measure_cost();
	errno = saved;
	return counted;
}

static inline struct frame *get_frame(const struct thread *t, unsigned i)
{
	/* As a number: there may be no frames so far, and adding to NULL is undefined. */
	return (struct frame *)((uintptr_t)t->frames + i * t->stride);
}

static inline struct frame *get_frame_below(const struct thread *t, const struct frame *f)
{
	return (struct frame *)((uintptr_t)f - t->stride);
}

/* Discards visits that were open at a stop. */
REGION_COLD_PART void drop_frames(struct thread *t)
{
	for (; t->depth; t->depth--)
		get_frame(t, t->depth - 1)->entry->node->depth--;
	t->run = LOAD_RELAXED(pfmi_regions.run);
}

/* A forked child takes a page fault at each page of this library that it executes or writes. Makes
 * an empty visit, which is not in the results, so that no visit of the program counts them. */
REGION_COLD_PART void touch_pages(struct thread *t, int active)
{
	pfm_region_t empty = { "", EMPTY_REGION, 0 };

	t->epoch = pfmi_regions.epoch;
	pfmi_region_caller.state = active;
	pfm_begin_region(&empty);
	pfm_end_region(&empty);
	pfmi_region_caller.state = IN_CALL;
}

static struct thread *prepare_call(int *active)
{
	struct caller *caller = &pfmi_region_caller;
	struct thread *t;

	if (*active < 0 && !start_from_environment())
		return NULL;
	*active = LOAD_RELAXED(perfmon_regions_active); /* read before the stops */
	caller->state = IN_CALL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t = caller->thread && caller->thread->opened ? caller->thread : pfmi_thread_get_current();
	if (t && t->run != LOAD_RELAXED(pfmi_regions.run))
		drop_frames(t);
	if (t && t->epoch != pfmi_regions.epoch)
		touch_pages(t, *active);
	if (!t)
		caller->state = UNPREPARED;
	return t;
}

/* Begins a region call with the rare work before it: the start, opening the thread's counters,
 * cleaning up after a stop. Returns NULL in a signal handler that interrupts another call, which is
 * not counted. Defers cancellation of the thread, because the caller may be a destructor. */
REGION_COLD_PART struct thread *enter_unprepared(int *active)
{
	const struct caller *caller = &pfmi_region_caller;
	struct thread *t;
	int cancel;

	if (!*active)
		return NULL;
	if (caller->busy || caller->state == IN_CALL) {
		if (caller->thread) {
			caller->thread->missed++;
			pfmi_storage_note(caller->thread);
		}
		return NULL;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	t = prepare_call(active);
	pthread_setcancelstate(cancel, &cancel);
	return t;
}

bool pfmi_region_enter_call(struct thread **t)
{
	int active = LOAD_RELAXED(perfmon_regions_active);

	*t = enter_unprepared(&active);
	if (*t)
		pfmi_region_caller.active = active;
	return *t != NULL;
}

/* Ends a region call. The next one takes the fast path while perfmon_regions_active is @active. */
REGION_INLINE void leave_call(int active)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pfmi_region_caller.state = active;
}

void pfmi_region_leave_call(void)
{
	leave_call(pfmi_region_caller.active);
}

uint32_t pfmi_region_get_id(pfm_region_t *region)
{
	uint32_t id = LOAD_RELAXED(region->id);

	if (!id) {
		id = pfmi_region_find_or_make_number(region->name);
		STORE_RELAXED(region->id, id);
	}
	return id;
}

/* ---- the stack of open visits ------------------------------------------------------------ */

static inline uint64_t *get_frame_sums(struct frame *f)
{
	return f->words + pfmi_regions.layout.words;
}

enum { FIRST_SIZE = 8 };

/* Allocates more frames. One unused frame precedes the first. */
static bool grow_frames(struct thread *t)
{
	unsigned size = t->size ? 2 * t->size : FIRST_SIZE;
	char *bigger = pfmi_arena_alloc(&t->arena, (size + 1) * t->stride);

	if (!bigger)
		return false;
	bigger += t->stride;
	if (t->depth)
		memcpy(bigger, t->frames, t->depth * t->stride);
	t->frames = bigger;
	t->size = size;
	return true;
}

/* Selects the round of a region's n-th visit: n modulo the number of rounds, so that equal runs
 * count the same visits. */
REGION_COLD_PART void rotate_rounds(struct thread *t, struct node *node)
{
	if ((t->depth == 0 && t->handles == 0) || pfmi_regions.flags & PFM_REGIONS_ROTATE_INNER)
		pfmi_thread_switch_round(t, (unsigned)(node->begun % pfmi_regions.layout.n_rounds));
	node->begun++;
}

/* Reads the counters by the kernel as the last step of a begin. */
static __attribute__((noinline)) void begin_by_kernel(struct thread *t, struct frame *f, int active)
{
	pfmi_thread_read_counters(t, f->words);
	f->wall = pfmi_thread_get_time(t);
	leave_call(active);
}

/* Begins a visit in @f. Instructions after the reading belong to the visit, so all kinds of begin
 * share this function. */
static __attribute__((noinline)) void begin_visit(struct thread *t, struct frame *f,
                                                  struct entry *e, int active)
{
	t->depth++;
	f->entry = e;
	f->generation = t->generation;
	f->wall_children = f->pairs = f->children = 0;
	REGION_ADD(e->begun, 1);
	e->node->depth++;
	if (t->user_group && read_user_group(t, t->user_group, f->words, &f->wall))
		leave_call(active);
	else
		begin_by_kernel(t, f, active);
}

/* Finds the entry of a region that is new, or inside another region than before, or that rotates.
 * NULL without memory. */
static struct entry *find_or_add_entry(struct thread *t, pfm_region_t *region)
{
	uint32_t id = pfmi_region_get_id(region);
	const struct entry *around;
	struct entry *e;
	struct node *node;

	if (!id || (t->depth == t->size && !grow_frames(t)))
		return NULL;
	around = get_frame_below(t, get_frame(t, t->depth))->entry;
	e = pfmi_thread_find_or_make_entry(t, id, around ? around->region : 0, &node);
	if (!e)
		return NULL;
	if (pfmi_regions.layout.n_rounds > 1) {
		rotate_rounds(t, node);
	} else {
		node->last = e;
		node->around = around;
	}
	return e;
}

REGION_COLD_PART void begin_with_lookup(struct thread *t, pfm_region_t *region, int active)
{
	struct entry *e = find_or_add_entry(t, region);

	if (e) {
		begin_visit(t, get_frame(t, t->depth), e, active);
		return;
	}
	t->missed++;
	pfmi_storage_note(t);
	leave_call(active);
}

REGION_COLD_PART void begin_unprepared(pfm_region_t *region, int active)
{
	struct thread *t = region ? enter_unprepared(&active) : NULL;

	if (t)
		begin_with_lookup(t, region, active);
}

/* The code that a loop executes at each turn is here, in begin_visit() and in pfm_end_region().
 * Rare parts are functions that are called last, so that no registers are saved for them. */
void(pfm_begin_region)(pfm_region_t *region)
{
	struct caller *caller = &pfmi_region_caller;
	int active = LOAD_RELAXED(perfmon_regions_active);
	const struct node *node;
	struct thread *t;
	struct frame *f;

	if (REGION_UNLIKELY(!region || caller->state != active)) {
		begin_unprepared(region, active);
		return;
	}
	caller->state = IN_CALL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t = caller->thread;
	f = get_frame(t, t->depth);
	node = pfmi_thread_find_node(t, LOAD_RELAXED(region->id));
	if (REGION_UNLIKELY(!node || !node->last || t->depth == t->size ||
	                    node->around != get_frame_below(t, f)->entry)) {
		begin_with_lookup(t, region, active);
		return;
	}
	begin_visit(t, f, node->last, active);
}

/* Adds the counts of a visit to the sums of the enclosing visit. @overlapping: a visit that is
 * still open; its present part is added now. */
static void add_to_parent(struct frame *parent, const struct frame *f, const uint64_t *now,
                          const uint64_t *overlapping)
{
	uint64_t *sums = get_frame_sums(parent);

	for (unsigned w = 0; w < pfmi_regions.layout.words; w++) {
		uint64_t d = (overlapping ? overlapping[w] : now[w]) - f->words[w];

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

/* Ends the visit of frame @at, of any kind, at @wall with the reading t->now. */
static void finish_visit(struct thread *t, unsigned at, uint64_t wall)
{
	struct frame *f = get_frame(t, at),
		     *overlapping = at + 1 < t->depth ? get_frame(t, at + 1) : NULL;
	uint64_t took = wall - f->wall, after = overlapping ? wall - overlapping->wall : 0;
	const struct visit v = { .start = f->words,
		                 .now = t->now,
		                 .inside = f->children ? get_frame_sums(f) : NULL,
		                 .overlapping = overlapping ? overlapping->words : NULL,
		                 .round = t->round,
		                 .is_complete = f->generation == t->generation,
		                 .outermost = --f->entry->node->depth == 0,
		                 .wall = took,
		                 .wall_inside = f->wall_children + after,
		                 .pairs = f->pairs,
		                 .children = f->children };

	pfmi_entry_add_visit(f->entry, &v);
	if (pfmi_regions.keeps_slices)
		pfmi_slices_add_visit(t, f->entry->region, &v,
		                      &(struct slice_times){ f->wall, wall, overlapping != NULL });
	if (at) {
		get_frame(t, at - 1)->wall_children += took - after;
		add_to_parent(get_frame(t, at - 1), f, t->now,
		              overlapping ? overlapping->words : NULL);
	}
	if (t->probe)
		probe(t, f, took);
}

/* Ends the innermost visit of @region at any depth, even if another function began it. */
static __attribute__((noinline)) void end_matching_visit(struct thread *t, pfm_region_t *region,
                                                         uint64_t wall, int active)
{
	uint32_t id = pfmi_region_get_id(region);
	unsigned at = t->depth;
	struct frame *f;

	while (at > 0 && get_frame(t, at - 1)->entry->region != id)
		at--;
	f = at ? get_frame(t, --at) : NULL;
	if (!f) {
		if (!t->unmatched++)
			t->unmatched_region = id;
		pfmi_storage_note(t);
	} else if (f->generation == BEFORE_FORK) {
		f->entry->node->depth--;
		REGION_ADD(f->entry->begun, (uint64_t)-1);
	} else {
		finish_visit(t, at, wall);
	}
	if (f && at + 1 < t->depth)
		memmove(f, get_frame(t, at + 1), (t->depth - at - 1) * t->stride);
	t->depth -= f != NULL;
	leave_call(active);
}

/* Adds a group that was not counted from begin to end to the sums of a visit without others
 * inside. */
REGION_COLD_PART void add_lost_group(struct thread *t, const struct frame *f, const struct group *g)
{
	pfmi_entry_add_group(f->entry,
	                     &(struct visit){ .start = f->words,
	                                      .now = t->now,
	                                      .round = t->round,
	                                      .is_complete = true,
	                                      .outermost = true },
	                     g);
}

/* True if the topmost frame is a visit of @id with none inside, which is not inside a visit of the
 * same region and counted one round. */
REGION_INLINE bool is_plain_visit(const struct thread *t, const struct frame *f, uint32_t id)
{
	return f->entry->region == id && f->generation == t->generation && !f->children &&
	       f->entry->node->depth == 1 && !t->probe;
}

/* @only: the group that user space has read; NULL: all groups of the round. */
REGION_INLINE void end_plain_visit(struct thread *t, struct frame *f, uint64_t wall,
                                   const struct group *only)
{
	const struct round *r = &pfmi_regions.layout.rounds[t->round];
	const struct group *g = only ? only : r->groups; /* NULL if nothing is counted */
	unsigned n = only ? 1 : r->n;
	struct entry *e = f->entry;
	struct visit_sums *visits =
		only ? (struct visit_sums *)get_group_sums(e, only) - 1 : get_round_sums(e, r);

	t->depth--;
	e->node->depth = 0;
	begin_sums(e);
	add_to_span(&e->wall, wall - f->wall, 0);
	for (; n; n--, g++)
		if (REGION_UNLIKELY(!add_plain_group(e, g, f->words + g->word, t->now + g->word)))
			add_lost_group(t, f, g);
	/* Last: if the process ends here, the visit is not among those that have ended. */
	REGION_ADD(visits->visits, 1);
	end_sums(e);
}

/* Ends a visit after its counters were read. */
REGION_INLINE void end_after_reading(struct thread *t, pfm_region_t *region, uint64_t wall,
                                     int active, const struct group *only)
{
	struct frame *f, *parent;

	if (REGION_UNLIKELY(!t->depth)) {
		end_matching_visit(t, region, wall, active);
		return;
	}
	f = get_frame_below(t, get_frame(t, t->depth));
	if (REGION_UNLIKELY(!is_plain_visit(t, f, LOAD_RELAXED(region->id)) ||
	                    pfmi_regions.keeps_slices)) {
		end_matching_visit(t, region, wall, active);
		return;
	}
	end_plain_visit(t, f, wall, only);
	if (t->depth) {
		parent = get_frame_below(t, f);
		parent->wall_children += wall - f->wall;
		add_to_parent(parent, f, t->now, NULL);
	}
	leave_call(active);
}

/* Reads the counters by the kernel as the first step of an end. */
static __attribute__((noinline)) void end_by_kernel(struct thread *t, pfm_region_t *region,
                                                    int active)
{
	uint64_t wall = pfmi_thread_get_time(t);

	pfmi_thread_read_counters(t, t->now);
	end_after_reading(t, region, wall, active, NULL);
}

REGION_COLD_PART void end_unprepared(pfm_region_t *region, int active)
{
	struct thread *t = region ? enter_unprepared(&active) : NULL;

	if (t)
		end_by_kernel(t, region, active);
}

void(pfm_end_region)(pfm_region_t *region)
{
	struct caller *caller = &pfmi_region_caller;
	int active = LOAD_RELAXED(perfmon_regions_active);
	const struct group *g;
	struct thread *t;
	uint64_t wall;

	if (REGION_UNLIKELY(!region || caller->state != active)) {
		end_unprepared(region, active);
		return;
	}
	caller->state = IN_CALL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t = caller->thread;
	g = t->user_group;
	if (g && read_user_group(t, g, t->now, &wall))
		end_after_reading(t, region, wall, active, g);
	else
		end_by_kernel(t, region, active);
}

void pfm_reset_region(pfm_region_t *region)
{
	struct thread *t;

	if (!region || !pfmi_region_enter_call(&t))
		return;
	for (struct entry *e = t->entries; e; e = e->next)
		if (e->region == pfmi_region_get_id(region))
			pfmi_entry_clear(e);
	pfmi_region_leave_call();
}
