/* SPDX-License-Identifier: MIT */
/* The groups of one PMU's events: events become items (plan_items.c), group_packing.c finds the
 * least number of groups, and the solver that places events for counting places each group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/planned_pmu.h"

#define PROOF_TEXT_SIZE 512

#define DEFAULT_EFFORT 1500ul

static unsigned get_privilege_levels(const struct planned_pmu *p)
{
	return p->plan->options.plm ? p->plan->options.plm
	                            : pfmi_pmu_get_encoder(p->table)->default_levels;
}

static unsigned format_counters(uint64_t counters, char *buf, size_t len)
{
	size_t at = 0;
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned c = 0; c < 64; c++) {
		if (!(counters >> c & 1))
			continue;
		if (at + 8 < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s%u", n ? "," : "",
			                       c < 32 ? "" : "F", c % 32);
		n++;
	}
	return n;
}

static void write_proof(const struct planned_pmu *p, const struct pack_problem *k, char *buf,
                        size_t len)
{
	char counters[128];
	unsigned n = 0, width;

	width = format_counters(k->proof_counters, counters, sizeof(counters));
	for (unsigned i = 0; i < p->n_items; i++)
		n += p->counter_mask[i] && !(p->counter_mask[i] & ~k->proof_counters);
	switch (k->proof) {
	case PACK_PROOF_ONE_GROUP: snprintf(buf, len, "one group holds every event"); break;
	case PACK_PROOF_COUNTERS:
		snprintf(buf, len,
		         "%u events have %u counter%s (%s) and no other%s: at least %u groups", n,
		         width, width == 1 ? "" : "s", counters, width == 1 ? "" : "s", k->bound);
		break;
	case PACK_PROOF_CALLER:
		snprintf(buf, len,
		         "%u events need different values in the same extra registers: at least %u "
		         "groups",
		         p->n_clashing, k->bound);
		break;
	case PACK_PROOF_EXCLUSIVE:
		snprintf(buf, len, "%u events must be counted alone: at least %u groups", k->bound,
		         k->bound);
		break;
	default:
		snprintf(buf, len, "every way to use fewer than %u groups was tried", k->bound);
		break;
	}
	if (!k->is_optimal)
		snprintf(buf + strlen(buf), len - strlen(buf),
		         "; the search ended within %u of that", k->n_groups - k->bound);
}

static void mark_proof_events(const struct planned_pmu *p, const struct pack_problem *k)
{
	struct planned_event *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (pfmi_plan_is_on_planned_pmu(p, &e[i]) && k->proof == PACK_PROOF_COUNTERS)
			e[i].is_in_proof = p->counter_mask[e[i].item_index] &&
			                   !(p->counter_mask[e[i].item_index] & ~k->proof_counters);
	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (pfmi_plan_is_on_planned_pmu(p, &e[i]) && k->proof == PACK_PROOF_EXCLUSIVE)
			e[i].is_in_proof = p->is_exclusive[e[i].item_index];
	for (unsigned i = 0; i < p->n_clashing && k->proof == PACK_PROOF_CALLER; i++)
		e[p->first_event[p->clashing_items[i]]].is_in_proof = true;
}

/* Sets the counters of group @g. False if the group cannot be placed. */
static bool place_group(struct planned_pmu *p, unsigned g, unsigned base)
{
	uint16_t items[MAX_PLANNED_EVENTS];
	struct placement where;
	unsigned n_items = 0, n;

	for (unsigned i = 0; i < p->n_items; i++)
		if (p->group[i] == g)
			items[n_items++] = (uint16_t)i;
	n = pfmi_plan_add_trial_items(p, items, n_items);
	if (n == 0 || n > PLAN_MAX_EVENTS || !pfmi_plan_constrain_trial_events(p, n) ||
	    pfmi_pmu_assign_counters(&p->encoder_plan, &where, NULL))
		return n == 0;
	for (unsigned i = 0; i < n; i++) {
		struct planned_event *e = &p->plan->events[p->trial_event_index[i]];

		e->group = base + g;
		e->counter = where.counters[i] == 0xff ? -1 : where.counters[i];
	}
	return true;
}

/* Distributes items that need no known counters: a group holds PACK_MAX_GROUP of them. Returns the
 * number of groups. */
static unsigned spread_counterless_items(struct planned_pmu *p, unsigned n_groups)
{
	unsigned seen = 0, most = n_groups;

	for (unsigned i = 0; i < p->n_items; i++)
		if (!p->counter_mask[i] && p->is_plain[i]) {
			p->group[i] = (uint16_t)(seen++ / PACK_MAX_GROUP);
			most = p->group[i] + 1u > most ? p->group[i] + 1u : most;
		}
	return most;
}

static int pack_pmu_items(struct planned_pmu *p, struct pack_problem *out)
{
	struct pfm_plan *plan = p->plan;
	int rc;

	*out = (struct pack_problem){
		.n_items = p->n_items,
		.counter_mask = p->counter_mask,
		.is_plain = p->is_plain,
		.is_exclusive = p->is_exclusive,
		.can_share_group = pfmi_plan_can_share_group,
		.arg = p,
		.proven_bound = p->n_clash_groups,
		.affinity = p->affinity,
		.group = p->group,
		.effort = plan->options.effort ? plan->options.effort : DEFAULT_EFFORT,
	};
	if (p->n_items <= 16 && !plan->options.effort)
		out->effort = 100 * DEFAULT_EFFORT;
	rc = pfmi_plan_pack_groups(out);
	if (rc)
		return rc;
	out->n_groups = spread_counterless_items(p, out->n_groups);
	out->bound = out->is_optimal ? out->n_groups : out->bound;
	for (unsigned g = 0; g < out->n_groups; g++)
		if (!place_group(p, g, plan->n_groups))
			return PFMLIB_ERR_NOASSIGN;
	mark_proof_events(p, out);
	return PFMLIB_SUCCESS;
}

static int append_certificate(struct pfm_plan *plan, const struct planned_pmu *p, const char *proof,
                              bool several)
{
	const char *name = table_get_text(p->table, p->table->name);
	size_t had = plan->certificate ? strlen(plan->certificate) : 0,
	       size = had + strlen(proof) + strlen(name) + 8;
	char *text = realloc(plan->certificate, size);

	if (!text)
		return PFMLIB_ERR_NOMEM;
	plan->certificate = text;
	snprintf(text + had, size - had, "%s%s%s%s", had ? "; " : "", several ? name : "",
	         several ? ": " : "", proof);
	return PFMLIB_SUCCESS;
}

/* The counter that the kernel's NMI watchdog uses: the fixed counter of cycles, or the last general
 * one. */
static uint64_t get_watchdog_counter(const struct pfm_plan *plan, const struct pmu_info *u)
{
	const struct table *t = u->table;

	if (plan->options.flags & PFM_PLAN_ALL_COUNTERS || !plan->ctx->kernel ||
	    !plan->ctx->kernel->nmi_watchdog || !(u->flags & PFM_PMU_HOST) ||
	    t->encoder != ENCODER_X86 || !t->all_counters)
		return 0;
	if (t->all_counters >> 33 & 1)
		return (uint64_t)1 << 33;
	return (uint64_t)1 << (63 - (unsigned)__builtin_clzll(t->all_counters & 0xffffffff));
}

static void init_planned_pmu(struct planned_pmu *p, struct pfm_plan *plan, const struct pmu_info *u)
{
	p->plan = plan;
	p->table = u->table;
	p->reserved_counters = (pfmlib_regmask_t){ .bits = { plan->options.taken |
		                                             get_watchdog_counter(plan, u) } };
	p->request = (struct encode_request){
		.table = u->table,
		.events = p->trial_events,
		.is_counted = true,
		.htoff = plan->options.htoff != 0,
		.facts = plan->options.flags & PFM_PLAN_ALL_COUNTERS
		                 ? 0
		                 : pfmi_context_read_limit_facts(plan->ctx, u),
		.unavailable_regs = p->reserved_counters.bits[0] ? &p->reserved_counters : NULL,
	};
	p->request.plm = get_privilege_levels(p);
}

/* Adds the groups of this PMU to the plan. */
static int merge_planned_pmu(struct planned_pmu *p, const struct pack_problem *k, bool several)
{
	struct pfm_plan *plan = p->plan;
	char proof[PROOF_TEXT_SIZE];

	write_proof(p, k, proof, sizeof(proof));
	plan->n_groups += k->n_groups;
	plan->n_rounds = k->n_groups > plan->n_rounds ? k->n_groups : plan->n_rounds;
	plan->bound += k->bound;
	plan->is_optimal = plan->is_optimal && k->is_optimal;
	return append_certificate(plan, p, proof, several);
}

/* Computes the least number of groups. */
static int pack_items(struct planned_pmu *p, struct pack_problem *k)
{
	int rc;

	pfmi_plan_compute_register_bound(p);
	rc = pack_pmu_items(p, k);
	if (rc == PFMLIB_ERR_NOASSIGN) {
		/* Plain items share a resource that no table declares: each group is checked. */
		memset(p->is_plain, 0, sizeof(p->is_plain));
		rc = pack_pmu_items(p, k);
	}
	return rc;
}

static int plan_items(struct planned_pmu *p, bool several, pfm_error_t *error)
{
	struct pack_problem k;
	int rc = pack_items(p, &k);

	if (!rc)
		rc = merge_planned_pmu(p, &k, several);
	return rc == PFMLIB_ERR_NOMEM ? pfmi_base_set_plain_error(error, rc, PFM_KIND_SYSTEM, NULL)
	       : rc == PFMLIB_ERR_NOASSIGN
	               ? pfmi_plan_refuse_event(
				 &p->plan->events[p->first_event[k.n_groups < p->n_items
	                                                                 ? k.n_groups
	                                                                 : 0]],
				 error)
	               : rc;
}

int pfmi_plan_group_pmu_events(struct pfm_plan *plan, const struct pmu_info *u, bool several,
                               pfm_error_t *error)
{
	struct planned_pmu *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return pfmi_base_set_no_memory_error(error);
	init_planned_pmu(p, plan, u);
	rc = pfmi_plan_make_items(p, error);
	if (!rc)
		rc = plan_items(p, several, error);
	free(p);
	return rc;
}
