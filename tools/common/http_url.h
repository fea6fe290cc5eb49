/* SPDX-License-Identifier: MIT */
/* Where an option sends data to. */
#ifndef PFM_HTTP_URL_H
#define PFM_HTTP_URL_H

#include <stdbool.h>

enum { HTTP_URL_SIZE = 2048 };

/* True if @text is http:// or https://, a host and visible ASCII characters, and shorter than
 * HTTP_URL_SIZE. libcurl itself also takes file:// and other protocols, and "host" alone. */
bool is_http_url(const char *text);

#endif
