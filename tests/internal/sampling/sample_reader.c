/* SPDX-License-Identifier: MIT */
/* Records of several buffers that the test fills by hand: their order, one by one and many at once;
 * records that wait; damaged buffers; the events they belong to; and the totals. */
#include "filled_buffers.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* Samples in the order in which they must come: by time, at equal times by buffer, and within a
 * buffer in the order of writing. */
static struct written_sample {
	uint64_t time, ip;
	unsigned buffer, count;
} written[BUFFERS * 100];
static unsigned n_written;

static int compare_written(const void *a, const void *b)
{
	const struct written_sample *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->ip < y->ip ? -1 : 1;
}

/* Writes up to @most samples into each buffer, often with equal times, of few or many events. */
static void write_random_samples(unsigned most, uint64_t *seed)
{
	unsigned events = 1 + 9 * (unsigned)(unit_random(seed) % 3);
	uint64_t ip = 0;

	n_written = 0;
	for (unsigned i = 0; i < sm.n_buffers; i++) {
		uint64_t time = 1000 + unit_random(seed) % 5;
		unsigned n = (unsigned)(unit_random(seed) % (most + 1));

		for (unsigned k = 0; k < n; k++) {
			struct written_sample *w = &written[n_written++];

			time += unit_random(seed) % 8 / 5 * (unit_random(seed) % 40);
			*w = (struct written_sample){ time, ++ip, i,
				                      (unsigned)(unit_random(seed) % events) };
			assert_true(write_sample(i, w->count, w->ip, w->time));
		}
	}
	qsort(written, n_written, sizeof(written[0]), compare_written);
}

static void expect_written(const pfm_record_t *r, unsigned k)
{
	const struct written_sample *w = &written[k];

	if (r->type != PFM_RECORD_SAMPLE || r->time != w->time || r->body.sample.ip != w->ip ||
	    r->event != w->count || r->body.sample.period != 1000 + w->count)
		fail_msg("record %u of %u: %llu at %llu of count %u, not %llu at %llu of %u", k,
		         n_written, (unsigned long long)r->body.sample.ip,
		         (unsigned long long)r->time, r->event, (unsigned long long)w->ip,
		         (unsigned long long)w->time, w->count);
}

/* Expects that the totals hold every written sample once. */
static void expect_totals(void)
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

static void oldest_record_comes_first(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned n = 1; n <= BUFFERS; n++) {
		end(NULL);
		begin(NULL);
		open_buffers(n);
		for (unsigned round = 0; round < 12; round++) {
			write_random_samples(100, &seed);
			for (unsigned k = 0; k < n_written; k++) {
				assert_true(next());
				expect_written(&record, k);
			}
			assert_false(next());
			expect_totals();
			for (unsigned i = 0; i < n; i++)
				streams[i].next_time =
					0; /* the next round begins at the same time */
		}
	}
}

static void reads_many_records_at_once(void **state)
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

			write_random_samples(100, &seed);
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
			expect_totals();
			for (unsigned i = 0; i < n; i++)
				streams[i].next_time = 0;
		}
	}
}

/* A record without a time comes directly after the record before it in its buffer. */
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

/* The last time of a buffer holds for its next record in a later pass too, for every number of
 * records per call. The second buffer has one sample before that time and one after it. */
static void last_time_holds_in_later_passes(void **state)
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

/* Young records wait while another buffer may still deliver older ones: not if the session is
 * stopped, every task has ended, or there is one buffer only. */
static void young_records_wait(void **state)
{
	const uint64_t later = (uint64_t)30 * 1000000000u;

	(void)state;
	for (unsigned why = 0; why < 4; why++) {
		end(NULL);
		begin(NULL);
		open_buffers(why == 3 ? 1 : 2);
		s->live.running = why != 1;
		if (why == 2) /* every task has ended */
			streams[0].polled_event = streams[1].polled_event = -1;
		assert_true(write_sample(0, 0, 1, 5));
		assert_true(write_sample(0, 0, 2, get_clock_ns() + later));
		assert_true(next() && record.body.sample.ip == 1);
		assert_int_equal(next(), why != 0);
	}
}

/* Linux gives a sample of a software event the id and the time of another session's event, whose
 * clock may be another one: such times hold nothing up and are not handed out. */
static void times_of_other_clocks_hold_no_buffer_up(void **state)
{
	const uint64_t other[] = { 7, 5, (uint64_t)1 << 60 };

	(void)state;
	open_buffers(2);
	s->live.running = true;
	counts[3].config.attr =
		(perfmon_attr_t){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS };
	counts[3].kernel_state.n_open = 1;
	assert_true(write_sample(0, 0, 1, 10));
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, other, 3));
	assert_true(write_sample(0, 0, 3, 30));
	assert_true(write_sample(1, 0, 2, 20));
	assert_true(next() && record.body.sample.ip == 1 && record.time == 10);
	assert_true(next() && record.body.sample.ip == 5 && record.event == 3);
	assert_true(record.time == 0 && !(record.has & PFM_SAMPLE_TIME));
	assert_true(next() && record.body.sample.ip == 2 && record.time == 20);
	assert_true(next() && record.body.sample.ip == 3 && record.time == 30);
	assert_false(next());
	/* Its own id: the other session's samples have none. */
	assert_true(write_sample(0, 0, 4, (uint64_t)1 << 60));
	assert_true(write_sample(0, 0, 6, 40));
	assert_true(next() && record.body.sample.ip == 4);
	assert_true(next() && record.body.sample.ip == 6 && record.time == 40);
}

/* Records written after a pass began belong to the next pass. */
static void pass_ends_at_the_heads_it_loaded(void **state)
{
	(void)state;
	open_buffers(2);
	assert_true(write_sample(0, 0, 1, 50));
	assert_true(next() && record.body.sample.ip == 1);
	assert_true(write_sample(0, 0, 2, 60));
	assert_true(write_sample(1, 0, 3, 40));
	/* The first pass has ended. Both records belong to a new pass and come in order of time. */
	assert_true(next() && record.body.sample.ip == 3);
	assert_true(next() && record.body.sample.ip == 2);
	assert_true(write_sample(1, 0, 5, 80));
	assert_true(write_sample(1, 0, 6, 90));
	assert_true(next() && record.body.sample.ip == 5);
	/* This record is older than record 5, which was already handed out */
	assert_true(write_sample(0, 0, 4, 70));
	assert_true(next() && record.body.sample.ip == 6);
	assert_true(next() && record.body.sample.ip == 4);
}

/* A pass releases space in steps of a quarter of the buffer; the next pass releases the rest. */
static void space_is_released_in_quarters(void **state)
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
		            32 * (uint64_t)i); /* the record handed out last is not released */
		assert_true(32 * (uint64_t)i - page(0)->data_tail <=
		            /* at most a quarter of the buffer and this record are held */
		            PAGE / 4 + 32);
	}
	assert_false(next());
	assert_true(page(0)->data_tail == PAGE);
}

static void skips_damaged_buffer(void **state)
{
	(void)state;
	open_buffers(2);
	assert_true(write_sample(1, 0, 7, 10));
	page(0)->data_head = heads[0] = 64; /* a record of zeros is invalid */
	assert_true(next() && record.body.sample.ip == 7);
	assert_false(next());
	assert_int_equal(sm.n_damaged_buffers, 1);
	assert_true(page(0)->data_tail == 64);
	/* Records written later are read. */
	assert_true(write_sample(0, 0, 8, 20));
	assert_true(next() && record.body.sample.ip == 8);
	assert_int_equal(sm.n_damaged_buffers, 1);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A kernel that writes as fast as the reader reads does not keep the reader in one buffer. */
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
		/* The first buffer has two records for the next pass; one of them is removed
		 * again. */
		page(0)->data_head = heads[0] -= 32;
	}
	assert_true(sm.n_bytes == 200 * 64);
	assert_int_equal(pfm_next_bytes(s, NULL, &len, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_bytes(s, &bytes, NULL, NULL), PFMLIB_ERR_INVAL);
	sm.buffers = NULL;
	sm.n_buffers = 0;
	assert_int_equal(pfm_next_bytes(s, &bytes, &len, NULL), PFMLIB_ERR_NOTSUPP);
}

/* Bytes that wrap come in two pieces in the same pass. */
static void raw_bytes_that_wrap(void **state)
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
	assert_true(page(0)->data_tail == PAGE); /* the piece handed out before is released */
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 1 && len == 32);
	assert_int_equal(pfm_next_bytes(s, &bytes, &len, &buffer), 0);
	assert_true(pfm_next_bytes(s, &bytes, &len, &buffer) == 1 && buffer == 0 && len == 32);
}

/* ---- whose ----------------------------------------------------------------------------------- */

static void every_event_is_found_by_its_id(void **state)
{
	(void)state;
	open_buffers(1);
	for (unsigned i = 0; i < COUNTS; i++) {
		assert_true(write_sample(0, i, i, i));
		assert_true(next() && record.event == i && record.body.sample.period == 1000 + i);
		assert_true(write_sample(0, i, i, i));
		assert_true(next() && record.event == i);
	}
	/* Ids below, between and above the known ids. */
	for (unsigned i = 0; i <= COUNTS; i++) {
		assert_true(write_words(0, PFM_RECORD_SAMPLE, 0,
		                        (const uint64_t[]){ 95 + 10 * (uint64_t)i, 5, 6 }, 3));
		assert_true(next());
		assert_true(record.event == PFM_NO_EVENT && record.body.sample.ip == 5 &&
		            !(record.has & PFM_SAMPLE_TIME));
	}
	assert_true(sm.n_ambiguous_samples == 0);
}

/* A sample of a software event may carry the id of another open event. It is attributed if only one
 * count can be meant. */
static void foreign_ids_are_attributed_if_unambiguous(void **state)
{
	const uint64_t words[] = { 7, 5, 6 };

	(void)state;
	open_buffers(2);
	counts[3].config.attr =
		(perfmon_attr_t){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS };
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT); /* count 3 is not open yet */
	counts[3].kernel_state.n_open = 1;
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3 && sm.n_ambiguous_samples == 0);
	counts[3].config.cpu = 1; /* the second buffer is that of CPU 1 */
	assert_true(write_words(0, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT);
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3);
	/* Samples of clocks always carry their own id. */
	counts[4].config.attr =
		(perfmon_attr_t){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK };
	counts[4].kernel_state.n_open = 1;
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == 3 && sm.n_ambiguous_samples == 0);
	counts[4].config.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	assert_true(write_words(1, PFM_RECORD_SAMPLE, 0, words, 3));
	assert_true(next() && record.event == PFM_NO_EVENT && sm.n_ambiguous_samples == 1);
}

static void totals_of_losses_and_throttling(void **state)
{
	const struct sample_totals *t = &tallies[2];

	(void)state;
	open_buffers(1);
	assert_true(write_side(0, PFM_RECORD_LOST_SAMPLES, 2, 5, 10));
	assert_true(write_side(0, PFM_RECORD_LOST_SAMPLES, 2, 6, 11));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        /* without a throttle record before it */
	                        (const uint64_t[]){ 12, 0, 0, 12, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_THROTTLE, 0,
	                        (const uint64_t[]){ 20, 0, 0, 20, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        (const uint64_t[]){ 50, 0, 0, 50, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        /* a second unthrottle record */
	                        (const uint64_t[]){ 70, 0, 0, 70, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_THROTTLE, 0,
	                        (const uint64_t[]){ 90, 0, 0, 90, id_of(2) }, 5));
	assert_true(write_words(0, PFM_RECORD_UNTHROTTLE, 0,
	                        /* earlier than the throttle record: clocks of CPUs differ */
	                        (const uint64_t[]){ 80, 0, 0, 80, id_of(2) }, 5));
	while (next())
		assert_int_equal(record.event, 2);
	assert_true(t->n_discarded == 11 && t->n_throttled == 2 && t->throttled_ns == 30);
	/* A lost record concerns every event of its buffer: its id is that of the event that wrote
	 * it. */
	assert_true(write_words(0, PFM_RECORD_LOST, 0,
	                        (const uint64_t[]){ id_of(2), 9, 100, id_of(2) }, 4));
	assert_true(next() && record.event == PFM_NO_EVENT && record.body.lost.lost == 9 &&
	            !(record.has & PFM_SAMPLE_ID));
	assert_true(sm.n_lost == 9 && t->n_discarded == 11);
}

/* ---- waiting --------------------------------------------------------------------------------- */

UNIT(sampling_sample_reader, CASE(oldest_record_comes_first), CASE(reads_many_records_at_once),
     CASE(records_without_a_time), CASE(last_time_holds_in_later_passes), CASE(young_records_wait),
     CASE(times_of_other_clocks_hold_no_buffer_up), CASE(pass_ends_at_the_heads_it_loaded),
     CASE(space_is_released_in_quarters), CASE(skips_damaged_buffer),
     CASE(raw_bytes_of_a_busy_buffer), CASE(raw_bytes_that_wrap),
     CASE(every_event_is_found_by_its_id), CASE(foreign_ids_are_attributed_if_unambiguous),
     CASE(totals_of_losses_and_throttling));
