/* SPDX-License-Identifier: MIT */
/* bottleneck NAME SECONDS: spends its time in one function, whose name and line pfm explain must
 * find. The functions do roughly what their names say; the tests make up the counts of PMUs. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20000, PAGES = 512, PAGE = 4096, WORDS = PAGES * PAGE / sizeof(uint64_t) };

static volatile uint64_t words[WORDS];
static volatile uint64_t sink = 3;

static double read_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* clang-format off: each function has one line of work, which its mark names. */
#define WORK(name, statement)                                                                      \
	static void name(void)                                                                     \
	{                                                                                          \
		for (unsigned i = 0; i < ROUNDS; i++) {                                            \
			statement;                                                                 \
		}                                                                                  \
	}

WORK(jump_around, sink += i % 7 ? i : sink)                              /* front-end */
WORK(guess_branches, if ((i * 2654435761U) >> 31) sink += i)             /* bad-speculation */
WORK(read_near, sink += words[i % 64])                                   /* level-1 */
WORK(read_level_2, sink += words[i % (WORDS / 16) / 8 * 8])              /* level-2 */
WORK(read_level_3, sink += words[i % (WORDS / 4) / 8 * 8])               /* level-3 */
WORK(follow_links, sink = words[(sink + i) % WORDS])                     /* latency */
WORK(read_all, sink += words[i * 8 % WORDS])                             /* bandwidth */
WORK(visit_pages, sink += words[i % PAGES * (PAGE / 8)])                 /* tlb */
WORK(read_half_stored, *(volatile char *)words = (char)i; sink = *words) /* forwarding */
WORK(divide, sink = (sink + i) / (i | 1))                                /* division */
WORK(do_everything, sink += i)                                           /* balanced */
/* clang-format on */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double end_of_locks;

static void sleep_briefly(long nanoseconds)
{
	const struct timespec t = { 0, nanoseconds };

	nanosleep(&t, NULL); /* it holds the lock */
}

/* A thread that waits for the lock, which another one holds most of the time. */
static void *take_lock(void *arg)
{
	while (read_seconds() < end_of_locks) {
		pthread_mutex_lock(&lock); /* lock-contention */
		sleep_briefly(2000000);    /* the others wait meanwhile */
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void contend(double seconds)
{
	pthread_t threads[3];

	end_of_locks = read_seconds() + seconds;
	for (unsigned i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, take_lock, NULL))
			exit(1);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void rest(double seconds)
{
	const struct timespec t = { 0, (long)(seconds * 1e9) % 1000000000 };

	nanosleep(&t, NULL); /* sleeping */
}

static const struct {
	const char *name;
	void (*work)(void);
} bottlenecks[] = { { "front-end", jump_around },       { "bad-speculation", guess_branches },
	            { "level-1", read_near },           { "level-2", read_level_2 },
	            { "level-3", read_level_3 },        { "latency", follow_links },
	            { "bandwidth", read_all },          { "tlb", visit_pages },
	            { "forwarding", read_half_stored }, { "division", divide },
	            { "balanced", do_everything } };

static int work(const char *name, double seconds)
{
	const double end = read_seconds() + seconds;

	for (size_t i = 0; i < sizeof(bottlenecks) / sizeof(bottlenecks[0]); i++)
		if (strcmp(name, bottlenecks[i].name) == 0) {
			while (read_seconds() < end)
				bottlenecks[i].work();
			return 0;
		}
	return 2;
}

int main(int argc, char **argv)
{
	const double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "lock-contention") == 0)
		contend(seconds);
	else if (strcmp(argv[1], "sleeping") == 0)
		rest(seconds);
	else
		return work(argv[1], seconds);
	return 0;
}
