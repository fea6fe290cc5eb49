/* SPDX-License-Identifier: MIT */
/* Checksums of debug files, and files that are not read twice. */
#include "units.h"
#include "profile/symbols/file_checksums.h"
#include <sys/mman.h>
#include <unistd.h>

static const uint32_t digits_checksum = 0xcbf43926; /* of "123456789": CRC-32's check value */

static int make_file(const char *text)
{
	int fd = memfd_create("checksum", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void checksum_is_crc_32(void **state)
{
	int fd = make_file("123456789");

	(void)state;
	assert_int_equal(file_checksums_compute(NULL, fd), digits_checksum);
	close(fd);
}

static void each_state_of_a_file_is_kept_once(void **state)
{
	struct file_checksums known = { .n_files = 0 };
	int fds[100];

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		fds[i] = make_file("123456789");
		for (int k = 0; k < 2; k++)
			assert_int_equal(file_checksums_compute(&known, fds[i]), digits_checksum);
		assert_int_equal(known.n_files, i + 1);
	}
	assert_int_equal(write(fds[0], "0", 1), 1);
	assert_int_not_equal(file_checksums_compute(&known, fds[0]), digits_checksum);
	for (unsigned i = 0; i < 100; i++)
		close(fds[i]);
	file_checksums_free(&known);
}

UNIT(profile_file_checksums, cmocka_unit_test(checksum_is_crc_32),
     cmocka_unit_test(each_state_of_a_file_is_kept_once));
