/* SPDX-License-Identifier: MIT */
/* Answers that only the Tru64 counter device has: entries, statistics, levels and samples. */
#include "device_session.h"

static void every_processor_has_its_entry(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV67, 2, 0, ALPHA_DEVICE_UNBOUND);
	uint64_t v, cycles;

	(void)state;
	add(f, "retinst");
	add(f, "cycles1");
	f->in.pfp_alpha_open = PFM_ALPHA_OPEN_EACH;
	f->options.model = &f->in;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 10, 20, 0);
	work(f, 1, 1 << 20, 40, 0);
	assert_int_equal(pfm_alpha_session_entries(&f->s), 2);
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 0, &v), 0);
	assert_int_equal(v, 10);
	assert_int_equal(pfm_alpha_session_count(&f->s, 1, 1, &v), 0);
	assert_int_equal(v, 40);
	assert_int_equal(pfm_alpha_session_count(&f->s, 2, 0, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_cycles(&f->s, 1, &cycles), 0);
	assert_int_equal(cycles, 1000);
	assert_int_equal(value(f, 0), (1 << 20) + 10); /* all of them */
	end(f);
}

static void a_statistic_comes_with_what_retired(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV67, 1, 0, ALPHA_DEVICE_UNBOUND);
	uint64_t stat, retired, num_, den;

	(void)state;
	add(f, "mispredict_per_ret");
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, (uint64_t)25 << 20, (uint64_t)200 << 20,
	     0); /* the model's pairs are the two counters' interrupts */
	assert_int_equal(pfm_alpha_session_pair(&f->s, 0, &stat, &retired), 0);
	assert_int_equal(pfm_alpha_ratio(PF67_PM_MISPREDICT_PER_RET, stat, retired, &num_, &den),
	                 0);
	assert_true(num_ == 2500 && den == 200);
	end(f);
}

static void levels_and_samples_are_read(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);
	struct alpha_device_work w = {
		.pid = 1, .is_user = true, .pc = 0x20001020, .events = { 65536 }
	};
	pfcntr_bucket_t buckets[8];
	struct pfipls levels;
	uint64_t bytes;

	(void)state;
	add(f, "cycles");
	f->in = (pfmlib_alpha_input_param_t){ .pfp_alpha_items = PFM_IPL | PFM_PROFILING,
		                              .pfp_alpha_n_ranges = 1,
		                              .pfp_alpha_ranges = { { 0x20001000, 0x20001080 } } };
	f->options.model = &f->in;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	alpha_device_do_work(f->m, 0, &w);
	assert_int_equal(pfm_alpha_session_levels(&f->s, 0, &levels), 0);
	assert_int_equal(levels.ipl[PFM_IPL_USER], 1);
	assert_int_equal(pfm_alpha_session_sample_bytes(&f->s, &bytes), 0);
	assert_int_equal(bytes, 32);
	assert_int_equal(pfm_alpha_session_samples(&f->s, buckets, 8), 8);
	assert_int_equal(buckets[pfm_alpha_bucket(0x20001000, 4, 0x20001020)], 1);
	end(f);
}

static void questions_that_have_no_answer(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);
	pfcntr_bucket_t buckets[2];
	struct pfipls levels;
	uint64_t v, w;

	(void)state;
	add(f, "issues");
	add(f, "loads");
	add(f, "stores"); /* does not fit beside the loads */
	assert_int_equal(pfm_alpha_session_entries(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_entries(&f->s), PFMLIB_ERR_INVAL); /* not open yet */
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 0, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_levels(&f->s, 0, &levels), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_sample_bytes(&f->s, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_samples(&f->s, buckets, 2), PFMLIB_ERR_INVAL);
	f->options.model = &f->in;
	f->in.pfp_alpha_items = PFM_COUNTERS | PFM_PROFILING;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 0, &v),
	                 PFMLIB_SUCCESS); /* before the first start */
	assert_int_equal(v, 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 3, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 2, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_cycles(&f->s, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_cycles(&f->s, 1, &v), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_levels(&f->s, 0, &levels),
	                 PFMLIB_ERR_INVAL); /* they are not collected */
	assert_int_equal(pfm_alpha_session_sample_bytes(&f->s, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_samples(&f->s, NULL, 2), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_samples(&f->s, buckets, SIZE_MAX), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_samples(&f->s, buckets, 2), 0); /* no range was set */
	assert_int_equal(pfm_alpha_session_pair(&f->s, 0, &v, &w),
	                 PFMLIB_ERR_INVAL); /* no statistic */
	assert_int_equal(pfm_alpha_session_pair(&f->s, 0, NULL, &w), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_pair(&f->s, 1, &v, &w), PFMLIB_ERR_INVAL);
	f->refused_errno = EACCES;
	f->refused = PCNT5GETCNT;
	assert_int_equal(pfm_alpha_session_count(&f->s, 0, 0, &v), PFMLIB_ERR_PERM);
	assert_int_equal(pfm_alpha_session_cycles(&f->s, 0, &v), PFMLIB_ERR_PERM);
	assert_int_equal(pfm_alpha_session_pair(&f->s, 0, &v, &w), PFMLIB_ERR_PERM);
	f->refused = PCNTGETRSIZE;
	assert_int_equal(pfm_alpha_session_sample_bytes(&f->s, &v), PFMLIB_ERR_PERM);
	f->refused = PCNTOPENONE;
	assert_int_equal(pfm_alpha_session_samples(&f->s, buckets, 2), PFMLIB_ERR_PERM);
	f->refused = 0;
	f->s.live.backend->close_counts(&f->s);
	f->n_calls = 0;
	f->in.pfp_alpha_items = PFM_COUNTERS | PFM_IPL;
	f->counts[0].status.cause = f->counts[1].status.cause = f->counts[2].status.cause = 0;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	f->refused = PCNTGETIPLHIS;
	assert_int_equal(pfm_alpha_session_levels(&f->s, 0, &levels), PFMLIB_ERR_PERM);
	assert_int_equal(pfm_alpha_session_levels(&f->s, 1, &levels), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_session_levels(&f->s, 0, NULL), PFMLIB_ERR_INVAL);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_processor_has_its_entry),
		cmocka_unit_test(a_statistic_comes_with_what_retired),
		cmocka_unit_test(levels_and_samples_are_read),
		cmocka_unit_test(questions_that_have_no_answer),
	};

	return cmocka_run_group_tests_name("alpha_session", tests, NULL, NULL);
}
