/* SPDX-License-Identifier: MIT */
/* Full-screen output by escape sequences of ECMA-48 and xterm. Text passes the guard of standard
 * output; only the escape sequences of this file bypass it. */
#include "common/screen.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "common/columns.h"
#include "common/term.h"
#include "common/term_guard.h"

#define ENTER_SCREEN "\033[?1049h\033[?25l" /* alternate screen, hidden cursor */
#define LEAVE_SCREEN "\033[?25h\033[?1049l"
#define GO_HOME      "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"
#define BOLD_BEGIN   "\033[1m"
#define BOLD_END     "\033[0m"

static struct {
	struct termios before;
	bool is_open;
	size_t columns, lines, n_lines;
} screen;

/* Writes an escape sequence, bypassing the guard. */
static void send_sequence(const char *sequence)
{
	fflush(stdout);
	(void)!write(guard_descriptor(stdout), sequence, strlen(sequence));
}

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return term_is_terminal(stdout) && isatty(STDIN_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

bool screen_open(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &screen.before))
		return false;
	raw = screen.before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw))
		return false;
	screen.is_open = true;
	send_sequence(ENTER_SCREEN);
	return true;
}

void screen_close(void)
{
	if (!screen.is_open)
		return;
	screen.is_open = false;
	send_sequence(LEAVE_SCREEN);
	tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

void screen_size(size_t *columns, size_t *lines)
{
	struct winsize size;
	bool is_known = ioctl(guard_descriptor(stdout), TIOCGWINSZ, &size) == 0;

	*columns = is_known && size.ws_col ? size.ws_col : 80;
	*lines = is_known && size.ws_row ? size.ws_row : 24;
}

/* Reads the rest of an escape sequence after ESC, such as ESC [ A or ESC O A of arrow keys. Returns
 * the key. */
static int read_sequence(void)
{
	char bytes[3] = "";

	if (read(STDIN_FILENO, bytes, 1) != 1)
		return KEY_ESCAPE;
	if ((bytes[0] != '[' && bytes[0] != 'O') || read(STDIN_FILENO, bytes + 1, 1) != 1)
		return KEY_NOTHING;
	switch (bytes[1]) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'C': return KEY_RIGHT;
	case 'D': return KEY_LEFT;
	case '5':
	case '6': /* ESC [ 5 ~ */
		if (read(STDIN_FILENO, bytes + 2, 1) != 1)
			return KEY_NOTHING;
		return bytes[1] == '5' ? KEY_PAGE_UP : KEY_PAGE_DOWN;
	default: return KEY_NOTHING;
	}
}

int screen_read_key(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (poll(&input, 1, 0) <= 0)
		return KEY_NOTHING;
	if (!(input.revents & POLLIN) || read(STDIN_FILENO, &byte, 1) != 1)
		return KEY_END;
	return byte == 27 ? read_sequence() : byte == '\n' || byte == '\r' ? KEY_ENTER : byte;
}

void screen_begin(void)
{
	screen_size(&screen.columns, &screen.lines);
	screen.n_lines = 0;
	send_sequence(GO_HOME);
}

void screen_put_line(const char *text, bool is_bold)
{
	if (screen.n_lines >= screen.lines)
		return;
	if (screen.n_lines++)
		send_sequence("\r\n");
	if (is_bold)
		send_sequence(BOLD_BEGIN);
	/* Leave the last column free: some terminals wrap after it and clear the line. */
	put_cut(stdout, text, screen.columns - 1, CUT_END);
	if (is_bold)
		send_sequence(BOLD_END);
	send_sequence(CLEAR_LINE);
}

void screen_end(void)
{
	send_sequence(CLEAR_BELOW);
}
