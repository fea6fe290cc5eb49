/* SPDX-License-Identifier: MIT */
/* How recordings are written: what is written is read back, sample by sample; perf, where it is
 * installed, reads the same out of our file, and we read the same out of perf's. Files that were
 * cut off, and files that were damaged, are read as far as they make sense. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

enum { PAGES = 400 };

static pfm_session_t *session, *reading;
static pfm_recording_t *recording;
static char path[] = P_tmpdir "/perfmon-recording-XXXXXX";

static bool closes_badly; /* as a file does whose server has no room for what it had taken */

int close(int fd)
{
	int rc = (int)syscall(SYS_close, fd);

	if (!closes_badly)
		return rc;
	errno = EIO;
	return -1;
}

#define TEXTS(...)                                                                                 \
	(const char *const[]){ __VA_ARGS__ },                                                      \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

static int set_up(void **state)
{
	int fd;

	(void)state;
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	pfm_close_recording(recording);
	pfm_close_session(session);
	pfm_close_session(reading);
	session = reading = NULL;
	recording = NULL;
	unlink(path);
	return 0;
}

static void skip_because(const char *why)
{
	print_message("# SKIP %s\n", why);
	skip();
}

__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
touch(char *p, size_t pages, size_t size)
{
	for (size_t i = 0; i < pages; i++)
		*((volatile char *)p + i * size) = 1;
}

static void touch_pages(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	               0);

	madvise(p, PAGES * size, MADV_NOHUGEPAGE);
	touch(p, PAGES, size);
	munmap(p, PAGES * size);
}

static void begin_at(pid_t pid, const char *const *texts, unsigned n)
{
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_count_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);

	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR |
	                  PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD | PFM_SAMPLE_RAW;
	sampling.records = PFM_SIDEBAND_USUAL;
	options.sampling = &sampling;
	options.pid = pid;
	if (pfm_open_session(&session, NULL, &options, texts, n, &error))
		fail_msg("%s", error.detail);
	pfm_describe_count(session, 0, &info);
	if (*info.why)
		skip_because(info.why);
	pfm_start_session(session);
	assert_int_equal(
		pfm_create_recording(&recording, path, session, "test\nof recordings", &error),
		PFMLIB_SUCCESS);
}

static void begin(const char *const *texts, unsigned n)
{
	begin_at(0, texts, n);
}

static void write_rounds(unsigned rounds)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < rounds; i++) {
		touch_pages();
		assert_int_equal(pfm_write_records(recording, &size), PFMLIB_SUCCESS);
	}
	pfm_stop_session(session);
	assert_true(size > rounds * PAGES * 50);
}

static void finish(void)
{
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	recording = NULL;
}

/* A line for each sample of the file, with the fields that theirs() requests from perf script. */
static char *ours(unsigned *n)
{
	pfm_error_t error = PFM_INIT(error);
	pfm_record_t r = PFM_INIT(r);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc;

	*n = 0;
	rc = pfm_open_recording(&reading, path, &error);
	if (rc)
		fail_msg("%d %s", rc, error.detail);
	while ((rc = pfm_next_record(reading, &r)) == 1)
		if (r.type == PFM_RECORD_SAMPLE) {
			fprintf(f, "%u %u %llu %llx %llx\n", r.tid, r.cpu,
			        (unsigned long long)r.time, (unsigned long long)r.body.sample.addr,
			        (unsigned long long)r.body.sample.ip);
			(*n)++;
		}
	assert_int_equal(rc, 0);
	fclose(f);
	return text;
}

static bool have_perf(void)
{
	return system("perf --version >/dev/null 2>&1") == 0;
}

/* The lines of ours(), from perf script, which prints "TID [CPU] SECONDS.NANO: ADDR IP". */
static char *theirs(unsigned *n)
{
	char command[256], line[1024], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *f;

	*n = 0;
	snprintf(command, sizeof(command),
	         "perf script -i %s --ns -F tid,cpu,time,addr,ip 2>/dev/null", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long seconds, ns, addr, ip;
		unsigned tid, cpu;

		if (sscanf(line, " %u [%u] %llu.%llu: %llx %llx", &tid, &cpu, &seconds, &ns, &addr,
		           &ip) != 6)
			continue;
		fprintf(out, "%u %u %llu %llx %llx\n", tid, cpu, seconds * 1000000000 + ns, addr,
		        ip);
		(*n)++;
	}
	assert_int_equal(pclose(f), 0);
	fclose(out);
	return text;
}

/* A process of three threads that waits to be ended. */
static void *wait_for_ever(void *arg)
{
	pause();
	return arg;
}

static pid_t three_threads(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t id[2];

		if (pthread_create(&id[0], NULL, wait_for_ever, NULL) ||
		    pthread_create(&id[1], NULL, wait_for_ever, NULL) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* Records of the state before the first sample: each thread's name, and each mapping once, however
 * many threads share it. */
static void reports_earlier_mappings_once(void **state)
{
	enum { MANY = 400 };
	static uint64_t starts[MANY];
	unsigned names = 0, maps = 0;
	pfm_record_t r = PFM_INIT(r);
	pid_t pid;

	(void)state;
	begin(TEXTS("page-faults:u")); /* skipped before there is a child */
	tear_down(NULL);
	assert_int_equal(set_up(NULL), 0);
	pid = three_threads();
	begin_at(pid, TEXTS("page-faults:u"));
	pfm_stop_session(session);
	finish();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(pfm_open_recording(&reading, path, NULL), PFMLIB_SUCCESS);
	while (pfm_next_record(reading, &r) == 1) {
		names += r.type == PFM_RECORD_COMM;
		if (r.type != PFM_RECORD_MAP2)
			continue;
		assert_int_equal(r.pid, pid);
		assert_true(maps < MANY);
		for (unsigned i = 0; i < maps; i++)
			assert_true(starts[i] != r.body.map.start);
		starts[maps++] = r.body.map.start;
	}
	assert_int_equal(names, 3);
	assert_true(maps >= 2);
}

static void reads_what_it_wrote(void **state)
{
	pfm_count_info_t info = PFM_INIT(info);
	char *text;
	unsigned n;

	(void)state;
	begin(TEXTS("page-faults:u", "minor-faults:u:period=10"));
	write_rounds(3);
	finish();
	text = ours(&n);
	free(text);
	assert_in_range(n, 3 * (PAGES + PAGES / 10), 3 * (PAGES + PAGES / 10) + 200);
	assert_true(pfm_session_size(reading) >= 2);
	assert_int_equal(pfm_describe_count(reading, 0, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, "page-faults:u");
	assert_int_equal(pfm_describe_count(reading, 1, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, "minor-faults:u:period=10");
}

/* A file lists events twice, in its header and among the features. Both lists have every event,
 * also the additional one for records other than samples. */
static void features_have_each_event(void **state)
{
	enum { EVENT_DESC = 12 };
	struct {
		uint64_t magic, size, attr_size, attrs[2], data[2], types[2], features[4];
	} head;
	uint64_t section[2];
	uint32_t n;
	int fd;

	(void)state;
	begin(TEXTS("page-faults:u", "minor-faults:u:period=10"));
	write_rounds(1);
	finish();
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	assert_true(head.features[0] >> EVENT_DESC & 1);
	n = (uint32_t)__builtin_popcountll(head.features[0] & ((1u << EVENT_DESC) - 1));
	assert_int_equal(pread(fd, section, sizeof(section),
	                       (off_t)(head.data[0] + head.data[1] + n * sizeof(section))),
	                 sizeof(section));
	assert_int_equal(pread(fd, &n, sizeof(n), (off_t)section[0]), sizeof(n));
	close(fd);
	assert_int_equal(n, 3);
	assert_int_equal(n, head.attrs[1] / head.attr_size);
}

static void reports_failed_close_of_file(void **state)
{
	int rc;

	(void)state;
	begin(TEXTS("page-faults:u"));
	write_rounds(1);
	closes_badly = true;
	rc = pfm_close_recording(recording);
	closes_badly = false;
	recording = NULL;
	assert_int_equal(rc, PFMLIB_ERR_SYS);
}

static void perf_reads_what_we_write(void **state)
{
	char *mine, *perfs;
	unsigned n, m;

	(void)state;
	if (!have_perf())
		skip_because("perf is not installed");
	begin(TEXTS("page-faults:u", "minor-faults:u:period=10"));
	write_rounds(3);
	finish();
	mine = ours(&n);
	perfs = theirs(&m);
	assert_int_equal(n, m);
	assert_string_equal(mine, perfs);
	free(mine);
	free(perfs);
}

static void perf_unpacks_what_we_pack(void **state)
{
	char *mine, *perfs;
	unsigned n, m;

	(void)state;
	if (!have_perf() ||
	    system("perf version --build-options 2>/dev/null | grep -q 'zstd: .*on'"))
		skip_because("there is no perf that knows zstd");
	begin(TEXTS("page-faults:u", "minor-faults:u:period=10"));
	if (pfm_compress_recording(recording, 1) == PFMLIB_ERR_NOTSUPP)
		skip_because("no libzstd.so.1");
	for (unsigned i = 0; i < 40; i++) { /* more than a packed piece */
		touch_pages();
		assert_int_equal(pfm_write_records(recording, NULL), PFMLIB_SUCCESS);
	}
	pfm_stop_session(session);
	finish();
	mine = ours(&n);
	perfs = theirs(&m);
	assert_true(n >= 40 * (PAGES + PAGES / 10));
	assert_int_equal(n, m);
	assert_string_equal(mine, perfs);
	free(mine);
	free(perfs);
}

/* The fields of a tracepoint are in its bytes (PFM_SAMPLE_RAW), and where, is in the recording. */
static void perf_prints_the_fields_of_tracepoints(void **state)
{
	enum { CALLS = 5 };
	char command[256], line[512], wanted[64];
	unsigned found = 0;
	FILE *f;

	(void)state;
	if (!have_perf())
		skip_because("perf is not installed");
	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (access("/sys/kernel/tracing/events/signal/signal_generate/format", R_OK))
		skip_because("this user cannot read what tracepoints look like");
	/* Not a system call's: a 64-bit kernel traces none of a 32-bit program. Nobody minds
	 * SIGURG. */
	begin(TEXTS("signal:signal_generate", "page-faults:u"));
	for (unsigned i = 0; i < CALLS; i++)
		raise(SIGURG);
	pfm_stop_session(session);
	finish();
	snprintf(command, sizeof(command), "perf script -i %s -F event,trace 2>/dev/null", path);
	f = popen(command, "r");
	snprintf(wanted, sizeof(wanted), "signal_generate: sig=%d errno=0", SIGURG);
	while (fgets(line, sizeof(line), f))
		found += strstr(line, wanted) != NULL;
	assert_int_equal(pclose(f), 0);
	assert_int_equal(found, CALLS);
}

/* Of perf's recordings as well, packed ones: a stream that goes on from record to record. */
static void read_perfs(const char *pack)
{
	char command[256], *mine, *perfs;
	unsigned n, m;

	if (!have_perf())
		skip_because("perf is not installed");
	snprintf(command, sizeof(command),
	         "perf record -q %s --sample-cpu -o %s -d -c 1 -e page-faults:u -e minor-faults:u "
	         "true "
	         ">/dev/null 2>&1",
	         pack, path);
	unlink(path); /* perf keeps what is there, under another name */
	if (system(command))
		skip_because("perf cannot record here");
	mine = ours(&n);
	perfs = theirs(&m);
	assert_true(n > 20);
	assert_int_equal(n, m);
	assert_string_equal(mine, perfs);
	free(mine);
	free(perfs);
}

static void we_read_what_perf_writes(void **state)
{
	(void)state;
	read_perfs("");
}

static void we_unpack_what_perf_packs(void **state)
{
	(void)state;
	if (system("perf version --build-options 2>/dev/null | grep -q 'zstd: .*on'"))
		skip_because("there is no perf that knows zstd");
	begin(TEXTS("page-faults:u"));
	if (pfm_compress_recording(recording, 1) == PFMLIB_ERR_NOTSUPP)
		skip_because("no libzstd.so.1");
	finish();
	read_perfs("-z");
}

/* zstd's levels, once. */
static void levels_of_packing(void **state)
{
	int level_0, level_23;

	(void)state;
	begin(TEXTS("page-faults:u"));
	level_0 = pfm_compress_recording(recording, 0);
	level_23 = pfm_compress_recording(recording, 23);
	if (pfm_compress_recording(recording, 22) == PFMLIB_ERR_NOTSUPP)
		skip_because("no libzstd.so.1");
	assert_int_equal(level_0, PFMLIB_ERR_INVAL);
	assert_int_equal(level_23, PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_compress_recording(recording, 1), PFMLIB_ERR_INVAL);
	finish();
}

static void perf_finds_names_in_what_we_write(void **state)
{
	char command[256], line[512];
	bool event = false, symbol = false, cmdline = false;
	FILE *f;

	(void)state;
	if (!have_perf())
		skip_because("perf is not installed");
	begin(TEXTS("page-faults:u"));
	write_rounds(2);
	finish();
	snprintf(command, sizeof(command), "perf report --stdio --header -i %s 2>/dev/null", path);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f)) {
		event |= strstr(line, "page-faults:u") != NULL;
		symbol |= strstr(line, "[.] touch") != NULL;
		cmdline |= strstr(line, "cmdline : test of recordings") != NULL;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(event);
	assert_true(symbol);
	assert_true(cmdline);
}

/* A writer that is killed leaves what it has moved so far. */
static void a_killed_writer_leaves_a_readable_file(void **state)
{
	char *mine, *perfs;
	unsigned n, m;
	int status;
	pid_t pid;

	(void)state;
	begin(TEXTS("page-faults:u")); // ends the case where nothing can be sampled, before there
	                               // is a child to go on with the others
	finish();
	pfm_close_session(session);
	session = NULL;
	pid = fork();
	if (pid == 0) {
		begin(TEXTS("page-faults:u"));
		write_rounds(2);
		kill(getpid(), 9);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	mine = ours(&n);
	assert_true(n >= 2 * PAGES);
	if (have_perf()) {
		perfs = theirs(&m);
		assert_string_equal(mine, perfs);
		free(perfs);
	}
	free(mine);
}

/* Records round after round until it is killed, and counts those that are in the file. */
static void record_for_ever(volatile unsigned *rounds)
{
	begin(TEXTS("page-faults:u"));
	for (;;) {
		touch_pages();
		if (pfm_write_records(recording, NULL))
			_exit(1);
		++*rounds;
	}
}

/* Killed at any moment, be it in the middle of a write: what the last call that returned has moved
 * is there. */
static void killed_at_any_moment_it_is_readable(void **state)
{
	enum { KILLS = 24 };
	volatile unsigned *rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
	                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool perf = have_perf();

	(void)state;
	assert_ptr_not_equal(rounds, MAP_FAILED);
	begin(TEXTS("page-faults:u")); /* skipped before there is a child */
	tear_down(NULL);
	for (unsigned k = 0; k < KILLS; k++) {
		unsigned n, m, done;
		char *mine, *perfs;
		pid_t pid;

		assert_int_equal(set_up(NULL), 0);
		*rounds = 0;
		pid = fork();
		if (pid == 0)
			record_for_ever(rounds);
		while (*rounds < 1 + k % 3 && waitpid(pid, NULL, WNOHANG) == 0)
			sched_yield();
		usleep(k * 130); /* any moment of a round will do: the rule holds at each */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		done = *rounds;
		assert_true(done >= 1);
		mine = ours(&n);
		assert_true(n >= done * PAGES);
		if (perf && k % 6 == 0) {
			perfs = theirs(&m);
			assert_string_equal(mine, perfs);
			free(perfs);
		}
		free(mine);
		tear_down(NULL);
	}
	munmap((void *)(uintptr_t)rounds, sizeof(*rounds));
}

static void read_it_all(void)
{
	pfm_error_t error = PFM_INIT(error);
	pfm_record_t r = PFM_INIT(r);

	if (pfm_open_recording(&reading, path, &error) == PFMLIB_SUCCESS)
		while (pfm_next_record(reading, &r) == 1)
			;
	pfm_close_session(reading);
	reading = NULL;
}

static void damaged_files_do_no_harm(void **state)
{
	static uint8_t bytes[1 << 18];
	uint64_t random = 88172645463325252u;
	ssize_t n;
	int fd;

	(void)state;
	begin(TEXTS("page-faults:u"));
	write_rounds(1);
	finish();
	fd = open(path, O_RDWR);
	n = read(fd, bytes, sizeof(bytes));
	assert_true(n > 1000);
	for (unsigned i = 0; i < 400; i++) {
		uint8_t was;
		off_t at;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		at = (off_t)(i < 300 ? random % 1200 : random % (uint64_t)n);
		was = bytes[at];
		bytes[at] = (uint8_t)(random >> 40);
		assert_int_equal(pwrite(fd, bytes + at, 1, at), 1);
		read_it_all();
		bytes[at] = was;
		assert_int_equal(pwrite(fd, bytes + at, 1, at), 1);
	}
	for (off_t size = n; size > 0; size -= size > 2000 ? n / 20 : 97) {
		assert_int_equal(ftruncate(fd, size), 0);
		read_it_all();
	}
	close(fd);
}

static void refuses_other_files(void **state)
{
	pfm_error_t error = PFM_INIT(error);
	FILE *f = fopen(path, "w");

	(void)state;
	fputs("once upon a time there was a file of text that was longer than a head", f);
	fclose(f);
	assert_int_equal(pfm_open_recording(&reading, path, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(error.kind, PFM_KIND_IMAGE);
	assert_non_null(error.detail);
	assert_int_equal(pfm_open_recording(&reading, "/nonexistent/file", &error), PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(pfm_create_recording(&recording, path, NULL, NULL, &error),
	                 PFMLIB_ERR_INVAL);
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ROW(reports_earlier_mappings_once),
		ROW(reads_what_it_wrote),
		ROW(features_have_each_event),
		ROW(reports_failed_close_of_file),
		ROW(perf_reads_what_we_write),
		ROW(we_read_what_perf_writes),
		ROW(perf_prints_the_fields_of_tracepoints),
		ROW(perf_unpacks_what_we_pack),
		ROW(we_unpack_what_perf_packs),
		ROW(levels_of_packing),
		ROW(perf_finds_names_in_what_we_write),
		ROW(a_killed_writer_leaves_a_readable_file),
		ROW(killed_at_any_moment_it_is_readable),
		ROW(damaged_files_do_no_harm),
		ROW(refuses_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
