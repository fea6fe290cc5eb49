/* SPDX-License-Identifier: MIT */
/* The files "caps/..." and "cpus" of cores, which each architecture's driver has of its own:
 *
 *   x86    caps/max_precise (arch/x86/events/core.c)
 *   Intel  caps/pmu_name, the name of the driver's case (arch/x86/events/intel/core.c)
 *   POWER  caps/pmu_name (Documentation/ABI/testing/sysfs-bus-event_source-devices-caps)
 *   Arm    cpus (drivers/perf/arm_pmu.c); of PMUv3 caps/slots, caps/bus_slots and caps/bus_width,
 *          fields of the register PMMIR, which is 0 before Armv8.4 (drivers/perf/arm_pmuv3.c) */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "pretend/sysfs.h"

/* Names of Intel's processors in Linux, by the beginnings of our tables' names. Those that Linux
 * added later have the table's name. */
static const struct {
	char table[4];
	const char *linux_name;
} intel_names[] = {
	{ "nhm", "nehalem" },
	{ "wsm", "westmere" },
	{ "snb", "sandybridge" },
	{ "jkt", "sandybridge" },
	{ "ivb", "ivybridge" },
	{ "ivt", "ivybridge" },
	{ "hsw", "haswell" },
	{ "hsx", "haswell" },
	{ "bdw", "broadwell" },
	{ "bdx", "broadwell" },
	{ "skl", "skylake" },
	{ "skx", "skylake" },
	{ "clx", "skylake" },
	{ "icl", "icelake" },
	{ "icx", "icelake" },
	{ "tgl", "icelake" },
	{ "rkl", "icelake" },
	{ "spr", "sapphire_rapids" },
	{ "emr", "sapphire_rapids" },
	{ "gnr", "granite_rapids" },
	{ "adl", "alderlake_hybrid" },
	{ "mtl", "meteorlake_hybrid" },
	{ "lnl", "lunarlake_hybrid" },
	{ "arl", "lunarlake_hybrid" },
	{ "ptl", "pantherlake_hybrid" },
	{ "bnl", "bonnell" },
	{ "slm", "silvermont" },
	{ "glm", "goldmont" },
	{ "glp", "goldmont_plus" },
	{ "snr", "Tremont" },
	{ "ehl", "Tremont" },
	{ "knl", "knights-landing" },
};

static const char *get_intel_name(const char *table)
{
	for (size_t i = 0; i < sizeof(intel_names) / sizeof(intel_names[0]); i++)
		if (strncmp(table, intel_names[i].table, 3) == 0)
			return intel_names[i].linux_name;
	return table;
}

static void put_power_name(struct tree *t, const char *folder, const char *table)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", table);
	for (char *at = name; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	put_file(t, folder, "pmu_name", name);
}

uint64_t get_pretend_feature(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                             const char *wanted)
{
	const char *name, *text;
	uint64_t value;

	for (unsigned i = 0; !pfm_describe_feature(m->ctx, pmu->pmu, i, &name, &text, &value); i++)
		if (strcmp(name, wanted) == 0)
			return value;
	return 0;
}

static void put_arm_capabilities(struct tree *t, const struct pretend_machine *m,
                                 const struct pretend_pmu *pmu)
{
	static const char *const names[] = { "slots", "bus_slots", "bus_width" };
	char folder[128];

	snprintf(folder, sizeof(folder), "devices/%s", pmu->device);
	if (pmu->cpu < 0)
		put_line_file(t, folder, "cpus", "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	if (strncmp(pmu->device, "armv8", 5) != 0)
		return;
	snprintf(folder, sizeof(folder), "devices/%s/caps", pmu->device);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_line_file(t, folder, names[i], "0x%08x",
		              (unsigned)get_pretend_feature(m, pmu, names[i]));
}

void put_capabilities(struct tree *t, const struct pretend_machine *m,
                      const struct pretend_pmu *pmu)
{
	const enum processor_family family = get_processor_family(m);
	char folder[128];

	snprintf(folder, sizeof(folder), "devices/%s/caps", pmu->device);
	/* Precise samples would need a processor. */
	if (family == FAMILY_INTEL || family == FAMILY_AMD)
		put_file(t, folder, "max_precise", "0");
	if (family == FAMILY_INTEL)
		put_file(t, folder, "pmu_name", get_intel_name(m->name));
	if (family == FAMILY_POWER)
		put_power_name(t, folder, m->name);
	if (family == FAMILY_ARM)
		put_arm_capabilities(t, m, pmu);
}
