/* SPDX-License-Identifier: MIT */
#include "profile/symbols/debug_sources.h"
#include <dlfcn.h>
#include <unistd.h>
#include "units.h"

/* "an ELF file", packed by xz. */
static const uint8_t packed[] = { 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6,
	                          0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00,
	                          0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x0a, 0x61, 0x6e, 0x20,
	                          0x45, 0x4c, 0x46, 0x20, 0x66, 0x69, 0x6c, 0x65, 0x00, 0x00,
	                          0x70, 0xc8, 0x58, 0x6c, 0xa4, 0x1a, 0xe7, 0x0a, 0x00, 0x01,
	                          0x23, 0x0b, 0xc2, 0x1b, 0xfd, 0x09, 0x1f, 0xb6, 0xf3, 0x7d,
	                          0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a };

static void packed_symbols_are_unpacked(void **state)
{
	char text[16] = "";
	int fd;

	(void)state;
	if (!dlopen("liblzma.so.5", RTLD_NOW)) {
		print_message("liblzma.so.5 is missing (Debian package liblzma5)\n");
		skip();
	}
	fd = unpack_debug_data(packed, sizeof(packed), NULL);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, text, sizeof(text), 0), 11);
	assert_string_equal(text, "an ELF file");
	close(fd);
}

static void damaged_data_is_refused(void **state)
{
	uint8_t damaged[sizeof(packed)];

	(void)state;
	memcpy(damaged, packed, sizeof(packed));
	damaged[30] ^= 1;
	assert_int_equal(unpack_debug_data(damaged, sizeof(damaged), NULL), -1);
	assert_int_equal(unpack_debug_data(packed, 20, NULL), -1);
}

static void asks_no_debuginfo_server_by_default(void **state)
{
	static const uint8_t id[20] = { 1 };

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_null(fetch_debug_file(id, sizeof(id), NULL));
}

UNIT(profile_debug_sources, cmocka_unit_test(packed_symbols_are_unpacked),
     cmocka_unit_test(damaged_data_is_refused),
     cmocka_unit_test(asks_no_debuginfo_server_by_default));
