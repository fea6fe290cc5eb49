/* SPDX-License-Identifier: MIT */
/* A visit of a region beside the readings that it needs, and beside PAPI's high-level interface
 * where that is installed. One event group (page-faults, minor-faults, context-switches) in one
 * thread; sides take turns, the median of the rounds is printed. */
#include <dlfcn.h>
#include <stdbool.h>
#include <linux/perf_event.h>
#include <perfmon/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	VISITS = 20000,
	PAPI_VISITS = 100, /* it keeps a record of each */
	ROUNDS = 15,
	EVENTS = 3
};

static int leader = -1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int open_event(uint64_t config, int group)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
		                     .size = sizeof(a),
		                     .config = config };

	a.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static bool open_bare(void)
{
	leader = open_event(PERF_COUNT_SW_PAGE_FAULTS, -1);
	return leader >= 0 && open_event(PERF_COUNT_SW_PAGE_FAULTS_MIN, leader) >= 0 &&
	       open_event(PERF_COUNT_SW_CONTEXT_SWITCHES, leader) >= 0;
}

/* What a visit cannot do without: two readings of the group, and the clock twice. */
static double bare(unsigned visits)
{
	uint64_t words[3 + EVENTS];
	struct timespec t;
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		(void)!read(leader, words, sizeof(words));
		clock_gettime(CLOCK_MONOTONIC, &t);
		clock_gettime(CLOCK_MONOTONIC, &t);
		(void)!read(leader, words, sizeof(words));
	}
	return (now() - start) / visits;
}

static double region(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		pfm_region_begin(PFM_REGION("empty"));
		pfm_region_end(PFM_REGION("empty"));
	}
	return (now() - start) / visits;
}

static double nested(unsigned visits)
{
	double ns;

	pfm_region_begin(PFM_REGION("around"));
	ns = region(visits);
	pfm_region_end(PFM_REGION("around"));
	return ns;
}

static double handle(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++)
		pfm_region_leave(pfm_region_enter(PFM_REGION("handle")));
	return (now() - start) / visits;
}

static double off(unsigned visits)
{
	double ns;

	pfm_regions_stop();
	ns = region(visits * 100);
	pfm_regions_start(NULL, NULL);
	return ns;
}

static int (*papi_begin)(const char *name), (*papi_end)(const char *name);

static double papi(unsigned visits)
{
	double start = now();

	(void)visits;
	for (unsigned i = 0; i < PAPI_VISITS; i++) {
		papi_begin("empty");
		papi_end("empty");
	}
	return (now() - start) / PAPI_VISITS;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool load_papi(void)
{
	void *library = dlopen("libpapi.so.7.0", RTLD_NOW | RTLD_DEEPBIND);

	if (!library)
		return false;
	setenv("PAPI_EVENTS", "perf::PAGE-FAULTS,perf::MINOR-FAULTS,perf::CONTEXT-SWITCHES", 1);
	setenv("PAPI_OUTPUT_DIRECTORY", "/tmp", 1);
	papi_begin = (int (*)(const char *))dlsym(library, "PAPI_hl_region_begin");
	papi_end = (int (*)(const char *))dlsym(library, "PAPI_hl_region_end");
	return papi_begin && papi_end && papi_begin("first") == 0 && papi_end("first") == 0;
}

int main(void)
{
	static const struct {
		const char *name;
		double (*run)(unsigned visits);
	} sides[] = { { "two readings and two clocks", bare }, { "region", region },
		      { "region inside another", nested },     { "visit by handle", handle },
		      { "regions switched off", off },         { "PAPI high level", papi } };
	enum { SIDES = sizeof(sides) / sizeof(sides[0]) };
	static double ns[SIDES][ROUNDS];
	pfm_regions_options_t options = PFM_INIT(options);
	unsigned n = SIDES - !load_papi();

	options.events = "page-faults,minor-faults,context-switches";
	if (!open_bare() || pfm_regions_start(&options, NULL)) {
		printf("the kernel counts nothing here\n");
		return 77;
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < n; i++)
			ns[i][round] = sides[i].run(VISITS);
	for (unsigned i = 0; i < n; i++) {
		qsort(ns[i], ROUNDS, sizeof(ns[i][0]), compare);
		printf("%-28s %9.1f ns  %6.2f of the readings\n", sides[i].name, ns[i][ROUNDS / 2],
		       ns[i][ROUNDS / 2] / ns[0][ROUNDS / 2]);
	}
	return 0;
}
