/* SPDX-License-Identifier: MIT */
/* The processor time of pfm serve --budget, with simulated clocks: the share is kept, and the
 * service goes on after a load, also where waking up costs as much as a short sleep earns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include "tools/common/pfm.h"
#include "exporter/serve.h"

#define LIMIT 0.003 /* of a processor */

enum { MS = 1000000, ANSWER_NS = MS, MAX_WAKES = 1000 };

static uint64_t wall_ns, cpu_ns;
static struct serve_budget budget;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	/* In a static program, the test library calls this too. */
	if (clock != CLOCK_PROCESS_CPUTIME_ID)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ .tv_sec = (time_t)(cpu_ns / NS), .tv_nsec = (long)(cpu_ns % NS) };
	return 0;
}

/* ---- what the budget calls in the rest of pfm ------------------------------------------------ */

uint64_t now_ns(void)
{
	return wall_ns;
}

uint64_t count_open_files(void)
{
	return 0;
}

unsigned count_probe_files(const struct serve *s)
{
	(void)s;
	return 0;
}

char *make_machine_path(const char *path, char *buf, size_t size)
{
	(void)path;
	(void)size;
	return buf;
}

void begin_family(struct exposition *x, const char *name, enum family_type type, const char *unit,
                  const char *help)
{
	(void)x;
	(void)name;
	(void)type;
	(void)unit;
	(void)help;
}

void put_whole_sample(struct exposition *x, const struct label *labels, uint64_t value)
{
	(void)x;
	(void)labels;
	(void)value;
}

void put_real_sample(struct exposition *x, const struct label *labels, double value)
{
	(void)x;
	(void)labels;
	(void)value;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int begin(void **state)
{
	(void)state;
	wall_ns = cpu_ns = NS;
	budget = (struct serve_budget){ .is_on = true };
	budget.resources[BUDGET_CPU].limit = LIMIT;
	begin_budget(&budget);
	return 0;
}

/* Sleep as often as the budget requires, and return how often. Each wake-up costs @wake_ns of CPU
 * time. */
static unsigned sleep_until_allowed(uint64_t wake_ns)
{
	unsigned n = 0;

	for (int wait; n < MAX_WAKES && (wait = compute_budget_wait(&budget)) > 0; n++) {
		wall_ns += (uint64_t)wait * MS;
		cpu_ns += wake_ns;
	}
	return n;
}

static void the_service_goes_on_after_a_load(void **state)
{
	for (uint64_t wake_ns = 10000; wake_ns <= 500000; wake_ns *= 2) {
		uint64_t began;

		begin(state);
		began = wall_ns;
		cpu_ns += 100 * MS;
		assert_in_range(sleep_until_allowed(wake_ns), 1, 10);
		/* 70 ms more than the bucket held, at 3 ms a second. */
		assert_in_range(wall_ns - began, 23ULL * NS, 30ULL * NS);
	}
}

static void the_share_is_kept(void **state)
{
	(void)state;
	while (wall_ns < 1000ULL * NS) {
		assert_true(sleep_until_allowed(50000) < MAX_WAKES);
		cpu_ns += ANSWER_NS;
		wall_ns += ANSWER_NS;
	}
	/* The bucket is full at first: ten seconds of the share. */
	assert_true((double)(cpu_ns - NS) <=
	            LIMIT * (double)(wall_ns - NS + 10ULL * NS) + ANSWER_NS);
	assert_true((double)(cpu_ns - NS) >= LIMIT * (double)(wall_ns - NS) * 0.95);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_service_goes_on_after_a_load, begin),
		cmocka_unit_test_setup(the_share_is_kept, begin),
	};

	return cmocka_run_group_tests_name("serve_budget", tests, NULL, NULL);
}
