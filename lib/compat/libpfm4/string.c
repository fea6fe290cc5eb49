/* SPDX-License-Identifier: MIT */
/* The fully qualified string. Some strings of libpfm4 do not read back to the same words. Outside
 * the exact mode, strings here omit what would not read back. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define LIBPFM4_MAX_STRING 255 /* bytes after the PMU's name */

struct text_buffer {
	size_t length, capacity;
	char bytes[16384];
};

static void append_format(struct text_buffer *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append_format(struct text_buffer *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->bytes + t->length, t->capacity - t->length, format, ap);
	va_end(ap);
	if (n > 0)
		t->length = t->length + (size_t)n < t->capacity ? t->length + (size_t)n
		                                                : t->capacity - 1;
}

/* Appends a text. ":name=1", the most frequent piece, is written without printf() for speed. */
static void append_word(struct text_buffer *t, const char *s)
{
	size_t n = strlen(s), left = t->capacity - 1 - t->length;

	n = n < left ? n : left;
	memcpy(t->bytes + t->length, s, n);
	t->length += n;
	t->bytes[t->length] = '\0';
}

static void append_value(struct text_buffer *t, const char *name, uint64_t value)
{
	char digits[24] = { 0 };
	unsigned at = sizeof(digits) - 1;

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	append_word(t, ":");
	append_word(t, name);
	append_word(t, "=");
	append_word(t, digits + at);
}

static void append_masks(struct text_buffer *t, const struct l4_query *q, const struct l4_code *c)
{
	bool exact = l4_is_exact_mode();

	for (unsigned i = 0; i < L4_MAX_MASKS; i++) {
		if (!(c->used_masks[i / 64] >> i % 64)) {
			i |= 63;
			continue;
		}
		/* A raw mask replaces the masks that an alias adds, and cannot follow them. */
		if (!l4_has_bit(c->used_masks, i) ||
		    (!exact && (c->has_raw_mask || l4_has_bit(c->hidden_masks, i))))
			continue;
		append_word(t, ":");
		append_word(t, l4_get_text(l4_get_row_masks(q->event.row)[i].name));
		for (unsigned k = 0, n = 0; exact && k < q->n_attrs;
		     k++) /* once for each duplicate that was not removed */
			if (q->attrs[k].kind == L4_ATTR_MASK && q->attrs[k].number == i && n++)
				append_format(t, ":%s",
				              l4_get_text(l4_get_row_masks(q->event.row)[i].name));
	}
	if (c->has_raw_mask)
		append_format(t, ":0x%llx",
		              (unsigned long long)(exact ? (uint32_t)c->raw_mask : c->raw_mask));
	for (unsigned i = 0; q->event.is_tracepoint_system && i < q->n_attrs; i++)
		if (q->attrs[i].kind == L4_ATTR_MASK)
			append_format(t, ":%s",
			              l4_get_tracepoint_name(q->event.position, q->attrs[i].number,
			                                     NULL));
}

static void append_modifiers(struct text_buffer *t, const struct l4_query *q,
                             const struct l4_code *c)
{
	static const uint8_t netburst[] = { 1, 0, 3, 2, 4 }; /* k u e cmpl thr */
	uint32_t bits = c->takes_no_modifiers ? 0
	                : l4_is_exact_mode()  ? c->shown_modifiers
	                                      : c->shown_modifiers & c->effective_modifiers &
	                                               (q->event.encoder == L4_ENCODER_NETBURST
	                                                        ? q->attr_list.modifiers
	                                                        : ~0u);

	for (unsigned i = 0; bits >> i && i < 24; i++) {
		unsigned mod = q->event.encoder == L4_ENCODER_NETBURST ? netburst[i] : i;

		if (q->event.encoder == L4_ENCODER_EP_UNC && mod == 8 && bits >> mod & 1)
			append_format(t, ":addr=0x%llx",
			              (unsigned long long)c->modifier_values[mod]);
		else if (bits >> mod & 1)
			append_value(t, l4_modifiers[q->event.encoder][mod].name,
			             c->modifier_values[mod]);
	}
}

static void append_os_attrs(struct text_buffer *t, const struct l4_perf_result *perf)
{
	for (unsigned i = 0; i < N_OS_ATTRS; i++)
		if (perf->shown_attrs >> i & 1)
			append_value(t, l4_os_attrs[i].name, perf->attr_values[i]);
}

/* The name for the string. An alias of an alias is not followed, so the name of its target would
 * read back to another event. */
static const char *get_printed_event_name(const struct l4_query *q)
{
	bool exact = l4_is_exact_mode();

	if (q->event.encoder == L4_ENCODER_TORRENT && exact)
		return "";
	if (!exact && q->event.row->alias_target && !q->event.is_tracepoint_system)
		return l4_get_event_name(&q->named_event);
	return l4_get_event_name(&q->event);
}

int l4_format_event(const struct l4_query *q, const struct l4_code *c,
                    const struct l4_perf_result *perf, char **out)
{
	bool exact = l4_is_exact_mode();
	struct text_buffer t;

	*out = NULL;
	if (perf && c->takes_no_modifiers && exact)
		return PFM_SUCCESS;
	t.length = 0;
	t.capacity = sizeof(t.bytes);
	append_word(&t, l4_get_text(q->event.pmu->name));
	append_word(&t, "::");
	if (exact)
		t.capacity = t.length + LIBPFM4_MAX_STRING + 1;
	if (q->event.encoder != L4_ENCODER_PERF_RAW)
		append_word(&t, get_printed_event_name(q));
	else if (!perf || !exact)
		append_format(&t, "r%llx", (unsigned long long)q->raw_code);
	append_masks(&t, q, c);
	append_modifiers(&t, q, c);
	/* The parser accepts no attributes for Torrent. */
	if (perf && !c->takes_no_modifiers && (exact || q->event.encoder != L4_ENCODER_TORRENT))
		append_os_attrs(&t, perf);
	*out = malloc(t.length + 1);
	if (!*out)
		return PFM_ERR_NOMEM;
	memcpy(*out, t.bytes, t.length + 1);
	return PFM_SUCCESS;
}
