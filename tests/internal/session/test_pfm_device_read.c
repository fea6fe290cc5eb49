/* SPDX-License-Identifier: MIT */
/* Counts of the Tru64 counter device: what the backend makes of the numbers it answers with. */
#include "device_session.h"

static void events_of_the_21164_are_counted_to_the_last_one(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 2, 0, ALPHA_DEVICE_UNBOUND);
	int fast;

	(void)state;
	add(f, "issues");
	add(f, "dcachemisses");
	f->options.model = &f->in;
	for (fast = 0; fast < 2; fast++) {
		f->in.pfp_alpha_rates[0] = fast ? 256 : 0;
		assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
		assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
		work(f, 0, 100000, 5, 20000);
		work(f, 1, 1, 5, 0);
		assert_int_equal(value(f, 0), 100001);
		assert_int_equal(value(f, 1), 20000);
		assert_int_equal(f->s.live.backend->stop_counting(&f->s), 0);
		work(f, 0, 77, 77, 77);
		assert_int_equal(value(f, 0), 100001); /* stopped */
		assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
		work(f, 0, 99, 0, 0);
		assert_int_equal(value(f, 0), 100100); /* goes on from where it was */
		assert_int_equal(f->s.live.backend->reset_counts(&f->s), 0);
		work(f, 1, 7, 0, 0);
		assert_int_equal(value(f, 0), 7);
		f->s.live.backend->close_counts(&f->s);
		f->n_calls = 0;
	}
	end(f);
}

static void start_values_are_no_events(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV6, 3, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "retinst");
	f->in.pfp_alpha_periods[0] = 100000;
	f->options.model = &f->in;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(value(f, 0), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	assert_int_equal(value(f, 0), 0);
	work(f, 0, 250000, 0, 0);
	work(f, 2, 50, 0, 0);
	assert_int_equal(value(f, 0), 250050);
	end(f);
}

static void ev4_knows_interrupts_only(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV4, 1, 0, ALPHA_DEVICE_UNBOUND);
	pfm_count_t count;

	(void)state;
	add(f, "cycles");
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 65535, 0, 0);
	assert_int_equal(f->s.live.backend->read_counts(&f->s, &count, 1), 0);
	assert_true(count.value == 0 &&
	            count.enabled == 0); /* the counter may not have started at 0 */
	work(f, 0, 65537, 0, 0);
	assert_int_equal(f->s.live.backend->read_counts(&f->s, &count, 1), 0);
	assert_true(count.value == 131072 && count.enabled > 0);
	end(f);
}

static void interrupted_requests_are_repeated(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "issues");
	f->interrupted = true;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 100, 0, 0);
	assert_int_equal(value(f, 0), 100);
	end(f);
}

/* Values of the counters before the first start do not belong to this session. */
static void counters_that_go_on_start_from_zero(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV6, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "retinst");
	f->options.model = &f->in;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 12345, 0, 0);
	f->s.live.backend->close_counts(&f->s);
	f->in.pfp_alpha_flags = PFM_ALPHA_FL_KEEP;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	f->refused = PCNT6READCNTRS;
	f->refused_errno = EIO;
	assert_int_equal(f->s.live.backend->start_counting(&f->s), PFMLIB_ERR_SYS);
	f->refused_errno = 0;
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	assert_int_equal(value(f, 0), 0);
	work(f, 0, 100, 0, 0);
	assert_int_equal(value(f, 0), 100);
	end(f);
}

/* Interrupts where they are asked for, and nothing where no counters are. */
static void items_and_flags_choose_what_is_read(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV6, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "retinst");
	f->options.model = &f->in;
	f->in.pfp_alpha_flags = PFM_ALPHA_FL_GETCNT;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, (3 << 20) + 55, 0, 0);
	assert_int_equal(value(f, 0), 3 << 20);
	f->s.live.backend->close_counts(&f->s);
	f->in.pfp_alpha_flags = 0;
	f->in.pfp_alpha_items = PFM_IPL;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 3 << 20, 0, 0);
	f->refused = PCNT6READCNTRS;
	f->refused_errno = EINVAL;
	assert_int_equal(value(f, 0), 0);
	end(f);
}

static void one_processor_is_read_where_it_is(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 2, 0, 1);

	(void)state;
	add(f, "issues");
	f->options.model = &f->in;
	f->options.bind = 1;
	f->in.pfp_alpha_open = PFM_ALPHA_OPEN_ONE;
	f->in.pfp_alpha_rates[0] = 256;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 1000, 0, 0);
	work(f, 1, 555, 0, 0);
	assert_int_equal(value(f, 0), 555);
	f->refused = PCNT5GETCNTRS;
	f->refused_errno = EIO;
	assert_int_equal(f->s.live.backend->read_counts(&f->s, &(pfm_count_t){ 0 }, 1),
	                 PFMLIB_ERR_SYS);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_the_21164_are_counted_to_the_last_one),
		cmocka_unit_test(start_values_are_no_events),
		cmocka_unit_test(ev4_knows_interrupts_only),
		cmocka_unit_test(interrupted_requests_are_repeated),
		cmocka_unit_test(counters_that_go_on_start_from_zero),
		cmocka_unit_test(items_and_flags_choose_what_is_read),
		cmocka_unit_test(one_processor_is_read_where_it_is),
	};

	return cmocka_run_group_tests_name("pfm_device_read", tests, NULL, NULL);
}
