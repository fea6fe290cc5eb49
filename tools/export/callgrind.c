/* SPDX-License-Identifier: MIT */
/* The format of callgrind, for KCachegrind and callgrind_annotate: the weight of each function by
 * itself, and of each call with all that it called. A call's count is its number of samples. */
#include "export/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/text_output.h"

/* The state of a function of the reader. */
struct callgrind_function {
	uint32_t last_row; /* 1 + the row whose stack it was last seen in */
	bool is_named;     /* its names were written */
};

/* A frame of the stack that is added up. */
struct callgrind_frame {
	uint32_t function, line;
};

/* Rows: stack is the function, pid is 1 + the function that it calls or 0, task is the line. */
struct callgrind {
	struct export_rows costs;
	struct callgrind_function *functions;
	struct callgrind_frame *frames;
	size_t n_frames, frames_capacity;
	bool *is_object_named, *is_file_named; /* of texts */
};

/* ---- adding up ------------------------------------------------------------------------------- */

/* Adds the frames of a location, the innermost first. Of an outer function the line is unknown. */
static void add_frames(struct exporter *e, const struct export_location *l)
{
	struct callgrind *c = e->state;

	for (unsigned k = l->n_names; k-- > 0 && !e->failed;) {
		bool is_innermost = k + 1 == l->n_names;
		uint32_t function = export_function_number(e->reader, l, k);

		c->frames = base_grow_list(c->frames, c->n_frames, &c->frames_capacity,
		                           sizeof(*c->frames), &e->failed);
		if (!e->failed)
			c->frames[c->n_frames++] =
				(struct callgrind_frame){ function,
				                          is_innermost ? l->source.line : 0 };
	}
}

/* True if a frame further in than @i is the same call: recursion counts once. */
static bool is_repeated_call(const struct callgrind *c, size_t i)
{
	for (size_t k = 1; k < i; k++)
		if (c->frames[k].function == c->frames[i].function &&
		    c->frames[k - 1].function == c->frames[i - 1].function)
			return true;
	return false;
}

static void add_calls(struct exporter *e, const struct export_row *row, uint32_t row_number)
{
	struct callgrind *c = e->state;
	struct export_row cost = *row;

	for (size_t i = 1; i < c->n_frames; i++) {
		struct callgrind_function *caller = &c->functions[c->frames[i].function];
		bool may_repeat = caller->last_row == row_number;

		caller->last_row = row_number;
		if (may_repeat && is_repeated_call(c, i))
			continue;
		cost.stack = c->frames[i].function;
		cost.pid = c->frames[i - 1].function + 1;
		cost.task = c->frames[i].line;
		export_add_row(&c->costs, &cost);
	}
}

static void add_row(struct exporter *e, uint32_t number)
{
	struct callgrind *c = e->state;
	const struct export_row *row = &e->rows.list[number];
	const struct whole_stack *stack = &e->stacks.list[row->stack];
	struct export_row cost = *row;

	c->n_frames = 0;
	for (uint32_t i = 0; i < stack->n && !e->failed; i++)
		add_frames(e, &e->reader->locations[e->stacks.frames[stack->first + i]]);
	if (e->failed || !c->n_frames)
		return;
	cost.stack = c->frames[0].function;
	cost.task = c->frames[0].line;
	export_add_row(&c->costs, &cost);
	add_calls(e, row, number + 1);
	e->failed |= c->costs.failed;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b)
{
	const struct export_row *x = a, *y = b;
	const uint32_t keys[][2] = { { x->stack, y->stack },
		                     { x->pid, y->pid },
		                     { x->task, y->task },
		                     { x->event, y->event } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

/* Events are called by a word of letters, digits and underscores. */
static void make_event_word(const struct export_event *event, char word[64])
{
	snprintf(word, 64, "%s%.60s", isalpha((unsigned char)event->name[0]) ? "" : "E_",
	         event->name);
	for (char *p = word; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
}

/* Writes the word of event @i, with its number if another event has the same word. */
static void put_event_word(struct exporter *e, unsigned i)
{
	const struct export_event *events = e->reader->events;
	char word[64], other[64];
	bool is_unique = true;

	make_event_word(&events[i], word);
	for (unsigned k = 0; k < i && is_unique; k++) {
		make_event_word(&events[k], other);
		is_unique = strcmp(word, other) != 0;
	}
	fputs(word, e->out);
	if (!is_unique)
		fprintf(e->out, "_%u", i);
}

/* The title of an event is its name as it is. */
static void put_events(struct exporter *e)
{
	char line[NAME_LINE];

	for (unsigned i = 0; i < e->reader->n_events; i++)
		if (export_has_column(&e->reader->events[i])) {
			fputs("event: ", e->out);
			put_event_word(e, i);
			fputs(" : ", e->out);
			base_put_line(e->out, profile_format_line(e->reader->events[i].name, line));
			putc('\n', e->out);
		}
	fputs("events: Samples", e->out);
	for (unsigned i = 0; i < e->reader->n_events; i++)
		if (export_has_column(&e->reader->events[i])) {
			putc(' ', e->out);
			put_event_word(e, i);
		}
	putc('\n', e->out);
}

/* "KEY=(ID) NAME", or without the name once it is known. Ids begin with 1. */
static void put_name(struct exporter *e, const char *key, uint32_t id, const char *name,
                     bool *is_named)
{
	char line[NAME_LINE];

	fprintf(e->out, "%s=(%u)", key, id + 1);
	if (!*is_named) {
		putc(' ', e->out);
		base_put_line(e->out, *name ? profile_format_line(name, line) : "???");
	}
	putc('\n', e->out);
	*is_named = true;
}

static void put_function(struct exporter *e, uint32_t number, const char *object_key,
                         const char *file_key, const char *function_key)
{
	struct callgrind *c = e->state;
	const struct export_function *f = &e->reader->functions[number];

	put_name(e, object_key, f->object, export_text(e->reader, f->object),
	         &c->is_object_named[f->object]);
	put_name(e, file_key, f->source.file, export_text(e->reader, f->source.file),
	         &c->is_file_named[f->source.file]);
	put_name(e, function_key, number, export_text(e->reader, f->name),
	         &c->functions[number].is_named);
}

/* A line with the costs of rows that differ in their event alone. Returns how many there are. */
static size_t put_costs(struct exporter *e, const struct export_row *row, size_t n)
{
	uint64_t samples = 0;
	size_t k = 0, used = 0;

	while (k < n && row[k].stack == row->stack && row[k].pid == row->pid &&
	       row[k].task == row->task)
		samples += row[k++].samples;
	if (row->pid)
		fprintf(e->out, "calls=%llu 0\n", (unsigned long long)samples);
	fprintf(e->out, "%u %llu", row->task, (unsigned long long)samples);
	for (unsigned i = 0; i < e->reader->n_events; i++) {
		bool has_cost = used < k && row[used].event == i;

		if (export_has_column(&e->reader->events[i]))
			fprintf(e->out, " %llu",
			        has_cost ? (unsigned long long)row[used].weight : 0);
		used += has_cost;
	}
	putc('\n', e->out);
	return k;
}

static void put_all_costs(struct exporter *e)
{
	struct callgrind *c = e->state;
	const struct export_row *rows = c->costs.list;

	for (size_t i = 0, n = 0; i < c->costs.n; i += n) {
		if (i == 0 || rows[i].stack != rows[i - 1].stack) {
			putc('\n', e->out);
			put_function(e, rows[i].stack, "ob", "fl", "fn");
		}
		if (rows[i].pid)
			put_function(e, rows[i].pid - 1, "cob", "cfi", "cfn");
		n = put_costs(e, &rows[i], c->costs.n - i);
	}
}

static void put_totals(struct exporter *e)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i < e->reader->n_events; i++)
		samples += e->reader->events[i].samples;
	fprintf(e->out, "summary: %llu", (unsigned long long)samples);
	for (unsigned i = 0; i < e->reader->n_events; i++)
		if (export_has_column(&e->reader->events[i]))
			fprintf(e->out, " %llu", (unsigned long long)e->reader->events[i].weight);
	putc('\n', e->out);
}

static void end_file(struct exporter *e)
{
	struct callgrind *c = e->state;
	char text[LOSSES_MAX];

	e->failed |= !export_number_functions(e->reader);
	c->functions = calloc(e->reader->n_functions + 1, sizeof(*c->functions));
	e->failed |= !c->functions;
	for (size_t i = 0; i < e->rows.n && !e->failed; i++)
		add_row(e, (uint32_t)i);
	c->is_object_named = calloc(e->reader->texts.n, sizeof(bool));
	c->is_file_named = calloc(e->reader->texts.n, sizeof(bool));
	e->failed |= !c->is_object_named || !c->is_file_named;
	if (e->failed)
		return;
	if (c->costs.n)
		qsort(c->costs.list, c->costs.n, sizeof(*c->costs.list), compare_costs);
	fputs("# callgrind format\nversion: 1\ncreator: pfm " PERFMON_VERSION "\n", e->out);
	fprintf(e->out, "desc: Recording: %s\n", print_profile_losses(&e->reader->losses, text));
	fputs("positions: line\n", e->out);
	put_events(e);
	put_totals(e);
	put_all_costs(e);
}

static void free_state(struct exporter *e)
{
	struct callgrind *c = e->state;

	export_free_rows(&c->costs);
	free(c->functions);
	free(c->frames);
	free(c->is_object_named);
	free(c->is_file_named);
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.summary = "for KCachegrind and callgrind_annotate",
	.suffixes = { ".callgrind" },
	.state_size = sizeof(struct callgrind),
	.row_keys = ROW_EVENT,
	.end = end_file,
	.release = free_state,
};
