/* SPDX-License-Identifier: MIT */
/* Buffers of samples that hold values. The kernel writes values of its own events into its buffer,
 * which no program can write. So the supervisor maps that buffer, the client maps memory of the
 * same layout, and records are copied with values and periods translated.
 *
 * The client waits for the kernel's buffer, whose contents are copied in steps of a few
 * milliseconds, and whenever events are disabled. */
#include "pretend/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "pretend/filter.h"
#include "pretend/redirect.h"
#include "sampling/sampling.h"

enum { RECORD_WORDS = 8192, CONTROL_SIZE = 4096 };

/* A record in words of 64 bits; the first is its header. */
struct record_words {
	uint64_t words[RECORD_WORDS];
	unsigned n, at;
};

struct pretended_ring {
	uint64_t id; /* of the event that was mapped */
	struct perf_event_mmap_page *kernel, *client;
	uint64_t size, offset, head; /* of the data; the end of what the client has */
	size_t length;               /* of the mapping */
	uint64_t n_samples;          /* since a throttling began or ended */
	bool is_throttled;
};

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t *next_words(struct record_words *r, unsigned n)
{
	unsigned at = r->at;

	if (at + n > r->n)
		return NULL;
	r->at += n;
	return &r->words[at];
}

/* Words of a sample that other records repeat. */
struct sample_words {
	uint64_t *identifier, *tid, *time, *id, *stream, *cpu, *period;
};

/* Finds the words of a sample up to its period; the next are the values that it read. */
static bool find_sample_words(struct record_words *r, uint64_t type, struct sample_words *s)
{
	const struct {
		uint64_t bit;
		uint64_t **word;
	} fields[] = { { PERF_SAMPLE_IDENTIFIER, &s->identifier },
		       { PERF_SAMPLE_IP, NULL },
		       { PERF_SAMPLE_TID, &s->tid },
		       { PERF_SAMPLE_TIME, &s->time },
		       { PERF_SAMPLE_ADDR, NULL },
		       { PERF_SAMPLE_ID, &s->id },
		       { PERF_SAMPLE_STREAM_ID, &s->stream },
		       { PERF_SAMPLE_CPU, &s->cpu },
		       { PERF_SAMPLE_PERIOD, &s->period } };

	*s = (struct sample_words){ NULL };
	r->at = 1;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t *word = type & fields[i].bit ? next_words(r, 1) : NULL;

		if ((type & fields[i].bit) && !word)
			return false;
		if (fields[i].word)
			*fields[i].word = word;
	}
	return true;
}

/* The event of a sample in @ring. */
static struct pretended_event *find_sampled(const struct supervisor *s,
                                            const struct pretended_ring *ring,
                                            struct record_words *r, struct sample_words *words)
{
	struct pretended_event *e = find_event(s, ring->id);

	if (!e || !find_sample_words(r, e->sample_type, words))
		return NULL;
	if (words->identifier || words->id)
		e = find_event(s, words->identifier ? *words->identifier : *words->id);
	/* Events of one buffer may have other fields after the first. */
	return e && find_sample_words(r, e->sample_type, words) ? e : NULL;
}

/* The @k-th member of the group of @e. */
static struct pretended_event *find_kth_member(const struct supervisor *s,
                                               const struct pretended_event *e, unsigned k)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i]->leader == e->leader && k-- == 0)
			return s->events.at[i];
	return NULL;
}

/* Translates the values that a sample of @e read, from r->at on. */
static void translate_values(const struct supervisor *s, const struct pretended_event *e,
                             struct record_words *r)
{
	const uint64_t f = e->read_format;
	const bool is_group = f & PERF_FORMAT_GROUP;
	const uint64_t *number = is_group ? next_words(r, 1) : NULL;
	const uint64_t n = number ? *number : 1;
	uint64_t *value = is_group ? NULL : next_words(r, 1), *running;

	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		(void)next_words(r, 1);
	running = f & PERF_FORMAT_TOTAL_TIME_RUNNING ? next_words(r, 1) : NULL;
	for (uint64_t k = 0; k < n; k++) {
		const struct pretended_event *member = e;

		if (is_group)
			value = next_words(r, 1);
		if (!value)
			return;
		if (is_group && (f & PERF_FORMAT_ID)) {
			const uint64_t *id = next_words(r, 1);

			member = id ? find_event(s, *id) : NULL;
		} else if (is_group) {
			member = find_kth_member(s, e, (unsigned)k);
		}
		if (is_group && (f & PERF_FORMAT_LOST))
			(void)next_words(r, 1);
		if (member)
			*value = peek_value(s, member, *value);
	}
	if (running)
		*running = peek_running(e, *running);
}

static void translate_sample(const struct supervisor *s, const struct pretended_event *e,
                             struct record_words *r, const struct sample_words *words)
{
	if (e->pmu && words->period)
		*words->period =
			(uint64_t)((double)*words->period * e->rate.by[get_rate_base(&e->rate)] +
		                   0.5);
	if (e->sample_type & PERF_SAMPLE_READ)
		translate_values(s, e, r);
}

/* ---- the client's buffer --------------------------------------------------------------------- */

static void copy_bytes(const struct pretended_ring *ring, struct perf_event_mmap_page *page,
                       uint64_t at, void *bytes, size_t n, bool writes)
{
	unsigned char *data = (unsigned char *)page + ring->offset, *p = bytes;

	while (n) {
		const uint64_t from = at % ring->size;
		const size_t part = n < ring->size - from ? n : (size_t)(ring->size - from);

		if (writes)
			memcpy(data + from, p, part);
		else
			memcpy(p, data + from, part);
		at += part;
		p += part;
		n -= part;
	}
}

/* Appends a record; false if the client has not read enough. */
static bool put_record(struct pretended_ring *ring, const struct record_words *r)
{
	const uint64_t tail = __atomic_load_n(&ring->client->data_tail, __ATOMIC_ACQUIRE);
	union {
		const uint64_t *in;
		uint64_t *out;
	} u = { .in = r->words };

	if (ring->head + r->n * 8 - tail > ring->size)
		return false;
	copy_bytes(ring, ring->client, ring->head, u.out, r->n * 8, true);
	ring->head += r->n * 8;
	__atomic_store_n(&ring->client->data_head, ring->head, __ATOMIC_RELEASE);
	return true;
}

/* Appends the record by which the kernel says that it throttles @e, or no more. */
static void put_throttle(struct pretended_ring *ring, const struct pretended_event *e,
                         const struct sample_words *w, uint32_t type)
{
	const uint64_t *trailer[] = { w->tid, w->time, w->id, w->stream, w->cpu, w->identifier };
	struct record_words r = { .n = 4 };
	struct record_header head = { type, 0, 0 };

	r.words[1] = w->time ? *w->time : 0;
	r.words[2] = r.words[3] = e->id;
	for (size_t i = 0; e->has_sample_id && i < sizeof(trailer) / sizeof(trailer[0]); i++)
		if (trailer[i])
			r.words[r.n++] = *trailer[i];
	head.size = (uint16_t)(r.n * 8);
	memcpy(r.words, &head, sizeof(head));
	(void)put_record(ring, &r);
}

/* A throttled event has no samples: of each two times as many as the model says, the second half.
 * True if the sample is omitted. */
static bool throttle(struct pretended_ring *ring, const struct pretended_event *e,
                     const struct sample_words *w)
{
	const bool was_throttled = ring->is_throttled;

	if (e->fault != FAULT_THROTTLE)
		return false;
	if (ring->n_samples++ >= e->throttled_after) {
		ring->is_throttled = !was_throttled;
		ring->n_samples = 1;
		put_throttle(ring, e, w,
		             was_throttled ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE);
	}
	return ring->is_throttled;
}

/* Copies a record. False if the client's buffer is full. */
static bool pass_record(const struct supervisor *s, struct pretended_ring *ring,
                        struct record_words *r, uint32_t type)
{
	struct sample_words words;
	struct pretended_event *e =
		type == PERF_RECORD_SAMPLE ? find_sampled(s, ring, r, &words) : NULL;

	if (e && throttle(ring, e, &words))
		return true;
	if (e)
		translate_sample(s, e, r, &words);
	return put_record(ring, r);
}

static void pump_ring(const struct supervisor *s, struct pretended_ring *ring)
{
	static struct record_words r;
	const uint64_t head = __atomic_load_n(&ring->kernel->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->kernel->data_tail;

	while (tail < head) {
		struct record_header h;

		copy_bytes(ring, ring->kernel, tail, &h, sizeof(h), false);
		if (h.size < sizeof(h) || h.size % 8 || h.size / 8u > RECORD_WORDS)
			break;
		r.n = h.size / 8u;
		copy_bytes(ring, ring->kernel, tail, r.words, h.size, false);
		if (!pass_record(s, ring, &r, h.type))
			break;
		tail += h.size;
	}
	__atomic_store_n(&ring->kernel->data_tail, tail, __ATOMIC_RELEASE);
}

static void free_ring(struct pretended_ring *ring)
{
	munmap(ring->kernel, ring->length);
	munmap(ring->client, ring->length);
	free(ring);
}

void pump_rings(struct supervisor *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_rings; i++) {
		struct pretended_ring *ring = s->rings[i];
		const struct pretended_event *e = find_event(s, ring->id);
		const int fd = e ? copy_event_fd(s, e) : -1;

		pump_ring(s, ring);
		if (fd >= 0) {
			close(fd);
			s->rings[kept++] = ring;
		} else {
			free_ring(ring);
		}
	}
	s->n_rings = kept;
}

/* ---- mmap(2) --------------------------------------------------------------------------------- */

bool needs_ring(const struct pretended_event *e)
{
	return e->reads_in_samples || e->fault == FAULT_THROTTLE;
}

/* Events share buffers: those of the process that is mapping decide. */
static bool has_ring_events(const struct supervisor *s, const struct pretended_event *e)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i]->pid == e->pid && needs_ring(s->events.at[i]))
			return true;
	return false;
}

bool can_join_buffer(const struct pretended_event *e, const struct pretended_event *owner)
{
	return !needs_ring(e) || !owner || !owner->is_mapped;
}

/* Maps the kernel's buffer of @fd and memory for the client. NULL and *@err on failure. */
static struct pretended_ring *make_ring(int fd, size_t length, int *memory, int *err)
{
	struct pretended_ring *ring = calloc(1, sizeof(*ring));
	void *kernel, *client;

	*memory = (int)syscall(SYS_memfd_create, "pretended samples", 1U /* MFD_CLOEXEC */);
	kernel = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*err = kernel == MAP_FAILED ? errno : ENOMEM;
	if (!ring || *memory < 0 || kernel == MAP_FAILED || ftruncate(*memory, (off_t)length)) {
		if (kernel != MAP_FAILED)
			munmap(kernel, length);
		free(ring);
		return NULL;
	}
	client = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, *memory, 0);
	if (client == MAP_FAILED) {
		munmap(kernel, length);
		free(ring);
		return NULL;
	}
	*ring = (struct pretended_ring){ .kernel = kernel, .client = client, .length = length };
	memcpy(client, kernel, CONTROL_SIZE);
	ring->offset = ring->kernel->data_offset;
	ring->size = ring->kernel->data_size;
	ring->client->data_head = ring->client->data_tail = 0;
	return ring;
}

/* Maps @memory in the client instead of the event. */
static void map_in_client(const struct call *call, int memory)
{
	uint64_t args[6], closed[6] = { 0 };
	struct stopped_client c;
	int64_t result;
	int given = give_low_fd(call, memory), rc;

	if (given < 0) {
		answer(call, given);
		return;
	}
	memcpy(args, call->notif->data.args, sizeof(args));
	args[4] = closed[0] = (uint64_t)given;
	rc = stop_client(call, &c);
	if (rc) {
		answer(call, rc);
		return;
	}
	result = call_in_client(&c, MAP_CALL, args);
	(void)call_in_client(&c, SYS_close, closed);
	release_client(&c, result);
}

void map_event(struct supervisor *s, const struct call *call, int fd, struct pretended_event *e)
{
	const uint64_t *args = (const uint64_t *)call->notif->data.args;
	struct pretended_ring *ring;
	int memory = -1, err = 0;
	bool failed = false;

	if (!has_ring_events(s, e) || args[5] || args[1] <= CONTROL_SIZE) {
		e->is_mapped |= args[1] > CONTROL_SIZE;
		pass_call(call);
		return;
	}
	s->rings = base_grow_list(s->rings, s->n_rings, &s->rings_capacity, sizeof(*s->rings),
	                          &failed);
	/* A buffer that the client cannot write is overwritten by the kernel. */
	if (failed || !(args[2] & PROT_WRITE)) {
		answer(call, failed ? -ENOMEM : -EOPNOTSUPP);
		return;
	}
	ring = make_ring(fd, (size_t)args[1], &memory, &err);
	if (ring) {
		ring->id = e->id;
		s->rings[s->n_rings++] = ring;
		map_in_client(call, memory);
	} else {
		answer(call, -err);
	}
	if (memory >= 0)
		close(memory);
}
