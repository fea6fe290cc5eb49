/* SPDX-License-Identifier: MIT */
/* Code that both sides of a measurement share, so that they differ in the library alone: a
 * malloc that counts, a fixed shuffle. ours.c and peer.c include it and bring `struct side`. */
#ifndef PERFMON_BENCH_H
#define PERFMON_BENCH_H

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "numbers.h"

/* One library. Functions return 0 or a negative code; registers go to @regs, at most 8, and *@n
 * says how many. */
struct bench_library {
	int (*init)(void);
	int (*raw)(const char *event, uint64_t *regs, int *n);
	int (*named)(const char *event); /* raw, and the full name asked for */
	int (*perf)(const char *event, uint64_t config[3]);
	int (*find)(const char *event);
	unsigned long (*walk)(
		void); /* visits every processor, event and attribute; returns how many it saw */
};
extern const struct bench_library side;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
static unsigned long mallocs;
void *malloc(size_t n)
{
	mallocs++;
	return __libc_malloc(n);
}
void *calloc(size_t a, size_t b)
{
	mallocs++;
	return __libc_calloc(a, b);
}
void *realloc(void *p, size_t n)
{
	mallocs++;
	return __libc_realloc(p, n);
}

struct event_names {
	char **text;
	unsigned n;
};

static struct event_names read_events(const char *path)
{
	struct event_names e = { 0 };
	char line[1024];
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		e.text = realloc(e.text, (e.n + 1) * sizeof(*e.text));
		e.text[e.n++] = strdup(line);
	}
	fclose(f);
	return e;
}

static int time_call(const char *mode, const char *event)
{
	uint64_t regs[8];
	int n = 8;

	if (mode[0] == 'r')
		return side.raw(event, regs, &n);
	if (mode[0] == 'n')
		return side.named(event);
	if (mode[0] == 'p')
		return side.perf(event, regs);
	return side.find(event);
}

/* For callgrind: --toggle-collect=encode_all_events. */
__attribute__((noinline)) int encode_all_events(const char *mode, const struct event_names *e)
{
	int ok = 0;

	for (unsigned i = 0; i < e->n; i++)
		ok += time_call(mode, e->text[i]) >= 0;
	return ok;
}

static void shuffle_events(struct event_names *e)
{
	uint32_t seed = 12345;

	for (unsigned i = e->n; i > 1; i--) {
		unsigned j;
		char *t;

		j = next_random(&seed) % i;
		t = e->text[i - 1];
		e->text[i - 1] = e->text[j];
		e->text[j] = t;
	}
}

/* ns per call of one event again and again, so often that the clock does not count: the median of a
 * few batches. */
static double time_hot(const char *mode, const char *event)
{
	enum { CALLS = 200, BATCHES = 5 };
	double batch[BATCHES];

	for (unsigned k = 0; k < BATCHES; k++) {
		double t = now_ns();

		for (unsigned i = 0; i < CALLS; i++)
			time_call(mode, event);
		batch[k] = (now_ns() - t) / CALLS;
	}
	return median_value(batch, BATCHES);
}

/* Mean ns per call over passes in shuffled order (median of the passes), and the hot median of each
 * string. */
static void time_events(const char *mode, struct event_names *e, unsigned passes)
{
	double *pass = calloc(passes, sizeof(double)), *each = calloc(e->n, sizeof(double)),
	       one[15], mixed, all_hot = 0;
	unsigned long before, used;
	int ok;

	ok = encode_all_events(mode, e);
	before = mallocs;
	encode_all_events(mode, e);
	used = mallocs - before;
	for (unsigned i = 0; i < e->n; i++) {
		for (unsigned k = 0; k < 15; k++) {
			double t = now_ns();

			time_call(mode, e->text[i]);
			one[k] = now_ns() - t;
		}
		each[i] = median_value(one, 15);
	}
	for (unsigned i = 0; i < e->n; i++)
		all_hot += time_hot(mode, e->text[i]) / e->n;
	shuffle_events(e);
	for (unsigned k = 0; k < passes; k++) {
		double t = now_ns();

		encode_all_events(mode, e);
		pass[k] = (now_ns() - t) / e->n;
	}
	mixed = median_value(pass, passes);
	qsort(each, e->n, sizeof(double), compare_values);
	printf("{\"n\": %u, \"ok\": %d, \"mixed\": %.1f, \"hot\": %.1f, \"p50\": %.1f, \"max\": "
	       "%.1f, \"mallocs\": %.3f}\n",
	       e->n, ok, mixed, all_hot, each[e->n / 2], each[e->n - 1], (double)used / e->n);
}

static void print_registers(const struct event_names *e)
{
	for (unsigned i = 0; i < e->n; i++) {
		uint64_t regs[8], config[3] = { 0 };
		int n = 8, rc = side.raw(e->text[i], regs, &n), rp = side.perf(e->text[i], config);

		printf("%s\t%d\t%d", e->text[i], rc, rp);
		for (int k = 0; rc >= 0 && k < n; k++)
			printf("\t%#" PRIx64, regs[k]);
		if (rp >= 0)
			printf("\tperf %#" PRIx64 " %#" PRIx64, config[0], config[1]);
		putchar('\n');
	}
}

/* Private dirty KiB of the mappings whose path holds @needle, and of the anonymous page that may
 * follow each. */
static long private_dirty(const char *needle)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	bool in = false, bss = false;
	long kib = 0;

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long a, b;
		char perms[8], path[256] = "";
		long v;

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &a, &b, perms, path) >= 3) {
			bss = in && !path[0];
			in = strstr(path, needle) || bss;
		} else if (in && sscanf(line, "Private_Dirty: %ld", &v) == 1) {
			kib += v;
		}
	}
	if (f)
		fclose(f);
	return kib;
}

static long minor_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* ---- threads --------------------------------------------------------------------------------- */

#define MAX_THREADS 8

struct race_worker {
	pthread_t id;
	struct event_names own;
	unsigned long done;
	double ns;
	const atomic_int *go;
	char pad[128];
};

static void *thread_work(void *arg)
{
	struct race_worker *w = arg;
	double start;

	while (!atomic_load(w->go))
		;
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (atomic_load(w->go) == 1) {
		encode_all_events("raw", &w->own);
		w->done += w->own.n;
	}
	w->ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

/* Encodings of @n threads together in a second of each one's processor time, measured for @ms
 * milliseconds: threads that wait for others, or share cache lines with them, do fewer. Other
 * programs on the machine do not count. */
static double throughput(const struct event_names *e, unsigned n, unsigned ms)
{
	static struct race_worker w[MAX_THREADS];
	atomic_int go = 0;
	double t, per_second = 0;

	for (unsigned i = 0; i < n; i++) {
		w[i] = (struct race_worker){ .own = *e, .go = &go };
		pthread_create(&w[i].id, NULL, thread_work, &w[i]);
	}
	t = now_ns();
	atomic_store(&go, 1);
	while (now_ns() - t < ms * 1e6)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	atomic_store(&go, 2);
	for (unsigned i = 0; i < n; i++) {
		pthread_join(w[i].id, NULL);
		per_second += w[i].ns > 0 ? (double)w[i].done / w[i].ns * 1e9 : 0;
	}
	return per_second;
}

static const char *race_event;

static void *race_thread(void *arg)
{
	uint64_t regs[8];
	int n = 8;

	(void)arg;
	if (side.init() >= 0)
		side.raw(race_event, regs, &n);
	return NULL;
}

/* Threads that initialise and encode at once: for helgrind. */
static int run_race(unsigned n, const char *event)
{
	pthread_t id[MAX_THREADS];

	race_event = event;
	for (unsigned i = 0; i < n && i < MAX_THREADS; i++)
		pthread_create(&id[i], NULL, race_thread, NULL);
	for (unsigned i = 0; i < n && i < MAX_THREADS; i++)
		pthread_join(id[i], NULL);
	return 0;
}

static int print_usage(void)
{
	fputs("usage: threads N FILE | race N EVENT | encode MODE FILE | count MODE FILE | regs "
	      "FILE | init | first EVENT | memory "
	      "NEEDLE | walk N | walk1\n",
	      stderr);
	return 2;
}

__attribute__((noinline)) int start_timer(void)
{
	return side.init();
}
__attribute__((noinline)) unsigned long time_walk(void)
{
	return side.walk();
}

int main(int argc, char **argv)
{
	struct event_names e;
	double t0 = now_ns(), t1, t2;
	const char *what = argc > 1 ? argv[1] : "";
	int rc;

	if (!strcmp(what, "race") && argc > 3)
		return run_race((unsigned)atoi(argv[2]), argv[3]);
	if (!strcmp(what, "bare"))
		return printf("{\"faults\": %ld}\n", minor_faults()) < 0;
	rc = start_timer();
	t1 = now_ns();
	if (rc < 0)
		return fprintf(stderr, "init: %d\n", rc), 1;
	if (!strcmp(what, "init"))
		return printf("{\"init\": %.0f, \"mallocs\": %lu}\n", t1 - t0, mallocs) < 0;
	if (!strcmp(what, "first") && argc > 2) {
		rc = time_call("raw", argv[2]);
		t2 = now_ns();
		return printf("{\"rc\": %d, \"init\": %.0f, \"first\": %.0f, \"faults\": %ld}\n",
		              rc, t1 - t0, t2 - t1, minor_faults()) < 0;
	}
	if (!strcmp(what, "memory") && argc > 2)
		return printf("{\"dirty\": %ld}\n", private_dirty(argv[2])) < 0;
	if (!strcmp(what, "walk1")) {
		side.walk(); /* what is loaded on first use is not counted */
		return printf("{\"seen\": %lu}\n", time_walk()) < 0;
	}
	if (!strcmp(what, "walk") && argc > 2) {
		double v[200];
		unsigned n = (unsigned)atoi(argv[2]);
		unsigned long seen = time_walk(), before = mallocs;

		for (unsigned i = 0; i < n && i < 200; i++) {
			double t = now_ns();

			seen = time_walk();
			v[i] = now_ns() - t;
		}
		return printf("{\"seen\": %lu, \"ns\": %.0f, \"mallocs\": %.1f}\n", seen,
		              median_value(v, n), (double)(mallocs - before) / n) < 0;
	}
	if (argc < 3)
		return print_usage();
	e = read_events(argv[argc - 1]);
	if (!strcmp(what, "regs"))
		print_registers(&e);
	else if (!strcmp(what, "encode") && argc == 4)
		time_events(argv[2], &e, 41);
	else if (!strcmp(what, "threads") && argc == 4) {
		unsigned n = (unsigned)atoi(argv[2]);

		encode_all_events("raw", &e);
		printf("{\"n\": %u, \"per_s\": %.0f}\n", n,
		       throughput(&e, n <= MAX_THREADS ? n : MAX_THREADS, 300));
	} else if (!strcmp(what, "count") && argc == 4) {
		for (unsigned i = 0; i < e.n; i++)
			time_call(argv[2],
			          e.text[i]); /* what is loaded on first use is not counted */
		printf("{\"n\": %u, \"ok\": %d}\n", e.n, encode_all_events(argv[2], &e));
	} else
		return print_usage();
	return 0;
}

#endif
