/* SPDX-License-Identifier: MIT */
/* From events to counts: an event without a PMU's name is counted on every type of core that has it, one count for each; and where
 * every CPU is counted for itself, each count is repeated for each of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session.h"
#include "context/context.h"
#include "machine/machine.h"

#define CPU_NUMBER_SIZE 8 /* for the number of a CPU */

/* ---- events to counts ------------------------------------------------------------------------------------------------ */

bool pfmi_session_reserve_counts(struct session_builder *o, unsigned n)
{
	struct pfm_session *s = o->session;
	unsigned room = o->counts_capacity * 2 > s->n_counts + n ? o->counts_capacity * 2 : s->n_counts + n;
	struct session_count *counts = s->n_counts + n > o->counts_capacity ? realloc(s->counts, room * sizeof(*counts)) : s->counts;

	if (!counts)
		return false;
	o->counts_capacity = s->n_counts + n > o->counts_capacity ? room : o->counts_capacity;
	s->counts = counts;
	return true;
}

static struct session_count *append_count(struct session_builder *o)
{
	return pfmi_session_reserve_counts(o, 1) ? &o->session->counts[o->session->n_counts++] : NULL;
}

/* One of which only the event is not settled. What is large and empty is not written to. */
static struct session_count *append_default_count(struct session_builder *o)
{
	struct session_count *c = append_count(o);

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

void pfmi_session_copy_event(const struct event *from, struct event *to)
{
	memcpy(to, from, offsetof(struct event, user_fields) + from->n_user_fields * sizeof(from->user_fields[0]));
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

#define NAME_BLOCK_SIZE 900 /* at least, in one piece */

struct name_block {
	struct name_block *next;
	size_t n_used, capacity;
	char bytes[];
};

char *pfmi_session_alloc_name(struct pfm_session *s, size_t room)
{
	struct name_block *n = s->name_blocks;
	char *name;

	if (!n || n->capacity - n->n_used < room) {
		size_t more = room > NAME_BLOCK_SIZE ? room : NAME_BLOCK_SIZE;

		n = malloc(sizeof(*n) + more);
		if (!n)
			return NULL;
		*n = (struct name_block){ .next = s->name_blocks, .capacity = more };
		s->name_blocks = n;
	}
	name = n->bytes + n->n_used;
	*name = '\0';
	n->n_used += room;
	return name;
}

void pfmi_session_free_names(struct pfm_session *s)
{
	for (struct name_block *n = s->name_blocks, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	s->name_blocks = NULL;
}

static char *copy_count_name(struct pfm_session *s, const char *name)
{
	size_t len = strlen(name);
	char *copy = pfmi_session_alloc_name(s, len + NAME_SUFFIX_SIZE);

	return copy ? memcpy(copy, name, len + 1) : NULL;
}

/* ---- what is asked of an event ------------------------------------------------------------------------------------------ */

/* Field @name of core PMU @p's format, in config1: the bits of value 1. */
static uint64_t get_config1_bit(const struct kernel_pmu *p, const char *name)
{
	const struct field *f = table_fields(p->table);

	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (strcmp(table_text(p->table, f[i].name), name) == 0 && f[i].n_ranges && f[i].ranges[0].config_word == 1)
			return (uint64_t)1 << f[i].ranges[0].lsb;
	return 0;
}

/* arm64 wants to be asked before it lets user space read a counter. */
static uint64_t get_user_read_bits(const struct session_builder *o, const struct session_count *c)
{
	if (!(o->session->options.flags & PFM_SESSION_USER_READ) || o->n_core_pmus == 0)
		return 0;
	if (c->config.kernel_pmu ? !c->config.kernel_pmu->is_core : c->config.attr.type != 0 && c->config.attr.type != 4)
		return 0;
	return get_config1_bit(c->config.kernel_pmu ? c->config.kernel_pmu : o->core_pmus[0], "rdpmc");
}

/* Drivers that cannot leave a level out are told nothing of levels. */
static bool has_fixed_levels(const struct session_count *c)
{
	return pfmi_pmu_counts_all_levels(c->config.event.table);
}

/* True if nothing but the levels asked for keeps the event from being counted. */
static bool is_blocked_by_levels(const struct session_count *c)
{
	struct event ev = c->config.event;
	pfm_attr_t attr;

	ev.plm = 0;
	ev.has_no_levels = false;
	return has_fixed_levels(c) && pfmi_encode_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &attr, NULL) == PFMLIB_SUCCESS && attr.expressible;
}

static void check_countable(const struct session_builder *o, const struct pmu_info *u, struct session_count *c)
{
	const struct pfm_session *s = o->session;
	const char *name = table_text(u->table, u->table->name);

	if (s->policy_backend && s->policy_backend->accepts_any_processor)
		return;
	if (!(u->flags & PFM_PMU_HOST))
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PMU, ENODEV, "name an event of this machine: pfm list shows them",
		                        "this machine has no %s: its events can be encoded but not counted here", name);
	else if (!c->config.attr.expressible && is_blocked_by_levels(c))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels: every level is counted",
		                        "Linux cannot tell privilege levels apart on %s", name);
	else if (!c->config.attr.expressible && has_fixed_levels(c) && c->config.event.exclude_flags)
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "leave the letters G, H and I away",
		                        "Linux cannot leave out idle time, the host or guests on %s", name);
	else if (!c->config.attr.expressible)
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PMU, EOPNOTSUPP, "", "Linux has no way to count this event of %s", name);
	else if (!c->config.attr.type_known)
		pfmi_session_fail_count(c, PFM_CAUSE_NO_PMU, ENODEV, "check that the kernel has the driver and that its module is loaded",
		                        "the kernel exports no PMU for %s on this machine", name);
	else if (c->config.attr.exclude_kernel && pfmi_perf_is_kernel_only_event(&c->config.attr))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels, or the kernel's (k)",
		                        "%s happens in the kernel alone: at the levels asked for there is nothing to count", c->config.name);
	else if (!s->sampling && pfmi_perf_is_clock_event(&c->config.attr) && (c->config.attr.exclude_kernel || c->config.attr.exclude_user))
		pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels: every level is counted",
		                        "the kernel's clocks count the time at every level, whichever are asked for");
}

/* Describes as count @c what member @m is in its place @k. */
static int fill_count_config(struct session_builder *o, const struct group_member *m, unsigned k, struct session_count *c)
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
	c->config.period = m->period;
	c->config.freq = m->freq;
	c->config.lacks_core_types = o->n_core_pmus > 1 && f->core_pmu >= 0 && m->lacks_core_types;
	c->config.missing_core = m->missing_core;
	c->config.has_default_levels = !f->event->plm && !f->event->has_no_levels && !s->options.plm;
	if (pfmi_encode_requested_attr(f->event, u->perf_type, s->options.plm, &c->config.attr, NULL))
		c->config.attr.expressible = 0;
	c->config.attr.pinned = m->pinned || o->is_group_pinned;
	if (m->precise)
		c->config.attr.precise = (uint8_t)(m->precise - 1);
	if (c->config.instance)
		c->config.attr.type = (uint32_t)u->kernel_pmu->instance_types[c->config.instance - 1];
	/* The kernel's own hardware events carry the type of the PMU they are meant for. */
	if (f->core_pmu >= 0 && pfmi_session_is_generic_event(o, f)) {
		c->config.kernel_pmu = o->core_pmus[f->core_pmu];
		c->config.attr.config |= (uint64_t)(uint32_t)c->config.kernel_pmu->instance_types[0] << 32;
	}
	c->config.is_level = event_has_flag(f->event, ROW_SNAPSHOT);
	if (event_has_key(f->event, KEY_SCALE) && !pfmi_base_parse_decimal(pfmi_table_row_text(u->table, f->event->row_index, KEY_SCALE), &c->config.scale))
		c->config.scale = 1;
	if (event_has_key(f->event, KEY_UNIT))
		c->config.unit = pfmi_table_row_text(u->table, f->event->row_index, KEY_UNIT);
	c->config.get_user_read_bits = get_user_read_bits(o, c);
	c->config.name = k ? copy_count_name(s, m->name) : m->name;
	if (!c->config.name)
		return pfmi_session_report_no_memory(o);
	check_countable(o, u, c);
	if (c->config.missing_core && s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_session_set_reason(c, PFM_CAUSE_NO_CPU, "", "%s does not have the event: not counted on CPUs %s", c->config.missing_core->name,
		                        c->config.missing_core->cpu_list ? c->config.missing_core->cpu_list : "?");
	return PFMLIB_SUCCESS;
}

/* The counts of members [0, @n) that belong to core PMU @core, as one group. Members of no core PMU go with the @first. */
static int add_core_group(struct session_builder *o, const struct group_member *m, unsigned n, int core, bool first)
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

/* ---- counted alone ---------------------------------------------------------------------------------------------------- */

/* One of the kernel's own names, or of those its core PMU shows, that it counts on a general counter: all but cycles, instructions,
 * reference cycles and what it gives codes that no hardware has. */
static bool is_general_counter_event(const struct event *ev)
{
	uint64_t config[4];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	if (ev->table->encoder == ENCODER_PERF)
		return ev->table->perf_type == 3 || (ev->table->perf_type == 0 && config[0] > 1 && config[0] != 9);
	return (config[0] & 0xff) != 0 && (config[0] & 0xffff) != 0x3c && (config[0] & 0xffff) != 0xc0;
}

/* The same of two events of one table. */
static bool has_solver_conflict(const struct event *alone, const struct event *other)
{
	const struct event both[2] = { *alone, *other };
	struct encode_request req = { .table = alone->table, .events = both, .n_events = 2, .plm = PFM_PLM0 | PFM_PLM3 };
	pfm_error_t why = { .size = sizeof(why) };
	struct plan plan;

	return pfmi_encode_constrain(&req, &plan, &why) && why.kind == PFM_KIND_ALONE;
}

bool pfmi_session_has_exclusive_conflict(const struct event *alone, const struct event *other)
{
	if (!event_has_flag(alone, ROW_EXCLUSIVE))
		return false;
	return other->table == alone->table ? has_solver_conflict(alone, other) : is_general_counter_event(other);
}

/* The kernel's own names are counted on the core that the others are counted on. */
static bool is_on_same_pmu(const struct session_count *c, const struct session_count *other)
{
	return other->config.kernel_pmu ? other->config.kernel_pmu == c->config.kernel_pmu : other->config.event.table->encoder == ENCODER_PERF;
}

/* True if count @c needs its PMU for itself because of a count of another group. */
static bool has_conflicting_count(const struct pfm_session *s, const struct session_count *c)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		const struct session_count *other = &s->counts[i];

		if (other->config.group != c->config.group && is_on_same_pmu(c, other) &&
		    pfmi_session_has_exclusive_conflict(&c->config.event, &other->config.event))
			return true;
	}
	return false;
}

void pfmi_session_mark_exclusive_groups(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		if (!event_has_flag(&s->counts[i].config.event, ROW_EXCLUSIVE) || !has_conflicting_count(s, &s->counts[i]))
			continue;
		for (unsigned k = 0; k < s->n_counts; k++)
			s->counts[k].config.exclusive |= s->counts[k].config.group == s->counts[i].config.group;
	}
}

/* ---- one count per CPU ------------------------------------------------------------------------------------------------ */

static void free_cpu_sets(struct cpu_mask *sets, unsigned n)
{
	for (unsigned i = 0; sets && i < n; i++)
		pfmi_machine_free_cpus(&sets[i]);
	free(sets);
}

/* The CPUs on which the PMU of @c counts something: empty for all. */
static int get_served_cpus(const struct session_count *c, struct cpu_mask *out)
{
	const struct kernel_pmu *d = c->config.kernel_pmu;
	int rc = 0;

	*out = (struct cpu_mask){ 0 };
	for (unsigned i = 0; d && !rc && i < d->n_instances; i++) {
		if (!session_count_has_instance(c, i))
			continue;
		rc = pfmi_machine_add_cpu_list(out, d->instance_cpu_lists[i]);
		if (rc != -ENOMEM && (rc || !*d->instance_cpu_lists[i])) {
			pfmi_machine_free_cpus(out);
			return 0;
		}
	}
	return rc;
}

/* The counts @old, @n of them, for CPU @cpu alone. @serves: the CPUs of each. @number: the CPU as a text that stays. */
static int copy_counts_for_cpu(struct session_builder *o, const struct session_count *old, const struct cpu_mask *serves, unsigned n, const char *number)
{
	unsigned cpu = (unsigned)strtoull(number, NULL, 10);

	for (unsigned i = 0; i < n; i++) {
		struct session_count *c;

		if (serves[i].n_words && !pfmi_machine_has_cpu(&serves[i], cpu))
			continue;
		c = append_count(o);
		if (!c)
			return pfmi_session_report_no_memory(o);
		*c = old[i];
		c->config.cpu = (int)cpu;
		c->config.cpus = number;
		c->config.group += o->session->n_groups;
		c->config.sibling_set = 0;
		c->config.name = copy_count_name(o->session, old[i].config.name);
		if (!c->config.name)
			return pfmi_session_report_no_memory(o);
	}
	return PFMLIB_SUCCESS;
}

static int copy_counts_for_each_cpu(struct session_builder *o, const struct session_count *old, const struct cpu_mask *serves, unsigned n, const struct cpu_mask *cpus,
                                    char *text)
{
	unsigned groups = o->session->n_groups;
	int rc = PFMLIB_SUCCESS;

	o->session->n_groups = 0;
	for (unsigned cpu = 0; !rc && pfmi_machine_next_cpu(cpus, &cpu); cpu++) {
		int len = snprintf(text, CPU_NUMBER_SIZE, "%u", cpu);

		rc = copy_counts_for_cpu(o, old, serves, n, text);
		text += len + 1;
		o->session->n_groups += groups;
	}
	return rc;
}

/* Repeats the groups of a finished list for one CPU after the other. @text: room for the numbers. */
static int split_counts_by_cpu(struct session_builder *o, const struct cpu_mask *cpus, char *text)
{
	struct pfm_session *s = o->session;
	struct session_count *old = s->counts;
	struct cpu_mask *serves = calloc(s->n_counts + 1, sizeof(*serves));
	unsigned n = s->n_counts;
	int rc = PFMLIB_SUCCESS;

	if (!serves)
		return pfmi_session_report_no_memory(o);
	for (unsigned i = 0; i < n && !rc; i++)
		if (get_served_cpus(&old[i], &serves[i]))
			rc = pfmi_session_report_no_memory(o);
	if (!rc && n * pfmi_machine_count_cpus(cpus) > MAX_SESSION_COUNTS)
		rc = pfmi_session_report_error(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, 0, "at most 262144 counts, one for each CPU");
	if (rc) {
		free_cpu_sets(serves, n);
		return rc;
	}
	s->counts = NULL;
	s->n_counts = o->counts_capacity = 0;
	rc = pfmi_session_reserve_counts(o, n * (unsigned)pfmi_machine_count_cpus(cpus)) ? PFMLIB_SUCCESS : pfmi_session_report_no_memory(o);
	if (!rc)
		rc = copy_counts_for_each_cpu(o, old, serves, n, cpus, text);
	free_cpu_sets(serves, n);
	free(old);
	return rc;
}

/* False for counts of tasks, wherever these run: then nothing depends on which CPUs there are. */
static bool is_cpu_dependent(const struct pfm_session *s)
{
	bool any = s->requested_cpus.n_words || s->sampling || s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	for (unsigned i = 0; i < s->n_counts && !any; i++)
		any = s->counts[i].config.kernel_pmu && s->counts[i].config.kernel_pmu->is_uncore;
	return any;
}

enum { ALL_CPUS_UNREAD = 0,     /* pfm_ctx.all_cpus, where it is no number of CPUs */
       ALL_CPUS_READ_ONCE = -1, /* who opens one session reads one file */
       ALL_CPUS_READ_ALWAYS = -2 };

static atomic_int *get_all_cpus_cache(const struct pfm_session *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx = { .in = s->ctx };

	return &ctx.out->n_contiguous_cpus;
}

/* True if a CPU that is not on line comes to light by itself: the kernel opens nothing on it. */
static bool is_offline_cpu_detectable(const struct pfm_session *s)
{
	return s->backend == &pfmi_perf_backend && !s->sampling &&
	       (s->options.flags & (PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU)) == PFM_SESSION_SYSTEM_WIDE;
}

static bool is_same_cpu_set(const struct cpu_mask *a, const struct cpu_mask *b)
{
	return a->n_words == b->n_words && memcmp(a->words, b->words, a->n_words * sizeof(*a->words)) == 0;
}

/* Keeps that all CPUs there can be are on line, if they are: that set does not change as long as the kernel runs. */
static void cache_all_cpus(const struct pfm_session *s)
{
	struct cpu_mask possible, first;
	size_t n = pfmi_machine_count_cpus(&s->online_cpus);
	bool all = !pfmi_machine_read_cpus(&s->sys, PFMI_POSSIBLE_CPUS_PATH, &possible) && n && !pfmi_machine_make_first_cpus((unsigned)n, &first);

	if (all) {
		all = is_same_cpu_set(&first, &possible) && is_same_cpu_set(&first, &s->online_cpus);
		pfmi_machine_free_cpus(&first);
	}
	pfmi_machine_free_cpus(&possible);
	atomic_store(get_all_cpus_cache(s), all ? (int)n : ALL_CPUS_READ_ALWAYS);
}

int pfmi_session_refresh_online_cpus(struct pfm_session *s)
{
	struct cpu_mask now;
	int rc = pfmi_machine_read_cpus(&s->sys, PFMI_ONLINE_CPUS_PATH, &now);

	s->is_online_assumed = false;
	if (rc || is_same_cpu_set(&now, &s->online_cpus)) {
		pfmi_machine_free_cpus(&now);
		return rc == -ENOMEM ? rc : 0;
	}
	atomic_store(get_all_cpus_cache(s), ALL_CPUS_READ_ALWAYS);
	pfmi_machine_free_cpus(&s->online_cpus);
	s->online_cpus = now;
	return -EAGAIN;
}

/* What is on line just now: the context may be older than the last CPU that came or went. Where that would show, what was the whole of them
 * is taken to be so still. */
static int read_online_cpus(struct pfm_session *s)
{
	int known = is_offline_cpu_detectable(s) ? atomic_load(get_all_cpus_cache(s)) : ALL_CPUS_READ_ALWAYS, rc;

	s->is_online_assumed = known > 0;
	if (s->is_online_assumed)
		return pfmi_machine_make_first_cpus((unsigned)known, &s->online_cpus);
	rc = pfmi_machine_read_cpus(&s->sys, PFMI_ONLINE_CPUS_PATH, &s->online_cpus);
	if (known == ALL_CPUS_READ_ONCE)
		cache_all_cpus(s);
	else if (known == ALL_CPUS_UNREAD)
		atomic_store(get_all_cpus_cache(s), ALL_CPUS_READ_ONCE);
	if (rc)
		return rc == -ENOMEM ? rc : 0; /* whatever needs to know it will say that it cannot be read */
	/* Tasks that are born later are sampled into buffers of a CPU only: two of them may write at once. */
	if (s->sampling && s->requested_cpus.n_words == 0 &&
	    (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE)) == PFM_SESSION_INHERIT)
		rc = pfmi_machine_copy_cpus(&s->online_cpus, &s->requested_cpus);
	return rc;
}

int pfmi_session_apply_cpu_list(struct session_builder *o)
{
	const unsigned per_cpu = PFM_SESSION_PER_CPU | PFM_SESSION_SYSTEM_WIDE;
	struct pfm_session *s = o->session;
	const char *given = s->options.cpus ? s->options.cpus : "";
	const struct cpu_mask *cpus = *given ? &s->requested_cpus : &s->online_cpus;
	size_t len = strlen(given);
	int rc = pfmi_machine_parse_cpu_list(given, &s->requested_cpus);

	if (rc == -EINVAL)
		return pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0,
		                                 "options.cpus is no list of CPUs such as 0,2-3");
	if (!rc && is_cpu_dependent(s))
		rc = read_online_cpus(s);
	s->cpu_text = rc ? NULL : malloc(len + 1 + CPU_NUMBER_SIZE * pfmi_machine_count_cpus(cpus));
	if (!s->cpu_text)
		return pfmi_session_report_no_memory(o);
	memcpy(s->cpu_text, given, len + 1);
	s->options.cpus = len ? s->cpu_text : NULL;
	if ((s->options.flags & per_cpu) != per_cpu)
		return PFMLIB_SUCCESS;
	if (cpus->n_words == 0)
		return pfmi_session_report_error(o, PFMLIB_ERR_NOTFOUND, PFM_KIND_SYSTEM, NULL, 0,
		                                 "which CPUs are on line cannot be read from " PFMI_ONLINE_CPUS_PATH);
	return split_counts_by_cpu(o, cpus, s->cpu_text + len + 1);
}
