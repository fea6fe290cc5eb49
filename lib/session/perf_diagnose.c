/* SPDX-License-Identifier: MIT */
/* Finds out why the kernel refused an event, and a remedy. perf_event_open(2) has a dozen error
 * numbers for fifty causes. Trying again with one setting changed distinguishes most of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/perf_refused.h"

static const char *get_pmu_name(const struct session_count *c)
{
	if (c->config.kernel_pmu)
		return c->config.kernel_pmu->name;
	return c->config.event.table->encoder == ENCODER_PERF
	               ? "the PMU"
	               : table_get_text(c->config.event.table, c->config.event.table->name);
}

/* ---- permission ---------------------------------------------------------------------------- */

static int read_paranoid_level(const struct sys *sys)
{
	char buf[32], *end;
	long v;

	if (pfmi_machine_read_small_file(sys, "/proc/sys/kernel/perf_event_paranoid", buf,
	                                 sizeof(buf)) <= 0)
		return -100;
	v = strtol(buf, &end, 10);
	return *end || v < -99 || v > 99 ? -100 : (int)v;
}

#define REMEDY_CAP_PERFMON                                                                         \
	"run with the capability CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8), which root has "    \
	"outside of containers"

/* True if this process may not even count itself in user mode, which every setting of Linux itself
 * permits. Then the event is not the cause. */
static bool is_counting_forbidden(const struct refused_event *q)
{
	struct refused_event own = { .session = q->session, .pid = 0, .cpu = -1 };
	struct perf_attr a = { .type = PERF_TYPE_SOFTWARE,
		               .config = PERF_COUNT_SW_DUMMY,
		               .exclude_kernel = 1,
		               .exclude_hv = 1 };
	int err;

	a.size = PERF_ATTR_SIGNAL_SIZE;
	err = pfmi_perf_retry_open(&own, &a, -1);
	return err == -EPERM || err == -EACCES;
}

/* Linux itself has no level above 2. Debian's kernels have one, where CAP_PERFMON does not suffice
 * (seen with 6.1). */
static void explain_counting_forbidden(struct session_count *c, int level, int err)
{
	if (level > 2)
		pfmi_session_fail_count(
			c, PFM_CAUSE_PERMISSION, err,
			"run with the capability CAP_SYS_ADMIN, which root has outside of "
			"containers, or set kernel.perf_event_paranoid to 2 or lower",
			"perf_event_paranoid is %d: users without privileges may not count", level);
	else
		pfmi_session_fail_count(
			c, PFM_CAUSE_PERMISSION, err,
			"in a container, start it with --cap-add PERFMON or a seccomp profile that "
			"allows perf_event_open",
			"the system refuses although perf_event_paranoid is %d: a security module "
			"or a container's seccomp filter denies it",
			level);
}

/* Explains why this event is forbidden although others are permitted. Returns false without an
 * explanation. */
static bool explain_event_forbidden(const struct refused_event *q, int level, int err)
{
	struct session_count *c = q->count;

	if (q->pid == -1 && level > 0)
		pfmi_session_fail_count(
			c, PFM_CAUSE_PERMISSION, err,
			REMEDY_CAP_PERFMON ", or set kernel.perf_event_paranoid to 0 or lower",
			"perf_event_paranoid is %d: counting everything on a CPU needs 0 or lower",
			level);
	else if (level > 1 && !c->config.attr.exclude_kernel && c->config.has_default_levels)
		pfmi_session_fail_count(c, PFM_CAUSE_PERMISSION, err,
		                        REMEDY_CAP_PERFMON
		                        ", or set kernel.perf_event_paranoid to 1 or lower",
		                        "perf_event_paranoid is %d: this event occurs in the "
		                        "kernel or cannot exclude it",
		                        level);
	else if (level > 1 && !c->config.attr.exclude_kernel)
		pfmi_session_fail_count(
			c, PFM_CAUSE_PERMISSION, err,
			"count user code only (:u), " REMEDY_CAP_PERFMON
			", or set kernel.perf_event_paranoid to 1",
			"perf_event_paranoid is %d: counting the kernel needs 1 or lower", level);
	else if (q->pid > 0)
		pfmi_session_fail_count(
			c, PFM_CAUSE_PERMISSION, err, REMEDY_CAP_PERFMON,
			"process %d belongs to another user, or tracing it is not permitted",
			q->pid);
	else if (c->config.attr.type == PERF_TYPE_TRACEPOINT)
		pfmi_session_fail_count(c, PFM_CAUSE_PERMISSION, err, REMEDY_CAP_PERFMON,
		                        "this user lacks the permission to use tracepoints");
	else
		return false;
	return true;
}

static void explain_no_permission(const struct refused_event *q, int err)
{
	int level = read_paranoid_level(&q->session->sys);

	if (level == -100)
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_PERMISSION, err, REMEDY_CAP_PERFMON,
			"this user lacks the permission to count this (perf_event_paranoid cannot "
			"be read)");
	else if (is_counting_forbidden(q) || !explain_event_forbidden(q, level, err))
		explain_counting_forbidden(q->count, level, err);
}

/* Some drivers return an internal number that reads as EPERM (Alpha: events that the processor
 * lacks). If the user may count a software event at the same place and level, the cause is not
 * permission. */
static bool is_software_event_permitted(const struct refused_event *q)
{
	struct perf_attr a = q->attr;

	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.config1 = a.config2 = 0;
	a.precise_ip = 0;
	return pfmi_perf_retry_open(q, &a, -1) == 0;
}

static void explain_denied(const struct refused_event *q, int err)
{
	uint32_t type = q->attr.type;
	bool hardware = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;

	if (err == EPERM && hardware && is_software_event_permitted(q))
		pfmi_session_fail_count(q->count, PFM_CAUSE_NO_PMU, err, "choose another event",
		                        "the PMU of this processor lacks the event");
	else
		explain_no_permission(q, err);
}

/* ---- what is not there --------------------------------------------------------------------- */

static bool has_core_pmu(const struct pfm_session *s)
{
	for (unsigned i = 0; s->ctx->kernel && i < s->ctx->kernel->n_pmus; i++)
		if (s->ctx->kernel->pmus[i].is_core)
			return true;
	return false;
}

static void explain_no_pmu(const struct refused_event *q, int err)
{
	bool guest = q->session->ctx->host.has_hypervisor;

	pfmi_session_fail_count(
		q->count, PFM_CAUSE_NO_PMU, err,
		guest ? "switch the virtual PMU on (QEMU: -cpu host,pmu=on), take a bigger or a "
			"bare-metal instance, or use software events such as task-clock"
		      : "check that the kernel has the driver for this processor's PMU, or use "
			"software events such as task-clock",
		guest ? "the hypervisor gives this virtual machine no PMU: hardware events cannot "
			"be counted"
		      : "the kernel exports no PMU for hardware events on this machine");
}

static void explain_missing_event(const struct refused_event *q, int err)
{
	struct session_count *c = q->count;

	switch (q->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		if (!has_core_pmu(q->session))
			explain_no_pmu(q, err);
		else
			pfmi_session_fail_count(
				c, PFM_CAUSE_NO_PMU, err,
				"choose another event: pfm list shows what this machine has",
				"the PMU of this processor has no event for it");
		break;
	case PERF_TYPE_SOFTWARE:
		pfmi_session_fail_count(c, PFM_CAUSE_NO_KERNEL, err, "a newer kernel may have it",
		                        "this kernel lacks the software event");
		break;
	case PERF_TYPE_TRACEPOINT:
		pfmi_session_fail_count(c, PFM_CAUSE_NO_KERNEL, err,
		                        "load the module that defines it",
		                        "this kernel lacks the tracepoint");
		break;
	case PERF_TYPE_BREAKPOINT:
		pfmi_session_fail_count(
			c, PFM_CAUSE_NO_PMU, err, "",
			"this machine has no breakpoint registers the kernel can use");
		break;
	default:
		pfmi_session_fail_count(
			c, PFM_CAUSE_NO_PMU, err,
			"choose another event, or check that the module of its driver is loaded",
			"%s lacks the event, or its driver was removed", get_pmu_name(c));
	}
}

/* ---- what the kernel cannot set ------------------------------------------------------------ */

static void explain_bad_breakpoint(const struct refused_event *q, int err)
{
	pfmi_session_fail_count(
		q->count, PFM_CAUSE_ATTRIBUTE, err,
		"watch 1, 2, 4 or 8 bytes at a multiple of that, or x alone (length of a word)",
		"the processor has no breakpoint for %u bytes at 0x%llx with this access",
		(unsigned)q->count->config.attr.config2,
		(unsigned long long)q->count->config.attr.config1);
}

static void explain_bad_setting(const struct refused_event *q, int err)
{
	struct session_count *c = q->count;
	uint64_t value = 0, extra = q->attr.type == PERF_TYPE_BREAKPOINT
	                                    ? 0
	                                    : pfmi_perf_compute_undeclared_bits(c);
	const char *setting = pfmi_perf_find_refused_setting(q);
	const struct field *f = setting ? NULL : pfmi_perf_find_refused_field(q, &value);

	if (q->attr.type == PERF_TYPE_BREAKPOINT && !setting)
		explain_bad_breakpoint(q, err);
	else if (!setting &&
	         (q->attr.type == PERF_TYPE_HARDWARE || q->attr.type == PERF_TYPE_HW_CACHE))
		/* the driver does not know the number: some return ENOENT, some EINVAL */
		explain_missing_event(q, err);
	else if (setting)
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err, "omit that setting",
		                        "%s cannot do this for the event: %s", get_pmu_name(c),
		                        setting);
	else if (f)
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err,
		                        "choose another value, or omit it",
		                        "the kernel refuses %s=0x%llx on %s",
		                        table_get_text(c->config.event.table, f->name),
		                        (unsigned long long)value, get_pmu_name(c));
	else if (extra)
		pfmi_session_fail_count(
			c, PFM_CAUSE_ATTRIBUTE, err,
			"clear these bits: the kernel sets the enable, interrupt and privilege "
			"bits",
			"the kernel refuses config=0x%llx on %s, whose format has no field for "
			"0x%llx of it",
			(unsigned long long)c->config.attr.config, get_pmu_name(c),
			(unsigned long long)extra);
	else
		pfmi_session_fail_count(
			c, PFM_CAUSE_ATTRIBUTE, err,
			"check the event's number against the PMU's format files in sysfs",
			"the kernel refuses config=0x%llx on %s",
			(unsigned long long)c->config.attr.config, get_pmu_name(c));
}

static void explain_invalid(const struct refused_event *q, int err)
{
	struct perf_attr alone = q->attr;

	alone.disabled = 1;
	if (q->group_fd >= 0 && pfmi_perf_retry_open(q, &alone, -1) == 0)
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_GROUP, err,
			"make the group smaller, or allow the library to split it (:W after the "
			"brace)",
			"the group does not fit: with the members before it, no counter is left "
			"for this event");
	else
		explain_bad_setting(q, err);
}

static void explain_unsupported(const struct refused_event *q, int err)
{
	const char *setting = pfmi_perf_find_refused_setting(q);

	if (setting)
		pfmi_session_fail_count(q->count, PFM_CAUSE_ATTRIBUTE, err, "omit that setting",
		                        "%s cannot do this for the event: %s",
		                        get_pmu_name(q->count), setting);
	else
		explain_missing_event(q, err);
}

/* ---- limits -------------------------------------------------------------------------------- */

/* The soft limit of open files; 0 if it is unknown. */
static long read_file_limit(const struct sys *sys)
{
	char buf[4096];
	const char *line;

	if (pfmi_machine_read_small_file(sys, "/proc/self/limits", buf, sizeof(buf)) <= 0)
		return 0;
	line = strstr(buf, "Max open files");
	return line ? strtol(line + strlen("Max open files"), NULL, 10) : 0;
}

static void explain_no_files(const struct refused_event *q, int err)
{
	long limit = err == EMFILE ? read_file_limit(&q->session->sys) : 0;

	if (err == ENFILE)
		pfmi_session_fail_count(q->count, PFM_CAUSE_FILES, err,
		                        "raise fs.file-max, or count less",
		                        "the system has reached its limit of open files");
	else if (limit)
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_FILES, err,
			"raise the limit (ulimit -n), or count fewer events, CPUs or threads",
			"the process may open %ld files, but the session needs %u: one per event, "
			"CPU, thread and unit",
			limit,
			((const struct perf_state *)q->session->live.backend_state)->n_events);
	else
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_FILES, err,
			"raise the limit (ulimit -n), or count fewer events, CPUs or threads",
			"the process cannot open more files: every event needs one per CPU, thread "
			"and unit");
}

static void explain_busy(const struct refused_event *q, int err)
{
	if (q->attr.type == PERF_TYPE_BREAKPOINT)
		pfmi_session_fail_count(q->count, PFM_CAUSE_BUSY, err,
		                        "remove a breakpoint, here or in a debugger",
		                        "all breakpoint registers are in use");
	else if (pfmi_session_has_watchdog(q->session))
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_BUSY, err,
			"switch the watchdog off (sysctl kernel.nmi_watchdog=0) or end the program "
			"that holds the counter",
			"the counter is in use; the kernel's NMI watchdog holds one");
	else
		pfmi_session_fail_count(
			q->count, PFM_CAUSE_BUSY, err,
			"end the program that holds the counter, or try again later",
			"another program holds the counter or the PMU");
}

/* True if the control group is the cause: the folder is not a control group, or its hierarchy lacks
 * the controller. */
static bool is_bad_cgroup(const struct refused_event *q, int err)
{
	const struct perf_state *st = q->session->live.backend_state;
	struct perf_attr a = q->attr;

	return st->cgroup_fd >= 0 && q->pid == -1 && (err == ENOENT || err == EBADF) &&
	       pfmi_perf_retry_open(q, &a, -1) == 0;
}

void pfmi_perf_reject_group_member(struct pfm_session *s, unsigned i)
{
	pfmi_session_fail_count(&s->counts[i], PFM_CAUSE_GROUP, EINVAL,
	                        "count it outside of the braces",
	                        "%s is counted on other CPUs than the first event of the group",
	                        get_pmu_name(&s->counts[i]));
}

static void explain_open_error(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	const struct perf_state *st = s->live.backend_state;
	struct session_count *c = &s->counts[i];
	const struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
	struct refused_event q = {
		.session = s, .count = c, .pid = p->pid, .cpu = p->cpu, .group_fd = group
	};

	pfmi_perf_build_attr(s, i, k, group == -1, &q.attr);
	if (is_bad_cgroup(&q, err)) {
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, err,
		                        "name a control group of cgroup2, or of the hierarchy that "
		                        "is mounted with perf_event",
		                        "the folder is not a control group, or its hierarchy lacks "
		                        "perf_event");
		return;
	}
	switch (err) {
	case EACCES:
	case EPERM: explain_denied(&q, err); break;
	case ENOENT:
	case ENXIO: explain_missing_event(&q, err); break;
	case EOPNOTSUPP: explain_unsupported(&q, err); break;
	case EINVAL: explain_invalid(&q, err); break;
	case EMFILE:
	case ENFILE: explain_no_files(&q, err); break;
	case EBUSY:
	case ENOSPC: explain_busy(&q, err); break;
	case ENODEV:
		pfmi_session_fail_count(
			c, PFM_CAUSE_NO_CPU, err,
			"choose CPUs that are on line (/sys/devices/system/cpu/online)",
			"CPU %d has been switched off or %s does not serve it", p->cpu,
			get_pmu_name(c));
		break;
	case ESRCH:
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PROCESS, err, "check the process number",
		                        "process %d does not exist or has ended", p->pid);
		break;
	case ENOMEM:
	case EAGAIN:
		pfmi_session_fail_count(c, PFM_CAUSE_MEMORY, err, "count fewer events",
		                        "the kernel has no memory for another event");
		break;
	case ENOSYS:
		pfmi_session_fail_count(c, PFM_CAUSE_NO_KERNEL, err,
		                        "use a kernel with CONFIG_PERF_EVENTS",
		                        "the kernel has no perf_event_open");
		break;
	case E2BIG:
		pfmi_session_fail_count(
			c, PFM_CAUSE_ATTRIBUTE, err,
			"use a newer kernel, or an event that does not need this setting",
			"the event needs a setting that this kernel does not support yet (%s)",
			c->config.attr.config4 ? "config4" : "config3");
		break;
	default:
		pfmi_session_fail_count(c, PFM_CAUSE_OTHER, err, "",
		                        "the kernel refuses the event with error number %d", err);
	}
}

/* The facts by which the cause was chosen. */
static void set_open_evidence(const struct pfm_session *s, struct session_count *c, int err)
{
	int level;

	if (c->status.cause == PFM_CAUSE_PERMISSION &&
	    (level = read_paranoid_level(&s->sys)) != -100)
		pfmi_session_set_evidence(
			c, "perf_event_open: error %d; kernel.perf_event_paranoid is %d", err,
			level);
	else if (c->status.cause == PFM_CAUSE_BUSY && s->ctx->kernel)
		pfmi_session_set_evidence(c, "perf_event_open: error %d; kernel.nmi_watchdog is %d",
		                          err, s->ctx->kernel->nmi_watchdog);
	else
		pfmi_session_set_evidence(c, "perf_event_open: error %d", err);
}

void pfmi_perf_diagnose_event(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	explain_open_error(s, i, k, group, err);
	set_open_evidence(s, &s->counts[i], err);
}
