/* SPDX-License-Identifier: MIT */
/* Full-screen mode of a terminal: reading of single keys, and screens of lines. */
#ifndef PFM_SCREEN_H
#define PFM_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Keys without a character. */
enum screen_key {
	KEY_NOTHING = 0,
	KEY_ESCAPE = 27,
	KEY_ENTER = 256,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_END
};

/* True if standard input and output are terminals that understand escape sequences. */
bool screen_is_possible(void);
/* Switches the terminal to full-screen mode. screen_close() restores it. */
bool screen_open(void);
void screen_close(void);
/* Stores the size of the terminal in columns and lines. */
void screen_size(size_t *columns, size_t *lines);
/* Returns the next key without waiting: KEY_NOTHING if none was pressed, KEY_END after a hangup. */
int screen_read_key(void);
/* Begin a screen; add a line, cut to the width; show the screen. */
void screen_begin(void);
void screen_put_line(const char *text, bool is_bold);
void screen_end(void);

#endif
