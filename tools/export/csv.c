/* SPDX-License-Identifier: MIT */
/* Comma-separated values: a row for each sample as it comes, then a row for each kind of loss. */
#include "export/export.h"

#include <stdlib.h>
#include "base/text_output.h"

struct csv {
	char *stack; /* of the sample that is written */
	size_t len;
};

static void begin_file(struct exporter *e)
{
	fputs("kind,time_ns,event,weight,pid,tid,cpu,task,address,function,object,file,line,"
	      "stack\n",
	      e->out);
}

static void put_column(FILE *out, const char *text)
{
	base_put_csv(out, text, ",");
	putc(',', out);
}

/* Names of all frames, the outermost first, with semicolons between. */
static void put_stack(struct exporter *e, const struct export_sample *s)
{
	struct csv *c = e->state;
	FILE *out = open_memstream(&c->stack, &c->len);
	char line[NAME_LINE];

	e->failed |= !out;
	if (!out)
		return;
	for (unsigned i = s->n_frames; i-- > 0;) {
		const struct export_location *l = &e->reader->locations[s->frames[i]];

		for (unsigned k = 0; k < l->n_names; k++)
			fprintf(out, "%s%s", i + 1 < s->n_frames || k ? ";" : "",
			        export_frame_text(export_name(e->reader, l, k), line));
	}
	if (fclose(out) || !c->stack)
		e->failed = true;
	else
		base_put_csv(e->out, c->stack, ",");
	free(c->stack);
	c->stack = NULL;
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	const struct export_location *l = &e->reader->locations[s->frames[0]];

	fprintf(e->out, "sample,%llu,", (unsigned long long)s->time);
	put_column(e->out, e->reader->events[s->event].name);
	fprintf(e->out, "%llu,%d,%d,", (unsigned long long)s->weight, (int)s->pid, (int)s->tid);
	if (s->has & PFM_SAMPLE_CPU)
		fprintf(e->out, "%u", s->cpu);
	putc(',', e->out);
	put_column(e->out, export_text(e->reader, s->task));
	fprintf(e->out, "0x%llx,", (unsigned long long)l->address);
	put_column(e->out, export_name(e->reader, l, l->n_names - 1));
	put_column(e->out, export_object(e->reader, l));
	put_column(e->out, export_text(e->reader, l->source.file));
	if (l->source.line)
		fprintf(e->out, "%u", l->source.line);
	putc(',', e->out);
	put_stack(e, s);
	putc('\n', e->out);
}

static void put_loss(struct exporter *e, const char *kind, uint64_t value)
{
	fprintf(e->out, "%s,,,%llu,,,,,,,,,,\n", kind, (unsigned long long)value);
}

static void end_file(struct exporter *e)
{
	const struct profile_losses *l = &e->reader->losses;

	put_loss(e, "lost_records", l->records);
	put_loss(e, "lost_samples", l->samples);
	put_loss(e, "throttled", l->throttled);
	put_loss(e, "samples_without_event", l->without_event);
	put_loss(e, "damaged", l->damaged);
}

const struct export_format export_csv = {
	.name = "csv",
	.summary = "a row for each sample, for tables and data frames",
	.suffixes = { ".csv" },
	.has_process_addresses = true,
	.state_size = sizeof(struct csv),
	.begin = begin_file,
	.add_sample = add_sample,
	.end = end_file,
};
