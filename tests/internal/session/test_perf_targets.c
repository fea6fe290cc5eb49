/* SPDX-License-Identifier: MIT */
/* Which tasks and CPUs a count is opened for, and that an unknown fact makes it partial, never
 * exact. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_session.h"

static void process(int pid, const char *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fake_file(&fake, path, status);
}

static void thread(int pid, int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/x", pid, tid);
	fake_file(&fake, path, "");
}

/* Process 42 with threads 42 and 45 on a machine whose CPUs are 0-5 and 7. */
static void two_threads(void)
{
	make_machine("uncore");
	process(42, "Name:\tx\nTgid:\t42\nPid:\t42");
	thread(42, 42);
	thread(42, 45);
	options.pid = 42;
	options.flags = PFM_SESSION_INHERIT;
}

static unsigned witnesses(void)
{
	const struct perf_state *st = session->live.backend_state;
	unsigned n = 0;

	for (unsigned i = 0; i < st->n_time_references; i++)
		n += st->time_references[i].is_needed && st->time_references[i].fd >= 0;
	return n;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A process with a thousand groups: its status file in /proc is longer than a fixed buffer. */
static void a_long_description(void **state)
{
	char status[12000];
	size_t at = (size_t)snprintf(status, sizeof(status), "Name:\tx\nTgid:\t42\nGroups:\t");

	(void)state;
	two_threads();
	while (at < sizeof(status) - 20)
		at += (size_t)snprintf(status + at, sizeof(status) - at, "%u ",
		                       100000 + (unsigned)at);
	process(42, status);
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 2);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void expect_unseen(void)
{
	must_open(TEXTS("cycles", "uncore_imc/clockticks/"));
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_PERMISSION);
	expect_why(0, "the threads of process 42 cannot be read from /proc/42");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* nothing to do with tasks */
	end_session();
	options.flags |= PFM_SESSION_STRICT;
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_PERM);
	options.flags &= ~(unsigned)PFM_SESSION_STRICT;
}

static void a_process_that_cannot_be_seen(void **state)
{
	(void)state;
	two_threads();
	fake_remove(&fake, "/proc/42/status"); /* hidepid, or no /proc */
	expect_unseen();
	process(42, "Name:\tx\nTgid:\t42");
	fake_remove(&fake, "/proc/42/task/42/x");
	fake_remove(&fake, "/proc/42/task/45/x");
	expect_unseen();
}

/* Process 42 of /proc is another process if /proc is that of another namespace. */
static void numbers_of_another_namespace(void **state)
{
	(void)state;
	two_threads();
	fake_file(&fake, "/proc/self/status", "Name:\tus\nPid:\t7\n");
	expect_unseen();
	fake_remove(&fake, "/proc/self/status");
	expect_unseen();
}

static void the_folder_cannot_be_read(void **state)
{
	static const int errors[] = { EACCES, EPERM, EIO };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		two_threads();
		fake.fail = FAKE_LIST;
		fake.fail_on = true;
		fake.fail_errno = errors[i];
		assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
		fake.fail_at = fake.uses[FAKE_LIST] + 1;
		must_open(TEXTS("cycles"));
		run_session();
		expect_count(0, PFM_QUALITY_PARTIAL,
		             errors[i] == EIO ? PFM_CAUSE_OTHER : PFM_CAUSE_PERMISSION);
		assert_int_equal(counts[0].sys_errno, errors[i]);
		end_session();
		pfm_close_context(ctx);
		fake_end(&fake);
	}
	make_machine("uncore");
}

static void counts_one_thread_once(void **state)
{
	(void)state;
	two_threads();
	process(45, "Name:\tx\nTgid:\t42\nPid:\t45");
	options.pid = 45;
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 1);
	assert_int_equal(event_text(1)->pid, 45);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* The first process of a machine, or of a container, has threads like any other. */
static void the_first_process(void **state)
{
	(void)state;
	make_machine("uncore");
	process(1, "Name:\tx\nTgid:\t1\nPid:\t1");
	thread(1, 1);
	thread(1, 7);
	options.pid = 1;
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 2);
}

/* Thread 45 creates another thread after 42 was opened and before 45 is. */
static int birth(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)attr;
	(void)cpu;
	(void)group;
	if (pid == 42 && f->number > 0) {
		f->number--;
		thread(42, 100 - f->number);
	}
	return 0;
}

static void threads_born_while_it_is_opened(void **state)
{
	(void)state;
	two_threads();
	fake.decide = birth;
	fake.number = 2;
	must_open(TEXTS("cycles"));
	/* All four threads, each once: which new threads were already counted is unknown, so all
	 * events were opened again. */
	assert_int_equal(is_about(0).n_kernel_events, 4);
	assert_int_equal(fake_open_events(&fake), 4);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	/* Threads appear without end: the counts are partial and name the cause. */
	fake.number = 50;
	must_open(TEXTS("{cycles,instructions}:u", "page-faults"));
	run_session();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	expect_why(0, "creates threads faster");
	end_session();
	/* Without PFM_SESSION_INHERIT, threads that appear during the opening are ignored. */
	options.flags = 0;
	fake.number = 1;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* Thread 45 starts a program once 42 was opened: from then on it is 42 itself, and 45 is gone. */
static int program_of_a_thread(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                               int group)
{
	(void)attr;
	(void)cpu;
	(void)group;
	if (pid != 45)
		return 0;
	fake_remove(f, "/proc/42/task/45/x");
	return -ESRCH;
}

static void becomes_the_first(unsigned flags)
{
	unsigned before;

	two_threads();
	options.flags = flags;
	before = fake.n_events;
	fake.decide = program_of_a_thread;
	must_open(TEXTS("cycles"));
	assert_int_equal(fake.n_events - before, 2); /* the second is for the new process 42 */
	assert_int_equal(fake_open_events(&fake), 1);
	assert_int_equal(event_text(fake.n_events - 1)->pid, 42);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void a_thread_that_becomes_the_first(void **state)
{
	(void)state;
	becomes_the_first(PFM_SESSION_INHERIT);
}

static void without_children_it_does_so_too(void **state)
{
	(void)state;
	becomes_the_first(0);
}

/* Decisions of the first round hold in the next rounds: omitted privilege levels, split groups,
 * causes of events that cannot be opened. */
static int birth_and_refusals(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                              int group)
{
	birth(f, attr, pid, cpu, group);
	if (attr->type != PERF_TYPE_SOFTWARE && !attr->exclude_kernel)
		return -EACCES;
	return group >= 0 ? -EINVAL : attr->type == PERF_TYPE_SOFTWARE ? -ENOENT : 0;
}

static void a_second_round_begins_afresh(void **state)
{
	(void)state;
	two_threads();
	fake.decide = birth_and_refusals;
	fake.number = 1;
	must_open(TEXTS("{cycles,instructions}:W", "page-faults", "ev6::cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(is_about(0).name, "cycles:u");
	assert_string_equal(is_about(1).name, "instructions:u");
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_KERNEL);
	expect_count(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	assert_int_equal(fake_open_events(&fake), 6);
}

/* Time on cores that do not have the PMU is watched anew in the second round. */
static void a_second_round_on_two_types_of_cores(void **state)
{
	(void)state;
	make_machine("hybrid");
	process(42, "Name:\tx\nTgid:\t42\nPid:\t42");
	thread(42, 42);
	thread(42, 45);
	options.pid = 42;
	options.flags = PFM_SESSION_INHERIT;
	options.cpus = "0-7";
	fake.decide = birth;
	fake.number = 1;
	must_open(TEXTS("cpu_core/cache-misses/"));
	assert_int_equal(is_about(0).n_kernel_events, 12); /* three threads on four CPUs */
	run_session();
}

/* Linux refuses to read a group of which some child has not all the members: while a child is born
 * or ends, and for good where it was forked between the opening of two members. */
static void a_group_is_incomplete_for_a_moment(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_INHERIT;
	must_open(TEXTS("{cycles,instructions}"));
	fake.fail = FAKE_READ_PERF;
	fake.fail_errno = ECHILD;
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 1;
	run_session();
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(fake.uses[FAKE_READ_PERF], fake.fail_at + 1);
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 1;
	fake.fail_on = true;
	assert_int_equal(pfm_read_session(session, counts, pfm_session_size(session)),
	                 PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), ECHILD);
	fake.fail_on = false;
}

static void a_child_with_half_a_group(void **state)
{
	(void)state;
	two_threads();
	fake.fail = FAKE_READ_PERF;
	fake.fail_errno = ECHILD;
	fake.fail_at = 1;
	must_open(TEXTS("{cycles,instructions}", "page-faults"));
	assert_int_equal(fake.uses[FAKE_READ_PERF],
	                 3); /* the groups of two threads, one of them again */
	assert_int_equal(fake_open_events(&fake), 6);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 1;
	fake.fail_on = true;
	must_open(TEXTS("{cycles,instructions}", "page-faults"));
	fake.fail_at = 0;
	fake.fail_on = false;
	run_session();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	expect_why(1, "creates threads faster");
	assert_false(event_text(fake.n_events - 6)->a.attr.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(fake_open_events(&fake), 6);
	end_session();
	/* A program that waits for its start has no children yet. */
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 1;
	options.flags |= PFM_SESSION_ENABLE_ON_EXEC;
	must_open(TEXTS("{cycles,instructions}"));
	assert_int_equal(fake.uses[FAKE_READ_PERF], fake.fail_at - 1);
	fake.fail_at = 0;
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void each_cpu_once(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "2,0,0-1,1,0-2";
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 3);
	end_session();
	options.flags |= PFM_SESSION_PER_CPU;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_session_size(session), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(atoi(is_about(i).cpus), i);
	end_session();
	options.flags = 0;
	options.pid = 0;
	options.cpus = "3,3";
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 1);
}

/* "0,2,4 ..." below @n, beginning with @first. */
static char *every_second(unsigned first, unsigned n)
{
	char *list = malloc(n * 4), *p = list;

	assert_non_null(list);
	for (unsigned cpu = first; cpu < n; cpu += 2)
		p += sprintf(p, cpu > first ? ",%u" : "%u", cpu);
	return list;
}

static void thousands_of_cpus(void **state)
{
	char *even = every_second(0, 8192), *odd = every_second(1, 8192);

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/devices/system/cpu/online", even);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 4096);
	assert_int_equal(event_text(4096)->cpu, 8190);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	options.cpus = odd;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "4096 of the requested CPUs are not on line");
	end_session();
	options.cpus = even;
	options.flags |= PFM_SESSION_PER_CPU;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_session_size(session), 4096);
	assert_string_equal(is_about(4095).cpus, "8190");
	free(even);
	free(odd);
}

/* A PMU that counts on CPUs whose list is longer than a page of sysfs may be. */
static void a_unit_with_a_long_list(void **state)
{
	char *even = every_second(0, 8192);

	(void)state;
	make_machine("uncore");
	pfm_close_context(ctx);
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-8191");
	fake_file(&fake, "/sys/bus/event_source/devices/uncore_new/type", "77");
	fake_file(&fake, "/sys/bus/event_source/devices/uncore_new/cpumask", even);
	fake_file(&fake, "/sys/bus/event_source/devices/uncore_new/format/event", "config:0-7");
	open_context("GenuineIntel-6-97-2");
	must_open(TEXTS("uncore_new/event=1/"));
	assert_int_equal(is_about(0).n_kernel_events, 4096);
	free(even);
}

static void cpus_are_unknown(void **state)
{
	static const unsigned flags[] = { PFM_SESSION_SYSTEM_WIDE,
		                          PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU };

	(void)state;
	make_machine("uncore");
	fake_remove(&fake, "/sys/devices/system/cpu/online");
	options.flags = flags[0];
	must_open(TEXTS("cycles", "uncore_imc/clockticks/"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "the list of CPUs on line cannot be read");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* the unit says where it is counted */
	end_session();
	options.flags = flags[1];
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_NOTFOUND);
	options.cpus = "0-1"; /* then the kernel will say */
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_session_size(session), 2);
	end_session();
	options.flags = 0;
	options.cpus = NULL;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* ---- tasks on CPUs --------------------------------------------------------------------------- */

/* One event for each task and CPU, and one that never waits. */
static void process_on_some_cpus(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "4-6"; /* 6 is not on line */
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 4);
	assert_int_equal(witnesses(), 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(event_text(1 + i)->a.attr.config, PERF_COUNT_SW_DUMMY);
		assert_true(event_text(1 + i)->a.attr.inherit);
		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(event_text(1 + i + 4 * k)->pid, i < 2 ? 42 : 45);
			assert_int_equal(event_text(1 + i + 4 * k)->cpu, 4 + i % 2);
		}
	}
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	expect_why(0, "1 of the requested CPUs is not on line");
	assert_int_equal(counts[0].value, 6000 + 7000 + 8000 + 9000);
}

/* The task ran on CPU 1 for 30 % of the time, and on no other requested CPU. */
static void only_on_cpu_1(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->is_open = 1000;
	e->running = e->cpu == 1 ? 300 : 0;
	e->value = e->running * 10;
}

static void is_exact_on_requested_cpus(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "0-3";
	fake.tick = only_on_cpu_1;
	must_open(TEXTS("{cycles,instructions}", "page-faults"));
	run_session();
	for (unsigned i = 0; i < 3; i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_int_equal(counts[i].value, 6000);
		assert_int_equal(counts[i].enabled, 600);
		assert_int_equal(counts[i].running, 600);
	}
}

static void is_missing_on_requested_cpus(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "2-3";
	fake.tick = only_on_cpu_1;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "it never ran on the requested CPUs (2-3)");
}

/* The time reference event shows that the task ran; the event had a counter for half of that
 * time. */
static void shared_on_cpu_1(struct fake *f, struct fake_event *e)
{
	only_on_cpu_1(f, e);
	if (e->a.attr.type == PERF_TYPE_HARDWARE && f->number) {
		e->running = e->cpu == 1 && f->number == 1 ? 150 : 0;
		e->value = e->running * 10;
	}
}

static void distinguishes_waiting_from_running_elsewhere(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "0-3";
	fake.tick = shared_on_cpu_1;
	fake.number = 1;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 6000);
	assert_int_equal(counts[0].raw, 3000);
	end_session();
	fake.number = 2;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
	end_session();
	/* From zero on. */
	fake.number = 1;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), 0);
	assert_int_equal(pfm_reset_session(session), 0);
	read_all();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
}

static void witnesses_are_first_and_last(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "0";
	must_open(TEXTS("cycles"));
	assert_int_equal(witnesses(), 2);
	assert_int_equal(pfm_start_session(session), 0);
	assert_true(event_text(1)->enabled && event_text(2)->enabled && event_text(3)->enabled);
	fake.fail = FAKE_IOCTL;
	fake.fail_at = fake.uses[FAKE_IOCTL] + 3;
	fake.fail_errno = EIO;
	assert_int_equal(pfm_stop_session(session), PFMLIB_ERR_SYS);
	assert_true(!event_text(3)->enabled && !event_text(4)->enabled && event_text(1)->enabled);
	assert_int_equal(pfm_stop_session(session), 0);
	fake.fail = FAKE_READ_PERF;
	for (unsigned i = 1; i <= 4; i++) {
		fake.fail_at = fake.uses[FAKE_READ_PERF] + i;
		assert_int_equal(pfm_read_session(session, counts, 0), PFMLIB_ERR_SYS);
		fake.fail_at = fake.uses[FAKE_READ_PERF] + i;
		assert_int_equal(pfm_reset_session(session), PFMLIB_ERR_SYS);
	}
}

static int no_witness(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY ? -f->number
	                                                                               : 0;
}

static void without_a_witness_there_is_no_count(void **state)
{
	(void)state;
	two_threads();
	options.cpus = "0-1";
	fake.decide = no_witness;
	fake.number = EMFILE;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_FILES);
	end_session();
	fake.number = ESRCH;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_PROCESS);
}

/* 40 % of the time on a fast core, 60 % on a small one. */
static void on_both_types(struct fake *f, struct fake_event *e)
{
	unsigned type = (unsigned)(e->a.attr.config >> 32);

	(void)f;
	e->is_open = 1000;
	e->running = e->cpu == 2 ? 400 : e->cpu == 5 ? 600 : 0;
	if (e->a.attr.type == 4 || type == 4)
		e->running = e->cpu == 2 ? 400 : 0;
	e->value = e->running;
}

static void cores_of_two_types(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = on_both_types;
	options.cpus = "0-7";
	must_open(TEXTS("cpu_core/cache-misses/", "cpu_core/event=0xc5/", "cycles"));
	run_session();
	/* The caller requests all CPUs, but the named PMU serves only four of them. */
	for (unsigned i = 0; i < 2; i++) {
		expect_count(i, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
		expect_why(i, "counted 40 % of the time");
	}
	for (unsigned i = 2; i < 4; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[2].value + counts[3].value, 1000);
	end_session();
	options.cpus = "0-3";
	must_open(TEXTS("cpu_core/cache-misses/"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 400);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_long_description),
		CASE(a_process_that_cannot_be_seen),
		CASE(numbers_of_another_namespace),
		CASE(the_folder_cannot_be_read),
		CASE(counts_one_thread_once),
		CASE(the_first_process),
		CASE(threads_born_while_it_is_opened),
		CASE(a_thread_that_becomes_the_first),
		CASE(without_children_it_does_so_too),
		CASE(a_second_round_begins_afresh),
		CASE(a_second_round_on_two_types_of_cores),
		CASE(a_group_is_incomplete_for_a_moment),
		CASE(a_child_with_half_a_group),
		CASE(each_cpu_once),
		CASE(thousands_of_cpus),
		CASE(a_unit_with_a_long_list),
		CASE(cpus_are_unknown),
		CASE(process_on_some_cpus),
		CASE(is_exact_on_requested_cpus),
		CASE(is_missing_on_requested_cpus),
		CASE(distinguishes_waiting_from_running_elsewhere),
		CASE(witnesses_are_first_and_last),
		CASE(without_a_witness_there_is_no_count),
		CASE(cores_of_two_types),
	};

	return cmocka_run_group_tests_name("perf_where", tests, NULL, NULL);
}
