/* SPDX-License-Identifier: MIT */
/* Counting on the kernel we run on, against what is known from elsewhere: pages touched, rusage,
 * the CPU clock, system calls made, stores made. What this kernel or this user does not allow is
 * skipped with the session's own reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

static pfm_session_t *session;
static pfm_session_options_t options;
static pfm_count_t counts[16];

#define TEXTS(...)                                                                                 \
	(const char *const[]){ __VA_ARGS__ },                                                      \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

static int set_up(void **state)
{
	(void)state;
	options = (pfm_session_options_t){ .size = sizeof(options) };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pfm_close_session(session);
	session = NULL;
	return 0;
}

static pfm_count_info_t about(unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_count(session, i, &info), PFMLIB_SUCCESS);
	return info;
}

static void read_counts(void)
{
	unsigned n = pfm_session_size(session);

	assert_true(n <= 16);
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	assert_int_equal(pfm_read_session(session, counts, n), PFMLIB_SUCCESS);
}

/* Nothing was started yet: what was opened has had no time. */
static bool not_opened(const pfm_count_t *c)
{
	return c->quality == PFM_QUALITY_NOT_SUPPORTED ||
	       (c->quality == PFM_QUALITY_NOT_COUNTED && c->cause != PFM_CAUSE_NO_TIME);
}

/* Opens a session, or skips the test when this machine cannot count one of the events. */
static void open_or_skip(const char *const *texts, unsigned n)
{
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_open_session(&session, NULL, &options, texts, n, &error);

	if (rc == PFMLIB_ERR_NOTFOUND && error.sys_errno) {
		print_message("# SKIP %s\n", error.detail);
		skip();
	}
	if (rc)
		fail_msg("open: %d %s %s", rc, pfm_error_kind_name(error.kind),
		         error.detail ? error.detail : "");
	read_counts();
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		if (not_opened(&counts[i])) {
			print_message("# SKIP %s: %s\n", about(i).name, about(i).why);
			skip();
		}
}

static void start(void)
{
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
}

static void stop(void)
{
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	read_counts();
}

static void expect_between(unsigned i, uint64_t low, uint64_t high)
{
	if (counts[i].quality != PFM_QUALITY_EXACT)
		fail_msg("%s is %s: %s", about(i).name, pfm_quality_name(counts[i].quality),
		         about(i).why);
	if (counts[i].value < low || counts[i].value > high)
		fail_msg("%s is %llu, not %llu to %llu", about(i).name,
		         (unsigned long long)counts[i].value, (unsigned long long)low,
		         (unsigned long long)high);
}

/* Maps @pages pages that were never touched. */
static void *fresh(size_t pages)
{
	size_t size = pages * (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

/* Sanitizers keep books in memory of their own: not about these pages. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
write_to(void *p, size_t pages, size_t size)
{
	for (size_t i = 0; i < pages; i++)
		*((volatile char *)p + i * size) = 1;
}

static void touch(size_t pages)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *p = fresh(pages);

	write_to(p, pages, size);
	munmap(p, pages * size);
}

static void page_faults_are_fresh_pages(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *p = fresh(1001);

	(void)state;
	open_or_skip(TEXTS("page-faults"));
	start();
	write_to((char *)p + 1000 * size, 1,
	         size); /* what the calls around it touch for the first time themselves */
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	write_to(p, 1000, size);
	stop();
	munmap(p, 1001 * size);
	expect_between(0, 1000, 1004);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void burn(double time)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + time;

	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static uint64_t switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return (uint64_t)(r.ru_nvcsw + r.ru_nivcsw);
}

/* Seconds for which this thread was ready and did not run; 0 where the kernel does not tell. */
static double waited(void)
{
	unsigned long long ran, ready = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f && fscanf(f, "%llu %llu", &ran, &ready) != 2)
		ready = 0;
	if (f)
		fclose(f);
	return (double)ready * 1e-9;
}

/* Counts the clock while CPU time passes, which must be between *@low and *@high nanoseconds then.
 * The scheduler's clock may leave out what interrupts and the hypervisor take, which the event
 * counts: hence the time in which the thread did not wait is the most. The event misses what the
 * kernel does between the two, at each switch. The clocks of CPUs and of the machine differ by
 * their rates: hence one in 200. */
static void clock_cpu_time(uint64_t *low, uint64_t *high)
{
	static const double per_switch = 20e-6;
	double wall, least, wait;
	uint64_t n;

	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	n = switches();
	wall = seconds(CLOCK_MONOTONIC);
	wait = waited();
	start();
	least = seconds(CLOCK_THREAD_CPUTIME_ID);
	burn(0.05);
	least = seconds(CLOCK_THREAD_CPUTIME_ID) - least;
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	wait = waited() - wait;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	n = switches() - n;
	read_counts();
	*low = (uint64_t)((least * 0.995 - (double)n * per_switch) * 1e9);
	*high = (uint64_t)((wall - wait) * 1.005 * 1e9);
}

/* A forked child that drops its copy of the session, as Python's does when it ends, takes nothing
 * from the parent. */
static void a_child_drops_its_copy(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *p = fresh(1000);
	int status;
	pid_t pid;

	(void)state;
	open_or_skip(TEXTS("page-faults:u"));
	start();
	pid = fork();
	if (pid == 0) {
		pfm_close_session(session);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	write_to(p, 1000, size);
	stop();
	munmap(p, 1000 * size);
	expect_between(0, 1000, 1010);
}

static void task_clock_is_cpu_time(void **state)
{
	static const double msec = 1e-6; /* a constant may be more precise than a double */
	uint64_t low = 0, high = 0;

	(void)state;
	open_or_skip(TEXTS("task-clock"));
	clock_cpu_time(&low, &high);
	expect_between(0, low, high);
	assert_true(counts[0].scale == msec);
	assert_string_equal(about(0).unit, "msec");
}

/* Two processes on one CPU that hand a byte back and forth: the reader waits while the other
 * runs. */
static void ping_pong(unsigned rounds)
{
	int there[2], back[2];
	pid_t child;
	char c = 0;

	assert_true(pipe(there) == 0 && pipe(back) == 0);
	child = fork();
	if (child == 0) {
		close(there[1]);
		close(back[0]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	for (unsigned i = 0; i < rounds; i++)
		assert_true(write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1);
	close(there[1]);
	close(back[0]);
	waitpid(child, NULL, 0);
}

static void stay_on_one_cpu(bool on)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (on) {
		sched_getaffinity(0, sizeof(all), &all);
		CPU_ZERO(&one);
		CPU_SET((unsigned)sched_getcpu(), &one);
	}
	sched_setaffinity(0, sizeof(cpu_set_t), on ? &one : &all);
}

static void context_switches_of_a_ping_pong(void **state)
{
	uint64_t before, inner, outer;

	(void)state;
	open_or_skip(TEXTS("context-switches"));
	stay_on_one_cpu(true);
	outer = switches();
	start();
	before = switches();
	ping_pong(500);
	inner = switches() - before;
	stop();
	outer = switches() - outer;
	stay_on_one_cpu(false);
	assert_true(inner >= 500);
	expect_between(0, inner, outer);
}

/* Skips where system calls of this program have no tracepoint. */
static void require_traced_system_calls(void)
{
	struct utsname kernel;

	assert_int_equal(uname(&kernel), 0);
	if (sizeof(long) == 4 && strstr(kernel.machine, "64") != NULL) {
		print_message("# SKIP a 64-bit kernel traces no system calls of 32-bit programs\n");
		skip();
	}
}

static void tracepoint_counts_system_calls(void **state)
{
	(void)state;
	require_traced_system_calls();
	open_or_skip(TEXTS("syscalls:sys_enter_getppid"));
	start();
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	stop();
	expect_between(0, 50, 50);
}

/* Two ways to see the same thing, in one group: they agree to the last one. */
static void tracepoint_agrees_with_software_event(void **state)
{
	(void)state;
	open_or_skip(TEXTS("{context-switches,sched:sched_switch}"));
	stay_on_one_cpu(true);
	start();
	ping_pong(100);
	stop();
	stay_on_one_cpu(false);
	assert_true(counts[0].value >= 100);
	assert_int_equal(counts[0].value, counts[1].value);
	assert_int_equal(counts[0].enabled, counts[1].enabled);
}

static volatile uint64_t watched;

static void __attribute__((noinline)) called(void)
{
	__asm__ volatile("");
}

static void breakpoints_count_stores_and_calls(void **state)
{
	char store[64], call[64];

	(void)state;
	snprintf(store, sizeof(store), "mem:0x%llx/8:w:u", (unsigned long long)(uintptr_t)&watched);
	snprintf(call, sizeof(call), "mem:0x%llx:x:u", (unsigned long long)(uintptr_t)called);
	open_or_skip(TEXTS(store, call));
	start();
	for (int i = 0; i < 11; i++)
		watched = (uint64_t)i;
	for (int i = 0; i < 7; i++)
		called();
	stop();
	expect_between(0, 11, 11);
	expect_between(1, 7, 7);
}

/* 100 of each event happen: stores and faults of this thread's user code, or calls that enter the
 * kernel. @restriction leaves @truth of them; an event that Linux cannot restrict so is not
 * supported. */
static void expect_restricted(const char *event, const char *restriction, uint64_t truth,
                              bool is_supported)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char text[96];
	void *p = fresh(100);

	snprintf(text, sizeof(text), "%s%s", event, restriction);
	assert_int_equal(pfm_open_session(&session, NULL, NULL, TEXTS(text), NULL), PFMLIB_SUCCESS);
	start();
	write_to(p, 100, size);
	for (int i = 0; i < 100; i++)
		watched = (uint64_t)syscall(SYS_getppid);
	stop();
	munmap(p, 100 * size);
	if (is_supported != (counts[0].quality == PFM_QUALITY_EXACT) ||
	    is_supported == (counts[0].quality == PFM_QUALITY_NOT_SUPPORTED))
		fail_msg("%s is %s: %s", text, pfm_quality_name(counts[0].quality), about(0).why);
	if (is_supported)
		expect_between(0, truth, truth + (strncmp(event, "page", 4) == 0 ? 8 : 0));
	tear_down(NULL);
}

/* The truth is in the loops above, not in what the kernel accepts. */
static void restricted_events_count_what_their_letters_say(void **state)
{
	static const struct {
		const char *event, *restriction;
		uint64_t truth;
		bool is_supported;
	} lines[] = {
		{ "page-faults", "", 100, true },
		{ "page-faults", ":u", 100, true },
		{ "page-faults", ":k", 0, true },
		{ "page-faults", ":uk", 100, true },
		{ "page-faults", ":GH", 100, true },
		{ "page-faults", ":G", 0, false },
		{ "page-faults", ":H", 100, false },
		{ "page-faults", ":uI", 100, false },
		{ "mem", "", 100, true },
		{ "mem", ":u", 100, true },
		{ "mem", ":k", 0, true },
		{ "mem", ":uG", 0, false },
		{ "mem", ":uH", 100, false },
		{ "mem", ":uI", 100, false },
		{ "syscalls:sys_enter_getppid", "", 100, true },
		{ "syscalls:sys_enter_getppid", ":uk", 100, true },
		{ "syscalls:sys_enter_getppid", ":u", 0, false },
		{ "syscalls:sys_enter_getppid", ":k", 100, false },
		{ "syscalls:sys_enter_getppid", ":G", 0, false },
		{ "syscalls:sys_enter_getppid", ":H", 100, false },
		{ "syscalls:sys_enter_getppid", ":I", 100, false },
		{ "sched:sched_switch", ":u", 0, false },
		{ "task-clock", ":G", 0, false },
		{ "task-clock", ":I", 0, false },
		{ "context-switches", ":G", 0, false },
	};
	char store[64];

	(void)state;
	require_traced_system_calls();
	/* A store to more than a register is two stores. */
	snprintf(store, sizeof(store), "mem:0x%llx/%zu:w", (unsigned long long)(uintptr_t)&watched,
	         sizeof(long));
	/* skips where one of the kinds cannot be counted */
	open_or_skip(TEXTS("page-faults", store, "syscalls:sys_enter_getppid"));
	tear_down(NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect_restricted(strcmp(lines[i].event, "mem") == 0 ? store : lines[i].event,
		                  lines[i].restriction, lines[i].truth, lines[i].is_supported);
}

static void breakpoint_registers_run_out(void **state)
{
	static char names[16][64];
	const char *texts[16];
	unsigned i = 0;
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	for (i = 0; i < 16; i++) {
		snprintf(names[i], sizeof(names[i]), "mem:0x%llx/1:w:u",
		         (unsigned long long)(uintptr_t)names[i]);
		texts[i] = names[i];
	}
	assert_int_equal(pfm_open_session(&session, NULL, NULL, texts, 16, &error), PFMLIB_SUCCESS);
	read_counts();
	if (not_opened(&counts[0])) {
		print_message("# SKIP %s\n", about(0).why);
		skip();
	}
	assert_int_equal(counts[15].quality, PFM_QUALITY_NOT_COUNTED);
	assert_int_equal(counts[15].cause, PFM_CAUSE_BUSY);
	assert_non_null(strstr(about(15).why, "breakpoint registers are in use"));
}

static void counts_children_on_request(void **state)
{
	(void)state;
	for (unsigned inherit = 0; inherit < 2; inherit++) {
		options.flags = inherit ? PFM_SESSION_INHERIT : 0;
		open_or_skip(TEXTS("{page-faults,task-clock}"));
		start();
		if (fork() == 0) {
			touch(2000);
			_exit(0);
		}
		wait(NULL);
		stop();
		assert_true(inherit ? counts[0].value >= 2000 : counts[0].value < 2000);
		tear_down(NULL);
	}
}

static void program_is_counted_from_its_start(void **state)
{
	int go[2];
	pid_t child;
	char c = 0;

	(void)state;
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]); /* so that it ends if the test does */
		if (read(go[0], &c, 1) == 1)
			execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	options.pid = child;
	options.flags = PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_INHERIT;
	open_or_skip(TEXTS("task-clock", "page-faults:u", "context-switches"));
	start();
	read_counts();
	assert_int_equal(counts[0].quality, PFM_QUALITY_NOT_COUNTED); /* it still waits */
	assert_int_equal(counts[0].cause, PFM_CAUSE_NO_TIME);
	assert_int_equal(write(go[1], &c, 1), 1);
	waitpid(child, NULL, 0);
	read_counts();
	assert_int_equal(counts[0].quality, PFM_QUALITY_EXACT);
	assert_true(counts[0].value > 10000);
	assert_true(counts[1].value > 10);
	close(go[0]);
	close(go[1]);
}

static void reports_missing_processes(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	options.pid = child;
	assert_int_equal(pfm_open_session(&session, NULL, &options, TEXTS("page-faults:u"), NULL),
	                 PFMLIB_SUCCESS);
	read_counts();
	/* The kernel looks at permissions first. */
	if (geteuid() == 0)
		assert_int_equal(counts[0].cause, PFM_CAUSE_NO_PROCESS);
	assert_int_equal(counts[0].quality, counts[0].cause == PFM_CAUSE_NO_PROCESS
	                                            ? PFM_QUALITY_NOT_COUNTED
	                                            : PFM_QUALITY_NOT_SUPPORTED);
}

static void system_wide_time_equals_the_clock(void **state)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double wall;

	(void)state;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	open_or_skip(TEXTS("cpu-clock", "page-faults"));
	assert_int_equal(about(0).n_kernel_events, cpus);
	wall = seconds(CLOCK_MONOTONIC);
	start();
	usleep(50000); /* the time that is measured */
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	read_counts();
	expect_between(0, (uint64_t)(0.045e9 * (double)cpus),
	               (uint64_t)(wall * 1e9 * (double)cpus * 1.01));
}

static void cpus_that_do_not_exist(void **state)
{
	(void)state;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "4096";
	assert_int_equal(pfm_open_session(&session, NULL, &options, TEXTS("cpu-clock"), NULL),
	                 PFMLIB_SUCCESS);
	read_counts();
	assert_int_equal(counts[0].cause, PFM_CAUSE_NO_CPU);
}

static void hardware_counts_or_says_why(void **state)
{
	(void)state;
	assert_int_equal(pfm_open_session(&session, NULL, NULL, TEXTS("instructions:u"), NULL),
	                 PFMLIB_SUCCESS);
	start();
	burn(0.01);
	stop();
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		if (counts[i].quality == PFM_QUALITY_EXACT && counts[i].value) {
			assert_true(counts[i].value > 100000);
			return;
		}
		assert_true(*about(i).why);
	}
	if (counts[0].quality == PFM_QUALITY_NOT_SUPPORTED && counts[0].sys_errno == ENOENT)
		assert_int_equal(counts[0].cause, PFM_CAUSE_NO_PMU);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void descriptors_run_out_and_come_back(void **state)
{
	unsigned before = open_files();
	struct rlimit old, few;
	int next = dup(1);

	(void)state;
	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = (rlim_t)next + 2; /* room for two more */
	setrlimit(RLIMIT_NOFILE, &few);
	assert_int_equal(pfm_open_session(&session, NULL, NULL,
	                                  TEXTS("page-faults:u", "task-clock", "page-faults:u",
	                                        "task-clock", "page-faults:u"),
	                                  NULL),
	                 PFMLIB_SUCCESS);
	read_counts();
	setrlimit(RLIMIT_NOFILE, &old);
	if (counts[4].cause != PFM_CAUSE_PERMISSION) {
		assert_int_equal(counts[4].cause, PFM_CAUSE_FILES);
		assert_int_equal(counts[4].quality, PFM_QUALITY_NOT_COUNTED);
	} else {
		assert_int_equal(counts[4].quality, PFM_QUALITY_NOT_SUPPORTED);
	}
	tear_down(NULL);
	assert_int_equal(open_files(), before);
	open_or_skip(TEXTS("{page-faults,task-clock}:u", "task-clock"));
	tear_down(NULL);
	assert_int_equal(open_files(), before);
}

/* Counting as an ordinary user, in a child that changes its user. */
static void an_ordinary_user_counts_without_the_kernel(void **state)
{
	char level[16] = "";
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int status;
	pid_t child;

	(void)state;
	if (f) {
		if (!fgets(level, sizeof(level), f))
			level[0] = '\0';
		fclose(f);
	}
	if (geteuid() != 0 || atoi(level) != 2) {
		print_message("# SKIP needs root to become somebody else, and perf_event_paranoid "
		              "at its usual 2\n");
		skip();
	}
	child = fork();
	if (child == 0) {
		pfm_count_t c[3] = { PFM_INIT(c[0]), PFM_INIT(c[1]), PFM_INIT(c[2]) };
		pfm_count_info_t info = PFM_INIT(info);

		if (setgid(65534) || setuid(65534))
			_exit(10);
		if (pfm_open_session(&session, NULL, NULL,
		                     TEXTS("page-faults", "context-switches", "page-faults:k"),
		                     NULL))
			_exit(11);
		if (pfm_start_session(session))
			_exit(12);
		touch(100);
		if (pfm_stop_session(session) || pfm_read_session(session, c, 3) ||
		    pfm_describe_count(session, 0, &info))
			_exit(13);
		if (c[0].quality != PFM_QUALITY_EXACT || c[0].value < 100 ||
		    strcmp(info.name, "page-faults:u") != 0)
			_exit(14);
		if (c[1].cause != PFM_CAUSE_PERMISSION || c[2].cause != PFM_CAUSE_PERMISSION)
			_exit(15);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* If tracefs is not mounted, root mounts it for this process alone. */
static void see_tracepoints(void)
{
	if (geteuid() != 0 || access("/sys/kernel/tracing/events", F_OK) == 0 ||
	    unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return;
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) != 0)
		print_message("# tracefs cannot be mounted: %s\n", strerror(errno));
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(page_faults_are_fresh_pages),
		CASE(a_child_drops_its_copy),
		CASE(task_clock_is_cpu_time),
		CASE(context_switches_of_a_ping_pong),
		CASE(tracepoint_counts_system_calls),
		CASE(tracepoint_agrees_with_software_event),
		CASE(breakpoints_count_stores_and_calls),
		CASE(restricted_events_count_what_their_letters_say),
		CASE(breakpoint_registers_run_out),
		CASE(counts_children_on_request),
		CASE(program_is_counted_from_its_start),
		CASE(reports_missing_processes),
		CASE(system_wide_time_equals_the_clock),
		CASE(cpus_that_do_not_exist),
		CASE(hardware_counts_or_says_why),
		CASE(descriptors_run_out_and_come_back),
		CASE(an_ordinary_user_counts_without_the_kernel),
	};

	see_tracepoints();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
