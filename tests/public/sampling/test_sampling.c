/* SPDX-License-Identifier: MIT */
/* Sampling on the running kernel, against independent facts: pages touched once each, system calls
 * made, the address of a loop, tasks started and ended. samples + lost = floor(count / period)
 * holds everywhere. Tests that this kernel or user does not allow are skipped with the session's
 * own reason. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/sampling.h>

static pfm_session_t *session;
static pfm_session_options_t options;
static pfm_sampling_t sampling;

#define TEXTS(...)                                                                                 \
	(const char *const[]){ __VA_ARGS__ },                                                      \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

static int set_up(void **state)
{
	(void)state;
	sampling = (pfm_sampling_t){ .size = sizeof(sampling) };
	options = (pfm_session_options_t){ .size = sizeof(options), .sampling = &sampling };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pfm_close_session(session);
	session = NULL;
	return 0;
}

static void skip_because(const char *why)
{
	print_message("# SKIP %s\n", why);
	skip();
}

static void open_or_skip(const char *const *texts, unsigned n)
{
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_open_session(&session, NULL, &options, texts, n, &error);

	if (rc == PFMLIB_ERR_NOTFOUND && error.sys_errno)
		skip_because(error.detail);
	if (rc)
		fail_msg("open: %d %s %s", rc, pfm_error_kind_name(error.kind),
		         error.detail ? error.detail : "");
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		pfm_count_info_t info = PFM_INIT(info);

		pfm_describe_count(session, i, &info);
		if (*info.why)
			skip_because(info.why);
	}
}

static pfm_sample_statistics_t samples_of(unsigned i)
{
	pfm_sample_statistics_t c = PFM_INIT(c);

	assert_int_equal(pfm_sampling_statistics(session, i, &c), PFMLIB_SUCCESS);
	return c;
}

static bool next(pfm_record_t *r)
{
	int rc;

	r->size = sizeof(*r);
	rc = pfm_next_record(session, r);
	assert_true(rc >= 0);
	return rc;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map_pages(size_t pages)
{
	char *p = mmap(NULL, pages * page_size(), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise(p, pages * page_size(), MADV_NOHUGEPAGE);
	return p;
}

__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
touch(char *p, size_t pages, size_t size)
{
	for (size_t i = 0; i < pages; i++)
		*((volatile char *)p + i * size) = 1;
}

/* ---- page faults ----------------------------------------------------------------------------- */

static void every_page_comes_once_with_its_address(void **state)
{
	enum { PAGES = 1000 };
	char *p = map_pages(PAGES);
	size_t size = page_size(), at = 0;
	uint64_t time = 0;
	pfm_record_t r;

	(void)state;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_ADDR | PFM_SAMPLE_TID | PFM_SAMPLE_PERIOD;
	open_or_skip(TEXTS("page-faults:u"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	touch(p, PAGES, size);
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	while (next(&r)) {
		assert_int_equal(r.type, PFM_RECORD_SAMPLE);
		assert_int_equal(r.event, 0);
		assert_int_equal(r.tid, syscall(SYS_gettid));
		assert_int_equal(r.body.sample.period, 1);
		assert_true(r.time >= time);
		time = r.time;
		if (r.body.sample.addr < (uintptr_t)p ||
		    r.body.sample.addr >= (uintptr_t)p + PAGES * size)
			continue; /* the session's own memory */
		assert_int_equal(r.body.sample.addr, (uintptr_t)p + at++ * size);
		assert_int_equal(r.misc & PFM_MISC_MODE, PFM_MISC_USER);
	}
	assert_int_equal(at, PAGES);
	assert_int_equal(samples_of(0).samples, samples_of(0).count);
	assert_int_equal(samples_of(0).lost, 0);
	assert_int_equal(samples_of(0).quality, PFM_QUALITY_EXACT);
	munmap(p, PAGES * size);
}

/* The kernel ignores the period of software events if PERF_SAMPLE_PERIOD is requested. */
static void a_period_of_a_software_event_is_kept(void **state)
{
	enum { PAGES = 1000 };
	char *p = map_pages(PAGES);
	pfm_sample_statistics_t c;
	pfm_record_t r;

	(void)state;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD;
	open_or_skip(TEXTS("page-faults:u:period=7"));
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (next(&r))
		assert_int_equal(r.body.sample.period, 7);
	c = samples_of(0);
	assert_int_equal(c.samples, c.count / 7);
	assert_int_equal(c.weight, c.samples * 7);
	assert_int_equal(c.period, 7);
	munmap(p, PAGES * page_size());
}

static void reports_samples_lost_by_a_slow_reader_exactly(void **state)
{
	enum { PAGES = 10000 };
	char *p = map_pages(PAGES);
	pfm_sample_statistics_t c;
	pfm_record_t r;

	(void)state;
	sampling.pages = 4;
	open_or_skip(TEXTS("page-faults:u"));
	if (samples_of(0).lost == PFM_LOST_UNKNOWN)
		skip_because("this kernel does not tell losses");
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (next(&r))
		/* no record follows the losses, so that no record reports them */
		assert_int_not_equal(r.type, PFM_RECORD_LOST);
	c = samples_of(0);
	assert_true(c.count >= PAGES);
	assert_true(c.lost > 0 && c.samples > 0);
	assert_int_equal(c.samples + c.lost, c.count);
	assert_int_equal(c.quality, PFM_QUALITY_PARTIAL);
	assert_int_equal(c.cause, PFM_CAUSE_LOST);
	munmap(p, PAGES * page_size());
}

static void losses_between_samples_come_as_a_record(void **state)
{
	enum { PAGES = 3000 };
	char *p = map_pages(PAGES + 10);
	pfm_buffer_info_t b = PFM_INIT(b);
	uint64_t told = 0;
	pfm_record_t r;

	(void)state;
	sampling.pages = 4;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (next(&r))
		;
	pfm_start_session(session);
	touch(p + PAGES * page_size(), 10, page_size());
	pfm_stop_session(session);
	while (next(&r))
		if (r.type == PFM_RECORD_LOST) {
			told += r.body.lost.lost;
			assert_int_equal(r.event, PFM_NO_EVENT);
		}
	assert_true(told > 0);
	if (samples_of(0).lost != PFM_LOST_UNKNOWN)
		assert_int_equal(told, samples_of(0).lost);
	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	assert_int_equal(b.lost, told);
	assert_int_equal(b.n, 1);
	assert_int_equal(b.pages, 4);
	munmap(p, (PAGES + 10) * page_size());
}

static void distinguishes_events_in_one_buffer(void **state)
{
	enum { PAGES = 500 };
	char *p = map_pages(PAGES);
	pfm_buffer_info_t b = PFM_INIT(b);
	unsigned seen[3] = { 0 };
	pfm_record_t r;

	(void)state;
	open_or_skip(TEXTS("page-faults:u", "minor-faults:u:period=5", "task-clock:period=100000"));
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (next(&r)) {
		assert_true(r.event < 3);
		seen[r.event] += r.type == PFM_RECORD_SAMPLE;
	}
	assert_int_equal(seen[0], samples_of(0).count);
	assert_int_equal(seen[1], samples_of(1).count / 5);
	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	assert_int_equal(b.n, 1);
	munmap(p, PAGES * page_size());
}

static void raw_bytes_are_whole_records(void **state)
{
	enum { PAGES = 300 };
	char *p = map_pages(PAGES);
	uint64_t bytes = 0;
	const void *at;
	unsigned buffer;
	size_t len;

	(void)state;
	sampling.fields = PFM_SAMPLE_IP;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (pfm_next_bytes(session, &at, &len, &buffer) == 1)
		bytes += len;
	assert_int_equal(bytes, samples_of(0).count * 32); /* header, identifier, address, time */
	munmap(p, PAGES * page_size());
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static volatile unsigned sink;

/* The linker provides the start and the end of this section. */
__attribute__((noinline, section("busy"))) static void busy_loop(void)
{
	for (unsigned i = 0; i < 30000000; i++)
		sink += i;
}

extern const char __start_busy[], __stop_busy[];

/* The timer of a busy machine fires late and skips samples, and a task that leaves its CPU loses
 * part of a period; both show as a gap in time. Hence: no more samples than the count allows, at
 * most as many fewer as there are gaps, and one period between samples without a gap. */
static void samples_of_a_loop_are_in_the_loop(void **state)
{
	enum { PERIOD = 1000000 };
	unsigned inside = 0, all = 0, regular = 0;
	uint64_t last = 0, missed = 0;
	pfm_sample_statistics_t c;
	struct rusage before, after;
	pfm_record_t r;

	(void)state;
	sampling.period = PERIOD;
	open_or_skip(TEXTS("task-clock:u"));
	getrusage(RUSAGE_THREAD, &before);
	pfm_start_session(session);
	for (unsigned i = 0; i < 4; i++)
		busy_loop();
	pfm_stop_session(session);
	getrusage(RUSAGE_THREAD, &after);
	while (next(&r)) {
		if (r.type != PFM_RECORD_SAMPLE)
			continue;
		missed += last && r.time > last + PERIOD ? (r.time - last) / PERIOD : 0;
		regular += last && (r.time - last + PERIOD / 2) / PERIOD == 1;
		last = r.time;
		all++;
		inside += r.body.sample.ip >= (uintptr_t)__start_busy &&
		          r.body.sample.ip < (uintptr_t)__stop_busy;
		assert_int_equal(r.body.sample.period, PERIOD);
	}
	missed += (uint64_t)(after.ru_nivcsw - before.ru_nivcsw + after.ru_nvcsw - before.ru_nvcsw);
	c = samples_of(0);
	if (c.count < 20 * PERIOD)
		skip_because("the loop was too short");
	assert_int_equal(c.samples, all);
	assert_true(inside * 10 >= all * 9);
	if (c.throttled)
		return;
	assert_true(all <= c.count / PERIOD + 1);
	assert_true(all + missed + 2 >= c.count / PERIOD);
	assert_true(regular * 4 >= all);
}

static void a_frequency_weighs_its_samples(void **state)
{
	uint64_t weight = 0;
	pfm_sample_statistics_t c;
	pfm_record_t r;

	(void)state;
	open_or_skip(TEXTS("task-clock:u:freq=1000"));
	pfm_start_session(session);
	busy_loop();
	pfm_stop_session(session);
	while (next(&r)) {
		assert_true(r.type != PFM_RECORD_SAMPLE ||
		            (r.has & PFM_SAMPLE_PERIOD && r.body.sample.period));
		weight += r.type == PFM_RECORD_SAMPLE ? r.body.sample.period : 0;
	}
	c = samples_of(0);
	assert_int_equal(c.weight, weight);
	assert_int_equal(c.freq, 1000);
	assert_int_equal(c.period, 0);
}

/* ---- call chains ----------------------------------------------------------------------------- */

/* The call goes through a variable, so that the compiler does not clone the function for known
 * depths. */
static unsigned recurse(unsigned depth, char *p);
static unsigned (*volatile call_recurse)(unsigned depth, char *p) = recurse;

static unsigned recurse(unsigned depth, char *p)
{
	unsigned v = depth ? call_recurse(depth - 1, p) + 1 : (unsigned)(*(volatile char *)p = 1);

	__asm__ volatile("" ::: "memory");
	return v;
}

static void a_known_recursion_is_its_call_chain(void **state)
{
	enum { DEPTH = 20 };
	char *p = map_pages(1);
	bool found = false;
	pfm_record_t r;

	(void)state;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_ADDR | PFM_SAMPLE_CHAIN;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	call_recurse(DEPTH, p);
	pfm_stop_session(session);
	while (next(&r)) {
		unsigned calls = 0;

		if (r.body.sample.addr != (uintptr_t)p)
			continue;
		found = true;
		assert_int_equal(r.body.sample.chain[0], PFM_CHAIN_USER);
		assert_int_equal(r.body.sample.chain[1], r.body.sample.ip);
		/* All return addresses but the last are equal. */
		for (unsigned i = 3; i < r.body.sample.n_chain; i++)
			calls += r.body.sample.chain[i] == r.body.sample.chain[2];
		assert_in_range(calls, DEPTH - 2, DEPTH);
	}
	assert_true(found);
	munmap(p, page_size());
}

/* Touches the page at the bottom of a recursion. A chain is marked as truncated only if it was
 * cut. */
static unsigned chain_at(unsigned depth, uint32_t frames)
{
	char *p = map_pages(1);
	unsigned cut = 9;
	pfm_record_t r;

	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_ADDR | PFM_SAMPLE_CHAIN;
	sampling.max_stack = frames;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	call_recurse(depth, p);
	pfm_stop_session(session);
	while (next(&r))
		if (r.body.sample.addr == (uintptr_t)p)
			cut = r.truncated;
	munmap(p, page_size());
	tear_down(NULL);
	return cut;
}

static void a_chain_that_is_cut_says_so(void **state)
{
	(void)state;
	assert_int_equal(chain_at(40, 16), PFM_TRUNCATED_CHAIN);
	assert_int_equal(chain_at(4, 100), 0);
	assert_int_equal(chain_at(400, 0), PFM_TRUNCATED_CHAIN); /* the kernel's limit on frames */
}

static void a_stack_that_is_cut_says_so(void **state)
{
	unsigned full = 0, all = 0;
	char *p = map_pages(10);
	pfm_record_t r;

	(void)state;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_STACK;
	sampling.user_stack = 64;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	touch(p, 10, page_size());
	pfm_stop_session(session);
	while (next(&r)) {
		full += r.body.sample.stack_size == 64 && r.truncated == PFM_TRUNCATED_STACK;
		all++;
	}
	assert_true(all >= 10);
	assert_int_equal(full, all);
	munmap(p, 10 * page_size());
}

/* Page faults inside a system call have no sample without the kernel level. With chains of user
 * code only they have one, whose chain names the caller. */
static void user_code_under_a_system_call_is_seen(void **state)
{
	enum { PAGES = 50 };
	unsigned seen = 0;
	char *p = map_pages(PAGES);
	int zero = open("/dev/zero", O_RDONLY);
	pfm_record_t r;

	(void)state;
	assert_true(zero >= 0);
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_ADDR | PFM_SAMPLE_CHAIN;
	sampling.flags = PFM_SAMPLING_USER_CHAIN;
	/* The text names the levels, so that a missing permission is reported. */
	open_or_skip(TEXTS("page-faults:uk", "minor-faults:u"));
	pfm_start_session(session);
	assert_int_equal(read(zero, p, PAGES * page_size()), PAGES * page_size());
	pfm_stop_session(session);
	close(zero);
	while (next(&r)) {
		bool ours = r.body.sample.addr >= (uintptr_t)p &&
		            r.body.sample.addr < (uintptr_t)p + PAGES * page_size();

		if (r.type != PFM_RECORD_SAMPLE || !ours)
			continue;
		assert_int_equal(r.event, 0);
		assert_int_equal(r.misc & PFM_MISC_MODE, PFM_MISC_KERNEL);
		assert_true(r.body.sample.n_chain >= 2);
		assert_int_equal(r.body.sample.chain[0], PFM_CHAIN_USER);
		assert_true(r.body.sample.chain[1] < PFM_CHAIN_MARKER &&
		            r.body.sample.chain[1] != r.body.sample.ip);
		seen++;
	}
	assert_int_equal(seen, PAGES);
	munmap(p, PAGES * page_size());
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

static void every_call_of_a_tracepoint_comes(void **state)
{
	enum { CALLS = 1000 };
	unsigned seen = 0;
	pfm_record_t r;

	(void)state;
	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_RAW;
	/* The test raises a signal because a 64-bit kernel traces no system calls of 32-bit
	 * programs. SIGURG is ignored by default. */
	open_or_skip(TEXTS("signal:signal_generate"));
	pfm_start_session(session);
	for (unsigned i = 0; i < CALLS; i++)
		raise(SIGURG);
	pfm_stop_session(session);
	while (next(&r)) {
		assert_true(r.body.sample.raw_size >= 8);
		seen++;
	}
	assert_int_equal(seen, CALLS);
	assert_int_equal(samples_of(0).count, CALLS);
}

/* ---- children -------------------------------------------------------------------------------- */

/* Forks a child that waits for a byte, then runs @work. */
static pid_t fork_child(int *go, void (*work)(void))
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char byte;

		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			work();
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void release_child(int go)
{
	assert_int_equal(write(go, "", 1), 1);
	close(go);
}

enum { TREE_PAGES = 200 };

static void touch_pages(void)
{
	char *p = mmap(NULL, TREE_PAGES * page_size(), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, TREE_PAGES * page_size(), MADV_NOHUGEPAGE);
	touch(p, TREE_PAGES, page_size());
}

static void fork_tree(void)
{
	for (unsigned i = 0; i < 3; i++)
		if (fork() == 0) {
			touch_pages();
			_exit(0);
		}
	touch_pages();
	while (wait(NULL) > 0)
		;
}

/* The order of records that were all in the buffers before the first one was read. A CPU may write
 * a record after one with a later time. The session keeps the order of writing, so each record
 * counts with the latest time that its CPU has written so far. */
struct record_order {
	uint64_t latest[1024]; /* of each CPU */
	uint64_t time;
};

static void expect_in_order(struct record_order *o, const pfm_record_t *r)
{
	uint64_t *latest;

	if (!r->time)
		return; /* a sample with the time of another program's clock */
	assert_in_range(r->cpu, 0, sizeof(o->latest) / sizeof(o->latest[0]) - 1);
	latest = &o->latest[r->cpu];
	*latest = r->time > *latest ? r->time : *latest;
	if (*latest < o->time)
		fail_msg("a record of CPU %u at %llu follows one at %llu", r->cpu,
		         (unsigned long long)*latest, (unsigned long long)o->time);
	o->time = *latest;
}

static void follows_fork_tree_and_reports_new_tasks(void **state)
{
	static struct record_order order;
	unsigned forks = 0, exits = 0;
	pfm_sample_statistics_t c;
	pfm_record_t r;
	int go, rc;

	(void)state;
	options.pid = fork_child(&go, fork_tree);
	options.flags = PFM_SESSION_INHERIT;
	sampling.records = PFM_SIDEBAND_TASKS;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	release_child(go);
	waitpid(options.pid, NULL, 0);
	while ((rc = pfm_wait_session(session, 5000)) == PFM_WAIT_READY)
		while (next(&r)) {
			forks += r.type == PFM_RECORD_FORK;
			exits += r.type == PFM_RECORD_EXIT;
			expect_in_order(&order, &r);
		}
	assert_int_equal(rc, PFM_WAIT_ENDED);
	assert_int_equal(forks, 3);
	assert_int_equal(exits, 4);
	c = samples_of(0);
	assert_true(c.count >= 4 * TREE_PAGES);
	assert_int_equal(c.samples + c.lost, c.count);
	assert_int_equal(c.quality, PFM_QUALITY_EXACT);
}

enum { THREADS = 3 };

static pthread_barrier_t born;

static void *touch_after_byte(void *go)
{
	char byte;

	pthread_barrier_wait(&born);
	if (read(*(int *)go, &byte, 1) == 1)
		touch_pages();
	return NULL;
}

/* The threads exist before the session opens: all are sampled, each with its own id. */
static void every_thread_of_a_process_is_sampled(void **state)
{
	int go[2], ready[2];
	unsigned seen[THREADS + 1] = { 0 }, n = 0;
	uint32_t tids[THREADS + 1] = { 0 };
	pfm_record_t r;
	char byte;

	(void)state;
	open_or_skip(TEXTS("page-faults:u")); /* opened before there is a child */
	tear_down(NULL);
	assert_int_equal(pipe(go) | pipe(ready), 0);
	options.pid = fork();
	if (options.pid == 0) {
		pthread_t id[THREADS];

		close(go[1]);
		pthread_barrier_init(&born, NULL, THREADS + 1);
		for (unsigned i = 0; i < THREADS; i++)
			if (pthread_create(&id[i], NULL, touch_after_byte, &go[0]))
				_exit(1);
		pthread_barrier_wait(&born);
		if (write(ready[1], "", 1) == 1 && read(go[0], &byte, 1) == 1)
			touch_pages();
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(id[i], NULL);
		_exit(0);
	}
	close(go[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	assert_int_equal(write(go[1], "....", THREADS + 1), THREADS + 1);
	close(go[1]);
	close(ready[0]);
	while (pfm_wait_session(session, 5000) == PFM_WAIT_READY)
		while (next(&r)) {
			unsigned k = 0;

			while (k < n && tids[k] != r.tid)
				k++;
			assert_true(k <= THREADS);
			n += k == n;
			tids[k] = r.tid;
			seen[k]++;
		}
	waitpid(options.pid, NULL, 0);
	assert_int_equal(n, THREADS + 1);
	for (unsigned i = 0; i < n; i++)
		assert_true(seen[i] >= TREE_PAGES);
}

/* Two children may run at once, and a buffer of one task serves one of them only: inherited
 * sessions have a buffer for each CPU. */
static void describes_the_layout_of_buffers(void **state)
{
	pfm_buffer_info_t b = PFM_INIT(b);

	(void)state;
	open_or_skip(TEXTS("page-faults:u"));
	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	assert_int_equal(b.n, 1);
	tear_down(NULL);
	options.flags = PFM_SESSION_INHERIT;
	open_or_skip(TEXTS("page-faults:u"));
	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	assert_int_equal(b.n, sysconf(_SC_NPROCESSORS_ONLN));
}

static void run_true(void)
{
	execlp("true", "true", (char *)NULL);
}

static void a_program_is_sampled_from_its_start(void **state)
{
	bool named = false, mapped = false;
	pfm_record_t r;
	int go;

	(void)state;
	options.pid = fork_child(&go, run_true);
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	sampling.records = PFM_SIDEBAND_USUAL;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	release_child(go);
	while (pfm_wait_session(session, 5000) == PFM_WAIT_READY)
		while (next(&r)) {
			if (r.type == PFM_RECORD_COMM && r.misc & PFM_MISC_EXEC)
				named = strcmp(r.body.comm.name, "true") == 0;
			if (r.type == PFM_RECORD_MAP2 && strstr(r.body.map.name, "true"))
				mapped = true;
			if (r.type == PFM_RECORD_SAMPLE)
				assert_true(named && mapped);
		}
	waitpid(options.pid, NULL, 0);
	assert_true(named && mapped);
	assert_true(samples_of(0).samples > 20);
}

/* The kernel may give samples of two counts of one event the id of the first. Counts that are
 * affected report it. */
static void reports_samples_out_of_order(void **state)
{
	enum { PAGES = 1000 };
	char *p = map_pages(PAGES);
	pfm_record_t r;

	(void)state;
	open_or_skip(TEXTS("page-faults:u:period=1", "page-faults:u:period=10"));
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_stop_session(session);
	while (next(&r))
		;
	munmap(p, PAGES * page_size());
	assert_int_equal(samples_of(0).samples + samples_of(1).samples,
	                 samples_of(0).count + samples_of(1).count / 10);
	for (unsigned i = 0; i < 2; i++)
		if (samples_of(i).samples != samples_of(i).count / samples_of(i).period)
			assert_int_equal(samples_of(i).quality, PFM_QUALITY_PARTIAL);
		else
			assert_int_equal(samples_of(i).quality, PFM_QUALITY_EXACT);
}

/* ---- several buffers ------------------------------------------------------------------------- */

/* Sums over the records of all CPUs. */
struct cpus_seen {
	struct record_order order;
	uint64_t n, strange; /* samples; those with the id of another program's event */
};

static void see_record(struct cpus_seen *seen, const pfm_record_t *r)
{
	seen->n += r->type == PFM_RECORD_SAMPLE;
	seen->strange += r->type == PFM_RECORD_SAMPLE && r->event == PFM_NO_EVENT;
}

static void expect_all_cpus(const struct cpus_seen *seen)
{
	pfm_buffer_info_t b = PFM_INIT(b);

	/* Other programs may sample faults too: one fault may carry their id in our samples. */
	assert_int_equal(seen->n, samples_of(0).samples + samples_of(1).samples + seen->strange);
	assert_true(!seen->strange || samples_of(0).quality == PFM_QUALITY_PARTIAL);
	/* A CPU may be preempted between the count of a fault and its sample. A throttled event
	 * counts on for a moment and reports a wrong count. */
	if (!samples_of(0).throttled)
		assert_in_range(samples_of(0).count - samples_of(0).samples - samples_of(0).lost, 0,
		                (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + seen->strange);
	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	assert_int_equal(b.n, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(pfm_session_fds(session, NULL, 0), b.n);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Counts faults and switches of all CPUs, and starts a program that has some. Returns its id. */
static pid_t start_on_all_cpus(void)
{
	int go;
	pid_t pid = fork_child(&go, fork_tree);

	options.flags = PFM_SESSION_SYSTEM_WIDE;
	open_or_skip(TEXTS("page-faults", "context-switches"));
	pfm_start_session(session);
	release_child(go);
	return pid;
}

static void times_rise_over_all_cpus(void **state)
{
	static struct cpus_seen seen;
	pfm_record_t r;

	(void)state;
	seen.order.time = now();
	waitpid(start_on_all_cpus(), NULL, 0);
	pfm_stop_session(session);
	while (next(&r)) {
		see_record(&seen, &r);
		expect_in_order(&seen.order, &r);
	}
	expect_all_cpus(&seen);
}

/* While events count, a record may be late, because its CPU was interrupted while it wrote. Younger
 * ones wait a millisecond for it. */
static void records_wait_a_millisecond_for_others(void **state)
{
	static struct cpus_seen seen;
	pfm_record_t r;
	pid_t pid;

	(void)state;
	pid = start_on_all_cpus();
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		pfm_wait_session(session, 20);
		while (next(&r)) {
			assert_true(r.time + 1000000 <= now());
			see_record(&seen, &r);
		}
	}
	pfm_stop_session(session);
	while (next(&r))
		see_record(&seen, &r);
	expect_all_cpus(&seen);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void waiting_ends_with_data_with_time_or_with_the_task(void **state)
{
	char *p = map_pages(2000);
	pfm_record_t r;

	(void)state;
	sampling.wakeup_events = 1;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	while (next(&r))
		;
	touch(p, 3, page_size());
	assert_int_equal(pfm_wait_session(session, 1000), PFM_WAIT_READY);
	/* Records end the wait although poll(2) has reported them already. */
	assert_int_equal(pfm_wait_session(session, 1000), PFM_WAIT_READY);
	assert_true(next(&r));
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_READY);
	pfm_stop_session(session);
	while (next(&r))
		;
	assert_int_equal(pfm_wait_session(session, 10), PFM_WAIT_TIMEOUT);
	munmap(p, 2000 * page_size());
}

static bool is_asleep(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/* The kernel wakes no reader at a watermark that the buffer cannot reach, not even when it is
 * full. */
static void a_full_buffer_wakes_who_waits(void **state)
{
	enum { PAGES = 3000 };
	int ends[2], woken;
	char byte = 0;
	struct timespec before, after;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		char *p = mmap(NULL, PAGES * page_size(), PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		close(ends[1]);
		if (p != MAP_FAILED && !madvise(p, PAGES * page_size(), MADV_NOHUGEPAGE) &&
		    read(ends[0], &byte, 1) == 1) {
			while (!is_asleep(getppid()))
				sched_yield();
			touch(p, PAGES, page_size());
			pause();
		}
		_exit(0);
	}
	sampling.pages = 4;
	sampling.watermark = 1 << 24;
	options.pid = pid;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	clock_gettime(CLOCK_MONOTONIC, &before);
	woken = pfm_wait_session(session, 20000);
	clock_gettime(CLOCK_MONOTONIC, &after);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(woken, PFM_WAIT_READY);
	assert_true(after.tv_sec - before.tv_sec < 15);
}

static void a_few_records_below_the_watermark_come_with_the_timeout(void **state)
{
	char *p = map_pages(5);
	pfm_record_t r;

	(void)state;
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	touch(p, 5, page_size());
	assert_int_equal(pfm_wait_session(session, 20), PFM_WAIT_READY);
	assert_true(next(&r));
	munmap(p, 5 * page_size());
}

static void a_task_that_ends_is_drained_then_over(void **state)
{
	unsigned n = 0;
	pfm_record_t r;
	int go;

	(void)state;
	options.pid = fork_child(&go, touch_pages);
	open_or_skip(TEXTS("page-faults:u"));
	pfm_start_session(session);
	release_child(go);
	waitpid(options.pid, NULL, 0);
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_READY);
	while (next(&r))
		n += r.type == PFM_RECORD_SAMPLE;
	assert_true(n >= TREE_PAGES);
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_ENDED);
	assert_int_equal(pfm_session_fds(session, NULL, 0), 0);
	assert_int_equal(samples_of(0).count, n);
}

static volatile sig_atomic_t signals;

static void on_signal(int signo)
{
	(void)signo;
	signals++;
}

static void a_signal_comes_with_the_samples(void **state)
{
	struct sigaction act = { .sa_handler = on_signal };
	char *p = map_pages(100);

	(void)state;
	open_or_skip(TEXTS("page-faults:u"));
	sigaction(SIGRTMIN, &act, NULL);
	signals = 0;
	assert_int_equal(pfm_signal_session(session, SIGRTMIN), PFMLIB_SUCCESS);
	pfm_start_session(session);
	touch(p, 100, page_size());
	pfm_stop_session(session);
	assert_in_range(signals, 100, samples_of(0).count);
	assert_int_equal(pfm_signal_session(session, 0), PFMLIB_SUCCESS);
	munmap(p, 100 * page_size());
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void a_wrong_term_is_pointed_at(void **state)
{
	static const struct {
		const char *text;
		uint32_t start, end;
	} rows[] = { { "page-faults:period=0", 12, 20 },
		     { "page-faults:u:freq=x", 14, 20 },
		     { "page-faults:precise=4", 12, 21 } };
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
			pfm_open_session(&session, NULL, &options, &rows[i].text, 1, &error),
			PFMLIB_ERR_ATTR_VAL);
		assert_int_equal(error.start, rows[i].start);
		assert_int_equal(error.end, rows[i].end);
	}
	options.sampling = NULL; /* a period needs sampling */
	assert_true(pfm_open_session(&session, NULL, &options, TEXTS("page-faults:period=10"),
	                             &error) < 0);
}

static void settings_that_cannot_be_are_refused(void **state)
{
	static const pfm_sampling_t wrong[] = {
		{ .size = sizeof(sampling), .period = 1, .freq = 1 },
		{ .size = sizeof(sampling), .pages = 3 },
		{ .size = sizeof(sampling), .fields = 1u << 25 },
		{ .size = sizeof(sampling), .fields = PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS },
		{ .size = sizeof(sampling), .precise = 4 },
		{ .size = sizeof(sampling), .user_stack = 12 },
		{ .size = sizeof(sampling), .fields = PFM_SAMPLE_STACK },
		{ .size = sizeof(sampling), .fields = PFM_SAMPLE_REGS },
		{ .size = sizeof(sampling), .records = 1u << 11 },
		{ .size = 2 },
	};
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		options.sampling = &wrong[i];
		error.detail = NULL;
		assert_int_equal(
			pfm_open_session(&session, NULL, &options, TEXTS("page-faults"), &error),
			PFMLIB_ERR_INVAL);
		assert_non_null(error.detail);
	}
}

static void counts_without_samples_have_a_cause(void **state)
{
	pfm_count_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "r");
	char text[64];
	long max = 0;

	(void)state;
	if (!f || fscanf(f, "%ld", &max) != 1)
		max = 0;
	if (f)
		fclose(f);
	open_or_skip(TEXTS("task-clock:u:freq=1"));
	pfm_close_session(session);
	session = NULL;
	snprintf(text, sizeof(text), "task-clock:u:freq=%ld", max + 1);
	if (!max || pfm_open_session(&session, NULL, &options, TEXTS(text), &error))
		skip_because("no limit to exceed");
	pfm_describe_count(session, 0, &info);
	assert_non_null(strstr(info.why, "at most"));
	assert_non_null(strstr(info.remedy, "perf_event_max_sample_rate"));
}

static void a_counting_session_has_no_records(void **state)
{
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	options.sampling = NULL;
	open_or_skip(TEXTS("page-faults:u"));
	assert_int_equal(pfm_next_record(session, &r), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_wait_session(session, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_session_fds(session, NULL, 0), 0);
}

/* With the limit of an ordinary user the buffers shrink until they fit. */
static void buffers_shrink_to_the_limit(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip_because("needs root to become somebody else");
	pid = fork();
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		pfm_buffer_info_t b = PFM_INIT(b);
		pfm_error_t error = PFM_INIT(error);

		setrlimit(RLIMIT_MEMLOCK, &none);
		if (setresuid(65534, 65534, 65534))
			_exit(77);
		sampling.pages = 8192;
		if (pfm_open_session(&session, NULL, &options, TEXTS("page-faults:u"), &error))
			_exit(error.sys_errno == EACCES ? 77 : 2);
		if (pfm_buffer_statistics(session, &b))
			_exit(77); /* the kernel does not allow sampling */
		_exit(b.wanted == 8192 && b.pages >= 16 && (b.pages < 8192) ? 0
		      : b.pages == 8192                                     ? 77
		                                                            : 3);
	}
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77)
		skip_because("ordinary users have no limit here, or may not sample");
	assert_int_equal(status, 0);
}

/* ---- redirection, by hand -------------------------------------------------------------------- */

static int open_by_hand(uint64_t config)
{
	struct perf_event_attr a = { .size = sizeof(a),
		                     .type = PERF_TYPE_SOFTWARE,
		                     .config = config };

	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP;
	a.exclude_kernel = 1;
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

/* The faults of this thread move the head, so no barrier is needed. */
static uint64_t read_head(const struct perf_event_mmap_page *page)
{
	return *(const volatile __u64 *)&page->data_head;
}

static uint64_t head_after(const struct perf_event_mmap_page *page)
{
	char *p = map_pages(10);

	touch(p, 10, page_size());
	munmap(p, 10 * page_size());
	return read_head(page);
}

/* PERF_EVENT_IOC_SET_OUTPUT ends a redirection for the long -1. The int -1 in a 64-bit register is
 * an invalid descriptor: the call fails and the event keeps writing into its old buffer. A 64-bit
 * kernel sees the long of a 32-bit program as such an int too. */
static void a_redirection_ends_at_the_long_minus_one(void **state)
{
	int owner = open_by_hand(PERF_COUNT_SW_DUMMY),
	    faults = open_by_hand(PERF_COUNT_SW_PAGE_FAULTS);
	size_t len = 9 * page_size();
	struct perf_event_mmap_page *page;
	uint64_t head;

	(void)state;
	if (owner < 0 || faults < 0)
		skip_because(strerror(errno));
	page = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, owner, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(ioctl(faults, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)owner), 0);
	head = head_after(page);
	assert_true(head >= 160);
	if (sizeof(long) == 8) {
		assert_int_equal(
			ioctl(faults, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(unsigned)-1), -1);
		assert_int_equal(errno, EBADF);
		assert_true(head_after(page) >= head + 160);
	}
	if (sizeof(long) == 8 || ioctl(faults, PERF_EVENT_IOC_SET_OUTPUT, -1L) == 0) {
		assert_int_equal(ioctl(faults, PERF_EVENT_IOC_SET_OUTPUT, -1L), 0);
		head = read_head(page);
		assert_int_equal(head_after(page), head);
	} else {
		assert_int_equal(errno, EBADF);
		assert_true(head_after(page) >= head + 160);
	}
	munmap(page, len);
	close(owner);
	close(faults);
}

/* Sessions never end a redirection: an event stays with one buffer, and sessions do not see each
 * other's events, whichever closes first. */
static void sessions_keep_to_their_buffers(void **state)
{
	enum { PAGES = 30 };
	pfm_session_t *first;
	char *p = map_pages(2 * PAGES);

	(void)state;
	open_or_skip(TEXTS("task-clock:period=100000000", "context-switches:period=100000"));
	first = session;
	session = NULL;
	open_or_skip(TEXTS("page-faults:u", "minor-faults:u:period=5"));
	pfm_start_session(first);
	pfm_start_session(session);
	touch(p, PAGES, page_size());
	pfm_close_session(first);
	touch(p + PAGES * page_size(), PAGES, page_size());
	pfm_stop_session(session);
	for (pfm_record_t r; next(&r);)
		assert_true(r.event < 2);
	assert_true(samples_of(0).samples >= 2 * PAGES);
	assert_int_equal(samples_of(0).samples, samples_of(0).count);
	assert_int_equal(samples_of(0).lost, 0);
	munmap(p, 2 * PAGES * page_size());
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ROW(every_page_comes_once_with_its_address),
		ROW(a_period_of_a_software_event_is_kept),
		ROW(reports_samples_lost_by_a_slow_reader_exactly),
		ROW(losses_between_samples_come_as_a_record),
		ROW(distinguishes_events_in_one_buffer),
		ROW(raw_bytes_are_whole_records),
		ROW(samples_of_a_loop_are_in_the_loop),
		ROW(a_frequency_weighs_its_samples),
		ROW(a_known_recursion_is_its_call_chain),
		ROW(a_chain_that_is_cut_says_so),
		ROW(a_stack_that_is_cut_says_so),
		ROW(user_code_under_a_system_call_is_seen),
		ROW(every_call_of_a_tracepoint_comes),
		ROW(follows_fork_tree_and_reports_new_tasks),
		ROW(every_thread_of_a_process_is_sampled),
		ROW(describes_the_layout_of_buffers),
		ROW(a_program_is_sampled_from_its_start),
		ROW(reports_samples_out_of_order),
		ROW(times_rise_over_all_cpus),
		ROW(records_wait_a_millisecond_for_others),
		ROW(waiting_ends_with_data_with_time_or_with_the_task),
		ROW(a_full_buffer_wakes_who_waits),
		ROW(a_few_records_below_the_watermark_come_with_the_timeout),
		ROW(a_task_that_ends_is_drained_then_over),
		ROW(a_signal_comes_with_the_samples),
		ROW(a_wrong_term_is_pointed_at),
		ROW(settings_that_cannot_be_are_refused),
		ROW(counts_without_samples_have_a_cause),
		ROW(a_counting_session_has_no_records),
		ROW(buffers_shrink_to_the_limit),
		ROW(a_redirection_ends_at_the_long_minus_one),
		ROW(sessions_keep_to_their_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
