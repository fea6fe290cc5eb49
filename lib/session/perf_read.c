/* SPDX-License-Identifier: MIT */
/* Starts, stops and reads the events that are open, a group at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/text.h"
#include "session/perf_event_internal.h"

static int record_errno(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EACCES || err == -EPERM ? PFMLIB_ERR_PERM
	       : err == -ENOMEM                ? PFMLIB_ERR_NOMEM
	                                       : PFMLIB_ERR_SYS;
}

static int send_ioctl(struct pfm_session *s, int fd, unsigned long request)
{
	int rc;

	do
		rc = s->sys.ioctl(&s->sys, fd, request, NULL);
	while (rc == -EINTR);
	return rc;
}

static int read_all_events(struct pfm_session *s);

#define MAX_INCOMPLETE_TRIES 100 /* together they take a twentieth of a second */

static int keep_first_error(int before, int rc)
{
	return before ? before : rc < 0 ? rc : 0;
}

/* True if the kernel enables the event when the task executes its program. */
static bool is_enabled_on_exec(const struct pfm_session *s, int pid)
{
	return s->options.flags & PFM_SESSION_ENABLE_ON_EXEC && pid >= 0;
}

static int send_to_all_time_references(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_time_references; i++) {
		const struct time_reference *w = &st->time_references[i];

		if (w->is_needed && w->fd >= 0 &&
		    !(request == PERF_EVENT_IOC_ENABLE && is_enabled_on_exec(s, w->pid)))
			first = keep_first_error(first, send_ioctl(s, w->fd, request));
	}
	return first;
}

/* Sends @request to every time reference: most sessions have none. */
static inline int send_to_time_references(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->backend_state;

	return st->n_time_references ? send_to_all_time_references(s, request) : 0;
}

/* Sends @request to every leader of the session. Returns the first error, after all leaders got the
 * request. */
static int send_to_leaders(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];

		if (p->leader >= 0)
			continue;
		if (request == PERF_EVENT_IOC_ENABLE && is_enabled_on_exec(s, p->pid))
			continue;
		if (s->turns && request == PERF_EVENT_IOC_ENABLE &&
		    !pfmi_session_is_group_on(s, s->counts[p->count_index].config.group))
			continue;
		first = keep_first_error(first, send_ioctl(s, p->fd, request));
	}
	return first;
}

/* nanoseconds; much more than two clocks differ, and less than a system has usually been running */
#define CGROUP_TIME_SLACK_NS 60000000000u

static bool is_counting_cgroup(const struct pfm_session *s)
{
	return ((const struct perf_state *)s->backend_state)->cgroup_fd >= 0;
}

/* Some kernels count the time of a control group's first event from the start of the system. Such a
 * time becomes the zero of later times. */
static void rebase_cgroup_times(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;
	uint64_t possible = s->sys.get_time(&s->sys) - st->opened_at + CGROUP_TIME_SLACK_NS;

	if (read_all_events(s))
		return;
	for (unsigned i = 0; i < st->n_events; i++) {
		const uint64_t *times = st->readings + st->events[i].times_index;

		if (st->events[i].fd >= 0 && times[0] != LOST_COUNTER_TIME &&
		    times[0] - st->reset_readings[st->events[i].times_index] > possible)
			memcpy(st->reset_readings + st->events[i].times_index, times,
			       2 * sizeof(*times));
	}
}

/* Time references are enabled first and disabled last, so that their times include those of all
 * others. After the leaders are enabled, every start executes the same instructions, so that a
 * program that counts itself gets equal counts each time. */
int pfmi_perf_start_counting(struct pfm_session *s)
{
	int rc;

	pfmi_perf_start_longest_clock(s);
	rc = send_to_time_references(s, PERF_EVENT_IOC_ENABLE);
	if (s->sampling)
		rc = keep_first_error(
			rc, s->sampling_ops->control_side_events(s, PERF_EVENT_IOC_ENABLE));
	rc = keep_first_error(rc, send_to_leaders(s, PERF_EVENT_IOC_ENABLE));
	if (!rc) {
		pfmi_perf_start_process_clock(s);
		pfmi_perf_start_hotplug_clock(s);
		if (is_counting_cgroup(s) && !s->started)
			rebase_cgroup_times(s);
		return PFMLIB_SUCCESS;
	}
	send_to_leaders(s, PERF_EVENT_IOC_DISABLE);
	send_to_time_references(s, PERF_EVENT_IOC_DISABLE);
	pfmi_perf_stop_longest_clock(s);
	return record_errno(s, rc);
}

int pfmi_perf_stop_counting(struct pfm_session *s)
{
	int rc;

	pfmi_perf_stop_hotplug_clock(s);
	pfmi_perf_stop_process_clock(s);
	rc = send_to_leaders(s, PERF_EVENT_IOC_DISABLE);
	rc = keep_first_error(rc, send_to_time_references(s, PERF_EVENT_IOC_DISABLE));
	if (s->sampling)
		rc = keep_first_error(
			rc, s->sampling_ops->control_side_events(s, PERF_EVENT_IOC_DISABLE));
	pfmi_perf_stop_longest_clock(s);
	return rc ? record_errno(s, rc) : PFMLIB_SUCCESS;
}

/* Sends @request to the leaders of the groups that are in @these and not in @others. */
static int send_to_groups(struct pfm_session *s, unsigned long request, const unsigned char *these,
                          const unsigned char *others)
{
	const struct perf_state *st = s->backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];
		unsigned group = s->counts[p->count_index].config.group;

		if (p->leader < 0 && these[group] && !others[group])
			first = keep_first_error(first, send_ioctl(s, p->fd, request));
	}
	return first;
}

/* On every CPU the old groups stop before the new ones start, because it has not enough counters
 * for both. */
int pfmi_perf_switch_groups(struct pfm_session *s, const unsigned char *was_on,
                            const unsigned char *is_on)
{
	int rc = send_to_groups(s, PERF_EVENT_IOC_DISABLE, was_on, is_on);

	rc = keep_first_error(rc, send_to_groups(s, PERF_EVENT_IOC_ENABLE, is_on, was_on));
	return rc ? record_errno(s, rc) : PFMLIB_SUCCESS;
}

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
	const struct perf_state *st = s->backend_state;
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

/* Number of counts in one reading of the kernel event. */
static unsigned get_counts_per_reading(const struct kernel_event *p)
{
	return p->reads_group ? 1u + p->n_members : 1;
}

/* True if the readings of counts [@i, @i + @n), all of which are open, are adjacent for each task
 * and CPU. */
static bool has_adjacent_readings(const struct pfm_session *s, unsigned i, unsigned n)
{
	const struct perf_state *st = s->backend_state;
	const struct session_count *c = &s->counts[i];
	const struct kernel_event *leads = &st->events[c->kernel_state.first_event];
	unsigned n_parts = c->kernel_state.n_events;

	for (unsigned m = 0; m < n; m++, c++) {
		const struct kernel_event *p = &st->events[c->kernel_state.first_event];

		if (c->config.is_level || c->kernel_state.n_events != n_parts)
			return false;
		for (unsigned k = 0; k < n_parts; k++)
			if (p[k].fd < 0 || get_counts_per_reading(&leads[k]) != n ||
			    p[k].value_index != leads[k].value_index + m)
				return false;
	}
	return true;
}

static bool is_uniform_session(const struct pfm_session *s)
{
	const struct perf_state *st = s->backend_state;

	for (unsigned i = 0, n; i < s->n_counts; i += n) {
		if (st->n_time_references || !s->counts[i].kernel_state.n_events)
			return false;
		n = get_counts_per_reading(&st->events[s->counts[i].kernel_state.first_event]);
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
	struct perf_state *st = s->backend_state;
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
	const struct perf_state *st = s->backend_state;
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
	const struct perf_state *st = s->backend_state;
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
	const struct perf_state *st = s->backend_state;
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
	const struct perf_state *st = s->backend_state;
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

static int read_all_events(struct pfm_session *s)
{
	const struct perf_state *st = s->backend_state;

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
	struct perf_state *st = s->backend_state;

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
	const struct perf_state *st = s->backend_state;

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
	const struct perf_state *st = s->backend_state;
	uint64_t before = st->hotplug.has_cpu_events ? s->sys.get_time(&s->sys) : 0;
	int rc = read_time_references(s, true);

	if (!rc)
		rc = read_all_events(s);
	if (rc)
		return record_errno(s, rc);
	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];
		size_t at = p->reads_group ? get_group_reading_index(p) : p->value_index,
		       words = p->reads_group ? get_group_reading_words(p) : SINGLE_READING_WORDS;

		if (st->readings[p->times_index] != LOST_COUNTER_TIME)
			memcpy(st->reset_readings + at, st->readings + at,
			       words * sizeof(*st->reset_readings));
	}
	pfmi_perf_reset_process_clock(s);
	pfmi_perf_reset_hotplug_clock(s, before);
	return PFMLIB_SUCCESS;
}

/* Sum over the kernel events of a count. */
struct count_sum {
	uint64_t value, raw, enabled, running;
	pfm_quality_t quality;
	pfm_cause_t cause;
};

/* Adds @raw, counted in @running of the @enabled nanoseconds in which it was to be counted. */
static inline void add_to_sum(struct count_sum *sum, bool is_level, uint64_t raw, uint64_t enabled,
                              uint64_t running)
{
	sum->raw += raw;
	sum->enabled += enabled;
	sum->running += running;
	if (running == 0 && enabled) {
		sum->quality = PFM_QUALITY_PARTIAL;
	} else if (running < enabled && !is_level) {
		uint64_t more = pfmi_session_extrapolate_value(raw, enabled, running);

		sum->value = sum->value > UINT64_MAX - more ? UINT64_MAX : sum->value + more;
		if (sum->quality == PFM_QUALITY_EXACT)
			sum->quality = PFM_QUALITY_SCALED;
	} else {
		sum->value += raw;
	}
}

/* True if the event of a CPU reports that it was enabled for longer than possible. */
static inline bool is_time_impossible(const struct perf_state *st, const struct kernel_event *p,
                                      uint64_t enabled)
{
	return p->pid == -1 && st->hotplug.max_enabled_time &&
	       enabled > st->hotplug.max_enabled_time;
}

/* Adds the @value and @times of kernel event @p. @away: time that its task spent on other CPUs. */
static inline void add_event_to_sum(struct count_sum *sum, const struct perf_state *st,
                                    bool is_level, const struct kernel_event *p, uint64_t value,
                                    const uint64_t times[2], uint64_t away)
{
	const uint64_t *zeros = st->reset_readings + p->times_index;
	uint64_t enabled = times[0] - zeros[0], running = times[1] - zeros[1];

	if (times[0] == LOST_COUNTER_TIME) {
		sum->cause = PFM_CAUSE_BUSY;
		sum->quality = PFM_QUALITY_PARTIAL;
		return;
	}
	if (is_time_impossible(st, p, enabled)) {
		sum->cause = PFM_CAUSE_OTHER;
		sum->quality = PFM_QUALITY_PARTIAL;
		enabled = running = st->hotplug.max_enabled_time;
	}
	if (away) {
		uint64_t idle = enabled > running ? enabled - running : 0;

		enabled = running + (idle > away ? idle - away : 0);
	}
	add_to_sum(sum, is_level, is_level ? value : value - st->reset_readings[p->value_index],
	           enabled, running);
}

static inline void write_sum_to_count(const struct count_sum *sum, pfm_count_t *out)
{
	*out = (pfm_count_t){ .size = sizeof(*out),
		              .value = sum->value,
		              .raw = sum->raw,
		              .enabled = sum->enabled,
		              .running = sum->running,
		              .quality = sum->quality,
		              .cause = sum->cause };
}

/* Computes count @c from the readings of its kernel events and their time references. */
static void sum_kernel_events(struct pfm_session *s, struct session_count *c, pfm_count_t *out)
{
	const struct perf_state *st = s->backend_state;
	struct count_sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t all_away = 0;

	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		const struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
		uint64_t away = p->time_reference < 0
		                        ? 0
		                        : st->time_references[p->time_reference].time_elsewhere;

		if (p->fd < 0)
			continue;
		all_away += away;
		add_event_to_sum(&sum, st, c->config.is_level, p, st->readings[p->value_index],
		                 st->readings + p->times_index, away);
	}
	c->kernel_state.time_elsewhere = all_away;
	if (pfmi_perf_has_missed_cpu(s, c)) {
		sum.quality = PFM_QUALITY_PARTIAL;
		sum.cause = PFM_CAUSE_NO_CPU;
	}
	write_sum_to_count(&sum, out);
}

/* Computes a count with one open kernel event that ran all the time, as most counts do. Returns
 * false for other counts. */
static inline bool compute_simple_count(const struct perf_state *st, const struct session_count *c,
                                        pfm_count_t *out)
{
	const struct kernel_event *p;
	uint64_t enabled, running, value;

	/* A count without kernel events may have no array of them. */
	if (c->kernel_state.n_events != 1)
		return false;
	p = &st->events[c->kernel_state.first_event];
	if (p->fd < 0 || p->time_reference >= 0 || c->config.is_level)
		return false;
	enabled = st->readings[p->times_index] - st->reset_readings[p->times_index];
	running = st->readings[p->times_index + 1] - st->reset_readings[p->times_index + 1];
	value = st->readings[p->value_index] - st->reset_readings[p->value_index];
	if (enabled != running || st->readings[p->times_index] == LOST_COUNTER_TIME ||
	    is_time_impossible(st, p, enabled) ||
	    (p->pid == -1 &&
	     (enabled < st->hotplug.min_enabled_time || st->hotplug.has_missed_cpu)))
		return false;
	write_sum_to_count(&(struct count_sum){ value, value, enabled, running, PFM_QUALITY_EXACT,
	                                        PFM_CAUSE_NONE },
	                   out);
	return true;
}

/* Sums the time that all kernel events of count @c were enabled in *@time. False if they did not
 * run all that time, or if a CPU may be missing. */
static bool sum_exact_time(const struct perf_state *st, const struct session_count *c,
                           uint64_t *time)
{
	const struct kernel_event *p = &st->events[c->kernel_state.first_event];
	uint64_t shortest = UINT64_MAX;

	*time = 0;
	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		const uint64_t *now = st->readings + p[k].times_index,
			       *zeros = st->reset_readings + p[k].times_index;
		uint64_t enabled = now[0] - zeros[0];

		/* If times were lost, these differ as well. */
		if (now[1] - zeros[1] != enabled || is_time_impossible(st, p, enabled))
			return false;
		*time += enabled;
		shortest = enabled < shortest ? enabled : shortest;
	}
	return *time && (p->pid != -1 || shortest >= st->hotplug.min_enabled_time);
}

/* Writes a count that is exact without remarks. Pairs of words where the structure permits it:
 * writing each member takes twice as long. */
static inline void write_exact_count(uint64_t value, uint64_t time, double scale, pfm_count_t *out)
{
	enum {
		HAS_PAIR_LAYOUT = sizeof(out->size) == 8 && offsetof(pfm_count_t, raw) == 16 &&
		                  offsetof(pfm_count_t, running) == 32 &&
		                  offsetof(pfm_count_t, scale) == 56 && PFM_QUALITY_EXACT == 0 &&
		                  PFM_CAUSE_NONE == 0
	};
	typedef uint64_t pair __attribute__((vector_size(16)));
	char *to = (char *)out;
	uint64_t last;

	if (!HAS_PAIR_LAYOUT) {
		write_sum_to_count(&(struct count_sum){ value, value, time, time, PFM_QUALITY_EXACT,
		                                        PFM_CAUSE_NONE },
		                   out);
		out->scale = scale;
		return;
	}
	memcpy(&last, &scale, sizeof(last));
	memcpy(to, &(pair){ sizeof(*out), value }, sizeof(pair));
	memcpy(to + sizeof(pair), &(pair){ value, time }, sizeof(pair));
	memcpy(to + 2 * sizeof(pair), &(pair){ time, 0 }, sizeof(pair));
	memcpy(to + 3 * sizeof(pair), &(pair){ 0, last }, sizeof(pair));
}

/* Writes @n exact counts with the values of kernel event @p. */
static inline void write_exact_counts(const struct perf_state *st, const struct kernel_event *p,
                                      unsigned n, uint64_t time, const double *scales,
                                      pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value_index,
		       *zeros = st->reset_readings + p->value_index;

	for (unsigned m = 0; m < n; m++)
		write_exact_count(values[m] - zeros[m], time, scales[m], out + m);
}

/* Adds the values of another kernel event. */
static inline void add_event_values(const struct perf_state *st, const struct kernel_event *p,
                                    unsigned n, pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value_index,
		       *zeros = st->reset_readings + p->value_index;

	for (unsigned m = 0; m < n; m++)
		out[m].value = out[m].raw += values[m] - zeros[m];
}

/* Computes counts that were exact at the last reading and still are: only numbers have changed.
 * Checks what the members of a group share once. False if anything else may have changed; @out is
 * then undefined. */
static bool compute_exact_counts(const struct pfm_session *s, pfm_count_t *out)
{
	const struct perf_state *st = s->backend_state;
	uint64_t time;

	for (unsigned i = 0, n; i < s->n_counts; i += n) {
		const struct session_count *c = &s->counts[i];
		const struct kernel_event *p = &st->events[c->kernel_state.first_event];

		if (!sum_exact_time(st, c, &time))
			return false;
		n = get_counts_per_reading(p);
		write_exact_counts(st, p, n, time, st->scales + i, out + i);
		for (unsigned k = 1; k < c->kernel_state.n_events; k++)
			add_event_values(st, p + k, n, out + i);
	}
	return true;
}

/* Computes every count from its kernel events. */
static void compute_all_counts(struct pfm_session *s, pfm_count_t *counts)
{
	const struct perf_state *st = s->backend_state;

	for (unsigned i = 0; i < s->n_counts; i++)
		if (!compute_simple_count(st, &s->counts[i], &counts[i]))
			sum_kernel_events(s, &s->counts[i], &counts[i]);
	for (unsigned i = 0; i < st->n_unserved_times; i++)
		counts[st->unserved_times[i].count_index].enabled +=
			st->time_references[st->unserved_times[i].time_reference].time_on_cpu;
}

/* @n is the number of counts of the session. */
int pfmi_perf_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	const struct perf_state *st = s->backend_state;
	uint64_t taken = pfmi_perf_read_process_time(s);
	int rc;

	(void)n;
	if (st->hotplug.has_cpu_events || st->hotplug.counts_all_cpus)
		pfmi_perf_check_hotplug(s);
	rc = read_all_events(s);
	if (!rc && st->n_time_references)
		rc = read_time_references(s, false);
	if (rc)
		return record_errno(s, rc);
	pfmi_perf_compute_max_enabled_time(s);
	s->is_all_exact =
		s->is_all_exact && st->is_uniform && !s->has_copies &&
		!st->hotplug.has_missed_cpu &&
		compute_exact_counts(s, s->caller_counts ? s->caller_counts : counts) &&
		(!taken || pfmi_perf_check_process_time(
				   s, taken, s->caller_counts ? s->caller_counts : counts));
	if (s->is_all_exact) {
		s->caller_counts = NULL;
		return PFMLIB_SUCCESS;
	}
	compute_all_counts(s, counts);
	if (taken)
		pfmi_perf_check_process_time(s, taken, counts);
	return PFMLIB_SUCCESS;
}

int pfmi_perf_read_user_count(struct pfm_session *s, unsigned i, pfm_count_t *count)
{
	const struct perf_state *st = s->backend_state;
	const struct session_count *c = &s->counts[i];
	const struct kernel_event *p;
	struct count_sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t v[3];

	if (c->kernel_state.n_events != 1)
		return PFMLIB_ERR_NOTSUPP;
	p = &st->events[c->kernel_state.first_event];
	if (!p->user_page || !s->running || !pfmi_perf_read_user_page(p->user_page, v))
		return PFMLIB_ERR_NOTSUPP;
	add_event_to_sum(&sum, st, c->config.is_level, p, v[0], v + 1, 0);
	write_sum_to_count(&sum, count);
	return PFMLIB_SUCCESS;
}
