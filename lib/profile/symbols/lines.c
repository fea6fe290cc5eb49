/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions, by elfutils' libdw. Its answers take microseconds: each
 * address is asked for once. */
#include "profile/messages.h"
#include "profile/symbols/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile/dwarf_library.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/inline_index.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/unit_ranges.h"

bool lines_are_supported(void)
{
	return dwarf_library_load();
}

#ifdef HAVE_LIBDW

struct known_address {
	uint64_t address;
	struct source_spot spot;
};

struct lines {
	struct profile_messages *messages;
	struct dwarf_file file;
	struct unit_ranges units;
	struct inline_index inlined;
	struct known_address *addresses;
	size_t n_addresses, n_slots; /* n_slots: a power of two, or 0 */
};

/* ---- files ----------------------------------------------------------------------------------- */

/* Most installed files have no debugging information: their addresses need not be looked up. */
static bool has_debugging_information(struct lines *l)
{
	Dwarf_Addr bias;
	bool has_any;

	errno = 0;
	has_any = dw.dwfl_module_getdwarf(l->file.module, &bias);
	if (!has_any && errno == ENOMEM)
		report_missing_names(l->messages);
	return has_any;
}

struct lines *lines_open(const char *path, const struct symbol_sources *sources)
{
	struct lines *l;

	if (!lines_are_supported())
		return NULL;
	l = calloc(1, sizeof(*l));
	if (l)
		l->messages = sources->messages;
	else
		report_missing_names(sources->messages);
	if (l && dwarf_file_open(&l->file, path, sources) && has_debugging_information(l)) {
		l->inlined = inline_index_begin(path, dwarf_file_size(&l->file), l->messages);
		l->units = unit_ranges_begin(path, dwarf_file_size(&l->file), l->messages);
		return l;
	}
	lines_close(l);
	return NULL;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_slots; i++) {
		free(l->addresses[i].spot.source);
	}
	free(l->addresses);
	inline_index_free(&l->inlined);
	unit_ranges_free(&l->units);
	dwarf_file_close(&l->file);
	free(l);
}

/* ---- what libdw says ------------------------------------------------------------------------- */

static char *read_source_file(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Line *line = dw.dwarf_getsrc_die(unit, address);
	const char *file = line ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0;
	char text[4096];

	if (!file || dw.dwarf_lineno(line, &number) != 0)
		return strdup("");
	snprintf(text, sizeof(text), "%s:%d", file, number);
	return strdup(text);
}

/* The texts for @address, a file's own; NULL without memory. */
static struct source_spot read_source_spot(struct lines *l, Dwarf_Addr address)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit =
		unit_ranges_find(&l->units, l->file.module, address + l->file.bias, &bias);
	struct source_spot spot;

	if (!unit)
		return (struct source_spot){ .inlined = "", .source = strdup("") };
	spot.inlined = inline_index_names(&l->inlined, unit, address + l->file.bias - bias);
	spot.source = read_source_file(unit, address + l->file.bias - bias);
	return spot;
}

/* ---- addresses that were looked up before ---------------------------------------------------- */

static struct known_address *find_address_slot(struct known_address *known, size_t size,
                                               uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (size - 1);

	while (known[at].spot.source && known[at].address != address)
		at = (at + 1) & (size - 1);
	return &known[at];
}

static bool grow_table(struct lines *l)
{
	size_t size = l->n_slots ? l->n_slots * 2 : 256;
	struct known_address *known = calloc(size, sizeof(*known));

	if (!known) {
		report_missing_names(l->messages);
		return false;
	}
	for (size_t i = 0; i < l->n_slots; i++)
		if (l->addresses[i].spot.source)
			*find_address_slot(known, size, l->addresses[i].address) = l->addresses[i];
	free(l->addresses);
	l->addresses = known;
	l->n_slots = size;
	return true;
}

const struct source_spot *lines_find_spot(struct lines *l, uint64_t address)
{
	struct known_address *k;

	if (l->n_addresses * 2 >= l->n_slots && !grow_table(l))
		return NULL;
	k = find_address_slot(l->addresses, l->n_slots, address);
	if (k->spot.source)
		return &k->spot;
	k->address = address;
	errno = 0;
	k->spot = read_source_spot(l, address);
	if (errno == ENOMEM)
		report_missing_names(l->messages);
	if (k->spot.source && k->spot.inlined) {
		l->n_addresses++;
		return &k->spot;
	}
	free(k->spot.source);
	k->spot = (struct source_spot){ .source = NULL };
	return NULL;
}

#else

struct lines *lines_open(const char *path, const struct symbol_sources *sources)
{
	(void)path;
	(void)sources;
	return NULL;
}

void lines_close(struct lines *l)
{
	(void)l;
}

const struct source_spot *lines_find_spot(struct lines *l, uint64_t address)
{
	(void)l;
	(void)address;
	return NULL;
}

#endif
