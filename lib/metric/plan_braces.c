/* SPDX-License-Identifier: MIT */
/* Groups in braces, as perf has them: {EVENT,EVENT...} and the modifiers of all its events. A plan
 * keeps the events of such a group together. */
#include <stdio.h>
#include <string.h>
#include "metric/plan.h"
#include "lookup/lookup.h"

#define GROUP_LETTERS "WDS"      /* weak, pinned, sampled by its leader: none changes a plan */
#define EVENT_LETTERS "ukhpPGHI" /* modifiers of each event */
#define MODIFIERS_MAX 16

/* Reads the letters after the closing brace; @mods gets those of events. */
static int read_group_modifiers(const char *text, const char *s, char mods[MODIFIERS_MAX],
                                pfm_error_t *error)
{
	size_t n = 0;

	for (s += *s == ':'; *s; s++)
		if (strchr(EVENT_LETTERS, *s) && n < MODIFIERS_MAX - 1)
			mods[n++] = *s;
		else if (!strchr(GROUP_LETTERS, *s))
			return pfmi_base_set_error(
				error, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, text,
				(struct slice){ s, 1 }, "not a modifier of a group");
	mods[n] = '\0';
	return PFMLIB_SUCCESS;
}

/* Adds the event @member of group @text. An error has its place in @text. */
static int add_member(struct pfm_plan *p, const char *text, struct slice member, const char *mods,
                      unsigned request, pfm_error_t *error)
{
	char own[PLANNED_TEXT_SIZE];
	const bool has_colon = *mods && member.len && member.text[member.len - 1] != '/';
	int n = snprintf(own, sizeof(own), "%.*s%s%s", (int)member.len, member.text,
	                 has_colon ? ":" : "", mods);
	int rc;

	if (!member.len)
		return pfmi_base_set_error(error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, text, member,
		                           "expected an event in the group");
	if ((size_t)n >= sizeof(own))
		return pfmi_base_set_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, text,
		                           member, "an event's text is too long");
	rc = pfmi_plan_add_event_text(p, own, request, 0, error);
	if (rc) {
		error->start += (uint32_t)(member.text - text);
		error->end += (uint32_t)(member.text - text);
	}
	return rc;
}

/* Marks the events from number @first on as those of the group. */
static int bind_members(struct pfm_plan *p, const char *text, unsigned first, unsigned request,
                        pfm_error_t *error)
{
	for (unsigned i = first; i < p->n_events; i++) {
		p->events[i].brace_number = request + 1;
		if (p->events[i].event.table != p->events[first].event.table)
			return pfmi_base_set_error(error, PFMLIB_ERR_EVTINCOMP, PFM_KIND_CONFLICT,
			                           text, pfmi_base_make_slice(text),
			                           "the events of a group must belong to one PMU");
	}
	return PFMLIB_SUCCESS;
}

int pfmi_plan_add_braced_group(struct pfm_plan *p, const char *text, unsigned request,
                               pfm_error_t *error)
{
	const char *open = strchr(text, '{'), *end = strrchr(text, '}');
	const unsigned first = p->n_events;
	char mods[MODIFIERS_MAX];
	struct slice list, member;
	int rc;

	if (!end)
		return pfmi_base_set_error(error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, text,
		                           (struct slice){ open, 1 }, "expected a closing brace");
	rc = read_group_modifiers(text, end + 1, mods, error);
	list = (struct slice){ open + 1, (uint32_t)(end - open - 1) };
	while (!rc && pfmi_spec_split_list(&list, &member))
		rc = add_member(p, text, member, mods, request, error);
	return rc ? rc : bind_members(p, text, first, request, error);
}
