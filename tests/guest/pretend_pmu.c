// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A PMU that is not there, for a guest whose emulator has none.
 *
 * It registers as "cpu" with PERF_TYPE_RAW, as the PMU of a real x86 processor does, and describes
 * itself in sysfs with format and events. Config bits outside the format are refused with EINVAL.
 * There are four counters, and each counts (event + 1) * (umask + 1) per microsecond: the count
 * tells which numbers reached the kernel. PERF_TYPE_HARDWARE's generic events are mapped to the raw
 * numbers of the architectural events.
 *
 * Only the kernel's registration call asks for a GPL-compatible licence.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#define N_COUNTERS 4
#define CONFIG_BITS                                                                                \
	(GENMASK_ULL(7, 0) | GENMASK_ULL(15, 8) | BIT_ULL(18) | BIT_ULL(23) | GENMASK_ULL(31, 24))

/* Codes of the generic events, as event, umask << 8. 0: refused. */
static const u64 generic[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = 0x003c,          [PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
	[PERF_COUNT_HW_CACHE_REFERENCES] = 0x4f2e,    [PERF_COUNT_HW_CACHE_MISSES] = 0x412e,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c4, [PERF_COUNT_HW_BRANCH_MISSES] = 0x00c5,
};

static DEFINE_PER_CPU(int, counters_used);

/* hw.config: the raw number counted; hw.prev_count: when counting began, in nanoseconds. */
static void pretend_update(struct perf_event *event)
{
	u64 now = ktime_get_ns();
	u64 ns = now - local64_xchg(&event->hw.prev_count, now);
	u64 rate = ((event->hw.config & 0xff) + 1) * ((event->hw.config >> 8 & 0xff) + 1);

	/* Remainders are kept, or many short intervals would count less than a long one. */
	ns = ns * rate + event->hw.last_period;
	local64_add(div64_u64_rem(ns, 1000, &event->hw.last_period), &event->count);
}

static void pretend_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, ktime_get_ns());
}

static void pretend_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	pretend_update(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int pretend_add(struct perf_event *event, int flags)
{
	if (__this_cpu_read(counters_used) == N_COUNTERS)
		return -EAGAIN;
	__this_cpu_inc(counters_used);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		pretend_start(event, flags);
	return 0;
}

static void pretend_del(struct perf_event *event, int flags)
{
	pretend_stop(event, PERF_EF_UPDATE);
	__this_cpu_dec(counters_used);
}

static void pretend_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		pretend_update(event);
}

static int group_members(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	int n = 1;

	if (leader == event)
		return n;
	n += leader->pmu == event->pmu;
	for_each_sibling_event(sibling, leader) n += sibling->pmu == event->pmu;
	return n;
}

static int pretend_event_init(struct perf_event *event)
{
	u64 config = event->attr.config;

	switch (event->attr.type) {
	case PERF_TYPE_RAW:
		if (config & ~CONFIG_BITS)
			return -EINVAL;
		break;
	case PERF_TYPE_HARDWARE:
		if (config >= PERF_COUNT_HW_MAX || generic[config] == 0)
			return -EINVAL;
		config = generic[config];
		break;
	default: return -ENOENT;
	}
	/* No interrupt ever comes. */
	if (event->attr.sample_period)
		return -EOPNOTSUPP;
	if (group_members(event) > N_COUNTERS)
		return -EINVAL;
	event->hw.config = config;
	event->hw.last_period = 0;
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(edge, "config:18");
PMU_FORMAT_ATTR(inv, "config:23");
PMU_FORMAT_ATTR(cmask, "config:24-31");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr, &format_attr_umask.attr, &format_attr_edge.attr,
	&format_attr_inv.attr,   &format_attr_cmask.attr, NULL,
};

/* Names of sysfs files, not subtractions. */
/* clang-format off */
PMU_EVENT_ATTR_STRING(cpu-cycles, event_cycles, "event=0x3c");
PMU_EVENT_ATTR_STRING(instructions, event_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(cache-references, event_references, "event=0x2e,umask=0x4f");
PMU_EVENT_ATTR_STRING(cache-misses, event_misses, "event=0x2e,umask=0x41");
PMU_EVENT_ATTR_STRING(branch-instructions, event_branches, "event=0xc4");
PMU_EVENT_ATTR_STRING(branch-misses, event_mispredicts, "event=0xc5");
/* clang-format on */

static struct attribute *event_attrs[] = {
	&event_cycles.attr.attr,
	&event_instructions.attr.attr,
	&event_references.attr.attr,
	&event_misses.attr.attr,
	&event_branches.attr.attr,
	&event_mispredicts.attr.attr,
	NULL,
};

static const struct attribute_group format_group = { .name = "format", .attrs = format_attrs };
static const struct attribute_group event_group = { .name = "events", .attrs = event_attrs };
static const struct attribute_group *attr_groups[] = { &format_group, &event_group, NULL };

static struct pmu pretend = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_hw_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT,
	.attr_groups = attr_groups,
	.event_init = pretend_event_init,
	.add = pretend_add,
	.del = pretend_del,
	.start = pretend_start,
	.stop = pretend_stop,
	.read = pretend_read,
};

static int __init pretend_init(void)
{
	return perf_pmu_register(&pretend, "cpu", PERF_TYPE_RAW);
}

static void __exit pretend_exit(void)
{
	perf_pmu_unregister(&pretend);
}

module_init(pretend_init);
module_exit(pretend_exit);
MODULE_DESCRIPTION("a PMU with predictable counts, for tests");
MODULE_LICENSE("Dual MIT/GPL");
