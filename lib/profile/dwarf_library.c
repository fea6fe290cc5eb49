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
#include "profile/symbols/symbols.h"

struct dwarf_library dw;

/* libdwfl refers to it while a file is open */
struct dwarf_search {
	Dwfl_Callbacks callbacks;
	char *folders; /* points to list */
	char list[4096];
};

static bool find_functions(void)
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
	is_loaded = find_functions();
}

bool dwarf_library_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_functions);
	return is_loaded;
}

static bool report_module(struct dwarf_file *f, const char *path)
{
	struct stat st;
	int fd = open_regular_file(path, &st);

	if (fd < 0)
		return false;
	dw.dwfl_report_begin(f->dwfl);
	f->module = dw.dwfl_report_offline(f->dwfl, path, path, fd);
	if (!f->module)
		close(fd); /* on success libdwfl owns the descriptor */
	dw.dwfl_report_end(f->dwfl, NULL, NULL);
	return f->module && dw.dwfl_module_getelf(f->module, &f->bias);
}

static struct dwarf_search *create_search(const char *debug_folder)
{
	bool is_usual = strcmp(debug_folder, DEBUG_FOLDER) == 0;
	struct dwarf_search *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	/* Searches beside the file, in its folder .debug, and below the common folder. */
	snprintf(s->list, sizeof(s->list), ":.debug:%s", debug_folder);
	s->folders = s->list;
	s->callbacks = (Dwfl_Callbacks){ .debuginfo_path = is_usual ? NULL : &s->folders,
		                         .find_elf = dw.dwfl_build_id_find_elf,
		                         .find_debuginfo = dw.dwfl_standard_find_debuginfo,
		                         .section_address = dw.dwfl_offline_section_address };
	return s;
}

bool dwarf_file_open(struct dwarf_file *f, const char *path, const char *debug_folder)
{
	*f = (struct dwarf_file){ .dwfl = NULL };
	if (!dwarf_library_load())
		return false;
	errno = 0;
	f->search = create_search(debug_folder);
	if (f->search)
		f->dwfl = dw.dwfl_begin(&f->search->callbacks);
	if (f->dwfl && report_module(f, path))
		return true;
	if (errno == ENOMEM)
		report_missing_names();
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
