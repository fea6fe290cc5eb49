/* SPDX-License-Identifier: MIT */
/* The bench of sessions through PAPI. It is a separate program, because PAPI contains a libpfm4
 * whose functions have the names of ours. See sessions.h. */
#include <papi.h>
#include <sched.h>
#include "sessions.h"

static int sets[CPU_SETSIZE];
static unsigned n_sets, in_set;
static long long values[MAX_EVENTS];

static void add_events(int set, unsigned n)
{
	static const char *const events[] = { "PAGE_FAULTS",     "PAGE_FAULTS_MIN",
		                              "PAGE_FAULTS_MAJ", "TASK_CLOCK",
		                              "CPU_CLOCK",       "CPU_MIGRATIONS",
		                              "CONTEXT_SWITCHES" };
	static const char *const levels[] = { "",     ":u=1",     ":k=1",     ":u=1:k=1", ":u=0",
		                              ":k=0", ":u=1:k=0", ":u=0:k=1", ":mg=1",    ":mh=1" };

	for (unsigned i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "perf::PERF_COUNT_SW_%s%s", events[i % 7],
		         levels[i / 7]);
		if (PAPI_add_named_event(set, name) != PAPI_OK)
			report_failure(name);
	}
}

static void papi_open(unsigned n, bool all)
{
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	n_sets = 0;
	in_set = n;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		PAPI_option_t o;

		if (!CPU_ISSET(cpu, &cpus))
			continue;
		sets[n_sets] = PAPI_NULL;
		if (PAPI_create_eventset(&sets[n_sets]) != PAPI_OK ||
		    PAPI_assign_eventset_component(sets[n_sets], 0) != PAPI_OK)
			report_failure("PAPI_create_eventset()");
		memset(&o, 0, sizeof(o));
		o.cpu.eventset = sets[n_sets];
		o.cpu.cpu_num = cpu;
		if (all && PAPI_set_opt(PAPI_CPU_ATTACH, &o) != PAPI_OK)
			report_failure("PAPI_set_opt()");
		add_events(sets[n_sets++], n);
		if (!all)
			break;
	}
}

static void papi_start(void)
{
	for (unsigned i = 0; i < n_sets; i++)
		if (PAPI_start(sets[i]) != PAPI_OK)
			report_failure("PAPI_start()");
}

static void papi_read(void)
{
	for (unsigned i = 0; i < n_sets; i++)
		if (PAPI_read(sets[i], values) != PAPI_OK)
			report_failure("PAPI_read()");
}

static void papi_stop(void)
{
	for (unsigned i = 0; i < n_sets; i++)
		if (PAPI_stop(sets[i], values) != PAPI_OK)
			report_failure("PAPI_stop()");
}

static void papi_close(void)
{
	for (unsigned i = 0; i < n_sets; i++)
		if (PAPI_cleanup_eventset(sets[i]) != PAPI_OK ||
		    PAPI_destroy_eventset(&sets[i]) != PAPI_OK)
			report_failure("PAPI_destroy_eventset()");
}

int main(int argc, char **argv)
{
	static const struct session_side side = { "papi",    papi_open, papi_start,
		                                  papi_read, papi_stop, papi_close };

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		report_failure("PAPI_library_init()");
	return drive_side(&side, 1, argc, argv);
}
