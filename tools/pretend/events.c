/* SPDX-License-Identifier: MIT */
#include "pretend/supervisor.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/grow.h"

/* Closed events that are kept: the oldest are forgotten. */
enum { CLOSED_MOST = 65536 };

static struct pretended_event *find_in_list(const struct event_list *list, uint64_t id)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->at[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < list->n && list->at[low]->id == id ? list->at[low] : NULL;
}

struct pretended_event *find_event(const struct supervisor *s, uint64_t id)
{
	struct pretended_event *e = find_in_list(&s->events, id);

	return e ? e : find_in_list(&s->closed, id);
}

struct pretended_event *identify_event(const struct supervisor *s, int fd, bool *is_event)
{
	uint64_t id;

	*is_event = ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0;
	return *is_event ? find_event(s, id) : NULL;
}

int copy_event_fd(struct supervisor *s, const struct pretended_event *e)
{
	int fd = copy_client_fd(s->clients, e->pid, e->fd);
	bool is_event;

	if (fd >= 0 && identify_event(s, fd, &is_event) != e) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_closed(struct supervisor *s, const struct pretended_event *e)
{
	int fd = copy_event_fd(s, e);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/* Ids grow, so an event mostly comes last. */
static bool insert_event(struct event_list *list, struct pretended_event *e)
{
	bool failed = false;
	size_t at;

	list->at = base_grow_list(list->at, list->n, &list->capacity, sizeof(e), &failed);
	if (failed)
		return false;
	for (at = list->n++; at > 0 && list->at[at - 1]->id > e->id; at--)
		list->at[at] = list->at[at - 1];
	list->at[at] = e;
	return true;
}

static void forget_oldest(struct event_list *list)
{
	size_t n = list->n / 2;

	for (size_t i = 0; i < n; i++)
		free(list->at[i]);
	list->n -= n;
	memmove(list->at, list->at + n, list->n * sizeof(*list->at));
}

void set_aside_closed_events(struct supervisor *s, uint64_t context)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->events.n; i++) {
		struct pretended_event *e = s->events.at[i];

		if (e->context != context || !is_closed(s, e))
			s->events.at[kept++] = e;
		else if (!insert_event(&s->closed, e))
			free(e);
	}
	s->events.n = kept;
	if (s->closed.n > CLOSED_MOST)
		forget_oldest(&s->closed);
}

struct pretended_event *add_event(struct supervisor *s, const struct pretended_event *e)
{
	struct pretended_event *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *e;
	if (insert_event(&s->events, copy))
		return copy;
	free(copy);
	return NULL;
}
