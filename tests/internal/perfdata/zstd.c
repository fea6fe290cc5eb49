/* SPDX-License-Identifier: MIT */
/* zstd: streams in pieces of every size, invalid streams, and streams that would unpack to more
 * than the limit. */
#include "units.h"
#include "perfdata/perfdata.h"

/* ---- packing --------------------------------------------------------------------------------- */

#define PLAIN 300000u /* more than one step of unpacking */

static uint8_t plain[PLAIN], packed[2 * PLAIN];
static struct zstd_codec *z;

static int open_library(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (size_t i = 0; i < PLAIN; i++)
		plain[i] = (uint8_t)(unit_random(&seed) % 7);
	z = pfmi_perfdata_open_zstd();
	return 0;
}

static int close_library(void **state)
{
	(void)state;
	pfmi_perfdata_close_zstd(z);
	z = NULL;
	return 0;
}

static size_t pack(size_t n)
{
	size_t size;

	if (!z)
		skip(); /* this machine has no libzstd.so.1 */
	size = pfmi_perfdata_compress_frame(z, packed, sizeof(packed), plain, n, 1);
	assert_true(size > 0 && size < sizeof(packed));
	return size;
}

/* The stream of @n bytes, @step of them at a time, is what was packed. */
static void expect_plain(size_t n, size_t step, size_t expected)
{
	struct byte_buffer out = { .data = NULL };

	for (size_t at = 0; at < n; at += step)
		assert_true(pfmi_perfdata_decompress_bytes(z, &out, packed + at,
		                                           step < n - at ? step : n - at));
	assert_int_equal(out.end, expected);
	if (expected)
		assert_memory_equal(out.data, plain, expected);
	free(out.data);
}

static void pieces_of_every_size(void **state)
{
	static const size_t sizes[] = {
		0, 1, 100, MIN_UNPACK_SIZE - 1, MIN_UNPACK_SIZE, MIN_UNPACK_SIZE + 1, PLAIN
	};
	static const size_t steps[] = { 1, 7, 1000, SIZE_MAX };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < COUNT(steps); k++)
			expect_plain(pack(sizes[i]), steps[k], sizes[i]);
}

/* A record holds one frame, and the next frame continues the stream. Consuming the buffer in
 * between has no effect on the stream. */
static void frames_of_records_continue_one_stream(void **state)
{
	struct byte_buffer out = { .data = NULL };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		size_t n = pack(1000 + i);

		assert_true(pfmi_perfdata_decompress_bytes(z, &out, packed, n));
		assert_int_equal(out.end - out.n_consumed, 1000 + i);
		assert_memory_equal(out.data + out.n_consumed, plain, 1000 + i);
		out.n_consumed = out.end;
		assert_true(pfmi_perfdata_decompress_bytes(z, &out, packed,
		                                           0)); /* no input, no error */
	}
	free(out.data);
}

static void leaves_out_what_does_not_fit(void **state)
{
	size_t size = pack(1000);

	(void)state;
	for (size_t n = 0; n < 8; n++)
		assert_int_equal(pfmi_perfdata_compress_frame(z, packed, n, plain, 1000, 1), 0);
	assert_int_equal(pfmi_perfdata_compress_frame(z, packed, sizeof(packed), plain, 1000, 1),
	                 size);
}

static void refuses_bad_streams(void **state)
{
	struct byte_buffer out = { .data = NULL };
	size_t size = pack(1000);

	(void)state;
	assert_false(pfmi_perfdata_decompress_bytes(z, &out, plain, 100));
	free(out.data);
	/* The second half of the stream is damaged. */
	close_library(NULL);
	open_library(NULL);
	out = (struct byte_buffer){ .data = NULL };
	memset(packed + size / 2, 0xff, size / 2);
	assert_false(pfmi_perfdata_decompress_bytes(z, &out, packed, size));
	free(out.data);
}

/* A few bytes that unpack to more than the limit are refused before memory runs out. */
static void a_stream_that_stands_for_too_much(void **state)
{
	static const uint8_t zeros[1 << 20];
	struct byte_buffer out = { .data = NULL };
	bool ok = true;
	unsigned n = 0;
	size_t size;

	(void)state;
	pack(1);
	size = pfmi_perfdata_compress_frame(z, packed, sizeof(packed), zeros, sizeof(zeros), 1);
	assert_true(size > 0 && size < 1000);
	while (ok && n < 2 * MAX_UNPACKED_SIZE / sizeof(zeros)) {
		ok = pfmi_perfdata_decompress_bytes(z, &out, packed, size);
		n += ok;
	}
	assert_false(ok);
	assert_true(out.capacity <= MAX_UNPACKED_SIZE && out.end <= out.capacity);
	assert_true(n >= MAX_UNPACKED_SIZE / 8 / sizeof(zeros));
	free(out.data);
}

static void without_the_library(void **state)
{
	(void)state;
	pfmi_perfdata_close_zstd(NULL);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, open_library, close_library)

UNIT(perfdata_zstd, CASE(pieces_of_every_size), CASE(frames_of_records_continue_one_stream),
     CASE(leaves_out_what_does_not_fit), CASE(refuses_bad_streams),
     CASE(a_stream_that_stands_for_too_much), cmocka_unit_test(without_the_library));
