/* SPDX-License-Identifier: MIT */
/* Opening: a session samples where the options say so, and refuses what it must. */
#include "units.h"
#include <perfmon/sampling.h>
#include "fake_session.h"

static int end(void **state)
{
	options.sampling = NULL;
	return done(state);
}

static void sessions_sample_where_the_options_say_so(void **state)
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
	sampling.size = 0;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_INVAL);
	assert_null(session);
	assert_int_equal(fake.n_open, 0);
}

UNIT(sampling_open_session,
     cmocka_unit_test_teardown(sessions_sample_where_the_options_say_so, end));
