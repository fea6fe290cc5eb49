/* SPDX-License-Identifier: MIT */
/* Identification of processors by files of the kernel. */
#include "units.h"
#include "small_machine.h"

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
	/* The identity alone gives the numbers that the files give. */
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

/* A number that the kernel does not export is 0. */
static void lacks_numbers_that_the_kernel_does_not_export(void **state)
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

UNIT(machine_host_files, cmocka_unit_test(files_of_every_architecture),
     cmocka_unit_test(lacks_numbers_that_the_kernel_does_not_export));
