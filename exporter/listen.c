/* SPDX-License-Identifier: MIT */
/* pfm serve: opens sockets to listen on. Host names are not looked up, because their addresses may
 * change, and with them who can read the counts. */
#include "common/pfm.h"
#include "serve.h"
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

enum { BACKLOG = 4096, PORT_DIGITS = 5 };

static int report_address(const struct serve_listener *l, const char *what, int err)
{
	fprintf(stderr, "pfm serve: cannot %s %s: %s\n", what, l->name, strerror(err));
	return EXIT_REFUSED;
}

/* ---- addresses of the network ---------------------------------------------------------------- */

/* Reads a port. For port 0 the kernel chooses one. */
static bool read_port(const char *text, in_port_t *port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long n = strtoul(text, NULL, 10);

	*port = htons((uint16_t)n);
	return digits && digits <= PORT_DIGITS && !text[digits] && n <= UINT16_MAX;
}

/* Reads "ADDRESS:PORT", "[ADDRESS]:PORT", or "localhost:PORT" for 127.0.0.1. Returns the size of
 * the address; 0 for other texts. */
static socklen_t read_address(const char *text, union address *a)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (!len || len >= sizeof(host))
		return 0;
	memcpy(host, text, len);
	host[len] = '\0';
	memset(a, 0, sizeof(*a));
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		a->v6.sin6_family = AF_INET6;
		return inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1 &&
		                       read_port(colon + 1, &a->v6.sin6_port)
		               ? sizeof(a->v6)
		               : 0;
	}
	a->v4.sin_family = AF_INET;
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	return inet_pton(AF_INET, host, &a->v4.sin_addr) == 1 &&
	                       read_port(colon + 1, &a->v4.sin_port)
	               ? sizeof(a->v4)
	               : 0;
}

static bool is_loopback(const union address *a)
{
	if (a->any.sa_family == AF_INET)
		return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

/* Names the listener by its address and actual port. */
static void name_listener(struct serve_listener *l, union address *a)
{
	socklen_t size = sizeof(*a);
	char host[INET6_ADDRSTRLEN] = "";
	bool v6;

	getsockname(l->fd, &a->any, &size);
	v6 = a->any.sa_family == AF_INET6;
	inet_ntop(a->any.sa_family, v6 ? (void *)&a->v6.sin6_addr : (void *)&a->v4.sin_addr, host,
	          sizeof(host));
	snprintf(l->name, sizeof(l->name), "%s%s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "",
	         ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port));
}

static int listen_on_network(struct serve_listener *l, const char *text,
                             const struct web_config *web)
{
	union address a;
	socklen_t size = read_address(text, &a);
	int on = 1;

	if (!size) {
		fprintf(stderr,
		        "pfm serve: expected ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH after "
		        "--listen, got '%s'\n",
		        text);
		return EXIT_USAGE;
	}
	l->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return report_address(l, "listen on", errno);
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(l->fd, &a.any, size) != 0 || listen(l->fd, BACKLOG) != 0)
		return report_address(l, "listen on", errno);
	name_listener(l, &a);
	l->is_loopback = is_loopback(&a);
	fprintf(stderr, "pfm serve: listening on http%s://%s/metrics\n",
	        web && web->certificate ? "s" : "", l->name);
	if (!l->is_loopback && (!web || (!web->n_users && !web->clients)))
		fprintf(stderr,
		        "pfm serve: every machine that reaches %s can read these counts: there is "
		        "neither a password nor %s\n",
		        l->name,
		        web && web->certificate ? "a certificate of clients" : "encryption");
	else if (!l->is_loopback && !web->certificate)
		fprintf(stderr,
		        "pfm serve: passwords for %s are sent without encryption: the file of "
		        "--web-config has no tls_server_config\n",
		        l->name);
	return EXIT_DONE;
}

/* ---- sockets of the file system -------------------------------------------------------------- */

/* Removes a socket whose process has ended. True if there was one. */
static bool remove_dead_socket(const union address *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat there;
	bool is_dead;

	is_dead = fd >= 0 && lstat(a->local.sun_path, &there) == 0 && S_ISSOCK(there.st_mode) &&
	          connect(fd, &a->any, sizeof(a->local)) != 0 && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return is_dead && unlink(a->local.sun_path) == 0;
}

int listen_on_path(struct serve_listener *l, const char *path)
{
	union address a;
	int rc;

	memset(&a, 0, sizeof(a));
	a.local.sun_family = AF_UNIX;
	if (!*path || strlen(path) >= sizeof(a.local.sun_path)) {
		fprintf(stderr,
		        "pfm serve: expected a path of 1 to %zu bytes after unix:, got %zu\n",
		        sizeof(a.local.sun_path) - 1, strlen(path));
		return EXIT_USAGE;
	}
	strcpy(a.local.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return report_address(l, "listen on", errno);
	rc = bind(l->fd, &a.any, sizeof(a.local));
	if (rc != 0 && errno == EADDRINUSE && remove_dead_socket(&a))
		rc = bind(l->fd, &a.any, sizeof(a.local));
	if (rc != 0)
		return report_address(l, "listen on", errno == EADDRINUSE ? EEXIST : errno);
	snprintf(l->path, sizeof(l->path), "%s", path);
	if (listen(l->fd, BACKLOG) != 0)
		return report_address(l, "listen on", errno);
	fprintf(stderr, "pfm serve: listening on %s\n", l->name);
	return EXIT_DONE;
}

int open_listener(struct serve *s, const char *text)
{
	struct serve_listener *l = &s->listeners[s->n_listeners];

	if (s->n_listeners == SERVE_MAX_LISTENERS) {
		fprintf(stderr, "pfm serve: --listen may be given %d times\n", SERVE_MAX_LISTENERS);
		return EXIT_USAGE;
	}
	*l = (struct serve_listener){ .fd = -1 };
	snprintf(l->name, sizeof(l->name), "%s", text);
	s->n_listeners++;
	return strncmp(text, "unix:", 5) == 0 ? listen_on_path(l, text + 5)
	                                      : listen_on_network(l, text, s->web);
}

void close_listener(struct serve_listener *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (*l->path)
		unlink(l->path);
}

void close_listeners(struct serve *s)
{
	for (struct serve_listener *l = s->listeners; l < s->listeners + s->n_listeners; l++)
		close_listener(l);
	s->n_listeners = 0;
}
