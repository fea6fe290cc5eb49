/* SPDX-License-Identifier: MIT */
/* elfutils' libdw, which needs four other libraries. Loading takes a millisecond, so it is loaded
 * with the first file that needs it. */
#ifndef PFM_DWARF_LIBRARY_H
#define PFM_DWARF_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

/* Loads the library. False if it is missing, or the command was built without it. */
bool dwarf_library_load(void);

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define DWARF_CALLS(CALL)                                                                          \
	CALL(dwarf_attr_integrate)                                                                 \
	CALL(dwarf_cfi_addrframe)                                                                  \
	CALL(dwarf_child)                                                                          \
	CALL(dwarf_diename)                                                                        \
	CALL(dwarf_formstring)                                                                     \
	CALL(dwarf_frame_cfa)                                                                      \
	CALL(dwarf_frame_info)                                                                     \
	CALL(dwarf_frame_register)                                                                 \
	CALL(dwarf_getsrc_die)                                                                     \
	CALL(dwarf_lineno)                                                                         \
	CALL(dwarf_linesrc)                                                                        \
	CALL(dwarf_ranges)                                                                         \
	CALL(dwarf_siblingof)                                                                      \
	CALL(dwarf_tag)                                                                            \
	CALL(dwfl_begin)                                                                           \
	CALL(dwfl_build_id_find_elf)                                                               \
	CALL(dwfl_module_build_id)                                                                 \
	CALL(dwfl_end)                                                                             \
	CALL(dwfl_module_addrdie)                                                                  \
	CALL(dwfl_module_dwarf_cfi)                                                                \
	CALL(dwfl_module_eh_cfi)                                                                   \
	CALL(dwfl_module_getdwarf)                                                                 \
	CALL(dwfl_module_getelf)                                                                   \
	CALL(dwfl_module_info)                                                                     \
	CALL(dwfl_module_nextcu)                                                                   \
	CALL(dwfl_offline_section_address)                                                         \
	CALL(dwfl_report_begin)                                                                    \
	CALL(dwfl_report_end)                                                                      \
	CALL(dwfl_report_offline)

/* Functions of the library; valid after dwarf_library_load() returned true. */
struct dwarf_library {
#define DWARF_MEMBER(NAME) __typeof__(NAME) *(NAME);
	DWARF_CALLS(DWARF_MEMBER)
#undef DWARF_MEMBER
};

extern struct dwarf_library dw;

struct symbol_sources;
struct dwarf_search; /* where libdwfl looks for debugging information */

/* A file that libdwfl has opened. */
struct dwarf_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias; /* from the file's own addresses to libdwfl's */
	struct dwarf_search *search;
};

/* Opens the file at @path, whose debugging information may be in a file of @sources. False if it
 * cannot be read; sources->messages tells of lack of memory. */
bool dwarf_file_open(struct dwarf_file *f, const char *path, const struct symbol_sources *sources);
/* Bytes of the file and of its separate debug file, once debugging information was read. */
uint64_t dwarf_file_size(const struct dwarf_file *f);
void dwarf_file_close(struct dwarf_file *f);
#endif

#endif
