/* SPDX-License-Identifier: MIT */
/* Patterns of tracepoints in lists of events, and the fields of one for pfm show. */
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
		        strerror(-rc));
	else if (!v.n_found)
		fprintf(stderr, "pfm: note: no tracepoint matches '%s'\n", pattern);
	free(pattern);
	return v.n_found;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Reads "field:TYPE NAME[16];	offset:8;	size:16;	signed:0;". */
static bool read_field(const char *line, struct trace_field *f)
{
	char *name, *bracket;
	int is_signed;

	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%d", f->type, &f->offset,
	           &f->size, &is_signed) != 4)
		return false;
	name = strrchr(f->type, ' ');
	if (!name)
		return false;
	*name++ = '\0';
	bracket = strchr(name, '[');
	snprintf(f->name, sizeof(f->name), "%.*s",
	         (int)(bracket ? bracket - name : (long)strlen(name)), name);
	if (bracket)
		strncat(f->type, bracket, sizeof(f->type) - strlen(f->type) - 1);
	f->is_signed = is_signed != 0;
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
