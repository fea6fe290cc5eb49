/* SPDX-License-Identifier: MIT */
#include "base/text_output.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* True for C0 controls, DEL, and C1 controls (U+0080 to U+009F). */
static bool is_control(const char *c, size_t len)
{
	unsigned char first = (unsigned char)c[0];

	return len == 1 ? first < ' ' || first == 0x7f
	                : first == 0xc2 && (unsigned char)c[1] < 0xa0;
}

/* True for U+FFFE and U+FFFF, which are no characters. */
static bool is_noncharacter(const char *c, size_t len)
{
	return len == 3 && (memcmp(c, "\xef\xbf\xbe", 3) == 0 || memcmp(c, "\xef\xbf\xbf", 3) == 0);
}

static const char *get_entity(char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	default: return NULL;
	}
}

/* The text that a format writes for the character @c of @len bytes; NULL for the character
 * itself. */
typedef const char *replace_fn(const char *c, size_t len);

/* Writes @len bytes of @text, up to a NUL. Characters that stay are written many at a time; bytes
 * that are no UTF-8 and U+FFFE, U+FFFF become U+FFFD. */
static void put_text_with_replacements(FILE *out, const char *text, size_t len, replace_fn *replace)
{
	const char *run = text; /* not written yet, up to @text */

	for (size_t n; len && *text; text += n, len -= n) {
		size_t valid = utf8_measure_char(text, len);
		const char *other = UTF8_REPLACEMENT;

		n = valid ? valid : 1;
		if (valid && !is_noncharacter(text, n))
			other = replace(text, n);
		if (!other)
			continue;
		fwrite(run, 1, (size_t)(text - run), out);
		fputs(other, out);
		run = text + n;
	}
	fwrite(run, 1, (size_t)(text - run), out);
}

static const char *replace_in_xml(const char *c, size_t len)
{
	return is_control(c, len) ? UTF8_REPLACEMENT : get_entity(*c);
}

static const char *replace_in_csv(const char *c, size_t len)
{
	if (*c == '"')
		return "\"\"";
	return is_control(c, len) && !strchr("\t\n", *c) ? UTF8_REPLACEMENT : NULL;
}

static const char *replace_in_line(const char *c, size_t len)
{
	return is_control(c, len) ? UTF8_REPLACEMENT : NULL;
}

void base_put_xml(FILE *out, const char *text, size_t len)
{
	put_text_with_replacements(out, text, len, replace_in_xml);
}

void base_put_csv(FILE *out, const char *text, const char *separator)
{
	bool quoted = strstr(text, separator) || text[strcspn(text, "\"\n")];

	if (quoted)
		fputc('"', out);
	put_text_with_replacements(out, text, strlen(text), replace_in_csv);
	if (quoted)
		fputc('"', out);
}

void base_put_line(FILE *out, const char *text)
{
	put_text_with_replacements(out, text, strlen(text), replace_in_line);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* True for a byte that is itself in a string of JSON. */
static bool is_plain_in_json(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The letter after the backslash in the short escape of @c; 0: it has none. */
static char get_short_escape(char c)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *e = escapes; *e; e += 2)
		if (c == *e)
			return e[1];
	return 0;
}

/* The number of the character of @len bytes at @c, which is valid UTF-8. */
static uint32_t decode_char(const char *c, size_t len)
{
	uint32_t number = (unsigned char)*c & (len > 1 ? 0xffu >> (len + 1) : 0xffu);

	for (size_t i = 1; i < len; i++)
		number = number << 6 | ((unsigned char)c[i] & 0x3f);
	return number;
}

/* Characters beyond 16 bits are two escapes. */
static void put_json_escape(FILE *out, uint32_t number)
{
	if (number == 0x7f)
		fputs("\\u007f", out);
	else if (number < 0x10000)
		fprintf(out, "\\u%04X", number);
	else
		fprintf(out, "\\u%04X\\u%04X", 0xd800 + ((number - 0x10000) >> 10),
		        0xdc00 + (number & 0x3ff));
}

/* The character of @len bytes at @c that is not plain; 0: its first byte is not UTF-8. */
static void put_json_char(FILE *out, const char *c, size_t len, bool ascii)
{
	char letter = len == 1 ? get_short_escape(*c) : 0;

	if (letter)
		fprintf(out, "\\%c", letter);
	else if (len > 1 && !ascii && !is_control(c, len))
		fwrite(c, 1, len, out);
	else
		put_json_escape(out, len ? decode_char(c, len) : 0xfffd);
}

void base_put_json(FILE *out, const char *text, size_t len, bool ascii)
{
	while (len) {
		size_t n = 0, valid;

		while (n < len && is_plain_in_json(text[n]))
			n++;
		fwrite(text, 1, n, out);
		text += n;
		len -= n;
		if (!len)
			return;
		valid = utf8_measure_char(text, len);
		put_json_char(out, text, valid, ascii);
		n = valid ? valid : 1;
		text += n;
		len -= n;
	}
}
