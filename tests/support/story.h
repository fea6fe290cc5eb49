/* SPDX-License-Identifier: MIT */
/* Stories of tests of regions: each runs in a process of its own, because a process starts its
 * regions once. */
#ifndef TESTS_REGION_STORY_H
#define TESTS_REGION_STORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <perfmon/region.h>

/* A sanitizer's own memory faults in regions: under it races and wrong accesses are looked for,
 * counts are not compared. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define COMPARES 0
#else
#define COMPARES 1
#endif

/* Ends the story with what was expected, what was found, and where the expectation comes from. */
#define EXPECT(ACTUAL, EXPECTED, ...)                                                              \
	do {                                                                                       \
		uint64_t actual_ = (uint64_t)(ACTUAL), expected_ = (uint64_t)(EXPECTED);           \
		if (COMPARES && actual_ != expected_) {                                            \
			printf("# %s:%d: ", __FILE__, __LINE__);                                   \
			printf(__VA_ARGS__);                                                       \
			printf(": %" PRIu64 ", expected %" PRIu64 "\n", actual_, expected_);       \
			fflush(stdout);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define EXPECT_TRUE(WHAT, ...) EXPECT(!!(WHAT), 1, __VA_ARGS__)

enum { SKIPPED = 77 };

/* Runs @story in a child; its exit status is the result. */
static inline void run_story(void (*story)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		story();
		fflush(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Starts regions that count @events; skips the story where the kernel counts nothing. */
static inline void start_story(const char *events, unsigned flags)
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_region_event_t event = PFM_INIT(event);
	pfm_error_t error = PFM_INIT(error);

	unsetenv("PERFMON_REGIONS");
	unsetenv("PERFMON_REGIONS_OUTPUT");
	options.events = events;
	options.flags = flags;
	EXPECT(pfm_start_regions(&options, &error), PFMLIB_SUCCESS, "pfm_start_regions(%s)",
	       events);
	if (pfm_describe_region_event(0, &event) == PFMLIB_SUCCESS &&
	    event.quality != PFM_QUALITY_EXACT) {
		printf("# %s: %s\n", event.name, event.why);
		_exit(SKIPPED);
	}
}

/* Causes @n page faults: each page of a fresh mapping faults once when it is written. */
static inline void cause_faults(unsigned n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at;

	if (!n)
		return;
	at = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort();
	madvise((void *)at, n * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		at[i * page] = 1;
	munmap((void *)at, n * page);
}

/* The row of @region under @parent in @thread (0: all together), or the story ends. */
static inline unsigned row_of(const pfm_region_results_t *r, const char *region, const char *parent,
                              int thread)
{
	pfm_region_info_t info = PFM_INIT(info);

	for (unsigned i = 0; pfm_describe_region(r, i, &info) == PFMLIB_SUCCESS; i++)
		if (strcmp(info.region, region) == 0 && strcmp(info.parent, parent) == 0 &&
		    info.thread == thread)
			return i;
	printf("# no row for region \"%s\" in \"%s\", thread %d\n", region, parent, thread);
	fflush(stdout);
	_exit(1);
}

static inline pfm_region_info_t info_of(const pfm_region_results_t *r, const char *region,
                                        const char *parent, int thread)
{
	pfm_region_info_t info = PFM_INIT(info);

	pfm_describe_region(r, row_of(r, region, parent, thread), &info);
	return info;
}

static inline pfm_region_count_t count_of(const pfm_region_results_t *r, const char *region,
                                          const char *parent, int thread, unsigned event)
{
	pfm_region_count_t count = PFM_INIT(count);

	pfm_region_count(r, row_of(r, region, parent, thread), event, &count);
	return count;
}

#endif
