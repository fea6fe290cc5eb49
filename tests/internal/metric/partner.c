/* SPDX-License-Identifier: MIT */
/* Partners of metrics: those of lists, our own, those of what a metric is a part of. */
#include <strings.h>
#include "units.h"
#include "open_for.h"
#include "metric/metric.h"

/* Writes partner @i of metric @name to @buf. Returns 0 or the error code. */
static int get_partner(const pfm_ctx_t *ctx, const char *name, unsigned i, char *buf, size_t len)
{
	unsigned event;
	int pmu;

	assert_int_equal(pfm_find_event_by_text(ctx, name, &pmu, &event, NULL), PFMLIB_SUCCESS);
	return pfm_print_metric_partner(ctx, pmu, event, i, buf, len);
}

static void partners_by_name(void **state)
{
	/* From LocateWith of Intel's lists, sample_events of Arm's, and partners.txt (spr: Intel's
	 * list has "#NA" for Memory_Bound). PEBS events of Intel's lists have a precise form. */
	static const struct {
		const char *metric;
		unsigned i;
		const char *partner;
	} rows[] = {
		{ "spr::Memory_Bound", 0, "spr::MEM_LOAD_RETIRED.L3_MISS:pp" },
		{ "spr::DRAM_Bound", 0, "spr::MEM_LOAD_RETIRED.L3_MISS:pp" },
		{ "spr::Backend_Bound", 0, "spr::TOPDOWN.BACKEND_BOUND_SLOTS" },
		{ "spr::Bad_Speculation", 0, "spr::BR_MISP_RETIRED.ALL_BRANCHES:pp" },
		{ "spr::ICache_Misses", 0, "spr::FRONTEND_RETIRED.L2_MISS:pp" },
		{ "spr::ICache_Misses", 1, "spr::FRONTEND_RETIRED.L1I_MISS:pp" },
		{ "spr::ICache_Misses", 2, NULL },
		{ "spr::Core_Bound", 0, "spr::TOPDOWN.BACKEND_BOUND_SLOTS" },
		{ "spr::l3_mpki", 0, "spr::MEM_LOAD_RETIRED.L3_MISS:pp" },
		{ "spr::ipc", 0, NULL },
		{ "neoverse_v2::backend_bound", 0, "neoverse_v2::STALL_SLOT_BACKEND" },
		{ "neoverse_v2::branch_mpki", 0, "neoverse_v2::BR_MIS_PRED_RETIRED" },
		{ "amdzen5::backend_bound_by_cpu", 0,
		  "amdzen5::de_no_dispatch_per_slot.backend_stalls" },
		{ "amdzen5::l2_mpki", 0, "amdzen5::l2_cache_req_stat.ic_dc_miss_in_l2" },
		{ "u74::branch_mpki", 0, "u74::BRANCH_DIRECTION_MISPREDICTION" },
		{ "c900_legacy::branch_mpki", 0, "hardware::branch_misses" },
	};
	pfm_ctx_t *ctx = open_for(NULL);
	char buf[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int n = get_partner(ctx, rows[i].metric, rows[i].i, buf, sizeof(buf));

		if (!rows[i].partner) {
			assert_int_equal(n, PFMLIB_ERR_NOTFOUND);
			continue;
		}
		assert_int_equal(n, strlen(rows[i].partner));
		assert_string_equal(buf, rows[i].partner);
	}
	pfm_close_context(ctx);
}

static void partners_are_cut_to_the_buffer(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *want = "spr::MEM_LOAD_RETIRED.L3_MISS:pp";
	char buf[64];

	(void)state;
	for (size_t len = 1; len < sizeof(buf); len++) {
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(get_partner(ctx, "spr::Memory_Bound", 0, buf, len), strlen(want));
		assert_int_equal(strlen(buf), len <= strlen(want) ? len - 1 : strlen(want));
		assert_memory_equal(buf, want, strlen(buf));
	}
	assert_int_equal(get_partner(ctx, "spr::Memory_Bound", 0, NULL, 0), strlen(want));
	assert_int_equal(get_partner(ctx, "spr::Memory_Bound", 0, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(get_partner(ctx, "spr::INST_RETIRED.ANY", 0, buf, sizeof(buf)),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_print_metric_partner(ctx, -1, 0, 0, buf, sizeof(buf)),
	                 PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
}

/* True for figures beside the tree, which vendors' lists group like parts of it. */
static bool is_beside_tree(const char *name)
{
	return strncasecmp(name, "info_", 5) == 0 || strstr(name, "Bottleneck") != NULL ||
	       strcmp(name, "smt_contention_share") == 0;
}

/* Partners of all tables can be encoded; each part of a tree of a core has one. */
static void partners_of_all_metrics_can_be_encoded(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned with = 0, nodes = 0;

	(void)state;
	for (unsigned pmu = 0; pmu < context_count_pmus(ctx); pmu++) {
		const struct table *t = context_get_pmu_table(ctx, pmu);

		if (!context_is_pmu_usable(ctx, pmu) || t->flags & TABLE_UNCORE)
			continue;
		for (uint32_t row = 0; row < t->n_rows; row++) {
			pfm_metric_info_t info = PFM_INIT(info);
			char buf[256];
			unsigned i = 0;

			if (pfm_describe_metric(ctx, (int)pmu, row, &info))
				continue;
			for (;
			     pfm_print_metric_partner(ctx, (int)pmu, row, i, buf, sizeof(buf)) > 0;
			     i++) {
				pfm_encoding_t enc = PFM_INIT(enc);

				if (pfm_encode_event(ctx, buf, 0, &enc, NULL))
					fail_msg("%s of %s::%s", buf, table_get_text(t, t->name),
					         info.name);
			}
			with += i != 0;
			if (!*info.parent || is_beside_tree(info.name))
				continue;
			nodes++;
			if (!i)
				fail_msg("%s::%s has no partner", table_get_text(t, t->name),
				         info.name);
		}
	}
	assert_true(with > 2500 && nodes > 1500);
	pfm_close_context(ctx);
}

UNIT(metric_partner, cmocka_unit_test(partners_by_name),
     cmocka_unit_test(partners_are_cut_to_the_buffer),
     cmocka_unit_test(partners_of_all_metrics_can_be_encoded));
