/* SPDX-License-Identifier: MIT */
/* Counting with perf_event_open(2): starting, stopping and reading what is open, a group at a time. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "count/inside.h"
#include "count/samples.h"

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

/* Sends @request to every witness. */
static int command_witnesses(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->state;
	int first = 0;

	for (unsigned i = 0; i < st->n_witnesses; i++)
		if (st->witnesses[i].wanted && st->witnesses[i].fd >= 0)
			first = first_error(first, command(s, st->witnesses[i].fd, request));
	return first;
}

/* Sends @request to every leader of the session. The first error is returned after all have been asked. */
static int command_all(struct pfm_session *s, unsigned long request, bool starting)
{
	const struct perf_state *st = s->state;
	int first = 0;

	for (unsigned i = 0; i < st->n_parts; i++) {
		const struct part *p = &st->parts[i];

		if (p->fd < 0 || p->lead >= 0)
			continue;
		/* Those begin with the program. */
		if (starting && s->options.flags & PFM_SESSION_ENABLE_ON_EXEC && p->pid >= 0)
			continue;
		first = first_error(first, command(s, p->fd, request));
	}
	return first;
}

/* Witnesses are the first to be switched on and the last to be switched off: they have seen whatever the others have. */
int pfmi_perf_start(struct pfm_session *s)
{
	int rc = s->options.flags & PFM_SESSION_ENABLE_ON_EXEC ? 0 : command_witnesses(s, PERF_EVENT_IOC_ENABLE);

	if (s->sampling)
		rc = first_error(rc, pfmi_sampling_command(s, PERF_EVENT_IOC_ENABLE));
	rc = first_error(rc, command_all(s, PERF_EVENT_IOC_ENABLE, true));
	if (!rc)
		return PFMLIB_SUCCESS;
	command_all(s, PERF_EVENT_IOC_DISABLE, false);
	command_witnesses(s, PERF_EVENT_IOC_DISABLE);
	return failed(s, rc);
}

int pfmi_perf_stop(struct pfm_session *s)
{
	int rc = command_all(s, PERF_EVENT_IOC_DISABLE, false);

	rc = first_error(rc, command_witnesses(s, PERF_EVENT_IOC_DISABLE));
	if (s->sampling)
		rc = first_error(rc, pfmi_sampling_command(s, PERF_EVENT_IOC_DISABLE));
	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

/* What a part has counted: value, enabled, running. NULL: a pinned event that lost its counter. */
typedef void (*take_fn)(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg);

/* Linux 6.7 and later refuse to read a group for the moment in which a task that inherited it is born or ends, and has only some of its
 * members. */
static bool is_incomplete(long n, unsigned tries)
{
	const struct timespec moment = { .tv_nsec = 10000L * (long)(tries + 1) };

	return n == -ECHILD && tries < INCOMPLETE_TRIES && (nanosleep(&moment, NULL) == 0 || errno == EINTR);
}

static long read_fd(struct pfm_session *s, int fd, size_t words)
{
	const struct perf_state *st = s->state;
	unsigned tries = 0;
	long n;

	do
		n = s->sys.read(&s->sys, fd, st->buf, words * sizeof(*st->buf));
	while (n == -EINTR || is_incomplete(n, tries++));
	/* End of file is how the kernel says that a pinned event has lost its counter. */
	return n <= 0 || n == (long)(words * sizeof(*st->buf)) ? n : -EIO;
}

static int read_single(struct pfm_session *s, struct part *p, take_fn take, void *arg)
{
	const struct perf_state *st = s->state;
	long n = read_fd(s, p->fd, p->tells ? 4 : 3);

	if (n < 0)
		return (int)n;
	p->losses = n && p->tells ? st->buf[3] : 0;
	take(s, p, n ? st->buf : NULL, arg);
	return 0;
}

static int read_group(struct pfm_session *s, struct part *lead, take_fn take, void *arg)
{
	struct perf_state *st = s->state;
	long n = read_fd(s, lead->fd, GROUP_HEAD + 1 + lead->members);
	unsigned at = GROUP_HEAD;

	if (n < 0)
		return (int)n;
	if (n && st->buf[0] != 1 + lead->members)
		return -EIO;
	for (struct part *p = lead; p; p = p->next >= 0 ? &st->parts[p->next] : NULL, at++) {
		uint64_t v[3] = { 0 };

		if (n) {
			v[0] = st->buf[at];
			v[1] = st->buf[1];
			v[2] = st->buf[2];
		}
		take(s, p, n ? v : NULL, arg);
	}
	return 0;
}

static int read_all(struct pfm_session *s, take_fn take, void *arg)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_parts; i++) {
		struct part *p = &st->parts[i];
		int rc = 0;

		if (p->fd < 0)
			continue;
		if (!p->whole)
			rc = read_single(s, p, take, arg);
		else if (p->lead < 0)
			rc = read_group(s, p, take, arg);
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
		n = read_fd(s, w->fd, 3);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		if (base)
			memcpy(w->base, st->buf + 1, sizeof(w->base));
		w->here = st->buf[2] - w->base[1];
		w->away = st->buf[1] - w->base[0] - w->here;
	}
	return 0;
}

bool pfmi_perf_groups_differ(struct pfm_session *s)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_parts; i++) {
		const struct part *p = &st->parts[i];

		if (p->fd >= 0 && p->whole && p->members && read_fd(s, p->fd, GROUP_HEAD + 1 + p->members) == -ECHILD)
			return true;
	}
	return false;
}

static void take_base(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg)
{
	(void)s;
	(void)arg;
	if (v)
		memcpy(p->base, v, sizeof(p->base));
}

/* The kernel's own reset leaves the times and what ended children have counted as they are: so zero is where we say it is. */
int pfmi_perf_reset(struct pfm_session *s)
{
	int rc = read_witnesses(s, true);

	if (!rc)
		rc = read_all(s, take_base, NULL);
	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

/* What one part has counted in @running nanoseconds, of @enabled in which it should have. */
static void add_values(const struct counting *c, uint64_t raw, uint64_t enabled, uint64_t running, pfm_count_t *out)
{
	out->raw += raw;
	out->enabled += enabled;
	out->running += running;
	if (running == 0 && enabled) {
		out->quality = PFM_QUALITY_PARTIAL;
	} else if (running < enabled && !c->asked.is_level) {
		uint64_t more = pfmi_extrapolate(raw, enabled, running);

		out->value = out->value > UINT64_MAX - more ? UINT64_MAX : out->value + more;
		if (out->quality == PFM_QUALITY_EXACT)
			out->quality = PFM_QUALITY_SCALED;
	} else {
		out->value += raw;
	}
}

/* Adds what one part has counted to its count. @away: time its task spent on other CPUs than the part's. */
static void add_part(const struct counting *c, const struct part *p, const uint64_t v[3], uint64_t away, pfm_count_t *out)
{
	uint64_t enabled, running, idle;

	if (!v) {
		out->cause = PFM_CAUSE_BUSY;
		out->quality = PFM_QUALITY_PARTIAL;
		return;
	}
	enabled = v[1] - p->base[1];
	running = v[2] - p->base[2];
	idle = enabled > running ? enabled - running : 0;
	if (away)
		enabled = running + (idle > away ? idle - away : 0);
	add_values(c, c->asked.is_level ? v[0] : v[0] - p->base[0], enabled, running, out);
}

static void take_count(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg)
{
	pfm_count_t *counts = arg;

	if (p->witness < 0) {
		add_part(&s->counts[p->count], p, v, 0, &counts[p->count]);
		return;
	}
	p->lost = !v;
	if (v)
		memcpy(p->now, v, sizeof(p->now));
}

/* The rest of a reading, now that the witnesses have spoken. */
static void add_witnessed(struct pfm_session *s, pfm_count_t *counts)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < s->n; i++)
		s->counts[i].opened.away = 0;
	for (unsigned i = 0; i < st->n_parts; i++) {
		const struct part *p = &st->parts[i];

		if (p->fd < 0 || p->witness < 0)
			continue;
		s->counts[p->count].opened.away += st->witnesses[p->witness].away;
		add_part(&s->counts[p->count], p, p->lost ? NULL : p->now, st->witnesses[p->witness].away, &counts[p->count]);
	}
	for (unsigned i = 0; i < st->n_elsewhere; i++)
		counts[st->elsewhere[i].count].enabled += st->witnesses[st->elsewhere[i].witness].here;
}

/* @n is the number of counts of the session. */
int pfmi_perf_read(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	const struct perf_state *st = s->state;
	int rc;

	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]), .quality = PFM_QUALITY_EXACT };
	rc = read_all(s, take_count, counts);
	if (!rc)
		rc = read_witnesses(s, false);
	if (rc)
		return failed(s, rc);
	if (st->n_witnesses)
		add_witnessed(s, counts);
	return PFMLIB_SUCCESS;
}

int pfmi_perf_read_fast(struct pfm_session *s, unsigned i, pfm_count_t *count)
{
	const struct perf_state *st = s->state;
	const struct counting *c = &s->counts[i];
	const struct part *p = &st->parts[c->opened.part];
	uint64_t v[3];

	if (c->opened.n_parts != 1 || !p->page || !s->running || !pfmi_perf_page_read(p->page, v))
		return PFMLIB_ERR_NOTSUPP;
	*count = (pfm_count_t){ .size = sizeof(*count), .quality = PFM_QUALITY_EXACT };
	add_part(c, p, v, 0, count);
	return PFMLIB_SUCCESS;
}
