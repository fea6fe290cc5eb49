/* SPDX-License-Identifier: MIT */
/* Lists of events, split as the library splits them; a pattern of tracepoints becomes those that match it. */
#include "pfm.h"
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

struct adding {
	struct event_list *events;
	const char *rest; /* of the text, behind the pattern */
	bool failed;
};

static bool add_tracepoint(void *arg, const char *name)
{
	struct adding *a = arg;
	char text[2 * TRACEPOINT_MAX + LABEL_MAX];
	int len = snprintf(text, sizeof(text), "%s%s", name, a->rest);

	a->failed = (size_t)len >= sizeof(text) || !add(a->events, text, (size_t)len);
	return !a->failed;
}

/* Puts the tracepoints that the last text matches in its place, as it stands where it is no pattern or matches none. */
static bool expand_last(struct event_list *events)
{
	char *text = events->texts[--events->n];
	unsigned first = events->n;
	struct adding a = { .events = events };
	bool found;

	/* What is added takes the place of @text, which is put back if nothing is. */
	found = match_tracepoints(text, &a.rest, add_tracepoint, &a) > 0;
	if (!found && !a.failed && events->n == first) {
		events->n++;
		return true;
	}
	free(text);
	return !a.failed;
}

bool event_list_add(struct event_list *events, const char *list)
{
	const char *event;
	size_t len;

	while (pfm_split_events(&list, &event, &len))
		if (!add(events, event, len) || !expand_last(events))
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
