/* SPDX-License-Identifier: MIT */
/* The version of the library that runs. */
#include "units.h"
#include <perfmon/perfmon.h>
#include <stdio.h>

static void the_library_has_the_version_of_its_header(void **state)
{
	unsigned major = 99, minor = 99, patch = 99;
	char text[40];

	(void)state;
	assert_string_equal(pfm_version(NULL, NULL, NULL), PFM_VERSION);
	assert_string_equal(pfm_version(&major, &minor, &patch), PFM_VERSION);
	snprintf(text, sizeof(text), "%u.%u.%u", major, minor, patch);
	assert_string_equal(text, PFM_VERSION);
}

UNIT(context_version, cmocka_unit_test(the_library_has_the_version_of_its_header));
