/* SPDX-License-Identifier: MIT */
/* A session of which nothing is set but the files of a scripted system. */
#ifndef PERFMON_TESTS_UNITS_BARE_SESSION_H
#define PERFMON_TESTS_UNITS_BARE_SESSION_H

#include "units.h"
#include "perfdata/perfdata.h"
#include "fake_sys.h"

static struct fake fake;
static struct pfm_session *s;

/* False without memory. */
static inline bool begin_bare(void)
{
	fake_begin(&fake);
	s = calloc(1, sizeof(*s));
	if (s)
		s->sys = fake.sys;
	return s;
}

static inline void end_bare(void)
{
	assert_int_equal(fake.n_open, 0);
	fake_end(&fake);
	free(s);
}

#endif
