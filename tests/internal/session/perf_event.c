/* SPDX-License-Identifier: MIT */
/* Attributes of kernel events bit by bit, the probe of the backend, and control groups. */
#include "units.h"
#include <errno.h>
#include "fake_session.h"

/* ---- attributes ------------------------------------------------------------------------------ */

static struct pfm_session *made;
static struct session_count list[3];
static struct kernel_event parts[3];
static struct perf_state perf;
static struct kernel_pmu pmu;

static int make(void **state)
{
	static const int types[] = { 30, 31 };

	(void)state;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -1;
	memset(list, 0, sizeof(list));
	pmu = (struct kernel_pmu){ .n_instances = 2, .instance_types = types };
	perf = (struct perf_state){ .events = parts };
	for (unsigned i = 0; i < COUNT(list); i++) {
		list[i].config.group = i;
		list[i].config.attr = (perfmon_attr_t){
			.type = PERF_TYPE_RAW, .config = 5, .config1 = 6, .exclude_user = 1
		};
		list[i].kernel_state.first_event = i;
		parts[i] = (struct kernel_event){ .fd = -1, .cpu = -1 };
	}
	made->counts = list;
	made->n_counts = COUNT(list);
	made->live.backend_state = &perf;
	return 0;
}

static int forget(void **state)
{
	(void)state;
	free(made);
	return 0;
}

static struct perf_attr attr_of(unsigned i, bool leader)
{
	struct perf_attr a;

	memset(&a, 0xff, sizeof(a));
	pfmi_perf_build_attr(made, i, 0, leader, &a);
	assert_true(a.config4 == 0);
	return a;
}

static bool reads_group(unsigned i)
{
	uint64_t format = attr_of(i, true).read_format;

	assert_int_equal(format & ~(uint64_t)PERF_FORMAT_GROUP,
	                 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	return format & PERF_FORMAT_GROUP;
}

static void reads_groups_at_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_false(reads_group(i));
	list[1].config.group = 0; /* the first two */
	assert_true(reads_group(0) && reads_group(1) && !reads_group(2));
	list[0].config.group = 7; /* the last two */
	list[1].config.group = list[2].config.group = 8;
	assert_true(!reads_group(0) && reads_group(1) && reads_group(2));
	list[1].kernel_state.is_ungrouped = true;
	assert_true(!reads_group(1) && reads_group(2));
	perf.reads_singly = true;
	assert_false(reads_group(2));
}

/* Settings that only the leader of a group has, and settings of task events. */
static void leaders_and_members(void **state)
{
	struct perf_attr a;

	(void)state;
	list[0].config.exclusive = true;
	list[0].config.attr.pinned = 1;
	made->options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	a = attr_of(0, true);
	assert_true(a.disabled && a.pinned && a.exclusive && a.enable_on_exec && a.inherit);
	assert_true(a.type == PERF_TYPE_RAW && a.config == 5 && a.config1 == 6 && a.exclude_user &&
	            !a.exclude_kernel);
	a = attr_of(0, false);
	assert_true(!a.disabled && !a.pinned && !a.exclusive && !a.enable_on_exec && a.inherit);
	parts[0].pid = -1;
	a = attr_of(0, true);
	assert_true(a.disabled && a.pinned && a.exclusive && !a.enable_on_exec && !a.inherit);
	parts[0].pid = 42;
	a = attr_of(0, true);
	assert_true(a.enable_on_exec && a.inherit);
	made->options.flags = 0;
	a = attr_of(0, true);
	assert_true(a.disabled && !a.enable_on_exec && !a.inherit);
	a = attr_of(1, true);
	assert_true(!a.pinned && !a.exclusive);
}

static void boxes_and_wishes(void **state)
{
	(void)state;
	list[0].config.kernel_pmu = &pmu;
	list[0].config.get_user_read_bits = 0x100;
	assert_int_equal(attr_of(0, true).type, PERF_TYPE_RAW); /* not one of its own */
	list[0].config.attr.type = 30;
	assert_int_equal(attr_of(0, true).type, 30);
	parts[0].instance = 1;
	assert_int_equal(attr_of(0, true).type, 31);
	parts[0].instance = 2;
	assert_int_equal(attr_of(0, true).type, 30);
	assert_int_equal(attr_of(0, true).config1, 0x106);
	parts[0].pid = 42; /* only a task that counts itself can read the counter in user space */
	assert_int_equal(attr_of(0, true).config1, 6);
	parts[0].pid = -1;
	assert_int_equal(attr_of(0, true).config1, 6);
}

static void samples_of_the_kernel_alone(void **state)
{
	static const uint64_t alone[] = { PERF_COUNT_SW_CONTEXT_SWITCHES,
		                          PERF_COUNT_SW_CPU_MIGRATIONS, 10, 11 };

	(void)state;
	for (uint64_t config = 0; config < 100; config++) {
		perfmon_attr_t a = { .type = PERF_TYPE_SOFTWARE,
			             .config = config,
			             .type_known = 1 };
		bool is = false;

		for (size_t i = 0; i < COUNT(alone); i++)
			is |= alone[i] == config;
		assert_int_equal(pfmi_perf_is_kernel_only_event(&a), is);
		a.type = PERF_TYPE_HARDWARE;
		assert_false(pfmi_perf_is_kernel_only_event(&a));
		a.type = PERF_TYPE_SOFTWARE;
		a.type_known = 0;
		assert_false(pfmi_perf_is_kernel_only_event(&a));
		a.type_known = 1;
		a.config |= (uint64_t)1 << 32;
		assert_false(pfmi_perf_is_kernel_only_event(&a));
	}
}

/* ---- calls ----------------------------------------------------------------------------------- */

static unsigned tries;
static int answer;

static int interrupted(const struct sys *sys, struct perf_attr *a, int pid, int cpu, int group,
                       unsigned long flags)
{
	(void)sys;
	assert_true(a->config == 5 && pid == 42 && cpu == 3 && group == 9);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	return tries-- > 1 ? -EINTR : answer;
}

static void an_interrupted_open_is_tried_again(void **state)
{
	const struct sys sys = { .perf_event_open = interrupted };
	struct perf_attr a = { .config = 5 };

	(void)state;
	for (answer = -EINTR - 1; answer < 3; answer += EINTR) {
		tries = 10;
		assert_int_equal(pfmi_perf_open_event(&sys, &a, 42, 3, 9), answer);
		assert_int_equal(tries, 0);
	}
}

static int refuse_all(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	/* The probe that every process may open: itself, in user mode, stopped. */
	assert_true(a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY &&
	            a->disabled && a->exclude_kernel && a->exclude_hv);
	assert_true(pid == 0 && cpu == -1 && group == -1);
	return -f->number;
}

static void is_there_such_a_call(void **state)
{
	static const int others[] = { EACCES, EPERM, ENOENT, EINVAL, EMFILE };
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	make_machine("uncore");
	assert_int_equal(pfmi_perf_backend.probe(&fake.sys, &why), PFMLIB_SUCCESS);
	fake.decide = refuse_all;
	for (size_t i = 0; i < COUNT(others); i++) {
		fake.number = others[i];
		assert_int_equal(pfmi_perf_backend.probe(&fake.sys, &why), PFMLIB_SUCCESS);
	}
	fake.number = ENOSYS;
	assert_int_equal(pfmi_perf_backend.probe(&fake.sys, &why), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(why.sys_errno, ENOSYS);
	assert_int_equal(fake.n_open, 0);
}

/* ---- control groups ------------------------------------------------------------------------ */

/* A folder gets descriptor 0 if the program has closed its input. */
static struct sys before;
static int folders;

static int open_at_0(const struct sys *sys, const char *path, int flags)
{
	if (strcmp(path, "/sys/fs/cgroup/a") != 0)
		return before.open(sys, path, flags);
	folders++;
	return 0;
}

static int close_at_0(const struct sys *sys, int fd)
{
	if (fd != 0)
		return before.close(sys, fd);
	folders--;
	return 0;
}

static void a_control_group_at_descriptor_0(void **state)
{
	struct perf_attr none = { .size = sizeof(none) };

	(void)state;
	make_machine("uncore");
	fake.sys.close(&fake.sys, fake.sys.perf_event_open(&fake.sys, &none, 0, -1, -1,
	                                                   0)); /* no event has it */
	before = ctx->sys;
	ctx->sys.open = open_at_0;
	ctx->sys.close = close_at_0;
	options.cgroup = "/sys/fs/cgroup/a";
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles"));
	assert_int_equal(folders, 1);
	end_session();
	assert_int_equal(folders, 0);
}

static void opens_events_for_the_folder_of_a_control_group(void **state)
{
	unsigned n[2] = { 0, 0 };
	int folder;

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/fs/cgroup/a", "");
	options.cgroup = "/sys/fs/cgroup/a";
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles"));
	folder = ((const struct perf_state *)session->live.backend_state)->cgroup_fd;
	assert_true(folder >= 0);
	for (unsigned i = 0; i < fake.n_events; i++)
		if (fake.events[i].used)
			n[fake.events[i].a.attr.config == PERF_COUNT_SW_DUMMY] +=
				fake.events[i].pid == folder &&
				fake.events[i].flags ==
					(PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
	/* Each kernel event has the time reference event of its CPU. */
	assert_true(n[0] == is_about(0).n_kernel_events && n[1] == 0 &&
	            fake_open_events(&fake) == 2 * n[0]);
	/* The descriptor of the folder is closed as well. */
	end_session();
	/* An uncore PMU lists its CPUs itself, so the online file is not needed. */
	fake_file(&fake, "/sys/devices/system/cpu/online", "x");
	must_open(TEXTS("uncore_imc/clockticks/"));
	assert_int_equal(
		((const struct perf_state *)session->live.backend_state)->n_time_references, 0);
	assert_true(is_about(0).n_kernel_events &&
	            fake_open_events(&fake) == is_about(0).n_kernel_events);
	end_session();
	options.cgroup = "/sys/fs/cgroup/none";
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(fake.n_open, 0);
	options.cgroup = "/sys/fs/cgroup/a";
	options.flags = 0;
	assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
	assert_int_equal(fake.n_open, 0);
}

#define UPTIME (1849 * (uint64_t)1000000000)

/* The kernel counts the time of a control group's first event from its own start. */
static void since_boot(struct fake *f, struct fake_event *e)
{
	e->value = 5;
	e->is_open = e->running = UPTIME + f->clock_ns;
}

static void a_control_groups_time_that_starts_with_the_kernel(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/fs/cgroup/a", "");
	options.cgroup = "/sys/fs/cgroup/a";
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	fake.tick = since_boot;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.clock_ns += 2000000000;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* enabled <= CPUs x elapsed */
	assert_true(counts[0].enabled &&
	            counts[0].enabled <= is_about(0).n_kernel_events * (uint64_t)2000000000);
	end_session();
}

#define MADE(NAME)   cmocka_unit_test_setup_teardown(NAME, make, forget)
#define OPENED(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_perf_event, MADE(reads_groups_at_once), MADE(leaders_and_members),
     MADE(boxes_and_wishes), cmocka_unit_test(samples_of_the_kernel_alone),
     cmocka_unit_test(an_interrupted_open_is_tried_again), OPENED(is_there_such_a_call),
     OPENED(opens_events_for_the_folder_of_a_control_group),
     OPENED(a_control_group_at_descriptor_0),
     OPENED(a_control_groups_time_that_starts_with_the_kernel));
