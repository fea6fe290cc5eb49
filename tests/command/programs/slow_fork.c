/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm: a forked child spends 100 ms of processor time before fork() returns, as on a
 * slow machine. */
#include <pthread.h>
#include <time.h>

static void spend_processor_time(void)
{
	struct timespec t = { .tv_sec = 0 };

	while (t.tv_sec == 0 && t.tv_nsec < 100000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
}

__attribute__((constructor)) static void slow_down_forks(void)
{
	pthread_atfork(NULL, NULL, spend_processor_time);
}
