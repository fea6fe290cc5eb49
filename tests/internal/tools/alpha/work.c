/* SPDX-License-Identifier: MIT */
/* The device model at work: rates, gates, what an interrupt leaves, invented work. */
#include "device_model.h"

static const uint64_t ON5 = PF5_CTRS(7, PMCTRS_ALL_CPUS, 0, 0, 0),
		      ON6 = PF6_CTRS(3, PMCTRS_ALL_CPUS, 0, 0);

/* Starts all counters from 0. */
static void start_counters(const struct model_device *d)
{
	if (d->m->options.family == ALPHA_DEVICE_EV4)
		assert_int_equal(send_request(d, PCNTRENABLE, NULL), 0);
	else if (alpha_device_is_ev5(d->m))
		assert_int_equal(print_call(d, PCNT5RESTART, ON5), 0);
	else
		assert_int_equal(print_call(d, PCNT6RESTART, ON6), 0);
}

static struct model_device make_running_device(enum alpha_device_family family)
{
	const struct alpha_device_options o = options_of(family);
	struct model_device d = open_device(&o, PCNTOPENALL);

	start_counters(&d);
	return d;
}

/* One event less than the rate raises no interrupt, and the next event raises one; then counting
 * starts again. */
static void interrupts_at(const struct model_device *d, unsigned counter, uint64_t rate)
{
	struct alpha_device_work w = { .pid = ROOT, .is_user = true };
	uint64_t before = read_kernel_log(d, 0).interrupt_counts[counter];

	w.events[counter] = rate - 1;
	assert_int_equal(alpha_device_do_work(d->m, 0, &w), 0);
	assert_true(read_kernel_log(d, 0).interrupt_counts[counter] == before &&
	            read_kernel_log(d, 0).chip_values[counter] == rate - 1);
	w.events[counter] = 1;
	alpha_device_do_work(d->m, 0, &w);
	assert_true(read_kernel_log(d, 0).interrupt_counts[counter] == before + 1 &&
	            read_kernel_log(d, 0).chip_values[counter] == 0);
	w.events[counter] = 3 * rate + 5;
	alpha_device_do_work(d->m, 0, &w);
	assert_true(read_kernel_log(d, 0).interrupt_counts[counter] == before + 4 &&
	            read_kernel_log(d, 0).chip_values[counter] == 5);
	w.events[counter] = rate - 5;
	alpha_device_do_work(d->m, 0, &w);
	assert_true(read_kernel_log(d, 0).interrupt_counts[counter] == before + 5 &&
	            read_kernel_log(d, 0).chip_values[counter] == 0);
}

static void rates_of_every_family(void **state)
{
	static const struct {
		enum alpha_device_family family;
		uint64_t word; /* EV4: for PCNTSETMUX; EV5: for PCNT5FREQ */
		uint64_t rate[3];
	} rates[] = {
		{ ALPHA_DEVICE_EV4, 0, { 65536, 4096 } },
		{ ALPHA_DEVICE_EV4, ICCSR_PC0, { 4096, 4096 } },
		{ ALPHA_DEVICE_EV4, ICCSR_PC1, { 65536, 256 } },
		{ ALPHA_DEVICE_EV5, 0, { 65536, 65536, 16384 } },
		{ ALPHA_DEVICE_PCA56, PF5_C0_INT_EVERY_256, { 256, 65536, 16384 } },
		{ ALPHA_DEVICE_EV5, PF5_C1_INT_EVERY_256, { 65536, 256, 16384 } },
		{ ALPHA_DEVICE_EV5, PF5_C2_INT_EVERY_256, { 65536, 65536, 256 } },
		{ ALPHA_DEVICE_EV6, 0, { 1 << 20, 1 << 20 } },
		{ ALPHA_DEVICE_EV67, 0, { 1 << 20, 1 << 20 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rates); i++) {
		struct model_device d = make_running_device(rates[i].family);

		if (rates[i].word)
			assert_int_equal(print_call(&d,
			                            rates[i].family == ALPHA_DEVICE_EV4 ? PCNTSETMUX
			                                                                : PCNT5FREQ,
			                            rates[i].word),
			                 0);
		for (unsigned k = 0; k < alpha_device_count_counters(d.m); k++)
			interrupts_at(&d, k, rates[i].rate[k]);
		alpha_device_free(d.m);
	}
}

/* Bits of PCNT5CTXTS that let events through, as in the chip: its modes are PAL, kernel,
 * executive and supervisor, user. */
static bool let_through(uint64_t off, const struct alpha_device_work *w, bool user_is_exec)
{
	if (w->is_pal)
		return !(off & PF5_CTXT_NO_PAL);
	if (w->is_user)
		return user_is_exec ? off == PF5_CTXT_EXEC_AND_SUPER || !(off & PF5_CTXT_NO_KERNEL)
		                    : !(off & PF5_CTXT_NO_USER);
	return !(off & PF5_CTXT_NO_KERNEL);
}

static void modes_of_ev5(void **state)
{
	static const uint64_t bits[] = { PF5_CTXT_NO_USER, PF5_CTXT_NO_PAL, PF5_CTXT_NO_KERNEL };
	static const struct alpha_device_work works[] = {
		{ .pid = ROOT, .is_user = true, .events = { 9 } },
		{ .pid = ROOT, .is_pal = true, .events = { 9 } },
		{ .pid = ROOT, .is_user = true, .is_pal = true, .events = { 9 } },
		{ .pid = ROOT, .events = { 9 } }
	};
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);

	(void)state;
	for (unsigned exec = 0; exec < 2; exec++)
		for (unsigned set = 0; set < 8; set++)
			for (size_t i = 0; i < COUNT(works); i++) {
				uint64_t off = (set & 1 ? bits[0] : 0) | (set & 2 ? bits[1] : 0) |
				               (set & 4 ? bits[2] : 0);
				struct model_device d;

				o.user_is_exec = exec;
				d = open_device(&o, PCNTOPENALL);
				start_counters(&d);
				print_call(&d, PCNT5CTXTS, off);
				alpha_device_do_work(d.m, 0, &works[i]);
				assert_int_equal(read_kernel_log(&d, 0).chip_values[0],
				                 let_through(off, &works[i], exec) ? 9 : 0);
				alpha_device_free(d.m);
			}
}

/* Modes are a matter of the 21164: the others count all the same. */
static void processes_that_are_chosen(void **state)
{
	static const enum alpha_device_family families[] = { ALPHA_DEVICE_EV4, ALPHA_DEVICE_EV5,
		                                             ALPHA_DEVICE_EV67 };

	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		struct model_device d = make_running_device(families[i]);
		struct alpha_device_work w = { .pid = USER, .events = { 7 } };

		assert_int_equal(send_request(&d, PCNTLOGSELECT, NULL), 0);
		alpha_device_do_work(d.m, 0, &w);
		w.pid = 77; /* not a process of the model */
		alpha_device_do_work(d.m, 0, &w);
		assert_int_equal(read_kernel_log(&d, 0).chip_values[0], 0);
		w.pid = ROOT;
		alpha_device_do_work(d.m, 0, &w);
		assert_int_equal(read_kernel_log(&d, 0).chip_values[0], 7);
		send_request(&d, PCNTLOGALL, NULL);
		w.pid = USER;
		alpha_device_do_work(d.m, 0, &w);
		assert_int_equal(read_kernel_log(&d, 0).chip_values[0], 14);
		alpha_device_free(d.m);
	}
}

/* The level an interrupt is noted at. */
static unsigned level_of(const struct alpha_device_work *w)
{
	struct model_device d = make_running_device(ALPHA_DEVICE_EV6);
	struct pfipls levels;
	unsigned found = PFM_IPL_LEVELS;

	print_call(&d, PCNTSETITEMS, PFM_IPL);
	alpha_device_raise_interrupt(d.m, 0, 1, w);
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, &levels), 0);
	for (unsigned i = 0; i < PFM_IPL_LEVELS; i++)
		if (levels.ipl[i]) {
			assert_true(found == PFM_IPL_LEVELS && levels.ipl[i] == 1);
			found = i;
		}
	assert_int_equal(read_kernel_log(&d, 0).interrupt_counts[1], 0); /* not requested */
	alpha_device_free(d.m);
	return found;
}

static void levels_of_interrupts(void **state)
{
	(void)state;
	for (unsigned ipl = 0; ipl < 8; ipl++) {
		const struct alpha_device_work kernel = { .ipl = ipl },
					       idle = { .ipl = ipl, .is_idle = true },
					       user = { .ipl = ipl, .is_user = true };

		assert_int_equal(level_of(&kernel), ipl < 6 ? ipl : 5);
		assert_int_equal(level_of(&idle), ipl == 0 ? PFM_IPL_IDLE : ipl < 6 ? ipl : 5);
		assert_int_equal(level_of(&user), PFM_IPL_USER);
	}
}

enum { BUCKETS = 4 };

/* Which of the buckets gets the sample; BUCKETS if none does. */
static unsigned bucket_of(const struct model_device *d, const struct alpha_device_work *w)
{
	uint32_t before[BUCKETS], after[BUCKETS];
	unsigned found = BUCKETS;

	assert_int_equal(alpha_device_read_samples(d->m, d->handle, (uint64_t)(uintptr_t)before,
	                                           sizeof before, &alpha_device_own_memory),
	                 sizeof before);
	alpha_device_raise_interrupt(d->m, 0, 0, w);
	alpha_device_read_samples(d->m, d->handle, (uint64_t)(uintptr_t)after, sizeof after,
	                          &alpha_device_own_memory);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (after[i] != before[i]) {
			assert_true(found == BUCKETS && after[i] == before[i] + 1);
			found = i;
		}
	return found;
}

static void buckets_of_samples(void **state)
{
	struct model_device d = make_running_device(ALPHA_DEVICE_EV6);
	addr_range_t r = { 0x20001000, 0x20001000 + BUCKETS * 8, 2, 0 };
	struct alpha_device_work w = { .pid = ROOT, .is_user = true };

	(void)state;
	print_call(&d, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(send_request(&d, PCNTSETURANGE, &r), 0);
	for (w.pc = r.start - 8; w.pc < r.end + 8; w.pc += 4) {
		bool in = w.pc >= r.start && w.pc < r.end;

		w.is_user = true;
		assert_int_equal(bucket_of(&d, &w), in ? (w.pc - r.start) / 8 : BUCKETS);
		w.is_user = false; /* in the kernel the same addresses are others */
		assert_int_equal(bucket_of(&d, &w), BUCKETS);
	}
	alpha_device_free(d.m);
}

/* A sample inside a utility routine is charged to the caller. The routine includes its start
 * address, but not its end address. */
static void callers_of_routines(void **state)
{
	struct model_device d = make_running_device(ALPHA_DEVICE_EV6);
	uint64_t text = d.m->options.ktext_start;
	addr_range_t r = { text, text + BUCKETS * 8, 2, 0 };
	struct addr_range routine = { text + 0x100, text + 0x110 },
			  second = { text + 0x200, text + 0x204 };
	struct alpha_device_work w = { .return_address = text + 8 };

	(void)state;
	print_call(&d, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(send_request(&d, PCNTSETKRANGE, &r), 0);
	w.pc = routine.start;
	assert_int_equal(bucket_of(&d, &w), BUCKETS);
	assert_int_equal(send_request(&d, PCNTCALLER, NULL), 0);
	assert_int_equal(send_request(&d, PCNTSETKADDR, &routine), 0);
	assert_int_equal(send_request(&d, PCNTSETKADDR, &second), 0);
	for (w.pc = routine.start - 4; w.pc <= routine.end; w.pc += 4)
		assert_int_equal(bucket_of(&d, &w),
		                 w.pc >= routine.start && w.pc < routine.end ? 1 : BUCKETS);
	w.pc = second.start;
	assert_int_equal(bucket_of(&d, &w), 1);
	w.pc = text + 16; /* outside of them: itself */
	assert_int_equal(bucket_of(&d, &w), 2);
	alpha_device_free(d.m);
}

/* Each processor has a block of its own under EACH, and a time of its own. */
static void each_processor_has_its_own_block(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct alpha_device_work w = { .pid = ROOT, .is_user = true, .pc = 0x2000, .cycles = 100 };
	addr_range_t r = { 0x2000, 0x2004, 1, 0 };
	uint32_t buckets[3];
	struct model_device d;

	(void)state;
	o.n_cpus = 3;
	d = open_device(&o, PCNTOPENEACH);
	start_counters(&d);
	print_call(&d, PCNTSETITEMS, PFM_PROFILING | PFM_COUNTERS);
	send_request(&d, PCNTSETURANGE, &r);
	assert_int_equal(alpha_device_do_work(d.m, 2, &w), 0);
	assert_int_equal(read_kernel_log(&d, 2).cycles, 0); /* the time of the last interrupt */
	alpha_device_raise_interrupt(d.m, 2, 0, &w);
	alpha_device_raise_interrupt(d.m, 0, 0, &w);
	alpha_device_read_samples(d.m, d.handle, (uint64_t)(uintptr_t)buckets, sizeof buckets,
	                          &alpha_device_own_memory);
	assert_true(buckets[0] == 1 && buckets[1] == 0 && buckets[2] == 1);
	assert_true(read_kernel_log(&d, 0).cycles == 0 && read_kernel_log(&d, 2).cycles == 100);
	alpha_device_free(d.m);
}

/* A counter that does not run has no interrupt, and no muted one leaves anything. */
static void refuses_unwanted_interrupts(void **state)
{
	struct model_device d = make_running_device(ALPHA_DEVICE_EV6);
	struct alpha_device_work w = { .pid = ROOT, .events = { 5, 5 } };

	(void)state;
	assert_int_equal(print_call(&d, PCNT6DISABLE, PF6_CTRS(1, PMCTRS_ALL_CPUS, 0, 0)), 0);
	alpha_device_do_work(d.m, 0, &w);
	assert_true(read_kernel_log(&d, 0).chip_values[0] == 0 &&
	            read_kernel_log(&d, 0).chip_values[1] == 5);
	assert_int_equal(alpha_device_raise_interrupt(d.m, 0, 0, &w), 0);
	assert_int_equal(alpha_device_raise_interrupt(d.m, 0, 1, &w), 0);
	assert_true(read_kernel_log(&d, 0).n_discarded == 1 &&
	            read_kernel_log(&d, 0).interrupt_counts[0] == 0 &&
	            read_kernel_log(&d, 0).interrupt_counts[1] == 1);
	assert_int_equal(alpha_device_raise_interrupt(d.m, 0, 2, &w), -EINVAL);
	assert_int_equal(alpha_device_raise_interrupt(d.m, 1, 0, &w), -EINVAL);
	alpha_device_free(d.m);
	d = make_running_device(ALPHA_DEVICE_EV4);
	for (unsigned muted = 0; muted < 2; muted++) {
		print_call(&d, PCNTSETMUX, UINT64_C(1) << (ICCSR_DISABLE_SHIFT + muted));
		alpha_device_raise_interrupt(d.m, 0, 0, &w);
		alpha_device_raise_interrupt(d.m, 0, 1, &w);
		assert_true(read_kernel_log(&d, 0).n_discarded == 1 + muted &&
		            read_kernel_log(&d, 0).interrupt_counts[0] == muted &&
		            read_kernel_log(&d, 0).interrupt_counts[1] == 1);
	}
	alpha_device_free(d.m);
}

/* Events that @counter sees in 1024 microseconds of a processor of 1 MHz, with @word in the request
 * for selects. */
static uint64_t count_share(enum alpha_device_family family, unsigned counter, uint64_t word)
{
	struct alpha_device_options o = options_of(family);
	struct model_device d;
	struct alpha_device_view v;
	uint64_t n;

	o.mhz = 1;
	d = open_device(&o, PCNTOPENALL);
	assert_int_equal(print_call(&d,
	                            family == ALPHA_DEVICE_EV4 ? PCNTSETMUX
	                            : alpha_device_is_ev5(d.m) ? PCNT5MUX
	                                                       : PCNT6MUX,
	                            word),
	                 0);
	start_counters(&d);
	alpha_device_run(d.m, 1024 * 1000, ROOT, 0, 0);
	v = read_kernel_log(&d, 0);
	n = v.chip_values[counter] +
	    v.interrupt_counts[counter] *
	            alpha_device_get_rate(d.m, &d.m->sessions[d.handle], counter);
	alpha_device_free(d.m);
	return n;
}

static void selects_that_count_cycles(void **state)
{
	static const struct {
		enum alpha_device_family family;
		unsigned counter;
		uint64_t cycles, other;
	} selects[] = {
		{ ALPHA_DEVICE_EV4, 0, PF_CYCLES << ICCSR_MUX0_SHIFT,
		  PF_PALMODE << ICCSR_MUX0_SHIFT },
		{ ALPHA_DEVICE_EV5, 0, PF5_MUX0_CYCLES, PF5_MUX0_ISSUES },
		{ ALPHA_DEVICE_PCA56, 2, PF5_MUX2_C_CYCLES, PF5_MUX2_C_MEM_BARRIER },
		{ ALPHA_DEVICE_EV6, 0, PF6_MUX0_CYCLES, PF6_MUX0_RET_INSTRUCTIONS },
		{ ALPHA_DEVICE_EV6, 1, PF6_MUX1_CYCLES, 1 },
		{ ALPHA_DEVICE_EV67, 0, 1 << 2, 0 << 2 },
		{ ALPHA_DEVICE_EV67, 0, 3 << 2, 2 << 2 },
		{ ALPHA_DEVICE_EV67, 1, 0 << 2, 1 << 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(selects); i++) {
		uint64_t n = count_share(selects[i].family, selects[i].counter, selects[i].other);

		assert_int_equal(
			count_share(selects[i].family, selects[i].counter, selects[i].cycles),
			1024);
		assert_true(n > 0 && n < 1024);
		assert_int_equal(
			count_share(selects[i].family, selects[i].counter, selects[i].other), n);
	}
}

static uint64_t count_ev5(unsigned counter, uint64_t sel)
{
	return count_share(ALPHA_DEVICE_EV5, counter,
	                   counter == 0   ? sel << 31
	                   : counter == 1 ? PF5_SEL1(sel)
	                                  : PF5_SEL2(sel));
}

/* Counts agree as those of the hardware do: pfm(7), "(I - D) x 2" for EV4; for the others by the
 * meaning of the events. */
static void counts_of_events_agree(void **state)
{
	uint64_t issues = count_share(ALPHA_DEVICE_EV4, 0, PF_ISSUES << ICCSR_MUX0_SHIFT),
		 dual = count_share(ALPHA_DEVICE_EV4, 1, UINT64_C(2) << ICCSR_MUX1_SHIFT),
		 nonissues = count_share(ALPHA_DEVICE_EV4, 0, PF_NONISSUES << ICCSR_MUX0_SHIFT),
		 single = count_ev5(1, 4), misses, accesses;

	(void)state;
	assert_true(dual <= issues && dual + (issues - dual) * 2 <= 1024);
	assert_int_equal(issues + nonissues, 1024);
	assert_int_equal(count_ev5(0, 1),
	                 single + 2 * count_ev5(1, 5) + 3 * count_ev5(1, 6) + 4 * count_ev5(1, 7));
	assert_true(single + count_ev5(1, 5) + count_ev5(1, 6) + count_ev5(1, 7) + count_ev5(1, 0) +
	                    count_ev5(1, 2) <=
	            1024);
	assert_true(count_ev5(1, 8) + count_ev5(1, 9) + count_ev5(1, 10) + count_ev5(1, 11) +
	                    count_ev5(1, 12) <=
	            count_ev5(0, 1));
	misses = count_share(ALPHA_DEVICE_EV5, 2, PF5_SEL2(15) | PF5_CBOX2(0));
	accesses = count_share(ALPHA_DEVICE_EV5, 1, PF5_SEL1(15) | PF5_CBOX1(0));
	assert_true(misses && misses < accesses);
	for (uint64_t sel = 1; sel < 16; sel++)
		assert_true(count_share(ALPHA_DEVICE_EV6, 1, sel) <
		            count_share(ALPHA_DEVICE_EV6, 0, PF6_MUX0_RET_INSTRUCTIONS));
	assert_int_equal(count_share(ALPHA_DEVICE_EV67, 0, 0 << 2),
	                 count_share(ALPHA_DEVICE_EV67, 0, 2 << 2));
}

/* Nothing is lost between steps: a thousand of them come to what one of their length does. */
static void steps_add_up(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV5);
	struct alpha_device_view v[2];

	(void)state;
	o.mhz = 333;
	for (unsigned i = 0; i < 2; i++) {
		struct model_device d = open_device(&o, PCNTOPENALL);

		print_call(&d, PCNT5MUX, PF5_MUX0_ISSUES | PF5_SEL1(3) | PF5_SEL2(5));
		start_counters(&d);
		for (unsigned k = 0; k < (i ? 1 : 1000); k++)
			alpha_device_run(d.m, i ? 7000 * 1000 : 7000, ROOT, 0, 0);
		v[i] = read_kernel_log(&d, 0);
		alpha_device_free(d.m);
	}
	assert_memory_equal(v[0].chip_values, v[1].chip_values, sizeof v[0].chip_values);
	assert_memory_equal(v[0].interrupt_counts, v[1].interrupt_counts,
	                    sizeof v[0].interrupt_counts);
}

/* Time passes on all processors: one is in user mode (CPU 4 wraps to 1), the others are idle. */
static void all_processors_run(void **state)
{
	struct alpha_device_options o = options_of(ALPHA_DEVICE_EV6);
	struct pfipls levels[3];
	struct model_device d;

	(void)state;
	o.n_cpus = 3;
	d = open_device(&o, PCNTOPENEACH);
	start_counters(&d);
	print_call(&d, PCNTSETITEMS, PFM_IPL);
	alpha_device_run(d.m, 1500, ROOT, 4, 0); /* 750 cycles: a second counts to 2^29 */
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(read_kernel_log(&d, i).chip_values[0], 750);
	alpha_device_run(d.m, 1000000000, ROOT, 4, 0);
	assert_int_equal(read_results(&d, PCNTGETIPLHIS, levels), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true((levels[i].ipl[PFM_IPL_USER] > 0) == (i == 1));
		assert_true((levels[i].ipl[PFM_IPL_IDLE] > 0) == (i != 1));
	}
	alpha_device_free(d.m);
}

static void device_model_can_be_inspected(void **state)
{
	struct alpha_device_work w = { .pid = ROOT, .events = { 0x11, 0x22, 0x33 } };
	struct model_device d = make_running_device(ALPHA_DEVICE_PCA56);
	struct alpha_device_view v;

	(void)state;
	print_call(&d, PCNT5MUX, PF5_MUX0_ISSUES | PF5_CBOX1(5) | PF5_CBOX2(6));
	print_call(&d, PCNT5FREQ, PF5_C1_INT_EVERY_256);
	print_call(&d, PCNT5CTXTS, PF5_CTXT_SEL_PROC | PF5_CTXT_NO_PAL);
	alpha_device_find_process(d.m, ROOT)->is_marked = true;
	assert_int_equal(read_kernel_log(&d, 0).pmctr >> 10 & 63, 2u << 4 | 3u << 2 | 2u);
	alpha_device_do_work(d.m, 0, &w);
	assert_int_equal(print_call(&d, PCNT5DISABLE, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0)), 0);
	v = read_kernel_log(&d, 0);
	assert_true(v.holder_pid == ROOT && v.running_counters == 6 && v.cbox == (6 << 3 | 5));
	/* Counters 1 and 2 run, so theirs are the control bits that show: 3 in bits 13:12 and 2 in
	 * bits 11:10. */
	assert_int_equal(v.pmctr, PF5_CTRS(0, 0, 0x11, 0x22, 0x33) | PF5_MUX0_ISSUES | 0xff |
	                                  PF5_CTXT_NO_PAL | 3u << 12 | 2u << 10);
	assert_true(v.iccsr == 0 && v.pctr_ctl == 0 && v.i_ctl == 0 && !v.has_interrupts_on);
	alpha_device_free(d.m);
	d = make_running_device(ALPHA_DEVICE_EV67);
	print_call(&d, PCNT6MUX, 0x1c);
	print_call(&d, PCNT6DISABLE, PF6_CTRS(1, PMCTRS_ALL_CPUS, 0, 0));
	v = read_kernel_log(&d, 0);
	assert_true(v.pctr_ctl == 0x1c && v.i_ctl == UINT64_C(2) << 18 && v.pmctr == 0);
	alpha_device_close_session(d.m, d.handle);
	v = read_kernel_log(&d, 0);
	assert_true(v.holder_pid == -1 && v.running_counters == 0 && v.i_ctl == 0);
	alpha_device_free(d.m);
	d = make_running_device(ALPHA_DEVICE_EV4);
	print_call(&d, PCNTSETMUX,
	           UINT64_C(1) << ICCSR_DISABLE_SHIFT | ICCSR_PC1 | PF_CYCLES << ICCSR_MUX0_SHIFT);
	v = read_kernel_log(&d, 0);
	assert_true(v.iccsr == (ICCSR_PC1 | PF_CYCLES << ICCSR_MUX0_SHIFT) && v.has_interrupts_on &&
	            v.running_counters == 3);
	alpha_device_free(d.m);
}

UNIT(tools_work, cmocka_unit_test(rates_of_every_family), cmocka_unit_test(modes_of_ev5),
     cmocka_unit_test(processes_that_are_chosen), cmocka_unit_test(levels_of_interrupts),
     cmocka_unit_test(buckets_of_samples), cmocka_unit_test(callers_of_routines),
     cmocka_unit_test(each_processor_has_its_own_block),
     cmocka_unit_test(refuses_unwanted_interrupts), cmocka_unit_test(selects_that_count_cycles),
     cmocka_unit_test(counts_of_events_agree), cmocka_unit_test(steps_add_up),
     cmocka_unit_test(all_processors_run), cmocka_unit_test(device_model_can_be_inspected));
