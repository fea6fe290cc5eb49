/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions, by elfutils' libdw. Its answers take tens of microseconds:
 * each address is asked for once. */
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_library.h"
#include "symbols.h"

bool lines_supported(void)
{
	return dwarf_library_load();
}

#ifdef HAVE_LIBDW

struct known_address {
	uint64_t address;
	struct source_spot spot;
};

struct lines {
	struct dwarf_file file;
	struct known_address *known;
	size_t n, n_slots; /* room: a power of two, or 0 */
};

/* ---- files ----------------------------------------------------------------------------------- */

struct lines *lines_open(const char *path, const char *debug_folder)
{
	struct lines *l;

	if (!lines_supported())
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		symbols_starved();
	if (l && dwarf_file_open(&l->file, path, debug_folder))
		return l;
	free(l);
	return NULL;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_slots; i++) {
		free(l->known[i].spot.inlined);
		free(l->known[i].spot.source);
	}
	free(l->known);
	dwarf_file_close(&l->file);
	free(l);
}

/* ---- what libdw says ------------------------------------------------------------------------- */

/* The function's name, as a symbol table would have it. */
static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *linkage =
		dw.dwarf_formstring(dw.dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return linkage ? linkage : dw.dwarf_diename(die);
}

/* The names of the inlined functions among @scopes, which go from the inside out. */
static char *join_names(Dwarf_Die *scopes, int n)
{
	char text[4096] = "";
	size_t at = 0, begin;

	for (int i = n - 1; i >= 0 && at + 1 < sizeof(text); i--) {
		const char *name = dw.dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine
		                           ? function_name(&scopes[i])
		                           : NULL;
		char *plain = name ? symbols_demangle(name) : NULL;

		begin = at + (at > 0);
		if (name)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ";" : "",
			                       plain ? plain : name);
		free(plain);
		at = at < sizeof(text) ? at : sizeof(text) - 1;
		for (size_t k = begin; k < at; k++)
			text[k] = strchr(";\n\t", text[k])
			                  ? ':'
			                  : text[k]; /* a name, not two, and in one line */
	}
	return strdup(text);
}

/* The scopes around an address are those of the text: from an inlined function they lead to where
 * it was written. Around its entry they are those of the code: they lead to where it was put. */
static char *inlined_at(const struct lines *l, Dwarf_Addr address)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dw.dwfl_module_addrdie(l->file.module, address, &bias), *text = NULL,
		  *code = NULL;
	int n = unit ? dw.dwarf_getscopes(unit, address - bias, &text) : 0;
	char *names;

	n = n > 0 ? dw.dwarf_getscopes_die(&text[0], &code) : 0;
	names = n > 0 ? join_names(code, n) : strdup("");
	free(text);
	free(code);
	return names;
}

static char *source_at(const struct lines *l, Dwarf_Addr address)
{
	Dwfl_Line *line = dw.dwfl_module_getsrc(l->file.module, address);
	int number = 0;
	const char *file = line ? dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	char text[4096];

	if (!file)
		return strdup("");
	snprintf(text, sizeof(text), "%s:%d", file, number);
	return strdup(text);
}

/* ---- what was asked before ------------------------------------------------------------------- */

static struct known_address *find_slot(struct known_address *known, size_t room, uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (room - 1);

	while (known[at].spot.source && known[at].address != address)
		at = (at + 1) & (room - 1);
	return &known[at];
}

static bool grow_table(struct lines *l)
{
	size_t room = l->n_slots ? l->n_slots * 2 : 256;
	struct known_address *known = calloc(room, sizeof(*known));

	if (!known) {
		symbols_starved();
		return false;
	}
	for (size_t i = 0; i < l->n_slots; i++)
		if (l->known[i].spot.source)
			*find_slot(known, room, l->known[i].address) = l->known[i];
	free(l->known);
	l->known = known;
	l->n_slots = room;
	return true;
}

const struct source_spot *lines_at(struct lines *l, uint64_t address)
{
	struct known_address *k;

	if (l->n * 2 >= l->n_slots && !grow_table(l))
		return NULL;
	k = find_slot(l->known, l->n_slots, address);
	if (k->spot.source)
		return &k->spot;
	k->address = address;
	errno = 0;
	k->spot.inlined = inlined_at(l, address + l->file.bias);
	k->spot.source = k->spot.inlined ? source_at(l, address + l->file.bias) : NULL;
	if (errno == ENOMEM)
		symbols_starved();
	if (k->spot.source) {
		l->n++;
		return &k->spot;
	}
	free(k->spot.inlined);
	k->spot.inlined = NULL;
	return NULL;
}

#else

struct lines *lines_open(const char *path, const char *debug_folder)
{
	(void)path;
	(void)debug_folder;
	return NULL;
}

void lines_close(struct lines *l)
{
	(void)l;
}

const struct source_spot *lines_at(struct lines *l, uint64_t address)
{
	(void)l;
	(void)address;
	return NULL;
}

#endif
