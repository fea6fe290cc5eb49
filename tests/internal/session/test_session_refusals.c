/* SPDX-License-Identifier: MIT */
/* Reported causes of refusals of a scripted kernel, and texts that are not events. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fake_session.h"
#include "lookup/lookup.h"
#include "shared.h"

/* ---- refusals -------------------------------------------------------------------------------- */

/* An ordinary user at level fake.number. */
static int ordinary_user(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)cpu;
	(void)group;
	if (f->number > 2 || (pid == -1 && f->number > 0) ||
	    (!attr->exclude_kernel && f->number > 1))
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
	make_machine("uncore");
	as_user(2);
	must_open(TEXTS("cycles", "cpu/instructions/", "cycles:k", "context-switches",
	                "sched:sched_switch", "page-faults", "task-clock", "cpu-clock"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(is_about(0).name, "cycles:u");
	assert_true(is_about(0).attr.exclude_kernel);
	assert_string_equal(is_about(1).name, "cpu/instructions/u");
	/* Asked for: an answer, not something else. */
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_why(2, "perf_event_paranoid is 2");
	expect_why(2, "CAP_PERFMON");
	/* At user level these would always be 0. */
	expect_count(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	assert_string_equal(is_about(3).name, "context-switches");
	expect_count(4, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(is_about(5).name, "page-faults:u");
	/* Clocks go on at every level, so nothing is missing from them. */
	expect_count(6, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_string_equal(is_about(6).name, "task-clock");
	assert_true(is_about(6).attr.exclude_kernel);
	assert_string_equal(is_about(7).name, "cpu-clock");
}

static void explains_each_paranoid_level(void **state)
{
	char why[96];

	(void)state;
	make_machine("uncore");
	for (int level = -1; level <= 4; level++) {
		as_user(level);
		snprintf(why, sizeof(why),
		         "perf_event_paranoid is %d: users without privileges may not count",
		         level);
		options.flags = 0;
		options.pid = 0;
		must_open(TEXTS("cycles", "cycles:u"));
		run_session();
		assert_int_equal(counts[0].quality,
		                 level > 2 ? PFM_QUALITY_NOT_SUPPORTED : PFM_QUALITY_EXACT);
		assert_string_equal(is_about(0).name, level == 2 ? "cycles:u" : "cycles");
		assert_int_equal(is_about(0).attr.exclude_kernel,
		                 level == 2); /* nothing that is refused as well is kept */
		assert_int_equal(is_about(0).attr.exclude_hv, level == 2);
		if (level > 2)
			expect_why(1, why);
		end_session();
		options.flags = PFM_SESSION_SYSTEM_WIDE;
		must_open(TEXTS("cycles"));
		run_session();
		assert_int_equal(counts[0].quality,
		                 level > 0 ? PFM_QUALITY_NOT_SUPPORTED : PFM_QUALITY_EXACT);
		if (level > 0)
			expect_why(0, level > 2 ? why
			                        : "counting everything on a CPU needs 0 or lower");
		end_session();
		options.flags = 0;
		options.pid = 1;
		must_open(TEXTS("cycles:u"));
		run_session();
		assert_int_equal(counts[0].cause, PFM_CAUSE_PERMISSION);
		expect_why(0, level > 2 ? why : "process 1 belongs to another user");
		end_session();
	}
}

/* Linux itself treats levels above 2 as 2. */
static int user_of_linux(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)cpu;
	(void)group;
	return pid == -1 || !attr->exclude_kernel ? -EACCES : 0;
}

static int filtered(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
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
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	expect_why(0, why);
	end_session();
}

/* The level is reported only if it is the cause. */
static void level_or_filter(void **state)
{
	(void)state;
	make_machine("uncore");
	as_user(3);
	fake.decide = user_of_linux;
	expect_permission("cycles:k", 0, 0, "counting the kernel needs 1 or lower");
	expect_permission("cycles:u", PFM_SESSION_SYSTEM_WIDE, 0,
	                  "counting everything on a CPU needs 0 or lower");
	for (int level = -1; level <= 2; level++) {
		as_user(level);
		fake.decide = filtered;
		expect_permission("cycles:u", 0, 0, "a container's seccomp filter");
		expect_permission("cycles:k", 0, 0, "a container's seccomp filter");
		expect_permission("context-switches", 0, 0, "a container's seccomp filter");
		expect_permission("cycles:u", 0, 1, "a container's seccomp filter");
		expect_permission("cycles", PFM_SESSION_SYSTEM_WIDE, 0,
		                  "a container's seccomp filter");
	}
}

static void count_whole(const char *text, int pid, unsigned flags)
{
	fake_file(&fake, "/proc/1/status", "Name:\tinit\nTgid:\t1");
	fake_file(&fake, "/proc/1/task/1/x", "");
	options.flags = flags;
	options.pid = pid;
	must_open(TEXTS(text));
	run_session();
	assert_int_equal(counts[0].quality, PFM_QUALITY_EXACT);
	assert_string_equal(is_about(0).name, text);
	end_session();
}

/* With CAP_PERFMON, or as root, the level means nothing: the kernel alone decides. A level that
 * cannot be read, or is not a number, is ignored. */
static void capabilities_count_at_every_level(void **state)
{
	static const char *const levels[] = {
		"-1", "0", "1", "2", "3", "4", "99", "", "much", NULL
	};

	(void)state;
	make_machine("uncore");
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
		/* Without the capability, and with a level that is not the cause. */
		fake.decide = ordinary_user;
		fake.number = 3;
		options.flags = 0;
		options.pid = 0;
		must_open(TEXTS("cycles:u"));
		run_session();
		expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
		if (i > 6)
			expect_why(0, "perf_event_paranoid cannot be read");
		end_session();
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
		{ 3, 0, "cpu/instructions/u", "excluding the kernel" },
		{ 3, 0, "cpu/instructions/k", "excluding user code" },
		{ 3, 0, "cpu/instructions/uk", "excluding the hypervisor" },
		{ 9, 0, "cpu/instructions/G", "excluding the host (G)" },
		{ 9, 0, "cpu/instructions/H", "excluding guests (H)" },
		{ 9, 0, "cpu/instructions/I", "excluding idle time (I)" },
		{ 3, 0, "cpu/instructions/h", "choosing levels" },
		{ 4, 0, "cpu/instructions/D", "pinning" },
		{ 5, PFM_SESSION_INHERIT, "cpu/instructions/", "counting children" },
		{ 6, 0, "cpu/instructions/", "config=0xc0" },
		{ 6, 0, "r5300c0", "no field for 0x530000" },
		{ 7, 0, "mem:0x1001/4:w", "4 bytes at 0x1001" },
		{ 8, PFM_SESSION_ENABLE_ON_EXEC, "cpu/instructions/", "starting with the program" },
		{ 10, 0, "wide/event=1,far=0x77/", "far=0x77" },
		{ 11, 0, "wide/event=1,further=0x66/", "further=0x66" },
		{ 11, 0, "wide/event=1,config4=0x66/", "further=0x66" },
	};

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/type", "60");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/event", "config:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/far", "config3:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/further", "config4:0-7");
	fake.decide = refuse_one;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.number = rows[i].refused;
		options.flags = rows[i].flags;
		must_open(&rows[i].text, 1);
		run_session();
		expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
		expect_why(0, rows[i].why);
		end_session();
	}
	/* An event that is refused alone is not refused because of its group. */
	fake.number = 0;
	options.flags = 0;
	must_open(TEXTS("{cpu/instructions/,cpu/event=0xc0,umask=0x12/}"));
	run_session();
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(1, "umask=0x12");
}

static int as_number_says(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY ? 0
	                                                                               : -f->number;
}

/* A target or resource that was gone, busy or short gives "missed"; other refusals give "not
 * supported". */
static pfm_quality_t unopened(pfm_cause_t cause)
{
	static const pfm_cause_t missed[] = { PFM_CAUSE_BUSY,       PFM_CAUSE_FILES,
		                              PFM_CAUSE_NO_PROCESS, PFM_CAUSE_NO_CPU,
		                              PFM_CAUSE_MEMORY,     PFM_CAUSE_OTHER };

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
		pfm_cause_t cause;
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
		{ EPERM, "cache-references", PFM_CAUSE_NO_PMU, "lacks the event" },
		{ EACCES, "cache-references:u", PFM_CAUSE_PERMISSION, "CAP_SYS_ADMIN" },
	};

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", "3");
	fake.decide = as_number_says;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.number = rows[i].err;
		must_open(&rows[i].text, 1);
		run_session();
		if (counts[0].cause != rows[i].cause)
			fail_msg("errno %d on %s: %s (%s)", rows[i].err, rows[i].text,
			         pfm_cause_name(counts[0].cause), is_about(0).why);
		expect_count(0, unopened(rows[i].cause), rows[i].cause);
		expect_why(0, rows[i].why);
		assert_int_equal(counts[0].sys_errno, rows[i].err);
		end_session();
	}
}

/* An error has another meaning under other circumstances. */
static void expect_refusal(int err, const char *text, const char *why)
{
	fake.number = err;
	must_open(&text, 1);
	run_session();
	assert_true(counts[0].quality >= PFM_QUALITY_NOT_COUNTED);
	expect_why(0, why);
	end_session();
}

static void surroundings_are_part_of_the_reason(void **state)
{
	static const char paranoid[] = "/proc/sys/kernel/perf_event_paranoid";

	(void)state;
	make_machine("uncore");
	fake.decide = as_number_says;
	fake_file(&fake, paranoid, "1");
	expect_refusal(EACCES, "sched:sched_switch", "lacks the permission to use tracepoints");
	expect_refusal(EACCES, "instructions", "a security module or a container's seccomp filter");
	fake_file(&fake, paranoid, "low");
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_file(&fake, paranoid, "-100");
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_remove(&fake, paranoid);
	expect_refusal(EACCES, "instructions", "perf_event_paranoid cannot be read");
	fake_file(&fake, "/proc/self/limits", "Limit Soft Hard Units");
	expect_refusal(EMFILE, "instructions", "the process cannot open more files");
	done(NULL);
	make_machine("uncore");
	fake_file(&fake, "/proc/sys/kernel/nmi_watchdog", "1");
	fake.decide = as_number_says;
	expect_refusal(EBUSY, "instructions", "nmi_watchdog=0");
}

static int alpha(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
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
	make_machine("uncore");
	fake.decide = alpha;
	must_open(TEXTS("cycles", "cycles:u", "page-faults:u"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", "2");
	fake.number = 1;
	must_open(TEXTS("cycles", "page-faults"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	assert_string_equal(is_about(0).name, "cycles");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void machine_without_pmu(void **state)
{
	(void)state;
	make_machine("hybrid");
	for (unsigned i = fake.n_files; i-- > 0;)
		if (strstr(fake.files[i].path, "/cpu_"))
			fake_remove(&fake, fake.files[i].path);
	fake.decide = as_number_says;
	fake.number = ENOENT;
	must_open(TEXTS("cycles", "L1-dcache-load-misses", "r412e"));
	run_session();
	for (unsigned i = 0; i < 3; i++) {
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
		expect_why(i, "no PMU");
	}
}

static void events_of_other_processors_are_not_counted(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("montecito::CPU_OP_CYCLES_ALL", "ev67::retinst", "task-clock"));
	run_session();
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
	must_open(TEXTS("ev67::retinst", "ev67::retinst:u", "ev67::inflt_retires",
	                "ev67::inflt_retires:u"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(event_text(1)->a.attr.type, PERF_TYPE_RAW);
	assert_false(event_text(1)->a.attr.exclude_hv);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(1, "cannot distinguish privilege levels");
	expect_count(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_why(2, "Linux cannot count this event");
	expect_count(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	end_session();
	options.plm = PFM_PLM3; /* a wish for all that can tell them apart */
	must_open(TEXTS("ev67::retinst", "page-faults"));
	run_session();
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
	run_session();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	expect_why(0, "the kernel exports no PMU for armv8");
}

static void generic_names_between_slashes(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	make_machine("uncore");
	assert_int_equal(pfm_encode_event(ctx, "cpu/cycles/u", 0, &e, &error), PFMLIB_SUCCESS);
	assert_true(e.attr.type == 4 && e.attr.config == 0x3c && e.attr.exclude_kernel);
	assert_int_equal(pfm_encode_event(ctx, "cpu/CPU-CYCLES,edge/", 0, &e, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.attr.config, 0x4003c);
	assert_int_equal(pfm_encode_event(ctx, "cpu/stalled-cycles-backend/", 0, &e, &error),
	                 PFMLIB_ERR_ATTR); /* it has no file */
	assert_int_equal(pfm_encode_event(ctx, "uncore_imc/cycles/", 0, &e, &error),
	                 PFMLIB_ERR_ATTR);
}

/* An Intel processor without a list of its own, whose CPUID says that the misses of the last cache
 * cannot be counted. */
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

/* The processor says itself which of the architectural events it lacks, whatever was asked
 * before. */
static void ask_for_missing(bool loaded, bool by_number)
{
	pfm_encoding_t e = PFM_INIT(e);
	struct event ev;
	int pmu = pfm_find_pmu(ctx, "intel_arch"), rc;
	unsigned row = 0;

	assert_true(pmu >= 0 && !context_is_loaded(ctx, LOADED_ALL));
	while (strcmp(table_get_row_name(context_get_pmu_table(ctx, (unsigned)pmu), row),
	              "LLC_MISSES") != 0)
		row++;
	if (loaded)
		assert_true(pfm_count_pmus(ctx) > 0);
	rc = by_number ? pfm_encode_event_at(ctx, pmu, row, 0, &e, &error)
	               : pfm_encode_event(ctx, "intel_arch::LLC_MISSES", 0, &e, &error);
	assert_int_equal(rc, PFMLIB_ERR_BADHOST);
	assert_int_equal(error.kind, PFM_KIND_NOT_ON_CPU);
	assert_int_equal(pfmi_lookup_event_on_pmu(ctx, "LLC_MISSES", (unsigned)pmu, &ev, &error),
	                 PFMLIB_ERR_BADHOST);
	assert_int_equal(pfm_encode_event(ctx, "intel_arch::LLC_REFERENCES", 0, &e, &error),
	                 PFMLIB_SUCCESS);
	/* Another processor's list is not this one's business. */
	assert_int_equal(pfm_encode_event(ctx, "coreduo::LLC_MISSES", 0, &e, &error),
	                 PFMLIB_SUCCESS);
}

static void architectural_events_may_be_missing(void **state)
{
	(void)state;
	make_machine("uncore");
	for (unsigned i = 0; i < 4; i++) {
		pfm_close_context(ctx);
		open_context(NULL);
		ctx->sys.read_cpuid = lacking_cpuid;
		ask_for_missing(i & 1, i & 2);
	}
}

/* The kernel shows l1d_cache_refill of this machine, and not l1d_cache, though it knows that name:
 * a bit of PMCEID0 is clear. It would open the event, whose count stays 0. */
static void events_that_the_processor_lacks(void **state)
{
	static const char *const texts[] = { "neoverse_n1::L1D_CACHE", "armv8_pmuv3_0/event=4/",
		                             "neoverse_n1::L1D_CACHE_REFILL",
		                             "neoverse_n1::L1D_CACHE_RD" };
	int pmu;
	unsigned event;

	(void)state;
	fake_recorded(&fake, "arm");
	open_context("0x00000000413fd0c1");
	must_open(texts, sizeof(texts) / sizeof(texts[0]));
	read_all();
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bool is_missing = i < 2;

		assert_int_equal(counts[i].quality == PFM_QUALITY_NOT_SUPPORTED, is_missing);
		if (is_missing)
			assert_string_equal(is_about(i).why, "this CPU does not implement it");
		if (i == 1)
			continue;
		assert_int_equal(pfm_find_event_by_text(ctx, texts[i], &pmu, &event, NULL), 0);
		assert_int_equal(pfm_is_event_implemented(ctx, pmu, event), !is_missing);
	}
	pmu = pfm_find_pmu(ctx, "skl");
	assert_int_equal(pfm_is_event_implemented(ctx, pmu, 0), 1);
	assert_int_equal(pfm_is_event_implemented(ctx, pmu, ~0u), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_is_event_implemented(ctx, -1, 0), PFMLIB_ERR_INVAL);
}

static int no_system_call(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
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
	make_machine("uncore");
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

/* Nothing on this machine counts: every event has that cause, unless it belongs to another
 * processor, which is reported first. */
static void a_machine_without_anything_that_counts(void **state)
{
	(void)state;
	fake_begin(&fake);
	open_context("GenuineIntel-6-55-4");
	fake.decide = no_system_call;
	must_open(TEXTS("page-faults", "skx::INST_RETIRED.ANY"));
	run_session();
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
	make_machine("uncore");
	fake_file(&fake, "/proc/self/limits",
	          "Limit Soft Hard Units\nMax open files            10        4096  files");
	fake.limit = 10;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("cycles", "instructions"));
	/* The second needs seven and got three: it gives them back. */
	assert_int_equal(fake_open_events(&fake), 7);
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_FILES);
	expect_why(1, "10 files");
	expect_why(1, "needs 14");
}

static void strict_sessions_fail_as_a_whole(void **state)
{
	(void)state;
	make_machine("uncore");
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
	make_machine("uncore");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = open_texts((const char *const[]){ "page-faults", rows[i].text }, 2);

		if (rc != rows[i].code || error.event != 1 || error.start != rows[i].start ||
		    error.end != rows[i].end)
			fail_msg("%s: %d at %u-%u of event %d", rows[i].text, rc, error.start,
			         error.end, error.event);
		assert_null(session);
	}
	for (unsigned i = 0; i < 65; i++)
		snprintf(many + 4 * (size_t)i, 6, "%cr%x}", i ? ',' : '{', 0x10 + i);
	assert_int_equal(open_texts((const char *const[]){ many }, 1), PFMLIB_ERR_TOOMANY);
	assert_string_equal(error.detail, "at most 64 events in a group");
	assert_int_equal(error.start, 1 + 64 * strlen("r10,"));
	assert_int_equal(open_texts((const char *const[]){ NULL }, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(open_texts((const char *const[]){ "cycles" }, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_open_session(NULL, ctx, NULL, (const char *const[]){ "cycles" }, 1, NULL),
		PFMLIB_ERR_INVAL);
}

static void lists_in_braces(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("{cpu/event=0xc0,umask=0x0,cmask=1/,mem:0x1000/4:w,page-faults}:u"));
	assert_int_equal(pfm_session_size(session), 3);
	assert_string_equal(is_about(0).name, "cpu/event=0xc0,umask=0x0,cmask=1/u");
	assert_string_equal(is_about(1).name, "mem:0x1000/4:w:u");
	assert_true(is_about(1).attr.exclude_kernel);
	assert_int_equal(event_text(2)->a.attr.config,
	                 0); /* of a breakpoint: its address is in the next word */
	assert_int_equal(event_text(2)->a.attr.bp_addr, 0x1000);
	end_session();
	must_open(TEXTS("  { cycles, instructions}S"));
	assert_string_equal(is_about(1).name, "instructions");
	end_session();
	must_open(TEXTS("{intel_arch::UNHALTED_CORE_CYCLES,cmask=1,inv,page-faults}"));
	assert_int_equal(pfm_session_size(session), 2);
}

/* Each event of a text has a count, in a group as in a list: columns of a script stay in place. */
static void each_equal_event_has_a_count(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("{cycles,instructions,cycles,cycles:u}", "cycles", "cycles"));
	assert_int_equal(pfm_session_size(session), 6);
	assert_int_equal(fake_open_events(&fake), 6);
	assert_string_equal(is_about(2).name, "cycles");
	assert_string_equal(is_about(3).name, "cycles:u");
	assert_int_equal(is_about(2).group, is_about(0).group);
	assert_int_equal(is_about(4).request, 1);
	assert_int_equal(is_about(5).request, 2);
	assert_int_not_equal(is_about(4).group, is_about(5).group);
	end_session();
	must_open(TEXTS("{page-faults,page-faults,page-faults}:u"));
	assert_int_equal(pfm_session_size(session), 3);
	assert_string_equal(is_about(2).name, "page-faults:u");
}

/* A processor with four breakpoint registers. */
static int four_breakpoints(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                            int group)
{
	unsigned n = 0;

	(void)pid;
	(void)cpu;
	(void)group;
	if (attr->type != PERF_TYPE_BREAKPOINT)
		return 0;
	for (unsigned i = 0; i < f->n_events; i++)
		n += f->events[i].used && f->events[i].a.attr.type == PERF_TYPE_BREAKPOINT;
	return n < 4 ? 0 : -ENOSPC;
}

/* Members of a group are counted together or not at all. */
static void five_breakpoints_are_no_group(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.decide = four_breakpoints;
	must_open(TEXTS("{mem:0x1000,mem:0x2000,mem:0x3000,mem:0x4000}"));
	run_session();
	for (unsigned i = 0; i < 4; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	must_open(TEXTS("{mem:0x1000,mem:0x2000,mem:0x3000,mem:0x4000,mem:0x5000}"));
	run_session();
	for (unsigned i = 0; i < 4; i++)
		expect_count(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	expect_count(4, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	expect_why(0, "mem:0x5000");
	end_session();
	/* Alone, those that fit are counted. */
	must_open(TEXTS("mem:0x1000", "mem:0x2000", "mem:0x3000", "mem:0x4000", "mem:0x5000"));
	run_session();
	for (unsigned i = 0; i < 4; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(4, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
}

static void places_that_cannot_be_grouped(void **state)
{
	(void)state;
	make_machine("uncore");
	must_open(TEXTS("{cycles,uncore_imc/clockticks/,page-faults}"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	expect_count(2, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	must_open(TEXTS("{cycles,uncore_imc/clockticks/}:W"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static int old_kernel(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
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
	make_machine("uncore");
	fake.decide = old_kernel;
	options.flags = PFM_SESSION_INHERIT;
	must_open(TEXTS("{cycles,instructions}"));
	assert_int_equal(fake.events[2].group, fake_fd(1));
	run_session();
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(counts[1].value, 3000);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(kernel_is_left_out_when_it_must),
		CASE(explains_each_paranoid_level),
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
		CASE(events_that_the_processor_lacks),
		CASE(kernel_without_perf),
		CASE(a_machine_without_anything_that_counts),
		CASE(too_few_descriptors),
		CASE(strict_sessions_fail_as_a_whole),
		CASE(texts_that_are_wrong),
		CASE(lists_in_braces),
		CASE(each_equal_event_has_a_count),
		CASE(five_breakpoints_are_no_group),
		CASE(places_that_cannot_be_grouped),
		CASE(kernel_that_cannot_read_inherited_groups),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session refusals", tests, NULL, NULL);
}
