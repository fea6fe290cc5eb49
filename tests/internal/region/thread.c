/* SPDX-License-Identifier: MIT */
/* Threads: made at their first region, kept when they end, and what a fork leaves of them. Each
 * story is a process of its own. */
#include "region/region.h"
#include "../../support/story.h"
#include "units.h"
#include <pthread.h>
#include <sys/syscall.h>

static struct round nothing_to_count;

static void prepare_layout(void)
{
	pfmi_regions.layout = (struct layout){ .n_rounds = 1, .rounds = &nothing_to_count };
	pfmi_layout_assign_places(&pfmi_regions.layout);
	EXPECT(pfmi_thread_install_handlers(), 0, "pfmi_thread_install_handlers()");
}

static void *get_current_thread(void *arg)
{
	struct thread **out = arg;

	*out = pfmi_thread_get_current();
	EXPECT((*out)->tid, syscall(SYS_gettid), "number of the thread");
	EXPECT_TRUE(pfmi_thread_get_current() == *out, "the same thread");
	EXPECT((*out)->ended, 0, "ended");
	return NULL;
}

static void run_thread(struct thread **out)
{
	pthread_t id;

	EXPECT(pthread_create(&id, NULL, get_current_thread, out), 0, "pthread_create()");
	pthread_join(id, NULL);
}

static void ended_story(void)
{
	struct thread *own, *other;

	prepare_layout();
	own = pfmi_thread_get_current();
	run_thread(&other);
	EXPECT_TRUE(own && other && own != other, "two threads");
	EXPECT_TRUE(pfmi_regions.threads == other && other->next == own, "both are kept");
	EXPECT(other->ended, 1, "ended");
	EXPECT(other->opened, 0, "its counters");
	EXPECT(own->ended, 0, "the first one goes on");
	EXPECT(pfmi_regions.n_ended, 1, "threads that ended");
}

static void *visit_in_thread(void *arg)
{
	struct thread *t = pfmi_thread_get_current();
	struct node *node;

	(void)arg;
	for (unsigned i = 0; i < 2; i++)
		pfmi_entry_add_visit(pfmi_thread_find_or_make_entry(t, 1, 0, &node),
		                     &(struct visit){ .outermost = true });
	t->missed = 1;
	return NULL;
}

static uint64_t visits_of(const struct entry *e)
{
	struct times times;

	pfmi_entry_compute_times(&pfmi_regions.layout, e, &times);
	return times.visits;
}

/* Threads that end after many others share one record. */
static void many_story(void)
{
	struct node *node;
	unsigned n = 0;

	prepare_layout();
	for (unsigned i = 0; i < 1100; i++) {
		pthread_t id;

		EXPECT(pthread_create(&id, NULL, visit_in_thread, NULL), 0, "pthread_create()");
		pthread_join(id, NULL);
	}
	for (const struct thread *t = pfmi_regions.threads; t; t = t->next)
		n++;
	EXPECT(n, 1024 + 1, "records");
	EXPECT_TRUE(pfmi_regions.pool != NULL, "the shared one");
	EXPECT(visits_of(pfmi_thread_find_or_make_entry(pfmi_regions.pool, 1, 0, &node)), 2 * 76,
	       "visits in it");
	EXPECT(pfmi_regions.pool->missed, 76, "calls that were missed");
	EXPECT(pfmi_regions.pool->tid, -1, "its number");
}

static void fork_story(void)
{
	struct thread *own, *other;
	struct node *node;
	int status;
	pid_t pid;

	prepare_layout();
	own = pfmi_thread_get_current();
	run_thread(&other);
	for (unsigned i = 0; i < 5; i++)
		pfmi_entry_add_visit(pfmi_thread_find_or_make_entry(own, 1, 0, &node),
		                     &(struct visit){ .outermost = true });
	pid = fork();
	if (pid == 0) {
		EXPECT_TRUE(pfmi_regions.threads == own && !own->next, "one thread is left");
		EXPECT(own->tid, getpid(), "its number");
		EXPECT(visits_of(pfmi_thread_find_or_make_entry(own, 1, 0, &node)), 0, "visits");
		EXPECT(pfmi_regions.epoch, 1, "forks");
		EXPECT(own->opened, 0, "counters of the parent");
		EXPECT(pfmi_region_caller.busy, 0, "busy");
		pfmi_regions_lock();
		pfmi_regions_unlock();
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0), pid, "waitpid()");
	EXPECT(status, 0, "end of the child");
	EXPECT(visits_of(pfmi_thread_find_or_make_entry(own, 1, 0, &node)), 5,
	       "visits of the parent");
	EXPECT(pfmi_regions.epoch, 0, "forks of the parent");
	EXPECT(pfmi_region_caller.busy, 0, "busy");
}

static void ended_thread_keeps_its_sums(void **state)
{
	(void)state;
	run_story(ended_story);
}

static void many_ended_threads_share_a_pool(void **state)
{
	(void)state;
	run_story(many_story);
}

static void child_starts_without_sums(void **state)
{
	(void)state;
	run_story(fork_story);
}

UNIT(region_thread, cmocka_unit_test(ended_thread_keeps_its_sums),
     cmocka_unit_test(many_ended_threads_share_a_pool),
     cmocka_unit_test(child_starts_without_sums));
