/* SPDX-License-Identifier: MIT */
/* pfm show: an event that fields select and no list has, and the fields of a tracepoint. */
#include "common/pfm.h"
#include "show/show.h"

#include <string.h>

static const char *describe_unlisted_event(const char *pmu)
{
	if (strcmp(pmu, "tracepoint") == 0)
		return "A tracepoint of the running kernel.";
	if (strcmp(pmu, "breakpoint") == 0)
		return "Accesses to memory at an address.";
	return "Fields that no event of its list has.";
}

static void print_trace_field(void *arg, const struct trace_field *f)
{
	unsigned *n = arg;

	if (!(*n)++)
		show_heading("Fields, for --filter and in samples");
	printf("  %s%-24s%s %s, %u byte%s\n", term_colour_begin(stdout, CYAN), f->name,
	       term_colour_end(stdout), f->type, f->size, f->size == 1 ? "" : "s");
}

void show_unlisted_as_text(const struct shower *s, const char *text, const perfmon_pmu_info_t *pmu)
{
	unsigned fields = 0;

	printf("%s%s%s\n  %s\n\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout),
	       describe_unlisted_event(pmu->name));
	show_line("processor", pmu->name);
	show_line("origin", pmu->origin);
	visit_trace_fields(s->ctx, text, print_trace_field, &fields);
	print_registers(s, text);
	print_spellings(s, text);
}

static void put_trace_field(void *arg, const struct trace_field *f)
{
	struct json *j = arg;

	put_begin(j, NULL, '{');
	put_text(j, "name", f->name);
	put_text(j, "type", f->type);
	put_int(j, "offset", f->offset);
	put_int(j, "size", f->size);
	put_bool(j, "signed", f->is_signed);
	put_end(j, '}');
}

void show_unlisted_as_json(struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                           const pfm_encoding_t *enc)
{
	struct json *j = &s->out;

	put_begin(j, NULL, '{');
	put_text(j, "input", text);
	put_text(j, "pmu", pmu->name);
	put_text(j, "desc", describe_unlisted_event(pmu->name));
	put_text(j, "origin", pmu->origin);
	put_counter_numbers(j, "counters", enc->counters);
	put_begin(j, "fields", '[');
	visit_trace_fields(s->ctx, text, put_trace_field, j);
	put_end(j, ']');
	put_attr(j, "perf", &enc->attr);
	put_spellings(s, text);
	put_end(j, '}');
	put_line(j);
}
