/* SPDX-License-Identifier: MIT */
/* A recording that is written to a file without a name, for a session that the test makes. */
#ifndef PERFMON_TESTS_BARE_RECORDING_H
#define PERFMON_TESTS_BARE_RECORDING_H

#include <unistd.h>
#include "perfdata/recording_writer.h"
#include "bare_session.h"

static struct pfm_recording recording;
static struct sampling_state sm;
static FILE *file;

static inline int begin_recording(void **state)
{
	(void)state;
	file = tmpfile();
	if (!file || !begin_bare())
		return -1;
	memset(&sm, 0, sizeof(sm));
	s->sampling = &sm;
	recording = (struct pfm_recording){ .session = s, .fd = fileno(file) };
	return 0;
}

static inline int end_recording(void **state)
{
	(void)state;
	free(recording.tracing_data.data);
	free(recording.numa_topology.data);
	free(recording.memory_topology.data);
	fclose(file);
	end_bare();
	return 0;
}

static inline void expect_bytes(uint64_t at, const void *bytes, size_t n)
{
	uint8_t found[256];

	assert_true(n <= sizeof(found));
	assert_int_equal(pread(recording.fd, found, n, (off_t)at), n);
	assert_memory_equal(found, bytes, n);
}

#define RECORDING_CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin_recording, end_recording)

#endif
