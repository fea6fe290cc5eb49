/* SPDX-License-Identifier: MIT */
/* Sessions on a scripted kernel: what is opened where, groups, types of cores and units off the
 * core. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "fake_session.h"
#include "shared.h"

/* The kernel's own events that happen nowhere but in it, by their numbers. */
static void events_of_the_kernel_alone(void **state)
{
	perfmon_attr_t attr = { .type_known = 1, .type = PERF_TYPE_SOFTWARE };

	(void)state;
	for (attr.config = 0; attr.config < 80; attr.config++)
		assert_int_equal(pfmi_perf_is_kernel_only_event(&attr),
		                 attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		                         attr.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		                         attr.config == PERF_COUNT_SW_BPF_OUTPUT ||
		                         attr.config == PERF_COUNT_SW_CGROUP_SWITCHES);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.type = PERF_TYPE_HARDWARE;
	assert_false(pfmi_perf_is_kernel_only_event(&attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.type_known = 0;
	assert_false(pfmi_perf_is_kernel_only_event(&attr));
}

/* ---- where and how events are opened --------------------------------------------------------- */

static void counts_the_own_thread_with_one_call(void **state)
{
	(void)state;
	make_machine("uncore");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	memset(fake.uses, 0, sizeof(fake.uses));
	must_open(TEXTS("cycles"));
	for (unsigned i = 0; i < N_FAKE_CALLS; i++)
		assert_int_equal(fake.uses[i],
		                 i == FAKE_PERF); /* one call, and nothing else is asked */
	assert_int_equal(event_text(1)->a.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(event_text(1)->a.attr.config, 0);
	assert_int_equal(event_text(1)->pid, 0);
	assert_int_equal(event_text(1)->cpu, -1);
	assert_int_equal(event_text(1)->group, -1);
	assert_int_equal(event_text(1)->flags, PERF_FLAG_FD_CLOEXEC);
	assert_int_equal(event_text(1)->a.attr.exclude_kernel | event_text(1)->a.attr.exclude_user |
	                         event_text(1)->a.attr.exclude_hv,
	                 0);
	assert_false(event_text(1)->enabled);
	assert_int_equal(pfm_start_session(session), 0);
	assert_true(event_text(1)->enabled);
	assert_int_equal(pfm_stop_session(session), 0);
	assert_false(event_text(1)->enabled);
	read_all();
	assert_int_equal(counts[0].value, 2000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(is_about(0).name, "cycles");
}

static void named_levels_win_over_those_of_the_session(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("cycles:u", "cycles:k", "cycles:uk", "cycles", "cpu/instructions/u"));
	assert_true(event_text(1)->a.attr.exclude_kernel && event_text(1)->a.attr.exclude_hv &&
	            !event_text(1)->a.attr.exclude_user);
	assert_true(!event_text(2)->a.attr.exclude_kernel && event_text(2)->a.attr.exclude_hv &&
	            event_text(2)->a.attr.exclude_user);
	assert_true(!event_text(3)->a.attr.exclude_kernel && event_text(3)->a.attr.exclude_hv &&
	            !event_text(3)->a.attr.exclude_user);
	assert_true(event_text(5)->a.attr.exclude_kernel && event_text(5)->a.attr.exclude_hv);
	end_session();
	options.plm = PFM_PLM3;
	must_open(TEXTS("cycles", "cycles:k"));
	assert_true(event_text(6)->a.attr.exclude_kernel && event_text(6)->a.attr.exclude_hv &&
	            !event_text(6)->a.attr.exclude_user);
	assert_true(!event_text(7)->a.attr.exclude_kernel && event_text(7)->a.attr.exclude_user);
}

/* Events that the kernel raises itself never occur at user level. They are refused there,
 * because a zero would look like a count. */
static void levels_at_which_nothing_happens(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("context-switches:u", "cs:k", "cpu-migrations:u", "page-faults:u", "cs"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(0, "context-switches:u occurs only in the kernel");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_count(3, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(4, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	options.plm = PFM_PLM3;
	options.flags = PFM_SESSION_STRICT;
	assert_int_equal(open_texts(TEXTS("cs")), PFMLIB_ERR_ATTR_VAL);
	options.plm = PFM_PLM0;
	must_open(TEXTS("cs"));
}

/* Linux' clocks count all of the time, whatever they are asked to leave out. */
static void clocks_know_no_levels(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("task-clock:u", "cpu-clock:k", "task-clock:uk", "cpu-clock",
	                "{page-faults,task-clock}:u", "task-clock:h"));
	run_session();
	for (unsigned i = 0; i < 7; i++)
		if (i == 2 || i == 3 || i == 4)
			expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		else
			expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(0, "counts the time at every level");
	end_session();
	options.plm = PFM_PLM3;
	options.flags = PFM_SESSION_STRICT;
	assert_int_equal(open_texts(TEXTS("task-clock")), PFMLIB_ERR_ATTR_VAL);
	options.plm = 0;
	must_open(TEXTS("task-clock"));
}

static void negative_numbers_are_refused(void **state)
{
	(void)state;
	make_machine("uncore");
	options.pid = -1;
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "expected options.pid of at least 0");
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

/* perf's G counts guests alone, H the host alone, both letters both, I leaves idle time out. */
static void guests_host_and_idle_time(void **state)
{
	static const struct {
		const char *text;
		unsigned excluded; /* 1 idle, 2 host, 4 guest */
	} lines[] = {
		{ "cycles", 0 },     { "cycles:I", 1 },           { "cycles:G", 2 },
		{ "cycles:H", 4 },   { "cycles:GH", 0 },          { "cycles:H:G", 0 },
		{ "cycles:uGI", 3 }, { "cycles:DG", 2 },          { "{cycles}:HI", 5 },
		{ "{cycles}:H", 4 }, { "cpu/instructions/H", 4 }, { "cpu/instructions/", 0 },
		{ "r412e:I", 1 },
	};
	const unsigned n = sizeof(lines) / sizeof(lines[0]);
	const char *texts[sizeof(lines) / sizeof(lines[0])];

	(void)state;
	make_machine("uncore");
	for (unsigned i = 0; i < n; i++)
		texts[i] = lines[i].text;
	must_open(texts, n);
	for (unsigned i = 0; i < n; i++) {
		const struct perf_attr *a = &event_text(i + 1)->a.attr;
		unsigned excluded = (a->exclude_idle ? 1u : 0) | (a->exclude_host ? 2u : 0) |
		                    (a->exclude_guest ? 4u : 0);

		if (excluded != lines[i].excluded)
			fail_msg("%s: idle %d, host %d, guest %d left out", lines[i].text,
			         a->exclude_idle, a->exclude_host, a->exclude_guest);
		assert_false(a->exclude_hv && !strchr(lines[i].text, 'u'));
	}
}

static void group_is_opened_and_read_as_one(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("{cycles,instructions,branch-misses}:u", "page-faults"));
	assert_int_equal(fake.n_events, 5);
	assert_int_equal(event_text(1)->group, -1);
	assert_int_equal(event_text(2)->group, fake_fd(1));
	assert_int_equal(event_text(3)->group, fake_fd(1));
	assert_int_equal(event_text(4)->group, -1);
	assert_true(event_text(1)->a.attr.read_format & PERF_FORMAT_GROUP);
	assert_false(event_text(4)->a.attr.read_format & PERF_FORMAT_GROUP);
	assert_true(event_text(3)->a.attr.exclude_kernel);
	assert_false(event_text(4)->a.attr.exclude_kernel);
	/* Only the leader is switched; the others follow. */
	assert_true(event_text(1)->a.attr.disabled && !event_text(2)->a.attr.disabled);
	fake.uses[FAKE_READ_PERF] = fake.uses[FAKE_IOCTL] = 0;
	run_session();
	assert_int_equal(fake.uses[FAKE_READ_PERF], 2);
	assert_int_equal(fake.uses[FAKE_IOCTL], 4);
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(counts[2].value, 4000);
	assert_int_equal(counts[3].value, 5000);
	assert_int_equal(is_about(0).group, is_about(2).group);
	assert_int_not_equal(is_about(0).group, is_about(3).group);
	assert_int_equal(is_about(3).request, 1);
	assert_string_equal(is_about(1).name, "instructions:u");
}

/* The kernel refuses members that want to be pinned: the whole group is, by its leader. */
static void a_pinned_group_is_pinned_by_its_leader(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("{cycles,instructions}:D", "{branches,cache-misses:D}"));
	assert_true(event_text(1)->a.attr.pinned);
	assert_false(event_text(2)->a.attr.pinned);
	assert_false(event_text(3)->a.attr.pinned);
	assert_false(event_text(4)->a.attr.pinned);
}

static int room_for_two(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	int members = 1;

	(void)attr;
	(void)pid;
	(void)cpu;
	for (unsigned i = 0; i < f->n_events; i++)
		members += f->events[i].used && f->events[i].group == group;
	return group >= 0 && members >= 2 ? -EINVAL : 0;
}

static void member_that_does_not_fit(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.decide = room_for_two;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run_session();
	/* perfmon(7): the events of a group are counted at the same times or not at all. */
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	expect_why(0, "no counter is left for its member branch-misses");
	assert_int_equal(fake_open_events(&fake), 0);
	assert_int_equal(counts[2].sys_errno, EINVAL);
	assert_int_equal(counts[2].value, 0);
	expect_why(2, ":W");
}

static void weak_group_is_broken_up(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.decide = room_for_two;
	must_open(TEXTS("{cycles,instructions,branch-misses}:W"));
	assert_int_equal(fake_open_events(&fake), 3);
	run_session();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_not_equal(is_about(0).group, is_about(1).group);
	assert_int_not_equal(is_about(1).group, is_about(2).group);
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used ||
		            (fake.events[i].group == -1 && fake.events[i].a.attr.disabled));
}

static void group_goes_on_without_its_first(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.decide = no_cycles;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(fake_open_events(&fake), 2);
}

static void counts_on_each_cpu_that_is_on_line(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("{cycles,instructions}"));
	assert_int_equal(fake_open_events(&fake), 14);
	assert_int_equal(is_about(0).n_kernel_events, 7);
	for (unsigned i = 1; i < 14; i += 2) {
		assert_int_equal(event_text(i)->pid, -1);
		assert_int_equal(event_text(i)->cpu,
		                 i == 13 ? 7 : (int)i / 2); /* CPU 6 is off line */
		assert_int_equal(event_text(i + 1)->cpu, event_text(i)->cpu);
		assert_int_equal(event_text(i + 1)->group, fake_fd(i));
	}
	run_session();
	assert_int_equal(counts[0].value, 1000 * (2 + 4 + 6 + 8 + 10 + 12 + 14));
	assert_int_equal(counts[1].value, 1000 * (3 + 5 + 7 + 9 + 11 + 13 + 15));
	assert_int_equal(counts[0].enabled, 7000000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void one_count_per_cpu(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	options.cpus = "1,4-5";
	must_open(TEXTS("{cycles,instructions}", "uncore_imc/cas_count_read/"));
	assert_int_equal(pfm_session_size(session),
	                 2 + 3 + 2); /* the memory controllers are served from 0 and 4 */
	assert_string_equal(is_about(0).cpus, "1");
	assert_string_equal(is_about(2).cpus, "4");
	assert_string_equal(is_about(4).cpus, "4");
	assert_string_equal(is_about(5).cpus, "5");
	assert_int_equal(is_about(4).n_kernel_events, 2);
	run_session();
	for (unsigned i = 0; i < 7; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void cpus_that_are_off_line(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "5-6";
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	assert_int_equal(counts[0].value, 2000);
	end_session();
	options.cpus = "6";
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	end_session();
	options.cpus = "6-";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_null(session);
}

/* CPU fake.number is unplugged. */
static int without_one_cpu(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                           int group)
{
	(void)attr;
	(void)pid;
	(void)group;
	return cpu == f->number ? -ENODEV : 0;
}

static int no_instructions_on_cpu_4(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                                    int group)
{
	(void)f;
	(void)pid;
	return attr->config == 0xc0 && cpu == 4 && group != -1 ? -EINVAL : 0;
}

static void stops_on_one_cpu(struct fake *f, struct fake_event *e)
{
	e->value += 1000;
	e->is_open += e->cpu == f->number ? 0 : 100;
	e->running = e->is_open;
	if (e->cpu == f->number)
		e->value = 0;
}

static void cpu_is_unplugged(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "0-5";
	/* Between the list of CPUs and the question. */
	fake.number = 3;
	fake.decide = without_one_cpu;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	expect_why(0, "CPU 3 has been switched off");
	end_session();
	/* While counting: what it had is kept, and the others go on. */
	fake.decide = NULL;
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 6);
	fake.tick = stops_on_one_cpu;
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.tick = NULL;
	end_session();
	/* Afterwards: the list is read again for every session; and the CPU may come back, or
	 * others. */
	fake.decide = without_one_cpu;
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-2,4-5");
	options.cpus = NULL;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(is_about(0).n_kernel_events, 5);
	end_session();
	fake.decide = NULL;
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-7");
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 8);
	end_session();
	/* An invalid list is not used: the CPUs of the machine are unknown then. */
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-");
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "the list of CPUs on line cannot be read");
}

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define ONLINE   "/sys/devices/system/cpu/online"

/* A session for "cycles": it opens @n kernel events that count, and reads @files. */
static void must_be_on(unsigned n, unsigned files)
{
	memset(fake.uses, 0, sizeof(fake.uses));
	must_open(TEXTS("cycles"));
	assert_int_equal(fake.uses[FAKE_OPEN], files);
	assert_int_equal(is_about(0).n_kernel_events, n);
	assert_int_equal(fake_open_events(&fake), n);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
}

/* Where no other CPUs are possible than were on line, the kernel's refusal is asked for those that
 * are not. */
static void cpus_that_are_all_there(void **state)
{
	(void)state;
	make_machine("uncore");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-3");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_be_on(4, 1);
	must_be_on(4, 2);
	must_be_on(4, 0);
	/* One that is named and serves nothing. */
	fake.number = 3;
	fake.decide = without_one_cpu;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	expect_why(0, "CPU 3 has been switched off");
	end_session();
	/* One that has gone: from now on the list is read. */
	fake_file(&fake, ONLINE, "0-2");
	must_be_on(3, 1);
	assert_int_equal(fake.uses[FAKE_PERF], 4 + 3);
	must_be_on(3, 1);
	fake.decide = NULL;
	fake_file(&fake, ONLINE, "0-3");
	must_be_on(4, 1);
	must_be_on(4, 1);
}

static void named_cpu_of_all_has_gone(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-3");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	must_be_on(4, 1);
	must_be_on(4, 2);
	fake_file(&fake, ONLINE, "0-2");
	fake.number = 3;
	fake.decide = without_one_cpu;
	options.cpus = "2-3";
	must_open(TEXTS("{cycles,instructions}"));
	run_session();
	for (unsigned i = 0; i < 2; i++) {
		expect_count(i, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
		expect_why(i, "1 of the requested CPUs is not on line");
	}
	assert_int_equal(fake_open_events(&fake), 2);
}

static void cpus_that_may_come(void **state)
{
	(void)state;
	make_machine("uncore");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-7");
	must_be_on(4, 1);
	must_be_on(4, 2);
	must_be_on(4, 1);
	fake_file(&fake, ONLINE, "0-7");
	must_be_on(8, 1);
}

/* Since the last time it was asked, @n calls of kind @call were made, and no other. */
static void must_have_made(enum fake_call call, unsigned n)
{
	for (unsigned i = 0; i < N_FAKE_CALLS; i++)
		assert_int_equal(fake.uses[i], i == call ? n : 0);
	memset(fake.uses, 0, sizeof(fake.uses));
}

/* Every step of a session for @texts makes the calls it would take by hand: one for each of @n
 * kernel events, one for each of @groups. */
static void calls_of_each_step(const char *const *texts, unsigned n_texts, unsigned n,
                               unsigned groups)
{
	memset(fake.uses, 0, sizeof(fake.uses));
	must_open(texts, n_texts);
	must_have_made(FAKE_PERF, n);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		must_have_made(FAKE_IOCTL, groups);
		read_all();
		must_have_made(FAKE_READ_PERF, groups);
		read_all();
		must_have_made(FAKE_READ_PERF, groups);
		assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		must_have_made(FAKE_IOCTL, groups);
		assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
		must_have_made(FAKE_READ_PERF, groups);
	}
	end_session();
	must_have_made(FAKE_CLOSE, n);
}

/* As bench/sessions.c has them: the first @n of 64 events. */
static const char *group_of(unsigned n)
{
	static const char events[][20] = { "page-faults",      "minor-faults",     "major-faults",
		                           "alignment-faults", "emulation-faults", "dummy" };
	static const char levels[][8] = { "", ":u", ":k", ":uk" };
	static char text[64 * 32];
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%c%s%s", i ? ',' : '{',
		                       events[i % 6], levels[i / 6 % 4]);
	snprintf(text + at, sizeof(text) - at, "}");
	return text;
}

static void no_call_more_than_by_hand(void **state)
{
	static const unsigned sizes[] = { 1, 8, 64 };

	(void)state;
	make_machine("uncore");
	fake_file(&fake, ONLINE, "0-1");
	fake_file(&fake, POSSIBLE, "0-1");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), 0);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_be_on(2, 1);
	must_be_on(2, 2);
	for (unsigned i = 0; i < 3; i++) {
		options.flags = PFM_SESSION_STRICT;
		calls_of_each_step(TEXTS(group_of(sizes[i])), sizes[i], 1);
		options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_STRICT;
		calls_of_each_step(TEXTS(group_of(sizes[i])), 2 * sizes[i], 2);
	}
	/* Alone, and on CPUs that are named. */
	calls_of_each_step(TEXTS("cycles", "instructions", "page-faults"), 6, 6);
	options.cpus = "1";
	calls_of_each_step(TEXTS("{cycles,instructions}", "page-faults"), 3, 2);
	options.flags = PFM_SESSION_STRICT;
	options.cpus = NULL;
	calls_of_each_step(TEXTS("{cycles,instructions}", "page-faults"), 3, 2);
}

/* A member that one CPU has no room for is counted nowhere, and neither is its group. */
static void member_that_one_cpu_refuses(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	fake.decide = no_instructions_on_cpu_4;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run_session();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	assert_int_equal(fake_open_events(&fake), 0);
	end_session();
	must_open(TEXTS("{cycles,instructions,branch-misses}:W"));
	assert_int_equal(fake_open_events(&fake), 21);
}

static void process_with_threads(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42\nPid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/45/x", "");
	fake_file(&fake, "/proc/45/status", "Name:\tx\nTgid:\t42\nPid:\t45");
	options.pid = 42;
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	must_open(TEXTS("cycles", "uncore_imc/clockticks/"));
	assert_int_equal(event_text(1)->pid, 42);
	assert_int_equal(event_text(2)->pid, 45);
	assert_true(event_text(1)->a.attr.inherit && event_text(1)->a.attr.enable_on_exec);
	assert_int_equal(event_text(3)->pid, -1);
	assert_false(event_text(3)->a.attr.inherit || event_text(3)->a.attr.enable_on_exec);
	/* Events that start with the program are not started by hand. */
	assert_int_equal(pfm_start_session(session), 0);
	assert_false(event_text(1)->enabled);
	assert_true(event_text(3)->enabled);
	end_session();
	options.pid = 45;
	must_open(TEXTS("cycles"));
	assert_int_equal(is_about(0).n_kernel_events, 1);
	assert_int_equal(fake.events[fake.n_events - 1].pid, 45);
}

static void cpus_that_a_unit_does_not_serve(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "1";
	must_open(TEXTS("uncore_cha_0/event=0x35/"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "counts only on CPUs 0,4");
}

static int thread_ends(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)attr;
	(void)cpu;
	(void)group;
	return pid == f->number ? -ESRCH : 0;
}

static void threads_that_end_meanwhile(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/45/x", "");
	fake.decide = thread_ends;
	fake.number = 45;
	options.pid = 42;
	must_open(TEXTS("{cycles,instructions}"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	options.pid = fake.number = 77;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_PROCESS);
	expect_why(0, "77");
}

static void units_off_the_core_are_summed(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("uncore_cha/event=0x35,umask=0x1/", "mesh/occupancy/"));
	assert_int_equal(is_about(0).n_kernel_events, 24); /* 12 boxes in 2 packages */
	assert_int_equal(event_text(1)->a.attr.type, 30);
	assert_int_equal(event_text(1)->cpu, 0);
	assert_int_equal(event_text(2)->cpu, 4);
	assert_int_equal(event_text(24)->a.attr.type, 41);
	assert_int_equal(event_text(24)->pid, -1);
	assert_int_equal(is_about(1).n_kernel_events, 2); /* one CPU each */
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1000 * (25 * 26 / 2 - 1));
	end_session();
	must_open(TEXTS("uncore_imc_free_running_1/read/"));
	assert_int_equal(is_about(0).attr.type, 43);
	assert_int_equal(event_text(fake.n_events - 1)->a.attr.type, 43);
	end_session();
	/* One box and the other of the same device. */
	must_open(TEXTS("uncore_cha_3/event=0x35/", "uncore_cha_0/event=0x35/"));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(is_about(i).n_kernel_events, 2);
		assert_int_equal(event_text(fake.n_events - 1 - i)->a.attr.type,
		                 is_about(1).attr.type);
		assert_int_equal(event_text(fake.n_events - 3 - i)->a.attr.type,
		                 is_about(0).attr.type);
	}
	assert_int_equal(is_about(0).attr.type, is_about(1).attr.type + 3);
}

static void scale_and_unit(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("uncore_imc/cas_count_read/", "task-clock"));
	run_session();
	assert_true(counts[0].scale == 1.0 / 16384);
	assert_string_equal(is_about(0).unit, "MiB");
	assert_string_equal(is_about(1).unit, "msec");
}

/* ---- types of cores -------------------------------------------------------------------------- */

static void event_fans_out_over_types_of_cores(void **state)
{
	(void)state;
	make_machine("hybrid");
	must_open(TEXTS("instructions", "cycles", "page-faults", "cpu_atom/instructions/"));
	assert_int_equal(pfm_session_size(session), 6);
	assert_int_equal(is_about(0).attr.type, 10);
	assert_string_equal(is_about(0).pmu, "cpu_atom");
	assert_int_equal(is_about(1).attr.type, 4);
	assert_int_equal(is_about(1).request, 0);
	/* Generic events carry the type of the PMU. */
	assert_true(is_about(2).attr.type == 0 && is_about(2).attr.config == (uint64_t)10 << 32);
	assert_true(is_about(3).attr.type == 0 && is_about(3).attr.config == (uint64_t)4 << 32);
	assert_string_equal(is_about(3).pmu, "cpu_core");
	assert_int_equal(is_about(4).request, 2);
	assert_int_equal(is_about(5).attr.type, 10);
}

static void group_fans_out_as_a_group(void **state)
{
	(void)state;
	make_machine("hybrid");
	must_open(TEXTS("{instructions,cache-misses,page-faults}"));
	assert_int_equal(pfm_session_size(session), 5);
	assert_int_equal(is_about(0).group, is_about(1).group);
	assert_int_equal(is_about(0).group,
	                 is_about(2).group); /* page-faults once, with the first */
	assert_int_equal(is_about(3).group, is_about(4).group);
	assert_int_not_equal(is_about(0).group, is_about(3).group);
	assert_int_equal(event_text(2)->group, fake_fd(1));
	assert_int_equal(event_text(5)->group, fake_fd(4));
}

/* An event that belongs to no core counts in the group of the only type of core that the group
 * names. */
static void group_of_one_type_stays_together(void **state)
{
	static const char *const groups[] = { "{page-faults,cpu_atom/instructions/}",
		                              "{page-faults,cpu_core/instructions/}" };

	(void)state;
	make_machine("hybrid");
	for (unsigned i = 0; i < 2; i++) {
		must_open(TEXTS(groups[i]));
		assert_int_equal(pfm_session_size(session), 2);
		assert_int_equal(is_about(0).group, is_about(1).group);
		end_session();
	}
}

static void cores_serve_their_own_cpus(void **state)
{
	(void)state;
	make_machine("hybrid");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "2-5";
	must_open(TEXTS("instructions"));
	assert_int_equal(is_about(0).n_kernel_events, 2);
	assert_int_equal(event_text(1)->cpu, 4);
	assert_int_equal(event_text(2)->cpu, 5);
	assert_int_equal(event_text(3)->cpu, 2);
	assert_int_equal(event_text(4)->cpu, 3);
}

/* A task that spends three quarters of its time on the fast cores. */
static void on_both_types(struct fake *f, struct fake_event *e)
{
	bool fast = e->a.attr.type == 4 || e->a.attr.config >> 32 == 4;

	e->value = fast ? 900 : 100;
	e->is_open = 1000000;
	e->running = fast ? 750000 : 250000;
	if (f->number)
		e->running /= 2; /* and shares counters */
}

static void time_on_other_cores_is_not_multiplexing(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = on_both_types;
	must_open(TEXTS("instructions"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 100);
	assert_int_equal(counts[1].value, 900);
	fake.number = 1;
	run_session();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 200);
	assert_int_equal(counts[1].value, 1800);
}

/* All but a thousandth of its time, or a nanosecond less. */
static void lost_between_types(struct fake *f, struct fake_event *e)
{
	bool fast = e->a.attr.type == 4 || e->a.attr.config >> 32 == 4;

	e->value = 1000;
	e->is_open = 2000999;
	e->running = fast ? 1000000 : 998999 - (uint64_t)f->number;
}

static void moments_between_cores_are_not_multiplexing(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = lost_between_types;
	must_open(TEXTS("instructions"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1000);
	fake.number = 1;
	run_session();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 1001);
}

static void only_one_type_has_it(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = on_both_types;
	must_open(TEXTS("slots", "cpu_atom/instructions/"));
	assert_int_equal(pfm_session_size(session), 2);
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	assert_int_equal(counts[0].value, 900); /* not extrapolated to cores it did not run on */
	expect_why(0, "cpu_core serves CPUs 0-3 only");
	expect_count(1, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
}

static void never_on_small(struct fake *f, struct fake_event *e)
{
	bool fast = e->a.attr.type == 4 || e->a.attr.config >> 32 == 4;

	(void)f;
	e->value = fast ? 900 : 0;
	e->is_open = 1000000;
	e->running = fast ? e->is_open : 0;
}

static void zero_on_cores_that_were_not_used(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = never_on_small;
	must_open(TEXTS("instructions", "cpu_atom/instructions/"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 0);
	expect_count(2, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
}

#define BIG "adl_goldencove::"

/* An event that must be counted alone is refused by name in a group and gets turns of its own
 * outside of one. */
static void refuses_an_exclusive_event_in_a_group(void **state)
{
	static const char group[] = "{" BIG "L2_RQSTS.MISS," BIG "FRONTEND_RETIRED.DSB_MISS}";

	(void)state;
	make_machine("hybrid");
	assert_int_equal(open_texts(TEXTS(group)), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.kind, PFM_KIND_ALONE);
	assert_memory_equal(group + error.start, BIG "FRONTEND_RETIRED.DSB_MISS",
	                    error.end - error.start);
	assert_int_equal(group[error.end], '}');
	assert_int_equal(open_texts(TEXTS("{" BIG "FRONTEND_RETIRED.DSB_MISS,cache-misses}")),
	                 PFMLIB_ERR_NOASSIGN);
	must_open(TEXTS("{" BIG "INST_RETIRED.ANY," BIG
	                "FRONTEND_RETIRED.DSB_MISS,cpu_core/cycles/}",
	                BIG "INST_RETIRED.ANY"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_false(fake.events[i].used && fake.events[i].a.attr.exclusive);
	end_session();
	must_open(TEXTS(BIG "FRONTEND_RETIRED.DSB_MISS", BIG "L2_RQSTS.MISS"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used ||
		            fake.events[i].a.attr.exclusive ==
		                    (fake.events[i].a.attr.config == 0x1c6));
	end_session();
	/* Beside what the kernel's own fields say. */
	must_open(TEXTS(BIG "FRONTEND_RETIRED.DSB_MISS", "cpu_core/event=0xd1,umask=0x1/"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used ||
		            fake.events[i].a.attr.exclusive ==
		                    (fake.events[i].a.attr.config == 0x1c6));
	end_session();
	must_open(TEXTS("{" BIG "FRONTEND_RETIRED.DSB_MISS," BIG "L2_RQSTS.MISS}:W"));
	assert_int_not_equal(is_about(0).group, is_about(1).group);
}

/* In braces as outside of them: a qualifier of libpmc belongs to the event before it, however it is
 * written. */
static void qualifiers_within_a_group(void **state)
{
	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("{coreduo::L2_LINES_IN,Edge,cmask=2,coreduo::Instr_Ret,OS}"));
	assert_int_equal(pfm_session_size(session), 2);
	assert_string_equal(is_about(0).name, "coreduo::L2_LINES_IN,Edge,cmask=2");
	assert_string_equal(is_about(1).name, "coreduo::Instr_Ret,OS");
}

static void share_counters(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 500;
	e->is_open = 100;
	e->running = e->a.attr.config == PERF_COUNT_HW_CPU_CYCLES ? 100 : 50;
}

/* The marker of a pretended machine is enough; times and causes stay as on hardware. */
static void no_count_of_a_pretended_machine_is_exact(void **state)
{
	pfm_count_t one = PFM_INIT(one), later = PFM_INIT(later), d = PFM_INIT(d);

	(void)state;
	make_machine("uncore");
	fake_file(&fake, PFMI_PRETENDED_PATH, "skl, model of skl");
	must_open(TEXTS("cycles", "instructions"));
	fake.tick = share_counters;
	run_session();
	for (unsigned round = 0; round < 3; round++) {
		read_all();
		expect_count(0, PFM_QUALITY_PRETENDED, PFM_CAUSE_NONE);
		expect_count(1, PFM_QUALITY_PRETENDED, PFM_CAUSE_MULTIPLEXED);
		assert_int_equal(counts[0].value, 500);
		assert_int_equal(counts[1].value, 1000);
		assert_int_equal(pfm_read_count(session, 0, &one), 0);
		assert_int_equal(one.quality, PFM_QUALITY_PRETENDED);
	}
	later = counts[1];
	later.raw += 100, later.value += 200, later.enabled += 40, later.running += 20;
	assert_int_equal(pfm_subtract_counts(&counts[1], &later, 0, &d), 0);
	assert_int_equal(d.value, 200);
	assert_int_equal(d.quality, PFM_QUALITY_PRETENDED);
	assert_int_equal(d.cause, PFM_CAUSE_MULTIPLEXED);
}

static void have_no_time(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->is_open = e->running = 0;
}

static void missing_counts_of_a_pretended_machine_stay_missing(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, PFMI_PRETENDED_PATH, "skl, model of skl");
	must_open(TEXTS("cycles"));
	fake.tick = have_no_time;
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_the_kernel_alone),
		CASE(counts_the_own_thread_with_one_call),
		CASE(named_levels_win_over_those_of_the_session),
		CASE(levels_at_which_nothing_happens),
		CASE(clocks_know_no_levels),
		CASE(negative_numbers_are_refused),
		CASE(guests_host_and_idle_time),
		CASE(group_is_opened_and_read_as_one),
		CASE(a_pinned_group_is_pinned_by_its_leader),
		CASE(member_that_does_not_fit),
		CASE(weak_group_is_broken_up),
		CASE(group_goes_on_without_its_first),
		CASE(counts_on_each_cpu_that_is_on_line),
		CASE(one_count_per_cpu),
		CASE(cpus_that_are_off_line),
		CASE(cpus_that_are_all_there),
		CASE(named_cpu_of_all_has_gone),
		CASE(cpus_that_may_come),
		CASE(no_call_more_than_by_hand),
		CASE(member_that_one_cpu_refuses),
		CASE(cpu_is_unplugged),
		CASE(process_with_threads),
		CASE(cpus_that_a_unit_does_not_serve),
		CASE(threads_that_end_meanwhile),
		CASE(units_off_the_core_are_summed),
		CASE(scale_and_unit),
		CASE(event_fans_out_over_types_of_cores),
		CASE(group_fans_out_as_a_group),
		CASE(group_of_one_type_stays_together),
		CASE(cores_serve_their_own_cpus),
		CASE(time_on_other_cores_is_not_multiplexing),
		CASE(moments_between_cores_are_not_multiplexing),
		CASE(only_one_type_has_it),
		CASE(zero_on_cores_that_were_not_used),
		CASE(qualifiers_within_a_group),
		CASE(refuses_an_exclusive_event_in_a_group),
		CASE(no_count_of_a_pretended_machine_is_exact),
		CASE(missing_counts_of_a_pretended_machine_stay_missing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
