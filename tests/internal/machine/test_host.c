/* SPDX-License-Identifier: MIT */
/* Identification of a processor that neither CPUID nor files identify. */
#include "units.h"
#include "small_machine.h"

static void a_machine_without_an_identity_is_unknown(void **state)
{
	struct machine m = { .paths = { "/proc/cpuinfo" },
		             .texts = { "processor : 0\nnothing : here\n" } };
	struct machine empty = { .n_leaves = 0 };
	struct host h;

	(void)state;
	describe(&m, &h);
	assert_false(h.is_known);
	describe(&empty, &h);
	assert_false(h.is_known);
	assert_string_equal(h.id_text, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_an_identity_is_unknown),
	};

	return cmocka_run_group_tests_name("machine_host", tests, NULL, NULL);
}
