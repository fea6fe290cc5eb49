/* SPDX-License-Identifier: MIT */
/* A set of events on one PMU: constraints, placement, registers; and the perf attribute of one event. */
#include <string.h>
#include "pmu/pmu.h"

/* ---- what the table says of a set ------------------------------------------------------------------------------------- */

#define GENERAL 0xffffffffull

/* The first event that must be counted alone; req->n if there is none. */
static unsigned first_alone(const struct request *req)
{
	unsigned i = 0;

	while (i < req->n && !pfmi_event_flag(&req->events[i], ROW_ALONE))
		i++;
	return i;
}

/* Event @alone keeps event @other from its counters. */
static int refuse_beside(unsigned alone, unsigned other, pfm_error_t *why)
{
	pfmi_refuse(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE, NULL, (struct slice){ 0 }, NULL);
	if (why) {
		why->event = (int)alone;
		why->clash = (uint64_t)1 << other | (uint64_t)1 << alone;
	}
	return PFMLIB_ERR_NOASSIGN;
}

/* Leaves event @alone the general counters; the others keep the fixed ones. */
static int set_apart(const struct request *req, unsigned alone, struct plan *out, pfm_error_t *why)
{
	for (unsigned i = 0; i < req->n; i++) {
		uint64_t left = 0;

		if (i == alone || out->none >> i & 1)
			continue;
		for (unsigned a = 0; a < out->n_alternatives; a++)
			left |= out->alternatives[a].mask[i] &= ~GENERAL;
		if (!left)
			return refuse_beside(alone, i, why);
	}
	return PFMLIB_SUCCESS;
}

static void run_free(const struct request *req, struct plan *out)
{
	for (unsigned i = 0; i < req->n; i++) {
		if (!pfmi_event_flag(&req->events[i], ROW_FREE_RUNNING))
			continue;
		out->none |= (uint64_t)1 << i;
		for (unsigned a = 0; a < out->n_alternatives; a++)
			out->alternatives[a].mask[i] = 0;
	}
}

static int ask_encoder(const struct request *req, struct plan *out, pfm_error_t *why)
{
	out->req = req;
	out->none = 0;
	out->n_alternatives = 0;
	return pfmi_encoder_constrain(req, out, why);
}

int pfmi_constrain(const struct request *req, struct plan *out, pfm_error_t *why)
{
	int rc = ask_encoder(req, out, why);
	unsigned alone;

	if (rc)
		return rc;
	run_free(req, out);
	alone = req->n > 1 ? first_alone(req) : req->n;
	return alone < req->n ? set_apart(req, alone, out, why) : PFMLIB_SUCCESS;
}

/* Where each way to set the hardware up leaves somebody out, counters are not the reason unless there are too few. */
static int explain_refusal(const struct plan *plan, pfm_error_t *why)
{
	if (why && plan->n_alternatives > 1 && __builtin_popcountll(why->clash) <= __builtin_popcountll(why->clash_counters))
		why->detail = pfmi_encoder_alternatives(plan->req->table);
	return PFMLIB_ERR_NOASSIGN;
}

int pfmi_dispatch_plan(const struct request *req, struct plan *plan, struct placement *where, struct regs *out, pfm_error_t *why)
{
	int rc = pfmi_constrain(req, plan, why);

	out->n_pmcs = out->n_pmds = 0;
	if (rc)
		return rc;
	if (pfmi_assign(plan, where, why))
		return explain_refusal(plan, why);
	pfmi_encoder_encode(plan, where, out);
	return PFMLIB_SUCCESS;
}

int pfmi_dispatch(const struct request *req, struct placement *where, struct regs *out, pfm_error_t *why)
{
	struct plan plan;

	return pfmi_dispatch_plan(req, &plan, where, out, why);
}

/* ---- perf attributes ------------------------------------------------------------------------------- */

unsigned pfmi_default_levels(const struct table *t, unsigned plm)
{
	return plm ? plm : pfmi_usual_levels(t);
}

static void leave_out(const struct event *ev, pfm_attr_t *out)
{
	out->exclude_idle = (ev->left_out & EVENT_NO_IDLE) != 0;
	out->exclude_host = (ev->left_out & EVENT_ONLY_GUEST) != 0;
	out->exclude_guest = (ev->left_out & EVENT_ONLY_HOST) != 0;
}

/* All of the attribute of an event whose text says nothing of levels and precision, but the words that choose it. */
static void set_plain_attr(int type, unsigned levels, pfm_attr_t *out)
{
	out->type = (uint32_t)type;
	out->type_known = type >= 0;
	out->exclude_user = !(levels & PFM_PLM3);
	out->exclude_kernel = !(levels & PFM_PLM0);
	out->exclude_hv = out->precise = out->pinned = out->exclude_idle = out->exclude_host = out->exclude_guest = 0;
	memset(out->reserved, 0, sizeof(out->reserved));
}

/* The same for any event. */
void pfmi_set_attr(const struct event *ev, int type, unsigned levels, pfm_attr_t *out)
{
	set_plain_attr(type, levels, out);
	out->exclude_hv = ev->plm && !(ev->plm & PFMI_PLMH);
	out->precise = ev->precise;
	if (ev->left_out)
		leave_out(ev, out);
}

int pfmi_event_attr(const struct event *ev, int type, unsigned plm, pfm_attr_t *out, pfm_error_t *why)
{
	unsigned levels = pfmi_event_levels(ev, plm);

	*out = (pfm_attr_t){ 0 };
	pfmi_set_attr(ev, type, levels, out);
	return pfmi_encoder_attr(ev, levels, out, why);
}

/* Levels that the caller named are all that is counted. */
void pfmi_only_asked(const struct event *ev, unsigned plm, pfm_attr_t *out)
{
	if (plm && !ev->plm && !pfmi_every_level(ev->table))
		out->exclude_hv = 1;
}

int pfmi_asked_attr(const struct event *ev, int type, unsigned plm, pfm_attr_t *out, pfm_error_t *why)
{
	int rc = pfmi_event_attr(ev, type, pfmi_default_levels(ev->table, plm), out, why);

	pfmi_only_asked(ev, plm, out);
	return rc;
}

