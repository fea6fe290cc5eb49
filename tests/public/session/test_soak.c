/* SPDX-License-Identifier: MIT */
/* A program that does everything again and again: threads that open contexts and sessions, read
 * them and take samples, forks in the middle of that, children that close what they inherited and
 * count for themselves. What it holds of memory and of descriptors must not grow.
 *
 * PERFMON_SOAK: for so many seconds (5, or 1 under a sanitizer); the figures are printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include <perfmon/sampling.h>

#define THREADS      3
#define SAMPLE_BYTES 4096
#define SLACK_KIB    1024 /* what an allocator may keep of a moment when all threads held most */

static atomic_ulong sessions, contexts, forks, samples, threads, failures;
static atomic_bool over;

/* ---- figures --------------------------------------------------------------------------------- */

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static unsigned long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long size = 0, pages = 0;

	if (f) {
		if (fscanf(f, "%lu %lu", &size, &pages) != 2)
			pages = 0;
		fclose(f);
	}
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note(bool good, int line)
{
	if (good)
		return;
	failures++;
	print_message("# line %d, errno %d\n", line, errno);
}
#define must(GOOD) note(GOOD, __LINE__)

/* ---- what is done ---------------------------------------------------------------------------- */

static void count_with(const pfm_ctx_t *ctx, const pfm_session_options_t *options)
{
	static const char *const texts[] = { "{page-faults,context-switches,task-clock}:W",
		                             "page-faults", "no-such-event", "software::ratios" };
	pfm_count_t counts[16] = { 0 };
	pfm_session_t *s = NULL;
	pfm_error_t why = PFM_INIT(why);
	unsigned n;

	must(pfm_open_session(&s, ctx, options, texts + 2, 1, &why) == PFMLIB_ERR_NOTFOUND && !s);
	must(pfm_open_session(&s, ctx, options, texts, 2, NULL) == PFMLIB_SUCCESS);
	n = pfm_session_size(s);
	for (unsigned i = 0; i < n && i < 16; i++)
		counts[i].size = sizeof(counts[i]);
	must(n && n <= 16 && !pfm_start_session(s) && !pfm_reset_session(s) &&
	     !pfm_read_session(s, counts, n) && !pfm_stop_session(s));
	pfm_close_session(s);
	s = NULL;
	(void)pfm_open_session(&s, ctx, options, texts + 3, 1, NULL); /* not every machine has it */
	pfm_close_session(s);
	sessions++;
}

static void take_samples(const pfm_ctx_t *ctx)
{
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s = NULL;
	pfm_record_t record = PFM_INIT(record);
	volatile char *p;

	sampling.period = 1;
	options.sampling = &sampling;
	if (pfm_open_session(&s, ctx, &options, (const char *const[]){ "page-faults:u" }, 1, NULL))
		return;
	pfm_start_session(s);
	p = malloc(64 * SAMPLE_BYTES);
	for (unsigned i = 0; p && i < 64; i++)
		p[(size_t)i * SAMPLE_BYTES] = 1;
	free((void *)p);
	pfm_stop_session(s);
	while (pfm_next_record(s, &record) == 1)
		samples++;
	pfm_close_session(s);
}

static void one_round(unsigned number)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx = NULL;

	options.flags = number & 1 ? PFM_SESSION_INHERIT : 0;
	options.cpus = number & 2 ? "0" : NULL;
	options.pid = number & 4 ? getpid() : 0;
	count_with(NULL, &options);
	must(pfm_open_context(&ctx, NULL, NULL) == PFMLIB_SUCCESS);
	count_with(ctx, &options);
	if (number % 3 == 0)
		take_samples(ctx);
	pfm_close_context(ctx);
	contexts++;
}

static void *work(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 8 && !over; i++)
		one_round(i);
	threads++;
	return NULL;
}

/* The child of a fork amid all that drops a session of its parent's and does the same. */
static void fork_amid(void)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s = NULL;
	int status = 1;
	pid_t pid;

	options.flags = PFM_SESSION_INHERIT;
	must(!pfm_open_session(&s, NULL, &options,
	                       (const char *const[]){ "page-faults", "task-clock" }, 2, NULL) &&
	     !pfm_start_session(s));
	pid = fork();
	if (pid == 0) {
		failures = 0;
		alarm(60);
		pfm_close_session(s);
		one_round(3);
		_exit(failures != 0);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	pfm_close_session(s);
	forks++;
}

/* ---- the test -------------------------------------------------------------------------------- */

struct figures {
	unsigned descriptors;
	unsigned long kib;
};

/* True where memory is counted by something else than need: sanitizers keep what is freed, valgrind
 * and emulators are machines of their own. A child that is born while a thread holds the lock of a
 * sanitizer's allocator never gets it. */
static bool is_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
	return true;
#endif
#endif
	return getenv("LD_PRELOAD") != NULL || getenv("PERFMON_QUICK") != NULL;
}

/* Threads live for eight rounds and are followed by others. */
static struct figures soak_for(double seconds)
{
	double end = now() + seconds;

	do {
		pthread_t t[THREADS];

		for (unsigned i = 0; i < THREADS; i++)
			must(pthread_create(&t[i], NULL, work, NULL) == 0);
		for (unsigned i = 0; i < 4 && !is_watched(); i++)
			fork_amid();
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		if (is_watched())
			fork_amid();
	} while (now() < end);
	return (struct figures){ descriptors(), resident_kib() };
}

static void memory_and_descriptors_do_not_grow(void **state)
{
	const char *wanted = getenv("PERFMON_SOAK");
	double seconds = wanted && *wanted ? strtod(wanted, NULL) : is_watched() ? 1 : 5;
	struct figures first, last;

	(void)state;
	first = soak_for(seconds / 5);
	last = soak_for(seconds * 4 / 5);
	print_message("# %.0f s: %lu contexts, %lu sessions, %lu threads, %lu forks, %lu samples\n",
	              seconds, (unsigned long)contexts, (unsigned long)sessions,
	              (unsigned long)threads, (unsigned long)forks, (unsigned long)samples);
	print_message("# %u descriptors and %lu KiB after a fifth, %u and %lu at the end\n",
	              first.descriptors, first.kib, last.descriptors, last.kib);
	assert_int_equal(failures, 0);
	assert_int_equal(last.descriptors, first.descriptors);
	if (!is_watched())
		assert_true(last.kib <= first.kib + SLACK_KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(memory_and_descriptors_do_not_grow) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
