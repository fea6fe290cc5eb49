/* SPDX-License-Identifier: MIT */
/* The JSON writer. Output is read by programs a hundred thousand lines at a time, so numbers are not sent through printf. */
#include "json.h"

#include <math.h>
#include <string.h>

static void begin_value(const struct json *j, const char *text, size_t len)
{
	fwrite(text, 1, len, j->out);
}

/* Length of the UTF-8 sequence at @s, 0 if it is none. Overlong forms, surrogates and numbers past U+10FFFF are none. */
static size_t utf8_sequence_length(const unsigned char *s, size_t len)
{
	size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2
	                     : s[0] < 0xf0       ? 3
	                     : s[0] < 0xf5       ? 4
	                                         : 0;
	size_t i;

	if (n == 0 || n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void put_control(const struct json *j, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char escaped[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (c == '\n')
		begin_value(j, "\\n", 2);
	else if (c == '\t')
		begin_value(j, "\\t", 2);
	else
		begin_value(j, escaped, sizeof(escaped));
}

static void put_quoted(const struct json *j, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t done = 0, i = 0, n;

	putc('"', j->out);
	while (i < len) {
		if (s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\') {
			i++;
			continue;
		}
		n = s[i] < 0x80 ? 0 : utf8_sequence_length(s + i, len - i);
		if (n) {
			i += n;
			continue;
		}
		begin_value(j, text + done, i - done);
		if (s[i] == '"' || s[i] == '\\') {
			putc('\\', j->out);
			putc(s[i], j->out);
		} else if (s[i] < 0x80) {
			put_control(j, s[i]);
		} else {
			begin_value(j, "\xef\xbf\xbd", 3);
		}
		done = ++i;
	}
	begin_value(j, text + done, len - done);
	putc('"', j->out);
}

static void put_key(struct json *j, const char *key)
{
	if (j->needs_comma)
		begin_value(j, ", ", 2);
	j->needs_comma = true;
	if (!key)
		return;
	put_quoted(j, key, strlen(key));
	begin_value(j, ": ", 2);
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

static void put_decimal(struct json *j, const char *key, uint64_t value, bool negative)
{
	char buf[24], *p = buf + sizeof(buf);

	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	if (negative)
		*--p = '-';
	put_key(j, key);
	begin_value(j, p, (size_t)(buf + sizeof(buf) - p));
}

void put_int(struct json *j, const char *key, int64_t value)
{
	put_decimal(j, key, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

void put_count(struct json *j, const char *key, uint64_t value)
{
	put_decimal(j, key, value, false);
}

void put_hex(struct json *j, const char *key, uint64_t value)
{
	char buf[24], *p = buf + sizeof(buf);

	*--p = '"';
	do
		*--p = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	*--p = 'x';
	*--p = '0';
	*--p = '"';
	put_key(j, key);
	begin_value(j, p, (size_t)(buf + sizeof(buf) - p));
}

void put_real(struct json *j, const char *key, double value)
{
	put_key(j, key);
	if (isfinite(value))
		fprintf(j->out, "%.15g", value);
	else
		begin_value(j, "null", 4);
}

void put_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	begin_value(j, value ? "true" : "false", value ? 4 : 5);
}

void put_null(struct json *j, const char *key)
{
	put_key(j, key);
	begin_value(j, "null", 4);
}

void put_raw(struct json *j, const char *key, const char *text)
{
	put_key(j, key);
	begin_value(j, text, strlen(text));
}
