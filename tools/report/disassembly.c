/* SPDX-License-Identifier: MIT */
/* objdump's lines begin with "  ADDRESS:" and a tabulator where they are instructions. It gets no
 * option that makes it open other files than the program: those could be anything. */
#include "report/disassembly.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/grow.h"
#include "report/source_text.h"
#include "stat/stat.h"

enum {
	MOST_READ = 1 << 16,
	MOST_TEXT = 1 << 28, /* bytes of a function */
	NO_PROGRAM = 127     /* a status */
};

enum {
	TAB_STOP = 8,
	ARROWS_MAX = 24,
	SECONDS = 60,  /* of objdump, on a CPU */
	PATIENCE = 120 /* seconds, of waiting for it */
};

/* Returns a copy of @text with each tabulator replaced by blanks up to the next multiple of eight
 * columns. To be freed. */
static char *expand_tabs(const char *text)
{
	size_t n_tabs = 0, column = 0;
	char *copy, *to;

	for (const char *c = text; *c; c++)
		n_tabs += *c == '\t';
	copy = malloc(strlen(text) + TAB_STOP * n_tabs + 1);
	if (!copy)
		return NULL;
	to = copy;
	for (const char *c = text; *c; c++)
		if (*c == '\t') {
			do
				*to++ = ' ';
			while (++column % TAB_STOP);
		} else {
			*to++ = *c;
			column += (*c & 0xc0) != 0x80; /* not inside a character of UTF-8 */
		}
	*to = '\0';
	return copy;
}

/* Adds @line, whose text is a copy of @text. */
static bool add_code_line(struct disassembly *d, struct code_line line, const char *text)
{
	bool failed = false;

	d->lines = base_grow_list(d->lines, d->n, &d->capacity, sizeof(*d->lines), &failed);
	if (failed)
		return false;
	line.text = expand_tabs(text);
	d->lines[d->n] = line;
	return d->lines[d->n++].text;
}

static bool add_source_line(void *arg, const char *text, unsigned number)
{
	return !*text || add_code_line(arg, (struct code_line){ .number = number }, text);
}

/* Adds a line of objdump. False without memory. */
static bool read_objdump_line(struct disassembly *d, char *line, bool *is_code,
                              struct source_text *source)
{
	struct code_line code = { .is_instruction = true };
	char *end;

	/* Titles of the file and the section come first. */
	if (strncmp(line, "Disassembly of section", 22) == 0) {
		*is_code = true;
		return true;
	}
	if (!*is_code || !*line)
		return true;
	code.address = strtoull(line, &end, 16);
	if (*line == ' ' && end != line && end[0] == ':' && end[1] == '\t')
		return (!source || source_text_show(source, code.address, add_source_line, d)) &&
		       add_code_line(d, code, end + 2);
	return add_code_line(d, (struct code_line){ .number = 0 }, line);
}

/* Adds the line from @line to @next, where the one after it begins. */
static bool read_one_line(struct disassembly *d, char *line, const char *next, bool *is_code,
                          struct source_text *source)
{
	char *copy = strndup(line, (size_t)(next - line) - (next[-1] == '\n'));
	bool is_read = copy && read_objdump_line(d, copy, is_code, source);

	free(copy);
	return is_read;
}

/* Text that comes from a pipe until a deadline. */
struct timed_pipe {
	int from;
	uint64_t deadline; /* nanoseconds */
	char *text;
	size_t n, capacity;
};

/* Waits for text. False at its end, and, with ETIMEDOUT in errno, after the deadline. */
static bool wait_for_text(const struct timed_pipe *p)
{
	struct pollfd polled = { .fd = p->from, .events = POLLIN };
	uint64_t now = now_ns();
	int rc;

	do
		rc = poll(&polled, 1,
		          p->deadline > now ? (int)((p->deadline - now) / 1000000) + 1 : 0);
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		errno = ETIMEDOUT;
	return rc > 0;
}

/* Reads all text. Returns 0 or an errno. */
static int read_text(struct timed_pipe *p)
{
	ssize_t got;

	for (;;) {
		if (p->n + MOST_READ + 1 > p->capacity) {
			char *more = realloc(p->text, 2 * p->capacity + MOST_READ + 1);

			if (!more)
				return ENOMEM;
			p->text = more;
			p->capacity = 2 * p->capacity + MOST_READ + 1;
		}
		if (!wait_for_text(p))
			return errno;
		got = read(p->from, p->text + p->n, MOST_READ);
		if (got < 0 && errno != EINTR)
			return errno;
		p->n += got > 0 ? (size_t)got : 0;
		p->text[p->n] = '\0';
		if (got == 0)
			return 0;
		if (p->n > MOST_TEXT)
			return EFBIG;
	}
}

static int read_lines(struct disassembly *d, int from, struct source_text *source)
{
	struct timed_pipe p = { .from = from, .deadline = now_ns() + PATIENCE * 1000000000ull };
	bool is_code = false, is_read = true;
	int rc = read_text(&p);

	for (char *line = p.text, *next; rc == 0 && is_read && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		is_read = read_one_line(d, line, next, &is_code, source);
	}
	free(p.text);
	close(from);
	return rc ? rc : is_read ? 0 : ENOMEM;
}

/* The child: becomes objdump, whose time is limited. */
static _Noreturn void become_objdump(char *const *words, int to)
{
	const struct rlimit time = { SECONDS, SECONDS };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	dup2(to, STDOUT_FILENO);
	setrlimit(RLIMIT_CPU, &time);
	execvp(words[0], words);
	_exit(errno == ENOENT ? NO_PROGRAM : 1);
}

/* Starts objdump, which writes to *@from. Returns 0 or an errno. */
static int start_objdump(const char *path, uint64_t start, uint64_t end, bool draws_jumps,
                         int *from, pid_t *child)
{
	char first[48], last[48];
	char *words[] = { "objdump", "-d",         "-C", "--no-show-raw-insn", first, last,
		          "--",      (char *)path, NULL };
	char *with_jumps[] = { "objdump", "-d", "-C", "--no-show-raw-insn", "--visualize-jumps",
		               first,     last, "--", (char *)path,         NULL };
	int ends[2];

	snprintf(first, sizeof(first), "--start-address=%#llx", (unsigned long long)start);
	snprintf(last, sizeof(last), "--stop-address=%#llx", (unsigned long long)end);
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	*child = fork();
	if (*child == 0)
		become_objdump(draws_jumps ? with_jumps : words, ends[1]);
	close(ends[1]);
	*from = ends[0];
	if (*child < 0)
		close(ends[0]);
	return *child < 0 ? errno : 0;
}

static int run_objdump(struct disassembly *d, const char *path, uint64_t start, uint64_t end,
                       bool draws_jumps, struct source_text *source)
{
	int from = -1, status = 0, rc;
	pid_t child = -1;

	rc = start_objdump(path, start, end, draws_jumps, &from, &child);
	if (rc)
		return rc;
	rc = read_lines(d, from, source);
	if (rc)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return ENOENT;
	if (rc == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return ETIMEDOUT;
	return rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)) ? ENOEXEC : rc;
}

/* Removes arrows that take too many columns: a large function has many jumps at once. */
static void remove_wide_arrows(struct disassembly *d)
{
	for (size_t i = 0; i < d->n; i++) {
		char *text = d->lines[i].text;
		size_t width = d->lines[i].is_instruction ? strspn(text, " |/\\-+>X") : 0;

		if (width > ARROWS_MAX)
			memmove(text, text + width, strlen(text + width) + 1);
	}
}

int disassemble_function(struct disassembly *d, const char *path, uint64_t start, uint64_t end,
                         bool draws_jumps, struct source_text *source)
{
	int rc = run_objdump(d, path, start, end, draws_jumps, source);

	/* objdump draws no arrows before binutils 2.34. */
	if (rc == ENOEXEC && draws_jumps && !d->n)
		rc = run_objdump(d, path, start, end, false, source);
	remove_wide_arrows(d);
	return rc;
}

void free_disassembly(struct disassembly *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].text);
	free(d->lines);
}
