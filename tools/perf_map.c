/* SPDX-License-Identifier: MIT */
/* A line of a map is "START SIZE NAME": numbers in hexadecimal, with or without 0x, and a name that
 * goes to the end of the line. A compiler that uses an address again writes another line: the last
 * one holds. */
#include "perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbol_table.h"
#include "symbols.h"

#define MAP_ROOM ((off_t)1 << 30) /* bytes of the largest map */

struct perf_map {
	struct symbol_table table;
};

/* Names of others are not believed: any user may write to /tmp. */
static bool is_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid() || geteuid() == 0;
}

/* The open map, or NULL. */
static FILE *open_map(uint32_t pid)
{
	char path[64];
	struct stat st;
	FILE *f = NULL;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%lu.map", (unsigned long)pid);
	fd = symbols_file(path, &st);
	if (fd >= 0 && is_trusted(&st) && st.st_size <= MAP_ROOM)
		f = fdopen(fd, "r");
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* Adds the function of a line; lines that have another form are ignored. False without memory. */
static bool add_line(struct symbol_table *t, char *line, uint32_t number)
{
	char *end, *name;
	struct symbol s = { .rank = number };

	s.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return true;
	s.size = strtoull(end, &name, 16);
	if (name == end || *name != ' ' || !s.size)
		return true;
	name += strspn(name, " ");
	name[strcspn(name, "\n")] = '\0';
	if (!*name)
		return true;
	s.demangled = strndup(name, SYMBOL_ROOM - 1);
	s.name = s.demangled;
	if (s.name && symbol_table_add(t, &s))
		return true;
	free(s.demangled);
	return false;
}

static bool read_map(struct symbol_table *t, FILE *f)
{
	uint32_t number = 0;
	size_t room = 0;
	char *line = NULL;
	bool is_read = true;

	errno = 0;
	while (is_read && getline(&line, &room, f) > 0)
		is_read = add_line(t, line, number++);
	is_read = is_read && errno != ENOMEM;
	free(line);
	return is_read;
}

struct perf_map *perf_map_open(uint32_t pid)
{
	FILE *f = open_map(pid);
	struct perf_map *map = f ? calloc(1, sizeof(*map)) : NULL;
	bool is_read = map && read_map(&map->table, f);

	if (!f)
		return NULL;
	fclose(f);
	if (is_read) {
		symbol_table_sort(&map->table);
		return map;
	}
	symbols_starved();
	perf_map_close(map);
	return NULL;
}

void perf_map_close(struct perf_map *map)
{
	if (map)
		symbol_table_free(&map->table);
	free(map);
}

const char *perf_map_at(const struct perf_map *map, uint64_t address)
{
	const struct symbol *s = map ? symbol_table_find(&map->table, address) : NULL;

	return s ? s->name : NULL;
}
