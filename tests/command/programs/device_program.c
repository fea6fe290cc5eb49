/* SPDX-License-Identifier: MIT */
/* A program that uses the Tru64 counter device as programs on that system do: through pfcntr.h
 * and system calls, without this library. test_device_run starts it, linked dynamically and
 * statically, under pfm device. It says what went wrong and ends with the number of the check
 * that failed. */
#include <errno.h>
#include <fcntl.h>
#include <perfmon/pfcntr.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int checks;

static void check(int good, const char *what)
{
	checks++;
	if (good)
		return;
	fprintf(stderr, "check %d: %s: %s\n", checks, what, strerror(errno));
	exit(checks);
}

#define CHECK(GOOD) check(GOOD, #GOOD)

static int request(int fd, uint32_t number, uint64_t word)
{
	return ioctl(fd, (unsigned long)number, &word);
}

static void spend_time(void)
{
	struct timespec t = { 0, 20000000 };

	nanosleep(&t, NULL); /* the device counts what passes of time */
}

static void count(void)
{
	struct pfcntrs_ev5 counts, *pointer = &counts;
	uint64_t where = (uint64_t)(uintptr_t)pointer, size = 0;
	struct addr_range range = { 0x1000, 0x1100 };
	pfcntr_bucket_t buckets[32];
	int fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL), copy;

	CHECK(fd >= 0);
	CHECK(open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL) < 0 && errno == EBUSY);
	CHECK(request(fd, PCNT5MUX, PF5_MUX0_CYCLES | PF5_MUX1_C_LOAD_INSTRUCTIONS) == 0);
	CHECK(request(fd, PCNT5FREQ,
	              PF5_C0_INT_EVERY_65536 | PF5_C1_INT_EVERY_65536 | PF5_C2_INT_EVERY_16384) ==
	      0);
	CHECK(request(fd, PCNTSETITEMS, 0) < 0 && errno == EINVAL);
	CHECK(request(fd, PCNTSETITEMS, PFM_COUNTERS | PFM_PROFILING) == 0);
	CHECK(ioctl(fd, PCNTSETUADDR, &range) == 0);
	CHECK(ioctl(fd, PCNTGETRSIZE, &size) == 0 && size == 64);
	CHECK(ioctl(fd, PCNTLOGSELECT, 0) == 0);
	CHECK(ioctl(fd, PCNTCLEARCNT, 0) == 0);
	CHECK(request(fd, PCNT5RESTART, PF5_CTRS(3, PMCTRS_ALL_CPUS, 0, 0, 0)) == 0);
	spend_time();
	CHECK(request(fd, PCNT5DISABLE, PF5_CTRS(3, PMCTRS_ALL_CPUS, 0, 0, 0)) == 0);
	CHECK(ioctl(fd, PCNT5READCNTRS, &where) == 0 && counts.pf_cntr0 > 1000000 &&
	      counts.pf_cntr1 > 0 && counts.pf_cntr2 == 0);
	where = 8; /* nothing is mapped there */
	CHECK(ioctl(fd, PCNT5GETCNT, &where) < 0 && errno == EFAULT);
	CHECK(request(fd, PCNT6MUX, 0) < 0 && errno == EINVAL);
	CHECK(read(fd, buckets, sizeof buckets) == 64);
	copy = dup(fd);
	CHECK(copy >= 0 && close(fd) == 0);
	CHECK(open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL) < 0 &&
	      errno == EBUSY); /* the copy is still open */
	CHECK(ioctl(copy, PCNTLOGALL, 0) == 0);
	CHECK(close(copy) == 0);
	fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENEACH);
	CHECK(fd >= 0);
	close(fd);
}

/* 100 ms of CPU time. */
__attribute__((noinline)) static void take_cpu_time(void)
{
	volatile uint64_t turns = 0;
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		for (unsigned i = 0; i < 1000000; i++)
			turns++;
}

static void take_cpu_time_in_child(void)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		take_cpu_time();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* The interrupts of cycles in take_cpu_time(), of some 760 in its time. */
static unsigned profile(void (*work)(void))
{
	uint64_t start = (uint64_t)(uintptr_t)&take_cpu_time & ~UINT64_C(3);
	uint64_t range[4] = { start, start + 256, 0, 0 };
	pfcntr_bucket_t bucket = 0;
	int fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL);

	CHECK(fd >= 0);
	CHECK(request(fd, PCNT5MUX, PF5_MUX0_CYCLES) == 0);
	CHECK(request(fd, PCNTSETITEMS, PFM_COUNTERS | PFM_PROFILING) == 0);
	CHECK(ioctl(fd, PCNTSETURANGE, range) == 0);
	CHECK(ioctl(fd, PCNTLOGALL, 0) == 0);
	CHECK(request(fd, PCNT5RESTART, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0)) == 0);
	work();
	CHECK(request(fd, PCNT5DISABLE, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0)) == 0);
	CHECK(read(fd, &bucket, sizeof bucket) == sizeof bucket);
	close(fd);
	printf("# %u interrupts\n", (unsigned)bucket);
	return (unsigned)bucket;
}

/* A child that inherited the descriptor holds the device as long as it has it. */
static void share(void)
{
	int fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL), status = 0;
	pid_t child;

	CHECK(fd >= 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		_exit(ioctl(fd, PCNTLOGALL, 0) == 0 && open(PFCNTR_DEVICE, PCNTOPENALL) < 0 &&
		                      errno == EBUSY
		              ? 0
		              : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	close(fd);
}

/* A socket of the program itself is not taken for the device, which is served through a socket. */
static void keep_its_sockets(void)
{
	int fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL), ends[2], high;
	char c = 0;

	CHECK(fd >= 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	high = fcntl(ends[0], F_DUPFD, 600);
	high = high < 0 ? ends[0] : high;
	CHECK(ioctl(high, PCNTLOGALL, 0) < 0);
	CHECK(write(ends[1], "x", 1) == 1 && read(high, &c, 1) == 1 && c == 'x');
	CHECK(ioctl(fd, PCNTLOGALL, 0) == 0);
	close(high);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* A process that is bound to one processor can open that processor alone. */
static void open_one(void)
{
	cpu_set_t all, one;
	size_t first = 0;
	int fd;

	CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CHECK(CPU_COUNT(&all) == 1 ||
	      (open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENONE) < 0 && errno != EBUSY));
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
	fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENONE);
	CHECK(fd >= 0);
	close(fd);
	CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

static void check_exclusive(int fd)
{
	CHECK(fd >= 0);
	CHECK(open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL) < 0 && errno == EBUSY);
	CHECK(ioctl(fd, PCNTLOGALL, 0) == 0);
	close(fd);
}

/* The calls that the kernel has for it, of which a C library uses one. */
static void open_by_every_call(void)
{
#ifdef SYS_openat2
	struct {
		uint64_t flags, mode, resolve;
	} how = { O_RDONLY | PCNTOPENALL, 0, 0 };

	check_exclusive((int)syscall(SYS_openat2, AT_FDCWD, PFCNTR_DEVICE, &how, sizeof how));
#endif
#ifdef SYS_open
	check_exclusive((int)syscall(SYS_open, PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL));
#endif
	check_exclusive((int)syscall(SYS_openat, AT_FDCWD, PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL));
}

/* Calls that are not for the device work as usual. */
static void live_as_usual(void)
{
	char text[16] = "";
	int fd = open("/proc/self/comm", O_RDONLY), high = fcntl(fd, F_DUPFD, 600);

	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof text) > 0);
	CHECK(high < 0 || read(high, text, sizeof text) >= 0);
	CHECK(open("/dev/pfcntr.not", O_RDONLY) < 0 && errno == ENOENT);
	CHECK(ioctl(fd, 0x5001UL, 0) < 0 &&
	      errno == ENOTTY); /* of the device's type, on another file */
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "status") == 0)
		return 42;
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		abort();
	if (argc > 1 && strcmp(argv[1], "profile") == 0) {
		CHECK(profile(take_cpu_time) > 100);
		CHECK(profile(take_cpu_time_in_child) > 100);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "requests") == 0) {
		CHECK(profile(take_cpu_time) == 0);
		return 0;
	}
	live_as_usual();
	count();
	share();
	keep_its_sockets();
	open_one();
	/* Linux itself takes the modes for something else: below pfm device alone. */
	if (argc > 1 && strcmp(argv[1], "all") == 0)
		open_by_every_call();
	printf("# %d checks\n", checks);
	return 0;
}
