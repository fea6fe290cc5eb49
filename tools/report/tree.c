/* SPDX-License-Identifier: MIT */
/* Call trees: the heaviest nodes, each below its caller (or, in a tree of callees, below the
 * function that it calls). A node weighs at most what its parent weighs, so the heaviest nodes of a
 * tree are a tree. */
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "report/view.h"

/* The nodes that are shown, linked. */
struct tree_links {
	uint32_t *order;        /* nodes, those of an event in a row */
	uint32_t *first, *next; /* children of a node, and its next sibling; NO_NODE: none */
	uint32_t root;          /* the first root of the event that is printed */
};

/* The profile whose nodes compare_nodes() compares: qsort() passes no argument on. The nodes are of
 * one event. */
static const struct profile *sorted;

static unsigned get_node_event(const struct profile *p, uint32_t node)
{
	return p->places[p->nodes[node].place].event;
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct profile_node *m = &sorted->nodes[x], *n = &sorted->nodes[y];

	if (m->weight != n->weight)
		return m->weight > n->weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Moves the first node of a heap of @n nodes to its place: no node is heavier than those below. */
static void sift_down(uint32_t *heap, size_t n)
{
	for (size_t at = 0, child = 1; child < n; child = 2 * at + 1) {
		uint32_t moved = heap[at];

		if (child + 1 < n && compare_nodes(&heap[child], &heap[child + 1]) < 0)
			child++;
		if (compare_nodes(&moved, &heap[child]) > 0)
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* Puts the @n_wanted heaviest of @n nodes first, in order; the others are lost. To sort all of them
 * takes a tenth of the time of a report of five million nodes. */
static void sort_heaviest(uint32_t *order, size_t n, size_t n_wanted)
{
	if (n_wanted < n) {
		/* A heap whose first node is the lightest: a list from the lightest on is one. */
		qsort(order, n_wanted, sizeof(*order), compare_nodes);
		for (size_t i = 0; i < n_wanted / 2; i++) {
			uint32_t lighter = order[n_wanted - 1 - i];

			order[n_wanted - 1 - i] = order[i];
			order[i] = lighter;
		}
		for (size_t i = n_wanted; i < n; i++)
			if (compare_nodes(&order[i], &order[0]) < 0) {
				order[0] = order[i];
				sift_down(order, n_wanted);
			}
		n = n_wanted;
	}
	qsort(order, n, sizeof(*order), compare_nodes);
}

/* Fills @order with the nodes, those of an event in a row. False without memory. */
static bool order_by_event(uint32_t *order, const struct profile *p)
{
	size_t *next = calloc(p->n_events + 1, sizeof(*next));

	if (!next)
		return false;
	for (uint32_t i = 0; i < p->n_nodes; i++)
		next[get_node_event(p, i) + 1]++;
	for (unsigned i = 0; i < p->n_events; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < p->n_nodes; i++)
		order[next[get_node_event(p, i)]++] = i;
	free(next);
	return true;
}

static void free_links(struct tree_links *t)
{
	free(t->order);
	free(t->first);
	free(t->next);
}

static bool create_links(struct tree_links *t, const struct profile *p)
{
	*t = (struct tree_links){ .order = calloc(p->n_nodes + 1, sizeof(*t->order)),
		                  .first = malloc((p->n_nodes + 1) * sizeof(*t->first)),
		                  .next = malloc((p->n_nodes + 1) * sizeof(*t->next)) };
	if (!t->order || !t->first || !t->next)
		return false;
	for (uint32_t i = 0; i < p->n_nodes; i++)
		t->first[i] = t->next[i] = NO_NODE;
	sorted = p;
	return order_by_event(t->order, p);
}

/* Links @n nodes from @order on; the lightest are linked first, so that lists begin with the
 * heaviest. */
static void link_nodes(struct tree_links *t, const struct profile *p, const uint32_t *order,
                       size_t n)
{
	t->root = NO_NODE;
	while (n-- > 0) {
		uint32_t node = order[n], parent = p->nodes[node].parent;
		uint32_t *list = parent == NO_NODE ? &t->root : &t->first[parent];

		t->next[node] = *list;
		*list = node;
	}
}

/* Samples whose innermost function is that of @n. */
static void get_self(const struct report_job *job, const struct profile_node *n, uint64_t *samples,
                     uint64_t *weight)
{
	bool is_root_of_callers = job->options.tree == CALLEE_TREE && n->parent == NO_NODE;
	bool has_self = job->options.tree == CALLER_TREE;

	*samples = is_root_of_callers ? n->samples : has_self ? n->end_samples : 0;
	*weight = is_root_of_callers ? n->weight : has_self ? n->end_weight : 0;
}

/* Is called for each node of a tree; @arg is of the caller. */
typedef void visit_node_fn(const struct report_job *job, uint32_t node, unsigned depth, void *arg);

static void measure_node(const struct report_job *job, uint32_t node, unsigned depth, void *arg)
{
	const struct profile *p = &job->profile;

	measure_keys(arg, p, &p->places[p->nodes[node].place], report_keys(&job->options), depth);
}

static void put_node(const struct report_job *job, uint32_t node, unsigned depth, void *arg)
{
	const struct profile *p = &job->profile;
	const struct profile_node *n = &p->nodes[node];
	const struct profile_place *at = &p->places[n->place];
	const struct profile_sum *sum = get_place_sum(p, at);

	put_share(stdout, (double)n->weight / (double)sum->weight, sum);
	if (job->has_two_shares) {
		fputs("  ", stdout);
		put_share(stdout, (double)n->end_weight / (double)sum->weight, sum);
	}
	put_metric_cells(job, n->counts);
	put_key_columns(stdout, p, at, report_keys(&job->options), arg, depth);
}

static void put_node_json(const struct report_job *job, uint32_t node, unsigned depth, void *arg)
{
	const struct profile *p = &job->profile;
	const struct profile_node *n = &p->nodes[node];
	const struct profile_place *at = &p->places[n->place];
	const struct profile_sum *sum = get_place_sum(p, at);
	uint64_t self_samples, self_weight;
	struct json j = { .out = stdout };

	(void)arg;
	get_self(job, n, &self_samples, &self_weight);
	put_begin(&j, NULL, '{');
	put_key_members(&j, p, at, report_keys(&job->options));
	put_int(&j, "node", node);
	if (n->parent == NO_NODE)
		put_null(&j, "parent");
	else
		put_int(&j, "parent", n->parent);
	put_int(&j, "depth", depth);
	put_share_members(&j, "", self_samples, self_weight, sum);
	put_share_members(&j, "children_", n->samples, n->weight, sum);
	put_metric_members(&j, job, n->counts);
	put_end(&j, '}');
	put_line(&j);
}

/* Visits the linked nodes, each before its children. */
static void visit_nodes(const struct report_job *job, const struct tree_links *t,
                        visit_node_fn *visit, void *arg)
{
	const struct profile *p = &job->profile;
	unsigned depth = 0;

	for (uint32_t node = t->root; node != NO_NODE;) {
		visit(job, node, depth, arg);
		if (t->first[node] != NO_NODE) {
			node = t->first[node];
			depth++;
			continue;
		}
		while (node != NO_NODE && t->next[node] == NO_NODE) {
			node = p->nodes[node].parent;
			depth -= depth > 0;
		}
		node = node == NO_NODE ? NO_NODE : t->next[node];
	}
}

static void put_tree_titles(const struct report_job *job)
{
	if (job->has_two_shares)
		printf("%15s  %15s", "children", "self");
	else if (job->n_columns)
		printf("%15s", job->options.tree == CALLER_TREE ? "children" : "samples");
	put_metric_titles(job);
	if (job->has_two_shares || job->n_columns)
		putchar('\n');
}

static struct key_layout lay_out_tree(const struct report_job *job, const struct tree_links *t)
{
	struct key_layout layout = { 0 };

	if (!job->terminal_columns)
		return plain_key_layout;
	visit_nodes(job, t, measure_node, &layout);
	fit_keys(&layout, report_keys(&job->options),
	         measure_room_after(job, measure_share_columns(job) + measure_metric_cells(job)));
	return layout;
}

/* Prints the tree of one event: its @n nodes begin with node @i. */
static void put_tree(const struct report_job *job, struct tree_links *t, size_t i, size_t n)
{
	const struct profile *p = &job->profile;
	size_t shown = job->line_limit && n > job->line_limit ? (size_t)job->line_limit : n;
	struct key_layout layout;

	sort_heaviest(t->order + i, n, shown < n ? shown + 1 : n);
	link_nodes(t, p, t->order + i, shown);
	if (job->json) {
		visit_nodes(job, t, put_node_json, NULL);
		return;
	}
	put_group_title(p, get_node_event(p, t->order[i]), 0);
	put_tree_titles(job);
	layout = lay_out_tree(job, t);
	visit_nodes(job, t, put_node, &layout);
	if (n > shown)
		printf("%zu more node%s with at most %.2f%% each; -n 0 shows all\n", n - shown,
		       n - shown > 1 ? "s" : "",
		       100 * (double)p->nodes[t->order[i + shown]].weight /
		               (double)get_place_sum(p, &p->places[p->nodes[t->order[i]].place])
		                       ->weight);
	putchar('\n');
}

int put_trees(const struct report_job *job)
{
	const struct profile *p = &job->profile;
	struct tree_links t;
	size_t n;

	if (!create_links(&t, p)) {
		free_links(&t);
		return report_no_memory();
	}
	for (size_t i = 0; i < p->n_nodes; i += n) {
		unsigned event = get_node_event(p, t.order[i]);

		for (n = 1; i + n < p->n_nodes && get_node_event(p, t.order[i + n]) == event; n++)
			;
		if (p->samples[event])
			put_tree(job, &t, i, n);
	}
	free_links(&t);
	return EXIT_DONE;
}
