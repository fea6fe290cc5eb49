/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"
#include "profile/regular_file.h"
#include "profile/dwarf_library.h"

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/symbols.h"

struct dwarf_library dw;

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

bool dwarf_library_load(void)
{
	static int loaded = -1;

	if (loaded < 0)
		loaded = find_functions();
	return loaded;
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
		close(fd); /* otherwise it is the library's now */
	dw.dwfl_report_end(f->dwfl, NULL, NULL);
	return f->module && dw.dwfl_module_getelf(f->module, &f->bias);
}

bool dwarf_file_open(struct dwarf_file *f, const char *path, const char *debug_folder)
{
	static Dwfl_Callbacks callbacks;
	static char list[4096], *folders = list;

	*f = (struct dwarf_file){ .dwfl = NULL };
	if (!dwarf_library_load())
		return false;
	/* Beside the file, in its folder .debug, and below the folder of all. */
	snprintf(list, sizeof(list), ":.debug:%s", debug_folder);
	callbacks =
		(Dwfl_Callbacks){ .debuginfo_path =
		                          strcmp(debug_folder, DEBUG_FOLDER) == 0 ? NULL : &folders,
		                  .find_elf = dw.dwfl_build_id_find_elf,
		                  .find_debuginfo = dw.dwfl_standard_find_debuginfo,
		                  .section_address = dw.dwfl_offline_section_address };
	errno = 0;
	f->dwfl = dw.dwfl_begin(&callbacks);
	if (f->dwfl && report_module(f, path))
		return true;
	if (errno == ENOMEM)
		report_missing_names();
	dwarf_file_close(f);
	return false;
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (f->dwfl)
		dw.dwfl_end(f->dwfl);
	f->dwfl = NULL;
}

#else

bool dwarf_library_load(void)
{
	return false;
}

#endif
