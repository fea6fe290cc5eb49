/* SPDX-License-Identifier: MIT */
/* What may have been meant: names close to a token that was refused, by the number of characters one would have to insert, delete,
 * replace or swap. Slow on purpose: it looks at everything, which is why it is a call of its own. */
#include <stdio.h>
#include <string.h>
#include "format/format.h"
#include "base/sizes.h"

#define NAME_MAX_BYTES  96u
#define MOST            8u
#define EXACT_ELSEWHERE 3u /* processors that have the name itself */

/* What costs more than any misspelling. */
enum {
	COST_PART = 7, /* another processor's event, named by a part of the text */
	COST_LONGER = 16,
	COST_INSIDE = 32,
};

/* The best names so far, best first; equal ones stay in the order in which they came. */
struct list {
	char (*names)[NAME_MAX_BYTES];
	unsigned cost[MOST];
	uint64_t id[MOST]; /* what the name stands for, so that each thing is named once; 0 for nothing in particular */
	unsigned n, max;
};

static void drop(struct list *l, unsigned at)
{
	l->n--;
	for (; at < l->n; at++) {
		memcpy(l->names[at], l->names[at + 1], NAME_MAX_BYTES);
		l->cost[at] = l->cost[at + 1];
		l->id[at] = l->id[at + 1];
	}
}

/* Adds "@before@name". */
static void offer(struct list *l, unsigned cost, uint64_t id, const char *before, const char *name)
{
	char text[NAME_MAX_BYTES];
	int len = snprintf(text, sizeof(text), "%s%s", before, name);
	unsigned at;

	if (len <= 0 || (unsigned)len >= sizeof(text))
		return;
	for (at = 0; at < l->n; at++)
		if ((id && l->id[at] == id) || strcmp(l->names[at], text) == 0) {
			if (l->cost[at] <= cost)
				return;
			drop(l, at);
			break;
		}
	for (at = l->n; at > 0 && l->cost[at - 1] > cost; at--)
		;
	if (at == l->max)
		return;
	if (l->n == l->max)
		l->n--;
	for (unsigned i = l->n++; i > at; i--) {
		memcpy(l->names[i], l->names[i - 1], NAME_MAX_BYTES);
		l->cost[i] = l->cost[i - 1];
		l->id[i] = l->id[i - 1];
	}
	memcpy(l->names[at], text, (size_t)len + 1);
	l->cost[at] = cost;
	l->id[at] = id;
}

/* ---- distance ------------------------------------------------------------------------------------------------- */

struct folded {
	unsigned char s[NAME_MAX_BYTES];
	unsigned n;
};

static struct folded fold(struct slice s)
{
	struct folded f = { .n = 0 };

	for (uint32_t i = 0; i < s.len && f.n < sizeof(f.s); i++) {
		unsigned char c = name_fold((unsigned char)s.s[i]);

		if (c)
			f.s[f.n++] = c;
	}
	return f;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that make @b of @a; @limit + 1 if there are more than @limit. */
static unsigned distance(const struct folded *a, const struct folded *b, unsigned limit)
{
	unsigned char rows[3][NAME_MAX_BYTES + 1], *before = rows[0], *last = rows[1], *now = rows[2];

	if ((a->n > b->n ? a->n - b->n : b->n - a->n) > limit)
		return limit + 1;
	for (unsigned j = 0; j <= b->n; j++)
		last[j] = (unsigned char)j;
	for (unsigned i = 1; i <= a->n; i++) {
		unsigned best = now[0] = (unsigned char)i;
		unsigned char *spare = before;

		for (unsigned j = 1; j <= b->n; j++) {
			unsigned d = last[j - 1] + (a->s[i - 1] == b->s[j - 1] ? 0u : 1u);

			d = least(d, least(last[j], now[j - 1]) + 1u);
			if (i > 1 && j > 1 && a->s[i - 1] == b->s[j - 2] && a->s[i - 2] == b->s[j - 1])
				d = least(d, before[j - 2] + 1u);
			now[j] = (unsigned char)d;
			best = least(best, d);
		}
		if (best > limit)
			return limit + 1;
		before = last;
		last = now;
		now = spare;
	}
	return least(last[b->n], limit + 1);
}

/* How far a name may be off and still be worth naming. */
static unsigned limit_for(unsigned len)
{
	return least(1 + len / 4, 6);
}

/* The cost of taking @name for @token, or ~0u if they have nothing in common. What one only has to go on typing comes after
 * every misspelling. */
static unsigned cost_of(const struct folded *token, const char *name, bool complete)
{
	struct folded f = fold(pfmi_slice(name));
	unsigned limit = limit_for(token->n), d = distance(token, &f, limit);

	if (d <= limit && d < token->n)
		return d;
	if (complete && token->n >= 3 && f.n > token->n && memcmp(f.s, token->s, token->n) == 0)
		return COST_LONGER;
	return ~0u;
}

static void try_name(struct list *l, const struct folded *token, uint64_t id, const char *name, bool complete)
{
	unsigned cost = cost_of(token, name, complete);

	if (cost != ~0u)
		offer(l, cost, id, "", name);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Pieces of the token that may be the name, longest first; the shorter ones leave out what may be attributes. */
struct pieces {
	struct folded at[SPEC_MAX_PREFIXES];
	unsigned n;
};

static struct pieces cut_token(const struct spec *spec)
{
	struct pieces p = { .n = 0 };

	for (unsigned i = spec->n_prefixes; i-- > 0;)
		if (spec->prefixes[i].len)
			p.at[p.n++] = fold((struct slice){ spec->name.s, spec->prefixes[i].len });
	return p;
}

static void try_event(struct list *l, const struct pieces *p, uint64_t id, const char *name)
{
	unsigned best = ~0u;

	for (unsigned i = 0; i < p->n; i++) {
		unsigned cost = cost_of(&p->at[i], name, i == 0);

		if (cost != ~0u)
			best = least(best, cost + i);
	}
	if (best != ~0u)
		offer(l, best, id, "", name);
}

static bool is_shown(const struct table *t, struct name n)
{
	return n.kind < NAME_UNSUPPORTED && !(table_row(t, n.row)->flags & (ROW_HIDDEN | ROW_SHADOWED));
}

/* True if the folded name has the folded token in it. */
static bool contains(const char *name, const struct folded *token)
{
	struct folded f = fold(pfmi_slice(name));

	for (unsigned at = 0; token->n >= 4 && at + token->n <= f.n; at++)
		if (memcmp(f.s + at, token->s, token->n) == 0)
			return true;
	return false;
}

static void events_of(struct list *l, const struct pfm_ctx *ctx, unsigned unit, const struct pieces *p, bool inside)
{
	const struct table *t = context_pmu_table(ctx, unit);

	for (uint32_t i = 0; context_is_pmu_usable(ctx, unit) && i < table_count_names(t); i++) {
		struct name n = table_name(t, i);
		uint64_t id = (uint64_t)(unit + 1) << 32 | n.row;

		if (!is_shown(t, n))
			continue;
		if (!inside)
			try_event(l, p, id, table_text(t, n.text));
		else if (contains(table_text(t, n.text), &p->at[0]))
			offer(l, COST_INSIDE, id, "", table_text(t, n.text));
	}
}

/* Other processors that have the very name, or an event named by a part of the text. */
static void elsewhere(struct list *l, const struct pfm_ctx *ctx, const struct spec *spec, const unsigned *mine, unsigned n_mine)
{
	unsigned n = context_count_pmus(ctx), found = 0;

	for (unsigned i = 0; i < n && found < EXACT_ELSEWHERE; i++) {
		const struct table *t = context_pmu_table(ctx, i);
		bool skip = t->flags & (TABLE_VIEW | TABLE_TEST | TABLE_KERNEL) || !context_is_pmu_usable(ctx, i);

		for (unsigned k = 0; k < n_mine; k++)
			skip |= mine[k] == i;
		for (unsigned c = spec->n_prefixes; !skip && c-- > 0;) {
			struct name name = pfmi_table_find(t, spec->prefixes[c].hash, spec->name.s, spec->prefixes[c].len);
			char before[NAME_MAX_BYTES];

			if (!is_shown(t, name))
				continue;
			snprintf(before, sizeof(before), "%s::", table_text(t, t->name));
			offer(l, c + 1 < spec->n_prefixes ? COST_PART : 0, 0, before, table_row_name(t, name.row));
			found++;
			break;
		}
	}
}

/* Names of other processors that are close, when this one has none. */
static void close_elsewhere(struct list *l, const struct pfm_ctx *ctx, const struct pieces *p)
{
	unsigned n = context_count_pmus(ctx);

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = context_pmu_table(ctx, i);
		char before[NAME_MAX_BYTES];

		snprintf(before, sizeof(before), "%s::", table_text(t, t->name));
		if (t->flags & (TABLE_VIEW | TABLE_TEST) || !context_is_pmu_usable(ctx, i))
			continue;
		for (uint32_t k = 0; k < table_count_names(t); k++) {
			struct name name = table_name(t, k);
			unsigned cost = is_shown(t, name) ? cost_of(&p->at[0], table_text(t, name.text), false) : ~0u;

			if (cost != ~0u)
				offer(l, cost, 0, before, table_row_name(t, name.row));
		}
	}
}

/* "coreduo:NAME": the processor and one colon too few. */
static void suggest_two_colons(struct list *l, const struct pfm_ctx *ctx, const struct spec *spec)
{
	struct slice pmu = { spec->name.s, spec->n_prefixes > 1 ? spec->prefixes[0].len : 0 };
	struct pmu_name_iter c = { 0 };
	uint32_t h = pfmi_name_hash(pmu);
	int at;

	while (pmu.len && !spec->pmu_name.len && (at = pfmi_context_next_named_pmu(ctx, pmu, h, &c)) >= 0)
		if (!(context_pmu_table(ctx, (unsigned)at)->flags & (TABLE_VIEW | TABLE_TEST))) {
			char before[NAME_MAX_BYTES];

			snprintf(before, sizeof(before), "%.*s::", (int)pmu.len, pmu.s);
			offer(l, 0, 0, before, pmu.s + pmu.len + 1);
			return;
		}
}

/* ---- tracepoints ---------------------------------------------------------------------------------------------- */

/* A tracepoint's name under way through the subsystems of tracefs. */
struct points {
	struct list *l;
	const struct sys *sys;
	const char *mount;
	struct folded group, name; /* an empty group is any */
	char before[NAME_MAX_BYTES];
	unsigned cost; /* of the subsystem that is looked through */
};

static int try_point(void *arg, const char *name)
{
	struct points *p = arg;
	unsigned cost = cost_of(&p->name, name, p->group.n > 0);

	/* Without a subsystem there are thousands, and one is similar to anything. */
	if (cost != ~0u && (p->group.n || cost < 2))
		offer(p->l, cost + p->cost, 0, p->before, name);
	return 0;
}

static int try_subsystem(void *arg, const char *name)
{
	struct points *p = arg;
	char path[2 * NAME_MAX_BYTES];

	p->cost = p->group.n ? cost_of(&p->group, name, false) : 0;
	if (p->cost == ~0u)
		return 0;
	snprintf(p->before, sizeof(p->before), "%s:", name);
	snprintf(path, sizeof(path), "%s/%s", p->mount, name);
	p->sys->list(p->sys, path, try_point, p);
	return 0;
}

static uint32_t up_to_colon(struct slice s)
{
	uint32_t n = 0;

	while (n < s.len && s.s[n] != ':' && s.s[n] != ',')
		n++;
	return n;
}

/* "subsystem:name" with a letter that is wrong in either; a bare name may be one of any subsystem, where nothing else is similar. */
static void suggest_tracepoints(struct list *l, const struct pfm_ctx *ctx, const struct spec *spec)
{
	struct slice group = { spec->text, spec->len }, name = group;
	struct points p = { .l = l, .sys = &ctx->sys };

	group.len = up_to_colon(group);
	if (group.len < spec->len && spec->text[group.len] == ':') {
		name.s += group.len + 1;
		name.len -= group.len + 1;
		p.group = fold(group);
	}
	name.len = up_to_colon(name);
	p.name = fold(name);
	if (spec->pmu_name.len || !p.name.n || (!p.group.n && l->n))
		return;
	for (unsigned i = 0; i < TRACEFS_MOUNTS; i++) {
		p.mount = pfmi_lookup_tracefs_paths[i];
		p.sys->list(p.sys, p.mount, try_subsystem, &p);
	}
}

static void suggest_events(struct list *l, const struct pfm_ctx *ctx, const struct place *p)
{
	unsigned units[64], n = pfmi_lookup_candidate_pmus(ctx, &p->spec, units, 64);
	struct pieces pieces = cut_token(&p->spec);

	if (p->spec.form != SPEC_NAME || !pieces.n || !pieces.at[0].n)
		return;
	suggest_two_colons(l, ctx, &p->spec);
	for (unsigned i = 0; i < n; i++)
		events_of(l, ctx, units[i], &pieces, false);
	elsewhere(l, ctx, &p->spec, units, n);
	suggest_tracepoints(l, ctx, &p->spec);
	for (unsigned i = 0; !l->n && i < n; i++)
		events_of(l, ctx, units[i], &pieces, true);
	if (!l->n || l->cost[0] == COST_PART)
		close_elsewhere(l, ctx, &pieces);
}

/* The name is known, but libpfm 3 and 4 mean different things by the text: the processor before it settles that. */
static void suggest_prefix(struct list *l, const struct place *p)
{
	char before[NAME_MAX_BYTES];

	snprintf(before, sizeof(before), "%s::", table_text(p->t, p->t->name));
	offer(l, 0, 0, before, p->spec.text);
}

static void suggest_pmus(struct list *l, const struct pfm_ctx *ctx, const struct place *p)
{
	struct folded token = fold(p->token);

	if (pfmi_context_load(ctx, LOADED_ALL))
		return;
	for (unsigned i = 0; i < ctx->n_pmus; i++) {
		const struct table *t = context_pmu_table(ctx, i);
		const char *aka = table_text(t, t->aka);

		if (t->flags & (TABLE_VIEW | TABLE_TEST))
			continue;
		try_name(l, &token, i + 1, table_text(t, t->name), true);
		while (*aka) {
			char word[NAME_MAX_BYTES];
			size_t len = strcspn(aka, " ");

			snprintf(word, sizeof(word), "%.*s", (int)len, aka);
			try_name(l, &token, i + 1, word, true);
			aka += len + (aka[len] == ' ');
		}
	}
}

/* ---- qualifiers ----------------------------------------------------------------------------------------------- */

static bool perf_form(const struct place *p)
{
	return p->spec.form == SPEC_PERF;
}

/* Words of @g as they are written behind @at: libpfm's own behind a colon. */
static void words_of(const struct table *t, const struct group *g, bool libpfm, const struct word **first, unsigned *n)
{
	bool own = libpfm && g->n_words > g->n_values;

	*first = table_words(t) + g->word + (own ? g->n_values : 0);
	*n = own ? (unsigned)(g->n_words - g->n_values) : g->n_values;
}

static void suggest_group(struct list *l, const struct place *p, const struct group *g, const struct folded *token)
{
	const struct word *w = table_words(p->t) + g->word, *first;
	char before[NAME_MAX_BYTES] = "";
	unsigned n;

	words_of(p->t, g, p->attr.separator != ',', &first, &n);
	try_name(l, token, 0, table_text(p->t, g->name), false);
	if (p->attr.separator == ',')
		snprintf(before, sizeof(before), "%s=", table_text(p->t, g->name));
	for (unsigned i = 0; i < g->n_words; i++) {
		unsigned cost = cost_of(token, table_text(p->t, w[i].name), false);

		/* A word of another grammar stands for the one of this grammar with its value. */
		for (unsigned k = 0; cost != ~0u && k < n; k++)
			if (first[k].value == w[i].value)
				offer(l, cost, 0, before, table_text(p->t, first[k].name));
	}
}

static void suggest_qualifiers(struct list *l, const struct place *p)
{
	const struct field *f = table_fields(p->t);
	struct folded token = fold(p->has_attr ? p->attr.name : p->token);

	if (!token.n)
		return;
	if (p->row != ROW_NONE && !perf_form(p))
		for (unsigned i = 0; i < table_row(p->t, p->row)->n_takes; i++)
			suggest_group(l, p, pfmi_pmu_row_group(p->t, p->row, i), &token);
	for (unsigned i = 0; i < p->t->n_fields; i++)
		if (f[i].kind != FIELD_TEXT && (f[i].modifier || (perf_form(p) && f[i].n_ranges)))
			try_name(l, &token, 0, perf_form(p) && f[i].key == KEY_CODE ? "event" : table_text(p->t, f[i].name), false);
	if (p->attr.separator == ',' && !perf_form(p)) {
		try_name(l, &token, 0, "usr", false);
		try_name(l, &token, 0, "os", false);
	}
}

static const struct group *named_group(const struct place *p)
{
	for (unsigned i = 0; p->row != ROW_NONE && i < table_row(p->t, p->row)->n_takes; i++)
		if (pfmi_slice_is(p->attr.name, table_text(p->t, pfmi_pmu_row_group(p->t, p->row, i)->name)))
			return pfmi_pmu_row_group(p->t, p->row, i);
	return NULL;
}

static void all_words(struct list *l, const struct table *t, const struct word *w, unsigned n, const char *before)
{
	for (unsigned i = 0; i < n; i++)
		offer(l, COST_LONGER, 0, before, table_text(t, w[i].name));
}

/* "core=both": words of the group or the field close to the value; all of them if they are few and none is close. */
static void suggest_values(struct list *l, const struct place *p)
{
	const struct group *g = named_group(p);
	const struct field *f = table_fields(p->t);
	struct folded token = fold(p->attr.value);
	const struct word *w = g ? table_words(p->t) + g->word : NULL;
	unsigned n = g ? g->n_values : 0;

	for (unsigned i = 0; !w && i < p->t->n_fields; i++)
		if (f[i].n_words && pfmi_slice_is(p->attr.name, table_text(p->t, f[i].name))) {
			w = table_words(p->t) + f[i].word;
			n = f[i].n_words;
		}
	for (unsigned i = 0; i < n; i++)
		try_name(l, &token, 0, table_text(p->t, w[i].name), false);
	if (l->n == 0 && n <= 4)
		all_words(l, p->t, w, n, "");
}

static void suggest_assignments(struct list *l, const struct place *p)
{
	const struct group *g = named_group(p);
	char before[NAME_MAX_BYTES];

	if (!g)
		return;
	snprintf(before, sizeof(before), "%s=", table_text(p->t, g->name));
	all_words(l, p->t, table_words(p->t) + g->word, g->n_values, before);
}

static void suggest_masks(struct list *l, const struct place *p, const char *group)
{
	for (unsigned i = 0; p->row != ROW_NONE && i < table_row(p->t, p->row)->n_takes; i++) {
		const struct group *g = pfmi_pmu_row_group(p->t, p->row, i);
		const struct word *w;
		unsigned n;

		if (group && strcmp(group, table_text(p->t, g->name)) != 0)
			continue;
		words_of(p->t, g, true, &w, &n);
		all_words(l, p->t, w, n, "");
	}
}

static void suggest_about_attr(struct list *l, const struct place *p, const pfm_error_t *error)
{
	switch (error->kind) {
	case PFM_KIND_UNKNOWN_QUALIFIER:
	case PFM_KIND_QUALIFIER_NOT_ALLOWED: suggest_qualifiers(l, p); break;
	case PFM_KIND_BAD_VALUE: suggest_values(l, p); break;
	case PFM_KIND_MISSING_VALUE: suggest_assignments(l, p); break;
	case PFM_KIND_UNEXPECTED_VALUE: {
		char word[NAME_MAX_BYTES];

		snprintf(word, sizeof(word), "%.*s", (int)p->attr.name.len, p->attr.name.s);
		offer(l, 0, 0, "", word);
		break;
	}
	default: break;
	}
}

size_t pfm_suggest_names(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error, char (*names)[96], size_t n)
{
	struct list l = { .names = names, .max = n < MOST ? (unsigned)n : MOST };
	pfm_error_t given;
	struct place p;

	if (!text || !error || !names || n == 0 || !pfmi_take(&given, sizeof(given), error))
		return 0;
	error = &given;
	if (!ctx)
		ctx = pfmi_context_get_default();
	pfmi_locate(ctx, text, error, &p);
	if (error->kind == PFM_KIND_UNKNOWN_PMU)
		suggest_pmus(&l, ctx, &p);
	else if (error->kind == PFM_KIND_UNKNOWN_EVENT && p.has_event && p.row != ROW_NONE)
		suggest_prefix(&l, &p);
	else if ((error->kind == PFM_KIND_UNKNOWN_EVENT || (error->kind == PFM_KIND_UNSUPPORTED_ALIAS && !p.has_event)) && p.parsed)
		suggest_events(&l, ctx, &p);
	else if (error->kind == PFM_KIND_MISSING_UMASK && p.has_event)
		suggest_masks(&l, &p, error->detail);
	else if (p.has_attr)
		suggest_about_attr(&l, &p, error);
	return l.n;
}
