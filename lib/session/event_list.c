/* SPDX-License-Identifier: MIT */
/* From texts to events: what one text of a session names, alone or as a group in braces, and on which types of core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session.h"
#include "lookup/lookup.h"

/* ---- texts to events ----------------------------------------------------------------------------------------------- */

int pfmi_opening_refuse(const struct opening *o, int code, int kind, const char *at, size_t len, const char *detail)
{
	int rc = pfmi_refuse(o->why, code, kind, o->text, (struct slice){ at, (uint32_t)len }, detail);

	if (o->why)
		o->why->event = (int)o->request;
	return rc;
}

int pfmi_opening_no_memory(const struct opening *o)
{
	return pfmi_opening_refuse(o, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, 0, NULL);
}

static bool is_modifier(char c)
{
	switch (c) {
	case 'u':
	case 'k':
	case 'h':
	case 'p':
	case 'P':
	case 'D':
	case 'S':
	case 'W':
	case 'G':
	case 'H':
	case 'I': return true;
	default: return false;
	}
}

/* Modifiers behind the last slash or colon of @text: their place, or NULL. Most names end with another letter. */
static char *last_modifiers(char *text)
{
	char *end = text + strlen(text), *p = end;

	while (p > text && p[-1] != '/' && p[-1] != ':')
		if (!is_modifier(*--p))
			return NULL;
	return p > text && p < end ? p : NULL;
}

/* D, S and W belong to sessions; no processor knows them. Takes them away; true if there was one. */
static bool take_session_letters(char *text, struct member *m)
{
	char *p = last_modifiers(text), *to = p, *start = p;
	bool any = false;

	if (!p)
		return false;
	for (; *p; p++)
		if (*p == 'D' || *p == 'S' || *p == 'W') {
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

const struct unit *pfmi_opening_unit(struct opening *o, unsigned unit)
{
	if (!o->unit.table || o->unit_number != unit)
		o->unit = pfmi_unit(o->s->ctx, unit);
	o->unit_number = unit;
	return &o->unit;
}

static bool has_instances(struct opening *o, unsigned unit)
{
	const struct kernel_pmu *device = pfmi_opening_unit(o, unit)->kernel;

	return device && device->n_instances > 1;
}

/* @text to an event. @at: where it stands in the user's text. */
static int find_event(struct opening *o, char *text, const char *at, struct member *m)
{
	pfm_error_t mine = PFM_INIT(mine);
	struct found *f = &m->found[0];
	const char *bad = NULL;
	int rc = pfmi_ctx_event(o->s->ctx, text, &f->unit, f->event, &mine);
	size_t len = strlen(text);

	if ((rc || !f->event->given) && take_session_letters(text, m))
		rc = pfmi_ctx_event(o->s->ctx, text, &f->unit, f->event, &mine);
	if (rc && o->s->sampling && pfmi_take_terms(text, m, &bad)) {
		if (bad)
			return pfmi_opening_refuse(o, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, at + (bad - text), strcspn(bad, ":,/"),
			                           "not a number above 0");
		take_session_letters(text, m);
		rc = pfmi_ctx_event(o->s->ctx, text, &f->unit, f->event, &mine);
	}
	if (rc == PFMLIB_SUCCESS) {
		m->n = 1;
		f->core = -1;
		f->instance = has_instances(o, f->unit) ? pfmi_ctx_instance(o->s->ctx, text, f->unit) : 0;
		return rc;
	}
	if (o->why) {
		size_t size = o->why->size, base = (size_t)(at - o->text), end = base + m->at.len;

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

void pfmi_find_cores(struct opening *o)
{
	const struct pfm_ctx *ctx = o->s->ctx;

	for (unsigned i = 0; ctx->kernel && i < ctx->kernel->n && o->n_cores < MAX_CORES; i++)
		if (ctx->kernel->pmus[i].is_core)
			o->cores[o->n_cores++] = &ctx->kernel->pmus[i];
}

bool pfmi_is_generic(const struct opening *o, const struct found *f)
{
	const struct table *t = pfmi_unit_table(o->s->ctx, f->unit);

	return t->encoder == ENCODER_PERF && (t->perf_type == 0 || t->perf_type == 3);
}

/* The kernel's own events are no core type's, also where they are named with their table: hardware::cycles. */
static bool names_pmu(const struct opening *o, const char *text, bool generic)
{
	struct spec spec;

	return o->s->ctx->wanted || pfmi_spec_parse(text, &spec, NULL) || (spec.pmu.len && !generic) || spec.form == SPEC_PERF;
}

/* The event @text on core PMU @core, from the unit that comes first for this machine. */
static bool find_on_core(const struct opening *o, const char *text, const struct kernel_pmu *core, struct found *out)
{
	const struct pfm_ctx *ctx = o->s->ctx;

	out->instance = 0;
	for (unsigned i = 0; i < ctx->n_host_order; i++) {
		out->unit = ctx->host_order[i];
		if (pfmi_unit_kernel(ctx, out->unit) == core && !pfmi_ctx_event_on(ctx, text, out->unit, out->event, NULL))
			return true;
	}
	return false;
}

static void copy_found(const struct found *from, const struct event *event, struct found *to)
{
	pfmi_copy_event(event, to->event);
	to->unit = from->unit;
	to->instance = from->instance;
}

/* On a machine with several types of cores: the event on each of them. */
static void fan_out(const struct opening *o, const char *text, struct member *m)
{
	const struct kernel_pmu *const *cores = o->cores;
	struct found first;
	struct event event;
	unsigned n = o->n_cores;
	bool generic;

	if (n < 2)
		return;
	first = m->found[0];
	generic = pfmi_is_generic(o, &first);
	for (unsigned i = 0; i < n; i++)
		if (!generic && pfmi_unit_kernel(o->s->ctx, first.unit) == cores[i])
			m->found[0].core = (int)i;
	if (names_pmu(o, text, generic) || (!generic && m->found[0].core < 0) || (first.event->row == ROW_NONE && !generic)) {
		m->missing = m->found[0].core >= 0;
		return;
	}
	pfmi_copy_event(first.event, &event);
	m->n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct found *f = &m->found[m->n];
		bool have = generic || pfmi_unit_kernel(o->s->ctx, first.unit) == cores[i];

		if (have)
			copy_found(&first, &event, f);
		else
			have = find_on_core(o, text, cores[i], f);
		f->core = (int)i;
		m->n += have;
		m->missing |= !have;
		if (!have)
			m->lacking = cores[i];
	}
}

/* ---- groups ---------------------------------------------------------------------------------------------------------- */

#define MODS_ROOM   16
#define MEMBER_MORE 2 /* a colon and the end */

/* The @len bytes at @s, with the group's modifiers @mods behind it. */
static int read_member(struct opening *o, const char *s, size_t len, const char *mods, struct member *m)
{
	size_t n = strlen(mods), whole = len;
	int rc;

	*m = (struct member){ .at = { s, (uint32_t)len }, .found = m->found, .name = pfmi_name_room(o->s, len + n + MEMBER_MORE + NAME_ROOM) };
	if (!m->name)
		return pfmi_opening_no_memory(o);
	memcpy(m->name, s, len);
	if (n) {
		if (!len || s[len - 1] != '/')
			m->name[whole++] = ':';
		memcpy(m->name + whole, mods, n);
		whole += n;
	}
	m->name[whole] = '\0';
	/* A copy to take letters out of. */
	memcpy(o->scratch, m->name, whole + 1);
	rc = find_event(o, o->scratch, s, m);
	if (rc == PFMLIB_SUCCESS)
		fan_out(o, o->scratch, m);
	return rc;
}

/* Letters behind the closing brace: what concerns the group is noted, what concerns its events stays in @mods. */
static int read_group_modifiers(struct opening *o, const char *s, char mods[MODS_ROOM])
{
	size_t n = 0;

	if (*s == ':')
		s++;
	for (; *s; s++) {
		if (*s == 'W')
			o->weak = true;
		else if (*s == 'D')
			o->pinned = true;
		else if (strchr("ukhpPGHI", *s) && n < MODS_ROOM - 1)
			mods[n++] = *s;
		else if (*s != 'S')
			return pfmi_opening_refuse(o, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, s, 1, "not a modifier of a group");
	}
	mods[n] = '\0';
	return PFMLIB_SUCCESS;
}

/* The bit of a member in o->seen: few members share one, but short names do. */
static unsigned bit_of(struct slice name)
{
	uint32_t ends[2] = { 0 };

	if (name.len >= sizeof(ends[0])) {
		memcpy(&ends[0], name.s, sizeof(ends[0]));
		memcpy(&ends[1], name.s + name.len - sizeof(ends[1]), sizeof(ends[1]));
	}
	return (unsigned)((ends[0] * UINT64_C(0x9e3779b97f4a7c15) + ends[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 55) % SEEN_BITS;
}

/* A group is a set: a member that is named again takes no second counter. */
static bool is_repeated(struct opening *o, const struct member *m, unsigned n)
{
	const struct slice last = m[n - 1].at;
	unsigned bit = bit_of(last);
	bool other = !(o->seen[bit / 64] >> bit % 64 & 1);

	o->seen[bit / 64] |= (uint64_t)1 << bit % 64;
	if (other)
		return false;
	/* Modifiers of the group are behind all of them alike. */
	for (unsigned i = 0; i + 1 < n; i++)
		if (m[i].at.len == last.len && memcmp(m[i].at.s, last.s, last.len) == 0)
			return true;
	return false;
}

static int read_members(struct opening *o, struct slice list, const char *mods, struct member *m, unsigned *n)
{
	struct slice event;
	int rc = PFMLIB_SUCCESS;

	memset(o->seen, 0, sizeof(o->seen));
	while (!rc && pfmi_split(&list, &event)) {
		if (event.len == 0)
			return pfmi_opening_refuse(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, event.s, 0, "an event is missing in the group");
		if (*n == MAX_GROUP)
			return pfmi_opening_refuse(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, event.s, event.len,
			                           "at most 64 events in a group");
		(*n)++;
		rc = read_member(o, event.s, event.len, mods, &m[*n - 1]);
		if (!rc && is_repeated(o, m, *n))
			--*n;
	}
	return rc;
}

static int read_text(struct opening *o, const char *text, struct member *m, unsigned *n)
{
	const char *s = text, *end;
	char mods[MODS_ROOM] = "";
	int rc;

	while (*s == ' ')
		s++;
	if (*s != '{') {
		*n = 1;
		return read_member(o, s, strlen(s), "", &m[0]);
	}
	end = strrchr(s, '}');
	if (!end)
		return pfmi_opening_refuse(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s, 1, "the brace is never closed");
	rc = read_group_modifiers(o, end + 1, mods);
	return rc ? rc : read_members(o, (struct slice){ s + 1, (uint32_t)(end - s - 1) }, mods, m, n);
}

static bool same_pmu(const struct opening *o, const struct found *a, const struct found *b)
{
	const struct kernel_pmu *device = pfmi_unit_kernel(o->s->ctx, a->unit);

	return a->unit == b->unit || (device && device == pfmi_unit_kernel(o->s->ctx, b->unit)) || pfmi_is_generic(o, b);
}

static bool wants_to_be_alone(const struct member *m)
{
	for (unsigned i = 0; i < m->n; i++)
		if (pfmi_event_flag(m->found[i].event, ROW_ALONE))
			return true;
	return false;
}

static bool keeps_out(const struct opening *o, const struct member *alone, const struct member *other)
{
	for (unsigned i = 0; i < alone->n; i++)
		for (unsigned k = 0; k < other->n; k++)
			if (same_pmu(o, &alone->found[i], &other->found[k]) &&
			    pfmi_keeps_out(alone->found[i].event, other->found[k].event))
				return true;
	return false;
}

/* The member that must be counted alone and keeps another of the group out; @n if there is none. */
static unsigned find_alone(const struct opening *o, const struct member *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n && wants_to_be_alone(&m[i]); k++)
			if (k != i && keeps_out(o, &m[i], &m[k]))
				return i;
	return n;
}

/* The members as one group; as one each where a weak group cannot be. */
static int add_together(struct opening *o, const struct member *m, unsigned n)
{
	unsigned alone = find_alone(o, m, n);
	int rc = PFMLIB_SUCCESS;

	if (alone == n)
		return pfmi_add_members(o, m, n);
	if (!o->weak)
		return pfmi_opening_refuse(o, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE, m[alone].at.s, m[alone].at.len, NULL);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = pfmi_add_members(o, &m[i], 1);
	return rc;
}

/* As many members as @text can have and may have. */
static unsigned most_members(const char *text)
{
	unsigned n = 1;

	while (n < MAX_GROUP && (text = strchr(text, ','))) {
		text++;
		n++;
	}
	return n;
}

/* Members for all that @text can name, behind them what each of them is on every type of core, and room for a name. Where there is but one
 * type an event is where its count will be, else there is room for it, too. */
static struct member *new_members(struct opening *o, const char *text)
{
	unsigned n = most_members(text), each = o->n_cores > 1 ? o->n_cores : 1;
	size_t events = o->n_cores > 1 ? (size_t)n * each : 0, scratch = strlen(text) + 1;
	struct member *m = pfmi_make_room(o, n) ? malloc(n * (sizeof(*m) + each * sizeof(*m->found)) + events * sizeof(struct event) + scratch)
	                                        : NULL;
	struct event *event;
	struct found *found;

	if (!m)
		return NULL;
	event = (struct event *)(void *)(m + n);
	found = (struct found *)(void *)(event + events);
	for (unsigned i = 0; i < n * each; i++)
		found[i].event = events ? &event[i] : &o->s->counts[o->s->n + i].asked.event;
	for (unsigned i = 0; i < n; i++)
		m[i].found = found + i * each;
	o->scratch = (char *)(found + n * each);
	return m;
}

int pfmi_add_text(struct opening *o, const char *text)
{
	struct member *m = new_members(o, text);
	unsigned n = 0;
	int rc;

	o->text = text;
	o->weak = o->pinned = false;
	if (!m)
		return pfmi_opening_no_memory(o);
	rc = read_text(o, text, m, &n);
	if (!rc)
		rc = add_together(o, m, n);
	free(m);
	return rc;
}
