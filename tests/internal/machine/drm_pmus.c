/* SPDX-License-Identifier: MIT */
/* Usage of GPUs as PMUs: keys and units as Linux's document drm-usage-stats has them. */
#include "units.h"
#include "machine_files.h"
#include "context/context.h"

static void values_of_fdinfo_have_their_units(void **state)
{
	static const char text[] = "pos:\t0\ndrm-driver:\tamdgpu\ndrm-engine-gfx: 42 ns\n"
				   "drm-memory-vram:\t3 KiB\ndrm-total-gtt:\t2 MiB\n"
				   "drm-shared-gtt:\t77\ndrm-engine-capacity-gfx:\t2\ndrm-bad: x\n";
	static const struct {
		const char *key;
		bool is_known;
		uint64_t value;
	} rows[] = {
		{ "drm-engine-gfx", true, 42 },     { "drm-memory-vram", true, 3 << 10 },
		{ "drm-total-gtt", true, 2 << 20 }, { "drm-shared-gtt", true, 77 },
		{ "drm-shared", false, 0 },         { "engine-gfx", false, 0 },
		{ "drm-driver", false, 0 },         { "drm-bad", false, 0 },
		{ "drm-engine-gf", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t value = 0;

		if (pfmi_machine_read_drm_value(text, rows[i].key, &value) != rows[i].is_known ||
		    value != rows[i].value)
			fail_msg("%s", rows[i].key);
	}
}

static bool has_event(const pfm_ctx_t *ctx, const char *text)
{
	unsigned event;
	int pmu;

	return pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) == PFMLIB_SUCCESS;
}

static void drivers_of_a_machine(void **state)
{
	static const char client[] = "drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0\n"
				     "drm-engine-gfx:\t42 ns\ndrm-engine-capacity-gfx:\t2\n"
				     "drm-memory-vram:\t3 KiB\n";
	char root[] = P_tmpdir "/perfmon-drm-XXXXXX";
	const struct kernel_pmu *pmu;
	pfm_ctx_t *ctx;

	(void)state;
	assert_non_null(mkdtemp(root));
	put(root, "proc/12/fdinfo/4", client);
	put(root, "proc/12/fdinfo/5", "pos:\t0\n");
	put(root, "proc/77/fdinfo/9", "drm-driver:\txe\ndrm-cycles-rcs:\t5\n");
	put(root, "proc/self/fdinfo/9", "drm-driver:\tother\ndrm-cycles-rcs:\t5\n");
	ctx = open_machine("GenuineIntel-6-55-4", root);
	assert_false(has_event(ctx, "drm_amdgpu::drm-engine-gfx")); /* no GPU: no search */
	pfm_close_context(ctx);
	put(root, "sys/class/drm/card0/dev", "226:0");
	put(root, "sys/class/drm/renderD128/dev", "226:128");
	ctx = open_machine("GenuineIntel-6-55-4", root);
	assert_true(has_event(ctx, "drm_amdgpu::drm-engine-gfx"));
	assert_true(has_event(ctx, "drm_amdgpu/drm-memory-vram/"));
	assert_true(has_event(ctx, "drm_xe::drm-cycles-rcs"));
	assert_false(has_event(ctx, "drm_amdgpu::drm-engine-capacity-gfx"));
	assert_false(has_event(ctx, "drm_other::drm-cycles-rcs"));
	pmu = pfmi_machine_find_kernel_pmu(ctx->kernel, (struct slice){ "drm_amdgpu", 10 });
	assert_non_null(pmu);
	assert_int_equal(pmu->n_files, 2);
	assert_string_equal(pmu->files[0], "drm-engine-gfx");
	assert_string_equal(pmu->drm_driver, "amdgpu");
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

UNIT(machine_drm_pmus, cmocka_unit_test(values_of_fdinfo_have_their_units),
     cmocka_unit_test(drivers_of_a_machine));
