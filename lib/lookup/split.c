/* SPDX-License-Identifier: MIT */
/* Lists of events, before each of them is a text of its own: the one place that knows which commas separate them. */
#include <string.h>
#include "lookup/lookup.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct slice skip_bytes(struct slice s, uint32_t n)
{
	return (struct slice){ s.s + n, s.len - n };
}

static struct slice skip_blanks(struct slice s)
{
	while (s.len && is_blank(*s.s))
		s = skip_bytes(s, 1);
	return s;
}

static struct slice trim_blanks(struct slice s)
{
	s = skip_blanks(s);
	while (s.len && is_blank(s.s[s.len - 1]))
		s.len--;
	return s;
}

/* Length of the piece at the start of @s: to the comma that is in no braces and not among the terms of a PMU, which stand between
 * slashes. In a breakpoint (mem:ADDRESS/LENGTH) a slash stands alone. */
static uint32_t measure_list_item(struct slice s)
{
	const char *comma = memchr(s.s, ',', s.len);
	uint32_t len = comma ? (uint32_t)(comma - s.s) : s.len, i;
	bool slashes, inside = false;
	unsigned braces = 0;

	/* As nearly all are. */
	if (!memchr(s.s, '{', len) && !memchr(s.s, '/', len))
		return len;
	slashes = s.len < 4 || memcmp(s.s, "mem:", 4) != 0;
	for (i = 0; i < s.len && (s.s[i] != ',' || braces || inside); i++) {
		/* Digits and letters: none of those below. */
		if (s.s[i] > '/' && s.s[i] < '{')
			continue;
		braces += s.s[i] == '{';
		braces -= s.s[i] == '}' && braces;
		inside ^= s.s[i] == '/' && slashes && !braces;
	}
	return i;
}

static bool is_key_char(char c)
{
	unsigned char small = (unsigned char)c | 0x20;

	return (small >= 'a' && small <= 'z') || pfmi_is_digit(c) || c == '_' || c == '-';
}

/* A qualifier of libpmc belongs to the event before the comma: one of its words alone, or a bare key with a value. An event that has one
 * inside ("NAME:c=1", "cpu/event=1/") does not begin so. @s: all that is behind the comma. */
static bool has_leading_qualifier(struct slice s)
{
	const char *comma = s.len ? memchr(s.s, ',', s.len) : NULL;
	struct slice piece = trim_blanks((struct slice){ s.s, comma ? (uint32_t)(comma - s.s) : s.len });
	uint32_t len = 0;

	if (!piece.len || !memchr(piece.s, '=', piece.len))
		return pfmi_slice_is(piece, "edge") || pfmi_slice_is(piece, "inv") || pfmi_slice_is(piece, "os") || pfmi_slice_is(piece, "usr");
	while (is_key_char(piece.s[len]))
		len++;
	return len && piece.s[len] == '=';
}

bool pfmi_spec_split_list(struct slice *list, struct slice *event)
{
	struct slice rest;
	uint32_t len;

	if (!list->s)
		return false;
	rest = skip_blanks(*list);
	len = measure_list_item(rest);
	while (len < rest.len && has_leading_qualifier(skip_bytes(rest, len + 1)))
		len += 1 + measure_list_item(skip_bytes(rest, len + 1));
	*event = trim_blanks((struct slice){ rest.s, len });
	*list = len < rest.len ? skip_bytes(rest, len + 1) : (struct slice){ NULL, 0 };
	return true;
}

int pfm_split_events(const char **list, const char **event, size_t *len)
{
	struct slice rest, piece = { NULL, 0 };

	if (!list || !*list || !event || !len)
		return 0;
	rest = pfmi_slice(*list);
	pfmi_spec_split_list(&rest, &piece);
	*list = rest.s;
	*event = piece.s;
	*len = piece.len;
	return 1;
}
