/* SPDX-License-Identifier: MIT */
/* Calls a tool as the part of ITT that is linked into programs does: it loads the library that
 * INTEL_LIBITTNOTIFY64 names and gives it the table of functions. */
#include <dlfcn.h>
#include <pthread.h>
#include "marked.h"

struct id {
	unsigned long long d[3];
};

struct domain {
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct domain *next;
};

struct string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct string *next;
};

static void *task_begin, *task_end, *begin_overlapped, *end_overlapped, *frame_begin, *frame_end;
static void *domain_create, *string_create, *counter_create = &task_begin,
					    *stack_create = &task_begin;

static struct api {
	const char *name;
	void **f;
	void *initial, *nothing;
	int group;
} apis[] = {
	{ "__itt_domain_create", &domain_create, NULL, NULL, 1 },
	{ "__itt_string_handle_create", &string_create, NULL, NULL, 1 },
	{ "__itt_counter_create", &counter_create, NULL, NULL, 1 },
	{ "__itt_stack_caller_create", &stack_create, NULL, NULL, 1 },
	{ "__itt_task_begin", &task_begin, NULL, NULL, 1 },
	{ "__itt_task_end", &task_end, NULL, NULL, 1 },
	{ "__itt_task_begin_overlapped", &begin_overlapped, NULL, NULL, 1 },
	{ "__itt_task_end_overlapped", &end_overlapped, NULL, NULL, 1 },
	{ "__itt_frame_begin_v3", &frame_begin, NULL, NULL, 1 },
	{ "__itt_frame_end_v3", &frame_end, NULL, NULL, 1 },
	{ NULL, NULL, NULL, NULL, 0 },
};

static struct global {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct api *apis;
} global;

typedef struct domain *(*domain_function)(const char *);
typedef struct string *(*string_function)(const char *);
typedef void (*begin_function)(const struct domain *, struct id, struct id, struct string *);
typedef void (*end_function)(const struct domain *);
typedef void (*end_overlapped_function)(const struct domain *, struct id);
typedef void (*frame_function)(const struct domain *, const struct id *);

/* Tasks of two domains overlap: each end is that of its own domain. */
static void visit_two_domains(void)
{
	const struct domain *first = ((domain_function)domain_create)("first"),
			    *second = ((domain_function)domain_create)("second");
	const struct id none = { { 0 } };

	((begin_function)task_begin)(first, none, none,
	                             ((string_function)string_create)("of first"));
	cause_faults(1);
	((begin_function)task_begin)(second, none, none,
	                             ((string_function)string_create)("of second"));
	cause_faults(2);
	((end_function)task_end)(first);
	cause_faults(4);
	((end_function)task_end)(second);
}

int main(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	void (*initialize)(struct global *, int) =
		tool ? (void (*)(struct global *, int))dlsym(tool, "__itt_api_init") : NULL;
	struct domain *domain;
	struct string *task, *async;
	const struct id none = { { 0 } };

	if (!initialize)
		return 1;
	global.apis = apis;
	initialize(&global, -1);
	if (counter_create != &task_begin || stack_create) /* left to the program; nothing to do */
		return 2;
	domain = ((domain_function)domain_create)("frames");
	task = ((string_function)string_create)("task");
	async = ((string_function)string_create)("async");
	if (!domain || !domain->flags || ((domain_function)domain_create)("frames") != domain ||
	    ((string_function)string_create)("task") != task || task == async)
		return 3;
	for (unsigned i = 0; i < 3; i++) {
		struct id id = { { i, 7, 0 } };

		((frame_function)frame_begin)(domain, NULL);
		((begin_function)begin_overlapped)(domain, id, none, async);
		cause_faults(1);
		((begin_function)task_begin)(domain, none, none, task);
		cause_faults(2);
		((end_overlapped_function)end_overlapped)(domain, id);
		cause_faults(4);
		((end_function)task_end)(domain);
		((frame_function)frame_end)(domain, NULL);
	}
	visit_two_domains();
	return 0;
}
