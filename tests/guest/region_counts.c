/* SPDX-License-Identifier: MIT */
/* Regions on a PMU that counts exactly: instructions of known loops, and what begin and end
 * cost. */
#include "guest/region_counts.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <perfmon/region.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The reading of a counter's page (lib/session), whose cost a pair cannot avoid. */
bool pfmi_perf_read_user_page(const void *page, uint64_t out[3]);
uint64_t pfmi_region_get_wall_time(void);

enum {
	THREADS = 4,
	VISITS = 5,
	LOOP = 4, /* instructions of a round */
#ifdef __riscv
	AROUND = 6, /* that set up a loop, and call the end of a region, at most */
	/* QEMU counts instructions of timer interrupts at user level: long loops are not exact. */
	KNOWN_LOOPS = 3,
#else
	AROUND = 5, /* that set up a loop, and call the end of a region, at most */
	KNOWN_LOOPS = 4,
#endif
	BEYOND = 400 /* instructions of begin and end beyond their readings, compiled with -O1 */
};

/* Four instructions a round. */
static inline __attribute__((always_inline)) void loop(unsigned long rounds)
{
#ifdef __aarch64__
	__asm__ volatile("1: nop\n\tnop\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1: nop\n\tnop\n\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(rounds));
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

static void touch_pages(unsigned n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	madvise((void *)at, n * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		at[i * page] = 1;
	munmap((void *)at, n * page);
}

static pfm_region_count_t count_of(const pfm_region_results_t *r, const char *region,
                                   unsigned event)
{
	pfm_region_info_t info = PFM_INIT(info);
	pfm_region_count_t count = PFM_INIT(count);

	for (unsigned i = 0; r && pfm_describe_region(r, i, &info) == PFMLIB_SUCCESS; i++)
		if (strcmp(info.region, region) == 0 && info.thread == 0)
			pfm_region_count(r, i, event, &count);
	return count;
}

static void start(check_function check, const char *events)
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);

	options.events = events;
	check(pfm_start_regions(&options, &error) == PFMLIB_SUCCESS, "regions count %s", events);
}

static void *visit(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < VISITS; i++) {
		pfm_begin_region(PFM_REGION("thread"));
		loop(1000ul * n);
		pfm_begin_region(PFM_REGION("inside"));
		touch_pages(n);
		pfm_end_region(PFM_REGION("inside"));
		pfm_end_region(PFM_REGION("thread"));
	}
	return NULL;
}

/* Thread n of THREADS touches n + 1 pages a visit. */
static uint64_t visit_in_threads(void)
{
	pthread_t t[THREADS];
	uint64_t faults = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		pthread_create(&t[i], NULL, visit, (void *)(uintptr_t)(i + 1));
		faults += (uint64_t)VISITS * (i + 1);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return faults;
}

static bool is_exactly(const pfm_region_count_t *c, uint64_t low, uint64_t high)
{
	return c->quality == PFM_QUALITY_EXACT && c->inclusive >= low && c->inclusive <= high;
}

static void check_loops(check_function check)
{
	static const unsigned long rounds[] = { 1, 100, 10000, 1000000 };

	for (unsigned i = 0; i < KNOWN_LOOPS; i++) {
		char name[32];
		pfm_region_results_t *r;
		pfm_region_count_t c;
		pfm_region_t *region;

		snprintf(name, sizeof(name), "loop %lu", rounds[i]);
		region = pfm_find_region(name);
		pfm_begin_region(region);
		pfm_end_region(region);
		pfm_reset_region(region); /* its memory is there now */
		pfm_begin_region(region);
		loop(rounds[i]);
		pfm_end_region(region);
		r = pfm_read_regions();
		c = count_of(r, name, 0);
		check(is_exactly(&c, LOOP * rounds[i], LOOP * rounds[i] + AROUND),
		      "%s takes %" PRIu64 " instructions, of which %lu are known", name,
		      c.inclusive, LOOP * rounds[i]);
		pfm_close_region_results(r);
	}
}

static void check_threads(check_function check, unsigned event)
{
	uint64_t faults = visit_in_threads();
	pfm_region_results_t *r = pfm_read_regions();
	pfm_region_count_t c = count_of(r, "inside", event);

	check(is_exactly(&c, faults, faults),
	      "%d threads have %" PRIu64 " page faults inside, of %" PRIu64, THREADS, c.inclusive,
	      faults);
	c = count_of(r, "thread", event);
	check(is_exactly(&c, faults, faults) && c.exclusive == 0,
	      "and %" PRIu64 " around it, %" PRIu64 " of its own", c.inclusive, c.exclusive);
	pfm_close_region_results(r);
}

/* The page of an instruction counter of this thread, which user space may read. */
static void *map_counter(void)
{
	enum { USER_READ = 2 }; /* arm64's bit of config1 */
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_HW_INSTRUCTIONS,
		                        .config1 = USER_READ };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

/* Instructions of a pair beyond what it cannot do without: two readings of each of @n counters and
 * two of the clock. */
static void check_cost(check_function check, unsigned n)
{
	pfm_region_event_t user = PFM_INIT(user), all = PFM_INIT(all);
	pfm_region_results_t *r;
	uint64_t v[3], reading, clocks;
	const void *page = map_counter();
	bool is_read = false;

	pfm_describe_region_event(0, &user);
	pfm_describe_region_event(1, &all);
	check(user.cost_pair > 0 && user.cost_pair == all.cost_pair,
	      "a pair takes %.0f instructions, of which the kernel executes %.0f", user.cost_pair,
	      all.cost_pair - user.cost_pair);
	for (unsigned i = 0; i < VISITS; i++) {
		pfm_begin_region(PFM_REGION("reading"));
		is_read = page && pfmi_perf_read_user_page(page, v);
		pfm_end_region(PFM_REGION("reading"));
		pfm_begin_region(PFM_REGION("clocks"));
		(void)pfmi_region_get_wall_time();
		(void)pfmi_region_get_wall_time();
		pfm_end_region(PFM_REGION("clocks"));
	}
	r = pfm_read_regions();
	reading = count_of(r, "reading", 0).min;
	clocks = count_of(r, "clocks", 0).min;
	pfm_close_region_results(r);
	check(is_read && user.cost_pair < (double)(2 * n * reading + clocks + BEYOND),
	      "that is %.0f beyond %u readings of %" PRIu64 " and two clocks of %" PRIu64,
	      user.cost_pair - (double)(2 * n * reading + clocks), 2 * n, reading, clocks);
}

void check_region_counts(check_function check, bool user_reads)
{
	start(check, user_reads ? "instructions:u,instructions" : "instructions:u,page-faults");
	check_loops(check);
	if (user_reads)
		check_cost(check, 2);
	else
		check_threads(check, 1);
}

void check_region_faults(check_function check)
{
	start(check, "page-faults");
	check_threads(check, 0);
}

void check_region_turns(check_function check, const char *events)
{
	enum { VISITS_IN_TURNS = 400, ROUNDS = 1000 };
	pfm_region_info_t info = PFM_INIT(info);
	pfm_region_results_t *r;
	unsigned n = 1, right = 0;

	for (const char *c = events; *c; c++)
		n += *c == ',';
	start(check, events);
	for (unsigned i = 0; i < VISITS_IN_TURNS; i++) {
		pfm_begin_region(PFM_REGION("turns"));
		loop(ROUNDS);
		pfm_end_region(PFM_REGION("turns"));
	}
	r = pfm_read_regions();
	for (unsigned i = 0; i < n; i++) {
		pfm_region_count_t c = count_of(r, "turns", i);
		const uint64_t truth = (uint64_t)LOOP * ROUNDS * VISITS_IN_TURNS;

		printf("# event %u: %" PRIu64 " %s, %s\n", i, c.inclusive,
		       pfm_quality_name(c.quality), pfm_cause_name(c.cause));
		/* Two rounds: each event is counted in every other visit. */
		right += c.quality == PFM_QUALITY_PARTIAL && c.cause == PFM_CAUSE_MULTIPLEXED &&
		         c.inclusive >= truth / 2 && c.inclusive <= truth / 2 * 101 / 100;
	}
	check(right == n, "%u of %u events that take turns are right", right, n);
	pfm_close_region_results(r);
}
