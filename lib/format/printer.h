/* SPDX-License-Identifier: MIT */
/* What those who write an event as a text share: the text so far, and why it cannot be written. */
#ifndef PERFMON_PRINTER_H
#define PERFMON_PRINTER_H

#include <string.h>
#include "format/format.h"

struct event_printer {
	const struct event *event;    /* as the dialect says it best */
	const struct event *original; /* what must come out when the text is read */
	const struct table *table;
	pfm_dialect_t dialect;
	struct slice device;
	bool spells_out_groups; /* write "group=word" where a bare word would do, were it not part of another event's name */
	const char *reason;     /* what the dialect cannot say */
	size_t length;
	char text[PRINTED_TEXT_SIZE];
};

#define PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

/* (lib/format/printer.c) They add to the text; where it has no room they say so in why. */
PRINTF(2, 3)
void pfmi_format_append_printf(struct event_printer *p, const char *format, ...);
void pfmi_format_append_char(struct event_printer *p, char c);
void pfmi_format_append_text(struct event_printer *p, const char *s);
/* The same with the capital letters of libpfm's texts; @s is one of a pool. */
void pfmi_format_append_capitals(struct event_printer *p, const char *s);
/* A value of @f: its word where that reads back as the value, or a number. */
void pfmi_format_append_value(struct event_printer *p, const struct field *f, uint64_t value);

/* Keeps @why as the reason, unless there is one. Always false. */
bool pfmi_format_set_reason(struct event_printer *p, const char *why);

/* (lib/format/print_attributes.c) libpfm, libpmc and the vendor: a name and the words of its groups and modifiers. */
bool pfmi_format_append_named_event(struct event_printer *p);

/* Rewrites @ev, which stays the same event, in the terms that the dialect has words for. */
void pfmi_format_use_dialect_terms(struct event *ev, pfm_dialect_t dialect);

/* (lib/format/print_perf.c) perf's grammar: fields between slashes, raw numbers, names of the kernel. */
bool pfmi_format_append_perf_event(struct event_printer *p);

/* (lib/format/print.c) Equal configuration words, extra registers included. An encoder that refuses both has no such words. */
bool pfmi_format_has_equal_config(const struct event *a, const struct event *b);

static inline bool format_has_none_of(const char *text, const char *characters)
{
	return !text[strcspn(text, characters)];
}

/* Event names are capital letters in libpfm's texts, whatever the table has. */
static inline char format_capitalize_char(char c)
{
	char letter = (char)-(c >= 'a' && c <= 'z'), dot = (char)-(c == '.'); /* every bit, or none */

	return (char)(c ^ (letter & ('a' ^ 'A')) ^ (dot & ('.' ^ ':')));
}

/* Writes the @n bytes at @s, a text of a pool, to @to so. (lib/format/printer.c) */
void pfmi_format_copy_capitals(char *to, const char *s, size_t n);

static inline unsigned format_count_groups(const struct event *ev)
{
	return ev->row_index == ROW_NONE ? 0 : table_row(ev->table, ev->row_index)->n_groups;
}

#endif
