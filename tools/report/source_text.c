/* SPDX-License-Identifier: MIT */
#include "report/source_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/pread.h"
#include "common/profile_messages.h"
#include "profile/budget.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/lines.h"
#include "profile/symbols/symbols.h"

#define TEXT_SIZE ((uint64_t)64 << 20) /* bytes of all source files together */

enum { FILES_MAX = 256, LINES_BEFORE = 5 };

/* A source file; without text if it cannot be read or is not believed. */
struct source_file {
	char *name;
	char *text; /* its lines end in zeros */
	char **lines;
	unsigned n_lines, last_line, max_shown; /* lines count from 1 */
};

struct source_text {
	struct symbol_sources sources;
	struct lines *lines;
	struct source_file *files;
	size_t n_files, capacity;
	struct budget bytes, numbers;
	bool failed; /* no memory */
};

struct source_text *source_text_open(const char *path, const char *recording,
                                     const char *debug_folder)
{
	struct source_text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->sources.debug_folder = debug_folder ? debug_folder : DEBUG_FOLDER;
	t->sources.trust = trust_recording(recording);
	t->sources.messages = get_profile_messages();
	t->bytes = (struct budget){ .messages = t->sources.messages,
		                    .file = path,
		                    .subject = "source lines",
		                    .unit = "bytes of source files",
		                    .limit = TEXT_SIZE };
	t->numbers = (struct budget){ .messages = t->sources.messages,
		                      .file = path,
		                      .subject = "source lines",
		                      .unit = "source files",
		                      .limit = FILES_MAX };
	t->lines = lines_open(path, &t->sources);
	if (t->lines)
		return t;
	free(t);
	return NULL;
}

void source_text_close(struct source_text *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_files; i++) {
		free(t->files[i].name);
		free(t->files[i].text);
		free(t->files[i].lines);
	}
	free(t->files);
	lines_close(t->lines);
	free(t);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Divides the @size bytes of text into lines. */
static void divide_text(struct source_text *t, struct source_file *f, size_t size)
{
	size_t capacity = 0;

	for (char *at = f->text, *end = at + size; at < end && !t->failed; at++) {
		f->lines =
			base_grow_list(f->lines, f->n_lines, &capacity, sizeof(char *), &t->failed);
		if (t->failed)
			return;
		f->lines[f->n_lines++] = at;
		at += strcspn(at, "\n");
		*at = '\0';
	}
}

static void read_text(struct source_text *t, struct source_file *f)
{
	struct stat st;
	int fd = trust_open(&t->sources.trust, f->name, &st, t->sources.messages);
	size_t size = fd >= 0 ? (size_t)st.st_size : 0;

	if (fd < 0)
		return;
	if (budget_charge(&t->bytes, (uint64_t)st.st_size))
		f->text = malloc(size + 1);
	if (f->text && base_pread(fd, f->text, size, 0)) {
		f->text[size] = '\0';
		divide_text(t, f, size);
	}
	close(fd);
}

/* The file called @name; NULL if there are too many, and without memory. */
static struct source_file *find_or_read_source_file(struct source_text *t, const char *name)
{
	struct source_file *f;

	for (size_t i = t->n_files; i-- > 0;)
		if (strcmp(t->files[i].name, name) == 0)
			return &t->files[i];
	if (!budget_charge(&t->numbers, 1))
		return NULL;
	t->files =
		base_grow_list(t->files, t->n_files, &t->capacity, sizeof(*t->files), &t->failed);
	if (t->failed)
		return NULL;
	f = &t->files[t->n_files];
	*f = (struct source_file){ .name = strdup(name) };
	t->failed |= !f->name;
	if (t->failed)
		return NULL;
	t->n_files++;
	read_text(t, f);
	return f;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The first line to show before line @line: those that were shown are not repeated. */
static unsigned choose_first_line(const struct source_file *f, unsigned line)
{
	unsigned first = line > LINES_BEFORE ? line - LINES_BEFORE : 1;

	if (f->max_shown < first)
		return first;
	return f->max_shown < line ? f->max_shown + 1 : line;
}

static bool show_lines(struct source_file *f, unsigned line,
                       bool (*add)(void *arg, const char *text, unsigned line), void *arg)
{
	unsigned first = choose_first_line(f, line);

	if (line == f->last_line)
		return true;
	f->last_line = line;
	if (line > f->max_shown)
		f->max_shown = line;
	for (unsigned i = first; i <= line && i <= f->n_lines; i++)
		if (!add(arg, f->lines[i - 1], i))
			return false;
	return true;
}

bool source_text_show(struct source_text *t, uint64_t address,
                      bool (*add)(void *arg, const char *text, unsigned line), void *arg)
{
	const struct source_spot *spot = lines_find_spot(t->lines, address);
	const char *colon = spot ? strrchr(spot->source, ':') : NULL;
	unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
	struct source_file *f;
	char *name;

	if (!line || line > UINT32_MAX)
		return true;
	name = strndup(spot->source, (size_t)(colon - spot->source));
	if (!name)
		return false;
	f = find_or_read_source_file(t, name);
	free(name);
	return !t->failed && (!f || show_lines(f, (unsigned)line, add, arg));
}
