/* SPDX-License-Identifier: MIT */
/* Names of parallel regions of OpenMP. The program has named them for places,
 *
 *     parallel /opt/bin/solver+0x11c7
 *
 * a file and the offset in it of a call, or of the code of the region
 * (lib/region/adapters/place.c). They become
 *
 *     parallel assemble (solver.c:218)    with debugging information
 *     parallel assemble+0x57              with a symbol table
 *     parallel solver+0x11c7              with neither
 *
 * Further places of one line have numbers: "parallel assemble (solver.c:218) #2". */
#include "stat/region_places.h"
#include "common/pfm.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "parallel "

/* An entry of a tree. By place: the name of the place @key. By name: how many places have it. */
struct place_entry {
	char *name;
	unsigned n_places;
	char key[];
};

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct place_entry *)a)->key, ((const struct place_entry *)b)->key);
}

/* The entry of @key, which is added if it is missing. NULL without memory. */
static struct place_entry *find_entry(void **tree, const char *key)
{
	const size_t size = strlen(key) + 1;
	struct place_entry *made = calloc(1, sizeof(*made) + size), **found;

	if (!made)
		return NULL;
	memcpy(made->key, key, size);
	found = tsearch(made, tree, compare_entries);
	if (!found || *found != made)
		free(made);
	return found ? *found : NULL;
}

static void free_entry(void *entry)
{
	free(((struct place_entry *)entry)->name);
	free(entry);
}

/* Splits the name of a place. False for other names. */
static bool parse_place(const char *name, char *path, size_t size, uint64_t *offset)
{
	const char *plus = strrchr(name, '+');
	char *end;
	int n;

	if (strncmp(name, PREFIX "/", strlen(PREFIX "/")) != 0 || !plus ||
	    strncmp(plus, "+0x", 3) != 0)
		return false;
	name += strlen(PREFIX);
	n = snprintf(path, size, "%.*s", (int)(plus - name), name);
	*offset = strtoull(plus + 3, &end, 16);
	return n > 0 && (size_t)n < size && end > plus + 3 && !*end;
}

static bool is_older(const char *path, const struct stat *results)
{
	const struct timespec *now = &results->st_mtim;
	struct stat file;

	return stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
	       (file.st_ctim.tv_sec < now->tv_sec ||
	        (file.st_ctim.tv_sec == now->tv_sec && file.st_ctim.tv_nsec <= now->tv_nsec));
}

/* gcc makes a function of the code of a parallel region: "main._omp_fn.0". Returns its suffix, or
 * NULL for other functions. */
static const char *find_outlined_suffix(const char *function)
{
	const char *clone = strstr(function, " [clone ._omp_fn.");

	return clone ? clone : strstr(function, "._omp_fn.");
}

/* The name of a place; to be freed. NULL without memory. */
static char *describe_place(pfm_symbols_t *symbols, const char *path, uint64_t offset)
{
	pfm_symbol_t s = PFM_INIT(s);
	const char *function, *outlined;
	char *text;
	int n;

	if (!symbols || pfm_find_file_symbol(symbols, path, offset, &s)) {
		n = asprintf(&text, PREFIX "%s+0x%" PRIx64, base_name(path), offset);
		return n < 0 ? NULL : text;
	}
	function = strrchr(s.inlined, ';');
	function = function ? function + 1 : *s.inlined ? s.inlined : s.function;
	outlined = find_outlined_suffix(s.function);
	if (*s.source && outlined)
		n = asprintf(&text, PREFIX "%.*s (%s)", (int)(outlined - s.function), s.function,
		             base_name(s.source));
	else if (*s.source)
		n = asprintf(&text, PREFIX "%s (%s)", function, base_name(s.source));
	else
		n = asprintf(&text, PREFIX "%s+0x%" PRIx64, s.function, s.address - s.start);
	return n < 0 ? NULL : text;
}

/* The name of @place, different from those of other places. NULL without memory. */
static const char *find_name(struct region_places *places, const char *place, const char *path,
                             uint64_t offset, const struct stat *results)
{
	struct place_entry *known = find_entry(&places->by_place, place), *same;
	char *text;

	if (!known || known->name)
		return known ? known->name : NULL;
	if (!places->symbols && pfm_open_symbols(&places->symbols, NULL))
		return NULL;
	text = describe_place(is_older(path, results) ? places->symbols : NULL, path, offset);
	same = text ? find_entry(&places->by_name, text) : NULL;
	if (same && ++same->n_places > 1) {
		if (asprintf(&known->name, "%s #%u", text, same->n_places) < 0)
			known->name = NULL;
		free(text);
	} else {
		known->name = text;
	}
	return known->name;
}

void name_region_places(struct region_places *places, pfm_region_results_t *results, int fd)
{
	pfm_region_info_t info = PFM_INIT(info);
	char path[4096];
	struct stat st;
	uint64_t offset;

	if (fstat(fd, &st) != 0)
		return;
	for (unsigned i = 0; pfm_describe_region(results, i, &info) == PFMLIB_SUCCESS; i++) {
		const char *name = parse_place(info.region, path, sizeof(path), &offset)
		                           ? find_name(places, info.region, path, offset, &st)
		                           : NULL;

		if (name)
			pfm_rename_region(results, i, name);
	}
}

void free_region_places(struct region_places *places)
{
	tdestroy(places->by_place, free_entry);
	tdestroy(places->by_name, free_entry);
	pfm_close_symbols(places->symbols);
	*places = (struct region_places){ 0 };
}
