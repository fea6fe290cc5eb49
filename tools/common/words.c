/* SPDX-License-Identifier: MIT */
#include "common/words.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Copies one character of a word to @to, without its backslash. Returns the next one, or NULL if
 * the text ends within a quote. @quote: the open one, or 0. */
static const char *copy_character(const char *from, char **to, char *quote)
{
	if (*quote ? *from == *quote : *from == '"' || *from == '\'') {
		*quote = *quote ? '\0' : *from;
		return from + 1;
	}
	if (*from == '\\' && *quote != '\'' && from[1])
		from++;
	*(*to)++ = *from;
	return from + 1;
}

/* The end of the word at @from, which is copied to *@to; NULL: a quote is open. */
static const char *copy_word(const char *from, char **to)
{
	char quote = '\0';

	while (*from && (quote || !is_blank(*from)))
		from = copy_character(from, to, &quote);
	return quote ? NULL : from;
}

static bool needs_shell(const char *text)
{
	size_t first = strcspn(text, " \t");

	return strpbrk(text, "|&;<>()$`*?[]{}~#!\n") || memchr(text, '=', first);
}

size_t split_words(char *text, char **words, size_t most)
{
	const char *from = text;
	char *to = text;
	size_t n = 0;

	if (needs_shell(text))
		return 0;
	for (;;) {
		while (is_blank(*from))
			from++;
		if (!*from || n + 1 >= most)
			break;
		words[n++] = to;
		from = copy_word(from, &to);
		if (!from)
			return 0;
		/* The end of the word may be where the next one is read. */
		from += *from != '\0';
		*to++ = '\0';
	}
	words[n] = NULL;
	return *from ? 0 : n;
}
