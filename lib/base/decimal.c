/* SPDX-License-Identifier: MIT */
/* Decimal numbers with a point and an exponent, in C's notation. */
#include "base/text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
