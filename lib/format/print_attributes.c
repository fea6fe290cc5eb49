/* SPDX-License-Identifier: MIT */
/* An event as its name and attributes: unit masks of libpfm, qualifiers of libpmc and the vendor,
 * modifiers. */
#include "format/printer.h"

static void append_levels(struct event_printer *p)
{
	const struct event *ev = p->event;

	if (ev->has_no_levels)
		pfmi_format_append_printf(p, ":u=0");
	else if (ev->plm & (PFM_PLM1 | PFM_PLM2))
		pfmi_format_append_printf(p, ":plm=0x%x", ev->plm & 15u);
	else
		pfmi_format_append_text(p, ev->plm & PFM_PLM0   ? ev->plm & PFM_PLM3 ? ":k:u" : ":k"
		                           : ev->plm & PFM_PLM3 ? ":u"
		                                                : "");
	if (ev->plm & PFMI_PLMH)
		pfmi_format_append_text(p, ":h");
}

static bool append_libpmc_levels(struct event_printer *p)
{
	const struct event *ev = p->event;

	if (ev->has_no_levels)
		return pfmi_format_set_reason(
			p, "libpmc cannot express a count without a privilege level");
	if (ev->plm & ~(PFM_PLM0 | PFM_PLM3))
		return pfmi_format_set_reason(p, "libpmc has only the levels os and usr");
	if (ev->precise)
		return pfmi_format_set_reason(p, "libpmc has no precise events");
	if (ev->counter_pin != ANY_COUNTER)
		return pfmi_format_set_reason(p, "libpmc cannot name the counter");
	pfmi_format_append_printf(p, "%s%s", ev->plm & PFM_PLM0 ? ",os" : "",
	                          ev->plm & PFM_PLM3 ? ",usr" : "");
	return true;
}

static void append_precise_and_counter(struct event_printer *p)
{
	if (p->event->precise)
		pfmi_format_append_printf(p, ":precise=%u", p->event->precise);
	if (p->event->counter_pin != ANY_COUNTER)
		pfmi_format_append_printf(p, ":counter=%u", p->event->counter_pin);
}

static bool has_modifier(const struct table *t, const char *name)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (f[i].is_modifier && pfmi_base_is_slice_icase(pfmi_base_make_slice(name),
		                                                 table_get_text(t, f[i].name)))
			return true;
	return false;
}

static const char *get_field_name(const struct event_printer *p, const struct field *f)
{
	static const struct {
		enum field_key key;
		char word[8];
	} shorts[] = {
		{ KEY_EDGE, "e" }, { KEY_INV, "i" },      { KEY_CMASK, "c" },
		{ KEY_ANY, "t" },  { KEY_IN_TX, "intx" }, { KEY_IN_TX_CP, "intxcp" },
	};

	if (p->dialect == PFM_DIALECT_LIBPFM)
		for (unsigned i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++)
			if (f == table_get_key_field(p->table, shorts[i].key) &&
			    !has_modifier(p->table, shorts[i].word))
				return shorts[i].word;
	return table_get_text(p->table, f->name);
}

/* Is the event the same without setting number @i of the user? */
static bool is_redundant_setting(const struct event *ev, unsigned i)
{
	const struct row *r = table_get_row(ev->table, ev->row_index);
	const struct field *f = table_fields(ev->table) + ev->user_fields[i].field;
	struct event bare = *ev;

	if (field_is_extra_register(ev->table, f))
		return false;
	for (unsigned k = 0; k < r->n_values; k++) {
		struct field_value v = table_get_row_value(ev->table, r, k);

		if (v.field == ev->user_fields[i].field && v.counter != ANY_COUNTER)
			return false;
	}
	/* Without the setting, the default of a unit mask group would return. */
	for (unsigned k = 0; k < r->n_groups; k++) {
		const struct umask_group *g = table_get_row_group(ev->table, r, k);

		if (g->field == ev->user_fields[i].field && g->default_value &&
		    !ev->group_values[k])
			return false;
	}
	bare.user_fields[i] = bare.user_fields[--bare.n_user_fields];
	return pfmi_pmu_get_field_value(&bare, ev->user_fields[i].field, ANY_COUNTER) ==
	               pfmi_pmu_get_field_value(ev, ev->user_fields[i].field, ANY_COUNTER) &&
	       pfmi_format_has_equal_config(ev, &bare);
}

/* Is the bare word @name a unit mask of the group? Not if libpfm spells that mask otherwise. */
static bool is_bare_umask(const struct table *t, const struct umask_group *g, const char *name)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;
	bool found = false;

	for (unsigned k = 0; k < g->n_named_values; k++) {
		if (!pfmi_base_is_slice_icase(pfmi_base_make_slice(name),
		                              table_get_text(t, w[k].name)))
			continue;
		found = true;
		for (unsigned i = g->n_values; k < g->n_values && i < g->n_named_values; i++)
			found &= w[i].value != w[k].value;
	}
	return found;
}

/* Would ":i" be read as a unit mask of this event, or of one whose name begins alike? */
static bool is_umask_of_row(const struct event_printer *p, const char *name)
{
	const char *row = table_get_row_name(p->table, p->event->row_index);

	for (struct slice head = { row, 1 }; *row && row[head.len - 1]; head.len++)
		if (strchr(".:", row[head.len]) &&
		    pfmi_lookup_is_umask_name(p->table, head, pfmi_table_hash_name(head),
		                              pfmi_base_make_slice(name)))
			return true;
	for (unsigned i = 0; i < event_count_groups(p->event); i++)
		if (is_bare_umask(p->table, event_get_group(p->event, i), name))
			return true;
	return false;
}

static bool append_field(struct event_printer *p, unsigned i)
{
	const struct field *f = table_fields(p->table) + p->event->user_fields[i].field;
	uint64_t value = p->event->user_fields[i].value;

	if (is_redundant_setting(p->event, i))
		return true;
	if (!f->is_modifier)
		return pfmi_format_set_reason(p,
		                              "only perf's grammar can name a field that it sets");
	pfmi_format_append_printf(p, "%c%s", pfmi_format_get_separator(p), get_field_name(p, f));
	if (f->width == 1 && value &&
	    (p->dialect != PFM_DIALECT_LIBPFM || !is_umask_of_row(p, get_field_name(p, f))))
		return true;
	if (f->width == 1 && p->dialect == PFM_DIALECT_LIBPMC)
		return pfmi_format_set_reason(p, "libpmc can set this flag, but not clear it");
	pfmi_format_append_printf(p, "=");
	pfmi_format_append_value(p, f, value);
	return true;
}

/* Appends the fields in the order of @first, then the others in table order. */
static bool append_fields(struct event_printer *p, const enum field_key *first, unsigned n)
{
	const struct event *ev = p->event;
	uint32_t done = 0;

	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < ev->n_user_fields; i++)
			if (ev->user_fields[i].field + 1u ==
			    table_get_key_field_plus1(p->table, first[k])) {
				done |= 1u << i;
				if (!append_field(p, i))
					return false;
			}
	for (unsigned field = 0; field < p->table->n_fields; field++)
		for (unsigned i = 0; i < ev->n_user_fields; i++)
			if (ev->user_fields[i].field == field && !(done >> i & 1) &&
			    !append_field(p, i))
				return false;
	return true;
}

static bool append_libpfm_event(struct event_printer *p)
{
	static const enum field_key order[] = { KEY_EDGE, KEY_INV, KEY_CMASK, KEY_ANY };

	pfmi_format_append_text(p, table_get_text(p->table, p->table->name));
	pfmi_format_append_text(p, "::");
	pfmi_format_append_capitals(p, table_get_row_name(p->table, p->event->row_index));
	if (!pfmi_format_append_libpfm_groups(p))
		return false;
	append_levels(p);
	if (!append_fields(p, order, sizeof(order) / sizeof(order[0])))
		return false;
	append_precise_and_counter(p);
	return true;
}

static bool append_named_event(struct event_printer *p)
{
	static const enum field_key order[] = { KEY_CMASK, KEY_INV, KEY_EDGE };

	pfmi_format_append_text(p, table_get_row_name(p->table, p->event->row_index));
	if (!pfmi_format_append_groups(p) ||
	    !append_fields(p, order, sizeof(order) / sizeof(order[0])))
		return false;
	if (p->dialect == PFM_DIALECT_LIBPMC)
		return append_libpmc_levels(p);
	append_levels(p);
	append_precise_and_counter(p);
	return true;
}

bool pfmi_format_append_named_event(struct event_printer *p)
{
	return p->dialect == PFM_DIALECT_LIBPFM ? append_libpfm_event(p) : append_named_event(p);
}
