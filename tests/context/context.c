/* SPDX-License-Identifier: MIT */
/* Contexts: which units a name stands for, what is known of each, what a machine has of them, and who keeps a context open. */
#include "units.h"
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guard.h"
#include "open_for.h"
#include "lookup/lookup.h"

/* A table with other names. */
static bool is(const char *aka, const char *s)
{
	static struct {
		struct table t;
		char pool[128];
	} x;

	memset(&x, 0, sizeof(x));
	x.t.pool = sizeof(x.t);
	x.t.name = 1;
	x.t.aliases = 10;
	strcpy(x.pool + 1, "own");
	snprintf(x.pool + 10, sizeof(x.pool) - 10, "%s", aka);
	return pfmi_context_table_has_name(&x.t, pfmi_base_make_slice(s));
}

static void names_of_tables(void **state)
{
	(void)state;
	assert_true(is("", "own") && is("", "OWN") && is("one two three", "Own"));
	assert_true(is("one two three", "one") && is("one two three", "TWO") && is("one two three", "three"));
	assert_false(is("one two three", "tw") || is("one two three", "wo") || is("one two three", "threes"));
	assert_false(is("", "") || is("", "ow") || is("", "owner"));
}

/* Every unit is met by its name, and every one that is met has the name; other names come behind. */
static void walks_over_names(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_builtin_at(i);
		const char *name = table_text(t, t->name), *aka = table_text(t, t->aliases);
		struct slice s[2] = { pfmi_base_make_slice(name), { aka, (uint32_t)strcspn(aka, " ") } };

		for (unsigned k = 0; k < 2 && s[k].len; k++) {
			struct pmu_name_iter c = { 0 };
			bool met = false, others = false;
			int unit;

			while ((unit = pfmi_context_next_named_pmu(ctx, s[k], pfmi_table_hash_name(s[k]), &c)) >= 0) {
				bool own = context_table_has_own_name(table_builtin_at((unsigned)unit), s[k]);

				assert_true(pfmi_context_table_has_name(table_builtin_at((unsigned)unit), s[k]) && c.table == table_builtin_at((unsigned)unit) && !c.image_map);
				assert_false(own && others); /* own names first */
				others |= !own;
				met |= (unsigned)unit == i;
			}
			assert_true(met);
		}
	}
	pfm_close_context(ctx);
}

static void names_of_nobody(void **state)
{
	static const char *const names[] = { "", "skylak", "skxx", "no such unit", " skx" };
	pfm_ctx_t *ctx = open_for(NULL);
	uint32_t n = 77;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct slice s = pfmi_base_make_slice(names[i]);
		struct pmu_name_iter c = { 0 };

		assert_int_equal(pfmi_context_next_named_pmu(ctx, s, pfmi_table_hash_name(s), &c), -1);
		assert_null(pfmi_context_find_family(table_builtin_image(), s, pfmi_table_hash_name(s)));
		assert_null(pfmi_context_find_family_members(table_builtin_image(), s, pfmi_table_hash_name(s), &n));
		assert_int_equal(n, 0);
	}
	pfm_close_context(ctx);
}

/* Parts of a processor say that they are. */
static void parts_of_processors(void **state)
{
	const struct image *im = table_builtin_image();
	const struct pmu_family *wholes = table_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_image_array(im, ARRAY_POOL);

	(void)state;
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++) {
		struct slice s = pfmi_base_make_slice(pool + wholes[i].name);
		uint32_t n = 0;
		const uint16_t *parts = pfmi_context_find_family_members(im, s, pfmi_table_hash_name(s), &n);

		assert_ptr_equal(pfmi_context_find_family(im, s, pfmi_table_hash_name(s)), wholes + i);
		assert_true(parts && n == wholes[i].n_members && n > 0);
		for (uint32_t k = 0; parts && k < n; k++)
			assert_true(parts[k] < table_count_builtins());
	}
}

/* What is known of a unit that no machine has. */
static void units_of_no_machine(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	assert_int_equal(context_count_pmus(ctx), table_count_builtins());
	assert_true(ctx->n_host_pmus == 0 && ctx->n_search_order == 0 && ctx->n_sources == 2);
	for (unsigned i = 0; i < context_count_pmus(ctx); i++) {
		struct pmu_info u = pfmi_context_get_pmu(ctx, i);
		uint32_t f = u.table->flags;

		assert_true(u.table == table_builtin_at(i) && !u.kernel_pmu && !u.image_map && u.core_type == 0 && u.perf_type == u.table->perf_type);
		assert_string_equal(u.origin, "built in");
		assert_int_equal(!!(u.flags & PFM_PMU_UNCORE), !!(f & TABLE_UNCORE));
		assert_int_equal(!!(u.flags & PFM_PMU_FALLBACK), !!(f & TABLE_FALLBACK));
		assert_int_equal(!!(u.flags & PFM_PMU_HIDDEN), !!(f & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY)));
		assert_int_equal(!!(u.flags & PFM_PMU_CORE), !(f & TABLE_UNCORE) && u.table->encoder != ENCODER_PERF);
		assert_int_equal(u.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL), 0);
		assert_true(context_is_pmu_usable(ctx, i) && !pfmi_context_pmu_image(ctx, i) && !context_pmu_kernel(ctx, i));
	}
	pfm_close_context(ctx);
}

/* A machine of which nothing is known but its processor: below a folder that is empty. */
static pfm_ctx_t *open_machine(const char *cpuid, const char *root)
{
	pfm_ctx_options_t options = { .size = sizeof(options), .flags = PFM_CTX_NO_IMAGES, .cpuid = cpuid, .sysfs_root = root };
	pfm_ctx_t *ctx;

	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	return ctx;
}

/* The units it has are in order, each once, and unprefixed names are looked up in them all. */
static void units_of_machines(void **state)
{
	static const struct {
		const char *cpuid, *has, *has_not;
	} rows[] = {
		{ "GenuineIntel-6-55-4", "skylakex", "coreduo" },
		{ "GenuineIntel-6-55-4", "skylakex", "intel_arch" },
		{ "GenuineIntel-6-E-8", "coreduo", "skylakex" },
		{ "GenuineIntel-6-E-8", "coreduo", "intel_arch" },
		{ "AuthenticAMD-25-61-2", "amdzen4", "amd" },
		{ "AuthenticAMD-25-61-2", "amdzen4", "coreduo" },
		{ "GenuineIntel-6-FE-0", "intel_arch", "coreduo" },
	};
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_ctx_t *ctx = open_machine(rows[i].cpuid, root);
		bool has = false, has_not = false;

		assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
		assert_int_equal(ctx->n_search_order, ctx->n_host_pmus + ctx->n_pmus - ctx->first_kernel_pmu);
		assert_true(ctx->n_host_pmus > 0);
		for (unsigned k = 0; k < ctx->n_host_pmus; k++) {
			struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->host_pmus[k].pmu_index);

			assert_true(k == 0 || ctx->host_pmus[k].pmu_index > ctx->host_pmus[k - 1].pmu_index);
			assert_true((u.flags & PFM_PMU_HOST) && !(u.flags & PFM_PMU_HIDDEN));
			has |= pfmi_context_table_has_name(u.table, pfmi_base_make_slice(rows[i].has));
			has_not |= pfmi_context_table_has_name(u.table, pfmi_base_make_slice(rows[i].has_not));
		}
		if (!has || has_not)
			fail_msg("%s: %d %d", rows[i].cpuid, has, has_not);
		for (unsigned u = 0, k = 0; u < table_count_builtins(); u++) { /* and no other one says so */
			bool here = k < ctx->n_host_pmus && ctx->host_pmus[k].pmu_index == u;

			assert_int_equal(!!(pfmi_context_get_pmu(ctx, u).flags & PFM_PMU_HOST), here);
			k += here;
		}
		pfm_close_context(ctx);
	}
	rmdir(root);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

/* A file below @root, and the folders on the way to it. */
static void put(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

#define DEVICES "sys/bus/event_source/devices/"

/* The kernel's PMUs are units behind all others; what a list describes of them is tied to them, and boxes that the kernel does not show
 * are not there. */
static void units_of_the_kernel(void **state)
{
	static const char *const files[][2] = { { DEVICES "cpu/type", "4\n" },
		                                { DEVICES "cpu/format/event", "config:0-7\n" },
		                                { DEVICES "cpu/events/cycles", "event=0x3c\n" },
		                                { DEVICES "uncore_imc_0/type", "10\n" },
		                                { DEVICES "uncore_imc_0/cpumask", "0\n" },
		                                { DEVICES "uncore_imc_0/format/event", "config:0-7\n" },
		                                { DEVICES "uncore_imc_1/type", "11\n" },
		                                { DEVICES "uncore_imc_1/cpumask", "0\n" },
		                                { DEVICES "uncore_imc_1/format/event", "config:0-7\n" } };
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX";
	unsigned cores = 0, boxes = 0;
	pfm_ctx_t *ctx;

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < COUNT(files); i++)
		put(root, files[i][0], files[i][1]);
	ctx = open_machine("GenuineIntel-6-55-4", root);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	assert_int_equal(ctx->n_pmus, ctx->first_kernel_pmu + 2);
	for (unsigned i = 0; i < 2; i++) { /* and they come first where no unit is named */
		struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->first_kernel_pmu + i);
		bool core = strcmp(u.kernel_pmu->name, "cpu") == 0;
		struct slice name = pfmi_base_make_slice(u.kernel_pmu->name);
		struct pmu_name_iter c = { 0 };
		bool met = false;
		int unit;

		assert_int_equal(ctx->search_order[i], ctx->first_kernel_pmu + i);
		assert_string_equal(u.origin, "kernel");
		assert_true(u.perf_type == (core ? 4 : 10) && u.kernel_pmu->n_instances == (core ? 1 : 2));
		assert_int_equal(u.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL), PFM_PMU_HOST | PFM_PMU_KERNEL);
		assert_int_equal(!!(u.flags & PFM_PMU_CORE), core);
		while ((unit = pfmi_context_next_named_pmu(ctx, name, pfmi_table_hash_name(name), &c)) >= 0)
			met |= (unsigned)unit == ctx->first_kernel_pmu + i;
		assert_true(met && context_is_pmu_usable(ctx, ctx->first_kernel_pmu + i) && !pfmi_context_pmu_image(ctx, ctx->first_kernel_pmu + i));
	}
	for (unsigned k = 0; k < ctx->n_host_pmus; k++) {
		struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->host_pmus[k].pmu_index);

		if (u.table->encoder == ENCODER_PERF)
			continue;
		assert_true(u.kernel_pmu && (u.flags & PFM_PMU_KERNEL) && u.perf_type == u.kernel_pmu->instance_types[0]);
		assert_string_equal(u.kernel_pmu->name, u.flags & PFM_PMU_UNCORE ? "uncore_imc" : "cpu");
		cores += !(u.flags & PFM_PMU_UNCORE);
		boxes += !!(u.flags & PFM_PMU_UNCORE);
	}
	assert_true(cores == 1 && boxes > 0);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* One core PMU that has a name of its own is the core's, whatever the list calls it; which of two it would be nobody knows. A kernel with
 * a single PMU has a hash table as well, where walks end. */
static void cores_with_names_of_their_own(void **state)
{
	static const char *const devices[] = { "armv8_x", "armv8_y" };
	char root[] = P_tmpdir "/perfmon-ctx-XXXXXX", path[96];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (unsigned n = 1; n <= COUNT(devices); n++) {
		struct slice nobody = pfmi_base_make_slice("armv8_z");
		struct pmu_name_iter c = { 0 };
		unsigned tied = 0, cores = 0;
		pfm_ctx_t *ctx;

		snprintf(path, sizeof(path), DEVICES "%s/type", devices[n - 1]);
		put(root, path, "8\n");
		snprintf(path, sizeof(path), DEVICES "%s/cpus", devices[n - 1]);
		put(root, path, "0-3\n");
		snprintf(path, sizeof(path), DEVICES "%s/format/event", devices[n - 1]);
		put(root, path, n == 1 ? "config:0-15\n" : "config:0-7\n");
		ctx = open_machine("0x00000000410fd0c1", root);
		assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
		assert_int_equal(ctx->kernel->n_pmus, n);
		for (unsigned k = 0; k < ctx->n_host_pmus; k++) {
			struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->host_pmus[k].pmu_index);

			if (u.flags & PFM_PMU_CORE) {
				cores++;
				tied += u.kernel_pmu != NULL;
			}
		}
		assert_true(cores == 1 && tied == (n == 1));
		assert_true(ctx->sources[ctx->n_sources - 1].n_name_slots > n);
		assert_int_equal(pfmi_context_next_named_pmu(ctx, nobody, pfmi_table_hash_name(nobody), &c), -1);
		pfm_close_context(ctx);
	}
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- images --------------------------------------------------------------------------------------------------------------- */

/* What is built in as a file, of which @n bytes are other ones in the middle. */
static void put_image(const char *root, const char *path, size_t n)
{
	const struct image *im = table_builtin_image();
	char full[256];
	FILE *f;

	put(root, path, "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "w");
	if (!f || fwrite(im, 1, (size_t)im->size, f) != im->size || fseek(f, (long)im->size / 2, SEEK_SET))
		abort();
	while (n--)
		fputc(0xa5, f);
	if (fclose(f))
		abort();
}

/* Unit @i is table @k of image @map; of none if that is negative. */
static void is_table_of(const pfm_ctx_t *ctx, unsigned i, unsigned k, int map)
{
	struct pmu_info u = pfmi_context_get_pmu(ctx, i);
	const struct image_map *m = map < 0 ? NULL : &ctx->images.maps[map];

	assert_ptr_equal(u.image_map, m);
	assert_ptr_equal(pfmi_context_pmu_image(ctx, i), m);
	assert_string_equal(u.origin, m ? m->path : "built in");
	assert_string_equal(table_text(u.table, u.table->name), table_text(table_builtin_at(k), table_builtin_at(k)->name));
	assert_true(u.table == table_image_table_at(m ? m->image : table_builtin_image(), k) && u.perf_type == table_builtin_at(k)->perf_type);
}

/* The units called like table @k come in this order of images. */
static void come_in_order(const pfm_ctx_t *ctx, unsigned k, const int *maps, unsigned n)
{
	struct slice s = pfmi_base_make_slice(table_text(table_builtin_at(k), table_builtin_at(k)->name));
	struct pmu_name_iter c = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned want = (maps[i] < 0 ? 0 : ctx->images.maps[maps[i]].first_pmu) + k;

		assert_int_equal(pfmi_context_next_named_pmu(ctx, s, pfmi_table_hash_name(s), &c), want);
		assert_ptr_equal(c.image_map, maps[i] < 0 ? NULL : &ctx->images.maps[maps[i]]);
	}
}

/* True if images are looked for in the user's folder and nowhere else: nobody says where, and none are installed. */
static bool users_alone(void)
{
	char path[2048];
	const char *last;

	if (getenv("PERFMON_EVENTS") || pfmi_image_get_default_path(path, sizeof(path)) >= sizeof(path))
		return false;
	last = strrchr(path, ':');
	return last && access(last + 1, F_OK) != 0;
}

/* Images' units are numbered behind what is built in, and looked up before that if somebody chose them, else behind it. */
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
		pfm_ctx_options_t options = { .size = sizeof(options), .flags = PFM_CTX_NO_HOST, .images = choose ? folder : NULL };
		pfm_ctx_t *ctx;

		assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
		assert_int_equal(context_count_pmus(ctx), n);
		assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
		assert_true(ctx->images.n_maps == 2 && ctx->images.maps[0].first_pmu == n && ctx->images.maps[1].first_pmu == 2 * n);
		assert_true(context_count_pmus(ctx) == 3 * n && ctx->first_kernel_pmu == 3 * n && ctx->n_sources == 4);
		assert_null(pfmi_context_pmu_image(ctx, 3 * n));
		for (unsigned i = 0; i < 3 * n; i++)
			is_table_of(ctx, i, i % n, (int)(i / n) - 1);
		for (unsigned k = 0; k < n; k++)
			come_in_order(ctx, k, choose ? chosen : found, 3);
		pfm_close_context(ctx);
	}
	unsetenv("XDG_DATA_HOME");
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A machine has a unit of each image; they are kept in order, as many as they may be, and images' are asked first. */
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
		assert_int_equal(ctx->host_pmus[i].pmu_index, ctx->host_pmus[i % alone].pmu_index + i / alone * n);
		assert_int_equal(ctx->search_order[i], ctx->host_pmus[(i + alone) % ctx->n_host_pmus].pmu_index);
	}
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* What cannot be used is told: first what was refused at once, then what was found to be damaged. A file by its name must be good. */
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
	assert_int_equal(pfm_describe_refusal(ctx, 0, &path, &text), PFMLIB_SUCCESS);
	assert_string_equal(path + strlen(root), "/c.pmdb");
	assert_int_equal(pfm_describe_refusal(ctx, 1, &path, &text), PFMLIB_SUCCESS);
	assert_string_equal(path + strlen(root), "/b.pmdb");
	assert_int_equal(pfm_describe_refusal(ctx, 2, &path, &text), PFMLIB_ERR_NOTFOUND);
	assert_true(context_is_pmu_usable(ctx, ctx->images.maps[0].first_pmu) && !context_is_pmu_usable(ctx, ctx->images.maps[1].first_pmu));
	pfm_close_context(ctx);
	snprintf(file, sizeof(file), "%s/c.pmdb", root);
	options.images = file;
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_IMAGE);
	assert_true(!ctx && why.kind == PFM_KIND_IMAGE);
	options.flags |= PFM_CTX_NO_IMAGES; /* nobody looks */
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_SUCCESS);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- walks around the end of a hash table ------------------------------------------------------------------------------------ */

/* Slots of a table that ends where its memory does: @number, as @other name or not, is in the first, and all between where the search for
 * @h begins and the end are somebody else's. NULL if that does not leave one free. */
static uint32_t *slots_around(uint32_t h, uint32_t n, uint32_t number, size_t before)
{
	uint32_t *calls;

	if (table_first_slot(h, n) < 2 || (uint16_t)h == UINT16_MAX)
		return NULL;
	calls = (uint32_t *)((char *)guard_begin(before + n * sizeof(*calls)) + before);
	for (uint32_t i = table_first_slot(h, n); i < n; i++)
		calls[i] = ((uint32_t)(uint16_t)h + 1) << 16 | 1;
	calls[0] = h << 16 | number;
	return calls;
}

/* The table is in the first slot, or in the last. */
static void find_around(const char *name, unsigned table, bool other, bool last)
{
	struct slice s = pfmi_base_make_slice(name);
	uint32_t h = pfmi_table_hash_name(s), number = other ? PMU_NAME_IS_ALIAS : 0;

	for (uint32_t n = 3; n < 200; n++) {
		uint32_t *calls = table_first_slot(h, n) + last < n ? slots_around(h, n, number | (table + 1), 0) : NULL;
		struct pfm_ctx ctx = { .builtin_source = { table_builtin_image(), NULL, 0, table_count_builtins(), calls, n } };
		struct pmu_name_iter c = { 0 };

		if (!calls)
			continue;
		calls[n - 1 - last] = h << 16 | number | (table + 2); /* before it one of the same hash that is called otherwise */
		if (last) {
			calls[n - 1] = calls[0];
			calls[0] = 0;
		}
		assert_int_equal(pfmi_context_next_named_pmu(&ctx, s, h, &c), table);
		assert_int_equal(pfmi_context_next_named_pmu(&ctx, s, h, &c), -1);
		guard_end(calls, n * sizeof(*calls));
	}
}

static void walks_around_the_end(void **state)
{
	unsigned n_others = 0;

	(void)state;
	for (unsigned i = 0; i + 1 < table_count_builtins() && i < 64; i++) {
		const struct table *t = table_builtin_at(i);
		char aka[64];

		for (unsigned last = 0; last < 2; last++)
			find_around(table_text(t, t->name), i, false, last);
		if (sscanf(table_text(t, t->aliases), "%63s", aka) != 1 || pfmi_context_table_has_name(table_builtin_at(i + 1), pfmi_base_make_slice(aka)))
			continue;
		for (unsigned last = 0; last < 2; last++)
			find_around(aka, i, true, last);
		n_others++;
	}
	assert_true(n_others > 0);
	for (uint32_t h = 77, n = 4; n < 200; n += 2, h *= 77) { /* an even number: the image begins where one may */
		uint32_t *calls = slots_around(h, n, 5, sizeof(struct image)), at = 0;
		struct image *im;

		if (!calls)
			continue;
		im = (struct image *)(void *)((char *)calls - sizeof(*im));
		im->arrays[ARRAY_PMU_NAMES] = (struct image_array_span){ sizeof(*im), n };
		assert_int_equal(table_next_pmu_by_name(im, h, &at), 4);
		assert_int_equal(table_next_pmu_by_name(im, h, &at), -1);
		guard_end(im, sizeof(*im) + n * sizeof(*calls));
	}
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* A processor that stands for parts can be the one that is wanted, and any table. */
static void wanted_processors(void **state)
{
	const struct image *im = table_builtin_image();
	const struct pmu_family *wholes = table_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_image_array(im, ARRAY_POOL);

	(void)state;
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++)
		pfm_close_context(open_for(pool + wholes[i].name));
	for (unsigned i = 0; i < table_count_builtins(); i++)
		pfm_close_context(open_for(table_text(table_builtin_at(i), table_builtin_at(i)->name)));
}

/* Closed by the last who holds it; the default one is nobody's to close. */
static void holders(void **state)
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
	assert_ptr_equal(context_or_default(NULL), pfmi_context_get_default());
	pfm_close_context((pfm_ctx_t *)(uintptr_t)pfmi_context_get_default());
	pfm_close_context(NULL);
	assert_true(context_is_loaded(pfmi_context_get_default(), LOADED_BUILTIN));
	assert_int_equal(pfmi_context_get_default()->flags, 0);
}

static void options_that_make_no_sense(void **state)
{
	pfm_ctx_options_t options = { .size = sizeof(options), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES, .pmu = "no_such_unit" };
	pfm_error_t why = { .size = sizeof(why) };
	pfm_ctx_t *ctx = (pfm_ctx_t *)(void *)&options;
	const char *path, *text;

	(void)state;
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_NOPMU);
	assert_true(!ctx && why.kind == PFM_KIND_UNKNOWN_PMU);
	assert_int_equal(pfm_open_context(NULL, NULL, &why), PFMLIB_ERR_INVAL);
	options = (pfm_ctx_options_t){ .size = sizeof(options), .flags = PFM_CTX_NO_HOST, .images = __FILE__ "/none" };
	options.flags |= PFM_CTX_NO_IMAGES; /* nobody looks */
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_refusal(ctx, 0, &path, &text), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_refusal(ctx, 0, NULL, &text), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_refusal(ctx, 0, &path, NULL), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
	options = (pfm_ctx_options_t){ .size = 0 };
	assert_int_equal(pfm_open_context(&ctx, &options, &why), PFMLIB_ERR_INVAL);
}

UNIT(context_context, cmocka_unit_test(names_of_tables), cmocka_unit_test(walks_over_names), cmocka_unit_test(names_of_nobody),
     cmocka_unit_test(parts_of_processors), cmocka_unit_test(units_of_no_machine), cmocka_unit_test(units_of_machines),
     cmocka_unit_test(units_of_the_kernel), cmocka_unit_test(cores_with_names_of_their_own), cmocka_unit_test(units_of_images),
     cmocka_unit_test(machines_of_images), cmocka_unit_test(images_that_are_refused), cmocka_unit_test(walks_around_the_end),
     cmocka_unit_test(wanted_processors), cmocka_unit_test(holders), cmocka_unit_test(options_that_make_no_sense));
