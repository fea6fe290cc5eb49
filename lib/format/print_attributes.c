/* SPDX-License-Identifier: MIT */
/* An event as its name and attributes: unit masks of libpfm, qualifiers of libpmc and the vendor,
 * modifiers. */
#include <inttypes.h>
#include "format/printer.h"

static char get_separator(const struct event_printer *p)
{
	return p->dialect == PFM_DIALECT_LIBPMC ? ',' : ':';
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum spelling { PRIMARY_SPELLING, LIBPFM_SPELLING };

/* The words of a group in one spelling. */
struct word_list {
	const struct named_value *words;
	unsigned n_words;
};

static struct word_list get_spelled_words(const struct table *t, const struct umask_group *g,
                                          enum spelling s)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;

	if (s == PRIMARY_SPELLING)
		return (struct word_list){ w, g->n_values };
	return (struct word_list){ w + g->n_values, (unsigned)(g->n_named_values - g->n_values) };
}

static int find_exact_word(struct word_list ws, uint64_t value)
{
	for (unsigned i = 0; i < ws.n_words; i++)
		if (ws.words[i].value == value)
			return (int)i;
	return -1;
}

/* Words that make up a value together. */
struct word_choice {
	const struct named_value *words[64];
	unsigned n_words; /* 0: no words make up the value */
};

/* Adds the words of @ws that contribute a bit of @value which *@bits lacks. */
static void add_matching_words(struct word_choice *c, struct word_list ws, uint64_t value,
                               uint64_t *bits)
{
	for (unsigned i = 0; i < ws.n_words; i++)
		if (!(ws.words[i].value & ~value) && ws.words[i].value & ~*bits) {
			*bits |= ws.words[i].value;
			c->words[c->n_words++] =
				&ws.words[i]; /* at most 64: each contributes a bit */
		}
}

/* Composes @value of the words of @ws, or of those of @more as well. */
static struct word_choice compose_from_two_lists(const struct umask_group *g, struct word_list ws,
                                                 struct word_list more, uint64_t value)
{
	struct word_choice c = { .n_words = 0 };
	uint64_t bits = 0;
	int exact = find_exact_word(ws, value);

	if (exact < 0 && (exact = find_exact_word(more, value)) >= 0)
		ws = more;
	if (exact >= 0) {
		c.words[c.n_words++] = &ws.words[exact];
		return c;
	}
	if (g->flags & GROUP_COMBINABLE) {
		add_matching_words(&c, ws, value, &bits);
		add_matching_words(&c, more, value, &bits);
	}
	if (bits != value)
		c.n_words = 0;
	return c;
}

static struct word_choice compose_words(const struct umask_group *g, struct word_list ws,
                                        uint64_t value)
{
	return compose_from_two_lists(g, ws, (struct word_list){ ws.words, 0 }, value);
}

static bool is_nameable_value(const struct table *t, const struct umask_group *g, uint64_t value)
{
	return compose_words(g, get_spelled_words(t, g, PRIMARY_SPELLING), value).n_words ||
	       (!value && !(g->flags & (GROUP_REQUIRED | GROUP_HAS_DEFAULT)));
}

/* Must the value of group @i be written, if its field is not set as a whole? */
static bool is_written_without_fields(const struct event *ev, unsigned i)
{
	const struct umask_group *g = table_get_row_group(ev->table, ev->row, i);
	bool behind = i && g->flags & GROUP_DEFAULT_YIELDS &&
	              ev->group_values[i - 1] ==
	                      table_get_row_group(ev->table, ev->row, i - 1)->default_value;

	if (g->flags & GROUP_HAS_DEFAULT)
		return ev->group_values[i] != (behind ? 0 : g->default_value);
	return ev->group_values[i] || g->flags & GROUP_REQUIRED;
}

/* Must the value of group @i be written? */
static bool is_written_group(const struct event *ev, unsigned i)
{
	return (ev->group_values[i] ||
	        !pfmi_pmu_find_user_value(ev, table_get_row_group(ev->table, ev->row, i)->field)) &&
	       is_written_without_fields(ev, i);
}

/* An alias row may share its name with another row; unit masks with their group distinguish
 * them. */
static bool is_group_spelled_out(const struct event_printer *p, unsigned i)
{
	const struct umask_group *g = event_get_group(p->event, i);

	return p->spells_out_groups && p->event->row_index >= p->table->n_rows &&
	       compose_words(g, get_spelled_words(p->table, g, PRIMARY_SPELLING),
	                     p->event->group_values[i])
	               .n_words;
}

/* Gets the number that replaces all groups: they must all belong to the unit mask and fit its 8
 * bits. */
static bool get_raw_umask(const struct event_printer *p, uint64_t *raw)
{
	*raw = 0;
	for (unsigned i = 0; i < event_count_groups(p->event); i++) {
		const struct umask_group *g = event_get_group(p->event, i);

		if (g->field + 1u != table_get_key_field_plus1(p->table, KEY_UMASK) &&
		    (i == 0 || p->event->group_values[i]))
			return false;
		*raw |= p->event->group_values[i];
	}
	return *raw <= 0xff;
}

/* "0x41" */
static bool append_raw_umask(struct event_printer *p)
{
	uint64_t raw;

	if (!get_raw_umask(p, &raw))
		return pfmi_format_set_reason(
			p, "a value of this event has no spelling in libpfm's grammar");
	pfmi_format_append_printf(p, ":0x%" PRIx64, raw);
	return true;
}

/* Could a bare word be read as a level, a modifier of one letter, or a word of an earlier group? */
static bool is_ambiguous_word(const struct event_printer *p, unsigned group, const char *word)
{
	static const struct {
		char letter[2];
		enum field_key key;
	} taken[] = {
		{ "u", KEY_NONE }, { "k", KEY_NONE }, { "h", KEY_NONE }, { "c", KEY_CMASK },
		{ "i", KEY_INV },  { "e", KEY_EDGE }, { "t", KEY_ANY },
	};
	struct slice s = pfmi_base_make_slice(word);

	for (unsigned i = 0; s.len == 1 && i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct field *f = table_get_key_field(p->table, taken[i].key);

		if (pfmi_base_is_slice_icase(s, taken[i].letter) &&
		    (taken[i].key == KEY_NONE || (f && f->is_modifier)))
			return true;
	}
	for (unsigned i = 0; i < group; i++) {
		const struct umask_group *g = event_get_group(p->event, i);

		if (pfmi_table_find_named_value(p->table, g->first_named_value, g->n_named_values,
		                                s))
			return true;
	}
	return false;
}

static bool has_only_letters(const struct table *t, const struct word_choice *c)
{
	for (unsigned i = 0; i < c->n_words; i++)
		if (strlen(table_get_text(t, c->words[i]->name)) != 1)
			return false;
	return true;
}

/* "group=word", "group=ms", "group=a+b" */
static bool append_group(struct event_printer *p, unsigned i)
{
	const struct umask_group *g = event_get_group(p->event, i);
	struct word_choice c = compose_words(g, get_spelled_words(p->table, g, PRIMARY_SPELLING),
	                                     p->event->group_values[i]);
	bool letters = has_only_letters(p->table, &c);

	if (!c.n_words)
		return pfmi_format_set_reason(p, "a value of this event has no word");
	pfmi_format_append_printf(p, "%c%s=", get_separator(p), table_get_text(p->table, g->name));
	for (unsigned k = 0; k < c.n_words; k++)
		pfmi_format_append_printf(p, "%s%s", k && !letters ? "+" : "",
		                          table_get_text(p->table, c.words[k]->name));
	return true;
}

static bool append_groups(struct event_printer *p)
{
	if (p->event->has_raw_umask && p->dialect == PFM_DIALECT_LIBPMC)
		return pfmi_format_set_reason(p, "this raw unit mask has no words");
	if (p->event->has_raw_umask)
		return append_raw_umask(p);
	for (unsigned i = 0; i < event_count_groups(p->event); i++)
		if (is_written_group(p->event, i) && !append_group(p, i))
			return false;
	return true;
}

/* libpfm's words for the value of group @i; none if a raw unit mask must do. */
static struct word_choice get_libpfm_words(const struct event_printer *p, unsigned i)
{
	const struct umask_group *g = event_get_group(p->event, i);
	struct word_list ws = get_spelled_words(p->table, g, LIBPFM_SPELLING),
			 first = get_spelled_words(p->table, g, PRIMARY_SPELLING);
	struct word_choice c = compose_words(g, ws.n_words ? ws : first, p->event->group_values[i]);
	uint64_t raw;

	return c.n_words || !ws.n_words || get_raw_umask(p, &raw)
	               ? c
	               : compose_from_two_lists(g, ws, first, p->event->group_values[i]);
}

/* libpfm needs a value of groups for which the manual page has no default. */
static bool is_written_in_libpfm(const struct event_printer *p, unsigned i)
{
	uint64_t raw;

	if (is_written_group(p->event, i) || is_group_spelled_out(p, i))
		return true;
	return !(event_get_group(p->event, i)->flags & (GROUP_HAS_DEFAULT | GROUP_COMBINABLE)) &&
	       (get_libpfm_words(p, i).n_words || get_raw_umask(p, &raw));
}

static void append_umasks(struct event_printer *p, unsigned i, const struct word_choice *c)
{
	for (unsigned k = 0; k < c->n_words; k++) {
		const char *word = table_get_text(p->table, c->words[k]->name);

		pfmi_format_append_char(p, ':');
		if (p->spells_out_groups || is_ambiguous_word(p, i, word)) {
			pfmi_format_append_text(
				p, table_get_text(p->table, event_get_group(p->event, i)->name));
			pfmi_format_append_char(p, '=');
		}
		pfmi_format_append_text(p, word);
	}
}

static bool append_libpfm_groups(struct event_printer *p)
{
	size_t begun = p->length;

	if (p->event->has_raw_umask)
		return append_raw_umask(p);
	for (unsigned i = 0; i < event_count_groups(p->event); i++) {
		struct word_choice c;

		if (!is_written_in_libpfm(p, i))
			continue;
		c = get_libpfm_words(p, i);
		if (!c.n_words) {
			p->length = begun;
			return append_raw_umask(p);
		}
		append_umasks(p, i, &c);
	}
	return true;
}

/* ---- the same event in other terms ----------------------------------------------------------- */

/* Splits a raw unit mask into the groups it represents, if all of them can be named. */
static void split_raw_umask(struct event *ev)
{
	uint64_t raw = 0, seen = 0, parts[EVENT_MAX_GROUPS];

	for (unsigned i = 0; i < event_count_groups(ev); i++)
		raw |= ev->group_values[i];
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);
		bool masks = g->field + 1u == table_get_key_field_plus1(ev->table, KEY_UMASK);

		parts[i] = masks ? raw & g->mask : 0;
		if ((masks && seen & g->mask) || !is_nameable_value(ev->table, g, parts[i]))
			return;
		seen |= masks ? g->mask : 0;
	}
	if (raw & ~seen)
		return;
	memcpy(ev->group_values, parts, event_count_groups(ev) * sizeof(parts[0]));
	ev->has_raw_umask = 0;
}

static bool merge_field_value(struct event *ev, unsigned field, uint64_t value)
{
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field) {
			ev->user_fields[i].value |= value;
			return true;
		}
	return pfmi_pmu_set_user_field(ev, field, value);
}

/* Turns a raw unit mask into its field as a whole, if unit masks are parts of a modifier. The first
 * group holds all of the raw mask. */
static void convert_raw_to_field(struct event *ev)
{
	const struct umask_group *g = event_get_group(ev, 0);

	if (table_fields(ev->table)[g->field].is_modifier &&
	    merge_field_value(ev, g->field, ev->group_values[0]))
		ev->group_values[0] = ev->has_raw_umask = 0;
}

/* Turns a unit mask that sets a flag ("TRIPS" is edge) into the flag: only libpfm has it as a unit
 * mask. */
static void convert_umask_to_flag(struct event *ev)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);
		const struct field *f = table_fields(ev->table) + g->field;

		if (f->is_modifier && f->width == 1 && !(g->flags & GROUP_REQUIRED) &&
		    (!ev->group_values[i] || merge_field_value(ev, g->field, ev->group_values[i])))
			ev->group_values[i] = 0;
	}
}

/* Would a group of @field have no words for its value, once the field is not set as a whole? */
static bool has_unnameable_group(const struct event *ev, unsigned field)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);

		if (g->field == field && is_written_without_fields(ev, i) &&
		    !is_nameable_value(ev->table, g, ev->group_values[i]))
			return true;
	}
	return false;
}

static void convert_flag_to_umask(struct event *ev)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++)
		for (unsigned k = 0; k < ev->n_user_fields; k++) {
			const struct umask_group *g = event_get_group(ev, i);
			uint64_t value = ev->user_fields[k].value | ev->group_values[i],
				 before = ev->group_values[i];

			if (ev->user_fields[k].field != g->field || !value ||
			    !compose_words(g, get_spelled_words(ev->table, g, PRIMARY_SPELLING),
			                   value)
			             .n_words)
				continue;
			ev->group_values[i] = value;
			if (has_unnameable_group(ev, g->field))
				ev->group_values[i] = before;
			else
				ev->user_fields[k--] = ev->user_fields[--ev->n_user_fields];
		}
}

void pfmi_format_use_dialect_terms(struct event *ev, pfm_dialect_t dialect)
{
	if (ev->has_raw_umask)
		split_raw_umask(ev);
	if (ev->has_raw_umask)
		convert_raw_to_field(ev);
	if (dialect == PFM_DIALECT_LIBPFM)
		convert_flag_to_umask(ev);
	else if (dialect != PFM_DIALECT_PERF)
		convert_umask_to_flag(ev);
}

/* ---- levels and common attributes ------------------------------------------------------------ */

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

/* ---- fields ---------------------------------------------------------------------------------- */

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
	pfmi_format_append_printf(p, "%c%s", get_separator(p), get_field_name(p, f));
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
	if (!append_libpfm_groups(p))
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
	if (!append_groups(p) || !append_fields(p, order, sizeof(order) / sizeof(order[0])))
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
