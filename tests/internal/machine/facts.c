/* SPDX-License-Identifier: MIT */
/* Facts of the machine: each file as Linux writes it (Documentation/ABI/testing/sysfs-devices-
 * system-cpu, admin-guide/sysctl/kernel.rst; arch/x86/events/intel/core.c, allow_tsx_force_abort).
 */
#include "units.h"
#include "machine_files.h"
#include "machine/machine.h"

static char root[64];
static struct sys machine;

static int make_root(void **state)
{
	(void)state;
	strcpy(root, P_tmpdir "/perfmon-facts-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	pfmi_machine_init_real_sys(&machine, root);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const struct known_fact {
	enum machine_fact fact;
	const char *path, *text, *evidence; /* evidence: NULL if the fact is not true */
} known_facts[] = {
	{ FACT_SMT, "sys/devices/system/cpu/smt/active", "1\n",
	  "/sys/devices/system/cpu/smt/active is 1" },
	{ FACT_SMT, "sys/devices/system/cpu/smt/active", "0\n", NULL },
	{ FACT_WATCHDOG, "proc/sys/kernel/nmi_watchdog", "1\n",
	  "/proc/sys/kernel/nmi_watchdog is 1" },
	{ FACT_WATCHDOG, "proc/sys/kernel/nmi_watchdog", "0\n", NULL },
	{ FACT_TSX_RESERVE, "sys/devices/cpu/allow_tsx_force_abort", "0\n",
	  "/sys/devices/cpu/allow_tsx_force_abort is 0" },
	{ FACT_TSX_RESERVE, "sys/devices/cpu/allow_tsx_force_abort", "1\n", NULL },
	{ FACT_GUEST, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n",
	  "/proc/cpuinfo has the flag hypervisor" },
	{ FACT_GUEST, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu lahf_lm\n", NULL },
	{ FACT_TSX, "proc/cpuinfo", "flags\t\t: fpu hle rtm\nbugs\t\t:\n",
	  "/proc/cpuinfo has the flag rtm" },
	{ FACT_TSX, "proc/cpuinfo", "flags\t\t: fpu rtm_always_abort\nbugs\t\t: rtm\n", NULL },
	{ FACT_TSX, "proc/cpuinfo", "flags\t\t: fpu rtm", "/proc/cpuinfo has the flag rtm" },
};

static void facts_are_read_from_files(void **state)
{
	char evidence[96];

	(void)state;
	for (size_t i = 0; i < sizeof(known_facts) / sizeof(known_facts[0]); i++) {
		const struct known_fact *k = &known_facts[i];

		put(root, k->path, k->text);
		if (pfmi_machine_read_fact(&machine, k->fact, evidence, sizeof(evidence)) !=
		    (k->evidence != NULL))
			fail_msg("%s with %s", k->path, k->text);
		if (k->evidence)
			assert_string_equal(evidence, k->evidence);
	}
}

static void missing_files_are_no_facts(void **state)
{
	char evidence[96];

	(void)state;
	for (enum machine_fact f = 0; f < N_MACHINE_FACTS; f++)
		assert_false(pfmi_machine_read_fact(&machine, f, evidence, sizeof(evidence)));
}

UNIT(machine_facts,
     cmocka_unit_test_setup_teardown(facts_are_read_from_files, make_root, remove_root),
     cmocka_unit_test_setup_teardown(missing_files_are_no_facts, make_root, remove_root));
