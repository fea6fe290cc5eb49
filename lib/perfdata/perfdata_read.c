/* SPDX-License-Identifier: MIT */
/* Reading perf.data: ours or perf's, of this machine or one of the other byte order, whole or cut off, from a file or a pipe. The file is
 * not trusted: every offset and size is checked against what is there. Records are sorted by time from one mark of a finished round to
 * the next: what came before the round before last cannot be preceded by anything any more. */
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "base/sizes.h"
#include "context/context.h"

#define MAX_EVENTS 4096u
#define MAX_IDS    (1u << 20)
#define IN_ROOM    (1u << 18)
#define POOL_MAX   ((size_t)1 << 30) /* where nobody marks rounds, so much is sorted at once */

struct pending {
	uint64_t time, seq;
	size_t at, size;
};

struct reading {
	int fd;
	bool foreign, big, ended, pipe;
	bool damaged;  /* it ended before its end: what follows cannot be read */
	uint64_t left; /* bytes of the data that were not taken yet */
	uint8_t *in;   /* input, in_at .. in_end of it not used */
	size_t in_at, in_end;
	uint8_t *pool; /* records that wait */
	size_t used, room;
	struct pending *list;
	size_t n, list_room, next, ready;
	struct zstd *zstd;
	struct bytes plain;           /* what packed records stand for: it comes before what follows them */
	uint64_t seq, newest, round;  /* the newest time, now and at the last mark */
	unsigned known_room, settled; /* settled: so many ids are in order */
	uint8_t *tracing;             /* how tracepoints' fields lie; NULL: not told */
	size_t tracing_size;
};

/* ---- numbers -------------------------------------------------------------------------------------------------------------- */

static uint64_t u64_at(const struct reading *r, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return r->foreign ? bswap_64(v) : v;
}

static uint32_t u32_at(const struct reading *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return r->foreign ? bswap_32(v) : v;
}

static uint16_t u16_at(const struct reading *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return r->foreign ? bswap_16(v) : v;
}

static bool read_at(const struct reading *r, void *to, size_t n, uint64_t offset)
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

/* ---- events ---------------------------------------------------------------------------------------------------------------- */

/* Bit @i of the flags: where the highest byte comes first, so do the first bits. */
static bool flag(const struct reading *r, uint64_t flags, unsigned i)
{
	return (r->big ? flags >> (63 - i) : flags >> i) & 1;
}

/* The part of an event's attributes that says how its records are laid out; @n bytes are there. */
static int add_event(struct pfm_session *s, const uint8_t *given, size_t n)
{
	const struct reading *r = s->recording;
	struct session_count *counts = realloc(s->counts, (s->n_counts + 1) * sizeof(*counts));
	struct tally *tallies = realloc(s->sampling->tallies, (s->n_counts + 1) * sizeof(*tallies));
	uint8_t a[DATA_ATTR_SIZE] = { 0 };
	char *name = pfmi_session_alloc_name(s, 256);
	struct session_count *c;
	uint64_t flags;
	uint16_t frames;

	s->counts = counts ? counts : s->counts;
	s->sampling->tallies = tallies ? tallies : s->sampling->tallies;
	if (!counts || !tallies || !name || s->n_counts == MAX_EVENTS)
		return PFMLIB_ERR_NOMEM;
	memcpy(a, given, n < sizeof(a) ? n : sizeof(a));
	flags = u64_at(r, a + 40);
	frames = u16_at(r, a + 108);
	tallies[s->n_counts] = (struct tally){ .layout = { .fields = u64_at(r, a + 24),
		                                           .read_format = u64_at(r, a + 32),
		                                           .branch_type = u64_at(r, a + 72),
		                                           .regs = u64_at(r, a + 80),
		                                           .intr_regs = u64_at(r, a + 96),
		                                           .max_stack = frames ? frames : USUAL_FRAMES,
		                                           .trailers = flag(r, flags, 18) } };
	c = &counts[s->n_counts++];
	*c = (struct session_count){ .config = { .name = name, .cpus = "", .unit = "", .scale = 1, .group = s->n_counts - 1, .request = s->n_counts - 1 } };
	c->config.attr = (pfm_attr_t){ .type = u32_at(r, a), .type_known = 1, .config = u64_at(r, a + 8), .expressible = 1 };
	c->config.attr.exclude_user = flag(r, flags, 4);
	c->config.attr.exclude_kernel = flag(r, flags, 5);
	*(flag(r, flags, 10) ? &c->config.freq : &c->config.period) = u64_at(r, a + 16);
	pfmi_session_fail_count(c, PFM_CAUSE_OTHER, 0, "", "a recording has samples, no counts");
	return 0;
}

static int add_id(struct pfm_session *s, uint64_t id, unsigned event)
{
	struct sampling *sm = s->sampling;
	struct reading *r = s->recording;

	if (sm->n_known == MAX_IDS)
		return PFMLIB_ERR_INVAL;
	if (sm->n_known == r->known_room) {
		unsigned room = r->known_room * 2 + 64;
		struct known *known = realloc(sm->known, room * sizeof(*known));

		if (!known)
			return PFMLIB_ERR_NOMEM;
		sm->known = known;
		r->known_room = room;
	}
	sm->known[sm->n_known++] = (struct known){ id, event };
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Puts what was added in among those that are in order: a pipe may announce one event after another between its records. */
static void order_ids(struct pfm_session *s)
{
	struct sampling *sm = s->sampling;
	struct reading *r = s->recording;
	unsigned added = sm->n_known - r->settled, at = sm->n_known, left = r->settled;
	struct known *tail;

	if (!sm->known)
		return;
	tail = malloc((added + 1) * sizeof(*tail));
	qsort(sm->known + r->settled, added, sizeof(*sm->known), by_id);
	if (!tail) { /* it takes longer, and that is all */
		qsort(sm->known, sm->n_known, sizeof(*sm->known), by_id);
		r->settled = sm->n_known;
		return;
	}
	memcpy(tail, sm->known + r->settled, added * sizeof(*tail));
	while (added)
		sm->known[--at] = left && by_id(&sm->known[left - 1], &tail[added - 1]) > 0 ? sm->known[--left] : tail[--added];
	free(tail);
	r->settled = sm->n_known;
}

static int event_of(struct pfm_session *s, uint64_t id)
{
	const struct known key = { id, 0 };
	const struct known *k;

	if (s->recording->settled != s->sampling->n_known)
		order_ids(s);
	k = !s->sampling->n_known ? NULL : bsearch(&key, s->sampling->known, s->sampling->n_known, sizeof(key), by_id);

	return k ? (int)k->count : -1;
}

/* Whose and when can be told of every record by the first event's layout, if the events agree so far. */
static void settle(struct pfm_session *s)
{
	if (s->recording->settled != s->sampling->n_known)
		order_ids(s);
	if (s->n_counts)
		s->sampling->common = s->sampling->tallies[0].layout;
}

static void set_name(struct pfm_session *s, unsigned event, const uint8_t *text, size_t n)
{
	size_t len = n < 255 ? n : 255;
	const uint8_t *end = memchr(text, 0, len);

	if (end)
		len = (size_t)(end - text);
	memcpy(s->counts[event].config.name, text, len);
	s->counts[event].config.name[len] = '\0';
}

static void name_the_nameless(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		const pfm_attr_t *a = &s->counts[i].config.attr;
		static const char soft[][20] = { "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
			                         "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy" };
		static const char hard[][24] = { "cycles", "instructions", "cache-references", "cache-misses", "branches",
			                         "branch-misses" };

		if (*s->counts[i].config.name)
			continue;
		if (a->type == PERF_TYPE_SOFTWARE && a->config < sizeof(soft) / sizeof(soft[0]))
			set_name(s, i, (const uint8_t *)soft[a->config], sizeof(soft[0]));
		else if (a->type == PERF_TYPE_HARDWARE && a->config < sizeof(hard) / sizeof(hard[0]))
			set_name(s, i, (const uint8_t *)hard[a->config], sizeof(hard[0]));
		else
			set_name(s, i, (const uint8_t *)"unnamed", sizeof("unnamed"));
	}
}

/* ---- the head of a file -------------------------------------------------------------------------------------------------------- */

static int read_ids(struct pfm_session *s, unsigned event, uint64_t offset, uint64_t size)
{
	const struct reading *r = s->recording;

	if (size / 8 > MAX_IDS)
		return PFMLIB_ERR_INVAL;
	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		uint8_t id[8];
		int rc = read_at(r, id, sizeof(id), offset + at) ? add_id(s, u64_at(r, id), event) : PFMLIB_ERR_INVAL;

		if (rc)
			return rc;
	}
	return 0;
}

static int read_attrs(struct pfm_session *s, const uint8_t *head)
{
	const struct reading *r = s->recording;
	uint64_t entry = u64_at(r, head + 16), offset = u64_at(r, head + 24), size = u64_at(r, head + 32);
	uint8_t bytes[4096];

	if (entry < 64 + 16 || entry > sizeof(bytes) || size / entry > MAX_EVENTS || size < entry)
		return PFMLIB_ERR_INVAL;
	for (uint64_t i = 0; i < size / entry; i++) {
		int rc;

		if (!read_at(r, bytes, (size_t)entry, offset + i * entry))
			return PFMLIB_ERR_INVAL;
		rc = add_event(s, bytes, (size_t)entry - 16);
		if (!rc)
			rc = read_ids(s, s->n_counts - 1, u64_at(r, bytes + entry - 16), u64_at(r, bytes + entry - 8));
		if (rc)
			return rc;
	}
	return 0;
}

/* Names of events, from the table behind the data. Whatever is wrong with it, there are just no names. */
static void read_names(struct pfm_session *s, uint64_t offset, uint64_t size)
{
	const struct reading *r = s->recording;
	uint8_t *desc = size >= 8 && size <= 1u << 24 ? malloc((size_t)size) : NULL;
	uint64_t at = 8, attr, n;

	if (!desc || !read_at(r, desc, (size_t)size, offset)) {
		free(desc);
		return;
	}
	n = u32_at(r, desc);
	attr = u32_at(r, desc + 4);
	for (uint64_t i = 0; i < n && i < s->n_counts && attr <= size && at + attr + 8 <= size; i++) {
		uint64_t ids = u32_at(r, desc + at + attr), len = u32_at(r, desc + at + attr + 4);

		at += attr + 8;
		if (len > size - at)
			break;
		set_name(s, (unsigned)i, desc + at, (size_t)len);
		at += len;
		if (ids > (size - at) / 8)
			break;
		at += ids * 8;
	}
	free(desc);
}

/* Room for what is told of tracepoints. False if it is too much. */
static bool make_tracing(struct reading *r, uint64_t size)
{
	free(r->tracing);
	r->tracing = size && size <= UNPACKED_MAX ? malloc((size_t)size) : NULL;
	r->tracing_size = r->tracing ? (size_t)size : 0;
	return r->tracing != NULL;
}

static void read_tracing(struct reading *r, uint64_t offset, uint64_t size)
{
	if (make_tracing(r, size) && !read_at(r, r->tracing, r->tracing_size, offset))
		r->tracing_size = 0;
}

static void read_features(struct pfm_session *s, const uint8_t *head, uint64_t table)
{
	const struct reading *r = s->recording;
	unsigned at = 0;

	for (unsigned bit = 0; bit < DATA_NO_BITS; bit++) {
		uint8_t section[16];

		if (!(u64_at(r, head + 72 + bit / 64 * 8) >> bit % 64 & 1))
			continue;
		if (read_at(r, section, sizeof(section), table + at * 16)) {
			if (bit == DATA_EVENT_DESC)
				read_names(s, u64_at(r, section), u64_at(r, section + 8));
			else if (bit == DATA_TRACING)
				read_tracing(s->recording, u64_at(r, section), u64_at(r, section + 8));
		}
		at++;
	}
}

static int read_head(struct pfm_session *s)
{
	struct reading *r = s->recording;
	uint8_t head[sizeof(struct data_head)];
	uint64_t offset, size;
	struct stat st;
	int rc;

	if (!read_at(r, head, sizeof(head), 0) || fstat(r->fd, &st))
		return PFMLIB_ERR_INVAL;
	offset = u64_at(r, head + 40);
	size = u64_at(r, head + 48);
	if (offset > (uint64_t)st.st_size)
		return PFMLIB_ERR_INVAL;
	rc = read_attrs(s, head);
	if (rc)
		return rc;
	/* A writer that was killed left no size: all there is, and more there should be. */
	if (size)
		read_features(s, head, offset + size);
	r->left = size ? size : UINT64_MAX;
	return lseek(r->fd, (off_t)offset, SEEK_SET) < 0 ? PFMLIB_ERR_SYS : 0;
}

/* ---- records ------------------------------------------------------------------------------------------------------------------- */

/* Makes @n bytes of input available, or fewer at the end. */
static size_t fill(struct reading *r, size_t n)
{
	if (r->in_end - r->in_at >= n)
		return n;
	memmove(r->in, r->in + r->in_at, r->in_end - r->in_at);
	r->in_end -= r->in_at;
	r->in_at = 0;
	while (r->in_end < n && r->left) {
		size_t want = IN_ROOM - r->in_end < r->left ? IN_ROOM - r->in_end : (size_t)r->left;
		ssize_t got = read(r->fd, r->in + r->in_end, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		r->in_end += (size_t)got;
		r->left -= (uint64_t)got;
	}
	return r->in_end < n ? r->in_end : n;
}

static void skip(struct reading *r, uint64_t n)
{
	while (n) {
		size_t have = fill(r, n < IN_ROOM ? (size_t)n : IN_ROOM);

		if (!have)
			return;
		r->in_at += have;
		n -= have;
	}
}

/* The same from a pipe, where it follows its record. */
static void take_tracing(struct reading *r, uint64_t size)
{
	size_t done = 0;

	if (!make_tracing(r, size)) {
		skip(r, size);
		return;
	}
	while (done < size) {
		size_t have = fill(r, size - done < IN_ROOM ? (size_t)size - done : IN_ROOM);

		if (!have)
			break;
		memcpy(r->tracing + done, r->in + r->in_at, have);
		r->in_at += have;
		done += have;
	}
	r->tracing_size = done;
}

/* Whose it is, is found where it would be if the head were ours: that alone is turned first. */
static void turn(struct pfm_session *s, uint8_t *record, size_t size)
{
	const struct layout *l = &s->sampling->common;
	struct record_head head;
	uint32_t type;
	int event;

	memcpy(&type, record, sizeof(type));
	memcpy(&head, record, sizeof(head));
	head.type = bswap_32(type);
	memcpy(record, &head, sizeof(head));
	event = event_of(s, bswap_64(pfmi_record_id(l, record, size)));
	memcpy(record, &type, sizeof(type));
	pfmi_record_swap(event >= 0 ? &s->sampling->tallies[event].layout : l, record, size);
}

static int keep(struct pfm_session *s, const uint8_t *bytes, size_t size)
{
	struct reading *r = s->recording;
	size_t padded = (size + 7) & ~(size_t)7;
	const struct layout *l = &s->sampling->common;
	uint8_t *to;
	int event;

	if (r->room - r->used < padded) {
		size_t room = r->room * 2 + RECORD_MAX;
		uint8_t *pool = realloc(r->pool, room);

		if (!pool)
			return PFMLIB_ERR_NOMEM;
		r->pool = pool;
		r->room = room;
	}
	if (r->n == r->list_room) {
		size_t room = r->list_room * 2 + 1024;
		struct pending *list = realloc(r->list, room * sizeof(*list));

		if (!list)
			return PFMLIB_ERR_NOMEM;
		r->list = list;
		r->list_room = room;
	}
	to = r->pool + r->used;
	memcpy(to, bytes, size);
	memset(to + size, 0, padded - size);
	if (r->foreign)
		turn(s, to, size);
	event = event_of(s, pfmi_record_id(l, to, size));
	r->list[r->n] = (struct pending){ pfmi_record_time(event >= 0 ? &s->sampling->tallies[event].layout : l, to, size), r->seq++,
		                          r->used, size };
	if (r->list[r->n].time > r->newest)
		r->newest = r->list[r->n].time;
	r->n++;
	r->used += padded;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* What is not younger than @limit is ready to be handed out. */
static void sort_up_to(struct reading *r, uint64_t limit)
{
	size_t low = 0, high = r->n;

	if (r->n)
		qsort(r->list, r->n, sizeof(*r->list), by_time);
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->list[mid].time <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	r->next = 0;
	r->ready = low;
}

/* Moves what waits to the start of a pool of its own; what was handed out is gone. */
static int compact(struct reading *r)
{
	size_t used = 0;
	uint8_t *pool = r->n > r->ready ? malloc(r->room) : NULL;

	if (r->n > r->ready && !pool)
		return PFMLIB_ERR_NOMEM;
	for (size_t i = r->ready; i < r->n; i++) {
		struct pending *p = &r->list[i];

		memcpy(pool + used, r->pool + p->at, p->size);
		p->at = used;
		r->list[i - r->ready] = *p;
		used += (p->size + 7) & ~(size_t)7;
	}
	if (pool) {
		free(r->pool);
		r->pool = pool;
	}
	r->n -= r->ready;
	r->used = used;
	r->next = r->ready = 0;
	return 0;
}

/* An event that a pipe announces. */
static int take_attr(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct reading *r = s->recording;
	size_t attr = size >= 16 ? u32_at(r, p + 12) : 0;
	int rc;

	if (attr < 64 || attr > size - 8)
		return PFMLIB_ERR_INVAL;
	rc = add_event(s, p + 8, attr);
	for (size_t at = 8 + attr; at + 8 <= size && !rc; at += 8)
		rc = add_id(s, u64_at(r, p + at), s->n_counts - 1);
	s->sampling->common = s->n_counts ? s->sampling->tallies[0].layout : s->sampling->common;
	name_the_nameless(s);
	return rc;
}

static void take_update(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct reading *r = s->recording;
	int event = size > 24 ? event_of(s, u64_at(r, p + 16)) : -1;

	if (event >= 0 && u64_at(r, p + 8) == DATA_UPDATE_NAME)
		set_name(s, (unsigned)event, p + 24, size - 24);
}

/* What came before is good. */
static int end_here(struct reading *r, bool damaged)
{
	r->ended = true;
	r->damaged = damaged;
	sort_up_to(r, UINT64_MAX);
	return 1;
}

static int unpack(struct reading *r, const uint8_t *packed, size_t size)
{
	if (!r->zstd)
		r->zstd = pfmi_zstd_open();
	if (!r->zstd)
		return PFMLIB_ERR_NOTSUPP;
	return pfmi_zstd_unpack(r->zstd, &r->plain, packed, size) ? 0 : end_here(r, true);
}

/* The form since Linux 6.16: filled up to a multiple of 8, so that it says how many of its bytes are packed ones. */
static int unpack_filled(struct reading *r, const uint8_t *p, size_t size)
{
	enum { HEAD = RECORD_HEAD + sizeof(uint64_t) };
	uint64_t n = size >= HEAD ? u64_at(r, p + RECORD_HEAD) : UINT64_MAX;

	return size >= HEAD && n <= size - HEAD ? unpack(r, p + HEAD, (size_t)n) : end_here(r, true);
}

static uint16_t size_at(const struct reading *r, const uint8_t *p)
{
	uint16_t size;

	memcpy(&size, p + 6, sizeof(size));
	return r->foreign ? bswap_16(size) : size;
}

/* The next record of what was unpacked, if it is there whole; the rest of one may be in the next packed record. */
static const uint8_t *next_plain(struct reading *r, uint16_t *size)
{
	size_t left = r->plain.end - r->plain.used;
	const uint8_t *p;

	if (left < RECORD_HEAD)
		return NULL;
	p = r->plain.at + r->plain.used;
	*size = size_at(r, p);
	if (*size > left)
		return NULL;
	r->plain.used += *size;
	return p;
}

/* The next record of the input, or NULL: cut off, or none. */
static const uint8_t *next_input(struct reading *r, uint16_t *size)
{
	const uint8_t *p = next_plain(r, size);

	if (p)
		return *size < RECORD_HEAD ? NULL : p;
	if (fill(r, RECORD_HEAD) < RECORD_HEAD)
		return NULL;
	*size = size_at(r, r->in + r->in_at);
	if (*size < RECORD_HEAD || fill(r, *size) < *size)
		return NULL;
	r->in_at += *size;
	return r->in + r->in_at - *size;
}

/* Takes one record of the input. 0, 1 if records are ready, or a negative code. */
static int take_record(struct pfm_session *s)
{
	struct reading *r = s->recording;
	uint16_t size = 0;
	const uint8_t *p = next_input(r, &size);
	uint32_t type;
	int rc = 0;

	if (!p)
		return end_here(r, r->in_at < r->in_end || r->plain.used < r->plain.end || (r->left && !r->pipe));
	type = u32_at(r, p);
	switch (type) {
	case DATA_ATTR: return r->pipe ? take_attr(s, p, size) : 0;
	case DATA_EVENT_UPDATE: take_update(s, p, size); return 0;
	case DATA_TRACING_DATA: take_tracing(r, size >= 12 ? u32_at(r, p + 8) : 0); return 0;
	case DATA_AUXTRACE: skip(r, size >= 16 ? u64_at(r, p + 8) : 0); return 0;
	case DATA_COMPRESSED: return unpack(r, p + RECORD_HEAD, size - RECORD_HEAD);
	case DATA_COMPRESSED2: return unpack_filled(r, p, size);
	case DATA_FINISHED_ROUND:
		sort_up_to(r, r->round);
		r->round = r->newest;
		return r->ready > 0;
	default: break;
	}
	if (type < DATA_USER_TYPES)
		rc = keep(s, p, size);
	s->sampling->skipped += type > DATA_LAST;
	if (!rc && r->used > POOL_MAX) {
		sort_up_to(r, UINT64_MAX);
		r->ready = (r->n + 1) / 2;
		return 1;
	}
	return rc;
}

int pfmi_data_next(struct pfm_session *s, bool go_on, const void **bytes, size_t *size)
{
	struct reading *r = s->recording;

	while (r->next == r->ready) {
		int rc;

		if (r->ended || go_on)
			return 0;
		rc = r->ready ? compact(r) : 0;
		while (!rc)
			rc = take_record(s);
		if (rc < 0)
			return rc;
		settle(s);
	}
	*bytes = r->pool + r->list[r->next].at;
	*size = r->list[r->next++].size;
	s->sampling->bytes += *size;
	return 1;
}

const uint8_t *pfmi_data_tracing(const struct pfm_session *s, size_t *len, bool *foreign)
{
	*len = s->recording->tracing_size;
	*foreign = s->recording->foreign;
	return *len ? s->recording->tracing : NULL;
}

bool pfmi_data_foreign(const struct pfm_session *s)
{
	return s->recording->foreign;
}

bool pfmi_data_damaged(const struct pfm_session *s)
{
	return s->recording->damaged;
}

/* ---- opening -------------------------------------------------------------------------------------------------------------------- */

void pfmi_data_close(struct pfm_session *s)
{
	struct reading *r = s->recording;

	if (!r)
		return;
	close(r->fd);
	pfmi_zstd_close(r->zstd);
	free(r->plain.at);
	free(r->tracing);
	free(r->in);
	free(r->pool);
	free(r->list);
	free(r);
	free(s->sampling->known);
	free(s->sampling->tallies);
	s->recording = NULL;
}

/* A pipe: events come as records, before all others. */
static int read_pipe(struct pfm_session *s)
{
	struct reading *r = s->recording;
	int rc = 0;

	r->pipe = true;
	while (!rc && fill(r, RECORD_HEAD) == RECORD_HEAD && (s->n_counts == 0 || u32_at(r, r->in + r->in_at) >= DATA_USER_TYPES))
		rc = take_record(s);
	return rc < 0 ? rc : s->n_counts ? 0
	                                 : PFMLIB_ERR_INVAL;
}

static int read_start(struct pfm_session *s)
{
	const uint32_t one = 1;
	struct reading *r = s->recording;
	uint64_t magic, size;
	bool native_big = *(const uint8_t *)&one == 0;
	int rc;

	r->in = malloc(IN_ROOM);
	if (!r->in)
		return PFMLIB_ERR_NOMEM;
	r->left = 16;
	if (fill(r, 16) < 16)
		return PFMLIB_ERR_INVAL;
	memcpy(&magic, r->in, sizeof(magic));
	if (magic != DATA_MAGIC && magic != bswap_64(DATA_MAGIC))
		return PFMLIB_ERR_INVAL;
	r->foreign = magic != DATA_MAGIC;
	r->big = native_big != r->foreign;
	size = u64_at(r, r->in + 8);
	r->in_at = r->in_end = 0;
	r->left = UINT64_MAX;
	rc = size == 16 ? read_pipe(s) : size == sizeof(struct data_head) ? read_head(s)
	                                                                  : PFMLIB_ERR_INVAL;
	settle(s);
	name_the_nameless(s);
	return rc;
}

/* A session that only reads, and has no context. NULL without memory. */
static struct pfm_session *new_reader(void)
{
	struct pfm_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sampling = calloc(1, sizeof(*s->sampling));
	s->recording = s->sampling ? calloc(1, sizeof(*s->recording)) : NULL;
	if (!s->recording) {
		pfm_close_session(s);
		return NULL;
	}
	s->recording->fd = -1;
	return s;
}

static int read_recording(pfm_session_t **out, const char *path, pfm_error_t *why)
{
	struct pfm_session *s = new_reader();
	int rc;

	if (!s)
		return pfmi_refuse_errno(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	s->recording->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->recording->fd < 0) {
		rc = pfmi_refuse_errno(why, PFMLIB_ERR_SYS, errno, "the recording cannot be opened");
		pfm_close_session(s);
		return rc;
	}
	rc = read_start(s);
	s->last_counts = rc ? NULL : calloc(s->n_counts + 1, sizeof(*s->last_counts));
	if (s->last_counts) {
		*out = s;
		return PFMLIB_SUCCESS;
	}
	pfm_close_session(s);
	if (rc == PFMLIB_SUCCESS || rc == PFMLIB_ERR_NOMEM)
		return pfmi_refuse_errno(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	return pfmi_refuse(why, rc, PFM_KIND_IMAGE, NULL, (struct slice){ 0 }, "no recording: the file is none of perf's, or damaged");
}

int pfm_read_recording(pfm_session_t **out, const char *path, pfm_error_t *error)
{
	pfm_error_t mine, *why = pfmi_error_begin(error, &mine);
	int rc = PFMLIB_ERR_INVAL;

	if (out)
		*out = NULL;
	if (out && path)
		rc = read_recording(out, path, why);
	else
		pfmi_refuse(why, rc, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "out or path is NULL");
	return pfmi_error_end(error, why, rc);
}
