/* SPDX-License-Identifier: MIT */
/* Columns of texts on a terminal, with the widths of wcwidth(3) in a UTF-8 locale, whatever the
 * current locale is. */
#include "common/columns.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */

/* Columns of a byte outside of all characters: "\x1b" */
enum { ESCAPED_COLUMNS = 4 };

struct range {
	uint32_t first, last;
};

/* Combining marks and joiners. */
static const struct range without_width[] = {
	{ 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },     { 0x610, 0x61a },
	{ 0x64b, 0x65f },   { 0x93c, 0x93c },   { 0x94d, 0x94d },     { 0xe34, 0xe3a },
	{ 0xe47, 0xe4e },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },   { 0x200b, 0x200f },
	{ 0x20d0, 0x20ff }, { 0x302a, 0x302d }, { 0x3099, 0x309a },   { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
};

/* Ideographs, syllables of Korean, full-width forms, and pictures. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
	{ 0xa960, 0xa97c },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
	{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
	{ 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

static bool is_in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Returns the code of a valid character of @len bytes. */
static uint32_t decode_character(const char *text, size_t len)
{
	uint32_t c = (unsigned char)text[0];

	if (len > 1)
		c &= 0xffu >> (len + 1);
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

/* Columns of the character that @text begins with; *@n_bytes: its length. */
static size_t measure_character(const char *text, size_t len, size_t *n_bytes)
{
	size_t n = utf8_measure_char(text, len);
	uint32_t c = n ? decode_character(text, n) : 0;

	*n_bytes = n ? n : 1;
	if (c < ' ' || (c >= 0x7f && c < 0xa0))
		return ESCAPED_COLUMNS * *n_bytes;
	if (is_in_ranges(c, without_width, sizeof(without_width) / sizeof(without_width[0])))
		return 0;
	return is_in_ranges(c, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

size_t count_columns(const char *text, size_t len)
{
	size_t columns = 0, n;

	for (size_t i = 0; i < len; i += n)
		columns += measure_character(text + i, len - i, &n);
	return columns;
}

/* Returns the number of bytes of @text that fit into @columns, including combining characters after
 * the last one; *@used: their columns. */
static size_t count_fitting_bytes(const char *text, size_t len, size_t columns, size_t *used)
{
	size_t i = 0, n;

	for (*used = 0; i < len; i += n) {
		size_t width = measure_character(text + i, len - i, &n);

		if (*used + width > columns)
			break;
		*used += width;
	}
	return i;
}

/* Returns the start of the longest end of @text that fits into @columns; *@used: its columns. */
static size_t search_fitting_end(const char *text, size_t len, size_t columns, size_t *used)
{
	size_t all = count_columns(text, len), i = 0, n;

	*used = all;
	for (; i < len; i += n) {
		size_t width = measure_character(text + i, len - i, &n);

		/* Do not begin with a combining character. */
		if (*used <= columns && width)
			break;
		*used -= width;
	}
	return i;
}

/* Writes a text that is too long, cut at its end or in its middle. */
static size_t put_part(FILE *out, const char *text, size_t columns, enum cut_place place)
{
	size_t len = strlen(text), first, last = 0, n, end;

	if (columns == 0)
		return 0;
	n = count_fitting_bytes(text, len, place == CUT_END ? columns - 1 : columns * 2 / 3,
	                        &first);
	fwrite(text, 1, n, out);
	fputs(ELLIPSIS, out);
	if (place == CUT_END)
		return first + 1;
	end = search_fitting_end(text, len, columns - 1 - first, &last);
	fwrite(text + end, 1, len - end, out);
	return first + 1 + last;
}

/* Returns the length of a text with brackets that are not arguments: an operator's name,
 * "(anonymous namespace)", "(inlined)"; 0 for other texts. */
static size_t measure_operator(const char *text)
{
	static const char *const words[] = { "operator()", "operator<<", "operator<=>",
		                             "operator->", "operator<",  "operator>>",
		                             "operator>",  "->",         "(anonymous namespace)",
		                             "(inlined)" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

/* Returns a copy of @text with an ellipsis between the outermost @open and @close; an unchanged
 * copy if they do not match. NULL without memory. */
static char *elide_brackets(const char *text, char open, char close)
{
	char *copy = calloc(strlen(text) + 1, sizeof(ELLIPSIS)), *to = copy;
	size_t depth = 0, n;

	for (const char *s = text; copy && *s; s += n) {
		bool is_bracket = !(n = measure_operator(s));

		n = is_bracket ? 1 : n;
		depth -= is_bracket && *s == close && depth;
		if (!depth)
			to = mempcpy(to, s, n);
		if (!is_bracket || *s != open)
			continue;
		if (depth++ == 0 && s[1] != close)
			to = mempcpy(to, ELLIPSIS, strlen(ELLIPSIS));
	}
	return copy && depth ? strcpy(copy, text) : copy;
}

/* Removes " [clone .isra.0]", which compilers and demanglers add to a function's name. */
static void remove_clones(char *text)
{
	for (char *at = text; (at = strstr(at, " [clone ")) && strchr(at, ']');) {
		const char *rest = strchr(at, ']') + 1;

		memmove(at, rest, strlen(rest) + 1);
	}
}

static size_t put_cut_name(FILE *out, const char *text, size_t columns)
{
	char *plain = elide_brackets(text, '(', ')'), *bare = NULL;
	size_t used;

	if (plain && count_columns(plain, strlen(plain)) > columns)
		remove_clones(plain);
	if (plain && count_columns(plain, strlen(plain)) > columns)
		bare = elide_brackets(plain, '<', '>');
	used = put_cut(out, bare ? bare : plain ? plain : text, columns, CUT_MIDDLE);
	free(plain);
	free(bare);
	return used;
}

size_t put_cut(FILE *out, const char *text, size_t columns, enum cut_place place)
{
	size_t len = strlen(text), all = count_columns(text, len);

	if (all > columns)
		return place == CUT_NAME ? put_cut_name(out, text, columns)
		                         : put_part(out, text, columns, place);
	fwrite(text, 1, len, out);
	return all;
}

/* Returns the lowest importance of shown columns that may be omitted; 0 if none may be. */
static unsigned compute_least_importance(const struct table_column *columns, size_t n,
                                         unsigned shown)
{
	unsigned least = 0;

	for (size_t i = 0; i < n; i++)
		if (shown >> i & 1 && columns[i].importance &&
		    (!least || columns[i].importance < least))
			least = columns[i].importance;
	return least;
}

unsigned choose_columns(const struct table_column *columns, size_t n, size_t available)
{
	unsigned shown = (1u << n) - 1, least;
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += columns[i].width;
	while (width > available && (least = compute_least_importance(columns, n, shown)))
		for (size_t i = 0; i < n; i++)
			if (columns[i].importance == least) {
				shown &= ~(1u << i);
				width -= columns[i].width;
			}
	return shown;
}
