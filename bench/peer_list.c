/* SPDX-License-Identifier: MIT */
/* Prints the event strings of one of the peer's processors: one per unit mask, or the bare event where it has none. */
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>

static void print_event(const char *pmu, int i)
{
	pfm_event_info_t ev = { .size = sizeof(ev) };
	int masks = 0;

	if (pfm_get_event_info(i, PFM_OS_NONE, &ev))
		return;
	for (int k = 0; k < ev.nattrs; k++) {
		pfm_event_attr_info_t at = { .size = sizeof(at) };

		if (pfm_get_event_attr_info(i, k, PFM_OS_NONE, &at) || at.type != PFM_ATTR_UMASK)
			continue;
		printf("%s:%s\n", ev.name, at.name);
		masks++;
	}
	if (!masks)
		printf("%s\n", ev.name);
	(void)pmu;
}

int main(int argc, char **argv)
{
	if (argc < 2 || pfm_initialize())
		return 1;
	for (int p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info(p, &pmu) || strcmp(pmu.name, argv[1]) != 0)
			continue;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i))
			print_event(pmu.name, i);
	}
	return 0;
}
