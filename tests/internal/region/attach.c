/* SPDX-License-Identifier: MIT */
/* The file of sums of a process. */
#include "made_file.h"

static void file_belongs_to_its_owner(void **state)
{
	struct made_regions m;
	struct stat s;

	(void)state;
	make_file(&m);
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 07777, 0600);
	assert_int_equal(pfmi_storage_get_header()->pid, getpid());
	unmake_file(&m);
}

/* The next program of a process has another file. */
static void existing_files_stay(void **state)
{
	struct made_regions m;
	char other[160], text[4] = "";
	int fd;

	(void)state;
	make_file(&m);
	assert_true(pfmi_storage_detach(&m.thread));
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	pfmi_regions_lock();
	pfmi_storage_attach();
	pfmi_regions_unlock();
	snprintf(other, sizeof(other), "%s/regions.%d.2.regions", folder, (int)getpid());
	assert_int_equal(access(other, F_OK), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "abc");
	close(fd);
	assert_int_equal(unlink(other), 0);
	unmake_file(&m);
}

static void results_elsewhere_have_no_file(void **state)
{
	struct made_regions m;

	(void)state;
	make_regions(&m);
	snprintf(pfmi_regions.output, sizeof(pfmi_regions.output), "out.json");
	pfmi_storage_attach();
	assert_null(pfmi_storage_get_header());
	pfmi_regions.output[0] = '\0';
	unmake_regions(&m);
}

UNIT(region_attach, cmocka_unit_test(file_belongs_to_its_owner),
     cmocka_unit_test(existing_files_stay), cmocka_unit_test(results_elsewhere_have_no_file));
