/* SPDX-License-Identifier: MIT */
/* The terminal: colours where there is one, its width, wrapped text, a caret under a part of a
 * line, similar words. */
#ifndef PFM_TERM_H
#define PFM_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum style { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

/* From here on everything that is written to standard output and standard error is safe for a
 * terminal: names of files, arguments and events are other people's, and their control bytes come
 * out as "\x1b". Newlines and tabs pass, and where colours are shown, ours. */
void term_guard(void);
/* Opens a file through the guard, created or truncated, or continued at its end. One at a time.
 * Returns NULL and sets errno if it cannot be opened. */
FILE *term_open(const char *path, bool append);
/* "auto", "always" or "never"; false for anything else. Without it, and with "auto", colours are
 * for terminals, unless NO_COLOR is set or TERM is "dumb". */
bool term_set_colour(const char *when);
/* True if @out is a terminal that shows colours, or colours are wanted always. */
bool term_colour(FILE *out);
/* Escape sequences that start @style and go back to plain; "" where @out takes no colours. */
const char *term_colour_begin(FILE *out, enum style style);
const char *term_colour_end(FILE *out);
bool term_is_terminal(FILE *out);
/* Columns of @out; 0 unless it is a terminal: lines are not wrapped then, so that grep sees them
 * whole. */
size_t term_width(FILE *out);
/* @text in lines that fit @out, the first begun at column @at already, the others indented by
 * @indent; ends the last line. */
void term_wrap(FILE *out, size_t at, size_t indent, const char *text);
/* term_wrap() with lines of @width columns, 0 for one line. */
void term_fill_line(FILE *out, size_t width, size_t at, size_t indent, const char *text);
/* @text, then a line with carets under bytes @start to @end (one caret if they are equal), both
 * indented by two. A line that is too long for @out is shown around the carets. */
void term_mark_error(FILE *out, const char *text, size_t start, size_t end);
/* Takes back a progress line on @out and shows @text instead; "" only takes back. Does nothing
 * unless @out is a terminal. */
void term_progress(FILE *out, const char *text);

/* Index of the word of @words (NULL after the last) that @word was probably meant to be, or -1. */
int find_closest_word(const char *word, const char *const *words);
/* "1,234,567", the same in every locale. Returns @buf. */
#define GROUPED_MAX 32
char *group_digits(uint64_t value, char buf[GROUPED_MAX]);

/* From here on standard output goes through $PAGER (less), if it is a terminal: its width and
 * colours stay those of the terminal. */
void term_page(void);
/* Waits until the user has seen enough; standard output is closed. */
void term_end(void);

#endif
