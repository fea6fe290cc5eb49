/* SPDX-License-Identifier: MIT */
/* Parses the texts of a session: events, alone or as a group in braces, and the core types that
 * have them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "lookup/lookup.h"

/* ---- texts to events ----------------------------------------------------------------------- */

static bool is_modifier_letter(char c)
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

/* Finds modifiers after the last slash or colon of @text; NULL if it has no modifiers. */
static char *search_trailing_modifiers(char *text)
{
	char *end = text + strlen(text), *p = end;

	while (p > text && p[-1] != '/' && p[-1] != ':')
		if (!is_modifier_letter(*--p))
			return NULL;
	return p > text && p < end ? p : NULL;
}

/* Removes the modifiers D, S and W, which belong to sessions and not to processors. True if there
 * was one. */
static bool strip_session_modifiers(char *text, struct group_member *m)
{
	char *p = search_trailing_modifiers(text), *to = p, *start = p;
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

static bool has_instances(struct session_builder *o, unsigned pmu)
{
	const struct kernel_pmu *device = pfmi_session_get_pmu(o, pmu)->kernel_pmu;

	return device && device->n_instances > 1;
}

/* Reports @error, which is in the text of member @m, at its place @at in the user's text. */
static void report_member_error(struct session_builder *o, const pfm_error_t *error, const char *at,
                                size_t len, const struct group_member *m)
{
	size_t size, base = (size_t)(at - o->text), end = base + m->text.len;

	if (!o->error)
		return;
	size = o->error->size;
	*o->error = *error;
	o->error->size = size;
	o->error->event = (int)o->request;
	if (error->end <= len) {
		o->error->start = (uint32_t)(base + error->start < end ? base + error->start : end);
		o->error->end = (uint32_t)(base + error->end < end ? base + error->end : end);
	}
}

/* Resolves @text to an event. @at: its place in the user's text. */
static int resolve_member_event(struct session_builder *o, char *text, const char *at,
                                struct group_member *m)
{
	pfm_error_t mine = PFM_INIT(mine);
	struct member_event *f = &m->events[0];
	const char *bad = NULL;
	int rc = pfmi_lookup_event(o->session->ctx, text, &f->pmu, f->event, &mine);
	size_t len = strlen(text);

	if ((rc || !f->event->chosen_groups) && strip_session_modifiers(text, m))
		rc = pfmi_lookup_event(o->session->ctx, text, &f->pmu, f->event, &mine);
	if (rc && o->session->sampling && pfmi_session_extract_terms(text, m, &bad)) {
		if (bad)
			return pfmi_session_report_error(o, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
			                                 at + (bad - text), strcspn(bad, ":,/"),
			                                 "expected a number above 0");
		strip_session_modifiers(text, m);
		rc = pfmi_lookup_event(o->session->ctx, text, &f->pmu, f->event, &mine);
	}
	if (rc == PFMLIB_SUCCESS) {
		m->n_events = 1;
		f->core_pmu = -1;
		f->instance = has_instances(o, f->pmu)
		                      ? pfmi_lookup_text_instance(o->session->ctx, text, f->pmu)
		                      : 0;
		return rc;
	}
	report_member_error(o, &mine, at, len, m);
	return rc;
}

/* ---- types of cores ------------------------------------------------------------------------ */

void pfmi_session_find_core_pmus(struct session_builder *o)
{
	const struct pfm_ctx *ctx = o->session->ctx;

	for (unsigned i = 0;
	     ctx->kernel && i < ctx->kernel->n_pmus && o->n_core_pmus < MAX_CORE_PMUS; i++)
		if (ctx->kernel->pmus[i].is_core)
			o->core_pmus[o->n_core_pmus++] = &ctx->kernel->pmus[i];
}

/* Events of the kernel itself have no core type, even with their PMU's name (hardware::cycles). */
static bool has_explicit_pmu(const struct session_builder *o, const char *text, bool generic)
{
	struct spec spec;

	return o->session->ctx->default_pmu || pfmi_spec_parse(text, &spec, NULL) ||
	       (spec.pmu_name.len && !generic) || spec.form == SPEC_PERF;
}

/* Finds the event @text on core PMU @core. Tries the PMU that this machine prefers first. */
static bool find_event_on_core(const struct session_builder *o, const char *text,
                               const struct kernel_pmu *core, struct member_event *out)
{
	const struct pfm_ctx *ctx = o->session->ctx;

	out->instance = 0;
	for (unsigned i = 0; i < ctx->n_search_order; i++) {
		out->pmu = ctx->search_order[i];
		if (context_get_kernel_pmu(ctx, out->pmu) == core &&
		    !pfmi_lookup_event_on_pmu(ctx, text, out->pmu, out->event, NULL))
			return true;
	}
	return false;
}

static void copy_member_event(const struct member_event *from, const struct event *event,
                              struct member_event *to)
{
	pfmi_session_copy_event(event, to->event);
	to->pmu = from->pmu;
	to->instance = from->instance;
}

/* Repeats the event for each core type of a machine that has several. */
static void expand_to_core_types(const struct session_builder *o, const char *text,
                                 struct group_member *m)
{
	const struct kernel_pmu *const *cores = o->core_pmus;
	struct member_event first;
	struct event event;
	unsigned n = o->n_core_pmus;
	bool generic;

	if (n < 2)
		return;
	first = m->events[0];
	generic = pfmi_session_is_generic_event(o, &first);
	for (unsigned i = 0; i < n; i++)
		if (!generic && context_get_kernel_pmu(o->session->ctx, first.pmu) == cores[i])
			m->events[0].core_pmu = (int)i;
	if (has_explicit_pmu(o, text, generic) || (!generic && m->events[0].core_pmu < 0) ||
	    (first.event->row_index == ROW_NONE && !generic)) {
		m->lacks_core_types = m->events[0].core_pmu >= 0;
		return;
	}
	pfmi_session_copy_event(first.event, &event);
	m->n_events = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member_event *f = &m->events[m->n_events];
		bool have =
			generic || context_get_kernel_pmu(o->session->ctx, first.pmu) == cores[i];

		if (have)
			copy_member_event(&first, &event, f);
		else
			have = find_event_on_core(o, text, cores[i], f);
		f->core_pmu = (int)i;
		m->n_events += have;
		m->lacks_core_types |= !have;
		if (!have)
			m->missing_core = cores[i];
	}
}

/* ---- groups -------------------------------------------------------------------------------- */

#define MODIFIERS_SIZE     16
#define MEMBER_EXTRA_BYTES 2 /* a colon and the null byte */

/* Parses the @len bytes at @s, followed by the modifiers @mods of the group. */
static int parse_group_member(struct session_builder *o, const char *s, size_t len,
                              const char *mods, struct group_member *m)
{
	size_t n = strlen(mods), whole = len;
	int rc;

	*m = (struct group_member){ .text = { s, (uint32_t)len },
		                    .events = m->events,
		                    .name = pfmi_session_alloc_name(o->session,
		                                                    len + n + MEMBER_EXTRA_BYTES +
		                                                            NAME_SUFFIX_SIZE) };
	if (!m->name)
		return pfmi_session_report_no_memory(o);
	memcpy(m->name, s, len);
	if (n) {
		if (!len || s[len - 1] != '/')
			m->name[whole++] = ':';
		memcpy(m->name + whole, mods, n);
		whole += n;
	}
	m->name[whole] = '\0';
	/* strip_session_modifiers() changes the text, so it gets a copy. */
	memcpy(o->name_buffer, m->name, whole + 1);
	rc = resolve_member_event(o, o->name_buffer, s, m);
	if (rc == PFMLIB_SUCCESS)
		expand_to_core_types(o, o->name_buffer, m);
	return rc;
}

/* Parses the letters after the closing brace: modifiers of the group are noted, those of its events
 * stay in @mods. */
static int parse_group_modifiers(struct session_builder *o, const char *s,
                                 char mods[MODIFIERS_SIZE])
{
	size_t n = 0;

	if (*s == ':')
		s++;
	for (; *s; s++) {
		if (*s == 'W')
			o->is_group_weak = true;
		else if (*s == 'D')
			o->is_group_pinned = true;
		else if (*s == 'S')
			o->is_group_leader_sampled = true;
		else if (strchr("ukhpPGHI", *s) && n < MODIFIERS_SIZE - 1)
			mods[n++] = *s;
		else
			return pfmi_session_report_error(o, PFMLIB_ERR_ATTR,
			                                 PFM_KIND_UNKNOWN_QUALIFIER, s, 1,
			                                 "not a modifier of a group");
	}
	mods[n] = '\0';
	return PFMLIB_SUCCESS;
}

static int parse_group_members(struct session_builder *o, struct slice list, const char *mods,
                               struct group_member *m, unsigned *n)
{
	struct slice event;
	int rc = PFMLIB_SUCCESS;

	while (!rc && pfmi_spec_split_list(&list, &event)) {
		if (event.len == 0)
			return pfmi_session_report_error(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX,
			                                 event.text, 0,
			                                 "expected an event in the group");
		if (*n == MAX_GROUP_MEMBERS)
			return pfmi_session_report_error(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
			                                 event.text, event.len,
			                                 "at most 64 events in a group");
		(*n)++;
		rc = parse_group_member(o, event.text, event.len, mods, &m[*n - 1]);
	}
	return rc;
}

static int parse_event_text(struct session_builder *o, const char *text, struct group_member *m,
                            unsigned *n)
{
	const char *s = text, *end;
	char mods[MODIFIERS_SIZE] = "";
	int rc;

	while (*s == ' ')
		s++;
	if (*s != '{') {
		*n = 1;
		return parse_group_member(o, s, strlen(s), "", &m[0]);
	}
	end = strrchr(s, '}');
	if (!end)
		return pfmi_session_report_error(o, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s, 1,
		                                 "expected a closing brace");
	rc = parse_group_modifiers(o, end + 1, mods);
	return rc ? rc
	          : parse_group_members(o, (struct slice){ s + 1, (uint32_t)(end - s - 1) }, mods,
	                                m, n);
}

static bool is_same_event_pmu(const struct session_builder *o, const struct member_event *a,
                              const struct member_event *b)
{
	const struct kernel_pmu *device = context_get_kernel_pmu(o->session->ctx, a->pmu);

	return a->pmu == b->pmu ||
	       (device && device == context_get_kernel_pmu(o->session->ctx, b->pmu)) ||
	       pfmi_session_is_generic_event(o, b);
}

static bool has_exclusive_event(const struct group_member *m)
{
	for (unsigned i = 0; i < m->n_events; i++)
		if (event_has_flag(m->events[i].event, ROW_EXCLUSIVE))
			return true;
	return false;
}

static bool has_member_conflict(const struct session_builder *o, const struct group_member *alone,
                                const struct group_member *other)
{
	for (unsigned i = 0; i < alone->n_events; i++)
		for (unsigned k = 0; k < other->n_events; k++)
			if (is_same_event_pmu(o, &alone->events[i], &other->events[k]) &&
			    pfmi_session_has_exclusive_conflict(alone->events[i].event,
			                                        other->events[k].event))
				return true;
	return false;
}

/* Finds the member that must be counted alone and therefore excludes another member; @n without a
 * conflict. */
static unsigned find_exclusive_member(const struct session_builder *o, const struct group_member *m,
                                      unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n && has_exclusive_event(&m[i]); k++)
			if (k != i && has_member_conflict(o, &m[i], &m[k]))
				return i;
	return n;
}

/* Adds the members as one group, or separately if a weak group is impossible. */
static int add_group_members(struct session_builder *o, const struct group_member *m, unsigned n)
{
	unsigned alone = find_exclusive_member(o, m, n);
	int rc = PFMLIB_SUCCESS;

	if (alone == n)
		return pfmi_session_add_members(o, m, n);
	if (!o->is_group_weak)
		return pfmi_session_report_error(o, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE,
		                                 m[alone].text.text, m[alone].text.len, NULL);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = pfmi_session_add_members(o, &m[i], 1);
	return rc;
}

/* An upper bound of the number of members in @text. */
static unsigned count_possible_members(const char *text)
{
	unsigned n = 1;

	while (n < MAX_GROUP_MEMBERS && (text = strchr(text, ','))) {
		text++;
		n++;
	}
	return n;
}

/* Allocates members for all that @text can name, for what each of them is on every core type, and
 * for a name. On a machine with one core type an event is written directly into its count. */
static struct group_member *alloc_members(struct session_builder *o, const char *text)
{
	unsigned n = count_possible_members(text), each = o->n_core_pmus > 1 ? o->n_core_pmus : 1;
	size_t events = o->n_core_pmus > 1 ? (size_t)n * each : 0, scratch = strlen(text) + 1;
	struct group_member *m = pfmi_session_reserve_counts(o, n)
	                                 ? malloc(n * (sizeof(*m) + each * sizeof(*m->events)) +
	                                          events * sizeof(struct event) + scratch)
	                                 : NULL;
	struct event *event;
	struct member_event *found;

	if (!m)
		return NULL;
	event = (struct event *)(void *)(m + n);
	found = (struct member_event *)(void *)(event + events);
	for (unsigned i = 0; i < n * each; i++)
		found[i].event =
			events ? &event[i]
			       : &o->session->counts[o->session->n_counts + i].config.event;
	for (unsigned i = 0; i < n; i++)
		m[i].events = found + i * each;
	o->name_buffer = (char *)(found + n * each);
	return m;
}

int pfmi_session_add_text(struct session_builder *o, const char *text)
{
	struct group_member *m = alloc_members(o, text);
	unsigned n = 0;
	int rc;

	o->text = text;
	o->is_group_weak = o->is_group_pinned = o->is_group_leader_sampled = false;
	if (!m)
		return pfmi_session_report_no_memory(o);
	rc = parse_event_text(o, text, m, &n);
	if (!rc)
		rc = add_group_members(o, m, n);
	free(m);
	return rc;
}
