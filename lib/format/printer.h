/* SPDX-License-Identifier: MIT */
/* Shared by the printers of each dialect: the text so far, and the reason why it cannot be
 * written. */
#ifndef PERFMON_PRINTER_H
#define PERFMON_PRINTER_H

#include <string.h>
#include "format/format.h"

struct event_printer {
	const struct event *event;    /* in the terms of the dialect */
	const struct event *original; /* the text must read back as this event */
	const struct table *table;
	pfm_dialect_t dialect;
	struct slice device;
	bool spells_out_groups; /* "group=word", where the word would name another event */
	const char *reason;     /* what the dialect cannot express */
	size_t length;
	char text[PRINTED_TEXT_SIZE];
};

#define PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

/* Append to the text; without room they set the reason. (printer.c) */
PRINTF(2, 3)
void pfmi_format_append_printf(struct event_printer *p, const char *format, ...);
void pfmi_format_append_char(struct event_printer *p, char c);
void pfmi_format_append_text(struct event_printer *p, const char *s);
/* Appends @s, a text of a pool, in libpfm's capital letters. */
void pfmi_format_append_capitals(struct event_printer *p, const char *s);
/* Appends a value of @f: its word if that reads back as the value, or a number. */
void pfmi_format_append_value(struct event_printer *p, const struct field *f, uint64_t value);

/* Sets the reason, unless there is one. Returns false. */
bool pfmi_format_set_reason(struct event_printer *p, const char *why);

/* Appends a name, unit masks or qualifiers, and modifiers: libpfm, libpmc and the vendor.
 * (print_attributes.c) */
bool pfmi_format_append_named_event(struct event_printer *p);

/* ---- unit masks and qualifiers (print_umasks.c) ---------------------------------------------- */

/* The character before an attribute. */
char pfmi_format_get_separator(const struct event_printer *p);
/* Do words of the group, in its primary spelling, make up the value? */
bool pfmi_format_has_words_for_value(const struct table *t, const struct umask_group *g,
                                     uint64_t value);
/* Must the value of group @i be written, if its field is not set as a whole? */
bool pfmi_format_is_written_without_fields(const struct event *ev, unsigned i);
/* Append the values of all groups: as libpmc and the vendor write them, or as libpfm does. False,
 * with a reason, if a value has no spelling. */
bool pfmi_format_append_groups(struct event_printer *p);
bool pfmi_format_append_libpfm_groups(struct event_printer *p);

/* Rewrites @ev, which stays the same event, in terms for which the dialect has words.
 * (dialect_terms.c) */
void pfmi_format_use_dialect_terms(struct event *ev, pfm_dialect_t dialect);

/* Appends the event in perf's grammar. (print_perf.c) */
bool pfmi_format_append_perf_event(struct event_printer *p);

/* Do both events have the same configuration words and extra register? Events that their encoder
 * refuses are equal. (printer.c) */
bool pfmi_format_has_equal_config(const struct event *a, const struct event *b);

static inline bool format_has_none_of(const char *text, const char *characters)
{
	return !text[strcspn(text, characters)];
}

/* libpfm's texts have event names in capital letters. */
static inline char format_capitalize_char(char c)
{
	char letter = (char)-(c >= 'a' && c <= 'z'),
	     dot = (char)-(c == '.'); /* all bits set, or none */

	return (char)(c ^ (letter & ('a' ^ 'A')) ^ (dot & ('.' ^ ':')));
}

/* Copies the @n bytes at @s, a text of a pool, in capital letters. (printer.c) */
void pfmi_format_copy_capitals(char *to, const char *s, size_t n);

#endif
