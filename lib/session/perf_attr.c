/* SPDX-License-Identifier: MIT */
/* Converts encodings to the attributes of perf_event_open(2). */
#include <perfmon/perf_attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sizes.h"
#include "session/perf_event_internal.h"
#include "context/context.h"

int pfmi_perf_fill_attr(const perfmon_attr_t *from, struct perf_attr *attr, size_t size)
{
	const uint32_t needed = perf_attr_get_size(from->config3, from->config4);
	bool breakpoint = from->type == PERF_TYPE_BREAKPOINT;

	if (size < PERF_ATTR_MIN_SIZE || (size < needed && needed != PERF_ATTR_SIGNAL_SIZE))
		return PFMLIB_ERR_FULL;
	attr->size = size < needed ? (uint32_t)size : needed;
	attr->type = from->type;
	attr->config = breakpoint ? 0 : from->config;
	if (breakpoint)
		/* perfmon_attr_t stores the type of a breakpoint in config. */
		attr->bp_type = (uint32_t)from->config;
	attr->config1 = from->config1;
	attr->config2 = from->config2;
	if (from->config3 || from->config4)
		attr->config3 = from->config3;
	if (from->config4)
		attr->config4 = from->config4;
	attr->exclude_user = from->exclude_user & 1u;
	attr->exclude_kernel = from->exclude_kernel & 1u;
	attr->exclude_hv = from->exclude_hv & 1u;
	/* Set if the text asks for it; otherwise the caller's setting stays. */
	attr->exclude_idle |= from->exclude_idle & 1u;
	attr->exclude_host |= from->exclude_host & 1u;
	attr->exclude_guest |= from->exclude_guest & 1u;
	attr->pinned |= from->pinned & 1u;
	attr->precise_ip = from->precise & 3u;
	return PFMLIB_SUCCESS;
}

void pfmi_perf_build_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader,
                          struct perf_attr *a)
{
	const struct session_count *c = &s->counts[i];
	const struct perf_state *st = s->live.backend_state;
	const struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
	bool grouped = (i && s->counts[i - 1].config.group == c->config.group) ||
	               (i + 1 < s->n_counts && s->counts[i + 1].config.group == c->config.group) ||
	               c->kernel_state.is_read_together;

	memset(a, 0, sizeof(*a));
	/* cannot fail: the struct is large enough */
	(void)pfmi_perf_fill_attr(&c->config.attr, a, sizeof(*a));
	if (c->config.kernel_pmu && p->instance < c->config.kernel_pmu->n_instances &&
	    c->config.attr.type == (uint32_t)c->config.kernel_pmu->instance_types[0])
		a->type = (uint32_t)c->config.kernel_pmu->instance_types[p->instance];
	if (p->pid == 0)
		a->config1 |= c->config.get_user_read_bits;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* Only a leader reads its group: members must be readable alone when their CPU is switched
	 * off. */
	if (leader && grouped && !c->kernel_state.is_ungrouped && !st->reads_singly)
		a->read_format |= PERF_FORMAT_GROUP;
	a->inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	/* Members are enabled with their leader. */
	a->disabled = leader;
	a->pinned = a->pinned && leader;
	a->exclusive = leader && c->config.exclusive;
	a->enable_on_exec =
		leader && p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	if (s->sampling)
		s->sampling_ops->fill_attr(s, c, a);
}

bool pfmi_perf_is_kernel_only_event(const perfmon_attr_t *attr)
{
	static const uint64_t from_kernel =
		1u << PERF_COUNT_SW_CONTEXT_SWITCHES | 1u << PERF_COUNT_SW_CPU_MIGRATIONS |
		1u << PERF_COUNT_SW_BPF_OUTPUT | 1u << PERF_COUNT_SW_CGROUP_SWITCHES;

	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE && attr->config < 32 &&
	       from_kernel >> attr->config & 1;
}

bool pfmi_perf_is_clock_event(const perfmon_attr_t *attr)
{
	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

/* Logs what the kernel answered to an event. */
static void log_open(const struct log *log, const struct perf_attr *a, int pid, int cpu, int group,
                     int fd)
{
	char answer[80] = "";

	if (fd < 0)
		snprintf(answer, sizeof(answer), "%s (errno %d)", strerror(-fd), -fd);
	else
		snprintf(answer, sizeof(answer), "descriptor %d", fd);
	pfmi_machine_log(log, LOG_SESSION, PFM_LOG_DEBUG,
	                 "perf_event_open(type=%u config=0x%llx config1=0x%llx precise_ip=%u, "
	                 "pid=%d, cpu=%d, group=%d): %s",
	                 a->type, (unsigned long long)a->config, (unsigned long long)a->config1,
	                 (unsigned)a->precise_ip, pid, cpu, group, answer);
}

int pfmi_perf_open_with_flags(const struct sys *sys, struct perf_attr *a, int pid, int cpu,
                              int group, unsigned long flags)
{
	int fd;

	do
		fd = sys->perf_event_open(sys, a, pid, cpu, group, PERF_FLAG_FD_CLOEXEC | flags);
	while (fd == -EINTR);
	if (machine_is_logged(&sys->log, LOG_SESSION, PFM_LOG_DEBUG))
		log_open(&sys->log, a, pid, cpu, group, fd);
	return fd;
}

int pfmi_perf_open_event(const struct sys *sys, struct perf_attr *a, int pid, int cpu, int group)
{
	return pfmi_perf_open_with_flags(sys, a, pid, cpu, group, 0);
}

/* True if a later library has filled members that this one does not know. */
static bool has_reserved_words(const perfmon_attr_t *a)
{
	return (a->reserved1[0] | a->reserved1[1] | a->reserved1[2] | a->reserved[0] |
	        a->reserved[1]) != 0;
}

int pfm_fill_perf_event_attr(const pfm_ctx_t *ctx, const pfm_encoding_t *encoding,
                             struct perf_event_attr *attr, size_t size)
{
	pfm_encoding_t e;

	if (!ctx)
		ctx = pfmi_context_get_default();
	if (!encoding || !attr || base_copy_options_in(&e, sizeof(e), encoding) ||
	    has_reserved_words(&e.attr) || pfmi_context_load(ctx, LOADED_ALL) || e.pmu < 0 ||
	    (unsigned)e.pmu >= context_count_pmus(ctx))
		return PFMLIB_ERR_INVAL;
	if (!e.attr.expressible)
		return PFMLIB_ERR_NOTSUPP;
	/* On this machine the event's numbers would mean another event. */
	if (!(pfmi_context_get_pmu(ctx, (unsigned)e.pmu).flags & PFM_PMU_HOST))
		return PFMLIB_ERR_NOPMU;
	if (!e.attr.type_known)
		return PFMLIB_ERR_NOTSUPP;
	return pfmi_perf_fill_attr(&e.attr, (struct perf_attr *)attr, size);
}

/* Writes the full name of @event to @text, or the user's spelling if the library has no name for
 * it. */
static void print_full_name(const char *event, char *text, size_t len)
{
	if (pfm_print_event(NULL, event, PFM_DIALECT_LIBPFM, text, len, NULL))
		snprintf(text, len, "%s", event);
}

int pfm_encode_perf_attr(const char *event, int plm, struct perf_event_attr *attr, char **name,
                         int *index)
{
	pfm_encoding_t e = PFM_INIT(e);
	char text[1024];
	char *copy = NULL;
	size_t given;
	int rc;

	if (!event || !attr || plm < 0)
		return PFMLIB_ERR_INVAL;
	rc = pfm_encode_event(NULL, event, (unsigned)plm, &e, NULL);
	if (rc)
		return rc;
	if (name)
		print_full_name(event, text, sizeof(text));
	if (name && !(copy = strdup(text)))
		return PFMLIB_ERR_NOMEM;
	/* Writes only the first version of the struct that has the members in use. */
	given = ((struct perf_attr *)attr)->size;
	rc = pfm_fill_perf_event_attr(NULL, &e, attr,
	                              given >= PERF_ATTR_MIN_SIZE ? given : PERF_ATTR_SIGNAL_SIZE);
	if (rc) {
		free(copy);
		return rc;
	}
	if (name)
		*name = copy;
	if (index)
		*index = (int)e.event;
	return PFMLIB_SUCCESS;
}
