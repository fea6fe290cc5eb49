/* SPDX-License-Identifier: MIT */
/* Dry runs, and every call and allocation that fails once: nothing stays open, whatever fails. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fake_session.h"
#include "shared.h"
#include "starve.h"

/* ---- dry runs -------------------------------------------------------------------------------- */

/* Check the arguments with which the session would open its kernel event @k. */
static void expect_part(unsigned k, unsigned type, uint64_t config, int pid, int cpu, int lead)
{
	const struct perf_state *st = session->live.backend_state;
	const struct kernel_event *p = &st->events[k];
	struct perf_attr a;

	assert_true(k < st->n_events);
	pfmi_perf_build_attr(session, p->count_index,
	                     k - session->counts[p->count_index].kernel_state.first_event,
	                     p->leader < 0, &a);
	assert_int_equal(a.type, type);
	assert_int_equal(type == PERF_TYPE_BREAKPOINT ? a.bp_type : a.config, config);
	assert_int_equal(p->pid, pid);
	assert_int_equal(p->cpu, cpu);
	assert_int_equal(p->leader, lead);
}

static void dry_run_plans_and_opens_nothing(void **state)
{
	(void)state;
	make_machine("hybrid");
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("{cpu_core/instructions/,cpu_core/cache-misses/}:u",
	                "uncore_imc/data_reads/"));
	expect_part(0, 4, 0xc0, 0, -1, -1);
	expect_part(1, 4, 0x412e, 0, -1, 0);
	expect_part(2, 21, 1, -1, 0, -1);
	expect_part(3, 22, 1, -1, 0, -1);
	assert_true(is_about(0).attr.exclude_kernel);
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	expect_why(0, "dry run");
	assert_int_equal(is_about(2).n_kernel_events, 2);
	end_session();
	must_open(TEXTS("slots"));
	expect_why(0, "cpu_atom does not have the event: not counted on CPUs 4-7");
	end_session();
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/43/x", "");
	options.pid = 42;
	options.flags |= PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_USER_READ;
	must_open(TEXTS("cpu_core/instructions/pD", "mem:0x1000/4:w"));
	expect_part(0, 4, 0xc0, 42, -1, -1);
	expect_part(1, 4, 0xc0, 43, -1, -1);
	expect_part(2, 5, 2, 42, -1, -1);
	expect_part(3, 5, 2, 43, -1, -1);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	end_session();
	options.pid = 0;
	options.flags = PFM_SESSION_DRY_RUN | PFM_SESSION_USER_READ;
	must_open(TEXTS("cpu_core/instructions/")); /* a dry run maps no page */
	assert_int_equal(pfm_read_count(session, 0, &counts[0]), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

/* A dry run uses the backend that the options name. */
static void dry_run_for_another_backend(void **state)
{
	(void)state;
	make_machine("uncore");
	options.backend = "pfm_device";
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("ev6::cycles"));
	assert_string_equal(is_about(0).pmu, "ev6");
	assert_string_equal(is_about(0).why, "");
	end_session();
	options.backend = "record";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "unknown backend");
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

static void dry_runs_on_shared_machines(void **state)
{
	static const struct {
		const char *name, *cpuid, *text;
		unsigned counts, parts;
	} rows[] = {
		{ "adl", "GenuineIntel-6-97-2", "instructions", 2, 1 },
		{ "lnl", "GenuineIntel-6-BD-1", "{cycles,instructions}", 4, 1 },
		{ "skx", "GenuineIntel-6-55-4", "uncore_cha/event=0x35,umask=0x3/", 1, 0 },
		{ "spr", "GenuineIntel-6-8F-8", "cpu/instructions/u", 1, 1 },
		{ "zen4", "AuthenticAMD-25-61-2", "instructions", 1, 1 },
		{ "neoverse-n1", "0x00000000413fd0c1", "armv8_pmuv3_0/event=0x8/", 1, 1 },
		{ "power9", "0x004e1202", "cpu/event=0x2/", 1, 1 },
		{ "z15", "IBM,8561,703,T01,3.6,002f", "cpum_cf/event=32/", 1, 1 },
		{ "riscv-u74", "0x489-0x8000000000000007-0x0", "cpu/event=2/", 1, 1 },
	};
	char path[512], name[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned boxes = 0;

		snprintf(name, sizeof(name), "data/sysfs/%s.txt", rows[i].name);
		fake_begin(&fake);
		if (!fake_machine(&fake, shared_path(path, sizeof(path), name))) {
			fake_end(&fake);
			make_machine("uncore");
			print_message("# SKIP %s is not there\n", path);
			skip();
		}
		for (unsigned k = 0; k < fake.n_files; k++)
			boxes += strstr(fake.files[k].path, "/uncore_cha_") &&
			         strstr(fake.files[k].path, "/type");
		open_context(rows[i].cpuid);
		options.flags = PFM_SESSION_DRY_RUN;
		must_open(&rows[i].text, 1);
		assert_int_equal(fake.uses[FAKE_PERF], 0);
		assert_int_equal(pfm_session_size(session), rows[i].counts);
		for (unsigned k = 0; k < rows[i].counts; k++)
			assert_int_equal(is_about(k).n_kernel_events,
			                 rows[i].parts ? rows[i].parts
			                               : 2 * boxes); /* two packages */
		done(NULL);
	}
	make_machine("uncore");
}

/* ---- everything fails once ------------------------------------------------------------------- */

static const char *const everything[] = {
	"{cycles,instructions,page-faults}:u",
	"uncore_imc/cas_count_read/",
	"{branch-misses,cpu/event=0x1/}:W",
	"mem:0x1000/4:w",
	"context-switches",
	"cpu/instructions,cmask=1/pp",
};

/* A whole session, whatever its steps say. */
static void try_all(void)
{
	int rc = open_texts(everything, sizeof(everything) / sizeof(everything[0]));
	unsigned n = pfm_session_size(session);

	assert_true(rc <= 0 && (rc == 0) == (session != NULL));
	if (rc) {
		assert_int_equal(fake.n_open, 0);
		assert_int_equal(fake.n_maps, 0);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	if (pfm_start_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_reset_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_stop_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_read_session(session, counts, n) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	/* A count that was not taken has no value. */
	for (unsigned i = 0; i < n; i++)
		if (counts[i].quality >= PFM_QUALITY_NOT_COUNTED)
			assert_int_equal(counts[i].value, 0);
	end_session();
}

static void every_call_may_fail(void **state)
{
	static const int errors[] = { EMFILE, EACCES, EINVAL,     ENOENT, EBUSY, ESRCH,
		                      ENODEV, ENOSPC, EOPNOTSUPP, ENOMEM, EIO };
	static const unsigned flags[] = { 0, PFM_SESSION_SYSTEM_WIDE,
		                          PFM_SESSION_STRICT | PFM_SESSION_USER_READ |
		                                  PFM_SESSION_INHERIT };

	/* Emulators and valgrind are slow: one error that passes and one that stays. */
	unsigned step = getenv("PERFMON_QUICK") ? 7 : 1;

	(void)state;
	make_machine("uncore");
	must_open(TEXTS("cycles")); /* the context is loaded now; test_kernel.c makes that fail */
	end_session();
	for (unsigned f = 0; f < 3; f++)
		for (unsigned e = 0; e < sizeof(errors) / sizeof(errors[0]); e += step)
			for (unsigned call = 0; call < N_FAKE_CALLS; call++)
				for (unsigned at = 1; at == 1 || fake.uses[call] >= at - 1; at++) {
					memset(fake.uses, 0, sizeof(fake.uses));
					fake.n_events = 0;
					options.flags = flags[f];
					fake.fail = (enum fake_call)call;
					fake.fail_at = at;
					fake.fail_on = e % 2;
					fake.fail_errno = errors[e];
					try_all();
				}
	fake.fail_at = 0;
}

static void interrupted_calls_are_repeated(void **state)
{
	static const enum fake_call calls[] = { FAKE_PERF, FAKE_IOCTL, FAKE_READ_PERF };

	(void)state;
	make_machine("uncore");
	for (unsigned i = 0; i < 3; i++) {
		fake.uses[calls[i]] = 0;
		fake.fail = calls[i];
		fake.fail_at = 2;
		fake.fail_errno = EINTR;
		must_open(TEXTS("cycles", "instructions"));
		run_session();
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		end_session();
	}
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("cycles")); /* the context is loaded: what follows are the session's own */
	end_session();
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	for (unsigned at = 1;; at++) {
		int rc;

		starve_at = at;
		starve_hit = false;
		rc = open_texts(everything, 2);
		starve_at = 0;
		if (!starve_hit) {
			assert_int_equal(rc, PFMLIB_SUCCESS);
			return;
		}
		if (rc == 0)
			end_session(); /* fake_sys's own memory is not the library's: it aborts, so
			                  this was someone's spare */
		else
			assert_int_equal(rc, PFMLIB_ERR_NOMEM);
		assert_null(session);
		assert_int_equal(fake.n_open, 0);
	}
}

static void refuses_wrong_arguments(void **state)
{
	pfm_count_t small = { .size = offsetof(pfm_count_t, enabled) };
	pfm_count_info_t info = PFM_INIT(info);

	(void)state;
	make_machine("uncore");
	assert_int_equal(pfm_start_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_stop_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_reset_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(NULL, &small, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_session_size(NULL), 0);
	pfm_close_session(NULL);
	must_open(TEXTS("cycles", "instructions"));
	small.enabled = 77;
	assert_int_equal(pfm_start_session(session), 0);
	assert_int_equal(pfm_read_session(session, &small, 1),
	                 PFMLIB_SUCCESS); /* fewer than there are: the first ones */
	assert_int_equal(small.value, 2000);
	assert_int_equal(small.enabled, 77);
	assert_int_equal(pfm_describe_count(session, 2, &info), PFMLIB_ERR_INVAL);
	small.size = sizeof(small.size) - 1;
	assert_int_equal(pfm_read_session(session, &small, 1), PFMLIB_ERR_INVAL);
	assert_string_equal(pfm_quality_name(PFM_QUALITY_NOT_SUPPORTED), "not supported");
	assert_string_equal(pfm_quality_name(99), "");
	assert_string_equal(pfm_quality_name((pfm_quality_t)-1), "");
	assert_string_equal(pfm_cause_name(99), "");
	assert_int_equal(pfm_session_errno(NULL), 0);
	assert_int_equal(pfm_read_count(NULL, 0, &small), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_count(session, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_count(session, 0, &small),
	                 PFMLIB_ERR_INVAL); /* its size is 0 now */
	assert_int_equal(pfm_describe_count(NULL, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_count(session, 0, NULL), PFMLIB_ERR_INVAL);
	info.size = sizeof(size_t) - 1;
	assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(session, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(session, NULL, 0), PFMLIB_SUCCESS);
	assert_string_equal(pfm_cause_name(PFM_CAUSE_NO_PMU), "no PMU");
	assert_string_equal(pfm_cause_name((pfm_cause_t)-1), "");
}

static void sessions_keep_their_context(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("cycles"));
	pfm_close_context(ctx);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	ctx = NULL;
}

static int finish(void **state)
{
	starve_at = 0;
	return done(state);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(dry_run_plans_and_opens_nothing), CASE(dry_run_for_another_backend),
		CASE(dry_runs_on_shared_machines),     CASE(every_call_may_fail),
		CASE(interrupted_calls_are_repeated),  CASE(every_allocation_may_fail),
		CASE(refuses_wrong_arguments),         CASE(sessions_keep_their_context),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session failures", tests, NULL, NULL);
}
