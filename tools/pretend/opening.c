/* SPDX-License-Identifier: MIT */
/* perf_event_open(2): the event that is opened instead, and what the kernel would refuse. */
#include "common/pfm.h"
#include "pretend/supervisor.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "pretend/generic.h"
#include "pretend/redirect.h"
#include "pretend/sysfs.h"

enum { ANY_CORE_SHIFT = 32 };
#define MILLISECOND 1e6

/* A request of a client. */
struct opening {
	const struct call *call;
	struct perf_attr attr;
	int pid, cpu, group_fd;
	int leader_copy, cgroup_copy; /* descriptors of this process, -1: none */
	unsigned long flags;
	struct pretended_event event;
	struct pretended_event *leader; /* of its group; NULL: it leads one */
};

/* ---- the request ----------------------------------------------------------------------------- */

/* Reads the attributes, whose size the client gives. Returns 0 or -errno. */
static int read_attr(struct opening *o)
{
	const int tid = (int)call_thread(o->call);
	const uint64_t at = o->call->notif->data.args[0];
	uint32_t size;

	memset(&o->attr, 0, sizeof(o->attr));
	if (!read_client_memory(tid, at + sizeof(uint32_t), &size, sizeof(size)))
		return -EFAULT;
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > sizeof(o->attr)) {
		size = sizeof(o->attr);
		(void)write_client_memory(tid, at + sizeof(uint32_t), &size, sizeof(size));
		return -E2BIG;
	}
	return read_client_memory(tid, at, &o->attr, size) ? 0 : -EFAULT;
}

/* The PMU of the request, if it is one of the pretended machine. Generic events may name a core in
 * the upper half of config. */
static const struct pretend_pmu *find_requested_pmu(const struct supervisor *s,
                                                    const struct perf_attr *a)
{
	uint32_t core = (uint32_t)(a->config >> ANY_CORE_SHIFT);

	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE)
		return core ? find_pretend_type(s->machine, core) : get_pretend_core(s->machine);
	return find_pretend_type(s->machine, a->type);
}

/* Linux has these numbers of generic events (include/uapi/linux/perf_event.h). */
static bool is_generic_number(const struct perf_attr *a)
{
	const uint32_t config = (uint32_t)a->config;

	if (a->type == PERF_TYPE_HARDWARE)
		return config < PERF_COUNT_HW_MAX;
	return (config & 0xff) < PERF_COUNT_HW_CACHE_MAX &&
	       (config >> 8 & 0xff) < PERF_COUNT_HW_CACHE_OP_MAX &&
	       (config >> 16 & 0xff) < PERF_COUNT_HW_CACHE_RESULT_MAX;
}

/* Returns 0, or -errno for a generic event that Linux does not know, or the processor lacks. */
static int name_event(const struct supervisor *s, const struct perf_attr *a,
                      struct pretended_event *e)
{
	char name[GENERIC_NAME_MAX], text[256];
	struct perf_attr raw = *a;
	pfm_encoding_t encoding;

	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE) {
		if (!is_generic_number(a))
			return -EINVAL;
		if (!name_generic(a->type, (uint32_t)a->config, name) ||
		    !resolve_generic(s->machine, s->model, e->pmu, name, text, &encoding))
			return -ENOENT;
		raw.config = encoding.attr.config;
		raw.config1 = encoding.attr.config1;
		raw.config2 = encoding.attr.config2;
	}
	name_raw_event(s->machine, e->pmu, &raw, &e->name);
	return 0;
}

/* ---- what the kernel refuses ----------------------------------------------------------------- */

/* perf_allow_kernel() and perf_allow_cpu() of Linux for users without privileges; level 3 is that
 * of Debian and Android. */
static int check_permission(const struct supervisor *s, const struct opening *o)
{
	const int level = s->machine->paranoid;
	const bool is_of_cpu = o->pid == -1 || (o->flags & PERF_FLAG_PID_CGROUP);
	const bool is_allowed = level == NO_PARANOID_LEVEL ||
	                        (level <= 2 && (level <= 1 || o->attr.exclude_kernel) &&
	                         (level <= 0 || !is_of_cpu));

	return is_allowed ? 0 : -EACCES;
}

/* Drivers of x86 refuse a precision that they lack; others ignore it. */
static bool checks_precision(const struct supervisor *s)
{
	const enum processor_family family = get_processor_family(s->machine);

	return family == FAMILY_INTEL || family == FAMILY_AMD;
}

/* The leader decides when its group counts, and all members count on the same PMU. */
static bool is_good_member(const struct supervisor *s, const struct opening *o)
{
	if (!o->leader)
		return true;
	if (o->event.is_pinned || o->event.is_exclusive)
		return false;
	for (size_t i = 0; i < s->events.n; i++) {
		const struct pretended_event *e = s->events.at[i];

		if (e->leader == o->leader->leader && e->pmu && e->pmu != o->event.pmu)
			return false;
	}
	return true;
}

static int check_request(const struct supervisor *s, const struct opening *o)
{
	const struct perf_attr *a = &o->attr;
	bool samples = a->sample_period != 0;

	/* armv8pmu_set_event_filter() of Linux. */
	if (get_processor_family(s->machine) == FAMILY_ARM && o->event.pmu->is_core &&
	    a->exclude_idle)
		return -EOPNOTSUPP;
	if (!is_good_member(s, o))
		return -EINVAL;
	if (!o->event.pmu->is_core && (samples || (o->pid >= 0 && o->cpu < 0)))
		return -EINVAL;
	/* Precise samples, branches and traces of data are hardware of their own. */
	if ((a->precise_ip && checks_precision(s)) || (a->sample_type & PERF_SAMPLE_BRANCH_STACK) ||
	    a->aux_output)
		return -EOPNOTSUPP;
	/* The kernel writes the values of its own events into samples, by its clock. A program that
	 * is notified of each sample would look for it before it is translated. */
	if (needs_ring(&o->event) &&
	    (s->machine->simulated || !can_redirect() || (a->wakeup_events && !a->watermark)))
		return -EOPNOTSUPP;
	if (o->event.fault == FAULT_BUSY)
		return -EBUSY;
	if (o->event.fault == FAULT_GONE && o->cpu >= 0 && !o->event.end)
		return -ENODEV;
	if (samples && get_rate_base(&o->event.rate) == BASE_CONSTANT)
		return -EOPNOTSUPP;
	return 0;
}

/* Drivers do not look at events that are disabled: those of Arm (validate_event), x86
 * (collect_events) and POWER (collect_events), which always look at the leader and at the new one.
 */
static bool is_looked_at(const struct supervisor *s, const struct pretended_event *e,
                         bool is_member)
{
	switch (get_processor_family(s->machine)) {
	case FAMILY_ARM: return e->is_enabled;
	case FAMILY_INTEL:
	case FAMILY_AMD:
	case FAMILY_POWER: return e->is_enabled || !is_member;
	default: return true;
	}
}

/* As the kernel's drivers (validate_group): the group must fit the counters without others. The
 * order is that of the group, in which some events must come first. */
static int check_group(const struct supervisor *s, const struct opening *o)
{
	const struct event_name *names[TOGETHER_MOST];
	unsigned n = 0;

	if (!o->event.name.n)
		return 0;
	for (size_t i = 0; o->leader && i < s->events.n && n + 4 < TOGETHER_MOST; i++) {
		const struct pretended_event *e = s->events.at[i];

		if (e->leader == o->leader->leader && e->pmu == o->event.pmu && e->name.n &&
		    is_looked_at(s, e, e->id != e->leader))
			n += list_names(e, names + n);
	}
	if (!o->leader || is_looked_at(s, &o->event, false))
		n += list_names(&o->event, names + n);
	return fit_together(s->machine, names, n) ? 0 : -EINVAL;
}

/* Instructions of a nanosecond by the model: its clock is replaced by instructions of the emulator,
 * so that all other counts keep their parts of them. */
void find_simulated_rate(struct supervisor *s)
{
	const struct pretend_pmu *core = get_pretend_core(s->machine);
	perfmon_pmu_info_t p = PFM_INIT(p);
	pfm_encoding_t encoding;
	char text[256];

	if (s->machine->simulated && core && !pfm_describe_pmu(s->machine->ctx, core->pmu, &p) &&
	    resolve_generic(s->machine, s->model, core, "instructions", text, &encoding))
		s->simulated_rate =
			get_model_rate(s->model, p.name, strstr(text, "::") + 2).by[BASE_CLOCK];
}

/* ---- the event that is opened instead -------------------------------------------------------- */

uint64_t translate_period(const struct model_rate *rate, uint64_t period)
{
	double ticks = (double)period / rate->by[get_rate_base(rate)];

	return ticks >= 1 ? ticks < 4e18 ? (uint64_t)ticks : (uint64_t)4e18 : 1;
}

static void replace_event(struct opening *o)
{
	struct perf_attr *a = &o->attr;
	const enum model_base base = get_rate_base(&o->event.rate);
	const uint64_t clock = o->pid < 0 ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;

	a->type = PERF_TYPE_SOFTWARE;
	a->config = base == BASE_CLOCK      ? clock
	            : base == BASE_FAULTS   ? PERF_COUNT_SW_PAGE_FAULTS
	            : base == BASE_SWITCHES ? PERF_COUNT_SW_CONTEXT_SWITCHES
	                                    : PERF_COUNT_SW_DUMMY;
	a->config1 = a->config2 = a->config3 = a->config4 = 0;
	if (a->sample_period && !a->freq)
		a->sample_period = translate_period(&o->event.rate, a->sample_period);
	if (a->sample_period && o->event.fault == FAULT_SILENT) {
		a->freq = 0;
		a->sample_period = (uint64_t)1 << 62;
	}
	/* A pinned software event always has its counter; rotation is computed. */
	a->pinned = a->exclusive = 0;
	if (o->event.pmu->cpu >= 0 && o->cpu < 0)
		o->cpu = o->event.pmu->cpu;
}

/* The part of @rate that is counted at the levels of @a. */
static void apply_levels(const struct supervisor *s, const struct perf_attr *a,
                         struct model_rate *rate)
{
	double share = a->exclude_kernel && a->exclude_user ? 0
	               : a->exclude_kernel                  ? s->model->user_share
	               : a->exclude_user                    ? 1 - s->model->user_share
	                                                    : 1;

	for (int i = 0; i < N_BASES; i++)
		rate->by[i] *= share;
}

/* An event of 64 bits takes a counter and the next one before Armv8.5, but for cycles, whose
 * counter has 64 bits (armv8pmu_event_is_chained() of Linux). Processors without slots are older.
 */
static bool takes_next_counter(const struct supervisor *s, const struct pretended_event *e,
                               const struct perf_attr *a)
{
	enum { LONG = 1, CPU_CYCLES = 0x11 };
	const bool is_cycles = a->type == PERF_TYPE_HARDWARE ? a->config == PERF_COUNT_HW_CPU_CYCLES
	                                                     : a->config == CPU_CYCLES;

	return strncmp(e->pmu->device, "armv8", 5) == 0 && a->config1 & LONG && !is_cycles &&
	       !get_pretend_feature(s->machine, e->pmu, "slots");
}

/* Fills o->event. Returns 0 or -errno. */
static int describe_request(const struct supervisor *s, struct opening *o)
{
	const struct perf_attr *a = &o->attr;
	struct pretended_event *e = &o->event;
	perfmon_pmu_info_t p = PFM_INIT(p);
	const char *name;
	double number = 0;
	int rc = name_event(s, a, e);

	if (rc || pfm_describe_pmu(s->machine->ctx, e->pmu->pmu, &p))
		return rc ? rc : -ENOENT;
	name = e->name.n ? strstr(e->name.texts[0], "::") + 2 : "";
	e->rate = get_model_rate(s->model, p.name, name);
	e->fault = get_model_fault(s->model, p.name, name, &number);
	e->limit = e->fault == FAULT_SHARE ? number : 1;
	if (e->fault == FAULT_THROTTLE)
		e->throttled_after = number >= 1 ? (uint64_t)number : 1;
	if (e->fault == FAULT_GONE || e->fault == FAULT_MOVED)
		e->end = (uint64_t)(number * MILLISECOND);
	if (e->fault == FAULT_ZERO)
		e->rate = (struct model_rate){ { 0 } };
	if (!e->name.n && e->pmu->is_core)
		name_plain_event(s->machine, e->pmu, &e->name);
	if (takes_next_counter(s, e, a))
		name_plain_event(s->machine, e->pmu, &e->next_name);
	apply_levels(s, a, &e->rate);
	rc = check_request(s, o);
	return rc ? rc : check_group(s, o);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Events of one PMU that count one task, or one CPU, share its counters. The kernel's own events
 * need none: a group that they lead moves to the PMU of its first other member. */
static void choose_context(struct supervisor *s, struct opening *o)
{
	struct pretended_event *e = &o->event;
	uint64_t target = o->pid < 0 ? (uint64_t)1 << 39 | (uint32_t)o->cpu
	                  : o->pid   ? (uint64_t)o->pid
	                             : call_thread(o->call);

	e->context = (uint64_t)(e->pmu ? e->pmu->type : 0) << 40 | target;
	if (!o->leader)
		return;
	for (size_t i = 0; e->pmu && i < s->events.n; i++)
		if (s->events.at[i]->leader == o->leader->leader && !s->events.at[i]->pmu)
			s->events.at[i]->context = e->context;
	if (!e->pmu)
		e->context = o->leader->context;
}

/* Gives the opened event @fd to the client and remembers it. */
static void hand_over(struct supervisor *s, struct opening *o, int fd)
{
	struct pretended_event *e = &o->event;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &e->id)) {
		answer(o->call, -errno);
		return;
	}
	e->leader = o->leader ? o->leader->leader : e->id;
	e->owner = (int)call_thread(o->call);
	e->pid = read_thread_process((int)call_thread(o->call));
	choose_context(s, o);
	if (e->pmu)
		settle_context(s, e->context);
	if (!add_event(s, e)) {
		answer(o->call, -ENOMEM);
		return;
	}
	e->fd = answer_with_free_fd(o->call, fd, 0, o->flags & PERF_FLAG_FD_CLOEXEC);
	find_event(s, e->id)->fd = e->fd;
	if (e->pmu)
		share_counters(s, e->context);
}

/* Copies the descriptors that the request names: of the group's leader, and of a control group.
 * Returns 0 or -errno. */
static int copy_request_fds(struct supervisor *s, struct opening *o)
{
	const int tid = (int)call_thread(o->call);
	bool is_event;

	if (o->group_fd >= 0) {
		o->group_fd = o->leader_copy = copy_client_fd(s->clients, tid, o->group_fd);
		if (o->group_fd < 0)
			return o->group_fd;
		if (!(o->flags & PERF_FLAG_FD_NO_GROUP))
			o->leader = identify_event(s, o->group_fd, &is_event);
	}
	if (!(o->flags & PERF_FLAG_PID_CGROUP))
		return 0;
	o->pid = o->cgroup_copy = copy_client_fd(s->clients, tid, o->pid);
	return o->pid < 0 ? o->pid : 0;
}

/* Opens the kernel's event. Returns a descriptor or -errno. */
static int open_kernel_event(struct opening *o)
{
	int pid = o->pid == 0 ? (int)call_thread(o->call) : o->pid;
	long fd = syscall(SYS_perf_event_open, &o->attr, pid, o->cpu, o->group_fd,
	                  o->flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_instead(struct supervisor *s, struct opening *o)
{
	int rc = check_permission(s, o);

	if (!rc)
		rc = copy_request_fds(s, o);
	o->event.pmu = rc ? NULL : find_requested_pmu(s, &o->attr);
	o->event.share = o->event.limit = 1;
	o->event.end = UINT64_MAX;
	/* The kernel's own events are counted as they are. */
	o->event.rate.by[BASE_FAULTS] = 1;
	o->event.is_by_frequency = o->attr.freq;
	o->event.is_enabled = !o->attr.disabled || o->attr.enable_on_exec;
	o->event.is_pinned = o->attr.pinned;
	o->event.reads_in_samples =
		o->attr.sample_period && (o->attr.sample_type & PERF_SAMPLE_READ);
	o->event.sample_type = o->attr.sample_type;
	o->event.has_sample_id = o->attr.sample_id_all;
	o->event.is_exclusive = o->attr.exclusive;
	o->event.read_format = o->attr.read_format;
	if (!rc && !o->event.pmu &&
	    (o->attr.type == PERF_TYPE_HARDWARE || o->attr.type == PERF_TYPE_HW_CACHE))
		rc = -ENOENT;
	if (!rc && o->event.pmu) {
		rc = describe_request(s, o);
		begin_ticks(s, &o->event);
		replace_event(o);
	} else if (!rc && o->leader && o->leader->pmu && o->leader->pmu->cpu >= 0 && o->cpu < 0) {
		o->cpu = o->leader->pmu->cpu;
	}
	return rc ? rc : open_kernel_event(o);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void open_event(struct supervisor *s, const struct call *call)
{
	const __u64 *args = call->notif->data.args;
	struct opening o = { .call = call,
		             .pid = (int)args[1],
		             .cpu = (int)args[2],
		             .group_fd = (int)args[3],
		             .flags = (unsigned long)args[4],
		             .leader_copy = -1,
		             .cgroup_copy = -1 };
	int rc = read_attr(&o);

	if (!rc)
		rc = open_instead(s, &o);
	if (rc < 0)
		answer(call, rc);
	else
		hand_over(s, &o, rc);
	close_if_open(rc);
	close_if_open(o.leader_copy);
	close_if_open(o.cgroup_copy);
}
