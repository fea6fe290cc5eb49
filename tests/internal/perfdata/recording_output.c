/* SPDX-License-Identifier: MIT */
/* Bytes, numbers and texts reach the file one after the other; after an error nothing does. */
#include <errno.h>
#include <fcntl.h>
#include "bare_recording.h"

static void bytes_numbers_and_texts(void **state)
{
	uint8_t expected[4 + 3 + 4 + 64 + 4 + 128] = { 0 };
	const uint32_t number = 0x11223344, short_size = 64, long_size = 128;
	char text[65];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[64] = '\0';
	pfmi_perfdata_write_u32(&recording, number);
	assert_int_equal(pfmi_perfdata_write_bytes(&recording, "abc", 3), 0);
	pfmi_perfdata_write_padded_string(&recording, "Linux");
	pfmi_perfdata_write_padded_string(&recording,
	                                  text); /* its terminator needs 64 bytes more */
	memcpy(expected, &number, 4);
	memcpy(expected + 4, "abc", sizeof("abc"));
	memcpy(expected + 7, &short_size, 4);
	memcpy(expected + 11, "Linux", sizeof("Linux"));
	memcpy(expected + 75, &long_size, 4);
	memset(expected + 79, 'x', 64);
	assert_int_equal(recording.offset, sizeof(expected));
	expect_bytes(0, expected, sizeof(expected));
}

static void the_first_error_stays(void **state)
{
	int fd = recording.fd;

	(void)state;
	recording.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (recording.fd < 0)
		skip();
	assert_int_equal(pfmi_perfdata_write_bytes(&recording, "abc", 3), -ENOSPC);
	close(recording.fd);
	recording.fd = fd;
	assert_int_equal(pfmi_perfdata_write_bytes(&recording, "abc", 3), -ENOSPC);
	assert_int_equal(recording.write_errno, ENOSPC);
	assert_int_equal(recording.offset, 0);
}

/* Each frame is in a record of its own and unpacks alone, whatever follows it. */
static void packed_bytes_unpack_record_by_record(void **state)
{
	enum { N = 150000 };
	uint8_t *plain = malloc(N), *record = malloc(UINT16_MAX);
	struct byte_buffer out = { .data = NULL };
	uint64_t at = 0, seed = 5;

	(void)state;
	recording.zstd = pfmi_perfdata_open_zstd();
	if (!recording.zstd || !plain || !record) {
		free(plain);
		free(record);
		skip(); /* this machine has no libzstd.so.1 */
	}
	recording.zstd_level = 1;
	for (size_t i = 0; i < N; i++)
		plain[i] = (uint8_t)unit_random(&seed); /* incompressible */
	pfmi_perfdata_write_packed_bytes(&recording, plain, N);
	assert_int_equal(recording.write_errno, 0);
	assert_int_equal(recording.plain_size, N);
	while (at < recording.offset) {
		struct record_header head;

		assert_int_equal(pread(recording.fd, &head, sizeof(head), (off_t)at), sizeof(head));
		assert_int_equal(head.type, PERFDATA_RECORD_COMPRESSED);
		assert_int_equal(pread(recording.fd, record, head.size, (off_t)at), head.size);
		assert_true(pfmi_perfdata_decompress_bytes(recording.zstd, &out, record + 8,
		                                           head.size - 8u));
		at += head.size;
	}
	assert_int_equal(at, recording.offset);
	assert_int_equal(out.end, N);
	assert_memory_equal(out.data, plain, N);
	pfmi_perfdata_close_zstd(recording.zstd);
	free(out.data);
	free(plain);
	free(record);
}

UNIT(perfdata_recording_output, RECORDING_CASE(bytes_numbers_and_texts),
     RECORDING_CASE(the_first_error_stays), RECORDING_CASE(packed_bytes_unpack_record_by_record));
