/* SPDX-License-Identifier: MIT */
/* Sessions on a scripted kernel: what is opened where, groups, types of cores, units off the core, how counts are judged, what
 * refusals are said to mean, and that nothing stays open whatever fails. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include "fake_session.h"
#include "shared.h"
#include "starve.h"

/* The kernel's own events that happen nowhere but in it, by their numbers. */
static void events_of_the_kernel_alone(void **state)
{
	pfm_attr_t attr = { .type_known = 1, .type = PERF_TYPE_SOFTWARE };

	(void)state;
	for (attr.config = 0; attr.config < 80; attr.config++)
		assert_int_equal(pfmi_only_in_kernel(&attr),
		                 attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		                         attr.config == PERF_COUNT_SW_BPF_OUTPUT || attr.config == PERF_COUNT_SW_CGROUP_SWITCHES);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.type = PERF_TYPE_HARDWARE;
	assert_false(pfmi_only_in_kernel(&attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.type_known = 0;
	assert_false(pfmi_only_in_kernel(&attr));
}

/* ---- where and how events are opened ------------------------------------------------------------------------------------ */

static void own_thread(void **state)
{
	(void)state;
	machine("uncore");
	assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
	memset(fake.uses, 0, sizeof(fake.uses));
	must_open(TEXTS("cycles"));
	for (unsigned i = 0; i < N_FAKE_CALLS; i++)
		assert_int_equal(fake.uses[i], i == FAKE_PERF); /* one call, and nothing else is asked */
	assert_int_equal(event(1)->a.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(event(1)->a.attr.config, 0);
	assert_int_equal(event(1)->pid, 0);
	assert_int_equal(event(1)->cpu, -1);
	assert_int_equal(event(1)->group, -1);
	assert_int_equal(event(1)->flags, PERF_FLAG_FD_CLOEXEC);
	assert_int_equal(event(1)->a.attr.exclude_kernel | event(1)->a.attr.exclude_user | event(1)->a.attr.exclude_hv, 0);
	assert_false(event(1)->enabled);
	assert_int_equal(pfm_start_session(session), 0);
	assert_true(event(1)->enabled);
	assert_int_equal(pfm_stop_session(session), 0);
	assert_false(event(1)->enabled);
	read_all();
	assert_int_equal(counts[0].value, 2000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(about(0).name, "cycles");
}

static void levels(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("cycles:u", "cycles:k", "cycles:uk", "cycles", "cpu/instructions/u"));
	assert_true(event(1)->a.attr.exclude_kernel && event(1)->a.attr.exclude_hv && !event(1)->a.attr.exclude_user);
	assert_true(!event(2)->a.attr.exclude_kernel && event(2)->a.attr.exclude_hv && event(2)->a.attr.exclude_user);
	assert_true(!event(3)->a.attr.exclude_kernel && event(3)->a.attr.exclude_hv && !event(3)->a.attr.exclude_user);
	assert_true(event(5)->a.attr.exclude_kernel && event(5)->a.attr.exclude_hv);
	end_session();
	options.plm = PFM_PLM3;
	must_open(TEXTS("cycles", "cycles:k"));
	assert_true(event(6)->a.attr.exclude_kernel && event(6)->a.attr.exclude_hv && !event(6)->a.attr.exclude_user);
	assert_true(!event(7)->a.attr.exclude_kernel && event(7)->a.attr.exclude_user);
}

/* What the kernel raises itself is never seen at user level: no zero that looks like a count. */
static void levels_at_which_nothing_happens(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("context-switches:u", "cs:k", "cpu-migrations:u", "page-faults:u", "cs"));
	run();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(0, "context-switches:u happens in the kernel alone");
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

static void nobody_has_a_negative_number(void **state)
{
	(void)state;
	machine("uncore");
	options.pid = -1;
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "options.pid is negative");
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

/* perf's G counts guests alone, H the host alone, both letters both, I leaves idle time out. */
static void guests_host_and_idle_time(void **state)
{
	static const struct {
		const char *text;
		unsigned excluded; /* 1 idle, 2 host, 4 guest */
	} lines[] = {
		{ "cycles", 0 },
		{ "cycles:I", 1 },
		{ "cycles:G", 2 },
		{ "cycles:H", 4 },
		{ "cycles:GH", 0 },
		{ "cycles:H:G", 0 },
		{ "cycles:uGI", 3 },
		{ "cycles:DG", 2 },
		{ "{cycles}:HI", 5 },
		{ "{cycles}:H", 4 },
		{ "cpu/instructions/H", 4 },
		{ "cpu/instructions/", 0 },
		{ "page-faults:I", 1 },
		{ "r412e:I", 1 },
	};
	const unsigned n = sizeof(lines) / sizeof(lines[0]);
	const char *texts[sizeof(lines) / sizeof(lines[0])];

	(void)state;
	machine("uncore");
	for (unsigned i = 0; i < n; i++)
		texts[i] = lines[i].text;
	must_open(texts, n);
	for (unsigned i = 0; i < n; i++) {
		const struct perf_event_attr *a = &event(i + 1)->a.attr;
		unsigned excluded = (a->exclude_idle ? 1u : 0) | (a->exclude_host ? 2u : 0) | (a->exclude_guest ? 4u : 0);

		if (excluded != lines[i].excluded)
			fail_msg("%s: idle %d, host %d, guest %d left out", lines[i].text, a->exclude_idle, a->exclude_host,
			         a->exclude_guest);
		assert_false(a->exclude_hv && !strchr(lines[i].text, 'u'));
	}
}

static void group_is_opened_and_read_as_one(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("{cycles,instructions,branch-misses}:u", "page-faults"));
	assert_int_equal(fake.n_events, 5);
	assert_int_equal(event(1)->group, -1);
	assert_int_equal(event(2)->group, fake_fd(1));
	assert_int_equal(event(3)->group, fake_fd(1));
	assert_int_equal(event(4)->group, -1);
	assert_true(event(1)->a.attr.read_format & PERF_FORMAT_GROUP);
	assert_false(event(4)->a.attr.read_format & PERF_FORMAT_GROUP);
	assert_true(event(3)->a.attr.exclude_kernel);
	assert_false(event(4)->a.attr.exclude_kernel);
	/* Only the leader is switched; the others follow. */
	assert_true(event(1)->a.attr.disabled && !event(2)->a.attr.disabled);
	fake.uses[FAKE_READ_PERF] = fake.uses[FAKE_IOCTL] = 0;
	run();
	assert_int_equal(fake.uses[FAKE_READ_PERF], 2);
	assert_int_equal(fake.uses[FAKE_IOCTL], 4);
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(counts[2].value, 4000);
	assert_int_equal(counts[3].value, 5000);
	assert_int_equal(about(0).group, about(2).group);
	assert_int_not_equal(about(0).group, about(3).group);
	assert_int_equal(about(3).request, 1);
	assert_string_equal(about(1).name, "instructions:u");
}

/* The kernel refuses members that want to be pinned: the whole group is, by its leader. */
static void a_pinned_group_is_pinned_by_its_leader(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("{cycles,instructions}:D", "{branches,cache-misses:D}"));
	assert_true(event(1)->a.attr.pinned);
	assert_false(event(2)->a.attr.pinned);
	assert_false(event(3)->a.attr.pinned);
	assert_false(event(4)->a.attr.pinned);
}

static int room_for_two(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
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
	machine("uncore");
	fake.decide = room_for_two;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	assert_int_equal(counts[2].sys_errno, EINVAL);
	assert_int_equal(counts[2].value, 0);
	expect_why(2, ":W");
}

static void weak_group_is_broken_up(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = room_for_two;
	must_open(TEXTS("{cycles,instructions,branch-misses}:W"));
	assert_int_equal(fake_open_events(&fake), 3);
	run();
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_not_equal(about(0).group, about(1).group);
	assert_int_not_equal(about(1).group, about(2).group);
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used || (fake.events[i].group == -1 && fake.events[i].a.attr.disabled));
}

static int no_cycles(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == 0 && (uint32_t)attr->config == 0 ? -ENOENT : 0;
}

static void group_goes_on_without_its_first(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = no_cycles;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(fake_open_events(&fake), 2);
}

static void whole_system(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("{cycles,instructions}"));
	assert_int_equal(fake_open_events(&fake), 14);
	assert_int_equal(about(0).n_parts, 7);
	for (unsigned i = 1; i < 14; i += 2) {
		assert_int_equal(event(i)->pid, -1);
		assert_int_equal(event(i)->cpu, i == 13 ? 7 : (int)i / 2); /* CPU 6 is off line */
		assert_int_equal(event(i + 1)->cpu, event(i)->cpu);
		assert_int_equal(event(i + 1)->group, fake_fd(i));
	}
	run();
	assert_int_equal(counts[0].value, 1000 * (2 + 4 + 6 + 8 + 10 + 12 + 14));
	assert_int_equal(counts[1].value, 1000 * (3 + 5 + 7 + 9 + 11 + 13 + 15));
	assert_int_equal(counts[0].enabled, 7000000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void one_count_per_cpu(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	options.cpus = "1,4-5";
	must_open(TEXTS("{cycles,instructions}", "uncore_imc/cas_count_read/"));
	assert_int_equal(pfm_count_session(session), 2 + 3 + 2); /* the memory controllers are served from 0 and 4 */
	assert_string_equal(about(0).cpus, "1");
	assert_string_equal(about(2).cpus, "4");
	assert_string_equal(about(4).cpus, "4");
	assert_string_equal(about(5).cpus, "5");
	assert_int_equal(about(4).n_parts, 2);
	run();
	for (unsigned i = 0; i < 7; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void cpus_that_are_off_line(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "5-6";
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	assert_int_equal(counts[0].value, 2000);
	end_session();
	options.cpus = "6";
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	end_session();
	options.cpus = "6-";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_null(session);
}

/* CPU fake.number is unplugged. */
static int without_one_cpu(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)attr;
	(void)pid;
	(void)group;
	return cpu == f->number ? -ENODEV : 0;
}

static int no_instructions_on_cpu_4(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	return attr->config == 0xc0 && cpu == 4 && group != -1 ? -EINVAL : 0;
}

static void stops_on_one_cpu(struct fake *f, struct fake_event *e)
{
	e->value += 1000;
	e->on += e->cpu == f->number ? 0 : 100;
	e->running = e->on;
	if (e->cpu == f->number)
		e->value = 0;
}

static void cpu_is_unplugged(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "0-5";
	/* Between the list of CPUs and the question. */
	fake.number = 3;
	fake.decide = without_one_cpu;
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	expect_why(0, "CPU 3 has been switched off");
	end_session();
	/* While counting: what it had is kept, and the others go on. */
	fake.decide = NULL;
	must_open(TEXTS("cycles"));
	assert_int_equal(about(0).n_parts, 6);
	fake.tick = stops_on_one_cpu;
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.tick = NULL;
	end_session();
	/* Afterwards: the list is read again for every session; and the CPU may come back, or others. */
	fake.decide = without_one_cpu;
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-2,4-5");
	options.cpus = NULL;
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(about(0).n_parts, 5);
	end_session();
	fake.decide = NULL;
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-7");
	must_open(TEXTS("cycles"));
	assert_int_equal(about(0).n_parts, 8);
	end_session();
	/* A list that makes no sense is none: nobody knows what all CPUs are. */
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-");
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "which CPUs are on line cannot be read");
}

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define ONLINE   "/sys/devices/system/cpu/online"

/* A session for "cycles": it opens @n kernel events that count, and reads @files. */
static void must_be_on(unsigned n, unsigned files)
{
	memset(fake.uses, 0, sizeof(fake.uses));
	must_open(TEXTS("cycles"));
	assert_int_equal(fake.uses[FAKE_OPEN], files);
	assert_int_equal(about(0).n_parts, n);
	assert_int_equal(fake_open_events(&fake), n);
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
}

/* Where no other CPUs are possible than were on line, the kernel's refusal is asked for those that are not. */
static void cpus_that_are_all_there(void **state)
{
	(void)state;
	machine("uncore");
	assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
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
	run();
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
	machine("uncore");
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-3");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
	must_be_on(4, 1);
	must_be_on(4, 2);
	fake_file(&fake, ONLINE, "0-2");
	fake.number = 3;
	fake.decide = without_one_cpu;
	options.cpus = "2-3";
	must_open(TEXTS("{cycles,instructions}"));
	run();
	for (unsigned i = 0; i < 2; i++) {
		expect_count(i, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
		expect_why(i, "1 of the CPUs asked for is not on line");
	}
	assert_int_equal(fake_open_events(&fake), 2);
}

static void cpus_that_may_come(void **state)
{
	(void)state;
	machine("uncore");
	assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
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

/* Every step of a session for @texts makes the calls it would take by hand: one for each of @n kernel events, one for each of @groups. */
static void calls_of_each_step(const char *const *texts, unsigned n_texts, unsigned n, unsigned groups)
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
	static const char events[][20] = { "page-faults", "minor-faults", "major-faults", "task-clock", "cpu-clock", "alignment-faults",
		                           "emulation-faults" };
	static const char levels[][8] = { "", ":u", ":k", ":uk", ":I", ":uI", ":kI", ":ukI", ":H", ":uH" };
	static char text[64 * 32];
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%c%s%s", i ? ',' : '{', events[i % 7], levels[i / 7]);
	snprintf(text + at, sizeof(text) - at, "}");
	return text;
}

static void no_call_more_than_by_hand(void **state)
{
	static const unsigned sizes[] = { 1, 8, 64 };

	(void)state;
	machine("uncore");
	fake_file(&fake, ONLINE, "0-1");
	fake_file(&fake, POSSIBLE, "0-1");
	assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
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

/* A member that one CPU has no room for is counted nowhere; its group goes on. */
static void member_that_one_cpu_refuses(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	fake.decide = no_instructions_on_cpu_4;
	must_open(TEXTS("{cycles,instructions,branch-misses}"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(fake_open_events(&fake), 14);
	end_session();
	must_open(TEXTS("{cycles,instructions,branch-misses}:W"));
	assert_int_equal(fake_open_events(&fake), 21);
}

static void process_with_threads(void **state)
{
	(void)state;
	machine("uncore");
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42\nPid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/45/x", "");
	fake_file(&fake, "/proc/45/status", "Name:\tx\nTgid:\t42\nPid:\t45");
	options.pid = 42;
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	must_open(TEXTS("cycles", "uncore_imc/clockticks/"));
	assert_int_equal(event(1)->pid, 42);
	assert_int_equal(event(2)->pid, 45);
	assert_true(event(1)->a.attr.inherit && event(1)->a.attr.enable_on_exec);
	assert_int_equal(event(3)->pid, -1);
	assert_false(event(3)->a.attr.inherit || event(3)->a.attr.enable_on_exec);
	/* What waits for the program is not started by hand. */
	assert_int_equal(pfm_start_session(session), 0);
	assert_false(event(1)->enabled);
	assert_true(event(3)->enabled);
	end_session();
	options.pid = 45;
	must_open(TEXTS("cycles"));
	assert_int_equal(about(0).n_parts, 1);
	assert_int_equal(fake.events[fake.n_events - 1].pid, 45);
}

static void cpus_that_a_unit_does_not_serve(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "1";
	must_open(TEXTS("uncore_cha_0/event=0x35/"));
	run();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "counts only from CPUs 0,4");
}

static int thread_ends(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)attr;
	(void)cpu;
	(void)group;
	return pid == f->number ? -ESRCH : 0;
}

static void threads_that_end_meanwhile(void **state)
{
	(void)state;
	machine("uncore");
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/45/x", "");
	fake.decide = thread_ends;
	fake.number = 45;
	options.pid = 42;
	must_open(TEXTS("{cycles,instructions}"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	options.pid = fake.number = 77;
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_PROCESS);
	expect_why(0, "77");
}

static void units_off_the_core_are_summed(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("uncore_cha/event=0x35,umask=0x1/", "mesh/occupancy/"));
	assert_int_equal(about(0).n_parts, 24); /* 12 boxes in 2 packages */
	assert_int_equal(event(1)->a.attr.type, 30);
	assert_int_equal(event(1)->cpu, 0);
	assert_int_equal(event(2)->cpu, 4);
	assert_int_equal(event(24)->a.attr.type, 41);
	assert_int_equal(event(24)->pid, -1);
	assert_int_equal(about(1).n_parts, 2); /* one CPU each */
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1000 * (25 * 26 / 2 - 1));
	end_session();
	must_open(TEXTS("uncore_imc_free_running_1/read/"));
	assert_int_equal(about(0).attr.type, 43);
	assert_int_equal(event(fake.n_events - 1)->a.attr.type, 43);
	end_session();
	/* One box and the other of the same device. */
	must_open(TEXTS("uncore_cha_3/event=0x35/", "uncore_cha_0/event=0x35/"));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(about(i).n_parts, 2);
		assert_int_equal(event(fake.n_events - 1 - i)->a.attr.type, about(1).attr.type);
		assert_int_equal(event(fake.n_events - 3 - i)->a.attr.type, about(0).attr.type);
	}
	assert_int_equal(about(0).attr.type, about(1).attr.type + 3);
}

static void scale_and_unit(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("uncore_imc/cas_count_read/", "task-clock"));
	run();
	assert_true(counts[0].scale == 1.0 / 16384);
	assert_string_equal(about(0).unit, "MiB");
	assert_string_equal(about(1).unit, "msec");
}

/* ---- types of cores ------------------------------------------------------------------------------------------------------ */

static void event_fans_out_over_types_of_cores(void **state)
{
	(void)state;
	machine("hybrid");
	must_open(TEXTS("instructions", "cycles", "page-faults", "cpu_atom/instructions/"));
	assert_int_equal(pfm_count_session(session), 6);
	assert_int_equal(about(0).attr.type, 10);
	assert_string_equal(about(0).pmu, "cpu_atom");
	assert_int_equal(about(1).attr.type, 4);
	assert_int_equal(about(1).request, 0);
	/* Generic events carry the type of the PMU. */
	assert_true(about(2).attr.type == 0 && about(2).attr.config == (uint64_t)10 << 32);
	assert_true(about(3).attr.type == 0 && about(3).attr.config == (uint64_t)4 << 32);
	assert_string_equal(about(3).pmu, "cpu_core");
	assert_int_equal(about(4).request, 2);
	assert_int_equal(about(5).attr.type, 10);
}

static void group_fans_out_as_a_group(void **state)
{
	(void)state;
	machine("hybrid");
	must_open(TEXTS("{instructions,cache-misses,page-faults}"));
	assert_int_equal(pfm_count_session(session), 5);
	assert_int_equal(about(0).group, about(1).group);
	assert_int_equal(about(0).group, about(2).group); /* page-faults once, with the first */
	assert_int_equal(about(3).group, about(4).group);
	assert_int_not_equal(about(0).group, about(3).group);
	assert_int_equal(event(2)->group, fake_fd(1));
	assert_int_equal(event(5)->group, fake_fd(4));
}

/* What is no core's counts in the group of the only type that the group is about, whichever that is. */
static void group_of_one_type_stays_together(void **state)
{
	static const char *const groups[] = { "{page-faults,cpu_atom/instructions/}", "{page-faults,cpu_core/instructions/}" };

	(void)state;
	machine("hybrid");
	for (unsigned i = 0; i < 2; i++) {
		must_open(TEXTS(groups[i]));
		assert_int_equal(pfm_count_session(session), 2);
		assert_int_equal(about(0).group, about(1).group);
		end_session();
	}
}

static void cores_serve_their_own_cpus(void **state)
{
	(void)state;
	machine("hybrid");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "2-5";
	must_open(TEXTS("instructions"));
	assert_int_equal(about(0).n_parts, 2);
	assert_int_equal(event(1)->cpu, 4);
	assert_int_equal(event(2)->cpu, 5);
	assert_int_equal(event(3)->cpu, 2);
	assert_int_equal(event(4)->cpu, 3);
}

/* A task that spends three quarters of its time on the fast cores. */
static void on_both_types(struct fake *f, struct fake_event *e)
{
	bool fast = e->a.attr.type == 4 || e->a.attr.config >> 32 == 4;

	e->value = fast ? 900 : 100;
	e->on = 1000000;
	e->running = fast ? 750000 : 250000;
	if (f->number)
		e->running /= 2; /* and shares counters */
}

static void time_on_other_cores_is_not_multiplexing(void **state)
{
	(void)state;
	machine("hybrid");
	fake.tick = on_both_types;
	must_open(TEXTS("instructions"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 100);
	assert_int_equal(counts[1].value, 900);
	fake.number = 1;
	run();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 200);
	assert_int_equal(counts[1].value, 1800);
}

/* All but a thousandth of its time, or a nanosecond less. */
static void lost_between_types(struct fake *f, struct fake_event *e)
{
	bool fast = e->a.attr.type == 4 || e->a.attr.config >> 32 == 4;

	e->value = 1000;
	e->on = 2000999;
	e->running = fast ? 1000000 : 998999 - (uint64_t)f->number;
}

static void moments_between_cores_are_not_multiplexing(void **state)
{
	(void)state;
	machine("hybrid");
	fake.tick = lost_between_types;
	must_open(TEXTS("instructions"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1000);
	fake.number = 1;
	run();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 1001);
}

static void only_one_type_has_it(void **state)
{
	(void)state;
	machine("hybrid");
	fake.tick = on_both_types;
	must_open(TEXTS("slots", "cpu_atom/instructions/"));
	assert_int_equal(pfm_count_session(session), 2);
	run();
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
	e->on = 1000000;
	e->running = fast ? e->on : 0;
}

static void zero_on_cores_that_were_not_used(void **state)
{
	(void)state;
	machine("hybrid");
	fake.tick = never_on_small;
	must_open(TEXTS("instructions", "cpu_atom/instructions/"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 0);
	expect_count(2, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
}

/* ---- how far counts are trusted ------------------------------------------------------------------------------------------- */

static uint64_t now[3];

static void as_told(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = now[0];
	e->on = now[1];
	e->running = now[2];
}

static void counted(uint64_t value, uint64_t enabled, uint64_t running)
{
	now[0] = value;
	now[1] = enabled;
	now[2] = running;
	read_all();
}

static void qualities(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("cycles"));
	counted(0, 0, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	expect_why(0, "never started");
	assert_int_equal(pfm_start_session(session), 0);
	counted(0, 0, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	/* Alpha: a clock of 128 ticks a second. */
	counted(1048575, 0, 0);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 1048575);
	counted(100, 1000, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	counted(100, 1000, 250);
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 400);
	assert_int_equal(counts[0].raw, 100);
	expect_why(0, "25 %");
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	assert_int_equal(counts[0].value, 0);
	counted(5, 1000, 0);
	assert_int_equal(counts[0].value, 0);
	counted(100, 1000, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* and the sentence is gone */
}

/* A level that was looked at for a part of the time is what it was then: not extrapolated, and nothing is said of it. */
static void qualities_of_levels(void **state)
{
	static const uint64_t times[][2] = { { 1000, 1 }, { 1000, 250 }, { 2000, 1999 }, { 3000, 3000 }, { 0, 0 } };

	(void)state;
	machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("mesh/occupancy/"));
	assert_int_equal(pfm_start_session(session), 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		counted(7, 1000, 0);
		expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		assert_int_equal(counts[0].value, 0);
		counted(7 + i, times[i][0], times[i][1]);
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_true(counts[0].value == 2 * (7 + i) && counts[0].raw == counts[0].value);
		assert_true(counts[0].enabled == 2 * times[i][0] && counts[0].running == 2 * times[i][1]);
	}
}

static void zero_is_where_reset_was(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("cycles", "mesh/occupancy/"));
	assert_int_equal(pfm_start_session(session), 0);
	counted(1000, 1000, 500);
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(1000, 1000, 500);
	assert_int_equal(counts[0].raw, 0);
	assert_int_equal(counts[0].enabled, 0);
	counted(1500, 2000, 1500);
	assert_int_equal(counts[0].value, 500);
	assert_int_equal(counts[0].enabled, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* A level is not a difference. */
	assert_int_equal(counts[1].value, 2 * 1500);
}

/* All counts are exact, each of @n parts that counted @value in @time nanoseconds. */
static void expect_exact(unsigned n, uint64_t value, uint64_t time)
{
	for (unsigned i = 0; i < pfm_count_session(session); i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_int_equal(counts[i].value, n * value);
		assert_int_equal(counts[i].raw, n * value);
		assert_int_equal(counts[i].enabled, n * time);
		assert_int_equal(counts[i].running, n * time);
	}
}

static void after_clear_readings(unsigned n)
{
	must_open(TEXTS("{cycles,instructions,branch-misses}", "page-faults", "{cs,faults}"));
	assert_int_equal(pfm_start_session(session), 0);
	for (unsigned i = 1; i <= 3; i++) {
		counted(100 * i, 1000 * i, 1000 * i);
		expect_exact(n, 100 * i, 1000 * i);
	}
	assert_int_equal(pfm_reset_session(session), 0);
	counted(450, 5000, 5000);
	expect_exact(n, 150, 2000);
	counted(450, 5000, 4000);
	for (unsigned i = 0; i < pfm_count_session(session); i++) {
		expect_count(i, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
		assert_int_equal(counts[i].value, n * 300);
		assert_int_equal(counts[i].raw, n * 150);
	}
	for (unsigned i = 0; i < 2; i++) {
		counted(450, 5000, 5000);
		expect_exact(n, 150, 2000);
	}
	assert_int_equal(pfm_reset_session(session), 0);
	counted(450, 5000, 5000);
	for (unsigned i = 0; i < pfm_count_session(session); i++)
		expect_count(i, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	counted(451, 5001, 5001);
	expect_exact(n, 1, 1);
	end_session();
}

/* Counts that were clear once are looked at less closely: whatever happens to them is seen all the same. */
static void clear_readings_may_change(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = as_told;
	after_clear_readings(1);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	after_clear_readings(7);
	options.flags |= PFM_SESSION_PER_CPU;
	after_clear_readings(1);
	options.flags = 0;
	must_open(TEXTS("cycles:D"));
	for (unsigned i = 1; i <= 2; i++)
		counted(100 * i, 1000 * i, 1000 * i);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	counted(0, 3000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(400, 4000, 4000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 400);
	end_session();
	/* A level is not a difference. */
	must_open(TEXTS("mesh/occupancy/"));
	counted(100, 1000, 1000);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(300, 2000, 2000);
	counted(300, 3000, 3000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 2 * 300);
}

/* Clear readings, too, go to as many structs as the caller has, of the size the caller knows, or nowhere. */
static void clear_readings_into_other_arrays(void **state)
{
	struct {
		pfm_count_t count;
		uint64_t more;
	} later[3];
	pfm_count_t one = PFM_INIT(one);

	(void)state;
	machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("{cycles,instructions}", "page-faults"));
	for (unsigned i = 1; i <= 2; i++)
		counted(100 * i, 1000 * i, 1000 * i);
	for (unsigned i = 0; i < 8; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]), .quality = -1, .cause = -1, .sys_errno = -1 };
	now[0] = 300;
	assert_int_equal(pfm_read_session(session, counts, 1), PFMLIB_SUCCESS);
	assert_int_equal(counts[0].value, 300);
	assert_int_equal(counts[0].cause, PFM_CAUSE_NONE);
	assert_int_equal(counts[1].cause, -1);
	now[0] = 400;
	assert_int_equal(pfm_read_session(session, counts, 8), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(counts[i].value, i < 3 ? 400 : 0);
		assert_int_equal(counts[i].quality, i < 3 ? PFM_QUALITY_EXACT : -1);
		assert_int_equal(counts[i].sys_errno, i < 3 ? 0 : -1);
	}
	assert_int_equal(counts[3].cause, -1);
	for (unsigned i = 0; i < 3; i++)
		later[i].count.size = sizeof(later[0]);
	now[0] = 500;
	assert_int_equal(pfm_read_session(session, &later[0].count, 3), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(later[i].count.value, 500);
	later[2].count.size = sizeof(one);
	assert_int_equal(pfm_read_session(session, &later[0].count, 3), PFMLIB_ERR_INVAL);
	now[0] = 600;
	assert_int_equal(pfm_read_count(session, 2, &one), PFMLIB_SUCCESS);
	assert_int_equal(one.value, 600);
	/* Of a reading that fails nothing is told. */
	fake.fail = FAKE_READ_PERF;
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 2;
	fake.fail_errno = EIO;
	now[0] = 700;
	assert_int_equal(pfm_read_session(session, counts, 3), PFMLIB_ERR_SYS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(counts[i].value, 400);
	now[0] = 800;
	assert_int_equal(pfm_read_session(session, counts, 3), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 3; i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_int_equal(counts[i].value, 800);
		assert_true(counts[i].scale > 0.999 && counts[i].scale < 1.001);
	}
}

static void first_gets_everything(struct fake *f, struct fake_event *e)
{
	e->value = 10;
	e->on = 1000;
	e->running = e == &f->events[1] ? 1000 : 0;
}

static void causes_of_not_being_counted(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = first_gets_everything;
	must_open(TEXTS("cycles", "instructions"));
	run();
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY); /* another PMU's event ran: that says nothing */
	end_session();
	fake.n_events = 1;
	must_open(TEXTS("cpu/cpu-cycles/", "cpu/instructions/"));
	run();
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED);
	end_session();
	fake.tick = as_told;
	must_open(TEXTS("{cycles,instructions}"));
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_GROUP);
	end_session();
	must_open(TEXTS("cycles:D"));
	assert_true(fake.events[fake.n_events - 1].a.attr.pinned);
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	expect_why(0, "pinned");
}

static void last_cpu_waits(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 10;
	e->on = 1000;
	e->running = e->cpu == 7 ? 0 : e->cpu == 5 ? 500
	                                           : 1000;
}

static void parts_are_extrapolated_one_by_one(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = last_cpu_waits;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "4-5";
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 10 + 20);
	end_session();
	options.cpus = "4-5,7";
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 10 + 20);
}

static void last_cpu_loses(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 10;
	e->on = e->running = e->cpu == 5 ? 0 : 100;
}

static void a_pinned_event_may_lose_some_of_its_counters(void **state)
{
	(void)state;
	machine("uncore");
	fake.tick = last_cpu_loses;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "4-5";
	must_open(TEXTS("{cycles}:D"));
	assert_true(event(1)->a.attr.pinned);
	run();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_BUSY);
	expect_why(0, "on some CPUs the pinned event lost its counter");
	assert_int_equal(counts[0].value, 10);
}

static void never_on_any(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->running = 0;
	e->on = 1000;
}

static void no_type_of_core_found_a_counter(void **state)
{
	(void)state;
	machine("hybrid");
	fake.tick = never_on_any;
	must_open(TEXTS("cycles"));
	run();
	for (unsigned i = 0; i < 2; i++)
		expect_count(i, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
}

static void extrapolation(void **state)
{
	static const uint64_t max = UINT64_MAX;
	static const struct {
		uint64_t raw, enabled, running, value;
	} rows[] = {
		{ 0, 0, 0, 0 },
		{ 5, 10, 0, 0 },
		{ 5, 10, 10, 5 },
		{ 5, 10, 5, 10 },
		{ 1, 3, 2, 2 },
		{ 1, 5, 4, 1 },
		{ 3, 10, 9, 3 },
		{ UINT64_MAX, 1, 1, UINT64_MAX },
		{ UINT64_MAX, 2, 1, UINT64_MAX },
		{ UINT64_MAX / 2, 2, 1, UINT64_MAX - 1 },
		{ 1000000000000, 86400000000000, 43200000000000, 2000000000000 },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
		{ UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 },
		{ 0x123456789abcdef0, 0xfedcba9876543210, 0xffffffffffffffff, 0x121fa00ad77d7422 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pfmi_extrapolate(rows[i].raw, rows[i].enabled, rows[i].running) != rows[i].value)
			fail_msg("row %u gives %llx", i,
			         (unsigned long long)pfmi_extrapolate(rows[i].raw, rows[i].enabled, rows[i].running));
	assert_true(pfmi_extrapolate(max, max, max) == max);
}

/* ---- refusals -------------------------------------------------------------------------------------------------------------- */

/* An ordinary user at level fake.number. */
static int ordinary_user(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)cpu;
	(void)group;
	if (f->number > 2 || (pid == -1 && f->number > 0) || (!attr->exclude_kernel && f->number > 1))
		return -EACCES;
	return pid == 1 ? -EACCES : 0;
}

static void as_user(int level)
{
	char text[8];

	snprintf(text, sizeof(text), "%d", level);
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", text);
	fake.decide = ordinary_user;
	fake.number = level;
}

static void kernel_is_left_out_when_it_must(void **state)
{
	(void)state;
	machine("uncore");
	as_user(2);
	must_open(TEXTS("cycles", "cpu/instructions/", "cycles:k", "context-switches", "sched:sched_switch", "page-faults"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(about(0).name, "cycles:u");
	assert_true(about(0).attr.exclude_kernel);
	assert_string_equal(about(1).name, "cpu/instructions/u");
	/* Asked for: an answer, not something else. */
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_why(2, "perf_event_paranoid is 2");
	expect_why(2, "CAP_PERFMON");
	/* At user level these would always be 0. */
	expect_count(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	assert_string_equal(about(3).name, "context-switches");
	expect_count(4, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(about(5).name, "page-faults:u");
}

static void paranoid_levels(void **state)
{
	char why[96];

	(void)state;
	machine("uncore");
	for (int level = -1; level <= 4; level++) {
		as_user(level);
		snprintf(why, sizeof(why), "perf_event_paranoid is %d: ordinary users may not count anything", level);
		options.flags = 0;
		options.pid = 0;
		must_open(TEXTS("cycles", "cycles:u"));
		run();
		assert_int_equal(counts[0].quality, level > 2 ? PFM_QUALITY_NOT_SUPPORTED : PFM_QUALITY_EXACT);
		assert_string_equal(about(0).name, level == 2 ? "cycles:u" : "cycles");
		assert_int_equal(about(0).attr.exclude_kernel, level == 2); /* nothing that is refused as well is kept */
		assert_int_equal(about(0).attr.exclude_hv, level == 2);
		if (level > 2)
			expect_why(1, why);
		end_session();
		options.flags = PFM_SESSION_SYSTEM_WIDE;
		must_open(TEXTS("cycles"));
		run();
		assert_int_equal(counts[0].quality, level > 0 ? PFM_QUALITY_NOT_SUPPORTED : PFM_QUALITY_EXACT);
		if (level > 0)
			expect_why(0, level > 2 ? why : "counting everything on a CPU needs 0 or lower");
		end_session();
		options.flags = 0;
		options.pid = 1;
		must_open(TEXTS("cycles:u"));
		run();
		assert_int_equal(counts[0].cause, PFM_CAUSE_PERMISSION);
		expect_why(0, level > 2 ? why : "process 1 belongs to another user");
		end_session();
	}
}

/* Linux itself treats levels above 2 as 2. */
static int user_of_linux(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)cpu;
	(void)group;
	return pid == -1 || !attr->exclude_kernel ? -EACCES : 0;
}

static int filtered(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)group;
	return -EPERM;
}

static void expect_permission(const char *text, unsigned flags, int pid, const char *why)
{
	options.flags = flags;
	options.pid = pid;
	must_open(&text, 1);
	run();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_why(0, why);
	end_session();
}

/* The level is told only where it is what refuses. */
static void level_or_filter(void **state)
{
	(void)state;
	machine("uncore");
	as_user(3);
	fake.decide = user_of_linux;
	expect_permission("cycles:k", 0, 0, "counting the kernel needs 1 or lower");
	expect_permission("cycles:u", PFM_SESSION_SYSTEM_WIDE, 0, "counting everything on a CPU needs 0 or lower");
	for (int level = -1; level <= 2; level++) {
		as_user(level);
		fake.decide = filtered;
		expect_permission("cycles:u", 0, 0, "a container's filter");
		expect_permission("cycles:k", 0, 0, "a container's filter");
		expect_permission("context-switches", 0, 0, "a container's filter");
		expect_permission("cycles:u", 0, 1, "a container's filter");
		expect_permission("cycles", PFM_SESSION_SYSTEM_WIDE, 0, "a container's filter");
	}
}

static void count_whole(const char *text, int pid, unsigned flags)
{
	fake_file(&fake, "/proc/1/status", "Name:\tinit\nTgid:\t1");
	fake_file(&fake, "/proc/1/task/1/x", "");
	options.flags = flags;
	options.pid = pid;
	must_open(TEXTS(text));
	run();
	assert_int_equal(counts[0].quality, PFM_QUALITY_EXACT);
	assert_string_equal(about(0).name, text);
	end_session();
}

/* With CAP_PERFMON, or as root, the level means nothing: the kernel decides, and nobody before it. A level that cannot be read, or is
 * no number, is none. */
static void capabilities_count_at_every_level(void **state)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3", "4", "99", "", "much", NULL };

	(void)state;
	machine("uncore");
	for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (levels[i])
			fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", levels[i]);
		else
			fake_remove(&fake, "/proc/sys/kernel/perf_event_paranoid");
		fake.decide = NULL;
		count_whole("cycles", 0, 0);
		count_whole("cycles:k", 0, 0);
		count_whole("cycles", 1, 0);
		count_whole("cycles", 0, PFM_SESSION_SYSTEM_WIDE);
		/* Without, and with no level to blame. */
		fake.decide = ordinary_user;
		fake.number = 3;
		options.flags = 0;
		options.pid = 0;
		must_open(TEXTS("cycles:u"));
		run();
		expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
		if (i > 6)
			expect_why(0, "perf_event_paranoid cannot be read");
		end_session();
	}
}

static int refuse_one(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	switch (f->number) {
	case 0: return attr->config & 0xff00 ? -EINVAL : 0;
	case 1: return attr->config1 ? -EINVAL : 0;
	case 2: return attr->precise_ip ? -EOPNOTSUPP : 0;
	case 3: return attr->exclude_kernel || attr->exclude_hv || attr->exclude_user ? -EINVAL : 0;
	case 4: return attr->pinned ? -EINVAL : 0;
	case 5: return attr->inherit ? -EINVAL : 0;
	case 6: return attr->type == 4 ? -EINVAL : 0;
	case 7: return attr->type == 5 ? -EINVAL : 0;
	case 8: return attr->enable_on_exec ? -EOPNOTSUPP : 0;
	case 9: return attr->exclude_host || attr->exclude_guest || attr->exclude_idle ? -EINVAL : 0;
	default: return attr->size == 17 * sizeof(uint64_t) && ((const uint64_t *)(const void *)attr)[16] ? -EINVAL : 0;
	}
}

static void refused_settings_are_named(void **state)
{
	static const struct {
		int refused;
		unsigned flags;
		const char *text, *why;
	} rows[] = {
		{ 0, 0, "cpu/event=0xc0,umask=0x12/", "umask=0x12" },
		{ 1, 0, "cpu/event=0xcd,ldlat=3/", "ldlat=0x3" },
		{ 2, 0, "cpu/instructions/pp", "the precise level" },
		{ 3, 0, "cpu/instructions/u", "leaving the kernel out" },
		{ 3, 0, "cpu/instructions/k", "leaving user code out" },
		{ 3, 0, "cpu/instructions/uk", "leaving the hypervisor out" },
		{ 9, 0, "cpu/instructions/G", "leaving the host out (G)" },
		{ 9, 0, "cpu/instructions/H", "leaving guests out (H)" },
		{ 9, 0, "cpu/instructions/I", "leaving idle time out (I)" },
		{ 3, 0, "cpu/instructions/h", "choosing levels" },
		{ 4, 0, "cpu/instructions/D", "pinning" },
		{ 5, PFM_SESSION_INHERIT, "cpu/instructions/", "counting children" },
		{ 6, 0, "cpu/instructions/", "config=0xc0" },
		{ 6, 0, "r5300c0", "no field for 0x530000" },
		{ 7, 0, "mem:0x1001/4:w", "4 bytes at 0x1001" },
		{ 8, PFM_SESSION_ENABLE_ON_EXEC, "cpu/instructions/", "starting with the program" },
		{ 10, 0, "wide/event=1,far=0x77/", "far=0x77" },
	};

	(void)state;
	machine("uncore");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/type", "60");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/event", "config:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/far", "config3:0-7");
	fake.decide = refuse_one;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.number = rows[i].refused;
		options.flags = rows[i].flags;
		must_open(&rows[i].text, 1);
		run();
		expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
		expect_why(0, rows[i].why);
		end_session();
	}
	/* What is wrong alone is not the group's fault. */
	fake.number = 0;
	options.flags = 0;
	must_open(TEXTS("{cpu/instructions/,cpu/event=0xc0,umask=0x12/}"));
	run();
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(1, "umask=0x12");
}

static int as_number_says(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY ? 0 : -f->number;
}

/* What happened to be gone, taken or short was missed; the rest cannot be had as it was asked. */
static int unopened(int cause)
{
	static const int missed[] = { PFM_CAUSE_BUSY, PFM_CAUSE_FILES, PFM_CAUSE_NO_PROCESS, PFM_CAUSE_NO_CPU, PFM_CAUSE_MEMORY,
		                      PFM_CAUSE_OTHER };

	for (unsigned i = 0; i < sizeof(missed) / sizeof(missed[0]); i++)
		if (missed[i] == cause)
			return PFM_QUALITY_NOT_COUNTED;
	return PFM_QUALITY_NOT_SUPPORTED;
}

static void errors_have_causes(void **state)
{
	static const struct {
		int err;
		const char *text;
		int cause;
		const char *why;
	} rows[] = {
		{ ENOENT, "cycles", PFM_CAUSE_NO_PMU, "no event for it" },
		{ ENOENT, "page-faults", PFM_CAUSE_NO_KERNEL, "software" },
		{ ENOENT, "mem:0x1000", PFM_CAUSE_NO_PMU, "breakpoint registers" },
		{ ENOENT, "sched:sched_switch", PFM_CAUSE_NO_KERNEL, "tracepoint" },
		{ EINVAL, "cycles", PFM_CAUSE_NO_PMU, "no event for it" },
		{ ENOENT, "amd_l3/event=1/", PFM_CAUSE_NO_PMU, "amd_l3" },
		{ EBUSY, "cycles", PFM_CAUSE_BUSY, "holds" },
		{ ENOSPC, "mem:0x1000", PFM_CAUSE_BUSY, "breakpoint registers are in use" },
		{ ESRCH, "cycles", PFM_CAUSE_NO_PROCESS, "" },
		{ ENODEV, "cycles", PFM_CAUSE_NO_CPU, "" },
		{ EMFILE, "cycles", PFM_CAUSE_FILES, "ulimit -n" },
		{ ENFILE, "cycles", PFM_CAUSE_FILES, "fs.file-max" },
		{ ENOMEM, "cycles", PFM_CAUSE_MEMORY, "" },
		{ E2BIG, "cycles", PFM_CAUSE_ATTRIBUTE, "newer kernel" },
		{ ENOSYS, "cycles", PFM_CAUSE_NO_KERNEL, "CONFIG_PERF_EVENTS" },
		{ EOPNOTSUPP, "cycles", PFM_CAUSE_NO_PMU, "no event" },
		{ EFAULT, "cycles", PFM_CAUSE_OTHER, "14" },
		/* Alpha's driver for events the processor lacks. */
		{ EPERM, "cache-references", PFM_CAUSE_NO_PMU, "no such event" },
		{ EACCES, "cache-references:u", PFM_CAUSE_PERMISSION, "CAP_PERFMON" },
	};

	(void)state;
	machine("uncore");
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", "3");
	fake.decide = as_number_says;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.number = rows[i].err;
		must_open(&rows[i].text, 1);
		run();
		if (counts[0].cause != rows[i].cause)
			fail_msg("errno %d on %s: %s (%s)", rows[i].err, rows[i].text, pfm_cause_name(counts[0].cause), about(0).why);
		expect_count(0, unopened(rows[i].cause), rows[i].cause);
		expect_why(0, rows[i].why);
		assert_int_equal(counts[0].sys_errno, rows[i].err);
		end_session();
	}
}

/* The same error in other surroundings. */
static void expect_refusal(int err, const char *text, const char *why)
{
	fake.number = err;
	must_open(&text, 1);
	run();
	assert_true(counts[0].quality >= PFM_QUALITY_NOT_COUNTED);
	expect_why(0, why);
	end_session();
}

static void surroundings_are_part_of_the_reason(void **state)
{
	static const char paranoid[] = "/proc/sys/kernel/perf_event_paranoid";

	(void)state;
	machine("uncore");
	fake.decide = as_number_says;
	fake_file(&fake, paranoid, "1");
	expect_refusal(EACCES, "sched:sched_switch", "may not use tracepoints");
	expect_refusal(EACCES, "instructions", "a security module or a container's filter");
	fake_file(&fake, paranoid, "low");
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_file(&fake, paranoid, "-100");
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_remove(&fake, paranoid);
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_file(&fake, "/proc/self/limits", "Limit Soft Hard Units");
	expect_refusal(EMFILE, "instructions", "no more files can be opened");
	done(NULL);
	machine("uncore");
	fake_file(&fake, "/proc/sys/kernel/nmi_watchdog", "1");
	fake.decide = as_number_says;
	expect_refusal(EBUSY, "instructions", "nmi_watchdog=0");
}

static int alpha(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	if (f->number && !attr->exclude_kernel)
		return -EACCES;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return 0;
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ? -EINVAL : 0;
}

static void pmu_that_cannot_leave_levels_out(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = alpha;
	must_open(TEXTS("cycles", "cycles:u", "page-faults:u"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", "2");
	fake.number = 1;
	must_open(TEXTS("cycles", "page-faults"));
	run();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	assert_string_equal(about(0).name, "cycles");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void machine_without_pmu(void **state)
{
	(void)state;
	machine("hybrid");
	for (unsigned i = fake.n_files; i-- > 0;)
		if (strstr(fake.files[i].path, "/cpu_"))
			fake_remove(&fake, fake.files[i].path);
	fake.decide = as_number_says;
	fake.number = ENOENT;
	must_open(TEXTS("cycles", "L1-dcache-load-misses", "r412e"));
	run();
	for (unsigned i = 0; i < 3; i++) {
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
		expect_why(i, "no PMU");
	}
}

static void events_of_other_processors_are_not_counted(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("montecito::CPU_OP_CYCLES_ALL", "ev67::retinst", "task-clock"));
	run();
	assert_int_equal(fake_open_events(&fake), 1);
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_why(0, "this machine has no montecito");
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* Linux on Alpha: one mode for both counters, so no levels; ProfileMe is not counted at all. */
static void linux_on_alpha_counts_what_its_driver_has(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/cpu/type", "4");
	fake_file(&fake, "/sys/bus/event_source/devices/software/type", "1");
	open_context("alpha-11");
	must_open(TEXTS("ev67::retinst", "ev67::retinst:u", "ev67::inflt_retires", "ev67::inflt_retires:u"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(event(1)->a.attr.type, PERF_TYPE_RAW);
	assert_false(event(1)->a.attr.exclude_hv);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(1, "cannot tell privilege levels apart");
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_why(2, "Linux has no way to count this event");
	expect_count(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	end_session();
	options.plm = PFM_PLM3; /* a wish for all that can tell them apart */
	must_open(TEXTS("ev67::retinst", "page-faults"));
	run();
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(fake.events[fake.n_events - 1].a.attr.exclude_kernel);
}

/* Its processor is known, its driver is not loaded. */
static void processors_without_their_driver(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/software/type", "1");
	open_context("0x00000000413fff01");
	must_open(TEXTS("armv8::CPU_CYCLES"));
	run();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_why(0, "the kernel exports no PMU for armv8");
}

static void generic_names_between_slashes(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	machine("uncore");
	assert_int_equal(pfm_encode_event(ctx, "cpu/cycles/u", 0, &e, &error), PFMLIB_SUCCESS);
	assert_true(e.attr.type == 4 && e.attr.config == 0x3c && e.attr.exclude_kernel);
	assert_int_equal(pfm_encode_event(ctx, "cpu/CPU-CYCLES,edge/", 0, &e, &error), PFMLIB_SUCCESS);
	assert_int_equal(e.attr.config, 0x4003c);
	assert_int_equal(pfm_encode_event(ctx, "cpu/stalled-cycles-backend/", 0, &e, &error), PFMLIB_ERR_ATTR); /* it has no file */
	assert_int_equal(pfm_encode_event(ctx, "uncore_imc/cycles/", 0, &e, &error), PFMLIB_ERR_ATTR);
}

/* An Intel processor without a list of its own, whose CPUID says that the misses of the last cache cannot be counted. */
static bool lacking_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	static const uint32_t leaves[3][5] = { { 0, 0xa, 0x756e6547, 0x6c65746e, 0x49656e69 },
		                               { 1, 0xf0fff },
		                               { 0xa, 0x07300402, 1u << 4 } };

	(void)sys;
	(void)subleaf;
	for (unsigned i = 0; i < 3; i++)
		if (leaves[i][0] == leaf) {
			memcpy(regs, &leaves[i][1], 4 * sizeof(*regs));
			return true;
		}
	return false;
}

/* The processor says itself which of the architectural events it lacks, whatever was asked before. */
static void ask_for_missing(bool loaded, bool by_number)
{
	pfm_encoding_t e = PFM_INIT(e);
	struct event ev;
	int pmu = pfm_find_pmu(ctx, "intel_arch"), rc;
	unsigned row = 0;

	assert_true(pmu >= 0 && !pfmi_ctx_loaded(ctx, LOADED_ALL));
	while (strcmp(table_row_name(pfmi_unit_table(ctx, (unsigned)pmu), row), "LLC_MISSES") != 0)
		row++;
	if (loaded)
		assert_true(pfm_count_pmus(ctx) > 0);
	rc = by_number ? pfm_encode_event_at(ctx, pmu, row, 0, &e, &error)
	               : pfm_encode_event(ctx, "intel_arch::LLC_MISSES", 0, &e, &error);
	assert_int_equal(rc, PFMLIB_ERR_BADHOST);
	assert_int_equal(error.kind, PFM_KIND_NOT_ON_CPU);
	assert_int_equal(pfmi_ctx_event_on(ctx, "LLC_MISSES", (unsigned)pmu, &ev, &error), PFMLIB_ERR_BADHOST);
	assert_int_equal(pfm_encode_event(ctx, "intel_arch::LLC_REFERENCES", 0, &e, &error), PFMLIB_SUCCESS);
	/* Another processor's list is not this one's business. */
	assert_int_equal(pfm_encode_event(ctx, "coreduo::LLC_MISSES", 0, &e, &error), PFMLIB_SUCCESS);
}

static void architectural_events_may_be_missing(void **state)
{
	(void)state;
	machine("uncore");
	for (unsigned i = 0; i < 4; i++) {
		pfm_close_context(ctx);
		open_context(NULL);
		ctx->sys.cpuid = lacking_cpuid;
		ask_for_missing(i & 1, i & 2);
	}
}

static int no_system_call(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)group;
	return -ENOSYS;
}

static void kernel_without_perf(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = no_system_call;
	must_open(TEXTS("cycles", "page-faults"));
	assert_int_equal(pfm_start_session(session), 0);
	read_all();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_KERNEL);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_KERNEL);
	end_session();
	options.backend = "perf_event";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(error.sys_errno, ENOSYS);
	assert_int_equal(error.event, -1);
	options.backend = "nothing";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
}

/* Nothing on this machine counts: every event says so, that it is another processor's said before. */
static void a_machine_without_anything_that_counts(void **state)
{
	(void)state;
	fake_begin(&fake);
	open_context("GenuineIntel-6-55-4");
	fake.decide = no_system_call;
	must_open(TEXTS("page-faults", "skx::INST_RETIRED.ANY"));
	run();
	for (unsigned i = 0; i < 2; i++) {
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_KERNEL);
		expect_why(i, "the kernel has no perf_event_open");
	}
	end_session();
	strcpy(ctx->sys.root, "/recorded");
	must_open(TEXTS("page-faults"));
	read_all();
	expect_why(0, "/recorded is a recorded machine: nothing can be counted");
	end_session();
	options.flags = PFM_SESSION_STRICT;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_NOTSUPP);
}

static void too_few_descriptors(void **state)
{
	(void)state;
	machine("uncore");
	fake_file(&fake, "/proc/self/limits", "Limit Soft Hard Units\nMax open files            10        4096  files");
	fake.limit = 10;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles", "instructions"));
	/* The second needs seven and got three: it gives them back. */
	assert_int_equal(fake_open_events(&fake), 7);
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_FILES);
	expect_why(1, "10 files");
	expect_why(1, "needs 14");
}

static void strict_sessions_fail_as_a_whole(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = no_cycles;
	options.flags = PFM_SESSION_STRICT;
	assert_int_equal(open_texts(TEXTS("page-faults", "cycles")), PFMLIB_ERR_NOPMU);
	assert_null(session);
	assert_int_equal(error.event, 1);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(fake.n_open, 0);
	must_open(TEXTS("page-faults", "instructions"));
}

static void texts_that_are_wrong(void **state)
{
	static const struct {
		const char *text;
		int code;
		uint32_t start, end;
	} rows[] = {
		{ "{cycles,instructions", PFMLIB_ERR_SYNTAX, 0, 1 },
		{ "{cycles,}", PFMLIB_ERR_SYNTAX, 8, 8 },
		{ "{}", PFMLIB_ERR_SYNTAX, 1, 1 },
		{ "{cycles}:q", PFMLIB_ERR_ATTR, 9, 10 },
		{ "{cycles, nothing}", PFMLIB_ERR_NOTFOUND, 9, 16 },
		{ "nothing", PFMLIB_ERR_NOTFOUND, 0, 7 },
		{ "DW", PFMLIB_ERR_NOTFOUND, 0, 2 },
		{ "{cycles,cpu/event=0x100/}", PFMLIB_ERR_ATTR_VAL, 18, 23 },
	};
	static char many[1024];

	(void)state;
	machine("uncore");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = open_texts((const char *const[]){ "page-faults", rows[i].text }, 2);

		if (rc != rows[i].code || error.event != 1 || error.start != rows[i].start || error.end != rows[i].end)
			fail_msg("%s: %d at %u-%u of event %d", rows[i].text, rc, error.start, error.end, error.event);
		assert_null(session);
	}
	for (unsigned i = 0; i < 65; i++)
		snprintf(many + 4 * (size_t)i, 6, "%cr%x}", i ? ',' : '{', 0x10 + i);
	assert_int_equal(open_texts((const char *const[]){ many }, 1), PFMLIB_ERR_TOOMANY);
	assert_string_equal(error.detail, "at most 64 events in a group");
	assert_int_equal(error.start, 1 + 64 * strlen("r10,"));
	assert_int_equal(open_texts((const char *const[]){ NULL }, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(open_texts((const char *const[]){ "cycles" }, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_session(NULL, ctx, NULL, (const char *const[]){ "cycles" }, 1, NULL), PFMLIB_ERR_INVAL);
}

static void lists_in_braces(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("{cpu/event=0xc0,umask=0x0,cmask=1/,mem:0x1000/4:w,page-faults}:u"));
	assert_int_equal(pfm_count_session(session), 3);
	assert_string_equal(about(0).name, "cpu/event=0xc0,umask=0x0,cmask=1/u");
	assert_string_equal(about(1).name, "mem:0x1000/4:w:u");
	assert_true(about(1).attr.exclude_kernel);
	assert_int_equal(event(2)->a.attr.config, 0); /* of a breakpoint: its address is in the next word */
	assert_int_equal(event(2)->a.attr.bp_addr, 0x1000);
	end_session();
	must_open(TEXTS("  { cycles, instructions}S"));
	assert_string_equal(about(1).name, "instructions");
	end_session();
	must_open(TEXTS("{intel_arch::UNHALTED_CORE_CYCLES,cmask=1,inv,page-faults}"));
	assert_int_equal(pfm_count_session(session), 2);
}

/* A group is a set, a list is not: who asks twice for a count gets two, but a group has one counter for it. */
static void an_event_is_in_a_group_once(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("{cycles,instructions,cycles,cycles:u}", "cycles", "cycles"));
	assert_int_equal(pfm_count_session(session), 5);
	assert_int_equal(fake_open_events(&fake), 5);
	assert_string_equal(about(1).name, "instructions");
	assert_string_equal(about(2).name, "cycles:u");
	assert_int_equal(about(2).group, about(0).group);
	assert_int_equal(about(3).request, 1);
	assert_int_equal(about(4).request, 2);
	assert_int_not_equal(about(3).group, about(4).group);
	end_session();
	must_open(TEXTS("{page-faults,page-faults}:u"));
	assert_int_equal(pfm_count_session(session), 1);
	assert_string_equal(about(0).name, "page-faults:u");
}

static void places_that_cannot_be_grouped(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("{cycles,uncore_imc/clockticks/,page-faults}"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	must_open(TEXTS("{cycles,uncore_imc/clockticks/}:W"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static int old_kernel(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->inherit && attr->read_format & PERF_FORMAT_GROUP ? -EINVAL : 0;
}

static void kernel_that_cannot_read_inherited_groups(void **state)
{
	(void)state;
	machine("uncore");
	fake.decide = old_kernel;
	options.flags = PFM_SESSION_INHERIT;
	must_open(TEXTS("{cycles,instructions}"));
	assert_int_equal(fake.events[2].group, fake_fd(1));
	run();
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(counts[1].value, 3000);
}

static void user_space_reads_fall_back(void **state)
{
	pfm_count_t count = PFM_INIT(count);

	(void)state;
	machine("uncore");
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
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

#ifdef __x86_64__

/* What RDPMC would answer. Here it is a trap: the machine need not have the counter, and must not let this program read it. */
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
static struct perf_event_mmap_page *page_of(unsigned i, uint32_t index, uint64_t offset, uint64_t raw)
{
	struct perf_event_mmap_page *page = event(i)->page;

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
	struct sigaction answer = { .sa_sigaction = answer_rdpmc, .sa_flags = SA_SIGINFO | SA_NODEFER }, old[2];
	struct perf_event_mmap_page *page;
	pfm_count_t count = PFM_INIT(count);
	uint64_t before;

	(void)state;
	machine("uncore");
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
	/* The counter holds the lower bits of a number below zero: it was set so that it overflows in time. */
	page_of(1, 3, 5000, 0xfffffffffff0);
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 5000 - 16);
	page->pmc_width = 64;
	rdpmc.value = UINT64_MAX;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 4999);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 0);
	/* Shared, and the page has no clock: the kernel knows for how long. */
	page->time_running = 500;
	rdpmc.n = 0;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.value, 2000);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 1);
	assert_int_equal(rdpmc.n, 0);
	/* With one: a quarter of a nanosecond for each tick, of which time_offset are not this event's. */
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
	/* What that reading had to say is said of the next one no more. */
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* A clock of few bits, that may have gone round since the page was written. */
	page->cap_user_time_short = 1;
	page->time_mask = 0;
	page->time_cycles = 4000;
	page->time_offset = 7;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_int_equal(count.enabled, 3000000000000000 + 7 + 1000);
	/* Stopped: the page is not asked. */
	assert_int_equal(pfm_stop_session(session), 0);
	rdpmc.n = 0;
	assert_int_equal(pfm_read_count(session, 0, &count), PFMLIB_SUCCESS);
	assert_true(rdpmc.n == 0 && count.value == 2000);
	for (unsigned i = 0; i < 2; i++)
		sigaction(signals[i], &old[i], NULL);
}

#endif

static void arm_is_asked_for_user_space_reads(void **state)
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
	assert_int_equal(event(1)->a.attr.config1, 2);
	assert_int_equal(event(2)->a.attr.config1, 3);
	assert_int_equal(event(3)->a.attr.config1, 0);
	end_session();
	/* A kernel that does not let it: counted all the same. */
	fake.decide = refuse_one;
	fake.number = 1;
	must_open(TEXTS("cycles"));
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* ---- dry runs ---------------------------------------------------------------------------------------------------------------- */

/* What part @k of the session would be opened as. */
static void expect_part(unsigned k, unsigned type, uint64_t config, int pid, int cpu, int lead)
{
	const struct perf_state *st = session->state;
	const struct part *p = &st->parts[k];
	union attr a;

	assert_true(k < st->n_parts);
	pfmi_perf_attr(session, p->count, k - session->counts[p->count].opened.part, p->lead < 0, &a);
	assert_int_equal(a.attr.type, type);
	assert_int_equal(type == PERF_TYPE_BREAKPOINT ? a.attr.bp_type : a.attr.config, config);
	assert_int_equal(p->pid, pid);
	assert_int_equal(p->cpu, cpu);
	assert_int_equal(p->lead, lead);
}

static void dry_run_plans_and_opens_nothing(void **state)
{
	(void)state;
	machine("hybrid");
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("{cpu_core/instructions/,cpu_core/cache-misses/}:u", "uncore_imc/data_reads/"));
	expect_part(0, 4, 0xc0, 0, -1, -1);
	expect_part(1, 4, 0x412e, 0, -1, 0);
	expect_part(2, 21, 1, -1, 0, -1);
	expect_part(3, 22, 1, -1, 0, -1);
	assert_true(about(0).attr.exclude_kernel);
	run();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	expect_why(0, "dry run");
	assert_int_equal(about(2).n_parts, 2);
	end_session();
	must_open(TEXTS("slots"));
	expect_why(0, "cpu_atom does not have the event: not counted on CPUs 4-7");
	end_session();
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/43/x", "");
	options.pid = 42;
	options.flags |= PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_USER_READ;
	must_open(TEXTS("cpu_core/instructions/pD", "mem:0x1000/4:w"));
	expect_part(0, 4, 0xc0, 42, -1, -1);
	expect_part(1, 4, 0xc0, 43, -1, -1);
	expect_part(2, 5, 2, 42, -1, -1);
	expect_part(3, 5, 2, 43, -1, -1);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	end_session();
	options.pid = 0;
	options.flags = PFM_SESSION_DRY_RUN | PFM_SESSION_USER_READ;
	must_open(TEXTS("cpu_core/instructions/")); /* there is no page to map */
	assert_int_equal(pfm_read_count(session, 0, &counts[0]), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

/* The names of backends are checked there, too. */
static void dry_run_for_another_backend(void **state)
{
	(void)state;
	machine("uncore");
	options.backend = "pfm_device";
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("ev6::cycles"));
	assert_string_equal(about(0).pmu, "ev6");
	assert_string_equal(about(0).why, "");
	end_session();
	options.backend = "record";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "no backend of that name");
	assert_int_equal(fake.uses[FAKE_PERF], 0);
}

static void dry_runs_on_shared_machines(void **state)
{
	static const struct {
		const char *name, *cpuid, *text;
		unsigned counts, parts;
	} rows[] = {
		{ "adl", "GenuineIntel-6-97-2", "instructions", 2, 1 },
		{ "lnl", "GenuineIntel-6-BD-1", "{cycles,instructions}", 4, 1 },
		{ "skx", "GenuineIntel-6-55-4", "uncore_cha/event=0x35,umask=0x3/", 1, 0 },
		{ "spr", "GenuineIntel-6-8F-8", "cpu/instructions/u", 1, 1 },
		{ "zen4", "AuthenticAMD-25-61-2", "instructions", 1, 1 },
		{ "neoverse-n1", "0x00000000413fd0c1", "armv8_pmuv3_0/event=0x8/", 1, 1 },
		{ "power9", "0x004e1202", "cpu/event=0x2/", 1, 1 },
		{ "z15", "IBM,8561,703,T01,3.6,002f", "cpum_cf/event=32/", 1, 1 },
		{ "riscv-u74", "0x489-0x8000000000000007-0x0", "cpu/event=2/", 1, 1 },
	};
	char path[512], name[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned boxes = 0;

		snprintf(name, sizeof(name), "data/sysfs/%s.txt", rows[i].name);
		fake_begin(&fake);
		if (!fake_machine(&fake, shared_path(path, sizeof(path), name))) {
			fake_end(&fake);
			machine("uncore");
			print_message("# SKIP %s is not there\n", path);
			skip();
		}
		for (unsigned k = 0; k < fake.n_files; k++)
			boxes += strstr(fake.files[k].path, "/uncore_cha_") && strstr(fake.files[k].path, "/type");
		open_context(rows[i].cpuid);
		options.flags = PFM_SESSION_DRY_RUN;
		must_open(&rows[i].text, 1);
		assert_int_equal(fake.uses[FAKE_PERF], 0);
		assert_int_equal(pfm_count_session(session), rows[i].counts);
		for (unsigned k = 0; k < rows[i].counts; k++)
			assert_int_equal(about(k).n_parts, rows[i].parts ? rows[i].parts : 2 * boxes); /* two packages */
		done(NULL);
	}
	machine("uncore");
}

/* ---- everything fails once ------------------------------------------------------------------------------------------------------ */

static const char *const everything[] = {
	"{cycles,instructions,page-faults}:u",
	"uncore_imc/cas_count_read/",
	"{branch-misses,cpu/event=0x1/}:W",
	"mem:0x1000/4:w",
	"context-switches",
	"cpu/instructions,cmask=1/pp",
};

/* A whole session, whatever its steps say. */
static void try_all(void)
{
	int rc = open_texts(everything, sizeof(everything) / sizeof(everything[0]));
	unsigned n = pfm_count_session(session);

	assert_true(rc <= 0 && (rc == 0) == (session != NULL));
	if (rc) {
		assert_int_equal(fake.n_open, 0);
		assert_int_equal(fake.n_maps, 0);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	if (pfm_start_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_reset_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_stop_session(session) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	if (pfm_read_session(session, counts, n) < 0)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	/* A count that was not taken has no value. */
	for (unsigned i = 0; i < n; i++)
		if (counts[i].quality >= PFM_QUALITY_NOT_COUNTED)
			assert_int_equal(counts[i].value, 0);
	end_session();
}

static void every_call_may_fail(void **state)
{
	static const int errors[] = { EMFILE, EACCES, EINVAL, ENOENT, EBUSY, ESRCH, ENODEV, ENOSPC, EOPNOTSUPP, ENOMEM, EIO };
	static const unsigned flags[] = { 0, PFM_SESSION_SYSTEM_WIDE, PFM_SESSION_STRICT | PFM_SESSION_USER_READ | PFM_SESSION_INHERIT };

	/* Emulators and valgrind are slow: one error that passes and one that stays. */
	unsigned step = getenv("PERFMON_QUICK") ? 7 : 1;

	(void)state;
	machine("uncore");
	must_open(TEXTS("cycles")); /* the context is loaded now; test_kernel.c makes that fail */
	end_session();
	for (unsigned f = 0; f < 3; f++)
		for (unsigned e = 0; e < sizeof(errors) / sizeof(errors[0]); e += step)
			for (unsigned call = 0; call < N_FAKE_CALLS; call++)
				for (unsigned at = 1; at == 1 || fake.uses[call] >= at - 1; at++) {
					memset(fake.uses, 0, sizeof(fake.uses));
					fake.n_events = 0;
					options.flags = flags[f];
					fake.fail = (enum fake_call)call;
					fake.fail_at = at;
					fake.fail_on = e % 2;
					fake.fail_errno = errors[e];
					try_all();
				}
	fake.fail_at = 0;
}

static void interrupted_calls_are_repeated(void **state)
{
	static const enum fake_call calls[] = { FAKE_PERF, FAKE_IOCTL, FAKE_READ_PERF };

	(void)state;
	machine("uncore");
	for (unsigned i = 0; i < 3; i++) {
		fake.uses[calls[i]] = 0;
		fake.fail = calls[i];
		fake.fail_at = 2;
		fake.fail_errno = EINTR;
		must_open(TEXTS("cycles", "instructions"));
		run();
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		end_session();
	}
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("cycles")); /* the context is loaded: what follows are the session's own */
	end_session();
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	for (unsigned at = 1;; at++) {
		int rc;

		starve_at = at;
		starve_hit = false;
		rc = open_texts(everything, 2);
		starve_at = 0;
		if (!starve_hit) {
			assert_int_equal(rc, PFMLIB_SUCCESS);
			return;
		}
		if (rc == 0)
			end_session(); /* fake_sys's own memory is not the library's: it aborts, so this was someone's spare */
		else
			assert_int_equal(rc, PFMLIB_ERR_NOMEM);
		assert_null(session);
		assert_int_equal(fake.n_open, 0);
	}
}

static void wrong_arguments(void **state)
{
	pfm_count_t small = { .size = offsetof(pfm_count_t, enabled) };
	pfm_count_info_t info = PFM_INIT(info);

	(void)state;
	machine("uncore");
	assert_int_equal(pfm_start_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_stop_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_reset_session(NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(NULL, &small, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_count_session(NULL), 0);
	pfm_close_session(NULL);
	must_open(TEXTS("cycles", "instructions"));
	small.enabled = 77;
	assert_int_equal(pfm_start_session(session), 0);
	assert_int_equal(pfm_read_session(session, &small, 1), PFMLIB_SUCCESS); /* fewer than there are: the first ones */
	assert_int_equal(small.value, 2000);
	assert_int_equal(small.enabled, 77);
	assert_int_equal(pfm_describe_count(session, 2, &info), PFMLIB_ERR_INVAL);
	small.size = 0;
	assert_int_equal(pfm_read_session(session, &small, 1), PFMLIB_ERR_INVAL);
	assert_string_equal(pfm_quality_name(PFM_QUALITY_NOT_SUPPORTED), "not supported");
	assert_string_equal(pfm_quality_name(99), "");
	assert_string_equal(pfm_quality_name(-1), "");
	assert_string_equal(pfm_cause_name(99), "");
	assert_int_equal(pfm_session_errno(NULL), 0);
	assert_int_equal(pfm_read_count(NULL, 0, &small), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_count(session, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_count(session, 0, &small), PFMLIB_ERR_INVAL); /* its size is 0 now */
	assert_int_equal(pfm_describe_count(NULL, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_count(session, 0, NULL), PFMLIB_ERR_INVAL);
	info.size = sizeof(size_t) - 1;
	assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(session, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_session(session, NULL, 0), PFMLIB_SUCCESS);
	assert_string_equal(pfm_cause_name(PFM_CAUSE_NO_PMU), "no PMU");
	assert_string_equal(pfm_cause_name(-1), "");
}

static void sessions_keep_their_context(void **state)
{
	(void)state;
	machine("uncore");
	must_open(TEXTS("cycles"));
	pfm_close_context(ctx);
	run();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	ctx = NULL;
}

/* ---- differences -------------------------------------------------------------------------------------------------------------- */

static pfm_count_t reading(uint64_t value, uint64_t raw, uint64_t enabled, uint64_t running, int quality)
{
	pfm_count_t c = PFM_INIT(c);

	c.value = value;
	c.raw = raw;
	c.enabled = enabled;
	c.running = running;
	c.quality = quality;
	return c;
}

static void differences_are_judged_by_their_own_times(void **state)
{
	static const struct {
		uint64_t first[4], second[4]; /* value, raw, enabled, running */
		int qualities[2], level;
		uint64_t value;
		int quality, cause;
	} lines[] = {
		/* Shared before, not shared since. */
		{ { 2000, 1000, 100, 50 }, { 2000, 1500, 200, 150 }, { 1, 1 }, 0, 500, PFM_QUALITY_EXACT, 0 },
		/* The other way round: half of the time. */
		{ { 1000, 1000, 100, 100 }, { 1600, 1200, 200, 150 }, { 0, 1 }, 0, 400, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED },
		{ { 1000, 1000, 100, 100 }, { 2000, 1000, 200, 100 }, { 0, 1 }, 0, 0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED },
		/* What it counted meanwhile was counted in no time: there is no value. */
		{ { 1000, 1000, 100, 100 }, { 2006, 1003, 200, 100 }, { 0, 1 }, 0, 0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED },
		/* A level falls. */
		{ { 80, 80, 100, 100 }, { 60, 60, 200, 200 }, { 0, 0 }, 1, 60, PFM_QUALITY_EXACT, 0 },
		/* Reset in between. */
		{ { 80, 80, 100, 100 }, { 60, 60, 50, 50 }, { 0, 0 }, 0, 60, PFM_QUALITY_EXACT, 0 },
		/* On another type of core for half of the time, which is known to be no loss. */
		{ { 10, 10, 100, 50 }, { 30, 30, 200, 100 }, { 0, 0 }, 0, 20, PFM_QUALITY_EXACT, 0 },
		{ { 10, 10, 100, 50 }, { 30, 30, 200, 100 }, { 2, 2 }, 0, 20, PFM_QUALITY_PARTIAL, 0 },
		/* Nothing to begin with; and nothing at all. */
		{ { 0, 0, 0, 0 }, { 7, 7, 10, 10 }, { 3, 0 }, 0, 7, PFM_QUALITY_EXACT, 0 },
		{ { 7, 7, 10, 10 }, { 0, 0, 0, 0 }, { 0, 4 }, 0, 0, PFM_QUALITY_NOT_SUPPORTED, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const uint64_t *f = lines[i].first, *l = lines[i].second;
		pfm_count_t a = reading(f[0], f[1], f[2], f[3], lines[i].qualities[0]);
		pfm_count_t b = reading(l[0], l[1], l[2], l[3], lines[i].qualities[1]), d = PFM_INIT(d);

		assert_int_equal(pfm_count_between(&a, &b, lines[i].level, &d), 0);
		if (d.value != lines[i].value || d.quality != lines[i].quality || d.cause != lines[i].cause)
			fail_msg("line %u: %llu, %s, %s", i, (unsigned long long)d.value, pfm_quality_name(d.quality),
			         pfm_cause_name(d.cause));
		assert_int_equal(pfm_count_between(&a, &b, lines[i].level, &b), 0);
		assert_int_equal(b.value, d.value);
	}
}

static void levels_are_marked(void **state)
{
	(void)state;
	machine("hybrid");
	fake_file(&fake, "/sys/bus/event_source/devices/uncore_imc_0/events/data_reads.snapshot", "1");
	must_open(TEXTS("uncore_imc/data_reads/", "cycles"));
	assert_int_equal(about(0).is_level, 1);
	assert_int_equal(about(1).is_level, 0);
}

#define BIG "adl_goldencove::"

/* What must be counted alone is so: refused by name in a group, given turns of its own outside of one. */
static void counted_alone(void **state)
{
	static const char group[] = "{" BIG "L2_RQSTS.MISS," BIG "FRONTEND_RETIRED.DSB_MISS}";

	(void)state;
	machine("hybrid");
	assert_int_equal(open_texts(TEXTS(group)), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.kind, PFM_KIND_ALONE);
	assert_memory_equal(group + error.start, BIG "FRONTEND_RETIRED.DSB_MISS", error.end - error.start);
	assert_int_equal(group[error.end], '}');
	assert_int_equal(open_texts(TEXTS("{" BIG "FRONTEND_RETIRED.DSB_MISS,cache-misses}")), PFMLIB_ERR_NOASSIGN);
	must_open(TEXTS("{" BIG "INST_RETIRED.ANY," BIG "FRONTEND_RETIRED.DSB_MISS,cpu_core/cycles/}", BIG "INST_RETIRED.ANY"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_false(fake.events[i].used && fake.events[i].a.attr.exclusive);
	end_session();
	must_open(TEXTS(BIG "FRONTEND_RETIRED.DSB_MISS", BIG "L2_RQSTS.MISS"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used || fake.events[i].a.attr.exclusive == (fake.events[i].a.attr.config == 0x1c6));
	end_session();
	/* Beside what the kernel's own fields say. */
	must_open(TEXTS(BIG "FRONTEND_RETIRED.DSB_MISS", "cpu_core/event=0xd1,umask=0x1/"));
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_true(!fake.events[i].used || fake.events[i].a.attr.exclusive == (fake.events[i].a.attr.config == 0x1c6));
	end_session();
	must_open(TEXTS("{" BIG "FRONTEND_RETIRED.DSB_MISS," BIG "L2_RQSTS.MISS}:W"));
	assert_int_not_equal(about(0).group, about(1).group);
}

/* In braces as outside of them: a qualifier of libpmc belongs to the event before it, however it is written. */
static void qualifiers_within_a_group(void **state)
{
	(void)state;
	machine("uncore");
	options.flags = PFM_SESSION_DRY_RUN;
	must_open(TEXTS("{coreduo::L2_LINES_IN,Edge,cmask=2,coreduo::Instr_Ret,OS}"));
	assert_int_equal(pfm_count_session(session), 2);
	assert_string_equal(about(0).name, "coreduo::L2_LINES_IN,Edge,cmask=2");
	assert_string_equal(about(1).name, "coreduo::Instr_Ret,OS");
}

static int finish(void **state)
{
	starve_at = 0;
	return done(state);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_the_kernel_alone),
		CASE(own_thread),
		CASE(levels),
		CASE(levels_at_which_nothing_happens),
		CASE(nobody_has_a_negative_number),
		CASE(guests_host_and_idle_time),
		CASE(group_is_opened_and_read_as_one),
		CASE(a_pinned_group_is_pinned_by_its_leader),
		CASE(member_that_does_not_fit),
		CASE(weak_group_is_broken_up),
		CASE(group_goes_on_without_its_first),
		CASE(whole_system),
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
		CASE(qualities),
		CASE(qualities_of_levels),
		CASE(zero_is_where_reset_was),
		CASE(clear_readings_may_change),
		CASE(clear_readings_into_other_arrays),
		CASE(causes_of_not_being_counted),
		CASE(parts_are_extrapolated_one_by_one),
		CASE(a_pinned_event_may_lose_some_of_its_counters),
		CASE(no_type_of_core_found_a_counter),
		cmocka_unit_test(extrapolation),
		CASE(kernel_is_left_out_when_it_must),
		CASE(paranoid_levels),
		CASE(level_or_filter),
		CASE(capabilities_count_at_every_level),
		CASE(refused_settings_are_named),
		CASE(errors_have_causes),
		CASE(surroundings_are_part_of_the_reason),
		CASE(pmu_that_cannot_leave_levels_out),
		CASE(machine_without_pmu),
		CASE(events_of_other_processors_are_not_counted),
		CASE(linux_on_alpha_counts_what_its_driver_has),
		CASE(processors_without_their_driver),
		CASE(generic_names_between_slashes),
		CASE(architectural_events_may_be_missing),
		CASE(kernel_without_perf),
		CASE(a_machine_without_anything_that_counts),
		CASE(too_few_descriptors),
		CASE(strict_sessions_fail_as_a_whole),
		CASE(texts_that_are_wrong),
		CASE(lists_in_braces),
		CASE(an_event_is_in_a_group_once),
		CASE(places_that_cannot_be_grouped),
		CASE(kernel_that_cannot_read_inherited_groups),
		CASE(user_space_reads_fall_back),
#ifdef __x86_64__
		CASE(counters_are_read_from_user_space),
#endif
		CASE(arm_is_asked_for_user_space_reads),
		CASE(dry_run_plans_and_opens_nothing),
		CASE(dry_run_for_another_backend),
		CASE(dry_runs_on_shared_machines),
		CASE(every_call_may_fail),
		CASE(interrupted_calls_are_repeated),
		CASE(every_allocation_may_fail),
		CASE(wrong_arguments),
		CASE(sessions_keep_their_context),
		CASE(differences_are_judged_by_their_own_times),
		CASE(qualifiers_within_a_group),
		CASE(counted_alone),
		CASE(levels_are_marked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
