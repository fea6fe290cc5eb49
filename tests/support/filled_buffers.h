/* SPDX-License-Identifier: MIT */
/* A session with buffers that the test fills with records. */
#ifndef TESTS_FILLED_BUFFERS_H
#define TESTS_FILLED_BUFFERS_H

#include "units.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include "session/perf_event_internal.h"
#include "sampling/sampling.h"
#include "fake_sys.h"

#define PAGE    4096u
#define BUFFERS 9
#define COUNTS  20

static struct fake fake;
static struct pfm_session *s;
static struct pfm_ctx *ctx;
static struct sampling_state sm;
static struct session_count counts[COUNTS];
static struct sample_totals tallies[COUNTS];
static struct event_id known[COUNTS];
static struct sample_buffer streams[BUFFERS];
static struct side_event places[BUFFERS];
static struct pollfd polled[BUFFERS];
static unsigned heap[BUFFERS];
static struct perf_state perf;
static _Alignas(4096) uint8_t maps[BUFFERS][2 * PAGE];
static uint64_t heads[BUFFERS];
static pfm_record_t record;

static inline struct perf_event_mmap_page *page(unsigned i)
{
	return (struct perf_event_mmap_page *)(void *)maps[i];
}

static inline int begin(void **state)
{
	const struct record_layout layout = { .fields = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP |
		                                        PFM_SAMPLE_TIME,
		                              .has_trailers = true };

	(void)state;
	fake_begin(&fake);
	s = calloc(1, sizeof(*s));
	ctx = calloc(1, sizeof(*ctx));
	if (!s || !ctx)
		return -1;
	memset(counts, 0, sizeof(counts));
	memset(tallies, 0, sizeof(tallies));
	memset(streams, 0, sizeof(streams));
	memset(places, 0, sizeof(places));
	memset(maps, 0, sizeof(maps));
	memset(heads, 0, sizeof(heads));
	perf = (struct perf_state){ .cgroup_fd = -1 };
	sm = (struct sampling_state){
		.buffers = streams,
		.side_events = places,
		.buffer_heap = heap,
		.event_ids = known,
		.totals = tallies,
		.last_buffer = -1,
		.poll_fds = polled,
		.config = { .clock = CLOCK_MONOTONIC, .wakeup_events = 1 },
		.common_layout = layout,
	};
	pfmi_sampling_complete_layout(&sm.common_layout);
	s->ctx = ctx;
	s->sys = fake.sys;
	s->live.backend = &pfmi_perf_backend;
	s->counts = counts;
	s->live.backend_state = &perf;
	s->sampling = &sm;
	s->n_counts = COUNTS;
	sm.n_event_ids = COUNTS;
	for (unsigned i = 0; i < COUNTS;
	     i++) { /* ids 100, 110 ...; those of later counts come first */
		known[i] = (struct event_id){ 100 + 10 * i, COUNTS - 1 - i };
		tallies[i].layout = layout;
		pfmi_sampling_complete_layout(&tallies[i].layout);
		counts[i].config.period = 1000 + i;
		counts[i].config.cpu = -1;
		counts[i].config.attr.type = PERF_TYPE_RAW;
	}
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sm.n_buffers; i++)
		pfmi_sampling_free_ring(&streams[i].ring);
	fake_end(&fake);
	free(s);
	free(ctx);
	return 0;
}

static inline uint64_t id_of(unsigned count)
{
	return 100 + 10 * (COUNTS - 1 - (uint64_t)count);
}

static inline void open_buffers(unsigned n)
{
	sm.n_buffers = n;
	for (unsigned i = 0; i < n; i++) {
		page(i)->data_offset = PAGE;
		page(i)->data_size = PAGE;
		streams[i] = (struct sample_buffer){ .mapping = maps[i],
			                             .mapping_size = 2 * PAGE,
			                             .cpu = (int)i,
			                             .pid = -1,
			                             .polled_event = (int)i };
		places[i] = (struct side_event){ .fd = -1, .cpu = (int)i, .buffer_index = i };
		assert_true(pfmi_sampling_init_ring(&streams[i].ring, maps[i], 2 * PAGE));
	}
}

static inline bool write_words(unsigned i, uint32_t type, uint16_t misc, const uint64_t *words,
                               size_t n)
{
	uint64_t bytes[16];
	struct record_header head = { type, misc, (uint16_t)(8 * (n + 1)) };

	if (heads[i] + head.size - page(i)->data_tail > PAGE)
		return false;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + 1, words, n * sizeof(*words));
	for (size_t k = 0; k < head.size; k++)
		maps[i][PAGE + (heads[i] + k) % PAGE] = ((const uint8_t *)bytes)[k];
	page(i)->data_head = heads[i] += head.size;
	return true;
}

static inline bool write_sample(unsigned i, unsigned count, uint64_t ip, uint64_t time)
{
	return write_words(i, PFM_RECORD_SAMPLE, ip % 2 ? PFM_MISC_EXACT : 0,
	                   (const uint64_t[]){ id_of(count), ip, time }, 3);
}

/* Another record: one word of its own, then when, then whose. */
static inline bool write_side(unsigned i, uint32_t type, unsigned count, uint64_t word,
                              uint64_t time)
{
	return write_words(i, type, 0, (const uint64_t[]){ word, time, id_of(count) }, 3);
}

static inline bool next(void)
{
	int rc;

	record.size = sizeof(record);
	rc = pfm_next_record(s, &record);
	assert_true(rc == 0 || rc == 1);
	return rc;
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

#endif
