/* SPDX-License-Identifier: MIT */
/* Numbers and strings in the texts of formats. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/text_output.h"
#include "region/region.h"

/* Replaces the bytes that the locale has between the digits of @number by a point. */
static void set_point(char *number)
{
	size_t whole = strspn(number, "-0123456789");
	size_t point = strcspn(number + whole, "0123456789");
	char *rest = number + whole + point;

	if (!whole || !*rest || !base_is_digit(number[whole - 1]))
		return;
	number[whole] = '.';
	memmove(number + whole + 1, rest, strlen(rest) + 1);
}

const char *pfmi_region_format_real(int digits, double value, char number[REAL_SIZE])
{
	snprintf(number, REAL_SIZE, "%.*f", digits, value);
	set_point(number);
	return number;
}

void pfmi_region_put_real(FILE *out, int digits, double value)
{
	char number[REAL_SIZE];

	fputs(pfmi_region_format_real(digits, value, number), out);
}

/* A number like "1.500000e+00", or "nan". */
void pfmi_region_put_exponent(FILE *out, double value)
{
	char number[64];

	snprintf(number, sizeof(number), "%e", value);
	set_point(number);
	fputs(isnan(value) ? "nan" : number, out);
}

void pfmi_region_put_us(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

void pfmi_region_put_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned)(ns % 1000000));
}

void pfmi_region_put_json(FILE *out, const char *text)
{
	fputc('"', out);
	base_put_json(out, text, strlen(text), false);
	fputc('"', out);
}

void pfmi_region_put_process_name(FILE *out, const pfm_region_results_t *r)
{
	char name[sizeof(r->process.program) + 32];

	if (r->process.rank >= 0)
		snprintf(name, sizeof(name), "%s, rank %d", r->process.program, r->process.rank);
	else
		snprintf(name, sizeof(name), "%s", r->process.program);
	pfmi_region_put_json(out, name);
}
