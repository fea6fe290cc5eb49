/* SPDX-License-Identifier: MIT */
/* The rows of pfm top: functions, the heaviest first, or the callers of one of them as a tree. */
#include "top.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "pfm.h"
#include "report_view.h"

enum { LINE_SIZE = 1024, TASK_COLUMNS_MAX = 16, OBJECT_COLUMNS_MAX = 24 };

/* Columns of the names of the rows that are shown. */
struct name_widths {
	int task, object;
};

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

static uint64_t weight_of(const struct profile_place *at)
{
	return is_sorted_by_children ? at->children_weight : at->weight;
}

static int compare_places(const void *a, const void *b)
{
	const struct profile_place *x = &sorted->places[*(const uint32_t *)a],
				   *y = &sorted->places[*(const uint32_t *)b];

	if (weight_of(x) != weight_of(y))
		return weight_of(x) > weight_of(y) ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- a line ---------------------------------------------------------------------------------- */

/* A line that is being written. */
struct line_text {
	char text[LINE_SIZE];
	size_t n;
};

static void add_format(struct line_text *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_format(struct line_text *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->n, sizeof(l->text) - l->n, format, args);
	va_end(args);
	l->n += n > 0 ? (size_t)n : 0;
	l->n = l->n < sizeof(l->text) ? l->n : sizeof(l->text) - 1;
}

/* Adds a name in @width columns. Controls, which would move the cursor, become question marks. */
static void add_column(struct line_text *l, const char *name, int width)
{
	size_t begin = l->n;

	add_format(l, "%-*s", width, name);
	for (; begin < l->n; begin++)
		if ((unsigned char)l->text[begin] < ' ' || l->text[begin] == 0x7f)
			l->text[begin] = '?';
	add_format(l, " ");
}

static void add_share(struct line_text *l, uint64_t weight, const struct profile_sum *sum)
{
	double share = sum->weight ? (double)weight / (double)sum->weight : 0;

	add_format(l, "%6.2f%% +-%5.2f  ", 100 * share, 100 * standard_error(share, sum->samples));
}

static int widen(int width, const char *name, int max)
{
	int len = (int)strnlen(name, (size_t)max);

	return len > width ? len : width;
}

static void widen_for_place(struct name_widths *w, const struct profile *p,
                            const struct profile_place *at)
{
	w->task = widen(w->task, p->texts.text[at->task], TASK_COLUMNS_MAX);
	w->object = widen(w->object, base_name(p->texts.text[at->object]), OBJECT_COLUMNS_MAX);
}

static void add_names(struct line_text *l, const struct profile *p, const struct profile_place *at,
                      unsigned keys, const struct name_widths *w, unsigned depth)
{
	if (keys & KEY_TASK)
		add_column(l, p->texts.text[at->task], w->task);
	if (keys & KEY_OBJECT)
		add_column(l, base_name(p->texts.text[at->object]), w->object);
	add_format(l, "%*s", 2 * (int)(depth < 100 ? depth : 100), "");
	if (keys & KEY_SYMBOL)
		add_column(l, p->texts.text[at->function], 0);
	while (l->n && l->text[l->n - 1] == ' ')
		l->text[--l->n] = '\0';
}

static void add_mark(struct line_text *l, const struct top_view *view, size_t row)
{
	if (view->has_cursor)
		add_format(l, "%s", row == view->chosen ? "> " : "  ");
}

static void put_rest(struct text_lines *lines, size_t left_out)
{
	struct line_text l = { .n = 0 };

	if (!left_out)
		return;
	add_format(&l, "%zu more", left_out);
	add_line(lines, l.text);
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

static uint32_t put_table(const struct profile *p, unsigned keys, struct top_view *view,
                          size_t limit, struct text_lines *lines)
{
	size_t n;
	uint32_t *order = sort_places(p, view, &n), chosen;
	struct name_widths widths = { 0 };

	if (!order) {
		lines->failed = true;
		return UINT32_MAX;
	}
	if (view->chosen >= n)
		view->chosen = n ? n - 1 : 0;
	if (limit && view->chosen >= limit)
		view->chosen = limit - 1;
	for (size_t i = 0; i < n && i < limit; i++)
		widen_for_place(&widths, p, &p->places[order[i]]);
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct profile_place *at = &p->places[order[i]];
		struct line_text l = { .n = 0 };

		add_mark(&l, view, i);
		if (view->has_children)
			add_share(&l, at->children_weight, sum_of_place(p, at));
		add_share(&l, at->weight, sum_of_place(p, at));
		add_names(&l, p, at, keys, &widths, 0);
		add_line(lines, l.text);
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
static uint32_t *find_tree(const struct profile *p, uint32_t root, size_t *n)
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
	struct name_widths widths;
};

static void put_node(const struct shown_tree *t, uint32_t node, unsigned depth,
                     struct text_lines *lines)
{
	const struct profile *p = t->profile;
	const struct profile_place *at = &p->places[p->nodes[node].place];
	struct line_text l = { .n = 0 };

	add_share(&l, p->nodes[node].weight, sum_of_place(p, at));
	add_names(&l, p, at, t->keys, &t->widths, depth);
	add_line(lines, l.text);
}

/* Adds the children of @parent among the shown nodes, each followed by its own. */
static void put_children(const struct shown_tree *t, uint32_t parent, unsigned depth,
                         struct text_lines *lines)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->profile->nodes[t->order[i]].parent != parent)
			continue;
		put_node(t, t->order[i], depth, lines);
		put_children(t, t->order[i], depth + 1, lines);
	}
}

static void put_callers(const struct profile *p, unsigned keys, const struct top_view *view,
                        size_t limit, struct text_lines *lines)
{
	size_t n;
	uint32_t *order = find_tree(p, view->zoomed, &n);
	struct shown_tree t = { p, keys, order, n < limit ? n : limit, { 0 } };

	if (!order) {
		lines->failed = true;
		return;
	}
	for (size_t i = 0; i < t.n; i++)
		widen_for_place(&t.widths, p, &p->places[p->nodes[order[i]].place]);
	put_children(&t, NO_NODE, 0, lines);
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
