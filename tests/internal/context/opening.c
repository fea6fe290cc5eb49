/* SPDX-License-Identifier: MIT */
/* Opening a context: its default PMU, its holders, and options that are refused. */
#include "units.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guard.h"
#include "machine_files.h"
#include "open_for.h"
#include "lookup/lookup.h"

/* The default PMU can be a family as well as a table. */
static void pmus_of_the_environment(void **state)
{
	const struct image *im = table_get_builtin_image();
	const struct pmu_family *wholes = table_get_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_get_image_array(im, ARRAY_POOL);

	(void)state;
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++)
		pfm_close_context(open_for(pool + wholes[i].name));
	for (unsigned i = 0; i < table_count_builtins(); i++)
		pfm_close_context(
			open_for(table_get_text(table_get_builtin(i), table_get_builtin(i)->name)));
}

/* The last reference closes a context; the default context is never closed. */
static void context_closes_with_its_last_reference(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	assert_ptr_equal(pfmi_context_add_ref(ctx), ctx);
	assert_int_equal(atomic_load(&ctx->n_refs), 2);
	pfm_close_context(ctx);
	assert_int_equal(atomic_load(&ctx->n_refs), 1);
	assert_int_equal(pfm_count_pmus(ctx), table_count_builtins());
	pfm_close_context(ctx);
	assert_ptr_equal(pfmi_context_add_ref(NULL), pfmi_context_get_default());
	assert_ptr_equal(context_get_or_default(NULL), pfmi_context_get_default());
	pfm_close_context((pfm_ctx_t *)(uintptr_t)pfmi_context_get_default());
	pfm_close_context(NULL);
	assert_true(context_is_loaded(pfmi_context_get_default(), LOADED_BUILTIN));
	assert_int_equal(pfmi_context_get_default()->flags, 0);
}

static void invalid_options_are_refused(void **state)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES,
		                      .pmu = "no_such_unit" };
	pfm_error_t why = { .size = sizeof(why) };
	pfm_ctx_t *ctx = (pfm_ctx_t *)(void *)&options;
	const char *path, *text;

	(void)state;
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_NOPMU);
	assert_true(!ctx && why.kind == PFM_KIND_UNKNOWN_PMU);
	assert_int_equal(pfm_open_context(NULL, NULL, &why), PFMLIB_ERR_INVAL);
	options = (pfm_ctx_options_t){ .size = sizeof(options),
		                       .flags = PFM_CTX_NO_HOST,
		                       .images = __FILE__ "/none" };
	options.flags |= PFM_CTX_NO_IMAGES; /* without a host images are not looked for */
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_rejected_image(ctx, 0, &path, &text), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_rejected_image(ctx, 0, NULL, &text), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rejected_image(ctx, 0, &path, NULL), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
	options = (pfm_ctx_options_t){ .size = 1 };
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_INVAL);
}

UNIT(context_opening, cmocka_unit_test(pmus_of_the_environment),
     cmocka_unit_test(context_closes_with_its_last_reference),
     cmocka_unit_test(invalid_options_are_refused));
