/* SPDX-License-Identifier: MIT */
/* The rows of pfm top: functions, the heaviest first, or the callers of one of them as a tree. */
#include "top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "common/pfm.h"
#include "report/view.h"

enum { MARK_COLUMNS = 2 }; /* of the cursor */

/* qsort() passes no argument on. */
static const struct profile *sorted;
static bool is_sorted_by_children;

void text_lines_free(struct text_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->line[i]);
	free(lines->line);
	*lines = (struct text_lines){ .line = NULL };
}

static void add_line(struct text_lines *lines, const char *text)
{
	lines->line = base_grow_list(lines->line, lines->n, &lines->capacity, sizeof(*lines->line),
	                             &lines->failed);
	if (lines->failed)
		return;
	lines->line[lines->n] = strdup(text);
	lines->failed |= !lines->line[lines->n];
	lines->n += lines->line[lines->n] != NULL;
}

static uint64_t get_weight(const struct profile_place *at)
{
	return is_sorted_by_children ? at->children_weight : at->weight;
}

static int compare_places(const void *a, const void *b)
{
	const struct profile_place *x = &sorted->places[*(const uint32_t *)a],
				   *y = &sorted->places[*(const uint32_t *)b];

	if (get_weight(x) != get_weight(y))
		return get_weight(x) > get_weight(y) ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- a line ---------------------------------------------------------------------------------- */

/* A row that is written: shares, then names. */
struct row_text {
	FILE *out;
	char *text;
	size_t size;
};

static bool begin_row(struct row_text *r, struct text_lines *lines)
{
	*r = (struct row_text){ 0 };
	r->out = open_memstream(&r->text, &r->size);
	lines->failed |= !r->out;
	return r->out;
}

static void put_weight(struct row_text *r, uint64_t weight, const struct profile_sum *sum)
{
	put_share(r->out, sum->weight ? (double)weight / (double)sum->weight : 0, sum);
}

static void end_row(struct row_text *r, struct text_lines *lines)
{
	bool is_written = fclose(r->out) == 0 && r->text;

	if (is_written) {
		r->text[strcspn(r->text, "\n")] = '\0';
		add_line(lines, r->text);
	}
	lines->failed |= !is_written;
	free(r->text);
}

/* Fits the measured columns into the lines; in a pipe names are as long as they are. */
static void fit_columns(struct key_layout *l, unsigned keys, const struct top_view *view,
                        size_t used)
{
	if (view->columns) {
		fit_keys(l, keys, view->columns > used ? view->columns - used : 0);
		return;
	}
	l->step = plain_key_layout.step;
	l->task = l->task < plain_key_layout.task ? l->task : plain_key_layout.task;
	l->object = l->object < plain_key_layout.object ? l->object : plain_key_layout.object;
}

static void put_rest(struct text_lines *lines, size_t left_out)
{
	char text[32];

	if (!left_out)
		return;
	snprintf(text, sizeof(text), "%zu more", left_out);
	add_line(lines, text);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The places of the event, sorted; to be freed. NULL without memory. */
static uint32_t *sort_places(const struct profile *p, const struct top_view *view, size_t *n)
{
	uint32_t *order = malloc((p->n_places + 1) * sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; order && i < p->n_places; i++)
		if (p->places[i].event == view->event &&
		    (p->places[i].weight || view->is_by_children))
			order[(*n)++] = i;
	sorted = p;
	is_sorted_by_children = view->is_by_children;
	if (*n)
		qsort(order, *n, sizeof(*order), compare_places);
	return order;
}

/* Columns of a row before its names. */
static size_t count_share_columns(const struct top_view *view)
{
	size_t n = SHARE_COLUMNS;

	n += view->has_cursor ? MARK_COLUMNS : 0;
	n += view->has_children ? SHARE_COLUMNS + 2 : 0;
	return n;
}

static uint32_t put_table(const struct profile *p, unsigned keys, struct top_view *view,
                          size_t limit, struct text_lines *lines)
{
	size_t n;
	uint32_t *order = sort_places(p, view, &n), chosen;
	struct key_layout layout = { 0 };

	if (!order) {
		lines->failed = true;
		return UINT32_MAX;
	}
	if (view->chosen >= n)
		view->chosen = n ? n - 1 : 0;
	if (limit && view->chosen >= limit)
		view->chosen = limit - 1;
	for (size_t i = 0; i < n && i < limit; i++)
		measure_keys(&layout, p, &p->places[order[i]], keys, 0);
	fit_columns(&layout, keys, view, count_share_columns(view));
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct profile_place *at = &p->places[order[i]];
		struct row_text r;

		if (!begin_row(&r, lines))
			break;
		if (view->has_cursor)
			fputs(i == view->chosen ? "> " : "  ", r.out);
		if (view->has_children) {
			put_weight(&r, at->children_weight, get_place_sum(p, at));
			fputs("  ", r.out);
		}
		put_weight(&r, at->weight, get_place_sum(p, at));
		put_key_columns(r.out, p, at, keys, &layout, 0);
		end_row(&r, lines);
	}
	put_rest(lines, n > limit ? n - limit : 0);
	chosen = n ? order[view->chosen] : UINT32_MAX;
	free(order);
	return chosen;
}

/* ---- callers --------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (sorted->nodes[x].weight != sorted->nodes[y].weight)
		return sorted->nodes[x].weight > sorted->nodes[y].weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The nodes of the tree whose root is place @root, the heaviest first; to be freed. NULL without
 * memory. A parent is before its children in the profile, and at least as heavy. */
static uint32_t *list_tree(const struct profile *p, uint32_t root, size_t *n)
{
	uint32_t *order = malloc((p->n_nodes + 1) * sizeof(*order));
	bool *is_inside = calloc(p->n_nodes + 1, sizeof(*is_inside));

	*n = 0;
	for (uint32_t i = 0; order && is_inside && i < p->n_nodes; i++) {
		const struct profile_node *node = &p->nodes[i];

		is_inside[i] =
			node->parent == NO_NODE ? node->place == root : is_inside[node->parent];
		if (is_inside[i])
			order[(*n)++] = i;
	}
	if (!is_inside) {
		free(order);
		order = NULL;
	}
	free(is_inside);
	sorted = p;
	if (order && *n)
		qsort(order, *n, sizeof(*order), compare_nodes);
	return order;
}

/* A tree of callers that is shown: its heaviest nodes. */
struct shown_tree {
	const struct profile *profile;
	unsigned keys;
	const uint32_t *order;
	size_t n;
	struct key_layout layout;
};

static const struct profile_place *get_node_place(const struct shown_tree *t, uint32_t node)
{
	return &t->profile->places[t->profile->nodes[node].place];
}

static void put_node(struct shown_tree *t, uint32_t node, unsigned depth, struct text_lines *lines)
{
	const struct profile_place *at = get_node_place(t, node);
	struct row_text r;

	if (!begin_row(&r, lines))
		return;
	put_weight(&r, t->profile->nodes[node].weight, get_place_sum(t->profile, at));
	put_key_columns(r.out, t->profile, at, t->keys, &t->layout, depth);
	end_row(&r, lines);
}

/* Visits the children of @parent among the shown nodes, each followed by its own. Without @lines,
 * measures them. */
static void visit_children(struct shown_tree *t, uint32_t parent, unsigned depth,
                           struct text_lines *lines)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->profile->nodes[t->order[i]].parent != parent)
			continue;
		if (lines)
			put_node(t, t->order[i], depth, lines);
		else
			measure_keys(&t->layout, t->profile, get_node_place(t, t->order[i]),
			             t->keys, depth);
		visit_children(t, t->order[i], depth + 1, lines);
	}
}

static void put_callers(const struct profile *p, unsigned keys, const struct top_view *view,
                        size_t limit, struct text_lines *lines)
{
	size_t n;
	uint32_t *order = list_tree(p, view->zoomed, &n);
	struct shown_tree t = { p, keys, order, n < limit ? n : limit, { 0 } };

	if (!order) {
		lines->failed = true;
		return;
	}
	visit_children(&t, NO_NODE, 0, NULL);
	fit_columns(&t.layout, keys, view, SHARE_COLUMNS);
	visit_children(&t, NO_NODE, 0, lines);
	put_rest(lines, n > limit ? n - limit : 0);
	free(order);
}

uint32_t put_top_rows(const struct profile *p, unsigned keys, struct top_view *view, size_t limit,
                      struct text_lines *lines)
{
	if (!view->is_zoomed)
		return put_table(p, keys, view, limit, lines);
	put_callers(p, keys, view, limit, lines);
	return view->zoomed;
}
