/* SPDX-License-Identifier: MIT */
/* The text buffer of a printer. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "format/printer.h"

void pfmi_format_append_printf(struct event_printer *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->length, sizeof(p->text) - p->length, format, args);
	va_end(args);
	if (n > 0)
		p->length += (size_t)n < sizeof(p->text) - p->length
		                     ? (size_t)n
		                     : sizeof(p->text) - 1 - p->length;
	if (p->length == sizeof(p->text) - 1)
		p->reason = "the text is too long";
}

void pfmi_format_append_char(struct event_printer *p, char c)
{
	if (p->length < sizeof(p->text) - 1) {
		p->text[p->length++] = c;
		p->text[p->length] = '\0';
	}
	if (p->length == sizeof(p->text) - 1)
		p->reason = "the text is too long";
}

/* The part of the next @n bytes for which there is room. */
static size_t limit_to_available(struct event_printer *p, size_t n)
{
	size_t size = sizeof(p->text) - 1 - p->length;

	if (n >= size)
		p->reason = "the text is too long";
	return n < size ? n : size;
}

void pfmi_format_append_text(struct event_printer *p, const char *s)
{
	size_t n = limit_to_available(p, strlen(s));

	memcpy(p->text + p->length, s, n);
	p->text[p->length += n] = '\0';
}

void pfmi_format_copy_capitals(char *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = format_capitalize_char(s[i]);
}

void pfmi_format_append_capitals(struct event_printer *p, const char *s)
{
	size_t n = limit_to_available(p, strlen(s));

	pfmi_format_copy_capitals(p->text + p->length, s, n);
	p->text[p->length += n] = '\0';
}

bool pfmi_format_set_reason(struct event_printer *p, const char *why)
{
	if (!p->reason)
		p->reason = why;
	return false;
}

/* Codes and values of more than 16 bits are hexadecimal, thresholds are decimal. */
static void append_number(struct event_printer *p, const struct field *f, uint64_t value)
{
	bool hex = f->width > 16 || f->key == KEY_CODE || f->key == KEY_UMASK;

	pfmi_format_append_printf(p, hex ? "0x%" PRIx64 : "%" PRIu64, value);
}

/* The word that every grammar reads as @value, or NULL. */
static const char *find_readable_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct named_value *w = table_named_values(t) + f->first_named_value;

	for (unsigned i = 0; i < f->n_named_values; i++) {
		const char *word = table_get_text(t, w[i].name);
		uint64_t number;

		if (w[i].value == value && format_has_none_of(word, ":.,/=") &&
		    !pfmi_base_parse_number(pfmi_base_make_slice(word), &number))
			return word;
	}
	return NULL;
}

void pfmi_format_append_value(struct event_printer *p, const struct field *f, uint64_t value)
{
	const char *word = f->kind == FIELD_NUMBER ? NULL : find_readable_word(p->table, f, value);

	if (word)
		pfmi_format_append_printf(p, "%s", word);
	else
		append_number(p, f, value);
}

bool pfmi_format_has_equal_config(const struct event *a, const struct event *b)
{
	perfmon_attr_t x, y;
	uint64_t of_x[N_CONFIG_WORDS], of_y[N_CONFIG_WORDS];

	pfmi_pmu_build_event_attr(a, -1, PFM_PLM0 | PFM_PLM3, &x);
	pfmi_pmu_build_event_attr(b, -1, PFM_PLM0 | PFM_PLM3, &y);
	attr_get_words(&x, of_x);
	attr_get_words(&y, of_y);
	return pfmi_pmu_get_extra_register(a) == pfmi_pmu_get_extra_register(b) &&
	       memcmp(of_x, of_y, sizeof(of_x)) == 0;
}
