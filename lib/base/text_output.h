/* SPDX-License-Identifier: MIT */
/* Names of threads, files, symbols and groups as text of an output format that other programs read.
 * Bytes that are not UTF-8 become U+FFFD everywhere. */
#ifndef PERFMON_BASE_TEXT_OUTPUT_H
#define PERFMON_BASE_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* @len bytes of @text as text of an XML or HTML document. Characters that XML excludes (most
 * controls, U+FFFE, U+FFFF) become U+FFFD. */
void base_put_xml(FILE *out, const char *text, size_t len);

/* @text as one column of a table whose columns @separator parts, in quotes where it holds a quote,
 * the separator or the end of a line. */
void base_put_csv(FILE *out, const char *text, const char *separator);

/* @len bytes of @text between the quotes of a JSON string. @ascii: all characters beyond ASCII are
 * escapes; else only the controls among them. */
void base_put_json(FILE *out, const char *text, size_t len, bool ascii);

/* @text in a line of its own: controls become U+FFFD. */
void base_put_line(FILE *out, const char *text);

#endif
