/* SPDX-License-Identifier: MIT */
/* Our side. PERFMON_EVENTS names the images; no look at the host, so that results do not depend on
 * it. */
#include <perfmon/perfmon.h>
#ifdef BENCH_LIBPFM3
#include <perfmon/pfmlib.h>
#endif
#include "bench.h"

static pfm_ctx_t *ctx;
static bool host;

/* Reads the environment before main(), outside of the measurement. BENCH_HOST: let the context
 * look at this machine (sysfs). Compiled with BENCH_LIBPFM3, it initialises as programs of
 * libpfm 3 do. */
__attribute__((constructor)) static void read_environment(void)
{
	host = getenv("BENCH_HOST") != NULL;
}

/* As pfm_initialize() of the peer: find out which processor this is, or take the one that is
 * named. */
static int init_library(void)
{
#ifdef BENCH_LIBPFM3
	int rc = pfm_initialize();

	return rc == PFMLIB_ERR_NOTSUPP
	               ? 0
	               : rc; /* a machine without a PMU has been examined all the same */
#else
	pfm_ctx_options_t o = PFM_INIT(o);

	o.flags = host ? 0 : PFM_CTX_NO_HOST;
	return pfm_open_context(&ctx, &o, NULL);
#endif
}

static int encode_raw(const char *event, uint64_t *regs, int *n)
{
	pfm_encoding_t e;
	int rc;

	e.size = sizeof(e);
	rc = pfm_encode_event(ctx, event, PFM_PLM0 | PFM_PLM3, &e, NULL);
	for (int i = 0; rc == 0 && i < (int)e.n_regs; i++)
		regs[i] = e.regs[i].value;
	*n = rc ? 0 : (int)e.n_regs;
	return rc;
}

static int name_event(const char *event)
{
	pfm_encoding_t e;
	char name[256];

	e.size = sizeof(e);
	return pfm_encode_event(ctx, event, PFM_PLM0 | PFM_PLM3, &e, NULL) ||
	       pfm_print_event(ctx, event, PFM_DIALECT_LIBPFM, name, sizeof(name), NULL);
}

static int encode_perf(const char *event, uint64_t config[3])
{
	pfm_encoding_t e;
	int rc;

	e.size = sizeof(e);
	rc = pfm_encode_event(ctx, event, PFM_PLM0 | PFM_PLM3, &e, NULL);
	if (rc)
		return rc;
	config[0] = e.attr.config;
	config[1] = e.attr.config1;
	config[2] = e.attr.config2;
	return 0;
}

static int find_event(const char *event)
{
	int pmu;
	unsigned row;

	return pfm_find_event_by_text(ctx, event, &pmu, &row, NULL);
}

static unsigned long walk_all(void)
{
	int n = pfm_count_pmus(ctx);
	unsigned long seen = 0;

	for (int p = 0; p < n; p++) {
		perfmon_pmu_info_t pmu = PFM_INIT(pmu);

		pfm_describe_pmu(ctx, p, &pmu);
		for (unsigned i = 0; i < pmu.n_events; i++) {
			perfmon_event_info_t ev;

			ev.size = sizeof(ev);
			if (pfm_describe_event(ctx, p, i, &ev))
				continue;
			seen++;
			for (unsigned k = 0; k < ev.n_umasks; k++) {
				pfm_umask_info_t mask;

				mask.size = sizeof(mask);
				seen += pfm_describe_umask(ctx, p, i, k, &mask) == 0;
			}
		}
	}
	return seen;
}

const struct bench_library side = { init_library, encode_raw, name_event,
	                            encode_perf,  find_event, walk_all };
