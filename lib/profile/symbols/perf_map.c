/* SPDX-License-Identifier: MIT */
/* A line of a map is "START SIZE NAME": numbers in hexadecimal, with or without 0x, and a name that
 * goes to the end of the line. A compiler that uses an address again writes another line: the last
 * one holds. */
#include "profile/symbols/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "profile/messages.h"
#include "profile/regular_file.h"
#include "profile/symbols/jitdump.h"
#include "profile/symbols/symbol_table.h"
#include "profile/symbols/symbols.h"
#include "profile/trust.h"

#define MAP_SIZE       ((off_t)1 << 30)    /* bytes of the largest map */
#define FUNCTIONS_SIZE ((uint64_t)1 << 28) /* bytes of the functions of one file */

/* Functions that one process compiled. */
struct perf_map {
	uint32_t pid;
	bool is_read;
	char *dump; /* path, or NULL */
	struct symbol_table table;
};

/* The file at @path, if it may name the code of process @pid; else NULL, with a message if it
 * exists. */
static FILE *open_trusted_file(const struct perf_maps *maps, uint32_t pid, const char *path)
{
	const struct trust running = trust_running();
	struct stat st;
	int fd = open_regular_file(path, &st);
	bool is_trusted = fd >= 0 && trust_owner_of_process(maps->trust ? maps->trust : &running,
	                                                    pid, st.st_uid);
	FILE *f = is_trusted && st.st_size <= MAP_SIZE ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !is_trusted)
		show_profile_message(maps->messages,
		                     "%s is ignored: it belongs to another user than process %lu",
		                     path, (unsigned long)pid);
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* The PID of a process in its own PID namespace; 0 if it is in the namespace of this process. */
static unsigned long read_inner_pid(uint32_t pid)
{
	static const char key[] = "NSpid:";
	char path[64], line[256], *end;
	unsigned long inner = 0, n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%lu/status", (unsigned long)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		for (const char *at = line + strlen(key);; at = end, n++) {
			unsigned long number = strtoul(at, &end, 10);

			if (end == at)
				break;
			inner = number;
		}
		break;
	}
	if (f)
		fclose(f);
	return n > 1 ? inner : 0;
}

enum { MAP_PATH = 4096 };

/* The open map, or NULL; its path in @path. */
static FILE *open_map(const struct perf_maps *maps, uint32_t pid, char path[MAP_PATH])
{
	unsigned long inner;
	FILE *f = NULL;

	if (maps->store && (size_t)snprintf(path, MAP_PATH, "%s/perf-%lu.map", maps->store,
	                                    (unsigned long)pid) < MAP_PATH)
		f = open_trusted_file(maps, pid, path);
	if (f)
		return f;
	snprintf(path, MAP_PATH, "/tmp/perf-%lu.map", (unsigned long)pid);
	f = open_trusted_file(maps, pid, path);
	inner = f ? 0 : read_inner_pid(pid);
	if (!inner)
		return f;
	snprintf(path, MAP_PATH, "/proc/%lu/root/tmp/perf-%lu.map", (unsigned long)pid, inner);
	return open_trusted_file(maps, pid, path);
}

/* Adds the function of a line; lines that have another form are ignored. False without memory. */
static bool add_line(struct symbol_table *t, char *line, uint32_t number, struct budget *budget)
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
	if (!*name || !budget_charge(budget, sizeof(s) + strnlen(name, SYMBOL_SIZE)))
		return true;
	s.demangled = strndup(name, SYMBOL_SIZE - 1);
	s.name = s.demangled;
	if (s.name && symbol_table_add(t, &s))
		return true;
	free(s.demangled);
	return false;
}

/* Adds the functions of the map @f. *@number grows by the number of its lines. */
static bool read_lines(struct symbol_table *t, FILE *f, uint32_t *number, struct budget *budget)
{
	size_t size = 0;
	char *line = NULL;
	bool is_read = true;

	errno = 0;
	while (is_read && !budget->is_exceeded && getline(&line, &size, f) > 0)
		is_read = add_line(t, line, (*number)++, budget);
	is_read = is_read && errno != ENOMEM;
	free(line);
	return is_read;
}

static struct budget limit_functions(const struct perf_maps *maps, const char *path)
{
	return (struct budget){ .messages = maps->messages,
		                .file = path,
		                .subject = "functions",
		                .unit = "bytes of functions",
		                .limit = FUNCTIONS_SIZE };
}

/* The open dump of a compiler, or NULL: that beside the recording, else where it was mapped. */
static FILE *open_dump(const struct perf_maps *maps, const struct perf_map *map)
{
	char path[MAP_PATH];
	FILE *f = NULL;

	if (map->dump && maps->store &&
	    (size_t)snprintf(path, MAP_PATH, "%s/jit-%lu.dump", maps->store,
	                     (unsigned long)map->pid) < MAP_PATH)
		f = open_trusted_file(maps, map->pid, path);
	return f || !map->dump ? f : open_trusted_file(maps, map->pid, map->dump);
}

/* Reads the map and the dump of a process, of which the dump ranks higher. */
static void read_map(const struct perf_maps *maps, struct perf_map *map)
{
	char path[MAP_PATH];
	FILE *lines = open_map(maps, map->pid, path), *dump = open_dump(maps, map);
	struct budget of_map = limit_functions(maps, path),
		      of_dump = limit_functions(maps, map->dump);
	uint32_t number = 0;
	bool is_read = (!lines || read_lines(&map->table, lines, &number, &of_map)) &&
	               (!dump || jitdump_read(&map->table, dump, number, &of_dump));

	if (lines)
		fclose(lines);
	if (dump)
		fclose(dump);
	map->is_read = true;
	if (!is_read) {
		report_missing_names(maps->messages);
		symbol_table_clear(&map->table);
	}
	symbol_table_sort(&map->table);
}

/* ---- all processes --------------------------------------------------------------------------- */

struct pid_search {
	struct perf_map *const *list;
	uint32_t pid;
};

static bool has_pid(const void *arg, uint32_t i)
{
	const struct pid_search *s = arg;

	return s->list[i]->pid == s->pid;
}

static struct perf_map *create_map(struct perf_maps *maps, uint32_t pid, uint64_t hash)
{
	struct perf_map *map = calloc(1, sizeof(*map));
	bool failed = false;

	maps->list = base_grow_list(maps->list, maps->n, &maps->capacity, sizeof(struct perf_map *),
	                            &failed);
	if (!map || failed || !pfmi_base_add_hash(&maps->table, hash, maps->n)) {
		free(map);
		report_missing_names(maps->messages);
		return NULL;
	}
	map->pid = pid;
	maps->list[maps->n++] = map;
	return map;
}

/* The map of process @pid, which is added if it is new. NULL without memory. */
static struct perf_map *find_or_add_map(struct perf_maps *maps, uint32_t pid)
{
	const struct pid_search search = { maps->list, pid };
	uint64_t hash = pfmi_base_hash_number(pid);
	uint32_t at = pfmi_base_find_hash(&maps->table, hash, has_pid, &search);

	return at == HASH_NOT_FOUND ? create_map(maps, pid, hash) : maps->list[at];
}

void perf_maps_note_mapping(struct perf_maps *maps, uint32_t pid, const char *path)
{
	struct perf_map *map = is_jitdump_path(path) ? find_or_add_map(maps, pid) : NULL;

	if (!map || map->dump)
		return;
	map->dump = strdup(path);
	if (!map->dump)
		report_missing_names(maps->messages);
}

const char *perf_maps_find(struct perf_maps *maps, uint32_t pid, uint64_t address)
{
	struct perf_map *map = find_or_add_map(maps, pid);
	const struct symbol *s;

	if (!map)
		return NULL;
	if (!map->is_read)
		read_map(maps, map);
	s = symbol_table_find(&map->table, address);
	return s ? s->name : NULL;
}

void perf_maps_free(struct perf_maps *maps)
{
	for (uint32_t i = 0; i < maps->n; i++) {
		symbol_table_free(&maps->list[i]->table);
		free(maps->list[i]->dump);
		free(maps->list[i]);
	}
	free(maps->list);
	pfmi_base_free_hash(&maps->table);
}
