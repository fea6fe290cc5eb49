/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions, by elfutils' libdw. Its answers take tens of microseconds:
 * each address is asked for once. The library, which brings four others, is loaded with the first
 * file: every other use of the command would wait a millisecond for it. */
#include "lines.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbols.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct known_address {
	uint64_t address;
	struct source_spot spot;
};

struct lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias; /* from the file's own addresses to libdwfl's */
	struct known_address *known;
	size_t n, n_slots; /* room: a power of two, or 0 */
};

/* ---- the library ----------------------------------------------------------------------------- */

#define CALLS(CALL)                                                                                \
	CALL(dwarf_attr_integrate)                                                                 \
	CALL(dwarf_diename)                                                                        \
	CALL(dwarf_formstring)                                                                     \
	CALL(dwarf_getscopes)                                                                      \
	CALL(dwarf_getscopes_die)                                                                  \
	CALL(dwarf_tag)                                                                            \
	CALL(dwfl_begin)                                                                           \
	CALL(dwfl_build_id_find_elf)                                                               \
	CALL(dwfl_end)                                                                             \
	CALL(dwfl_lineinfo)                                                                        \
	CALL(dwfl_module_addrdie)                                                                  \
	CALL(dwfl_module_getelf)                                                                   \
	CALL(dwfl_module_getsrc)                                                                   \
	CALL(dwfl_offline_section_address)                                                         \
	CALL(dwfl_report_begin)                                                                    \
	CALL(dwfl_report_end)                                                                      \
	CALL(dwfl_report_offline)                                                                  \
	CALL(dwfl_standard_find_debuginfo)

/* Its functions. */
static struct {
#define MEMBER(NAME) __typeof__(NAME) *(NAME);
	CALLS(MEMBER)
#undef MEMBER
} dw;

static bool load_module(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL), *at;
	bool all = library;

#define FIND(NAME)                                                                                 \
	at = library ? dlsym(library, #NAME) : NULL;                                               \
	all = all && at;                                                                           \
	memcpy(&dw.NAME, &at, sizeof(at));
	CALLS(FIND)
#undef FIND
	return all;
}

bool lines_supported(void)
{
	static int loaded = -1;

	if (loaded < 0)
		loaded = load_module();
	return loaded;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool report_dwfl_module(struct lines *l, const char *path)
{
	struct stat st;
	int fd = symbols_file(path, &st);

	if (fd < 0)
		return false;
	dw.dwfl_report_begin(l->dwfl);
	l->module = dw.dwfl_report_offline(l->dwfl, path, path, fd);
	if (!l->module)
		close(fd); /* otherwise it is the library's now */
	dw.dwfl_report_end(l->dwfl, NULL, NULL);
	return l->module && dw.dwfl_module_getelf(l->module, &l->bias);
}

struct lines *lines_open(const char *path)
{
	static Dwfl_Callbacks callbacks;
	struct lines *l;

	if (!lines_supported())
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l) {
		symbols_starved();
		return NULL;
	}
	callbacks = (Dwfl_Callbacks){ .find_elf = dw.dwfl_build_id_find_elf,
		                      .find_debuginfo = dw.dwfl_standard_find_debuginfo,
		                      .section_address = dw.dwfl_offline_section_address };
	errno = 0;
	l->dwfl = dw.dwfl_begin(&callbacks);
	if (l->dwfl && report_dwfl_module(l, path))
		return l;
	if (errno == ENOMEM)
		symbols_starved();
	lines_close(l);
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
	if (l->dwfl)
		dw.dwfl_end(l->dwfl);
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
	Dwarf_Die *unit = dw.dwfl_module_addrdie(l->module, address, &bias), *text = NULL,
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
	Dwfl_Line *line = dw.dwfl_module_getsrc(l->module, address);
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
	k->spot.inlined = inlined_at(l, address + l->bias);
	k->spot.source = k->spot.inlined ? source_at(l, address + l->bias) : NULL;
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

bool lines_supported(void)
{
	return false;
}

struct lines *lines_open(const char *path)
{
	(void)path;
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
