/* SPDX-License-Identifier: MIT */
/* Why the kernel refused an event, and what would help. perf_event_open(2) has a dozen error numbers for fifty reasons; most
 * are told apart by asking again with one thing changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/context.h"
#include "session/session.h"

/* The part that was refused, and how to ask for it again. */
struct refused {
	struct pfm_session *s;
	struct counting *c;
	union attr a;
	int pid, cpu, group;
};

/* Asks again with attributes @a; leaves nothing open. 0 or -errno. */
static int again(const struct refused *q, union attr *a, int group)
{
	int fd = pfmi_perf_open(&q->s->sys, a, q->pid, q->cpu, group);

	if (fd < 0)
		return fd;
	q->s->sys.close(&q->s->sys, fd);
	return 0;
}

static const char *pmu_name(const struct counting *c)
{
	if (c->asked.device)
		return c->asked.device->name;
	return c->asked.event.table->encoder == ENCODER_PERF ? "the PMU" : table_text(c->asked.event.table, c->asked.event.table->name);
}

/* ---- permission -------------------------------------------------------------------------------------------------- */

static int paranoid_level(const struct sys *sys)
{
	char buf[32], *end;
	long v;

	if (pfmi_sys_slurp(sys, "/proc/sys/kernel/perf_event_paranoid", buf, sizeof(buf)) <= 0)
		return -100;
	v = strtol(buf, &end, 10);
	return *end || v < -99 || v > 99 ? -100 : (int)v;
}

#define AS_ROOT "run with the capability CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8), which root has outside of containers"

/* Whether this process may not even count itself in user mode, at what every level of Linux itself permits: nothing about the event is at
 * fault then. */
static bool nothing_is_permitted(const struct refused *q)
{
	struct refused own = { .s = q->s, .pid = 0, .cpu = -1 };
	union attr a = { .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1, .exclude_hv = 1 } };
	int err;

	a.attr.size = sizeof(a.attr);
	err = again(&own, &a, -1);
	return err == -EPERM || err == -EACCES;
}

static void nothing_at_all(struct counting *c, int level, int err)
{
	if (level > 2)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, AS_ROOT ", or set kernel.perf_event_paranoid to 2 or lower",
		             "perf_event_paranoid is %d: ordinary users may not count anything", level);
	else
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err,
		             "outside of a container it may work; inside, start it with --cap-add PERFMON or another seccomp profile",
		             "the system refuses although perf_event_paranoid is %d: a security module or a container's filter does",
		             level);
}

/* What is told of an event where others are permitted. False if there is nothing. */
static bool not_this_one(const struct refused *q, int level, int err)
{
	struct counting *c = q->c;

	if (q->pid == -1 && level > 0)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, AS_ROOT ", or set kernel.perf_event_paranoid to 0 or lower",
		             "perf_event_paranoid is %d: counting everything on a CPU needs 0 or lower", level);
	else if (level > 1 && !c->asked.attr.exclude_kernel && c->asked.levels_free)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, AS_ROOT ", or set kernel.perf_event_paranoid to 1 or lower",
		             "perf_event_paranoid is %d: this event happens in the kernel or cannot leave it out", level);
	else if (level > 1 && !c->asked.attr.exclude_kernel)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, "count user code only (:u), " AS_ROOT ", or set kernel.perf_event_paranoid to 1",
		             "perf_event_paranoid is %d: counting the kernel needs 1 or lower", level);
	else if (q->pid > 0)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, AS_ROOT, "process %d belongs to another user or must not be traced", q->pid);
	else if (c->asked.attr.type == PERF_TYPE_TRACEPOINT)
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, err, AS_ROOT, "this user may not use tracepoints");
	else
		return false;
	return true;
}

static void no_permission(const struct refused *q, int err)
{
	int level = paranoid_level(&q->s->sys);

	if (level == -100)
		pfmi_give_up(q->c, PFM_CAUSE_PERMISSION, err, AS_ROOT,
		             "this user may not count that here (perf_event_paranoid cannot be read)");
	else if (nothing_is_permitted(q) || !not_this_one(q, level, err))
		nothing_at_all(q->c, level, err);
}

/* Some drivers let an internal number slip out that reads as EPERM (Alpha: events the processor lacks). If the same user may
 * count a software event at the same place and level, permission is not what is missing. */
static bool permitted_otherwise(const struct refused *q)
{
	union attr a = q->a;

	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.config1 = a.attr.config2 = 0;
	a.attr.precise_ip = 0;
	return again(q, &a, -1) == 0;
}

static void denied(const struct refused *q, int err)
{
	uint32_t type = q->a.attr.type;
	bool hardware = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;

	if (err == EPERM && hardware && permitted_otherwise(q))
		pfmi_give_up(q->c, PFM_CAUSE_NO_PMU, err, "choose another event", "the PMU of this processor has no such event");
	else
		no_permission(q, err);
}

/* ---- what is not there ------------------------------------------------------------------------------------------- */

static bool has_core_pmu(const struct pfm_session *s)
{
	for (unsigned i = 0; s->ctx->kernel && i < s->ctx->kernel->n; i++)
		if (s->ctx->kernel->pmus[i].is_core)
			return true;
	return false;
}

static void no_pmu(const struct refused *q, int err)
{
	bool guest = q->s->ctx->host.hypervisor;

	pfmi_give_up(q->c, PFM_CAUSE_NO_PMU, err,
	             guest ? "switch the virtual PMU on (QEMU: -cpu host,pmu=on), take a bigger or a bare-metal instance, or use software "
	                     "events such as task-clock"
	                   : "check that the kernel has the driver for this processor's PMU, or use software events such as task-clock",
	             guest ? "the hypervisor gives this virtual machine no PMU: hardware events cannot be counted"
	                   : "the kernel exports no PMU for hardware events on this machine");
}

static void not_there(const struct refused *q, int err)
{
	struct counting *c = q->c;

	switch (q->a.attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		if (!has_core_pmu(q->s))
			no_pmu(q, err);
		else
			pfmi_give_up(c, PFM_CAUSE_NO_PMU, err, "choose another event: pfm list shows what this machine has",
			             "the PMU of this processor has no event for it");
		break;
	case PERF_TYPE_SOFTWARE:
		pfmi_give_up(c, PFM_CAUSE_NO_KERNEL, err, "a newer kernel may have it", "this kernel has no such software event");
		break;
	case PERF_TYPE_TRACEPOINT:
		pfmi_give_up(c, PFM_CAUSE_NO_KERNEL, err, "load the module that defines it", "this kernel has no such tracepoint");
		break;
	case PERF_TYPE_BREAKPOINT:
		pfmi_give_up(c, PFM_CAUSE_NO_PMU, err, "", "this machine has no breakpoint registers the kernel can use");
		break;
	default:
		pfmi_give_up(c, PFM_CAUSE_NO_PMU, err, "choose another event, or check that the module of its driver is loaded",
		             "%s has no such event, or its driver has gone", pmu_name(c));
	}
}

/* ---- what the kernel cannot set ----------------------------------------------------------------------------------- */

/* Settings that may be at fault beside the event itself. */
static const char *without(unsigned i, union attr *a)
{
	switch (i) {
	case 0:
		if (!a->attr.precise_ip)
			return NULL;
		a->attr.precise_ip = 0;
		return "the precise level (p)";
	case 1:
		if (!a->attr.exclude_kernel)
			return NULL;
		a->attr.exclude_kernel = a->attr.exclude_hv = 0;
		return "leaving the kernel out (u)";
	case 2:
		if (!a->attr.exclude_user)
			return NULL;
		a->attr.exclude_user = a->attr.exclude_hv = 0;
		return "leaving user code out (k)";
	case 3:
		if (!a->attr.exclude_hv)
			return NULL;
		a->attr.exclude_hv = 0;
		return "leaving the hypervisor out";
	case 4:
		if (!a->attr.exclude_idle)
			return NULL;
		a->attr.exclude_idle = 0;
		return "leaving idle time out (I)";
	case 5:
		if (!a->attr.exclude_host)
			return NULL;
		a->attr.exclude_host = 0;
		return "leaving the host out (G)";
	case 6:
		if (!a->attr.exclude_guest)
			return NULL;
		a->attr.exclude_guest = 0;
		return "leaving guests out (H)";
	case 7:
		if (!a->attr.pinned)
			return NULL;
		a->attr.pinned = 0;
		return "pinning (D)";
	case 8:
		if (!a->attr.inherit)
			return NULL;
		a->attr.inherit = 0;
		return "counting children as well";
	case 9:
		if (!a->attr.enable_on_exec)
			return NULL;
		a->attr.enable_on_exec = 0;
		return "starting with the program";
	case 10:
		if (!(a->attr.exclude_user | a->attr.exclude_kernel | a->attr.exclude_hv))
			return NULL;
		a->attr.exclude_user = a->attr.exclude_kernel = a->attr.exclude_hv = 0;
		return "choosing levels";
	default: return NULL;
	}
}

#define N_SETTINGS 11

/* The setting without which the kernel accepts the event; NULL if there is none. */
static const char *refused_setting(const struct refused *q)
{
	for (unsigned i = 0; i < N_SETTINGS; i++) {
		union attr a = q->a;
		const char *name = without(i, &a);

		if (name && again(q, &a, q->group) == 0)
			return name;
	}
	return NULL;
}

/* The field of the event without which the kernel accepts it; NULL if there is none. */
static const struct field *refused_field(const struct refused *q, uint64_t *value)
{
	const struct table *t = q->c->asked.event.table;
	const pfm_attr_t *p = &q->c->asked.attr;
	const uint64_t config[4] = { p->config, p->config1, p->config2, p->config3 };

	if (q->a.attr.type == PERF_TYPE_BREAKPOINT)
		return NULL;
	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = table_fields(t) + i;
		uint64_t changed[4];
		union attr a = q->a;

		if (f->n_ranges == 0 || f->kind == FIELD_TEXT || (f->width == 64 && f->range[0].word == 0))
			continue;
		*value = pfmi_field_get(f, config);
		if (!*value)
			continue;
		memcpy(changed, config, sizeof(changed));
		pfmi_field_put(f, changed, 0);
		a.attr.config = changed[0];
		a.attr.config1 = changed[1];
		a.attr.config2 = changed[2];
		if (config[3])
			a.words[16] = changed[3];
		if (again(q, &a, q->group) == 0)
			return f;
	}
	return NULL;
}

static void bad_breakpoint(const struct refused *q, int err)
{
	pfmi_give_up(q->c, PFM_CAUSE_ATTRIBUTE, err, "watch 1, 2, 4 or 8 bytes at a multiple of that, or x alone (length of a word)",
	             "the processor cannot watch %u bytes at 0x%llx with this access", (unsigned)q->c->asked.attr.config2,
	             (unsigned long long)q->c->asked.attr.config1);
}

/* Bits of the first config word for which the PMU's format has no field; 0 if it has no format. */
static uint64_t undeclared_bits(const struct counting *c)
{
	const struct table *t = c->asked.device ? c->asked.device->table : c->asked.event.table;
	uint64_t declared = 0;

	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = table_fields(t) + i;

		for (unsigned k = 0; k < f->n_ranges; k++)
			if (f->range[k].word == 0 && f->range[k].width < 64)
				declared |= (((uint64_t)1 << f->range[k].width) - 1) << f->range[k].lsb;
	}
	return declared ? c->asked.attr.config & ~declared : 0;
}

static void bad_setting(const struct refused *q, int err)
{
	struct counting *c = q->c;
	uint64_t value = 0, extra = q->a.attr.type == PERF_TYPE_BREAKPOINT ? 0 : undeclared_bits(c);
	const char *setting = refused_setting(q);
	const struct field *f = setting ? NULL : refused_field(q, &value);

	if (q->a.attr.type == PERF_TYPE_BREAKPOINT && !setting)
		bad_breakpoint(q, err);
	else if (!setting && (q->a.attr.type == PERF_TYPE_HARDWARE || q->a.attr.type == PERF_TYPE_HW_CACHE))
		not_there(q, err); /* a number this driver does not map: some say ENOENT, some EINVAL */
	else if (setting)
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err, "leave that away", "%s cannot do this for the event: %s", pmu_name(c), setting);
	else if (f)
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err, "choose another value or leave it away", "the kernel refuses %s=0x%llx on %s",
		             table_text(c->asked.event.table, f->name), (unsigned long long)value, pmu_name(c));
	else if (extra)
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err,
		             "leave these bits away: enable, interrupt and privilege bits are the kernel's to set",
		             "the kernel refuses config=0x%llx on %s, whose format has no field for 0x%llx of it",
		             (unsigned long long)c->asked.attr.config, pmu_name(c), (unsigned long long)extra);
	else
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err, "check the event's number against the PMU's format files in sysfs",
		             "the kernel refuses config=0x%llx on %s", (unsigned long long)c->asked.attr.config, pmu_name(c));
}

static void invalid(const struct refused *q, int err)
{
	union attr alone = q->a;

	alone.attr.disabled = 1;
	if (q->group >= 0 && again(q, &alone, -1) == 0)
		pfmi_give_up(q->c, PFM_CAUSE_GROUP, err, "make the group smaller, or let it be broken up (:W behind the brace)",
		             "the group does not fit: with the members before it, no counter is left for this event");
	else
		bad_setting(q, err);
}

static void unsupported(const struct refused *q, int err)
{
	const char *setting = refused_setting(q);

	if (setting)
		pfmi_give_up(q->c, PFM_CAUSE_ATTRIBUTE, err, "leave that away", "%s cannot do this for the event: %s", pmu_name(q->c),
		             setting);
	else
		not_there(q, err);
}

/* ---- limits -------------------------------------------------------------------------------------------------------- */

/* The soft limit of open files, 0 if it cannot be read. */
static long file_limit(const struct sys *sys)
{
	char buf[4096];
	const char *line;

	if (pfmi_sys_slurp(sys, "/proc/self/limits", buf, sizeof(buf)) <= 0)
		return 0;
	line = strstr(buf, "Max open files");
	return line ? strtol(line + strlen("Max open files"), NULL, 10) : 0;
}

static void no_files(const struct refused *q, int err)
{
	long limit = err == EMFILE ? file_limit(&q->s->sys) : 0;

	if (err == ENFILE)
		pfmi_give_up(q->c, PFM_CAUSE_FILES, err, "raise fs.file-max, or count less", "the system has no more open files to give");
	else if (limit)
		pfmi_give_up(q->c, PFM_CAUSE_FILES, err, "raise the limit (ulimit -n), or count fewer events, CPUs or threads",
		             "the process may have %ld files open, and the session needs %u: for every event one per CPU, thread and unit", limit,
		             ((const struct perf_state *)q->s->state)->n_parts);
	else
		pfmi_give_up(q->c, PFM_CAUSE_FILES, err, "raise the limit (ulimit -n), or count fewer events, CPUs or threads",
		             "no more files can be opened, and every event needs one per CPU, thread and unit");
}

static void busy(const struct refused *q, int err)
{
	if (q->a.attr.type == PERF_TYPE_BREAKPOINT)
		pfmi_give_up(q->c, PFM_CAUSE_BUSY, err, "remove a breakpoint, here or in a debugger",
		             "all breakpoint registers are in use");
	else if (q->s->ctx->kernel && q->s->ctx->kernel->nmi_watchdog)
		pfmi_give_up(q->c, PFM_CAUSE_BUSY, err,
		             "switch the watchdog off (sysctl kernel.nmi_watchdog=0) or end what holds the counter",
		             "the counter is in use; the kernel's NMI watchdog holds one");
	else
		pfmi_give_up(q->c, PFM_CAUSE_BUSY, err, "end what holds the counter, or try again later",
		             "somebody else holds the counter or the PMU");
}

/* Whether it is the control group that is at fault: the folder is none, or of a hierarchy without the controller. */
static bool is_no_group(const struct refused *q, int err)
{
	const struct perf_state *st = q->s->state;
	union attr a = q->a;

	return st->cgroup >= 0 && q->pid == -1 && (err == ENOENT || err == EBADF) && again(q, &a, -1) == 0;
}

void pfmi_perf_foreign(struct pfm_session *s, unsigned i)
{
	pfmi_give_up(&s->counts[i], PFM_CAUSE_GROUP, EINVAL, "count it outside of the braces",
	             "%s is counted at other places than the group's first event: they cannot be one group", pmu_name(&s->counts[i]));
}

void pfmi_perf_diagnose(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	const struct perf_state *st = s->state;
	struct counting *c = &s->counts[i];
	const struct part *p = &st->parts[c->opened.part + k];
	struct refused q = { .s = s, .c = c, .pid = p->pid, .cpu = p->cpu, .group = group };

	pfmi_perf_attr(s, i, k, group == -1, &q.a);
	if (is_no_group(&q, err)) {
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err, "name a control group of cgroup2, or of the hierarchy that is mounted with perf_event",
		             "the kernel counts nothing for that folder: it is no control group, or its hierarchy lacks perf_event");
		return;
	}
	switch (err) {
	case EACCES:
	case EPERM: denied(&q, err); break;
	case ENOENT:
	case ENXIO: not_there(&q, err); break;
	case EOPNOTSUPP: unsupported(&q, err); break;
	case EINVAL: invalid(&q, err); break;
	case EMFILE:
	case ENFILE: no_files(&q, err); break;
	case EBUSY:
	case ENOSPC: busy(&q, err); break;
	case ENODEV:
		pfmi_give_up(c, PFM_CAUSE_NO_CPU, err, "choose CPUs that are on line (/sys/devices/system/cpu/online)",
		             "CPU %d has been switched off or %s does not serve it", p->cpu, pmu_name(c));
		break;
	case ESRCH:
		pfmi_give_up(c, PFM_CAUSE_NO_PROCESS, err, "check the process number", "there is no process %d, or it has ended", p->pid);
		break;
	case ENOMEM:
	case EAGAIN:
		pfmi_give_up(c, PFM_CAUSE_MEMORY, err, "count fewer events", "the kernel has no memory for another event");
		break;
	case ENOSYS:
		pfmi_give_up(c, PFM_CAUSE_NO_KERNEL, err, "use a kernel with CONFIG_PERF_EVENTS", "the kernel has no perf_event_open");
		break;
	case E2BIG:
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, err, "use a newer kernel, or an event that does not need config3",
		             "the event needs a setting this kernel does not know yet (config3)");
		break;
	default:
		pfmi_give_up(c, PFM_CAUSE_OTHER, err, "", "the kernel refuses the event with error number %d", err);
	}
}
