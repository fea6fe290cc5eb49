/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"
#include "profile/regular_file.h"
#include "profile/dwarf_library.h"

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/symbols/debug_files.h"
#include "profile/symbols/debug_sources.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/symbols.h"

struct dwarf_library dw;

/* libdwfl refers to it while a file is open. Its callbacks get the path to the file alone. */
struct dwarf_search {
	Dwfl_Callbacks callbacks;
};

static bool resolve_functions(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL), *at;
	bool all = library;

#define FIND(NAME)                                                                                 \
	at = library ? dlsym(library, #NAME) : NULL;                                               \
	all = all && at;                                                                           \
	memcpy(&dw.NAME, &at, sizeof(at));
	DWARF_CALLS(FIND)
#undef FIND
	return all;
}

static bool is_loaded;

static void load_functions(void)
{
	is_loaded = resolve_functions();
}

bool dwarf_library_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_functions);
	return is_loaded;
}

/* libdwfl hands @sources to find_debug_file(). */
static bool report_module(struct dwarf_file *f, const char *path,
                          const struct symbol_sources *sources)
{
	const void **user;
	struct stat st;
	int fd = open_regular_file(path, &st);

	if (fd < 0)
		return false;
	dw.dwfl_report_begin(f->dwfl);
	f->module = dw.dwfl_report_offline(f->dwfl, path, path, fd);
	if (!f->module)
		close(fd); /* on success libdwfl owns the descriptor */
	else if (dw.dwfl_module_info(f->module, (void ***)&user, NULL, NULL, NULL, NULL, NULL,
	                             NULL))
		*user = sources;
	dw.dwfl_report_end(f->dwfl, NULL, NULL);
	return f->module && dw.dwfl_module_getelf(f->module, &f->bias);
}

/* ---- separate debug files -------------------------------------------------------------------- */

/* Opens the file at @path if it is of the build that is wanted. */
static int open_debug_file(const struct symbol_sources *sources, const char *path,
                           const struct debug_search *s, uint32_t checksum)
{
	struct stat st;
	int fd = *path ? trust_open(&sources->trust, path, &st, sources->messages) : -1;

	if (fd < 0 || file_symbols_is_build(fd, (uint64_t)st.st_size, path, s->id, s->n_id,
	                                    checksum, sources))
		return fd;
	close(fd);
	return -1;
}

/* Opens the file that debug files of several programs share; @name is in .gnu_debugaltlink. */
static int open_shared_file(const struct symbol_sources *sources, const char *name, char **found)
{
	struct stat st;
	int fd = *name == '/' ? trust_open(&sources->trust, name, &st, sources->messages) : -1;

	if (fd >= 0)
		*found = strdup(name);
	return fd;
}

/* As libdwfl's own function finds debug files, but among files that are regular and believed. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **found)
{
	const struct symbol_sources *sources = *user;
	struct debug_search s = { .path = file, .link = link };
	char path[4096 + 256];
	GElf_Addr at;
	int n, fd = -1;

	(void)name;
	(void)base;
	if (!file)
		return link ? open_shared_file(sources, link, found) : -1;
	s.folder = sources->debug_folder;
	s.store = sources->store;
	s.recording_store = sources->recording_store;
	n = dw.dwfl_module_build_id(module, &s.id, &at);
	s.n_id = n > 0 ? (size_t)n : 0;
	for (unsigned i = 0; fd < 0 && make_debug_file_path(&s, i, path, sizeof(path)); i++)
		if (strcmp(path, file) != 0)
			fd = open_debug_file(sources, path, &s, checksum);
	if (fd >= 0) {
		*found = strdup(path);
		return fd;
	}
	*found = fetch_debug_file(s.id, s.n_id, sources->messages);
	return *found ? open_debug_file(sources, *found, &s, checksum) : -1;
}

static struct dwarf_search *create_search(void)
{
	struct dwarf_search *s = calloc(1, sizeof(*s));

	if (s)
		s->callbacks =
			(Dwfl_Callbacks){ .find_elf = dw.dwfl_build_id_find_elf,
			                  .find_debuginfo = find_debug_file,
			                  .section_address = dw.dwfl_offline_section_address };
	return s;
}

bool dwarf_file_open(struct dwarf_file *f, const char *path, const struct symbol_sources *sources)
{
	*f = (struct dwarf_file){ .dwfl = NULL };
	if (!dwarf_library_load())
		return false;
	errno = 0;
	f->search = create_search();
	if (f->search)
		f->dwfl = dw.dwfl_begin(&f->search->callbacks);
	if (f->dwfl && report_module(f, path, sources))
		return true;
	if (errno == ENOMEM)
		report_missing_names(sources->messages);
	dwarf_file_close(f);
	return false;
}

static uint64_t get_file_size(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

uint64_t dwarf_file_size(const struct dwarf_file *f)
{
	const char *main_file = NULL, *debug_file = NULL;

	dw.dwfl_module_info(f->module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	return get_file_size(main_file) + get_file_size(debug_file);
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (f->dwfl)
		dw.dwfl_end(f->dwfl);
	f->dwfl = NULL;
	free(f->search);
	f->search = NULL;
}

#else

bool dwarf_library_load(void)
{
	return false;
}

#endif
