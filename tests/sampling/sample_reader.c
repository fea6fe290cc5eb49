/* SPDX-License-Identifier: MIT */
/* Records of several buffers that the test fills by hand: the order in which they come, one by
 * one and many at once, what waits, what is given up, whose they are and what is added up on the
 * way. */
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

static struct perf_event_mmap_page *page(unsigned i)
{
	return (struct perf_event_mmap_page *)(void *)maps[i];
}

static int begin(void **state)
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
	s->backend = &pfmi_perf_backend;
	s->counts = counts;
	s->backend_state = &perf;
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

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sm.n_buffers; i++)
		pfmi_sampling_free_ring(&streams[i].ring);
	fake_end(&fake);
	free(s);
	free(ctx);
	return 0;
}

static uint64_t id_of(unsigned count)
{
	return 100 + 10 * (COUNTS - 1 - (uint64_t)count);
}

static void open_buffers(unsigned n)
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

static bool write_words(unsigned i, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
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

static bool write_sample(unsigned i, unsigned count, uint64_t ip, uint64_t time)
{
	return write_words(i, PFM_RECORD_SAMPLE, ip % 2 ? PFM_MISC_EXACT : 0,
	                   (const uint64_t[]){ id_of(count), ip, time }, 3);
}

/* Another record: one word of its own, then when, then whose. */
static bool write_side(unsigned i, uint32_t type, unsigned count, uint64_t word, uint64_t time)
{
	return write_words(i, type, 0, (const uint64_t[]){ word, time, id_of(count) }, 3);
}

static bool next(void)
{
	int rc;

	record.size = sizeof(record);
	rc = pfm_next_record(s, &record);
	assert_true(rc == 0 || rc == 1);
	return rc;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* What was written, in the order in which it must come: by time, and at one time the first buffer's
 * before others', each in its order. */
static struct written {
	uint64_t time, ip;
	unsigned buffer, count;
} written[BUFFERS * 100];
static unsigned n_written;

static int in_order(const void *a, const void *b)
{
	const struct written *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->ip < y->ip ? -1 : 1;
}

/* Up to @most samples in each buffer, times often equal, of few or many events. */
static void fill(unsigned most, uint64_t *seed)
{
	unsigned events = 1 + 9 * (unsigned)(unit_random(seed) % 3);
	uint64_t ip = 0;

	n_written = 0;
	for (unsigned i = 0; i < sm.n_buffers; i++) {
		uint64_t time = 1000 + unit_random(seed) % 5;
		unsigned n = (unsigned)(unit_random(seed) % (most + 1));

		for (unsigned k = 0; k < n; k++) {
			struct written *w = &written[n_written++];

			time += unit_random(seed) % 8 / 5 * (unit_random(seed) % 40);
			*w = (struct written){ time, ++ip, i,
				               (unsigned)(unit_random(seed) % events) };
			assert_true(write_sample(i, w->count, w->ip, w->time));
		}
	}
	qsort(written, n_written, sizeof(written[0]), in_order);
}

static void expect_written(const pfm_record_t *r, unsigned k)
{
	const struct written *w = &written[k];

	if (r->type != PFM_RECORD_SAMPLE || r->time != w->time || r->body.sample.ip != w->ip ||
	    r->event != w->count || r->body.sample.period != 1000 + w->count)
		fail_msg("record %u of %u: %llu at %llu of count %u, not %llu at %llu of %u", k,
		         n_written, (unsigned long long)r->body.sample.ip,
		         (unsigned long long)r->time, r->event, (unsigned long long)w->ip,
		         (unsigned long long)w->time, w->count);
}

/* All that was written has been told, once. */
static void expect_accounts(void)
{
	uint64_t samples[COUNTS] = { 0 }, exact[COUNTS] = { 0 };

	for (unsigned k = 0; k < n_written; k++) {
		samples[written[k].count]++;
		exact[written[k].count] += written[k].ip % 2;
	}
	for (unsigned i = 0; i < COUNTS; i++) {
		assert_true(tallies[i].n_samples == samples[i] && tallies[i].n_exact == exact[i]);
		assert_true(tallies[i].total_weight == samples[i] * (1000 + i));
		tallies[i].n_samples = tallies[i].n_exact = tallies[i].total_weight = 0;
	}
	assert_true(sm.n_bytes == n_written * (uint64_t)32);
	sm.n_bytes = 0;
}

static void the_oldest_comes_first(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned n = 1; n <= BUFFERS; n++) {
		end(NULL);
		begin(NULL);
		open_buffers(n);
		for (unsigned round = 0; round < 12; round++) {
			fill(100, &seed);
			for (unsigned k = 0; k < n_written; k++) {
				assert_true(next());
				expect_written(&record, k);
			}
			assert_false(next());
			expect_accounts();
			for (unsigned i = 0; i < n; i++)
				streams[i].next_time =
					0; /* the next round begins at the same time */
		}
	}
}

static void many_at_once(void **state)
{
	static pfm_record_t records[64];
	uint64_t seed = 6;

	(void)state;
	for (unsigned n = 1; n <= BUFFERS; n++) {
		end(NULL);
		begin(NULL);
		open_buffers(n);
		for (unsigned round = 0; round < 12; round++) {
			unsigned k = 0;

			fill(100, &seed);
			while (k < n_written) {
				unsigned wanted = 1 + (unsigned)(unit_random(&seed) % 64);
				int got;

				records[0].size = sizeof(records[0]);
				got = pfm_next_records(s, records, wanted);
				assert_true(got > 0 && (unsigned)got <= wanted);
				for (int i = 0; i < got; i++)
					expect_written(&records[i], k++);
			}
			assert_int_equal(pfm_next_records(s, records, 64), 0);
			expect_accounts();
			for (unsigned i = 0; i < n; i++)
				streams[i].next_time = 0;
		}
	}
}

/* Records without a time come with what is before them in their buffer. */
static void records_without_a_time(void **state)
{
	static const uint64_t expected[] = { 1, 2, 3, 4 };

	(void)state;
	open_buffers(2);
	sm.common_layout.has_trailers = false;
	for (unsigned i = 0; i < COUNTS; i++)
		tallies[i].layout.has_trailers = false;
	assert_true(write_sample(0, 0, 1, 50));
	assert_true(write_words(0, PFM_RECORD_LOST_SAMPLES, 0, (const uint64_t[]){ 2 }, 1));
	assert_true(write_sample(1, 0, 3, 60));
	assert_true(write_words(1, PFM_RECORD_LOST_SAMPLES, 0, (const uint64_t[]){ 4 }, 1));
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_true(next());
		assert_true((record.type == PFM_RECORD_SAMPLE
		                     ? record.body.sample.ip
		                     : record.body.lost.lost) == expected[i]);
	}
	assert_false(next());
}

/* They do so in the next pass as well, however many came at once: in the second buffer is what is
 * younger than the last time of the first, and what is older. */
static void the_last_time_stays(void **state)
{
	static const uint64_t expected[] = { 7, 8, 9 };

	(void)state;
	for (unsigned at_once = 1; at_once <= 8; at_once++) {
		pfm_record_t records[8] = { PFM_INIT(records[0]) };
		unsigned n = 0;
		int got;

		end(NULL);
		begin(NULL);
		open_buffers(2);
		sm.common_layout.has_trailers = false;
		for (uint64_t i = 0; i < 5; i++)
			assert_true(write_sample(0, 0, i, 50 + i));
		while ((got = pfm_next_records(s, records, at_once)) > 0)
			n += (unsigned)got;
		assert_int_equal(n, 5);
		assert_true(write_words(0, PFM_RECORD_LOST_SAMPLES, 0, (const uint64_t[]){ 8 }, 1));
		assert_true(write_sample(1, 0, 7, 53));
		assert_true(write_sample(1, 0, 9, 55));
		for (size_t i = 0; i < COUNT(expected); i++) {
			assert_true(next());
			assert_true((record.type == PFM_RECORD_SAMPLE
			                     ? record.body.sample.ip
			                     : record.body.lost.lost) == expected[i]);
		}
		assert_false(next());
	}
}

/* ---- passes ---------------------------------------------------------------------------------- */

static uint64_t get_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* While others may still be late what is young waits; it does not where nobody can be. */
static void what_is_young_waits(void **state)
{
	const uint64_t later = (uint64_t)100000 * 1000000000u;

	(void)state;
	for (unsigned why = 0; why < 4; why++) {
		end(NULL);
		begin(NULL);
		open_buffers(why == 3 ? 1 : 2);
		s->running = why != 1;
		if (why == 2) /* every task has ended */
			streams[0].polled_event = streams[1].polled_event = -1;
		assert_true(write_sample(0, 0, 1, 5));
		assert_true(write_sample(0, 0, 2, get_clock_ns() + later));
		assert_true(next() && record.body.sample.ip == 1);
		assert_int_equal(next(), why != 0);
	}
	/* A moment ago is young as well: nothing stops this for two of these moments, or if so,
	 * once more. */
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		bool got;

		end(NULL);
		begin(NULL);
		open_buffers(2);
		s->running = true;
		assert_true(write_sample(0, 0, 1, get_clock_ns()));
		got = next();
		s->running = false;
		if (!got)
			return;
	}
	fail_msg("what was written just now did not wait");
}

/* An event has no number where its CPU is gone: nobody has to tell of it. */
static void signals_of_what_is_not_there(void **state)
{
	static struct kernel_event gone[2] = { { .fd = -1 }, { .fd = -1 } };

	(void)state;
	open_buffers(2);
	perf.events = gone;
	perf.n_events = 2;
	assert_int_equal(pfm_session_signal(s, SIGUSR1), PFMLIB_SUCCESS);
	gone[1].fd = INT_MAX; /* another's answer is the kernel's */
	assert_int_equal(pfm_session_signal(s, SIGUSR1), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, EBADF);
	gone[1].fd = -1;
}

/* What is written after a pass began belongs to the next. */
static void a_pass_ends(void **state)
{
	(void)state;
	open_buffers(2);
	assert_true(write_sample(0, 0, 1, 50));
	assert_true(next() && record.body.sample.ip == 1);
	assert_true(write_sample(0, 0, 2, 60));
	assert_true(write_sample(1, 0, 3, 40));
	/* The first pass is over: these are a new one, in their order. */
	assert_true(next() && record.body.sample.ip == 3);
	assert_true(next() && record.body.sample.ip == 2);
	assert_true(write_sample(1, 0, 5, 80));
	assert_true(write_sample(1, 0, 6, 90));
	assert_true(next() && record.body.sample.ip == 5);
	assert_true(write_sample(0, 0, 4, 70)); /* too late to be before it */
	assert_true(next() && record.body.sample.ip == 6);
	assert_true(next() && record.body.sample.ip == 4);
}

/* Room goes back in pieces of a quarter while a pass is read, and all of it with the next. */
static void room_is_given_back(void **state)
{
	unsigned n = 0;

	(void)state;
	open_buffers(1);
	while (write_sample(0, 0, n, 10))
		n++;
	assert_int_equal(n, PAGE / 32);
	for (unsigned i = 0; i < n; i++) {
		assert_true(next());
		assert_true(page(0)->data_tail <=
		            32 * (uint64_t)i); /* what was handed out last is still there */
		assert_true(32 * (uint64_t)i - page(0)->data_tail <=
		            PAGE / 4 + 32); /* and not much more */
	}
	assert_false(next());
	assert_true(page(0)->data_tail == PAGE);
}

static void a_damaged_buffer(void **state)
{
	(void)state;
	open_buffers(2);
	assert_true(write_sample(1, 0, 7, 10));
	page(0)->data_head = heads[0] = 64; /* zeros are no record */
	assert_true(next() && record.body.sample.ip == 7);
	assert_false(next());
	assert_int_equal(sm.n_damaged_buffers, 1);
	assert_true(page(0)->data_tail == 64);
	/* What comes afterwards is read. */
	assert_true(write_sample(0, 0, 8, 20));
	assert_true(next() && record.body.sample.ip == 8);
	assert_int_equal(sm.n_damaged_buffers, 1);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A kernel that writes as fast as it is read does not keep the reader in one buffer. */
static void raw_bytes_of_a_busy_buffer(void **state)
{
	const void *bytes;
	unsigned buffer = 99;
	size_t len;

	(void)state;
	open_buffers(3);
	assert_int_equal(pfm_next_bytes(s, &bytes, &len, &buffer), 0);
	assert_true(write_sample(0, 0, 1, 10));
	assert_true(write_sample(2, 0, 2, 10));
	for (unsigned pass = 0; pass < 200; pass++) {
		assert_int_equal(pfm_next_bytes(s, &bytes, &len, &buffer), 1);
		assert_int_equal(buffer, 0);
		assert_int_equal(len, 32);
		assert_true(write_sample(0, 0, 1, 10));
		assert_int_equal(pfm_next_bytes(s, &bytes, &len, &buffer), 1);
		assert_int_equal(buffer, 2);
		assert_int_equal(len, 32);
		assert_true(write_sample(2, 0, 2, 10));
		assert_true(write_sample(0, 0, 1, 10));
		assert_int_equal(pfm_next_bytes(s, &bytes, &len, NULL), 0);
		/* Both of the first buffer's are there for the next pass; one of them is taken out
		 * of its way. */
		page(0)->data_head = heads[0] -= 32;
	}
	assert_true(sm.n_bytes == 200 * 64);
	assert_int_equal(pfm_next_bytes(s, NULL, &len, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_bytes(s, &bytes, NULL, NULL), PFMLIB_ERR_INVAL);
	sm.buffers = NULL;
	sm.n_buffers = 0;
	assert_int_equal(pfm_next_bytes(s, &bytes, &len, NULL), PFMLIB_ERR_NOTSUPP);
}

/* A buffer whose bytes go over its end gives them in two pieces, all of one pass. */
static void raw_bytes_over_the_end(void **state)
{
	const void *bytes;
	unsigned buffer;
	size_t len;

	(void)state;
	open_buffers(2);
	page(0)->data_tail = page(0)->data_head = heads[0] = PAGE - 32;
	assert_true(pfmi_sampling_init_ring(&streams[0].ring, maps[0], 2 * PAGE));
	for (unsigned i = 0; i < 3; i++)
		assert_true(write_sample(0, 0, i, 10));
	assert_true(write_sample(1, 0, 9, 10));
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 0 && len == 32);
	assert_true(write_sample(0, 0, 4, 10));
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 0 && len == 64);
	assert_true(page(0)->data_tail == PAGE); /* what was handed out before is done with */
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 1 && len == 32);
	assert_int_equal(pfm_next_bytes(s, &bytes, &len, &buffer), 0);
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 0 && len == 32);
}

/* ---- whose ----------------------------------------------------------------------------------- */

static void every_event_is_found(void **state)
{
	(void)state;
	open_buffers(1);
	for (unsigned i = 0; i < COUNTS; i++) {
		assert_true(write_sample(0, i, i, i));
		assert_true(next() && record.event == i && record.body.sample.period == 1000 + i);
		assert_true(write_sample(0, i, i, i));
		assert_true(next() && record.event == i);
	}
	/* Ids below, between and above those that are known. */
	for (unsigned i = 0; i <= COUNTS; i++) {
		assert_true(write_words(0, PFM_RECORD_SAMPLE, 0,
		                        (const uint64_t[]){ 95 + 10 * (uint64_t)i, 5, 6 }, 3));
		assert_true(next());
		assert_true(record.event == PFM_NO_EVENT && record.body.sample.ip == 5 &&
		            record.time == 6);
	}
	assert_true(sm.n_ambiguous_samples == 0);
}

/* Events of the kernel's own may come with the id of another one: where one count alone can be
 * meant it is that, else nobody. */
static void ids_of_others(void **state)
{
	const uint64_t words[] = { 7, 5, 6 };

	(void)state;
	open_buffers(2);
	counts[3].config.attr =
		(pfm_attr_t){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS };
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT); /* it is not open */
	counts[3].kernel_state.n_open = 1;
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3 && sm.n_ambiguous_samples == 0);
	counts[3].config.cpu = 1; /* of the second buffer's CPU */
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT);
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3);
	/* Clocks have their own ids. */
	counts[4].config.attr =
		(pfm_attr_t){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK };
	counts[4].kernel_state.n_open = 1;
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3 && sm.n_ambiguous_samples == 0);
	counts[4].config.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT && sm.n_ambiguous_samples == 1);
}

static void what_is_added_up(void **state)
{
	const struct sample_totals *t = &tallies[2];

	(void)state;
	open_buffers(1);
	assert_true(write_side(0, PFM_RECORD_LOST_SAMPLES, 2, 5, 10));
	assert_true(write_side(0, PFM_RECORD_LOST_SAMPLES, 2, 6, 11));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        (const uint64_t[]){ 12, 0, 0, 12, id_of(2) }, 5)); /* of nothing */
	assert_true(write_words(0, PFM_RECORD_THROTTLE, 0,
	                        (const uint64_t[]){ 20, 0, 0, 20, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        (const uint64_t[]){ 50, 0, 0, 50, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        (const uint64_t[]){ 70, 0, 0, 70, id_of(2) }, 5)); /* once more */
	assert_true(write_words(0, PFM_RECORD_THROTTLE, 0,
	                        (const uint64_t[]){ 90, 0, 0, 90, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        (const uint64_t[]){ 80, 0, 0, 80, id_of(2) }, 5)); /* clocks */
	while (next())
		assert_int_equal(record.event, 2);
	assert_true(t->n_discarded == 11 && t->n_throttled == 2 && t->throttled_ns == 30);
	/* Lost records are everybody's in that buffer: the id is of whoever came through. */
	assert_true(write_words(0, PFM_RECORD_LOST, 0,
	                        (const uint64_t[]){ id_of(2), 9, 100, id_of(2) }, 4));
	assert_true(next() && record.event == PFM_NO_EVENT && record.body.lost.lost == 9 &&
	            !(record.has & PFM_SAMPLE_ID));
	assert_true(sm.n_lost == 9 && t->n_discarded == 11);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void waiting(void **state)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_SOFTWARE };
	int fds[4] = { -7, -7, -7, -7 };

	(void)state;
	open_buffers(2);
	sm.n_side_events = 3;
	for (unsigned i = 0; i < 3; i++)
		places[i] = (struct side_event){ .fd = fake.sys.perf_event_open(
							 &fake.sys, &a, 40 + (int)i, -1, -1, 0),
			                         .buffer_index = i ? 1 : 0 };
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_int_equal(fake.uses[FAKE_POLL], 1);
	assert_int_equal(pfm_session_fds(s, fds, 1), 2);
	assert_true(fds[0] == places[0].fd && fds[1] == -7);
	/* What is there needs no call; without time to wait, the call comes first. */
	assert_true(write_sample(1, 0, 1, 1));
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY);
	assert_int_equal(fake.uses[FAKE_POLL], 1);
	assert_int_equal(pfm_wait_session(s, 0), PFM_WAIT_READY);
	assert_int_equal(fake.uses[FAKE_POLL], 2);
	/* What was handed out last is done with at the next call: it is nothing to wait for. */
	assert_true(next());
	assert_false(next());
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	/* A task ends; another writes into the same buffer. */
	fake_event(&fake, places[1].fd)->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_true(streams[1].polled_event == 2 && places[1].has_ended && !places[2].has_ended);
	fake_event(&fake, places[0].fd)->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_true(streams[0].polled_event == -1);
	assert_int_equal(pfm_session_fds(s, fds, 4), 1);
	assert_int_equal(fds[0], places[2].fd);
	fake_event(&fake, places[2].fd)->revents = POLLERR;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_ENDED);
	assert_int_equal(pfm_session_fds(s, NULL, 0), 0);
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_ENDED);
	assert_true(write_sample(0, 0, 1, 1));
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY); /* what is left can be read */
}

/* What is short of the mark is there as well, but the kernel is asked first. A record that was
 * looked at and not handed out counts. */
static void waiting_for_a_mark(void **state)
{
	static const struct {
		uint32_t mark;
		unsigned polls;
	} rows[] = { { 64, 0 }, { 65, 1 }, { 63, 0 }, { 1000, 1 } };
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_SOFTWARE };

	(void)state;
	open_buffers(2);
	sm.n_side_events = 2;
	for (unsigned i = 0; i < 2; i++)
		places[i] = (struct side_event){ .fd = fake.sys.perf_event_open(
							 &fake.sys, &a, 40 + (int)i, -1, -1, 0),
			                         .buffer_index = i };
	sm.config.wakeup_events = 0;
	assert_true(write_sample(0, 0, 1, 1) && write_sample(1, 0, 1, 2) &&
	            write_sample(1, 0, 1, 3)); /* 32 bytes each */
	assert_true(next());
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned before = fake.uses[FAKE_POLL];

		sm.config.watermark = rows[i].mark;
		assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY);
		assert_int_equal(fake.uses[FAKE_POLL] - before, rows[i].polls);
	}
}

static void waiting_that_fails(void **state)
{
	(void)state;
	open_buffers(1);
	sm.n_side_events = 1;
	fake.fail = FAKE_POLL;
	fake.fail_at = 1;
	fake.fail_errno = EINTR;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	fake.fail_at = 2;
	fake.fail_errno = ENOMEM;
	assert_int_equal(pfm_wait_session(s, 10), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, ENOMEM);
	sm.totals = NULL;
	assert_int_equal(pfm_wait_session(s, 10), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_wait_session(NULL, 10), PFMLIB_ERR_INVAL);
}

/* ---- accounts -------------------------------------------------------------------------------- */

static uint64_t counted;

static int read_at_once(struct pfm_session *session, unsigned i, pfm_count_t *count)
{
	(void)session;
	(void)i;
	*count = (pfm_count_t){
		.size = sizeof(*count), .value = counted, .raw = counted, .enabled = 5, .running = 5
	};
	return PFMLIB_SUCCESS;
}

static const struct backend at_once = { .name = "at once", .read_user_count = read_at_once };
static struct kernel_event parts[2 * COUNTS];
static pfm_count_t last[COUNTS];

static unsigned one, other; /* the count that is asked about, and the one beside it */

/* Two counts with two parts each, of which @one took @samples samples every 10 of what was
 * @counted. */
static void begin_accounts(uint64_t count, uint64_t samples)
{
	counted = count;
	memset(parts, 0, sizeof(parts));
	memset(last, 0, sizeof(last));
	perf.events = parts;
	s->backend = &at_once;
	s->last_counts = last;
	s->running = false;
	s->n_counts = 2;
	for (unsigned i = 0; i < 2; i++) {
		counts[i].kernel_state = (struct count_kernel_state){ .first_event = 2 * i,
			                                              .n_events = 2,
			                                              .n_open = 2 };
		counts[i].config.period = 10;
		memset(&tallies[i], 0, offsetof(struct sample_totals, layout));
	}
	tallies[one].n_samples = samples;
}

/* Each of two counts is asked about, beside the other. */
static void of_both(void **state, void (*check)(void))
{
	for (one = 0; one < 2; one++) {
		other = !one;
		check();
		assert_true(end(state) == 0 && begin(state) == 0);
	}
}

static pfm_sample_statistics_t expect_account(pfm_quality_t quality, pfm_cause_t cause)
{
	pfm_sample_statistics_t c = PFM_INIT(c);

	assert_int_equal(pfm_sampling_statistics(s, one, &c), PFMLIB_SUCCESS);
	if (c.quality != quality || c.cause != cause)
		fail_msg("%llu samples of %llu are %s %s", (unsigned long long)c.samples,
		         (unsigned long long)c.count, pfm_quality_name(c.quality),
		         pfm_cause_name(c.cause));
	assert_true(c.count == counted && c.period == 10 && c.samples == tallies[one].n_samples);
	return c;
}

/* Half of what is due, with a period more or less for each counter. */
static void fewer_samples(void)
{
	static const struct {
		uint64_t count, samples;
		bool few;
	} rows[] = { { 109, 0, false }, { 110, 0, true },   { 110, 3, true },
		     { 110, 4, false }, { 1000, 48, true }, { 1000, 49, false } };

	open_buffers(1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_accounts(rows[i].count, rows[i].samples);
		expect_account(rows[i].few ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT,
		               rows[i].few ? PFM_CAUSE_OTHER : PFM_CAUSE_NONE);
		s->options.flags = PFM_SESSION_INHERIT; /* those of children are too many to know */
		expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		s->options.flags = 0;
	}
}

static void fewer_samples_than_are_due(void **state)
{
	of_both(state, fewer_samples);
}

static void get_lost_samples(void)
{
	pfm_sample_statistics_t c;

	open_buffers(1);
	begin_accounts(1000, 100);
	parts[2 * other].lost_samples = 9;
	c = expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == 0);
	parts[2 * one].lost_samples = 3;
	parts[2 * one + 1].lost_samples = 4;
	c = expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	assert_true(c.lost == 7);
	/* A kernel that does not tell: records about losses are all there is. */
	sm.lacks_lost_counts = true;
	c = expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == PFM_LOST_UNKNOWN);
	sm.n_lost = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	sm.n_lost = 0;
	tallies[one].n_discarded = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	tallies[one].n_throttled = 1; /* says more */
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_THROTTLED);
	assert_int_equal(pfm_sampling_statistics(s, 2, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_sampling_statistics(s, 0, NULL), PFMLIB_ERR_INVAL);
}

static void what_was_lost(void **state)
{
	of_both(state, get_lost_samples);
}

/* Two counts of one event of the kernel's own may have taken each other's samples: their number
 * shows it, once all were taken. */
static void twins(void)
{
	open_buffers(1);
	for (unsigned i = 0; i < 2; i++)
		counts[i].config.attr = (pfm_attr_t){ .type = PERF_TYPE_SOFTWARE,
			                              .config = PERF_COUNT_SW_PAGE_FAULTS };
	begin_accounts(50, 5);
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	for (uint64_t samples = 0; samples < 12; samples++) {
		bool right = samples >= 3 && samples <= 7;

		begin_accounts(50, samples);
		expect_account(right ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL,
		               right ? PFM_CAUSE_NONE : PFM_CAUSE_OTHER);
		s->running = true; /* there may be more to come */
		expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	}
	begin_accounts(50, 0);
	counts[other].config.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES; /* no twin */
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	sm.n_ambiguous_samples = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	counts[one].config.attr.type = PERF_TYPE_RAW; /* these are never another's */
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void samples_of_twins(void **state)
{
	of_both(state, twins);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(sampling_sample_reader, CASE(the_oldest_comes_first), CASE(many_at_once),
     CASE(records_without_a_time), CASE(the_last_time_stays), CASE(what_is_young_waits),
     CASE(signals_of_what_is_not_there), CASE(a_pass_ends), CASE(room_is_given_back),
     CASE(a_damaged_buffer), CASE(raw_bytes_of_a_busy_buffer), CASE(raw_bytes_over_the_end),
     CASE(every_event_is_found), CASE(ids_of_others), CASE(what_is_added_up), CASE(waiting),
     CASE(waiting_for_a_mark), CASE(waiting_that_fails), CASE(fewer_samples_than_are_due),
     CASE(what_was_lost), CASE(samples_of_twins));
