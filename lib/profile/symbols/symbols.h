/* SPDX-License-Identifier: MIT */
/* Names of functions, from the symbol tables of programs and libraries, and of the kernel. */
#ifndef PFM_SYMBOLS_H
#define PFM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profile/unwind/frame_rules.h"

#define SYMBOL_SIZE 4096 /* bytes of the longest name, its end included: what is longer is cut */

/* Of the folder beside a recording, in which files are by build id. */
#define STORE_SUFFIX ".files"
/* In that folder: the functions of the kernel, as /proc/kallsyms has them. */
#define KERNEL_LIST_NAME "kallsyms"

#define DEBUG_FOLDER "/usr/lib/debug" /* of separate debug files, if no other is given */

struct object;
struct profile_messages;
struct stat;
struct trust;
struct symbols;

/* @debug_folder: where separate debug files are, NULL for /usr/lib/debug; kept. Messages of all
 * symbols go to @messages. NULL without memory. */
struct symbols *symbols_open(const char *debug_folder, struct profile_messages *messages);
void symbols_close(struct symbols *all);
/* Sets who wrote the recording and when, its status: files that are newer, and have no build id to
 * check, are reported. */
void symbols_set_recording(struct symbols *all, const struct stat *st);
/* Sets folders of files by build id, which are copied: that beside the recording at @recording,
 * "FILE.files", whose files must belong to root or to the owner of the recording, and that which
 * the user names, or NULL. */
void symbols_set_stores(struct symbols *all, const char *recording, const char *folder);
/* The folder beside the recording, or NULL. */
const char *symbols_get_recording_store(const struct symbols *all);
/* The path of the file that the object's symbols came from, or NULL. */
const char *symbols_get_path(struct object *object);
/* The path of the separate debug file that its symbols came from, or NULL. */
const char *symbols_get_debug_path(struct object *object);
/* Is the object a file that is gone, or has changed since the recording? */
bool symbols_is_missing(struct object *object);
/* Whose files name code. */
const struct trust *symbols_get_trust(const struct symbols *all);
struct profile_messages *symbols_get_messages(const struct symbols *all);
/* Sets the release of the kernel that was recorded: [vdso] is named if it is the running one, and
 * functions of the kernel from its file if it is not. */
void symbols_set_recorded_kernel(struct symbols *all, const char *release);
/* Says that the running kernel was recorded. */
void symbols_assume_running_kernel(struct symbols *all);
/* The file at @path; read when first needed. With the @n bytes of a build id: only if it still is
 * the file that has this one. NULL without memory. */
struct object *symbols_get_object(struct symbols *all, const char *path, const uint8_t *id,
                                  size_t n);
/* The build id of the object: that of the recording, else of the file, *@n bytes. NULL if
 * unknown. */
const uint8_t *symbols_get_build_id(struct object *object, size_t *n);
/* Is the byte at @offset of the file loaded into memory? False for files that cannot be read. */
bool symbols_has_offset(struct object *object, uint64_t offset);
/* The function that the byte at @offset of the file belongs to, or NULL. Names of C++ are as their
 * authors wrote them. */
const char *symbols_find_name(struct object *object, uint64_t offset);
/* Is the byte at @offset of the file part of a linkage stub? Then *@offset_in_stub is set. */
bool symbols_find_stub(struct object *object, uint64_t offset, uint64_t *offset_in_stub);
/* A function of a file, in the file's own addresses. */
struct symbol_range {
	const char *path; /* of the file that was read */
	uint64_t address, start, end;
};
/* The address of the byte at @offset, and the function that it belongs to. False if it has no
 * name. */
bool symbols_find_range(struct object *object, uint64_t offset, struct symbol_range *range);
/* The address that represents the byte at @offset of the file where it has no symbol, loaded at
 * @address: the file's own address, as objdump and addr2line take it, so that one place has one
 * name wherever it is loaded; @offset if the file cannot be read; @address in memory without a
 * file. */
uint64_t symbols_get_shown_address(struct object *object, uint64_t offset, uint64_t address);
struct source_spot;
/* Source line and inlined functions there (lines.h), or NULL. */
const struct source_spot *symbols_find_source_spot(struct object *object, uint64_t offset);
/* Goes to the caller of the function with the byte at @offset (frame_rules.h). */
enum frame_result symbols_find_caller(struct object *object, uint64_t offset,
                                      struct frame_registers *registers,
                                      const struct frame_memory *memory, bool *is_signal);
/* The C++ or Rust name of a symbol, in memory of the caller's (demangle.c). NULL if missing,
 * endless, or, for C++, without the C++ library, which is reported once. */
char *symbols_demangle(const char *symbol);
/* The Rust name of a symbol, in memory of the caller's; NULL for others. (demangle_rust.c) */
char *symbols_demangle_rust(const char *symbol);
/* Sets that the kernel that was sampled had @name at @address. Symbols of a kernel that has it
 * elsewhere are not used. */
void symbols_expect_kernel_symbol(struct symbols *all, const char *name, uint64_t address);
/* The function of the kernel at @address, or NULL. */
const char *symbols_find_kernel_name(struct symbols *all, uint64_t address);

#endif
