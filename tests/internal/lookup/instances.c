/* SPDX-License-Identifier: MIT */
/* Boxes by number: the kernel's name of an instance, and libpfm4's name with a number. */
#include "units.h"
#include <unistd.h>
#include "lookup/lookup_internal.h"
#include "machine_files.h"

static unsigned find_pmu(const pfm_ctx_t *ctx, const char *name)
{
	for (unsigned i = 0; i < context_count_pmus(ctx); i++) {
		const struct table *t = context_get_pmu_table(ctx, i);

		if (strcmp(table_get_text(t, t->name), name) == 0)
			return i;
	}
	fail_msg("no PMU %s", name);
	return 0;
}

static void boxes_of_a_machine(void **state)
{
	static const struct {
		const char *text;
		unsigned instance;
	} texts[] = {
		{ "uncore_cha_0::UNC_CHA_CLOCKTICKS", 1 },
		{ "uncore_cha_2::UNC_CHA_CLOCKTICKS", 3 },
		{ "uncore_cha::UNC_CHA_CLOCKTICKS", 0 },
		{ "skx_uncore_cha1::UNC_CHA_CLOCKTICKS", 2 },
		{ "skx_uncore_cha::UNC_CHA_CLOCKTICKS", 0 },
		{ "skx::UNC_CHA_CLOCKTICKS", 0 },
	};
	char root[] = "/tmp/perfmon_instances_XXXXXX", path[128];
	pfm_ctx_t *ctx;
	unsigned cha;

	(void)state;
	assert_non_null(mkdtemp(root));
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), DEVICES "uncore_cha_%u/type", i);
		put(root, path, i == 0 ? "20\n" : i == 1 ? "21\n" : "22\n");
		snprintf(path, sizeof(path), DEVICES "uncore_cha_%u/format/event", i);
		put(root, path, "config:0-7\n");
	}
	ctx = open_machine("GenuineIntel-6-55-4", root);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	cha = find_pmu(ctx, "skx_uncore_cha");
	for (size_t i = 0; i < COUNT(texts); i++)
		if (pfmi_lookup_text_instance(ctx, texts[i].text, cha) != texts[i].instance)
			fail_msg("%s: instance %u, expected %u", texts[i].text,
			         pfmi_lookup_text_instance(ctx, texts[i].text, cha),
			         texts[i].instance);
	assert_true(pfmi_lookup_has_box_number(ctx, cha, pfmi_base_make_slice("skx_uncore_cha2")));
	assert_false(pfmi_lookup_has_box_number(ctx, cha, pfmi_base_make_slice("skx_uncore_cha3")));
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

UNIT(lookup_instances, cmocka_unit_test(boxes_of_a_machine));
