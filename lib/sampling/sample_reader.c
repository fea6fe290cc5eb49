/* SPDX-License-Identifier: MIT */
/* Returns records one by one, the oldest of all buffers first, decoded in place, and counts the
 * losses that the kernel reports. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include "sampling/sampling_internal.h"
#include "base/sizes.h"

/* the longest delay of a buffer that does not disturb the order */
#define MAX_BUFFER_DELAY_NS 1000000u
/* A record that seems to come from so far ahead has the time of another clock. */
#define MAX_LEAD_NS 60000000000u

/* ---- the order of buffers ------------------------------------------------------------------ */

static bool is_earlier_buffer(const struct sampling_state *sm, unsigned a, unsigned b)
{
	const struct sample_buffer *x = &sm->buffers[a], *y = &sm->buffers[b];

	return x->next_time < y->next_time || (x->next_time == y->next_time && a < b);
}

/* Moves the top of the heap down to its place. */
static void sift_down_heap(struct sampling_state *sm)
{
	unsigned at = 0;

	for (;;) {
		unsigned child = 2 * at + 1, top = sm->buffer_heap[at];

		if (child >= sm->n_heap)
			return;
		if (child + 1 < sm->n_heap &&
		    is_earlier_buffer(sm, sm->buffer_heap[child + 1], sm->buffer_heap[child]))
			child++;
		if (!is_earlier_buffer(sm, sm->buffer_heap[child], top))
			return;
		sm->buffer_heap[at] = sm->buffer_heap[child];
		sm->buffer_heap[child] = top;
		at = child;
	}
}

static void push_buffer_to_heap(struct sampling_state *sm, unsigned stream)
{
	unsigned at = sm->n_heap++;

	sm->buffer_heap[at] = stream;
	while (at && is_earlier_buffer(sm, sm->buffer_heap[at], sm->buffer_heap[(at - 1) / 2])) {
		sm->buffer_heap[at] = sm->buffer_heap[(at - 1) / 2];
		at = (at - 1) / 2;
		sm->buffer_heap[at] = stream;
	}
}

/* ---- passes -------------------------------------------------------------------------------- */

/* The time of a record; 0 if it has none, or that of another session's clock. Linux computes the id
 * and the time of a software event once for all sessions that sample it. */
static uint64_t get_own_time(struct sampling_state *sm, const void *bytes, size_t size)
{
	const uint64_t time = pfmi_sampling_get_record_time(&sm->common_layout, bytes, size);

	return time > sm->latest_time || pfmi_sampling_is_of_other_session(sm, bytes, size) ? 0
	                                                                                    : time;
}

/* A record without a time follows the record before it in its buffer. */
static bool peek_next_record(struct sampling_state *sm, struct sample_buffer *st)
{
	uint64_t time;

	st->next_record = pfmi_sampling_read_ring_record(&st->ring, &st->next_size);
	if (!st->next_record) {
		st->next_size = 0;
		return false;
	}
	time = sm->n_buffers > 1 ? get_own_time(sm, st->next_record, st->next_size) : 0;
	if (time > st->next_time)
		st->next_time = time;
	return true;
}

uint64_t pfmi_sampling_get_clock_ns(int clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Gives up a buffer with a damaged record, because the records after it cannot be found. */
static void discard_damaged_buffer(struct sampling_state *sm, struct sample_buffer *st)
{
	sm->n_damaged_buffers++;
	st->ring.tail = st->ring.head;
	st->ring.is_damaged = false;
	pfmi_sampling_release_ring_data(&st->ring, 0);
}

/* Begins a pass over the records that are in the buffers now, without those that may precede a
 * delayed one. */
static void begin_pass(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;
	/* Reads the clock before the buffers: records that are missing from them are younger. */
	const uint64_t now = sm->n_buffers > 1 ? pfmi_sampling_get_clock_ns(sm->config.clock) : 0;

	sm->latest_time = now + MAX_LEAD_NS;
	sm->pass_time_limit =
		sm->n_buffers > 1 && s->live.running && !sampling_has_only_ended_tasks(sm)
			? now - MAX_BUFFER_DELAY_NS
			: UINT64_MAX;
	sm->n_heap = 0;
	for (unsigned i = 0; i < sm->n_buffers; i++) {
		struct sample_buffer *st = &sm->buffers[i];

		pfmi_sampling_release_ring_data(&st->ring, st->next_size);
		pfmi_sampling_begin_ring_pass(&st->ring);
		if (st->next_record || peek_next_record(sm, st))
			push_buffer_to_heap(sm, i);
		else if (st->ring.is_damaged)
			discard_damaged_buffer(sm, st);
	}
}

/* Advances the stream of the last record. */
static void advance_last_buffer(struct sampling_state *sm)
{
	struct sample_buffer *st = &sm->buffers[sm->buffer_heap[0]];

	sm->n_bytes += st->next_size;
	if (!peek_next_record(sm, st))
		sm->buffer_heap[0] = sm->buffer_heap[--sm->n_heap];
	sift_down_heap(sm);
}

/* Returns the memory of earlier records to the kernel before the buffer is full. */
static void release_read_data(struct sampling_state *sm, unsigned stream)
{
	struct sample_buffer *st = &sm->buffers[stream];

	if (st->ring.tail - st->ring.released_tail > st->ring.size / 4)
		pfmi_sampling_release_ring_data(&st->ring,
		                                (int)stream == sm->last_buffer ? 0 : st->next_size);
}

/* True if this pass has no more records. */
static bool is_pass_over(const struct sampling_state *sm)
{
	return !sm->n_heap || sm->buffers[sm->buffer_heap[0]].next_time > sm->pass_time_limit;
}

/* The stream of the next record, or NULL. @go_on: the caller still uses earlier records, so no new
 * pass may begin. */
static struct sample_buffer *select_next_buffer(struct pfm_session *s, bool go_on)
{
	struct sampling_state *sm = s->sampling;

	if (sm->last_buffer >= 0)
		advance_last_buffer(sm);
	sm->last_buffer = -1;
	sm->n_run_left = 0;
	if (is_pass_over(sm) && !go_on)
		begin_pass(s);
	if (is_pass_over(sm))
		return NULL;
	sm->last_buffer = (int)sm->buffer_heap[0];
	return &sm->buffers[sm->last_buffer];
}

/* ---- what a record says -------------------------------------------------------------------- */

static void add_sample_to_totals(const struct session_count *c, struct sample_totals *t,
                                 pfm_record_t *r)
{
	if (!(r->has & PFM_SAMPLE_PERIOD)) {
		r->body.sample.period = c->config.period;
		r->has |= PFM_SAMPLE_PERIOD;
	}
	t->n_samples++;
	t->n_exact += (r->misc & PFM_MISC_EXACT) != 0;
	t->total_weight += r->body.sample.period;
}

static void add_side_record_to_totals(struct sample_totals *t, const pfm_record_t *r)
{
	if (r->type == PFM_RECORD_LOST_SAMPLES) {
		t->n_discarded += r->body.lost.lost;
	} else if (r->type == PFM_RECORD_THROTTLE) {
		t->n_throttled++;
		t->throttled_since = r->time;
	} else if (r->type == PFM_RECORD_UNTHROTTLE && t->throttled_since) {
		t->throttled_ns += r->time > t->throttled_since ? r->time - t->throttled_since : 0;
		t->throttled_since = 0;
	}
}

/* The count of a sample with an unknown id, or -1. *@several: more than one count is possible. */
static int guess_software_count(const struct pfm_session *s, bool *several)
{
	struct sampling_state *sm = s->sampling;
	int cpu = sm->last_buffer >= 0 && sm->buffers ? sm->buffers[sm->last_buffer].cpu : -1,
	    found = -1;

	*several = sm->software_guess.is_ambiguous;
	if (s->recording && sm->software_guess.n_counts == s->n_counts)
		return sm->software_guess.count_index;
	*several = false;
	for (unsigned i = 0; i < s->n_counts; i++) {
		const struct session_count *c = &s->counts[i];

		if (!sampling_has_shared_ids(c) ||
		    (!s->recording &&
		     (!c->kernel_state.n_open || (c->config.cpu >= 0 && c->config.cpu != cpu))))
			continue;
		*several |= found >= 0;
		found = found < 0 ? (int)i : found;
	}
	sm->software_guess = (struct software_guess){ s->n_counts, found, *several };
	return found;
}

/* The layout of a record with an id of another session. *@i: its count, if there is only one
 * possibility. */
static const struct record_layout *guess_record_layout(struct pfm_session *s, const void *bytes,
                                                       int *i)
{
	struct sampling_state *sm = s->sampling;
	struct record_header head;
	bool several = false;
	int like = -1;

	memcpy(&head, bytes, sizeof(head));
	if (s->n_counts == 1 && !(sm->n_event_ids && sampling_has_event_id(&sm->common_layout)))
		like = 0; /* a recording of one event, whose samples need no ids */
	else if (head.type == PFM_RECORD_SAMPLE)
		like = guess_software_count(s, &several);
	sm->n_ambiguous_samples += several;
	if (!several)
		*i = like;
	return like >= 0 ? &sm->totals[like].layout : &sm->common_layout;
}

/* Decodes a record. A damaged record has only its type and its bytes. False without memory. */
static bool decode_record(struct pfm_session *s, const void *bytes, size_t size, pfm_record_t *r)
{
	struct sampling_state *sm = s->sampling;
	const int own = pfmi_sampling_find_count(
		sm, pfmi_sampling_get_record_id(&sm->common_layout, bytes, size));
	int i = own;
	const struct record_layout *l =
		i >= 0 ? &sm->totals[i].layout : guess_record_layout(s, bytes, &i);
	bool ok = pfmi_sampling_decode_record(l, bytes, size, r), has_memory = true;

	/* In a shared buffer, a record about losses has the id of the event that was written next,
	 * not of those that were lost. */
	if (r->type == PFM_RECORD_LOST)
		sm->n_lost += r->body.lost.lost;
	else if (i >= 0)
		r->event = (uint32_t)i;
	if (i >= 0 && ok && r->type == PFM_RECORD_SAMPLE) {
		has_memory = !s->recording || pfmi_sampling_begin_group(sm, l, r);
		add_sample_to_totals(&s->counts[i], &sm->totals[i], r);
	} else if (i >= 0 && ok) {
		add_side_record_to_totals(&sm->totals[i], r);
	}
	r->has &= ~(uint64_t)(r->type == PFM_RECORD_LOST ? PFM_SAMPLE_ID : 0);
	/* A recording has the time of the record before in its place. */
	if (own < 0 && !s->recording && pfmi_sampling_is_of_other_session(sm, bytes, size)) {
		r->time = 0;
		r->has &= ~(uint64_t)PFM_SAMPLE_TIME;
	}
	return has_memory;
}

bool pfmi_sampling_uses_device(const pfm_session_t *s)
{
	return s->live.backend == &pfmi_device_backend;
}

/* Reads the next record of a recording or of the buffers. Returns 1, 0 if no record is ready,
 * or a negative code. @go_on: earlier records must stay valid. */
static int read_next_record_bytes(struct pfm_session *s, bool go_on, const void **bytes,
                                  size_t *size)
{
	const struct sample_buffer *st;

	if (s->recording)
		return s->recording_ops->read_record(s, go_on, bytes, size);
	if (pfmi_sampling_uses_device(s))
		return go_on ? 0 : pfmi_device_read_next_sample(s, bytes, size);
	st = select_next_buffer(s, go_on);
	if (!st)
		return 0;
	*bytes = st->next_record;
	*size = st->next_size;
	return 1;
}

/* The time up to which records of the present stream precede those of other streams. */
static uint64_t get_run_time_limit(const struct sampling_state *sm)
{
	uint64_t limit = sm->pass_time_limit;

	for (unsigned child = 1; child <= 2 && child < sm->n_heap; child++) {
		uint64_t theirs = sm->buffers[sm->buffer_heap[child]].next_time -
		                  (sm->buffer_heap[child] < sm->buffer_heap[0]);

		limit = theirs < limit ? theirs : limit;
	}
	return limit;
}

/* Counts records of @size bytes that are in one piece at @at of the buffer, up to @n. */
static unsigned count_contiguous_records(const struct ring_buffer *r, uint64_t at, size_t size,
                                         unsigned n)
{
	uint64_t left = r->head - r->tail < r->size - at ? r->head - r->tail : r->size - at;

	return left >= n * (uint64_t)size ? n : (unsigned)(left / size);
}

/* Finds a run: samples of one event with a fixed layout that follow the last record without a gap
 * and precede those of other buffers. Most records are in runs. */
static void begin_run(struct pfm_session *s)
{
	struct sampling_state *sm = s->sampling;
	const struct ring_buffer *ring =
		sm->last_buffer >= 0 && sm->buffers ? &sm->buffers[sm->last_buffer].ring : NULL;
	uint64_t at = ring ? ring->tail & (ring->size - 1) : 0, id;
	const struct record_layout *l;
	int i;

	if (!ring || !count_contiguous_records(ring, at, RECORD_HEADER_SIZE + sizeof(id), 1))
		return;
	memcpy(&id, ring->data + at + RECORD_HEADER_SIZE, sizeof(id));
	i = pfmi_sampling_find_count(sm, id);
	l = i >= 0 ? &sm->totals[i].layout : NULL;
	if (!l || !l->is_fixed_size)
		return;
	sm->n_run_left = count_contiguous_records(ring, at, l->sample_size, UINT_MAX);
	sm->run = (struct sample_run){ ring->data + at,
		                       l->sample_size,
		                       l->fields,
		                       id,
		                       get_run_time_limit(sm),
		                       s->counts[i].config.period,
		                       (uint32_t)i,
		                       0,
		                       0 };
}

/* Decodes up to @n samples of the run and updates the totals. Returns their number. */
static unsigned decode_run_samples(struct sampling_state *sm, pfm_record_t *records, unsigned n)
{
	const struct sample_run *u = &sm->run;
	struct sample_buffer *st = &sm->buffers[sm->last_buffer];
	struct sample_totals *t = &sm->totals[u->count_index];

	n = pfmi_sampling_decode_run(&sm->run, records, n < sm->n_run_left ? n : sm->n_run_left);
	sm->n_run_left = n ? sm->n_run_left - n : 0;
	if (n == 0)
		return 0;
	sm->n_bytes += st->next_size + (n - 1) * u->sample_size;
	st->next_record = u->next_sample - u->sample_size;
	st->next_size = u->sample_size;
	st->ring.tail += n * u->sample_size;
	if (records[n - 1].time > st->next_time)
		st->next_time = records[n - 1].time;
	t->n_samples += n;
	t->n_exact += u->n_exact;
	t->total_weight += u->total_weight;
	return n;
}

static unsigned read_sample_run(struct pfm_session *s, pfm_record_t *records, unsigned n)
{
	struct sampling_state *sm = s->sampling;
	unsigned k = sm->n_run_left ? decode_run_samples(sm, records, n) : 0;

	if (k)
		return k;
	begin_run(s);
	return sm->n_run_left ? decode_run_samples(sm, records, n) : 0;
}

/* Decodes the next record, or makes the sample of the next member of a group. */
static int decode_next_record(struct pfm_session *s, bool go_on, pfm_record_t *r)
{
	struct sampling_state *sm = s->sampling;
	int rc = sm->group.n_left ? pfmi_sampling_next_member(sm, r) : 0;
	const void *bytes;
	size_t len;

	if (rc == 1)
		add_sample_to_totals(&s->counts[r->event], &sm->totals[r->event], r);
	if (rc)
		return rc;
	rc = read_next_record_bytes(s, go_on, &bytes, &len);
	if (rc != 1)
		return rc;
	return decode_record(s, bytes, len, r) ? 1 : PFMLIB_ERR_NOMEM;
}

/* Reads the next record into a structure of the caller, which has @size bytes. */
static int read_one_record(struct pfm_session *s, bool go_on, size_t size, pfm_record_t *record)
{
	pfm_record_t r;
	bool is_whole = size >= sizeof(r);
	int rc = decode_next_record(s, go_on, is_whole ? record : &r);

	if (rc != 1)
		return rc;
	record->size = size;
	if (!is_whole)
		base_copy_struct_out(record, &r, sizeof(r));
	return 1;
}

int pfm_next_record(pfm_session_t *s, pfm_record_t *record)
{
	if ((!sampling_is_active(s) && !(s && s->recording)) || !base_has_struct_size(record))
		return PFMLIB_ERR_INVAL;
	if (s->sampling->n_buffers && s->sampling->last_buffer >= 0)
		release_read_data(s->sampling, (unsigned)s->sampling->last_buffer);
	if (record->size == sizeof(*record) && read_sample_run(s, record, 1))
		return 1;
	return read_one_record(s, false, base_get_struct_size(record), record);
}

int pfm_next_records(pfm_session_t *s, pfm_record_t *records, unsigned n)
{
	unsigned k = 0;

	if ((!sampling_is_active(s) && !(s && s->recording)) || !base_has_struct_size(records) ||
	    n > INT_MAX)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < s->sampling->n_buffers; i++)
		release_read_data(s->sampling, i);
	while (k < n) {
		pfm_record_t *r = base_get_struct_at(records, k);
		unsigned more = records->size == sizeof(*r) ? read_sample_run(s, r, n - k) : 0;
		int rc = more ? 1 : read_one_record(s, k > 0, base_get_struct_size(records), r);

		if (rc != 1)
			return k ? (int)k : rc;
		k += more ? more : 1;
	}
	return (int)k;
}

int pfm_next_bytes(pfm_session_t *s, const void **bytes, size_t *len, unsigned *buffer)
{
	struct sampling_state *sm;

	if (!sampling_is_active(s) || !bytes || !len)
		return PFMLIB_ERR_INVAL;
	if (!sampling_has_buffers(s))
		return PFMLIB_ERR_NOTSUPP;
	sm = s->sampling;
	for (unsigned i = 0; i < sm->n_buffers && sm->next_bytes_buffer == 0; i++) {
		pfmi_sampling_release_ring_data(&sm->buffers[i].ring, 0);
		pfmi_sampling_begin_ring_pass(&sm->buffers[i].ring);
	}
	for (sm->next_bytes_buffer += sm->next_bytes_buffer == 0;
	     sm->next_bytes_buffer <= sm->n_buffers; sm->next_bytes_buffer++) {
		struct sample_buffer *st = &sm->buffers[sm->next_bytes_buffer - 1];

		pfmi_sampling_release_ring_data(&st->ring, 0);
		*bytes = pfmi_sampling_read_ring_bytes(&st->ring, len);
		if (*len == 0)
			continue;
		sm->n_bytes += *len;
		if (buffer)
			*buffer = sm->next_bytes_buffer - 1;
		return 1;
	}
	sm->next_bytes_buffer = 0;
	return 0;
}
