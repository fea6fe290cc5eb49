/* SPDX-License-Identifier: MIT */
#include "truth/streams.h"
#include "truth/kernels.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS_MAX = 64, LINE = 64 };

/* At least this much for each thread: more than the private caches of any core. */
#define PART_LEAST ((size_t)16 << 20)

enum team_state { TEAM_WAITS, TEAM_GOES, TEAM_IS_CANCELLED };

/* The threads of a stream. */
struct team {
	enum truth_stream kind;
	unsigned long passes;
	size_t part; /* bytes of each thread */
	double idle_seconds;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum team_state state;
	unsigned n_ready, n_done, n_failed;
};

double truth_read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Sets the CPUs of this thread to all that it may use, and returns their number. */
static unsigned use_all_cpus(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) || sched_getaffinity(0, sizeof(all), &all))
		return 1;
	return (unsigned)CPU_COUNT(&all);
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* One load of each line brings all of it. */
static void read_part(const volatile char *part, size_t size)
{
	for (size_t i = 0; i < size; i += LINE)
		(void)*(const volatile uint64_t *)(const volatile void *)(part + i);
}

static void write_part(volatile char *part, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i += sizeof(value))
		*(volatile uint64_t *)(volatile void *)(part + i) = value;
}

static void do_passes(const struct team *t, char *part)
{
	const double end = truth_read_clock() + t->idle_seconds;

	for (unsigned long i = 0; t->kind != TRUTH_STREAM_IDLE && i < t->passes; i++)
		if (t->kind == TRUTH_STREAM_READ)
			read_part(part, t->part);
		else
			write_part(part, t->part, i);
	while (t->kind == TRUTH_STREAM_IDLE && truth_read_clock() < end)
		for (volatile unsigned i = 0; i < 1000; i++) {}
}

/* Tells the team that a step is done, and waits until it goes. */
static enum team_state report_ready(struct team *t, bool ok)
{
	enum team_state state;

	pthread_mutex_lock(&t->lock);
	t->n_ready++;
	t->n_failed += !ok;
	pthread_cond_broadcast(&t->changed);
	while (t->state == TEAM_WAITS)
		pthread_cond_wait(&t->changed, &t->lock);
	state = t->state;
	pthread_mutex_unlock(&t->lock);
	return state;
}

static void report_done(struct team *t)
{
	pthread_mutex_lock(&t->lock);
	t->n_done++;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

/* Writes its part first, so that the memory is there, and near. */
static void *run_member(void *arg)
{
	struct team *t = arg;
	char *part =
		mmap(NULL, t->part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const bool ok = part != MAP_FAILED;

	if (ok)
		write_part(part, t->part, 1);
	if (report_ready(t, ok) == TEAM_GOES && ok)
		do_passes(t, part);
	report_done(t);
	if (ok)
		munmap(part, t->part);
	return NULL;
}

/* ---- the team -------------------------------------------------------------------------------- */

/* The bytes of each of @n threads: together twice the last cache, and at most a quarter of what is
 * free. 0 if that is too little. */
static size_t choose_part(unsigned n)
{
	const size_t wanted = 2 * truth_read_last_cache() / n,
		     free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	size_t part = wanted > PART_LEAST ? wanted : PART_LEAST;

	if (part * n > free_bytes / 4)
		part = free_bytes / 4 / n;
	return part < (1U << 20) ? 0 : part / LINE * LINE;
}

static void set_state(struct team *t, enum team_state state)
{
	pthread_mutex_lock(&t->lock);
	t->state = state;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

static void wait_for(struct team *t, const unsigned *number, unsigned n)
{
	pthread_mutex_lock(&t->lock);
	while (*number < n)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

/* Lets @n threads do their passes at the same time. */
static bool run_team(struct team *t, unsigned n, double *seconds)
{
	pthread_t threads[MEMBERS_MAX];
	unsigned started = 0;
	double begin;

	while (started < n && !pthread_create(&threads[started], NULL, run_member, t))
		started++;
	wait_for(t, &t->n_ready, started);
	begin = truth_read_clock();
	set_state(t, started == n && !t->n_failed ? TEAM_GOES : TEAM_IS_CANCELLED);
	wait_for(t, &t->n_done, started);
	*seconds = truth_read_clock() - begin;
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return t->state == TEAM_GOES;
}

bool truth_run_stream(enum truth_stream kind, unsigned long passes, double *bytes, double *seconds)
{
	static double bytes_a_second = 1e10; /* of the last stream that read */
	struct team t = { .kind = kind,
		          .passes = passes,
		          .lock = PTHREAD_MUTEX_INITIALIZER,
		          .changed = PTHREAD_COND_INITIALIZER };
	unsigned n = use_all_cpus();

	n = n < MEMBERS_MAX ? n : MEMBERS_MAX;
	t.part = choose_part(n);
	*bytes = (double)t.part * n * (double)passes;
	t.idle_seconds = *bytes / bytes_a_second;
	if (!t.part || !run_team(&t, n, seconds))
		return false;
	if (kind == TRUTH_STREAM_READ && *seconds > 0)
		bytes_a_second = *bytes / *seconds;
	return true;
}
