/* SPDX-License-Identifier: MIT */
/* Dispatch of a set of events of one PMU: constraints, placement, registers. */
#include "base/bits.h"
#include "pmu/pmu.h"

/* ---- constraints from flags of the table ----------------------------------------------------- */

#define GENERAL 0xffffffffull

/* The first event that must be counted alone; req->n_events without one. */
static unsigned find_exclusive_event(const struct encode_request *req)
{
	unsigned i = 0;

	while (i < req->n_events && !event_has_flag(&req->events[i], ROW_EXCLUSIVE))
		i++;
	return i;
}

/* Reports that event @other has no counter beside event @alone. */
static int refuse_beside_exclusive(unsigned alone, unsigned other, pfm_error_t *why)
{
	pfmi_base_set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE, (int)alone, NULL);
	pfmi_base_set_clash(why, (uint64_t)1 << other | (uint64_t)1 << alone);
	return PFMLIB_ERR_NOASSIGN;
}

/* Reserves the general counters for event @alone and those that it needs; the others keep their
 * fixed counters. */
static int restrict_beside_exclusive(const struct encode_request *req, unsigned alone,
                                     struct plan *out, pfm_error_t *why)
{
	for (unsigned i = 0; i < req->n_events; i++) {
		uint64_t left = 0;

		if (i == alone || (out->counterless_events | out->needed) >> i & 1)
			continue;
		for (unsigned a = 0; a < out->n_alternatives; a++)
			left |= out->alternatives[a].counter_masks[i] &= ~GENERAL;
		if (!left)
			return refuse_beside_exclusive(alone, i, why);
	}
	return PFMLIB_SUCCESS;
}

static void skip_free_running(const struct encode_request *req, struct plan *out)
{
	for (unsigned i = 0; i < req->n_events; i++) {
		if (!event_has_flag(&req->events[i], ROW_FREE_RUNNING))
			continue;
		out->counterless_events |= (uint64_t)1 << i;
		for (unsigned a = 0; a < out->n_alternatives; a++)
			out->alternatives[a].counter_masks[i] = 0;
	}
}

static int constrain_with_encoder(const struct encode_request *req, struct plan *out,
                                  pfm_error_t *why)
{
	out->request = req;
	out->counterless_events = 0;
	out->n_alternatives = 0;
	out->pairs = out->followers = out->needed = out->moved_events = 0;
	out->pair_rule = NULL;
	return pfmi_pmu_constrain_set(req, out, why);
}

int pfmi_pmu_plan_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	int rc = constrain_with_encoder(req, out, why);
	unsigned alone;

	if (rc)
		return rc;
	skip_free_running(req, out);
	if (req->is_described ? event_may_have_rule(&req->events[0]) : req->table->n_rules != 0)
		rc = pfmi_pmu_apply_rules(req, out, why);
	if (rc)
		return rc;
	alone = req->n_events > 1 ? find_exclusive_event(req) : req->n_events;
	return alone < req->n_events ? restrict_beside_exclusive(req, alone, out, why)
	                             : PFMLIB_SUCCESS;
}

/* Explains why a set has no placement: if the clashing events have enough counters, the
 * alternatives are the reason. */
static int explain_refusal(const struct plan *plan, pfm_error_t *why)
{
	if (why && plan->pairs & pfmi_base_get_clash(why))
		why->detail = table_get_text(plan->request->table, plan->pair_rule->text);
	else if (why && plan->n_alternatives > 1 &&
	         why->n_clash <= base_count_bits(why->clash_counters))
		why->detail = pfmi_pmu_get_encoder(plan->request->table)->alternatives;
	return PFMLIB_ERR_NOASSIGN;
}

int pfmi_pmu_dispatch_plan(const struct encode_request *req, struct plan *plan,
                           struct placement *where, struct register_values *out, pfm_error_t *why)
{
	int rc = pfmi_pmu_plan_set(req, plan, why);

	out->n_pmcs = out->n_pmds = 0;
	if (rc)
		return rc;
	if (pfmi_pmu_assign_counters(plan, where, why))
		return explain_refusal(plan, why);
	pfmi_pmu_encode_registers(plan, where, out);
	return PFMLIB_SUCCESS;
}

int pfmi_pmu_dispatch_set(const struct encode_request *req, struct placement *where,
                          struct register_values *out, pfm_error_t *why)
{
	struct plan plan;

	return pfmi_pmu_dispatch_plan(req, &plan, where, out, why);
}
