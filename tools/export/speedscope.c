/* SPDX-License-Identifier: MIT */
/* The format of speedscope: a profile for each event of each thread, in the order of times. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

struct speedscope {
	struct timelines lines;
	uint32_t *path;
	size_t path_capacity;
};

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct speedscope *p = e->state;

	export_add_to_timeline(&p->lines, s);
	e->failed |= p->lines.failed;
}

/* A frame for each function: speedscope adds up what has one frame. */
static void put_frames(struct exporter *e, struct json *j)
{
	put_begin(j, "shared", '{');
	put_begin(j, "frames", '[');
	for (size_t i = 0; i < e->reader->n_functions; i++) {
		const struct export_function *f = &e->reader->functions[i];
		bool has_source = f->source.file;

		put_begin(j, NULL, '{');
		put_text(j, "name", export_text(e->reader, f->name));
		put_text(j, "file",
		         export_text(e->reader, has_source ? f->source.file : f->object));
		if (has_source && f->source.line)
			put_int(j, "line", f->source.line);
		put_end(j, '}');
	}
	put_end(j, ']');
	put_end(j, '}');
}

static void put_stack(struct exporter *e, struct json *j, uint32_t stack)
{
	struct speedscope *p = e->state;
	size_t n = 0;

	for (uint32_t at = stack; at && !e->failed; at = p->lines.stacks.nodes[at].parent) {
		p->path =
			base_grow_list(p->path, n, &p->path_capacity, sizeof(*p->path), &e->failed);
		if (!e->failed)
			p->path[n++] = p->lines.stacks.nodes[at].location;
	}
	put_begin(j, NULL, '[');
	while (n-- > 0) {
		const struct export_location *l = &e->reader->locations[p->path[n]];

		for (unsigned k = 0; k < l->n_names; k++)
			put_count(j, NULL, export_function_number(e->reader, l, k));
	}
	put_end(j, ']');
}

static void put_profile(struct exporter *e, struct json *j, const struct timeline *t)
{
	const struct export_event *event = &e->reader->events[t->event];
	uint64_t sum = 0;
	char name[512];

	snprintf(name, sizeof(name), "%s (%d/%d) %s", export_text(e->reader, t->task), (int)t->pid,
	         (int)t->tid, event->name);
	put_begin(j, NULL, '{');
	put_text(j, "type", "sampled");
	put_text(j, "name", name);
	put_text(j, "unit", event->is_clock ? "nanoseconds" : "none");
	put_int(j, "startValue", 0);
	put_begin(j, "samples", '[');
	for (size_t i = 0; i < t->n; i++)
		put_stack(e, j, t->samples[i].stack);
	put_end(j, ']');
	put_begin(j, "weights", '[');
	for (size_t i = 0; i < t->n; i++) {
		put_count(j, NULL, t->samples[i].weight);
		sum += t->samples[i].weight;
	}
	put_end(j, ']');
	put_count(j, "endValue", sum);
	put_end(j, '}');
}

/* The thread with most samples is shown first. */
static size_t choose_main_profile(const struct timelines *t)
{
	size_t best = 0;

	for (size_t i = 1; i < t->n; i++)
		if (t->list[i].n > t->list[best].n)
			best = i;
	return best;
}

static void end_file(struct exporter *e)
{
	struct speedscope *p = e->state;
	struct json j = { .out = e->out };
	char text[LOSSES_MAX];

	e->failed |= !export_number_functions(e->reader);
	if (e->failed)
		return;
	put_begin(&j, NULL, '{');
	put_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_text(&j, "exporter", "pfm@" PERFMON_VERSION);
	put_text(&j, "name", print_profile_losses(&e->reader->losses, text));
	put_count(&j, "activeProfileIndex", choose_main_profile(&p->lines));
	put_frames(e, &j);
	put_begin(&j, "profiles", '[');
	for (size_t i = 0; i < p->lines.n; i++) {
		putc('\n', e->out);
		put_profile(e, &j, &p->lines.list[i]);
	}
	put_end(&j, ']');
	put_begin(&j, "losses", '{');
	put_losses_json(&j, &e->reader->losses);
	put_end(&j, '}');
	put_end(&j, '}');
	put_line(&j);
}

static void free_state(struct exporter *e)
{
	struct speedscope *p = e->state;

	export_free_timelines(&p->lines);
	free(p->path);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.summary = "for speedscope.app",
	.suffixes = { ".speedscope.json", ".speedscope" },
	.state_size = sizeof(struct speedscope),
	.add_sample = add_sample,
	.end = end_file,
	.release = free_state,
};
