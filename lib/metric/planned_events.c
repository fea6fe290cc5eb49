/* SPDX-License-Identifier: MIT */
/* The list of a plan's events. */
#include <stdlib.h>
#include "metric/plan.h"

struct planned_event *pfmi_plan_add_event(struct pfm_plan *p)
{
	if (p->n_events == p->capacity) {
		unsigned room = p->capacity * 2 + 16;
		struct planned_event *events = realloc(p->events, room * sizeof(*events));

		if (!events)
			return NULL;
		p->events = events;
		p->capacity = room;
	}
	p->events[p->n_events] = (struct planned_event){ .counter = -1 };
	return &p->events[p->n_events++];
}
