/* SPDX-License-Identifier: MIT */
/* The terminal. Nothing here depends on the locale: text is taken as UTF-8 and a character as one
 * column wide. */
#include "common/term.h"
#include "common/term_guard.h"
#include "common/words.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

static const char *const colour_codes[] = {
	[PLAIN] = "\033[0m",  [BOLD] = "\033[1m",    [DIM] = "\033[2m",   [RED] = "\033[1;31m",
	[GREEN] = "\033[32m", [YELLOW] = "\033[33m", [CYAN] = "\033[36m",
};
static enum colour_mode colour_mode_option = COLOUR_AUTO;
static pid_t pager;        /* reads standard output, 0: not started */
static size_t pager_width; /* of the terminal that it writes to */

bool is_colour_code(const char *bytes, size_t len)
{
	for (size_t i = 0; i < sizeof(colour_codes) / sizeof(colour_codes[0]); i++)
		if (strlen(colour_codes[i]) == len && memcmp(colour_codes[i], bytes, len) == 0)
			return true;
	return false;
}

bool term_set_colour(const char *when)
{
	static const char *const words[] = { "auto", "always", "never", NULL };
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(when, words[i]) == 0) {
			colour_mode_option = (enum colour_mode)i;
			return true;
		}
	return false;
}

bool term_is_terminal(FILE *out)
{
	int fd = guard_descriptor(out);
	bool is_terminal;

	if (guard_find(out, &is_terminal))
		return is_terminal;
	return (pager && fd == STDOUT_FILENO) || (fd >= 0 && isatty(fd));
}

bool term_colour(FILE *out)
{
	const char *term, *no;

	if (colour_mode_option != COLOUR_AUTO || !term_is_terminal(out))
		return colour_mode_option == COLOUR_ALWAYS;
	term = getenv("TERM");
	no = getenv("NO_COLOR");
	return !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *term_colour_begin(FILE *out, enum style style)
{
	return style != PLAIN && term_colour(out) ? colour_codes[style] : "";
}

const char *term_colour_end(FILE *out)
{
	return term_colour(out) ? colour_codes[PLAIN] : "";
}

size_t term_width(FILE *out)
{
	struct winsize size;

	if (!term_is_terminal(out))
		return 0;
	if (pager && guard_descriptor(out) == STDOUT_FILENO)
		return pager_width;
	if (ioctl(guard_descriptor(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

/* The command that pages output; NULL for none. A program with raised rights takes no commands
 * from the environment. */
static const char *choose_pager(void)
{
	const char *wanted = getenv("PAGER");

	if (getauxval(AT_SECURE))
		return NULL;
	if (!wanted)
		return "less";
	return *wanted && strcmp(wanted, "cat") != 0 ? wanted : NULL;
}

/* Writes standard input to standard output. */
static void copy_input(void)
{
	char buf[1 << 14];
	ssize_t n, done;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0; at < n; at += done) {
			done = write(STDOUT_FILENO, buf + at, (size_t)(n - at));
			if (done < 0 && errno != EINTR)
				return;
			done = done < 0 ? 0 : done;
		}
}

enum { MOST_WORDS = 64 }; /* of a pager's command */

/* Executes the pager. A shell is started for commands that need one alone, as git does. */
static void execute_pager(const char *command)
{
	static const char script[] = "sh -c \"$0\" || { [ $? = 127 ] && exec cat; }";
	char *text = strdup(command), *words[MOST_WORDS];

	if (text && split_words(text, words, MOST_WORDS))
		execvp(words[0], words);
	else
		execl("/bin/sh", "sh", "-c", script, command, (char *)NULL);
	free(text);
}

/* The other end of @pipe: the pager, or this program if the pager is missing. */
static void become_pager(const int pipe[2], const char *command)
{
	dup2(pipe[0], STDIN_FILENO);
	close(pipe[0]);
	close(pipe[1]);
	setenv("LESS", "FRX", 0);
	execute_pager(command);
	copy_input();
	_exit(1);
}

void term_page(void)
{
	const char *command = choose_pager();
	int ends[2];

	if (pager || !command || !term_is_terminal(stdout) || pipe(ends))
		return;
	pager_width = term_width(stdout);
	fflush(stdout);
	pager = fork();
	if (pager == 0)
		become_pager(ends, command);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		setvbuf(stdout, NULL, _IOFBF, 1 << 16);
		signal(SIGINT, SIG_IGN); /* it is the pager's while it shows something */
		signal(SIGPIPE, SIG_IGN);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

void term_end(void)
{
	while (pager && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* Columns that @len bytes of @text take. */
static size_t count_characters(const char *text, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void term_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
	term_fill_line(out, term_width(out), at, indent, text);
}

void term_fill_line(FILE *out, size_t width, size_t at, size_t indent, const char *text)
{
	size_t len, column = at;
	bool first = true;

	if (width && width < indent + 24)
		width = indent + 24;
	for (; *text; text += len, text += strspn(text, " ")) {
		len = strcspn(text, " ");
		if (width && column > indent && column + 1 + count_characters(text, len) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			putc(' ', out);
			column++;
		}
		first = false;
		fwrite(text, 1, len, out);
		column += count_characters(text, len);
	}
	putc('\n', out);
}

/* Control characters would move the cursor away from the column the caret is counted to. */
static void append_visible(FILE *out, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];

		if (c == 0xc2 && next >= 0x80 && next <= 0x9f && i + 1 < len) {
			putc('?', out); /* one of those beyond ASCII: U+0080 to U+009F */
			i++;
		} else {
			putc(c < 0x20 || c == 0x7f ? '?' : c, out);
		}
	}
}

/* First byte of the character that byte @at of @text is part of. */
static size_t find_character_start(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void term_mark_error(FILE *out, const char *text, size_t start, size_t end)
{
	size_t len = strlen(text), width = term_width(out), size = width > 20 ? width - 4 : 120;
	size_t from = 0, to = len, carets;

	if (end > len)
		end = len;
	if (start > end)
		start = end;
	if (len > size) {
		from = start > size / 3 ? start - size / 3 : 0;
		to = from + size < len ? from + size : len;
	}
	if (end > to)
		end = to;
	from = find_character_start(text, from);
	start = find_character_start(text, start);
	to = find_character_start(text, to);
	fprintf(out, "  %s", from > 0 ? "..." : "");
	append_visible(out, text + from, to - from);
	fprintf(out, "%s\n  %*s%s", to < len ? "..." : "",
	        (int)((from > 0 ? 3 : 0) + count_characters(text + from, start - from)), "",
	        term_colour_begin(out, RED));
	carets = end > start ? count_characters(text + start, end - start) : 1;
	while (carets--)
		putc('^', out);
	fprintf(out, "%s\n", term_colour_end(out));
}

void term_progress(FILE *out, const char *text)
{
	if (!term_is_terminal(out))
		return;
	/* Moves the cursor. No other function does. */
	fflush(out);
	(void)!write(guard_descriptor(out), "\r\033[K", 4);
	fputs(text, out);
	fflush(out);
}

char *group_digits(uint64_t value, char buf[GROUPED_MAX])
{
	char *p = buf + GROUPED_MAX;
	unsigned n = 0;

	*--p = 0;
	do {
		if (n && n % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		n++;
	} while (value /= 10);
	return memmove(buf, p, (size_t)(buf + GROUPED_MAX - p));
}
