/* SPDX-License-Identifier: MIT */
/* Checks of UTF-8. Names of threads, files and symbols are arbitrary bytes; output formats require
 * valid UTF-8. */
#ifndef PERFMON_BASE_UTF8_H
#define PERFMON_BASE_UTF8_H

#include <stddef.h>

/* U+FFFD, which replaces each byte that is not part of a character. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length in bytes of the character that the @len bytes at @text begin with, 1 to 4. Returns 0 if
 * they begin with none: a stray byte, an overlong form, a surrogate, a number beyond U+10FFFF, or a
 * character that is cut off. */
size_t utf8_measure_char(const char *text, size_t len);

/* Length in bytes of the valid beginning of the @len bytes at @text. */
size_t utf8_measure_valid(const char *text, size_t len);

#endif
