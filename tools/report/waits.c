/* SPDX-License-Identifier: MIT */
/* pfm report --off-cpu: the time of each task, by what it did or waited for and by the function
 * that called for it. What a task waits for is seen in the functions of the kernel on its stack. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/text_output.h"
#include "common/json.h"
#include "common/pfm.h"
#include "profile/waits.h"
#include "report/view.h"

#define KERNEL_SUFFIX "_[k]" /* of functions of the kernel in texts of stacks */

/* Parts of names of Linux's functions. The innermost function on a stack that has one decides. */
static const struct {
	const char *part, *cause;
} causes[] = {
	{ "preempt_schedule", "run queue" },
	{ "irqentry_exit", "run queue" },
	{ "exit_to_user_mode", "run queue" },
	{ "cond_resched", "run queue" },
	{ "sched_yield", "run queue" },
	{ "futex", "lock" },
	{ "mutex_lock", "lock" },
	{ "rwsem_", "lock" },
	{ "pipe_", "pipe" },
	{ "nanosleep", "sleep" },
	{ "ep_poll", "poll" },
	{ "epoll_wait", "poll" },
	{ "do_sys_poll", "poll" },
	{ "do_select", "poll" },
	{ "io_schedule", "disk" },
	{ "folio_wait", "disk" },
	{ "unix_stream", "socket" },
	{ "tcp_", "socket" },
	{ "udp_", "socket" },
	{ "inet_", "socket" },
	{ "do_wait", "child" },
	{ "tty_", "terminal" },
	{ "sigtimedwait", "signal" },
	{ "sigsuspend", "signal" },
};

struct wait_row {
	const char *cause;
	char *task, *function; /* function: the innermost one of the program */
	uint64_t weight, samples;
	bool is_scaled;
};

struct wait_rows {
	struct wait_row *list;
	size_t n, capacity;
	bool failed;
};

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool is_kernel_frame(const char *frame, size_t len)
{
	const size_t n = sizeof(KERNEL_SUFFIX) - 1;

	return len > n && memcmp(frame + len - n, KERNEL_SUFFIX, n) == 0;
}

const char *find_wait_cause(const char *frame, size_t len)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (memmem(frame, len, causes[i].part, strlen(causes[i].part)))
			return causes[i].cause;
	return NULL;
}

/* Finds cause and function of the stack "task;outer;...;inner". Returns the function, whose length
 * is *@len. */
static const char *read_stack(const char *stack, const char **cause, size_t *len)
{
	const char *end = stack + strlen(stack), *frame = end;

	while (frame > stack) {
		frame = memrchr(stack, ';', (size_t)(end - stack));
		if (!frame)
			break;
		*len = (size_t)(end - frame) - 1;
		if (!is_kernel_frame(frame + 1, *len))
			return frame + 1;
		if (!*cause)
			*cause = find_wait_cause(frame + 1, *len);
		end = frame;
	}
	*len = 0;
	return stack;
}

static bool is_same_row(const struct wait_row *row, const char *cause, const char *task,
                        const char *function, size_t len)
{
	return strcmp(row->cause, cause) == 0 && strcmp(row->task, task) == 0 &&
	       strlen(row->function) == len && memcmp(row->function, function, len) == 0;
}

static void add_row(struct wait_rows *rows, const char *cause, const char *task,
                    const char *function, size_t len, const struct profile_place *stack)
{
	size_t i = 0;

	while (i < rows->n && !is_same_row(&rows->list[i], cause, task, function, len))
		i++;
	if (i == rows->n) {
		rows->list = base_grow_list(rows->list, rows->n, &rows->capacity,
		                            sizeof(*rows->list), &rows->failed);
		if (rows->failed)
			return;
		rows->list[rows->n++] = (struct wait_row){ .cause = cause,
			                                   .task = strdup(task),
			                                   .function = strndup(function, len) };
		rows->failed = !rows->list[i].task || !rows->list[i].function;
	}
	rows->list[i].weight += stack->weight;
	rows->list[i].samples += stack->samples;
}

static bool is_clock(const struct profile *p, unsigned event)
{
	pfm_count_info_t info = PFM_INIT(info);

	return pfm_describe_count(p->session, event, &info) == PFMLIB_SUCCESS &&
	       info.attr.type == PERF_TYPE_SOFTWARE && info.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
}

static int compare_rows(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->function, y->function);
}

/* Adds up the stacks of waits, and those of a clock as time on a CPU. */
static void collect_rows(const struct profile *p, struct wait_rows *rows)
{
	for (size_t i = 0; i < p->n_stacks && !rows->failed; i++) {
		const struct profile_place *stack = &p->stacks[i];
		const char *cause = NULL, *function;
		bool is_wait = waits_is_event(p->session, stack->event);
		size_t len;

		if (!is_wait && !is_clock(p, stack->event))
			continue;
		function = read_stack(p->texts.text[stack->function], &cause, &len);
		add_row(rows,
		        !is_wait ? "CPU"
		        : cause  ? cause
		                 : "other",
		        p->texts.text[stack->task], function, len, stack);
	}
}

/* Time on CPUs of the task called @name, by the samples of a clock. */
static uint64_t sum_sampled_time(const struct wait_rows *rows, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->list[i].cause, "CPU") == 0 &&
		    strcmp(rows->list[i].task, name) == 0)
			sum += rows->list[i].weight;
	return sum;
}

/* Gives the functions of each task their shares of the time that it was on a CPU by the records of
 * switches, so that the time on CPUs and the waits are the whole time. A clock that loses
 * interrupts, as on a busy virtual machine, has too little. */
static void scale_sampled_time(struct wait_rows *rows, const struct waits *waits)
{
	for (size_t i = 0; i < rows->n; i++) {
		const char *name = rows->list[i].task;
		uint64_t sampled = sum_sampled_time(rows, name);
		double factor =
			sampled ? (double)waits_get_running(waits, name) / (double)sampled : 0;

		if (!(factor > 0) || rows->list[i].is_scaled)
			continue;
		for (size_t k = i; k < rows->n; k++) {
			struct wait_row *row = &rows->list[k];

			if (strcmp(row->cause, "CPU") != 0 || strcmp(row->task, name) != 0)
				continue;
			row->weight = (uint64_t)((double)row->weight * factor);
			row->is_scaled = true;
		}
	}
}

/* ---- output ---------------------------------------------------------------------------------- */

static void put_row(const struct wait_row *row, uint64_t all)
{
	char name[NAME_LINE];

	printf("%6.2f%% %10.1f ms %9llu  %-10s %-16s ", 100 * (double)row->weight / (double)all,
	       (double)row->weight / 1e6, (unsigned long long)row->samples, row->cause,
	       profile_format_line(row->task, name));
	printf("%s\n", profile_format_line(row->function, name));
}

static void put_row_json(const struct wait_row *row, uint64_t all)
{
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	put_text(&j, "cause", row->cause);
	put_text(&j, "task", row->task);
	put_text(&j, "function", row->function);
	put_count(&j, "nanoseconds", row->weight);
	put_count(&j, "samples", row->samples);
	put_real(&j, "share", (double)row->weight / (double)all);
	put_end(&j, '}');
	put_line(&j);
}

static void put_rows(const struct report_job *job, const struct wait_rows *rows)
{
	uint64_t all = 0, waited = 0;
	size_t shown =
		job->line_limit && job->line_limit < rows->n ? (size_t)job->line_limit : rows->n;

	for (size_t i = 0; i < rows->n; i++) {
		all += rows->list[i].weight;
		waited += strcmp(rows->list[i].cause, "CPU") ? rows->list[i].weight : 0;
	}
	if (!all)
		return;
	if (!job->json)
		printf("%.3f s on CPUs, %.3f s of waiting, of all tasks together\n"
		       "%s\n"
		       "  share          time   samples  cause      task             function\n",
		       (double)(all - waited) / 1e9, (double)waited / 1e9,
		       waits_describe_sources(job->profile.session));
	for (size_t i = 0; i < shown; i++)
		if (job->json)
			put_row_json(&rows->list[i], all);
		else
			put_row(&rows->list[i], all);
	if (!job->json && rows->n > shown)
		printf("%zu more lines; -n 0 shows all\n", rows->n - shown);
}

int put_waits(const struct report_job *job)
{
	struct wait_rows rows = { .n = 0 };
	uint64_t unended = waits_count_unended(job->options.waits);

	collect_rows(&job->profile, &rows);
	/* A part of the samples says nothing of the whole time. */
	if (!job->options.symbol && !(job->options.from > 0) && !(job->options.to > 0))
		scale_sampled_time(&rows, job->options.waits);
	if (rows.n)
		qsort(rows.list, rows.n, sizeof(*rows.list), compare_rows);
	if (!rows.failed)
		put_rows(job, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		free(rows.list[i].task);
		free(rows.list[i].function);
	}
	free(rows.list);
	if (unended)
		fprintf(stderr,
		        "pfm report: %llu wait%s had not ended, and counts up to the end of the "
		        "recording\n",
		        (unsigned long long)unended, unended > 1 ? "s" : "");
	return rows.failed ? report_no_memory() : EXIT_DONE;
}
