/* SPDX-License-Identifier: MIT */
/* Regions of our own: outer has 5 faults for itself, inner 2, in 4 visits; "threads" has 3 in each
 * of 3 threads. With an argument the program ends in another way: "kill", "exec", "exec-inside",
 * "fork"; "pairs N" instead makes N empty visits of "empty", "name TEXT" one visit of TEXT. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <perfmon/region.h>
#include "marked.h"

static void *work(void *arg)
{
	pfm_begin_region(PFM_REGION("threads"));
	cause_faults(3);
	pfm_end_region(PFM_REGION("threads"));
	return arg;
}

static void visit_all(void)
{
	pthread_t t;

	for (unsigned i = 0; i < 4; i++) {
		pfm_begin_region(PFM_REGION("outer"));
		cause_faults(5);
		pfm_begin_region(PFM_REGION("inner, with a comma"));
		cause_faults(2);
		pfm_end_region(PFM_REGION("inner, with a comma"));
		pfm_end_region(PFM_REGION("outer"));
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
	}
}

static int make_pairs(int n)
{
	for (int i = 0; i < n; i++) {
		pfm_begin_region(PFM_REGION("empty"));
		pfm_end_region(PFM_REGION("empty"));
	}
	return 0;
}

static int visit_name(const char *name)
{
	static pfm_region_t region;

	region.name = name;
	pfm_begin_region(&region);
	pfm_end_region(&region);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "name") == 0 && argc > 2)
		return visit_name(argv[2]);
	if (strcmp(how, "pairs") == 0)
		return make_pairs(argc > 2 ? atoi(argv[2]) : 0);
	visit_all();
	if (strcmp(how, "exec-inside") == 0)
		pfm_begin_region(PFM_REGION("outer"));
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strncmp(how, "exec", strlen("exec")) == 0)
		execlp("true", "true", NULL);
	if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {
			visit_all();
			exit(0);
		}
		wait(NULL);
	}
	return strcmp(how, "fail") == 0 ? 3 : 0;
}
