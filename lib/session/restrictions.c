/* SPDX-License-Identifier: MIT */
/* Decides to what each kind of event can be restricted: privilege levels (u, k), the host or guests
 * (H, G), and time that is not idle (I). The kernel accepts most restrictions and then ignores some
 * of them; such a count looks exact and is another one. The rules come from Linux 2.6.39 to 6.18:
 * perf_exclude_event(), perf_tp_event_match() and perf_swevent_hrtimer() of
 * kernel/events/core.c, and the PMU drivers of the processors. tests/public/session/test_live.c
 * counts known events with each restriction. */
#include <errno.h>
#include <string.h>
#include "session/perf_event_internal.h"

enum event_kind {
	KIND_HARDWARE,   /* a PMU's driver decides */
	KIND_CLOCK,      /* time, at any level */
	KIND_KERNEL,     /* software events that occur in the kernel only */
	KIND_SOFTWARE,   /* other software events: faults */
	KIND_TRACEPOINT, /* tracepoints, kprobes and uprobes */
	KIND_BREAKPOINT
};

/* True where Linux can exclude the part from counts of one kind of event. */
struct restrictions {
	bool user, kernel, idle, host_or_guests;
};

/* The levels of software events and breakpoints are those of the interrupted code. Linux leaves
 * tracepoints out only if the kernel is excluded and the registers at hand are the kernel's: those
 * of system calls are the user's. */
static const struct restrictions in_counts[] = {
	[KIND_HARDWARE] = { true, true, true, true },
	[KIND_CLOCK] = { false, false, false, false },
	[KIND_KERNEL] = { true, false, false, false },
	[KIND_SOFTWARE] = { true, true, false, false },
	[KIND_TRACEPOINT] = { false, false, false, false },
	[KIND_BREAKPOINT] = { true, true, false, false },
};

/* The timer that samples a clock sees the level and the idle task. */
static const struct restrictions in_clock_samples = { true, true, true, false };

static bool is_probe_pmu(const struct kernel_pmu *p)
{
	return p && (strcmp(p->name, "kprobe") == 0 || strcmp(p->name, "uprobe") == 0);
}

static enum event_kind get_event_kind(const struct session_count *c)
{
	const perfmon_attr_t *a = &c->config.attr;

	if (pfmi_perf_is_clock_event(a))
		return KIND_CLOCK;
	if (pfmi_perf_is_kernel_only_event(a))
		return KIND_KERNEL;
	if (a->type == PERF_TYPE_SOFTWARE)
		return KIND_SOFTWARE;
	if (a->type == PERF_TYPE_BREAKPOINT)
		return KIND_BREAKPOINT;
	if (a->type == PERF_TYPE_TRACEPOINT || is_probe_pmu(c->config.kernel_pmu))
		return KIND_TRACEPOINT;
	return KIND_HARDWARE;
}

/* Drivers refuse what they cannot exclude, with these exceptions. The idle task belongs to no
 * session of tasks; on CPUs, x86 counts it. Only x86 and arm64 switch counters when a guest
 * starts. */
static struct restrictions get_hardware_restrictions(const struct pfm_session *s)
{
	const char *arch = s->ctx->host.arch;
	struct restrictions r = in_counts[KIND_HARDWARE];

	if (!s->ctx->host.is_known)
		return r;
	r.idle = strcmp(arch, "x86") != 0 || !(s->options.flags & PFM_SESSION_SYSTEM_WIDE);
	r.host_or_guests = strcmp(arch, "arm") != 0 && strcmp(arch, "riscv") != 0 &&
	                   strcmp(arch, "alpha") != 0;
	return r;
}

static struct restrictions get_restrictions(const struct pfm_session *s, enum event_kind kind)
{
	if (kind == KIND_HARDWARE)
		return get_hardware_restrictions(s);
	return kind == KIND_CLOCK && s->sampling ? in_clock_samples : in_counts[kind];
}

/* True if the event is counted at no privilege level. Only hardware PMUs distinguish the
 * hypervisor: events of the kernel itself happen in user code or in the kernel. */
static bool has_no_level(const perfmon_attr_t *a, enum event_kind kind)
{
	return a->exclude_user && a->exclude_kernel && (a->exclude_hv || kind != KIND_HARDWARE);
}

/* @why follows the name of the event. */
static void refuse(struct session_count *c, const char *why, const char *remedy)
{
	pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, remedy, "%s %s", c->config.name,
	                        why);
}

static void refuse_levels(struct session_count *c, enum event_kind kind)
{
	if (kind == KIND_CLOCK)
		refuse(c, "counts the time at every level: Linux ignores u and k for clocks",
		       "omit the levels: every level is counted");
	else if (kind == KIND_TRACEPOINT)
		refuse(c, "is counted at every level: Linux ignores u and k for tracepoints",
		       "omit the levels: every level is counted");
	else
		refuse(c, "occurs only in the kernel, never at the requested levels",
		       "omit the levels, or use the kernel's (k)");
}

enum { X86_USER = 1 << 16, X86_KERNEL = 1 << 17 };
static const uint64_t arm_no_kernel = 1u << 31, arm_no_user = 1u << 30;

/* True if the value of an event of cores, as the register would have it, has levels that the event
 * has not. Linux sets these bits from the levels of the event, and ignores those of the value:
 * X86_RAW_EVENT_MASK of arch/x86/include/asm/perf_event.h, ARMV8_PMU_EVTYPE_EVENT of the Arm
 * drivers. */
static bool has_other_levels(const struct pfm_session *s, const struct session_count *c)
{
	const perfmon_attr_t *a = &c->config.attr;
	const char *arch = s->ctx->host.arch;
	bool has_user = true, has_kernel = true;

	if (!s->ctx->host.is_known || a->type == PERF_TYPE_HARDWARE ||
	    a->type == PERF_TYPE_HW_CACHE ||
	    (a->type != PERF_TYPE_RAW && (!c->config.kernel_pmu || !c->config.kernel_pmu->is_core)))
		return false;
	if (strcmp(arch, "x86") == 0 && !(a->config & X86_USER) != !(a->config & X86_KERNEL)) {
		has_user = a->config & X86_USER;
		has_kernel = a->config & X86_KERNEL;
	} else if (strcmp(arch, "arm") == 0 || strcmp(arch, "arm64") == 0) {
		has_user = !(a->config & arm_no_user);
		has_kernel = !(a->config & arm_no_kernel);
	}
	return (!has_user && !a->exclude_user) || (!has_kernel && !a->exclude_kernel);
}

void pfmi_session_check_restrictions(const struct pfm_session *s, struct session_count *c)
{
	const perfmon_attr_t *a = &c->config.attr;
	enum event_kind kind = get_event_kind(c);
	struct restrictions can = get_restrictions(s, kind);

	if (has_no_level(a, kind))
		refuse(c, "is counted at no privilege level",
		       "name a level: u (user) or k (kernel)");
	else if ((a->exclude_user && !can.user) || (a->exclude_kernel && !can.kernel))
		refuse_levels(c, kind);
	else if (a->exclude_idle && !can.idle)
		refuse(c, "is counted in idle time as well: Linux ignores I for it",
		       "omit the letter I");
	else if (kind == KIND_HARDWARE && has_other_levels(s, c))
		refuse(c, "has the bits of a level in its value, which Linux ignores",
		       "name the level after the event: u (user) or k (kernel)");
	else if ((a->exclude_host || a->exclude_guest) && !can.host_or_guests)
		refuse(c,
		       "is counted in the host and in guests alike: Linux ignores G and H for it",
		       "omit the letters G and H");
}
