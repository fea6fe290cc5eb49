/* SPDX-License-Identifier: MIT */
/* Escapes control characters in output, because names of files, arguments and events may contain
 * terminal commands. Newlines, tabs, characters of UTF-8 and pfm's own colours are written
 * unchanged, other bytes as "\x1b". */
#include "common/term.h"
#include "common/term_guard.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum {
	HELD_MAX = 16,
	ESCAPED = 4, /* bytes of "\x1b" */
	BLOCK = 4096
};

/* A stream, its descriptor and its buffered bytes. */
struct stream_guard {
	FILE *out;
	int fd;
	bool is_terminal;
	size_t n_held; /* bytes that may begin a colour or a character */
	char held[HELD_MAX];
	size_t n_ready; /* bytes ready to be written */
	char ready[BLOCK];
	int error; /* errno of the last failed write */
};

/* Standard output, standard error, and one file. */
enum { N_GUARDS = 3 };
static struct stream_guard guards[N_GUARDS] = {
	{ .fd = STDOUT_FILENO },
	{ .fd = STDERR_FILENO },
	{ .fd = -1 },
};

/* Returns how many of the @len bytes at @bytes were written: all, unless writing failed. */
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

static void append_escaped(struct stream_guard *g, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char escaped[ESCAPED] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

	append_ready(g, escaped, ESCAPED);
}

static void pass_held(struct stream_guard *g)
{
	append_ready(g, g->held, g->n_held);
	g->n_held = 0;
}

/* Writes the held bytes escaped: they are neither a colour nor a character. */
static void escape_held(struct stream_guard *g)
{
	for (size_t i = 0; i < g->n_held; i++)
		if ((unsigned char)g->held[i] < ' ' || (unsigned char)g->held[i] >= 0x7f)
			append_escaped(g, (unsigned char)g->held[i]);
		else
			append_ready(g, &g->held[i], 1);
	g->n_held = 0;
}

static size_t get_announced_length(unsigned char lead)
{
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* U+0080 to U+009F are controls, too. */
static bool is_held_control(const struct stream_guard *g)
{
	return (unsigned char)g->held[0] == 0xc2 && (unsigned char)g->held[1] < 0xa0;
}

/* Adds @c to the character that is held. Returns false if @c is not part of it. */
static bool continue_character(struct stream_guard *g, unsigned char c)
{
	if (c < 0x80 || c >= 0xc0) {
		escape_held(g);
		return false;
	}
	g->held[g->n_held++] = (char)c;
	if (g->n_held < get_announced_length((unsigned char)g->held[0]))
		return true;
	if (utf8_measure_char(g->held, g->n_held) != g->n_held || is_held_control(g))
		escape_held(g);
	else
		pass_held(g);
	return true;
}

/* Adds @c to a colour such as "ESC [ 1 ; 3 1 m". Returns false if @c is not part of one. */
static bool continue_colour(struct stream_guard *g, unsigned char c)
{
	bool fits = g->n_held == 1 ? c == '[' : isdigit(c) || c == ';' || c == 'm';

	if (!fits || g->n_held + 1 >= HELD_MAX) {
		escape_held(g);
		return false;
	}
	g->held[g->n_held++] = (char)c;
	if (c == 'm' && is_colour_code(g->held, g->n_held))
		pass_held(g);
	else if (c == 'm')
		escape_held(g);
	return true;
}

static void pass_byte(struct stream_guard *g, unsigned char c)
{
	if (g->n_held && (g->held[0] == 0x1b ? continue_colour(g, c) : continue_character(g, c)))
		return;
	if ((c == 0x1b && term_colour(g->out)) || (c >= 0xc2 && c < 0xf5))
		g->held[g->n_held++] = (char)c;
	else if ((c < ' ' && c != '\n' && c != '\t') || c >= 0x7f)
		append_escaped(g, c);
	else
		append_ready(g, (const char *)&c, 1);
}

/* Counts leading bytes that are printable ASCII, newlines or tabs. */
static size_t count_plain_bytes(const char *bytes, size_t len)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t n = 0;

	while (n < len && ((s[n] >= ' ' && s[n] < 0x7f) || s[n] == '\n' || s[n] == '\t'))
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
		n = g->n_held ? 0 : count_plain_bytes(buf + i, len - i);
		if (n <= BLOCK - g->n_ready)
			append_ready(g, buf + i, n);
		else if (!flush_guard(g) || write_all(g, buf + i, n) < n)
			return 0;
		i += n;
		if (n == 0)
			pass_byte(g, (unsigned char)buf[i++]);
	}
	return flush_guard(g) ? (ssize_t)len : 0;
}

static int guarded_close(void *cookie)
{
	struct stream_guard *g = cookie;

	escape_held(g);
	flush_guard(g);
	if (close(g->fd))
		return -1;
	errno = g->error;
	return g->error ? -1 : 0;
}

static FILE *open_guard_stream(struct stream_guard *g)
{
#ifdef __GLIBC__
	static const cookie_io_functions_t functions = { .write = guarded_write,
		                                         .close = guarded_close };

	g->out = fopencookie(g, "w", functions);
	g->is_terminal = isatty(g->fd);
	return g->out;
#else
	return fdopen(g->fd, "w");
#endif
}

/* Only glibc's standard streams are variables; with another C library they stay unguarded. */
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
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
	FILE *out;

	guards[2].fd = open(path, flags, 0666);
	if (guards[2].fd < 0)
		return NULL;
	out = open_guard_stream(&guards[2]);
	if (!out)
		close(guards[2].fd);
	return out;
}

static struct stream_guard *find_guard(FILE *out)
{
	for (int i = 0; i < N_GUARDS; i++)
		if (out && out == guards[i].out)
			return &guards[i];
	return NULL;
}

int guard_descriptor(FILE *out)
{
	const struct stream_guard *g = find_guard(out);

	return g ? g->fd : fileno(out);
}

bool guard_find(FILE *out, bool *is_terminal)
{
	const struct stream_guard *g = find_guard(out);

	if (g)
		*is_terminal = g->is_terminal;
	return g;
}
