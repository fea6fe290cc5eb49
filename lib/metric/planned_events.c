/* SPDX-License-Identifier: MIT */
/* The lists of a plan: its events, and the texts that need them. */
#include "metric/plan.h"
#include "base/grow.h"

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

bool pfmi_plan_add_use(struct pfm_plan *p, unsigned request, unsigned serial)
{
	bool failed = false;

	p->uses = base_grow_list(p->uses, p->n_uses, &p->uses_capacity, sizeof(*p->uses), &failed);
	if (!failed)
		p->uses[p->n_uses++] = (struct event_use){ request, serial };
	return !failed;
}
