/* SPDX-License-Identifier: MIT */
/* pfm serve: HTTP by libmicrohttpd. A connection that takes too long is closed without an
 * answer. After an answer it stays open for the client's next request, as Prometheus has it, until
 * another client needs its place. */
#include "common/pfm.h"
#include "http.h"
#include "web.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_MICROHTTPD
#include <microhttpd.h>
#include "refusal.h"

enum {
	REQUEST_MEMORY = 16384, /* bytes for the headers of a request and of its answer */
	IDLE_SECONDS = 3,       /* without a byte in either direction */
	KEEP_SECONDS = 120      /* after an answer, for the next request */
};

/* The argument of a daemon's calls. */
struct http_listener {
	struct serve *s;
	struct MHD_Daemon *daemon;
	int epoll_fd;
	unsigned number;
};

struct serve_http {
	struct http_listener listeners[SERVE_MAX_LISTENERS];
	struct connection_list connections;
	struct kept_texts texts;
	bool was_full; /* a connection was closed, so that waiting ones can be accepted */
	bool failed;   /* the counters could not be read */
};

const bool have_http = true;

/* The file of --web-config, for listeners on networks; a socket in the file system has its
 * permissions. */
static struct web_config *get_web_config(const struct http_listener *l)
{
	return *l->s->listeners[l->number].path ? NULL : l->s->web;
}

/* ---- connections ----------------------------------------------------------------------------- */

static int get_fd(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* The entry of a connection; NULL if it is not in the list. */
static struct open_connection *find_entry_of_connection(struct serve *s, struct MHD_Connection *c)
{
	const int fd = get_fd(c);

	return fd < 0 ? NULL : find_connection(&s->http->connections, fd);
}

static void note_connection(void *arg, struct MHD_Connection *c, void **state,
                            enum MHD_ConnectionNotificationCode what)
{
	struct serve_http *http = ((struct http_listener *)arg)->s->http;
	struct open_connection *at;

	(void)state;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		if (get_fd(c) >= 0)
			add_connection(&http->connections, get_fd(c));
		http->was_full |= http->connections.n_ending != 0;
		return;
	}
	at = find_connection(&http->connections, get_fd(c));
	if (at && at->fd >= 0) {
		remove_connection(&http->connections, at);
		http->was_full = true;
	}
}

/* Gives the answer a time of its own, once the request is complete. */
static void extend_time(struct serve *s, struct MHD_Connection *c)
{
	struct open_connection *at = find_entry_of_connection(s, c);

	if (!at)
		return;
	if (at->is_kept)
		MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
	note_request(at);
}

/* Keeps the connection for the next request. */
static void end_answer(void *arg, struct MHD_Connection *c, void **state,
                       enum MHD_RequestTerminationCode how)
{
	struct open_connection *at = find_entry_of_connection(((struct http_listener *)arg)->s, c);

	(void)state;
	if (!at || how != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		return;
	note_answer(at);
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)KEEP_SECONDS);
}

/* ---- requests -------------------------------------------------------------------------------- */

static const char *get_header(struct MHD_Connection *c, const char *name)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return value ? value : "";
}

/* Notes a header that decides about the request. */
static enum MHD_Result note_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
	struct http_request *r = arg;

	(void)kind;
	if (strcasecmp(name, "Host") == 0) {
		r->host = value ? value : "";
		r->n_hosts++;
	}
	r->has_body |= strcasecmp(name, "Transfer-Encoding") == 0;
	r->has_body |=
		strcasecmp(name, "Content-Length") == 0 && (!value || strcmp(value, "0") != 0);
	return MHD_YES;
}

/* Leaves a path as it was sent: "%00" would end it. */
static size_t keep_path(void *arg, struct MHD_Connection *c, char *path)
{
	(void)arg;
	(void)c;
	return strlen(path);
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct MHD_Response *make_response(struct serve *s, enum exposition_format format,
                                          bool is_gzip)
{
	size_t size;
	char *text = make_answer(s, &s->http->texts, format, is_gzip, &size);
	struct MHD_Response *r =
		text ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE) : NULL;

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
	for (unsigned i = 0; s->web && i < s->web->n_headers; i++)
		MHD_add_response_header(r, s->web->headers[i].name, s->web->headers[i].value);
	MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	MHD_add_response_header(r, "Cache-Control", "no-store");
	return r;
}

/* Answers a request that is complete and allowed. */
static enum MHD_Result answer_scrape(struct serve *s, struct MHD_Connection *c)
{
	struct open_connection *at;
	const unsigned seconds = compute_retry_seconds(&s->budget);
	struct MHD_Response *r;
	enum MHD_Result rc;

	extend_time(s, c);
	if (seconds)
		return defer_request(s, c, seconds);
	if (!refresh_counts(s)) {
		s->http->failed = true;
		return MHD_NO;
	}
	s->figures.answers++;
	r = make_response(s, find_wanted_format(get_header(c, "Accept")),
	                  have_gzip && accepts_gzip(get_header(c, "Accept-Encoding")));
	if (!r)
		return refuse_request(s, c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
	at = find_entry_of_connection(s, c);
	if (at)
		at->reading = s->last_reading;
	rc = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result answer_request(void *arg, struct MHD_Connection *c, const char *url,
                                      const char *method, const char *version, const char *upload,
                                      size_t *upload_size, void **state)
{
	const struct http_listener *l = arg;
	struct http_request r = { .method = method,
		                  .path = url,
		                  .version = version,
		                  .via = &l->s->listeners[l->number] };
	const char *why;
	unsigned status;
	enum MHD_Result rc;

	(void)upload;
	/* The library closes connections whose answer comes at the first call, before the end of
	 * the request. */
	if (*state && !*upload_size)
		return answer_scrape(l->s, c);
	if (get_web_config(l) && refuse_client(l->s, get_web_config(l), c, &rc))
		return rc;
	MHD_get_connection_values(c, MHD_HEADER_KIND, note_header, &r);
	status = check_request(l->s, &r, &why);
	if (status)
		return refuse_request(l->s, c, status, why);
	*state = l->s;
	*upload_size = 0;
	return MHD_YES;
}

/* ---- the daemons ----------------------------------------------------------------------------- */

/* Ignores messages, with which a client could fill a log. */
static void ignore_message(void *arg, const char *format, va_list ap)
{
	(void)arg;
	(void)format;
	(void)ap;
}

/* Adds the options of TLS to a list, which must be long enough. */
static void add_tls_options(struct MHD_OptionItem *options, const struct web_config *w)
{
	options += 5;
	*options++ = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, w->certificate };
	*options++ = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, w->key };
	*options++ = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
		                              (void *)(uintptr_t)w->priorities };
	if (w->authority)
		*options++ = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, w->authority };
	*options = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
}

static int start_daemon(struct serve *s, unsigned i)
{
	enum { MAX_OPTIONS = 10 };
	struct http_listener *l = &s->http->listeners[i];
	struct MHD_OptionItem options[MAX_OPTIONS] = {
		{ MHD_OPTION_LISTEN_SOCKET, s->listeners[i].fd, NULL },
		{ MHD_OPTION_CONNECTION_LIMIT, CONNECTION_SLOTS, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_MEMORY, NULL },
		{ MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL },
		{ MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL },
		{ MHD_OPTION_END, 0, NULL }
	};
	const struct web_config *w;
	const union MHD_DaemonInfo *info;
	bool is_tls;

	*l = (struct http_listener){ .s = s, .number = i };
	w = get_web_config(l);
	is_tls = w && w->certificate;
	if (is_tls)
		add_tls_options(options, w);
	l->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (is_tls ? MHD_USE_TLS : 0),
	                             0, NULL, NULL, answer_request, l, MHD_OPTION_EXTERNAL_LOGGER,
	                             ignore_message, NULL, MHD_OPTION_UNESCAPE_CALLBACK, keep_path,
	                             NULL, MHD_OPTION_NOTIFY_CONNECTION, note_connection, l,
	                             MHD_OPTION_NOTIFY_COMPLETED, end_answer, l, MHD_OPTION_ARRAY,
	                             options, MHD_OPTION_END);
	info = l->daemon ? MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		fprintf(stderr, "pfm serve: libmicrohttpd cannot serve %s%s\n",
		        s->listeners[i].name, is_tls ? ": check the certificate and its key" : "");
		return EXIT_REFUSED;
	}
	l->epoll_fd = info->epoll_fd;
	return EXIT_DONE;
}

/* Starts a listener again with the file of --web-config as it is now. Its socket stays open. */
static int restart_daemon(struct serve *s, unsigned i)
{
	struct MHD_Daemon *d = s->http->listeners[i].daemon;
	const int fd = MHD_quiesce_daemon(d);

	MHD_stop_daemon(d);
	s->http->listeners[i].daemon = NULL;
	s->listeners[i].fd = fd;
	return start_daemon(s, i);
}

int reload_http(struct serve *s)
{
	struct web_config *next;
	int rc = EXIT_DONE;

	if (!s->web_path || !s->http) {
		fputs("pfm serve: SIGHUP: --web-config was not given, nothing is read again\n",
		      stderr);
		return EXIT_DONE;
	}
	next = load_web_config(s->web_path);
	if (!next) {
		fprintf(stderr, "pfm serve: %s: the file as it was before stays in use\n",
		        s->web_path);
		return EXIT_DONE;
	}
	free_web_config(s->web);
	s->web = next;
	for (unsigned i = 0; i < s->n_listeners && rc == EXIT_DONE; i++)
		if (!*s->listeners[i].path)
			rc = restart_daemon(s, i);
	fprintf(stderr, "pfm serve: %s: read again\n", s->web_path);
	return rc;
}

int start_http(struct serve *s)
{
	int rc = EXIT_DONE;

	if (!s->n_listeners)
		return EXIT_DONE;
	s->http = calloc(1, sizeof(*s->http));
	if (!s->http)
		return report_no_memory();
	clear_connections(&s->http->connections);
	for (unsigned i = 0; i < s->n_listeners && rc == EXIT_DONE; i++)
		rc = start_daemon(s, i);
	return rc;
}

uint64_t find_known_reading(const struct serve *s)
{
	const uint64_t oldest = s->http ? find_oldest_reading(&s->http->connections) : 0;

	return oldest && oldest < s->last_reading ? oldest : s->last_reading;
}

unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS])
{
	unsigned n = s->http ? s->n_listeners : 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = s->http->listeners[i].epoll_fd;
	return n;
}

int compute_http_timeout(const struct serve *s, int most)
{
	unsigned long long ms;

	if (!s->http)
		return most;
	for (unsigned i = 0; i < s->n_listeners; i++)
		if (MHD_get_timeout(s->http->listeners[i].daemon, &ms) == MHD_YES &&
		    ms < (unsigned long long)most)
			most = (int)ms;
	most = compute_connections_timeout(&s->http->connections, most);
	return s->http->was_full ? 0 : most;
}

bool run_http(struct serve *s)
{
	if (!s->http)
		return true;
	s->http->was_full = false;
	s->figures.closed += end_old_connections(&s->http->connections);
	for (unsigned i = 0; i < s->n_listeners; i++)
		MHD_run(s->http->listeners[i].daemon);
	return !s->http->failed;
}

/* Stops HTTP; the library closes the sockets. */
void stop_http(struct serve *s)
{
	if (!s->http)
		return;
	for (unsigned i = 0; i < s->n_listeners; i++) {
		if (!s->http->listeners[i].daemon)
			continue;
		MHD_stop_daemon(s->http->listeners[i].daemon);
		s->listeners[i].fd = -1;
	}
	free_kept_texts(&s->http->texts);
	free(s->http);
	s->http = NULL;
}

#else

const bool have_http = false;

int reload_http(struct serve *s)
{
	(void)s;
	return EXIT_DONE;
}

uint64_t find_known_reading(const struct serve *s)
{
	return s->last_reading;
}

int start_http(struct serve *s)
{
	(void)s;
	return EXIT_DONE;
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
