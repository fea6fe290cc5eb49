/* SPDX-License-Identifier: MIT */
/* PMUs that a text can be about: those of the name, then the members of the family; each once. */
#include "unit_tables.h"
#include "lookup/lookup.h"
#include "open_for.h"

/* Counts the PMUs with @name as name, alias or family, by a walk over all tables. */
static unsigned count_pmus(const char *name)
{
	struct slice s = pfmi_base_make_slice(name);
	unsigned n = 0;

	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		n += pfmi_context_table_has_name(t, s) ||
		     pfmi_base_is_slice_icase(s, table_get_text(t, t->family_name));
	}
	return n;
}

static void pmus_of_one_name(void **state)
{
	static const char *const texts[] = { "skl::X", "skx::X", "spr::X", "amdzen4::X",
		                             "coreduo::X" };
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		unsigned pmus[512], n;
		struct spec spec;
		char name[32];

		assert_int_equal(pfmi_spec_parse(texts[i], &spec, NULL), 0);
		snprintf(name, sizeof(name), "%.*s", (int)spec.pmu_name.len, spec.pmu_name.text);
		n = pfmi_lookup_list_candidate_pmus(ctx, &spec, pmus, COUNT(pmus));
		if (n != count_pmus(name))
			fail_msg("%s: %u PMUs, expected %u", name, n, count_pmus(name));
		for (unsigned k = 0; k < n; k++)
			for (unsigned j = 0; j < k; j++)
				assert_int_not_equal(pmus[k], pmus[j]);
		if (n > 1)
			assert_int_equal(pfmi_lookup_list_candidate_pmus(ctx, &spec, pmus, 1), 1);
	}
	pfm_close_context(ctx);
}

static void unknown_pmu_has_no_candidates(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned pmu;
	struct spec spec;

	(void)state;
	assert_int_equal(pfmi_spec_parse("no_such_pmu::X", &spec, NULL), 0);
	assert_int_equal(pfmi_lookup_list_candidate_pmus(ctx, &spec, &pmu, 1), 0);
	pfm_close_context(ctx);
}

UNIT(lookup_candidates, cmocka_unit_test(pmus_of_one_name),
     cmocka_unit_test(unknown_pmu_has_no_candidates));
