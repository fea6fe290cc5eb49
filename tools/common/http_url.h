/* SPDX-License-Identifier: MIT */
/* Where an option sends data to. */
#ifndef PFM_HTTP_URL_H
#define PFM_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_URL_SIZE = 2048 };

/* True if @text is http:// or https://, a host and visible ASCII characters, and shorter than
 * HTTP_URL_SIZE. libcurl itself also takes file:// and other protocols, and "host" alone. */
bool is_http_url(const char *text);
/* Writes @url for a log: without user and password, and without its query, which may hold a token.
 * Returns @buf. */
char *redact_http_url(const char *url, char *buf, size_t size);

#endif
