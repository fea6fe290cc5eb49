/* SPDX-License-Identifier: MIT */
/* The file of the test program. */
#ifndef PERFMON_TEST_OWN_FILE_H
#define PERFMON_TEST_OWN_FILE_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/symbols/elf_file.h"
#include "units.h"

/* Opens it and reads its head. The caller closes e.fd. */
static inline struct elf_file open_own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file e;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	e = elf_file_begin(fd, (uint64_t)st.st_size, "/proc/self/exe", NULL);
	assert_true(elf_read_head(&e));
	return e;
}

#endif
