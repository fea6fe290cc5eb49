/* SPDX-License-Identifier: MIT */
/* Names of threads, files, symbols and groups as text of an output format that other programs read.
 * Bytes that are not UTF-8 become U+FFFD everywhere. */
#ifndef PERFMON_PROFILE_TEXT_OUTPUT_H
#define PERFMON_PROFILE_TEXT_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

/* @len bytes of @text as text of an XML or HTML document. Characters that XML excludes (most
 * controls, U+FFFE, U+FFFF) become U+FFFD. */
void put_xml_text(FILE *out, const char *text, size_t len);

/* @text as one column of a table whose columns @separator parts, in quotes where it holds a quote,
 * the separator or the end of a line. */
void put_csv_field(FILE *out, const char *text, const char *separator);

/* @text in a line of its own: controls become U+FFFD. */
void put_line_text(FILE *out, const char *text);

#endif
