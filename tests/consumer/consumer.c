/* SPDX-License-Identifier: MIT */
/* A program that knows an installed perfmon and nothing of its sources. C and C++ alike. */
#include <stdio.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_montecito.h>
#include <perfmon/pfmlib_perf_event.h>
#include <perfmon/pfcntr.h>

int main(void)
{
	pfm_encoding_t e;
	unsigned n;

	memset(&e, 0, sizeof(e));
	e.size = sizeof(e);
	if (pfm_encode_event(NULL, "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH", 0, &e, NULL) || e.n_regs != 1)
		return 1;
	printf("%#llx\n", (unsigned long long)e.regs[0].value);
	if (pfm_force_pmu(PFMLIB_MONTECITO_PMU) || pfm_get_num_events(&n) || n != 637)
		return 2;
	return e.regs[0].value == 0x53d024 ? 0 : 3;
}
