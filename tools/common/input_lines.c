/* SPDX-License-Identifier: MIT */
/* Requests from standard input, one for each line. */
#include "common/input_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pfm.h"

/* Lines of any length. Standard output is flushed whenever no whole line is waiting, because a
 * program may wait for each answer. */
struct lines {
	int fd;
	char *buf;
	size_t size, start, end;
	bool eof, failed;
};

/* Makes room and reads more. False at the end and on failure. */
static bool read_more(struct lines *l)
{
	ssize_t got;
	char *bigger;

	memmove(l->buf, l->buf + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
	if (l->end + 1 >= l->size) {
		bigger = realloc(l->buf, l->size * 2);
		if (!bigger) {
			l->failed = true;
			return false;
		}
		l->buf = bigger;
		l->size *= 2;
	}
	fflush(stdout);
	do
		got = read(l->fd, l->buf + l->end, l->size - l->end - 1);
	while (got < 0 && errno == EINTR);
	if (got <= 0) {
		l->eof = true;
		l->failed = got < 0;
		return false;
	}
	l->end += (size_t)got;
	return true;
}

/* Stores the next line without its newline in *@line. False at the end or on failure
 * (lines->failed). */
static bool read_next_line(struct lines *l, char **line, size_t *len)
{
	char *newline;
	size_t seen = 0;

	if (!l->buf) {
		l->size = 1 << 16;
		l->buf = malloc(l->size);
		l->failed = !l->buf;
	}
	while (!l->failed) {
		newline = memchr(l->buf + l->start + seen, '\n', l->end - l->start - seen);
		if (newline || (l->eof && l->end > l->start)) {
			*line = l->buf + l->start;
			*len = newline ? (size_t)(newline - *line) : l->end - l->start;
			l->start += *len + (newline != NULL);
			(*line)[*len] = 0;
			return true;
		}
		if (l->eof)
			return false;
		seen = l->end - l->start;
		read_more(l);
	}
	return false;
}

bool is_blank_event_line(const char *line, size_t len)
{
	size_t blanks = strspn(line, " \t\r");

	return blanks == len || line[blanks] == '#';
}

size_t strip_event_line(char **line, size_t len)
{
	char *text = *line;
	bool cut = false;

	for (size_t i = 1; i < len && !cut; i++) {
		cut = text[i] == '#' && (text[i - 1] == ' ' || text[i - 1] == '\t');
		len = cut ? i : len;
	}
	while (len &&
	       (text[len - 1] == '\r' || (cut && (text[len - 1] == ' ' || text[len - 1] == '\t'))))
		len--;
	text[len] = 0;
	*line += strspn(text, " \t");
	return len - (size_t)(*line - text);
}

int visit_input_lines(int (*answer)(void *arg, char *line, size_t len), void *arg)
{
	struct lines lines = { .fd = STDIN_FILENO };
	int status = EXIT_DONE;
	char *line;
	size_t len;

	while (read_next_line(&lines, &line, &len))
		if (answer(arg, line, len) != EXIT_DONE)
			status = EXIT_REFUSED;
	if (lines.failed) {
		fputs("pfm: cannot read standard input\n", stderr);
		status = EXIT_REFUSED;
	}
	free(lines.buf);
	return status;
}
