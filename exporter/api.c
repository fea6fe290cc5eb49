/* SPDX-License-Identifier: MIT */
/* pfm serve --api: programs of this machine ask for counts of events of their choice for a limited
 * time, over a socket in the file system whose mode says who may: its owner and group. A client
 * sends one line of JSON and gets lines of JSON until the time is over; it ends the count earlier
 * by closing the connection. */
#include "api.h"
#include "common/pfm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	API_CLIENTS = 32,
	API_COUNTS = 16, /* at a time */
	API_REQUEST = 8192,
	API_MODE = 0660,
	API_SILENCE = 10,    /* seconds in which a client must send its request */
	API_ANSWER = 1 << 20 /* bytes that may wait for one client */
};

struct api_client {
	int fd; /* -1: free */
	char request[API_REQUEST];
	size_t n_request;
	char *answer; /* bytes that were not sent so far */
	size_t n_answer;
	struct api_count *count;
	uint64_t came;
	bool has_ended; /* the connection ends after the answer */
};

struct serve_api {
	struct serve_listener listener;
	int epoll_fd;
	struct api_client clients[API_CLIENTS];
};

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool watch(const struct serve_api *a, int operation, int fd, uint32_t events, unsigned i)
{
	struct epoll_event e = { .events = events, .data.u32 = i };

	return epoll_ctl(a->epoll_fd, operation, fd, &e) == 0;
}

int open_api(struct serve *s)
{
	struct serve_api *a;
	mode_t mask;
	int rc;

	if (!s->api_path)
		return EXIT_DONE;
	a = s->api = calloc(1, sizeof(*a));
	if (!a)
		return report_no_memory();
	for (unsigned i = 0; i < API_CLIENTS; i++)
		a->clients[i].fd = -1;
	a->epoll_fd = a->listener.fd = -1;
	snprintf(a->listener.name, sizeof(a->listener.name), "%s", s->api_path);
	mask = umask(0777 & ~API_MODE);
	rc = listen_on_path(&a->listener, s->api_path);
	umask(mask);
	if (rc != EXIT_DONE)
		return rc;
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return a->epoll_fd >= 0 && watch(a, EPOLL_CTL_ADD, a->listener.fd, EPOLLIN, API_CLIENTS)
	               ? EXIT_DONE
	               : report_bad_option("epoll", errno);
}

static void close_client(struct api_client *c)
{
	end_api_count(c->count, NULL, NULL);
	close(c->fd);
	free(c->answer);
	*c = (struct api_client){ .fd = -1 };
}

void close_api(struct serve *s)
{
	struct serve_api *a = s->api;

	if (!a)
		return;
	for (unsigned i = 0; i < API_CLIENTS; i++)
		if (a->clients[i].fd >= 0)
			close_client(&a->clients[i]);
	if (a->epoll_fd >= 0)
		close(a->epoll_fd);
	close_listener(&a->listener);
	free(a);
	s->api = NULL;
}

int get_api_fd(const struct serve *s)
{
	return s->api ? s->api->epoll_fd : -1;
}

unsigned count_api_counts(const struct serve *s)
{
	unsigned n = 0;

	for (unsigned i = 0; s->api && i < API_CLIENTS; i++)
		n += s->api->clients[i].count != NULL;
	return n;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Appends @text, which it frees, to the answer. A client that does not read loses its count. */
static void add_answer(struct api_client *c, char *text, size_t size)
{
	char *more = text && c->n_answer + size <= API_ANSWER
	                     ? realloc(c->answer, c->n_answer + size + 1)
	                     : NULL;

	if (more) {
		memcpy(more + c->n_answer, text, size);
		c->answer = more;
		c->n_answer += size;
	}
	c->has_ended |= !more;
	free(text);
}

/* Sends as much as the client takes. */
static void send_answer(struct api_client *c)
{
	size_t sent = 0;

	while (sent < c->n_answer) {
		const ssize_t n = send(c->fd, c->answer + sent, c->n_answer - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			c->has_ended = true;
			sent = c->n_answer;
			break;
		}
		sent += (size_t)n;
	}
	if (sent)
		memmove(c->answer, c->answer + sent, c->n_answer - sent);
	c->n_answer -= sent;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void note_request(const struct serve *s, const struct api_client *c)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);

	(void)s;
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0)
		fprintf(stderr, "pfm serve: --api: process %d of user %u: %s\n", (int)who.pid,
		        (unsigned)who.uid, c->request);
}

/* Replaces control characters, which could forge lines of the log. */
static void clean_request(char *request)
{
	for (; *request; request++)
		if ((unsigned char)*request < ' ' || *request == 0x7f)
			*request = ' ';
}

static void answer_request(struct serve *s, struct api_client *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	clean_request(c->request);
	s->figures.api_requests++;
	if (out && count_api_counts(s) >= API_COUNTS)
		put_api_error(out, "budget", "16 requests are counted already", 10);
	else if (out)
		c->count = begin_api_count(s, c->request, out);
	if (out && fclose(out) != 0)
		text = NULL;
	if (c->count)
		note_request(s, c);
	else
		s->figures.api_refusals++;
	c->has_ended = !c->count;
	add_answer(c, text, size);
}

/* Receives a part of the request. What comes after its line is not read. */
static void receive_request(struct serve *s, struct api_client *c)
{
	const ssize_t n = recv(c->fd, c->request + c->n_request, API_REQUEST - c->n_request - 1, 0);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	c->n_request += n > 0 ? (size_t)n : 0;
	c->request[c->n_request] = '\0';
	end = memchr(c->request, '\n', c->n_request);
	if (end || (n == 0 && c->n_request)) {
		if (end)
			*end = '\0';
		answer_request(s, c);
	} else if (n <= 0 || c->n_request == API_REQUEST - 1) {
		c->has_ended = true;
	}
}

/* ---- clients --------------------------------------------------------------------------------- */

/* A free place; that of the client which has been silent the longest if all are taken. NULL if all
 * have counts. */
static struct api_client *find_room(struct serve_api *a)
{
	struct api_client *oldest = NULL;

	for (struct api_client *c = a->clients; c < a->clients + API_CLIENTS; c++) {
		if (c->fd < 0)
			return c;
		if (!c->count && (!oldest || c->came < oldest->came))
			oldest = c;
	}
	if (oldest)
		close_client(oldest);
	return oldest;
}

static void accept_clients(struct serve_api *a)
{
	int fd;

	while ((fd = accept4(a->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct api_client *c = find_room(a);

		if (!c || !watch(a, EPOLL_CTL_ADD, fd, EPOLLIN, (unsigned)(c - a->clients))) {
			close(fd);
			continue;
		}
		*c = (struct api_client){ .fd = fd, .came = now_ns() };
	}
}

/* Counts of which an interval is over, and those that a pause ends. */
static void continue_count(struct serve *s, struct api_client *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!s->paused_since && now_ns() < get_api_time(c->count))
		return;
	out = open_memstream(&text, &size);
	if (out && (s->paused_since || !continue_api_count(c->count, out))) {
		end_api_count(c->count,
		              s->paused_since ? "counting is paused for other programs" : NULL,
		              out);
		c->count = NULL;
		c->has_ended = true;
	}
	if (out && fclose(out) != 0)
		text = NULL;
	add_answer(c, text, size);
}

static void serve_client(struct serve *s, struct api_client *c, uint32_t events)
{
	const unsigned i = (unsigned)(c - s->api->clients);

	if (events & (EPOLLHUP | EPOLLERR)) {
		close_client(c);
		return;
	}
	if (events & EPOLLIN && !c->count && !c->has_ended)
		receive_request(s, c);
	if (c->count)
		continue_count(s, c);
	if (!c->count && !c->n_request && now_ns() - c->came > (uint64_t)API_SILENCE * NS)
		c->has_ended = true;
	send_answer(c);
	if (c->has_ended && !c->n_answer)
		close_client(c);
	else
		watch(s->api, EPOLL_CTL_MOD, c->fd,
		      (c->n_answer ? EPOLLOUT : 0) | (c->count || c->has_ended ? 0 : EPOLLIN), i);
}

int compute_api_timeout(const struct serve *s, int most)
{
	for (unsigned i = 0; s->api && i < API_CLIENTS; i++) {
		const struct api_client *c = &s->api->clients[i];

		if (c->fd >= 0)
			most = find_ms_until(c->count ? get_api_time(c->count)
			                              : c->came + (uint64_t)API_SILENCE * NS,
			                     most);
	}
	return most;
}

void run_api(struct serve *s)
{
	struct epoll_event events[API_CLIENTS + 1];
	uint32_t ready[API_CLIENTS] = { 0 };
	int n;

	if (!s->api)
		return;
	n = epoll_wait(s->api->epoll_fd, events, API_CLIENTS + 1, 0);
	for (int i = 0; i < n; i++)
		if (events[i].data.u32 == API_CLIENTS)
			accept_clients(s->api);
		else
			ready[events[i].data.u32] = events[i].events;
	for (unsigned i = 0; i < API_CLIENTS; i++)
		if (s->api->clients[i].fd >= 0)
			serve_client(s, &s->api->clients[i], ready[i]);
}
