/* SPDX-License-Identifier: MIT */
/* pfm report --locks and --wakers: waits of a recording of pfm record --off-cpu by lock and place,
 * and who ended them. A thread that waits for a lock is woken by the one that has released it. The
 * address of the lock is the first argument of futex(2), in the registers of the sample. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "common/json.h"
#include "common/pfm.h"
#include "export/export.h"
#include "profile/waits.h"
#include "report/view.h"

/* The bit of the first argument of a system call in masks of registers. */
#if defined(__x86_64__)
enum { ARGUMENT_BIT = 5 }; /* di */
#else
enum { ARGUMENT_BIT = 0 };
#endif

enum { REGS_ABI_64 = 2 };

/* A task and the function in which it is, as texts of the reader; 0: unknown. */
struct task_place {
	uint32_t task, function;
};

/* Waits that have these members in common. */
struct waiting_row {
	const char *cause;
	uint64_t lock; /* 0: unknown, and without --locks */
	struct task_place waiter, waker;
	uint64_t time, waits;
};

/* The last wait of a task. */
struct last_wait {
	uint32_t tid;
	uint64_t end;
	struct waiting_row row;  /* without cause: it is not of interest */
	struct task_place early; /* who woke it after that wait, before it has left its CPU again */
};

struct waiting {
	const struct report_job *job;
	struct export_reader reader;
	struct last_wait *last;
	struct waiting_row *rows;
	struct hash_table last_table, row_table;
	size_t n_last, last_capacity, n_rows, rows_capacity;
	pfm_trace_field_t woken; /* the field pid of the event that wakes */
	int waking;              /* that event, or -1 */
	bool failed;
};

/* ---- rows ------------------------------------------------------------------------------------ */

struct row_search {
	const struct waiting_row *list, *key;
};

static bool is_same_place(const struct task_place *a, const struct task_place *b)
{
	return a->task == b->task && a->function == b->function;
}

static bool is_same_row(const void *arg, uint32_t i)
{
	const struct row_search *s = arg;
	const struct waiting_row *a = &s->list[i], *b = s->key;

	return a->cause == b->cause && a->lock == b->lock &&
	       is_same_place(&a->waiter, &b->waiter) && is_same_place(&a->waker, &b->waker);
}

static void add_row(struct waiting *w, const struct waiting_row *row)
{
	const struct row_search search = { w->rows, row };
	const uint64_t key[] = { row->lock, (uint64_t)row->waiter.task << 32 | row->waiter.function,
		                 (uint64_t)row->waker.task << 32 | row->waker.function,
		                 (uint64_t)(uintptr_t)row->cause };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&w->row_table, hash, is_same_row, &search);

	if (at != HASH_NOT_FOUND) {
		w->rows[at].time += row->time;
		w->rows[at].waits++;
		return;
	}
	w->rows =
		base_grow_list(w->rows, w->n_rows, &w->rows_capacity, sizeof(*w->rows), &w->failed);
	w->failed = w->failed || !pfmi_base_add_hash(&w->row_table, hash, (uint32_t)w->n_rows);
	if (w->failed)
		return;
	w->rows[w->n_rows] = *row;
	w->rows[w->n_rows++].waits = 1;
}

static bool is_wanted(const struct waiting *w, const struct waiting_row *row)
{
	return row->cause && row->time && (!w->job->shows_locks || strcmp(row->cause, "lock") == 0);
}

static void end_wait(struct waiting *w, struct last_wait *last)
{
	if (is_wanted(w, &last->row))
		add_row(w, &last->row);
	last->row = (struct waiting_row){ .cause = NULL };
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct tid_search {
	const struct last_wait *list;
	uint32_t tid;
};

static bool has_tid(const void *arg, uint32_t i)
{
	const struct tid_search *s = arg;

	return s->list[i].tid == s->tid;
}

/* NULL if the task has not waited. */
static struct last_wait *find_last_wait(const struct waiting *w, uint32_t tid)
{
	const struct tid_search search = { w->last, tid };
	uint32_t at =
		pfmi_base_find_hash(&w->last_table, pfmi_base_hash_number(tid), has_tid, &search);

	return at == HASH_NOT_FOUND ? NULL : &w->last[at];
}

/* NULL without memory. */
static struct last_wait *find_or_add_last_wait(struct waiting *w, uint32_t tid)
{
	struct last_wait *last = find_last_wait(w, tid);

	if (last)
		return last;
	w->last =
		base_grow_list(w->last, w->n_last, &w->last_capacity, sizeof(*w->last), &w->failed);
	w->failed = w->failed || !pfmi_base_add_hash(&w->last_table, pfmi_base_hash_number(tid),
	                                             (uint32_t)w->n_last);
	if (w->failed)
		return NULL;
	w->last[w->n_last] = (struct last_wait){ .tid = tid };
	return &w->last[w->n_last++];
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Functions of the C library wait for others. */
static bool is_in_c_library(const char *object)
{
	const char *name = base_name(object);

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
	       strncmp(name, "libpthread", 10) == 0 || strncmp(name, "ld-musl", 7) == 0;
}

/* The task of the sample and the innermost function of the program, outside of the C library where
 * there is one. */
static struct task_place find_place(const struct export_reader *r, const struct export_sample *s)
{
	struct task_place place = { s->task, 0 };

	for (unsigned i = 0; i < s->n_frames; i++) {
		const struct export_location *l = &r->locations[s->frames[i]];

		if (l->mode == PFM_MISC_KERNEL || !l->mapping)
			continue;
		if (!place.function || !is_in_c_library(export_object(r, l)))
			place.function = r->names[l->first_name + l->n_names - 1];
		if (!is_in_c_library(export_object(r, l)))
			break;
	}
	return place;
}

/* The cause of the innermost function of the kernel that has one. */
static const char *find_sample_cause(const struct export_reader *r, const struct export_sample *s)
{
	const char *cause = NULL;

	for (unsigned i = 0; i < s->n_frames && !cause; i++) {
		const struct export_location *l = &r->locations[s->frames[i]];
		const char *name = export_name(r, l, 0);

		if (l->mode != PFM_MISC_KERNEL)
			break;
		cause = find_wait_cause(name, strlen(name));
	}
	return cause ? cause : "other";
}

static uint64_t read_first_argument(const pfm_record_t *record)
{
	const pfm_sample_t *s = &record->body.sample;
	const uint64_t bit = (uint64_t)1 << ARGUMENT_BIT;
	unsigned at = (unsigned)__builtin_popcountll(s->regs_mask & (bit - 1));

	if (!(record->has & PFM_SAMPLE_REGS) || s->regs.abi != REGS_ABI_64 ||
	    !(s->regs_mask & bit) || at >= s->regs.n)
		return 0;
	return s->regs.values[at];
}

static void add_wait(struct waiting *w, const struct export_sample *s)
{
	const struct report_job *job = w->job;
	struct last_wait *last = find_or_add_last_wait(w, s->tid);
	const char *task = export_text(&w->reader, s->task);
	struct task_place early;

	if (!last)
		return;
	end_wait(w, last);
	if (job->options.task && !profile_matches_event(task, job->options.task))
		return;
	early = last->early;
	last->early = (struct task_place){ 0, 0 };
	last->end = s->time + s->weight;
	last->row =
		(struct waiting_row){ .cause = find_sample_cause(&w->reader, s),
		                      .lock = job->shows_locks ? read_first_argument(s->record) : 0,
		                      .waiter = find_place(&w->reader, s),
		                      .waker = early,
		                      .time = s->weight };
}

/* The last one before the task is back counts. A task may be woken before it has left its CPU. */
static void add_waking(struct waiting *w, const struct export_sample *s)
{
	struct last_wait *last;
	uint64_t tid;

	if (pfm_read_trace_field(w->reader.session, s->record, &w->woken, &tid, NULL, NULL) !=
	    PFMLIB_SUCCESS)
		return;
	last = find_or_add_last_wait(w, (uint32_t)tid);
	if (last && last->row.cause && s->time <= last->end)
		last->row.waker = find_place(&w->reader, s);
	else if (last)
		last->early = find_place(&w->reader, s);
}

/* Finds the event that tells who wakes. */
static int find_waking_event(struct waiting *w)
{
	w->woken = (pfm_trace_field_t)PFM_INIT(w->woken);
	for (unsigned i = 0; i < w->reader.n_events; i++)
		if (strncmp(w->reader.events[i].name, WAKING_EVENT, strlen(WAKING_EVENT)) == 0 &&
		    pfm_find_trace_field(w->reader.session, i, "pid", &w->woken) == PFMLIB_SUCCESS)
			return (int)i;
	return -1;
}

/* Returns an exit status. */
static int read_waiting(struct waiting *w)
{
	struct export_sample s;
	int rc = 1;

	w->waking = find_waking_event(w);
	while (!w->failed && (rc = export_next(&w->reader, &s)) == 1) {
		bool is_wait = waits_is_event(w->reader.session, s.event);

		if (!is_wait && (int)s.event != w->waking)
			continue;
		export_read_frames(&w->reader, &s);
		if (is_wait)
			add_wait(w, &s);
		else
			add_waking(w, &s);
		w->failed |= w->reader.failed;
	}
	for (size_t i = 0; i < w->n_last; i++)
		end_wait(w, &w->last[i]);
	return w->failed ? report_no_memory() : rc < 0 ? EXIT_REFUSED : EXIT_DONE;
}

/* ---- output ---------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct waiting_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return x->lock < y->lock ? -1 : x->lock > y->lock;
}

/* "TASK in FUNCTION" */
static const char *print_place(const struct export_reader *r, const struct task_place *p,
                               char text[2 * NAME_LINE])
{
	char task[NAME_LINE], function[NAME_LINE];

	if (!p->task)
		return "-";
	snprintf(text, 2 * NAME_LINE, "%s in %s",
	         profile_format_line(export_text(r, p->task), task),
	         p->function ? profile_format_line(export_text(r, p->function), function) : "?");
	return text;
}

static void put_waiting_row(const struct waiting *w, const struct waiting_row *row, uint64_t all)
{
	char waiter[2 * NAME_LINE], waker[2 * NAME_LINE], lock[24] = "?";

	if (row->lock)
		snprintf(lock, sizeof(lock), "%#llx", (unsigned long long)row->lock);
	printf("%6.2f%% %10.1f ms %9llu  %-*s %-32s %s\n", 100 * (double)row->time / (double)all,
	       (double)row->time / 1e6, (unsigned long long)row->waits,
	       w->job->shows_locks ? 16 : 10, w->job->shows_locks ? lock : row->cause,
	       print_place(&w->reader, &row->waiter, waiter),
	       print_place(&w->reader, &row->waker, waker));
}

static void put_place_members(struct json *j, const struct waiting *w, const char *key,
                              const struct task_place *p)
{
	if (!p->task)
		return;
	put_begin(j, key, '{');
	put_text(j, "task", export_text(&w->reader, p->task));
	if (p->function)
		put_text(j, "function", export_text(&w->reader, p->function));
	put_end(j, '}');
}

static void put_waiting_json(const struct waiting *w, const struct waiting_row *row, uint64_t all)
{
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	put_text(&j, "cause", row->cause);
	if (row->lock)
		put_hex(&j, "lock", row->lock);
	put_place_members(&j, w, "waiter", &row->waiter);
	put_place_members(&j, w, "waker", &row->waker);
	put_count(&j, "nanoseconds", row->time);
	put_count(&j, "waits", row->waits);
	put_real(&j, "share", (double)row->time / (double)all);
	put_end(&j, '}');
	put_line(&j);
}

static void put_rows(struct waiting *w)
{
	uint64_t all = 0, limit = w->job->line_limit ? w->job->line_limit : w->n_rows;

	for (size_t i = 0; i < w->n_rows; i++)
		all += w->rows[i].time;
	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), compare_rows);
	if (!w->job->json)
		printf("%.3f s of waiting%s, of all tasks together\n"
		       "  share          time     waits  %-*s %-32s ended by\n",
		       (double)all / 1e9, w->job->shows_locks ? " for locks" : "",
		       w->job->shows_locks ? 16 : 10, w->job->shows_locks ? "lock" : "cause",
		       "who waits");
	for (size_t i = 0; i < w->n_rows && i < limit; i++)
		if (w->job->json)
			put_waiting_json(w, &w->rows[i], all);
		else
			put_waiting_row(w, &w->rows[i], all);
	if (!w->job->json && w->n_rows > limit)
		printf("%zu more lines; -n 0 shows all\n", w->n_rows - (size_t)limit);
	if (w->waking < 0)
		fputs("pfm report: who ended the waits was not recorded: that needs the "
		      "tracepoint " WAKING_EVENT ", which root may record\n",
		      stderr);
}

int put_waiting(const struct report_job *job, const char *path)
{
	struct waiting w = { .job = job };
	int status = export_open(&w.reader, path, NULL);

	if (status == EXIT_DONE)
		status = export_read_waits(&w.reader);
	if (status == EXIT_DONE)
		status = read_waiting(&w);
	if (status == EXIT_DONE)
		put_rows(&w);
	export_close(&w.reader);
	free(w.last);
	free(w.rows);
	pfmi_base_free_hash(&w.last_table);
	pfmi_base_free_hash(&w.row_table);
	return status;
}
