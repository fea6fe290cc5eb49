/* SPDX-License-Identifier: MIT */
/* libpfm4's calls: what each gives, each argument that is wrong, callers with smaller structs. */
#include "libpfm4_internal.h"
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

static const char CYCLES[] = "skx::UNHALTED_CORE_CYCLES";

/* Before pfm_initialize() nothing answers. */
static void nothing_answers_before_pfm_initialize(void **state)
{
	pfm_pmu_info_t pmu = { .size = sizeof(pmu) };
	pfm_event_info_t event = { .size = sizeof(event) };
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	struct perf_event_attr kernel = { 0 };
	int skx = (int)l4_get_pmu(l4_number_of("skx"))->id;

	(void)state;
	l4_terminate();
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)skx, &pmu), PFM_ERR_NOINIT);
	assert_int_equal(pfm_find_event(CYCLES), PFM_ERR_NOINIT);
	assert_int_equal(pfm_get_event_info(0, PFM_OS_NONE, &event), PFM_ERR_NOINIT);
	assert_int_equal(pfm_get_event_attr_info(0, 0, PFM_OS_NONE, &attr), PFM_ERR_NOINIT);
	assert_int_equal(pfm_get_os_event_encoding(CYCLES, PFM_PLM3, PFM_OS_NONE, &arg),
	                 PFM_ERR_NOINIT);
	assert_int_equal(pfm_get_perf_event_encoding(CYCLES, PFM_PLM3, &kernel, NULL, NULL),
	                 PFM_ERR_NOINIT);
	assert_int_equal(pfm_get_event_next(0), -1);
	assert_int_equal(pfm_pmu_validate((pfm_pmu_t)skx, stderr), PFM_ERR_INVAL);
	l4_end_case();
}

static void infos_of_units(void **state)
{
	const struct l4_pmu *skx = l4_get_pmu(l4_number_of("skx"));
	pfm_pmu_info_t info = { .size = sizeof(info) };

	(void)state;
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)skx->id, &info), PFM_SUCCESS);
	assert_string_equal(info.name, "skx");
	assert_true((unsigned)info.pmu == skx->id && info.type == PFM_PMU_TYPE_CORE &&
	            info.is_present && !info.is_dfl);
	assert_true(info.size == sizeof(info) && info.num_cntrs == skx->n_counters &&
	            info.num_fixed_cntrs == skx->n_fixed);
	assert_true(info.nevents == (int)l4_count_events(l4_number_of("skx")) &&
	            info.first_event == l4_get_first_event_index(l4_number_of("skx")));
	assert_int_equal(info.max_encoding, skx->max_words);
	assert_int_equal(
		pfm_get_pmu_info((pfm_pmu_t)l4_get_pmu(l4_number_of("amd64_k7"))->id, &info),
		PFM_SUCCESS);
	assert_false(info.is_present);
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)-1, &info), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)L4_MAX_PMU_ID, &info), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)skx->id, NULL), PFM_ERR_INVAL);
	for (int id = 0; id < L4_MAX_PMU_ID; id++)
		assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)id, &info),
		                 l4_find_pmu_by_id((unsigned)id) < 0 ? PFM_ERR_NOTSUPP
		                                                     : PFM_SUCCESS);
	info.size = 1;
	assert_int_equal(pfm_get_pmu_info((pfm_pmu_t)skx->id, &info), PFM_ERR_INVAL);
}

/* A walk over all events of a PMU, as programs do it. */
static void a_walk_visits_each_event_once(void **state)
{
	static const char *const pmus[] = { "skx", "perf", "netburst" };

	(void)state;
	for (size_t i = 0; i < COUNT(pmus); i++) {
		uint32_t unit = l4_number_of(pmus[i]);
		int n = 0, last = -1;

		for (int idx = l4_get_first_event_index(unit); idx >= 0;
		     idx = pfm_get_event_next(idx)) {
			pfm_event_info_t info = { .size = sizeof(info) };

			assert_int_equal(pfm_get_event_info(idx, PFM_OS_NONE, &info), PFM_SUCCESS);
			assert_true(idx > last && info.idx == idx &&
			            (unsigned)info.pmu == l4_get_pmu(unit)->id && *info.name);
			for (int k = 0; k <= info.nattrs; k++) {
				pfm_event_attr_info_t attr = { .size = sizeof(attr) };
				int rc = pfm_get_event_attr_info(idx, k, PFM_OS_NONE, &attr);

				assert_int_equal(rc, k < info.nattrs ? PFM_SUCCESS : PFM_ERR_INVAL);
				assert_true(rc || (attr.idx == k && *attr.name));
			}
			last = idx;
			n++;
		}
		assert_int_equal(n, l4_count_events(unit));
	}
	assert_int_equal(pfm_get_event_next(-1), -1);
	assert_int_equal(pfm_get_event_next(INT32_MAX), -1);
}

static void infos_of_attributes(void **state)
{
	int idx = pfm_find_event("skx::L2_RQSTS");
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };
	bool mask = false, number = false;

	(void)state;
	assert_int_equal(pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT, &info), PFM_SUCCESS);
	assert_true(info.code == 0x24 && info.dtype == PFM_DTYPE_UINT64);
	for (int k = 0; k < info.nattrs; k++) {
		assert_int_equal(pfm_get_event_attr_info(idx, k, PFM_OS_PERF_EVENT_EXT, &attr),
		                 PFM_SUCCESS);
		if (strcmp(attr.name, "DEMAND_DATA_RD_MISS") == 0) {
			mask = true;
			assert_true(attr.type == PFM_ATTR_UMASK && attr.code == 0x21 &&
			            attr.ctrl == PFM_ATTR_CTRL_PMU && !attr.equiv && !attr.is_dfl);
		}
		if (strcmp(attr.name, "period") == 0) {
			number = true;
			assert_true(attr.type == PFM_ATTR_MOD_INTEGER &&
			            attr.ctrl == PFM_ATTR_CTRL_PERF_EVENT && *attr.desc);
		}
	}
	assert_true(mask && number);
	assert_int_equal(pfm_get_event_attr_info(idx, -1, PFM_OS_NONE, &attr), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_attr_info(idx, 0, PFM_OS_MAX, &attr), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_attr_info(-1, 0, PFM_OS_NONE, &attr), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_attr_info(idx, 0, PFM_OS_NONE, NULL), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_info(idx, PFM_OS_MAX, &info), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_info(idx, (pfm_os_t)-1, &info), PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_info(idx, PFM_OS_NONE, NULL), PFM_ERR_INVAL);
	assert_int_equal(pfm_find_event(NULL), PFM_ERR_INVAL);
}

/* Into the caller's array, if it is large enough, or into one that is made. */
static void codes_go_to_the_array_of_the_caller_or_a_new_one(void **state)
{
	static const char text[] = "skx::FRONTEND_RETIRED:DSB_MISS"; /* two words */
	uint64_t own[3] = { 7, 7, 7 }, *at = own;
	int count = 1, idx = -1;
	char *name = NULL;

	(void)state;
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, &name, &idx, &at, &count),
	                 PFM_ERR_TOOSMALL);
	assert_true(own[0] == 7 && count == 1 && !name && idx == -1);
	count = 3;
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, &name, &idx, &at, &count),
	                 PFM_SUCCESS);
	assert_true(own[0] == 0x5101c6 && own[1] == 0x11 && own[2] == 7 && count == 2 &&
	            at == own && idx == pfm_find_event(text));
	assert_string_equal(name,
	                    "skx::FRONTEND_RETIRED:DSB_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0");
	free(name);
	at = NULL;
	count = 0;
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &at, &count),
	                 PFM_SUCCESS);
	assert_true(count == 2 && at[1] == 0x11);
	free(at);
	at = NULL;
	count = 1;
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &at, &count),
	                 PFM_ERR_INVAL);
	at = own;
	count = 0;
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &at, &count),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_encoding(NULL, PFM_PLM3, NULL, NULL, &at, &(int){ 3 }),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, NULL, &(int){ 3 }),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_event_encoding(text, 0x20, NULL, NULL, &at, &(int){ 3 }),
	                 PFM_ERR_INVAL);
}

/* Members of the kernel's attr that the caller has set stay, and no byte after its stated size
 * is written. */
static void members_that_the_caller_has_set_stay(void **state)
{
	struct perf_event_attr attr = { .sample_type = 5, .read_format = 9, .disabled = 1 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg), .cpu = 77 };
	int idx = -1;

	(void)state;
	assert_int_equal(pfm_get_os_event_encoding("skx::UNHALTED_CORE_CYCLES:cpu=3", PFM_PLM3,
	                                           PFM_OS_PERF_EVENT_EXT, &arg),
	                 PFM_SUCCESS);
	assert_true(attr.config == 0x3c && attr.exclude_kernel && !attr.exclude_user &&
	            arg.cpu == 3);
	assert_true(attr.sample_type == 5 && attr.read_format == 9 && attr.disabled);
	assert_int_equal(pfm_get_perf_event_encoding(CYCLES, PFM_PLM0, &attr, NULL, &idx),
	                 PFM_SUCCESS);
	assert_true(attr.exclude_user && idx == pfm_find_event(CYCLES));
	assert_int_equal(pfm_get_perf_event_encoding(CYCLES, PFM_PLM0, NULL, NULL, &idx),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_perf_event_encoding(NULL, PFM_PLM0, &attr, NULL, &idx),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_perf_event_encoding(CYCLES, 0x20, &attr, NULL, &idx),
	                 PFM_ERR_INVAL);
	assert_int_equal(pfm_get_os_event_encoding(CYCLES, PFM_PLM3, PFM_OS_MAX, &arg),
	                 PFM_ERR_NOTSUPP);
	assert_int_equal(pfm_get_os_event_encoding(CYCLES, PFM_PLM3, PFM_OS_PERF_EVENT, NULL),
	                 PFM_ERR_INVAL);
	arg.attr = NULL;
	assert_int_equal(pfm_get_os_event_encoding(CYCLES, PFM_PLM3, PFM_OS_PERF_EVENT, &arg),
	                 PFM_ERR_INVAL);
	arg = (pfm_perf_encode_arg_t){ .attr = &attr, .size = 1 };
	assert_int_equal(pfm_get_os_event_encoding(CYCLES, PFM_PLM3, PFM_OS_PERF_EVENT, &arg),
	                 PFM_ERR_INVAL);
}

static void the_self_test_of_a_pmu_passes(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	if (!f)
		skip();
	assert_int_equal(pfm_pmu_validate((pfm_pmu_t)l4_get_pmu(l4_number_of("skx"))->id, f),
	                 PFM_SUCCESS);
	assert_true(ftell(f) > 0);
	fclose(f);
	assert_int_equal(pfm_pmu_validate((pfm_pmu_t)L4_MAX_PMU_ID, stderr), PFM_ERR_INVAL);
	assert_int_equal(pfm_pmu_validate((pfm_pmu_t)0, NULL), PFM_ERR_INVAL);
}

UNIT(compat_libpfm4_pfmlib, cmocka_unit_test(nothing_answers_before_pfm_initialize),
     cmocka_unit_test(infos_of_units), cmocka_unit_test(a_walk_visits_each_event_once),
     cmocka_unit_test(infos_of_attributes),
     cmocka_unit_test(codes_go_to_the_array_of_the_caller_or_a_new_one),
     cmocka_unit_test(members_that_the_caller_has_set_stay),
     cmocka_unit_test(the_self_test_of_a_pmu_passes));
