/* SPDX-License-Identifier: MIT */
/* A file of sums of a process with the regions of made_regions.h. */
#ifndef TESTS_REGION_MADE_FILE_H
#define TESTS_REGION_MADE_FILE_H

#include "made_regions.h"
#include "region/storage.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char folder[64], path[128];

static pfm_region_t outer = { .name = "outer" }, inner = { .name = "inner" };

/* Two visits of outer with one of inner inside each, counted in a file. */
static inline void make_file(struct made_regions *m)
{
	static char suffix[] = REGION_FILE_SUFFIX;

	snprintf(folder, sizeof(folder), "/tmp/perfmon-load-XXXXXX");
	assert_non_null(mkdtemp(folder));
	make_regions(m);
	pfmi_regions.events = "cycles,page-faults";
	snprintf(pfmi_regions.output, sizeof(pfmi_regions.output), "%s/", folder);
	pfmi_regions_lock();
	pfmi_storage_attach();
	pfmi_regions_unlock();
	assert_true(pfmi_storage_get_header() != NULL);
	assert_true(pfmi_region_build_path(path, sizeof(path), suffix));
	for (unsigned i = 0; i < 2; i++) {
		add_reading(m, 100 * i, 100 * i, 1000 * i, 10 * i);
		add_reading(m, 100 * i + 10, 100 * i + 10, 1000 * i + 100, 10 * i + 1);
		add_reading(m, 100 * i + 20, 100 * i + 20, 1000 * i + 300, 10 * i + 3);
		add_reading(m, 100 * i + 40, 100 * i + 40, 1000 * i + 600, 10 * i + 7);
		pfm_begin_region(&outer);
		pfm_begin_region(&inner);
		pfm_end_region(&inner);
		pfm_end_region(&outer);
	}
}

static inline void unmake_file(struct made_regions *m)
{
	assert_true(pfmi_storage_detach(&m->thread));
	pfmi_regions.output[0] = '\0';
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	outer.id = inner.id = 0;
	unmake_regions(m);
}

static inline pfm_region_results_t *load_file(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	pfm_region_results_t *r;

	assert_true(fd >= 0);
	assert_int_equal(pfm_load_regions(fd, &r, NULL), PFMLIB_SUCCESS);
	close(fd);
	return r;
}

#endif
