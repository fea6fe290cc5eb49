/* SPDX-License-Identifier: MIT */
/* pfm serve: HTTP by libmicrohttpd. A connection that takes too long is closed without an
 * answer. After an answer it stays open for the client's next request, as Prometheus has it, until
 * another client needs its place. */
#include "common/pfm.h"
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifdef HAVE_MICROHTTPD
#include <microhttpd.h>

enum {
	MAX_CONNECTIONS = 64,    /* of a listener; further ones wait in the kernel's backlog */
	REQUEST_MEMORY = 16384,  /* bytes for the headers of a request and of its answer */
	IDLE_SECONDS = 3,        /* without a byte in either direction */
	MAX_REQUEST_SECONDS = 3, /* from the connection to the end of the request's header */
	MAX_ANSWER_SECONDS = 30,
	KEEP_SECONDS = 120 /* after an answer, for the next request */
};

struct open_connection {
	int fd;       /* -1: free */
	bool is_kept; /* had an answer, and sent no other request so far */
	uint64_t until;
};

struct cached_text {
	struct MHD_Response *response;
	uint64_t reading; /* number of the reading that the text is of */
};

enum { N_CONNECTIONS = SERVE_MAX_LISTENERS * MAX_CONNECTIONS };

struct serve_http {
	struct MHD_Daemon *daemons[SERVE_MAX_LISTENERS];
	int epoll_fds[SERVE_MAX_LISTENERS];
	struct open_connection connections[N_CONNECTIONS];
	struct cached_text texts[EXPOSITION_PROMETHEUS + 1][2]; /* plain, gzip */
	unsigned n_open;
	bool was_full; /* a connection was closed, so that waiting ones can be accepted */
	bool failed;   /* the counters could not be read */
};

/* ---- connections ----------------------------------------------------------------------------- */

static struct open_connection *find_connection(struct serve_http *http, int fd)
{
	for (size_t i = 0; i < N_CONNECTIONS; i++)
		if (http->connections[i].fd == fd)
			return &http->connections[i];
	return NULL;
}

static uint64_t compute_deadline(unsigned seconds)
{
	return now_ns() + (uint64_t)seconds * NS;
}

/* The entry of a connection; NULL if it is not in the list. */
static struct open_connection *find_entry_of_connection(struct serve *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? find_connection(s->http, info->connect_fd) : NULL;
}

/* Ends a connection; the library notices, and closes its descriptor. */
static void end_connection(struct open_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->until = UINT64_MAX;
	c->is_kept = false;
}

/* Clients that wait for a request of their own never wait for those that have had their answer. */
static void make_room(struct serve_http *http)
{
	struct open_connection *oldest = NULL;

	for (size_t i = 0; i < N_CONNECTIONS; i++) {
		struct open_connection *c = &http->connections[i];

		if (c->fd >= 0 && c->is_kept && (!oldest || c->until < oldest->until))
			oldest = c;
	}
	if (oldest)
		end_connection(oldest);
}

static void note_connection(void *arg, struct MHD_Connection *c, void **state,
                            enum MHD_ConnectionNotificationCode what)
{
	struct serve *s = arg;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct open_connection *at;

	(void)state;
	if (!info)
		return;
	at = find_connection(s->http,
	                     what == MHD_CONNECTION_NOTIFY_STARTED ? -1 : info->connect_fd);
	if (!at)
		return;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*at = (struct open_connection){ info->connect_fd, false,
			                        compute_deadline(MAX_REQUEST_SECONDS) };
		if (++s->http->n_open >= MAX_CONNECTIONS)
			make_room(s->http);
	} else {
		*at = (struct open_connection){ .fd = -1 };
		s->http->was_full |= s->http->n_open-- >= MAX_CONNECTIONS;
	}
}

/* Gives the answer a time of its own, once the request is complete. */
static void extend_time(struct serve *s, struct MHD_Connection *c)
{
	struct open_connection *at = find_entry_of_connection(s, c);

	if (!at)
		return;
	at->until = compute_deadline(MAX_ANSWER_SECONDS);
	if (at->is_kept)
		MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
	at->is_kept = false;
}

/* Keeps the connection for the next request. */
static void note_answer(void *arg, struct MHD_Connection *c, void **state,
                        enum MHD_RequestTerminationCode how)
{
	struct serve *s = arg;
	struct open_connection *at = find_entry_of_connection(s, c);

	(void)state;
	if (!at || how != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		return;
	at->is_kept = true;
	at->until = compute_deadline(KEEP_SECONDS);
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)KEEP_SECONDS);
	if (s->http->n_open >= MAX_CONNECTIONS)
		make_room(s->http);
}

/* Closes old connections: the library closes silent ones, but a client may send or take a byte now
 * and then. */
static void close_old_connections(struct serve *s)
{
	const uint64_t now = now_ns();

	for (size_t i = 0, n = s->http->n_open; n && i < N_CONNECTIONS; i++) {
		struct open_connection *c = &s->http->connections[i];

		n -= c->fd >= 0;
		if (c->fd < 0 || now < c->until)
			continue;
		s->figures.closed += !c->is_kept;
		end_connection(c);
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result refuse_request(struct serve *s, struct MHD_Connection *c, unsigned status,
                                      char *text)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	s->figures.refusals++;
	MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	MHD_add_response_header(r, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static struct MHD_Response *make_response(struct serve *s, enum exposition_format format,
                                          bool is_gzip)
{
	size_t size;
	char *text = make_serve_text(s, format, &size);
	struct MHD_Response *r;

	if (text && is_gzip)
		text = compress_serve_text(text, &size);
	r = text ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE) : NULL;
	if (!r) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(r, "Content-Type",
	                        format == EXPOSITION_OPENMETRICS
	                                ? "application/openmetrics-text; version=1.0.0; "
	                                  "charset=utf-8"
	                                : "text/plain; version=0.0.4; charset=utf-8");
	if (is_gzip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	MHD_add_response_header(r, "Cache-Control", "no-store");
	return r;
}

/* Returns the same text to all clients until the next reading. */
static struct MHD_Response *get_cached_response(struct serve *s, enum exposition_format format,
                                                bool is_gzip)
{
	struct cached_text *t = &s->http->texts[format][is_gzip];

	if (t->response && t->reading == s->figures.readings)
		return t->response;
	if (t->response)
		MHD_destroy_response(t->response);
	t->response = make_response(s, format, is_gzip);
	t->reading = s->figures.readings;
	return t->response;
}

/* The format that the client names; without a name the older one. */
static enum exposition_format read_wanted_format(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");

	return accept && strcasestr(accept, "application/openmetrics-text") ? EXPOSITION_OPENMETRICS
	                                                                    : EXPOSITION_PROMETHEUS;
}

static bool is_gzip_wanted(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");

	return accept && accepts_gzip(accept);
}

static enum MHD_Result answer_request(void *arg, struct MHD_Connection *c, const char *url,
                                      const char *method, const char *version, const char *upload,
                                      size_t *upload_size, void **state)
{
	static char wrong_method[] = "expected GET or HEAD\n", no_counts[] = "out of memory\n",
		    wrong_path[] = "expected the path /metrics\n";
	struct serve *s = arg;
	struct MHD_Response *r;

	(void)version;
	(void)upload;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse_request(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, wrong_method);
	if (strcmp(url, "/metrics") != 0)
		return refuse_request(s, c, MHD_HTTP_NOT_FOUND, wrong_path);
	/* The library closes connections whose answer comes at the first call, before the end of
	 * the request. */
	if (!*state || *upload_size) {
		*state = s;
		*upload_size = 0;
		return MHD_YES;
	}
	extend_time(s, c);
	if (!refresh_counts(s)) {
		s->http->failed = true;
		return MHD_NO;
	}
	r = get_cached_response(s, read_wanted_format(c), is_gzip_wanted(c));
	if (!r)
		return refuse_request(s, c, MHD_HTTP_SERVICE_UNAVAILABLE, no_counts);
	s->figures.answers++;
	return MHD_queue_response(c, MHD_HTTP_OK, r);
}

/* ---- the daemons ----------------------------------------------------------------------------- */

/* Ignores messages, with which a client could fill a log. */
static void ignore_message(void *arg, const char *format, va_list ap)
{
	(void)arg;
	(void)format;
	(void)ap;
}

static int start_daemon(struct serve *s, unsigned i)
{
	struct MHD_OptionItem options[] = { { MHD_OPTION_LISTEN_SOCKET, s->listeners[i].fd, NULL },
		                            { MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS, NULL },
		                            { MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_MEMORY,
		                              NULL },
		                            { MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL },
		                            { MHD_OPTION_END, 0, NULL } };
	const union MHD_DaemonInfo *info;

	s->http->daemons[i] = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer_request, s,
		MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		note_connection, s, MHD_OPTION_NOTIFY_COMPLETED, note_answer, s, MHD_OPTION_ARRAY,
		options, MHD_OPTION_END);
	info = s->http->daemons[i]
	               ? MHD_get_daemon_info(s->http->daemons[i], MHD_DAEMON_INFO_EPOLL_FD)
	               : NULL;
	if (!info) {
		fprintf(stderr, "pfm serve: libmicrohttpd cannot serve %s\n", s->listeners[i].name);
		return EXIT_REFUSED;
	}
	s->http->epoll_fds[i] = info->epoll_fd;
	return EXIT_DONE;
}

int start_http(struct serve *s)
{
	int rc = EXIT_DONE;

	if (!s->n_listeners)
		return EXIT_DONE;
	s->http = calloc(1, sizeof(*s->http));
	if (!s->http)
		return report_no_memory();
	for (size_t i = 0; i < N_CONNECTIONS; i++)
		s->http->connections[i].fd = -1;
	for (unsigned i = 0; i < s->n_listeners && rc == EXIT_DONE; i++)
		rc = start_daemon(s, i);
	return rc;
}

unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS])
{
	unsigned n = s->http ? s->n_listeners : 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = s->http->epoll_fds[i];
	return n;
}

int compute_http_timeout(const struct serve *s, int most)
{
	unsigned long long ms;

	for (unsigned i = 0; s->http && i < s->n_listeners; i++)
		if (MHD_get_timeout(s->http->daemons[i], &ms) == MHD_YES &&
		    ms < (unsigned long long)most)
			most = (int)ms;
	for (size_t i = 0, n = s->http ? s->http->n_open : 0; n && i < N_CONNECTIONS; i++)
		if (s->http->connections[i].fd >= 0) {
			most = find_ms_until(s->http->connections[i].until, most);
			n--;
		}
	return s->http && s->http->was_full ? 0 : most;
}

bool run_http(struct serve *s)
{
	if (!s->http)
		return true;
	s->http->was_full = false;
	close_old_connections(s);
	for (unsigned i = 0; i < s->n_listeners; i++)
		MHD_run(s->http->daemons[i]);
	return !s->http->failed;
}

/* Stops HTTP; the library closes the sockets. */
void stop_http(struct serve *s)
{
	if (!s->http)
		return;
	for (unsigned i = 0; i < s->n_listeners; i++) {
		if (!s->http->daemons[i])
			continue;
		MHD_stop_daemon(s->http->daemons[i]);
		s->listeners[i].fd = -1;
	}
	for (size_t i = 0; i < sizeof(s->http->texts) / sizeof(s->http->texts[0]); i++)
		for (size_t k = 0; k < 2; k++)
			if (s->http->texts[i][k].response)
				MHD_destroy_response(s->http->texts[i][k].response);
	free(s->http);
	s->http = NULL;
}

#else

int start_http(struct serve *s)
{
	if (!s->n_listeners)
		return EXIT_DONE;
	fputs("pfm serve: this pfm was built without libmicrohttpd: --textfile works, --listen "
	      "needs a build with Debian's libmicrohttpd-dev\n",
	      stderr);
	return EXIT_REFUSED;
}

unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS])
{
	(void)s;
	(void)fds;
	return 0;
}

int compute_http_timeout(const struct serve *s, int most)
{
	(void)s;
	return most;
}

bool run_http(struct serve *s)
{
	(void)s;
	return true;
}

void stop_http(struct serve *s)
{
	(void)s;
}

#endif
