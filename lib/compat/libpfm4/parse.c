/* SPDX-License-Identifier: MIT */
/* "[pmu::]event[SEP attribute]...": from text to a query. Nothing is copied: tokens are pieces of the caller's string. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

struct piece {
	const char *s;
	size_t len;
};

/* One list of attributes being read: the user's, or the one an alias stands for. */
struct reader {
	struct l4_query *q;
	bool any_mask, any_raw; /* given so far; what an alias event brings does not count */
	unsigned depth;
};

#define DEPTH 8 /* alias masks name alias masks; no table goes further than two */

static int read_list(struct reader *r, const char *text);

/* ---- one attribute -------------------------------------------------------------------------------------------- */

static int add(struct l4_query *q, unsigned kind, unsigned number, uint64_t value)
{
	if (q->n == L4_ATTRS)
		return PFM_ERR_TOOMANY;
	q->a[q->n++] = (struct l4_attr){ (uint8_t)kind, (uint16_t)number, value };
	return PFM_SUCCESS;
}

/* C's rules for numbers, over the whole piece. */
static bool read_number(struct piece p, uint64_t *out)
{
	char *end;

	if (p.len == 0 || isspace((unsigned char)*p.s))
		return false;
	*out = strtoull(p.s, &end, 0);
	return end == p.s + p.len && end != p.s;
}

static bool read_bool(struct piece p, uint64_t *out)
{
	if (p.len != 1 || !strchr("yYtT1nNfF0", *p.s))
		return false;
	*out = strchr("yYtT1", *p.s) != NULL;
	return true;
}

static int read_raw(struct reader *r, struct piece name, bool has_value)
{
	uint64_t value;

	if (r->any_mask || r->any_raw || !(r->q->ev.u->flags & U_RAW) || !read_number(name, &value))
		return PFM_ERR_ATTR;
	if (has_value)
		return PFM_ERR_ATTR_VAL;
	r->any_raw = true;
	return add(r->q, ATTR_RAW, 0, value);
}

static int find_mask(const struct l4_event *ev, struct piece name)
{
	uint32_t hash = l4_hash(name.s, name.len);
	const struct l4_mask *m = l4_masks(ev->row);

	if (ev->traced) {
		for (uint32_t i = 0; i < l4_trace_points(ev->pos); i++)
			if (l4_same(l4_trace_point(ev->pos, i, NULL), name.s, name.len))
				return (int)i;
		return -1;
	}
	for (unsigned i = 0; i < ev->row->n_masks; i++)
		if (m[i].hash == hash && l4_mask_valid(ev, &m[i]) && l4_same(l4_text(m[i].name), name.s, name.len))
			return (int)i;
	return -1;
}

static int take_mask(struct reader *r, unsigned number)
{
	const struct l4_mask *m = &l4_masks(r->q->ev.row)[number];

	if (r->any_raw)
		return PFM_ERR_ATTR;
	if (!r->q->ev.traced && m->equiv) {
		int rc = PFM_ERR_ATTR;

		if (r->depth++ < DEPTH)
			rc = read_list(r, l4_text(m->equiv));
		r->depth--;
		return rc;
	}
	r->any_mask = true;
	return add(r->q, ATTR_MASK, number, 0);
}

/* The set bit whose modifier has the name, or -1. */
static int find_mod(const struct l4_mod *mods, uint32_t bits, struct piece name)
{
	for (; bits; bits &= bits - 1)
		if (l4_same(mods[__builtin_ctz(bits)].name, name.s, name.len))
			return __builtin_ctz(bits);
	return -1;
}

static int take_mod(struct l4_query *q, unsigned kind, unsigned number, const struct l4_mod *mod, bool has_value, struct piece value)
{
	uint64_t v = 1;

	if (mod->number ? !(has_value && read_number(value, &v)) : has_value && !read_bool(value, &v))
		return PFM_ERR_ATTR_VAL;
	return add(q, kind, number, v);
}

static int read_attr(struct reader *r, struct piece text)
{
	struct l4_query *q = r->q;
	const char *eq = memchr(text.s, '=', text.len);
	struct piece name = { text.s, eq ? (size_t)(eq - text.s) : text.len };
	struct piece value = { name.s + name.len + 1, eq ? text.len - name.len - 1 : 0 };
	int n;

	if (q->ev.encoder == L4_TORRENT)
		return PFM_ERR_ATTR;
	if (name.len > 1 && name.s[0] == '0' && (name.s[1] | 0x20) == 'x')
		return read_raw(r, name, eq != NULL);
	if (!eq && (n = find_mask(&q->ev, name)) >= 0)
		return take_mask(r, (unsigned)n);
	if ((n = find_mod(l4_mods[q->ev.encoder], q->list.mods, name)) >= 0)
		return take_mod(q, ATTR_MOD, (unsigned)n, &l4_mods[q->ev.encoder][n], eq != NULL, value);
	if ((n = find_mod(l4_os_attrs, q->list.os, name)) >= 0)
		return take_mod(q, ATTR_OS, (unsigned)n, &l4_os_attrs[n], eq != NULL, value);
	l4_say("libpfm4: %s has no attribute \"%.*s\"\n", l4_event_name(&q->ev), (int)text.len, text.s);
	return PFM_ERR_ATTR;
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

/* @text is what follows the first separator. */
static int read_list(struct reader *r, const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ":.");
		int rc = read_attr(r, (struct piece){ text, len });

		if (rc || !text[len])
			return rc;
		text += len + 1;
	}
}

static bool is_same_attr(const struct l4_query *q, const struct l4_attr *a, const struct l4_attr *b)
{
	if (a->kind != b->kind)
		return false;
	return a->number == b->number || (q->ev.encoder == L4_SPARC && a->kind == ATTR_MOD);
}

/* Of equal attributes the later one goes. The one that moves into its place is looked at too, or "u:u:u=0" would be no contradiction:
 * libpfm4 does not. */
static int drop_duplicates(struct l4_query *q)
{
	for (unsigned i = 0; i < q->n; i++)
		for (unsigned j = i + 1; j < q->n; j++) {
			if (!is_same_attr(q, &q->a[i], &q->a[j]))
				continue;
			if (q->a[i].value != q->a[j].value)
				return PFM_ERR_ATTR_SET;
			memmove(&q->a[j], &q->a[j + 1], (--q->n - j) * sizeof(q->a[0]));
			j -= !l4_exact();
		}
	return PFM_SUCCESS;
}

/* An alias event: its target's attributes come first. One step only. */
static int follow_alias(struct l4_query *q)
{
	const char *target = l4_text(q->ev.row->equiv);
	size_t len = strcspn(target, ":.");
	struct reader r = { .q = q };
	int rc;

	if (!l4_event_named(q->asked.unit, target, len, &q->ev))
		return PFM_ERR_NOTFOUND;
	l4_attrs(&q->ev, q->os, &q->list);
	if (!target[len])
		return PFM_SUCCESS;
	rc = read_list(&r, target + len + 1);
	if (rc == PFM_SUCCESS)
		rc = drop_duplicates(q);
	q->n_alias = q->n;
	return rc;
}

/* "r" and hexadecimal digits, with "0x" before them or without. */
static bool read_raw_event(struct piece p, struct l4_query *q)
{
	char *end;

	if (p.len < 2 || p.s[0] != 'r' || !isxdigit((unsigned char)p.s[1]))
		return false;
	q->raw = strtoull(p.s + 1, &end, 16);
	return end == p.s + p.len && q->raw != UINT64_MAX;
}

static bool find_in(uint32_t unit, struct piece name, struct l4_query *q)
{
	if (l4_table(l4_unit(unit))->encoder == L4_PERF_RAW)
		return read_raw_event(name, q) && l4_event_at(unit, 0, &q->ev);
	return l4_event_named(unit, name.s, name.len, &q->ev);
}

/* Without a prefix the first PMU of this machine that has the event. */
static bool find_event(struct piece prefix, bool has_prefix, struct piece name, struct l4_query *q)
{
	int unit;

	if (has_prefix) {
		unit = l4_unit_named(prefix.s, prefix.len);
		return unit >= 0 && l4_answers((uint32_t)unit) && find_in((uint32_t)unit, name, q);
	}
	for (uint32_t i = 0; i < l4_image.units.n; i++)
		if (l4_active(i) && !(l4_unit(i)->flags & U_DEPRECATED) && find_in(i, name, q))
			return true;
	return false;
}

int l4_parse(const char *text, pfm_os_t os, struct l4_query *q)
{
	const char *colons = strstr(text, "::");
	const char *event = colons ? colons + 2 : text;
	size_t len = strcspn(event, ":.");
	struct reader r = { .q = q };
	int rc;

	q->n = q->n_alias = 0;
	q->os = os;
	q->raw = 0;
	if (text[strcspn(text, ", \t\n")])
		return PFM_ERR_INVAL;
	if (!find_event((struct piece){ text, (size_t)(colons ? colons - text : 0) }, colons, (struct piece){ event, len }, q)) {
		l4_say("libpfm4: no PMU has the event of \"%s\"\n", text);
		return PFM_ERR_NOTFOUND;
	}
	q->asked = q->ev;
	l4_attrs(&q->ev, os, &q->list);
	rc = !q->ev.traced && q->ev.row->equiv ? follow_alias(q) : PFM_SUCCESS;
	if (rc == PFM_SUCCESS && event[len])
		rc = read_list(&r, event + len + 1);
	return rc ? rc : drop_duplicates(q);
}
