/* SPDX-License-Identifier: MIT */
/* The data of a recording: a tree of functions, the samples as columns of numbers, and the code of
 * the hottest functions. */
#include "html/page_data.h"

#include <stdlib.h>
#include <string.h>
#include "base/text_output.h"
#include "common/json.h"
#include "export/export.h"
#include "html/packed.h"
#include "html/page_code.h"
#include "html/page_metrics.h"
#include "profile/waits.h"

struct page_sample {
	uint64_t time, weight;
	uint32_t stack, thread, cpu, event;
};

struct page_thread {
	uint32_t pid, tid, task;
};

struct page_data {
	struct stack_tree stacks;
	struct page_sample *samples;
	struct page_thread *threads;
	struct hash_table thread_table;
	size_t n, capacity, n_threads, threads_capacity;
};

/* ---- samples --------------------------------------------------------------------------------- */

struct thread_search {
	const struct page_thread *list;
	uint32_t pid, tid;
};

static bool is_same_thread(const void *arg, uint32_t i)
{
	const struct thread_search *s = arg;

	return s->list[i].pid == s->pid && s->list[i].tid == s->tid;
}

/* The number of the sample's thread, which has the last name that it got. */
static uint32_t number_thread(struct exporter *e, const struct export_sample *s)
{
	struct page_data *d = e->state;
	const struct thread_search search = { d->threads, s->pid, s->tid };
	uint64_t hash = pfmi_base_hash_number((uint64_t)s->pid << 32 | s->tid);
	uint32_t at = pfmi_base_find_hash(&d->thread_table, hash, is_same_thread, &search);

	if (at == HASH_NOT_FOUND) {
		d->threads = base_grow_list(d->threads, d->n_threads, &d->threads_capacity,
		                            sizeof(*d->threads), &e->failed);
		e->failed = e->failed ||
		            !pfmi_base_add_hash(&d->thread_table, hash, (uint32_t)d->n_threads);
		if (e->failed)
			return 0;
		at = (uint32_t)d->n_threads++;
		d->threads[at] = (struct page_thread){ .pid = s->pid, .tid = s->tid };
	}
	d->threads[at].task = s->task;
	return at;
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct page_data *d = e->state;
	uint32_t thread = number_thread(e, s);

	d->samples =
		base_grow_list(d->samples, d->n, &d->capacity, sizeof(*d->samples), &e->failed);
	if (e->failed)
		return;
	d->samples[d->n++] = (struct page_sample){
		.time = s->time,
		.weight = s->weight,
		.stack = export_add_stack(&d->stacks, s->frames, s->n_frames),
		.thread = thread,
		.cpu = s->has & PFM_SAMPLE_CPU ? s->cpu : UINT32_MAX,
		.event = s->event,
	};
	e->failed |= d->stacks.failed;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void put_threads(struct exporter *e, struct json *j)
{
	const struct page_data *d = e->state;

	put_begin(j, "threads", '[');
	for (size_t i = 0; i < d->n_threads; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, (int)d->threads[i].pid);
		put_int(j, NULL, (int)d->threads[i].tid);
		put_text(j, NULL, export_text(e->reader, d->threads[i].task));
		put_end(j, ']');
	}
	put_end(j, ']');
}

/* Numbers of functions in the page: those with names, then one for each mapping, which has all code
 * there that has no name. An address is no function: a program without symbols would have one for
 * each call. */
static uint32_t number_function(const struct export_reader *r, const struct export_location *l,
                                unsigned i)
{
	if (l == r->locations || l->has_name || i)
		return export_function_number(r, l, i);
	return (uint32_t)r->n_functions + l->mapping;
}

/* The child of node @at with @function. Code without names that calls code of the same file is one
 * box. */
static uint32_t add_function_node(const struct export_reader *r, struct stack_tree *tree,
                                  uint32_t at, uint32_t function)
{
	if (at && function >= r->n_functions && tree->nodes[at].location == function)
		return at;
	return export_add_node(tree, at, function);
}

/* Adds the functions of the stacks to @tree, in which a location is the number of a function. Sets
 * the node of each stack. */
static void add_function_nodes(struct exporter *e, struct stack_tree *tree, uint32_t *node)
{
	const struct page_data *d = e->state;
	const struct export_reader *r = e->reader;

	export_add_stack(tree, NULL, 0);
	for (size_t i = 1; i < d->stacks.n && !tree->failed; i++) {
		const struct export_location *l = &r->locations[d->stacks.nodes[i].location];

		node[i] = node[d->stacks.nodes[i].parent];
		for (unsigned k = 0; k < l->n_names; k++)
			node[i] = add_function_node(r, tree, node[i], number_function(r, l, k));
	}
	e->failed |= tree->failed;
}

static void put_function(struct json *j, const struct export_reader *r, size_t function)
{
	char name[NAME_LINE];

	put_begin(j, NULL, '[');
	if (function < r->n_functions) {
		put_text(j, NULL, export_text(r, r->functions[function].name));
		put_text(j, NULL, export_text(r, r->functions[function].object));
	} else {
		const char *file = export_text(r, r->mappings[function - r->n_functions].file);

		snprintf(name, sizeof(name), *file == '[' ? "%s" : "[%s]", base_name(file));
		put_text(j, NULL, name);
		put_text(j, NULL, file);
	}
	put_end(j, ']');
}

/* Puts the functions that nodes have. In @numbers, which has zeros, each gets its number there. */
static void put_functions(struct exporter *e, struct json *j, const struct stack_tree *tree,
                          uint32_t *numbers)
{
	const struct export_reader *r = e->reader;
	uint32_t n = 0;

	for (size_t i = 1; i < tree->n; i++)
		numbers[tree->nodes[i].location] = 1;
	put_begin(j, "functions", '[');
	for (size_t i = 0; i < r->n_functions + r->n_mappings; i++) {
		if (!numbers[i])
			continue;
		put_function(j, r, i);
		numbers[i] = n++;
	}
	put_end(j, ']');
}

/* Of each node but the root: how many numbers before it its parent has, and its function. */
static void put_nodes(struct exporter *e, struct json *j, const struct stack_tree *tree,
                      const uint32_t *numbers)
{
	struct packed_column up = { .n = 0 }, function = { .n = 0 };

	for (size_t i = 1; i < tree->n; i++) {
		pack_number(&up, i - tree->nodes[i].parent);
		pack_number(&function, numbers[tree->nodes[i].location]);
	}
	put_begin(j, "nodes", '{');
	put_count(j, "n", tree->n);
	put_packed(j, "up", &up);
	put_packed(j, "function", &function);
	put_end(j, '}');
	e->failed |= up.failed || function.failed;
}

/* The columns of the samples. */
enum { TIME, WEIGHT, NODE, THREAD, CPU, EVENT, LINE, COLUMNS };

/* Times are microseconds after the sample before; CPU and line 0 are unknown. */
static void pack_sample(struct packed_column *columns, const struct page_sample *s, uint64_t step,
                        uint32_t node, uint32_t line)
{
	pack_number(&columns[TIME], step);
	pack_number(&columns[WEIGHT], s->weight);
	pack_number(&columns[NODE], node);
	pack_number(&columns[THREAD], s->thread);
	pack_number(&columns[CPU], (uint32_t)(s->cpu + 1));
	pack_number(&columns[EVENT], s->event);
	pack_number(&columns[LINE], line);
}

static void put_samples(struct exporter *e, struct json *j, const uint32_t *node,
                        const uint32_t *lines)
{
	static const char *const names[] = { "time", "weight", "node", "thread",
		                             "cpu",  "event",  "line" };
	const struct page_data *d = e->state;
	struct packed_column columns[COLUMNS] = { { .n = 0 } };
	uint64_t before = d->n ? d->samples[0].time / 1000 : 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct page_sample *s = &d->samples[i];
		uint64_t time = s->time / 1000 > before ? s->time / 1000 : before;

		pack_sample(columns, s, time - before, node[s->stack],
		            lines[d->stacks.nodes[s->stack].location]);
		before = time;
	}
	put_begin(j, "samples", '{');
	put_count(j, "n", d->n);
	for (unsigned i = 0; i < COLUMNS; i++) {
		put_packed(j, names[i], &columns[i]);
		e->failed |= columns[i].failed;
	}
	put_end(j, '}');
}

/* The share of each location among the weights of its event, as the innermost one. */
static void add_shares(struct exporter *e, double *shares)
{
	const struct page_data *d = e->state;

	for (size_t i = 0; i < d->n; i++) {
		const struct page_sample *s = &d->samples[i];
		const struct export_event *event = &e->reader->events[s->event];

		if (event->weight && s->stack)
			shares[d->stacks.nodes[s->stack].location] +=
				(double)s->weight / (double)event->weight;
	}
}

/* Puts functions, nodes, code and samples, which refer to each other. */
static void put_numbers(struct exporter *e, struct json *j)
{
	const struct page_data *d = e->state;
	struct stack_tree tree = { .n = 0 };
	uint32_t *node = calloc(d->stacks.n + 1, sizeof(*node));
	uint32_t *lines = calloc(e->reader->n_locations + 1, sizeof(*lines));
	uint32_t *numbers =
		calloc(e->reader->n_functions + e->reader->n_mappings + 1, sizeof(*numbers));
	double *shares = calloc(e->reader->n_locations + 1, sizeof(*shares));

	e->failed |= !node || !lines || !numbers || !shares;
	if (!e->failed) {
		add_function_nodes(e, &tree, node);
		add_shares(e, shares);
		put_functions(e, j, &tree, numbers);
		put_nodes(e, j, &tree, numbers);
		e->failed |= !put_page_code(j, e->reader, shares, numbers, lines);
		put_samples(e, j, node, lines);
	}
	export_free_stacks(&tree);
	free(node);
	free(lines);
	free(numbers);
	free(shares);
}

static void put_about(struct exporter *e, struct json *j)
{
	const struct export_reader *r = e->reader;
	char text[NAME_LINE + 100], losses[LOSSES_MAX];

	snprintf(text, sizeof(text), "%s: %zu samples in %.3f s", base_name(r->path),
	         ((const struct page_data *)e->state)->n,
	         (double)time_span_length(&r->sampled) / 1e9);
	put_text(j, "about", text);
	if (r->waits)
		put_text(j, "waits", waits_describe_sources(r->session));
	put_text(j, "quality", get_profile_quality(&r->losses));
	put_text(j, "losses",
	         is_profile_complete(&r->losses) ? "" : print_profile_losses(&r->losses, losses));
}

/* The members of a recording, without the brackets around them. */
static void end_recording(struct exporter *e)
{
	struct json j = { .out = e->out };

	e->failed |= !export_number_functions(e->reader);
	if (e->failed)
		return;
	put_about(e, &j);
	export_put_events(&j, e->reader);
	put_threads(e, &j);
	put_numbers(e, &j);
	e->failed |=
		!put_page_metrics(&j, e->reader->path, ((const struct page_data *)e->state)->n);
}

static void free_data(struct exporter *e)
{
	struct page_data *d = e->state;

	export_free_stacks(&d->stacks);
	pfmi_base_free_hash(&d->thread_table);
	free(d->samples);
	free(d->threads);
}

const struct export_format page_data_format = {
	.name = "html",
	.state_size = sizeof(struct page_data),
	.add_sample = add_sample,
	.end = end_recording,
	.release = free_data,
};
