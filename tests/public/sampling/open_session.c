/* SPDX-License-Identifier: MIT */
/* A session samples only with sampling options; invalid ones are refused. */
#include "units.h"
#include <perfmon/sampling.h>
#include "fake_session.h"

static int tear_down(void **state)
{
	options.sampling = NULL;
	return done(state);
}

static void samples_only_with_sampling_options(void **state)
{
	pfm_sampling_t sampling = { .size = sizeof(sampling) };

	(void)state;
	make_machine("uncore");
	must_open(TEXTS("page-faults"));
	assert_null(session->sampling);
	end_session();
	options.sampling = &sampling;
	sampling.period = sampling.freq = 1;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_INVAL);
	sampling.size = 1;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_INVAL);
	assert_null(session);
	assert_int_equal(fake.n_open, 0);
}

UNIT(sampling_open_session,
     cmocka_unit_test_teardown(samples_only_with_sampling_options, tear_down));
