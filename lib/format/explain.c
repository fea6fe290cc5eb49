/* SPDX-License-Identifier: MIT */
/* Errors in sentences: the token that is wrong, why, and what could be there. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "format/error_location.h"
#include "format/format.h"
#include "base/sizes.h"

const char *pfm_error_kind_name(pfm_error_kind_t kind)
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

/* ---- sentences ------------------------------------------------------------------------------- */

struct sentence {
	const struct pfm_ctx *ctx;
	const pfm_error_t *error;
	struct error_location location;
	char *buf;
	size_t size, length;
};

#define PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

static PRINTF(2, 3) void append_text(struct sentence *s, const char *format, ...)
{
	bool fits = s->length < s->size;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(fits ? s->buf + s->length : NULL, fits ? s->size - s->length : 0, format,
	              args);
	va_end(args);
	s->length += n > 0 ? (size_t)n : 0;
}

/* Control characters that a terminal obeys: those of ASCII and, in UTF-8, U+0080 to U+009F. */
static bool is_control(struct slice t, uint32_t i)
{
	unsigned char c = (unsigned char)t.text[i];

	if (c == 0xc2 && i + 1 < t.len)
		return (unsigned char)t.text[i + 1] >= 0x80 && (unsigned char)t.text[i + 1] <= 0x9f;
	return c < ' ' || c == 127 ||
	       (c >= 0x80 && c <= 0x9f && i && (unsigned char)t.text[i - 1] == 0xc2);
}

/* In quotes; what cannot be printed becomes '?', and a long token is cut. */
static void append_quoted(struct sentence *s, struct slice t)
{
	enum { SHOWN = 64 };

	append_text(s, "\"");
	for (uint32_t i = 0; i < t.len && i < SHOWN; i++)
		append_text(s, "%c", is_control(t, i) ? '?' : t.text[i]);
	append_text(s, t.len > SHOWN ? "...\"" : "\"");
}

static void append_token(struct sentence *s)
{
	struct slice t = s->location.token;

	if (t.len == 0 && s->location.is_parsed)
		t = (struct slice){ s->location.spec.text, s->location.spec.len };
	append_quoted(s, t);
}

/* A list with commas: call with i = 0, 1 ... */
static void append_list_item(struct sentence *s, unsigned i, const char *word)
{
	append_text(s, "%s%s", i ? ", " : "", word);
}

static const char *get_event_name(const struct error_location *p)
{
	if (!p->has_event)
		return "the event";
	return p->row == ROW_NONE ? table_get_text(p->table, p->table->name)
	                          : table_get_row_name(p->table, p->row);
}

static bool has_comma_syntax(const struct error_location *p)
{
	return !format_is_perf_form(p) && p->has_attr && p->attr.separator == ',';
}

/* Words of a group in the grammar of the attribute: libpfm's after a colon, where it has its
 * own. */
static unsigned append_words(struct sentence *s, const struct table *t, const struct umask_group *g,
                             bool libpfm)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;
	unsigned first = libpfm && g->n_named_values > g->n_values ? g->n_values : 0,
		 end = first ? g->n_named_values : g->n_values, n = 0;

	for (unsigned i = first; i < end; i++)
		append_list_item(s, n++, table_get_text(t, w[i].name));
	return n;
}

/* Attributes of the event, in the grammar of the text. */
static void append_qualifiers(struct sentence *s)
{
	const struct error_location *p = &s->location;
	const struct field *f = table_fields(p->table);
	unsigned n = 0;

	if (p->row != ROW_NONE && !format_is_perf_form(p))
		for (unsigned i = 0; i < table_get_row(p->table, p->row)->n_groups; i++) {
			const struct umask_group *g = pfmi_pmu_get_row_group(p->table, p->row, i);

			if (has_comma_syntax(p))
				append_list_item(s, n++, table_get_text(p->table, g->name));
			else {
				append_text(s, "%s", n ? ", " : "");
				n += append_words(s, p->table, g, true);
			}
		}
	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (f[i].kind != FIELD_TEXT &&
		    (f[i].is_modifier || (format_is_perf_form(p) && f[i].n_ranges)))
			append_list_item(s, n++,
			                 format_is_perf_form(p) && f[i].key == KEY_CODE
			                         ? "event"
			                         : table_get_text(p->table, f[i].name));
	if (has_comma_syntax(p))
		append_text(s, "%sos, usr", n ? ", " : "");
	else if (!format_is_perf_form(p))
		append_text(s, "%su, k", n ? ", " : "");
}

static void append_accepted_qualifiers(struct sentence *s, const char *before)
{
	if (!s->location.has_event)
		return;
	append_text(s, "%s", before);
	append_qualifiers(s);
}

/* ---- one kind after the other ---------------------------------------------------------------- */

static void explain_unknown_event(struct sentence *s)
{
	const struct error_location *p = &s->location;

	if (p->is_parsed && strspn(p->spec.name.text, ":., \t") >= p->spec.name.len) {
		append_text(s, "expected an event name%s",
		            p->spec.pmu_name.len ? " after \"::\"" : "");
		return;
	}
	append_token(s);
	if (s->error->detail) {
		append_text(s, ": %s", s->error->detail);
		return;
	}
	if (p->is_parsed && p->spec.pmu_name.len) {
		append_text(s, " is not an event of ");
		append_text(s, "%.*s", (int)p->spec.pmu_name.len, p->spec.pmu_name.text);
	} else if (s->ctx->default_pmu) {
		append_text(s,
		            " is not an event of %s; write PROCESSOR::EVENT for another processor",
		            s->ctx->default_pmu);
	} else {
		append_text(s, " is not an event of this machine; write PROCESSOR::EVENT for "
		               "another processor");
	}
}

static bool is_modifier_letter(const struct error_location *p)
{
	return format_is_perf_form(p) && p->token.text >= p->spec.modifiers.text &&
	       p->spec.modifiers.len;
}

static void explain_unknown_qualifier(struct sentence *s)
{
	append_token(s);
	if (s->error->detail) {
		append_text(s, ": %s", s->error->detail);
		return;
	}
	if (is_modifier_letter(&s->location)) {
		append_text(s,
		            " is not a modifier: after the last slash write u, k or h for levels, "
		            "p, pp or ppp for precision, G, H or I for guests, host, no idle time");
		return;
	}
	if (s->location.has_event)
		append_text(s, " is not a qualifier of %s", get_event_name(&s->location));
	else
		append_text(s, " is not a qualifier");
	append_accepted_qualifiers(s, ", which takes ");
}

static void explain_empty_qualifier(struct sentence *s)
{
	append_text(
		s,
		"expected a qualifier at position %u, got none: omit the separator, or write one",
		s->error->start + 1);
	append_accepted_qualifiers(s, " of ");
}

static void explain_unexpected_value(struct sentence *s)
{
	if (s->location.has_attr)
		append_quoted(s, s->location.attr.name);
	else
		append_token(s);
	append_text(s, " takes no value; write it alone");
}

/* True if @text gives field @name a value. */
static bool is_field_given(const struct spec *spec, const char *name, size_t len)
{
	struct slice rest = spec->attrs;
	struct spec_attr a;

	while (pfmi_spec_next_attr(&rest, &a))
		if (a.name.len == len && pfmi_base_skip_prefix_icase(a.name, name))
			return true;
	return false;
}

/* Appends the fields that the kernel requires of the event ("chip=?") and the text does not give,
 * with @before in front of each name, @behind after it and @between two of them. Returns how
 * many. */
static unsigned append_missing_fields(struct sentence *s, const char *before, const char *between,
                                      const char *behind)
{
	const char *name = pfmi_table_get_row_text(s->location.table, s->location.row, KEY_PARAMS);
	unsigned n = 0;

	for (size_t len; *name; name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		if (!is_field_given(&s->location.spec, name, len))
			append_text(s, "%s%.*s%s", n++ ? between : before, (int)len, name, behind);
	}
	return n;
}

/* How the text is written with them: between the slashes, or at the end. */
static bool explain_missing_fields(struct sentence *s)
{
	const struct spec *spec = &s->location.spec;
	int end = (int)(spec->attrs.text + spec->attrs.len - spec->text);

	if (!s->location.has_event || s->location.row == ROW_NONE ||
	    !*pfmi_table_get_row_text(s->location.table, s->location.row, KEY_PARAMS))
		return false;
	append_quoted(s, s->location.token);
	if (!append_missing_fields(s, " requires a value for ", " and ", ""))
		return false;
	append_text(s, ": write %.*s", end, spec->text);
	append_missing_fields(s, ",", ",", "=NUMBER");
	append_text(s, "%s", spec->text + end);
	return true;
}

static void explain_missing_value(struct sentence *s)
{
	const struct umask_group *g = pfmi_format_find_named_group(&s->location);

	if (s->location.token.len && !s->location.has_attr && explain_missing_fields(s))
		return;
	if (s->error->detail) {
		append_text(s, "%s", s->error->detail);
		return;
	}
	if (s->location.has_attr)
		append_quoted(s, s->location.attr.name);
	else
		append_token(s);
	append_text(s, " needs a value: ");
	if (g)
		append_words(s, s->location.table, g, false);
	else
		append_text(s, "a number after \"=\"");
}

static void explain_bad_value(struct sentence *s)
{
	const struct error_location *p = &s->location;
	const struct umask_group *g = pfmi_format_find_named_group(p);

	if (p->has_attr && p->attr.has_value) {
		const char *start = p->attr.name.text;

		append_quoted(s, (struct slice){ start, (uint32_t)(p->attr.value.text +
		                                                   p->attr.value.len - start) });
		append_text(s, ": ");
	}
	append_token(s);
	if (g) {
		append_text(s, " is not a value of %s (", table_get_text(p->table, g->name));
		append_words(s, p->table, g, false);
		append_text(s, ")");
	} else if (s->error->detail && s->error->number) {
		append_text(s, " is %s %llu", s->error->detail,
		            (unsigned long long)s->error->number);
	} else if (s->error->detail) {
		append_text(s, " is not valid: %s", s->error->detail);
	} else {
		append_text(s, " is not valid here");
	}
}

static void explain_not_allowed(struct sentence *s)
{
	append_token(s);
	append_text(s, " cannot be used with %s", get_event_name(&s->location));
	if (s->error->detail)
		append_text(s, ": %s", s->error->detail);
	else
		append_accepted_qualifiers(s, ", which takes ");
}

static void explain_missing_umask(struct sentence *s)
{
	const struct error_location *p = &s->location;

	append_text(s, "%s needs ", get_event_name(p));
	for (unsigned i = 0;
	     p->has_event && p->row != ROW_NONE && i < table_get_row(p->table, p->row)->n_groups;
	     i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(p->table, p->row, i);

		if (!s->error->detail ||
		    strcmp(table_get_text(p->table, g->name), s->error->detail) != 0)
			continue;
		append_text(s, g->flags & GROUP_COMBINABLE ? "at least one of " : "one of ");
		append_words(s, p->table, g, true);
		return;
	}
	append_text(s, "a unit mask");
}

static void explain_with_detail(struct sentence *s, const char *otherwise)
{
	if (s->location.is_parsed || s->location.token.len) {
		append_token(s);
		append_text(s, ": ");
	}
	append_text(s, "%s", s->error->detail ? s->error->detail : otherwise);
}

/* "1, 2 and 5" from the numbers of the bits set, counted from @first. */
static void append_numbers(struct sentence *s, uint64_t set, unsigned first)
{
	unsigned left = (unsigned)__builtin_popcountll(set), n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (set >> i & 1) {
			left--;
			append_text(s, "%s%u", n++ == 0 ? "" : left ? ", " : " and ", i + first);
		}
}

/* The @i-th event of a list; length 0 past the last. */
static struct slice get_list_event(const char *text, unsigned i)
{
	struct slice list = pfmi_base_make_slice(text), event;

	while (pfmi_spec_split_list(&list, &event))
		if (i-- == 0)
			return event;
	return (struct slice){ text, 0 };
}

/* Events of a set: by name if the text is the whole set, else by number. */
static void append_events(struct sentence *s, uint64_t clash)
{
	unsigned left = (unsigned)__builtin_popcountll(clash), n = 0;
	const char *text = s->location.token.text;

	if (!s->location.is_parsed ||
	    get_list_event(text, 63 - (unsigned)__builtin_clzll(clash)).len == 0) {
		append_text(s, left > 1 ? "events " : "event ");
		append_numbers(s, clash, 1);
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		if (clash >> i & 1) {
			left--;
			append_text(s, "%s", n++ == 0 ? "" : left ? ", " : " and ");
			append_quoted(s, get_list_event(text, i));
		}
}

static void append_counters(struct sentence *s, uint64_t set)
{
	uint64_t general = set & 0xffffffff, fixed = set >> 32;

	if (general) {
		append_text(s, general & (general - 1) ? "counters " : "counter ");
		append_numbers(s, general, 0);
	}
	if (fixed) {
		append_text(s, "%sfixed %s ", general ? " and " : "",
		            fixed & (fixed - 1) ? "counters" : "counter");
		append_numbers(s, fixed, 0);
	}
}

static void explain_no_placement(struct sentence *s)
{
	bool one = !(s->error->clash & (s->error->clash - 1));

	if (!s->error->clash) {
		explain_with_detail(s, "there are not enough counters for these events together");
		return;
	}
	append_events(s, s->error->clash);
	if (s->error->detail)
		append_text(s, " cannot be counted together: %s", s->error->detail);
	else if (!s->error->clash_counters)
		append_text(s, one ? " has no counter left that can count it"
		                   : " have no counter left that can count them");
	else {
		append_text(s, " can only count on ");
		append_counters(s, s->error->clash_counters);
	}
}

/* Which event it is that must be counted alone, and which of the others have nowhere to go: those
 * of a set, or of the group that the text is. */
static void explain_exclusive_event(struct sentence *s)
{
	unsigned i = s->error->event >= 0 && s->error->event < 64 ? (unsigned)s->error->event : 0;
	uint64_t others = s->error->clash & ~((uint64_t)1 << i);

	if (!others) {
		append_token(s);
		append_text(s,
		            " must be counted alone: others of its group need counters beside it");
		return;
	}
	append_events(s, (uint64_t)1 << i);
	append_text(s, " must be counted alone: ");
	append_events(s, others);
	append_text(s, " has no counter beside it");
}

static void explain_unexpressible(struct sentence *s)
{
	append_token(s);
	append_text(s, " cannot be written in this dialect%s%s", s->error->detail ? ": " : "",
	            s->error->detail ? s->error->detail : "");
}

static void explain_system_error(struct sentence *s)
{
	char buf[128];

	if (s->location.is_parsed) {
		append_token(s);
		append_text(s, ": ");
	}
	append_text(s, "%s", s->error->detail ? s->error->detail : pfm_result_text(s->error->code));
	if (s->error->sys_errno)
		append_text(s, " (%s)", strerror_r(s->error->sys_errno, buf, sizeof(buf)));
}

static void explain_other_error(struct sentence *s)
{
	append_text(s, "%s", s->error->detail ? s->error->detail : pfm_result_text(s->error->code));
	if (s->error->detail && s->error->number)
		append_text(s, ": %llu", (unsigned long long)s->error->number);
}

static void explain_error_kind(struct sentence *s)
{
	switch ((pfm_error_kind_t)s->error->kind) {
	case PFM_KIND_UNKNOWN_EVENT: explain_unknown_event(s); break;
	case PFM_KIND_UNSUPPORTED_ALIAS:
		explain_with_detail(s, "the processor has no event for this name");
		break;
	case PFM_KIND_UNKNOWN_QUALIFIER: explain_unknown_qualifier(s); break;
	case PFM_KIND_EMPTY_QUALIFIER: explain_empty_qualifier(s); break;
	case PFM_KIND_UNEXPECTED_VALUE: explain_unexpected_value(s); break;
	case PFM_KIND_MISSING_VALUE: explain_missing_value(s); break;
	case PFM_KIND_BAD_VALUE: explain_bad_value(s); break;
	case PFM_KIND_QUALIFIER_NOT_ALLOWED: explain_not_allowed(s); break;
	case PFM_KIND_MISSING_UMASK: explain_missing_umask(s); break;
	case PFM_KIND_CONFLICT:
		explain_with_detail(s, "it contradicts another part of the text");
		break;
	case PFM_KIND_UNKNOWN_PMU:
		if (!s->error->detail)
			append_text(s, "unknown PMU ");
		append_token(s);
		if (s->error->detail)
			append_text(s, ": %s", s->error->detail);
		break;
	case PFM_KIND_AMBIGUOUS:
		explain_with_detail(s, "several processors have it: write PROCESSOR:: before it");
		break;
	case PFM_KIND_SYNTAX:
		explain_with_detail(
			s, "expected PMU::EVENT:QUALIFIER..., or a spelling of perf or libpmc");
		break;
	case PFM_KIND_NOT_ON_CPU:
		explain_with_detail(
			s, "this processor reports that it lacks this architectural event");
		break;
	case PFM_KIND_NO_PLACEMENT: explain_no_placement(s); break;
	case PFM_KIND_ALONE: explain_exclusive_event(s); break;
	case PFM_KIND_TOO_MANY: explain_with_detail(s, "there are too many"); break;
	case PFM_KIND_UNEXPRESSIBLE: explain_unexpressible(s); break;
	case PFM_KIND_SYSTEM: explain_system_error(s); break;
	case PFM_KIND_IMAGE: explain_with_detail(s, "an event file that cannot be used"); break;
	case PFM_KIND_MODEL:
	case PFM_KIND_NONE: explain_other_error(s); break;
	default: append_text(s, "%s", pfm_result_text(s->error->code));
	}
}

size_t pfm_explain_error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                         char *buf, size_t len)
{
	pfm_error_t copy;
	struct sentence s = { .ctx = ctx ? ctx : pfmi_context_get_default(),
		              .error = &copy,
		              .buf = buf,
		              .size = buf ? len : 0 };

	if (buf && len)
		buf[0] = '\0';
	if (!error || !base_copy_struct_in(&copy, sizeof(copy), error))
		return 0;
	pfmi_format_locate_error(s.ctx, text, &copy, &s.location);
	explain_error_kind(&s);
	return s.length;
}
