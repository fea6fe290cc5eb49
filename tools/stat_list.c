/* SPDX-License-Identifier: MIT */
/* Lists of events, as perf separates them, with the qualifiers of libpmc in between. */
#include "stat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Bytes to the comma that ends the piece at @text, or to its end. A slash opens and closes the terms of a PMU; in a breakpoint
 * (mem:ADDRESS/LENGTH) it stands alone. */
static size_t piece_length(const char *text)
{
	bool slashes = strncmp(text, "mem:", 4) != 0, inside = false;
	unsigned braces = 0;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '{')
			braces++;
		else if (text[i] == '}' && braces)
			braces--;
		else if (text[i] == '/' && slashes && !braces)
			inside = !inside;
		else if (text[i] == ',' && !braces && !inside)
			break;
	}
	return i;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	size_t i;

	if (strlen(word) != len)
		return false;
	for (i = 0; i < len; i++)
		if (tolower((unsigned char)text[i]) != word[i])
			return false;
	return true;
}

/* A qualifier stands behind the event it belongs to. An event that merely has one inside ("NAME:c=1", "cpu/event=1/") does not begin
 * with a bare key. */
static bool is_qualifier(const char *text, size_t len)
{
	size_t key = 0;

	while (key < len && (isalnum((unsigned char)text[key]) || text[key] == '_' || text[key] == '-'))
		key++;
	return (key > 0 && key < len && text[key] == '=') || is_word(text, len, "edge") || is_word(text, len, "inv") ||
	       is_word(text, len, "os") || is_word(text, len, "usr");
}

static bool add(struct event_list *events, const char *text, size_t len)
{
	char **more = realloc(events->texts, (events->n + 1) * sizeof(*more));
	char *copy = malloc(len + 1);

	if (more)
		events->texts = more;
	if (!more || !copy) {
		free(copy);
		return false;
	}
	memcpy(copy, text, len);
	copy[len] = 0;
	events->texts[events->n++] = copy;
	return true;
}

/* Puts a comma and the qualifier behind the last event. */
static bool append(struct event_list *events, const char *text, size_t len)
{
	char **last = &events->texts[events->n - 1];
	size_t before = strlen(*last);
	char *longer = realloc(*last, before + len + 2);

	if (!longer)
		return false;
	longer[before] = ',';
	memcpy(longer + before + 1, text, len);
	longer[before + 1 + len] = 0;
	*last = longer;
	return true;
}

bool event_list_add(struct event_list *events, const char *list)
{
	const unsigned first = events->n;
	size_t len;

	for (;; list += len + 1) {
		len = piece_length(list);
		if (!(events->n > first && is_qualifier(list, len) ? append(events, list, len) : add(events, list, len)))
			return false;
		if (!list[len])
			return true;
	}
}

void event_list_free(struct event_list *events)
{
	while (events->n)
		free(events->texts[--events->n]);
	free(events->texts);
	events->texts = NULL;
}
