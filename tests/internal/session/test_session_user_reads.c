/* SPDX-License-Identifier: MIT */
/* Counters that are read from user space, on a scripted kernel. */
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include "fake_session.h"
#include "shared.h"

static void user_space_reads_fall_back(void **state)
{
	pfm_count_t count = PFM_INIT(count);

	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_USER_READ;
	must_open(TEXTS("cycles"));
	assert_int_equal(fake.n_maps, 1);
	assert_int_equal(pfm_start_session(session), 0);
	/* The page says that user space may not read: the system call is used. */
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 2000);
	assert_int_equal(pfm_read_count(session, 1, &count), PFMLIB_ERR_INVAL);
	end_session();
	fake.fail = FAKE_MMAP;
	fake.fail_at = 1;
	fake.fail_on = true;
	fake.fail_errno = EPERM;
	must_open(TEXTS("cycles"));
	assert_int_equal(fake.n_maps, 0);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

#ifdef __x86_64__

/* The result of RDPMC. The instruction traps here and a signal handler emulates it: the machine may
 * lack the counter, and must not let this program read it. */
static struct {
	uint32_t index;
	uint64_t value;
	unsigned n;
} rdpmc;

static void answer_rdpmc(int signal_number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)(uintptr_t)regs[REG_RIP]; /* NOLINT */

	(void)info;
	if (code[0] != 0x0f || code[1] != 0x33) {
		signal(signal_number, SIG_DFL);
		return;
	}
	rdpmc.index = (uint32_t)regs[REG_RCX];
	rdpmc.n++;
	regs[REG_RAX] = (greg_t)(uint32_t)rdpmc.value;
	regs[REG_RDX] = (greg_t)(rdpmc.value >> 32);
	regs[REG_RIP] += 2;
}

/* A page as the kernel writes it while the event is on counter @index - 1. */
static struct perf_event_mmap_page *page_of(unsigned i, uint32_t index, uint64_t offset,
                                            uint64_t raw)
{
	struct perf_event_mmap_page *page = event_text(i)->page;

	page->cap_user_rdpmc = 1;
	page->index = index;
	page->offset = (int64_t)offset;
	page->pmc_width = 48;
	page->time_enabled = page->time_running = 1000;
	rdpmc.value = raw;
	return page;
}

static void counters_are_read_from_user_space(void **state)
{
	static const int signals[] = { SIGSEGV, SIGILL };
	struct sigaction answer = { .sa_sigaction = answer_rdpmc,
		                    .sa_flags = SA_SIGINFO | SA_NODEFER },
			 old[2];
	struct perf_event_mmap_page *page;
	pfm_count_t count = PFM_INIT(count);
	uint64_t before;

	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_USER_READ;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), 0);
	for (unsigned i = 0; i < 2; i++)
		sigaction(signals[i], &answer, &old[i]);
	rdpmc.n = 0;
	fake.uses[FAKE_READ_PERF] = 0;
	page = page_of(1, 3, 5000, 77);
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	if (rdpmc.n == 0) {
		for (unsigned i = 0; i < 2; i++)
			sigaction(signals[i], &old[i], NULL);
		print_message("# SKIP this machine lets every program read counters\n");
		skip();
	}
	assert_int_equal(rdpmc.index, 2);
	assert_int_equal(count.value, 5077);
	assert_int_equal(count.quality, PFM_QUALITY_EXACT);
	/* The counter holds the lower bits of a number below zero: it was set so that it overflows
	 * in time. */
	page_of(1, 3, 5000, 0xfffffffffff0);
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 5000 - 16);
	page->pmc_width = 64;
	rdpmc.value = UINT64_MAX;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 4999);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 0);
	/* The counter is shared and the page has no clock: the times come from the kernel. */
	page->time_running = 500;
	rdpmc.n = 0;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 2000);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 1);
	assert_int_equal(rdpmc.n, 0);
	/* With a clock, a tick is a quarter of a nanosecond, and time_offset is not time of this
	 * event. */
	page = page_of(1, 1, 0, 300);
	page->cap_user_time = 1;
	page->time_mult = 1 << 8;
	page->time_shift = 10;
	before = __builtin_ia32_rdtsc();
	page->time_offset = (uint64_t)0 - before / 4;
	page->time_enabled = 3000000000000000;
	page->time_running = 1000000000000000;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	before = __builtin_ia32_rdtsc() - before;
	assert_true(count.enabled - 3000000000000000 <= before / 4 + 1);
	assert_int_equal(count.enabled - count.running, 2000000000000000);
	assert_int_equal(count.quality, PFM_QUALITY_SCALED);
	assert_true(count.value == 900 || count.value == 899);
	/* The count quality of that reading does not apply to the next one. */
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* A clock of few bits, that may have gone round since the page was written. */
	page->cap_user_time_short = 1;
	page->time_mask = 0;
	page->time_cycles = 4000;
	page->time_offset = 7;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.enabled, 3000000000000000 + 7 + 1000);
	/* The page is not used after a stop. */
	assert_int_equal(pfm_stop_session(session), 0);
	rdpmc.n = 0;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_true(rdpmc.n == 0 && count.value == 2000);
	for (unsigned i = 0; i < 2; i++)
		sigaction(signals[i], &old[i], NULL);
}

#endif

static void arm_attr_requests_user_space_reads(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/type", "8");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/cpus", "0-3");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/format/event", "config:0-15");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/format/long", "config1:0");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/format/rdpmc", "config1:1");
	fake_file(&fake, "/sys/bus/event_source/devices/software/type", "1");
	open_context("0x00000000413fd0c1");
	options.flags = PFM_SESSION_USER_READ;
	must_open(TEXTS("cycles", "armv8_pmuv3/event=8,long/", "page-faults"));
	assert_int_equal(event_text(1)->a.attr.config1, 2);
	assert_int_equal(event_text(2)->a.attr.config1, 3);
	assert_int_equal(event_text(3)->a.attr.config1, 0);
	end_session();
	/* A kernel that does not let it: counted all the same. */
	fake.decide = refuse_one;
	fake.number = 1;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(user_space_reads_fall_back),
#ifdef __x86_64__
		CASE(counters_are_read_from_user_space),
#endif
		CASE(arm_attr_requests_user_space_reads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session user reads", tests, NULL, NULL);
}
