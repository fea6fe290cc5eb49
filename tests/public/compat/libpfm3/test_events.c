/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface on every processor it has: all calls agree about every event. */
#include "rows.h"
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_montecito.h>
#include <perfmon/pfmlib.h>

static const int types[] = { PFMLIB_MONTECITO_PMU,  PFMLIB_COREDUO_PMU,   PFMLIB_GEN_IA32_PMU,
	                     PFMLIB_ALPHA_EV4_PMU,  PFMLIB_ALPHA_EV5_PMU, PFMLIB_ALPHA_PCA56_PMU,
	                     PFMLIB_ALPHA_EV6_PMU,  PFMLIB_ALPHA_EV6_PMU, PFMLIB_ALPHA_EV67_PMU,
	                     PFMLIB_AMD64_PMU,      PFMLIB_PENTIUM4_PMU,  PFMLIB_INTEL_CORE_PMU,
	                     PFMLIB_INTEL_ATOM_PMU, PFMLIB_INTEL_NHM_PMU, PFMLIB_INTEL_WSM_PMU };
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* ---- every event of every processor ---------------------------------------------------------- */

static void check_masks(unsigned i, pfmlib_event_t *e)
{
	unsigned n, code, found;
	char name[64], *desc;

	assert_int_equal(pfm_get_num_event_masks(i, &n), 0);
	for (unsigned m = 0; m < n; m++) {
		assert_int_equal(pfm_get_event_mask_name(i, m, name, sizeof(name)), 0);
		assert_int_equal(pfm_find_event_mask(i, name, &found), 0);
		assert_int_equal(found, m);
		assert_int_equal(pfm_get_event_mask_code(i, m, &code), 0);
		assert_int_equal(pfm_get_event_mask_description(i, m, &desc), 0);
		free(desc);
	}
	assert_int_equal(pfm_get_event_mask_name(i, n, name, sizeof(name)),
	                 n ? PFMLIB_ERR_INVAL : PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_get_event_mask_code(i, n, &code), PFMLIB_ERR_INVAL);
	e->num_masks = n ? 1 : 0;
	e->unit_masks[0] = n ? n - 1 : 0;
}

/* A buffer that fits exactly is enough, and one byte less is not. */
static void check_names(unsigned i, pfmlib_event_t *e, size_t longest)
{
	char name[128], again[128];
	pfmlib_event_t back;
	unsigned found;

	assert_int_equal(pfm_get_event_name(i, name, sizeof(name)), 0);
	assert_true(strlen(name) <= longest);
	assert_int_equal(pfm_get_event_name(i, again, strlen(name) + 1), 0);
	assert_int_equal(pfm_get_event_name(i, again, strlen(name)), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event(name, &found), 0);
	if (found != i) /* libpfm's Core Duo has one name twice: the first event has it */
		assert_true(found < i);
	assert_int_equal(pfm_get_full_event_name(e, name, sizeof(name)), 0);
	assert_true(strlen(name) <= longest);
	assert_int_equal(pfm_get_full_event_name(e, again, strlen(name) + 1), 0);
	assert_string_equal(name, again);
	assert_int_equal(pfm_get_full_event_name(e, again, strlen(name)), PFMLIB_ERR_FULL);
	if (found == i) {
		assert_int_equal(pfm_find_full_event(name, &back), 0);
		assert_memory_equal(&back, e, sizeof(back));
	}
}

static void check_codes(unsigned i)
{
	pfmlib_regmask_t counters, all;
	unsigned found, weight;
	int code;

	assert_int_equal(pfm_get_event_code(i, &code), 0);
	assert_int_equal(pfm_find_event_bycode(code, &found), 0);
	while (found < i)
		assert_int_equal(pfm_find_event_bycode_next(code, found, &found), 0);
	assert_int_equal(found, i);
	assert_int_equal(pfm_get_impl_counters(&all), 0);
	assert_int_equal(pfm_get_event_counters(i, &counters), 0);
	pfm_regmask_andnot(&counters, &counters, &all);
	pfm_regmask_weight(&counters, &weight);
	assert_int_equal(weight, 0);
	assert_int_equal(pfm_get_event_code_counter(i, 64, &code), PFMLIB_ERR_INVAL);
}

static void check_alone(const pfmlib_event_t *e, pfmlib_input_param_t *in,
                        pfmlib_output_param_t *out)
{
	int rc;

	in->pfp_dfl_plm = PFM_PLM3 | PFM_PLM0;
	in->pfp_event_count = 1;
	in->pfp_events[0] = *e;
	out->pfp_pmc_count = out->pfp_pmd_count = 0;
	rc = pfm_dispatch_events(in, NULL, out, NULL);
	if (rc == PFMLIB_SUCCESS)
		assert_true(out->pfp_pmc_count >= 1);
	else
		assert_true(out->pfp_pmc_count == 0 && rc >= PFMLIB_ERR_LAST);
}

static void test_every_event(void **state)
{
	pfmlib_input_param_t *in = calloc(1, sizeof(*in));
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	unsigned n, pmcs, width;
	size_t longest;

	assert_int_equal(pfm_force_pmu(*(const int *)*state), 0);
	assert_int_equal(pfm_get_num_events(&n), 0);
	assert_int_equal(pfm_get_max_event_name_len(&longest), 0);
	assert_int_equal(pfm_get_num_pmcs(&pmcs), 0);
	assert_int_equal(pfm_get_hw_counter_width(&width), 0);
	assert_true(n > 0 && pmcs > 0 && width > 0 && width < 64);
	for (unsigned i = 0; i < n; i++) {
		pfmlib_event_t e = { .event = i };
		char *desc;

		check_masks(i, &e);
		check_names(i, &e, longest);
		check_codes(i);
		check_alone(&e, in, out);
		assert_int_equal(pfm_get_event_description(i, &desc), 0);
		assert_true(strlen(desc) > 3);
		free(desc);
	}
	free(in);
	free(out);
}

/* ---- numbers and names that are not events --------------------------------------------------- */

static void test_names_and_masks_that_do_not_fit(void **state)
{
	pfmlib_event_t e;
	char name[64];
	unsigned u;
	int code;

	(void)state;
	assert_int_equal(pfm_force_pmu(PFMLIB_ALPHA_EV5_PMU), 0);
	assert_int_equal(pfm_find_event("cycles", &u), 0);
	assert_int_equal(pfm_get_event_code(u, &code), 0);
	assert_int_equal(code, 0); /* of the lowest counter that counts it */
	assert_int_equal(pfm_get_event_code_counter(u, 2, &code), 0);
	assert_int_equal(code, 0xc);
	assert_int_equal(pfm_get_event_code_counter(u, 3, &code), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_get_event_mask_name(u, 0, name, sizeof(name)), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_find_full_event("cycles:X", &e), PFMLIB_ERR_UMASK);
	assert_int_equal(pfm_get_cycle_event(&e), PFMLIB_ERR_NOTSUPP); /* no single one */
	assert_int_equal(pfm_force_pmu(PFMLIB_COREDUO_PMU), 0);
	assert_int_equal(pfm_find_event_byname("NOTHING", &u), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_event("0x100000000", &u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event("12x", &u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_byname("L2-ADS:SELF", &u),
	                 PFMLIB_ERR_NOTFOUND); /* dashes count here */
	assert_int_equal(pfm_find_full_event("L2_ADS:", &e), PFMLIB_ERR_UMASK);
	assert_int_equal(pfm_find_full_event("L2_ADS:NOBODY", &e), PFMLIB_ERR_UMASK);
	assert_int_equal(pfm_find_full_event("NOTHING:SELF", &e), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_full_event("L2_ADS:SELF:SELF", &e), 0);
	assert_int_equal(e.num_masks, 1);
	assert_int_equal(pfm_get_full_event_name(&e, name, 1), PFMLIB_ERR_FULL);
	e.unit_masks[0] = 99;
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), PFMLIB_ERR_UMASK);
	e.num_masks = PFMLIB_MAX_MASKS_PER_EVENT + 1;
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), PFMLIB_ERR_INVAL);
	e.num_masks = 0;
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), PFMLIB_ERR_UMASK);
}

/* Event @i with the masks that have @number together: one, if it is its code, else all within
 * it. */
static void masks_by_number(unsigned i, unsigned number)
{
	unsigned n, code, within = 0, exact = 0, together = 0;
	char name[128], text[160];
	pfmlib_event_t e;
	int rc;

	assert_int_equal(pfm_get_event_name(i, name, sizeof(name)), 0);
	assert_int_equal(pfm_get_num_event_masks(i, &n), 0);
	for (unsigned m = 0; m < n; m++) {
		assert_int_equal(pfm_get_event_mask_code(i, m, &code), 0);
		exact |= code == number;
		within += !(code & ~number);
		together |= code & ~number ? 0 : code;
	}
	snprintf(text, sizeof(text), "%s:0x%x", name, number);
	rc = pfm_find_full_event(text, &e);
	assert_int_equal(rc, together == number || exact ? PFMLIB_SUCCESS : PFMLIB_ERR_UMASK);
	if (rc)
		return;
	together = 0;
	for (unsigned m = 0; m < e.num_masks; m++) {
		for (unsigned k = 0; k < m; k++)
			assert_int_not_equal(e.unit_masks[k], e.unit_masks[m]);
		assert_int_equal(pfm_get_event_mask_code(i, e.unit_masks[m], &code), 0);
		together |= code;
	}
	assert_int_equal(together, number);
	assert_int_equal(e.num_masks, exact ? 1 : within);
	/* A unit mask that is given twice is added once. */
	snprintf(text, sizeof(text), "%s:0x%x:%u", name, number, number);
	assert_int_equal(pfm_find_full_event(text, &e), 0);
	assert_int_equal(e.num_masks, exact ? 1 : within);
}

static void test_masks_by_their_numbers(void **state)
{
	unsigned events, tried = 0;

	(void)state;
	for (unsigned k = 0; k < N_TYPES; k++) {
		assert_int_equal(pfm_force_pmu(types[k]), 0);
		assert_int_equal(pfm_get_num_events(&events), 0);
		for (unsigned i = 0; i < events; i++) {
			unsigned n, a, b, all = 0;

			assert_int_equal(pfm_get_num_event_masks(i, &n), 0);
			for (unsigned m = 0; m < n; m++, tried++) {
				assert_int_equal(pfm_get_event_mask_code(i, m, &a), 0);
				assert_int_equal(pfm_get_event_mask_code(i, (m + 1) % n, &b), 0);
				masks_by_number(i, a);
				masks_by_number(i, a | b);
				all |= a;
			}
			if (n) {
				masks_by_number(i, all);
				masks_by_number(i, all | 0x10000);
			}
		}
	}
	assert_true(tried > 100);
}

int main(void)
{
	struct rows rows = { 0 };

	for (size_t i = 0; i < N_TYPES; i++) {
		char name[48];

		snprintf(name, sizeof(name), "every event of type %d", types[i]);
		rows_add(&rows, name, test_every_event, (void *)(uintptr_t)&types[i]);
	}
	rows_add(&rows, "names and masks that do not fit", test_names_and_masks_that_do_not_fit,
	         NULL);
	rows_add(&rows, "masks by their numbers", test_masks_by_their_numbers, NULL);
	return rows_run("libpfm3_events", &rows);
}
