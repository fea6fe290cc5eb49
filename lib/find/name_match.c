/* SPDX-License-Identifier: MIT */
/* How an event name contains the words that a user typed: "L3_MISS" is in
 * "MEM_LOAD_RETIRED.L3_MISS". */
#include "find/name_match.h"

static char fold_letter(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_separator(char c)
{
	return c == '.' || c == ':' || c == '_' || c == '-' || c == ' ';
}

static bool is_part_separator(char c)
{
	return c == '.' || c == ':';
}

/* The text after @token if @name begins with it, else NULL. Any separator equals any other. */
static const char *skip_name_token(const char *name, struct slice token)
{
	for (uint32_t i = 0; i < token.len; i++, name++) {
		bool equal = is_separator(*name) ? is_separator(token.text[i])
		                                 : fold_letter(*name) == fold_letter(token.text[i]);

		if (!*name || !equal)
			return NULL;
	}
	return name;
}

static unsigned count_dots(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += is_part_separator(*name);
	return n;
}

enum name_match pfmi_find_match_name(const char *name, struct slice token)
{
	const char *rest = skip_name_token(name, token);

	if (!token.len)
		return NAME_MATCH_NONE;
	if (rest && is_part_separator(*rest))
		return NAME_MATCH_CHILD;
	for (const char *p = name; *p; p++) {
		bool starts_word = p == name || is_separator(p[-1]);

		rest = starts_word ? skip_name_token(p, token) : NULL;
		if (!rest || (*rest && !is_separator(*rest)))
			continue;
		if (count_dots(name) > 1)
			return NAME_MATCH_LONG_NAME;
		return !*rest && p > name && is_part_separator(p[-1]) ? NAME_MATCH_COMPONENT
		                                                      : NAME_MATCH_WORDS;
	}
	return NAME_MATCH_NONE;
}
