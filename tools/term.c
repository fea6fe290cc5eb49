/* SPDX-License-Identifier: MIT */
/* The terminal. Nothing here depends on the locale: text is taken as UTF-8 and a character as one column wide. */
#include "term.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum colour_wish { COLOUR_AUTO,
	           COLOUR_ALWAYS,
	           COLOUR_NEVER };

static enum colour_wish wish = COLOUR_AUTO;

bool term_set_colour(const char *when)
{
	static const char *const words[] = { "auto", "always", "never", NULL };
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(when, words[i]) == 0) {
			wish = (enum colour_wish)i;
			return true;
		}
	return false;
}

bool term_is_terminal(FILE *out)
{
	int fd = fileno(out);

	return fd >= 0 && isatty(fd);
}

bool term_colour(FILE *out)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (wish != COLOUR_AUTO)
		return wish == COLOUR_ALWAYS;
	return !(no && *no) && term && strcmp(term, "dumb") != 0 && term_is_terminal(out);
}

const char *term_on(FILE *out, enum style style)
{
	static const char *const codes[] = {
		[PLAIN] = "", [BOLD] = "\033[1m", [DIM] = "\033[2m", [RED] = "\033[1;31m", [GREEN] = "\033[32m", [YELLOW] = "\033[33m", [CYAN] = "\033[36m"
	};

	return term_colour(out) ? codes[style] : "";
}

const char *term_off(FILE *out)
{
	return term_colour(out) ? "\033[0m" : "";
}

size_t term_width(FILE *out)
{
	struct winsize size;

	if (!term_is_terminal(out))
		return 0;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

/* Columns that @len bytes of @text take. */
static size_t columns(const char *text, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void term_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
	term_fill(out, term_width(out), at, indent, text);
}

void term_fill(FILE *out, size_t width, size_t at, size_t indent, const char *text)
{
	size_t len, column = at;
	bool first = true;

	if (width && width < indent + 24)
		width = indent + 24;
	for (; *text; text += len, text += strspn(text, " ")) {
		len = strcspn(text, " ");
		if (width && column > indent && column + 1 + columns(text, len) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			putc(' ', out);
			column++;
		}
		first = false;
		fwrite(text, 1, len, out);
		column += columns(text, len);
	}
	putc('\n', out);
}

/* Control characters would move the cursor away from the column the caret is counted to. */
static void put_visible(FILE *out, const char *text, size_t len)
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
static size_t character_start(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void term_point(FILE *out, const char *text, size_t start, size_t end)
{
	size_t len = strlen(text), width = term_width(out), room = width > 20 ? width - 4 : 120;
	size_t from = 0, to = len, carets;

	if (end > len)
		end = len;
	if (start > end)
		start = end;
	if (len > room) {
		from = start > room / 3 ? start - room / 3 : 0;
		to = from + room < len ? from + room : len;
	}
	if (end > to)
		end = to;
	from = character_start(text, from);
	start = character_start(text, start);
	to = character_start(text, to);
	fprintf(out, "  %s", from > 0 ? "..." : "");
	put_visible(out, text + from, to - from);
	fprintf(out, "%s\n  %*s%s", to < len ? "..." : "", (int)((from > 0 ? 3 : 0) + columns(text + from, start - from)), "",
	        term_on(out, RED));
	carets = end > start ? columns(text + start, end - start) : 1;
	while (carets--)
		putc('^', out);
	fprintf(out, "%s\n", term_off(out));
}

void term_progress(FILE *out, const char *text)
{
	if (!term_is_terminal(out))
		return;
	fprintf(out, "\r\033[K%s", text);
	fflush(out);
}

/* ---- similar words -------------------------------------------------------------------------------------------------- */

enum { WORD_MAX = 40 };

static bool differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Insertions, deletions, exchanges and swaps of neighbours that lead from @a to @b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[3][WORD_MAX + 1], i, j, n = strlen(a), m = strlen(b);

	if (n > WORD_MAX || m > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= m; j++)
		row[0][j] = j;
	for (i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *above = row[(i - 1) % 3];

		now[0] = i;
		for (j = 1; j <= m; j++) {
			size_t best = above[j - 1] + differ(a[i - 1], b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) && !differ(a[i - 2], b[j - 1]) && row[(i - 2) % 3][j - 2] + 1 < best)
				best = row[(i - 2) % 3][j - 2] + 1;
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

int closest_word(const char *word, const char *const *words)
{
	size_t best = strlen(word) / 3 + 1, d;
	int found = -1, i;

	for (i = 0; words[i]; i++) {
		/* A beginning is as good as one slip. */
		d = strlen(word) >= 2 && strncasecmp(words[i], word, strlen(word)) == 0 ? 1 : distance(word, words[i]);
		if (d < best || (d == best && found < 0 && d < strlen(words[i]))) {
			best = d;
			found = i;
		}
	}
	return found;
}

char *grouped(uint64_t value, char buf[GROUPED_MAX])
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
