/* SPDX-License-Identifier: MIT */
/* Unit masks and qualifiers of an event as words: each group of values in the spelling of the
 * dialect, or a number where no words make up the value. */
#include <inttypes.h>
#include "format/printer.h"

char pfmi_format_get_separator(const struct event_printer *p)
{
	return p->dialect == PFM_DIALECT_LIBPMC ? ',' : ':';
}

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

bool pfmi_format_has_words_for_value(const struct table *t, const struct umask_group *g,
                                     uint64_t value)
{
	return compose_words(g, get_spelled_words(t, g, PRIMARY_SPELLING), value).n_words > 0;
}

bool pfmi_format_is_written_without_fields(const struct event *ev, unsigned i)
{
	const struct umask_group *g = table_get_row_group(ev->table, ev->row, i);
	bool yields = i && g->flags & GROUP_DEFAULT_YIELDS &&
	              ev->group_values[i - 1] ==
	                      table_get_row_group(ev->table, ev->row, i - 1)->default_value;

	if (g->flags & GROUP_HAS_DEFAULT)
		return ev->group_values[i] != (yields ? 0 : g->default_value);
	return ev->group_values[i] || g->flags & GROUP_REQUIRED;
}

/* Must the value of group @i be written? */
static bool is_written_group(const struct event *ev, unsigned i)
{
	return (ev->group_values[i] ||
	        !pfmi_pmu_find_user_value(ev, table_get_row_group(ev->table, ev->row, i)->field)) &&
	       pfmi_format_is_written_without_fields(ev, i);
}

/* An alias row may share its name with another row; unit masks with their group distinguish
 * them. */
static bool is_group_spelled_out(const struct event_printer *p, unsigned i)
{
	const struct umask_group *g = event_get_group(p->event, i);

	return p->spells_out_groups && p->event->row_index >= p->table->n_rows &&
	       pfmi_format_has_words_for_value(p->table, g, p->event->group_values[i]);
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
	pfmi_format_append_printf(p, "%c%s=", pfmi_format_get_separator(p),
	                          table_get_text(p->table, g->name));
	for (unsigned k = 0; k < c.n_words; k++)
		pfmi_format_append_printf(p, "%s%s", k && !letters ? "+" : "",
		                          table_get_text(p->table, c.words[k]->name));
	return true;
}

bool pfmi_format_append_groups(struct event_printer *p)
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

bool pfmi_format_append_libpfm_groups(struct event_printer *p)
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
