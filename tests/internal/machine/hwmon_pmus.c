/* SPDX-License-Identifier: MIT */
/* Sensors as PMUs: names, units and files as Linux's hwmon interface document has them. */
#include "units.h"
#include "machine_files.h"
#include "context/context.h"

#define HWMON "sys/class/hwmon/"

static char root[64];
static pfm_ctx_t *ctx;

static int make_root(void **state)
{
	(void)state;
	strcpy(root, P_tmpdir "/perfmon-hwmon-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	pfm_close_context(ctx);
	ctx = NULL;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The PMU called @name; NULL if missing. */
static const struct kernel_pmu *find_pmu(const char *name)
{
	assert_int_equal(pfm_count_pmus(ctx) > 0, 1);
	return pfmi_machine_find_kernel_pmu(ctx->kernel,
	                                    (struct slice){ name, (uint32_t)strlen(name) });
}

static void expect_event(const char *text, const char *path, const char *unit, double scale,
                         bool is_level)
{
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t enc = PFM_INIT(enc);
	const struct kernel_pmu *pmu;
	char name[64];
	unsigned event;
	int index;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	pmu = find_pmu(name);
	assert_non_null(pmu);
	assert_int_equal(pfm_find_event_by_text(ctx, text, &index, &event, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(ctx, index, event, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.unit, unit);
	assert_true(info.scale > scale * 0.999999 && info.scale < scale * 1.000001);
	assert_int_equal((table_get_row(pmu->table, event)->flags & ROW_SNAPSHOT) != 0, is_level);
	assert_int_equal(pfm_encode_event(ctx, text, 0, &enc, NULL), PFMLIB_SUCCESS);
	assert_int_equal(enc.attr.type, pmu->instance_types[0]);
	assert_true(enc.attr.config < pmu->n_files);
	assert_string_equal(pmu->files[enc.attr.config], path);
}

static void each_kind_of_sensor_is_an_event(void **state)
{
	static const char *const files[] = {
		"temp1_input",    "temp1_max",        "temp1_label",    "fan2_input",
		"power1_average", "power2_input",     "power2_average", "energy1_input",
		"in0_input",      "curr1_input",      "freq1_input",    "humidity1_input",
		"pwm1",           "temp1_crit_alarm", "in0_beep"
	};

	(void)state;
	put(root, "sys/devices/system/cpu/online", "2-3");
	put(root, HWMON "hwmon4/name", "Core-Temp\n");
	for (size_t i = 0; i < COUNT(files); i++) {
		char path[96];

		snprintf(path, sizeof(path), HWMON "hwmon4/%s", files[i]);
		put(root, path, i == 2 ? "Package id 0\n" : "1\n");
	}
	ctx = open_machine("GenuineIntel-6-55-4", root);
	expect_event("hwmon_core_temp::temp1", "/" HWMON "hwmon4/temp1_input", "C", 0.001, true);
	expect_event("hwmon_core_temp::temp_package_id_0", "/" HWMON "hwmon4/temp1_input", "C",
	             0.001, true);
	expect_event("hwmon_core_temp::fan2", "/" HWMON "hwmon4/fan2_input", "rpm", 1, true);
	expect_event("hwmon_core_temp::power1", "/" HWMON "hwmon4/power1_average", "W", 1e-6, true);
	expect_event("hwmon_core_temp::power2", "/" HWMON "hwmon4/power2_input", "W", 1e-6, true);
	expect_event("hwmon_core_temp::energy1", "/" HWMON "hwmon4/energy1_input", "J", 1e-6,
	             false);
	expect_event("hwmon_core_temp::in0", "/" HWMON "hwmon4/in0_input", "V", 0.001, true);
	expect_event("hwmon_core_temp::curr1", "/" HWMON "hwmon4/curr1_input", "A", 0.001, true);
	expect_event("hwmon_core_temp::freq1", "/" HWMON "hwmon4/freq1_input", "Hz", 1, true);
	expect_event("hwmon_core_temp::humidity1", "/" HWMON "hwmon4/humidity1_input", "%", 0.001,
	             true);
	assert_int_equal(find_pmu("hwmon_core_temp")->n_files, 9);
	assert_string_equal(find_pmu("hwmon_core_temp")->cpu_list, "2");
}

/* Devices without a name or a sensor are left out; the second of a name has its folder's. */
static void the_second_device_of_a_name_has_that_of_its_folder(void **state)
{
	(void)state;
	put(root, HWMON "hwmon0/name", "nvme\n");
	put(root, HWMON "hwmon0/temp1_input", "30850\n");
	put(root, HWMON "hwmon1/temp1_input", "1\n");
	put(root, HWMON "hwmon2/name", "empty\n");
	put(root, HWMON "hwmon2/temp1_max", "1\n");
	put(root, HWMON "hwmon3/name", "nvme\n");
	put(root, HWMON "hwmon3/temp1_input", "31850\n");
	ctx = open_machine("GenuineIntel-6-55-4", root);
	expect_event("hwmon_nvme::temp1", "/" HWMON "hwmon0/temp1_input", "C", 0.001, true);
	expect_event("hwmon_nvme_hwmon3::temp1", "/" HWMON "hwmon3/temp1_input", "C", 0.001, true);
	assert_null(find_pmu("hwmon_empty"));
	assert_int_equal(ctx->kernel->n_pmus, 2);
}

UNIT(machine_hwmon_pmus,
     cmocka_unit_test_setup_teardown(each_kind_of_sensor_is_an_event, make_root, remove_root),
     cmocka_unit_test_setup_teardown(the_second_device_of_a_name_has_that_of_its_folder, make_root,
                                     remove_root));
