/* SPDX-License-Identifier: MIT */
/* Requests to the device model: what each changes, what it gives back, what it refuses. */
#include "device_model.h"

/* Words that reach PALcode: unassigned bits are removed. */
static void words_for_palcode(void **state)
{
	static const uint64_t all = ~UINT64_C(0),
			      value5 = PF5_CTRS(5, PMCTRS_ALL_CPUS, 0x1234, 0x5678, 0x1abc),
			      value6 = PF6_CTRS(2, PMCTRS_ALL_CPUS, 0xabcde, 0x12345);
	static const struct {
		enum alpha_device_family family;
		uint32_t request;
		uint64_t word;
		unsigned function;
		uint64_t a1;
	} rows[] = {
		{ ALPHA_DEVICE_EV4, PCNTSETMUX, all & ~(UINT64_C(1) << ICCSR_DISABLE_SHIFT), 2,
		  ICCSR_PC0 | ICCSR_PC1 | ICCSR_MUX0_MASK | ICCSR_MUX1_MASK },
		{ ALPHA_DEVICE_EV4, PCNTRENABLE, 0, 1, 0 },
		{ ALPHA_DEVICE_EV4, PCNTRDISABLE, 0, 0, 0 },
		{ ALPHA_DEVICE_EV5, PCNT5MUX, all, 2, 0x800000ff | PF5_MUX_CBOX_KMASK >> 32 },
		{ ALPHA_DEVICE_PCA56, PCNT5MUX, all, 2, 0x800000ff | PF5_MUX_CBOX_KMASK >> 43 },
		{ ALPHA_DEVICE_EV5, PCNT5FREQ, all, 4, 0x3f0 },
		{ ALPHA_DEVICE_EV5, PCNT5FREQ, 0, 4, 0x2a0 },
		{ ALPHA_DEVICE_EV5, PCNT5CTXTS, all, 3, 0x40000301 },
		{ ALPHA_DEVICE_EV5, PCNT5ENABLE, value5, 1, 5 },
		{ ALPHA_DEVICE_EV5, PCNT5DISABLE, value5, 0, 5 },
		{ ALPHA_DEVICE_EV5, PCNT5RESTART, value5, 7, 5 },
		{ ALPHA_DEVICE_EV5, PCNT5CLEAR, value5, 6, 0 },
		{ ALPHA_DEVICE_EV5, PCNT5SETCNTRS, value5, 6,
		  PF5_CTRS(0, 0, 0x1234, 0x5678, 0x1abc) },
		{ ALPHA_DEVICE_EV5, PCNTRDISABLE, 0, 0, 7 },
		{ ALPHA_DEVICE_EV6, PCNT6MUX, all, 2, 0x1f },
		{ ALPHA_DEVICE_EV6, PCNT6ENABLE, value6, 1, 2 },
		{ ALPHA_DEVICE_EV6, PCNT6DISABLE, value6, 0, 2 },
		{ ALPHA_DEVICE_EV67, PCNT6RESTART, value6, 7, 2 },
		{ ALPHA_DEVICE_EV67, PCNT6ENABWRITE, value6, 7, PF6_CTRS(2, 0, 0xabcde, 0x12345) },
		{ ALPHA_DEVICE_EV6, PCNT6CLEAR, value6, 6, 2 },
		{ ALPHA_DEVICE_EV6, PCNT6SETCNTRS, value6, 6, PF6_CTRS(2, 0, 0xabcde, 0x12345) },
		{ ALPHA_DEVICE_EV6, PCNTRDISABLE, 0, 0, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct alpha_device_options o = options_of(rows[i].family);
		struct model_device d = open_device(&o, PCNTOPENALL);
		struct recorded_call t = { 0 };

		alpha_device_trace_pal(d.m, record_call, &t);
		assert_int_equal(print_call(&d, rows[i].request, rows[i].word), 0);
		if (t.n != 1 || t.function != rows[i].function || t.a1 != rows[i].a1)
			fail_msg("row %zu: %u times, %u %llx", i, t.n, t.function,
			         (unsigned long long)t.a1);
		alpha_device_free(d.m);
	}
}

/* Enabling interrupts starts the counters on EV4 alone; other processors get no PAL call. */
static void interrupts_start_the_counters_of_ev4_alone(void **state)
{
	(void)state;
	for (int family = ALPHA_DEVICE_EV4; family <= ALPHA_DEVICE_EV67; family++) {
		const struct alpha_device_options o = options_of((enum alpha_device_family)family);
		struct model_device d = open_device(&o, PCNTOPENALL);
		struct recorded_call t = { 0 };

		alpha_device_trace_pal(d.m, record_call, &t);
		send_request(&d, PCNTRENABLE, NULL);
		assert_int_equal(t.n, family == ALPHA_DEVICE_EV4);
		assert_int_equal(read_kernel_log(&d, 0).running_counters,
		                 family == ALPHA_DEVICE_EV4 ? 3 : 0);
		assert_true(read_kernel_log(&d, 0).has_interrupts_on);
		send_request(&d, PCNTRDISABLE, NULL);
		assert_false(read_kernel_log(&d, 0).has_interrupts_on);
		alpha_device_free(d.m);
	}
}

/* The fast rates are the superuser's. */
static void only_root_sets_the_fast_rates(void **state)
{
	static const uint64_t fast[] = { PF5_C0_INT_EVERY_256, PF5_C1_INT_EVERY_256,
		                         PF5_C2_INT_EVERY_256 };
	const struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);
	struct model_device d = open_device(&o, PCNTOPENALL);
	int mine;

	(void)state;
	alpha_device_close_session(d.m, d.handle);
	mine = alpha_device_open_session(d.m, USER, PCNTOPENONE);
	for (size_t i = 0; i < COUNT(fast); i++) {
		uint64_t word = fast[i], slow = PF5_C0_INT_EVERY_65536,
			 at = (uint64_t)(uintptr_t)&word;

		assert_int_equal(alpha_device_do_ioctl(d.m, mine, USER, PCNT5FREQ, at,
		                                       &alpha_device_own_memory),
		                 -EPERM);
		assert_true(alpha_device_is_error_unconfirmed(d.m));
		assert_int_equal(alpha_device_do_ioctl(d.m, mine, USER, PCNT5FREQ,
		                                       (uint64_t)(uintptr_t)&slow,
		                                       &alpha_device_own_memory),
		                 0);
		assert_false(alpha_device_is_error_unconfirmed(d.m));
		assert_int_equal(alpha_device_do_ioctl(d.m, mine, ROOT, PCNT5FREQ, at,
		                                       &alpha_device_own_memory),
		                 0);
	}
	alpha_device_free(d.m);
}

/* Processes are marked and unmarked by different requests. */
static void processes_are_marked_and_unmarked(void **state)
{
	const struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);
	struct model_device d = open_device(&o, PCNTOPENALL);

	(void)state;
	send_request(&d, PCNTLOGALL, NULL);
	print_call(&d, PCNT5CTXTS, PF5_CTXT_SEL_PROC);
	assert_int_equal(alpha_device_is_process_marked(d.m, ROOT), 0);
	print_call(&d, PCNT5CTXTS, PF5_CTXT_PME_THIS);
	assert_int_equal(alpha_device_is_process_marked(d.m, ROOT), 1);
	send_request(&d, PCNTLOGALL, NULL);
	assert_int_equal(alpha_device_is_process_marked(d.m, ROOT), 1);
	send_request(&d, PCNTCLEARPCBPME, NULL);
	assert_int_equal(alpha_device_is_process_marked(d.m, ROOT), 0);
	send_request(&d, PCNTLOGSELECT, NULL);
	assert_true(alpha_device_is_process_marked(d.m, ROOT) == 1 &&
	            alpha_device_is_process_marked(d.m, USER) == 0);
	alpha_device_free(d.m);
}

/* Requests of every family, and the families that accept them. */
static const struct {
	uint32_t request;
	int family; /* EV4, EV5 or EV6 */
	size_t result;
} OWN[] = {
	{ PCNTSETMUX, ALPHA_DEVICE_EV4, 0 },
	{ PCNTGETCNT, ALPHA_DEVICE_EV4, sizeof(struct pfcntrs) },
	{ PCNTGETCNT_OLD, ALPHA_DEVICE_EV4, sizeof(struct pfcntrs) },
	{ PCNT5CTXTS, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5MUX, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5FREQ, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5DISABLE, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5ENABLE, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5CLEAR, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5RESTART, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5SETCNTRS, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5GETCNTRS, ALPHA_DEVICE_EV5, 0 },
	{ PCNT5GETCNT, ALPHA_DEVICE_EV5, sizeof(struct pfcntrs_ev5) },
	{ PCNT5READCNTRS, ALPHA_DEVICE_EV5, sizeof(struct pfcntrs_ev5) },
	{ PCNT6MUX, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6ENABWRITE, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6DISABLE, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6ENABLE, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6CLEAR, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6RESTART, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6SETCNTRS, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6GETCNTRS, ALPHA_DEVICE_EV6, 0 },
	{ PCNT6GETCNT, ALPHA_DEVICE_EV6, sizeof(struct pfcntrs_ev6) },
	{ PCNT6READCNTRS, ALPHA_DEVICE_EV6, sizeof(struct pfcntrs_ev6) },
};

static int base_family(int family)
{
	return family == ALPHA_DEVICE_PCA56  ? ALPHA_DEVICE_EV5
	       : family == ALPHA_DEVICE_EV67 ? ALPHA_DEVICE_EV6
	                                     : family;
}

/* Each takes its own, with memory that is there, and no family another one's. */
static void requests_and_families(void **state)
{
	(void)state;
	for (int family = ALPHA_DEVICE_EV4; family <= ALPHA_DEVICE_EV67; family++) {
		struct alpha_device_options o = options_of((enum alpha_device_family)family);
		struct model_device d;

		o.family_errno = ENOTTY;
		o.unknown_errno = ENOSYS;
		o.old_getcnt = false;
		d = open_device(&o, PCNTOPENALL);
		for (size_t i = 0; i < COUNT(OWN); i++) {
			uint64_t array[4], word = OWN[i].result
			                                  ? (uint64_t)(uintptr_t)array
			                                  : PF5_CTRS(0, PMCTRS_ALL_CPUS, 0, 0, 0);
			bool own = OWN[i].family == base_family(family);
			int want = OWN[i].request == PCNTGETCNT_OLD ? -ENOSYS : own ? 0 : -ENOTTY;

			if (alpha_device_is_ev6(d.m) && !OWN[i].result)
				word = PF6_CTRS(0, PMCTRS_ALL_CPUS, 0, 0);
			assert_int_equal(print_call(&d, OWN[i].request, word), want);
			assert_int_equal(send_request(&d, OWN[i].request, NULL),
			                 want ? want : -EFAULT);
		}
		assert_int_equal(print_call(&d, PCNTSETMUX + 0x100, 0), -ENOSYS);
		alpha_device_free(d.m);
	}
}

static void sizes_of_results(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV4);
	struct model_device d;

	(void)state;
	o.n_cpus = 3;
	for (unsigned each = 0; each < 2; each++) {
		unsigned n = each ? 3 : 1;

		d = open_device(&o, each ? PCNTOPENEACH : PCNTOPENALL);
		for (size_t i = 0; i < COUNT(OWN); i++)
			assert_int_equal(
				alpha_device_get_result_size(d.m, d.handle, OWN[i].request),
				n * OWN[i].result);
		assert_int_equal(alpha_device_get_result_size(d.m, d.handle, PCNTGETIPLHIS),
		                 n * sizeof(struct pfipls));
		assert_int_equal(alpha_device_get_result_size(d.m, d.handle, PCNTGETRSIZE), 0);
		assert_int_equal(alpha_device_get_result_size(d.m, d.handle + 1, PCNTGETIPLHIS), 0);
		alpha_device_close_session(d.m, d.handle);
		assert_int_equal(alpha_device_get_result_size(d.m, d.handle, PCNTGETIPLHIS), 0);
		alpha_device_free(d.m);
	}
}

/* Two processors with counts of their own: 10 and 20 interrupts of counter 0, 1 and 2 of the last
 * one; clocks of 100 and 200. */
static struct model_device make_counted_device(enum alpha_device_family family, unsigned mode)
{
	struct alpha_device_options o = options_of(family);
	struct model_device d;
	unsigned last;

	o.n_cpus = 2;
	d = open_device(&o, mode);
	last = alpha_device_count_counters(d.m) - 1;
	for (unsigned i = 0; i < 2; i++) {
		struct device_cpu *c = &d.m->cpus[i];

		c->interrupt_counts[0] = 10 + 10 * i;
		c->interrupt_counts[last] = 1 + i;
		c->chip_values[0] = 5;
		c->chip_values[last] = 6;
		c->interrupt_cycles = c->clock_cycles = 100 + 100 * i;
		c->level_counts[0] = 7 + i;
		c->level_counts[PFM_IPL_USER] = 70 + i;
	}
	return d;
}

static void counts_of_all_and_each(void **state)
{
	struct pfcntrs four[2];
	struct pfcntrs_ev5 five[2];
	struct pfcntrs_ev6 six[2];
	struct model_device d = make_counted_device(ALPHA_DEVICE_EV4, PCNTOPENALL);

	(void)state;
	assert_int_equal(read_results(&d, PCNTGETCNT, four), 0);
	assert_true(four[0].pf_cntr0 == 30 && four[0].pf_cntr1 == 3 && four[0].pr_cycle == 300);
	assert_int_equal(read_results(&d, PCNTGETCNT_OLD, four + 1), 0);
	assert_memory_equal(four, four + 1, sizeof four[0]);
	alpha_device_free(d.m);
	d = make_counted_device(ALPHA_DEVICE_EV5, PCNTOPENEACH);
	assert_int_equal(read_results(&d, PCNT5GETCNT, five), 0);
	assert_true(five[0].pr_cycle == 100 && five[0].pf_cntr0 == 10 && five[0].pf_cntr1 == 0 &&
	            five[0].pf_cntr2 == 1);
	assert_true(five[1].pr_cycle == 200 && five[1].pf_cntr0 == 20 && five[1].pf_cntr1 == 0 &&
	            five[1].pf_cntr2 == 2);
	assert_int_equal(read_results(&d, PCNT5READCNTRS, five), 0);
	assert_true(five[1].pf_cntr0 == (20 << 16) + 5 && five[1].pf_cntr2 == (2 << 14) + 6);
	alpha_device_free(d.m);
	d = make_counted_device(ALPHA_DEVICE_EV67, PCNTOPENONE); /* processor 0 alone */
	assert_int_equal(read_results(&d, PCNT6READCNTRS, six), 0);
	assert_true(six[0].pr_cycle == 100 && six[0].pf_cntr0 == (10 << 20) + 5 &&
	            six[0].pf_cntr1 == (1 << 20) + 6);
	alpha_device_free(d.m);
}

/* As many entries as there can be. */
static void counts_of_64_processors(void **state)
{
	static struct pfcntrs_ev5 five[ALPHA_DEVICE_MAX_CPUS];
	static struct pfipls ipl[ALPHA_DEVICE_MAX_CPUS];
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);
	struct model_device d;

	(void)state;
	o.n_cpus = ALPHA_DEVICE_MAX_CPUS;
	d = open_device(&o, PCNTOPENEACH);
	for (unsigned i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		d.m->cpus[i].interrupt_counts[2] = d.m->cpus[i].level_counts[8] = i;
	print_call(&d, PCNTSETITEMS, PFM_COUNTERS | PFM_IPL);
	assert_int_equal(read_results(&d, PCNT5GETCNT, five), 0);
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, ipl), 0);
	for (unsigned i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		assert_true(five[i].pf_cntr2 == i && ipl[i].ipl[8] == i);
	assert_int_equal(send_request(&d, PCNTCLEARCNT, NULL), 0);
	assert_int_equal(d.m->cpus[ALPHA_DEVICE_MAX_CPUS - 1].interrupt_counts[2], 0);
	alpha_device_free(d.m);
}

static void levels_of_all_and_each(void **state)
{
	struct pfipls ipl[2];
	struct model_device d = make_counted_device(ALPHA_DEVICE_EV6, PCNTOPENALL);

	(void)state;
	print_call(&d, PCNTSETITEMS, PFM_IPL);
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, ipl), 0);
	assert_true(ipl[0].ipl[0] == 15 && ipl[0].ipl[PFM_IPL_USER] == 141 && ipl[0].ipl[1] == 0);
	alpha_device_free(d.m);
	d = make_counted_device(ALPHA_DEVICE_EV6, PCNTOPENEACH);
	print_call(&d, PCNTSETITEMS, PFM_IPL);
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, ipl), 0);
	assert_true(ipl[0].ipl[0] == 7 && ipl[1].ipl[0] == 8 && ipl[1].ipl[PFM_IPL_USER] == 71);
	alpha_device_free(d.m);
}

/* Nothing is given that was not asked for, and only what is collected is cleared. */
static void result_items_are_separate(void **state)
{
	struct model_device d = make_counted_device(ALPHA_DEVICE_EV6, PCNTOPENONE);
	struct pfcntrs_ev6 six;
	struct pfipls ipl;

	(void)state;
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, &ipl),
	                 -EINVAL); /* counters alone, at first */
	assert_int_equal(print_call(&d, PCNTSETITEMS, 0), -EINVAL);
	assert_int_equal(print_call(&d, PCNTSETITEMS, 8), -EINVAL);
	assert_int_equal(send_request(&d, PCNTCLEARCNT, NULL), 0);
	assert_true(d.m->cpus[0].interrupt_counts[0] == 0 && d.m->cpus[0].interrupt_cycles == 0 &&
	            d.m->cpus[0].clock_cycles == 0);
	assert_true(d.m->cpus[0].level_counts[0] == 7 &&
	            d.m->cpus[1].interrupt_counts[0] == 20); /* and on processors that are held */
	assert_int_equal(print_call(&d, PCNTSETITEMS, PFM_IPL | 8), 0);
	assert_int_equal(read_results(&d, PCNT6GETCNT, &six), -EINVAL);
	d.m->cpus[0].interrupt_counts[1] = 9;
	assert_int_equal(send_request(&d, PCNTCLEARCNT, NULL), 0);
	assert_true(d.m->cpus[0].level_counts[0] == 0 && d.m->cpus[1].level_counts[0] == 8 &&
	            d.m->cpus[0].interrupt_counts[1] == 9);
	assert_int_equal(print_call(&d, PCNTSETITEMS, PFM_PROFILING), 0);
	assert_int_equal(send_request(&d, PCNTCLEARCNT, NULL), -EINVAL);
	alpha_device_free(d.m);
}

/* The statistic of ProfileMe is kept beside the items, on EV67 alone. */
static void statistics_beside_the_items(void **state)
{
	for (int family = ALPHA_DEVICE_EV6; family <= ALPHA_DEVICE_EV67; family++) {
		struct alpha_device_options o = options_of((enum alpha_device_family)family);
		struct model_device d;

		(void)state;
		o.items_errno = ERANGE;
		d = open_device(&o, PCNTOPENALL);
		assert_int_equal(
			print_call(&d, PCNTSETITEMS, PFM_COUNTERS | 5 << PFM_PM_STAT_SHIFT),
			family == ALPHA_DEVICE_EV67 ? 0 : -ERANGE);
		assert_int_equal(d.m->sessions[d.handle].items,
		                 family == ALPHA_DEVICE_EV67 ? 0x501 : PFM_COUNTERS);
		assert_int_equal(print_call(&d, PCNTSETITEMS, PFM_COUNTERS | 0x10000), -ERANGE);
		assert_int_equal(print_call(&d, PCNTSETITEMS, 0x100),
		                 family == ALPHA_DEVICE_EV67 ? -EINVAL : -ERANGE);
		alpha_device_free(d.m);
	}
}

static int set_range(const struct model_device *d, uint32_t request, uint64_t start, uint64_t end,
                     uint64_t stride)
{
	addr_range_t r = { start, end, stride, 0 };

	return send_request(d, request, &r);
}

static uint64_t bytes_to_read(const struct model_device *d)
{
	uint64_t bytes = 77;

	assert_int_equal(send_request(d, PCNTGETRSIZE, &bytes), 0);
	return bytes;
}

static struct model_device make_profiled_device(const struct alpha_device_options *o, unsigned mode)
{
	struct model_device d = open_device(o, mode);

	assert_int_equal(print_call(&d, PCNTSETITEMS, PFM_PROFILING), 0);
	return d;
}

/* Ranges end where kernel text ends, and hold at least an instruction. */
static void ranges_of_text(void **state)
{
	const struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d = open_device(&o, PCNTOPENALL);

	(void)state;
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x2000, 1),
	                 -EINVAL); /* before the item */
	print_call(&d, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(bytes_to_read(&d), 0);
	assert_int_equal(set_range(&d, PCNTSETKRANGE, o.ktext_start, o.ktext_end, 1), 0);
	assert_int_equal(set_range(&d, PCNTSETKRANGE, o.ktext_start - 4, o.ktext_end, 1), -EFAULT);
	assert_int_equal(set_range(&d, PCNTSETKRANGE, o.ktext_start, o.ktext_end + 4, 1), -EFAULT);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1000, 1), -EFAULT);
	assert_int_equal(bytes_to_read(&d),
	                 o.ktext_end - o.ktext_start); /* refused: the one before stays */
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1004, 1), 0);
	assert_int_equal(bytes_to_read(&d), 4);
	print_call(&d, PCNTSETITEMS, PFM_COUNTERS);
	assert_int_equal(bytes_to_read(&d), 0);
	alpha_device_free(d.m);
}

static void sample_ranges_with_strides(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d = make_profiled_device(&o, PCNTOPENALL);

	(void)state;
	assert_int_equal(set_range(&d, PCNTSETUADDR, 0x1000, 0x1040, 77),
	                 0); /* without a stride: 4 instructions */
	assert_int_equal(bytes_to_read(&d), 4 * 4);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1040, 3), -EINVAL);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1040, 6), -EINVAL);
	for (unsigned stride = 1; stride <= 64;
	     stride *= 2) { /* buckets that are begun are whole ones */
		assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1044, stride), 0);
		assert_int_equal(bytes_to_read(&d), (17 + stride - 1) / stride * 4);
		assert_int_equal(set_range(&d, PCNTSETUADDR, 0x1000, 0x1080, 0),
		                 0); /* the one that was said last */
		assert_int_equal(bytes_to_read(&d), (32 + stride - 1) / stride * 4);
	}
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1040, 0), 0);
	assert_int_equal(bytes_to_read(&d), 4);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1040, UINT64_C(1) << 63), 0);
	assert_int_equal(bytes_to_read(&d), 4);
	alpha_device_free(d.m);
	o.end_inclusive = true;
	d = make_profiled_device(&o, PCNTOPENALL);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x103c, 4),
	                 0); /* with its last address 16 instructions, and no more */
	assert_int_equal(bytes_to_read(&d), 4 * 4);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1040, 4), 0);
	assert_int_equal(bytes_to_read(&d), 5 * 4);
	alpha_device_free(d.m);
}

/* Memory for as many blocks as there are to be, and not a bucket more; without it all stays as it
 * was. */
static void memory_for_samples(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d;

	(void)state;
	o.n_cpus = 2;
	o.max_buffer = 2 * 8 * sizeof(uint32_t);
	d = make_profiled_device(&o, PCNTOPENEACH);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1000 + 9 * 4, 1), -ENOMEM);
	assert_int_equal(bytes_to_read(&d), 0);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1000 + 8 * 4, 1), 0);
	assert_int_equal(bytes_to_read(&d), o.max_buffer);
	alpha_device_fail_next_alloc(d.m);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1004, 1), -ENOMEM);
	assert_int_equal(bytes_to_read(&d), o.max_buffer);
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1004, 1), 0); /* it failed once */
	assert_int_equal(bytes_to_read(&d), 8);
	alpha_device_free(d.m);
}

static void callers_need_ranges_of_the_kernel(void **state)
{
	const struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d = make_profiled_device(&o, PCNTOPENALL);
	uint64_t text = o.ktext_start;

	(void)state;
	assert_int_equal(send_request(&d, PCNTCALLER, NULL), -EINVAL); /* no range yet */
	set_range(&d, PCNTSETURANGE, 0x1000, 0x2000, 1);
	assert_int_equal(send_request(&d, PCNTCALLER, NULL), -EINVAL); /* of a program */
	assert_int_equal(set_range(&d, PCNTSETKRANGE, text, text + 64, 1), 0);
	assert_int_equal(send_request(&d, PCNTCALLER, NULL), 0);
	assert_int_equal(set_range(&d, PCNTSETKADDR, text - 4, text + 4, 0), -EFAULT);
	assert_int_equal(set_range(&d, PCNTSETKADDR, text + 8, text + 8, 0), -EFAULT);
	for (unsigned i = 0; i < ALPHA_DEVICE_MAX_CALLER_RANGES; i++)
		assert_int_equal(set_range(&d, PCNTSETKADDR, text + 8 * i, text + 8 * i + 4, 0), 0);
	assert_int_equal(set_range(&d, PCNTSETKADDR, text, text + 4, 0), -ENOSPC);
	assert_int_equal(bytes_to_read(&d), 64); /* the first range, all the time */
	assert_int_equal(set_range(&d, PCNTSETURANGE, 0x1000, 0x1004, 1),
	                 0); /* another profile, without ranges */
	assert_true(d.m->sessions[d.handle].profile.n_caller_ranges == 0 &&
	            !d.m->sessions[d.handle].profile.charges_callers);
	alpha_device_free(d.m);
}

/* A read returns as many bytes as are available, or requested, from the first block on. */
static void a_read_returns_what_is_there(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d;
	uint32_t got[6], want[6] = { 1, 2, 3, 4, 5, 6 };
	uint64_t to = (uint64_t)(uintptr_t)got;

	(void)state;
	o.n_cpus = 2;
	d = make_profiled_device(&o, PCNTOPENEACH);
	assert_int_equal(
		alpha_device_read_samples(d.m, d.handle, to, sizeof got, &alpha_device_own_memory),
		0);
	set_range(&d, PCNTSETURANGE, 0x1000, 0x100c, 1);
	memcpy(d.m->sessions[d.handle].profile.buckets, want, sizeof want);
	for (size_t n = 0; n <= sizeof got + 1; n++) {
		size_t all = n < sizeof got ? n : sizeof got;

		memset(got, 0xff, sizeof got);
		assert_int_equal(
			alpha_device_read_samples(d.m, d.handle, to, n, &alpha_device_own_memory),
			all);
		assert_memory_equal(got, want, all);
		assert_true(all == sizeof got || ((unsigned char *)got)[all] == 0xff);
	}
	assert_int_equal(alpha_device_read_samples(d.m, d.handle, 0, 1, &alpha_device_own_memory),
	                 -EFAULT);
	assert_int_equal(
		alpha_device_read_samples(d.m, d.handle + 1, to, 1, &alpha_device_own_memory),
		-EBADF);
	alpha_device_free(d.m);
}

/* A counter word names counters and a processor; what it does not name stays. */
static void counters_of_processors(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);
	struct model_device d;
	uint64_t word = PF5_CTRS(7, 1, 0, 0, 0);

	(void)state;
	o.n_cpus = 2;
	d = open_device(&o, PCNTOPENALL);
	assert_int_equal(print_call(&d, PCNT5SETCNTRS, PF5_CTRS(7, PMCTRS_ALL_CPUS, 1, 2, 3)), 0);
	assert_int_equal(print_call(&d, PCNT5SETCNTRS, PF5_CTRS(5, 1, 0xffff, 0xffff, 0x3fff)), 0);
	assert_true(read_kernel_log(&d, 0).chip_values[0] == 1 &&
	            read_kernel_log(&d, 0).chip_values[1] == 2 &&
	            read_kernel_log(&d, 0).chip_values[2] == 3);
	assert_int_equal(send_request(&d, PCNT5GETCNTRS, &word), 0);
	assert_int_equal(word, PF5_CTRS(7, 1, 0xffff, 2, 0x3fff));
	assert_int_equal(print_call(&d, PCNT5CLEAR, PF5_CTRS(1, 1, 9, 9, 9)), 0);
	word = PF5_CTRS(2, 1, 0, 0, 0);
	send_request(&d, PCNT5GETCNTRS, &word);
	assert_int_equal(word, PF5_CTRS(2, 1, 0, 2, 0x3fff));
	assert_int_equal(print_call(&d, PCNT5CLEAR, PF5_CTRS(1, 2, 0, 0, 0)), -EINVAL);
	assert_int_equal(print_call(&d, PCNT5RESTART, PF5_CTRS(2, PMCTRS_ALL_CPUS, 0, 0, 0)), 0);
	assert_true(read_kernel_log(&d, 1).chip_values[1] == 0 &&
	            read_kernel_log(&d, 1).chip_values[2] == 0x3fff &&
	            read_kernel_log(&d, 0).chip_values[0] == 1);
	assert_int_equal(print_call(&d, PCNT5ENABLE, PF5_CTRS(4, PMCTRS_ALL_CPUS, 9, 9, 9)), 0);
	assert_true(read_kernel_log(&d, 1).running_counters == 6 &&
	            read_kernel_log(&d, 1).chip_values[2] == 0x3fff);
	assert_int_equal(print_call(&d, PCNT5DISABLE, PF5_CTRS(2, PMCTRS_ALL_CPUS, 0, 0, 0)), 0);
	assert_int_equal(read_kernel_log(&d, 1).running_counters, 4);
	/* A process that holds one processor reads and writes that one. */
	alpha_device_close_session(d.m, d.handle);
	d.handle = alpha_device_open_session(d.m, ROOT, PCNTOPENONE);
	assert_int_equal(print_call(&d, PCNT5GETCNTRS, PF5_CTRS(7, 1, 0, 0, 0)), -EINVAL);
	assert_int_equal(print_call(&d, PCNT5SETCNTRS, PF5_CTRS(7, PMCTRS_ALL_CPUS, 8, 8, 8)), 0);
	assert_true(read_kernel_log(&d, 0).chip_values[0] == 8 &&
	            read_kernel_log(&d, 1).chip_values[0] == 0);
	alpha_device_free(d.m);
}

static void values_of_ev6(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct model_device d;

	(void)state;
	o.n_cpus = 2;
	d = open_device(&o, PCNTOPENALL);
	assert_int_equal(print_call(&d, PCNT6SETCNTRS, PF6_CTRS(3, 1, 0xfffff, 0x12345)), 0);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		uint64_t word = PF6_CTRS(2, cpu, 7, 7);

		assert_int_equal(send_request(&d, PCNT6GETCNTRS, &word), 0);
		assert_true(word ==
		            (cpu ? PF6_CTRS(2, 1, 0xfffff, 0x12345) : PF6_CTRS(2, 0, 0, 0)));
	}
	alpha_device_free(d.m);
}

UNIT(tools_request, cmocka_unit_test(words_for_palcode),
     cmocka_unit_test(interrupts_start_the_counters_of_ev4_alone),
     cmocka_unit_test(only_root_sets_the_fast_rates),
     cmocka_unit_test(processes_are_marked_and_unmarked), cmocka_unit_test(requests_and_families),
     cmocka_unit_test(sizes_of_results), cmocka_unit_test(counts_of_all_and_each),
     cmocka_unit_test(counts_of_64_processors), cmocka_unit_test(levels_of_all_and_each),
     cmocka_unit_test(result_items_are_separate), cmocka_unit_test(statistics_beside_the_items),
     cmocka_unit_test(ranges_of_text), cmocka_unit_test(sample_ranges_with_strides),
     cmocka_unit_test(memory_for_samples), cmocka_unit_test(callers_need_ranges_of_the_kernel),
     cmocka_unit_test(a_read_returns_what_is_there), cmocka_unit_test(counters_of_processors),
     cmocka_unit_test(values_of_ev6));
