/* SPDX-License-Identifier: MIT */
/* Lists of events, split as the library splits them. */
#include "stat.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct event_list *events, const char *text, size_t len)
{
	char **more = realloc(events->texts, (events->n + 1) * sizeof(*more));
	char *copy = strndup(text, len);

	if (more)
		events->texts = more;
	if (!more || !copy) {
		free(copy);
		return false;
	}
	events->texts[events->n++] = copy;
	return true;
}

bool event_list_add(struct event_list *events, const char *list)
{
	const char *event;
	size_t len;

	while (pfm_split_events(&list, &event, &len))
		if (!add(events, event, len))
			return false;
	return true;
}

void event_list_free(struct event_list *events)
{
	while (events->n)
		free(events->texts[--events->n]);
	free(events->texts);
	events->texts = NULL;
}
