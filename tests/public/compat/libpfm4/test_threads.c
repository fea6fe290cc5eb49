/* SPDX-License-Identifier: MIT */
/* libpfm.so.4 and threads: eight of them initialise, ask and terminate at will. Whatever another
 * one does, an answer is the right one, or that nothing is initialised. The machine is a folder, so
 * that tracepoints and devices are read as well. Run under ThreadSanitizer and helgrind this is
 * also the test for races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };

static char root[] = P_tmpdir "/libpfm4-threads-XXXXXX";

static const char *const files[][2] = {
	{ "/proc/cpuinfo", "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 94\n" },
	{ "/proc/mounts", "none /debug debugfs rw 0 0\n" },
	{ "/proc/sys/kernel/perf_event_paranoid", "2\n" },
	{ "/sys/bus/event_source/devices/cpu/type", "4\n" },
	{ "/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms", "4\n" },
	{ "/debug/tracing/events/sched/sched_switch/id", "314\n" },
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static const struct {
	const char *text;
	uint64_t word;
} asked[] = {
	{ "skl::L2_RQSTS:DEMAND_DATA_RD_HIT:c=1", 0x153c124 },
	{ "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:u", 0x5100c0 },
	{ "snbep_unc_cbo0::UNC_C_CLOCKTICKS", 0x0 },
	{ "perf::L1-DCACHE-LOADS", 0x0 },
	{ "power9::PM_CYC", 0x1001e },
	{ "sched:sched_switch", 314 },
};

/* ---- the machine ----------------------------------------------------------------------------- */

static void path_of(char path[256], unsigned i)
{
	snprintf(path, 256, "%s%s", root, files[i][0]);
}

static void make_folders(char *path)
{
	for (char *s = path + strlen(root); (s = strchr(s + 1, '/'));) {
		*s = '\0';
		mkdir(path, 0700);
		*s = '/';
	}
}

static int make_machine(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (unsigned i = 0; i < FILES; i++) {
		char path[256];
		FILE *f;

		path_of(path, i);
		make_folders(path);
		f = fopen(path, "we");
		if (!f || fputs(files[i][1], f) < 0 || fclose(f))
			return -1;
	}
	return setenv("PERFMON_SYSFS", root, 1) || setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
}

/* A folder goes with the last file in it. */
static int remove_machine(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FILES; i++) {
		char path[256], *slash;

		path_of(path, i);
		unlink(path);
		while ((slash = strrchr(path + 1, '/')) && strlen(path) > strlen(root)) {
			*slash = '\0';
			rmdir(path);
		}
	}
	return 0;
}

/* ---- the threads ----------------------------------------------------------------------------- */

static unsigned ask_words(unsigned i)
{
	uint64_t *codes = NULL;
	char *name = NULL;
	int count = 0, rc = pfm_get_event_encoding(asked[i].text, PFM_PLM0 | PFM_PLM3, &name, NULL,
	                                           &codes, &count);
	unsigned wrong = rc != PFM_SUCCESS && rc != PFM_ERR_NOINIT;

	if (rc == PFM_SUCCESS)
		wrong = count < 1 || codes[0] != asked[i].word || !name || !*name;
	free(codes);
	free(name);
	return wrong;
}

static unsigned ask_attr(unsigned i)
{
	struct perf_event_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	rc = pfm_get_perf_event_encoding(asked[i].text, PFM_PLM3, &attr, NULL, NULL);
	/* The box has no device on this machine. */
	return rc != PFM_SUCCESS && rc != PFM_ERR_NOINIT &&
	       !(rc == PFM_ERR_NOTSUPP && strncmp(asked[i].text, "snbep", 5) == 0);
}

static unsigned ask_pmu(void)
{
	pfm_pmu_info_t p;
	pfm_event_info_t e;
	int rc, event;

	memset(&p, 0, sizeof(p));
	memset(&e, 0, sizeof(e));
	rc = pfm_get_pmu_info(PFM_PMU_INTEL_SKL, &p);
	if (rc)
		return rc != PFM_ERR_NOINIT;
	event = pfm_get_event_next(p.first_event);
	rc = event < 0 ? PFM_ERR_NOINIT : pfm_get_event_info(event, PFM_OS_PERF_EVENT_EXT, &e);
	return !p.is_present || (rc != PFM_SUCCESS && rc != PFM_ERR_NOINIT) ||
	       (rc == PFM_SUCCESS && !*e.name);
}

static void *ask(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg, wrong = 0,
		 rounds = getenv("PERFMON_QUICK") ? 200 : 1000;
	const unsigned n = sizeof(asked) / sizeof(asked[0]);

	for (unsigned i = 0; i < rounds; i++) {
		wrong += pfm_initialize() != PFM_SUCCESS;
		wrong += ask_words((i + number) % n);
		wrong += ask_attr((i + number) % n);
		wrong += ask_pmu();
		if (i % 16 == number)
			pfm_terminate();
	}
	return (void *)(uintptr_t)wrong;
}

static void eight_threads_initialise_ask_and_terminate(void **state)
{
	pthread_t t[THREADS];
	uintptr_t wrong = 0;
	void *one;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, ask, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i], &one), 0);
		wrong += (uintptr_t)one;
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		assert_int_equal(ask_words(i), 0);
	pfm_terminate();
}

static atomic_uint started;
static atomic_int phase;
enum { WAIT, FORK, END };

/* The lists of tracepoints are read once in a process: the children do that as well, while they are
 * born. */
static void *start_without_end(void *arg)
{
	(void)arg;
	atomic_fetch_add(&started, 1);
	while (atomic_load(&phase) == WAIT)
		;
	while (atomic_load(&phase) == FORK) {
		pfm_initialize();
		ask_words(0);
		pfm_terminate();
	}
	return NULL;
}

/* Forks while two threads start and end the library: whether every child got its answers. */
static bool children_are_born(unsigned children)
{
	pthread_t t[2];
	int bad = 0;

	atomic_store(&started, 0);
	atomic_store(&phase, WAIT);
	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, start_without_end, NULL))
			return false;
	/* A checker of threads has locks of its own while one is born, which fork() does not wait
	 * for. */
	while (atomic_load(&started) < 2)
		sched_yield();
	atomic_store(&phase, FORK);
	for (unsigned i = 0; i < children && !bad; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(60);
			_exit(pfm_initialize() != PFM_SUCCESS || ask_words(0) || ask_attr(5));
		}
		if (pid < 0 || waitpid(pid, &bad, 0) != pid)
			bad = -1;
	}
	atomic_store(&phase, END);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return !bad;
}

/* A child that allocates was seen to wait for the lock of AddressSanitizer's allocator, and one of
 * ThreadSanitizer's for its own. */
static void skip_with_checkers(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("# SKIP locks of a sanitizer do not always survive a fork() beside other "
	              "threads\n");
	skip();
#endif
}

static void a_child_is_born_while_others_start(void **state)
{
	(void)state;
	skip_with_checkers();
	assert_true(children_are_born(getenv("PERFMON_QUICK") ? 20 : 200));
}

/* fork() waits for the lock from the start of the process, not only from the first
 * initialisation on. Each try needs a child, because a process initialises only once. */
static void a_child_is_born_beside_the_first_start(void **state)
{
	unsigned tries = getenv("PERFMON_QUICK") ? 20 : 400;

	(void)state;
	skip_with_checkers();
	for (unsigned i = 0; i < tries; i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(!children_are_born(1));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_child_is_born_beside_the_first_start), /* before anything has been read,
		                                                    as the next one */
		cmocka_unit_test(a_child_is_born_while_others_start),
		cmocka_unit_test(eight_threads_initialise_ask_and_terminate),
	};

	return cmocka_run_group_tests_name("libpfm4_threads", tests, make_machine, remove_machine);
}
