/* SPDX-License-Identifier: MIT */
/* The fully qualified string. libpfm4's own strings do not always read back to the same words; ours leave out what would not, unless
 * libpfm4's exact answers are asked for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define LIBPFM4_CUT 255 /* bytes after the PMU's name */

struct text {
	size_t len, room;
	char s[16384];
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->s + t->len, t->room - t->len, format, ap);
	va_end(ap);
	if (n > 0)
		t->len = t->len + (size_t)n < t->room ? t->len + (size_t)n : t->room - 1;
}

/* The commonest piece, ":name=1", without the way through printf(). */
static void append_word(struct text *t, const char *s)
{
	size_t n = strlen(s), left = t->room - 1 - t->len;

	n = n < left ? n : left;
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

static void append_value(struct text *t, const char *name, uint64_t value)
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

static void append_masks(struct text *t, const struct l4_query *q, const struct l4_code *c)
{
	bool exact = l4_exact();

	for (unsigned i = 0; i < L4_MASKS; i++) {
		if (!(c->masks[i / 64] >> i % 64)) {
			i |= 63;
			continue;
		}
		/* A mask by number takes the place of those that an alias brought, and cannot stand behind them. */
		if (!l4_has(c->masks, i) || (!exact && (c->raw || l4_has(c->hidden, i))))
			continue;
		append_word(t, ":");
		append_word(t, l4_text(l4_masks(q->ev.row)[i].name));
		for (unsigned k = 0, n = 0; exact && k < q->n; k++) /* once for each copy that was not dropped */
			if (q->a[k].kind == ATTR_MASK && q->a[k].number == i && n++)
				append(t, ":%s", l4_text(l4_masks(q->ev.row)[i].name));
	}
	if (c->raw)
		append(t, ":0x%llx", (unsigned long long)(exact ? (uint32_t)c->raw_mask : c->raw_mask));
	for (unsigned i = 0; q->ev.traced && i < q->n; i++)
		if (q->a[i].kind == ATTR_MASK)
			append(t, ":%s", l4_trace_point(q->ev.pos, q->a[i].number, NULL));
}

static void append_mods(struct text *t, const struct l4_query *q, const struct l4_code *c)
{
	static const uint8_t netburst[] = { 1, 0, 3, 2, 4 }; /* k u e cmpl thr */
	uint32_t bits = c->no_mods ? 0 : l4_exact() ? c->shown
	                                            : c->shown & c->used & (q->ev.encoder == L4_NETBURST ? q->list.mods : ~0u);

	for (unsigned i = 0; bits >> i && i < 24; i++) {
		unsigned mod = q->ev.encoder == L4_NETBURST ? netburst[i] : i;

		if (q->ev.encoder == L4_EP_UNC && mod == 8 && bits >> mod & 1)
			append(t, ":addr=0x%llx", (unsigned long long)c->value[mod]);
		else if (bits >> mod & 1)
			append_value(t, l4_mods[q->ev.encoder][mod].name, c->value[mod]);
	}
}

static void append_os(struct text *t, const struct l4_perf *perf)
{
	for (unsigned i = 0; i < OS_ATTRS; i++)
		if (perf->shown >> i & 1)
			append_value(t, l4_os_attrs[i].name, perf->value[i]);
}

/* An alias of an alias is not followed, so its target's name would lead one step too far. */
static const char *event_name(const struct l4_query *q)
{
	bool exact = l4_exact();

	if (q->ev.encoder == L4_TORRENT && exact)
		return "";
	if (!exact && q->ev.row->equiv && !q->ev.traced)
		return l4_event_name(&q->asked);
	return l4_event_name(&q->ev);
}

int l4_string(const struct l4_query *q, const struct l4_code *c, const struct l4_perf *perf, char **out)
{
	bool exact = l4_exact();
	struct text t;

	*out = NULL;
	if (perf && c->no_mods && exact)
		return PFM_SUCCESS;
	t.len = 0;
	t.room = sizeof(t.s);
	append_word(&t, l4_text(q->ev.u->name));
	append_word(&t, "::");
	if (exact)
		t.room = t.len + LIBPFM4_CUT + 1;
	if (q->ev.encoder != L4_PERF_RAW)
		append_word(&t, event_name(q));
	else if (!perf || !exact)
		append(&t, "r%llx", (unsigned long long)q->raw);
	append_masks(&t, q, c);
	append_mods(&t, q, c);
	/* Torrent takes no attribute back. */
	if (perf && !c->no_mods && (exact || q->ev.encoder != L4_TORRENT))
		append_os(&t, perf);
	*out = malloc(t.len + 1);
	if (!*out)
		return PFM_ERR_NOMEM;
	memcpy(*out, t.s, t.len + 1);
	return PFM_SUCCESS;
}
