/* SPDX-License-Identifier: MIT */
/* pfm_initialize() of libpfm.so.4 reads environment variables, the machine's PMUs and paths below
 * the root. */
#include "libpfm4_internal.h"
#include <ftw.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>

/* ---- the machine of all units ---------------------------------------------------------------- */

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *l4_folder(void)
{
	if (!*folder) {
		snprintf(folder, sizeof(folder), P_tmpdir "/perfmon-libpfm4-XXXXXX");
		if (!mkdtemp(folder))
			abort();
		atexit(remove_folder);
	}
	return folder;
}

/* Before main(): nothing has read the environment. */
__attribute__((constructor)) static void make_machine(void)
{
	l4_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
	l4_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	l4_file("/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms", "4\n");
	l4_begin("GenuineIntel-6-55-4", NULL);
}

void l4_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", l4_folder(), path);
	for (char *s = full + strlen(folder) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	if (!text) {
		unlink(full);
		return;
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

void l4_begin(const char *cpuid, const char *const *variables)
{
	static const char *const known[] = { "LIBPFM_ENCODE_INACTIVE", "LIBPFM_VERBOSE",
		                             "LIBPFM_DEBUG",           "LIBPFM_DEBUG_STDOUT",
		                             "LIBPFM_FORCE_PMU",       "LIBPFM_DISABLED_PMUS",
		                             "LIBPFM_PROC_CPUINFO" };

	for (size_t i = 0; i < COUNT(known); i++)
		unsetenv(known[i]);
	setenv("PERFMON_SYSFS", l4_folder(), 1);
	setenv("PERFMON_CPUID", cpuid, 1);
	setenv("PERFMON_LIBPFM4_CORRECT", "1", 1);
	for (; variables && *variables; variables += 2)
		setenv(variables[0], variables[1], 1);
	l4_terminate();
	l4_initialize();
	if (!l4_is_ready())
		abort();
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void paths_below_the_root(void **state)
{
	char path[L4_PATH_SIZE], want[L4_PATH_SIZE], name[L4_PATH_SIZE];
	size_t room = L4_PATH_SIZE - strlen(folder);

	(void)state;
	assert_true(l4_format_path(path, "/a/%s", "b"));
	snprintf(want, sizeof(want), "%.*s/a/b", (int)strlen(folder), folder);
	assert_string_equal(path, want);
	memset(name, 'x', sizeof(name));
	name[room - 2] = '\0';
	l4_format_path(path, "/%s", name); /* to the last byte, with its end */
	assert_int_equal(strlen(path), L4_PATH_SIZE - 1);
	name[room - 2] = 'x';
	name[room - 1] = '\0';
	l4_format_path(path, "/%s", name);
	assert_string_equal(path, "");
	setenv("PERFMON_SYSFS", "/elsewhere", 1); /* the first one stays */
	l4_terminate();
	l4_initialize();
	l4_format_path(path, "/a/b");
	assert_string_equal(path, want);
	l4_end_case();
}

/* Active PMUs of one processor, and whether PMUs of others can be named there. */
static void pmus_of_one_processor_are_active(void **state)
{
	static const char *const inactive[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };
	uint32_t skx = l4_number_of("skx"), zen = l4_number_of("amd64_fam17h_zen1");

	(void)state;
	l4_begin("GenuineIntel-6-55-4", NULL);
	assert_true(l4_is_pmu_active(skx) && l4_is_pmu_enabled(skx) && l4_can_name_pmu(skx));
	assert_true(!l4_is_pmu_active(zen) && l4_is_pmu_enabled(zen) && !l4_can_name_pmu(zen));
	assert_int_equal(l4_get_core_levels(), l4_get_pmu(skx)->levels);
	l4_begin("GenuineIntel-6-55-4", inactive);
	assert_true(l4_can_name_pmu(zen) && !l4_is_pmu_active(zen));
	l4_begin("AuthenticAMD-23-1-1", NULL);
	assert_true(l4_is_pmu_active(zen) && !l4_is_pmu_active(skx));
	l4_end_case();
	assert_true(l4_is_pmu_active(skx) && !l4_is_pmu_active(zen));
}

/* An item of the list disables every PMU whose name contains it. An item that is longer than any
 * name has no effect. */
static void an_item_disables_each_pmu_whose_name_contains_it(void **state)
{
	static const char *const lists[][2] = {
		{ "skx", "y" },
		{ "none,skx", "y" },
		{ ",,kx,", "y" },
		{ "skxy", "" },
		{ "", "" },
		{ "x123456789012345678901234567890123456789012345678901234567890123456789,skx",
		  "y" },
	};
	uint32_t skx = l4_number_of("skx"), perf = l4_number_of("perf");

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		const char *const variables[] = { "LIBPFM_DISABLED_PMUS", lists[i][0],
			                          "LIBPFM_ENCODE_INACTIVE", "1", NULL };

		l4_begin("GenuineIntel-6-55-4", variables);
		assert_int_equal(!l4_is_pmu_enabled(skx), *lists[i][1] == 'y');
		assert_int_equal(!l4_is_pmu_active(skx), *lists[i][1] == 'y');
		assert_true(l4_is_pmu_enabled(perf));
	}
	l4_end_case();
}

/* LIBPFM_FORCE_PMU activates the first PMU whose name begins with its value, and disables all PMUs
 * after it. Core levels are 0 then, so the kernel's own PMU uses its own levels. */
static void a_forced_pmu_is_active_and_those_after_it_are_not(void **state)
{
	static const char *const names[] = { "amd64_k8_revb", "AMD64_K8_REVB,more",
		                             "amd64_k8_rev" };
	static const char *const none[] = { "LIBPFM_FORCE_PMU", "nosuchpmu", NULL };
	uint32_t k8 = l4_number_of("amd64_k8_revb"), next = l4_number_of("amd64_k8_revc"),
		 before = l4_number_of("amd64_k7");
	unsigned version, missing, general, fixed;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *const variables[] = { "LIBPFM_FORCE_PMU", names[i], NULL };

		l4_begin("GenuineIntel-6-55-4", variables);
		assert_true(l4_is_pmu_active(k8) && !l4_is_pmu_active(before) &&
		            !l4_is_pmu_active(l4_number_of("skx")));
		assert_true(l4_is_pmu_enabled(before) && l4_is_pmu_enabled(k8) &&
		            !l4_is_pmu_enabled(k8 + 1) && !l4_is_pmu_enabled(next));
		assert_int_equal(l4_get_core_levels(), 0);
		l4_get_arch_pmu(&version, &missing, &general, &fixed);
		assert_true(version == 3 && missing == 0);
	}
	l4_begin("GenuineIntel-6-55-4", none);
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++)
		assert_false(l4_is_pmu_active(i));
	l4_end_case();
}

/* "1" to "9" is on, everything else is off. */
static void a_switch_is_on_from_1_to_9(void **state)
{
	static const char *const values[] = { "1", "9x", "0", "", "yes", "01", ":", "/" };

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		const char *const variables[] = { "PERFMON_LIBPFM4_CORRECT", values[i], NULL };

		l4_begin("GenuineIntel-6-55-4", variables);
		assert_int_equal(l4_is_exact_mode(), i >= 2);
	}
	unsetenv("PERFMON_LIBPFM4_CORRECT");
	l4_terminate();
	l4_initialize();
	assert_true(l4_is_exact_mode()); /* libpfm4's answers are the default */
	l4_end_case();
}

/* The kernel's perf interface is present if a PMU of the kernel multiplexes. */
static void interface_of_the_kernel(void **state)
{
	const char *turns = "/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms",
		   *paranoid = "/proc/sys/kernel/perf_event_paranoid";

	(void)state;
	l4_end_case();
	assert_true(l4_is_os_active());
	l4_file(turns, NULL);
	assert_true(l4_is_os_active()); /* asked once */
	l4_end_case();
	assert_false(l4_is_os_active());
	l4_file(turns, "4\n");
	l4_file(paranoid, NULL);
	l4_end_case();
	assert_false(l4_is_os_active());
	l4_file(paranoid, "2\n");
	l4_end_case();
	assert_true(l4_is_os_active());
}

/* Boxes of newer processors are active if the kernel exports their devices, or if its perf
 * interface is missing. */
static void boxes_with_devices(void **state)
{
	const char *device = "/sys/bus/event_source/devices/uncore_cha_0/type";
	const char *turns = "/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms";
	uint32_t cha = l4_number_of("skx_unc_cha0");
	char path[128];

	(void)state;
	assert_true(l4_get_pmu(cha)->needs_device);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
	         l4_get_text(l4_get_pmu(cha)->kernel_event_names));
	l4_end_case();
	assert_false(l4_is_pmu_active(cha));
	l4_file(path, "7\n");
	l4_end_case();
	assert_true(l4_is_pmu_active(cha));
	l4_file(path, NULL);
	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s", folder,
	         l4_get_text(l4_get_pmu(cha)->kernel_event_names));
	rmdir(path);
	l4_file(turns, NULL);
	l4_end_case();
	assert_true(l4_is_pmu_active(cha));
	l4_file(turns, "4\n");
	l4_file(device, NULL);
	l4_end_case();
}

static void start_and_stop(void **state)
{
	(void)state;
	assert_true(l4_is_ready());
	l4_terminate();
	assert_false(l4_is_ready());
	l4_initialize();
	setenv("PERFMON_LIBPFM4_CORRECT", "0", 1);
	l4_initialize(); /* started already: nothing is read */
	assert_false(l4_is_exact_mode());
	l4_end_case();
}

UNIT(compat_libpfm4_state, cmocka_unit_test(paths_below_the_root),
     cmocka_unit_test(pmus_of_one_processor_are_active),
     cmocka_unit_test(an_item_disables_each_pmu_whose_name_contains_it),
     cmocka_unit_test(a_forced_pmu_is_active_and_those_after_it_are_not),
     cmocka_unit_test(a_switch_is_on_from_1_to_9), cmocka_unit_test(interface_of_the_kernel),
     cmocka_unit_test(boxes_with_devices), cmocka_unit_test(start_and_stop));
