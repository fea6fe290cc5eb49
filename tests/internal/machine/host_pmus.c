/* SPDX-License-Identifier: MIT */
/* PMUs of a machine: the tables that match its processor, and the kernel's PMUs that count their
 * events. */
#include "units.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guard.h"
#include "machine_files.h"
#include "open_for.h"
#include "lookup/lookup.h"

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
		assert_int_equal(ctx->n_search_order,
		                 ctx->n_host_pmus + ctx->n_pmus - ctx->first_kernel_pmu);
		assert_true(ctx->n_host_pmus > 0);
		for (unsigned k = 0; k < ctx->n_host_pmus; k++) {
			struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->host_pmus[k].pmu_index);

			assert_true(k == 0 ||
			            ctx->host_pmus[k].pmu_index > ctx->host_pmus[k - 1].pmu_index);
			assert_true((u.flags & PFM_PMU_HOST) && !(u.flags & PFM_PMU_HIDDEN));
			has |= pfmi_context_table_has_name(u.table,
			                                   pfmi_base_make_slice(rows[i].has));
			has_not |= pfmi_context_table_has_name(
				u.table, pfmi_base_make_slice(rows[i].has_not));
		}
		if (!has || has_not)
			fail_msg("%s: %d %d", rows[i].cpuid, has, has_not);
		for (unsigned u = 0, k = 0; u < table_count_builtins();
		     u++) { /* and other PMUs are not */
			bool here = k < ctx->n_host_pmus && ctx->host_pmus[k].pmu_index == u;

			assert_int_equal(!!(pfmi_context_get_pmu(ctx, u).flags & PFM_PMU_HOST),
			                 here);
			k += here;
		}
		pfm_close_context(ctx);
	}
	rmdir(root);
}

/* PMUs of the kernel follow all others. Tables of lists are tied to the kernel's PMUs that they
 * describe, and boxes that the kernel does not export are missing. */
static void units_of_the_kernel(void **state)
{
	static const char *const files[][2] = {
		{ DEVICES "cpu/type", "4\n" },
		{ DEVICES "cpu/format/event", "config:0-7\n" },
		{ DEVICES "cpu/events/cycles", "event=0x3c\n" },
		{ DEVICES "uncore_imc_0/type", "10\n" },
		{ DEVICES "uncore_imc_0/cpumask", "0\n" },
		{ DEVICES "uncore_imc_0/format/event", "config:0-7\n" },
		{ DEVICES "uncore_imc_1/type", "11\n" },
		{ DEVICES "uncore_imc_1/cpumask", "0\n" },
		{ DEVICES "uncore_imc_1/format/event", "config:0-7\n" }
	};
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
		assert_true(u.perf_type == (core ? 4 : 10) &&
		            u.kernel_pmu->n_instances == (core ? 1 : 2));
		assert_int_equal(u.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL),
		                 PFM_PMU_HOST | PFM_PMU_KERNEL);
		assert_int_equal(!!(u.flags & PFM_PMU_CORE), core);
		while ((unit = pfmi_context_next_named_pmu(ctx, name, pfmi_table_hash_name(name),
		                                           &c)) >= 0)
			met |= (unsigned)unit == ctx->first_kernel_pmu + i;
		assert_true(met && context_is_pmu_usable(ctx, ctx->first_kernel_pmu + i) &&
		            !pfmi_context_get_pmu_image(ctx, ctx->first_kernel_pmu + i));
	}
	for (unsigned k = 0; k < ctx->n_host_pmus; k++) {
		struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->host_pmus[k].pmu_index);

		if (u.table->encoder == ENCODER_PERF)
			continue;
		assert_true(u.kernel_pmu && (u.flags & PFM_PMU_KERNEL) &&
		            u.perf_type == u.kernel_pmu->instance_types[0]);
		assert_string_equal(u.kernel_pmu->name,
		                    u.flags & PFM_PMU_UNCORE ? "uncore_imc" : "cpu");
		cores += !(u.flags & PFM_PMU_UNCORE);
		boxes += !!(u.flags & PFM_PMU_UNCORE);
	}
	assert_true(cores == 1 && boxes > 0);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A core PMU of another name than the list's is the processor's if it is the only one; of two,
 * neither is. The hash table of a single PMU ends searches too. */
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
		assert_int_equal(
			pfmi_context_next_named_pmu(ctx, nobody, pfmi_table_hash_name(nobody), &c),
			-1);
		pfm_close_context(ctx);
	}
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

UNIT(machine_host_pmus, cmocka_unit_test(units_of_machines), cmocka_unit_test(units_of_the_kernel),
     cmocka_unit_test(cores_with_names_of_their_own));
