/* SPDX-License-Identifier: MIT */
/* Preloaded into all programs under pfm stat --regions: the marker functions of likwid and of
 * PAPI's high-level interface, and the parallel regions of gcc's OpenMP, whether a program, one of
 * its libraries or a plugin calls them. The first call loads the adapter; a program without such
 * calls has one small library more, without libperfmon. Fortran's functions of libpapi call these
 * ones. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gomp.h"

#define EXPORT __attribute__((visibility("default")))

enum { PATH_SIZE = 4096 };

typedef void (*function)(void);

/* Functions of an adapter. All of them are found at the first call of one: a region that is open at
 * a later call would count the page faults of the search. */
static struct adapter {
	const char *library;
	struct marker {
		const char *name;
		function f;
	} markers[12];
	int is_loaded;
} likwid = { "libperfmon-likwid.so",
	     { { "likwid_markerInit", NULL },
	       { "likwid_markerThreadInit", NULL },
	       { "likwid_markerNextGroup", NULL },
	       { "likwid_markerClose", NULL },
	       { "likwid_markerWriteFile", NULL },
	       { "likwid_markerRegisterRegion", NULL },
	       { "likwid_markerStartRegion", NULL },
	       { "likwid_markerStopRegion", NULL },
	       { "likwid_markerResetRegion", NULL },
	       { "likwid_markerGetRegion", NULL } },
	     0 },
  papi = { "libperfmon-papi-hl.so",
	   { { "PAPI_hl_region_begin", NULL },
	     { "PAPI_hl_read", NULL },
	     { "PAPI_hl_region_end", NULL },
	     { "PAPI_hl_stop", NULL } },
	   0 },
  gomp = { "libperfmon-gomp.so",
	   { { "perfmon_gomp_execute", NULL }, { "perfmon_gomp_find_region", NULL } },
	   0 };

/* Opens the adapter, which is in the folder of this library. */
static void *open_library(const struct adapter *a)
{
	static const char here;
	char path[PATH_SIZE];
	Dl_info info;
	const char *end =
		dladdr(&here, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;

	if (!end || (size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)(end - info.dli_fname),
	                             info.dli_fname, a->library) >= sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Without the adapter the functions are the next ones of the program's libraries. Threads that load
 * at the same time find the same functions. */
static void load_adapter(struct adapter *a)
{
	void *library = open_library(a);

	for (struct marker *m = a->markers; m->name; m++) {
		function f = library ? (function)dlsym(library, m->name) : NULL;

		f = f ? f : (function)dlsym(RTLD_NEXT, m->name);
		__atomic_store_n(&m->f, f, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&a->is_loaded, 1, __ATOMIC_RELEASE);
}

static function find_function(struct adapter *a, const char *name)
{
	const struct marker *m = a->markers;

	if (!__atomic_load_n(&a->is_loaded, __ATOMIC_ACQUIRE))
		load_adapter(a);
	while (m->name && strcmp(m->name, name) != 0)
		m++;
	return m->f;
}

#define FORWARD(ADAPTER, TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)                               \
	EXPORT TYPE NAME PARAMETERS;                                                               \
	EXPORT TYPE NAME PARAMETERS                                                                \
	{                                                                                          \
		function f = find_function(&(ADAPTER), #NAME);                                     \
                                                                                                   \
		if (!f)                                                                            \
			return WITHOUT;                                                            \
		return ((TYPE(*) PARAMETERS)f)ARGUMENTS;                                           \
	}

#define LIKWID(TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)                                         \
	FORWARD(likwid, TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)
#define PAPI(NAME, PARAMETERS, ARGUMENTS) FORWARD(papi, int, NAME, PARAMETERS, ARGUMENTS, -1)

LIKWID(void, likwid_markerInit, (void), (), )
LIKWID(void, likwid_markerThreadInit, (void), (), )
LIKWID(void, likwid_markerNextGroup, (void), (), )
LIKWID(void, likwid_markerClose, (void), (), )
LIKWID(int, likwid_markerWriteFile, (const char *path), (path), -1)
LIKWID(int, likwid_markerRegisterRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerStartRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerStopRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerResetRegion, (const char *tag), (tag), -1)
LIKWID(void, likwid_markerGetRegion,
       (const char *tag, int *n, double *events, double *time, int *count),
       (tag, n, events, time, count), )

PAPI(PAPI_hl_region_begin, (const char *name), (name))
PAPI(PAPI_hl_read, (const char *name), (name))
PAPI(PAPI_hl_region_end, (const char *name), (name))
PAPI(PAPI_hl_stop, (void), ())

/* ---- gcc's OpenMP ------------------------------------------------------------------------ */

/* True if @f is of gcc's runtime: clang's has these functions as well, and the tools interface. */
static int is_of_gcc(function f)
{
	Dl_info info;

	return f && dladdr((void *)(size_t)f, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "libgomp");
}

/* Finds a function of the runtime as the caller at @place would without this library: among the
 * libraries of the program, else among those that the calling library needs. Wheels of Python have
 * runtimes of their own. *@cached: the former. */
static function find_runtime(function *cached, const char *name, const void *place)
{
	function f = __atomic_load_n(cached, __ATOMIC_RELAXED);
	void *caller = NULL;
	Dl_info info;

	if (f)
		return f;
	f = (function)dlsym(RTLD_NEXT, name);
	__atomic_store_n(cached, f, __ATOMIC_RELAXED);
	if (!f && dladdr(place, &info) && info.dli_fname)
		caller = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (caller) {
		f = (function)dlsym(caller, name);
		dlclose(caller);
	}
	if (!f) {
		fprintf(stderr, "perfmon: %s: no runtime of OpenMP has it\n", name);
		abort();
	}
	return f;
}

/* Parallel regions are counted on request: they enclose the marks of a program. */
static int is_requested(void)
{
	static int known; /* 1: no, 2: yes */
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!is) {
		const char *options = secure_getenv("PERFMON_REGIONS_OPTIONS");

		is = options && strstr(options, "gomp,") ? 2 : 1;
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is == 2;
}

/* Replaces the code of a parallel region by one that counts; it stays without a request, and where
 * the runtime is another one. The team has left @part when the call returns. The code is the place
 * of the region: gcc gives the call no line. */
static gomp_code count_part(function runtime, struct gomp_part *part)
{
	gomp_find_region find = NULL;
	gomp_code execute = NULL;

	if (!is_requested() || !is_of_gcc(runtime))
		return NULL;
	find = (gomp_find_region)find_function(&gomp, "perfmon_gomp_find_region");
	execute = (gomp_code)find_function(&gomp, "perfmon_gomp_execute");
	if (!find || !execute)
		return NULL;
	part->region = find((const void *)(size_t)part->code);
	return part->region ? execute : NULL;
}

/* A function of the runtime whose first two parameters are the code and its data. @REST: the other
 * parameters; @VALUES: these. */
#define GOMP(TYPE, NAME, REST, VALUES)                                                             \
	EXPORT TYPE NAME REST;                                                                     \
	EXPORT TYPE NAME REST                                                                      \
	{                                                                                          \
		static function cached;                                                            \
		const void *place = __builtin_return_address(0);                                   \
		const function runtime = find_runtime(&cached, #NAME, place);                      \
		struct gomp_part part = { .code = fn, .data = data };                              \
		const gomp_code counting = count_part(runtime, &part);                             \
                                                                                                   \
		if (counting) {                                                                    \
			fn = counting;                                                             \
			data = &part;                                                              \
		}                                                                                  \
		return ((TYPE(*) REST)runtime)VALUES;                                              \
	}

#define GOMP_LOOP(NAME)                                                                            \
	GOMP(void, NAME,                                                                           \
	     (gomp_code fn, void *data, unsigned threads, long start, long end, long step,         \
	      long chunk, unsigned flags),                                                         \
	     (fn, data, threads, start, end, step, chunk, flags))
#define GOMP_RUNTIME_LOOP(NAME)                                                                    \
	GOMP(void, NAME,                                                                           \
	     (gomp_code fn, void *data, unsigned threads, long start, long end, long step,         \
	      unsigned flags),                                                                     \
	     (fn, data, threads, start, end, step, flags))

GOMP(void, GOMP_parallel, (gomp_code fn, void *data, unsigned threads, unsigned flags),
     (fn, data, threads, flags))
GOMP(unsigned, GOMP_parallel_reductions,
     (gomp_code fn, void *data, unsigned threads, unsigned flags), (fn, data, threads, flags))
GOMP(void, GOMP_parallel_sections,
     (gomp_code fn, void *data, unsigned threads, unsigned count, unsigned flags),
     (fn, data, threads, count, flags))
GOMP_LOOP(GOMP_parallel_loop_static)
GOMP_LOOP(GOMP_parallel_loop_dynamic)
GOMP_LOOP(GOMP_parallel_loop_guided)
GOMP_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
GOMP_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
GOMP_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
GOMP_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
GOMP_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
