/* SPDX-License-Identifier: MIT */
#include "profile/render/text_output.h"

#include <stdbool.h>
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

static const char *find_entity(char c)
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
	return is_control(c, len) ? UTF8_REPLACEMENT : find_entity(*c);
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

void put_xml_text(FILE *out, const char *text, size_t len)
{
	put_text_with_replacements(out, text, len, replace_in_xml);
}

void put_csv_field(FILE *out, const char *text, const char *separator)
{
	bool quoted = strstr(text, separator) || strpbrk(text, "\"\n");

	if (quoted)
		putc('"', out);
	put_text_with_replacements(out, text, strlen(text), replace_in_csv);
	if (quoted)
		putc('"', out);
}

void put_line_text(FILE *out, const char *text)
{
	put_text_with_replacements(out, text, strlen(text), replace_in_line);
}
