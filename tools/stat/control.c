/* SPDX-License-Identifier: MIT */
/* Receives commands from a descriptor or a FIFO. A command is a line; the answer is "ack", a
 * newline and a zero byte, as in perf. */
#include "stat/control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { MAX_FDS = 512 };

/* Parses a descriptor's number before character @end; -1 for other text. */
static int read_fd(const char **text, char end)
{
	char *after;
	long fd = strtol(*text, &after, 10);

	if (!isdigit((unsigned char)**text) || fd > INT_MAX || (*after && *after != end))
		return -1;
	*text = *after ? after + 1 : NULL;
	return (int)fd;
}

static bool open_fds(struct control *c, const char *text)
{
	c->in = read_fd(&text, ',');
	c->ack = text ? read_fd(&text, 0) : -1;
	errno = 0;
	if (c->in < 0 || text)
		return false;
	if (fcntl(c->in, F_GETFD) < 0 || (c->ack >= 0 && fcntl(c->ack, F_GETFD) < 0))
		return false;
	fcntl(c->in, F_SETFL, fcntl(c->in, F_GETFL) | O_NONBLOCK);
	return true;
}

/* Opens FIFOs for reading and writing, because reading would otherwise end when a writer closes. */
static bool open_fifos(struct control *c, const char *text)
{
	size_t len = strcspn(text, ",");
	char path[PATH_MAX];

	c->ack = -1;
	if (len == 0 ||
	    (size_t)snprintf(path, sizeof(path), "%.*s", (int)len, text) >= sizeof(path))
		return false;
	c->in = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (c->in >= 0 && text[len] == ',')
		c->ack = open(text + len + 1, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return c->in >= 0 && (text[len] != ',' || c->ack >= 0);
}

bool control_open(struct control *c, const char *text)
{
	*c = (struct control){ .in = -1, .ack = -1 };
	errno = 0;
	if (strncmp(text, "fd:", 3) == 0)
		c->on = open_fds(c, text + 3);
	else if (strncmp(text, "fifo:", 5) == 0)
		c->on = open_fifos(c, text + 5);
	return c->on;
}

static enum control_word parse_control_word(const char *line)
{
	static const struct {
		const char *text;
		enum control_word word;
	} words[] = { { "enable", CONTROL_ENABLE },
		      { "disable", CONTROL_DISABLE },
		      { "ping", CONTROL_PING },
		      { "stop", CONTROL_STOP },
		      { "evlist", CONTROL_EVLIST } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].text, line) == 0)
			return words[i].word;
	return CONTROL_UNKNOWN;
}

enum control_word control_next(struct control *c)
{
	char byte;

	while (c->on && read(c->in, &byte, 1) == 1) {
		if (byte != '\n' && byte != '\0') {
			if (c->n + 1 < sizeof(c->line))
				c->line[c->n++] = byte;
			continue;
		}
		if (!c->n)
			continue;
		c->line[c->n] = 0;
		c->n = 0;
		return parse_control_word(c->line);
	}
	return CONTROL_NOTHING;
}

void control_acknowledge(const struct control *c)
{
	static const char answer[] = "ack\n";

	if (c->ack >= 0)
		(void)!write(c->ack, answer, sizeof(answer));
}

void control_wait(const struct control *c, const sigset_t *signals, const int *fds, unsigned n,
                  uint64_t ns)
{
	int sig = signals ? signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
	struct pollfd p[MAX_FDS + 2] = { { .fd = c->in, .events = POLLIN },
		                         { .fd = sig, .events = POLLIN } };
	unsigned i;

	for (i = 0; i < n && i < MAX_FDS; i++)
		p[2 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	poll(p, 2 + i, (int)((ns + 999999) / 1000000));
	if (p[0].revents & POLLHUP && !(p[0].revents & POLLIN))
		poll(NULL, 0, 1); /* the other side closed: avoid a busy loop */
	if (sig >= 0)
		close(sig);
}
