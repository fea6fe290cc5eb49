/* SPDX-License-Identifier: MIT */
/* Says which of the things an environment can promise the library has believed; test_hostile.py
 * runs it with and without raised privileges. One line of words, empty when it believed nothing. */
#include <stdio.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

int main(void)
{
	pfm_encoding_t e = PFM_INIT(e);
	int type = -1;

	/* The libpfm 3 interface takes its processor from PERFMON_PMU or LIBPFM_FORCE_PMU, else
	 * from the machine. */
	if (pfm_initialize() == PFMLIB_SUCCESS)
		pfm_get_pmu_type(&type);
	if (type == PFMLIB_MONTECITO_PMU)
		printf("default-pmu ");
	if (pfm_encode_event(NULL, "CPU_OP_CYCLES_ALL", 0, &e, NULL) == PFMLIB_SUCCESS)
		printf("unprefixed-events ");
	if (pfm_find_pmu(NULL, "testpmu") >= 0)
		printf("images ");
	if (pfm_find_pmu(NULL, "madeup") >= 0)
		printf("sysfs ");
	puts("");
	return 0;
}
