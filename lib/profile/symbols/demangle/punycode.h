/* SPDX-License-Identifier: MIT */
/* Identifiers of Rust with letters beyond ASCII: RFC 3492, with "_" as delimiter. */
#ifndef PERFMON_PROFILE_PUNYCODE_H
#define PERFMON_PROFILE_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>

enum { PUNYCODE_TEXT = 512 }; /* bytes of the longest text, its end included */

/* Decodes @len bytes of @code to UTF-8. False if they are invalid, or too long. */
bool punycode_decode(const char *code, size_t len, char text[PUNYCODE_TEXT]);

#endif
