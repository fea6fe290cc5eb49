/* SPDX-License-Identifier: MIT */
/* Dry runs: calls that only look reach the system; calls that open, count or map do not. The
 * session has its own system back afterwards, whether it succeeds or fails. */
#include "units.h"
#include <errno.h>
#include <perfmon/sampling.h>
#include "fake_session.h"

static int begin(void **state)
{
	(void)state;
	session = NULL;
	make_machine("uncore");
	options.flags = PFM_SESSION_DRY_RUN;
	return 0;
}

static int end(void **state)
{
	return done(state);
}

/* All counts exist, stopped or started, and their values are 0. */
static void expect_nothing(unsigned n)
{
	assert_int_equal(pfm_session_size(session), n);
	run_session();
	for (unsigned i = 0; i < n; i++) {
		expect_count(i, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
		assert_true(counts[i].value == 0 && counts[i].raw == 0 && counts[i].enabled == 0);
	}
	assert_int_equal(fake.uses[FAKE_PERF], 0);
	assert_int_equal(fake.uses[FAKE_IOCTL], 0);
	assert_int_equal(fake.uses[FAKE_MMAP], 0);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 0);
}

static void groups_of_every_size(void **state)
{
	static const char *const texts[] = {
		"cycles", "{cycles,instructions}", "{cycles,instructions,branches}",
		"{cycles,instructions,branches,branch-misses,cache-misses}"
	};
	static const unsigned members[] = { 1, 2, 3, 5 };

	(void)state;
	for (unsigned i = 0; i < COUNT(texts); i++) {
		must_open(&texts[i], 1);
		expect_nothing(members[i]);
		end_session();
	}
}

/* A dry run reads the files of the machine. */
static void reads_files_of_the_machine(void **state)
{
	struct sys before;
	char text[64];

	(void)state;
	before = ctx->sys;
	options.flags |= PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles"));
	assert_ptr_equal(session->live.backend, &pfmi_session_dry_run_backend);
	assert_ptr_not_equal(session->sys.arg, before.arg);
	fake_file(&fake, "/x/y", "seen");
	assert_int_equal(pfmi_machine_read_small_file(&session->sys, "/x/y", text, sizeof(text)),
	                 4);
	assert_string_equal(text, "seen");
	assert_int_equal(pfmi_machine_read_small_file(&session->sys, "/x/z", text, sizeof(text)),
	                 -ENOENT);
	assert_int_equal(session->sys.list_folder(&session->sys, "/nowhere", NULL, NULL), -ENOENT);
	/* The dry run does not serve descriptors that it did not open. */
	assert_int_equal(session->sys.ioctl(&session->sys, 3, PERF_EVENT_IOC_ENABLE, NULL), -EBADF);
	assert_int_equal(session->sys.read(&session->sys, 3, text, sizeof(text)), -EBADF);
	assert_int_equal(is_about(0).n_kernel_events, 7);
	session->live.backend->close_counts(session);
	assert_memory_equal(&session->sys, &before, sizeof(before));
	session->live.backend->close_counts(session); /* a second close changes nothing */
	assert_memory_equal(&session->sys, &before, sizeof(before));
}

/* Descriptors of a dry run are no open files and all different. */
static void descriptors_of_a_dry_run_differ(void **state)
{
	const struct perf_state *st;

	(void)state;
	options.flags |= PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("{cycles,instructions}", "branches"));
	st = session->live.backend_state;
	assert_int_equal(st->n_events, 21);
	for (unsigned i = 0; i < st->n_events; i++) {
		assert_true(st->events[i].fd >= 1000000);
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(st->events[i].fd, st->events[k].fd);
	}
	expect_nothing(3);
}

/* A session that fails to open leaves the system unchanged. */
static void failed_dry_run_changes_nothing(void **state)
{
	(void)state;
	options.flags |= PFM_SESSION_SYSTEM_WIDE;
	options.cgroup = "/sys/fs/cgroup/none";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOENT);
	options.flags = PFM_SESSION_DRY_RUN;
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	options.cgroup = NULL;
	must_open(TEXTS("cycles"));
	expect_nothing(1);
}

/* Sampling works in a dry run, without losses. */
static void samples_in_a_dry_run_without_losses(void **state)
{
	pfm_sampling_t sampling = PFM_INIT(sampling);

	(void)state;
	options.sampling = &sampling;
	must_open(TEXTS("cycles"));
	read_all();
	assert_true(counts[0].value == 0 && counts[0].raw == 0);
	expect_nothing(1);
	assert_int_not_equal(pfm_wait_session(session, 0), 1);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(session_dry_run, CASE(groups_of_every_size), CASE(reads_files_of_the_machine),
     CASE(descriptors_of_a_dry_run_differ), CASE(failed_dry_run_changes_nothing),
     CASE(samples_in_a_dry_run_without_losses));
