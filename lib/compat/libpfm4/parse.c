/* SPDX-License-Identifier: MIT */
/* Parsing of "[pmu::]event[SEP attribute]..." into a query. Tokens are pieces of the caller's
 * string. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

struct text_piece {
	const char *text;
	size_t length;
};

/* State while a list of attributes is parsed: the user's, or that of an alias. */
struct attr_reader {
	struct l4_query *query;
	bool has_mask, has_raw_mask; /* found so far, except those that an alias event adds */
	unsigned alias_depth;
};

#define MAX_ALIAS_DEPTH 8 /* alias masks can name alias masks; tables have a depth of two */

static int parse_attr_list(struct attr_reader *r, const char *text);

/* ---- one attribute --------------------------------------------------------------------------- */

static int add_attr(struct l4_query *q, unsigned kind, unsigned number, uint64_t value)
{
	if (q->n_attrs == L4_MAX_ATTRS)
		return PFM_ERR_TOOMANY;
	q->attrs[q->n_attrs++] = (struct l4_attr){ (uint8_t)kind, (uint16_t)number, value };
	return PFM_SUCCESS;
}

/* Parses the whole piece as a number in C's notation. */
static bool parse_number(struct text_piece p, uint64_t *out)
{
	char *end;

	if (p.length == 0 || isspace((unsigned char)*p.text))
		return false;
	*out = strtoull(p.text, &end, 0);
	return end == p.text + p.length && end != p.text;
}

static bool parse_bool(struct text_piece p, uint64_t *out)
{
	if (p.length != 1 || !strchr("yYtT1nNfF0", *p.text))
		return false;
	*out = strchr("yYtT1", *p.text) != NULL;
	return true;
}

static int parse_raw_mask(struct attr_reader *r, struct text_piece name, bool has_value)
{
	uint64_t value;

	if (r->has_mask || r->has_raw_mask || !(r->query->event.pmu->flags & PMU_TAKES_RAW_MASK) ||
	    !parse_number(name, &value))
		return PFM_ERR_ATTR;
	if (has_value)
		return PFM_ERR_ATTR_VAL;
	r->has_raw_mask = true;
	return add_attr(r->query, L4_ATTR_RAW_MASK, 0, value);
}

static int find_mask(const struct l4_event *ev, struct text_piece name)
{
	uint32_t hash = l4_hash_name(name.text, name.length);
	const struct l4_mask *m = l4_get_row_masks(ev->row);

	if (ev->is_tracepoint_system) {
		for (uint32_t i = 0; i < l4_count_tracepoints(ev->position); i++)
			if (l4_is_same_name(l4_get_tracepoint_name(ev->position, i, NULL),
			                    name.text, name.length))
				return (int)i;
		return -1;
	}
	for (unsigned i = 0; i < ev->row->n_masks; i++)
		if (m[i].hash == hash && l4_has_mask(ev, &m[i]) &&
		    l4_is_same_name(l4_get_text(m[i].name), name.text, name.length))
			return (int)i;
	return -1;
}

static int add_mask_attr(struct attr_reader *r, unsigned number)
{
	const struct l4_mask *m = &l4_get_row_masks(r->query->event.row)[number];

	if (r->has_raw_mask)
		return PFM_ERR_ATTR;
	if (!r->query->event.is_tracepoint_system && m->alias_target) {
		int rc = PFM_ERR_ATTR;

		if (r->alias_depth++ < MAX_ALIAS_DEPTH)
			rc = parse_attr_list(r, l4_get_text(m->alias_target));
		r->alias_depth--;
		return rc;
	}
	r->has_mask = true;
	return add_attr(r->query, L4_ATTR_MASK, number, 0);
}

/* The number of the modifier called @name among those in @bits, or -1. */
static int find_modifier(const struct l4_modifier *mods, uint32_t bits, struct text_piece name)
{
	for (; bits; bits &= bits - 1)
		if (l4_is_same_name(mods[__builtin_ctz(bits)].name, name.text, name.length))
			return __builtin_ctz(bits);
	return -1;
}

static int add_modifier_attr(struct l4_query *q, unsigned kind, unsigned number,
                             const struct l4_modifier *mod, bool has_value, struct text_piece value)
{
	uint64_t v = 1;

	if (mod->is_number ? !(has_value && parse_number(value, &v))
	                   : has_value && !parse_bool(value, &v))
		return PFM_ERR_ATTR_VAL;
	return add_attr(q, kind, number, v);
}

static int parse_attr(struct attr_reader *r, struct text_piece text)
{
	struct l4_query *q = r->query;
	const char *eq = memchr(text.text, '=', text.length);
	struct text_piece name = { text.text, eq ? (size_t)(eq - text.text) : text.length };
	struct text_piece value = { name.text + name.length + 1,
		                    eq ? text.length - name.length - 1 : 0 };
	int n;

	if (q->event.encoder == L4_ENCODER_TORRENT)
		return PFM_ERR_ATTR;
	if (name.length > 1 && name.text[0] == '0' && (name.text[1] | 0x20) == 'x')
		return parse_raw_mask(r, name, eq != NULL);
	if (!eq && (n = find_mask(&q->event, name)) >= 0)
		return add_mask_attr(r, (unsigned)n);
	if ((n = find_modifier(l4_modifiers[q->event.encoder], q->attr_list.modifiers, name)) >= 0)
		return add_modifier_attr(q, L4_ATTR_MODIFIER, (unsigned)n,
		                         &l4_modifiers[q->event.encoder][n], eq != NULL, value);
	if ((n = find_modifier(l4_os_attrs, q->attr_list.os_attrs, name)) >= 0)
		return add_modifier_attr(q, L4_ATTR_OS, (unsigned)n, &l4_os_attrs[n], eq != NULL,
		                         value);
	l4_print_message("libpfm4: %s has no attribute \"%.*s\"\n", l4_get_event_name(&q->event),
	                 (int)text.length, text.text);
	return PFM_ERR_ATTR;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Parses the attributes in @text, which begins after the first separator. */
static int parse_attr_list(struct attr_reader *r, const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ":.");
		int rc = parse_attr(r, (struct text_piece){ text, len });

		if (rc || !text[len])
			return rc;
		text += len + 1;
	}
}

static bool is_same_attr(const struct l4_query *q, const struct l4_attr *a, const struct l4_attr *b)
{
	if (a->kind != b->kind)
		return false;
	return a->number == b->number ||
	       (q->event.encoder == L4_ENCODER_SPARC && a->kind == L4_ATTR_MODIFIER);
}

/* Removes the later of equal attributes. Attributes with different values are an error. libpfm4
 * does not compare the attribute that moves into a removed one's place, so it accepts "u:u:u=0";
 * the exact mode does too. */
static int remove_duplicate_attrs(struct l4_query *q)
{
	for (unsigned i = 0; i < q->n_attrs; i++)
		for (unsigned j = i + 1; j < q->n_attrs; j++) {
			if (!is_same_attr(q, &q->attrs[i], &q->attrs[j]))
				continue;
			if (q->attrs[i].value != q->attrs[j].value)
				return PFM_ERR_ATTR_SET;
			memmove(&q->attrs[j], &q->attrs[j + 1],
			        (--q->n_attrs - j) * sizeof(q->attrs[0]));
			j -= !l4_is_exact_mode();
		}
	return PFM_SUCCESS;
}

/* Replaces an alias event by its target, whose attributes come first. An alias of the target is not
 * followed. */
static int resolve_alias(struct l4_query *q)
{
	const char *target = l4_get_text(q->event.row->alias_target);
	size_t len = strcspn(target, ":.");
	struct attr_reader r = { .query = q };
	int rc;

	if (!l4_find_event(q->named_event.pmu_number, target, len, &q->event))
		return PFM_ERR_NOTFOUND;
	l4_list_attrs(&q->event, q->os, &q->attr_list);
	if (!target[len])
		return PFM_SUCCESS;
	rc = parse_attr_list(&r, target + len + 1);
	if (rc == PFM_SUCCESS)
		rc = remove_duplicate_attrs(q);
	q->n_alias_attrs = q->n_attrs;
	return rc;
}

/* Parses "r" and hexadecimal digits, with or without "0x". */
static bool parse_raw_event(struct text_piece p, struct l4_query *q)
{
	char *end;

	if (p.length < 2 || p.text[0] != 'r' || !isxdigit((unsigned char)p.text[1]))
		return false;
	q->raw_code = strtoull(p.text + 1, &end, 16);
	return end == p.text + p.length && q->raw_code != UINT64_MAX;
}

static bool find_event_in_pmu(uint32_t pmu, struct text_piece name, struct l4_query *q)
{
	if (l4_get_pmu_table(l4_get_pmu(pmu))->encoder == L4_ENCODER_PERF_RAW)
		return parse_raw_event(name, q) && l4_get_event(pmu, 0, &q->event);
	return l4_find_event(pmu, name.text, name.length, &q->event);
}

/* Finds an event: on the PMU that the prefix names, or on the first PMU of this machine that has
 * it. */
static bool find_event(struct text_piece prefix, bool has_prefix, struct text_piece name,
                       struct l4_query *q)
{
	int pmu;

	if (has_prefix) {
		pmu = l4_find_pmu_by_name(prefix.text, prefix.length);
		return pmu >= 0 && l4_can_name_pmu((uint32_t)pmu) &&
		       find_event_in_pmu((uint32_t)pmu, name, q);
	}
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++)
		if (l4_is_pmu_active(i) && !(l4_get_pmu(i)->flags & PMU_DEPRECATED) &&
		    find_event_in_pmu(i, name, q))
			return true;
	return false;
}

int l4_parse_event(const char *text, pfm_os_t os, struct l4_query *q)
{
	const char *colons = strstr(text, "::");
	const char *event = colons ? colons + 2 : text;
	size_t len = strcspn(event, ":.");
	struct attr_reader r = { .query = q };
	int rc;

	q->n_attrs = q->n_alias_attrs = 0;
	q->os = os;
	q->raw_code = 0;
	if (text[strcspn(text, ", \t\n")])
		return PFM_ERR_INVAL;
	if (!find_event((struct text_piece){ text, (size_t)(colons ? colons - text : 0) }, colons,
	                (struct text_piece){ event, len }, q)) {
		l4_print_message("libpfm4: no PMU has the event of \"%s\"\n", text);
		return PFM_ERR_NOTFOUND;
	}
	q->named_event = q->event;
	l4_list_attrs(&q->event, os, &q->attr_list);
	rc = !q->event.is_tracepoint_system && q->event.row->alias_target ? resolve_alias(q)
	                                                                  : PFM_SUCCESS;
	if (rc == PFM_SUCCESS && event[len])
		rc = parse_attr_list(&r, event + len + 1);
	return rc ? rc : remove_duplicate_attrs(q);
}
