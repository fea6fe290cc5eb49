/* SPDX-License-Identifier: MIT */
/* The text that a format writes to. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "region/region.h"

static bool make_room(struct text *t, size_t more)
{
	size_t size = t->size ? t->size : 4096;
	char *bytes;

	while (size < t->n + more)
		size *= 2;
	if (size == t->size)
		return true;
	bytes = realloc(t->bytes, size);
	if (!bytes) {
		t->failed = true;
		return false;
	}
	t->bytes = bytes;
	t->size = size;
	return true;
}

void pfmi_region_put(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || t->failed || !make_room(t, (size_t)n + 1))
		return;
	va_start(ap, format);
	vsnprintf(t->bytes + t->n, (size_t)n + 1, format, ap);
	va_end(ap);
	t->n += (size_t)n;
}

/* Puts @number, as printf() wrote it, with a point for the bytes that the locale has between the
 * digits. */
static void put_with_point(struct text *t, const char *number)
{
	int whole = (int)strspn(number, "-0123456789");
	const char *rest = number + whole + strcspn(number + whole, "0123456789");

	if (whole && *rest && base_is_digit(number[whole - 1]))
		pfmi_region_put(t, "%.*s.%s", whole, number, rest);
	else
		pfmi_region_put(t, "%s", number);
}

/* A real number with @digits after its point, which is a point in every locale. */
void pfmi_region_put_real(struct text *t, int digits, double value)
{
	char number[400];

	snprintf(number, sizeof(number), "%.*f", digits, value);
	put_with_point(t, number);
}

/* A number like "1.500000e+00", or "nan". */
void pfmi_region_put_exponent(struct text *t, double value)
{
	char number[64];

	snprintf(number, sizeof(number), "%e", value);
	put_with_point(t, isnan(value) ? "nan" : number);
}

void pfmi_region_put_us(struct text *t, uint64_t ns)
{
	pfmi_region_put(t, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

void pfmi_region_put_ms(struct text *t, uint64_t ns)
{
	pfmi_region_put(t, "%" PRIu64 ".%06u", ns / 1000000, (unsigned)(ns % 1000000));
}

/* Bytes of the well-formed UTF-8 character at @s, 0 for other bytes. */
static unsigned measure_utf8(const unsigned char *s)
{
	unsigned n = *s < 0x80                 ? 1
	             : *s >= 0xc2 && *s < 0xe0 ? 2
	             : *s >= 0xe0 && *s < 0xf0 ? 3
	             : *s >= 0xf0 && *s < 0xf5 ? 4
	                                       : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n > 2 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	              (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

void pfmi_region_put_json(struct text *t, const char *text)
{
	unsigned n;

	pfmi_region_put(t, "\"");
	for (const unsigned char *s = (const unsigned char *)text; *s; s += n ? n : 1) {
		n = measure_utf8(s);
		if (*s == '"' || *s == '\\')
			pfmi_region_put(t, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			pfmi_region_put(t, "\\u%04x", *s);
		else if (n == 2 && *s == 0xc2 && s[1] < 0xa0) /* the controls from U+0080 on */
			pfmi_region_put(t, "\\u%04x", s[1]);
		else if (n)
			pfmi_region_put(t, "%.*s", (int)n, (const char *)s);
		else
			pfmi_region_put(t, "\\ufffd");
	}
	pfmi_region_put(t, "\"");
}

void pfmi_region_text_free(struct text *t)
{
	free(t->bytes);
	*t = (struct text){ 0 };
}
