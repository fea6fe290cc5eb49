/* SPDX-License-Identifier: MIT */
/*
 * pfm serve in a guest with two CPUs: one of them is switched off and on again, and the clock is
 * set back and forward. The load is a number of pages that are touched for the first time on a CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

enum { PAGES = 2000, MORE_PAGES = 1000, INTERVAL_US = 100000, TEXT_SIZE = 1 << 16 };

#define SUMS     "/tmp/sums"
#define CPUS     "/tmp/cpus"
#define TEXTFILE "/tmp/counts.prom"

/* ---- the service ----------------------------------------------------------------------------- */

static pid_t serve(const char *const *words)
{
	pid_t pid = fork();

	if (pid == 0) {
		execv("/pfm", (char *const *)(uintptr_t)words);
		_exit(127);
	}
	return pid;
}

#define SERVE(...) serve((const char *const[]){ "pfm", "serve", __VA_ARGS__, NULL })

static char answer[TEXT_SIZE];

/* Asks for a reading that was taken after this call; waits for the service to begin. */
static bool ask(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = 0;
	ssize_t got = 1;
	int fd;

	answer[0] = '\0';
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	/* A text is at most one interval old. */
	usleep(INTERVAL_US + INTERVAL_US / 2);
	for (unsigned i = 0; i < 200; i++, usleep(INTERVAL_US)) { /* until the service listens */
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
			break;
		close(fd);
		fd = -1;
	}
	if (fd < 0 || write(fd, "read\n", 5) != 5)
		return false;
	while (got > 0 && !strstr(answer, "end\t") && n < TEXT_SIZE - 1) {
		got = read(fd, answer + n, TEXT_SIZE - 1 - n);
		n += got > 0 ? (size_t)got : 0;
		answer[n] = '\0';
	}
	close(fd);
	return strstr(answer, "end\t");
}

/* The count of page faults at a place, -1 without a value; its quality. */
static long long find_faults(const char *place, char quality[32])
{
	enum { PLACE = 3, VALUE, SCALE, UNIT, QUALITY, FIELDS };
	char line[256], *fields[FIELDS], *rest;
	unsigned n;

	strcpy(quality, "none");
	for (const char *at = strstr(answer, "count\tpage-faults"); at;
	     at = strstr(at + 1, "count\tpage-faults")) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		rest = line;
		for (n = 0; n < FIELDS && rest; n++)
			fields[n] = strsep(&rest, "\t");
		if (n < FIELDS || strcmp(fields[PLACE], place) != 0)
			continue;
		snprintf(quality, 32, "%s", fields[QUALITY]);
		return *fields[VALUE] == '-' ? -1 : atoll(fields[VALUE]);
	}
	return -1;
}

static double find_interval(void)
{
	double seconds = -1;

	sscanf(strstr(answer, "end\t"), "end\t%*u\t%lf", &seconds);
	return seconds;
}

/* ---- the load -------------------------------------------------------------------------------- */

/* Touches pages on a CPU, in a process of its own. */
static void touch_pages(int cpu, size_t n)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	cpu_set_t one;
	volatile char *pages;
	pid_t pid = fork();

	if (pid == 0) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) != 0)
			_exit(1);
		pages = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		             -1, 0);
		madvise((void *)(uintptr_t)pages, n * size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < n; i++)
			pages[i * size] = 1;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static bool is_between(long long value, long long least)
{
	return value >= least && value < least + MORE_PAGES;
}

static bool switch_cpu_1(bool on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool ok = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	close(fd);
	return ok;
}

/* ---- what is checked ------------------------------------------------------------------------- */

static long long sum, first, second; /* of page faults: both CPUs, each CPU */
static char quality[32];

/* Counts since the last call, of the sums and of each CPU; -1 without a value. */
static void read_differences(long long difference[3])
{
	const long long before[3] = { sum, first, second };
	long long now[3];

	now[0] = ask(SUMS) ? find_faults("-", quality) : -1;
	sum = now[0] >= 0 ? now[0] : sum;
	now[1] = ask(CPUS) ? find_faults("cpu=0", (char[32]){ 0 }) : -1;
	now[2] = find_faults("cpu=1", (char[32]){ 0 });
	first = now[1] >= 0 ? now[1] : first;
	second = now[2] >= 0 ? now[2] : second;
	for (unsigned i = 0; i < 3; i++)
		difference[i] = now[i] >= 0 ? now[i] - before[i] : -1;
	printf("# page faults: %lld (%s), CPU 0 %lld, CPU 1 %lld\n", difference[0], quality,
	       difference[1], difference[2]);
}

static void cpu_comes_and_goes(void)
{
	long long d[3];

	read_differences(d);
	touch_pages(0, PAGES);
	touch_pages(1, PAGES);
	read_differences(d);
	check(is_between(d[0], 2 * PAGES) && strcmp(quality, "exact") == 0,
	      "both CPUs are counted");
	check(is_between(d[1], PAGES) && is_between(d[2], PAGES), "and each of them");

	check(switch_cpu_1(false), "CPU 1 is switched off");
	read_differences(d);
	check(d[0] >= 0, "the sum stays");
	touch_pages(0, PAGES);
	read_differences(d);
	check(is_between(d[0], PAGES) && is_between(d[1], PAGES), "CPU 0 is counted");
	check(d[2] == -1, "CPU 1 has no value");

	check(switch_cpu_1(true), "CPU 1 is switched on");
	read_differences(d);
	check(d[0] >= 0, "the sum stays");
	read_differences(d);
	touch_pages(0, PAGES);
	touch_pages(1, PAGES);
	read_differences(d);
	check(is_between(d[0], 2 * PAGES) && strcmp(quality, "exact") == 0,
	      "both are counted from the next interval on");
	check(is_between(d[1], PAGES) && is_between(d[2], PAGES), "and each of them");
}

static void clock_jumps(void)
{
	static const long jumps[] = { -3600, 86400, -1000000000 };
	struct stat before, after;
	struct timeval t;
	long long d[3];

	for (unsigned i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		read_differences(d);
		stat(TEXTFILE, &before);
		gettimeofday(&t, NULL);
		t.tv_sec += jumps[i];
		check(settimeofday(&t, NULL) == 0, "the clock is set by %ld seconds", jumps[i]);
		touch_pages(0, PAGES);
		read_differences(d);
		check(is_between(d[0], PAGES) && strcmp(quality, "exact") == 0,
		      "counts go on, exact");
		check(find_interval() > 0 && find_interval() < 5,
		      "the interval is positive: %f seconds", find_interval());
		usleep(5 * INTERVAL_US); /* a file is written in each interval */
		check(stat(TEXTFILE, &after) == 0 && after.st_ino != before.st_ino &&
		              llabs((long long)(after.st_mtime - t.tv_sec)) < 10,
		      "the file is replaced at the clock's time");
	}
}

int main(void)
{
	pid_t sums = SERVE("--lines", SUMS, "--textfile", TEXTFILE, "-I", "100", "-e",
	                   "page-faults,cycles:u"),
	      cpus = SERVE("--lines", CPUS, "-I", "100", "-e", "page-faults", "--per-cpu");
	int status = -1, other = -1;

	cpu_comes_and_goes();
	clock_jumps();
	kill(sums, SIGTERM);
	kill(cpus, SIGTERM);
	waitpid(sums, &status, 0);
	waitpid(cpus, &other, 0);
	check(status == 0 && other == 0, "the services end well");
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}
