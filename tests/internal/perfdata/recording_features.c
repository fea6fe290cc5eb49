/* SPDX-License-Identifier: MIT */
/* Sections after the data: which there are, where they are, and what those of the command and the
 * clock hold. */
#include <sys/utsname.h>
#include <time.h>
#include "bare_recording.h"

static struct session_count unused;
static struct perf_state perf;

static bool has_bit(unsigned bit)
{
	return recording.header.features[bit / 64] >> bit % 64 & 1;
}

/* Finds the section of feature @bit: the table has one entry for each bit, in order. */
static struct perfdata_section find_section(unsigned bit)
{
	struct perfdata_section section;
	unsigned before = 0;

	assert_true(has_bit(bit));
	for (unsigned i = 0; i < bit; i++)
		before += has_bit(i);
	assert_int_equal(pread(recording.fd, &section, sizeof(section),
	                       (off_t)(1000 + before * sizeof(section))),
	                 sizeof(section));
	return section;
}

static void write_features(char *command)
{
	s->counts = &unused;
	s->live.backend_state = &perf;
	snprintf(s->sys.root, sizeof(s->sys.root), "/");
	recording.command_line = command;
	recording.offset = 1000;
	pfmi_perfdata_write_features(&recording);
	assert_int_equal(recording.write_errno, 0);
}

static void expect_text(uint64_t at, const char *text)
{
	uint32_t size = (uint32_t)(strlen(text) + 64) & ~63u;

	expect_bytes(at, &size, sizeof(size));
	expect_bytes(at + sizeof(size), text, strlen(text) + 1);
}

static void the_command_and_the_host(void **state)
{
	const uint32_t three = 3;
	char command[] = "pfm\nrecord\n-a";
	struct utsname u;
	uint64_t at;

	(void)state;
	uname(&u);
	write_features(command);
	at = find_section(PERFDATA_FEATURE_CMDLINE).offset;
	expect_bytes(at, &three, sizeof(three));
	expect_text(at + 4, "pfm");
	expect_text(at + 4 + 68, "record");
	expect_text(at + 4 + 2 * 68, "-a");
	expect_text(find_section(PERFDATA_FEATURE_HOSTNAME).offset, u.nodename);
	expect_text(find_section(PERFDATA_FEATURE_OSRELEASE).offset, u.release);
	expect_text(find_section(PERFDATA_FEATURE_ARCH).offset, u.machine);
}

/* Sections of times need records with times, and that of compression a compressed recording. */
static void sections_that_depend_on_the_recording(void **state)
{
	char command[] = "x";
	const uint32_t head[2] = { 1, CLOCK_MONOTONIC };
	uint64_t times[2];

	(void)state;
	sm.config.clock = CLOCK_MONOTONIC;
	write_features(command);
	assert_false(has_bit(PERFDATA_FEATURE_SAMPLE_TIME) || has_bit(PERFDATA_FEATURE_CLOCKID) ||
	             has_bit(PERFDATA_FEATURE_CLOCK_DATA) || has_bit(PERFDATA_FEATURE_COMPRESSED) ||
	             has_bit(PERFDATA_FEATURE_TRACING) || has_bit(PERFDATA_FEATURE_NUMA_TOPOLOGY));
	sm.common_layout.fields = PFM_SAMPLE_TIME;
	recording.start_time = 77;
	write_features(command);
	assert_true(has_bit(PERFDATA_FEATURE_CLOCKID));
	expect_bytes(find_section(PERFDATA_FEATURE_CLOCK_DATA).offset, head, sizeof(head));
	assert_int_equal(find_section(PERFDATA_FEATURE_SAMPLE_TIME).size, sizeof(times));
	assert_int_equal(pread(recording.fd, times, sizeof(times),
	                       (off_t)find_section(PERFDATA_FEATURE_SAMPLE_TIME).offset),
	                 sizeof(times));
	assert_true(times[0] == 77 && times[1] <= pfmi_sampling_get_clock_ns(CLOCK_MONOTONIC));
}

UNIT(perfdata_recording_features, RECORDING_CASE(the_command_and_the_host),
     RECORDING_CASE(sections_that_depend_on_the_recording));
