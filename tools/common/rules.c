/* SPDX-License-Identifier: MIT */
/* Rules of PMUs and events, as text and as JSON. */
#include "common/pfm.h"

#include <stdio.h>
#include <string.h>

char *format_rule(const pfm_rule_info_t *rule, char buf[RULE_TEXT_MAX])
{
	char counters[COUNTERS_MAX] = "";
	const char *before = "";

	if (rule->counters) {
		before = "counters ";
		format_counters(rule->counters, counters);
	}
	snprintf(buf, RULE_TEXT_MAX, "%s%s%s%s%s%s%s (%s)", before, counters, *before ? ": " : "",
	         rule->text, *rule->evidence ? "; on this machine, " : "", rule->evidence,
	         rule->depends && rule->holds && !*rule->evidence ? " [depends on the machine]"
	                                                          : "",
	         rule->source);
	return buf;
}

/* True if users of the event should read the rule though the event encodes. */
static bool is_remark(const pfm_rule_info_t *rule)
{
	static const char *const effects[] = { "note", "needs", "follow", "pair" };

	for (size_t i = 0; rule->holds && i < sizeof(effects) / sizeof(effects[0]); i++)
		if (strcmp(rule->effect, effects[i]) == 0)
			return true;
	return rule->holds && *rule->evidence;
}

static void put_rule(struct json *j, const pfm_rule_info_t *rule)
{
	put_begin(j, NULL, '{');
	put_text(j, "name", rule->name);
	put_text(j, "effect", rule->effect);
	put_text(j, "text", rule->text);
	put_text(j, "source", rule->source);
	if (rule->counters)
		put_counter_numbers(j, "counters", rule->counters);
	if (rule->holds)
		put_bool(j, "holds", true);
	put_text_if(j, "evidence", rule->evidence);
	put_end(j, '}');
}

void print_remarks(FILE *out, const pfm_ctx_t *ctx, const char *text, const char *before)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	char buf[RULE_TEXT_MAX];

	for (unsigned i = 0; !pfm_describe_rule_by_text(ctx, text, i, &rule, NULL); i++) {
		if (!is_remark(&rule))
			continue;
		fputs(before, out);
		term_wrap(out, strlen(before), strlen(before), format_rule(&rule, buf));
	}
}

/* Writes the bracket that begins the list before its first element. */
static void begin_list(struct json *j, const char *key, unsigned *n)
{
	if (!(*n)++)
		put_begin(j, key, '[');
}

void put_pmu_rules(struct json *j, const pfm_ctx_t *ctx, int pmu)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	unsigned n = 0;

	while (pfm_describe_rule(ctx, pmu, n, &rule) == PFMLIB_SUCCESS) {
		begin_list(j, "rules", &n);
		put_rule(j, &rule);
	}
	if (n)
		put_end(j, ']');
}

void put_text_rules(struct json *j, const pfm_ctx_t *ctx, const char *text, bool only_remarks)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_rule_by_text(ctx, text, i, &rule, NULL); i++) {
		if (only_remarks && !is_remark(&rule))
			continue;
		begin_list(j, "rules", &n);
		put_rule(j, &rule);
	}
	if (n)
		put_end(j, ']');
}

void put_rule_names(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	unsigned n = 0;

	while (pfm_describe_event_rule(ctx, pmu, event, n, &rule) == PFMLIB_SUCCESS) {
		begin_list(j, "rules", &n);
		put_text(j, NULL, rule.name);
	}
	if (n)
		put_end(j, ']');
}
