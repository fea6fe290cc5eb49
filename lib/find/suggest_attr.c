/* SPDX-License-Identifier: MIT */
/* Suggestions for an attribute that was refused: unit masks, modifiers, fields and their values. */
#include <stdio.h>
#include <string.h>
#include "find/suggest_attr.h"

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
	pfmi_find_suggest_name(l, token, 0, table_get_text(p->table, g->name), false);
	if (p->attr.separator == ',')
		snprintf(before, sizeof(before), "%s=", table_get_text(p->table, g->name));
	for (unsigned i = 0; i < g->n_named_values; i++) {
		unsigned cost = pfmi_find_compute_name_cost(
			token, table_get_text(p->table, w[i].name), false);

		/* A word of another grammar leads to this grammar's word of that value. */
		for (unsigned k = 0; cost != ~0u && k < n; k++)
			if (first[k].value == w[i].value)
				pfmi_find_add_suggestion(l, cost, 0, before,
				                         table_get_text(p->table, first[k].name));
	}
}

static void suggest_qualifiers(struct suggestion_list *l, const struct error_location *p)
{
	const struct field *f = table_fields(p->table);
	struct folded_name token = pfmi_find_fold_text(p->has_attr ? p->attr.name : p->token);

	if (!token.length)
		return;
	if (p->row != ROW_NONE && !format_is_perf_form(p))
		for (unsigned i = 0; i < table_get_row(p->table, p->row)->n_groups; i++)
			suggest_group(l, p, pfmi_pmu_get_row_group(p->table, p->row, i), &token);
	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (f[i].kind != FIELD_TEXT &&
		    (f[i].is_modifier || (format_is_perf_form(p) && f[i].n_ranges)))
			pfmi_find_suggest_name(l, &token, 0,
			                       format_is_perf_form(p) && f[i].key == KEY_CODE
			                               ? "event"
			                               : table_get_text(p->table, f[i].name),
			                       false);
	if (p->attr.separator == ',' && !format_is_perf_form(p)) {
		pfmi_find_suggest_name(l, &token, 0, "usr", false);
		pfmi_find_suggest_name(l, &token, 0, "os", false);
	}
}

static void suggest_all_words(struct suggestion_list *l, const struct table *t,
                              const struct named_value *w, unsigned n, const char *before)
{
	for (unsigned i = 0; i < n; i++)
		pfmi_find_add_suggestion(l, COST_COMPLETION, 0, before,
		                         table_get_text(t, w[i].name));
}

/* "core=both": suggests words of the group or field close to the value; if no word is close, all of
 * them where there are few. */
static void suggest_values(struct suggestion_list *l, const struct error_location *p)
{
	const struct umask_group *g = pfmi_format_find_named_group(p);
	const struct field *f = table_fields(p->table);
	struct folded_name token = pfmi_find_fold_text(p->attr.value);
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
		pfmi_find_suggest_name(l, &token, 0, table_get_text(p->table, w[i].name), false);
	if (l->n_names == 0 && n <= 4)
		suggest_all_words(l, p->table, w, n, "");
}

static void suggest_assignments(struct suggestion_list *l, const struct error_location *p)
{
	const struct umask_group *g = pfmi_format_find_named_group(p);
	char before[SUGGESTION_SIZE];

	if (!g)
		return;
	snprintf(before, sizeof(before), "%s=", table_get_text(p->table, g->name));
	suggest_all_words(l, p->table, table_named_values(p->table) + g->first_named_value,
	                  g->n_values, before);
}

void pfmi_find_suggest_umasks(struct suggestion_list *l, const struct error_location *p,
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

void pfmi_find_suggest_for_attr(struct suggestion_list *l, const struct error_location *p,
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
		pfmi_find_add_suggestion(l, 0, 0, "", word);
		break;
	}
	default: break;
	}
}
