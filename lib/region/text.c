/* SPDX-License-Identifier: MIT */
/* The text that a format writes to. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
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

void pfmi_region_put_json(struct text *t, const char *text)
{
	const char *end = text + strlen(text);
	size_t n;

	pfmi_region_put(t, "\"");
	for (const char *s = text; s < end; s += n ? n : 1) {
		n = utf8_measure_char(s, (size_t)(end - s));
		if (*s == '"' || *s == '\\')
			pfmi_region_put(t, "\\%c", *s);
		else if (n == 1 && (*s < ' ' || *s == 0x7f))
			pfmi_region_put(t, "\\u%04x", (unsigned)*s);
		else if (n == 2 && *s == '\xc2' && s[1] < '\xa0') /* the controls from U+0080 on */
			pfmi_region_put(t, "\\u%04x", (unsigned char)s[1]);
		else if (n)
			pfmi_region_put(t, "%.*s", (int)n, s);
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
