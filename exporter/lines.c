/* SPDX-License-Identifier: MIT */
/* pfm serve --lines: counts for programs on this machine, over a socket in the file system. Clients
 * send requests, one word on each line, and get lines of fields with TABs between; pfm(1) describes
 * them. Clients can only read. A connection stays open for any number of requests, so that several
 * programs share one set of counters: each stores what it read last and subtracts it. */
#include "common/pfm.h"
#include "serve.h"
#include "series/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

enum {
	MAX_CLIENTS = 64,
	REQUEST_SIZE = 256,         /* bytes of a line */
	MAX_STALL_SECONDS = 30,     /* without taking any of its answer */
	MAX_ANSWER_BYTES = 64 << 20 /* of the answers that wait for one client */
};

struct line_client {
	int fd; /* -1: free */
	char request[REQUEST_SIZE];
	size_t n_request;
	char *answer; /* bytes that were not sent so far */
	size_t n_answer, sent;
	uint64_t stalled_since;
	uint64_t heard; /* time of its last request, or of its connection */
	bool has_ended; /* the client sends nothing more */
};

struct serve_lines {
	struct serve_listener listener;
	int epoll_fd;
	struct line_client clients[MAX_CLIENTS];
};

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool watch_descriptor(struct serve_lines *l, int operation, int fd, uint32_t events,
                             unsigned number)
{
	struct epoll_event e = { .events = events, .data.u32 = number };

	return epoll_ctl(l->epoll_fd, operation, fd, &e) == 0;
}

int open_lines(struct serve *s)
{
	struct serve_lines *l;
	int rc;

	if (!s->lines_path)
		return EXIT_DONE;
	l = s->lines = calloc(1, sizeof(*l));
	if (!l)
		return report_no_memory();
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		l->clients[i].fd = -1;
	l->epoll_fd = -1;
	l->listener.fd = -1;
	snprintf(l->listener.name, sizeof(l->listener.name), "%s", s->lines_path);
	rc = listen_on_path(&l->listener, s->lines_path);
	if (rc != EXIT_DONE)
		return rc;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll_fd >= 0 && watch_descriptor(l, EPOLL_CTL_ADD, l->listener.fd, EPOLLIN,
	                                            MAX_CLIENTS)
	               ? EXIT_DONE
	               : report_bad_option("epoll", errno);
}

static void close_client(struct line_client *c)
{
	close(c->fd);
	free(c->answer);
	*c = (struct line_client){ .fd = -1 };
}

void close_lines(struct serve *s)
{
	struct serve_lines *l = s->lines;

	if (!l)
		return;
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		if (l->clients[i].fd >= 0)
			close_client(&l->clients[i]);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	close_listener(&l->listener);
	free(l);
	s->lines = NULL;
}

int get_lines_fd(const struct serve *s)
{
	return s->lines ? s->lines->epoll_fd : -1;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Answers "read" or "read PATTERN". False if the counters could not be read. */
static bool answer_read(struct serve *s, FILE *out, const char *pattern)
{
	if (!refresh_counts(s))
		return false;
	put_count_lines(out, &s->job, pattern);
	fprintf(out, "end\t%llu\t%.9f\t%s\n", (unsigned long long)s->figures.readings,
	        s->figures.interval_seconds, s->paused_since ? s->pause_reason : "counting");
	return true;
}

static bool answer_request(struct serve *s, FILE *out, char *request)
{
	char *rest = request, *word = strsep(&rest, " \t");

	if (strcmp(word, "read") == 0)
		return answer_read(s, out, rest && *rest ? rest : "*");
	if (strcmp(word, "version") == 0)
		fprintf(out, "version\t1\t%s\n", PERFMON_VERSION);
	else
		fputs("error\texpected read, read PATTERN or version\n", out);
	return true;
}

/* Appends the answer to the request. False if the counters could not be read. */
static bool add_answer(struct serve *s, struct line_client *c, char *request)
{
	char *text = NULL, *more;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool is_good = out && answer_request(s, out, request);

	if (out && fclose(out) != 0)
		text = NULL;
	more = text && c->n_answer + size <= MAX_ANSWER_BYTES
	               ? realloc(c->answer, c->n_answer + size)
	               : NULL;
	if (more) {
		memcpy(more + c->n_answer, text, size);
		c->answer = more;
		c->n_answer += size;
	}
	free(text);
	c->has_ended |= !more;
	s->figures.line_answers++;
	return is_good;
}

/* ---- clients --------------------------------------------------------------------------------- */

/* Returns a free place. If all are taken, the reader that has been silent the longest gives way. */
static unsigned find_room(struct serve *s)
{
	static const char full[] = "error\ttoo many readers\n";
	struct line_client *clients = s->lines->clients;
	unsigned oldest = 0;

	for (unsigned i = 0; i < MAX_CLIENTS; i++) {
		if (clients[i].fd < 0)
			return i;
		if (clients[i].heard < clients[oldest].heard)
			oldest = i;
	}
	if (!clients[oldest].n_answer)
		(void)!send(clients[oldest].fd, full, sizeof(full) - 1, MSG_NOSIGNAL);
	close_client(&clients[oldest]);
	s->figures.closed++;
	return oldest;
}

static void accept_clients(struct serve *s)
{
	struct serve_lines *l = s->lines;
	int fd;

	while ((fd = accept4(l->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		const unsigned i = find_room(s);

		if (watch_descriptor(l, EPOLL_CTL_ADD, fd, EPOLLIN, i))
			l->clients[i] = (struct line_client){ .fd = fd, .heard = now_ns() };
		else
			close(fd);
	}
}

/* Sends as much as the client takes. False if the connection is over. */
static bool send_answer(struct line_client *c)
{
	while (c->sent < c->n_answer) {
		ssize_t n = send(c->fd, c->answer + c->sent, c->n_answer - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			c->stalled_since = c->stalled_since ? c->stalled_since : now_ns();
			return true;
		}
		if (n <= 0)
			return false;
		c->sent += (size_t)n;
		c->stalled_since = 0;
	}
	free(c->answer);
	c->answer = NULL;
	c->n_answer = c->sent = 0;
	c->stalled_since = 0;
	return !c->has_ended;
}

/* Answers complete lines. A line that is too long ends the connection. False if the counters could
 * not be read. */
static bool answer_requests(struct serve *s, struct line_client *c)
{
	char *begin = c->request, *end;

	/* One answer at a time: a client that takes nothing gets no further answers. */
	while (!c->n_answer &&
	       (end = memchr(begin, '\n', (size_t)(c->request + c->n_request - begin)))) {
		*end = '\0';
		c->heard = now_ns();
		if (end > begin && end[-1] == '\r')
			end[-1] = '\0';
		if (!add_answer(s, c, begin))
			return false;
		begin = end + 1;
		if (!send_answer(c))
			c->has_ended = true;
	}
	c->n_request -= (size_t)(begin - c->request);
	memmove(c->request, begin, c->n_request);
	if (c->n_request == REQUEST_SIZE && !memchr(c->request, '\n', REQUEST_SIZE))
		c->has_ended = true;
	return true;
}

/* Receives what the client has sent, up to the size of a request. */
static void receive_request(struct line_client *c)
{
	ssize_t n;

	if (c->n_request == REQUEST_SIZE)
		return;
	n = recv(c->fd, c->request + c->n_request, REQUEST_SIZE - c->n_request, 0);
	if (n > 0)
		c->n_request += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		c->has_ended = true;
}

/* Serves a client. False if the counters could not be read. */
static bool serve_client(struct serve *s, unsigned i)
{
	struct line_client *c = &s->lines->clients[i];

	if (c->fd < 0)
		return true;
	if (c->n_answer && !send_answer(c)) {
		close_client(c);
		return true;
	}
	if (!c->n_answer)
		receive_request(c);
	if (!answer_requests(s, c))
		return false;
	if (c->has_ended && !c->n_answer)
		close_client(c);
	else
		watch_descriptor(s->lines, EPOLL_CTL_MOD, c->fd, c->n_answer ? EPOLLOUT : EPOLLIN,
		                 i);
	return true;
}

static void close_stalled_clients(struct serve *s)
{
	const uint64_t now = now_ns();

	for (unsigned i = 0; i < MAX_CLIENTS; i++) {
		struct line_client *c = &s->lines->clients[i];

		if (c->fd < 0 || !c->stalled_since ||
		    now - c->stalled_since < (uint64_t)MAX_STALL_SECONDS * NS)
			continue;
		close_client(c);
		s->figures.closed++;
	}
}

int compute_lines_timeout(const struct serve *s, int most)
{
	for (unsigned i = 0; s->lines && i < MAX_CLIENTS; i++) {
		const struct line_client *c = &s->lines->clients[i];

		if (c->fd >= 0 && c->stalled_since)
			most = find_ms_until(c->stalled_since + (uint64_t)MAX_STALL_SECONDS * NS,
			                     most);
	}
	return most;
}

bool run_lines(struct serve *s)
{
	struct epoll_event events[MAX_CLIENTS];
	int n = s->lines ? epoll_wait(s->lines->epoll_fd, events, MAX_CLIENTS, 0) : 0;

	for (int i = 0; i < n; i++)
		if (events[i].data.u32 == MAX_CLIENTS)
			accept_clients(s);
		else if (!serve_client(s, events[i].data.u32))
			return false;
	if (s->lines)
		close_stalled_clients(s);
	return true;
}
