/* SPDX-License-Identifier: MIT */
/* Metrics as texts of sessions, on a scripted kernel: what is opened for them, and what their
 * values are worth. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <perfmon/sampling.h>
#include "fake_session.h"
#include "starve.h"

/* The generic events count a known program: 3,000 instructions in 2,000 clocks, 500 branches of
 * which 25 were not foreseen. */
static void known_program(struct fake *f, struct fake_event *e)
{
	static const uint64_t of[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 2000,
		[PERF_COUNT_HW_INSTRUCTIONS] = 3000,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 500,
		[PERF_COUNT_HW_BRANCH_MISSES] = 25,
	};
	uint64_t config = e->a.attr.config & 0xffffffff;

	(void)f;
	e->is_open = e->running = 1000000;
	if (e->a.attr.type == PERF_TYPE_HARDWARE && config < sizeof(of) / sizeof(of[0]))
		e->value = of[config];
	else if (e->a.attr.type == PERF_TYPE_SOFTWARE)
		e->value = config == PERF_COUNT_SW_TASK_CLOCK ? 1000000 : 7;
}

static pfm_session_metric_t compute(unsigned i, unsigned rounds, double seconds)
{
	pfm_session_metric_t m = PFM_INIT(m);

	assert_int_equal(pfm_compute_session_metric(session, i, counts, rounds, seconds, &m),
	                 PFMLIB_SUCCESS);
	return m;
}

static const char *metric_name(const pfm_session_metric_t *m)
{
	pfm_metric_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_metric(ctx, m->pmu, m->event, &info), PFMLIB_SUCCESS);
	return info.name;
}

static void metrics_have_the_values_of_a_known_program(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	must_open(TEXTS("hardware::ipc", "page-faults", "hardware::branch_miss_share"));
	assert_int_equal(pfm_count_metrics(session), 2);
	/* Events that only metrics need follow the events that texts name. */
	assert_string_equal(is_about(0).name, "page-faults");
	assert_int_equal(is_about(0).request, 1);
	assert_int_equal(pfm_session_size(session), 5);
	run_session();
	m = compute(0, 1, 0);
	assert_string_equal(metric_name(&m), "ipc");
	assert_true(m.value == 1.5 && m.error == 0 && m.low == 1.5 && m.high == 1.5);
	assert_int_equal(m.state, PFM_METRIC_DEFINED);
	assert_int_equal(m.quality, PFM_QUALITY_EXACT);
	assert_int_equal(m.request, 0);
	assert_int_equal(m.missing, -1);
	assert_int_equal(m.over_threshold, -1);
	m = compute(1, 1, 0);
	assert_true(fabs(m.value - 5) < 1e-12);
	assert_int_equal(m.request, 2);
}

static void shared_events_are_counted_once(void **state)
{
	unsigned cycles = 0;

	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	must_open(TEXTS("hardware::ipc", "hardware::ghz"));
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		cycles += strstr(is_about(i).name, "cycles") != NULL;
	assert_int_equal(cycles, 1);
	run_session();
	assert_true(compute(0, 1, 0).value == 1.5);
	assert_true(fabs(compute(1, 1, 0).value - 0.002) < 1e-12);
}

/* The members of a group, rates by the time that was given. */
static void a_group_and_rates(void **state)
{
	unsigned found = 0;

	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	must_open(TEXTS("software::ratios"));
	assert_int_equal(pfm_count_metrics(session), 4);
	run_session();
	for (unsigned i = 0; i < 4; i++) {
		pfm_session_metric_t m = compute(i, 1, 0.002);

		assert_int_equal(m.request, 0);
		if (strcmp(metric_name(&m), "cpus_used") == 0) {
			assert_true(fabs(m.value - 0.5) < 1e-12);
			/* A rate needs a time. Without it the rate is not computed, and no count
			 * is missing. */
			m = compute(i, 1, 0);
			assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
			assert_int_equal(m.missing, -1);
			found++;
		} else {
			assert_true(fabs(m.value - 7000) < 1e-6);
			found++;
		}
	}
	assert_int_equal(found, 4);
}

/* Counts that shared a counter: several readings give their error, one reading does not. */
static void several_readings_give_an_error(void **state)
{
	pfm_count_t all[8 * 2];
	pfm_session_metric_t m;

	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	must_open(TEXTS("hardware::ipc"));
	run_session();
	for (unsigned i = 0; i < 2; i++)
		counts[i].quality = PFM_QUALITY_SCALED;
	m = compute(0, 1, 0);
	assert_true(m.value == 1.5 && m.error < 0 && m.low < -1e300 && m.high > 1e300);
	assert_int_equal(m.quality, PFM_QUALITY_SCALED);
	for (unsigned r = 0; r < 8; r++)
		for (unsigned i = 0; i < 2; i++) {
			all[2 * r + i] = counts[i];
			all[2 * r + i].value += (r * 37 + i * 11) % 50;
		}
	memcpy(counts, all, sizeof(all));
	m = compute(0, 8, 0);
	assert_true(m.error > 0 && m.low < m.value && m.value < m.high &&
	            fabs(m.value - 1.5) < 0.05);
	m = compute(0, 0, 0);
	assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
	assert_string_equal(metric_name(&m), "ipc");
}

static int no_branches(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS
	               ? -ENOENT
	               : 0;
}

/* A metric with an uncounted event has no value, and names that event. */
static void a_metric_without_a_count_names_its_event(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	fake.decide = no_branches;
	must_open(TEXTS("hardware::branch_miss_share", "hardware::ipc"));
	run_session();
	m = compute(0, 1, 0);
	assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
	assert_true(m.missing >= 0 && m.value == 0);
	assert_non_null(strstr(is_about((unsigned)m.missing).name, "branch-instructions"));
	assert_int_equal(m.quality, PFM_QUALITY_NOT_COUNTED);
	assert_true(compute(1, 1, 0).value == 1.5);
}

/* Two types of cores, each with counts of its own: their sum. */
static void types_of_cores(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = known_program;
	must_open(TEXTS("hardware::ipc"));
	assert_int_equal(pfm_session_size(session), 4);
	run_session();
	assert_true(compute(0, 1, 0).value == 1.5);
}

/* The task never ran on the small cores. */
static void fast_cores_alone(struct fake *f, struct fake_event *e)
{
	known_program(f, e);
	if (e->a.attr.config >> 32 == 10)
		e->value = e->running = 0;
}

static void a_type_of_core_that_was_not_used(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	make_machine("hybrid");
	fake.tick = fast_cores_alone;
	must_open(TEXTS("hardware::ipc"));
	run_session();
	m = compute(0, 1, 0);
	assert_int_equal(m.state, PFM_METRIC_DEFINED);
	assert_true(m.value == 1.5);
}

static void each_cpu_for_itself(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = known_program;
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	options.cpus = "0-1";
	must_open(TEXTS("hardware::ipc"));
	assert_int_equal(pfm_session_size(session), 4);
	run_session();
	assert_true(compute(0, 1, 0).value == 1.5);
}

/* The tree of a processor, planned into groups that the kernel can keep. */
static void the_tree_of_a_processor_is_planned_in_groups(void **state)
{
	unsigned slots = 0;

	(void)state;
	make_machine("hybrid");
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("adl_goldencove::TmaL1"));
	assert_true(pfm_count_metrics(session) >= 4);
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		bool leads = i == 0 || is_about(i).group != is_about(i - 1).group;

		assert_string_equal(is_about(i).pmu, "cpu_core");
		if (!strstr(is_about(i).name, "TOPDOWN.SLOTS") ||
		    strstr(is_about(i).name, "SLOTS_P"))
			continue;
		assert_true(leads);
		slots++;
	}
	assert_int_equal(slots, 1);
}

static void a_thousand(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 1000;
	e->is_open = e->running = 1000000;
}

/* Facts of the machine come from its files. Facts missing there are not guessed. */
static void facts_of_the_machine(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	make_machine("hybrid");
	fake.tick = a_thousand;
	must_open(TEXTS("adl_goldencove::MITE", "adl_goldencove::Info_System_CPU_Utilization"));
	run_session();
	m = compute(0, 1, 0);
	assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
	assert_int_equal(m.missing, -1);
	fake_file(&fake, "/sys/devices/system/cpu/smt/active", "1");
	fake_file(&fake, "/sys/devices/system/cpu/present", "0-7");
	m = compute(0, 1, 0);
	assert_int_equal(m.state, PFM_METRIC_DEFINED);
	assert_true(m.value == 0);
	/* No file reports the frequency of the time-stamp counter. */
	assert_int_equal(compute(1, 1, 0).state, PFM_METRIC_NOT_COUNTED);
}

static void every_allocation_may_fail(void **state)
{
	pfm_session_metric_t m = PFM_INIT(m);
	int rc = PFMLIB_SUCCESS;

	(void)state;
	make_machine("uncore");
	must_open(TEXTS("cycles")); /* the context is loaded: what follows are the session's own */
	end_session();
	for (unsigned at = 1; at < 10000; at++) {
		starve_at = at;
		starve_hit = false;
		rc = open_texts(TEXTS("software::ratios", "page-faults", "hardware::ipc"));
		starve_at = 0;
		if (!starve_hit)
			break;
		if (rc == 0)
			end_session(); /* fake_sys's own memory, or a spare of the library */
		else
			assert_int_equal(rc, PFMLIB_ERR_NOMEM);
		assert_null(session);
		assert_int_equal(fake.n_open, 0);
	}
	assert_int_equal(rc, PFMLIB_SUCCESS);
	run_session();
	starve_at = 1;
	starve_hit = false;
	rc = pfm_compute_session_metric(session, 0, counts, 1, 0, &m);
	starve_at = 0;
	assert_int_equal(rc, starve_hit ? PFMLIB_ERR_NOMEM : PFMLIB_SUCCESS);
}

static void wrong_metrics_are_refused(void **state)
{
	pfm_session_metric_t m = PFM_INIT(m);
	pfm_sampling_t sampling = PFM_INIT(sampling);

	(void)state;
	make_machine("uncore");
	assert_int_equal(open_texts(TEXTS("page-faults", "hardware::nobody")), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(error.event, 1);
	assert_true(open_texts(TEXTS("{hardware::ipc,cycles}")) < 0);
	sampling.period = 1000;
	options.sampling = &sampling;
	assert_true(open_texts(TEXTS("hardware::ipc")) < 0);
	options.sampling = NULL;
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_count_metrics(session), 0);
	assert_int_equal(pfm_count_metrics(NULL), 0);
	assert_int_equal(pfm_compute_session_metric(session, 0, counts, 1, 0, &m),
	                 PFMLIB_ERR_INVAL);
	end_session();
	must_open(TEXTS("hardware::ipc"));
	assert_int_equal(pfm_compute_session_metric(session, 0, NULL, 1, 0, &m), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_compute_session_metric(NULL, 0, counts, 1, 0, &m), PFMLIB_ERR_INVAL);
	m.size = 1;
	assert_int_equal(pfm_compute_session_metric(session, 0, counts, 0, 0, &m),
	                 PFMLIB_ERR_INVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(metrics_have_the_values_of_a_known_program, done),
		cmocka_unit_test_teardown(shared_events_are_counted_once, done),
		cmocka_unit_test_teardown(a_group_and_rates, done),
		cmocka_unit_test_teardown(several_readings_give_an_error, done),
		cmocka_unit_test_teardown(a_metric_without_a_count_names_its_event, done),
		cmocka_unit_test_teardown(types_of_cores, done),
		cmocka_unit_test_teardown(a_type_of_core_that_was_not_used, done),
		cmocka_unit_test_teardown(each_cpu_for_itself, done),
		cmocka_unit_test_teardown(the_tree_of_a_processor_is_planned_in_groups, done),
		cmocka_unit_test_teardown(facts_of_the_machine, done),
		cmocka_unit_test_teardown(every_allocation_may_fail, done),
		cmocka_unit_test_teardown(wrong_metrics_are_refused, done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
