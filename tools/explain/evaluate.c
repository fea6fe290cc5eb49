/* SPDX-License-Identifier: MIT */
/* Decides which rules hold, from values with intervals alone. */
#include "explain/explain.h"

#include <stdio.h>
#include <string.h>

static void add_metric(struct explain_evidence *e, const char *metric)
{
	if (!find_value(e, metric) && e->n < EXPLAIN_METRICS_MAX)
		e->values[e->n++].metric = metric;
}

void list_metrics(const struct explain_rule *rules, struct explain_evidence *e)
{
	for (; rules->node; rules++)
		for (unsigned i = 0; i < rules->n; i++)
			add_metric(e, rules->when[i].metric);
	if (find_value(e, BANDWIDTH_METRIC)) {
		add_metric(e, LINES_METRIC);
		add_metric(e, CPUS_METRIC);
	}
}

const struct explain_value *find_value(const struct explain_evidence *e, const char *metric)
{
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->values[i].metric, metric) == 0)
			return &e->values[i];
	return NULL;
}

static enum node_state judge_condition(const struct explain_condition *c,
                                       const struct explain_evidence *e)
{
	const struct explain_value *v = find_value(e, c->metric);

	if (!v || !v->is_known)
		return NODE_UNKNOWN;
	if (c->is_above ? v->low > c->limit : v->high < c->limit)
		return NODE_HOLDS;
	if (c->is_above ? v->high <= c->limit : v->low >= c->limit)
		return NODE_FAILS;
	return NODE_UNSURE;
}

enum node_state judge_node(const struct explain_rule *rule, const struct explain_evidence *e)
{
	enum node_state worst = NODE_HOLDS;

	for (unsigned i = 0; i < rule->n; i++) {
		enum node_state s = judge_condition(&rule->when[i], e);

		if (s == NODE_FAILS)
			return NODE_FAILS;
		if (s > worst)
			worst = s;
	}
	return worst;
}

static bool is_named(const struct explain_rule *rule, const char *name)
{
	return strcmp(rule->node, name) == 0;
}

/* True if @rule is about time without a CPU. */
static bool is_off_cpu_node(const struct explain_rule *rule)
{
	return is_named(rule, "no-cpu") || is_named(rule, "waiting") || is_named(rule, "locks") ||
	       is_named(rule, "off-cpu");
}

/* The node without a parent that holds and whose first metric is greatest; NULL for none. */
static const struct explain_rule *find_core_node(const struct explain_rule *rules,
                                                 const struct explain_evidence *e)
{
	const struct explain_rule *best = NULL;
	double most = 0;

	for (; rules->node; rules++) {
		double share;

		if (*rules->parent || is_off_cpu_node(rules) || judge_node(rules, e) != NODE_HOLDS)
			continue;
		share = find_value(e, rules->when[0].metric)->value;
		if (share > most) {
			most = share;
			best = rules;
		}
	}
	return best;
}

/* The first part of @node that holds; NULL for none. */
static const struct explain_rule *find_part(const struct explain_rule *rules,
                                            const struct explain_rule *node,
                                            const struct explain_evidence *e)
{
	for (; node && rules->node; rules++)
		if (strcmp(rules->parent, node->node) == 0 && judge_node(rules, e) == NODE_HOLDS)
			return rules;
	return NULL;
}

/* Adds a node and its first part. Returns the number of nodes. */
static unsigned add_node(const struct explain_rule *rules, const struct explain_rule *node,
                         const struct explain_evidence *e,
                         const struct explain_rule *out[EXPLAIN_NODES_MAX], unsigned n)
{
	const struct explain_rule *part = find_part(rules, node, e);

	if (node)
		out[n++] = node;
	if (part)
		out[n++] = part;
	return n;
}

/* True if the core is not explained after @rule: the program waits, or may wait. */
static bool is_waiting_node(const struct explain_rule *rule, const struct explain_evidence *e)
{
	const struct explain_value *queue = find_value(e, "run_queue");

	if (is_named(rule, "off-cpu"))
		return !queue || !queue->is_known;
	return !is_named(rule, "no-cpu");
}

unsigned find_nodes(const struct explain_rule *rules, const struct explain_evidence *e,
                    const struct explain_rule *out[EXPLAIN_NODES_MAX])
{
	bool is_waiting = false;
	unsigned n = 0;

	for (const struct explain_rule *r = rules; r->node && n + 4 <= EXPLAIN_NODES_MAX; r++) {
		if (!is_off_cpu_node(r) || judge_node(r, e) != NODE_HOLDS ||
		    (n && is_named(r, "off-cpu")))
			continue;
		is_waiting |= is_waiting_node(r, e);
		n = add_node(rules, r, e, out, n);
	}
	return is_waiting ? n : add_node(rules, find_core_node(rules, e), e, out, n);
}

static const struct explain_rule *find_rule(const struct explain_rule *rules, const char *node)
{
	while (rules->node && strcmp(rules->node, node) != 0)
		rules++;
	return rules->node ? rules : NULL;
}

static bool has_condition_on(const struct explain_rule *rule, const char *metric)
{
	for (unsigned i = 0; i < rule->n; i++)
		if (strcmp(rule->when[i].metric, metric) == 0)
			return true;
	return false;
}

bool needs_metric(const struct explain_rule *rules, const struct explain_evidence *e,
                  const char *metric)
{
	for (const struct explain_rule *r = rules; r->node; r++) {
		const struct explain_rule *parent = find_rule(rules, r->parent);

		if (has_condition_on(r, metric) && judge_node(r, e) != NODE_FAILS &&
		    (!parent || judge_node(parent, e) == NODE_HOLDS))
			return true;
	}
	return false;
}

const struct explain_sites *find_sites_of_node(const struct explain_rule *rule, bool is_last,
                                               const struct explain_evidence *e)
{
	const struct explain_rule top = { .node = *rule->parent ? rule->parent : rule->node };

	if (!is_last)
		return NULL;
	if (is_named(&top, "waiting") || is_named(&top, "locks"))
		return &e->waits;
	return !is_off_cpu_node(&top) && e->events.n ? &e->events : &e->work;
}

/* Appends the word in braces at @text. Returns its length with the braces, 0 for another text. */
static size_t append_word(const char *text, const struct explain_evidence *e, const char *target,
                          char *out, size_t size)
{
	const struct explain_value *v;
	size_t len = strcspn(text, "}");
	char name[64];

	if (text[len] != '}' || len - 1 >= sizeof(name))
		return 0;
	memcpy(name, text + 1, len - 1);
	name[len - 1] = 0;
	v = find_value(e, name);
	if (strcmp(name, "target") == 0)
		snprintf(out, size, "%s", target);
	else if (v)
		snprintf(out, size, "%.3g", v->value);
	else
		return 0;
	return len + 1;
}

char *fill_text(const char *text, const struct explain_evidence *e, const char *target,
                char buf[EXPLAIN_TEXT_MAX])
{
	size_t at = 0;

	while (*text && at + 1 < EXPLAIN_TEXT_MAX) {
		size_t word = 0;

		if (*text == '{')
			word = append_word(text, e, target, buf + at, EXPLAIN_TEXT_MAX - at);
		if (word) {
			at += strlen(buf + at);
			text += word;
		} else {
			buf[at++] = *text++;
		}
	}
	buf[at] = 0;
	return buf;
}
