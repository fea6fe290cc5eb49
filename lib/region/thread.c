/* SPDX-License-Identifier: MIT */
/* Records of threads: created at the first region of a thread, kept after its end. A fork keeps
 * only the calling thread's. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "region/region.h"

enum {
	MAX_ENDED = 1024, /* records of ended threads; those that end later share one, the pool */
	POOL = -1         /* thread number of the pool */
};

static pthread_key_t key;

static struct thread *make_thread(int tid)
{
	const struct layout *l = &pfmi_regions.layout;
	struct arena arena = { 0 };
	struct thread *t = pfmi_arena_alloc(&arena, sizeof(*t));

	if (!t)
		return NULL;
	t->fds = pfmi_arena_alloc(&arena, (l->n_fds + 1) * sizeof(*t->fds));
	t->pages = pfmi_arena_alloc(&arena, (l->n_fds + 1) * sizeof(*t->pages));
	t->now = pfmi_arena_alloc(&arena, (l->words + 1) * sizeof(*t->now));
	t->stride = sizeof(struct frame) + 2 * l->words * sizeof(uint64_t);
	t->tid = tid;
	t->run = pfmi_regions.run;
	t->epoch = pfmi_regions.epoch;
	t->last = &t->entries;
	t->arena = arena;
	if (t->fds && t->pages && t->now)
		return t;
	pfmi_arena_free(&arena);
	return NULL;
}

struct thread *pfmi_thread_get_current(void)
{
	struct thread *t = pfmi_region_caller.thread;

	if (!t) {
		t = make_thread((int)syscall(SYS_gettid));
		if (!t)
			return NULL;
		pfmi_regions_lock();
		t->next = pfmi_regions.threads;
		pfmi_regions.threads = t;
		pfmi_regions_unlock();
		pfmi_region_caller.thread = t;
		pthread_setspecific(key, t);
	}
	if (!t->opened) {
		pfmi_regions_lock();
		pfmi_storage_attach();
		pfmi_regions_unlock();
		if (pfmi_regions.epoch) /* a fork shares these pages until they are written */
			pfmi_arena_populate(&t->arena);
		pfmi_thread_open_counters(t);
	}
	return t;
}

static struct thread *take_pooled_thread(void)
{
	if (!pfmi_regions.pool) {
		pfmi_regions.pool = make_thread(POOL);
		if (pfmi_regions.pool) {
			pfmi_regions.pool->ended = true;
			pfmi_regions.pool->next = pfmi_regions.threads;
			pfmi_regions.threads = pfmi_regions.pool;
		}
	}
	return pfmi_regions.pool;
}

/* Moves the sums of @t to the pool. Call this with the lock held. */
static void add_to_pool(struct thread *t)
{
	struct thread *to = take_pooled_thread(), **at = &pfmi_regions.threads;
	struct node *node;

	for (struct entry *e = t->entries, *sum; e && to; e = e->next) {
		sum = pfmi_thread_find_or_make_entry(to, e->region, e->parent, &node);
		if (!sum)
			return;
		if (!sum->begun)
			sum->threads = 0;
		pfmi_storage_begin_merge(to, sum, t, e);
		pfmi_entry_merge(sum, e);
		pfmi_storage_end_merge(e);
	}
	if (!to)
		return;
	to->missed += t->missed;
	if (!to->unmatched)
		to->unmatched_region = t->unmatched_region;
	to->unmatched += t->unmatched;
	pfmi_storage_note(to);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	pfmi_storage_release(t);
	pfmi_arena_free(&t->arena);
}

/* Closes the counters of a thread that ends; its sums stay. */
static void end_thread(void *arg)
{
	struct thread *t = arg;

	pfmi_regions_lock();
	pfmi_region_caller.thread = NULL;
	pfmi_thread_close_counters(t);
	pfmi_slices_release_page(t);
	t->ended = true;
	if (++pfmi_regions.n_ended > MAX_ENDED)
		add_to_pool(t);
	pfmi_regions_unlock();
}

static void lock_before_fork(void)
{
	pfmi_regions_lock();
}

static void unlock_after_fork(void)
{
	pfmi_regions_unlock();
}

/* The child has one thread, without sums so far. Its counters are those of the parent, so open
 * visits are not counted. */
static void forget_visits(struct thread *t)
{
	memset(t->pages, 0,
	       pfmi_regions.layout.n_fds *
	               sizeof(*t->pages)); /* the kernel does not copy these mappings to a child */
	pfmi_thread_close_counters(t);
}

static void clear_sums(struct thread *t)
{
	for (struct entry *e = t->entries; e; e = e->next) {
		pfmi_entry_clear(e);
		e->begun = 0;
	}
	for (unsigned i = 0; i < t->depth; i++) {
		struct frame *f = (struct frame *)(t->frames + i * t->stride);

		f->entry->begun++;
		f->generation = BEFORE_FORK;
	}
	t->missed = t->unmatched = 0;
	pfmi_storage_note(t);
	t->handles = 0;
	t->generation++;
}

static void reset_after_fork(void)
{
	struct thread *self = pfmi_region_caller.thread, *next;

	for (struct thread *t = pfmi_regions.threads; t; t = next) {
		next = t->next;
		if (t->opened)
			forget_visits(t);
		if (t == self)
			continue;
		pfmi_storage_forget_thread(t);
		pfmi_arena_free(&t->arena);
	}
	if (!pfmi_storage_detach(self))
		__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
	pfmi_regions.threads = self;
	pfmi_regions.n_ended = 0;
	pfmi_regions.pool = NULL;
	pfmi_regions.epoch++;
	pfmi_slices_forget();
	if (self) {
		self->slices = NULL;
		self->next = NULL;
		self->tid = (int)syscall(SYS_gettid);
		pfmi_storage_set_thread(self);
		clear_sums(self);
	}
	pfmi_regions.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pfmi_region_caller.busy--;
}

int pfmi_thread_install_handlers(void)
{
	int err = pthread_key_create(&key, end_thread);

	return err ? err : pthread_atfork(lock_before_fork, unlock_after_fork, reset_after_fork);
}
