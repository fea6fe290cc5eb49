/* SPDX-License-Identifier: MIT */
/* Splits lists of events into texts for pfm_open_session(). */
#ifndef PFM_EVENT_LIST_H
#define PFM_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Texts for pfm_open_session(), each an event or a group in braces. */
struct event_list {
	char **texts;
	unsigned n;
	size_t capacity;
};

/* Adds the events of @list, which a comma separates unless it is inside slashes or braces, or
 * before a qualifier of the event before it (KEY=VALUE, or one of the words edge, inv, os, usr).
 * False without memory. */
bool event_list_add(struct event_list *events, const char *list);
void event_list_free(struct event_list *events);

#endif
