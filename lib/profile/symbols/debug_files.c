/* SPDX-License-Identifier: MIT */
/* Paths of separate debug files, in the order of debuggers. */
#include "profile/symbols/debug_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID_TEXT = 2 * 64 + 2 };

/* "ab/cdef...", empty for an id that is too short or too long. */
static void make_id_path(const uint8_t *id, size_t n, char text[ID_TEXT])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; n >= 2 && n <= 64 && i < n; i++)
		at += (size_t)snprintf(text + at, ID_TEXT - at, "%02x%s", id[i], i ? "" : "/");
}

/* Writes @format with two texts to @path; an empty path if it is too long. */
static void join_path(char *path, size_t size, const char *first, const char *between,
                      const char *second, const char *end)
{
	int n = snprintf(path, size, "%s%s%s%s", first, between, second, end);

	if (n < 0 || (size_t)n >= size)
		path[0] = '\0';
}

static const char *get_home_folder(void)
{
	const char *home = getenv("HOME");

	return home && *home == '/' ? home : NULL;
}

static void make_path_by_link(const struct debug_search *s, unsigned i, char *path, size_t size)
{
	const char *slash = strrchr(s->path, '/');
	char folder[4096];

	/* A link is the plain name of a file, so it may not contain a slash. */
	if (!s->link || !*s->link || strchr(s->link, '/') || !slash ||
	    (size_t)(slash - s->path) >= sizeof(folder))
		return;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - s->path), s->path);
	if (i < 3)
		join_path(path, size, folder, i == 1 ? "/" : "/.debug/", s->link, "");
	else if (strlen(s->folder) + strlen(folder) + 2 + strlen(s->link) < size)
		snprintf(path, size, "%s%s/%s", s->folder, folder, s->link);
}

bool make_debug_file_path(const struct debug_search *s, unsigned i, char *path, size_t size)
{
	char id[ID_TEXT];

	path[0] = '\0';
	make_id_path(s->id, s->n_id, id);
	switch (i) {
	case 0:
		if (*id)
			join_path(path, size, s->folder, "/.build-id/", id, ".debug");
		return true;
	case 1:
	case 2:
	case 3: make_path_by_link(s, i, path, size); return true;
	case 4:
		if (*id && get_home_folder())
			join_path(path, size, get_home_folder(), "/.debug/.build-id/", id,
			          "/debug");
		return true;
	case 5:
		if (s->store)
			make_stored_file_path(s->store, s->id, s->n_id, "debug", path, size);
		return true;
	case 6:
		if (s->recording_store)
			make_stored_file_path(s->recording_store, s->id, s->n_id, "debug", path,
			                      size);
		return true;
	default: return false;
	}
}

void make_stored_file_path(const char *folder, const uint8_t *id, size_t n_id, const char *kind,
                           char *path, size_t size)
{
	char text[ID_TEXT], end[16];

	path[0] = '\0';
	make_id_path(id, n_id, text);
	snprintf(end, sizeof(end), "/%s", kind);
	if (*text)
		join_path(path, size, folder, "/.build-id/", text, end);
}

void make_cached_file_path(const uint8_t *id, size_t n_id, char *path, size_t size)
{
	char folder[4096];

	path[0] = '\0';
	if (!get_home_folder())
		return;
	join_path(folder, sizeof(folder), get_home_folder(), "/", ".debug", "");
	make_stored_file_path(folder, id, n_id, "elf", path, size);
}
