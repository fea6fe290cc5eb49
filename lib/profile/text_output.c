/* SPDX-License-Identifier: MIT */
#include "profile/text_output.h"

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

void put_xml_text(FILE *out, const char *text, size_t len)
{
	for (size_t n; len && *text; text += n, len -= n) {
		size_t valid = utf8_measure_char(text, len);

		n = valid ? valid : 1;
		if (!valid || is_control(text, n) || is_noncharacter(text, n))
			fputs(UTF8_REPLACEMENT, out);
		else if (find_entity(*text))
			fputs(find_entity(*text), out);
		else
			fwrite(text, 1, n, out);
	}
}

void put_csv_field(FILE *out, const char *text, const char *separator)
{
	bool quoted = strstr(text, separator) || strpbrk(text, "\"\n");

	if (quoted)
		putc('"', out);
	for (size_t n, left = strlen(text); left; text += n, left -= n) {
		size_t valid = utf8_measure_char(text, left);

		n = valid ? valid : 1;
		if (!valid || is_noncharacter(text, n) ||
		    (is_control(text, n) && !strchr("\t\n", *text)))
			fputs(UTF8_REPLACEMENT, out);
		else
			fwrite(text, 1, n, out);
		if (*text == '"')
			putc('"', out);
	}
	if (quoted)
		putc('"', out);
}

void put_line_text(FILE *out, const char *text)
{
	for (size_t n, left = strlen(text); left; text += n, left -= n) {
		size_t valid = utf8_measure_char(text, left);

		n = valid ? valid : 1;
		if (!valid || is_control(text, n) || is_noncharacter(text, n))
			fputs(UTF8_REPLACEMENT, out);
		else
			fwrite(text, 1, n, out);
	}
}
