/* SPDX-License-Identifier: MIT */
/* Tracepoints and events of the kernel, out of a folder that is made here. They are read once in a
 * process, so it is made before main(). */
#include "libpfm4_internal.h"
#include <perfmon/pfmlib.h>

#define EVENTS "/debug/tracing/events/"

static char long_name[66]; /* one letter more than there is room for is left out */

__attribute__((constructor)) static void make_tracepoints(void)
{
	char path[160];

	memset(long_name, 'n', sizeof(long_name) - 1);
	l4_file("/proc/mounts", "proc /proc proc rw 0 0\nnone /debugx debugfsx rw 0 0\nnone /debug "
	                        "debugfs rw 0 0\nnone /other debugfs rw 0 0\n");
	l4_file(EVENTS "sched/sched_switch/id", "316\n");
	l4_file(EVENTS "sched/sched_wakeup/id", "318\n");
	l4_file(EVENTS "sched/filter", "none\n"); /* no folder */
	l4_file(EVENTS "sched/empty/id", "");
	l4_file(EVENTS "sched/.hidden/id", "1\n");
	l4_file(EVENTS ".hidden/point/id", "2\n");
	l4_file(EVENTS "nothing/here", "3\n");
	for (unsigned i = 0; i < 9; i++) { /* lists grow */
		snprintf(path, sizeof(path), EVENTS "many/p%u/id", i);
		l4_file(path, "1844674407370955161\n");
	}
	snprintf(path, sizeof(path), EVENTS "longs/%s/id", long_name + 1);
	l4_file(path, "4\n");
	snprintf(path, sizeof(path), EVENTS "longs/%s/id", long_name + 2);
	l4_file(path, "5\n");
	l4_file("/sys/bus/event_source/devices/cpu/events/slots", "event=0x00,umask=0x4\n");
	l4_file("/sys/bus/event_source/devices/cpu/events/topdown-be-bound",
	        "event=0x00,umask=0x83\n");
}

static void subsystems_are_found_by_name(void **state)
{
	int sched, many, longs;
	uint64_t id = 0;

	(void)state;
	assert_int_equal(l4_count_trace_systems(), 3);
	sched = l4_find_trace_system("sched", 5);
	many = l4_find_trace_system("MANY", 4);
	longs = l4_find_trace_system("longs", 5);
	assert_true(sched >= 0 && many >= 0 && longs >= 0 && sched != many);
	assert_int_equal(l4_find_trace_system("sche", 4), -1);
	assert_int_equal(l4_find_trace_system("schedx", 6), -1);
	assert_int_equal(l4_find_trace_system("nothing", 7), -1);
	assert_int_equal(l4_find_trace_system(".hidden", 7), -1);
	assert_string_equal(l4_get_trace_system_name((uint32_t)sched), "sched");
	assert_int_equal(l4_count_tracepoints((uint32_t)sched), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const char *name = l4_get_tracepoint_name((uint32_t)sched, i, &id);

		assert_true((strcmp(name, "sched_switch") == 0 && id == 316) ||
		            (strcmp(name, "sched_wakeup") == 0 && id == 318));
		assert_ptr_equal(l4_get_tracepoint_name((uint32_t)sched, i, NULL), name);
	}
	assert_int_equal(l4_count_tracepoints((uint32_t)many), 9);
	l4_get_tracepoint_name((uint32_t)many, 8, &id);
	assert_true(id == 1844674407370955161u);
	assert_int_equal(l4_count_tracepoints((uint32_t)longs), 1);
	assert_string_equal(l4_get_tracepoint_name((uint32_t)longs, 0, &id), long_name + 2);
	assert_int_equal(id, 5);
}

static void events_of_the_kernel(void **state)
{
	(void)state;
	assert_true(l4_kernel_has_event("slots"));
	assert_true(l4_kernel_has_event("topdown-be-bound"));
	assert_false(l4_kernel_has_event("topdown-retiring"));
	assert_false(l4_kernel_has_event("topdown-fe-bound"));
	assert_true(l4_kernel_has_event("anything else")); /* the kernel is not asked about it */
}

/* A tracepoint subsystem is an event of PMU perf, after the events that every kernel has and before
 * the two that this kernel adds. Its tracepoints are unit masks. */
static void tracepoints_as_events(void **state)
{
	uint32_t perf = l4_number_of("perf"), end = l4_get_event_end(perf);
	struct l4_event ev, same;
	struct l4_attr_list list;
	struct l4_attr a;

	(void)state;
	ev = l4_event_of("perf", "Sched");
	assert_true(ev.is_tracepoint_system && strcmp(l4_get_event_name(&ev), "sched") == 0);
	assert_true(l4_get_event_by_index(l4_make_event_index(&ev), &same));
	assert_true(same.is_tracepoint_system && same.position == ev.position);
	assert_int_equal(l4_make_event_index(&ev) & ((1 << L4_POSITION_BITS) - 1),
	                 end - 5 + ev.position);
	l4_list_attrs(&ev, PFM_OS_PERF_EVENT, &list);
	assert_true(list.n_masks == 2 && list.modifiers == 0);
	assert_true(l4_get_attr(&ev, &list, 1, &a) && a.kind == L4_ATTR_MASK);
	assert_string_equal(l4_get_attr_name(&ev, &a),
	                    l4_get_tracepoint_name(ev.position, 1, NULL));
	assert_true(l4_get_event(perf, end - 3, &same) && same.is_tracepoint_system);
	assert_true(l4_get_event(perf, end - 1, &same) && !same.is_tracepoint_system);
	assert_string_equal(l4_get_event_name(&same), "topdown-be-bound");
	assert_int_equal(l4_make_event_index(&same),
	                 l4_make_event_index(&(struct l4_event){
				 .pmu_number = perf, .pmu = ev.pmu, .position = end - 1 }));
	assert_false(l4_get_event(perf, end, &same));
}

/* One point, no other beside it, and not none. */
static void codes_of_tracepoints(void **state)
{
	struct l4_query q;
	struct l4_code c;

	(void)state;
	assert_int_equal(l4_parse_event("sched:sched_wakeup", PFM_OS_PERF_EVENT, &q), PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, PFM_PLM3, &c), PFM_SUCCESS);
	assert_int_equal(c.words[0], 318);
	assert_int_equal(l4_parse_event("perf::sched", PFM_OS_PERF_EVENT, &q), PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, PFM_PLM3, &c), PFM_ERR_UMASK);
	assert_int_equal(
		l4_parse_event("perf::sched:sched_wakeup:sched_switch", PFM_OS_PERF_EVENT, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, PFM_PLM3, &c), PFM_ERR_FEATCOMB);
	assert_int_equal(l4_parse_event("perf::sched:sched_wake", PFM_OS_PERF_EVENT, &q),
	                 PFM_ERR_ATTR);
}

UNIT(compat_libpfm4_trace, cmocka_unit_test(subsystems_are_found_by_name),
     cmocka_unit_test(events_of_the_kernel), cmocka_unit_test(tracepoints_as_events),
     cmocka_unit_test(codes_of_tracepoints));
