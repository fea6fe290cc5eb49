/* SPDX-License-Identifier: MIT */
/* Unit masks: words of the row's groups, by their own name, with their group's name, or as a
 * number. */
#include "lookup/attr_internal.h"

static const struct named_value *find_group_word(const struct table *t, const struct umask_group *g,
                                                 struct slice s)
{
	return pfmi_table_find_named_value(t, g->first_named_value, g->n_named_values, s);
}

/* The value of a bare word after ':'. A word of the manual page is ignored if its value has another
 * spelling in libpfm: "i" inverts there, and does not mean the invalid state. */
static const struct named_value *find_bare_word(const struct table *t, const struct umask_group *g,
                                                struct slice s)
{
	const struct named_value *all = table_named_values(t) + g->first_named_value;
	const struct named_value *w = find_group_word(t, g, s);

	if (!w || w >= all + g->n_values)
		return w;
	for (unsigned i = g->n_values; i < g->n_named_values; i++)
		if (all[i].value == w->value && !attr_is_word(s, table_get_text(t, all[i].name)))
			return NULL;
	return w;
}

static int choose_group_value(struct attr_reader *r, unsigned i, uint64_t bits, struct slice at)
{
	const struct umask_group *g = event_get_group(r->event, i);
	struct event *ev = r->event;

	if (!(ev->chosen_groups >> i & 1))
		ev->group_values[i] = bits;
	else if (g->flags & GROUP_COMBINABLE)
		ev->group_values[i] |= bits;
	else if (ev->group_values[i] != bits)
		return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, at,
		                   "only one value of this group can be chosen");
	ev->chosen_groups |= (uint16_t)(1u << i);
	return 1;
}

/* The union of values of a combinable group: one word, words joined by '+', or words of one letter
 * in a row ("mes"). */
static bool parse_value_union(const struct table *t, const struct umask_group *g, struct slice v,
                              uint64_t *bits)
{
	*bits = 0;
	for (uint32_t at = 0; at < v.len;) {
		const char *plus = memchr(v.text + at, '+', v.len - at);
		struct slice piece = { v.text + at,
			               plus ? (uint32_t)(plus - v.text) - at : v.len - at };
		const struct named_value *w = find_group_word(t, g, piece);

		if (w) {
			*bits |= w->value;
		} else {
			for (uint32_t i = 0; i < piece.len; i++) {
				w = find_group_word(t, g, (struct slice){ piece.text + i, 1 });
				if (!w)
					return false;
				*bits |= w->value;
			}
		}
		if (piece.len == 0 || (plus && at + piece.len + 1 == v.len))
			return false;
		at += piece.len + 1;
	}
	return v.len != 0;
}

/* libpmc accepts the manual page's spelling of a value alone, which comes first in the group. */
static bool is_first_spelling(const struct umask_group *g, const struct table *t,
                              const struct named_value *w)
{
	return w < table_named_values(t) + g->first_named_value + g->n_values;
}

static int read_group_value(struct attr_reader *r, unsigned i)
{
	const struct table *t = r->event->table;
	const struct umask_group *g = event_get_group(r->event, i);
	const struct named_value *w = find_group_word(t, g, r->attr.value);
	uint64_t bits;

	if (!r->attr.has_value || r->attr.value.len == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name,
		                   NULL);
	if (w && (!attr_is_libpmc(r) || is_first_spelling(g, t, w)))
		return choose_group_value(r, i, w->value, r->attr.value);
	if (!w && g->flags & GROUP_COMBINABLE && parse_value_union(t, g, r->attr.value, &bits))
		return choose_group_value(r, i, bits, r->attr.value);
	return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value,
	                   "not a value of this qualifier");
}

static bool row_has_group(const struct event *ev, const struct umask_group *group)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++)
		if (event_get_group(ev, i) == group)
			return true;
	return false;
}

/* "core=all": a group by its name. */
int pfmi_attr_read_group(struct attr_reader *r)
{
	const struct table *t = r->event->table;

	if (!r->event->row)
		return 0;
	for (unsigned i = 0; i < event_count_groups(r->event); i++)
		if (attr_is_word(r->attr.name,
		                 table_get_text(t, event_get_group(r->event, i)->name)))
			return read_group_value(r, i);
	if (attr_find_field(r) >= 0)
		return 0;
	for (unsigned i = 0; i < t->n_groups; i++)
		if (attr_is_word(r->attr.name, table_get_text(t, table_get_group(t, i)->name)) &&
		    !row_has_group(r->event, table_get_group(t, i)))
			return attr_refuse(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
			                   r->attr.name, NULL);
	return 0;
}

bool pfmi_attr_is_row_umask(const struct attr_reader *r)
{
	const struct table *t = r->event->table;

	for (unsigned i = 0; i < event_count_groups(r->event); i++)
		if (find_bare_word(t, event_get_group(r->event, i), r->attr.name))
			return true;
	return false;
}

/* "BOTH_CORES": a unit mask by its own name. As in libpfm4, a unit mask comes before a modifier:
 * ":I" is the state of a line if the event has a mask of that name; ":i=1" inverts. */
int pfmi_attr_read_umask(struct attr_reader *r)
{
	const struct table *t = r->event->table;

	if (r->attr.has_value || !r->event->row || !attr_is_libpfm(r))
		return 0;
	for (unsigned i = 0; i < event_count_groups(r->event); i++) {
		const struct named_value *w =
			find_bare_word(t, event_get_group(r->event, i), r->attr.name);

		if (w) {
			r->has_bare_masks = true;
			return choose_group_value(r, i, w->value, r->attr.name);
		}
	}
	if (attr_find_field(r) >= 0)
		return 0;
	for (unsigned i = 0; i < t->n_groups; i++)
		if (!row_has_group(r->event, table_get_group(t, i)) &&
		    find_bare_word(t, table_get_group(t, i), r->attr.name))
			return attr_refuse(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
			                   r->attr.name, NULL);
	return 0;
}

/* "0x41": a number of at most 8 bits, as in libpfm4, that replaces all unit masks and their
 * defaults. */
int pfmi_attr_read_raw_umask(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	unsigned umask = table_get_key_field_plus1(t, KEY_UMASK);
	uint64_t value;

	if (!attr_is_libpfm(r) || r->attr.has_value || r->attr.name.len < 3 ||
	    (r->attr.name.text[1] | 0x20) != 'x' || !pfmi_base_parse_number(r->attr.name, &value) ||
	    !r->event->row || !umask)
		return 0;
	if (event_count_groups(r->event) == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
		                   r->attr.name, "the event has no unit masks");
	if (value > 0xff)
		return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.name,
		                   "a unit mask has 8 bits");
	if (r->event->chosen_groups)
		return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
		                   "a raw unit mask and named unit masks cannot be combined");
	for (unsigned i = 0; i < event_count_groups(r->event); i++) {
		r->event->group_values[i] = i == 0 ? value : 0;
		r->event->chosen_groups |= (uint16_t)(1u << i);
	}
	r->event->has_raw_umask = 1;
	return 1;
}

bool pfmi_attr_is_any_row_umask(const struct attr_reader *r)
{
	const struct table *t = r->event->table;

	for (unsigned i = 0; i < t->n_groups; i++)
		if (find_bare_word(t, table_get_group(t, i), r->attr.name))
			return true;
	return false;
}

bool pfmi_lookup_is_umask_name(const struct table *t, struct slice name, uint32_t h,
                               struct slice word)
{
	char text[256];
	struct slice both = { text, name.len + 1 + word.len };
	uint32_t at;

	h = table_hash_separator(h);
	for (uint32_t i = 0; i < word.len; i++)
		h = table_hash_char(h, (unsigned char)word.text[i]);
	at = table_probe_slot(t, h, table_get_first_slot(h, t->n_slots));
	if (!table_can_slot_match(t, h, at) || both.len > sizeof(text))
		return false;
	memcpy(text, name.text, name.len);
	text[name.len] = ':';
	memcpy(text + name.len + 1, word.text, word.len);
	return pfmi_table_find_name_from_slot(t, at, h, both.text, both.len).kind != NAME_NONE;
}

/* Clears the default of groups whose field the user set as a whole, unless a unit mask was chosen
 * too. */
static void clear_overridden_defaults(struct event *ev)
{
	unsigned n = ev->n_user_fields ? ev->row->n_groups : 0, left = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned field = event_get_group(ev, i)->field;
		bool alone = pfmi_pmu_find_user_value(ev, field) != NULL;

		for (unsigned k = 0; alone && k < n; k++)
			alone = !(ev->chosen_groups >> k & 1) ||
			        event_get_group(ev, k)->field != field;
		left |= (unsigned)alone << i;
	}
	for (unsigned i = 0; i < n; i++)
		if (left >> i & 1)
			ev->group_values[i] = 0;
	ev->chosen_groups |= (uint16_t)left;
}

int pfmi_attr_check_groups(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	struct slice end = { r->spec->text + r->spec->len, 0 };

	clear_overridden_defaults(r->event);
	for (unsigned i = 0; i < event_count_groups(r->event); i++) {
		const struct umask_group *g = event_get_group(r->event, i);

		if (r->event->chosen_groups >> i & 1)
			continue;
		if (i && g->flags & GROUP_DEFAULT_YIELDS &&
		    r->event->group_values[i - 1] ==
		            event_get_group(r->event, i - 1)->default_value)
			r->event->group_values[i] = 0;
		if (g->flags & GROUP_REQUIRED)
			return attr_refuse(r, PFMLIB_ERR_UMASK, PFM_KIND_MISSING_UMASK, end,
			                   table_get_text(t, g->name));
		if (g->flags & GROUP_EXPLICIT_IN_LIBPFM && r->has_bare_masks &&
		    r->spec->pmu_name.len == 0)
			return attr_refuse(
				r, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT,
				(struct slice){ r->spec->text, r->spec->len },
				"the defaults of libpfm 3 and libpfm 4 differ: name every mask, or "
				"write PROCESSOR:: before the event for libpfm 4's default");
	}
	return PFMLIB_SUCCESS;
}
