/* SPDX-License-Identifier: MIT */
/* Lists of events, before each of them is a text of its own: the one place that knows which commas separate them. */
#include <string.h>
#include "spec.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct slice behind(struct slice s, uint32_t n)
{
	return (struct slice){ s.s + n, s.len - n };
}

static struct slice skip_blanks(struct slice s)
{
	while (s.len && is_blank(*s.s))
		s = behind(s, 1);
	return s;
}

static struct slice trim(struct slice s)
{
	s = skip_blanks(s);
	while (s.len && is_blank(s.s[s.len - 1]))
		s.len--;
	return s;
}

/* Length of the piece at the start of @s: to the comma that is in no braces and not among the terms of a PMU, which stand between
 * slashes. In a breakpoint (mem:ADDRESS/LENGTH) a slash stands alone. */
static uint32_t piece_length(struct slice s)
{
	bool slashes = s.len < 4 || memcmp(s.s, "mem:", 4) != 0, inside = false;
	unsigned braces = 0;
	uint32_t i;

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

static bool is_key(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pfmi_is_digit(c) || c == '_' || c == '-';
}

/* A qualifier of libpmc belongs to the event before the comma: one of its words alone, or a bare key with a value. An event that has one
 * inside ("NAME:c=1", "cpu/event=1/") does not begin so. @s: all that is behind the comma. */
static bool begins_with_qualifier(struct slice s)
{
	struct slice key = skip_blanks(s), rest;
	uint32_t len = 0;

	while (len < key.len && is_key(key.s[len]))
		len++;
	if (len && len < key.len && key.s[len] == '=')
		return true;
	rest = skip_blanks(behind(key, len));
	key.len = len;
	return (rest.len == 0 || *rest.s == ',') &&
	       (pfmi_slice_is(key, "edge") || pfmi_slice_is(key, "inv") || pfmi_slice_is(key, "os") || pfmi_slice_is(key, "usr"));
}

bool pfmi_split(struct slice *list, struct slice *event)
{
	struct slice rest;
	uint32_t len;

	if (!list->s)
		return false;
	rest = skip_blanks(*list);
	len = piece_length(rest);
	while (len < rest.len && begins_with_qualifier(behind(rest, len + 1)))
		len += 1 + piece_length(behind(rest, len + 1));
	*event = trim((struct slice){ rest.s, len });
	*list = len < rest.len ? behind(rest, len + 1) : (struct slice){ NULL, 0 };
	return true;
}

int pfm_split_events(const char **list, const char **event, size_t *len)
{
	struct slice rest, piece = { NULL, 0 };

	if (!list || !*list || !event || !len)
		return 0;
	rest = pfmi_slice(*list);
	pfmi_split(&rest, &piece);
	*list = rest.s;
	*event = piece.s;
	*len = piece.len;
	return 1;
}
