/* SPDX-License-Identifier: MIT */
/* A static program without libraries that uses perf_event_open(2) in ways that pfm pretend must
 * translate. Prints "NAME VALUE" lines. The model of the tests counts 1,000 for each page fault, so
 * counts are exact. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENT 0x00c0 /* instructions */
#define OTHER 0x003c /* cycles */

static int open_event(uint64_t config, int group, uint64_t format)
{
	struct perf_event_attr a = { .type = PERF_TYPE_RAW,
		                     .size = sizeof(a),
		                     .config = config,
		                     .exclude_kernel = 1,
		                     .read_format = format };

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static unsigned long read_value(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? (unsigned long)value
	                                                        : (unsigned long)-1;
}

/* Touches @n pages for the first time. */
static void fault(unsigned n)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, n * size, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		pages[i * size] = 1;
	munmap(pages, n * size);
}

static void *fault_in_thread(void *unused)
{
	int fd = open_event(EVENT, -1, 0);
	unsigned long before = read_value(fd);

	fault(7);
	printf("thread %lu\n", read_value(fd) - before);
	return unused;
}

static void count_faults(void)
{
	int fd = open_event(EVENT, -1, 0);
	unsigned long before = read_value(fd);

	fault(10);
	printf("faults %lu\n", read_value(fd) - before);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	printf("reset %lu\n", read_value(fd));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	before = read_value(fd);
	fault(10);
	printf("disabled %lu\n", read_value(fd) - before);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	fault(3);
	printf("enabled %lu\n", read_value(fd) - before);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	before = read_value(fd);
	fault(10);
	printf("off %lu\n", read_value(fd) - before);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	fault(2);
	printf("on %lu\n", read_value(fd) - before);
	close(fd);
}

/* All descriptors of an event read the same, also in a child. */
static void duplicate(void)
{
	int fd = open_event(EVENT, -1, 0), copies[4], status = -1;
	unsigned long value;
	pid_t child;

	fault(5);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	copies[0] = dup(fd);
	copies[1] = fcntl(fd, F_DUPFD, 3);
	copies[2] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	copies[3] = dup2(fd, 2000);
	value = read_value(fd);
	for (int i = 0; i < 4; i++)
		printf("copy %d\n", value > 0 && read_value(copies[i]) == value);
	printf("low %d\n", dup2(fd, 50) < 0 ? errno : 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(copies[0]);
		_exit(read_value(fd) == value ? 0 : 1);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

static void read_group(void)
{
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
	                        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	int leader = open_event(EVENT, -1, format), member = open_event(OTHER, leader, format);
	uint64_t ids[2], words[7] = { 0 };
	long size;

	fault(4);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(leader, PERF_EVENT_IOC_ID, &ids[0]);
	ioctl(member, PERF_EVENT_IOC_ID, &ids[1]);
	size = read(leader, words, sizeof(words));
	printf("group %ld\nmembers %lu\n", size, (unsigned long)words[0]);
	printf("ids %d\n", words[4] == ids[0] && words[6] == ids[1]);
	printf("half %d\n", words[3] == 2 * words[5]);
	printf("times %d\n", words[1] == words[2] && words[1] > 0);
	printf("small %d\n", read(leader, words, 8) < 0 ? errno : 0);
}

static double get_microseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The cost of the last thousand of @n, beside that of the first thousand. */
static void open_many(unsigned n)
{
	double first = 0, begin = get_microseconds();

	for (unsigned i = 0; i < n; i++) {
		int fd = open_event(EVENT, -1, 0);

		if (fd < 0) {
			printf("opens %u: %s\n", i, strerror(errno));
			return;
		}
		close(fd);
		if (i % 1000 == 999) {
			double end = get_microseconds();

			first = first > 0 ? first : end - begin;
			if (i + 1 == n)
				printf("flat %.2f\n", (end - begin) / first);
			begin = end;
		}
	}
	printf("opens %u\n", n);
}

static void time_calls(void)
{
	int fd = open_event(EVENT, -1, 0);
	double begin = get_microseconds();

	for (int i = 0; i < 10000; i++)
		read_value(fd);
	printf("read_us %.2f\n", (get_microseconds() - begin) / 10000);
	begin = get_microseconds();
	for (int i = 0; i < 1000; i++)
		close(open_event(EVENT, -1, 0));
	printf("open_us %.2f\n", (get_microseconds() - begin) / 1000);
	begin = get_microseconds();
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getppid);
	printf("getppid_us %.2f\n", (get_microseconds() - begin) / 100000);
}

int main(int argc, char **argv)
{
	int fd = open_event(EVENT, -1, 0);
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (fd < 0) {
		printf("open %s\n", strerror(errno));
		return 1;
	}
	if (argc > 1 && strcmp(argv[1], "time") == 0) {
		time_calls();
		return 0;
	}
	count_faults();
	duplicate();
	read_group();
	pthread_create(&thread, NULL, fault_in_thread, NULL);
	pthread_join(thread, NULL);
	open_many(argc > 1 ? (unsigned)atoi(argv[1]) : 2000);
	return 0;
}
