/* SPDX-License-Identifier: MIT */
/* Counts of events. An event without a PMU prefix is counted on every core type that has it, with
 * one count for each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/perf_event_internal.h"
#include "context/context.h"
#include "machine/machine.h"

/* ---- events to counts ---------------------------------------------------------------------- */

/* Appends a count with defaults and no event. Large members that are unused are not written. */
static struct session_count *append_default_count(struct session_builder *o)
{
	struct session_count *c = pfmi_session_append_count(o);

	if (!c)
		return NULL;
	memset(&c->config, 0, offsetof(struct count_config, event));
	c->config.cpus = c->config.unit = "";
	c->config.cpu = -1;
	c->config.scale = 1;
	c->config.request = o->request;
	c->kernel_state = (struct count_kernel_state){ .first_event = 0 };
	c->status.cause = c->status.sys_errno = c->status.reason_cause = 0;
	return c;
}

/* ---- requested settings of an event ---------------------------------------------------------- */

/* The bit that the value 1 of format field @name of core PMU @p sets in config1. */
static uint64_t get_config1_bit(const struct kernel_pmu *p, const char *name)
{
	const struct field *f = table_fields(p->table);

	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (strcmp(table_get_text(p->table, f[i].name), name) == 0 && f[i].n_ranges &&
		    f[i].ranges[0].config_word == 1)
			return (uint64_t)1 << f[i].ranges[0].lsb;
	return 0;
}

/* arm64 requires a request before user space can read a counter. */
static uint64_t get_user_read_bits(const struct session_builder *o, const struct session_count *c)
{
	if (!(o->session->options.flags & PFM_SESSION_USER_READ) || o->n_core_pmus == 0)
		return 0;
	if (c->config.kernel_pmu ? !c->config.kernel_pmu->is_core
	                         : c->config.attr.type != 0 && c->config.attr.type != 4)
		return 0;
	return get_config1_bit(c->config.kernel_pmu ? c->config.kernel_pmu : o->core_pmus[0],
	                       "rdpmc");
}

/* True if the driver of the PMU cannot exclude privilege levels. */
static bool has_fixed_levels(const struct session_count *c)
{
	return pfmi_pmu_get_encoder(c->config.event.table)->counts_all_levels;
}

/* True if nothing but the levels asked for keeps the event from being counted. */
static bool is_blocked_by_levels(const struct session_count *c)
{
	struct event ev = c->config.event;
	perfmon_attr_t attr;

	ev.plm = 0;
	ev.has_no_levels = false;
	pfmi_pmu_build_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &attr);
	return has_fixed_levels(c) && attr.expressible;
}

static bool is_core_event_missing(const struct pfm_session *s, const struct session_count *c)
{
	const struct kernel_pmu *p = c->config.kernel_pmu;

	return p && c->config.attr.type == (uint32_t)p->instance_types[0] &&
	       pfmi_machine_is_event_missing(&s->ctx->host, p, c->config.attr.config);
}

static void check_countable(const struct session_builder *o, const struct pmu_info *u,
                            struct session_count *c)
{
	const struct pfm_session *s = o->session;
	const char *name = table_get_text(u->table, u->table->name);

	if (s->live.policy_backend && s->live.policy_backend->accepts_any_processor)
		return;
	if (!(u->flags & PFM_PMU_HOST))
		pfmi_session_fail_count(
			c, PFM_CAUSE_NO_PMU, ENODEV,
			"use an event of this machine: pfm list shows them",
			"this machine has no %s: its events can be encoded but not counted here",
			name);
	else if (!c->config.attr.expressible && is_blocked_by_levels(c))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                        "omit the levels: every level is counted",
		                        "Linux cannot distinguish privilege levels on %s", name);
	else if (!c->config.attr.expressible && has_fixed_levels(c) &&
	         c->config.event.exclude_flags)
		pfmi_session_fail_count(
			c, PFM_CAUSE_ATTRIBUTE, EINVAL, "omit the letters G, H and I",
			"Linux cannot exclude idle time, the host or guests on %s", name);
	else if (!c->config.attr.expressible)
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PMU, EOPNOTSUPP, "",
		                        "Linux cannot count this event of %s", name);
	else if (!c->config.attr.type_known)
		pfmi_session_fail_count(
			c, PFM_CAUSE_NO_PMU, ENODEV,
			"check that the kernel has the driver and that its module is loaded",
			"the kernel exports no PMU for %s on this machine", name);
	else if (is_core_event_missing(s, c))
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PMU, ENOENT,
		                        "choose another event: pfm list marks those that are "
		                        "missing",
		                        "this CPU does not implement it");
	else
		pfmi_session_check_restrictions(s, c);
}

/* Fills the kernel's attributes of count @c, which is event @f of member @m on PMU @u. */
static void fill_count_attr(const struct session_builder *o, const struct group_member *m,
                            const struct member_event *f, const struct pmu_info *u,
                            struct count_config *c)
{
	pfmi_pmu_build_requested_attr(f->event, u->perf_type, o->session->options.plm, &c->attr);
	c->attr.pinned = m->pinned || o->is_group_pinned;
	if (m->precise)
		c->attr.precise = (uint8_t)(m->precise - 1);
	if (c->instance)
		c->attr.type = (uint32_t)u->kernel_pmu->instance_types[c->instance - 1];
	/* The kernel's own hardware events carry the type of the PMU they are meant for. */
	if (f->core_pmu >= 0 && pfmi_session_is_generic_event(o, f)) {
		c->kernel_pmu = o->core_pmus[f->core_pmu];
		c->attr.config |= (uint64_t)(uint32_t)c->kernel_pmu->instance_types[0] << 32;
	}
}

/* Fills what the row of the event tells about its values. */
static void fill_count_unit(const struct event *ev, struct count_config *c)
{
	c->is_level = event_has_flag(ev, ROW_SNAPSHOT);
	if (event_has_key(ev, KEY_SCALE) &&
	    !pfmi_base_parse_decimal(pfmi_table_get_row_text(ev->table, ev->row_index, KEY_SCALE),
	                             &c->scale))
		c->scale = 1;
	if (event_has_key(ev, KEY_UNIT))
		c->unit = pfmi_table_get_row_text(ev->table, ev->row_index, KEY_UNIT);
}

/* True if the count of the event is wrong on this machine because of the erratum. */
static bool is_miscounted(const struct pfm_ctx *ctx, const struct count_config *c,
                          const struct erratum *e)
{
	const unsigned plm =
		(c->attr.exclude_kernel ? 0u : PFM_PLM0) | (c->attr.exclude_user ? 0u : PFM_PLM3);
	struct event ev = c->event;
	uint64_t smt = 1;

	ev.plm = (uint8_t)plm;
	if (e->count == PFM_ERRATUM_COUNT_RIGHT || e->count == PFM_ERRATUM_COUNT_NEAR ||
	    pfmi_pmu_is_erratum_general(ev.table, e) ||
	    pfmi_pmu_fit_erratum(&ev, plm, false, e) != ERRATUM_APPLIES ||
	    !pfmi_machine_has_erratum(&ctx->host, ev.table, e))
		return false;
	return pfmi_machine_read_number(&ctx->sys, "/sys/devices/system/cpu/smt/active", &smt) ||
	       smt || pfmi_pmu_fit_erratum(&ev, plm, true, e) == ERRATUM_APPLIES;
}

/* Finds an erratum of this machine that makes the count wrong; NULL if none. */
static const struct erratum *find_count_erratum(const struct pfm_ctx *ctx, const struct pmu_info *u,
                                                const struct count_config *c)
{
	const struct table *t = c->event.table;
	const struct erratum *e = table_errata(t);

	for (unsigned i = 0; u->flags & PFM_PMU_HOST && i < t->n_errata; i++)
		if (is_miscounted(ctx, c, &e[i]))
			return &e[i];
	return NULL;
}

/* Fills count @c with event @k of member @m. */
static int fill_count_config(struct session_builder *o, const struct group_member *m, unsigned k,
                             struct session_count *c)
{
	struct pfm_session *s = o->session;
	const struct member_event *f = &m->events[k];
	const struct pmu_info *u = pfmi_session_get_pmu(o, f->pmu);

	if (f->event != &c->config.event)
		pfmi_session_copy_event(f->event, &c->config.event);
	c->config.pmu = (int)f->pmu;
	c->config.kernel_pmu = u->kernel_pmu;
	c->config.instance = f->instance;
	c->config.weak = o->is_group_weak;
	c->config.exclusive = m->exclusive;
	c->config.is_leader_sampled = o->is_group_leader_sampled;
	c->config.period = m->period;
	c->config.freq = m->freq;
	c->config.lacks_core_types = o->n_core_pmus > 1 && f->core_pmu >= 0 && m->lacks_core_types;
	c->config.missing_core = m->missing_core;
	c->config.has_default_levels =
		!f->event->plm && !f->event->has_no_levels && !s->options.plm;
	fill_count_attr(o, m, f, u, &c->config);
	fill_count_unit(f->event, &c->config);
	c->config.get_user_read_bits = get_user_read_bits(o, c);
	c->config.name = k ? pfmi_session_copy_name(s, m->name) : m->name;
	if (!c->config.name)
		return pfmi_session_report_no_memory(o);
	c->config.erratum = find_count_erratum(s->ctx, u, &c->config);
	check_countable(o, u, c);
	if (c->config.missing_core && s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_session_set_reason(
			c, PFM_CAUSE_NO_CPU, "",
			"%s does not have the event: not counted on CPUs %s",
			c->config.missing_core->name,
			c->config.missing_core->cpu_list ? c->config.missing_core->cpu_list : "?");
	return PFMLIB_SUCCESS;
}

/* Adds a group with the counts of members [0, @n) that belong to core PMU @core. Members without a
 * core PMU are in the @first group. */
static int add_core_group(struct session_builder *o, const struct group_member *m, unsigned n,
                          int core, bool first)
{
	unsigned group = o->session->n_groups, before = o->session->n_counts;

	if (!pfmi_session_reserve_counts(o, n))
		return pfmi_session_report_no_memory(o);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < m[i].n_events; k++) {
			struct session_count *c;
			int rc;

			if (m[i].events[k].core_pmu < 0 ? !first : m[i].events[k].core_pmu != core)
				continue;
			c = append_default_count(o);
			if (!c)
				return pfmi_session_report_no_memory(o);
			c->config.group = group;
			c->config.sibling_set = m[i].n_events > 1 ? o->n_sibling_sets + i + 1 : 0;
			rc = fill_count_config(o, &m[i], k, c);
			if (rc)
				return rc;
		}
	o->session->n_groups += o->session->n_counts > before;
	return PFMLIB_SUCCESS;
}

int pfmi_session_add_members(struct session_builder *o, const struct group_member *m, unsigned n)
{
	bool first = true;
	int rc = PFMLIB_SUCCESS;

	for (int core = 0; core < (int)o->n_core_pmus && !rc; core++) {
		bool used = false;

		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < m[i].n_events; k++)
				used |= m[i].events[k].core_pmu == core;
		if (!used)
			continue;
		rc = add_core_group(o, m, n, core, first);
		first = false;
	}
	if (first && !rc)
		rc = add_core_group(o, m, n, -1, true);
	o->n_sibling_sets += n;
	return rc;
}
