/* SPDX-License-Identifier: MIT */
/* OpenMP: OMP_TOOL_LIBRARIES names this library. An OpenMP runtime that has the tools interface
 * (OMPT; libomp has, libgomp has not) calls it at parallel regions: each thread of the team counts
 * its part of the parallel region, until it reaches the barrier at the end. The region is named
 * for the place of the parallel region (place.h). */
#include "adapter.h"
#include "place.h"

/* Numbers and types of the OpenMP specification, 5.0 on. */
enum {
	CALLBACK_PARALLEL_BEGIN = 3,
	CALLBACK_IMPLICIT_TASK = 7,
	CALLBACK_SYNC_REGION = 23,
	SCOPE_BEGIN = 1,
	SCOPE_END = 2,
	TASK_IMPLICIT = 2,
	SYNC_BARRIER_IMPLICIT = 2,
	SYNC_BARRIER_IMPLICIT_PARALLEL = 9
};

union data {
	uint64_t value;
	void *pointer;
};

typedef void (*callback)(void);
typedef callback (*lookup_function)(const char *name);
typedef int (*set_callback_function)(int event, callback f);

struct tool {
	int (*initialize)(lookup_function lookup, int device, union data *data);
	void (*finalize)(union data *data);
	union data data;
};

static void parallel_begin(union data *task, const void *frame, union data *parallel,
                           unsigned threads, int flags, const void *place)
{
	(void)task;
	(void)frame;
	(void)threads;
	(void)flags;
	/* A return address may be that of the next line. */
	parallel->pointer = find_region_of_place(place ? (const char *)place - 1 : NULL);
}

static void end_task(union data *task)
{
	if (task->pointer)
		pfm_end_region(task->pointer);
	task->pointer = NULL;
}

/* The runtime says only at the next parallel region that a worker's task has ended: the barrier has
 * ended it before. */
static void implicit_task(int endpoint, union data *parallel, union data *task, unsigned threads,
                          unsigned number, int flags)
{
	(void)threads;
	(void)number;
	if (!(flags & TASK_IMPLICIT))
		return;
	if (endpoint == SCOPE_END) {
		end_task(task);
		return;
	}
	task->pointer = parallel ? parallel->pointer : NULL;
	if (task->pointer)
		pfm_begin_region(task->pointer);
}

/* Runtimes before OpenMP 5.1 have one kind for barriers at the ends of loops and of parallel
 * regions; a worker's at the end of a
 * parallel region has no place in the program. */
static void sync_region(int kind, int endpoint, union data *parallel, union data *task,
                        const void *place)
{
	bool last =
		kind == SYNC_BARRIER_IMPLICIT_PARALLEL || (kind == SYNC_BARRIER_IMPLICIT && !place);

	(void)parallel;
	if (last && endpoint == SCOPE_BEGIN && task)
		end_task(task);
}

static int initialize(lookup_function lookup, int device, union data *data)
{
	set_callback_function set = (set_callback_function)lookup("ompt_set_callback");

	(void)device;
	(void)data;
	if (!set)
		return 0;
	set(CALLBACK_PARALLEL_BEGIN, (callback)parallel_begin);
	set(CALLBACK_IMPLICIT_TASK, (callback)implicit_task);
	set(CALLBACK_SYNC_REGION, (callback)sync_region);
	return 1;
}

static void finalize(union data *data)
{
	(void)data;
}

EXPORT struct tool *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct tool tool = { initialize, finalize, { 0 } };

	(void)version;
	(void)runtime;
	return secure_getenv("PERFMON_REGIONS") ? &tool : NULL;
}
