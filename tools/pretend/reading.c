/* SPDX-License-Identifier: MIT */
/* read(2) of events: values and times of the kernel's events become those of the pretended ones. */
#include "pretend/supervisor.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

/* A group has at most 1,024 members here; the kernel's limit of a read is 16 KiB. */
enum { MAX_WORDS = 2048 };
#define WRAP_BITS 48

/* Where the words of a reading are. */
struct reading {
	uint64_t words[MAX_WORDS];
	uint64_t format;
	unsigned n_words, n_values, first_value, stride; /* of a value and what belongs to it */
	int enabled, running;                            /* indices; -1: not read */
};

static unsigned has(const struct reading *r, uint64_t bit)
{
	return (r->format & bit) != 0;
}

static void compute_places(struct reading *r)
{
	unsigned is_group = has(r, PERF_FORMAT_GROUP);
	unsigned times =
		has(r, PERF_FORMAT_TOTAL_TIME_ENABLED) + has(r, PERF_FORMAT_TOTAL_TIME_RUNNING);

	r->enabled = has(r, PERF_FORMAT_TOTAL_TIME_ENABLED) ? 1 : -1;
	r->running = has(r, PERF_FORMAT_TOTAL_TIME_RUNNING) ? (int)times : -1;
	r->first_value = is_group ? 1 + times : 0;
	r->stride = 1 + has(r, PERF_FORMAT_ID) + has(r, PERF_FORMAT_LOST);
	r->n_values = is_group ? (unsigned)r->words[0] : 1;
	if (r->first_value + r->n_values * r->stride > r->n_words && is_group)
		r->n_values = 0;
}

/* Reads @fd, an event of format @format, into @r. Returns what read(2) does, or -errno. */
static long take_reading(int fd, uint64_t format, size_t size, struct reading *r)
{
	long n = read(fd, r->words, size < sizeof(r->words) ? size : sizeof(r->words));

	r->format = format;
	r->n_words = n > 0 ? (unsigned)((size_t)n / sizeof(uint64_t)) : 0;
	r->n_values = 0;
	if (n > 0)
		compute_places(r);
	return n < 0 ? -errno : n;
}

/* The event that value @k of @r is, which is a reading of @e. Members are in the order in which
 * they were opened. */
static struct pretended_event *find_member(struct supervisor *s, const struct reading *r,
                                           struct pretended_event *e, unsigned k)
{
	if (!has(r, PERF_FORMAT_GROUP))
		return e;
	if (has(r, PERF_FORMAT_ID))
		return find_event(s, r->words[r->first_value + k * r->stride + 1]);
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i]->leader == e->leader && k-- == 0)
			return s->events.at[i];
	return NULL;
}

/* Members that were closed have left the kernel's group. */
static void forget_closed_members(struct supervisor *s, const struct reading *r,
                                  const struct pretended_event *e)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->events.n; i++)
		n += s->events.at[i]->leader == e->leader;
	if (n != r->n_values)
		set_aside_closed_events(s, e->context);
}

static uint64_t get_value(const struct pretended_event *e)
{
	uint64_t value = !(e->value > 0)   ? 0
	                 : e->value < 1e19 ? (uint64_t)(e->value + 0.5)
	                                   : UINT64_MAX;

	return e->fault == FAULT_WRAP ? value & (((uint64_t)1 << WRAP_BITS) - 1) : value;
}

/* Settles the events of @r and replaces their values. */
static void translate_reading(struct supervisor *s, struct pretended_event *e, struct reading *r)
{
	const uint64_t running = r->running >= 0 ? r->words[r->running] : 1;

	if (has(r, PERF_FORMAT_GROUP) && !has(r, PERF_FORMAT_ID))
		forget_closed_members(s, r, e);
	for (unsigned k = 0; k < r->n_values; k++) {
		struct pretended_event *member = find_member(s, r, e, k);
		uint64_t *value = &r->words[r->first_value + k * r->stride];

		if (!member)
			continue;
		settle_event(s, member, *value, running);
		*value = get_value(member);
	}
	if (r->running >= 0)
		r->words[r->running] = e->running;
	/* The times of an event whose CPU is off line do not change. */
	if (e->fault == FAULT_GONE && r->enabled >= 0 && r->words[r->enabled] > e->end)
		r->words[r->enabled] = e->end;
	if (e->fault == FAULT_GONE && r->running >= 0 && e->running > e->end)
		r->words[r->running] = e->end;
}

/* A pinned event without a counter is in error: it reads as the end of a file. */
static bool is_in_error(const struct pretended_event *e)
{
	return e->is_pinned && e->is_enabled && e->share <= 0;
}

/* Reads @fd, event @e, for the client. */
static void answer_reading(struct supervisor *s, const struct call *call, int fd,
                           struct pretended_event *e)
{
	struct reading r;
	long n = is_in_error(e)
	                 ? 0
	                 : take_reading(fd, e->read_format, (size_t)call->notif->data.args[2], &r);

	if (n > 0) {
		translate_reading(s, e, &r);
		if (!write_client_memory((int)call->notif->pid, call->notif->data.args[1], r.words,
		                         (size_t)n))
			n = -EFAULT;
	}
	answer(call, n);
}

void read_event(struct supervisor *s, const struct call *call)
{
	int fd = copy_client_fd(s->clients, (int)call->notif->pid, (int)call->notif->data.args[0]);
	bool is_event = false;
	struct pretended_event *e = fd >= 0 ? identify_event(s, fd, &is_event) : NULL;

	if (e)
		answer_reading(s, call, fd, e);
	else if (is_event || (fd < 0 && fd != -EBADF))
		answer(call, -EIO);
	else
		pass_call(call);
	if (fd >= 0)
		close(fd);
}

static void settle_own_event(struct supervisor *s, struct pretended_event *e)
{
	int fd = copy_event_fd(s, e);
	struct reading r;

	if (fd < 0)
		return;
	if (take_reading(fd, e->read_format, sizeof(r.words), &r) > 0)
		translate_reading(s, e, &r);
	close(fd);
}

void settle_context(struct supervisor *s, uint64_t context)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i]->context == context)
			settle_own_event(s, s->events.at[i]);
}
