/* SPDX-License-Identifier: MIT */
/* Words of Alpha's device and PALcode: both ends of each range, round trips, and every refusal. */
#include "device_model.h"
#include <perfmon/alpha.h>

/* Processor types and widths of their counters. */
static const struct {
	int pmu;
	unsigned n, width[PFM_ALPHA_MAX_COUNTERS];
	unsigned family; /* as in pfm_alpha_request_t */
} CHIPS[] = {
	{ PFMLIB_ALPHA_EV4_PMU, 2, { 16, 12 }, 1 },
	{ PFMLIB_ALPHA_EV5_PMU, 3, { 16, 16, 14 }, 2 },
	{ PFMLIB_ALPHA_PCA56_PMU, 3, { 16, 16, 14 }, 2 },
	{ PFMLIB_ALPHA_EV6_PMU, 2, { 20, 20 }, 4 },
	{ PFMLIB_ALPHA_EV67_PMU, 2, { 20, 20 }, 4 },
};
static const int NO_ALPHA[] = { -1, 0, PFMLIB_ALPHA_EV4_PMU - 1, PFMLIB_ALPHA_EV67_PMU + 1 };

static void counters_of_each_chip(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(CHIPS); i++) {
		assert_int_equal(pfm_alpha_num_counters(CHIPS[i].pmu), CHIPS[i].n);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(pfm_alpha_counter_width(CHIPS[i].pmu, k),
			                 k < CHIPS[i].n ? CHIPS[i].width[k] : 0);
	}
	for (size_t i = 0; i < COUNT(NO_ALPHA); i++) {
		assert_int_equal(pfm_alpha_num_counters(NO_ALPHA[i]), 0);
		assert_int_equal(pfm_alpha_counter_width(NO_ALPHA[i], 0), 0);
	}
}

/* The second rate of a counter, 0 if it has only one. */
static uint64_t fast_rate(size_t chip, unsigned counter)
{
	return CHIPS[chip].family == 4 ? 0 : CHIPS[chip].family == 1 && counter == 0 ? 4096 : 256;
}

static void rates_of_each_counter(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(CHIPS); i++)
		for (unsigned k = 0; k < 4; k++) {
			bool there = k < CHIPS[i].n;

			assert_int_equal(pfm_alpha_rate(CHIPS[i].pmu, k, 0),
			                 there ? 1u << CHIPS[i].width[k] : 0);
			assert_int_equal(pfm_alpha_rate(CHIPS[i].pmu, k, 1),
			                 there ? fast_rate(i, k) : 0);
			assert_int_equal(pfm_alpha_rate(CHIPS[i].pmu, k, 2), 0);
		}
}

/* Every combination of slow and fast rates and of counters. Counters outside the set have the slow
 * rate, whatever their request. */
static void words_of_rates(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(CHIPS); i++)
		for (unsigned set = 0; set < 1u << CHIPS[i].n; set++)
			for (unsigned fast = 0; fast < 1u << CHIPS[i].n; fast++) {
				uint64_t said[3], word = 77,
						  want = CHIPS[i].family == 2 ? PF5_FREQ_SLOW : 0,
						  a1;
				int privileged = 77, driver = 77;

				for (unsigned k = 0; k < CHIPS[i].n; k++) {
					said[k] = fast >> k & 1 ? fast_rate(i, k)
					          : k % 2       ? 0
					                        : (uint64_t)1 << CHIPS[i].width[k];
					if ((set & fast) >> k & 1 && CHIPS[i].family == 2)
						want |= 0x100u >> 2 * k;
					if ((set & fast) >> k & 1 && CHIPS[i].family == 1)
						want |= k ? ICCSR_PC1 : ICCSR_PC0;
				}
				assert_int_equal(pfm_alpha_rate_word(CHIPS[i].pmu, said, set, &word,
				                                     &privileged),
				                 PFMLIB_SUCCESS);
				assert_true(word == want);
				assert_int_equal(privileged, CHIPS[i].family == 2 && (set & fast));
				assert_int_equal(
					pfm_alpha_rate_word(CHIPS[i].pmu, said, set, &word, NULL),
					PFMLIB_SUCCESS);
				if (CHIPS[i].family != 2)
					continue;
				pfm_alpha_driver_rates(word, &a1, &driver);
				assert_true(a1 == word && driver == privileged);
				for (unsigned on = 0; on < 8;
				     on++) { /* CTL bits of started counters: 14 - 2k */
					uint64_t ctl = 0;

					for (unsigned k = 0; k < 3; k++)
						ctl |= on >> k & 1
						               ? ((set & fast) >> k & 1 ? 3u : 2u)
						                         << (14 - 2 * k)
						               : 0;
					assert_true(pfm_alpha_pmctr_ctl(a1, on) == ctl);
				}
			}
}

static void rates_that_no_counter_has(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(CHIPS); i++)
		for (unsigned k = 0; k < CHIPS[i].n; k++) {
			uint64_t said[3] = { 0 }, word = 77;

			said[k] = ((uint64_t)1 << CHIPS[i].width[k]) - 1;
			assert_int_equal(pfm_alpha_rate_word(CHIPS[i].pmu, said, 7, &word, NULL),
			                 PFMLIB_ERR_INVAL);
			assert_int_equal(word, 77);
			assert_int_equal(pfm_alpha_rate_word(CHIPS[i].pmu, said, 7 & ~(1u << k),
			                                     &word, NULL),
			                 PFMLIB_SUCCESS);
		}
	for (size_t i = 0; i < COUNT(NO_ALPHA); i++)
		assert_int_equal(pfm_alpha_rate_word(NO_ALPHA[i], (uint64_t[3]){ 0 }, 0,
		                                     &(uint64_t){ 0 }, NULL),
		                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_rate_word(PFMLIB_ALPHA_EV5_PMU, NULL, 0, &(uint64_t){ 0 }, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_rate_word(PFMLIB_ALPHA_EV5_PMU, (uint64_t[3]){ 0 }, 0, NULL, NULL),
		PFMLIB_ERR_INVAL);
	pfm_alpha_driver_rates(0, NULL, NULL);
}

/* The largest value of each counter survives the round trip, the next one is refused. */
static void the_largest_value_of_a_counter_survives(void **state)
{
	(void)state;
	for (size_t i = 1; i < COUNT(CHIPS); i++)
		for (unsigned k = 0; k < CHIPS[i].n; k++) {
			uint64_t values[3] = { 1, 1, 1 }, back[3] = { 0 }, word;
			unsigned select, cpu;

			values[k] = ((uint64_t)1 << CHIPS[i].width[k]) - 1;
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu, 1u << k, 255 - k,
			                                        values, &word),
			                 PFMLIB_SUCCESS);
			assert_int_equal(pfm_alpha_split_counter_word(CHIPS[i].pmu, word, &select,
			                                              &cpu, back),
			                 PFMLIB_SUCCESS);
			assert_true(select == 1u << k && cpu == 255 - k);
			assert_memory_equal(values, back, CHIPS[i].n * sizeof values[0]);
			values[k]++;
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu, 1, 0, values, &word),
			                 PFMLIB_ERR_INVAL);
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu, 1u << CHIPS[i].n, 0,
			                                        NULL, &word),
			                 PFMLIB_ERR_INVAL);
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu, 1, 256, NULL, &word),
			                 PFMLIB_ERR_INVAL);
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu,
			                                        (1u << CHIPS[i].n) - 1, 0, NULL,
			                                        &word),
			                 PFMLIB_SUCCESS);
			assert_true(word == (1u << CHIPS[i].n) - 1);
			assert_int_equal(pfm_alpha_counter_word(CHIPS[i].pmu, 1, 0, NULL, NULL),
			                 PFMLIB_ERR_INVAL);
			assert_int_equal(pfm_alpha_split_counter_word(CHIPS[i].pmu, ~UINT64_C(0),
			                                              NULL, NULL, NULL),
			                 PFMLIB_SUCCESS);
		}
	assert_int_equal(pfm_alpha_counter_word(PFMLIB_ALPHA_EV4_PMU, 1, 0, NULL, &(uint64_t){ 0 }),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_split_counter_word(PFMLIB_ALPHA_EV4_PMU, 0, NULL, NULL, NULL),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_alpha_counter_word(4, 0, 0, NULL, &(uint64_t){ 0 }), PFMLIB_ERR_INVAL);
}

static void a_counter_starts_its_period_below_its_overflow(void **state)
{
	uint64_t v = 77;

	(void)state;
	for (unsigned width = 1; width < 64; width++) {
		assert_int_equal(pfm_alpha_start_value(width, 1, &v), PFMLIB_SUCCESS);
		assert_true(v == ((uint64_t)1 << width) - 1);
		assert_int_equal(pfm_alpha_start_value(width, (uint64_t)1 << width, &v),
		                 PFMLIB_SUCCESS);
		assert_int_equal(v, 0);
		assert_int_equal(pfm_alpha_start_value(width, ((uint64_t)1 << width) + 1, &v),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_start_value(width, 0, &v), PFMLIB_ERR_INVAL);
	}
	assert_int_equal(pfm_alpha_start_value(0, 1, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(64, 1, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_start_value(20, 1, NULL), PFMLIB_ERR_INVAL);
}

/* The chip's mode words survive the round trip. Combinations that the chip does not distinguish
 * have no word. */
static void words_of_modes(void **state)
{
	const unsigned inner = PFM_ALPHA_MODE_KERNEL | PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER;
	unsigned good = 0;

	(void)state;
	for (unsigned modes = 0; modes <= PFM_ALPHA_MODE_ALL; modes++)
		for (unsigned scope = 0; scope < 2; scope++) {
			bool can = modes == (PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER) ||
			           (modes && ((modes & inner) == 0 || (modes & inner) == inner));
			uint64_t word = 77;
			int select = 77, marks = 77;

			assert_int_equal(pfm_alpha_mode_word(modes, scope, &word),
			                 can ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP);
			if (!can)
				continue;
			good++;
			assert_int_equal(pfm_alpha_word_modes(word, &select, &marks), modes);
			assert_true(select == (int)scope && marks == (int)scope);
			assert_int_equal(pfm_alpha_word_modes(word, NULL, NULL), modes);
		}
	assert_int_equal(good, 16);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_ALL + 1, 0, &(uint64_t){ 0 }),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_ALL, 2, &(uint64_t){ 0 }),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mode_word(PFM_ALPHA_MODE_ALL, 0, NULL), PFMLIB_ERR_INVAL);
}

static void words_of_profileme(void **state)
{
	uint64_t word = 0;

	(void)state;
	for (unsigned mode = 0; mode < 4; mode++) {
		assert_int_equal(pfm_alpha_pm_mode_word(mode, &word), PFMLIB_SUCCESS);
		assert_int_equal(word, 0x10 | mode << 2);
	}
	assert_int_equal(pfm_alpha_pm_mode_word(4, &word), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_pm_mode_word(0, NULL), PFMLIB_ERR_INVAL);
}

/* The driver of the device model, which shares no source with this function, gives the expected
 * calls: each request of each chip, with words of all kinds. */
static void calls_of_requests(void **state)
{
	static const uint64_t words[] = { 0x2aa, ~UINT64_C(0) & ~ICCSR_DISABLE_MASK,
		                          UINT64_C(0x123456789abcdef0) & ~ICCSR_DISABLE_MASK };
	static const uint64_t iccsr =
		ICCSR_PC0 | ICCSR_PC1 | ICCSR_MUX0_MASK | ICCSR_MUX1_MASK | ICCSR_DISABLE_MASK;
	unsigned same = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(CHIPS); i++) {
		struct alpha_device_options o;
		struct alpha_device *m;
		struct recorded_call t;
		pfm_alpha_request_t r;
		int h;

		alpha_device_set_defaults(&o, (enum alpha_device_family)i);
		m = alpha_device_new(&o);
		assert_true(m && alpha_device_set_process(m, 1, 0, 0) == 0);
		h = alpha_device_open_session(m, 1, PCNTOPENALL);
		alpha_device_trace_pal(m, record_call, &t);
		for (unsigned k = 0; pfm_alpha_request(k, &r) == PFMLIB_SUCCESS; k++)
			for (size_t w = 0; w < COUNT(words); w++) {
				/* Words name all processors, since a single one may not be held.
				 * EV4 has only the bits of iccsr. */
				uint64_t all = CHIPS[i].family == 4 ? PF6_CPU_KMASK : PF5_CPU_KMASK;
				uint64_t word =
					CHIPS[i].family == 1 ? words[w] & iccsr : words[w] | all;
				pfmlib_alpha_call_t call = { 77, 77, 77 };
				int got =
					pfm_alpha_device_call(CHIPS[i].pmu, r.request, word, &call);

				t = (struct recorded_call){ 0 };
				assert_true(!(CHIPS[i].family & ~r.families) ||
				            got == PFMLIB_ERR_NOTSUPP);
				if (got != PFMLIB_SUCCESS) {
					assert_int_equal(got, PFMLIB_ERR_NOTSUPP);
					continue;
				}
				assert_int_equal(alpha_device_do_ioctl(m, h, 1, r.request,
				                                       (uint64_t)(uintptr_t)&word,
				                                       &alpha_device_own_memory),
				                 0);
				assert_int_equal(t.n, 1);
				if (call.function != t.function || call.argument != t.a1 ||
				    call.reserved)
					fail_msg("%s %llx", r.name, (unsigned long long)word);
				same++;
			}
		alpha_device_free(m);
	}
	assert_int_equal(same,
	                 3 * (3 + 7 + 7 + 7 + 7)); /* requests of each chip that have an argument */
	assert_int_equal(pfm_alpha_device_call(PFMLIB_ALPHA_EV5_PMU, PCNT5MUX, 0, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_device_call(4, PCNT5MUX, 0, &(pfmlib_alpha_call_t){ 0 }),
	                 PFMLIB_ERR_INVAL);
}

static void names_of_requests(void **state)
{
	pfm_alpha_request_t r, found;
	unsigned n = 0;

	(void)state;
	for (; pfm_alpha_request(n, &r) == PFMLIB_SUCCESS; n++) {
		assert_int_equal(pfm_alpha_find_request(r.name, &found), PFMLIB_SUCCESS);
		assert_true(found.request == r.request && found.families == r.families &&
		            strcmp(found.name, r.name) == 0);
		assert_int_equal(PFCNTR_REQUEST_TYPE(r.request), PFCNTR_TYPE);
		/* A digit in a name is the digit of its family. */
		assert_true((strncmp(r.name, "PCNT5", 5) == 0) == (r.families == 2) &&
		            (strncmp(r.name, "PCNT6", 5) == 0) == (r.families == 4));
		assert_true(r.families == 1 || r.families == 2 || r.families == 4 ||
		            r.families == 7);
	}
	assert_int_equal(n, 38);
	assert_int_equal(pfm_alpha_request(n, &r), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_request(0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_find_request("PCNTRENABL", &r), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_find_request("pcntrenable", &r), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_find_request("PCNTRENABLE", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_find_request(NULL, &r), PFMLIB_ERR_INVAL);
}

static void masks_of_the_header(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(pfm_alpha_mask("PF5_WRITE_KMASK", &v), PFMLIB_SUCCESS);
	assert_true(v == UINT64_C(0xffffffff3fff0000));
	assert_int_equal(pfm_alpha_mask("PF5_CTXT_KMASK", &v), PFMLIB_SUCCESS);
	assert_int_equal(v, 0x40000301);
	assert_int_equal(pfm_alpha_mask("PF5_CTXT", &v), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_alpha_mask(NULL, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_mask("PF5_CTXT_KMASK", NULL), PFMLIB_ERR_INVAL);
}

/* Every address of a range has a bucket, and every bucket an address. */
static void bytes_and_buckets(void **state)
{
	const uint64_t start = 0x20001000;

	(void)state;
	for (uint64_t stride = 0; stride <= 9; stride++)
		for (uint64_t size = 4; size <= 80; size += 4) {
			uint64_t bytes = 77;
			bool good = (stride & (stride - 1)) == 0;
			int got = pfm_alpha_sample_bytes(start, start + size, stride,
			                                 PFM_ALPHA_OPEN_ALL, 3, &bytes);

			assert_int_equal(got, good ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL);
			if (!good)
				continue;
			assert_int_equal(
				bytes, 4 * (pfm_alpha_bucket(start, stride, start + size - 4) + 1));
			assert_int_equal(pfm_alpha_bucket(start, stride, start), 0);
			assert_int_equal(pfm_alpha_sample_bytes(start, start + size, stride,
			                                        PFM_ALPHA_OPEN_EACH, 3, &bytes),
			                 PFMLIB_SUCCESS);
			assert_int_equal(
				bytes,
				12 * (pfm_alpha_bucket(start, stride, start + size - 4) + 1));
		}
	assert_int_equal(pfm_alpha_bucket(start, 4, start + 63), 3);
	assert_int_equal(pfm_alpha_bucket(0, UINT64_C(1) << 62, ~UINT64_C(0)), 0);
	assert_int_equal(pfm_alpha_bucket(0, UINT64_C(1) << 61, ~UINT64_C(0)), 1);
}

static void empty_ranges_have_no_bytes(void **state)
{
	uint64_t bytes = 77;

	(void)state;
	assert_int_equal(pfm_alpha_sample_bytes(8, 8, 1, PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(8, 4, 1, PFM_ALPHA_OPEN_ALL, 1, &bytes),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(4, 8, 1, PFM_ALPHA_OPEN_ONE + 1, 1, &bytes),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_sample_bytes(4, 8, 1, PFM_ALPHA_OPEN_ONE, 1, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(bytes, 77);
	assert_int_equal(pfm_alpha_sample_bytes(0, ~UINT64_C(3), UINT64_C(1) << 63,
	                                        PFM_ALPHA_OPEN_ONE, 64, &bytes),
	                 PFMLIB_SUCCESS);
	assert_int_equal(bytes, 4);
	assert_int_equal(pfm_alpha_sample_bytes(0, ~UINT64_C(3), UINT64_C(1) << 61,
	                                        PFM_ALPHA_OPEN_ONE, 64, &bytes),
	                 PFMLIB_SUCCESS);
	assert_int_equal(bytes, 8);
}

static void levels_of_each_interrupt_priority(void **state)
{
	(void)state;
	for (unsigned ipl = 0; ipl < 9; ipl++) {
		assert_int_equal(pfm_alpha_level_entry(1, 0, ipl), PFM_IPL_USER);
		assert_int_equal(pfm_alpha_level_entry(1, 1, ipl), PFM_IPL_USER);
		assert_int_equal(pfm_alpha_level_entry(0, 1, ipl), ipl == 0  ? PFM_IPL_IDLE
		                                                   : ipl < 6 ? ipl
		                                                             : 6);
		assert_int_equal(pfm_alpha_level_entry(0, 0, ipl), ipl < 6 ? ipl : 6);
	}
}

UNIT(pmu_alpha_words, cmocka_unit_test(counters_of_each_chip),
     cmocka_unit_test(rates_of_each_counter), cmocka_unit_test(words_of_rates),
     cmocka_unit_test(rates_that_no_counter_has),
     cmocka_unit_test(the_largest_value_of_a_counter_survives),
     cmocka_unit_test(a_counter_starts_its_period_below_its_overflow),
     cmocka_unit_test(words_of_modes), cmocka_unit_test(words_of_profileme),
     cmocka_unit_test(calls_of_requests), cmocka_unit_test(names_of_requests),
     cmocka_unit_test(masks_of_the_header), cmocka_unit_test(bytes_and_buckets),
     cmocka_unit_test(empty_ranges_have_no_bytes),
     cmocka_unit_test(levels_of_each_interrupt_priority));
