/* SPDX-License-Identifier: MIT */
/* The switches of each task are a list in the order of times. */
#include "profile/waits.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/hash.h"
#include "profile/tree/time_span.h"

enum { MAX_SWITCHES = 50000000 }; /* 400 MB */

struct switched_task {
	uint32_t tid;
	bool has_ended;
	char name[32];
	uint64_t running, since; /* nanoseconds on CPUs; since it is on one, 0: it is on none */
	uint64_t *arrivals;      /* times at which it came back to a CPU */
	size_t n, capacity;
};

struct waits {
	struct switched_task *tasks;
	size_t n_tasks, capacity, n_switches;
	struct hash_table table;
	uint64_t last; /* time of the last record */
	uint64_t n_unended;
	bool failed;
};

struct task_search {
	const struct switched_task *list;
	uint32_t tid;
};

static bool is_same_task(const void *arg, uint32_t i)
{
	const struct task_search *s = arg;

	return s->list[i].tid == s->tid;
}

static struct switched_task *find_task(const struct waits *w, uint32_t tid)
{
	const struct task_search search = { w->tasks, tid };
	uint32_t at =
		pfmi_base_find_hash(&w->table, pfmi_base_hash_number(tid), is_same_task, &search);

	return at == HASH_NOT_FOUND ? NULL : &w->tasks[at];
}

/* NULL without memory. */
static struct switched_task *find_or_add_task(struct waits *w, uint32_t tid)
{
	struct switched_task *task = find_task(w, tid);

	if (task)
		return task;
	w->tasks =
		base_grow_list(w->tasks, w->n_tasks, &w->capacity, sizeof(*w->tasks), &w->failed);
	w->failed = w->failed || !pfmi_base_add_hash(&w->table, pfmi_base_hash_number(tid),
	                                             (uint32_t)w->n_tasks);
	if (w->failed)
		return NULL;
	task = &w->tasks[w->n_tasks++];
	*task = (struct switched_task){ .tid = tid };
	return task;
}

static void add_arrival(struct waits *w, uint32_t tid, uint64_t time)
{
	struct switched_task *task = find_or_add_task(w, tid);

	if (!task)
		return;
	task->arrivals = base_grow_list(task->arrivals, task->n, &task->capacity,
	                                sizeof(*task->arrivals), &w->failed);
	if (w->failed)
		return;
	/* Records of one task have the order of their times, but a file may say otherwise. */
	if (task->n && time < task->arrivals[task->n - 1])
		time = task->arrivals[task->n - 1];
	task->arrivals[task->n++] = time;
	task->since = time;
	w->failed |= ++w->n_switches > MAX_SWITCHES;
}

/* The task leaves its CPU. */
static void note_departure(struct waits *w, uint32_t tid, uint64_t time)
{
	struct switched_task *task = find_or_add_task(w, tid);

	if (!task)
		return;
	task->running += task->since ? time_span_between(task->since, time) : 0;
	task->since = 0;
}

/* Notes the name of a task. One that executes a program is on a CPU. */
static void note_name(struct waits *w, const pfm_record_t *record)
{
	struct switched_task *task = find_or_add_task(w, record->tid);

	if (!task)
		return;
	snprintf(task->name, sizeof(task->name), "%s", record->body.comm.name);
	if (record->misc & PFM_MISC_EXEC && !task->since && !task->n)
		task->since = record->time;
}

/* A new task has the name of the one that began it. */
static void note_fork(struct waits *w, const pfm_record_t *record)
{
	const struct switched_task *parent = find_task(w, record->body.task.ptid);
	char name[sizeof(parent->name)] = "";
	struct switched_task *task;

	if (parent)
		memcpy(name, parent->name, sizeof(name));
	task = find_or_add_task(w, record->tid);
	if (task)
		memcpy(task->name, name, sizeof(name));
}

bool waits_add_record(struct waits *w, const pfm_record_t *record)
{
	if (!(record->has & PFM_SAMPLE_TIME) || !record->time)
		return true;
	w->last = record->time > w->last ? record->time : w->last;
	switch (record->type) {
	case PFM_RECORD_SWITCH:
	case PFM_RECORD_SWITCH_CPU:
		if (record->misc & PFM_MISC_OUT) {
			w->n_switches++;
			note_departure(w, record->tid, record->time);
		} else {
			add_arrival(w, record->tid, record->time);
		}
		break;
	case PFM_RECORD_COMM: note_name(w, record); break;
	case PFM_RECORD_FORK: note_fork(w, record); break;
	case PFM_RECORD_EXIT: {
		struct switched_task *task = find_or_add_task(w, record->tid);

		note_departure(w, record->tid, record->time);
		if (task)
			task->has_ended = true;
		break;
	}
	default: break;
	}
	return !w->failed;
}

struct waits *waits_create(void)
{
	return calloc(1, sizeof(struct waits));
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_tasks; i++)
		free(w->tasks[i].arrivals);
	free(w->tasks);
	pfmi_base_free_hash(&w->table);
	free(w);
}

/* The number of arrivals up to @time. */
static size_t count_arrivals(const struct switched_task *task, uint64_t time)
{
	size_t low = 0, high = task->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (task->arrivals[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t waits_find(struct waits *w, uint32_t tid, uint64_t time)
{
	const struct switched_task *task = find_task(w, tid);
	size_t at = task ? count_arrivals(task, time) : 0;

	if (task && at < task->n)
		return time_span_between(time, task->arrivals[at]);
	if (task && task->has_ended)
		return 0;
	w->n_unended++;
	return time_span_between(time, w->last);
}

bool waits_has_switches(const struct waits *w)
{
	return w->n_switches;
}

uint64_t waits_get_running(const struct waits *w, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->n_tasks; i++)
		if (strcmp(w->tasks[i].name, name) == 0)
			sum += w->tasks[i].running;
	return sum;
}

uint64_t waits_count_unended(const struct waits *w)
{
	return w->n_unended;
}

bool waits_is_event(const pfm_session_t *session, unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	return pfm_describe_count(session, i, &info) == PFMLIB_SUCCESS &&
	       info.attr.type == PERF_TYPE_SOFTWARE &&
	       info.attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

const char *waits_describe_sources(const pfm_session_t *session)
{
	pfm_count_info_t info = PFM_INIT(info);

	for (unsigned i = 0; i < pfm_session_size(session); i++)
		if (pfm_describe_count(session, i, &info) == PFMLIB_SUCCESS &&
		    strncmp(info.name, WAKING_EVENT, strlen(WAKING_EVENT)) == 0)
			return "Waits are from records of context switches; who ended them is from "
			       "the tracepoint " WAKING_EVENT ".";
	return "Waits are from records of context switches; who ended them was not recorded.";
}
