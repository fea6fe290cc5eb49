/* SPDX-License-Identifier: MIT */
/* A machine made of a script, and what pfm_check_system() finds on it. */
#ifndef PERFMON_TESTS_CHECK_FIXTURE_H
#define PERFMON_TESTS_CHECK_FIXTURE_H

#include <perfmon/system.h>
#include "context/context.h"
#include "fake_sys.h"
#include "units.h"

struct checked_machine {
	struct fake fake;
	pfm_ctx_t *ctx;
	pfm_system_check_t *check;
};

static inline void open_machine(struct checked_machine *m)
{
	pfm_ctx_options_t o = PFM_INIT(o);

	fake_recorded(&m->fake, "hybrid");
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = "GenuineIntel-6-97-2";
	assert_int_equal(pfm_open_context(&m->ctx, &o, NULL), PFMLIB_SUCCESS);
	m->ctx->sys = m->fake.sys;
	m->check = NULL;
}

static inline void close_machine(struct checked_machine *m)
{
	pfm_close_system_check(m->check);
	pfm_close_context(m->ctx);
	assert_int_equal(m->fake.n_open, 0);
	fake_end(&m->fake);
}

/* Checks the machine as it is now, without a workload unless @flags is 0. */
static inline void check_machine_now(struct checked_machine *m, unsigned flags)
{
	pfm_close_system_check(m->check);
	assert_int_equal(pfm_check_system(&m->check, m->ctx, flags), PFMLIB_SUCCESS);
}

/* The finding of check @name; its state is -1 if it is missing. */
static inline pfm_finding_t find_check(const struct checked_machine *m, const char *name)
{
	pfm_finding_t f = PFM_INIT(f);

	for (unsigned i = 0; !pfm_describe_finding(m->check, i, &f); i++)
		if (strcmp(f.check, name) == 0)
			return f;
	return (pfm_finding_t){
		.check = NULL, .observed = "", .consequence = "", .remedy = "", .available = ""
	};
}

#endif
