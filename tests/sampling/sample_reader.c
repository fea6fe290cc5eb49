/* SPDX-License-Identifier: MIT */
/* Records of several buffers that the test fills by hand: the order in which they come, one by
 * one and many at once, what waits, what is given up, whose they are and what is added up on the
 * way. */
#include "filled_buffers.h"

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

UNIT(sampling_sample_reader, CASE(the_oldest_comes_first), CASE(many_at_once),
     CASE(records_without_a_time), CASE(the_last_time_stays), CASE(what_is_young_waits),
     CASE(a_pass_ends), CASE(room_is_given_back), CASE(a_damaged_buffer),
     CASE(raw_bytes_of_a_busy_buffer), CASE(raw_bytes_over_the_end), CASE(every_event_is_found),
     CASE(ids_of_others), CASE(what_is_added_up));
