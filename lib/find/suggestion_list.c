/* SPDX-License-Identifier: MIT */
/* Keeps the best suggestions, and measures how similar names are. */
#include <stdio.h>
#include <string.h>
#include "base/edit_distance.h"
#include "find/suggestion_list.h"
#include "table/table.h"

static void remove_suggestion(struct suggestion_list *l, unsigned at)
{
	l->n_names--;
	for (; at < l->n_names; at++) {
		memcpy(l->names[at], l->names[at + 1], SUGGESTION_SIZE);
		l->cost[at] = l->cost[at + 1];
		l->subject_id[at] = l->subject_id[at + 1];
	}
}

void pfmi_find_add_suggestion(struct suggestion_list *l, unsigned cost, uint64_t id,
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

struct folded_name pfmi_find_fold_text(struct slice s)
{
	struct folded_name f = { .length = 0 };

	for (uint32_t i = 0; i < s.len && f.length < sizeof(f.chars); i++) {
		unsigned char c = table_fold_char((unsigned char)s.text[i]);

		if (c)
			f.chars[f.length++] = c;
	}
	return f;
}

/* The largest edit distance of a suggestion. */
static unsigned get_distance_limit(unsigned len)
{
	return 1 + len / 4 < 6 ? 1 + len / 4 : 6;
}

unsigned pfmi_find_compute_name_cost(const struct folded_name *token, const char *name,
                                     bool complete)
{
	struct folded_name f = pfmi_find_fold_text(pfmi_base_make_slice(name));
	unsigned limit = get_distance_limit(token->length),
		 d = base_compute_edit_distance(token->chars, token->length, f.chars, f.length,
	                                        limit);

	if (d <= limit && d < token->length)
		return d;
	if (complete && token->length >= 3 && f.length > token->length &&
	    memcmp(f.chars, token->chars, token->length) == 0)
		return COST_COMPLETION;
	return ~0u;
}

void pfmi_find_suggest_name(struct suggestion_list *l, const struct folded_name *token, uint64_t id,
                            const char *name, bool complete)
{
	unsigned cost = pfmi_find_compute_name_cost(token, name, complete);

	if (cost != ~0u)
		pfmi_find_add_suggestion(l, cost, id, "", name);
}
