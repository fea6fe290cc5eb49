/* SPDX-License-Identifier: MIT */
/* The peer: Debian's libpfm4, built against its own headers. */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include "bench.h"

static int init_library(void)
{
	return pfm_initialize();
}

static int encode_raw(const char *event, uint64_t *regs, int *n)
{
	return pfm_get_event_encoding(event, PFM_PLM0 | PFM_PLM3, NULL, NULL, &regs, n);
}

static int name_event(const char *event)
{
	uint64_t regs[8], *r = regs;
	char *name = NULL;
	int n = 8, rc = pfm_get_event_encoding(event, PFM_PLM0 | PFM_PLM3, &name, NULL, &r, &n);

	free(name);
	return rc;
}

static int encode_perf(const char *event, uint64_t config[3])
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int rc;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.size = sizeof(arg);
	arg.attr = &attr;
	rc = pfm_get_os_event_encoding(event, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	config[0] = attr.config;
	config[1] = attr.config1;
	config[2] = attr.config2;
	return rc;
}

static int find_event(const char *event)
{
	return pfm_find_event(event);
}

static unsigned long walk_all(void)
{
	unsigned long seen = 0;

	for (int p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info((pfm_pmu_t)p, &pmu))
			continue;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t ev;

			ev.size = sizeof(ev);
			if (pfm_get_event_info(i, PFM_OS_NONE, &ev))
				continue;
			seen++;
			for (int k = 0; k < ev.nattrs; k++) {
				pfm_event_attr_info_t at;

				at.size = sizeof(at);
				seen += pfm_get_event_attr_info(i, k, PFM_OS_NONE, &at) == 0;
			}
		}
	}
	return seen;
}

const struct bench_library side = { init_library, encode_raw, name_event,
	                            encode_perf,  find_event, walk_all };
