/* SPDX-License-Identifier: MIT */
/* Errors in sentences: the token that is wrong, why, and what could be there. */
#include <string.h>
#include "format/sentence.h"
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

static void explain_unknown_event(struct sentence *s)
{
	const struct error_location *p = &s->location;

	if (p->is_parsed && strspn(p->spec.name.text, ":., \t") >= p->spec.name.len) {
		pfmi_format_extend_sentence(s, "expected an event name%s",
		                            p->spec.pmu_name.len ? " after \"::\"" : "");
		return;
	}
	pfmi_format_append_token(s);
	if (s->error->detail) {
		pfmi_format_extend_sentence(s, ": %s", s->error->detail);
		return;
	}
	if (p->is_parsed && p->spec.pmu_name.len) {
		pfmi_format_extend_sentence(s, " is not an event of ");
		pfmi_format_extend_sentence(s, "%.*s", (int)p->spec.pmu_name.len,
		                            p->spec.pmu_name.text);
	} else if (s->ctx->default_pmu) {
		pfmi_format_extend_sentence(
			s, " is not an event of %s; write PROCESSOR::EVENT for another processor",
			s->ctx->default_pmu);
	} else {
		pfmi_format_extend_sentence(
			s, " is not an event of this machine; write PROCESSOR::EVENT for "
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
	pfmi_format_append_token(s);
	if (s->error->detail) {
		pfmi_format_extend_sentence(s, ": %s", s->error->detail);
		return;
	}
	if (is_modifier_letter(&s->location)) {
		pfmi_format_extend_sentence(
			s, " is not a modifier: after the last slash write u, k or h for levels, "
			   "p, pp or ppp for precision, G, H or I for guests, host, no idle time");
		return;
	}
	if (s->location.has_event)
		pfmi_format_extend_sentence(s, " is not a qualifier of %s",
		                            pfmi_format_get_event_name(&s->location));
	else
		pfmi_format_extend_sentence(s, " is not a qualifier");
	pfmi_format_append_accepted_qualifiers(s, ", which takes ");
}

static void explain_empty_qualifier(struct sentence *s)
{
	pfmi_format_extend_sentence(
		s,
		"expected a qualifier at position %u, got none: omit the separator, or write one",
		s->error->start + 1);
	pfmi_format_append_accepted_qualifiers(s, " of ");
}

static void explain_unexpected_value(struct sentence *s)
{
	if (s->location.has_attr)
		pfmi_format_append_quoted_token(s, s->location.attr.name);
	else
		pfmi_format_append_token(s);
	pfmi_format_extend_sentence(s, " takes no value; write it alone");
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
 * with @before in front of each name, @after after it and @between two of them. Returns how
 * many. */
static unsigned append_missing_fields(struct sentence *s, const char *before, const char *between,
                                      const char *after)
{
	const char *name = pfmi_table_get_row_text(s->location.table, s->location.row, KEY_PARAMS);
	unsigned n = 0;

	for (size_t len; *name; name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		if (!is_field_given(&s->location.spec, name, len))
			pfmi_format_extend_sentence(s, "%s%.*s%s", n++ ? between : before, (int)len,
			                            name, after);
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
	pfmi_format_append_quoted_token(s, s->location.token);
	if (!append_missing_fields(s, " requires a value for ", " and ", ""))
		return false;
	pfmi_format_extend_sentence(s, ": write %.*s", end, spec->text);
	append_missing_fields(s, ",", ",", "=NUMBER");
	pfmi_format_extend_sentence(s, "%s", spec->text + end);
	return true;
}

static void explain_missing_value(struct sentence *s)
{
	const struct umask_group *g = pfmi_format_find_named_group(&s->location);

	if (s->location.token.len && !s->location.has_attr && explain_missing_fields(s))
		return;
	if (s->error->detail) {
		pfmi_format_extend_sentence(s, "%s", s->error->detail);
		return;
	}
	if (s->location.has_attr)
		pfmi_format_append_quoted_token(s, s->location.attr.name);
	else
		pfmi_format_append_token(s);
	pfmi_format_extend_sentence(s, " needs a value: ");
	if (g)
		pfmi_format_append_group_words(s, s->location.table, g, false);
	else
		pfmi_format_extend_sentence(s, "a number after \"=\"");
}

static void explain_bad_value(struct sentence *s)
{
	const struct error_location *p = &s->location;
	const struct umask_group *g = pfmi_format_find_named_group(p);

	if (p->has_attr && p->attr.has_value) {
		const char *start = p->attr.name.text;

		pfmi_format_append_quoted_token(
			s, (struct slice){ start, (uint32_t)(p->attr.value.text +
		                                             p->attr.value.len - start) });
		pfmi_format_extend_sentence(s, ": ");
	}
	pfmi_format_append_token(s);
	if (g) {
		pfmi_format_extend_sentence(s, " is not a value of %s (",
		                            table_get_text(p->table, g->name));
		pfmi_format_append_group_words(s, p->table, g, false);
		pfmi_format_extend_sentence(s, ")");
	} else if (s->error->detail && s->error->number) {
		pfmi_format_extend_sentence(s, " is %s %llu", s->error->detail,
		                            (unsigned long long)s->error->number);
	} else if (s->error->detail) {
		pfmi_format_extend_sentence(s, " is not valid: %s", s->error->detail);
	} else {
		pfmi_format_extend_sentence(s, " is not valid here");
	}
}

static void explain_not_allowed(struct sentence *s)
{
	pfmi_format_append_token(s);
	pfmi_format_extend_sentence(s, " cannot be used with %s",
	                            pfmi_format_get_event_name(&s->location));
	if (s->error->detail)
		pfmi_format_extend_sentence(s, ": %s", s->error->detail);
	else
		pfmi_format_append_accepted_qualifiers(s, ", which takes ");
}

static void explain_missing_umask(struct sentence *s)
{
	const struct error_location *p = &s->location;

	pfmi_format_extend_sentence(s, "%s needs ", pfmi_format_get_event_name(p));
	for (unsigned i = 0;
	     p->has_event && p->row != ROW_NONE && i < table_get_row(p->table, p->row)->n_groups;
	     i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(p->table, p->row, i);

		if (!s->error->detail ||
		    strcmp(table_get_text(p->table, g->name), s->error->detail) != 0)
			continue;
		pfmi_format_extend_sentence(s, g->flags & GROUP_COMBINABLE ? "at least one of "
		                                                           : "one of ");
		pfmi_format_append_group_words(s, p->table, g, true);
		return;
	}
	pfmi_format_extend_sentence(s, "a unit mask");
}

static void explain_with_detail(struct sentence *s, const char *otherwise)
{
	if (s->location.is_parsed || s->location.token.len) {
		pfmi_format_append_token(s);
		pfmi_format_extend_sentence(s, ": ");
	}
	pfmi_format_extend_sentence(s, "%s", s->error->detail ? s->error->detail : otherwise);
}

/* "1, 2 and 5" from the numbers of the bits set, counted from @first. */
static void append_numbers(struct sentence *s, uint64_t set, unsigned first)
{
	unsigned left = (unsigned)__builtin_popcountll(set), n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (set >> i & 1) {
			left--;
			pfmi_format_extend_sentence(s, "%s%u",
			                            n++ == 0 ? ""
			                            : left   ? ", "
			                                     : " and ",
			                            i + first);
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
		pfmi_format_extend_sentence(s, left > 1 ? "events " : "event ");
		append_numbers(s, clash, 1);
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		if (clash >> i & 1) {
			left--;
			pfmi_format_extend_sentence(s, "%s", n++ == 0 ? "" : left ? ", " : " and ");
			pfmi_format_append_quoted_token(s, get_list_event(text, i));
		}
}

static void append_counters(struct sentence *s, uint64_t set)
{
	uint64_t general = set & 0xffffffff, fixed = set >> 32;

	if (general) {
		pfmi_format_extend_sentence(s, general & (general - 1) ? "counters " : "counter ");
		append_numbers(s, general, 0);
	}
	if (fixed) {
		pfmi_format_extend_sentence(s, "%sfixed %s ", general ? " and " : "",
		                            fixed & (fixed - 1) ? "counters" : "counter");
		append_numbers(s, fixed, 0);
	}
}

static void explain_no_placement(struct sentence *s)
{
	const uint64_t clash = pfmi_base_get_clash(s->error);
	const bool one = !(clash & (clash - 1));

	if (!clash) {
		explain_with_detail(s, "there are not enough counters for these events together");
		return;
	}
	append_events(s, clash);
	if (s->error->detail)
		pfmi_format_extend_sentence(
			s, one ? " cannot be counted: %s" : " cannot be counted together: %s",
			s->error->detail);
	else if (!s->error->clash_counters)
		pfmi_format_extend_sentence(s, one ? " has no counter left that can count it"
		                                   : " have no counter left that can count them");
	else {
		pfmi_format_extend_sentence(s, " can only count on ");
		append_counters(s, s->error->clash_counters);
	}
}

/* Names the event that must be counted alone, and the events of its set or group that cannot be
 * counted beside it. */
static void explain_exclusive_event(struct sentence *s)
{
	unsigned i = s->error->event >= 0 && s->error->event < 64 ? (unsigned)s->error->event : 0;
	uint64_t others = pfmi_base_get_clash(s->error) & ~((uint64_t)1 << i);

	if (!others) {
		pfmi_format_append_token(s);
		pfmi_format_extend_sentence(
			s, " must be counted alone: others of its group need counters beside it");
		return;
	}
	append_events(s, (uint64_t)1 << i);
	pfmi_format_extend_sentence(s, " must be counted alone: ");
	append_events(s, others);
	pfmi_format_extend_sentence(s, " has no counter beside it");
}

static void explain_unexpressible(struct sentence *s)
{
	pfmi_format_append_token(s);
	pfmi_format_extend_sentence(s, " cannot be written in this dialect%s%s",
	                            s->error->detail ? ": " : "",
	                            s->error->detail ? s->error->detail : "");
}

static void explain_system_error(struct sentence *s)
{
	if (s->location.is_parsed) {
		pfmi_format_append_token(s);
		pfmi_format_extend_sentence(s, ": ");
	}
	pfmi_format_extend_sentence(
		s, "%s", s->error->detail ? s->error->detail : pfm_result_text(s->error->code));
	if (s->error->sys_errno)
		pfmi_format_extend_sentence(s, " (%s)", strerror(s->error->sys_errno));
}

static void explain_other_error(struct sentence *s)
{
	pfmi_format_extend_sentence(
		s, "%s", s->error->detail ? s->error->detail : pfm_result_text(s->error->code));
	if (s->error->detail && s->error->number)
		pfmi_format_extend_sentence(s, ": %llu", (unsigned long long)s->error->number);
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
			pfmi_format_extend_sentence(s, "unknown PMU ");
		pfmi_format_append_token(s);
		if (s->error->detail)
			pfmi_format_extend_sentence(s, ": %s", s->error->detail);
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
	default: pfmi_format_extend_sentence(s, "%s", pfm_result_text(s->error->code));
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
