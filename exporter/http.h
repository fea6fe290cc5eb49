/* SPDX-License-Identifier: MIT */
/* HTTP of pfm serve, shared by the answers (http.c), the open connections (connections.c), the
 * rules for requests (request.c), the headers that name formats (accept.c) and the texts (text.c).
 */
#ifndef PFM_SERVE_HTTP_H
#define PFM_SERVE_HTTP_H

#include "serve.h"

enum {
	MAX_CONNECTIONS = 64,  /* of all listeners; the oldest one gives way to a further one */
	CONNECTION_SLOTS = 512 /* with those that are ending */
};

struct open_connection {
	int fd;           /* -1: free */
	bool is_kept;     /* had an answer, and sent no other request so far */
	bool is_answered; /* its answer is under way */
	bool is_ending;
	uint64_t began, until;
	uint64_t reading; /* time of the reading that it got last; 0: none */
};

struct connection_list {
	struct open_connection at[CONNECTION_SLOTS];
	unsigned n, n_ending; /* open ones; those of them that are ending */
	unsigned n_displaced; /* those that had not had an answer and gave way to others */
};

/* ---- connections (connections.c) ------------------------------------------------------------- */

void clear_connections(struct connection_list *l);
struct open_connection *find_connection(struct connection_list *l, int fd);
/* Adds a connection. If there are too many, another one gives way. */
void add_connection(struct connection_list *l, int fd);
void remove_connection(struct connection_list *l, struct open_connection *c);
/* The request of @c is complete: its answer has a time of its own. */
void note_request(struct open_connection *c);
/* The answer of @c is complete: it is kept for the next request. */
void note_answer(struct open_connection *c);
/* Ends connections whose time is over. Returns how many had not had their answer, those included
 * that gave way since the last call. */
unsigned end_old_connections(struct connection_list *l);
/* The earliest time of a reading that is some open connection's last one, at most five minutes ago;
 * 0: no connection has had one. */
uint64_t find_oldest_reading(const struct connection_list *l);
/* Milliseconds until end_old_connections() has work, at most @most. */
int compute_connections_timeout(const struct connection_list *l, int most);

/* ---- headers that name formats (accept.c) ---------------------------------------------------- */

/* True if the header Accept-Encoding @accept permits gzip. */
bool accepts_gzip(const char *accept);
/* The format that the header Accept @accept prefers; the older one if it prefers none. */
enum exposition_format find_wanted_format(const char *accept);

/* ---- requests (request.c) -------------------------------------------------------------------- */

struct http_request {
	const char *method, *path, *version;
	const char *host;                 /* NULL without a header */
	unsigned n_hosts;                 /* number of headers Host */
	bool has_body;                    /* Content-Length is not 0, or there is a coding */
	const struct serve_listener *via; /* where it came in */
};

/* The status with which the request is refused, 0 if it is answered. *@why is the text then. */
unsigned check_request(const struct serve *s, const struct http_request *r, const char **why);

/* ---- texts (text.c) -------------------------------------------------------------------------- */

/* The families of counts, kept until the next reading. */
struct kept_text {
	char *bytes; /* NULL: none */
	size_t size;
	uint32_t crc; /* of the text before its compression */
	size_t n_plain, n_samples;
	uint64_t version;
};

struct kept_texts {
	struct kept_text at[EXPOSITION_PROMETHEUS + 1][2]; /* plain, gzip */
};

/* Makes the text of the last reading and of the service's present figures; the caller frees it.
 * NULL without memory. */
char *make_answer(struct serve *s, struct kept_texts *kept, enum exposition_format format,
                  bool is_gzip, size_t *size);
void free_kept_texts(struct kept_texts *kept);

#endif
