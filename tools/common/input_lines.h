/* SPDX-License-Identifier: MIT */
/* Lines of standard input that a command answers one by one. */
#ifndef PFM_INPUT_LINES_H
#define PFM_INPUT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Calls @answer with each line of standard input, without its newline. Returns EXIT_DONE, or
 * EXIT_REFUSED if an answer was not EXIT_DONE or the input cannot be read, which is reported. */
int visit_input_lines(int (*answer)(void *arg, char *line, size_t len), void *arg);
/* True for a line with only blanks or a comment after '#'. */
bool is_blank_event_line(const char *line, size_t len);
/* Moves *@line to its first non-blank character, and ends it before a comment, which is a '#'
 * after a blank. Returns its length. */
size_t strip_event_line(char **line, size_t len);

#endif
