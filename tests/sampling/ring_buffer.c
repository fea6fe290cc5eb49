/* SPDX-License-Identifier: MIT */
/* One buffer, against a kernel that writes into it as the real one does: records that lie over its
 * end at every place, buffers that are full, positions that no longer fit 32 bits or begin again at
 * zero, pages that say what cannot be. */
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
	memset(r, 0xa5, sizeof(*r)); /* whatever was there */
	assert_true(pfmi_sampling_init_ring(r, w.map, sizeof(w.map)));
	assert_false(r->is_damaged);
	assert_null(r->wrapped_record);
}

/* Writes a record of @size bytes which says its @number, and nothing else, in each byte; false
 * where there is no room. */
static bool kernel_writes(uint16_t size, uint8_t number)
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

/* The next record is there, of @size bytes, with @number in it. */
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

static void pages_that_cannot_be(void **state)
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

static void records_are_whole_wherever_the_buffer_ends(void **state)
{
	static const uint16_t sizes[] = { 8, 16, 24, 520, PAGE };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (uint64_t start = 0; start <= 2 * PAGE; start += 8) {
			const void *bytes;
			struct ring_buffer r;

			new_buffer(start);
			open_ring(&r);
			assert_true(kernel_writes(sizes[i], 7));
			expect_no_record(&r); /* until somebody has looked */
			pfmi_sampling_begin_ring_pass(&r);
			assert_false(r.is_damaged);
			bytes = expect_record(&r, sizes[i], 7);
			/* Copied only where it had to be. */
			assert_int_equal(bytes == r.wrapped_record, start % PAGE + sizes[i] > PAGE);
			expect_no_record(&r);
			assert_true(page()->data_tail == start);
			pfmi_sampling_release_ring_data(&r, 0);
			assert_true(page()->data_tail == start + sizes[i]);
			pfmi_sampling_free_ring(&r);
		}
}

/* Two records over the end, one after the other turn of the buffer: the memory for the first serves
 * the second. */
static void a_second_record_over_the_end(void **state)
{
	const void *bounce;
	struct ring_buffer r;

	(void)state;
	new_buffer(PAGE - 8);
	open_ring(&r);
	assert_true(kernel_writes(24, 1));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 24, 1);
	bounce = r.wrapped_record;
	assert_non_null(bounce);
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(kernel_writes(PAGE - 24, 2));
	assert_true(kernel_writes(24, 3));
	pfmi_sampling_begin_ring_pass(&r);
	assert_ptr_not_equal(expect_record(&r, PAGE - 24, 2), bounce);
	assert_ptr_equal(expect_record(&r, 24, 3), bounce);
	pfmi_sampling_free_ring(&r);
	assert_null(r.wrapped_record);
}

/* Positions only ever grow: beyond 32 bits, and over the end of 64. */
static void great_positions(void **state)
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

			while (kernel_writes((uint16_t)(8 + 8 * (n % 9)), n))
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

static void one_pass_ends_where_the_kernel_was(void **state)
{
	struct ring_buffer r;

	(void)state;
	new_buffer(0);
	open_ring(&r);
	assert_true(kernel_writes(16, 1));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 16, 1);
	assert_true(kernel_writes(16, 2));
	expect_no_record(&r);
	assert_true(pfmi_sampling_load_ring_head(page()) == 32);
	expect_no_record(&r); /* who asks for the head begins no pass */
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 16, 2);
	expect_no_record(&r);
	pfmi_sampling_free_ring(&r);
}

/* ---- room that is given back ----------------------------------------------------------------- */

static void room_is_given_back(void **state)
{
	struct ring_buffer r;

	(void)state;
	new_buffer(40);
	open_ring(&r);
	for (uint8_t i = 0; i < 4; i++)
		assert_true(kernel_writes(32, i));
	pfmi_sampling_begin_ring_pass(&r);
	expect_record(&r, 32, 0);
	expect_record(&r, 32, 1);
	assert_true(page()->data_tail == 40);
	pfmi_sampling_release_ring_data(&r, 32); /* the last one is still looked at */
	assert_true(page()->data_tail == 72 && r.released_tail == 72);
	pfmi_sampling_release_ring_data(&r, 0);
	assert_true(page()->data_tail == 104);
	/* What the kernel knows it is not told again. */
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

static void spans_are_the_bytes_in_two_pieces_at_most(void **state)
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
	/* Up to the end, and all of it. */
	page()->data_head = 2 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	expect_span(&r, 32, PAGE - 32);
	expect_span(&r, 0, 0);
	page()->data_head = 3 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	expect_span(&r, 0, PAGE);
	expect_span(&r, 0, 0);
	/* A buffer that is damaged has none. */
	page()->data_head = 5 * PAGE;
	pfmi_sampling_begin_ring_pass(&r);
	assert_true(r.is_damaged);
	expect_span(&r, 0, 0);
	pfmi_sampling_free_ring(&r);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* A record of @size, of which the kernel says that @written bytes are there. */
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
		expect_no_record(&r); /* and none ever after */
	}
	pfmi_sampling_free_ring(&r);
}

static void a_damaged_buffer_ends_the_reading(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 4, 7, 9, 12, 15, 60, 68, 72, 4000, 0xfff8 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		expect_damage(sizes[i], 64, true);
	expect_damage(64, 64, false);
	expect_damage(64, 56, true);
	expect_damage(8, 64, false);
	expect_damage(PAGE, PAGE, false);
	/* More than it holds, and less than was read. */
	expect_damage(8, PAGE + 8, true);
	expect_damage(8, UINT64_MAX - 7, true);
}

UNIT(sampling_ring_buffer, cmocka_unit_test(pages_that_cannot_be),
     cmocka_unit_test(records_are_whole_wherever_the_buffer_ends),
     cmocka_unit_test(a_second_record_over_the_end), cmocka_unit_test(great_positions),
     cmocka_unit_test(one_pass_ends_where_the_kernel_was), cmocka_unit_test(room_is_given_back),
     cmocka_unit_test(spans_are_the_bytes_in_two_pieces_at_most),
     cmocka_unit_test(a_damaged_buffer_ends_the_reading));
