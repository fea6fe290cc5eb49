#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# The author of a profiler: fills a perf_event_attr for his own perf_event_open(2), then samples
# with a session.
cat >attr.c <<'END'
#include <linux/perf_event.h>
#include <perfmon/perf_attr.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	struct perf_event_attr attr;
	char why[256];
	long fd;

	if (!pfm_encode_event(NULL, "page-fautls", 0, &e, &error))
		return 1;
	pfm_explain_error(NULL, "page-fautls", &error, why, sizeof(why));
	puts(why);
	if (pfm_encode_event(NULL, "page-faults", PFM_PLM3, &e, &error))
		return 2;
	memset(&attr, 0, sizeof(attr));
	if (pfm_fill_perf_event_attr(NULL, &e, &attr, sizeof(attr)) ||
	    attr.type != PERF_TYPE_SOFTWARE || !attr.exclude_kernel)
		return 3;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	return fd < 0 ? 4 : 0;
}
END
# shellcheck disable=SC2046  # a list of options on purpose
cc -Wall -Wextra -Werror attr.c -o attr $(pkg-config --cflags --libs perfmon)
status=0
./attr >said || status=$?
[ $status = 0 ] || [ $status = 4 ]   # 4: the kernel permits no counting
grep -q 'page-fautls' said
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror "$SOURCE/examples/profile_self.c" -o profile_self $(pkg-config --cflags \
	--libs perfmon)
./profile_self >profile || [ $status = 4 ]
