/* SPDX-License-Identifier: MIT */
/* The terminal. Nothing here depends on the locale: text is taken as UTF-8 and a character as one column wide. */
#include "term.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum colour_mode { COLOUR_AUTO,
	           COLOUR_ALWAYS,
	           COLOUR_NEVER };

static const char *const codes[] = {
	[PLAIN] = "\033[0m",
	[BOLD] = "\033[1m",
	[DIM] = "\033[2m",
	[RED] = "\033[1;31m",
	[GREEN] = "\033[32m",
	[YELLOW] = "\033[33m",
	[CYAN] = "\033[36m",
};
static enum colour_mode colour_mode_option = COLOUR_AUTO;
static pid_t pager;        /* reads standard output, 0: nobody does */
static size_t pager_width; /* of the terminal that it writes to */

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

/* ---- other people's text ------------------------------------------------------------------------------------------------ */

enum { HELD_MAX = 16,
       ESCAPED = 4, /* bytes of "\x1b" */
       BLOCK = 4096,
       STRIDE = 256 };

/* A stream on its way to a descriptor. */
struct stream_guard {
	FILE *out;
	int fd;
	bool is_terminal; /* asked once: every piece of a line may want to know */
	size_t n_held;    /* bytes of what may become a colour, or a character */
	char bytes[HELD_MAX];
	size_t n_ready; /* ready to be written */
	char ready[BLOCK];
	int error; /* of the last write that failed */
};

/* Standard output, standard error, and a file in place of one of them. */
enum { N_GUARDS = 3 };
static struct stream_guard guards[N_GUARDS] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO }, { .fd = -1 } };

/* How many of the @len bytes at @bytes were written: all, or it failed. */
static size_t write_all(struct stream_guard *g, const char *bytes, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(g->fd, bytes + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			g->error = errno;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static bool flush_guard(struct stream_guard *g)
{
	size_t done = write_all(g, g->ready, g->n_ready);

	memmove(g->ready, g->ready + done, g->n_ready - done);
	g->n_ready -= done;
	return g->n_ready == 0;
}

static void append_ready(struct stream_guard *g, const char *bytes, size_t len)
{
	memcpy(g->ready + g->n_ready, bytes, len);
	g->n_ready += len;
}

static void make_visible(struct stream_guard *g, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char escaped[ESCAPED] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

	append_ready(g, escaped, ESCAPED);
}

/* What was held is neither a colour nor a character. */
static void release_guard(struct stream_guard *g)
{
	size_t i;

	for (i = 0; i < g->n_held; i++)
		if ((unsigned char)g->bytes[i] < ' ' || (unsigned char)g->bytes[i] >= 0x80)
			make_visible(g, (unsigned char)g->bytes[i]);
		else
			append_ready(g, &g->bytes[i], 1);
	g->n_held = 0;
}

static size_t length_of(unsigned char lead)
{
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3
	                                     : 4;
}

/* Goes on with a character of several bytes. U+0080 to U+009F are controls. */
static bool character_goes_on(struct stream_guard *g, unsigned char c)
{
	bool control = (unsigned char)g->bytes[0] == 0xc2 && c < 0xa0;

	if (c < 0x80 || c >= 0xc0) {
		release_guard(g);
		return false;
	}
	g->bytes[g->n_held++] = (char)c;
	if (g->n_held < length_of((unsigned char)g->bytes[0]))
		return true;
	if (control) {
		release_guard(g);
		return true;
	}
	append_ready(g, g->bytes, g->n_held);
	g->n_held = 0;
	return true;
}

static bool is_ours(const char *bytes, size_t len)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strlen(codes[i]) == len && memcmp(codes[i], bytes, len) == 0)
			return true;
	return false;
}

/* Goes on with "ESC [ 1 ; 3 1 m". Others than ours may hide what stands behind them. */
static bool colour_goes_on(struct stream_guard *g, unsigned char c)
{
	if (g->n_held + 1 >= HELD_MAX || !(g->n_held == 1 ? c == '[' : isdigit(c) || c == ';' || c == 'm')) {
		release_guard(g);
		return false;
	}
	g->bytes[g->n_held++] = (char)c;
	if (c != 'm')
		return true;
	if (is_ours(g->bytes, g->n_held))
		append_ready(g, g->bytes, g->n_held);
	else
		release_guard(g);
	g->n_held = 0;
	return true;
}

static void pass_bytes(struct stream_guard *g, unsigned char c)
{
	if (g->n_held && (g->bytes[0] == 0x1b ? colour_goes_on(g, c) : character_goes_on(g, c)))
		return;
	if ((c == 0x1b && term_colour(g->out)) || (c >= 0xc2 && c < 0xf5))
		g->bytes[g->n_held++] = (char)c;
	else if ((c < ' ' && c != '\n' && c != '\t') || c >= 0x7f)
		make_visible(g, c);
	else
		append_ready(g, (const char *)&c, 1);
}

static bool is_plain(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/* True for letters, tabs and newlines alone. The others are below the tab, from 0x7f on, or between newline and blank: of all bytes the
 * farthest from the tab and the nearest behind the newline tell. Without a branch: compilers look at many bytes at once. */
static inline bool is_plain_block(const unsigned char s[STRIDE])
{
	unsigned char farthest = 0, nearest = UCHAR_MAX;

	for (size_t i = 0; i < STRIDE; i++) {
		unsigned char a = (unsigned char)(s[i] - '\t'), b = (unsigned char)(s[i] - '\n' - 1);

		farthest = a > farthest ? a : farthest;
		nearest = b < nearest ? b : nearest;
	}
	return farthest < 0x7f - '\t' && nearest >= ' ' - '\n' - 1;
}

/* How many of the first @len bytes at @buf are letters that mean nothing else. Most pages have no others. */
static size_t write_plain(const char *buf, size_t len)
{
	const unsigned char *s = (const unsigned char *)buf;
	size_t n = 0;

	while (len - n >= STRIDE && is_plain_block(s + n))
		n += STRIDE;
	while (n < len && is_plain(s[n]))
		n++;
	return n;
}

static ssize_t guarded_write(void *cookie, const char *buf, size_t len)
{
	struct stream_guard *g = cookie;
	size_t i = 0, n;

	while (i < len) {
		if (g->n_ready + (HELD_MAX + 1) * ESCAPED > BLOCK && !flush_guard(g))
			return 0;
		n = g->n_held ? 0 : write_plain(buf + i, len - i);
		if (n <= BLOCK - g->n_ready)
			append_ready(g, buf + i, n);
		else if (!flush_guard(g) || write_all(g, buf + i, n) < n)
			return 0;
		i += n;
		if (n == 0)
			pass_bytes(g, (unsigned char)buf[i++]);
	}
	return flush_guard(g) ? (ssize_t)len : 0;
}

static int guarded_close(void *cookie)
{
	struct stream_guard *g = cookie;

	release_guard(g);
	flush_guard(g);
	if (close(g->fd))
		return -1;
	errno = g->error;
	return g->error ? -1 : 0;
}

/* A stream to the descriptor of @g, through it. */
static FILE *open_guard_stream(struct stream_guard *g)
{
#ifdef __GLIBC__
	static const cookie_io_functions_t functions = { .write = guarded_write, .close = guarded_close };

	g->out = fopencookie(g, "w", functions);
	g->is_terminal = isatty(g->fd);
	return g->out;
#else
	return fdopen(g->fd, "w");
#endif
}

/* Standard streams of this C library are variables; elsewhere they stay as they are. */
void term_guard(void)
{
#ifdef __GLIBC__
	static char page[1 << 16];

	if (!open_guard_stream(&guards[0]) || !open_guard_stream(&guards[1]))
		return;
	setvbuf(guards[0].out, page, guards[0].is_terminal ? _IOLBF : _IOFBF, sizeof(page));
	setvbuf(guards[1].out, NULL, _IOLBF, BLOCK);
	stdout = guards[0].out;
	stderr = guards[1].out;
#endif
}

FILE *term_open(const char *path, bool append)
{
	FILE *out;

	guards[2].fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
	if (guards[2].fd < 0)
		return NULL;
	out = open_guard_stream(&guards[2]);
	if (!out)
		close(guards[2].fd);
	return out;
}

/* Failures show when the stream is closed. */
void term_write(FILE *out, const char *bytes, size_t len)
{
	if (out != guards[0].out)
		fwrite(bytes, 1, len, out);
	else if (fflush(out) == 0)
		guarded_write(&guards[0], bytes, len);
}

static int guard_descriptor(FILE *out)
{
	for (int i = 0; i < N_GUARDS; i++)
		if (out && out == guards[i].out)
			return guards[i].fd;
	return fileno(out);
}

bool term_is_terminal(FILE *out)
{
	int fd = guard_descriptor(out);

	for (int i = 0; i < N_GUARDS; i++)
		if (out && out == guards[i].out)
			return guards[i].is_terminal;
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
	return style != PLAIN && term_colour(out) ? codes[style] : "";
}

const char *term_colour_end(FILE *out)
{
	return term_colour(out) ? codes[PLAIN] : "";
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

/* What the user wants to read with; NULL: nothing. A program with raised rights takes no commands from the environment. */
static const char *wanted_pager(void)
{
	const char *wanted = getenv("PAGER");

	if (getauxval(AT_SECURE))
		return NULL;
	if (!wanted)
		return "less";
	return *wanted && strcmp(wanted, "cat") != 0 ? wanted : NULL;
}

/* The other end of @pipe: the pager, or cat where there is none of that name. */
static void become_pager(const int pipe[2], const char *command)
{
	static const char script[] = "sh -c \"$0\" || { [ $? = 127 ] && exec cat; }";

	dup2(pipe[0], STDIN_FILENO);
	close(pipe[0]);
	close(pipe[1]);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", script, command, (char *)NULL);
	_exit(1);
}

void term_page(void)
{
	const char *command = wanted_pager();
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
static size_t character_start(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void term_mark_error(FILE *out, const char *text, size_t start, size_t end)
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
	append_visible(out, text + from, to - from);
	fprintf(out, "%s\n  %*s%s", to < len ? "..." : "", (int)((from > 0 ? 3 : 0) + count_characters(text + from, start - from)), "",
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
	/* Moves the cursor, which nobody else may. */
	fflush(out);
	(void)!write(guard_descriptor(out), "\r\033[K", 4);
	fputs(text, out);
	fflush(out);
}

/* ---- similar words -------------------------------------------------------------------------------------------------- */

enum { WORD_MAX = 40 };

static bool chars_differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Insertions, deletions, exchanges and swaps of neighbours that lead from @a to @b. */
static size_t edit_distance(const char *a, const char *b)
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
			size_t best = above[j - 1] + chars_differ(a[i - 1], b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && !chars_differ(a[i - 1], b[j - 2]) && !chars_differ(a[i - 2], b[j - 1]) &&
			    row[(i - 2) % 3][j - 2] + 1 < best)
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
		d = strlen(word) >= 2 && strncasecmp(words[i], word, strlen(word)) == 0 ? 1 : edit_distance(word, words[i]);
		if (d < best || (d == best && found < 0 && d < strlen(words[i]))) {
			best = d;
			found = i;
		}
	}
	return found;
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
