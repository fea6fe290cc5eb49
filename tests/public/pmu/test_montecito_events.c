/* SPDX-License-Identifier: MIT */
/* Queries about each Montecito event against vectors/montecito_events.jsonl, and libpfm 3 calls
 * with invalid arguments. Group and set are those of the hardware (hw_group, hw_set): libpfm 3.10
 * reads them at wrong bits. */
#include "montecito.h"

/* ---- one test per event ---------------------------------------------------------------------- */

static unsigned index_of_row(const json_t *row)
{
	unsigned i = ~0u;

	assert_int_equal(pfm_find_event(row_text(row, "name"), &i), 0);
	return i;
}

static void check_kinds(unsigned i, const json_t *row)
{
	static const struct {
		const char *key;
		int (*is)(unsigned);
	} kinds[] = {
		{ "is_ear", pfm_mont_is_ear },
		{ "is_dear", pfm_mont_is_dear },
		{ "is_dear_tlb", pfm_mont_is_dear_tlb },
		{ "is_dear_cache", pfm_mont_is_dear_cache },
		{ "is_dear_alat", pfm_mont_is_dear_alat },
		{ "is_iear", pfm_mont_is_iear },
		{ "is_iear_tlb", pfm_mont_is_iear_tlb },
		{ "is_iear_cache", pfm_mont_is_iear_cache },
		{ "is_etb", pfm_mont_is_etb },
		{ "support_opcm", pfm_mont_support_opcm },
		{ "support_iarr", pfm_mont_support_iarr },
		{ "support_darr", pfm_mont_support_darr },
		{ "support_all", pfm_mont_support_all },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		assert_int_equal(kinds[k].is(i), row_int(row, kinds[k].key, 0));
}

static void check_traits(unsigned i, const json_t *row)
{
	pfmlib_mont_ear_mode_t mode = (pfmlib_mont_ear_mode_t)77, other;
	unsigned maxincr;
	unsigned long umask;
	int value, again;

	assert_int_equal(pfm_mont_get_event_maxincr(i, &maxincr), 0);
	assert_int_equal(maxincr, row_int(row, "maxincr", 0));
	assert_int_equal(pfm_mont_get_event_umask(i, &umask), 0);
	assert_int_equal(umask, row_int(row, "umask", 0));
	assert_int_equal(pfm_mont_get_event_group(i, &value), 0);
	assert_int_equal(value, row_int(row, "hw_group", 0));
	assert_int_equal(pfm_mont_get_event_grp(i, &again), 0);
	assert_int_equal(again, value);
	assert_int_equal(pfm_mont_get_event_set(i, &value), 0);
	assert_int_equal(value, row_int(row, "hw_set", -1));
	assert_int_equal(pfm_mont_get_event_type(i, &value), 0);
	assert_int_equal(value, row_int(row, "type", 0));
	assert_int_equal(pfm_mont_get_ear_mode(i, &mode), row_int(row, "ear_mode_rc", 0));
	assert_int_equal(mode,
	                 row_int(row, "ear_mode", 77)); /* unchanged if the event has no mode */
	assert_int_equal(pfm_mont_get_event_ear_mode(i, &other), row_int(row, "ear_mode_rc", 0));
}

static void check_masks(unsigned i, const json_t *masks)
{
	unsigned n, code, found;
	char name[8], *desc;
	json_t *m;
	size_t k;

	assert_int_equal(pfm_get_num_event_masks(i, &n), 0);
	assert_int_equal(n, json_array_size(masks));
	json_array_foreach (masks, k, m) {
		assert_int_equal(pfm_get_event_mask_name(i, (unsigned)k, name, sizeof(name)), 0);
		assert_string_equal(name, json_string_value(json_array_get(m, 0)));
		assert_int_equal(pfm_get_event_mask_code(i, (unsigned)k, &code), 0);
		assert_int_equal(code, json_integer_value(json_array_get(m, 1)));
		assert_int_equal(pfm_find_event_mask(i, name, &found), 0);
		assert_int_equal(found, k);
		assert_int_equal(pfm_get_event_mask_description(i, (unsigned)k, &desc), 0);
		assert_true(strlen(desc) > 5);
		free(desc);
	}
}

static void test_event(void **state)
{
	const json_t *row = *state;
	unsigned i = index_of_row(row);
	pfmlib_regmask_t counters;
	char name[96], *desc;
	int code;

	assert_int_equal(i, row_int(row, "index", -1));
	assert_int_equal(pfm_get_event_name(i, name, sizeof(name)), 0);
	assert_string_equal(name, row_text(row, "name"));
	assert_int_equal(pfm_get_event_code(i, &code), 0);
	assert_int_equal(code, row_int(row, "code", 0));
	assert_int_equal(pfm_get_event_counters(i, &counters), 0);
	assert_int_equal(counters.bits[0], row_hex(row, "counters"));
	assert_int_equal(pfm_get_event_description(i, &desc), 0);
	assert_true(strlen(desc) > 10 && desc[strlen(desc) - 1] == '.');
	free(desc);
	check_kinds(i, row);
	check_traits(i, row);
	check_masks(i, json_object_get(row, "masks"));
}

static unsigned n_rows;

/* The file is in the order of the table, so line numbers are indexes. */
static void add_event(struct rows *rows, json_t *row)
{
	json_object_set_new(row, "index", json_integer(n_rows++));
	rows_add(rows, row_text(row, "name"), test_event, row);
}

/* ---- invalid arguments ----------------------------------------------------------------------- */

static void test_indexes_beyond_the_table(void **state)
{
	static const unsigned bad[] = { N_EVENTS, N_EVENTS + 1, 0x7fffffff, 0x80000000u, ~0u };
	pfmlib_mont_ear_mode_t mode = PFMLIB_MONT_EAR_TLB_MODE;
	pfmlib_regmask_t mask;
	char name[64], *desc = NULL;
	unsigned long umask = 9;
	unsigned u = 9;
	int value = 9;

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		assert_int_equal(pfm_mont_is_ear(bad[k]) | pfm_mont_is_dear(bad[k]) |
		                         pfm_mont_is_iear(bad[k]) | pfm_mont_is_etb(bad[k]),
		                 0);
		assert_int_equal(pfm_mont_support_opcm(bad[k]) | pfm_mont_support_iarr(bad[k]) |
		                         pfm_mont_support_darr(bad[k]),
		                 0);
		assert_int_equal(pfm_mont_get_event_maxincr(bad[k], &u), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_umask(bad[k], &umask), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_group(bad[k], &value), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_set(bad[k], &value), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_type(bad[k], &value), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_ear_mode(bad[k], &mode), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_name(bad[k], name, sizeof(name)), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_code(bad[k], &value), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_counters(bad[k], &mask), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_description(bad[k], &desc), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_num_event_masks(bad[k], &u), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_mask_name(bad[k], 0, name, sizeof(name)),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_mask_code(bad[k], 0, &u), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_get_event_mask_description(bad[k], 0, &desc),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_find_event_mask(bad[k], "M", &u), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_find_event_bycode_next(0x08, bad[k], &u), PFMLIB_ERR_NOTFOUND);
	}
	assert_true(u == 9 && umask == 9 && value == 9 && !desc &&
	            mode == PFMLIB_MONT_EAR_TLB_MODE);
}

static void test_null_everywhere(void **state)
{
	pfmlib_event_t e = { 0 };
	unsigned u;

	(void)state;
	assert_int_equal(pfm_mont_get_event_maxincr(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_umask(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_group(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_set(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_type(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_ear_mode(204, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_irange_is_fine(NULL, NULL), 0);
	assert_int_equal(pfm_set_options(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_version(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_list_supported_pmus(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_name(NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_type(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_name_bytype(4, NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event(NULL, &u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event("IA64_INST_RETIRED", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_byname(NULL, &u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_bycode(8, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_bycode_next(8, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_mask(474, NULL, &u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_mask(474, "M", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_full_event(NULL, &e), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_full_event("IA64_INST_RETIRED", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_full_event_name(NULL, NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_full_event_name(&e, NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_name(0, NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_code(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_counters(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_description(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_num_event_masks(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_mask_name(474, 0, NULL, 9), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_mask_code(474, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_mask_description(474, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_impl_pmcs(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_impl_pmds(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_impl_counters(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_num_pmcs(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_num_pmds(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_num_counters(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_hw_counter_width(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_num_events(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_max_event_name_len(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_cycle_event(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_inst_retired_event(NULL), PFMLIB_ERR_INVAL);
}

/* Bit 13 of PMC38 says whether ranges are in fine mode; it is read only if the answer has ranges.
 */
static void test_fine_ranges(void **state)
{
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	pfmlib_mont_output_param_t model = { 0 };

	(void)state;
	out->pfp_pmc_count = 2;
	out->pfp_pmcs[1].reg_num = 38;
	out->pfp_pmcs[1].reg_value = 1 << 13;
	model.pfp_mont_irange.rr_nbr_used = 2;
	assert_int_equal(pfm_mont_irange_is_fine(out, &model), 1);
	assert_int_equal(pfm_mont_irange_is_fine(out, NULL), 0);
	assert_int_equal(pfm_mont_irange_is_fine(NULL, &model), 0);
	out->pfp_pmcs[1].reg_value = ~(UINT64_C(1) << 13);
	assert_int_equal(pfm_mont_irange_is_fine(out, &model), 0);
	out->pfp_pmcs[1].reg_value = 1 << 13;
	out->pfp_pmcs[1].reg_num = 39;
	assert_int_equal(pfm_mont_irange_is_fine(out, &model), 0);
	out->pfp_pmcs[1].reg_num = 38;
	out->pfp_pmc_count = PFMLIB_MAX_PMCS;
	assert_int_equal(pfm_mont_irange_is_fine(out, &model), 0);
	out->pfp_pmc_count = 2;
	model.pfp_mont_irange.rr_nbr_used = 0;
	assert_int_equal(pfm_mont_irange_is_fine(out, &model), 0);
	free(out);
}

static void test_dispatch_without_its_pointers(void **state)
{
	pfmlib_input_param_t *in = calloc(1, sizeof(*in));
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	pfmlib_mont_input_param_t model_in = { 0 };
	pfmlib_mont_output_param_t model_out;

	(void)state;
	in->pfp_dfl_plm = PFM_PLM3;
	assert_int_equal(pfm_dispatch_events(NULL, &model_in, out, &model_out), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_dispatch_events(in, &model_in, NULL, &model_out), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_dispatch_events(NULL, NULL, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_dispatch_events(in, NULL, out, &model_out), PFMLIB_ERR_INVAL);
	in->pfp_event_count = ~0u;
	assert_int_equal(pfm_dispatch_events(in, NULL, out, NULL), PFMLIB_ERR_INVAL);
	in->pfp_event_count = 1;
	in->pfp_events[0].num_masks = ~0u;
	assert_int_equal(pfm_dispatch_events(in, NULL, out, NULL), PFMLIB_ERR_INVAL);
	in->pfp_events[0].num_masks = 0;
	in->pfp_events[0].plm = 0x100;
	assert_int_equal(pfm_dispatch_events(in, NULL, out, NULL), PFMLIB_ERR_INVAL);
	free(in);
	free(out);
}

/* ---- the selected PMU ------------------------------------------------------------------------ */

static void test_special_events(void **state)
{
	pfmlib_event_t e;
	char name[64];

	(void)state;
	memset(&e, JUNK, sizeof(e));
	assert_int_equal(pfm_get_cycle_event(&e), 0);
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), 0);
	assert_string_equal(name, "CPU_OP_CYCLES_ALL");
	assert_true(e.plm == 0 && e.flags == 0);
	assert_int_equal(pfm_get_inst_retired_event(&e), 0);
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), 0);
	assert_string_equal(name, "IA64_INST_RETIRED");
}

static void test_types(void **state)
{
	char name[64], cut[5];
	int type;

	(void)state;
	assert_int_equal(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_force_pmu(PFMLIB_NO_PMU), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_get_pmu_type(&type), 0);
	assert_int_equal(type, PFMLIB_MONTECITO_PMU); /* a refused choice changes nothing */
	assert_int_equal(pfm_is_pmu_supported(PFMLIB_MONTECITO_PMU), 0);
	assert_int_equal(pfm_is_pmu_supported(PFMLIB_CELL_PMU), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_get_pmu_name_bytype(PFMLIB_MONTECITO_PMU, name, sizeof(name)), 0);
	assert_string_equal(name, "dual-core Itanium 2");
	assert_int_equal(pfm_get_pmu_name_bytype(PFMLIB_MONTECITO_PMU, cut, sizeof(cut)), 0);
	assert_string_equal(cut, "dual");
	assert_int_equal(pfm_get_pmu_name_bytype(PFMLIB_CELL_PMU, name, sizeof(name)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_name(cut, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_name(cut, -1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_pmu_name(cut, 1), 0);
	assert_string_equal(cut, "");
}

static void test_every_code_has_a_text(void **state)
{
	(void)state;
	for (int code = 0; code >= PFMLIB_ERR_LAST; code--) {
		assert_true(strlen(pfm_strerror(code)) > 5);
		assert_string_not_equal(pfm_strerror(code), pfm_strerror(1));
		for (int other = 0; other > code; other--)
			assert_string_not_equal(pfm_strerror(code), pfm_strerror(other));
	}
	assert_string_equal(pfm_strerror(PFMLIB_ERR_LAST - 1), pfm_strerror(1));
}

static void test_before_a_choice(void **state)
{
	pfmlib_event_t e;
	unsigned u;
	int type;

	(void)state;
	assert_int_equal(pfm_get_num_events(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_events(NULL), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event(NULL, NULL), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_full_event("IA64_INST_RETIRED", &e), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_pmu_type(&type), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_is_pmu_supported(4), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_dispatch_events(NULL, NULL, NULL, NULL), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_version(&u), 0);
	assert_int_equal(u, PFMLIB_VERSION);
	assert_int_equal(PFMLIB_MAJ_VERSION(u), 3);
	assert_int_equal(pfm_mont_is_dear(204),
	                 1); /* queries about Montecito work without choosing a PMU */
	assert_int_equal(pfm_force_pmu(PFMLIB_MONTECITO_PMU), 0);
}

/* ---- sets of registers ----------------------------------------------------------------------- */

static void test_register_sets(void **state)
{
	pfmlib_regmask_t a = { { 0 } }, b = { { 0 } }, c;
	unsigned n;

	(void)state;
	assert_int_equal(pfm_regmask_set(&a, 0), 0);
	assert_int_equal(pfm_regmask_set(&a, 511), 0);
	assert_int_equal(pfm_regmask_set(&a, 512), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_regmask_clr(&a, 512), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_regmask_clr(NULL, 1), PFMLIB_ERR_INVAL);
	assert_true(pfm_regmask_isset(&a, 0) && pfm_regmask_isset(&a, 511) &&
	            !pfm_regmask_isset(&a, 512) && !pfm_regmask_isset(&a, 64));
	assert_true(a.bits[0] == 1 && a.bits[7] == (uint64_t)1 << 63);
	assert_int_equal(pfm_regmask_weight(&a, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(pfm_regmask_weight(&a, NULL), PFMLIB_ERR_INVAL);
	pfm_regmask_set(&b, 0);
	assert_int_equal(pfm_regmask_and(&c, &a, &b), 0);
	assert_true(pfm_regmask_eq(&c, &b) && !pfm_regmask_eq(&c, &a) && !pfm_regmask_eq(NULL, &a));
	assert_int_equal(pfm_regmask_andnot(&c, &a, &b), 0);
	assert_true(!pfm_regmask_isset(&c, 0) && pfm_regmask_isset(&c, 511));
	assert_int_equal(pfm_regmask_or(&c, &c, &b), 0);
	assert_true(pfm_regmask_eq(&c, &a));
	assert_int_equal(pfm_regmask_not(&c), 0);
	assert_int_equal(pfm_regmask_weight(&c, &n), 0);
	assert_int_equal(n, 510);
	assert_int_equal(pfm_regmask_copy(&c, &b), 0);
	assert_true(pfm_regmask_eq(&c, &b));
	assert_int_equal(pfm_regmask_copy(&c, NULL), PFMLIB_ERR_INVAL);
}

int main(void)
{
	struct rows rows = { 0 };
	char path[512];

	/* The first test, since it needs a library without a chosen PMU. */
	rows_add(&rows, "nothing works before a PMU is chosen", test_before_a_choice, NULL);
	rows_add(&rows, "indexes beyond the table", test_indexes_beyond_the_table, NULL);
	rows_add(&rows, "NULL everywhere", test_null_everywhere, NULL);
	rows_add(&rows, "fine ranges", test_fine_ranges, NULL);
	rows_add(&rows, "dispatch without its pointers", test_dispatch_without_its_pointers, NULL);
	rows_add(&rows, "cycles and instructions", test_special_events, NULL);
	rows_add(&rows, "PMU types and names", test_types, NULL);
	rows_add(&rows, "every result code has a text of its own", test_every_code_has_a_text,
	         NULL);
	rows_add(&rows, "sets of registers", test_register_sets, NULL);
	snprintf(path, sizeof(path), "%s/vectors/montecito_events.jsonl", rows_folder());
	if (!rows_read(path, add_event, &rows))
		return 1;
	return n_rows == N_EVENTS ? rows_run("montecito_events", &rows) : 1;
}
