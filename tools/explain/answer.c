/* SPDX-License-Identifier: MIT */
/* pfm explain: the answer, as text and as JSON. */
#include "explain/explain.h"
#include "common/pfm.h"

#include <stdio.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------------ */

static void print_line(const char *label, const char *text)
{
	printf("    %-9s ", label);
	term_wrap(stdout, 14, 14, text);
}

static void print_conditions(const struct explain_rule *rule, const struct explain_evidence *e)
{
	char text[EXPLAIN_TEXT_MAX];

	for (unsigned i = 0; i < rule->n; i++) {
		const struct explain_value *v = find_value(e, rule->when[i].metric);

		snprintf(text, sizeof(text), "%s is %.3g to %.3g, %s %g", v->metric, v->low,
		         v->high, rule->when[i].is_above ? "above" : "below", rule->when[i].limit);
		print_line(i ? "" : "because", text);
	}
}

static void print_site(const struct explain_site *site, bool is_first)
{
	char text[EXPLAIN_TEXT_MAX], line[180] = "", instruction[64] = "";

	if (*site->source)
		snprintf(line, sizeof(line), "; line %.120s %.0f %%", base_name(site->source),
		         100 * site->line_share);
	if (site->address)
		snprintf(instruction, sizeof(instruction), "; instruction 0x%llx %.0f %%",
		         (unsigned long long)site->address, 100 * site->address_share);
	snprintf(text, sizeof(text), "%.0f %% in %.110s of %.80s%s%s", 100 * site->share,
	         *site->function ? site->function : "[unknown]", base_name(site->object), line,
	         instruction);
	print_line(is_first ? "where" : "", text);
}

static void print_sites(const struct explain_sites *sites)
{
	char text[EXPLAIN_TEXT_MAX];

	if (!sites || !sites->n)
		return;
	for (unsigned i = 0; i < sites->n; i++)
		if (i == 0 || sites->list[i].share >= 0.05)
			print_site(&sites->list[i], i == 0);
	snprintf(text, sizeof(text), "by %llu samples of %s", (unsigned long long)sites->samples,
	         sites->event);
	print_line("", text);
}

static void print_node(const struct explain_rule *rule, const struct explain_evidence *e,
                       const char *target, bool is_last)
{
	char text[EXPLAIN_TEXT_MAX];

	printf("%s%s%s\n    ", term_colour_begin(stdout, BOLD), rule->node,
	       term_colour_end(stdout));
	term_wrap(stdout, 4, 4, fill_text(rule->say, e, target, text));
	print_conditions(rule, e);
	print_sites(find_sites_of_node(rule, is_last, e));
	print_line("look at", rule->look);
	print_line("shown by", fill_text(rule->show, e, target, text));
}

/* True if @v has no value, and a reason worth a line. */
static bool is_missing(const struct explain_value *v)
{
	return !v->is_known && *v->reason && strcmp(v->reason, BANDWIDTH_IS_MOOT) != 0;
}

/* Prints the metrics that were not measured for the reason of value @i, unless a value before it
 * has that reason, too. */
static void print_reason(const struct explain_evidence *e, size_t i)
{
	const char *why = e->values[i].reason;
	char text[2 * EXPLAIN_TEXT_MAX] = "not measured: ";
	size_t at = strlen(text);

	for (size_t k = 0; k < e->n && at < sizeof(text); k++) {
		const struct explain_value *v = &e->values[k];

		if (!is_missing(v) || strcmp(v->reason, why) != 0)
			continue;
		if (k < i)
			return;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", k > i ? ", " : "",
		                       v->metric);
	}
	term_wrap(stdout, 0, 4, text);
	printf("    ");
	term_wrap(stdout, 4, 4, why);
}

/* Prints the nodes without a parent that are not decided, and what was not measured. */
static void print_undecided(const struct explain_evidence *e)
{
	for (const struct explain_rule *r = explain_rules; r->node; r++)
		if (!*r->parent && judge_node(r, e) == NODE_UNSURE)
			printf("%s: not decided, the interval is on both sides of the limit; let "
			       "the program run longer.\n",
			       r->node);
	for (size_t i = 0; i < e->n; i++)
		if (is_missing(&e->values[i]))
			print_reason(e, i);
}

static void print_memory(const struct memory_speed *m)
{
	if (m->is_known)
		printf("memory of this machine: %.3g ns a load, %.3g GB in a second%s\n",
		       m->nanoseconds, m->bytes_a_second / 1e9,
		       m->is_measured ? ", measured now" : "");
}

/* True if the node after number @i of @n is not a part of it. */
static bool is_last_node(const struct explain_rule *const *nodes, unsigned n, unsigned i)
{
	return i + 1 == n || strcmp(nodes[i + 1]->parent, nodes[i]->node) != 0;
}

void print_nodes(const struct explain_evidence *e, const char *target)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	const unsigned n = find_nodes(explain_rules, e, nodes);

	for (unsigned i = 0; i < n; i++)
		print_node(nodes[i], e, target, is_last_node(nodes, n, i));
	if (n == 0) {
		puts("No rule holds: the measured part shows no single limit.");
		print_sites(&e->work);
	}
}

void print_explanation(const struct explain_evidence *e, const char *target)
{
	printf("%.2f seconds, %u readings%s\n\n", e->seconds, e->rounds,
	       e->is_pretended ? "; the counts are pretended" : "");
	print_nodes(e, target);
	putchar('\n');
	print_memory(&e->memory);
	print_undecided(e);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_sites(struct json *json, const struct explain_sites *sites)
{
	put_begin(json, "where", '[');
	for (unsigned i = 0; i < sites->n; i++) {
		const struct explain_site *site = &sites->list[i];

		put_begin(json, NULL, '{');
		put_text(json, "event", sites->event);
		put_count(json, "samples", sites->samples);
		put_text(json, "function", site->function);
		put_text(json, "object", site->object);
		put_real(json, "share", site->share);
		put_text_if(json, "source", site->source);
		if (*site->source)
			put_real(json, "line_share", site->line_share);
		if (site->address) {
			put_count(json, "address", site->address);
			put_real(json, "address_share", site->address_share);
		}
		put_end(json, '}');
	}
	put_end(json, ']');
}

static void put_node(struct json *json, const struct explain_rule *rule,
                     const struct explain_evidence *e, const char *target, bool is_last)
{
	const struct explain_sites *sites = find_sites_of_node(rule, is_last, e);
	char text[EXPLAIN_TEXT_MAX];

	put_begin(json, NULL, '{');
	put_text(json, "node", rule->node);
	put_text_if(json, "parent", rule->parent);
	put_text(json, "claim", fill_text(rule->say, e, target, text));
	put_text(json, "look", rule->look);
	put_text(json, "command", fill_text(rule->show, e, target, text));
	if (sites && sites->n)
		put_sites(json, sites);
	put_end(json, '}');
}

void put_nodes(struct json *json, const struct explain_evidence *e, const char *target)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	const unsigned n = find_nodes(explain_rules, e, nodes);

	put_begin(json, "nodes", '[');
	for (unsigned i = 0; i < n; i++)
		put_node(json, nodes[i], e, target, is_last_node(nodes, n, i));
	put_end(json, ']');
}

void put_values(struct json *json, const struct explain_evidence *e)
{
	put_begin(json, "evidence", '[');
	for (size_t i = 0; i < e->n; i++) {
		const struct explain_value *v = &e->values[i];

		put_begin(json, NULL, '{');
		put_text(json, "metric", v->metric);
		if (v->is_known) {
			put_real(json, "value", v->value);
			put_real(json, "low", v->low);
			put_real(json, "high", v->high);
		}
		put_text_if(json, "reason", v->reason);
		put_end(json, '}');
	}
	put_end(json, ']');
}

static void put_memory(struct json *json, const struct memory_speed *m)
{
	if (!m->is_known)
		return;
	put_begin(json, "memory", '{');
	put_real(json, "nanoseconds", m->nanoseconds);
	put_real(json, "bytes_a_second", m->bytes_a_second);
	put_bool(json, "measured", m->is_measured);
	put_end(json, '}');
}

void put_explanation(const struct explain_evidence *e, const char *target)
{
	struct json json = { .out = stdout };

	put_begin(&json, NULL, '{');
	put_text(&json, "target", target);
	put_real(&json, "seconds", e->seconds);
	put_count(&json, "readings", e->rounds);
	if (e->is_pretended)
		put_bool(&json, "pretended", true);
	put_memory(&json, &e->memory);
	put_nodes(&json, e, target);
	put_values(&json, e);
	put_end(&json, '}');
	put_line(&json);
}
