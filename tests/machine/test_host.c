/* SPDX-License-Identifier: MIT */
/* Identification of a processor by CPUID, by files and by texts. */
#include "rows.h"
#include <errno.h>
#include "machine/machine.h"
#include "table/table.h"

/* ---- a machine made of a few files and CPUID leaves ------------------------------------------ */

struct machine {
	const char *paths[8], *texts[8];
	struct {
		uint32_t leaf, regs[4];
	} leaves[5];
	unsigned n_leaves, asked;
};

static int machine_open(const struct sys *sys, const char *path, int flags)
{
	const struct machine *m = sys->arg;

	(void)flags;
	for (int i = 0; i < 8 && m->paths[i]; i++)
		if (strcmp(m->paths[i], path) == 0)
			return i * 2;
	return -ENOENT;
}

/* Descriptors are even until they have been read. */
static size_t done[16];

static long machine_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct machine *m = sys->arg;
	const char *text = m->texts[fd / 2] + done[fd];
	size_t len = strlen(text);

	if (len > n)
		len = n;
	memcpy(buf, text, len);
	done[fd] += len;
	return (long)len;
}

static int machine_close(const struct sys *sys, int fd)
{
	(void)sys;
	done[fd] = 0;
	return 0;
}

static bool machine_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	struct machine *m = sys->arg;

	(void)subleaf;
	m->asked++;
	for (unsigned i = 0; i < m->n_leaves; i++)
		if (m->leaves[i].leaf == leaf) {
			memcpy(regs, m->leaves[i].regs, sizeof(m->leaves[i].regs));
			return true;
		}
	return false;
}

static struct sys sys_of(struct machine *m)
{
	return (struct sys){ .open = machine_open,
		             .read = machine_read,
		             .close = machine_close,
		             .read_cpuid = machine_cpuid,
		             .arg = m };
}

static void describe(struct machine *m, struct host *h)
{
	struct sys sys = sys_of(m);

	pfmi_machine_identify_host(&sys, NULL, h);
	pfmi_machine_read_core_types(&sys, NULL, h);
}

#define INTEL 0x756e6547, 0x6c65746e, 0x49656e69 /* EBX, ECX, EDX of leaf 0 */
#define AMD   0x68747541, 0x444d4163, 0x69746e65

static void cpuid_of_a_core_duo(void **state)
{
	struct machine m = { .n_leaves = 3,
		             .leaves = { { 0, { 10, INTEL } },
		                         { 1, { 0x6e8, 0, 0, 0 } },
		                         { 0xa, { 0x07280201, 0, 0, 0 } } } };
	struct sys sys = sys_of(&m);
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_true(h.is_known);
	assert_int_equal(m.asked, 2);
	assert_string_equal(h.arch, "x86");
	assert_string_equal(h.id_text, "GenuineIntel-6-E-8");
	assert_int_equal(h.family, 6);
	assert_int_equal(h.model, 14);
	assert_false(h.has_hypervisor);
	assert_int_equal(h.pmu_version, 0);
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.pmu_version, 1);
	assert_int_equal(h.n_general, 2);
	assert_int_equal(h.width_general, 40);
	assert_int_equal(h.n_fixed, 0);
	assert_int_equal(h.missing_arch_events, 0xffffff80);
	/* A bit of each register that there is. */
	m.leaves[2].regs[0] = 0x20280201;
	m.leaves[2].regs[1] = 0x80000001;
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.missing_arch_events, 0x80000001);
	m.leaves[2].regs[0] = 0x1f280201;
	m.leaves[2].regs[1] = 1;
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.missing_arch_events, 0x80000001);
}

/* What CPUID says is asked of known x86 processors alone. */
static void details_are_of_known_x86_processors(void **state)
{
	static const struct host hosts[] = { { .is_known = true, .arch = "x86" },
		                             { .is_known = true, .arch = "ia64" },
		                             { .arch = "x86" } };
	struct machine m = { .n_leaves = 3,
		             .leaves = { { 0, { 10, INTEL } },
		                         { 1, { 0x6e8, 0, 0, 0 } },
		                         { 0xa, { 0x07280201, 0, 0, 0 } } } };
	struct sys sys = sys_of(&m);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct host h = hosts[i];

		snprintf(h.vendor, sizeof(h.vendor), "GenuineIntel");
		pfmi_machine_read_host_details(&sys, &h);
		assert_int_equal(h.pmu_version, i == 0);
	}
}

static void cpuid_with_extended_numbers(void **state)
{
	struct machine skx = { .n_leaves = 2,
		               .leaves = { { 0, { 22, INTEL } },
		                           { 1, { 0x50654, 0, 0x80000000, 0 } } } };
	struct machine zen4 = { .n_leaves = 2,
		                .leaves = { { 0, { 16, AMD } }, { 1, { 0xa60f12, 0, 0, 0 } } } };
	struct machine nova = { .n_leaves = 2,
		                .leaves = { { 0, { 40, INTEL } }, { 1, { 0x300f10, 0, 0, 0 } } } };
	struct host h;

	(void)state;
	describe(&skx, &h);
	assert_string_equal(h.id_text, "GenuineIntel-6-55-4");
	assert_true(h.has_hypervisor);
	describe(&zen4, &h);
	assert_string_equal(h.id_text, "AuthenticAMD-25-61-2");
	describe(&nova, &h);
	assert_string_equal(h.id_text, "GenuineIntel-18-1-0");
}

static void core_types_of_a_hybrid(void **state)
{
	struct machine m = {
		.n_leaves = 3,
		.leaves = { { 0, { 32, INTEL } },
		            { 1, { 0xc0652, 0, 0, 0 } },
		            { 0x1a, { 0x40000003, 0, 0, 0 } } },
		.paths = { "/sys/bus/event_source/devices/cpu_core/cpus",
		           "/sys/bus/event_source/devices/cpu_atom/cpus",
		           "/sys/bus/event_source/devices/cpu_lowpower/cpus" },
		.texts = { "0-5\n", "6-13\n", "14-15\n" },
	};
	struct sys sys = sys_of(&m);
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_int_equal(m.asked, 2);
	assert_int_equal(h.n_core_types, 3);
	assert_string_equal(h.core_types[0].device, "cpu_core");
	assert_int_equal(h.core_types[0].core_type, 0x40);
	assert_int_equal(h.core_types[1].core_type, 0x20);
	assert_int_equal(h.core_types[1].native_model, 3);
	assert_int_equal(h.core_types[2].native_model, 2);
	pfmi_machine_read_host_details(&sys, &h);
	assert_int_equal(h.core_types[0].native_model, 3);
}

#define NOT_KNOWN 0xffffffffu

/* The names that a core reports apply to cores of its own type, unless the type's name is known
 * already. */
static void a_core_speaks_for_its_own_type(void **state)
{
	static const struct {
		uint32_t says, core,
			atom; /* each of two cores that are asked, and what is known then */
	} rows[][2] = {
		{ { 0x40000003, 3, NOT_KNOWN }, { 0x20000004, 3, 4 } },
		{ { 0x20000002, NOT_KNOWN, 2 }, { 0x40000005, 5, 2 } },
		{ { 0x40000003, 3, NOT_KNOWN }, { 0x40000006, 3, NOT_KNOWN } },
		{ { 0x30000001, NOT_KNOWN, NOT_KNOWN }, { 0x00000000, NOT_KNOWN, NOT_KNOWN } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = {
			.n_leaves = 3,
			.leaves = { { 0, { 32, INTEL } },
			            { 1, { 0x90672, 0, 0, 0 } },
			            { 0x1a, { 0 } } },
			.paths = { "/sys/bus/event_source/devices/cpu_core/cpus",
			           "/sys/bus/event_source/devices/cpu_atom/cpus",
			           "/sys/bus/event_source/devices/cpu_lowpower/cpus" },
			.texts = { "0-5\n", "6-13\n", "14-15\n" },
		};
		struct sys sys = sys_of(&m);
		struct host h;

		describe(&m, &h);
		for (unsigned k = 0; k < 2; k++) {
			m.leaves[2].regs[0] = rows[i][k].says;
			pfmi_machine_read_host_details(&sys, &h);
			assert_int_equal(h.n_core_types, 3);
			assert_int_equal(h.core_types[0].native_model, rows[i][k].core);
			assert_int_equal(h.core_types[1].native_model, rows[i][k].atom);
			assert_int_equal(h.core_types[2].native_model, rows[i][k].atom);
		}
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char power_cpuinfo[] =
	"processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: "
	"2300.000000MHz\nrevision\t: 2.2 (pvr 004e 1202)\n\nplatform\t: "
	"pSeries\n";
static const char alpha_cpuinfo[] =
	"cpu\t\t\t: Alpha\ncpu model\t\t: EV67\ncpu variation\t\t: 7\ncpu revision\t\t: 0\n";
static const char itanium_cpuinfo[] = "processor  : 0\nvendor     : GenuineIntel\narch       : "
				      "IA-64\nfamily     : 32\nmodel      : 0\nrevision   : 7\n";
static const char riscv_cpuinfo[] =
	"processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmvendorid\t: 0x489\nmarchid\t\t: "
	"0x8000000000000007\nmimpid\t\t: 0x4210427\n";
static const char sparc_cpuinfo[] =
	"cpu\t\t: UltraSparc T2 (Niagara2)\npmu\t\t: niagara2\ntype\t\t: sun4v\n";
static const char mips_cpuinfo[] =
	"system type\t\t: Malta\nprocessor\t\t: 0\ncpu model\t\t: MIPS 74Kc V4.12  FPU V0.0\n";
/* As arch/loongarch/kernel/proc.c prints it. */
static const char loongarch_cpuinfo[] =
	"system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\npackage\t\t\t: 0\n"
	"CPU Family\t\t: Loongson-64bit\nModel Name\t\t: Loongson-3A5000\nCPU Revision\t\t: 0x11\n";
static const char nameless_loongarch_cpuinfo[] =
	"processor\t\t: 0\nCPU Family\t\t: Loongson-64bit\nModel Name\t\t: Unknown\n";
static const char x86_cpuinfo[] =
	"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\nmodel name\t: "
	"something\nstepping\t: 10\nflags\t\t: "
	"fpu vme hypervisor lahf_lm\n";
static const char arm_cpuinfo[] = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: "
				  "8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
/* As Linux 6.1 shows it under QEMU's virt with a cortex-a15. */
static const char arm32_cpuinfo[] =
	"processor\t: 0\nmodel name\t: ARMv7 Processor rev 0 (v7l)\nBogoMIPS\t: 125.00\n"
	"CPU implementer\t: 0x41\nCPU architecture: 7\nCPU variant\t: 0x4\nCPU part\t: 0xc0f\n"
	"CPU revision\t: 0\n\nHardware\t: Generic DT based system\n";
static const char s390_sysinfo[] = "Manufacturer:         IBM\nType:                 8561\nModel:  "
				   "              703              "
				   "T01\nSequence Code:        0000\n";
static const char s390_levels[] = "qeth: 2.4.3\nCPU-MF: Counter facility: version=3.6 "
				  "authorization=002f\nCPU-MF: Sampling facility: x\n";

static void check_files(const char *path, const char *text, const char *more, const char *text2,
                        const char *arch, const char *id)
{
	struct machine m = { .paths = { path, more }, .texts = { text, text2 } };
	struct host h, named;

	describe(&m, &h);
	assert_true(h.is_known);
	assert_string_equal(h.arch, arch);
	assert_string_equal(h.id_text, id);
	/* Who is given the identity knows what the files say. */
	if (pfmi_machine_parse_host_id(id, &named))
		assert_true(h.id_register == named.id_register && h.family == named.family &&
		            h.model == named.model);
}

static void files_of_every_architecture(void **state)
{
	(void)state;
	check_files("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
	            "0x00000000413fd0c1\n", NULL, NULL, "arm64", "0x00000000413fd0c1");
	check_files("/proc/cpuinfo", arm_cpuinfo, NULL, NULL, "arm64", "0x00000000413fd0c1");
	check_files("/proc/cpuinfo", arm32_cpuinfo, NULL, NULL, "arm", "0x00000000414fc0f0");
	check_files("/proc/cpuinfo", power_cpuinfo, NULL, NULL, "powerpc", "0x004e1202");
	check_files("/proc/cpuinfo", alpha_cpuinfo, NULL, NULL, "alpha", "alpha-11");
	check_files("/proc/cpuinfo", itanium_cpuinfo, NULL, NULL, "ia64", "ia64-32-0");
	check_files("/proc/cpuinfo", riscv_cpuinfo, NULL, NULL, "riscv",
	            "0x489-0x8000000000000007-0x4210427");
	check_files("/proc/cpuinfo", sparc_cpuinfo, NULL, NULL, "sparc", "sparc,niagara2");
	check_files("/proc/cpuinfo", mips_cpuinfo, NULL, NULL, "mips", "mips,74Kc");
	check_files("/proc/cpuinfo", loongarch_cpuinfo, NULL, NULL, "loongarch64",
	            "loongarch64,3A5000");
	check_files("/proc/cpuinfo", nameless_loongarch_cpuinfo, NULL, NULL, "loongarch64",
	            "loongarch64,64bit");
	check_files("/proc/cpuinfo", x86_cpuinfo, NULL, NULL, "x86", "GenuineIntel-6-9E-A");
	check_files("/proc/sysinfo", s390_sysinfo, "/proc/service_levels", s390_levels, "s390",
	            "IBM,8561,703,T01,3.6,002f");
}

/* What the kernel leaves out is 0. */
static void numbers_that_are_not_told(void **state)
{
	(void)state;
	check_files("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n", NULL, NULL, "x86",
	            "GenuineIntel-0-0-0");
	check_files("/proc/cpuinfo",
	            "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: unknown\nstepping\t: "
	            "unknown\n",
	            NULL, NULL, "x86", "GenuineIntel-6-0-0");
	check_files("/proc/cpuinfo", "vendor\t: GenuineIntel\n", NULL, NULL, "ia64", "ia64-0-0");
	check_files("/proc/cpuinfo", "vendor\t: GenuineIntel\nfamily\t: 31\nmodel\t: 10\n", NULL,
	            NULL, "ia64", "ia64-31-A");
}

static void nothing_known(void **state)
{
	struct machine m = { .paths = { "/proc/cpuinfo" },
		             .texts = { "processor : 0\nnothing : here\n" } };
	struct machine empty = { .n_leaves = 0 };
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_false(h.is_known);
	describe(&empty, &h);
	assert_false(h.is_known);
	assert_string_equal(h.id_text, "");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_of_every_form(void **state)
{
	static const struct {
		const char *id, *arch;
		uint64_t value;
		uint32_t family, model, stepping;
	} good[] = {
		{ "GenuineIntel-6-55-4", "x86", 0, 6, 0x55, 4 },
		{ "GenuineIntel-6-E", "x86", 0, 6, 14, 0xffffffff },
		{ "AuthenticAMD-25-61", "x86", 0, 25, 0x61, 0xffffffff },
		{ "GenuineIntel-18-1-0", "x86", 0, 18, 1, 0 },
		{ "0x00000000413fd0c1", "arm64", 0x413fd0c1, 0, 0, 0xffffffff },
		{ "0x00000000412fc0f1", "arm", 0x412fc0f1, 0, 0, 0xffffffff },
		{ "0x00000000511f06f0", "arm", 0x511f06f0, 0, 0, 0xffffffff },
		{ "0x00000000510f0010", "arm64", 0x510f0010, 0, 0, 0xffffffff },
		{ "0x004e1202", "powerpc", 0x4e1202, 0, 0, 0xffffffff },
		{ "004e1202", "powerpc", 0x4e1202, 0, 0, 0xffffffff },
		{ "IBM,8561,703,T01,3.6,002f", "s390", 0, 0, 0, 0xffffffff },
		{ "0x489-0x8000000000000007-0x4210427", "riscv", 0x8000000000000007ull, 0, 0,
		  0xffffffff },
		{ "alpha-7", "alpha", 7, 0, 0, 0xffffffff },
		{ "sparc,ultra3+", "sparc", 0, 0, 0, 0xffffffff },
		{ "mips,74Kc", "mips", 0, 0, 0, 0xffffffff },
		{ "loongarch64,3A5000", "loongarch64", 0, 0, 0, 0xffffffff },
		{ "ia64-32-0", "ia64", 0, 32, 0, 0xffffffff },
	};
	static const char *const bad[] = { "",
		                           "-",
		                           "GenuineIntel",
		                           "GenuineIntel-6",
		                           "GenuineIntel-6-",
		                           "GenuineIntel-6-5Z",
		                           "Nobody-6-55-4",
		                           "GenuineIntel-6-55-4-1",
		                           "GenuineIntel--6-55",
		                           "0x",
		                           "0x123",
		                           "xyz",
		                           "0x1-0x2",
		                           "0x1-0x2-0x3-0x4",
		                           "alpha-1-2",
		                           "alpha-",
		                           "GenuineIntel- 6-55" };
	char lengthy[200];
	struct host h;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(pfmi_machine_parse_host_id(good[i].id, &h));
		assert_true(h.is_known);
		assert_string_equal(h.id_text, good[i].id);
		assert_string_equal(h.arch, good[i].arch);
		assert_int_equal(h.id_register, good[i].value);
		assert_int_equal(h.family, good[i].family);
		assert_int_equal(h.model, good[i].model);
		assert_int_equal(h.stepping, good[i].stepping);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(pfmi_machine_parse_host_id(bad[i], &h));
		assert_false(h.is_known);
	}
	memset(lengthy, '1', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(pfmi_machine_parse_host_id(lengthy, &h));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpuid_of_a_core_duo),
		cmocka_unit_test(details_are_of_known_x86_processors),
		cmocka_unit_test(cpuid_with_extended_numbers),
		cmocka_unit_test(core_types_of_a_hybrid),
		cmocka_unit_test(a_core_speaks_for_its_own_type),
		cmocka_unit_test(files_of_every_architecture),
		cmocka_unit_test(numbers_that_are_not_told),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(texts_of_every_form),
	};

	return cmocka_run_group_tests_name("machine_host", tests, NULL, NULL);
}
