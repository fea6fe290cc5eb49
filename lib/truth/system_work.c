/* SPDX-License-Identifier: MIT */
/* The kernels that are work of the operating system. The system accounts for it in a second way,
 * with which a count is compared: a switch or a fault that other programs cause is in both. */
#include "truth/kernels.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double read_task_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double read_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (double)u.ru_minflt + (double)u.ru_majflt;
}

static double read_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (double)u.ru_nvcsw + (double)u.ru_nivcsw;
}

/* Uses the processor for @n microseconds of the thread's time, hardly any of it in the kernel. */
static bool spend_time(unsigned long n, void *memory)
{
	const double end = read_task_clock() + 1e3 * (double)n;

	(void)memory;
	do
		for (volatile unsigned i = 0; i < 20000; i++) {}
	while (read_task_clock() < end);
	return true;
}

/* Touches @n new pages. */
static bool touch_pages(unsigned long n, bool by_write)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = n * page;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *each = pages;
	char sum = 0;

	if (pages == MAP_FAILED)
		return false;
	madvise(pages, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		if (by_write)
			each[i] = 1;
		else
			sum = (char)(sum + each[i]);
	munmap(pages, size);
	return sum == 0;
}

static bool write_pages(unsigned long n, void *memory)
{
	(void)memory;
	return touch_pages(n, true);
}

static bool read_pages(unsigned long n, void *memory)
{
	(void)memory;
	return touch_pages(n, false);
}

/* Sleeps @n times: each sleep leaves the processor once. */
static bool sleep_often(unsigned long n, void *memory)
{
	const struct timespec moment = { 0, 1000 };

	(void)memory;
	while (n--)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	return true;
}

/* The ends of two pipes: what the partner reads, and where it answers. */
struct partner {
	int in, out;
};

static void *answer_bytes(void *arg)
{
	const struct partner *p = arg;
	char byte;

	while (read(p->in, &byte, 1) == 1 && write(p->out, &byte, 1) == 1) {}
	return NULL;
}

static bool exchange_bytes(unsigned long n, int out, int in)
{
	char byte = 0;

	while (n && write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1)
		n--;
	return n == 0;
}

/* Exchanges @n bytes with a thread over two pipes. */
static bool exchange_over_pipes(unsigned long n, const int there[2], const int back[2])
{
	struct partner p = { there[0], back[1] };
	pthread_t thread;
	bool ok;

	if (pthread_create(&thread, NULL, answer_bytes, &p)) {
		close(there[1]);
		return false;
	}
	ok = exchange_bytes(n, there[1], back[0]);
	close(there[1]); /* ends the thread */
	pthread_join(thread, NULL);
	return ok;
}

/* Sends @n bytes to a thread on the same CPU and waits for each answer: the thread needs the CPU in
 * between. */
static bool exchange_with_thread(unsigned long n, void *memory)
{
	int there[2], back[2];
	bool ok;

	(void)memory;
	if (pipe(there))
		return false;
	if (pipe(back)) {
		close(there[0]);
		close(there[1]);
		return false;
	}
	ok = exchange_over_pipes(n, there, back);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	return ok;
}

static bool move_to_cpu(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

/* Another CPU than @here that the thread may use; -1 for none. */
static int find_other_cpu(int here)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) || sched_getaffinity(0, sizeof(all), &all))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != here && CPU_ISSET((unsigned)cpu, &all))
			return cpu;
	return -1;
}

/* Moves the thread @n times between two CPUs, an even number, and ends where it began. */
static bool move_often(unsigned long n, void *memory)
{
	const int here = sched_getcpu();
	cpu_set_t before;
	int there;
	bool ok;

	(void)memory;
	if (sched_getaffinity(0, sizeof(before), &before))
		return false;
	there = find_other_cpu(here);
	ok = there >= 0 && move_to_cpu(here);
	for (unsigned long i = 0; ok && i < n; i++)
		ok = move_to_cpu(i % 2 ? here : there);
	return sched_setaffinity(0, sizeof(before), &before) == 0 && ok;
}

/* A clock of a processor has 0.2 to 7 turns in a nanosecond, a reference clock 1 million to 7
 * billion in a second. */
#define CLOCKS WITHIN(CYCLES, 0.2, 7), WITHIN(REFERENCE_CYCLES, 0.001, 7)

static const struct truth_kernel work[] = {
	{ .name = "time",
	  .about = "time on the processor, by clock_gettime(2)",
	  .turns = 1000,
	  .run = spend_time,
	  .account = read_task_clock,
	  /* A count may hold time that the hypervisor took; the clock leaves it out. */
	  WITHIN(TASK_NANOSECONDS, 0.95, 1.5),
	  CLOCKS },
	{ .name = "written_pages",
	  .about = "first writes to pages, by getrusage(2)",
	  .turns = 200,
	  .run = write_pages,
	  .account = read_faults,
	  IS(PAGE_FAULTS, 1),
	  IS(MINOR_FAULTS, 1) },
	{ .name = "read_pages",
	  .about = "first reads of pages, by getrusage(2)",
	  .turns = 200,
	  .run = read_pages,
	  .account = read_faults,
	  IS(PAGE_FAULTS, 1),
	  IS(MINOR_FAULTS, 1) },
	{ .name = "exchanges",
	  .about = "waits for a thread on the same CPU, by getrusage(2)",
	  .turns = 100,
	  .run = exchange_with_thread,
	  .account = read_switches,
	  IS(CONTEXT_SWITCHES, 1) },
	{ .name = "sleeps",
	  .about = "short sleeps, by getrusage(2)",
	  .turns = 50,
	  .run = sleep_often,
	  .account = read_switches,
	  IS(CONTEXT_SWITCHES, 1) },
	{ .name = "moves",
	  .about = "a move to another CPU, by sched_setaffinity(2)",
	  .turns = 50,
	  .run = move_often,
	  IS(MIGRATIONS, 1) },
};

const struct truth_kernel *truth_list_system_work(size_t *n)
{
	*n = sizeof(work) / sizeof(work[0]);
	return work;
}
