/* SPDX-License-Identifier: MIT */
/* The rules of a PMU and of its events, for users. */
#include "format/format.h"
#include "base/sizes.h"

/* Arrays, since pointers would need relocations. */
static const char effect_names[N_RULE_EFFECTS][8] = {
	[RULE_COUNTERS] = "on",   [RULE_REFUSE] = "refuse", [RULE_PAIR] = "pair",
	[RULE_FOLLOW] = "follow", [RULE_SHARE] = "share",   [RULE_LIMIT] = "limit",
	[RULE_NEEDS] = "needs",   [RULE_NOTE] = "note",     [RULE_CLASS] = "class",
	[RULE_PLACE] = "place",   [RULE_MOVE] = "move",
};

static bool has_counters(const struct rule *r)
{
	return r->effect == RULE_COUNTERS || r->effect == RULE_PLACE;
}

static void describe_rule(const struct table *t, const struct rule *r, pfm_rule_info_t *out)
{
	*out = (pfm_rule_info_t){ .size = sizeof(*out),
		                  .name = table_get_text(t, r->name),
		                  .effect = effect_names[r->effect],
		                  .text = table_get_text(t, r->text),
		                  .source = table_get_text(t, r->source),
		                  .counters = has_counters(r) ? r->value : 0 };
}

/* Adds whether the rule holds for the event, or for the PMU if @ev is NULL. Facts are those of the
 * machine of @sys; if it is NULL, all can be true. */
static void add_rule_state(const struct sys *sys, const struct table *t, const struct rule *r,
                           const struct event *ev, pfm_rule_info_t *out)
{
	const unsigned tested = pfmi_pmu_list_rule_facts(t, r),
		       facts = sys ? pfmi_machine_read_facts(sys, tested, out->evidence,
	                                                     sizeof(out->evidence))
	                           : tested;

	out->depends = tested != 0;
	out->holds = ev ? pfmi_pmu_holds_rule(ev, r, facts) : !tested || facts;
	if (!out->holds)
		out->evidence[0] = 0;
}

/* The files that show facts of this machine, if it has the PMU; else NULL. */
static const struct sys *get_fact_source(const struct pfm_ctx *ctx, int pmu)
{
	perfmon_pmu_info_t info = { .size = sizeof(info) };

	return pfm_describe_pmu(ctx, pmu, &info) == PFMLIB_SUCCESS && info.flags & PFM_PMU_HOST
	               ? &ctx->sys
	               : NULL;
}

int pfm_describe_rule(const pfm_ctx_t *ctx, int pmu, unsigned i, pfm_rule_info_t *rule)
{
	const struct table *t;
	pfm_rule_info_t full;

	ctx = context_get_or_default(ctx);
	t = context_get_usable_table(ctx, pmu);
	if (!t || !base_has_struct_size(rule))
		return PFMLIB_ERR_INVAL;
	for (unsigned k = 0; k < t->n_rules; k++) {
		const struct rule *r = &table_rules(t)[k];

		if (r->effect == RULE_CLASS || i-- > 0)
			continue;
		describe_rule(t, r, &full);
		add_rule_state(get_fact_source(ctx, pmu), t, r, NULL, &full);
		base_copy_struct_out(rule, &full, sizeof(full));
		return PFMLIB_SUCCESS;
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* Describes rule @i that can hold for the event. */
static int describe_event_rule(const struct sys *sys, const struct event *ev, unsigned i,
                               pfm_rule_info_t *rule)
{
	const struct rule *r;
	pfm_rule_info_t full;
	unsigned at = 0;

	while ((r = pfmi_pmu_find_event_rule(ev, &at)) && i-- > 0)
		;
	if (!r)
		return PFMLIB_ERR_NOTFOUND;
	describe_rule(ev->table, r, &full);
	add_rule_state(sys, ev->table, r, ev, &full);
	base_copy_struct_out(rule, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_describe_event_rule(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                            pfm_rule_info_t *rule)
{
	const struct table *t;
	struct event ev;

	ctx = context_get_or_default(ctx);
	t = context_get_usable_table(ctx, pmu);
	if (!t || !table_has_row(t, event) || !base_has_struct_size(rule))
		return PFMLIB_ERR_INVAL;
	if (!t->n_rules || table_get_row(t, event)->flags & ROW_METRIC)
		return PFMLIB_ERR_NOTFOUND;
	pfmi_pmu_init_event(&ev, t, event);
	return describe_event_rule(get_fact_source(ctx, pmu), &ev, i, rule);
}

static int describe_rule_by_text(const struct pfm_ctx *ctx, const char *text, unsigned i,
                                 pfm_rule_info_t *rule, pfm_error_t *why)
{
	struct event ev;
	unsigned pmu;
	int rc;

	if (!text || !base_has_struct_size(rule))
		return pfmi_base_refuse_argument(why,
		                                 "text or rule is NULL, or rule->size is not set");
	rc = pfmi_lookup_event(ctx, text, &pmu, &ev, why);
	if (rc)
		return rc;
	return ev.table->n_rules ? describe_event_rule(get_fact_source(ctx, (int)pmu), &ev, i, rule)
	                         : PFMLIB_ERR_NOTFOUND;
}

int pfm_describe_rule_by_text(const pfm_ctx_t *ctx, const char *text, unsigned i,
                              pfm_rule_info_t *rule, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);

	return base_return_error(
		error, why, describe_rule_by_text(context_get_or_default(ctx), text, i, rule, why));
}
