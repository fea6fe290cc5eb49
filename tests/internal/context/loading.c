/* SPDX-License-Identifier: MIT */
/* Images of event tables in a context: their order, their PMUs, and those that are refused. */
#include "units.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guard.h"
#include "machine_files.h"
#include "open_for.h"
#include "lookup/lookup.h"

/* ---- images ---------------------------------------------------------------------------------- */

/* Writes the built-in image to a file, with @n changed bytes in the middle. */
static void put_image(const char *root, const char *path, size_t n)
{
	const struct image *im = table_get_builtin_image();
	char full[256];
	FILE *f;

	put(root, path, "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "w");
	if (!f || fwrite(im, 1, (size_t)im->size, f) != im->size ||
	    fseek(f, (long)im->size / 2, SEEK_SET))
		abort();
	while (n--)
		fputc(0xa5, f);
	if (fclose(f))
		abort();
}

/* Checks that PMU @i is table @k of image @map, or of the built-in image if @map is negative. */
static void is_table_of(const pfm_ctx_t *ctx, unsigned i, unsigned k, int map)
{
	struct pmu_info u = pfmi_context_get_pmu(ctx, i);
	const struct image_map *m = map < 0 ? NULL : &ctx->images.maps[map];

	assert_ptr_equal(u.image_map, m);
	assert_ptr_equal(pfmi_context_get_pmu_image(ctx, i), m);
	assert_string_equal(u.origin, m ? m->path : "built in");
	assert_string_equal(table_get_text(u.table, u.table->name),
	                    table_get_text(table_get_builtin(k), table_get_builtin(k)->name));
	assert_true(u.table == table_get_image_table(m ? m->image : table_get_builtin_image(), k) &&
	            u.perf_type == table_get_builtin(k)->perf_type);
}

/* Checks the order of the images whose PMUs have the name of table @k. */
static void come_in_order(const pfm_ctx_t *ctx, unsigned k, const int *maps, unsigned n)
{
	struct slice s = pfmi_base_make_slice(
		table_get_text(table_get_builtin(k), table_get_builtin(k)->name));
	struct pmu_name_iter c = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned want = (maps[i] < 0 ? 0 : ctx->images.maps[maps[i]].first_pmu) + k;

		assert_int_equal(pfmi_context_next_named_pmu(ctx, s, pfmi_table_hash_name(s), &c),
		                 want);
		assert_ptr_equal(c.image_map, maps[i] < 0 ? NULL : &ctx->images.maps[maps[i]]);
	}
}

/* True if only the user's folder is searched for images: PERFMON_EVENTS is unset and no images
 * are installed. */
static bool users_alone(void)
{
	char path[2048];
	const char *last;

	if (getenv("PERFMON_EVENTS") ||
	    pfmi_image_get_default_path(path, sizeof(path)) >= sizeof(path))
		return false;
	last = strrchr(path, ':');
	return last && access(last + 1, F_OK) != 0;
}

/* PMUs of images are numbered after the built-in PMUs. They are looked up before these if the
 * caller named the images, otherwise after them. */
static void units_of_images(void **state)
{
	static const int chosen[] = { 0, 1, -1 }, found[] = { -1, 0, 1 };
	unsigned n = table_count_builtins();
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX", folder[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/perfmon", root);
	put_image(root, "perfmon/a.pmdb", 0);
	put_image(root, "perfmon/b.pmdb", 0);
	setenv("XDG_DATA_HOME", root, 1);
	for (unsigned choose = users_alone() ? 0 : 1; choose < 2; choose++) {
		pfm_ctx_options_t options = { .size = sizeof(options),
			                      .flags = PFM_CTX_NO_HOST,
			                      .images = choose ? folder : NULL };
		pfm_ctx_t *ctx;

		assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
		assert_int_equal(context_count_pmus(ctx), n);
		assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
		assert_true(ctx->images.n_maps == 2 && ctx->images.maps[0].first_pmu == n &&
		            ctx->images.maps[1].first_pmu == 2 * n);
		assert_true(context_count_pmus(ctx) == 3 * n && ctx->first_kernel_pmu == 3 * n &&
		            ctx->n_sources == 4);
		assert_null(pfmi_context_get_pmu_image(ctx, 3 * n));
		for (unsigned i = 0; i < 3 * n; i++)
			is_table_of(ctx, i, i % n, (int)(i / n) - 1);
		for (unsigned k = 0; k < n; k++)
			come_in_order(ctx, k, choose ? chosen : found, 3);
		pfm_close_context(ctx);
	}
	unsetenv("XDG_DATA_HOME");
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Each image adds its own PMUs of this machine. They are kept in order, however many, and PMUs
 * of images are searched first. */
static void machines_of_images(void **state)
{
	unsigned n = table_count_builtins(), alone;
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX";
	pfm_ctx_options_t options = { .size = sizeof(options), .cpuid = "GenuineIntel-6-8F-4" };
	pfm_ctx_t *ctx;

	(void)state;
	assert_non_null(mkdtemp(root));
	options.images = options.sysfs_root = root;
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	alone = ctx->n_host_pmus;
	pfm_close_context(ctx);
	put_image(root, "a.pmdb", 0);
	put_image(root, "b.pmdb", 0);
	put_image(root, "c.pmdb", 0);
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	assert_int_equal(ctx->n_host_pmus, 4 * alone);
	assert_true(ctx->n_host_pmus > 64);
	assert_int_equal(ctx->n_search_order, 4 * alone);
	for (unsigned i = 0; i < ctx->n_host_pmus; i++) {
		assert_int_equal(ctx->host_pmus[i].pmu_index,
		                 ctx->host_pmus[i % alone].pmu_index + i / alone * n);
		assert_int_equal(ctx->search_order[i],
		                 ctx->host_pmus[(i + alone) % ctx->n_host_pmus].pmu_index);
	}
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Unusable images are reported: first those that were refused at once, then those that were
 * found damaged. A file that the caller names must be valid. */
static void images_that_are_refused(void **state)
{
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX";
	pfm_ctx_options_t options = { .size = sizeof(options), .flags = PFM_CTX_NO_HOST };
	const char *path = NULL, *text = NULL;
	pfm_error_t why = { .size = sizeof(why) };
	char file[64];
	pfm_ctx_t *ctx;

	(void)state;
	assert_non_null(mkdtemp(root));
	options.images = root;
	put_image(root, "a.pmdb", 0);
	put_image(root, "b.pmdb", 64);
	put(root, "c.pmdb", "no image");
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_rejected_image(ctx, 0, &path, &text), PFMLIB_SUCCESS);
	assert_string_equal(path + strlen(root), "/c.pmdb");
	assert_int_equal(pfm_describe_rejected_image(ctx, 1, &path, &text), PFMLIB_SUCCESS);
	assert_string_equal(path + strlen(root), "/b.pmdb");
	assert_int_equal(pfm_describe_rejected_image(ctx, 2, &path, &text), PFMLIB_ERR_NOTFOUND);
	assert_true(context_is_pmu_usable(ctx, ctx->images.maps[0].first_pmu) &&
	            !context_is_pmu_usable(ctx, ctx->images.maps[1].first_pmu));
	pfm_close_context(ctx);
	snprintf(file, sizeof(file), "%s/c.pmdb", root);
	options.images = file;
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_IMAGE);
	assert_true(!ctx && why.kind == PFM_KIND_IMAGE);
	options.flags |= PFM_CTX_NO_IMAGES; /* no image is opened */
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_SUCCESS);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

UNIT(context_loading, cmocka_unit_test(units_of_images), cmocka_unit_test(machines_of_images),
     cmocka_unit_test(images_that_are_refused));
