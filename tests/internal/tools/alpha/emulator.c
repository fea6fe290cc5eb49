/* SPDX-License-Identifier: MIT */
/* System calls on the device model: one device, time that passes between calls, and emulators by
 * name. */
#include "device_model.h"
#include <fcntl.h>
#include "device_sys.h"

static uint64_t now;

static uint64_t clock_of_test(void *arg)
{
	assert_ptr_equal(arg, &now);
	return now;
}

struct machine {
	struct model_device d;
	struct alpha_device_sys state;
	struct sys sys;
};

/* A 21164 at 500 MHz whose counter 0 counts cycles from the first on. Process USER is the one that
 * calls. */
static void begin(struct machine *m, uint64_t text, uint64_t text_end)
{
	const struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);

	m->d = open_device(&o, PCNTOPENALL);
	alpha_device_close_session(m->d.m, m->d.handle);
	now = 1000000;
	m->state = (struct alpha_device_sys){ .device = m->d.m,
		                              .pid = USER,
		                              .read_clock = clock_of_test,
		                              .clock_arg = &now,
		                              .text_start = text,
		                              .text_end = text_end };
	init_device_sys(&m->sys, &m->state);
	m->d.handle = m->sys.open(&m->sys, PFCNTR_DEVICE, O_RDWR | PCNTOPENALL);
	assert_true(m->d.handle >= 0);
}

static void only_one_device(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 0, 0);
	assert_int_equal(m.sys.open(&m.sys, PFCNTR_DEVICE "x", PCNTOPENALL), -ENOENT);
	assert_int_equal(m.sys.open(&m.sys, "/dev/pfcnt", PCNTOPENALL), -ENOENT);
	assert_int_equal(m.sys.open(&m.sys, PFCNTR_DEVICE, PCNTOPENALL), -EBUSY);
	assert_int_equal(m.sys.open(&m.sys, PFCNTR_DEVICE, O_RDONLY), -EINVAL);
	assert_int_equal(m.sys.ioctl(&m.sys, m.d.handle + 1, PCNTRENABLE, NULL), -EBADF);
	assert_int_equal(m.sys.close(&m.sys, m.d.handle), 0);
	assert_int_equal(m.sys.close(&m.sys, m.d.handle), -EBADF);
	alpha_device_free(m.d.m);
}

/* Time before the system was made does not count; each call counts all that passed before it. */
static void time_passes_before_calls(void **state)
{
	struct machine m;
	uint64_t word = PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0);

	(void)state;
	begin(&m, 0, 0);
	assert_int_equal(m.d.m->cpus[0].clock_cycles, 0);
	now += 3000;
	assert_int_equal(m.sys.ioctl(&m.sys, m.d.handle, PCNT5RESTART, &word), 0);
	assert_int_equal(read_kernel_log(&m.d, 0).chip_values[0], 0); /* before it was started */
	now += 2000;
	m.sys.ioctl(&m.sys, m.d.handle, PCNT5GETCNTRS, &word);
	assert_int_equal(word, PF5_CTRS(1, PMCTRS_ALL_CPUS, 1000, 0, 0));
	now += 10;
	assert_int_equal(m.sys.read(&m.sys, m.d.handle, &word, sizeof word), 0);
	now += 90;
	(void)m.sys.open(&m.sys, "/dev/null", 0);
	assert_int_equal(read_kernel_log(&m.d, 0).chip_values[0], 1050);
	now += 2000;
	m.sys.close(&m.sys, m.d.handle);
	assert_int_equal(read_kernel_log(&m.d, 0).chip_values[0], 2050);
	alpha_device_free(m.d.m);
}

/* Without a clock no time passes. */
static void no_time_passes_without_a_clock(void **state)
{
	struct machine m;
	uint64_t word = PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0);

	(void)state;
	begin(&m, 0, 0);
	m.state.read_clock = NULL;
	init_device_sys(&m.sys, &m.state);
	m.sys.ioctl(&m.sys, m.d.handle, PCNT5RESTART, &word);
	now += 1000;
	m.sys.ioctl(&m.sys, m.d.handle, PCNT5GETCNTRS, &word);
	assert_int_equal(word, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
	alpha_device_free(m.d.m);
}

static void emulators_by_name(void **state)
{
	static const struct {
		const char *family;
		unsigned n_cpus;
		int cpu, rc;
	} rows[] = {
		{ "ev4", 0, 0, 0 },        { "alpha_ev67", 64, 63, 0 }, { "ev8", 0, 0, -ENODEV },
		{ "ev5", 65, 0, -EINVAL }, { "ev5", 0, 9, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct alpha_emulator *e = NULL;

		assert_int_equal(
			alpha_emulator_open(rows[i].family, rows[i].n_cpus, rows[i].cpu, 0, &e),
			rows[i].rc);
		assert_int_equal(e != NULL, rows[i].rc == 0);
		if (e && rows[i].n_cpus)
			assert_int_equal(alpha_emulator_get_device(e)->n_cpus, rows[i].n_cpus);
		alpha_emulator_close(e);
	}
}

enum { PARTS = 4, PART = 16, BUCKETS = PARTS * PART };

/* Samples of @ns nanoseconds of a program of BUCKETS instructions; returns how many. */
static uint64_t samples_of(uint64_t ns, uint32_t bucket[BUCKETS])
{
	struct machine m;
	uint64_t word = PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0), items = PFM_PROFILING, n = 0;
	addr_range_t r = { 0x10000, 0x10000 + BUCKETS * 4, 1, 0 };

	begin(&m, r.start, r.end);
	assert_int_equal(m.sys.ioctl(&m.sys, m.d.handle, PCNTSETITEMS, &items), 0);
	assert_int_equal(m.sys.ioctl(&m.sys, m.d.handle, PCNTSETURANGE, &r), 0);
	m.sys.ioctl(&m.sys, m.d.handle, PCNT5RESTART, &word);
	now += ns;
	assert_int_equal(m.sys.read(&m.sys, m.d.handle, bucket, BUCKETS * sizeof bucket[0]),
	                 BUCKETS * sizeof bucket[0]);
	for (unsigned i = 0; i < BUCKETS; i++)
		n += bucket[i];
	alpha_device_free(m.d.m);
	return n;
}

/* Half of the time in the first quarter of the text, a quarter in the second, an eighth in either
 * of the others; nothing outside. */
static void where_the_program_is(void **state)
{
	static const unsigned eighths[] = { 4, 2, 1, 1 };
	static const uint64_t times[] = {
		40000000, 10000000000
	}; /* 4000 steps, and more than there are to be */
	uint32_t bucket[BUCKETS];

	(void)state;
	for (size_t t = 0; t < COUNT(times); t++) {
		uint64_t n = samples_of(times[t], bucket);

		assert_int_equal(n, times[t] / 2 / 65536); /* all of them: 500 cycles in a
		                                              microsecond, an interrupt in 65536 */
		for (unsigned i = 0; i < PARTS; i++) {
			uint64_t part = 0;

			for (unsigned k = 0; k < PART; k++) {
				part += bucket[PART * i + k];
				assert_true(n < 1000 ||
				            bucket[PART * i + k] >
				                    n / BUCKETS / 4); /* all over each */
			}
			assert_in_range(part, n * eighths[i] / 8 - n / 25 - 1,
			                n * eighths[i] / 8 + n / 25 + 1);
		}
	}
}

UNIT(tools_emulator, cmocka_unit_test(only_one_device), cmocka_unit_test(time_passes_before_calls),
     cmocka_unit_test(no_time_passes_without_a_clock), cmocka_unit_test(emulators_by_name),
     cmocka_unit_test(where_the_program_is));
