/* SPDX-License-Identifier: MIT */
/* Reads the events that are open, a group at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "session/perf_event_internal.h"

int pfmi_perf_record_errno(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EACCES || err == -EPERM ? PFMLIB_ERR_PERM
	       : err == -ENOMEM                ? PFMLIB_ERR_NOMEM
	                                       : PFMLIB_ERR_SYS;
}

#define MAX_INCOMPLETE_TRIES 100 /* together they take a twentieth of a second */

/* True if a group must be read again: Linux 6.7 and later refuse to read it while a task that
 * inherits it starts or ends, and has only some of its members. */
static bool is_incomplete_group(long n, unsigned tries)
{
	const struct timespec moment = { .tv_nsec = 10000L * (long)(tries + 1) };

	return n == -ECHILD && tries < MAX_INCOMPLETE_TRIES &&
	       (nanosleep(&moment, NULL) == 0 || errno == EINTR);
}

/* Reads again, after a reading that returned @n. */
static long retry_read(const struct sys *sys, int fd, void *to, size_t size, long n)
{
	for (unsigned tries = 0; n == -EINTR || is_incomplete_group(n, tries); tries++)
		n = sys->read(sys, fd, to, size);
	/* The kernel returns end of file for a pinned event that has lost its counter. */
	return n <= 0 || n == (long)size ? n : -EIO;
}

/* Reads @words words from @fd to index @at of the readings. */
static inline long read_into_readings(struct pfm_session *s, int fd, size_t at, size_t words)
{
	const struct perf_state *st = s->live.backend_state;
	size_t size = words * sizeof(*st->readings);
	long n = s->sys.read(&s->sys, fd, st->readings + at, size);

	return n == (long)size ? n : retry_read(&s->sys, fd, st->readings + at, size, n);
}

/* words of the reading of one event: value, enabled, running; the lost samples follow if the kernel
 * reports them */
#define SINGLE_READING_WORDS 3

/* The index of a group's reading, and its length in words. */
static size_t get_group_reading_index(const struct kernel_event *lead)
{
	return lead->times_index - 1;
}

static size_t get_group_reading_words(const struct kernel_event *lead)
{
	return GROUP_HEADER_WORDS + 1 + lead->n_members;
}

/* True if the readings of counts [@i, @i + @n), all of which are open, are adjacent for each task
 * and CPU. */
static bool has_adjacent_readings(const struct pfm_session *s, unsigned i, unsigned n)
{
	const struct perf_state *st = s->live.backend_state;
	const struct session_count *c = &s->counts[i];
	const struct kernel_event *leads = &st->events[c->kernel_state.first_event];
	unsigned n_parts = c->kernel_state.n_events;

	for (unsigned m = 0; m < n; m++, c++) {
		const struct kernel_event *p = &st->events[c->kernel_state.first_event];

		if (c->config.is_level || c->kernel_state.n_events != n_parts)
			return false;
		for (unsigned k = 0; k < n_parts; k++)
			if (p[k].fd < 0 || perf_get_counts_per_reading(&leads[k]) != n ||
			    p[k].value_index != leads[k].value_index + m)
				return false;
	}
	return true;
}

static bool is_uniform_session(const struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0, n; i < s->n_counts; i += n) {
		if (st->n_time_references || !s->counts[i].kernel_state.n_events)
			return false;
		n = perf_get_counts_per_reading(&st->events[s->counts[i].kernel_state.first_event]);
		if (n > s->n_counts - i || !has_adjacent_readings(s, i, n))
			return false;
	}
	return true;
}

#define TIME_REFERENCE_WORDS     3 /* the first words of the readings are for a time reference */
#define MAX_SINGLE_READING_WORDS 4 /* at most, for each event that is read separately */

/* True if the event is read itself; values of members come with their leader's. */
static bool is_read_directly(const struct kernel_event *p)
{
	return p->fd >= 0 && !(p->reads_group && p->leader >= 0);
}

/* Counts the events that are read in *@n. Returns the number of words of their readings. */
static size_t count_reading_words(const struct perf_state *st, unsigned *n)
{
	size_t words = TIME_REFERENCE_WORDS;

	*n = 0;
	for (unsigned i = 0; i < st->n_events; i++)
		if (is_read_directly(&st->events[i])) {
			++*n;
			words += st->events[i].reads_group ? get_group_reading_words(&st->events[i])
			                                   : MAX_SINGLE_READING_WORDS;
		}
	return words;
}

int pfmi_perf_assign_readings(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	unsigned n_read;
	size_t words = count_reading_words(st, &n_read);
	uint32_t at = TIME_REFERENCE_WORDS;

	free(st->readings);
	st->readings =
		calloc(1, 2 * words * sizeof(*st->readings) + s->n_counts * sizeof(*st->scales) +
	                          n_read * sizeof(*st->read_events));
	st->n_read_events = 0;
	if (!st->readings)
		return -ENOMEM;
	st->reset_readings = st->readings + words;
	st->scales = (void *)(st->reset_readings + words);
	st->read_events = (void *)(st->scales + s->n_counts);
	for (unsigned i = 0; i < s->n_counts; i++)
		st->scales[i] = s->counts[i].config.scale;
	for (unsigned i = 0; i < st->n_events; i++) {
		struct kernel_event *lead = &st->events[i];

		if (!is_read_directly(lead))
			continue;
		st->read_events[st->n_read_events++] = i;
		lead->value_index = lead->reads_group ? at + GROUP_HEADER_WORDS : at;
		lead->times_index = at + 1;
		at += lead->reads_group ? (uint32_t)get_group_reading_words(lead)
		                        : MAX_SINGLE_READING_WORDS;
		for (int k = lead->next_member, n = 1; lead->reads_group && k >= 0;
		     k = st->events[k].next_member, n++) {
			st->events[k].value_index = lead->value_index + (uint32_t)n;
			st->events[k].times_index = lead->times_index;
		}
	}
	st->is_uniform = is_uniform_session(s);
	return 0;
}

#define MAX_GROUP_WORDS (GROUP_HEADER_WORDS + 3 * (MAX_GROUP_MEMBERS + 1))

/* Reads a leader whose reading lists all members with their ids, its own first. */
static int read_leader_with_ids(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t words[MAX_GROUP_WORDS], *to = st->readings + p->value_index;
	long n = s->sys.read(&s->sys, p->fd, words, sizeof(words));

	for (unsigned tries = 0; n == -EINTR || is_incomplete_group(n, tries); tries++)
		n = s->sys.read(&s->sys, p->fd, words, sizeof(words));
	if (n <= 0) {
		st->readings[p->times_index] = n ? 0 : LOST_COUNTER_TIME;
		return (int)n;
	}
	if (n < (long)((GROUP_HEADER_WORDS + 2 + p->reads_lost_samples) * sizeof(*words)))
		return -EIO;
	to[0] = words[GROUP_HEADER_WORDS];
	to[1] = words[1];
	to[2] = words[2];
	p->lost_samples = p->reads_lost_samples ? words[GROUP_HEADER_WORDS + 2] : 0;
	return 0;
}

static int read_single_event(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->live.backend_state;
	long n;

	if (p->reads_member_ids)
		return read_leader_with_ids(s, p);
	n = read_into_readings(s, p->fd, p->value_index,
	                       p->reads_lost_samples ? SINGLE_READING_WORDS + 1
	                                             : SINGLE_READING_WORDS);

	if (n < 0)
		return (int)n;
	p->lost_samples = n && p->reads_lost_samples
	                          ? st->readings[p->value_index + SINGLE_READING_WORDS]
	                          : 0;
	if (n == 0)
		st->readings[p->times_index] = LOST_COUNTER_TIME;
	return 0;
}

/* Reads the members of a former group separately. The kernel dissolves the groups of a CPU that is
 * switched off; the leader's reading then lists the leader alone. */
static int read_former_members(struct pfm_session *s, const struct kernel_event *lead)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t words[GROUP_HEADER_WORDS + 1];

	if (s->sys.read(&s->sys, lead->fd, words, sizeof(words)) != (long)sizeof(words) ||
	    words[0] != 1)
		return -EIO;
	memcpy(st->readings + lead->times_index, words + 1, 2 * sizeof(*words));
	st->readings[lead->value_index] = words[GROUP_HEADER_WORDS];
	for (int k = lead->next_member; k >= 0; k = st->events[k].next_member) {
		if (s->sys.read(&s->sys, st->events[k].fd, words,
		                SINGLE_READING_WORDS * sizeof(*words)) !=
		    SINGLE_READING_WORDS * (long)sizeof(*words))
			return -EIO;
		st->readings[st->events[k].value_index] = words[0];
	}
	return 0;
}

static int read_group_event(struct pfm_session *s, const struct kernel_event *lead)
{
	const struct perf_state *st = s->live.backend_state;
	long n = read_into_readings(s, lead->fd, get_group_reading_index(lead),
	                            get_group_reading_words(lead));

	if (n == -EIO)
		return read_former_members(s, lead);
	if (n < 0)
		return (int)n;
	if (n == 0)
		st->readings[lead->times_index] = LOST_COUNTER_TIME;
	else if (st->readings[get_group_reading_index(lead)] != 1u + lead->n_members)
		return -EIO;
	return 0;
}

int pfmi_perf_read_all_events(struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0; i < st->n_read_events; i++) {
		struct kernel_event *p = &st->events[st->read_events[i]];
		int rc = p->reads_group ? read_group_event(s, p) : read_single_event(s, p);

		if (rc)
			return rc;
	}
	return 0;
}

/* Reads the times of the time references since the last reset. @base: this is a reset. */
static int read_time_references(struct pfm_session *s, bool base)
{
	struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0; i < st->n_time_references; i++) {
		struct time_reference *w = &st->time_references[i];
		long n;

		if (!w->is_needed || w->fd < 0)
			continue;
		n = read_into_readings(s, w->fd, 0, TIME_REFERENCE_WORDS);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		if (base)
			memcpy(w->reset_times, st->readings + 1, sizeof(w->reset_times));
		w->time_on_cpu = st->readings[2] - w->reset_times[1];
		w->time_elsewhere = st->readings[1] - w->reset_times[0] - w->time_on_cpu;
	}
	return 0;
}

bool pfmi_perf_has_unreadable_group(struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0; i < st->n_events; i++) {
		const struct kernel_event *p = &st->events[i];

		if (p->fd >= 0 && p->reads_group && p->n_members &&
		    read_into_readings(s, p->fd, get_group_reading_index(p),
		                       get_group_reading_words(p)) == -ECHILD)
			return true;
	}
	return false;
}

/* The kernel's own reset keeps the times and what ended children have counted. So a reset stores
 * the readings, and later ones are differences from them. */
int pfmi_perf_reset_counts(struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;
	const bool has_clock = st->hotplug.has_cpu_events || st->hotplug.has_many_tasks;
	uint64_t before = has_clock ? s->sys.get_time(&s->sys) : 0;
	int rc = read_time_references(s, true);

	if (!rc)
		rc = pfmi_perf_read_all_events(s);
	if (rc)
		return pfmi_perf_record_errno(s, rc);
	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];
		size_t at = p->reads_group ? get_group_reading_index(p) : p->value_index,
		       words = p->reads_group ? get_group_reading_words(p) : SINGLE_READING_WORDS;

		if (st->readings[p->times_index] != LOST_COUNTER_TIME)
			memcpy(st->reset_readings + at, st->readings + at,
			       words * sizeof(*st->reset_readings));
	}
	pfmi_perf_reset_process_clock(s);
	pfmi_session_forget_turn_gaps(s);
	pfmi_perf_reset_hotplug_clock(s, before);
	return PFMLIB_SUCCESS;
}

/* @n is the number of counts of the session. */
int pfmi_perf_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t taken = pfmi_perf_read_process_time(s);
	int rc;

	(void)n;
	if (st->hotplug.has_cpu_events || st->hotplug.counts_all_cpus)
		pfmi_perf_check_hotplug(s);
	rc = pfmi_perf_read_all_events(s);
	if (!rc && st->n_time_references)
		rc = read_time_references(s, false);
	if (rc)
		return pfmi_perf_record_errno(s, rc);
	pfmi_perf_compute_max_enabled_time(s);
	s->reading.is_all_exact =
		s->reading.is_all_exact && st->is_uniform && !s->reading.has_copies &&
		!st->hotplug.has_missed_cpu &&
		pfmi_perf_compute_exact_counts(
			s, s->reading.caller_counts ? s->reading.caller_counts : counts) &&
		(!taken ||
	         pfmi_perf_check_process_time(
			 s, taken, s->reading.caller_counts ? s->reading.caller_counts : counts));
	if (s->reading.is_all_exact) {
		s->reading.caller_counts = NULL;
		return PFMLIB_SUCCESS;
	}
	pfmi_perf_compute_all_counts(s, counts);
	if (taken)
		pfmi_perf_check_process_time(s, taken, counts);
	return PFMLIB_SUCCESS;
}
