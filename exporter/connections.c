/* SPDX-License-Identifier: MIT */
/* pfm serve: the open connections. Each has a time for its request and a time for its answer, and
 * stays open after it for the client's next request. A client that comes when all places are taken
 * gets one at once: the connection that has waited the longest for a request ends, or else the
 * oldest one that has not sent all of its request, or else the oldest answer. */
#include "http.h"

#include <sys/socket.h>

enum {
	MAX_REQUEST_SECONDS = 3, /* from the connection to the end of the request's header */
	MAX_ANSWER_SECONDS = 30,
	KEEP_SECONDS = 120, /* after an answer, for the next request */
	REMEMBERED_SECONDS = 300
};

static uint64_t compute_deadline(unsigned seconds)
{
	return now_ns() + (uint64_t)seconds * NS;
}

void clear_connections(struct connection_list *l)
{
	for (size_t i = 0; i < CONNECTION_SLOTS; i++)
		l->at[i].fd = -1;
}

struct open_connection *find_connection(struct connection_list *l, int fd)
{
	for (size_t i = 0; i < CONNECTION_SLOTS; i++)
		if (l->at[i].fd == fd)
			return &l->at[i];
	return NULL;
}

/* Ends a connection; the library notices, and closes its descriptor. */
static void end_connection(struct connection_list *l, struct open_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->until = UINT64_MAX;
	c->is_ending = true;
	l->n_ending++;
}

/* True if @a gives way rather than @b. */
static bool gives_way_before(const struct open_connection *a, const struct open_connection *b)
{
	if (a->is_kept != b->is_kept)
		return a->is_kept;
	if (a->is_answered != b->is_answered)
		return b->is_answered;
	return a->is_kept ? a->until < b->until : a->began < b->began;
}

static void make_room(struct connection_list *l, const struct open_connection *newest)
{
	struct open_connection *first = NULL;

	for (struct open_connection *c = l->at; c < l->at + CONNECTION_SLOTS; c++)
		if (c->fd >= 0 && !c->is_ending && c != newest &&
		    (!first || gives_way_before(c, first)))
			first = c;
	if (!first)
		return;
	l->n_displaced += !first->is_kept;
	end_connection(l, first);
}

void add_connection(struct connection_list *l, int fd)
{
	struct open_connection *c = find_connection(l, -1);

	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	*c = (struct open_connection){ .fd = fd,
		                       .began = now_ns(),
		                       .until = compute_deadline(MAX_REQUEST_SECONDS) };
	l->n++;
	if (l->n - l->n_ending > MAX_CONNECTIONS)
		make_room(l, c);
}

void remove_connection(struct connection_list *l, struct open_connection *c)
{
	l->n--;
	l->n_ending -= c->is_ending;
	*c = (struct open_connection){ .fd = -1 };
}

void note_request(struct open_connection *c)
{
	c->until = c->is_ending ? c->until : compute_deadline(MAX_ANSWER_SECONDS);
	c->is_kept = false;
	c->is_answered = true;
}

void note_answer(struct open_connection *c)
{
	c->until = c->is_ending ? c->until : compute_deadline(KEEP_SECONDS);
	c->is_kept = true;
	c->is_answered = false;
}

unsigned end_old_connections(struct connection_list *l)
{
	const uint64_t now = now_ns();
	unsigned n = l->n_displaced;

	l->n_displaced = 0;
	for (struct open_connection *c = l->at; c < l->at + CONNECTION_SLOTS; c++) {
		if (c->fd < 0 || now < c->until)
			continue;
		n += !c->is_kept;
		end_connection(l, c);
	}
	return n;
}

int compute_connections_timeout(const struct connection_list *l, int most)
{
	unsigned n = l->n;

	for (size_t i = 0; n && i < CONNECTION_SLOTS; i++)
		if (l->at[i].fd >= 0) {
			most = find_ms_until(l->at[i].until, most);
			n--;
		}
	return most;
}

uint64_t find_oldest_reading(const struct connection_list *l)
{
	const uint64_t now = now_ns(), longest = (uint64_t)REMEMBERED_SECONDS * NS,
		       least = now > longest ? now - longest : 1;
	uint64_t oldest = 0;

	for (const struct open_connection *c = l->at; c < l->at + CONNECTION_SLOTS; c++)
		if (c->fd >= 0 && c->reading && (!oldest || c->reading < oldest))
			oldest = c->reading;
	return oldest && oldest < least ? least : oldest;
}
