/* SPDX-License-Identifier: MIT */
/* Diagnosis of one event that the kernel refused: each error number, in every circumstance that
 * changes its meaning, beside a kernel that accepts the event again where the test sets that. No
 * trial event stays open. */
#include "units.h"
#include <errno.h>
#include "session/perf_event_internal.h"
#include "fake_sys.h"
#include "table/build.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static struct fake fake;
static struct pfm_session *s;
static struct pfm_ctx *ctx;
static struct session_count counts[2];
static struct kernel_event part;
static struct perf_state perf;
static struct kernel_info kernel;
static struct kernel_pmu pmu;
static struct table *format;

/* True if the kernel accepts the event. */
static bool (*takes)(const struct perf_attr *a, int pid, int cpu, int group);

static int decide(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	return takes && takes(a, pid, cpu, group) ? 0 : -f->number;
}

static struct table *new_format(void)
{
	const struct bitrange code = { .width = 8 }, umask = { .lsb = 8, .width = 8 },
			      ldlat = { .config_word = 1, .width = 16 }, whole = { .width = 64 },
			      whole2 = { .config_word = 2, .width = 64 },
			      split[] = { { .lsb = 32, .width = 4 }, { .lsb = 40, .width = 2 } };
	struct table_builder b;

	pfmi_table_begin_build(&b);
	b.head.name = pfmi_table_add_text(&b, "testpmu", 7);
	pfmi_table_add_field(&b, "event", KEY_CODE, &code, 1);
	pfmi_table_add_field(&b, "umask", KEY_UMASK, &umask, 1);
	pfmi_table_add_field(&b, "ldlat", KEY_LDLAT, &ldlat, 1);
	pfmi_table_add_field(&b, "split", KEY_NONE, split, 2);
	pfmi_table_add_field(&b, "config", KEY_CONFIG, &whole, 1);
	pfmi_table_add_field(&b, "config2", KEY_NONE, &whole2, 1);
	pfmi_table_add_field(&b, "late", KEY_NONE,
	                     &(struct bitrange){ .config_word = 3, .lsb = 4, .width = 8 }, 1);
	pfmi_table_add_field(&b, "last", KEY_NONE,
	                     &(struct bitrange){ .config_word = 4, .lsb = 4, .width = 8 }, 1);
	pfmi_table_add_text_field(&b, KEY_UNIT);
	return pfmi_table_finish_build(&b);
}

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake.decide = decide;
	fake.fail_errno = fake.number = EINVAL;
	takes = NULL;
	format = new_format();
	s = calloc(1, sizeof(*s));
	ctx = calloc(1, sizeof(*ctx));
	if (!format || !s || !ctx)
		return -1;
	memset(counts, 0, sizeof(counts));
	part = (struct kernel_event){
		.fd = -1, .leader = -1, .time_reference = -1, .pid = 0, .cpu = -1
	};
	perf = (struct perf_state){ .events = &part, .n_events = 7, .cgroup_fd = -1 };
	pmu = (struct kernel_pmu){ .name = "cpu", .is_core = true, .table = format };
	kernel = (struct kernel_info){ .n_pmus = 1, .pmus = &pmu };
	ctx->kernel = &kernel;
	s->ctx = ctx;
	s->sys = fake.sys;
	s->n_counts = 1;
	s->counts = counts;
	s->live.backend_state = &perf;
	counts[0].config.event.table = format;
	counts[0].config.kernel_pmu = &pmu;
	counts[0].config.attr = (perfmon_attr_t){
		.type = PERF_TYPE_RAW, .config = 0x1cd, .type_known = 1, .expressible = 1
	};
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(fake.n_open, 0);
	fake_end(&fake);
	free(format);
	free(s);
	free(ctx);
	return 0;
}

static void diagnose(int group, int err)
{
	counts[0].status = (struct count_status){ .cause = 0 };
	fake.number = err;
	pfmi_perf_diagnose_event(s, 0, 0, group, err);
	assert_int_equal(counts[0].status.sys_errno, err);
	assert_int_equal(fake.n_open, 0);
}

static void expect(int group, int err, pfm_cause_t cause, const char *piece)
{
	const struct count_status *told = &counts[0].status;

	diagnose(group, err);
	if (told->cause != cause || told->reason_cause != cause ||
	    (!strstr(told->reason, piece) && !strstr(told->remedy, piece)))
		fail_msg("error %d is %s: %s (%s), not: %s", err, pfm_cause_name(told->cause),
		         told->reason, told->remedy, piece);
}

static bool everything(const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)a;
	(void)pid;
	(void)cpu;
	(void)group;
	return true;
}

/* ---- numbers that mean one thing ------------------------------------------------------------- */

static void explains_each_errno(void **state)
{
	(void)state;
	part.cpu = 3;
	part.pid = 42;
	expect(-1, ENODEV, PFM_CAUSE_NO_CPU,
	       "CPU 3 has been switched off or cpu does not serve it");
	expect(-1, ESRCH, PFM_CAUSE_NO_PROCESS, "process 42 does not exist");
	expect(-1, ENOMEM, PFM_CAUSE_MEMORY, "no memory");
	expect(-1, EAGAIN, PFM_CAUSE_MEMORY, "no memory");
	expect(-1, ENOSYS, PFM_CAUSE_NO_KERNEL, "no perf_event_open");
	expect(-1, E2BIG, PFM_CAUSE_ATTRIBUTE, "config3");
	counts[0].config.attr.config4 = 1;
	expect(-1, E2BIG, PFM_CAUSE_ATTRIBUTE, "config4");
	counts[0].config.attr.config4 = 0;
	expect(-1, EIO, PFM_CAUSE_OTHER, "error number 5");
	expect(-1, ENFILE, PFM_CAUSE_FILES, "the system has reached its limit of open files");
	assert_int_equal(fake.uses[FAKE_PERF], 0); /* no trial event was opened */
}

static void names_the_limit_of_open_files(void **state)
{
	(void)state;
	expect(-1, EMFILE, PFM_CAUSE_FILES, "the process cannot open more files");
	fake_file(&fake, "/proc/self/limits",
	          "Limit  Soft  Hard  Units\nMax processes  99  99  x\nMax open files  1024   4096 "
	          " files");
	expect(-1, EMFILE, PFM_CAUSE_FILES, "may open 1024 files, but the session needs 7:");
	expect(-1, ENFILE, PFM_CAUSE_FILES, "the system has reached its limit of open files");
	fake_file(&fake, "/proc/self/limits",
	          "Max open files            unlimited            unlimited            files");
	expect(-1, EMFILE, PFM_CAUSE_FILES, "the process cannot open more files");
	fake_file(&fake, "/proc/self/limits", "nothing of files");
	expect(-1, EMFILE, PFM_CAUSE_FILES, "the process cannot open more files");
}

static void counters_in_use(void **state)
{
	(void)state;
	expect(-1, EBUSY, PFM_CAUSE_BUSY, "another program holds");
	expect(-1, ENOSPC, PFM_CAUSE_BUSY, "another program holds");
	/* The watchdog of other processors need not have a counter. */
	kernel.nmi_watchdog = true;
	strcpy(ctx->host.arch, "powerpc");
	expect(-1, EBUSY, PFM_CAUSE_BUSY, "another program holds");
	strcpy(ctx->host.arch, "x86");
	expect(-1, EBUSY, PFM_CAUSE_BUSY, "NMI watchdog");
	counts[0].config.attr.type = PERF_TYPE_BREAKPOINT;
	expect(-1, ENOSPC, PFM_CAUSE_BUSY, "breakpoint registers are in use");
	counts[0].config.attr.type = PERF_TYPE_RAW;
	ctx->kernel = NULL;
	expect(-1, EBUSY, PFM_CAUSE_BUSY, "another program holds");
}

/* ---- what is not there ----------------------------------------------------------------------- */

static void no_such_event(void **state)
{
	static const int errors[] = { ENOENT, ENXIO, EOPNOTSUPP };
	static const uint32_t of_the_core[] = { PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE,
		                                PERF_TYPE_RAW };

	(void)state;
	for (size_t i = 0; i < COUNT(errors); i++) {
		for (size_t k = 0; k < COUNT(of_the_core); k++) {
			counts[0].config.attr.type = of_the_core[k];
			pmu.is_core = true;
			expect(-1, errors[i], PFM_CAUSE_NO_PMU,
			       "the PMU of this processor has no event for it");
			pmu.is_core = false;
			expect(-1, errors[i], PFM_CAUSE_NO_PMU, "the kernel exports no PMU");
			ctx->host.has_hypervisor = true;
			expect(-1, errors[i], PFM_CAUSE_NO_PMU,
			       "the hypervisor gives this virtual machine no PMU");
			ctx->host.has_hypervisor = false;
			ctx->kernel = NULL;
			expect(-1, errors[i], PFM_CAUSE_NO_PMU, "the kernel exports no PMU");
			ctx->kernel = &kernel;
		}
		counts[0].config.attr.type = PERF_TYPE_SOFTWARE;
		expect(-1, errors[i], PFM_CAUSE_NO_KERNEL, "lacks the software event");
		counts[0].config.attr.type = PERF_TYPE_TRACEPOINT;
		expect(-1, errors[i], PFM_CAUSE_NO_KERNEL, "lacks the tracepoint");
		counts[0].config.attr.type = PERF_TYPE_BREAKPOINT;
		expect(-1, errors[i], PFM_CAUSE_NO_PMU, "no breakpoint registers");
		counts[0].config.attr.type = 30;
		snprintf(pmu.name, sizeof(pmu.name), "uncore");
		expect(-1, errors[i], PFM_CAUSE_NO_PMU, "uncore lacks the event");
		counts[0].config.kernel_pmu = NULL;
		expect(-1, errors[i], PFM_CAUSE_NO_PMU, "testpmu lacks the event");
		counts[0].config.kernel_pmu = &pmu;
	}
}

/* ---- settings -------------------------------------------------------------------------------- */

static struct perf_attr wanted; /* bits of the attribute that the kernel refuses */

static bool accept_unless_refused_bits(const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return !(a->precise_ip & wanted.precise_ip) &&
	       !(a->exclude_kernel & wanted.exclude_kernel) &&
	       !(a->exclude_user & wanted.exclude_user) && !(a->exclude_hv & wanted.exclude_hv) &&
	       !(a->exclude_idle & wanted.exclude_idle) &&
	       !(a->exclude_host & wanted.exclude_host) &&
	       !(a->exclude_guest & wanted.exclude_guest) && !(a->pinned & wanted.pinned) &&
	       !(a->inherit & wanted.inherit) && !(a->enable_on_exec & wanted.enable_on_exec);
}

/* Every setting is on, and the kernel refuses one of them. */
static void one_setting_is_refused(void **state)
{
	static const struct {
		struct perf_attr refused;
		const char *told;
	} rows[] = {
		{ { .precise_ip = 3 }, "the precise level (p)" },
		{ { .exclude_kernel = 1 }, "excluding the kernel (u)" },
		{ { .exclude_user = 1 }, "excluding user code (k)" },
		{ { .exclude_hv = 1 }, "excluding" },
		{ { .exclude_idle = 1 }, "excluding idle time (I)" },
		{ { .exclude_host = 1 }, "excluding the host (G)" },
		{ { .exclude_guest = 1 }, "excluding guests (H)" },
		{ { .pinned = 1 }, "pinning (D)" },
		{ { .inherit = 1 }, "counting children as well" },
		{ { .enable_on_exec = 1 }, "starting with the program" },
		{ { .exclude_kernel = 1, .exclude_user = 1 }, "choosing levels" },
	};
	perfmon_attr_t *a = &counts[0].config.attr;

	(void)state;
	takes = accept_unless_refused_bits;
	a->precise = 2;
	a->exclude_user = a->exclude_kernel = a->exclude_hv = a->exclude_idle = a->exclude_host =
		a->exclude_guest = a->pinned = 1;
	s->options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	for (size_t i = 0; i < COUNT(rows); i++) {
		wanted = rows[i].refused;
		expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, rows[i].told);
		expect(-1, EOPNOTSUPP, PFM_CAUSE_ATTRIBUTE, rows[i].told);
	}
	/* The hypervisor alone; a setting that was not requested; two settings at once. */
	a->exclude_kernel = a->exclude_user = 0;
	wanted = (struct perf_attr){ .exclude_hv = 1 };
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "excluding the hypervisor");
	wanted = (struct perf_attr){ .pinned = 1, .precise_ip = 2 };
	expect(-1, EOPNOTSUPP, PFM_CAUSE_NO_PMU, "has no event for it");
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "the kernel refuses config=0x1cd on cpu");
}

static struct {
	unsigned word;
	uint64_t bits;
} refused;

static bool without_bits(const struct perf_attr *a, int pid, int cpu, int group)
{
	const uint64_t words[N_CONFIG_WORDS] = { a->config, a->config1, a->config2,
		                                 a->size > 128 ? a->config3 : 0,
		                                 a->size > 136 ? a->config4 : 0 };

	(void)pid;
	(void)cpu;
	(void)group;
	return !(words[refused.word] & refused.bits);
}

static void one_field_is_refused(void **state)
{
	static const struct {
		unsigned word;
		uint64_t bits;
		const char *told;
	} rows[] = {
		{ 0, 0xff, "event=0xcd on cpu" },
		{ 0, 0x100, "umask=0x1 on cpu" },
		{ 1, 2, "ldlat=0x3 on cpu" },
		{ 0, (uint64_t)1 << 40, "split=0x12 on cpu" },
		{ 2, 8, "config2=0xc on cpu" },
		{ 3, 0x20, "late=0xa on cpu" },
		{ 4, 0x20, "last=0xb on cpu" },
		{ 1, 0x10000,
		  "the kernel refuses config=0x102000001cd on cpu" }, /* not set: the setting is not
		                                                         the cause */
	};
	perfmon_attr_t *a = &counts[0].config.attr;

	(void)state;
	takes = without_bits;
	a->config = 0x1cd | (uint64_t)2 << 32 | (uint64_t)1 << 40;
	a->config1 = 3;
	a->config2 = 12;
	a->config3 = 0xa0;
	a->config4 = 0xb0;
	for (size_t i = 0; i < COUNT(rows); i++) {
		refused.word = rows[i].word;
		refused.bits = rows[i].bits;
		if (i + 1 == COUNT(rows))
			takes = NULL;
		expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, rows[i].told);
	}
}

/* A bit outside of every format field is the cause; a format without fields explains nothing. */
static void diagnoses_undeclared_bits(void **state)
{
	struct table *none;
	struct table_builder b;

	(void)state;
	counts[0].config.attr.config = 0x4301cd;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE,
	       "config=0x4301cd on cpu, whose format has no field for 0x430000 of it");
	counts[0].config.attr.config = (uint64_t)3 << 41 | 0xcd;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "no field for 0x40000000000 of it");
	counts[0].config.attr.config = 0xffff;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "the kernel refuses config=0xffff on cpu");
	assert_null(strstr(counts[0].status.reason, "whose"));
	pfmi_table_begin_build(&b);
	none = pfmi_table_finish_build(&b);
	assert_non_null(none);
	pmu.table = none;
	counts[0].config.attr.config = 0x4301cd;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "the kernel refuses config=0x4301cd on cpu");
	assert_null(strstr(counts[0].status.reason, "whose"));
	free(none);
	pfmi_table_begin_build(&b); /* each field has some of the bits */
	for (unsigned i = 0; i < 4; i++) {
		const struct bitrange part_of_it = { .lsb = (uint8_t)(4 * i), .width = 4 };

		pfmi_table_add_field(&b, (const char *const[]){ "a", "b", "c", "d" }[i], KEY_NONE,
		                     &part_of_it, 1);
	}
	none = pfmi_table_finish_build(&b);
	assert_non_null(none);
	pmu.table = none;
	counts[0].config.attr.config = 0x54321;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "no field for 0x50000 of it");
	free(none);
	pmu.table = format;
}

/* A generic event whose number the driver does not map does not exist. */
static void the_kernels_own_events(void **state)
{
	(void)state;
	counts[0].config.attr.type = PERF_TYPE_HARDWARE;
	expect(-1, EINVAL, PFM_CAUSE_NO_PMU, "has no event for it");
	counts[0].config.attr.type = PERF_TYPE_HW_CACHE;
	expect(-1, EINVAL, PFM_CAUSE_NO_PMU, "has no event for it");
	takes = accept_unless_refused_bits;
	wanted = (struct perf_attr){ .pinned = 1 };
	counts[0].config.attr.pinned = 1;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "pinning");
}

static void names_what_a_breakpoint_lacks(void **state)
{
	perfmon_attr_t *a = &counts[0].config.attr;

	(void)state;
	a->type = PERF_TYPE_BREAKPOINT;
	a->config = 3;
	a->config1 = 0x1003;
	a->config2 = 8;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "no breakpoint for 8 bytes at 0x1003");
	takes = accept_unless_refused_bits;
	wanted = (struct perf_attr){ .exclude_kernel = 1 };
	a->exclude_kernel = 1;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "excluding the kernel");
	/* The address of a breakpoint is not compared with format fields. */
	takes = without_bits;
	refused.word = 1;
	refused.bits = 3;
	expect(-1, EINVAL, PFM_CAUSE_ATTRIBUTE, "no breakpoint for 8 bytes");
}

/* ---- control groups -------------------------------------------------------------------------- */

static bool everybody(const struct perf_attr *a, int pid, int cpu, int group)
{
	return a->type == PERF_TYPE_SOFTWARE && pid == -1 && cpu == 3 && group == -1;
}

static bool nobody(const struct perf_attr *a, int pid, int cpu, int group)
{
	return !everything(a, pid, cpu, group);
}

/* The folder is not a control group, and the event itself is good. */
static void no_control_group(void **state)
{
	static const int errors[] = { ENOENT, EBADF };

	(void)state;
	counts[0].config.attr.type = PERF_TYPE_SOFTWARE;
	part.pid = -1;
	part.cpu = 3;
	perf.cgroup_fd = 7;
	for (size_t i = 0; i < COUNT(errors); i++) {
		takes = everybody;
		expect(-1, errors[i], PFM_CAUSE_ATTRIBUTE,
		       "the folder is not a control group, or its hierarchy lacks perf_event");
		takes = nobody;
		expect(-1, errors[i], i ? PFM_CAUSE_OTHER : PFM_CAUSE_NO_KERNEL,
		       i ? "error number" : "lacks the software event");
	}
	takes = everybody;
	expect(-1, ENXIO, PFM_CAUSE_NO_KERNEL, "lacks the software event");
	perf.cgroup_fd = -1;
	expect(-1, ENOENT, PFM_CAUSE_NO_KERNEL, "lacks the software event");
	perf.cgroup_fd = 7;
	part.pid = 42;
	expect(-1, ENOENT, PFM_CAUSE_NO_KERNEL, "lacks the software event");
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool alone(const struct perf_attr *a, int pid, int cpu, int group)
{
	return group == -1 && pid == 42 && cpu == 3 && a->disabled;
}

static void tells_a_full_group_from_a_refused_event(void **state)
{
	struct perf_attr lead = { .size = sizeof(lead) };
	int group;

	(void)state;
	takes = everything;
	group = fake.sys.perf_event_open(&fake.sys, &lead, 0, -1, -1, 0);
	part.pid = 42;
	part.cpu = 3;
	takes = alone;
	fake.n_open--; /* the test opened the leader */
	expect(group, EINVAL, PFM_CAUSE_GROUP, "no counter is left for this event");
	part.cpu = 4; /* which accepts no event */
	expect(group, EINVAL, PFM_CAUSE_ATTRIBUTE, "the kernel refuses config");
	/* The trial event of a group member joins the group. */
	part.cpu = 3;
	takes = accept_unless_refused_bits;
	wanted = (struct perf_attr){ .exclude_idle = 1, .disabled = 1 };
	counts[0].config.attr.exclude_idle = 1;
	expect(group, EINVAL, PFM_CAUSE_ATTRIBUTE, "excluding idle time (I)");
	assert_int_equal(fake.events[fake.n_events - 1].group, group);
	fake.n_open++;
	fake.sys.close(&fake.sys, group);
	pfmi_perf_reject_group_member(s, 0);
	assert_int_equal(counts[0].status.cause, PFM_CAUSE_GROUP);
	assert_non_null(strstr(counts[0].status.reason, "cpu is counted on other CPUs"));
}

/* ---- permission ------------------------------------------------------------------------------ */

/* Linux permits every process to count itself in user mode. */
static bool own_user_mode(const struct perf_attr *a, int pid, int cpu, int group)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY &&
	       a->exclude_kernel && a->exclude_hv && pid == 0 && cpu == -1 && group == -1;
}

static void expect_denied(const char *level, const char *piece)
{
	static const int errors[] = { EACCES, EPERM };

	if (level)
		fake_file(&fake, PARANOID, level);
	for (size_t i = 0; i < COUNT(errors); i++)
		expect(-1, errors[i], PFM_CAUSE_PERMISSION, piece);
}

static void a_level_that_cannot_be_read(void **state)
{
	static const char *const levels[] = {
		NULL, "", "2x", "very", "100", "-100", "99999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++)
		expect_denied(levels[i], "perf_event_paranoid cannot be read");
	expect_denied("99", "perf_event_paranoid is 99:");
	expect_denied("-99", "perf_event_paranoid is -99:");
}

static void is_counting_forbidden(void **state)
{
	(void)state;
	expect_denied("4", "perf_event_paranoid is 4: users without privileges may not count");
	expect_denied("3", "perf_event_paranoid is 3: users without privileges may not count");
	expect_denied("3", "run with the capability CAP_SYS_ADMIN");
	expect_denied("2", "although perf_event_paranoid is 2");
	expect_denied("-1", "although perf_event_paranoid is -1");
	/* A system-wide event is refused too, although one event could be the cause. */
	part.pid = -1;
	part.cpu = 0;
	expect_denied("1", "although perf_event_paranoid is 1");
}

static void this_is_not_permitted(void **state)
{
	struct count_config *a = &counts[0].config;

	(void)state;
	takes = own_user_mode;
	part.pid = -1;
	part.cpu = 0;
	expect_denied("1",
	              "perf_event_paranoid is 1: counting everything on a CPU needs 0 or lower");
	a->attr.exclude_kernel = 1;
	expect_denied("0", "although perf_event_paranoid is 0");
	part.pid = 0;
	part.cpu = -1;
	expect_denied("2",
	              "although perf_event_paranoid is 2"); /* the event excludes the kernel, so the
	                                                       level does not explain the refusal */
	a->attr.exclude_kernel = 0;
	expect_denied("2", "perf_event_paranoid is 2: counting the kernel needs 1 or lower");
	a->has_default_levels = true;
	expect_denied("2", "perf_event_paranoid is 2: this event occurs in the kernel or cannot "
	                   "exclude it");
	expect_denied("1", "although perf_event_paranoid is 1");
	part.pid = 42;
	expect_denied("1", "process 42 belongs to another user");
	part.pid = 0;
	a->attr.type = PERF_TYPE_TRACEPOINT;
	expect_denied("1", "lacks the permission to use tracepoints");
	part.pid = 42;
	expect_denied("1", "process 42 belongs to another user");
}

/* A driver that returns EPERM for events it does not have: other events are permitted at the same
 * place and levels. */
static bool dummy_there(const struct perf_attr *a, int pid, int cpu, int group)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY && !a->config1 &&
	       !a->config2 && !a->precise_ip && pid == 0 && cpu == 3 && group == -1 &&
	       a->exclude_user && !a->exclude_kernel;
}

static void events_that_a_driver_denies(void **state)
{
	perfmon_attr_t *a = &counts[0].config.attr;

	(void)state;
	takes = dummy_there;
	part.cpu = 3;
	fake_file(&fake, PARANOID, "1");
	*a = (perfmon_attr_t){ .type = PERF_TYPE_HARDWARE,
		               .config = 7,
		               .config1 = 1,
		               .config2 = 2,
		               .precise = 1,
		               .exclude_user = 1 };
	expect(-1, EPERM, PFM_CAUSE_NO_PMU, "the PMU of this processor lacks the event");
	expect(-1, EACCES, PFM_CAUSE_PERMISSION, "perf_event_paranoid is 1");
	a->type = PERF_TYPE_HW_CACHE;
	expect(-1, EPERM, PFM_CAUSE_NO_PMU, "lacks the event");
	a->type = PERF_TYPE_RAW;
	expect(-1, EPERM, PFM_CAUSE_PERMISSION, "perf_event_paranoid is 1");
	a->type = PERF_TYPE_HARDWARE;
	a->exclude_user = 0;
	expect(-1, EPERM, PFM_CAUSE_PERMISSION, "perf_event_paranoid is 1");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names_the_pmu_that_refuses(void **state)
{
	struct table *own = malloc(format->size);

	(void)state;
	assert_non_null(own);
	part.cpu = 3;
	expect(-1, ENODEV, PFM_CAUSE_NO_CPU, "or cpu does not");
	counts[0].config.kernel_pmu = NULL;
	expect(-1, ENODEV, PFM_CAUSE_NO_CPU, "or testpmu does not");
	memcpy(own, format, format->size);
	own->encoder = ENCODER_PERF;
	counts[0].config.event.table = own;
	expect(-1, ENODEV, PFM_CAUSE_NO_CPU, "or the PMU does not");
	free(own);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(session_perf_diagnose, CASE(explains_each_errno), CASE(names_the_limit_of_open_files),
     CASE(counters_in_use), CASE(no_such_event), CASE(one_setting_is_refused),
     CASE(one_field_is_refused), CASE(diagnoses_undeclared_bits), CASE(the_kernels_own_events),
     CASE(names_what_a_breakpoint_lacks), CASE(tells_a_full_group_from_a_refused_event),
     CASE(no_control_group), CASE(a_level_that_cannot_be_read), CASE(is_counting_forbidden),
     CASE(this_is_not_permitted), CASE(events_that_a_driver_denies),
     CASE(names_the_pmu_that_refuses));
