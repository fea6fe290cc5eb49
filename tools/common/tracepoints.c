/* SPDX-License-Identifier: MIT */
/* Patterns of tracepoints in lists of events, and the fields of one for pfm show. */
#include "base/trace_line.h"
#include "common/pfm.h"

#include <stdlib.h>
#include <string.h>
#include <perfmon/aggregate.h>

enum { FORMAT_SIZE = 1 << 16 };

/* ---- patterns -------------------------------------------------------------------------------- */

struct pattern_visit {
	bool (*each)(void *arg, const char *name);
	void *arg;
	unsigned n_found;
};

static int count_match(void *arg, const char *name)
{
	struct pattern_visit *v = arg;

	v->n_found++;
	return !v->each(v->arg, name);
}

/* Length of "SUBSYSTEM:PATTERN" at the beginning of @text; 0 if it has no pattern. */
static size_t measure_pattern(const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len;

	if (!colon || colon == text || colon[1] == ':' || text[0] == '{' || strchr(text, '/') ||
	    !strpbrk(text, "*?["))
		return 0;
	len = (size_t)(colon + 1 - text);
	return len + strcspn(text + len, ":");
}

/* Calls @v->each with the tracepoints that match. Opens a context for this, because lists are
 * parsed before the command has one. */
static int visit_matches(const char *pattern, struct pattern_visit *v)
{
	pfm_ctx_t *ctx;
	int rc;

	if (pfm_open_context(&ctx, NULL, NULL))
		return 0;
	rc = pfm_visit_tracepoints(ctx, pattern, count_match, v);
	pfm_close_context(ctx);
	return rc;
}

unsigned match_tracepoints(const char *text, const char **rest,
                           bool (*each)(void *arg, const char *name), void *arg)
{
	struct pattern_visit v = { .each = each, .arg = arg };
	size_t len = measure_pattern(text);
	char *pattern = len ? strndup(text, len) : NULL;
	int rc;

	if (!pattern)
		return 0;
	*rest = text + len;
	rc = visit_matches(pattern, &v);
	if (rc < 0)
		fprintf(stderr,
		        "pfm: note: tracepoints cannot be looked up in /sys/kernel/tracing: %s\n",
		        pfm_result_text(rc));
	else if (!v.n_found)
		fprintf(stderr, "pfm: note: no tracepoint matches '%s'\n", pattern);
	free(pattern);
	return v.n_found;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool read_field(const char *line, struct trace_field *f)
{
	struct trace_line l;

	if (!base_parse_trace_line(line, &l))
		return false;
	snprintf(f->type, sizeof(f->type), "%.*s%.*s", (int)l.type.len, l.type.text,
	         (int)l.array.len, l.array.text);
	snprintf(f->name, sizeof(f->name), "%.*s", (int)l.name.len, l.name.text);
	f->offset = l.offset;
	f->size = l.size;
	f->is_signed = l.is_signed;
	return true;
}

void visit_trace_fields(const pfm_ctx_t *ctx, const char *text,
                        void (*each)(void *arg, const struct trace_field *field), void *arg)
{
	char *format = malloc(FORMAT_SIZE), *line, *rest = NULL;
	struct trace_field field;

	if (format && pfm_read_tracepoint_format(ctx, text, format, FORMAT_SIZE) > 0)
		for (line = strtok_r(format, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (read_field(line, &field))
				each(arg, &field);
	free(format);
}
