/* SPDX-License-Identifier: MIT */
#include "common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void put_bytes_as_they_are(const struct json *j, const char *text, size_t len)
{
	fwrite(text, 1, len, j->out);
}

/* Writes text from Jansson. Escapes DEL, a control character that Jansson leaves unchanged. */
static int write_piece(const char *text, size_t len, void *arg)
{
	FILE *out = arg;
	const char *end = text + len, *del;

	while ((del = memchr(text, 0x7f, (size_t)(end - text)))) {
		fwrite(text, 1, (size_t)(del - text), out);
		fputs("\\u007f", out);
		text = del + 1;
	}
	fwrite(text, 1, (size_t)(end - text), out);
	return 0;
}

/* Reports that a value was replaced by null because memory ran out. */
static void report_lost_value(void)
{
	static bool said;

	if (!said)
		fputs("pfm: out of memory: a value of the answer is null\n", stderr);
	said = true;
}

static void put_encoded(const struct json *j, const json_t *value)
{
	const size_t flags =
		JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(17);

	if (!value || json_dump_callback(value, write_piece, j->out, flags)) {
		fputs("null", j->out);
		report_lost_value();
	}
}

/* The @len bytes at @text with U+FFFD for each byte that is not UTF-8. Returns NULL without
 * memory. */
static json_t *make_string(const char *text, size_t len)
{
	const size_t mark = strlen(UTF8_REPLACEMENT);
	char *valid = malloc(len * mark + 1);
	size_t n = 0;
	json_t *string;

	if (!valid)
		return NULL;
	while (len) {
		size_t good = utf8_measure_valid(text, len), bad = good < len;

		memcpy(valid + n, text, good);
		n += good;
		memcpy(valid + n, UTF8_REPLACEMENT, bad * mark);
		n += bad * mark;
		text += good + bad;
		len -= good + bad;
	}
	string = json_stringn_nocheck(valid, n);
	free(valid);
	return string;
}

/* True if the bytes need no escape. */
static bool is_simple_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] >= 0x7f || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* Writes keys and names that need no escape directly; through Jansson, encode --json takes 2.5
 * times as long. */
static void put_quoted(const struct json *j, const char *text, size_t len)
{
	json_t *string;

	if (is_simple_text(text, len)) {
		putc('"', j->out);
		put_bytes_as_they_are(j, text, len);
		putc('"', j->out);
		return;
	}
	string = make_string(text, len);
	put_encoded(j, string);
	json_decref(string);
}

static void put_key(struct json *j, const char *key)
{
	if (j->needs_comma)
		put_bytes_as_they_are(j, ", ", 2);
	j->needs_comma = true;
	if (!key)
		return;
	put_quoted(j, key, strlen(key));
	put_bytes_as_they_are(j, ": ", 2);
}

void put_begin(struct json *j, const char *key, char bracket)
{
	put_key(j, key);
	putc(bracket, j->out);
	j->needs_comma = false;
}

void put_end(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->needs_comma = true;
}

void put_line(struct json *j)
{
	putc('\n', j->out);
	j->needs_comma = false;
}

void put_bytes(struct json *j, const char *key, const char *text, size_t len)
{
	put_key(j, key);
	put_quoted(j, text, len);
}

void put_text(struct json *j, const char *key, const char *text)
{
	put_bytes(j, key, text, strlen(text));
}

void put_text_if(struct json *j, const char *key, const char *text)
{
	if (text && *text)
		put_text(j, key, text);
}

void put_int(struct json *j, const char *key, int64_t value)
{
	put_key(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void put_count(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void put_hex(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->out, "\"0x%" PRIx64 "\"", value);
}

static void put_digits(struct json *j, const char *key, double value, int digits)
{
	put_key(j, key);
	if (isfinite(value))
		fprintf(j->out, "%.*g", digits, value);
	else
		fputs("null", j->out);
}

void put_real(struct json *j, const char *key, double value)
{
	put_digits(j, key, value, 15);
}

void put_number(struct json *j, const char *key, double value)
{
	put_digits(j, key, value, 17);
}

void put_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

void put_null(struct json *j, const char *key)
{
	put_key(j, key);
	fputs("null", j->out);
}

void put_value_of(struct json *j, const char *key, const json_t *value)
{
	put_key(j, key);
	put_encoded(j, value);
}
