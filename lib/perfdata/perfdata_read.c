/* SPDX-License-Identifier: MIT */
/* Reading perf.data: ours or perf's, of this machine or one of the other byte order, whole or cut
 * off, from a file or a pipe. The file is not trusted: every offset and size is checked against
 * what is there. Records wait in a heap, the oldest first. A mark of a finished round releases all
 * that are not younger than the round before: nothing older can follow. */
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "base/sizes.h"
#include "context/context.h"

#define MAX_RECORDED_EVENTS 4096u
#define MAX_RECORDED_IDS    (1u << 20)
#define INPUT_BUFFER_SIZE   (1u << 18)
/* where no record marks rounds, so much is sorted at once */
#define MAX_POOL_SIZE ((size_t)1 << 30)

struct pending_record {
	uint64_t time, sequence;
	size_t pool_offset, size;
};

/* Records start .. end of the list wait. */
struct record_queue {
	struct pending_record *list;
	size_t start, end, capacity;
};

struct perfdata_reader {
	int fd;
	bool is_foreign, is_big_endian, has_ended, is_pipe;
	bool is_damaged; /* the file ends too early or has a bad record; the rest cannot be read */
	uint64_t n_bytes_left; /* bytes of the data section still to be read */
	uint8_t *input;        /* buffer; bytes input_start .. input_end are not used yet */
	size_t input_start, input_end;
	uint8_t *pool; /* bytes of records that wait to be sorted */
	size_t pool_used, pool_capacity;
	struct record_queue in_order;   /* records not older than the one before them */
	struct pending_record *pending; /* a heap of the other records */
	size_t n_pending, pending_capacity;
	size_t n_live_bytes;  /* bytes of the pool that belong to waiting records */
	uint64_t ready_until; /* records up to this time may be handed out ... */
	size_t n_forced;      /* ... and so many whatever their time */
	bool has_ready_until;
	struct zstd_codec *zstd;
	/* records out of a compressed record; they come before the records after it */
	struct byte_buffer unpacked;
	/* the newest time, now and at the last mark */
	uint64_t next_sequence, newest_time, round_time;
	unsigned ids_capacity;
	/* layout of tracepoints' fields; NULL: not recorded */
	uint8_t *tracing_data;
	size_t tracing_data_size;
};

/* ---- numbers ------------------------------------------------------------------------------- */

static uint64_t decode_u64(const struct perfdata_reader *r, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_64(v) : v;
}

static uint32_t decode_u32(const struct perfdata_reader *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_32(v) : v;
}

static uint16_t decode_u16(const struct perfdata_reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_16(v) : v;
}

static bool read_at_offset(const struct perfdata_reader *r, void *to, size_t n, uint64_t offset)
{
	uint8_t *p = to;

	while (n) {
		ssize_t got = offset > INT64_MAX ? 0 : pread(r->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

/* ---- events -------------------------------------------------------------------------------- */

/* Bit @i of the flags: where the highest byte comes first, so do the first bits. */
static bool get_attr_flag(const struct perfdata_reader *r, uint64_t flags, unsigned i)
{
	return (r->is_big_endian ? flags >> (63 - i) : flags >> i) & 1;
}

/* The part of an event's attributes that says how its records are laid out; @n bytes are there. */
static int add_event(struct pfm_session *s, const uint8_t *given, size_t n)
{
	const struct perfdata_reader *r = s->recording;
	struct session_count *counts = realloc(s->counts, (s->n_counts + 1) * sizeof(*counts));
	struct sample_totals *tallies =
		realloc(s->sampling->totals, (s->n_counts + 1) * sizeof(*tallies));
	uint8_t a[PERFDATA_ATTR_SIZE] = { 0 };
	char *name = pfmi_session_alloc_name(s, 256);
	struct session_count *c;
	uint64_t flags;
	uint16_t frames;

	s->counts = counts ? counts : s->counts;
	s->sampling->totals = tallies ? tallies : s->sampling->totals;
	if (!counts || !tallies || !name || s->n_counts == MAX_RECORDED_EVENTS)
		return PFMLIB_ERR_NOMEM;
	memcpy(a, given, n < sizeof(a) ? n : sizeof(a));
	flags = decode_u64(r, a + 40);
	frames = decode_u16(r, a + 108);
	tallies[s->n_counts] =
		(struct sample_totals){ .layout = { .fields = decode_u64(r, a + 24),
		                                    .read_format = decode_u64(r, a + 32),
		                                    .branch_type = decode_u64(r, a + 72),
		                                    .user_regs = decode_u64(r, a + 80),
		                                    .intr_regs = decode_u64(r, a + 96),
		                                    .max_frames =
		                                            frames ? frames : DEFAULT_MAX_FRAMES,
		                                    .is_inherited = get_attr_flag(r, flags, 1),
		                                    .has_trailers = get_attr_flag(r, flags, 18) } };
	c = &counts[s->n_counts++];
	*c = (struct session_count){ .config = { .name = name,
		                                 .cpus = "",
		                                 .unit = "",
		                                 .scale = 1,
		                                 .group = s->n_counts - 1,
		                                 .request = s->n_counts - 1 } };
	c->config.attr = (pfm_attr_t){ .type = decode_u32(r, a),
		                       .type_known = 1,
		                       .config = decode_u64(r, a + 8),
		                       .expressible = 1 };
	c->config.attr.exclude_user = get_attr_flag(r, flags, 4);
	c->config.attr.exclude_kernel = get_attr_flag(r, flags, 5);
	*(get_attr_flag(r, flags, 10) ? &c->config.freq : &c->config.period) =
		decode_u64(r, a + 16);
	pfmi_session_fail_count(c, PFM_CAUSE_OTHER, 0, "", "a recording has samples but no counts");
	return 0;
}

static int add_event_id(struct pfm_session *s, uint64_t id, unsigned event)
{
	struct sampling_state *sm = s->sampling;
	struct perfdata_reader *r = s->recording;

	if (sm->n_event_ids == MAX_RECORDED_IDS)
		return PFMLIB_ERR_INVAL;
	if (sm->n_event_ids == r->ids_capacity) {
		unsigned room = r->ids_capacity * 2 + 64;
		struct event_id *known = realloc(sm->event_ids, room * sizeof(*known));

		if (!known)
			return PFMLIB_ERR_NOMEM;
		sm->event_ids = known;
		r->ids_capacity = room;
	}
	/* The first of several events that claim one id gets it. */
	if (pfmi_sampling_find_count(sm, id) >= 0)
		return 0;
	if (!pfmi_base_add_hash(&sm->id_table, pfmi_base_hash_number(id), sm->n_event_ids))
		return PFMLIB_ERR_NOMEM;
	sm->event_ids[sm->n_event_ids++] = (struct event_id){ id, event };
	return 0;
}

static int find_event_by_id(struct pfm_session *s, uint64_t id)
{
	return pfmi_sampling_find_count(s->sampling, id);
}

/* The layout of the first event locates the task and the time of every record, as long as the
 * events agree. */
static void update_common_layout(struct pfm_session *s)
{
	if (s->n_counts)
		s->sampling->common_layout = s->sampling->totals[0].layout;
}

static void set_event_name(struct pfm_session *s, unsigned event, const uint8_t *text, size_t n)
{
	size_t len = n < 255 ? n : 255;
	const uint8_t *end = memchr(text, 0, len);

	if (end)
		len = (size_t)(end - text);
	memcpy(s->counts[event].config.name, text, len);
	s->counts[event].config.name[len] = '\0';
}

static void name_unnamed_events(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		const pfm_attr_t *a = &s->counts[i].config.attr;
		static const char soft[][20] = { "cpu-clock",        "task-clock",
			                         "page-faults",      "context-switches",
			                         "cpu-migrations",   "minor-faults",
			                         "major-faults",     "alignment-faults",
			                         "emulation-faults", "dummy" };
		static const char hard[][24] = { "cycles",       "instructions", "cache-references",
			                         "cache-misses", "branches",     "branch-misses" };

		if (*s->counts[i].config.name)
			continue;
		if (a->type == PERF_TYPE_SOFTWARE && a->config < sizeof(soft) / sizeof(soft[0]))
			set_event_name(s, i, (const uint8_t *)soft[a->config], sizeof(soft[0]));
		else if (a->type == PERF_TYPE_HARDWARE &&
		         a->config < sizeof(hard) / sizeof(hard[0]))
			set_event_name(s, i, (const uint8_t *)hard[a->config], sizeof(hard[0]));
		else
			set_event_name(s, i, (const uint8_t *)"unnamed", sizeof("unnamed"));
	}
}

/* ---- the head of a file -------------------------------------------------------------------- */

static int read_event_ids(struct pfm_session *s, unsigned event, uint64_t offset, uint64_t size)
{
	const struct perfdata_reader *r = s->recording;

	if (size / 8 > MAX_RECORDED_IDS)
		return PFMLIB_ERR_INVAL;
	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		uint8_t id[8];
		int rc = read_at_offset(r, id, sizeof(id), offset + at)
		                 ? add_event_id(s, decode_u64(r, id), event)
		                 : PFMLIB_ERR_INVAL;

		if (rc)
			return rc;
	}
	return 0;
}

static int read_attrs(struct pfm_session *s, const uint8_t *head)
{
	const struct perfdata_reader *r = s->recording;
	uint64_t entry = decode_u64(r, head + 16), offset = decode_u64(r, head + 24),
		 size = decode_u64(r, head + 32);
	uint8_t bytes[4096];

	if (entry < 64 + 16 || entry > sizeof(bytes) || size / entry > MAX_RECORDED_EVENTS ||
	    size < entry)
		return PFMLIB_ERR_INVAL;
	for (uint64_t i = 0; i < size / entry; i++) {
		int rc;

		if (!read_at_offset(r, bytes, (size_t)entry, offset + i * entry))
			return PFMLIB_ERR_INVAL;
		rc = add_event(s, bytes, (size_t)entry - 16);
		if (!rc)
			rc = read_event_ids(s, s->n_counts - 1, decode_u64(r, bytes + entry - 16),
			                    decode_u64(r, bytes + entry - 8));
		if (rc)
			return rc;
	}
	return 0;
}

/* Names of events, from the table after the data. Whatever is wrong with it, there are just no
 * names. */
static void read_event_names(struct pfm_session *s, uint64_t offset, uint64_t size)
{
	const struct perfdata_reader *r = s->recording;
	uint8_t *desc = size >= 8 && size <= 1u << 24 ? malloc((size_t)size) : NULL;
	uint64_t at = 8, attr, n;

	if (!desc || !read_at_offset(r, desc, (size_t)size, offset)) {
		free(desc);
		return;
	}
	n = decode_u32(r, desc);
	attr = decode_u32(r, desc + 4);
	for (uint64_t i = 0; i < n && i < s->n_counts && attr <= size && at + attr + 8 <= size;
	     i++) {
		uint64_t ids = decode_u32(r, desc + at + attr),
			 len = decode_u32(r, desc + at + attr + 4);

		at += attr + 8;
		if (len > size - at)
			break;
		set_event_name(s, (unsigned)i, desc + at, (size_t)len);
		at += len;
		if (ids > (size - at) / 8)
			break;
		at += ids * 8;
	}
	free(desc);
}

/* Allocates memory for the formats of tracepoints. Returns false if they are too large. */
static bool alloc_tracing_data(struct perfdata_reader *r, uint64_t size)
{
	free(r->tracing_data);
	r->tracing_data = size && size <= MAX_UNPACKED_SIZE ? malloc((size_t)size) : NULL;
	r->tracing_data_size = r->tracing_data ? (size_t)size : 0;
	return r->tracing_data != NULL;
}

static void read_tracing_data(struct perfdata_reader *r, uint64_t offset, uint64_t size)
{
	if (alloc_tracing_data(r, size) &&
	    !read_at_offset(r, r->tracing_data, r->tracing_data_size, offset))
		r->tracing_data_size = 0;
}

static void read_features(struct pfm_session *s, const uint8_t *head, uint64_t table)
{
	const struct perfdata_reader *r = s->recording;
	unsigned at = 0;

	for (unsigned bit = 0; bit < PERFDATA_N_FEATURES; bit++) {
		uint8_t section[16];

		if (!(decode_u64(r, head + 72 + bit / 64 * 8) >> bit % 64 & 1))
			continue;
		if (read_at_offset(r, section, sizeof(section), table + at * 16)) {
			if (bit == PERFDATA_FEATURE_EVENT_DESC)
				read_event_names(s, decode_u64(r, section),
				                 decode_u64(r, section + 8));
			else if (bit == PERFDATA_FEATURE_TRACING)
				read_tracing_data(s->recording, decode_u64(r, section),
				                  decode_u64(r, section + 8));
		}
		at++;
	}
}

static int read_header(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	uint8_t head[sizeof(struct perfdata_header)];
	uint64_t offset, size;
	struct stat st;
	int rc;

	if (!read_at_offset(r, head, sizeof(head), 0) || fstat(r->fd, &st))
		return PFMLIB_ERR_INVAL;
	offset = decode_u64(r, head + 40);
	size = decode_u64(r, head + 48);
	if (offset > (uint64_t)st.st_size)
		return PFMLIB_ERR_INVAL;
	rc = read_attrs(s, head);
	if (rc)
		return rc;
	/* A writer that was killed left no size: all there is, and more there should be. */
	if (size)
		read_features(s, head, offset + size);
	r->n_bytes_left = size ? size : UINT64_MAX;
	return lseek(r->fd, (off_t)offset, SEEK_SET) < 0 ? PFMLIB_ERR_SYS : 0;
}

/* ---- records ------------------------------------------------------------------------------- */

/* Makes @n bytes of input available, or fewer at the end. */
static size_t fill_input(struct perfdata_reader *r, size_t n)
{
	if (r->input_end - r->input_start >= n)
		return n;
	memmove(r->input, r->input + r->input_start, r->input_end - r->input_start);
	r->input_end -= r->input_start;
	r->input_start = 0;
	while (r->input_end < n && r->n_bytes_left) {
		size_t want = INPUT_BUFFER_SIZE - r->input_end < r->n_bytes_left
		                      ? INPUT_BUFFER_SIZE - r->input_end
		                      : (size_t)r->n_bytes_left;
		ssize_t got = read(r->fd, r->input + r->input_end, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		r->input_end += (size_t)got;
		r->n_bytes_left -= (uint64_t)got;
	}
	return r->input_end < n ? r->input_end : n;
}

static void skip_input(struct perfdata_reader *r, uint64_t n)
{
	while (n) {
		size_t have = fill_input(r, n < INPUT_BUFFER_SIZE ? (size_t)n : INPUT_BUFFER_SIZE);

		if (!have)
			return;
		r->input_start += have;
		n -= have;
	}
}

/* Reads the formats of tracepoints from a pipe, where they follow their record. */
static void read_piped_tracing_data(struct perfdata_reader *r, uint64_t size)
{
	size_t done = 0;

	if (!alloc_tracing_data(r, size)) {
		skip_input(r, size);
		return;
	}
	while (done < size) {
		size_t have = fill_input(r, size - done < INPUT_BUFFER_SIZE ? (size_t)size - done
		                                                            : INPUT_BUFFER_SIZE);

		if (!have)
			break;
		memcpy(r->tracing_data + done, r->input + r->input_start, have);
		r->input_start += have;
		done += have;
	}
	r->tracing_data_size = done;
}

/* Swaps a record of the other byte order. Its type is swapped first, because the position of its
 * event id depends on it. */
static void swap_record(struct pfm_session *s, uint8_t *record, size_t size)
{
	const struct record_layout *l = &s->sampling->common_layout;
	struct record_header head;
	uint32_t type;
	int event;

	memcpy(&type, record, sizeof(type));
	memcpy(&head, record, sizeof(head));
	head.type = bswap_32(type);
	memcpy(record, &head, sizeof(head));
	event = find_event_by_id(s, bswap_64(pfmi_sampling_get_record_id(l, record, size)));
	memcpy(record, &type, sizeof(type));
	pfmi_sampling_swap_record(event >= 0 ? &s->sampling->totals[event].layout : l, record,
	                          size);
}

static size_t get_padded_size(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static bool is_older_record(const struct pending_record *x, const struct pending_record *y)
{
	return x->time != y->time ? x->time < y->time : x->sequence < y->sequence;
}

/* Reserves an element after the first @n of a list. */
static int reserve_pending(struct pending_record **list, size_t n, size_t *capacity)
{
	size_t room = *capacity * 2 + 1024;
	struct pending_record *more;

	if (n < *capacity)
		return 0;
	more = realloc(*list, room * sizeof(*more));
	if (!more)
		return PFMLIB_ERR_NOMEM;
	*list = more;
	*capacity = room;
	return 0;
}

/* Most records of a recording come in order of time: a queue takes them at constant cost. A report
 * of 400,000 records that no mark divides takes half of the time that it takes with a heap alone.
 */
static int push_in_order(struct record_queue *q, struct pending_record record)
{
	int rc;

	if (q->start > q->capacity / 2) {
		q->end -= q->start;
		memmove(q->list, q->list + q->start, q->end * sizeof(*q->list));
		q->start = 0;
	}
	rc = reserve_pending(&q->list, q->end, &q->capacity);
	if (!rc)
		q->list[q->end++] = record;
	return rc;
}

static int push_in_heap(struct perfdata_reader *r, struct pending_record record)
{
	size_t at = r->n_pending;
	int rc = reserve_pending(&r->pending, at, &r->pending_capacity);

	if (rc)
		return rc;
	r->n_pending++;
	for (; at && is_older_record(&record, &r->pending[(at - 1) / 2]); at = (at - 1) / 2)
		r->pending[at] = r->pending[(at - 1) / 2];
	r->pending[at] = record;
	return 0;
}

static int push_record(struct perfdata_reader *r, struct pending_record record)
{
	struct record_queue *q = &r->in_order;

	if (q->start == q->end)
		q->start = q->end = 0;
	return q->start == q->end || q->list[q->end - 1].time <= record.time
	               ? push_in_order(q, record)
	               : push_in_heap(r, record);
}

static size_t count_pending(const struct perfdata_reader *r)
{
	return r->n_pending + r->in_order.end - r->in_order.start;
}

/* Is the oldest record the first of the queue? Some record waits. */
static bool is_queue_older(const struct perfdata_reader *r)
{
	const struct record_queue *q = &r->in_order;

	return q->start < q->end &&
	       (!r->n_pending || is_older_record(&q->list[q->start], &r->pending[0]));
}

/* Does a record of a time up to @limit wait? */
static bool has_record_until(const struct perfdata_reader *r, uint64_t limit)
{
	if (!count_pending(r))
		return false;
	return is_queue_older(r) ? r->in_order.list[r->in_order.start].time <= limit
	                         : r->pending[0].time <= limit;
}

static struct pending_record pop_heap(struct perfdata_reader *r)
{
	struct pending_record top = r->pending[0], last = r->pending[--r->n_pending];
	size_t at = 0, child;

	for (; (child = 2 * at + 1) < r->n_pending; at = child) {
		if (child + 1 < r->n_pending &&
		    is_older_record(&r->pending[child + 1], &r->pending[child]))
			child++;
		if (!is_older_record(&r->pending[child], &last))
			break;
		r->pending[at] = r->pending[child];
	}
	r->pending[at] = last;
	return top;
}

static struct pending_record pop_record(struct perfdata_reader *r)
{
	struct pending_record oldest =
		is_queue_older(r) ? r->in_order.list[r->in_order.start++] : pop_heap(r);

	r->n_live_bytes -= get_padded_size(oldest.size);
	r->n_forced -= r->n_forced != 0;
	return oldest;
}

static int store_record(struct pfm_session *s, const uint8_t *bytes, size_t size)
{
	struct perfdata_reader *r = s->recording;
	size_t padded = get_padded_size(size);
	const struct record_layout *l = &s->sampling->common_layout;
	uint8_t *to;
	uint64_t time;
	int event, rc;

	if (r->pool_capacity - r->pool_used < padded) {
		size_t room = r->pool_capacity * 2 + MAX_RECORD_SIZE;
		uint8_t *pool = realloc(r->pool, room);

		if (!pool)
			return PFMLIB_ERR_NOMEM;
		r->pool = pool;
		r->pool_capacity = room;
	}
	to = r->pool + r->pool_used;
	memcpy(to, bytes, size);
	memset(to + size, 0, padded - size);
	if (r->is_foreign)
		swap_record(s, to, size);
	event = find_event_by_id(s, pfmi_sampling_get_record_id(l, to, size));
	l = event >= 0 ? &s->sampling->totals[event].layout : l;
	time = pfmi_sampling_get_record_time(l, to, size);
	if (time > r->newest_time)
		r->newest_time = time;
	rc = push_record(r,
	                 (struct pending_record){ time, r->next_sequence++, r->pool_used, size });
	if (rc)
		return rc;
	r->n_live_bytes += padded;
	r->pool_used += padded;
	return 0;
}

/* Records up to time @limit may be handed out. 1 if there are any. */
static int release_records_until(struct perfdata_reader *r, uint64_t limit)
{
	r->has_ready_until = true;
	r->ready_until = limit;
	return has_record_until(r, limit);
}

static bool has_ready_record(const struct perfdata_reader *r)
{
	return (r->n_forced && count_pending(r)) ||
	       (r->has_ready_until && has_record_until(r, r->ready_until));
}

static void move_to_pool(const struct perfdata_reader *r, struct pending_record *p, uint8_t *pool,
                         size_t *used)
{
	memcpy(pool + *used, r->pool + p->pool_offset, p->size);
	p->pool_offset = *used;
	*used += get_padded_size(p->size);
}

/* Moves the records that wait to a pool of their own once most of the pool is not needed any
 * more. */
static int compact_pool(struct perfdata_reader *r)
{
	uint8_t *pool;
	size_t used = 0;

	if (count_pending(r) == 0)
		r->pool_used = 0;
	if (r->n_live_bytes > r->pool_used / 2 || r->pool_used == 0)
		return 0;
	pool = malloc(r->pool_capacity);
	if (!pool)
		return PFMLIB_ERR_NOMEM;
	for (size_t i = r->in_order.start; i < r->in_order.end; i++)
		move_to_pool(r, &r->in_order.list[i], pool, &used);
	for (size_t i = 0; i < r->n_pending; i++)
		move_to_pool(r, &r->pending[i], pool, &used);
	free(r->pool);
	r->pool = pool;
	r->pool_used = used;
	return 0;
}

/* An event that a pipe announces. */
static int read_attr_record(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct perfdata_reader *r = s->recording;
	size_t attr = size >= 16 ? decode_u32(r, p + 12) : 0;
	int rc;

	if (attr < 64 || attr > size - 8)
		return PFMLIB_ERR_INVAL;
	rc = add_event(s, p + 8, attr);
	for (size_t at = 8 + attr; at + 8 <= size && !rc; at += 8)
		rc = add_event_id(s, decode_u64(r, p + at), s->n_counts - 1);
	s->sampling->common_layout =
		s->n_counts ? s->sampling->totals[0].layout : s->sampling->common_layout;
	name_unnamed_events(s);
	return rc;
}

static void read_update_record(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct perfdata_reader *r = s->recording;
	int event = size > 24 ? find_event_by_id(s, decode_u64(r, p + 16)) : -1;

	if (event >= 0 && decode_u64(r, p + 8) == PERFDATA_UPDATE_NAME)
		set_event_name(s, (unsigned)event, p + 24, size - 24);
}

/* Ends reading. Records that were read before remain valid. */
static int end_input(struct perfdata_reader *r, bool damaged)
{
	r->has_ended = true;
	r->is_damaged = damaged;
	release_records_until(r, UINT64_MAX);
	return 1;
}

static int unpack_record(struct perfdata_reader *r, const uint8_t *packed, size_t size)
{
	if (!r->zstd)
		r->zstd = pfmi_perfdata_open_zstd();
	if (!r->zstd)
		return PFMLIB_ERR_NOTSUPP;
	return pfmi_perfdata_decompress_bytes(r->zstd, &r->unpacked, packed, size)
	               ? 0
	               : end_input(r, true);
}

/* The form since Linux 6.16: filled up to a multiple of 8, so that it says how many of its bytes
 * are packed ones. */
static int unpack_padded_record(struct perfdata_reader *r, const uint8_t *p, size_t size)
{
	enum { HEAD = RECORD_HEADER_SIZE + sizeof(uint64_t) };
	uint64_t n = size >= HEAD ? decode_u64(r, p + RECORD_HEADER_SIZE) : UINT64_MAX;

	return size >= HEAD && n <= size - HEAD ? unpack_record(r, p + HEAD, (size_t)n)
	                                        : end_input(r, true);
}

static uint16_t decode_record_size(const struct perfdata_reader *r, const uint8_t *p)
{
	uint16_t size;

	memcpy(&size, p + 6, sizeof(size));
	return r->is_foreign ? bswap_16(size) : size;
}

/* The next record of what was unpacked, if it is there whole; the rest of one may be in the next
 * packed record. */
static const uint8_t *next_unpacked_record(struct perfdata_reader *r, uint16_t *size)
{
	size_t left = r->unpacked.end - r->unpacked.n_consumed;
	const uint8_t *p;

	if (left < RECORD_HEADER_SIZE)
		return NULL;
	p = r->unpacked.data + r->unpacked.n_consumed;
	*size = decode_record_size(r, p);
	if (*size > left)
		return NULL;
	r->unpacked.n_consumed += *size;
	return p;
}

/* The next record of the input, or NULL: cut off, or none. */
static const uint8_t *next_input_record(struct perfdata_reader *r, uint16_t *size)
{
	const uint8_t *p = next_unpacked_record(r, size);

	if (p)
		return *size < RECORD_HEADER_SIZE ? NULL : p;
	if (fill_input(r, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE)
		return NULL;
	*size = decode_record_size(r, r->input + r->input_start);
	if (*size < RECORD_HEADER_SIZE || fill_input(r, *size) < *size)
		return NULL;
	r->input_start += *size;
	return r->input + r->input_start - *size;
}

/* Reads one record of the input. Returns 0, 1 if records are ready, or a negative code. */
static int read_input_record(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	uint16_t size = 0;
	const uint8_t *p = next_input_record(r, &size);
	uint32_t type;
	int rc = 0;

	if (!p)
		return end_input(r, r->input_start < r->input_end ||
		                            r->unpacked.n_consumed < r->unpacked.end ||
		                            (r->n_bytes_left && !r->is_pipe));
	type = decode_u32(r, p);
	switch (type) {
	case PERFDATA_RECORD_ATTR: return r->is_pipe ? read_attr_record(s, p, size) : 0;
	case PERFDATA_RECORD_EVENT_UPDATE: read_update_record(s, p, size); return 0;
	case PERFDATA_RECORD_TRACING_DATA:
		read_piped_tracing_data(r, size >= 12 ? decode_u32(r, p + 8) : 0);
		return 0;
	case PERFDATA_RECORD_AUXTRACE:
		skip_input(r, size >= 16 ? decode_u64(r, p + 8) : 0);
		return 0;
	case PERFDATA_RECORD_COMPRESSED:
		return unpack_record(r, p + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	case PERFDATA_RECORD_COMPRESSED2: return unpack_padded_record(r, p, size);
	case PERFDATA_RECORD_FINISHED_ROUND:
		rc = release_records_until(r, r->round_time);
		r->round_time = r->newest_time;
		return rc;
	default: break;
	}
	if (type < PERFDATA_RECORD_USER_FIRST)
		rc = store_record(s, p, size);
	s->sampling->n_unknown_records += type > PERFDATA_RECORD_USER_LAST;
	if (!rc && r->n_live_bytes > MAX_POOL_SIZE) {
		r->n_forced = (count_pending(r) + 1) / 2;
		return 1;
	}
	return rc;
}

static int read_record(struct pfm_session *s, bool go_on, const void **bytes, size_t *size)
{
	struct perfdata_reader *r = s->recording;

	struct pending_record next;

	while (!has_ready_record(r)) {
		int rc;

		if (r->has_ended || go_on)
			return 0;
		rc = compact_pool(r);
		while (!rc)
			rc = read_input_record(s);
		if (rc < 0)
			return rc;
		update_common_layout(s);
	}
	next = pop_record(r);
	*bytes = r->pool + next.pool_offset;
	*size = next.size;
	s->sampling->n_bytes += *size;
	return 1;
}

const uint8_t *pfmi_perfdata_get_tracing_data(const struct pfm_session *s, size_t *len,
                                              bool *foreign)
{
	*len = s->recording->tracing_data_size;
	*foreign = s->recording->is_foreign;
	return *len ? s->recording->tracing_data : NULL;
}

bool pfmi_perfdata_is_foreign_endian(const struct pfm_session *s)
{
	return s->recording->is_foreign;
}

static bool is_damaged(const struct pfm_session *s)
{
	return s->recording->is_damaged;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void close_reader(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;

	if (!r)
		return;
	close(r->fd);
	pfmi_perfdata_close_zstd(r->zstd);
	free(r->unpacked.data);
	free(r->tracing_data);
	free(r->input);
	free(r->pool);
	free(r->in_order.list);
	free(r->pending);
	free(r);
	free(s->sampling->event_ids);
	free(s->sampling->totals);
	pfmi_base_free_hash(&s->sampling->id_table);
	pfmi_sampling_free_group_values(&s->sampling->group);
	s->recording = NULL;
}

static const struct recording_ops recording_ops = {
	.read_record = read_record,
	.is_damaged = is_damaged,
	.close = close_reader,
};

/* A pipe: events come as records, before all others. */
static int read_pipe_header(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	int rc = 0;

	r->is_pipe = true;
	while (!rc && fill_input(r, RECORD_HEADER_SIZE) == RECORD_HEADER_SIZE &&
	       (s->n_counts == 0 ||
	        decode_u32(r, r->input + r->input_start) >= PERFDATA_RECORD_USER_FIRST))
		rc = read_input_record(s);
	return rc < 0 ? rc : s->n_counts ? 0 : PFMLIB_ERR_INVAL;
}

static int read_recording_start(struct pfm_session *s)
{
	const uint32_t one = 1;
	struct perfdata_reader *r = s->recording;
	uint64_t magic, size;
	bool native_big = *(const uint8_t *)&one == 0;
	int rc;

	r->input = malloc(INPUT_BUFFER_SIZE);
	if (!r->input)
		return PFMLIB_ERR_NOMEM;
	r->n_bytes_left = 16;
	if (fill_input(r, 16) < 16)
		return PFMLIB_ERR_INVAL;
	memcpy(&magic, r->input, sizeof(magic));
	if (magic != PERFDATA_MAGIC && magic != bswap_64(PERFDATA_MAGIC))
		return PFMLIB_ERR_INVAL;
	r->is_foreign = magic != PERFDATA_MAGIC;
	r->is_big_endian = native_big != r->is_foreign;
	size = decode_u64(r, r->input + 8);
	r->input_start = r->input_end = 0;
	r->n_bytes_left = UINT64_MAX;
	rc = size == 16                               ? read_pipe_header(s)
	     : size == sizeof(struct perfdata_header) ? read_header(s)
	                                              : PFMLIB_ERR_INVAL;
	update_common_layout(s);
	name_unnamed_events(s);
	return rc;
}

/* A session that only reads, and has no context. NULL without memory. */
static struct pfm_session *create_reader_session(void)
{
	struct pfm_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sampling_ops = &pfmi_sampling_ops;
	s->sampling = calloc(1, sizeof(*s->sampling));
	s->recording = s->sampling ? calloc(1, sizeof(*s->recording)) : NULL;
	if (!s->recording) {
		pfm_close_session(s);
		return NULL;
	}
	s->recording->fd = -1;
	s->recording_ops = &recording_ops;
	return s;
}

static bool is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* perf writes folders with one file for each thread that writes (perf record --threads), or with a
 * copy of the kernel's memory (--kcore). */
static const char *explain_folder(const char *path)
{
	char name[4096];
	struct stat st;
	int n = snprintf(name, sizeof(name), "%s/data.0", path);

	if (n > 0 && (size_t)n < sizeof(name) && stat(name, &st) == 0)
		return "a folder of perf record --threads, one file for each thread: not "
		       "supported; record without "
		       "--threads";
	n = snprintf(name, sizeof(name), "%s/data", path);
	if (n > 0 && (size_t)n < sizeof(name) && stat(name, &st) == 0)
		return "a folder of perf record --kcore: open the file data in it";
	return "expected a file, got a folder";
}

static int open_recording_reader(pfm_session_t **out, const char *path, pfm_error_t *why)
{
	struct pfm_session *s = create_reader_session();
	int rc;

	if (!s)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	s->recording->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->recording->fd >= 0 && is_folder(s->recording->fd)) {
		rc = pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE,
		                               explain_folder(path));
		pfm_close_session(s);
		return rc;
	}
	if (s->recording->fd < 0) {
		rc = pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, errno,
		                               "the recording cannot be opened");
		pfm_close_session(s);
		return rc;
	}
	rc = read_recording_start(s);
	s->last_counts = rc ? NULL : calloc(s->n_counts + 1, sizeof(*s->last_counts));
	if (s->last_counts) {
		*out = s;
		return PFMLIB_SUCCESS;
	}
	pfm_close_session(s);
	if (rc == PFMLIB_SUCCESS || rc == PFMLIB_ERR_NOMEM)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	return pfmi_base_set_plain_error(why, rc, PFM_KIND_IMAGE,
	                                 "not a perf.data file, or corrupt");
}

int pfm_open_recording(pfm_session_t **out, const char *path, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_begin_error(error, &mine);
	int rc = PFMLIB_ERR_INVAL;

	if (out)
		*out = NULL;
	if (out && path)
		rc = open_recording_reader(out, path, why);
	else
		pfmi_base_set_plain_error(why, rc, PFM_KIND_NONE, "out or path is NULL");
	return base_finish_error(error, why, rc);
}
