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

#define CPU_ROOM 8 /* for the number of a CPU */

/* ---- events to counts ------------------------------------------------------------------------------------------------ */

bool pfmi_make_room(struct opening *o, unsigned n)
{
	struct pfm_session *s = o->s;
	unsigned room = o->room * 2 > s->n + n ? o->room * 2 : s->n + n;
	struct counting *counts = s->n + n > o->room ? realloc(s->counts, room * sizeof(*counts)) : s->counts;

	if (!counts)
		return false;
	o->room = s->n + n > o->room ? room : o->room;
	s->counts = counts;
	return true;
}

static struct counting *next_count(struct opening *o)
{
	return pfmi_make_room(o, 1) ? &o->s->counts[o->s->n++] : NULL;
}

/* One of which only the event is not settled. What is large and empty is not written to. */
static struct counting *new_count(struct opening *o)
{
	struct counting *c = next_count(o);

	if (!c)
		return NULL;
	memset(&c->asked, 0, offsetof(struct asked, event));
	c->asked.cpus = c->asked.unit = "";
	c->asked.cpu = -1;
	c->asked.scale = 1;
	c->asked.request = o->request;
	c->opened = (struct opened){ .part = 0 };
	c->told.cause = c->told.sys_errno = c->told.about = 0;
	return c;
}

void pfmi_copy_event(const struct event *from, struct event *to)
{
	memcpy(to, from, offsetof(struct event, set) + from->n_set * sizeof(from->set[0]));
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

#define NAMES_ROOM 900 /* at least, in one piece */

struct names {
	struct names *next;
	size_t used, room;
	char at[];
};

char *pfmi_name_room(struct pfm_session *s, size_t room)
{
	struct names *n = s->names;
	char *name;

	if (!n || n->room - n->used < room) {
		size_t more = room > NAMES_ROOM ? room : NAMES_ROOM;

		n = malloc(sizeof(*n) + more);
		if (!n)
			return NULL;
		*n = (struct names){ .next = s->names, .room = more };
		s->names = n;
	}
	name = n->at + n->used;
	*name = '\0';
	n->used += room;
	return name;
}

void pfmi_free_names(struct pfm_session *s)
{
	for (struct names *n = s->names, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	s->names = NULL;
}

static char *copy_name(struct pfm_session *s, const char *name)
{
	size_t len = strlen(name);
	char *copy = pfmi_name_room(s, len + NAME_ROOM);

	return copy ? memcpy(copy, name, len + 1) : NULL;
}

/* ---- what is asked of an event ------------------------------------------------------------------------------------------ */

/* Field @name of core PMU @p's format, in config1: the bits of value 1. */
static uint64_t config1_bit(const struct kernel_pmu *p, const char *name)
{
	const struct field *f = table_fields(p->table);

	for (unsigned i = 0; i < p->table->n_fields; i++)
		if (strcmp(table_text(p->table, f[i].name), name) == 0 && f[i].n_ranges && f[i].range[0].word == 1)
			return (uint64_t)1 << f[i].range[0].lsb;
	return 0;
}

/* arm64 wants to be asked before it lets user space read a counter. */
static uint64_t user_read_bits(const struct opening *o, const struct counting *c)
{
	if (!(o->s->options.flags & PFM_SESSION_USER_READ) || o->n_cores == 0)
		return 0;
	if (c->asked.device ? !c->asked.device->is_core : c->asked.attr.type != 0 && c->asked.attr.type != 4)
		return 0;
	return config1_bit(c->asked.device ? c->asked.device : o->cores[0], "rdpmc");
}

/* Drivers that cannot leave a level out are told nothing of levels. */
static bool all_or_nothing(const struct counting *c)
{
	return pfmi_every_level(c->asked.event.table);
}

/* True if nothing but the levels asked for keeps the event from being counted. */
static bool only_levels(const struct counting *c)
{
	struct event ev = c->asked.event;
	pfm_attr_t attr;

	ev.plm = 0;
	ev.plm_none = false;
	return all_or_nothing(c) && pfmi_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &attr, NULL) == PFMLIB_SUCCESS && attr.expressible;
}

static void check_countable(const struct opening *o, const struct unit *u, struct counting *c)
{
	const struct pfm_session *s = o->s;
	const char *name = table_text(u->table, u->table->name);

	if (s->judges && s->judges->any_processor)
		return;
	if (!(u->flags & PFM_PMU_HOST))
		pfmi_give_up(c, PFM_CAUSE_NO_PMU, ENODEV, "name an event of this machine: pfm list shows them",
		             "this machine has no %s: its events can be encoded but not counted here", name);
	else if (!c->asked.attr.expressible && only_levels(c))
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels: every level is counted",
		             "Linux cannot tell privilege levels apart on %s", name);
	else if (!c->asked.attr.expressible && all_or_nothing(c) && c->asked.event.left_out)
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "leave the letters G, H and I away",
		             "Linux cannot leave out idle time, the host or guests on %s", name);
	else if (!c->asked.attr.expressible)
		pfmi_give_up(c, PFM_CAUSE_NO_PMU, EOPNOTSUPP, "", "Linux has no way to count this event of %s", name);
	else if (!c->asked.attr.type_known)
		pfmi_give_up(c, PFM_CAUSE_NO_PMU, ENODEV, "check that the kernel has the driver and that its module is loaded",
		             "the kernel exports no PMU for %s on this machine", name);
	else if (c->asked.attr.exclude_kernel && pfmi_only_in_kernel(&c->asked.attr))
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels, or the kernel's (k)",
		             "%s happens in the kernel alone: at the levels asked for there is nothing to count", c->asked.name);
	else if (!s->sampling && pfmi_is_clock(&c->asked.attr) && (c->asked.attr.exclude_kernel || c->asked.attr.exclude_user))
		pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "name no levels: every level is counted",
		             "the kernel's clocks count the time at every level, whichever are asked for");
}

/* Describes as count @c what member @m is in its place @k. */
static int describe_event(struct opening *o, const struct member *m, unsigned k, struct counting *c)
{
	struct pfm_session *s = o->s;
	const struct found *f = &m->found[k];
	const struct unit *u = pfmi_opening_unit(o, f->unit);

	if (f->event != &c->asked.event)
		pfmi_copy_event(f->event, &c->asked.event);
	c->asked.pmu = (int)f->unit;
	c->asked.device = u->kernel;
	c->asked.instance = f->instance;
	c->asked.weak = o->weak;
	c->asked.exclusive = m->exclusive;
	c->asked.period = m->period;
	c->asked.freq = m->freq;
	c->asked.one_core = o->n_cores > 1 && f->core >= 0 && m->missing;
	c->asked.lacking = m->lacking;
	c->asked.levels_free = !f->event->plm && !f->event->plm_none && !s->options.plm;
	if (pfmi_asked_attr(f->event, u->type, s->options.plm, &c->asked.attr, NULL))
		c->asked.attr.expressible = 0;
	c->asked.attr.pinned = m->pinned || o->pinned;
	if (m->precise)
		c->asked.attr.precise = (uint8_t)(m->precise - 1);
	if (c->asked.instance)
		c->asked.attr.type = (uint32_t)u->kernel->types[c->asked.instance - 1];
	/* The kernel's own hardware events carry the type of the PMU they are meant for. */
	if (f->core >= 0 && pfmi_is_generic(o, f)) {
		c->asked.device = o->cores[f->core];
		c->asked.attr.config |= (uint64_t)(uint32_t)c->asked.device->types[0] << 32;
	}
	c->asked.is_level = pfmi_event_flag(f->event, ROW_SNAPSHOT);
	if (pfmi_event_has(f->event, KEY_SCALE) && !pfmi_decimal(pfmi_row_text(u->table, f->event->row, KEY_SCALE), &c->asked.scale))
		c->asked.scale = 1;
	if (pfmi_event_has(f->event, KEY_UNIT))
		c->asked.unit = pfmi_row_text(u->table, f->event->row, KEY_UNIT);
	c->asked.user_read = user_read_bits(o, c);
	c->asked.name = k ? copy_name(s, m->name) : m->name;
	if (!c->asked.name)
		return pfmi_opening_no_memory(o);
	check_countable(o, u, c);
	if (c->asked.lacking && s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_tell(c, PFM_CAUSE_NO_CPU, "", "%s does not have the event: not counted on CPUs %s", c->asked.lacking->name,
		          c->asked.lacking->cpus ? c->asked.lacking->cpus : "?");
	return PFMLIB_SUCCESS;
}

/* The counts of members [0, @n) that belong to core PMU @core, as one group. Members of no core PMU go with the @first. */
static int add_group(struct opening *o, const struct member *m, unsigned n, int core, bool first)
{
	unsigned group = o->s->n_groups, before = o->s->n;

	if (!pfmi_make_room(o, n))
		return pfmi_opening_no_memory(o);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < m[i].n; k++) {
			struct counting *c;
			int rc;

			if (m[i].found[k].core < 0 ? !first : m[i].found[k].core != core)
				continue;
			c = new_count(o);
			if (!c)
				return pfmi_opening_no_memory(o);
			c->asked.group = group;
			c->asked.sibling = m[i].n > 1 ? o->siblings + i + 1 : 0;
			rc = describe_event(o, &m[i], k, c);
			if (rc)
				return rc;
		}
	o->s->n_groups += o->s->n > before;
	return PFMLIB_SUCCESS;
}

int pfmi_add_members(struct opening *o, const struct member *m, unsigned n)
{
	bool first = true;
	int rc = PFMLIB_SUCCESS;

	for (int core = 0; core < (int)o->n_cores && !rc; core++) {
		bool used = false;

		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < m[i].n; k++)
				used |= m[i].found[k].core == core;
		if (!used)
			continue;
		rc = add_group(o, m, n, core, first);
		first = false;
	}
	if (first && !rc)
		rc = add_group(o, m, n, -1, true);
	o->siblings += n;
	return rc;
}

/* ---- counted alone ---------------------------------------------------------------------------------------------------- */

/* One of the kernel's own names, or of those its core PMU shows, that it counts on a general counter: all but cycles, instructions,
 * reference cycles and what it gives codes that no hardware has. */
static bool is_general(const struct event *ev)
{
	uint64_t config[4];

	pfmi_event_config(ev, ANYWHERE, config);
	if (ev->table->encoder == ENCODER_PERF)
		return ev->table->perf_type == 3 || (ev->table->perf_type == 0 && config[0] > 1 && config[0] != 9);
	return (config[0] & 0xff) != 0 && (config[0] & 0xffff) != 0x3c && (config[0] & 0xffff) != 0xc0;
}

/* The same of two events of one table. */
static bool refuses(const struct event *alone, const struct event *other)
{
	const struct event both[2] = { *alone, *other };
	struct request req = { .table = alone->table, .events = both, .n = 2, .plm = PFM_PLM0 | PFM_PLM3 };
	pfm_error_t why = { .size = sizeof(why) };
	struct plan plan;

	return pfmi_constrain(&req, &plan, &why) && why.kind == PFM_KIND_ALONE;
}

bool pfmi_keeps_out(const struct event *alone, const struct event *other)
{
	if (!pfmi_event_flag(alone, ROW_ALONE))
		return false;
	return other->table == alone->table ? refuses(alone, other) : is_general(other);
}

/* The kernel's own names are counted on the core that the others are counted on. */
static bool same_pmu(const struct counting *c, const struct counting *other)
{
	return other->asked.device ? other->asked.device == c->asked.device : other->asked.event.table->encoder == ENCODER_PERF;
}

/* True if count @c needs its PMU for itself because of a count of another group. */
static bool wants_turns(const struct pfm_session *s, const struct counting *c)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct counting *other = &s->counts[i];

		if (other->asked.group != c->asked.group && same_pmu(c, other) &&
		    pfmi_keeps_out(&c->asked.event, &other->asked.event))
			return true;
	}
	return false;
}

void pfmi_take_turns(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (!pfmi_event_flag(&s->counts[i].asked.event, ROW_ALONE) || !wants_turns(s, &s->counts[i]))
			continue;
		for (unsigned k = 0; k < s->n; k++)
			s->counts[k].asked.exclusive |= s->counts[k].asked.group == s->counts[i].asked.group;
	}
}

/* ---- one count per CPU ------------------------------------------------------------------------------------------------ */

static void free_sets(struct cpus *sets, unsigned n)
{
	for (unsigned i = 0; sets && i < n; i++)
		pfmi_cpus_free(&sets[i]);
	free(sets);
}

/* The CPUs on which the PMU of @c counts something: empty for all. */
static int served_cpus(const struct counting *c, struct cpus *out)
{
	const struct kernel_pmu *d = c->asked.device;
	int rc = 0;

	*out = (struct cpus){ 0 };
	for (unsigned i = 0; d && !rc && i < d->n_instances; i++) {
		if (!pfmi_wants_instance(c, i))
			continue;
		rc = pfmi_cpus_add(out, d->instance_cpus[i]);
		if (rc != -ENOMEM && (rc || !*d->instance_cpus[i])) {
			pfmi_cpus_free(out);
			return 0;
		}
	}
	return rc;
}

/* The counts @old, @n of them, for CPU @cpu alone. @serves: the CPUs of each. @number: the CPU as a text that stays. */
static int copy_for_cpu(struct opening *o, const struct counting *old, const struct cpus *serves, unsigned n, const char *number)
{
	unsigned cpu = (unsigned)strtoull(number, NULL, 10);

	for (unsigned i = 0; i < n; i++) {
		struct counting *c;

		if (serves[i].n_words && !pfmi_cpus_has(&serves[i], cpu))
			continue;
		c = next_count(o);
		if (!c)
			return pfmi_opening_no_memory(o);
		*c = old[i];
		c->asked.cpu = (int)cpu;
		c->asked.cpus = number;
		c->asked.group += o->s->n_groups;
		c->asked.sibling = 0;
		c->asked.name = copy_name(o->s, old[i].asked.name);
		if (!c->asked.name)
			return pfmi_opening_no_memory(o);
	}
	return PFMLIB_SUCCESS;
}

static int copy_for_each(struct opening *o, const struct counting *old, const struct cpus *serves, unsigned n, const struct cpus *cpus,
                         char *text)
{
	unsigned groups = o->s->n_groups;
	int rc = PFMLIB_SUCCESS;

	o->s->n_groups = 0;
	for (unsigned cpu = 0; !rc && pfmi_cpus_from(cpus, &cpu); cpu++) {
		int len = snprintf(text, CPU_ROOM, "%u", cpu);

		rc = copy_for_cpu(o, old, serves, n, text);
		text += len + 1;
		o->s->n_groups += groups;
	}
	return rc;
}

/* Repeats the groups of a finished list for one CPU after the other. @text: room for the numbers. */
static int split_by_cpu(struct opening *o, const struct cpus *cpus, char *text)
{
	struct pfm_session *s = o->s;
	struct counting *old = s->counts;
	struct cpus *serves = calloc(s->n + 1, sizeof(*serves));
	unsigned n = s->n;
	int rc = PFMLIB_SUCCESS;

	if (!serves)
		return pfmi_opening_no_memory(o);
	for (unsigned i = 0; i < n && !rc; i++)
		if (served_cpus(&old[i], &serves[i]))
			rc = pfmi_opening_no_memory(o);
	if (!rc && n * pfmi_cpus_count(cpus) > SESSION_MAX)
		rc = pfmi_opening_refuse(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, 0, "at most 262144 counts, one for each CPU");
	if (rc) {
		free_sets(serves, n);
		return rc;
	}
	s->counts = NULL;
	s->n = o->room = 0;
	rc = pfmi_make_room(o, n * (unsigned)pfmi_cpus_count(cpus)) ? PFMLIB_SUCCESS : pfmi_opening_no_memory(o);
	if (!rc)
		rc = copy_for_each(o, old, serves, n, cpus, text);
	free_sets(serves, n);
	free(old);
	return rc;
}

/* False for counts of tasks, wherever these run: then nothing depends on which CPUs there are. */
static bool depends_on_cpus(const struct pfm_session *s)
{
	bool any = s->wanted.n_words || s->sampling || s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	for (unsigned i = 0; i < s->n && !any; i++)
		any = s->counts[i].asked.device && s->counts[i].asked.device->is_uncore;
	return any;
}

enum { NOBODY_ASKED = 0, /* pfm_ctx.all_cpus, where it is no number of CPUs */
       ASKED_ONCE = -1,  /* who opens one session reads one file */
       ASK_ALWAYS = -2 };

static atomic_int *all_cpus(const struct pfm_session *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx = { .in = s->ctx };

	return &ctx.out->all_cpus;
}

/* True if a CPU that is not on line comes to light by itself: the kernel opens nothing on it. */
static bool would_show(const struct pfm_session *s)
{
	return s->backend == &pfmi_backend_perf_event && !s->sampling &&
	       (s->options.flags & (PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU)) == PFM_SESSION_SYSTEM_WIDE;
}

static bool same_cpus(const struct cpus *a, const struct cpus *b)
{
	return a->n_words == b->n_words && memcmp(a->words, b->words, a->n_words * sizeof(*a->words)) == 0;
}

/* Keeps that all CPUs there can be are on line, if they are: that set does not change as long as the kernel runs. */
static void keep_all(const struct pfm_session *s)
{
	struct cpus possible, first;
	size_t n = pfmi_cpus_count(&s->online);
	bool all = !pfmi_cpus_load(&s->sys, PFMI_CPUS_POSSIBLE, &possible) && n && !pfmi_cpus_first((unsigned)n, &first);

	if (all) {
		all = same_cpus(&first, &possible) && same_cpus(&first, &s->online);
		pfmi_cpus_free(&first);
	}
	pfmi_cpus_free(&possible);
	atomic_store(all_cpus(s), all ? (int)n : ASK_ALWAYS);
}

int pfmi_ask_online(struct pfm_session *s)
{
	struct cpus now;
	int rc = pfmi_cpus_load(&s->sys, PFMI_CPUS_ONLINE, &now);

	s->assumed = false;
	if (rc || same_cpus(&now, &s->online)) {
		pfmi_cpus_free(&now);
		return rc == -ENOMEM ? rc : 0;
	}
	atomic_store(all_cpus(s), ASK_ALWAYS);
	pfmi_cpus_free(&s->online);
	s->online = now;
	return -EAGAIN;
}

/* What is on line just now: the context may be older than the last CPU that came or went. Where that would show, what was the whole of them
 * is taken to be so still. */
static int read_online(struct pfm_session *s)
{
	int known = would_show(s) ? atomic_load(all_cpus(s)) : ASK_ALWAYS, rc;

	s->assumed = known > 0;
	if (s->assumed)
		return pfmi_cpus_first((unsigned)known, &s->online);
	rc = pfmi_cpus_load(&s->sys, PFMI_CPUS_ONLINE, &s->online);
	if (known == ASKED_ONCE)
		keep_all(s);
	else if (known == NOBODY_ASKED)
		atomic_store(all_cpus(s), ASKED_ONCE);
	if (rc)
		return rc == -ENOMEM ? rc : 0; /* whatever needs to know it will say that it cannot be read */
	/* Tasks that are born later are sampled into buffers of a CPU only: two of them may write at once. */
	if (s->sampling && s->wanted.n_words == 0 &&
	    (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE)) == PFM_SESSION_INHERIT)
		rc = pfmi_cpus_copy(&s->online, &s->wanted);
	return rc;
}

int pfmi_keep_cpus(struct opening *o)
{
	const unsigned per_cpu = PFM_SESSION_PER_CPU | PFM_SESSION_SYSTEM_WIDE;
	struct pfm_session *s = o->s;
	const char *given = s->options.cpus ? s->options.cpus : "";
	const struct cpus *cpus = *given ? &s->wanted : &s->online;
	size_t len = strlen(given);
	int rc = pfmi_cpus_read(given, &s->wanted);

	if (rc == -EINVAL)
		return pfmi_opening_refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0,
		                           "options.cpus is no list of CPUs such as 0,2-3");
	if (!rc && depends_on_cpus(s))
		rc = read_online(s);
	s->cpus = rc ? NULL : malloc(len + 1 + CPU_ROOM * pfmi_cpus_count(cpus));
	if (!s->cpus)
		return pfmi_opening_no_memory(o);
	memcpy(s->cpus, given, len + 1);
	s->options.cpus = len ? s->cpus : NULL;
	if ((s->options.flags & per_cpu) != per_cpu)
		return PFMLIB_SUCCESS;
	if (cpus->n_words == 0)
		return pfmi_opening_refuse(o, PFMLIB_ERR_NOTFOUND, PFM_KIND_SYSTEM, NULL, 0,
		                           "which CPUs are on line cannot be read from " PFMI_CPUS_ONLINE);
	return split_by_cpu(o, cpus, s->cpus + len + 1);
}
