/* SPDX-License-Identifier: MIT */
/* Counting with perf_event_open(2): starting, stopping and reading what is open, a group at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/text.h"
#include "session/session.h"
#include "sampling/sampling.h"

static int failed(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EACCES || err == -EPERM ? PFMLIB_ERR_PERM : err == -ENOMEM ? PFMLIB_ERR_NOMEM
	                                                                          : PFMLIB_ERR_SYS;
}

static int command(struct pfm_session *s, int fd, unsigned long request)
{
	int rc;

	do
		rc = s->sys.ioctl(&s->sys, fd, request, NULL);
	while (rc == -EINTR);
	return rc;
}

#define INCOMPLETE_TRIES 100 /* half a tenth of a second in all */

static int first_error(int before, int rc)
{
	return before ? before : rc < 0 ? rc
	                                : 0;
}

/* Those of tasks that begin with the program begin with it. */
static bool starts_later(const struct pfm_session *s, int pid)
{
	return s->options.flags & PFM_SESSION_ENABLE_ON_EXEC && pid >= 0;
}

static int command_each_witness(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->state;
	int first = 0;

	for (unsigned i = 0; i < st->n_witnesses; i++) {
		const struct witness *w = &st->witnesses[i];

		if (w->wanted && w->fd >= 0 && !(request == PERF_EVENT_IOC_ENABLE && starts_later(s, w->pid)))
			first = first_error(first, command(s, w->fd, request));
	}
	return first;
}

/* Sends @request to every witness: most sessions have none. */
static inline int command_witnesses(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->state;

	return st->n_witnesses ? command_each_witness(s, request) : 0;
}

/* Sends @request to every leader of the session. The first error is returned after all have been asked. */
static int command_all(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->state;
	int first = 0;

	for (unsigned i = 0; i < st->n_read; i++) {
		const struct part *p = &st->parts[st->read[i]];

		if (p->lead >= 0)
			continue;
		if (request == PERF_EVENT_IOC_ENABLE && starts_later(s, p->pid))
			continue;
		first = first_error(first, command(s, p->fd, request));
	}
	return first;
}

/* Witnesses are the first to be switched on and the last to be switched off: they have seen whatever the others have. */
int pfmi_perf_start(struct pfm_session *s)
{
	int rc = command_witnesses(s, PERF_EVENT_IOC_ENABLE);

	if (s->sampling)
		rc = first_error(rc, pfmi_sampling_command(s, PERF_EVENT_IOC_ENABLE));
	rc = first_error(rc, command_all(s, PERF_EVENT_IOC_ENABLE));
	if (!rc) {
		pfmi_perf_rights_started(s);
		pfmi_perf_cpus_started(s);
		return PFMLIB_SUCCESS;
	}
	command_all(s, PERF_EVENT_IOC_DISABLE);
	command_witnesses(s, PERF_EVENT_IOC_DISABLE);
	return failed(s, rc);
}

int pfmi_perf_stop(struct pfm_session *s)
{
	int rc;

	pfmi_perf_cpus_stopping(s);
	pfmi_perf_rights_stopping(s);
	rc = command_all(s, PERF_EVENT_IOC_DISABLE);
	rc = first_error(rc, command_witnesses(s, PERF_EVENT_IOC_DISABLE));
	if (s->sampling)
		rc = first_error(rc, pfmi_sampling_command(s, PERF_EVENT_IOC_DISABLE));
	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

/* Linux 6.7 and later refuse to read a group for the moment in which a task that inherited it is born or ends, and has only some of its
 * members. */
static bool is_incomplete(long n, unsigned tries)
{
	const struct timespec moment = { .tv_nsec = 10000L * (long)(tries + 1) };

	return n == -ECHILD && tries < INCOMPLETE_TRIES && (nanosleep(&moment, NULL) == 0 || errno == EINTR);
}

/* Reads once more after @n was the answer. */
static long read_again(const struct sys *sys, int fd, void *to, size_t size, long n)
{
	for (unsigned tries = 0; n == -EINTR || is_incomplete(n, tries); tries++)
		n = sys->read(sys, fd, to, size);
	/* End of file is how the kernel says that a pinned event has lost its counter. */
	return n <= 0 || n == (long)size ? n : -EIO;
}

/* Reads @words words of @fd to place @at of the readings. */
static inline long read_fd(struct pfm_session *s, int fd, size_t at, size_t words)
{
	const struct perf_state *st = s->state;
	size_t size = words * sizeof(*st->readings);
	long n = s->sys.read(&s->sys, fd, st->readings + at, size);

	return n == (long)size ? n : read_again(&s->sys, fd, st->readings + at, size, n);
}

#define SINGLE_WORDS 3 /* of the reading of one event: value, enabled, running; then what was lost, where that is told */

/* Where a group's reading goes, and its length. */
static size_t group_at(const struct part *lead)
{
	return lead->times - 1;
}

static size_t group_words(const struct part *lead)
{
	return GROUP_HEAD + 1 + lead->members;
}

/* How many counts one reading of the part gives. */
static unsigned read_together(const struct part *p)
{
	return p->whole ? 1u + p->members : 1;
}

/* True if the readings of counts [@i, @i + @n) lie behind one another at each of their places, where all of them are open. */
static bool lie_together(const struct pfm_session *s, unsigned i, unsigned n)
{
	const struct perf_state *st = s->state;
	const struct counting *c = &s->counts[i];
	const struct part *leads = &st->parts[c->opened.part];
	unsigned n_parts = c->opened.n_parts;

	for (unsigned m = 0; m < n; m++, c++) {
		const struct part *p = &st->parts[c->opened.part];

		if (c->asked.is_level || c->opened.n_parts != n_parts)
			return false;
		for (unsigned k = 0; k < n_parts; k++)
			if (p[k].fd < 0 || read_together(&leads[k]) != n || p[k].value != leads[k].value + m)
				return false;
	}
	return true;
}

static bool is_even(const struct pfm_session *s)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0, n; i < s->n; i += n) {
		if (st->n_witnesses || !s->counts[i].opened.n_parts)
			return false;
		n = read_together(&st->parts[s->counts[i].opened.part]);
		if (n > s->n - i || !lie_together(s, i, n))
			return false;
	}
	return true;
}

#define READINGS   3 /* the first words are for a witness */
#define PART_WORDS 4 /* at most, for each part that is read for itself */

/* True if the part is read for itself: a member's value comes with its leader's. */
static bool is_read(const struct part *p)
{
	return p->fd >= 0 && !(p->whole && p->lead >= 0);
}

/* Counts the parts that are read: *@n. Returns how many words their readings take. */
static size_t count_readings(const struct perf_state *st, unsigned *n)
{
	size_t words = READINGS;

	*n = 0;
	for (unsigned i = 0; i < st->n_parts; i++)
		if (is_read(&st->parts[i])) {
			++*n;
			words += st->parts[i].whole ? group_words(&st->parts[i]) : PART_WORDS;
		}
	return words;
}

int pfmi_perf_place(struct pfm_session *s)
{
	struct perf_state *st = s->state;
	unsigned n_read;
	size_t words = count_readings(st, &n_read);
	uint32_t at = READINGS;

	free(st->readings);
	st->readings = pfmi_zeros(2 * words * sizeof(*st->readings) + s->n * sizeof(*st->scales) + n_read * sizeof(*st->read));
	st->n_read = 0;
	if (!st->readings)
		return -ENOMEM;
	st->zeros = st->readings + words;
	st->scales = (void *)(st->zeros + words);
	st->read = (void *)(st->scales + s->n);
	for (unsigned i = 0; i < s->n; i++)
		st->scales[i] = s->counts[i].asked.scale;
	for (unsigned i = 0; i < st->n_parts; i++) {
		struct part *lead = &st->parts[i];

		if (!is_read(lead))
			continue;
		st->read[st->n_read++] = i;
		lead->value = lead->whole ? at + GROUP_HEAD : at;
		lead->times = at + 1;
		at += lead->whole ? (uint32_t)group_words(lead) : PART_WORDS;
		for (int k = lead->next, n = 1; lead->whole && k >= 0; k = st->parts[k].next, n++) {
			st->parts[k].value = lead->value + (uint32_t)n;
			st->parts[k].times = lead->times;
		}
	}
	st->even = is_even(s);
	return 0;
}

static int read_single(struct pfm_session *s, struct part *p)
{
	const struct perf_state *st = s->state;
	long n = read_fd(s, p->fd, p->value, p->tells ? SINGLE_WORDS + 1 : SINGLE_WORDS);

	if (n < 0)
		return (int)n;
	p->losses = n && p->tells ? st->readings[p->value + SINGLE_WORDS] : 0;
	if (n == 0)
		st->readings[p->times] = PERF_LOST;
	return 0;
}

static int read_group(struct pfm_session *s, const struct part *lead)
{
	const struct perf_state *st = s->state;
	long n = read_fd(s, lead->fd, group_at(lead), group_words(lead));

	if (n < 0)
		return (int)n;
	if (n == 0)
		st->readings[lead->times] = PERF_LOST;
	else if (st->readings[group_at(lead)] != 1u + lead->members)
		return -EIO;
	return 0;
}

static int read_all(struct pfm_session *s)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_read; i++) {
		struct part *p = &st->parts[st->read[i]];
		int rc = p->whole ? read_group(s, p) : read_single(s, p);

		if (rc)
			return rc;
	}
	return 0;
}

/* Times of the witnesses since the last reset; @base: this is a reset. */
static int read_witnesses(struct pfm_session *s, bool base)
{
	struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_witnesses; i++) {
		struct witness *w = &st->witnesses[i];
		long n;

		if (!w->wanted || w->fd < 0)
			continue;
		n = read_fd(s, w->fd, 0, READINGS);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		if (base)
			memcpy(w->base, st->readings + 1, sizeof(w->base));
		w->here = st->readings[2] - w->base[1];
		w->away = st->readings[1] - w->base[0] - w->here;
	}
	return 0;
}

bool pfmi_perf_groups_differ(struct pfm_session *s)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_parts; i++) {
		const struct part *p = &st->parts[i];

		if (p->fd >= 0 && p->whole && p->members && read_fd(s, p->fd, group_at(p), group_words(p)) == -ECHILD)
			return true;
	}
	return false;
}

/* The kernel's own reset leaves the times and what ended children have counted as they are: so zero is where we say it is. */
int pfmi_perf_reset(struct pfm_session *s)
{
	const struct perf_state *st = s->state;
	int rc = read_witnesses(s, true);

	if (!rc)
		rc = read_all(s);
	if (rc)
		return failed(s, rc);
	for (unsigned i = 0; i < st->n_read; i++) {
		const struct part *p = &st->parts[st->read[i]];
		size_t at = p->whole ? group_at(p) : p->value, words = p->whole ? group_words(p) : SINGLE_WORDS;

		if (st->readings[p->times] != PERF_LOST)
			memcpy(st->zeros + at, st->readings + at, words * sizeof(*st->zeros));
	}
	pfmi_perf_rights_reset(s);
	pfmi_perf_cpus_reset(s);
	return PFMLIB_SUCCESS;
}

/* What the parts of a count come to. */
struct sum {
	uint64_t value, raw, enabled, running;
	int quality, cause;
};

/* Adds @raw, counted in @running nanoseconds of @enabled in which it should have. */
static inline void add_values(struct sum *sum, bool is_level, uint64_t raw, uint64_t enabled, uint64_t running)
{
	sum->raw += raw;
	sum->enabled += enabled;
	sum->running += running;
	if (running == 0 && enabled) {
		sum->quality = PFM_QUALITY_PARTIAL;
	} else if (running < enabled && !is_level) {
		uint64_t more = pfmi_extrapolate(raw, enabled, running);

		sum->value = sum->value > UINT64_MAX - more ? UINT64_MAX : sum->value + more;
		if (sum->quality == PFM_QUALITY_EXACT)
			sum->quality = PFM_QUALITY_SCALED;
	} else {
		sum->value += raw;
	}
}

/* Adds what part @p has counted: its @value and @times. @away: time its task spent on other CPUs than the part's. */
static inline void add_part(struct sum *sum, const struct perf_state *st, bool is_level, const struct part *p, uint64_t value,
                            const uint64_t times[2], uint64_t away)
{
	const uint64_t *zeros = st->zeros + p->times;
	uint64_t enabled = times[0] - zeros[0], running = times[1] - zeros[1];

	if (times[0] == PERF_LOST) {
		sum->cause = PFM_CAUSE_BUSY;
		sum->quality = PFM_QUALITY_PARTIAL;
		return;
	}
	if (away) {
		uint64_t idle = enabled > running ? enabled - running : 0;

		enabled = running + (idle > away ? idle - away : 0);
	}
	add_values(sum, is_level, is_level ? value : value - st->zeros[p->value], enabled, running);
}

static inline void give(const struct sum *sum, pfm_count_t *out)
{
	*out = (pfm_count_t){ .size = sizeof(*out),
		              .value = sum->value,
		              .raw = sum->raw,
		              .enabled = sum->enabled,
		              .running = sum->running,
		              .quality = sum->quality,
		              .cause = sum->cause };
}

/* Count @c from what was last read of its parts and their witnesses. */
static void sum_up(struct pfm_session *s, struct counting *c, pfm_count_t *out)
{
	const struct perf_state *st = s->state;
	struct sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t all_away = 0;

	for (unsigned k = 0; k < c->opened.n_parts; k++) {
		const struct part *p = &st->parts[c->opened.part + k];
		uint64_t away = p->witness < 0 ? 0 : st->witnesses[p->witness].away;

		if (p->fd < 0)
			continue;
		all_away += away;
		add_part(&sum, st, c->asked.is_level, p, st->readings[p->value], st->readings + p->times, away);
	}
	c->opened.away = all_away;
	if (pfmi_perf_cpus_missed(s, c)) {
		sum.quality = PFM_QUALITY_PARTIAL;
		sum.cause = PFM_CAUSE_NO_CPU;
	}
	give(&sum, out);
}

/* The same of a count that has one part, open, which was counted all the time: as nearly all are. False if it is not so. */
static inline bool take_whole(const struct perf_state *st, const struct counting *c, pfm_count_t *out)
{
	const struct part *p;
	uint64_t enabled, running, value;

	if (c->opened.n_parts != 1) /* without any there may be no array either */
		return false;
	p = &st->parts[c->opened.part];
	if (p->fd < 0 || p->witness >= 0 || c->asked.is_level)
		return false;
	enabled = st->readings[p->times] - st->zeros[p->times];
	running = st->readings[p->times + 1] - st->zeros[p->times + 1];
	value = st->readings[p->value] - st->zeros[p->value];
	if (enabled != running || st->readings[p->times] == PERF_LOST || (p->pid == -1 && (enabled < st->watch.due || st->watch.missed)))
		return false;
	give(&(struct sum){ value, value, enabled, running, PFM_QUALITY_EXACT, PFM_CAUSE_NONE }, out);
	return true;
}

/* The time that all parts of count @c were enabled, which is what it was counted in: *@time. False if it is not, or if a closer look may
 * show that a CPU was missed. */
static bool take_time(const struct perf_state *st, const struct counting *c, uint64_t *time)
{
	const struct part *p = &st->parts[c->opened.part];
	uint64_t shortest = UINT64_MAX;

	*time = 0;
	for (unsigned k = 0; k < c->opened.n_parts; k++) {
		const uint64_t *now = st->readings + p[k].times, *zeros = st->zeros + p[k].times;
		uint64_t enabled = now[0] - zeros[0];

		if (now[1] - zeros[1] != enabled) /* nor can they agree where they were lost */
			return false;
		*time += enabled;
		shortest = enabled < shortest ? enabled : shortest;
	}
	return *time && (p->pid != -1 || shortest >= st->watch.due);
}

/* A count that is clear. As pairs of words, where it has that form: member by member takes twice as long. */
static inline void give_clear(uint64_t value, uint64_t time, double scale, pfm_count_t *out)
{
	enum { IN_PAIRS = sizeof(out->size) == 8 && offsetof(pfm_count_t, raw) == 16 && offsetof(pfm_count_t, running) == 32 &&
		          offsetof(pfm_count_t, scale) == 56 && PFM_QUALITY_EXACT == 0 && PFM_CAUSE_NONE == 0 };
	typedef uint64_t pair __attribute__((vector_size(16)));
	char *to = (char *)out;
	uint64_t last;

	if (!IN_PAIRS) {
		give(&(struct sum){ value, value, time, time, PFM_QUALITY_EXACT, PFM_CAUSE_NONE }, out);
		out->scale = scale;
		return;
	}
	memcpy(&last, &scale, sizeof(last));
	memcpy(to, &(pair){ sizeof(*out), value }, sizeof(pair));
	memcpy(to + sizeof(pair), &(pair){ value, time }, sizeof(pair));
	memcpy(to + 2 * sizeof(pair), &(pair){ time, 0 }, sizeof(pair));
	memcpy(to + 3 * sizeof(pair), &(pair){ 0, last }, sizeof(pair));
}

/* @n clear counts from the values that part @p has for them. */
static inline void take_values(const struct perf_state *st, const struct part *p, unsigned n, uint64_t time, const double *scales,
                               pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value, *zeros = st->zeros + p->value;

	for (unsigned m = 0; m < n; m++)
		give_clear(values[m] - zeros[m], time, scales[m], out + m);
}

/* Adds what another part has for them. */
static inline void add_more(const struct perf_state *st, const struct part *p, unsigned n, pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value, *zeros = st->zeros + p->value;

	for (unsigned m = 0; m < n; m++)
		out[m].value = out[m].raw += values[m] - zeros[m];
}

/* Counts that were clear by the last reading, and still are: nothing but numbers has changed. What the members of a group share is looked
 * at once. False if anything else may have changed: then what is in @out is of no use. */
static bool take_again(const struct pfm_session *s, pfm_count_t *out)
{
	const struct perf_state *st = s->state;
	uint64_t time;

	for (unsigned i = 0, n; i < s->n; i += n) {
		const struct counting *c = &s->counts[i];
		const struct part *p = &st->parts[c->opened.part];

		if (!take_time(st, c, &time))
			return false;
		n = read_together(p);
		take_values(st, p, n, time, st->scales + i, out + i);
		for (unsigned k = 1; k < c->opened.n_parts; k++)
			add_more(st, p + k, n, out + i);
	}
	return true;
}

/* Each count from its parts. */
static void take_all(struct pfm_session *s, pfm_count_t *counts)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < s->n; i++)
		if (!take_whole(st, &s->counts[i], &counts[i]))
			sum_up(s, &s->counts[i], &counts[i]);
	for (unsigned i = 0; i < st->n_elsewhere; i++)
		counts[st->elsewhere[i].count].enabled += st->witnesses[st->elsewhere[i].witness].here;
}

/* @n is the number of counts of the session. */
int pfmi_perf_read(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	const struct perf_state *st = s->state;
	uint64_t taken = pfmi_perf_rights_taken(s);
	int rc;

	(void)n;
	if (st->watch.timed || st->watch.open_ended)
		pfmi_perf_cpus_look(s);
	rc = read_all(s);
	if (!rc && st->n_witnesses)
		rc = read_witnesses(s, false);
	if (rc)
		return failed(s, rc);
	s->clear = s->clear && st->even && !st->watch.missed && take_again(s, s->into ? s->into : counts) &&
	           (!taken || pfmi_perf_rights_seen(s, taken, s->into ? s->into : counts));
	if (s->clear) {
		s->into = NULL;
		return PFMLIB_SUCCESS;
	}
	take_all(s, counts);
	if (taken)
		pfmi_perf_rights_seen(s, taken, counts);
	return PFMLIB_SUCCESS;
}

int pfmi_perf_read_fast(struct pfm_session *s, unsigned i, pfm_count_t *count)
{
	const struct perf_state *st = s->state;
	const struct counting *c = &s->counts[i];
	const struct part *p;
	struct sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t v[3];

	if (c->opened.n_parts != 1)
		return PFMLIB_ERR_NOTSUPP;
	p = &st->parts[c->opened.part];
	if (!p->page || !s->running || !pfmi_perf_page_read(p->page, v))
		return PFMLIB_ERR_NOTSUPP;
	add_part(&sum, st, c->asked.is_level, p, v[0], v + 1, 0);
	give(&sum, count);
	return PFMLIB_SUCCESS;
}
