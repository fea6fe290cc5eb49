/* SPDX-License-Identifier: MIT */
/* The text of perf script: a line for each sample, a line for each of its frames, an empty line.
 * FlameGraph, speedscope, Firefox Profiler and Perfetto read it. */
#include "export/export.h"

#include <string.h>
#include "base/text_output.h"

static void begin_file(struct exporter *e)
{
	/* Readers take a file with this line for perf's text, whatever the first task is called. */
	fputs("# ========\n# exported by pfm export -f script\n", e->out);
	for (unsigned i = 0; i < e->reader->n_events; i++) {
		if (!export_has_column(&e->reader->events[i]))
			continue;
		fputs("# event : name = ", e->out);
		base_put_line(e->out, e->reader->events[i].name);
		putc('\n', e->out);
	}
	fputs("# ========\n#\n", e->out);
}

/* @text as one word: readers split lines at blanks. */
static void put_word(FILE *out, const char *text)
{
	char line[NAME_LINE];

	for (char *p = profile_format_line(text, line); *p; p++)
		if (*p == ' ')
			*p = '_';
	base_put_line(out, *line ? line : "_");
}

/* A line without an indent would begin a sample. A task's name may hold blanks, as with perf, but
 * must not begin with one. */
static void put_task(FILE *out, const char *text)
{
	char line[NAME_LINE], *p = profile_format_line(text, line);

	for (; *p == ' ' || *p == '#'; p++)
		*p = '_';
	base_put_line(out, *line ? line : "_");
}

static void put_frame(struct exporter *e, const struct export_location *l, unsigned i)
{
	char line[NAME_LINE];

	fprintf(e->out, "\t%16llx ", (unsigned long long)(l->address - l->is_caller));
	base_put_line(e->out, l->has_name || !l->address
	                              ? profile_format_line(export_name(e->reader, l, i), line)
	                              : "[unknown]");
	fputs(" (", e->out);
	if (i)
		fputs("inlined", e->out);
	else
		put_word(e->out, export_object(e->reader, l));
	fputs(")\n", e->out);
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	unsigned long long microseconds = s->time / 1000;

	put_task(e->out, export_text(e->reader, s->task));
	/* Unsigned: readers of this text take digits only. */
	fprintf(e->out, " %u/%u", s->pid, s->tid);
	if (s->has & PFM_SAMPLE_CPU)
		fprintf(e->out, " [%03u]", s->cpu);
	fprintf(e->out, " %5llu.%06llu: %10llu ", microseconds / 1000000, microseconds % 1000000,
	        (unsigned long long)s->weight);
	put_word(e->out, e->reader->events[s->event].name);
	fputs(": \n", e->out);
	for (unsigned i = 0; i < s->n_frames; i++) {
		const struct export_location *l = &e->reader->locations[s->frames[i]];

		for (unsigned k = l->n_names; k-- > 0;)
			put_frame(e, l, k);
	}
	putc('\n', e->out);
}

static void end_file(struct exporter *e)
{
	char text[LOSSES_MAX];

	fprintf(e->out, "# %s\n", print_profile_losses(&e->reader->losses, text));
}

const struct export_format export_script = {
	.name = "script",
	.summary =
		"the text of perf script, for FlameGraph, Firefox Profiler, speedscope, Perfetto",
	.suffixes = { ".script" },
	.has_process_addresses = true,
	.begin = begin_file,
	.add_sample = add_sample,
	.end = end_file,
};
