/* SPDX-License-Identifier: MIT */
/* Ends of a process: "END HOW" makes 3 visits of "work" with 2 page faults each, begins one of
 * "open", and ends by HOW. "workers N HOW": N forked children do that. "forever FILE" visits "work"
 * in two threads, and counts the ended visits of each in FILE, until it is killed. "child" makes an
 * empty visit in a forked child. "many N": 40 regions with 100 page faults a visit, and N more in
 * five of them. "short N": N threads with a visit each, one after the other. */
#include <pthread.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <perfmon/region.h>
#include "marked.h"

static void work(void)
{
	pfm_begin_region(PFM_REGION("work"));
	cause_faults(2);
	pfm_end_region(PFM_REGION("work"));
}

static int end_by(const char *how)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "TERM", SIGTERM }, { "INT", SIGINT },   { "KILL", SIGKILL },
		        { "ABRT", SIGABRT }, { "SEGV", SIGSEGV }, { "HUP", SIGHUP } };

	for (unsigned i = 0; i < 3; i++)
		work();
	if (strcmp(how, "return") == 0)
		return 0;
	if (strcmp(how, "wait") == 0)
		return putchar('.') == EOF || fflush(stdout) || getchar() != EOF;
	pfm_begin_region(PFM_REGION("open"));
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(how, signals[i].name) == 0)
			raise(signals[i].number);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "exec") == 0)
		execlp("true", "true", NULL);
	if (strcmp(how, "system") == 0)
		return system("true") ? 1 : 0;
	return 1;
}

static int start_workers(int n, const char *how)
{
	work();
	for (int i = 0; i < n; i++)
		if (fork() == 0)
			_exit(end_by(how));
	while (wait(NULL) > 0)
		;
	return 0;
}

static void *visit_forever(void *ended)
{
	for (;;) {
		work();
		++*(volatile uint64_t *)ended;
	}
	return NULL;
}

static int run_forever(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t *ended = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t thread;

	if (ended == MAP_FAILED || pthread_create(&thread, NULL, visit_forever, ended + 64))
		return 1;
	visit_forever(ended);
	return 0;
}

static int visit_in_child(void)
{
	work();
	if (fork() == 0) {
		pfm_begin_region(PFM_REGION("empty"));
		pfm_end_region(PFM_REGION("empty"));
		_exit(0);
	}
	wait(NULL);
	return 0;
}

static int visit_many(unsigned more)
{
	char name[32];

	for (unsigned i = 0; i < 120; i++) {
		pfm_region_t *region;

		snprintf(name, sizeof(name), "region %u", i % 40);
		region = pfm_find_region(name);
		pfm_begin_region(region);
		cause_faults(100 + (i % 8 == 3 ? more : 0));
		pfm_end_region(region);
	}
	return 0;
}

static void *visit_once(void *arg)
{
	work();
	return arg;
}

static int start_short_threads(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, visit_once, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "end") == 0)
		return end_by(argv[2]);
	if (argc == 4 && strcmp(argv[1], "workers") == 0)
		return start_workers(atoi(argv[2]), argv[3]);
	if (argc == 3 && strcmp(argv[1], "forever") == 0)
		return run_forever(argv[2]);
	if (argc == 2 && strcmp(argv[1], "child") == 0)
		return visit_in_child();
	if (argc == 3 && strcmp(argv[1], "many") == 0)
		return visit_many((unsigned)atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "short") == 0)
		return start_short_threads(atoi(argv[2]));
	return 2;
}
