/* SPDX-License-Identifier: MIT */
/* Slices of text, and the numbers in them. */
#include "base/text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Length of the number in C's notation at the start of @s, 0 if missing; *@point is the index of
 * its decimal point. */
static size_t measure_decimal(const char *s, size_t *point)
{
	size_t i = s[0] == '-' || s[0] == '+', digits = 0;

	for (*point = SIZE_MAX; base_is_digit(s[i]) || (s[i] == '.' && *point == SIZE_MAX); i++)
		if (s[i] == '.')
			*point = i;
		else
			digits++;
	if (!digits)
		return 0;
	if (s[i] == 'e' || s[i] == 'E') {
		size_t e = i + 1 + (s[i + 1] == '-' || s[i + 1] == '+');

		if (base_is_digit(s[e]))
			for (i = e; base_is_digit(s[i]); i++)
				;
	}
	return i;
}

/* "64", "6.103515625e-5": up to 15 digits and a power of ten up to 22 are exact numbers, so one
 * operation rounds as strtod() does. False for all others, and where the compiler keeps more digits
 * than a double has. */
static bool parse_short_decimal(const char *s, double *out)
{
	double power = 1;
	uint64_t digits = 0;
	int n = 0, exponent = 0, places = -1;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && places < 0); s++) {
		if (*s == '.') {
			places = 0;
			continue;
		}
		digits = digits * 10 + (uint64_t)(*s - '0');
		places += places >= 0;
		if (++n > 15)
			return false;
	}
	if (n && *s == 'e' && s[1] == '-' && s[2] >= '0' && s[2] <= '9') {
		exponent = s[2] - '0';
		s += 3;
		if (*s >= '0' && *s <= '9')
			exponent = exponent * 10 + (*s++ - '0');
	}
	exponent += places > 0 ? places : 0;
	if (n == 0 || *s || exponent > 22 || FLT_EVAL_METHOD != 0)
		return false;
	for (; exponent; exponent--)
		power *= 10;
	*out = (double)digits / power;
	return true;
}

bool pfmi_base_parse_decimal(const char *s, double *out)
{
	size_t point, len;

	if (parse_short_decimal(s, out))
		return true;
	len = measure_decimal(s, &point);
	if (len == 0 || s[len] != '\0' || len > 200)
		return false;
	/* strtod() rounds correctly but reads the locale's decimal point. Another thread may change
	 * the locale in between: the conversion then stops at the point and is tried again. */
	for (int i = 0; i < 3; i++) {
		char half[16], buf[240], *end;
		size_t n = (size_t)snprintf(half, sizeof(half), "%.1f", 0.5);

		if (point == SIZE_MAX || n < 3 || n >= sizeof(half))
			memcpy(buf, s, len + 1);
		else
			snprintf(buf, sizeof(buf), "%.*s%.*s%s", (int)point, s, (int)(n - 2),
			         half + 1, s + point + 1);
		*out = strtod(buf, &end);
		if (*end == '\0')
			return true;
	}
	return false;
}
