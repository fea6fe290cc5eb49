/* SPDX-License-Identifier: MIT */
/* pfm list: which events match. */
#include "list/list.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void fold_case(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		if (*text != ' ' && *text != '-' && *text != '_')
			out[n++] = (char)(*text == ':' ? '.' : tolower((unsigned char)*text));
	out[n] = 0;
}

bool contains_text(const struct lister *l, const char *text)
{
	const char *pattern = l->pattern;
	char small[FOLDED_MAX], *folded = small;
	size_t size = sizeof(small);
	bool found;

	if (l->is_expression)
		return regexec(&l->expression, text, 0, NULL, 0) == 0;
	/* Fold long descriptions in allocated memory. */
	if (strnlen(text, size) == size) {
		size = strlen(text) + 1;
		folded = malloc(size);
	}
	if (!folded)
		return false;
	fold_case(text, folded, size);
	found = strpbrk(pattern, "*?[") ? fnmatch(pattern, folded, 0) == 0
	                                : strstr(folded, pattern) != NULL;
	if (folded != small)
		free(folded);
	return found;
}

/* True if the pattern matches a group of metric @e. */
static bool is_in_group(const struct lister *l, const perfmon_event_info_t *e)
{
	pfm_metric_info_t m = PFM_INIT(m);

	return !pfm_describe_metric(l->ctx, e->pmu, e->event, &m) && contains_text(l, m.groups);
}

bool is_named_event(const struct lister *l, const perfmon_event_info_t *e)
{
	return l->has_named_event && e->pmu == l->named_pmu && e->event == l->named_event;
}

bool is_whole_name(const struct lister *l, const char *name)
{
	char folded[FOLDED_MAX];

	fold_case(name, folded, sizeof(folded));
	return strcmp(l->pattern, folded) == 0;
}

unsigned compute_rank(const struct lister *l, const perfmon_event_info_t *e)
{
	bool by_words = l->words.is_known || strchr(l->question, ' ');
	unsigned cost;

	if (is_named_event(l, e) || is_whole_name(l, e->name))
		return RANK_NAME;
	if (contains_text(l, e->name))
		return RANK_PART;
	cost = by_words ? pfmi_find_compute_word_cost(&l->words, e->name, e->desc) : WORD_NO_MATCH;
	if (cost != WORD_NO_MATCH)
		return RANK_WORDS + cost;
	return contains_text(l, e->desc) ? RANK_TEXT : RANK_NONE;
}

/* True if @e is of the requested kind. Metrics whose names answer -d are listed, too. */
static bool is_wanted_kind(const struct lister *l, const perfmon_event_info_t *e)
{
	bool metric = e->flags & PFM_EVENT_METRIC;

	return metric == l->metrics ||
	       (metric && (l->all_pmus || (l->is_ranked && compute_rank(l, e) < RANK_TEXT)));
}

bool matches_pattern(const struct lister *l, const perfmon_event_info_t *e)
{
	if (!is_wanted_kind(l, e))
		return false;
	if (l->counters && !(e->counters & l->counters))
		return false;
	if (!l->all_pmus && (e->flags & (PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED)))
		return false;
	return !l->pattern || contains_text(l, e->name) || is_named_event(l, e) ||
	       (l->is_ranked && compute_rank(l, e) != RANK_NONE) ||
	       (l->descriptions && contains_text(l, e->desc)) || (l->metrics && is_in_group(l, e));
}

int compare_found(const void *a, const void *b)
{
	const struct found_event *x = a, *y = b;
	int order = x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
	                               : strcmp(x->topic, y->topic);

	return order ? order : (x->event > y->event) - (x->event < y->event);
}
