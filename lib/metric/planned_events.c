/* SPDX-License-Identifier: MIT */
/* The lists of a plan: its events, and the texts that need them. */
#include <stdio.h>
#include <string.h>
#include "base/grow.h"
#include "lookup/lookup.h"
#include "metric/plan.h"

struct planned_event *pfmi_plan_add_event(struct pfm_plan *p)
{
	bool failed = false;

	p->events = base_grow_list(p->events, p->n_events, &p->events_capacity, sizeof(*p->events),
	                           &failed);
	if (failed)
		return NULL;
	p->events[p->n_events] = (struct planned_event){ .counter = -1, .errata = "" };
	return &p->events[p->n_events++];
}

/* Notes that text @request needs event @serial. False without memory. */
static bool add_use(struct pfm_plan *p, unsigned request, unsigned serial)
{
	bool failed = false;

	p->uses = base_grow_list(p->uses, p->n_uses, &p->uses_capacity, sizeof(*p->uses), &failed);
	if (!failed)
		p->uses[p->n_uses++] = (struct event_use){ request, serial };
	return !failed;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int add_text_use(struct pfm_plan *p, unsigned request, unsigned serial, pfm_error_t *error)
{
	return add_use(p, request, serial) ? PFMLIB_SUCCESS : pfmi_base_set_no_memory_error(error);
}

/* True if another event of the plan has this text. */
static bool has_planned_text(const struct pfm_plan *p, const char *text)
{
	for (unsigned i = 0; i < p->n_events; i++)
		if (strcmp(p->events[i].text, text) == 0)
			return true;
	return false;
}

/* Replaces an event without modifiers that counts wrong by one that counts the same and is right.
 * Of a processor that is not this machine's, all errata count. */
static void avoid_erratum(struct pfm_plan *p, struct planned_event *e)
{
	const struct table *t = e->event.table;
	const struct erratum *erratum = pfmi_lookup_avoidable_erratum(p->ctx, e->pmu, &e->event);
	char text[PLANNED_TEXT_SIZE];
	struct event right;

	if (!erratum || e->event.n_user_fields || e->event.plm ||
	    (size_t)snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name),
	                     table_get_row_name(t, erratum->instead_plus1 - 1u)) >= sizeof(text) ||
	    has_planned_text(p, text) ||
	    pfmi_lookup_event_on_pmu(p->ctx, text, e->pmu, &right, NULL))
		return;
	e->event = right;
	e->errata = table_get_text(t, erratum->ids);
	memcpy(e->replaced, e->text, sizeof(text));
	memcpy(e->text, text, sizeof(text));
}

int pfmi_plan_add_event_text(struct pfm_plan *p, const char *text, unsigned request,
                             unsigned family, pfm_error_t *error)
{
	struct planned_event *e;
	int rc;

	/* Metrics share their events, and an event that replaces one is counted once. */
	for (unsigned i = 0; i < p->n_events; i++)
		if ((family || *p->events[i].replaced) &&
		    (strcmp(p->events[i].text, text) == 0 ||
		     strcmp(p->events[i].replaced, text) == 0))
			return add_text_use(p, request, p->events[i].serial, error);
	if (p->n_events == MAX_PLANNED_EVENTS)
		return pfmi_base_set_plain_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
		                                 "too many events for one plan");
	if (strlen(text) >= PLANNED_TEXT_SIZE)
		return pfmi_base_set_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, text,
		                           pfmi_base_make_slice(text),
		                           "an event's text is too long");
	e = pfmi_plan_add_event(p);
	if (!e)
		return pfmi_base_set_no_memory_error(error);
	snprintf(e->text, sizeof(e->text), "%s", text);
	e->serial = p->n_events - 1;
	e->request_index = request;
	e->metric_number = (uint16_t)family;
	rc = pfmi_lookup_event(p->ctx, text, &e->pmu, &e->event, error);
	if (!rc)
		avoid_erratum(p, e);
	p->n_events -= rc != 0;
	return rc ? rc : add_text_use(p, request, p->n_events - 1, error);
}
