/* SPDX-License-Identifier: MIT */
#include "common/http_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool is_http_url(const char *text)
{
	const size_t length = strlen(text);
	const size_t scheme = strncasecmp(text, "http://", 7) == 0    ? 7
	                      : strncasecmp(text, "https://", 8) == 0 ? 8
	                                                              : 0;

	if (!scheme || length == scheme || length >= HTTP_URL_SIZE || strchr("/?#:@", text[scheme]))
		return false;
	for (size_t i = scheme; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
			return false;
	return true;
}

char *redact_http_url(const char *url, char *buf, size_t size)
{
	const char *host = strstr(url, "//"), *at, *end;
	size_t scheme;

	host = host ? host + 2 : url;
	scheme = (size_t)(host - url);
	end = host + strcspn(host, "/?#");
	at = memrchr(host, '@', (size_t)(end - host));
	host = at ? at + 1 : host;
	snprintf(buf, size, "%.*s%s%.*s%s", (int)scheme, url, at ? "***@" : "",
	         (int)strcspn(host, "?#"), host, strpbrk(host, "?#") ? "?***" : "");
	return buf;
}
