/* SPDX-License-Identifier: MIT */
/* Pieces of the sentences that explain errors: tokens in quotes, lists, words of the event. */
#include <stdarg.h>
#include <stdio.h>
#include "format/sentence.h"

void pfmi_format_extend_sentence(struct sentence *s, const char *format, ...)
{
	bool fits = s->length < s->size;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(fits ? s->buf + s->length : NULL, fits ? s->size - s->length : 0, format,
	              args);
	va_end(args);
	s->length += n > 0 ? (size_t)n : 0;
}

/* Control characters that a terminal obeys: those of ASCII and, in UTF-8, U+0080 to U+009F. */
static bool is_control(struct slice t, uint32_t i)
{
	unsigned char c = (unsigned char)t.text[i];

	if (c == 0xc2 && i + 1 < t.len)
		return (unsigned char)t.text[i + 1] >= 0x80 && (unsigned char)t.text[i + 1] <= 0x9f;
	return c < ' ' || c == 127 ||
	       (c >= 0x80 && c <= 0x9f && i && (unsigned char)t.text[i - 1] == 0xc2);
}

void pfmi_format_append_quoted_token(struct sentence *s, struct slice t)
{
	enum { SHOWN = 64 };

	pfmi_format_extend_sentence(s, "\"");
	for (uint32_t i = 0; i < t.len && i < SHOWN; i++)
		pfmi_format_extend_sentence(s, "%c", is_control(t, i) ? '?' : t.text[i]);
	pfmi_format_extend_sentence(s, t.len > SHOWN ? "...\"" : "\"");
}

void pfmi_format_append_token(struct sentence *s)
{
	struct slice t = s->location.token;

	if (t.len == 0 && s->location.is_parsed)
		t = (struct slice){ s->location.spec.text, s->location.spec.len };
	pfmi_format_append_quoted_token(s, t);
}

/* A list with commas: call with i = 0, 1 ... */
static void append_list_item(struct sentence *s, unsigned i, const char *word)
{
	pfmi_format_extend_sentence(s, "%s%s", i ? ", " : "", word);
}

const char *pfmi_format_get_event_name(const struct error_location *p)
{
	if (!p->has_event)
		return "the event";
	return p->row == ROW_NONE ? table_get_text(p->table, p->table->name)
	                          : table_get_row_name(p->table, p->row);
}

static bool has_comma_syntax(const struct error_location *p)
{
	return !format_is_perf_form(p) && p->has_attr && p->attr.separator == ',';
}

unsigned pfmi_format_append_group_words(struct sentence *s, const struct table *t,
                                        const struct umask_group *g, bool libpfm)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;
	unsigned first = libpfm && g->n_named_values > g->n_values ? g->n_values : 0,
		 end = first ? g->n_named_values : g->n_values, n = 0;

	for (unsigned i = first; i < end; i++)
		append_list_item(s, n++, table_get_text(t, w[i].name));
	return n;
}

/* Attributes of the event, in the grammar of the text. */
static void append_qualifiers(struct sentence *s)
{
	const struct error_location *p = &s->location;
	const struct field *f = table_fields(p->table);
	unsigned n = 0;

	if (p->row != ROW_NONE && !format_is_perf_form(p))
		for (unsigned i = 0; i < table_get_row(p->table, p->row)->n_groups; i++) {
			const struct umask_group *g = pfmi_pmu_get_row_group(p->table, p->row, i);

			if (has_comma_syntax(p))
				append_list_item(s, n++, table_get_text(p->table, g->name));
			else {
				pfmi_format_extend_sentence(s, "%s", n ? ", " : "");
				n += pfmi_format_append_group_words(s, p->table, g, true);
			}
		}
	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (f[i].kind != FIELD_TEXT &&
		    (f[i].is_modifier || (format_is_perf_form(p) && f[i].n_ranges)))
			append_list_item(s, n++,
			                 format_is_perf_form(p) && f[i].key == KEY_CODE
			                         ? "event"
			                         : table_get_text(p->table, f[i].name));
	if (has_comma_syntax(p))
		pfmi_format_extend_sentence(s, "%sos, usr", n ? ", " : "");
	else if (!format_is_perf_form(p))
		pfmi_format_extend_sentence(s, "%su, k", n ? ", " : "");
}

void pfmi_format_append_accepted_qualifiers(struct sentence *s, const char *before)
{
	if (!s->location.has_event)
		return;
	pfmi_format_extend_sentence(s, "%s", before);
	append_qualifiers(s);
}
