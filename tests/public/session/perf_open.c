/* SPDX-License-Identifier: MIT */
/* Opening of kernel events: whatever events the kernel refuses, the others are complete. Groups
 * know their members, no descriptor leaks, and members are closed before their leaders. */
#include "units.h"
#include <errno.h>
#include "fake_session.h"
#include "repetitions.h"

/* ---- what stays open ------------------------------------------------------------------------- */

static uint64_t seed;
static unsigned one_in; /* number of calls that are refused */

/* A given request always gets the same answer. */
static int refuse_some(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	static const int errors[] = {
		EINVAL, ENODEV, EBUSY, EACCES, ESRCH, ENOENT, EINVAL, ENODEV
	};
	uint64_t hash =
		seed + a->config * 0x9e3779b97f4a7c15 + (uint64_t)(cpu + 2) * 0xc2b2ae3d27d4eb4f;

	(void)f;
	hash += (uint64_t)(pid + 2) * 0xff51afd7ed558ccd + (group >= 0 ? 77 : 0) + a->type;
	for (unsigned i = 0; i < 4; i++)
		unit_random(&hash);
	return hash % one_in ? 0 : -errors[hash / one_in % COUNT(errors)];
}

static int (*real_close)(const struct sys *sys, int fd);

static int close_in_order(const struct sys *sys, int fd)
{
	for (unsigned i = 0; i < fake.n_events; i++)
		assert_false(fake.events[i].used &&
		             fake.events[i].group == fd); /* a member of the group is still open */
	return real_close(sys, fd);
}

/* The members of each group are linked once, in the order of opening, and opened as members. */
static void check_group(const struct perf_state *st, int lead)
{
	const struct kernel_event *l = &st->events[lead];
	const struct fake_event *e;
	unsigned n = 0;
	int last = -1;

	for (int k = l->next_member; k >= 0; k = st->events[k].next_member, n++) {
		assert_true(st->events[k].leader == lead && st->events[k].fd >= 0);
		e = fake_event(&fake, st->events[k].fd);
		assert_non_null(e);
		assert_int_equal(e->group, l->fd);
		assert_true(last < 0 || st->events[k].fd > st->events[last].fd);
		last = k;
	}
	assert_int_equal(l->n_members, n);
	assert_int_equal(l->last_member, last);
}

static void check_session(void)
{
	const struct perf_state *st = session->live.backend_state;
	unsigned open = 0;

	for (unsigned i = 0; i < st->n_events; i++) {
		const struct kernel_event *p = &st->events[i];
		const struct fake_event *e;

		if (p->fd < 0) {
			assert_true(p->leader == -1 && p->next_member == -1 &&
			            p->last_member == -1 && p->n_members == 0);
			continue;
		}
		open++;
		e = fake_event(&fake, p->fd);
		assert_non_null(e);
		assert_true(e->pid == p->pid && e->cpu == p->cpu);
		assert_true((e->group < 0) == (p->leader < 0));
		if (p->leader < 0)
			check_group(st, (int)i);
	}
	assert_int_equal(fake_open_events(&fake), open);
	for (unsigned i = 0; i < session->n_counts; i++) {
		const struct count_kernel_state *o = &session->counts[i].kernel_state;
		unsigned n = 0;

		for (unsigned k = 0; k < o->n_events; k++) {
			n += st->events[o->first_event + k].fd >= 0;
			assert_true(!o->is_ungrouped || st->events[o->first_event + k].leader < 0);
		}
		assert_int_equal(n, o->n_open);
		assert_true(n ||
		            session->counts[i].status.cause); /* a count that failed has a cause */
	}
}

static void whatever_is_refused(void **state)
{
	static const char *const weak[] = { "{cycles,instructions,branches,page-faults}:W",
		                            "{cache-misses,cycles}:W", "branches" };
	static const char *const firm[] = { "{cycles,instructions,branches,page-faults}",
		                            "{cache-misses,cycles}", "branches" };
	static const char *const lone[] = { "page-faults", "context-switches", "minor-faults:u" };
	static const unsigned rates[] = { 3, 10, 40 };

	(void)state;
	for (unsigned round = 0; round < count_repetitions(240); round++) {
		make_machine("uncore");
		fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42\nPid:\t42");
		for (unsigned i = 0; i < 4; i++) {
			char path[64];

			snprintf(path, sizeof(path), "/proc/42/task/%u/x", 42 + i);
			fake_file(&fake, path, "");
		}
		real_close = ctx->sys.close;
		ctx->sys.close = close_in_order;
		fake.decide = refuse_some;
		seed = round;
		one_in = rates[round / 2 % 3];
		options.flags = round % 4 < 2 ? PFM_SESSION_SYSTEM_WIDE : PFM_SESSION_INHERIT;
		options.pid = round % 4 < 2 ? 0 : 42;
		must_open(round % 8 > 5 ? lone : round % 2 ? weak : firm, 3);
		check_session();
		assert_int_equal(done(NULL), 0);
	}
}

/* CPU 4 or thread 43 disappears before its event is opened: the others stay. */
static int one_has_gone(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)a;
	(void)group;
	return cpu == 4 || pid == 43 ? -f->number : 0;
}

static void places_that_have_gone(void **state)
{
	static const int gone[] = { ENODEV, ESRCH };

	(void)state;
	make_machine("uncore");
	fake.decide = one_has_gone;
	for (size_t i = 0; i < COUNT(gone); i++) {
		fake.number = gone[i];
		options.flags = PFM_SESSION_SYSTEM_WIDE;
		must_open(TEXTS("{cycles,instructions}", "branches"));
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(session->counts[k].kernel_state.n_open, 6);
		check_session();
		end_session();
	}
	/* Any other error fails the whole count. */
	fake.number = EBUSY;
	must_open(TEXTS("{cycles,instructions}", "branches"));
	assert_int_equal(fake_open_events(&fake), 0);
	check_session();
	end_session();
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42\nPid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/43/x", "");
	options.flags = 0;
	options.pid = 42;
	fake.number = ESRCH;
	must_open(TEXTS("cycles"));
	assert_int_equal(session->counts[0].kernel_state.n_open, 1);
	check_session();
}

/* A software event beside an uncore event opens without the group, on either side; any other event
 * of another PMU is refused with that reason. */
static void software_members_leave_groups_of_boxes(void **state)
{
	static const char box[] = "uncore_imc/clockticks/";
	static const struct {
		const char *leader, *member;
		bool opens;
	} rows[] = {
		{ box, "page-faults", true }, { box, "sched:sched_switch", true },
		{ "page-faults", box, true }, { "sched:sched_switch", box, true },
		{ box, "cycles", false },     { "cycles", box, false },
	};
	unsigned whole[2];

	(void)state;
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS(box, "cycles"));
	for (unsigned i = 0; i < 2; i++)
		whole[i] = session->counts[i].kernel_state.n_open;
	assert_true(whole[0] > 1 && whole[1] > 1);
	end_session();
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];
		bool box_leads = rows[i].leader == box;

		snprintf(text, sizeof(text), "{%s,%s}", rows[i].leader, rows[i].member);
		must_open(TEXTS(text));
		check_session();
		assert_int_equal(session->counts[0].kernel_state.n_open, whole[!box_leads]);
		assert_int_equal(session->counts[1].kernel_state.n_open,
		                 rows[i].opens ? whole[box_leads] : 0);
		if (!rows[i].opens)
			expect_why(1, "on other CPUs than the first event of the group");
		end_session();
	}
}

/* A task on one CPU has a time reference event beside its counts, at the same place; it never
 * waits for a counter. */
static void a_task_on_one_cpu_has_a_time_reference(void **state)
{
	const struct perf_state *st;
	const struct fake_event *e;

	(void)state;
	make_machine("uncore");
	options.cpus = "3";
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	must_open(TEXTS("cycles", "instructions"));
	st = session->live.backend_state;
	assert_int_equal(st->n_time_references, 1);
	e = fake_event(&fake, st->time_references[0].fd);
	assert_non_null(e);
	assert_true(e->pid == 0 && e->cpu == 3 && e->group == -1);
	assert_true(e->a.attr.size == 128 && e->a.attr.type == PERF_TYPE_SOFTWARE &&
	            e->a.attr.config == PERF_COUNT_SW_DUMMY);
	assert_int_equal(e->a.attr.read_format,
	                 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	assert_true(e->a.attr.disabled && e->a.attr.exclude_kernel && e->a.attr.exclude_hv &&
	            e->a.attr.inherit && e->a.attr.enable_on_exec);
	end_session();
	options.flags = 0;
	must_open(TEXTS("cycles"));
	st = session->live.backend_state;
	e = fake_event(&fake, st->time_references[0].fd);
	assert_non_null(e);
	assert_true(!e->a.attr.inherit && !e->a.attr.enable_on_exec);
}

/* The fake kernel's events count their own number. */
static void count_config(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->a.attr.config;
	e->is_open = e->running = 1000000;
}

/* Opens the texts and reads them in @n_reads system calls. */
static void expect_reads(const char *const *texts, unsigned n, unsigned n_reads)
{
	make_machine("uncore");
	fake.tick = count_config;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(texts, n);
	check_session();
	read_all();
	fake.uses[FAKE_READ_PERF] = 0;
	assert_int_equal(pfm_read_session(session, counts, n), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_READ_PERF], n_reads);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(counts[i].raw, 7 * is_about(i).attr.config);
	done(NULL);
}

/* Software events beside each other are read together, once on each of seven CPUs. */
static void software_events_together(void **state)
{
	(void)state;
	expect_reads(TEXTS("page-faults", "minor-faults:u", "task-clock"), 7);
	expect_reads(TEXTS("page-faults", "context-switches", "cycles", "task-clock"), 7 * 3);
	expect_reads(TEXTS("page-faults", "cycles", "task-clock", "minor-faults"), 7 * 3);
	expect_reads(TEXTS("page-faults", "page-faults:D", "minor-faults:D"), 7 * 3);
	make_machine("uncore");
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	must_open(TEXTS("page-faults", "context-switches"));
	check_session();
	assert_int_equal(((const struct perf_state *)session->live.backend_state)->n_read_events,
	                 7);
	done(NULL);
	/* Software events of a task are read without a group. */
	make_machine("uncore");
	options.flags = 0;
	must_open(TEXTS("page-faults", "context-switches"));
	assert_int_equal(((const struct perf_state *)session->live.backend_state)->n_read_events,
	                 2);
	done(NULL);
}

static int no_minor_faults(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ? -ENOENT : 0;
}

/* If one is refused, each is opened without a group. */
static void software_event_refused(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.decide = no_minor_faults;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults", "minor-faults", "context-switches"));
	check_session();
	assert_int_equal(session->counts[1].kernel_state.n_open, 0);
	for (unsigned i = 0; i < 3; i += 2)
		assert_int_equal(session->counts[i].kernel_state.n_open, 7);
}

static int n_filters;

static int take_filter(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	if (request != PERF_EVENT_IOC_SET_FILTER)
		return -ENOTTY;
	assert_non_null(fake_event(&fake, fd));
	n_filters++;
	(void)sys;
	return strcmp(arg, "good == 1") == 0 ? 0 : -EINVAL;
}

static void reports_a_refused_filter(void **state)
{
	static const char *const texts[] = { "sched:sched_switch", "cycles", "sched:sched_switch" };
	static const char *const filters[] = { "good == 1", NULL, "bad" };

	(void)state;
	make_machine("uncore");
	ctx->sys.ioctl = take_filter;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.filters = filters;
	n_filters = 0;
	must_open(texts, 3);
	assert_int_equal(n_filters, 7 + 1); /* the first refusal is enough */
	assert_int_equal(session->counts[0].kernel_state.n_open, 7);
	assert_int_equal(session->counts[2].kernel_state.n_open, 0);
	assert_int_equal(session->counts[2].status.cause, PFM_CAUSE_ATTRIBUTE);
	expect_why(2, "the kernel refuses the filter");
	check_session();
	end_session();
	options.filters = (const char *const[]){ NULL, "good == 1 ", NULL };
	must_open(texts, 3);
	expect_why(1, "expected a tracepoint for the filter, got cycles");
}

#define OPENED(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_perf_open, cmocka_unit_test(whatever_is_refused), OPENED(places_that_have_gone),
     OPENED(software_members_leave_groups_of_boxes), OPENED(a_task_on_one_cpu_has_a_time_reference),
     cmocka_unit_test(software_events_together), OPENED(software_event_refused),
     OPENED(reports_a_refused_filter));
