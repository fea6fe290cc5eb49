/* SPDX-License-Identifier: MIT */
/* Regions against numbers that are known: pages that are touched for the first time, switches that
 * the kernel's own statistics count as well, visits that the test counts. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include "../../support/story.h"

/* ---- nesting ----------------------------------------------------------------------------- */

static void nested_story(void)
{
	pfm_region_results_t *r;
	pfm_region_count_t c;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < 10; i++) {
		pfm_begin_region(PFM_REGION("outer"));
		cause_faults(3);
		for (unsigned k = 0; k < 5; k++) {
			pfm_begin_region(PFM_REGION("inner"));
			cause_faults(k);
			pfm_end_region(PFM_REGION("inner"));
		}
		pfm_end_region(PFM_REGION("outer"));
	}
	r = pfm_read_regions();
	c = count_of(r, "outer", "", 0, 0);
	EXPECT(info_of(r, "outer", "", 0).visits, 10, "visits of outer");
	EXPECT(c.inclusive, 10 * (3 + 0 + 1 + 2 + 3 + 4), "faults in outer");
	EXPECT(c.exclusive, 10 * 3, "faults in outer alone");
	EXPECT(c.min, 13, "faults of a visit, least");
	EXPECT(c.max, 13, "faults of a visit, most");
	EXPECT(c.quality, PFM_QUALITY_EXACT, "quality");
	c = count_of(r, "inner", "outer", 0, 0);
	EXPECT(info_of(r, "inner", "outer", 0).visits, 50, "visits of inner");
	EXPECT(c.inclusive, 100, "faults in inner");
	EXPECT(c.exclusive, 100, "faults in inner alone");
	EXPECT(c.min, 0, "least");
	EXPECT(c.max, 4, "most");
	/* 10 each of 0 to 4: squares of deviations from 2 are 10 * (4 + 1 + 0 + 1 + 4), over 49. */
	EXPECT((uint64_t)(c.variance * 49 + 0.5), 100, "sum of squared deviations");
	pfm_close_region_results(r);
}

static void visit_recursively(unsigned depth)
{
	pfm_begin_region(PFM_REGION("recursive"));
	cause_faults(1);
	if (depth > 1)
		visit_recursively(depth - 1);
	pfm_end_region(PFM_REGION("recursive"));
}

/* A region inside itself is one row under no parent and one under itself; inclusive counts are the
 * outermost visit's alone. */
static void recursive_story(void)
{
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < 3; i++)
		visit_recursively(5);
	r = pfm_read_regions();
	EXPECT(info_of(r, "recursive", "", 0).visits, 3, "outer visits");
	EXPECT(count_of(r, "recursive", "", 0, 0).inclusive, 15, "faults of whole recursions");
	EXPECT(count_of(r, "recursive", "", 0, 0).exclusive, 3, "faults of the outer calls alone");
	EXPECT(info_of(r, "recursive", "recursive", 0).visits, 12, "inner visits");
	EXPECT(info_of(r, "recursive", "recursive", 0).outermost, 0, "outermost among them");
	EXPECT(count_of(r, "recursive", "recursive", 0, 0).inclusive, 0, "faults counted twice");
	EXPECT(count_of(r, "recursive", "recursive", 0, 0).exclusive, 12,
	       "faults of the inner calls alone");
	EXPECT(count_of(r, "recursive", "recursive", 0, 0).quality, PFM_QUALITY_EXACT,
	       "quality of the own counts of inner calls");
	pfm_close_region_results(r);
}

/* A is open for 2 + 3 faults, B for 3 + 4; while both are, B is inside A. */
static void overlapping_story(void)
{
	pfm_region_t *a = pfm_find_region("a"), *b = pfm_find_region("b");
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	pfm_begin_region(PFM_REGION("around"));
	pfm_begin_region(a);
	cause_faults(2);
	pfm_begin_region(b);
	cause_faults(3);
	pfm_end_region(a);
	cause_faults(4);
	pfm_end_region(b);
	cause_faults(5);
	pfm_end_region(PFM_REGION("around"));
	r = pfm_read_regions();
	EXPECT(count_of(r, "a", "around", 0, 0).inclusive, 5, "faults in a");
	EXPECT(count_of(r, "a", "around", 0, 0).exclusive, 2, "faults in a alone");
	EXPECT(count_of(r, "b", "a", 0, 0).inclusive, 7, "faults in b");
	EXPECT(count_of(r, "b", "a", 0, 0).exclusive, 7, "faults in b alone");
	EXPECT(count_of(r, "around", "", 0, 0).inclusive, 14, "faults around");
	EXPECT(count_of(r, "around", "", 0, 0).exclusive, 5, "faults around alone");
	pfm_close_region_results(r);
}

static void unmatched_story(void)
{
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	pfm_end_region(PFM_REGION("never begun"));
	pfm_begin_region(PFM_REGION("begun"));
	cause_faults(2);
	pfm_end_region(PFM_REGION("other"));
	pfm_end_region(PFM_REGION("begun"));
	pfm_begin_region(PFM_REGION("open"));
	r = pfm_read_regions();
	EXPECT(count_of(r, "begun", "", 0, 0).inclusive, 2, "faults");
	EXPECT(info_of(r, "open", "", 0).visits, 0, "visits of an open region");
	EXPECT(info_of(r, "open", "", 0).unfinished, 1, "open visits");
	pfm_close_region_results(r);
}

static void deep_story(void)
{
	char name[16];
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "deep%u", i);
		pfm_begin_region(pfm_find_region(name));
	}
	cause_faults(7);
	for (unsigned i = 1000; i-- > 0;) {
		snprintf(name, sizeof(name), "deep%u", i);
		pfm_end_region(pfm_find_region(name));
	}
	r = pfm_read_regions();
	EXPECT(count_of(r, "deep0", "", 0, 0).inclusive, 7, "faults of the outermost of 1000");
	EXPECT(count_of(r, "deep0", "", 0, 0).exclusive, 0, "its own");
	EXPECT(count_of(r, "deep999", "deep998", 0, 0).exclusive, 7, "faults of the innermost");
	pfm_close_region_results(r);
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { THREADS = 64, ROUNDS = 20 };

struct worker {
	pthread_t thread;
	unsigned number;
	int tid;
};

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	for (unsigned i = 0; i < ROUNDS; i++) {
		pfm_begin_region(PFM_REGION("thread"));
		cause_faults(w->number);
		pfm_begin_region(PFM_REGION("inside"));
		cause_faults(1);
		pfm_end_region(PFM_REGION("inside"));
		pfm_end_region(PFM_REGION("thread"));
	}
	return NULL;
}

static void threads_story(void)
{
	static struct worker workers[THREADS];
	pfm_region_results_t *r;
	uint64_t all = 0;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		EXPECT(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0,
		       "pthread_create");
		all += ROUNDS * (i + 1);
	}
	r = pfm_read_regions(); /* of running threads: consistent, whatever it has */
	pfm_close_region_results(r);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	r = pfm_read_regions();
	EXPECT(info_of(r, "thread", "", 0).threads, THREADS, "threads");
	EXPECT(info_of(r, "thread", "", 0).visits, THREADS * ROUNDS, "visits");
	EXPECT(count_of(r, "thread", "", 0, 0).inclusive, all, "faults of all threads");
	EXPECT(count_of(r, "inside", "thread", 0, 0).inclusive, THREADS * ROUNDS, "faults inside");
	EXPECT(count_of(r, "thread", "", 0, 0).max, THREADS, "most faults of a visit");
	EXPECT(count_of(r, "thread", "", 0, 0).min, 1, "fewest faults of a visit");
	for (unsigned i = 0; i < THREADS; i++) {
		EXPECT(count_of(r, "thread", "", workers[i].tid, 0).inclusive, ROUNDS * (i + 1),
		       "faults of thread %u", i);
		EXPECT(count_of(r, "thread", "", workers[i].tid, 0).exclusive, ROUNDS * i,
		       "faults of thread %u alone", i);
	}
	pfm_close_region_results(r);
}

static void *one_visit(void *arg)
{
	(void)arg;
	pfm_begin_region(PFM_REGION("short"));
	cause_faults(1);
	pfm_end_region(PFM_REGION("short"));
	return NULL;
}

/* More threads than are remembered one by one; memory does not grow with them. */
static void short_threads_story(void)
{
	enum { MANY = 3000 };
	pfm_region_results_t *r;
	pthread_t t;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < MANY; i++) {
		pthread_create(&t, NULL, one_visit, NULL);
		pthread_join(t, NULL);
	}
	r = pfm_read_regions();
	EXPECT(info_of(r, "short", "", 0).visits, MANY, "visits");
	EXPECT(count_of(r, "short", "", 0, 0).inclusive, MANY, "faults");
	EXPECT(info_of(r, "short", "", -1).visits, MANY - 1024,
	       "visits of threads that share a record");
	pfm_close_region_results(r);
}

static void *stay_in_region(void *arg)
{
	const int *ready = arg;

	pfm_begin_region(PFM_REGION("killed"));
	cause_faults(2);
	pfm_end_region(PFM_REGION("killed"));
	pfm_begin_region(PFM_REGION("killed"));
	(void)!write(ready[1], "", 1);
	for (;;)
		pause();
	return NULL;
}

static void cancelled_story(void)
{
	int ready[2];
	char byte;
	pfm_region_results_t *r;
	pthread_t t;

	start_story("page-faults", 0);
	EXPECT(pipe(ready), 0, "pipe");
	pthread_create(&t, NULL, stay_in_region, ready);
	EXPECT(read(ready[0], &byte, 1), 1, "read");
	pthread_cancel(t);
	pthread_join(t, NULL);
	r = pfm_read_regions();
	EXPECT(info_of(r, "killed", "", 0).visits, 1, "ended visits");
	EXPECT(info_of(r, "killed", "", 0).unfinished, 1, "visits that the thread ended in");
	EXPECT(count_of(r, "killed", "", 0, 0).inclusive, 2, "faults");
	pfm_close_region_results(r);
}

static volatile bool ends;

static void *visit_until_asked(void *arg)
{
	unsigned *visits = arg;

	pfm_begin_region(PFM_REGION("first")); /* opens the counters */
	pfm_end_region(PFM_REGION("first"));
	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		pfm_begin_region(PFM_REGION("asked"));
		pfm_end_region(PFM_REGION("asked"));
		__atomic_fetch_add(visits, 1, __ATOMIC_RELAXED);
	}
	pthread_testcancel();
	return NULL;
}

/* Begin and end are not cancellation points, because destructors may call them. */
static void asked_to_end_story(void)
{
	pfm_region_results_t *r;
	unsigned visits = 0, before;
	void *result;
	pthread_t t;

	start_story("page-faults", 0);
	pthread_create(&t, NULL, visit_until_asked, &visits);
	while (!__atomic_load_n(&visits, __ATOMIC_RELAXED))
		sched_yield();
	pthread_cancel(t);
	before = __atomic_load_n(&visits, __ATOMIC_RELAXED);
	while (__atomic_load_n(&visits, __ATOMIC_RELAXED) < before + 100 &&
	       pthread_tryjoin_np(t, &result) == EBUSY)
		sched_yield();
	EXPECT_TRUE(__atomic_load_n(&visits, __ATOMIC_RELAXED) >= before + 100,
	            "visits after pthread_cancel()");
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	pthread_join(t, &result);
	EXPECT_TRUE(result == PTHREAD_CANCELED, "end of the thread");
	r = pfm_read_regions();
	EXPECT(info_of(r, "asked", "", 0).visits, visits, "visits");
	EXPECT(info_of(r, "asked", "", 0).unfinished, 0, "open visits");
	pfm_close_region_results(r);
}

static uint64_t switches_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* getrusage() counts the switches of a thread as well: the region's count is between the values
 * read within the region and around it. A short sleep can end before the switch. */
static void switches_story(void)
{
	const struct timespec moment = { .tv_nsec = 1000 };
	pfm_region_results_t *r;
	uint64_t n, least, most;

	start_story("context-switches", 0);
	most = switches_so_far();
	pfm_begin_region(PFM_REGION("sleeps"));
	least = switches_so_far();
	for (unsigned i = 0; i < 50; i++)
		nanosleep(&moment, NULL); /* the switches are what is measured */
	least = switches_so_far() - least;
	pfm_end_region(PFM_REGION("sleeps"));
	most = switches_so_far() - most;
	r = pfm_read_regions();
	n = count_of(r, "sleeps", "", 0, 0).inclusive;
	EXPECT_TRUE(least > 0 && n >= least && n <= most,
	            "%" PRIu64 " switches in 50 sleeps, expected %" PRIu64 " to %" PRIu64, n, least,
	            most);
	pfm_close_region_results(r);
}

/* System calls that the kernel traces, of a known number. */
static void tracepoint_story(void)
{
	pfm_region_results_t *r;

	if (access("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", R_OK))
		_exit(SKIPPED);
	start_story("raw_syscalls:sys_enter,page-faults", 0);
	for (unsigned i = 0; i < 5; i++) {
		pfm_begin_region(PFM_REGION("calls"));
		for (unsigned k = 0; k < 10 * i; k++)
			syscall(SYS_getppid);
		pfm_begin_region(PFM_REGION("calls inside"));
		syscall(SYS_getppid);
		pfm_end_region(PFM_REGION("calls inside"));
		pfm_end_region(PFM_REGION("calls"));
	}
	r = pfm_read_regions();
	EXPECT(count_of(r, "calls", "", 0, 0).inclusive, 100 + 5, "calls in all");
	EXPECT(count_of(r, "calls", "", 0, 0).exclusive, 100, "calls outside the inner region");
	EXPECT(count_of(r, "calls", "", 0, 0).min, 1, "fewest");
	EXPECT(count_of(r, "calls", "", 0, 0).max, 41, "most");
	/* 1, 11, 21, 31 and 41: squares of deviations from 21 are 2 * (400 + 100). */
	EXPECT((uint64_t)(count_of(r, "calls", "", 0, 0).variance * 4 + 0.5), 1000,
	       "sum of squared deviations");
	EXPECT(count_of(r, "calls inside", "calls", 0, 0).inclusive, 5, "calls inside");
	pfm_close_region_results(r);
}

/* ---- many -------------------------------------------------------------------------------- */

enum { MANY = 1000000, MANY_THREADS = 64, EACH = MANY / MANY_THREADS, FAULT_AT = 125 };

static void *visit_often(void *arg)
{
	*(int *)arg = (int)syscall(SYS_gettid);
	for (unsigned i = 0; i < EACH; i++) {
		pfm_begin_region(PFM_REGION("million"));
		if (i % FAULT_AT == 0)
			cause_faults(1);
		pfm_end_region(PFM_REGION("million"));
	}
	return NULL;
}

static void million_story(void)
{
	pthread_t threads[MANY_THREADS];
	int tids[MANY_THREADS];
	pfm_region_results_t *r;
	pfm_region_count_t c;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < MANY_THREADS; i++)
		EXPECT(pthread_create(&threads[i], NULL, visit_often, &tids[i]), 0,
		       "pthread_create");
	for (unsigned i = 0; i < MANY_THREADS; i++)
		pthread_join(threads[i], NULL);
	r = pfm_read_regions();
	c = count_of(r, "million", "", 0, 0);
	EXPECT(info_of(r, "million", "", 0).visits, MANY, "visits");
	EXPECT(c.visits, MANY, "visits counted");
	EXPECT(c.inclusive, MANY / FAULT_AT, "faults");
	EXPECT(c.max, 1, "most");
	/* n of N visits have 1, the others 0: squares of deviations are n - n * n / N. */
	EXPECT((uint64_t)(c.variance * (MANY - 1) + 0.5),
	       MANY / FAULT_AT - MANY / FAULT_AT / FAULT_AT, "sum of squared deviations");
	for (unsigned i = 0; i < MANY_THREADS; i++)
		EXPECT(count_of(r, "million", "", tids[i], 0).inclusive, EACH / FAULT_AT,
		       "faults of thread %u", i);
	pfm_close_region_results(r);
}

static long resident_kib(void)
{
	long pages = 0, whole;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld %ld", &whole, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static pthread_barrier_t all_there;

static void *enter_one(void *arg)
{
	(void)arg;
	pfm_begin_region(PFM_REGION("one of many"));
	pfm_end_region(PFM_REGION("one of many"));
	pthread_barrier_wait(&all_there);
	return NULL;
}

/* A descriptor for each of @n threads; false where the system refuses so many. */
static bool allow_files(unsigned n)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return false;
	files.rlim_cur = files.rlim_max;
	return files.rlim_max >= n + 100 && setrlimit(RLIMIT_NOFILE, &files) == 0;
}

/* 10,000 regions in one thread, one region in each of 1000 threads: memory for what was entered,
 * not for the product. */
static void memory_story(void)
{
	enum { REGIONS = 10000, HERE = 1000 };
	static pthread_t threads[HERE];
	char name[32];
	long before, regions, per_thread;

	if (!allow_files(HERE))
		_exit(SKIPPED);
	start_story("page-faults", 0);
	before = resident_kib();
	for (unsigned i = 0; i < REGIONS; i++) {
		snprintf(name, sizeof(name), "region %u", i);
		pfm_begin_region(pfm_find_region(name));
		pfm_end_region(pfm_find_region(name));
	}
	regions = resident_kib();
	pthread_barrier_init(&all_there, NULL, HERE + 1);
	for (unsigned i = 0; i < HERE; i++)
		if (pthread_create(&threads[i], NULL, enter_one, NULL))
			_exit(SKIPPED);
	pthread_barrier_wait(&all_there);
	for (unsigned i = 0; i < HERE; i++)
		pthread_join(threads[i], NULL);
	per_thread = (resident_kib() - regions) / HERE;
	printf("# %ld bytes a region, %ld KiB a thread\n", (regions - before) * 1024 / REGIONS,
	       per_thread);
	EXPECT_TRUE((regions - before) * 1024 / REGIONS < 1024, "bytes a region");
	EXPECT_TRUE(per_thread < 64, "KiB a thread");
}

/* ---- handles ----------------------------------------------------------------------------- */

static void *resume_and_leave(void *visit)
{
	pfm_resume_region(visit);
	cause_faults(4);
	pfm_leave_region(visit);
	return NULL;
}

static void *leave_only(void *visit)
{
	cause_faults(4);
	pfm_leave_region(visit);
	return NULL;
}

static void handles_story(void)
{
	pfm_region_visit_t *moved, *stolen, *first, *second;
	pfm_region_results_t *r;
	pthread_t t;

	start_story("page-faults", 0);
	moved = pfm_enter_region(PFM_REGION("moved"));
	cause_faults(3);
	pfm_suspend_region(moved);
	cause_faults(100);
	pthread_create(&t, NULL, resume_and_leave, moved);
	pthread_join(t, NULL);
	stolen = pfm_enter_region(PFM_REGION("stolen"));
	pthread_create(&t, NULL, leave_only, stolen);
	pthread_join(t, NULL);
	first = pfm_enter_region(PFM_REGION("same"));
	cause_faults(1);
	second = pfm_enter_region(PFM_REGION("same"));
	cause_faults(2);
	pfm_leave_region(first);
	cause_faults(4);
	pfm_leave_region(second);
	r = pfm_read_regions();
	EXPECT(count_of(r, "moved", "", 0, 0).inclusive, 7, "faults of both threads");
	EXPECT(count_of(r, "moved", "", 0, 0).quality, PFM_QUALITY_EXACT, "quality");
	EXPECT(info_of(r, "stolen", "", 0).visits, 1, "visits that moved without suspend");
	EXPECT(count_of(r, "stolen", "", 0, 0).quality, PFM_QUALITY_NOT_COUNTED, "their quality");
	EXPECT(count_of(r, "same", "", 0, 0).inclusive, 3 + 6, "faults of two visits at once");
	EXPECT(count_of(r, "same", "", 0, 0).visits, 2, "visits");
	pfm_close_region_results(r);
}

/* ---- forks, signals, switching off ------------------------------------------------------- */

/* The child has one thread and no sums; a visit that the parent began is not its own. */
static void fork_story(void)
{
	pfm_region_results_t *r;
	int status;
	pid_t pid;

	start_story("page-faults", 0);
	pfm_begin_region(PFM_REGION("before"));
	cause_faults(2);
	pfm_end_region(PFM_REGION("before"));
	pfm_begin_region(PFM_REGION("across"));
	cause_faults(3);
	pid = fork();
	if (pid == 0) {
		cause_faults(50);
		for (unsigned i = 0; i < 2;
		     i++) { /* first the pages that it shares with its parent */
			pfm_reset_region(PFM_REGION("child"));
			pfm_begin_region(PFM_REGION("child"));
			cause_faults(6);
			pfm_end_region(PFM_REGION("child"));
		}
		pfm_end_region(PFM_REGION("across"));
		r = pfm_read_regions();
		EXPECT(count_of(r, "child", "across", 0, 0).inclusive, 6, "faults of the child");
		EXPECT(count_of(r, "child", "across", (int)getpid(), 0).inclusive, 6,
		       "faults of its thread");
		for (unsigned i = 0;; i++) {
			pfm_region_info_t info = PFM_INIT(info);

			if (pfm_describe_region(r, i, &info))
				break;
			EXPECT(strcmp(info.region, "child"), 0,
			       "region %s in the child: difference", info.region);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EXPECT(status, 0, "status of the child");
	pfm_end_region(PFM_REGION("across"));
	r = pfm_read_regions();
	EXPECT(count_of(r, "before", "", 0, 0).inclusive, 2, "faults of the parent");
	EXPECT(info_of(r, "across", "", 0).visits, 1, "its visits");
	/* Pages that both processes have since the fork fault when they are written: at least
	 * the 3. */
	EXPECT_TRUE(count_of(r, "across", "", 0, 0).inclusive >= 3, "faults across the fork");
	pfm_close_region_results(r);
}

static volatile unsigned handled;

static void in_handler(int sig)
{
	(void)sig;
	pfm_begin_region(PFM_REGION("handler"));
	handled++;
	pfm_end_region(PFM_REGION("handler"));
}

/* A handler that interrupts begin or end is left out; all others are counted. */
static void signal_story(void)
{
	const struct itimerval often = { .it_interval = { .tv_usec = 100 },
		                         .it_value = { .tv_usec = 100 } },
			       never = { 0 };
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_RESTART };
	pfm_region_results_t *r;
	uint64_t visits = 0, faults = 0, counted;

	start_story("page-faults", 0);
	in_handler(0); /* its pages are there */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 2000) {
		pfm_begin_region(PFM_REGION("interrupted"));
		if (visits % 100 == 0) {
			cause_faults(1);
			faults++;
		}
		pfm_end_region(PFM_REGION("interrupted"));
		visits++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	r = pfm_read_regions();
	EXPECT(info_of(r, "interrupted", "", 0).visits, visits, "visits");
	EXPECT(count_of(r, "interrupted", "", 0, 0).inclusive, faults, "faults");
	counted = info_of(r, "handler", "", 0).visits;
	for (unsigned i = 0;; i++) {
		pfm_region_info_t info = PFM_INIT(info);

		if (pfm_describe_region(r, i, &info))
			break;
		if (strcmp(info.region, "handler") == 0 && *info.parent && !info.thread)
			counted += info.visits;
	}
	printf("# %u handlers, %" PRIu64 " counted, %" PRIu64 " visits interrupted\n", handled,
	       counted, visits);
	EXPECT_TRUE(counted <= handled && counted > 0, "handlers counted");
	pfm_close_region_results(r);
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void off_story(void)
{
	unsigned before = open_files();

	unsetenv("PERFMON_REGIONS");
	for (unsigned i = 0; i < 1000; i++) {
		pfm_begin_region(PFM_REGION("off"));
		pfm_end_region(PFM_REGION("off"));
	}
	EXPECT(perfmon_regions_active, 0, "perfmon_regions_active");
	EXPECT(open_files(), before, "open files");
	EXPECT(pfm_read_regions() == NULL, 1, "no results");
	EXPECT(pfm_enter_region(PFM_REGION("off")) == NULL, 1, "no handle");
	pfm_leave_region(NULL);
}

static void stop_story(void)
{
	pfm_regions_options_t other = PFM_INIT(other);
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	pfm_begin_region(PFM_REGION("cut"));
	cause_faults(2);
	pfm_stop_regions();
	pfm_end_region(PFM_REGION("cut"));
	pfm_begin_region(PFM_REGION("not counted"));
	pfm_end_region(PFM_REGION("not counted"));
	other.events = "context-switches";
	EXPECT(pfm_start_regions(&other, NULL), PFMLIB_ERR_INVAL, "start with other events");
	EXPECT(pfm_start_regions(NULL, NULL), PFMLIB_SUCCESS, "start again");
	pfm_begin_region(PFM_REGION("after"));
	cause_faults(3);
	pfm_end_region(PFM_REGION("after"));
	r = pfm_read_regions();
	EXPECT(count_of(r, "after", "", 0, 0).inclusive, 3, "faults after the stop");
	EXPECT(info_of(r, "cut", "", 0).visits, 0, "visits that the stop has cut");
	EXPECT(info_of(r, "cut", "", 0).unfinished, 1, "open ones");
	pfm_close_region_results(r);
}

static void reset_story(void)
{
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	for (unsigned i = 0; i < 3; i++) {
		pfm_begin_region(PFM_REGION("reset"));
		cause_faults(2);
		pfm_end_region(PFM_REGION("reset"));
		if (i == 1)
			pfm_reset_region(PFM_REGION("reset"));
	}
	r = pfm_read_regions();
	EXPECT(info_of(r, "reset", "", 0).visits, 1, "visits since the reset");
	EXPECT(count_of(r, "reset", "", 0, 0).inclusive, 2, "faults since the reset");
	pfm_close_region_results(r);
}

static void errno_story(void)
{
	start_story("page-faults", 0);
	errno = ERANGE;
	pfm_begin_region(PFM_REGION("errno"));
	pfm_end_region(PFM_REGION("errno"));
	EXPECT(errno, ERANGE, "errno after begin and end");
}

/* ---- rounds ------------------------------------------------------------------------------ */

/* Groups of one event: page faults are counted in even visits, switches in odd ones, and each
 * result has its number of visits. */
static void rounds_story(void)
{
	pfm_region_results_t *r;
	pfm_region_count_t faults, major;

	setenv("PERFMON_REGIONS_OPTIONS", "group=1", 1);
	start_story("page-faults,minor-faults", 0);
	for (unsigned i = 0; i < 11; i++) {
		pfm_begin_region(PFM_REGION("rotated"));
		cause_faults(i);
		pfm_begin_region(PFM_REGION("inner"));
		cause_faults(1);
		pfm_end_region(PFM_REGION("inner"));
		pfm_end_region(PFM_REGION("rotated"));
	}
	r = pfm_read_regions();
	faults = count_of(r, "rotated", "", 0, 0);
	major = count_of(r, "rotated", "", 0, 1);
	EXPECT(faults.visits, 6, "visits of the first round: 0, 2 ... 10");
	EXPECT(faults.inclusive, 0 + 2 + 4 + 6 + 8 + 10 + 6, "page faults of even visits");
	EXPECT(major.visits, 5, "visits of the second round: 1, 3 ... 9");
	EXPECT(major.inclusive, 1 + 3 + 5 + 7 + 9 + 5, "minor faults of odd visits");
	EXPECT(faults.quality, PFM_QUALITY_PARTIAL, "quality");
	EXPECT(faults.cause, PFM_CAUSE_MULTIPLEXED, "cause");
	EXPECT(count_of(r, "inner", "rotated", 0, 0).visits, 6, "inner visits of the first round");
	EXPECT(count_of(r, "inner", "rotated", 0, 1).inclusive, 5,
	       "inner faults of the second round");
	pfm_close_region_results(r);
}

/* A visit in which the round changes counts nothing; those inside do. */
static void inner_rounds_story(void)
{
	pfm_region_results_t *r;

	setenv("PERFMON_REGIONS_OPTIONS", "group=1", 1);
	start_story("page-faults,minor-faults", PFM_REGIONS_ROTATE_INNER);
	pfm_begin_region(PFM_REGION("whole run"));
	for (unsigned i = 0; i < 10; i++) {
		pfm_begin_region(PFM_REGION("step"));
		cause_faults(i);
		pfm_end_region(PFM_REGION("step"));
	}
	pfm_end_region(PFM_REGION("whole run"));
	r = pfm_read_regions();
	EXPECT(count_of(r, "step", "whole run", 0, 0).inclusive, 0 + 2 + 4 + 6 + 8,
	       "page faults of even steps");
	EXPECT(count_of(r, "step", "whole run", 0, 1).inclusive, 1 + 3 + 5 + 7 + 9,
	       "minor faults of odd steps");
	EXPECT(count_of(r, "whole run", "", 0, 0).quality, PFM_QUALITY_NOT_COUNTED,
	       "quality of the whole");
	pfm_close_region_results(r);
}

/* ---- random sequences against a model ---------------------------------------------------- */

enum { NAMES = 5, DEPTH = 40, STEPS = 20000 };

/* The model: every open visit gets all faults, the last one begun of those that are open has them
 * for its own. */
struct open_visit {
	unsigned name, parent; /* parent NAMES: none */
	uint64_t inclusive, exclusive;
};

static struct sum {
	uint64_t visits, inclusive, exclusive;
} sums[NAMES][NAMES + 1];

static struct open_visit open_visits[DEPTH];
static unsigned n_open;

static void model_end(unsigned name)
{
	unsigned at = n_open, others = 0;
	struct open_visit *v;
	struct sum *s;

	while (at > 0 && open_visits[at - 1].name != name)
		at--;
	if (!at)
		return;
	v = &open_visits[--at];
	for (unsigned i = 0; i < n_open; i++)
		others += i != at && open_visits[i].name == name;
	s = &sums[name][v->parent];
	s->visits++;
	s->exclusive += v->exclusive;
	if (!others)
		s->inclusive += v->inclusive;
	memmove(v, v + 1, (n_open - at - 1) * sizeof(*v));
	n_open--;
}

static void random_story(void)
{
	static const char *const names[NAMES + 1] = { "r0", "r1", "r2", "r3", "r4", "" };
	unsigned seed = 20261125;
	pfm_region_results_t *r;

	start_story("page-faults", 0);
	memset(sums, 0xff, sizeof(sums)); /* the model's pages are there before the first region */
	memset(sums, 0, sizeof(sums));
	memset(open_visits, 0xff, sizeof(open_visits));
	for (unsigned step = 0; step < STEPS || n_open; step++) {
		unsigned what = (unsigned)rand_r(&seed) % 10,
			 name = (unsigned)rand_r(&seed) % NAMES, n;

		if (what < 4 && n_open < DEPTH && step < STEPS) {
			pfm_begin_region(pfm_find_region(names[name]));
			open_visits[n_open] = (struct open_visit){
				name, n_open ? open_visits[n_open - 1].name : NAMES, 0, 0
			};
			n_open++;
		} else if (what < 8) {
			pfm_end_region(pfm_find_region(names[name]));
			model_end(name);
		} else {
			n = (unsigned)rand_r(&seed) % 4;
			cause_faults(n);
			for (unsigned i = 0; i < n_open; i++)
				open_visits[i].inclusive += n;
			if (n_open)
				open_visits[n_open - 1].exclusive += n;
		}
	}
	r = pfm_read_regions();
	for (unsigned i = 0; i < NAMES; i++)
		for (unsigned p = 0; p <= NAMES; p++) {
			if (!sums[i][p].visits)
				continue;
			EXPECT(info_of(r, names[i], names[p], 0).visits, sums[i][p].visits,
			       "visits of %s in %s", names[i], names[p]);
			EXPECT(count_of(r, names[i], names[p], 0, 0).inclusive,
			       sums[i][p].inclusive, "faults of %s in %s", names[i], names[p]);
			EXPECT(count_of(r, names[i], names[p], 0, 0).exclusive,
			       sums[i][p].exclusive, "own faults of %s in %s", names[i], names[p]);
		}
	pfm_close_region_results(r);
}

#define STORY(NAME)                                                                                \
	static void test_##NAME(void **ctx)                                                        \
	{                                                                                          \
		(void)ctx;                                                                         \
		run_story(NAME##_story);                                                           \
	}
STORY(nested)
STORY(recursive)
STORY(overlapping)
STORY(unmatched)
STORY(deep)
STORY(threads)
STORY(short_threads)
STORY(cancelled)
STORY(asked_to_end)
STORY(switches)
STORY(tracepoint)
STORY(million)
STORY(memory)
STORY(handles)
STORY(fork)
STORY(signal)
STORY(off)
STORY(stop)
STORY(reset)
STORY(errno)
STORY(rounds)
STORY(inner_rounds)
STORY(random)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),        cmocka_unit_test(test_recursive),
		cmocka_unit_test(test_overlapping),   cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_deep),          cmocka_unit_test(test_threads),
		cmocka_unit_test(test_short_threads), cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_asked_to_end),  cmocka_unit_test(test_switches),
		cmocka_unit_test(test_tracepoint),    cmocka_unit_test(test_million),
		cmocka_unit_test(test_memory),        cmocka_unit_test(test_handles),
		cmocka_unit_test(test_fork),          cmocka_unit_test(test_signal),
		cmocka_unit_test(test_off),           cmocka_unit_test(test_stop),
		cmocka_unit_test(test_reset),         cmocka_unit_test(test_errno),
		cmocka_unit_test(test_rounds),        cmocka_unit_test(test_inner_rounds),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
