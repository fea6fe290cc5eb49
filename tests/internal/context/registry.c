/* SPDX-License-Identifier: MIT */
/* PMUs of a context by number and by name: own names, aliases and families, all of them and nothing
 * else. */
#include "units.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guard.h"
#include "open_for.h"
#include "lookup/lookup.h"

/* A table with other names. */
static bool is_called(const char *aka, const char *s)
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
	assert_true(is_called("", "own") && is_called("", "OWN") &&
	            is_called("one two three", "Own"));
	assert_true(is_called("one two three", "one") && is_called("one two three", "TWO") &&
	            is_called("one two three", "three"));
	assert_false(is_called("one two three", "tw") || is_called("one two three", "wo") ||
	             is_called("one two three", "threes"));
	assert_false(is_called("", "") || is_called("", "ow") || is_called("", "owner"));
}

/* A walk over a name reaches every PMU that has it and no other; PMUs with the name as an alias
 * come last. */
static void walks_over_names(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		const char *name = table_get_text(t, t->name), *aka = table_get_text(t, t->aliases);
		struct slice s[2] = { pfmi_base_make_slice(name),
			              { aka, (uint32_t)strcspn(aka, " ") } };

		for (unsigned k = 0; k < 2 && s[k].len; k++) {
			struct pmu_name_iter c = { 0 };
			bool met = false, others = false;
			int unit;

			while ((unit = pfmi_context_next_named_pmu(
					ctx, s[k], pfmi_table_hash_name(s[k]), &c)) >= 0) {
				bool own = context_table_has_own_name(
					table_get_builtin((unsigned)unit), s[k]);

				assert_true(pfmi_context_table_has_name(
						    table_get_builtin((unsigned)unit), s[k]) &&
				            c.table == table_get_builtin((unsigned)unit) &&
				            !c.image_map);
				assert_false(own && others); /* own names first */
				others |= !own;
				met |= (unsigned)unit == i;
			}
			assert_true(met);
		}
	}
	pfm_close_context(ctx);
}

static void unknown_pmu_names(void **state)
{
	static const char *const names[] = { "", "skylak", "skxx", "no such unit", " skx" };
	pfm_ctx_t *ctx = open_for(NULL);
	uint32_t n = 77;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct slice s = pfmi_base_make_slice(names[i]);
		struct pmu_name_iter c = { 0 };

		EXPECT_ROW_NUMBER(names[i],
		                  pfmi_context_next_named_pmu(ctx, s, pfmi_table_hash_name(s), &c),
		                  -1);
		EXPECT_ROW_TRUE(names[i],
		                pfmi_context_find_family(table_get_builtin_image(), s,
		                                         pfmi_table_hash_name(s)) == NULL);
		EXPECT_ROW_TRUE(names[i], pfmi_context_find_family_members(
						  table_get_builtin_image(), s,
						  pfmi_table_hash_name(s), &n) == NULL);
		EXPECT_ROW_NUMBER(names[i], n, 0);
	}
	pfm_close_context(ctx);
}

/* Parts of a processor say that they are. */
static void parts_of_processors(void **state)
{
	const struct image *im = table_get_builtin_image();
	const struct pmu_family *wholes = table_get_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_get_image_array(im, ARRAY_POOL);

	(void)state;
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++) {
		struct slice s = pfmi_base_make_slice(pool + wholes[i].name);
		uint32_t n = 0;
		const uint16_t *parts =
			pfmi_context_find_family_members(im, s, pfmi_table_hash_name(s), &n);

		assert_ptr_equal(pfmi_context_find_family(im, s, pfmi_table_hash_name(s)),
		                 wholes + i);
		assert_true(parts && n == wholes[i].n_members && n > 0);
		for (uint32_t k = 0; parts && k < n; k++)
			assert_true(parts[k] < table_count_builtins());
	}
}

/* PMUs of a context without a host. */
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

		assert_true(u.table == table_get_builtin(i) && !u.kernel_pmu && !u.image_map &&
		            u.core_type == 0 && u.perf_type == u.table->perf_type);
		assert_string_equal(u.origin, "built in");
		assert_int_equal(!!(u.flags & PFM_PMU_UNCORE), !!(f & TABLE_UNCORE));
		assert_int_equal(!!(u.flags & PFM_PMU_FALLBACK), !!(f & TABLE_FALLBACK));
		assert_int_equal(!!(u.flags & PFM_PMU_HIDDEN),
		                 !!(f & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY)));
		assert_int_equal(!!(u.flags & PFM_PMU_CORE),
		                 !(f & TABLE_UNCORE) && u.table->encoder != ENCODER_PERF);
		assert_int_equal(u.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL), 0);
		assert_true(context_is_pmu_usable(ctx, i) && !pfmi_context_get_pmu_image(ctx, i) &&
		            !context_get_kernel_pmu(ctx, i));
	}
	pfm_close_context(ctx);
}

/* ---- walks around the end of a hash table ---------------------------------------------------- */

/* Slots of a table that ends where its memory does: @number, as @other name or not, is in the
 * first slot, and the slots from the start of the search for @h to the end belong to other
 * names. NULL if that does not leave one free. */
static uint32_t *slots_around(uint32_t h, uint32_t n, uint32_t number, size_t before)
{
	uint32_t *calls;

	if (table_get_first_slot(h, n) < 2 || (uint16_t)h == UINT16_MAX)
		return NULL;
	calls = (uint32_t *)((char *)guard_begin(before + n * sizeof(*calls)) + before);
	for (uint32_t i = table_get_first_slot(h, n); i < n; i++)
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
		uint32_t *calls = table_get_first_slot(h, n) + last < n
		                          ? slots_around(h, n, number | (table + 1), 0)
		                          : NULL;
		struct pfm_ctx ctx = { .builtin_source = { table_get_builtin_image(), NULL, 0,
			                                   table_count_builtins(), calls, n } };
		struct pmu_name_iter c = { 0 };

		if (!calls)
			continue;
		calls[n - 1 - last] =
			h << 16 | number |
			(table + 2); /* before it one of the same hash that is called otherwise */
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
		const struct table *t = table_get_builtin(i);
		char aka[64];

		for (unsigned last = 0; last < 2; last++)
			find_around(table_get_text(t, t->name), i, false, last);
		if (sscanf(table_get_text(t, t->aliases), "%63s", aka) != 1 ||
		    pfmi_context_table_has_name(table_get_builtin(i + 1),
		                                pfmi_base_make_slice(aka)))
			continue;
		for (unsigned last = 0; last < 2; last++)
			find_around(aka, i, true, last);
		n_others++;
	}
	assert_true(n_others > 0);
	for (uint32_t h = 77, n = 4; n < 200;
	     n += 2, h *= 77) { /* an even number: the image begins where one may */
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

UNIT(context_registry, cmocka_unit_test(names_of_tables), cmocka_unit_test(walks_over_names),
     cmocka_unit_test(unknown_pmu_names), cmocka_unit_test(parts_of_processors),
     cmocka_unit_test(units_of_no_machine), cmocka_unit_test(walks_around_the_end));
