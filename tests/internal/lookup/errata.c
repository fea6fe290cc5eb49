/* SPDX-License-Identifier: MIT */
/* Events that count wrong, where another event counts the same. */
#include "units.h"
#include "lookup/lookup.h"

static const struct erratum *find_avoidable(const char *cpuid, const char *text)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_IMAGES, .cpuid = cpuid };
	const struct erratum *found;
	struct event ev;
	pfm_ctx_t *ctx;
	unsigned pmu;

	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_lookup_event(ctx, text, &pmu, &ev, NULL), PFMLIB_SUCCESS);
	found = pfmi_lookup_avoidable_erratum(ctx, pmu, &ev);
	pfm_close_context(ctx);
	return found;
}

static void only_an_erratum_with_another_event(void **state)
{
	(void)state;
	assert_non_null(find_avoidable("AuthenticAMD-25-1-1", "amdzen3::ic_fw32_miss"));
	/* on another machine, too: its table says what it counts wrong */
	assert_non_null(find_avoidable("GenuineIntel-6-55-4", "amdzen3::ic_fw32_miss"));
	assert_null(find_avoidable("AuthenticAMD-25-1-1", "amdzen3::ic_fw32"));
	assert_null(find_avoidable("AuthenticAMD-25-1-1", "amdzen3::ex_ret_instr"));
}

UNIT(lookup_errata, cmocka_unit_test(only_an_erratum_with_another_event));
