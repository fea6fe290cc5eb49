/* SPDX-License-Identifier: MIT */
/* One buffer, filled as the kernel does it: records that wrap at every place, full buffers,
 * positions beyond 32 bits and past the end of 64, and pages with invalid contents. */
#include "units.h"
#include <linux/perf_event.h>
#include "sampling/sampling.h"

#define PAGE 4096u

struct writer {
	_Alignas(4096) uint8_t map[PAGE + PAGE];
	uint64_t head;
};

static struct writer w;

static struct perf_event_mmap_page *page(void)
{
	return (struct perf_event_mmap_page *)(void *)w.map;
}

static void new_buffer(uint64_t start)
{
	memset(&w, 0, sizeof(w));
	page()->data_offset = PAGE;
	page()->data_size = PAGE;
	page()->data_head = page()->data_tail = w.head = start;
}

static void open_ring(struct ring_buffer *r)
{
	memset(r, 0xa5, sizeof(*r)); /* pfmi_sampling_init_ring() must set every field */
	assert_true(pfmi_sampling_init_ring(r, w.map, sizeof(w.map)));
	assert_false(r->is_damaged);
	assert_null(r->wrapped_record);
}

/* Writes a record of @size bytes that all hold @number. Returns false if the buffer is full. */
static bool write_as_kernel(uint16_t size, uint8_t number)
{
	struct record_header head = { number, number, size };
	uint8_t record[PAGE];

	if (w.head + size - page()->data_tail > PAGE)
		return false;
	memset(record, number, size);
	memcpy(record, &head, sizeof(head));
	for (size_t i = 0; i < size; i++)
		w.map[PAGE + (w.head + i) % PAGE] = record[i];
	w.head += size;
	page()->data_head = w.head;
	return true;
}

/* Expects that the next record has @size bytes and holds @number. */
static const void *expect_record(struct ring_buffer *r, uint16_t size, uint8_t number)
{
	size_t n = 0;
	const uint8_t *bytes = pfmi_sampling_read_ring_record(r, &n);

	assert_non_null(bytes);
	assert_int_equal(n, size);
	assert_int_equal((uintptr_t)bytes % 8, 0);
	for (size_t i = sizeof(struct record_header); i < n; i++)
		assert_int_equal(bytes[i], number);
	return bytes;
}

static void expect_no_record(struct ring_buffer *r)
{
	size_t n;

	assert_null(pfmi_sampling_read_ring_record(r, &n));
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void refuses_invalid_pages(void **state)
{
	static const struct {
		uint64_t offset, size;
		size_t len;
		bool good;
	} rows[] = {
		{ PAGE, PAGE, 2 * PAGE, true },
		{ PAGE, PAGE, 2 * PAGE - 1, false },
		{ PAGE, 2 * PAGE, 2 * PAGE, false },
		{ PAGE, PAGE / 2, 2 * PAGE, true },
		{ PAGE, 8, 2 * PAGE, true },
		{ PAGE, 4, 2 * PAGE, false },
		{ PAGE, 0, 2 * PAGE, false },
		{ PAGE, PAGE - 8, 2 * PAGE, false },
		{ PAGE, 3 * 512, 2 * PAGE, false },
		{ 2 * PAGE, 8, 2 * PAGE, false },
		{ 2 * PAGE - 8, 8, 2 * PAGE, true },
		{ 2 * PAGE + 8, 8, 2 * PAGE, false },
		{ UINT64_MAX - 7, 8, 2 * PAGE, false },
		{ PAGE, (uint64_t)1 << 63, 2 * PAGE, false },
		{ 0, PAGE, PAGE, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ring_buffer r;

		new_buffer(0);
		page()->data_offset = rows[i].offset;
		page()->data_size = rows[i].size;
		if (pfmi_sampling_init_ring(&r, w.map, rows[i].len) != rows[i].good)
			fail_msg("offset %llu, size %llu of %zu",
			         (unsigned long long)rows[i].offset,
			         (unsigned long long)rows[i].size, rows[i].len);
		if (rows[i].good)
			assert_ptr_equal(r.data, w.map + rows[i].offset);
		pfmi_sampling_free_ring(&r);
		assert_null(r.control_page);
	}
}

/* ---- records --------------------------------------------------------------------------------- */

static void records_that_wrap_are_whole(void **state)
{
	static const uint16_t sizes[] = { 8, 16, 24, 520, PAGE };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (uint64_t start = 0; start <= 2 * PAGE; start += 8) {
			const void *bytes;
			struct ring_buffer r;

			new_buffer(start);
			open_ring(&r);
			assert_true(write_as_kernel(sizes[i], 7));
			expect_no_record(&r); /* no pass has begun */
			pfmi_sampling_begin_ring_pass(&r);
			assert_false(r.is_damaged);
			bytes = expect_record(&r, sizes[i], 7);
			/* The record is copied only if it wraps. */
			assert_int_equal(bytes == r.wrapped_record, start % PAGE + sizes[i] > PAGE);
			expect_no_record(&r);
			assert_true(page()->data_tail == start);
			pfmi_sampling_release_ring_data(&r, 0);
			assert_true(page()->data_tail == start + sizes[i]);
			pfmi_sampling_free_ring(&r);
		}
}

/* Two records wrap, one in each turn of the buffer: the second uses the memory of the first. */
static void second_wrapped_record_reuses_memory(void **state)
{
	const void *bounce;
	struct ring_buffer r;

	(void)state;
	new_buffer(PAGE - 8);
	open_ring(&r);
	assert_true(write_as_kernel(24, 1));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 24, 1);
	bounce = r.wrapped_record;
	assert_non_null(bounce);
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(write_as_kernel(PAGE - 24, 2));
	assert_true(write_as_kernel(24, 3));
	pfmi_sampling_begin_ring_pass(&r);
	assert_ptr_not_equal(expect_record(&r, PAGE - 24, 2), bounce);
	assert_ptr_equal(expect_record(&r, 24, 3), bounce);
	pfmi_sampling_free_ring(&r);
	assert_null(r.wrapped_record);
}

/* Positions only grow: beyond 32 bits, and past the end of 64. */
static void positions_beyond_32_and_64_bits(void **state)
{
	static const uint64_t starts[] = { ((uint64_t)1 << 31) - 16, ((uint64_t)1 << 32) - 16,
		                           (uint64_t)1 << 32,        ((uint64_t)5 << 40) + 8,
		                           UINT64_MAX - 15,          UINT64_MAX - 7 };

	(void)state;
	for (size_t i = 0; i < COUNT(starts); i++) {
		struct ring_buffer r;

		new_buffer(starts[i]);
		open_ring(&r);
		for (uint8_t round = 0; round < 100; round++) {
			uint8_t n = 0;

			while (write_as_kernel((uint16_t)(8 + 8 * (n % 9)), n))
				n++;
			pfmi_sampling_begin_ring_pass(&r);
			assert_false(r.is_damaged);
			for (uint8_t k = 0; k < n; k++)
				expect_record(&r, (uint16_t)(8 + 8 * (k % 9)), k);
			expect_no_record(&r);
			pfmi_sampling_release_ring_data(&r, 0);
			assert_true(page()->data_tail == w.head);
		}
		pfmi_sampling_free_ring(&r);
	}
}

static void pass_ends_at_the_head_it_loaded(void **state)
{
	struct ring_buffer r;

	(void)state;
	new_buffer(0);
	open_ring(&r);
	assert_true(write_as_kernel(16, 1));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 16, 1);
	assert_true(write_as_kernel(16, 2));
	expect_no_record(&r);
	assert_true(pfmi_sampling_load_ring_head(page()) == 32);
	expect_no_record(&r); /* loading the head begins no pass */
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 16, 2);
	expect_no_record(&r);
	pfmi_sampling_free_ring(&r);
}

/* ---- room that is given back ----------------------------------------------------------------- */

static void space_is_released_to_the_kernel(void **state)
{
	struct ring_buffer r;

	(void)state;
	new_buffer(40);
	open_ring(&r);
	for (uint8_t i = 0; i < 4; i++)
		assert_true(write_as_kernel(32, i));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 32, 0);
	expect_record(&r, 32, 1);
	assert_true(page()->data_tail == 40);
	pfmi_sampling_release_ring_data(&r, 32); /* the last record is still in use */
	assert_true(page()->data_tail == 72 && r.released_tail == 72);
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(page()->data_tail == 104);
	/* A tail that did not change is not written again. */
	page()->data_tail = 1;
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(page()->data_tail == 1);
	page()->data_tail = 104;
	expect_record(&r, 32, 2);
	pfmi_sampling_release_ring_data(&r, 32);
	assert_true(page()->data_tail == 104);
	pfmi_sampling_free_ring(&r);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void expect_span(struct ring_buffer *r, size_t at, size_t n)
{
	size_t len = 99;
	const void *p = pfmi_sampling_read_ring_bytes(r, &len);

	assert_int_equal(len, n);
	assert_ptr_equal(p, w.map + PAGE + at);
}

static void spans_have_at_most_two_pieces(void **state)
{
	struct ring_buffer r;

	(void)state;
	new_buffer(PAGE - 16);
	open_ring(&r);
	page()->data_head = w.head + 48;
	expect_span(&r, PAGE - 16, 0);
	pfmi_sampling_begin_ring_pass(&r);
	expect_span(&r, PAGE - 16, 16);
	expect_span(&r, 0, 32);
	expect_span(&r, 32, 0);
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(page()->data_tail == PAGE + 32);
	/* The bytes reach exactly to the end of the buffer; then they fill the whole buffer. */
	page()->data_head = 2 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	expect_span(&r, 32, PAGE - 32);
	expect_span(&r, 0, 0);
	page()->data_head = 3 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	expect_span(&r, 0, PAGE);
	expect_span(&r, 0, 0);
	/* A damaged buffer gives no bytes. */
	page()->data_head = 5 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	assert_true(r.is_damaged);
	expect_span(&r, 0, 0);
	pfmi_sampling_free_ring(&r);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* A record of @size, of which the kernel reports @written bytes as written. */
static void expect_damage(uint16_t size, uint64_t written, bool damaged)
{
	struct record_header head = { 9, 0, size };
	struct ring_buffer r;
	size_t n;

	new_buffer(0);
	open_ring(&r);
	memcpy(w.map + PAGE, &head, sizeof(head));
	page()->data_head = written;
	pfmi_sampling_begin_ring_pass(&r);
	if (!pfmi_sampling_read_ring_record(&r, &n) != damaged || r.is_damaged != damaged)
		fail_msg("%u of %llu bytes", size, (unsigned long long)written);
	if (damaged) {
		assert_true(r.tail == 0);
		expect_no_record(&r); /* a damaged buffer gives no records any more */
	}
	pfmi_sampling_free_ring(&r);
}

static void damaged_buffer_gives_no_records(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 4, 7, 9, 12, 15, 60, 68, 72, 4000, 0xfff8 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		expect_damage(sizes[i], 64, true);
	expect_damage(64, 64, false);
	expect_damage(64, 56, true);
	expect_damage(8, 64, false);
	expect_damage(PAGE, PAGE, false);
	/* The kernel reports more bytes than the buffer holds, or a position before the tail. */
	expect_damage(8, PAGE + 8, true);
	expect_damage(8, UINT64_MAX - 7, true);
}

UNIT(sampling_ring_buffer, cmocka_unit_test(refuses_invalid_pages),
     cmocka_unit_test(records_that_wrap_are_whole),
     cmocka_unit_test(second_wrapped_record_reuses_memory),
     cmocka_unit_test(positions_beyond_32_and_64_bits),
     cmocka_unit_test(pass_ends_at_the_head_it_loaded),
     cmocka_unit_test(space_is_released_to_the_kernel),
     cmocka_unit_test(spans_have_at_most_two_pieces),
     cmocka_unit_test(damaged_buffer_gives_no_records));
