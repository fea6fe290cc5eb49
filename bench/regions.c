/* SPDX-License-Identifier: MIT */
/* A visit of a region beside the readings that it needs, and beside likwid's markers and PAPI's two
 * interfaces where these are installed and count. One event group (page-faults, minor-faults,
 * context-switches) in one thread; likwid counts an event of the processor, because it has no
 * others. Sides take turns; printed are the median of the
 * rounds and the median of the ratios to the readings in the same round. */
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
	VISITS = 100, /* of a round: few, so that another program seldom runs meanwhile */
	ROUNDS = 501,
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

/* The least work of a visit: two readings of the group and two of the clock. */
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

static double reads(unsigned visits)
{
	uint64_t words[3 + EVENTS];
	double start = now();

	for (unsigned i = 0; i < 2 * visits; i++)
		(void)!read(leader, words, sizeof(words));
	return (now() - start) / visits;
}

static double region(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		pfm_begin_region(PFM_REGION("empty"));
		pfm_end_region(PFM_REGION("empty"));
	}
	return (now() - start) / visits;
}

static double nested(unsigned visits)
{
	double ns;

	pfm_begin_region(PFM_REGION("around"));
	ns = region(visits);
	pfm_end_region(PFM_REGION("around"));
	return ns;
}

static double handle(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++)
		pfm_leave_region(pfm_enter_region(PFM_REGION("handle")));
	return (now() - start) / visits;
}

static double off(unsigned visits)
{
	double ns;

	pfm_stop_regions();
	ns = region(visits * 100);
	pfm_start_regions(NULL, NULL);
	return ns;
}

/* ---- peers ------------------------------------------------------------------------------- */

static int (*papi_begin)(const char *name), (*papi_end)(const char *name);
static int (*papi_read)(int set, long long *values);
static int papi_set = -1; /* PAPI_NULL */
static int (*likwid_start)(const char *tag), (*likwid_stop)(const char *tag);

static double papi_high(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		papi_begin("empty");
		papi_end("empty");
	}
	return (now() - start) / visits;
}

static double papi_low(unsigned visits)
{
	long long values[EVENTS];
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		papi_read(papi_set, values);
		papi_read(papi_set, values);
	}
	return (now() - start) / visits;
}

static double likwid(unsigned visits)
{
	double start = now();

	for (unsigned i = 0; i < visits; i++) {
		likwid_start("empty");
		likwid_stop("empty");
	}
	return (now() - start) / visits;
}

/* A function of @library, NULL without one. */
static void *function_of(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static bool load_papi_high(void)
{
	void *library = dlopen("libpapi.so.7.0", RTLD_NOW | RTLD_DEEPBIND);

	setenv("PAPI_EVENTS", "perf::PAGE-FAULTS,perf::MINOR-FAULTS,perf::CONTEXT-SWITCHES", 1);
	setenv("PAPI_OUTPUT_DIRECTORY", "/tmp", 1);
	papi_begin = (int (*)(const char *))function_of(library, "PAPI_hl_region_begin");
	papi_end = (int (*)(const char *))function_of(library, "PAPI_hl_region_end");
	return papi_begin && papi_end && papi_begin("first") == 0 && papi_end("first") == 0;
}

/* From another copy of the library: a thread of PAPI runs one set of events. */
static bool load_papi_low(void)
{
	enum { VERSION = 0x07000000 };
	void *library = dlmopen(LM_ID_NEWLM, "libpapi.so.7.0", RTLD_NOW);
	int (*init)(int) = (int (*)(int))function_of(library, "PAPI_library_init");
	int (*create)(int *) = (int (*)(int *))function_of(library, "PAPI_create_eventset");
	int (*add)(int, const char *) =
		(int (*)(int, const char *))function_of(library, "PAPI_add_named_event");
	int (*begin)(int) = (int (*)(int))function_of(library, "PAPI_start");

	papi_read = (int (*)(int, long long *))function_of(library, "PAPI_read");
	return init && create && add && begin && papi_read && init(VERSION) == VERSION &&
	       create(&papi_set) == 0 && add(papi_set, "perf::PAGE-FAULTS") == 0 &&
	       add(papi_set, "perf::MINOR-FAULTS") == 0 &&
	       add(papi_set, "perf::CONTEXT-SWITCHES") == 0 && begin(papi_set) == 0;
}

/* likwid needs a processor that it supports, and access to its registers. */
static bool load_likwid(void)
{
	void *library = dlopen("liblikwid.so.5.2", RTLD_NOW | RTLD_DEEPBIND);
	void (*init)(void) = (void (*)(void))function_of(library, "likwid_markerInit");

	setenv("LIKWID_MODE", "0", 1);
	setenv("LIKWID_EVENTS", "INSTR_RETIRED_ANY:FIXC0", 1);
	setenv("LIKWID_THREADS", "0", 1);
	setenv("LIKWID_FILEPATH", "/tmp/perfmon-bench-likwid", 1);
	likwid_start = (int (*)(const char *))function_of(library, "likwid_markerStartRegion");
	likwid_stop = (int (*)(const char *))function_of(library, "likwid_markerStopRegion");
	if (!init || !likwid_start || !likwid_stop || access("/dev/cpu/0/msr", R_OK | W_OK) != 0)
		return false;
	init();
	return likwid_start("first") == 0 && likwid_stop("first") == 0;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

enum { SIDES = 9 };

static const struct side {
	const char *name;
	double (*run)(unsigned visits);
	bool (*load)(void); /* NULL: always there */
	const char *needs;
} sides[SIDES] = {
	{ "two readings and two clocks", bare, NULL, NULL },
	{ "two readings alone", reads, NULL, NULL },
	{ "region", region, NULL, NULL },
	{ "region inside another", nested, NULL, NULL },
	{ "visit by handle", handle, NULL, NULL },
	{ "regions switched off", off, NULL, NULL },
	{ "PAPI low level", papi_low, load_papi_low, "the package libpapi7.0" },
	{ "PAPI high level", papi_high, load_papi_high, "the package libpapi7.0" },
	{ "likwid's markers", likwid, load_likwid,
	  "the package likwid and access to the registers of a processor that it knows" },
};

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

static void print_side(const struct side *side, double *ns, const double *readings)
{
	double ratios[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		ratios[i] = ns[i] / readings[i];
	printf("%-28s %9.1f ns  %6.3f of the readings\n", side->name, median(ns), median(ratios));
}

int main(void)
{
	static double ns[SIDES][ROUNDS], readings[ROUNDS];
	pfm_regions_options_t options = PFM_INIT(options);
	bool is_there[SIDES];

	options.events = "page-faults,minor-faults,context-switches";
	if (!open_bare() || pfm_start_regions(&options, NULL)) {
		printf("the kernel counts nothing here\n");
		return 77;
	}
	for (unsigned i = 0; i < SIDES; i++)
		is_there[i] = !sides[i].load || sides[i].load();
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < SIDES; i++)
			if (is_there[i])
				ns[i][round] = sides[i].run(VISITS);
	memcpy(readings, ns[0], sizeof(readings));
	for (unsigned i = 0; i < SIDES; i++)
		if (is_there[i])
			print_side(&sides[i], ns[i], readings);
		else
			printf("%-28s needs %s\n", sides[i].name, sides[i].needs);
	return 0;
}
