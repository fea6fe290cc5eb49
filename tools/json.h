/* SPDX-License-Identifier: MIT */
/* Writes JSON, one object a line, members in the order written. Text that is not UTF-8 comes out with U+FFFD in it. */
#ifndef PFM_JSON_H
#define PFM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool needs_comma; /* something stands before the next value */
};

/* @key is NULL inside arrays and for the outermost object. */
void put_begin(struct json *j, const char *key, char bracket);
void put_end(struct json *j, char bracket);
/* Ends the line after the outermost object. */
void put_line(struct json *j);
void put_text(struct json *j, const char *key, const char *text);
void put_bytes(struct json *j, const char *key, const char *text, size_t len);
void put_int(struct json *j, const char *key, int64_t value);
/* Counts and times are decimal numbers, whatever their size; registers are texts in hexadecimal. */
void put_count(struct json *j, const char *key, uint64_t value);
void put_hex(struct json *j, const char *key, uint64_t value);
void put_real(struct json *j, const char *key, double value);
void put_bool(struct json *j, const char *key, bool value);
void put_null(struct json *j, const char *key);
/* @text is JSON already. */
void put_raw(struct json *j, const char *key, const char *text);
/* put_text() unless @text is empty or NULL. */
void put_text_if(struct json *j, const char *key, const char *text);

#endif
