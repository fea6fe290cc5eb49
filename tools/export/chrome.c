/* SPDX-License-Identifier: MIT */
/* Trace events, for Perfetto and chrome://tracing: functions of each thread as slices, and the
 * weight of each event as a counter of its process.
 *
 * A stack lasts until the thread's next sample, but not longer than a sample can represent. Events
 * are written as samples come; those of a thread are in the order of their times. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTER_NS = 10000000, LONGEST_NS = 20000000 };

struct chrome_thread {
	uint32_t pid, tid, task, stack;
	uint64_t end; /* when the stack ends if no sample comes before */
};

struct chrome {
	struct json j;
	struct stack_tree stacks;
	struct hash_table thread_table;
	struct chrome_thread *threads;
	size_t n_threads, threads_capacity, frames_capacity, n_same, same_capacity;
	uint32_t *frames;
	struct hash_table same_table;
	uint32_t *same; /* of each location: the first one with its names, mapping and mode */
	struct export_rows counters; /* samples: 1 if the value that was written is not 0 */
	uint64_t counter_start;
	bool has_counter_start;
};

static void begin_file(struct exporter *e)
{
	struct chrome *c = e->state;

	c->j.out = e->out;
	put_begin(&c->j, NULL, '{');
	put_text(&c->j, "displayTimeUnit", "ns");
	put_begin(&c->j, "traceEvents", '[');
}

/* Begins an event; its time is in microseconds. */
static void begin_event(struct exporter *e, const char *phase, uint32_t pid, uint64_t time)
{
	struct chrome *c = e->state;

	time = time_span_between(e->reader->sampled.first, time);
	putc('\n', e->out);
	put_begin(&c->j, NULL, '{');
	put_text(&c->j, "ph", phase);
	put_int(&c->j, "pid", (int32_t)pid);
	put_real(&c->j, "ts", (double)time / 1e3);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void put_task_name(struct exporter *e, const char *kind, uint32_t pid, uint32_t tid,
                          uint32_t task)
{
	struct chrome *c = e->state;

	begin_event(e, "M", pid, e->reader->sampled.first);
	put_int(&c->j, "tid", (int32_t)tid);
	put_text(&c->j, "name", kind);
	put_begin(&c->j, "args", '{');
	put_text(&c->j, "name", export_text(e->reader, task));
	put_end(&c->j, '}');
	put_end(&c->j, '}');
}

struct thread_search {
	const struct chrome_thread *list;
	uint32_t tid;
};

static bool is_thread_with_tid(const void *arg, uint32_t i)
{
	const struct thread_search *s = arg;

	return s->list[i].tid == s->tid;
}

static struct chrome_thread *add_thread(struct exporter *e, uint64_t hash,
                                        const struct export_sample *s)
{
	struct chrome *c = e->state;

	c->threads = base_grow_list(c->threads, c->n_threads, &c->threads_capacity,
	                            sizeof(*c->threads), &e->failed);
	e->failed =
		e->failed || !pfmi_base_add_hash(&c->thread_table, hash, (uint32_t)c->n_threads);
	if (e->failed)
		return NULL;
	c->threads[c->n_threads] = (struct chrome_thread){ .pid = s->pid, .tid = s->tid };
	return &c->threads[c->n_threads++];
}

/* NULL without memory. Valid until the next call. */
static struct chrome_thread *find_or_add_thread(struct exporter *e, const struct export_sample *s)
{
	struct chrome *c = e->state;
	const struct thread_search search = { c->threads, s->tid };
	uint64_t hash = pfmi_base_hash_number(s->tid);
	uint32_t at = pfmi_base_find_hash(&c->thread_table, hash, is_thread_with_tid, &search);
	bool is_new = at == HASH_NOT_FOUND;
	struct chrome_thread *t = is_new ? add_thread(e, hash, s) : &c->threads[at];

	if (t && (is_new || t->task != s->task)) {
		t->task = s->task;
		put_task_name(e, "thread_name", s->pid, s->tid, s->task);
		if (s->pid == s->tid)
			put_task_name(e, "process_name", s->pid, s->tid, s->task);
	}
	return t;
}

/* ---- functions ------------------------------------------------------------------------------- */

struct same_search {
	const struct export_reader *reader;
	const struct export_location *key;
};

static bool has_same_names(const void *arg, uint32_t i)
{
	const struct same_search *s = arg;
	const struct export_location *a = &s->reader->locations[i], *b = s->key;
	const uint32_t *names = s->reader->names;

	return a->mapping == b->mapping && a->mode == b->mode && a->n_names == b->n_names &&
	       memcmp(names + a->first_name, names + b->first_name, a->n_names * sizeof(*names)) ==
	               0;
}

/* The first location that has the names of location @i. */
static uint32_t find_same_location(struct exporter *e, uint32_t i)
{
	struct chrome *c = e->state;
	const struct export_location *l = &e->reader->locations[i];
	const struct same_search search = { e->reader, l };
	const uint32_t *names = e->reader->names + l->first_name;
	const uint64_t key[] = { (uint64_t)l->mapping << 32 | l->mode,
		                 pfmi_base_hash_bytes(names, l->n_names * sizeof(*names)) };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&c->same_table, hash, has_same_names, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	e->failed |= !pfmi_base_add_hash(&c->same_table, hash, i);
	return i;
}

/* Locations are new in the order of their numbers. */
static uint32_t get_function_location(struct exporter *e, uint32_t location)
{
	struct chrome *c = e->state;

	while (c->n_same <= location && !e->failed) {
		c->same = base_grow_list(c->same, c->n_same, &c->same_capacity, sizeof(*c->same),
		                         &e->failed);
		if (!e->failed)
			c->same[c->n_same] = find_same_location(e, (uint32_t)c->n_same);
		c->n_same++;
	}
	return e->failed ? 0 : c->same[location];
}

/* ---- slices ---------------------------------------------------------------------------------- */

static unsigned count_stack_frames(const struct stack_tree *t, uint32_t stack)
{
	unsigned n = 0;

	for (; stack; stack = t->nodes[stack].parent)
		n++;
	return n;
}

/* The innermost node that two stacks share. */
static uint32_t find_common_node(const struct stack_tree *t, uint32_t a, uint32_t b)
{
	unsigned n = count_stack_frames(t, a), k = count_stack_frames(t, b);

	for (; n > k; n--)
		a = t->nodes[a].parent;
	for (; k > n; k--)
		b = t->nodes[b].parent;
	for (; a != b; a = t->nodes[a].parent)
		b = t->nodes[b].parent;
	return a;
}

/* The beginning or the end of name @k of @l. Some readers find the beginning of a slice by the
 * name that its end has. */
static void put_slice_event(struct exporter *e, const char *phase, uint32_t pid, uint32_t tid,
                            uint64_t time, const struct export_location *l, unsigned k)
{
	struct chrome *c = e->state;

	begin_event(e, phase, pid, time);
	put_int(&c->j, "tid", (int32_t)tid);
	put_text(&c->j, "name", export_name(e->reader, l, k));
	if (*phase == 'B')
		put_text(&c->j, "cat", export_object(e->reader, l));
	put_end(&c->j, '}');
}

static void end_slices(struct exporter *e, const struct chrome_thread *t, uint32_t tid,
                       uint32_t common, uint64_t time)
{
	struct chrome *c = e->state;

	for (uint32_t at = t->stack; at != common; at = c->stacks.nodes[at].parent) {
		const struct export_location *l =
			&e->reader->locations[c->stacks.nodes[at].location];

		for (unsigned k = l->n_names; k-- > 0;)
			put_slice_event(e, "E", t->pid, tid, time, l, k);
	}
}

static void begin_slices(struct exporter *e, const struct export_sample *s, uint32_t stack,
                         uint32_t common)
{
	struct chrome *c = e->state;
	unsigned n = 0;

	for (uint32_t at = stack; at != common; at = c->stacks.nodes[at].parent)
		c->frames[n++] = c->stacks.nodes[at].location;
	while (n-- > 0) {
		const struct export_location *l = &e->reader->locations[c->frames[n]];

		for (unsigned k = 0; k < l->n_names; k++)
			put_slice_event(e, "B", s->pid, s->tid, s->time, l, k);
	}
}

/* The stack of @s by functions: addresses in one function are one slice. */
static uint32_t add_function_stack(struct exporter *e, const struct export_sample *s)
{
	struct chrome *c = e->state;

	for (unsigned i = 0; i < s->n_frames; i++) {
		c->frames = base_grow_list(c->frames, i, &c->frames_capacity, sizeof(*c->frames),
		                           &e->failed);
		if (e->failed)
			return 0;
		c->frames[i] = get_function_location(e, s->frames[i]);
	}
	return export_add_stack(&c->stacks, c->frames, s->n_frames);
}

static uint64_t compute_longest_ns(const struct exporter *e, const struct export_sample *s)
{
	return e->reader->events[s->event].is_clock && s->weight < LONGEST_NS ? 2 * s->weight
	                                                                      : LONGEST_NS;
}

static void add_slices(struct exporter *e, const struct export_sample *s)
{
	struct chrome *c = e->state;
	uint32_t stack = add_function_stack(e, s), common = 0;
	struct chrome_thread *t = find_or_add_thread(e, s);

	e->failed |= c->stacks.failed;
	if (e->failed)
		return;
	if (s->time <= t->end)
		common = find_common_node(&c->stacks, t->stack, stack);
	end_slices(e, t, s->tid, common, s->time < t->end ? s->time : t->end);
	t->pid = s->pid;
	t->stack = stack;
	t->end = time_span_after(s->time, compute_longest_ns(e, s));
	begin_slices(e, s, stack, common);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void put_counters(struct exporter *e)
{
	struct chrome *c = e->state;

	for (size_t i = 0; i < c->counters.n; i++) {
		struct export_row *row = &c->counters.list[i];

		if (!row->weight && !row->samples)
			continue;
		begin_event(e, "C", row->pid, c->counter_start);
		put_text(&c->j, "name", e->reader->events[row->event].name);
		put_begin(&c->j, "args", '{');
		put_count(&c->j, "weight", row->weight);
		put_end(&c->j, '}');
		put_end(&c->j, '}');
		row->samples = row->weight > 0;
		row->weight = 0;
	}
}

static void add_counter(struct exporter *e, const struct export_sample *s)
{
	struct chrome *c = e->state;
	const struct export_row row = { .event = s->event, .pid = s->pid, .weight = s->weight };
	uint64_t intervals;

	if (!c->has_counter_start)
		c->counter_start = s->time;
	c->has_counter_start = true;
	intervals = time_span_between(c->counter_start, s->time) / COUNTER_NS;
	if (intervals) {
		put_counters(e);
		c->counter_start += COUNTER_NS;
	}
	if (intervals > 1) {
		put_counters(e); /* zeros: nothing was sampled for a while */
		c->counter_start += (intervals - 1) * COUNTER_NS;
	}
	export_add_row(&c->counters, &row);
	e->failed |= c->counters.failed;
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	add_slices(e, s);
	add_counter(e, s);
}

static void end_file(struct exporter *e)
{
	struct chrome *c = e->state;

	for (size_t i = 0; i < c->n_threads; i++)
		end_slices(e, &c->threads[i], c->threads[i].tid, 0, c->threads[i].end);
	put_counters(e);
	putc('\n', e->out);
	put_end(&c->j, ']');
	put_begin(&c->j, "otherData", '{');
	put_losses_json(&c->j, &e->reader->losses);
	put_end(&c->j, '}');
	put_end(&c->j, '}');
	put_line(&c->j);
}

static void free_state(struct exporter *e)
{
	struct chrome *c = e->state;

	export_free_stacks(&c->stacks);
	export_free_rows(&c->counters);
	pfmi_base_free_hash(&c->thread_table);
	pfmi_base_free_hash(&c->same_table);
	free(c->same);
	free(c->threads);
	free(c->frames);
}

const struct export_format export_chrome = {
	.name = "chrome",
	.summary = "trace events with slices and counters, for Perfetto and chrome://tracing",
	.suffixes = { ".trace.json", ".chrome.json" },
	.state_size = sizeof(struct chrome),
	.begin = begin_file,
	.add_sample = add_sample,
	.end = end_file,
	.release = free_state,
};
