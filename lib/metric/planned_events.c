/* SPDX-License-Identifier: MIT */
/* The lists of a plan: its events, and the texts that need them. */
#include <stdlib.h>
#include "metric/plan.h"

struct planned_event *pfmi_plan_add_event(struct pfm_plan *p)
{
	if (p->n_events == p->capacity) {
		unsigned size = p->capacity * 2 + 16;
		struct planned_event *events = realloc(p->events, size * sizeof(*events));

		if (!events)
			return NULL;
		p->events = events;
		p->capacity = size;
	}
	p->events[p->n_events] = (struct planned_event){ .counter = -1 };
	return &p->events[p->n_events++];
}

bool pfmi_plan_add_use(struct pfm_plan *p, unsigned request, unsigned serial)
{
	if (p->n_uses == p->uses_capacity) {
		unsigned size = p->uses_capacity * 2 + 16;
		struct event_use *uses = realloc(p->uses, size * sizeof(*uses));

		if (!uses)
			return false;
		p->uses = uses;
		p->uses_capacity = size;
	}
	p->uses[p->n_uses++] = (struct event_use){ request, serial };
	return true;
}
