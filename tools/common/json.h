/* SPDX-License-Identifier: MIT */
/* Writes JSON, one object a line, members in the order in which they are put.
 *
 * Values are written as they come, because answers have a hundred thousand lines and counts use all
 * of 64 bits, more than Jansson's integers hold. The output is ASCII: other characters are \u
 * escapes, and each byte that is not UTF-8 becomes U+FFFD. */
#ifndef PFM_JSON_H
#define PFM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

struct json {
	FILE *out;
	bool needs_comma; /* a value was written before the next one */
};

/* Opens an object or an array. @key is NULL inside arrays and for the outermost object. */
void put_begin(struct json *j, const char *key, char bracket);
void put_end(struct json *j, char bracket);
/* Ends the line after the outermost object. */
void put_line(struct json *j);
void put_text(struct json *j, const char *key, const char *text);
void put_bytes(struct json *j, const char *key, const char *text, size_t len);
/* put_text() unless @text is empty or NULL. */
void put_text_if(struct json *j, const char *key, const char *text);
void put_int(struct json *j, const char *key, int64_t value);
/* Counts and times are decimal numbers; registers are texts in hexadecimal. */
void put_count(struct json *j, const char *key, uint64_t value);
void put_hex(struct json *j, const char *key, uint64_t value);
/* A number with 15 digits, null if it is not finite. */
void put_real(struct json *j, const char *key, double value);
/* A number with 17 digits, which read back gives the same double; null if it is not finite. */
void put_number(struct json *j, const char *key, double value);
void put_bool(struct json *j, const char *key, bool value);
void put_null(struct json *j, const char *key);
/* A value that was read from JSON. */
void put_value_of(struct json *j, const char *key, const json_t *value);

#endif
