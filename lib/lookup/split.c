/* SPDX-License-Identifier: MIT */
/* Lists of events: which commas separate events. */
#include <string.h>
#include "lookup/lookup.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct slice skip_bytes(struct slice s, uint32_t n)
{
	return (struct slice){ s.text + n, s.len - n };
}

static struct slice skip_blanks(struct slice s)
{
	while (s.len && is_blank(*s.text))
		s = skip_bytes(s, 1);
	return s;
}

static struct slice trim_blanks(struct slice s)
{
	s = skip_blanks(s);
	while (s.len && is_blank(s.text[s.len - 1]))
		s.len--;
	return s;
}

/* The length of the event at the start of @s: up to a comma outside braces and outside the terms
 * between slashes. A breakpoint (mem:ADDRESS/LENGTH) has a single slash. */
static uint32_t measure_list_item(struct slice s)
{
	const char *comma = memchr(s.text, ',', s.len);
	uint32_t len = comma ? (uint32_t)(comma - s.text) : s.len, i;
	bool slashes, inside = false;
	unsigned braces = 0;

	/* Most events have neither braces nor slashes. */
	if (!memchr(s.text, '{', len) && !memchr(s.text, '/', len))
		return len;
	slashes = s.len < 4 || memcmp(s.text, "mem:", 4) != 0;
	for (i = 0; i < s.len && (s.text[i] != ',' || braces || inside); i++) {
		/* Skips digits and letters. */
		if (s.text[i] > '/' && s.text[i] < '{')
			continue;
		braces += s.text[i] == '{';
		braces -= s.text[i] == '}' && braces;
		inside ^= s.text[i] == '/' && slashes && !braces;
	}
	return i;
}

static bool is_key_char(char c)
{
	unsigned char small = (unsigned char)c | 0x20;

	return (small >= 'a' && small <= 'z') || base_is_digit(c) || c == '_' || c == '-';
}

/* Does @s, the text after a comma, begin with a qualifier of libpmc ("edge", "cmask=1"), which
 * belongs to the event before the comma? An event with '=' inside ("NAME:c=1", "cpu/event=1/") does
 * not begin with a bare key. */
static bool has_leading_qualifier(struct slice s)
{
	const char *comma = s.len ? memchr(s.text, ',', s.len) : NULL;
	struct slice piece =
		trim_blanks((struct slice){ s.text, comma ? (uint32_t)(comma - s.text) : s.len });
	uint32_t len = 0;

	if (!piece.len || !memchr(piece.text, '=', piece.len))
		return pfmi_base_is_slice_icase(piece, "edge") ||
		       pfmi_base_is_slice_icase(piece, "inv") ||
		       pfmi_base_is_slice_icase(piece, "os") ||
		       pfmi_base_is_slice_icase(piece, "usr");
	while (is_key_char(piece.text[len]))
		len++;
	return len && piece.text[len] == '=';
}

bool pfmi_spec_split_list(struct slice *list, struct slice *event)
{
	struct slice rest;
	uint32_t len;

	if (!list->text)
		return false;
	rest = skip_blanks(*list);
	len = measure_list_item(rest);
	while (len < rest.len && has_leading_qualifier(skip_bytes(rest, len + 1)))
		len += 1 + measure_list_item(skip_bytes(rest, len + 1));
	*event = trim_blanks((struct slice){ rest.text, len });
	*list = len < rest.len ? skip_bytes(rest, len + 1) : (struct slice){ NULL, 0 };
	return true;
}

int pfm_split_events(const char **list, const char **event, size_t *len)
{
	struct slice rest, piece = { NULL, 0 };

	if (!list || !*list || !event || !len)
		return 0;
	rest = pfmi_base_make_slice(*list);
	pfmi_spec_split_list(&rest, &piece);
	*list = rest.text;
	*event = piece.text;
	*len = piece.len;
	return 1;
}
