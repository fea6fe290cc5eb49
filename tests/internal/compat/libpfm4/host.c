/* SPDX-License-Identifier: MIT */
/* Identification of the machine from identity numbers and from files of every kind of processor;
 * and PMUs of the kernel. */
#include "libpfm4_internal.h"

static struct l4_host_identity of_id(const char *id)
{
	struct l4_host_identity m;

	l4_identify_host(&m, id, "");
	return m;
}

/* Identifies the machine from the text of a file like /proc/cpuinfo. */
static struct l4_host_identity of_file(const char *text)
{
	struct l4_host_identity m;
	char path[512];

	l4_file("/proc/other", text);
	snprintf(path, sizeof(path), "%s/proc/other", l4_folder());
	l4_identify_host(&m, "", path);
	return m;
}

static bool is(const struct l4_host_identity *m, const char *pmu)
{
	return l4_is_pmu_for_host(m, l4_get_pmu(l4_number_of(pmu)));
}

static void identities_name_vendor_family_model_and_stepping(void **state)
{
	static const struct {
		const char *id;
		int vendor;
		unsigned family, model, stepping;
	} rows[] = {
		{ "GenuineIntel-6-55-4", L4_HOST_INTEL, 6, 0x55, 4 },
		{ "GenuineIntel-6-55-B", L4_HOST_INTEL, 6, 0x55, 11 },
		{ "GenuineIntel-6-1A", L4_HOST_INTEL, 6, 0x1a, 0 },
		{ "GenuineIntel-15", L4_HOST_INTEL, 15, 0, 0 },
		{ "AuthenticAMD-25-61-2", L4_HOST_AMD, 25, 0x61, 2 },
		{ "HygonGenuine-24-1-1", L4_HOST_NONE, 0, 0, 0 },
		{ "004e1200", L4_HOST_POWER, 0, 0x4e, 0 },
		{ "0x004e1200", L4_HOST_POWER, 0, 0x4e, 0 },
		{ "nonsense", L4_HOST_NONE, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct l4_host_identity m = of_id(rows[i].id);

		assert_int_equal(m.vendor, rows[i].vendor);
		if (m.vendor != L4_HOST_NONE)
			assert_true(m.family == rows[i].family && m.model == rows[i].model &&
			            m.stepping == rows[i].stepping);
	}
}

static void identities_of_arm(void **state)
{
	struct l4_host_identity m = of_id("00000000410fd0c1"), other = of_id("0x00000000410fd080");

	(void)state;
	assert_true(m.vendor == L4_HOST_ARM && m.n_arm_core_ids == 1 &&
	            m.arm_core_ids[0] == (0x41 << 16 | 0xd0c));
	assert_true(is(&m, "arm_n1") && !is(&m, "arm_ac72"));
	assert_true(is(&other, "arm_ac72") && !is(&other, "arm_n1"));
}

/* Revisions of AMD, at both ends of every range of models. */
static void revisions_of_amd(void **state)
{
	static const struct {
		const char *id, *pmu;
	} rows[] = {
		{ "AuthenticAMD-6-1-0", "amd64_k7" },
		{ "AuthenticAMD-15-4-0", "amd64_k8_revb" },
		{ "AuthenticAMD-15-4-1", "amd64_k8_revc" },
		{ "AuthenticAMD-15-5-1", "amd64_k8_revb" },
		{ "AuthenticAMD-15-5-2", "amd64_k8_revc" },
		{ "AuthenticAMD-15-1f-0", "amd64_k8_revd" },
		{ "AuthenticAMD-15-20-0", "amd64_k8_reve" },
		{ "AuthenticAMD-15-3f-0", "amd64_k8_reve" },
		{ "AuthenticAMD-15-40-0", "amd64_k8_revf" },
		{ "AuthenticAMD-15-5f-0", "amd64_k8_revf" },
		{ "AuthenticAMD-15-60-0", "amd64_k8_revg" },
		{ "AuthenticAMD-15-7f-0", "amd64_k8_revg" },
		{ "AuthenticAMD-15-8f-0", "amd64_k8_revg" },
		{ "AuthenticAMD-15-90-0", "amd64_k8_revb" },
		{ "AuthenticAMD-15-c0-0", "amd64_k8_revf" },
		{ "AuthenticAMD-16-2-0", "amd64_fam10h_barcelona" },
		{ "AuthenticAMD-16-4-0", "amd64_fam10h_shanghai" },
		{ "AuthenticAMD-16-6-0", "amd64_fam10h_shanghai" },
		{ "AuthenticAMD-16-7-0", "amd64_fam10h_barcelona" },
		{ "AuthenticAMD-16-8-0", "amd64_fam10h_istanbul" },
		{ "AuthenticAMD-16-9-0", "amd64_fam10h_istanbul" },
		{ "AuthenticAMD-16-A-0", "amd64_fam10h_barcelona" },
		{ "AuthenticAMD-17-3-0", "amd64_fam11h_turion" },
		{ "AuthenticAMD-18-1-0", "amd64_fam12h_llano" },
		{ "AuthenticAMD-20-1-0", "amd64_fam14h_bobcat" },
		{ "AuthenticAMD-21-1-0", "amd64_fam15h_interlagos" },
		{ "AuthenticAMD-22-0-0", "amd64_fam16h" },
		{ "AuthenticAMD-23-2f-0", "amd64_fam17h_zen1" },
		{ "AuthenticAMD-23-30-0", "amd64_fam17h_zen2" },
		{ "AuthenticAMD-25-f-0", "amd64_fam19h_zen3" },
		{ "AuthenticAMD-25-10-0", "amd64_fam19h_zen4" },
		{ "AuthenticAMD-25-1f-0", "amd64_fam19h_zen4" },
		{ "AuthenticAMD-25-20-0", "amd64_fam19h_zen3" },
		{ "AuthenticAMD-25-5f-0", "amd64_fam19h_zen3" },
		{ "AuthenticAMD-25-60-0", "amd64_fam19h_zen4" },
		{ "AuthenticAMD-26-4f-0", "amd64_fam1ah_zen5" },
		{ "AuthenticAMD-26-60-0", "amd64_fam1ah_zen5" },
		{ "AuthenticAMD-26-7f-0", "amd64_fam1ah_zen5" },
	};
	const struct l4_host_identity none = of_id("AuthenticAMD-19-1-0"),
				      later[] = { of_id("AuthenticAMD-26-50-0"),
		                                  of_id("AuthenticAMD-26-5f-0"),
		                                  of_id("AuthenticAMD-26-80-0") };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct l4_host_identity m = of_id(rows[i].id);

		if (m.amd_pmu_id != l4_get_pmu(l4_number_of(rows[i].pmu))->id ||
		    !is(&m, rows[i].pmu))
			fail_msg("%s is %u, no %s", rows[i].id, m.amd_pmu_id, rows[i].pmu);
	}
	assert_int_equal(none.amd_pmu_id, 0);
	for (size_t i = 0; i < COUNT(later); i++)
		assert_int_equal(later[i].amd_pmu_id, 698);
}

/* One model, two processors; a family with two kinds. */
static void processors_of_intel(void **state)
{
	static const struct {
		const char *id, *is, *is_not;
	} rows[] = {
		{ "GenuineIntel-6-55-4", "skx", "clx" },
		{ "GenuineIntel-6-55-5", "clx", "skx" },
		{ "GenuineIntel-6-8F-6", "spr", "icx" },
		{ "GenuineIntel-15-2-1", "netburst", "netburst_p" },
		{ "GenuineIntel-15-3-1", "netburst_p", "netburst" },
		{ "GenuineIntel-15-6-1", "netburst_p", "netburst" },
		{ "GenuineIntel-15-5-1", "netburst", "skx" },
		{ "AuthenticAMD-6-55-4", "amd64_k7", "skx" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct l4_host_identity m = of_id(rows[i].id);

		if (!is(&m, rows[i].is) || is(&m, rows[i].is_not))
			fail_msg("%s", rows[i].id);
	}
}

static void files_of_processors(void **state)
{
	struct l4_host_identity m = of_file("vendor_id\t: GenuineIntel\ncpu family\t: "
	                                    "6\nmodel\t\t: 85\nmodel name\t: 7\nstepping\t: 4\n");

	(void)state;
	assert_true(m.vendor == L4_HOST_INTEL && m.family == 6 && m.model == 85 &&
	            m.stepping == 4 && is(&m, "skx"));
	m = of_file("vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 97\n");
	assert_true(m.vendor == L4_HOST_AMD && is(&m, "amd64_fam19h_zen4"));
	m = of_file("cpu\t: POWER9\nrevision\t: 2.2 (pvr 004e 1202)\n");
	assert_true(m.vendor == L4_HOST_POWER && m.model == 0x4e && is(&m, "power9") &&
	            !is(&m, "power8"));
	m = of_file("type\t: sun4u\npmu\t: ultra3\n");
	assert_true(m.vendor == L4_HOST_CPUINFO && is(&m, "ultra3") && !is(&m, "ultra3i"));
	m = of_file("cpu model\t: MIPS 74K V4.12\n");
	assert_true(m.vendor == L4_HOST_CPUINFO && is(&m, "mips_74k") && !is(&m, "ultra3"));
	m = of_file("nothing of ours: 6\nvendor_idx: GenuineIntel\n");
	assert_int_equal(m.vendor, L4_HOST_NONE);
	m = of_file("");
	assert_int_equal(m.vendor, L4_HOST_NONE);
}

#define CORE(IMPLEMENTER, PART)                                                                    \
	"CPU implementer\t: " IMPLEMENTER "\nCPU architecture: 8\nCPU part\t: " PART "\n\n"

/* Each kind of core is listed once, up to eight kinds. A part line is ignored unless the
 * implementer and architecture lines precede it. */
static void files_of_arm(void **state)
{
	struct l4_host_identity m =
		of_file(CORE("0x41", "0xd03") CORE("0x41", "0xd03") CORE("0x41", "0xd08"));

	(void)state;
	assert_true(m.vendor == L4_HOST_ARM && m.n_arm_core_ids == 2 &&
	            m.arm_core_ids[0] == 0x410d03 && m.arm_core_ids[1] == 0x410d08);
	assert_true(is(&m, "arm_ac53") && is(&m, "arm_ac72") && !is(&m, "arm_n1"));
	m = of_file(CORE("1", "1") CORE("1", "2") CORE("1", "3") CORE("1", "4") CORE("1", "5")
	                    CORE("1", "6") CORE("1", "7") CORE("1", "8") CORE("1", "9"));
	assert_true(m.n_arm_core_ids == 8 && m.arm_core_ids[7] == 0x10008);
	m = of_file("CPU implementer : 0x41\nCPU part : 0xd03\n");
	assert_int_equal(m.n_arm_core_ids, 0);
	m = of_file("CPU architecture: 8\nCPU part : 0xd03\n");
	assert_int_equal(m.n_arm_core_ids, 0);
}

/* Which events that depend on the machine are there: of IBM Z by its type, of energy by the
 * model. */
static void lists_of_machines(void **state)
{
	static const unsigned z[][2] = {
		{ 2097, 0 }, { 2098, 0 }, { 2817, 1 }, { 2828, 2 }, { 2965, 3 }, { 3907, 4 },
		{ 8561, 5 }, { 3931, 6 }, { 3932, 6 }, { 9175, 7 }, { 9176, 7 }, { 1, 6 },
	};
	static const struct {
		const char *id;
		unsigned list;
	} rapl[] = {
		{ "GenuineIntel-6-2D-7", 1 }, { "GenuineIntel-6-3E-4", 1 },
		{ "GenuineIntel-6-4E-3", 2 }, { "GenuineIntel-6-A6-0", 2 },
		{ "GenuineIntel-6-3F-2", 3 }, { "GenuineIntel-6-8F-6", 3 },
		{ "GenuineIntel-6-2A-7", 0 }, { "GenuineIntel-15-2D-7", 0 },
		{ "AuthenticAMD-23-1-1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(z); i++) {
		char text[64];
		struct l4_host_identity m;

		snprintf(text, sizeof(text), "processor 0: version = FF,  machine = %u\n", z[i][0]);
		m = of_file(text);
		assert_int_equal(m.event_lists & 0xff, 1u << z[i][1]);
		snprintf(text, sizeof(text), "machine : %u\n", z[i][0]);
		m = of_file(text);
		assert_int_equal(m.event_lists & 0xff, 1u << z[i][1]);
	}
	for (size_t i = 0; i < COUNT(rapl); i++)
		assert_int_equal(of_id(rapl[i].id).event_lists >> 8, 1u << rapl[i].list);
	assert_int_equal(of_id("GenuineIntel-6-2A-7").event_lists, L4_DEFAULT_EVENT_LISTS);
}

/* The first of a PMU's names that the kernel has. */
static void the_first_name_that_the_kernel_has_is_the_device(void **state)
{
	struct l4_pmu u = *l4_get_pmu(l4_number_of("arm_n1"));
	int type = 77;

	(void)state;
	u.kernel_event_names = u.name;
	assert_false(l4_find_device(&u, &type));
	assert_int_equal(type, 77);
	l4_file("/sys/bus/event_source/devices/arm_n1/type", "");
	assert_false(l4_find_device(&u, &type));
	l4_file("/sys/bus/event_source/devices/arm_n1/type", "-3\n");
	assert_true(l4_find_device(&u, &type) && type == -3);
	l4_file("/sys/bus/event_source/devices/arm_n1/type", "123456\n");
	assert_true(l4_find_device(&u, &type) && type == 123456);
	l4_file("/sys/bus/event_source/devices/arm_n1/type", NULL);
	u.kernel_event_names = 0;
	assert_false(l4_find_device(&u, &type));
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++) { /* one that has several names */
		const char *names = l4_get_text(l4_get_pmu(i)->kernel_event_names),
			   *last = strrchr(names, ',');
		char path[128];

		if (!last || strlen(last) > 60)
			continue;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", last + 1);
		l4_file(path, "9\n");
		assert_true(l4_find_device(l4_get_pmu(i), &type) && type == 9);
		l4_file(path, NULL);
		assert_false(l4_find_device(l4_get_pmu(i), &type));
		return;
	}
}

UNIT(compat_libpfm4_host, cmocka_unit_test(identities_name_vendor_family_model_and_stepping),
     cmocka_unit_test(identities_of_arm), cmocka_unit_test(revisions_of_amd),
     cmocka_unit_test(processors_of_intel), cmocka_unit_test(files_of_processors),
     cmocka_unit_test(files_of_arm), cmocka_unit_test(lists_of_machines),
     cmocka_unit_test(the_first_name_that_the_kernel_has_is_the_device));
