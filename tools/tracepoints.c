/* SPDX-License-Identifier: MIT */
/* What the running kernel's tracefs says: which tracepoints there are, and what fields they have. */
#include "pfm.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static const char *const mounts[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* Calls @each for every tracepoint of the subsystem in folder @top; false when it had enough. */
static bool visit_folder(const char *top, const char *subsystem, bool (*each)(void *arg, const char *name), void *arg)
{
	char path[2 * PATH_ROOM], name[2 * TRACEPOINT_MAX];
	struct dirent **events;
	bool go_on = true;
	int n;

	snprintf(path, sizeof(path), "%s/%s", top, subsystem);
	n = scandir(path, &events, is_folder, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s:%s", subsystem, events[i]->d_name);
		free(events[i]);
		go_on = go_on && each(arg, name);
	}
	if (n >= 0)
		free(events);
	return go_on;
}

int visit_tracepoints(bool (*each)(void *arg, const char *name), void *arg)
{
	char top[PATH_ROOM];
	struct dirent **subsystems;
	bool go_on = true;
	int n = 0;

	for (size_t m = 0; m < sizeof(mounts) / sizeof(mounts[0]) && n <= 0; m++)
		n = scandir(make_machine_path(mounts[m], top, sizeof(top)), &subsystems, is_folder, alphasort);
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		go_on = go_on && visit_folder(top, subsystems[i]->d_name, each, arg);
		free(subsystems[i]);
	}
	free(subsystems);
	errno = ENOENT;
	return n ? 0 : -1;
}

/* ---- patterns ----------------------------------------------------------------------------------------------------------- */

struct matcher {
	const char *pattern;
	bool (*visit)(void *arg, const char *name);
	void *arg;
	unsigned n_found;
};

static bool match_name(void *arg, const char *name)
{
	struct matcher *m = arg;

	if (fnmatch(m->pattern, name, 0) != 0)
		return true;
	m->n_found++;
	return m->visit(m->arg, name);
}

/* Length of "SUBSYSTEM:PATTERN" at the beginning of @text; 0 if it is none. */
static size_t pattern_length(const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len;

	if (!colon || colon == text || colon[1] == ':' || text[0] == '{' || strchr(text, '/') || !strpbrk(text, "*?["))
		return 0;
	len = (size_t)(colon + 1 - text);
	return len + strcspn(text + len, ":");
}

unsigned match_tracepoints(const char *text, const char **rest, bool (*each)(void *arg, const char *name), void *arg)
{
	size_t len = pattern_length(text);
	char *pattern = len ? strndup(text, len) : NULL;
	struct matcher m = { .pattern = pattern, .visit = each, .arg = arg };

	if (!pattern)
		return 0;
	*rest = text + len;
	if (visit_tracepoints(match_name, &m) < 0)
		fprintf(stderr, "pfm: note: tracepoints cannot be looked up: %s: %s\n", mounts[0], strerror(errno));
	else if (!m.n_found)
		fprintf(stderr, "pfm: note: no tracepoint matches '%s'\n", pattern);
	free(pattern);
	return m.n_found;
}

/* ---- fields --------------------------------------------------------------------------------------------------------------- */

/* File 'format' of tracepoint "SUBSYSTEM:NAME" with anything behind it; NULL if it cannot be read. */
static FILE *open_format(const char *text)
{
	size_t subsystem = strcspn(text, ":"), name = text[subsystem] ? strcspn(text + subsystem + 1, ":,") : 0;
	char path[PATH_ROOM], below[2 * TRACEPOINT_MAX + 80];
	FILE *f = NULL;

	for (size_t m = 0; m < sizeof(mounts) / sizeof(mounts[0]) && name && !f; m++) {
		snprintf(below, sizeof(below), "%s/%.*s/%.*s/format", mounts[m], (int)subsystem, text, (int)name, text + subsystem + 1);
		f = fopen(make_machine_path(below, path, sizeof(path)), "r");
	}
	return f;
}

/* "field:TYPE NAME[16];	offset:8;	size:16;	signed:0;" */
static bool read_field(const char *line, struct trace_field *f)
{
	char *name, *bracket;
	int is_signed;

	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%d", f->type, &f->offset, &f->size, &is_signed) != 4)
		return false;
	name = strrchr(f->type, ' ');
	if (!name)
		return false;
	*name++ = '\0';
	bracket = strchr(name, '[');
	snprintf(f->name, sizeof(f->name), "%.*s", (int)(bracket ? bracket - name : (long)strlen(name)), name);
	if (bracket)
		strncat(f->type, bracket, sizeof(f->type) - strlen(f->type) - 1);
	f->is_signed = is_signed != 0;
	return true;
}

void visit_trace_fields(const char *text, void (*each)(void *arg, const struct trace_field *field), void *arg)
{
	struct trace_field field;
	char line[PATH_ROOM];
	FILE *f = open_format(text);

	while (f && fgets(line, sizeof(line), f))
		if (read_field(line, &field))
			each(arg, &field);
	if (f)
		fclose(f);
}
