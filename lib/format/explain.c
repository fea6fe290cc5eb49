/* SPDX-License-Identifier: MIT */
/* Errors in sentences: the token that is wrong, why, and what could stand there. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "format/format.h"
#include "base/sizes.h"

const char *pfm_error_kind_name(int kind)
{
	static const char names[][22] = {
		"",
		"unknown_event",
		"unsupported_alias",
		"unknown_qualifier",
		"empty_qualifier",
		"unexpected_value",
		"missing_value",
		"bad_value",
		"qualifier_not_allowed",
		"missing_umask",
		"conflict",
		"unknown_pmu",
		"ambiguous",
		"syntax",
		"not_on_cpu",
		"no_placement",
		"too_many",
		"unexpressible",
		"system",
		"image",
		"model",
		"alone",
	};

	return kind >= 0 && (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "";
}

/* ---- where ---------------------------------------------------------------------------------------------------- */

/* The attribute whose name or value the token starts in. */
static void find_attr(struct place *p)
{
	struct slice rest = p->spec.attrs;
	struct spec_attr a;

	while (pfmi_spec_next_attr(&rest, &a)) {
		const char *end = a.has_value ? a.value.s + a.value.len : a.name.s + a.name.len;

		if (p->token.s < a.name.s || p->token.s > end)
			continue;
		p->attr = a;
		p->has_attr = true;
		return;
	}
}

void pfmi_locate(const struct pfm_ctx *ctx, const char *text, const pfm_error_t *error, struct place *out)
{
	size_t len = text ? strlen(text) : 0;

	memset(out, 0, sizeof(*out));
	out->row = ROW_NONE;
	out->token = (struct slice){ text ? text : "", 0 };
	if (!text)
		return;
	if (error->start <= error->end && error->end <= len)
		out->token = (struct slice){ text + error->start, error->end - error->start };
	out->parsed = pfmi_spec_parse(text, &out->spec, NULL) == PFMLIB_SUCCESS;
	if (!out->parsed)
		return;
	out->has_event = pfmi_lookup_row(ctx, &out->spec, &out->unit, &out->row, NULL) == PFMLIB_SUCCESS;
	if (!out->has_event)
		return;
	out->t = context_pmu_table(ctx, out->unit);
	find_attr(out);
}

/* ---- sentences ------------------------------------------------------------------------------------------------ */

struct sentence {
	const struct pfm_ctx *ctx;
	const pfm_error_t *error;
	struct place place;
	char *buf;
	size_t len, n;
};

#define PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

static PRINTF(2, 3) void say(struct sentence *s, const char *format, ...)
{
	bool room = s->n < s->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? s->buf + s->n : NULL, room ? s->len - s->n : 0, format, args);
	va_end(args);
	s->n += n > 0 ? (size_t)n : 0;
}

/* What a terminal would obey: the control characters of ASCII and, in UTF-8, U+0080 to U+009F. */
static bool is_control(struct slice t, uint32_t i)
{
	unsigned char c = (unsigned char)t.s[i];

	if (c == 0xc2 && i + 1 < t.len)
		return (unsigned char)t.s[i + 1] >= 0x80 && (unsigned char)t.s[i + 1] <= 0x9f;
	return c < ' ' || c == 127 || (c >= 0x80 && c <= 0x9f && i && (unsigned char)t.s[i - 1] == 0xc2);
}

/* In quotes; what cannot be printed becomes '?', and nobody wants to read more than so much of it. */
static void quote(struct sentence *s, struct slice t)
{
	enum { SHOWN = 64 };

	say(s, "\"");
	for (uint32_t i = 0; i < t.len && i < SHOWN; i++)
		say(s, "%c", is_control(t, i) ? '?' : t.s[i]);
	say(s, t.len > SHOWN ? "...\"" : "\"");
}

static void token(struct sentence *s)
{
	struct slice t = s->place.token;

	if (t.len == 0 && s->place.parsed)
		t = (struct slice){ s->place.spec.text, s->place.spec.len };
	quote(s, t);
}

/* A list with commas: call with i = 0, 1 ... */
static void item(struct sentence *s, unsigned i, const char *word)
{
	say(s, "%s%s", i ? ", " : "", word);
}

static const char *event_name(const struct place *p)
{
	if (!p->has_event)
		return "the event";
	return p->row == ROW_NONE ? table_text(p->t, p->t->name) : table_row_name(p->t, p->row);
}

static bool perf_form(const struct place *p)
{
	return p->spec.form == SPEC_PERF;
}
static bool comma(const struct place *p)
{
	return !perf_form(p) && p->has_attr && p->attr.separator == ',';
}

/* Words of a group in the grammar of the attribute: libpfm's behind a colon, where it has its own. */
static unsigned say_words(struct sentence *s, const struct table *t, const struct group *g, bool libpfm)
{
	const struct word *w = table_words(t) + g->word;
	unsigned first = libpfm && g->n_words > g->n_values ? g->n_values : 0, end = first ? g->n_words : g->n_values, n = 0;

	for (unsigned i = first; i < end; i++)
		item(s, n++, table_text(t, w[i].name));
	return n;
}

/* What the event takes, in the grammar of the text. */
static void say_qualifiers(struct sentence *s)
{
	const struct place *p = &s->place;
	const struct field *f = table_fields(p->t);
	unsigned n = 0;

	if (p->row != ROW_NONE && !perf_form(p))
		for (unsigned i = 0; i < table_row(p->t, p->row)->n_takes; i++) {
			const struct group *g = pfmi_pmu_row_group(p->t, p->row, i);

			if (comma(p))
				item(s, n++, table_text(p->t, g->name));
			else {
				say(s, "%s", n ? ", " : "");
				n += say_words(s, p->t, g, true);
			}
		}
	for (unsigned i = 0; i < p->t->n_fields; i++)
		if (f[i].kind != FIELD_TEXT && (f[i].modifier || (perf_form(p) && f[i].n_ranges)))
			item(s, n++, perf_form(p) && f[i].key == KEY_CODE ? "event" : table_text(p->t, f[i].name));
	if (comma(p))
		say(s, "%sos, usr", n ? ", " : "");
	else if (!perf_form(p))
		say(s, "%su, k", n ? ", " : "");
}

static void it_takes(struct sentence *s, const char *before)
{
	if (!s->place.has_event)
		return;
	say(s, "%s", before);
	say_qualifiers(s);
}

static const struct group *named_group(const struct place *p)
{
	if (!p->has_attr || p->row == ROW_NONE)
		return NULL;
	for (unsigned i = 0; i < table_row(p->t, p->row)->n_takes; i++)
		if (pfmi_slice_is(p->attr.name, table_text(p->t, pfmi_pmu_row_group(p->t, p->row, i)->name)))
			return pfmi_pmu_row_group(p->t, p->row, i);
	return NULL;
}

/* ---- one kind after the other --------------------------------------------------------------------------------- */

static void unknown_event(struct sentence *s)
{
	const struct place *p = &s->place;

	if (p->parsed && strspn(p->spec.name.s, ":., \t") >= p->spec.name.len) {
		say(s, "an event name is missing%s", p->spec.pmu_name.len ? " behind \"::\"" : "");
		return;
	}
	token(s);
	if (s->error->detail) {
		say(s, ": %s", s->error->detail);
		return;
	}
	if (p->parsed && p->spec.pmu_name.len) {
		say(s, " is not an event of ");
		say(s, "%.*s", (int)p->spec.pmu_name.len, p->spec.pmu_name.s);
	} else if (s->ctx->default_pmu) {
		say(s, " is not an event of %s; another processor's is written PROCESSOR::EVENT", s->ctx->default_pmu);
	} else {
		say(s, " is not an event of this machine; another processor's is written PROCESSOR::EVENT");
	}
}

static bool is_letter(const struct place *p)
{
	return perf_form(p) && p->token.s >= p->spec.modifiers.s && p->spec.modifiers.len;
}

static void unknown_qualifier(struct sentence *s)
{
	token(s);
	if (s->error->detail) {
		say(s, ": %s", s->error->detail);
		return;
	}
	if (is_letter(&s->place)) {
		say(s, " is not a modifier: u, k and h for levels, p, pp or ppp for precision and G, H and I for guests, the host and "
		       "no idle time can stand behind the last slash");
		return;
	}
	if (s->place.has_event)
		say(s, " is not a qualifier of %s", event_name(&s->place));
	else
		say(s, " is not a qualifier");
	it_takes(s, ", which takes ");
}

static void empty_qualifier(struct sentence *s)
{
	say(s, "a qualifier is empty at position %u: leave the separator out, or name one", s->error->start + 1);
	it_takes(s, " of ");
}

static void unexpected_value(struct sentence *s)
{
	if (s->place.has_attr)
		quote(s, s->place.attr.name);
	else
		token(s);
	say(s, " takes no value: it stands alone");
}

/* True if @text gives field @name a value. */
static bool is_given(const struct spec *spec, const char *name, size_t len)
{
	struct slice rest = spec->attrs;
	struct spec_attr a;

	while (pfmi_spec_next_attr(&rest, &a))
		if (a.name.len == len && pfmi_behind(a.name, name))
			return true;
	return false;
}

/* Fields the kernel wants of an event ("chip=?") that the text does not give, each behind @before and before @behind. */
static unsigned say_missing(struct sentence *s, const char *before, const char *between, const char *behind)
{
	const char *name = pfmi_row_text(s->place.t, s->place.row, KEY_PARAMS);
	unsigned n = 0;

	for (size_t len; *name; name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		if (!is_given(&s->place.spec, name, len))
			say(s, "%s%.*s%s", n++ ? between : before, (int)len, name, behind);
	}
	return n;
}

/* How the text is written with them: between the slashes, or at the end. */
static bool wants_fields(struct sentence *s)
{
	const struct spec *spec = &s->place.spec;
	int end = (int)(spec->attrs.s + spec->attrs.len - spec->text);

	if (!s->place.has_event || s->place.row == ROW_NONE || !*pfmi_row_text(s->place.t, s->place.row, KEY_PARAMS))
		return false;
	quote(s, s->place.token);
	if (!say_missing(s, " wants a value for ", " and ", ""))
		return false;
	say(s, ": write %.*s", end, spec->text);
	say_missing(s, ",", ",", "=NUMBER");
	say(s, "%s", spec->text + end);
	return true;
}

static void missing_value(struct sentence *s)
{
	const struct group *g = named_group(&s->place);

	if (s->place.token.len && !s->place.has_attr && wants_fields(s))
		return;
	if (s->error->detail) {
		say(s, "%s", s->error->detail);
		return;
	}
	if (s->place.has_attr)
		quote(s, s->place.attr.name);
	else
		token(s);
	say(s, " needs a value: ");
	if (g)
		say_words(s, s->place.t, g, false);
	else
		say(s, "a number behind \"=\"");
}

static void bad_value(struct sentence *s)
{
	const struct place *p = &s->place;
	const struct group *g = named_group(p);

	if (p->has_attr && p->attr.has_value) {
		const char *start = p->attr.name.s;

		quote(s, (struct slice){ start, (uint32_t)(p->attr.value.s + p->attr.value.len - start) });
		say(s, ": ");
	}
	token(s);
	if (g) {
		say(s, " is not a value of %s (", table_text(p->t, g->name));
		say_words(s, p->t, g, false);
		say(s, ")");
	} else if (s->error->detail && s->error->number) {
		say(s, " is %s %llu", s->error->detail, (unsigned long long)s->error->number);
	} else if (s->error->detail) {
		say(s, " is not valid: %s", s->error->detail);
	} else {
		say(s, " is not a value that can stand here");
	}
}

static void not_allowed(struct sentence *s)
{
	token(s);
	say(s, " does not go with %s", event_name(&s->place));
	if (s->error->detail)
		say(s, ": %s", s->error->detail);
	else
		it_takes(s, ", which takes ");
}

static void missing_umask(struct sentence *s)
{
	const struct place *p = &s->place;

	say(s, "%s needs ", event_name(p));
	for (unsigned i = 0; p->has_event && p->row != ROW_NONE && i < table_row(p->t, p->row)->n_takes; i++) {
		const struct group *g = pfmi_pmu_row_group(p->t, p->row, i);

		if (!s->error->detail || strcmp(table_text(p->t, g->name), s->error->detail) != 0)
			continue;
		say(s, g->flags & GROUP_ANY ? "at least one of " : "one of ");
		say_words(s, p->t, g, true);
		return;
	}
	say(s, "a unit mask");
}

static void two_sided(struct sentence *s, const char *otherwise)
{
	if (s->place.parsed || s->place.token.len) {
		token(s);
		say(s, ": ");
	}
	say(s, "%s", s->error->detail ? s->error->detail : otherwise);
}

/* "1, 2 and 5" from the numbers of the bits set, counted from @first. */
static void say_numbers(struct sentence *s, uint64_t set, unsigned first)
{
	unsigned left = (unsigned)__builtin_popcountll(set), n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (set >> i & 1) {
			left--;
			say(s, "%s%u", n++ == 0 ? "" : left ? ", "
			                                    : " and ",
			    i + first);
		}
}

/* The @i-th event of a list; length 0 past the last. */
static struct slice piece(const char *text, unsigned i)
{
	struct slice list = pfmi_slice(text), event;

	while (pfmi_spec_split_list(&list, &event))
		if (i-- == 0)
			return event;
	return (struct slice){ text, 0 };
}

/* Events of a set: by name if the text is the whole set, else by number. */
static void say_events(struct sentence *s, uint64_t clash)
{
	unsigned left = (unsigned)__builtin_popcountll(clash), n = 0;
	const char *text = s->place.token.s;

	if (!s->place.parsed || piece(text, 63 - (unsigned)__builtin_clzll(clash)).len == 0) {
		say(s, left > 1 ? "events number " : "event number ");
		say_numbers(s, clash, 1);
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		if (clash >> i & 1) {
			left--;
			say(s, "%s", n++ == 0 ? "" : left ? ", "
			                                  : " and ");
			quote(s, piece(text, i));
		}
}

static void say_counters(struct sentence *s, uint64_t set)
{
	uint64_t general = set & 0xffffffff, fixed = set >> 32;

	if (general) {
		say(s, general & (general - 1) ? "counters " : "counter ");
		say_numbers(s, general, 0);
	}
	if (fixed) {
		say(s, "%sfixed %s ", general ? " and " : "", fixed & (fixed - 1) ? "counters" : "counter");
		say_numbers(s, fixed, 0);
	}
}

static void no_placement(struct sentence *s)
{
	bool one = !(s->error->clash & (s->error->clash - 1));

	if (!s->error->clash) {
		two_sided(s, "the events do not fit the counters together");
		return;
	}
	say_events(s, s->error->clash);
	if (s->error->detail)
		say(s, " cannot be counted together: %s", s->error->detail);
	else if (!s->error->clash_counters)
		say(s, one ? " has no counter left that can count it" : " have no counter left that can count them");
	else {
		say(s, " can only count on ");
		say_counters(s, s->error->clash_counters);
	}
}

/* Which event it is that must be counted alone, and which of the others have nowhere to go: those of a set, or of the group that the
 * text is. */
static void alone(struct sentence *s)
{
	unsigned i = s->error->event >= 0 && s->error->event < 64 ? (unsigned)s->error->event : 0;
	uint64_t others = s->error->clash & ~((uint64_t)1 << i);

	if (!others) {
		token(s);
		say(s, " must be counted alone: others of its group need counters beside it");
		return;
	}
	say_events(s, (uint64_t)1 << i);
	say(s, " must be counted alone: ");
	say_events(s, others);
	say(s, " has no counter beside it");
}

static void unexpressible(struct sentence *s)
{
	token(s);
	say(s, " cannot be written in this dialect%s%s", s->error->detail ? ": " : "", s->error->detail ? s->error->detail : "");
}

static void of_the_system(struct sentence *s)
{
	char buf[128];

	if (s->place.parsed) {
		token(s);
		say(s, ": ");
	}
	say(s, "%s", s->error->detail ? s->error->detail : pfm_strerror(s->error->code));
	if (s->error->sys_errno)
		say(s, " (%s)", strerror_r(s->error->sys_errno, buf, sizeof(buf)));
}

static void anything_else(struct sentence *s)
{
	say(s, "%s", s->error->detail ? s->error->detail : pfm_strerror(s->error->code));
	if (s->error->detail && s->error->number)
		say(s, ": %llu", (unsigned long long)s->error->number);
}

static void explain(struct sentence *s)
{
	switch ((pfm_error_kind_t)s->error->kind) {
	case PFM_KIND_UNKNOWN_EVENT: unknown_event(s); break;
	case PFM_KIND_UNSUPPORTED_ALIAS: two_sided(s, "a name without an event on this processor"); break;
	case PFM_KIND_UNKNOWN_QUALIFIER: unknown_qualifier(s); break;
	case PFM_KIND_EMPTY_QUALIFIER: empty_qualifier(s); break;
	case PFM_KIND_UNEXPECTED_VALUE: unexpected_value(s); break;
	case PFM_KIND_MISSING_VALUE: missing_value(s); break;
	case PFM_KIND_BAD_VALUE: bad_value(s); break;
	case PFM_KIND_QUALIFIER_NOT_ALLOWED: not_allowed(s); break;
	case PFM_KIND_MISSING_UMASK: missing_umask(s); break;
	case PFM_KIND_CONFLICT: two_sided(s, "it contradicts another part of the text"); break;
	case PFM_KIND_UNKNOWN_PMU:
		token(s);
		say(s, "%s%s", s->error->detail ? ": " : " is no processor or unit that is known here",
		    s->error->detail ? s->error->detail : "");
		break;
	case PFM_KIND_AMBIGUOUS: two_sided(s, "several processors have it: write one of them and \"::\" before it"); break;
	case PFM_KIND_SYNTAX: two_sided(s, "this is not how an event is written"); break;
	case PFM_KIND_NOT_ON_CPU: two_sided(s, "this processor says that it does not have this architectural event"); break;
	case PFM_KIND_NO_PLACEMENT: no_placement(s); break;
	case PFM_KIND_ALONE: alone(s); break;
	case PFM_KIND_TOO_MANY: two_sided(s, "there are too many of them"); break;
	case PFM_KIND_UNEXPRESSIBLE: unexpressible(s); break;
	case PFM_KIND_SYSTEM: of_the_system(s); break;
	case PFM_KIND_IMAGE: two_sided(s, "an event file that cannot be used"); break;
	case PFM_KIND_MODEL:
	case PFM_KIND_NONE: anything_else(s); break;
	default: say(s, "%s", pfm_strerror(s->error->code));
	}
}

size_t pfm_explain_error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error, char *buf, size_t len)
{
	pfm_error_t copy;
	struct sentence s = { .ctx = ctx ? ctx : pfmi_context_get_default(), .error = &copy, .buf = buf, .len = buf ? len : 0 };

	if (buf && len)
		buf[0] = '\0';
	if (!error || !pfmi_take(&copy, sizeof(copy), error))
		return 0;
	pfmi_locate(s.ctx, text, &copy, &s.place);
	explain(&s);
	return s.n;
}
