/* SPDX-License-Identifier: MIT */
/* Configuration and start, out of the environment and by a call, and the end of the process. Each
 * story is a process of its own. */
#include "region/region.h"
#include "../../support/story.h"
#include "units.h"
#include <errno.h>
#include <fcntl.h>

static void clear_environment(void)
{
	unsetenv("PERFMON_REGIONS");
	unsetenv("PERFMON_REGIONS_OUTPUT");
	unsetenv("PERFMON_REGIONS_FORMAT");
	unsetenv("PERFMON_REGIONS_OPTIONS");
}

static void requests_nothing_story(void)
{
	bool is_first = true;

	clear_environment();
	errno = EDOM;
	EXPECT(pfmi_regions_start_from_environment(&is_first), 0, "counted");
	EXPECT(is_first, 0, "first");
	EXPECT(perfmon_regions_active, 0, "active");
	EXPECT(errno, EDOM, "errno");
	setenv("PERFMON_REGIONS", "", 1);
	EXPECT(pfmi_regions_start_from_environment(&is_first), 0, "counted with an empty value");
}

static void environment_story(void)
{
	bool is_first;

	clear_environment();
	setenv("PERFMON_REGIONS", "time", 1);
	setenv("PERFMON_REGIONS_FORMAT", "csv", 1);
	setenv("PERFMON_REGIONS_OUTPUT", "/dev/null", 1);
	setenv("PERFMON_REGIONS_OPTIONS", "unknown,no-subtract,per-thread,group=3", 1);
	EXPECT(pfmi_regions_start_from_environment(&is_first), 1, "counted");
	EXPECT(is_first, 1, "first");
	EXPECT(perfmon_regions_active, 1, "active");
	EXPECT(pfmi_regions.flags, PFM_REGIONS_NO_SUBTRACT | PFM_REGIONS_PER_THREAD, "flags");
	EXPECT(pfmi_regions.layout.max_group_size, 3, "events of a group");
	EXPECT(pfmi_regions.layout.n_events, 0, "events");
	EXPECT_TRUE(strcmp(pfmi_regions.format, "csv") == 0, "format");
	EXPECT_TRUE(strcmp(pfmi_regions.output, "/dev/null") == 0, "output");
	EXPECT(pfmi_regions_start_from_environment(&is_first), 1, "counted");
	EXPECT(is_first, 0, "first, the second time");
}

/* The reason is printed on standard error, and nothing is counted. */
static void unknown_event_story(void)
{
	char said[512] = "";
	bool is_first;
	int fds[2];

	clear_environment();
	setenv("PERFMON_REGIONS", "no-such-event", 1);
	EXPECT(pipe(fds), 0, "pipe()");
	dup2(fds[1], STDERR_FILENO);
	EXPECT(pfmi_regions_start_from_environment(&is_first), 0, "counted");
	EXPECT(is_first, 0, "first");
	EXPECT(pfmi_regions.started, 0, "started");
	EXPECT_TRUE(read(fds[0], said, sizeof(said) - 1) > 0, "a sentence");
	EXPECT_TRUE(strncmp(said, "perfmon: PERFMON_REGIONS: ", 26) == 0 &&
	                    strstr(said, "no-such-event"),
	            "what it says: %s", said);
}

/* A program that starts regions itself did not choose the events of the environment. */
static void unknown_event_of_a_call_story(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	char said[512] = "";
	bool is_first;
	int fds[2];

	clear_environment();
	setenv("PERFMON_REGIONS", "no-such-event", 1);
	options.events = "page-faults";
	EXPECT(pipe(fds), 0, "pipe()");
	dup2(fds[1], STDERR_FILENO);
	EXPECT_TRUE(pfmi_regions_start(&options, &is_first, NULL) < 0, "started");
	EXPECT_TRUE(read(fds[0], said, sizeof(said) - 1) > 0, "a sentence");
	EXPECT_TRUE(strncmp(said, "perfmon: PERFMON_REGIONS: ", 26) == 0 &&
	                    strstr(said, "no-such-event"),
	            "what it says: %s", said);
}

static void call_story(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	bool is_first = true;

	clear_environment();
	options.format = "xml";
	EXPECT(pfmi_regions_start(&options, &is_first, &error), PFMLIB_ERR_INVAL,
	       "an unknown format");
	EXPECT(error.sys_errno, EINVAL, "its error");
	EXPECT(is_first, 0, "first");
	options.format = "json";
	options.flags = PFM_REGIONS_ROTATE_INNER;
	options.events = "time";
	EXPECT(pfmi_regions_start(&options, &is_first, &error), PFMLIB_SUCCESS, "start");
	EXPECT(is_first, 1, "first");
	EXPECT_TRUE(strcmp(pfmi_regions.format, "json") == 0, "format");
	EXPECT(pfmi_regions.flags, PFM_REGIONS_ROTATE_INNER, "flags");
	options.events = "page-faults";
	EXPECT(pfmi_regions_start(&options, &is_first, &error), PFMLIB_ERR_INVAL, "other events");
	EXPECT(error.sys_errno, EBUSY, "its error");
	EXPECT(pfmi_regions_start(NULL, &is_first, NULL), PFMLIB_SUCCESS, "going on");
	EXPECT(is_first, 0, "first, the second time");
}

/* The environment completes what a program that has the first word leaves open. */
static void program_first_story(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	bool is_first;

	clear_environment();
	setenv("PERFMON_REGIONS", "no-such-event", 1);
	setenv("PERFMON_REGIONS_FORMAT", "csv", 1);
	setenv("PERFMON_REGIONS_OUTPUT", "/dev/null", 1);
	setenv("PERFMON_REGIONS_OPTIONS", "per-thread", 1);
	options.flags = PFM_REGIONS_PROGRAM_FIRST | PFM_REGIONS_NO_SUBTRACT;
	options.events = "time";
	options.format = "json";
	EXPECT(pfmi_regions_start(&options, &is_first, NULL), PFMLIB_SUCCESS, "start");
	EXPECT(pfmi_regions.flags, PFM_REGIONS_PROGRAM_FIRST | PFM_REGIONS_NO_SUBTRACT, "flags");
	EXPECT_TRUE(strcmp(pfmi_regions.format, "json") == 0, "format");
	EXPECT_TRUE(strcmp(pfmi_regions.output, "/dev/null") == 0, "output");
}

static void start_without_a_request(void **state)
{
	(void)state;
	run_story(requests_nothing_story);
}

static void start_from_environment(void **state)
{
	(void)state;
	run_story(environment_story);
}

static void environment_names_an_unknown_event(void **state)
{
	(void)state;
	run_story(unknown_event_story);
}

static void call_names_an_unknown_event(void **state)
{
	(void)state;
	run_story(unknown_event_of_a_call_story);
}

static void start_by_call(void **state)
{
	(void)state;
	run_story(call_story);
}

static void options_of_the_program_come_first(void **state)
{
	(void)state;
	run_story(program_first_story);
}

/* The end of the process writes its results. */
static void results_are_written_at_exit(void **state)
{
	static const char HEAD[] = "process,region,parent,thread,";
	char path[] = "/tmp/perfmon-start-XXXXXX", got[sizeof(HEAD)] = "";
	int fd = mkstemp(path), status;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		bool is_first;

		clear_environment();
		setenv("PERFMON_REGIONS", "time", 1);
		setenv("PERFMON_REGIONS_FORMAT", "csv", 1);
		setenv("PERFMON_REGIONS_OUTPUT", path, 1);
		if (!pfmi_regions_start_from_environment(&is_first))
			_exit(1);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(pread(fd, got, sizeof(HEAD) - 1, 0), sizeof(HEAD) - 1);
	assert_string_equal(got, HEAD);
	close(fd);
	unlink(path);
}

UNIT(region_start, cmocka_unit_test(start_without_a_request),
     cmocka_unit_test(options_of_the_program_come_first), cmocka_unit_test(start_from_environment),
     cmocka_unit_test(environment_names_an_unknown_event),
     cmocka_unit_test(call_names_an_unknown_event), cmocka_unit_test(start_by_call),
     cmocka_unit_test(results_are_written_at_exit));
