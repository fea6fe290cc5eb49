/* SPDX-License-Identifier: MIT */
/* pfm serve: the headers Accept and Accept-Encoding. Each is a list of names with parameters; the
 * weight "q" tells how much the client prefers one, and 0 excludes it. */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *text, const char *end)
{
	while (text < end && strchr(" \t", *text))
		text++;
	return text;
}

static const char *trim_blanks(const char *text, const char *end)
{
	while (end > text && strchr(" \t", end[-1]))
		end--;
	return end;
}

static bool is_word(const char *text, const char *end, const char *word)
{
	return (size_t)(end - text) == strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

/* The value of parameter @name in ";name=value;..."; *@len is its length. NULL if it is missing. */
static const char *find_parameter(const char *text, const char *end, const char *name, size_t *len)
{
	while (text < end) {
		const char *stop = memchr(text, ';', (size_t)(end - text)), *equals;

		stop = stop ? stop : end;
		equals = memchr(text, '=', (size_t)(stop - text));
		text = skip_blanks(text, stop);
		if (equals && is_word(text, trim_blanks(text, equals), name)) {
			text = skip_blanks(equals + 1, stop);
			*len = (size_t)(trim_blanks(text, stop) - text);
			return text;
		}
		text = stop + 1;
	}
	return NULL;
}

/* The weight of an item, 0 to 1. One that cannot be read is 0. */
static double read_weight(const char *parameters, const char *end)
{
	size_t len;
	const char *text = find_parameter(parameters, end, "q", &len);
	char number[8];
	double weight;

	if (!text)
		return 1;
	if (!len || len >= sizeof(number) || strspn(text, "0123456789.") < len)
		return 0;
	memcpy(number, text, len);
	number[len] = '\0';
	weight = strtod(number, NULL);
	return weight <= 1 ? weight : 0;
}

/* True if this build writes the version of OpenMetrics that the client names. */
static bool is_known_version(const char *parameters, const char *end)
{
	size_t len;
	const char *version = find_parameter(parameters, end, "version", &len);

	return !version || is_word(version, version + len, "1.0.0") ||
	       is_word(version, version + len, "0.0.1") || is_word(version, version + len, "0.0.4");
}

/* The weight of @name in the list; of several, the highest. @fallback: the weight if the list does
 * not name it. */
static double find_weight(const char *list, const char *name, double fallback)
{
	double best = -1;

	for (const char *end; *list; list = *end ? end + 1 : end) {
		const char *semicolon, *parameters;

		end = list + strcspn(list, ",");
		semicolon = memchr(list, ';', (size_t)(end - list));
		parameters = semicolon ? semicolon + 1 : end;
		list = skip_blanks(list, end);
		if (is_word(list, trim_blanks(list, semicolon ? semicolon : end), name) &&
		    is_known_version(parameters, end) && read_weight(parameters, end) > best)
			best = read_weight(parameters, end);
	}
	return best < 0 ? fallback : best;
}

bool accepts_gzip(const char *accept)
{
	return find_weight(accept, "gzip", find_weight(accept, "*", 0)) > 0;
}

enum exposition_format find_wanted_format(const char *accept)
{
	const double openmetrics = find_weight(accept, "application/openmetrics-text", 0),
		     plain = find_weight(
			     accept, "text/plain",
			     find_weight(accept, "text/*", find_weight(accept, "*/*", 0)));

	return openmetrics > 0 && openmetrics >= plain ? EXPOSITION_OPENMETRICS
	                                               : EXPOSITION_PROMETHEUS;
}
