/* SPDX-License-Identifier: MIT */
#include "common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_output.h"

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

static void put_quoted(const struct json *j, const char *text, size_t len)
{
	putc('"', j->out);
	base_put_json(j->out, text, len, true);
	putc('"', j->out);
}

static void put_key(struct json *j, const char *key)
{
	if (j->needs_comma)
		fputs(", ", j->out);
	j->needs_comma = true;
	if (!key)
		return;
	put_quoted(j, key, strlen(key));
	fputs(": ", j->out);
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
