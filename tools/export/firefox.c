/* SPDX-License-Identifier: MIT */
/* The format of Firefox Profiler, gecko version 24, which every newer one reads: a thread for each
 * event of each thread, with its samples in the order of times. Losses are a marker, and the
 * weights of each event over time a counter. The page shows counters beside the thread called
 * GeckoMain, and that thread by the name of its process. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#define MAIN_THREAD "GeckoMain"

enum { CATEGORY_USER, CATEGORY_KERNEL };

/* Of a counter: the shortest interval, and about how many there are at most. */
enum { INTERVAL_NS = 10000000, INTERVALS_MAX = 1000 };

/* The tables of one thread: stacks and frames by the numbers they have in the whole recording. */
struct thread_tables {
	uint32_t *stack_numbers; /* of each node of the tree: 1 + its last row in stackTable */
	uint32_t *frame_numbers; /* of each location: 1 + its first row in frameTable */
	uint32_t *stacks, *locations;
	size_t n_stacks, n_locations, stacks_capacity, locations_capacity;
	uint32_t n_stack_rows, n_frame_rows;
};

struct firefox {
	struct timelines lines;
	const struct timeline *longest; /* that has the most samples; NULL without one */
	struct thread_tables tables;
};

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct firefox *f = e->state;

	export_add_to_timeline(&f->lines, s);
	e->failed |= f->lines.failed;
}

static double convert_to_milliseconds(const struct exporter *e, uint64_t time)
{
	return (double)time_span_between(e->reader->sampled.first, time) / 1e6;
}

/* ---- tables of a thread ---------------------------------------------------------------------- */

static void clear_tables(struct thread_tables *t)
{
	for (size_t i = 0; i < t->n_stacks; i++)
		t->stack_numbers[t->stacks[i]] = 0;
	for (size_t i = 0; i < t->n_locations; i++)
		t->frame_numbers[t->locations[i]] = 0;
	t->n_stacks = t->n_locations = 0;
	t->n_stack_rows = t->n_frame_rows = 0;
}

static void use_location(struct exporter *e, uint32_t location)
{
	struct firefox *f = e->state;
	struct thread_tables *t = &f->tables;

	if (t->frame_numbers[location])
		return;
	t->locations = base_grow_list(t->locations, t->n_locations, &t->locations_capacity,
	                              sizeof(*t->locations), &e->failed);
	if (e->failed)
		return;
	t->locations[t->n_locations++] = location;
	t->frame_numbers[location] = 1 + t->n_frame_rows;
	t->n_frame_rows += e->reader->locations[location].n_names;
}

/* Numbers @stack after its callers, which come before it in the table. */
static void use_stack(struct exporter *e, uint32_t stack)
{
	struct firefox *f = e->state;
	struct thread_tables *t = &f->tables;
	size_t first = t->n_stacks;

	for (uint32_t at = stack; at && !t->stack_numbers[at] && !e->failed;
	     at = f->lines.stacks.nodes[at].parent) {
		t->stacks = base_grow_list(t->stacks, t->n_stacks, &t->stacks_capacity,
		                           sizeof(*t->stacks), &e->failed);
		if (!e->failed)
			t->stacks[t->n_stacks++] = at;
	}
	for (size_t i = first, k = t->n_stacks; i + 1 < k; i++) {
		uint32_t swap = t->stacks[i];

		t->stacks[i] = t->stacks[--k];
		t->stacks[k] = swap;
	}
	for (size_t i = first; i < t->n_stacks && !e->failed; i++) {
		uint32_t location = f->lines.stacks.nodes[t->stacks[i]].location;

		use_location(e, location);
		t->n_stack_rows += e->reader->locations[location].n_names;
		t->stack_numbers[t->stacks[i]] = t->n_stack_rows;
	}
}

static void put_schema(struct json *j, const char *const *names)
{
	put_begin(j, "schema", '{');
	for (int i = 0; names[i]; i++)
		put_int(j, names[i], i);
	put_end(j, '}');
	put_begin(j, "data", '[');
}

static void end_table(struct json *j)
{
	put_end(j, ']');
	put_end(j, '}');
}

/* Strings of a thread are the names of its frames, in the order of frameTable, and that of the
 * marker. */
static void put_frame_table(struct exporter *e, struct json *j)
{
	static const char *const schema[] = {
		"location", "relevantForJS", "innerWindowID", "implementation", "optimizations",
		"line",     "column",        "category",      "subcategory",    NULL
	};
	const struct firefox *f = e->state;
	int row = 0;

	put_begin(j, "frameTable", '{');
	put_schema(j, schema);
	for (size_t i = 0; i < f->tables.n_locations; i++) {
		const struct export_location *l = &e->reader->locations[f->tables.locations[i]];

		for (unsigned k = 0; k < l->n_names; k++) {
			put_begin(j, NULL, '[');
			put_int(j, NULL, row++);
			put_bool(j, NULL, false);
			put_int(j, NULL, 0);
			put_null(j, NULL);
			put_null(j, NULL);
			if (l->source.line && k + 1 == l->n_names)
				put_int(j, NULL, l->source.line);
			else
				put_null(j, NULL);
			put_null(j, NULL);
			put_int(j, NULL,
			        l->mode == PFM_MISC_KERNEL ? CATEGORY_KERNEL : CATEGORY_USER);
			put_null(j, NULL);
			put_end(j, ']');
		}
	}
	end_table(j);
}

static void put_stack_table(struct exporter *e, struct json *j)
{
	static const char *const schema[] = { "prefix", "frame", NULL };
	const struct firefox *f = e->state;
	uint32_t row = 0;

	put_begin(j, "stackTable", '{');
	put_schema(j, schema);
	for (size_t i = 0; i < f->tables.n_stacks; i++) {
		const struct stack_node *node = &f->lines.stacks.nodes[f->tables.stacks[i]];
		uint32_t prefix = node->parent ? f->tables.stack_numbers[node->parent] : 0;
		uint32_t frame = f->tables.frame_numbers[node->location] - 1;

		for (unsigned k = 0; k < e->reader->locations[node->location].n_names; k++) {
			put_begin(j, NULL, '[');
			if (prefix)
				put_int(j, NULL, (int64_t)prefix - 1);
			else
				put_null(j, NULL);
			put_int(j, NULL, (int64_t)frame + k);
			put_end(j, ']');
			prefix = ++row;
		}
	}
	end_table(j);
}

/* "function (in library)", from which the page takes the library. */
static void put_string_table(struct exporter *e, struct json *j)
{
	const struct firefox *f = e->state;
	char text[2 * NAME_LINE];

	put_begin(j, "stringTable", '[');
	for (size_t i = 0; i < f->tables.n_locations; i++) {
		const struct export_location *l = &e->reader->locations[f->tables.locations[i]];

		for (unsigned k = 0; k < l->n_names; k++) {
			snprintf(text, sizeof(text), "%.4000s (in %.4000s)",
			         export_name(e->reader, l, k), export_object(e->reader, l));
			put_text(j, NULL, text);
		}
	}
	put_text(j, NULL, "Quality of the recording");
	put_end(j, ']');
}

static void put_samples(struct exporter *e, struct json *j, const struct timeline *t)
{
	static const char *const schema[] = { "stack", "time", "responsiveness", NULL };
	const struct firefox *f = e->state;

	put_begin(j, "samples", '{');
	put_schema(j, schema);
	for (size_t i = 0; i < t->n; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, (int64_t)f->tables.stack_numbers[t->samples[i].stack] - 1);
		put_real(j, NULL, convert_to_milliseconds(e, t->samples[i].time));
		put_int(j, NULL, 0);
		put_end(j, ']');
	}
	end_table(j);
}

static void put_markers(struct exporter *e, struct json *j)
{
	static const char *const schema[] = { "name",     "startTime", "endTime", "phase",
		                              "category", "data",      NULL };
	const struct firefox *f = e->state;
	char text[LOSSES_MAX];

	put_begin(j, "markers", '{');
	put_schema(j, schema);
	put_begin(j, NULL, '[');
	put_int(j, NULL, f->tables.n_frame_rows);
	put_int(j, NULL, 0);
	put_null(j, NULL);
	put_int(j, NULL, 0);
	put_int(j, NULL, CATEGORY_USER);
	put_begin(j, NULL, '{');
	put_text(j, "type", "Text");
	put_text(j, "name", print_profile_losses(&e->reader->losses, text));
	put_end(j, '}');
	put_end(j, ']');
	end_table(j);
}

/* ---- threads --------------------------------------------------------------------------------- */

static unsigned count_columns(const struct export_reader *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_events; i++)
		n += r->events[i].samples > 0;
	return n;
}

static const struct timeline *choose_longest(const struct timelines *t)
{
	const struct timeline *best = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (!best || t->list[i].n > best->n)
			best = &t->list[i];
	return best;
}

static void put_thread(struct exporter *e, struct json *j, const struct timeline *t)
{
	struct firefox *f = e->state;
	bool is_main = t == f->longest;
	const char *task = export_text(e->reader, t->task);
	char name[512];

	clear_tables(&f->tables);
	for (size_t i = 0; i < t->n; i++)
		use_stack(e, t->samples[i].stack);
	if (count_columns(e->reader) > 1)
		snprintf(name, sizeof(name), "%s (%s)", task, e->reader->events[t->event].name);
	else
		snprintf(name, sizeof(name), "%s", task);
	put_begin(j, NULL, '{');
	put_text(j, "name", is_main ? MAIN_THREAD : name);
	put_text(j, "processName", is_main ? name : task);
	put_text(j, "processType", "default");
	put_int(j, "pid", (int32_t)t->pid);
	put_int(j, "tid", (int32_t)t->tid);
	put_int(j, "registerTime", 0);
	put_null(j, "unregisterTime");
	put_markers(e, j);
	put_samples(e, j, t);
	put_frame_table(e, j);
	put_stack_table(e, j);
	put_string_table(e, j);
	put_end(j, '}');
}

static void put_category(struct json *j, const char *name, const char *colour)
{
	put_begin(j, NULL, '{');
	put_text(j, "name", name);
	put_text(j, "color", colour);
	put_begin(j, "subcategories", '[');
	put_text(j, NULL, "Other");
	put_end(j, ']');
	put_end(j, '}');
}

/* The mean distance of samples in the thread that has most of them. */
static double compute_sampling_interval(const struct timeline *best)
{
	if (!best || best->n < 2)
		return 1;
	return (double)time_span_between(best->samples[0].time, best->samples[best->n - 1].time) /
	       1e6 / (double)(best->n - 1);
}

static void put_meta(struct exporter *e, struct json *j)
{
	const struct firefox *f = e->state;
	double interval = compute_sampling_interval(f->longest);

	put_begin(j, "meta", '{');
	put_real(j, "interval", interval > 0 ? interval : 1);
	put_int(j, "processType", 0);
	put_text(j, "product", "pfm");
	put_int(j, "stackwalk", 1);
	put_int(j, "debug", 0);
	put_int(j, "gcpoison", 0);
	put_int(j, "asyncstack", 1);
	put_int(j, "startTime", 0);
	put_null(j, "shutdownTime");
	put_int(j, "version", 24);
	put_bool(j, "presymbolicated", true);
	put_begin(j, "categories", '[');
	put_category(j, "User", "yellow");
	put_category(j, "Kernel", "orange");
	put_end(j, ']');
	put_begin(j, "markerSchema", '[');
	put_end(j, ']');
	put_end(j, '}');
}

/* ---- counters -------------------------------------------------------------------------------- */

/* The weights of an event in intervals of @step; each row has the end of its interval. */
static void put_counter_samples(struct exporter *e, struct json *j, unsigned event, uint64_t *sums,
                                size_t n, uint64_t step)
{
	static const char *const schema[] = { "time", "number", "count", NULL };
	const struct firefox *f = e->state;

	memset(sums, 0, n * sizeof(*sums));
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct timeline *t = &f->lines.list[i];

		for (size_t k = 0; t->event == event && k < t->n; k++)
			sums[time_span_part(&e->reader->sampled, t->samples[k].time, step, n)] +=
				t->samples[k].weight;
	}
	put_begin(j, "samples", '{');
	put_schema(j, schema);
	for (size_t i = 0; i <= n; i++) {
		put_begin(j, NULL, '[');
		put_real(j, NULL, (double)step * (double)i / 1e6);
		put_int(j, NULL, 0);
		put_count(j, NULL, i ? sums[i - 1] : 0);
		put_end(j, ']');
	}
	end_table(j);
}

static void put_counters(struct exporter *e, struct json *j)
{
	uint64_t time = time_span_length(&e->reader->sampled), step = time / INTERVALS_MAX, *sums;
	size_t n;

	step = step > INTERVAL_NS ? step : INTERVAL_NS;
	n = (size_t)(time / step) + 1;
	sums = malloc(n * sizeof(*sums));
	e->failed |= !sums;
	put_begin(j, "counters", '[');
	for (unsigned i = 0; sums && i < e->reader->n_events; i++) {
		if (!e->reader->events[i].samples)
			continue;
		putc('\n', e->out);
		put_begin(j, NULL, '{');
		put_text(j, "name", e->reader->events[i].name);
		put_text(j, "category", "Events");
		put_text(j, "description", "Weight of the samples in each interval");
		put_begin(j, "sample_groups", '[');
		put_begin(j, NULL, '{');
		put_int(j, "id", 0);
		put_counter_samples(e, j, i, sums, n, step);
		put_end(j, '}');
		put_end(j, ']');
		put_end(j, '}');
	}
	put_end(j, ']');
	free(sums);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_empty_array(struct json *j, const char *key)
{
	put_begin(j, key, '[');
	put_end(j, ']');
}

static void end_file(struct exporter *e)
{
	struct firefox *f = e->state;
	struct json j = { .out = e->out };

	f->longest = choose_longest(&f->lines);
	f->tables.stack_numbers = calloc(f->lines.stacks.n + 1, sizeof(uint32_t));
	f->tables.frame_numbers = calloc(e->reader->n_locations, sizeof(uint32_t));
	e->failed |= !f->tables.stack_numbers || !f->tables.frame_numbers;
	if (e->failed)
		return;
	put_begin(&j, NULL, '{');
	put_meta(e, &j);
	put_empty_array(&j, "libs");
	put_begin(&j, "threads", '[');
	for (size_t i = 0; i < f->lines.n && !e->failed; i++) {
		putc('\n', e->out);
		put_thread(e, &j, &f->lines.list[i]);
	}
	put_end(&j, ']');
	put_counters(e, &j);
	put_empty_array(&j, "processes");
	put_empty_array(&j, "pausedRanges");
	put_end(&j, '}');
	put_line(&j);
}

static void free_state(struct exporter *e)
{
	struct firefox *f = e->state;

	export_free_timelines(&f->lines);
	free(f->tables.stack_numbers);
	free(f->tables.frame_numbers);
	free(f->tables.stacks);
	free(f->tables.locations);
}

const struct export_format export_firefox = {
	.name = "firefox",
	.summary = "for profiler.firefox.com",
	.suffixes = { ".firefox.json", ".gecko.json" },
	.state_size = sizeof(struct firefox),
	.add_sample = add_sample,
	.end = end_file,
	.release = free_state,
};
