/* SPDX-License-Identifier: MIT */
/* Any bytes as a recording: a file, a pipe, of either byte order. */
#include <stdlib.h>
#include <sys/mman.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include "bytes.h"
#include "time_bound.h"

int try_input(const uint8_t *data, size_t size)
{
	pfm_record_t r = PFM_INIT(r);
	pfm_session_t *s;
	char path[64];
	int fd = memfd_create("recording", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pfm_open_recording(&s, path, NULL) == PFMLIB_SUCCESS) {
		while (pfm_next_record(s, &r) == 1)
			if (r.raw_size < 8 || (r.type == PFM_RECORD_COMM && r.body.comm.name &&
			                       strlen(r.body.comm.name) >= r.raw_size))
				abort();
		for (unsigned i = 0; i < pfm_session_size(s); i++) {
			pfm_count_info_t info = PFM_INIT(info);

			if (pfm_describe_count(s, i, &info) || strlen(info.name) > 255)
				abort();
		}
		pfm_close_session(s);
	}
	close(fd);
	return 0;
}
