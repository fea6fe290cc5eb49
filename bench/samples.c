/* SPDX-License-Identifier: MIT */
/*
 * samples.c - records drained per second of the reader's processor time: by a bare reader of the
 * ring, by pfm_next_record(), by pfm_next_records(), and by perf record, in one run, from the same
 * producer.
 *
 * Then: how much longer a loop takes that is sampled, and how long sampled events take to open on
 * every CPU.
 *
 * Usage:  ./samples [RECORDS [ROUNDS]]    (default 1000000, 5)
 *
 * The producer, a process on another CPU, makes system calls that a tracepoint sees, each a sample
 * of 48 bytes. Readers hand each record to a callback that adds three of its fields. Of perf, which
 * writes a file, the time to start and to stop is taken off. Readers alternate; the first round is
 * not counted, and of the others the median is.
 */
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include "numbers.h"

enum { PAGES = 512 };
static const char *const event[] = { "syscalls:sys_enter_getppid" };

static volatile uint64_t sum;
static uint64_t seen;

__attribute__((noinline)) static void take_sample(uint64_t ip, uint64_t time, uint32_t tid)
{
	sum += ip + time + tid;
	seen++;
}

static void pin_to_cpu(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void call_system(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void work_loop(unsigned long n)
{
	for (volatile unsigned long i = 0; i < n; i++)
		;
}

/* A process that waits for a byte in *@go, then does @work on the second CPU. */
static pid_t run_worker(void (*work)(unsigned long n), unsigned long n, int *go)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		char byte;

		pin_to_cpu(1);
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			work(n);
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void release_workers(int go)
{
	if (write(go, "", 1) != 1)
		exit(1);
	close(go);
}

/* ---- readers --------------------------------------------------------------------------------- */

/* Bytes of a record of the usual fields: header, identifier, ip, pid and tid, time, cpu. */
struct bare_record {
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, cpu;
};

static void drain_bare(struct perf_event_mmap_page *page)
{
	const uint8_t *data = (const uint8_t *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail,
		 mask = page->data_size - 1;

	while (tail < head) {
		uint64_t words[8192 / sizeof(uint64_t)];
		const struct bare_record *r =
			(const struct bare_record *)(const void *)(data + (tail & mask));

		if ((tail & mask) + r->size > page->data_size) { /* over the end: joined */
			size_t first = (size_t)(page->data_size - (tail & mask));

			memcpy(words, r, first);
			memcpy((uint8_t *)words + first, data, r->size - first);
			r = (const struct bare_record *)(const void *)words;
		}
		if (r->type == PERF_RECORD_SAMPLE)
			take_sample(r->ip, r->time, r->tid);
		tail += r->size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static double reader_seconds(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
}

/* If tracefs is not mounted, root mounts it for this process alone. */
static void show_tracepoints(void)
{
	if (geteuid() == 0 && access("/sys/kernel/tracing/events", F_OK) &&
	    unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

/* Return the tracepoint's number, or 0 after printing why it cannot be sampled. */
static uint64_t config_of(void)
{
	pfm_count_info_t info = PFM_INIT(info);
	uint64_t config = 0;
	pfm_session_t *s;

	if (pfm_open_session(&s, NULL, NULL, event, 1, NULL)) {
		fprintf(stderr, "%s: tracepoints cannot be looked up\n", event[0]);
		return 0;
	}
	if (pfm_describe_count(s, 0, &info) == PFMLIB_SUCCESS && !*info.why)
		config = info.attr.config;
	else
		fprintf(stderr, "%s: %s\n", event[0], info.why);
	pfm_close_session(s);
	return config;
}

static double run_bare(pid_t pid, int go, uint64_t config)
{
	struct perf_event_attr a = { .size = sizeof(a),
		                     .type = PERF_TYPE_TRACEPOINT,
		                     .config = config,
		                     .sample_period = 1,
		                     .sample_type = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP |
		                                    PFM_SAMPLE_TID | PFM_SAMPLE_TIME |
		                                    PFM_SAMPLE_CPU,
		                     .watermark = 1,
		                     .wakeup_watermark = PAGES * 1024 };
	struct pollfd fd = { .fd = (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, 0),
		             .events = POLLIN };
	size_t len = (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd.fd, 0);
	double before = reader_seconds();

	if (page == MAP_FAILED)
		exit(1);
	release_workers(go);
	do {
		poll(&fd, 1, 100);
		drain_bare(page);
	} while (!(fd.revents & POLLHUP));
	before = reader_seconds() - before;
	munmap(page, len);
	close(fd.fd);
	return before;
}

/* Take all samples that the session holds, one record at a time or many at once. */
static void drain_ours(pfm_session_t *s, bool many)
{
	enum { MANY = 64 };
	static pfm_record_t r[MANY] = { PFM_INIT(r[0]) };
	int n;

	while ((n = many ? pfm_next_records(s, r, MANY) : pfm_next_record(s, r)) > 0)
		for (int i = 0; i < n; i++)
			if (r[i].type == PFM_RECORD_SAMPLE)
				take_sample(r[i].body.sample.ip, r[i].time, r[i].tid);
}

static double run_ours(pid_t pid, int go, bool many)
{
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s;
	double before;

	sampling.pages = PAGES;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_CPU;
	options.sampling = &sampling;
	options.pid = pid;
	if (pfm_open_session(&s, NULL, &options, event, 1, NULL) || pfm_start_session(s))
		exit(1);
	before = reader_seconds();
	release_workers(go);
	while (pfm_wait_session(s, 100) != PFM_WAIT_ENDED)
		drain_ours(s, many);
	before = reader_seconds() - before;
	pfm_close_session(s);
	return before;
}

static void start_perf(pid_t pid, int control, int answer, const char *recording)
{
	char task[16], pages[16], fds[40];

	snprintf(task, sizeof(task), "%d", pid);
	snprintf(pages, sizeof(pages), "%d", PAGES);
	snprintf(fds, sizeof(fds), "fd:%d,%d", control, answer);
	if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
		execlp("perf", "perf", "record", "-q", "-B", "-N", "-c", "1", "-m", pages, "-D",
		       "-1", "--control", fds, "-e", event[0], "-o", recording, "-p", task,
		       (char *)NULL);
	_exit(127);
}

/* Samples in the file that perf has written; lost samples cost perf no time. */
static uint64_t samples_in(const char *path)
{
	pfm_record_t r = PFM_INIT(r);
	pfm_session_t *s;
	uint64_t n = 0;

	if (pfm_open_recording(&s, path, NULL))
		return 0;
	while (pfm_next_record(s, &r) == 1)
		n += r.type == PFM_RECORD_SAMPLE;
	pfm_close_session(s);
	return n;
}

/* CPU seconds that perf uses; -1 if perf is missing or fails. */
static double run_perf(pid_t pid, int go)
{
	char recording[] = P_tmpdir "/perfmon-bench-XXXXXX";
	int control[2], answer[2], status = -1, file = mkstemp(recording);
	struct rusage u;
	char ack[8];
	pid_t perf;

	if (file < 0 || pipe(control) || pipe(answer))
		exit(1);
	close(file);
	perf = fork();
	if (perf == 0)
		start_perf(pid, control[0], answer[1], recording);
	close(control[0]);
	close(answer[1]);
	if (write(control[1], "enable\n", 7) == 7 && read(answer[0], ack, sizeof(ack)) <= 0)
		fputs("perf: not installed, or too old for --control\n", stderr);
	release_workers(go);
	wait4(perf, &status, 0, &u);
	close(control[1]);
	close(answer[0]);
	seen = samples_in(recording);
	unlink(recording);
	return status ? -1
	              : (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	                        (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

enum reader_kind { BARE, ONE, MANY, PERF };

/* Seconds that @reader takes for @n records. What was handed out is counted in @seen. */
static double run_workers(enum reader_kind reader, unsigned long n, uint64_t config)
{
	int go;
	pid_t pid = run_worker(call_system, n, &go);
	double t;

	seen = 0;
	switch (reader) {
	case BARE: t = run_bare(pid, go, config); break;
	case PERF: t = run_perf(pid, go); break;
	default: t = run_ours(pid, go, reader == MANY); break;
	}
	waitpid(pid, NULL, 0);
	return t;
}

/* ---- what sampling costs the program that is sampled ----------------------------------------- */

/* Seconds of processor time that a loop takes, which is sampled each @period nanoseconds of it, 0:
 * not at all. *@samples: so many came. */
static double run_loop(uint64_t period, uint64_t *samples)
{
	static const char *const clock[] = { "task-clock" };
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s = NULL;
	pfm_record_t r = PFM_INIT(r);
	struct rusage u;
	int go;
	pid_t pid = run_worker(work_loop, 400000000, &go);

	sampling.period = period;
	options.sampling = &sampling;
	options.pid = pid;
	if (period &&
	    (pfm_open_session(&s, NULL, &options, clock, 1, NULL) || pfm_start_session(s)))
		exit(1);
	release_workers(go);
	while (s && pfm_wait_session(s, 100) != PFM_WAIT_ENDED)
		while (pfm_next_record(s, &r) == 1)
			*samples += r.type == PFM_RECORD_SAMPLE;
	wait4(pid, NULL, 0, &u);
	pfm_close_session(s);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure_overhead(unsigned rounds)
{
	static const uint64_t periods[] = { 0, 1000000, 100000 };
	double best[3] = { 0 };
	uint64_t samples[3] = { 0 };

	for (unsigned k = 0; k < rounds; k++)
		for (unsigned i = 0; i < 3; i++) {
			double t = run_loop(periods[i], &samples[i]);

			best[i] = k == 0 || t < best[i] ? t : best[i];
		}
	for (unsigned i = 1; i < 3; i++)
		printf("a loop that is sampled %u times a second takes %.2f %% longer (%.1f us for "
		       "each sample)\n",
		       (unsigned)(1000000000 / periods[i]), (best[i] / best[0] - 1) * 100,
		       (best[i] - best[0]) * 1e6 * rounds / (double)(samples[i] ? samples[i] : 1));
}

/* ---- opening --------------------------------------------------------------------------------- */

enum { MANY_EVENTS = 64 };

static size_t ring_len(void)
{
	return 129 * (size_t)sysconf(_SC_PAGESIZE);
}

static void close_bare(const int *fds, void *const *maps, unsigned cpus)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		munmap(maps[cpu], ring_len());
	for (unsigned i = 0; i < cpus * MANY_EVENTS; i++)
		close(fds[i]);
}

/* By hand: on each CPU a buffer that all its events write to, and their ids. 0 if that is not
 * possible. */
static double open_bare(int *fds, void **maps, unsigned cpus)
{
	struct perf_event_attr a = { .size = sizeof(a),
		                     .type = PERF_TYPE_SOFTWARE,
		                     .config = PERF_COUNT_SW_PAGE_FAULTS,
		                     .sample_period = 1,
		                     .sample_type = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP |
		                                    PFM_SAMPLE_TID | PFM_SAMPLE_TIME |
		                                    PFM_SAMPLE_CPU,
		                     .disabled = 1 };
	double before = clock_ns(CLOCK_MONOTONIC);

	for (unsigned cpu = 0; cpu < cpus; cpu++)
		for (unsigned i = 0; i < MANY_EVENTS; i++) {
			int *fd = &fds[cpu * MANY_EVENTS + i];
			uint64_t id;

			*fd = (int)syscall(SYS_perf_event_open, &a, -1, (int)cpu, -1, 0);
			if (*fd < 0 || ioctl(*fd, PERF_EVENT_IOC_ID, &id) ||
			    (i == 0 ? (maps[cpu] = mmap(NULL, ring_len(), PROT_READ | PROT_WRITE,
			                                MAP_SHARED, *fd, 0)) == MAP_FAILED
			            : ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT,
			                    fds[cpu * MANY_EVENTS])))
				return 0;
		}
	return clock_ns(CLOCK_MONOTONIC) - before;
}

static double open_ours(pfm_session_t **s)
{
	const char *texts[MANY_EVENTS];
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	double before = clock_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < MANY_EVENTS; i++)
		texts[i] = "page-faults";
	options.sampling = &sampling;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	if (pfm_open_session(s, NULL, &options, texts, MANY_EVENTS, NULL))
		exit(1);
	return clock_ns(CLOCK_MONOTONIC) - before;
}

static void measure_opening(unsigned rounds)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	int *fds = calloc(cpus, MANY_EVENTS * sizeof(*fds));
	void **maps = calloc(cpus, sizeof(*maps));
	double best[2] = { 0 };

	for (unsigned k = 0; fds && maps && k < rounds; k++) {
		double bare = open_bare(fds, maps, cpus), ours;
		pfm_session_t *s;

		close_bare(fds, maps, cpus);
		ours = open_ours(&s);
		pfm_close_session(s);
		best[0] = k == 0 || bare < best[0] ? bare : best[0];
		best[1] = k == 0 || ours < best[1] ? ours : best[1];
	}
	free(maps);
	free(fds);
	if (best[0] > 0)
		printf("opening %u sampled events on %u CPUs takes %.0f us, by hand %.0f us (%.2f "
		       "times as long)\n",
		       MANY_EVENTS, cpus, best[1] / 1e3, best[0] / 1e3, best[1] / best[0]);
}

enum { MOST_ROUNDS = 100 };

/* Records a second of each reader's processor time, in all rounds but the first. */
static void measure_reader(unsigned long n, unsigned rounds, uint64_t config,
                           double rates[][MOST_ROUNDS])
{
	double idle = run_workers(PERF, 1, config);

	for (unsigned k = 0; k <= rounds; k++)
		for (enum reader_kind r = BARE; r <= PERF; r++) {
			double t = run_workers(r, n, config);

			if (k && t >= 0)
				rates[r][k - 1] = (double)seen / (r == PERF ? t - idle : t);
		}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "bare reader", "pfm_next_record()",
		                             "pfm_next_records()", "perf record, to a file" };
	static double rates[4][MOST_ROUNDS];
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
	double rate[4];
	uint64_t config;

	show_tracepoints();
	config = config_of();
	if (!config || rounds < 1 || rounds > MOST_ROUNDS)
		return 77; /* skipped */
	signal(SIGPIPE, SIG_IGN);
	pin_to_cpu(0);
	measure_reader(n, rounds, config, rates);
	for (enum reader_kind r = BARE; r <= PERF; r++) {
		rate[r] = median_value(rates[r], rounds);
		if (rate[r] > 0)
			printf("%-24s %7.1f million records a second of its processor time, %.1f "
			       "to %.1f\n",
			       names[r], rate[r] / 1e6, rates[r][0] / 1e6,
			       rates[r][rounds - 1] / 1e6);
	}
	if (rate[MANY] > 0)
		printf("the bare reader is %.2f times as fast (goal: at most 1.5)\n",
		       rate[BARE] / rate[MANY]);
	if (rate[PERF] > 0)
		printf("perf takes %.1f times as long (goal: at least 3)\n",
		       rate[MANY] / rate[PERF]);
	measure_overhead(rounds);
	measure_opening(rounds);
	return 0;
}
