/* SPDX-License-Identifier: MIT */
/* A terminal as a screen: one key at a time, and lines that replace those before them. */
#ifndef PFM_SCREEN_H
#define PFM_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Keys without a character. */
enum screen_key { KEY_NOTHING = 0, KEY_ESCAPE = 27, KEY_ENTER = 256, KEY_UP, KEY_DOWN, KEY_END };

/* True if standard input and output are terminals that understand escape sequences. */
bool screen_is_possible(void);
/* Takes the terminal over; what was on it comes back with screen_close(). */
bool screen_open(void);
void screen_close(void);
/* Columns and lines. */
void screen_size(size_t *columns, size_t *lines);
/* The next key that was pressed, KEY_NOTHING at once without one; KEY_END when the terminal
 * has gone. */
int screen_read_key(void);
/* Begin a screen, add a line to it, cut to the width, and show it. @is_bold: emphasised. */
void screen_begin(void);
void screen_put_line(const char *text, bool is_bold);
void screen_end(void);

#endif
