/* SPDX-License-Identifier: MIT */
/* pfm check-events: the kernels execute the instructions that they claim, counted by single steps;
 * and judgements of counts that are made up. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "check_events/known.h"

/* ---- kernels --------------------------------------------------------------------------------- */

enum { FEW_TURNS = 4 };

/* Runs @k between stops, so that the tracer counts the steps of each run. */
static void run_between_stops(const struct truth_kernel *k, void *memory)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	k->run(FEW_TURNS, memory);
	raise(SIGSTOP);
	k->run(2 * FEW_TURNS, memory);
	raise(SIGSTOP);
	_exit(0);
}

/* Steps the child to its next stop. Returns the number of steps, or -1. */
static long count_steps(pid_t child)
{
	int status;

	for (long n = 0;; n++) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) == SIGSTOP)
			return n;
	}
}

/* Instructions of FEW_TURNS turns; -1 if the kernel forbids to trace. */
static long step_kernel(const struct truth_kernel *k, void *memory)
{
	pid_t child = fork();
	long first, second;
	int status;

	if (child == 0)
		run_between_stops(k, memory);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return -1;
	first = count_steps(child);
	second = count_steps(child);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return first < 0 || second < 0 ? -1 : second - first;
}

/* Expected numbers: by hand in kernels.def. Steps: the processor's. */
static void loops_execute_the_instructions_that_they_claim(void **state)
{
	size_t n, size[2], checked = 0;
	const struct truth_kernel *k = truth_list_kernels(&n);
	const char *why;
	void *page = truth_make_memory(TRUTH_PAGE, &size[0], &why);
	void *ring = truth_make_memory(TRUTH_RING_TLB, &size[1], &why);
	struct truth_bounds b;

	(void)state;
	assert_non_null(page);
	assert_non_null(ring);
	for (size_t i = 0; i < n; i++) {
		long steps;

		if (!k[i].is_loop || !truth_is_runnable(&k[i]) ||
		    !truth_get_bounds(&k[i], TRUTH_INSTRUCTIONS, &b) || b.low != b.high)
			continue;
		steps = step_kernel(&k[i], k[i].memory == TRUTH_PAGE ? page : ring);
		if (steps < 0)
			skip();
		if ((double)steps != FEW_TURNS * b.low)
			fail_msg("%s: %ld steps in %d turns, expected %g in a turn", k[i].name,
			         steps, FEW_TURNS, b.low);
		checked++;
	}
	truth_free_memory(page, size[0]);
	truth_free_memory(ring, size[1]);
	print_message("# %zu loops\n", checked);
}

static const struct truth_kernel *find_kernel(const char *name)
{
	size_t n;
	const struct truth_kernel *k = truth_list_kernels(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(k[i].name, name) == 0)
			return &k[i];
	return NULL;
}

static void each_control_exists_and_lacks_the_operation(void **state)
{
	size_t n;
	const struct truth_kernel *k = truth_list_kernels(&n), *control;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (!k[i].control)
			continue;
		control = find_kernel(k[i].control);
		if (!control)
			fail_msg("%s: no kernel '%s'", k[i].name, k[i].control);
		assert_true(memcmp(control->does, k[i].does, sizeof(k[i].does)) != 0);
	}
}

/* Other architectures lack some of the instructions, so they have fewer kernels. */
static void x86_64_has_at_least_60_kernels(void **state)
{
	size_t n;

	(void)state;
#ifdef __x86_64__
	truth_list_kernels(&n);
	assert_true(n >= 60);
#else
	(void)n;
	skip();
#endif
}

static void each_quantity_has_a_name_and_is_found_by_it(void **state)
{
	enum truth_quantity found;

	(void)state;
	for (unsigned q = 0; q < N_TRUTH_QUANTITIES; q++) {
		const char *name = truth_name_quantity((enum truth_quantity)q);

		assert_non_null(name);
		assert_true(truth_find_quantity(name, strlen(name), &found));
		assert_int_equal(found, q);
	}
	assert_false(truth_find_quantity("slots", 5, &found));
}

/* ---- judgements ------------------------------------------------------------------------------ */

/* A pseudo-random number from 0 to 1, the same in each run. */
static double draw(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return (*seed >> 8 & 0xffff) / 65535.0;
}

/* A machine whose event counts @factor times the right number of @q, @leak in each turn beside it,
 * and in each measurement up to @noise of the turns more. */
static struct event_check observe(enum truth_quantity q, double factor, double leak, double noise,
                                  unsigned *seed)
{
	struct event_check c = { .has_quantity = true, .quantity = q, .factor = 1 };
	double values[USUAL_PAIRS];
	size_t n;
	const struct truth_kernel *k = truth_list_kernels(&n);

	for (size_t i = 0; i < n && c.n < OBSERVATIONS_MAX; i++) {
		struct observation *o = &c.seen[c.n];

		if (!truth_get_bounds(&k[i], q, &o->expected))
			continue;
		for (unsigned p = 0; p < USUAL_PAIRS; p++)
			values[p] = factor * (o->expected.low + o->expected.high) / 2 + leak +
			            noise * draw(seed);
		o->kernel = &k[i];
		o->mean = estimate_mean(values, USUAL_PAIRS, &o->error);
		c.n++;
	}
	judge_event(&c);
	return c;
}

static void assert_judged(const struct event_check *c, enum judgement expected)
{
	if (c->result.judgement != expected)
		fail_msg("%s is %s, expected %s (%s)", truth_name_quantity(c->quantity),
		         name_judgement(c->result.judgement), name_judgement(expected), c->reason);
}

/* Interrupts and other programs add up to 2 counts in 2,000 turns. */
static void a_loaded_machine_gives_no_false_alarm_in_100_runs(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (unsigned run = 0; run < 100; run++)
		for (unsigned q = 0; q < N_TRUTH_QUANTITIES; q++) {
			struct event_check c = observe((enum truth_quantity)q, 1, 0, 0.001, &seed);

			if (c.n)
				assert_judged(&c, JUDGED_RIGHT);
		}
}

static void a_biased_event_is_found_with_its_bias(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_LOADS, 0.94, 0, 0.001, &seed);
	char text[96];

	(void)state;
	assert_judged(&c, JUDGED_BIASED);
	assert_true(fabs(c.result.low + 0.06) < 0.005 && fabs(c.result.high + 0.06) < 0.005);
	assert_string_equal(describe_judgement(&c.result, text), "biased by -5.99 %");
}

/* Such as a controller of one of two channels. */
static void a_controller_that_counts_half_of_the_bytes_is_biased(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_DRAM_READ_BYTES, 0.5, 0, 0.001, &seed);

	(void)state;
	assert_judged(&c, JUDGED_BIASED);
	assert_true(c.result.low < -0.3);
}

static void an_event_that_counts_other_operations_is_biased(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_LOADS, 1, 0.5, 0, &seed);

	(void)state;
	assert_judged(&c, JUDGED_BIASED);
	assert_true(c.result.high > 0.05);
}

static void an_event_of_zeros_is_zero(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_BRANCHES, 0, 0, 0, &seed);

	(void)state;
	assert_judged(&c, JUDGED_ZERO);
}

static void an_event_that_counts_turns_is_unrelated_to_loads(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_LOADS, 0, 3, 0.01, &seed);

	(void)state;
	assert_judged(&c, JUDGED_UNRELATED);
}

static void an_event_that_varies_by_a_half_is_noisy(void **state)
{
	unsigned seed = 1;
	struct event_check c = observe(TRUTH_INSTRUCTIONS, 1, 0, 20, &seed);

	(void)state;
	assert_judged(&c, JUDGED_NOISY);
}

static void an_event_without_observations_is_not_checked(void **state)
{
	struct event_check c = { .factor = 1 };

	(void)state;
	judge_event(&c);
	assert_judged(&c, NOT_JUDGED);
	assert_int_equal(find_worst_observation(&c), -1);
}

/* ---- reports --------------------------------------------------------------------------------- */

static const struct known_check reports[] = {
	{ "toy::Steps", "model=1", "0x7", "Linux 6.1", "", { JUDGED_BIASED, false, 0.03, 0.03 } },
	{ "toy::Steps", "model=1", "", "Linux 6.1", "QEMU", { JUDGED_ZERO, false, 0, 0 } },
	{ "toy::Falls", "model=1", "", "Linux 6.1", "", { JUDGED_RIGHT, true, 0, 0.001 } },
	{ "toy::Trips", "model=1", "", "Linux 6.1", "QEMU", { JUDGED_ZERO, false, 0, 0 } },
	{ NULL, NULL, NULL, NULL, NULL, { NOT_JUDGED, false, 0, 0 } },
};

static void an_event_is_described_by_each_report(void **state)
{
	char buf[KNOWN_TEXT_MAX];

	(void)state;
	assert_true(describe_known_check(reports, "toy", "steps", 0, buf));
	assert_string_equal(buf, "model=1, microcode 0x7, Linux 6.1: biased by +3 %");
	assert_true(describe_known_check(reports, "toy", "Steps", 1, buf));
	assert_string_equal(buf, "emulated by QEMU, model=1, Linux 6.1: zero");
	assert_false(describe_known_check(reports, "toy", "Steps", 2, buf));
	assert_false(describe_known_check(reports, "to", "Steps", 0, buf));
}

static void a_bias_is_that_of_the_same_processor_and_no_emulator(void **state)
{
	char buf[KNOWN_TEXT_MAX];

	(void)state;
	assert_true(describe_known_bias(reports, "toy", "Steps", "model=1", buf));
	assert_non_null(strstr(buf, "+3 %"));
	assert_false(describe_known_bias(reports, "toy", "Steps", "model=2", buf));
	assert_false(describe_known_bias(reports, "toy", "Falls", "model=1", buf));
	assert_false(describe_known_bias(reports, "toy", "Trips", "model=1", buf));
	assert_true(is_checked_on_hardware(reports, "toy", "Falls"));
	assert_false(is_checked_on_hardware(reports, "toy", "Trips"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_execute_the_instructions_that_they_claim),
		cmocka_unit_test(each_control_exists_and_lacks_the_operation),
		cmocka_unit_test(each_quantity_has_a_name_and_is_found_by_it),
		cmocka_unit_test(x86_64_has_at_least_60_kernels),
		cmocka_unit_test(a_loaded_machine_gives_no_false_alarm_in_100_runs),
		cmocka_unit_test(a_biased_event_is_found_with_its_bias),
		cmocka_unit_test(a_controller_that_counts_half_of_the_bytes_is_biased),
		cmocka_unit_test(an_event_that_counts_other_operations_is_biased),
		cmocka_unit_test(an_event_of_zeros_is_zero),
		cmocka_unit_test(an_event_that_counts_turns_is_unrelated_to_loads),
		cmocka_unit_test(an_event_that_varies_by_a_half_is_noisy),
		cmocka_unit_test(an_event_without_observations_is_not_checked),
		cmocka_unit_test(an_event_is_described_by_each_report),
		cmocka_unit_test(a_bias_is_that_of_the_same_processor_and_no_emulator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
