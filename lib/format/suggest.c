/* SPDX-License-Identifier: MIT */
/* Suggestions for a token that was refused. Names of the PMU that was named, or of this machine,
 * come first: children of the token, names that contain it, names that mean what its words mean,
 * names at a small edit distance. Names of other PMUs follow. A suggestion looks at every name,
 * which is why it is a call of its own. */
#include <stdio.h>
#include <string.h>
#include "format/format.h"
#include "format/name_match.h"
#include "format/word_match.h"
#include "base/edit_distance.h"
#include "base/sizes.h"

#define SUGGESTION_SIZE     96u
#define MAX_SUGGESTIONS     8u
#define MAX_EXACT_ELSEWHERE 3u /* PMUs that have the name itself */

/* Costs of a suggestion; the lowest comes first. An edit distance is below 16. */
enum {
	COST_MATCH = 0,          /* of a PMU's own names: plus enum name_match */
	COST_WORDS = 4,          /* plus that of the words, at most WORD_COST_MAX */
	COST_DISTANCE = 24,      /* plus the distance */
	COST_COMPLETION = 32,    /* names that begin with the token */
	COST_SUBSTRING = 72,     /* names that contain it */
	COST_ELSEWHERE = 96,     /* another PMU's name, plus the distance */
	COST_PARTIAL_NAME = 103, /* another PMU's name that is a part of the text */
};

/* The best names so far, best first; names of equal cost keep their order. */
struct suggestion_list {
	char (*names)[SUGGESTION_SIZE];
	unsigned cost[MAX_SUGGESTIONS];
	uint64_t subject_id[MAX_SUGGESTIONS]; /* identity, each suggested once; 0: none */
	unsigned n_names, max_names;
};

static void remove_suggestion(struct suggestion_list *l, unsigned at)
{
	l->n_names--;
	for (; at < l->n_names; at++) {
		memcpy(l->names[at], l->names[at + 1], SUGGESTION_SIZE);
		l->cost[at] = l->cost[at + 1];
		l->subject_id[at] = l->subject_id[at + 1];
	}
}

/* Adds "@before@name". */
static void add_suggestion(struct suggestion_list *l, unsigned cost, uint64_t id,
                           const char *before, const char *name)
{
	char text[SUGGESTION_SIZE];
	int len = snprintf(text, sizeof(text), "%s%s", before, name);
	unsigned at;

	if (len <= 0 || (unsigned)len >= sizeof(text))
		return;
	for (at = 0; at < l->n_names; at++)
		if ((id && l->subject_id[at] == id) || strcmp(l->names[at], text) == 0) {
			if (l->cost[at] <= cost)
				return;
			remove_suggestion(l, at);
			break;
		}
	for (at = l->n_names; at > 0 && l->cost[at - 1] > cost; at--)
		;
	if (at == l->max_names)
		return;
	if (l->n_names == l->max_names)
		l->n_names--;
	for (unsigned i = l->n_names++; i > at; i--) {
		memcpy(l->names[i], l->names[i - 1], SUGGESTION_SIZE);
		l->cost[i] = l->cost[i - 1];
		l->subject_id[i] = l->subject_id[i - 1];
	}
	memcpy(l->names[at], text, (size_t)len + 1);
	l->cost[at] = cost;
	l->subject_id[at] = id;
}

/* ---- distance -------------------------------------------------------------------------------- */

struct folded_name {
	unsigned char chars[SUGGESTION_SIZE];
	unsigned length;
};

static struct folded_name fold_text(struct slice s)
{
	struct folded_name f = { .length = 0 };

	for (uint32_t i = 0; i < s.len && f.length < sizeof(f.chars); i++) {
		unsigned char c = table_fold_char((unsigned char)s.text[i]);

		if (c)
			f.chars[f.length++] = c;
	}
	return f;
}

static unsigned get_minimum(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The largest edit distance of a suggestion. */
static unsigned get_distance_limit(unsigned len)
{
	return get_minimum(1 + len / 4, 6);
}

/* The cost of @name for @token, or ~0u if they are too different. Completions come after every
 * misspelling. */
static unsigned compute_cost(const struct folded_name *token, const char *name, bool complete)
{
	struct folded_name f = fold_text(pfmi_base_make_slice(name));
	unsigned limit = get_distance_limit(token->length),
		 d = base_get_edit_distance(token->chars, token->length, f.chars, f.length, limit);

	if (d <= limit && d < token->length)
		return d;
	if (complete && token->length >= 3 && f.length > token->length &&
	    memcmp(f.chars, token->chars, token->length) == 0)
		return COST_COMPLETION;
	return ~0u;
}

static void suggest_name(struct suggestion_list *l, const struct folded_name *token, uint64_t id,
                         const char *name, bool complete)
{
	unsigned cost = compute_cost(token, name, complete);

	if (cost != ~0u)
		add_suggestion(l, cost, id, "", name);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Prefixes of the token that may be the name, longest first; the others may have attributes. */
struct name_candidates {
	struct folded_name names[SPEC_MAX_PREFIXES];
	unsigned n_names;
	struct slice token; /* the longest one */
	struct word_query words;
};

static void list_name_candidates(struct name_candidates *p, const struct spec *spec)
{
	p->n_names = 0;
	p->token = spec->name;
	pfmi_format_parse_words(&p->words, spec->name);
	for (unsigned i = spec->n_prefixes; i-- > 0;)
		if (spec->prefixes[i].len)
			p->names[p->n_names++] =
				fold_text((struct slice){ spec->name.text, spec->prefixes[i].len });
}

/* The cost of event @row by the words of the text. A single word must be a known one: others are
 * found as parts of names. */
static unsigned compute_word_cost(const struct name_candidates *p, const struct table *t,
                                  const char *name, uint32_t row)
{
	const struct word_query *words = &p->words;
	unsigned cost;

	if (!words->n_concepts || !(words->is_known || memchr(p->token.text, ' ', p->token.len)))
		return ~0u;
	cost = pfmi_format_compute_word_cost(words, name,
	                                     table_get_description(t, table_get_row(t, row)->desc));
	return cost == WORD_NO_MATCH ? ~0u : COST_WORDS + cost;
}

/* An alias that the words lead to is suggested under the name of its row. */
static void suggest_event_name(struct suggestion_list *l, const struct name_candidates *p,
                               uint64_t id, const struct table *t, struct name_entry n)
{
	const char *name = table_get_text(t, n.text);
	enum name_match match = pfmi_format_match_name(name, p->token);
	unsigned best = match == NAME_MATCH_NONE ? ~0u : COST_MATCH + (unsigned)match;
	unsigned by_words = compute_word_cost(p, t, name, n.row);

	for (unsigned i = 0; i < p->n_names; i++) {
		unsigned cost = compute_cost(&p->names[i], name, i == 0);

		if (cost != ~0u)
			best = get_minimum(best, COST_DISTANCE + cost + i);
	}
	if (by_words < best)
		add_suggestion(l, by_words, id, "", table_get_row_name(t, n.row));
	else if (best != ~0u)
		add_suggestion(l, best, id, "", name);
}

static bool is_visible_name(const struct table *t, struct name_entry n)
{
	return n.kind < NAME_UNSUPPORTED &&
	       !(table_get_row(t, n.row)->flags & (ROW_HIDDEN | ROW_SHADOWED));
}

/* Does the folded name contain the folded token? */
static bool has_substring(const char *name, const struct folded_name *token)
{
	struct folded_name f = fold_text(pfmi_base_make_slice(name));

	for (unsigned at = 0; token->length >= 4 && at + token->length <= f.length; at++)
		if (memcmp(f.chars + at, token->chars, token->length) == 0)
			return true;
	return false;
}

static void suggest_pmu_events(struct suggestion_list *l, const struct pfm_ctx *ctx, unsigned pmu,
                               const struct name_candidates *p, bool inside)
{
	const struct table *t = context_get_pmu_table(ctx, pmu);

	for (uint32_t i = 0; context_is_pmu_usable(ctx, pmu) && i < table_count_names(t); i++) {
		struct name_entry n = table_get_name(t, i);
		uint64_t id = (uint64_t)(pmu + 1) << 32 | n.row;

		if (!is_visible_name(t, n))
			continue;
		if (!inside)
			suggest_event_name(l, p, id, t, n);
		else if (has_substring(table_get_text(t, n.text), &p->names[0]))
			add_suggestion(l, COST_SUBSTRING, id, "", table_get_text(t, n.text));
	}
}

/* Suggests other PMUs that have the name, or an event named by a prefix of the text. */
static void suggest_other_pmus(struct suggestion_list *l, const struct pfm_ctx *ctx,
                               const struct spec *spec, const unsigned *mine, unsigned n_mine)
{
	unsigned n = context_count_pmus(ctx), found = 0;

	for (unsigned i = 0; i < n && found < MAX_EXACT_ELSEWHERE; i++) {
		const struct table *t = context_get_pmu_table(ctx, i);
		bool skip = t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY | TABLE_FROM_KERNEL) ||
		            !context_is_pmu_usable(ctx, i);

		for (unsigned k = 0; k < n_mine; k++)
			skip |= mine[k] == i;
		for (unsigned c = spec->n_prefixes; !skip && c-- > 0;) {
			struct name_entry name = table_find_name(
				t, spec->prefixes[c].hash, spec->name.text, spec->prefixes[c].len);
			char before[SUGGESTION_SIZE];

			if (!is_visible_name(t, name))
				continue;
			snprintf(before, sizeof(before), "%s::", table_get_text(t, t->name));
			add_suggestion(
				l, c + 1 < spec->n_prefixes ? COST_PARTIAL_NAME : COST_ELSEWHERE, 0,
				before, table_get_row_name(t, name.row));
			found++;
			break;
		}
	}
}

/* Suggests similar names of other PMUs. */
static void suggest_similar_elsewhere(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                      const struct name_candidates *p)
{
	unsigned n = context_count_pmus(ctx);

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = context_get_pmu_table(ctx, i);
		char before[SUGGESTION_SIZE];

		snprintf(before, sizeof(before), "%s::", table_get_text(t, t->name));
		if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY) ||
		    !context_is_pmu_usable(ctx, i))
			continue;
		for (uint32_t k = 0; k < table_count_names(t); k++) {
			struct name_entry name = table_get_name(t, k);
			unsigned cost = is_visible_name(t, name)
			                        ? compute_cost(&p->names[0],
			                                       table_get_text(t, name.text), false)
			                        : ~0u;

			if (cost != ~0u)
				add_suggestion(l, COST_ELSEWHERE + cost, 0, before,
				               table_get_row_name(t, name.row));
		}
	}
}

/* Suggests "coreduo::NAME" for "coreduo:NAME". */
static void suggest_two_colons(struct suggestion_list *l, const struct pfm_ctx *ctx,
                               const struct spec *spec)
{
	struct slice pmu = { spec->name.text, spec->n_prefixes > 1 ? spec->prefixes[0].len : 0 };
	struct pmu_name_iter c = { 0 };
	uint32_t h = pfmi_table_hash_name(pmu);
	int at;

	while (pmu.len && !spec->pmu_name.len &&
	       (at = pfmi_context_next_named_pmu(ctx, pmu, h, &c)) >= 0)
		if (!(context_get_pmu_table(ctx, (unsigned)at)->flags &
		      (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))) {
			char before[SUGGESTION_SIZE];

			snprintf(before, sizeof(before), "%.*s::", (int)pmu.len, pmu.text);
			add_suggestion(l, 0, 0, before, pmu.text + pmu.len + 1);
			return;
		}
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

/* A search for a tracepoint in the subsystems of tracefs. */
struct tracepoint_search {
	struct suggestion_list *suggestions;
	const struct sys *sys;
	const char *tracefs_mount;
	struct folded_name subsystem, name; /* an empty group is any */
	char prefix[SUGGESTION_SIZE];
	unsigned subsystem_cost; /* of the subsystem at hand */
};

static int suggest_tracepoint(void *arg, const char *name)
{
	struct tracepoint_search *p = arg;
	unsigned cost = compute_cost(&p->name, name, p->subsystem.length > 0);

	/* Among thousands of tracepoints one is similar to anything. */
	if (cost != ~0u && (p->subsystem.length || cost < 2))
		add_suggestion(p->suggestions, cost + p->subsystem_cost, 0, p->prefix, name);
	return 0;
}

static int search_subsystem(void *arg, const char *name)
{
	struct tracepoint_search *p = arg;
	char path[2 * SUGGESTION_SIZE];

	p->subsystem_cost = p->subsystem.length ? compute_cost(&p->subsystem, name, false) : 0;
	if (p->subsystem_cost == ~0u)
		return 0;
	snprintf(p->prefix, sizeof(p->prefix), "%s:", name);
	snprintf(path, sizeof(path), "%s/%s", p->tracefs_mount, name);
	p->sys->list_folder(p->sys, path, suggest_tracepoint, p);
	return 0;
}

static uint32_t find_name_end(struct slice s)
{
	uint32_t n = 0;

	while (n < s.len && s.text[n] != ':' && s.text[n] != ',')
		n++;
	return n;
}

/* Suggests tracepoints for "subsystem:name"; for a bare name only if nothing else is similar. */
static void suggest_tracepoints(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                const struct spec *spec)
{
	struct slice group = { spec->text, spec->len }, name = group;
	struct tracepoint_search p = { .suggestions = l, .sys = &ctx->sys };

	group.len = find_name_end(group);
	if (group.len < spec->len && spec->text[group.len] == ':') {
		name.text += group.len + 1;
		name.len -= group.len + 1;
		p.subsystem = fold_text(group);
	}
	name.len = find_name_end(name);
	p.name = fold_text(name);
	if (spec->pmu_name.len || !p.name.length || (!p.subsystem.length && l->n_names))
		return;
	for (unsigned i = 0; i < TRACEFS_MOUNTS; i++) {
		p.tracefs_mount = pfmi_machine_tracefs_paths[i];
		p.sys->list_folder(p.sys, p.tracefs_mount, search_subsystem, &p);
	}
}

/* Does the description of the table's processor ("Intel Alder Lake and Raptor Lake") have the
 * words, blanks ignored? */
static bool has_processor_name(const struct table *t, const struct folded_name *token)
{
	const char *text = table_get_text(t, t->desc);
	struct folded_name desc = fold_text((struct slice){ text, (uint32_t)strcspn(text, ",:(") });

	for (unsigned at = 0; token->length >= 4 && at + token->length <= desc.length; at++)
		if (memcmp(desc.chars + at, token->chars, token->length) == 0)
			return true;
	return false;
}

/* PMUs of the processor family that a text names: "mtl", "alderlake", "zen 4". Cores come first. */
static void suggest_family_members(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                   struct slice name)
{
	struct folded_name token = fold_text(name);

	for (unsigned i = 0; token.length >= 3 && i < context_count_pmus(ctx); i++) {
		const struct table *t = context_get_pmu_table(ctx, i);
		bool is_member = pfmi_base_is_slice_icase(name, table_get_text(t, t->family_name));

		if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
			continue;
		if (is_member || has_processor_name(t, &token))
			add_suggestion(l, t->flags & TABLE_UNCORE ? 1 : 0, i + 1, "",
			               table_get_text(t, t->name));
	}
}

static void suggest_events(struct suggestion_list *l, const struct pfm_ctx *ctx,
                           const struct error_location *p)
{
	unsigned pmus[64], n = pfmi_lookup_list_candidate_pmus(ctx, &p->spec, pmus, 64);
	struct name_candidates pieces;
	bool is_relaxed; /* a question in several words may be answered by a description */

	list_name_candidates(&pieces, &p->spec);
	is_relaxed = memchr(pieces.token.text, ' ', pieces.token.len) != NULL;
	if (p->spec.form != SPEC_NAME || !pieces.n_names || !pieces.names[0].length)
		return;
	suggest_two_colons(l, ctx, &p->spec);
	for (unsigned i = 0; i < n; i++)
		suggest_pmu_events(l, ctx, pmus[i], &pieces, false);
	suggest_tracepoints(l, ctx, &p->spec);
	for (unsigned i = 0; !l->n_names && i < n; i++)
		suggest_pmu_events(l, ctx, pmus[i], &pieces, true);
	for (pieces.words.desc_suffices = true; !l->n_names && is_relaxed;
	     is_relaxed = pfmi_format_relax_words(&pieces.words))
		for (unsigned i = 0; i < n; i++)
			suggest_pmu_events(l, ctx, pmus[i], &pieces, false);
	if (!p->spec.pmu_name.len)
		suggest_family_members(l, ctx, p->spec.name);
	suggest_other_pmus(l, ctx, &p->spec, pmus, n);
	if (!l->n_names || l->cost[0] == COST_PARTIAL_NAME)
		suggest_similar_elsewhere(l, ctx, &pieces);
}

/* Suggests the text with its PMU: libpfm 3 and 4 read it differently without. */
static void suggest_qualified_name(struct suggestion_list *l, const struct error_location *p)
{
	char before[SUGGESTION_SIZE];

	snprintf(before, sizeof(before), "%s::", table_get_text(p->table, p->table->name));
	add_suggestion(l, 0, 0, before, p->spec.text);
}

/* Suggests the name of PMU @pmu, or an alias that is closer to the token. */
static void suggest_pmu_names(struct suggestion_list *l, const struct table *t, unsigned pmu,
                              const struct folded_name *token)
{
	const char *alias = table_get_text(t, t->aliases);

	if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
		return;
	suggest_name(l, token, pmu + 1, table_get_text(t, t->name), true);
	while (*alias) {
		char word[SUGGESTION_SIZE];
		size_t len = strcspn(alias, " ");

		snprintf(word, sizeof(word), "%.*s", (int)len, alias);
		suggest_name(l, token, pmu + 1, word, true);
		alias += len + (alias[len] == ' ');
	}
}

static void suggest_pmus(struct suggestion_list *l, const struct pfm_ctx *ctx,
                         const struct error_location *p)
{
	struct folded_name token = fold_text(p->token);
	bool is_family;

	if (pfmi_context_load(ctx, LOADED_ALL))
		return;
	suggest_family_members(l, ctx, p->token);
	is_family = l->n_names > 0;
	for (unsigned i = 0; !is_family && i < ctx->n_pmus; i++)
		suggest_pmu_names(l, context_get_pmu_table(ctx, i), i, &token);
}

/* ---- qualifiers ------------------------------------------------------------------------------ */

static bool is_perf_form(const struct error_location *p)
{
	return p->spec.form == SPEC_PERF;
}

/* Gets the words of @g for the separator: after a colon, libpfm's own. */
static void get_group_words(const struct table *t, const struct umask_group *g, bool libpfm,
                            const struct named_value **first, unsigned *n)
{
	bool own = libpfm && g->n_named_values > g->n_values;

	*first = table_named_values(t) + g->first_named_value + (own ? g->n_values : 0);
	*n = own ? (unsigned)(g->n_named_values - g->n_values) : g->n_values;
}

static void suggest_group(struct suggestion_list *l, const struct error_location *p,
                          const struct umask_group *g, const struct folded_name *token)
{
	const struct named_value *w = table_named_values(p->table) + g->first_named_value, *first;
	char before[SUGGESTION_SIZE] = "";
	unsigned n;

	get_group_words(p->table, g, p->attr.separator != ',', &first, &n);
	suggest_name(l, token, 0, table_get_text(p->table, g->name), false);
	if (p->attr.separator == ',')
		snprintf(before, sizeof(before), "%s=", table_get_text(p->table, g->name));
	for (unsigned i = 0; i < g->n_named_values; i++) {
		unsigned cost = compute_cost(token, table_get_text(p->table, w[i].name), false);

		/* A word of another grammar leads to this grammar's word of that value. */
		for (unsigned k = 0; cost != ~0u && k < n; k++)
			if (first[k].value == w[i].value)
				add_suggestion(l, cost, 0, before,
				               table_get_text(p->table, first[k].name));
	}
}

static void suggest_qualifiers(struct suggestion_list *l, const struct error_location *p)
{
	const struct field *f = table_fields(p->table);
	struct folded_name token = fold_text(p->has_attr ? p->attr.name : p->token);

	if (!token.length)
		return;
	if (p->row != ROW_NONE && !is_perf_form(p))
		for (unsigned i = 0; i < table_get_row(p->table, p->row)->n_groups; i++)
			suggest_group(l, p, pfmi_pmu_get_row_group(p->table, p->row, i), &token);
	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (f[i].kind != FIELD_TEXT &&
		    (f[i].is_modifier || (is_perf_form(p) && f[i].n_ranges)))
			suggest_name(l, &token, 0,
			             is_perf_form(p) && f[i].key == KEY_CODE
			                     ? "event"
			                     : table_get_text(p->table, f[i].name),
			             false);
	if (p->attr.separator == ',' && !is_perf_form(p)) {
		suggest_name(l, &token, 0, "usr", false);
		suggest_name(l, &token, 0, "os", false);
	}
}

static const struct umask_group *find_named_group(const struct error_location *p)
{
	for (unsigned i = 0; p->row != ROW_NONE && i < table_get_row(p->table, p->row)->n_groups;
	     i++)
		if (pfmi_base_is_slice_icase(
			    p->attr.name,
			    table_get_text(p->table,
		                           pfmi_pmu_get_row_group(p->table, p->row, i)->name)))
			return pfmi_pmu_get_row_group(p->table, p->row, i);
	return NULL;
}

static void suggest_all_words(struct suggestion_list *l, const struct table *t,
                              const struct named_value *w, unsigned n, const char *before)
{
	for (unsigned i = 0; i < n; i++)
		add_suggestion(l, COST_COMPLETION, 0, before, table_get_text(t, w[i].name));
}

/* "core=both": suggests words of the group or field close to the value; if no word is close, all of
 * them where there are few. */
static void suggest_values(struct suggestion_list *l, const struct error_location *p)
{
	const struct umask_group *g = find_named_group(p);
	const struct field *f = table_fields(p->table);
	struct folded_name token = fold_text(p->attr.value);
	const struct named_value *w =
		g ? table_named_values(p->table) + g->first_named_value : NULL;
	unsigned n = g ? g->n_values : 0;

	for (unsigned i = 0; !w && i < p->table->n_fields; i++)
		if (f[i].n_named_values &&
		    pfmi_base_is_slice_icase(p->attr.name, table_get_text(p->table, f[i].name))) {
			w = table_named_values(p->table) + f[i].first_named_value;
			n = f[i].n_named_values;
		}
	for (unsigned i = 0; w && i < n; i++)
		suggest_name(l, &token, 0, table_get_text(p->table, w[i].name), false);
	if (l->n_names == 0 && n <= 4)
		suggest_all_words(l, p->table, w, n, "");
}

static void suggest_assignments(struct suggestion_list *l, const struct error_location *p)
{
	const struct umask_group *g = find_named_group(p);
	char before[SUGGESTION_SIZE];

	if (!g)
		return;
	snprintf(before, sizeof(before), "%s=", table_get_text(p->table, g->name));
	suggest_all_words(l, p->table, table_named_values(p->table) + g->first_named_value,
	                  g->n_values, before);
}

static void suggest_umasks(struct suggestion_list *l, const struct error_location *p,
                           const char *group)
{
	for (unsigned i = 0; p->row != ROW_NONE && i < table_get_row(p->table, p->row)->n_groups;
	     i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(p->table, p->row, i);
		const struct named_value *w;
		unsigned n;

		if (group && strcmp(group, table_get_text(p->table, g->name)) != 0)
			continue;
		get_group_words(p->table, g, true, &w, &n);
		suggest_all_words(l, p->table, w, n, "");
	}
}

static void suggest_for_attr(struct suggestion_list *l, const struct error_location *p,
                             const pfm_error_t *error)
{
	switch (error->kind) {
	case PFM_KIND_UNKNOWN_QUALIFIER:
	case PFM_KIND_QUALIFIER_NOT_ALLOWED: suggest_qualifiers(l, p); break;
	case PFM_KIND_BAD_VALUE: suggest_values(l, p); break;
	case PFM_KIND_MISSING_VALUE: suggest_assignments(l, p); break;
	case PFM_KIND_UNEXPECTED_VALUE: {
		char word[SUGGESTION_SIZE];

		snprintf(word, sizeof(word), "%.*s", (int)p->attr.name.len, p->attr.name.text);
		add_suggestion(l, 0, 0, "", word);
		break;
	}
	default: break;
	}
}

size_t pfm_suggest_names(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                         char (*names)[96], size_t n)
{
	struct suggestion_list l = { .names = names,
		                     .max_names =
		                             n < MAX_SUGGESTIONS ? (unsigned)n : MAX_SUGGESTIONS };
	pfm_error_t given;
	struct error_location p;

	if (!text || !error || !names || n == 0 ||
	    !base_copy_struct_in(&given, sizeof(given), error))
		return 0;
	error = &given;
	if (!ctx)
		ctx = pfmi_context_get_default();
	pfmi_format_locate_error(ctx, text, error, &p);
	if (error->kind == PFM_KIND_UNKNOWN_PMU)
		suggest_pmus(&l, ctx, &p);
	else if (error->kind == PFM_KIND_UNKNOWN_EVENT && p.has_event && p.row != ROW_NONE)
		suggest_qualified_name(&l, &p);
	else if ((error->kind == PFM_KIND_UNKNOWN_EVENT ||
	          (error->kind == PFM_KIND_UNSUPPORTED_ALIAS && !p.has_event)) &&
	         p.is_parsed)
		suggest_events(&l, ctx, &p);
	else if (error->kind == PFM_KIND_MISSING_UMASK && p.has_event)
		suggest_umasks(&l, &p, error->detail);
	else if (p.has_attr)
		suggest_for_attr(&l, &p, error);
	return l.n_names;
}
