/* SPDX-License-Identifier: MIT */
/* pfm serve: which requests are answered. A browser can be led to send requests to a service of its
 * own machine under a name that another site owns (DNS rebinding); so the name in the header Host
 * must be one of this machine. A numeric address is accepted:
 * it cannot be registered as a name. */
#include "http.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { NAME_SIZE = 256 };

/* Splits "NAME", "NAME:PORT", "[ADDRESS]" or "[ADDRESS]:PORT". False for other texts. */
static bool read_host(const char *text, char name[NAME_SIZE])
{
	const bool has_brackets = *text == '[';
	const size_t len = has_brackets ? strcspn(text, "]") : strcspn(text, ":");
	const char *rest = text + len + (has_brackets && text[len] == ']');

	if (!len || len >= NAME_SIZE || (has_brackets && text[len] != ']'))
		return false;
	memcpy(name, text + has_brackets, len - has_brackets);
	name[len - has_brackets] = '\0';
	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	return !*rest && *name;
}

static bool is_address(const char *name)
{
	struct in6_addr a;

	return inet_pton(AF_INET, name, &a) == 1 || inet_pton(AF_INET6, name, &a) == 1;
}

/* True if @name is in the comma-separated @list. */
static bool is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && strncasecmp(list, name, len) == 0)
			return true;
	return false;
}

static bool is_host_allowed(const struct serve *s, const struct http_request *r)
{
	char name[NAME_SIZE];

	if (!r->host)
		return true;
	if (!read_host(r->host, name))
		return false;
	return *r->via->path || is_address(name) || strcasecmp(name, "localhost") == 0 ||
	       (!s->hosts && !r->via->is_loopback) || is_listed(s->hosts, name);
}

unsigned check_request(const struct serve *s, const struct http_request *r, const char **why)
{
	enum { BAD_REQUEST = 400, NOT_FOUND_HERE = 404, NOT_ALLOWED = 405, MISDIRECTED = 421 };

	*why = "expected one header Host\n";
	if (r->n_hosts > 1 || (!r->host && strcmp(r->version, "HTTP/1.0") != 0))
		return BAD_REQUEST;
	*why = "expected localhost, an address or a name of --allow-host in the header Host\n";
	if (!is_host_allowed(s, r))
		return MISDIRECTED;
	*why = "expected GET or HEAD\n";
	if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
		return NOT_ALLOWED;
	*why = "expected a request without a body\n";
	if (r->has_body)
		return BAD_REQUEST;
	*why = "expected the path /metrics\n";
	return strcmp(r->path, "/metrics") == 0 ? 0 : NOT_FOUND_HERE;
}
