/* SPDX-License-Identifier: MIT */
/* Suggestions for a token that was refused. Names of the PMU that was named, or of this machine,
 * come first: children of the token, names that contain it, names that mean what its words mean,
 * names at a small edit distance. Names of other PMUs follow. A suggestion looks at every name,
 * which is why it is a call of its own. */
#include <stdio.h>
#include <string.h>
#include "find/name_match.h"
#include "find/suggest_attr.h"
#include "find/word_match.h"
#include "base/title.h"
#include "base/sizes.h"

#define FEW_NAMES           3u /* questions with fewer answers are relaxed */
#define MAX_EXACT_ELSEWHERE 3u /* PMUs that have the name itself */
#define MAX_SEARCHED_PMUS   64u

/* ---- events ---------------------------------------------------------------------------------- */

/* Prefixes of the token that may be the name, longest first; the others may have attributes. */
struct name_candidates {
	struct folded_name names[SPEC_MAX_PREFIXES];
	unsigned n_names;
	struct slice token; /* the longest one */
	struct word_query words;
	bool is_qualified; /* names are suggested with their PMU */
};

static void list_name_candidates(struct name_candidates *p, const struct spec *spec)
{
	p->n_names = 0;
	p->is_qualified = false;
	p->token = spec->name;
	pfmi_find_parse_words(&p->words, spec->name);
	for (unsigned i = spec->n_prefixes; i-- > 0;)
		if (spec->prefixes[i].len)
			p->names[p->n_names++] = pfmi_find_fold_text(
				(struct slice){ spec->name.text, spec->prefixes[i].len });
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
	cost = pfmi_find_compute_word_cost(words, name,
	                                   table_get_text(t, table_get_row(t, row)->desc));
	if (words->is_generic && cost == 0)
		return COST_MATCH;
	return cost == WORD_NO_MATCH ? ~0u : COST_WORDS + cost;
}

/* The edit distance of the token to the first part of @name, "MEM_LOAD_RETIRED" of
 * MEM_LOAD_RETIRED.L3_MISS; ~0u if they are too different. */
static unsigned compute_stem_cost(const struct folded_name *token, const char *name)
{
	size_t len = strcspn(name, ".");
	char stem[SUGGESTION_SIZE];

	if (!name[len] || len >= sizeof(stem) || memchr(token->chars, '.', token->length))
		return ~0u;
	memcpy(stem, name, len);
	stem[len] = '\0';
	return pfmi_find_compute_name_cost(token, stem, false);
}

static void add_event_name(struct suggestion_list *l, const struct name_candidates *p,
                           unsigned cost, uint64_t id, const struct table *t, const char *name)
{
	char before[SUGGESTION_SIZE] = "";

	if (p->is_qualified)
		snprintf(before, sizeof(before), "%s::", table_get_text(t, t->name));
	pfmi_find_add_suggestion(l, cost, id, before, name);
}

/* An alias that the words lead to is suggested under the name of its row. */
static void suggest_event_name(struct suggestion_list *l, const struct name_candidates *p,
                               uint64_t id, const struct table *t, struct name_entry n)
{
	const char *name = table_get_text(t, n.text);
	enum name_match match = pfmi_find_match_name(name, p->token);
	unsigned best = match == NAME_MATCH_NONE ? ~0u : COST_MATCH + (unsigned)match, stem;
	unsigned by_words = compute_word_cost(p, t, name, n.row);

	for (unsigned i = 0; i < p->n_names; i++) {
		unsigned cost = pfmi_find_compute_name_cost(&p->names[i], name, i == 0);

		if (cost != ~0u)
			best = best < COST_DISTANCE + cost + i ? best : COST_DISTANCE + cost + i;
	}
	if (best == ~0u && !memchr(p->token.text, ' ', p->token.len) &&
	    (stem = compute_stem_cost(&p->names[0], name)) != ~0u)
		best = COST_DISTANCE + stem;
	if (by_words < best)
		add_event_name(l, p, by_words, id, t, table_get_row_name(t, n.row));
	else if (best != ~0u)
		add_event_name(l, p, best, id, t, name);
}

static bool is_visible_name(const struct table *t, struct name_entry n)
{
	return n.kind < NAME_UNSUPPORTED &&
	       !(table_get_row(t, n.row)->flags & (ROW_HIDDEN | ROW_SHADOWED));
}

/* Does the folded name contain the folded token? */
static bool has_substring(const char *name, const struct folded_name *token)
{
	struct folded_name f = pfmi_find_fold_text(pfmi_base_make_slice(name));

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
			add_event_name(l, p, COST_SUBSTRING, id, t, table_get_text(t, n.text));
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
			pfmi_find_add_suggestion(
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
			unsigned cost =
				is_visible_name(t, name)
					? pfmi_find_compute_name_cost(
						  &p->names[0], table_get_text(t, name.text), false)
					: ~0u;

			if (cost != ~0u)
				pfmi_find_add_suggestion(l, COST_ELSEWHERE + cost, 0, before,
				                         table_get_row_name(t, name.row));
		}
	}
}

/* Suggests "coreduo::NAME" for "coreduo:NAME". */
static void suggest_pmu_separator(struct suggestion_list *l, const struct pfm_ctx *ctx,
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
			pfmi_find_add_suggestion(l, 0, 0, before, pmu.text + pmu.len + 1);
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
	unsigned cost = pfmi_find_compute_name_cost(&p->name, name, p->subsystem.length > 0);

	/* Among thousands of tracepoints one is similar to anything. */
	if (cost != ~0u && (p->subsystem.length || cost < 2))
		pfmi_find_add_suggestion(p->suggestions, cost + p->subsystem_cost, 0, p->prefix,
		                         name);
	return 0;
}

static int search_subsystem(void *arg, const char *name)
{
	struct tracepoint_search *p = arg;
	char path[2 * SUGGESTION_SIZE];

	p->subsystem_cost =
		p->subsystem.length ? pfmi_find_compute_name_cost(&p->subsystem, name, false) : 0;
	if (p->subsystem_cost == ~0u)
		return 0;
	snprintf(p->prefix, sizeof(p->prefix), "%s:", name);
	snprintf(path, sizeof(path), "%s/%s", p->tracefs_mount, name);
	p->sys->list_folder(p->sys, path, suggest_tracepoint, p);
	return 0;
}

static uint32_t measure_name(struct slice s)
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

	group.len = measure_name(group);
	if (group.len < spec->len && spec->text[group.len] == ':') {
		name.text += group.len + 1;
		name.len -= group.len + 1;
		p.subsystem = pfmi_find_fold_text(group);
	}
	name.len = measure_name(name);
	p.name = pfmi_find_fold_text(name);
	if (spec->pmu_name.len || !p.name.length || (!p.subsystem.length && l->n_names))
		return;
	for (unsigned i = 0; i < TRACEFS_MOUNTS; i++) {
		p.tracefs_mount = pfmi_machine_tracefs_paths[i];
		p.sys->list_folder(p.sys, p.tracefs_mount, search_subsystem, &p);
	}
}

/* Does the title of the table's processor ("Intel Granite Rapids (Xeon 6, P-cores)") have the
 * words, blanks ignored? */
static bool has_processor_name(const struct table *t, const struct folded_name *token)
{
	const char *text = table_get_text(t, t->desc);
	struct folded_name desc = pfmi_find_fold_text(
		(struct slice){ text, (uint32_t)base_measure_processor_title(text) });

	for (unsigned at = 0; token->length >= 4 && at + token->length <= desc.length; at++)
		if (memcmp(desc.chars + at, token->chars, token->length) == 0)
			return true;
	return false;
}

/* PMUs of the processor family that a text names: "mtl", "alderlake", "zen 4". Returns their
 * number, at most @max. */
static unsigned list_family_members(const struct pfm_ctx *ctx, struct slice name, unsigned *pmus,
                                    unsigned max)
{
	struct folded_name token = pfmi_find_fold_text(name);
	unsigned n = 0;

	for (unsigned i = 0; token.length >= 3 && n < max && i < context_count_pmus(ctx); i++) {
		const struct table *t = context_get_pmu_table(ctx, i);
		bool is_member = pfmi_base_is_slice_icase(name, table_get_text(t, t->family_name));

		if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
			continue;
		if (is_member || has_processor_name(t, &token))
			pmus[n++] = i;
	}
	return n;
}

/* Suggests the members of a family. Cores come first. */
static void suggest_family_members(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                   struct slice name)
{
	unsigned pmus[MAX_SEARCHED_PMUS],
		n = list_family_members(ctx, name, pmus, MAX_SEARCHED_PMUS);

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = context_get_pmu_table(ctx, pmus[i]);

		pfmi_find_add_suggestion(l, t->flags & TABLE_UNCORE ? 1 : 0, pmus[i] + 1, "",
		                         table_get_text(t, t->name));
	}
}

/* Suggests events of @pmus. A question in several words may be answered by a description. */
static void suggest_events_of_pmus(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                   const struct spec *spec, struct name_candidates *p,
                                   const unsigned *pmus, unsigned n)
{
	bool is_relaxed = memchr(p->token.text, ' ', p->token.len) != NULL;

	for (unsigned i = 0; i < n; i++)
		suggest_pmu_events(l, ctx, pmus[i], p, false);
	suggest_tracepoints(l, ctx, spec);
	for (unsigned i = 0; !l->n_names && i < n; i++)
		suggest_pmu_events(l, ctx, pmus[i], p, true);
	for (p->words.desc_suffices = true; l->n_names < FEW_NAMES && is_relaxed;
	     is_relaxed = pfmi_find_relax_words(&p->words))
		for (unsigned i = 0; i < n; i++)
			suggest_pmu_events(l, ctx, pmus[i], p, false);
}

/* Suggests "amdzen4::ls_tlb_flush.all" for "zen4::tlb shootdown". */
static void suggest_family_events(struct suggestion_list *l, const struct pfm_ctx *ctx,
                                  const struct error_location *p)
{
	unsigned pmus[MAX_SEARCHED_PMUS],
		n = list_family_members(ctx, p->token, pmus, MAX_SEARCHED_PMUS);
	struct name_candidates pieces;

	if (!p->is_parsed || p->spec.form != SPEC_NAME)
		return;
	list_name_candidates(&pieces, &p->spec);
	pieces.is_qualified = true;
	if (pieces.n_names && pieces.names[0].length >= 3)
		suggest_events_of_pmus(l, ctx, &p->spec, &pieces, pmus, n);
}

static void suggest_events(struct suggestion_list *l, const struct pfm_ctx *ctx,
                           const struct error_location *p)
{
	unsigned pmus[MAX_SEARCHED_PMUS],
		n = pfmi_lookup_list_candidate_pmus(ctx, &p->spec, pmus, MAX_SEARCHED_PMUS);
	struct name_candidates pieces;

	list_name_candidates(&pieces, &p->spec);
	if (p->spec.form != SPEC_NAME || !pieces.n_names || !pieces.names[0].length)
		return;
	suggest_pmu_separator(l, ctx, &p->spec);
	suggest_events_of_pmus(l, ctx, &p->spec, &pieces, pmus, n);
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
	pfmi_find_add_suggestion(l, 0, 0, before, p->spec.text);
}

/* Suggests the name of PMU @pmu, or an alias that is closer to the token. */
static void suggest_pmu_names(struct suggestion_list *l, const struct table *t, unsigned pmu,
                              const struct folded_name *token)
{
	const char *alias = table_get_text(t, t->aliases);

	if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
		return;
	pfmi_find_suggest_name(l, token, pmu + 1, table_get_text(t, t->name), true);
	while (*alias) {
		char word[SUGGESTION_SIZE];
		size_t len = strcspn(alias, " ");

		snprintf(word, sizeof(word), "%.*s", (int)len, alias);
		pfmi_find_suggest_name(l, token, pmu + 1, word, true);
		alias += len + (alias[len] == ' ');
	}
}

static void suggest_pmus(struct suggestion_list *l, const struct pfm_ctx *ctx,
                         const struct error_location *p)
{
	struct folded_name token = pfmi_find_fold_text(p->token);
	bool is_family;

	if (pfmi_context_load(ctx, LOADED_ALL))
		return;
	suggest_family_events(l, ctx, p);
	if (!l->n_names)
		suggest_family_members(l, ctx, p->token);
	is_family = l->n_names > 0;
	for (unsigned i = 0; !is_family && i < ctx->n_pmus; i++)
		suggest_pmu_names(l, context_get_pmu_table(ctx, i), i, &token);
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
		pfmi_find_suggest_umasks(&l, &p, error->detail);
	else if (p.has_attr) {
		/* "INST_RETIRED.PREC_DST": an event's name, cut off at a dot. */
		if (error->kind == PFM_KIND_UNKNOWN_QUALIFIER && p.attr.separator == '.')
			suggest_events(&l, ctx, &p);
		pfmi_find_suggest_for_attr(&l, &p, error);
	}
	return l.n_names;
}
