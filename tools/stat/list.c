/* SPDX-License-Identifier: MIT */
/* Lists of events, split as the library does; a pattern of tracepoints is replaced by the matching
 * ones. */
#include "common/pfm.h"
#include "stat/stat.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

static bool add_event(struct event_list *events, const char *text, size_t len)
{
	char *copy = strndup(text, len);
	bool failed = !copy;

	events->texts = base_grow_list(events->texts, events->n, &events->capacity,
	                               sizeof(*events->texts), &failed);
	if (failed) {
		free(copy);
		return false;
	}
	events->texts[events->n++] = copy;
	return true;
}

struct list_addition {
	struct event_list *events;
	const char *rest; /* of the text, after the pattern */
	bool failed;
};

static bool add_tracepoint(void *arg, const char *name)
{
	struct list_addition *a = arg;
	char text[2 * TRACEPOINT_MAX + LABEL_MAX];
	int len = snprintf(text, sizeof(text), "%s%s", name, a->rest);

	a->failed = (size_t)len >= sizeof(text) || !add_event(a->events, text, (size_t)len);
	return !a->failed;
}

/* Replaces the last text by the tracepoints that it matches, if it is a pattern and matches
 * some. */
static bool expand_last_pattern(struct event_list *events)
{
	char *text = events->texts[--events->n];
	unsigned first = events->n;
	struct list_addition a = { .events = events };
	bool found;

	/* Restores @text if no tracepoint matches. */
	found = match_tracepoints(text, &a.rest, add_tracepoint, &a) > 0;
	if (!found && !a.failed && events->n == first) {
		events->n++;
		return true;
	}
	free(text);
	return !a.failed;
}

/* Joins @members between a brace and @rest, which begins with the other brace. */
static char *join_texts(const struct event_list *members, const char *rest)
{
	size_t len = strlen(rest) + 2, at = 0;
	char *group;

	for (unsigned i = 0; i < members->n; i++)
		len += strlen(members->texts[i]) + 1;
	group = malloc(len);
	for (unsigned i = 0; group && i < members->n; i++)
		at += (size_t)sprintf(group + at, "%c%s", i ? ',' : '{', members->texts[i]);
	if (group)
		strcpy(group + at, rest);
	return group;
}

/* Replaces patterns among the members of the last text, a group, by what they match. */
static bool expand_group(struct event_list *events)
{
	char *text = events->texts[events->n - 1], *rest = strrchr(text, '}'), *group = NULL;
	const char *inside = text + 1, *event;
	struct event_list members = { .n = 0 };
	bool is_added = true;
	size_t len;

	if (!rest || !strpbrk(text, "*?["))
		return true;
	*rest = 0;
	while (is_added && pfm_split_events(&inside, &event, &len))
		is_added = add_event(&members, event, len) && expand_last_pattern(&members);
	*rest = '}';
	if (is_added)
		group = join_texts(&members, rest);
	event_list_free(&members);
	if (!group)
		return false;
	free(text);
	events->texts[events->n - 1] = group;
	return true;
}

bool event_list_add(struct event_list *events, const char *list)
{
	const char *event;
	size_t len;

	while (pfm_split_events(&list, &event, &len))
		if (!add_event(events, event, len) ||
		    !(*event == '{' ? expand_group(events) : expand_last_pattern(events)))
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

bool add_refused_name(struct stat_request *request, const char *text, const pfm_error_t *error,
                      bool is_metric)
{
	struct refused_name *more = realloc(request->refused,
	                                    (request->n_refused + 1) * sizeof(*more)),
			    *r;
	const char *kind = pfm_error_kind_name(error->kind);

	if (!more)
		return false;
	request->refused = more;
	r = &more[request->n_refused++];
	*r = (struct refused_name){ .text = strdup(text), .is_metric = is_metric };
	snprintf(r->cause, sizeof(r->cause), "%s", *kind ? kind : "refused");
	/* Words of causes have blanks between. */
	for (char *at = r->cause; *at; at++)
		if (*at == '_')
			*at = ' ';
	return r->text;
}
