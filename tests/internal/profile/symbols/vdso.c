/* SPDX-License-Identifier: MIT */
#include "profile/symbols/vdso.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "units.h"

static void the_file_is_what_the_kernel_mapped(void **state)
{
	const void *mapped = (const void *)getauxval(AT_SYSINFO_EHDR);
	unsigned char bytes[64];
	char path[256];
	int fd;

	(void)state;
	if (!mapped || sizeof(void *) < 8)
		skip();
	assert_int_equal(make_vdso_file(path, sizeof(path)), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_memory_equal(bytes, mapped, sizeof(bytes));
	assert_memory_equal(bytes, ELFMAG, SELFMAG);
	close(fd);
}

UNIT(profile_vdso, cmocka_unit_test(the_file_is_what_the_kernel_mapped));
