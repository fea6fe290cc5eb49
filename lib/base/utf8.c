/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <stdbool.h>

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Length that the first byte announces; 0 for bytes that begin no character. */
static size_t get_announced_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Some first bytes restrict the second byte: other values are overlong forms, surrogates or numbers
 * beyond U+10FFFF. */
static bool is_valid_second(unsigned char lead, unsigned char second)
{
	switch (lead) {
	case 0xe0: return second >= 0xa0;
	case 0xed: return second <= 0x9f;
	case 0xf0: return second >= 0x90;
	case 0xf4: return second <= 0x8f;
	default: return true;
	}
}

size_t utf8_measure_char(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = len ? get_announced_length(s[0]) : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (!is_continuation(s[i]))
			return 0;
	return n < 2 || is_valid_second(s[0], s[1]) ? n : 0;
}

size_t utf8_measure_valid(const char *text, size_t len)
{
	size_t at = 0, n;

	while (at < len && (n = utf8_measure_char(text + at, len - at)))
		at += n;
	return at;
}
