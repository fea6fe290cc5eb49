/* SPDX-License-Identifier: MIT */
/* Lines of source text for instructions. The recorded program names the files: they are opened
 * here, not by a disassembler, which would wait for a FIFO. */
#ifndef PFM_SOURCE_TEXT_H
#define PFM_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct source_text;

/* Begins the text for the program at @path of the recording @recording. @debug_folder: of separate
 * debug files, or NULL. NULL if nothing is known of the lines, and without memory. */
struct source_text *source_text_open(const char *path, const char *recording,
                                     const char *debug_folder);
/* Calls @add for each line that belongs before the instruction at @address of the file, given in
 * ascending order: the line itself, and up to five lines before it that were not shown. False if
 * @add returns false, and without memory. */
bool source_text_show(struct source_text *t, uint64_t address,
                      bool (*add)(void *arg, const char *text, unsigned line), void *arg);
void source_text_close(struct source_text *t);

#endif
