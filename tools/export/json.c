/* SPDX-License-Identifier: MIT */
/* One JSON object: the events, each sample in a line of its own, and the losses. */
#include "export/export.h"

void export_put_events(struct json *j, const struct export_reader *r)
{
	put_begin(j, "events", '[');
	for (unsigned i = 0; i < r->n_events; i++) {
		put_begin(j, NULL, '{');
		put_text(j, "name", r->events[i].name);
		put_text(j, "unit", export_unit(&r->events[i]));
		put_end(j, '}');
	}
	put_end(j, ']');
}

static void begin_file(struct exporter *e)
{
	struct json *j = e->state;

	j->out = e->out;
	put_begin(j, NULL, '{');
	put_text(j, "format", "pfm-samples");
	put_int(j, "version", 1);
	export_put_events(j, e->reader);
	put_begin(j, "samples", '[');
}

static void put_frame(struct exporter *e, const struct export_location *l, unsigned i)
{
	struct json *j = e->state;

	put_begin(j, NULL, '{');
	put_hex(j, "address", l->address);
	put_text(j, "function", export_name(e->reader, l, i));
	if (i)
		put_bool(j, "inlined", true);
	put_text(j, "object", export_object(e->reader, l));
	if (l->mode == PFM_MISC_KERNEL)
		put_bool(j, "kernel", true);
	if (l->source.line && i + 1 == l->n_names) {
		put_text(j, "file", export_text(e->reader, l->source.file));
		put_int(j, "line", l->source.line);
	}
	put_end(j, '}');
}

/* Frames are in the order of the chain: the innermost first. */
static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct json *j = e->state;

	putc('\n', e->out);
	put_begin(j, NULL, '{');
	put_count(j, "time", s->time);
	put_text(j, "event", e->reader->events[s->event].name);
	put_count(j, "weight", s->weight);
	put_int(j, "pid", (int32_t)s->pid);
	put_int(j, "tid", (int32_t)s->tid);
	if (s->has & PFM_SAMPLE_CPU)
		put_int(j, "cpu", s->cpu);
	put_text(j, "task", export_text(e->reader, s->task));
	put_begin(j, "frames", '[');
	for (unsigned i = 0; i < s->n_frames; i++) {
		const struct export_location *l = &e->reader->locations[s->frames[i]];

		for (unsigned k = l->n_names; k-- > 0;)
			put_frame(e, l, k);
	}
	put_end(j, ']');
	put_end(j, '}');
}

static void end_file(struct exporter *e)
{
	struct json *j = e->state;

	putc('\n', e->out);
	put_end(j, ']');
	put_begin(j, "losses", '{');
	put_losses_json(j, &e->reader->losses);
	put_end(j, '}');
	put_end(j, '}');
	put_line(j);
}

const struct export_format export_json = {
	.name = "json",
	.summary = "one object with all samples, in the order of their times",
	.suffixes = { ".json" },
	.has_process_addresses = true,
	.state_size = sizeof(struct json),
	.begin = begin_file,
	.add_sample = add_sample,
	.end = end_file,
};
