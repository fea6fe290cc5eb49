/* SPDX-License-Identifier: MIT */
/* A program that uses an installed perfmon without its sources. It compiles as C and as C++. */
#include <stdio.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include <perfmon/alpha.h>
#include <perfmon/coreduo.h>
#include <perfmon/montecito.h>
#include <perfmon/perf_attr.h>
#include <perfmon/pfcntr.h>

int main(void)
{
	pfm_encoding_t e;
	perfmon_pmu_info_t info;

	memset(&e, 0, sizeof(e));
	e.size = sizeof(e);
	if (pfm_encode_event(NULL, "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH", 0, &e, NULL) ||
	    e.n_regs != 1)
		return 1;
	printf("%#llx\n", (unsigned long long)e.regs[0].value);
	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	if (pfm_describe_pmu(NULL, pfm_find_pmu(NULL, "montecito"), &info) || info.n_events != 637)
		return 2;
	return e.regs[0].value == 0x53d024 ? 0 : 3;
}
