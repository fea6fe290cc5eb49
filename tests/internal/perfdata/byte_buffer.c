/* SPDX-License-Identifier: MIT */
/* The growing buffer: space of bytes that were read is used again, and sizes beyond the limit are
 * refused. */
#include "units.h"
#include "perfdata/perfdata.h"

static void add(struct byte_buffer *b, uint8_t byte, size_t n)
{
	assert_true(pfmi_perfdata_reserve_bytes(b, n));
	assert_true(b->capacity - b->end >= n);
	memset(b->data + b->end, byte, n);
	b->end += n;
}

/* Bytes that were read make room at the front; the rest keeps its contents. */
static void bytes_that_were_read_make_room(void **state)
{
	struct byte_buffer b = { .data = NULL };
	const uint8_t *at;

	(void)state;
	assert_true(pfmi_perfdata_reserve_bytes(&b, 0));
	assert_true(b.end == 0 && b.n_consumed == 0);
	add(&b, 1, 10);
	add(&b, 2, 100);
	assert_int_equal(b.end, 110);
	b.n_consumed = 9;
	at = b.data;
	assert_true(pfmi_perfdata_reserve_bytes(&b, b.capacity - b.end +
	                                                    9)); /* as much as there is then */
	assert_ptr_equal(b.data, at);
	assert_true(b.n_consumed == 0 && b.end == 101);
	assert_int_equal(b.data[0], 1);
	for (size_t i = 1; i < 101; i++)
		assert_int_equal(b.data[i], 2);
	/* One byte more needs another piece of memory, with the same in it. */
	b.n_consumed = 1;
	assert_true(pfmi_perfdata_reserve_bytes(&b, b.capacity - b.end + 2));
	assert_int_equal(b.end, 100);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(b.data[i], 2);
	/* All of it done with. */
	b.n_consumed = b.end;
	assert_true(pfmi_perfdata_reserve_bytes(&b, 1));
	assert_true(b.n_consumed == 0 && b.end == 0);
	free(b.data);
}

static void a_buffer_has_a_greatest_size(void **state)
{
	struct byte_buffer b = { .data = NULL };

	(void)state;
	assert_false(pfmi_perfdata_reserve_bytes(&b, MAX_UNPACKED_SIZE + 1));
	assert_true(!b.data && b.capacity == 0);
	assert_true(pfmi_perfdata_reserve_bytes(&b, MAX_UNPACKED_SIZE));
	b.end = 7;
	assert_true(pfmi_perfdata_reserve_bytes(&b, b.capacity - 7));
	assert_false(pfmi_perfdata_reserve_bytes(&b, b.capacity - 6));
	assert_int_equal(b.end, 7); /* and what was there is there */
	free(b.data);
}

static void numbers_are_appended_in_the_order_of_this_machine(void **state)
{
	struct byte_buffer b = { .data = NULL };
	const uint32_t narrow = 0x01020304;
	const uint64_t wide = 0x05060708090a0b0c;

	(void)state;
	assert_true(pfmi_perfdata_append_u32(&b, narrow));
	assert_true(pfmi_perfdata_append_u64(&b, wide));
	assert_true(pfmi_perfdata_append_bytes(&b, "abc", 3));
	assert_true(pfmi_perfdata_append_bytes(&b, NULL, 0));
	assert_int_equal(b.end, 15);
	assert_memory_equal(b.data, &narrow, 4);
	assert_memory_equal(b.data + 4, &wide, 8);
	assert_memory_equal(b.data + 12, "abc", 3);
	free(b.data);
}

UNIT(perfdata_byte_buffer, cmocka_unit_test(bytes_that_were_read_make_room),
     cmocka_unit_test(a_buffer_has_a_greatest_size),
     cmocka_unit_test(numbers_are_appended_in_the_order_of_this_machine));
