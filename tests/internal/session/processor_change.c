/* SPDX-License-Identifier: MIT */
/* Virtual machines that move to a host with another processor during a count. */
#include "units.h"
#include "fake_session.h"

#define SECOND 1000000000u
#define MIDR   "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"

static void set_x86(unsigned model)
{
	char text[160];

	snprintf(text, sizeof(text),
	         "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: %u\nstepping\t: 4\n",
	         model);
	fake_file(&fake, "/proc/cpuinfo", text);
}

static uint32_t cpuid_model;

/* CPUID leaves 0 and 1 of family 6. */
static bool answer_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)sys, (void)subleaf;
	if (leaf == 0) {
		regs[0] = 0x16;
		memcpy(&regs[1], "Genu", 4);
		memcpy(&regs[3], "ineI", 4);
		memcpy(&regs[2], "ntel", 4);
	} else {
		regs[0] = (cpuid_model >> 4) << 16 | 6 << 8 | (cpuid_model & 0xf) << 4 | 4;
		regs[1] = regs[2] = regs[3] = 0;
	}
	return leaf < 2;
}

/* Opens a session with one event of the processor and one software event, which counts. */
static void open_on_host(void)
{
	open_context(NULL);
	must_open(TEXTS("hardware::cycles", "task-clock"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
}

static void expect_moved(bool moved)
{
	read_all();
	expect_count(0, moved ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT,
	             moved ? PFM_CAUSE_OTHER_CPU : PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(counts[0].value > 0);
}

static void another_model_is_noticed_after_a_second(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	set_x86(0x8f);
	open_on_host();
	expect_moved(false);
	fake.clock_ns += 2 * (uint64_t)SECOND;
	expect_moved(false);
	set_x86(0xcf);
	fake.clock_ns += SECOND - 1; /* not looked at yet */
	expect_moved(false);
	fake.clock_ns += 1;
	expect_moved(true);
	expect_why(0, "chosen for GenuineIntel-6-8F-4");
	expect_why(0, "open the session anew");
	/* The count stays partial, because the time of the move is unknown. */
	set_x86(0x8f);
	fake.clock_ns += SECOND;
	expect_moved(true);
	end_session();
	done(NULL);
}

static void cpuid_tells_of_another_processor(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake.sys.read_cpuid = answer_cpuid;
	cpuid_model = 0x55;
	open_on_host();
	fake.clock_ns += SECOND;
	expect_moved(false);
	cpuid_model = 0x6a;
	fake.clock_ns += SECOND;
	expect_moved(true);
	/* The vendor's name is the bytes of three registers, in the order of x86. */
	expect_why(0,
	           __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "GenuineIntel-6-55-4" : "-6-55-4");
	end_session();
	done(NULL);
}

static void midr_tells_of_another_processor(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	fake_file(&fake, MIDR, "0x00000000410fd4f0");
	open_on_host();
	fake.clock_ns += SECOND;
	expect_moved(false);
	/* CPU 0 is off line: the files describe another CPU, maybe of another type. */
	fake_file(&fake, "/sys/devices/system/cpu/online", "1-3");
	fake_file(&fake, MIDR, "0x00000000410fd840");
	fake.clock_ns += SECOND;
	expect_moved(false);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	fake.clock_ns += SECOND;
	expect_moved(true);
	expect_why(0, "0x00000000410fd4f0");
	end_session();
	done(NULL);
}

/* The caller chose the processor, so a change of the machine does not matter. */
static void a_chosen_processor_does_not_change(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	set_x86(0x8f);
	open_context("GenuineIntel-6-55-4");
	must_open(TEXTS("hardware::cycles", "task-clock"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += 2 * (uint64_t)SECOND;
	expect_moved(false);
	end_session();
	done(NULL);
}

/* A difference of two readings is as partial as the second. */
static void a_difference_across_a_change_is_partial(void **state)
{
	pfm_count_t before = PFM_INIT(before), d = PFM_INIT(d);

	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	set_x86(0x8f);
	open_on_host();
	read_all();
	before = counts[0];
	set_x86(0xcf);
	fake.clock_ns += SECOND;
	read_all();
	assert_int_equal(pfm_subtract_counts(&before, &counts[0], 0, &d), PFMLIB_SUCCESS);
	assert_true(d.quality == PFM_QUALITY_PARTIAL || d.quality == PFM_QUALITY_NOT_COUNTED);
	end_session();
	done(NULL);
}

UNIT(session_processor_change, cmocka_unit_test(another_model_is_noticed_after_a_second),
     cmocka_unit_test(cpuid_tells_of_another_processor),
     cmocka_unit_test(midr_tells_of_another_processor),
     cmocka_unit_test(a_chosen_processor_does_not_change),
     cmocka_unit_test(a_difference_across_a_change_is_partial));
