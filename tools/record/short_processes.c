/* SPDX-License-Identifier: MIT */
/* pfm record: a command whose time is in processes that are too short to be sampled. The clock of
 * an inherited event begins anew in each process, so that what ends within a period has no sample;
 * the clock of a CPU runs on. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include "base/grow.h"
#include "base/hash.h"
#include "profile/sample_visitor.h"
#include "record/recorder.h"

enum {
	SHORT_NS = 10000000,
	LEAST_PROCESSES = 20,
	READ_MAX = 64 << 20, /* bytes of a recording that is read again */
};

#define LEAST_SHARE 0.9

/* CPU time of a process, by the samples of a clock. */
struct process_time {
	uint32_t pid;
	uint64_t time; /* nanoseconds */
};

struct process_times {
	struct process_time *list;
	size_t n, capacity;
	struct hash_table table;
	unsigned n_forks;
	bool failed;
};

struct pid_search {
	const struct process_time *list;
	uint32_t pid;
};

static bool has_pid(const void *arg, uint32_t i)
{
	const struct pid_search *s = arg;

	return s->list[i].pid == s->pid;
}

static void add_time(struct process_times *t, uint32_t pid, uint64_t time)
{
	const struct pid_search search = { t->list, pid };
	uint64_t hash = pfmi_base_hash_number(pid);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, has_pid, &search);

	if (at == HASH_NOT_FOUND) {
		t->list = base_grow_list(t->list, t->n, &t->capacity, sizeof(*t->list), &t->failed);
		t->failed = t->failed || !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n);
		if (t->failed)
			return;
		at = (uint32_t)t->n++;
		t->list[at] = (struct process_time){ .pid = pid };
	}
	t->list[at].time += time;
}

static void see_record(void *arg, const pfm_record_t *record)
{
	struct process_times *t = arg;

	t->n_forks += record->type == PFM_RECORD_FORK && record->pid == record->tid;
}

static bool is_clock(const pfm_session_t *s, unsigned event)
{
	pfm_count_info_t info = PFM_INIT(info);

	return pfm_describe_count(s, event, &info) == PFMLIB_SUCCESS &&
	       info.attr.type == PERF_TYPE_SOFTWARE && info.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
}

/* False if the recording has no clock. */
static bool read_times(struct process_times *t, const char *path)
{
	struct profile_losses losses = { .records = 0 };
	struct sample_visitor visit;
	struct visited_sample sample;
	pfm_session_t *s = NULL;

	if (pfm_open_recording(&s, path, NULL) != PFMLIB_SUCCESS)
		return false;
	begin_sample_visit(&visit, s, SOURCE_RECORDING, &losses, NULL);
	visit.see_record = see_record;
	visit.see_arg = t;
	while (is_clock(s, 0) && !t->failed && visit_next_sample(&visit, &sample) == 1)
		if (sample.event == 0)
			add_time(t, sample.record->pid, sample.weight);
	end_sample_visit(&visit);
	pfm_close_session(s);
	return t->n_forks;
}

/* Seconds of processes that took long. */
static double add_long_times(const struct process_times *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += t->list[i].time >= SHORT_NS ? (double)t->list[i].time / 1e9 : 0;
	return sum;
}

void report_short_processes(const struct recorder *job)
{
	const struct timeval *user = &job->usage.ru_utime, *system = &job->usage.ru_stime;
	double all = (double)(user->tv_sec + system->tv_sec) +
	             (double)(user->tv_usec + system->tv_usec) / 1e6;
	struct process_times t = { .n = 0 };
	double share;

	if (!job->command || job->pid || job->all_cpus || job->cpus || job->no_inherit ||
	    job->size > READ_MAX || is_record_round || !(all > 0))
		return;
	if (read_times(&t, job->output) && !t.failed && t.n_forks >= LEAST_PROCESSES) {
		share = 1 - add_long_times(&t) / all;
		if (share >= LEAST_SHARE)
			fprintf(stderr,
			        RECORD_COMMAND
			        ": %.0f %% of the CPU time is in processes that used less than 10 "
			        "ms: what ends within a sampling period has no sample; -a samples "
			        "CPUs instead, whose clocks run on\n",
			        100 * share);
	}
	free(t.list);
	pfmi_base_free_hash(&t.table);
}
