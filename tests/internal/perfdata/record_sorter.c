/* SPDX-License-Identifier: MIT */
/* Records come out by time, those of one time in the order in which they came; qsort() says what
 * that order is. */
#include "units.h"
#include "perfdata/record_sorter.h"

struct sent_record {
	uint64_t time, number;
};

static int compare_sent(const void *a, const void *b)
{
	const struct sent_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void push(struct record_sorter *s, struct sent_record r, size_t size)
{
	uint8_t bytes[64] = { 0 };

	memcpy(bytes, &r, sizeof(r));
	assert_non_null(pfmi_perfdata_stage_record(s, bytes, size));
	assert_int_equal(pfmi_perfdata_push_staged_record(s, r.time, size), 0);
}

static struct sent_record pop(struct record_sorter *s)
{
	struct sent_record r;
	size_t size;
	const uint8_t *bytes = pfmi_perfdata_pop_record(s, &size);

	assert_true(size >= sizeof(r));
	memcpy(&r, bytes, sizeof(r));
	return r;
}

static void the_oldest_record_comes_first(void **state)
{
	enum { N = 5000 };
	static struct sent_record sent[N];
	struct record_sorter s = { .n_pending = 0 };
	uint64_t seed = 0x9e3779b97f4a7c15;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		/* Three of four in order, as recordings have them. */
		uint64_t time = unit_random(&seed) % 4 ? i : unit_random(&seed) % N;

		sent[i] = (struct sent_record){ time, i };
		push(&s, sent[i], (size_t)(16 + unit_random(&seed) % 48));
	}
	qsort(sent, N, sizeof(sent[0]), compare_sent);
	assert_int_equal(pfmi_perfdata_count_pending_records(&s), N);
	for (unsigned i = 0; i < N; i++) {
		struct sent_record r = pop(&s);

		if (r.time != sent[i].time || r.number != sent[i].number)
			fail_msg("record %u: expected number %u, got %u", i,
			         (unsigned)sent[i].number, (unsigned)r.number);
		/* Compaction moves the records and changes no order. */
		if (i % 700 == 0)
			assert_int_equal(pfmi_perfdata_compact_pool(&s), 0);
	}
	assert_int_equal(pfmi_perfdata_count_pending_records(&s), 0);
	assert_int_equal(pfmi_perfdata_compact_pool(&s), 0);
	assert_int_equal(s.pool_used, 0);
	pfmi_perfdata_free_sorter(&s);
}

static void held_until_released(void **state)
{
	struct record_sorter s = { .n_pending = 0 };

	(void)state;
	assert_int_equal(pfmi_perfdata_release_records_until(&s, 10), 0);
	push(&s, (struct sent_record){ 30, 0 }, 16);
	push(&s, (struct sent_record){ 20, 1 }, 16);
	assert_false(pfmi_perfdata_has_ready_record(&s));
	assert_int_equal(pfmi_perfdata_release_records_until(&s, 19), 0);
	assert_int_equal(pfmi_perfdata_release_records_until(&s, 20), 1);
	assert_true(pfmi_perfdata_has_ready_record(&s));
	assert_int_equal(pop(&s).time, 20);
	assert_false(pfmi_perfdata_has_ready_record(&s));
	/* Forced records come whatever their time. */
	s.n_forced = 1;
	assert_true(pfmi_perfdata_has_ready_record(&s));
	assert_int_equal(pop(&s).time, 30);
	assert_int_equal(s.n_forced, 0);
	assert_false(pfmi_perfdata_has_ready_record(&s));
	pfmi_perfdata_free_sorter(&s);
}

/* The caller may change a staged record before it waits. */
static void a_staged_record_can_be_changed(void **state)
{
	struct record_sorter s = { .n_pending = 0 };
	uint64_t words[3] = { 1, 2, 3 };
	uint8_t *staged = pfmi_perfdata_stage_record(&s, (const uint8_t *)words, sizeof(words));
	size_t size;

	(void)state;
	assert_non_null(staged);
	assert_memory_equal(staged, words, sizeof(words));
	assert_int_equal(pfmi_perfdata_count_pending_records(&s), 0);
	staged[0] = 9;
	assert_int_equal(pfmi_perfdata_push_staged_record(&s, 0, sizeof(words)), 0);
	assert_int_equal(pfmi_perfdata_pop_record(&s, &size)[0], 9);
	assert_int_equal(size, sizeof(words));
	pfmi_perfdata_free_sorter(&s);
}

UNIT(perfdata_record_sorter, cmocka_unit_test(the_oldest_record_comes_first),
     cmocka_unit_test(held_until_released), cmocka_unit_test(a_staged_record_can_be_changed));
