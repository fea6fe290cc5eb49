/* SPDX-License-Identifier: MIT */
/* Sensors that are counted beside events of the kernel: levels as they are when they are read,
 * energy since the start, files that go away. */
#include "units.h"
#include "fake_session.h"

#define HWMON  "/sys/class/hwmon/hwmon0/"
#define SECOND 1000000000u

static void make_sensors(void)
{
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	fake_file(&fake, HWMON "name", "acpi");
	fake_file(&fake, HWMON "temp1_input", "41000");
	fake_file(&fake, HWMON "temp2_input", "52500");
	fake_file(&fake, HWMON "energy1_input", "7000000");
	open_context("GenuineIntel-6-55-4");
}

static double get_amount(unsigned i)
{
	return (double)counts[i].value * counts[i].scale;
}

static void levels_and_energy(void **state)
{
	(void)state;
	make_sensors();
	must_open(TEXTS("hwmon_acpi/temp1/", "hwmon_acpi::energy1", "task-clock"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += 2 * (uint64_t)SECOND;
	fake_file(&fake, HWMON "temp1_input", "43500");
	fake_file(&fake, HWMON "energy1_input", "9500000");
	read_all();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(get_amount(0) == 43.5);
	assert_int_equal(counts[1].value, 2500000);
	assert_true(counts[0].enabled >= 2 * (uint64_t)SECOND &&
	            counts[0].enabled == counts[0].running);
	assert_string_equal(is_about(0).unit, "C");
	assert_string_equal(is_about(1).unit, "J");
	assert_true(is_about(0).is_level && !is_about(1).is_level);
	/* Energy counts from the reset on, a temperature does not. */
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += SECOND;
	fake_file(&fake, HWMON "energy1_input", "9750000");
	read_all();
	assert_int_equal(counts[1].value, 250000);
	assert_true(get_amount(0) == 43.5);
	/* The enabled time does not advance while the session is stopped. */
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += 100 * (uint64_t)SECOND;
	fake_file(&fake, HWMON "energy1_input", "19750000");
	read_all();
	assert_true(counts[0].enabled < 2 * (uint64_t)SECOND);
	assert_int_equal(counts[1].value, 250000);
	/* The driver's number restarted. */
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake_file(&fake, HWMON "energy1_input", "1000");
	fake.clock_ns += SECOND;
	read_all();
	assert_int_equal(counts[1].value, 251000);
	done(NULL);
}

static void sensors_of_a_group_are_read_together(void **state)
{
	(void)state;
	make_sensors();
	must_open(TEXTS("{hwmon_acpi::temp1,hwmon_acpi::temp2}"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += SECOND;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(get_amount(0) == 41 && get_amount(1) == 52.5);
	done(NULL);
}

/* A sensor that fails, and one that is below zero, have no value and say which file it is. */
static void files_without_a_number(void **state)
{
	static const char *const texts[] = { "-5000", "", "N/A" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		make_sensors();
		must_open(TEXTS("hwmon_acpi::temp1", "hwmon_acpi::temp2"));
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		fake.clock_ns += SECOND;
		fake_file(&fake, HWMON "temp1_input", texts[i]);
		read_all();
		expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
		expect_why(0, HWMON "temp1_input");
		expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		fake_file(&fake, HWMON "temp1_input", "1000");
		read_all();
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_true(get_amount(0) == 1);
		done(NULL);
	}
}

static void a_number_without_a_file_is_not_counted(void **state)
{
	(void)state;
	make_sensors();
	/* The number of no file. */
	must_open(TEXTS("hwmon_acpi/config=77/", "task-clock"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += SECOND;
	read_all();
	assert_true(counts[0].quality >= PFM_QUALITY_NOT_COUNTED);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	done(NULL);
	/* The file went away after the context was opened. */
	make_sensors();
	assert_true(pfm_count_pmus(ctx) > 0);
	fake_remove(&fake, HWMON "temp1_input");
	must_open(TEXTS("hwmon_acpi::temp1"));
	run_session();
	assert_true(counts[0].quality >= PFM_QUALITY_NOT_COUNTED);
	assert_true(*is_about(0).why);
	done(NULL);
	/* A dry run opens nothing. */
	make_sensors();
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("hwmon_acpi::temp1"));
	assert_int_equal(is_about(0).n_kernel_events, 1);
	assert_string_equal(is_about(0).cpus, "0");
	done(NULL);
}

/* A dry run refuses what a run would refuse. */
static void a_dry_run_refuses_sensors(void **state)
{
	(void)state;
	make_sensors();
	options.flags = PFM_SESSION_DRY_RUN;
	options.cpus = "2-3";
	must_open(TEXTS("hwmon_acpi::temp1"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	done(NULL);
	make_sensors();
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("hwmon_acpi/config=77/", "hwmon_acpi::temp1"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	done(NULL);
}

static void a_forbidden_file_is_named(void **state)
{
	(void)state;
	make_sensors();
	assert_true(pfm_count_pmus(ctx) > 0);
	fake.fail = FAKE_OPEN;
	fake.fail_on = true;
	fake.fail_errno = EACCES;
	fake.fail_at = fake.uses[FAKE_OPEN] + 1;
	must_open(TEXTS("hwmon_acpi::temp1"));
	fake.fail_at = 0;
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_why(0, HWMON "temp1_input may not be read");
	done(NULL);
}

/* A file needs no counter, so it can be in the group of any event. */
static void a_sensor_joins_a_group_of_counters(void **state)
{
	(void)state;
	make_sensors();
	must_open(TEXTS("{task-clock,hwmon_acpi::temp1,page-faults}"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += SECOND;
	read_all();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(get_amount(1) == 41);
	done(NULL);
}

static void a_sensor_counts_where_its_cpu_is_requested(void **state)
{
	(void)state;
	make_sensors();
	options.cpus = "0-1";
	must_open(TEXTS("hwmon_acpi::temp1"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	pfm_close_session(session);
	session = NULL;
	options.cpus = "2-3";
	must_open(TEXTS("hwmon_acpi::temp1"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "counts only on CPU 0");
	done(NULL);
}

static void set_client(unsigned process, unsigned fd, unsigned client, unsigned busy,
                       unsigned memory)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%u", process, fd);
	snprintf(text, sizeof(text),
	         "pos:\t0\ndrm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%u\n"
	         "drm-engine-render:\t%u ns\ndrm-resident-system0:\t%u KiB\n",
	         client, busy, memory);
	fake_file(&fake, path, text);
}

/* Clients come and go; two files of one client are one. */
static void usage_of_a_gpu(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3");
	fake_file(&fake, "/sys/class/drm/renderD128/dev", "226:128");
	set_client(100, 3, 1, 5000, 8);
	set_client(100, 4, 1, 5000, 8);
	set_client(200, 7, 2, 100, 4);
	fake_file(&fake, "/proc/200/fdinfo/8", "pos:\t0\n");
	open_context("GenuineIntel-6-55-4");
	must_open(TEXTS("drm_i915/drm-engine-render/", "drm_i915::drm-resident-system0"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += SECOND;
	set_client(100, 3, 1, 6000, 16);
	set_client(100, 4, 1, 6000, 16);
	set_client(300, 5, 3, 70, 1); /* began after the session */
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1000 + 70);
	assert_int_equal(counts[1].value, (16 + 4 + 1) * 1024);
	assert_string_equal(is_about(0).unit, "ns");
	fake_remove(&fake, "/proc/100/fdinfo/3");
	fake_remove(&fake, "/proc/100/fdinfo/4");
	set_client(200, 7, 2, 150, 4);
	read_all();
	assert_int_equal(counts[0].value, 1000 + 70 + 50);
	assert_int_equal(counts[1].value, (4 + 1) * 1024);
	done(NULL);
}

UNIT(session_file_events, cmocka_unit_test(usage_of_a_gpu), cmocka_unit_test(levels_and_energy),
     cmocka_unit_test(sensors_of_a_group_are_read_together),
     cmocka_unit_test(files_without_a_number),
     cmocka_unit_test(a_number_without_a_file_is_not_counted),
     cmocka_unit_test(a_dry_run_refuses_sensors), cmocka_unit_test(a_forbidden_file_is_named),
     cmocka_unit_test(a_sensor_joins_a_group_of_counters),
     cmocka_unit_test(a_sensor_counts_where_its_cpu_is_requested));
