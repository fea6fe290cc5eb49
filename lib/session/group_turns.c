/* SPDX-License-Identifier: MIT */
/* Groups that take turns. While a group is disabled its time does not advance. One group of each
 * turn counts at any time, so the elapsed time is the sum of the times of all groups of a turn, and
 * of the time that passes while groups are switched. This holds for CPUs and for tasks, which do
 * not run all the time. */
#include <errno.h>
#include "session/session_internal.h"

struct group_turns {
	unsigned n_turns, n_places; /* places are: no CPU, CPU 0, CPU 1 ... */
	unsigned *turn_of;          /* by group: 1 .. n_turns, 0 for those that count always */
	unsigned char *is_on, *was_on;
	uint64_t *times; /* nanoseconds of each turn at each place */
	uint64_t gap;    /* nanoseconds in which no group counted */
};

bool pfmi_session_is_group_on(const struct pfm_session *s, unsigned group)
{
	return !s->live.turns || s->live.turns->is_on[group];
}

void pfmi_session_free_turns(struct pfm_session *s)
{
	struct group_turns *t = s->live.turns;

	if (!t)
		return;
	free(t->turn_of);
	free(t->is_on);
	free(t->was_on);
	free(t->times);
	free(t);
	s->live.turns = NULL;
}

static unsigned count_counting_places(const struct pfm_session *s)
{
	int last = -1;

	for (unsigned i = 0; i < s->n_counts; i++)
		if (s->counts[i].config.cpu > last)
			last = s->counts[i].config.cpu;
	return (unsigned)(last + 2);
}

/* Numbers the turns of the first @n groups, which the caller numbers as it likes, from 1. */
static void number_turns(struct group_turns *t, const unsigned *turns, unsigned n)
{
	for (unsigned g = 0; g < n; g++) {
		unsigned earlier = 0;

		while (turns[g] && turns[earlier] != turns[g])
			earlier++;
		if (turns[g])
			t->turn_of[g] = earlier < g ? t->turn_of[earlier] : ++t->n_turns;
	}
}

/* Creates the turns with all groups enabled. False without memory. */
static bool make_turns(struct pfm_session *s, const unsigned *turns, unsigned n)
{
	struct group_turns *t = calloc(1, sizeof(*t));

	if (!t)
		return false;
	s->live.turns = t;
	t->n_places = count_counting_places(s);
	t->turn_of = calloc(s->n_groups + 1, sizeof(*t->turn_of));
	if (t->turn_of)
		number_turns(t, turns, n < s->n_groups ? n : s->n_groups);
	t->is_on = malloc(s->n_groups + 1);
	t->was_on = malloc(s->n_groups + 1);
	t->times = calloc((size_t)t->n_turns * t->n_places + 1, sizeof(*t->times));
	if (!t->turn_of || !t->is_on || !t->was_on || !t->times) {
		pfmi_session_free_turns(s);
		return false;
	}
	memset(t->is_on, 1, s->n_groups + 1);
	return true;
}

/* Prepares the first turn. Software events that are read together cannot take turns, so they are
 * separated. */
static int begin_turns(struct pfm_session *s, const unsigned *turns, unsigned n)
{
	int rc = make_turns(s, turns, n) ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	for (unsigned i = 0; !rc && i < s->n_counts; i++)
		if (s->counts[i].kernel_state.is_read_together &&
		    s->live.turns->turn_of[s->counts[i].config.group])
			rc = s->live.backend->separate_groups(s);
	if (rc)
		pfmi_session_free_turns(s);
	return rc;
}

int pfm_select_groups(pfm_session_t *s, const unsigned *turns, const unsigned char *on, unsigned n)
{
	struct group_turns *t;
	int rc = PFMLIB_SUCCESS;

	if (!s || (n && (!turns || !on)))
		return PFMLIB_ERR_INVAL;
	if (!s->live.backend || !s->live.backend->switch_groups || s->sampling)
		return PFMLIB_ERR_NOTSUPP;
	if (!s->live.turns)
		rc = begin_turns(s, turns, n);
	if (rc)
		return rc;
	t = s->live.turns;
	memcpy(t->was_on, t->is_on, s->n_groups);
	for (unsigned g = 0; g < n && g < s->n_groups; g++)
		t->is_on[g] = !t->turn_of[g] || on[g];
	if (s->live.running)
		rc = s->live.backend->switch_groups(s, t->was_on, t->is_on);
	if (s->live.running && s->live.file_backend && !rc)
		rc = s->live.file_backend->switch_groups(s, t->was_on, t->is_on);
	return rc;
}

static uint64_t *find_turn_time(const struct pfm_session *s, unsigned i)
{
	const struct session_count *c = &s->counts[i];
	unsigned turn = s->live.turns->turn_of[c->config.group];

	return turn ? &s->live.turns->times[(turn - 1) * (size_t)s->live.turns->n_places +
	                                    (unsigned)(c->config.cpu + 1)]
	            : NULL;
}

void pfmi_session_add_turn_gap(const struct pfm_session *s, uint64_t ns)
{
	s->live.turns->gap += ns;
}

void pfmi_session_forget_turn_gaps(const struct pfm_session *s)
{
	if (s->live.turns)
		s->live.turns->gap = 0;
}

/* Adds the longest time of each group's members, since a member that could not be opened has no
 * time. Members of a group follow each other. */
void pfmi_session_sum_turn_times(const struct pfm_session *s, const pfm_count_t *counts)
{
	memset(s->live.turns->times, 0,
	       (size_t)s->live.turns->n_turns * s->live.turns->n_places *
	               sizeof(*s->live.turns->times));
	for (unsigned i = 0, end; i < s->n_counts; i = end) {
		uint64_t *time = find_turn_time(s, i), longest = 0;

		for (end = i;
		     end < s->n_counts && s->counts[end].config.group == s->counts[i].config.group;
		     end++)
			longest = counts[end].enabled > longest ? counts[end].enabled : longest;
		if (time)
			*time += longest;
	}
}

/* The time of a count is a sum over its CPUs, so the gap counts for each of them. */
uint64_t pfmi_session_get_turn_time(const struct pfm_session *s, const pfm_count_t *counts,
                                    unsigned i)
{
	const uint64_t *time = find_turn_time(s, i);
	const unsigned n = s->options.pid > 0 ? 1 : s->counts[i].kernel_state.n_open;

	return time ? *time + n * s->live.turns->gap : counts[i].enabled;
}

static bool is_counted(const struct session_count *c)
{
	return c->kernel_state.n_open || session_is_file_count(c);
}

void pfmi_session_apply_turns(const struct pfm_session *s, pfm_count_t *counts)
{
	pfmi_session_sum_turn_times(s, counts);
	for (unsigned i = 0; i < s->n_counts; i++) {
		const uint64_t time = pfmi_session_get_turn_time(s, counts, i);

		if (!find_turn_time(s, i) || s->counts[i].config.is_level ||
		    !is_counted(&s->counts[i]))
			continue;
		if (counts[i].enabled)
			counts[i].value = pfmi_session_extrapolate_value(counts[i].value, time,
			                                                 counts[i].enabled);
		counts[i].enabled = time;
	}
}
