/* SPDX-License-Identifier: MIT */
/* Events as texts, in every dialect.
 *
 *   libpfm  pmu::NAME:MASK...:k:u:e:i:c=N      unit masks in libpfm's spelling, a raw mask where it has none
 *   libpmc  Name,group=word,cmask=N,inv,usr    words of the manual page
 *   perf    device/event=0x2e,umask=0x41/u     every field that has bits; the kernel's own events by their names
 *   vendor  Name:group=word:cmask=N:u          the published name
 *
 * Only what differs from the row's presets is written. Every text is read again before it is handed out: one that would not
 * give the same event is refused, so the promise of pfm_print_event() does not hang on the names in a table. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "ctx.h"
#include "base/sizes.h"
#include "answer/reverse.h"

struct printer {
	const struct event *ev;       /* as the dialect says it best */
	const struct event *original; /* what must come out when the text is read */
	const struct table *t;
	pfm_dialect_t dialect;
	struct slice device;
	bool spell_out;  /* write "group=word" where a bare word would do, were it not part of another event's name */
	const char *why; /* what the dialect cannot say */
	size_t n;
	char text[PRINT_MAX];
};

#define PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

static PRINTF(2, 3) void put(struct printer *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->n, sizeof(p->text) - p->n, format, args);
	va_end(args);
	if (n > 0)
		p->n += (size_t)n < sizeof(p->text) - p->n ? (size_t)n : sizeof(p->text) - 1 - p->n;
	if (p->n == sizeof(p->text) - 1)
		p->why = "the text is too long";
}

static void put_char(struct printer *p, char c)
{
	if (p->n < sizeof(p->text) - 1) {
		p->text[p->n++] = c;
		p->text[p->n] = '\0';
	}
	if (p->n == sizeof(p->text) - 1)
		p->why = "the text is too long";
}

static void put_text(struct printer *p, const char *s)
{
	while (*s)
		put_char(p, *s++);
}

/* Event names are capital letters in libpfm's texts, whatever the table has. */
static char capital(char c)
{
	return c == '.' ? ':' : c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A'))
	                                             : c;
}

static bool has_none(const char *text, const char *characters)
{
	return !text[strcspn(text, characters)];
}

static bool cannot(struct printer *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return false;
}

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

static struct choice compose(const struct group *g, struct words ws, uint64_t value)
{
	struct choice c = { .n = 0 };
	uint64_t bits = 0;
	int exact = exact_word(ws, value);

	if (exact >= 0) {
		c.w[c.n++] = &ws.w[exact];
		return c;
	}
	for (unsigned i = 0; i < ws.n && g->flags & GROUP_ANY; i++)
		if (!(ws.w[i].value & ~value) && ws.w[i].value & ~bits) {
			bits |= ws.w[i].value;
			c.w[c.n++] = &ws.w[i]; /* each brings a bit of its own: at most 64 */
		}
	if (bits != value)
		c.n = 0;
	return c;
}

static bool nameable(const struct table *t, const struct group *g, uint64_t value)
{
	return compose(g, spelled(t, g, FIRST_SPELLING), value).n || (!value && !(g->flags & (GROUP_REQUIRED | GROUP_DEFAULT)));
}

/* Must the value of group @i be written? */
static bool is_told(const struct event *ev, unsigned i)
{
	const struct group *g = pfmi_row_group(ev->table, ev->row, i);

	if (g->flags & GROUP_DEFAULT)
		return ev->group[i] != g->preset;
	return ev->group[i] || g->flags & GROUP_REQUIRED;
}

/* libpfm has no default where the manual page has none, so it wants one of the values named. */
static bool is_told_to_libpfm(const struct event *ev, unsigned i)
{
	return is_told(ev, i) || !(pfmi_row_group(ev->table, ev->row, i)->flags & (GROUP_DEFAULT | GROUP_ANY));
}

static unsigned n_groups(const struct event *ev)
{
	return ev->row == ROW_NONE ? 0 : table_row(ev->table, ev->row)->n_takes;
}

/* A raw unit mask told apart into the groups it stands for, where they can all be named. */
static void split_raw(struct event *ev)
{
	uint64_t raw = 0, seen = 0, parts[EVENT_MAX_GROUPS];

	for (unsigned i = 0; i < n_groups(ev); i++)
		raw |= ev->group[i];
	for (unsigned i = 0; i < n_groups(ev); i++) {
		const struct group *g = pfmi_row_group(ev->table, ev->row, i);
		bool masks = g->field + 1u == table_key(ev->table, KEY_UMASK);

		parts[i] = masks ? raw & g->mask : 0;
		if ((masks && seen & g->mask) || !nameable(ev->table, g, parts[i]))
			return;
		seen |= masks ? g->mask : 0;
	}
	if (raw & ~seen)
		return;
	memcpy(ev->group, parts, n_groups(ev) * sizeof(parts[0]));
	ev->raw_mask = 0;
}

static bool set_field(struct event *ev, unsigned field, uint64_t value)
{
	for (unsigned i = 0; i < ev->n_set; i++)
		if (ev->set[i].field == field) {
			ev->set[i].value |= value;
			return true;
		}
	return pfmi_event_set(ev, field, value);
}

/* A unit mask that means a flag ("TRIPS" is edge): libpfm says it as a mask, everybody else as the flag. */
static void say_as_flag(struct event *ev)
{
	for (unsigned i = 0; i < n_groups(ev); i++) {
		const struct group *g = pfmi_row_group(ev->table, ev->row, i);
		const struct field *f = table_fields(ev->table) + g->field;

		if (f->modifier && f->width == 1 && !(g->flags & GROUP_REQUIRED) &&
		    (!ev->group[i] || set_field(ev, g->field, ev->group[i]))) {
			ev->group[i] = 0;
			ev->given &= (uint16_t) ~(1u << i);
		}
	}
}

static void say_as_mask(struct event *ev)
{
	for (unsigned i = 0; i < n_groups(ev); i++)
		for (unsigned k = 0; k < ev->n_set; k++) {
			const struct group *g = pfmi_row_group(ev->table, ev->row, i);
			uint64_t value = ev->set[k].value | ev->group[i];

			if (ev->set[k].field != g->field || !value || !compose(g, spelled(ev->table, g, FIRST_SPELLING), value).n)
				continue;
			ev->group[i] = value;
			ev->given |= (uint16_t)(1u << i);
			ev->set[k--] = ev->set[--ev->n_set];
		}
}

/* "0x41" in the place of all groups: they must all go into the unit mask, and fit the 8 bits it has. */
static bool put_raw_mask(struct printer *p)
{
	uint64_t raw = 0;

	for (unsigned i = 0; i < n_groups(p->ev); i++) {
		const struct group *g = pfmi_row_group(p->t, p->ev->row, i);

		if (g->field + 1u != table_key(p->t, KEY_UMASK) && (i == 0 || p->ev->group[i]))
			return cannot(p, "a value of this event has no spelling of libpfm");
		raw |= p->ev->group[i];
	}
	if (raw > 0xff)
		return cannot(p, "a value of this event has no spelling of libpfm");
	put(p, ":0x%" PRIx64, raw);
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

	for (unsigned i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct field *f = table_field(p->t, taken[i].key);

		if (pfmi_slice_is(s, taken[i].letter) && (taken[i].key == KEY_NONE || (f && f->modifier)))
			return true;
	}
	for (unsigned i = 0; i < group; i++) {
		const struct group *g = pfmi_row_group(p->t, p->ev->row, i);

		for (unsigned k = 0; k < g->n_words; k++)
			if (pfmi_slice_is(s, table_text(p->t, table_words(p->t)[g->word + k].name)))
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
	const struct group *g = pfmi_row_group(p->t, p->ev->row, i);
	struct choice c = compose(g, spelled(p->t, g, FIRST_SPELLING), p->ev->group[i]);
	bool letters = all_letters(p->t, &c);

	if (!c.n)
		return cannot(p, "a value of this event has no word");
	put(p, "%c%s=", separator(p), table_text(p->t, g->name));
	for (unsigned k = 0; k < c.n; k++)
		put(p, "%s%s", k && !letters ? "+" : "", table_text(p->t, c.w[k]->name));
	return true;
}

static bool put_groups(struct printer *p)
{
	if (p->ev->raw_mask && p->dialect == PFM_DIALECT_LIBPMC)
		return cannot(p, "this raw unit mask has no words");
	if (p->ev->raw_mask)
		return put_raw_mask(p);
	for (unsigned i = 0; i < n_groups(p->ev); i++)
		if (is_told(p->ev, i) && !put_group(p, i))
			return false;
	return true;
}

/* The words libpfm has for the value of group @i; none if it has other words only. */
static struct choice libpfm_words(const struct printer *p, unsigned i)
{
	const struct group *g = pfmi_row_group(p->t, p->ev->row, i);
	struct words ws = spelled(p->t, g, LIBPFM_SPELLING);

	return compose(g, ws.n ? ws : spelled(p->t, g, FIRST_SPELLING), p->ev->group[i]);
}

static void put_masks(struct printer *p, unsigned i)
{
	struct choice c = libpfm_words(p, i);

	for (unsigned k = 0; k < c.n; k++) {
		const char *word = table_text(p->t, c.w[k]->name);

		if (p->spell_out || is_taken(p, i, word)) {
			put(p, ":%s=%s", table_text(p->t, pfmi_row_group(p->t, p->ev->row, i)->name), word);
		} else {
			put_char(p, ':');
			put_text(p, word);
		}
	}
}

static bool put_libpfm_groups(struct printer *p)
{
	bool raw = p->ev->raw_mask;

	for (unsigned i = 0; i < n_groups(p->ev); i++)
		raw |= is_told_to_libpfm(p->ev, i) && !libpfm_words(p, i).n;
	if (raw)
		return put_raw_mask(p);
	for (unsigned i = 0; i < n_groups(p->ev); i++)
		if (is_told_to_libpfm(p->ev, i))
			put_masks(p, i);
	return true;
}

/* ---- levels and common attributes ----------------------------------------------------------------------------- */

static void put_levels(struct printer *p)
{
	const struct event *ev = p->ev;

	if (ev->plm_none)
		put(p, ":u=0");
	else if (ev->plm & (PFM_PLM1 | PFM_PLM2))
		put(p, ":plm=0x%x", ev->plm & 15u);
	else
		put_text(p, ev->plm & PFM_PLM0 ? ev->plm & PFM_PLM3 ? ":k:u" : ":k" : ev->plm & PFM_PLM3 ? ":u"
		                                                                                         : "");
	if (ev->plm & PFMI_PLMH)
		put_text(p, ":h");
}

static bool put_libpmc_levels(struct printer *p)
{
	const struct event *ev = p->ev;

	if (ev->plm_none)
		return cannot(p, "libpmc cannot switch every level off");
	if (ev->plm & ~(PFM_PLM0 | PFM_PLM3))
		return cannot(p, "libpmc knows the levels os and usr alone");
	if (ev->precise)
		return cannot(p, "libpmc has no precise events");
	if (ev->counter_pin != ANYWHERE)
		return cannot(p, "libpmc cannot name the counter");
	put(p, "%s%s", ev->plm & PFM_PLM0 ? ",os" : "", ev->plm & PFM_PLM3 ? ",usr" : "");
	return true;
}

static void put_rest(struct printer *p)
{
	if (p->ev->precise)
		put(p, ":precise=%u", p->ev->precise);
	if (p->ev->counter_pin != ANYWHERE)
		put(p, ":counter=%u", p->ev->counter_pin);
}

void pfmi_perf_letters(const struct event *ev, char out[12])
{
	unsigned n = 0;

	if (ev->plm & PFM_PLM3)
		out[n++] = 'u';
	if (ev->plm & PFM_PLM0)
		out[n++] = 'k';
	if (ev->plm & PFMI_PLMH)
		out[n++] = 'h';
	for (unsigned i = 0; i < ev->precise && i < 3; i++)
		out[n++] = 'p';
	if (ev->left_out & EVENT_ONLY_GUEST)
		out[n++] = 'G';
	if (ev->left_out & EVENT_ONLY_HOST)
		out[n++] = 'H';
	if (ev->left_out & EVENT_NO_IDLE)
		out[n++] = 'I';
	out[n] = '\0';
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

/* Equal configuration words, extra registers included. An encoder that refuses both has no such words. */
static bool same_config(const struct event *a, const struct event *b)
{
	pfm_attr_t x, y;
	int rc = pfmi_event_attr(a, -1, PFM_PLM0 | PFM_PLM3, &x, NULL);

	if (pfmi_event_attr(b, -1, PFM_PLM0 | PFM_PLM3, &y, NULL) != rc)
		return false;
	return rc || (x.config == y.config && x.config1 == y.config1 && x.config2 == y.config2 && x.config3 == y.config3);
}

/* Codes and whatever is wider than 16 bits are hexadecimal, thresholds and the like are not. */
static void put_number(struct printer *p, const struct field *f, uint64_t value)
{
	bool hex = f->width > 16 || f->key == KEY_CODE || f->key == KEY_UMASK;

	put(p, hex ? "0x%" PRIx64 : "%" PRIu64, value);
}

/* A word for @value that reads back as that value in every grammar, or NULL. */
static const char *field_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct word *w = table_words(t) + f->word;

	for (unsigned i = 0; i < f->n_words; i++) {
		const char *word = table_text(t, w[i].name);
		uint64_t number;

		if (w[i].value == value && has_none(word, ":.,/=") && !pfmi_spec_number(pfmi_slice(word), &number))
			return word;
	}
	return NULL;
}

static void put_value(struct printer *p, const struct field *f, uint64_t value)
{
	const char *word = f->kind == FIELD_NUMBER ? NULL : field_word(p->t, f, value);

	if (word)
		put(p, "%s", word);
	else
		put_number(p, f, value);
}

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
	const struct row *r = table_row(ev->table, ev->row);
	const struct field *f = table_fields(ev->table) + ev->set[i].field;
	struct event bare = *ev;

	/* Who names a field of an extra register wants that register written, with 0 as well. */
	if (ev->table->encoder == ENCODER_X86 && f->n_ranges && f->range[0].word == 1)
		return false;
	for (unsigned k = 0; k < r->n_values; k++) {
		struct value v = row_value(ev->table, r, k);

		if (v.field == ev->set[i].field && v.counter != ANYWHERE)
			return false;
	}
	bare.set[i] = bare.set[--bare.n_set];
	return pfmi_event_value(&bare, ev->set[i].field, ANYWHERE) == pfmi_event_value(ev, ev->set[i].field, ANYWHERE) &&
	       same_config(ev, &bare);
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

/* A bare ":i" is the mask I where the event has one. */
static bool is_mask_of_row(const struct printer *p, const char *name)
{
	for (unsigned i = 0; i < n_groups(p->ev); i++)
		if (is_bare_mask(p->t, pfmi_row_group(p->t, p->ev->row, i), name))
			return true;
	return false;
}

static bool put_field(struct printer *p, unsigned i)
{
	const struct field *f = table_fields(p->t) + p->ev->set[i].field;
	uint64_t value = p->ev->set[i].value;

	if (is_usual(p->ev, i))
		return true;
	if (!f->modifier)
		return cannot(p, "it sets a field that only perf's grammar can name");
	put(p, "%c%s", separator(p), field_name(p, f));
	if (f->width == 1 && value && (p->dialect != PFM_DIALECT_LIBPFM || !is_mask_of_row(p, field_name(p, f))))
		return true;
	if (f->width == 1 && p->dialect == PFM_DIALECT_LIBPMC)
		return cannot(p, "libpmc can set this flag, but not clear it");
	put(p, "=");
	put_value(p, f, value);
	return true;
}

/* Fields in the order of @first, then the others as the table has them. */
static bool put_fields(struct printer *p, const enum key *first, unsigned n)
{
	const struct event *ev = p->ev;
	uint32_t done = 0;

	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < ev->n_set; i++)
			if (ev->set[i].field + 1u == table_key(p->t, first[k])) {
				done |= 1u << i;
				if (!put_field(p, i))
					return false;
			}
	for (unsigned field = 0; field < p->t->n_fields; field++)
		for (unsigned i = 0; i < ev->n_set; i++)
			if (ev->set[i].field == field && !(done >> i & 1) && !put_field(p, i))
				return false;
	return true;
}

static bool put_libpfm(struct printer *p)
{
	static const enum key order[] = { KEY_EDGE, KEY_INV, KEY_CMASK, KEY_ANY };

	put_text(p, table_text(p->t, p->t->name));
	put_text(p, "::");
	for (const char *s = table_row_name(p->t, p->ev->row); *s; s++)
		put_char(p, capital(*s));
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

	put_text(p, table_row_name(p->t, p->ev->row));
	if (!put_groups(p) || !put_fields(p, order, sizeof(order) / sizeof(order[0])))
		return false;
	if (p->dialect == PFM_DIALECT_LIBPMC)
		return put_libpmc_levels(p);
	put_levels(p);
	put_rest(p);
	return true;
}

/* ---- perf ----------------------------------------------------------------------------------------------------- */

/* Terms that make the configuration words. */
struct terms {
	uint64_t want[4]; /* bits that differ from those of an event without terms, and must be covered */
	uint64_t config[4];
	unsigned n;
};

static bool put_term(struct printer *p, struct terms *t, const struct field *f)
{
	uint64_t bits[4] = { 0 }, wanted = 0, value = pfmi_field_get(f, t->config);

	if (!f->n_ranges || f->kind == FIELD_TEXT)
		return false;
	pfmi_field_put(f, bits, ~(uint64_t)0);
	for (unsigned i = 0; i < 4; i++)
		wanted |= bits[i] & t->want[i];
	if (!wanted && f->key != KEY_CODE)
		return false;
	if (f->key == KEY_CODE && t->n)
		return false;
	put(p, "%s%s", t->n++ ? "," : "", f->key == KEY_CODE ? "event" : table_text(p->t, f->name));
	if (f->width > 1 || value != 1) {
		put(p, "=");
		put_value(p, f, value);
	}
	for (unsigned i = 0; i < 4; i++)
		t->want[i] &= ~bits[i];
	return true;
}

static void put_row_terms(struct printer *p, struct terms *t)
{
	const struct row *r = p->ev->row == ROW_NONE ? NULL : table_row(p->t, p->ev->row);

	for (unsigned i = 0; r && i < r->n_values; i++)
		put_term(p, t, table_fields(p->t) + row_value(p->t, r, i).field);
}

/* The narrowest field that has all the bits still wanted in @word: extra registers share one, and whole words come last. */
static void put_cover(struct printer *p, struct terms *t, unsigned word)
{
	const struct field *f = table_fields(p->t), *best = NULL;

	for (unsigned i = 0; i < p->t->n_fields && t->want[word]; i++) {
		uint64_t bits[4] = { 0 };

		if (f[i].kind != FIELD_TEXT)
			pfmi_field_put(&f[i], bits, ~(uint64_t)0);
		if (!(t->want[word] & ~bits[word]) && (!best || f[i].width < best->width))
			best = &f[i];
	}
	if (best)
		put_term(p, t, best);
}

static bool put_terms(struct printer *p, const pfm_attr_t *a)
{
	static const enum key order[] = { KEY_CODE, KEY_UMASK, KEY_CMASK, KEY_INV, KEY_EDGE };
	struct terms t = { .config = { a->config, a->config1, a->config2, a->config3 } };
	const struct field *f = table_fields(p->t);
	struct event bare;

	pfmi_event_init(&bare, p->t, ROW_NONE);
	pfmi_event_config(&bare, ANYWHERE, t.want);
	for (unsigned i = 0; i < 4; i++)
		t.want[i] ^= t.config[i];
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (table_key(p->t, order[i]))
			put_term(p, &t, f + table_key(p->t, order[i]) - 1);
	for (unsigned i = 0; i < p->ev->n_set; i++)
		put_term(p, &t, f + p->ev->set[i].field);
	put_row_terms(p, &t);
	for (unsigned word = 0; word < 4; word++)
		put_cover(p, &t, word);
	for (unsigned i = 0; i < p->t->n_fields; i++)
		put_term(p, &t, &f[i]);
	for (unsigned i = 0; i < p->t->n_fields && !t.n; i++)
		if (f[i].n_ranges)
			put(p, "%s=%d", table_text(p->t, f[i].name), t.n++);
	return !(t.want[0] | t.want[1] | t.want[2] | t.want[3]) || cannot(p, "it sets bits that no term of this PMU has");
}

/* An event of fixed counters alone, whose fields the kernel uses for one of general counters too: "cpu/event=0xc0/" is that one. */
static bool fields_mean_another(const struct printer *p, const pfm_attr_t *a)
{
	const struct row *r = p->ev->row == ROW_NONE ? NULL : table_row(p->t, p->ev->row);
	uint64_t on = r ? row_counters(p->t, r) : 0;
	struct event found;

	if (!r || r->n_takes || !(on >> 32) || on & 0xffffffff)
		return false;
	return pfmi_event_from_config(p->t, (uint64_t[4]){ a->config, a->config1, a->config2, a->config3 }, 15, &found) &&
	       found.row != p->ev->row;
}

/* "cpu/instructions,cmask=1/u": the event's name, and what was said beside it. */
static bool put_name_term(struct printer *p)
{
	const struct field *f = table_fields(p->t);

	if (!has_none(table_row_name(p->t, p->ev->row), "/,="))
		return cannot(p, "the event's name does not fit between slashes");
	put(p, "%s", table_row_name(p->t, p->ev->row));
	for (unsigned i = 0; i < p->ev->n_set; i++) {
		put(p, ",%s=", table_text(p->t, f[p->ev->set[i].field].name));
		put_value(p, &f[p->ev->set[i].field], p->ev->set[i].value);
	}
	return true;
}

static bool put_perf_body(struct printer *p, const pfm_attr_t *a)
{
	char letters[12];
	bool named, ok;

	pfmi_perf_letters(p->ev, letters);
	if (p->t->encoder == ENCODER_PERF && p->ev->row != ROW_NONE && !p->ev->n_set) {
		put(p, "%s%s%s", table_row_name(p->t, p->ev->row), letters[0] ? ":" : "", letters);
		return true;
	}
	if (!table_has_bits(p->t) && p->ev->n_set)
		return cannot(p, "the kernel has numbers for whole events of this processor, not for their attributes");
	if (!table_has_bits(p->t)) {
		put(p, "r%" PRIx64 "%s%s", a->config, letters[0] ? ":" : "", letters);
		return !(a->config1 | a->config2 | a->config3) || cannot(p, "a raw number is the first configuration word alone");
	}
	put(p, "%.*s/", (int)p->device.len, p->device.s);
	named = p->ev->row != ROW_NONE && (p->t->flags & TABLE_KERNEL || fields_mean_another(p, a));
	ok = named ? put_name_term(p) : put_terms(p, a);
	put(p, "/%s", letters);
	return ok;
}

static bool put_perf(struct printer *p)
{
	pfm_attr_t a;

	if (p->ev->plm_none)
		return cannot(p, "perf cannot switch every level off");
	if (p->ev->plm & (PFM_PLM1 | PFM_PLM2))
		return cannot(p, "perf tells user from kernel and hypervisor, no other levels");
	if (p->ev->counter_pin != ANYWHERE)
		return cannot(p, "perf leaves the choice of the counter to the kernel");
	if (!pfmi_has_encoder(p->t) || pfmi_event_attr(p->ev, -1, pfmi_usual_levels(p->t), &a, NULL) || !a.expressible)
		return cannot(p, "the kernel has no way to count it");
	return put_perf_body(p, &a);
}

/* ---- proof ---------------------------------------------------------------------------------------------------- */

static bool same_event(const struct event *a, const struct event *b)
{
	if (a->row != b->row || a->plm != b->plm || a->plm_none != b->plm_none || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->left_out != b->left_out)
		return false;
	for (unsigned i = 0; i < a->table->n_fields; i++)
		if (pfmi_event_value(a, i, ANYWHERE) != pfmi_event_value(b, i, ANYWHERE))
			return false;
	return true;
}

/* What was said about both is the same to the letter; then so is everything that follows from it. */
static bool identical(const struct event *a, const struct event *b)
{
	if (a->row != b->row || a->plm != b->plm || a->plm_none != b->plm_none || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->raw_mask != b->raw_mask || a->n_set != b->n_set || a->left_out != b->left_out)
		return false;
	for (unsigned i = 0; i < n_groups(a); i++)
		if (a->group[i] != b->group[i])
			return false;
	for (unsigned i = 0; i < a->n_set; i++)
		if (a->set[i].field != b->set[i].field || a->set[i].value != b->set[i].value)
			return false;
	return true;
}

/* The row a text names, as find.c finds it: the longest piece that is a name. */
static uint32_t row_named(const struct table *t, struct spec *spec)
{
	for (unsigned i = spec->n_cuts; i-- > 0;) {
		struct name n = pfmi_table_find(t, spec->cuts[i].hash, spec->name.s, spec->cuts[i].len);

		if (n.kind >= NAME_UNSUPPORTED)
			continue;
		spec->rest.s = spec->name.s + spec->cuts[i].len;
		spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
		return n.row;
	}
	return ROW_NONE;
}

/* The hexadecimal digits of "r4c". */
static uint64_t raw_number(const char *s)
{
	uint64_t v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
		v = v << 4 | (unsigned)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return v;
}

/* The same between slashes, where a name is the first term. */
static uint32_t row_of_terms(const struct table *t, struct spec *spec)
{
	struct slice rest = spec->rest;
	struct spec_attr first;
	struct name n;

	if (!pfmi_spec_next(&rest, &first) || first.has_value)
		return ROW_NONE;
	n = pfmi_table_find(t, pfmi_name_hash(first.name), first.name.s, first.name.len);
	if (n.kind >= NAME_UNSUPPORTED)
		return ROW_NONE;
	spec->rest = rest;
	return n.row;
}

static bool perf_reads_back(const struct printer *p, struct spec *spec)
{
	struct event back;
	uint32_t row;

	if (p->t->flags & TABLE_KERNEL && p->ev->row != ROW_NONE)
		return true;
	row = row_of_terms(p->t, spec);
	return (row == ROW_NONE || row == p->ev->row) && !pfmi_resolve(p->t, row, spec, &back, NULL) &&
	       p->original->left_out == back.left_out && same_config(p->original, &back);
}

static bool reads_back(const struct printer *p)
{
	struct event back;
	struct spec spec;
	uint32_t row;

	if (pfmi_spec_parse(p->text, &spec, NULL))
		return false;
	if (spec.form == SPEC_PERF)
		return perf_reads_back(p, &spec);
	if (p->dialect == PFM_DIALECT_PERF && !table_has_bits(p->t)) {
		uint64_t config[4] = { raw_number(p->text + 1) };

		return pfmi_event_from_config(p->t, config, 15, &back) && back.row == p->original->row;
	}
	row = row_named(p->t, &spec);
	return row == p->ev->row && !pfmi_resolve(p->t, row, &spec, &back, NULL) &&
	       (identical(p->original, &back) || (same_event(p->original, &back) && same_config(p->original, &back)));
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

static bool put_event(struct printer *p)
{
	if (p->dialect == PFM_DIALECT_PERF)
		return put_perf(p);
	if (p->ev->row == ROW_NONE)
		return cannot(p, "no event of this processor has these values");
	if (p->ev->left_out)
		return cannot(p, "only perf's letters tell guests, the host and idle time apart");
	return p->dialect == PFM_DIALECT_LIBPFM ? put_libpfm(p) : put_named(p);
}

static int hand_out(const struct printer *p, char *buf, size_t len, pfm_error_t *why)
{
	if (p->n >= len)
		return pfmi_refuse(why, PFMLIB_ERR_FULL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "the buffer is too small");
	memcpy(buf, p->text, p->n + 1);
	return PFMLIB_SUCCESS;
}

/* Nothing but a row that takes no groups: the commonest text, and its name is all there is to write and to look up again.
 * Returns its length; 0 for all other events, and where the name would not read back. */
static size_t print_bare(const struct event *ev, char *buf, size_t len)
{
	const struct table *t = ev->table;
	struct name back;
	uint32_t h = NAME_HASH_SEED;
	const char *s;
	size_t n = 0, start;

	if (ev->row == ROW_NONE || n_groups(ev) || ev->n_set || ev->plm || ev->plm_none || ev->precise || ev->left_out ||
	    ev->counter_pin != ANYWHERE)
		return 0;
	for (s = table_text(t, t->name); *s && n + 3 < len; s++)
		buf[n++] = *s;
	if (n + 3 >= len)
		return 0;
	buf[n++] = ':';
	buf[n++] = ':';
	start = n;
	for (s = table_row_name(t, ev->row); *s && n + 1 < len; s++) {
		unsigned char folded = name_fold((unsigned char)*s);

		if (*s == ',' || *s == '/')
			return 0;
		h = folded ? name_hash(h, folded) : h;
		buf[n++] = capital(*s);
	}
	if (*s || n == start)
		return 0;
	buf[n] = '\0';
	back = pfmi_table_find(t, h, buf + start, n - start);
	return back.kind < NAME_UNSUPPORTED && back.row == ev->row ? n : 0;
}

int pfmi_event_print(const struct event *ev, pfm_dialect_t dialect, struct slice device, char *buf, size_t len, pfm_error_t *why)
{
	struct event plain;
	struct printer p;
	bool ok;

	p.original = ev;
	p.t = ev->table;
	p.dialect = dialect;
	p.device = device;
	p.spell_out = false;
	p.why = NULL;
	p.n = 0;
	p.text[0] = '\0';
	if (dialect == PFM_DIALECT_LIBPFM) {
		p.n = print_bare(ev, p.text, sizeof(p.text));
		if (p.n)
			return hand_out(&p, buf, len, why);
	}
	plain = *ev;
	if (plain.raw_mask)
		split_raw(&plain);
	if (dialect == PFM_DIALECT_LIBPFM)
		say_as_mask(&plain);
	else if (dialect != PFM_DIALECT_PERF)
		say_as_flag(&plain);
	p.ev = &plain;
	ok = put_event(&p);
	if (ok && !p.why && dialect == PFM_DIALECT_LIBPFM && !reads_back(&p)) {
		p.spell_out = true;
		p.n = 0;
		ok = put_event(&p);
	}
	if (ok && !p.why && !reads_back(&p))
		ok = cannot(&p, "read again, the text would mean another event");
	if (!ok || p.why)
		return pfmi_refuse(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_UNEXPRESSIBLE, NULL, (struct slice){ 0 }, p.why);
	return hand_out(&p, buf, len, why);
}

/* What perf calls the PMU: the name the text has, where that is an instance or another name the kernel uses. */
static struct slice device_of(const struct pfm_ctx *ctx, unsigned unit, const char *text)
{
	const struct table *t = pfmi_unit_table(ctx, unit);
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, unit);
	const char *device = kernel ? kernel->name : table_text(t, t->device);
	struct spec spec;

	if (!pfmi_spec_parse(text, &spec, NULL) && spec.form == SPEC_PERF && kernel && !pfmi_table_is(t, spec.pmu))
		return spec.pmu;
	/* A pattern of names ("hisi_sccl,ddrc") is no name. */
	return pfmi_slice(*device && has_none(device, ",/:") ? device : table_text(t, t->name));
}

/* Fields given to the kernel's PMU may be an event of a list that describes the same PMU. */
static void find_in_lists(const struct pfm_ctx *ctx, unsigned *unit, struct event *ev)
{
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, *unit);
	unsigned own = *unit;
	pfm_attr_t a;

	if (!kernel || pfmi_event_attr(ev, -1, PFM_PLM0 | PFM_PLM3, &a, NULL))
		return;
	for (unsigned i = 0; i < ctx->n_here && ev->row == ROW_NONE; i++) {
		unsigned other = ctx->here[i].unit;
		const struct table *t = pfmi_unit_table(ctx, other);

		if (other != own && ctx->here[i].kernel == kernel && pfmi_unit_ready(ctx, other) && table_has_bits(t) &&
		    pfmi_event_from_config(t, (uint64_t[4]){ a.config, a.config1, a.config2, a.config3 }, 15, ev))
			*unit = other;
	}
}

static int print_text(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	struct event ev;
	struct slice device;
	unsigned unit;
	int rc;

	if (!text || !buf || (int)dialect < PFM_DIALECT_LIBPFM || dialect > PFM_DIALECT_VENDOR)
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                   "text or buf is NULL, or no such dialect");
	if (!ctx)
		ctx = pfmi_ctx_default();
	rc = pfmi_ctx_event(ctx, text, &unit, &ev, error);
	if (rc)
		return rc;
	if (ev.row == ROW_NONE && dialect != PFM_DIALECT_PERF)
		find_in_lists(ctx, &unit, &ev);
	device = dialect == PFM_DIALECT_PERF ? device_of(ctx, unit, text) : (struct slice){ 0 };
	rc = pfmi_event_print(&ev, dialect, device, buf, len, error);
	if (rc && error && error->kind == PFM_KIND_UNEXPRESSIBLE)
		error->end = (uint32_t)strlen(text);
	return rc;
}

int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	pfm_error_t mine, *why = pfmi_error_begin(error, &mine);

	return pfmi_error_end(error, why, print_text(ctx, text, dialect, buf, len, why));
}
