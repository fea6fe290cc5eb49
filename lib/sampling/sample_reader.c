/* SPDX-License-Identifier: MIT */
/* Samples are handed out: one record after the other, the oldest of all buffers first, each decoded where it lies. What the kernel
 * says of losses is added up on the way. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "session/session.h"
#include "perfdata/perfdata.h"
#include "base/sizes.h"

#define LATE_NS 1000000u /* what a buffer may be late without its records coming out of order */

/* ---- the order of buffers ---------------------------------------------------------------------------------------------- */

static bool before(const struct sampling *sm, unsigned a, unsigned b)
{
	const struct stream *x = &sm->streams[a], *y = &sm->streams[b];

	return x->next_time < y->next_time || (x->next_time == y->next_time && a < b);
}

/* Lets the top of the heap sink to its place. */
static void sink(struct sampling *sm)
{
	unsigned at = 0;

	for (;;) {
		unsigned child = 2 * at + 1, top = sm->heap[at];

		if (child >= sm->n_heap)
			return;
		if (child + 1 < sm->n_heap && before(sm, sm->heap[child + 1], sm->heap[child]))
			child++;
		if (!before(sm, sm->heap[child], top))
			return;
		sm->heap[at] = sm->heap[child];
		sm->heap[child] = top;
		at = child;
	}
}

static void enter(struct sampling *sm, unsigned stream)
{
	unsigned at = sm->n_heap++;

	sm->heap[at] = stream;
	while (at && before(sm, sm->heap[at], sm->heap[(at - 1) / 2])) {
		sm->heap[at] = sm->heap[(at - 1) / 2];
		at = (at - 1) / 2;
		sm->heap[at] = stream;
	}
}

/* ---- passes ------------------------------------------------------------------------------------------------------------- */

/* A record without a time comes with what is before it in its buffer. */
static bool look_ahead(struct sampling *sm, struct stream *st)
{
	uint64_t time;

	st->next = pfmi_ring_next(&st->ring, &st->next_size);
	if (!st->next) {
		st->next_size = 0;
		return false;
	}
	time = sm->n_streams > 1 ? pfmi_record_time(&sm->common, st->next, st->next_size) : 0;
	if (time > st->next_time)
		st->next_time = time;
	return true;
}

static uint64_t now(int32_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool all_ended(const struct sampling *sm)
{
	for (unsigned i = 0; i < sm->n_streams; i++)
		if (sm->streams[i].place >= 0)
			return false;
	return true;
}

/* A buffer that holds no records is given up: what follows cannot be found any more. */
static void give_up_damaged(struct sampling *sm, struct stream *st)
{
	sm->damaged++;
	st->ring.tail = st->ring.head;
	st->ring.damaged = false;
	pfmi_ring_release(&st->ring, 0);
}

/* Everything that is in the buffers now, but for what is younger than a buffer may be late. */
static void begin_pass(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;

	/* The clock before the buffers: what they are found to lack is younger. */
	sm->until = sm->n_streams > 1 && s->running && !all_ended(sm) ? now(sm->asked.clock) - LATE_NS : UINT64_MAX;
	sm->n_heap = 0;
	for (unsigned i = 0; i < sm->n_streams; i++) {
		struct stream *st = &sm->streams[i];

		pfmi_ring_release(&st->ring, st->next_size);
		pfmi_ring_begin(&st->ring);
		if (st->next || look_ahead(sm, st))
			enter(sm, i);
		else if (st->ring.damaged)
			give_up_damaged(sm, st);
	}
}

/* The stream that gave the last record steps on. */
static void step_on(struct sampling *sm)
{
	struct stream *st = &sm->streams[sm->heap[0]];

	sm->bytes += st->next_size;
	if (!look_ahead(sm, st))
		sm->heap[0] = sm->heap[--sm->n_heap];
	sink(sm);
}

/* What the calls before have handed out is no longer looked at: room is given back before the kernel could miss it. */
static void give_room(struct sampling *sm, unsigned stream)
{
	struct stream *st = &sm->streams[stream];

	if (st->ring.tail - st->ring.released > st->ring.size / 4)
		pfmi_ring_release(&st->ring, (int)stream == sm->last ? 0 : st->next_size);
}

/* True if no record of this pass is left. */
static bool pass_is_over(const struct sampling *sm)
{
	return !sm->n_heap || sm->streams[sm->heap[0]].next_time > sm->until;
}

/* The stream whose record is next, or NULL. @go_on: what was handed out is still looked at, so that no pass may begin. */
static struct stream *next_stream(struct pfm_session *s, bool go_on)
{
	struct sampling *sm = s->sampling;

	if (sm->last >= 0)
		step_on(sm);
	sm->last = -1;
	sm->alike = 0;
	if (pass_is_over(sm) && !go_on)
		begin_pass(s);
	if (pass_is_over(sm))
		return NULL;
	sm->last = (int)sm->heap[0];
	return &sm->streams[sm->last];
}

/* ---- what a record says -------------------------------------------------------------------------------------------------- */

/* Most often it is the one that the record before had. */
static int count_of(struct sampling *sm, uint64_t id)
{
	unsigned low = 0, high = sm->n_known;

	if (sm->recent < high && sm->known[sm->recent].id == id)
		return (int)sm->known[sm->recent].count;
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (sm->known[mid].id == id)
			return (int)sm->known[sm->recent = mid].count;
		if (sm->known[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static void tally_sample(const struct session_count *c, struct tally *t, pfm_record_t *r)
{
	if (!(r->has & PFM_SAMPLE_PERIOD)) {
		r->sample.period = c->config.period;
		r->has |= PFM_SAMPLE_PERIOD;
	}
	t->samples++;
	t->exact += (r->misc & PFM_MISC_EXACT) != 0;
	t->weight += r->sample.period;
}

static void tally_side(struct tally *t, const pfm_record_t *r)
{
	if (r->type == PFM_RECORD_LOST_SAMPLES) {
		t->discarded += r->lost.lost;
	} else if (r->type == PFM_RECORD_THROTTLE) {
		t->throttled++;
		t->since = r->time;
	} else if (r->type == PFM_RECORD_UNTHROTTLE && t->since) {
		t->throttled_ns += r->time > t->since ? r->time - t->since : 0;
		t->since = 0;
	}
}

/* An event that the kernel raises itself, clocks apart. Where several are open for one occurrence, be they of different processes,
 * newer kernels (6.18 does) give all their samples the id of the first. */
static bool shares_ids(const struct session_count *c)
{
	return c->config.attr.type == PERF_TYPE_SOFTWARE && c->config.attr.config > PERF_COUNT_SW_TASK_CLOCK;
}

/* Of which count such a sample can be: *@several if of more than one. -1: of none. */
static int software_count(const struct pfm_session *s, bool *several)
{
	const struct sampling *sm = s->sampling;
	int cpu = sm->last >= 0 && sm->streams ? sm->streams[sm->last].cpu : -1, found = -1;

	*several = false;
	for (unsigned i = 0; i < s->n_counts; i++) {
		const struct session_count *c = &s->counts[i];

		if (!shares_ids(c) || (!s->recording && (!c->kernel_state.n_open || (c->config.cpu >= 0 && c->config.cpu != cpu))))
			continue;
		*several |= found >= 0;
		found = found < 0 ? (int)i : found;
	}
	return found;
}

/* The layout of a record that carries the id of nobody here, and in *@i its count, if there is only one it can be of. */
static const struct layout *of_nobody(struct pfm_session *s, const void *bytes, int *i)
{
	struct sampling *sm = s->sampling;
	struct record_head head;
	bool several = false;
	int like = -1;

	memcpy(&head, bytes, sizeof(head));
	if (s->n_counts == 1 && !sm->n_known)
		like = 0; /* a recording of one event, without ids */
	else if (head.type == PFM_RECORD_SAMPLE)
		like = software_count(s, &several);
	sm->strange += several;
	if (!several)
		*i = like;
	return like >= 0 ? &sm->tallies[like].layout : &sm->common;
}

/* Decodes a record. One that is damaged has its type and its bytes. */
static void decode(struct pfm_session *s, const void *bytes, size_t size, pfm_record_t *r)
{
	struct sampling *sm = s->sampling;
	int i = count_of(sm, pfmi_record_id(&sm->common, bytes, size));
	const struct layout *l = i >= 0 ? &sm->tallies[i].layout : of_nobody(s, bytes, &i);
	bool ok = pfmi_record_decode(l, bytes, size, r);

	/* In a shared buffer the record about losses carries the id of the event that came through, not of those that did not. */
	if (r->type == PFM_RECORD_LOST)
		sm->lost += r->lost.lost;
	else if (i >= 0)
		r->event = (uint32_t)i;
	if (i >= 0 && ok && r->type == PFM_RECORD_SAMPLE)
		tally_sample(&s->counts[i], &sm->tallies[i], r);
	else if (i >= 0 && ok)
		tally_side(&sm->tallies[i], r);
	r->has &= ~(uint64_t)(r->type == PFM_RECORD_LOST ? PFM_SAMPLE_ID : 0);
}

static bool samples(const pfm_session_t *s)
{
	return s && s->sampling && s->sampling->tallies && !s->recording;
}

static bool has_buffers(const pfm_session_t *s)
{
	return samples(s) && s->sampling->streams;
}

/* The record that comes next, of a recording or of the buffers. 1, 0 for none, or a negative code. @go_on: only if those that were handed
 * out before stay where they are. */
static int next_bytes(struct pfm_session *s, bool go_on, const void **bytes, size_t *size)
{
	const struct stream *st;

	if (s->recording)
		return pfmi_data_next(s, go_on, bytes, size);
	if (s->backend->next_sample_record)
		return go_on ? 0 : s->backend->next_sample_record(s, bytes, size);
	st = next_stream(s, go_on);
	if (!st)
		return 0;
	*bytes = st->next;
	*size = st->next_size;
	return 1;
}

/* A record of the stream whose turn it is goes before those of others up to this time. */
static uint64_t limit_of_run(const struct sampling *sm)
{
	uint64_t limit = sm->until;

	for (unsigned child = 1; child <= 2 && child < sm->n_heap; child++) {
		uint64_t theirs = sm->streams[sm->heap[child]].next_time - (sm->heap[child] < sm->heap[0]);

		limit = theirs < limit ? theirs : limit;
	}
	return limit;
}

/* How many records of @size bytes lie in one piece at @at of the buffer, up to @n. */
static unsigned in_one_piece(const struct ring *r, uint64_t at, size_t size, unsigned n)
{
	uint64_t left = r->head - r->tail < r->size - at ? r->head - r->tail : r->size - at;

	return left >= n * (uint64_t)size ? n : (unsigned)(left / size);
}

/* Looks how many samples of one event, that are words and nothing else, there are behind the record that was handed out last, in one piece
 * and before those of other buffers: most records of most sessions. */
static void begin_run(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;
	const struct ring *ring = sm->last >= 0 && sm->streams ? &sm->streams[sm->last].ring : NULL;
	uint64_t at = ring ? ring->tail & (ring->size - 1) : 0, id;
	const struct layout *l;
	int i;

	if (!ring || !in_one_piece(ring, at, RECORD_HEAD + sizeof(id), 1))
		return;
	memcpy(&id, ring->data + at + RECORD_HEAD, sizeof(id));
	i = count_of(sm, id);
	l = i >= 0 ? &sm->tallies[i].layout : NULL;
	if (!l || !l->flat)
		return;
	sm->alike = in_one_piece(ring, at, l->size, UINT_MAX);
	sm->run = (struct run){ ring->data + at, l->size, l->fields, id, limit_of_run(sm), s->counts[i].config.period, (uint32_t)i, 0, 0 };
}

/* Does for up to @n samples of the run what next_bytes() and decode() would, and returns how many there were. */
static unsigned go_on_with_run(struct sampling *sm, pfm_record_t *records, unsigned n)
{
	const struct run *u = &sm->run;
	struct stream *st = &sm->streams[sm->last];
	struct tally *t = &sm->tallies[u->event];

	n = pfmi_record_run(&sm->run, records, n < sm->alike ? n : sm->alike);
	sm->alike = n ? sm->alike - n : 0;
	if (n == 0)
		return 0;
	sm->bytes += st->next_size + (n - 1) * u->size;
	st->next = u->at - u->size;
	st->next_size = u->size;
	st->ring.tail += n * u->size;
	if (records[n - 1].time > st->next_time)
		st->next_time = records[n - 1].time;
	t->samples += n;
	t->exact += u->exact;
	t->weight += u->weight;
	return n;
}

static unsigned next_run(struct pfm_session *s, pfm_record_t *records, unsigned n)
{
	struct sampling *sm = s->sampling;
	unsigned k = sm->alike ? go_on_with_run(sm, records, n) : 0;

	if (k)
		return k;
	begin_run(s);
	return sm->alike ? go_on_with_run(sm, records, n) : 0;
}

/* The next record, into a struct of the caller's, which is @size bytes long. */
static int next_one(struct pfm_session *s, bool go_on, size_t size, pfm_record_t *record)
{
	size_t len;
	const void *bytes;
	pfm_record_t r;
	int rc = next_bytes(s, go_on, &bytes, &len);

	if (rc != 1)
		return rc;
	if (size >= sizeof(r)) {
		decode(s, bytes, len, record);
		record->size = size;
		return 1;
	}
	decode(s, bytes, len, &r);
	record->size = size;
	pfmi_give(record, &r, sizeof(r));
	return 1;
}

int pfm_next_record(pfm_session_t *s, pfm_record_t *record)
{
	if ((!samples(s) && !(s && s->recording)) || !pfmi_sized(record))
		return PFMLIB_ERR_INVAL;
	if (s->sampling->n_streams && s->sampling->last >= 0)
		give_room(s->sampling, (unsigned)s->sampling->last);
	if (record->size == sizeof(*record) && next_run(s, record, 1))
		return 1;
	return next_one(s, false, record->size, record);
}

int pfm_next_records(pfm_session_t *s, pfm_record_t *records, unsigned n)
{
	unsigned k = 0;

	if ((!samples(s) && !(s && s->recording)) || !pfmi_sized(records) || n > INT_MAX)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < s->sampling->n_streams; i++)
		give_room(s->sampling, i);
	while (k < n) {
		pfm_record_t *r = pfmi_nth(records, k);
		unsigned more = records->size == sizeof(*r) ? next_run(s, r, n - k) : 0;
		int rc = more ? 1 : next_one(s, k > 0, records->size, r);

		if (rc != 1)
			return k ? (int)k : rc;
		k += more ? more : 1;
	}
	return (int)k;
}

int pfm_next_bytes(pfm_session_t *s, const void **bytes, size_t *len, unsigned *buffer)
{
	struct sampling *sm;

	if (!samples(s) || !bytes || !len)
		return PFMLIB_ERR_INVAL;
	if (!has_buffers(s))
		return PFMLIB_ERR_NOTSUPP;
	sm = s->sampling;
	for (unsigned i = 0; i < sm->n_streams && sm->at == 0; i++) {
		pfmi_ring_release(&sm->streams[i].ring, 0);
		pfmi_ring_begin(&sm->streams[i].ring);
	}
	for (sm->at += sm->at == 0; sm->at <= sm->n_streams; sm->at++) {
		struct stream *st = &sm->streams[sm->at - 1];

		pfmi_ring_release(&st->ring, 0);
		*bytes = pfmi_ring_span(&st->ring, len);
		if (*len == 0)
			continue;
		sm->bytes += *len;
		if (buffer)
			*buffer = sm->at - 1;
		return 1;
	}
	sm->at = 0;
	return 0;
}

/* ---- waiting ------------------------------------------------------------------------------------------------------------- */

static bool has_data(const struct stream *st, uint64_t at_least)
{
	const struct perf_event_mmap_page *page = st->base;
	uint64_t head = pfmi_ring_head(page);

	return head - (st->ring.tail - st->next_size) >= at_least && head != st->ring.tail - st->next_size;
}

/* poll(2) tells of a wakeup once, whether anything is read or not: what is there is seen in the buffers themselves. */
static bool ready(const struct sampling *sm, bool any)
{
	for (unsigned i = 0; i < sm->n_streams; i++) {
		const struct stream *st = &sm->streams[i];

		if (has_data(st, any || sm->asked.wakeup_events ? 1 : pfmi_sampling_mark(sm, st->ring.size)))
			return true;
	}
	return false;
}

/* The task that owned the buffer has ended: another that writes into it is polled from now on. */
static void pass_on(struct sampling *sm, unsigned stream)
{
	struct stream *st = &sm->streams[stream];

	sm->places[st->place].ended = true;
	st->place = -1;
	for (unsigned i = 0; i < sm->n_places; i++)
		if (sm->places[i].fd >= 0 && !sm->places[i].ended && sm->places[i].stream == stream) {
			st->place = (int)i;
			return;
		}
}

static unsigned to_poll(const struct sampling *sm)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sm->n_streams; i++)
		if (sm->streams[i].place >= 0)
			sm->polled[n++] = (struct pollfd){ .fd = sm->places[sm->streams[i].place].fd, .events = POLLIN };
	return n;
}

/* True if a task has ended since the last look. */
static bool note_ends(struct sampling *sm)
{
	bool any = false;

	for (unsigned i = 0, at = 0; i < sm->n_streams; i++) {
		if (sm->streams[i].place < 0)
			continue;
		if (sm->polled[at++].revents & (POLLHUP | POLLERR | POLLNVAL)) {
			pass_on(sm, i);
			any = true;
		}
	}
	return any;
}

int pfm_wait_session(pfm_session_t *s, int timeout)
{
	struct sampling *sm;

	if (!samples(s))
		return PFMLIB_ERR_INVAL;
	if (s->backend->wait_for_sample)
		return s->backend->wait_for_sample(s, timeout);
	sm = s->sampling;
	if (timeout && ready(sm, false))
		return PFM_WAIT_READY;
	for (;;) {
		int rc = s->sys.poll(&s->sys, sm->polled, to_poll(sm), all_ended(sm) ? 0 : timeout);

		if (rc < 0 && rc != -EINTR) {
			s->sys_errno = -rc;
			return PFMLIB_ERR_SYS;
		}
		if (rc <= 0 || !note_ends(sm))
			break;
		timeout = 0; /* others may have ended as well: no more waiting */
	}
	if (ready(sm, true))
		return PFM_WAIT_READY;
	return all_ended(sm) ? PFM_WAIT_ENDED : PFM_WAIT_TIMEOUT;
}

unsigned pfm_session_fds(const pfm_session_t *s, int *fds, unsigned n)
{
	unsigned k = 0;

	if (!samples(s))
		return 0;
	for (unsigned i = 0; i < s->sampling->n_streams; i++) {
		const struct stream *st = &s->sampling->streams[i];

		if (st->place < 0)
			continue;
		if (k < n && fds)
			fds[k] = s->sampling->places[st->place].fd;
		k++;
	}
	return k;
}

static int send_signals(int fd, int signo)
{
	struct f_owner_ex me = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (signo && (fcntl(fd, F_SETOWN_EX, &me) || fcntl(fd, F_SETSIG, signo))))
		return -errno;
	return fcntl(fd, F_SETFL, signo ? flags | O_ASYNC : flags & ~O_ASYNC) ? -errno : 0;
}

/* The signal is the sampling event's, whoever owns the buffer. */
int pfm_session_signal(pfm_session_t *s, int signo)
{
	const struct perf_state *st;

	if (!samples(s) || signo < 0 || signo > SIGRTMAX)
		return PFMLIB_ERR_INVAL;
	if (!has_buffers(s))
		return PFMLIB_ERR_NOTSUPP;
	st = s->backend_state;
	for (unsigned i = 0; i < st->n_events; i++) {
		int rc = st->events[i].fd >= 0 ? send_signals(st->events[i].fd, signo) : 0;

		if (rc) {
			s->sys_errno = -rc;
			return PFMLIB_ERR_SYS;
		}
	}
	return PFMLIB_SUCCESS;
}

/* ---- accounts ------------------------------------------------------------------------------------------------------------ */

static uint64_t losses(const struct pfm_session *s, const struct session_count *c)
{
	const struct perf_state *st = s->backend_state;
	uint64_t lost = 0;

	if (!has_buffers(s))
		return 0;
	for (unsigned k = 0; k < c->kernel_state.n_events; k++)
		lost += st->events[c->kernel_state.first_event + k].lost_samples;
	return s->sampling->no_losses ? PFM_LOST_UNKNOWN : lost;
}

/* True if samples of count @i may have been taken for those of another, or for nobody's. For two counts of one event their number
 * shows it, once all were taken. */
static bool mixed_up(const struct pfm_session *s, unsigned i, const pfm_sample_count_t *o)
{
	const struct session_count *c = &s->counts[i];
	uint64_t all = o->samples + o->lost, right = o->period ? o->count / o->period : all;
	bool twin = false, known = o->lost != PFM_LOST_UNKNOWN && !s->running;

	if (!shares_ids(c))
		return false;
	for (unsigned k = 0; k < s->n_counts; k++)
		twin |= k != i && shares_ids(&s->counts[k]) && s->counts[k].config.attr.config == c->config.attr.config;
	return s->sampling->strange || (twin && known && (all > right ? all - right : right - all) > c->kernel_state.n_events);
}

/* Less than half of what a fixed period makes of the count: a virtual machine whose overflow interrupts wait for its clock. Each counter
 * may have begun a period; those that children inherit are too many to know. */
static bool too_few(const struct pfm_session *s, unsigned i, const pfm_sample_count_t *o)
{
	uint64_t due = o->period ? o->count / o->period : 0, parts = s->counts[i].kernel_state.n_events;

	return !(s->options.flags & PFM_SESSION_INHERIT) && due > parts + 8 && o->samples + o->discarded < (due - parts) / 2;
}

/* Dropped by the processor, or for want of room; what fell outside of the addresses that are profiled was never wanted. */
static bool is_lossy(const struct pfm_session *s, const pfm_sample_count_t *o)
{
	if (o->discarded && !s->backend->count_out_of_range)
		return true;
	return o->lost == PFM_LOST_UNKNOWN ? s->sampling->lost != 0 : o->lost != 0;
}

static void judge(const struct pfm_session *s, unsigned i, pfm_sample_count_t *o)
{
	const pfm_count_t *count = &s->last_counts[i];

	o->quality = count->quality;
	o->cause = count->cause;
	if (o->quality != PFM_QUALITY_EXACT)
		return;
	if (o->throttled) {
		o->quality = PFM_QUALITY_PARTIAL;
		o->cause = PFM_CAUSE_THROTTLED;
	} else if (is_lossy(s, o)) {
		o->quality = PFM_QUALITY_PARTIAL;
		o->cause = PFM_CAUSE_LOST;
	} else if (mixed_up(s, i, o) || too_few(s, i, o)) {
		o->quality = PFM_QUALITY_PARTIAL;
		o->cause = PFM_CAUSE_OTHER;
	}
}

int pfm_read_samples(pfm_session_t *s, unsigned i, pfm_sample_count_t *out)
{
	pfm_sample_count_t full = { .size = sizeof(full) };
	pfm_count_t count = PFM_INIT(count);
	const struct session_count *c;
	const struct tally *t;
	int rc;

	if (!samples(s) || i >= s->n_counts || !pfmi_sized(out))
		return PFMLIB_ERR_INVAL;
	rc = pfm_read_count(s, i, &count);
	if (rc)
		return rc;
	c = &s->counts[i];
	t = &s->sampling->tallies[i];
	full.precise = c->config.attr.precise;
	full.samples = t->samples;
	full.exact = t->exact;
	full.weight = t->weight;
	full.discarded = s->backend->count_out_of_range ? s->backend->count_out_of_range(s, i) : t->discarded;
	full.throttled = t->throttled;
	full.throttled_ns = t->throttled_ns;
	full.lost = losses(s, c);
	full.count = count.value;
	full.period = c->config.period;
	full.freq = c->config.freq;
	judge(s, i, &full);
	pfmi_give(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_read_buffers(const pfm_session_t *s, pfm_buffers_t *out)
{
	pfm_buffers_t full = PFM_INIT(full);

	if ((!samples(s) && !(s && s->recording)) || !pfmi_sized(out))
		return PFMLIB_ERR_INVAL;
	full.n = s->sampling->n_streams;
	full.pages = s->sampling->pages;
	full.wanted = s->sampling->asked.pages;
	full.lost = s->sampling->lost;
	full.bytes = s->sampling->bytes;
	full.skipped = s->sampling->skipped;
	full.damaged = s->recording ? pfmi_data_damaged(s) : s->sampling->damaged;
	pfmi_give(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
