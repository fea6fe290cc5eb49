/* SPDX-License-Identifier: MIT */
/* An event as its name and words: libpfm's unit masks, libpmc's and the vendor's qualifiers, and modifiers behind them. */
#include <inttypes.h>
#include "format/printer.h"

static char separator(const struct printer *p)
{
	return p->dialect == PFM_DIALECT_LIBPMC ? ',' : ':';
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

enum spelling { FIRST_SPELLING,
	        LIBPFM_SPELLING };

/* The words of a group in one spelling. */
struct words {
	const struct word *w;
	unsigned n;
};

static struct words spelled(const struct table *t, const struct group *g, enum spelling s)
{
	const struct word *w = table_words(t) + g->word;

	if (s == FIRST_SPELLING)
		return (struct words){ w, g->n_values };
	return (struct words){ w + g->n_values, (unsigned)(g->n_words - g->n_values) };
}

static int exact_word(struct words ws, uint64_t value)
{
	for (unsigned i = 0; i < ws.n; i++)
		if (ws.w[i].value == value)
			return (int)i;
	return -1;
}

/* Words that make up a value together. */
struct choice {
	const struct word *w[64];
	unsigned n; /* 0: no words do */
};

/* Adds those of @ws that bring a bit of @value which is not in *@bits yet. */
static void add_words(struct choice *c, struct words ws, uint64_t value, uint64_t *bits)
{
	for (unsigned i = 0; i < ws.n; i++)
		if (!(ws.w[i].value & ~value) && ws.w[i].value & ~*bits) {
			*bits |= ws.w[i].value;
			c->w[c->n++] = &ws.w[i]; /* each brings a bit of its own: at most 64 */
		}
}

/* The words of @ws for @value, and of @more where these do not do. */
static struct choice compose_of_both(const struct group *g, struct words ws, struct words more, uint64_t value)
{
	struct choice c = { .n = 0 };
	uint64_t bits = 0;
	int exact = exact_word(ws, value);

	if (exact < 0 && (exact = exact_word(more, value)) >= 0)
		ws = more;
	if (exact >= 0) {
		c.w[c.n++] = &ws.w[exact];
		return c;
	}
	if (g->flags & GROUP_ANY) {
		add_words(&c, ws, value, &bits);
		add_words(&c, more, value, &bits);
	}
	if (bits != value)
		c.n = 0;
	return c;
}

static struct choice compose(const struct group *g, struct words ws, uint64_t value)
{
	return compose_of_both(g, ws, (struct words){ ws.w, 0 }, value);
}

static bool nameable(const struct table *t, const struct group *g, uint64_t value)
{
	return compose(g, spelled(t, g, FIRST_SPELLING), value).n || (!value && !(g->flags & (GROUP_REQUIRED | GROUP_DEFAULT)));
}

/* Must the value of group @i be written, where no field is set? */
static bool is_told_alone(const struct event *ev, unsigned i)
{
	const struct group *g = row_group(ev->table, ev->row, i);
	bool behind = i && g->flags & GROUP_BEHIND && ev->group_values[i - 1] == row_group(ev->table, ev->row, i - 1)->preset;

	if (g->flags & GROUP_DEFAULT)
		return ev->group_values[i] != (behind ? 0 : g->preset);
	return ev->group_values[i] || g->flags & GROUP_REQUIRED;
}

/* Must it, where its field may be given as a whole? */
static bool is_told(const struct event *ev, unsigned i)
{
	return (ev->group_values[i] || !pfmi_pmu_event_user_value(ev, row_group(ev->table, ev->row, i)->field)) && is_told_alone(ev, i);
}

/* A lent row may have another's name, and the masks behind it tell them apart. */
static bool is_spelled_out(const struct printer *p, unsigned i)
{
	const struct group *g = pfmi_pmu_row_group(p->t, p->ev->row_index, i);

	return p->spell_out && p->ev->row_index >= p->t->n_rows && compose(g, spelled(p->t, g, FIRST_SPELLING), p->ev->group_values[i]).n;
}

/* What stands in the place of all groups: they must all go into the unit mask, and fit the 8 bits it has. */
static bool raw_mask(const struct printer *p, uint64_t *raw)
{
	*raw = 0;
	for (unsigned i = 0; i < event_groups(p->ev); i++) {
		const struct group *g = pfmi_pmu_row_group(p->t, p->ev->row_index, i);

		if (g->field + 1u != table_key(p->t, KEY_UMASK) && (i == 0 || p->ev->group_values[i]))
			return false;
		*raw |= p->ev->group_values[i];
	}
	return *raw <= 0xff;
}

/* "0x41" */
static bool put_raw_mask(struct printer *p)
{
	uint64_t raw;

	if (!raw_mask(p, &raw))
		return pfmi_cannot(p, "a value of this event has no spelling of libpfm");
	pfmi_put(p, ":0x%" PRIx64, raw);
	return true;
}

/* A bare word can be taken for a level, a modifier of one letter or a word of an earlier group. */
static bool is_taken(const struct printer *p, unsigned group, const char *word)
{
	static const struct {
		char letter[2];
		enum key key;
	} taken[] = {
		{ "u", KEY_NONE },
		{ "k", KEY_NONE },
		{ "h", KEY_NONE },
		{ "c", KEY_CMASK },
		{ "i", KEY_INV },
		{ "e", KEY_EDGE },
		{ "t", KEY_ANY },
	};
	struct slice s = pfmi_slice(word);

	for (unsigned i = 0; s.len == 1 && i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct field *f = table_field(p->t, taken[i].key);

		if (pfmi_slice_is(s, taken[i].letter) && (taken[i].key == KEY_NONE || (f && f->modifier)))
			return true;
	}
	for (unsigned i = 0; i < group; i++) {
		const struct group *g = pfmi_pmu_row_group(p->t, p->ev->row_index, i);

		if (pfmi_table_word(p->t, g->word, g->n_words, s))
			return true;
	}
	return false;
}

static bool all_letters(const struct table *t, const struct choice *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (strlen(table_text(t, c->w[i]->name)) != 1)
			return false;
	return true;
}

/* "group=word", "group=ms", "group=a+b" */
static bool put_group(struct printer *p, unsigned i)
{
	const struct group *g = pfmi_pmu_row_group(p->t, p->ev->row_index, i);
	struct choice c = compose(g, spelled(p->t, g, FIRST_SPELLING), p->ev->group_values[i]);
	bool letters = all_letters(p->t, &c);

	if (!c.n)
		return pfmi_cannot(p, "a value of this event has no word");
	pfmi_put(p, "%c%s=", separator(p), table_text(p->t, g->name));
	for (unsigned k = 0; k < c.n; k++)
		pfmi_put(p, "%s%s", k && !letters ? "+" : "", table_text(p->t, c.w[k]->name));
	return true;
}

static bool put_groups(struct printer *p)
{
	if (p->ev->has_raw_umask && p->dialect == PFM_DIALECT_LIBPMC)
		return pfmi_cannot(p, "this raw unit mask has no words");
	if (p->ev->has_raw_umask)
		return put_raw_mask(p);
	for (unsigned i = 0; i < event_groups(p->ev); i++)
		if (is_told(p->ev, i) && !put_group(p, i))
			return false;
	return true;
}

/* The words libpfm has for the value of group @i; none if it has other words only, and a raw mask does. */
static struct choice libpfm_words(const struct printer *p, unsigned i)
{
	const struct group *g = pfmi_pmu_row_group(p->t, p->ev->row_index, i);
	struct words ws = spelled(p->t, g, LIBPFM_SPELLING), first = spelled(p->t, g, FIRST_SPELLING);
	struct choice c = compose(g, ws.n ? ws : first, p->ev->group_values[i]);
	uint64_t raw;

	return c.n || !ws.n || raw_mask(p, &raw) ? c : compose_of_both(g, ws, first, p->ev->group_values[i]);
}

/* libpfm has no default where the manual page has none, so it wants one of the values named, if there is a way to. */
static bool is_told_to_libpfm(const struct printer *p, unsigned i)
{
	uint64_t raw;

	if (is_told(p->ev, i) || is_spelled_out(p, i))
		return true;
	return !(pfmi_pmu_row_group(p->t, p->ev->row_index, i)->flags & (GROUP_DEFAULT | GROUP_ANY)) && (libpfm_words(p, i).n || raw_mask(p, &raw));
}

static void put_masks(struct printer *p, unsigned i, const struct choice *c)
{
	for (unsigned k = 0; k < c->n; k++) {
		const char *word = table_text(p->t, c->w[k]->name);

		pfmi_put_char(p, ':');
		if (p->spell_out || is_taken(p, i, word)) {
			pfmi_put_text(p, table_text(p->t, pfmi_pmu_row_group(p->t, p->ev->row_index, i)->name));
			pfmi_put_char(p, '=');
		}
		pfmi_put_text(p, word);
	}
}

static bool put_libpfm_groups(struct printer *p)
{
	size_t begun = p->n;

	if (p->ev->has_raw_umask)
		return put_raw_mask(p);
	for (unsigned i = 0; i < event_groups(p->ev); i++) {
		struct choice c;

		if (!is_told_to_libpfm(p, i))
			continue;
		c = libpfm_words(p, i);
		if (!c.n) {
			p->n = begun;
			return put_raw_mask(p);
		}
		put_masks(p, i, &c);
	}
	return true;
}

/* ---- the same event in other terms ----------------------------------------------------------------------------- */

/* A raw unit mask told apart into the groups it stands for, where they can all be named. */
static void split_raw(struct event *ev)
{
	uint64_t raw = 0, seen = 0, parts[EVENT_MAX_GROUPS];

	for (unsigned i = 0; i < event_groups(ev); i++)
		raw |= ev->group_values[i];
	for (unsigned i = 0; i < event_groups(ev); i++) {
		const struct group *g = pfmi_pmu_row_group(ev->table, ev->row_index, i);
		bool masks = g->field + 1u == table_key(ev->table, KEY_UMASK);

		parts[i] = masks ? raw & g->mask : 0;
		if ((masks && seen & g->mask) || !nameable(ev->table, g, parts[i]))
			return;
		seen |= masks ? g->mask : 0;
	}
	if (raw & ~seen)
		return;
	memcpy(ev->group_values, parts, event_groups(ev) * sizeof(parts[0]));
	ev->has_raw_umask = 0;
}

static bool set_field(struct event *ev, unsigned field, uint64_t value)
{
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field) {
			ev->user_fields[i].value |= value;
			return true;
		}
	return pfmi_pmu_set_user_field(ev, field, value);
}

/* A raw mask of an event whose masks are parts of a modifier's field is that field as a whole. All of it is in the first group. */
static void say_raw_as_field(struct event *ev)
{
	const struct group *g = pfmi_pmu_row_group(ev->table, ev->row_index, 0);

	if (table_fields(ev->table)[g->field].modifier && set_field(ev, g->field, ev->group_values[0]))
		ev->group_values[0] = ev->has_raw_umask = 0;
}

/* A unit mask that means a flag ("TRIPS" is edge): libpfm says it as a mask, everybody else as the flag. */
static void say_as_flag(struct event *ev)
{
	for (unsigned i = 0; i < event_groups(ev); i++) {
		const struct group *g = pfmi_pmu_row_group(ev->table, ev->row_index, i);
		const struct field *f = table_fields(ev->table) + g->field;

		if (f->modifier && f->width == 1 && !(g->flags & GROUP_REQUIRED) &&
		    (!ev->group_values[i] || set_field(ev, g->field, ev->group_values[i])))
			ev->group_values[i] = 0;
	}
}

/* Has a group of @field no words for what it has to say, once the field is no longer given as a whole? */
static bool has_unsayable(const struct event *ev, unsigned field)
{
	for (unsigned i = 0; i < event_groups(ev); i++) {
		const struct group *g = pfmi_pmu_row_group(ev->table, ev->row_index, i);

		if (g->field == field && is_told_alone(ev, i) && !nameable(ev->table, g, ev->group_values[i]))
			return true;
	}
	return false;
}

static void say_as_mask(struct event *ev)
{
	for (unsigned i = 0; i < event_groups(ev); i++)
		for (unsigned k = 0; k < ev->n_user_fields; k++) {
			const struct group *g = pfmi_pmu_row_group(ev->table, ev->row_index, i);
			uint64_t value = ev->user_fields[k].value | ev->group_values[i], before = ev->group_values[i];

			if (ev->user_fields[k].field != g->field || !value || !compose(g, spelled(ev->table, g, FIRST_SPELLING), value).n)
				continue;
			ev->group_values[i] = value;
			if (has_unsayable(ev, g->field))
				ev->group_values[i] = before;
			else
				ev->user_fields[k--] = ev->user_fields[--ev->n_user_fields];
		}
}

void pfmi_say_in_words(struct event *ev, pfm_dialect_t dialect)
{
	if (ev->has_raw_umask)
		split_raw(ev);
	if (ev->has_raw_umask)
		say_raw_as_field(ev);
	if (dialect == PFM_DIALECT_LIBPFM)
		say_as_mask(ev);
	else if (dialect != PFM_DIALECT_PERF)
		say_as_flag(ev);
}

/* ---- levels and common attributes ----------------------------------------------------------------------------- */

static void put_levels(struct printer *p)
{
	const struct event *ev = p->ev;

	if (ev->has_no_levels)
		pfmi_put(p, ":u=0");
	else if (ev->plm & (PFM_PLM1 | PFM_PLM2))
		pfmi_put(p, ":plm=0x%x", ev->plm & 15u);
	else
		pfmi_put_text(p, ev->plm & PFM_PLM0 ? ev->plm & PFM_PLM3 ? ":k:u" : ":k" : ev->plm & PFM_PLM3 ? ":u"
		                                                                                              : "");
	if (ev->plm & PFMI_PLMH)
		pfmi_put_text(p, ":h");
}

static bool put_libpmc_levels(struct printer *p)
{
	const struct event *ev = p->ev;

	if (ev->has_no_levels)
		return pfmi_cannot(p, "libpmc cannot switch every level off");
	if (ev->plm & ~(PFM_PLM0 | PFM_PLM3))
		return pfmi_cannot(p, "libpmc knows the levels os and usr alone");
	if (ev->precise)
		return pfmi_cannot(p, "libpmc has no precise events");
	if (ev->counter_pin != ANYWHERE)
		return pfmi_cannot(p, "libpmc cannot name the counter");
	pfmi_put(p, "%s%s", ev->plm & PFM_PLM0 ? ",os" : "", ev->plm & PFM_PLM3 ? ",usr" : "");
	return true;
}

static void put_rest(struct printer *p)
{
	if (p->ev->precise)
		pfmi_put(p, ":precise=%u", p->ev->precise);
	if (p->ev->counter_pin != ANYWHERE)
		pfmi_put(p, ":counter=%u", p->ev->counter_pin);
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

static bool has_modifier(const struct table *t, const char *name)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (f[i].modifier && pfmi_slice_is(pfmi_slice(name), table_text(t, f[i].name)))
			return true;
	return false;
}

static const char *field_name(const struct printer *p, const struct field *f)
{
	static const struct {
		enum key key;
		char word[8];
	} shorts[] = {
		{ KEY_EDGE, "e" },
		{ KEY_INV, "i" },
		{ KEY_CMASK, "c" },
		{ KEY_ANY, "t" },
		{ KEY_IN_TX, "intx" },
		{ KEY_IN_TX_CP, "intxcp" },
	};

	if (p->dialect == PFM_DIALECT_LIBPFM)
		for (unsigned i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++)
			if (f == table_field(p->t, shorts[i].key) && !has_modifier(p->t, shorts[i].word))
				return shorts[i].word;
	return table_text(p->t, f->name);
}

/* Is the event the same without what the user set as number @i? */
static bool is_usual(const struct event *ev, unsigned i)
{
	const struct row *r = table_row(ev->table, ev->row_index);
	const struct field *f = table_fields(ev->table) + ev->user_fields[i].field;
	struct event bare = *ev;

	if (field_is_extra_register(ev->table, f))
		return false;
	for (unsigned k = 0; k < r->n_values; k++) {
		struct value v = row_value(ev->table, r, k);

		if (v.field == ev->user_fields[i].field && v.counter != ANYWHERE)
			return false;
	}
	bare.user_fields[i] = bare.user_fields[--bare.n_user_fields];
	return pfmi_pmu_event_field_value(&bare, ev->user_fields[i].field, ANYWHERE) == pfmi_pmu_event_field_value(ev, ev->user_fields[i].field, ANYWHERE) &&
	       pfmi_same_config(ev, &bare);
}

/* Is the bare word @name a mask of the group? Not if the mask has a libpfm spelling beside it. */
static bool is_bare_mask(const struct table *t, const struct group *g, const char *name)
{
	const struct word *w = table_words(t) + g->word;
	bool found = false;

	for (unsigned k = 0; k < g->n_words; k++) {
		if (!pfmi_slice_is(pfmi_slice(name), table_text(t, w[k].name)))
			continue;
		found = true;
		for (unsigned i = g->n_values; k < g->n_values && i < g->n_words; i++)
			found &= w[i].value != w[k].value;
	}
	return found;
}

/* A bare ":i" is the mask I where the event has one, or where the event's name begins as that of one does that has it. */
static bool is_mask_of_row(const struct printer *p, const char *name)
{
	const char *row = table_row_name(p->t, p->ev->row_index);

	for (struct slice head = { row, 1 }; *row && row[head.len - 1]; head.len++)
		if (strchr(".:", row[head.len]) && pfmi_lookup_is_umask_name(p->t, head, pfmi_name_hash(head), pfmi_slice(name)))
			return true;
	for (unsigned i = 0; i < event_groups(p->ev); i++)
		if (is_bare_mask(p->t, pfmi_pmu_row_group(p->t, p->ev->row_index, i), name))
			return true;
	return false;
}

static bool put_field(struct printer *p, unsigned i)
{
	const struct field *f = table_fields(p->t) + p->ev->user_fields[i].field;
	uint64_t value = p->ev->user_fields[i].value;

	if (is_usual(p->ev, i))
		return true;
	if (!f->modifier)
		return pfmi_cannot(p, "it sets a field that only perf's grammar can name");
	pfmi_put(p, "%c%s", separator(p), field_name(p, f));
	if (f->width == 1 && value && (p->dialect != PFM_DIALECT_LIBPFM || !is_mask_of_row(p, field_name(p, f))))
		return true;
	if (f->width == 1 && p->dialect == PFM_DIALECT_LIBPMC)
		return pfmi_cannot(p, "libpmc can set this flag, but not clear it");
	pfmi_put(p, "=");
	pfmi_put_value(p, f, value);
	return true;
}

/* Fields in the order of @first, then the others as the table has them. */
static bool put_fields(struct printer *p, const enum key *first, unsigned n)
{
	const struct event *ev = p->ev;
	uint32_t done = 0;

	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < ev->n_user_fields; i++)
			if (ev->user_fields[i].field + 1u == table_key(p->t, first[k])) {
				done |= 1u << i;
				if (!put_field(p, i))
					return false;
			}
	for (unsigned field = 0; field < p->t->n_fields; field++)
		for (unsigned i = 0; i < ev->n_user_fields; i++)
			if (ev->user_fields[i].field == field && !(done >> i & 1) && !put_field(p, i))
				return false;
	return true;
}

static bool put_libpfm(struct printer *p)
{
	static const enum key order[] = { KEY_EDGE, KEY_INV, KEY_CMASK, KEY_ANY };

	pfmi_put_text(p, table_text(p->t, p->t->name));
	pfmi_put_text(p, "::");
	pfmi_put_capitals(p, table_row_name(p->t, p->ev->row_index));
	if (!put_libpfm_groups(p))
		return false;
	put_levels(p);
	if (!put_fields(p, order, sizeof(order) / sizeof(order[0])))
		return false;
	put_rest(p);
	return true;
}

static bool put_named(struct printer *p)
{
	static const enum key order[] = { KEY_CMASK, KEY_INV, KEY_EDGE };

	pfmi_put_text(p, table_row_name(p->t, p->ev->row_index));
	if (!put_groups(p) || !put_fields(p, order, sizeof(order) / sizeof(order[0])))
		return false;
	if (p->dialect == PFM_DIALECT_LIBPMC)
		return put_libpmc_levels(p);
	put_levels(p);
	put_rest(p);
	return true;
}

bool pfmi_put_words(struct printer *p)
{
	return p->dialect == PFM_DIALECT_LIBPFM ? put_libpfm(p) : put_named(p);
}
