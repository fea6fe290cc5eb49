/* SPDX-License-Identifier: MIT */
/* Counting: texts become counts, counts are handed to a backend, and what it reads is judged. An event without a PMU's name
 * is counted on every type of core that has it, one count for each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend.h"
#include "ctx.h"
#include "kernel.h"

#define MAX_GROUP 64 /* members of one group */
#define NAME_ROOM 8  /* behind a name, for the levels that permission takes away */
#define CPU_ROOM  8  /* for the number of a CPU */

/* ---- texts to events ----------------------------------------------------------------------------------------------- */

/* One event of a text, on one PMU. */
struct found {
	struct event event;
	unsigned unit;
	int core;          /* which of the kernel's core PMUs, -1: none in particular */
	unsigned instance; /* 1 + the instance of the PMU, 0: all */
};

/* One member of a group (or the only event of a text). */
struct member {
	char *name; /* as the user wrote it */
	bool pinned;
	unsigned n;
	bool missing;                     /* some type of core does not have it */
	const struct kernel_pmu *lacking; /* a type that was asked and does not have it, or NULL */
	struct found found[4];
};

struct opening {
	struct pfm_session *s;
	const struct unit *units;
	unsigned n_units, room;
	unsigned request, siblings;
	bool weak, pinned;
	const char *text; /* the whole text, for positions in errors */
	pfm_error_t *why;
};

static int refuse(const struct opening *o, int code, int kind, const char *at, size_t len, const char *detail)
{
	int rc = pfmi_refuse(o->why, code, kind, o->text, (struct slice){ at, (uint32_t)len }, detail);

	if (o->why)
		o->why->event = (int)o->request;
	return rc;
}

static int no_memory(const struct opening *o)
{
	return refuse(o, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, 0, NULL);
}

/* Modifiers behind the last slash or colon of @text: their place, or NULL. */
static char *last_modifiers(char *text)
{
	char *slash = strrchr(text, '/'), *colon = strrchr(text, ':'), *at = slash > colon ? slash : colon, *p;

	if (!at || !at[1])
		return NULL;
	for (p = at + 1; *p; p++)
		if (!strchr("ukhpPDSWGHI", *p))
			return NULL;
	return at + 1;
}

/* D, S and W belong to sessions; no processor knows them. Takes them away; true if there was one. */
static bool take_session_letters(char *text, struct member *m)
{
	char *p = last_modifiers(text), *to = p, *start = p;
	bool any = false;

	if (!p)
		return false;
	for (; *p; p++)
		if (strchr("DSW", *p)) {
			m->pinned |= *p == 'D';
			any = true;
		} else {
			*to++ = *p;
		}
	*to = '\0';
	if (to == start && start[-1] == ':')
		start[-1] = '\0';
	return any;
}

/* @text to an event. @at: where it stands in the user's text. */
static int find_event(const struct opening *o, char *text, const char *at, struct member *m)
{
	pfm_error_t mine = PFM_INIT(mine);
	struct found *f = &m->found[0];
	int rc = pfmi_ctx_event(o->s->ctx, text, &f->unit, &f->event, &mine);
	size_t len = strlen(text);

	if ((rc || !f->event.given) && take_session_letters(text, m))
		rc = pfmi_ctx_event(o->s->ctx, text, &f->unit, &f->event, &mine);
	if (rc == PFMLIB_SUCCESS) {
		m->n = 1;
		f->core = -1;
		f->instance = pfmi_ctx_instance(o->s->ctx, text, f->unit);
		return rc;
	}
	if (o->why) {
		size_t size = o->why->size, base = (size_t)(at - o->text), end = strlen(o->text);

		*o->why = mine;
		o->why->size = size;
		o->why->event = (int)o->request;
		if (mine.end <= len) {
			o->why->start = (uint32_t)(base + mine.start < end ? base + mine.start : end);
			o->why->end = (uint32_t)(base + mine.end < end ? base + mine.end : end);
		}
	}
	return rc;
}

/* ---- types of cores ------------------------------------------------------------------------------------------------- */

static unsigned core_pmus(const struct pfm_ctx *ctx, const struct kernel_pmu *list[4])
{
	unsigned n = 0;

	for (unsigned i = 0; ctx->kernel && i < ctx->kernel->n && n < 4; i++)
		if (ctx->kernel->pmus[i].is_core)
			list[n++] = &ctx->kernel->pmus[i];
	return n;
}

static bool is_generic(const struct opening *o, const struct found *f)
{
	int type = o->units[f->unit].table->perf_type;

	return o->units[f->unit].table->encoder == ENCODER_PERF && (type == 0 || type == 3);
}

static bool names_pmu(const struct opening *o, const char *text)
{
	struct spec spec;

	return o->s->ctx->wanted || pfmi_spec_parse(text, &spec, NULL) || spec.pmu.len || spec.form == SPEC_PERF;
}

/* The event @text on core PMU @core, from the unit that comes first for this machine. */
static bool find_on_core(const struct opening *o, const char *text, const struct kernel_pmu *core, struct found *out)
{
	const struct pfm_ctx *ctx = o->s->ctx;

	for (unsigned i = 0; i < ctx->n_host_order; i++) {
		out->unit = ctx->host_order[i];
		if (o->units[out->unit].kernel == core && !pfmi_ctx_event_on(ctx, text, out->unit, &out->event, NULL))
			return true;
	}
	return false;
}

/* On a machine with several types of cores: the event on each of them. */
static void fan_out(const struct opening *o, const char *text, struct member *m)
{
	const struct kernel_pmu *cores[4];
	unsigned n = core_pmus(o->s->ctx, cores);
	struct found first = m->found[0];
	bool generic = is_generic(o, &first);

	if (n < 2)
		return;
	for (unsigned i = 0; i < n; i++)
		if (!generic && o->units[first.unit].kernel == cores[i])
			m->found[0].core = (int)i;
	if (names_pmu(o, text) || (!generic && m->found[0].core < 0) || (first.event.row == ROW_NONE && !generic)) {
		m->missing = m->found[0].core >= 0;
		return;
	}
	m->n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct found *f = &m->found[m->n];
		bool have = generic || o->units[first.unit].kernel == cores[i];

		if (have)
			*f = first;
		else
			have = find_on_core(o, text, cores[i], f);
		f->core = (int)i;
		m->n += have;
		m->missing |= !have;
		if (!have)
			m->lacking = cores[i];
	}
}

/* ---- events to counts ------------------------------------------------------------------------------------------------ */

static struct counting *new_count(struct opening *o)
{
	struct pfm_session *s = o->s;

	if (s->n == o->room) {
		unsigned room = o->room * 2 + 8;
		struct counting *counts = realloc(s->counts, room * sizeof(*counts));

		if (!counts)
			return NULL;
		s->counts = counts;
		o->room = room;
	}
	s->counts[s->n] = (struct counting){ .cpus = "", .unit = "", .scale = 1, .request = o->request };
	return &s->counts[s->n++];
}

static char *copy_name(const char *name)
{
	char *copy = malloc(strlen(name) + NAME_ROOM);

	if (copy)
		memcpy(copy, name, strlen(name) + 1);
	return copy;
}

static void give_up(struct counting *c, int cause, int err, const char *why, const char *name, const char *remedy)
{
	pfmi_tell(c, cause, remedy, why, name);
	c->cause = cause;
	c->sys_errno = err;
}

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
	const struct kernel_pmu *cores[4];
	unsigned n = core_pmus(o->s->ctx, cores);

	if (!(o->s->options.flags & PFM_SESSION_USER_READ) || n == 0)
		return 0;
	if (c->device ? !c->device->is_core : c->attr.type != 0 && c->attr.type != 4)
		return 0;
	return config1_bit(c->device ? c->device : cores[0], "rdpmc");
}

/* Drivers that cannot leave a level out are told nothing of levels. */
static bool all_or_nothing(const struct counting *c)
{
	return c->event.table->encoder >= ENCODER_EV4 && c->event.table->encoder <= ENCODER_EV67;
}

/* True if nothing but the levels asked for keeps the event from being counted. */
static bool only_levels(const struct counting *c)
{
	struct event ev = c->event;
	pfm_attr_t attr;

	ev.plm = 0;
	ev.plm_none = false;
	return all_or_nothing(c) && pfmi_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &attr, NULL) == PFMLIB_SUCCESS && attr.expressible;
}

static void check_countable(const struct opening *o, const struct unit *u, struct counting *c)
{
	const char *name = table_text(u->table, u->table->name);

	const char *backend = o->s->options.backend ? o->s->options.backend : o->s->backend ? o->s->backend->name
	                                                                                    : "";

	if (strcmp(backend, "pfm_device") == 0)
		return;
	if (!(u->flags & PFM_PMU_HOST))
		give_up(c, PFM_CAUSE_NO_PMU, ENODEV, "this machine has no %s: its events can be encoded but not counted here", name,
		        "name an event of this machine: pfm list shows them");
	else if (!c->attr.expressible && only_levels(c))
		give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "Linux cannot tell privilege levels apart on %s", name,
		        "name no levels: every level is counted");
	else if (!c->attr.expressible && all_or_nothing(c) && c->event.left_out)
		give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "Linux cannot leave out idle time, the host or guests on %s", name,
		        "leave the letters G, H and I away");
	else if (!c->attr.expressible)
		give_up(c, PFM_CAUSE_NO_PMU, EOPNOTSUPP, "Linux has no way to count this event of %s", name, "");
	else if (!c->attr.type_known)
		give_up(c, PFM_CAUSE_NO_PMU, ENODEV, "the kernel exports no PMU for %s on this machine", name,
		        "check that the kernel has the driver and that its module is loaded");
}

static int describe_event(struct opening *o, const struct member *m, const struct found *f, struct counting *c)
{
	const struct pfm_session *s = o->s;
	const struct unit *u = &o->units[f->unit];
	const struct kernel_pmu *cores[4];
	unsigned plm = s->options.plm ? s->options.plm : PFM_PLM0 | PFM_PLM3, n = core_pmus(s->ctx, cores);

	c->event = f->event;
	c->pmu = (int)f->unit;
	c->device = u->kernel;
	c->instance = f->instance;
	c->pinned = m->pinned || o->pinned;
	c->weak = o->weak;
	c->one_core = n > 1 && f->core >= 0 && m->missing;
	c->lacking = m->lacking;
	c->levels_free = !f->event.plm && !f->event.plm_none && !s->options.plm;
	if (pfmi_event_attr(&f->event, u->type, plm, &c->attr, NULL))
		c->attr.expressible = 0;
	if (s->options.plm && !f->event.plm && !all_or_nothing(c))
		c->attr.exclude_hv = 1;
	if (c->instance)
		c->attr.type = (uint32_t)u->kernel->types[c->instance - 1];
	/* The kernel's own hardware events carry the type of the PMU they are meant for. */
	if (f->core >= 0 && is_generic(o, f)) {
		c->device = cores[f->core];
		c->attr.config |= (uint64_t)(uint32_t)c->device->types[0] << 32;
	}
	if (f->event.row != ROW_NONE) {
		c->is_level = table_row(u->table, f->event.row)->flags & ROW_SNAPSHOT;
		if (!pfmi_decimal(pfmi_row_text(u->table, f->event.row, KEY_SCALE), &c->scale))
			c->scale = 1;
		c->unit = pfmi_row_text(u->table, f->event.row, KEY_UNIT);
	}
	c->user_read = user_read_bits(o, c);
	c->name = copy_name(m->name);
	if (!c->name)
		return no_memory(o);
	check_countable(o, u, c);
	if (c->lacking && s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_tell(c, PFM_CAUSE_NO_CPU, "", "%s does not have the event: not counted on CPUs %s", c->lacking->name,
		          c->lacking->cpus ? c->lacking->cpus : "?");
	return PFMLIB_SUCCESS;
}

/* The counts of members [0, @n) that belong to core PMU @core, as one group. Members of no core PMU go with the @first. */
static int add_group(struct opening *o, const struct member *m, unsigned n, int core, bool first)
{
	unsigned group = o->s->n_groups, before = o->s->n;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < m[i].n; k++) {
			struct counting *c;
			int rc;

			if (m[i].found[k].core < 0 ? !first : m[i].found[k].core != core)
				continue;
			c = new_count(o);
			if (!c)
				return no_memory(o);
			c->group = group;
			c->sibling = m[i].n > 1 ? o->siblings + i + 1 : 0;
			rc = describe_event(o, &m[i], &m[i].found[k], c);
			if (rc)
				return rc;
		}
	o->s->n_groups += o->s->n > before;
	return PFMLIB_SUCCESS;
}

static int add_members(struct opening *o, const struct member *m, unsigned n)
{
	bool first = true;
	int rc = PFMLIB_SUCCESS;

	for (int core = 0; core < 4 && !rc; core++) {
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

/* ---- groups ---------------------------------------------------------------------------------------------------------- */

/* True if @s is a qualifier of the event before the comma: "cmask=2", "edge". */
static bool is_qualifier(const char *s, size_t len)
{
	static const char words[][5] = { "edge", "inv", "os", "usr" };
	const char *eq = memchr(s, '=', len);

	for (unsigned i = 0; i < 4; i++)
		if (len == strlen(words[i]) && memcmp(s, words[i], len) == 0)
			return true;
	return eq && !memchr(s, '/', (size_t)(eq - s)) && !memchr(s, ':', (size_t)(eq - s));
}

/* Length of the event at the start of the @len bytes at @s: up to a comma that separates events. */
static size_t event_length(const char *s, size_t len)
{
	bool inside = false, breakpoint = len > 4 && memcmp(s, "mem:", 4) == 0;
	size_t i, next;

	for (i = 0; i < len; i++) {
		if (s[i] == '/' && !breakpoint)
			inside = !inside;
		if (s[i] != ',' || inside)
			continue;
		for (next = i + 1; next < len && s[next] != ','; next++)
			;
		if (!is_qualifier(s + i + 1, next - i - 1))
			return i;
	}
	return len;
}

/* The @len bytes at @s, with the group's modifiers @mods behind it. */
static int read_member(const struct opening *o, const char *s, size_t len, const char *mods, struct member *m)
{
	char *text = malloc(len + strlen(mods) + 2);
	int rc;

	*m = (struct member){ 0 };
	m->name = malloc(len + strlen(mods) + 2);
	if (!text || !m->name) {
		free(text);
		return no_memory(o);
	}
	memcpy(text, s, len);
	text[len] = '\0';
	if (*mods) {
		bool slash = len && text[len - 1] == '/';

		snprintf(text + len, strlen(mods) + 2, "%s%s", slash ? "" : ":", mods);
	}
	memcpy(m->name, text, strlen(text) + 1);
	rc = find_event(o, text, s, m);
	if (rc == PFMLIB_SUCCESS)
		fan_out(o, text, m);
	free(text);
	return rc;
}

/* Letters behind the closing brace: what concerns the group is noted, what concerns its events stays in @mods. */
static int read_group_modifiers(struct opening *o, const char *s, char mods[16])
{
	size_t n = 0;

	if (*s == ':')
		s++;
	for (; *s; s++) {
		if (*s == 'W')
			o->weak = true;
		else if (*s == 'D')
			o->pinned = true;
		else if (strchr("ukhpPGHI", *s) && n < 15)
			mods[n++] = *s;
		else if (*s != 'S')
			return refuse(o, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, s, 1, "not a modifier of a group");
	}
	mods[n] = '\0';
	return PFMLIB_SUCCESS;
}

static int read_members(struct opening *o, const char *s, const char *end, const char *mods, struct member *m, unsigned *n)
{
	for (;;) {
		size_t len = event_length(s, (size_t)(end - s));
		int rc;

		while (len && *s == ' ') {
			s++;
			len--;
		}
		if (len == 0)
			return refuse(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s, 0, "an event is missing in the group");
		if (*n == MAX_GROUP)
			return refuse(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, s, len, "at most 64 events in a group");
		(*n)++;
		rc = read_member(o, s, len, mods, &m[*n - 1]);
		if (rc || s + len == end)
			return rc;
		s += len + 1;
	}
}

static int read_text(struct opening *o, const char *text, struct member *m, unsigned *n)
{
	const char *s = text, *end;
	char mods[16] = "";
	int rc;

	while (*s == ' ')
		s++;
	if (*s != '{') {
		*n = 1;
		return read_member(o, s, strlen(s), "", &m[0]);
	}
	end = strrchr(s, '}');
	if (!end)
		return refuse(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s, 1, "the brace is never closed");
	rc = read_group_modifiers(o, end + 1, mods);
	return rc ? rc : read_members(o, s + 1, end, mods, m, n);
}

static int add_text(struct opening *o, const char *text)
{
	struct member *m = calloc(MAX_GROUP, sizeof(*m));
	unsigned n = 0;
	int rc;

	o->text = text;
	o->weak = o->pinned = false;
	if (!m)
		return no_memory(o);
	rc = read_text(o, text, m, &n);
	if (!rc)
		rc = add_members(o, m, n);
	for (unsigned i = 0; i < n; i++)
		free(m[i].name);
	free(m);
	return rc;
}

/* ---- one count per CPU ------------------------------------------------------------------------------------------------ */

static bool serves(const struct counting *c, unsigned cpu)
{
	if (!c->device)
		return true;
	for (unsigned i = 0; i < c->device->n_instances; i++)
		if (pfmi_wants_instance(c, i) && (!*c->device->instance_cpus[i] || pfmi_cpus_has(c->device->instance_cpus[i], cpu)))
			return true;
	return false;
}

/* Repeats the groups of a finished list for one CPU after the other. @text: room for the numbers. */
static int split_by_cpu(struct opening *o, const char *list, char *text)
{
	struct pfm_session *s = o->s;
	struct counting *old = s->counts;
	unsigned n = s->n, first, last, groups = s->n_groups;
	int rc = PFMLIB_SUCCESS;

	s->counts = NULL;
	s->n = o->room = s->n_groups = 0;
	while (!rc && pfmi_cpus_next(&list, &first, &last))
		for (unsigned cpu = first; cpu <= last && !rc; cpu++) {
			char *number = text;

			text += snprintf(text, CPU_ROOM, "%u", cpu) + 1;
			for (unsigned i = 0; i < n && !rc; i++) {
				struct counting *c = serves(&old[i], cpu) ? new_count(o) : NULL;

				if (!c) {
					rc = serves(&old[i], cpu) ? no_memory(o) : 0;
					continue;
				}
				*c = old[i];
				c->cpus = number;
				c->group += s->n_groups;
				c->sibling = 0;
				c->name = copy_name(old[i].name);
				rc = c->name ? 0 : no_memory(o);
			}
			s->n_groups += groups;
		}
	for (unsigned i = 0; i < n; i++)
		free(old[i].name);
	free(old);
	return rc;
}

static size_t count_cpus(const char *list)
{
	unsigned first, last;
	size_t n = 0;

	while (pfmi_cpus_next(&list, &first, &last))
		n += last - first + 1;
	return n;
}

/* Keeps the caller's CPU list, and room for the numbers of single CPUs behind it. */
static int keep_cpus(struct opening *o)
{
	struct pfm_session *s = o->s;
	const char *given = s->options.cpus ? s->options.cpus : "", *end = given;
	const char *online = s->online;
	size_t len = strlen(given);
	unsigned first, last;

	while (pfmi_cpus_next(&end, &first, &last))
		;
	if (*end)
		return refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "options.cpus is no list of CPUs such as 0,2-3");
	s->cpus = malloc(len + 1 + CPU_ROOM * (count_cpus(len ? given : online) + 1));
	if (!s->cpus)
		return no_memory(o);
	memcpy(s->cpus, given, len + 1);
	s->options.cpus = len ? s->cpus : NULL;
	if ((s->options.flags & (PFM_SESSION_PER_CPU | PFM_SESSION_SYSTEM_WIDE)) != (PFM_SESSION_PER_CPU | PFM_SESSION_SYSTEM_WIDE))
		return PFMLIB_SUCCESS;
	return split_by_cpu(o, len ? s->cpus : *online ? online
	                                               : "0",
	                    s->cpus + len + 1);
}

/* ---- opening ---------------------------------------------------------------------------------------------------------- */

/* In the order they are tried. Not a table: its pointers would be relocated in every process. */
static const struct backend *backend_at(unsigned i)
{
	switch (i) {
	case 0: return &pfmi_backend_perf_event;
	case 1: return &pfmi_backend_pfm_device;
	case 2: return &pfmi_backend_record;
	default: return NULL;
	}
}

/* The backend the caller names, or the one this machine has; NULL if it has none (every count will say so). */
static int choose_backend(struct opening *o)
{
	struct pfm_session *s = o->s;
	const char *name = s->options.flags & PFM_SESSION_DRY_RUN ? "record" : s->options.backend;
	const struct backend *b;

	for (unsigned i = 0; (b = backend_at(i)); i++) {
		if (name ? strcmp(name, b->name) != 0 : b == &pfmi_backend_record)
			continue;
		if (!b->probe || b->probe(&s->sys, name ? o->why : NULL) == PFMLIB_SUCCESS) {
			s->backend = b;
			return PFMLIB_SUCCESS;
		}
		if (name) {
			if (o->why)
				o->why->event = -1;
			return PFMLIB_ERR_NOTSUPP;
		}
	}
	return name ? refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "no backend of that name") : PFMLIB_SUCCESS;
}

static void no_backend(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!s->counts[i].cause)
			give_up(&s->counts[i], PFM_CAUSE_NO_KERNEL, ENOSYS,
			        s->sys.root[0] ? "%s is a recorded machine: nothing can be counted"
			                       : "the kernel has no perf_event_open%s",
			        s->sys.root[0] ? s->sys.root : "",
			        s->sys.root[0] ? "make a dry run" : "use a kernel with CONFIG_PERF_EVENTS");
}

static int strict_code(int cause)
{
	switch (cause) {
	case PFM_CAUSE_NO_PMU: return PFMLIB_ERR_NOPMU;
	case PFM_CAUSE_PERMISSION: return PFMLIB_ERR_PERM;
	case PFM_CAUSE_BUSY: return PFMLIB_ERR_BUSY;
	case PFM_CAUSE_GROUP: return PFMLIB_ERR_NOASSIGN;
	case PFM_CAUSE_ATTRIBUTE: return PFMLIB_ERR_ATTR_VAL;
	case PFM_CAUSE_MEMORY: return PFMLIB_ERR_NOMEM;
	case PFM_CAUSE_NO_KERNEL: return PFMLIB_ERR_NOTSUPP;
	default: return PFMLIB_ERR_SYS;
	}
}

/* With PFM_SESSION_STRICT one count that is not whole fails them all. */
static int check_strict(struct opening *o)
{
	struct pfm_session *s = o->s;

	if (!(s->options.flags & PFM_SESSION_STRICT))
		return PFMLIB_SUCCESS;
	for (unsigned i = 0; i < s->n; i++) {
		const struct counting *c = &s->counts[i];

		if (!c->cause)
			continue;
		o->request = c->request;
		refuse(o, strict_code(c->cause), PFM_KIND_SYSTEM, NULL, 0, pfm_cause_name(c->cause));
		if (o->why)
			o->why->sys_errno = c->sys_errno;
		return strict_code(c->cause);
	}
	return PFMLIB_SUCCESS;
}

static int open_all(struct opening *o, const char *const *texts, unsigned n)
{
	struct pfm_session *s = o->s;
	int rc = pfmi_ctx_load(s->ctx, LOADED_ALL);

	if (rc)
		return refuse(o, rc, PFM_KIND_SYSTEM, NULL, 0, "what this machine has could not be read");
	s->sys = s->ctx->sys;
	/* The context may be older than the last CPU that came or went. */
	if (s->ctx->kernel) {
		memcpy(s->online, s->ctx->kernel->online, sizeof(s->online));
		pfmi_cpus_online(&s->sys, s->online);
	}
	o->units = pfmi_ctx_units(s->ctx, &o->n_units);
	rc = choose_backend(o);
	for (o->request = 0; o->request < n && !rc; o->request++)
		rc = texts[o->request] ? add_text(o, texts[o->request])
		                       : refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "an event is NULL");
	if (rc)
		return rc;
	o->request = 0;
	o->text = NULL;
	rc = keep_cpus(o);
	if (rc)
		return rc;
	s->last = calloc(s->n + 1, sizeof(*s->last));
	if (!s->last)
		return no_memory(o);
	if (s->backend)
		rc = s->backend->program(s, o->why);
	else
		no_backend(s);
	return rc ? rc : check_strict(o);
}

int pfm_open_session(pfm_session_t **out, const pfm_ctx_t *ctx, const pfm_session_options_t *options,
                     const char *const *texts, unsigned n, pfm_error_t *error)
{
	pfm_error_t unheard = { .size = sizeof(unheard) };
	struct opening o = { .why = error ? error : &unheard };
	struct pfm_session *s;
	int rc;

	if (!out || !texts || n == 0 || (options && options->size < sizeof(options->size) + sizeof(options->flags))) {
		if (out)
			*out = NULL;
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                   "out or texts is NULL, there are no events, or options.size is not set");
	}
	*out = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	s->options.size = sizeof(s->options);
	if (options)
		memcpy(&s->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	s->ctx = pfmi_ctx_hold(ctx);
	o.s = s;
	rc = open_all(&o, texts, n);
	if (rc) {
		pfm_close_session(s);
		return rc;
	}
	*out = s;
	return PFMLIB_SUCCESS;
}

void pfm_close_session(pfm_session_t *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx;

	if (!s)
		return;
	if (s->backend)
		s->backend->close(s);
	for (unsigned i = 0; i < s->n; i++)
		free(s->counts[i].name);
	free(s->counts);
	free(s->last);
	free(s->cpus);
	ctx.in = s->ctx; /* the session's own hold on it */
	pfm_close_context(ctx.out);
	free(s);
}

/* ---- counting --------------------------------------------------------------------------------------------------------- */

int pfm_start_session(pfm_session_t *s)
{
	int rc;

	if (!s)
		return PFMLIB_ERR_INVAL;
	rc = s->backend ? s->backend->start(s) : PFMLIB_SUCCESS;
	if (rc == PFMLIB_SUCCESS)
		s->running = s->started = true;
	return rc;
}

int pfm_stop_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	s->running = false;
	return s->backend ? s->backend->stop(s) : PFMLIB_SUCCESS;
}

int pfm_reset_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	return s->backend ? s->backend->reset(s) : PFMLIB_SUCCESS;
}

unsigned pfm_count_session(const pfm_session_t *s)
{
	return s ? s->n : 0;
}

static void deliver(const pfm_count_t *from, pfm_count_t *to)
{
	size_t size = to->size;

	memcpy(to, from, size < sizeof(*from) ? size : sizeof(*from));
	to->size = size;
}

static int read_last(struct pfm_session *s)
{
	int rc = PFMLIB_SUCCESS;

	memset(s->last, 0, s->n * sizeof(*s->last));
	if (s->backend)
		rc = s->backend->read(s, s->last, s->n);
	for (unsigned i = 0; i < s->n && !rc; i++)
		pfmi_judge(s, i, s->last);
	return rc;
}

int pfm_read_session(pfm_session_t *s, pfm_count_t *counts, unsigned n)
{
	int rc;

	if (!s || (n && !counts))
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < n; i++)
		if (counts[i].size < sizeof(counts[i].size))
			return PFMLIB_ERR_INVAL;
	rc = read_last(s);
	for (unsigned i = 0; i < n && i < s->n && !rc; i++)
		deliver(&s->last[i], &counts[i]);
	return rc;
}

int pfm_read_count(pfm_session_t *s, unsigned i, pfm_count_t *count)
{
	const struct counting *c;
	int rc = PFMLIB_ERR_NOTSUPP;

	if (!s || i >= s->n || !count || count->size < sizeof(count->size))
		return PFMLIB_ERR_INVAL;
	c = &s->counts[i];
	/* Counts that are judged together are read together. */
	if (s->backend && s->backend->read_fast && !c->sibling && c->n_open)
		rc = s->backend->read_fast(s, i, &s->last[i]);
	if (rc == PFMLIB_SUCCESS)
		pfmi_judge(s, i, s->last);
	else if (rc == PFMLIB_ERR_NOTSUPP)
		rc = read_last(s);
	if (rc == PFMLIB_SUCCESS)
		deliver(&s->last[i], count);
	return rc;
}

int pfm_describe_count(const pfm_session_t *s, unsigned i, pfm_count_info_t *info)
{
	const struct counting *c;
	const struct unit *u;
	pfm_count_info_t full = PFM_INIT(full);
	size_t size;
	unsigned n;

	if (!s || i >= s->n || !info || info->size < offsetof(pfm_count_info_t, pmu))
		return PFMLIB_ERR_INVAL;
	c = &s->counts[i];
	u = pfmi_ctx_units(s->ctx, &n) + c->pmu;
	full.request = c->request;
	full.name = c->name;
	full.pmu = !c->device    ? table_text(u->table, u->table->name)
	           : c->instance ? c->device->instances[c->instance - 1]
	                         : c->device->name;
	full.unit = c->unit;
	full.group = c->group;
	full.n_parts = c->n_parts;
	full.why = c->why;
	full.remedy = c->remedy;
	full.attr = c->attr;
	full.cpus = *c->cpus ? c->cpus : c->device ? c->device->instance_cpus[c->instance ? c->instance - 1 : 0]
	                         : s->options.cpus ? s->options.cpus
	                                           : "";
	size = info->size < sizeof(full) ? info->size : sizeof(full);
	full.size = info->size;
	memcpy(info, &full, size);
	return PFMLIB_SUCCESS;
}

int pfm_session_errno(const pfm_session_t *s)
{
	return s ? s->sys_errno : 0;
}
