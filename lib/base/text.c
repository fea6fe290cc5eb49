/* SPDX-License-Identifier: MIT */
/* Slices of text, and the integers in them. */
#include "base/text.h"

#include <string.h>

struct slice pfmi_base_make_slice(const char *s)
{
	return (struct slice){ s, (uint32_t)strlen(s) };
}

static unsigned char to_lower_ascii(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

const char *pfmi_base_skip_prefix_icase(struct slice s, const char *word)
{
	/* A slice of a text has no NUL in it, so the end of @word differs from everything. */
	for (uint32_t i = 0; i < s.len; i++)
		if (s.text[i] != word[i] && to_lower_ascii(s.text[i]) != to_lower_ascii(word[i]))
			return NULL;
	return word + s.len;
}

bool pfmi_base_is_slice_icase(struct slice s, const char *word)
{
	const char *rest = pfmi_base_skip_prefix_icase(s, word);

	return rest && *rest == '\0';
}

bool pfmi_base_parse_perf_number(struct slice s, uint64_t *out)
{
	while (s.len > 1 && s.text[0] == '0' && base_is_digit(s.text[1])) {
		s.text++;
		s.len--;
	}
	return pfmi_base_parse_number(s, out);
}

bool pfmi_base_parse_number(struct slice s, uint64_t *out)
{
	unsigned base = 10;
	uint64_t v = 0;
	uint32_t i = 0;

	if (s.len > 2 && s.text[0] == '0' && to_lower_ascii(s.text[1]) == 'x') {
		base = 16;
		i = 2;
	} else if (s.len > 1 && s.text[0] == '0') {
		base = 8;
		i = 1;
	}
	if (i >= s.len)
		return false;
	for (; i < s.len; i++) {
		unsigned d = base_get_digit_value(s.text[i]);

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	*out = v;
	return true;
}
